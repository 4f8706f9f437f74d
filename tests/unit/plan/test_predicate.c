/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "coordinator/plan/predicate.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const char *const tags[] = {"lab", "nvme"};

static const struct predicate_machine epyc = {
	.name = "epyc-1",
	.cpu_vendor = "AuthenticAMD",
	.microcode = "0xa0011d1",
	.clock = "real",
	.cpu_family = 25,
	.cpu_model = 1,
	.cpus = 64,
	.sockets = 2,
	.numa_nodes = 8,
	.memory_bytes = 256ULL << 30,
	.tags = tags,
	.n_tags = 2,
};

static bool matches(const char *text)
{
	struct predicate *p;
	struct kg_err err = {{0}};
	bool yes;

	if (predicate_parse(text, NULL, &p, &err) < 0)
		fail_msg("%s: %s", text, err.text);
	yes = predicate_matches_machine(p, &epyc);
	predicate_free(p);
	return yes;
}

static void refused(const char *text, const struct predicate_scope *scope, const char *error)
{
	struct predicate *p;
	struct kg_err err = {{0}};

	assert_int_equal(predicate_parse(text, scope, &p, &err), KG_EINVALID);
	if (!strstr(err.text, error))
		fail_msg("'%s': '%s' is not in '%s'", text, error, err.text);
}

static void test_vendor_is_the_short_word(void **state)
{
	(void)state;
	assert_true(matches("vendor == amd"));
	assert_false(matches("vendor == intel"));
	assert_true(matches("vendor != intel"));
	assert_true(matches("vendor in (intel, amd)"));
	assert_false(matches("vendor not in (intel, amd)"));
	assert_string_equal(predicate_vendor_word("GenuineIntel"), "intel");
	assert_string_equal(predicate_vendor_word("Other"), "Other");
}

static void test_numbers_compare_as_numbers(void **state)
{
	(void)state;
	assert_true(matches("cpus >= 2"));
	assert_true(matches("cpus > 9"));
	assert_true(matches("cpus < 100"));
	assert_true(matches("cpus <= 64"));
	assert_false(matches("cpus > 64"));
	assert_true(matches("family == 0x19"));
	assert_true(matches("cpus in (32, 64)"));
	assert_true(matches("cpus == 64.0"));
}

static void test_memory_takes_units(void **state)
{
	(void)state;
	assert_true(matches("memory >= 256GiB"));
	assert_false(matches("memory > 256GiB"));
	assert_true(matches("memory == 274877906944"));
}

static void test_tags_are_a_list(void **state)
{
	(void)state;
	assert_true(matches("lab in tags"));
	assert_false(matches("icount in tags"));
	assert_true(matches("icount not in tags"));
	assert_true(matches("tags == nvme"));
	assert_true(matches("tags != sata"));
	assert_true(matches("tags in (sata, nvme)"));
	assert_true(matches("\"lab\" in tags and 'nvme' in tags"));
}

static void test_and_binds_tighter_than_or_and_not_tightest(void **state)
{
	(void)state;
	assert_true(matches("cpus == 64 or cpus == 1 and cpus == 2"));
	assert_false(matches("(cpus == 64 or cpus == 1) and cpus == 2"));
	assert_true(matches("not cpus == 1 and cpus == 64"));
	assert_false(matches("not (cpus == 1 or cpus == 64)"));
	assert_true(matches("not not cpus == 64"));
}

static void test_name_may_be_quoted(void **state)
{
	(void)state;
	assert_true(matches("name == epyc-1"));
	assert_true(matches("name in ('epyc-1')"));
	assert_true(matches("microcode == 0xa0011d1"));
}

static void test_model_0_is_known_where_the_family_is(void **state)
{
	struct predicate_machine m = {.name = "x", .cpu_family = 6};
	struct predicate *p;
	struct kg_err err;

	(void)state;
	assert_int_equal(predicate_parse("model == 0", NULL, &p, &err), 0);
	assert_true(predicate_matches_machine(p, &m));
	m.cpu_family = 0;
	assert_false(predicate_matches_machine(p, &m));
	predicate_free(p);
}

static void test_absent_fact_compares_false(void **state)
{
	struct predicate_machine m = {.name = "bare"};
	static const char *const texts[] = {"vendor == intel", "vendor != intel",
					    "cpus >= 0",       "cpus < 4",
					    "lab in tags",     "vendor not in (amd)"};
	struct predicate *p;
	struct kg_err err;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		assert_int_equal(predicate_parse(texts[i], NULL, &p, &err), 0);
		if (predicate_matches_machine(p, &m))
			fail_msg("%s", texts[i]);
		predicate_free(p);
	}
	assert_int_equal(predicate_parse("lab not in tags", NULL, &p, &err), 0);
	assert_true(predicate_matches_machine(p, &m)); /* no tags is a known, empty list */
	predicate_free(p);
}

static void test_unknown_name_is_refused_with_a_suggestion(void **state)
{
	(void)state;
	refused("vendr == amd", NULL, "column 1: unknown name 'vendr', did you mean 'vendor'?");
	refused("cpus > 1 and  mem > 1", NULL, "column 15: unknown name 'mem'");
	refused("zzzzzz == 1", NULL, "expected one of name, vendor, family");
	refused("lsm == nt", NULL, "unknown name 'lsm'");
}

static void test_impossible_value_is_refused_with_a_suggestion(void **state)
{
	(void)state;
	refused("vendor == itnel", NULL, "column 11: 'vendor' is never 'itnel'");
	refused("vendor == intl", NULL, "did you mean 'intel'?");
	refused("clock == fast", NULL, "expected one of real, instruction");
	refused("cpus > many", NULL, "column 8: expected a number, not 'many'");
	refused("memory > 8GX", NULL, "expected a number such as 8GiB, not '8GX'");
	refused("memory > 8G", NULL, "not '8G'; 'GB' is 1000 MB, 'GiB' is 1024 MiB");
}

static void test_text_has_no_order(void **state)
{
	(void)state;
	refused("name < b", NULL, "column 6: 'name' is text and has no order");
	refused("tags > b", NULL, "'tags' is text and has no order");
}

static void test_syntax_errors_say_the_column(void **state)
{
	(void)state;
	refused("", NULL, "column 1: the predicate is empty");
	refused("   ", NULL, "the predicate is empty");
	refused("vendor = amd", NULL, "column 8: '=' compares nothing: write '=='");
	refused("vendor", NULL, "column 7: expected a comparison");
	refused("vendor ==", NULL, "column 10: expected a value");
	refused("vendor in intel", NULL, "column 11: expected 'tags' or '(' behind 'in'");
	refused("vendor in (intel", NULL, "column 17: expected ',' or ')'");
	refused("vendor in ()", NULL, "column 12: expected a value");
	refused("(cpus > 1", NULL, "column 10: expected ')'");
	refused("cpus > 1 cpus < 4", NULL, "column 10: expected 'and', 'or' or the end");
	refused("cpus > 1 and", NULL, "column 13: a comparison is missing");
	refused("cpus > 1 && cpus < 4", NULL, "write 'and' instead of '&'");
	refused("cpus > 1 || cpus < 4", NULL, "write 'or' instead of '|'");
	refused("!cpus > 1", NULL, "write 'not' instead of '!'");
	refused("name == 'x", NULL, "column 9: the quotes are not closed");
	refused("name == $x", NULL, "column 9: '$' has no meaning here");
	refused("cpus not 4", NULL, "column 10: expected 'in' behind 'not'");
	refused(") == 1", NULL, "column 1: expected a name");
}

static void test_nesting_and_length_are_capped(void **state)
{
	char text[5000];
	struct kg_err err;
	struct predicate *p;
	size_t i;

	(void)state;
	memset(text, '(', 40);
	(void)snprintf(text + 40, 40, "cpus > 1");
	refused(text, NULL, "too many parentheses");
	memset(text, ' ', 4500);
	(void)snprintf(text + 4500, 20, "cpus > 1");
	refused(text, NULL, "column 4097: the predicate is too long: it may have 4096 bytes");
	(void)snprintf(text, sizeof(text), "name == %0*d", 200, 1);
	refused(text, NULL, "column 9: the word is too long: it may have 127 bytes");
	(void)snprintf(text, sizeof(text), "name == '%0*d'", 200, 1);
	refused(text, NULL, "column 9: the text is too long: it may have 127 bytes");
	text[0] = '\0';
	for (i = 0; i < 200; i++)
		(void)snprintf(text + 15 * i, sizeof(text) - 15 * i, "%s", "cpus > 1 and   ");
	(void)snprintf(text + 15 * i, sizeof(text) - 15 * i, "cpus > 2");
	assert_int_equal(predicate_parse(text, NULL, &p, &err), 0);
	assert_true(predicate_matches_machine(p, &epyc));
	predicate_free(p);
}

static const char *const lsms[] = {"prev", "nt"};
static const char *const workloads[] = {"netperf"};
static const char *const params[] = {"size", "test"};
static const struct predicate_scope axes = {.axes = true,
					    .lsms = lsms,
					    .n_lsms = 2,
					    .workloads = workloads,
					    .n_workloads = 1,
					    .params = params,
					    .n_params = 2};

static bool matches_cell(const char *text)
{
	static struct kg_param_value items[] = {{(char *)"size", (char *)"1024"}};
	static const struct kg_params given = {items, 1};
	const struct predicate_cell c = {.machine = &epyc,
					 .kernel_label = "new",
					 .kernel_release = "6.12.117",
					 .lsm = "nt",
					 .workload = "netperf",
					 .params = &given};
	struct predicate *p;
	struct kg_err err = {{0}};
	bool yes;

	if (predicate_parse(text, &axes, &p, &err) < 0)
		fail_msg("%s: %s", text, err.text);
	yes = predicate_matches_cell(p, &c);
	predicate_free(p);
	return yes;
}

static void test_axes_and_machine_facts_mix(void **state)
{
	(void)state;
	assert_true(matches_cell("vendor == amd and lsm == nt"));
	assert_false(matches_cell("lsm == prev"));
	assert_true(matches_cell("kernel == new"));
	assert_true(matches_cell("kernel == 6.12.117"));
	assert_false(matches_cell("kernel == 6.12"));
	assert_true(matches_cell("kernel in (new, old) and workload == netperf"));
}

static void test_parameters_compare_as_numbers_where_they_are(void **state)
{
	(void)state;
	assert_true(matches_cell("size > 64"));
	assert_true(matches_cell("size == 1KiB"));
	assert_false(matches_cell("test == TCP_RR"));
	assert_false(matches_cell("test != TCP_RR")); /* absent */
}

/* "90s" is 1.5 of a parameter in minutes: what is written and what is compared need not be the same. */
static void test_parameters_compare_in_the_unit_of_their_declaration(void **state)
{
	static struct kg_param_decl decls[] = {
		{.name = (char *)"size", .type = KG_PARAM_INT, .unit = (char *)"KiB"},
		{.name = (char *)"test", .type = KG_PARAM_INT, .unit = (char *)"min"}};
	static const struct kg_workload decl = {.params = decls, .n_params = 2};
	static struct kg_param_value items[] = {{(char *)"size", (char *)"64"},
						{(char *)"test", (char *)"2"}};
	static const struct kg_params given = {items, 2};
	static const struct {
		const char *text;
		bool with, without; /* a declaration */
	} cases[] = {
		{"size == 64KiB", true, false},
		{"size == 64", true, true},
		{"size != 64KiB", false, true},
		{"size in (1, 2KiB, 65536B)", true, false},
		{"size < 64.5KiB and size > 63.5KiB", true, false},
		{"size == 64s", false, false}, /* another kind of unit */
		{"size >= 1s", false, false},
		{"test == 2m", true, false},
		{"test == 120s", true, false},
		{"test > 90s and test < 2.5min", true, false},
		{"test not in (1m, 3m)", true, true},
		{"test <= 0.1h", true, false},
		{"test == 2MiB", false, false},
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct predicate_cell c = {.machine = &epyc, .params = &given};
		struct predicate *p;
		struct kg_err err = {{0}};

		if (predicate_parse(cases[i].text, &axes, &p, &err) < 0)
			fail_msg("%s: %s", cases[i].text, err.text);
		if (predicate_matches_cell(p, &c) != cases[i].without)
			fail_msg("%s without a declaration", cases[i].text);
		c.decl = &decl;
		if (predicate_matches_cell(p, &c) != cases[i].with)
			fail_msg("%s", cases[i].text);
		predicate_free(p);
	}
	refused("size > big", &axes, "column 8: expected a number such as 64, 10s or 64KiB, not");
	refused("cpus > 10s", &axes, "column 8: expected a number, not '10s'");
	refused("memory >= 16 GiB", NULL,
		"column 14: a unit stands behind its number without a blank, as in 16GiB");
	refused("(size > 10 min)", &axes, "column 12: a unit stands behind its number");
	refused("cpus > 10 cores", NULL, "column 11: expected 'and', 'or' or the end");
}

static void test_axis_values_that_the_job_lacks_are_refused(void **state)
{
	(void)state;
	refused("lsm == ntt", &axes, "'lsm' is never 'ntt', did you mean 'nt'?");
	refused("workload == netprf", &axes, "did you mean 'netperf'?");
	refused("sise > 3", &axes, "unknown name 'sise', did you mean 'size'?");
}

/* ---- what a job brings ---- */

static const char *const settings[] = {"governor", "sysctl.vm.swappiness"};
static const char *const sets[] = {"quick", "long"};
static const struct predicate_scope all_axes = {.axes = true,
						.lsms = lsms,
						.n_lsms = 2,
						.workloads = workloads,
						.n_workloads = 1,
						.params = params,
						.n_params = 2,
						.settings = settings,
						.n_settings = 2,
						.sets = sets,
						.n_sets = 2};

static bool matches_full(const char *text, bool pair)
{
	static struct kg_param_value given[] = {{(char *)"size", (char *)"64"}};
	static struct kg_param_value set_to[] = {{(char *)"governor", (char *)"performance"},
						 {(char *)"sysctl.vm.swappiness", (char *)"60"}};
	static const struct kg_params p_given = {given, 1}, p_set = {set_to, 2};
	const struct predicate_cell c = {.machine = &epyc,
					 .kernel_label = "new",
					 .kernel_release = "6.12.117",
					 .lsm = "nt",
					 .workload = "netperf",
					 .params = &p_given,
					 .cmdline_label = "fast",
					 .cmdline_words = "mitigations=off x=\"a b\"",
					 .settings = &p_set,
					 .set = "quick",
					 .peer = pair ? "xeon-1" : NULL};
	struct predicate *p;
	struct kg_err err = {{0}};
	bool yes;

	if (predicate_parse(text, &all_axes, &p, &err) < 0)
		fail_msg("%s: %s", text, err.text);
	yes = predicate_matches_cell(p, &c);
	predicate_free(p);
	return yes;
}

static void test_command_line_is_its_label_the_whole_or_a_word(void **state)
{
	(void)state;
	assert_true(matches_full("cmdline == fast", false));
	assert_true(matches_full("cmdline == 'mitigations=off'", false));
	assert_true(matches_full("'mitigations=off' in cmdline", false));
	assert_true(matches_full("'x=\"a b\"' in cmdline", false));
	assert_true(matches_full("cmdline == 'mitigations=off x=\"a b\"'", false));
	assert_false(matches_full("'b\"' in cmdline", false));
	assert_false(matches_full("mitigations in cmdline", false));
	assert_true(matches_full("nosmt not in cmdline", false));
	assert_true(matches_full("cmdline != safe", false));
	refused("cmdline == mitigations=off", &all_axes, "column 23: '=' compares nothing");
}

static void test_settings_sets_role_and_peer_are_axes(void **state)
{
	(void)state;
	assert_true(matches_full("governor == performance and sysctl.vm.swappiness >= 60", false));
	assert_false(matches_full("sysctl.vm.swappiness < 60", false));
	assert_true(matches_full("set in (quick, long) and set != long", false));
	assert_true(matches_full("role == client and peer == xeon-1", true));
	assert_false(matches_full("role == client", false));
	assert_false(matches_full("peer != xeon-1", false)); /* absent */
	assert_true(matches_full("not peer == xeon-1", false));
	refused("governer == x", &all_axes, "did you mean 'governor'?");
	refused("sysctl.vm.swapiness == 1", &all_axes, "did you mean 'sysctl.vm.swappiness'?");
	refused("set == quik", &all_axes, "'set' is never 'quik', did you mean 'quick'?");
	refused("role == server", &all_axes, "'role' is never 'server', expected one of client");
}

/* ---- machines ---- */

static bool is_uarch(const char *vendor, unsigned family, unsigned model, unsigned stepping,
		     const char *text)
{
	const struct predicate_machine m = {.name = "m",
					    .cpu_vendor = vendor,
					    .cpu_family = family,
					    .cpu_model = model,
					    .cpu_stepping = stepping};
	struct predicate *p;
	struct kg_err err = {{0}};
	bool yes;

	if (predicate_parse(text, NULL, &p, &err) < 0)
		fail_msg("%s: %s", text, err.text);
	yes = predicate_matches_machine(p, &m);
	predicate_free(p);
	return yes;
}

static void test_microarchitecture_by_name(void **state)
{
	static const char *const amd = "AuthenticAMD", *const intel = "GenuineIntel";

	(void)state;
	assert_true(matches("microarchitecture == zen3"));
	assert_true(matches("microarchitecture == Zen3"));
	assert_true(matches("microarchitecture == 'Zen 3'"));
	assert_true(matches("microarchitecture in (zen2, zen3)"));
	assert_false(matches("microarchitecture == zen2"));
	assert_true(is_uarch(amd, 0x17, 0x31, 0, "microarchitecture == zen2"));
	assert_true(is_uarch(intel, 6, 85, 7, "microarchitecture == cascadelake"));
	assert_true(is_uarch(intel, 6, 85, 7, "microarchitecture == cascade_lake-sp"));
	assert_false(is_uarch(intel, 6, 85, 4, "microarchitecture == cascadelake"));
	/* the two that are not told apart */
	assert_true(is_uarch(amd, 0x17, 0x01, 2, "microarchitecture == zen1"));
	assert_true(is_uarch(amd, 0x17, 0x01, 2, "microarchitecture == zen+"));
	assert_true(is_uarch(amd, 0x17, 0x01, 2, "microarchitecture == 'Zen1/Zen+'"));
	assert_false(is_uarch(amd, 0x17, 0x31, 0, "microarchitecture == zen"));
	assert_true(is_uarch(intel, 6, 0x8e, 9, "microarchitecture == skylake"));
	refused("microarchitecture == kabylake", NULL, "did you mean 'Skylake client'?");
	refused("microarchitecture == 'comet lake'", NULL, "did you mean 'Skylake client'?");
	/* an unknown one is its numbers, and a vendor that is not known has none */
	assert_true(is_uarch(amd, 99, 1, 2, "microarchitecture == 99-1-2"));
	assert_false(is_uarch(NULL, 25, 1, 1, "microarchitecture != zen2"));
	refused("microarchitecture == zen33", NULL,
		"column 22: there is no microarchitecture "
		"'zen33', did you mean 'Zen3'?");
	refused("microarchitecture == cascadlake", NULL, "did you mean 'Cascade Lake");
	refused("microarchitecture == ''", NULL, "there is no microarchitecture ''");
	refused("microarchitecture < zen3", NULL, "is text and has no order");
}

static void test_microcode_has_an_order(void **state)
{
	(void)state;
	assert_true(matches("microcode >= 0xa0011d1"));
	assert_false(matches("microcode > 0xA0011D1"));
	assert_true(matches("microcode < 0x0b000000"));
	assert_true(matches("microcode == 0x0a0011d1"));
	assert_true(matches("microcode == 167776721")); /* the same number */
	assert_true(matches("microcode in (0x1, 0xa0011d1)"));
	refused("microcode > new", NULL, "column 13: expected a number, not 'new'");
}

static void explained(const char *text, const char *want)
{
	struct predicate *p;
	struct kg_err err = {{0}};
	struct kg_str s = {0};

	if (predicate_parse(text, NULL, &p, &err) < 0)
		fail_msg("%s: %s", text, err.text);
	predicate_explain(p, &epyc, &s);
	assert_string_equal(kg_str_text(&s), want);
	kg_str_deinit(&s);
	predicate_free(p);
}

static void test_explanation_names_what_keeps_a_machine_out(void **state)
{
	(void)state;
	explained("vendor == amd", "");
	explained("vendor == intel and cpus >= 4", "vendor == intel (it is amd)");
	explained("vendor == intel or cpus >= 99",
		  "vendor == intel (it is amd); cpus >= 99 (it is 64)");
	explained("not (vendor == amd and lab in tags)",
		  "not vendor == amd (it is amd); not lab in tags (tags: lab nvme)");
	explained("memory > 1024GiB", "memory > 1024GiB (it is 256GiB)");
	explained("stepping > 3", "stepping > 3 (it is 0)");
	explained("  cpus\tin  ( 1,2 ) ", "cpus\tin  ( 1,2 ) (it is 64)");
	explained("microarchitecture != zen3", "microarchitecture != zen3 (it is Zen3)");
	explained("microcode < 0x1", "microcode < 0x1 (it is 0xa0011d1)");
	explained("clock == instruction", "clock == instruction (it is real)");
}

static void test_near_words_are_suggested_for_every_kind_of_slip(void **state)
{
	(void)state;
	refused("VENDOR == amd", NULL, "unknown name 'VENDOR', did you mean 'vendor'?");
	refused("numa > 1", NULL, "did you mean 'numa_nodes'?");
	refused("vendor == AMD", NULL, "'vendor' is never 'AMD', did you mean 'amd'?");
	refused("vendor == GenuineIntel", NULL, "did you mean 'intel'?");
	refused("kernel == x", NULL, "unknown name 'kernel': no fact of a machine");
	refused("clock == reel", NULL, "did you mean 'real'?");
	refused("uarch == zen3", NULL, "did you mean 'microarchitecture'?");
	refused("machine == m", NULL, "did you mean 'name'?");
	refused("cpus > 1 AND cpus < 9", NULL, "column 10: write 'and' in small letters");
	refused("(cpus > 1 Or cpus < 9)", NULL, "column 11: write 'or' in small letters");
	refused("NOT cpus > 1", NULL, "column 1: unknown name 'NOT': write 'not' in small letters");
	refused("and cpus > 1", NULL, "column 1: unknown name 'and': a comparison is missing");
	refused("4 <= cpus", NULL, "column 1: unknown name '4': the name comes first");
	refused("'cpus' >= 4", NULL, "column 1: unknown name 'cpus': a name stands without quotes");
	refused("vm.swappiness > 1", &all_axes, "did you mean 'sysctl.vm.swappiness'?");
}

static void test_names_that_facts_have_too_are_reached_with_a_prefix(void **state)
{
	static const char *const names[] = {"governor", "memory"};
	static const char *const set[] = {"governor"};
	static const struct predicate_scope scope = {
		.axes = true, .params = names, .n_params = 2, .settings = set, .n_settings = 1};
	static struct kg_param_value given[] = {{(char *)"governor", (char *)"a"},
						{(char *)"memory", (char *)"1024"}};
	static struct kg_param_value set_to[] = {{(char *)"governor", (char *)"b"}};
	static const struct kg_params p_given = {given, 2}, p_set = {set_to, 1};
	const struct predicate_cell c = {.machine = &epyc, .params = &p_given, .settings = &p_set};
	static const char *const texts[] = {"memory == 256GiB", "param.memory == 1KiB",
					    "governor == a", "param.governor == a",
					    "setting.governor == b"};
	struct predicate *p;
	struct kg_err err = {{0}};
	size_t i;

	(void)state;
	for (i = 0; i < 5; i++) {
		if (predicate_parse(texts[i], &scope, &p, &err) < 0)
			fail_msg("%s: %s", texts[i], err.text);
		if (!predicate_matches_cell(p, &c))
			fail_msg("%s", texts[i]);
		predicate_free(p);
	}
	refused("param.cpus == 1", &scope, "unknown name 'param.cpus'");
	refused("setting.memory == 1", &scope, "unknown name 'setting.memory'");
	refused("param.memory == 1", NULL, "unknown name 'param.memory'");
}

/* A kernel of which only the label is known. */
static void test_kernel_without_a_release_is_its_label(void **state)
{
	const struct predicate_cell c = {.machine = &epyc, .kernel_label = "new"};
	struct predicate *p;
	struct kg_err err;

	(void)state;
	assert_int_equal(predicate_parse("kernel in (6.1, new)", &axes, &p, &err), 0);
	assert_true(predicate_matches_cell(p, &c));
	predicate_free(p);
	assert_int_equal(predicate_parse("kernel == 6.1", &axes, &p, &err), 0);
	assert_false(predicate_matches_cell(p, &c));
	predicate_free(p);
}

static void test_columns_count_characters_and_no_character_is_halved(void **state)
{
	struct kg_err err = {{0}};
	struct predicate *p;
	char text[400];
	size_t i;

	(void)state;
	refused("name == '\xc3\xa4\xc3\xb6' and vndor == amd", NULL, "column 18: unknown name");
	refused("name == \xe2\x82\xac", NULL,
		"column 9: '\xe2\x82\xac' has no meaning here; put text with it in quotes");
	refused("cpus == 1\x01", NULL, "column 10: the control character 0x01 has no meaning");
	for (i = 1; i < 120; i++) {
		size_t n =
			(size_t)snprintf(text, sizeof(text), "vendor == '%.*s", (int)(i % 3), "aa");
		size_t k;

		for (k = 0; k < i / 3; k++)
			n += (size_t)snprintf(text + n, sizeof(text) - n, "\xe2\x82\xac");
		(void)snprintf(text + n, sizeof(text) - n, "'");
		err.text[0] = '\0';
		assert_int_equal(predicate_parse(text, NULL, &p, &err), KG_EINVALID);
		assert_true(kg_utf8_valid(err.text, strlen(err.text)));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_command_line_is_its_label_the_whole_or_a_word),
		cmocka_unit_test(test_settings_sets_role_and_peer_are_axes),
		cmocka_unit_test(test_microarchitecture_by_name),
		cmocka_unit_test(test_microcode_has_an_order),
		cmocka_unit_test(test_explanation_names_what_keeps_a_machine_out),
		cmocka_unit_test(test_near_words_are_suggested_for_every_kind_of_slip),
		cmocka_unit_test(test_columns_count_characters_and_no_character_is_halved),
		cmocka_unit_test(test_names_that_facts_have_too_are_reached_with_a_prefix),
		cmocka_unit_test(test_kernel_without_a_release_is_its_label),
		cmocka_unit_test(test_vendor_is_the_short_word),
		cmocka_unit_test(test_numbers_compare_as_numbers),
		cmocka_unit_test(test_memory_takes_units),
		cmocka_unit_test(test_tags_are_a_list),
		cmocka_unit_test(test_and_binds_tighter_than_or_and_not_tightest),
		cmocka_unit_test(test_name_may_be_quoted),
		cmocka_unit_test(test_model_0_is_known_where_the_family_is),
		cmocka_unit_test(test_absent_fact_compares_false),
		cmocka_unit_test(test_unknown_name_is_refused_with_a_suggestion),
		cmocka_unit_test(test_impossible_value_is_refused_with_a_suggestion),
		cmocka_unit_test(test_text_has_no_order),
		cmocka_unit_test(test_syntax_errors_say_the_column),
		cmocka_unit_test(test_nesting_and_length_are_capped),
		cmocka_unit_test(test_axes_and_machine_facts_mix),
		cmocka_unit_test(test_parameters_compare_as_numbers_where_they_are),
		cmocka_unit_test(test_parameters_compare_in_the_unit_of_their_declaration),
		cmocka_unit_test(test_axis_values_that_the_job_lacks_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
