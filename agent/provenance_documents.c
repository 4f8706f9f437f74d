/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "agent/provenance_documents.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <zlib.h>

#include "agent/command.h"
#include "agent/workload_registry.h"
#include "common/clock.h"
#include "common/err.h"
#include "common/str.h"

#define CONFIG_MAX  (4U * 1024 * 1024)
#define STATUS_MAX  (128U * 1024 * 1024)
#define MODULES_MAX (4U * 1024 * 1024)
#define RPM_TIME_NS (30 * KG_NSEC_PER_SEC)

/* Lines to be sorted. */
struct lines {
	char **items;
	size_t n, cap;
	bool failed;
};

static void lines_deinit(struct lines *s)
{
	while (s->n > 0)
		free(s->items[--s->n]);
	free(s->items);
}

__attribute__((format(printf, 2, 3))) static void lines_addf(struct lines *s, const char *fmt, ...)
{
	char *text = NULL;
	va_list ap;

	if (!s->failed && s->n == s->cap) {
		size_t cap = s->cap ? 2 * s->cap : 256;
		char **items = realloc(s->items, cap * sizeof(*items));

		if (items) {
			s->items = items;
			s->cap = cap;
		}
		s->failed = !items;
	}
	if (s->failed)
		return;
	va_start(ap, fmt);
	if (vasprintf(&text, fmt, ap) < 0)
		s->failed = true;
	else
		s->items[s->n++] = text;
	va_end(ap);
}

static int compare(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Sorts, and adds them as a document; says the reason where that fails. */
static bool lines_end(struct lines *s, const char *name, const char *digest, struct fact_list *l,
		      struct document_list *docs)
{
	struct document_writer *w = s->failed ? NULL : document_begin();
	size_t i;
	int rc;

	if (!w) {
		l->failed = true;
		return false;
	}
	if (s->n)
		qsort(s->items, s->n, sizeof(*s->items), compare);
	for (i = 0; i < s->n; i++) {
		document_add(w, s->items[i], strlen(s->items[i]));
		document_add(w, "\n", 1);
	}
	rc = document_end(w, name, true, docs);
	if (rc == -ENOMEM)
		l->failed = true;
	if (rc < 0)
		fact_unsupported(l, digest, rc == KG_ENODATA ? FACT_EMPTY : FACT_FAILED);
	else
		fact_add(l, digest, docs->items[docs->n - 1].digest);
	return rc == 0;
}

/* ---- config ---- */

static int gunzip(const char *packed, size_t len, struct document_writer *w)
{
	z_stream z = {.next_in = (Bytef *)(uintptr_t)packed, .avail_in = (uInt)len};
	Bytef buf[16384];
	size_t total = 0;
	int rc;

	if (inflateInit2(&z, 16 + MAX_WBITS) != Z_OK)
		return -ENOMEM;
	do {
		z.next_out = buf;
		z.avail_out = sizeof(buf);
		rc = inflate(&z, Z_NO_FLUSH);
		document_add(w, buf, sizeof(buf) - z.avail_out);
		total += sizeof(buf) - z.avail_out;
	} while (rc == Z_OK && total < CONFIG_MAX);
	(void)inflateEnd(&z);
	return rc == Z_STREAM_END ? 0 : rc == Z_MEM_ERROR ? -ENOMEM : KG_ECORRUPT;
}

static int add_config(const char *text, size_t len, bool packed, struct document_list *docs)
{
	struct document_writer *w = document_begin();
	int rc = 0, end;

	if (!w)
		return -ENOMEM;
	if (packed)
		rc = gunzip(text, len, w);
	else
		document_add(w, text, len);
	end = document_end(w, "config", rc == 0, docs);
	return rc < 0 ? rc : end;
}

void provenance_config(const char *root, struct fact_list *l, struct document_list *docs)
{
	static const char *const places[] = {"/boot/config-%s", "/usr/lib/modules/%s/config",
					     "/lib/modules/%s/config",
					     "/lib/modules/%s/build/.config"};
	const char *release = fact_list_value(l, "kernel.release");
	char path[512] = "/proc/config.gz", *text;
	const char *reason = FACT_ABSENT;
	size_t len, i;
	int rc;

	for (i = 0; i <= sizeof(places) / sizeof(places[0]); i++) {
		if (i > 0 && (!release || strchr(release, '/')))
			break;
			/* A name of this kernel's release; the formats are the four above. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
		if (i > 0 &&
		    snprintf(path, sizeof(path), places[i - 1], release) >= (int)sizeof(path))
			break;
#pragma GCC diagnostic pop
		rc = fact_read(root, path, CONFIG_MAX, &text, &len);
		if (rc == 0) {
			rc = add_config(text, len, i == 0, docs);
			free(text);
		}
		if (rc == 0) {
			fact_add(l, "config.source", path);
			fact_add(l, "config.digest", docs->items[docs->n - 1].digest);
			return;
		}
		if (rc == -ENOMEM)
			l->failed = true;
		else if (rc != -ENOENT && rc != -ENOTDIR)
			reason = rc == KG_ENODATA ? FACT_EMPTY : fact_reason(rc);
	}
	fact_unsupported(l, "config.source", reason);
	fact_unsupported(l, "config.digest", reason);
}

/* ---- modules ---- */

void provenance_modules(const char *root, struct fact_list *l, struct document_list *docs)
{
	struct lines all = {0};
	struct kg_str tainting = {0};
	char *text, *line, *rest = NULL;
	size_t len;
	int rc = fact_read(root, "/proc/modules", MODULES_MAX, &text, &len);

	if (rc < 0) { /* a kernel without modules has no such file */
		l->failed = l->failed || rc == -ENOMEM;
		fact_unsupported(l, "modules.digest", fact_reason(rc));
		fact_unsupported(l, "modules.count", fact_reason(rc));
		fact_unsupported(l, "modules.tainting", fact_reason(rc));
		return;
	}
	for (line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
		char name[64], *flags = strrchr(line, '(');
		unsigned long long size;

		if (sscanf(line, "%63s %llu", name, &size) != 2)
			continue;
		lines_addf(&all, "%s %llu%s%s", name, size, flags ? " " : "", flags ? flags : "");
		if (flags)
			kg_str_addf(&tainting, "%s%s%s", tainting.len ? " " : "", name, flags);
	}
	free(text);
	fact_addf(l, "modules.count", "%zu", all.n);
	(void)lines_end(&all, "modules", "modules.digest", l, docs);
	l->failed = l->failed || tainting.failed;
	fact_add(l, "modules.tainting", tainting.len ? tainting.text : "none");
	kg_str_deinit(&tainting);
	lines_deinit(&all);
}

/* ---- packages ---- */

static const char *value_of(const char *line, const char *key)
{
	size_t len = strlen(key);

	return strncmp(line, key, len) == 0 ? line + len + strspn(line + len, " ") : NULL;
}

/* Stanzas of /var/lib/dpkg/status (deb822, dpkg's man page status(5)); only installed ones count. */
static void dpkg_lines(char *text, struct lines *all)
{
	const char *name = NULL, *version = NULL, *arch = NULL, *v;
	bool installed = false;
	char *line = text, *end;

	for (; line; line = end) {
		end = strchr(line, '\n');
		if (end)
			*end++ = '\0';
		if (line[0] == '\0' || !end) {
			if (name && version && installed)
				lines_addf(all, "%s %s %s", name, version, arch ? arch : "-");
			name = version = arch = NULL;
			installed = false;
			continue;
		}
		if ((v = value_of(line, "Package:")))
			name = v;
		else if ((v = value_of(line, "Version:")))
			version = v;
		else if ((v = value_of(line, "Architecture:")))
			arch = v;
		else if ((v = value_of(line, "Status:")))
			installed = strstr(v, " installed") != NULL;
	}
}

static bool has_rpm(const char *root)
{
	static const char *const places[] = {"/var/lib/rpm/rpmdb.sqlite", "/var/lib/rpm/Packages",
					     "/var/lib/rpm/Packages.db",
					     "/usr/lib/sysimage/rpm/rpmdb.sqlite",
					     "/usr/lib/sysimage/rpm/Packages.db"};
	size_t i;

	for (i = 0; i < sizeof(places) / sizeof(places[0]); i++)
		if (fact_exists(root, places[i]))
			return true;
	return false;
}

/* Its data base has three formats; rpm itself knows them. */
static int rpm_lines(const char *root, struct lines *all)
{
	const char *argv[] = {NULL, "-qa", "--qf", "%{NAME} %{VERSION}-%{RELEASE} %{ARCH}\n", NULL};
	char *program, *text, *line, *rest = NULL;
	size_t len;
	int rc;

	if (root[0]) /* of another root there is nobody to ask */
		return KG_ENOTFOUND;
	program = workload_find_program("rpm", WORKLOAD_PATH);
	if (!program)
		return KG_ENOTFOUND;
	argv[0] = program;
	rc = command_output(argv, STATUS_MAX, RPM_TIME_NS, &text, &len);
	free(program);
	if (rc < 0)
		return rc;
	for (line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest))
		lines_addf(all, "%s", line);
	free(text);
	return 0;
}

void provenance_packages(const char *root, struct fact_list *l, struct document_list *docs)
{
	struct lines all = {0};
	char *text;
	size_t len;
	int rc = fact_read(root, "/var/lib/dpkg/status", STATUS_MAX, &text, &len);

	if (rc == 0) {
		if (memchr(text, '\0', len))
			rc = KG_ECORRUPT;
		else
			dpkg_lines(text, &all);
		free(text);
	} else if (rc == -ENOENT && has_rpm(root)) {
		rc = rpm_lines(root, &all);
	}
	l->failed = l->failed || rc == -ENOMEM;
	if (rc < 0) {
		fact_unsupported(l, "packages.digest", fact_reason(rc));
		fact_unsupported(l, "packages.count", fact_reason(rc));
	} else if (lines_end(&all, "packages", "packages.digest", l, docs)) {
		fact_addf(l, "packages.count", "%zu", all.n);
	} else {
		fact_unsupported(l, "packages.count", FACT_EMPTY);
	}
	lines_deinit(&all);
}

/* ---- kallsyms ---- */

#define MODULES_KNOWN 1024

struct symbols {
	unsigned long long text;
	struct {
		char name[64];
		unsigned long long lowest;
	} * modules;
	size_t n;
	struct document_writer *w; /* NULL: the first look, for the bases */
};

static unsigned long long *base_of(struct symbols *s, const char *module)
{
	size_t i;

	/* Symbols of a module stand together: the last one first. */
	for (i = s->n; i > 0; i--)
		if (strcmp(s->modules[i - 1].name, module) == 0)
			return &s->modules[i - 1].lowest;
	if (s->w || s->n == MODULES_KNOWN)
		return NULL;
	(void)snprintf(s->modules[s->n].name, sizeof(s->modules[0].name), "%s", module);
	s->modules[s->n].lowest = ~0ULL;
	return &s->modules[s->n++].lowest;
}

static void symbol(struct symbols *s, const char *line)
{
	char type, name[512], module[72] = "";
	unsigned long long address, *base = NULL;
	char out[640];
	int n = sscanf(line, "%llx %c %511s %71s", &address, &type, name, module);

	if (n < 3)
		return;
	if (module[0])
		base = base_of(s, module);
	if (!s->w) {
		if (strcmp(name, "_text") == 0 && !module[0])
			s->text = address;
		if (base && address && address < *base)
			*base = address;
		return;
	}
	if (module[0])
		address = base && address >= *base ? address - *base : 0;
	else if (address >= s->text)
		address -= s->text; /* below it are the per-CPU ones: offsets already */
	n = snprintf(out, sizeof(out), "%llx %c %s%s%s\n", address, type, name,
		     module[0] ? " " : "", module);
	document_add(s->w, out, (size_t)n);
}

static int look(const char *root, struct symbols *s)
{
	char path[512], line[1024];
	FILE *f;
	int rc;

	if (snprintf(path, sizeof(path), "%s/proc/kallsyms", root) >= (int)sizeof(path))
		return -ENAMETOOLONG;
	f = fopen(path, "re");
	if (!f)
		return -errno;
	while (fgets(line, sizeof(line), f))
		symbol(s, line);
	rc = ferror(f) ? -EIO : 0;
	(void)fclose(f);
	return rc;
}

void provenance_kallsyms(const char *root, struct fact_list *l, struct document_list *docs)
{
	struct symbols s = {.modules = calloc(MODULES_KNOWN, sizeof(*s.modules))};
	int rc = s.modules ? look(root, &s) : -ENOMEM, end;

	if (rc == 0 && s.text == 0)
		rc = -EPERM; /* kptr_restrict hides every address */
	if (rc == 0) {
		s.w = document_begin();
		rc = s.w ? look(root, &s) : -ENOMEM;
	}
	if (s.w) {
		end = document_end(s.w, "kallsyms", rc == 0, docs);
		rc = rc < 0 ? rc : end;
	}
	free(s.modules);
	l->failed = l->failed || rc == -ENOMEM;
	if (rc < 0)
		fact_unsupported(l, "document.kallsyms", fact_reason(rc));
}
