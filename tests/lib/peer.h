/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A blocking end of a connection to the coordinator, agent or client, that a test drives by hand.
 * Every wait has a limit; a limit that passes fails the test. */
#ifndef KG_TESTS_PEER_H
#define KG_TESTS_PEER_H

#include <stdbool.h>
#include <stdint.h>

#include "proto/codec.h"
#include "proto/messages.h"

struct peer; /* opaque */

/* `address`: "127.0.0.1:PORT" or a socket path. Fails the test when it cannot connect. */
struct peer *peer_connect(const char *address);
void peer_close(struct peer *p);

void peer_send(struct peer *p, uint16_t type, uint32_t id, const ProtobufCMessage *body);
void peer_send_raw(struct peer *p, const void *bytes, size_t len);
/* Next message, owned (kg_msg_free); NULL when the coordinator closed the connection. */
struct kg_msg *peer_next(struct peer *p);
/* Next message of that type; others are dropped on the way. Fails the test when the connection ends
 * first. */
struct kg_msg *peer_expect(struct peer *p, uint16_t type);
/* Nothing comes within `ms`. */
bool peer_quiet(struct peer *p, int ms);

/* HELLO both ways. */
void peer_hello_client(struct peer *p);
/* Without waiting for an answer: the coordinator may be about to die. */
void peer_say_hello_agent(struct peer *p, const char *machine, const char *state_id);
void peer_hello_agent(struct peer *p, const char *machine, const char *state_id);
struct peer_workload {
	const char *name, *declaration;
};
struct peer_machine {
	const char *vendor;  /* NULL: GenuineIntel */
	const char *address; /* NULL: it tells none */
	const char *thp;     /* values of the one setting that it offers; NULL: it offers none */
	bool settings_known; /* whether it says what it offers */
	const struct peer_workload *workloads; /* at most 4, then one without a name */
};
/* FACTS of a small machine. */
void peer_agent_facts(struct peer *p, const struct peer_machine *m);
/* AGENT_STATE; boot 0: it holds none. */
void peer_agent_state(struct peer *p, uint64_t boot, uint64_t lease_epoch, const char *stage);
/* FACTS of an Intel machine with one workload "fake", and AGENT_STATE. */
void peer_agent_ready(struct peer *p, uint64_t boot, uint64_t lease_epoch);

/* Sends a request and waits for its answer of type `want`; an ERROR fails the test. */
struct kg_msg *peer_call(struct peer *p, uint16_t type, const ProtobufCMessage *body,
			 uint16_t want);
/* Same, and the answer has to be an ERROR: returns its code, copies the text. */
int peer_call_error(struct peer *p, uint16_t type, const ProtobufCMessage *body, char *ret_text,
		    size_t size);

#define PEER_BODY(m, Type) ((const Type *)kg_msg_body(m))

#endif
