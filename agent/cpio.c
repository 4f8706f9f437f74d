/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "agent/cpio.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/file.h"

void cpio_init(struct cpio *c, int fd)
{
	c->fd = fd;
	c->written = 0;
	c->next_inode = 1;
}

static int put(struct cpio *c, const void *bytes, size_t len, struct kg_err *err)
{
	int rc = kg_write_all(c->fd, bytes, len);

	if (rc < 0)
		return kg_err_set(err, rc, "cannot write the archive: %s", kg_strerror(rc));
	c->written += len;
	return 0;
}

static int pad(struct cpio *c, struct kg_err *err)
{
	static const char zeros[4];

	return put(c, zeros, (size_t)(-c->written & 3), err);
}

static int put_header(struct cpio *c, const char *path, mode_t mode, uint64_t size,
		      struct kg_err *err)
{
	size_t name = strlen(path) + 1;
	char head[111];
	int rc;

	if (size > UINT32_MAX)
		return kg_err_set(err, KG_ELIMIT, "'%s' is too large for an archive", path);
	(void)snprintf(head, sizeof(head),
		       "070701%08x%08x%08x%08x%08x%08x%08x%08x%08x%08x%08x%08x%08x",
		       mode ? c->next_inode++ : 0, (unsigned)mode, 0U, 0U, S_ISDIR(mode) ? 2U : 1U,
		       0U, (unsigned)size, 0U, 0U, 0U, 0U, (unsigned)name, 0U);
	rc = put(c, head, 110, err);
	if (rc == 0)
		rc = put(c, path, name, err);
	return rc < 0 ? rc : pad(c, err);
}

int cpio_add_dir(struct cpio *c, const char *path, struct kg_err *err)
{
	return put_header(c, path, S_IFDIR | 0755, 0, err);
}

int cpio_add_bytes(struct cpio *c, const char *path, mode_t mode, const void *bytes, size_t len,
		   struct kg_err *err)
{
	int rc = put_header(c, path, S_IFREG | (mode & 07777), len, err);

	if (rc == 0)
		rc = put(c, bytes, len, err);
	return rc < 0 ? rc : pad(c, err);
}

int cpio_copy_file(int fd, const char *from, uint64_t *ret_bytes, struct kg_err *err)
{
	int in = open(from, O_RDONLY | O_CLOEXEC);
	char buf[32768];
	uint64_t total = 0;
	ssize_t n;
	int rc = 0;

	if (in < 0)
		return kg_err_errno(err, "cannot open", from);
	for (;;) {
		n = read(in, buf, sizeof(buf));
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			break;
		rc = kg_write_all(fd, buf, (size_t)n);
		if (rc < 0) {
			kg_err_set(err, rc, "cannot write the archive: %s", kg_strerror(rc));
			break;
		}
		total += (uint64_t)n;
	}
	if (n < 0)
		rc = kg_err_errno(err, "cannot read", from);
	close(in);
	if (rc == 0)
		*ret_bytes = total;
	return rc;
}

int cpio_add_file(struct cpio *c, const char *path, mode_t mode, const char *from,
		  uint64_t size_bytes, struct kg_err *err)
{
	uint64_t copied = 0;
	int rc = put_header(c, path, S_IFREG | (mode & 07777), size_bytes, err);

	if (rc == 0)
		rc = cpio_copy_file(c->fd, from, &copied, err);
	if (rc < 0)
		return rc;
	c->written += copied;
	if (copied != size_bytes)
		return kg_err_set(err, KG_ECORRUPT,
				  "'%s' has %" PRIu64 " bytes instead of %" PRIu64, from, copied,
				  size_bytes);
	return pad(c, err);
}

int cpio_end(struct cpio *c, struct kg_err *err)
{
	return put_header(c, "TRAILER!!!", 0, 0, err);
}
