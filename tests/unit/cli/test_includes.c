/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/includes.h"
#include "common/file.h"
#include "coordinator/plan/job.h"
#include "tests/lib/cmocka_all.h"

static char folder[64];
static struct includes in;
static struct kg_err err;

static void put(const char *name, const char *text, size_t len)
{
	char path[160];
	FILE *f;

	(void)snprintf(path, sizeof(path), "%s/%s", folder, name);
	f = fopen(path, "we");
	assert_non_null(f);
	assert_int_equal(fwrite(text, 1, len, f), len);
	assert_int_equal(fclose(f), 0);
}

static void put_text(const char *name, const char *text)
{
	put(name, text, strlen(text));
}

static int make_folder(void **state)
{
	char path[160];

	(void)state;
	(void)snprintf(folder, sizeof(folder), "/tmp/kgrid-includes-XXXXXX");
	if (!mkdtemp(folder))
		return -1;
	(void)snprintf(path, sizeof(path), "%s/sub", folder);
	return mkdir(path, 0700);
}

static int remove_folder(void **state)
{
	(void)state;
	includes_deinit(&in);
	return kg_remove_tree(folder, &err);
}

/* Reads what the job file at `name` in the folder includes, its text being `text`. */
static int read_job(const char *name, const char *text)
{
	char path[160];

	(void)snprintf(path, sizeof(path), "%s/%s", folder, name);
	includes_deinit(&in);
	err.text[0] = '\0';
	return includes_read(path, text, strlen(text), &in, &err);
}

static void has_file(size_t i, const char *name, const char *text)
{
	char path[160];

	(void)snprintf(path, sizeof(path), "%s/%s", folder, name);
	assert_true(i < in.n);
	assert_string_equal(in.files[i]->name, path);
	assert_string_equal(in.files[i]->text, text);
}

static void test_a_job_without_includes_has_none(void **state)
{
	(void)state;
	assert_int_equal(read_job("job.yaml", "name: x\n"), 0);
	assert_int_equal(in.n, 0);
	assert_int_equal(read_job("job.yaml", "name: {\n"), 0); /* the coordinator's to refuse */
	assert_int_equal(in.n, 0);
}

static void test_files_are_found_from_the_including_files_folder(void **state)
{
	(void)state;
	put_text("sub/a.yaml", "include:\n- b.yaml\n- ../c.yaml\n");
	put_text("sub/b.yaml", "priority: 1\n");
	put_text("c.yaml", "priority: 2\n");
	assert_int_equal(read_job("job.yaml", "name: x\ninclude:\n- sub/a.yaml\n"), 0);
	assert_int_equal(in.n, 3);
	has_file(0, "sub/a.yaml", "include:\n- b.yaml\n- ../c.yaml\n");
	has_file(1, "sub/b.yaml", "priority: 1\n");
	has_file(2, "c.yaml", "priority: 2\n");
}

static void test_a_file_that_two_include_is_sent_once(void **state)
{
	(void)state;
	put_text("a.yaml", "include:\n- common.yaml\n");
	put_text("b.yaml", "include:\n- common.yaml\n");
	put_text("common.yaml", "priority: 1\n");
	assert_int_equal(read_job("job.yaml", "include:\n- a.yaml\n- b.yaml\n- sub/../a.yaml\n"),
			 0);
	assert_int_equal(in.n, 3);
	has_file(1, "common.yaml", "priority: 1\n");
}

static void test_a_missing_file_is_named_with_its_place(void **state)
{
	char wanted[200];

	(void)state;
	put_text("a.yaml", "# text\nname: y\ninclude:\n- gone.yaml\n");
	assert_int_equal(read_job("job.yaml", "include:\n- a.yaml\n"), -ENOENT);
	(void)snprintf(wanted, sizeof(wanted), "%s/a.yaml:4: cannot include 'gone.yaml': ", folder);
	assert_true(kg_str_starts(err.text, wanted));
	assert_contains(err.text, "No such file or directory");
	assert_int_equal(in.n, 0);
}

static void test_a_folder_or_binary_is_no_file_to_include(void **state)
{
	(void)state;
	assert_int_equal(read_job("job.yaml", "include:\n- sub\n"), -EISDIR);
	assert_contains(err.text, "job.yaml:2: cannot include 'sub'");
	put("zero.yaml", "a\0b", 3);
	assert_int_equal(read_job("job.yaml", "include:\n- zero.yaml\n"), KG_EINVALID);
	assert_contains(err.text, "not a text in UTF-8");
	put_text("latin.yaml", "name: caf\xe9\n");
	assert_int_equal(read_job("job.yaml", "include:\n- latin.yaml\n"), KG_EINVALID);
	assert_contains(err.text, "not a text in UTF-8");
}

static void test_circles_are_said_with_all_their_files(void **state)
{
	char wanted[400];

	(void)state;
	put_text("job.yaml", "include:\n- a.yaml\n");
	put_text("a.yaml", "include:\n- b.yaml\n");
	put_text("b.yaml", "priority: 1\ninclude:\n- a.yaml\n");
	assert_int_equal(read_job("job.yaml", "include:\n- a.yaml\n"), KG_EINVALID);
	(void)snprintf(wanted, sizeof(wanted),
		       "%s/b.yaml:3: files include each other in a circle: '%s/a.yaml' includes "
		       "'%s/b.yaml' includes '%s/a.yaml'",
		       folder, folder, folder, folder);
	assert_string_equal(err.text, wanted);
	put_text("self.yaml", "include:\n- self.yaml\n");
	assert_int_equal(read_job("self.yaml", "include:\n- self.yaml\n"), KG_EINVALID);
	assert_contains(err.text, "self.yaml' includes '");
	put_text("b.yaml", "include:\n- job.yaml\n"); /* back to where it began */
	assert_int_equal(read_job("job.yaml", "include:\n- a.yaml\n"), KG_EINVALID);
	assert_contains(err.text, "circle");
}

static void test_as_many_files_as_allowed_and_no_more(void **state)
{
	struct kg_str s = {0};
	char name[32];
	int i;

	(void)state;
	kg_str_add(&s, "include:\n");
	for (i = 0; i < JOB_MAX_FILES; i++) {
		(void)snprintf(name, sizeof(name), "f%d.yaml", i);
		put_text(name, "priority: 1\n");
		kg_str_addf(&s, "- %s\n", name);
	}
	assert_int_equal(read_job("job.yaml", kg_str_text(&s)), 0);
	assert_int_equal(in.n, JOB_MAX_FILES);
	put_text("more.yaml", "priority: 1\n");
	kg_str_add(&s, "- more.yaml\n");
	assert_int_equal(read_job("job.yaml", kg_str_text(&s)), KG_ELIMIT);
	assert_contains(err.text, "more.yaml': a job includes at most 64 files");
	kg_str_deinit(&s);
}

static void test_standard_input_includes_from_the_current_folder(void **state)
{
	static const char text[] = "include:\n- only-here.yaml\n";
	char before[512];

	(void)state;
	put_text("only-here.yaml", "priority: 1\n");
	assert_non_null(getcwd(before, sizeof(before)));
	assert_int_equal(chdir(folder), 0);
	assert_int_equal(includes_read(INCLUDES_STDIN, text, sizeof(text) - 1, &in, &err), 0);
	assert_int_equal(chdir(before), 0);
	assert_int_equal(in.n, 1);
	assert_string_equal(in.files[0]->name, "only-here.yaml");
}

#define WITH_FOLDER(test) cmocka_unit_test_setup_teardown(test, make_folder, remove_folder)

int main(void)
{
	const struct CMUnitTest tests[] = {
		WITH_FOLDER(test_a_job_without_includes_has_none),
		WITH_FOLDER(test_files_are_found_from_the_including_files_folder),
		WITH_FOLDER(test_a_file_that_two_include_is_sent_once),
		WITH_FOLDER(test_a_missing_file_is_named_with_its_place),
		WITH_FOLDER(test_a_folder_or_binary_is_no_file_to_include),
		WITH_FOLDER(test_circles_are_said_with_all_their_files),
		WITH_FOLDER(test_as_many_files_as_allowed_and_no_more),
		WITH_FOLDER(test_standard_input_includes_from_the_current_folder),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
