/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tests/lib/cmocka_all.h"

#include <errno.h>
#include <stdio.h>
#include <unistd.h>

#include "common/file.h"
#include "common/yaml.h"
#include "tests/lib/alloc_fault.h"

static struct kg_yaml_doc *parsed(const char *text)
{
	struct kg_yaml_doc *doc = NULL;
	struct kg_err err;

	if (kg_yaml_parse("f", text, strlen(text), &doc, &err) < 0)
		fail_msg("refused: %s", err.text);
	return doc;
}

static void check_refused_bytes(const char *text, size_t len, const char *complaint)
{
	struct kg_yaml_doc *doc = NULL;
	struct kg_err err = {{0}};

	if (kg_yaml_parse("f", text, len, &doc, &err) != KG_EINVALID)
		fail_msg("accepted, expected '%s'", complaint);
	assert_null(doc);
	assert_contains(err.text, complaint);
}

static void check_refused(const char *text, const char *complaint)
{
	check_refused_bytes(text, strlen(text), complaint);
}

static void test_nodes_have_kind_text_and_place(void **state)
{
	struct kg_yaml_doc *doc = parsed("a: 1\nb:\n  - x\n  - \"y\"\nc: {d: e}\n");
	const struct kg_yaml_node *b;

	(void)state;
	assert_int_equal(doc->root->kind, KG_YAML_MAP);
	assert_int_equal(doc->root->n, 3);
	assert_string_equal(kg_yaml_get(doc->root, "a")->text, "1");
	assert_null(kg_yaml_get(doc->root, "d"));
	b = kg_yaml_get(doc->root, "b");
	assert_int_equal(b->kind, KG_YAML_SEQ);
	assert_int_equal(b->n, 2);
	assert_int_equal(b->items[0]->line, 3);
	assert_int_equal(b->items[0]->column, 5);
	assert_false(b->items[0]->quoted);
	assert_true(b->items[1]->quoted);
	assert_null(kg_yaml_get(b, "x"));
	assert_string_equal(kg_yaml_get(kg_yaml_get(doc->root, "c"), "d")->text, "e");
	kg_yaml_free(doc);
}

static void test_block_text_counts_as_quoted(void **state)
{
	struct kg_yaml_doc *doc = parsed("a: |\n  12\n");

	(void)state;
	assert_true(kg_yaml_get(doc->root, "a")->quoted);
	assert_string_equal(kg_yaml_get(doc->root, "a")->text, "12\n");
	kg_yaml_free(doc);
}

static void test_columns_count_characters_not_bytes(void **state)
{
	(void)state;
	check_refused("{\xc3\xa4: 1, \xc3\xa4: 2}\n", "f:1:8: duplicate key");
}

static void test_aliases_are_expanded(void **state)
{
	struct kg_yaml_doc *doc = parsed("a: &x [1, 2]\nb: *x\nc: &x 3\nd: *x\n");

	(void)state;
	assert_int_equal(kg_yaml_get(doc->root, "b")->n, 2);
	assert_string_equal(kg_yaml_get(doc->root, "d")->text, "3");
	kg_yaml_free(doc);
}

static void test_alias_errors(void **state)
{
	(void)state;
	check_refused("a: *nope\n", "f:1:4: alias '*nope' has no anchor '&nope' before it");
	check_refused("a: &x\n  b: *x\n", "f:2:6: alias '*x' stands inside of its own anchor");
	check_refused("&x [*x]\n", "inside of its own anchor");
}

static void test_alias_bomb_is_refused(void **state)
{
	struct kg_str s = {0};
	int i;

	(void)state;
	kg_str_add(&s, "a0: &a0 [x, x, x, x, x, x, x, x, x]\n");
	for (i = 1; i < 10; i++)
		kg_str_addf(&s, "a%d: &a%d [*a%d, *a%d, *a%d, *a%d, *a%d, *a%d, *a%d, *a%d]\n", i,
			    i, i - 1, i - 1, i - 1, i - 1, i - 1, i - 1, i - 1, i - 1);
	check_refused(kg_str_text(&s), "too many values");
	kg_str_deinit(&s);
}

static void test_depth_is_limited_also_through_aliases(void **state)
{
	char text[256];
	struct kg_yaml_doc *doc;

	(void)state;
	memset(text, '[', 100);
	text[100] = '\0';
	check_refused(text, "nested too deeply");
	memset(text, '[', 31);
	text[31] = 'x';
	memset(text + 32, ']', 31);
	text[63] = '\0';
	doc = parsed(text);
	kg_yaml_free(doc);
	check_refused("- &a [[[[[[[[[[x]]]]]]]]]]\n- &b [[[[[[[[[[*a]]]]]]]]]]\n- "
		      "[[[[[[[[[[[*b]]]]]]]]]]]\n",
		      "f:3:14: nested too deeply");
}

static void test_a_byte_order_mark_is_skipped(void **state)
{
	struct kg_yaml_doc *doc = parsed("\xef\xbb\xbf"
					 "a: 1\nb: 2\n");

	(void)state;
	kg_yaml_free(doc);
	check_refused("\xef\xbb\xbf", "f:1:1: file is empty");
}

static void test_too_many_nodes_are_refused(void **state)
{
	struct kg_str s = {0};
	int i;

	(void)state;
	for (i = 0; i < KG_YAML_MAX_NODES; i++)
		kg_str_add(&s, "- x\n");
	check_refused(kg_str_text(&s), "f:100000:3: too many values: at most 100000");
	kg_str_deinit(&s);
}

static void test_what_we_do_not_take_is_refused_with_a_place(void **state)
{
	(void)state;
	check_refused("", "f:1:1: file is empty");
	check_refused("# only a comment\n", "f:1:1: file is empty");
	check_refused("---\n", "file is empty");
	check_refused("a: 1\n---\nb: 2\n", "f:2:1: more than one document");
	check_refused("a: !!str 1\n", "f:1:4: tags");
	check_refused("a: !x {}\n", "f:1:4: tags");
	check_refused("a: 1\nb: 2\na: 3\n", "f:3:1: duplicate key 'a', first in line 1");
	check_refused("[1]: 2\n", "f:1:1: a key must be a word");
	check_refused("x: &a {}\n<<: *a\n", "f:2:1: merge keys");
	check_refused("a: \"x\\0y\"\n", "f:1:4: text must not contain NUL");
	check_refused("a: [1, 2\n", "f:2:1: ");
	check_refused("a: 1\n\tb: 2\n", "tab in the indentation");
	check_refused("a: b: c\n", "f:1:5: mapping values are not allowed");
	check_refused("a: \x01\n", "f:1:4: control characters");
}

static void test_bytes_that_are_no_text_are_refused_with_a_place(void **state)
{
	(void)state;
	check_refused_bytes("a: 1\nb\0: 2\n", 11, "f:2:2: NUL byte");
	check_refused("a: 1\nb: \xc3\xa4\xff\n", "f:2:5: not valid UTF-8 (byte 0xff)");
	check_refused("a: \xe2\x82", "f:1:4: not valid UTF-8 (byte 0xe2)");
	check_refused_bytes("\xff\xfe"
			    "a\0",
			    4, "f:1:4: NUL byte");
}

static void test_file_over_the_limit_is_refused(void **state)
{
	size_t len = KG_YAML_MAX_BYTES + 1;
	char *text = malloc(len);

	(void)state;
	assert_non_null(text);
	memset(text, '#', len);
	check_refused_bytes(text, len, "too large");
	free(text);
}

static void test_byte_order_mark_is_fine(void **state)
{
	struct kg_yaml_doc *doc = parsed("\xef\xbb\xbf"
					 "a: 1\n");

	(void)state;
	assert_string_equal(kg_yaml_get(doc->root, "a")->text, "1");
	kg_yaml_free(doc);
}

static void test_parse_file_names_the_file(void **state)
{
	char path[] = "/tmp/kgrid-test-XXXXXX";
	struct kg_yaml_doc *doc;
	struct kg_err err;
	int fd = mkstemp(path);

	(void)state;
	assert_true(fd >= 0);
	assert_int_equal(kg_write_all(fd, "a: [\n", 5), 0);
	close(fd);
	assert_int_equal(kg_yaml_parse_file(path, &doc, &err), KG_EINVALID);
	assert_int_equal(strncmp(err.text, path, strlen(path)), 0);
	assert_int_equal(truncate(path, KG_YAML_MAX_BYTES + 1), 0);
	assert_int_equal(kg_yaml_parse_file(path, &doc, &err), KG_EINVALID);
	assert_contains(err.text, ": too large: at most 1048576 bytes");
	unlink(path);
	assert_int_equal(kg_yaml_parse_file(path, &doc, &err), -ENOENT);
}

static void test_out_of_memory_leaks_nothing(void **state)
{
	static const char text[] = "a: &x [1, 2, {b: c}]\nd: *x\ne: {f: g, h: i}\n";
	struct kg_yaml_doc *doc;
	struct kg_err err;
	unsigned n;
	int rc;

	(void)state;
	for (n = 1;; n++) {
		alloc_fault_arm(n);
		rc = kg_yaml_parse("f", text, sizeof(text) - 1, &doc, &err);
		if (!alloc_fault_disarm())
			break;
		assert_int_equal(rc, -ENOMEM);
	}
	assert_true(n > 5);
	assert_int_equal(rc, 0);
	kg_yaml_free(doc);
	kg_yaml_free(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_nodes_have_kind_text_and_place),
		cmocka_unit_test(test_block_text_counts_as_quoted),
		cmocka_unit_test(test_columns_count_characters_not_bytes),
		cmocka_unit_test(test_aliases_are_expanded),
		cmocka_unit_test(test_alias_errors),
		cmocka_unit_test(test_alias_bomb_is_refused),
		cmocka_unit_test(test_depth_is_limited_also_through_aliases),
		cmocka_unit_test(test_a_byte_order_mark_is_skipped),
		cmocka_unit_test(test_too_many_nodes_are_refused),
		cmocka_unit_test(test_what_we_do_not_take_is_refused_with_a_place),
		cmocka_unit_test(test_bytes_that_are_no_text_are_refused_with_a_place),
		cmocka_unit_test(test_file_over_the_limit_is_refused),
		cmocka_unit_test(test_byte_order_mark_is_fine),
		cmocka_unit_test(test_parse_file_names_the_file),
		cmocka_unit_test(test_out_of_memory_leaks_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
