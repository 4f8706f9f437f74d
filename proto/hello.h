/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Version window: protocol 1, minors. This program speaks the current one and all before it. */
#ifndef KG_PROTO_HELLO_H
#define KG_PROTO_HELLO_H

#include "common/err.h"
#include "proto/messages.h"

#define KG_PROTO_MINOR	      3 /* newest minor spoken */
#define KG_PROTO_MINOR_OLDEST 1 /* oldest accepted */

/* Checks a peer's HELLO; on success the minor both speak. KG_EVERSION names both windows,
 * KG_EPROTO a HELLO without role, version or (agent) machine. Pure. */
int kg_hello_check(const Kgrid__V1__Hello *peer, uint32_t *ret_minor, struct kg_err *err);

#endif
