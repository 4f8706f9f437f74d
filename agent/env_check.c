/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "agent/env_check.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "common/str.h"

#define WORD_SIZE 160

struct moments {
	const struct fact_list *before, *after;
	char *reason;
	size_t size;
};

static bool both(const struct moments *m, const char *name, const char **ret_before,
		 const char **ret_after)
{
	*ret_before = fact_list_value(m->before, name);
	*ret_after = fact_list_value(m->after, name);
	return *ret_before && *ret_after;
}

static bool rose(const struct moments *m, const char *name, const char *what)
{
	const char *before, *after;
	uint64_t b, a;

	if (!both(m, name, &before, &after) || kg_parse_u64(before, &b) < 0 ||
	    kg_parse_u64(after, &a) < 0 || a <= b)
		return false;
	(void)snprintf(m->reason, m->size, "%s throttled %" PRIu64 " times during the run", what,
		       a - b);
	return true;
}

static bool changed(const struct moments *m, const char *name, const char *what)
{
	const char *before, *after;

	if (!both(m, name, &before, &after) || strcmp(before, after) == 0)
		return false;
	(void)snprintf(m->reason, m->size, "%s changed during the run from '%.60s' to '%.60s'",
		       what, before, after);
	return true;
}

static bool written(const struct moments *m, const char *name, const char *what)
{
	const char *before, *after;

	if (!both(m, name, &before, &after) || strcmp(before, after) == 0)
		return false;
	(void)snprintf(m->reason, m->size, "%s changed during the run", what);
	return true;
}

static bool tainted(const struct moments *m)
{
	static const struct {
		unsigned bit;
		const char *what;
	} bits[] = {
		{4, "machine check"},  {5, "bad page"}, {7, "oops"},
		{9, "kernel warning"}, {14, "lock-up"},
	};
	const char *before, *after;
	uint64_t b, a;
	size_t i;

	if (!both(m, "kernel.tainted", &before, &after) || kg_parse_u64(before, &b) < 0 ||
	    kg_parse_u64(after, &a) < 0)
		return false;
	for (i = 0; i < sizeof(bits) / sizeof(bits[0]); i++)
		if (a & ~b & UINT64_C(1) << bits[i].bit) {
			(void)snprintf(m->reason, m->size,
				       "a %s tainted the kernel during the run (%" PRIu64
				       " before, %" PRIu64 " after)",
				       bits[i].what, b, a);
			return true;
		}
	return false;
}

/* The next word of a list of words; false at its end. */
static bool next_word(const char **list, char *word)
{
	const char *p = *list + strspn(*list, " ");
	size_t len = strcspn(p, " ");

	if (len == 0)
		return false;
	(void)snprintf(word, WORD_SIZE, "%.*s", (int)(len < WORD_SIZE - 1 ? len : WORD_SIZE - 1),
		       p);
	*list = p + len;
	return true;
}

static bool has_word(const char *list, const char *word)
{
	char other[WORD_SIZE];

	while (next_word(&list, other))
		if (strcmp(other, word) == 0)
			return true;
	return false;
}

static bool says_none(const char *list)
{
	return strcmp(list, "none") == 0;
}

/* A daemon may wait for ever; only its coming tells. */
static bool is_daemon(const char *word)
{
	return kg_str_starts(word, "packagekitd[");
}

static bool packages_at_work(const struct moments *m)
{
	const char *before, *after, *list;
	char word[WORD_SIZE];

	if (!both(m, "package-manager", &before, &after))
		return false;
	for (list = before; !says_none(before) && next_word(&list, word);)
		if (!is_daemon(word))
			goto found;
	for (list = after; !says_none(after) && next_word(&list, word);)
		if (!is_daemon(word) || !has_word(before, word))
			goto found;
	return false;
found:
	(void)snprintf(m->reason, m->size, "a package manager was at work during the run: '%s'",
		       word);
	return true;
}

static bool logged_in(const struct moments *m)
{
	const char *before, *after, *list;
	char word[WORD_SIZE];

	if (!both(m, "sessions", &before, &after) || says_none(after))
		return false;
	for (list = after; next_word(&list, word);)
		if (!has_word(before, word)) {
			(void)snprintf(m->reason, m->size,
				       "a login session began during the run: '%s'", word);
			return true;
		}
	return false;
}

bool env_check(const struct fact_list *before, const struct fact_list *after, char *reason,
	       size_t size)
{
	const struct moments m = {before, after, reason, size};

	return !(rose(&m, "throttle.core", "a core was") ||
		 rose(&m, "throttle.package", "a package was") ||
		 changed(&m, "cpu.microcode", "microcode") ||
		 changed(&m, "cpu.microcode.all", "microcode") ||
		 changed(&m, "clocksource.current", "the clocksource") || tainted(&m) ||
		 written(&m, "packages.stamp", "the installed packages or their lists") ||
		 written(&m, "workloads.stamp", "a program of the workload") ||
		 packages_at_work(&m) || logged_in(&m));
}
