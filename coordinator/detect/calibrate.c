/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "coordinator/detect/calibrate.h"

#include <errno.h>
#include <string.h>

/* A workload as a person writes it in a job file: one line, "netperf" or "netperf: {size: 64}". */
static bool one_line(const char *text)
{
	return text[0] && !strpbrk(text, "\n\r#");
}

static bool needs(const struct kg_param_decl *p)
{
	return p->required && !p->preset;
}

/* False: it needs a value that nobody can choose for the person. */
static bool can_choose(const struct kg_workload *w)
{
	for (size_t i = 0; i < w->n_params; i++)
		if (needs(&w->params[i]) && w->params[i].choices.n == 0)
			return false;
	return true;
}

/* "  - netperf: {test: [TCP_STREAM, UDP_RR]}" */
static void add_offered(const struct kg_workload *w, struct kg_str *out)
{
	bool any = false;

	kg_str_addf(out, "  - %s", w->name);
	for (size_t i = 0; i < w->n_params; i++) {
		const struct kg_param_decl *p = &w->params[i];

		if (!needs(p))
			continue;
		kg_str_add(out, any ? ", " : ": {");
		any = true;
		kg_str_add_json(out, p->name);
		kg_str_add(out, ": [");
		for (size_t k = 0; k < p->choices.n; k++) {
			kg_str_add(out, k ? ", " : "");
			kg_str_add_json(out, p->choices.items[k]);
		}
		kg_str_add(out, "]");
	}
	kg_str_add(out, any ? "}\n" : "\n");
}

static int add_workloads(const Kgrid__V1__CalibrateRequest *rq, const struct calibrate_offer *offer,
			 struct kg_str *out, struct kg_err *err)
{
	size_t offered = 0;

	kg_str_add(out, "workloads:\n");
	for (size_t i = 0; i < rq->n_workloads; i++) {
		if (!one_line(rq->workloads[i]))
			return kg_err_set(err, KG_EINVALID,
					  "workload '%.64s': expected one line as in a job file, "
					  "such as 'netperf: {test: UDP_RR}'",
					  rq->workloads[i]);
		kg_str_addf(out, "  - %s\n", rq->workloads[i]);
	}
	for (size_t i = 0; rq->n_workloads == 0 && i < offer->n_workloads; i++) {
		if (!can_choose(offer->workloads[i]))
			continue;
		add_offered(offer->workloads[i], out);
		offered++;
	}
	if (rq->n_workloads == 0 && offered == 0)
		return kg_err_set(err, KG_ENODATA,
				  "machine '%s' has no workload that can run without further "
				  "parameters",
				  offer->machine);
	return 0;
}

int calibrate_job_text(const Kgrid__V1__CalibrateRequest *rq, const struct calibrate_offer *offer,
		       struct kg_str *ret, struct kg_err *err)
{
	const char *kernel = rq->kernel && rq->kernel[0] ? rq->kernel : offer->kernel;
	uint32_t boots = rq->has_boots && rq->boots ? rq->boots : CALIBRATE_BOOTS;
	int rc;

	kg_str_clear(ret);
	if (!kernel)
		return kg_err_set(err, KG_ENODATA,
				  "there is no kernel: add one with 'kgrid kernel add'");
	if (boots < CALIBRATE_BOOTS_LEAST || boots > CALIBRATE_BOOTS_MOST)
		return kg_err_set(err, KG_EINVALID, "%u boots: expected %d to %d", boots,
				  CALIBRATE_BOOTS_LEAST, CALIBRATE_BOOTS_MOST);
	kg_str_add(ret, "# A/A: differences between these boots are noise. Made by kgrid.\nname: ");
	kg_str_addf(ret, "calibrate-%.50s\n", offer->machine);
	kg_str_addf(ret, "machines: [\"%s\"]\nkernels: [", offer->machine);
	kg_str_add_json(ret, kernel);
	kg_str_add(ret, "]\n");
	if (rq->lsm && rq->lsm[0]) {
		kg_str_add(ret, "lsm:\n  aa: ");
		kg_str_add_json(ret, rq->lsm);
		kg_str_add(ret, "\n");
	}
	rc = add_workloads(rq, offer, ret, err);
	kg_str_addf(ret, "repeat: {boots: %u}\nconfirm: false\n", boots);
	if (rc == 0 && ret->failed)
		rc = kg_err_set(err, -ENOMEM, "out of memory");
	return rc;
}
