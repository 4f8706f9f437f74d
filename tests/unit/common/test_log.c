/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tests/lib/cmocka_all.h"

#include <stdio.h>
#include <unistd.h>

#include "common/log.h"

/* What kg_log writes to stderr for a text. */
static void logged(enum kg_log_level level, const char *text, char *ret, size_t size)
{
	FILE *f = tmpfile();
	int saved = dup(2);
	size_t n;

	assert_non_null(f);
	assert_true(dup2(fileno(f), 2) == 2);
	kg_log(level, "%s", text);
	(void)fflush(stderr);
	assert_true(dup2(saved, 2) == 2);
	close(saved);
	rewind(f);
	n = fread(ret, 1, size - 1, f);
	ret[n] = '\0';
	fclose(f);
}

static void test_what_a_peer_sent_makes_no_lines(void **state)
{
	char text[256];

	(void)state;
	unsetenv("JOURNAL_STREAM");
	kg_log_init("test", KG_LOG_INFO);
	logged(KG_LOG_WARN, "a\nb\x1b[31m", text, sizeof(text));
	assert_contains(text, "Z test warning: a?b?[31m\n");
}

static void test_journal_lines_carry_the_priority(void **state)
{
	char text[256];

	(void)state;
	setenv("JOURNAL_STREAM", "1:2", 1);
	kg_log_init("test", KG_LOG_INFO);
	logged(KG_LOG_ERR, "broken", text, sizeof(text));
	assert_string_equal(text, "<3>broken\n");
}

static void test_levels_above_the_limit_are_silent(void **state)
{
	char text[256];

	(void)state;
	kg_log_init("test", KG_LOG_WARN);
	logged(KG_LOG_INFO, "chatter", text, sizeof(text));
	assert_string_equal(text, "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_what_a_peer_sent_makes_no_lines),
		cmocka_unit_test(test_journal_lines_carry_the_priority),
		cmocka_unit_test(test_levels_above_the_limit_are_silent),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
