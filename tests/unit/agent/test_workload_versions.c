/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "agent/workload_registry.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "fake_root.h"

struct fixture {
	struct fake_root root;
	char dir[96], notes[96], digests[96];
	struct workload_registry r;
};

static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	assert_non_null(f);
	fake_root_init(&f->root);
	(void)snprintf(f->dir, sizeof(f->dir), "%s/w", f->root.dir);
	(void)snprintf(f->notes, sizeof(f->notes), "%s/versions", f->root.dir);
	(void)snprintf(f->digests, sizeof(f->digests), "%s/digests", f->root.dir);
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	workload_registry_deinit(&f->r);
	fake_root_deinit(&f->root);
	free(f);
	return 0;
}

static void declare(struct fixture *f, const char *name, const char *version)
{
	char path[64], text[1024];

	(void)snprintf(path, sizeof(path), "/w/%s.yaml", name);
	(void)snprintf(text, sizeof(text),
		       "name: %s\nparameters: {}\nrequires: [sh]\ncommand: [sh, -c, 'echo V=1']\n%s"
		       "metrics:\n  - {name: v, unit: s, direction: lower, read: {keyval: V}}\n",
		       name, version);
	fake_put(&f->root, path, text);
}

static void read_all(struct fixture *f)
{
	struct digests *d = digests_open(f->digests);
	struct kg_err err = {""};

	workload_registry_deinit(&f->r);
	assert_int_equal(workload_registry_load(f->dir, WORKLOAD_PATH, d, &f->r, &err), 0);
	digests_close(d);
	workload_versions_read(&f->r, WORKLOAD_PATH, f->notes);
}

static const struct workload_entry *entry(const struct fixture *f, const char *name)
{
	const struct workload_entry *e = workload_registry_find(&f->r, name);

	assert_non_null(e);
	return e;
}

static void test_first_line_is_the_version(void **state)
{
	struct fixture *f = *state;

	declare(f, "a", "version: [sh, -c, 'echo; echo \"  tool 1.2  \"; echo more']\n");
	declare(f, "b", "");
	declare(f, "c", "version: [sh, -c, 'echo 3; exit 1']\n");
	declare(f, "d", "version: [nosuch-program]\n");
	declare(f, "e", "version: [sh, -c, '']\n");
	read_all(f);
	assert_string_equal(entry(f, "a")->version, "tool 1.2");
	assert_string_equal(entry(f, "a")->program, "sh");
	assert_int_equal(entry(f, "a")->paths.n, 1);
	assert_null(entry(f, "b")->version);
	assert_null(entry(f, "c")->version);
	assert_null(entry(f, "d")->version);
	assert_null(entry(f, "d")->missing); /* it runs all the same */
	assert_null(entry(f, "e")->version);
}

static void test_a_program_is_asked_once(void **state)
{
	struct fixture *f = *state;
	char count[128], version[400];

	(void)snprintf(count, sizeof(count), "%s/count", f->root.dir);
	(void)snprintf(version, sizeof(version), "version: [sh, -c, 'echo x >>%s; wc -l <%s']\n",
		       count, count);
	declare(f, "a", version);
	read_all(f);
	assert_string_equal(entry(f, "a")->version, "1");
	read_all(f);
	assert_string_equal(entry(f, "a")->version, "1");
	/* Another declaration or another program is another digest. */
	(void)snprintf(version, sizeof(version), "version: [sh, -c, 'echo y >>%s; wc -l <%s']\n",
		       count, count);
	declare(f, "a", version);
	read_all(f);
	assert_string_equal(entry(f, "a")->version, "2");
	fake_put(&f->root, "/versions", "\nnonsense\n\xff\xfe\n");
	read_all(f);
	assert_string_equal(entry(f, "a")->version, "3");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_first_line_is_the_version, setup, teardown),
		cmocka_unit_test_setup_teardown(test_a_program_is_asked_once, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
