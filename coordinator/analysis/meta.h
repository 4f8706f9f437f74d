/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Effects of several machines, summed up with the machines as a random sample: DerSimonian and
 * Laird 1986 (Controlled Clin. Trials 7, 177-188) with the interval of Hartung and Knapp 2001 (Stat.
 * Med. 20, 3875-3889, and never narrower than the usual one: Rover, Knapp and Friede 2015, BMC Med.
 * Res. Methodol. 15:99). Effects enter as log ratios with their standard errors. Pure.
 */
#ifndef KG_COORDINATOR_ANALYSIS_META_H
#define KG_COORDINATOR_ANALYSIS_META_H

#include <stdbool.h>
#include <stddef.h>

#include "common/err.h"

struct meta_effect {
	double log_ratio;
	double se; /* > 0 */
};

struct meta_summary {
	size_t machines;
	double log_ratio;
	bool has_interval; /* 2 machines or more */
	double lo, hi;	   /* 95 % */
	double tau2;	   /* variance between machines */
	double i2_pct;	   /* share of the variance that is between machines */
	double q, q_p;	   /* Cochran's Q and its p: whether the machines differ */
};

/* One machine: its effect, without an interval. KG_EINVALID: no effect, not finite (or beyond 1e6,
 * which no ratio of doubles has), se <= 0; an se below 1e-12 counts as that. */
int meta_summarise(const struct meta_effect *e, size_t n, struct meta_summary *ret,
		   struct kg_err *err);
/* Two groups (vendors, microarchitectures): whether their summaries differ; two-sided p of the
 * difference b - a of the random-effects means (Welch on the summaries). KG_EINVALID: a group of
 * one machine. */
int meta_difference(const struct meta_summary *a, const struct meta_summary *b, double *ret_diff,
		    double *ret_lo, double *ret_hi, double *ret_p, struct kg_err *err);
/* Interaction of two factors on one machine from the four cells' boots (log values):
 * (b2 - b1) - (a2 - a1), with Welch-Satterthwaite interval: "tomoyo costs more on 6.4 than on 6.0".
 * cells: a1, a2, b1, b2 (6.0 without and with tomoyo, 6.4 without and with). No variance anywhere:
 * the interval is the difference, p is 0 or 1. KG_EINVALID: fewer than two boots in a cell, not
 * finite. */
struct meta_side {
	const double *log_values;
	size_t n; /* >= 2 */
};
int meta_interaction(const struct meta_side cells[4], double *ret_log, double *ret_lo,
		     double *ret_hi, double *ret_p, struct kg_err *err);

#endif
