/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a job file may say beside its axes: defaults, sets, matrix, settings, roles, variants of the
 * command line, standing jobs; and what hostile or mistaken files are told. */
#include "coordinator/plan/job.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

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

	if (job_spec_parse("job.yaml", text, strlen(text), &j, &err) == 0)
		fail_msg("accepted: %s", text);
	assert_null(j);
	assert_true(kg_utf8_valid(err.text, strlen(err.text)));
	if (!strstr(err.text, error))
		fail_msg("'%s' is not in '%s'", error, err.text);
}

static const struct job_param *param(const struct job_param *params, size_t n, const char *name)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (strcmp(params[i].name, name) == 0)
			return &params[i];
	fail_msg("no parameter '%s'", name);
	return NULL;
}

/* ---- defaults and matrix ---- */

static void test_job_keys_under_defaults_count_where_the_file_lacks_them(void **state)
{
	struct job_spec *j =
		parse(HEAD "defaults: {priority: 40, order: grouped, repeat: {boots: 7, "
			   "iterations: 3}}\norder: interleaved\nrepeat: {boots: 6}\n" TAIL);

	(void)state;
	assert_int_equal(j->priority, 40);
	assert_int_equal(j->order, JOB_INTERLEAVED);
	assert_int_equal(j->boots, 6);
	assert_int_equal(j->iterations, 3);
	assert_int_equal(j->n_defaults, 0);
	job_spec_free(j);
}

static void test_defaults_of_one_workload_come_before_the_general_ones(void **state)
{
	struct job_spec *j = parse(HEAD "defaults:\n  size: 64\n  hackbench: {size: [1, 2]}\n"
					"matrix: {mode: [a, b]}\n" TAIL);

	(void)state;
	assert_int_equal(j->n_defaults, 3);
	assert_string_equal(j->defaults[0].workload, "hackbench");
	assert_int_equal(j->defaults[0].param.values.n, 2);
	assert_true(j->defaults[1].matrix);
	assert_string_equal(j->defaults[1].param.name, "mode");
	assert_null(j->defaults[2].workload);
	assert_false(j->defaults[2].matrix);
	assert_int_equal(j->defaults[2].param.at.line, 4);
	job_spec_free(j);
}

static void test_key_of_the_job_wins_over_a_workload_of_that_name(void **state)
{
	(void)state;
	refused("name: j\nkernels: [a]\ndefaults: {order: {size: 64}}\nworkloads: [order]\n",
		"job.yaml:3:19: 'order': expected one of interleaved, grouped");
}

static void test_mistakes_under_defaults_and_matrix_are_refused(void **state)
{
	(void)state;
	refused(HEAD "defaults: {name: x}\n" TAIL, "job.yaml:3:12: 'defaults': 'name' belongs to");
	refused(HEAD "defaults: [a]\n" TAIL, "job.yaml:3:11: 'defaults': expected job keys");
	refused(HEAD "defaults: {hackbnch: {size: 1}}\n" TAIL, "did you mean 'hackbench'?");
	refused(HEAD "defaults: {size: []}\n" TAIL, "job.yaml:3:18: 'defaults': 'size': expected");
	refused(HEAD "defaults: {use: x}\n" TAIL, "job.yaml:3:12: 'defaults': 'use' is no param");
	refused(HEAD "defaults: {hackbench: {role: x}}\n" TAIL, "'role' is no parameter");
	refused(HEAD "matrix: {use: [a, b]}\n" TAIL, "job.yaml:3:10: 'matrix': 'use' is no");
	refused(HEAD "matrix: [a]\n" TAIL, "job.yaml:3:9: 'matrix': expected parameters");
	refused(HEAD "matrix: {size: {a: b}}\n" TAIL, "job.yaml:3:16: 'matrix': 'size'");
}

static void test_matrix_within_a_workload_gives_parameters(void **state)
{
	struct job_spec *j =
		parse(HEAD "workloads: [{hackbench: {mode: a, matrix: {groups: [1, 4]}}}]\n");
	const struct job_workload *w = &j->workloads[0];

	(void)state;
	assert_int_equal(w->n_params, 2);
	assert_int_equal(param(w->params, w->n_params, "groups")->values.n, 2);
	job_spec_free(j);
	refused(HEAD "workloads: [{hackbench: {groups: 1, matrix: {groups: [1, 4]}}}]\n",
		"job.yaml:3:46: hackbench: 'matrix': 'groups' is given already");
	refused(HEAD "workloads: [{hackbench: {matrix: [1]}}]\n", "job.yaml:3:34: hackbench:");
}

/* ---- cmdline ---- */

static void test_command_line_varies(void **state)
{
	struct job_spec *j = parse(HEAD "cmdline: {base: quiet, vary: [mitigations=auto, "
					"\" mitigations=off nosmt \", \"\"]}\n" TAIL);

	(void)state;
	assert_string_equal(j->cmdline, "quiet");
	assert_int_equal(j->n_variants, 3);
	assert_string_equal(j->variants[1].words, "mitigations=off nosmt");
	assert_string_equal(j->variants[1].label, "mitigations=off nosmt");
	assert_string_equal(j->variants[2].label, "plain");
	assert_int_equal(j->variants[0].at.column, 31);
	job_spec_free(j);
	j = parse(HEAD "matrix: {cmdline: {safe: mitigations=auto, fast: mitigations=off}}\n" TAIL);
	assert_int_equal(j->n_variants, 2);
	assert_string_equal(j->variants[1].label, "fast");
	assert_string_equal(j->cmdline, "");
	job_spec_free(j);
	j = parse(HEAD TAIL); /* one variant always, of nothing */
	assert_int_equal(j->n_variants, 1);
	assert_string_equal(j->variants[0].words, "");
	job_spec_free(j);
}

static void test_bad_variants_are_refused(void **state)
{
	(void)state;
	refused(HEAD "cmdline: {vary: [a]}\nmatrix: {cmdline: [b]}\n" TAIL,
		"job.yaml:4:19: 'matrix.cmdline': 'cmdline.vary' is there already, in line 3");
	refused(HEAD "cmdline: {vary: [a, \" a\"]}\n" TAIL,
		"job.yaml:3:21: 'cmdline.vary': 'a' is");
	refused(HEAD "cmdline: {vary: [lsm=yama]}\n" TAIL, "job.yaml:3:18: 'cmdline': 'lsm=yama'");
	refused(HEAD "cmdline: {vary: {\"a b\": x}}\n" TAIL,
		"job.yaml:3:18: 'cmdline.vary': 'a b'");
	refused(HEAD "cmdline: {vary: []}\n" TAIL, "'cmdline.vary': the list is empty");
	refused(HEAD "cmdline: {vry: [a]}\n" TAIL, "job.yaml:3:11: unknown key 'vry'; did you "
						   "mean 'vary'?");
	refused(HEAD "cmdline: [a]\n" TAIL, "job.yaml:3:10: 'cmdline': expected text");
	refused(HEAD "cmdline: {base: \"a\\nb\"}\n" TAIL, "no control characters");
	refused(HEAD "cmdline: {vary: [kgrid.boot=1]}\n" TAIL,
		"job.yaml:3:18: 'cmdline': 'kgrid.boot=1' is refused: words that begin with "
		"'kgrid.' are kgrid's own; leave it out");
	refused(HEAD "cmdline: {vary: [x=1, \"a=\\\"b c\"]}\n" TAIL,
		"job.yaml:3:23: 'cmdline': the quotes in 'a=\"b c' are not closed");
	refused(HEAD "cmdline: {vary: {x: a=1 b, y: \" a=1   b\"}}\n" TAIL,
		"job.yaml:3:31: 'cmdline.vary': 'y' has the words of 'x' in line 3: each variant "
		"needs its own");
	refused(HEAD "cmdline: {vary: [plain, \"\"]}\n" TAIL,
		"job.yaml:3:25: 'cmdline.vary': 'plain' is there already, in line 3");
}

/* What the kernel sees as the same line is the same variant; within quotes blanks count. */
static void test_blanks_between_words_make_no_variant(void **state)
{
	struct job_spec *j = parse(HEAD "cmdline: {vary: [\"  a=1   b \", 'x=\"p  q\"  y', "
					"'x=\"p q\" y']}\n" TAIL);

	(void)state;
	assert_int_equal(j->n_variants, 3);
	assert_string_equal(j->variants[0].words, "a=1 b");
	assert_string_equal(j->variants[1].words, "x=\"p  q\" y");
	assert_string_equal(j->variants[2].words, "x=\"p q\" y");
	job_spec_free(j);
}

/* ---- settings ---- */

static void test_settings_in_all_forms(void **state)
{
	struct job_spec *j = parse(
		HEAD "settings:\n  governor: [performance, schedutil]\n  smt: off\n"
		     "  sysctl:\n    vm.swappiness: [10, 60]\n    net: {ipv4: {tcp_sack: 0}}\n"
		     "  sysctl.kernel.sched_autogroup_enabled: 1\n"
		     "matrix: {settings: {thp: [always, never]}}\n" TAIL);
	static const char *const names[] = {"governor",
					    "smt",
					    "sysctl.vm.swappiness",
					    "sysctl.net.ipv4.tcp_sack",
					    "sysctl.kernel.sched_autogroup_enabled",
					    "thp"};
	size_t i;

	(void)state;
	assert_int_equal(j->n_settings, 6);
	for (i = 0; i < 6; i++)
		assert_string_equal(j->settings[i].name, names[i]);
	assert_int_equal(j->settings[2].values.n, 2);
	assert_int_equal(j->settings[2].values.items[1].at.column, 25);
	job_spec_free(j);
}

static void test_bad_settings_are_refused(void **state)
{
	(void)state;
	refused(HEAD "settings: {govenor: x}\n" TAIL,
		"job.yaml:3:12: 'settings': unknown setting 'govenor', did you mean 'governor'?");
	refused(HEAD "settings: {smt: true}\n" TAIL, "unknown value 'true'; known are on, off");
	refused(HEAD "settings: {thp: alwys}\n" TAIL, "did you mean 'always'?");
	refused(HEAD "settings: {governor: {a: b}}\n" TAIL,
		"job.yaml:3:22: 'settings': 'governor'");
	refused(HEAD "settings: {governor: []}\n" TAIL, "expected a value, or a list");
	refused(HEAD "settings: {governor: [a, ~]}\n" TAIL, "job.yaml:3:26: ");
	refused(HEAD "settings: {governor: [a, a]}\n" TAIL,
		"job.yaml:3:26: governor 'a' is there already, in line 3");
	refused(HEAD "settings: {governor: \"a;b\"}\n" TAIL, "no control characters and no ';'");
	refused(HEAD "settings: {governor: a}\nmatrix: {settings: {governor: b}}\n" TAIL,
		"job.yaml:4:21: 'settings': 'governor' is there already, in line 3");
	refused(HEAD "settings: {sysctl: {vm: {swappiness: 1}, vm.swappiness: 2}}\n" TAIL,
		"'sysctl.vm.swappiness' is there already");
	refused(HEAD "settings: {sysctl: {swappiness: 1}}\n" TAIL, "'swappiness' is no name of a");
	refused(HEAD "settings: {sysctl: {vm/../x.y: 1}}\n" TAIL, "is no name of a sysctl");
	refused(HEAD "settings: {sysctl: {kernel.panic: 0}}\n" TAIL,
		"cannot be a setting of a job");
	refused(HEAD "settings: {sysctl: {kernel: {kexec_load_disabled: 1}}}\n" TAIL,
		"could not be left by kexec");
	refused(HEAD "settings: {turbo: no}\n" TAIL,
		"job.yaml:3:19: 'settings': unknown value 'no'; known are on, off");
	refused(HEAD "settings: {sysctl: {kernel/panic: 0}}\n" TAIL,
		"'kernel.panic' cannot be a setting of a job");
	refused(HEAD "settings: {sysctl: {vm/swappiness: 1, vm: {swappiness: 2}}}\n" TAIL,
		"job.yaml:3:44: 'settings': 'sysctl.vm.swappiness' is there already, in line 3");
	refused(HEAD "settings: {sysctl: {}}\n" TAIL, "job.yaml:3:20: 'settings.sysctl': expected");
	refused(HEAD "settings: {sysctl: {a: {b: {c: {d: {e: {f: {g: {h: 1}}}}}}}}}\n" TAIL,
		"'settings.sysctl': expected names");
}

/* ---- sets ---- */

static void test_sets_use_sets_and_the_own_parameter_wins(void **state)
{
	struct job_spec *j = parse(
		HEAD "parameters:\n  base: {seconds: 1, size: 64}\n  more: {size: 128, mode: x}\n"
		     "  quick: {use: [base, more], seconds: 2}\n"
		     "workloads: [{netperf: {use: [quick, more], mode: y}}]\n");
	const struct job_workload *w = &j->workloads[0];

	(void)state;
	assert_int_equal(w->n_sets, 2);
	assert_string_equal(w->sets[0].name, "quick");
	assert_int_equal(w->sets[0].n_params, 3);
	assert_string_equal(param(w->sets[0].params, 3, "seconds")->values.items[0].text, "2");
	assert_string_equal(param(w->sets[0].params, 3, "size")->values.items[0].text, "64");
	assert_string_equal(param(w->sets[0].params, 3, "mode")->values.items[0].text, "x");
	assert_int_equal(w->n_params, 1);
	job_spec_free(j);
}

static void test_bad_sets_are_refused(void **state)
{
	(void)state;
	refused(HEAD "parameters: {quick: {size: 1}}\nworkloads: [{h: {use: quik}}]\n",
		"job.yaml:4:23: 'use': there is no set 'quik', did you mean 'quick'?");
	refused(HEAD "workloads: [{h: {use: quick}}]\n", "the file has no 'parameters'");
	refused(HEAD "parameters: {a: {use: b}, b: {use: a}}\n" TAIL,
		"job.yaml:3:36: 'parameters': 'a' uses itself");
	refused(HEAD "parameters: {a: {use: a}}\n" TAIL, "'a' uses itself");
	refused(HEAD "parameters: {a: {}}\n" TAIL, "job.yaml:3:17: 'parameters': 'a': expected");
	refused(HEAD "parameters: {a: {role: x}}\n" TAIL, "a role belongs to the workload");
	refused(HEAD "parameters: {\"a b\": {x: 1}}\n" TAIL, "'a b' is not a name");
	refused(HEAD "parameters: {a: {x: 1}}\nworkloads: [{h: {use: [a, a]}}]\n",
		"job.yaml:4:27: h: 'use': 'a' is there already");
	refused(HEAD "canary: {h: {use: a}}\n" TAIL, "a canary uses no set");
	refused(HEAD "canary: {h: {role: {client: a, server: b}}}\n" TAIL, "a canary has no role");
	refused(HEAD "canary: [h]\n" TAIL, "job.yaml:3:9: 'canary': expected auto, none, or");
	refused(HEAD "canary:\n" TAIL, "'canary': expected auto, none, or");
}

/* Each level names the next one a thousand times: without memory of what is done that is 1000^7. */
static void test_sets_of_sets_do_not_multiply(void **state)
{
	struct kg_str s = {0};
	struct job_spec *j;
	unsigned level, i;

	(void)state;
	kg_str_add(&s, HEAD "parameters:\n");
	for (level = 0; level < 7; level++) {
		kg_str_addf(&s, "  s%u: {p%u: 1, use: [", level, level);
		for (i = 0; i < 1000; i++)
			kg_str_addf(&s, "%ss%u", i ? "," : "", level + 1);
		kg_str_add(&s, "]}\n");
	}
	kg_str_add(&s, "  s7: {p7: 1}\nworkloads: [{h: {use: s0}}]\n");
	j = parse(kg_str_text(&s));
	assert_int_equal(j->workloads[0].sets[0].n_params, 8);
	job_spec_free(j);
	kg_str_deinit(&s);
}

static void test_values_of_sets_are_counted_before_they_are_copied_without_end(void **state)
{
	struct kg_str s = {0};
	unsigned i;

	(void)state;
	kg_str_add(&s, HEAD "parameters: {s: {p: [0");
	for (i = 1; i < 20000; i++)
		kg_str_addf(&s, ",%u", i);
	kg_str_add(&s, "]}}\nworkloads:\n");
	for (i = 0; i < 900; i++)
		kg_str_addf(&s, "- h%u: {use: s}\n", i);
	refused(kg_str_text(&s), "'use': with 's' the job takes more than 250000");
	kg_str_deinit(&s);
}

/* Every workload takes five hundred parameters from sets: 45,000 different names. */
static void test_predicates_find_their_name_among_very_many(void **state)
{
	struct kg_str s = {0};
	struct job_spec *j;
	unsigned set, i;

	(void)state;
	kg_str_add(&s, HEAD "parameters:\n");
	for (set = 0; set < 90; set++) {
		kg_str_addf(&s, "  s%u: {", set);
		for (i = 0; i < 500; i++)
			kg_str_addf(&s, "%sp%u_%u: 1", i ? "," : "", set, i);
		kg_str_add(&s, "}\n");
	}
	kg_str_add(&s, "workloads:\n");
	for (i = 0; i < 150; i++)
		kg_str_addf(&s, "- h%u: {use: s%u}\n", i, i % 90);
	kg_str_add(&s, "exclude: [p89_499 == 1 and set == s89 and workload == h149, p0_0 == 2]\n");
	j = parse(kg_str_text(&s));
	assert_int_equal(j->n_excludes, 2);
	job_spec_free(j);
	kg_str_add(&s, "only: [p89_500 == 1]\n");
	refused(kg_str_text(&s), "unknown name 'p89_500', did you mean 'p89_");
	kg_str_deinit(&s);
}

/* ---- roles, standing jobs, order between jobs ---- */

static void test_role_of_the_job_and_of_one_workload(void **state)
{
	struct job_spec *j = parse(
		HEAD "role: {client: \"vendor == amd\", server: [a, b]}\n"
		     "workloads:\n- netperf\n- iperf: {role: {client: c, server: tags == net}}\n");

	(void)state;
	assert_non_null(j->workloads[0].role->client.where);
	assert_int_equal(j->workloads[0].role->server.names.n, 2);
	assert_string_equal(j->workloads[1].role->client.names.items[0].text, "c");
	assert_string_equal(j->workloads[1].role->server.where_text, "tags == net");
	job_spec_free(j);
	refused(HEAD "role: {client: a}\n" TAIL, "job.yaml:3:7: missing key 'server'");
	refused(HEAD "role: {client: a, sever: b}\n" TAIL, "did you mean 'server'?");
	refused(HEAD "role: {client: \"vndor == amd\", server: b}\n" TAIL,
		"job.yaml:3:16: 'role.client': column 1: unknown name 'vndor', did you mean");
	refused(HEAD "role: x\n" TAIL, "job.yaml:3:7: 'role': expected {client:");
}

static void test_standing_jobs(void **state)
{
	struct job_spec *j = parse("name: j\nwhen: kernel added\n" TAIL);

	(void)state;
	assert_int_equal(j->when, JOB_WHEN_KERNEL_ADDED);
	assert_int_equal(j->kernels.n, 1);
	assert_string_equal(j->kernels.items[0].text, "added");
	job_spec_free(j);
	j = parse(HEAD "when: nightly\n" TAIL);
	assert_int_equal(j->nightly_minute, 120);
	job_spec_free(j);
	j = parse(HEAD "when: {nightly: \"23:59\"}\n" TAIL);
	assert_int_equal(j->when, JOB_WHEN_NIGHTLY);
	assert_int_equal(j->nightly_minute, 23 * 60 + 59);
	job_spec_free(j);
	refused(HEAD "when: nihgtly\n" TAIL,
		"job.yaml:3:7: 'when': unknown occasion 'nihgtly', did "
		"you mean 'nightly'?");
	refused(HEAD "when: {nigthly: \"1:00\"}\n" TAIL, "job.yaml:3:8: 'when': unknown key "
							 "'nigthly', did you mean 'nightly'?");
	refused(HEAD "when: {nightly: \"24:00\"}\n" TAIL, "job.yaml:3:17: 'when': expected");
	refused(HEAD "when: {nightly: \"3:0x\"}\n" TAIL, "'when': expected");
	refused(HEAD "when: kernel added\n" TAIL, "job.yaml:2:10: 'kernels': with 'when: kernel "
						  "added' one of them is 'added'");
	refused("name: j\nkernels: [added]\n" TAIL, "'newest' is the kernel that was added last");
}

static void test_after_names_jobs_and_queue_timeout_has_limits(void **state)
{
	struct job_spec *j =
		parse(HEAD "after: [7, warm-up]\nqueue-timeout: 2d\npairwise: yes\n" TAIL);

	(void)state;
	assert_int_equal(j->after.n, 2);
	assert_true(j->queue_timeout_ns == 2ULL * 86400 * 1000000000);
	assert_true(j->pairwise);
	job_spec_free(j);
	refused(HEAD "after: [7, 7]\n" TAIL, "job.yaml:3:12: job '7' is there already, in line 3");
	refused(HEAD "after: [7, \"a job\"]\n" TAIL,
		"job.yaml:3:12: 'after': expected the number or the name of a job, not 'a job'");
	refused(HEAD "queue-timeout: 5s\n" TAIL, "from 60s to 8784h, not '5s'");
	refused(HEAD "pairwise: ja\n" TAIL, "'pairwise': expected true or false");
}

static void test_lists_of_names_have_names_that_can_be_one_and_each_once(void **state)
{
	(void)state;
	refused(HEAD "machines: [a, \"vendor == amd\"]\n" TAIL,
		"job.yaml:3:15: 'machines': expected the name of a machine (a predicate stands "
		"alone, not in a list), not 'vendor == amd'");
	refused(HEAD "role: {client: [\"a b\"], server: c}\n" TAIL,
		"job.yaml:3:17: 'role.client': expected the name of a machine");
	refused(HEAD "monitors: [vmstat, iostat, vmstat]\n" TAIL,
		"job.yaml:3:28: 'monitors': 'vmstat' is there already");
	refused(HEAD "notify: [\"mail:a@b.org\", \"command:x\", \"mail:a@b.org\"]\n" TAIL,
		"job.yaml:3:39: 'notify': 'mail:a@b.org' is there already");
}

static void test_stop_rule_says_its_bounds_and_a_range_that_can_be(void **state)
{
	(void)state;
	refused(HEAD "repeat: {boots: 5..8, until: \"ci95 <= 101%\"}\n" TAIL,
		"job.yaml:3:30: 'until': expected 'ci95 <= N%' with N over 0 and at most 100, not "
		"'ci95 <= 101%'");
	refused(HEAD "repeat: {boots: 6, until: \"ci95 <= 1%\"}\n" TAIL, "as 'boots: 6..13'");
	refused(HEAD "repeat: {boots: 993, until: \"ci95 <= 1%\"}\n" TAIL, "as 'boots: 993..1000'");
	refused(HEAD "repeat: {boots: 994, until: \"ci95 <= 1%\"}\n" TAIL, "as 'boots: 5..994'");
	refused(HEAD "repeat: {boots: 1000, until: \"ci95 <= 1%\"}\n" TAIL, "as 'boots: 5..1000'");
}

static void test_canary_is_switched_off_like_other_switches(void **state)
{
	static const char *const off[] = {"none", "no", "off", "false", "\"none\""};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(off) / sizeof(off[0]); i++) {
		char text[128];
		struct job_spec *j;

		(void)snprintf(text, sizeof(text), HEAD TAIL "canary: %s\n", off[i]);
		j = parse(text);
		assert_int_equal(j->canary_mode, JOB_CANARY_NONE);
		job_spec_free(j);
	}
}

/* ---- lsm lists ---- */

static void test_lists_are_derived_in_any_order_and_keep_theirs(void **state)
{
	struct job_spec *j = parse(HEAD "lsm:\n  c: {base: b, with: [bpf]}\n"
					"  b: {base: a, without: yama}\n"
					"  a: landlock,yama,apparmor\n" TAIL);

	(void)state;
	assert_string_equal(j->lsms[0].request, "landlock,apparmor,bpf");
	assert_string_equal(j->lsms[1].request, "landlock,apparmor");
	assert_string_equal(j->lsms[0].base, "b");
	assert_string_equal(j->lsms[0].changes, " with bpf");
	assert_string_equal(j->lsms[1].changes, " without yama");
	assert_null(j->lsms[2].base);
	job_spec_free(j);
	refused(HEAD "lsm: {a: yama, b: {base: a, without: [yama, bpf]}}\n" TAIL,
		"job.yaml:3:45: lsm 'b': 'bpf' is not in 'a'");
	refused(HEAD "lsm: {a: yama, b: {base: a, with: [bpf, yama]}}\n" TAIL,
		"job.yaml:3:41: lsm 'b': 'yama' is in 'a' already");
	refused(HEAD "lsm: {aa: yama, bbb: {base: bba}}\n" TAIL, "there is no list 'bba'");
	refused(HEAD "lsm: {a: [yama, ~]}\n" TAIL, "job.yaml:3:17: lsm 'a': expected one name");
	refused(HEAD "lsm: {a: [bpf, yamma]}\n" TAIL,
		"job.yaml:3:16: lsm 'a': no kernel has an LSM 'yamma', did you mean 'yama'?");
	refused(HEAD "lsm: {a: yama, b: {base: a, with: [bpf, yamma]}}\n" TAIL,
		"job.yaml:3:41: lsm 'b': no kernel has an LSM 'yamma', did you mean 'yama'?");
	refused(HEAD "lsm: {a: yama, b: {base: a, with: \"bpf,yama\"}}\n" TAIL,
		"job.yaml:3:35: lsm 'b': expected one name per item, as in [yama, bpf]");
	refused(HEAD "lsm: {a: yama, b: {base: a, without: [\"bpf,yama\"]}}\n" TAIL,
		"job.yaml:3:39: lsm 'b': expected one name per item, as in [yama, bpf]");
}

/* One that only leads to a circle is not named: it is right. */
static void test_circle_of_lists_is_told_of_a_list_that_is_in_it(void **state)
{
	(void)state;
	refused(HEAD "lsm: {d: {base: c}, c: {base: b}, b: {base: c}}\n" TAIL,
		"job.yaml:3:21: lsm 'c' is derived from itself, by way of others: write one of "
		"them out");
	refused(HEAD "lsm: {d: {base: c}, c: {base: c}}\n" TAIL,
		"job.yaml:3:21: lsm 'c' is derived from itself: write one of them out");
}

/* ---- aliases, sizes, characters ---- */

static void test_aliases_are_read_like_what_they_name(void **state)
{
	struct job_spec *j = parse(HEAD "settings: {governor: &g [a, b], epp: *g}\n"
					"workloads: [{h: &p {size: 1}}, {i: *p}]\n");

	(void)state;
	assert_int_equal(j->settings[1].values.n, 2);
	assert_string_equal(j->workloads[1].params[0].name, "size");
	job_spec_free(j);
}

static void test_very_long_lists_and_mappings_are_refused_with_the_count(void **state)
{
	struct kg_str s = {0}, keys = {0};
	unsigned i;

	(void)state;
	kg_str_add(&s, "name: j\n" TAIL "kernels: [k");
	kg_str_add(&keys, HEAD "lsm: {k: yama");
	for (i = 0; i < 1500; i++) {
		kg_str_addf(&s, ",k%u", i);
		kg_str_addf(&keys, ",k%u: yama", i);
	}
	kg_str_add(&s, "]\n");
	kg_str_add(&keys, "}\n" TAIL);
	refused(kg_str_text(&s), "job.yaml:3:10: 'kernels': at most 1000, not 1501");
	refused(kg_str_text(&keys), "a mapping of a job file has at most 512 keys, not 1501");
	kg_str_deinit(&s);
	kg_str_deinit(&keys);
}

/* Whatever is cut off, it is not half a character. */
static void test_errors_are_utf8_wherever_they_are_cut(void **state)
{
	static const char *const forms[] = {
		HEAD "after: [\"%s\", \"%s\"]\n" TAIL,
		HEAD "settings: {\"%s\": \"%s\"}\n" TAIL,
		HEAD "settings: {thp: \"%s\", epp: \"%s\"}\n" TAIL,
		HEAD "cmdline: \"lsm=%s %s\"\n" TAIL,
		HEAD "workloads: [{h: {use: \"%s\", x: \"%s\"}}]\n",
		HEAD "monitors: [\"%s\", \"%s\"]\n" TAIL,
		HEAD "exclude: [\"cpus == 1 %s %s\"]\n" TAIL,
		HEAD "exclude: [\"name == '%s' and %s\"]\n" TAIL,
		HEAD "lsm: {a: \"%s,%s\"}\n" TAIL,
		HEAD "repeat: {until: \"%s\", boots: \"%s\"}\n" TAIL,
		HEAD "\"%s\": \"%s\"\n" TAIL,
	};
	char word[200], text[1024];
	size_t i, k;

	(void)state;
	for (i = 0; i < sizeof(forms) / sizeof(forms[0]); i++)
		for (k = 1; k < 40; k++) {
			char filler[8];
			size_t used = 0, n;

			/* characters of three bytes behind one to three of one byte */
			(void)snprintf(filler, sizeof(filler), "%.*s", (int)(k % 4), "aaa");
			used = (size_t)snprintf(word, sizeof(word), "%s", filler);
			for (n = 0; n < k && used + 4 < sizeof(word); n++)
				used += (size_t)snprintf(word + used, sizeof(word) - used,
							 "\xe2\x82\xac");
			(void)snprintf(text, sizeof(text), forms[i], word, word);
			refused(text, "job.yaml:");
		}
}

#define T(name) cmocka_unit_test(name)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(test_job_keys_under_defaults_count_where_the_file_lacks_them),
		T(test_defaults_of_one_workload_come_before_the_general_ones),
		T(test_key_of_the_job_wins_over_a_workload_of_that_name),
		T(test_mistakes_under_defaults_and_matrix_are_refused),
		T(test_matrix_within_a_workload_gives_parameters),
		T(test_command_line_varies),
		T(test_bad_variants_are_refused),
		T(test_blanks_between_words_make_no_variant),
		T(test_settings_in_all_forms),
		T(test_bad_settings_are_refused),
		T(test_sets_use_sets_and_the_own_parameter_wins),
		T(test_bad_sets_are_refused),
		T(test_sets_of_sets_do_not_multiply),
		T(test_predicates_find_their_name_among_very_many),
		T(test_values_of_sets_are_counted_before_they_are_copied_without_end),
		T(test_role_of_the_job_and_of_one_workload),
		T(test_standing_jobs),
		T(test_after_names_jobs_and_queue_timeout_has_limits),
		T(test_lists_of_names_have_names_that_can_be_one_and_each_once),
		T(test_stop_rule_says_its_bounds_and_a_range_that_can_be),
		T(test_canary_is_switched_off_like_other_switches),
		T(test_lists_are_derived_in_any_order_and_keep_theirs),
		T(test_circle_of_lists_is_told_of_a_list_that_is_in_it),
		T(test_aliases_are_read_like_what_they_name),
		T(test_very_long_lists_and_mappings_are_refused_with_the_count),
		T(test_errors_are_utf8_wherever_they_are_cut),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
