/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdio.h>

#include "cli/compare_style.h"
#include "tests/lib/cmocka_all.h"
#include "tests/unit/cli/reply.h"

#define BOOTS 3

static struct reply x;
static Kgrid__V1__BootValues boots[REPLY_ROWS][REPLY_COLUMNS][BOOTS];
static Kgrid__V1__BootValues *boot_list[REPLY_ROWS][REPLY_COLUMNS][BOOTS];
static double values[REPLY_ROWS][REPLY_COLUMNS][BOOTS][3];

/* Boots of three iterations, of which the middle one is 1000, 1010, 990 and, in the second column,
 * a tenth less. */
static void make(void)
{
	static const double middle[BOOTS] = {1000, 1010, 990};
	size_t row, i, b;

	reply_make(&x);
	for (row = 0; row < REPLY_ROWS; row++) {
		for (i = 0; i < REPLY_COLUMNS; i++) {
			for (b = 0; b < BOOTS; b++) {
				Kgrid__V1__BootValues *v = &boots[row][i][b];
				double *d = values[row][i][b];

				d[1] = 1; /* the median is none of the ends */
				d[0] = middle[b] * (i ? 0.9 : 1);
				d[2] = 5000;
				*v = (Kgrid__V1__BootValues)KGRID__V1__BOOT_VALUES__INIT;
				v->n_value = 3;
				v->value = d;
				boot_list[row][i][b] = v;
			}
			x.cells[row][i].n_boots_values = BOOTS;
			x.cells[row][i].boots_values = boot_list[row][i];
		}
	}
}

static char *styled(const char *style)
{
	struct kg_str out = {0};
	struct kg_err err = {{0}};

	assert_int_equal(compare_style(&x.reply, style, &out, &err), 0);
	return kg_str_take(&out);
}

static void test_mmtests_has_a_harmonic_mean_of_boots_and_positive_better(void **state)
{
	char *text;

	(void)state;
	make();
	text = styled("mmtests");
	assert_contains(text, "Hmean");
	assert_contains(text, "64");
	assert_contains(text, "999.93"); /* 3 / (1/1000 + 1/1010 + 1/990) */
	assert_contains(text, "-10.00%");
	assert_contains(text, "prev");
	assert_contains(text, "full");
	free(text);
}

static void test_times_have_an_arithmetic_mean(void **state)
{
	char *text;

	(void)state;
	make();
	x.table.direction = reply_text_of("lower");
	text = styled("mmtests");
	assert_contains(text, "Amean");
	assert_contains(text, "10.00%");
	assert_null(strstr(text, "-10.00%"));
	free(text);
}

static void test_lkp_names_the_metric_with_its_parameters(void **state)
{
	char *text;

	(void)state;
	make();
	text = styled("lkp");
	assert_contains(text, "netperf.rate size=64");
	assert_contains(text, "-10.0%");
	free(text);
}

static void test_benchstat_and_ministat_are_made_too(void **state)
{
	char *text;

	(void)state;
	make();
	text = styled("benchstat");
	assert_contains(text, "-10.00%");
	free(text);
	text = styled("ministat");
	assert_contains(text, "1000");
	free(text);
}

static void test_cells_without_values_are_empty_not_0(void **state)
{
	char *text;

	(void)state;
	make();
	x.cells[0][1].n_boots_values = 0;
	x.rows[1].n_cells = 1;
	text = styled("mmtests");
	assert_null(strstr(text, "-10.00%"));
	assert_null(strstr(text, "nan"));
	free(text);
	x.table.n_columns = 0;
	x.table.n_rows = 0;
	text = styled("mmtests");
	free(text);
	x.reply.n_tables = 0;
	text = styled("lkp");
	free(text);
}

static void test_unknown_style_is_refused(void **state)
{
	struct kg_str out = {0};
	struct kg_err err = {{0}};

	(void)state;
	make();
	assert_int_equal(compare_style(&x.reply, "mmtest", &out, &err), KG_EINVALID);
	assert_contains(err.text, "mmtests");
	kg_str_deinit(&out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_mmtests_has_a_harmonic_mean_of_boots_and_positive_better),
		cmocka_unit_test(test_times_have_an_arithmetic_mean),
		cmocka_unit_test(test_lkp_names_the_metric_with_its_parameters),
		cmocka_unit_test(test_benchstat_and_ministat_are_made_too),
		cmocka_unit_test(test_cells_without_values_are_empty_not_0),
		cmocka_unit_test(test_unknown_style_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
