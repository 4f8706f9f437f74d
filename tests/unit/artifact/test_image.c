/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tests/lib/cmocka_all.h"

#include "coordinator/artifact/image.h"

#include <stdio.h>

#include "tests/unit/artifact/sample.h"

#define RELEASE "6.1.0-57-cloud-amd64"

static int inspect(const struct sample_bytes *s, struct artifact_image *ret, struct kg_err *err)
{
	err->text[0] = '\0';
	return artifact_image_inspect(s->bytes, s->len, ret, err);
}

static void refused(struct sample_bytes s, const char *why)
{
	struct artifact_image image;
	struct kg_err err;

	assert_int_equal(inspect(&s, &image, &err), KG_EINVALID);
	assert_contains(err.text, why);
	free(s.bytes);
}

static void test_image_gives_release_version_and_build_id(void **state)
{
	enum sample_filter filter;

	(void)state;
	for (filter = 0; filter < SAMPLE_FILTERS; filter++) {
		struct sample_bytes s = sample_kernel(RELEASE, filter, 0xa5);
		struct artifact_image image;
		struct kg_err err;

		assert_int_equal(inspect(&s, &image, &err), 0);
		assert_string_equal(image.release, RELEASE);
		assert_string_equal(image.version, RELEASE " (builder@host) #1 SMP");
		assert_string_equal(image.build_id, "a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5");
		assert_int_equal(image.protocol, 0x20f);
		free(s.bytes);
	}
}

static void test_image_header_needs_no_payload(void **state)
{
	struct sample_bytes s = sample_kernel(RELEASE, SAMPLE_GZIP, 1);
	struct artifact_image image;
	struct kg_err err;

	(void)state;
	assert_int_equal(artifact_image_header(s.bytes, 0x300, &image, &err), 0);
	assert_string_equal(image.release, RELEASE);
	assert_string_equal(image.build_id, "");
	free(s.bytes);
}

static void test_image_without_build_id_has_none(void **state)
{
	struct sample_bytes vmlinux = sample_vmlinux(1), s;
	struct artifact_image image;
	struct kg_err err;

	(void)state;
	vmlinux.bytes[64 + 56] = 1; /* PT_NOTE becomes PT_LOAD */
	s = sample_image(RELEASE, SAMPLE_ZSTD, &vmlinux);
	assert_int_equal(inspect(&s, &image, &err), 0);
	assert_string_equal(image.build_id, "");
	free(s.bytes);
	free(vmlinux.bytes);
}

static void test_other_file_is_no_image(void **state)
{
	struct sample_bytes s;

	(void)state;
	s = sample_kernel(RELEASE, SAMPLE_GZIP, 1);
	s.len = 100;
	refused(s, "too short");
	s = sample_kernel(RELEASE, SAMPLE_GZIP, 1);
	s.bytes[0x202] = 'X';
	refused(s, "not an x86 kernel image: no boot header");
	s = sample_kernel(RELEASE, SAMPLE_GZIP, 1);
	s.bytes[0x1fe] = 0;
	refused(s, "no boot header");
	s = sample_kernel(RELEASE, SAMPLE_GZIP, 1);
	s.bytes[0x206] = 0x07;
	refused(s, "2.08");
}

static void test_image_with_bad_version_is_refused(void **state)
{
	struct sample_bytes s;

	(void)state;
	s = sample_kernel(RELEASE, SAMPLE_GZIP, 1);
	s.bytes[0x20e] = 0;
	refused(s, "no version string");
	s = sample_kernel(RELEASE, SAMPLE_GZIP, 1);
	s.bytes[0x20e] = s.bytes[0x20f] = 0xff;
	refused(s, "version string");
	refused(sample_kernel("../../etc", SAMPLE_GZIP, 1), "release is malformed");
	refused(sample_kernel("", SAMPLE_GZIP, 1), "release is malformed");
}

static void test_truncated_image_says_so(void **state)
{
	struct sample_bytes s = sample_kernel(RELEASE, SAMPLE_XZ, 1);

	(void)state;
	s.len -= 1024;
	refused(s, "truncated");
}

static void test_payload_that_is_no_kernel_is_refused(void **state)
{
	struct sample_bytes junk = {.bytes = calloc(1, 5000), .len = 5000};
	struct sample_bytes vmlinux;

	(void)state;
	refused(sample_image(RELEASE, SAMPLE_GZIP, &junk), "not an ELF file");
	memset(junk.bytes, 'x', junk.len);
	refused(sample_image(RELEASE, SAMPLE_PLAIN, &junk), "cannot read the kernel inside");
	free(junk.bytes);
	vmlinux = sample_vmlinux(1);
	vmlinux.bytes[18] = 183; /* AArch64 */
	refused(sample_image(RELEASE, SAMPLE_GZIP, &vmlinux), "not for x86-64");
	vmlinux.bytes[18] = 62;
	vmlinux.len = 150000;
	refused(sample_image(RELEASE, SAMPLE_GZIP, &vmlinux), "ends too early");
	free(vmlinux.bytes);
}

/* Whatever is wrong, the answer is an error or an image, and nothing else happens (run it under a
 * sanitizer). */
static void test_image_with_any_byte_changed_is_survived(void **state)
{
	struct sample_bytes s = sample_kernel(RELEASE, SAMPLE_GZIP, 1);
	struct artifact_image image;
	struct kg_err err;
	size_t i;

	(void)state;
	for (i = 0x1f0; i < s.len; i += i < 0x300 ? 1 : 7) {
		uint8_t old = s.bytes[i];

		s.bytes[i] = (uint8_t)(old ^ 0xff);
		(void)inspect(&s, &image, &err);
		s.bytes[i] = old;
	}
	free(s.bytes);
}

static void test_kernel_headers_with_any_byte_changed_are_survived(void **state)
{
	struct sample_bytes vmlinux = sample_vmlinux(1), s;
	struct artifact_image image;
	struct kg_err err;
	size_t i;

	(void)state;
	for (i = 0; i < 64 + 2 * 56; i++) {
		vmlinux.bytes[i] ^= 0xff;
		s = sample_image(RELEASE, SAMPLE_LZ4, &vmlinux);
		(void)inspect(&s, &image, &err);
		free(s.bytes);
		vmlinux.bytes[i] ^= 0xff;
	}
	for (i = 200000; i < 200060; i++) {
		vmlinux.bytes[i] ^= 0xff;
		s = sample_image(RELEASE, SAMPLE_LZ4, &vmlinux);
		assert_int_equal(inspect(&s, &image, &err), 0);
		free(s.bytes);
		vmlinux.bytes[i] ^= 0xff;
	}
	free(vmlinux.bytes);
}

static void test_image_file_is_read(void **state)
{
	struct sample_bytes s = sample_kernel(RELEASE, SAMPLE_ZSTD, 0x12);
	char *dir = sample_folder();
	struct artifact_image image;
	struct kg_err err;
	char path[300];

	(void)state;
	sample_write(dir, "vmlinuz", s.bytes, s.len);
	(void)snprintf(path, sizeof(path), "%s/vmlinuz", dir);
	assert_int_equal(artifact_image_inspect_file(path, &image, &err), 0);
	assert_string_equal(image.release, RELEASE);
	assert_true(artifact_image_inspect_file(dir, &image, &err) < 0);
	(void)snprintf(path, sizeof(path), "%s/none", dir);
	assert_true(artifact_image_inspect_file(path, &image, &err) < 0);
	assert_contains(err.text, "none");
	free(s.bytes);
	sample_remove(dir);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_image_gives_release_version_and_build_id),
		cmocka_unit_test(test_image_header_needs_no_payload),
		cmocka_unit_test(test_image_without_build_id_has_none),
		cmocka_unit_test(test_other_file_is_no_image),
		cmocka_unit_test(test_image_with_bad_version_is_refused),
		cmocka_unit_test(test_truncated_image_says_so),
		cmocka_unit_test(test_payload_that_is_no_kernel_is_refused),
		cmocka_unit_test(test_image_with_any_byte_changed_is_survived),
		cmocka_unit_test(test_kernel_headers_with_any_byte_changed_are_survived),
		cmocka_unit_test(test_image_file_is_read),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
