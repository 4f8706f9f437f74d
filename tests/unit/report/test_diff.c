/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Differences: what is one, what is none, and in which order. */
#include "coordinator/report/diff.h"
#include "common/str.h"
#include "tests/lib/cmocka_all.h"

#include <stdio.h>
#include <stdlib.h>

#define FACTS(f)  .facts = (f), .n_facts = sizeof(f) / sizeof((f)[0]), .has_facts = true
#define CONFIG(c) .config = (c), .config_len = strlen(c)

static Kgrid__V1__DiffReply *make(const struct diff_side *a, const struct diff_side *b)
{
	Kgrid__V1__DiffReply *r = calloc(1, sizeof(*r));
	struct kg_err err = {""};

	kgrid__v1__diff_reply__init(r);
	if (report_diff(a, b, r, &err) < 0)
		fail_msg("%s", err.text);
	return r;
}

static void drop(Kgrid__V1__DiffReply *r)
{
	kgrid__v1__diff_reply__free_unpacked(r, NULL);
}

static bool has_note(const Kgrid__V1__DiffReply *r, const char *part)
{
	for (size_t i = 0; i < r->n_notes; i++) {
		if (strstr(r->notes[i], part))
			return true;
	}
	return false;
}

/* "section name kind a b" of all items, "-" for what is absent. */
static void assert_items(const Kgrid__V1__DiffReply *r, const char *const *want, size_t n)
{
	for (size_t i = 0; i < r->n_items; i++) {
		const Kgrid__V1__DiffItem *m = r->items[i];
		char got[512];

		(void)snprintf(got, sizeof(got), "%s|%s|%s|%s|%s", m->section, m->name, m->kind,
			       m->a ? m->a : "-", m->b ? m->b : "-");
		if (i >= n)
			fail_msg("unexpected item '%s'", got);
		assert_string_equal(got, want[i]);
		assert_true(i == 0 || r->items[i - 1]->weight >= m->weight);
	}
	assert_int_equal(r->n_items, n);
}
#define ASSERT_ITEMS(r, ...)                                              \
	do {                                                              \
		static const char *const want_[] = {__VA_ARGS__};         \
		assert_items(r, want_, sizeof(want_) / sizeof(want_[0])); \
	} while (0)

static void test_config_is_a_set_difference_with_values(void **state)
{
	const struct diff_side a = {.name = "kernel a",
				    CONFIG("# Linux/x86 6.1\nCONFIG_SND=m\nCONFIG_HZ=250\n"
					   "# CONFIG_KASAN is not set\nCONFIG_LSM=\"yama\"\n"
					   "# CONFIG_OLD is not set\nCONFIG_GONE=y\n")};
	const struct diff_side b = {.name = "kernel b",
				    CONFIG("CONFIG_LSM=\"yama,tomoyo\"\r\nCONFIG_KASAN=y\r\n"
					   "CONFIG_HZ=1000\r\n# CONFIG_NEW is not set\r\n"
					   "CONFIG_SND=m\r\nCONFIG_FRESH=y")};
	Kgrid__V1__DiffReply *r = make(&a, &b);

	(void)state;
	ASSERT_ITEMS(r, "config|CONFIG_LSM|changed|\"yama\"|\"yama,tomoyo\"",
		     "config|CONFIG_KASAN|changed|n|y", "config|CONFIG_HZ|changed|250|1000",
		     "config|CONFIG_FRESH|added|-|y", "config|CONFIG_GONE|removed|y|-");
	assert_string_equal(r->items[0]->settable, "kernel");
	assert_true(has_note(r, "2 config options are not set on one side"));
	assert_string_equal(r->a, "kernel a");
	drop(r);
}

static void test_same_config_in_another_order_is_no_difference(void **state)
{
	const struct diff_side a = {CONFIG("CONFIG_A=y\n#\n# Menu\n#\nCONFIG_B=m\n")};
	const struct diff_side b = {CONFIG("\xef\xbb\xbf"
					   "CONFIG_B=n\nCONFIG_B=m\n\nCONFIG_A=y\n")};
	Kgrid__V1__DiffReply *r = make(&a, &b);

	(void)state;
	assert_int_equal(r->n_items, 0);
	assert_true(has_note(r, "no difference in what was compared"));
	drop(r);
}

static void test_unknown_config_is_said_and_not_called_empty(void **state)
{
	const struct epoch_fact one[] = {{"config.digest", "d1"}},
				two[] = {{"config.digest", "d2"}};
	const struct diff_side a = {.name = "A", CONFIG("CONFIG_A=y\n"), FACTS(one)};
	const struct diff_side b = {.name = "B", FACTS(two)}, c = {.name = "C", FACTS(two)};
	Kgrid__V1__DiffReply *r = make(&a, &b);

	(void)state;
	ASSERT_ITEMS(r, "config|kernel config|changed|d1|d2"); /* that it differs is known */
	assert_true(has_note(r, "no config known of 'B': not compared"));
	drop(r);
	r = make(&b, &c);
	assert_false(has_note(r, "no config")); /* the same one, whatever it says */
	assert_int_equal(r->same, 1);
	drop(r);
}

static void test_lsm_lists_are_added_removed_reordered(void **state)
{
	const struct diff_side a = {.lsm = "capability,yama,apparmor"};
	const struct diff_side b = {.lsm = "yama,capability,tomoyo"};
	const struct diff_side c = {.lsm = "capability, yama ,apparmor,"};
	Kgrid__V1__DiffReply *r = make(&a, &b);

	(void)state;
	ASSERT_ITEMS(r, "lsm|LSM list|reordered|capability,yama,apparmor|yama,capability,tomoyo",
		     "lsm|apparmor|removed|apparmor|-", "lsm|tomoyo|added|-|tomoyo");
	assert_string_equal(r->items[0]->settable, "boot");
	drop(r);
	r = make(&a, &c);
	assert_int_equal(r->n_items, 0);
	drop(r);
}

static void test_command_lines_are_compared_word_by_word(void **state)
{
	const struct diff_side a = {
		.cmdline = "root=/dev/sda1 quiet mitigations=auto console=tty0 console=ttyS0 foo "
			   "dyndbg=\"file a.c +p\" kgrid.boot=1.00"};
	const struct diff_side b = {
		.cmdline = "quiet  root=/dev/sda1 console=ttyS0 console=tty0 foo foo "
			   "mitigations=off\tdyndbg=\"file a.c +p\" kgrid.boot=2.11"};
	const struct diff_side c = {
		.cmdline = "quiet root=/dev/sda1 console=tty0 mitigations=auto console=ttyS0 "
			   "dyndbg=\"file a.c +p\" foo"};
	Kgrid__V1__DiffReply *r = make(&a, &b);

	(void)state;
	ASSERT_ITEMS(r, "cmdline|mitigations|changed|auto|off", "cmdline|foo|added|-|foo",
		     "cmdline|console|reordered|console=tty0 console=ttyS0|"
		     "console=ttyS0 console=tty0");
	drop(r);
	r = make(&a, &c); /* only an order that means nothing */
	assert_int_equal(r->n_items, 0);
	drop(r);
}

static void test_facts_volatile_ones_are_no_difference_unsupported_is_said(void **state)
{
	const struct epoch_fact one[] = {
		{"uptime", "5"},       {"cpu.microcode", "0x1"},    {"turbo.boost", NULL},
		{"cpu.name", "X"},     {"vulnerability.mds", "ok"}, {"smt.active", "1"},
		{"no.such.fact", "1"}, {"thp.enabled", NULL}};
	const struct epoch_fact two[] = {
		{"smt.active", "1"},  {"uptime", "9"},		{"vulnerability.mds", "vulnerable"},
		{"turbo.boost", "0"}, {"cpu.microcode", "0x2"}, {"no.such.fact", "2"},
		{"board.name", "Y"},  {"thp.enabled", NULL}};
	const struct diff_side a = {FACTS(one)}, b = {FACTS(two)};
	Kgrid__V1__DiffReply *r = make(&a, &b);

	(void)state;
	ASSERT_ITEMS(r, "frequency|boost|changed|-|0",
		     "mitigations|mitigation mds|changed|ok|vulnerable",
		     "cpu|microcode|changed|0x1|0x2");
	assert_true(r->items[0]->a_unsupported);
	assert_false(r->items[0]->b_unsupported);
	assert_false(r->items[2]->has_a_unsupported);
	assert_int_equal(r->same, 2);
	assert_true(has_note(r, "2 facts only one of the two recorded"));
	drop(r);
}

static void test_detail_replaces_the_fact_that_sums_it_up(void **state)
{
	const struct epoch_fact one[] = {
		{"lsm", "yama"}, {"cmdline", "a"}, {"packages.digest", "1"}};
	const struct epoch_fact two[] = {
		{"lsm", "bpf"}, {"cmdline", "a b"}, {"packages.digest", "2"}};
	const struct diff_document d1[] = {
		{"packages", "1", "libc6 2.36 amd64\nperl 5 amd64\n", 30}};
	const struct diff_document d2[] = {
		{"packages", "2", "libc6 2.37 amd64\nperl 5 amd64\n", 30}};
	const struct diff_side a = {FACTS(one), .documents = d1, .n_documents = 1};
	const struct diff_side b = {FACTS(two), .documents = d2, .n_documents = 1};
	Kgrid__V1__DiffReply *r = make(&a, &b);

	(void)state;
	ASSERT_ITEMS(r, "lsm|bpf|added|-|bpf", "lsm|yama|removed|yama|-", "cmdline|b|added|-|b",
		     "packages|libc6|changed|2.36 amd64|2.37 amd64");
	drop(r);
}

static void test_documents_are_compared_line_by_line(void **state)
{
	static const char s1[] = "kernel.a = 1\nkernel.b = 2\nkernel.gone = 3";
	static const char s2[] = "kernel.b = 2\r\nkernel.a = 9\r\n\r\nkernel.new =\r\n";
	static const char m1[] = "ext4 1000\nnvme 5 O\nfoo 7\n",
			  m2[] = "ext4 2000\nnvme 6\nbar 7\n";
	const struct diff_document d1[] = {{"sysctl", "1", s1, sizeof(s1) - 1},
					   {"modules", "2", m1, sizeof(m1) - 1},
					   {"kallsyms", "3", "a", 1},
					   {"only", "4", "a", 1}};
	const struct diff_document d2[] = {{"modules", "5", m2, sizeof(m2) - 1},
					   {"kallsyms", "6", "b", 1},
					   {"sysctl", "7", s2, sizeof(s2) - 1}};
	const struct diff_side a = {.name = "A", .documents = d1, .n_documents = 4};
	const struct diff_side b = {.name = "B", .documents = d2, .n_documents = 3};
	Kgrid__V1__DiffReply *r = make(&a, &b);

	(void)state;
	ASSERT_ITEMS(r, "sysctl|kernel.a|changed|1|9", "sysctl|kernel.gone|removed|3|-",
		     "sysctl|kernel.new|added|-|", "modules|bar|added|-|", "modules|foo|removed||-",
		     "modules|nvme|changed|O|");
	assert_true(has_note(r, "no 'only' document known of 'B'"));
	drop(r);
}

/* Whatever bytes come, the answer is text, and the same twice. */
static void test_hostile_texts_do_no_harm(void **state)
{
	static char noise[2][1 << 16];
	static char huge[1 << 20];
	static const char *const odd[] = {"",
					  "\n",
					  "CONFIG_",
					  "CONFIG_=y",
					  "# CONFIG_ is not set",
					  "CONFIG_A",
					  "=",
					  "\xff\xfe",
					  "CONFIG_X=\x1b[31m\xc3\x28"};
	Kgrid__V1__DiffReply *r, *again;
	struct diff_side a, b;
	uint32_t v = 1;

	(void)state;
	for (size_t i = 0; i < 2 * sizeof(noise[0]); i++) {
		v = v * 1664525u + 1013904223u;
		noise[i / sizeof(noise[0])][i % sizeof(noise[0])] = (char)(v >> 24);
	}
	memset(huge, 'x', sizeof(huge));
	memcpy(huge, "CONFIG_H=", 9);
	for (size_t i = 0; i < sizeof(odd) / sizeof(odd[0]) + 2; i++) {
		struct diff_document doc[2];
		size_t n = sizeof(odd) / sizeof(odd[0]);
		const char *text = i < n ? odd[i] : i == n ? noise[0] : huge;
		size_t len = i < n ? strlen(odd[i]) : i == n ? sizeof(noise[0]) : sizeof(huge);

		doc[0] = (struct diff_document){"sysctl", NULL, text, len};
		doc[1] = (struct diff_document){"sysctl", NULL, noise[1], sizeof(noise[1])};
		a = (struct diff_side){.config = text,
				       .config_len = len,
				       .documents = &doc[0],
				       .n_documents = 1,
				       .lsm = i < n ? odd[i] : ",,,",
				       .cmdline = i < n ? odd[i] : "\"unclosed a=b"};
		b = (struct diff_side){.config = noise[1],
				       .config_len = sizeof(noise[1]),
				       .documents = &doc[1],
				       .n_documents = 1,
				       .lsm = "yama",
				       .cmdline = "= = a== \"\""};
		r = make(&a, &b);
		again = make(&a, &b);
		assert_int_equal(r->n_items, again->n_items);
		for (size_t k = 0; k < r->n_items; k++) {
			const Kgrid__V1__DiffItem *m = r->items[k];

			assert_true(kg_utf8_valid(m->name, strlen(m->name)));
			assert_true(!m->a || strlen(m->a) < 4096);
			assert_true(!m->a || !strchr(m->a, '\x1b'));
			assert_string_equal(m->name, again->items[k]->name);
		}
		drop(r);
		drop(again);
	}
}

static void test_row_54_unsupported_on_both_sides_is_the_same_and_never_zero(void **state)
{
	const struct epoch_fact one[] = {{"turbo.boost", NULL}}, zero[] = {{"turbo.boost", "0"}};
	const struct diff_side a = {FACTS(one)}, b = {FACTS(one)}, c = {FACTS(zero)};
	Kgrid__V1__DiffReply *r = make(&a, &b);

	(void)state;
	assert_int_equal(r->n_items, 0);
	assert_int_equal(r->same, 1);
	drop(r);
	r = make(&a, &c);
	assert_true(r->items[0]->a_unsupported);
	assert_null(r->items[0]->a);
	assert_string_equal(r->items[0]->b, "0");
	drop(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_config_is_a_set_difference_with_values),
		cmocka_unit_test(test_same_config_in_another_order_is_no_difference),
		cmocka_unit_test(test_unknown_config_is_said_and_not_called_empty),
		cmocka_unit_test(test_lsm_lists_are_added_removed_reordered),
		cmocka_unit_test(test_command_lines_are_compared_word_by_word),
		cmocka_unit_test(test_facts_volatile_ones_are_no_difference_unsupported_is_said),
		cmocka_unit_test(test_detail_replaces_the_fact_that_sums_it_up),
		cmocka_unit_test(test_documents_are_compared_line_by_line),
		cmocka_unit_test(test_hostile_texts_do_no_harm),
		cmocka_unit_test(test_row_54_unsupported_on_both_sides_is_the_same_and_never_zero),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
