/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Two boots that belong together: the client's runs need the server's helper.
 *
 * Nothing of what the agents say to each other is stored. Each side says its part again whenever it
 * connects, and is answered from what is known then: so a restart of any of the three is survived.
 *
 *   server: PeerServing(port) -> client wants it: PEER_READY; its run is over already: PEER_DONE
 *   client: PeerWanted        -> server listens: PEER_READY
 *   client's attempt ends     -> PEER_DONE
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "coordinator/schedule/sched_internal.h"

void sched_pair_link(struct sched_boot *a, struct sched_boot *b)
{
	size_t i, k;

	a->pair = b;
	b->pair = a;
	a->pair_id = b->id;
	b->pair_id = a->id;
	for (i = 0; i < a->n_attempts; i++) {
		/* both have the same slots in the same order, unless they come from the store */
		for (k = 0; k < b->n_attempts; k++) {
			size_t at = (i + k) % b->n_attempts;

			if (b->attempts[at].slot != a->attempts[i].slot)
				continue;
			a->attempts[i].peer_attempt = b->attempts[at].id;
			b->attempts[at].peer_attempt = a->attempts[i].id;
			break;
		}
	}
}

bool sched_all_ended(const struct sched_boot *b)
{
	size_t i;

	for (i = 0; i < b->n_attempts; i++)
		if (b->attempts[i].outcome == KG_OUTCOME_NONE)
			return false;
	return true;
}

static void tell_ready(struct sched *s, const struct sched_boot *client, uint64_t attempt,
		       uint32_t port)
{
	sched_emit(s, &(struct sched_action){.kind = SCHED_ACT_PEER_READY,
					     .machine = client->machine,
					     .job = client->visit->job,
					     .boot = client->pair->pair,
					     .boot_id = client->id,
					     .lease_epoch = client->lease_epoch,
					     .attempt = attempt,
					     .port = port,
					     .peer = client->pair->machine});
}

static void tell_done(struct sched *s, struct sched_boot *server, uint64_t attempt)
{
	sched_emit(s, &(struct sched_action){.kind = SCHED_ACT_PEER_DONE,
					     .machine = server->machine,
					     .job = server->visit->job,
					     .boot = server,
					     .boot_id = server->id,
					     .lease_epoch = server->lease_epoch,
					     .attempt = attempt});
}

/* The attempt that the agent of one side speaks of; NULL: not one of an open boot of this role. */
static struct sched_attempt *attempt_of(struct sched *s, uint64_t boot, uint64_t attempt,
					enum sched_role role, struct sched_boot **ret_b)
{
	struct sched_machine *m;
	struct sched_boot *b = sched_boot_find(s, boot, &m);

	if (!b || b->role != role)
		return NULL;
	*ret_b = b;
	return sched_boot_attempt(b, attempt);
}

void sched_peer_serving(struct sched *s, uint64_t boot, uint64_t attempt, uint32_t port,
			uint64_t now_ns)
{
	struct sched_boot *b;
	struct sched_attempt *a = attempt_of(s, boot, attempt, SCHED_ROLE_SERVER, &b);
	struct sched_attempt *client;

	if (!a || port == 0 || port > 65535)
		return;
	a->port = port;
	client = b->pair ? sched_boot_attempt(b->pair, a->peer_attempt) : NULL;
	if (!client || client->outcome != KG_OUTCOME_NONE)
		tell_done(s, b, a->id);
	else if (client->wanted)
		tell_ready(s, b->pair, client->id, port);
	sched_settle_down(s, now_ns);
}

void sched_peer_wanted(struct sched *s, uint64_t boot, uint64_t attempt, uint64_t now_ns)
{
	struct sched_boot *b;
	struct sched_attempt *a = attempt_of(s, boot, attempt, SCHED_ROLE_CLIENT, &b);
	struct sched_attempt *server;

	if (!a || a->outcome != KG_OUTCOME_NONE)
		return;
	a->wanted = true;
	server = b->pair ? sched_boot_attempt(b->pair, a->peer_attempt) : NULL;
	if (server && server->port != 0 && server->outcome == KG_OUTCOME_NONE)
		tell_ready(s, b, a->id, server->port);
	sched_settle_down(s, now_ns);
}

/* ---- ends ---- */

static void peer_reason(char *text, size_t size, const struct sched_boot *b,
			const struct sched_ending *e)
{
	bool any = e->reason && e->reason[0];

	(void)snprintf(text, size, "the %s '%s' ended: %s%s%s",
		       b->role == SCHED_ROLE_SERVER ? "server" : "client", b->machine->name,
		       kg_outcome_name(e->outcome), any ? ": " : "", any ? e->reason : "");
}

/* One side has failed: the other has nothing to do any more, and its agent is told so. */
static void fail_both(struct sched *s, struct sched_boot *b, struct sched_boot *other,
		      const struct sched_ending *e, uint64_t now_ns)
{
	struct sched_machine *m = b->machine, *om = other->machine;
	struct sched_ending theirs = *e;
	char text[SCHED_REASON_BYTES];

	peer_reason(text, sizeof(text), b, e);
	theirs.reason = text;
	if (theirs.outcome == KG_OUTCOME_PASS) { /* not without the runs that are left */
		theirs.outcome =
			b->role == SCHED_ROLE_SERVER ? KG_OUTCOME_INFRA : KG_OUTCOME_HARNESS_ERROR;
		theirs.reason = b->role == SCHED_ROLE_SERVER
					? "the server's boot ended before the run was over"
					: "the client's boot ended without all of its runs";
	}
	sched_close_boot(s, m, e, now_ns);
	sched_fence(s, om, theirs.reason);
	sched_close_boot(s, om, &theirs, now_ns);
}

void sched_pair_end(struct sched *s, struct sched_boot *b, const struct sched_ending *e,
		    uint64_t now_ns)
{
	struct sched_boot *other = b->pair;
	struct sched_boot *client = b->role == SCHED_ROLE_CLIENT ? b : other;
	bool good = sched_all_ended(client) && (b != client || e->outcome == KG_OUTCOME_PASS);
	size_t i;

	b->pair = other->pair = NULL;
	if (!good) {
		fail_both(s, b, other, e, now_ns);
		return;
	}
	for (i = 0; b == client && i < other->n_attempts; i++)
		if (other->attempts[i].outcome == KG_OUTCOME_NONE)
			tell_done(s, other, other->attempts[i].id);
	other->ends_ns = now_ns; /* nothing but its upload is left */
	sched_close_boot(s, b->machine, e, now_ns);
}

/* A helper that failed while the run goes on: what the client says of its run decides, and only if
 * that is not a pass the server is to blame. */
static void blame_server(struct sched_attempt *client, const struct sched_attempt *server)
{
	if (client->outcome == KG_OUTCOME_PASS || server->outcome == KG_OUTCOME_NONE ||
	    server->outcome == KG_OUTCOME_PASS)
		return;
	client->outcome = server->outcome;
	sched_set_text(&client->reason, server->reason);
}

void sched_pair_attempt_ended(struct sched *s, struct sched_boot *b, struct sched_attempt *a,
			      uint64_t now_ns)
{
	struct sched_boot *other = b->pair;
	struct sched_attempt *peer = other ? sched_boot_attempt(other, a->peer_attempt) : NULL;
	struct sched_ending e;
	char text[SCHED_REASON_BYTES];

	if (!peer)
		return;
	if (b->role == SCHED_ROLE_CLIENT) {
		blame_server(a, peer);
		if (peer->outcome == KG_OUTCOME_NONE)
			tell_done(s, other, peer->id);
		return;
	}
	if (a->outcome == KG_OUTCOME_PASS || peer->outcome != KG_OUTCOME_NONE || peer->started)
		return;
	/* The client would wait in vain. Only this run is to blame. */
	(void)snprintf(text, sizeof(text), "the server's part failed: %s",
		       a->reason ? a->reason : kg_outcome_name(a->outcome));
	peer->outcome = a->outcome;
	sched_set_text(&peer->reason, text);
	sched_settle_slot(s, other->machine, other->visit->job, peer);
	e = (struct sched_ending){.outcome = a->outcome, .reason = text, .keep_tries = true};
	sched_fence(s, b->machine, text);
	b->pair = other->pair = NULL;
	fail_both(s, b, other, &e, now_ns);
}

/* ---- start ---- */

/* Of a pair only one side was stored, or only one is left. A server whose client is through ends by
 * itself; anything else has no sense, and costs no try. */
static void resume_lone(struct sched *s, struct sched_machine *m, uint64_t now_ns)
{
	struct sched_boot *b = m->boot;
	struct sched_ending e = {.outcome = KG_OUTCOME_INFRA, .keep_tries = true};
	bool through = true;
	size_t i;

	for (i = 0; i < b->n_attempts; i++)
		if (b->role == SCHED_ROLE_SERVER ? b->attempts[i].slot->outcome == KG_OUTCOME_NONE
						 : b->attempts[i].outcome == KG_OUTCOME_NONE)
			through = false;
	if (through)
		return;
	e.reason = "the other side of the pair has no boot after a restart";
	sched_fence(s, m, e.reason);
	sched_end_boot(s, m, &e, now_ns);
}

void sched_pair_resume(struct sched *s, uint64_t now_ns)
{
	struct sched_machine *m;

	for (m = s->machines; m; m = m->next)
		if (m->boot && m->boot->role != SCHED_ROLE_NONE && !m->boot->pair)
			resume_lone(s, m, now_ns);
}
