/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tests/lib/cmocka_all.h"

#include "cli/pack/tree.h"

static void maps(const char *source, const char *want_release, const char *want_path)
{
	char release[ARTIFACT_RELEASE_MAX + 1], path[PACK_PATH_MAX];

	if (!want_path) {
		assert_false(pack_map(source, release, path));
		return;
	}
	assert_true(pack_map(source, release, path));
	assert_string_equal(release, want_release);
	assert_string_equal(path, want_path);
}

static void test_files_of_a_kernel_have_their_places(void **state)
{
	(void)state;
	maps("boot/vmlinuz-6.1", "6.1", "vmlinuz");
	maps("boot/config-6.1", "6.1", "config");
	maps("boot/System.map-6.1", "6.1", "System.map");
	maps("lib/modules/6.1/kernel/fs/x.ko.xz", "6.1", "modules/kernel/fs/x.ko.xz");
	maps("usr/lib/modules/6.1/modules.order", "6.1", "modules/modules.order");
	maps("usr/lib/modules/6.1/vmlinuz", "6.1", "vmlinuz");
	maps("usr/lib/modules/6.1/config", "6.1", "config");
}

static void test_other_files_have_none(void **state)
{
	(void)state;
	maps("boot/vmlinuz", NULL, NULL);
	maps("boot/vmlinuz-", NULL, NULL);
	maps("boot/vmlinuz-a/b", NULL, NULL);
	maps("boot/vmlinuz-..", NULL, NULL);
	maps("lib/modules/6.1", NULL, NULL);
	maps("lib/modules/6.1/modules.dep", NULL, NULL); /* is made anew */
	maps("lib/modules/6.1/modules.alias.bin", NULL, NULL);
	maps("lib/modules/6.1/vdso/vdso64.so", NULL, NULL);
	maps("lib/modules/../x.ko", NULL, NULL);
	maps("usr/share/doc/x.ko", NULL, NULL);
	maps("usr/lib/debug/lib/modules/6.1/x.ko", NULL, NULL);
}

static void test_path_of_an_archive_is_cleaned_or_refused(void **state)
{
	char path[PACK_PATH_MAX];
	struct kg_err err;

	(void)state;
	assert_int_equal(pack_clean_path("./a/b/", path, &err), 0);
	assert_string_equal(path, "a/b");
	assert_int_equal(pack_clean_path("././a", path, &err), 0);
	assert_string_equal(path, "a");
	assert_int_equal(pack_clean_path("./", path, &err), 0);
	assert_string_equal(path, "");
	assert_int_equal(pack_clean_path(".", path, &err), 0);
	assert_string_equal(path, "");
	assert_int_equal(pack_clean_path("a..b/...", path, &err), 0);
	assert_int_equal(pack_clean_path("/a", path, &err), KG_EINVALID);
	assert_int_equal(pack_clean_path("/", path, &err), KG_EINVALID);
	assert_int_equal(pack_clean_path(".//a", path, &err), KG_EINVALID);
	assert_int_equal(pack_clean_path("..", path, &err), KG_EINVALID);
	assert_int_equal(pack_clean_path("a/..", path, &err), KG_EINVALID);
	assert_int_equal(pack_clean_path("a/../b", path, &err), KG_EINVALID);
	assert_int_equal(pack_clean_path("a//b", path, &err), KG_EINVALID);
	assert_int_equal(pack_clean_path("a/./b", path, &err), KG_EINVALID);
}

static void test_link_target_stays_inside_or_is_refused(void **state)
{
	char path[PACK_PATH_MAX];

	(void)state;
	assert_true(pack_link_target("boot/vmlinuz-1", "../usr/lib/vmlinuz", path));
	assert_string_equal(path, "usr/lib/vmlinuz");
	assert_true(pack_link_target("a/b/c", "./d//e", path));
	assert_string_equal(path, "a/b/d/e");
	assert_true(pack_link_target("a", "b", path));
	assert_string_equal(path, "b");
	assert_true(pack_link_target("a/b", "..", path));
	assert_string_equal(path, "");
	assert_false(pack_link_target("a/b", "../..", path));
	assert_false(pack_link_target("a", "../x", path));
	assert_false(pack_link_target("a", "/x", path));
	assert_false(pack_link_target("a/b", "../c/../../x", path));
}

static void test_build_and_source_do_not_count_as_modules(void **state)
{
	(void)state;
	assert_true(pack_in_modules("lib/modules/6.1/extra"));
	assert_true(pack_in_modules("usr/lib/modules/6.1/kernel/build"));
	assert_false(pack_in_modules("lib/modules/6.1/build"));
	assert_false(pack_in_modules("usr/lib/modules/6.1/source"));
	assert_false(pack_in_modules("usr/share/doc"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_files_of_a_kernel_have_their_places),
		cmocka_unit_test(test_other_files_have_none),
		cmocka_unit_test(test_path_of_an_archive_is_cleaned_or_refused),
		cmocka_unit_test(test_link_target_stays_inside_or_is_refused),
		cmocka_unit_test(test_build_and_source_do_not_count_as_modules),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
