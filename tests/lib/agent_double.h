/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A stand-in for the coordinator, driven line by line by a test, and a real agent process that
 * talks to it. Every wait has a limit; when it passes, the test fails.
 */
#ifndef KG_TESTS_AGENT_DOUBLE_H
#define KG_TESTS_AGENT_DOUBLE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "proto/codec.h"
#include "proto/frame.h"
#include "proto/messages.h"

struct double_ {
	char dir[64]; /* everything of the test is below */
	char workloads[96];
	char state[96];
	char config[96];
	int listener, fd;
	uint16_t port;
	struct kg_frame_decoder decoder;
	uint8_t buf[65536];
	const uint8_t *next;
	size_t left;
	pid_t agent;
	bool own_names;	   /* the agent has a host name of its own, /proc/sys/kernel/hostname */
	uint64_t last_seq; /* of the records that came, in order and without repetition */
};

void double_init(struct double_ *d);
void double_deinit(struct double_ *d); /* ends the agent too */

/* A declaration NAME.yaml around a shell command that prints V=number. */
void double_workload(struct double_ *d, const char *name, const char *command);
/* The same with further lines of YAML, "helper: [...]\npair: true\n". */
void double_workload_more(struct double_ *d, const char *name, const char *command,
			  const char *more);

struct double_run {
	const char *workload; /* NULL ends a list */
	const char *role;     /* NULL: none */
};

struct double_order {
	struct double_run runs[8];
	unsigned repeat; /* so often all of them; 0: once */
	uint32_t iterations;
	const char *settings[8]; /* name, value, name, ...; NULL ends them */
};

/* A state directory as an agent leaves it that dies in stage run of boot 7, epoch 3, before anything
 * was recorded. Attempts are 100, 101, ... */
void double_prepare_order(struct double_ *d, const struct double_order *order);
/* The same with nothing but workloads, ended by NULL. */
void double_prepare_run(struct double_ *d, const char *const *runs, uint32_t iterations);
/* Takes a line of the agent's configuration out ("address:"); before its start. */
void double_without(struct double_ *d, const char *key);
/* Adds lines to it. */
void double_add_config(const struct double_ *d, const char *lines);

/* Whether this host lets an agent have `own_names`; prints why not. */
bool double_can_own_names(void);
void double_start_agent(struct double_ *d);
void double_kill_agent(struct double_ *d, int sig); /* and waits for its end */

void double_accept(struct double_ *d); /* and HELLO both ways */
void double_accept_raw(struct double_ *d);
void double_drop(struct double_ *d);
void double_send(struct double_ *d, uint16_t type, uint32_t id, const ProtobufCMessage *body);
struct kg_msg *double_next(struct double_ *d); /* owned; NULL: the agent closed */
/* The next message of that type; PING is answered, others on the way are dropped. */
struct kg_msg *double_expect(struct double_ *d, uint16_t type);
/* FACTS and AGENT_STATE; returns the state, owned. */
struct kg_msg *double_expect_state(struct double_ *d);
/* The next record that was not seen before; its number must follow. Owned. */
struct kg_msg *double_record(struct double_ *d);
void double_ack(struct double_ *d, uint64_t seq);
/* Receives and acknowledges records until BootEnded; returns that. */
struct kg_msg *double_finish(struct double_ *d);

/* A number from /proc/PID/FILE of the agent, behind `key`. */
uint64_t double_proc_number(const struct double_ *d, const char *file, const char *key);
double double_cpu_seconds(const struct double_ *d); /* user and system */

#define BODY(m, Type) ((const Type *)kg_msg_body(m))
#define RECORD(m)     BODY(m, Kgrid__V1__Record)

#endif
