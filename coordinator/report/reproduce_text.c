/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "coordinator/report/reproduce_internal.h"

#define TEXTS_MAX 4096 /* words or values of one cell; more is not ours */

static int no_memory(struct kg_err *err)
{
	return kg_err_set(err, -ENOMEM, "out of memory");
}

const char *reproduce_text(const char *text)
{
	return text ? text : "";
}

int reproduce_add_text(struct kg_texts *t, const char *text, size_t len)
{
	char **items = realloc(t->items, (t->n + 2) * sizeof(*items));

	if (!items)
		return -ENOMEM;
	t->items = items;
	t->items[t->n] = strndup(text, len);
	if (!t->items[t->n])
		return -ENOMEM;
	t->items[++t->n] = NULL;
	return 0;
}

static int add_value(struct kg_params *p, const char *name, size_t name_len, struct kg_str *value)
{
	struct kg_param_value *items = realloc(p->items, (p->n + 1) * sizeof(*items));
	struct kg_param_value *v;

	if (!items)
		return -ENOMEM;
	p->items = items;
	v = &items[p->n];
	v->name = strndup(name, name_len);
	v->value = kg_str_take(value);
	if (!v->name || !v->value) {
		free(v->name);
		free(v->value);
		return -ENOMEM;
	}
	p->n++;
	return 0;
}

/* ---- 'seconds=1 text="a \"b\""' ---- */

/* After the "="; where the value ends, NULL: it does not. */
static const char *read_value(const char *p, struct kg_str *ret)
{
	if (*p != '"') {
		size_t n = strcspn(p, " ");

		kg_str_addn(ret, p, n);
		return p + n;
	}
	for (p++; *p && *p != '"'; p++) {
		if (*p == '\\' && !*++p)
			return NULL;
		kg_str_addn(ret, p, 1);
	}
	return *p == '"' ? p + 1 : NULL;
}

int reproduce_params(const char *text, struct kg_params *ret, struct kg_err *err)
{
	struct kg_params all = {0};
	const char *p = text;
	int rc = 0;

	while (rc == 0 && *p) {
		size_t name = strcspn(p, "= \"");
		struct kg_str value = {0};
		const char *end = p[name] == '=' && name ? read_value(p + name + 1, &value) : NULL;

		if (!end || (*end && *end != ' ') || all.n == TEXTS_MAX)
			rc = kg_err_set(err, KG_EINVALID, "parameters '%.160s' cannot be read",
					text);
		else if (add_value(&all, p, name, &value) < 0)
			rc = no_memory(err);
		kg_str_deinit(&value);
		p = end ? end + (*end == ' ') : p;
	}
	if (rc < 0)
		kg_params_deinit(&all);
	else
		*ret = all;
	return rc;
}

/* ---- "governor=performance; sysctl.vm.swappiness=10" ---- */

/* Length of a setting's name before its "="; 0: there is none. */
static size_t setting_name(const char *p)
{
	size_t n = strspn(p, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./");

	return p[n] == '=' ? n : 0;
}

static const char *setting_end(const char *p)
{
	for (; (p = strstr(p, "; ")); p += 2) {
		if (setting_name(p + 2))
			return p;
	}
	return NULL;
}

int reproduce_settings(const char *text, struct kg_params *ret, struct kg_err *err)
{
	struct kg_params all = {0};
	const char *p = text;
	int rc = 0;

	while (rc == 0 && *p) {
		size_t name = setting_name(p);
		const char *value = p + name + 1;
		struct kg_str s = {0};
		const char *end = name ? setting_end(value) : NULL;

		if (!name || all.n == TEXTS_MAX) {
			rc = kg_err_set(err, KG_EINVALID, "settings '%.160s' cannot be read", text);
			break;
		}
		kg_str_addn(&s, value, end ? (size_t)(end - value) : strlen(value));
		if (add_value(&all, p, name, &s) < 0)
			rc = no_memory(err);
		kg_str_deinit(&s);
		p = end ? end + 2 : "";
	}
	if (rc < 0)
		kg_params_deinit(&all);
	else
		*ret = all;
	return rc;
}

/* ---- ["a","b"] ---- */

static int hex4(const char *p)
{
	int v = 0;

	for (int i = 0; i < 4; i++) {
		const char *digits = "0123456789abcdef";
		char c = p[i] >= 'A' && p[i] <= 'F' ? (char)(p[i] + 32) : p[i];
		const char *at = c ? strchr(digits, c) : NULL;

		if (!at)
			return -1;
		v = v * 16 + (int)(at - digits);
	}
	return v;
}

static void add_utf8(struct kg_str *s, unsigned c)
{
	char b[4];
	size_t n = c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;

	if (n == 1)
		b[0] = (char)c;
	for (size_t i = n; n > 1 && i-- > 1; c >>= 6)
		b[i] = (char)(0x80 | (c & 0x3f));
	if (n > 1)
		b[0] = (char)((0xf0 << (4 - n)) | (int)c);
	kg_str_addn(s, b, n);
}

/* After "\u"; NULL: not an escape, or one for NUL or half a character. */
static const char *read_unicode(const char *p, struct kg_str *ret)
{
	int c = hex4(p), low;

	if (c <= 0 || (c >= 0xdc00 && c < 0xe000))
		return NULL;
	p += 4;
	if (c >= 0xd800 && c < 0xdc00) {
		if (p[0] != '\\' || p[1] != 'u')
			return NULL;
		low = hex4(p + 2);
		if (low < 0xdc00 || low >= 0xe000)
			return NULL;
		c = 0x10000 + ((c - 0xd800) << 10) + (low - 0xdc00);
		p += 6;
	}
	add_utf8(ret, (unsigned)c);
	return p;
}

/* After the first quote; NULL: not a string. */
static const char *read_string(const char *p, struct kg_str *ret)
{
	static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";

	while (*p && *p != '"') {
		const char *at;

		if ((unsigned char)*p < 0x20)
			return NULL;
		if (*p != '\\') {
			kg_str_addn(ret, p++, 1);
			continue;
		}
		if (p[1] == 'u') {
			p = read_unicode(p + 2, ret);
			if (!p)
				return NULL;
			continue;
		}
		at = p[1] ? strchr(from, p[1]) : NULL;
		if (!at)
			return NULL;
		kg_str_addn(ret, &to[at - from], 1);
		p += 2;
	}
	return *p == '"' ? p + 1 : NULL;
}

static const char *blanks(const char *p)
{
	return p + strspn(p, " \t\r\n");
}

int reproduce_argv(const char *json, struct kg_texts *ret, struct kg_err *err)
{
	const char *p = blanks(json);
	struct kg_texts all = {0};
	int rc = 0;
	bool more = *p == '[';

	p = more ? blanks(p + 1) : "";
	while (rc == 0 && more && *p == '"' && all.n < TEXTS_MAX) {
		struct kg_str s = {0};

		p = read_string(p + 1, &s);
		if (p && (s.failed || reproduce_add_text(&all, kg_str_text(&s), s.len) < 0))
			rc = no_memory(err);
		kg_str_deinit(&s);
		p = p ? blanks(p) : "";
		more = *p == ',';
		p = more ? blanks(p + 1) : p;
	}
	if (rc == 0 && (more ? all.n > 0 || *p != ']' : *p != ']'))
		rc = kg_err_set(err, KG_EINVALID, "argument vector '%.160s' cannot be read", json);
	else if (rc == 0 && *blanks(p + 1))
		rc = kg_err_set(err, KG_EINVALID, "argument vector '%.160s' does not end", json);
	if (rc < 0)
		kg_texts_deinit(&all);
	else
		*ret = all;
	return rc;
}

/* ---- quoting ---- */

#define LETTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
#define DIGITS	"0123456789"

static bool only(const char *text, const char *set)
{
	return text[0] && !text[strspn(text, set)];
}

/* Bytes of the character at `p` and its number; 0 bytes: not UTF-8. */
static size_t character(const char *p, unsigned *ret)
{
	unsigned char c = (unsigned char)*p;
	size_t n = c < 0x80 ? 1 : c < 0xe0 ? 2 : c < 0xf0 ? 3 : 4;

	if (strnlen(p, n) < n || !kg_utf8_valid(p, n))
		return 0;
	*ret = n == 1 ? c : c & (0xffU >> (n + 1));
	for (size_t i = 1; i < n; i++)
		*ret = *ret << 6 | ((unsigned char)p[i] & 0x3f);
	return n;
}

/* What YAML takes for the end of a line, or refuses, beside ASCII's. */
static bool unprintable(unsigned c)
{
	return c < 0x20 || (c >= 0x7f && c < 0xa0) || c == 0x2028 || c == 0x2029 || c == 0xfeff ||
	       c == 0xfffe || c == 0xffff;
}

static bool is_plain(const char *text)
{
	static const char *const words[] = {"null", "true", "false", "yes", "no",
					    "on",   "off",  "y",     "n",   NULL};

	/* "3..10" is a range */
	if (!only(text, LETTERS DIGITS "_./+-") || !strchr(LETTERS DIGITS "_", text[0]) ||
	    strstr(text, ".."))
		return false;
	for (size_t i = 0; words[i]; i++) {
		if (strcasecmp(text, words[i]) == 0)
			return false;
	}
	return true;
}

void reproduce_yaml(struct kg_str *s, const char *text)
{
	if (is_plain(text)) {
		kg_str_add(s, text);
		return;
	}
	kg_str_add(s, "\"");
	while (*text) {
		unsigned c = 0xfffd;
		size_t n = character(text, &c);

		if (n == 0 || unprintable(c))
			kg_str_addf(s, "\\u%04x", c);
		else if (c == '"' || c == '\\')
			kg_str_addf(s, "\\%c", (char)c);
		else
			kg_str_addn(s, text, n);
		text += n ? n : 1;
	}
	kg_str_add(s, "\"");
}

void reproduce_shell(struct kg_str *s, const char *text)
{
	if (only(text, LETTERS DIGITS "_./:@%+,-")) {
		kg_str_add(s, text);
		return;
	}
	kg_str_add(s, "'");
	for (; *text; text++) {
		if (*text == '\'')
			kg_str_add(s, "'\\''");
		else
			kg_str_addn(s, text, 1);
	}
	kg_str_add(s, "'");
}

void reproduce_comment(struct kg_str *s, const char *text)
{
	while (*text) {
		unsigned c = 0;
		size_t n = character(text, &c);

		if (n == 0 || unprintable(c))
			kg_str_add(s, "?");
		else
			kg_str_addn(s, text, n);
		text += n ? n : 1;
	}
}
