/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Every allocation fails once: the answer is -ENOMEM, never a table with something missing. */
#include "coordinator/report/diff.h"
#include "coordinator/report/history.h"
#include "coordinator/report/noise_report.h"
#include <errno.h>

#include "tests/lib/alloc_fault.h"
#include "tests/unit/report/fixture.h"

static const struct epoch_change changes[] = {{"cpu.microcode", "0x1", "0x2"}};
static const struct report_epoch epochs[] = {{"m0", 2, changes, 1}};
static const struct report_config configs[] = {{"d0", "CONFIG_A=y\nCONFIG_HZ=1\n", 23},
					       {"d1", "CONFIG_A=m\n", 11}};

/* Two machines, two kernels, two lists; of everything that a comparison can say a little. */
static struct rows *all(void)
{
	static const char *const m[] = {"m0", "m1", "m2"}, *const k[] = {"a", "b"};
	static const char *const l[] = {"x", "y"};
	struct rows *r = rows_new();

	for (int i = 0; i < 12; i++) {
		size_t c = rows_cell(r, m[i / 4], k[i / 2 % 2], l[i % 2], "net", "size=1");
		struct report_cell *cell = &r->cells[c];

		cell->cpu_vendor = "v";
		cell->microarchitecture = i < 8 ? "u" : "w";
		cell->config_digest = i / 2 % 2 ? "d1" : "d0";
		cell->kernel_digest = cell->kernel;
		cell->cmdline = i % 2 ? "quiet lsm=y" : "foo quiet";
		cell->version = i / 2 % 2 ? "6.1 (a@b) (gcc 1, ld) #1" : "6.1 (a@b) (gcc 2, ld) #1";
		if (i == 5)
			cell->slots[KG_OUTCOME_PANIC] = 3;
		/* Few: neither a bootstrap, whose sort does without memory, nor a test for modes. */
		for (unsigned v = 0; v < 8 && i != 5; v++)
			rows_value(r, c, 0, (uint64_t)i * 4 + v / 2,
				   (i == 11 ? 80 : 100 + i) + 0.01 * v)
				->epoch = i == 1 ? 2 : 1;
	}
	r->in.epochs = epochs;
	r->in.n_epochs = 1;
	r->in.configs = configs;
	r->in.n_configs = 2;
	r->in.with_values = r->in.selection = true;
	return r;
}

static void test_compare_without_memory(void **state)
{
	static const char *const baselines[] = {NULL, "*/x"};
	struct rows *r = all();
	struct kg_err err;
	bool more = true;

	(void)state;
	for (int i = 0; i < 2; i++) {
		more = true;
		r->in.baseline = baselines[i];
		r->in.across_epochs = i == 1;
		for (unsigned n = 1; more; n++) {
			Kgrid__V1__CompareReply *reply = calloc(1, sizeof(*reply));
			int rc;

			kgrid__v1__compare_reply__init(reply);
			alloc_fault_arm(n);
			rc = report_compare_tables(&r->in, reply, &err);
			more = alloc_fault_disarm();
			if (rc != (more ? -ENOMEM : 0))
				fail_msg("allocation %u: %d %s", n, rc, err.text);
			kgrid__v1__compare_reply__free_unpacked(reply, NULL);
		}
	}
}

static void test_history_without_memory(void **state)
{
	struct rows *r = all();
	struct history_input in = {.rows = &r->in};
	struct kg_err err;
	bool more = true;

	(void)state;
	for (unsigned n = 1; more; n++) {
		Kgrid__V1__HistoryReply *reply = calloc(1, sizeof(*reply));
		int rc;

		kgrid__v1__history_reply__init(reply);
		alloc_fault_arm(n);
		rc = report_history(&in, reply, &err);
		more = alloc_fault_disarm();
		if (rc != (more ? -ENOMEM : 0))
			fail_msg("allocation %u: %d %s", n, rc, err.text);
		kgrid__v1__history_reply__free_unpacked(reply, NULL);
	}
}

static void test_noise_without_memory(void **state)
{
	struct rows *r = rows_new();
	struct noise_input in = {.rows = &r->in};
	struct kg_err err;
	bool more = true;

	(void)state;
	rows_boots(r, rows_cell(r, "m", "a", "x", "net", ""), 0, 4, 1, 100, 0.01);
	for (unsigned n = 1; more; n++) {
		Kgrid__V1__NoiseReply *reply = calloc(1, sizeof(*reply));
		int rc;

		kgrid__v1__noise_reply__init(reply);
		alloc_fault_arm(n);
		rc = report_noise(&in, reply, &err);
		more = alloc_fault_disarm();
		if (rc != (more ? -ENOMEM : 0))
			fail_msg("allocation %u: %d %s", n, rc, err.text);
		kgrid__v1__noise_reply__free_unpacked(reply, NULL);
	}
}

static void test_diff_without_memory(void **state)
{
	const struct epoch_fact one[] = {{"cpu.microcode", "1"}, {"vulnerability.mds", "x"}};
	const struct epoch_fact two[] = {{"cpu.microcode", "2"}, {"vulnerability.mds", NULL}};
	const struct diff_document d1[] = {{"sysctl", "1", "a = 1\n", 6}, {"x", "1", "", 0}};
	const struct diff_document d2[] = {{"sysctl", "2", "a = 2\nb = 1", 11}};
	const struct diff_side a = {.name = "a",
				    .facts = one,
				    .n_facts = 2,
				    .has_facts = true,
				    .config = "CONFIG_A=y\n",
				    .config_len = 11,
				    .lsm = "a,b",
				    .cmdline = "c=1 c=2 d",
				    .documents = d1,
				    .n_documents = 2};
	const struct diff_side b = {.name = "b",
				    .facts = two,
				    .n_facts = 2,
				    .has_facts = true,
				    .config = "CONFIG_B=y\n",
				    .config_len = 11,
				    .lsm = "b,a",
				    .cmdline = "c=2 c=1 e",
				    .documents = d2,
				    .n_documents = 1};
	struct kg_err err;
	bool more = true;

	(void)state;
	for (unsigned n = 1; more; n++) {
		Kgrid__V1__DiffReply *reply = calloc(1, sizeof(*reply));
		int rc;

		kgrid__v1__diff_reply__init(reply);
		alloc_fault_arm(n);
		rc = report_diff(&a, &b, reply, &err);
		more = alloc_fault_disarm();
		if (rc != (more ? -ENOMEM : 0))
			fail_msg("allocation %u: %d %s", n, rc, err.text);
		kgrid__v1__diff_reply__free_unpacked(reply, NULL);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_compare_without_memory),
		cmocka_unit_test(test_history_without_memory),
		cmocka_unit_test(test_noise_without_memory),
		cmocka_unit_test(test_diff_without_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
