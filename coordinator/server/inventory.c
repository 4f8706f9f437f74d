/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "coordinator/server/inventory.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static void machine_unref(struct inv_machine *m)
{
	size_t i;

	if (!m || atomic_fetch_sub(&m->refs, 1) != 1)
		return;
	for (i = 0; m->facts && i < m->facts->n_workloads; i++) {
		if (m->decls)
			kg_workload_free(m->decls[i]);
		if (m->problems)
			free(m->problems[i]);
	}
	free(m->decls);
	free(m->problems);
	free(m->offers);
	free(m->settings);
	kg_msg_free(m->facts_msg);
	free(m->name);
	free(m);
}

void inv_kernel_unref(struct inv_kernel *k)
{
	if (!k || atomic_fetch_sub(&k->refs, 1) != 1)
		return;
	free(k->digest);
	free(k->label);
	free(k->release);
	free(k->build_id);
	free(k);
}

void inventory_deinit(struct inventory *inv)
{
	size_t i;

	for (i = 0; i < inv->n_machines; i++)
		machine_unref(inv->machines[i]);
	for (i = 0; i < inv->n_kernels; i++)
		inv_kernel_unref(inv->kernels[i]);
	free(inv->machines);
	free(inv->kernels);
	memset(inv, 0, sizeof(*inv));
}

static const char *text_or(const char *s, const char *other)
{
	return s ? s : other;
}

/* A declaration that cannot be read makes its cells infeasible with the reason, nothing worse. */
static int read_offer(struct inv_machine *m, size_t i)
{
	const Kgrid__V1__WorkloadOffer *o = m->facts->workloads[i];
	const char *text = text_or(o->declaration, "");
	struct kg_err err = {""};
	int rc = kg_workload_parse(text_or(o->name, "?"), text, strlen(text), &m->decls[i], &err);

	if (rc == -ENOMEM)
		return rc;
	if (rc < 0) {
		m->decls[i] = NULL;
		m->problems[i] = strdup(err.text);
		if (!m->problems[i])
			return -ENOMEM;
	}
	m->offers[i] = (struct plan_offer){
		.name = text_or(o->name, "?"),
		.digest = text_or(o->digest, ""),
		.available = o->available && m->decls[i],
		.missing = m->decls[i] ? text_or(o->missing, "not available") : m->problems[i],
		.decl = m->decls[i],
	};
	return 0;
}

static void fill_plan_machine(struct inv_machine *m)
{
	const Kgrid__V1__MachineFacts *f = m->facts;

	m->plan = (struct plan_machine){
		.facts =
			{
				.name = m->name,
				.cpu_vendor = f->cpu_vendor,
				.cpu_name = f->cpu_name,
				.microcode = f->microcode,
				.clock = f->clock,
				.cpu_family = f->cpu_family,
				.cpu_model = f->cpu_model,
				.cpu_stepping = f->cpu_stepping,
				.cpus = f->cpus,
				.sockets = f->sockets,
				.numa_nodes = f->numa_nodes,
				.memory_bytes = f->memory_bytes,
				.tags = (const char *const *)f->tags,
				.n_tags = f->n_tags,
			},
		.offers = m->offers,
		.n_offers = f->n_workloads,
		.base_cmdline = f->base_cmdline,
		.initrd_policy = f->initrd_policy,
		.address = f->address && f->address[0] ? f->address : NULL,
		.settings = m->settings,
		.n_settings = f->n_settings,
		.settings_known = f->settings_known,
	};
}

static int read_settings(struct inv_machine *m)
{
	const Kgrid__V1__MachineFacts *f = m->facts;
	size_t i;

	m->settings = calloc(f->n_settings + 1, sizeof(*m->settings));
	if (!m->settings)
		return -ENOMEM;
	for (i = 0; i < f->n_settings; i++) {
		m->settings[i].name = f->settings[i]->name ? f->settings[i]->name : (char *)"";
		m->settings[i].value = f->settings[i]->value ? f->settings[i]->value : (char *)"";
	}
	return 0;
}

static int machine_make(const char *name, const Kgrid__V1__MachineFacts *facts,
			struct inv_machine **ret_m, struct kg_err *err)
{
	struct inv_machine *m = calloc(1, sizeof(*m));
	size_t i, n = facts->n_workloads;
	int rc;

	if (!m)
		return kg_err_set(err, -ENOMEM, "out of memory");
	atomic_init(&m->refs, 1);
	m->name = strdup(name);
	rc = kg_msg_copy(KG_MSG_FACTS, &facts->base, &m->facts_msg, err);
	if (rc == 0) {
		m->facts = (const Kgrid__V1__MachineFacts *)kg_msg_body(m->facts_msg);
		m->decls = calloc(n + 1, sizeof(*m->decls));
		m->problems = calloc(n + 1, sizeof(*m->problems));
		m->offers = calloc(n + 1, sizeof(*m->offers));
		if (!m->name || !m->decls || !m->problems || !m->offers)
			rc = -ENOMEM;
	}
	for (i = 0; rc == 0 && i < n; i++)
		rc = read_offer(m, i);
	if (rc == 0)
		rc = read_settings(m);
	if (rc < 0) {
		machine_unref(m);
		return rc == -ENOMEM ? kg_err_set(err, rc, "out of memory") : rc;
	}
	fill_plan_machine(m);
	*ret_m = m;
	return 0;
}

static size_t machine_index(const struct inventory *inv, const char *name)
{
	size_t i;

	for (i = 0; i < inv->n_machines; i++)
		if (strcmp(inv->machines[i]->name, name) == 0)
			break;
	return i;
}

struct inv_machine *inventory_machine(const struct inventory *inv, const char *name)
{
	size_t i = machine_index(inv, name);

	return i < inv->n_machines ? inv->machines[i] : NULL;
}

int inventory_put_machine(struct inventory *inv, const char *name,
			  const Kgrid__V1__MachineFacts *facts, struct kg_err *err)
{
	size_t i = machine_index(inv, name);
	struct inv_machine *m = NULL;
	int rc = machine_make(name, facts, &m, err);

	if (rc < 0)
		return rc;
	if (i == inv->n_machines) {
		struct inv_machine **p =
			realloc(inv->machines, (i + 1) * sizeof(struct inv_machine *));

		if (!p) {
			machine_unref(m);
			return kg_err_set(err, -ENOMEM, "out of memory");
		}
		inv->machines = p;
		inv->n_machines++;
	} else {
		machine_unref(inv->machines[i]);
	}
	inv->machines[i] = m;
	return 0;
}

static char *copy_or_null(const char *s)
{
	return s && s[0] ? strdup(s) : NULL;
}

int inv_kernel_make(const struct artifact_kernel *k, const char *label, struct inv_kernel **ret_k,
		    struct kg_err *err)
{
	struct inv_kernel *inv = calloc(1, sizeof(*inv));
	int rc;

	if (!inv)
		return kg_err_set(err, -ENOMEM, "out of memory");
	atomic_init(&inv->refs, 1);
	inv->digest = strdup(k->digest);
	inv->label = copy_or_null(label);
	inv->release = strdup(k->image.release);
	inv->build_id = copy_or_null(k->image.build_id);
	inv->has_modules = artifact_manifest_has_modules(&k->manifest);
	if (!inv->digest || !inv->release) {
		inv_kernel_unref(inv);
		return kg_err_set(err, -ENOMEM, "out of memory");
	}
	rc = kconfig_read(k->config, k->image.release, &inv->config, err);
	if (rc < 0) {
		inv_kernel_unref(inv);
		return kg_err_wrap(err, rc, "config of kernel '%s'", k->image.release);
	}
	*ret_k = inv;
	return 0;
}

static size_t kernel_index(const struct inventory *inv, const char *digest)
{
	size_t i;

	for (i = 0; i < inv->n_kernels; i++)
		if (strcmp(inv->kernels[i]->digest, digest) == 0)
			break;
	return i;
}

struct inv_kernel *inventory_kernel(const struct inventory *inv, const char *digest)
{
	size_t i = kernel_index(inv, digest);

	return i < inv->n_kernels ? inv->kernels[i] : NULL;
}

int inventory_put_kernel(struct inventory *inv, struct inv_kernel *k)
{
	size_t i = kernel_index(inv, k->digest);

	if (i == inv->n_kernels) {
		struct inv_kernel **p =
			realloc(inv->kernels, (i + 1) * sizeof(struct inv_kernel *));

		if (!p) {
			inv_kernel_unref(k);
			return -ENOMEM;
		}
		inv->kernels = p;
		inv->n_kernels++;
	} else {
		inv_kernel_unref(inv->kernels[i]);
	}
	inv->kernels[i] = k;
	return 0;
}

void inventory_remove_kernel(struct inventory *inv, const char *digest)
{
	size_t i = kernel_index(inv, digest);

	if (i == inv->n_kernels)
		return;
	inv_kernel_unref(inv->kernels[i]);
	inv->n_kernels--;
	memmove(&inv->kernels[i], &inv->kernels[i + 1],
		(inv->n_kernels - i) * sizeof(struct inv_kernel *));
}

int inventory_snapshot(const struct inventory *inv, struct inv_snapshot *ret)
{
	struct inv_snapshot s = {0};
	size_t i;

	s.machines = calloc(inv->n_machines + 1, sizeof(struct inv_machine *));
	s.plan_machines = calloc(inv->n_machines + 1, sizeof(*s.plan_machines));
	s.kernels = calloc(inv->n_kernels + 1, sizeof(struct inv_kernel *));
	s.plan_kernels = calloc(inv->n_kernels + 1, sizeof(*s.plan_kernels));
	if (!s.machines || !s.plan_machines || !s.kernels || !s.plan_kernels) {
		inv_snapshot_deinit(&s);
		return -ENOMEM;
	}
	for (i = 0; i < inv->n_machines; i++) {
		s.machines[i] = inv->machines[i];
		atomic_fetch_add(&s.machines[i]->refs, 1);
		s.plan_machines[i] = s.machines[i]->plan;
	}
	s.n_machines = inv->n_machines;
	for (i = 0; i < inv->n_kernels; i++) {
		struct inv_kernel *k = inv->kernels[i];

		s.kernels[i] = k;
		atomic_fetch_add(&k->refs, 1);
		s.plan_kernels[i] = (struct plan_kernel){
			.digest = k->digest,
			.label = k->label,
			.release = k->release,
			.build_id = k->build_id,
			.config = &k->config,
			.has_modules = k->has_modules,
			.added_ns = (int64_t)i + 1, /* they stand in the order of adding */
		};
	}
	s.n_kernels = inv->n_kernels;
	*ret = s;
	return 0;
}

void inv_snapshot_deinit(struct inv_snapshot *s)
{
	size_t i;

	for (i = 0; i < s->n_machines; i++)
		machine_unref(s->machines[i]);
	for (i = 0; i < s->n_kernels; i++)
		inv_kernel_unref(s->kernels[i]);
	free(s->machines);
	free(s->kernels);
	free(s->plan_machines);
	free(s->plan_kernels);
	memset(s, 0, sizeof(*s));
}
