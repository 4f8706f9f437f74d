/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The job file of a cell plans to that cell: the same identity, and no other. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/file.h"
#include "common/str.h"
#include "coordinator/plan/plan.h"
#include "coordinator/report/reproduce.h"
#include "tests/lib/cmocka_all.h"

static const char declaration[] =
	"name: tool\n"
	"description: something with every kind of parameter\n"
	"parameters:\n"
	"  count: {type: int, min: 1, max: 100, default: 1}\n"
	"  size: {type: bytes, min: 1, max: 1073741824, default: 64}\n"
	"  mode: {type: choice, choices: [fast, slow, \"off\"], default: fast}\n"
	"  words: {type: text, default: plain}\n"
	"helper: [toold, -L, \"{host}\", -p, \"{port}\"]\n"
	"command: [tool, -p, \"{port}\", \"{count}\", \"{size}\", \"{mode}\", \"{words}\"]\n"
	"timeout: 60s\n"
	"metrics:\n"
	"  - {name: rate, unit: 1/s, direction: higher, read: {keyval: RATE}}\n";

#define N_KERNELS 2
static const char *const releases[N_KERNELS] = {"6.1.0-52-cloud-amd64",
						"6.12.117+deb12-cloud-amd64"};

struct lab {
	struct kg_workload *decl;
	struct plan_offer offer;
	struct kg_param_value settings[3];
	struct plan_machine machines[2];
	struct kconfig_facts configs[N_KERNELS];
	struct plan_kernel kernels[N_KERNELS];
	char digests[N_KERNELS][KG_SHA256_HEX_SIZE];
	struct plan_input in;
};

static void read_config(const char *release, struct kconfig_facts *ret)
{
	struct kg_err err = {""};
	char path[512], *text;
	size_t len;

	(void)snprintf(path, sizeof(path), KGRID_TEST_DATA "/plan/config-%s", release);
	if (kg_file_read(path, 1 << 20, &text, &len, &err) < 0 ||
	    kconfig_read(text, release, ret, &err) < 0)
		fail_msg("%s", err.text);
	free(text);
}

static void lab_init(struct lab *l, const char *base)
{
	static const struct kg_param_value settings[] = {
		{(char *)(uintptr_t) "governor", (char *)(uintptr_t) "performance schedutil"},
		{(char *)(uintptr_t) "thp", (char *)(uintptr_t) "always madvise never"},
		{(char *)(uintptr_t) "turbo", (char *)(uintptr_t) "on off"},
	};
	struct kg_err err = {""};

	memset(l, 0, sizeof(*l));
	if (kg_workload_parse("tool.yaml", declaration, strlen(declaration), &l->decl, &err) < 0)
		fail_msg("%s", err.text);
	l->decl->pair = true;
	l->offer = (struct plan_offer){"tool", "d1", true, NULL, l->decl};
	memcpy(l->settings, settings, sizeof(settings));
	for (size_t i = 0; i < 2; i++)
		l->machines[i] = (struct plan_machine){
			.facts = {.name = i ? "lab-amd" : "lab-intel",
				  .cpu_vendor = i ? "AuthenticAMD" : "GenuineIntel",
				  .cpus = 2,
				  .clock = "real"},
			.offers = &l->offer,
			.n_offers = 1,
			.base_cmdline = base,
			.initrd_policy = "overlay",
			.address = i ? "10.9.0.2" : "10.9.0.1",
			.settings = l->settings,
			.n_settings = 3,
			.settings_known = true,
		};
	for (size_t i = 0; i < N_KERNELS; i++) {
		read_config(releases[i], &l->configs[i]);
		memset(l->digests[i], '1' + (int)i, KG_SHA256_HEX_SIZE - 1);
		l->kernels[i] = (struct plan_kernel){.digest = l->digests[i],
						     .label = i ? "new" : "old",
						     .release = releases[i],
						     .config = &l->configs[i],
						     .has_modules = true};
	}
	l->in = (struct plan_input){.machines = l->machines,
				    .n_machines = 2,
				    .kernels = l->kernels,
				    .n_kernels = N_KERNELS,
				    .seed = 42};
}

static struct plan *make(struct lab *l, const char *text, struct job_spec **ret_job)
{
	struct kg_err err = {""};
	struct plan *p = NULL;

	if (job_spec_parse("job.yaml", text, strlen(text), ret_job, &err) < 0)
		fail_msg("%s in\n%s", err.text, text);
	l->in.job = *ret_job;
	if (plan_make(&l->in, &p, &err) < 0)
		fail_msg("%s in\n%s", err.text, text);
	return p;
}

static void check_cell(struct lab *l, const struct plan *p, size_t number, const char *base)
{
	const struct plan_cell *c = &p->cells[number];
	struct reproduce_input in = {
		.job = 7,
		.job_name = "all",
		.number = (uint32_t)number + 1,
		.machine = c->machine,
		.peer = c->peer,
		.kernel_label = c->kernel_label,
		.kernel_release = "whatever",
		.kernel_digest = c->kernel,
		.lsm_label = c->lsm_label,
		.lsm_request = c->lsm_request,
		.lsm_effective = c->lsm_effective,
		.base_cmdline = base,
		.cmdline = c->cmdline,
		.settings = c->settings,
		.workload = c->workload,
		.params = c->params,
		.iterations = c->iterations,
		.blocks = p->blocks,
	};
	struct job_spec *job = NULL;
	struct kg_err err = {""};
	struct plan *again;
	char *text = NULL;

	if (reproduce_job_file(&in, &text, &err) < 0)
		fail_msg("%s", err.text);
	again = make(l, text, &job);
	if (again->n_cells != 1 || strcmp(again->cells[0].identity, c->identity) != 0)
		fail_msg("%zu cells, '%s' instead of '%s' of\n%s", again->n_cells,
			 again->cells[0].cmdline, c->cmdline, text);
	assert_string_equal(again->cells[0].lsm_effective, c->lsm_effective);
	assert_int_equal(again->cells[0].iterations, c->iterations);
	assert_int_equal(again->blocks, p->blocks);
	assert_null(strstr(text, "has changed since"));
	plan_free(again);
	job_spec_free(job);
	free(text);
}

static void check_all(const char *base, const char *text)
{
	struct job_spec *job = NULL;
	struct plan *p;
	struct lab l;

	lab_init(&l, base);
	p = make(&l, text, &job);
	assert_true(p->n_cells > 0);
	for (size_t i = 0; i < p->n_cells; i++)
		check_cell(&l, p, i, base);
	plan_free(p);
	job_spec_free(job);
	kg_workload_free(l.decl);
}

#define LISTS                                       \
	"lsm:\n"                                    \
	"  default: default\n"                      \
	"  kept: default\n"                         \
	"  empty: \"\"\n"                           \
	"  full: landlock,lockdown,yama,apparmor\n" \
	"  part: {base: full, without: [yama]}\n"

static void test_lists_and_parameters(void **state)
{
	(void)state;
	check_all("console=ttyS0",
		  "name: all\nkernels: [old, new]\n" LISTS "workloads:\n"
		  "  - tool: {count: [1, 7], size: [64KiB, 1], mode: [fast, \"off\"]}\n"
		  "  - tool: {words: ['a b', 'it''s', 'say \"x\" \\ y', 'x: y # z', '1..3', "
		  "'~', '[a]', 'null']}\n"
		  "repeat: {boots: 7, iterations: 3}\n");
}

static void test_words_of_the_command_line(void **state)
{
	static const char *const bases[] = {"", "console=ttyS0", "panic=5 quiet", "a=\"b c\""};
	static const char *const words[] = {
		"quiet",	 "panic=10",	  "quiet panic=10", "panic=10 quiet",
		"panic=5 quiet", "quiet panic=5", "a='x y'",	    "dyndbg=\"file a +p\"",
		"foo.panic=10",	 "x=panic=10",	  "quiet  double",  "audit=0 - -"};

	(void)state;
	for (size_t i = 0; i < sizeof(bases) / sizeof(bases[0]); i++) {
		for (size_t k = 0; k < sizeof(words) / sizeof(words[0]); k++) {
			struct kg_str s = {0};

			kg_str_add(&s, "name: all\nkernels: [new]\n" LISTS "cmdline: ");
			kg_str_add_json(&s, words[k]);
			kg_str_add(&s, "\nworkloads: [tool]\n");
			check_all(bases[i], kg_str_text(&s));
			kg_str_deinit(&s);
		}
		check_all(bases[i], "name: all\nkernels: [new]\n" LISTS "workloads: [tool]\n");
	}
}

static void test_variants_of_the_command_line_and_settings(void **state)
{
	(void)state;
	check_all("console=ttyS0",
		  "name: all\nkernels: [old, new]\n" LISTS
		  "cmdline: {base: audit=0, vary: [mitigations=auto, mitigations=off]}\n"
		  "settings:\n"
		  "  governor: [performance, schedutil]\n"
		  "  turbo: \"off\"\n"
		  "  sysctl: {vm.swappiness: [10, 60], net.ipv4.tcp_rmem: 4096 131072 6291456}\n"
		  "workloads: [tool]\n");
}

static void test_pairs_of_machines(void **state)
{
	(void)state;
	check_all("console=ttyS0",
		  "name: all\nkernels: [new]\n" LISTS "workloads:\n"
		  "  - tool: {role: {client: \"vendor == intel\", server: \"vendor == amd\"}}\n"
		  "  - tool: {count: 2}\n");
}

static void test_a_machine_whose_own_words_changed_is_said(void **state)
{
	struct reproduce_input in = {.machine = "m",
				     .kernel_digest = "11111111",
				     .lsm_label = "full",
				     .lsm_request = "yama",
				     .base_cmdline = "panic=5", /* since the cell was planned */
				     .cmdline = "quiet lsm=yama panic=10",
				     .workload = "tool"};
	struct kg_err err = {""};
	char *text = NULL;

	(void)state;
	assert_int_equal(reproduce_job_file(&in, &text, &err), 0);
	assert_non_null(strstr(text, "has changed since"));
	assert_non_null(strstr(text, "# quiet lsm=yama panic=10\n"));
	assert_non_null(strstr(text, "cmdline: quiet\n"));
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lists_and_parameters),
		cmocka_unit_test(test_words_of_the_command_line),
		cmocka_unit_test(test_variants_of_the_command_line_and_settings),
		cmocka_unit_test(test_pairs_of_machines),
		cmocka_unit_test(test_a_machine_whose_own_words_changed_is_said),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
