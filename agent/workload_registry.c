/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "agent/workload_registry.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/file.h"
#include "common/str.h"

static char *joined(const char *dir, size_t dir_len, const char *name)
{
	struct kg_str s = {0};

	kg_str_addn(&s, dir, dir_len);
	kg_str_addf(&s, "/%s", name);
	return kg_str_take(&s);
}

static bool is_program(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISREG(st.st_mode) && access(path, X_OK) == 0;
}

char *workload_find_program(const char *name, const char *path)
{
	if (strchr(name, '/'))
		return name[0] == '/' && is_program(name) ? strdup(name) : NULL;
	while (*path) {
		size_t len = strcspn(path, ":");
		char *full = joined(path, len, name);

		if (full && is_program(full))
			return full;
		free(full);
		path += len + (path[len] == ':');
	}
	return NULL;
}

/* One program of a declaration: into the digest, or into `missing`. */
static void add_program(const char *name, const char *path, struct digests *d,
			struct kg_texts *paths, struct kg_str *identity, struct kg_str *missing)
{
	char digest[KG_SHA256_HEX_SIZE];
	struct kg_err err;
	char *full = workload_find_program(name, path);

	if (!full) {
		kg_str_addf(missing, "%sprogram '%s' is not installed", missing->len ? ", " : "",
			    name);
		return;
	}
	if (digests_file(d, full, digest, &err) < 0)
		kg_str_addf(missing, "%s%s", missing->len ? ", " : "", err.text);
	else
		kg_str_addf(identity, "\nprogram %s %s", name, digest);
	if (paths->items)
		paths->items[paths->n++] = full;
	else
		free(full);
}

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static void fill(struct workload_entry *e, const char *path, struct digests *d)
{
	struct kg_str identity = {0}, missing = {0};
	struct kg_workload *w = NULL;
	struct kg_err err;
	char *text = NULL;
	size_t len = 0, i;

	if (workload_declaration(e, &text, &len, &err) < 0 ||
	    kg_workload_parse(e->path, text, len, &w, &err) < 0) {
		kg_str_add(&missing, err.text);
		goto done;
	}
	if (strcmp(w->name, e->name) != 0) {
		kg_str_addf(&missing, "declares '%s', but the file is named '%s.yaml'", w->name,
			    e->name);
		goto done;
	}
	e->program = strdup(base_name(w->command.items[0]));
	e->paths.items = calloc(w->requires.n + 2, sizeof(*e->paths.items));
	e->version_command = w->version;
	memset(&w->version, 0, sizeof(w->version));
	kg_str_addn(&identity, text, len);
	for (i = 0; i < w->requires.n; i++)
		add_program(w->requires.items[i], path, d, &e->paths, &identity, &missing);
	if (!w->requires.n)
		add_program(w->command.items[0], path, d, &e->paths, &identity, &missing);
	if (!identity.failed && kg_sha256_bytes(text, len, e->text_digest) == 0)
		(void)kg_sha256_bytes(identity.text, identity.len, e->digest);
done:
	if (missing.len)
		e->missing = kg_str_take(&missing);
	kg_str_deinit(&missing);
	kg_str_deinit(&identity);
	kg_workload_free(w);
	free(text);
}

static int by_name(const void *a, const void *b)
{
	const struct workload_entry *x = a, *y = b;

	return strcmp(x->name, y->name);
}

static int add_entry(struct workload_registry *r, const char *dir, const char *file)
{
	struct workload_entry *items = realloc(r->items, (r->n + 1) * sizeof(*items));
	struct workload_entry *e;

	if (!items)
		return -ENOMEM;
	r->items = items;
	e = &items[r->n];
	memset(e, 0, sizeof(*e));
	e->name = strndup(file, strlen(file) - strlen(".yaml"));
	e->path = joined(dir, strlen(dir), file);
	r->n++;
	return e->name && e->path ? 0 : -ENOMEM;
}

int workload_registry_load(const char *dir, const char *path, struct digests *d,
			   struct workload_registry *ret_r, struct kg_err *err)
{
	struct workload_registry r = {0};
	struct dirent *de;
	DIR *handle = opendir(dir);
	size_t i;
	int rc = 0;

	if (!handle)
		return kg_err_errno(err, "cannot open", dir);
	while (rc == 0 && (de = readdir(handle))) {
		size_t len = strlen(de->d_name);

		if (len > 5 && de->d_name[0] != '.' && strcmp(de->d_name + len - 5, ".yaml") == 0)
			rc = add_entry(&r, dir, de->d_name);
	}
	closedir(handle);
	if (rc < 0) {
		workload_registry_deinit(&r);
		return kg_err_set(err, rc, "out of memory");
	}
	if (r.n)
		qsort(r.items, r.n, sizeof(*r.items), by_name);
	for (i = 0; i < r.n; i++)
		fill(&r.items[i], path, d);
	*ret_r = r;
	return 0;
}

void workload_registry_deinit(struct workload_registry *r)
{
	size_t i;

	for (i = 0; i < r->n; i++) {
		free(r->items[i].name);
		free(r->items[i].path);
		free(r->items[i].missing);
		free(r->items[i].program);
		free(r->items[i].version);
		kg_texts_deinit(&r->items[i].paths);
		kg_texts_deinit(&r->items[i].version_command);
	}
	free(r->items);
	memset(r, 0, sizeof(*r));
}

const struct workload_entry *workload_registry_find(const struct workload_registry *r,
						    const char *name)
{
	size_t i;

	for (i = 0; i < r->n; i++)
		if (strcmp(r->items[i].name, name) == 0)
			return &r->items[i];
	return NULL;
}

int workload_declaration(const struct workload_entry *e, char **ret_text, size_t *ret_len,
			 struct kg_err *err)
{
	char digest[KG_SHA256_HEX_SIZE] = "", *text;
	size_t len;
	int rc = kg_file_read(e->path, WORKLOAD_DECLARATION_MAX, &text, &len, err);

	if (rc < 0)
		return rc;
	if (e->text_digest[0] &&
	    (kg_sha256_bytes(text, len, digest) < 0 || strcmp(digest, e->text_digest) != 0)) {
		free(text);
		return kg_err_set(err, KG_ESTATE, "'%s' changed since this agent started", e->path);
	}
	*ret_text = text;
	*ret_len = len;
	return 0;
}
