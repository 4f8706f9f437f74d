/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "coordinator/artifact/blob.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "common/fault.h"
#include "common/file.h"

/* Uploads whose running digest is kept; further ones are hashed again when they go on. */
#define UPLOADS_MAX   8
#define PART	      ".part"
#define DONE	      ".done"
#define INCOMING_SIZE (KG_SHA256_HEX_SIZE + 5) /* of a name in incoming/ */

struct upload {
	char digest[KG_SHA256_HEX_SIZE];
	int fd;		       /* -1: free slot */
	struct kg_sha256 *sha; /* of the `len` bytes that are there */
	uint64_t len;
	uint64_t used; /* when, in puts */
};

struct artifact_blobs {
	char *dir;		     /* never changes */
	pthread_mutex_t upload_lock; /* uploads, puts, and removing parts */
	struct upload uploads[UPLOADS_MAX];
	uint64_t puts;
	pthread_mutex_t settle_lock; /* one settling at a time: done means durable */
};

static int blob_path(const struct artifact_blobs *b, const char *digest, char path[PATH_MAX])
{
	int n = snprintf(path, PATH_MAX, "%s/%.2s/%s", b->dir, digest, digest + 2);

	return n < PATH_MAX ? 0 : -ENAMETOOLONG;
}

static int incoming_path(const struct artifact_blobs *b, const char *digest, const char *suffix,
			 char path[PATH_MAX])
{
	int n = snprintf(path, PATH_MAX, "%s/incoming/%s%s", b->dir, digest, suffix);

	return n < PATH_MAX ? 0 : -ENAMETOOLONG;
}

/* The digest in a name of incoming/ that ends in `suffix`. */
static bool incoming_digest(const char *name, const char *suffix,
			    char ret_digest[KG_SHA256_HEX_SIZE])
{
	if (strlen(name) != KG_SHA256_HEX_LEN + strlen(suffix) ||
	    strcmp(name + KG_SHA256_HEX_LEN, suffix) != 0)
		return false;
	memcpy(ret_digest, name, KG_SHA256_HEX_LEN);
	ret_digest[KG_SHA256_HEX_LEN] = '\0';
	return kg_sha256_hex_valid(ret_digest);
}

static int open_incoming(const struct artifact_blobs *b, DIR **ret_d, struct kg_err *err)
{
	char path[PATH_MAX];

	(void)incoming_path(b, "", "", path);
	*ret_d = opendir(path);
	return *ret_d ? 0 : kg_err_errno(err, "cannot open directory", path);
}

/* What an earlier process verified and did not settle may have lost its content in a power cut: it
 * is a part again, and the next put verifies it anew. */
static int demote_done(const struct artifact_blobs *b, struct kg_err *err)
{
	char digest[KG_SHA256_HEX_SIZE], part[INCOMING_SIZE];
	struct dirent *e;
	DIR *d;
	int rc = open_incoming(b, &d, err);

	if (rc < 0)
		return rc;
	while (rc == 0 && (e = readdir(d)) != NULL) {
		if (!incoming_digest(e->d_name, DONE, digest))
			continue;
		(void)snprintf(part, sizeof(part), "%s" PART, digest);
		if (renameat(dirfd(d), e->d_name, dirfd(d), part) < 0)
			rc = kg_err_errno(err, "cannot rename", e->d_name);
	}
	closedir(d);
	return rc;
}

int artifact_blobs_open(const char *dir, struct artifact_blobs **ret_b, struct kg_err *err)
{
	struct artifact_blobs *b = calloc(1, sizeof(*b));
	char path[PATH_MAX];
	size_t i;
	int rc;

	if (!b)
		return kg_err_set(err, -ENOMEM, "out of memory");
	for (i = 0; i < UPLOADS_MAX; i++)
		b->uploads[i].fd = -1;
	(void)pthread_mutex_init(&b->upload_lock, NULL);
	(void)pthread_mutex_init(&b->settle_lock, NULL);
	b->dir = strdup(dir);
	if (!b->dir)
		rc = kg_err_set(err, -ENOMEM, "out of memory");
	else if (strlen(dir) + KG_SHA256_HEX_SIZE + 32 > PATH_MAX) /* so that all paths fit */
		rc = kg_err_set(err, -ENAMETOOLONG, "path too long: '%s'", dir);
	else {
		(void)incoming_path(b, "", "", path);
		path[strlen(path) - 1] = '\0';
		rc = kg_mkdir_p(path, 0700, err);
	}
	if (rc == 0)
		rc = demote_done(b, err);
	if (rc < 0) {
		artifact_blobs_free(b);
		return rc;
	}
	*ret_b = b;
	return 0;
}

static void upload_close(struct upload *u)
{
	if (u->fd < 0)
		return;
	close(u->fd);
	kg_sha256_free(u->sha);
	memset(u, 0, sizeof(*u));
	u->fd = -1;
}

void artifact_blobs_free(struct artifact_blobs *b)
{
	size_t i;

	if (!b)
		return;
	for (i = 0; i < UPLOADS_MAX; i++)
		upload_close(&b->uploads[i]);
	(void)pthread_mutex_destroy(&b->upload_lock);
	(void)pthread_mutex_destroy(&b->settle_lock);
	free(b->dir);
	free(b);
}

/* ---- asking ---- */

static bool is_file(const char *path)
{
	struct stat st;

	return lstat(path, &st) == 0 && S_ISREG(st.st_mode);
}

bool artifact_blobs_has(const struct artifact_blobs *b, const char *digest)
{
	char path[PATH_MAX];

	if (!kg_sha256_hex_valid(digest))
		return false;
	/* In this order: settling moves it from the first place to the second. */
	(void)incoming_path(b, digest, DONE, path);
	if (is_file(path))
		return true;
	(void)blob_path(b, digest, path);
	return is_file(path);
}

int artifact_blobs_path(const struct artifact_blobs *b, const char *digest, char *ret_path,
			size_t path_size, uint64_t *ret_size_bytes, struct kg_err *err)
{
	char path[PATH_MAX];
	struct stat st;

	if (!kg_sha256_hex_valid(digest))
		return kg_err_set(err, KG_EINVALID, "malformed digest");
	if (blob_path(b, digest, path) < 0 || strlen(path) >= path_size)
		return kg_err_set(err, -ENAMETOOLONG, "path too long: '%s'", b->dir);
	if (lstat(path, &st) < 0) {
		if (errno == ENOENT)
			return kg_err_set(err, KG_ENOTFOUND, "no blob '%.12s'", digest);
		return kg_err_errno(err, "cannot read", path);
	}
	if (!S_ISREG(st.st_mode))
		return kg_err_set(err, KG_ECORRUPT, "'%s' is not a file", path);
	memcpy(ret_path, path, strlen(path) + 1);
	if (ret_size_bytes)
		*ret_size_bytes = (uint64_t)st.st_size;
	return 0;
}

static int by_digest(const void *a, const void *b)
{
	const struct artifact_file *x = *(const struct artifact_file *const *)a;
	const struct artifact_file *y = *(const struct artifact_file *const *)b;
	int order = strcmp(x->digest, y->digest);

	return order ? order : (x > y) - (x < y);
}

static int by_place(const void *a, const void *b)
{
	const struct artifact_file *x = *(const struct artifact_file *const *)a;
	const struct artifact_file *y = *(const struct artifact_file *const *)b;

	return (x > y) - (x < y);
}

int artifact_blobs_missing(const struct artifact_blobs *b, const struct artifact_manifest *m,
			   const struct artifact_file ***ret_files, size_t *ret_n,
			   struct kg_err *err)
{
	const struct artifact_file **files;
	const char *last = "";
	char path[PATH_MAX];
	size_t i, n = 0;

	files = calloc(m->n + 1, sizeof(*files));
	if (!files)
		return kg_err_set(err, -ENOMEM, "out of memory");
	for (i = 0; i < m->n; i++)
		files[i] = &m->files[i];
	qsort(files, m->n, sizeof(*files), by_digest);
	for (i = 0; i < m->n; i++) {
		if (strcmp(files[i]->digest, last) == 0)
			continue;
		last = files[i]->digest;
		if (!artifact_blobs_has(b, last))
			files[n++] = files[i];
		else if (blob_path(b, last, path) == 0)
			(void)utimensat(AT_FDCWD, path, NULL, AT_SYMLINK_NOFOLLOW);
	}
	qsort(files, n, sizeof(*files), by_place);
	if (n == 0) {
		free(files);
		files = NULL;
	}
	*ret_files = files;
	*ret_n = n;
	return 0;
}

/* ---- putting ---- */

/* Hashes what an earlier process or an evicted upload left. */
static int upload_rehash(struct upload *u)
{
	char buf[65536];

	for (;;) {
		ssize_t n = pread(u->fd, buf, sizeof(buf), (off_t)u->len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if (n == 0)
			return 0;
		kg_sha256_update(u->sha, buf, (size_t)n);
		u->len += (uint64_t)n;
	}
}

/* Opens the part of a blob, new or where it was left. A part longer than the blob is garbage. */
static int upload_open(const struct artifact_blobs *b, struct upload *u,
		       const struct artifact_chunk *c, struct kg_err *err)
{
	char path[PATH_MAX];
	struct stat st;
	int rc = 0;

	(void)incoming_path(b, c->digest, PART, path);
	u->fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (u->fd < 0)
		return kg_err_errno(err, "cannot create", path);
	memcpy(u->digest, c->digest, sizeof(u->digest));
	u->sha = kg_sha256_new();
	if (!u->sha)
		rc = -ENOMEM;
	else if (fstat(u->fd, &st) < 0)
		rc = -errno;
	else if ((uint64_t)st.st_size > c->total_bytes && ftruncate(u->fd, 0) < 0)
		rc = -errno;
	else
		rc = upload_rehash(u);
	if (rc < 0) {
		upload_close(u);
		return kg_err_set(err, rc, "cannot read '%s': %s", path, kg_strerror(rc));
	}
	return 0;
}

/* The running upload of a digest, opened when there is none; the one that was idle longest makes
 * room. */
static int upload_get(struct artifact_blobs *b, const struct artifact_chunk *c,
		      struct upload **ret_u, struct kg_err *err)
{
	struct upload *u, *oldest = &b->uploads[0];
	size_t i;
	int rc;

	for (i = 0; i < UPLOADS_MAX; i++) {
		u = &b->uploads[i];
		if (u->fd >= 0 && strcmp(u->digest, c->digest) == 0)
			goto found;
		if (u->fd < 0 || (oldest->fd >= 0 && u->used < oldest->used))
			oldest = u;
	}
	u = oldest;
	upload_close(u);
	rc = upload_open(b, u, c, err);
	if (rc < 0)
		return rc;
found:
	u->used = ++b->puts;
	*ret_u = u;
	return 0;
}

static int upload_append(struct artifact_blobs *b, struct upload *u, const struct artifact_chunk *c,
			 struct kg_err *err)
{
	int rc = 0;

	if (c->len == 0)
		return 0;
	if (lseek(u->fd, (off_t)u->len, SEEK_SET) < 0)
		rc = -errno;
	else
		rc = kg_write_all(u->fd, c->data, c->len);
	if (rc < 0) {
		/* What was written of the chunk does not count; the sender may try again. */
		if (ftruncate(u->fd, (off_t)u->len) < 0)
			upload_close(u);
		return kg_err_set(err, rc, "cannot write to '%s': %s", b->dir, kg_strerror(rc));
	}
	kg_sha256_update(u->sha, c->data, c->len);
	u->len += c->len;
	return 0;
}

/* All bytes are there: verifies them and marks the part as done. */
static int upload_finish(const struct artifact_blobs *b, struct upload *u, struct kg_err *err)
{
	char digest[KG_SHA256_HEX_SIZE], seen[KG_SHA256_HEX_SIZE];
	char part[PATH_MAX], done[PATH_MAX];

	memcpy(digest, u->digest, sizeof(digest));
	kg_sha256_final(u->sha, seen);
	upload_close(u);
	(void)incoming_path(b, digest, PART, part);
	(void)incoming_path(b, digest, DONE, done);
	if (strcmp(seen, digest) != 0) {
		(void)unlink(part);
		return kg_err_set(err, KG_ECORRUPT,
				  "the content has digest '%.12s' and not '%.12s'", seen, digest);
	}
	if (rename(part, done) < 0)
		return kg_err_errno(err, "cannot rename", part);
	return 0;
}

static int check_chunk(const struct artifact_chunk *c, struct kg_err *err)
{
	if (!kg_sha256_hex_valid(c->digest))
		return kg_err_set(err, KG_EINVALID, "malformed digest");
	if (c->total_bytes > ARTIFACT_FILE_MAX)
		return kg_err_set(err, KG_ELIMIT, "blob '%.12s' is larger than %llu bytes",
				  c->digest, ARTIFACT_FILE_MAX);
	if (c->offset > c->total_bytes || c->len > c->total_bytes - c->offset)
		return kg_err_set(err, KG_EINVALID, "a chunk of blob '%.12s' is beyond its end",
				  c->digest);
	return 0;
}

static int put_locked(struct artifact_blobs *b, const struct artifact_chunk *c,
		      struct artifact_progress *ret_progress, struct kg_err *err)
{
	struct upload *u;
	int rc;

	rc = upload_get(b, c, &u, err);
	if (rc < 0)
		return rc;
	if (u->len > c->total_bytes) { /* somebody else named another size */
		upload_close(u);
		return kg_err_set(err, KG_EINVALID, "blob '%.12s' has two sizes", c->digest);
	}
	if (c->offset == u->len) {
		rc = upload_append(b, u, c, err);
		if (rc < 0)
			return rc;
	}
	ret_progress->next_offset = u->len;
	ret_progress->complete = u->len == c->total_bytes;
	return ret_progress->complete ? upload_finish(b, u, err) : 0;
}

int artifact_blobs_put(struct artifact_blobs *b, const struct artifact_chunk *c,
		       struct artifact_progress *ret_progress, struct kg_err *err)
{
	struct artifact_progress progress = {.next_offset = c->total_bytes, .complete = true};
	int rc;

	rc = check_chunk(c, err);
	if (rc < 0)
		return rc;
	if (!artifact_blobs_has(b, c->digest)) {
		(void)pthread_mutex_lock(&b->upload_lock);
		rc = put_locked(b, c, &progress, err);
		(void)pthread_mutex_unlock(&b->upload_lock);
	}
	if (rc == 0)
		*ret_progress = progress;
	return rc;
}

/* ---- settling ---- */

static int sync_path(const char *path, int flags, struct kg_err *err)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | flags);
	int rc = 0;

	if (fd < 0)
		return kg_err_errno(err, "cannot open", path);
	KG_FAULT(BLOB_SYNC);
	if (fsync(fd) < 0)
		rc = kg_err_errno(err, "cannot sync", path);
	close(fd);
	return rc;
}

/* The digests of everything that is done. Owned. */
static int list_done(const struct artifact_blobs *b, char (**ret_digests)[KG_SHA256_HEX_SIZE],
		     size_t *ret_n, struct kg_err *err)
{
	char(*digests)[KG_SHA256_HEX_SIZE] = NULL;
	char(*more)[KG_SHA256_HEX_SIZE];
	struct dirent *e;
	size_t n = 0;
	DIR *d;
	int rc = open_incoming(b, &d, err);

	if (rc < 0)
		return rc;
	while ((e = readdir(d)) != NULL) {
		if ((n & (n - 1)) == 0) { /* grows at powers of two */
			more = realloc(digests, (n ? n * 2 : 1) * sizeof(*digests));
			if (!more) {
				free(digests);
				closedir(d);
				return kg_err_set(err, -ENOMEM, "out of memory");
			}
			digests = more;
		}
		n += incoming_digest(e->d_name, DONE, digests[n]);
	}
	closedir(d);
	*ret_digests = digests;
	*ret_n = n;
	return 0;
}

/* Gives a synced file its name. */
static int move_in(const struct artifact_blobs *b, const char *digest, struct kg_err *err)
{
	char from[PATH_MAX], to[PATH_MAX];

	(void)incoming_path(b, digest, DONE, from);
	(void)snprintf(to, sizeof(to), "%s/%.2s", b->dir, digest);
	if (mkdir(to, 0700) < 0 && errno != EEXIST)
		return kg_err_errno(err, "cannot make directory", to);
	(void)blob_path(b, digest, to);
	if (rename(from, to) < 0)
		return kg_err_errno(err, "cannot rename", from);
	return 0;
}

/* Makes the names durable: each folder once. */
static int sync_folders(const struct artifact_blobs *b, char (*digests)[KG_SHA256_HEX_SIZE],
			size_t n, struct kg_err *err)
{
	bool synced[256] = {false};
	char path[PATH_MAX];
	size_t i;
	int rc;

	for (i = 0; i < n; i++) {
		char hex[3] = {digests[i][0], digests[i][1], '\0'};
		unsigned long folder = strtoul(hex, NULL, 16) & 0xff;

		if (synced[folder])
			continue;
		synced[folder] = true;
		(void)snprintf(path, sizeof(path), "%s/%s", b->dir, hex);
		rc = sync_path(path, O_DIRECTORY, err);
		if (rc < 0)
			return rc;
	}
	return sync_path(b->dir, O_DIRECTORY, err);
}

static int settle(const struct artifact_blobs *b, char (*digests)[KG_SHA256_HEX_SIZE], size_t n,
		  struct kg_err *err)
{
	char path[PATH_MAX];
	size_t i;
	int rc = 0;

	for (i = 0; i < n && rc == 0; i++) {
		(void)incoming_path(b, digests[i], DONE, path);
		rc = sync_path(path, 0, err);
	}
	for (i = 0; i < n && rc == 0; i++)
		rc = move_in(b, digests[i], err);
	if (rc == 0)
		rc = sync_folders(b, digests, n, err);
	/* After a failed fsync the pages may be lost: what has no name yet has to be sent again. */
	for (i = 0; i < n && rc < 0; i++) {
		(void)incoming_path(b, digests[i], DONE, path);
		(void)unlink(path);
	}
	return rc;
}

int artifact_blobs_settle(struct artifact_blobs *b, struct kg_err *err)
{
	char(*digests)[KG_SHA256_HEX_SIZE] = NULL;
	size_t n = 0;
	int rc;

	(void)pthread_mutex_lock(&b->settle_lock);
	rc = list_done(b, &digests, &n, err);
	if (rc == 0 && n > 0)
		rc = settle(b, digests, n, err);
	(void)pthread_mutex_unlock(&b->settle_lock);
	free(digests);
	return rc < 0 ? kg_err_wrap(err, rc, "cannot store blobs") : 0;
}

/* ---- reading ---- */

int artifact_blobs_read(const struct artifact_blobs *b, const char *digest, uint64_t offset,
			void *buf, size_t max, size_t *ret_len, uint64_t *ret_total_bytes,
			struct kg_err *err)
{
	char path[PATH_MAX];
	uint64_t total;
	size_t done = 0;
	int fd, rc;

	rc = artifact_blobs_path(b, digest, path, sizeof(path), &total, err);
	if (rc < 0)
		return rc;
	if (offset > total)
		return kg_err_set(err, KG_EINVALID, "blob '%.12s' ends before byte %llu", digest,
				  (unsigned long long)offset);
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	if (fd < 0)
		return kg_err_errno(err, "cannot open", path);
	while (done < max && rc == 0) {
		ssize_t n = pread(fd, (char *)buf + done, max - done, (off_t)(offset + done));

		if (n < 0 && errno != EINTR)
			rc = kg_err_errno(err, "cannot read", path);
		if (n == 0)
			break;
		done += n > 0 ? (size_t)n : 0;
	}
	close(fd);
	if (rc < 0)
		return rc;
	*ret_len = done;
	*ret_total_bytes = total;
	return 0;
}

/* ---- removing ---- */

struct removal {
	struct artifact_blobs *b;
	const struct artifact_removal *r;
	size_t n;
	uint64_t bytes;
};

static bool is_uploading(const struct artifact_blobs *b, const char *digest)
{
	size_t i;

	for (i = 0; i < UPLOADS_MAX; i++)
		if (b->uploads[i].fd >= 0 && strcmp(b->uploads[i].digest, digest) == 0)
			return true;
	return false;
}

/* Whether the name in a folder ("incoming" or two hex digits) is something that nobody needs. */
static bool is_unneeded(const struct removal *rm, const char *folder, const char *name)
{
	char digest[KG_SHA256_HEX_SIZE];

	if (strlen(folder) != 2)
		return incoming_digest(name, DONE, digest) ||
		       (incoming_digest(name, PART, digest) && !is_uploading(rm->b, digest));
	if (strlen(name) != KG_SHA256_HEX_LEN - 2)
		return false;
	(void)snprintf(digest, sizeof(digest), "%.2s%.62s", folder, name);
	return kg_sha256_hex_valid(digest) && !rm->r->keep(digest, rm->r->ctx);
}

static int remove_one(struct removal *rm, int dir_fd, const char *folder, const char *name,
		      struct kg_err *err)
{
	struct stat st;

	if (!is_unneeded(rm, folder, name))
		return 0;
	if (fstatat(dir_fd, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return errno == ENOENT ? 0 : kg_err_errno(err, "cannot read", name);
	if (time(NULL) - st.st_mtime < (time_t)rm->r->min_age_s)
		return 0;
	if (unlinkat(dir_fd, name, 0) < 0)
		return errno == ENOENT ? 0 : kg_err_errno(err, "cannot remove", name);
	rm->n++;
	rm->bytes += (uint64_t)st.st_size;
	return 0;
}

static int remove_in(struct removal *rm, const char *folder, struct kg_err *err)
{
	char path[PATH_MAX];
	struct dirent *e;
	DIR *d;
	int rc = 0;

	(void)snprintf(path, sizeof(path), "%s/%s", rm->b->dir, folder);
	d = opendir(path);
	if (!d)
		return errno == ENOENT ? 0 : kg_err_errno(err, "cannot open directory", path);
	while (rc == 0 && (e = readdir(d)) != NULL)
		rc = remove_one(rm, dirfd(d), folder, e->d_name, err);
	closedir(d);
	return rc;
}

int artifact_blobs_remove_unreferenced(struct artifact_blobs *b, const struct artifact_removal *r,
				       size_t *ret_n, uint64_t *ret_bytes, struct kg_err *err)
{
	struct removal rm = {.b = b, .r = r};
	char folder[3];
	unsigned i;
	int rc;

	(void)pthread_mutex_lock(&b->upload_lock);
	rc = remove_in(&rm, "incoming", err);
	(void)pthread_mutex_unlock(&b->upload_lock);
	for (i = 0; i < 256 && rc == 0; i++) {
		(void)snprintf(folder, sizeof(folder), "%02x", i & 0xff);
		rc = remove_in(&rm, folder, err);
	}
	if (rc < 0)
		return kg_err_wrap(err, rc, "cannot remove blobs");
	if (ret_n)
		*ret_n = rm.n;
	if (ret_bytes)
		*ret_bytes = rm.bytes;
	return 0;
}
