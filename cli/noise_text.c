/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/noise_text.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/format.h"
#include "cli/table.h"
#include "cli/width.h"

/* "1.2 %", or "-" for what the boots are too few to say */
static void percent_cell(struct table *t, bool has, double v)
{
	if (has && isfinite(v))
		table_cellf(t, "%.2f %%", v);
	else
		table_cell(t, "-");
}

/* Whether A/A splits alarm more than twice as often as alpha allows is the coordinator's to say. */
static void least_effect_cell(struct table *t, const Kgrid__V1__NoiseProfile *p)
{
	char text[64];

	if (!p->has_min_effect_pct || !isfinite(p->min_effect_pct)) {
		table_cell(t, "-");
		return;
	}
	(void)snprintf(text, sizeof(text), "%.2f %%%s", p->min_effect_pct,
		       p->raised ? " raised" : "");
	table_styled(t, p->raised ? TABLE_BAD : TABLE_PLAIN, text);
}

static void detectable_cell(struct table *t, const Kgrid__V1__NoiseProfile *p)
{
	struct kg_str s = {0};
	size_t i;

	for (i = 0; i < p->n_detectable_pct; i++) {
		if (isfinite(p->detectable_pct[i]))
			kg_str_addf(&s, "%s%.2f", i ? " / " : "", p->detectable_pct[i]);
		else
			kg_str_addf(&s, "%s-", i ? " / " : "");
	}
	if (s.len)
		kg_str_add(&s, " %");
	table_cell(t, s.len ? kg_str_text(&s) : "-");
	kg_str_deinit(&s);
}

static void drift_cell(struct table *t, const Kgrid__V1__NoiseProfile *p)
{
	bool clear = p->has_drift_lo && p->has_drift_hi && (p->drift_lo > 0 || p->drift_hi < 0);
	char text[128];

	if (!p->has_drift_pct_per_boot || !isfinite(p->drift_pct_per_boot)) {
		table_cell(t, "-");
		return;
	}
	if (p->has_drift_lo && p->has_drift_hi && isfinite(p->drift_lo) && isfinite(p->drift_hi))
		(void)snprintf(text, sizeof(text), "%+.3f %% [%.3f, %.3f]", p->drift_pct_per_boot,
			       p->drift_lo, p->drift_hi);
	else
		(void)snprintf(text, sizeof(text), "%+.3f %%", p->drift_pct_per_boot);
	table_styled(t, clear ? TABLE_BAD : TABLE_PLAIN, text);
}

/* Which columns a table has: all, or in two tables where they do not fit. */
enum part { PART_NOISE = 1, PART_LIMITS = 2, PART_ALL = 3 };

static void profile_row(struct table *t, const Kgrid__V1__NoiseProfile *p, enum part part)
{
	table_cellf(t, "%s%s%s", cli_text(p->workload), p->params && p->params[0] ? " " : "",
		    cli_text(p->params));
	table_cell(t, p->metric);
	if (part & PART_NOISE) {
		table_cellf(t, "%" PRIu32, p->boots);
		if (p->has_median && isfinite(p->median))
			table_cellf(t, "%.*f%s%s", format_decimals(p->median), p->median,
				    p->unit && p->unit[0] ? " " : "", cli_text(p->unit));
		else
			table_cell(t, "-");
		percent_cell(t, p->has_between_cov_pct, p->between_cov_pct);
		percent_cell(t, p->has_within_cov_pct, p->within_cov_pct);
		if (p->has_autocorrelation && isfinite(p->autocorrelation))
			table_cellf(t, "%+.2f", p->autocorrelation);
		else
			table_cell(t, "-");
		percent_cell(t, p->has_false_positive_rate, 100 * p->false_positive_rate);
	}
	if (part & PART_LIMITS) {
		least_effect_cell(t, p);
		detectable_cell(t, p);
		drift_cell(t, p);
	}
}

static void machine_heading(const Kgrid__V1__NoiseReply *r, size_t first, struct kg_str *out)
{
	const Kgrid__V1__NoiseProfile *p = r->profiles[first];
	int64_t from = p->first_ns, to = p->last_ns;
	char a[FORMAT_SIZE], b[FORMAT_SIZE];
	size_t i;

	for (i = first; i < r->n_profiles; i++) {
		const Kgrid__V1__NoiseProfile *q = r->profiles[i];

		if (!kg_streq(q->machine, p->machine))
			continue;
		if (q->first_ns && (from == 0 || q->first_ns < from))
			from = q->first_ns;
		to = q->last_ns > to ? q->last_ns : to;
	}
	text_clean(out, cli_text(p->machine), strlen(cli_text(p->machine)), false);
	if (p->epoch)
		kg_str_addf(out, ", epoch %" PRIu32, p->epoch);
	kg_str_addf(out, ": %s to %s", format_time(from, a), format_time(to, b));
	if (p->every_seconds)
		kg_str_addf(out, ", repeated every %s", format_seconds(p->every_seconds, a));
	kg_str_add(out, "\n");
}

static struct table *machine_table(const Kgrid__V1__NoiseReply *r, size_t first, enum part part)
{
	static const char *const noise[] = {"BOOTS",  "MEDIAN",	  "BETWEEN",
					    "WITHIN", "AUTOCORR", "ALARMS"};
	static const char *const limits[] = {"LEAST", "DETECTABLE", "DRIFT/BOOT [95 %]"};
	struct table *t = table_new(part == PART_ALL	 ? "llrrrrrrrrl"
				    : part == PART_NOISE ? "llrrrrrr"
							 : "llrrl");
	size_t i;

	table_title(t, "WORKLOAD");
	table_title(t, "METRIC");
	for (i = 0; i < sizeof(noise) / sizeof(noise[0]) && part & PART_NOISE; i++)
		table_title(t, noise[i]);
	for (i = 0; i < sizeof(limits) / sizeof(limits[0]) && part & PART_LIMITS; i++)
		table_title(t, limits[i]);
	for (i = first; i < r->n_profiles; i++)
		if (kg_streq(r->profiles[i]->machine, r->profiles[first]->machine))
			profile_row(t, r->profiles[i], part);
	return t;
}

static void machine_text(const Kgrid__V1__NoiseReply *r, size_t first, size_t width, bool color,
			 struct kg_str *out)
{
	struct table *t = machine_table(r, first, PART_ALL);

	machine_heading(r, first, out);
	if (table_width(t) + 2 > width) {
		table_free(t);
		t = machine_table(r, first, PART_NOISE);
		table_render(t, 2, width, color, out);
		table_free(t);
		t = machine_table(r, first, PART_LIMITS);
	}
	table_render(t, 2, width, color, out);
	table_free(t);
}

static bool is_first(const Kgrid__V1__NoiseReply *r, size_t at)
{
	size_t i;

	for (i = 0; i < at; i++)
		if (kg_streq(r->profiles[i]->machine, r->profiles[at]->machine))
			return false;
	return true;
}

void noise_text(const Kgrid__V1__NoiseReply *r, size_t width, bool color, struct kg_str *out)
{
	size_t i;

	for (i = 0; i < r->n_profiles; i++) {
		if (!is_first(r, i))
			continue;
		machine_text(r, i, width, color, out);
		kg_str_add(out, "\n");
	}
	if (r->n_profiles > 0)
		text_wrap(
			out,
			"between, within: coefficient of variation of boots and of the iterations "
			"in one; autocorr: of a boot's value with the next one's; alarms: share of "
			"A/A splits that give a verdict of change; least: the smallest change that "
			"matters, raised where alarms are too many; detectable: change found in 8 "
			"of 10 cases with 5 / 8 / 12 boots a side; drift: change of the value from "
			"one boot to the next",
			0, 2, width);
	for (i = 0; i < r->n_notes; i++) {
		struct kg_str s = {0};

		text_clean(&s, r->notes[i], strlen(r->notes[i]), false);
		kg_str_add(out, "note: ");
		text_wrap(out, kg_str_text(&s), 6, 6, width);
		kg_str_deinit(&s);
	}
}
