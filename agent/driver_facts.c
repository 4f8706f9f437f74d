/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the agent says of its machine and of itself when it connects. */
#include <malloc.h>
#include <stdlib.h>
#include <string.h>

#include "agent/driver_internal.h"
#include "agent/settings.h"
#include "agent/workload_port.h"
#include "common/log.h"

/* Declarations together stay far below a frame. */
#define DECLARATIONS_MAX (512 * 1024)

static const char *const clock_names[] = {"real", "instruction"};
static const char *const policy_names[] = {"overlay", "none"};

static void set_number(const struct provenance_number *n, protobuf_c_boolean *has, uint32_t *value)
{
	*has = n->has;
	*value = (uint32_t)n->value;
}

static void fill_machine(const struct driver *d, Kgrid__V1__MachineFacts *f)
{
	const struct provenance *p = &d->provenance;
	const struct agent_config *c = d->config;

	f->cpu_vendor = p->cpu_vendor;
	set_number(&p->cpu_family, &f->has_cpu_family, &f->cpu_family);
	set_number(&p->cpu_model, &f->has_cpu_model, &f->cpu_model);
	set_number(&p->cpu_stepping, &f->has_cpu_stepping, &f->cpu_stepping);
	f->cpu_name = p->cpu_name;
	f->microcode = p->microcode;
	set_number(&p->cpus, &f->has_cpus, &f->cpus);
	set_number(&p->sockets, &f->has_sockets, &f->sockets);
	set_number(&p->numa_nodes, &f->has_numa_nodes, &f->numa_nodes);
	f->has_memory_bytes = p->memory_bytes.has;
	f->memory_bytes = p->memory_bytes.value;
	f->kernel_release = p->release;
	f->kernel_version = p->version;
	f->arch = p->arch;
	f->host_name = p->host_name;
	f->clock = (char *)(uintptr_t)clock_names[c->clock];
	f->initrd_policy = (char *)(uintptr_t)policy_names[c->initrd.policy];
	f->base_cmdline = c->cmdline;
	f->has_cache_bytes = 1;
	f->cache_bytes = c->initrd.cache_bytes;
	f->tags = c->tags.items;
	f->n_tags = c->tags.n;
	if (c->address && workload_port_is_ours(c->address))
		f->address = c->address;
	else if (c->address)
		kg_log_warn("'address' is not told: no interface of this machine has %s",
			    c->address);
}

/* Owned lists; the texts are those of `offer`. */
static void fill_settings(const struct kg_params *offer, Kgrid__V1__MachineFacts *f,
			  Kgrid__V1__Param **ret_items)
{
	Kgrid__V1__Param *items = calloc(offer->n + 1, sizeof(*items));
	size_t i;

	f->settings = calloc(offer->n + 1, sizeof(*f->settings));
	*ret_items = items;
	if (!items || !f->settings)
		return; /* then nothing is offered */
	for (i = 0; i < offer->n; i++) {
		kgrid__v1__param__init(&items[i]);
		items[i].name = offer->items[i].name;
		items[i].value = offer->items[i].value;
		f->settings[f->n_settings++] = &items[i];
	}
	f->has_settings_known = f->settings_known = 1;
}

/* A coordinator that does not know a key would refuse the declaration: for its eyes the line is a
 * comment. */
static void hide_key(char *text, const char *key)
{
	size_t len = strlen(key);
	char *line = text, *end;

	for (;;) {
		if (strncmp(line, key, len) == 0 && line[len] == ':')
			*line = '#';
		end = strchr(line, '\n');
		if (!end)
			break;
		line = end + 1;
	}
}

/* One before 1.3 knows no {host}; it only checks the words. {{ is a brace. */
static void hide_host(char *text)
{
	char *at = text;

	while ((at = strpbrk(at, "{"))) {
		if (at[1] == '{')
			at++;
		else if (strncmp(at, "{host}", 6) == 0)
			memcpy(at, "<host>", 6);
		at++;
	}
}

/* `total` counts the texts over all offers. */
static void fill_offer(const struct workload_entry *e, uint32_t minor, Kgrid__V1__WorkloadOffer *o,
		       size_t *total)
{
	struct kg_err err;
	char *text;
	size_t len;

	kgrid__v1__workload_offer__init(o);
	o->name = e->name;
	o->has_available = 1;
	o->available = e->missing == NULL;
	o->missing = e->missing;
	o->version = e->version;
	o->digest = e->digest[0] ? (char *)(uintptr_t)e->digest : NULL;
	if (workload_declaration(e, &text, &len, &err) < 0) {
		o->available = 0;
		if (!o->missing)
			o->missing = (char *)(uintptr_t) "its declaration changed since the agent "
							 "started, or cannot be read";
		return;
	}
	if (!kg_utf8_valid(text, len) || strlen(text) != len || *total + len > DECLARATIONS_MAX) {
		free(text);
		o->available = 0;
		if (!o->missing)
			o->missing = (char *)(uintptr_t) "its declaration cannot be sent";
		return;
	}
	*total += len;
	if (minor < 2)
		hide_key(text, "version");
	if (minor < 3) {
		hide_key(text, "pair");
		hide_key(text, "canary");
		hide_host(text);
	}
	o->declaration = text;
}

void driver_send_facts(struct driver *d)
{
	Kgrid__V1__MachineFacts f = KGRID__V1__MACHINE_FACTS__INIT;
	size_t n = d->registry.n, total = 0, i;
	Kgrid__V1__WorkloadOffer *offers = calloc(n + 1, sizeof(*offers));
	Kgrid__V1__WorkloadOffer **list = calloc(n + 1, sizeof(*list));
	Kgrid__V1__Param *settings = NULL;
	struct kg_params offer = {0};

	if (offers && list) {
		fill_machine(d, &f);
		if (settings_offer("", &offer) == 0)
			fill_settings(&offer, &f, &settings);
		for (i = 0; i < n; i++) {
			fill_offer(&d->registry.items[i], connect_minor(d->connect), &offers[i],
				   &total);
			list[i] = &offers[i];
		}
		f.workloads = list;
		f.n_workloads = n;
		connect_send(d->connect, KG_MSG_FACTS, 0, &f.base);
		for (i = 0; i < n; i++)
			free(offers[i].declaration);
	} else {
		connect_drop(d->connect, "out of memory");
	}
	free(offers);
	free(list);
	free(settings);
	free(f.settings);
	kg_params_deinit(&offer);
	(void)malloc_trim(0);
}

void driver_send_state(struct driver *d)
{
	Kgrid__V1__AgentState s = KGRID__V1__AGENT_STATE__INIT;
	const struct agent *a = &d->agent;

	s.has_boot = s.has_lease_epoch = s.has_next_seq = s.has_hops = 1;
	s.boot = a->boot;
	s.lease_epoch = a->lease_epoch;
	s.next_seq = a->next_seq;
	s.hops = a->hops;
	s.stage = (char *)(uintptr_t)agent_stage_name(a->stage);
	connect_send(d->connect, KG_MSG_AGENT_STATE, 0, &s.base);
}
