/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tests/lib/cmocka_all.h"

#include "coordinator/artifact/kernel.h"

#include <errno.h>
#include <stdio.h>

#include "tests/lib/alloc_fault.h"
#include "tests/unit/artifact/sample.h"

#define RELEASE "6.1.0-test"

struct fixture {
	char *dir;
	struct artifact_blobs *b;
	struct artifact_manifest m;
	struct artifact_kernel k;
	struct kg_err err;
};

static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	assert_non_null(f);
	f->dir = sample_folder();
	assert_int_equal(artifact_blobs_open(f->dir, &f->b, &f->err), 0);
	memcpy(f->m.release, RELEASE, sizeof(RELEASE));
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	artifact_manifest_deinit(&f->m);
	artifact_kernel_deinit(&f->k);
	artifact_blobs_free(f->b);
	sample_remove(f->dir);
	free(f);
	return 0;
}

static void add(struct fixture *f, const char *path, const void *bytes, size_t len)
{
	struct artifact_file file = {
		.size_bytes = len, .mode = 0644, .path = (char *)(uintptr_t)path};
	struct artifact_chunk c = {.total_bytes = len, .data = bytes, .len = len};
	struct artifact_progress p;

	assert_int_equal(kg_sha256_bytes(bytes, len, file.digest), 0);
	c.digest = file.digest;
	assert_int_equal(artifact_blobs_put(f->b, &c, &p, &f->err), 0);
	assert_int_equal(artifact_manifest_add(&f->m, &file, &f->err), 0);
}

static void add_image(struct fixture *f, const char *release, uint8_t id)
{
	struct sample_bytes s = sample_kernel(release, SAMPLE_ZSTD, id);

	add(f, "vmlinuz", s.bytes, s.len);
	free(s.bytes);
}

static int open_kernel(struct fixture *f)
{
	struct kg_str text = {0};
	int rc;

	artifact_kernel_deinit(&f->k);
	assert_int_equal(artifact_blobs_settle(f->b, &f->err), 0);
	assert_int_equal(artifact_manifest_write(&f->m, &text, &f->err), 0);
	f->err.text[0] = '\0';
	rc = artifact_kernel_open(f->b, text.text, text.len, &f->k, &f->err);
	kg_str_deinit(&text);
	return rc;
}

static void test_kernel_is_read_from_its_blobs(void **state)
{
	struct fixture *f = *state;
	char value[32], digest[KG_SHA256_HEX_SIZE];

	add_image(f, RELEASE, 0x77);
	add(f, "config", SAMPLE_CONFIG, strlen(SAMPLE_CONFIG));
	add(f, "modules/kernel/a.ko", "module", 6);
	assert_int_equal(open_kernel(f), 0);
	assert_string_equal(f->k.image.release, RELEASE);
	assert_string_equal(f->k.image.version, RELEASE " (builder@host) #1 SMP");
	assert_string_equal(f->k.image.build_id, "7777777777777777777777777777777777777777");
	assert_string_equal(f->k.config, SAMPLE_CONFIG);
	assert_int_equal(kg_sha256_bytes(SAMPLE_CONFIG, strlen(SAMPLE_CONFIG), digest), 0);
	assert_string_equal(f->k.config_digest, digest);
	assert_int_equal(f->k.files, 3);
	assert_int_equal(f->k.size_bytes, f->m.size_bytes);
	assert_true(artifact_config_value(f->k.config, "CONFIG_LSM", value, sizeof(value)));
	assert_string_equal(value, "yama,apparmor");
}

static int reopen_kernel(struct fixture *f, const char *build_id)
{
	struct kg_str text = {0};
	int rc;

	artifact_kernel_deinit(&f->k);
	assert_int_equal(artifact_manifest_write(&f->m, &text, &f->err), 0);
	rc = artifact_kernel_reopen(f->b, text.text, text.len, build_id, &f->k, &f->err);
	kg_str_deinit(&text);
	return rc;
}

/* At a start there may be thousands of kernels, each of which would be unpacked for a second. */
static void test_a_known_kernel_is_opened_without_unpacking_it(void **state)
{
	struct fixture *f = *state;

	add_image(f, RELEASE, 0x77);
	add(f, "config", SAMPLE_CONFIG, strlen(SAMPLE_CONFIG));
	add(f, "modules/kernel/a.ko", "module", 6);
	assert_int_equal(open_kernel(f), 0);
	assert_int_equal(reopen_kernel(f, "abcd"), 0);
	assert_string_equal(f->k.image.build_id,
			    "abcd"); /* as it is known, not as the image says */
	assert_string_equal(f->k.image.release, RELEASE);
	assert_string_equal(f->k.image.version, RELEASE " (builder@host) #1 SMP");
	assert_string_equal(f->k.config, SAMPLE_CONFIG);
	assert_int_equal(reopen_kernel(f, NULL), 0);
	assert_string_equal(f->k.image.build_id, "");
	(void)snprintf(f->m.release, sizeof(f->m.release), "other");
	assert_int_equal(reopen_kernel(f, ""), KG_EINVALID);
}

static void test_config_value_is_that_of_the_whole_name(void **state)
{
	char value[8];

	(void)state;
	assert_true(artifact_config_value("CONFIG_AB=m\nCONFIG_A=y\n", "CONFIG_A", value, 8));
	assert_string_equal(value, "y");
	assert_false(artifact_config_value("# CONFIG_A is not set\n", "CONFIG_A", value, 8));
	assert_false(artifact_config_value("XCONFIG_A=y\n", "CONFIG_A", value, 8));
	assert_true(artifact_config_value("CONFIG_A=\"\"", "CONFIG_A", value, 8));
	assert_string_equal(value, "");
	assert_false(artifact_config_value("CONFIG_A=\"12345678\"", "CONFIG_A", value, 8));
}

static void test_kernel_with_another_release_than_its_image_is_refused(void **state)
{
	struct fixture *f = *state;

	add_image(f, "6.1.0-other", 1);
	add(f, "config", SAMPLE_CONFIG, strlen(SAMPLE_CONFIG));
	add(f, "modules/kernel/a.ko", "module", 6);
	assert_int_equal(open_kernel(f), KG_EINVALID);
	assert_contains(f->err.text, "6.1.0-other");
	assert_contains(f->err.text, RELEASE);
}

static void test_kernel_without_its_modules_is_refused(void **state)
{
	struct fixture *f = *state;

	add_image(f, RELEASE, 1);
	add(f, "config", SAMPLE_CONFIG, strlen(SAMPLE_CONFIG));
	assert_int_equal(open_kernel(f), KG_EINVALID);
	assert_contains(f->err.text, "built for modules and has none");
}

static void test_kernel_built_without_modules_needs_none(void **state)
{
	static const char config[] = "CONFIG_X86_64=y\n# CONFIG_MODULES is not set\n";
	struct fixture *f = *state;

	add_image(f, RELEASE, 1);
	add(f, "config", config, strlen(config));
	assert_int_equal(open_kernel(f), 0);
}

static void test_kernel_with_another_config_is_another_kernel(void **state)
{
	static const char one[] = "CONFIG_X86_64=y\nCONFIG_LSM=\"yama\"\n";
	static const char two[] = "CONFIG_X86_64=y\nCONFIG_LSM=\"yama,bpf\"\n";
	struct fixture *f = *state;
	char digest[KG_SHA256_HEX_SIZE];

	add_image(f, RELEASE, 1);
	add(f, "config", one, strlen(one));
	assert_int_equal(open_kernel(f), 0);
	memcpy(digest, f->k.digest, sizeof(digest));
	artifact_manifest_deinit(&f->m);
	memcpy(f->m.release, RELEASE, sizeof(RELEASE));
	add_image(f, RELEASE, 1);
	add(f, "config", two, strlen(two));
	assert_int_equal(open_kernel(f), 0);
	assert_string_equal(f->k.image.release, RELEASE);
	assert_string_not_equal(f->k.digest, digest);
}

static void test_kernel_with_junk_for_a_config_is_refused(void **state)
{
	struct fixture *f = *state;

	add_image(f, RELEASE, 1);
	add(f, "config", "CONFIG_X86_64=y\n\0junk", 21);
	assert_int_equal(open_kernel(f), KG_EINVALID);
	assert_contains(f->err.text, "configuration");
}

static void test_config_of_another_version_is_refused(void **state)
{
	static const char other[] =
		"#\n# Linux/x86 6.12.117 Kernel Configuration\n#\nCONFIG_X86_64=y\n";
	struct fixture *f = *state;

	add_image(f, RELEASE, 1);
	add(f, "config", other, strlen(other));
	assert_int_equal(open_kernel(f), KG_EINVALID);
	assert_contains(f->err.text,
			"'config' is of Linux 6.12, and the image is of release '6.1.0-test'");
}

static void test_config_of_another_patch_level_is_fine(void **state)
{
	/* Debian's 6.1.0-57 is built from 6.1.192 */
	static const char other[] =
		"#\n# Linux/x86 6.1.192 Kernel Configuration\n#\nCONFIG_X86_64=y\n";
	struct fixture *f = *state;

	add_image(f, RELEASE, 1);
	add(f, "config", other, strlen(other));
	assert_int_equal(open_kernel(f), 0);
}

static void test_kernel_with_junk_for_an_image_is_refused(void **state)
{
	struct fixture *f = *state;

	add(f, "vmlinuz", "MZ", 2);
	add(f, "config", SAMPLE_CONFIG, strlen(SAMPLE_CONFIG));
	assert_int_equal(open_kernel(f), KG_EINVALID);
	assert_contains(f->err.text, "not an x86 kernel image");
}

static void test_kernel_that_lacks_a_blob_is_not_found(void **state)
{
	struct fixture *f = *state;
	struct artifact_file file = {.path = (char *)(uintptr_t) "modules/b.ko", .mode = 0644};

	add_image(f, RELEASE, 1);
	add(f, "config", SAMPLE_CONFIG, strlen(SAMPLE_CONFIG));
	memset(file.digest, 'a', KG_SHA256_HEX_LEN);
	assert_int_equal(artifact_manifest_add(&f->m, &file, &f->err), 0);
	assert_int_equal(open_kernel(f), KG_ENOTFOUND);
	assert_contains(f->err.text, "modules/b.ko");
}

static void test_kernel_whose_sizes_are_wrong_is_refused(void **state)
{
	struct fixture *f = *state;

	add_image(f, RELEASE, 1);
	add(f, "config", SAMPLE_CONFIG, strlen(SAMPLE_CONFIG));
	add(f, "modules/kernel/a.ko", "module", 6);
	f->m.files[2].size_bytes = 5;
	assert_int_equal(open_kernel(f), KG_EINVALID);
	assert_contains(f->err.text, "6 bytes and not 5");
}

static void test_kernel_out_of_memory_is_returned(void **state)
{
	struct fixture *f = *state;
	struct kg_str text = {0};
	unsigned n;
	int rc;

	add_image(f, RELEASE, 1);
	add(f, "config", SAMPLE_CONFIG, strlen(SAMPLE_CONFIG));
	add(f, "modules/kernel/a.ko", "module", 6);
	assert_int_equal(artifact_blobs_settle(f->b, &f->err), 0);
	assert_int_equal(artifact_manifest_write(&f->m, &text, &f->err), 0);
	for (n = 1; n < 100; n++) {
		alloc_fault_arm(n);
		rc = artifact_kernel_open(f->b, text.text, text.len, &f->k, &f->err);
		if (!alloc_fault_disarm())
			break;
		assert_int_equal(rc, -ENOMEM);
	}
	assert_int_equal(rc, 0);
	assert_true(n > 5);
	kg_str_deinit(&text);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_kernel_is_read_from_its_blobs),
		TEST(test_a_known_kernel_is_opened_without_unpacking_it),
		TEST(test_config_value_is_that_of_the_whole_name),
		TEST(test_kernel_with_another_release_than_its_image_is_refused),
		TEST(test_kernel_without_its_modules_is_refused),
		TEST(test_kernel_built_without_modules_needs_none),
		TEST(test_kernel_with_another_config_is_another_kernel),
		TEST(test_kernel_with_junk_for_a_config_is_refused),
		TEST(test_config_of_another_version_is_refused),
		TEST(test_config_of_another_patch_level_is_fine),
		TEST(test_kernel_with_junk_for_an_image_is_refused),
		TEST(test_kernel_that_lacks_a_blob_is_not_found),
		TEST(test_kernel_whose_sizes_are_wrong_is_refused),
		TEST(test_kernel_out_of_memory_is_returned),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
