/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The smallest effect that matters. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/str.h"
#include "coordinator/report/noise_report.h"

#define MIN_EFFECT_PCT	     1
#define MIN_EFFECT_NOISY_PCT 2

/* Whether one of the words "name=value" of the parameters has a value that begins so, in any case. */
static bool has_value(const char *params, const char *prefix)
{
	for (const char *s = params; s && (s = strchr(s, '=')); s++) {
		if (strncasecmp(s + 1, prefix, strlen(prefix)) == 0)
			return true;
	}
	return false;
}

/* By what the workload is called and what its parameters choose: hackbench, schbench, perf-bench with
 * test=sched-pipe, netperf with test=UDP_RR. */
double report_default_min_effect(const char *workload, const char *params)
{
	bool noisy =
		workload && (strcmp(workload, "hackbench") == 0 || strcasestr(workload, "sched") ||
			     strcmp(workload, "schbench") == 0 || strcasestr(workload, "udp"));

	return noisy || has_value(params, "udp") || has_value(params, "sched")
		       ? MIN_EFFECT_NOISY_PCT
		       : MIN_EFFECT_PCT;
}

const struct report_min_effect *report_find_min_effect(const struct report_input *in,
						       const struct report_cell *cell,
						       const struct report_metric *metric)
{
	for (size_t i = 0; i < in->n_min_effects; i++) {
		const struct report_min_effect *e = &in->min_effects[i];

		if (kg_streq(e->machine, cell->machine) && kg_streq(e->workload, cell->workload) &&
		    kg_streq(e->params, cell->params) && kg_streq(e->metric, metric->name) &&
		    (!e->unit || kg_streq(e->unit, metric->unit)))
			return e;
	}
	return NULL;
}

static const char *or_empty(const char *text)
{
	return text ? text : "";
}

int report_noise_min_effects(const Kgrid__V1__NoiseReply *reply, struct report_min_effect **ret,
			     size_t *ret_n)
{
	struct report_min_effect *items = calloc(reply->n_profiles + 1, sizeof(*items));
	size_t n = 0;

	if (!items)
		return -ENOMEM;
	for (size_t i = 0; i < reply->n_profiles; i++) {
		const Kgrid__V1__NoiseProfile *p = reply->profiles[i];

		if (!p->has_min_effect_pct)
			continue;
		items[n++] = (struct report_min_effect){.machine = or_empty(p->machine),
							.workload = or_empty(p->workload),
							.params = or_empty(p->params),
							.metric = or_empty(p->metric),
							.unit = p->unit,
							.pct = p->min_effect_pct,
							.raised = p->raised};
	}
	*ret = items;
	*ret_n = n;
	return 0;
}
