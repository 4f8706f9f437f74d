/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "common/yaml.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <yaml.h>

#include "common/arena.h"
#include "common/file.h"

#define ANCHOR_BUCKETS 256

/* What the parser knows of a node beside what it shows. */
struct node {
	struct kg_yaml_node pub; /* first: a kg_yaml_node made here is a node */
	size_t weight;		 /* nodes below and with it, aliases expanded */
	unsigned height;	 /* 1 for a scalar */
};

struct anchor {
	struct anchor *next;
	const char *name;
	struct node *node;
	bool open; /* its node is not finished: an alias to it would be a cycle */
};

struct parser {
	yaml_parser_t yaml;
	yaml_event_t event;
	bool has_event;
	struct kg_yaml_doc *doc;
	struct kg_arena *arena;
	const char *text;
	size_t len;
	struct anchor *anchors[ANCHOR_BUCKETS];
	size_t total; /* nodes, aliases expanded */
	struct kg_err *err;
};

struct node_list { /* grows by malloc; the finished array goes to the arena */
	struct kg_yaml_node **items;
	size_t n, cap;
};

/* The event that opens a collection and the place where it hangs; the collection is read with it. */
struct opened {
	struct node *node;
	struct anchor *anchor;
	unsigned depth;
};

static int error_at(const struct parser *p, unsigned line, unsigned column, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));

static int error_at(const struct parser *p, unsigned line, unsigned column, const char *fmt, ...)
{
	char text[KG_ERR_TEXT_MAX];
	va_list ap;

	va_start(ap, fmt);
	(void)vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	return kg_err_set(p->err, KG_EINVALID, "%s:%u:%u: %s", p->doc->name, line, column, text);
}

static unsigned to_place(size_t from_zero)
{
	return from_zero < 0x7fffffff ? (unsigned)from_zero + 1 : 0x7fffffff;
}

static int out_of_memory(const struct parser *p)
{
	return kg_err_set(p->err, -ENOMEM, "%s: out of memory", p->doc->name);
}

/* Line and column (in characters) of a byte. */
static void place_of(const struct parser *p, size_t offset, unsigned *ret_line,
		     unsigned *ret_column)
{
	size_t i, line = 0, column = 0;

	for (i = 0; i < offset && i < p->len; i++) {
		if (p->text[i] == '\n') {
			line++;
			column = 0;
		} else if (((unsigned char)p->text[i] & 0xc0) != 0x80) {
			column++;
		}
	}
	*ret_line = to_place(line);
	*ret_column = to_place(column);
}

static bool line_has_tab_indent(const struct parser *p, size_t line_from_zero)
{
	size_t i = 0, line = 0;

	while (i < p->len && line < line_from_zero)
		line += p->text[i++] == '\n';
	while (i < p->len && p->text[i] == ' ')
		i++;
	return i < p->len && p->text[i] == '\t';
}

static int syntax_error(const struct parser *p)
{
	const yaml_parser_t *y = &p->yaml;
	const char *problem = y->problem ? y->problem : "cannot be parsed";
	unsigned line = to_place(y->problem_mark.line);
	unsigned column = to_place(y->problem_mark.column);

	if (y->error == YAML_MEMORY_ERROR)
		return out_of_memory(p);
	if (y->error == YAML_READER_ERROR) {
		place_of(p, y->problem_offset, &line, &column);
		return error_at(p, line, column, "%s", problem);
	}
	if (line_has_tab_indent(p, y->problem_mark.line))
		return error_at(p, line, column, "tab in the indentation: indent with spaces");
	if (y->context)
		return error_at(p, line, column, "%s %s (from line %u)", y->context, problem,
				to_place(y->context_mark.line));
	return error_at(p, line, column, "%s", problem);
}

static int next_event(struct parser *p)
{
	if (p->has_event)
		yaml_event_delete(&p->event);
	p->has_event = false;
	if (!yaml_parser_parse(&p->yaml, &p->event))
		return syntax_error(p);
	p->has_event = true;
	return 0;
}

static int event_error(const struct parser *p, const char *text)
{
	const yaml_mark_t *m = &p->event.start_mark;

	return error_at(p, to_place(m->line), to_place(m->column), "%s", text);
}

static unsigned hash(const char *s)
{
	unsigned h = 5381;

	while (*s)
		h = h * 33 + (unsigned char)*s++;
	return h % ANCHOR_BUCKETS;
}

static struct anchor *find_anchor(const struct parser *p, const char *name)
{
	struct anchor *a = p->anchors[hash(name)];

	while (a && strcmp(a->name, name) != 0)
		a = a->next;
	return a; /* the newest: a later anchor of the same name hides an earlier one */
}

static int add_anchor(struct parser *p, const yaml_char_t *name, struct node *node,
		      struct anchor **ret_anchor)
{
	struct anchor *a;
	unsigned h;

	*ret_anchor = NULL;
	if (!name)
		return 0;
	a = kg_arena_alloc(p->arena, sizeof(*a));
	if (!a)
		return out_of_memory(p);
	a->name = kg_arena_text(p->arena, (const char *)name, strlen((const char *)name));
	if (!a->name)
		return out_of_memory(p);
	a->node = node;
	a->open = true;
	h = hash(a->name);
	a->next = p->anchors[h];
	p->anchors[h] = a;
	*ret_anchor = a;
	return 0;
}

/* Counts `weight` more nodes. */
static int count_nodes(struct parser *p, size_t weight)
{
	p->total += weight;
	if (p->total > KG_YAML_MAX_NODES)
		return event_error(p, "too many values: at most 100000, aliases expanded");
	return 0;
}

static int new_node(struct parser *p, enum kg_yaml_kind kind, struct node **ret_node)
{
	struct node *n;
	int rc = count_nodes(p, 1);

	if (rc < 0)
		return rc;
	n = kg_arena_alloc(p->arena, sizeof(*n));
	if (!n)
		return out_of_memory(p);
	n->pub.kind = kind;
	n->pub.file = p->doc->name;
	n->pub.line = to_place(p->event.start_mark.line);
	n->pub.column = to_place(p->event.start_mark.column);
	n->weight = 1;
	n->height = 1;
	*ret_node = n;
	return 0;
}

static int list_add(struct parser *p, struct node_list *l, struct kg_yaml_node *node)
{
	if (l->n == l->cap) {
		size_t cap = l->cap ? 2 * l->cap : 8;
		struct kg_yaml_node **items = realloc(l->items, cap * sizeof(*items));

		if (!items)
			return out_of_memory(p);
		l->items = items;
		l->cap = cap;
	}
	l->items[l->n++] = node;
	return 0;
}

static int list_finish(struct parser *p, struct node_list *l, struct kg_yaml_node ***ret_items)
{
	if (l->n == 0)
		return 0;
	*ret_items = kg_arena_alloc(p->arena, l->n * sizeof(**ret_items));
	if (!*ret_items)
		return out_of_memory(p);
	memcpy(*ret_items, l->items, l->n * sizeof(**ret_items));
	return 0;
}

static void adopt(struct node *parent, const struct node *child)
{
	parent->weight += child->weight;
	if (child->height + 1 > parent->height)
		parent->height = child->height + 1;
}

static int read_node(struct parser *p, unsigned depth, struct node **ret_node);

static int read_items(struct parser *p, struct opened *o, struct node_list *items)
{
	struct node *child;
	int rc;

	for (;;) {
		rc = next_event(p);
		if (rc < 0)
			return rc;
		if (p->event.type == YAML_SEQUENCE_END_EVENT)
			break;
		rc = read_node(p, o->depth + 1, &child);
		if (rc < 0)
			return rc;
		adopt(o->node, child);
		rc = list_add(p, items, &child->pub);
		if (rc < 0)
			return rc;
	}
	o->node->pub.n = items->n;
	return list_finish(p, items, &o->node->pub.items);
}

static int compare_keys(const void *a, const void *b)
{
	const struct kg_yaml_node *x = *(struct kg_yaml_node *const *)a;
	const struct kg_yaml_node *y = *(struct kg_yaml_node *const *)b;
	int rc = strcmp(x->text, y->text);

	if (rc != 0)
		return rc;
	if (x->line != y->line)
		return x->line < y->line ? -1 : 1;
	return x->column < y->column ? -1 : x->column > y->column;
}

/* Sorts `keys`, which is used up. */
static int refuse_duplicates(struct parser *p, struct node_list *keys)
{
	size_t i;

	if (keys->n < 2)
		return 0;
	qsort(keys->items, keys->n, sizeof(keys->items[0]), compare_keys);
	for (i = 1; i < keys->n; i++) {
		const struct kg_yaml_node *a = keys->items[i - 1], *b = keys->items[i];

		if (strcmp(a->text, b->text) == 0)
			return error_at(p, b->line, b->column,
					"duplicate key '%.64s', first in line %u", b->text,
					a->line);
	}
	return 0;
}

static int read_key(struct parser *p, struct opened *o, struct node **ret_key)
{
	struct node *key;
	int rc = read_node(p, o->depth + 1, &key);

	if (rc < 0)
		return rc;
	if (key->pub.kind != KG_YAML_SCALAR)
		return error_at(p, key->pub.line, key->pub.column,
				"a key must be a word, not a list or a mapping");
	if (!key->pub.quoted && strcmp(key->pub.text, "<<") == 0)
		return error_at(p, key->pub.line, key->pub.column,
				"merge keys ('<<') are not supported: write the keys out");
	*ret_key = key;
	return 0;
}

static int read_pairs(struct parser *p, struct opened *o, struct node_list *keys,
		      struct node_list *values)
{
	struct node *key = NULL, *value = NULL;
	int rc;

	for (;;) {
		rc = next_event(p);
		if (rc < 0)
			return rc;
		if (p->event.type == YAML_MAPPING_END_EVENT)
			break;
		rc = read_key(p, o, &key);
		if (rc == 0)
			rc = next_event(p);
		if (rc == 0)
			rc = read_node(p, o->depth + 1, &value);
		if (rc == 0)
			rc = list_add(p, keys, &key->pub);
		if (rc == 0)
			rc = list_add(p, values, &value->pub);
		if (rc < 0)
			return rc;
		adopt(o->node, key);
		adopt(o->node, value);
	}
	o->node->pub.n = keys->n;
	rc = list_finish(p, keys, &o->node->pub.keys);
	if (rc == 0)
		rc = list_finish(p, values, &o->node->pub.items);
	return rc < 0 ? rc : refuse_duplicates(p, keys);
}

static int read_collection(struct parser *p, unsigned depth, struct node **ret_node)
{
	bool map = p->event.type == YAML_MAPPING_START_EVENT;
	const yaml_char_t *name =
		map ? p->event.data.mapping_start.anchor : p->event.data.sequence_start.anchor;
	const yaml_char_t *tag =
		map ? p->event.data.mapping_start.tag : p->event.data.sequence_start.tag;
	struct node_list first = {0}, second = {0};
	struct opened o = {.depth = depth};
	int rc;

	if (tag)
		return event_error(p, "tags ('!...') are not supported");
	rc = new_node(p, map ? KG_YAML_MAP : KG_YAML_SEQ, &o.node);
	if (rc == 0)
		rc = add_anchor(p, name, o.node, &o.anchor);
	if (rc < 0)
		return rc;
	rc = map ? read_pairs(p, &o, &first, &second) : read_items(p, &o, &first);
	free(first.items);
	free(second.items);
	if (rc < 0)
		return rc;
	if (o.anchor)
		o.anchor->open = false;
	*ret_node = o.node;
	return 0;
}

static int read_scalar(struct parser *p, struct node **ret_node)
{
	const char *value = (const char *)p->event.data.scalar.value;
	size_t len = p->event.data.scalar.length;
	struct anchor *anchor;
	struct node *n;
	int rc;

	if (p->event.data.scalar.tag)
		return event_error(p, "tags ('!...') are not supported");
	if (memchr(value, '\0', len))
		return event_error(p, "text must not contain NUL bytes");
	rc = new_node(p, KG_YAML_SCALAR, &n);
	if (rc == 0)
		rc = add_anchor(p, p->event.data.scalar.anchor, n, &anchor);
	if (rc < 0)
		return rc;
	if (anchor)
		anchor->open = false;
	n->pub.text = kg_arena_text(p->arena, value, len);
	if (!n->pub.text)
		return out_of_memory(p);
	n->pub.quoted = p->event.data.scalar.style != YAML_PLAIN_SCALAR_STYLE;
	*ret_node = n;
	return 0;
}

/* An alias is the same node again: nobody changes nodes, so sharing is safe, and only the count
 * and the depth have to be checked as if it were a copy. */
static int read_alias(struct parser *p, unsigned depth, struct node **ret_node)
{
	const char *name = (const char *)p->event.data.alias.anchor;
	struct anchor *a = find_anchor(p, name);
	const yaml_mark_t *m = &p->event.start_mark;

	if (!a)
		return error_at(p, to_place(m->line), to_place(m->column),
				"alias '*%.64s' has no anchor '&%.64s' before it", name, name);
	if (a->open)
		return error_at(p, to_place(m->line), to_place(m->column),
				"alias '*%.64s' stands inside of its own anchor", name);
	if (depth + a->node->height - 1 > KG_YAML_MAX_DEPTH)
		return event_error(p, "nested too deeply: at most 32 levels");
	*ret_node = a->node;
	return count_nodes(p, a->node->weight);
}

/* Reads the node that the current event begins. */
static int read_node(struct parser *p, unsigned depth, struct node **ret_node)
{
	if (depth > KG_YAML_MAX_DEPTH)
		return event_error(p, "nested too deeply: at most 32 levels");
	switch (p->event.type) {
	case YAML_SCALAR_EVENT:
		return read_scalar(p, ret_node);
	case YAML_ALIAS_EVENT:
		return read_alias(p, depth, ret_node);
	case YAML_SEQUENCE_START_EVENT:
	case YAML_MAPPING_START_EVENT:
		return read_collection(p, depth, ret_node);
	default:
		return event_error(p, "cannot be parsed");
	}
}

static int read_document(struct parser *p)
{
	struct node *root;
	int rc;

	rc = next_event(p); /* stream start */
	if (rc == 0)
		rc = next_event(p);
	if (rc < 0)
		return rc;
	if (p->event.type == YAML_STREAM_END_EVENT)
		return error_at(p, 1, 1, "file is empty");
	rc = next_event(p); /* behind document start */
	if (rc == 0)
		rc = read_node(p, 1, &root);
	if (rc == 0 && root->pub.kind == KG_YAML_SCALAR && !root->pub.quoted && !root->pub.text[0])
		rc = error_at(p, root->pub.line, root->pub.column, "file is empty");
	if (rc == 0)
		rc = next_event(p); /* document end */
	if (rc == 0)
		rc = next_event(p);
	if (rc < 0)
		return rc;
	if (p->event.type != YAML_STREAM_END_EVENT)
		return event_error(p, "more than one document in the file");
	p->doc->root = &root->pub;
	return 0;
}

/* What libyaml accepts and we do not, or what it reports without a place. */
static int check_bytes(const struct parser *p)
{
	unsigned line, column;
	const char *nul;
	size_t at = 0, n;

	if (p->len > KG_YAML_MAX_BYTES)
		return kg_err_set(p->err, KG_EINVALID, "%s: too large: %zu bytes, at most %d",
				  p->doc->name, p->len, KG_YAML_MAX_BYTES);
	nul = memchr(p->text, '\0', p->len);
	if (nul) {
		place_of(p, (size_t)(nul - p->text), &line, &column);
		return error_at(p, line, column, "NUL byte: not a text file");
	}
	if (kg_utf8_valid(p->text, p->len))
		return 0;
	while (at < p->len) { /* to the first bad character */
		for (n = 1; n <= 4 && n <= p->len - at; n++)
			if (kg_utf8_valid(p->text + at, n))
				break;
		if (n > 4 || n > p->len - at)
			break;
		at += n;
	}
	place_of(p, at, &line, &column);
	return error_at(p, line, column, "not valid UTF-8 (byte 0x%02x)",
			at < p->len ? (unsigned char)p->text[at] : 0);
}

static struct kg_yaml_doc *doc_new(const char *name)
{
	struct kg_yaml_doc *doc = calloc(1, sizeof(*doc));
	struct kg_arena *arena = calloc(1, sizeof(*arena));

	if (!doc || !arena) {
		free(doc);
		free(arena);
		return NULL;
	}
	/* Nodes, keys and texts of the largest accepted file stay far below. */
	kg_arena_init(arena, 64 * 1024 * 1024);
	doc->memory = arena;
	doc->name = strdup(name);
	if (!doc->name) {
		kg_yaml_free(doc);
		return NULL;
	}
	return doc;
}

int kg_yaml_parse(const char *name, const char *text, size_t len, struct kg_yaml_doc **ret_doc,
		  struct kg_err *err)
{
	struct parser p = {.text = text, .len = len, .err = err};
	int rc;

	p.doc = doc_new(name);
	if (!p.doc)
		return kg_err_set(err, -ENOMEM, "%s: out of memory", name);
	p.arena = p.doc->memory;
	rc = check_bytes(&p);
	if (rc < 0)
		goto free_doc;
	if (!yaml_parser_initialize(&p.yaml)) {
		rc = out_of_memory(&p);
		goto free_doc;
	}
	yaml_parser_set_encoding(&p.yaml, YAML_UTF8_ENCODING);
	if (len >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0) { /* as some editors write */
		text += 3;
		len -= 3;
	}
	yaml_parser_set_input_string(&p.yaml, (const unsigned char *)text, len);
	rc = read_document(&p);
	if (p.has_event)
		yaml_event_delete(&p.event);
	yaml_parser_delete(&p.yaml);
	if (rc < 0)
		goto free_doc;
	*ret_doc = p.doc;
	return 0;

free_doc:
	kg_yaml_free(p.doc);
	return rc;
}

int kg_yaml_parse_file(const char *path, struct kg_yaml_doc **ret_doc, struct kg_err *err)
{
	char *text;
	size_t len;
	int rc = kg_file_read(path, KG_YAML_MAX_BYTES, &text, &len, err);

	if (rc == KG_ELIMIT)
		return kg_err_set(err, KG_EINVALID, "%s: too large: at most %d bytes", path,
				  KG_YAML_MAX_BYTES);
	if (rc < 0)
		return rc;
	rc = kg_yaml_parse(path, text, len, ret_doc, err);
	free(text);
	return rc;
}

void kg_yaml_free(struct kg_yaml_doc *doc)
{
	if (!doc)
		return;
	kg_arena_deinit(doc->memory);
	free(doc->memory);
	free(doc->name);
	free(doc);
}

struct kg_yaml_node *kg_yaml_get(const struct kg_yaml_node *map, const char *key)
{
	size_t i;

	if (map->kind != KG_YAML_MAP)
		return NULL;
	for (i = 0; i < map->n; i++)
		if (strcmp(map->keys[i]->text, key) == 0)
			return map->items[i];
	return NULL;
}

int kg_yaml_error(const struct kg_yaml_doc *doc, const struct kg_yaml_node *node,
		  struct kg_err *err, const char *fmt, ...)
{
	char text[KG_ERR_TEXT_MAX];
	va_list ap;

	va_start(ap, fmt);
	(void)vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	return kg_err_set(err, KG_EINVALID, "%s:%u:%u: %s", node->file ? node->file : doc->name,
			  node->line, node->column, text);
}
