/* SPDX-License-Identifier: GPL-2.0-or-later */
/* `include:`: paths, who wins, circles, limits, and in which file an error is. */
#include "coordinator/plan/job.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/lib/alloc_fault.h"

#define TAIL "workloads: [hackbench]\n"

static struct job_file files[80];
static size_t n_files;

static void add(const char *name, const char *text)
{
	files[n_files++] = (struct job_file){name, text, strlen(text)};
}

static int read_as(const char *name, const char *text, struct job_spec **ret, struct kg_err *err)
{
	const struct job_source src = {.file_name = name,
				       .text = text,
				       .len = strlen(text),
				       .files = files,
				       .n_files = n_files};

	return job_spec_parse_source(&src, ret, err);
}

static struct job_spec *parse(const char *text)
{
	struct job_spec *j = NULL;
	struct kg_err err = {{0}};

	if (read_as("jobs/job.yaml", text, &j, &err) < 0)
		fail_msg("%s", err.text);
	n_files = 0;
	return j;
}

static void refused(const char *text, int code, const char *error)
{
	struct job_spec *j = NULL;
	struct kg_err err = {{0}};

	assert_int_equal(read_as("jobs/job.yaml", text, &j, &err), code);
	assert_null(j);
	if (!strstr(err.text, error))
		fail_msg("'%s' is not in '%s'", error, err.text);
	n_files = 0;
}

static void test_paths_start_from_the_including_file(void **state)
{
	static const char *const cases[][3] = {
		{"job.yaml", "a.yaml", "a.yaml"},
		{"jobs/job.yaml", "a.yaml", "jobs/a.yaml"},
		{"jobs/job.yaml", "./a.yaml", "jobs/a.yaml"},
		{"jobs/job.yaml", "../a.yaml", "a.yaml"},
		{"jobs/job.yaml", "../../a.yaml", "../a.yaml"},
		{"../job.yaml", "../a.yaml", "../../a.yaml"},
		{"../x/job.yaml", "../a.yaml", "../a.yaml"},
		{"x/y/job.yaml", "../../z/./b//a.yaml", "z/b/a.yaml"},
		{"/etc/job.yaml", "../../a.yaml", "/a.yaml"},
		{"jobs/job.yaml", "/abs/../a.yaml", "/a.yaml"},
		{"jobs/job.yaml", "..a.yaml", "jobs/..a.yaml"},
		{"jobs/job.yaml", ".../a.yaml", "jobs/.../a.yaml"},
		{"jobs/job.yaml", "x/..", "jobs"},
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char *path = job_include_path(cases[i][0], cases[i][1]);

		assert_string_equal(path, cases[i][2]);
		free(path);
	}
}

static void test_names_are_listed_as_written(void **state)
{
	struct kg_texts names = {0};
	struct kg_err err = {{0}};
	const char *text = "include: [a.yaml, ../b.yaml]\nnonsense: 1\n";

	(void)state;
	assert_int_equal(job_includes("j", text, strlen(text), &names, &err), 0);
	assert_int_equal(names.n, 2);
	assert_string_equal(names.items[1], "../b.yaml");
	kg_texts_deinit(&names);
	text = "include: [a, {b: c}]\n";
	assert_int_equal(job_includes("j", text, strlen(text), &names, &err), KG_EINVALID);
	assert_string_equal(err.text, "j:1:14: 'include': expected the name of a file, or a list "
				      "of names");
	assert_int_equal(names.n, 0);
}

static void test_including_file_wins_key_by_key_and_labels_are_put_together(void **state)
{
	struct job_spec *j;

	(void)state;
	add("jobs/a.yaml", "priority: 10\nkernels: [x, y]\nlsm: {p: yama, q: bpf}\n"
			   "repeat: {boots: 9, iterations: 2}\nmonitors: [vmstat]\n"
			   "settings: {smt: off, sysctl: {vm: {swappiness: 1}}}\n"
			   "parameters: {s: {a: 1, b: 2}}\n");
	add("jobs/b.yaml", "priority: 20\nkernels: [z]\n"
			   "settings: {sysctl: {vm: {dirty_ratio: 5}}}\n");
	j = parse("name: j\ninclude: [a.yaml, b.yaml]\nlsm: {q: smack, r: yama}\n"
		  "parameters: {s: {a: 3}}\nrepeat: {boots: 6}\n"
		  "workloads: [{h: {use: s}}]\n");
	assert_int_equal(j->priority, 20); /* the later include wins */
	assert_int_equal(j->kernels.n, 1);
	assert_string_equal(j->kernels.items[0].text, "z");
	assert_string_equal(j->kernels.items[0].at.file, "jobs/b.yaml");
	assert_int_equal(j->n_lsms, 3);
	assert_string_equal(j->lsms[1].request, "smack");
	assert_null(j->lsms[1].at.file);
	assert_string_equal(j->lsms[0].at.file, "jobs/a.yaml");
	assert_int_equal(j->boots, 6);
	assert_int_equal(j->iterations, 2);
	assert_int_equal(j->n_settings, 3);
	assert_int_equal(j->workloads[0].sets[0].n_params, 1); /* a set is replaced as a whole */
	job_spec_free(j);
}

/* A label is a label, also when it is called like a key whose labels are put together. */
static void test_labels_called_like_keys_are_replaced_as_a_whole(void **state)
{
	struct job_spec *j;

	(void)state;
	add("jobs/a.yaml", "parameters: {matrix: {a: 1}, settings: {b: 1}}\n"
			   "lsm: {lsm: {base: q, without: [bpf]}, q: 'yama,bpf'}\n");
	j = parse("name: j\nkernels: [k]\ninclude: a.yaml\nparameters: {matrix: {c: 1}}\n"
		  "lsm: {lsm: {base: q}}\nworkloads: [{h: {use: [matrix, settings]}}]\n");
	assert_string_equal(j->lsms[0].request, "yama,bpf");
	assert_int_equal(j->workloads[0].sets[0].n_params, 1);
	assert_string_equal(j->workloads[0].sets[0].params[0].name, "c");
	job_spec_free(j);
}

static void test_defaults_of_several_files_are_put_together(void **state)
{
	struct job_spec *j;

	(void)state;
	add("jobs/a.yaml", "defaults: {priority: 3, size: 1, hackbench: {x: 1}, "
			   "repeat: {iterations: 2}}\n");
	j = parse("name: j\nkernels: [k]\ninclude: a.yaml\n"
		  "defaults: {size: 2, hackbench: {y: 1}, repeat: {boots: 8}}\n" TAIL);
	assert_int_equal(j->priority, 3);
	assert_int_equal(j->boots, 8);
	assert_int_equal(j->iterations, 2);
	assert_int_equal(j->n_defaults, 3);
	assert_string_equal(j->defaults[2].param.values.items[0].text, "2");
	assert_null(j->defaults[2].param.at.file);
	assert_string_equal(j->defaults[0].param.at.file, "jobs/a.yaml");
	job_spec_free(j);
}

static void test_errors_name_the_file_in_which_they_are(void **state)
{
	(void)state;
	add("jobs/a.yaml", "\npriorty: 10\n");
	refused("name: j\nkernels: [k]\ninclude: a.yaml\n" TAIL, KG_EINVALID,
		"jobs/a.yaml:2:1: unknown key 'priorty'; did you mean 'priority'?");
	add("common.yaml", "exclude: [\"vendr == amd\"]\n");
	refused("name: j\nkernels: [k]\ninclude: ../common.yaml\n" TAIL, KG_EINVALID,
		"common.yaml:1:11: 'exclude': column 1: unknown name 'vendr'");
	add("jobs/a.yaml", "settings: {governor: [a, a]}\n");
	refused("name: j\nkernels: [k]\ninclude: a.yaml\n" TAIL, KG_EINVALID,
		"jobs/a.yaml:1:26: governor 'a' is there already");
	/* the value of the including file counts, so the error is there */
	add("jobs/a.yaml", "repeat: {boots: 5}\n");
	refused("name: j\nkernels: [k]\ninclude: a.yaml\nrepeat: {boots: x}\n" TAIL, KG_EINVALID,
		"jobs/job.yaml:4:17: 'boots'");
	add("jobs/a.yaml", "a: b: c\n");
	refused("name: j\ninclude: a.yaml\n", KG_EINVALID, "jobs/a.yaml:1:");
	add("jobs/a.yaml", "[]\n");
	refused("name: j\ninclude: a.yaml\n", KG_EINVALID, "jobs/a.yaml:1:1: a job file is a map");
	refused("name: j\ninclude: [b.yaml]\n", KG_EINVALID,
		"jobs/job.yaml:2:11: 'include': the file 'jobs/b.yaml' was not given");
	add("jobs/a.yaml", "priority: 1\n");
	refused("kernels: [k]\ninclude: a.yaml\n" TAIL, KG_EINVALID, "missing key 'name'");
}

/* What stands in two files: the error is in one, the line of the first in the other. */
static void test_what_is_there_already_is_named_with_its_file(void **state)
{
	(void)state;
	add("jobs/a.yaml", "\nsettings: {governor: x}\n");
	refused("name: j\nkernels: [k]\ninclude: a.yaml\nmatrix: {settings: {governor: "
		"[y]}}\n" TAIL,
		KG_EINVALID,
		"jobs/job.yaml:4:21: 'settings': 'governor' is there already, in line 2 of "
		"'jobs/a.yaml'");
	add("jobs/a.yaml", "\n\ncmdline: {vary: [x]}\n");
	refused("name: j\nkernels: [k]\ninclude: a.yaml\nmatrix: {cmdline: [y]}\n" TAIL,
		KG_EINVALID,
		"jobs/job.yaml:4:19: 'matrix.cmdline': 'cmdline.vary' is there already, in line 3 "
		"of 'jobs/a.yaml'");
	add("jobs/a.yaml", "kernels:\n- k\n- k\n");
	refused("name: j\ninclude: a.yaml\n" TAIL, KG_EINVALID,
		"jobs/a.yaml:3:3: kernel 'k' is there already, in line 2 of 'jobs/a.yaml'");
	add("jobs/a.yaml", "cmdline:\n  vary: [a, b, a]\n");
	refused("name: j\nkernels: [k]\ninclude: a.yaml\n" TAIL, KG_EINVALID,
		"jobs/a.yaml:2:16: 'cmdline.vary': 'a' is there already, in line 2 of "
		"'jobs/a.yaml'");
}

/* A sysctl is one key in whatever form a file writes it. */
static void test_sysctl_wins_over_another_form_of_its_name(void **state)
{
	static const char *const forms[] = {
		"settings: {sysctl: {net.core.somaxconn: %d}}\n",
		"settings: {sysctl: {net: {core: {somaxconn: %d}}}}\n",
		"settings: {sysctl: {net/core/somaxconn: %d}}\n",
		"settings: {sysctl: {net: {core/somaxconn: %d}}}\n",
		"settings: {sysctl.net.core.somaxconn: %d}\n",
		"settings: {sysctl.net/core/somaxconn: %d}\n",
		"defaults: {settings: {sysctl: {net.core.somaxconn: %d}}}\n",
	};
	const size_t n = sizeof(forms) / sizeof(forms[0]);
	char base[128], top[256], own[128];
	struct job_spec *j;
	size_t i, k;

	(void)state;
	for (i = 0; i < n; i++) {
		for (k = 0; k + 1 < n; k++) {
			(void)snprintf(base, sizeof(base), forms[i], 1);
			(void)snprintf(own, sizeof(own), forms[k], 2);
			(void)snprintf(top, sizeof(top),
				       "name: j\nkernels: [k]\ninclude: a.yaml\n%s" TAIL, own);
			add("jobs/a.yaml", base);
			j = parse(top);
			assert_int_equal(j->n_settings, 1);
			assert_string_equal(j->settings[0].name, "sysctl.net.core.somaxconn");
			assert_string_equal(j->settings[0].values.items[0].text, "2");
			assert_null(j->settings[0].at.file);
			job_spec_free(j);
		}
	}
	add("jobs/a.yaml", "settings: {sysctl: {vm: {}}}\n");
	refused("name: j\nkernels: [k]\ninclude: a.yaml\nsettings: {sysctl: {vm: {x: 1}}}\n" TAIL,
		KG_EINVALID, "jobs/a.yaml:1:21: 'settings.sysctl': 'vm' is no name of a sysctl");
}

static void test_circles_are_refused(void **state)
{
	struct job_spec *j = NULL;
	struct kg_err err = {{0}};

	(void)state;
	refused("name: j\ninclude: job.yaml\n", KG_EINVALID,
		"jobs/job.yaml:2:10: 'include': 'jobs/job.yaml' includes itself");
	add("jobs/a.yaml", "include: ../jobs/./job.yaml\n");
	refused("name: j\ninclude: a.yaml\n", KG_EINVALID,
		"jobs/a.yaml:1:10: 'include': 'jobs/job.yaml' includes itself, by way of other");
	add("jobs/a.yaml", "include: b.yaml\n");
	add("jobs/b.yaml", "include: a.yaml\n");
	refused("name: j\ninclude: a.yaml\n", KG_EINVALID,
		"jobs/b.yaml:1:10: 'include': 'jobs/a.yaml' includes itself");
	/* a name of the job file that is not the shortest */
	add("job.yaml", "name: x\n");
	assert_int_equal(read_as("./job.yaml", "name: j\ninclude: job.yaml\n", &j, &err),
			 KG_EINVALID);
	assert_non_null(strstr(err.text, "includes itself"));
	n_files = 0;
}

/* Each file includes the next one twice: read once each, not 2^20 times. */
static void test_file_that_is_included_by_many_is_read_once(void **state)
{
	static char names[21][32], texts[21][64];
	struct job_spec *j;
	unsigned i;

	(void)state;
	for (i = 0; i < 21; i++) {
		(void)snprintf(names[i], sizeof(names[i]), "jobs/f%u.yaml", i);
		(void)snprintf(texts[i], sizeof(texts[i]), "include: [f%u.yaml, f%u.yaml]\n", i + 1,
			       i + 1);
		add(names[i], i < 20 ? texts[i] : "priority: 7\n");
	}
	j = parse("name: j\nkernels: [k]\ninclude: f0.yaml\n" TAIL);
	assert_int_equal(j->priority, 7);
	job_spec_free(j);
}

static void test_more_than_64_files_are_refused(void **state)
{
	static char names[70][32], texts[70][64];
	struct job_spec *j;
	unsigned i, n;

	(void)state;
	for (n = 64; n <= 65; n++) {
		for (i = 0; i < n; i++) {
			(void)snprintf(names[i], sizeof(names[i]), "jobs/f%u.yaml", i);
			(void)snprintf(texts[i], sizeof(texts[i]), "include: f%u.yaml\n", i + 1);
			add(names[i], i + 1 < n ? texts[i] : "priority: 9\n");
		}
		if (n == 65) {
			refused("name: j\nkernels: [k]\ninclude: f0.yaml\n" TAIL, KG_ELIMIT,
				"jobs/f63.yaml:1:10: 'include': more than 64 files are included");
			continue;
		}
		j = parse("name: j\nkernels: [k]\ninclude: f0.yaml\n" TAIL);
		assert_int_equal(j->priority, 9);
		job_spec_free(j);
	}
}

static const char whole[] =
	"name: j\nkernels: [k, l]\ninclude: [a.yaml, b.yaml]\n"
	"machines: \"vendor in (intel, amd) and microarchitecture != zen3 or 'x' in tags\"\n"
	"defaults: {priority: 3, size: [1, 2], netperf: {mode: x}}\n"
	"lsm: {c: {base: a, without: [yama]}, d: [yama, bpf]}\n"
	"cmdline: {base: quiet, vary: {p: \"\", q: mitigations=off}}\n"
	"settings: {governor: [x, y], sysctl: {net: {ipv4.tcp_sack: 1}}}\n"
	"matrix: {groups: [1, 2], settings: {epp: z}}\n"
	"parameters: {s: {use: t, size: 3}, u: {size: 4}}\n"
	"workloads: [{netperf: {use: [s, u], test: q}}, {hackbench: {matrix: {groups: 1}}}]\n"
	"role: {client: [m], server: 'cpus > 1'}\ncanary: {h: {x: 1}}\n"
	"exclude: ['set == s and governor == x', 'size > 1KiB']\nonly: [\"kernel != 'k'\"]\n"
	"after: [1, 2]\nwhen: {nightly: '1:00'}\nrepeat: {boots: 2..5}\nmonitors: [vmstat]\n"
	"order: grouped\nnotify: [mail:a@b]\n";

static void add_parts(void)
{
	add("jobs/a.yaml", "include: b.yaml\nlsm: {a: 'yama,bpf'}\nsettings: {smt: off}\n");
	add("jobs/b.yaml", "parameters: {t: {x: [1, 2]}}\nlsm: {a: yama}\n");
}

static void test_each_failed_allocation_is_reported(void **state)
{
	struct job_spec *j = NULL;
	struct kg_err err = {{0}};
	unsigned n;
	int rc;

	(void)state;
	add_parts();
	for (n = 1; alloc_fault_arm(n), rc = read_as("jobs/job.yaml", whole, &j, &err),
	    alloc_fault_disarm();
	     n++) {
		assert_int_equal(rc, -ENOMEM);
		assert_null(j);
		assert_non_null(strstr(err.text, "out of memory"));
	}
	if (rc < 0)
		fail_msg("%s", err.text);
	assert_true(n > 250);
	job_spec_free(j);
	n_files = 0;
}

/* An error of the file is found, or memory is short; nothing else, and nothing is left behind. */
static void test_each_failed_allocation_of_an_error_is_survived(void **state)
{
	static const char *const bad[] = {
		"name: j\nkernels: [k]\ninclude: c.yaml\n" TAIL,
		"name: j\nkernels: [k, k]\n" TAIL,
		"name: j\nkernels: [k]\nlsm: {a: yama, b: {base: x}}\n" TAIL,
		"name: j\nkernels: [k]\nlsm: {a: yama, b: {base: a, without: [yma]}}\n" TAIL,
		"name: j\nkernels: [k]\nsettings: {govenor: x}\n" TAIL,
		"name: j\nkernels: [k]\nparameters: {q: {x: 1}}\nworkloads: [{h: {use: qq}}]\n",
		"name: j\nkernels: [k]\nexclude: ['set == x or sise > 1']\n" TAIL,
		"name: j\nkernels: [k]\nexclude: ['lsm == x']\nlsm: {y: yama}\n" TAIL,
		"name: j\nkernels: [k]\nmachines: 'microarchitecture == zen33'\n" TAIL,
		"name: j\nkernels: [k]\nmonitors: [vmstt]\n" TAIL,
	};
	struct kg_err err = {{0}};
	size_t i;
	unsigned n;

	(void)state;
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		for (n = 1;; n++) {
			struct job_spec *j = NULL;
			int rc;

			err.text[0] = '\0';
			alloc_fault_arm(n);
			rc = read_as("jobs/job.yaml", bad[i], &j, &err);
			assert_null(j);
			assert_true(rc == -ENOMEM || rc == KG_EINVALID);
			assert_true(err.text[0] != '\0');
			if (!alloc_fault_disarm()) {
				assert_int_equal(rc, KG_EINVALID);
				break;
			}
		}
		assert_true(n > 5);
	}
}

#define T(name) cmocka_unit_test(name)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(test_paths_start_from_the_including_file),
		T(test_names_are_listed_as_written),
		T(test_including_file_wins_key_by_key_and_labels_are_put_together),
		T(test_labels_called_like_keys_are_replaced_as_a_whole),
		T(test_defaults_of_several_files_are_put_together),
		T(test_errors_name_the_file_in_which_they_are),
		T(test_circles_are_refused),
		T(test_what_is_there_already_is_named_with_its_file),
		T(test_sysctl_wins_over_another_form_of_its_name),
		T(test_file_that_is_included_by_many_is_read_once),
		T(test_more_than_64_files_are_refused),
		T(test_each_failed_allocation_is_reported),
		T(test_each_failed_allocation_of_an_error_is_survived),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
