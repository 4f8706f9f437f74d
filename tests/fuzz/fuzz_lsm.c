/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A boot log, and the same bytes as a command line for kernels of each generation. */
#include <errno.h>
#include <string.h>

#include "common/str.h"
#include "coordinator/plan/lsm_dmesg.h"
#include "tests/fuzz/fuzz.h"

/* The list is its entries that are in, each name is there once, and every entry says why. */
static void check_list(const struct lsm_list *l)
{
	struct kg_str in = {0};
	size_t i, k;

	for (i = 0; i < l->n; i++) {
		const struct lsm_entry *e = &l->entries[i];

		must(e->why[0]);
		must(lsm_reason_name(e->reason)[0]);
		for (k = 0; k < i && i < 100; k++)
			must(strcmp(e->name, l->entries[k].name) != 0);
		if (e->in)
			kg_str_addf(&in, "%s%s", in.len ? "," : "", e->name);
	}
	must(in.failed || strcmp(kg_str_text(&in), l->effective) == 0);
	kg_str_deinit(&in);
}

static void resolve(const char *line)
{
	static const char *const releases[] = {"5.0", "5.1", "6.4.0-rc3", "6.12.117+deb12", "7.3"};
	struct lsm_kernel k = {.builtin = ~UINT32_C(0), .config_lsm = "yama,apparmor,selinux"};
	struct kg_err err = {{0}};
	struct lsm_list l;
	size_t i;

	for (i = 0; i < sizeof(releases) / sizeof(releases[0]); i++) {
		(void)snprintf(k.release, sizeof(k.release), "%s", releases[i]);
		k.lockdown_early = k.selinux_bootparam = i % 2;
		must(lsm_resolve(&k, line, &l, &err) == 0);
		check_list(&l);
		lsm_list_deinit(&l);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct kg_err err = {{0}};
	struct lsm_log log;
	char *line;
	int rc;

	rc = lsm_dmesg_parse((const char *)data, size, &log, &err);
	must(rc == 0 || (rc == KG_ENODATA && err.text[0]));
	if (rc == 0) {
		must(log.boots > 0);
		check_list(&log.list);
		lsm_log_deinit(&log);
	}
	if (size > 4096)
		return 0;
	line = malloc(size + 1);
	must(line);
	memcpy(line, data, size);
	line[size] = '\0';
	resolve(line);
	free(line);
	return 0;
}
