/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "agent/spool.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/fault.h"
#include "common/file.h"
#include "common/str.h"

#define HEADER_SIZE   32
#define ENTRY_SIZE    20
#define COMPACT_BYTES (1024 * 1024) /* not worth it below, unless the limit is near */

static const char magic[8] = {'K', 'G', 'S', 'P', 'O', 'O', 'L', '1'};

struct spool {
	int fd;
	char path[PATH_MAX];
	uint64_t boot;
	uint64_t limit_bytes;
	uint64_t end;	      /* where the next entry goes */
	uint64_t last_offset; /* of the last entry's head; 0: none */
	uint64_t last_seq;
	uint32_t last_mark;
	uint64_t acked;
	uint64_t acked_end;		    /* where the first entry after `acked` begins */
	uint64_t cursor_seq, cursor_offset; /* spool_next goes on here: entry after cursor_seq */
};

uint32_t spool_crc32(uint32_t crc, const void *bytes, size_t len)
{
	/* Half a table: 16 entries make 4 bits a step, and cost no resident page of their own. */
	static const uint32_t table[16] = {
		0x00000000, 0x1db71064, 0x3b6e20c8, 0x26d930ac, 0x76dc4190, 0x6b6b51f4,
		0x4db26158, 0x5005713c, 0xedb88320, 0xf00f9344, 0xd6d6a3e8, 0xcb61b38c,
		0x9b64c2b0, 0x86d3d2d4, 0xa00ae278, 0xbdbdf21c,
	};
	const uint8_t *p = bytes;

	crc = ~crc;
	for (; len > 0; len--, p++) {
		crc = table[(crc ^ *p) & 15] ^ (crc >> 4);
		crc = table[(crc ^ (uint32_t)(*p >> 4)) & 15] ^ (crc >> 4);
	}
	return ~crc;
}

static void put32(uint8_t *p, uint32_t v)
{
	int i;

	for (i = 0; i < 4; i++)
		p[i] = (uint8_t)(v >> (8 * i));
}

static void put64(uint8_t *p, uint64_t v)
{
	put32(p, (uint32_t)v);
	put32(p + 4, (uint32_t)(v >> 32));
}

static uint32_t get32(const uint8_t *p)
{
	return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

static uint64_t get64(const uint8_t *p)
{
	return (uint64_t)get32(p) | (uint64_t)get32(p + 4) << 32;
}

static int read_at(int fd, uint64_t offset, void *buf, size_t len)
{
	uint8_t *p = buf;

	while (len > 0) {
		ssize_t n = pread(fd, p, len, (off_t)offset);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if (n == 0)
			return KG_ECORRUPT;
		p += n;
		offset += (uint64_t)n;
		len -= (size_t)n;
	}
	return 0;
}

static int write_at(int fd, uint64_t offset, const void *buf, size_t len)
{
	const uint8_t *p = buf;

	while (len > 0) {
		ssize_t n = pwrite(fd, p, len, (off_t)offset);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		p += n;
		offset += (uint64_t)n;
		len -= (size_t)n;
	}
	return 0;
}

static int write_header(struct spool *s, int fd)
{
	uint8_t h[HEADER_SIZE] = {0};

	memcpy(h, magic, 8);
	put64(h + 8, s->boot);
	put64(h + 16, s->acked);
	put32(h + 24, spool_crc32(0, h, 24));
	return write_at(fd, 0, h, sizeof(h));
}

/* Reads the head of the entry at `offset`. KG_ECORRUPT when there is no whole, true entry. */
static int check_entry(int fd, uint64_t offset, uint64_t size, struct spool_entry *ret_e)
{
	uint8_t head[ENTRY_SIZE], buf[4096];
	uint64_t pos = offset + ENTRY_SIZE;
	uint32_t crc, left;

	if (offset + ENTRY_SIZE > size || read_at(fd, offset, head, sizeof(head)) < 0)
		return KG_ECORRUPT;
	ret_e->len_bytes = get32(head);
	ret_e->mark = get32(head + 4);
	ret_e->seq = get64(head + 8);
	ret_e->offset = pos;
	if (ret_e->len_bytes > size - pos)
		return KG_ECORRUPT;
	crc = spool_crc32(0, head, 16);
	for (left = ret_e->len_bytes; left > 0;) {
		uint32_t n = left < sizeof(buf) ? left : (uint32_t)sizeof(buf);

		if (read_at(fd, pos, buf, n) < 0)
			return KG_ECORRUPT;
		crc = spool_crc32(crc, buf, n);
		pos += n;
		left -= n;
	}
	return crc == get32(head + 16) ? 0 : KG_ECORRUPT;
}

static void set_last(struct spool *s, const struct spool_entry *e)
{
	s->last_offset = e->offset - ENTRY_SIZE;
	s->last_seq = e->seq;
	s->last_mark = e->mark;
	s->end = e->offset + e->len_bytes;
	if (e->seq <= s->acked)
		s->acked_end = s->end;
}

/* Walks over all entries; cuts off what follows the last whole one. */
static int scan(struct spool *s, uint64_t size)
{
	struct spool_entry e;

	s->end = HEADER_SIZE;
	s->acked_end = HEADER_SIZE;
	while (check_entry(s->fd, s->end, size, &e) == 0) {
		if (s->last_offset && e.seq != s->last_seq + 1)
			break;
		set_last(s, &e);
	}
	if (s->acked > s->last_seq)
		s->acked = s->last_seq;
	if (s->end < size && ftruncate(s->fd, (off_t)s->end) < 0)
		return -errno;
	return 0;
}

static int load(struct spool *s, struct kg_err *err)
{
	uint8_t h[HEADER_SIZE];
	struct stat st;
	int rc;

	if (fstat(s->fd, &st) < 0)
		return kg_err_errno(err, "cannot stat", s->path);
	if (st.st_size < HEADER_SIZE) { /* new, or cut off before anything was promised */
		s->end = HEADER_SIZE;
		s->acked_end = HEADER_SIZE;
		rc = ftruncate(s->fd, 0) < 0 ? -errno : write_header(s, s->fd);
		if (rc == 0 && fsync(s->fd) < 0)
			rc = -errno;
		if (rc < 0)
			return kg_err_set(err, rc, "cannot write '%s': %s", s->path,
					  kg_strerror(rc));
		return kg_fsync_dir_of(s->path, err);
	}
	rc = read_at(s->fd, 0, h, sizeof(h));
	if (rc < 0)
		return kg_err_set(err, rc, "cannot read '%s': %s", s->path, kg_strerror(rc));
	if (memcmp(h, magic, 8) != 0 || get64(h + 8) != s->boot)
		return kg_err_set(err, KG_ECORRUPT, "'%s' is not the spool of boot %" PRIu64,
				  s->path, s->boot);
	if (get32(h + 24) == spool_crc32(0, h, 24))
		s->acked = get64(h + 16); /* else torn: everything is sent again */
	rc = scan(s, (uint64_t)st.st_size);
	if (rc < 0)
		return kg_err_set(err, rc, "cannot cut '%s': %s", s->path, kg_strerror(rc));
	return 0;
}

static int make_path(char *path, const char *dir, uint64_t boot, struct kg_err *err)
{
	if (snprintf(path, PATH_MAX, "%s/boot-%" PRIu64 ".spool", dir, boot) >= PATH_MAX)
		return kg_err_set(err, -ENAMETOOLONG, "path too long: '%s'", dir);
	return 0;
}

int spool_open(const char *dir, uint64_t boot, uint64_t limit_bytes, bool fresh,
	       struct spool **ret_s, struct kg_err *err)
{
	struct spool *s = calloc(1, sizeof(*s));
	int rc;

	if (!s)
		return kg_err_set(err, -ENOMEM, "out of memory");
	s->fd = -1;
	s->boot = boot;
	s->limit_bytes = limit_bytes;
	rc = make_path(s->path, dir, boot, err);
	if (rc == 0) {
		s->fd = open(s->path,
			     O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | (fresh ? O_TRUNC : 0),
			     0600);
		rc = s->fd < 0 ? kg_err_errno(err, "cannot open", s->path) : load(s, err);
	}
	if (rc < 0) {
		spool_free(s);
		return rc;
	}
	s->cursor_seq = 0;
	s->cursor_offset = HEADER_SIZE;
	*ret_s = s;
	return 0;
}

void spool_free(struct spool *s)
{
	if (!s)
		return;
	if (s->fd >= 0)
		close(s->fd);
	free(s);
}

int spool_remove(const char *dir, uint64_t boot, struct kg_err *err)
{
	char path[PATH_MAX];
	int rc = make_path(path, dir, boot, err);

	if (rc < 0)
		return rc;
	if (unlink(path) < 0 && errno != ENOENT)
		return kg_err_errno(err, "cannot remove", path);
	return 0;
}

void spool_remove_others(const char *dir, uint64_t boot)
{
	char own[64], path[PATH_MAX];
	struct dirent *e;
	DIR *d = opendir(dir);

	(void)snprintf(own, sizeof(own), "boot-%" PRIu64 ".spool", boot);
	while (d && (e = readdir(d)))
		if (kg_str_starts(e->d_name, "boot-") && strcmp(e->d_name, own) != 0 &&
		    snprintf(path, sizeof(path), "%s/%s", dir, e->d_name) < (int)sizeof(path))
			(void)unlink(path);
	if (d)
		closedir(d);
}

bool spool_has_room(const struct spool *s, size_t len)
{
	return s->end + ENTRY_SIZE + len + SPOOL_RESERVE_BYTES <= s->limit_bytes;
}

int spool_append(struct spool *s, uint64_t seq, uint32_t mark, const void *bytes, size_t len,
		 bool last_words, struct kg_err *err)
{
	uint64_t reserve = last_words ? 0 : SPOOL_RESERVE_BYTES;
	uint8_t head[ENTRY_SIZE];
	struct spool_entry e;
	int rc;

	if (s->last_offset && seq != s->last_seq + 1)
		return kg_err_set(err, KG_ESTATE, "record %" PRIu64 " after %" PRIu64, seq,
				  s->last_seq);
	if (s->end + ENTRY_SIZE + len + reserve > s->limit_bytes || len > UINT32_MAX)
		return kg_err_set(err, KG_ELIMIT, "the spool is full (%" PRIu64 " bytes)",
				  s->limit_bytes);
	put32(head, (uint32_t)len);
	put32(head + 4, mark);
	put64(head + 8, seq);
	put32(head + 16, spool_crc32(spool_crc32(0, head, 16), bytes, len));
	rc = write_at(s->fd, s->end, head, sizeof(head));
	KG_FAULT(SPOOL_HEAD);
	if (rc == 0)
		rc = write_at(s->fd, s->end + ENTRY_SIZE, bytes, len);
	KG_FAULT(SPOOL_WRITTEN);
	if (rc == 0 && fdatasync(s->fd) < 0)
		rc = -errno;
	KG_FAULT(SPOOL_SYNCED);
	if (rc < 0) {
		(void)!ftruncate(s->fd, (off_t)s->end);
		return kg_err_set(err, rc, "cannot write '%s': %s", s->path, kg_strerror(rc));
	}
	e = (struct spool_entry){seq, mark, (uint32_t)len, s->end + ENTRY_SIZE};
	set_last(s, &e);
	return 0;
}

uint64_t spool_boot(const struct spool *s)
{
	return s->boot;
}

bool spool_empty(const struct spool *s)
{
	return s->last_offset == 0;
}

uint64_t spool_last_seq(const struct spool *s)
{
	return s->last_seq;
}

uint32_t spool_last_mark(const struct spool *s)
{
	return s->last_mark;
}

uint64_t spool_acked(const struct spool *s)
{
	return s->acked;
}

uint64_t spool_size(const struct spool *s)
{
	return s->end;
}

int spool_next(struct spool *s, uint64_t after_seq, bool *ret_found, struct spool_entry *ret_e,
	       struct kg_err *err)
{
	uint8_t head[ENTRY_SIZE];
	uint64_t pos = HEADER_SIZE;
	int rc;

	*ret_found = false;
	if (s->cursor_seq <= after_seq)
		pos = s->cursor_offset;
	while (pos < s->end) {
		struct spool_entry e;

		rc = read_at(s->fd, pos, head, sizeof(head));
		if (rc < 0)
			return kg_err_set(err, rc, "cannot read '%s': %s", s->path,
					  kg_strerror(rc));
		e = (struct spool_entry){get64(head + 8), get32(head + 4), get32(head),
					 pos + ENTRY_SIZE};
		if (e.seq > after_seq) {
			*ret_found = true;
			*ret_e = e;
			return 0;
		}
		pos = e.offset + e.len_bytes;
		s->cursor_seq = e.seq;
		s->cursor_offset = pos;
	}
	return 0;
}

int spool_read(struct spool *s, const struct spool_entry *e, void *buf, struct kg_err *err)
{
	int rc = read_at(s->fd, e->offset, buf, e->len_bytes);

	if (rc < 0)
		return kg_err_set(err, rc, "cannot read '%s': %s", s->path, kg_strerror(rc));
	return 0;
}

static int copy_range(int from, uint64_t offset, uint64_t end, int to)
{
	uint8_t buf[16384];
	uint64_t out = HEADER_SIZE;

	while (offset < end) {
		size_t n = end - offset < sizeof(buf) ? (size_t)(end - offset) : sizeof(buf);
		int rc = read_at(from, offset, buf, n);

		if (rc == 0)
			rc = write_at(to, out, buf, n);
		if (rc < 0)
			return rc;
		offset += n;
		out += n;
	}
	return 0;
}

/* Writes the file anew without what is acknowledged; the last entry stays. */
static int compact(struct spool *s, struct kg_err *err)
{
	uint64_t from = s->acked_end < s->last_offset ? s->acked_end : s->last_offset;
	uint64_t shift = from - HEADER_SIZE;
	char tmp[PATH_MAX + 8];
	int fd, rc;

	(void)snprintf(tmp, sizeof(tmp), "%s.new", s->path);
	fd = open(tmp, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd < 0)
		return kg_err_errno(err, "cannot create", tmp);
	rc = write_header(s, fd);
	if (rc == 0)
		rc = copy_range(s->fd, from, s->end, fd);
	if (rc == 0 && fsync(fd) < 0)
		rc = -errno;
	KG_FAULT(SPOOL_COPIED);
	if (rc == 0 && rename(tmp, s->path) < 0)
		rc = -errno;
	if (rc < 0) {
		close(fd);
		(void)unlink(tmp);
		return kg_err_set(err, rc, "cannot write '%s': %s", s->path, kg_strerror(rc));
	}
	close(s->fd);
	s->fd = fd;
	s->end -= shift;
	s->last_offset -= shift;
	s->acked_end = s->acked_end > from ? s->acked_end - shift : HEADER_SIZE;
	s->cursor_seq = 0;
	s->cursor_offset = HEADER_SIZE;
	return kg_fsync_dir_of(s->path, err);
}

int spool_ack(struct spool *s, uint64_t seq, struct kg_err *err)
{
	struct spool_entry e;
	bool found = false;
	int rc;

	if (seq <= s->acked || seq > s->last_seq)
		return 0;
	rc = spool_next(s, seq, &found, &e, err);
	if (rc < 0)
		return rc;
	s->acked = seq;
	s->acked_end = found ? e.offset - ENTRY_SIZE : s->end;
	rc = write_header(s, s->fd);
	if (rc < 0)
		return kg_err_set(err, rc, "cannot write '%s': %s", s->path, kg_strerror(rc));
	if ((s->acked_end > COMPACT_BYTES || s->acked_end > s->limit_bytes / 4) &&
	    s->acked_end > s->end / 2)
		return compact(s, err);
	return 0;
}
