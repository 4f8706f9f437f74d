/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the files of the verdict share. Pure. */
#ifndef KG_COORDINATOR_ANALYSIS_VERDICT_IMPL_H
#define KG_COORDINATOR_ANALYSIS_VERDICT_IMPL_H

#include "coordinator/analysis/verdict.h"

/* Medians of the boots and all iterations, boot by boot; both owned, free(). KG_EINVALID names the
 * value of `which` side; -ENOMEM. */
int verdict_boot_values(const struct verdict_side *in, const char *which, double **ret_values,
			double **ret_iterations, size_t *ret_n_iterations, struct kg_err *err);

struct verdict_iterations {
	double *a; /* all of a side; both are reordered */
	size_t na;
	double *b;
	size_t nb;
};
/* Over all iterations: p of Mann-Whitney, and by how much of A's median the medians differ; 0 when
 * that is 0. -ENOMEM. */
int verdict_iterations_differ(const struct verdict_iterations *in, double *ret_p,
			      double *ret_change, struct kg_err *err);
/* Whether the boots of a side differ more than their iterations explain. -ENOMEM. */
int verdict_boots_differ(const struct verdict_side *a, const struct verdict_side *b,
			 bool *ret_differ, struct kg_err *err);

/* Whether the boots' values, or the iterations around their boots' values, have several modes by
 * Silverman's test (modes.h), 10 of them or more. Iterations as they are would show a mode for each
 * boot. -ENOMEM. */
int verdict_several_modes(const struct verdict_side *in, const double *values, bool *ret_several,
			  struct kg_err *err);

void verdict_reason(struct verdict *v, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

#endif
