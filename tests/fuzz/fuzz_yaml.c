/* SPDX-License-Identifier: GPL-2.0-or-later */
/* YAML: every node is visited, then the document is read through a table of all field types. */
#include <errno.h>
#include <string.h>

#include "common/yaml.h"
#include "tests/fuzz/fuzz.h"

struct inner {
	int64_t number;
	char *text;
};

struct all {
	char *text, *name;
	int64_t number;
	double ratio;
	bool on;
	uint64_t bytes, ns;
	int choice;
	struct kg_texts texts;
	struct inner inner;
	const struct kg_yaml_node *node;
};

static const char *const choices[] = {"one", "two", "three", NULL};

static const struct kg_field inner_fields[] = {
	{.key = "number", .type = KG_FIELD_INT, .offset = offsetof(struct inner, number)},
	{.key = "text", .type = KG_FIELD_TEXT, .offset = offsetof(struct inner, text)},
	{0},
};

static const struct kg_field fields[] = {
	{.key = "text", .type = KG_FIELD_TEXT, .offset = offsetof(struct all, text)},
	{.key = "name", .type = KG_FIELD_NAME, .offset = offsetof(struct all, name)},
	{.key = "number", .type = KG_FIELD_INT, .offset = offsetof(struct all, number), .max = 9},
	{.key = "ratio", .type = KG_FIELD_DOUBLE, .offset = offsetof(struct all, ratio)},
	{.key = "on", .type = KG_FIELD_BOOL, .offset = offsetof(struct all, on)},
	{.key = "bytes", .type = KG_FIELD_BYTES, .offset = offsetof(struct all, bytes)},
	{.key = "wait", .type = KG_FIELD_DURATION, .offset = offsetof(struct all, ns)},
	{.key = "choice",
	 .type = KG_FIELD_CHOICE,
	 .offset = offsetof(struct all, choice),
	 .choices = choices},
	{.key = "texts", .type = KG_FIELD_TEXTS, .offset = offsetof(struct all, texts)},
	{.key = "inner",
	 .type = KG_FIELD_MAP,
	 .offset = offsetof(struct all, inner),
	 .sub = inner_fields},
	{.key = "node", .type = KG_FIELD_NODE, .offset = offsetof(struct all, node)},
	{0},
};

/* Number of nodes below and with `n`, aliases expanded. */
static size_t visit(const struct kg_yaml_node *n, unsigned depth)
{
	size_t i, count = 1;

	must(depth <= KG_YAML_MAX_DEPTH);
	must(n->line > 0 && n->column > 0);
	if (n->kind == KG_YAML_SCALAR) {
		must(kg_utf8_valid(n->text, strlen(n->text)));
		return 1;
	}
	for (i = 0; i < n->n; i++) {
		if (n->kind == KG_YAML_MAP) {
			must(n->keys[i]->kind == KG_YAML_SCALAR);
			count += visit(n->keys[i], depth + 1);
		}
		count += visit(n->items[i], depth + 1);
	}
	return count;
}

static void check_error(int rc, const struct kg_err *err)
{
	must(rc == KG_EINVALID || rc == -ENOMEM);
	must(strncmp(err->text, "f:", 2) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct kg_err err = {{0}};
	struct kg_yaml_doc *doc = NULL;
	static const struct all zero;
	struct all out;
	int rc;

	rc = kg_yaml_parse("f", (const char *)data, size, &doc, &err);
	if (rc < 0) {
		must(!doc);
		check_error(rc, &err);
		return 0;
	}
	must(visit(doc->root, 1) <= KG_YAML_MAX_NODES);
	memset(&out, 0, sizeof(out));
	rc = kg_yaml_read(doc, doc->root, fields, &out, &err);
	if (rc < 0) {
		check_error(rc, &err);
		must(memcmp(&out, &zero, sizeof(out)) == 0);
	}
	kg_yaml_release(fields, &out);
	kg_yaml_free(doc);
	return 0;
}
