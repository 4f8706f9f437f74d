/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "common/clock.h"

#include <time.h>

static int64_t now_ns(clockid_t id)
{
	struct timespec ts;

	if (clock_gettime(id, &ts) < 0)
		return 0;
	return (int64_t)ts.tv_sec * (int64_t)KG_NSEC_PER_SEC + ts.tv_nsec;
}

uint64_t kg_boottime_ns(void)
{
	return (uint64_t)now_ns(CLOCK_BOOTTIME);
}

uint64_t kg_monotonic_ns(void)
{
	return (uint64_t)now_ns(CLOCK_MONOTONIC);
}

int64_t kg_realtime_ns(void)
{
	return now_ns(CLOCK_REALTIME);
}
