/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What A/A runs say of machines, for people. Pure. */
#ifndef KG_CLI_NOISE_TEXT_H
#define KG_CLI_NOISE_TEXT_H

#include <stdbool.h>
#include <stddef.h>

#include "common/str.h"
#include "proto/messages.h"

/* One table per machine, legend, notes. */
void noise_text(const Kgrid__V1__NoiseReply *r, size_t width, bool color, struct kg_str *out);

#endif
