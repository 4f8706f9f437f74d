/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Verdicts on simulated boots whose truth is known: kernel-like noise of several kinds. */
#ifndef KG_TESTS_BENCH_DETECT_COVERAGE_H
#define KG_TESTS_BENCH_DETECT_COVERAGE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/* Prints rows of the table; -ENOMEM or another error of the library. `quick`: a tenth. */
int detect_coverage(uint64_t seed, bool quick, FILE *out);

#endif
