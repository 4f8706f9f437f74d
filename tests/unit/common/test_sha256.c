/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tests/lib/cmocka_all.h"

#include <errno.h>
#include <stdio.h>
#include <unistd.h>

#include "common/sha256.h"

/* FIPS 180-4 examples */
#define EMPTY "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
#define ABC   "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"

static void test_known_digests(void **state)
{
	char hex[KG_SHA256_HEX_SIZE];

	(void)state;
	assert_int_equal(kg_sha256_bytes("", 0, hex), 0);
	assert_string_equal(hex, EMPTY);
	assert_int_equal(kg_sha256_bytes("abc", 3, hex), 0);
	assert_string_equal(hex, ABC);
}

static void test_pieces_give_the_digest_of_the_whole(void **state)
{
	struct kg_sha256 *h = kg_sha256_new();
	char hex[KG_SHA256_HEX_SIZE];

	(void)state;
	assert_non_null(h);
	kg_sha256_update(h, "a", 1);
	kg_sha256_update(h, "", 0);
	kg_sha256_update(h, "bc", 2);
	kg_sha256_final(h, hex);
	kg_sha256_free(h);
	assert_string_equal(hex, ABC);
	kg_sha256_free(NULL);
}

static void test_file_and_fd(void **state)
{
	char path[] = "/tmp/kgrid-test-XXXXXX";
	char hex[KG_SHA256_HEX_SIZE];
	struct kg_err err;
	int fd = mkstemp(path);

	(void)state;
	assert_true(fd >= 0);
	assert_int_equal(write(fd, "abc", 3), 3);
	assert_int_equal(kg_sha256_file(path, hex, &err), 0);
	assert_string_equal(hex, ABC);
	assert_int_equal(kg_sha256_fd(fd, hex, &err), 0); /* from where it stands: the end */
	assert_string_equal(hex, EMPTY);
	close(fd);
	unlink(path);
	assert_int_equal(kg_sha256_file(path, hex, &err), -ENOENT);
	assert_int_equal(kg_sha256_file("/tmp", hex, &err), -EISDIR);
}

static void test_hex_is_64_lower_case_digits(void **state)
{
	(void)state;
	assert_true(kg_sha256_hex_valid(ABC));
	assert_false(kg_sha256_hex_valid(""));
	assert_false(kg_sha256_hex_valid(ABC "0"));
	assert_false(kg_sha256_hex_valid(
		"BA7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"));
	assert_false(kg_sha256_hex_valid(
		"../816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_known_digests),
		cmocka_unit_test(test_pieces_give_the_digest_of_the_whole),
		cmocka_unit_test(test_file_and_fd),
		cmocka_unit_test(test_hex_is_64_lower_case_digits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
