/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Points in time as people give them. Pure, but for the time zone of the process. */
#ifndef KG_CLI_WHEN_H
#define KG_CLI_WHEN_H

#include <stdint.h>

#include "common/err.h"

/*
 * "2026-11-30", "2026-11-30T12:00" or "2026-11-30 12:00:30" in local time, with a trailing Z in
 * UTC; or how long ago, "2d", "12h", "30m", "90s" (a plain number needs its unit here). Nanoseconds
 * of CLOCK_REALTIME. KG_EINVALID: neither, or no day of the calendar.
 */
int when_parse(const char *text, int64_t now_ns, int64_t *ret_ns, struct kg_err *err);

#endif
