/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Telling people: mail through sendmail(1), or a command of the configuration. A notice is stored
 * before it is sent, so that a restart sends what was not; it may be sent twice, never not at all.
 */
#ifndef KG_FLEET_NOTIFY_H
#define KG_FLEET_NOTIFY_H

#include <stdint.h>

#include "coordinator/store/types.h"

struct coordinator;

/* `target` is mail:ADDRESS or command:NAME; the first line of the text is the subject. */
void notify_send(struct coordinator *c, uint64_t regression, const char *target, const char *text);
/* The coordinator ends: what is not over is ended, and sent by the next run. */
void notify_stop(struct coordinator *c);
/* Sends what an earlier run has left pending. */
void notify_resume(struct coordinator *c, const struct store_notices *pending);

#endif
