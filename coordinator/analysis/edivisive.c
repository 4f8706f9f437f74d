/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "coordinator/analysis/edivisive.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "coordinator/analysis/student.h"

struct division {
	size_t index; /* 0: none */
	double q;
};

/* One piece of a window, between two changes. */
struct piece {
	size_t start, end;
	struct division best;
};

/*
 * All pairs (tau, kappa) of x[0..n): left x[0..tau), right x[tau..kappa). With W(k) the sum of the
 * distances inside x[0..k) and R(t, k) inside x[t..k), the sum across is W(k) - W(t) - R(t, k).
 * R grows by one row of distances as tau goes down. Of equal q the smallest tau counts, then the
 * smallest kappa. `w` and `r` have room for n + 1.
 */
static struct division best_division(const double *x, size_t n, double *w, double *r)
{
	struct division best = {0, -INFINITY};
	size_t tau, kappa, i;

	w[0] = 0;
	for (kappa = 0; kappa < n; kappa++) {
		double v = 0;

		for (i = 0; i < kappa; i++)
			v += fabs(x[i] - x[kappa]);
		w[kappa + 1] = w[kappa] + v;
		r[kappa + 1] = 0;
	}
	for (tau = n - 1; tau > 0; tau--) {
		struct division row = {tau, -INFINITY};
		double left = (double)tau;
		double b = tau > 1 ? w[tau] / (left - 1) : 0;
		double h = 0;

		for (kappa = tau + 1; kappa <= n; kappa++) {
			double right = (double)(kappa - tau);
			double q;

			h += fabs(x[tau] - x[kappa - 1]);
			r[kappa] += h;
			q = w[kappa] - w[tau] - r[kappa] - right * b;
			if (kappa - tau > 1)
				q -= left * r[kappa] / (right - 1);
			q *= 2 / (left + right);
			if (q > row.q)
				row.q = q;
		}
		if (row.q >= best.q)
			best = row;
	}
	return best;
}

int edivisive_qhat(const double *x, size_t n, size_t *ret_index, double *ret_q)
{
	struct division best = {0, 0};
	double *room;

	if (n >= 2) {
		room = calloc(2 * (n + 1), sizeof(*room));
		if (!room)
			return -ENOMEM;
		best = best_division(x, n, room, room + n + 1);
		free(room);
	}
	*ret_index = best.index;
	*ret_q = best.q;
	return 0;
}

static void moments(const double *x, size_t n, double *ret_mean, double *ret_var)
{
	double sum = 0;
	double squares = 0;
	size_t i;

	for (i = 0; i < n; i++)
		sum += x[i];
	*ret_mean = sum / (double)n;
	for (i = 0; i < n; i++)
		squares += (x[i] - *ret_mean) * (x[i] - *ret_mean);
	*ret_var = squares / (double)n; /* n: see the header */
}

static struct edivisive_point test_point(const double *x, size_t start, size_t at, size_t end)
{
	struct edivisive_point p = {.index = at, .p = 1};
	double n1 = (double)(at - start);
	double n2 = (double)(end - at);
	double df = n1 + n2 - 2;
	double v1, v2, se;

	moments(x + start, at - start, &p.mean_before, &v1);
	moments(x + at, end - at, &p.mean_after, &v2);
	if (df <= 0)
		return p;
	se = sqrt(((n1 - 1) * v1 + (n2 - 1) * v2) / df * (1 / n1 + 1 / n2));
	if (se > 0)
		p.p = stats_student_two_tails(fabs(p.mean_before - p.mean_after) / se, df);
	else if (p.mean_before < p.mean_after || p.mean_before > p.mean_after)
		p.p = 0;
	return p;
}

/* Largest of the changes between the means, forwards and backwards, as a fraction. */
static double magnitude(const struct edivisive_point *p)
{
	double forwards = fabs(p->mean_before) > 0 ? p->mean_after / p->mean_before - 1 : 0;
	double backwards = fabs(p->mean_after) > 0 ? p->mean_before / p->mean_after - 1 : 0;

	return fmax(fabs(forwards), fabs(backwards));
}

struct splitter {
	const double *x;
	double max_p;
	struct piece *pieces; /* of one window, ascending; room for window_len */
	size_t n_pieces;
	double *w, *r;	/* room of best_division */
	size_t *points; /* found so far, room for the series' length */
	size_t n_points;
};

static void piece_init(struct splitter *s, struct piece *p, size_t start, size_t end)
{
	*p = (struct piece){start, end, {0, -INFINITY}};
	if (end - start < 2)
		return;
	p->best = best_division(s->x + start, end - start, s->w, s->r);
	p->best.index += start;
}

/* The last change that was found, 0 for none. */
static size_t split_window(struct splitter *s, size_t start, size_t end)
{
	size_t last = 0;
	size_t i;

	piece_init(s, &s->pieces[0], start, end);
	s->n_pieces = 1;
	for (;;) {
		struct piece *best = NULL;
		struct piece old;

		for (i = 0; i < s->n_pieces; i++) {
			struct piece *p = &s->pieces[i];

			if (p->best.index > 0 && (!best || p->best.q > best->best.q))
				best = p;
		}
		if (!best ||
		    !(test_point(s->x, best->start, best->best.index, best->end).p <= s->max_p))
			break;
		old = *best;
		memmove(best + 1, best, (size_t)(s->pieces + s->n_pieces - best) * sizeof(*best));
		s->n_pieces++;
		piece_init(s, best, old.start, old.best.index);
		piece_init(s, best + 1, old.best.index, old.end);
	}
	for (i = 1; i < s->n_pieces; i++)
		last = s->pieces[i].start;
	return last;
}

static bool add_point(struct splitter *s, size_t index)
{
	size_t i;

	/* a window begins at the last change of the one before: what is new sorts near the end */
	for (i = s->n_points; i > 0 && s->points[i - 1] > index; i--)
		continue;
	if (i > 0 && s->points[i - 1] == index)
		return false;
	memmove(s->points + i + 1, s->points + i, (s->n_points - i) * sizeof(*s->points));
	s->points[i] = index;
	s->n_points++;
	return true;
}

static void split(struct splitter *s, size_t n, size_t window_len)
{
	size_t start = 0;
	size_t i;

	while (start < n) {
		size_t end = n - start > window_len ? start + window_len : n;
		size_t last = split_window(s, start, end);

		for (i = 1; i < s->n_pieces; i++)
			(void)add_point(s, s->pieces[i].start);
		start = last > start + window_len / 2 ? last : start + window_len / 2;
	}
}

static void recompute(const double *x, size_t n, struct edivisive_point *points, size_t n_points,
		      size_t i)
{
	size_t start, end;

	if (i >= n_points)
		return;
	start = i > 0 ? points[i - 1].index : 0;
	end = i + 1 < n_points ? points[i + 1].index : n;
	points[i] = test_point(x, start, points[i].index, end);
}

static size_t merge(const double *x, size_t n, const struct edivisive_options *o,
		    struct edivisive_point *points, size_t n_points)
{
	while (n_points > 0) {
		size_t weakest = 0;
		size_t i;

		for (i = 1; i < n_points; i++)
			if (points[i].p > points[weakest].p)
				weakest = i;
		if (points[weakest].p < o->max_pvalue) {
			for (weakest = 0, i = 1; i < n_points; i++)
				if (magnitude(&points[i]) < magnitude(&points[weakest]))
					weakest = i;
			if (magnitude(&points[weakest]) > o->min_magnitude)
				break;
		}
		n_points--;
		memmove(points + weakest, points + weakest + 1,
			(n_points - weakest) * sizeof(*points));
		/* not the one before: see the header */
		recompute(x, n, points, n_points, weakest);
		recompute(x, n, points, n_points, weakest + 1);
	}
	return n_points;
}

static double relaxed(double max_pvalue)
{
	return max_pvalue < 0.05 ? 10 * max_pvalue : max_pvalue < 0.5 ? 2 * max_pvalue : max_pvalue;
}

int edivisive_find(const double *x, size_t n, const struct edivisive_options *o,
		   struct edivisive_point **ret, size_t *ret_n)
{
	size_t window = n < o->window_len ? n : o->window_len;
	struct splitter s = {.x = x, .max_p = relaxed(o->max_pvalue)};
	struct edivisive_point *points = NULL;
	int rc = -ENOMEM;
	size_t i;

	s.pieces = calloc(window + 1, sizeof(*s.pieces));
	s.w = calloc(2 * (window + 1), sizeof(*s.w));
	s.r = s.w ? s.w + window + 1 : NULL;
	s.points = calloc(n + 1, sizeof(*s.points));
	if (!s.pieces || !s.w || !s.points)
		goto out;
	split(&s, n, o->window_len);
	points = calloc(s.n_points + 1, sizeof(*points));
	if (!points)
		goto out;
	for (i = 0; i < s.n_points; i++)
		points[i].index = s.points[i];
	for (i = 0; i < s.n_points; i++)
		recompute(x, n, points, s.n_points, i);
	*ret_n = merge(x, n, o, points, s.n_points);
	*ret = points;
	rc = 0;
out:
	free(s.pieces);
	free(s.w);
	free(s.points);
	return rc;
}
