/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Boots a side for an effect, out of the deviation between boots. See cmd_stat_power.c. */
#ifndef KG_CLI_STAT_POWER_H
#define KG_CLI_STAT_POWER_H

#include <stdbool.h>
#include <stddef.h>

#include "cli/stat_read.h"
#include "common/err.h"

struct stat_power {
	double effect_pct; /* > 0 */
	double power;
	double alpha;
};

struct stat_cov {
	size_t boots;	/* of all sides */
	double df;	/* 0: cov_pct was given, there is no interval */
	double cov_pct; /* pooled over sides */
	double lo_pct, hi_pct;
};

#define STAT_POWER_STEPS 4
extern const unsigned stat_power_boots[STAT_POWER_STEPS];

struct stat_power_result {
	double boots;		    /* a side, whole */
	double boots_lo, boots_hi;  /* for the ends of the CoV's interval */
	bool can[STAT_POWER_STEPS]; /* whether so many boots can reach alpha at all */
	double smallest_pct[STAT_POWER_STEPS];
};

/* Fewest boots a side with which the exact test can reach alpha: 5 at 0.01. */
size_t stat_power_least(double alpha);
/* False when no side has two boots, or the means are 0. */
bool stat_cov(const struct stat_group *g, struct stat_cov *ret);
/* KG_EINVALID when the numbers are beyond sense. */
int stat_power_of(const struct stat_cov *cov, const struct stat_power *p,
		  struct stat_power_result *ret, struct kg_err *err);

#endif
