/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "coordinator/plan/job_internal.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/cmdline.h"
#include "coordinator/plan/warn.h"

/* The file as the table reads it. */
struct raw_budget {
	uint64_t wall_ns;
};

struct raw {
	char *name;
	const struct kg_yaml_node *include, *defaults, *machines, *role, *kernels, *lsm, *cmdline,
		*settings, *parameters, *matrix, *workloads, *canary, *exclude, *only, *after,
		*when;
	struct kg_texts monitors;
	struct job_repeat repeat;
	int order;
	bool pairwise;
	struct raw_budget budget;
	uint64_t queue_timeout_ns;
	int64_t priority;
	struct kg_texts notify;
	bool confirm;
};

static const char *const orders[] = {"interleaved", "grouped", NULL};

static const char *const monitor_names[] = {"vmstat",	  "iostat",	  "meminfo",
					    "interrupts", "softirqs",	  "schedstat",
					    "perf-stat",  "perf-profile", "turbostat"};

static const struct kg_field repeat_fields[] = {
	{.key = "boots",
	 .type = KG_FIELD_NODE,
	 .offset = offsetof(struct job_repeat, boots),
	 .help = "boots of each kernel and lsm list on each machine: a number (a fixed horizon), "
		 "or "
		 "a range such as 5..12 in which the stop rule decides; 5 (the default) a side is "
		 "the least that can decide"},
	{.key = "iterations",
	 .type = KG_FIELD_INT,
	 .offset = offsetof(struct job_repeat, iterations),
	 .min = 1,
	 .max = JOB_MAX_ITERATIONS,
	 .preset = "5",
	 .help = "repetitions of each workload in one boot"},
	{.key = "until",
	 .type = KG_FIELD_NODE,
	 .offset = offsetof(struct job_repeat, until),
	 .help = "when to stop within the range of boots: 'ci95 <= 1%' once every effect's 95 % "
		 "interval on a machine is at most 1 % wide; judged after each block; below 8 "
		 "boots "
		 "a side an early stop biases the interval, and the result says so"},
	{.key = NULL},
};

static const struct kg_field budget_fields[] = {
	{.key = "wall",
	 .type = KG_FIELD_DURATION,
	 .offset = offsetof(struct raw_budget, wall_ns),
	 .min = 60,
	 .max = 366.0 * 86400,
	 .help = "the longest time that the job may take from its first boot on, its confirmations "
		 "included; boots in progress are finished, the rest is skipped"},
	{.key = NULL},
};

#define NODE(k, f, req, text)                                                         \
	{                                                                             \
		.key = (k), .type = KG_FIELD_NODE, .offset = offsetof(struct raw, f), \
		.required = (req), .help = (text)                                     \
	}

static const struct kg_field job_fields[] = {
	{.key = "name",
	 .type = KG_FIELD_NAME,
	 .offset = offsetof(struct raw, name),
	 .required = true,
	 .help = "what the job is called in lists"},
	NODE("include", include, false,
	     "other files, a name or a list of names, relative to this one, with the same keys: "
	     "what "
	     "stands here wins over them, labels under lsm, parameters, defaults, settings, "
	     "matrix, repeat and budget are put together"),
	NODE("defaults", defaults, false,
	     "what counts where nothing is given: keys of the job, workloads with parameters, or "
	     "parameters for every workload that has them, '{priority: 40, seconds: 10, netperf: "
	     "{size: 64}}'"),
	NODE("machines", machines, false,
	     "a predicate over machine facts, 'vendor in (intel, amd) and cpus >= 2', or a list of "
	     "machine names; all machines when absent"),
	NODE("role", role, false,
	     "client and server of workloads that need two machines, '{client: names or predicate, "
	     "server: names or predicate}', for all workloads or within one; both machines boot "
	     "the "
	     "same kernel and list and are reserved together"),
	NODE("kernels", kernels, false,
	     "a list of kernels, each by label, release, at least 8 digits of its digest, newest, "
	     "previous (by the time when they were added) or, with 'when: kernel added', added; "
	     "required, but with 'when: kernel added', where it is [added]"),
	NODE("lsm", lsm, false,
	     "a mapping from labels to lsm lists: 'a,b,c', 'default' (the kernel's own list), or "
	     "{base: label, without: [names], with: [names]}"),
	NODE("cmdline", cmdline, false,
	     "further words for the kernel command line of every boot, or {base: words, vary: "
	     "[words, "
	     "words]}, which tries each; vary may give them labels, {safe: mitigations=auto, fast: "
	     "mitigations=off}"),
	NODE("settings", settings, false,
	     "what is set after the boot and read back before anything runs: governor, epp, turbo, "
	     "smt, thp, thp-defrag, and sysctl with names and values; a list of values is tried in "
	     "all combinations, each with boots of its own"),
	NODE("parameters", parameters, false,
	     "named sets of parameters, 'quick: {size: 64, seconds: 1}', that workloads take with "
	     "'use: quick', or try one after the other with 'use: [quick, long]'; sets may use "
	     "others; what a workload gives itself wins"),
	NODE("matrix", matrix, false,
	     "values to try in all combinations: parameters, for the workloads that have them, "
	     "cmdline (as cmdline.vary) and settings; also within a workload, for its parameters"),
	NODE("workloads", workloads, true,
	     "a list of workloads, '- hackbench: {groups: [1, 4]}'; a list of values is tried in "
	     "all combinations; whole numbers and sizes also as a range, 3..10, 64..1024*2 (64, "
	     "128, "
	     "... 1024) or 1..9+2, and with units, 10s, 64KiB"),
	NODE("canary", canary, false,
	     "a workload that must not depend on the kernel, run first in the first and the last "
	     "boot "
	     "of a block, so that drift shows: auto (the default: one that the machine declares as "
	     "such), none, or 'name: {parameters}'"),
	{.key = "monitors",
	 .type = KG_FIELD_TEXTS,
	 .offset = offsetof(struct raw, monitors),
	 .help = "what to record beside the workloads"},
	{.key = "repeat",
	 .type = KG_FIELD_MAP,
	 .offset = offsetof(struct raw, repeat),
	 .sub = repeat_fields,
	 .help = "how often"},
	{.key = "order",
	 .type = KG_FIELD_CHOICE,
	 .offset = offsetof(struct raw, order),
	 .choices = orders,
	 .preset = "interleaved",
	 .help = "interleaved: every block visits every kernel and lsm list once, in random order; "
		 "grouped: all boots of one, then all of the next"},
	{.key = "pairwise",
	 .type = KG_FIELD_BOOL,
	 .offset = offsetof(struct raw, pairwise),
	 .preset = "false",
	 .help = "not the full product, but cells in which each pair of values of any two axes but "
		 "the machine comes together at least once"},
	NODE("exclude", exclude, false,
	     "a list of predicates over machine facts and every axis: cells that match one are "
	     "left "
	     "out"),
	NODE("only", only, false, "the same: cells that do not match all of them are left out"),
	{.key = "budget",
	 .type = KG_FIELD_MAP,
	 .offset = offsetof(struct raw, budget),
	 .sub = budget_fields,
	 .help = "what the job may use"},
	{.key = "queue-timeout",
	 .type = KG_FIELD_DURATION,
	 .offset = offsetof(struct raw, queue_timeout_ns),
	 .min = 60,
	 .max = 366.0 * 86400,
	 .help = "on a machine where none of the job's boots has begun for so long, what is left "
		 "gets "
		 "the outcome queue-timeout; the coordinator's own (7 days) when absent"},
	NODE("after", after, false,
	     "jobs, by number or name, that must be over, however they end, before this one "
	     "begins"),
	NODE("when", when, false,
	     "makes it a standing job: 'kernel added', 'nightly' (at 02:00) or {nightly: "
	     "\"03:30\"}, "
	     "local time of the coordinator"),
	{.key = "priority",
	 .type = KG_FIELD_INT,
	 .offset = offsetof(struct raw, priority),
	 .min = 0,
	 .max = 100,
	 .preset = "50",
	 .help = "higher ones go first"},
	{.key = "notify",
	 .type = KG_FIELD_TEXTS,
	 .offset = offsetof(struct raw, notify),
	 .help = "whom to tell of a confirmed regression: mail:ADDRESS, or command:NAME, a "
		 "command of the coordinator's configuration"},
	{.key = "confirm",
	 .type = KG_FIELD_BOOL,
	 .offset = offsetof(struct raw, confirm),
	 .preset = "true",
	 .help = "whether a regression that the job shows is tried again in three fresh blocks, "
		 "also on a second machine of the vendor, before it counts; within the budget"},
	{.key = NULL},
};

const char *job_near_key(const char *word)
{
	const char *names[sizeof(job_fields) / sizeof(job_fields[0])];
	size_t n;

	for (n = 0; job_fields[n].key; n++)
		names[n] = job_fields[n].key;
	return kg_suggest(word, names, n);
}

const char *const *job_monitor_names(size_t *ret_n)
{
	*ret_n = sizeof(monitor_names) / sizeof(monitor_names[0]);
	return monitor_names;
}

void job_spec_manual(struct kg_str *out)
{
	kg_yaml_manual(job_fields, "", out);
}

/* One address and no more: what a mail header could be led astray by is refused. */
static bool address_valid(const char *a)
{
	const char *at = strchr(a, '@');

	return at && at != a && at[1] && a[0] != '-' && !strchr(at + 1, '@') &&
	       strspn(a, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.@_+-=") ==
		       strlen(a) &&
	       strlen(a) <= 254;
}

bool job_notify_valid(const char *target)
{
	if (kg_str_starts(target, "mail:"))
		return address_valid(target + strlen("mail:"));
	return kg_str_starts(target, "command:") && kg_name_valid(target + strlen("command:"));
}

/* ---- the keys ---- */

int job_read_machines(const struct job_input *in, const struct kg_yaml_node *n, const char *what,
		      struct job_machines *ret)
{
	int rc;

	if (!n)
		return 0;
	ret->at = job_place_of(in, n);
	if (n->kind == KG_YAML_SEQ || (n->kind == KG_YAML_SCALAR && kg_name_valid(n->text))) {
		rc = job_read_texts(in, n, what, &ret->names);
		if (rc == 0)
			rc = job_check_names(in, &ret->names, what,
					     "the name of a machine (a predicate stands alone, not "
					     "in a list)");
		return rc < 0 ? rc : job_check_unique(in, &ret->names, "machine");
	}
	if (n->kind != KG_YAML_SCALAR || job_is_null(n))
		return kg_yaml_error(
			in->doc, n, in->err,
			"'%s': expected a predicate such as 'vendor == intel' or a list of machine "
			"names",
			what);
	ret->where_text = strdup(n->text);
	if (!ret->where_text)
		return job_no_memory(in->err);
	rc = predicate_parse(n->text, NULL, &ret->where, in->err);
	if (rc < 0)
		kg_err_wrap(in->err, rc, "%s:%u:%u: '%s'",
			    ret->at.file ? ret->at.file : in->job->file_name, n->line, n->column,
			    what);
	return rc;
}

static bool names_added(const struct job_texts *kernels)
{
	size_t i;

	for (i = 0; i < kernels->n; i++)
		if (strcmp(kernels->items[i].text, JOB_KERNEL_ADDED) == 0)
			return true;
	return false;
}

static int read_kernels(const struct job_input *in, const struct kg_yaml_node *root,
			const struct kg_yaml_node *n)
{
	struct job_spec *j = in->job;
	bool added = j->when == JOB_WHEN_KERNEL_ADDED;
	struct kg_yaml_node only = {.kind = KG_YAML_SCALAR,
				    .file = root->file,
				    .line = root->line,
				    .column = root->column,
				    .text = JOB_KERNEL_ADDED};
	int rc;

	if (!n && added)
		return job_texts_add(in, &j->kernels, &only);
	if (!n)
		return kg_yaml_error(in->doc, root, in->err,
				     "missing key 'kernels': a list of kernels, each by label, "
				     "release, or at least 8 digits of its digest");
	rc = job_check_count(in, n, "kernels");
	if (rc == 0)
		rc = job_read_texts(in, n, "kernels", &j->kernels);
	if (rc == 0)
		rc = job_check_unique(in, &j->kernels, "kernel");
	if (rc < 0 || names_added(&j->kernels) == added)
		return rc;
	if (added)
		return kg_yaml_error(
			in->doc, n, in->err,
			"'kernels': with 'when: kernel added' one of them is 'added', the "
			"kernel that was; write 'kernels: [added, ...]'");
	return kg_yaml_error(in->doc, n, in->err,
			     "'kernels': 'added' has a meaning with 'when: kernel added' only; "
			     "'newest' is the kernel that was added last");
}

/* The second of two equal texts of a list is an error. */
static int check_once_each(const struct job_input *in, const struct kg_texts *t,
			   const struct kg_yaml_node *n, const char *what)
{
	size_t i, k;

	for (i = 0; i < t->n; i++)
		for (k = 0; k < i; k++)
			if (strcmp(t->items[i], t->items[k]) == 0)
				return kg_yaml_error(in->doc, n->items[i], in->err,
						     "'%s': '%.64s' is there already", what,
						     t->items[i]);
	return 0;
}

static int check_monitors(const struct job_input *in, const struct kg_yaml_node *root)
{
	const struct kg_yaml_node *n = kg_yaml_get(root, "monitors");
	const size_t count = sizeof(monitor_names) / sizeof(monitor_names[0]);
	size_t i, k;

	for (i = 0; i < in->job->monitors.n; i++) {
		const char *name = in->job->monitors.items[i];
		const char *meant = kg_suggest(name, monitor_names, count);

		for (k = 0; k < count && strcmp(monitor_names[k], name) != 0; k++)
			;
		if (k < count)
			continue;
		return kg_yaml_error(in->doc, n->kind == KG_YAML_SEQ ? n->items[i] : n, in->err,
				     "'monitors': unknown monitor '%.64s'%s%s%s", name,
				     meant ? ", did you mean '"
					   : ", known are vmstat, perf-profile and "
					     "others: see kgrid-job(5)",
				     meant ? meant : "", meant ? "'?" : "");
	}
	return check_once_each(in, &in->job->monitors, n, "monitors");
}

/* A target that nobody could be told by is found out now and not after the regression. */
static int check_notify(const struct job_input *in, const struct kg_yaml_node *root)
{
	const struct kg_yaml_node *n = kg_yaml_get(root, "notify");
	size_t i;

	for (i = 0; i < in->job->notify.n; i++) {
		const char *target = in->job->notify.items[i];

		if (job_notify_valid(target))
			continue;
		return kg_yaml_error(in->doc, n->kind == KG_YAML_SEQ ? n->items[i] : n, in->err,
				     "'notify': expected 'mail:name@example.org' or "
				     "'command:NAME', not '%.64s'",
				     target);
	}
	return check_once_each(in, &in->job->notify, n, "notify");
}

/* What the file asks for and this version does not carry out. */
static int add_warnings(const struct job_input *in)
{
	struct job_spec *j = in->job;
	struct kg_texts *w = &j->warnings;
	int rc = 0;

	if (j->monitors.n)
		rc = plan_warn(w, "monitors: none is started in this version");
	if (rc == 0 && j->order == JOB_GROUPED)
		rc = plan_warn(w, "order: with 'grouped' drift of the machine between boots is not "
				  "controlled");
	return rc < 0 ? job_no_memory(in->err) : 0;
}

/* ---- the whole ---- */

static int read_axes(const struct job_input *in, const struct raw *raw,
		     const struct kg_yaml_node *root)
{
	const struct kg_yaml_node *m = raw->matrix;
	int rc = job_read_machines(in, raw->machines, "machines", &in->job->machines);

	if (rc == 0)
		rc = read_kernels(in, root, raw->kernels);
	if (rc == 0)
		rc = job_read_lsms(in, raw->lsm);
	if (rc == 0)
		rc = job_read_cmdline(in, raw->cmdline, m ? kg_yaml_get(m, "cmdline") : NULL);
	if (rc == 0)
		rc = job_read_settings(in, raw->settings);
	if (rc == 0 && m)
		rc = job_read_settings(in, kg_yaml_get(m, "settings"));
	if (rc == 0)
		rc = job_read_workloads(in, raw->workloads, raw->parameters, raw->role);
	if (rc == 0)
		rc = job_read_canary(in, raw->canary);
	if (rc == 0)
		rc = job_read_defaults(in, raw->defaults, m, job_fields);
	return rc < 0 ? rc : job_read_predicates(in, raw->exclude, raw->only);
}

/* Moves what the table has read into the job. */
static int take(const struct job_input *in, struct raw *raw, const struct kg_yaml_node *root)
{
	struct job_spec *j = in->job;
	int rc;

	j->name = raw->name;
	j->monitors = raw->monitors;
	j->notify = raw->notify;
	j->order = raw->order ? JOB_GROUPED : JOB_INTERLEAVED;
	j->pairwise = raw->pairwise;
	j->budget_ns = raw->budget.wall_ns;
	j->queue_timeout_ns = raw->queue_timeout_ns;
	j->priority = (uint32_t)raw->priority;
	j->confirm = raw->confirm;
	rc = job_read_repeat(in, &raw->repeat);
	if (rc == 0)
		rc = job_read_when(in, raw->when);
	if (rc == 0 && raw->after)
		rc = job_check_count(in, raw->after, "after");
	if (rc == 0 && raw->after)
		rc = job_read_texts(in, raw->after, "after", &j->after);
	if (rc == 0)
		rc = job_check_names(in, &j->after, "after", "the number or the name of a job");
	if (rc == 0)
		rc = job_check_unique(in, &j->after, "job");
	if (rc == 0)
		rc = read_axes(in, raw, root);
	if (rc == 0)
		rc = check_monitors(in, root);
	if (rc == 0)
		rc = check_notify(in, root);
	return rc < 0 ? rc : add_warnings(in);
}

static int keep_names(struct job_spec *j, const struct job_docs *d)
{
	size_t i;

	j->file_names = calloc(d->n, sizeof(*j->file_names));
	if (!j->file_names)
		return -ENOMEM;
	for (i = 1; i < d->n; i++) {
		j->file_names[j->n_file_names] = strdup(d->items[i]->name);
		if (!j->file_names[j->n_file_names++])
			return -ENOMEM;
	}
	return 0;
}

int job_spec_parse_source(const struct job_source *src, struct job_spec **ret_job,
			  struct kg_err *err)
{
	const struct kg_yaml_node *root = NULL;
	struct job_input in = {.err = err};
	struct job_docs docs = {0};
	struct raw raw = {0};
	int rc = job_docs_load(src, job_fields, &docs, &root, err);

	if (rc < 0) {
		job_docs_deinit(&docs);
		return rc;
	}
	in.doc = docs.items[0];
	in.job = calloc(1, sizeof(*in.job));
	if (in.job)
		in.job->file_name = strdup(src->file_name);
	if (!in.job || !in.job->file_name || keep_names(in.job, &docs) < 0)
		rc = job_no_memory(err);
	if (rc == 0)
		rc = kg_yaml_read(in.doc, root, job_fields, &raw, err);
	if (rc == 0)
		rc = take(&in, &raw, root);
	job_docs_deinit(&docs);
	if (rc < 0) {
		job_spec_free(in.job);
		return rc;
	}
	*ret_job = in.job;
	return 0;
}

int job_spec_parse(const char *file_name, const char *text, size_t len, struct job_spec **ret_job,
		   struct kg_err *err)
{
	return job_spec_parse_source(
		&(struct job_source){.file_name = file_name, .text = text, .len = len}, ret_job,
		err);
}
