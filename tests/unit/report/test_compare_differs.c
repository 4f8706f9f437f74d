/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What differs between columns beside what their names say. */
#include "tests/unit/report/fixture.h"

static const char config_a[] = "CONFIG_LSM=\"yama,apparmor\"\nCONFIG_HZ=250\nCONFIG_SND=m\n"
			       "# CONFIG_KASAN is not set\nCONFIG_LOCALVERSION=\"-a\"\n";
static const char config_b[] = "CONFIG_HZ=1000\r\nCONFIG_LSM=\"yama,tomoyo\"\r\nCONFIG_KASAN=y\r\n"
			       "CONFIG_LOCALVERSION=\"-b\"\r\nCONFIG_FOO=y\r\n";

static struct rows *known(size_t columns)
{
	static const char *const kernels[] = {"a", "b", "c"};
	struct rows *r = rows_new();

	for (size_t i = 0; i < columns; i++) {
		size_t c = rows_cell(r, "m", kernels[i], "x", "net", "");

		r->cells[c].config_digest = "d1";
		r->cells[c].cmdline = "root=/dev/sda quiet";
		r->cells[c].lsm_effective = "capability,yama";
		r->cells[c].microcode = "0x1";
		r->cells[c].version = "6.1.0 (a@b) (gcc (Debian 12.2.0-14) 12.2.0, GNU ld 2.40) #1 "
				      "SMP";
	}
	return r;
}

static bool has_line(const Kgrid__V1__CompareReply *r, const char *part)
{
	return texts_have(r->tables[0]->comparability, r->tables[0]->n_comparability, part);
}

static void test_nothing_else_that_differs_is_said(void **state)
{
	struct rows *r = known(2);
	Kgrid__V1__CompareReply *reply = rows_compare(r);

	(void)state;
	assert_int_equal(reply->tables[0]->n_comparability, 1);
	assert_has(reply->tables[0]->comparability[0], "none");
	rows_drop(reply);
}

static void test_what_is_not_known_is_said_and_not_called_equal(void **state)
{
	struct rows *r = known(2);
	Kgrid__V1__CompareReply *reply;

	(void)state;
	r->cells[0].config_digest = r->cells[1].cmdline = r->cells[1].microcode = NULL;
	r->cells[1].version = "6.1.0 (a@b) #1 SMP";
	reply = rows_compare(r);
	assert_true(has_line(reply, "not known: config, command line, microcode, compiler"));
	assert_true(has_line(reply, "none: nothing else that is known differs"));
	rows_drop(reply);
}

static void test_config_counts_options_and_names_the_heaviest(void **state)
{
	const struct report_config configs[] = {{"d1", config_a, sizeof(config_a) - 1},
						{"d2", config_b, sizeof(config_b) - 1}};
	struct rows *r = known(2);
	Kgrid__V1__CompareReply *reply;

	(void)state;
	r->cells[1].config_digest = "d2";
	reply = rows_compare(r);
	assert_true(has_line(reply, "config: differs, in what is not known (d1, d2)"));
	rows_drop(reply);
	r->in.configs = configs;
	r->in.n_configs = 2;
	reply = rows_compare(r);
	assert_int_equal(reply->tables[0]->n_comparability, 1);
	assert_true(has_line(reply,
			     "config: 6 options: CONFIG_LSM \"yama,apparmor\" -> \"yama,tomoyo\", "
			     "CONFIG_KASAN n -> y, CONFIG_HZ 250 -> 1000, "));
	rows_drop(reply);
}

/* What was added at the end of a long list is what matters of it. */
static void test_long_values_are_shown_from_where_they_differ(void **state)
{
	static const char a[] = "CONFIG_LSM=\"landlock,lockdown,yama,loadpin,safesetid,integrity,"
				"apparmor,selinux,smack,tomoyo,bpf\"\n";
	static const char b[] = "CONFIG_LSM=\"landlock,lockdown,yama,loadpin,safesetid,integrity,"
				"apparmor,selinux,smack,tomoyo,bpf,ipe\"\n";
	static const char c[] = "CONFIG_LSM=\"yama\"\n";
	const struct report_config configs[] = {
		{"d1", a, sizeof(a) - 1}, {"d2", b, sizeof(b) - 1}, {"d3", c, sizeof(c) - 1}};
	struct rows *r = known(3);
	Kgrid__V1__CompareReply *reply;

	(void)state;
	r->cells[1].config_digest = "d2";
	r->cells[2].config_digest = "d3";
	r->in.configs = configs;
	r->in.n_configs = 3;
	reply = rows_compare(r);
	assert_true(has_line(reply, "config: 1 option: CONFIG_LSM ...bpf\" -> ...bpf,ipe\""));
	assert_true(has_line(reply, "CONFIG_LSM \"landlock,lockdown,yama,loadpin,safesetid,"
				    "integrity,apparmor... -> \"yama\""));
	rows_drop(reply);
}

static void test_words_lists_microcode_and_compilers_are_compared(void **state)
{
	struct rows *r = known(2);
	Kgrid__V1__CompareReply *reply;

	(void)state;
	r->cells[1].cmdline = "quiet mitigations=off root=/dev/sda lsm=yama kgrid.boot=3.0";
	r->cells[1].lsm_effective = "yama,capability,tomoyo";
	r->cells[1].microcode = "0x2";
	r->cells[1].version = "6.2.0 (a@b) (Debian clang version 19.1.7 (3), Debian LLD) #1";
	reply = rows_compare(r);
	assert_int_equal(reply->tables[0]->n_comparability, 4);
	assert_true(has_line(reply, "command line: +mitigations=off +lsm=yama"));
	assert_true(has_line(reply, "LSM list: +tomoyo, reordered"));
	assert_true(has_line(reply, "microcode 0x1 -> 0x2"));
	assert_true(has_line(reply, "compiler gcc (Debian 12.2.0-14) 12.2.0 -> Debian clang "
				    "version 19.1.7 (3)"));
	rows_drop(reply);
}

static void test_words_that_make_the_list_are_named_by_the_column(void **state)
{
	struct rows *r = known(2);
	Kgrid__V1__CompareReply *reply;

	(void)state;
	r->cells[1].lsm = "y";
	r->cells[1].cmdline = "root=/dev/sda quiet lsm=yama security=tomoyo";
	reply = rows_compare(r);
	assert_false(has_line(reply, "command line"));
	rows_drop(reply);
}

static void test_one_line_for_several_columns_names_them_unless_it_is_all(void **state)
{
	struct rows *r = known(3);
	Kgrid__V1__CompareReply *reply;

	(void)state;
	r->cells[1].microcode = r->cells[2].microcode = "0x2";
	r->cells[2].cmdline = "root=/dev/sda";
	reply = rows_compare(r);
	assert_int_equal(reply->tables[0]->n_comparability, 2);
	assert_string_equal(reply->tables[0]->comparability[0], "microcode 0x1 -> 0x2");
	assert_string_equal(reply->tables[0]->comparability[1], "c/x: command line: -quiet");
	rows_drop(reply);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_nothing_else_that_differs_is_said),
		cmocka_unit_test(test_what_is_not_known_is_said_and_not_called_equal),
		cmocka_unit_test(test_config_counts_options_and_names_the_heaviest),
		cmocka_unit_test(test_long_values_are_shown_from_where_they_differ),
		cmocka_unit_test(test_words_lists_microcode_and_compilers_are_compared),
		cmocka_unit_test(test_words_that_make_the_list_are_named_by_the_column),
		cmocka_unit_test(test_one_line_for_several_columns_names_them_unless_it_is_all),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
