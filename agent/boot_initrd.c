/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "agent/boot_initrd.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/cpio.h"
#include "common/file.h"
#include "common/sha256.h"
#include "common/str.h"

#define FORMAT "kgrid-initrd 1" /* another way to build makes another key */

static int make_key(const char *kernel_digest, const char *base, const struct boot_artifact *a,
		    struct digests *d, char ret_key[KG_SHA256_HEX_SIZE], struct kg_err *err)
{
	char digest[KG_SHA256_HEX_SIZE];
	struct kg_str s = {0};
	size_t i;
	int rc = digests_file(d, base, digest, err);

	if (rc < 0)
		return rc;
	kg_str_addf(&s, "%s\n%s\n%s\n", FORMAT, kernel_digest, digest);
	for (i = 0; i < a->modules->n; i++)
		kg_str_addf(&s, "%s\n", a->modules->items[i]);
	rc = s.failed ? -ENOMEM : kg_sha256_bytes(s.text, s.len, ret_key);
	kg_str_deinit(&s);
	return rc < 0 ? kg_err_set(err, rc, "out of memory") : 0;
}

/* Folders on the way to a file, each once: those that the path before did not have. */
static int add_parents(struct cpio *c, const char *path, const char *before, struct kg_err *err)
{
	char dir[CACHE_PATH_SIZE];
	size_t i;
	int rc = 0;

	for (i = 0; path[i] && rc == 0; i++) {
		if (path[i] != '/')
			continue;
		memcpy(dir, path, i);
		dir[i] = '\0';
		if (strncmp(before, path, i) != 0 || before[i] != '/')
			rc = cpio_add_dir(c, dir, err);
	}
	return rc;
}

static int add_module(struct cpio *c, const char *cache_dir, const struct boot_artifact *a,
		      const char *path, const char *module, struct kg_err *err)
{
	char from[CACHE_PATH_SIZE];
	const struct boot_file *file;
	struct kg_str name = {0};

	kg_str_addf(&name, "modules/%s", module);
	file = boot_manifest_find(a->manifest, kg_str_text(&name));
	kg_str_deinit(&name);
	if (!file)
		return kg_err_set(err, KG_EINVALID, "the kernel artifact has no module '%s'",
				  module);
	cache_blob_path(cache_dir, file->digest, false, from);
	return cpio_add_file(c, path, 0644, from, file->size_bytes, err);
}

int boot_initrd_write_overlay(int fd, const char *cache_dir, const struct boot_artifact *a,
			      struct kg_err *err)
{
	char path[CACHE_PATH_SIZE], before[CACHE_PATH_SIZE] = "";
	struct kg_str order = {0};
	struct cpio c;
	size_t i;
	int rc = 0;

	cpio_init(&c, fd);
	for (i = 0; i < a->modules->n && rc == 0; i++) {
		const char *module = a->modules->items[i];

		kg_str_addf(&order, "%s\n", module);
		if (snprintf(path, sizeof(path), "lib/modules/%s/%s", a->manifest->release,
			     module) >= (int)sizeof(path)) {
			rc = kg_err_set(err, -ENAMETOOLONG, "path too long: '%s'", module);
			break;
		}
		rc = add_parents(&c, path, before, err);
		if (rc == 0)
			rc = add_module(&c, cache_dir, a, path, module, err);
		memcpy(before, path, sizeof(before));
	}
	(void)snprintf(path, sizeof(path), "lib/modules/%s/kgrid.order", a->manifest->release);
	if (rc == 0)
		rc = order.failed ? kg_err_set(err, -ENOMEM, "out of memory")
				  : add_parents(&c, path, before, err);
	if (rc == 0)
		rc = cpio_add_bytes(&c, path, 0644, kg_str_text(&order), order.len, err);
	kg_str_deinit(&order);
	return rc < 0 ? rc : cpio_end(&c, err);
}

static int write_image(int fd, const char *cache_dir, const char *base,
		       const struct boot_artifact *a, struct kg_err *err)
{
	static const char zeros[4];
	uint64_t size = 0;
	int rc = cpio_copy_file(fd, base, &size, err);

	if (rc < 0)
		return rc;
	rc = kg_write_all(fd, zeros, (size_t)(-size & 3));
	if (rc < 0)
		return kg_err_set(err, rc, "cannot write the initial image: %s", kg_strerror(rc));
	return boot_initrd_write_overlay(fd, cache_dir, a, err);
}

int boot_initrd_make(const char *cache_dir, const char *kernel_digest, const char *base,
		     const struct boot_artifact *a, struct digests *d,
		     char ret_path[CACHE_PATH_SIZE], struct kg_err *err)
{
	char key[KG_SHA256_HEX_SIZE], path[CACHE_PATH_SIZE], tmp[CACHE_PATH_SIZE];
	int fd, rc = make_key(kernel_digest, base, a, d, key, err);

	if (rc < 0)
		return rc;
	cache_initrd_path(cache_dir, key, path);
	if (cache_use(path)) {
		memcpy(ret_path, path, sizeof(path));
		return 0;
	}
	cache_initrd_path(cache_dir, "unfinished", tmp);
	fd = open(tmp, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd < 0)
		return kg_err_errno(err, "cannot create", tmp);
	rc = write_image(fd, cache_dir, base, a, err);
	if (rc == 0 && fsync(fd) < 0)
		rc = kg_err_errno(err, "cannot sync", tmp);
	close(fd);
	if (rc == 0 && rename(tmp, path) < 0)
		rc = kg_err_errno(err, "cannot rename", tmp);
	if (rc < 0) {
		(void)unlink(tmp);
		return rc;
	}
	memcpy(ret_path, path, sizeof(path));
	return 0;
}
