/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Lists of warnings. Pure. */
#ifndef KG_PLAN_WARN_H
#define KG_PLAN_WARN_H

#include "common/yaml.h"

/* Adds a text unless the list has it already. 0 or -ENOMEM. */
int plan_warn(struct kg_texts *t, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Adds a copy, alike or not. 0 or -ENOMEM. */
int plan_texts_add(struct kg_texts *t, const char *text);

#endif
