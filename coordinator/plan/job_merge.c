/* SPDX-License-Identifier: GPL-2.0-or-later */
/* `include:` and `defaults:`: several mappings as one. Nodes are shared, never changed; a mapping
 * that is put together of two is a new node. */
#include "coordinator/plan/job_internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "coordinator/plan/warn.h"

#define ARENA_BYTES (64u << 20)
#define MAX_NAMES   256 /* under one include; the files themselves are counted elsewhere */

/* ---- names of included files ---- */

/* Takes "a/./b" and "x/../" out of a path, by its letters alone. */
static void normalise(char *path)
{
	bool absolute = path[0] == '/';
	char *out = path + absolute;
	char *in = out;
	char *base = out; /* ".." at the beginning stays before it */

	while (*in) {
		size_t len = strcspn(in, "/");
		bool dots = len == 2 && in[0] == '.' && in[1] == '.';

		if (len == 0 || (len == 1 && in[0] == '.')) {
			/* nothing */
		} else if (dots && out > base) {
			while (out > base && *--out != '/')
				;
		} else if (!(dots && absolute)) {
			if (out > path + absolute)
				*out++ = '/';
			memmove(out, in, len);
			out += len;
			if (dots)
				base = out;
		}
		in += len;
		in += *in == '/';
	}
	*out = '\0';
}

char *job_include_path(const char *including, const char *name)
{
	const char *slash = name[0] == '/' ? NULL : strrchr(including, '/');
	struct kg_str s = {0};
	char *path;

	if (slash)
		kg_str_addn(&s, including, (size_t)(slash - including) + 1);
	kg_str_add(&s, name);
	path = kg_str_take(&s);
	if (path)
		normalise(path);
	return path;
}

/* The names under `include:`, in order. */
static int read_names(const struct kg_yaml_doc *doc, const struct kg_yaml_node *n,
		      struct kg_texts *ret, struct kg_err *err)
{
	bool list = n->kind == KG_YAML_SEQ;
	size_t count = list ? n->n : 1;
	size_t i;

	if (count > MAX_NAMES)
		return kg_yaml_error(doc, n, err, "'include': at most %d names, not %zu", MAX_NAMES,
				     count);
	for (i = 0; i < count; i++) {
		const struct kg_yaml_node *item = list ? n->items[i] : n;

		if (item->kind != KG_YAML_SCALAR || job_is_null(item) || !item->text[0])
			return kg_yaml_error(doc, item, err,
					     "'include': expected the name of a file, or a list "
					     "of names");
		if (plan_texts_add(ret, item->text) < 0)
			return job_no_memory(err);
	}
	return 0;
}

int job_includes(const char *file_name, const char *text, size_t len, struct kg_texts *ret_names,
		 struct kg_err *err)
{
	struct kg_texts names = {0};
	struct kg_yaml_doc *doc;
	const struct kg_yaml_node *n;
	int rc = kg_yaml_parse(file_name, text, len, &doc, err);

	if (rc < 0)
		return rc;
	n = kg_yaml_get(doc->root, "include");
	if (n)
		rc = read_names(doc, n, &names, err);
	kg_yaml_free(doc);
	if (rc < 0)
		kg_texts_deinit(&names);
	else
		*ret_names = names;
	return rc;
}

/* ---- putting mappings together ---- */

/* Position of a key; map->n: absent. */
static size_t find_key(const struct kg_yaml_node *map, const char *key)
{
	size_t i;

	for (i = 0; i < map->n && strcmp(map->keys[i]->text, key) != 0; i++)
		;
	return i;
}

/* What the keys of a mapping are: whether the values of one that both files have are put together
 * depends on it, for a label may be called like a job key. */
enum level {
	LEVEL_JOB,	/* keys of a job */
	LEVEL_DEFAULTS, /* the same, and workloads with their parameters */
	LEVEL_MATRIX,	/* parameters, and settings */
	LEVEL_SETTINGS, /* names of settings; one_form */
	LEVEL_LABELS,	/* labels: a value is replaced as a whole */
	LEVEL_VALUE,
};

static enum level level_below(enum level level, const char *key)
{
	static const struct {
		enum level level;
		const char *key; /* NULL: any */
		enum level below;
	} levels[] = {
		{LEVEL_JOB, "defaults", LEVEL_DEFAULTS},
		{LEVEL_JOB, "matrix", LEVEL_MATRIX},
		{LEVEL_JOB, "settings", LEVEL_SETTINGS},
		{LEVEL_JOB, "lsm", LEVEL_LABELS},
		{LEVEL_JOB, "parameters", LEVEL_LABELS},
		{LEVEL_JOB, "repeat", LEVEL_LABELS},
		{LEVEL_JOB, "budget", LEVEL_LABELS},
		{LEVEL_DEFAULTS, "matrix", LEVEL_MATRIX},
		{LEVEL_DEFAULTS, "settings", LEVEL_SETTINGS},
		{LEVEL_DEFAULTS, NULL, LEVEL_LABELS},
		{LEVEL_MATRIX, "settings", LEVEL_SETTINGS},
	};
	/* under `defaults`, too, these are one value */
	static const char *const whole[] = {"role", "cmdline", "canary", "when"};
	size_t i;

	for (i = 0; level == LEVEL_DEFAULTS && i < sizeof(whole) / sizeof(whole[0]); i++)
		if (strcmp(whole[i], key) == 0)
			return LEVEL_VALUE;
	for (i = 0; i < sizeof(levels) / sizeof(levels[0]); i++)
		if (levels[i].level == level && (!levels[i].key || strcmp(levels[i].key, key) == 0))
			return levels[i].below;
	return LEVEL_VALUE;
}

static struct kg_yaml_node *new_map(struct kg_arena *a, const struct kg_yaml_node *like,
				    size_t most)
{
	struct kg_yaml_node *m = kg_arena_alloc(a, sizeof(*m));

	if (!m)
		return NULL;
	*m = *like;
	m->n = 0;
	m->keys = kg_arena_alloc(a, (most + 1) * sizeof(*m->keys));
	m->items = kg_arena_alloc(a, (most + 1) * sizeof(*m->items));
	return m->keys && m->items ? m : NULL;
}

static void put(struct kg_yaml_node *m, struct kg_yaml_node *key, struct kg_yaml_node *item)
{
	m->keys[m->n] = key;
	m->items[m->n++] = item;
}

/* ---- one form of sysctls ---- */

static size_t count_leaves(const struct kg_yaml_node *map)
{
	size_t i, n = map->n;

	for (i = 0; i < map->n; i++)
		if (map->items[i]->kind == KG_YAML_MAP)
			n += count_leaves(map->items[i]);
	return n;
}

/* A key with the whole name of a sysctl, at the place of its last part. */
static bool put_sysctl(struct kg_arena *a, struct kg_yaml_node *m, const struct kg_str *name,
		       const struct kg_yaml_node *key, struct kg_yaml_node *item)
{
	struct kg_yaml_node *whole = kg_arena_alloc(a, sizeof(*whole));

	if (!whole || name->failed)
		return false;
	*whole = *key;
	whole->text = kg_arena_text(a, kg_str_text(name), name->len);
	put(m, whole, item);
	return whole->text != NULL;
}

static bool put_sysctls(struct kg_arena *a, struct kg_yaml_node *m, const char *prefix,
			const struct kg_yaml_node *map)
{
	bool done = true;
	size_t i;

	for (i = 0; i < map->n && done; i++) {
		struct kg_yaml_node *item = map->items[i];
		struct kg_str name = {0};

		kg_str_add(&name, prefix);
		job_sysctl_add(&name, map->keys[i]->text);
		done = item->kind == KG_YAML_MAP && item->n > 0
			       ? !name.failed && put_sysctls(a, m, kg_str_text(&name), item)
			       : put_sysctl(a, m, &name, map->keys[i], item);
		kg_str_deinit(&name);
	}
	return done;
}

/* Settings in which each sysctl, in whatever form it is written, is a key "sysctl.vm.swappiness", so
 * that one file's wins over another's. */
static struct kg_yaml_node *one_form(struct kg_arena *a, const struct kg_yaml_node *map)
{
	struct kg_yaml_node *m = new_map(a, map, count_leaves(map));
	bool done = m != NULL;
	size_t i;

	for (i = 0; i < map->n && done; i++) {
		struct kg_yaml_node *key = map->keys[i], *item = map->items[i];
		struct kg_str name = {0};

		if (strcmp(key->text, JOB_SYSCTL) == 0 && item->kind == KG_YAML_MAP &&
		    item->n > 0) {
			done = put_sysctls(a, m, JOB_SYSCTL, item);
		} else if (kg_str_starts(key->text, JOB_SYSCTL ".")) {
			kg_str_add(&name, JOB_SYSCTL);
			job_sysctl_add(&name, key->text + strlen(JOB_SYSCTL "."));
			done = put_sysctl(a, m, &name, key, item);
		} else {
			put(m, key, item);
		}
		kg_str_deinit(&name);
	}
	return done ? m : NULL;
}

/* ---- two mappings as one ---- */

static const struct kg_yaml_node *overlay(struct kg_arena *a, const struct kg_yaml_node *base,
					  const struct kg_yaml_node *top, enum level level);

/* The value of a key that both have. */
static struct kg_yaml_node *both(struct kg_arena *a, const char *key, struct kg_yaml_node *base,
				 struct kg_yaml_node *top, enum level level)
{
	enum level below = level_below(level, key);

	if (base->kind != KG_YAML_MAP || top->kind != KG_YAML_MAP || below == LEVEL_VALUE)
		return top;
	if (below == LEVEL_SETTINGS) {
		base = one_form(a, base);
		top = one_form(a, top);
		if (!base || !top)
			return NULL;
	}
	return (struct kg_yaml_node *)(uintptr_t)overlay(a, base, top, below);
}

static const struct kg_yaml_node *overlay(struct kg_arena *a, const struct kg_yaml_node *base,
					  const struct kg_yaml_node *top, enum level level)
{
	struct kg_yaml_node *m = new_map(a, top, base->n + top->n);
	size_t i, k;

	if (!m)
		return NULL;
	for (i = 0; i < base->n; i++)
		put(m, base->keys[i], base->items[i]);
	for (i = 0; i < top->n; i++) {
		k = find_key(base, top->keys[i]->text);
		if (k == base->n) {
			put(m, top->keys[i], top->items[i]);
			continue;
		}
		m->keys[k] = top->keys[i]; /* errors name the file whose value counts */
		m->items[k] = both(a, top->keys[i]->text, base->items[k], top->items[i], level);
		if (!m->items[k])
			return NULL;
	}
	return m;
}

static const struct kg_yaml_node *without(struct kg_arena *a, const struct kg_yaml_node *map,
					  const char *key)
{
	struct kg_yaml_node *m = new_map(a, map, map->n);
	size_t i;

	for (i = 0; m && i < map->n; i++)
		if (strcmp(map->keys[i]->text, key) != 0)
			put(m, map->keys[i], map->items[i]);
	return m;
}

/* ---- include ---- */

struct loading {
	const struct job_source *src;
	char *self; /* owned: path of the job file, as an include would name it */
	struct job_docs *docs;
	struct kg_err *err;
	const char *open[JOB_DOCS_MAX]; /* files that include each other, the outermost first */
	size_t n_open;
};

#define ALL_LEVELS   KG_YAML_MAX_DEPTH
#define MERGED_DEPTH 4 /* of mappings that are put together */

/* Keys are looked up one after the other, so a mapping with very many is refused. Lists of values
 * may be long. */
static int check_sizes(const struct loading *l, const struct kg_yaml_node *n, unsigned depth)
{
	size_t i;
	int rc = 0;

	if (n->kind == KG_YAML_MAP && n->n > JOB_MAX_KEYS)
		return kg_yaml_error(l->docs->items[0], n->keys[JOB_MAX_KEYS], l->err,
				     "a mapping of a job file has at most %d keys, not %zu",
				     JOB_MAX_KEYS, n->n);
	for (i = 0; n->kind != KG_YAML_SCALAR && depth > 0 && i < n->n && rc == 0; i++)
		rc = check_sizes(l, n->items[i], depth - 1);
	return rc;
}

static const struct job_file *find_file(const struct job_source *src, const char *name)
{
	size_t i;

	for (i = 0; i < src->n_files; i++)
		if (strcmp(src->files[i].name, name) == 0)
			return &src->files[i];
	return NULL;
}

static int load_text(struct loading *l, const char *name, const char *text, size_t len,
		     const struct kg_yaml_node **ret_map);

static int include_one(struct loading *l, const struct kg_yaml_doc *doc,
		       const struct kg_yaml_node *at, const char *name,
		       const struct kg_yaml_node **map)
{
	const struct kg_yaml_node *included = NULL;
	const struct job_file *f = find_file(l->src, name);
	size_t i;
	int rc = 0;

	for (i = 0; i < l->n_open; i++)
		if (strcmp(l->open[i], name) == 0)
			return kg_yaml_error(doc, at, l->err,
					     "'include': '%.160s' includes itself%s", name,
					     i + 1 < l->n_open ? ", by way of other files" : "");
	if (!f)
		return kg_yaml_error(doc, at, l->err,
				     "'include': the file '%.160s' was not given with the job",
				     name);
	for (i = 1; i < l->docs->n && !included; i++)
		if (strcmp(l->docs->items[i]->name, f->name) == 0)
			included = l->docs->maps[i];
	if (!included && l->docs->n == JOB_DOCS_MAX) {
		(void)kg_yaml_error(doc, at, l->err,
				    "'include': more than %d files are included, the next is "
				    "'%.160s'",
				    JOB_MAX_FILES, name);
		return KG_ELIMIT;
	}
	if (!included)
		rc = load_text(l, f->name, f->text, f->len, &included);
	if (rc < 0)
		return rc;
	*map = *map ? overlay(&l->docs->arena, *map, included, LEVEL_JOB) : included;
	return *map ? check_sizes(l, *map, MERGED_DEPTH) : job_no_memory(l->err);
}

static int include_all(struct loading *l, const struct kg_yaml_doc *doc,
		       const struct kg_yaml_node *n, const struct kg_yaml_node **ret_map)
{
	struct kg_texts names = {0};
	size_t i;
	int rc = read_names(doc, n, &names, l->err);

	for (i = 0; rc == 0 && i < names.n; i++) {
		char *name = job_include_path(doc->name, names.items[i]);

		rc = name ? include_one(l, doc, n->kind == KG_YAML_SEQ ? n->items[i] : n, name,
					ret_map)
			  : job_no_memory(l->err);
		free(name);
	}
	kg_texts_deinit(&names);
	return rc;
}

static int load_text(struct loading *l, const char *name, const char *text, size_t len,
		     const struct kg_yaml_node **ret_map)
{
	const struct kg_yaml_node *base = NULL, *own, *n;
	struct kg_yaml_doc *doc;
	size_t at = l->docs->n;
	int rc = kg_yaml_parse(name, text, len, &doc, l->err);

	if (rc < 0)
		return rc;
	l->docs->items[l->docs->n++] = doc;
	if (doc->root->kind != KG_YAML_MAP)
		return kg_yaml_error(doc, doc->root, l->err,
				     "a job file is a mapping: 'name: ...'");
	own = doc->root;
	rc = check_sizes(l, own, ALL_LEVELS);
	if (rc < 0)
		return rc;
	n = kg_yaml_get(own, "include");
	if (n) {
		l->open[l->n_open++] = at == 0 ? l->self : doc->name;
		rc = include_all(l, doc, n, &base);
		l->n_open--;
		if (rc < 0)
			return rc;
		own = without(&l->docs->arena, own, "include");
		if (own && base)
			own = overlay(&l->docs->arena, base, own, LEVEL_JOB);
	}
	l->docs->maps[at] = own;
	*ret_map = own;
	return own ? check_sizes(l, own, MERGED_DEPTH) : job_no_memory(l->err);
}

/* ---- defaults ---- */

static bool is_key(const struct kg_field *keys, const char *name)
{
	for (; keys->key; keys++)
		if (strcmp(keys->key, name) == 0)
			return true;
	return false;
}

/* Job keys under `defaults` count where the file lacks them. */
static int fill_defaults(struct job_docs *d, const struct kg_field *keys,
			 const struct kg_yaml_node **root, struct kg_err *err)
{
	const struct kg_yaml_node *defaults = kg_yaml_get(*root, "defaults");
	struct kg_yaml_node *base;
	size_t i;

	if (!defaults || defaults->kind != KG_YAML_MAP)
		return 0; /* whoever reads it says so */
	base = new_map(&d->arena, *root, defaults->n);
	if (!base)
		return job_no_memory(err);
	for (i = 0; i < defaults->n; i++) {
		const char *key = defaults->keys[i]->text;

		if (strcmp(key, "name") == 0 || strcmp(key, "include") == 0 ||
		    strcmp(key, "defaults") == 0)
			return kg_yaml_error(d->items[0], defaults->keys[i], err,
					     "'defaults': '%s' belongs to the job file itself",
					     key);
		if (is_key(keys, key))
			put(base, defaults->keys[i], defaults->items[i]);
	}
	*root = overlay(&d->arena, base, *root, LEVEL_JOB);
	return *root ? 0 : job_no_memory(err);
}

int job_docs_load(const struct job_source *src, const struct kg_field *keys, struct job_docs *d,
		  const struct kg_yaml_node **ret_root, struct kg_err *err)
{
	struct loading l = {.src = src, .docs = d, .err = err};
	int rc;

	kg_arena_init(&d->arena, ARENA_BYTES);
	l.self = job_include_path("", src->file_name);
	if (!l.self)
		return job_no_memory(err);
	rc = load_text(&l, src->file_name, src->text, src->len, ret_root);
	free(l.self);
	return rc < 0 ? rc : fill_defaults(d, keys, ret_root, err);
}

void job_docs_deinit(struct job_docs *d)
{
	size_t i;

	for (i = 0; i < d->n; i++)
		kg_yaml_free(d->items[i]);
	kg_arena_deinit(&d->arena);
}
