/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "coordinator/artifact/kernel.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/file.h"

void artifact_kernel_deinit(struct artifact_kernel *k)
{
	artifact_manifest_deinit(&k->manifest);
	free(k->config);
	memset(k, 0, sizeof(*k));
}

/* The value of "CONFIG_NAME=" at the start of a line. Borrows. */
static const char *config_line(const char *config, const char *name)
{
	size_t len = strlen(name);
	const char *line = config;

	while (line) {
		if (strncmp(line, name, len) == 0 && line[len] == '=')
			return line + len + 1;
		line = strchr(line, '\n');
		line = line ? line + 1 : NULL;
	}
	return NULL;
}

bool artifact_config_value(const char *config, const char *name, char *ret_value, size_t size)
{
	const char *value = config_line(config, name);
	size_t len;

	if (size > 0)
		ret_value[0] = '\0';
	if (!value)
		return false;
	len = strcspn(value, "\n");
	if (len >= 2 && value[0] == '"' && value[len - 1] == '"') {
		value++;
		len -= 2;
	}
	if (len >= size)
		return false;
	memcpy(ret_value, value, len);
	ret_value[len] = '\0';
	return true;
}

static int check_blobs(const struct artifact_blobs *b, const struct artifact_manifest *m,
		       struct kg_err *err)
{
	char path[PATH_MAX];
	uint64_t size;
	size_t i;
	int rc;

	for (i = 0; i < m->n; i++) {
		const struct artifact_file *f = &m->files[i];

		rc = artifact_blobs_path(b, f->digest, path, sizeof(path), &size, err);
		if (rc < 0)
			return kg_err_wrap(err, rc, "'%s'", f->path);
		if (size != f->size_bytes)
			return kg_err_set(err, KG_EINVALID,
					  "'%s' has %llu bytes and not %llu as its manifest says",
					  f->path, (unsigned long long)size,
					  (unsigned long long)f->size_bytes);
	}
	return 0;
}

static int read_config(const struct artifact_blobs *b, struct artifact_kernel *k,
		       struct kg_err *err)
{
	const struct artifact_file *f = artifact_manifest_find(&k->manifest, "config");
	char path[PATH_MAX];
	char value[8];
	int rc;

	memcpy(k->config_digest, f->digest, sizeof(k->config_digest));
	rc = artifact_blobs_path(b, f->digest, path, sizeof(path), NULL, err);
	if (rc == 0)
		rc = kg_file_read(path, ARTIFACT_CONFIG_MAX, &k->config, &k->config_len, err);
	if (rc < 0)
		return rc;
	if (strlen(k->config) != k->config_len || !kg_utf8_valid(k->config, k->config_len) ||
	    !artifact_config_value(k->config, "CONFIG_X86_64", value, sizeof(value)))
		return kg_err_set(err, KG_EINVALID,
				  "'config' is not the configuration of an x86-64 kernel");
	return 0;
}

/* A config says "# Linux/x86 6.12.117 Kernel Configuration" in its head. Distributions change what
 * follows the second number, so that only the first two are compared. */
static int check_config_version(const struct artifact_kernel *k, struct kg_err *err)
{
	const char *end = strstr(k->config, " Kernel Configuration");
	unsigned major, minor, want_major, want_minor;
	const char *at = end;

	if (!end || end - k->config > 256)
		return 0; /* written by something else: nothing to compare */
	while (at > k->config && at[-1] != ' ' && at[-1] != '\n')
		at--;
	if (sscanf(at, "%u.%u", &major, &minor) != 2 ||
	    sscanf(k->image.release, "%u.%u", &want_major, &want_minor) != 2)
		return 0;
	if (major == want_major && minor == want_minor)
		return 0;
	return kg_err_set(err, KG_EINVALID,
			  "'config' is of Linux %u.%u, and the image is of release '%s'", major,
			  minor, k->image.release);
}

static int read_header(const char *path, const char *build_id, struct artifact_image *ret,
		       struct kg_err *err)
{
	char *bytes;
	size_t len;
	int rc = kg_file_read(path, ARTIFACT_IMAGE_MAX, &bytes, &len, err);

	if (rc < 0)
		return rc;
	rc = artifact_image_header(bytes, len, ret, err);
	free(bytes);
	if (rc == 0)
		(void)snprintf(ret->build_id, sizeof(ret->build_id), "%s", build_id);
	return rc;
}

/* `build_id`: NULL when it is not known yet. */
static int check_kernel(const struct artifact_blobs *b, const char *build_id,
			struct artifact_kernel *k, struct kg_err *err)
{
	const struct artifact_file *vmlinuz = artifact_manifest_find(&k->manifest, "vmlinuz");
	char path[PATH_MAX];
	char value[8];
	int rc;

	rc = artifact_blobs_path(b, vmlinuz->digest, path, sizeof(path), NULL, err);
	if (rc == 0 && build_id)
		rc = read_header(path, build_id, &k->image, err);
	else if (rc == 0)
		rc = artifact_image_inspect_file(path, &k->image, err);
	if (rc < 0)
		return kg_err_wrap(err, rc, "'vmlinuz'");
	if (strcmp(k->image.release, k->manifest.release) != 0)
		return kg_err_set(err, KG_EINVALID,
				  "the image is of release '%s', the manifest says '%s'",
				  k->image.release, k->manifest.release);
	if (artifact_config_value(k->config, "CONFIG_MODULES", value, sizeof(value)) &&
	    !artifact_manifest_has_modules(&k->manifest))
		return kg_err_set(err, KG_EINVALID,
				  "release '%s' is built for modules and has none",
				  k->manifest.release);
	return check_config_version(k, err);
}

static int open_kernel(const struct artifact_blobs *b, const char *manifest, size_t len,
		       const char *build_id, struct artifact_kernel *ret_kernel, struct kg_err *err)
{
	struct artifact_kernel k;
	int rc;

	memset(&k, 0, sizeof(k));
	rc = artifact_manifest_parse(manifest, len, &k.manifest, err);
	if (rc < 0)
		return kg_err_wrap(err, rc, "manifest refused");
	k.files = k.manifest.n;
	k.size_bytes = k.manifest.size_bytes;
	rc = artifact_manifest_digest(manifest, len, k.digest);
	if (rc < 0)
		rc = kg_err_set(err, rc, "out of memory");
	if (rc == 0)
		rc = check_blobs(b, &k.manifest, err);
	if (rc == 0)
		rc = read_config(b, &k, err);
	if (rc == 0)
		rc = check_kernel(b, build_id, &k, err);
	if (rc < 0) {
		artifact_kernel_deinit(&k);
		return kg_err_wrap(err, rc, "kernel refused");
	}
	*ret_kernel = k;
	return 0;
}

int artifact_kernel_open(const struct artifact_blobs *b, const char *manifest, size_t len,
			 struct artifact_kernel *ret_kernel, struct kg_err *err)
{
	return open_kernel(b, manifest, len, NULL, ret_kernel, err);
}

int artifact_kernel_reopen(const struct artifact_blobs *b, const char *manifest, size_t len,
			   const char *build_id, struct artifact_kernel *ret_kernel,
			   struct kg_err *err)
{
	return open_kernel(b, manifest, len, build_id ? build_id : "", ret_kernel, err);
}
