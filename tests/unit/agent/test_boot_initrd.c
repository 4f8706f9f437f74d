/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The archive is read back with cpio(1), the reference reader. */
#include "agent/boot_initrd.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "artifact.h"
#include "common/file.h"

struct fixture {
	char dir[64];
	char base[96];
	struct artifact a;
	struct boot_manifest manifest;
	struct kg_texts modules;
	struct boot_artifact artifact;
	struct digests *digests;
};

static char *module_names[] = {(char *)"kernel/a.ko", (char *)"kernel/net/b.ko"};

static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));
	char path[CACHE_PATH_SIZE];
	struct kg_err err;
	size_t i;

	assert_non_null(f);
	(void)snprintf(f->dir, sizeof(f->dir), "/tmp/kgrid-initrd-XXXXXX");
	assert_non_null(mkdtemp(f->dir));
	assert_int_equal(cache_init(f->dir, &err), 0);
	artifact_make(&f->a);
	for (i = 0; i < f->a.n; i++) {
		cache_blob_path(f->dir, f->a.blobs[i].digest, false, path);
		*strrchr(path, '/') = '\0';
		assert_int_equal(kg_mkdir_p(path, 0700, &err), 0);
		cache_blob_path(f->dir, f->a.blobs[i].digest, false, path);
		assert_int_equal(kg_file_replace(path, f->a.blobs[i].bytes, f->a.blobs[i].len, 0600,
						 &err),
				 0);
	}
	assert_int_equal(boot_manifest_parse((const char *)f->a.blobs[0].bytes, f->a.blobs[0].len,
					     &f->manifest, &err),
			 0);
	f->modules = (struct kg_texts){module_names, 2};
	f->artifact = (struct boot_artifact){&f->manifest, &f->modules};
	(void)snprintf(f->base, sizeof(f->base), "%s/base.cpio", f->dir);
	assert_int_equal(kg_file_replace(f->base, "BASE!", 5, 0600, &err), 0);
	(void)snprintf(path, sizeof(path), "%s/digests", f->dir);
	f->digests = digests_open(path);
	assert_non_null(f->digests);
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	digests_close(f->digests);
	boot_manifest_deinit(&f->manifest);
	artifact_free(&f->a);
	assert_int_equal(kg_remove_tree(f->dir, NULL), 0);
	free(f);
	return 0;
}

static char *output_of(const char *command)
{
	FILE *p = popen(command, "r");
	struct kg_str s = {0};
	char buf[512];
	size_t n;

	assert_non_null(p);
	while ((n = fread(buf, 1, sizeof(buf), p)) > 0)
		kg_str_addn(&s, buf, n);
	assert_int_equal(pclose(p), 0);
	return kg_str_take(&s);
}

static void write_overlay(struct fixture *f, char *path, size_t size)
{
	struct kg_err err = {""};
	int fd;

	(void)snprintf(path, size, "%s/overlay.cpio", f->dir);
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	assert_true(fd >= 0);
	if (boot_initrd_write_overlay(fd, f->dir, &f->artifact, &err) < 0)
		fail_msg("%s", err.text);
	close(fd);
}

static void test_overlay_lists_folders_before_files_and_the_order(void **state)
{
	struct fixture *f = *state;
	char path[128], command[256], *list;

	write_overlay(f, path, sizeof(path));
	(void)snprintf(command, sizeof(command), "cpio -it --quiet <%s", path);
	list = output_of(command);
	assert_string_equal(list, "lib\n"
				  "lib/modules\n"
				  "lib/modules/6.1-test\n"
				  "lib/modules/6.1-test/kernel\n"
				  "lib/modules/6.1-test/kernel/a.ko\n"
				  "lib/modules/6.1-test/kernel/net\n"
				  "lib/modules/6.1-test/kernel/net/b.ko\n"
				  "lib/modules/6.1-test/kgrid.order\n");
	free(list);
}

static void test_overlay_unpacks_to_the_modules_and_their_order(void **state)
{
	struct fixture *f = *state;
	char path[128], command[512], *text;

	write_overlay(f, path, sizeof(path));
	(void)snprintf(command, sizeof(command),
		       "mkdir %s/out && cd %s/out && cpio -id --quiet <%s && "
		       "cd lib/modules/6.1-test && cat kgrid.order kernel/a.ko kernel/net/b.ko",
		       f->dir, f->dir, path);
	text = output_of(command);
	assert_string_equal(text, "kernel/a.ko\nkernel/net/b.ko\nmodule amodule b is longer");
	free(text);
}

static void test_image_is_base_padding_overlay(void **state)
{
	struct fixture *f = *state;
	char overlay[128], path[CACHE_PATH_SIZE], *image, *alone;
	struct kg_err err;
	size_t len, alone_len;

	write_overlay(f, overlay, sizeof(overlay));
	assert_int_equal(boot_initrd_make(f->dir, f->a.blobs[0].digest, f->base, &f->artifact,
					  f->digests, path, &err),
			 0);
	assert_int_equal(kg_file_read(path, 1 << 20, &image, &len, &err), 0);
	assert_int_equal(kg_file_read(overlay, 1 << 20, &alone, &alone_len, &err), 0);
	assert_int_equal(len, 8 + alone_len);
	assert_memory_equal(image, "BASE!\0\0\0", 8);
	assert_memory_equal(image + 8, alone, alone_len);
	free(image);
	free(alone);
}

static void test_image_is_built_once_for_kernel_modules_and_base(void **state)
{
	struct fixture *f = *state;
	char first[CACHE_PATH_SIZE], second[CACHE_PATH_SIZE];
	struct stat a, b;
	struct kg_err err;

	assert_int_equal(boot_initrd_make(f->dir, f->a.blobs[0].digest, f->base, &f->artifact,
					  f->digests, first, &err),
			 0);
	assert_int_equal(stat(first, &a), 0);
	assert_int_equal(boot_initrd_make(f->dir, f->a.blobs[0].digest, f->base, &f->artifact,
					  f->digests, second, &err),
			 0);
	assert_string_equal(first, second);
	assert_int_equal(stat(first, &b), 0);
	assert_int_equal(a.st_ino, b.st_ino);

	assert_int_equal(kg_file_replace(f->base, "OTHER BASE", 10, 0600, &err), 0);
	assert_int_equal(boot_initrd_make(f->dir, f->a.blobs[0].digest, f->base, &f->artifact,
					  f->digests, second, &err),
			 0);
	assert_string_not_equal(first, second);

	f->modules.n = 1;
	assert_int_equal(boot_initrd_make(f->dir, f->a.blobs[0].digest, f->base, &f->artifact,
					  f->digests, first, &err),
			 0);
	assert_string_not_equal(first, second);
}

static void test_module_of_another_size_is_corrupt_and_leaves_no_image(void **state)
{
	struct fixture *f = *state;
	char path[CACHE_PATH_SIZE], unfinished[CACHE_PATH_SIZE];
	struct kg_err err;

	cache_blob_path(f->dir, f->a.blobs[1].digest, false, path);
	assert_int_equal(kg_file_replace(path, "x", 1, 0600, &err), 0);
	assert_int_equal(boot_initrd_make(f->dir, f->a.blobs[0].digest, f->base, &f->artifact,
					  f->digests, path, &err),
			 KG_ECORRUPT);
	cache_initrd_path(f->dir, "unfinished", unfinished);
	assert_int_equal(access(unfinished, F_OK), -1);
}

static void test_missing_base_is_named(void **state)
{
	struct fixture *f = *state;
	char path[CACHE_PATH_SIZE];
	struct kg_err err;

	assert_true(boot_initrd_make(f->dir, f->a.blobs[0].digest, "/nosuch/base", &f->artifact,
				     f->digests, path, &err) < 0);
	assert_non_null(strstr(err.text, "/nosuch/base"));
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(test_overlay_lists_folders_before_files_and_the_order),
		T(test_overlay_unpacks_to_the_modules_and_their_order),
		T(test_image_is_base_padding_overlay),
		T(test_image_is_built_once_for_kernel_modules_and_base),
		T(test_module_of_another_size_is_corrupt_and_leaves_no_image),
		T(test_missing_base_is_named),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
