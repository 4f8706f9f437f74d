/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What was recorded of a boot, for people. Pure. */
#ifndef KG_CLI_PROVENANCE_TEXT_H
#define KG_CLI_PROVENANCE_TEXT_H

#include <stdbool.h>
#include <stddef.h>

#include "common/str.h"
#include "proto/messages.h"

/* Facts of each phase; of a later phase only those that changed, unless `all`. Then documents. */
void provenance_text(const Kgrid__V1__ProvenanceReply *r, bool all, size_t width, bool color,
		     struct kg_str *out);
/* phase,name,value,reason; one line per fact. */
void provenance_csv(const Kgrid__V1__ProvenanceReply *r, struct kg_str *out);

#endif
