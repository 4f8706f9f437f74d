/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "coordinator/report/diff.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "coordinator/report/diff_internal.h"

#define TEXT_MAX 2048 /* bytes of a name or value */

/* ---- items ---- */

struct diff_text diff_text(const char *text)
{
	return (struct diff_text){text, text ? strlen(text) : 0};
}

static char *copy_text(const struct diff_text *t)
{
	size_t len = t->len < TEXT_MAX ? t->len : TEXT_MAX;
	char *s;

	while (len < t->len && len && ((unsigned char)t->text[len] & 0xc0) == 0x80)
		len--; /* never in the middle of a character */
	s = malloc(len + 4);
	if (!s)
		return NULL;
	memcpy(s, t->text, len);
	memcpy(s + len, len < t->len ? "..." : "", len < t->len ? 4 : 1);
	len += len < t->len ? 3 : 0;
	for (size_t i = 0; i < len; i++) {
		if ((unsigned char)s[i] < ' ' || s[i] == 0x7f)
			s[i] = s[i] == '\t' ? ' ' : '?';
	}
	if (kg_utf8_valid(s, len))
		return s;
	for (size_t i = 0; i < len; i++)
		s[i] = (unsigned char)s[i] < 0x80 ? s[i] : '?';
	return s;
}

static int set_copy(char **field, const struct diff_text *t)
{
	if (!t->text)
		return 0;
	*field = copy_text(t);
	return *field ? 0 : -ENOMEM;
}

int diff_add(struct diff *d, const struct diff_new *n)
{
	Kgrid__V1__DiffItem *m = message_new(&kgrid__v1__diff_item__descriptor);
	Kgrid__V1__DiffItem **slot;

	if (!m)
		return -ENOMEM;
	m->has_weight = 1;
	m->weight = n->weight;
	m->has_a_unsupported = m->a_unsupported = n->a_unsupported;
	m->has_b_unsupported = m->b_unsupported = n->b_unsupported;
	if (set_text(&m->section, n->section) | set_text(&m->kind, n->kind) |
	    set_text(&m->settable, kg_fact_settable_name(n->settable)) |
	    set_copy(&m->name, &n->name) | set_copy(&m->a, &n->a) | set_copy(&m->b, &n->b)) {
		kgrid__v1__diff_item__free_unpacked(m, NULL);
		return -ENOMEM;
	}
	slot = grow(&d->items, &d->n, &d->cap, sizeof(*slot));
	if (!slot) {
		kgrid__v1__diff_item__free_unpacked(m, NULL);
		return -ENOMEM;
	}
	*slot = m;
	return 0;
}

static int order_texts(const char *a, const char *b)
{
	return strcmp(a ? a : "", b ? b : "");
}

static int order_items(const void *p, const void *q)
{
	const Kgrid__V1__DiffItem *x = *(Kgrid__V1__DiffItem *const *)p;
	const Kgrid__V1__DiffItem *y = *(Kgrid__V1__DiffItem *const *)q;
	int rc;

	if (x->weight != y->weight)
		return x->weight > y->weight ? -1 : 1;
	rc = strcmp(x->section, y->section);
	if (rc == 0)
		rc = order_texts(x->name, y->name);
	if (rc == 0)
		rc = strcmp(x->kind, y->kind);
	if (rc == 0)
		rc = order_texts(x->a, y->a);
	return rc ? rc : order_texts(x->b, y->b);
}

/* ---- facts ---- */

static int order_facts(const void *p, const void *q)
{
	const struct epoch_fact *x = *(const struct epoch_fact *const *)p;
	const struct epoch_fact *y = *(const struct epoch_fact *const *)q;
	int rc = strcmp(x->name, y->name);

	return rc ? rc : (x > y) - (x < y);
}

/* By name, the last of each; owned, *ret_n of them. */
static const struct epoch_fact **sorted_facts(const struct diff_side *s, size_t *ret_n)
{
	const struct epoch_fact **refs = calloc(s->n_facts + 1, sizeof(const struct epoch_fact *));
	size_t n = 0, kept = 0;

	for (size_t i = 0; refs && i < s->n_facts; i++) {
		if (s->facts[i].name)
			refs[n++] = &s->facts[i];
	}
	if (n)
		qsort(refs, n, sizeof(*refs), order_facts);
	for (size_t i = 0; i < n; i++) {
		if (i + 1 < n && strcmp(refs[i]->name, refs[i + 1]->name) == 0)
			continue;
		refs[kept++] = refs[i];
	}
	*ret_n = kept;
	return refs;
}

static const char *fact_value(const struct diff_side *s, const char *name)
{
	const char *value = NULL;

	for (size_t i = 0; i < s->n_facts; i++) {
		if (s->facts[i].name && strcmp(s->facts[i].name, name) == 0)
			value = s->facts[i].value;
	}
	return value;
}

static const struct diff_document *find_document(const struct diff_side *s, const char *name)
{
	for (size_t i = 0; i < s->n_documents; i++) {
		if (strcmp(s->documents[i].name, name) == 0)
			return &s->documents[i];
	}
	return NULL;
}

/* What is compared in detail below, from wherever it comes. */
struct details {
	const char *lsm[2], *cmdline[2];
	struct diff_text config[2];
};

static void find_details(const struct diff_side *const sides[2], struct details *d)
{
	for (int i = 0; i < 2; i++) {
		const struct diff_side *s = sides[i];
		const struct diff_document *doc = find_document(s, "config");

		d->lsm[i] = s->lsm ? s->lsm : fact_value(s, "lsm");
		d->cmdline[i] = s->cmdline ? s->cmdline : fact_value(s, "cmdline");
		if (s->config)
			d->config[i] = (struct diff_text){s->config, s->config_len};
		else if (doc && doc->text)
			d->config[i] = (struct diff_text){doc->text, doc->len};
	}
}

static bool in_detail(const char *name, const struct diff_side *const sides[2],
		      const struct details *d)
{
	const struct diff_document *a, *b;
	size_t len = strlen(name), tail = strlen(".digest");
	char document[64];

	if (strcmp(name, "lsm") == 0)
		return d->lsm[0] && d->lsm[1];
	if (strcmp(name, "cmdline") == 0)
		return d->cmdline[0] && d->cmdline[1];
	if (strcmp(name, "config.digest") == 0)
		return d->config[0].text && d->config[1].text;
	if (len <= tail || len - tail >= sizeof(document) ||
	    strcmp(name + len - tail, ".digest") != 0)
		return false;
	memcpy(document, name, len - tail);
	document[len - tail] = '\0';
	a = find_document(sides[0], document);
	b = find_document(sides[1], document);
	return a && b && a->text && b->text;
}

static int add_fact(struct diff *d, const struct epoch_fact *a, const struct epoch_fact *b)
{
	const struct kg_fact_info *f = kg_fact_find(a->name);
	size_t len = strlen(f->name);
	struct diff_new n = {.section = f->section,
			     .kind = "changed",
			     .name = diff_text(f->label),
			     .a = diff_text(a->value),
			     .b = diff_text(b->value),
			     .a_unsupported = !a->value,
			     .b_unsupported = !b->value,
			     .weight = f->weight,
			     .settable = f->settable};
	struct kg_str name = {0};
	int rc;

	if (len && f->name[len - 1] == '.') { /* one row for many: what it is of has to be said */
		kg_str_addf(&name, "%s %s", f->label, a->name + len);
		n.name = diff_text(kg_str_text(&name));
	}
	rc = name.failed ? -ENOMEM : diff_add(d, &n);
	kg_str_deinit(&name);
	return rc;
}

static int diff_facts(struct diff *d, const struct diff_side *const sides[2],
		      const struct details *details)
{
	size_t n_a, n_b, i = 0, k = 0, one_side = 0;
	const struct epoch_fact **a = sorted_facts(sides[0], &n_a);
	const struct epoch_fact **b = sorted_facts(sides[1], &n_b);
	int rc = a && b ? 0 : -ENOMEM;

	while (rc == 0 && (i < n_a || k < n_b)) {
		int order = i == n_a ? 1 : k == n_b ? -1 : strcmp(a[i]->name, b[k]->name);
		const struct epoch_fact *x = order <= 0 ? a[i++] : NULL;
		const struct epoch_fact *y = order >= 0 ? b[k++] : NULL;
		const char *name = x ? x->name : y->name;

		if (kg_fact_find(name)->class == KG_FACT_VOLATILE)
			continue;
		if (!x || !y)
			one_side++;
		else if (kg_streq(x->value, y->value))
			d->same++;
		else if (!in_detail(name, sides, details))
			rc = add_fact(d, x, y);
	}
	free(a);
	free(b);
	if (rc == 0 && one_side && sides[0]->has_facts && sides[1]->has_facts)
		rc = add_text(&d->reply->notes, &d->reply->n_notes,
			      "%zu fact%s only one of the two recorded", one_side,
			      plural(one_side));
	return rc;
}

/* ---- the rest ---- */

#define note(d, ...) add_text(&(d)->reply->notes, &(d)->reply->n_notes, __VA_ARGS__)

static const char *name_of(const struct diff_side *s, int i)
{
	return s->name && s->name[0] ? s->name : i ? "the second" : "the first";
}

static int note_missing(struct diff *d, const struct diff_side *const sides[2], const char *what,
			bool has_a, bool has_b)
{
	if (has_a && has_b)
		return 0;
	if (!has_a && !has_b)
		return note(d, "no %s known of either: not compared", what);
	return note(d, "no %s known of '%s': not compared", what,
		    has_a ? name_of(sides[1], 1) : name_of(sides[0], 0));
}

static int diff_details(struct diff *d, const struct diff_side *const sides[2],
			const struct details *details)
{
	const char *digests[2] = {fact_value(sides[0], "config.digest"),
				  fact_value(sides[1], "config.digest")};
	bool same_config = digests[0] && kg_streq(digests[0], digests[1]);
	int rc = 0;

	if (details->config[0].text && details->config[1].text)
		rc = diff_configs(d, &details->config[0], &details->config[1]);
	else if (!same_config)
		rc = note_missing(d, sides, "config", details->config[0].text,
				  details->config[1].text);
	if (rc == 0 && details->lsm[0] && details->lsm[1])
		rc = diff_lists(d, details->lsm[0], details->lsm[1]);
	else if (rc == 0)
		rc = note_missing(d, sides, "LSM list", details->lsm[0], details->lsm[1]);
	if (rc == 0 && details->cmdline[0] && details->cmdline[1])
		rc = diff_cmdlines(d, details->cmdline[0], details->cmdline[1]);
	else if (rc == 0)
		rc = note_missing(d, sides, "command line", details->cmdline[0],
				  details->cmdline[1]);
	if (rc == 0)
		rc = note_missing(d, sides, "facts", sides[0]->has_facts, sides[1]->has_facts);
	return rc;
}

/* Addresses of symbols differ with every build and tell nothing. */
static bool is_compared(const char *name)
{
	return strcmp(name, "config") != 0 && strcmp(name, "kallsyms") != 0;
}

static int diff_document(struct diff *d, const struct diff_side *const sides[2],
			 const struct diff_document *a, const struct diff_document *b)
{
	struct diff_text x, y;
	char what[96];

	if (a && b && a->digest && kg_streq(a->digest, b->digest)) {
		d->same++;
		return 0;
	}
	(void)snprintf(what, sizeof(what), "'%.60s' document", a ? a->name : b->name);
	if (!a || !b || !a->text || !b->text)
		return note_missing(d, sides, what, a && a->text, b && b->text);
	x = (struct diff_text){a->text, a->len};
	y = (struct diff_text){b->text, b->len};
	return diff_lines(d, a->name, &x, &y);
}

static int diff_documents(struct diff *d, const struct diff_side *const sides[2])
{
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < sides[0]->n_documents; i++) {
		const struct diff_document *a = &sides[0]->documents[i];

		if (is_compared(a->name))
			rc = diff_document(d, sides, a, find_document(sides[1], a->name));
	}
	for (size_t i = 0; rc == 0 && i < sides[1]->n_documents; i++) {
		const struct diff_document *b = &sides[1]->documents[i];

		if (is_compared(b->name) && !find_document(sides[0], b->name))
			rc = diff_document(d, sides, NULL, b);
	}
	return rc;
}

static int finish(struct diff *d)
{
	Kgrid__V1__DiffReply *r = d->reply;
	size_t left = d->n > DIFF_ITEMS_MAX ? d->n - DIFF_ITEMS_MAX : 0;

	if (d->n)
		qsort(d->items, d->n, sizeof(*d->items), order_items);
	for (size_t i = d->n - left; i < d->n; i++)
		kgrid__v1__diff_item__free_unpacked(d->items[i], NULL);
	r->items = d->items;
	r->n_items = d->n - left;
	r->has_same = 1;
	r->same = d->same;
	d->items = NULL;
	d->n = 0;
	if (left)
		return note(d, "%zu more differences, less likely to matter, are left out", left);
	return r->n_items ? 0 : note(d, "no difference in what was compared");
}

int report_diff(const struct diff_side *a, const struct diff_side *b, Kgrid__V1__DiffReply *reply,
		struct kg_err *err)
{
	const struct diff_side *const sides[2] = {a, b};
	struct diff d = {.reply = reply};
	struct details details = {0};
	int rc = set_text(&reply->a, a->name) | set_text(&reply->b, b->name);

	find_details(sides, &details);
	if (rc == 0)
		rc = diff_facts(&d, sides, &details);
	if (rc == 0)
		rc = diff_details(&d, sides, &details);
	if (rc == 0)
		rc = diff_documents(&d, sides);
	if (rc == 0)
		rc = finish(&d);
	for (size_t i = 0; i < d.n; i++)
		kgrid__v1__diff_item__free_unpacked(d.items[i], NULL);
	free(d.items);
	return rc < 0 ? kg_err_set(err, -ENOMEM, "out of memory") : 0;
}
