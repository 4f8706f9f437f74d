/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/address.h"
#include "tests/lib/cmocka_all.h"

static void good(const char *text, bool local, const char *host, const char *port)
{
	struct address a;
	struct kg_err err;

	assert_int_equal(address_parse(text, &a, &err), 0);
	assert_int_equal(a.local, local);
	assert_string_equal(a.host, host);
	assert_string_equal(a.port, port);
}

static void test_paths_and_hosts_are_told_apart(void **state)
{
	(void)state;
	good("unix:/run/kgrid/kgrid.sock", true, "/run/kgrid/kgrid.sock", "");
	good("unix:sock", true, "sock", "");
	good("./run/kgrid.sock", true, "./run/kgrid.sock", "");
	good("127.0.0.1:7440", false, "127.0.0.1", "7440");
	good("grid.example.org:1", false, "grid.example.org", "1");
	good("[::1]:7440", false, "::1", "7440");
}

static void test_what_is_no_address_is_refused_with_the_forms(void **state)
{
	static const char *const bad[] = {
		"",	     "localhost", ":7440",   "host:", "host:0",	  "host:65536",
		"host:port", "::1:7440",  "[]:7440", "unix:", "[::1:7440"};
	struct address a;
	struct kg_err err;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		assert_int_equal(address_parse(bad[i], &a, &err), KG_EINVALID);
		assert_contains(err.text, "HOST:PORT");
	}
}

static void test_socket_path_that_is_too_long_is_refused(void **state)
{
	char path[200];
	struct address a;
	struct kg_err err;

	(void)state;
	memset(path, 'x', sizeof(path));
	path[0] = '/';
	path[sizeof(path) - 1] = '\0';
	assert_int_equal(address_parse(path, &a, &err), KG_EINVALID);
	assert_contains(err.text, "too long");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_paths_and_hosts_are_told_apart),
		cmocka_unit_test(test_what_is_no_address_is_refused_with_the_forms),
		cmocka_unit_test(test_socket_path_that_is_too_long_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
