/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "coordinator/analysis/adjust.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static const char *const names[] = {
	[STATS_ADJUST_NONE] = "none",	      [STATS_ADJUST_BH] = "bh",
	[STATS_ADJUST_HOLM] = "holm",	      [STATS_ADJUST_BY] = "by",
	[STATS_ADJUST_HOCHBERG] = "hochberg", [STATS_ADJUST_BONFERRONI] = "bonferroni",
};

#define N_NAMES ((int)(sizeof(names) / sizeof(names[0])))

struct place {
	double p;
	size_t at;
};

const char *stats_adjust_name(enum stats_adjust a)
{
	return (int)a >= 0 && (int)a < N_NAMES ? names[a] : "";
}

int stats_adjust_parse(const char *name)
{
	for (int i = 0; i < N_NAMES; i++) {
		if (strcmp(name, names[i]) == 0)
			return i;
	}
	return -1;
}

static int order_places(const void *a, const void *b)
{
	const struct place *x = a, *y = b;

	if (x->p != y->p)
		return x->p < y->p ? -1 : 1;
	return x->at < y->at ? -1 : x->at > y->at;
}

/* What the p at rank i (from 0, ascending) of n is multiplied with. */
static double factor(enum stats_adjust method, size_t i, size_t n, double harmonic)
{
	switch (method) {
	case STATS_ADJUST_HOLM:
	case STATS_ADJUST_HOCHBERG:
		return (double)(n - i);
	case STATS_ADJUST_BH:
		return (double)n / (double)(i + 1);
	case STATS_ADJUST_BY:
		return harmonic * (double)n / (double)(i + 1);
	case STATS_ADJUST_BONFERRONI:
		return (double)n;
	case STATS_ADJUST_NONE:
		break;
	}
	return 1;
}

static void adjust_sorted(enum stats_adjust method, const struct place *s, size_t n, double *ret)
{
	double harmonic = 0, running;

	for (size_t i = n; i > 0; i--)
		harmonic += 1 / (double)i;
	if (method == STATS_ADJUST_HOLM) { /* steps down: never below a smaller p's */
		running = 0;
		for (size_t i = 0; i < n; i++) {
			running = fmax(running, s[i].p * factor(method, i, n, harmonic));
			ret[s[i].at] = fmin(1, running);
		}
		return;
	}
	running = 1; /* the others step up; bonferroni and none keep the order anyway */
	for (size_t i = n; i > 0; i--) {
		running = fmin(running, s[i - 1].p * factor(method, i - 1, n, harmonic));
		ret[s[i - 1].at] = running;
	}
}

int stats_adjust(enum stats_adjust method, const double *p, size_t n, double *ret)
{
	struct place *s;

	if ((int)method < 0 || (int)method >= N_NAMES)
		return -EINVAL;
	for (size_t i = 0; i < n; i++) {
		if (!(p[i] >= 0) || !(p[i] <= 1))
			return -EINVAL;
	}
	if (n == 0)
		return 0;
	s = calloc(n, sizeof(*s));
	if (!s)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++)
		s[i] = (struct place){.p = p[i], .at = i};
	qsort(s, n, sizeof(*s), order_places);
	adjust_sorted(method, s, n, ret);
	free(s);
	return 0;
}
