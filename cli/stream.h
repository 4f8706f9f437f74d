/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Answers that come in parts, worked on as they arrive. */
#ifndef KG_CLI_STREAM_H
#define KG_CLI_STREAM_H

#include "cli/cli.h"

/* One part: to standard output, or into `ctx`. */
typedef void cli_part_fn(struct cli *cli, const ProtobufCMessage *m, void *ctx);

/* Sends a request and calls `part` for each answer of type `want` up to StreamEnd: the exit code;
 * what went wrong was said. */
int cli_stream(struct cli *cli, uint16_t type, const ProtobufCMessage *body, uint16_t want,
	       cli_part_fn *part, void *ctx);

/* As cli_ask, but the answer may be of either type; kg_msg_type tells. */
struct kg_msg *cli_ask_either(struct cli *cli, uint16_t type, const ProtobufCMessage *body,
			      uint16_t want, uint16_t or_want, int timeout_ms, int *ret_exit);

#endif
