/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/pack/spool.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/file.h"

/* For file systems without O_TMPFILE. */
static int open_and_unlink(const char *dir)
{
	char path[PATH_MAX];
	int fd;

	if (snprintf(path, sizeof(path), "%s/kgrid-pack-XXXXXX", dir) >= (int)sizeof(path)) {
		errno = ENAMETOOLONG;
		return -1;
	}
	fd = mkostemp(path, O_CLOEXEC);
	if (fd >= 0)
		(void)unlink(path);
	return fd;
}

int pack_spool_init(struct pack_spool *s, struct kg_err *err)
{
	const char *dir = getenv("TMPDIR");

	if (!dir || !dir[0])
		dir = "/var/tmp";
	s->len = 0;
	s->fd = open(dir, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	if (s->fd < 0 && (errno == EOPNOTSUPP || errno == EISDIR || errno == EINVAL))
		s->fd = open_and_unlink(dir);
	if (s->fd < 0)
		return kg_err_errno(err, "cannot create a temporary file in", dir);
	return 0;
}

void pack_spool_deinit(struct pack_spool *s)
{
	if (s->fd >= 0)
		close(s->fd);
	s->fd = -1;
}

int pack_spool_append(struct pack_spool *s, const void *bytes, size_t len, struct kg_err *err)
{
	int rc = kg_write_all(s->fd, bytes, len);

	if (rc < 0)
		return kg_err_set(err, rc, "cannot write to a temporary file: %s", kg_strerror(rc));
	s->len += len;
	return 0;
}

int pack_spool_read(const struct pack_spool *s, uint64_t offset, void *buf, size_t len,
		    struct kg_err *err)
{
	size_t done = 0;

	while (done < len) {
		ssize_t n = pread(s->fd, (char *)buf + done, len - done, (off_t)(offset + done));

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return kg_err_set(err, n < 0 ? -errno : -EIO,
					  "cannot read a temporary file: %s",
					  kg_strerror(n < 0 ? -errno : -EIO));
		done += (size_t)n;
	}
	return 0;
}
