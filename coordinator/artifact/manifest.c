/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "coordinator/artifact/manifest.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define HEADER	"kgrid-kernel "
#define VERSION "1"

void artifact_manifest_deinit(struct artifact_manifest *m)
{
	size_t i;

	for (i = 0; i < m->n; i++)
		free(m->files[i].path);
	free(m->files);
	memset(m, 0, sizeof(*m));
}

/* ---- paths and releases ---- */

static bool ends_with(const char *s, const char *suffix)
{
	size_t n = strlen(s), k = strlen(suffix);

	return n >= k && memcmp(s + n - k, suffix, k) == 0;
}

bool artifact_path_is_module(const char *path)
{
	return ends_with(path, ".ko") || ends_with(path, ".ko.xz") || ends_with(path, ".ko.zst") ||
	       ends_with(path, ".ko.gz");
}

static const char *component_problem(const char *part, size_t len)
{
	if (len == 0)
		return "has an empty component";
	if (len == 1 && part[0] == '.')
		return "has a '.' component";
	if (len == 2 && memcmp(part, "..", 2) == 0)
		return "has a '..' component";
	return NULL;
}

const char *artifact_path_problem(const char *path)
{
	const char *problem;
	size_t i, start = 0;

	if (!path[0])
		return "is empty";
	if (path[0] == '/')
		return "is absolute";
	for (i = 0; path[i]; i++) {
		if (i >= ARTIFACT_PATH_MAX)
			return "is too long";
		if (path[i] <= ' ' || path[i] > '~')
			return "has a character that is not allowed";
	}
	for (i = 0;; i++) {
		if (path[i] && path[i] != '/')
			continue;
		problem = component_problem(path + start, i - start);
		if (problem)
			return problem;
		if (!path[i])
			return NULL;
		start = i + 1;
	}
}

/* Whether a kernel has a file of that name. */
static bool path_is_known(const char *path)
{
	return kg_streq(path, "vmlinuz") || kg_streq(path, "config") ||
	       kg_streq(path, "System.map") || kg_streq(path, "initrd") ||
	       kg_str_starts(path, "modules/");
}

bool artifact_release_valid(const char *release)
{
	size_t i;

	if (!isalnum((unsigned char)release[0]))
		return false;
	for (i = 0; release[i]; i++)
		if (i >= ARTIFACT_RELEASE_MAX ||
		    !(isalnum((unsigned char)release[i]) || strchr("._+~-", release[i])))
			return false;
	return true;
}

/* ---- checks shared by parsing and writing ---- */

static int check_file(const struct artifact_file *f, struct kg_err *err)
{
	const char *problem = artifact_path_problem(f->path);

	if (problem)
		return kg_err_set(err, KG_EINVALID, "a path %s", problem);
	if (!path_is_known(f->path))
		return kg_err_set(err, KG_EINVALID, "path '%s' is not part of a kernel", f->path);
	if (!kg_sha256_hex_valid(f->digest))
		return kg_err_set(err, KG_EINVALID, "'%s' has a malformed digest", f->path);
	if (f->mode > 0777)
		return kg_err_set(err, KG_EINVALID, "'%s' has mode %o, over 777", f->path, f->mode);
	if (f->size_bytes > ARTIFACT_FILE_MAX)
		return kg_err_set(err, KG_ELIMIT, "'%s' is larger than %llu bytes", f->path,
				  ARTIFACT_FILE_MAX);
	return 0;
}

static int check_caps(const struct artifact_manifest *m, struct kg_err *err)
{
	if (m->n > ARTIFACT_FILES_MAX)
		return kg_err_set(err, KG_ELIMIT, "more than %u files", ARTIFACT_FILES_MAX);
	if (m->size_bytes > ARTIFACT_TOTAL_MAX)
		return kg_err_set(err, KG_ELIMIT, "files of more than %llu bytes together",
				  ARTIFACT_TOTAL_MAX);
	return 0;
}

/* No file may be a folder of another: "modules/a" and "modules/a/b". */
static int check_folders(const struct artifact_manifest *m, struct kg_err *err)
{
	char part[ARTIFACT_PATH_MAX + 1];
	size_t i, k;

	for (i = 0; i < m->n; i++) {
		const char *path = m->files[i].path;

		for (k = 0; path[k]; k++) {
			part[k] = '\0';
			if (path[k] == '/' && artifact_manifest_find(m, part))
				return kg_err_set(err, KG_EINVALID, "'%s' is a file and a folder",
						  part);
			part[k] = path[k];
		}
	}
	return 0;
}

static int check_whole(const struct artifact_manifest *m, struct kg_err *err)
{
	if (!artifact_manifest_find(m, "vmlinuz"))
		return kg_err_set(err, KG_EINVALID, "there is no 'vmlinuz'");
	if (!artifact_manifest_find(m, "config"))
		return kg_err_set(err, KG_EINVALID, "there is no 'config'");
	return check_folders(m, err);
}

/* ---- reading ---- */

struct cursor {
	const char *text;
	size_t len, pos;
	unsigned line; /* of what take_line gave last, from 1 */
};

/* Next line without its LF. False at the end; an unfinished last line has *ret_len == SIZE_MAX. */
static bool take_line(struct cursor *c, const char **ret_line, size_t *ret_len)
{
	const char *start = c->text + c->pos;
	const char *end;

	if (c->pos == c->len)
		return false;
	c->line++;
	end = memchr(start, '\n', c->len - c->pos);
	*ret_line = start;
	*ret_len = end ? (size_t)(end - start) : SIZE_MAX;
	c->pos = end ? c->pos + *ret_len + 1 : c->len;
	return true;
}

static int line_error(struct kg_err *err, const struct cursor *c, int code, const char *text)
{
	return kg_err_set(err, code, "line %u: %s", c->line, text);
}

/* Digits in `base` without leading zeros, ended by a space; *p moves behind the space. */
static bool take_number(const char **p, const char *end, unsigned base, uint64_t *ret)
{
	const char *s = *p;
	uint64_t v = 0;

	while (s < end && *s >= '0' && *s < (char)('0' + base)) {
		if (v > (UINT64_MAX - 9) / base)
			return false;
		v = v * base + (uint64_t)(*s - '0');
		s++;
	}
	if (s == *p || s == end || *s != ' ' || (**p == '0' && s - *p > 1))
		return false;
	*ret = v;
	*p = s + 1;
	return true;
}

static bool take_prefix(const char **p, const char *end, const char *prefix)
{
	size_t n = strlen(prefix);

	if ((size_t)(end - *p) < n || memcmp(*p, prefix, n) != 0)
		return false;
	*p += n;
	return true;
}

/* "file <digest> <size> <mode> <path>" into `ret`, whose path is owned on success. */
static int parse_file(const char *line, size_t len, struct artifact_file *ret)
{
	const char *p = line, *end = line + len;
	uint64_t mode;

	memset(ret, 0, sizeof(*ret));
	if (!take_prefix(&p, end, "file ") || end - p <= KG_SHA256_HEX_LEN ||
	    p[KG_SHA256_HEX_LEN] != ' ')
		return KG_EINVALID;
	memcpy(ret->digest, p, KG_SHA256_HEX_LEN);
	p += KG_SHA256_HEX_LEN + 1;
	if (!take_number(&p, end, 10, &ret->size_bytes) || !take_number(&p, end, 8, &mode) ||
	    mode > 0777 || memchr(p, '\0', (size_t)(end - p)))
		return KG_EINVALID;
	ret->mode = (uint32_t)mode;
	ret->path = strndup(p, (size_t)(end - p));
	return ret->path ? 0 : -ENOMEM;
}

static int parse_head(struct cursor *c, struct artifact_manifest *m, struct kg_err *err)
{
	const char *line, *p;
	size_t len;

	if (!take_line(c, &line, &len) || len == SIZE_MAX)
		return kg_err_set(err, KG_EINVALID, "not a kernel manifest");
	p = line;
	if (!take_prefix(&p, line + len, HEADER))
		return kg_err_set(err, KG_EINVALID, "not a kernel manifest");
	if ((size_t)(line + len - p) != strlen(VERSION) || memcmp(p, VERSION, strlen(VERSION)) != 0)
		return kg_err_set(err, KG_EVERSION, "manifest version '%.*s' is not supported",
				  (int)(line + len - p > 20 ? 20 : line + len - p), p);
	if (!take_line(c, &line, &len) || len == SIZE_MAX)
		return line_error(err, c, KG_EINVALID, "expected 'release NAME'");
	p = line;
	if (!take_prefix(&p, line + len, "release "))
		return line_error(err, c, KG_EINVALID, "expected 'release NAME'");
	len -= (size_t)(p - line);
	if (len > ARTIFACT_RELEASE_MAX)
		return line_error(err, c, KG_EINVALID, "malformed release");
	memcpy(m->release, p, len);
	m->release[len] = '\0';
	if (strlen(m->release) != len || !artifact_release_valid(m->release))
		return line_error(err, c, KG_EINVALID, "malformed release");
	return 0;
}

/* Room for one more file. */
static int reserve(struct artifact_manifest *m)
{
	struct artifact_file *files;
	size_t cap;

	if (m->n & (m->n - 1)) /* grows at powers of two */
		return 0;
	cap = m->n ? m->n * 2 : 1;
	files = realloc(m->files, cap * sizeof(*files));
	if (!files)
		return -ENOMEM;
	m->files = files;
	return 0;
}

static int parse_files(struct cursor *c, struct artifact_manifest *m, struct kg_err *err)
{
	const char *line;
	size_t len;
	int rc;

	while (take_line(c, &line, &len)) {
		struct artifact_file *f;

		if (len == SIZE_MAX)
			return line_error(err, c, KG_EINVALID, "the line does not end");
		if (reserve(m) < 0)
			return kg_err_set(err, -ENOMEM, "out of memory");
		f = &m->files[m->n];
		rc = parse_file(line, len, f);
		if (rc == -ENOMEM)
			return kg_err_set(err, rc, "out of memory");
		if (rc < 0)
			return line_error(err, c, rc, "expected 'file DIGEST SIZE MODE PATH'");
		m->n++;
		rc = check_file(f, err);
		if (rc < 0)
			return kg_err_wrap(err, rc, "line %u", c->line);
		m->size_bytes += f->size_bytes;
		rc = check_caps(m, err);
		if (rc < 0)
			return kg_err_wrap(err, rc, "line %u", c->line);
		if (m->n > 1 && strcmp(f[-1].path, f->path) >= 0)
			return line_error(err, c, KG_EINVALID,
					  "paths are not sorted or not unique");
	}
	return 0;
}

int artifact_manifest_parse(const char *text, size_t len, struct artifact_manifest *ret_m,
			    struct kg_err *err)
{
	struct cursor c = {.text = text, .len = len};
	struct artifact_manifest m = {0};
	int rc;

	if (len > ARTIFACT_MANIFEST_MAX)
		return kg_err_set(err, KG_ELIMIT, "the manifest is larger than %u bytes",
				  ARTIFACT_MANIFEST_MAX);
	rc = parse_head(&c, &m, err);
	if (rc == 0)
		rc = parse_files(&c, &m, err);
	if (rc == 0)
		rc = check_whole(&m, err);
	if (rc < 0) {
		artifact_manifest_deinit(&m);
		return rc;
	}
	*ret_m = m;
	return 0;
}

/* ---- writing ---- */

int artifact_manifest_add(struct artifact_manifest *m, const struct artifact_file *file,
			  struct kg_err *err)
{
	char *path;

	if (m->n >= ARTIFACT_FILES_MAX)
		return kg_err_set(err, KG_ELIMIT, "more than %u files", ARTIFACT_FILES_MAX);
	path = strdup(file->path);
	if (!path || reserve(m) < 0) {
		free(path);
		return kg_err_set(err, -ENOMEM, "out of memory");
	}
	m->files[m->n] = *file;
	m->files[m->n].path = path;
	m->n++;
	m->size_bytes += file->size_bytes;
	return 0;
}

static int by_path(const void *a, const void *b)
{
	const struct artifact_file *x = a, *y = b;

	return strcmp(x->path, y->path);
}

int artifact_manifest_write(struct artifact_manifest *m, struct kg_str *out, struct kg_err *err)
{
	size_t i, before = out->len;
	int rc;

	if (!artifact_release_valid(m->release))
		return kg_err_set(err, KG_EINVALID, "malformed release '%s'", m->release);
	if (m->n > 0)
		qsort(m->files, m->n, sizeof(*m->files), by_path);
	rc = check_caps(m, err);
	for (i = 0; rc == 0 && i < m->n; i++) {
		rc = check_file(&m->files[i], err);
		if (rc == 0 && i > 0 && strcmp(m->files[i - 1].path, m->files[i].path) == 0)
			rc = kg_err_set(err, KG_EINVALID, "'%s' is there twice", m->files[i].path);
	}
	if (rc == 0)
		rc = check_whole(m, err);
	if (rc < 0)
		return rc;
	kg_str_addf(out, HEADER VERSION "\nrelease %s\n", m->release);
	for (i = 0; i < m->n; i++)
		kg_str_addf(out, "file %s %" PRIu64 " %o %s\n", m->files[i].digest,
			    m->files[i].size_bytes, m->files[i].mode, m->files[i].path);
	if (out->failed)
		return kg_err_set(err, -ENOMEM, "out of memory");
	if (out->len - before > ARTIFACT_MANIFEST_MAX)
		return kg_err_set(err, KG_ELIMIT, "the manifest is larger than %u bytes",
				  ARTIFACT_MANIFEST_MAX);
	return 0;
}

int artifact_manifest_digest(const char *text, size_t len, char ret_hex[KG_SHA256_HEX_SIZE])
{
	return kg_sha256_bytes(text, len, ret_hex);
}

/* ---- looking up ---- */

static int path_against_file(const void *key, const void *file)
{
	return strcmp(key, ((const struct artifact_file *)file)->path);
}

const struct artifact_file *artifact_manifest_find(const struct artifact_manifest *m,
						   const char *path)
{
	if (m->n == 0)
		return NULL;
	return bsearch(path, m->files, m->n, sizeof(*m->files), path_against_file);
}

const struct artifact_file *artifact_manifest_find_digest(const struct artifact_manifest *m,
							  const char *digest)
{
	size_t i;

	for (i = 0; i < m->n; i++)
		if (strcmp(m->files[i].digest, digest) == 0)
			return &m->files[i];
	return NULL;
}

bool artifact_manifest_has_modules(const struct artifact_manifest *m)
{
	size_t i;

	for (i = 0; i < m->n; i++)
		if (kg_str_starts(m->files[i].path, "modules/") &&
		    artifact_path_is_module(m->files[i].path))
			return true;
	return false;
}
