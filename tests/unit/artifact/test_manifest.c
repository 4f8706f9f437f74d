/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tests/lib/cmocka_all.h"

#include "coordinator/artifact/manifest.h"

#include <errno.h>
#include <stdio.h>

#include "tests/lib/alloc_fault.h"

#define D1	"1111111111111111111111111111111111111111111111111111111111111111"
#define D2	"2222222222222222222222222222222222222222222222222222222222222222"
#define HEAD	"kgrid-kernel 1\nrelease 6.1.0-57-cloud-amd64\n"
#define CONFIG	"file " D1 " 10 644 config\n"
#define VMLINUZ "file " D2 " 20 644 vmlinuz\n"
#define GOOD	HEAD CONFIG "file " D1 " 30 644 modules/kernel/a.ko.xz\n" VMLINUZ

static int parse(const char *text, struct artifact_manifest *m, struct kg_err *err)
{
	err->text[0] = '\0';
	return artifact_manifest_parse(text, strlen(text), m, err);
}

static void refused(const char *text, int code, const char *why)
{
	struct artifact_manifest m;
	struct kg_err err;

	assert_int_equal(parse(text, &m, &err), code);
	assert_contains(err.text, why);
}

static void test_manifest_gives_files_by_path(void **state)
{
	struct artifact_manifest m;
	struct kg_err err;

	(void)state;
	assert_int_equal(parse(GOOD, &m, &err), 0);
	assert_string_equal(m.release, "6.1.0-57-cloud-amd64");
	assert_int_equal(m.n, 3);
	assert_int_equal(m.size_bytes, 60);
	assert_int_equal(artifact_manifest_find(&m, "vmlinuz")->size_bytes, 20);
	assert_int_equal(artifact_manifest_find(&m, "vmlinuz")->mode, 0644);
	assert_string_equal(artifact_manifest_find(&m, "config")->digest, D1);
	assert_null(artifact_manifest_find(&m, "modules"));
	assert_string_equal(artifact_manifest_find_digest(&m, D2)->path, "vmlinuz");
	assert_true(artifact_manifest_has_modules(&m));
	artifact_manifest_deinit(&m);
}

static void test_manifest_written_in_any_order_is_the_same_text(void **state)
{
	static const struct artifact_file files[] = {
		{.digest = D2,
		 .size_bytes = 20,
		 .mode = 0644,
		 .path = (char *)(uintptr_t) "vmlinuz"},
		{.digest = D1,
		 .size_bytes = 30,
		 .mode = 0644,
		 .path = (char *)(uintptr_t) "modules/kernel/a.ko.xz"},
		{.digest = D1,
		 .size_bytes = 10,
		 .mode = 0644,
		 .path = (char *)(uintptr_t) "config"},
	};
	unsigned order;

	(void)state;
	for (order = 0; order < 3; order++) {
		struct artifact_manifest m = {.release = "6.1.0-57-cloud-amd64"};
		struct kg_str out = {0};
		struct kg_err err;
		unsigned i;

		for (i = 0; i < 3; i++)
			assert_int_equal(artifact_manifest_add(&m, &files[(i + order) % 3], &err),
					 0);
		assert_int_equal(artifact_manifest_write(&m, &out, &err), 0);
		assert_string_equal(out.text, GOOD);
		kg_str_deinit(&out);
		artifact_manifest_deinit(&m);
	}
}

static void test_manifest_with_a_file_twice_is_not_written(void **state)
{
	struct artifact_file f = {.digest = D1, .path = (char *)(uintptr_t) "config"};
	struct artifact_manifest m = {.release = "6.1"};
	struct kg_str out = {0};
	struct kg_err err;

	(void)state;
	assert_int_equal(artifact_manifest_add(&m, &f, &err), 0);
	assert_int_equal(artifact_manifest_add(&m, &f, &err), 0);
	assert_int_equal(artifact_manifest_write(&m, &out, &err), KG_EINVALID);
	assert_contains(err.text, "twice");
	assert_int_equal(out.len, 0);
	kg_str_deinit(&out);
	artifact_manifest_deinit(&m);
}

static void test_manifest_head_is_strict(void **state)
{
	(void)state;
	refused("", KG_EINVALID, "not a kernel manifest");
	refused("hello\n", KG_EINVALID, "not a kernel manifest");
	refused("kgrid-kernel 1", KG_EINVALID, "not a kernel manifest");
	refused("kgrid-kernel 2\n", KG_EVERSION, "version '2'");
	refused("kgrid-kernel 1\n" CONFIG VMLINUZ, KG_EINVALID, "line 2");
	refused("kgrid-kernel 1\nrelease \n" CONFIG VMLINUZ, KG_EINVALID, "release");
	refused("kgrid-kernel 1\nrelease ../x\n" CONFIG VMLINUZ, KG_EINVALID, "release");
	refused("kgrid-kernel 1\nrelease a b\n" CONFIG VMLINUZ, KG_EINVALID, "release");
	refused("kgrid-kernel 1\r\nrelease 6.1\r\n" CONFIG VMLINUZ, KG_EVERSION, "version");
}

static void test_manifest_line_is_strict(void **state)
{
	static const char *const lines[] = {
		"\n",
		"file\n",
		"file " D1 " 10 644\n",
		"file " D1 " 10 644 \n",
		"file " D1 "  10 644 config\n",
		"file " D1 " 010 644 config\n",
		"file " D1 " -1 644 config\n",
		"file " D1 " +1 644 config\n",
		"file " D1 " 0x1 644 config\n",
		"file " D1 " 99999999999999999999 644 config\n",
		"file " D1 " 10 0644 config\n",
		"file " D1 " 10 888 config\n",
		"file " D1 " 10 1777 config\n",
		"file " D1 " 10 644 config \n",
		"file " D1 " 10 644  config\n",
		"file " D1 " 10 644 config\r\n",
		"file A111111111111111111111111111111111111111111111111111111111111111 1 644 "
		"config\n",
		"file 111 10 644 config\n",
		"dir " D1 " 10 644 config\n",
		"file " D1 " 10 644 config",
	};
	char text[512];
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		(void)snprintf(text, sizeof(text), HEAD "%s" VMLINUZ, lines[i]);
		refused(text, KG_EINVALID, "line 3");
	}
}

static void test_manifest_path_that_leaves_is_refused(void **state)
{
	static const char *const paths[] = {
		"/vmlinuz",  "modules/../x.ko", "modules//x.ko",   "modules/./x.ko",
		"modules/",  "modules/..",	"modules/a\tb",	   "boot/vmlinuz",
		"passwd",    "modules",		"modules/\x7f.ko", "modules/\xc3\xa4",
		"../config",
	};
	char text[512];
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
		(void)snprintf(text, sizeof(text), HEAD "file " D1 " 1 644 %s\n", paths[i]);
		refused(text, KG_EINVALID, "line 3");
	}
}

static void test_manifest_order_is_strict(void **state)
{
	(void)state;
	refused(HEAD VMLINUZ CONFIG, KG_EINVALID, "not sorted or not unique");
	refused(HEAD CONFIG CONFIG VMLINUZ, KG_EINVALID, "not sorted or not unique");
}

static void test_manifest_file_is_no_folder(void **state)
{
	(void)state;
	/* '-' sorts before '/', so the two are not neighbours */
	refused(HEAD CONFIG "file " D1 " 1 644 modules/a\nfile " D1 " 1 644 modules/a-b\n"
			    "file " D1 " 1 644 modules/a/c\n" VMLINUZ,
		KG_EINVALID, "'modules/a' is a file and a folder");
}

static void test_manifest_needs_image_and_config(void **state)
{
	(void)state;
	refused(HEAD CONFIG, KG_EINVALID, "no 'vmlinuz'");
	refused(HEAD VMLINUZ, KG_EINVALID, "no 'config'");
}

static void test_manifest_caps(void **state)
{
	struct kg_str text = {0};
	struct artifact_manifest m;
	struct kg_err err;
	unsigned i;

	(void)state;
	refused(HEAD "file " D1 " 1073741825 644 config\n" VMLINUZ, KG_ELIMIT, "larger");
	refused(HEAD CONFIG "file " D1 " 1073741824 644 modules/a\n"
			    "file " D1 " 1073741824 644 modules/b\n"
			    "file " D1 " 1073741824 644 modules/c\n"
			    "file " D1 " 1073741824 644 modules/d\n" VMLINUZ,
		KG_ELIMIT, "together");
	kg_str_add(&text, HEAD CONFIG);
	for (i = 0; i < ARTIFACT_FILES_MAX; i++)
		kg_str_addf(&text, "file " D1 " 1 644 modules/%05u\n", i);
	kg_str_add(&text, VMLINUZ);
	assert_int_equal(artifact_manifest_parse(text.text, text.len, &m, &err), KG_ELIMIT);
	while (text.len <= ARTIFACT_MANIFEST_MAX)
		kg_str_addf(&text, "%0100d", 0);
	assert_int_equal(artifact_manifest_parse(text.text, text.len, &m, &err), KG_ELIMIT);
	assert_contains(err.text, "manifest is larger");
	kg_str_deinit(&text);
}

static void test_manifest_cut_anywhere_is_refused(void **state)
{
	struct artifact_manifest m;
	struct kg_err err;
	size_t len;

	(void)state;
	for (len = 0; len < strlen(GOOD); len++)
		assert_true(artifact_manifest_parse(GOOD, len, &m, &err) < 0);
}

static void test_manifest_with_nul_is_refused(void **state)
{
	char text[] = GOOD;
	struct artifact_manifest m;
	struct kg_err err;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(text) - 1; i++) {
		char old = text[i];

		text[i] = '\0';
		assert_true(artifact_manifest_parse(text, sizeof(text) - 1, &m, &err) < 0);
		text[i] = old;
	}
}

static void test_manifest_digest_is_sha256_of_text(void **state)
{
	char a[KG_SHA256_HEX_SIZE], b[KG_SHA256_HEX_SIZE];

	(void)state;
	assert_int_equal(artifact_manifest_digest("abc", 3, a), 0);
	assert_string_equal(a, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
	assert_int_equal(artifact_manifest_digest(GOOD, strlen(GOOD), a), 0);
	assert_int_equal(artifact_manifest_digest(GOOD, strlen(GOOD) - 1, b), 0);
	assert_string_not_equal(a, b);
}

static void test_manifest_out_of_memory_is_returned(void **state)
{
	struct artifact_manifest m;
	struct kg_err err;
	unsigned n;
	int rc;

	(void)state;
	for (n = 1; n < 100; n++) {
		alloc_fault_arm(n);
		rc = parse(GOOD, &m, &err);
		if (!alloc_fault_disarm())
			break;
		assert_int_equal(rc, -ENOMEM);
	}
	assert_int_equal(rc, 0);
	assert_true(n > 3);
	artifact_manifest_deinit(&m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_manifest_gives_files_by_path),
		cmocka_unit_test(test_manifest_written_in_any_order_is_the_same_text),
		cmocka_unit_test(test_manifest_with_a_file_twice_is_not_written),
		cmocka_unit_test(test_manifest_head_is_strict),
		cmocka_unit_test(test_manifest_line_is_strict),
		cmocka_unit_test(test_manifest_path_that_leaves_is_refused),
		cmocka_unit_test(test_manifest_order_is_strict),
		cmocka_unit_test(test_manifest_file_is_no_folder),
		cmocka_unit_test(test_manifest_needs_image_and_config),
		cmocka_unit_test(test_manifest_caps),
		cmocka_unit_test(test_manifest_cut_anywhere_is_refused),
		cmocka_unit_test(test_manifest_with_nul_is_refused),
		cmocka_unit_test(test_manifest_digest_is_sha256_of_text),
		cmocka_unit_test(test_manifest_out_of_memory_is_returned),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
