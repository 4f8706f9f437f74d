/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tests/lib/cmocka_all.h"

#include "tests/unit/pack/deb.h"

#include <stdio.h>

#include <archive.h>
#include <archive_entry.h>

#include "common/str.h"

static const uint8_t zeros[1 << 16];

static la_ssize_t collect(struct archive *a, void *ctx, const void *bytes, size_t len)
{
	(void)a;
	kg_str_addn(ctx, bytes, len);
	return (la_ssize_t)len;
}

static void write_member(struct archive *a, const struct member *m)
{
	struct archive_entry *e = archive_entry_new();
	uint64_t size = m->size ? m->size : m->len, at;
	char path[400];

	(void)snprintf(path, sizeof(path), "%s%s", m->raw ? "" : "./", m->path);
	archive_entry_set_pathname(e, path);
	archive_entry_set_mode(e, 0644);
	archive_entry_set_filetype(e, m->file_type ? m->file_type : m->link ? AE_IFLNK : AE_IFREG);
	if (m->link)
		archive_entry_set_symlink(e, m->link);
	if (m->hard)
		archive_entry_set_hardlink(e, m->hard);
	if (!m->link && !m->hard && !m->file_type)
		archive_entry_set_size(e, (la_int64_t)size);
	assert_int_equal(archive_write_header(a, e), ARCHIVE_OK);
	archive_entry_free(e);
	if (m->len)
		assert_int_equal(archive_write_data(a, m->bytes, m->len), (la_ssize_t)m->len);
	for (at = m->len; at < size;) {
		size_t n = size - at < sizeof(zeros) ? (size_t)(size - at) : sizeof(zeros);

		assert_int_equal(archive_write_data(a, zeros, n), (la_ssize_t)n);
		at += n;
	}
}

static void add_filter(struct archive *a, enum sample_filter filter)
{
	int rc = filter == SAMPLE_XZ	  ? archive_write_add_filter_xz(a)
		 : filter == SAMPLE_ZSTD  ? archive_write_add_filter_zstd(a)
		 : filter == SAMPLE_GZIP  ? archive_write_add_filter_gzip(a)
		 : filter == SAMPLE_BZIP2 ? archive_write_add_filter_bzip2(a)
					  : archive_write_add_filter_none(a);

	assert_int_equal(rc, ARCHIVE_OK);
}

struct sample_bytes deb_tar(const struct member *members, enum sample_filter filter)
{
	struct archive *a = archive_write_new();
	struct kg_str out = {0};
	struct sample_bytes s;

	assert_int_equal(archive_write_set_format_gnutar(a), ARCHIVE_OK);
	add_filter(a, filter);
	assert_int_equal(archive_write_set_bytes_in_last_block(a, 1), ARCHIVE_OK);
	assert_int_equal(archive_write_open(a, &out, NULL, collect, NULL), ARCHIVE_OK);
	for (; members->path; members++)
		write_member(a, members);
	assert_int_equal(archive_write_close(a), ARCHIVE_OK);
	(void)archive_write_free(a);
	s.len = out.len;
	s.bytes = (uint8_t *)kg_str_take(&out);
	return s;
}

static void add_ar(struct kg_str *out, const char *name, const void *bytes, size_t len)
{
	kg_str_addf(out, "%-16s%-12d%-6d%-6d%-8s%-10zu`\n", name, 0, 0, 0, "100644", len);
	kg_str_addn(out, bytes, len);
	if (len & 1)
		kg_str_add(out, "\n");
}

struct sample_bytes deb_around(const struct sample_bytes *tar, const char *data_name)
{
	struct kg_str out = {0};
	struct sample_bytes s;

	kg_str_add(&out, "!<arch>\n");
	add_ar(&out, "debian-binary", "2.0\n", 4);
	add_ar(&out, "control.tar.xz", "control", 7);
	add_ar(&out, data_name, tar->bytes, tar->len);
	s.len = out.len;
	s.bytes = (uint8_t *)kg_str_take(&out);
	return s;
}

struct sample_bytes deb_make(const struct member *members)
{
	struct sample_bytes tar = deb_tar(members, SAMPLE_XZ);
	struct sample_bytes s = deb_around(&tar, "data.tar.xz");

	free(tar.bytes);
	return s;
}
