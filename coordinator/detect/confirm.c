/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "coordinator/detect/confirm.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "coordinator/detect/sighting.h"

#define TEXT_SIZE 512

/* ---- which machines ---- */

static const struct confirm_machine *find(const struct confirm_machine *m, size_t n,
					  const char *name)
{
	for (size_t i = 0; i < n; i++)
		if (strcmp(m[i].name, name) == 0)
			return &m[i];
	return NULL;
}

const char *confirm_second(const struct confirm_machine *machines, size_t n, const char *machine)
{
	const struct confirm_machine *own = find(machines, n, machine), *best = NULL;

	if (!own || !own->vendor)
		return NULL;
	for (size_t i = 0; i < n; i++) {
		const struct confirm_machine *m = &machines[i];

		if (m != own && m->connected && kg_streq(m->vendor, own->vendor) &&
		    (!best || strcmp(m->name, best->name) < 0))
			best = m;
	}
	return best ? best->name : NULL;
}

/* ---- the job file ---- */

/* Adds a list item once; texts are compared as they stand in the file. */
static void add_once(struct kg_str *list, const char *text)
{
	struct kg_str item = {0};

	kg_str_add_json(&item, text);
	if (item.failed)
		list->failed = true;
	else if (!strstr(kg_str_text(list), kg_str_text(&item)))
		kg_str_addf(list, "%s%s", list->len ? ", " : "", kg_str_text(&item));
	kg_str_deinit(&item);
}

static void add_machines(const struct store_regression *r, const struct confirm_machine *machines,
			 size_t n, struct kg_str *out)
{
	struct kg_str list = {0};

	for (size_t i = 0; i < r->n_members; i++) {
		const char *second = confirm_second(machines, n, r->members[i].machine);

		add_once(&list, r->members[i].machine);
		if (second)
			add_once(&list, second);
	}
	kg_str_addf(out, "machines: [%s]\n", kg_str_text(&list));
	out->failed = out->failed || list.failed;
	kg_str_deinit(&list);
}

static void add_kernels(const struct store_regression *r, struct kg_str *out)
{
	struct kg_str list = {0};

	if (!r->lsm_axis) {
		add_once(&list, r->from_key);
		add_once(&list, r->to_key);
	}
	for (size_t i = 0; r->lsm_axis && i < r->n_members; i++)
		add_once(&list, r->members[i].kernel);
	kg_str_addf(out, "kernels: [%s]\n", kg_str_text(&list));
	out->failed = out->failed || list.failed;
	kg_str_deinit(&list);
}

/* Where the job varies its command line or settings, a list is shown with its variant behind a '+'. */
static bool shown_as(const char *shown, const char *label)
{
	size_t len = strlen(label);

	return shown && strncmp(shown, label, len) == 0 &&
	       (shown[len] == '\0' || shown[len] == '+');
}

static bool wants_lsm(const struct store_regression *r, const char *label)
{
	if (r->lsm_axis)
		return shown_as(r->from_label, label) || shown_as(r->to_label, label);
	for (size_t i = 0; i < r->n_members; i++)
		if (shown_as(r->members[i].lsm, label))
			return true;
	return false;
}

static void add_lsm(const struct job_lsm *l, struct kg_str *out)
{
	kg_str_add(out, "  ");
	kg_str_add_json(out, l->label);
	kg_str_add(out, ": ");
	if (strcmp(l->request, JOB_LSM_DEFAULT) == 0)
		kg_str_add(out, JOB_LSM_DEFAULT);
	else
		kg_str_add_json(out, l->request);
	kg_str_add(out, "\n");
}

/* The baseline first: tables compare with what comes first. */
static size_t add_lsms(const struct store_regression *r, const struct job_spec *origin,
		       struct kg_str *out)
{
	size_t n = 0;

	kg_str_add(out, "lsm:\n");
	for (int pass = 0; pass < 2; pass++)
		for (size_t i = 0; i < origin->n_lsms; i++) {
			const struct job_lsm *l = &origin->lsms[i];
			bool first = r->lsm_axis && shown_as(r->from_label, l->label);

			if (!wants_lsm(r, l->label) || first != (pass == 0))
				continue;
			add_lsm(l, out);
			n++;
		}
	return n;
}

/* All variants of the origin: which of them a result was of stands in its label. */
static void add_cmdline(const struct job_spec *origin, struct kg_str *out)
{
	const char *base = origin->cmdline ? origin->cmdline : "";
	bool varies =
		origin->n_variants > 1 || (origin->n_variants == 1 && origin->variants[0].words[0]);

	if (!varies && !base[0])
		return;
	kg_str_add(out, "cmdline: ");
	if (!varies) {
		kg_str_add_json(out, base);
		kg_str_add(out, "\n");
		return;
	}
	kg_str_add(out, "{base: ");
	kg_str_add_json(out, base);
	kg_str_add(out, ", vary: {");
	for (size_t i = 0; i < origin->n_variants; i++) {
		kg_str_add(out, i ? ", " : "");
		kg_str_add_json(out, origin->variants[i].label);
		kg_str_add(out, ": ");
		kg_str_add_json(out, origin->variants[i].words);
	}
	kg_str_add(out, "}}\n");
}

static void add_settings(const struct job_spec *origin, struct kg_str *out)
{
	if (origin->n_settings > 0)
		kg_str_add(out, "settings:\n");
	for (size_t i = 0; i < origin->n_settings; i++) {
		const struct job_setting *s = &origin->settings[i];

		kg_str_add(out, "  ");
		kg_str_add_json(out, s->name);
		kg_str_add(out, ": [");
		for (size_t k = 0; k < s->values.n; k++) {
			kg_str_add(out, k ? ", " : "");
			kg_str_add_json(out, s->values.items[k].text);
		}
		kg_str_add(out, "]\n");
	}
}

/* "size=64 peer=lab-amd": the machine of the server; empty without one. */
static void read_peer(const char *params, char *buf, size_t size)
{
	const char *p = strstr(params, " peer=");

	if (!p && kg_str_starts(params, "peer="))
		p = params - 1;
	(void)snprintf(buf, size, "%s", p ? p + strlen(" peer=") : "");
}

/* "seconds=1 size=64" -> {"seconds": "1", "size": "64"}; values have no blanks (normalised). */
static void add_params(const char *machine, const char *params, struct kg_str *out)
{
	char peer[128];
	char word[256];
	bool first = true;

	read_peer(params, peer, sizeof(peer));
	kg_str_add(out, "{");
	while (*params) {
		size_t len = strcspn(params, " ");
		char *value;

		if (len > 0 && len < sizeof(word)) {
			memcpy(word, params, len);
			word[len] = '\0';
			value = strchr(word, '=');
			if (value && !(peer[0] && strncmp(word, "peer=", 5) == 0)) {
				*value++ = '\0';
				kg_str_add(out, first ? "" : ", ");
				kg_str_add_json(out, word);
				kg_str_add(out, ": ");
				kg_str_add_json(out, value);
				first = false;
			}
		}
		params += len;
		params += *params == ' ';
	}
	if (peer[0]) {
		kg_str_addf(out, "%srole: {client: [", first ? "" : ", ");
		kg_str_add_json(out, machine);
		kg_str_add(out, "], server: [");
		kg_str_add_json(out, peer);
		kg_str_add(out, "]}");
	}
	kg_str_add(out, "}");
}

static void add_workloads(const struct store_regression *r, struct kg_str *out)
{
	kg_str_add(out, "workloads:\n");
	for (size_t i = 0; i < r->n_members; i++) {
		const struct store_member *m = &r->members[i];
		size_t k = 0;

		while (k < i && !(strcmp(r->members[k].workload, m->workload) == 0 &&
				  strcmp(r->members[k].params, m->params) == 0))
			k++;
		if (k < i)
			continue; /* another machine or metric showed it too */
		kg_str_add(out, "  - ");
		kg_str_add_json(out, m->workload);
		kg_str_add(out, ": ");
		add_params(m->machine, m->params, out);
		kg_str_add(out, "\n");
	}
}

int confirm_job_text(const struct store_regression *r, const struct job_spec *origin,
		     const struct confirm_machine *machines, size_t n_machines, struct kg_str *ret,
		     struct kg_err *err)
{
	size_t lsms;

	kg_str_clear(ret);
	if (r->n_members == 0)
		return kg_err_set(err, KG_ENODATA, "nothing is known that showed it");
	kg_str_addf(ret, "# Three fresh blocks for regression %llu, made by kgrid.\n",
		    (unsigned long long)r->id);
	kg_str_addf(ret, "name: confirm-%llu\n", (unsigned long long)r->id);
	add_machines(r, machines, n_machines, ret);
	add_kernels(r, ret);
	lsms = add_lsms(r, origin, ret);
	add_cmdline(origin, ret);
	add_settings(origin, ret);
	add_workloads(r, ret);
	kg_str_addf(ret,
		    "repeat: {boots: %d, iterations: %u}\npriority: %u\nconfirm: false\n"
		    "canary: none\n",
		    CONFIRM_BLOCKS, origin->iterations, origin->priority);
	if (ret->failed)
		return kg_err_set(err, -ENOMEM, "out of memory");
	if (lsms < (r->lsm_axis ? 2U : 1U))
		return kg_err_set(err, KG_ENODATA,
				  "the lists that showed it are not in the job file of job %llu",
				  (unsigned long long)r->members[0].job);
	return 0;
}

bool confirm_fits(const struct job_spec *origin, uint64_t spent_ns, uint64_t needed_ns)
{
	return origin->budget_ns == 0 ||
	       (spent_ns <= origin->budget_ns && needed_ns <= origin->budget_ns - spent_ns);
}

/* ---- the judgement ---- */

static bool judges(const Kgrid__V1__CompareCell *c)
{
	return c && c->has_p_worse;
}

static bool worse(const Kgrid__V1__CompareCell *c)
{
	return judges(c) && c->p_worse <= CONFIRM_P && c->has_delta_pct && c->delta_pct < 0;
}

static void judge_member(const struct store_member *m, const Kgrid__V1__CompareReply *r,
			 const struct sighting_question *q, const char *second,
			 struct store_confirmed *ret)
{
	const Kgrid__V1__CompareCell *own = sighting_cell(r, q, m, m->machine);
	const Kgrid__V1__CompareCell *other = second ? sighting_cell(r, q, m, second) : NULL;

	*ret = (struct store_confirmed){
		.machine = m->machine,
		.workload = m->workload,
		.params = m->params,
		.metric = m->metric,
		.kernel = m->kernel,
		.lsm = m->lsm,
		.p = own->p_worse,
		.confirm_machine = worse(other) ? second : NULL,
	};
	ret->confirmed = worse(own) && (!judges(other) || worse(other));
}

struct tally {
	size_t confirmed, own_only, absent;
	const struct store_member *example;
	const Kgrid__V1__CompareCell *cell;
	const char *second;
};

/* `n` members, of which some may have got no valid result: these were not tried. */
static const char *describe(const struct tally *t, size_t n, struct kg_arena *a)
{
	size_t tried = n - t->absent;
	char *text = kg_arena_alloc(a, TEXT_SIZE);
	int len;

	if (!text)
		return NULL;
	if (t->confirmed > 0) {
		len = snprintf(text, TEXT_SIZE,
			       "confirmed: %zu of %zu show it again in three fresh blocks; %s "
			       "%s on %s: %+.2f %% (one-sided p = %.3g)",
			       t->confirmed, tried, t->example->workload, t->example->params,
			       t->example->machine, t->cell->delta_pct, t->cell->p_worse);
		if (t->second && len > 0 && len < TEXT_SIZE)
			len += snprintf(text + len, TEXT_SIZE - (size_t)len, ", and on %s",
					t->second);
	} else if (t->absent == n) {
		len = snprintf(text, TEXT_SIZE,
			       "not confirmed: the fresh blocks gave no valid result to judge by");
	} else if (t->own_only > 0) {
		len = snprintf(text, TEXT_SIZE,
			       "not confirmed: %zu of %zu show it again on their own machine, none "
			       "on a second machine of the vendor",
			       t->own_only, tried);
	} else {
		len = snprintf(text, TEXT_SIZE,
			       "not confirmed: none of %zu shows it again in three fresh blocks "
			       "(one-sided p <= %.2f)",
			       tried, CONFIRM_P);
	}
	if (t->absent > 0 && tried > 0 && len > 0 && len < TEXT_SIZE)
		(void)snprintf(text + len, TEXT_SIZE - (size_t)len,
			       "; of %zu more there is no valid result", t->absent);
	return text;
}

int confirm_judge(const struct store_regression *reg, const Kgrid__V1__CompareReply *r,
		  const struct confirm_machine *machines, size_t n_machines, struct kg_arena *a,
		  struct confirm_result *ret)
{
	struct sighting_question q = {
		.lsm_axis = reg->lsm_axis, .from = reg->from_label, .to = reg->to_label};
	struct tally t = {0};

	*ret = (struct confirm_result){0};
	ret->members = kg_arena_alloc(a, (reg->n_members + 1) * sizeof(*ret->members));
	if (!ret->members)
		return -ENOMEM;
	for (size_t i = 0; i < reg->n_members; i++) {
		const struct store_member *m = &reg->members[i];
		const char *second = confirm_second(machines, n_machines, m->machine);
		struct store_confirmed *c = &ret->members[ret->n_members];
		const Kgrid__V1__CompareCell *own = sighting_cell(r, &q, m, m->machine);

		if (!judges(own)) {
			t.absent++; /* what was not tried is not refuted */
			continue;
		}
		judge_member(m, r, &q, second, c);
		ret->n_members++;
		t.own_only += worse(own) && !c->confirmed;
		if (c->confirmed && t.confirmed++ == 0) {
			t.example = m;
			t.cell = own;
			t.second = c->confirm_machine;
		}
	}
	ret->confirmed = t.confirmed > 0;
	ret->text = describe(&t, reg->n_members, a);
	return ret->text ? 0 : -ENOMEM;
}

void confirm_notice(const struct store_regression *reg, const char *text, struct kg_str *ret)
{
	kg_str_addf(ret, "kgrid: regression %llu, %s %s -> %s\n", (unsigned long long)reg->id,
		    reg->lsm_axis ? "lsm list" : "kernel", reg->from_label, reg->to_label);
	kg_str_addf(ret, "%s\n\n", text);
	for (size_t i = 0; i < reg->n_members; i++) {
		const struct store_member *m = &reg->members[i];

		kg_str_addf(ret, "%s  %s %s  %s  %s/%s: %+.2f %%", m->machine, m->workload,
			    m->params, m->metric, m->kernel, m->lsm, m->effect_pct);
		if (m->has_interval)
			kg_str_addf(ret, " [%.2f, %.2f]", m->lo_pct, m->hi_pct);
		kg_str_addf(ret, ", %.6g -> %.6g %s, job %llu\n", m->before, m->after, m->unit,
			    (unsigned long long)m->job);
	}
	kg_str_addf(ret, "\nkgrid regressions %llu\n", (unsigned long long)reg->id);
}
