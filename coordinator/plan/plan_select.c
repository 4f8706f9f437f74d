/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which machines and kernels a job means. */
#include "coordinator/plan/plan_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SHOWN_NAMES 12 /* names that an error lists before it says "..." */

/* ---- kernels ---- */

#define MIN_PREFIX 8

static bool fits(const struct plan_kernel *k, const char *selector)
{
	size_t len = strlen(selector);

	if (kg_streq(k->label, selector) || strcmp(k->release, selector) == 0)
		return true;
	return len >= MIN_PREFIX && strspn(selector, "0123456789abcdef") == len &&
	       strncmp(k->digest, selector, len) == 0;
}

static void describe(struct kg_str *s, const struct plan_kernel *k)
{
	kg_str_addf(s, "%s (digest %.12s, CONFIG_LSM \"%s\")", k->label ? k->label : k->release,
		    k->digest, k->config ? k->config->lsm.config_lsm : "");
}

static int ambiguous(const struct plan_kernel *kernels, size_t n, const char *selector,
		     struct kg_err *err)
{
	struct kg_str s = {0};
	size_t count = 0;
	size_t i;

	for (i = 0; i < n; i++) {
		if (!fits(&kernels[i], selector))
			continue;
		if (count++)
			kg_str_add(&s, " and ");
		describe(&s, &kernels[i]);
	}
	kg_err_set(err, KG_EAMBIGUOUS,
		   "'%.128s' fits %zu kernels, name one by its label or digest: %s", selector,
		   count, kg_str_text(&s));
	kg_str_deinit(&s);
	return KG_EAMBIGUOUS;
}

static int no_such_kernel(const struct plan_kernel *kernels, size_t n, const char *selector,
			  struct kg_err *err)
{
	const char **names = calloc(2 * n + 1, sizeof(*names));
	struct kg_str s = {0};
	const char *meant;
	size_t count = 0;
	size_t i;

	if (!names)
		return plan_no_memory(err);
	for (i = 0; i < n; i++) {
		names[count++] = kernels[i].label ? kernels[i].label : kernels[i].release;
		if (i < SHOWN_NAMES)
			kg_str_addf(&s, "%s%s", i ? ", " : "", names[count - 1]);
		if (kernels[i].label)
			names[count++] = kernels[i].release;
	}
	meant = kg_suggest(selector, names, count);
	if (n == 0)
		kg_err_set(err, KG_ENOTFOUND,
			   "there is no kernel '%.128s', and no kernel at all: add "
			   "one with 'kgrid kernel add'",
			   selector);
	else if (meant)
		kg_err_set(err, KG_ENOTFOUND, "there is no kernel '%.128s', did you mean '%s'?",
			   selector, meant);
	else
		kg_err_set(err, KG_ENOTFOUND, "there is no kernel '%.128s', known are %s%s",
			   selector, kg_str_text(&s), n > SHOWN_NAMES ? ", ..." : "");
	kg_str_deinit(&s);
	free(names);
	return KG_ENOTFOUND;
}

int plan_find_kernel(const struct plan_kernel *kernels, size_t n, const char *selector,
		     size_t *ret_index, struct kg_err *err)
{
	size_t found = 0;
	size_t count = 0;
	size_t i;

	for (i = 0; i < n; i++) {
		if (!fits(&kernels[i], selector))
			continue;
		found = i;
		count++;
	}
	if (count == 0)
		return no_such_kernel(kernels, n, selector, err);
	if (count > 1)
		return ambiguous(kernels, n, selector, err);
	*ret_index = found;
	return 0;
}

/* Why nothing can be proven about a boot of this kernel; NULL: it can. */
static const char *kernel_infeasible(struct plan_builder *b, const struct plan_kernel *k)
{
	struct kg_err why = {{0}};

	if (!k->config)
		return plan_text(b,
				 "the artifact of kernel '%s' has no config, so that its lsm list "
				 "cannot be predicted",
				 k->label ? k->label : k->release);
	if (lsm_check_release(k->release, &why) < 0)
		return plan_text(b, "%s", why.text);
	if (k->config->lsm.config_cmdline_override)
		return plan_text(
			b,
			"kernel '%s' ignores every command line (CONFIG_CMDLINE_OVERRIDE), "
			"so that its boots cannot be proven",
			k->label ? k->label : k->release);
	if (k->config->lsm.no_security)
		return plan_text(b,
				 "kernel '%s' is built without CONFIG_SECURITY, so that it has no "
				 "lsm list",
				 k->label ? k->label : k->release);
	if (!k->config->securityfs)
		return plan_text(b,
				 "kernel '%s' is built without CONFIG_SECURITYFS, so that its lsm "
				 "list cannot be read",
				 k->label ? k->label : k->release);
	return NULL;
}

static int warn_kernel(struct plan_builder *b, const struct plan_selected *s)
{
	const struct plan_kernel *k = s->kernel;
	int rc = 0;

	if (k->config && !k->config->kexec && !k->config->kexec_file)
		rc = plan_add_warning(b,
				      "kernel '%s' is built without CONFIG_KEXEC and "
				      "CONFIG_KEXEC_FILE: it can only be left by a reboot through "
				      "the firmware",
				      s->shown);
	if (rc == 0 && k->config && k->config->modules && !k->has_modules)
		rc = plan_add_warning(b,
				      "kernel '%s' comes without modules: what its machines need "
				      "must be built in",
				      s->shown);
	return rc;
}

static bool shares_release(const struct plan_builder *b, size_t i)
{
	size_t k;

	for (k = 0; k < b->n_kernels; k++)
		if (k != i &&
		    strcmp(b->kernels[k].kernel->release, b->kernels[i].kernel->release) == 0)
			return true;
	return false;
}

/* Names under which people see the kernels: unique within the job. */
static int name_kernels(struct plan_builder *b)
{
	size_t i;
	int rc = 0;

	for (i = 0; i < b->n_kernels && rc == 0; i++) {
		struct plan_selected *s = &b->kernels[i];
		const struct plan_kernel *k = s->kernel;
		bool shared = shares_release(b, i);

		if (k->label)
			s->shown = plan_text(b, "%s", k->label);
		else if (shared)
			s->shown = plan_text(b, "%s~%.8s", k->release, k->digest);
		else
			s->shown = plan_text(b, "%s", k->release);
		s->digest = plan_keep(b, k->digest);
		if (!s->shown || !s->digest)
			return plan_no_memory(b->err);
		if (k->config)
			s->lsm = k->config->lsm;
		(void)snprintf(s->lsm.release, sizeof(s->lsm.release), "%s", k->release);
		(void)snprintf(s->lsm.name, sizeof(s->lsm.name), "%s%s%s%s", k->release,
			       shared ? " (" : "", shared ? s->shown : "", shared ? ")" : "");
		s->infeasible = kernel_infeasible(b, k);
		rc = warn_kernel(b, s);
	}
	return rc;
}

/* ---- kernels by when they were added ---- */

/* Later, the digest decides between two of the same moment. */
static bool later(const struct plan_kernel *x, const struct plan_kernel *y)
{
	if (x->added_ns != y->added_ns)
		return x->added_ns > y->added_ns;
	return strcmp(x->digest, y->digest) > 0;
}

/* The newest one, or the newest before `before`; false: there is none. */
static bool newest(const struct plan_input *in, const struct plan_kernel *before, size_t *ret_index)
{
	const struct plan_kernel *found = NULL;
	size_t i;

	for (i = 0; i < in->n_kernels; i++) {
		const struct plan_kernel *k = &in->kernels[i];

		if ((before && !later(before, k)) || (found && !later(k, found)))
			continue;
		found = k;
		*ret_index = i;
	}
	return found != NULL;
}

static int find_added(const struct plan_input *in, size_t *ret_index, struct kg_err *err)
{
	size_t i;

	for (i = 0; in->added_kernel && i < in->n_kernels; i++)
		if (strcmp(in->kernels[i].digest, in->added_kernel) == 0)
			break;
	if (!in->added_kernel)
		return kg_err_set(
			err, KG_EINVALID,
			"'" JOB_KERNEL_ADDED "' is the kernel of 'when: kernel added', and "
			"no kernel was added here; name one, or write '" JOB_KERNEL_NEWEST "'");
	if (i == in->n_kernels)
		return kg_err_set(err, KG_ENOTFOUND, "the kernel that was added, %.12s, is gone",
				  in->added_kernel);
	*ret_index = i;
	return 0;
}

/* The words that stand for a kernel. `previous` is the one before the kernel that was added, or
 * before the newest. A kernel that is labelled with the word itself is meant by it. */
static int find_selected(const struct plan_input *in, const char *selector, size_t *ret_index,
			 struct kg_err *err)
{
	size_t at = 0;
	size_t i;
	int rc;

	for (i = 0; i < in->n_kernels; i++)
		if (kg_streq(in->kernels[i].label, selector))
			return plan_find_kernel(in->kernels, in->n_kernels, selector, ret_index,
						err);
	if (strcmp(selector, JOB_KERNEL_ADDED) == 0)
		return find_added(in, ret_index, err);
	if (in->n_kernels == 0 || (strcmp(selector, JOB_KERNEL_NEWEST) != 0 &&
				   strcmp(selector, JOB_KERNEL_PREVIOUS) != 0))
		return plan_find_kernel(in->kernels, in->n_kernels, selector, ret_index, err);
	(void)newest(in, NULL, &at);
	if (strcmp(selector, JOB_KERNEL_NEWEST) == 0) {
		*ret_index = at;
		return 0;
	}
	rc = in->added_kernel ? find_added(in, &at, err) : 0;
	if (rc == 0 && !newest(in, &in->kernels[at], ret_index))
		rc = kg_err_set(err, KG_ENOTFOUND, "there is no kernel before '%s'",
				in->kernels[at].label ? in->kernels[at].label
						      : in->kernels[at].release);
	return rc;
}

/* What such a word stands for changes from run to run, and may be a kernel that the list names. */
static bool is_moving(const struct plan_builder *b, const char *selector)
{
	size_t i;

	for (i = 0; i < b->in->n_kernels; i++)
		if (kg_streq(b->in->kernels[i].label, selector))
			return false;
	return strcmp(selector, JOB_KERNEL_ADDED) == 0 ||
	       strcmp(selector, JOB_KERNEL_NEWEST) == 0 ||
	       strcmp(selector, JOB_KERNEL_PREVIOUS) == 0;
}

/* The kernel is in the list already, by the selector `first`. */
static int same_kernel(struct plan_builder *b, const struct job_text *x, const char *first)
{
	if (!is_moving(b, x->text) && !is_moving(b, first))
		return job_spec_error(b->job, x->at, KG_EINVALID, b->err,
				      "'kernels': '%s' is the same kernel as '%s'", x->text, first);
	return plan_add_warning(b,
				"kernels: '%.64s' is the same kernel as '%.64s' this time, and is "
				"tried once",
				x->text, first);
}

static int select_kernels(struct plan_builder *b)
{
	const struct job_texts *wanted = &b->job->kernels;
	struct kg_err why = {{0}};
	size_t i, k;

	b->kernels = plan_scratch(b, wanted->n, sizeof(*b->kernels));
	if (!b->kernels)
		return plan_no_memory(b->err);
	for (i = 0; i < wanted->n; i++) {
		size_t index = 0;
		int rc = find_selected(b->in, wanted->items[i].text, &index, &why);

		if (rc < 0)
			return job_spec_error(b->job, wanted->items[i].at, rc, b->err,
					      "'kernels': %s", why.text);
		for (k = 0; k < b->n_kernels; k++)
			if (b->kernels[k].kernel == &b->in->kernels[index])
				break;
		if (k < b->n_kernels) {
			rc = same_kernel(b, &wanted->items[i], b->kernels[k].wanted->text);
			if (rc < 0)
				return rc;
			continue;
		}
		b->kernels[b->n_kernels].wanted = &wanted->items[i];
		b->kernels[b->n_kernels++].kernel = &b->in->kernels[index];
	}
	return name_kernels(b);
}

/* ---- machines ---- */

static int by_name(const void *a, const void *b)
{
	const struct plan_column *x = a;
	const struct plan_column *y = b;

	return strcmp(x->machine->facts.name, y->machine->facts.name);
}

static void list_machines(const struct plan_builder *b, struct kg_str *s)
{
	size_t i;

	for (i = 0; i < b->in->n_machines && i < SHOWN_NAMES; i++)
		kg_str_addf(s, "%s%s", i ? ", " : "", b->in->machines[i].facts.name);
	if (i < b->in->n_machines)
		kg_str_add(s, ", ...");
}

static int no_such_machine(struct plan_builder *b, const char *key, const struct job_text *wanted)
{
	const char **names = plan_scratch(b, b->in->n_machines, sizeof(*names));
	struct kg_str known = {0};
	const char *meant;
	size_t i;
	int rc;

	if (!names)
		return plan_no_memory(b->err);
	for (i = 0; i < b->in->n_machines; i++)
		names[i] = b->in->machines[i].facts.name;
	meant = kg_suggest(wanted->text, names, b->in->n_machines);
	list_machines(b, &known);
	rc = job_spec_error(b->job, wanted->at, KG_ENOTFOUND, b->err,
			    "'%s': there is no machine '%s', %s%s%s", key, wanted->text,
			    meant ? "did you mean '" : "known are ",
			    meant ? meant : kg_str_text(&known), meant ? "'?" : "");
	kg_str_deinit(&known);
	return rc;
}

int plan_find_machine(struct plan_builder *b, const char *key, const struct job_text *name,
		      const struct plan_machine **ret_machine)
{
	size_t k;

	for (k = 0; k < b->in->n_machines; k++) {
		if (strcmp(b->in->machines[k].facts.name, name->text) != 0)
			continue;
		*ret_machine = &b->in->machines[k];
		return 0;
	}
	return no_such_machine(b, key, name);
}

static int add_column(struct plan_builder *b, const struct plan_machine *m)
{
	struct plan_column *c = &b->columns[b->n_columns++];

	c->machine = m;
	c->name = plan_keep(b, m->facts.name);
	b->column_at[m - b->in->machines] = (uint32_t)b->n_columns;
	return c->name ? 0 : plan_no_memory(b->err);
}

int plan_column_of(struct plan_builder *b, const struct plan_machine *m,
		   struct plan_column **ret_column)
{
	uint32_t at = b->column_at[m - b->in->machines];
	int rc = at ? 0 : add_column(b, m);

	*ret_column = &b->columns[b->column_at[m - b->in->machines] - 1];
	return rc;
}

static int select_by_name(struct plan_builder *b)
{
	const struct job_texts *wanted = &b->job->machines.names;
	const struct plan_machine *m = NULL;
	size_t i;
	int rc = 0;

	for (i = 0; i < wanted->n && rc == 0; i++) {
		rc = plan_find_machine(b, "machines", &wanted->items[i], &m);
		if (rc == 0 && b->column_at[m - b->in->machines])
			return job_spec_error(b->job, wanted->items[i].at, KG_EINVALID, b->err,
					      "'machines': '%s' is listed twice",
					      wanted->items[i].text);
		if (rc == 0)
			rc = add_column(b, m);
	}
	return rc;
}

static int select_by_predicate(struct plan_builder *b)
{
	struct kg_str known = {0};
	size_t i;
	int rc = 0;

	for (i = 0; i < b->in->n_machines && rc == 0; i++)
		if (!b->job->machines.where ||
		    predicate_matches_machine(b->job->machines.where, &b->in->machines[i].facts))
			rc = add_column(b, &b->in->machines[i]);
	if (rc < 0)
		return rc;
	if (b->n_columns > 0) {
		qsort(b->columns, b->n_columns, sizeof(*b->columns), by_name);
		for (i = 0; i < b->n_columns; i++)
			b->column_at[b->columns[i].machine - b->in->machines] = (uint32_t)i + 1;
		return 0;
	}
	list_machines(b, &known);
	rc = job_spec_error(b->job, b->job->machines.at, KG_EINVALID, b->err,
			    "'machines': no machine matches '%.160s'; known are %s",
			    b->job->machines.where_text, kg_str_text(&known));
	kg_str_deinit(&known);
	return rc;
}

static int select_machines(struct plan_builder *b)
{
	int rc;

	if (b->in->n_machines == 0)
		return kg_err_set(b->err, KG_EINVALID,
				  "%s: no machine is known yet: start an agent first",
				  b->job->file_name);
	/* each machine at most once: addresses stay */
	b->columns = plan_scratch(b, b->in->n_machines + 1, sizeof(*b->columns));
	b->column_at = plan_scratch(b, b->in->n_machines, sizeof(*b->column_at));
	if (!b->columns || !b->column_at)
		return plan_no_memory(b->err);
	rc = b->job->machines.names.n ? select_by_name(b) : select_by_predicate(b);
	b->n_own = b->n_columns;
	return rc;
}

int plan_select(struct plan_builder *b)
{
	int rc = select_machines(b);

	return rc < 0 ? rc : select_kernels(b);
}
