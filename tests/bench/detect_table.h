/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The one table of the bench: what | reference | kgrid | goal | reached. */
#ifndef KG_TESTS_BENCH_DETECT_TABLE_H
#define KG_TESTS_BENCH_DETECT_TABLE_H

#include <stdio.h>

enum detect_reached { DETECT_NO_GOAL, DETECT_REACHED, DETECT_MISSED };

void detect_row(FILE *out, const char *what, const char *reference, const char *value,
		const char *goal, enum detect_reached reached);
/* printf into one of a few static buffers, valid for the next seven calls. */
const char *detect_text(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
