/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Comparability: what differs between the baseline and the other columns of a table. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "coordinator/report/compare_internal.h"
#include "coordinator/report/config_diff.h"
#include "coordinator/report/words.h"

#define OPTIONS_NAMED 4
#define WORDS_NAMED   8
#define VALUE_SHOWN   60

static void add_clipped(struct kg_str *s, const char *text, size_t len)
{
	size_t n = len;

	if (n > VALUE_SHOWN) {
		n = VALUE_SHOWN;
		while (n && ((unsigned char)text[n] & 0xc0) == 0x80)
			n--;
	}
	kg_str_addn(s, text, n);
	if (n < len)
		kg_str_add(s, "...");
}

/* How much of two values can be left out because it is the same: whole words of a long list. */
static size_t same_words(const struct config_option *a, const struct config_option *b)
{
	size_t words = 0;

	if (a->value_len <= VALUE_SHOWN && b->value_len <= VALUE_SHOWN)
		return 0;
	for (size_t i = 0; i < a->value_len && i < b->value_len && a->value[i] == b->value[i]; i++)
		if (a->value[i] == ',' || a->value[i] == ' ')
			words = i + 1;
	return words;
}

static void add_value(struct kg_str *s, const struct config_option *o, size_t skipped)
{
	if (!o) {
		kg_str_add(s, "absent");
		return;
	}
	kg_str_add(s, skipped ? "..." : "");
	add_clipped(s, o->value + skipped, o->value_len - skipped);
}

/* ---- kernel config ---- */

struct named {
	const struct config_option *a, *b;
	unsigned weight;
};

struct differing {
	struct named top[OPTIONS_NAMED]; /* heaviest first */
	size_t n;			 /* all that differ */
};

static int note_option(void *arg, const struct config_option *a, const struct config_option *b)
{
	struct differing *d = arg;
	const struct config_option *o = a ? a : b;
	struct named item = {a, b, config_weight(o->name, o->name_len)};
	size_t held = d->n < OPTIONS_NAMED ? d->n : OPTIONS_NAMED, at = held;

	d->n++;
	while (at > 0 && d->top[at - 1].weight < item.weight)
		at--;
	if (at == OPTIONS_NAMED)
		return 0;
	if (held == OPTIONS_NAMED)
		held--;
	memmove(&d->top[at + 1], &d->top[at], (held - at) * sizeof(item));
	d->top[at] = item;
	return 0;
}

static void add_option(struct kg_str *s, const struct named *o)
{
	const struct config_option *any = o->a ? o->a : o->b;
	size_t skipped = o->a && o->b ? same_words(o->a, o->b) : 0;

	kg_str_addn(s, any->name, any->name_len);
	kg_str_add(s, " ");
	add_value(s, o->a, skipped);
	kg_str_add(s, " -> ");
	add_value(s, o->b, skipped);
}

static void add_options(struct kg_str *s, const struct differing *d)
{
	size_t held = d->n < OPTIONS_NAMED ? d->n : OPTIONS_NAMED;

	if (d->n == 0) {
		kg_str_add(s, "config: other text, no option differs");
		return;
	}
	kg_str_addf(s, "config: %zu option%s: ", d->n, plural(d->n));
	for (size_t i = 0; i < held; i++) {
		kg_str_add(s, i ? ", " : "");
		add_option(s, &d->top[i]);
	}
	kg_str_add(s, d->n > held ? ", ..." : "");
}

static const struct report_config *find_config(const struct report_input *in, const char *digest)
{
	for (size_t i = 0; i < in->n_configs; i++) {
		if (in->configs[i].text && strcmp(in->configs[i].digest, digest) == 0)
			return &in->configs[i];
	}
	return NULL;
}

static int diff_config(const struct report_input *in, const char *a, const char *b,
		       struct kg_str *s)
{
	const struct report_config *x, *y;
	struct config_set left = {0}, right = {0};
	struct differing d = {0};
	size_t silent, same;
	int rc;

	x = find_config(in, a);
	y = find_config(in, b);
	if (!x || !y) {
		kg_str_addf(s, "config: differs, in what is not known (%.12s, %.12s)", a, b);
		return 0;
	}
	rc = config_set_init(&left, x->text, x->len);
	if (rc == 0)
		rc = config_set_init(&right, y->text, y->len);
	if (rc == 0)
		rc = config_diff(&left, &right, note_option, &d, &silent, &same);
	if (rc == 0)
		add_options(s, &d);
	config_set_deinit(&left);
	config_set_deinit(&right);
	return rc;
}

void config_cache_deinit(struct config_cache *c)
{
	for (size_t i = 0; i < c->n; i++)
		free(c->items[i].text);
	free(c->items);
	memset(c, 0, sizeof(*c));
}

/* Two kernels are compared in every table: their configs once. */
static int say_config(const struct report_input *in, struct config_cache *cache, const char *a,
		      const char *b, struct kg_str *s)
{
	struct config_note *note;
	struct kg_str text = {0};
	int rc;

	for (size_t i = 0; i < cache->n; i++) {
		note = &cache->items[i];
		if (strcmp(note->a, a) == 0 && strcmp(note->b, b) == 0) {
			kg_str_add(s, note->text);
			return 0;
		}
	}
	rc = diff_config(in, a, b, &text);
	if (rc < 0) {
		kg_str_deinit(&text);
		return rc;
	}
	kg_str_add(s, kg_str_text(&text));
	note = grow(&cache->items, &cache->n, &cache->cap, sizeof(*note));
	if (!note) {
		kg_str_deinit(&text);
		return -ENOMEM;
	}
	note->a = a;
	note->b = b;
	return set_str(&note->text, &text);
}

/* ---- words ---- */

static void add_words(struct kg_str *s, const struct words *w, const bool *only, char sign,
		      size_t *shown, size_t *left)
{
	for (size_t i = 0; i < w->n; i++) {
		if (!only[i])
			continue;
		if (*shown == WORDS_NAMED) {
			(*left)++;
			continue;
		}
		(*shown)++;
		kg_str_addf(s, " %c", sign);
		add_clipped(s, w->items[i], strlen(w->items[i]));
	}
}

/* What the column's list says already. */
static void drop_lsm_words(struct words *w)
{
	size_t n = 0;

	for (size_t i = 0; i < w->n; i++) {
		if (!word_key_is(w->items[i], "lsm") && !word_key_is(w->items[i], "security"))
			w->items[n++] = w->items[i];
	}
	w->n = n;
}

/* "LSM list: +tomoyo -apparmor"; nothing when the words are the same. */
static int say_words(const char *what, struct words *a, struct words *b, bool order,
		     struct kg_str *s)
{
	bool *a_only = calloc(a->n + 1, sizeof(*a_only)), *b_only = calloc(b->n + 1, sizeof(bool));
	struct kg_str text = {0};
	size_t shown = 0, left = 0;
	int rc = a_only && b_only ? 0 : -ENOMEM;

	if (rc == 0)
		rc = words_compare(a, b, a_only, b_only);
	if (rc == 0) {
		add_words(&text, b, b_only, '+', &shown, &left);
		add_words(&text, a, a_only, '-', &shown, &left);
		if (left)
			kg_str_addf(&text, " and %zu more", left);
		if (order && words_reordered(a, b, a_only, b_only))
			kg_str_add(&text, text.len ? ", reordered" : " reordered");
		if (text.len)
			kg_str_addf(s, "%s:%s", what, kg_str_text(&text));
		rc = text.failed || s->failed ? -ENOMEM : 0;
	}
	kg_str_deinit(&text);
	free(a_only);
	free(b_only);
	return rc;
}

static int say_cmdline(const char *a, const char *b, bool lsm_named, struct kg_str *s)
{
	struct words x = {0}, y = {0};
	int rc = words_cmdline(&x, a);

	if (rc == 0)
		rc = words_cmdline(&y, b);
	if (rc == 0 && lsm_named) {
		drop_lsm_words(&x);
		drop_lsm_words(&y);
	}
	if (rc == 0)
		rc = say_words("command line", &x, &y, false, s);
	words_deinit(&x);
	words_deinit(&y);
	return rc;
}

static int say_list(const char *a, const char *b, struct kg_str *s)
{
	struct words x = {0}, y = {0};
	int rc = words_list(&x, a);

	if (rc == 0)
		rc = words_list(&y, b);
	if (rc == 0)
		rc = say_words("LSM list", &x, &y, true, s);
	words_deinit(&x);
	words_deinit(&y);
	return rc;
}

/* ---- compiler ---- */

/* Length of what a parenthesis holds, up to the one that closes it; to the first comma of its own when
 * `comma` is set. */
static size_t group_length(const char *s, bool comma)
{
	int depth = 0;
	size_t n = 0;

	for (; s[n]; n++) {
		depth += s[n] == '(';
		depth -= s[n] == ')';
		if (depth < 0 || (comma && depth == 0 && s[n] == ','))
			break;
	}
	return n;
}

static bool is_compiler(const char *s, size_t len)
{
	size_t word = 0;

	while (word < len && s[word] != ' ')
		word++;
	return memmem(s, word, "gcc", 3) || memmem(s, word, "clang", 5) ||
	       memmem(s, len, " clang version", 14);
}

/* "gcc (Debian 12.2.0-14) 12.2.0" out of "6.1.0 (a@b) (gcc (Debian ...) 12.2.0, GNU ld ...) #1 SMP"
 * (linux_proc_banner of init/version-timestamp.c); owned, NULL: none. -ENOMEM */
static int compiler_of(const struct report_cell *c, char **ret)
{
	const char *s = c->version;

	*ret = NULL;
	if (c->compiler)
		return set_text(ret, c->compiler);
	while (s && (s = strchr(s, '('))) {
		size_t len = group_length(++s, false);

		if (is_compiler(s, len)) {
			*ret = strndup(s, group_length(s, true));
			return *ret ? 0 : -ENOMEM;
		}
		s += len;
	}
	return 0;
}

static int say_compiler(const struct report_cell *a, const struct report_cell *b, bool *ret_known,
			struct kg_str *s)
{
	char *x = NULL, *y = NULL;
	int rc = compiler_of(a, &x);

	if (rc == 0)
		rc = compiler_of(b, &y);
	*ret_known = x && y;
	if (x && y && strcmp(x, y) != 0)
		kg_str_addf(s, "compiler %s -> %s", x, y);
	free(x);
	free(y);
	return rc;
}

/* ---- one column against the baseline ---- */

struct line {
	char *text; /* owned: of one kind of difference */
	struct kg_str columns;
	size_t n_columns;
};

struct lines {
	struct line *items;
	size_t n, cap;
};

static void lines_deinit(struct lines *l)
{
	for (size_t i = 0; i < l->n; i++) {
		free(l->items[i].text);
		kg_str_deinit(&l->items[i].columns);
	}
	free(l->items);
}

/* The same difference of several columns is one line. Takes what `text` holds. */
static int add_line(struct lines *l, struct kg_str *text, const struct column *c)
{
	struct line *line = NULL;
	char *taken;

	if (text->failed)
		return -ENOMEM;
	if (text->len == 0)
		return 0;
	taken = kg_str_take(text);
	memset(text, 0, sizeof(*text));
	if (!taken)
		return -ENOMEM;
	for (size_t i = 0; i < l->n && !line; i++) {
		if (strcmp(l->items[i].text, taken) == 0)
			line = &l->items[i];
	}
	if (line) {
		free(taken);
	} else {
		line = grow(&l->items, &l->n, &l->cap, sizeof(*line));
		if (!line) {
			free(taken);
			return -ENOMEM;
		}
		line->text = taken;
	}
	kg_str_addf(&line->columns, "%s%s/%s", line->n_columns++ ? ", " : "", c->shown, c->lsm);
	return line->columns.failed ? -ENOMEM : 0;
}

static void add_unknown(struct kg_str *s, const char *what)
{
	kg_str_addf(s, "%s%s", s->len ? ", " : "not known: ", what);
}

static int compare_columns(const struct table *t, const struct report_cell *a,
			   const struct report_cell *b, const struct column *c, struct lines *l)
{
	struct kg_str s = {0}, unknown = {0};
	bool known;
	int rc = 0;

	if (!a->config_digest || !b->config_digest)
		add_unknown(&unknown, "config");
	else if (strcmp(a->config_digest, b->config_digest) != 0)
		rc = say_config(t->l->in, t->configs, a->config_digest, b->config_digest, &s);
	if (rc == 0)
		rc = add_line(l, &s, c);
	if (!a->cmdline || !b->cmdline)
		add_unknown(&unknown, "command line");
	else if (rc == 0)
		rc = say_cmdline(a->cmdline, b->cmdline, strcmp(a->lsm, b->lsm) != 0, &s);
	if (rc == 0)
		rc = add_line(l, &s, c);
	if (a->settings && b->settings && strcmp(a->settings, b->settings) != 0)
		kg_str_addf(&s, "settings %s -> %s", a->settings[0] ? a->settings : "none",
			    b->settings[0] ? b->settings : "none");
	if (rc == 0)
		rc = add_line(l, &s, c);
	if (!a->lsm_effective || !b->lsm_effective)
		add_unknown(&unknown, "LSM list");
	else if (rc == 0)
		rc = say_list(a->lsm_effective, b->lsm_effective, &s);
	if (rc == 0)
		rc = add_line(l, &s, c);
	if (!a->microcode || !b->microcode)
		add_unknown(&unknown, "microcode");
	else if (strcmp(a->microcode, b->microcode) != 0)
		kg_str_addf(&s, "microcode %s -> %s", a->microcode, b->microcode);
	if (rc == 0)
		rc = add_line(l, &s, c);
	if (rc == 0)
		rc = say_compiler(a, b, &known, &s);
	if (rc == 0 && !known)
		add_unknown(&unknown, "compiler");
	if (rc == 0)
		rc = add_line(l, &s, c);
	if (rc == 0)
		rc = add_line(l, &unknown, c);
	kg_str_deinit(&s);
	kg_str_deinit(&unknown);
	return rc;
}

/* A cell of the table's machine and workload for each column, rather one with boots. */
static const struct report_cell *cell_of(const struct table *t, uint32_t column)
{
	const struct report_cell *found = NULL;

	for (uint32_t row = 0; row < t->n_rows; row++) {
		const struct cell_data *d = table_cell(t, row, column);

		if (d->n_used)
			return d->cell;
		if (!found)
			found = d->cell;
	}
	return found;
}

static int emit(const struct lines *l, size_t n_compared, Kgrid__V1__CompareTable *m)
{
	bool differs = false;
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < l->n; i++) {
		const struct line *line = &l->items[i];

		differs |= strncmp(line->text, "not known", 9) != 0;
		if (line->n_columns == n_compared)
			rc = add_text(&m->comparability, &m->n_comparability, "%s", line->text);
		else
			rc = add_text(&m->comparability, &m->n_comparability, "%s: %s",
				      kg_str_text(&line->columns), line->text);
	}
	if (rc == 0 && !differs)
		rc = add_text(&m->comparability, &m->n_comparability,
			      "none: nothing else that is known differs");
	return rc;
}

int add_comparability(const struct table *t, Kgrid__V1__CompareTable *m)
{
	const struct report_cell *base = cell_of(t, 0);
	struct lines l = {0};
	size_t compared = 0;
	int rc = 0;

	if (!base)
		return 0;
	for (uint32_t col = 1; rc == 0 && col < t->l->n_columns; col++) {
		const struct report_cell *cell = cell_of(t, col);

		if (!cell)
			continue;
		compared++;
		rc = compare_columns(t, base, cell, &t->l->columns[col], &l);
	}
	if (rc == 0 && compared)
		rc = emit(&l, compared, m);
	lines_deinit(&l);
	return rc;
}
