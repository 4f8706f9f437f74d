/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "agent/boot_manifest.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "common/sha256.h"
#include "common/str.h"

static int bad(struct kg_err *err, size_t line, const char *what)
{
	return kg_err_set(err, KG_EINVALID, "kernel manifest, line %zu: %s", line, what);
}

static bool path_safe(const char *path)
{
	const char *p = path;

	if (!path[0] || path[0] == '/')
		return false;
	for (;;) {
		size_t len = strcspn(p, "/");

		if (len == 0 || (len == 1 && p[0] == '.') ||
		    (len == 2 && p[0] == '.' && p[1] == '.'))
			return false;
		if (!p[len])
			return true;
		p += len + 1;
	}
}

/* "file DIGEST SIZE MODE PATH", cut in place. */
static int parse_file(char *line, struct boot_file *f)
{
	char *word[4], *p = line;
	size_t i;
	char *end;

	for (i = 0; i < 4; i++) {
		p = strchr(p, ' ');
		if (!p)
			return KG_EINVALID;
		*p++ = '\0';
		word[i] = p;
	}
	f->digest = word[0];
	f->path = word[3];
	f->mode = (unsigned)strtoul(word[2], &end, 8);
	if (*end || end == word[2] || f->mode > 07777 ||
	    kg_parse_u64(word[1], &f->size_bytes) < 0 || !kg_sha256_hex_valid(f->digest) ||
	    !path_safe(f->path))
		return KG_EINVALID;
	return 0;
}

static size_t count_lines(const char *text)
{
	size_t n = 0;

	for (; *text; text++)
		n += *text == '\n';
	return n;
}

static int parse_lines(struct boot_manifest *m, struct kg_err *err)
{
	char *rest = m->text, *line;
	size_t number = 0;

	while ((line = strsep(&rest, "\n")) && rest) {
		number++;
		if (number == 1) {
			if (strcmp(line, "kgrid-kernel 1") != 0)
				return kg_err_set(err, KG_EVERSION,
						  "not a kernel manifest of version 1");
			continue;
		}
		if (number == 2) {
			if (!kg_str_starts(line, "release ") || !kg_name_valid(line + 8))
				return bad(err, number, "expected the release");
			m->release = line + 8;
			continue;
		}
		if (!kg_str_starts(line, "file ") || parse_file(line, &m->files[m->n]) < 0)
			return bad(err, number, "expected 'file DIGEST SIZE MODE PATH'");
		if (m->n > 0 && strcmp(m->files[m->n - 1].path, m->files[m->n].path) >= 0)
			return bad(err, number, "paths are not in order");
		m->n++;
	}
	if (line && *line)
		return bad(err, number + 1, "the last line has no end");
	return m->release ? 0 : bad(err, 1, "expected the release");
}

int boot_manifest_parse(const char *text, size_t len, struct boot_manifest *ret_m,
			struct kg_err *err)
{
	struct boot_manifest m = {0};
	int rc;

	if (len > BOOT_MANIFEST_MAX_BYTES || memchr(text, '\0', len))
		return kg_err_set(err, KG_EINVALID, "kernel manifest is too large or not text");
	m.text = strndup(text, len);
	m.files = m.text ? calloc(count_lines(m.text) + 1, sizeof(*m.files)) : NULL;
	rc = m.files ? parse_lines(&m, err) : kg_err_set(err, -ENOMEM, "out of memory");
	if (rc < 0) {
		boot_manifest_deinit(&m);
		return rc;
	}
	*ret_m = m;
	return 0;
}

void boot_manifest_deinit(struct boot_manifest *m)
{
	free(m->text);
	free(m->files);
	memset(m, 0, sizeof(*m));
}

const struct boot_file *boot_manifest_find(const struct boot_manifest *m, const char *path)
{
	size_t lo = 0, hi = m->n;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;
		int c = strcmp(m->files[mid].path, path);

		if (c == 0)
			return &m->files[mid];
		if (c < 0)
			lo = mid + 1;
		else
			hi = mid;
	}
	return NULL;
}

/* ---- module order ---- */

struct resolver {
	const char *dep;
	struct kg_texts *order;
	struct kg_err *err;
	unsigned depth;
};

/* Module name of the file name at `path` with `len` bytes: up to ".ko". */
static bool names_module(const char *path, size_t len, const char *name)
{
	size_t i = len, n = strlen(name), base;

	while (i > 0 && path[i - 1] != '/')
		i--;
	base = i;
	if (len - base < n + 3 || strncmp(path + base + n, ".ko", 3) != 0)
		return false;
	for (i = 0; i < n; i++) {
		char a = path[base + i] == '-' ? '_' : path[base + i];
		char b = name[i] == '-' ? '_' : name[i];

		if (a != b)
			return false;
	}
	return true;
}

/* The line of modules.dep whose file is `path` (path_len bytes), or whose module is `name`. */
static const char *find_line(const char *dep, const char *path, size_t path_len, const char *name)
{
	const char *line = dep;

	while (*line) {
		size_t len = strcspn(line, ":\n");

		if (name ? names_module(line, len, name)
			 : len == path_len && path && memcmp(line, path, len) == 0)
			return line;
		line += strcspn(line, "\n");
		line += *line == '\n';
	}
	return NULL;
}

static bool has_item(const struct kg_texts *t, const char *s, size_t len)
{
	size_t i;

	for (i = 0; i < t->n; i++)
		if (strlen(t->items[i]) == len && memcmp(t->items[i], s, len) == 0)
			return true;
	return false;
}

static int append(struct resolver *r, const char *path, size_t len)
{
	char **items = realloc(r->order->items, (r->order->n + 2) * sizeof(*items));
	char *copy = items ? strndup(path, len) : NULL;

	if (items)
		r->order->items = items;
	if (!copy)
		return kg_err_set(r->err, -ENOMEM, "out of memory");
	items[r->order->n++] = copy;
	items[r->order->n] = NULL;
	return 0;
}

/* What a file depends on comes before it. depmod lists the nearest dependency first, modprobe
 * loads from the end of the list; going down each of them from the end gives that order whether
 * or not the list is complete. */
static int visit(struct resolver *r, const char *line)
{
	size_t len = strcspn(line, ":\n");
	const char *begin = line + len + (line[len] == ':');
	const char *end = begin + strcspn(begin, "\n");
	int rc;

	if (has_item(r->order, line, len))
		return 0;
	if (++r->depth > 32)
		return kg_err_set(r->err, KG_EINVALID, "modules.dep: '%.*s' depends on itself",
				  (int)len, line);
	while (end > begin) {
		const char *word;
		const char *dep_line;

		while (end > begin && end[-1] == ' ')
			end--;
		word = end;
		while (word > begin && word[-1] != ' ')
			word--;
		if (word == end)
			break;
		dep_line = find_line(r->dep, word, (size_t)(end - word), NULL);
		if (!dep_line)
			return kg_err_set(r->err, KG_EINVALID, "modules.dep has no line for '%.*s'",
					  (int)(end - word), word);
		rc = visit(r, dep_line);
		if (rc < 0)
			return rc;
		end = word;
	}
	r->depth--;
	return append(r, line, len);
}

static bool is_builtin(const char *builtin, const char *name)
{
	const char *line = builtin;

	while (*line) {
		size_t len = strcspn(line, "\n");

		if (names_module(line, len, name))
			return true;
		line += len + (line[len] == '\n');
	}
	return false;
}

int boot_modules_order(const char *dep, const char *builtin, const struct kg_texts *names,
		       struct kg_texts *ret_order, struct kg_err *err)
{
	struct kg_texts order = {0};
	struct resolver r = {.dep = dep, .order = &order, .err = err};
	size_t i;
	int rc = 0;

	for (i = 0; i < names->n && rc == 0; i++) {
		const char *name = names->items[i];
		const char *line = find_line(dep, NULL, 0, name);

		r.depth = 0;
		if (line)
			rc = visit(&r, line);
		else if (!is_builtin(builtin, name))
			rc = kg_err_set(err, KG_ENOTFOUND,
					"the kernel has no module '%s', nor is it built in", name);
	}
	if (rc < 0) {
		kg_texts_deinit(&order);
		return rc;
	}
	*ret_order = order;
	return 0;
}
