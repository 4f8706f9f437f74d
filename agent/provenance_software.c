/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Distribution, C library, workloads; and the whole of a boot put together. */
#include <ctype.h>
#include <errno.h>
#include <gnu/libc-version.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/provenance_documents.h"
#include "agent/provenance_facts.h"
#include "agent/workload_registry.h"
#include "common/str.h"

static void add_os(const char *root, struct fact_list *l)
{
	char *text, *at, *end;
	size_t len;
	int rc = fact_read(root, "/etc/os-release", 65536, &text, &len);

	if (rc < 0) {
		l->failed = l->failed || rc == -ENOMEM;
		fact_unsupported(l, "os", fact_reason(rc));
		return;
	}
	at = strstr(text, "PRETTY_NAME=");
	if (at && (at == text || at[-1] == '\n')) {
		at += strlen("PRETTY_NAME=");
		at += *at == '"' || *at == '\'';
		end = at + strcspn(at, "\"'\n");
		*end = '\0';
		fact_add(l, "os", at);
	} else {
		fact_unsupported(l, "os", FACT_ABSENT);
	}
	free(text);
}

/* The leading "6.1.192" of a text, or nothing. */
static size_t number_length(const char *text)
{
	size_t n = strspn(text, "0123456789.");

	while (n > 0 && text[n - 1] == '.')
		n--;
	return n;
}

/* Whether `list` has the number as a whole one: "6.1.19" is not in "6.1.192". */
static bool has_number(const char *list, const char *number, size_t len)
{
	const char *at;

	for (at = list; (at = memmem(at, strlen(at), number, len)); at++)
		if ((at == list || (!isdigit((unsigned char)at[-1]) && at[-1] != '.')) &&
		    !isdigit((unsigned char)at[len]) &&
		    !(at[len] == '.' && isdigit((unsigned char)at[len + 1])))
			return true;
	return false;
}

bool provenance_perf_matches(const char *perf, const char *release, const char *version)
{
	size_t skip = strcspn(perf, "0123456789"), len = number_length(perf + skip);

	if (len == 0)
		return false;
	/* A distribution's release may name only the series ("6.1.0-13-amd64"), with the whole
	 * number in the version line ("Debian 6.1.192-3"). */
	return has_number(release, perf + skip, len) ||
	       (version && has_number(version, perf + skip, len));
}

static bool runs_perf(const struct workload_entry *e)
{
	return e->program && strcmp(e->program, "perf") == 0;
}

static void add_perf(const struct workload_registry *r, struct fact_list *l)
{
	const char *release = fact_list_value(l, "kernel.release");
	const char *version = fact_list_value(l, "kernel.version");
	size_t i;

	for (i = 0; r && i < r->n; i++) {
		const struct workload_entry *e = &r->items[i];

		if (!runs_perf(e) || !e->version)
			continue;
		fact_add(l, "perf.version", e->version);
		if (release)
			fact_add(l, "perf.matches-kernel",
				 provenance_perf_matches(e->version, release, version) ? "yes"
										       : "no");
		return;
	}
	fact_unsupported(l, "perf.version", FACT_ABSENT);
	fact_unsupported(l, "perf.matches-kernel", FACT_ABSENT);
}

static void add_workloads(const struct workload_registry *r, struct fact_list *l)
{
	size_t i;

	for (i = 0; r && i < r->n; i++) {
		const struct workload_entry *e = &r->items[i];
		char name[128];

		(void)snprintf(name, sizeof(name), "workload.%.80s.digest", e->name);
		if (e->digest[0] && !e->missing)
			fact_add(l, name, e->digest);
		else
			fact_unsupported(l, name, FACT_ABSENT);
		(void)snprintf(name, sizeof(name), "workload.%.80s.version", e->name);
		if (e->version)
			fact_add(l, name, e->version);
		else
			fact_unsupported(l, name, FACT_ABSENT);
	}
}

void provenance_software(const struct provenance_input *in, struct fact_list *l)
{
	add_os(in->root, l);
	if (in->root[0])
		fact_unsupported(l, "glibc.version", FACT_ABSENT);
	else
		fact_add(l, "glibc.version", gnu_get_libc_version());
	fact_add(l, "agent.version", KGRID_VERSION);
	add_workloads(in->registry, l);
	add_perf(in->registry, l);
}

static void add_boot(const struct provenance_input *in, struct fact_list *l)
{
	if (in->boot_method && in->boot_method[0])
		fact_add(l, "boot.method", in->boot_method);
	else
		fact_unsupported(l, "boot.method", FACT_ABSENT);
	fact_addf(l, "boot.hops", "%u", in->hops);
}

int provenance_boot(const struct provenance_input *in, struct fact_list *ret_l,
		    struct document_list *ret_docs)
{
	struct document_list docs = {.n = 0};
	struct fact_list l = {0};
	size_t i;

	provenance_kernel(in->root, &l); /* first: what follows asks for the release */
	provenance_cpu(in->root, &l);
	provenance_firmware(in->root, &l);
	provenance_settings(in->root, &l);
	provenance_lsm(in->root, &l);
	provenance_load(in->root, &l);
	provenance_others(in->root, &l);
	provenance_software(in, &l);
	add_boot(in, &l);
	provenance_config(in->root, &l, &docs);
	provenance_sysctl(in->root, &l, &docs);
	provenance_modules(in->root, &l, &docs);
	provenance_packages(in->root, &l, &docs);
	if (in->want_kallsyms)
		provenance_kallsyms(in->root, &l, &docs);
	for (i = 0; i < docs.n; i++) {
		char name[64];

		(void)snprintf(name, sizeof(name), "document.%.32s", docs.items[i].name);
		fact_add(&l, name, docs.items[i].digest);
	}
	if (l.failed) {
		fact_list_deinit(&l);
		document_list_deinit(&docs);
		return -ENOMEM;
	}
	fact_list_sort(&l);
	*ret_l = l;
	*ret_docs = docs;
	return 0;
}
