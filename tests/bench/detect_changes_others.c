/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Change points beside what people and other tools say of the same series. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "tests/bench/detect_score.h"
#include "tests/bench/detect_table.h"

#define TCPD_MARGIN   5 /* as the Turing benchmark has it */
#define ANNOTATORS    16
#define MARKS_MAX     64
#define GOLDEN_NEAR   5
#define GOLDEN_POINTS 16384

struct marks {
	size_t at[MARKS_MAX];
	size_t n;
};

static void mark(struct marks *m, size_t at)
{
	size_t i;

	for (i = 0; i < m->n; i++)
		if (m->at[i] == at)
			return;
	if (m->n < MARKS_MAX)
		m->at[m->n++] = at;
}

static int ascending(const void *a, const void *b)
{
	size_t x = *(const size_t *)a;
	size_t y = *(const size_t *)b;

	return (x > y) - (x < y);
}

/* Of the marks `t`, how many have one of `x` within the margin; none of x counts twice. */
static double matched(const struct marks *t, const struct marks *x)
{
	bool used[MARKS_MAX] = {false};
	double hits = 0;
	size_t i, k;

	for (i = 0; i < t->n; i++) {
		size_t best = SIZE_MAX;
		size_t near = TCPD_MARGIN + 1;

		for (k = 0; k < x->n; k++) {
			size_t d = x->at[k] > t->at[i] ? x->at[k] - t->at[i] : t->at[i] - x->at[k];

			if (!used[k] && d < near) {
				near = d;
				best = k;
			}
		}
		if (best < SIZE_MAX) {
			used[best] = true;
			hits++;
		}
	}
	return hits;
}

/* van den Burg and Williams 2020 (arXiv:2003.06222), 4.2: precision against all annotators' marks
 * together, recall as the mean over annotators, point 0 a mark of everyone. */
static double turing_f1(const struct marks *annotators, size_t n, const struct marks *found)
{
	struct marks all = {.n = 0};
	double recall = 0;
	double precision;
	size_t i, k;

	for (i = 0; i < n; i++) {
		for (k = 0; k < annotators[i].n; k++)
			mark(&all, annotators[i].at[k]);
		recall += matched(&annotators[i], found) / (double)annotators[i].n / (double)n;
	}
	qsort(all.at, all.n, sizeof(all.at[0]), ascending);
	precision = matched(&all, found) / (double)found->n;
	return precision + recall > 0 ? 2 * precision * recall / (precision + recall) : 0;
}

static size_t read_annotators(const json_t *of, struct marks *ret)
{
	const char *key;
	json_t *list, *at;
	size_t n = 0;
	size_t i;

	json_object_foreach((json_t *)of, key, list)
	{
		if (n == ANNOTATORS)
			break;
		ret[n].n = 0;
		mark(&ret[n], 0);
		json_array_foreach(list, i, at) mark(&ret[n], (size_t)json_integer_value(at));
		n++;
	}
	return n;
}

struct turing {
	double series, nothing, level, trend;
};

static int found_marks(const double *x, size_t n, bool trend, struct marks *ret)
{
	struct changepoint_options o;
	struct changepoint *c = NULL;
	struct kg_err err;
	size_t found, i;
	int rc;

	changepoint_options_init(&o);
	o.trend = trend;
	rc = changepoint_find(x, n, &o, &c, &found, &err);
	ret->n = 0;
	mark(ret, 0);
	for (i = 0; rc == 0 && i < found; i++)
		mark(ret, c[i].index);
	if (rc == 0)
		free(c);
	return rc;
}

/* Series of one dimension without gaps. */
static int turing_series(const json_t *s, struct turing *t)
{
	const json_t *dims = json_object_get(s, "series");
	const json_t *values = json_array_get(dims, 0);
	size_t n = json_array_size(values);
	struct marks annotators[ANNOTATORS];
	struct marks found = {.at = {0}, .n = 1};
	size_t n_annotators = read_annotators(json_object_get(s, "annotations"), annotators);
	double *x;
	size_t i;
	int rc;

	for (i = 0; i < n && json_is_number(json_array_get(values, i)); i++)
		continue;
	if (json_array_size(dims) != 1 || n == 0 || i < n || n_annotators == 0)
		return 0;
	x = calloc(n, sizeof(*x));
	if (!x)
		return -ENOMEM;
	for (i = 0; i < n; i++)
		x[i] = json_number_value(json_array_get(values, i));
	t->series++;
	t->nothing += turing_f1(annotators, n_annotators, &found);
	rc = found_marks(x, n, false, &found);
	if (rc == 0)
		t->level += turing_f1(annotators, n_annotators, &found);
	if (rc == 0)
		rc = found_marks(x, n, true, &found);
	if (rc == 0)
		t->trend += turing_f1(annotators, n_annotators, &found);
	free(x);
	return rc;
}

static json_t *load(const char *dir, const char *name, FILE *out)
{
	FILE *f = detect_open(dir, name, out);
	json_error_t error;
	json_t *root;

	if (!f)
		return NULL;
	root = json_loadf(f, 0, &error);
	fclose(f);
	if (!root)
		detect_row(out, detect_text("change points: %s is no JSON", name), "", "", "",
			   DETECT_NO_GOAL);
	return root;
}

static int turing(const char *dir, FILE *out)
{
	json_t *root = load(dir, "tcpd/tcpd_shipped.json", out);
	struct turing t = {0};
	const char *name;
	json_t *s;
	int rc = 0;

	json_object_foreach(root, name, s)
	{
		rc = turing_series(s, &t);
		if (rc < 0)
			break;
	}
	json_decref(root);
	if (rc < 0 || !(t.series > 0))
		return rc;
	detect_row(out, detect_text("Turing data, %.0f series: F1 of no prediction", t.series),
		   "0.668", detect_text("%.3f", t.nothing / t.series), "", DETECT_NO_GOAL);
	detect_row(out, "  F1 with --trend (binary segmentation, default)", "0.738",
		   detect_text("%.3f", t.trend / t.series), ">= 0.72",
		   t.trend / t.series >= 0.72 ? DETECT_REACHED : DETECT_MISSED);
	detect_row(out, "  F1 without", "", detect_text("%.3f", t.level / t.series), "",
		   DETECT_NO_GOAL);
	return 0;
}

static int otava_case(const json_t *root, const json_t *c, bool *ret_same)
{
	const json_t *in = json_object_get(c, "input");
	const json_t *params = json_object_get(in, "params");
	const json_t *want = json_object_get(json_object_get(c, "expect"), "indexes");
	const json_t *values = json_object_get(in, "x");
	const char *name = json_string_value(json_object_get(in, "series"));
	struct changepoint_options o;
	struct changepoint *found = NULL;
	struct kg_err err;
	double x[4096];
	size_t n, i, k;
	int rc;

	if (!values && name)
		values = json_object_get(json_object_get(json_object_get(root, "meta"), "series"),
					 name);
	n = json_array_size(values);
	if (n > sizeof(x) / sizeof(x[0]))
		return 0;
	for (i = 0; i < n; i++)
		x[i] = json_number_value(json_array_get(values, i));
	changepoint_options_init(&o);
	o.method = CHANGEPOINT_EDIVISIVE;
	o.window_len = (size_t)json_integer_value(json_object_get(params, "window_len"));
	o.max_pvalue = json_number_value(json_object_get(params, "max_pvalue"));
	o.min_magnitude = json_number_value(json_object_get(params, "min_magnitude"));
	rc = changepoint_find(x, n, &o, &found, &k, &err);
	if (rc < 0)
		return rc;
	*ret_same = k == json_array_size(want);
	for (i = 0; *ret_same && i < k; i++)
		*ret_same =
			(json_int_t)found[i].index == json_integer_value(json_array_get(want, i));
	free(found);
	return 0;
}

static int otava(const char *dir, FILE *out)
{
	json_t *root = load(dir, "edivisive_vectors.json", out);
	size_t same = 0;
	size_t all = 0;
	json_t *c;
	size_t i;
	int rc = 0;

	json_array_foreach(json_object_get(root, "cases"), i, c)
	{
		bool is_same = false;

		rc = otava_case(root, c, &is_same);
		if (rc < 0)
			break;
		all++;
		same += is_same;
	}
	json_decref(root);
	if (rc == 0 && all > 0)
		detect_row(out, "E-divisive gives the places that Otava gives, cases", "",
			   detect_text("%zu of %zu", same, all), "all",
			   same == all ? DETECT_REACHED : DETECT_MISSED);
	return rc;
}

struct golden {
	double wanted, hit, others;
};

/* file,timestamps,indices,values */
static int golden_line(char *line, double *x, struct golden *g)
{
	struct changepoint_options o;
	struct changepoint *c = NULL;
	char *values = strrchr(line, ',');
	char *indices;
	double want[TRUE_MAX];
	struct kg_err err;
	size_t n, n_want, found, i, k;
	double hits = 0;
	int rc;

	if (!values)
		return 0;
	*values++ = '\0';
	indices = strrchr(line, ',');
	n = detect_numbers(values, x, GOLDEN_POINTS);
	if (!indices || n == 0)
		return 0;
	n_want = detect_numbers(indices + 1, want, TRUE_MAX);
	changepoint_options_init(&o);
	rc = changepoint_find(x, n, &o, &c, &found, &err);
	if (rc < 0)
		return rc;
	for (i = 0; i < n_want; i++)
		for (k = 0; k < found; k++)
			if (fabs((double)c[k].index - want[i]) <= GOLDEN_NEAR) {
				hits++;
				break;
			}
	g->wanted += (double)n_want;
	g->hit += hits;
	g->others += (double)found - hits;
	free(c);
	return 0;
}

static int golden(const char *dir, FILE *out)
{
	FILE *f = detect_open(dir, "perfherder_golden.csv", out);
	struct golden g = {0};
	char *line = NULL;
	size_t cap = 0;
	double *x;
	int rc = 0;

	if (!f)
		return 0;
	x = calloc(GOLDEN_POINTS, sizeof(*x));
	if (!x)
		rc = -ENOMEM;
	while (rc == 0 && getline(&line, &cap, f) > 0)
		rc = golden_line(line, x, &g);
	free(x);
	free(line);
	fclose(f);
	if (rc == 0)
		detect_row(out, "Perfherder's changes in 7 histories found, and others", "",
			   detect_text("%.0f of %.0f, %.0f", g.hit, g.wanted, g.others), "",
			   DETECT_NO_GOAL);
	return rc;
}

int detect_changes_others(const char *dir, FILE *out)
{
	int rc = turing(dir, out);

	if (rc == 0)
		rc = otava(dir, out);
	return rc < 0 ? rc : golden(dir, out);
}
