/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Changes of a series that has trends and seasons: pieces are straight lines, after a season of fixed
 * length is taken off (when there is one). The lines are fitted by least squares; for each number of
 * changes up to CHANGES_MAX the best places come from dynamic programming (Bai and Perron 2003, J.
 * Appl. Econometrics 18, 1-22), and the number is the one with the smallest n ln(RSS / n) + changes *
 * 9 ln n. Why 9: the usual criterion (Yao 1988, Stat. Prob. Lett. 6, 181-189) counts parameters, which
 * are three for each change here, level, slope and place; and what lines leave over in such series is
 * autocorrelated by about one half, so that n values are worth n (1 - r) / (1 + r) = n / 3.
 *
 * Time O(min(n, BLOCKS_MAX)^2 CHANGES_MAX): longer series are averaged in blocks first, and the
 * places made exact afterwards. On short series a few milliseconds.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "coordinator/analysis/changepoint_impl.h"
#include "coordinator/analysis/summary.h"

#define CHANGES_MAX 15
#define BLOCKS_MAX  1000
#define PENALTY	    9 /* times ln n, see above */
#define PIECE_MIN   5 /* points: two for a line, three for what it leaves over */
#define SEASON_MIN  3
#define SEASON_MAX  400
#define SEASON_CORR 0.5 /* of the differences one season apart, from which there is one */
#define JUMP_ERRORS 3	/* standard errors from which a change has a step beside its new slope */

struct lines {
	double *y; /* the series without its season, owned by the caller's room */
	size_t n;
	double *s0, *s1, *s2; /* sums before a point of y, i y, y^2 */
	double mean, sd;      /* what makes y the series again: mean + sd y */
};

struct line {
	double level; /* at the middle */
	double slope, middle;
	double rss;
	double n, stt; /* points, squares of their distances from the middle */
};

static struct line fit(const struct lines *l, size_t start, size_t end)
{
	struct line f = {.n = (double)(end - start),
			 .middle = ((double)start + (double)end - 1) / 2};
	double sum = l->s0[end] - l->s0[start];
	double cross = l->s1[end] - l->s1[start] - f.middle * sum;

	f.level = sum / f.n;
	f.stt = f.n * (f.n * f.n - 1) / 12;
	f.slope = f.stt > 0 ? cross / f.stt : 0;
	f.rss = fmax(0, l->s2[end] - l->s2[start] - sum * f.level - f.slope * cross);
	return f;
}

static double value_at(const struct line *f, size_t t)
{
	return f->level + f->slope * ((double)t - f->middle);
}

static void sums(struct lines *l)
{
	size_t i;

	l->s0[0] = l->s1[0] = l->s2[0] = 0;
	for (i = 0; i < l->n; i++) {
		l->s0[i + 1] = l->s0[i] + l->y[i];
		l->s1[i + 1] = l->s1[i] + (double)i * l->y[i];
		l->s2[i + 1] = l->s2[i] + l->y[i] * l->y[i];
	}
}

/* Length of the season, 0 for none: where the autocorrelation of the differences is largest. */
static size_t season(const double *x, size_t n, double *d)
{
	size_t m = n - 1;
	double all = 0;
	double best = SEASON_CORR;
	size_t found = 0;
	size_t i, lag;

	for (i = 0; i < m; i++)
		d[i] = x[i + 1] - x[i];
	for (i = 0; i < m; i++)
		all += d[i] * d[i];
	for (lag = SEASON_MIN; lag <= SEASON_MAX && 4 * lag <= n; lag++) {
		double both = 0;

		for (i = 0; i + lag < m; i++)
			both += d[i] * d[i + lag];
		/* as if it were of all points, and clearly better than a shorter one */
		both *= (double)m / (double)(m - lag);
		if (both > (best + (found ? 0.02 : 0)) * all) {
			best = both / all;
			found = lag;
		}
	}
	return found;
}

/* Takes the season off: medians by phase of what a moving mean of one season leaves over. */
static void take_season(double *y, size_t n, size_t p, double *work)
{
	double *left = work;
	double *same = work + n;
	double center = 0;
	size_t i, k, phase;

	for (i = 0; i < n; i++) {
		size_t start = i > p / 2 ? i - p / 2 : 0;
		double mean = 0;

		if (start + p > n)
			start = n - p;
		for (k = start; k < start + p; k++)
			mean += y[k] / (double)p;
		left[i] = y[i] - mean;
	}
	for (phase = 0; phase < p; phase++) {
		for (k = 0, i = phase; i < n; i += p)
			if (i >= p / 2 && i + p - p / 2 <= n)
				same[k++] = left[i];
		left[phase] = stats_median_inplace(same, k);
		center += left[phase] / (double)p;
	}
	for (i = 0; i < n; i++)
		y[i] -= left[i % p] - center;
}

/* Best cuts for each number of changes; best[k * (n + 1) + b] are the squares of y[0..b). */
struct table {
	double *best;
	unsigned short *from;
	size_t n, piece;
};

static void tabulate(const struct lines *l, struct table *t)
{
	size_t width = t->n + 1;
	size_t a, b, k;

	for (k = 0; k <= CHANGES_MAX; k++)
		for (b = 0; b <= t->n; b++)
			t->best[k * width + b] = INFINITY;
	for (b = t->piece; b <= t->n; b++)
		t->best[b] = fit(l, 0, b).rss;
	for (a = t->piece; a + t->piece <= t->n; a++) {
		for (b = a + t->piece; b <= t->n; b++) {
			double c = fit(l, a, b).rss;

			for (k = 1; k <= CHANGES_MAX && t->best[(k - 1) * width + a] < INFINITY;
			     k++) {
				double all = t->best[(k - 1) * width + a] + c;

				if (all < t->best[k * width + b]) {
					t->best[k * width + b] = all;
					t->from[k * width + b] = (unsigned short)a;
				}
			}
		}
	}
}

static size_t choose(const struct table *t, double squares, size_t cuts[CHANGES_MAX])
{
	size_t width = t->n + 1;
	double n = (double)t->n;
	double least = squares * 1e-12 / n; /* beyond it are rounding errors */
	double best = INFINITY;
	size_t chosen = 0;
	size_t k, b;

	for (k = 0; k <= CHANGES_MAX; k++) {
		double rss = t->best[k * width + t->n];
		double c = n * log(rss / n + least) + PENALTY * log(n) * (double)k;

		if (rss < INFINITY && c < best) {
			best = c;
			chosen = k;
		}
	}
	for (k = chosen, b = t->n; k > 0; k--) {
		b = t->from[k * width + b];
		cuts[k - 1] = b;
	}
	return chosen;
}

/* Best place of a cut within `reach` of it. */
static size_t refine(const struct lines *l, size_t start, size_t at, size_t end, size_t reach)
{
	size_t from = at > start + PIECE_MIN + reach ? at - reach : start + PIECE_MIN;
	size_t to = at + reach + PIECE_MIN < end ? at + reach : end - PIECE_MIN;
	double best = INFINITY;
	size_t found = at;
	size_t t;

	for (t = from; t <= to; t++) {
		double rss = fit(l, start, t).rss + fit(l, t, end).rss;

		if (rss < best) {
			best = rss;
			found = t;
		}
	}
	return found;
}

static void describe(const struct lines *l, size_t start, size_t at, size_t end,
		     struct changepoint *c)
{
	struct line a = fit(l, start, at);
	struct line b = fit(l, at, end);
	double together = fit(l, start, end).rss;
	double df = fmax(1, a.n + b.n - 4);
	double rss = a.rss + b.rss;
	double noise = rss / df;
	double reach = (double)at - a.middle;
	double error = noise * (1 / a.n + reach * reach / fmax(a.stt, 1));
	double limit = rss + 3.84 * 3 * fmax(noise, together * 1e-12);
	size_t t;

	reach = b.middle - (double)at;
	error += noise * (1 / b.n + reach * reach / fmax(b.stt, 1));
	*c = (struct changepoint){.index = at, .end = at, .lo = at, .hi = at};
	c->before = value_at(&a, at);
	c->after = value_at(&b, at);
	c->kind = fabs(c->after - c->before) > JUMP_ERRORS * sqrt(error) ? CHANGEPOINT_STEP
									 : CHANGEPOINT_RAMP;
	if (c->kind == CHANGEPOINT_RAMP) {
		c->end = end;
		c->after = value_at(&b, end - 1);
	}
	/* Chow 1960 (Econometrica 28, 591-605): two lines against one; the tail of F with 2 degrees
	 * of freedom above has this closed form */
	c->p = rss > 0 ? pow(rss / fmax(together, rss), df / 2) : 0;
	c->before = l->mean + l->sd * c->before;
	c->after = l->mean + l->sd * c->after;
	for (t = at; t > start + PIECE_MIN; t--)
		if (fit(l, start, t - 1).rss + fit(l, t - 1, end).rss > limit)
			break;
	c->lo = t;
	for (t = at; t + PIECE_MIN < end; t++)
		if (fit(l, start, t + 1).rss + fit(l, t + 1, end).rss > limit)
			break;
	c->hi = t;
}

static int report(const struct lines *l, struct changepoint_series *s, const size_t *cuts, size_t n,
		  struct changepoint_list *ret)
{
	size_t i;
	int rc = 0;

	for (i = 0; rc == 0 && i < n; i++) {
		struct changepoint c;
		double moved;

		describe(l, i > 0 ? cuts[i - 1] : 0, cuts[i], i + 1 < n ? cuts[i + 1] : l->n, &c);
		moved = fabs(c.after - c.before);
		if (100 * moved >= s->options->min_effect_pct * fabs(c.before) &&
		    c.p <= s->options->max_p)
			rc = changepoint_add(ret, &c);
	}
	return rc;
}

/* Means of blocks of `size` points. */
static void average(const double *y, size_t n, size_t size, double *ret)
{
	size_t i, k;

	for (i = 0; i < n / size; i++) {
		ret[i] = 0;
		for (k = 0; k < size; k++)
			ret[i] += y[i * size + k] / (double)size;
	}
}

static int find_cuts(const struct lines *l, double *room, size_t cuts[CHANGES_MAX], size_t *ret_n)
{
	size_t size = 1 + (l->n - 1) / BLOCKS_MAX;
	size_t n = l->n / size;
	struct lines blocks = {
		.y = room, .n = n, .s0 = room + n, .s1 = room + 2 * n + 1, .s2 = room + 3 * n + 2};
	struct table t = {.n = n, .piece = PIECE_MIN};
	int rc = -ENOMEM;
	size_t i;

	t.best = calloc((CHANGES_MAX + 1) * (n + 1), sizeof(*t.best));
	t.from = calloc((CHANGES_MAX + 1) * (n + 1), sizeof(*t.from));
	if (t.best && t.from) {
		average(l->y, l->n, size, blocks.y);
		sums(&blocks);
		tabulate(&blocks, &t);
		*ret_n = choose(&t, blocks.s2[n], cuts);
		rc = 0;
	}
	free(t.best);
	free(t.from);
	for (i = 0; rc == 0 && i < *ret_n; i++)
		cuts[i] *= size;
	for (i = 0; rc == 0 && size > 1 && i < *ret_n; i++)
		cuts[i] = refine(l, i > 0 ? cuts[i - 1] : 0, cuts[i],
				 i + 1 < *ret_n ? cuts[i + 1] : l->n, size);
	return rc;
}

/* Around 0 with deviation 1, so that sums of squares keep their digits; false: all values equal. */
static bool normalise(const double *x, struct lines *l)
{
	double squares = 0;
	size_t i;

	for (i = 0; i < l->n; i++)
		l->mean += x[i] / (double)l->n;
	for (i = 0; i < l->n; i++)
		squares += (x[i] - l->mean) * (x[i] - l->mean);
	l->sd = sqrt(squares / (double)l->n);
	for (i = 0; i < l->n; i++)
		l->y[i] = l->sd > 0 ? (x[i] - l->mean) / l->sd : 0;
	return l->sd > 0;
}

int changepoint_trends(struct changepoint_series *s, struct changepoint_list *ret)
{
	size_t n = s->n;
	double *room = calloc(9 * n + 8, sizeof(*room));
	struct lines l = {.n = n};
	size_t cuts[CHANGES_MAX];
	size_t found = 0;
	size_t p;
	int rc = 0;

	if (!room)
		return -ENOMEM;
	l.y = room;
	l.s0 = room + n;
	l.s1 = room + 2 * n + 1;
	l.s2 = room + 3 * n + 2;
	if (n < 2 * PIECE_MIN || !normalise(s->x, &l))
		goto out;
	p = season(l.y, n, room + 4 * n + 3);
	if (p > 0)
		take_season(l.y, n, p, room + 4 * n + 3);
	sums(&l);
	rc = find_cuts(&l, room + 4 * n + 3, cuts, &found);
	if (rc == 0)
		rc = report(&l, s, cuts, found, ret);
out:
	free(room);
	return rc;
}
