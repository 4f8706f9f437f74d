/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "agent/provenance.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const char *fact(const struct provenance *p, const char *name)
{
	size_t i;

	for (i = 0; i < p->n_facts; i++)
		if (strcmp(p->facts[i].name, name) == 0)
			return p->facts[i].value;
	return NULL;
}

static void test_facts_of_a_host(void **state)
{
	struct provenance p;
	struct kg_err err;

	(void)state;
	assert_int_equal(provenance_read(KGRID_TEST_DATA "/agent/host", &p, &err), 0);
	assert_string_equal(p.cpu_vendor, "AuthenticAMD");
	assert_string_equal(p.cpu_name, "AMD EPYC-Milan Processor");
	assert_string_equal(p.microcode, "0xa001238");
	assert_true(p.cpu_family.has && p.cpu_family.value == 25);
	assert_true(p.cpu_model.has && p.cpu_model.value == 1);
	assert_true(p.cpus.has && p.cpus.value == 2);
	assert_true(p.sockets.has && p.sockets.value == 2);
	assert_true(p.numa_nodes.has && p.numa_nodes.value == 2);
	assert_true(p.memory_bytes.has && p.memory_bytes.value == 2029924ULL * 1024);
	assert_true(p.tainted.has && p.tainted.value == 512);
	assert_string_equal(p.lsm, "lockdown,capability,landlock,yama");
	assert_string_equal(p.host_boot_id, "11111111-2222-3333-4444-555555555555");
	assert_string_equal(fact(&p, "vulnerability.meltdown"), "Mitigation: PTI");
	assert_string_equal(fact(&p, "vulnerability.l1tf"), "Not affected");
	assert_string_equal(fact(&p, "frequency.governor"), "performance");
	assert_string_equal(fact(&p, "lockdown"), "[none] integrity confidentiality");
	assert_string_equal(fact(&p, "virtualised"), "yes");
	assert_string_equal(fact(&p, "os"), "Debian GNU/Linux 12 (bookworm)");
	provenance_deinit(&p);
}

static void test_what_a_machine_lacks_is_left_out(void **state)
{
	struct provenance p;
	struct kg_err err;

	(void)state;
	assert_int_equal(provenance_read(KGRID_TEST_DATA "/agent/host", &p, &err), 0);
	assert_null(p.build_id);
	assert_null(fact(&p, "turbo.boost"));
	assert_null(fact(&p, "smt.active")); /* there, but empty */
	provenance_deinit(&p);
	assert_int_equal(provenance_read("/nosuch", &p, &err), 0);
	assert_null(p.cpu_vendor);
	assert_false(p.cpus.has);
	assert_false(p.sockets.has);
	assert_false(p.numa_nodes.has);
	assert_false(p.memory_bytes.has);
	assert_false(p.tainted.has);
	assert_null(p.lsm);
	assert_int_equal(p.n_facts, 0);
	provenance_deinit(&p);
}

static void test_build_id_among_notes(void **state)
{
	static const uint8_t notes[] = {
		4, 0, 0,   0,	4,   0, 0,    0,    1,	  0,
		0, 0, 'X', 'e', 'n', 0, 1,    2,    3,	  4, /* another */
		4, 0, 0,   0,	3,   0, 0,    0,    3,	  0,
		0, 0, 'G', 'N', 'U', 0, 0xab, 0xcd, 0x01, 0,
	};
	char *id;
	size_t len;

	(void)state;
	id = provenance_build_id(notes, sizeof(notes));
	assert_string_equal(id, "abcd01");
	free(id);
	for (len = 0; len < sizeof(notes); len++) /* cut off anywhere: nothing, and no overrun */
		assert_null(provenance_build_id(notes, len));
}

static void test_this_machine_has_a_boot_id(void **state)
{
	struct provenance p;
	struct kg_err err;

	(void)state;
	assert_int_equal(provenance_read("", &p, &err), 0);
	assert_non_null(p.release);
	assert_int_equal(strlen(p.host_boot_id), 36);
	assert_true(p.memory_bytes.has);
	provenance_deinit(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_facts_of_a_host),
		cmocka_unit_test(test_what_a_machine_lacks_is_left_out),
		cmocka_unit_test(test_build_id_among_notes),
		cmocka_unit_test(test_this_machine_has_a_boot_id),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
