/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tests/lib/cmocka_all.h"

#include <errno.h>

#include "common/yaml.h"
#include "tests/lib/alloc_fault.h"

struct inner {
	int64_t level;
	char *note;
};

struct config {
	char *text;
	char *name;
	int64_t count;
	double ratio;
	bool on;
	uint64_t size;
	uint64_t wait_ns;
	int colour;
	struct kg_texts tags;
	struct inner inner;
	const struct kg_yaml_node *raw;
};

static const char *const colours[] = {"red", "green", "blue", NULL};

static const struct kg_field inner_fields[] = {
	{.key = "level",
	 .type = KG_FIELD_INT,
	 .offset = offsetof(struct inner, level),
	 .preset = "3",
	 .help = "How deep"},
	{.key = "note",
	 .type = KG_FIELD_TEXT,
	 .offset = offsetof(struct inner, note),
	 .preset = "none",
	 .help = "A note"},
	{0},
};

static const struct kg_field fields[] = {
	{.key = "text",
	 .type = KG_FIELD_TEXT,
	 .offset = offsetof(struct config, text),
	 .help = "Any text"},
	{.key = "name",
	 .type = KG_FIELD_NAME,
	 .offset = offsetof(struct config, name),
	 .required = true,
	 .help = "A name"},
	{.key = "count",
	 .type = KG_FIELD_INT,
	 .offset = offsetof(struct config, count),
	 .min = 1,
	 .max = 5,
	 .preset = "2",
	 .help = "How many"},
	{.key = "ratio",
	 .type = KG_FIELD_DOUBLE,
	 .offset = offsetof(struct config, ratio),
	 .min = 0,
	 .max = 1},
	{.key = "on",
	 .type = KG_FIELD_BOOL,
	 .offset = offsetof(struct config, on),
	 .preset = "yes"},
	{.key = "size",
	 .type = KG_FIELD_BYTES,
	 .offset = offsetof(struct config, size),
	 .min = 1024,
	 .max = 1024 * 1024},
	{.key = "wait",
	 .type = KG_FIELD_DURATION,
	 .offset = offsetof(struct config, wait_ns),
	 .min = 1,
	 .max = 3600,
	 .preset = "10s"},
	{.key = "colour",
	 .type = KG_FIELD_CHOICE,
	 .offset = offsetof(struct config, colour),
	 .choices = colours,
	 .preset = "green"},
	{.key = "tags",
	 .type = KG_FIELD_TEXTS,
	 .offset = offsetof(struct config, tags),
	 .preset = "[p, q]"},
	{.key = "inner",
	 .type = KG_FIELD_MAP,
	 .offset = offsetof(struct config, inner),
	 .sub = inner_fields,
	 .help = "Inside"},
	{.key = "raw", .type = KG_FIELD_NODE, .offset = offsetof(struct config, raw)},
	{0},
};

static int read_text(const char *text, struct config *c, struct kg_err *err)
{
	static struct kg_yaml_doc *doc; /* kept for raw */
	int rc;

	kg_yaml_free(doc);
	doc = NULL;
	memset(c, 0, sizeof(*c));
	if (!text)
		return 0;
	rc = kg_yaml_parse("f", text, strlen(text), &doc, err);
	return rc < 0 ? rc : kg_yaml_read(doc, doc->root, fields, c, err);
}

static void check_refused(const char *text, const char *complaint)
{
	static const struct config zero;
	struct kg_err err = {{0}};
	struct config c;

	if (read_text(text, &c, &err) != KG_EINVALID)
		fail_msg("accepted, expected '%s'", complaint);
	assert_string_equal(err.text, complaint);
	assert_memory_equal(&c, &zero, sizeof(c));
}

static void test_every_type_is_read(void **state)
{
	struct kg_err err;
	struct config c;

	(void)state;
	assert_int_equal(
		read_text("text: '12'\nname: n\ncount: 5\nratio: 0.5\non: off\nsize: 64KiB\n"
			  "wait: 5m\ncolour: blue\ntags: [a, 1]\ninner: {level: -7}\n"
			  "raw: [x]\n",
			  &c, &err),
		0);
	assert_string_equal(c.text, "12");
	assert_string_equal(c.name, "n");
	assert_int_equal(c.count, 5);
	assert_true(c.ratio == 0.5);
	assert_false(c.on);
	assert_int_equal(c.size, 65536);
	assert_int_equal(c.wait_ns, 300000000000ULL);
	assert_int_equal(c.colour, 2);
	assert_int_equal(c.tags.n, 2);
	assert_string_equal(c.tags.items[1], "1");
	assert_null(c.tags.items[2]);
	assert_int_equal(c.inner.level, -7);
	assert_string_equal(c.inner.note, "none");
	assert_int_equal(c.raw->kind, KG_YAML_SEQ);
	kg_yaml_release(fields, &c);
	assert_null(c.name);
	kg_yaml_release(fields, &c); /* of what is zero already */
}

static void test_presets_stand_for_what_is_absent(void **state)
{
	struct kg_err err;
	struct config c;

	(void)state;
	assert_int_equal(read_text("name: n\n", &c, &err), 0);
	assert_null(c.text);
	assert_int_equal(c.count, 2);
	assert_true(c.on);
	assert_int_equal(c.size, 0);
	assert_int_equal(c.wait_ns, 10000000000ULL);
	assert_int_equal(c.colour, 1);
	assert_int_equal(c.tags.n, 2);
	assert_int_equal(c.inner.level, 3);
	assert_string_equal(c.inner.note, "none");
	kg_yaml_release(fields, &c);
}

static void test_one_scalar_is_a_list_of_one(void **state)
{
	struct kg_err err;
	struct config c;

	(void)state;
	assert_int_equal(read_text("name: n\ntags: solo\n", &c, &err), 0);
	assert_int_equal(c.tags.n, 1);
	assert_string_equal(c.tags.items[0], "solo");
	kg_yaml_release(fields, &c);
	assert_int_equal(read_text("name: n\ntags: []\n", &c, &err), 0);
	assert_int_equal(c.tags.n, 0);
	kg_yaml_release(fields, &c);
}

static void test_unknown_key_gets_a_suggestion_or_the_list(void **state)
{
	(void)state;
	check_refused("name: n\ncuont: 1\n", "f:2:1: unknown key 'cuont'; did you mean 'count'?");
	check_refused(
		"name: n\nbudget: 1\n",
		"f:2:1: unknown key 'budget'; known keys: text, name, count, ratio, on, size, "
		"wait, colour, tags, inner, raw");
	check_refused("name: n\ninner: {levle: 1}\n",
		      "f:2:9: unknown key 'levle'; did you mean 'level'?");
}

static void test_missing_key_says_what_it_is_for(void **state)
{
	(void)state;
	check_refused("count: 1\n", "f:1:1: missing key 'name': A name");
	check_refused("[1]\n", "f:1:1: expected a mapping (key: value), not a list");
	check_refused("word\n", "f:1:1: expected a mapping (key: value), not a single value");
}

static void test_wrong_types_say_what_would_be_right(void **state)
{
	(void)state;
	check_refused("name: a b\n",
		      "f:1:7: 'name': expected a name of 1 to 63 letters, digits and "
		      "._+- (not first . or -), not 'a b'");
	check_refused("name:\n",
		      "f:1:6: 'name': expected a name of 1 to 63 letters, digits and ._+- "
		      "(not first . or -), not nothing");
	check_refused("name: n\ntext: [a]\n", "f:2:7: 'text': expected text, not a list");
	check_refused("name: n\ntext: null\n", "f:2:7: 'text': expected text, not 'null'");
	check_refused("name: n\ncount: 6\n",
		      "f:2:8: 'count': expected a whole number from 1 to 5, not '6'");
	check_refused("name: n\ncount: '3'\n",
		      "f:2:8: 'count': expected a whole number from 1 to 5, not '3' in quotes");
	check_refused("name: n\ncount: 1.5\n",
		      "f:2:8: 'count': expected a whole number from 1 to 5, not '1.5'");
	check_refused("name: n\nratio: 1.5\n",
		      "f:2:8: 'ratio': expected a number from 0 to 1, not '1.5'");
	check_refused("name: n\nratio: .nan\n",
		      "f:2:8: 'ratio': expected a number from 0 to 1, not '.nan'");
	check_refused("name: n\non: maybe\n", "f:2:5: 'on': expected true or false, not 'maybe'");
	check_refused("name: n\non: 'yes'\n",
		      "f:2:5: 'on': expected true or false, not 'yes' in quotes");
	check_refused("name: n\nsize: 2MiB\n",
		      "f:2:7: 'size': expected a size such as 64KiB from 1KiB to 1MiB, not '2MiB'");
	check_refused("name: n\nsize: 2KB\n",
		      "f:2:7: 'size': expected a size such as 64KiB from 1KiB to 1MiB, not '2KB'; "
		      "'kB' is 1000 bytes, 'KiB' is 1024");
	check_refused("name: n\nwait: 2h\n",
		      "f:2:7: 'wait': expected a duration such as 10s, 5m or "
		      "4h from 1s to 1h, not '2h'");
	check_refused("name: n\ncolour: gren\n",
		      "f:2:9: 'colour': expected one of red, green, blue, "
		      "not 'gren'; did you mean 'green'?");
	check_refused("name: n\ntags: {a: b}\n",
		      "f:2:7: 'tags': expected a list of texts, not a mapping");
	check_refused("name: n\ntags: [a, [b]]\n",
		      "f:2:11: 'tags': expected text in the list, not a list");
	check_refused("name: n\ntags: [a, ~]\n",
		      "f:2:11: 'tags': expected text in the list, not nothing");
	check_refused("name: n\ninner: 3\n",
		      "f:2:8: 'inner': expected a mapping (key: value), not '3'");
}

static void test_manual_describes_every_key(void **state)
{
	struct kg_str s = {0};
	const struct kg_field *f;

	(void)state;
	kg_yaml_manual(fields, "", &s);
	assert_false(s.failed);
	for (f = fields; f->key; f++)
		assert_contains(kg_str_text(&s), f->key);
	assert_contains(kg_str_text(&s), ".TP\n\\fBcount\\fR\n\\&How many.\n");
	assert_contains(kg_str_text(&s), "Expected: a whole number from 1 to 5.\nDefault: 2.\n");
	assert_contains(kg_str_text(&s), "\\fBinner.level\\fR");
	assert_contains(kg_str_text(&s), "Required.\n");
	kg_str_deinit(&s);
}

static void test_out_of_memory_leaks_nothing(void **state)
{
	static const char text[] = "name: n\ntags: [a, b]\ninner: {note: x}\n";
	static const struct config zero;
	struct kg_yaml_doc *doc;
	struct kg_err err;
	struct config c;
	unsigned n;
	int rc;

	(void)state;
	assert_int_equal(kg_yaml_parse("f", text, sizeof(text) - 1, &doc, &err), 0);
	for (n = 1;; n++) {
		memset(&c, 0, sizeof(c));
		alloc_fault_arm(n);
		rc = kg_yaml_read(doc, doc->root, fields, &c, &err);
		if (!alloc_fault_disarm())
			break;
		assert_int_equal(rc, -ENOMEM);
		assert_memory_equal(&c, &zero, sizeof(c));
	}
	assert_true(n > 5);
	assert_int_equal(rc, 0);
	kg_yaml_release(fields, &c);
	kg_yaml_free(doc);
}

static int forget(void **state)
{
	struct config c;

	(void)state;
	return read_text(NULL, &c, NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_type_is_read),
		cmocka_unit_test(test_presets_stand_for_what_is_absent),
		cmocka_unit_test(test_one_scalar_is_a_list_of_one),
		cmocka_unit_test(test_unknown_key_gets_a_suggestion_or_the_list),
		cmocka_unit_test(test_missing_key_says_what_it_is_for),
		cmocka_unit_test(test_wrong_types_say_what_would_be_right),
		cmocka_unit_test(test_manual_describes_every_key),
		cmocka_unit_test(test_out_of_memory_leaks_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, forget);
}
