/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * p-values of a family of tests, adjusted: Holm 1979 (Scand. J. Stat. 6, 65-70), Benjamini and
 * Hochberg 1995 (JRSS B 57, 289-300), Benjamini and Yekutieli 2001 (Ann. Stat. 29, 1165-1188),
 * Hochberg 1988 (Biometrika 75, 800-802), Bonferroni. Pure. As R's p.adjust.
 */
#ifndef KG_COORDINATOR_ANALYSIS_ADJUST_H
#define KG_COORDINATOR_ANALYSIS_ADJUST_H

#include <stddef.h>

enum stats_adjust {
	STATS_ADJUST_NONE,
	STATS_ADJUST_BH,
	STATS_ADJUST_HOLM,
	STATS_ADJUST_BY,
	STATS_ADJUST_HOCHBERG,
	STATS_ADJUST_BONFERRONI,
};

const char *stats_adjust_name(enum stats_adjust a); /* "bh" */
int stats_adjust_parse(const char *name);	    /* enum stats_adjust or -1 */
/* `ret` may be `p`. -ENOMEM, -EINVAL for a p outside [0, 1]. */
int stats_adjust(enum stats_adjust method, const double *p, size_t n, double *ret);

#endif
