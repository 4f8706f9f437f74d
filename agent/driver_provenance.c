/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Happy path: after the evidence of a verified boot a worker thread reads what describes it; the
 * loop then records the facts and the documents in pieces, and the first run begins. Around each run
 * a few facts are read on the loop itself, which then has nothing else to do.
 * Failure modes: out of memory (the boot goes on without), no room in the spool (what does not fit
 * is left out and logged), a coordinator of 1.1 (nothing is recorded), a fence (nobody listens).
 */
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/driver_internal.h"
#include "agent/env_check.h"
#include "agent/settings.h"
#include "common/clock.h"
#include "common/log.h"
#include "common/outcome.h"

#define MINOR_OF_PROVENANCE 2
#define PIECE_OVERHEAD	    1024

static char *text(const char *s) /* protobuf-c has no const; it only reads */
{
	return (char *)(uintptr_t)s;
}

bool driver_records_provenance(const struct driver *d)
{
	return d->state.minor >= MINOR_OF_PROVENANCE;
}

/* ---- facts as a message ---- */

struct message {
	Kgrid__V1__Provenance body;
	Kgrid__V1__Fact *items;
	size_t bytes; /* at most what it takes in the spool */
};

static bool make_message(struct message *m, const char *phase, const struct fact_list *l)
{
	size_t i;

	kgrid__v1__provenance__init(&m->body);
	m->items = calloc(l->n + 1, sizeof(*m->items));
	m->body.facts = calloc(l->n + 1, sizeof(*m->body.facts));
	if (!m->items || !m->body.facts)
		return false;
	for (i = 0; i < l->n; i++) {
		const struct fact *f = &l->items[i];

		kgrid__v1__fact__init(&m->items[i]);
		m->items[i].name = f->name;
		m->items[i].value = f->value;
		m->items[i].reason = f->value ? NULL : text(f->reason);
		m->body.facts[i] = &m->items[i];
	}
	m->body.n_facts = l->n;
	m->body.phase = text(phase);
	m->bytes = PIECE_OVERHEAD + kgrid__v1__provenance__get_packed_size(&m->body);
	return true;
}

static void free_message(struct message *m)
{
	free(m->items);
	free(m->body.facts);
}

/* ---- the boot ---- */

static void say(struct driver *d, enum agent_record_kind kind, const void *body, bool last)
{
	struct agent_event ev = {.kind = AGENT_EV_PROVENANCE};

	ev.u.record.kind = kind;
	ev.u.record.body = body;
	ev.u.record.last = last;
	driver_event(d, &ev);
}

static void say_document(struct driver *d, const struct document *doc, bool last)
{
	size_t at, part;

	for (at = 0; at < doc->stored_len; at += part) {
		Kgrid__V1__Document m = KGRID__V1__DOCUMENT__INIT;

		part = doc->stored_len - at;
		if (part > DOCUMENT_PIECE_BYTES)
			part = DOCUMENT_PIECE_BYTES;
		m.name = text(doc->name);
		m.digest = text(doc->digest);
		m.has_text_bytes = m.has_stored_bytes = m.has_offset = m.has_data = 1;
		m.text_bytes = doc->text_bytes;
		m.stored_bytes = doc->stored_len;
		m.offset = at;
		m.data.data = doc->stored + at;
		m.data.len = part;
		say(d, AGENT_REC_DOCUMENT, &m, last && at + part == doc->stored_len);
	}
}

static bool has_room(const struct driver *d, size_t bytes)
{
	return d->spool && spool_has_room(d->spool, bytes);
}

static size_t spool_bytes(const struct document *doc)
{
	return doc->stored_len + (doc->stored_len / DOCUMENT_PIECE_BYTES + 1) * PIECE_OVERHEAD;
}

/* Keeps the documents that fit into the spool beside the facts. */
static void drop_what_does_not_fit(struct driver *d, size_t facts_bytes, struct document_list *docs)
{
	size_t i, kept = 0, total = facts_bytes;

	for (i = 0; i < docs->n; i++) {
		struct document *doc = &docs->items[i];

		if (has_room(d, total + spool_bytes(doc))) {
			total += spool_bytes(doc);
			docs->items[kept++] = *doc;
		} else {
			kg_log_warn("document '%s' is left out: no room in the spool", doc->name);
			free(doc->stored);
		}
	}
	docs->n = kept;
}

static void record_boot(struct driver *d)
{
	struct driver_describe *g = &d->describe;
	struct message m = {.items = NULL};
	size_t i;

	if (d->agent.stage != AGENT_RUN) {
		return; /* fenced meanwhile */
	} else if (!make_message(&m, "boot", &g->facts) || !has_room(d, m.bytes)) {
		kg_log_warn("the boot is not described: no room in the spool");
		say(d, AGENT_REC_PROVENANCE, NULL, true);
	} else {
		drop_what_does_not_fit(d, m.bytes, &g->documents);
		kg_log_info("boot %llu: described by %zu facts and %zu documents, read in %llu ms",
			    (unsigned long long)d->agent.boot, g->facts.n, g->documents.n,
			    (unsigned long long)(g->took_ns / KG_NSEC_PER_MSEC));
		say(d, AGENT_REC_PROVENANCE, &m.body, g->documents.n == 0);
		for (i = 0; i < g->documents.n; i++)
			say_document(d, &g->documents.items[i], i + 1 == g->documents.n);
	}
	free_message(&m);
}

static void on_work(uv_work_t *w)
{
	struct driver_describe *g = w->data;

	g->settings_code = settings_apply_all("", g->settings.items, g->settings.n, &g->d->undo,
					      &g->settings_err);
	if (g->settings_code < 0 || !g->wanted)
		return;
	g->took_ns = kg_monotonic_ns();
	g->code = provenance_boot(&g->in, &g->facts, &g->documents);
	g->took_ns = kg_monotonic_ns() - g->took_ns;
}

static void on_work_done(uv_work_t *w, int status)
{
	struct driver_describe *g = w->data;
	struct driver *d = g->d;

	g->busy = false;
	if (status < 0 && g->settings.n > 0)
		driver_done(d, AGENT_EV_SETTINGS_FAILED, "infra", "the settings were not made");
	else if (status == 0 && g->settings_code < 0)
		/* the machine is not as it was asked for: no sample may come of it */
		driver_done(d, AGENT_EV_SETTINGS_FAILED, kg_outcome_name(KG_OUTCOME_INVALID_ENV),
			    g->settings_err.text);
	else if (status == 0 && g->code == 0 && g->wanted)
		record_boot(d);
	else
		say(d, AGENT_REC_PROVENANCE, NULL, true);
	kg_params_deinit(&g->settings);
	fact_list_deinit(&g->facts);
	document_list_deinit(&g->documents);
	(void)malloc_trim(0);
}

static bool wants(const Kgrid__V1__BootOrder *o, const char *document)
{
	size_t i;

	for (i = 0; i < o->n_want_documents; i++)
		if (strcmp(o->want_documents[i], document) == 0)
			return true;
	return false;
}

/* A copy: the order may go while the worker is at it. */
static bool copy_settings(const Kgrid__V1__BootOrder *o, struct kg_params *ret)
{
	size_t i;

	memset(ret, 0, sizeof(*ret));
	ret->items = calloc(o->n_settings + 1, sizeof(*ret->items));
	for (i = 0; ret->items && i < o->n_settings; i++) {
		const Kgrid__V1__Setting *s = o->settings[i];

		ret->items[i].name = strdup(s->name ? s->name : "");
		ret->items[i].value = strdup(s->value ? s->value : "");
		ret->n++;
		if (!ret->items[i].name || !ret->items[i].value)
			return false;
	}
	return ret->items != NULL;
}

void driver_describe(struct driver *d)
{
	struct driver_describe *g = &d->describe;

	if (g->busy && d->order->n_settings > 0) { /* of a boot that was fenced a moment ago */
		driver_done(d, AGENT_EV_SETTINGS_FAILED, "infra", "an earlier boot is still read");
		return;
	}
	if (g->busy || (!driver_records_provenance(d) && d->order->n_settings == 0)) {
		say(d, AGENT_REC_PROVENANCE, NULL, true);
		return;
	}
	if (!copy_settings(d->order, &g->settings)) {
		kg_params_deinit(&g->settings);
		driver_done(d, AGENT_EV_SETTINGS_FAILED, "infra", "out of memory");
		return;
	}
	g->d = d;
	g->wanted = driver_records_provenance(d);
	g->work.data = g;
	g->in = (struct provenance_input){.root = "",
					  .boot_method =
						  d->agent.hops ? d->state.boot_method : "cold",
					  .hops = d->agent.hops,
					  .registry = &d->registry,
					  .want_kallsyms = wants(d->order, "kallsyms")};
	if (uv_queue_work(d->loop, &g->work, on_work, on_work_done) == 0)
		g->busy = true;
	else
		driver_done(d, AGENT_EV_SETTINGS_FAILED, "infra", "no worker thread");
}

/* ---- around a run ---- */

/* Where out of memory, nothing is read: a run is not lost for that. */
static void read_moment(struct driver *d, struct fact_list *l)
{
	const Kgrid__V1__RunOrder *o = d->order->runs[d->agent.run];
	const struct workload_entry *e =
		workload_registry_find(&d->registry, o->workload ? o->workload : "");

	fact_list_deinit(l);
	(void)provenance_moment("", e ? (const char *const *)e->paths.items : NULL, l);
}

static void record_moment(struct driver *d, const char *phase, const struct fact_list *l)
{
	struct message m = {.items = NULL};

	if (driver_records_provenance(d) && l->n && make_message(&m, phase, l))
		driver_run_record(d, AGENT_REC_PROVENANCE, &m.body.base);
	free_message(&m);
}

void driver_before_run(struct driver *d)
{
	if (d->stopping || d->agent.stage != AGENT_RUN || d->agent.run >= d->order->n_runs)
		return;
	read_moment(d, &d->before);
	record_moment(d, "before", &d->before);
}

/* Others may set them, too, such as a daemon that looks after power. */
static bool settings_hold(const struct driver *d, struct kg_err *err)
{
	struct kg_params settings;
	bool hold;

	if (d->order->n_settings == 0)
		return true;
	hold = copy_settings(d->order, &settings) &&
	       settings_check_all("", settings.items, settings.n, " after the run", err) == 0;
	kg_params_deinit(&settings);
	return hold;
}

static void check_settings(const struct driver *d, struct agent_run_end *end, char *reason)
{
	struct kg_err err = {"out of memory"};

	if (strcmp(end->outcome, kg_outcome_name(KG_OUTCOME_PASS)) != 0 || settings_hold(d, &err))
		return;
	end->outcome = kg_outcome_name(KG_OUTCOME_INVALID_ENV);
	(void)snprintf(reason, AGENT_REASON_SIZE, "%.250s", err.text);
	end->reason = reason;
}

void driver_after_run(struct driver *d, struct agent_run_end *end, char *reason)
{
	struct fact_list after = {.items = NULL};

	if (!d->stopping && d->agent.stage == AGENT_RUN)
		check_settings(d, end, reason);
	if (d->before.n && !d->stopping && d->agent.stage == AGENT_RUN &&
	    d->agent.run < d->order->n_runs) {
		read_moment(d, &after);
		record_moment(d, "after", &after);
		if (strcmp(end->outcome, kg_outcome_name(KG_OUTCOME_PASS)) == 0 &&
		    !env_check(&d->before, &after, reason, AGENT_REASON_SIZE)) {
			kg_log_notice("run %u: %s", d->agent.run + 1, reason);
			if (d->config->env_check == AGENT_ENV_STRICT) {
				end->outcome = kg_outcome_name(KG_OUTCOME_INVALID_ENV);
				end->reason = reason;
			}
		}
	}
	fact_list_deinit(&after);
	fact_list_deinit(&d->before);
}
