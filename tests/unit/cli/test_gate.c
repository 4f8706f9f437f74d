/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/cli.h"
#include "cli/gate.h"
#include "cli/junit.h"
#include "tests/lib/cmocka_all.h"
#include "tests/unit/cli/reply.h"

static struct reply x;

static int exit_of(void)
{
	struct gate g;
	int rc;

	gate_init(&g, &x.reply);
	rc = gate_exit(&g);
	gate_deinit(&g);
	return rc;
}

static char *why_of(void)
{
	struct kg_str s = {0};
	struct gate g;

	gate_init(&g, &x.reply);
	gate_why(&g, &s);
	gate_deinit(&g);
	return kg_str_take(&s);
}

static char *text_of(bool all)
{
	struct kg_str s = {0};
	struct gate g;

	gate_init(&g, &x.reply);
	gate_text(&g, all, 140, false, &s);
	gate_deinit(&g);
	return kg_str_take(&s);
}

static char *junit_of(void)
{
	struct kg_str s = {0};
	struct gate g;

	gate_init(&g, &x.reply);
	junit_text(&g, &x.reply, &s);
	gate_deinit(&g);
	return kg_str_take(&s);
}

static void test_no_regression_and_enough_boots_is_yes(void **state)
{
	char *why;

	(void)state;
	reply_make(&x);
	assert_int_equal(exit_of(), CLI_EXIT_OK);
	why = why_of();
	assert_string_equal(why, "");
	free(why);
	reply_verdict(&x, 0, "improvement", 5, 8);
	assert_int_equal(exit_of(), CLI_EXIT_OK);
	reply_verdict(&x, 1, "unknown", -0.8, 8); /* undecided, but not for want of boots */
	assert_int_equal(exit_of(), CLI_EXIT_OK);
}

static void test_one_regression_is_no_whatever_else(void **state)
{
	(void)state;
	reply_make(&x);
	reply_verdict(&x, 1, "regression", -5, 8);
	assert_int_equal(exit_of(), CLI_EXIT_NO);
	reply_verdict(&x, 0, "unknown", -5, 3);
	x.accounting.pending = 4;
	assert_int_equal(exit_of(), CLI_EXIT_NO);
}

static void test_fewer_than_eight_boots_everywhere_decides_nothing(void **state)
{
	char *why;

	(void)state;
	reply_make(&x);
	reply_verdict(&x, 0, "unknown", -5, 5);
	reply_verdict(&x, 1, "unknown", -5, 7);
	x.cells[1][1].baseline_boots = 8;
	assert_int_equal(exit_of(), CLI_EXIT_NODATA);
	why = why_of();
	assert_contains(why, "a gate needs 8 boots a side");
	assert_contains(why, "lacks 1");
	free(why);
	reply_verdict(&x, 1, "unknown", -5, 8);
	assert_int_equal(exit_of(), CLI_EXIT_OK);
}

static void test_slots_that_are_pending_keep_the_gate_from_yes(void **state)
{
	char *why;

	(void)state;
	reply_make(&x);
	x.accounting.pending = 4;
	assert_int_equal(exit_of(), CLI_EXIT_NODATA);
	why = why_of();
	assert_contains(why, "4 slots are pending");
	assert_contains(why, "--wait");
	free(why);
}

static void test_nothing_to_compare_is_5(void **state)
{
	char *why;

	(void)state;
	reply_make(&x);
	x.table.n_columns = 1;
	assert_int_equal(exit_of(), CLI_EXIT_NODATA);
	why = why_of();
	assert_contains(why, "nothing to compare with the baseline");
	free(why);
	reply_make(&x);
	reply_verdict(&x, 0, "incomparable", 0, 9);
	reply_verdict(&x, 1, "incomparable", 0, 9);
	assert_int_equal(exit_of(), CLI_EXIT_NODATA);
	why = why_of();
	assert_contains(why, "incomparable");
	free(why);
}

static void test_text_lists_what_did_not_pass_worst_first(void **state)
{
	char *text;

	(void)state;
	reply_make(&x);
	reply_verdict(&x, 0, "unknown", -5, 3);
	reply_verdict(&x, 1, "regression", -5, 8);
	text = text_of(false);
	assert_true(strstr(text, "failed ") < strstr(text, "undecided "));
	assert_contains(text, "-5.00 % [-5.50, -4.50], p=0.001, q=0.002, 8+8 boots");
	assert_contains(text, "3+3 boots; a gate needs 8 a side");
	assert_contains(text, "comparisons 2 = 0 passed + 1 failed + 1 undecided + 0 error\n");
	free(text);
	reply_make(&x);
	text = text_of(false);
	assert_string_equal(text, "comparisons 2 = 2 passed + 0 failed + 0 undecided + 0 error\n");
	free(text);
	text = text_of(true);
	assert_contains(text, "passed  lab-amd");
	free(text);
}

static void test_cells_outside_the_job_are_no_comparison(void **state)
{
	struct gate g;

	(void)state;
	reply_make(&x);
	x.cells[0][1].present = 0;
	x.rows[1].n_cells = 1;
	gate_init(&g, &x.reply);
	assert_int_equal(g.n, 0);
	gate_deinit(&g);
}

static void test_junit_has_a_suite_per_machine_and_a_case_per_pair(void **state)
{
	char *xml;

	(void)state;
	reply_make(&x);
	reply_verdict(&x, 1, "regression", -5, 8);
	xml = junit_of();
	assert_string_equal(
		xml,
		"<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
		"<testsuites name=\"kgrid gate, job 7\" tests=\"2\" failures=\"1\" errors=\"0\" "
		"skipped=\"0\">\n"
		"  <testsuite name=\"lab-amd\" tests=\"2\" failures=\"1\" errors=\"0\" "
		"skipped=\"0\">\n"
		"    <properties>\n"
		"      <property name=\"cpu\" value=\"AMD EPYC\"/>\n"
		"    </properties>\n"
		"    <testcase classname=\"lab-amd.netperf\" name=\"size=64 rate 6.12/full against "
		"6.12/prev\">\n"
		"      <system-out>same: +0.10 % [-0.40, 0.60], p=0.001, q=0.002, 8+8 "
		"boots&#10;4000.00 1/s</system-out>\n"
		"    </testcase>\n"
		"    <testcase classname=\"lab-amd.netperf\" name=\"size=1024 rate 6.12/full "
		"against 6.12/prev\">\n"
		"      <failure type=\"regression\" message=\"-5.00 % [-5.50, -4.50], p=0.001, "
		"q=0.002, 8+8 boots\">-5.00 % [-5.50, -4.50], p=0.001, q=0.002, 8+8 "
		"boots&#10;4000.00 1/s</failure>\n"
		"    </testcase>\n"
		"  </testsuite>\n"
		"</testsuites>\n");
	free(xml);
}

static void test_junit_skips_the_undecided_and_errs_without_data(void **state)
{
	char *xml;

	(void)state;
	reply_make(&x);
	reply_verdict(&x, 0, "unstable", -5, 8);
	x.cells[0][1].reason = reply_text_of("between-boot variance");
	x.cells[1][1].has_value = 0;
	x.cells[1][1].verdict = NULL;
	xml = junit_of();
	assert_contains(xml, "tests=\"2\" failures=\"0\" errors=\"1\" skipped=\"1\"");
	assert_contains(xml, "<skipped message=\"between-boot variance\"/>");
	assert_contains(xml, "<error type=\"no data\" message=\"no valid result\"/>");
	free(xml);
	reply_make(&x);
	reply_verdict(&x, 0, "unknown", 0, 8);
	x.cells[0][1].baseline_boots = 0;
	reply_verdict(&x, 1, "incomparable", 0, 8);
	x.cells[1][1].reason = reply_text_of("epoch 2: microcode");
	xml = junit_of();
	assert_contains(xml, "errors=\"2\"");
	assert_contains(xml, "message=\"the baseline has no valid result\"");
	assert_contains(xml, "<error type=\"incomparable\" message=\"epoch 2: microcode\"/>");
	free(xml);
}

static void escapes_to(const char *text, const char *want)
{
	struct kg_str s = {0};

	xml_text(&s, text);
	assert_string_equal(kg_str_text(&s), want);
	kg_str_deinit(&s);
}

static void test_xml_text_is_well_formed_whatever_comes(void **state)
{
	(void)state;
	escapes_to("a<b>&\"c'", "a&lt;b&gt;&amp;&quot;c&apos;");
	escapes_to("a\nb\tc\r", "a&#10;b&#9;c&#13;");
	escapes_to("\x01\x1b[2J", "\xef\xbf\xbd\xef\xbf\xbd[2J");
	escapes_to("\xff\xfe\xc3", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd");
	escapes_to("\xc3\xa9\xe2\x86\x92\xf0\x9f\x90\xa7", "\xc3\xa9\xe2\x86\x92\xf0\x9f\x90\xa7");
	escapes_to("\xef\xbf\xbe\xef\xbf\xbf", "\xef\xbf\xbd\xef\xbf\xbd");
	escapes_to("\xed\xa0\x80", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"); /* half a surrogate */
	escapes_to("", "");
}

static void test_junit_of_nothing_is_a_document_too(void **state)
{
	char *xml;

	(void)state;
	reply_make(&x);
	x.reply.n_tables = 0;
	x.reply.job = NULL;
	xml = junit_of();
	assert_contains(xml, "<testsuites name=\"kgrid gate\" tests=\"0\" failures=\"0\" "
			     "errors=\"0\" skipped=\"0\">\n</testsuites>\n");
	free(xml);
}

/* Longest line of a text. */
static size_t longest_line(const char *p)
{
	size_t most = 0;

	while (*p) {
		size_t n = strcspn(p, "\n");

		most = n > most ? n : most;
		p += n + (p[n] == '\n');
	}
	return most;
}

static void test_table_is_never_wider_than_asked(void **state)
{
	struct kg_str out = {0};
	struct gate g;
	size_t width;

	(void)state;
	reply_make(&x);
	reply_verdict(&x, 0, "regression", -5.2, 8);
	reply_verdict(&x, 1, "unstable", 0.3, 8);
	x.rows[0].params = reply_text_of("proto=tcp seconds=10 size=64 streams=8 test=TCP_STREAM");
	x.columns[1].lsm = reply_text_of("nt+mitigations=off");
	x.cells[1][1].reason = reply_text_of("boots differ more than their iterations explain");
	gate_init(&g, &x.reply);
	for (width = 60; width < 180; width++) {
		kg_str_clear(&out);
		gate_text(&g, true, width, false, &out);
		/* the sum below the table is one line */
		*strstr(out.text, "comparisons ") = '\0';
		assert_true(longest_line(out.text) <= width);
		assert_contains(out.text, "nt+mitigations=off");
		assert_contains(out.text, "test=TCP_STREAM");
		assert_contains(out.text, "explain");
	}
	gate_deinit(&g);
	kg_str_deinit(&out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_no_regression_and_enough_boots_is_yes),
		cmocka_unit_test(test_one_regression_is_no_whatever_else),
		cmocka_unit_test(test_fewer_than_eight_boots_everywhere_decides_nothing),
		cmocka_unit_test(test_slots_that_are_pending_keep_the_gate_from_yes),
		cmocka_unit_test(test_nothing_to_compare_is_5),
		cmocka_unit_test(test_text_lists_what_did_not_pass_worst_first),
		cmocka_unit_test(test_cells_outside_the_job_are_no_comparison),
		cmocka_unit_test(test_junit_has_a_suite_per_machine_and_a_case_per_pair),
		cmocka_unit_test(test_junit_skips_the_undecided_and_errs_without_data),
		cmocka_unit_test(test_xml_text_is_well_formed_whatever_comes),
		cmocka_unit_test(test_junit_of_nothing_is_a_document_too),
		cmocka_unit_test(test_table_is_never_wider_than_asked),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
