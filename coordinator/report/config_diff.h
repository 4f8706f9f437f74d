/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Kernel configs as sets of options. Pure; any bytes are fine: lines may end in CR LF or not at all,
 * what is no option is skipped. Of an option that is there twice the last line counts, as for
 * Kconfig (scripts/kconfig/confdata.c, conf_read_simple).
 */
#ifndef KG_COORDINATOR_REPORT_CONFIG_DIFF_H
#define KG_COORDINATOR_REPORT_CONFIG_DIFF_H

#include <stdbool.h>
#include <stddef.h>

struct config_option {
	const char *name; /* borrows from the text, with CONFIG_ */
	size_t name_len;
	const char *value; /* as it stands behind "=", quotes and all; "n" for "is not set" */
	size_t value_len;
	size_t line; /* order in the text */
};

struct config_set {
	struct config_option *items; /* owned, sorted by name, each name once */
	size_t n;
};

int config_set_init(struct config_set *s, const char *text, size_t len); /* -ENOMEM */
void config_set_deinit(struct config_set *s);

/* One option that differs; NULL: the side does not have it. */
typedef int (*config_diff_fn)(void *arg, const struct config_option *a,
			      const struct config_option *b);
/* Calls `fn` for each option with another value, by name. An option that is n on one side and absent
 * on the other is built the same and no difference: *ret_silent counts those, *ret_same what is
 * equal. Returns what `fn` returns when that is not 0. */
int config_diff(const struct config_set *a, const struct config_set *b, config_diff_fn fn,
		void *arg, size_t *ret_silent, size_t *ret_same);

/* 0..100: how likely an option moves a result. */
unsigned config_weight(const char *name, size_t len);

#endif
