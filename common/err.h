/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Errors: one number space and one text, both owned by the caller.
 *
 * A function that can fail returns 0 or a negative code: an errno (also libuv's, which are the
 * same numbers on Linux) or one of the codes below -5000. It writes one line of text into the
 * caller's struct kg_err; callers wrap it on the way up:
 *
 *     rc = store_open(path, &s, err);
 *     if (rc < 0)
 *             return kg_err_wrap(err, rc, "cannot open store");
 */
#ifndef KG_COMMON_ERR_H
#define KG_COMMON_ERR_H

#include <stdarg.h>

enum kg_code {
	KG_EPROTO = -5001,     /* the peer broke the protocol */
	KG_EVERSION = -5002,   /* version not supported: protocol, database, file */
	KG_EINVALID = -5003,   /* input refused: job file, config, argument, package */
	KG_ENOTFOUND = -5004,  /* named thing does not exist */
	KG_EEXISTS = -5005,    /* named thing exists already */
	KG_EBUSY = -5006,      /* in use: refused, not retried */
	KG_EAMBIGUOUS = -5007, /* a selector fits several things */
	KG_ECORRUPT = -5008,   /* stored data does not match its digest or schema */
	KG_ELIMIT = -5009,     /* over a configured cap */
	KG_ESTATE = -5010,     /* not possible in this state */
	KG_ENODATA = -5011,    /* nothing to answer with */
	KG_EREFUSED = -5012,   /* understood, and not allowed */
};

#define KG_ERR_TEXT_MAX 512

struct kg_err {
	char text[KG_ERR_TEXT_MAX]; /* UTF-8, one line, lower case, no full stop; "" when unset */
};

/* Writes the text and returns `code`, so that `return kg_err_set(...)` works. `err` may be NULL. */
int kg_err_set(struct kg_err *err, int code, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
int kg_err_vset(struct kg_err *err, int code, const char *fmt, va_list ap)
	__attribute__((format(printf, 3, 0)));

/* Puts "prefix: " before the text that is there; returns `code`. */
int kg_err_wrap(struct kg_err *err, int code, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* Text of a code alone: strerror for an errno, our own words below -5000. Static storage. */
const char *kg_strerror(int code);

/* Sets "what 'name': strerror(errno)" and returns -errno. */
int kg_err_errno(struct kg_err *err, const char *what, const char *name);

#endif
