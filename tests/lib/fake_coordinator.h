/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A coordinator in a thread, for tests of the command: listens on a Unix socket in a folder of its
 * own, serves one connection after another, and answers as the test says.
 */
#ifndef KG_TESTS_FAKE_COORDINATOR_H
#define KG_TESTS_FAKE_COORDINATOR_H

#include <stddef.h>
#include <stdint.h>

#include "proto/codec.h"
#include "proto/messages.h"

struct fake;

/* Called in the thread for each message after HELLO. Returns 0 to go on, -1 to close. */
typedef int fake_fn(struct fake *f, uint16_t type, uint32_t id, const ProtobufCMessage *body,
		    void *ctx);
/* Called in the thread for each connection, before anything was said. */
typedef void fake_raw_fn(struct fake *f, int fd, void *ctx);

/* Owned, fake_stop. */
struct fake *fake_start(fake_fn *fn, void *ctx);
struct fake *fake_start_raw(fake_raw_fn *fn, void *ctx);
void fake_stop(struct fake *f); /* ends the thread, removes the socket */
const char *fake_address(const struct fake *f);
unsigned fake_connections(const struct fake *f); /* after fake_stop only the thread knows more */

/* For use in the callbacks. */
void fake_send(struct fake *f, uint16_t type, uint32_t id, const ProtobufCMessage *body);
void fake_send_raw(struct fake *f, const void *bytes, size_t len);
void fake_error(struct fake *f, uint32_t id, int code, const char *text, const char *detail);
void fake_end(struct fake *f, uint32_t id); /* StreamEnd */

#endif
