/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the kernel complained about: lines of /dev/kmsg of level warning and worse. */
#ifndef KG_AGENT_KMSG_H
#define KG_AGENT_KMSG_H

#include <stddef.h>

#include "common/str.h"

#define KMSG_LEVEL_MAX 4 /* KERN_WARNING */

/* Appends all such lines of the kernel's buffer to `out`, "[seconds.micros] text", up to `max`
 * bytes; returns the number of bytes that did not fit. Nothing where it cannot be read. */
size_t kmsg_read(size_t max, struct kg_str *out);
/* One record "PRIORITY,SEQ,MICROS,FLAGS;TEXT\n CONTEXT=..." (Documentation/ABI/testing/dev-kmsg) as
 * such a line. False when its level is above the limit, it is from user space, or it is no record.
 * PURE. */
bool kmsg_line(const char *record, struct kg_str *out);

#endif
