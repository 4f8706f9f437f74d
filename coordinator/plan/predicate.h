/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Predicates over machines and cells:
 *
 *     vendor in (intel, amd) and cpus >= 2 and not (name == "old-box" or nvme in tags)
 *
 *     expression := and { "or" and }         and := not { "and" not }
 *     not        := "not" not | "(" expression ")" | comparison
 *     comparison := NAME ( "==" | "!=" | "<" | "<=" | ">" | ">=" ) VALUE
 *                 | NAME [ "not" ] "in" "(" VALUE { "," VALUE } ")"
 *                 | VALUE [ "not" ] "in" NAME            -- NAME is a list, such as tags
 *
 * A VALUE is a bare word, a number (memory also "8GiB", parameters also in units that go with their
 * declaration's: seconds >= 1m) or text in single or double quotes.
 * Names of machines: name, vendor (intel, amd, ...), family, model, stepping, microarchitecture
 * (zen3, cascadelake: compared without case, blanks, '-' and '_'; an unknown one is refused with a
 * suggestion), cpus, sockets, numa_nodes, memory, microcode (hexadecimal numbers have an order),
 * clock (real, instruction), tags. In `exclude:` and `only:` also every axis: kernel (label or
 * release), lsm (label), cmdline (label, the whole variant, or one of its words), each setting by its
 * name ("governor", "sysctl.vm.swappiness"), workload, the workloads' parameters, set (name of the
 * parameter set), role (client, or nothing) and peer. A parameter that has the name of a fact, an axis
 * or a setting is "param.NAME", and "setting.NAME" is always the setting.
 * On a list, == asks whether some item is equal, != whether none is. Comparing what is absent (a
 * parameter that this workload lacks, a fact that is not known) is false, whatever the operator.
 * Pure.
 */
#ifndef KG_PLAN_PREDICATE_H
#define KG_PLAN_PREDICATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/err.h"
#include "common/str.h"
#include "common/workload.h"

/* Facts of one machine, as its agent reports them. All pointers borrow; NULL or 0: not known. */
struct predicate_machine {
	const char *name;
	const char *cpu_vendor; /* "GenuineIntel"; predicates see "intel" */
	const char *cpu_name;
	const char *microcode;
	const char *clock; /* "real" or "instruction" */
	uint32_t cpu_family, cpu_model, cpu_stepping;
	uint32_t cpus, sockets, numa_nodes;
	uint64_t memory_bytes;
	const char *const *tags;
	size_t n_tags;
};

/* Where a predicate is used: which names exist beside the machine's. All borrow. */
struct predicate_scope {
	bool axes;		 /* kernel, lsm, workload and parameters may be named */
	const char *const *lsms; /* labels of the job; another one is refused as a typing error */
	size_t n_lsms;
	const char *const *workloads;
	size_t n_workloads;
	const char *const
		*params; /* names of all parameters of these workloads; sorted by strcmp */
	size_t n_params;
	const char *const *settings; /* names of what the job sets or varies; sorted by strcmp */
	size_t n_settings;
	const char *const *sets; /* names of the parameter sets */
	size_t n_sets;
};

struct predicate_cell { /* what a predicate with axes is asked about; all borrow */
	const struct predicate_machine *machine;
	const char *kernel_label; /* NULL: none */
	const char *kernel_release;
	const char *lsm;
	const char *workload;
	const struct kg_params *params;
	const struct kg_workload *decl; /* for units of parameters; NULL: not known */
	const char *cmdline_label;	/* of the variant; NULL: none */
	const char *cmdline_words;
	const struct kg_params *settings; /* sorted by name; NULL: none */
	const char *set;		  /* NULL: none */
	const char *peer;		  /* machine of the server; NULL: no roles */
};

struct predicate;

/* Errors are "column N: text" (N from 1). `scope` NULL: machine names only. `ret_p` is owned,
 * predicate_free; it borrows nothing. */
int predicate_parse(const char *text, const struct predicate_scope *scope, struct predicate **ret_p,
		    struct kg_err *err);
void predicate_free(struct predicate *p);

/* Which comparisons keep a machine out, and what it has instead, "vendor == intel (it is amd); cpus >=
 * 4 (it is 2)"; nothing for one that matches. */
void predicate_explain(const struct predicate *p, const struct predicate_machine *m,
		       struct kg_str *out);

bool predicate_matches_machine(const struct predicate *p, const struct predicate_machine *m);
bool predicate_matches_cell(const struct predicate *p, const struct predicate_cell *c);

/* man(7) lines that describe the names: the machine's, or the axes'. */
void predicate_manual(bool axes, struct kg_str *out);

/* "GenuineIntel" -> "intel", "AuthenticAMD" -> "amd", "HygonGenuine" -> "hygon", "CentaurHauls" ->
 * "centaur", "  Shanghai  " -> "zhaoxin"; others as they are. Borrows or static. */
const char *predicate_vendor_word(const char *cpu_vendor);

#endif
