/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Comparison tables out of the cells and values of a job, or of a selection over several: one table
 * per machine x workload x metric, rows are parameters, columns are kernel x lsm in the job file's
 * order with the baseline first. Pure.
 *
 * Rows keep all their parameters: who shows them may leave out what is the same in all. Rows that
 * gave no value of any metric stand in the first table of their machine and workload, so that
 * nothing that was planned is missing.
 *
 * Numbers and words come from coordinator/analysis/verdict.h; all pairs of one report are one family
 * for the correction, slices too. A value is the median over boots of the median of a boot's
 * iterations. A pair whose boots are not all of one and the same epoch of the machine is
 * incomparable: no effect then, and the reason names what changed, unless across_epochs asks for
 * the numbers all the same. A cell with boots of several epochs shows the newest one's.
 *
 * Machines are a random sample: summaries (coordinator/analysis/meta.h) per vendor, per
 * microarchitecture and over all. Interactions are only those that stand out after correction.
 */
#ifndef KG_COORDINATOR_REPORT_COMPARE_TABLES_H
#define KG_COORDINATOR_REPORT_COMPARE_TABLES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/err.h"
#include "common/outcome.h"
#include "coordinator/analysis/epoch.h"
#include "coordinator/report/stops.h"
#include "proto/messages.h"

/* One cell of the job: machine x kernel x lsm x workload x parameters. Texts borrow. */
struct report_cell {
	uint64_t id;
	const char *machine;
	const char *cpu_name; /* NULL: not known, as the next three */
	const char *cpu_vendor;
	const char *microarchitecture;
	const char *clock;
	const char *kernel; /* label */
	const char *lsm;    /* label of the request, with the variant where the job has several */
	const char *lsm_effective;
	const char *lsm_request; /* NULL: not known */
	const char *workload;
	const char *params;
	uint32_t kernel_order, lsm_order, workload_order;
	/* What makes cells comparable or not; NULL: not known. */
	const char *kernel_digest; /* tells kernels apart that had the same label */
	const char *release;	   /* uname -r */
	const char *version;	   /* whole version string, "6.12.3 (a@b) (gcc ...) #1 SMP" */
	const char *compiler;	   /* of /proc/version; NULL: what `version` says */
	const char *config_digest;
	const char *cmdline;	    /* as planned, without kgrid.boot= */
	const char *settings;	    /* "governor=performance"; "": none */
	const char *const *same_as; /* labels that give the same list on this kernel */
	size_t n_same_as;
	const char *microcode;		  /* of the cell's boots */
	uint64_t slots[KG_OUTCOME_COUNT]; /* by outcome; [KG_OUTCOME_NONE]: pending */
};

struct report_metric {
	const char *name;
	const char *unit;
	const char *direction; /* higher, lower, none */
};

/* One valid iteration: of an attempt that passed and decided its slot, not warm-up. Iterations of one
 * boot stand in the order they ran in. */
struct report_value {
	size_t cell;   /* index */
	size_t metric; /* index */
	uint64_t boot;
	double value;
	uint64_t job;
	int64_t time_ns; /* start of the boot, realtime; history and noise order by it */
	uint32_t block;
	uint32_t epoch; /* of the machine; 0: not recorded */
};

struct report_exclusion { /* slots without a valid value, by reason */
	const char *machine;
	const char *outcome;
	const char *reason; /* NULL: none */
	uint64_t slots;
};

/* What an epoch of a machine changed against the one before (analysis/epoch.h), heaviest first. */
struct report_epoch {
	const char *machine;
	uint32_t number;
	const struct epoch_change *changes;
	size_t n_changes;
};

/* Text of a kernel config by its digest; one that is not given is "not known". */
struct report_config {
	const char *digest;
	const char *text; /* need not end in a NUL */
	size_t len;
};

/* Smallest effect that matters, of a machine's own A/A runs: report/noise_report.h makes these. */
struct report_min_effect {
	const char *machine, *workload, *params, *metric, *unit;
	double pct;
	bool raised; /* its false positives exceeded twice alpha */
};

struct report_input {
	const struct report_cell *cells;
	size_t n_cells;
	const struct report_metric *metrics;
	size_t n_metrics;
	const struct report_value *values;
	size_t n_values;
	const struct report_exclusion *exclusions;
	size_t n_exclusions;
	bool grouped; /* boot order */
	/* "KERNEL/LSM" or a part of it; NULL: the first column. A star in place of the kernel compares
	 * within each kernel against that list, one in place of the list within each list against that
	 * kernel. */
	const char *baseline;
	const char *metric; /* only this one; NULL: all */

	const struct report_epoch *epochs;
	size_t n_epochs;
	const struct report_config *configs;
	size_t n_configs;
	const struct report_min_effect *min_effects;
	size_t n_min_effects;
	/* Not one job but any selection: the reply gets the accounting of the cells' slots, and kernels
	 * stand in the order of their versions. */
	bool selection;
	bool stopped_early; /* a job was cancelled, or stopped by a rule, before all its blocks */
	const struct report_stop *stops; /* each is a note, and its slots no exclusion beside it */
	size_t n_stops;

	/* Policy, as the request gives it; zeros are the defaults of verdict_policy_init(). */
	bool across_epochs;
	bool gate;
	bool with_values; /* every boot's iterations in the cells */
	bool has_alpha, has_min_effect;
	double alpha;
	double min_effect_pct;	/* instead of every other */
	const char *correction; /* bh, holm, none; NULL: bh */
};

/* Adds tables, summaries, interactions and notes to the reply, and the accounting of a selection.
 * KG_ENOTFOUND, KG_EAMBIGUOUS (baseline, metric), KG_EINVALID (policy),
 * -ENOMEM. */
int report_compare_tables(const struct report_input *in, Kgrid__V1__CompareReply *reply,
			  struct kg_err *err);

#endif
