/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/pack/folder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define DEPTH_MAX 32

struct walk {
	int root; /* borrowed: the folder that links may not leave */
	const char
		*base; /* plain layout: the modules' folder, "modules/" or ""; NULL: package root */
	struct pack_tree *t;
	unsigned files;
};

static int fd_read(void *ctx, void *buf, size_t max, size_t *ret_len, struct kg_err *err)
{
	const int *fd = ctx;
	ssize_t n;

	do {
		n = read(*fd, buf, max);
	} while (n < 0 && errno == EINTR);
	if (n < 0)
		return kg_err_set(err, -errno, "cannot be read: %s", strerror(errno));
	*ret_len = (size_t)n;
	return 0;
}

/* Takes the content of an open file. Closes it. */
static int take_fd(struct pack_tree *t, const struct pack_place *place, int fd, struct kg_err *err)
{
	const struct pack_content content = {.read = fd_read, .ctx = &fd};
	struct stat st;
	int rc;

	if (fstat(fd, &st) < 0)
		rc = kg_err_set(err, -errno, "'%s' cannot be read: %s", place->source,
				strerror(errno));
	else if (!S_ISREG(st.st_mode))
		rc = kg_err_set(err, KG_EINVALID, "'%s' is not a file", place->source);
	else
		rc = pack_tree_add(t, place, &content, err);
	close(fd);
	return rc;
}

int pack_file_read(int fd, const char *name, const char *path, struct pack_tree *t,
		   struct kg_err *err)
{
	const struct pack_place place = {.source = name, .path = path, .release = ""};
	int copy = fcntl(fd, F_DUPFD_CLOEXEC, 0);

	if (copy < 0 || lseek(copy, 0, SEEK_SET) < 0) {
		int e = errno;

		if (copy >= 0)
			close(copy);
		return kg_err_set(err, -e, "'%s' cannot be read: %s", name, strerror(e));
	}
	return take_fd(t, &place, copy, err);
}

/* Where a file below the root belongs. */
static bool map(const struct walk *w, const char *source, char release[ARTIFACT_RELEASE_MAX + 1],
		char path[PACK_PATH_MAX])
{
	if (!w->base)
		return pack_map(source, release, path);
	release[0] = '\0';
	return kg_str_starts(source, w->base) && pack_map_module(source + strlen(w->base), path);
}

/* Whether a link there matters although it is no file of a kernel: it could hide some. */
static bool link_matters(const struct walk *w, const char *source)
{
	const char *below;

	if (!w->base)
		return pack_in_modules(source);
	if (!kg_str_starts(source, w->base))
		return false;
	below = source + strlen(w->base);
	return strcmp(below, "build") != 0 && strcmp(below, "source") != 0;
}

static int take_link(struct walk *w, int dir, const char *name, const struct pack_place *place,
		     struct kg_err *err)
{
	struct open_how how = {.flags = O_RDONLY | O_CLOEXEC | O_NONBLOCK,
			       .resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS};
	char target[PACK_PATH_MAX], to[PACK_PATH_MAX];
	ssize_t n;
	long fd;

	if (!place->path[0] && !link_matters(w, place->source))
		return 0;
	n = readlinkat(dir, name, target, sizeof(target) - 1);
	if (n < 0)
		return kg_err_set(err, -errno, "'%s' cannot be read: %s", place->source,
				  strerror(errno));
	target[n] = '\0';
	if (!pack_link_target(place->source, target, to))
		return kg_err_set(err, KG_EINVALID, "holds a link that leaves it: '%s'",
				  place->source);
	if (!place->path[0] || !pack_tree_wants(w->t, place))
		return 0;
	fd = syscall(SYS_openat2, w->root, place->source, &how, sizeof(how));
	if (fd < 0 && (errno == EXDEV || errno == ELOOP))
		return kg_err_set(err, KG_EINVALID, "holds a link that leaves it: '%s'",
				  place->source);
	if (fd < 0)
		return kg_err_set(err, -errno, "'%s' is a link to '%s': %s", place->source, target,
				  strerror(errno));
	return take_fd(w->t, place, (int)fd, err);
}

static int walk_folder(struct walk *w, int dir, const char *prefix, unsigned depth,
		       struct kg_err *err);

static int walk_below(struct walk *w, int dir, const char *name, const char *source, unsigned depth,
		      struct kg_err *err)
{
	int sub, rc;

	if (depth == 0)
		return 0;
	sub = openat(dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (sub < 0)
		return kg_err_set(err, -errno, "'%s' cannot be read: %s", source, strerror(errno));
	rc = walk_folder(w, sub, source, depth - 1, err);
	close(sub);
	return rc;
}

static int walk_file(struct walk *w, int dir, const char *name, const struct pack_place *place,
		     struct kg_err *err)
{
	int fd;

	if (!place->path[0] || !pack_tree_wants(w->t, place))
		return 0;
	fd = openat(dir, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0)
		return kg_err_set(err, -errno, "'%s' cannot be read: %s", place->source,
				  strerror(errno));
	return take_fd(w->t, place, fd, err);
}

static int walk_name(struct walk *w, int dir, const char *prefix, const char *name, unsigned depth,
		     struct kg_err *err)
{
	char source[PACK_PATH_MAX], path[PACK_PATH_MAX], release[ARTIFACT_RELEASE_MAX + 1] = "";
	const struct pack_place place = {.source = source, .path = path, .release = release};
	struct stat st;

	if (snprintf(source, sizeof(source), "%s%s%s", prefix, prefix[0] ? "/" : "", name) >=
	    (int)sizeof(source))
		return kg_err_set(err, KG_EINVALID, "holds a path that is too long");
	if (fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return kg_err_set(err, -errno, "'%s' cannot be read: %s", source, strerror(errno));
	if (!map(w, source, release, path))
		path[0] = '\0';
	switch (st.st_mode & S_IFMT) {
	case S_IFDIR:
		return walk_below(w, dir, name, source, depth, err);
	case S_IFLNK:
		return take_link(w, dir, name, &place, err);
	case S_IFREG:
		return walk_file(w, dir, name, &place, err);
	default:
		return kg_err_set(err, KG_EINVALID,
				  "holds a device, pipe or socket, which no kernel needs: '%s'",
				  source);
	}
}

/* Everything in a folder, `depth` levels down. */
static int walk_folder(struct walk *w, int dir, const char *prefix, unsigned depth,
		       struct kg_err *err)
{
	int copy = openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *d = copy >= 0 ? fdopendir(copy) : NULL;
	struct dirent *e;
	int rc = 0;

	if (!d) {
		rc = kg_err_set(err, -errno, "'%s' cannot be read: %s", prefix, strerror(errno));
		if (copy >= 0)
			close(copy);
		return rc;
	}
	while (rc == 0 && (e = readdir(d)) != NULL) {
		if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)
			continue;
		if (++w->files > 10 * ARTIFACT_FILES_MAX)
			rc = kg_err_set(err, KG_ELIMIT, "holds more than %u files",
					10 * ARTIFACT_FILES_MAX);
		else
			rc = walk_name(w, dir, prefix, e->d_name, depth, err);
	}
	closedir(d);
	return rc;
}

/* Opens a folder below another without following a link at any place; -1 when there is none. */
static int open_folder(int root, const char *path)
{
	struct open_how how = {.flags = O_RDONLY | O_DIRECTORY | O_CLOEXEC,
			       .resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS};

	return (int)syscall(SYS_openat2, root, path, &how, sizeof(how));
}

static bool exists(int root, const char *path)
{
	struct stat st;

	return fstatat(root, path, &st, AT_SYMLINK_NOFOLLOW) == 0;
}

/* One folder of a package root, if it is there. On a merged /usr, lib is a link to usr/lib, which
 * is read at its own place. */
static int walk_part(struct walk *w, const char *path, unsigned depth, bool *ret_found,
		     struct kg_err *err)
{
	int fd = open_folder(w->root, path);
	int rc;

	if (fd < 0 && errno == ENOSYS)
		return kg_err_set(err, -ENOSYS, "cannot be read: openat2(2) needs Linux 5.6");
	if (fd < 0 && (errno == ENOENT || errno == ELOOP || errno == ENOTDIR))
		return 0;
	if (fd < 0)
		return kg_err_set(err, -errno, "'%s' cannot be read: %s", path, strerror(errno));
	*ret_found = true;
	rc = walk_folder(w, fd, path, depth, err);
	close(fd);
	return rc;
}

static int read_modules_of(struct walk *w, bool *ret_found, struct kg_err *err)
{
	int rc = walk_part(w, "lib/modules", DEPTH_MAX, ret_found, err);

	return rc < 0 ? rc : walk_part(w, "usr/lib/modules", DEPTH_MAX, ret_found, err);
}

int pack_folder_read_modules(int fd, struct pack_tree *t, struct kg_err *err)
{
	struct walk w = {.root = fd, .t = t};
	bool found = false;
	int rc = read_modules_of(&w, &found, err);

	if (rc < 0 || found)
		return rc;
	w.base = "";
	return walk_folder(&w, fd, "", DEPTH_MAX, err);
}

/* vmlinuz, config and System.map beside modules/, or beside kernel/ as in /lib/modules/REL. */
static int read_plain(int fd, struct pack_tree *t, struct kg_err *err)
{
	static const char *const names[] = {"vmlinuz", "config", "System.map"};
	struct walk w = {.root = fd, .base = "", .t = t};
	bool found = false;
	size_t i;
	int rc = 0;

	for (i = 0; i < 3 && rc == 0; i++) {
		const struct pack_place place = {
			.source = names[i], .path = names[i], .release = ""};
		struct stat st;

		if (fstatat(fd, names[i], &st, AT_SYMLINK_NOFOLLOW) < 0)
			continue;
		rc = S_ISLNK(st.st_mode) ? take_link(&w, fd, names[i], &place, err)
					 : walk_file(&w, fd, names[i], &place, err);
	}
	if (rc < 0)
		return rc;
	if (!exists(fd, "modules"))
		return exists(fd, "kernel") ? walk_folder(&w, fd, "", DEPTH_MAX, err) : 0;
	w.base = "modules/";
	return walk_part(&w, "modules", DEPTH_MAX, &found, err);
}

int pack_folder_read(int fd, struct pack_tree *t, struct kg_err *err)
{
	struct walk w = {.root = fd, .t = t};
	bool found = false;
	int rc;

	if (exists(fd, "vmlinuz") && exists(fd, "config"))
		return read_plain(fd, t, err);
	rc = walk_part(&w, "boot", 0, &found, err);
	return rc < 0 ? rc : read_modules_of(&w, &found, err);
}
