/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Numbers, times and the accounting line as people read them. Pure; never depends on the locale
 * (the command sets no LC_NUMERIC). */
#ifndef KG_CLI_FORMAT_H
#define KG_CLI_FORMAT_H

#include <stddef.h>
#include <stdint.h>

#include "common/str.h"
#include "proto/messages.h"

#define FORMAT_SIZE 64

/* "58 s", "3 min 20 s", "1 h 05 min", "2 d 04 h" */
const char *format_seconds(uint64_t seconds, char buf[FORMAT_SIZE]);
/* "512 B", "12.3 MiB" */
const char *format_bytes(uint64_t bytes, char buf[FORMAT_SIZE]);
/* "2026-11-30 17:25:03" in local time; "-" for 0. */
const char *format_time(int64_t realtime_ns, char buf[FORMAT_SIZE]);
/* "12 s ago" */
const char *format_ago(int64_t then_ns, int64_t now_ns, char buf[FORMAT_SIZE]);

/* Decimals that show a value of this size with at least four significant digits: 2 for 4521.10,
 * 3 for 4.521, 5 for 0.04521; never more than 9; 1 for 356373.1, 0 from a million on. */
int format_decimals(double smallest);

/* "slots 80 = 71 pass + 2 wrong-lsm + 7 pending": outcomes in DESIGN.md's order, pending last. If
 * they do not add up, the line says so. No newline. */
void format_accounting(const Kgrid__V1__Accounting *a, struct kg_str *out);
uint64_t accounting_count(const Kgrid__V1__Accounting *a, const char *outcome);
/* "3 wrong-lsm + 1 infra" */
void format_outcomes(size_t n, Kgrid__V1__OutcomeCount *const *counts, struct kg_str *out);

/* queued, running, paused, done, cancelled. Borrows or static. */
const char *format_job_state(const Kgrid__V1__JobSummary *j);
/* "queued: waits: 'm1' is busy", "paused: no boot of it begins ...": the reason may say the state itself. */
void format_state_why(const char *state, const char *why, struct kg_str *out);

/* "6.12.117/prev" */
void format_column(const char *kernel, const char *lsm, struct kg_str *out);

#endif
