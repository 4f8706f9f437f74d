/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How many columns UTF-8 text takes on a terminal, and text made safe to show there. Pure; needs
 * no locale. */
#ifndef KG_CLI_WIDTH_H
#define KG_CLI_WIDTH_H

#include <stddef.h>
#include <stdint.h>

#include "common/str.h"

/* Columns of one line: combining marks 0, East Asian wide and emoji 2 (Unicode 15
 * EastAsianWidth.txt, the wide ranges joined), an invalid byte 1. */
size_t text_width(const char *s);

/* Appends `s` so that it cannot steer a terminal: control characters (C0, DEL, C1) and bidi
 * overrides become '?', invalid UTF-8 becomes U+FFFD. Newline and tab are kept when `lines`. */
void text_clean(struct kg_str *out, const char *s, size_t len, bool lines);

/* Length in bytes of the longest prefix of `s` that fits in `columns`. */
size_t text_fit(const char *s, size_t columns);

#endif
