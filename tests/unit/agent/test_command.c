/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "agent/command.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "common/clock.h"
#include "common/err.h"

#define LONG_NS (60 * KG_NSEC_PER_SEC)

static int shell(const char *script, size_t max, uint64_t timeout_ns, char **ret_text)
{
	const char *const argv[] = {"/bin/sh", "-c", script, NULL};
	size_t len;
	int rc = command_output(argv, max, timeout_ns, ret_text, &len);

	if (rc == 0)
		assert_int_equal(len, strlen(*ret_text));
	return rc;
}

static void test_output_of_a_command(void **state)
{
	char *text;

	(void)state;
	assert_int_equal(shell("echo one; echo lost >&2; echo two", 100, LONG_NS, &text), 0);
	assert_string_equal(text, "one\ntwo\n");
	free(text);
	assert_int_equal(shell("true", 100, LONG_NS, &text), 0);
	assert_string_equal(text, "");
	free(text);
	assert_int_equal(shell("read x; echo \"$LC_ALL $TZ $x.$HOME.\"", 100, LONG_NS, &text), 0);
	assert_string_equal(text, "C UTC ..\n");
	free(text);
}

static void test_failure_flood_and_a_missing_program(void **state)
{
	static const char *const none[] = {"/nosuch/program", NULL};
	char *text;
	size_t len;

	(void)state;
	assert_int_equal(shell("echo x; exit 3", 100, LONG_NS, &text), KG_ENODATA);
	assert_int_equal(shell("kill -9 $$", 100, LONG_NS, &text), KG_ENODATA);
	assert_int_equal(shell("while :; do echo flood; done", 1000, LONG_NS, &text), KG_ELIMIT);
	assert_int_equal(command_output(none, 100, LONG_NS, &text, &len), -ENOENT);
}

static void test_what_takes_too_long_is_killed_with_its_children(void **state)
{
	char *text;

	(void)state;
	assert_int_equal(shell("sleep 1000 & sleep 1000", 100, KG_NSEC_PER_SEC / 20, &text),
			 -ETIME);
	/* It closed its output, and lives on. */
	assert_int_equal(shell("exec >&-; exec sleep 1000", 100, KG_NSEC_PER_SEC / 20, &text),
			 -ETIME);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_output_of_a_command),
		cmocka_unit_test(test_failure_flood_and_a_missing_program),
		cmocka_unit_test(test_what_takes_too_long_is_killed_with_its_children),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
