/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/csv_read.h"

#include <errno.h>
#include <fcntl.h>
#include <locale.h>
#include <math.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/cli.h"

#define SHOWN_MAX 40 /* bytes of a field that an error shows */

struct csv_file {
	char *name;  /* owned */
	char *bytes; /* owned; quoted fields are unescaped in place. bytes[len] is '\0' */
	size_t len;
	char *at;		  /* next byte */
	char *line_start;	  /* for columns */
	size_t line;		  /* of `at`, from 1 */
	struct csv_field *fields; /* owned */
	size_t cap;
	locale_t c; /* owned */
};

static int read_all(int fd, const char *name, char **ret_bytes, size_t *ret_len, struct kg_err *err)
{
	struct stat st;
	size_t cap = 1 << 16;
	size_t len = 0;
	char *bytes;

	if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_size > 0)
		cap = (size_t)st.st_size + 1;
	bytes = cli_alloc(cap + 1, 1);
	for (;;) {
		ssize_t got;

		if (len == cap) {
			cap *= 2;
			bytes = cli_grow(bytes, cap + 1, 1);
		}
		got = read(fd, bytes + len, cap - len);
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0) {
			int rc = kg_err_errno(err, "cannot read", name);

			free(bytes);
			return rc;
		}
		if (got == 0)
			break;
		len += (size_t)got;
	}
	bytes[len] = '\0';
	*ret_bytes = bytes;
	*ret_len = len;
	return 0;
}

/* Takes `bytes`. */
static int open_bytes(const char *name, char *bytes, size_t len, struct csv_file **ret,
		      struct kg_err *err)
{
	struct csv_file *f = cli_alloc(1, sizeof(*f));
	const char *nul;

	f->name = cli_strdup(name);
	f->bytes = bytes;
	f->len = len;
	f->line = 1;
	f->c = newlocale(LC_ALL_MASK, "C", (locale_t)0);
	if (!f->c)
		abort(); /* only when memory ends */
	f->at = bytes;
	if (len >= 2 && (memcmp(bytes, "\xff\xfe", 2) == 0 || memcmp(bytes, "\xfe\xff", 2) == 0)) {
		csv_close(f);
		return kg_err_set(err, KG_EINVALID, "'%s' is UTF-16, expected UTF-8", name);
	}
	nul = memchr(bytes, '\0', len);
	if (nul) {
		csv_close(f);
		return kg_err_set(err, KG_EINVALID,
				  "'%s' has a NUL byte at offset %zu, expected a text file", name,
				  (size_t)(nul - bytes));
	}
	if (len >= 3 && memcmp(bytes, "\xef\xbb\xbf", 3) == 0)
		f->at += 3;
	f->line_start = f->at;
	*ret = f;
	return 0;
}

int csv_open(const char *path, struct csv_file **ret, struct kg_err *err)
{
	bool is_stdin = strcmp(path, "-") == 0;
	const char *name = is_stdin ? "standard input" : path;
	char *bytes = NULL;
	size_t len = 0;
	int fd = STDIN_FILENO;
	int rc;

	if (!is_stdin)
		fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return kg_err_errno(err, "cannot open", path);
	rc = read_all(fd, name, &bytes, &len, err);
	if (!is_stdin)
		(void)close(fd);
	if (rc < 0)
		return rc;
	return open_bytes(name, bytes, len, ret, err);
}

int csv_open_memory(const char *name, const char *bytes, size_t len, struct csv_file **ret,
		    struct kg_err *err)
{
	char *copy = cli_alloc(len + 1, 1);

	if (len > 0)
		memcpy(copy, bytes, len);
	return open_bytes(name, copy, len, ret, err);
}

void csv_close(struct csv_file *f)
{
	if (!f)
		return;
	if (f->c)
		freelocale(f->c);
	free(f->fields);
	free(f->bytes);
	free(f->name);
	free(f);
}

const char *csv_name(const struct csv_file *f)
{
	return f->name;
}

static void line_end(struct csv_file *f)
{
	if (*f->at == '\r' && f->at[1] == '\n')
		f->at++;
	if (*f->at)
		f->at++;
	f->line++;
	f->line_start = f->at;
}

static bool is_end(char c)
{
	return c == '\n' || c == '\r' || c == '\0';
}

/* Leaves lines out that are blank or a comment. */
static void skip_lines(struct csv_file *f)
{
	for (;;) {
		const char *p = f->at;

		while (*p == ' ' || *p == '\t')
			p++;
		if (*p != '#' && !is_end(*p))
			return;
		f->at += strcspn(f->at, "\r\n");
		if (!*f->at)
			return;
		line_end(f);
	}
}

int csv_fail(const struct csv_file *f, const struct csv_field *field, struct kg_err *err,
	     const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	(void)kg_err_vset(err, KG_EINVALID, fmt, ap);
	va_end(ap);
	return kg_err_wrap(err, KG_EINVALID, "%s:%zu:%zu", f->name, field->line, field->column);
}

/* `at` stands on the opening quote. The text moves to the left where quotes are doubled. */
static int quoted_field(struct csv_file *f, struct csv_field *field, struct kg_err *err)
{
	char *from = f->at + 1;
	char *to = from;

	field->quoted = true;
	field->text = from;
	for (;;) {
		if (*from == '\0')
			return csv_fail(f, field, err, "the quote that begins here is not closed");
		if (*from == '"' && from[1] != '"')
			break;
		if (*from == '"')
			from++;
		if (*from == '\n' || (*from == '\r' && from[1] != '\n')) {
			f->line++;
			f->line_start = from + 1;
		}
		*to++ = *from++;
	}
	field->len = (size_t)(to - field->text);
	f->at = from + 1;
	if (*f->at != ',' && !is_end(*f->at))
		return csv_fail(f, field, err,
				"text after the closing quote, expected a comma or the line's end");
	return 0;
}

static int plain_field(struct csv_file *f, struct csv_field *field, struct kg_err *err)
{
	const char *start = f->at;
	char *p = f->at;

	while (*p != ',' && *p != '"' && !is_end(*p))
		p++;
	if (*p == '"')
		return csv_fail(f, field, err,
				"a quote inside a field, expected the whole field in quotes");
	field->text = start;
	field->len = (size_t)(p - start);
	f->at = p;
	return 0;
}

int csv_next(struct csv_file *f, struct csv_record *ret, struct kg_err *err)
{
	size_t n = 0;
	size_t line;

	skip_lines(f);
	if (!*f->at)
		return 0;
	line = f->line;
	for (;;) {
		struct csv_field *field;
		int rc;

		if (n == f->cap) {
			f->cap = f->cap ? 2 * f->cap : 16;
			f->fields = cli_grow(f->fields, f->cap, sizeof(*f->fields));
		}
		field = &f->fields[n++];
		*field = (struct csv_field){.line = f->line,
					    .column = (size_t)(f->at - f->line_start) + 1};
		rc = *f->at == '"' ? quoted_field(f, field, err) : plain_field(f, field, err);
		if (rc < 0)
			return rc;
		if (*f->at != ',')
			break;
		f->at++;
	}
	if (*f->at)
		line_end(f);
	*ret = (struct csv_record){.fields = f->fields, .n = n, .line = line};
	return 1;
}

struct csv_field csv_trim(const struct csv_field *field)
{
	struct csv_field t = *field;

	if (t.quoted)
		return t;
	while (t.len > 0 && (*t.text == ' ' || *t.text == '\t')) {
		t.text++;
		t.len--;
		t.column++;
	}
	while (t.len > 0 && (t.text[t.len - 1] == ' ' || t.text[t.len - 1] == '\t'))
		t.len--;
	return t;
}

bool csv_is(const struct csv_field *field, const char *word)
{
	struct csv_field t = csv_trim(field);

	return t.len == strlen(word) && strncasecmp(t.text, word, t.len) == 0;
}

/* What a decimal is made of. */
struct decimal {
	bool negative;
	bool exact; /* all digits fit into `digits` */
	uint64_t digits;
	int64_t exponent; /* of ten */
};

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* Beyond 19 digits only their number counts: the slow way reads them. */
static const char *scan_digits(const char *p, const char *end, struct decimal *d, int step)
{
	for (; p < end && is_digit(*p); p++) {
		if (d->digits > (UINT64_MAX - 9) / 10) {
			d->exact = false;
			continue;
		}
		d->digits = d->digits * 10 + (uint64_t)(*p - '0');
		d->exponent -= step;
	}
	return p;
}

static const char *scan_exponent(const char *p, const char *end, struct decimal *d)
{
	const char *start = p;
	bool negative = false;
	int64_t e = 0;

	if (p == end || (*p != 'e' && *p != 'E'))
		return p;
	p++;
	if (p < end && (*p == '+' || *p == '-'))
		negative = *p++ == '-';
	if (p == end || !is_digit(*p))
		return start; /* left over: not a number */
	for (; p < end && is_digit(*p); p++)
		if (e < 1000000)
			e = e * 10 + (*p - '0');
	d->exponent += negative ? -e : e;
	return p;
}

/* Whether all of the text is [+-] digits [. digits] [e [+-] digits], with a digit before the e. */
static bool scan_decimal(const char *p, size_t len, struct decimal *d)
{
	const char *end = p + len;
	const char *start;
	size_t n;

	*d = (struct decimal){.exact = true};
	if (p < end && (*p == '+' || *p == '-'))
		d->negative = *p++ == '-';
	start = p;
	p = scan_digits(p, end, d, 0);
	n = (size_t)(p - start);
	if (p < end && *p == '.') {
		start = ++p;
		p = scan_digits(p, end, d, 1);
		n += (size_t)(p - start);
	}
	if (n == 0)
		return false;
	return scan_exponent(p, end, d) == end;
}

static bool is_special(const struct csv_field *t)
{
	static const char *const words[] = {"nan", "inf", "infinity"};
	struct csv_field w = *t;
	size_t i;

	w.quoted = true; /* trimmed before */
	if (w.len > 0 && (*w.text == '+' || *w.text == '-')) {
		w.text++;
		w.len--;
	}
	for (i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (csv_is(&w, words[i]))
			return true;
	return false;
}

/* Quoted numbers may have blanks inside the quotes. */
static struct csv_field trim_number(const struct csv_field *field)
{
	struct csv_field t = *field;

	t.quoted = false;
	return csv_trim(&t);
}

bool csv_looks_number(const struct csv_field *field)
{
	struct csv_field t = trim_number(field);
	struct decimal d;

	return scan_decimal(t.text, t.len, &d) || is_special(&t);
}

/* A whole number below 2^53 times or by a power of ten up to 10^22 needs one rounding (Clinger
 * 1990, PLDI, 92-101). */
static bool fast_double(const struct decimal *d, double *ret)
{
	static const double ten[] = {1e0,  1e1,	 1e2,  1e3,  1e4,  1e5,	 1e6,  1e7,
				     1e8,  1e9,	 1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
				     1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
	double v;

	if (!d->exact || d->digits > (UINT64_C(1) << 53) || d->exponent < -22 || d->exponent > 22)
		return false;
	v = (double)d->digits;
	v = d->exponent < 0 ? v / ten[-d->exponent] : v * ten[d->exponent];
	*ret = d->negative ? -v : v;
	return true;
}

static double slow_double(const struct csv_file *f, const struct csv_field *t)
{
	char small[64];
	char *copy = t->len < sizeof(small) ? small : cli_alloc(t->len + 1, 1);
	double v;

	memcpy(copy, t->text, t->len);
	copy[t->len] = '\0';
	v = strtod_l(copy, NULL, f->c);
	if (copy != small)
		free(copy);
	return v;
}

/* A field as an error may show it: short, one line. */
static const char *shown(const struct csv_field *t, char buf[SHOWN_MAX + 4])
{
	size_t n = t->len < SHOWN_MAX ? t->len : SHOWN_MAX;
	size_t i;

	for (i = 0; i < n; i++)
		buf[i] = (unsigned char)t->text[i] < 0x20 || t->text[i] == 0x7f ? '?' : t->text[i];
	/* not in the middle of a UTF-8 character */
	while (n < t->len && n > 0 && ((unsigned char)t->text[n] & 0xc0) == 0x80)
		n--;
	(void)snprintf(buf + n, 4, "%s", n < t->len ? "..." : "");
	return buf;
}

int csv_number(const struct csv_file *f, const struct csv_field *field, double *ret,
	       struct kg_err *err)
{
	struct csv_field t = trim_number(field);
	char buf[SHOWN_MAX + 4];
	struct decimal d;
	double v;

	if (t.len == 0)
		return csv_fail(f, field, err, "an empty field, expected a number");
	if (!scan_decimal(t.text, t.len, &d)) {
		if (is_special(&t))
			return csv_fail(f, &t, err, "'%s' is not finite, expected a finite number",
					shown(&t, buf));
		return csv_fail(f, &t, err, "'%s' is no number, expected one such as 12.5 or 1e-3",
				shown(&t, buf));
	}
	if (!fast_double(&d, &v))
		v = slow_double(f, &t);
	if (!isfinite(v))
		return csv_fail(f, &t, err, "'%s' is too large, expected at most 1.797e308",
				shown(&t, buf));
	*ret = v;
	return 0;
}
