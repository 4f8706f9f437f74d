/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/watch_view.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/format.h"
#include "cli/table.h"
#include "cli/width.h"

#define BAR_COLUMNS 20
#define NAME_SIZE   64

struct seen_machine {
	char name[NAME_SIZE];
	char state[NAME_SIZE];
	char stage[NAME_SIZE];
	char column[2 * NAME_SIZE]; /* kernel/lsm */
	char *cell;		    /* owned */
	uint32_t iteration, iterations, boots_done, boots_total;
	uint64_t samples;
	bool knows_left;
	uint64_t seconds_left;
};

struct watch_view {
	struct seen_machine *machines; /* owned */
	size_t n;
	bool has_job;
	uint64_t job;
	char state[NAME_SIZE];
	char *name; /* owned */
	char *why;  /* owned */
	struct kg_str accounting;
	struct watch_counts counts;
	uint32_t blocks_done;
};

struct watch_view *watch_view_new(void)
{
	return cli_alloc(1, sizeof(struct watch_view));
}

void watch_view_free(struct watch_view *v)
{
	size_t i;

	if (!v)
		return;
	for (i = 0; i < v->n; i++)
		free(v->machines[i].cell);
	free(v->machines);
	free(v->name);
	free(v->why);
	kg_str_deinit(&v->accounting);
	free(v);
}

/* Text of the coordinator, made safe, owned. */
static char *safe(const char *text)
{
	struct kg_str s = {0};
	char *r;

	text_clean(&s, cli_text(text), strlen(cli_text(text)), false);
	r = kg_str_take(&s);
	return r ? r : cli_strdup("");
}

static void set_text(char *buf, size_t size, const char *text)
{
	char *s = safe(text);

	(void)snprintf(buf, size, "%s", s);
	free(s);
}

static struct seen_machine *machine_of(struct watch_view *v, const char *name)
{
	struct seen_machine *m;
	char safe_name[NAME_SIZE];
	size_t i;

	set_text(safe_name, sizeof(safe_name), name);
	for (i = 0; i < v->n; i++)
		if (strcmp(v->machines[i].name, safe_name) == 0)
			return &v->machines[i];
	v->machines = cli_grow(v->machines, v->n + 1, sizeof(*v->machines));
	m = &v->machines[v->n++];
	memset(m, 0, sizeof(*m));
	memcpy(m->name, safe_name, sizeof(m->name));
	return m;
}

static void take_job(struct watch_view *v, const Kgrid__V1__JobSummary *j)
{
	v->has_job = true;
	v->job = j->id;
	set_text(v->state, sizeof(v->state), format_job_state(j));
	free(v->name);
	free(v->why);
	v->name = safe(j->name);
	v->why = safe(j->why);
	if (!j->accounting)
		return;
	kg_str_clear(&v->accounting);
	format_accounting(j->accounting, &v->accounting);
	v->counts.slots = j->accounting->slots;
	/* what the stop rule or the budget left out is as it was asked for */
	v->counts.feasible = v->counts.slots - accounting_count(j->accounting, "infeasible") -
			     accounting_count(j->accounting, "skipped");
	v->counts.passed = accounting_count(j->accounting, "pass");
}

static void take_machine(struct watch_view *v, const Kgrid__V1__MachineProgress *p,
			 struct kg_str *lines)
{
	struct seen_machine *m = machine_of(v, cli_text(p->machine));
	struct kg_str column = {0};
	char left[FORMAT_SIZE];

	set_text(m->state, sizeof(m->state), p->state);
	set_text(m->stage, sizeof(m->stage), p->stage);
	m->column[0] = '\0';
	if (p->kernel && p->kernel[0]) {
		format_column(p->kernel, p->lsm, &column);
		set_text(m->column, sizeof(m->column), kg_str_text(&column));
		kg_str_deinit(&column);
	}
	free(m->cell);
	m->cell = safe(p->cell);
	m->iteration = p->iteration;
	m->iterations = p->iterations;
	m->samples = p->samples;
	m->knows_left = p->has_seconds_left;
	m->seconds_left = p->seconds_left;
	m->boots_total = p->boots_total;
	if (p->boots_done > m->boots_done) {
		kg_str_addf(lines, "%s: boot %" PRIu32 " of %" PRIu32 " done", m->name,
			    p->boots_done, p->boots_total);
		if (p->has_seconds_left && p->boots_done < p->boots_total)
			kg_str_addf(lines, ", about %s left",
				    format_seconds(p->seconds_left, left));
		kg_str_add(lines, "\n");
	}
	m->boots_done = p->boots_done;
}

static void add_sample(const Kgrid__V1__LiveSample *s, struct kg_str *lines)
{
	struct kg_str line = {0};

	kg_str_addf(&line, "%s: ", cli_text(s->machine));
	format_column(s->kernel, s->lsm, &line);
	kg_str_addf(&line, " %s %s", cli_text(s->workload), cli_text(s->params));
	if (s->has_iteration)
		kg_str_addf(&line, " #%" PRIu32, s->iteration);
	kg_str_addf(&line, ": %s %.*f %s", cli_text(s->metric), format_decimals(s->value), s->value,
		    cli_text(s->unit));
	text_clean(lines, kg_str_text(&line), line.len, false);
	kg_str_add(lines, "\n");
	kg_str_deinit(&line);
}

void watch_view_update(struct watch_view *v, const Kgrid__V1__WatchUpdate *u, struct kg_str *lines)
{
	size_t i;

	if (u->job)
		take_job(v, u->job);
	for (i = 0; i < u->n_samples; i++)
		add_sample(u->samples[i], lines);
	for (i = 0; i < u->n_events; i++) {
		text_clean(lines, u->events[i], strlen(u->events[i]), false);
		kg_str_add(lines, "\n");
	}
	for (i = 0; i < u->n_machines; i++)
		take_machine(v, u->machines[i], lines);
	if (u->blocks_done > v->blocks_done) {
		v->blocks_done = u->blocks_done;
		kg_str_addf(lines, "block %" PRIu32 " is done on every machine; %s\n",
			    u->blocks_done, kg_str_text(&v->accounting));
	}
}

static void add_bar(struct kg_str *out, uint32_t done, uint32_t total, bool unicode)
{
	uint32_t full = total ? (uint32_t)((uint64_t)done * BAR_COLUMNS / total) : 0, i;

	kg_str_add(out, unicode ? "" : "[");
	for (i = 0; i < BAR_COLUMNS; i++)
		kg_str_add(out, i < full ? (unicode ? "\xe2\x96\x88" : "#")
					 : (unicode ? "\xe2\x96\x91" : "."));
	kg_str_add(out, unicode ? "" : "]");
}

/* A line cut to the width: a status must not wrap. */
static void add_cut(struct kg_str *out, const char *line, size_t width)
{
	kg_str_addn(out, line, text_fit(line, width));
	kg_str_add(out, "\n");
}

static void machine_line(const struct watch_view *v, const struct seen_machine *m, bool unicode,
			 struct kg_str *line)
{
	char left[FORMAT_SIZE];
	size_t name = 0, i;

	for (i = 0; i < v->n; i++)
		if (strlen(v->machines[i].name) > name)
			name = strlen(v->machines[i].name);
	kg_str_addf(line, "%-*s ", (int)name, m->name);
	add_bar(line, m->boots_done, m->boots_total, unicode);
	kg_str_addf(line, " %" PRIu32 "/%" PRIu32 " boots", m->boots_done, m->boots_total);
	kg_str_addf(line, ", %" PRIu64 " samples", m->samples);
	if (m->knows_left && m->boots_done < m->boots_total)
		kg_str_addf(line, ", %s left", format_seconds(m->seconds_left, left));
	kg_str_addf(line, "  %s", m->stage[0] ? m->stage : m->state);
	if (m->iterations)
		kg_str_addf(line, " %" PRIu32 "/%" PRIu32, m->iteration, m->iterations);
	if (m->column[0])
		kg_str_addf(line, "  %s", m->column);
	if (m->cell[0]) /* the longest comes last: it may be cut */
		kg_str_addf(line, "  %s", m->cell);
}

size_t watch_view_status(const struct watch_view *v, size_t width, bool color, bool unicode,
			 struct kg_str *out)
{
	struct kg_str line = {0};
	size_t i;

	kg_str_add(out, color ? table_style_on(TABLE_DIM) : "");
	kg_str_addf(&line, "job %" PRIu64 " %s: ", v->job, cli_text(v->name));
	format_state_why(v->state, v->why, &line);
	add_cut(out, kg_str_text(&line), width);
	kg_str_add(out, color ? TABLE_STYLE_OFF : "");
	for (i = 0; i < v->n; i++) {
		kg_str_clear(&line);
		machine_line(v, &v->machines[i], unicode, &line);
		add_cut(out, kg_str_text(&line), width);
	}
	add_cut(out, kg_str_text(&v->accounting), width);
	kg_str_deinit(&line);
	return v->n + 2;
}

uint64_t watch_view_job(const struct watch_view *v)
{
	return v->has_job ? v->job : 0;
}

const char *watch_view_state(const struct watch_view *v)
{
	return v->state;
}

void watch_view_accounting(const struct watch_view *v, struct kg_str *out)
{
	kg_str_add(out, kg_str_text(&v->accounting));
}

struct watch_counts watch_view_counts(const struct watch_view *v)
{
	return v->counts;
}
