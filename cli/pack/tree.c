/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/pack/tree.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LINK_DEPTH_MAX 8

static void entry_deinit(struct pack_entry *e)
{
	free(e->source);
	free(e->path);
	free(e->link);
}

void pack_tree_deinit(struct pack_tree *t)
{
	size_t i;

	for (i = 0; i < t->n; i++)
		entry_deinit(&t->entries[i]);
	free(t->entries);
	t->entries = NULL;
	t->n = 0;
}

/* ---- paths ---- */

bool pack_map_module(const char *below, char ret_path[PACK_PATH_MAX])
{
	static const char *const indexes[] = {
		"modules.order",
		"modules.builtin",
		"modules.builtin.modinfo",
	};
	bool taken = artifact_path_is_module(below);
	size_t i;

	for (i = 0; i < sizeof(indexes) / sizeof(indexes[0]); i++)
		taken = taken || strcmp(below, indexes[i]) == 0;
	return taken && snprintf(ret_path, PACK_PATH_MAX, "modules/%s", below) < (int)PACK_PATH_MAX;
}

static bool take_release(const char *text, size_t len, char ret_release[ARTIFACT_RELEASE_MAX + 1])
{
	if (len > ARTIFACT_RELEASE_MAX)
		return false;
	memcpy(ret_release, text, len);
	ret_release[len] = '\0';
	return artifact_release_valid(ret_release);
}

/* What follows "lib/modules/" or "usr/lib/modules/"; NULL elsewhere. Borrows. */
static const char *behind_modules(const char *source)
{
	if (kg_str_starts(source, "usr/"))
		source += 4;
	return kg_str_starts(source, "lib/modules/") ? source + strlen("lib/modules/") : NULL;
}

bool pack_map(const char *source, char ret_release[ARTIFACT_RELEASE_MAX + 1],
	      char ret_path[PACK_PATH_MAX])
{
	static const char *const names[] = {"vmlinuz", "config", "System.map"};
	const char *rest, *below;
	size_t i;

	for (i = 0; i < 3; i++) {
		size_t len = strlen(names[i]);

		if (!kg_str_starts(source, "boot/") || strncmp(source + 5, names[i], len) != 0 ||
		    source[5 + len] != '-')
			continue;
		rest = source + 5 + len + 1;
		(void)snprintf(ret_path, PACK_PATH_MAX, "%s", names[i]);
		return take_release(rest, strlen(rest), ret_release);
	}
	rest = behind_modules(source);
	below = rest ? strchr(rest, '/') : NULL;
	if (!below || !take_release(rest, (size_t)(below - rest), ret_release))
		return false;
	below++;
	for (i = 0; i < 3; i++) {
		if (strcmp(below, names[i]) != 0)
			continue;
		(void)snprintf(ret_path, PACK_PATH_MAX, "%s", names[i]);
		return true;
	}
	return pack_map_module(below, ret_path);
}

bool pack_in_modules(const char *source)
{
	const char *rest = behind_modules(source);
	const char *below = rest ? strchr(rest, '/') : NULL;

	return below && strcmp(below, "/build") != 0 && strcmp(below, "/source") != 0;
}

/* Why a path inside a source is not safe; NULL when it is. */
static const char *unsafe(const char *path)
{
	const char *part = path;

	if (path[0] == '/')
		return "is absolute";
	for (;;) {
		size_t len = strcspn(part, "/");

		if (len == 0)
			return "has an empty component";
		if (len == 1 && part[0] == '.')
			return "has a '.' component";
		if (len == 2 && part[0] == '.' && part[1] == '.')
			return "has a '..' component";
		if (!part[len])
			return NULL;
		part += len + 1;
	}
}

int pack_clean_path(const char *raw, char ret_path[PACK_PATH_MAX], struct kg_err *err)
{
	char path[PACK_PATH_MAX];
	const char *problem = NULL;
	size_t len;

	while (raw[0] == '.' && raw[1] == '/')
		raw += 2;
	len = strlen(raw);
	if (len >= sizeof(path))
		return kg_err_set(err, KG_EINVALID, "a path is too long");
	memcpy(path, raw, len + 1);
	if (len > 1 && path[len - 1] == '/')
		path[--len] = '\0';
	if (strcmp(path, ".") == 0)
		path[0] = '\0';
	if (path[0])
		problem = unsafe(path);
	if (problem)
		return kg_err_set(err, KG_EINVALID, "a path %s", problem);
	memcpy(ret_path, path, strlen(path) + 1);
	return 0;
}

bool pack_link_target(const char *source, const char *target, char ret_path[PACK_PATH_MAX])
{
	char path[PACK_PATH_MAX];
	const char *slash = strrchr(source, '/');
	size_t len = slash ? (size_t)(slash - source) : 0;

	if (target[0] == '/' || len >= sizeof(path))
		return false;
	memcpy(path, source, len);
	while (*target) {
		size_t k = strcspn(target, "/");

		if (k == 2 && target[0] == '.' && target[1] == '.') {
			if (len == 0)
				return false;
			while (len > 0 && path[len - 1] != '/')
				len--;
			len -= len > 0;
		} else if (k > 0 && !(k == 1 && target[0] == '.')) {
			if (len + k + 2 > sizeof(path))
				return false;
			if (len > 0)
				path[len++] = '/';
			memcpy(path + len, target, k);
			len += k;
		}
		target += k;
		target += *target == '/';
	}
	memcpy(ret_path, path, len);
	ret_path[len] = '\0';
	return true;
}

/* ---- taking ---- */

bool pack_tree_wants(struct pack_tree *t, const struct pack_place *place)
{
	const char *release = place->release, *path = place->path;
	size_t i;

	if (!release[0])
		return true;
	if (t->only_release && strcmp(t->only_release, release) != 0)
		return false;
	for (i = 0; i < t->n_releases; i++)
		if (strcmp(t->releases[i], release) == 0)
			return i == 0;
	if (strcmp(path, "vmlinuz") != 0 && !artifact_path_is_module(path))
		return true; /* does not make a kernel; sorted out by pack_tree_finish */
	if (t->n_releases < PACK_RELEASES_MAX)
		(void)snprintf(t->releases[t->n_releases++], sizeof(t->releases[0]), "%s", release);
	return t->n_releases == 1;
}

static int new_entry(struct pack_tree *t, const struct pack_place *place, struct pack_entry **ret_e,
		     struct kg_err *err)
{
	struct pack_entry *entries, *e;

	if (t->n >= 2 * ARTIFACT_FILES_MAX)
		return kg_err_set(err, KG_ELIMIT, "holds more than %u files", ARTIFACT_FILES_MAX);
	if ((t->n & (t->n - 1)) == 0) { /* grows at powers of two */
		entries = realloc(t->entries, (t->n ? t->n * 2 : 1) * sizeof(*entries));
		if (!entries)
			return kg_err_set(err, -ENOMEM, "out of memory");
		t->entries = entries;
	}
	e = &t->entries[t->n];
	memset(e, 0, sizeof(*e));
	(void)snprintf(e->release, sizeof(e->release), "%s", place->release);
	e->source = strdup(place->source);
	e->path = strdup(place->path);
	if (!e->source || !e->path) {
		entry_deinit(e);
		return kg_err_set(err, -ENOMEM, "out of memory");
	}
	t->n++;
	*ret_e = e;
	return 0;
}

static int copy_content(struct pack_tree *t, struct pack_entry *e, struct kg_sha256 *sha,
			const struct pack_content *content, struct kg_err *err)
{
	char buf[65536];
	size_t n;
	int rc;

	for (;;) {
		n = 0;
		rc = content->read(content->ctx, buf, sizeof(buf), &n, err);
		if (rc < 0 || n == 0)
			return rc;
		e->size_bytes += n;
		if (e->size_bytes > ARTIFACT_FILE_MAX || t->spool->len + n > ARTIFACT_TOTAL_MAX)
			return kg_err_set(err, KG_ELIMIT, "'%s' is too large", e->source);
		kg_sha256_update(sha, buf, n);
		rc = pack_spool_append(t->spool, buf, n, err);
		if (rc < 0)
			return rc;
	}
}

int pack_tree_add(struct pack_tree *t, const struct pack_place *place,
		  const struct pack_content *content, struct kg_err *err)
{
	struct kg_sha256 *sha = kg_sha256_new();
	struct pack_entry *e = NULL;
	int rc;

	if (!sha)
		return kg_err_set(err, -ENOMEM, "out of memory");
	rc = new_entry(t, place, &e, err);
	if (rc == 0) {
		e->offset = t->spool->len;
		rc = copy_content(t, e, sha, content, err);
	}
	if (rc == 0)
		kg_sha256_final(sha, e->digest);
	kg_sha256_free(sha);
	return rc;
}

int pack_tree_add_link(struct pack_tree *t, const struct pack_place *place, const char *link,
		       struct kg_err *err)
{
	struct pack_entry *e = NULL;
	int rc = new_entry(t, place, &e, err);

	if (rc < 0)
		return rc;
	e->link = strdup(link);
	return e->link ? 0 : kg_err_set(err, -ENOMEM, "out of memory");
}

/* ---- finishing ---- */

static int by_source(const void *a, const void *b)
{
	return strcmp(((const struct pack_entry *)a)->source,
		      ((const struct pack_entry *)b)->source);
}

static int by_path(const void *a, const void *b)
{
	return strcmp(((const struct pack_entry *)a)->path, ((const struct pack_entry *)b)->path);
}

static int resolve(struct pack_tree *t, struct pack_entry *e, struct kg_err *err)
{
	const struct pack_entry *to = e;
	unsigned depth;

	for (depth = 0; to->link; depth++) {
		const struct pack_entry key = {.source = to->link};
		const char *wanted = to->link;

		to = depth < LINK_DEPTH_MAX
			     ? bsearch(&key, t->entries, t->n, sizeof(key), by_source)
			     : NULL;
		if (!to)
			return kg_err_set(err, KG_EINVALID,
					  "'%s' is a link to '%s', which is not there or not part "
					  "of a kernel",
					  e->source, wanted);
	}
	if (to == e)
		return 0;
	memcpy(e->digest, to->digest, sizeof(e->digest));
	e->offset = to->offset;
	e->size_bytes = to->size_bytes;
	free(e->link);
	e->link = NULL;
	return 0;
}

/* Index files of releases that turned out to be none of ours. */
static void drop_other_releases(struct pack_tree *t)
{
	size_t i, n = 0;

	for (i = 0; i < t->n; i++) {
		struct pack_entry *e = &t->entries[i];

		if (t->n_releases > 0 && e->release[0] && strcmp(e->release, t->releases[0]) != 0)
			entry_deinit(e);
		else
			t->entries[n++] = *e;
	}
	t->n = n;
}

int pack_tree_finish(struct pack_tree *t, struct kg_err *err)
{
	size_t i, n = 0;
	int rc;

	drop_other_releases(t);
	if (t->n == 0)
		return 0;
	qsort(t->entries, t->n, sizeof(*t->entries), by_source);
	for (i = 0; i < t->n; i++) {
		rc = resolve(t, &t->entries[i], err);
		if (rc < 0)
			return rc;
	}
	qsort(t->entries, t->n, sizeof(*t->entries), by_path);
	for (i = 0; i < t->n; i++) {
		struct pack_entry *e = &t->entries[i];
		struct pack_entry *last = n > 0 ? &t->entries[n - 1] : NULL;

		if (!last || strcmp(last->path, e->path) != 0) {
			t->entries[n++] = *e;
			if (&t->entries[n - 1] != e)
				memset(e, 0, sizeof(*e));
			continue;
		}
		if (strcmp(last->digest, e->digest) != 0)
			return kg_err_set(
				err, KG_EINVALID,
				"'%s' and '%s' are the same file of the kernel and differ",
				last->source, e->source);
		entry_deinit(e);
		memset(e, 0, sizeof(*e));
	}
	t->n = n;
	return 0;
}

const struct pack_entry *pack_tree_find(const struct pack_tree *t, const char *path)
{
	size_t lo = 0, hi = t->n;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;
		int order = strcmp(path, t->entries[mid].path);

		if (order == 0)
			return &t->entries[mid];
		if (order < 0)
			hi = mid;
		else
			lo = mid + 1;
	}
	return NULL;
}

int pack_tree_content(const struct pack_tree *t, const struct pack_entry *e, uint64_t max,
		      char **ret_bytes, struct kg_err *err)
{
	char *bytes;
	int rc;

	if (e->size_bytes > max)
		return kg_err_set(err, KG_ELIMIT, "'%s' is larger than %llu bytes", e->source,
				  (unsigned long long)max);
	bytes = malloc((size_t)e->size_bytes + 1);
	if (!bytes)
		return kg_err_set(err, -ENOMEM, "out of memory");
	rc = pack_spool_read(t->spool, e->offset, bytes, (size_t)e->size_bytes, err);
	if (rc < 0) {
		free(bytes);
		return rc;
	}
	bytes[e->size_bytes] = '\0';
	*ret_bytes = bytes;
	return 0;
}
