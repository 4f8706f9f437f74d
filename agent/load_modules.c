/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "agent/load_modules.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "common/file.h"
#include "common/log.h"

#define MODULE_INIT_COMPRESSED_FILE 4 /* include/uapi/linux/module.h, since 5.17 */

static bool ends_with(const char *s, const char *end)
{
	size_t n = strlen(s), m = strlen(end);

	return n >= m && strcmp(s + n - m, end) == 0;
}

static int load_one(const char *path)
{
	bool packed = ends_with(path, ".xz") || ends_with(path, ".zst") || ends_with(path, ".gz");
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	int rc = 0;

	if (fd < 0)
		return -errno;
	if (syscall(SYS_finit_module, fd, "", packed ? MODULE_INIT_COMPRESSED_FILE : 0) < 0 &&
	    errno != EEXIST)
		rc = -errno;
	close(fd);
	return rc;
}

int load_modules(const char *dir)
{
	char base[PATH_MAX], path[PATH_MAX + 256];
	char *text, *line, *rest = NULL;
	struct utsname name;
	struct kg_err err;
	size_t len;
	int failed = 0;

	if (!dir) {
		if (uname(&name) < 0)
			return 1;
		(void)snprintf(base, sizeof(base), "/lib/modules/%s", name.release);
		dir = base;
	}
	(void)snprintf(path, sizeof(path), "%s/kgrid.order", dir);
	if (kg_file_read(path, 1 << 20, &text, &len, &err) < 0) {
		kg_log_err("%s", err.text);
		return 1;
	}
	for (line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
		int rc;

		(void)snprintf(path, sizeof(path), "%s/%s", dir, line);
		rc = load_one(path);
		if (rc < 0) {
			kg_log_err("cannot load module '%s': %s", path, kg_strerror(rc));
			failed = 1;
		}
	}
	free(text);
	return failed;
}
