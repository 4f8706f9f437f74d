/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * `pairwise: true`: per machine (and server) and workload, the cells of a covering array of strength
 * 2 over kernel, list, command line, each setting, parameter set and each parameter, instead of the
 * whole product. Pairs that come together in a cell that can run are covered by such cells; what is
 * left then, a value that the machine does not offer with each other one, by cells that cannot.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "coordinator/plan/plan_cover.h"
#include "coordinator/plan/plan_internal.h"

#define MOST_BOOTS (1 << 16) /* combinations that are asked whether they can boot */
#define BOOT_AXES  3 /* kernel, list, variant; settings follow, then the set, then parameters */

struct row {
	const uint32_t *digits; /* kernel, list, variant, settings; then parameters */
	uint32_t n_boot, n;
	uint32_t peer, workload; /* of the column; of the peer */
	uint32_t alt, set;
};

struct pairwise {
	struct plan_builder *b;
	struct plan_column *column;
	uint32_t peer, workload, alt;
	const struct plan_entry *entry;
	size_t n_boot;
	/* axes as the pairs count them: those of boots, the set, parameters by name */
	uint32_t *sizes;
	const char **param_names; /* of the axes behind the set */
	struct plan_interned *values;
	size_t n_axes;
	struct cover_pairs *pairs;
	const uint32_t **picks; /* of the alternative at hand */
	uint32_t *asked;
	/* owned, of the peer at hand, by the digits of boot axes; NULL: too many */
	bool *possible;
	bool *matters;	  /* boot axes that decide about it */
	struct row *rows; /* owned, of the whole column */
	size_t n_rows, size_rows;
	uint64_t most_rows;
};

/* ---- axes ---- */

static bool has_sets(const struct plan_entry *e)
{
	return e->n_alts > 1;
}

static size_t param_axis(struct pairwise *w, const char *name)
{
	size_t first = w->n_boot + has_sets(w->entry);
	size_t i;

	for (i = first; i < w->n_axes; i++)
		if (strcmp(w->param_names[i], name) == 0)
			return i;
	w->param_names[i] = name;
	w->n_axes++;
	return i;
}

/* The numbers of a parameter's values among those of all alternatives. One that is written twice is
 * one here; `picks` says which of the file's it is. */
static int add_param(struct pairwise *w, const struct plan_param *p, struct cover_axis *x,
		     const uint32_t **ret_picks)
{
	struct plan_builder *b = w->b;
	uint32_t *map = plan_scratch(b, (size_t)p->n, sizeof(*map));
	uint32_t *picks = plan_scratch(b, (size_t)p->n, sizeof(*picks));
	size_t axis = param_axis(w, p->param->name);
	struct plan_interned own = {0};
	uint32_t index;
	uint64_t v;
	int rc = map && picks ? 0 : plan_no_memory(b->err);

	for (v = 0; v < p->n && rc == 0; v++) {
		uint32_t known = own.n;

		rc = plan_intern(b, &own, p->values[v].text, &index);
		if (rc < 0 || index < known)
			continue;
		picks[index] = (uint32_t)v;
		rc = plan_intern(b, &w->values[axis], p->values[v].text, &map[index]);
	}
	w->sizes[axis] = w->values[axis].n;
	*x = (struct cover_axis){.shared = axis, .n = own.n, .map = map};
	*ret_picks = picks;
	free(own.texts);
	return rc;
}

/* Axes of one alternative, and per parameter what its values are in the file. */
static int fill_axes(struct pairwise *w, const struct plan_alt *a, uint32_t *alt_value,
		     struct cover_axis *axes, const uint32_t **picks, size_t *ret_n)
{
	const struct job_spec *j = w->b->job;
	size_t i, n = 0;
	int rc = 0;

	axes[n++] = (struct cover_axis){0, (uint32_t)w->b->n_kernels, NULL,
					plan_asks_about(j, "kernel")};
	axes[n++] = (struct cover_axis){1, (uint32_t)j->n_lsms, NULL, plan_asks_about(j, "lsm")};
	axes[n++] = (struct cover_axis){2, (uint32_t)w->b->n_variants, NULL,
					plan_asks_about(j, "cmdline")};
	for (i = 0; i < j->n_settings; i++, n++)
		axes[n] = (struct cover_axis){n, (uint32_t)j->settings[i].values.n, NULL,
					      plan_asks_about(j, j->settings[i].name)};
	if (has_sets(w->entry)) {
		axes[n] = (struct cover_axis){n, 1, alt_value, false};
		n++;
	}
	for (i = 0; i < a->n_params && rc == 0; i++, n++) {
		rc = add_param(w, &a->params[i], &axes[n], &picks[i]);
		axes[n].relevant = plan_asks_about(j, a->params[i].param->name);
	}
	*ret_n = n;
	return rc;
}

/* ---- boots that can be made ---- */

/* Settings number 0 is where a question's settings are put. */
static void ask_settings(struct plan_builder *b, const uint32_t *digits)
{
	struct plan_settings *s = &b->settings[0];
	size_t i, k;

	for (i = 0; i < b->job->n_settings; i++)
		for (k = 0; k < s->params.n; k++)
			if (strcmp(s->params.items[k].name, b->job->settings[i].name) == 0)
				s->params.items[k].value =
					b->job->settings[i].values.items[digits[i]].text;
}

static uint32_t boot_size(const struct pairwise *w, size_t axis)
{
	const struct plan_builder *b = w->b;

	switch (axis) {
	case 0:
		return (uint32_t)b->n_kernels;
	case 1:
		return (uint32_t)b->job->n_lsms;
	case 2:
		return (uint32_t)b->n_variants;
	default:
		return (uint32_t)b->job->settings[axis - BOOT_AXES].values.n;
	}
}

static uint64_t count_boots(const struct pairwise *w)
{
	uint64_t n = 1;
	size_t i;

	for (i = 0; i < w->n_boot; i++)
		n = plan_times(n, boot_size(w, i));
	return n;
}

/* An axis decides when a boot can be made and the one with this axis' first value cannot, or the
 * other way round. */
static void find_what_matters(struct pairwise *w, size_t n)
{
	size_t stride = 1, axis, i;

	for (axis = w->n_boot; axis-- > 0;) {
		uint32_t size = boot_size(w, axis);

		w->matters[axis] = false;
		for (i = 0; i < n && !w->matters[axis]; i++)
			w->matters[axis] =
				w->possible[i] != w->possible[i - i / stride % size * stride];
		stride *= size;
	}
}

/* Asks about all boots with the server at hand. */
static int find_possible(struct pairwise *w, uint32_t *digits, size_t n)
{
	struct plan_combo x = {.peer = w->peer};
	size_t i, axis;
	int rc = 0;

	for (i = 0; i < n && rc == 0; i++) {
		size_t rest = i;

		for (axis = w->n_boot; axis-- > 0; rest /= boot_size(w, axis))
			digits[axis] = (uint32_t)(rest % boot_size(w, axis));
		x.kernel = digits[0];
		x.lsm = digits[1];
		x.variant = digits[2];
		ask_settings(w->b, digits + BOOT_AXES);
		rc = plan_boot_possible(w->b, w->column, &x, &w->possible[i]);
	}
	if (rc == 0)
		find_what_matters(w, n);
	return rc;
}

static bool some_matters(const struct pairwise *w)
{
	size_t i;

	for (i = 0; w->possible && i < w->n_boot; i++)
		if (w->matters[i])
			return true;
	return false;
}

static bool boot_possible(const struct pairwise *w, const uint32_t *digits)
{
	size_t at = 0, i;

	for (i = 0; i < w->n_boot; i++)
		at = at * boot_size(w, i) + digits[i];
	return w->possible[at];
}

/* ---- rows ---- */

static int add_row(void *arg, const uint32_t *digits)
{
	struct pairwise *w = arg;
	const struct plan_alt *a = &w->entry->alts[w->alt];
	size_t n = w->n_boot + a->n_params;
	uint32_t *kept = plan_scratch(w->b, n, sizeof(*kept));
	struct row *r;
	size_t i;

	if (w->n_rows >= w->most_rows)
		return KG_ELIMIT;
	if (!kept ||
	    plan_grow((void **)&w->rows, &w->size_rows, w->n_rows + 1, sizeof(*w->rows)) < 0)
		return -ENOMEM;
	memcpy(kept, digits, w->n_boot * sizeof(*kept));
	for (i = 0; i < a->n_params; i++)
		kept[w->n_boot + i] = w->picks[i][digits[w->n_boot + has_sets(w->entry) + i]];
	r = &w->rows[w->n_rows++];
	*r = (struct row){kept, (uint32_t)w->n_boot, (uint32_t)n, w->peer, w->workload, w->alt, 0};
	return 0;
}

static bool row_allowed(void *arg, const uint32_t *digits)
{
	struct pairwise *w = arg;
	const uint32_t *params = digits + w->n_boot + has_sets(w->entry);
	const struct plan_ask q = {
		.column = w->column,
		.peer = &w->column->peers[w->peer],
		.kernel = digits[0],
		.lsm = digits[1],
		.variant = digits[2],
		.settings = 0,
		.entry = w->entry,
		.alt = w->alt,
		.digits = w->asked,
	};

	size_t i;

	for (i = 0; i < w->entry->alts[w->alt].n_params; i++)
		w->asked[i] = w->picks[i][params[i]];
	ask_settings(w->b, digits + BOOT_AXES);
	return !plan_excluded(w->b, &q);
}

static bool asks(const struct pairwise *w)
{
	return w->b->job->n_excludes || w->b->job->n_onlys;
}

static bool row_can_run(void *arg, const uint32_t *digits)
{
	const struct pairwise *w = arg;

	return boot_possible(w, digits) && (!asks(w) || row_allowed(arg, digits));
}

static int refuse(struct pairwise *w, int rc)
{
	struct plan_builder *b = w->b;
	uint64_t max = b->in->max_slots ? b->in->max_slots : PLAN_MAX_SLOTS;

	if (rc == -ENOMEM)
		return plan_no_memory(b->err);
	if (rc != KG_ELIMIT)
		return rc;
	return kg_err_set(b->err, KG_ELIMIT,
			  "%s: the job has more than %llu slots (all pairs, %u boots), the limit "
			  "is %llu",
			  b->job->file_name, (unsigned long long)max, b->p->blocks,
			  (unsigned long long)max);
}

/* ---- one workload ---- */

/* Pairs that some cell can run, by cells that can. */
static int cover_what_runs(struct pairwise *w, const struct cover_axis *axes, size_t n)
{
	struct cover_axis *own = plan_scratch(w->b, n, sizeof(*own));
	struct cover_input in = {
		.pairs = w->pairs,
		.axes = own,
		.n = n,
		.allowed = row_can_run,
		.row = add_row,
		.arg = w,
	};
	size_t i;
	int rc;

	if (!own)
		return -ENOMEM;
	memcpy(own, axes, n * sizeof(*own));
	for (i = 0; i < w->n_boot; i++)
		own[i].relevant = own[i].relevant || w->matters[i];
	rc = cover_run(&in);
	/* too many to ask about: all rows are as good then */
	return rc == KG_ELIMIT && w->n_rows < w->most_rows ? 0 : rc;
}

static int run_alt(struct pairwise *w, const struct cover_axis *axes, size_t n)
{
	const struct job_spec *j = w->b->job;
	struct cover_input in = {
		.pairs = w->pairs,
		.axes = axes,
		.n = n,
		.allowed = asks(w) ? row_allowed : NULL,
		.row = add_row,
		.arg = w,
	};
	size_t first = w->n_rows, i;
	uint64_t all = plan_times(plan_times(w->b->n_kernels, j->n_lsms),
				  plan_times(w->b->n_variants, plan_settings_count(j)));
	uint64_t left_out;
	int rc = some_matters(w) ? cover_what_runs(w, axes, n) : 0;

	if (rc == 0)
		rc = cover_run(&in);
	if (rc < 0)
		return refuse(w, rc);
	all = plan_times(all, w->entry->alts[w->alt].count);
	left_out = in.n_refused;
	for (i = 0; i < n; i++)
		if (!axes[i].relevant)
			left_out = plan_times(left_out, axes[i].n);
	w->b->p->excluded = plan_plus(w->b->p->excluded, left_out);
	w->b->p->pairwise_left =
		plan_plus(w->b->p->pairwise_left, all - left_out - (w->n_rows - first));
	return 0;
}

static int start_pairs(struct pairwise *w)
{
	struct plan_builder *b = w->b;

	if (cover_pairs_count(w->sizes, w->n_axes) > COVER_MAX_PAIRS)
		return kg_err_set(b->err, KG_ELIMIT,
				  "%s: pairwise: workload '%s' has more than %llu pairs of values",
				  b->job->file_name, w->entry->workload->name,
				  (unsigned long long)COVER_MAX_PAIRS);
	w->pairs = cover_pairs_new(w->sizes, w->n_axes);
	return w->pairs ? 0 : plan_no_memory(b->err);
}

/* Pairs of any two axes, allowed or not. */
static uint64_t most_pairs(const struct cover_axis *axes, size_t n)
{
	uint64_t most = 0;
	size_t i, k;

	for (i = 0; i < n; i++)
		for (k = i + 1; k < n; k++)
			if ((uint64_t)axes[i].n * axes[k].n > most)
				most = (uint64_t)axes[i].n * axes[k].n;
	return most;
}

/* Where predicates may leave enough or not, asks what they leave before rows are made. */
static int check_least(struct pairwise *w, const struct cover_axis *axes, size_t n)
{
	struct plan_builder *b = w->b;
	uint64_t max = b->in->max_slots ? b->in->max_slots : PLAN_MAX_SLOTS;
	struct cover_input in = {.axes = axes, .n = n, .allowed = row_allowed, .arg = w};
	uint64_t least = 0;
	int rc;

	if (!asks(w) || most_pairs(axes, n) <= w->most_rows - w->n_rows)
		return 0;
	rc = cover_least(&in, &least);
	if (rc < 0)
		return refuse(w, rc);
	if (least <= w->most_rows - w->n_rows)
		return 0;
	return plan_refuse_size(b, b->p->n_cells + w->n_rows + least, max);
}

static size_t most_axes(const struct pairwise *w)
{
	size_t n = w->n_boot + 1, i;

	for (i = 0; i < w->entry->n_alts; i++)
		n += w->entry->alts[i].n_params;
	return n;
}

static int cover_alts(struct pairwise *w)
{
	struct plan_builder *b = w->b;
	size_t n_alts = w->entry->n_alts, most = most_axes(w);
	struct cover_axis *axes = plan_scratch(b, n_alts * most, sizeof(*axes));
	uint32_t *alt_values = plan_scratch(b, n_alts, sizeof(*alt_values));
	const uint32_t **picks = plan_scratch(b, n_alts * most, sizeof(*picks));
	size_t *n = plan_scratch(b, n_alts, sizeof(*n));
	uint32_t i;
	int rc = 0;

	w->asked = plan_scratch(b, most, sizeof(*w->asked));
	if (!axes || !alt_values || !picks || !n || !w->asked)
		return plan_no_memory(b->err);
	for (i = 0; i < n_alts && rc == 0; i++) {
		alt_values[i] = i;
		rc = fill_axes(w, &w->entry->alts[i], &alt_values[i], axes + i * most,
			       picks + i * most, &n[i]);
	}
	for (i = 0; i < n_alts && rc == 0; i++) {
		w->alt = i;
		w->picks = picks + i * most;
		rc = check_least(w, axes + i * most, n[i]);
	}
	if (rc == 0)
		rc = start_pairs(w);
	for (i = 0; i < n_alts && rc == 0; i++) {
		w->alt = i;
		w->picks = picks + i * most;
		rc = run_alt(w, axes + i * most, n[i]);
	}
	return rc;
}

static int cover_workload(struct pairwise *w)
{
	struct plan_builder *b = w->b;
	const struct job_spec *j = b->job;
	size_t most = most_axes(w), i;
	int rc = plan_entry_fill(b, w->entry);

	w->sizes = plan_scratch(b, most, sizeof(*w->sizes));
	w->param_names = plan_scratch(b, most, sizeof(*w->param_names));
	w->values = plan_scratch(b, most, sizeof(*w->values));
	if (rc == 0 && (!w->sizes || !w->param_names || !w->values))
		rc = plan_no_memory(b->err);
	if (rc < 0)
		return rc;
	w->sizes[0] = (uint32_t)b->n_kernels;
	w->sizes[1] = (uint32_t)j->n_lsms;
	w->sizes[2] = (uint32_t)b->n_variants;
	for (i = 0; i < j->n_settings; i++)
		w->sizes[BOOT_AXES + i] = (uint32_t)j->settings[i].values.n;
	w->n_axes = w->n_boot;
	if (has_sets(w->entry))
		w->sizes[w->n_axes++] = (uint32_t)w->entry->n_alts;
	rc = cover_alts(w);
	cover_pairs_free(w->pairs);
	w->pairs = NULL;
	for (i = 0; i < w->n_axes; i++)
		free(w->values[i].texts);
	return rc;
}

/* ---- from rows to combinations and sets ---- */

static int compare_digits(const struct row *x, const struct row *y, uint32_t from, uint32_t to)
{
	uint32_t i;

	for (i = from; i < to; i++)
		if (x->digits[i] != y->digits[i])
			return x->digits[i] < y->digits[i] ? -1 : 1;
	return 0;
}

static int compare_number(uint32_t x, uint32_t y)
{
	return x < y ? -1 : x > y;
}

static int compare_sets(const void *a, const void *b)
{
	const struct row *x = a, *y = b;
	int c = compare_number(x->peer, y->peer);

	if (c == 0)
		c = compare_number(x->workload, y->workload);
	if (c == 0)
		c = compare_number(x->alt, y->alt);
	return c ? c : compare_digits(x, y, x->n_boot, x->n);
}

static int compare_combos(const void *a, const void *b)
{
	const struct row *x = a, *y = b;
	int c = compare_digits(x, y, 0, x->n_boot);

	if (c == 0)
		c = compare_number(x->peer, y->peer);
	return c ? c : compare_number(x->set, y->set);
}

/* Its number in the whole product of the machine's workloads. */
static uint32_t order_of(const struct plan_column *c, const struct row *r)
{
	size_t workload = c->peers[r->peer].workloads[r->workload];
	const struct plan_entry *e = c->entries[workload];
	uint64_t at = 0, before = 0;
	size_t i;

	for (i = 0; i < e->alts[r->alt].n_params; i++)
		at = plan_plus(plan_times(at, e->alts[r->alt].params[i].n),
			       r->digits[r->n_boot + i]);
	for (i = 0; i < r->alt; i++)
		before = plan_plus(before, e->alts[i].count);
	for (i = 0; i < workload; i++)
		before = plan_plus(before, c->entries[i] ? c->entries[i]->count : 0);
	at = plan_plus(at, before);
	return at < UINT32_MAX ? (uint32_t)at : UINT32_MAX - 1;
}

/* The sets of one peer: its rows stand side by side. */
static int make_sets(struct pairwise *w, struct row *rows, size_t n)
{
	struct plan_builder *b = w->b;
	struct plan_peer *p = &w->column->peers[rows[0].peer];
	struct plan_sets *sets = plan_scratch(b, 1, sizeof(*sets));
	size_t i;
	int rc = 0;

	if (!sets)
		return plan_no_memory(b->err);
	sets->items = plan_scratch(b, n, sizeof(*sets->items));
	if (!sets->items)
		return plan_no_memory(b->err);
	for (i = 0; i < n && rc == 0; i++) {
		if (i == 0 || compare_sets(&rows[i - 1], &rows[i]) != 0) {
			struct plan_set *s = &sets->items[sets->n++];

			rc = plan_set_fill(b, w->column->entries[p->workloads[rows[i].workload]],
					   rows[i].alt, rows[i].digits + rows[i].n_boot, s);
			s->order = order_of(w->column, &rows[i]);
		}
		rows[i].set = (uint32_t)sets->n - 1;
	}
	p->sets = sets;
	return rc < 0 ? rc : plan_sets_same(b, sets);
}

static int make_all_sets(struct pairwise *w)
{
	size_t i, first;
	int rc = 0;

	if (w->n_rows)
		qsort(w->rows, w->n_rows, sizeof(*w->rows), compare_sets);
	for (first = 0; first < w->n_rows && rc == 0; first = i) {
		for (i = first; i < w->n_rows && w->rows[i].peer == w->rows[first].peer; i++)
			;
		rc = make_sets(w, w->rows + first, i - first);
	}
	return rc;
}

/* The number of a row's settings; 0 is taken by questions. */
static int settings_of(struct plan_builder *b, const uint32_t *digits, uint32_t *ret)
{
	struct kg_str key = {0};
	uint32_t index, known = b->settings_keys.n;
	size_t i;
	int rc;

	for (i = 0; i < b->job->n_settings; i++)
		kg_str_addf(&key, "%u,", digits[i]);
	rc = key.failed ? plan_no_memory(b->err)
			: plan_intern(b, &b->settings_keys, kg_str_text(&key), &index);
	kg_str_deinit(&key);
	if (rc < 0)
		return rc;
	*ret = index + 1;
	return index == known ? plan_settings_of(b, digits, ret) : 0;
}

static int make_combos(struct pairwise *w)
{
	struct plan_builder *b = w->b;
	size_t i;
	int rc = 0;

	b->n_combos = b->n_chosen = 0;
	if (w->n_rows)
		qsort(w->rows, w->n_rows, sizeof(*w->rows), compare_combos);
	for (i = 0; i < w->n_rows && rc == 0; i++) {
		const struct row *r = &w->rows[i];
		struct plan_combo x = {
			r->digits[0], r->digits[1], r->digits[2], 0, r->peer, 0, 0, b->n_chosen, 0};

		if (plan_grow((void **)&b->chosen, &b->size_chosen, b->n_chosen + 1,
			      sizeof(*b->chosen)) < 0)
			return plan_no_memory(b->err);
		b->chosen[b->n_chosen++] = r->set;
		if (i == 0 || compare_digits(r - 1, r, 0, r->n_boot) != 0 ||
		    r[-1].peer != r->peer) {
			rc = settings_of(b, r->digits + BOOT_AXES, &x.settings);
			if (rc == 0)
				rc = plan_add_combo(b, &x);
		}
		if (rc == 0)
			b->combos[b->n_combos - 1].n_sets++;
	}
	return rc;
}

static int cover_column(struct pairwise *w)
{
	struct plan_column *c = w->column;
	uint32_t *digits = plan_scratch(w->b, w->n_boot, sizeof(*digits));
	uint64_t boots = count_boots(w);
	int rc = 0;

	w->matters = plan_scratch(w->b, w->n_boot, sizeof(*w->matters));
	w->possible = boots <= MOST_BOOTS ? calloc((size_t)boots, sizeof(*w->possible)) : NULL;
	if (!digits || !w->matters || (boots <= MOST_BOOTS && !w->possible))
		return plan_no_memory(w->b->err);
	for (w->peer = 0; w->peer < c->n_peers && rc == 0; w->peer++) {
		const struct plan_peer *p = &c->peers[w->peer];

		if (w->possible)
			rc = find_possible(w, digits, (size_t)boots);
		for (w->workload = 0; w->workload < p->n_workloads && rc == 0; w->workload++) {
			w->entry = c->entries[p->workloads[w->workload]];
			rc = cover_workload(w);
		}
	}
	if (rc == 0)
		rc = make_all_sets(w);
	return rc < 0 ? rc : make_combos(w);
}

int plan_pairwise_combos(struct plan_builder *b, struct plan_column *c)
{
	uint64_t max = b->in->max_slots ? b->in->max_slots : PLAN_MAX_SLOTS;
	struct pairwise w = {.b = b, .column = c, .n_boot = BOOT_AXES + b->job->n_settings};
	uint32_t *zeros = plan_scratch(b, b->job->n_settings + 1, sizeof(*zeros));
	uint32_t index;
	size_t cells = b->p->n_cells - (size_t)b->p->canaries;
	int rc = zeros ? 0 : plan_no_memory(b->err);

	if (rc == 0 && b->n_settings == 0)
		rc = plan_settings_of(b, zeros, &index);
	w.most_rows = max / b->p->blocks;
	w.most_rows = w.most_rows > cells ? w.most_rows - cells : 0;
	if (rc == 0)
		rc = cover_column(&w);
	free(w.rows);
	free(w.possible);
	return rc;
}
