/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tests/lib/cmocka_all.h"

#include <errno.h>

#include "common/err.h"

static void test_set_returns_the_code_and_takes_null(void **state)
{
	struct kg_err err;

	(void)state;
	assert_int_equal(kg_err_set(&err, KG_EBUSY, "'%s' is taken", "x"), KG_EBUSY);
	assert_string_equal(err.text, "'x' is taken");
	assert_int_equal(kg_err_set(NULL, -EIO, "lost"), -EIO);
	assert_int_equal(kg_err_wrap(NULL, -EIO, "lost"), -EIO);
}

static void test_wrap_puts_the_outer_text_first(void **state)
{
	struct kg_err err = {{0}};

	(void)state;
	assert_int_equal(kg_err_wrap(&err, -EIO, "alone"), -EIO);
	assert_string_equal(err.text, "alone");
	kg_err_wrap(&err, -EIO, "cannot open %s", "store");
	assert_string_equal(err.text, "cannot open store: alone");
}

static void test_wrap_of_long_texts_is_cut_within_the_buffer(void **state)
{
	struct kg_err err;
	char longest[KG_ERR_TEXT_MAX];
	int i;

	(void)state;
	memset(longest, 'x', sizeof(longest) - 1);
	longest[sizeof(longest) - 1] = '\0';
	kg_err_set(&err, -EIO, "%s", longest);
	for (i = 0; i < 200; i++) {
		kg_err_wrap(&err, -EIO, "outer%d", i);
		assert_true(strlen(err.text) < KG_ERR_TEXT_MAX);
	}
	assert_int_equal(strncmp(err.text, "outer199: outer198: ", 20), 0);
	kg_err_wrap(&err, -EIO, "%s", longest);
	assert_string_equal(err.text, longest);
}

static void test_every_own_code_has_words(void **state)
{
	int code;

	(void)state;
	for (code = KG_EPROTO; code >= KG_EREFUSED; code--)
		assert_string_not_equal(kg_strerror(code), "unknown error");
	assert_string_equal(kg_strerror(-ENOENT), strerror(ENOENT));
	assert_string_equal(kg_strerror(-6000), "unknown error");
	assert_string_equal(kg_strerror(5), "unknown error");
}

static void test_errno_names_what_failed(void **state)
{
	struct kg_err err;

	(void)state;
	errno = ENOENT;
	assert_int_equal(kg_err_errno(&err, "cannot open", "a file"), -ENOENT);
	assert_string_equal(err.text, "cannot open 'a file': No such file or directory");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_set_returns_the_code_and_takes_null),
		cmocka_unit_test(test_wrap_puts_the_outer_text_first),
		cmocka_unit_test(test_wrap_of_long_texts_is_cut_within_the_buffer),
		cmocka_unit_test(test_every_own_code_has_words),
		cmocka_unit_test(test_errno_names_what_failed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
