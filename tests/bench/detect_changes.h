/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Change points against known truth: injected steps on real noise, annotated series, Otava's own
 * answers, and fresh draws from a seed. */
#ifndef KG_TESTS_BENCH_DETECT_CHANGES_H
#define KG_TESTS_BENCH_DETECT_CHANGES_H

#include <stdint.h>
#include <stdio.h>

/* Prints rows of the table; files that are absent are said so. An error of the library, or
 * -ENOMEM. */
int detect_changes(const char *thirdparty_dir, uint64_t seed, FILE *out);

#endif
