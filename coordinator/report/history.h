/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * History: one series per machine, workload, parameters, list and metric, a point per kernel. Pure.
 *
 * Order version: by epoch of the machine, then by the kernel's release (kernel_version.h). Order
 * date: by the first boot of the kernel in the epoch. A kernel that was measured in two epochs is
 * two points, as its boots are not to be mixed; with across_epochs it is one.
 *
 * A point's value is the median over boots of the median of a boot's iterations. Change points are
 * those of coordinator/analysis/changepoint.h over all points of the series. Where two neighbours
 * are of different epochs there is a change of kind "epoch" with verdict "incomparable"; a step whose
 * interval reaches such a boundary is not reported as a step of the kernel: its numbers stand in the
 * boundary's change. With across_epochs both stand there, and a note says that they coincide.
 *
 * The size of a change is that of history_effect.h, with its interval; before and after are medians.
 *
 * Verdicts: regression or improvement by the declared direction, different without one and for a
 * change of variance; unknown for a suspect.
 */
#ifndef KG_COORDINATOR_REPORT_HISTORY_H
#define KG_COORDINATOR_REPORT_HISTORY_H

#include "coordinator/report/compare_tables.h"

struct history_input {
	/* cells (machine, kernel, kernel_digest, release, lsm, workload, params), metrics, values (with
	 * time_ns and epoch), epochs, metric and selection are read; the rest is not. */
	const struct report_input *rows;
	const char *order;  /* version, date; NULL: version */
	const char *method; /* pelt, edivisive; NULL: pelt */
	bool across_epochs;
};

/* Adds series, notes and the accounting of the cells' slots to the reply. KG_EINVALID (order, method),
 * KG_ENOTFOUND (metric), -ENOMEM. */
int report_history(const struct history_input *in, Kgrid__V1__HistoryReply *reply,
		   struct kg_err *err);

#endif
