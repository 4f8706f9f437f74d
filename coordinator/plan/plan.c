/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "coordinator/plan/plan_internal.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/cmdline.h"
#include "coordinator/plan/warn.h"

#define MEMORY_BUDGET (512UL * 1024 * 1024)

int plan_no_memory(struct kg_err *err)
{
	return kg_err_set(err, -ENOMEM, "out of memory");
}

const char *plan_text(struct plan_builder *b, const char *fmt, ...)
{
	char text[4096];
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	if (n < 0)
		return NULL;
	return kg_arena_text(b->memory, text,
			     (size_t)n < sizeof(text) ? (size_t)n : sizeof(text) - 1);
}

int plan_add_warning(struct plan_builder *b, const char *fmt, ...)
{
	char text[1024];
	va_list ap;

	va_start(ap, fmt);
	(void)vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	return plan_warn(&b->p->warnings, "%s", text) < 0 ? plan_no_memory(b->err) : 0;
}

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

/* Number of parameter sets of a workload before duplicates go; stops counting at the limit. */
static uint64_t count_sets(const struct job_workload *w)
{
	uint64_t n = 1;
	size_t i;

	for (i = 0; i < w->n_params && n <= PLAN_MAX_SLOTS; i++)
		n *= w->params[i].values.n;
	return n;
}

/* Product that sticks at a number which is over every limit. */
static uint64_t times(uint64_t a, uint64_t b)
{
	const uint64_t top = UINT64_C(1) << 62;

	return a == 0 || b <= top / a ? a * b : top;
}

static uint32_t count_blocks(const struct plan_builder *b)
{
	return b->in->boots ? b->in->boots : b->job->boots;
}

/* Refuses what is too large before memory is spent on it. */
static int check_size(struct plan_builder *b)
{
	uint64_t sets = 0;
	uint64_t slots;
	size_t i;

	for (i = 0; i < b->job->n_workloads; i++) {
		sets += count_sets(&b->job->workloads[i]);
		if (sets > PLAN_MAX_SLOTS)
			break;
	}
	slots = times(times(b->n_machines, b->n_kernels), times(b->job->n_lsms, sets));
	slots = times(slots, count_blocks(b));
	if (slots <= PLAN_MAX_SLOTS)
		return 0;
	return kg_err_set(
		b->err, KG_ELIMIT,
		"%s: the job has %s%llu slots (%zu machines x %zu kernels x %zu lsm lists x "
		"%llu parameter sets x %u boots), the limit is %d",
		b->job->file_name, sets > PLAN_MAX_SLOTS ? "more than " : "",
		(unsigned long long)slots, b->n_machines, b->n_kernels, b->job->n_lsms,
		(unsigned long long)sets, count_blocks(b), PLAN_MAX_SLOTS);
}

static int warn_boots(struct plan_builder *b)
{
	const struct job_spec *j = b->job;
	int rc = 0;

	if (count_blocks(b) < JOB_BOOTS)
		rc = plan_add_warning(b,
				      "%u boots a side are too few to decide anything: %d are the "
				      "least",
				      count_blocks(b), JOB_BOOTS);
	if (rc == 0 && !b->in->boots && j->boots_max > j->boots)
		rc = plan_add_warning(
			b,
			"repeat.boots: this version makes %u boots; going on to %u as "
			"needed comes later",
			j->boots, j->boots_max);
	return rc;
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
	return plan_add_warning(
		b,
		"machine '%s' will take about %llu minutes, more than the budget of "
		"%llu",
		longest->machine, (unsigned long long)longest->seconds / 60,
		(unsigned long long)budget_s / 60);
}

static int build(struct plan_builder *b)
{
	size_t i;
	int rc = plan_select(b);

	if (rc == 0)
		rc = check_size(b);
	for (i = 0; i < b->job->warnings.n && rc == 0; i++)
		rc = plan_add_warning(b, "%s", b->job->warnings.items[i]);
	if (rc == 0)
		rc = warn_boots(b);
	if (rc == 0)
		rc = plan_make_sets(b);
	if (rc == 0)
		rc = plan_make_groups(b);
	if (rc == 0)
		rc = plan_make_cells(b);
	if (rc == 0)
		rc = plan_make_order(b);
	return rc < 0 ? rc : warn_budget(b);
}

static void builder_deinit(struct plan_builder *b)
{
	size_t i;

	for (i = 0; b->sets && i < b->n_machines; i++)
		plan_sets_deinit(&b->sets[i]);
	free(b->sets);
	free(b->machines);
	free(b->kernels);
	free(b->groups);
	free(b->group_of);
	free(b->exclude_used);
}

int plan_make(const struct plan_input *in, struct plan **ret_plan, struct kg_err *err)
{
	struct plan_builder b = {.in = in, .job = in->job, .err = err};
	int rc;

	b.p = calloc(1, sizeof(*b.p));
	b.memory = calloc(1, sizeof(*b.memory));
	if (!b.p || !b.memory) {
		free(b.p);
		free(b.memory);
		return plan_no_memory(err);
	}
	kg_arena_init(b.memory, MEMORY_BUDGET);
	b.p->memory = b.memory;
	b.p->blocks = count_blocks(&b);
	b.p->order = b.job->order;
	b.p->seed = in->seed;
	rc = build(&b);
	builder_deinit(&b);
	if (rc < 0) {
		plan_free(b.p);
		return rc;
	}
	*ret_plan = b.p;
	return 0;
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
	kg_texts_deinit(&p->warnings);
	if (p->memory)
		kg_arena_deinit(p->memory);
	free(p->memory);
	free(p);
}
