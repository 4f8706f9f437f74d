/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The clock seam: I/O code reads time here, pure code gets it in its events. */
#ifndef KG_COMMON_CLOCK_H
#define KG_COMMON_CLOCK_H

#include <stdint.h>

#define KG_NSEC_PER_SEC	 1000000000ULL
#define KG_NSEC_PER_MSEC 1000000ULL

uint64_t kg_boottime_ns(void);	/* CLOCK_BOOTTIME: deadlines; goes on during suspend */
uint64_t kg_monotonic_ns(void); /* CLOCK_MONOTONIC: sample times */
int64_t kg_realtime_ns(void);	/* CLOCK_REALTIME: for people and after a reboot of the host */

#endif
