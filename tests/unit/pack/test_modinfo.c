/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tests/lib/cmocka_all.h"

#include "cli/pack/modinfo.h"

#include "tests/unit/artifact/sample.h"

static void test_depends_is_read_from_every_kind_of_module(void **state)
{
	static const enum sample_filter filters[] = {SAMPLE_PLAIN, SAMPLE_GZIP, SAMPLE_XZ,
						     SAMPLE_ZSTD};
	struct sample_bytes plain = sample_module("x", "a,b-c");
	struct kg_err err;
	char *depends;
	size_t i;

	(void)state;
	for (i = 0; i < 4; i++) {
		struct sample_bytes s = sample_compress(filters[i], plain.bytes, plain.len);

		assert_int_equal(pack_module_info(s.bytes, s.len, &depends, NULL, 0, &err), 0);
		assert_string_equal(depends, "a,b-c");
		free(depends);
		free(s.bytes);
	}
	free(plain.bytes);
}

static void test_other_file_is_no_module(void **state)
{
	struct sample_bytes s = sample_vmlinux(1);
	struct kg_err err;
	char *depends;

	(void)state;
	assert_int_equal(pack_module_info("junk", 4, &depends, NULL, 0, &err), KG_EINVALID);
	assert_int_equal(pack_module_info("", 0, &depends, NULL, 0, &err), KG_EINVALID);
	assert_int_equal(pack_module_info(s.bytes, s.len, &depends, NULL, 0, &err), KG_EINVALID);
	assert_contains(err.text, "not a kernel module");
	free(s.bytes);
}

static void test_module_with_any_byte_changed_or_cut_is_survived(void **state)
{
	struct sample_bytes s = sample_module("x", "a");
	struct kg_err err;
	char *depends;
	size_t i;

	(void)state;
	for (i = 0; i < s.len; i++) {
		uint8_t *cut;

		s.bytes[i] ^= 0xff;
		if (pack_module_info(s.bytes, s.len, &depends, NULL, 0, &err) == 0)
			free(depends);
		s.bytes[i] ^= 0xff;
		cut = malloc(i + 1); /* of its own, so that a sanitizer sees reads behind it */
		assert_non_null(cut);
		memcpy(cut, s.bytes, i);
		if (pack_module_info(cut, i, &depends, NULL, 0, &err) == 0)
			free(depends);
		free(cut);
	}
	free(s.bytes);
}

static void check(const struct pack_depend_input *in, const char *want, const char *want_warnings)
{
	struct kg_str out = {0}, warnings = {0};
	struct kg_err err;

	assert_int_equal(pack_depend(in, &out, &warnings, &err), 0);
	assert_string_equal(kg_str_text(&out), want);
	assert_string_equal(kg_str_text(&warnings), want_warnings);
	kg_str_deinit(&out);
	kg_str_deinit(&warnings);
}

static void test_line_has_all_that_is_needed_to_load_from_right_to_left(void **state)
{
	static const struct pack_module modules[] = {
		{"kernel/crc.ko", ""},	   {"kernel/ext4.ko.xz", "jbd2,mb-cache"},
		{"kernel/jbd2.ko", "crc"}, {"kernel/mb_cache.ko", ""},
		{"kernel/top.ko", "ext4"},
	};
	struct pack_depend_input in = {.modules = modules, .n = 5, .order = "", .builtin = ""};

	(void)state;
	check(&in,
	      "kernel/crc.ko:\n"
	      "kernel/ext4.ko.xz: kernel/mb_cache.ko kernel/jbd2.ko kernel/crc.ko\n"
	      "kernel/jbd2.ko: kernel/crc.ko\n"
	      "kernel/mb_cache.ko:\n"
	      "kernel/top.ko: kernel/ext4.ko.xz kernel/mb_cache.ko kernel/jbd2.ko kernel/crc.ko\n",
	      "");
}

static void test_lines_follow_modules_order(void **state)
{
	static const struct pack_module modules[] = {
		{"kernel/a.ko", ""}, {"kernel/b.ko.xz", ""}, {"kernel/c.ko.zst", ""}};
	struct pack_depend_input in = {.modules = modules,
				       .n = 3,
				       .order = "kernel/c.ko\nkernel/gone.ko\nkernel/b.ko",
				       .builtin = ""};

	(void)state;
	check(&in, "kernel/c.ko.zst:\nkernel/b.ko.xz:\nkernel/a.ko:\n", "");
}

static void test_built_in_is_not_missing(void **state)
{
	static const struct pack_module modules[] = {{"kernel/a.ko", "virtio-ring,gone"}};
	struct pack_depend_input in = {.modules = modules,
				       .n = 1,
				       .order = "",
				       .builtin = "kernel/drivers/virtio/virtio_ring.ko\n"};

	(void)state;
	check(&in, "kernel/a.ko:\n", "module 'a' needs 'gone', which is not there\n");
}

static void test_updates_win_over_the_same_name(void **state)
{
	static const struct pack_module modules[] = {
		{"kernel/a.ko", ""}, {"kernel/b.ko", "a"}, {"updates/a.ko", ""}};
	struct pack_depend_input in = {.modules = modules, .n = 3, .order = "", .builtin = ""};

	(void)state;
	check(&in, "kernel/b.ko: updates/a.ko\nupdates/a.ko:\n",
	      "module 'a' is there twice: 'updates/a.ko' and 'kernel/a.ko'\n");
}

static void test_circle_is_refused(void **state)
{
	static const struct pack_module modules[] = {{"a.ko", "b"}, {"b.ko", "a"}, {"c.ko", "a"}};
	struct pack_depend_input in = {.modules = modules, .n = 3, .order = "", .builtin = ""};
	struct kg_str out = {0}, warnings = {0};
	struct kg_err err;

	(void)state;
	assert_int_equal(pack_depend(&in, &out, &warnings, &err), KG_EINVALID);
	assert_contains(err.text, "circle");
	kg_str_deinit(&out);
	kg_str_deinit(&warnings);
}

static void test_release_is_the_first_word_of_vermagic(void **state)
{
	struct sample_bytes s = sample_module_for("6.1.0-57-cloud-amd64", "x", "a");
	struct sample_bytes none = sample_module("x", "a");
	char *depends, release[65];
	struct kg_err err;

	(void)state;
	assert_int_equal(pack_module_info(s.bytes, s.len, &depends, release, sizeof(release), &err),
			 0);
	assert_string_equal(release, "6.1.0-57-cloud-amd64");
	assert_string_equal(depends, "a");
	free(depends);
	assert_int_equal(pack_module_info(none.bytes, none.len, &depends, release, sizeof(release),
					  &err),
			 0);
	assert_string_equal(release, "");
	free(depends);
	free(s.bytes);
	free(none.bytes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_depends_is_read_from_every_kind_of_module),
		cmocka_unit_test(test_release_is_the_first_word_of_vermagic),
		cmocka_unit_test(test_other_file_is_no_module),
		cmocka_unit_test(test_module_with_any_byte_changed_or_cut_is_survived),
		cmocka_unit_test(test_line_has_all_that_is_needed_to_load_from_right_to_left),
		cmocka_unit_test(test_lines_follow_modules_order),
		cmocka_unit_test(test_built_in_is_not_missing),
		cmocka_unit_test(test_updates_win_over_the_same_name),
		cmocka_unit_test(test_circle_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
