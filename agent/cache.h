/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The agent's cache: blobs by digest and finished initial images by key, below one folder.
 *
 *   DIR/blobs/ab/cdef...         verified
 *   DIR/blobs/ab/cdef....part    unfinished; kept over restarts
 *   DIR/initrd/KEY               finished
 *
 * Least recently used files go first when the limit is exceeded; use is noted as the file's time.
 */
#ifndef KG_AGENT_CACHE_H
#define KG_AGENT_CACHE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include "common/err.h"

#define CACHE_PATH_SIZE 4096

int cache_init(const char *dir, struct kg_err *err); /* makes the folders */
void cache_blob_path(const char *dir, const char *digest, bool part, char ret[CACHE_PATH_SIZE]);
void cache_initrd_path(const char *dir, const char *key, char ret[CACHE_PATH_SIZE]);
/* Whether the file is there; if so it counts as used now. */
bool cache_use(const char *path);
/* Removes least recently used files until `limit_bytes` holds; what was used at or after `since`
 * stays whatever the limit says. */
int cache_trim(const char *dir, uint64_t limit_bytes, time_t since, struct kg_err *err);
/* Removes a file that proved to be damaged. */
void cache_drop(const char *path);

#endif
