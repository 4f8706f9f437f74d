/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "agent/cache.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/file.h"

struct kept {
	char *path; /* owned */
	uint64_t size_bytes;
	struct timespec used;
};

/* nftw(3) hands its callback nothing of ours. Only cache_trim sets this, and it does not nest. */
static struct {
	struct kept *items;
	size_t n;
	bool failed;
} found;

int cache_init(const char *dir, struct kg_err *err)
{
	char path[CACHE_PATH_SIZE];
	int rc;

	(void)snprintf(path, sizeof(path), "%s/blobs", dir);
	rc = kg_mkdir_p(path, 0700, err);
	if (rc < 0)
		return rc;
	(void)snprintf(path, sizeof(path), "%s/initrd", dir);
	return kg_mkdir_p(path, 0700, err);
}

void cache_blob_path(const char *dir, const char *digest, bool part, char ret[CACHE_PATH_SIZE])
{
	(void)snprintf(ret, CACHE_PATH_SIZE, "%s/blobs/%.2s/%s%s", dir, digest, digest + 2,
		       part ? ".part" : "");
}

void cache_initrd_path(const char *dir, const char *key, char ret[CACHE_PATH_SIZE])
{
	(void)snprintf(ret, CACHE_PATH_SIZE, "%s/initrd/%s", dir, key);
}

bool cache_use(const char *path)
{
	return utimensat(AT_FDCWD, path, NULL, AT_SYMLINK_NOFOLLOW) == 0;
}

void cache_drop(const char *path)
{
	(void)unlink(path);
}

static int note_file(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	struct kept *items;

	(void)ftw;
	if (type != FTW_F)
		return 0;
	items = realloc(found.items, (found.n + 1) * sizeof(*items));
	if (items)
		found.items = items;
	if (!items || !(items[found.n].path = strdup(path))) {
		found.failed = true;
		return -1;
	}
	items[found.n].size_bytes = (uint64_t)st->st_blocks * 512;
	items[found.n].used = st->st_mtim;
	found.n++;
	return 0;
}

static int by_use(const void *a, const void *b)
{
	const struct kept *x = a, *y = b;

	if (x->used.tv_sec != y->used.tv_sec)
		return x->used.tv_sec < y->used.tv_sec ? -1 : 1;
	if (x->used.tv_nsec != y->used.tv_nsec)
		return x->used.tv_nsec < y->used.tv_nsec ? -1 : 1;
	return strcmp(x->path, y->path);
}

int cache_trim(const char *dir, uint64_t limit_bytes, time_t since, struct kg_err *err)
{
	uint64_t total = 0;
	size_t i;
	int rc = 0;

	memset(&found, 0, sizeof(found));
	(void)nftw(dir, note_file, 8, FTW_PHYS);
	if (found.failed)
		rc = kg_err_set(err, -ENOMEM, "out of memory");
	for (i = 0; i < found.n; i++)
		total += found.items[i].size_bytes;
	if (found.n && rc == 0)
		qsort(found.items, found.n, sizeof(*found.items), by_use);
	for (i = 0; i < found.n && rc == 0 && total > limit_bytes; i++) {
		const struct kept *k = &found.items[i];

		if (k->used.tv_sec >= since)
			break;
		if (unlink(k->path) < 0 && errno != ENOENT)
			rc = kg_err_errno(err, "cannot remove", k->path);
		else
			total -= k->size_bytes;
	}
	for (i = 0; i < found.n; i++)
		free(found.items[i].path);
	free(found.items);
	memset(&found, 0, sizeof(found));
	return rc;
}
