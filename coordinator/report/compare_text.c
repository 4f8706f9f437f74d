/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Parts of replies, and notes. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/str.h"
#include "coordinator/report/compare_internal.h"

#define EXCLUSION_NOTES_MAX 20

/* ---- parts of replies ---- */

int set_text(char **field, const char *text)
{
	if (!text)
		return 0;
	*field = strdup(text);
	return *field ? 0 : -ENOMEM;
}

void *message_new(const ProtobufCMessageDescriptor *d)
{
	ProtobufCMessage *m = malloc(d->sizeof_message);

	if (m)
		protobuf_c_message_init(d, m);
	return m;
}

int push(void *items, size_t *n, void *item, const ProtobufCMessageDescriptor *d)
{
	void **array, **grown;

	if (!item)
		return -ENOMEM;
	memcpy(&array, items, sizeof(array));
	grown = realloc(array, (*n + 1) * sizeof(*grown));
	if (!grown) {
		if (d)
			protobuf_c_message_free_unpacked(item, NULL);
		else
			free(item);
		return -ENOMEM;
	}
	memcpy(items, &grown, sizeof(grown));
	memcpy(&grown[(*n)++], &item, sizeof(item));
	return 0;
}

/* ---- notes ---- */

static int note(Kgrid__V1__CompareReply *reply, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

static int note(Kgrid__V1__CompareReply *reply, const char *fmt, ...)
{
	char *text = NULL;
	va_list ap;
	int rc;

	va_start(ap, fmt);
	rc = vasprintf(&text, fmt, ap);
	va_end(ap);
	return rc < 0 ? -ENOMEM : push(&reply->notes, &reply->n_notes, text, NULL);
}

static int note_clocks(const struct layout *l, Kgrid__V1__CompareReply *reply)
{
	const char *last = "";
	int rc = 0;

	for (size_t g = 0; rc == 0 && g < l->n_groups; g++) {
		const struct report_cell *c = &l->in->cells[l->order[l->groups[g].first]];

		if (kg_streq(c->clock, "instruction") && strcmp(c->machine, last) != 0)
			rc = note(reply,
				  "machine '%s' runs on an instruction clock: numbers count "
				  "instructions, they are not times of a real CPU",
				  c->machine);
		last = c->machine;
	}
	return rc;
}

static int note_exclusions(const struct layout *l, Kgrid__V1__CompareReply *reply)
{
	const struct report_input *in = l->in;
	uint64_t left = 0;
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < in->n_exclusions; i++) {
		const struct report_exclusion *e = &in->exclusions[i];
		bool reason = e->reason && e->reason[0];

		if (i < EXCLUSION_NOTES_MAX)
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

int add_notes(const struct layout *l, Kgrid__V1__CompareReply *reply)
{
	const struct report_input *in = l->in;
	uint64_t pending = 0;
	int rc = note_clocks(l, reply);

	for (size_t i = 0; i < in->n_cells; i++)
		pending += in->cells[i].slots[KG_OUTCOME_NONE];
	if (rc == 0 && in->grouped)
		rc = note(reply, "boot order is grouped: drift over time is not kept apart from "
				 "the differences shown");
	if (rc == 0)
		rc = note_exclusions(l, reply);
	if (rc == 0 && pending)
		rc = note(reply, "%llu %s pending: the numbers are not final",
			  (unsigned long long)pending, pending == 1 ? "slot is" : "slots are");
	if (rc == 0 && has_single_boot(reply))
		rc = note(reply,
			  "a value of a single boot has no interval: two boots are the least");
	if (rc == 0 && in->n_values == 0)
		rc = note(reply, "no slot has passed%s", pending ? " yet" : "");
	return rc;
}
