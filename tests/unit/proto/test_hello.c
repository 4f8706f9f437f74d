/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tests/lib/cmocka_all.h"

#include "proto/hello.h"

static Kgrid__V1__Hello agent(void)
{
	Kgrid__V1__Hello h = KGRID__V1__HELLO__INIT;

	h.has_role = 1;
	h.role = KGRID__V1__ROLE__ROLE_AGENT;
	h.has_version_min = h.has_version_max = 1;
	h.version_min = h.version_max = KG_PROTO_MINOR;
	h.machine = (char *)(uintptr_t) "lab-intel";
	h.software = (char *)(uintptr_t) "kgrid-agent 9.9";
	return h;
}

static void check(const Kgrid__V1__Hello *h, int code, const char *complaint)
{
	struct kg_err err = {{0}};
	uint32_t minor = 77;

	assert_int_equal(kg_hello_check(h, &minor, &err), code);
	if (code < 0) {
		assert_int_equal(minor, 77);
		assert_contains(err.text, complaint);
	}
}

static void check_minor(uint32_t min, uint32_t max, uint32_t expected)
{
	Kgrid__V1__Hello h = agent();
	struct kg_err err;
	uint32_t minor;

	h.version_min = min;
	h.version_max = max;
	assert_int_equal(kg_hello_check(&h, &minor, &err), 0);
	assert_int_equal(minor, expected);
}

static void test_newest_minor_that_both_speak(void **state)
{
	(void)state;
	check_minor(KG_PROTO_MINOR, KG_PROTO_MINOR, KG_PROTO_MINOR);
	check_minor(0, KG_PROTO_MINOR, KG_PROTO_MINOR);
	check_minor(KG_PROTO_MINOR, KG_PROTO_MINOR + 5, KG_PROTO_MINOR);
	check_minor(0, UINT32_MAX, KG_PROTO_MINOR);
	check_minor(0, KG_PROTO_MINOR_OLDEST, KG_PROTO_MINOR_OLDEST);
}

static void test_windows_that_do_not_meet_name_both(void **state)
{
	Kgrid__V1__Hello h = agent();

	(void)state;
	h.version_min = KG_PROTO_MINOR + 1;
	h.version_max = KG_PROTO_MINOR + 2;
	check(&h, KG_EVERSION,
	      "peer (kgrid-agent 9.9) speaks protocol 1.4 to 1.5, this program "
	      "(kgrid " KGRID_VERSION ") 1.1 to 1.3");
	h.version_min = h.version_max = KG_PROTO_MINOR_OLDEST - 1;
	h.software = NULL;
	check(&h, KG_EVERSION, "peer (of unknown software) speaks protocol 1.0 to 1.0");
}

static void test_hello_without_what_it_must_say(void **state)
{
	Kgrid__V1__Hello h = agent();

	(void)state;
	h.has_role = 0;
	check(&h, KG_EPROTO, "without a known role");
	h = agent();
	h.role = KGRID__V1__ROLE__ROLE_UNKNOWN;
	check(&h, KG_EPROTO, "without a known role");
	h.role = (Kgrid__V1__Role)9;
	check(&h, KG_EPROTO, "without a known role");
	h = agent();
	h.has_version_min = 0;
	check(&h, KG_EPROTO, "without a version window");
	h = agent();
	h.has_version_max = 0;
	check(&h, KG_EPROTO, "without a version window");
	h = agent();
	h.version_min = h.version_max + 1;
	check(&h, KG_EPROTO, "without a version window");
}

static void test_only_an_agent_needs_a_machine(void **state)
{
	Kgrid__V1__Hello h = agent();

	(void)state;
	h.machine = NULL;
	check(&h, KG_EPROTO, "without a machine");
	h.machine = (char *)(uintptr_t) "";
	check(&h, KG_EPROTO, "without a machine");
	h.machine = (char *)(uintptr_t) "../etc";
	check(&h, KG_EPROTO, "'../etc' is not a machine's name");
	h.role = KGRID__V1__ROLE__ROLE_CLIENT;
	h.machine = NULL;
	check(&h, 0, NULL);
	h.role = KGRID__V1__ROLE__ROLE_COORDINATOR;
	check(&h, 0, NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_newest_minor_that_both_speak),
		cmocka_unit_test(test_windows_that_do_not_meet_name_both),
		cmocka_unit_test(test_hello_without_what_it_must_say),
		cmocka_unit_test(test_only_an_agent_needs_a_machine),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
