/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/includes.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "common/file.h"
#include "common/yaml.h"
#include "coordinator/plan/job.h"

/* A file that is being read, and the one that includes it. */
struct chain {
	const struct chain *up; /* NULL: the job file */
	const char *name;
	const char *text;
	size_t len;
};

void includes_deinit(struct includes *in)
{
	size_t i;

	for (i = 0; i < in->n; i++) {
		free(in->files[i]->name);
		free(in->files[i]->text);
		free(in->files[i]);
	}
	free(in->files);
	*in = (struct includes){0};
}

/* The line on which a file names another one; 0: not found. It is looked for behind `include:`. */
static unsigned line_of(const struct chain *c, const char *written)
{
	const char *p = c->text, *end = c->text + c->len;
	size_t len = strlen(written);
	bool behind = false;
	unsigned line = 1;

	while (p < end) {
		const char *stop = memchr(p, '\n', (size_t)(end - p));
		size_t n = stop ? (size_t)(stop - p) : (size_t)(end - p);

		behind = behind || (n >= 7 && memmem(p, n, "include", 7));
		if (behind && len > 0 && memmem(p, n, written, len))
			return line;
		if (!stop)
			break;
		p = stop + 1;
		line++;
	}
	return 0;
}

/* "FILE:LINE: text" */
static int fail(const struct chain *c, const char *written, int code, const char *text,
		struct kg_err *err)
{
	unsigned line = line_of(c, written);

	if (line)
		return kg_err_set(err, code, "%s:%u: %s", c->name, line, text);
	return kg_err_set(err, code, "%s: %s", c->name, text);
}

/* "a includes b includes a" */
static int circle(const struct chain *c, const char *written, const char *path, struct kg_err *err)
{
	const struct chain *names[JOB_MAX_FILES + 1];
	struct kg_str s = {0};
	size_t n = 0;
	int rc;

	for (; c && n < sizeof(names) / sizeof(names[0]); c = c->up) {
		names[n++] = c;
		if (strcmp(c->name, path) == 0)
			break;
	}
	kg_str_add(&s, "files include each other in a circle: ");
	while (n > 0)
		kg_str_addf(&s, "'%s' includes ", names[--n]->name);
	kg_str_addf(&s, "'%s'", path);
	rc = fail(names[0], written, KG_EINVALID, kg_str_text(&s), err);
	kg_str_deinit(&s);
	return rc;
}

static int add_file(struct includes *in, const struct chain *from, const char *written,
		    const char *path, struct kg_err *err)
{
	struct kg_err why = {{0}};
	struct kg_str s = {0};
	Kgrid__V1__JobFile *f;
	char *text = NULL;
	size_t len = 0;
	int rc = 0;

	if (in->n == JOB_MAX_FILES) {
		kg_str_addf(&s, "cannot include '%s': a job includes at most %d files", path,
			    JOB_MAX_FILES);
		rc = KG_ELIMIT;
	} else {
		rc = kg_file_read(path, KG_YAML_MAX_BYTES, &text, &len, &why);
		if (rc == KG_ELIMIT)
			kg_str_addf(&s, "cannot include '%s': it has more than %d KiB", path,
				    KG_YAML_MAX_BYTES / 1024);
		else if (rc < 0)
			kg_str_addf(&s, "cannot include '%s': %s", written, why.text);
	}
	if (rc == 0 && (memchr(text, '\0', len) || !kg_utf8_valid(text, len))) {
		kg_str_addf(&s, "cannot include '%s': not a text in UTF-8", path);
		rc = KG_EINVALID;
	}
	if (rc < 0) {
		rc = fail(from, written, rc, kg_str_text(&s), err);
		kg_str_deinit(&s);
		free(text);
		return rc;
	}
	f = cli_alloc(1, sizeof(*f));
	*f = (Kgrid__V1__JobFile)KGRID__V1__JOB_FILE__INIT;
	f->name = cli_strdup(path);
	f->text = text;
	in->files = cli_grow(in->files, in->n + 1, sizeof(*in->files));
	in->files[in->n++] = f;
	return 0;
}

static int read_all(struct includes *in, const struct chain *c, struct kg_err *err);

static int read_one(struct includes *in, const struct chain *c, const char *written,
		    struct kg_err *err)
{
	char *path = job_include_path(c->name, written);
	const struct chain *up;
	int rc = 0;
	size_t i;

	if (!path)
		path = cli_strdup(written);
	for (up = c; up && rc == 0; up = up->up)
		if (strcmp(up->name, path) == 0)
			rc = circle(c, written, path, err);
	for (i = 0; i < in->n; i++)
		if (strcmp(in->files[i]->name, path) == 0)
			break;
	if (rc == 0 && i == in->n) {
		rc = add_file(in, c, written, path, err);
		if (rc == 0) {
			const Kgrid__V1__JobFile *f = in->files[i];
			struct chain next = {c, f->name, f->text, strlen(f->text)};

			rc = read_all(in, &next, err);
		}
	}
	free(path);
	return rc;
}

static int read_all(struct includes *in, const struct chain *c, struct kg_err *err)
{
	struct kg_texts names = {0};
	struct kg_err ignored = {{0}};
	int rc = 0;
	size_t i;

	if (job_includes(c->name, c->text, c->len, &names, &ignored) < 0)
		return 0; /* said by the coordinator, with the rest */
	for (i = 0; i < names.n && rc == 0; i++)
		rc = read_one(in, c, names.items[i], err);
	kg_texts_deinit(&names);
	return rc;
}

int includes_read(const char *file_name, const char *text, size_t len, struct includes *ret,
		  struct kg_err *err)
{
	struct chain top = {NULL, file_name, text, len};
	struct includes in = {0};
	int rc = read_all(&in, &top, err);

	if (rc < 0)
		includes_deinit(&in);
	else
		*ret = in;
	return rc;
}
