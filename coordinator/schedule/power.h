/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the driver's files share: orders and the power command. */
#ifndef KG_SCHEDULE_POWER_H
#define KG_SCHEDULE_POWER_H

#include <stdint.h>

struct driver;
struct session;
struct sched_boot;
struct inv_kernel;

/* 32 hex digits of the kernel's randomness. */
void driver_nonce(void *arg, char ret_hex[33]);
int driver_send_order(struct session *x, const struct sched_boot *b, const struct inv_kernel *k);

/* Runs the configured power-cycle command for a machine; the result becomes an event. */
void power_cycle(struct driver *d, const char *machine, uint64_t job, uint64_t boot);

#endif
