/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Predicates, over machines and over cells: what parses is asked of both kinds, "not (...)" of it says
 * the opposite, and an explanation is given exactly for what does not match. */
#include <errno.h>
#include <string.h>

#include "coordinator/plan/predicate.h"
#include "tests/fuzz/fuzz.h"

static const char *const tags[] = {"lab", "nvme"};
static const char *const lsms[] = {"prev", "nt"};
static const char *const workloads[] = {"netperf"};
static const char *const params[] = {"size", "test"};
static const char *const settings[] = {"governor", "sysctl.vm.swappiness"};
static const char *const sets[] = {"quick"};

static const struct predicate_scope scope = {.axes = true,
					     .lsms = lsms,
					     .n_lsms = 2,
					     .workloads = workloads,
					     .n_workloads = 1,
					     .params = params,
					     .n_params = 2,
					     .settings = settings,
					     .n_settings = 2,
					     .sets = sets,
					     .n_sets = 1};

static const struct predicate_machine machine = {.name = "epyc-1",
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
						 .n_tags = 2};

static bool cell_matches(const struct predicate *p)
{
	static struct kg_param_value given[] = {{(char *)"size", (char *)"1024"}};
	static const struct kg_params size = {given, 1};
	const struct predicate_cell c = {.machine = &machine,
					 .kernel_label = "new",
					 .kernel_release = "6.12.117",
					 .lsm = "nt",
					 .workload = "netperf",
					 .params = &size,
					 .cmdline_label = "fast",
					 .cmdline_words = "mitigations=off quiet",
					 .set = "quick"};

	return predicate_matches_cell(p, &c);
}

static void check_error(const char *text, const struct kg_err *err, int rc)
{
	size_t column = 0;
	char colon = 0;

	must(rc == KG_EINVALID || rc == -ENOMEM);
	must(sscanf(err->text, "column %zu%c", &column, &colon) == 2 && colon == ':');
	must(column >= 1 && column <= strlen(text) + 1);
	if (kg_utf8_valid(text, strlen(text)))
		must(kg_utf8_valid(err->text, strlen(err->text)));
}

static void check_opposite(const char *text, bool axes, bool yes)
{
	struct kg_str s = {0};
	struct predicate *p = NULL;
	struct kg_err err;

	kg_str_addf(&s, "not (%s)", text);
	/* may be one parenthesis too deep */
	if (predicate_parse(kg_str_text(&s), axes ? &scope : NULL, &p, &err) == 0) {
		must((axes ? cell_matches(p) : predicate_matches_machine(p, &machine)) != yes);
		predicate_free(p);
	}
	kg_str_deinit(&s);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = malloc(size + 1);
	struct kg_err err = {{0}};
	unsigned axes;

	must(text);
	memcpy(text, data, size);
	text[size] = '\0';
	for (axes = 0; axes < 2; axes++) {
		struct predicate *p = NULL;
		struct kg_str why = {0};
		bool yes;
		int rc = predicate_parse(text, axes ? &scope : NULL, &p, &err);

		if (rc < 0) {
			must(!p);
			check_error(text, &err, rc);
			continue;
		}
		yes = axes ? cell_matches(p) : predicate_matches_machine(p, &machine);
		if (!axes) {
			predicate_explain(p, &machine, &why);
			must(yes == (why.len == 0));
			kg_str_deinit(&why);
		}
		predicate_free(p);
		check_opposite(text, axes, yes);
	}
	free(text);
	return 0;
}
