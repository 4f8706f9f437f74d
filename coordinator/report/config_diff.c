/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "coordinator/report/config_diff.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define PREFIX	   "CONFIG_"
#define PREFIX_LEN 7
#define NOT_SET	   " is not set"

static size_t name_length(const char *s, size_t len)
{
	size_t n = 0;

	while (n < len && (s[n] == '_' || (s[n] >= '0' && s[n] <= '9') ||
			   (s[n] >= 'A' && s[n] <= 'Z') || (s[n] >= 'a' && s[n] <= 'z')))
		n++;
	return n;
}

/* One line without its end; false when it is no option. */
static bool parse_line(const char *s, size_t len, struct config_option *o)
{
	bool comment = len > 2 && s[0] == '#' && s[1] == ' ';

	if (comment) {
		s += 2;
		len -= 2;
	}
	if (len <= PREFIX_LEN || memcmp(s, PREFIX, PREFIX_LEN) != 0)
		return false;
	o->name = s;
	o->name_len = name_length(s, len);
	s += o->name_len;
	len -= o->name_len;
	if (o->name_len == PREFIX_LEN)
		return false;
	if (comment) {
		o->value = "n";
		o->value_len = 1;
		return len == strlen(NOT_SET) && memcmp(s, NOT_SET, len) == 0;
	}
	o->value = s + 1;
	o->value_len = len - 1;
	return len > 0 && *s == '=';
}

static int order_names(const struct config_option *x, const struct config_option *y)
{
	size_t n = x->name_len < y->name_len ? x->name_len : y->name_len;
	int rc = memcmp(x->name, y->name, n);

	return rc ? rc : (x->name_len > y->name_len) - (x->name_len < y->name_len);
}

static int order_options(const void *a, const void *b)
{
	const struct config_option *x = a, *y = b;
	int rc = order_names(x, y);

	return rc ? rc : (x->line > y->line) - (x->line < y->line);
}

static size_t count_lines(const char *text, size_t len)
{
	size_t n = 1;

	for (size_t i = 0; i < len; i++)
		n += text[i] == '\n';
	return n;
}

/* The last of each name stays. */
static void drop_repeated(struct config_set *s)
{
	size_t n = 0;

	for (size_t i = 0; i < s->n; i++) {
		if (i + 1 < s->n && order_names(&s->items[i], &s->items[i + 1]) == 0)
			continue;
		s->items[n++] = s->items[i];
	}
	s->n = n;
}

int config_set_init(struct config_set *s, const char *text, size_t len)
{
	size_t at = 0;

	memset(s, 0, sizeof(*s));
	if (!text || len == 0)
		return 0;
	s->items = calloc(count_lines(text, len), sizeof(*s->items));
	if (!s->items)
		return -ENOMEM;
	if (len >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0)
		at = 3;
	while (at < len) {
		const char *line = text + at, *end = memchr(line, '\n', len - at);
		size_t n = end ? (size_t)(end - line) : len - at;
		struct config_option o = {.line = s->n};

		at += n + 1;
		while (n && (line[n - 1] == '\r' || line[n - 1] == ' ' || line[n - 1] == '\t'))
			n--;
		if (parse_line(line, n, &o))
			s->items[s->n++] = o;
	}
	if (s->n)
		qsort(s->items, s->n, sizeof(*s->items), order_options);
	drop_repeated(s);
	return 0;
}

void config_set_deinit(struct config_set *s)
{
	free(s->items);
	memset(s, 0, sizeof(*s));
}

static bool is_n(const struct config_option *o)
{
	return o->value_len == 1 && o->value[0] == 'n';
}

static bool same_value(const struct config_option *a, const struct config_option *b)
{
	return a->value_len == b->value_len && memcmp(a->value, b->value, a->value_len) == 0;
}

int config_diff(const struct config_set *a, const struct config_set *b, config_diff_fn fn,
		void *arg, size_t *ret_silent, size_t *ret_same)
{
	size_t i = 0, j = 0, silent = 0, same = 0;
	int rc = 0;

	while (rc == 0 && (i < a->n || j < b->n)) {
		int order = i == a->n	? 1
			    : j == b->n ? -1
					: order_names(&a->items[i], &b->items[j]);
		const struct config_option *x = order <= 0 ? &a->items[i++] : NULL;
		const struct config_option *y = order >= 0 ? &b->items[j++] : NULL;

		if (x && y && same_value(x, y))
			same++;
		else if ((!x && is_n(y)) || (!y && is_n(x)))
			silent++;
		else
			rc = fn(arg, x, y);
	}
	*ret_silent = silent;
	*ret_same = same;
	return rc;
}

/* ---- weights ---- */

/* The first row whose text the name, behind CONFIG_, is ("=") or begins with. */
static const struct {
	const char *text;
	unsigned weight;
} weights[] = {
	/* Only names of what was built. */
	{"LOCALVERSION", 8},
	{"BUILD_SALT", 3},
	{"CC_VERSION_TEXT", 50},
	{"CC_IS_", 50},
	{"GCC_VERSION", 50},
	{"CLANG_VERSION", 50},
	{"LD_VERSION", 20},
	{"AS_VERSION", 15},
	{"RUSTC", 10},
	{"PAHOLE", 5},
	{"CC_HAS_", 10},
	{"AS_HAS_", 10},
	{"HAVE_", 10},
	{"ARCH_HAS_", 10},
	{"ARCH_SUPPORTS_", 10},
	{"SYSTEM_TRUSTED_KEYS", 3},
	{"MODULE_SIG_KEY", 3},
	{"DEFAULT_HOSTNAME", 1},

	{"LSM=", 100},
	{"SECURITY=", 98},
	{"SECURITY_", 95},
	{"DEFAULT_SECURITY", 96},
	{"BPF_LSM", 95},
	{"INTEGRITY", 90},
	{"IMA", 90},
	{"EVM", 88},
	{"AUDIT", 88},
	{"DEBUG_INFO", 8},
	{"DEBUG_FS", 15},
	{"KASAN", 94},
	{"KMSAN", 94},
	{"KCSAN", 94},
	{"KFENCE", 75},
	{"UBSAN", 85},
	{"KCOV", 88},
	{"LOCKDEP", 94},
	{"PROVE_", 93},
	{"LOCK_STAT", 90},
	{"SLUB_DEBUG", 80},
	{"DEBUG_", 84},
	{"FTRACE", 60},
	{"FUNCTION_TRACER", 70},
	{"PREEMPT", 92},
	{"HZ", 91},
	{"NO_HZ", 90},
	{"CPU_MITIGATIONS", 93},
	{"SPECULATION_MITIGATIONS", 93},
	{"MITIGATION", 93},
	{"RETPOLINE", 93},
	{"RETHUNK", 93},
	{"PAGE_TABLE_ISOLATION", 93},
	{"CPU_IBRS_ENTRY", 92},
	{"CPU_IBPB_ENTRY", 92},
	{"CPU_UNRET_ENTRY", 92},
	{"CPU_SRSO", 92},
	{"SLS", 88},
	{"X86_KERNEL_IBT", 80},
	{"CFI", 85},
	{"STACKPROTECTOR", 80},
	{"INIT_ON_", 88},
	{"INIT_STACK", 88},
	{"HARDENED_USERCOPY", 82},
	{"FORTIFY_SOURCE", 75},
	{"RANDOMIZE", 60},
	{"RANDSTRUCT", 60},
	{"SHUFFLE_PAGE_ALLOCATOR", 55},
	{"SLAB_FREELIST", 65},
	{"RANDOM_KMALLOC", 65},
	{"CC_OPTIMIZE", 85},
	{"LTO", 80},
	{"AUTOFDO", 80},
	{"UNWINDER", 60},
	{"FRAME_POINTER", 65},
	{"PARAVIRT", 60},
	{"HYPERVISOR_GUEST", 50},
	{"SMP", 90},
	{"NR_CPUS", 50},
	{"MAXSMP", 55},
	{"SCHED_", 78},
	{"FAIR_GROUP_SCHED", 78},
	{"RT_GROUP_SCHED", 76},
	{"CFS_BANDWIDTH", 76},
	{"UCLAMP", 65},
	{"NUMA", 75},
	{"CGROUP", 74},
	{"MEMCG", 74},
	{"BLK_CGROUP", 60},
	{"PSI", 70},
	{"TRANSPARENT_HUGEPAGE", 72},
	{"SLUB", 70},
	{"SLAB", 70},
	{"CPU_FREQ", 72},
	{"CPU_IDLE", 72},
	{"X86_INTEL_PSTATE", 70},
	{"X86_AMD_PSTATE", 70},
	{"INTEL_IDLE", 70},
	{"RCU_", 68},
	{"TASKS_RCU", 50},
	{"VIRT_CPU_ACCOUNTING", 68},
	{"TICK_CPU_ACCOUNTING", 66},
	{"IRQ_TIME_ACCOUNTING", 66},
	{"SECCOMP", 62},
	{"BPF", 60},
	{"JUMP_LABEL", 70},
	{"BLK_", 45},
	{"NETFILTER", 62},
	{"NF_", 58},
	{"NET_", 56},
	{"NET=", 56},
	{"INET", 56},
	{"TCP_", 58},
	{"DEFAULT_TCP", 58},
	{"IPV6", 50},
	{"XFRM", 50},
	{"NETLABEL", 62},
	{"SND", 2},
	{"SOUND", 2},
	{"DRM", 5},
	{"FB_", 3},
	{"INPUT_", 3},
	{"USB_", 6},
	{"HID_", 3},
	{"VIDEO_", 2},
	{"MEDIA_", 2},
	{"WLAN", 3},
	{"BT_", 3},
};

#define WEIGHT_REST 20

unsigned config_weight(const char *name, size_t len)
{
	if (len > PREFIX_LEN && memcmp(name, PREFIX, PREFIX_LEN) == 0) {
		name += PREFIX_LEN;
		len -= PREFIX_LEN;
	}
	for (size_t i = 0; i < sizeof(weights) / sizeof(weights[0]); i++) {
		size_t n = strlen(weights[i].text);
		bool whole = weights[i].text[n - 1] == '=';

		n -= whole;
		if ((whole ? len == n : len >= n) && memcmp(name, weights[i].text, n) == 0)
			return weights[i].weight;
	}
	return WEIGHT_REST;
}
