/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/select.h"

#include <string.h>

#include "cli/when.h"
#include "common/str.h"

#define PERCENT_MOST 1000.0

static bool command_has(const struct cli_args *args, const char *name)
{
	const struct cli_option *o = args->command->options;

	for (; o && o->name; o++)
		if (strcmp(o->name, name) == 0)
			return true;
	return false;
}

static char *text_of(const struct cli_args *args, const char *name)
{
	return command_has(args, name) ? (char *)(uintptr_t)cli_args_text(args, name) : NULL;
}

static bool flag_of(const struct cli_args *args, const char *name)
{
	return command_has(args, name) && cli_args_has(args, name);
}

static int read_jobs(const struct cli_args *args, uint64_t job, struct selection *ret,
		     struct kg_err *err)
{
	Kgrid__V1__Selection *m = &ret->message;
	const char *text;
	uint64_t v;
	size_t i;

	m->jobs = ret->jobs;
	if (job)
		ret->jobs[m->n_jobs++] = job;
	for (i = 0; command_has(args, "job") && (text = cli_args_each(args, "job", i)); i++) {
		if (kg_parse_u64(text, &v) < 0 || v == 0)
			return kg_err_set(err, KG_EINVALID, "not the number of a job: '%s'", text);
		ret->jobs[m->n_jobs++] = v;
	}
	m->all_jobs = flag_of(args, "all-jobs");
	m->has_all_jobs = m->all_jobs;
	if (m->all_jobs && m->n_jobs > 0)
		return kg_err_set(err, KG_EINVALID,
				  "'--all-jobs' and a job do not go together; leave one out");
	return 0;
}

static int read_params(const struct cli_args *args, struct selection *ret, struct kg_err *err)
{
	Kgrid__V1__Selection *m = &ret->message;
	const char *text;
	size_t i;

	m->params = ret->params;
	for (i = 0; command_has(args, "param") && (text = cli_args_each(args, "param", i)); i++) {
		const char *sign = strchr(text, '=');

		if (!sign || sign == text || !sign[1])
			return kg_err_set(
				err, KG_EINVALID,
				"not a parameter: '%s'; it has the form NAME=VALUE, such as "
				"size=64",
				text);
		ret->params[m->n_params++] = (char *)(uintptr_t)text;
	}
	return 0;
}

int selection_read(const struct cli_args *args, uint64_t job, int64_t now_ns, struct selection *ret,
		   struct kg_err *err)
{
	Kgrid__V1__Selection *m = &ret->message;
	const char *since = text_of(args, "since");
	int rc;

	memset(ret, 0, sizeof(*ret));
	*m = (Kgrid__V1__Selection)KGRID__V1__SELECTION__INIT;
	rc = read_jobs(args, job, ret, err);
	if (rc == 0)
		rc = read_params(args, ret, err);
	if (rc == 0 && since)
		rc = when_parse(since, now_ns, &m->since_ns, err);
	if (rc < 0)
		return rc;
	m->has_since_ns = since != NULL;
	m->machine = text_of(args, "machine");
	m->kernel = text_of(args, "kernel");
	m->lsm = text_of(args, "lsm");
	m->workload = text_of(args, "workload");
	m->metric = text_of(args, "metric");
	return 0;
}

bool selection_is_wider(const struct selection *s)
{
	const Kgrid__V1__Selection *m = &s->message;

	return m->n_jobs > 1 || m->all_jobs || m->machine || m->kernel || m->lsm || m->workload ||
	       m->n_params > 0 || m->has_since_ns;
}

int percent_parse(const char *option, const char *text, double *ret, struct kg_err *err)
{
	size_t len = strlen(text);
	char number[64];
	double v;

	if (len > 0 && text[len - 1] == '%')
		len--;
	while (len > 0 && text[len - 1] == ' ')
		len--;
	if (len < sizeof(number)) {
		memcpy(number, text, len);
		number[len] = '\0';
		if (kg_parse_double(number, &v) == 0 && v >= 0 && v <= PERCENT_MOST) {
			*ret = v;
			return 0;
		}
	}
	return kg_err_set(err, KG_EINVALID,
			  "'--%s' needs a percentage from 0, such as 2%%, not '%s'", option, text);
}

int policy_read(const struct cli_args *args, Kgrid__V1__CompareRequest *q, struct kg_err *err)
{
	const char *alpha = text_of(args, "alpha"), *least = text_of(args, "min-effect");
	int rc;

	q->baseline = text_of(args, "baseline");
	q->correction = text_of(args, "correction");
	q->across_epochs = flag_of(args, "across-epochs");
	q->has_across_epochs = q->across_epochs;
	if (alpha) {
		if (kg_parse_double(alpha, &q->alpha) < 0 || !(q->alpha > 0) || !(q->alpha < 1))
			return kg_err_set(err, KG_EINVALID,
					  "'--alpha' needs a probability between 0 and 1, such as "
					  "0.01, not '%s'",
					  alpha);
		q->has_alpha = 1;
	}
	if (least) {
		rc = percent_parse("min-effect", least, &q->min_effect_pct, err);
		if (rc < 0)
			return rc;
		q->has_min_effect_pct = 1;
	}
	return 0;
}
