/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The operations that vectors name, one row each; for vectors.c. Pure.
 */
#ifndef KG_COORDINATOR_ANALYSIS_VECTORS_OPS_H
#define KG_COORDINATOR_ANALYSIS_VECTORS_OPS_H

#include <stdbool.h>
#include <stddef.h>

#include <jansson.h>

#include "common/err.h"

#define VECTORS_ARRAYS_MAX 4

/* One case while it runs. */
struct vectors_run {
	json_t *input;	/* borrows */
	json_t *series; /* borrows; meta.series of the file: name -> list of numbers; may be NULL */
	double rtol;
	json_t *got;	/* key -> what came out; null for undefined */
	json_t *floors; /* key -> absolute difference that is allowed besides rtol */
	double *arrays[VECTORS_ARRAYS_MAX];
	size_t n_arrays;
	bool no_memory;
	bool broken;	     /* the input is not what the operation takes */
	struct kg_err where; /* then */
	struct kg_err err;   /* why the function refuses */
};

/* Arguments. On a fault they set `broken` and the text, and give an empty or a 0 value. */
const double *vectors_array(struct vectors_run *r, const char *key, size_t *ret_n);
double vectors_number(struct vectors_run *r, const char *key);
double vectors_number_or(struct vectors_run *r, const char *key, double otherwise);
const char *vectors_text(struct vectors_run *r, const char *key);
/* For an argument that is of the right type and still of no use: the first one counts. */
void vectors_broken(struct vectors_run *r, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/* Results. A value that is not finite becomes null. */
void vectors_put(struct vectors_run *r, const char *key, double v);
void vectors_put_near(struct vectors_run *r, const char *key, double v, double floor);
void vectors_put_json(struct vectors_run *r, const char *key, json_t *owned);
void vectors_put_array(struct vectors_run *r, const char *key, const double *v, size_t n);

struct vectors_op {
	const char *name;
	/* 0, or a negative code with err set when the function refuses. */
	int (*run)(struct vectors_run *r);
};
const struct vectors_op *vectors_op_find(const char *name); /* NULL: unknown */

/* vectors_series.c */
int vectors_edivisive_otava(struct vectors_run *r);
int vectors_edivisive_qhat(struct vectors_run *r);

#endif
