/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "coordinator/plan/job.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "common/file.h"

/* A job with one line that a test cares about. */
#define HEAD "name: j\nkernels: [a]\n"
#define TAIL "workloads: [hackbench]\n"

static struct job_spec *parse(const char *text)
{
	struct job_spec *j = NULL;
	struct kg_err err = {{0}};

	if (job_spec_parse("job.yaml", text, strlen(text), &j, &err) < 0)
		fail_msg("%s", err.text);
	return j;
}

static void refused(const char *text, const char *error)
{
	struct job_spec *j = NULL;
	struct kg_err err = {{0}};

	assert_true(job_spec_parse("job.yaml", text, strlen(text), &j, &err) < 0);
	if (!strstr(err.text, error))
		fail_msg("'%s' is not in '%s'", error, err.text);
}

static bool warns(const struct job_spec *j, const char *part)
{
	size_t i;

	for (i = 0; i < j->warnings.n; i++)
		if (strstr(j->warnings.items[i], part))
			return true;
	return false;
}

/* ---- what is accepted ---- */

static void test_example_of_the_design_parses(void **state)
{
	struct job_spec *j;
	struct kg_err err = {{0}};
	char *text;
	size_t len;

	(void)state;
	assert_int_equal(kg_file_read(KGRID_TEST_DATA "/plan/job-example.yaml", 1 << 20, &text,
				      &len, &err),
			 0);
	if (job_spec_parse("example.yaml", text, len, &j, &err) < 0)
		fail_msg("%s", err.text);
	free(text);
	assert_string_equal(j->name, "what-do-lsms-cost");
	assert_non_null(j->machines.where);
	assert_int_equal(j->kernels.n, 2);
	assert_string_equal(j->kernels.items[1].text, "6.12.117+deb12-cloud-amd64");
	assert_int_equal(j->n_lsms, 4);
	assert_string_equal(j->lsms[0].label, "prev");
	assert_string_equal(j->lsms[0].request, "integrity,apparmor");
	assert_string_equal(
		j->lsms[2].request,
		"landlock,lockdown,yama,loadpin,safesetid,integrity,apparmor,selinux,smack,"
		"bpf");
	assert_string_equal(j->lsms[3].request,
			    "landlock,lockdown,yama,loadpin,safesetid,integrity,"
			    "apparmor,selinux,smack");
	assert_string_equal(j->cmdline, "mitigations=auto");
	assert_int_equal(j->n_workloads, 2);
	assert_string_equal(j->workloads[0].name, "netperf");
	assert_int_equal(j->workloads[0].n_params, 3);
	assert_int_equal(j->workloads[0].params[1].values.n, 4);
	assert_int_equal(j->monitors.n, 2);
	assert_int_equal(j->boots, 5);
	assert_int_equal(j->boots_max, 12);
	assert_int_equal(j->iterations, 5);
	assert_string_equal(j->until, "ci95 <= 1%");
	assert_int_equal(j->order, JOB_INTERLEAVED);
	assert_int_equal(j->n_excludes, 1);
	assert_int_equal(j->budget_ns, 4 * 3600 * 1000000000ULL);
	assert_int_equal(j->priority, 50);
	assert_int_equal(j->notify.n, 1);
	job_spec_free(j);
}

static void test_what_is_not_carried_out_is_a_warning(void **state)
{
	struct job_spec *j = parse(HEAD TAIL "monitors: [vmstat]\nbudget: {wall: 4h}\n"
					     "notify: [mail:x@example.org]\norder: grouped\n"
					     "repeat: {boots: 5..12, until: \"ci95 <= 1%\"}\n");

	(void)state;
	assert_true(warns(j, "monitors: none is started"));
	assert_false(warns(j, "budget"));
	assert_false(warns(j, "notify"));
	assert_true(j->confirm);
	assert_false(warns(j, "until"));
	assert_true(j->until_pct == 1);
	assert_true(warns(j, "drift of the machine between boots is not controlled"));
	job_spec_free(j);
}

static void test_small_job_gets_defaults(void **state)
{
	struct job_spec *j = parse(HEAD TAIL);

	(void)state;
	assert_null(j->machines.where);
	assert_int_equal(j->machines.names.n, 0);
	assert_int_equal(j->n_lsms, 1);
	assert_string_equal(j->lsms[0].label, "default");
	assert_string_equal(j->lsms[0].request, JOB_LSM_DEFAULT);
	assert_string_equal(j->cmdline, "");
	assert_int_equal(j->boots, 5);
	assert_int_equal(j->boots_max, 5);
	assert_int_equal(j->iterations, 5);
	assert_int_equal(j->priority, 50);
	assert_int_equal(j->warnings.n, 0);
	job_spec_free(j);
}

static void test_machines_may_be_a_list_of_names(void **state)
{
	struct job_spec *j = parse(HEAD TAIL "machines: [m2, m1]\n");

	(void)state;
	assert_int_equal(j->machines.names.n, 2);
	assert_string_equal(j->machines.names.items[0].text, "m2");
	assert_null(j->machines.where);
	job_spec_free(j);
	j = parse(HEAD TAIL "machines: m1\n");
	assert_int_equal(j->machines.names.n, 1);
	job_spec_free(j);
}

static void test_lsm_lists_in_all_forms(void **state)
{
	struct job_spec *j = parse(HEAD TAIL "lsm:\n"
					     "  d: {base: c, with: [bpf]}\n"
					     "  stock: default\n"
					     "  empty: \"\"\n"
					     "  list: [yama, landlock]\n"
					     "  c: {base: list, without: yama}\n");

	(void)state;
	assert_string_equal(j->lsms[0].request, "landlock,bpf"); /* from one further down */
	assert_string_equal(j->lsms[1].request, JOB_LSM_DEFAULT);
	assert_string_equal(j->lsms[2].request, "");
	assert_string_equal(j->lsms[3].request, "yama,landlock");
	assert_string_equal(j->lsms[4].request, "landlock");
	job_spec_free(j);
}

static void test_name_may_be_moved_to_the_end(void **state)
{
	struct job_spec *j = parse(HEAD TAIL "lsm:\n  a: yama,bpf\n"
					     "  b: {base: a, without: [yama], with: [yama]}\n");

	(void)state;
	assert_string_equal(j->lsms[1].request, "bpf,yama");
	job_spec_free(j);
}

static void test_workload_without_parameters_is_a_plain_name(void **state)
{
	struct job_spec *j = parse(HEAD "workloads:\n  - hackbench\n  - netperf: {}\n  - perf:\n");

	(void)state;
	assert_int_equal(j->n_workloads, 3);
	assert_int_equal(j->workloads[0].n_params + j->workloads[1].n_params, 0);
	job_spec_free(j);
}

/* ---- what is refused ---- */

static void test_unknown_key_is_refused_with_a_suggestion(void **state)
{
	(void)state;
	refused(HEAD TAIL "kernals: [b]\n", "job.yaml:4:1: unknown key 'kernals'; did you mean "
					    "'kernels'?");
	refused(HEAD TAIL "repeat: {boot: 3}\n", "job.yaml:4:10: unknown key 'boot'; did you mean "
						 "'boots'?");
	refused(HEAD TAIL "lsm:\n  a: yama\n  b: {base: a, witout: [yama]}\n",
		"did you mean 'without'?");
}

static void test_missing_key_is_refused(void **state)
{
	(void)state;
	refused("name: j\nworkloads: [a]\n", "missing key 'kernels'");
	refused("kernels: [a]\nworkloads: [a]\n", "missing key 'name'");
	refused("name: j\nkernels: [a]\n", "missing key 'workloads'");
}

static void test_wrong_type_is_refused_with_its_place(void **state)
{
	(void)state;
	refused(HEAD TAIL "priority: high\n",
		"job.yaml:4:11: 'priority': expected a whole number from 0 "
		"to 100");
	refused(HEAD TAIL "priority: 101\n", "'priority': expected a whole number from 0 to 100");
	refused(HEAD TAIL "lsm: yama\n", "job.yaml:4:6: 'lsm': expected labels with lists");
	refused(HEAD TAIL "cmdline: [a]\n", "job.yaml:4:10: 'cmdline': expected text");
	refused(HEAD TAIL "machines: {a: b}\n", "'machines': expected a predicate");
	refused(HEAD TAIL "order: random\n", "'order': expected one of interleaved, grouped");
	refused(HEAD TAIL "exclude: {a: b}\n", "'exclude': expected a predicate");
	refused(HEAD TAIL "repeat: 5\n", "'repeat': expected a mapping");
	refused(HEAD "workloads: hackbench\n", "'workloads': expected a list");
	refused(HEAD "workloads:\n - a: 5\n", "a: expected parameters, '- a: {name: value}'");
	refused(HEAD "workloads:\n - a: {p: {q: 1}}\n",
		"'p': expected a value, or a list of values");
	refused("name: j\nkernels: {a: b}\n" TAIL, "'kernels': expected a list");
	refused("- a\n", "a job file is a mapping");
}

static void test_empty_kernels_list_is_refused(void **state)
{
	(void)state;
	refused("name: j\nkernels: []\n" TAIL, "job.yaml:2:10: 'kernels': the list is empty");
	refused("name: j\nkernels:\n" TAIL, "'kernels': expected a list");
	refused("name: j\nkernels: [a, ]\n" TAIL "machines: []\n", "'machines': the list is empty");
	refused(HEAD "workloads: []\n", "'workloads': the list is empty");
}

static void test_empty_lsm_map_is_refused(void **state)
{
	(void)state;
	refused(HEAD TAIL "lsm: {}\n", "job.yaml:4:6: 'lsm': no list is given");
	refused(HEAD TAIL "lsm:\n  a:\n", "lsm 'a': expected a list such as 'landlock,yama'");
}

static void test_duplicate_label_is_refused(void **state)
{
	(void)state;
	refused(HEAD TAIL "lsm:\n  a: yama\n  a: bpf\n", "job.yaml:6:3:");
	refused("name: j\nkernels: [a, b, a]\n" TAIL,
		"job.yaml:2:17: kernel 'a' is there already, in "
		"line 2");
	refused(HEAD TAIL "machines: [a, a]\n", "machine 'a' is there already");
}

static void test_bad_lsm_names_are_refused(void **state)
{
	(void)state;
	refused(HEAD TAIL "lsm: {a: Yama}\n",
		"job.yaml:4:10: lsm 'a': 'Yama' has upper case letters");
	refused(HEAD TAIL "lsm: {a: \"yama, bpf\"}\n", "' bpf' has a space");
	refused(HEAD TAIL "lsm: {a: nosuch}\n", "no kernel has an LSM 'nosuch'");
	refused(HEAD TAIL "lsm: {a: \"yama,,bpf\"}\n", "an empty name in the list");
	refused(HEAD TAIL "lsm: {a: [yama, \"bpf,ima\"]}\n", "expected one name per item");
	refused(HEAD TAIL "lsm: {\"a b\": yama}\n", "'a b' is not a label");
}

static void test_bad_derivations_are_refused(void **state)
{
	(void)state;
	refused(HEAD TAIL "lsm: {new: yama, b: {base: nww}}\n",
		"there is no list 'nww' to start from, did you mean 'new'?");
	refused(HEAD TAIL "lsm: {a: yama, b: {base: a, without: [bpf]}}\n", "'bpf' is not in 'a'");
	refused(HEAD TAIL "lsm: {a: yama, b: {base: a, with: [yama]}}\n",
		"'yama' is in 'a' already");
	refused(HEAD TAIL "lsm: {a: {base: b}, b: {base: a}}\n", "lsm 'a' is derived from itself");
	refused(HEAD TAIL "lsm: {a: {base: a}}\n", "lsm 'a' is derived from itself");
	refused(HEAD TAIL "lsm: {a: default, b: {base: a, with: [bpf]}}\n",
		"each kernel's own list");
	refused(HEAD TAIL "lsm: {a: yama, b: {base: a, with: [bff]}}\n", "did you mean 'bpf'?");
	refused(HEAD TAIL "lsm: {a: yama, b: {without: [yama]}}\n", "missing key 'base'");
}

static void test_words_that_kgrid_adds_are_refused_in_cmdline(void **state)
{
	(void)state;
	refused(HEAD TAIL "cmdline: quiet lsm=yama\n",
		"job.yaml:4:10: 'cmdline': 'lsm=yama' belongs under 'lsm:'");
	refused(HEAD TAIL "cmdline: '\"lsm=yama\"'\n", "belongs under 'lsm:'");
	refused(HEAD TAIL "cmdline: kgrid.boot=1.2\n",
		"words that begin with 'kgrid.' are kgrid's own");
	refused(HEAD TAIL "cmdline: quiet -- single\n", "goes to init and not to the kernel");
	refused(HEAD TAIL "cmdline: \"a\\nb\"\n", "no control characters");
	refused(HEAD TAIL "lsm: {a: yama}\ncmdline: security=selinux\n", "has no effect beside");
}

static void test_security_is_accepted_where_no_list_is(void **state)
{
	struct job_spec *j = parse(HEAD TAIL "cmdline: security=selinux\n");

	(void)state;
	assert_string_equal(j->cmdline, "security=selinux");
	job_spec_free(j);
}

static void test_bad_boots_are_refused(void **state)
{
	static const char *const bad[] = {"0",	 "-1",	    "1001", "x",  "5..",
					  "..5", "1..2000", "[5]",  "1.5"};
	char text[128];
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		(void)snprintf(text, sizeof(text), HEAD TAIL "repeat: {boots: %s}\n", bad[i]);
		refused(text, "job.yaml:4:17: 'boots': expected a whole number from 1 to 1000");
	}
	refused(HEAD TAIL "repeat: {boots: 9..3}\n",
		"the range '9..3' ends before it begins; write "
		"'3..9'");
	refused(HEAD TAIL "repeat: {iterations: 0}\n",
		"'iterations': expected a whole number from 1");
}

static void test_bad_stop_rule_is_refused(void **state)
{
	static const char *const bad[] = {"ci95",	   "ci95 <= 0%", "ci95 <= x%",	"ci95 <= 1",
					  "ci95 <= 1% or", "ci95 >= 1%", "ci95 <= nan%"};
	char text[128];
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		(void)snprintf(text, sizeof(text), HEAD TAIL "repeat: {until: \"%s\"}\n", bad[i]);
		refused(text, "job.yaml:4:17: 'until': expected 'ci95 <= N%'");
	}
	job_spec_free(parse(HEAD TAIL "repeat: {boots: 5..12, until: ci95<=0.5%}\n"));
	refused(HEAD TAIL "repeat: {until: ci95 <= 1%}\n", "a stop rule needs a range of boots");
}

static void test_bad_predicates_are_refused_with_both_places(void **state)
{
	(void)state;
	refused(HEAD TAIL "machines: vendr == amd\n",
		"job.yaml:4:11: 'machines': column 1: unknown name 'vendr', did you mean "
		"'vendor'?");
	refused(HEAD TAIL "lsm: {nt: yama}\nexclude: [\"lsm == ntt\"]\n",
		"job.yaml:5:11: 'exclude': column 8: 'lsm' is never 'ntt', did you mean 'nt'?");
}

static void test_two_workloads_in_one_item_are_refused(void **state)
{
	(void)state;
	refused(HEAD "workloads:\n  - a: {}\n    b: {}\n",
		"job.yaml:5:5: workloads: expected one name "
		"per item");
	refused(HEAD "workloads:\n  - [a]\n", "workloads: expected '- name: {parameters}'");
}

static void test_unknown_monitor_is_refused(void **state)
{
	(void)state;
	refused(HEAD TAIL "monitors: [vmstat, perf-profle]\n",
		"job.yaml:4:20: 'monitors': unknown monitor 'perf-profle', did you mean "
		"'perf-profile'?");
}

static void test_file_of_10_mb_is_refused(void **state)
{
	size_t len = 10 << 20;
	char *text = malloc(len);
	struct job_spec *j;
	struct kg_err err = {{0}};

	(void)state;
	assert_non_null(text);
	memset(text, '#', len);
	assert_true(job_spec_parse("job.yaml", text, len, &j, &err) < 0);
	assert_non_null(strstr(err.text, "job.yaml"));
	free(text);
}

static void test_invalid_utf8_is_refused(void **state)
{
	(void)state;
	refused("name: j\nkernels: [\"\xff\xfe\"]\n" TAIL, "job.yaml:2:");
}

static void test_manual_names_every_key(void **state)
{
	static const char *const keys[] = {"machines", "kernels", "boots", "wall", "exclude"};
	struct kg_str s = {0};
	size_t i;

	(void)state;
	job_spec_manual(&s);
	for (i = 0; i < 5; i++)
		assert_non_null(strstr(kg_str_text(&s), keys[i]));
	kg_str_deinit(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_example_of_the_design_parses),
		cmocka_unit_test(test_what_is_not_carried_out_is_a_warning),
		cmocka_unit_test(test_small_job_gets_defaults),
		cmocka_unit_test(test_machines_may_be_a_list_of_names),
		cmocka_unit_test(test_lsm_lists_in_all_forms),
		cmocka_unit_test(test_name_may_be_moved_to_the_end),
		cmocka_unit_test(test_workload_without_parameters_is_a_plain_name),
		cmocka_unit_test(test_unknown_key_is_refused_with_a_suggestion),
		cmocka_unit_test(test_missing_key_is_refused),
		cmocka_unit_test(test_wrong_type_is_refused_with_its_place),
		cmocka_unit_test(test_empty_kernels_list_is_refused),
		cmocka_unit_test(test_empty_lsm_map_is_refused),
		cmocka_unit_test(test_duplicate_label_is_refused),
		cmocka_unit_test(test_bad_lsm_names_are_refused),
		cmocka_unit_test(test_bad_derivations_are_refused),
		cmocka_unit_test(test_words_that_kgrid_adds_are_refused_in_cmdline),
		cmocka_unit_test(test_security_is_accepted_where_no_list_is),
		cmocka_unit_test(test_bad_boots_are_refused),
		cmocka_unit_test(test_bad_stop_rule_is_refused),
		cmocka_unit_test(test_bad_predicates_are_refused_with_both_places),
		cmocka_unit_test(test_two_workloads_in_one_item_are_refused),
		cmocka_unit_test(test_unknown_monitor_is_refused),
		cmocka_unit_test(test_file_of_10_mb_is_refused),
		cmocka_unit_test(test_invalid_utf8_is_refused),
		cmocka_unit_test(test_manual_names_every_key),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
