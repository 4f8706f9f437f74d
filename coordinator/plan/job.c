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
struct raw_repeat {
	const struct kg_yaml_node *boots;
	int64_t iterations;
	char *until;
};

struct raw_budget {
	uint64_t wall_ns;
};

struct raw {
	char *name;
	const struct kg_yaml_node *machines, *kernels, *lsm, *cmdline, *workloads, *exclude;
	struct kg_texts monitors;
	struct raw_repeat repeat;
	int order;
	struct raw_budget budget;
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
	 .offset = offsetof(struct raw_repeat, boots),
	 .help = "boots of each kernel and lsm list on each machine: a number, or a range such as "
		 "5..12; 5 (the default) a side is the least that can decide"},
	{.key = "iterations",
	 .type = KG_FIELD_INT,
	 .offset = offsetof(struct raw_repeat, iterations),
	 .min = 1,
	 .max = JOB_MAX_ITERATIONS,
	 .preset = "5",
	 .help = "repetitions of each workload in one boot"},
	{.key = "until",
	 .type = KG_FIELD_TEXT,
	 .offset = offsetof(struct raw_repeat, until),
	 .help = "when to stop within the range of boots, such as 'ci95 <= 1%'"},
	{.key = NULL},
};

static const struct kg_field budget_fields[] = {
	{.key = "wall",
	 .type = KG_FIELD_DURATION,
	 .offset = offsetof(struct raw_budget, wall_ns),
	 .min = 60,
	 .max = 366.0 * 86400,
	 .help = "the longest time that the job may take, its confirmations included"},
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
	NODE("machines", machines, false,
	     "a predicate over machine facts, 'vendor in (intel, amd) and cpus >= 2', or a list of "
	     "machine names; all machines when absent"),
	NODE("kernels", kernels, true,
	     "a list of kernels, each by label, release, or at least 8 digits of its digest"),
	NODE("lsm", lsm, false,
	     "a mapping from labels to lsm lists: 'a,b,c', 'default' (the kernel's own list), or "
	     "{base: label, without: [names], with: [names]}"),
	NODE("cmdline", cmdline, false, "further words for the kernel command line of every boot"),
	NODE("workloads", workloads, true,
	     "a list of workloads, '- hackbench: {groups: [1, 4]}'; a list of values is tried in "
	     "all "
	     "combinations"),
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
	NODE("exclude", exclude, false,
	     "a list of predicates over machine facts, kernel, lsm, workload and parameters: cells "
	     "that match one are left out"),
	{.key = "budget",
	 .type = KG_FIELD_MAP,
	 .offset = offsetof(struct raw, budget),
	 .sub = budget_fields,
	 .help = "what the job may use"},
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

void job_spec_manual(struct kg_str *out)
{
	kg_yaml_manual(job_fields, "", out);
}

/* ---- helpers shared with the other job_*.c ---- */

int job_spec_error(const struct job_spec *j, struct job_place at, int code, struct kg_err *err,
		   const char *fmt, ...)
{
	char text[KG_ERR_TEXT_MAX];
	va_list ap;

	va_start(ap, fmt);
	(void)vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	return kg_err_set(err, code, "%s:%u:%u: %s", j->file_name, at.line, at.column, text);
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

struct job_place job_place_of(const struct kg_yaml_node *node)
{
	return (struct job_place){.line = node->line, .column = node->column};
}

int job_no_memory(struct kg_err *err)
{
	return kg_err_set(err, -ENOMEM, "out of memory");
}

bool job_is_null(const struct kg_yaml_node *n)
{
	return n->kind == KG_YAML_SCALAR && !n->quoted &&
	       (!n->text[0] || strcmp(n->text, "~") == 0 || strcmp(n->text, "null") == 0);
}

int job_texts_add(const struct job_input *in, struct job_texts *t, const struct kg_yaml_node *n)
{
	struct job_text *items = realloc(t->items, (t->n + 1) * sizeof(*items));

	if (!items)
		return job_no_memory(in->err);
	t->items = items;
	items[t->n].at = job_place_of(n);
	items[t->n].text = strdup(n->text);
	if (!items[t->n].text)
		return job_no_memory(in->err);
	t->n++;
	return 0;
}

/* A list of single values, or one of them. `what` names the key in errors. */
static int read_texts(const struct job_input *in, const struct kg_yaml_node *n, const char *what,
		      struct job_texts *ret)
{
	bool list = n->kind == KG_YAML_SEQ;
	size_t count = list ? n->n : 1;
	size_t i;

	if (n->kind == KG_YAML_MAP || job_is_null(n))
		return kg_yaml_error(in->doc, n, in->err, "'%s': expected a list", what);
	if (count == 0)
		return kg_yaml_error(in->doc, n, in->err, "'%s': the list is empty", what);
	for (i = 0; i < count; i++) {
		const struct kg_yaml_node *item = list ? n->items[i] : n;
		int rc;

		if (item->kind != KG_YAML_SCALAR || job_is_null(item) || !item->text[0])
			return kg_yaml_error(in->doc, item, in->err,
					     "'%s': expected a single value in the list", what);
		rc = job_texts_add(in, ret, item);
		if (rc < 0)
			return rc;
	}
	return 0;
}

/* The second of two equal texts is an error. */
static int check_unique(const struct job_input *in, const struct job_texts *t, const char *what)
{
	size_t i, k;

	for (i = 1; i < t->n; i++)
		for (k = 0; k < i; k++)
			if (strcmp(t->items[i].text, t->items[k].text) == 0)
				return job_spec_error(in->job, t->items[i].at, KG_EINVALID, in->err,
						      "%s '%s' is there already, in line %u", what,
						      t->items[i].text, t->items[k].at.line);
	return 0;
}

/* ---- the keys ---- */

static int read_machines(const struct job_input *in, const struct kg_yaml_node *n)
{
	struct job_spec *j = in->job;
	int rc;

	if (!n)
		return 0;
	j->machines.at = job_place_of(n);
	if (n->kind == KG_YAML_SEQ || (n->kind == KG_YAML_SCALAR && kg_name_valid(n->text))) {
		rc = read_texts(in, n, "machines", &j->machines.names);
		return rc < 0 ? rc : check_unique(in, &j->machines.names, "machine");
	}
	if (n->kind != KG_YAML_SCALAR || job_is_null(n))
		return kg_yaml_error(
			in->doc, n, in->err,
			"'machines': expected a predicate such as 'vendor == intel' or a "
			"list of machine names");
	j->machines.where_text = strdup(n->text);
	if (!j->machines.where_text)
		return job_no_memory(in->err);
	rc = predicate_parse(n->text, NULL, &j->machines.where, in->err);
	if (rc < 0)
		kg_err_wrap(in->err, rc, "%s:%u:%u: 'machines'", j->file_name, n->line, n->column);
	return rc;
}

/* Words of the line that would fight with what kgrid adds itself. */
static int check_word(const struct job_input *in, const char *word)
{
	struct job_spec *j = in->job;
	const char *name = word[0] == '"' ? word + 1 : word;
	bool lists = false;
	size_t i;

	for (i = 0; i < j->n_lsms; i++)
		lists = lists || strcmp(j->lsms[i].request, JOB_LSM_DEFAULT) != 0;
	if (kg_str_starts(name, "lsm="))
		return job_spec_error(
			j, j->cmdline_at, KG_EINVALID, in->err,
			"'cmdline': '%.64s' belongs under 'lsm:', so that the list can be "
			"predicted and checked",
			word);
#ifdef KGRID_FAULTS /* a lab test switches a fault point of the agent on for one job */
	if (kg_str_starts(name, "kgrid.fault="))
		return 0;
#endif
	if (kg_str_starts(name, "kgrid."))
		return job_spec_error(
			j, j->cmdline_at, KG_EINVALID, in->err,
			"'cmdline': '%.64s': words that begin with 'kgrid.' are kgrid's "
			"own; leave it out",
			word);
	if (kg_str_starts(name, "security=") && lists)
		return job_spec_error(
			j, j->cmdline_at, KG_EINVALID, in->err,
			"'cmdline': '%.64s' has no effect beside the lists of 'lsm:'; "
			"leave it out, or give 'lsm:' only the value 'default'",
			word);
	if (strcmp(word, "--") == 0)
		return job_spec_error(
			j, j->cmdline_at, KG_EINVALID, in->err,
			"'cmdline': what follows '--' goes to init and not to the kernel; "
			"leave it out");
	return 0;
}

static int read_cmdline(const struct job_input *in, const struct kg_yaml_node *n)
{
	struct job_spec *j = in->job;
	struct kg_cmdline c;
	const char *p;
	size_t i;
	int rc;

	if (n && (n->kind != KG_YAML_SCALAR || job_is_null(n)))
		return kg_yaml_error(in->doc, n, in->err,
				     "'cmdline': expected text such as 'mitigations=auto'");
	if (n)
		j->cmdline_at = job_place_of(n);
	for (p = n ? n->text : ""; *p; p++)
		if ((unsigned char)*p < 0x20 || *p == 0x7f)
			return kg_yaml_error(
				in->doc, n, in->err,
				"'cmdline': no control characters: a line break ends it");
	j->cmdline = strdup(n ? n->text : "");
	if (!j->cmdline)
		return job_no_memory(in->err);
	rc = kg_cmdline_parse(j->cmdline, &c);
	if (rc < 0)
		return rc == -ENOMEM ? job_no_memory(in->err)
				     : job_spec_error(j, j->cmdline_at, rc, in->err,
						      "'cmdline': cannot be split into words");
	for (i = 0; i < c.n && rc == 0; i++)
		rc = check_word(in, c.words[i]);
	kg_cmdline_deinit(&c);
	return rc;
}

static int read_boots(const struct job_input *in, const struct kg_yaml_node *n)
{
	struct job_spec *j = in->job;
	char low[16];
	const char *dots;
	uint64_t from, to;

	j->boots = j->boots_max = JOB_BOOTS;
	if (!n)
		return 0;
	dots = n->kind == KG_YAML_SCALAR ? strstr(n->text, "..") : NULL;
	if (n->kind != KG_YAML_SCALAR || (dots && (size_t)(dots - n->text) >= sizeof(low)))
		goto refuse;
	(void)snprintf(low, sizeof(low), "%.*s", dots ? (int)(dots - n->text) : 15, n->text);
	if (kg_parse_u64(low, &from) < 0 || kg_parse_u64(dots ? dots + 2 : n->text, &to) < 0)
		goto refuse;
	if (from < 1 || to > JOB_MAX_BOOTS || from > JOB_MAX_BOOTS)
		goto refuse;
	if (from > to)
		return kg_yaml_error(
			in->doc, n, in->err,
			"'boots': the range '%s' ends before it begins; write '%s..%s'", n->text,
			dots + 2, low);
	j->boots = (uint32_t)from;
	j->boots_max = (uint32_t)to;
	return 0;

refuse:
	return kg_yaml_error(
		in->doc, n, in->err,
		"'boots': expected a whole number from 1 to %d, or a range such as 5..12",
		JOB_MAX_BOOTS);
}

/* "ci95 <= 1%": the interval of the effect is at most so wide, in percent. */
static int check_until(const struct job_input *in, const struct kg_yaml_node *root)
{
	const char *text = in->job->until;
	const struct kg_yaml_node *n;
	double percent;
	int end = 0;

	if (!text)
		return 0;
	if (sscanf(text, " ci95 <= %lf%% %n", &percent, &end) == 1 && end > 0 && !text[end] &&
	    percent > 0 && percent <= 100)
		return 0;
	n = kg_yaml_get(kg_yaml_get(root, "repeat"), "until");
	return kg_yaml_error(in->doc, n, in->err,
			     "'until': expected 'ci95 <= N%%' with N over 0, not '%.64s'", text);
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
	return 0;
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
	return 0;
}

/* What the file asks for and this version does not carry out. */
static int add_warnings(const struct job_input *in)
{
	struct job_spec *j = in->job;
	struct kg_texts *w = &j->warnings;
	int rc = 0;

	if (j->until)
		rc = plan_warn(
			w,
			"repeat.until: '%.80s' is not carried out in this version: all boots "
			"are made",
			j->until);
	if (rc == 0 && j->budget_ns)
		rc = plan_warn(w,
			       "budget.wall: bounds confirmations in this version; the job "
			       "itself is not ended by it, the plan's estimate stands beside it");
	if (rc == 0 && j->monitors.n)
		rc = plan_warn(w, "monitors: none is started in this version");
	if (rc == 0 && j->order == JOB_GROUPED)
		rc = plan_warn(w, "order: with 'grouped' drift of the machine between boots is not "
				  "controlled");
	return rc < 0 ? job_no_memory(in->err) : 0;
}

/* Moves what the table has read into the job. */
static int take(const struct job_input *in, struct raw *raw)
{
	struct job_spec *j = in->job;
	int rc;

	j->name = raw->name;
	j->monitors = raw->monitors;
	j->notify = raw->notify;
	j->until = raw->repeat.until;
	j->iterations = (uint32_t)raw->repeat.iterations;
	j->order = raw->order ? JOB_GROUPED : JOB_INTERLEAVED;
	j->budget_ns = raw->budget.wall_ns;
	j->priority = (uint32_t)raw->priority;
	j->confirm = raw->confirm;
	rc = read_boots(in, raw->repeat.boots);
	if (rc == 0)
		rc = read_machines(in, raw->machines);
	if (rc == 0)
		rc = read_texts(in, raw->kernels, "kernels", &j->kernels);
	if (rc == 0)
		rc = check_unique(in, &j->kernels, "kernel");
	if (rc == 0)
		rc = job_read_lsms(in, raw->lsm);
	if (rc == 0)
		rc = read_cmdline(in, raw->cmdline);
	if (rc == 0)
		rc = job_read_workloads(in, raw->workloads);
	if (rc == 0)
		rc = job_read_excludes(in, raw->exclude);
	if (rc == 0)
		rc = check_until(in, in->doc->root);
	if (rc == 0)
		rc = check_monitors(in, in->doc->root);
	if (rc == 0)
		rc = check_notify(in, in->doc->root);
	return rc < 0 ? rc : add_warnings(in);
}

int job_spec_parse(const char *file_name, const char *text, size_t len, struct job_spec **ret_job,
		   struct kg_err *err)
{
	struct job_input in = {.err = err};
	struct kg_yaml_doc *doc;
	struct raw raw = {0};
	int rc;

	rc = kg_yaml_parse(file_name, text, len, &doc, err);
	if (rc < 0)
		return rc;
	in.doc = doc;
	in.job = calloc(1, sizeof(*in.job));
	if (in.job)
		in.job->file_name = strdup(file_name);
	if (!in.job || !in.job->file_name) {
		rc = job_no_memory(err);
	} else if (doc->root->kind != KG_YAML_MAP) {
		rc = kg_yaml_error(doc, doc->root, err, "a job file is a mapping: 'name: ...'");
	} else {
		rc = kg_yaml_read(doc, doc->root, job_fields, &raw, err);
		if (rc == 0)
			rc = take(&in, &raw);
	}
	kg_yaml_free(doc);
	if (rc < 0) {
		job_spec_free(in.job);
		return rc;
	}
	*ret_job = in.job;
	return 0;
}

void job_texts_deinit(struct job_texts *t)
{
	size_t i;

	for (i = 0; i < t->n; i++)
		free(t->items[i].text);
	free(t->items);
	memset(t, 0, sizeof(*t));
}

static void workload_deinit(struct job_workload *w)
{
	size_t i;

	for (i = 0; i < w->n_params; i++) {
		free(w->params[i].name);
		job_texts_deinit(&w->params[i].values);
	}
	free(w->params);
	free(w->name);
}

void job_spec_free(struct job_spec *j)
{
	size_t i;

	if (!j)
		return;
	for (i = 0; i < j->n_lsms; i++) {
		free(j->lsms[i].label);
		free(j->lsms[i].request);
	}
	free(j->lsms);
	for (i = 0; i < j->n_workloads; i++)
		workload_deinit(&j->workloads[i]);
	free(j->workloads);
	for (i = 0; i < j->n_excludes; i++) {
		free(j->excludes[i].text);
		predicate_free(j->excludes[i].predicate);
	}
	free(j->excludes);
	job_texts_deinit(&j->machines.names);
	job_texts_deinit(&j->kernels);
	predicate_free(j->machines.where);
	free(j->machines.where_text);
	free(j->file_name);
	free(j->name);
	free(j->cmdline);
	free(j->until);
	kg_texts_deinit(&j->monitors);
	kg_texts_deinit(&j->notify);
	kg_texts_deinit(&j->warnings);
	free(j);
}
