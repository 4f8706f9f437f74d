/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Verdicts on real repeated runs of one commit on many days (goperf_aa_runs.csv, arm base). */
#ifndef KG_TESTS_BENCH_DETECT_PAIRS_H
#define KG_TESTS_BENCH_DETECT_PAIRS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/* Prints rows of the table, or that the data are absent; an error of the library, or -EIO. */
int detect_pairs(const char *thirdparty_dir, uint64_t seed, bool quick, FILE *out);

#endif
