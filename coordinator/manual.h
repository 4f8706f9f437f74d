/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef KG_COORDINATOR_MANUAL_H
#define KG_COORDINATOR_MANUAL_H

#include "common/str.h"

/* Source of a man page: "kgrid-coordinator.8" or "kgrid-job.5". KG_ENOTFOUND for another. */
int coordinator_manual(const char *page, struct kg_str *out);

#endif
