/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a comparison says besides its tables. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/str.h"
#include "coordinator/report/compare_internal.h"

#define EXCLUSION_NOTES_MAX 20
#define STOP_NOTES_MAX	    6
#define RAISED_NOTES_MAX    5

#define note(reply, ...) add_text(&(reply)->notes, &(reply)->n_notes, __VA_ARGS__)

#define MACHINES_NAMED 6

static int note_clocks(const struct layout *l, Kgrid__V1__CompareReply *reply)
{
	struct kg_str names = {0};
	const char *last = "";
	size_t n = 0;
	int rc = 0;

	for (size_t g = 0; g < l->n_groups; g++) {
		const struct report_cell *c = &l->in->cells[l->order[l->groups[g].first]];

		if (kg_streq(c->clock, "instruction") && strcmp(c->machine, last) != 0 &&
		    n++ < MACHINES_NAMED)
			kg_str_addf(&names, "%s'%s'", n > 1 ? ", " : "", c->machine);
		last = c->machine;
	}
	if (n > MACHINES_NAMED)
		kg_str_addf(&names, " and %zu more", n - MACHINES_NAMED);
	if (names.failed)
		rc = -ENOMEM;
	else if (n)
		rc = note(reply,
			  "machine%s %s run%s on an instruction clock: numbers count instructions, "
			  "they are not times of a real CPU",
			  plural(n), kg_str_text(&names), n == 1 ? "s" : "");
	kg_str_deinit(&names);
	return rc;
}

static int note_stops(const struct report_input *in, Kgrid__V1__CompareReply *reply)
{
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < in->n_stops && i < STOP_NOTES_MAX; i++) {
		struct kg_str s = {0};

		report_stop_text(&in->stops[i], &s);
		rc = s.failed ? -ENOMEM : note(reply, "%s", kg_str_text(&s));
		kg_str_deinit(&s);
	}
	if (rc == 0 && in->n_stops > STOP_NOTES_MAX)
		rc = note(reply, "%zu more times slots were ended before they ran: 'kgrid why JOB'",
			  in->n_stops - STOP_NOTES_MAX);
	return rc;
}

/* A stop has a note of its own, and says more. */
static bool is_stop(const struct report_input *in, const struct report_exclusion *e)
{
	for (size_t i = 0; i < in->n_stops && i < STOP_NOTES_MAX; i++) {
		const struct report_stop *x = &in->stops[i];

		if (kg_streq(x->outcome, e->outcome) &&
		    strcmp(x->reason, e->reason ? e->reason : "") == 0 &&
		    (!x->machine || kg_streq(x->machine, e->machine)))
			return true;
	}
	return false;
}

static int note_exclusions(const struct layout *l, Kgrid__V1__CompareReply *reply)
{
	const struct report_input *in = l->in;
	uint64_t left = 0;
	size_t n = 0;
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < in->n_exclusions; i++) {
		const struct report_exclusion *e = &in->exclusions[i];
		bool reason = e->reason && e->reason[0];

		if (is_stop(in, e))
			continue;
		if (n++ < EXCLUSION_NOTES_MAX)
			rc = note(reply, "excluded: %llu %s on '%s': %s%s%s",
				  (unsigned long long)e->slots, e->slots == 1 ? "slot" : "slots",
				  e->machine, e->outcome, reason ? ": " : "",
				  reason ? e->reason : "");
		else
			left += e->slots;
	}
	if (rc == 0 && left)
		rc = note(reply, "excluded: %llu more slots, for other reasons",
			  (unsigned long long)left);
	return rc;
}

static bool has_single_boot(const Kgrid__V1__CompareReply *reply)
{
	for (size_t t = 0; t < reply->n_tables; t++) {
		const Kgrid__V1__CompareTable *table = reply->tables[t];

		for (size_t r = 0; r < table->n_rows; r++) {
			for (size_t c = 0; c < table->rows[r]->n_cells; c++) {
				if (table->rows[r]->cells[c]->boots == 1)
					return true;
			}
		}
	}
	return false;
}

/* ANALYSIS.md, principle 8: below 8 boots a result that was stopped early leans to what it looked like
 * when it was stopped. */
static int note_stopped(const struct report_input *in, Kgrid__V1__CompareReply *reply)
{
	uint32_t least = UINT32_MAX;

	for (size_t t = 0; t < reply->n_tables; t++) {
		const Kgrid__V1__CompareTable *table = reply->tables[t];

		for (size_t r = 0; r < table->n_rows; r++) {
			for (size_t c = 0; c < table->rows[r]->n_cells; c++) {
				uint32_t boots = table->rows[r]->cells[c]->boots;

				if (boots && boots < least)
					least = boots;
			}
		}
	}
	if (!in->stopped_early || least >= VERDICT_GATE_BOOTS)
		return 0;
	return note(
		reply,
		"stopped early, with %u boot%s a side in places: below %d boots false alarms are "
		"more frequent than they look",
		least, plural(least), VERDICT_GATE_BOOTS);
}

static int note_raised(const struct report_input *in, Kgrid__V1__CompareReply *reply)
{
	size_t n = 0;
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < in->n_min_effects && !in->has_min_effect; i++) {
		const struct report_min_effect *e = &in->min_effects[i];

		if (e->raised && n++ < RAISED_NOTES_MAX)
			rc = note(reply,
				  "A/A runs on '%s' differ too often: the smallest effect that "
				  "counts "
				  "is %.2g %% for %s %s%s%s",
				  e->machine, e->pct, e->workload, e->metric,
				  e->params[0] ? ", " : "", e->params);
	}
	if (rc == 0 && n > RAISED_NOTES_MAX)
		rc = note(reply, "A/A runs differ too often for %zu more metrics",
			  n - RAISED_NOTES_MAX);
	return rc;
}

static uint64_t count_pending(const struct report_input *in)
{
	uint64_t pending = 0;

	for (size_t i = 0; i < in->n_cells; i++)
		pending += in->cells[i].slots[KG_OUTCOME_NONE];
	return pending;
}

/* Why there is nothing to read, or nothing that was compared. */
static int note_empty(const struct layout *l, Kgrid__V1__CompareReply *reply)
{
	const struct report_input *in = l->in;
	uint64_t pending = count_pending(in);

	if (in->n_cells == 0)
		return note(reply,
			    "nothing was planned that fits the selection: no slot has passed");
	if (in->n_values == 0)
		return note(reply, "no slot has passed%s", pending ? " yet" : "");
	if (reply->n_tables == 0 && in->metric)
		return note(reply, "no value of metric '%s' in what was selected", in->metric);
	if (l->n_columns == 1)
		return note(reply, "%s/%s is the only column: there is nothing to compare it with",
			    l->columns[0].shown, l->columns[0].lsm);
	return 0;
}

int add_notes(const struct layout *l, Kgrid__V1__CompareReply *reply)
{
	const struct report_input *in = l->in;
	uint64_t pending = count_pending(in);
	int rc = note_clocks(l, reply);

	if (rc == 0 && in->grouped)
		rc = note(reply, "boot order is grouped: drift over time is not kept apart from "
				 "the differences shown");
	if (rc == 0)
		rc = note_stops(in, reply);
	if (rc == 0)
		rc = note_exclusions(l, reply);
	if (rc == 0 && l->n_not_finite)
		rc = note(reply, "excluded: %zu value%s that %s no finite number", l->n_not_finite,
			  plural(l->n_not_finite), l->n_not_finite == 1 ? "is" : "are");
	if (rc == 0 && pending)
		rc = note(reply, "%llu %s pending: the numbers are not final",
			  (unsigned long long)pending, pending == 1 ? "slot is" : "slots are");
	if (rc == 0 && has_single_boot(reply))
		rc = note(reply, "a value of a single boot has no interval");
	if (rc == 0)
		rc = note_stopped(in, reply);
	if (rc == 0)
		rc = note_raised(in, reply);
	return rc == 0 ? note_empty(l, reply) : rc;
}

/* ---- accounting ---- */

static int add_outcome(Kgrid__V1__Accounting *a, enum kg_outcome outcome, uint64_t count)
{
	Kgrid__V1__OutcomeCount *o = message_new(&kgrid__v1__outcome_count__descriptor);
	int rc = push(&a->outcomes, &a->n_outcomes, o, &kgrid__v1__outcome_count__descriptor);

	if (rc < 0)
		return rc;
	o->has_count = 1;
	o->count = count;
	return set_text(&o->outcome, kg_outcome_name(outcome));
}

Kgrid__V1__Accounting *cells_accounting(const struct report_input *in)
{
	Kgrid__V1__Accounting *a = message_new(&kgrid__v1__accounting__descriptor);
	uint64_t counts[KG_OUTCOME_COUNT] = {0}, slots = 0;
	int rc = 0;

	if (!a)
		return NULL;
	for (size_t i = 0; i < in->n_cells; i++) {
		for (int o = 0; o < KG_OUTCOME_COUNT; o++) {
			counts[o] += in->cells[i].slots[o];
			slots += in->cells[i].slots[o];
		}
	}
	a->has_slots = a->has_pending = 1;
	a->slots = slots;
	a->pending = counts[KG_OUTCOME_NONE];
	for (int o = KG_OUTCOME_PASS; rc == 0 && o < KG_OUTCOME_COUNT; o++) {
		if (counts[o])
			rc = add_outcome(a, (enum kg_outcome)o, counts[o]);
	}
	if (rc == 0)
		return a;
	kgrid__v1__accounting__free_unpacked(a, NULL);
	return NULL;
}
