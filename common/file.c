/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "common/file.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "common/fault.h"

static int read_rest(int fd, size_t max, char **ret_text, size_t *ret_len)
{
	size_t cap = 4096, len = 0;
	char *text = malloc(cap);

	if (!text)
		return -ENOMEM;
	for (;;) {
		ssize_t n;

		if (len + 1 == cap) {
			char *p = realloc(text, cap * 2);

			if (!p) {
				free(text);
				return -ENOMEM;
			}
			text = p;
			cap *= 2;
		}
		n = read(fd, text + len, cap - len - 1);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0) {
			int e = errno;

			free(text);
			return -e;
		}
		if (n == 0)
			break;
		len += (size_t)n;
		if (len > max) {
			free(text);
			return KG_ELIMIT;
		}
	}
	text[len] = '\0';
	*ret_text = text;
	*ret_len = len;
	return 0;
}

int kg_file_read(const char *path, size_t max, char **ret_text, size_t *ret_len, struct kg_err *err)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	int rc;

	if (fd < 0)
		return kg_err_errno(err, "cannot open", path);
	rc = read_rest(fd, max, ret_text, ret_len);
	close(fd);
	if (rc == KG_ELIMIT)
		return kg_err_set(err, rc, "'%s' is larger than %zu bytes", path, max);
	if (rc < 0)
		return kg_err_set(err, rc, "cannot read '%s': %s", path, kg_strerror(rc));
	return 0;
}

int kg_file_read_line(const char *path, char *buf, size_t size, struct kg_err *err)
{
	char *text;
	size_t len;
	int rc = kg_file_read(path, 1 << 20, &text, &len, err);

	if (rc < 0)
		return rc;
	while (len > 0 && (text[len - 1] == '\n' || text[len - 1] == '\0'))
		text[--len] = '\0';
	if (len >= size) {
		free(text);
		return kg_err_set(err, KG_ELIMIT, "'%s' is longer than %zu bytes", path, size);
	}
	memcpy(buf, text, len + 1);
	free(text);
	return 0;
}

int kg_write_all(int fd, const void *bytes, size_t len)
{
	const char *p = bytes;

	while (len > 0) {
		ssize_t n = write(fd, p, len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		p += n;
		len -= (size_t)n;
	}
	return 0;
}

int kg_fsync_dir_of(const char *path, struct kg_err *err)
{
	char dir[PATH_MAX];
	char *slash;
	int fd, rc = 0;

	if (snprintf(dir, sizeof(dir), "%s", path) >= (int)sizeof(dir))
		return kg_err_set(err, -ENAMETOOLONG, "path too long: '%s'", path);
	slash = strrchr(dir, '/');
	if (!slash)
		(void)snprintf(dir, sizeof(dir), ".");
	else if (slash == dir)
		dir[1] = '\0';
	else
		*slash = '\0';
	fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return kg_err_errno(err, "cannot open directory", dir);
	if (fsync(fd) < 0)
		rc = kg_err_errno(err, "cannot sync directory", dir);
	KG_FAULT(DIR_SYNCED);
	close(fd);
	return rc;
}

int kg_file_replace(const char *path, const void *bytes, size_t len, mode_t mode,
		    struct kg_err *err)
{
	char tmp[PATH_MAX];
	int fd, rc;

	if (snprintf(tmp, sizeof(tmp), "%s.tmp.%d", path, (int)getpid()) >= (int)sizeof(tmp))
		return kg_err_set(err, -ENAMETOOLONG, "path too long: '%s'", path);
	fd = open(tmp, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, mode);
	if (fd < 0)
		return kg_err_errno(err, "cannot create", tmp);
	rc = kg_write_all(fd, bytes, len);
	KG_FAULT(FILE_WRITTEN);
	if (rc == 0 && fsync(fd) < 0)
		rc = -errno;
	if (close(fd) < 0 && rc == 0)
		rc = -errno;
	KG_FAULT(FILE_SYNCED);
	if (rc == 0 && rename(tmp, path) < 0)
		rc = -errno;
	KG_FAULT(FILE_RENAMED);
	if (rc < 0) {
		(void)unlink(tmp);
		return kg_err_set(err, rc, "cannot write '%s': %s", path, kg_strerror(rc));
	}
	return kg_fsync_dir_of(path, err);
}

int kg_lock(int fd)
{
	const struct timespec pause = {.tv_nsec = 20000000};
	int i;

	for (i = 0; i < 100; i++) {
		if (flock(fd, LOCK_EX | LOCK_NB) == 0)
			return 0;
		if (errno != EWOULDBLOCK && errno != EINTR)
			return -errno;
		(void)nanosleep(&pause, NULL);
	}
	return -EWOULDBLOCK;
}

int kg_mkdir_p(const char *path, mode_t mode, struct kg_err *err)
{
	char part[PATH_MAX];
	size_t i, len = strlen(path);

	if (len == 0 || len >= sizeof(part))
		return kg_err_set(err, KG_EINVALID, "bad path '%s'", path);
	memcpy(part, path, len + 1);
	for (i = 1; i <= len; i++) {
		if (part[i] != '/' && part[i] != '\0')
			continue;
		part[i] = '\0';
		if (mkdir(part, mode) < 0 && errno != EEXIST)
			return kg_err_errno(err, "cannot make directory", part);
		part[i] = path[i];
	}
	return 0;
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st;
	(void)type;
	(void)ftw;
	return remove(path) < 0 && errno != ENOENT ? -1 : 0;
}

int kg_remove_tree(const char *path, struct kg_err *err)
{
	if (nftw(path, remove_one, 16, FTW_DEPTH | FTW_PHYS) < 0 && errno != ENOENT)
		return kg_err_errno(err, "cannot remove", path);
	return 0;
}
