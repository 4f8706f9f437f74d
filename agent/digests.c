/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "agent/digests.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "common/clock.h"
#include "common/file.h"
#include "common/str.h"

#define MAX_BYTES (1 << 20)

struct note {
	char *key; /* owned: "dev ino size mtime ctime path" */
	char digest[KG_SHA256_HEX_SIZE];
	bool used;
	struct note *next;
};

struct digests {
	char *path; /* owned */
	struct note *notes;
	bool changed;
};

static struct note *add(struct digests *d, const char *key, const char *digest)
{
	struct note *n = calloc(1, sizeof(*n));

	if (!n)
		return NULL;
	n->key = strdup(key);
	if (!n->key) {
		free(n);
		return NULL;
	}
	memcpy(n->digest, digest, sizeof(n->digest));
	n->next = d->notes;
	d->notes = n;
	return n;
}

static void read_notes(struct digests *d, char *text)
{
	char *line, *rest = NULL;

	for (line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
		if (strlen(line) < KG_SHA256_HEX_LEN + 2 || line[KG_SHA256_HEX_LEN] != ' ')
			continue;
		line[KG_SHA256_HEX_LEN] = '\0';
		if (kg_sha256_hex_valid(line))
			(void)add(d, line + KG_SHA256_HEX_LEN + 1, line);
	}
}

struct digests *digests_open(const char *path)
{
	struct digests *d = calloc(1, sizeof(*d));
	char *text;
	size_t len;

	if (!d)
		return NULL;
	d->path = strdup(path);
	if (!d->path) {
		free(d);
		return NULL;
	}
	if (kg_file_read(path, MAX_BYTES, &text, &len, NULL) == 0) {
		read_notes(d, text);
		free(text);
	}
	return d;
}

static char *make_key(const char *path, const struct stat *st)
{
	struct kg_str s = {0};

	kg_str_addf(&s, "%" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRId64 " %" PRId64 " %s",
		    (uint64_t)st->st_dev, (uint64_t)st->st_ino, (uint64_t)st->st_size,
		    (int64_t)st->st_mtim.tv_sec * (int64_t)KG_NSEC_PER_SEC + st->st_mtim.tv_nsec,
		    (int64_t)st->st_ctim.tv_sec * (int64_t)KG_NSEC_PER_SEC + st->st_ctim.tv_nsec,
		    path);
	return kg_str_take(&s);
}

int digests_file(struct digests *d, const char *path, char ret_hex[KG_SHA256_HEX_SIZE],
		 struct kg_err *err)
{
	struct note *n;
	struct stat st;
	char *key;
	int rc;

	if (stat(path, &st) < 0)
		return kg_err_errno(err, "cannot read", path);
	key = make_key(path, &st);
	if (!key)
		return kg_err_set(err, -ENOMEM, "out of memory");
	for (n = d->notes; n; n = n->next)
		if (strcmp(n->key, key) == 0)
			break;
	if (n) {
		free(key);
		n->used = true;
		memcpy(ret_hex, n->digest, sizeof(n->digest));
		return 0;
	}
	rc = kg_sha256_file(path, ret_hex, err);
	if (rc == 0 && !strchr(path, '\n')) {
		n = add(d, key, ret_hex);
		if (n) {
			n->used = true;
			d->changed = true;
		}
	}
	free(key);
	return rc;
}

static void write_notes(const struct digests *d)
{
	const struct note *n;
	struct kg_str s = {0};

	for (n = d->notes; n; n = n->next)
		if (n->used)
			kg_str_addf(&s, "%s %s\n", n->digest, n->key);
	if (!s.failed)
		(void)kg_file_replace(d->path, kg_str_text(&s), s.len, 0600, NULL);
	kg_str_deinit(&s);
}

void digests_close(struct digests *d)
{
	if (!d)
		return;
	if (d->changed)
		write_notes(d);
	while (d->notes) {
		struct note *n = d->notes;

		d->notes = n->next;
		free(n->key);
		free(n);
	}
	free(d->path);
	free(d);
}
