/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Files that are whole or not there. */
#ifndef KG_COMMON_FILE_H
#define KG_COMMON_FILE_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "common/err.h"

/* Reads a whole file of at most `max` bytes; KG_ELIMIT when it is larger. The text is
 * NUL-terminated behind its `len` bytes. `ret_text` is owned (free). Works for /proc and /sys. */
int kg_file_read(const char *path, size_t max, char **ret_text, size_t *ret_len,
		 struct kg_err *err);

/* Same, for one small line (/sys, /proc): the trailing newline is removed. */
int kg_file_read_line(const char *path, char *buf, size_t size, struct kg_err *err);

/* Replaces a file so that after a power cut either the old or the new content is there: temporary
 * name, fsync, rename, fsync of the directory. */
int kg_file_replace(const char *path, const void *bytes, size_t len, mode_t mode,
		    struct kg_err *err);

int kg_fsync_dir_of(const char *path, struct kg_err *err);
int kg_mkdir_p(const char *path, mode_t mode, struct kg_err *err);
/* Writes all bytes or fails; retries EINTR and short writes. */
int kg_write_all(int fd, const void *bytes, size_t len);
/* Takes the exclusive lock of a file for as long as it is open. A process that the last owner was
 * starting when it was killed holds it until its own exec: waits up to 2 s. -EWOULDBLOCK: another
 * process has it; else -errno. */
int kg_lock(int fd);
/* Removes a directory tree or a file; missing is fine. Never follows links. */
int kg_remove_tree(const char *path, struct kg_err *err);

#endif
