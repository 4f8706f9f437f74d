/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "common/err.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "common/str.h"

int kg_err_vset(struct kg_err *err, int code, const char *fmt, va_list ap)
{
	if (err) {
		(void)vsnprintf(err->text, sizeof(err->text), fmt, ap);
		kg_utf8_mend(err->text); /* '%.64s' may have cut a character in half */
	}
	return code;
}

int kg_err_set(struct kg_err *err, int code, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	kg_err_vset(err, code, fmt, ap);
	va_end(ap);
	return code;
}

int kg_err_wrap(struct kg_err *err, int code, const char *fmt, ...)
{
	char old[KG_ERR_TEXT_MAX];
	size_t len, room;
	va_list ap;

	if (!err)
		return code;
	memcpy(old, err->text, sizeof(old));
	old[sizeof(old) - 1] = '\0';
	va_start(ap, fmt);
	(void)vsnprintf(err->text, sizeof(err->text), fmt, ap);
	va_end(ap);
	kg_utf8_mend(err->text);
	len = strlen(err->text);
	room = sizeof(err->text) - len;
	if (!old[0] || room < 4)
		return code;
	memcpy(err->text + len, ": ", 2);
	len += 2;
	room -= 2;
	if (strlen(old) >= room)
		old[room - 1] = '\0'; /* too long: the end is cut off */
	memcpy(err->text + len, old, strlen(old) + 1);
	kg_utf8_mend(err->text);
	return code;
}

const char *kg_strerror(int code)
{
	switch (code) {
	case KG_EPROTO:
		return "protocol violation";
	case KG_EVERSION:
		return "version not supported";
	case KG_EINVALID:
		return "invalid input";
	case KG_ENOTFOUND:
		return "not found";
	case KG_EEXISTS:
		return "exists already";
	case KG_EBUSY:
		return "in use";
	case KG_EAMBIGUOUS:
		return "ambiguous";
	case KG_ECORRUPT:
		return "corrupt";
	case KG_ELIMIT:
		return "over the limit";
	case KG_ESTATE:
		return "not possible in this state";
	case KG_ENODATA:
		return "no data";
	case KG_EREFUSED:
		return "refused";
	default:
		return code < 0 && code > -5000 ? strerror(-code) : "unknown error";
	}
}

int kg_err_errno(struct kg_err *err, const char *what, const char *name)
{
	int e = errno;

	return kg_err_set(err, -e, "%s '%s': %s", what, name, strerror(e));
}
