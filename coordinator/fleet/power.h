/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef KG_FLEET_POWER_H
#define KG_FLEET_POWER_H

#include <stdint.h>

struct driver;

/* Runs the configured power-cycle command for a machine; the result becomes an event. */
void power_cycle(struct driver *d, const char *machine, uint64_t job, uint64_t boot);
/* The coordinator ends, and waits for no command. */
void power_stop(struct driver *d);

#endif
