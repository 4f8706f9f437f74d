/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/stream.h"

#include <errno.h>

#include "cli/client.h"

int cli_stream(struct cli *cli, uint16_t type, const ProtobufCMessage *body, uint16_t want,
	       cli_part_fn *part, void *ctx)
{
	struct kg_err err = {{0}};
	struct client *c;
	uint32_t id = 0;
	int rc = 0;

	c = cli_connect(cli, &rc);
	if (!c)
		return rc;
	rc = client_send(c, type, body, &id, &err);
	while (rc >= 0) {
		struct kg_msg *m = NULL;

		rc = client_next(c, id, CLIENT_ANSWER_MS, &m, &err);
		if (rc == 0)
			break;
		if (rc > 0 && kg_msg_type(m) == want)
			part(cli, kg_msg_body(m), ctx);
		else if (rc > 0)
			rc = kg_err_set(&err, KG_EPROTO,
					"the coordinator sent no part of a stream");
		kg_msg_free(m);
		if (ferror(cli->out)) /* a closed pipe: said at the end */
			break;
	}
	if (rc < 0)
		rc = cli_fail(cli, c, rc, &err);
	else
		rc = CLI_EXIT_OK;
	client_close(c);
	return rc;
}

struct kg_msg *cli_ask_either(struct cli *cli, uint16_t type, const ProtobufCMessage *body,
			      uint16_t want, uint16_t or_want, int timeout_ms, int *ret_exit)
{
	struct client *c = cli_connect(cli, ret_exit);
	struct kg_err err = {{0}};
	struct kg_msg *m = NULL;
	uint32_t id = 0;
	int rc;

	if (!c)
		return NULL;
	rc = client_send(c, type, body, &id, &err);
	while (rc >= 0 && !m) {
		rc = client_next(c, id, timeout_ms, &m, &err);
		if (rc == -EINTR)
			rc = 0;
		else if (rc == 0)
			rc = kg_err_set(&err, KG_EPROTO, "the coordinator sent no answer");
	}
	if (m && kg_msg_type(m) != want && kg_msg_type(m) != or_want) {
		rc = kg_err_set(&err, KG_EPROTO, "the coordinator sent another kind of answer");
		kg_msg_free(m);
		m = NULL;
	}
	if (rc < 0)
		*ret_exit = cli_fail(cli, c, rc, &err);
	client_close(c);
	return m;
}
