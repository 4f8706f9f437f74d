/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The agent's connection to its coordinator: made, and made again, for ever.
 *
 *   WAITING -> RESOLVING -> CONNECTING -> HELLO -> UP
 *      ^____________|____________|__________|_______|
 *
 * Happy path: resolve, connect, HELLO both ways, on_up, messages.
 * Failure modes: no address, refused, silence, another version, the link breaks: each ends in
 * WAITING, for a time that doubles up to a cap, with jitter, and begins anew once a connection
 * has held for a while.
 *
 * An instruction clock may race while the machine idles: there a heartbeat is sent, but no silence
 * is judged.
 */
#ifndef KG_AGENT_CONNECT_H
#define KG_AGENT_CONNECT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <uv.h>

#include "common/err.h"
#include "proto/codec.h"

struct connect; /* opaque */

struct connect_ops {
	void (*up)(void *data);
	void (*down)(void *data);
	void (*message)(void *data, const struct kg_msg *m, uint32_t id);
	void (*drained)(void *data); /* the send queue has room again */
};

struct connect_spec {
	const char *address;
	const char *machine;
	const char *state_id;
	const char *host_boot_id;
	bool instruction_clock;
};

/* Texts of the spec are copied. */
int connect_start(uv_loop_t *loop, const struct connect_spec *spec, const struct connect_ops *ops,
		  void *data, struct connect **ret_c, struct kg_err *err);
/* Closes; `closed` is the last callback, after which it is freed. */
void connect_close(struct connect *c, void (*closed)(void *data));
bool connect_is_up(const struct connect *c);
/* Protocol minor of the newest connection; 0 before the first. */
uint32_t connect_minor(const struct connect *c);
/* Not up: nothing happens. */
void connect_send(struct connect *c, uint16_t type, uint32_t id, const ProtobufCMessage *body);
void connect_send_bytes(struct connect *c, uint8_t *bytes, size_t len); /* takes bytes */
size_t connect_queued_bytes(const struct connect *c);
/* Ends the connection at once, without a return to the loop: the kernel is about to be left. */
void connect_farewell(struct connect *c);
void connect_drop(struct connect *c, const char *reason);

/* Milliseconds to wait before try number `tries` (from 1). `random` spreads by a quarter to both
 * sides. PURE. */
uint64_t connect_backoff_ms(unsigned tries, uint32_t random, uint64_t cap_ms);

#endif
