/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Lists of LSMs with their reasons, for people and as messages. Pure. */
#ifndef KG_CLI_LSM_TEXT_H
#define KG_CLI_LSM_TEXT_H

#include <stdbool.h>

#include "common/str.h"
#include "coordinator/plan/lsm.h"
#include "proto/messages.h"

/* The same list as a message, so that there is one form of it. Texts of `l` and `release` (NULL:
 * not known) are borrowed: they must outlive it. lsm_reply_release. */
void lsm_reply_of(const char *release, const struct lsm_list *l, Kgrid__V1__LsmResolveReply *ret);
void lsm_reply_release(Kgrid__V1__LsmResolveReply *r);

/* `title`: what the list is of, "6.12.117, predicted". */
void lsm_render(const Kgrid__V1__LsmResolveReply *r, const char *title, size_t width, bool color,
		struct kg_str *out);

#endif
