/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Where a cell came from: the job file's places of all that made it. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "coordinator/plan/plan_internal.h"

#define SHOWN_BOOTS 12

struct explaining {
	struct plan_builder *b;
	const struct plan *p;
	const struct plan_cell *c;
	size_t index;
	const struct plan_column *column;
	struct kg_texts *lines;
	int rc; /* what follows a failure does nothing */
};

static void line(struct explaining *x, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static void line(struct explaining *x, const char *fmt, ...)
{
	char text[4096];
	va_list ap;

	if (x->rc < 0)
		return;
	va_start(ap, fmt);
	(void)vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	if (plan_texts_add(x->lines, text) < 0)
		x->rc = plan_no_memory(x->b->err);
}

/* "job.yaml:4:11", in the caller's room. */
struct place_text {
	char text[320];
};

static const char *place(const struct explaining *x, struct job_place at, struct place_text *buf)
{
	if (at.line == 0)
		(void)snprintf(buf->text, sizeof(buf->text), "not in the file");
	else
		(void)snprintf(buf->text, sizeof(buf->text), "%s:%u:%u",
			       at.file ? at.file : x->b->job->file_name, at.line, at.column);
	return buf->text;
}

/* ---- machine, kernel, list ---- */

/* The one of the names that is a machine's; NULL: none is. */
static const struct job_text *named(const struct job_machines *m, const char *name)
{
	size_t i;

	for (i = 0; i < m->names.n; i++)
		if (strcmp(m->names.items[i].text, name) == 0)
			return &m->names.items[i];
	return NULL;
}

static void explain_machines(struct explaining *x, const char *key, const char *name,
			     const struct job_machines *m)
{
	const struct job_text *t = named(m, name);
	struct place_text at;

	if (t)
		line(x, "%s '%s': named at %s", key, name, place(x, t->at, &at));
	else if (m->where)
		line(x, "%s '%s': matches '%s' at %s", key, name, m->where_text,
		     place(x, m->at, &at));
	else
		line(x, "%s '%s': no choice is made in the file, so every known one counts", key,
		     name);
}

/* A machine that a role names as client is one of the job's, whatever `machines` says. */
static void explain_own_machine(struct explaining *x)
{
	const struct job_spec *j = x->b->job;
	const struct job_machines *m = &j->machines;
	bool chosen = m->names.n
			      ? named(m, x->c->machine) != NULL
			      : !m->where || predicate_matches_machine(m->where,
								       &x->column->machine->facts);
	const struct job_text *t = NULL;
	struct place_text at;
	size_t i;

	for (i = 0; i < j->n_workloads && !t && !chosen; i++)
		if (j->workloads[i].role)
			t = named(&j->workloads[i].role->client, x->c->machine);
	if (t)
		line(x, "machine '%s': none of 'machines', but a client that is named at %s",
		     x->c->machine, place(x, t->at, &at));
	else
		explain_machines(x, "machine", x->c->machine, m);
}

static void explain_kernel(struct explaining *x)
{
	const struct job_text *t = x->b->kernels[x->c->kernel_order].wanted;
	struct place_text at;

	line(x, "kernel '%s' (digest %.12s): '%s' at %s", x->c->kernel_label, x->c->kernel, t->text,
	     place(x, t->at, &at));
}

static const struct job_lsm *find_list(const struct job_spec *j, const char *label)
{
	size_t i;

	for (i = 0; i < j->n_lsms; i++)
		if (strcmp(j->lsms[i].label, label) == 0)
			return &j->lsms[i];
	return NULL;
}

/* From list to list, as far as they are derived. */
static void explain_origin(struct explaining *x, const struct job_lsm *l)
{
	const struct job_lsm *base;
	struct place_text at;

	for (; l->base && (base = find_list(x->b->job, l->base)); l = base)
		line(x, "  '%s' is '%s'%s; '%s' is %s, at %s", l->label, base->label,
		     l->changes[0] ? l->changes : " as it is", base->label,
		     base->request[0] ? base->request : "the empty list", place(x, base->at, &at));
}

static void explain_list(struct explaining *x)
{
	const struct job_lsm *l = &x->b->job->lsms[x->c->lsm_order];
	const struct plan *p = x->p;
	struct place_text at;
	size_t i;

	if (l->at.line == 0)
		line(x, "lsm '%s': the kernel's own list, for the file asks for none", l->label);
	else
		line(x, "lsm '%s': %s, at %s", l->label,
		     l->request[0] ? l->request : "the empty list", place(x, l->at, &at));
	explain_origin(x, l);
	line(x, "  its list on this kernel: %s", x->c->lsm_effective);
	for (i = 0; i < p->n_merges; i++) {
		const struct plan_merge *m = &p->merges[i];

		if (strcmp(m->machine, x->c->machine) != 0 ||
		    strcmp(m->kernel, x->c->kernel) != 0 ||
		    strcmp(m->effective, x->c->lsm_effective) != 0)
			continue;
		line(x, "  '%s' gives the same list as '%s'", m->lsm, m->into);
	}
}

/* ---- command line and settings ---- */

static void explain_cmdline(struct explaining *x)
{
	struct plan_builder *b = x->b;
	const char *base = x->column->machine->base_cmdline;
	struct place_text at;
	uint32_t i;

	line(x, "command line: %s", x->c->cmdline[0] ? x->c->cmdline : "nothing is added");
	if (base && base[0])
		line(x, "  behind the machine's own: %s", base);
	if (b->job->cmdline[0])
		line(x, "  '%s' at %s", b->job->cmdline, place(x, b->job->cmdline_at, &at));
	for (i = 0; i < b->n_variants && x->rc == 0; i++) {
		char *own = plan_variant_line(b, base ? base : "", i, x->c->lsm_request);
		bool same = own && strcmp(own, x->c->cmdline) == 0;

		if (!own)
			x->rc = plan_no_memory(b->err);
		free(own);
		if (same && b->variants[i].label[0]) /* not the one that is there without `vary` */
			line(x, "  variant '%s' at %s", b->variants[i].label,
			     place(x, b->variants[i].at, &at));
	}
}

/* Whether `part` stands in `text` between separators or at its ends. */
static bool has_part(const char *text, const char *part, const char *separator)
{
	size_t len = strlen(part), gap = strlen(separator);
	const char *at = text;

	while (len && (at = strstr(at, part))) {
		bool begins = at == text || ((size_t)(at - text) >= gap &&
					     strncmp(at - gap, separator, gap) == 0);

		if (begins && (!at[len] || strncmp(at + len, separator, gap) == 0))
			return true;
		at++;
	}
	return false;
}

static void explain_settings(struct explaining *x)
{
	const struct job_spec *j = x->b->job;
	struct place_text at;
	size_t i, k;

	for (i = 0; i < j->n_settings; i++) {
		const struct job_texts *values = &j->settings[i].values;

		for (k = 0; k < values->n; k++) {
			char part[512];

			(void)snprintf(part, sizeof(part), "%s=%s", j->settings[i].name,
				       values->items[k].text);
			if (!has_part(x->c->settings, part, "; "))
				continue;
			line(x, "setting %s: %zu of %zu, at %s", part, k + 1, values->n,
			     place(x, values->items[k].at, &at));
			break;
		}
	}
}

/* ---- workload and parameters ---- */

static const struct plan_value *value_in(const struct plan_param *p, const char *params,
					 uint64_t *ret_at)
{
	uint64_t i;

	for (i = 0; i < p->n; i++) {
		if (!has_part(params, p->values[i].word, " "))
			continue;
		*ret_at = i;
		return &p->values[i];
	}
	return NULL;
}

static bool is_varied(const struct plan_alt *a, size_t item)
{
	size_t i;

	for (i = 0; i < a->n_params; i++)
		if (a->params[i].item == item)
			return true;
	return false;
}

/* Whether an alternative has the cell's parameters. */
static bool makes(const struct plan_alt *a, const char *params)
{
	uint64_t at;
	size_t i;

	for (i = 0; i < a->n_params; i++)
		if (!value_in(&a->params[i], params, &at))
			return false;
	for (i = 0; i < a->n_items; i++)
		if (!is_varied(a, i) && !has_part(params, a->items[i].word, " "))
			return false;
	return true;
}

/* The place of a value as the file has it: a range stands for many. */
static struct job_place value_place(const struct plan_param *p, uint64_t at)
{
	const struct job_texts *values = &p->param->values;

	return at < values->n && values->n == p->n ? values->items[at].at : p->param->at;
}

static void explain_param(struct explaining *x, const struct plan_entry *e,
			  const struct plan_alt *a, size_t item)
{
	const char *unit = plan_unit(plan_find_param(e->decl, a->names[item]));
	const char *blank = unit ? " " : "";
	struct place_text at;
	uint64_t k = 0;
	size_t i;

	for (i = 0; i < a->n_params; i++) {
		const struct plan_param *p = &a->params[i];
		const struct plan_value *v;
		char from[160];

		if (p->item != item || !(v = value_in(p, x->c->params, &k)))
			continue;
		if (p->set)
			(void)snprintf(from, sizeof(from), "of the set '%s'", p->set->name);
		else if (p->default_of)
			(void)snprintf(from, sizeof(from), "of '%s'",
				       p->default_of->matrix ? "matrix" : "defaults");
		else
			(void)snprintf(from, sizeof(from), "given");
		line(x, "  %s%s%s: %s, %" PRIu64 " of %" PRIu64 ", at %s", v->word, blank,
		     unit ? unit : "", from, k + 1, p->n, place(x, value_place(p, k), &at));
		return;
	}
	line(x, "  %s%s%s: default of the workload", a->items[item].word, blank, unit ? unit : "");
}

static void explain_alt(struct explaining *x, const struct plan_entry *e, const struct plan_alt *a,
			bool first)
{
	const struct job_workload *w = e->workload;
	struct place_text at;
	size_t i;

	if (!first) {
		line(x, "  asked for once more by '%s' at %s", w->name, place(x, w->at, &at));
		return;
	}
	line(x, "workload '%s' at %s%s%s%s", w->name, place(x, w->at, &at),
	     a->set ? ", with the set '" : "", a->set ? a->set->name : "", a->set ? "'" : "");
	for (i = 0; i < a->n_items; i++)
		explain_param(x, e, a, i);
	if (!w->role)
		return;
	explain_machines(x, "client", x->c->machine, &w->role->client);
	if (x->c->peer[0])
		explain_machines(x, "server", x->c->peer, &w->role->server);
}

/* Workloads of one peer of the machine. */
static void explain_peer(struct explaining *x, const struct plan_peer *p, bool *first)
{
	size_t i, k;

	for (i = 0; i < p->n_workloads && x->rc == 0; i++) {
		const struct plan_entry *e = x->column->entries[p->workloads[i]];

		if (strcmp(e->workload->name, x->c->workload) != 0)
			continue;
		x->rc = plan_entry_fill(x->b, e);
		for (k = 0; k < e->n_alts && x->rc == 0; k++) {
			if (!makes(&e->alts[k], x->c->params))
				continue;
			explain_alt(x, e, &e->alts[k], *first);
			*first = false;
		}
	}
}

static void explain_workload(struct explaining *x)
{
	bool first = true;
	size_t k;

	for (k = 0; k < x->column->n_peers; k++) {
		const struct plan_peer *p = &x->column->peers[k];
		const char *server = p->machine ? p->machine->facts.name : "";

		if (strcmp(server, x->c->peer) == 0)
			explain_peer(x, p, &first);
	}
}

static void explain_canary(struct explaining *x)
{
	const struct job_spec *j = x->b->job;
	struct place_text at;

	if (j->canary_mode == JOB_CANARY_GIVEN)
		line(x, "canary '%s' %s: named at %s", x->c->workload, x->c->params,
		     place(x, j->canary->at, &at));
	else
		line(x,
		     "canary '%s' %s: chosen, because its declaration says 'canary: true' and the "
		     "machine has it",
		     x->c->workload, x->c->params);
	line(x, "  it runs first in the first and in the last boot of each block");
}

/* ---- what it passed, what becomes of it ---- */

static void explain_predicates(struct explaining *x)
{
	const struct job_spec *j = x->b->job;
	struct place_text at;
	size_t i;

	for (i = 0; i < j->n_excludes; i++)
		line(x, "exclude '%s' at %s: does not match it", j->excludes[i].text,
		     place(x, j->excludes[i].at, &at));
	for (i = 0; i < j->n_onlys; i++)
		line(x, "only '%s' at %s: matches it", j->onlys[i].text,
		     place(x, j->onlys[i].at, &at));
	if (j->pairwise)
		line(x, "pairwise: chosen for pairs of values that no cell had that was chosen "
			"before it");
}

static void explain_leave(struct explaining *x)
{
	const struct kconfig_facts *config = x->b->kernels[x->c->kernel_order].kernel->config;
	const char *base = x->column->machine->base_cmdline;
	const char *why = NULL;

	if (!x->c->leave_by_reboot)
		return;
	if (config)
		why = plan_leave(config, x->c->lsm_effective, x->c->cmdline);
	if (config && !why)
		why = plan_leave(config, x->c->lsm_effective, base ? base : "");
	line(x, "last in its block and left by a reboot: %s%s", why ? "of this kernel, " : "",
	     why ? why
		 : "a setting forbids the next kexec, or its server cannot be left otherwise");
}

static void explain_boots(struct explaining *x)
{
	const struct plan *p = x->p;
	struct kg_str s = {0};
	size_t i, n = 0;

	for (i = 0; i < p->n_slots; i++) {
		const struct plan_slot *at = &p->slots[i];

		if (at->cell != x->index || at->visit == 0)
			continue;
		if (n++ < SHOWN_BOOTS)
			kg_str_addf(&s, "%s%u (block %u)", n > 1 ? ", " : "", at->visit, at->block);
	}
	if (n == 0)
		line(x, "boots: none");
	else
		line(x, "boots of this machine that run it: %s%s; %zu in all", kg_str_text(&s),
		     n > SHOWN_BOOTS ? ", ..." : "", n);
	if (s.failed && x->rc == 0)
		x->rc = plan_no_memory(x->b->err);
	kg_str_deinit(&s);
}

static void explain(struct explaining *x)
{
	const struct plan_cell *c = x->c;

	line(x, "cell %zu of %zu: %s %s %s%s%s %s %s%s%s", x->index + 1, x->p->n_cells, c->machine,
	     c->kernel_label, c->lsm_label, c->variant[0] ? " " : "", c->variant, c->workload,
	     c->params, c->peer[0] ? " with " : "", c->peer);
	line(x, "identity: %s", c->identity);
	explain_own_machine(x);
	explain_kernel(x);
	explain_list(x);
	explain_cmdline(x);
	explain_settings(x);
	if (c->canary)
		explain_canary(x);
	else
		explain_workload(x);
	if (!c->canary) /* it comes with each boot, whatever is left out */
		explain_predicates(x);
	explain_leave(x);
	if (c->infeasible)
		line(x, "cannot run: %s", c->infeasible);
	explain_boots(x);
}

static int find_column(struct explaining *x)
{
	struct plan_builder *b = x->b;
	size_t i;

	for (i = 0; i < b->n_own; i++)
		if (strcmp(b->columns[i].name, x->c->machine) == 0)
			break;
	if (i == b->n_own)
		return kg_err_set(b->err, KG_EINVALID, "the plan is of another job");
	x->column = &b->columns[i];
	return 0;
}

int plan_explain_cell(const struct plan_input *in, const struct plan *p, uint64_t number,
		      struct kg_texts *ret_lines, struct kg_err *err)
{
	struct plan_builder b;
	struct explaining x = {.b = &b, .p = p, .lines = ret_lines};
	int rc;

	if (number < 1 || number > p->n_cells)
		return kg_err_set(err, KG_ENOTFOUND,
				  "there is no cell %" PRIu64 ": the plan has cells 1 to %zu",
				  number, p->n_cells);
	memset(ret_lines, 0, sizeof(*ret_lines));
	rc = plan_builder_init(&b, in, err);
	x.index = (size_t)number - 1;
	x.c = &p->cells[x.index];
	if (rc == 0)
		rc = find_column(&x);
	if (rc == 0) {
		explain(&x);
		rc = x.rc;
	}
	plan_builder_deinit(&b);
	if (rc < 0)
		kg_texts_deinit(ret_lines);
	return rc;
}
