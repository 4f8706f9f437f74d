/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/pack/deb.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <archive.h>
#include <archive_entry.h>

#define AR_MAGIC      "!<arch>\n"
#define AR_MAGIC_LEN  8
#define AR_HEADER_LEN 60

/* ---- the outer ar archive, read by hand: its sizes tell a truncated file from a damaged one ---- */

struct member {
	char name[17];
	uint64_t offset, size;
};

static int read_at(int fd, uint64_t offset, void *buf, size_t len, struct kg_err *err)
{
	size_t done = 0;

	while (done < len) {
		ssize_t n = pread(fd, (char *)buf + done, len - done, (off_t)(offset + done));

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return kg_err_set(err, -errno, "cannot be read: %s", strerror(errno));
		if (n == 0)
			return kg_err_set(err, KG_EINVALID, "is truncated");
		done += (size_t)n;
	}
	return 0;
}

/* Header: name[16] mtime[12] uid[6] gid[6] mode[8] size[10] "`\n", padded by spaces. */
static int read_member(int fd, uint64_t at, uint64_t file_size, struct member *ret,
		       struct kg_err *err)
{
	char h[AR_HEADER_LEN];
	char size[11];
	size_t len;
	int rc;

	if (file_size - at < AR_HEADER_LEN)
		return kg_err_set(err, KG_EINVALID, "is truncated");
	rc = read_at(fd, at, h, sizeof(h), err);
	if (rc < 0)
		return rc;
	memcpy(size, h + 48, 10);
	size[10] = '\0';
	size[strcspn(size, " ")] = '\0';
	if (h[58] != '`' || h[59] != '\n' || kg_parse_u64(size, &ret->size) < 0)
		return kg_err_set(err, KG_EINVALID, "is damaged: malformed ar header");
	memcpy(ret->name, h, 16);
	len = 16;
	while (len > 0 && (ret->name[len - 1] == ' ' || ret->name[len - 1] == '/'))
		len--;
	ret->name[len] = '\0';
	ret->offset = at + AR_HEADER_LEN;
	if (ret->size > file_size - ret->offset)
		return kg_err_set(err, KG_EINVALID, "is truncated");
	return 0;
}

static int check_magic(int fd, uint64_t file_size, struct kg_err *err)
{
	char magic[AR_MAGIC_LEN];
	size_t len = file_size < AR_MAGIC_LEN ? (size_t)file_size : AR_MAGIC_LEN;
	int rc;

	if (len == 0)
		return kg_err_set(err, KG_EINVALID, "is empty");
	rc = read_at(fd, 0, magic, len, err);
	if (rc < 0)
		return rc;
	if (memcmp(magic, AR_MAGIC, len) != 0)
		return kg_err_set(err, KG_EINVALID, "is not a Debian package");
	if (len < AR_MAGIC_LEN)
		return kg_err_set(err, KG_EINVALID, "is truncated");
	return 0;
}

static int check_binary(int fd, const struct member *m, struct kg_err *err)
{
	char version[2];
	int rc;

	if (strcmp(m->name, "debian-binary") != 0 || m->size < 4)
		return kg_err_set(err, KG_EINVALID, "is an ar archive, but not a Debian package");
	rc = read_at(fd, m->offset, version, sizeof(version), err);
	if (rc == 0 && memcmp(version, "2.", 2) != 0)
		rc = kg_err_set(err, KG_EVERSION, "is a package of another format than 2.x");
	return rc;
}

static int find_data(int fd, uint64_t file_size, struct member *ret_data, struct kg_err *err)
{
	uint64_t at = AR_MAGIC_LEN;
	struct member m;
	bool first = true;
	int rc;

	rc = check_magic(fd, file_size, err);
	if (rc < 0)
		return rc;
	while (at < file_size) {
		rc = read_member(fd, at, file_size, &m, err);
		if (rc == 0 && first)
			rc = check_binary(fd, &m, err);
		if (rc < 0)
			return rc;
		if (kg_str_starts(m.name, "data.tar")) {
			*ret_data = m;
			return 0;
		}
		first = false;
		at = m.offset + m.size + (m.size & 1);
	}
	return kg_err_set(err, KG_EINVALID, "is truncated: there is no data.tar in it");
}

/* ---- the inner tar archive ---- */

struct input {
	int fd;
	uint64_t offset, left;
	char buf[65536];
};

static la_ssize_t input_read(struct archive *a, void *ctx, const void **ret_bytes)
{
	struct input *in = ctx;
	struct kg_err err = {0};
	size_t len = in->left < sizeof(in->buf) ? (size_t)in->left : sizeof(in->buf);

	if (read_at(in->fd, in->offset, in->buf, len, &err) < 0) {
		archive_set_error(a, EIO, "%s", err.text);
		return -1;
	}
	in->offset += len;
	in->left -= len;
	*ret_bytes = in->buf;
	return (la_ssize_t)len;
}

static int archive_error(struct archive *a, struct kg_err *err)
{
	const char *text = archive_error_string(a);

	return kg_err_set(err, KG_EINVALID, "is damaged: %s", text ? text : "unreadable archive");
}

static int member_read(void *ctx, void *buf, size_t max, size_t *ret_len, struct kg_err *err)
{
	struct archive *a = ctx;
	la_ssize_t n = archive_read_data(a, buf, max);

	if (n < 0)
		return archive_error(a, err);
	*ret_len = (size_t)n;
	return 0;
}

/* A link at `source`: hard, when `target` is a path of the archive, or symbolic. */
static int take_symlink(struct pack_tree *t, const struct pack_place *place, bool taken,
			const char *target, struct kg_err *err)
{
	char to[PACK_PATH_MAX];

	if (!taken && !pack_in_modules(place->source))
		return 0;
	if (!target || !pack_link_target(place->source, target, to))
		return kg_err_set(err, KG_EINVALID, "holds a link that leaves it: '%s'",
				  place->source);
	if (!taken || !pack_tree_wants(t, place))
		return 0;
	return pack_tree_add_link(t, place, to, err);
}

static int take_hard_link(struct pack_tree *t, const struct pack_place *place, bool taken,
			  const char *target, struct kg_err *err)
{
	char to[PACK_PATH_MAX];

	if (pack_clean_path(target, to, err) < 0 || !to[0])
		return kg_err_set(err, KG_EINVALID, "holds a link that leaves it: '%s'",
				  place->source);
	if (!taken || !pack_tree_wants(t, place))
		return 0;
	return pack_tree_add_link(t, place, to, err);
}

static int take_member(struct pack_tree *t, struct archive *a, struct archive_entry *e,
		       struct kg_err *err)
{
	char source[PACK_PATH_MAX], path[PACK_PATH_MAX] = "",
				    release[ARTIFACT_RELEASE_MAX + 1] = "";
	const struct pack_content content = {.read = member_read, .ctx = a};
	const struct pack_place place = {.source = source, .path = path, .release = release};
	const char *raw = archive_entry_pathname(e);
	bool taken;
	int rc;

	if (!raw)
		return kg_err_set(err, KG_EINVALID, "holds a file whose name is malformed");
	rc = pack_clean_path(raw, source, err);
	if (rc < 0)
		return kg_err_wrap(err, rc, "holds an unsafe path");
	taken = pack_map(source, release, path);
	if (archive_entry_hardlink(e))
		return take_hard_link(t, &place, taken, archive_entry_hardlink(e), err);
	switch (archive_entry_filetype(e)) {
	case AE_IFDIR:
		return 0;
	case AE_IFLNK:
		return take_symlink(t, &place, taken, archive_entry_symlink(e), err);
	case AE_IFREG:
		if (!taken || !pack_tree_wants(t, &place))
			return 0;
		return pack_tree_add(t, &place, &content, err);
	default:
		return kg_err_set(err, KG_EINVALID,
				  "holds a device, pipe or socket, which no kernel needs: '%s'",
				  source);
	}
}

/* What is skipped is unpacked too, so all sizes count, and they count before anything is. */
static int check_size(uint64_t *total, uint64_t packed, int64_t size, struct kg_err *err)
{
	if (size < 0 || (uint64_t)size > ARTIFACT_TOTAL_MAX ||
	    *total + (uint64_t)size > ARTIFACT_TOTAL_MAX)
		return kg_err_set(err, KG_ELIMIT, "unpacks to more than %llu bytes",
				  ARTIFACT_TOTAL_MAX);
	*total += (uint64_t)size;
	if (*total > PACK_BOMB_MIN && *total / PACK_RATIO_MAX > packed)
		return kg_err_set(err, KG_ELIMIT, "unpacks to more than %u times its size",
				  PACK_RATIO_MAX);
	return 0;
}

static int read_members(struct archive *a, uint64_t packed, struct pack_tree *t, struct kg_err *err)
{
	struct archive_entry *e;
	uint64_t total = 0;
	unsigned n;
	int rc;

	for (n = 0;; n++) {
		rc = archive_read_next_header(a, &e);
		if (rc == ARCHIVE_EOF)
			return 0;
		if (rc != ARCHIVE_OK && rc != ARCHIVE_WARN)
			return archive_error(a, err);
		if (n >= PACK_MEMBERS_MAX)
			return kg_err_set(err, KG_ELIMIT, "holds more than %u files",
					  PACK_MEMBERS_MAX);
		rc = check_size(&total, packed, archive_entry_size(e), err);
		if (rc == 0)
			rc = take_member(t, a, e, err);
		if (rc < 0)
			return rc;
	}
}

/* Tar only, and only methods that the library unpacks itself (ARCHIVE_WARN: it runs a program). */
static int open_tar(struct archive *a, struct input *in, struct kg_err *err)
{
	if (archive_read_support_filter_gzip(a) != ARCHIVE_OK ||
	    archive_read_support_filter_xz(a) != ARCHIVE_OK ||
	    archive_read_support_filter_lzma(a) != ARCHIVE_OK ||
	    archive_read_support_filter_bzip2(a) != ARCHIVE_OK ||
	    archive_read_support_filter_zstd(a) != ARCHIVE_OK ||
	    archive_read_support_format_tar(a) != ARCHIVE_OK)
		return kg_err_set(err, KG_ESTATE,
				  "cannot be read: libarchive lacks one of gzip, xz, bzip2, zstd");
	if (archive_read_open(a, in, NULL, input_read, NULL) != ARCHIVE_OK)
		return archive_error(a, err);
	return 0;
}

int pack_deb_read(int fd, struct pack_tree *t, struct kg_err *err)
{
	struct archive *a;
	struct member data = {0};
	struct input *in;
	struct stat st;
	int rc;

	if (fstat(fd, &st) < 0)
		return kg_err_set(err, -errno, "cannot be read: %s", strerror(errno));
	rc = find_data(fd, (uint64_t)st.st_size, &data, err);
	if (rc < 0)
		return rc;
	in = malloc(sizeof(*in));
	a = archive_read_new();
	if (!in || !a) {
		rc = kg_err_set(err, -ENOMEM, "out of memory");
	} else {
		in->fd = fd;
		in->offset = data.offset;
		in->left = data.size;
		rc = open_tar(a, in, err);
		if (rc == 0)
			rc = read_members(a, data.size, t, err);
	}
	archive_read_free(a);
	free(in);
	return rc;
}
