/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "coordinator/plan/plan_cover.h"
#include "coordinator/plan/plan_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Memory is bounded by the number of slots, which is checked before; the arenas need a number. */
#define MEMORY_BUDGET (SIZE_MAX / 4)

static bool has_panic(const char *line)
{
	const char *p = line;

	while ((p = strstr(p, "panic="))) {
		if (p == line || p[-1] == ' ' || p[-1] == '"')
			return true;
		p++;
	}
	return false;
}

char *plan_boot_cmdline(const char *base, const char *job_cmdline, const char *lsm_request)
{
	struct kg_str s = {0};
	size_t len;

	while (*job_cmdline == ' ')
		job_cmdline++;
	len = strlen(job_cmdline);
	while (len > 0 && job_cmdline[len - 1] == ' ')
		len--;
	kg_str_addn(&s, job_cmdline, len);
	if (strcmp(lsm_request, JOB_LSM_DEFAULT) != 0)
		kg_str_addf(&s, "%slsm=%s", s.len ? " " : "", lsm_request);
	if (!has_panic(base) && !has_panic(job_cmdline))
		kg_str_addf(&s, "%s%s", s.len ? " " : "", PLAN_PANIC);
	return kg_str_take(&s);
}

uint32_t plan_blocks(const struct plan_input *in)
{
	if (in->boots)
		return in->boots;
	return in->job->boots_max > in->job->boots ? in->job->boots_max : in->job->boots;
}

uint32_t plan_blocks_min(const struct plan_input *in)
{
	/* without a rule that may end it early all blocks are made */
	return in->boots || !(in->job->until_pct > 0) ? plan_blocks(in) : in->job->boots;
}

/* ---- size ---- */

/* Values of an axis of one alternative of a workload, and what predicates call it. */
static uint64_t axis_size(const struct plan_builder *b, const struct plan_alt *a, size_t axis,
			  const char **ret_name)
{
	static const char *const names[] = {"kernel", "lsm", "cmdline"};
	const uint64_t sizes[] = {b->n_kernels, b->job->n_lsms, b->n_variants};
	const struct job_setting *s = b->job->settings;

	if (axis < 3) {
		*ret_name = names[axis];
		return sizes[axis];
	}
	axis -= 3;
	if (axis < b->job->n_settings) {
		*ret_name = s[axis].name;
		return s[axis].values.n;
	}
	axis -= b->job->n_settings;
	*ret_name = a->params[axis].param->name;
	return a->params[axis].n;
}

/* The most pairs of two axes' values: no covering array has fewer rows. Axes that a predicate may
 * look at are not counted: what it leaves of them is not known. Their product is *ret_asked. */
static uint64_t least_rows(const struct plan_builder *b, const struct plan_entry *e,
			   uint64_t *ret_asked)
{
	uint64_t sum = 0;
	size_t i, k;

	for (i = 0; i < e->n_alts; i++) {
		size_t n = 3 + b->job->n_settings + e->alts[i].n_params;
		uint64_t first = 1, second = 1, asked = 1;

		for (k = 0; k < n; k++) {
			const char *name;
			uint64_t x = axis_size(b, &e->alts[i], k, &name);

			if (plan_asks_about(b->job, name)) {
				asked = plan_times(asked, x);
			} else if (x > first) {
				second = first;
				first = x;
			} else if (x > second) {
				second = x;
			}
		}
		if (plan_times(first, second) > sum)
			sum = plan_times(first, second);
		if (asked > *ret_asked)
			*ret_asked = asked;
	}
	return sum;
}

/* The least cells of a machine with `pairwise:`. */
static int least_of(const struct plan_builder *b, const struct plan_column *c, uint64_t *least)
{
	size_t i, k;

	for (i = 0; i < c->n_peers; i++) {
		for (k = 0; k < c->peers[i].n_workloads; k++) {
			const struct plan_entry *e = c->entries[c->peers[i].workloads[k]];
			uint64_t asked = 0;

			*least = plan_plus(*least, least_rows(b, e, &asked));
			if (asked > COVER_MAX_RELEVANT)
				return kg_err_set(
					b->err, KG_ELIMIT,
					"%s: pairwise: the axes of workload '%.64s' that 'exclude' "
					"and 'only' name have %s%llu combinations, the limit is "
					"%llu",
					b->job->file_name, e->workload->name,
					asked >= PLAN_HUGE ? "more than " : "",
					(unsigned long long)asked,
					(unsigned long long)COVER_MAX_RELEVANT);
		}
	}
	return 0;
}

int plan_refuse_size(struct plan_builder *b, uint64_t cells, uint64_t max)
{
	const struct job_spec *j = b->job;
	uint64_t slots = plan_times(cells, b->p->blocks);
	uint64_t boots = plan_times(b->n_kernels, plan_times(j->n_lsms, b->n_variants));
	uint64_t sets;

	boots = plan_times(boots, plan_settings_count(j));
	sets = boots && cells < PLAN_HUGE ? cells / boots : 0;
	if (cells >= PLAN_HUGE || slots >= PLAN_HUGE)
		return kg_err_set(b->err, KG_ELIMIT,
				  "%s: the job has more than %llu slots, the limit is %llu",
				  j->file_name, (unsigned long long)PLAN_HUGE,
				  (unsigned long long)max);
	if (j->pairwise)
		return kg_err_set(b->err, KG_ELIMIT,
				  "%s: the job has at least %llu slots (all pairs: %llu cells x %u "
				  "boots), the limit is %llu",
				  j->file_name, (unsigned long long)slots,
				  (unsigned long long)cells, b->p->blocks, (unsigned long long)max);
	return kg_err_set(
		b->err, KG_ELIMIT,
		"%s: the job has %llu slots (%zu kernels x %zu lsm lists x %zu command "
		"lines x %llu settings x %llu parameter sets of %zu machines x %u boots), "
		"the limit is %llu",
		j->file_name, (unsigned long long)slots, b->n_kernels, j->n_lsms, b->n_variants,
		(unsigned long long)plan_settings_count(j), (unsigned long long)sets, b->n_own,
		b->p->blocks, (unsigned long long)max);
}

/* Refuses what is too large before memory is spent on it. What `exclude:` leaves out is not known
 * yet, and counts here. */
int plan_check_size(struct plan_builder *b)
{
	uint64_t max = b->in->max_slots ? b->in->max_slots : PLAN_MAX_SLOTS;
	uint64_t full = 0, least = 0;
	size_t i;
	int rc;

	/* cells are numbered with 32 bits here */
	if (max > UINT32_MAX / 4)
		max = UINT32_MAX / 4;
	for (i = 0; i < b->n_own; i++) {
		full = plan_plus(full, plan_full_of(b, &b->columns[i]));
		rc = b->job->pairwise ? least_of(b, &b->columns[i], &least) : 0;
		if (rc < 0)
			return rc;
	}
	if (!b->job->pairwise || full >= PLAN_HUGE) /* so many could not be accounted for */
		least = full;
	return plan_times(least, b->p->blocks) > max ? plan_refuse_size(b, least, max) : 0;
}

/* ---- warnings ---- */

static int warn_boots(struct plan_builder *b)
{
	uint32_t least = b->p->blocks_min;

	if (least >= JOB_BOOTS)
		return 0;
	return plan_add_warning(b,
				"%u boot%s a side %s too few to decide anything: %d are the least",
				least, least == 1 ? "" : "s", least == 1 ? "is" : "are", JOB_BOOTS);
}

static int warn_budget(struct plan_builder *b)
{
	uint64_t budget_s = b->job->budget_ns / 1000000000;
	const struct plan_machine_sum *longest = NULL;
	size_t i;

	for (i = 0; i < b->p->n_machines; i++)
		if (!longest || b->p->machines[i].seconds > longest->seconds)
			longest = &b->p->machines[i];
	if (budget_s == 0 || !longest || longest->seconds <= budget_s)
		return 0;
	return plan_add_warning(b,
				"machine '%s' will take %s%llu minutes, more than the budget of "
				"%llu",
				longest->machine,
				b->p->blocks_min < b->p->blocks ? "up to " : "about ",
				(unsigned long long)longest->seconds / 60,
				(unsigned long long)budget_s / 60);
}

/* ---- all ---- */

static int begin(struct plan_builder *b)
{
	size_t i;
	int rc = plan_select(b);

	if (rc == 0)
		rc = plan_find_roles(b);
	for (i = 0; i < b->job->warnings.n && rc == 0; i++)
		rc = plan_add_warning(b, "%s", b->job->warnings.items[i]);
	return rc < 0 ? rc : plan_read_entries(b);
}

int plan_builder_init(struct plan_builder *b, const struct plan_input *in, struct kg_err *err)
{
	static const struct job_variant none = {.label = (char *)"", .words = (char *)""};

	*b = (struct plan_builder){.in = in, .job = in->job, .err = err};
	b->variants = in->job->n_variants ? in->job->variants : &none;
	b->n_variants = in->job->n_variants ? in->job->n_variants : 1;
	kg_arena_init(&b->scratch, MEMORY_BUDGET);
	b->p = calloc(1, sizeof(*b->p));
	b->memory = calloc(1, sizeof(*b->memory));
	if (!b->p || !b->memory)
		return plan_no_memory(err);
	kg_arena_init(b->memory, MEMORY_BUDGET);
	b->p->memory = b->memory;
	b->p->blocks = plan_blocks(in);
	b->p->blocks_min = plan_blocks_min(in);
	b->p->order = b->job->order;
	b->p->seed = in->seed;
	return begin(b);
}

void plan_builder_deinit(struct plan_builder *b)
{
	free(b->warned.texts);
	free(b->bases.texts);
	free(b->effective.texts);
	free(b->settings_keys.texts);
	free(b->settings);
	free(b->combos);
	free(b->chosen);
	free(b->groups);
	kg_arena_deinit(&b->scratch);
	if (!b->p || !b->p->memory)
		free(b->memory);
	plan_free(b->p);
}

static int build(struct plan_builder *b)
{
	int rc = plan_check_size(b);

	if (rc == 0)
		rc = warn_boots(b);
	if (rc == 0)
		rc = plan_prepare_lines(b);
	if (rc == 0)
		rc = plan_choose_canaries(b);
	if (rc == 0)
		rc = plan_index_history(b);
	if (rc == 0)
		rc = plan_make_cells(b);
	if (rc == 0)
		rc = plan_make_boots(b);
	if (rc == 0)
		rc = plan_list_axes(b);
	if (rc == 0)
		rc = plan_estimate_machines(b);
	if (rc == 0)
		rc = plan_list_detectable(b);
	return rc < 0 ? rc : warn_budget(b);
}

int plan_make(const struct plan_input *in, struct plan **ret_plan, struct kg_err *err)
{
	struct plan_builder b;
	int rc = plan_builder_init(&b, in, err);

	if (rc == 0)
		rc = build(&b);
	if (rc == 0) {
		*ret_plan = b.p;
		b.p = NULL;
		b.memory = NULL; /* the plan's */
	}
	plan_builder_deinit(&b);
	return rc;
}

void plan_free(struct plan *p)
{
	if (!p)
		return;
	free(p->cells);
	free(p->slots);
	free(p->boots);
	free(p->machines);
	free(p->infeasible);
	free(p->merges);
	free(p->axes);
	free(p->detectable);
	kg_texts_deinit(&p->warnings);
	if (p->memory)
		kg_arena_deinit(p->memory);
	free(p->memory);
	free(p);
}
