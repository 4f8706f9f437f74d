/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Between the driver's files only. */
#ifndef KG_SCHEDULE_DRIVER_INTERNAL_H
#define KG_SCHEDULE_DRIVER_INTERNAL_H

struct session;
struct sched_boot;
struct inv_kernel;

/* 32 hex digits of the kernel's randomness. */
void driver_nonce(void *arg, char ret_hex[33]);
/* Sends a boot to its agent. -ENOMEM. */
int driver_send_order(struct session *x, const struct sched_boot *b, const struct inv_kernel *k);

#endif
