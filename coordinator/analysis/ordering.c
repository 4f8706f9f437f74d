/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "coordinator/analysis/ordering.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "coordinator/analysis/rng.h"

#define RADIX_FROM	  1024
#define RADIX_BITS	  11
#define RADIX_PASSES	  6 /* 64 bits */
#define RADIX_SIZE	  (1U << RADIX_BITS)
#define SELECT_SORT_BELOW 16

int stats_check(const double *x, size_t n, size_t min_n, const char *name, struct kg_err *err)
{
	if (n == 0 && min_n > 0)
		return kg_err_set(err, KG_EINVALID,
				  "'%s' is empty, at least %zu value%s wanted (n=0 is refused)",
				  name, min_n, min_n == 1 ? " is" : "s are");
	if (n < min_n)
		return kg_err_set(err, KG_EINVALID,
				  "'%s' has %zu value%s, at least %zu values are wanted", name, n,
				  n == 1 ? "" : "s", min_n);
	for (size_t i = 0; i < n; i++) {
		if (!isfinite(x[i]))
			return kg_err_set(err, KG_EINVALID,
					  "'%s[%zu]' is %s, a finite number is wanted", name, i,
					  isnan(x[i]) ? "nan" : "infinite");
	}
	return 0;
}

static int order_doubles(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

static void sort_insertion(double *x, size_t n)
{
	for (size_t i = 1; i < n; i++) {
		double v = x[i];
		size_t j = i;

		for (; j > 0 && x[j - 1] > v; j--)
			x[j] = x[j - 1];
		x[j] = v;
	}
}

/* Bits whose unsigned order is the order of the numbers, and back. */
static uint64_t key_of(uint64_t bits)
{
	return bits >> 63 ? ~bits : bits | (UINT64_C(1) << 63);
}

static uint64_t bits_of(uint64_t key)
{
	return key >> 63 ? key & ~(UINT64_C(1) << 63) : ~key;
}

static unsigned digit(uint64_t key, unsigned pass)
{
	return (unsigned)(key >> (pass * RADIX_BITS)) & (RADIX_SIZE - 1);
}

static void sort_radix(double *x, size_t n, uint64_t *from, uint64_t *to, size_t *counts)
{
	for (size_t i = 0; i < n; i++) {
		uint64_t bits;

		memcpy(&bits, &x[i], sizeof(bits));
		from[i] = key_of(bits);
		for (unsigned pass = 0; pass < RADIX_PASSES; pass++)
			counts[pass * RADIX_SIZE + digit(from[i], pass)]++;
	}
	for (unsigned pass = 0; pass < RADIX_PASSES; pass++) {
		size_t *c = &counts[pass * RADIX_SIZE], sum = 0;
		uint64_t *swap = from;

		if (c[digit(from[0], pass)] == n) /* all the same here */
			continue;
		for (unsigned d = 0; d < RADIX_SIZE; d++) {
			size_t here = c[d];

			c[d] = sum;
			sum += here;
		}
		for (size_t i = 0; i < n; i++)
			to[c[digit(from[i], pass)]++] = from[i];
		from = to;
		to = swap;
	}
	for (size_t i = 0; i < n; i++) {
		uint64_t bits = bits_of(from[i]);

		memcpy(&x[i], &bits, sizeof(bits));
	}
}

void stats_sort(double *x, size_t n)
{
	uint64_t *keys = NULL;
	size_t *counts = NULL;

	if (n <= SELECT_SORT_BELOW) {
		sort_insertion(x, n);
		return;
	}
	if (n >= RADIX_FROM) {
		keys = calloc(2 * n, sizeof(*keys));
		counts = calloc((size_t)RADIX_PASSES * RADIX_SIZE, sizeof(*counts));
	}
	if (keys && counts)
		sort_radix(x, n, keys, keys + n, counts);
	else /* few, or no memory to spare */
		qsort(x, n, sizeof(*x), order_doubles);
	free(counts);
	free(keys);
}

double *stats_sorted_copy(const double *x, size_t n)
{
	double *copy = calloc(n ? n : 1, sizeof(*copy));

	if (!copy)
		return NULL;
	if (n)
		memcpy(copy, x, n * sizeof(*copy));
	stats_sort(copy, n);
	return copy;
}

static void swap_at(double *x, size_t i, size_t j)
{
	double v = x[i];

	x[i] = x[j];
	x[j] = v;
}

static double middle_of_three(double a, double b, double c)
{
	return fmax(fmin(a, b), fmin(fmax(a, b), c));
}

double stats_select(double *x, size_t n, size_t k)
{
	struct stats_rng rng = {.state = n};
	size_t first = 0, end = n;

	while (end - first > SELECT_SORT_BELOW) {
		size_t span = end - first, low = first, high = end, i = first;
		double pivot = middle_of_three(x[first + stats_rng_next(&rng) % span],
					       x[first + stats_rng_next(&rng) % span],
					       x[first + stats_rng_next(&rng) % span]);

		/* [first, low) below, [low, i) equal, [high, end) above */
		while (i < high) {
			if (x[i] < pivot)
				swap_at(x, i++, low++);
			else if (x[i] > pivot)
				swap_at(x, i, --high);
			else
				i++;
		}
		if (k < low)
			end = low;
		else if (k >= high)
			first = high;
		else
			return pivot;
	}
	sort_insertion(x + first, end - first);
	return x[k];
}

double stats_middle(double a, double b)
{
	double sum = a + b;

	return isfinite(sum) ? sum / 2 : a / 2 + b / 2;
}
