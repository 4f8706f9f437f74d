/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tests/lib/cmocka_all.h"

#include <errno.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/file.h"

static char dir[64];

static const char *in_dir(const char *name)
{
	static char path[256];

	(void)snprintf(path, sizeof(path), "%s/%s", dir, name);
	return path;
}

static int make_dir(void **state)
{
	(void)state;
	(void)snprintf(dir, sizeof(dir), "/tmp/kgrid-test-XXXXXX");
	return mkdtemp(dir) ? 0 : -1;
}

static int remove_dir(void **state)
{
	(void)state;
	return kg_remove_tree(dir, NULL);
}

static void test_replace_then_read_gives_the_bytes(void **state)
{
	struct kg_err err;
	struct stat st;
	char *text;
	size_t len;

	(void)state;
	assert_int_equal(kg_file_replace(in_dir("a"), "x\0y", 3, 0600, &err), 0);
	assert_int_equal(kg_file_read(in_dir("a"), 3, &text, &len, &err), 0);
	assert_int_equal(len, 3);
	assert_memory_equal(text, "x\0y", 4);
	free(text);
	assert_int_equal(stat(in_dir("a"), &st), 0);
	assert_int_equal(st.st_mode & 07777, 0600);
}

static void test_read_over_the_limit_is_refused(void **state)
{
	struct kg_err err;
	char *text;
	size_t len;

	(void)state;
	assert_int_equal(kg_file_replace(in_dir("a"), "1234", 4, 0600, &err), 0);
	assert_int_equal(kg_file_read(in_dir("a"), 3, &text, &len, &err), KG_ELIMIT);
	assert_contains(err.text, "larger than 3 bytes");
}

static void test_missing_file_is_named(void **state)
{
	struct kg_err err;
	char *text;
	size_t len;

	(void)state;
	assert_int_equal(kg_file_read(in_dir("no"), 3, &text, &len, &err), -ENOENT);
	assert_contains(err.text, "/no'");
}

static void test_failed_replace_keeps_the_old_file_and_leaves_nothing(void **state)
{
	struct kg_err err;

	(void)state;
	assert_int_equal(kg_file_replace(in_dir("no/such"), "x", 1, 0600, &err), -ENOENT);
	assert_int_equal(kg_mkdir_p(in_dir("d/inside"), 0700, &err), 0);
	assert_true(kg_file_replace(in_dir("d"), "x", 1, 0600, &err) < 0); /* a directory */
	assert_int_equal(access(in_dir("d/inside"), F_OK), 0);
	assert_int_equal(rmdir(in_dir("d/inside")), 0);
	assert_int_equal(rmdir(in_dir("d")), 0);
	assert_int_equal(rmdir(dir), 0); /* no temporary file is left */
	assert_int_equal(mkdir(dir, 0700), 0);
}

static void test_read_line_drops_the_newline(void **state)
{
	struct kg_err err;
	char line[8];

	(void)state;
	assert_int_equal(kg_file_replace(in_dir("l"), "abc\n", 4, 0600, &err), 0);
	assert_int_equal(kg_file_read_line(in_dir("l"), line, sizeof(line), &err), 0);
	assert_string_equal(line, "abc");
	assert_int_equal(kg_file_read_line(in_dir("l"), line, 3, &err), KG_ELIMIT);
	assert_int_equal(kg_file_read_line("/proc/sys/kernel/ostype", line, sizeof(line), &err), 0);
	assert_string_equal(line, "Linux");
}

static void test_mkdir_p_is_fine_twice(void **state)
{
	struct kg_err err;

	(void)state;
	assert_int_equal(kg_mkdir_p(in_dir("x/y/z"), 0700, &err), 0);
	assert_int_equal(kg_mkdir_p(in_dir("x/y/z"), 0700, &err), 0);
	assert_int_equal(kg_mkdir_p("", 0700, &err), KG_EINVALID);
	assert_int_equal(kg_file_replace(in_dir("f"), "", 0, 0600, &err), 0);
	assert_int_equal(kg_mkdir_p(in_dir("f/g"), 0700, &err), -ENOTDIR);
}

static void test_remove_tree_does_not_follow_links(void **state)
{
	struct kg_err err;
	char target[256];

	(void)state;
	assert_int_equal(kg_mkdir_p(in_dir("keep"), 0700, &err), 0);
	(void)snprintf(target, sizeof(target), "%s", in_dir("keep"));
	assert_int_equal(kg_file_replace(in_dir("keep/file"), "x", 1, 0600, &err), 0);
	assert_int_equal(kg_mkdir_p(in_dir("gone/deep"), 0700, &err), 0);
	assert_int_equal(symlink(target, in_dir("gone/link")), 0);
	assert_int_equal(kg_remove_tree(in_dir("gone"), &err), 0);
	assert_int_equal(access(in_dir("gone"), F_OK), -1);
	assert_int_equal(access(in_dir("keep/file"), F_OK), 0);
	assert_int_equal(kg_remove_tree(in_dir("never"), &err), 0);
}

static void test_write_all_reports_a_bad_fd(void **state)
{
	(void)state;
	assert_int_equal(kg_write_all(-1, "x", 1), -EBADF);
	assert_int_equal(kg_write_all(-1, "", 0), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_replace_then_read_gives_the_bytes, make_dir,
						remove_dir),
		cmocka_unit_test_setup_teardown(test_read_over_the_limit_is_refused, make_dir,
						remove_dir),
		cmocka_unit_test_setup_teardown(test_missing_file_is_named, make_dir, remove_dir),
		cmocka_unit_test_setup_teardown(
			test_failed_replace_keeps_the_old_file_and_leaves_nothing, make_dir,
			remove_dir),
		cmocka_unit_test_setup_teardown(test_read_line_drops_the_newline, make_dir,
						remove_dir),
		cmocka_unit_test_setup_teardown(test_mkdir_p_is_fine_twice, make_dir, remove_dir),
		cmocka_unit_test_setup_teardown(test_remove_tree_does_not_follow_links, make_dir,
						remove_dir),
		cmocka_unit_test(test_write_all_reports_a_bad_fd),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
