/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Job files. A line "%% NAME" begins a file that may be included; the job file comes first. */
#include <errno.h>
#include <string.h>

#include "coordinator/plan/job.h"
#include "tests/fuzz/fuzz.h"

#define MAX_PARTS 8

struct parts {
	struct job_file files[MAX_PARTS]; /* names and texts are owned copies */
	size_t n;
	size_t job_len;
};

static char *copy(const char *text, size_t len)
{
	char *c = malloc(len + 1);

	must(c);
	memcpy(c, text, len);
	c[len] = '\0';
	return c;
}

static const char *find_mark(const char *p, const char *end)
{
	for (; end - p >= 4; p++)
		if (memcmp(p, "\n%% ", 4) == 0)
			return p;
	return end;
}

static void cut(const char *text, size_t len, struct parts *ret)
{
	const char *end = text + len;
	const char *mark = find_mark(text, end);

	ret->job_len = (size_t)(mark - text);
	while (mark < end && ret->n < MAX_PARTS) {
		const char *name = mark + 4;
		const char *line = memchr(name, '\n', (size_t)(end - name));

		if (!line)
			return;
		mark = find_mark(line, end);
		ret->files[ret->n++] = (struct job_file){
			copy(name, (size_t)(line - name)),
			copy(line + 1, mark > line ? (size_t)(mark - line - 1) : 0),
			mark > line ? (size_t)(mark - line - 1) : 0,
		};
	}
}

static void check_texts(const struct job_texts *t)
{
	size_t i;

	for (i = 0; i < t->n; i++) {
		must(t->items[i].text && kg_utf8_valid(t->items[i].text, strlen(t->items[i].text)));
		must(t->items[i].at.line > 0 && t->items[i].at.column > 0);
	}
}

static void check_params(const struct job_param *params, size_t n)
{
	size_t i, k;

	for (i = 0; i < n; i++) {
		must(params[i].values.n > 0);
		check_texts(&params[i].values);
		for (k = 0; n < 64 && k < i; k++)
			must(strcmp(params[i].name, params[k].name) != 0);
	}
}

/* What plan.h takes for granted. */
static void check_job(const struct job_spec *j)
{
	size_t i, k;

	must(j->name && j->cmdline && j->n_lsms > 0 && j->n_variants > 0);
	must(j->kernels.n > 0 && j->n_workloads > 0);
	must(j->boots >= 1 && j->boots <= j->boots_max && j->boots_max <= JOB_MAX_BOOTS);
	must(j->iterations >= 1 && j->priority <= 100);
	must((j->until != NULL) == (j->until_pct > 0));
	must((j->canary != NULL) == (j->canary_mode == JOB_CANARY_GIVEN));
	check_texts(&j->kernels);
	check_texts(&j->machines.names);
	check_texts(&j->after);
	for (i = 0; i < j->n_lsms; i++)
		must(j->lsms[i].label && j->lsms[i].request);
	for (i = 0; i < j->n_variants; i++)
		must(j->variants[i].label && j->variants[i].words);
	for (i = 0; i < j->n_settings; i++) {
		must(j->settings[i].name && j->settings[i].values.n > 0);
		check_texts(&j->settings[i].values);
	}
	for (i = 0; i < j->n_workloads; i++) {
		const struct job_workload *w = &j->workloads[i];

		check_params(w->params, w->n_params);
		for (k = 0; k < w->n_sets; k++)
			check_params(w->sets[k].params, w->sets[k].n_params);
	}
	for (i = 0; i < j->n_excludes; i++)
		must(j->excludes[i].predicate);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct parts p = {.n = 0};
	struct job_source src = {.file_name = "f", .text = (const char *)data};
	struct job_spec *j = NULL;
	struct kg_texts names = {0};
	struct kg_err err = {{0}};
	size_t i;
	int rc;

	cut((const char *)data, size, &p);
	src.len = p.job_len;
	src.files = p.files;
	src.n_files = p.n;
	rc = job_spec_parse_source(&src, &j, &err);
	if (rc < 0) {
		must(!j && (rc == KG_EINVALID || rc == KG_ELIMIT || rc == -ENOMEM));
		must(strchr(err.text, ':') && kg_utf8_valid(err.text, strlen(err.text)));
	} else {
		check_job(j);
		job_spec_free(j);
	}
	if (job_includes("f", src.text, src.len, &names, &err) == 0)
		kg_texts_deinit(&names);
	for (i = 0; i < p.n; i++) {
		free((char *)(uintptr_t)p.files[i].name);
		free((char *)(uintptr_t)p.files[i].text);
	}
	return 0;
}
