/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "coordinator/artifact/inflate.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <archive.h>
#include <archive_entry.h>

struct artifact_inflate {
	struct archive *archive;
	uint64_t pos;
	uint64_t max_bytes;
};

/* Only what the library itself can unpack: ARCHIVE_WARN means it would run a program. */
static int enable_filters(struct archive *a)
{
	static int (*const filters[])(struct archive *) = {
		archive_read_support_filter_gzip, archive_read_support_filter_xz,
		archive_read_support_filter_lzma, archive_read_support_filter_bzip2,
		archive_read_support_filter_zstd, archive_read_support_filter_lz4,
	};
	size_t i;

	for (i = 0; i < sizeof(filters) / sizeof(filters[0]); i++)
		if (filters[i](a) != ARCHIVE_OK)
			return -1;
	return archive_read_support_format_raw(a) == ARCHIVE_OK ? 0 : -1;
}

static int archive_error(struct archive *a, struct kg_err *err, const char *what)
{
	const char *text = archive_error_string(a);

	return kg_err_set(err, KG_EINVALID, "%s: %s", what, text ? text : "unknown error");
}

int artifact_inflate_open(const void *bytes, size_t len, uint64_t max_bytes,
			  struct artifact_inflate **ret_i, struct kg_err *err)
{
	struct artifact_inflate *i = calloc(1, sizeof(*i));
	struct archive_entry *entry;
	int rc = 0;

	if (!i)
		return kg_err_set(err, -ENOMEM, "out of memory");
	i->max_bytes = max_bytes;
	i->archive = archive_read_new();
	if (!i->archive)
		rc = kg_err_set(err, -ENOMEM, "out of memory");
	else if (enable_filters(i->archive) < 0)
		rc = kg_err_set(err, KG_ESTATE,
				"libarchive lacks one of gzip, xz, bzip2, zstd and lz4");
	else if (archive_read_open_memory(i->archive, bytes, len) != ARCHIVE_OK ||
		 archive_read_next_header(i->archive, &entry) != ARCHIVE_OK)
		rc = archive_error(i->archive, err, "cannot unpack");
	else if (archive_filter_count(i->archive) < 2) /* the last one is "none" */
		rc = kg_err_set(err, KG_EINVALID, "not compressed by a known method");
	if (rc < 0) {
		artifact_inflate_free(i);
		return rc;
	}
	*ret_i = i;
	return 0;
}

void artifact_inflate_free(struct artifact_inflate *i)
{
	if (!i)
		return;
	archive_read_free(i->archive);
	free(i);
}

int artifact_inflate_read(struct artifact_inflate *i, void *buf, size_t len, size_t *ret_len,
			  struct kg_err *err)
{
	char *p = buf;
	size_t done = 0;

	while (done < len) {
		la_ssize_t n = archive_read_data(i->archive, p + done, len - done);

		if (n < 0)
			return archive_error(i->archive, err, "cannot unpack");
		if (n == 0)
			break;
		done += (size_t)n;
		i->pos += (uint64_t)n;
		if (i->pos > i->max_bytes)
			return kg_err_set(err, KG_ELIMIT, "unpacks to more than %llu bytes",
					  (unsigned long long)i->max_bytes);
	}
	*ret_len = done;
	return 0;
}

int artifact_inflate_seek(struct artifact_inflate *i, uint64_t pos, struct kg_err *err)
{
	char buf[65536];
	size_t n;
	int rc;

	while (i->pos < pos) {
		uint64_t left = pos - i->pos;

		n = 0;
		rc = artifact_inflate_read(i, buf, left < sizeof(buf) ? (size_t)left : sizeof(buf),
					   &n, err);
		if (rc < 0)
			return rc;
		if (n == 0)
			break;
	}
	if (i->pos != pos)
		return kg_err_set(err, KG_EINVALID, "the unpacked data ends too early");
	return 0;
}

int artifact_inflate_all(const void *bytes, size_t len, uint64_t max_bytes, void **ret_bytes,
			 size_t *ret_len, struct kg_err *err)
{
	struct artifact_inflate *i;
	size_t cap = 256 * 1024, done = 0, n;
	char *out = NULL, *p;
	int rc;

	rc = artifact_inflate_open(bytes, len, max_bytes, &i, err);
	if (rc < 0)
		return rc;
	do {
		cap = done ? cap * 2 : cap;
		p = realloc(out, cap);
		if (!p) {
			rc = kg_err_set(err, -ENOMEM, "out of memory");
			break;
		}
		out = p;
		rc = artifact_inflate_read(i, out + done, cap - done, &n, err);
		if (rc < 0)
			break;
		done += n;
	} while (done == cap);
	artifact_inflate_free(i);
	if (rc < 0) {
		free(out);
		return rc;
	}
	*ret_bytes = out;
	*ret_len = done;
	return 0;
}
