/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Workload declarations: a YAML file per workload says what it is called, which parameters it
 * takes, which command it runs (an argument vector, never a shell string), which metrics it gives
 * and how they are read from its output. The agent reads them from its workload directory and
 * offers them; the coordinator parses the same text to check parameters when a job is submitted.
 *
 *   name: netperf
 *   description: bulk and request/response network performance over loopback
 *   parameters:
 *     test: {type: choice, choices: [TCP_STREAM, UDP_RR], required: true}
 *     size: {type: int, min: 1, max: 65507, default: 64, unit: bytes}
 *     seconds: {type: int, min: 1, max: 3600, default: 10}
 *   requires: [netperf, netserver]            # programs that must be found
 *   helper: [netserver, -D, -4, -L, 127.0.0.1, -p, "{port}"]   # runs beside each run, ended after it
 *   command: [netperf, -P, "0", ..., -l, "{seconds}", ...]     # {parameter} is replaced, once, as text
 *   version: [netperf, -V]                   # optional; its first line of output is the version
 *   arguments:                                # appended when the condition holds
 *     - {when: {test: [TCP_STREAM, UDP_STREAM]}, add: ["--", -m, "{size}"]}
 *   environment: {NAME: value}
 *   pair: true                                # the helper may run on another machine (job `role:`)
 *   canary: true                              # must not depend on the kernel: shows drift in a block
 *   warm-up: {runs: 1} | {seconds: 2}         # kept apart from samples
 *   duration: "{seconds}"                     # expected seconds of one iteration, for estimates
 *   timeout: 60s                              # per iteration, over the duration
 *   metrics:
 *     - name: throughput
 *       unit: Mbit/s
 *       direction: higher                     # higher | lower | none
 *       when: {test: [TCP_STREAM, UDP_STREAM]}
 *       stream: stdout                        # stdout | stderr
 *       read: {keyval: THROUGHPUT}            # KEY=number
 *   read is one of {keyval: KEY}, {line: "Time: {value}"} (a whole line with {value} in the place
 *   of the number; blanks at its ends do not count, runs of blanks are one), {regex: "ERE with one
 *   group"} (within one line); `which: first|last|each` beside it or in it (default: exactly one
 *   line must match). A value ends at a blank, so "KEY=12 MB/s" is 12.
 *
 *   Templates: {name} is a declared parameter or one of KG_WORKLOAD_BUILTINS ({port}: a free port, for
 *   a workload with a helper; {host}: the address that the helper listens on, 127.0.0.1 unless the
 *   helper runs on another machine; what has `pair` must name it); {{ and }} are braces.
 *   The program itself (first of command and helper) is never a template.
 */
#ifndef KG_COMMON_WORKLOAD_H
#define KG_COMMON_WORKLOAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/err.h"
#include "common/yaml.h"

/* Names that whoever runs the workload fills in (`extra` of kg_workload_argv). */
#define KG_WORKLOAD_BUILTINS "port", "host"

enum kg_param_type { KG_PARAM_INT, KG_PARAM_BYTES, KG_PARAM_CHOICE, KG_PARAM_TEXT };
enum kg_direction { KG_DIR_NONE, KG_DIR_HIGHER, KG_DIR_LOWER };
enum kg_read_kind { KG_READ_KEYVAL, KG_READ_LINE, KG_READ_REGEX };
enum kg_read_which { KG_READ_ONE, KG_READ_FIRST, KG_READ_LAST, KG_READ_EACH };

struct kg_param_decl {
	char *name;
	enum kg_param_type type;
	int64_t min, max; /* int, bytes */
	struct kg_texts choices;
	char *preset; /* normalised; NULL: none */
	char *unit;
	char *help;
	bool required;
};

struct kg_condition { /* parameter in values; all of a list must hold */
	char *param;
	struct kg_texts values;
};

struct kg_conditions {
	struct kg_condition *items;
	size_t n;
};

struct kg_arguments {
	struct kg_conditions when;
	struct kg_texts add;
};

struct kg_metric_decl {
	char *name;
	char *unit;
	enum kg_direction direction;
	double min_effect_pct; /* smallest change that matters; 1 unless declared */
	struct kg_conditions when;
	bool from_stderr;
	enum kg_read_kind read_kind;
	enum kg_read_which which;
	char *pattern;
};

struct kg_workload {
	char *name;
	char *description;
	struct kg_param_decl *params;
	size_t n_params;
	struct kg_texts requires;
	struct kg_texts helper;
	struct kg_texts command;
	struct kg_texts version; /* n 0: not asked */
	bool pair;		 /* the helper may run on another machine */
	bool canary;
	struct kg_arguments *arguments;
	size_t n_arguments;
	struct kg_texts environment; /* "NAME=value" */
	uint32_t warmup_runs;
	uint64_t warmup_ns;
	char *duration; /* template; NULL: 10 seconds assumed */
	uint64_t timeout_ns;
	struct kg_metric_decl *metrics;
	size_t n_metrics;
};

/* One value of a parameter, normalised text ("64KiB" -> "65536"). */
struct kg_param_value {
	char *name;  /* owned */
	char *value; /* owned */
};

struct kg_params { /* sorted by name, one per declared parameter that has a value */
	struct kg_param_value *items;
	size_t n;
};
void kg_params_deinit(struct kg_params *p);
const char *kg_params_get(const struct kg_params *p, const char *name); /* NULL: absent */
/* "seconds=1 size=64 test=UDP_RR", owned. */
char *kg_params_text(const struct kg_params *p);

int kg_workload_parse(const char *file_name, const char *text, size_t len,
		      struct kg_workload **ret_w, struct kg_err *err);
void kg_workload_free(struct kg_workload *w);

/* Checks and normalises one value: "expected a whole number from 1 to 65507, not 'x'". A whole
 * number whose declaration has a unit of time (ns, us, ms, s, min, h, d and their words) or of bytes
 * (bytes, kB, MB, GB, KiB, MiB, GiB) is also taken with a unit: "10s" of seconds is 10, "1500ms" of
 * seconds is refused (not whole), "64KiB" of bytes is 65536. */
int kg_workload_normalise(const struct kg_workload *w, const char *param, const char *value,
			  char **ret_value, struct kg_err *err);
/* "1500ms" in the unit "s" of a declaration is 1.5; false: no unit stands there, or none that goes with
 * this one. `unit` NULL: none. */
bool kg_workload_in_unit(const char *unit, const char *value, double *ret);
/* Completes `given` (already normalised) by defaults; refuses what is required and missing, and
 * what is not declared (with a suggestion). */
int kg_workload_params(const struct kg_workload *w, const struct kg_param_value *given, size_t n,
		       struct kg_params *ret_params, struct kg_err *err);

/* Argument vector with parameters filled in; `extra` are further names such as port. NULL-terminated
 * when passed to exec: items[n] == NULL. */
int kg_workload_argv(const struct kg_workload *w, const struct kg_params *p,
		     const struct kg_param_value *extra, size_t n_extra, struct kg_texts *ret_argv,
		     struct kg_err *err);
int kg_workload_helper_argv(const struct kg_workload *w, const struct kg_params *p,
			    const struct kg_param_value *extra, size_t n_extra,
			    struct kg_texts *ret_argv, struct kg_err *err);
/* Expected time of one iteration in ns. */
uint64_t kg_workload_duration_ns(const struct kg_workload *w, const struct kg_params *p);

/* Whether a metric exists for these parameters. */
bool kg_metric_applies(const struct kg_metric_decl *m, const struct kg_params *p);
/* Reads a metric's values from a run's whole output. Refuses: no match, more than one match where
 * one is expected, not a number, NaN, infinite, negative. `ret_values` owned (free). */
int kg_metric_read(const struct kg_metric_decl *m, const char *output, double **ret_values,
		   size_t *ret_n, struct kg_err *err);

#endif
