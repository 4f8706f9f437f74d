/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The state file: what the agent must know after a kexec, a power cycle or its own death. Text
 * lines "key value" between a version line and the SHA-256 of all lines before; replaced as a
 * whole.
 */
#ifndef KG_AGENT_STATE_H
#define KG_AGENT_STATE_H

#include <stddef.h>
#include <stdint.h>

#include "agent/agent.h"
#include "common/err.h"

#define STATE_METHOD_SIZE 24

struct agent_state {
	struct agent_saved saved; /* without has_records, last_seq, mark, acked_seq */
	char previous_host_boot_id[AGENT_HOST_BOOT_ID_SIZE]; /* before the hop */
	char boot_method[STATE_METHOD_SIZE];		     /* of the hop that is or was made */
	uint32_t minor; /* protocol spoken when the order came; 0: not known */
	uint8_t *order; /* owned: the encoded BootOrder; NULL when idle */
	size_t order_len;
};

void agent_state_deinit(struct agent_state *s);

/* -ENOENT when there is none yet; KG_ECORRUPT, KG_EVERSION. */
int agent_state_load(const char *path, struct agent_state *ret_s, struct kg_err *err);
int agent_state_save(const char *path, const struct agent_state *s, struct kg_err *err);

#endif
