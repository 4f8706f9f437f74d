/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A boot as the agent gets it, and its nonce. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "common/arena.h"
#include "coordinator/coordinator.h"
#include "coordinator/schedule/driver_internal.h"

void driver_nonce(void *arg, char ret_hex[33])
{
	unsigned char bytes[16];
	size_t i;

	(void)arg;
	/* 16 bytes never fall short once the pool is initialised (getrandom(2)). */
	while (getrandom(bytes, sizeof(bytes), 0) != (ssize_t)sizeof(bytes))
		;
	for (i = 0; i < sizeof(bytes); i++)
		(void)snprintf(ret_hex + 2 * i, 3, "%02x", bytes[i]);
}

/* "seconds=1 size=64" -> Param messages; the texts are cut out of a copy in the arena. */
static int order_params(struct kg_arena *a, const char *params, Kgrid__V1__RunOrder *r)
{
	char *text = kg_arena_text(a, params, strlen(params));
	size_t n = 1;
	char *word, *rest;

	if (!text)
		return -ENOMEM;
	for (word = text; *word; word++)
		n += *word == ' ';
	r->params = kg_arena_alloc(a, n * sizeof(Kgrid__V1__Param *));
	if (!r->params)
		return -ENOMEM;
	for (word = strtok_r(text, " ", &rest); word; word = strtok_r(NULL, " ", &rest)) {
		Kgrid__V1__Param *p = kg_arena_alloc(a, sizeof(*p));
		char *eq = strchr(word, '=');

		if (!p)
			return -ENOMEM;
		kgrid__v1__param__init(p);
		if (eq)
			*eq = '\0';
		p->name = word;
		p->value = eq ? eq + 1 : word + strlen(word);
		r->params[r->n_params++] = p;
	}
	return 0;
}

static int order_run(struct kg_arena *a, const struct sched_boot *b, const struct sched_attempt *at,
		     Kgrid__V1__RunOrder **ret)
{
	Kgrid__V1__RunOrder *r = kg_arena_alloc(a, sizeof(*r));

	if (!r)
		return -ENOMEM;
	kgrid__v1__run_order__init(r);
	r->has_attempt = r->has_slot = r->has_iterations = r->has_timeout_seconds = 1;
	r->attempt = at->id;
	r->slot = at->slot->id;
	r->workload = at->slot->workload;
	r->workload_digest = at->slot->workload_digest;
	r->iterations = at->slot->iterations;
	r->timeout_seconds = at->slot->timeout_s;
	if (at->slot->alone) {
		/* nothing of it is on another machine */
	} else if (b->role == SCHED_ROLE_CLIENT) {
		r->role = (char *)(uintptr_t) "client";
		r->peer = b->visit->peer;
	} else if (b->role == SCHED_ROLE_SERVER) {
		r->role = (char *)(uintptr_t) "server";
		r->peer = b->visit->machine->name;
		r->workload_digest = NULL; /* the client's; each machine has its own build */
	}
	*ret = r;
	return order_params(a, at->slot->params, r);
}

/* "governor=performance; sysctl.vm.swappiness=10" -> Setting messages. */
static int order_settings(struct kg_arena *a, const char *settings, Kgrid__V1__BootOrder *o)
{
	char *text = kg_arena_text(a, settings, strlen(settings));
	size_t n = 1;
	char *item;

	if (!text)
		return -ENOMEM;
	for (item = text; *item; item++)
		n += *item == ';';
	o->settings = kg_arena_alloc(a, n * sizeof(Kgrid__V1__Setting *));
	if (!o->settings)
		return -ENOMEM;
	while ((item = strsep(&text, ";"))) {
		Kgrid__V1__Setting *s = kg_arena_alloc(a, sizeof(*s));
		char *eq = strchr(item, '=');

		if (!s)
			return -ENOMEM;
		if (!eq)
			continue;
		*eq = '\0';
		kgrid__v1__setting__init(s);
		s->name = item + strspn(item, " ");
		s->value = eq + 1;
		o->settings[o->n_settings++] = s;
	}
	return 0;
}

static int fill_order(struct kg_arena *a, const struct sched_boot *b, const struct inv_kernel *k,
		      Kgrid__V1__BootOrder *o)
{
	static const char *const symbols[] = {"kallsyms"};
	const struct sched_visit *v = b->visit;
	char *cell;
	size_t i;
	int rc = 0;

	o->has_boot = o->has_lease_epoch = 1;
	o->boot = b->id;
	o->lease_epoch = b->lease_epoch;
	o->nonce = (char *)(uintptr_t)b->nonce;
	o->kernel_digest = v->kernel;
	o->cmdline = v->cmdline;
	o->expect_release = k->release;
	o->expect_build_id = k->build_id;
	o->expect_lsm = v->lsm_effective;
	cell = kg_arena_alloc(a, strlen(v->kernel_label) + strlen(v->lsm_label) + 2);
	o->runs = kg_arena_alloc(a, (b->n_attempts + 1) * sizeof(Kgrid__V1__RunOrder *));
	if (!cell || !o->runs)
		return -ENOMEM;
	(void)sprintf(cell, "%s %s", v->kernel_label, v->lsm_label);
	o->cell_name = cell;
	if (!k->has_symbols) { /* once is enough: they are the same in every boot of a kernel */
		o->want_documents = (char **)(uintptr_t)symbols;
		o->n_want_documents = 1;
	}
	o->has_leave_by_reboot = v->leave_by_reboot;
	o->leave_by_reboot = v->leave_by_reboot;
	if (v->settings && v->settings[0])
		rc = order_settings(a, v->settings, o);
	for (i = 0; i < b->n_attempts && rc == 0; i++) {
		if (b->attempts[i].outcome != KG_OUTCOME_NONE)
			continue;
		rc = order_run(a, b, &b->attempts[i], &o->runs[o->n_runs]);
		o->n_runs += rc == 0;
	}
	return rc;
}

int driver_send_order(struct session *x, const struct sched_boot *b, const struct inv_kernel *k)
{
	Kgrid__V1__BootOrder o = KGRID__V1__BOOT_ORDER__INIT;
	struct kg_arena a;
	int rc;

	kg_arena_init(&a, KG_FRAME_MAX * 8);
	rc = fill_order(&a, b, k, &o);
	if (rc == 0)
		session_send(x, KG_MSG_BOOT_ORDER, 0, &o.base);
	kg_arena_deinit(&a);
	return rc;
}
