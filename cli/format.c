/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/format.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "cli/cli.h"
#include "common/clock.h"
#include "common/outcome.h"

const char *format_seconds(uint64_t seconds, char buf[FORMAT_SIZE])
{
	uint64_t minutes = seconds / 60, hours = minutes / 60;

	if (seconds < 60)
		(void)snprintf(buf, FORMAT_SIZE, "%" PRIu64 " s", seconds);
	else if (minutes < 60)
		(void)snprintf(buf, FORMAT_SIZE, "%" PRIu64 " min %02" PRIu64 " s", minutes,
			       seconds % 60);
	else if (hours < 48)
		(void)snprintf(buf, FORMAT_SIZE, "%" PRIu64 " h %02" PRIu64 " min", hours,
			       minutes % 60);
	else
		(void)snprintf(buf, FORMAT_SIZE, "%" PRIu64 " d %02" PRIu64 " h", hours / 24,
			       hours % 24);
	return buf;
}

const char *format_bytes(uint64_t bytes, char buf[FORMAT_SIZE])
{
	static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
	double v = (double)bytes;
	size_t u = 0;

	while (v >= 1024 && u + 1 < sizeof(units) / sizeof(units[0])) {
		v /= 1024;
		u++;
	}
	(void)snprintf(buf, FORMAT_SIZE, "%.*f %s", u ? 1 : 0, v, units[u]);
	return buf;
}

const char *format_time(int64_t realtime_ns, char buf[FORMAT_SIZE])
{
	time_t t = (time_t)(realtime_ns / (int64_t)KG_NSEC_PER_SEC);
	struct tm tm;

	if (realtime_ns == 0 || !localtime_r(&t, &tm))
		(void)snprintf(buf, FORMAT_SIZE, "-");
	else
		(void)strftime(buf, FORMAT_SIZE, "%Y-%m-%d %H:%M:%S", &tm);
	return buf;
}

const char *format_ago(int64_t then_ns, int64_t now_ns, char buf[FORMAT_SIZE])
{
	char span[FORMAT_SIZE];
	int64_t ns = now_ns > then_ns ? now_ns - then_ns : 0;

	if (then_ns == 0)
		return strcpy(buf, "never");
	format_seconds((uint64_t)ns / KG_NSEC_PER_SEC, span);
	(void)snprintf(buf, FORMAT_SIZE, "%.50s ago", span);
	return buf;
}

int format_decimals(double smallest)
{
	double a = fabs(smallest);
	int digits;

	if (a == 0 || !isfinite(a))
		return 2;
	digits = 3 - (int)floor(log10(a));
	if (digits < -1) /* 100000 and more */
		return digits == -2 ? 1 : 0;
	return digits < 2 ? 2 : digits > 9 ? 9 : digits;
}

uint64_t accounting_count(const Kgrid__V1__Accounting *a, const char *outcome)
{
	uint64_t sum = 0;
	size_t i;

	for (i = 0; a && i < a->n_outcomes; i++)
		if (kg_streq(a->outcomes[i]->outcome, outcome))
			sum += a->outcomes[i]->count;
	return sum;
}

static void add_count(struct kg_str *out, bool *first, uint64_t count, const char *name)
{
	kg_str_addf(out, "%s%" PRIu64 " %s", *first ? "" : " + ", count, name);
	*first = false;
}

static uint64_t add_outcomes(size_t n, Kgrid__V1__OutcomeCount *const *counts, bool *first,
			     struct kg_str *out)
{
	uint64_t sum = 0;
	size_t i;
	int o;

	for (o = KG_OUTCOME_PASS; o < KG_OUTCOME_COUNT; o++) {
		const char *name = kg_outcome_name((enum kg_outcome)o);
		uint64_t count = 0;

		for (i = 0; i < n; i++)
			if (kg_streq(counts[i]->outcome, name))
				count += counts[i]->count;
		if (count)
			add_count(out, first, count, name);
		sum += count;
	}
	for (i = 0; i < n; i++) { /* names of a newer coordinator */
		const char *name = cli_text(counts[i]->outcome);

		if (kg_outcome_parse(name) != KG_OUTCOME_NONE || counts[i]->count == 0)
			continue;
		add_count(out, first, counts[i]->count, name);
		sum += counts[i]->count;
	}
	return sum;
}

void format_outcomes(size_t n, Kgrid__V1__OutcomeCount *const *counts, struct kg_str *out)
{
	bool first = true;

	(void)add_outcomes(n, counts, &first, out);
}

void format_accounting(const Kgrid__V1__Accounting *a, struct kg_str *out)
{
	bool first = true;
	uint64_t sum;

	if (!a) {
		kg_str_add(out, "slots: no accounting received");
		return;
	}
	kg_str_addf(out, "slots %" PRIu64 " = ", a->slots);
	sum = add_outcomes(a->n_outcomes, a->outcomes, &first, out);
	if (a->pending)
		add_count(out, &first, a->pending, "pending");
	if (first)
		kg_str_add(out, "0");
	sum += a->pending;
	if (sum != a->slots)
		kg_str_addf(out, " (does not add up: the sum is %" PRIu64 ")", sum);
}

const char *format_job_state(const Kgrid__V1__JobSummary *j)
{
	bool over = kg_streq(j->state, "done") || kg_streq(j->state, "cancelled");

	return j->paused && !over ? "paused" : cli_text(j->state);
}

void format_state_why(const char *state, const char *why, struct kg_str *out)
{
	size_t len = strlen(cli_text(state));

	if (why && why[0] && !(strncmp(why, cli_text(state), len) == 0 && why[len] == ':'))
		kg_str_addf(out, "%s: ", cli_text(state));
	kg_str_add(out, why && why[0] ? why : cli_text(state));
}

void format_column(const char *kernel, const char *lsm, struct kg_str *out)
{
	kg_str_addf(out, "%s/%s", cli_text(kernel), cli_text(lsm));
}
