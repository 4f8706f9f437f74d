/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "common/cmdline.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/str.h"

/* As in the kernel's lib/ctype.c, where 0xa0 is a space too. */
static bool is_space(char ch)
{
	return (ch >= '\t' && ch <= '\r') || ch == ' ' || (unsigned char)ch == 0xa0;
}

/* Length of the word at p, quotes included. A quote that is never closed runs to the end. */
static size_t word_len(const char *p)
{
	bool in_quote = false;
	size_t i;

	for (i = 0; p[i] && (in_quote || !is_space(p[i])); i++)
		if (p[i] == '"')
			in_quote = !in_quote;
	return i;
}

int kg_cmdline_parse(const char *line, struct kg_cmdline *ret_c)
{
	size_t len = strlen(line);
	struct kg_cmdline c = {0};
	char *p;

	c.text = strdup(line);
	c.words =
		calloc(len / 2 + 2, sizeof(*c.words)); /* at most every second byte begins a word */
	if (!c.text || !c.words) {
		kg_cmdline_deinit(&c);
		return -ENOMEM;
	}
	p = c.text;
	for (;;) {
		size_t n;

		while (is_space(*p))
			p++;
		if (!*p)
			break;
		n = word_len(p);
		c.words[c.n++] = p;
		if (!p[n])
			break;
		p[n] = '\0';
		p += n + 1;
	}
	*ret_c = c;
	return 0;
}

void kg_cmdline_deinit(struct kg_cmdline *c)
{
	free(c->text);
	free(c->words);
	memset(c, 0, sizeof(*c));
}

bool kg_cmdline_line_has(const char *line, const char *word)
{
	size_t len = strlen(word);

	while (len > 0 && *line) {
		size_t n = word_len(line);

		if (n == len && memcmp(line, word, n) == 0)
			return true;
		line += n + (n == 0);
	}
	return false;
}

/* The kernel's parameqn: a dash and an underscore are the same in a name. */
static bool same_name(const char *a, const char *b, size_t len)
{
	size_t i;

	for (i = 0; i < len; i++) {
		char x = a[i] == '-' ? '_' : a[i];
		char y = b[i] == '-' ? '_' : b[i];

		if (x != y)
			return false;
	}
	return true;
}

/* The value in a word whose name is `name`, as next_arg cuts it; false for other words. */
static bool word_value(const char *word, const char *name, const char **ret_value, size_t *ret_len)
{
	size_t name_len = strlen(name);
	bool quoted = word[0] == '"';
	const char *p = quoted ? word + 1 : word;
	size_t len = strlen(p);

	if (quoted && len > 0 && p[len - 1] == '"')
		len--;
	if (len < name_len || !same_name(p, name, name_len))
		return false;
	if (len == name_len) {
		*ret_value = p + len;
		*ret_len = 0;
		return true;
	}
	if (p[name_len] != '=')
		return false;
	p += name_len + 1;
	len -= name_len + 1;
	if (len > 0 && p[0] == '"') {
		p++;
		len--;
		if (len > 0 && p[len - 1] == '"')
			len--;
	}
	*ret_value = p;
	*ret_len = len;
	return true;
}

bool kg_cmdline_value(const struct kg_cmdline *c, const char *name, char *ret_value, size_t size)
{
	const char *value = NULL, *v;
	size_t len = 0, n;
	size_t i;

	/* What stands behind "--" is for init: parse_args stops there. */
	for (i = 0; i < c->n && strcmp(c->words[i], "--") != 0; i++) {
		if (!word_value(c->words[i], name, &v, &n))
			continue;
		value = v;
		len = n;
	}
	if (!value || len >= size)
		return false;
	memcpy(ret_value, value, len);
	ret_value[len] = '\0';
	return true;
}

bool kg_cmdline_has_word(const struct kg_cmdline *c, const char *word)
{
	size_t i;

	for (i = 0; i < c->n; i++)
		if (strcmp(c->words[i], word) == 0)
			return true;
	return false;
}

int kg_cmdline_covers(const struct kg_cmdline *seen, const struct kg_cmdline *wanted,
		      struct kg_err *err)
{
	size_t i, at = 0;

	for (i = 0; i < wanted->n; i++) {
		while (at < seen->n && strcmp(seen->words[at], wanted->words[i]) != 0)
			at++;
		if (at == seen->n) {
			bool there = kg_cmdline_has_word(seen, wanted->words[i]);

			return kg_err_set(err, KG_ENOTFOUND, "word '%s' %s", wanted->words[i],
					  there ? "stands in another order" : "is missing");
		}
		at++;
	}
	return 0;
}

static bool parse_nonce(const char *value, unsigned long long *ret_boot, char *ret_nonce)
{
	const char *dot = strchr(value, '.');
	char number[24];
	uint64_t boot;
	size_t len;

	if (!dot)
		return false;
	len = (size_t)(dot - value);
	if (len == 0 || len >= sizeof(number) || (value[0] == '0' && len > 1))
		return false;
	memcpy(number, value, len);
	number[len] = '\0';
	dot++;
	if (kg_parse_u64(number, &boot) < 0 || boot == 0 || strlen(dot) != KG_NONCE_HEX_LEN ||
	    strspn(dot, "0123456789abcdef") != KG_NONCE_HEX_LEN)
		return false;
	*ret_boot = boot;
	memcpy(ret_nonce, dot, KG_NONCE_HEX_LEN + 1);
	return true;
}

bool kg_cmdline_nonce(const struct kg_cmdline *c, unsigned long long *ret_boot,
		      char ret_nonce[KG_NONCE_HEX_LEN + 1])
{
	static const char prefix[] = "kgrid.boot=";
	const char *value = NULL;
	size_t i;

	for (i = 0; i < c->n; i++) {
		if (!kg_str_starts(c->words[i], prefix))
			continue;
		if (value)
			return false; /* two of them prove nothing */
		value = c->words[i] + sizeof(prefix) - 1;
	}
	return value && parse_nonce(value, ret_boot, ret_nonce);
}
