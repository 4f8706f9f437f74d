/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "coordinator/plan/plan_cover.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/err.h"

#define MAX_CANDIDATES 4096 /* allowed combinations of relevant axes that a row chooses from */

/* ---- missing pairs ---- */

struct cover_pairs {
	size_t n;
	uint32_t *sizes;
	uint64_t **bits; /* [a * n + b] for a < b: sizes[a] x sizes[b] bits, 1: missing */
};

uint64_t cover_pairs_count(const uint32_t *sizes, size_t n)
{
	uint64_t sum = 0;
	size_t a, b;

	for (a = 0; a < n; a++) {
		for (b = a + 1; b < n; b++) {
			uint64_t pairs = (uint64_t)sizes[a] * sizes[b];

			if (sum > UINT64_MAX - pairs)
				return UINT64_MAX;
			sum += pairs;
		}
	}
	return sum;
}

void cover_pairs_free(struct cover_pairs *p)
{
	size_t i;

	if (!p)
		return;
	for (i = 0; p->bits && i < p->n * p->n; i++)
		free(p->bits[i]);
	free(p->bits);
	free(p->sizes);
	free(p);
}

struct cover_pairs *cover_pairs_new(const uint32_t *sizes, size_t n)
{
	struct cover_pairs *p = calloc(1, sizeof(*p));
	size_t a, b;

	if (!p)
		return NULL;
	p->n = n;
	p->sizes = calloc(n + 1, sizeof(*p->sizes));
	p->bits = calloc(n * n + 1, sizeof(*p->bits));
	if (!p->sizes || !p->bits) {
		cover_pairs_free(p);
		return NULL;
	}
	for (a = 0; a < n; a++)
		p->sizes[a] = sizes[a];
	for (a = 0; a < n; a++) {
		for (b = a + 1; b < n; b++) {
			size_t words = (size_t)(((uint64_t)sizes[a] * sizes[b] + 63) / 64);
			uint64_t *bits = malloc((words + 1) * sizeof(*bits));

			if (!bits) {
				cover_pairs_free(p);
				return NULL;
			}
			memset(bits, 0xff, (words + 1) * sizeof(*bits));
			p->bits[a * n + b] = bits;
		}
	}
	return p;
}

/* ---- one run ---- */

struct cover {
	struct cover_input *in;
	size_t n;
	uint32_t *digits, *best; /* of the row being made; relevant ones of the best candidate */
	bool *fixed;
	uint64_t *left;	     /* [i * n + j], i < j: pairs that are missing here */
	uint64_t *cursor;    /* likewise: none before it is missing and possible */
	uint64_t **of_value; /* [i][v]: missing pairs with it */
	size_t *relevant;
	size_t n_relevant;
	uint64_t n_combos; /* of the relevant axes */
	uint64_t *allowed; /* bits */
	uint64_t rows;
};

/* Address of a pair's bit; i < j here may be the other way round there. */
static uint64_t *pair_bit(const struct cover *c, size_t i, uint32_t vi, size_t j, uint32_t vj,
			  uint64_t *ret_mask)
{
	const struct cover_axis *x = &c->in->axes[i], *y = &c->in->axes[j];
	const struct cover_pairs *p = c->in->pairs;
	uint64_t a = x->map ? x->map[vi] : vi, b = y->map ? y->map[vj] : vj;
	uint64_t at;

	if (x->shared < y->shared) {
		at = a * p->sizes[y->shared] + b;
		*ret_mask = UINT64_C(1) << (at % 64);
		return &p->bits[x->shared * p->n + y->shared][at / 64];
	}
	at = b * p->sizes[x->shared] + a;
	*ret_mask = UINT64_C(1) << (at % 64);
	return &p->bits[y->shared * p->n + x->shared][at / 64];
}

static bool missing(const struct cover *c, size_t i, uint32_t vi, size_t j, uint32_t vj)
{
	uint64_t mask;

	return (*pair_bit(c, i, vi, j, vj, &mask) & mask) != 0;
}

static void count_missing(struct cover *c)
{
	const struct cover_axis *axes = c->in->axes;
	size_t i, j;
	uint32_t vi, vj;

	for (i = 0; i < c->n; i++)
		for (j = i + 1; j < c->n; j++)
			for (vi = 0; vi < axes[i].n; vi++)
				for (vj = 0; vj < axes[j].n; vj++) {
					if (!missing(c, i, vi, j, vj))
						continue;
					c->left[i * c->n + j]++;
					c->of_value[i][vi]++;
					c->of_value[j][vj]++;
				}
}

static void cover_row(struct cover *c)
{
	size_t i, j;

	for (i = 0; i < c->n; i++) {
		for (j = i + 1; j < c->n; j++) {
			uint64_t mask;
			uint64_t *word = pair_bit(c, i, c->digits[i], j, c->digits[j], &mask);

			if (!(*word & mask))
				continue;
			*word &= ~mask;
			c->left[i * c->n + j]--;
			c->of_value[i][c->digits[i]]--;
			c->of_value[j][c->digits[j]]--;
		}
	}
}

/* The pair of axes with the most missing pairs; false: nothing is missing. */
static bool choose_axes(const struct cover *c, size_t *ret_i, size_t *ret_j)
{
	uint64_t most = 0;
	size_t i, j;

	for (i = 0; i < c->n; i++) {
		for (j = i + 1; j < c->n; j++) {
			if (c->left[i * c->n + j] <= most)
				continue;
			most = c->left[i * c->n + j];
			*ret_i = i;
			*ret_j = j;
		}
	}
	return most > 0;
}

/* Sets the first missing pair of two axes. `left` says that there is one behind the cursor. */
static void seed_row(struct cover *c, size_t i, size_t j)
{
	uint64_t *at = &c->cursor[i * c->n + j];
	uint32_t nj = c->in->axes[j].n;

	while (!missing(c, i, (uint32_t)(*at / nj), j, (uint32_t)(*at % nj)))
		(*at)++;
	memset(c->fixed, 0, c->n * sizeof(*c->fixed));
	c->digits[i] = (uint32_t)(*at / nj);
	c->digits[j] = (uint32_t)(*at % nj);
	c->fixed[i] = c->fixed[j] = true;
}

/* ---- axes that the predicates look at ---- */

static bool is_allowed(const struct cover *c)
{
	uint64_t at = 0;
	size_t i;

	for (i = 0; i < c->n_relevant; i++)
		at = at * c->in->axes[c->relevant[i]].n + c->digits[c->relevant[i]];
	return (c->allowed[at / 64] >> (at % 64)) & 1;
}

/* Sets the relevant axes that are free to number `at` of their combinations. */
static void set_relevant(struct cover *c, uint64_t at)
{
	size_t i;

	for (i = c->n_relevant; i-- > 0;) {
		size_t x = c->relevant[i];

		if (c->fixed[x])
			continue;
		c->digits[x] = (uint32_t)(at % c->in->axes[x].n);
		at /= c->in->axes[x].n;
	}
}

static int ask_all(struct cover *c)
{
	uint64_t at;

	c->allowed = calloc((size_t)(c->n_combos / 64 + 1), sizeof(*c->allowed));
	if (!c->allowed)
		return -ENOMEM;
	memset(c->digits, 0, c->n * sizeof(*c->digits));
	for (at = 0; at < c->n_combos; at++) {
		set_relevant(c, at);
		if (!c->in->allowed || c->in->allowed(c->in->arg, c->digits))
			c->allowed[at / 64] |= UINT64_C(1) << (at % 64);
		else
			c->in->n_refused++;
	}
	return 0;
}

/* Missing pairs of the relevant axes among each other and with what the row began with. */
static uint64_t gain_of_relevant(const struct cover *c)
{
	uint64_t gain = 0;
	size_t i, j;

	for (i = 0; i < c->n_relevant; i++) {
		size_t x = c->relevant[i];

		for (j = 0; j < c->n; j++) {
			if (j == x || (!c->in->axes[j].relevant && !c->fixed[j]))
				continue;
			if (c->in->axes[j].relevant && j < x)
				continue; /* counted from the other side */
			gain += missing(c, x, c->digits[x], j, c->digits[j]);
		}
	}
	return gain;
}

/* The best allowed combination that has the row's first pair; false: no row can have it. */
static bool complete_relevant(struct cover *c)
{
	uint64_t total = 1, start, k, gain, most = 0;
	unsigned seen = 0;
	size_t i;

	for (i = 0; i < c->n_relevant; i++)
		if (!c->fixed[c->relevant[i]])
			total *= c->in->axes[c->relevant[i]].n;
	start = c->rows * 7919 % total; /* another corner for each row, where there are too many */
	for (k = 0; k < total && seen < MAX_CANDIDATES; k++) {
		set_relevant(c, (start + k) % total);
		if (!is_allowed(c))
			continue;
		gain = gain_of_relevant(c);
		if (seen++ == 0 || gain > most) {
			most = gain;
			memcpy(c->best, c->digits, c->n * sizeof(*c->best));
		}
	}
	if (seen == 0)
		return false;
	memcpy(c->digits, c->best, c->n * sizeof(*c->best));
	for (i = 0; i < c->n_relevant; i++)
		c->fixed[c->relevant[i]] = true;
	return true;
}

/* ---- the rest of a row ---- */

static void choose_value(struct cover *c, size_t axis)
{
	uint32_t n = c->in->axes[axis].n;
	uint32_t start = (uint32_t)(c->rows % n), k;
	uint64_t most = 0, weight = 0;

	c->digits[axis] = start;
	for (k = 0; k < n; k++) {
		uint32_t v = (start + k) % n;
		uint64_t gain = 0;
		size_t i;

		if (c->of_value[axis][v] == 0)
			continue;
		for (i = 0; i < c->n; i++)
			if (c->fixed[i])
				gain += missing(c, axis, v, i, c->digits[i]);
		if (gain < most || (gain == most && c->of_value[axis][v] <= weight))
			continue;
		most = gain;
		weight = c->of_value[axis][v];
		c->digits[axis] = v;
	}
	c->fixed[axis] = true;
}

/* The axis with the most values comes first: it is the hardest to place. */
static void choose_rest(struct cover *c)
{
	for (;;) {
		size_t found = c->n, i;

		for (i = 0; i < c->n; i++)
			if (!c->fixed[i] &&
			    (found == c->n || c->in->axes[i].n > c->in->axes[found].n))
				found = i;
		if (found == c->n)
			return;
		choose_value(c, found);
	}
}

static int make_rows(struct cover *c)
{
	size_t i = 0, j = 0;
	int rc = 0;

	while (rc == 0 && choose_axes(c, &i, &j)) {
		seed_row(c, i, j);
		if (!complete_relevant(c)) {
			/* this pair is in no allowed row: nobody misses it */
			c->cursor[i * c->n + j]++;
			c->left[i * c->n + j]--;
			continue;
		}
		choose_rest(c);
		cover_row(c);
		c->rows++;
		rc = c->in->row(c->in->arg, c->digits);
	}
	return rc;
}

/* ---- life ---- */

static void cover_deinit(struct cover *c)
{
	size_t i;

	for (i = 0; c->of_value && i < c->n; i++)
		free(c->of_value[i]);
	free(c->of_value);
	free(c->digits);
	free(c->best);
	free(c->fixed);
	free(c->left);
	free(c->cursor);
	free(c->relevant);
	free(c->allowed);
}

static int cover_init(struct cover *c)
{
	const struct cover_axis *axes = c->in->axes;
	size_t n = c->n, i;

	c->digits = calloc(n + 1, sizeof(*c->digits));
	c->best = calloc(n + 1, sizeof(*c->best));
	c->fixed = calloc(n + 1, sizeof(*c->fixed));
	c->left = calloc(n * n + 1, sizeof(*c->left));
	c->cursor = calloc(n * n + 1, sizeof(*c->cursor));
	c->of_value = calloc(n + 1, sizeof(*c->of_value));
	c->relevant = calloc(n + 1, sizeof(*c->relevant));
	if (!c->digits || !c->best || !c->fixed || !c->left || !c->cursor || !c->of_value ||
	    !c->relevant)
		return -ENOMEM;
	c->n_combos = 1;
	for (i = 0; i < n; i++) {
		c->of_value[i] = calloc(axes[i].n, sizeof(**c->of_value));
		if (!c->of_value[i])
			return -ENOMEM;
		if (!axes[i].relevant)
			continue;
		c->relevant[c->n_relevant++] = i;
		if (c->n_combos > COVER_MAX_RELEVANT / axes[i].n)
			return KG_ELIMIT;
		c->n_combos *= axes[i].n;
	}
	return ask_all(c);
}

/* A single axis has no pairs: each of its values is a row. */
static int single_rows(struct cover *c)
{
	uint32_t v;
	int rc = 0;

	memset(c->digits, 0, c->n * sizeof(*c->digits));
	for (v = 0; v < (c->n ? c->in->axes[0].n : 1) && rc == 0; v++) {
		c->digits[0] = v;
		if (is_allowed(c))
			rc = c->in->row(c->in->arg, c->digits);
	}
	return rc;
}

int cover_run(struct cover_input *in)
{
	struct cover c = {.in = in, .n = in->n};
	int rc;

	in->n_refused = 0;
	rc = cover_init(&c);
	if (rc == 0 && in->n < 2) {
		rc = single_rows(&c);
	} else if (rc == 0) {
		count_missing(&c);
		rc = make_rows(&c);
	}
	cover_deinit(&c);
	return rc;
}

/* ---- the least ---- */

/* The two relevant axes with the most values; false: there are no two. */
static bool largest_relevant(const struct cover *c, size_t *ret_a, size_t *ret_b)
{
	size_t i, a = c->n, b = c->n;

	for (i = 0; i < c->n_relevant; i++) {
		size_t x = c->relevant[i];

		if (a == c->n || c->in->axes[x].n > c->in->axes[a].n) {
			b = a;
			a = x;
		} else if (b == c->n || c->in->axes[x].n > c->in->axes[b].n) {
			b = x;
		}
	}
	*ret_a = a;
	*ret_b = b;
	return b < c->n;
}

/* Marks in of_value the values of relevant axes that an allowed combination has. */
static int mark_allowed(struct cover *c, uint64_t *ret_pairs)
{
	const struct cover_axis *axes = c->in->axes;
	size_t a, b, i;
	bool two = largest_relevant(c, &a, &b);
	uint64_t *seen = two ? calloc((size_t)axes[a].n * axes[b].n / 64 + 1, sizeof(*seen)) : NULL;
	uint64_t at;

	if (two && !seen)
		return -ENOMEM;
	for (at = 0; at < c->n_combos; at++) {
		if (!((c->allowed[at / 64] >> (at % 64)) & 1))
			continue;
		set_relevant(c, at);
		for (i = 0; i < c->n_relevant; i++)
			c->of_value[c->relevant[i]][c->digits[c->relevant[i]]] = 1;
		if (two) {
			uint64_t pair = (uint64_t)c->digits[a] * axes[b].n + c->digits[b];

			*ret_pairs += !((seen[pair / 64] >> (pair % 64)) & 1);
			seen[pair / 64] |= UINT64_C(1) << (pair % 64);
		}
	}
	free(seen);
	return 0;
}

static uint64_t n_values(const struct cover *c, size_t axis)
{
	uint64_t n = 0;
	uint32_t v;

	if (!c->in->axes[axis].relevant)
		return c->in->axes[axis].n;
	for (v = 0; v < c->in->axes[axis].n; v++)
		n += c->of_value[axis][v];
	return n;
}

static int find_least(struct cover *c, uint64_t *ret_least)
{
	uint64_t *n = calloc(c->n + 1, sizeof(*n));
	uint64_t least = 0;
	size_t i, j;
	int rc = n ? mark_allowed(c, &least) : -ENOMEM;

	for (i = 0; i < c->n && rc == 0; i++)
		n[i] = n_values(c, i);
	for (i = 0; i < c->n && rc == 0; i++)
		for (j = i + 1; j < c->n; j++)
			if ((!c->in->axes[i].relevant || !c->in->axes[j].relevant) &&
			    n[i] * n[j] > least)
				least = n[i] * n[j];
	free(n);
	if (rc == 0)
		*ret_least = c->in->n_refused < c->n_combos ? least : 0;
	return rc;
}

int cover_least(struct cover_input *in, uint64_t *ret_least)
{
	struct cover c = {.in = in, .n = in->n};
	int rc;

	in->n_refused = 0;
	rc = cover_init(&c);
	if (rc == 0)
		rc = find_least(&c, ret_least);
	cover_deinit(&c);
	return rc;
}
