/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "cli/pack/modinfo.h"

#define NAME_SIZE 64 /* of a module, MODULE_NAME_LEN is 56 */
#define NONE	  UINT32_MAX

struct node {
	const struct pack_module *module;
	char name[NAME_SIZE];
	uint32_t order;	   /* line in modules.order, NONE behind all */
	uint32_t position; /* users before what they use */
	uint32_t users;
	uint32_t *uses; /* owned, indexes of nodes */
	size_t n_uses;
	uint32_t mark; /* last module that was found to need this one */
};

struct graph {
	struct node *nodes; /* in the order of the lines */
	size_t n;
	struct node **by_name;
	size_t n_names;
};

static void graph_deinit(struct graph *g)
{
	size_t i;

	for (i = 0; i < g->n; i++)
		free(g->nodes[i].uses);
	free(g->nodes);
	free(g->by_name);
}

/* The module's name in a path or a list: up to the first dot, '-' is '_'. */
static void module_name(const char *path, size_t len, char ret_name[NAME_SIZE])
{
	size_t i, n = 0;

	for (i = 0; i < len; i++)
		if (path[i] == '/')
			n = i + 1;
	path += n;
	len -= n;
	for (i = 0; i < len && i < NAME_SIZE - 1 && path[i] != '.'; i++)
		ret_name[i] = path[i] == '-' ? '_' : path[i];
	ret_name[i] = '\0';
}

/* Length of a path without .ko and what follows. */
static size_t stem(const char *path, size_t len)
{
	size_t i;

	for (i = len; i >= 3; i--)
		if (memcmp(path + i - 3, ".ko", 3) == 0 && (i == len || path[i] == '.'))
			return i - 3;
	return len;
}

/* ---- order of the lines ---- */

struct line {
	const char *text;
	size_t len;
	uint32_t number;
};

static int compare_stems(const char *a, size_t a_len, const char *b, size_t b_len)
{
	int order = memcmp(a, b, a_len < b_len ? a_len : b_len);

	return order ? order : (a_len > b_len) - (a_len < b_len);
}

static int by_stem(const void *a, const void *b)
{
	const struct line *x = a, *y = b;
	int order = compare_stems(x->text, x->len, y->text, y->len);

	return order ? order : (x->number > y->number) - (x->number < y->number);
}

static int by_order(const void *a, const void *b)
{
	const struct node *x = a, *y = b;

	if (x->order != y->order)
		return x->order < y->order ? -1 : 1;
	return strcmp(x->module->path, y->module->path);
}

/* The lines of modules.order, without .ko, sorted. Owned. */
static struct line *order_lines(const char *text, size_t *ret_n)
{
	size_t n = 0, cap = 1;
	struct line *lines;
	const char *p;

	for (p = text; *p; p++)
		cap += *p == '\n';
	lines = calloc(cap, sizeof(*lines));
	for (p = text; lines && *p;) {
		size_t len = strcspn(p, "\n");

		lines[n].text = p;
		lines[n].len = stem(p, len);
		lines[n].number = (uint32_t)n;
		n++;
		p += len;
		p += *p == '\n';
	}
	if (lines)
		qsort(lines, n, sizeof(*lines), by_stem);
	*ret_n = n;
	return lines;
}

static int sort_nodes(struct graph *g, const char *order_text)
{
	struct line *lines;
	size_t n, i;

	lines = order_lines(order_text, &n);
	if (!lines)
		return -ENOMEM;
	for (i = 0; i < g->n; i++) {
		const char *path = g->nodes[i].module->path;
		size_t len = stem(path, strlen(path));
		size_t lo = 0, hi = n;

		while (lo < hi) {
			size_t mid = lo + (hi - lo) / 2;

			if (compare_stems(lines[mid].text, lines[mid].len, path, len) < 0)
				lo = mid + 1;
			else
				hi = mid;
		}
		g->nodes[i].order = NONE;
		if (lo < n && compare_stems(lines[lo].text, lines[lo].len, path, len) == 0)
			g->nodes[i].order = lines[lo].number;
	}
	free(lines);
	qsort(g->nodes, g->n, sizeof(*g->nodes), by_order);
	return 0;
}

/* ---- who uses whom ---- */

/* Same name: updates/ wins, as for depmod, then what stands first. */
static int by_name(const void *a, const void *b)
{
	const struct node *x = *(const struct node *const *)a;
	const struct node *y = *(const struct node *const *)b;
	int order = strcmp(x->name, y->name);

	if (order)
		return order;
	order = kg_str_starts(y->module->path, "updates/") -
		kg_str_starts(x->module->path, "updates/");
	return order ? order : (x > y) - (x < y);
}

static struct node *find(const struct graph *g, const char *name)
{
	size_t lo = 0, hi = g->n_names;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (strcmp(g->by_name[mid]->name, name) < 0)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo < g->n_names && strcmp(g->by_name[lo]->name, name) == 0 ? g->by_name[lo] : NULL;
}

static bool is_builtin(const char *builtin, const char *name)
{
	char other[NAME_SIZE];

	while (*builtin) {
		size_t len = strcspn(builtin, "\n");

		module_name(builtin, len, other);
		if (strcmp(other, name) == 0)
			return true;
		builtin += len;
		builtin += *builtin == '\n';
	}
	return false;
}

static int graph_init(struct graph *g, const struct pack_depend_input *in)
{
	size_t i;

	g->n = in->n;
	g->nodes = calloc(in->n + 1, sizeof(*g->nodes));
	g->by_name = calloc(in->n + 1, sizeof(struct node *));
	if (!g->nodes || !g->by_name)
		return -ENOMEM;
	for (i = 0; i < g->n; i++) {
		g->nodes[i].module = &in->modules[i];
		g->nodes[i].mark = NONE;
		module_name(in->modules[i].path, strlen(in->modules[i].path), g->nodes[i].name);
	}
	if (sort_nodes(g, in->order) < 0)
		return -ENOMEM;
	for (i = 0; i < g->n; i++)
		g->by_name[i] = &g->nodes[i];
	qsort(g->by_name, g->n, sizeof(struct node *), by_name);
	g->n_names = g->n;
	return 0;
}

static void warn_doubles(const struct graph *g, struct kg_str *warnings)
{
	size_t i;

	for (i = 1; i < g->n_names; i++)
		if (strcmp(g->by_name[i]->name, g->by_name[i - 1]->name) == 0)
			kg_str_addf(warnings, "module '%s' is there twice: '%s' and '%s'\n",
				    g->by_name[i]->name, g->by_name[i - 1]->module->path,
				    g->by_name[i]->module->path);
}

/* Reads a node's "a,b" into its uses. */
static int add_uses(struct graph *g, struct node *node, const char *builtin,
		    struct kg_str *warnings)
{
	const char *p = node->module->depends;
	size_t cap = 1;
	const char *c;

	for (c = p; *c; c++)
		cap += *c == ',';
	node->uses = calloc(cap, sizeof(*node->uses));
	if (!node->uses)
		return -ENOMEM;
	while (*p) {
		size_t len = strcspn(p, ",");
		char name[NAME_SIZE];
		struct node *used;

		module_name(p, len, name);
		p += len;
		p += *p == ',';
		if (!name[0])
			continue;
		used = find(g, name);
		if (used) {
			node->uses[node->n_uses++] = (uint32_t)(used - g->nodes);
			used->users++;
		} else if (!is_builtin(builtin, name)) {
			kg_str_addf(warnings, "module '%s' needs '%s', which is not there\n",
				    node->name, name);
		}
	}
	return 0;
}

/* Positions such that users stand before what they use (Kahn), as depmod numbers them. */
static int place(struct graph *g, uint32_t *stack, struct kg_err *err)
{
	uint32_t position = 0;
	size_t depth = 0, i;

	for (i = 0; i < g->n; i++)
		if (g->nodes[i].users == 0)
			stack[depth++] = (uint32_t)i;
	while (depth > 0) {
		struct node *node = &g->nodes[stack[--depth]];

		node->position = position++;
		for (i = 0; i < node->n_uses; i++)
			if (--g->nodes[node->uses[i]].users == 0)
				stack[depth++] = node->uses[i];
	}
	for (i = 0; i < g->n; i++)
		if (g->nodes[i].users > 0)
			return kg_err_set(err, KG_EINVALID,
					  "module '%s' is part of a circle of modules that need "
					  "each other",
					  g->nodes[i].name);
	return 0;
}

static int by_position(const void *a, const void *b)
{
	const struct node *x = *(const struct node *const *)a;
	const struct node *y = *(const struct node *const *)b;

	return (x->position > y->position) - (x->position < y->position);
}

/* One line; `needed` and `mark` keep track of what was found already. */
static void write_line(struct graph *g, size_t which, const struct node **needed,
		       struct kg_str *out)
{
	const struct node *node = &g->nodes[which];
	size_t n = 0, done, i;

	for (done = 0;; done++) {
		for (i = 0; i < node->n_uses; i++) {
			struct node *used = &g->nodes[node->uses[i]];

			if (used->mark != which) {
				used->mark = (uint32_t)which;
				needed[n++] = used;
			}
		}
		if (done == n)
			break;
		node = needed[done];
	}
	qsort(needed, n, sizeof(*needed), by_position);
	kg_str_addf(out, "%s:", g->nodes[which].module->path);
	for (i = 0; i < n; i++)
		kg_str_addf(out, " %s", needed[i]->module->path);
	kg_str_add(out, "\n");
}

int pack_depend(const struct pack_depend_input *in, struct kg_str *out, struct kg_str *warnings,
		struct kg_err *err)
{
	const struct node **needed = NULL;
	uint32_t *stack = NULL;
	struct graph g = {0};
	size_t i;
	int rc;

	rc = graph_init(&g, in);
	for (i = 0; rc == 0 && i < g.n; i++)
		rc = add_uses(&g, &g.nodes[i], in->builtin, warnings);
	if (rc == 0) {
		warn_doubles(&g, warnings);
		stack = calloc(g.n + 1, sizeof(*stack));
		needed = calloc(g.n + 1, sizeof(*needed));
		rc = stack && needed ? 0 : -ENOMEM;
	}
	if (rc < 0)
		(void)kg_err_set(err, rc, "out of memory");
	else
		rc = place(&g, stack, err);
	for (i = 0; rc == 0 && i < g.n; i++)
		if (find(&g, g.nodes[i].name) == &g.nodes[i])
			write_line(&g, i, needed, out);
	free(stack);
	free(needed);
	graph_deinit(&g);
	if (rc == 0 && (out->failed || warnings->failed))
		rc = kg_err_set(err, -ENOMEM, "out of memory");
	return rc;
}
