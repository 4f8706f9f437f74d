/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Differences of texts: config, LSM list, command line, documents line by line. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "coordinator/report/config_diff.h"
#include "coordinator/report/diff_internal.h"
#include "coordinator/report/words.h"

#define WEIGHT_LSM 95

static const char *kind_of(bool a, bool b)
{
	return a && b ? "changed" : a ? "removed" : "added";
}

/* ---- config ---- */

static int add_option(void *arg, const struct config_option *a, const struct config_option *b)
{
	const struct config_option *any = a ? a : b;
	struct diff_new n = {.section = "config",
			     .kind = kind_of(a, b),
			     .name = {any->name, any->name_len},
			     .weight = config_weight(any->name, any->name_len),
			     .settable = KG_SETTABLE_KERNEL};

	if (a)
		n.a = (struct diff_text){a->value, a->value_len};
	if (b)
		n.b = (struct diff_text){b->value, b->value_len};
	return diff_add(arg, &n);
}

int diff_configs(struct diff *d, const struct diff_text *a, const struct diff_text *b)
{
	struct config_set x = {0}, y = {0};
	size_t silent = 0, same = 0;
	int rc = config_set_init(&x, a->text, a->len);

	if (rc == 0)
		rc = config_set_init(&y, b->text, b->len);
	if (rc == 0)
		rc = config_diff(&x, &y, add_option, d, &silent, &same);
	if (rc == 0 && silent)
		rc = add_text(
			&d->reply->notes, &d->reply->n_notes,
			"%zu config option%s not set on one side and absent on the other: the "
			"same to what is built",
			silent, silent == 1 ? " is" : "s are");
	if (rc == 0 && (x.n == 0 || y.n == 0))
		rc = add_text(&d->reply->notes, &d->reply->n_notes,
			      "the config of %s has no option in it",
			      x.n ? "the second" : "the first");
	config_set_deinit(&x);
	config_set_deinit(&y);
	return rc;
}

/* ---- words ---- */

struct two {
	struct words a, b;
	bool *a_only, *b_only;
};

static void two_deinit(struct two *t)
{
	words_deinit(&t->a);
	words_deinit(&t->b);
	free(t->a_only);
	free(t->b_only);
}

static int two_init(struct two *t, const char *a, const char *b,
		    int (*parse)(struct words *w, const char *text))
{
	memset(t, 0, sizeof(*t));
	if (parse(&t->a, a) < 0 || parse(&t->b, b) < 0)
		return -ENOMEM;
	t->a_only = calloc(t->a.n + 1, sizeof(*t->a_only));
	t->b_only = calloc(t->b.n + 1, sizeof(*t->b_only));
	if (!t->a_only || !t->b_only)
		return -ENOMEM;
	return words_compare(&t->a, &t->b, t->a_only, t->b_only);
}

static int add_names(struct diff *d, const struct words *w, const bool *only, bool added)
{
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < w->n; i++) {
		struct diff_new n = {.section = "lsm",
				     .kind = kind_of(!added, added),
				     .name = diff_text(w->items[i]),
				     .weight = WEIGHT_LSM,
				     .settable = KG_SETTABLE_BOOT};

		if (!only[i])
			continue;
		if (added)
			n.b = n.name;
		else
			n.a = n.name;
		rc = diff_add(d, &n);
	}
	return rc;
}

int diff_lists(struct diff *d, const char *a, const char *b)
{
	struct two t;
	int rc = two_init(&t, a, b, words_list);

	if (rc == 0)
		rc = add_names(d, &t.a, t.a_only, false);
	if (rc == 0)
		rc = add_names(d, &t.b, t.b_only, true);
	if (rc == 0 && words_reordered(&t.a, &t.b, t.a_only, t.b_only)) {
		struct diff_new n = {.section = "lsm",
				     .kind = "reordered",
				     .name = diff_text("LSM list"),
				     .a = diff_text(a),
				     .b = diff_text(b),
				     .weight = WEIGHT_LSM,
				     .settable = KG_SETTABLE_BOOT};

		rc = diff_add(d, &n);
	}
	two_deinit(&t);
	return rc;
}

/* ---- command line ---- */

static const struct {
	const char *key;
	unsigned weight;
} keys[] = {
	{"lsm", 96},
	{"security", 96},
	{"selinux", 94},
	{"apparmor", 94},
	{"enforcing", 92},
	{"mitigations", 94},
	{"spectre_v2", 92},
	{"nospectre_v2", 92},
	{"nospectre_v1", 92},
	{"spec_store_bypass_disable", 92},
	{"retbleed", 92},
	{"pti", 92},
	{"nopti", 92},
	{"mds", 92},
	{"l1tf", 90},
	{"tsx", 85},
	{"nosmt", 92},
	{"maxcpus", 92},
	{"nr_cpus", 92},
	{"isolcpus", 88},
	{"nohz_full", 86},
	{"preempt", 88},
	{"intel_pstate", 86},
	{"amd_pstate", 86},
	{"idle", 84},
	{"intel_idle.max_cstate", 84},
	{"processor.max_cstate", 84},
	{"clocksource", 84},
	{"tsc", 80},
	{"transparent_hugepage", 78},
	{"audit", 80},
	{"mem", 80},
	{"init_on_alloc", 84},
	{"init_on_free", 84},
	{"slub_debug", 84},
	{"ima_policy", 84},
	{"BOOT_IMAGE", 3},
	{"initrd", 3},
	{"root", 8},
	{"ro", 3},
	{"rw", 3},
	{"quiet", 3},
	{"splash", 2},
	{"loglevel", 6},
	{"console", 10},
	{"panic", 2},
	{"crashkernel", 12},
	{"rd.luks.uuid", 2},
};

#define WEIGHT_WORD 60

static unsigned word_weight(const char *word)
{
	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		if (word_key_is(word, keys[i].key))
			return keys[i].weight;
	}
	return strncmp(word, "kgrid.", 6) == 0 ? 1 : WEIGHT_WORD;
}

/* What stands behind "="; a bare word stands for itself. */
static struct diff_text word_value(const char *word)
{
	size_t key = word_key(word);

	return diff_text(word[key] == '=' ? word + key + 1 : word);
}

static int add_word(struct diff *d, const char *a, const char *b)
{
	const char *any = a ? a : b;
	struct diff_new n = {.section = "cmdline",
			     .kind = kind_of(a, b),
			     .name = {any, word_key(any)},
			     .weight = word_weight(any),
			     .settable = KG_SETTABLE_BOOT};

	if (a)
		n.a = word_value(a);
	if (b)
		n.b = word_value(b);
	return diff_add(d, &n);
}

static bool same_key(const char *a, const char *b)
{
	size_t len = word_key(b);
	char key[256];

	if (len >= sizeof(key))
		return strcmp(a, b) == 0;
	memcpy(key, b, len);
	key[len] = '\0';
	return word_key_is(a, key);
}

/* The next word of a key that only this side has, from `i` on; w->n: none. */
static size_t next_only(const struct words *w, const bool *only, const char *key, size_t i)
{
	while (i < w->n && !(only[i] && same_key(w->items[i], key)))
		i++;
	return i;
}

/* Words that only one side has; the first of a key on one side goes with the first on the other. */
static int add_changed_words(struct diff *d, struct two *t)
{
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < t->a.n; i++) {
		size_t k;

		if (!t->a_only[i])
			continue;
		k = next_only(&t->b, t->b_only, t->a.items[i], 0);
		rc = add_word(d, t->a.items[i], k < t->b.n ? t->b.items[k] : NULL);
		if (k < t->b.n)
			t->b_only[k] = false;
	}
	for (size_t k = 0; rc == 0 && k < t->b.n; k++) {
		if (t->b_only[k])
			rc = add_word(d, NULL, t->b.items[k]);
	}
	return rc;
}

/* All words of the key of word `i`, in their order. */
static void add_sequence(struct kg_str *s, const struct words *w, const char *key)
{
	for (size_t i = 0; i < w->n; i++) {
		if (same_key(w->items[i], key))
			kg_str_addf(s, "%s%s", s->len ? " " : "", w->items[i]);
	}
}

static bool key_differs(const struct two *t, const char *key)
{
	return next_only(&t->a, t->a_only, key, 0) < t->a.n ||
	       next_only(&t->b, t->b_only, key, 0) < t->b.n;
}

/* The last of a repeated key wins, or all add up: only there order matters. */
static int add_reordered_word(struct diff *d, const struct two *t, const char *key)
{
	struct kg_str a = {0}, b = {0};
	int rc = 0;

	add_sequence(&a, &t->a, key);
	add_sequence(&b, &t->b, key);
	if (strcmp(kg_str_text(&a), kg_str_text(&b)) != 0) {
		struct diff_new n = {.section = "cmdline",
				     .kind = "reordered",
				     .name = {key, word_key(key)},
				     .a = diff_text(kg_str_text(&a)),
				     .b = diff_text(kg_str_text(&b)),
				     .weight = word_weight(key),
				     .settable = KG_SETTABLE_BOOT};

		rc = a.failed || b.failed ? -ENOMEM : diff_add(d, &n);
	}
	kg_str_deinit(&a);
	kg_str_deinit(&b);
	return rc;
}

int diff_cmdlines(struct diff *d, const char *a, const char *b)
{
	struct two t;
	int rc = two_init(&t, a, b, words_cmdline);

	if (rc == 0 && words_reordered(&t.a, &t.b, t.a_only, t.b_only)) {
		for (size_t i = 0; rc == 0 && i < t.a.n; i++) {
			/* Once for each key, at the second word of it. */
			if (word_earlier(&t.a, i) == 1 && !key_differs(&t, t.a.items[i]))
				rc = add_reordered_word(d, &t, t.a.items[i]);
		}
	}
	if (rc == 0)
		rc = add_changed_words(d, &t);
	two_deinit(&t);
	return rc;
}

/* ---- documents ---- */

struct line {
	struct diff_text name, value;
	size_t place;
};

struct lines {
	struct line *items; /* owned, by name and place */
	size_t n;
};

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r';
}

/* "name = value", "name value": the name ends at a blank or "=". */
static bool parse_line(const char *s, size_t len, struct line *l)
{
	size_t n = 0;

	while (len && is_blank(*s)) {
		s++;
		len--;
	}
	while (len && is_blank(s[len - 1]))
		len--;
	while (n < len && !is_blank(s[n]) && s[n] != '=')
		n++;
	l->name = (struct diff_text){s, n};
	while (n < len && (is_blank(s[n]) || s[n] == '='))
		n++;
	l->value = (struct diff_text){s + n, len - n};
	return l->name.len > 0;
}

static int order_bytes(const struct diff_text *a, const struct diff_text *b)
{
	size_t n = a->len < b->len ? a->len : b->len;
	int rc = n ? memcmp(a->text, b->text, n) : 0;

	return rc ? rc : (a->len > b->len) - (a->len < b->len);
}

static int order_lines(const void *p, const void *q)
{
	const struct line *x = p, *y = q;
	int rc = order_bytes(&x->name, &y->name);

	if (rc == 0)
		rc = order_bytes(&x->value, &y->value);
	return rc ? rc : (x->place > y->place) - (x->place < y->place);
}

/* "1234 O" -> "O": how large a module is follows from its kernel. */
static void drop_size(struct diff_text *value)
{
	size_t n = 0;

	while (n < value->len && value->text[n] >= '0' && value->text[n] <= '9')
		n++;
	if (n < value->len && !is_blank(value->text[n]))
		return;
	while (n < value->len && is_blank(value->text[n]))
		n++;
	value->text += n;
	value->len -= n;
}

static int lines_init(struct lines *l, const struct diff_text *t, bool sizes)
{
	size_t n = 1, at = 0;

	memset(l, 0, sizeof(*l));
	for (size_t i = 0; i < t->len; i++)
		n += t->text[i] == '\n';
	l->items = calloc(n, sizeof(*l->items));
	if (!l->items)
		return -ENOMEM;
	while (at < t->len) {
		const char *s = t->text + at, *end = memchr(s, '\n', t->len - at);
		size_t len = end ? (size_t)(end - s) : t->len - at;
		struct line line = {.place = l->n};

		at += len + 1;
		if (!parse_line(s, len, &line))
			continue;
		if (sizes)
			drop_size(&line.value);
		l->items[l->n++] = line;
	}
	if (l->n)
		qsort(l->items, l->n, sizeof(*l->items), order_lines);
	return 0;
}

/* Section, weight and where it is set, by the document. */
static void describe(const char *document, struct diff_new *n)
{
	const struct kg_fact_info *f;
	char name[96];

	(void)snprintf(name, sizeof(name), "%.80s.digest", document);
	f = kg_fact_find(name);
	n->section = f->name[0] ? f->section : document;
	n->weight = f->name[0] ? f->weight : 20;
	n->settable = f->settable;
	/* A single line of many weighs less than that there is a difference at all. */
	n->weight -= n->weight > 10 ? 5 : 0;
	if (strcmp(document, "packages") == 0)
		n->section = "packages";
}

/* Lines of one name on both sides: equal ones are gone over, the others go together in order. */
static int diff_name(struct diff *d, const struct diff_new *like, const struct line *a, size_t n_a,
		     const struct line *b, size_t n_b)
{
	size_t i = 0, k = 0;
	int rc = 0;

	while (rc == 0 && (i < n_a || k < n_b)) {
		struct diff_new n = *like;
		bool both = i < n_a && k < n_b;
		int order = both ? order_bytes(&a[i].value, &b[k].value) : 0;

		if (both && order == 0) {
			i++;
			k++;
			continue;
		}
		/* As many on both sides: changed. Else the one that the other does not have. */
		if (n_a - i != n_b - k) {
			order = n_a - i > n_b - k ? -1 : 1;
			both = false;
		}
		n.kind = both ? "changed" : order < 0 ? "removed" : "added";
		n.name = both || order < 0 ? a[i].name : b[k].name;
		if (both || order < 0)
			n.a = a[i++].value;
		if (both || order > 0)
			n.b = b[k++].value;
		rc = diff_add(d, &n);
	}
	return rc;
}

static size_t same_name(const struct lines *l, size_t from)
{
	size_t n = from;

	while (n < l->n && order_bytes(&l->items[n].name, &l->items[from].name) == 0)
		n++;
	return n - from;
}

int diff_lines(struct diff *d, const char *name, const struct diff_text *a,
	       const struct diff_text *b)
{
	struct lines x = {0}, y = {0};
	struct diff_new like = {0};
	size_t i = 0, k = 0;
	bool sizes = strcmp(name, "modules") == 0;
	int rc = lines_init(&x, a, sizes);

	if (rc == 0)
		rc = lines_init(&y, b, sizes);
	describe(name, &like);
	while (rc == 0 && (i < x.n || k < y.n)) {
		int order = i == x.n   ? 1
			    : k == y.n ? -1
				       : order_bytes(&x.items[i].name, &y.items[k].name);
		size_t n_x = order <= 0 ? same_name(&x, i) : 0;
		size_t n_y = order >= 0 ? same_name(&y, k) : 0;

		rc = diff_name(d, &like, &x.items[i], n_x, &y.items[k], n_y);
		i += n_x;
		k += n_y;
	}
	free(x.items);
	free(y.items);
	return rc;
}
