/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The job file; reproduce_recipe.c has the script. */
#include "coordinator/report/reproduce.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "coordinator/plan/plan.h"
#include "coordinator/report/reproduce_internal.h"

#define SYSCTL "sysctl."

static int no_memory(struct kg_err *err)
{
	return kg_err_set(err, -ENOMEM, "out of memory");
}

/* ---- the job's own words of the command line ---- */

static bool take_end(char *line, const char *word)
{
	size_t n = strlen(line), w = strlen(word);

	if (n < w || strcmp(&line[n - w], word) != 0 || (n > w && line[n - w - 1] != ' '))
		return false;
	n -= w;
	while (n > 0 && line[n - 1] == ' ')
		n--;
	line[n] = '\0';
	return true;
}

static bool makes(const struct reproduce_input *in, const char *words, int *ret_rc)
{
	char *line = plan_boot_cmdline(reproduce_text(in->base_cmdline), words,
				       reproduce_text(in->lsm_request));
	bool same = line && strcmp(line, reproduce_text(in->cmdline)) == 0;

	if (!line)
		*ret_rc = -ENOMEM;
	free(line);
	return same;
}

/* The words that the planner makes the cell's line of; owned. *ret_exact false: none do, since the
 * machine's own words have changed. */
static int own_words(const struct reproduce_input *in, char **ret, bool *ret_exact)
{
	char *words = strdup(reproduce_text(in->cmdline));
	const char *request = reproduce_text(in->lsm_request);
	struct kg_str lsm = {0};
	int rc = 0;

	if (!words)
		return -ENOMEM;
	kg_str_addf(&lsm, "lsm=%s", request);
	if (lsm.failed)
		rc = -ENOMEM;
	/* The planner puts lsm=, then panic=10 at the end. */
	(void)take_end(words, PLAN_PANIC);
	if (strcmp(request, JOB_LSM_DEFAULT) != 0)
		(void)take_end(words, kg_str_text(&lsm));
	*ret_exact = makes(in, words, &rc);
	if (!*ret_exact && rc == 0 && strcmp(request, JOB_LSM_DEFAULT) == 0) {
		/* panic= was the job's own word */
		free(words);
		words = strdup(reproduce_text(in->cmdline));
		*ret_exact = words && makes(in, words, &rc);
		rc = words ? rc : -ENOMEM;
	}
	kg_str_deinit(&lsm);
	if (rc < 0)
		free(words);
	else
		*ret = words;
	return rc;
}

/* ---- parts of the file ---- */

static void add_head(const struct reproduce_input *in, struct kg_str *s)
{
	kg_str_addf(s, "# cell %" PRIu64 "/%" PRIu32, in->job, in->number);
	if (in->job_name && in->job_name[0]) {
		kg_str_add(s, " of job '");
		reproduce_comment(s, in->job_name);
		kg_str_add(s, "'");
	}
	kg_str_addf(s, " once more\nname: again-%" PRIu64 "-%" PRIu32 "\n", in->job, in->number);
	kg_str_add(s, "machines: [");
	reproduce_yaml(s, reproduce_text(in->machine));
	kg_str_add(s, "]\nkernels: [");
	/* a label may have moved to another kernel since */
	reproduce_yaml(s, reproduce_text(in->kernel_digest));
	kg_str_add(s, "] # ");
	if (in->kernel_label && !kg_streq(in->kernel_label, in->kernel_release)) {
		reproduce_comment(s, in->kernel_label);
		kg_str_add(s, ", ");
	}
	reproduce_comment(s, reproduce_text(in->kernel_release));
	kg_str_add(s, "\n");
}

static void add_lsm(const struct reproduce_input *in, struct kg_str *s)
{
	const char *label = reproduce_text(in->lsm_label),
		   *request = reproduce_text(in->lsm_request);

	if (strcmp(request, JOB_LSM_DEFAULT) == 0 && strcmp(label, JOB_LSM_DEFAULT) == 0)
		return;
	kg_str_add(s, "lsm: {");
	reproduce_yaml(s, label);
	kg_str_add(s, ": ");
	reproduce_yaml(s, request);
	kg_str_add(s, "}\n");
}

static int add_cmdline(const struct reproduce_input *in, struct kg_str *s)
{
	char *words = NULL;
	bool exact = true;
	int rc = own_words(in, &words, &exact);

	if (rc < 0)
		return rc;
	if (!exact)
		kg_str_add(s,
			   "# the machine's own command line has changed since: this cell's was\n"
			   "# ");
	if (!exact) {
		reproduce_comment(s, reproduce_text(in->cmdline));
		kg_str_add(s, "\n");
	}
	if (words[0]) {
		kg_str_add(s, "cmdline: ");
		reproduce_yaml(s, words);
		kg_str_add(s, "\n");
	}
	free(words);
	return 0;
}

static void add_pair(const struct kg_param_value *v, const char *name, size_t nth, struct kg_str *s)
{
	kg_str_add(s, nth ? ", " : "");
	reproduce_yaml(s, name);
	kg_str_add(s, ": ");
	reproduce_yaml(s, v->value);
}

static int add_settings(const struct reproduce_input *in, struct kg_str *s, struct kg_err *err)
{
	struct kg_params all;
	size_t n = 0, sysctls = 0;
	int rc = reproduce_settings(reproduce_text(in->settings), &all, err);

	if (rc < 0)
		return rc;
	if (all.n)
		kg_str_add(s, "settings: {");
	for (size_t i = 0; i < all.n; i++) {
		if (!kg_str_starts(all.items[i].name, SYSCTL))
			add_pair(&all.items[i], all.items[i].name, n++, s);
	}
	for (size_t i = 0; i < all.n; i++) {
		if (!kg_str_starts(all.items[i].name, SYSCTL))
			continue;
		if (sysctls == 0)
			kg_str_addf(s, "%ssysctl: {", n ? ", " : "");
		add_pair(&all.items[i], all.items[i].name + strlen(SYSCTL), sysctls++, s);
	}
	if (all.n)
		kg_str_add(s, sysctls ? "}}\n" : "}\n");
	kg_params_deinit(&all);
	return 0;
}

static int add_workload(const struct reproduce_input *in, struct kg_str *s, struct kg_err *err)
{
	const char *peer = reproduce_text(in->peer);
	struct kg_params all;
	int rc = reproduce_params(reproduce_text(in->params), &all, err);

	if (rc < 0)
		return rc;
	kg_str_add(s, "workloads:\n  - ");
	reproduce_yaml(s, reproduce_text(in->workload));
	kg_str_add(s, all.n || peer[0] ? ": {" : "");
	for (size_t i = 0; i < all.n; i++)
		add_pair(&all.items[i], all.items[i].name, i, s);
	if (peer[0]) {
		kg_str_add(s, all.n ? ", role: {client: [" : "role: {client: [");
		reproduce_yaml(s, reproduce_text(in->machine));
		kg_str_add(s, "], server: [");
		reproduce_yaml(s, peer);
		kg_str_add(s, "]}");
	}
	kg_str_add(s, all.n || peer[0] ? "}\n" : "\n");
	kg_params_deinit(&all);
	return 0;
}

int reproduce_job_file(const struct reproduce_input *in, char **ret_text, struct kg_err *err)
{
	uint32_t boots = in->blocks ? in->blocks : JOB_BOOTS;
	struct kg_str s = {0};
	int rc;

	add_head(in, &s);
	add_lsm(in, &s);
	rc = add_cmdline(in, &s);
	if (rc == -ENOMEM)
		(void)no_memory(err);
	if (rc == 0)
		rc = add_settings(in, &s, err);
	if (rc == 0)
		rc = add_workload(in, &s, err);
	kg_str_addf(&s,
		    "canary: none\nrepeat: {boots: %" PRIu32 ", iterations: %" PRIu32
		    "}\nconfirm: false\n",
		    boots > JOB_MAX_BOOTS ? JOB_MAX_BOOTS : boots,
		    in->iterations ? in->iterations : JOB_ITERATIONS);
	if (rc == 0 && s.failed)
		rc = no_memory(err);
	if (rc == 0)
		*ret_text = kg_str_take(&s);
	if (rc == 0 && !*ret_text)
		rc = no_memory(err);
	kg_str_deinit(&s);
	return rc;
}
