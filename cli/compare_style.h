/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A comparison of the grid in the forms of other tools (style.h). Pure. */
#ifndef KG_CLI_COMPARE_STYLE_H
#define KG_CLI_COMPARE_STYLE_H

#include "common/err.h"
#include "common/str.h"
#include "proto/messages.h"

/* One table per machine, workload and metric. A cell's values are its boots' medians, so `r` must
 * have been asked for with values. KG_EINVALID: no such style. */
int compare_style(const Kgrid__V1__CompareReply *r, const char *style, struct kg_str *out,
		  struct kg_err *err);

#endif
