/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A workload's declaration, then a line "===", then the output of a run. What was accepted must
 * give a command, and every metric values or a reason. */
#include <errno.h>
#include <math.h>
#include <string.h>

#include "common/workload.h"
#include "tests/fuzz/fuzz.h"

#define SEPARATOR "\n===\n"

static const char *a_value(const struct kg_param_decl *d)
{
	static char number[32];

	switch (d->type) {
	case KG_PARAM_CHOICE:
		return d->choices.items[d->choices.n - 1];
	case KG_PARAM_TEXT:
		return "{text}";
	default:
		(void)snprintf(number, sizeof(number), "%lld", (long long)d->min);
		return number;
	}
}

/* A value for every parameter without a default. */
static size_t choose(const struct kg_workload *w, struct kg_param_value *given)
{
	struct kg_err err;
	size_t i, n = 0;

	for (i = 0; i < w->n_params; i++) {
		const struct kg_param_decl *d = &w->params[i];

		if (d->preset)
			continue;
		must(kg_workload_normalise(w, d->name, a_value(d), &given[n].value, &err) == 0);
		given[n++].name = d->name;
	}
	return n;
}

static void read_metrics(const struct kg_workload *w, const struct kg_params *p, const char *output)
{
	struct kg_err err;
	double *values;
	size_t i, j, n;

	for (i = 0; i < w->n_metrics; i++) {
		(void)kg_metric_applies(&w->metrics[i], p);
		values = NULL;
		if (kg_metric_read(&w->metrics[i], output, &values, &n, &err) < 0) {
			must(!values && err.text[0]);
			continue;
		}
		must(n > 0);
		for (j = 0; j < n; j++)
			must(isfinite(values[j]) && values[j] >= 0);
		free(values);
	}
}

static void use(const struct kg_workload *w, const char *output)
{
	struct kg_param_value extra[] = {
		{(char *)(uintptr_t) "port", (char *)(uintptr_t) "1"},
	};
	struct kg_param_value given[64];
	struct kg_params p;
	struct kg_texts argv;
	struct kg_err err;
	size_t n, i;
	char *text;

	must(w->n_params <= 64);
	n = choose(w, given);
	must(kg_workload_params(w, given, n, &p, &err) == 0);
	must(p.n == w->n_params);
	text = kg_params_text(&p);
	must(text);
	free(text);
	must(kg_workload_argv(w, &p, extra, 1, &argv, &err) == 0);
	must(argv.n >= w->command.n && !argv.items[argv.n]);
	kg_texts_deinit(&argv);
	must(kg_workload_helper_argv(w, &p, extra, 1, &argv, &err) == 0);
	kg_texts_deinit(&argv);
	(void)kg_workload_duration_ns(w, &p);
	read_metrics(w, &p, output);
	kg_params_deinit(&p);
	for (i = 0; i < n; i++)
		free(given[i].value);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = malloc(size + 1);
	const char *output = "";
	struct kg_workload *w = NULL;
	struct kg_err err = {{0}};
	size_t len = size;
	char *cut;
	int rc;

	must(text);
	memcpy(text, data, size);
	text[size] = '\0';
	cut = memmem(text, size, SEPARATOR, strlen(SEPARATOR));
	if (cut) {
		len = (size_t)(cut - text) + 1;
		output = cut + strlen(SEPARATOR);
	}
	rc = kg_workload_parse("f", text, len, &w, &err);
	if (rc < 0) {
		must(!w && err.text[0]);
		must(rc == KG_EINVALID || rc == -ENOMEM);
	} else {
		use(w, output);
		kg_workload_free(w);
	}
	free(text);
	return 0;
}
