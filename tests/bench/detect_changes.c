/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tests/bench/detect_changes.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tests/bench/detect_score.h"
#include "tests/bench/detect_table.h"

#define POINTS_MAX 8192

FILE *detect_open(const char *dir, const char *name, FILE *out)
{
	char path[4096];
	FILE *f;

	(void)snprintf(path, sizeof(path), "%s/%s", dir, name);
	f = fopen(path, "r");
	if (!f)
		detect_row(out, detect_text("change points: %s is absent", name), "", "", "",
			   DETECT_NO_GOAL);
	return f;
}

size_t detect_numbers(const char *text, double *ret, size_t max)
{
	size_t n = 0;

	while (n < max) {
		char *end;
		double v = strtod(text, &end);

		if (end == text)
			break;
		ret[n++] = v;
		text = end;
	}
	return n;
}

int score_add(struct score *s, enum score_set set, const double *x, size_t n, const struct truth *t,
	      const struct changepoint_options *o)
{
	struct changepoint *c = NULL;
	bool used[TRUE_MAX * 8] = {false};
	size_t found, i, k;
	struct kg_err err;
	int rc = changepoint_find(x, n, o, &c, &found, &err);

	if (rc < 0)
		return rc;
	s->series[set]++;
	s->alarms[set] += (double)found;
	s->truths += (double)t->n;
	for (i = 0; i < t->n; i++) {
		size_t best = SIZE_MAX;
		size_t near = SCORE_MARGIN + 1;

		for (k = 0; k < found && k < sizeof(used); k++) {
			size_t d = c[k].index > t->at[i] ? c[k].index - t->at[i]
							 : t->at[i] - c[k].index;

			if (!used[k] && d < near) {
				near = d;
				best = k;
			}
		}
		if (best == SIZE_MAX)
			continue;
		used[best] = true;
		s->hits++;
		s->inside += c[best].lo <= t->at[i] && t->at[i] <= c[best].hi;
	}
	free(c);
	return 0;
}

double score_precision(const struct score *s)
{
	return s->alarms[SCORE_STEP] > 0 ? s->hits / s->alarms[SCORE_STEP] : 1;
}

double score_recall(const struct score *s)
{
	return s->truths > 0 ? s->hits / s->truths : 1;
}

double score_f1(const struct score *s)
{
	double all = s->truths + s->alarms[SCORE_STEP];

	return all > 0 ? 2 * s->hits / all : 1;
}

double score_alarms(const struct score *s, enum score_set set)
{
	return s->series[set] > 0 ? s->alarms[set] / s->series[set] : 0;
}

void score_inject(struct stats_rng *r, double *x, size_t n, double size, struct truth *ret)
{
	uint32_t places = (uint32_t)n - 28;
	size_t i, k;

	ret->n = 0;
	for (i = 0; i < 3 && (i == 0 || stats_rng_uniform(r) < 0.5); i++) {
		size_t at = 13 + stats_rng_index(r, places);
		double factor = stats_rng_uniform(r) < 0.5 ? size : 1 / size;

		for (k = 0; k < ret->n; k++)
			if (at + 10 > ret->at[k] && ret->at[k] + 10 > at)
				break;
		if (k < ret->n)
			continue;
		ret->at[ret->n++] = at;
		for (k = at; k < n; k++)
			x[k] *= factor;
	}
}

void score_spike(struct stats_rng *r, double *x, size_t n)
{
	int i;

	for (i = 0; i < 3; i++)
		x[3 + stats_rng_index(r, (uint32_t)n - 6)] *= 1.2;
}

static struct truth parse_truth(const char *text)
{
	double v[TRUE_MAX];
	struct truth t = {.n = detect_numbers(text, v, TRUE_MAX)};
	size_t i;

	for (i = 0; i < t.n; i++)
		t.at[i] = (size_t)v[i];
	return t;
}

/* set,bench,change points,values; a bench's name may be quoted and have commas. */
static int injected_line(struct score *s, char *line, const struct changepoint_options *o)
{
	static double x[POINTS_MAX];
	enum score_set set = strncmp(line, "null", 4) == 0    ? SCORE_NULL
			     : strncmp(line, "spike", 5) == 0 ? SCORE_SPIKE
							      : SCORE_STEP;
	char *values = strrchr(line, ',');
	char *truth;
	struct truth t;
	size_t n;

	if (!values)
		return 0;
	*values++ = '\0';
	truth = strrchr(line, ',');
	if (!truth)
		return 0;
	t = parse_truth(truth + 1);
	n = detect_numbers(values, x, POINTS_MAX);
	return n > 0 ? score_add(s, set, x, n, &t, o) : 0;
}

static int injected(const char *dir, const struct changepoint_options *o, struct score *s,
		    bool *ret_there, FILE *out)
{
	FILE *f = detect_open(dir, "goperf_injected_steps.csv", out);
	char *line = NULL;
	size_t cap = 0;
	int rc = 0;

	*ret_there = f != NULL;
	if (!f)
		return 0;
	while (rc == 0 && getline(&line, &cap, f) > 0)
		rc = injected_line(s, line, o);
	free(line);
	fclose(f);
	return rc;
}

static void goal_row(FILE *out, const char *what, const char *reference, double value, double goal,
		     bool at_least)
{
	bool reached = at_least ? value >= goal : value <= goal;

	detect_row(out, what, reference, detect_text("%.3f", value),
		   detect_text("%s %.2f", at_least ? ">=" : "<=", goal),
		   reached ? DETECT_REACHED : DETECT_MISSED);
}

static void injected_rows(FILE *out, const struct score *s)
{
	goal_row(out, "change points, injected steps: F1 (plain PELT + prune)", "0.941",
		 score_f1(s), 0.95, true);
	detect_row(out, "  F1 of Otava, MongoDB E-divisive, Perfherder", "0.70, 0.91, 0.86", "", "",
		   DETECT_NO_GOAL);
	detect_row(out, "  precision, recall", "",
		   detect_text("%.3f, %.3f", score_precision(s), score_recall(s)), "",
		   DETECT_NO_GOAL);
	goal_row(out, "  false alarms per null series (plain)", "0.04", score_alarms(s, SCORE_NULL),
		 0.03, false);
	detect_row(out, "  of Otava, MongoDB E-divisive, Perfherder", "1.14, 0.23, 0.02", "", "",
		   DETECT_NO_GOAL);
	goal_row(out, "  false alarms per spike series (plain)", "0.01",
		 score_alarms(s, SCORE_SPIKE), 0.02, false);
	detect_row(out, "  of Otava, MongoDB E-divisive, Perfherder", "0.78, 0.04, 0.02", "", "",
		   DETECT_NO_GOAL);
}

int detect_changes(const char *thirdparty_dir, uint64_t seed, FILE *out)
{
	struct changepoint_options o;
	struct score s = {0};
	struct score otava = {0};
	bool there;
	int rc;

	changepoint_options_init(&o);
	rc = injected(thirdparty_dir, &o, &s, &there, out);
	if (rc == 0 && there) {
		injected_rows(out, &s);
		o.method = CHANGEPOINT_EDIVISIVE;
		rc = injected(thirdparty_dir, &o, &otava, &there, out);
		detect_row(out, "  our E-divisive: F1, alarms per null, spike series",
			   "0.70, 1.14, 0.78",
			   detect_text("%.2f, %.2f, %.2f", score_f1(&otava),
				       score_alarms(&otava, SCORE_NULL),
				       score_alarms(&otava, SCORE_SPIKE)),
			   "", DETECT_NO_GOAL);
	}
	if (rc == 0)
		rc = detect_changes_fresh(thirdparty_dir, seed, out);
	return rc < 0 ? rc : detect_changes_others(thirdparty_dir, out);
}
