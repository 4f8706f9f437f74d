/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Noise profiles out of A/A boots, and the smallest effect that matters. Pure.
 *
 * One profile per machine, workload, parameters and metric: of its newest epoch, and within it of
 * the kernel and list with the most boots, as only boots of one configuration are A/A boots. What was
 * left out is in the notes.
 */
#ifndef KG_COORDINATOR_REPORT_NOISE_REPORT_H
#define KG_COORDINATOR_REPORT_NOISE_REPORT_H

#include "coordinator/report/compare_tables.h"

struct noise_schedule {
	const char *machine;
	uint64_t every_seconds;
};

struct noise_input {
	/* Rows of calibration jobs: cells, metrics, values (with time_ns and epoch). */
	const struct report_input *rows;
	const struct noise_schedule *schedules;
	size_t n_schedules;
	uint64_t seed; /* of the random halves; 0 is fine */
};

/* Adds profiles and notes. -ENOMEM. */
int report_noise(const struct noise_input *in, Kgrid__V1__NoiseReply *reply, struct kg_err *err);

/* What compare takes, out of profiles; texts borrow from `reply`, `*ret` is owned (free). -ENOMEM. */
int report_noise_min_effects(const Kgrid__V1__NoiseReply *reply, struct report_min_effect **ret,
			     size_t *ret_n);

/* Without A/A runs (ANALYSIS.md, "Pair comparison"): 2 % for UDP and scheduler benchmarks, else 1. */
double report_default_min_effect(const char *workload, const char *params);
/* The row for a metric; NULL: there is none. */
const struct report_min_effect *report_find_min_effect(const struct report_input *in,
						       const struct report_cell *cell,
						       const struct report_metric *metric);

#endif
