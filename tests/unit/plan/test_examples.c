/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Every job file of deploy/examples parses and plans, on machines and with kernels of its names. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/file.h"
#include "common/str.h"
#include "coordinator/plan/plan.h"
#include "tests/lib/cmocka_all.h"

#define EXAMPLES  KGRID_TEST_DATA "/../../deploy/examples"
#define WORKLOADS KGRID_TEST_DATA "/../../deploy/workloads"
#define FILES_MAX 32

static const char *const workloads[] = {"netperf", "hackbench", "perf-bench"};
#define N_WORKLOADS (sizeof(workloads) / sizeof(workloads[0]))
static const char *const labels[] = {"6.0", "6.1", "6.2", "6.3", "6.4", "6.12"};
#define N_KERNELS (sizeof(labels) / sizeof(labels[0]))

struct lab {
	struct kg_workload *decls[N_WORKLOADS];
	struct plan_offer offers[N_WORKLOADS];
	struct kg_param_value settings[7];
	struct plan_machine machines[2];
	struct kconfig_facts configs[2];
	struct plan_kernel kernels[N_KERNELS];
	char digests[N_KERNELS][KG_SHA256_HEX_SIZE];
	char releases[N_KERNELS][32];
	struct plan_input in;
};

static char *read_file(const char *folder, const char *name, size_t *ret_len)
{
	struct kg_err err = {""};
	char path[512], *text;

	(void)snprintf(path, sizeof(path), "%s/%s", folder, name);
	if (kg_file_read(path, 1 << 20, &text, ret_len, &err) < 0)
		fail_msg("%s", err.text);
	return text;
}

static void read_config(const char *release, struct kconfig_facts *ret)
{
	struct kg_err err = {""};
	char name[128], *text;
	size_t len;

	(void)snprintf(name, sizeof(name), "config-%s", release);
	text = read_file(KGRID_TEST_DATA "/plan", name, &len);
	if (kconfig_read(text, release, ret, &err) < 0)
		fail_msg("%s", err.text);
	free(text);
}

static void read_workloads(struct lab *l)
{
	for (size_t i = 0; i < N_WORKLOADS; i++) {
		struct kg_err err = {""};
		char name[64], *text;
		size_t len;

		(void)snprintf(name, sizeof(name), "%s.yaml", workloads[i]);
		text = read_file(WORKLOADS, name, &len);
		if (kg_workload_parse(name, text, len, &l->decls[i], &err) < 0)
			fail_msg("%s", err.text);
		l->offers[i] =
			(struct plan_offer){workloads[i], workloads[i], true, NULL, l->decls[i]};
		free(text);
	}
	l->decls[0]->pair = true; /* netperf */
}

static void lab_init(struct lab *l)
{
	static const struct kg_param_value settings[] = {
		{(char *)(uintptr_t) "governor", (char *)(uintptr_t) "performance schedutil"},
		{(char *)(uintptr_t) "thp", (char *)(uintptr_t) "always madvise never"},
		{(char *)(uintptr_t) "thp-defrag", (char *)(uintptr_t) "always madvise never"},
		{(char *)(uintptr_t) "smt", (char *)(uintptr_t) "on off"},
		{(char *)(uintptr_t) "turbo", (char *)(uintptr_t) "on off"},
		{(char *)(uintptr_t) "epp", (char *)(uintptr_t) "performance power"},
	};

	static const char *const tags[] = {"lab", "icount"};

	memset(l, 0, sizeof(*l));
	read_workloads(l);
	read_config("6.1.0-52-cloud-amd64", &l->configs[0]);
	read_config("6.12.117+deb12-cloud-amd64", &l->configs[1]);
	memcpy(l->settings, settings, sizeof(settings));
	for (size_t i = 0; i < 2; i++)
		l->machines[i] = (struct plan_machine){
			.facts = {.name = i ? "lab-amd" : "lab-intel",
				  .cpu_vendor = i ? "AuthenticAMD" : "GenuineIntel",
				  .cpu_family = i ? 25 : 6,
				  .cpu_model = i ? 1 : 85,
				  .cpu_stepping = i ? 1 : 7,
				  .cpus = 2,
				  .sockets = 1,
				  .memory_bytes = 64ULL << 30,
				  .clock = "instruction",
				  .tags = tags,
				  .n_tags = 2},
			.offers = l->offers,
			.n_offers = N_WORKLOADS,
			.base_cmdline = "console=ttyS0 edd=off",
			.initrd_policy = "overlay",
			.address = i ? "10.9.0.2" : "10.9.0.1",
			.settings = l->settings,
			.n_settings = sizeof(settings) / sizeof(settings[0]),
			.settings_known = true,
		};
	for (size_t i = 0; i < N_KERNELS; i++) {
		memset(l->digests[i], 'a' + (int)i, KG_SHA256_HEX_SIZE - 1);
		(void)snprintf(l->releases[i], sizeof(l->releases[i]), "%s.0-1-amd64", labels[i]);
		l->kernels[i] = (struct plan_kernel){.digest = l->digests[i],
						     .label = labels[i],
						     .release = l->releases[i],
						     .config = &l->configs[i == N_KERNELS - 1],
						     .has_modules = true,
						     .added_ns = (int64_t)i};
	}
	l->in = (struct plan_input){.machines = l->machines,
				    .n_machines = 2,
				    .kernels = l->kernels,
				    .n_kernels = N_KERNELS,
				    .seed = 42,
				    .added_kernel = l->digests[N_KERNELS - 1]};
}

static void lab_deinit(struct lab *l)
{
	for (size_t i = 0; i < N_WORKLOADS; i++)
		kg_workload_free(l->decls[i]);
}

/* ---- a file with all that it includes ---- */

struct bundle {
	struct job_file files[FILES_MAX];
	size_t n;
};

static void gather(struct bundle *b, const char *name, const char *text, size_t len)
{
	struct kg_texts names = {0};
	struct kg_err err = {""};

	if (job_includes(name, text, len, &names, &err) < 0)
		fail_msg("%s", err.text);
	for (size_t i = 0; i < names.n; i++) {
		char *path = job_include_path(name, names.items[i]);
		struct job_file *f = &b->files[b->n];
		char *included;

		assert_non_null(path);
		assert_true(b->n < FILES_MAX);
		included = read_file(EXAMPLES, path, &f->len);
		f->name = path;
		f->text = included;
		b->n++;
		gather(b, path, included, f->len);
	}
	kg_texts_deinit(&names);
}

static void bundle_deinit(struct bundle *b)
{
	for (size_t i = 0; i < b->n; i++) {
		free((char *)(uintptr_t)b->files[i].name);
		free((char *)(uintptr_t)b->files[i].text);
	}
}

static struct job_spec *parse_text(const char *name, const char *text, size_t len)
{
	struct job_spec *job = NULL;
	struct bundle b = {.n = 0};
	struct kg_err err = {""};
	struct job_source src = {.file_name = name, .text = text, .len = len};

	gather(&b, name, text, src.len);
	src.files = b.files;
	src.n_files = b.n;
	if (job_spec_parse_source(&src, &job, &err) < 0)
		fail_msg("%s", err.text);
	bundle_deinit(&b);
	return job;
}

static struct job_spec *parse(const char *name)
{
	size_t len;
	char *text = read_file(EXAMPLES, name, &len);
	struct job_spec *job = parse_text(name, text, len);

	free(text);
	return job;
}

static struct plan *make(struct lab *l, const struct job_spec *job)
{
	struct plan *p = NULL;
	struct kg_err err = {""};

	l->in.job = job;
	if (plan_make(&l->in, &p, &err) < 0)
		fail_msg("%s", err.text);
	return p;
}

static bool is_example(const char *name)
{
	size_t n = strlen(name);

	return n > 5 && strcmp(&name[n - 5], ".yaml") == 0;
}

/* Takes the job: all of its cells can run, and they add up. */
static void check(struct lab *l, const char *name, struct job_spec *job)
{
	struct plan *p = make(l, job);

	print_message("%s: %zu cells, %zu boots\n", name, p->n_cells, p->n_boots);
	assert_true(p->n_cells > 0 && p->n_boots > 0);
	for (size_t i = 0; i < p->n_cells; i++) {
		if (p->cells[i].infeasible)
			fail_msg("%s: %s %s is infeasible: %s", name, p->cells[i].workload,
				 p->cells[i].params, p->cells[i].infeasible);
	}
	assert_int_equal(p->full + p->canaries,
			 p->n_cells + p->excluded + p->duplicates + p->merged + p->pairwise_left);
	plan_free(p);
	job_spec_free(job);
}

/* ---- tests ---- */

static void test_every_example_parses_and_plans(void **state)
{
	DIR *dir = opendir(EXAMPLES);
	struct dirent *e;
	struct lab l;
	size_t n = 0;

	(void)state;
	assert_non_null(dir);
	while ((e = readdir(dir))) {
		if (!is_example(e->d_name))
			continue;
		lab_init(&l);
		check(&l, e->d_name, parse(e->d_name));
		lab_deinit(&l);
		n++;
	}
	closedir(dir);
	assert_true(n >= 5);
}

static void test_the_experiment_of_the_introduction_is_whole(void **state)
{
	struct job_spec *job = parse("netperf-lsm-6.0-6.4.yaml");
	struct lab l;
	struct plan *p;

	(void)state;
	lab_init(&l);
	p = make(&l, job);
	/* machines x kernels x lists x tests x sizes */
	assert_int_equal(p->full, 2 * 5 * 4 * 2 * 9);
	assert_int_equal(p->blocks, 12);
	assert_int_equal(p->blocks_min, 5);
	plan_free(p);
	job_spec_free(job);
	lab_deinit(&l);
}

static void test_job_files_of_the_readme_parse_and_plan(void **state)
{
	static const char open[] = "```yaml\n", close[] = "\n```";
	size_t len, n = 0;
	char *text = read_file(EXAMPLES "/../..", "README.md", &len);
	const char *at = text;
	struct job_spec *job;
	struct lab l;

	(void)state;
	while ((at = strstr(at, open))) {
		const char *end = strstr(at += sizeof(open) - 1, close);

		assert_non_null(end);
		job = parse_text("README.md", at, (size_t)(end + 1 - at));
		lab_init(&l);
		check(&l, "README.md", job);
		lab_deinit(&l);
		at = end;
		n++;
	}
	assert_int_equal(n, 2);
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_example_parses_and_plans),
		cmocka_unit_test(test_the_experiment_of_the_introduction_is_whole),
		cmocka_unit_test(test_job_files_of_the_readme_parse_and_plan),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
