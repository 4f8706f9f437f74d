/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads CSV (RFC 4180) and plain columns of numbers, the whole file at once: 10^6 values take a
 * few hundredths of a second.
 *
 * Beside the RFC: lines may end in LF, CRLF or CR; a UTF-8 byte order mark is skipped; lines that
 * are empty or blank, and lines whose first character that is no blank is '#', are left out (a
 * quoted field may begin with '#'). Whether the first record is a header is for the caller to say.
 * Errors begin with FILE:LINE:COLUMN, both counted from 1, the column in bytes.
 */
#ifndef KG_CLI_CSV_READ_H
#define KG_CLI_CSV_READ_H

#include <stdbool.h>
#include <stddef.h>

#include "common/err.h"

struct csv_field {
	const char *text; /* borrows from the file, until csv_close; not NUL-terminated */
	size_t len;	  /* bytes, quotes taken off */
	size_t line;	  /* a quoted field may begin below the record's first line */
	size_t column;
	bool quoted;
};

struct csv_record {
	const struct csv_field *fields; /* valid until the next csv_next; their texts stay */
	size_t n;			/* > 0 */
	size_t line;			/* where it begins */
};

struct csv_file;

/* "-" is standard input. Owned (csv_close). A negative errno when it cannot be read, KG_EINVALID
 * for a NUL byte or UTF-16. An empty file is no error. */
int csv_open(const char *path, struct csv_file **ret, struct kg_err *err);
/* The same from memory; `bytes` is copied. `name` stands in errors. */
int csv_open_memory(const char *name, const char *bytes, size_t len, struct csv_file **ret,
		    struct kg_err *err);
void csv_close(struct csv_file *f); /* NULL is fine */
/* As errors show it: the path, or "standard input". */
const char *csv_name(const struct csv_file *f);

/* 1: a record, 0: the end, KG_EINVALID: quotes that do not fit. */
int csv_next(struct csv_file *f, struct csv_record *ret, struct kg_err *err);

/* Without the blanks (space, tab) around it. A quoted field stays as it is. */
struct csv_field csv_trim(const struct csv_field *field);
/* Whether the trimmed text is `word`, without regard to the case of ASCII letters. */
bool csv_is(const struct csv_field *field, const char *word);
/* Whether the trimmed text has the form of a number (or of NaN, Inf, which csv_number refuses): a
 * first record of which a value is none is a header. */
bool csv_looks_number(const struct csv_field *field);
/* Decimal with '.', blanks around it allowed, the same in every locale; the nearest double. Hex, NaN,
 * Inf, an empty field and what does not fit a double are KG_EINVALID, with the place; what is too
 * small becomes the nearest subnormal or 0. */
int csv_number(const struct csv_file *f, const struct csv_field *field, double *ret,
	       struct kg_err *err);
/* Sets "FILE:LINE:COLUMN: text", KG_EINVALID. */
int csv_fail(const struct csv_file *f, const struct csv_field *field, struct kg_err *err,
	     const char *fmt, ...) __attribute__((format(printf, 4, 5)));

#endif
