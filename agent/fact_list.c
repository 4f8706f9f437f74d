/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "agent/fact_list.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/err.h"
#include "common/sha256.h"
#include "common/str.h"

#define NAMES_MAX 65536

void fact_list_deinit(struct fact_list *l)
{
	size_t i;

	for (i = 0; i < l->n; i++) {
		free(l->items[i].name);
		free(l->items[i].value);
	}
	free(l->items);
	memset(l, 0, sizeof(*l));
}

static int compare(const void *a, const void *b)
{
	const struct fact *x = a, *y = b;

	return strcmp(x->name, y->name);
}

void fact_list_sort(struct fact_list *l)
{
	size_t i, kept = 0;

	/* Few and nearly in order; stable, so that the first of two stays in front. */
	for (i = 1; i < l->n; i++) {
		struct fact f = l->items[i];
		size_t at = i;

		for (; at > 0 && compare(&l->items[at - 1], &f) > 0; at--)
			l->items[at] = l->items[at - 1];
		l->items[at] = f;
	}
	for (i = 0; i < l->n; i++) {
		if (kept && strcmp(l->items[kept - 1].name, l->items[i].name) == 0) {
			free(l->items[i].name);
			free(l->items[i].value);
		} else {
			l->items[kept++] = l->items[i];
		}
	}
	l->n = kept;
}

const struct fact *fact_list_find(const struct fact_list *l, const char *name)
{
	size_t i;

	for (i = 0; i < l->n; i++)
		if (strcmp(l->items[i].name, name) == 0)
			return &l->items[i];
	return NULL;
}

const char *fact_list_value(const struct fact_list *l, const char *name)
{
	const struct fact *f = fact_list_find(l, name);

	return f ? f->value : NULL;
}

/* Takes value. */
static void push(struct fact_list *l, const char *name, char *value, const char *reason)
{
	struct fact *items = l->items;

	if (!kg_utf8_valid(name, strlen(name))) {
		free(value);
		return;
	}
	if (!l->failed && l->n == l->cap) {
		size_t cap = l->cap ? 2 * l->cap : 64;

		items = realloc(items, cap * sizeof(*items));
		if (items) {
			l->items = items;
			l->cap = cap;
		}
	}
	if (l->failed || !items) {
		l->failed = true;
		free(value);
		return;
	}
	items[l->n].name = strdup(name);
	items[l->n].value = value;
	items[l->n].reason = reason;
	if (items[l->n].name) {
		l->n++;
	} else {
		l->failed = true;
		free(value);
	}
}

void fact_unsupported(struct fact_list *l, const char *name, const char *reason)
{
	push(l, name, NULL, reason);
}

static bool is_control(char ch)
{
	return (unsigned char)ch < 0x20 || ch == 0x7f;
}

void fact_add(struct fact_list *l, const char *name, const char *value)
{
	size_t len;
	char *copy, *p;

	while (is_control(*value) && *value)
		value++;
	value += strspn(value, " ");
	len = strlen(value);
	while (len > 0 && (value[len - 1] == ' ' || is_control(value[len - 1])))
		len--;
	if (len == 0 || len > FACT_VALUE_MAX || !kg_utf8_valid(value, len)) {
		fact_unsupported(l, name, len == 0 ? FACT_EMPTY : FACT_FAILED);
		return;
	}
	copy = strndup(value, len);
	if (!copy) {
		l->failed = true;
		return;
	}
	for (p = copy; *p; p++)
		if (is_control(*p))
			*p = ' ';
	push(l, name, copy, NULL);
}

void fact_addf(struct fact_list *l, const char *name, const char *fmt, ...)
{
	char *text = NULL;
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(NULL, 0, fmt, ap);
	va_end(ap);
	if (n >= 0)
		text = malloc((size_t)n + 1);
	if (!text) {
		l->failed = true;
		return;
	}
	va_start(ap, fmt);
	(void)vsnprintf(text, (size_t)n + 1, fmt, ap);
	va_end(ap);
	fact_add(l, name, text);
	free(text);
}

const char *fact_reason(int rc)
{
	switch (rc) {
	case 0:
		return FACT_EMPTY;
	case -ENOENT:
	case -ENOTDIR:
	case -ENODEV:
	case -ENXIO:
	case -ENOSYS:
	case -ENODATA:
	case -EOPNOTSUPP:
	case -EINVAL: /* how many files of /sys say that the hardware has no such thing */
		return FACT_ABSENT;
	case -EACCES:
	case -EPERM:
		return FACT_DENIED;
	default:
		return FACT_FAILED;
	}
}

static int open_below(const char *root, const char *path)
{
	struct kg_str full = {0};
	struct stat st;
	int fd = -1, rc;

	kg_str_addf(&full, "%s%s", root, path);
	if (full.failed)
		rc = -ENOMEM;
	else
		rc = (fd = open(full.text, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)) < 0
			     ? -errno
			     : 0;
	kg_str_deinit(&full);
	if (rc == 0 && fstat(fd, &st) < 0)
		st.st_mode = 0;
	if (rc == 0 && !S_ISREG(st.st_mode)) {
		rc = S_ISDIR(st.st_mode) ? -EISDIR : -EIO;
		close(fd);
		return rc;
	}
	return rc < 0 ? rc : fd;
}

int fact_read(const char *root, const char *path, size_t max, char **ret_text, size_t *ret_len)
{
	struct kg_str text = {0};
	char buf[4096];
	ssize_t n;
	int fd = open_below(root, path), rc = 0;

	if (fd < 0)
		return fd;
	while (rc == 0 && (n = read(fd, buf, sizeof(buf))) != 0) {
		if (n < 0)
			rc = errno == EINTR ? 0 : -errno;
		else if (text.len + (size_t)n > max)
			rc = KG_ELIMIT;
		else
			kg_str_addn(&text, buf, (size_t)n);
		if (text.failed)
			rc = -ENOMEM;
	}
	close(fd);
	if (rc < 0) {
		kg_str_deinit(&text);
		return rc;
	}
	*ret_len = text.len;
	*ret_text = kg_str_take(&text);
	return *ret_text ? 0 : -ENOMEM;
}

/* What is needed of a small file for a fact, or NULL after saying why not. Owned. */
static char *read_small(struct fact_list *l, const char *root, const char *name, const char *path)
{
	char *text;
	size_t len;
	int rc;

	if (l->failed)
		return NULL;
	rc = fact_read(root, path, 65536, &text, &len);
	if (rc == -ENOMEM) {
		l->failed = true;
		return NULL;
	}
	if (rc < 0) {
		fact_unsupported(l, name, fact_reason(rc));
		return NULL;
	}
	while (len > 0 && text[len - 1] == '\0') /* attr/current ends in one */
		len--;
	if (memchr(text, '\0', len)) {
		fact_unsupported(l, name, FACT_FAILED);
		free(text);
		return NULL;
	}
	return text;
}

void fact_file(struct fact_list *l, const char *root, const char *name, const char *path)
{
	char *text = read_small(l, root, name, path);

	if (text)
		fact_add(l, name, text);
	free(text);
}

void fact_choice(struct fact_list *l, const char *root, const char *name, const char *path)
{
	char *text = read_small(l, root, name, path);
	char *open = text ? strchr(text, '[') : NULL;
	char *end = open ? strchr(open, ']') : NULL;

	if (end) {
		*end = '\0';
		fact_add(l, name, open + 1);
	} else if (text) {
		fact_add(l, name, text);
	}
	free(text);
}

void fact_digest(struct fact_list *l, const char *root, const char *name, const char *path)
{
	char hex[KG_SHA256_HEX_SIZE];
	struct kg_sha256 *h;
	char buf[8192];
	uint64_t total = 0;
	ssize_t n;
	int fd, rc = 0;

	if (l->failed)
		return;
	fd = open_below(root, path);
	if (fd < 0) {
		if (fd == -ENOMEM)
			l->failed = true;
		else
			fact_unsupported(l, name, fact_reason(fd));
		return;
	}
	h = kg_sha256_new();
	while (h && rc == 0 && (n = read(fd, buf, sizeof(buf))) != 0) {
		if (n < 0) {
			rc = errno == EINTR ? 0 : -errno;
			continue;
		}
		kg_sha256_update(h, buf, (size_t)n);
		total += (uint64_t)n;
	}
	close(fd);
	if (!h) {
		l->failed = true;
		return;
	}
	kg_sha256_final(h, hex);
	kg_sha256_free(h);
	if (rc < 0 || total == 0)
		fact_unsupported(l, name, fact_reason(rc));
	else
		fact_add(l, name, hex);
}

bool fact_exists(const char *root, const char *path)
{
	char full[4096];

	return snprintf(full, sizeof(full), "%s%s", root, path) < (int)sizeof(full) &&
	       access(full, F_OK) == 0;
}

/* "cpu10" after "cpu9". */
static int compare_names(const void *a, const void *b)
{
	const char *x = *(char *const *)a, *y = *(char *const *)b;
	size_t n = 0;

	while (x[n] && x[n] == y[n])
		n++;
	while (n > 0 && isdigit((unsigned char)x[n - 1]))
		n--;
	if (isdigit((unsigned char)x[n]) && isdigit((unsigned char)y[n])) {
		unsigned long long i = strtoull(x + n, NULL, 10), j = strtoull(y + n, NULL, 10);

		if (i != j)
			return i < j ? -1 : 1;
	}
	return strcmp(x + n, y + n);
}

static bool wanted(const char *name, const char *prefix)
{
	return name[0] != '.' && kg_str_starts(name, prefix) &&
	       (!prefix[0] || isdigit((unsigned char)name[strlen(prefix)]));
}

static bool add_name(char ***names, size_t *n, size_t *cap, const char *name)
{
	if (*n == *cap) {
		size_t more = *cap ? 2 * *cap : 16;
		char **grown = realloc(*names, more * sizeof(*grown));

		if (!grown)
			return false;
		*names = grown;
		*cap = more;
	}
	(*names)[*n] = strdup(name);
	if (!(*names)[*n])
		return false;
	++*n;
	return true;
}

char **fact_names(struct fact_list *l, const char *root, const char *path, const char *prefix,
		  size_t *ret_n)
{
	char full[4096], **names = NULL;
	size_t n = 0, cap = 0;
	struct dirent *de;
	DIR *dir = NULL;

	if (snprintf(full, sizeof(full), "%s%s", root, path) < (int)sizeof(full)) {
		dir = opendir(full);
		if (!dir && errno == ENOMEM)
			l->failed = true;
	}
	while (dir && n < NAMES_MAX && (de = readdir(dir)) && !l->failed)
		if (wanted(de->d_name, prefix) && !add_name(&names, &n, &cap, de->d_name))
			l->failed = true;
	if (dir)
		closedir(dir);
	if (n && !l->failed)
		qsort(names, n, sizeof(*names), compare_names);
	*ret_n = n;
	return names;
}

void fact_names_free(char **names, size_t n)
{
	while (n > 0)
		free(names[--n]);
	free(names);
}
