/* SPDX-License-Identifier: GPL-2.0-or-later */
/* kgrid-job(5) and the parser say the same. The parser is asked from outside: its errors about a name
 * that nobody knows list the names that it does know. */
#include "coordinator/plan/job.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "common/uarch.h"

#define HEAD "name: j\nkernels: [a]\n"
#define TAIL "workloads: [hackbench]\n"

static struct kg_str page;

static int make_page(void **state)
{
	(void)state;
	job_manual(&page);
	return page.failed ? -1 : 0;
}

static int drop_page(void **state)
{
	(void)state;
	kg_str_deinit(&page);
	return 0;
}

/* Text without roff's escapes: fonts, "\-", "\e" and "\&". Owned. */
static char *plain(const char *from, const char *to)
{
	struct kg_str s = {0};

	for (; from < to; from++) {
		if (from[0] != '\\') {
			kg_str_addn(&s, from, 1);
			continue;
		}
		from++;
		if (*from == 'e')
			kg_str_add(&s, "\\");
		else if (*from == 'f')
			from++;
		else if (*from != '&')
			kg_str_addn(&s, from, 1);
	}
	return kg_str_take(&s);
}

/* From a heading to the next of the kind ".SH" or ".SS"; fails when there is none. */
static const char *section(const char *heading, const char **ret_end)
{
	char line[80];
	const char *start, *sh, *ss;

	(void)snprintf(line, sizeof(line), "\n%s\n", heading);
	start = strstr(kg_str_text(&page), line);
	if (!start)
		fail_msg("no section '%s'", heading);
	start += strlen(line);
	sh = strstr(start, "\n.SH ");
	ss = strstr(start, "\n.SS ");
	*ret_end = ss && (!sh || ss < sh) ? ss : sh ? sh : start + strlen(start);
	return start;
}

/* The items (.TP, then a bold name) of a section whose names begin with `prefix`, without it. */
static struct kg_texts items_of(const char *heading, const char *prefix)
{
	struct kg_texts t = {0};
	const char *end, *p = section(heading, &end);

	t.items = calloc(200, sizeof(*t.items));
	assert_non_null(t.items);
	for (; (p = strstr(p, ".TP\n\\fB")) && p < end; p++) {
		const char *name = p + strlen(".TP\n\\fB");
		char *text = plain(name, strstr(name, "\\fR"));

		if (kg_str_starts(text, prefix)) {
			assert_true(t.n < 199);
			t.items[t.n++] = strdup(text + strlen(prefix));
		}
		free(text);
	}
	return t;
}

/* What the parser knows: the list behind `before` in the error about this text. */
static struct kg_texts known_by(const char *text, const char *before)
{
	struct job_spec *j = NULL;
	struct kg_err err = {{0}};
	struct kg_texts t = {0};
	char *list, *name;

	assert_int_equal(job_spec_parse("f", text, strlen(text), &j, &err), KG_EINVALID);
	list = strstr(err.text, before);
	if (!list)
		fail_msg("'%s' is not in '%s'", before, err.text);
	assert_true(strlen(err.text) + 1 < sizeof(err.text)); /* nothing was cut off */
	list += strlen(before);
	t.items = calloc(200, sizeof(*t.items));
	assert_non_null(t.items);
	while ((name = strsep(&list, ",")))
		t.items[t.n++] = strdup(name + strspn(name, " "));
	return t;
}

static bool has(const struct kg_texts *t, const char *name)
{
	size_t i;

	for (i = 0; i < t->n; i++)
		if (strcmp(t->items[i], name) == 0)
			return true;
	return false;
}

/* Both directions; takes both. `extra`: said by the page only. */
static void assert_same(struct kg_texts parser, struct kg_texts said, const char *const *extra)
{
	size_t i, n_extra = 0;

	assert_true(parser.n > 0);
	for (i = 0; i < parser.n; i++)
		if (!has(&said, parser.items[i]))
			fail_msg("the page does not say '%s'", parser.items[i]);
	for (i = 0; extra && extra[i]; i++, n_extra++)
		if (!has(&said, extra[i]))
			fail_msg("the page does not say '%s'", extra[i]);
	for (i = 0; i < said.n; i++) {
		size_t k = 0;

		while (k < n_extra && strcmp(extra[k], said.items[i]) != 0)
			k++;
		if (k == n_extra && !has(&parser, said.items[i]))
			fail_msg("the parser does not know '%s'", said.items[i]);
	}
	kg_texts_deinit(&parser);
	kg_texts_deinit(&said);
}

static void test_keys_of_the_page_are_those_of_the_parser(void **state)
{
	static const char *const nested[] = {"repeat.boots", "repeat.iterations", "repeat.until",
					     "budget.wall", NULL};

	(void)state;
	assert_same(known_by(HEAD TAIL "qqqqqqqqqqqq: 1\n", "known keys: "),
		    items_of(".SH KEYS", ""), nested);
	assert_same(known_by(HEAD TAIL "repeat: {qqqqqqqqqqqq: 1}\n", "known keys: "),
		    items_of(".SH KEYS", "repeat."), NULL);
	assert_same(known_by(HEAD TAIL "budget: {qqqqqqqqqqqq: 1}\n", "known keys: "),
		    items_of(".SH KEYS", "budget."), NULL);
	assert_same(known_by(HEAD TAIL "cmdline: {qqqqqqqqqqqq: 1}\n", "known keys: "),
		    items_of(".SH COMMAND LINE", "cmdline."), NULL);
	assert_same(known_by(HEAD TAIL "role: {qqqqqqqqqqqq: 1}\n", "known keys: "),
		    items_of(".SH ROLES", "role."), NULL);
	assert_same(known_by(HEAD TAIL "lsm: {a: {qqqqqqqqqqqq: 1}}\n", "known keys: "),
		    items_of(".SH LSM LISTS", "lsm.LABEL."), NULL);
	assert_same(known_by(HEAD TAIL "settings: {qqqqqqqqqqqq: 1}\n", "known are "),
		    items_of(".SH SETTINGS", ""), NULL);
}

static void test_names_of_predicates_are_those_of_the_parser(void **state)
{
	static const char *const placeholders[] = {"PARAMETER", "SETTING", NULL};
	struct kg_texts all = known_by(HEAD TAIL "only: qqqqqqqqqqqq == 1\n", "expected one of ");
	struct kg_texts facts = items_of(".SS Facts of machines", "");
	struct kg_texts axes = items_of(".SS Axes, under exclude and only", "");
	size_t i;

	(void)state;
	for (i = 0; i < axes.n; i++) {
		assert_false(has(&facts, axes.items[i]));
		facts.items[facts.n++] = strdup(axes.items[i]);
	}
	kg_texts_deinit(&axes);
	assert_same(all, facts, placeholders);
	facts = items_of(".SS Facts of machines", "");
	assert_same(known_by(HEAD TAIL "machines: qqqqqqqqqqqq == 1\n", "expected one of "), facts,
		    NULL);
}

static void test_page_names_every_microarchitecture_and_monitor(void **state)
{
	static const char *const monitors[] = {"vmstat",     "iostat",	     "meminfo",
					       "interrupts", "softirqs",     "schedstat",
					       "perf-stat",  "perf-profile", "turbostat"};
	const char *names[KG_UARCH_MAX];
	size_t n = kg_uarch_known(names, KG_UARCH_MAX), i;
	const char *end, *p = section(".SS Microarchitectures", &end);
	char *text = plain(p, end);
	char job[200], want[80];

	(void)state;
	assert_true(n > 10);
	for (i = 0; i < n; i++) {
		struct predicate *x;
		struct kg_err err = {{0}};

		(void)snprintf(want, sizeof(want), "\n%s%c", names[i], i + 1 < n ? ',' : '.');
		if (!strstr(text, want))
			fail_msg("the page does not say '%s'", names[i]);
		(void)snprintf(job, sizeof(job), "microarchitecture == '%s'", names[i]);
		assert_int_equal(predicate_parse(job, NULL, &x, &err), 0);
		predicate_free(x);
	}
	free(text);
	p = section(".SH MONITORS", &end);
	text = plain(p, end);
	for (i = 0; i < sizeof(monitors) / sizeof(monitors[0]); i++) {
		struct job_spec *j = NULL;
		struct kg_err err = {{0}};

		assert_non_null(strstr(text, monitors[i]));
		(void)snprintf(job, sizeof(job), HEAD TAIL "monitors: [%s]\n", monitors[i]);
		assert_int_equal(job_spec_parse("f", job, strlen(job), &j, &err), 0);
		job_spec_free(j);
	}
	free(text);
}

static void test_example_on_the_page_is_a_job(void **state)
{
	static const struct job_file site = {"site.yaml", "priority: 10\nconfirm: no\n", 25};
	const char *end, *p = section(".SH EXAMPLE", &end);
	const char *nf = strstr(p, ".nf\n"), *fi = strstr(p, "\n.fi");
	struct job_source src = {.file_name = "job.yaml", .files = &site, .n_files = 1};
	struct job_spec *j = NULL;
	struct kg_err err = {{0}};
	char *text;

	(void)state;
	assert_true(nf && fi && nf < fi && fi < end);
	text = plain(nf + 4, fi + 1);
	assert_string_equal(text, job_manual_example());
	src.text = text;
	src.len = strlen(text);
	if (job_spec_parse_source(&src, &j, &err) < 0)
		fail_msg("%s", err.text);
	assert_int_equal(j->n_lsms, 4);
	assert_int_equal(j->n_variants, 2);
	assert_int_equal(j->n_settings, 2);
	assert_int_equal(j->workloads[0].n_sets, 2);
	assert_non_null(j->workloads[0].role);
	assert_int_equal(j->priority, 60);
	assert_false(j->confirm); /* of site.yaml */
	assert_int_equal(j->n_excludes, 2);
	assert_int_equal(j->n_onlys, 1);
	job_spec_free(j);
	free(text);
}

/* No line of text is taken for a request of roff. */
static void test_lines_that_begin_with_a_dot_are_requests_that_exist(void **state)
{
	static const char *const requests[] = {".SH ", ".SS ", ".TP\n", ".PP\n",
					       ".B ",  ".BR ", ".nf\n", ".fi\n"};
	const char *p = kg_str_text(&page);
	size_t i;

	(void)state;
	for (; p; p = strchr(p, '\n')) {
		p += *p == '\n';
		assert_true(*p != '\'');
		if (*p != '.')
			continue;
		for (i = 0; i < 8 && !kg_str_starts(p, requests[i]); i++)
			;
		if (i == 8)
			fail_msg("'%.20s'", p);
	}
	assert_true(kg_utf8_valid(kg_str_text(&page), page.len));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_keys_of_the_page_are_those_of_the_parser),
		cmocka_unit_test(test_names_of_predicates_are_those_of_the_parser),
		cmocka_unit_test(test_page_names_every_microarchitecture_and_monitor),
		cmocka_unit_test(test_example_on_the_page_is_a_job),
		cmocka_unit_test(test_lines_that_begin_with_a_dot_are_requests_that_exist),
	};

	return cmocka_run_group_tests(tests, make_page, drop_page);
}
