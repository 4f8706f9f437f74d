/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Live progress of a job. Changes mark the job's watchers; at most twice a second each gets one
 * update: counts from the store (so that what is shown is what is on disk), stages and samples from
 * here. The last update of a job that has ended is followed by STREAM_END.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/arena.h"
#include "common/clock.h"
#include "common/str.h"
#include "coordinator/coordinator.h"

#define WATCH_SAMPLES	  200 /* newest ones kept between two updates */
#define WATCH_INTERVAL_MS 500

struct watch {
	struct session *session;
	struct watch *next, **at; /* of the server */
	uint32_t id;
	uint64_t job; /* 0 until the first answer says which is the newest */
	uint64_t after_event;
	bool dirty;
	bool running; /* a query is on its way */
	uint64_t last_ns;
	Kgrid__V1__LiveSample samples[WATCH_SAMPLES];
	struct kg_arena texts; /* of the samples */
	size_t n_samples;
};

static void clear_samples(struct watch *w)
{
	w->n_samples = 0;
	kg_arena_deinit(&w->texts);
	kg_arena_init(&w->texts, 1u << 20);
}

void watch_session_closed(struct session *x)
{
	if (!x->watch)
		return;
	*x->watch->at = x->watch->next;
	if (x->watch->next)
		x->watch->next->at = x->watch->at;
	clear_samples(x->watch);
	kg_arena_deinit(&x->watch->texts);
	free(x->watch);
	x->watch = NULL;
}

struct update {
	struct work w;
	uint64_t job;
	uint64_t after_event;
	Kgrid__V1__WatchUpdate *reply;
};

static void update_run(struct work *w)
{
	struct update *u = (struct update *)w;

	w->rc = query_watch(w->c->query, u->job, &u->after_event, &u->reply, &w->err);
}

/* Seconds until everything of this job on this machine is done, from the pace so far. */
static void fill_time_left(Kgrid__V1__MachineProgress *p, int64_t started)
{
	int64_t spent = kg_realtime_ns() - started;

	if (!p->boots_done || p->boots_total <= p->boots_done || spent <= 0)
		return;
	p->has_seconds_left = 1;
	p->seconds_left = (uint64_t)spent / KG_NSEC_PER_SEC / p->boots_done *
			  (p->boots_total - p->boots_done);
}

/* The label, and what the job varies beside it, as everywhere: "nt+mitigations=off". */
static char *shown_list(const struct sched_visit *v)
{
	struct kg_str s = {0};

	kg_str_addf(&s, "%s%s%s", v->lsm_label, v->variant && v->variant[0] ? "+" : "",
		    v->variant ? v->variant : "");
	return kg_str_take(&s);
}

static void fill_machine(struct coordinator *c, Kgrid__V1__MachineProgress *p,
			 const Kgrid__V1__JobSummary *job)
{
	struct sched_machine *m = sched_machine_find(&c->sched, p->machine);
	bool connected = server_agent(&c->server, p->machine) != NULL;
	uint64_t now = kg_boottime_ns();
	struct sched_boot *b = m ? m->boot : NULL;
	char text[200];
	size_t i;

	free(p->state);
	p->state = strdup(b ? (connected ? "busy" : "away") : connected ? "idle" : "offline");
	if (!b || b->visit->job->id != job->id)
		return;
	p->stage = strdup(sched_stage_name(b->stage));
	p->has_stage_seconds_left = 1;
	p->stage_seconds_left = b->deadline_ns > now ? (b->deadline_ns - now) / KG_NSEC_PER_SEC : 0;
	p->kernel = strdup(b->visit->kernel_label);
	p->lsm = shown_list(b->visit);
	for (i = 0; i < b->n_attempts; i++) {
		if (b->attempts[i].id != b->running_attempt)
			continue;
		(void)snprintf(text, sizeof(text), "%s %s", b->attempts[i].slot->workload,
			       b->attempts[i].slot->params);
		p->cell = strdup(text);
		p->has_iterations = 1;
		p->iterations = b->attempts[i].slot->iterations;
	}
	fill_time_left(p, job->submitted_ns);
}

static void send_update(struct session *x, struct watch *w, Kgrid__V1__WatchUpdate *r)
{
	Kgrid__V1__LiveSample *list[WATCH_SAMPLES];
	Kgrid__V1__LiveSample **old = r->samples;
	size_t i;

	for (i = 0; i < w->n_samples; i++)
		list[i] = &w->samples[i];
	r->samples = list;
	r->n_samples = w->n_samples;
	session_send(x, KG_MSG_WATCH_UPDATE, w->id, &r->base);
	r->samples = old;
	r->n_samples = 0;
	clear_samples(w);
}

static void update_finish(struct work *work)
{
	struct update *u = (struct update *)work;
	struct session *x = work->session;
	struct coordinator *c = work->c;
	struct watch *w = x->watch;
	Kgrid__V1__StreamEnd end = KGRID__V1__STREAM_END__INIT;
	const char *state;
	size_t i;

	if (w)
		w->running = false;
	if (work->rc < 0) {
		session_error(x, work->id, work->rc, work->err.text);
		watch_session_closed(x);
		return;
	}
	if (w && !c->stopping) {
		w->job = u->reply->job->id;
		w->after_event = u->after_event;
		for (i = 0; i < u->reply->n_machines; i++)
			fill_machine(c, u->reply->machines[i], u->reply->job);
		send_update(x, w, u->reply);
		state = u->reply->job->state ? u->reply->job->state : "";
		if (strcmp(state, "done") == 0 || strcmp(state, "cancelled") == 0) {
			session_send(x, KG_MSG_STREAM_END, w->id, &end.base);
			watch_session_closed(x);
		}
	}
	kgrid__v1__watch_update__free_unpacked(u->reply, NULL);
}

static void start_update(struct session *x)
{
	struct watch *w = x->watch;
	struct update *u = calloc(1, sizeof(*u));

	if (!u)
		return; /* stays dirty */
	w->dirty = false;
	w->running = true;
	w->last_ns = kg_boottime_ns();
	u->job = w->job;
	u->after_event = w->after_event;
	u->w.run = update_run;
	u->w.finish = update_finish;
	u->w.session = x;
	u->w.id = w->id;
	session_ref(x);
	x->work++;
	work_start_internal(x->server->c, &u->w);
}

/* Every WATCH_INTERVAL_MS while somebody watches; stage countdowns move once in five seconds. */
static void on_watch_timer(uv_timer_t *t)
{
	struct server *s = t->data;
	uint64_t now = kg_boottime_ns();
	struct watch *w, *next;

	for (w = s->watches; w; w = next) {
		next = w->next;
		if (w->running || kg_link_queued_bytes(&w->session->link) > (1u << 20))
			continue;
		if (w->dirty || now - w->last_ns > 5 * KG_NSEC_PER_SEC)
			start_update(w->session);
	}
	if (!s->watches)
		(void)uv_timer_stop(t);
}

void handle_watch(const struct request *rq)
{
	struct session *x = rq->session;
	struct server *s = x->server;

	if (x->watch) {
		session_error(x, rq->id, KG_EBUSY, "this connection watches a job already");
		return;
	}
	x->watch = calloc(1, sizeof(*x->watch));
	if (!x->watch) {
		session_error(x, rq->id, -ENOMEM, "out of memory");
		return;
	}
	x->watch->session = x;
	x->watch->next = s->watches;
	x->watch->at = &s->watches;
	if (s->watches)
		s->watches->at = &x->watch->next;
	s->watches = x->watch;
	kg_arena_init(&x->watch->texts, 1u << 20);
	x->watch->id = rq->id;
	x->watch->job = REQUEST_BODY(rq, Kgrid__V1__WatchRequest)->job;
	start_update(x);
	if (!uv_is_active((uv_handle_t *)&s->watch_timer))
		(void)uv_timer_start(&s->watch_timer, on_watch_timer, WATCH_INTERVAL_MS,
				     WATCH_INTERVAL_MS);
	s->watch_timer.data = s;
}

void watch_dirty(struct server *s, uint64_t job)
{
	struct watch *w;

	for (w = s->watches; w; w = w->next)
		if (w->job == job || w->job == 0)
			w->dirty = true;
}

static void keep_sample(struct watch *w, const struct watch_sample *in)
{
	Kgrid__V1__LiveSample *s;

	if (w->n_samples == WATCH_SAMPLES)
		return; /* a person cannot read more; the store has all of them */
	s = &w->samples[w->n_samples];
	kgrid__v1__live_sample__init(s);
#define KEEP(field) s->field = kg_arena_text(&w->texts, in->field, strlen(in->field))
	KEEP(machine);
	KEEP(kernel);
	KEEP(lsm);
	KEEP(workload);
	KEEP(params);
	KEEP(metric);
	KEEP(unit);
#undef KEEP
	s->has_value = s->has_iteration = s->has_attempt = 1;
	s->value = in->value;
	s->iteration = in->iteration;
	s->attempt = in->attempt;
	w->n_samples++;
}

void watch_sample(struct server *s, const struct watch_sample *sample)
{
	struct watch *w;

	for (w = s->watches; w; w = w->next) {
		if (w->job != sample->job)
			continue;
		keep_sample(w, sample);
		w->dirty = true;
	}
}
