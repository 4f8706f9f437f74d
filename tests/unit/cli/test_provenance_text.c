/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/provenance_text.h"
#include "tests/lib/cmocka_all.h"

static Kgrid__V1__ProvenanceReply reply;
static Kgrid__V1__Provenance phases[2], *phase_list[2];
static Kgrid__V1__Fact facts[2][3], *fact_list[2][3];
static Kgrid__V1__Document document, *documents[1];

static char *s(const char *text)
{
	return (char *)(uintptr_t)text;
}

static void set(size_t phase, size_t i, const char *name, const char *value, const char *reason)
{
	facts[phase][i] = (Kgrid__V1__Fact)KGRID__V1__FACT__INIT;
	facts[phase][i].name = s(name);
	facts[phase][i].value = s(value);
	facts[phase][i].reason = s(reason);
	fact_list[phase][i] = &facts[phase][i];
}

static void make(void)
{
	size_t i;

	reply = (Kgrid__V1__ProvenanceReply)KGRID__V1__PROVENANCE_REPLY__INIT;
	for (i = 0; i < 2; i++) {
		phases[i] = (Kgrid__V1__Provenance)KGRID__V1__PROVENANCE__INIT;
		phases[i].phase = s(i ? "before" : "boot");
		phases[i].n_facts = 3;
		phases[i].facts = fact_list[i];
		phase_list[i] = &phases[i];
	}
	set(0, 0, "cpu.microcode", "0x1", NULL);
	set(0, 1, "cpu.boost", NULL, "absent");
	set(0, 2, "load", "0.10", NULL);
	set(1, 0, "cpu.microcode", "0x1", NULL);
	set(1, 1, "cpu.boost", NULL, "absent");
	set(1, 2, "load", "1.50", NULL);
	document = (Kgrid__V1__Document)KGRID__V1__DOCUMENT__INIT;
	document.name = s("config");
	document.digest = s("0123456789abcdef");
	document.text_bytes = 204800;
	documents[0] = &document;
	reply.n_phases = 2;
	reply.phases = phase_list;
	reply.n_documents = 1;
	reply.documents = documents;
}

static void test_facts_once_then_what_changed(void **state)
{
	struct kg_str out = {0};

	(void)state;
	make();
	provenance_text(&reply, false, 100, false, &out);
	assert_string_equal(kg_str_text(&out), "boot: 3 facts\n"
					       "  cpu.microcode  0x1\n"
					       "  cpu.boost      unsupported (absent)\n"
					       "  load           0.10\n"
					       "\n"
					       "before: 3 facts, 2 as before (--all lists them)\n"
					       "  load  1.50\n"
					       "\n"
					       "DOCUMENT       SIZE  DIGEST\n"
					       "config    200.0 KiB  0123456789ab\n");
	kg_str_clear(&out);
	provenance_text(&reply, true, 100, false, &out);
	assert_contains(kg_str_text(&out), "before: 3 facts\n  cpu.microcode  0x1\n");
	kg_str_deinit(&out);
}

static void test_unsupported_is_never_a_value(void **state)
{
	struct kg_str out = {0};

	(void)state;
	make();
	set(0, 0, "cpu.microcode", "", NULL);
	set(0, 2, "load", NULL, NULL);
	provenance_csv(&reply, &out);
	assert_string_equal(kg_str_text(&out), "phase,name,value,supported,reason\n"
					       "boot,cpu.microcode,,true,\n"
					       "boot,cpu.boost,,false,absent\n"
					       "boot,load,,false,\n"
					       "before,cpu.microcode,0x1,true,\n"
					       "before,cpu.boost,,false,absent\n"
					       "before,load,1.50,true,\n");
	kg_str_clear(&out);
	provenance_text(&reply, false, 100, false, &out);
	assert_contains(kg_str_text(&out), "cpu.microcode  (empty)\n");
	assert_contains(kg_str_text(&out), "load           unsupported\n");
	kg_str_deinit(&out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_facts_once_then_what_changed),
		cmocka_unit_test(test_unsupported_is_never_a_value),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
