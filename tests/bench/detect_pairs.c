/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tests/bench/detect_pairs.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "coordinator/analysis/compat.h"
#include "coordinator/analysis/rank.h"
#include "coordinator/analysis/rng.h"
#include "coordinator/analysis/summary.h"
#include "coordinator/analysis/verdict.h"
#include "tests/bench/detect_table.h"

#define SERIES_MAX 64
#define DAYS_MAX   32
#define RUNS	   25
#define SIDE	   10 /* boots a side */
#define NOISY	   2  /* series that the second set leaves out */
#define FIRST	   10 /* runs of a day that the second set takes */

struct series {
	char name[192];
	double runs[DAYS_MAX][RUNS];
	size_t days;
	double noise; /* median over days of the CoV of a day's runs */
	bool noisy;
};

struct data {
	struct series series[SERIES_MAX];
	size_t n;
};

/* Detections over all pairs of days for one rule: without a change, with +2 %, with +5 %. */
static const double changes[3] = {0, 0.02, 0.05};
struct counts {
	double n, hits[3];
};

enum rule { MWU_05, STAR, MWU_01_1, MWU_01, PLAIN, KGRID, RULES };

static struct series *find(struct data *d, const char *name)
{
	for (size_t i = 0; i < d->n; i++) {
		if (strcmp(d->series[i].name, name) == 0)
			return &d->series[i];
	}
	if (d->n == SERIES_MAX || strlen(name) >= sizeof(d->series[0].name))
		return NULL;
	memcpy(d->series[d->n].name, name, strlen(name) + 1);
	return &d->series[d->n++];
}

/* name,date,arm,runs; names with commas are quoted, so the fields are taken from the end. */
static bool take_line(struct data *d, char *line)
{
	char *runs = strrchr(line, ','), *arm, *date, *end;
	struct series *s;

	if (!runs)
		return false;
	*runs++ = '\0';
	arm = strrchr(line, ',');
	if (!arm || strcmp(arm + 1, "base") != 0)
		return true;
	*arm = '\0';
	date = strrchr(line, ',');
	if (!date)
		return false;
	*date = '\0';
	s = find(d, line);
	if (!s || s->days == DAYS_MAX)
		return false;
	for (size_t i = 0; i < RUNS; i++, runs = end) {
		s->runs[s->days][i] = strtod(runs, &end);
		if (end == runs)
			return false;
	}
	s->days++;
	return true;
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static void find_noisy(struct data *d)
{
	for (size_t i = 0; i < d->n; i++) {
		double covs[DAYS_MAX];
		struct stats_summary s;

		for (size_t k = 0; k < d->series[i].days; k++) {
			covs[k] = stats_summarise(d->series[i].runs[k], RUNS, &s, NULL) == 0
					  ? s.cv_pct
					  : 0;
		}
		qsort(covs, d->series[i].days, sizeof(*covs), by_value);
		d->series[i].noise = covs[d->series[i].days / 2];
	}
	for (int k = 0; k < NOISY; k++) {
		struct series *worst = NULL;

		for (size_t i = 0; i < d->n; i++) {
			struct series *s = &d->series[i];

			if (!s->noisy && (!worst || s->noise > worst->noise))
				worst = s;
		}
		if (worst)
			worst->noisy = true;
	}
}

static int load(const char *dir, struct data *d)
{
	char path[4096];
	static char line[8192];
	FILE *f;
	int rc = 0;

	snprintf(path, sizeof(path), "%s/goperf_aa_runs.csv", dir);
	f = fopen(path, "r");
	if (!f)
		return -ENOENT;
	if (!fgets(line, sizeof(line), f))
		rc = -EIO;
	while (rc == 0 && fgets(line, sizeof(line), f))
		rc = take_line(d, line) ? 0 : -EIO;
	fclose(f);
	if (rc == 0)
		find_noisy(d);
	return rc;
}

static void draw(const double *from, size_t among, struct stats_rng *r, double *ret)
{
	double left[RUNS];

	memcpy(left, from, sizeof(left));
	for (size_t i = 0; i < SIDE; i++) {
		size_t k = i + stats_rng_index(r, (uint32_t)(among - i));
		double v = left[k];

		left[k] = left[i];
		left[i] = v;
		ret[i] = v;
	}
}

static bool star(const double *a, const double *b)
{
	struct compat_side sides[2];
	struct stats_summary s[2];
	double ignored;

	for (int i = 0; i < 2; i++) {
		if (stats_summarise(i ? b : a, SIDE, &s[i], NULL) < 0)
			return false;
		sides[i] = (struct compat_side){s[i].mean, s[i].sd, SIDE};
	}
	return compat_mmtests_star(COMPAT_STAR_SD, &sides[0], &sides[1], &ignored);
}

/* What each rule says of one pair: -1 lower, 0 nothing, 1 higher. */
static int ask(const double *a, const double *b, int says[RULES])
{
	struct verdict_boot boots[2][SIDE];
	struct verdict_side x = {boots[0], SIDE}, y = {boots[1], SIDE};
	struct verdict_policy policy;
	struct verdict v;
	int rc, sign;

	for (size_t i = 0; i < SIDE; i++) {
		boots[0][i] = (struct verdict_boot){&a[i], 1};
		boots[1][i] = (struct verdict_boot){&b[i], 1};
	}
	verdict_policy_init(&policy);
	policy.brief = true;
	rc = verdict_pair(&x, &y, VERDICT_NO_DIRECTION, &policy, &v, NULL);
	if (rc == 0)
		rc = verdict_family(&v, &policy, 1);
	if (rc < 0)
		return rc;
	sign = v.sign > 0 ? 1 : -1;
	says[MWU_05] = v.p < 0.05 ? sign : 0;
	says[MWU_01_1] = v.p < 0.01 && fabs(v.effect_pct) >= 1 ? sign : 0;
	says[MWU_01] = v.p <= 0.01 ? sign : 0;
	says[PLAIN] = v.p <= 0.01 && v.q <= 0.05 && fabs(v.effect_pct) >= 1 &&
				      (v.lo_pct > 0 || v.hi_pct < 0)
			      ? sign
			      : 0;
	says[KGRID] = v.word == VERDICT_DIFFERENT ? sign : 0;
	says[STAR] = star(a, b) ? sign : 0;
	return 0;
}

struct set {
	const char *name;
	bool steady;	/* without the noisiest series */
	size_t among;	/* runs of a day that are drawn from */
	int half;	/* 0 and 1: every other series; -1: all */
	unsigned every; /* of pairs of days */
};

static int pair(const struct series *s, size_t i, size_t k, const struct set *set,
		struct stats_rng *r, struct counts c[RULES])
{
	double a[SIDE], b[SIDE], moved[SIDE];

	draw(s->runs[i], set->among, r, a);
	draw(s->runs[k], set->among, r, b);
	for (int change = 0; change < 3; change++) {
		int says[RULES], rc;

		for (size_t m = 0; m < SIDE; m++)
			moved[m] = b[m] * (1 + changes[change]);
		rc = ask(a, moved, says);
		if (rc < 0)
			return rc;
		for (int rule = 0; rule < RULES; rule++)
			c[rule].hits[change] += change ? says[rule] > 0 : says[rule] != 0;
	}
	for (int rule = 0; rule < RULES; rule++)
		c[rule].n++;
	return 0;
}

static int run_set(const struct data *d, const struct set *set, struct stats_rng *r,
		   struct counts c[RULES])
{
	size_t at = 0;

	for (size_t i = 0; i < d->n; i++) {
		const struct series *s = &d->series[i];

		if ((set->steady && s->noisy) || (set->half >= 0 && (int)(i % 2) != set->half))
			continue;
		for (size_t x = 0; x < s->days; x++) {
			for (size_t y = x + 1; y < s->days; y++) {
				int rc = 0;

				if (at++ % set->every == 0)
					rc = pair(s, x, y, set, r, c);
				if (rc < 0)
					return rc;
			}
		}
	}
	return 0;
}

static double share(const struct counts *c, int change)
{
	return c->n > 0 ? c->hits[change] / c->n : 0;
}

static const char *three(const struct counts *c)
{
	return detect_text("%.4f / %.3f / %.3f", share(c, 0), share(c, 1), share(c, 2));
}

static void print_set(const struct set *set, const struct counts c[RULES], FILE *out)
{
	static const char *const rules[RULES] = {
		[MWU_05] = "  MWU p < 0.05 (benchstat)",
		[STAR] = "  MMTests star",
		[MWU_01_1] = "  MWU p < 0.01 and 1 %",
		[MWU_01] = "  MWU p <= 0.01 alone: no rule with it finds more",
		[PLAIN] = "  p, q, effect, interval excludes 0",
		[KGRID] = "  kgrid's rule",
	};
	static const char *const references[RULES] = {
		[MWU_05] = "0.137 / 0.89 / 0.99",
		[STAR] = "~0.00 / 0.2 / 0.57",
		[MWU_01_1] = "0.032 / 0.75 / 0.936",
		[MWU_01] = "",
		[PLAIN] = "",
		[KGRID] = "",
	};
	const struct counts *k = &c[KGRID];
	/* A half as likely as not: of a change of 2 % and none, as many of each. */
	double precision = share(k, 1) / (share(k, 1) + share(k, 0));
	bool reached = share(k, 0) <= 0.025 && share(k, 1) >= 0.72 && share(k, 2) >= 0.93;

	detect_row(out, set->name, "false pos./2 %/5 %", detect_text("%.0f pairs of days", k->n),
		   "false pos. / 2 % / 5 %", DETECT_NO_GOAL);
	for (int rule = 0; rule < KGRID; rule++)
		detect_row(out, rules[rule], references[rule], three(&c[rule]), "", DETECT_NO_GOAL);
	if (set->half >= 0)
		detect_row(out, rules[KGRID], "", three(k), "", DETECT_NO_GOAL);
	else
		detect_row(out, rules[KGRID], "", three(k), "<=0.025 / >=0.72 / >=0.93",
			   reached ? DETECT_REACHED : DETECT_MISSED);
	detect_row(out, "    precision, recall, F1 at 2 % (as many null)", "",
		   detect_text("%.3f / %.3f / %.3f", precision, share(k, 1),
			       2 * precision * share(k, 1) / (precision + share(k, 1))),
		   "", DETECT_NO_GOAL);
}

int detect_pairs(const char *thirdparty_dir, uint64_t seed, bool quick, FILE *out)
{
	struct set sets[] = {
		{"across days, n = 10: first runs of a day, 50 steadier series", true, FIRST, -1,
		 1},
		{"across days, n = 10: any runs of a day, 50 steadier series", true, RUNS, -1, 1},
		{"across days, n = 10: any runs of a day, all series", false, RUNS, -1, 1},
		{"  the same, every other series", false, RUNS, 0, 1},
		{"  the same, the other ones", false, RUNS, 1, 1},
	};
	struct stats_rng r = {seed};
	struct data *d = calloc(1, sizeof(*d));
	int rc = d ? load(thirdparty_dir, d) : -ENOMEM;

	if (rc == -ENOENT) {
		detect_row(out, "across days", "",
			   detect_text("no goperf_aa_runs.csv in %s", thirdparty_dir), "",
			   DETECT_NO_GOAL);
		rc = 0;
	}
	for (size_t i = 0; rc == 0 && d->n > 0 && i < sizeof(sets) / sizeof(sets[0]); i++) {
		struct counts c[RULES] = {0};

		sets[i].every = quick ? 10 : 1;
		rc = run_set(d, &sets[i], &r, c);
		if (rc == 0)
			print_set(&sets[i], c, out);
	}
	free(d);
	return rc;
}
