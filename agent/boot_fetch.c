/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "agent/boot_fetch.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/cache.h"
#include "common/fault.h"
#include "common/file.h"
#include "common/sha256.h"
#include "common/str.h"

enum phase { PHASE_MANIFEST, PHASE_INDEX, PHASE_MODULES, PHASE_DONE };

struct want {
	char digest[KG_SHA256_HEX_SIZE];
	bool has_size;
	uint64_t size_bytes;
};

struct boot_fetch {
	char *dir; /* owned */
	char kernel_digest[KG_SHA256_HEX_SIZE];
	struct kg_texts names; /* owned copy */
	bool want_modules;
	const struct boot_fetch_ops *ops;
	void *data;
	enum phase phase;
	struct want *wants; /* owned; of this phase */
	size_t n_wants, at;
	struct boot_manifest manifest;
	struct kg_texts order;
	int fd;			/* of the .part file in progress, -1: none */
	struct kg_sha256 *hash; /* over what the file has */
	uint64_t have;
	bool second_try;
};

static void finish(struct boot_fetch *f, int code, const char *reason)
{
	if (f->phase == PHASE_DONE)
		return;
	f->phase = PHASE_DONE;
	f->ops->done(f->data, code, reason);
}

__attribute__((format(printf, 3, 4))) static void fail(struct boot_fetch *f, int code,
						       const char *fmt, ...)
{
	char reason[KG_ERR_TEXT_MAX];
	va_list ap;

	va_start(ap, fmt);
	(void)vsnprintf(reason, sizeof(reason), fmt, ap);
	va_end(ap);
	finish(f, code, reason);
}

static int copy_texts(const struct kg_texts *from, struct kg_texts *to)
{
	size_t i;

	to->items = calloc(from->n + 1, sizeof(*to->items));
	if (!to->items)
		return -ENOMEM;
	for (i = 0; i < from->n; i++) {
		to->items[i] = strdup(from->items[i]);
		if (!to->items[i])
			return -ENOMEM;
		to->n++;
	}
	return 0;
}

struct boot_fetch *boot_fetch_new(const char *cache_dir, const char *kernel_digest,
				  const struct kg_texts *modules, const struct boot_fetch_ops *ops,
				  void *data)
{
	struct boot_fetch *f = calloc(1, sizeof(*f));

	if (!f)
		return NULL;
	f->fd = -1;
	f->ops = ops;
	f->data = data;
	f->want_modules = modules != NULL;
	f->dir = strdup(cache_dir);
	(void)snprintf(f->kernel_digest, sizeof(f->kernel_digest), "%s", kernel_digest);
	if (!f->dir || (modules && copy_texts(modules, &f->names) < 0)) {
		boot_fetch_free(f);
		return NULL;
	}
	return f;
}

static void close_part(struct boot_fetch *f)
{
	if (f->fd >= 0)
		close(f->fd);
	f->fd = -1;
	kg_sha256_free(f->hash);
	f->hash = NULL;
}

void boot_fetch_free(struct boot_fetch *f)
{
	if (!f)
		return;
	close_part(f);
	free(f->dir);
	free(f->wants);
	kg_texts_deinit(&f->names);
	kg_texts_deinit(&f->order);
	boot_manifest_deinit(&f->manifest);
	free(f);
}

static int want(struct boot_fetch *f, const char *digest, const struct boot_file *file)
{
	struct want *w = realloc(f->wants, (f->n_wants + 1) * sizeof(*w));

	if (!w)
		return -ENOMEM;
	f->wants = w;
	w = &w[f->n_wants++];
	memset(w, 0, sizeof(*w));
	(void)snprintf(w->digest, sizeof(w->digest), "%s", digest);
	if (file) {
		w->has_size = true;
		w->size_bytes = file->size_bytes;
	}
	return 0;
}

static int want_path(struct boot_fetch *f, const char *path, bool required)
{
	const struct boot_file *file = boot_manifest_find(&f->manifest, path);

	if (!file && required) {
		fail(f, KG_EINVALID, "the kernel artifact has no '%s'", path);
		return KG_EINVALID;
	}
	return file ? want(f, file->digest, file) : 0;
}

/* Reads a cached text blob by its path in the manifest; "" when the manifest has none. */
static char *read_blob(struct boot_fetch *f, const char *path)
{
	const struct boot_file *file = boot_manifest_find(&f->manifest, path);
	char name[CACHE_PATH_SIZE];
	char *text;
	size_t len;

	if (!file)
		return strdup("");
	cache_blob_path(f->dir, file->digest, false, name);
	return kg_file_read(name, BOOT_MANIFEST_MAX_BYTES, &text, &len, NULL) == 0 ? text : NULL;
}

static int begin_index(struct boot_fetch *f)
{
	char name[CACHE_PATH_SIZE];
	struct kg_err err;
	char *text;
	size_t len;
	int rc;

	cache_blob_path(f->dir, f->kernel_digest, false, name);
	rc = kg_file_read(name, BOOT_MANIFEST_MAX_BYTES, &text, &len, &err);
	if (rc == 0) {
		rc = boot_manifest_parse(text, len, &f->manifest, &err);
		free(text);
	}
	if (rc < 0) {
		fail(f, rc, "%s", err.text);
		return rc;
	}
	f->phase = PHASE_INDEX;
	rc = want_path(f, "vmlinuz", true);
	if (rc == 0 && f->want_modules)
		rc = want_path(f, "modules/modules.dep", f->names.n > 0);
	if (rc == 0 && f->want_modules)
		rc = want_path(f, "modules/modules.builtin", false);
	return rc;
}

static int begin_modules(struct boot_fetch *f)
{
	char *dep = read_blob(f, "modules/modules.dep");
	char *builtin = read_blob(f, "modules/modules.builtin");
	struct kg_err err;
	size_t i;
	int rc = -ENOMEM;

	if (dep && builtin) {
		rc = boot_modules_order(dep, builtin, &f->names, &f->order, &err);
		if (rc < 0)
			fail(f, rc, "%s", err.text);
	}
	free(dep);
	free(builtin);
	f->phase = f->phase == PHASE_DONE ? PHASE_DONE : PHASE_MODULES;
	for (i = 0; i < f->order.n && rc == 0; i++) {
		struct kg_str path = {0};

		kg_str_addf(&path, "modules/%s", f->order.items[i]);
		rc = path.failed ? -ENOMEM : want_path(f, path.text, true);
		kg_str_deinit(&path);
	}
	return rc;
}

/* All of this phase is there: on to the next. */
static void next_phase(struct boot_fetch *f)
{
	int rc = 0;

	f->n_wants = 0;
	f->at = 0;
	if (f->phase == PHASE_MANIFEST)
		rc = begin_index(f);
	else if (f->phase == PHASE_INDEX && f->want_modules)
		rc = begin_modules(f);
	else
		finish(f, 0, NULL);
	if (rc < 0)
		fail(f, rc, "cannot go on with the kernel artifact: %s", kg_strerror(rc));
}

/* Opens the .part file of a blob and digests what it has already. */
static int open_part(struct boot_fetch *f, const struct want *w)
{
	char path[CACHE_PATH_SIZE], buf[16384];
	struct kg_err err;
	ssize_t n;

	cache_blob_path(f->dir, w->digest, true, path);
	*strrchr(path, '/') = '\0';
	if (kg_mkdir_p(path, 0700, &err) < 0) {
		fail(f, KG_ESTATE, "%s", err.text);
		return KG_ESTATE;
	}
	cache_blob_path(f->dir, w->digest, true, path);
	f->fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	f->hash = kg_sha256_new();
	f->have = 0;
	if (f->fd < 0 || !f->hash) {
		fail(f, -errno, "cannot open '%s': %s", path, strerror(errno));
		return -EIO;
	}
	while ((n = read(f->fd, buf, sizeof(buf))) > 0) {
		kg_sha256_update(f->hash, buf, (size_t)n);
		f->have += (uint64_t)n;
	}
	return 0;
}

/* The file is whole. Right digest: into place. */
static int close_whole(struct boot_fetch *f, const struct want *w)
{
	char part[CACHE_PATH_SIZE], path[CACHE_PATH_SIZE], digest[KG_SHA256_HEX_SIZE];
	int rc = 0;

	cache_blob_path(f->dir, w->digest, true, part);
	cache_blob_path(f->dir, w->digest, false, path);
	kg_sha256_final(f->hash, digest);
	if (strcmp(digest, w->digest) != 0) {
		close_part(f);
		cache_drop(part);
		if (f->second_try)
			fail(f, KG_ECORRUPT, "blob %.12s arrived with another content, twice",
			     w->digest);
		f->second_try = true; /* a .part file of old may have been damaged */
		return KG_ECORRUPT;
	}
	if (fsync(f->fd) < 0)
		rc = -errno;
	KG_FAULT(FETCH_SYNCED);
	if (rc == 0 && rename(part, path) < 0)
		rc = -errno;
	close_part(f);
	if (rc < 0) {
		fail(f, rc, "cannot keep blob %.12s: %s", w->digest, strerror(-rc));
		return rc;
	}
	f->second_try = false;
	f->at++;
	return 0;
}

void boot_fetch_resume(struct boot_fetch *f)
{
	char path[CACHE_PATH_SIZE];

	close_part(f);
	if (f->phase == PHASE_MANIFEST && f->n_wants == 0 && want(f, f->kernel_digest, NULL) < 0)
		fail(f, -ENOMEM, "out of memory");
	while (f->phase != PHASE_DONE) {
		const struct want *w;

		if (f->at == f->n_wants) {
			next_phase(f);
			continue;
		}
		w = &f->wants[f->at];
		cache_blob_path(f->dir, w->digest, false, path);
		if (cache_use(path)) {
			f->at++;
			continue;
		}
		if (open_part(f, w) < 0)
			return;
		if (w->has_size && f->have >= w->size_bytes) {
			(void)close_whole(f, w); /* whole or damaged: goes on or begins anew */
			continue;
		}
		f->ops->request(f->data, w->digest, f->have, BOOT_CHUNK_BYTES);
		return;
	}
}

void boot_fetch_chunk(struct boot_fetch *f, const char *digest, uint64_t offset,
		      uint64_t total_bytes, const uint8_t *bytes, size_t len)
{
	struct want *w;
	int rc;

	if (f->phase == PHASE_DONE || f->fd < 0 || f->at >= f->n_wants)
		return;
	w = &f->wants[f->at];
	if (strcmp(digest, w->digest) != 0 || offset != f->have)
		return;
	if ((w->has_size && total_bytes != w->size_bytes) || len > total_bytes - offset ||
	    (!w->has_size && total_bytes > BOOT_MANIFEST_MAX_BYTES) ||
	    (len == 0 && offset < total_bytes)) {
		fail(f, KG_EPROTO, "blob %.12s: %" PRIu64 " bytes offered, %" PRIu64 " expected",
		     digest, total_bytes, w->has_size ? w->size_bytes : 0);
		return;
	}
	rc = kg_write_all(f->fd, bytes, len);
	if (rc < 0) {
		fail(f, rc, "cannot write to the cache: %s", kg_strerror(rc));
		return;
	}
	kg_sha256_update(f->hash, bytes, len);
	f->have += len;
	if (f->have < total_bytes) {
		f->ops->request(f->data, w->digest, f->have, BOOT_CHUNK_BYTES);
		return;
	}
	rc = close_whole(f, w);
	if (rc == 0 || rc == KG_ECORRUPT)
		boot_fetch_resume(f);
}

void boot_fetch_refused(struct boot_fetch *f, int code, const char *text)
{
	fail(f, code, "the coordinator does not deliver the kernel: %s", text);
}

void boot_fetch_artifact(const struct boot_fetch *f, struct boot_artifact *ret_a)
{
	ret_a->manifest = &f->manifest;
	ret_a->modules = &f->order;
}
