/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "common/log.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static const char *log_program = "kgrid";
static enum kg_log_level log_max = KG_LOG_INFO;
static bool log_journal;

void kg_log_init(const char *program, enum kg_log_level max)
{
	log_program = program;
	log_max = max;
	log_journal = getenv("JOURNAL_STREAM") != NULL;
}

void kg_log(enum kg_log_level level, const char *fmt, ...)
{
	static const char *const names[] = {"",	       "",	 "",	 "error",
					    "warning", "notice", "info", "debug"};
	char text[1024];
	char stamp[32] = "";
	struct timespec ts;
	struct tm tm;
	va_list ap;
	char *p;

	if (level > log_max)
		return;
	va_start(ap, fmt);
	(void)vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	for (p = text; *p; p++) /* what a peer sent must not make lines of its own */
		if ((unsigned char)*p < 0x20 || *p == 0x7f)
			*p = '?';
	if (log_journal) {
		fprintf(stderr, "<%d>%s\n", (int)level, text);
		return;
	}
	if (clock_gettime(CLOCK_REALTIME, &ts) == 0 && gmtime_r(&ts.tv_sec, &tm))
		(void)strftime(stamp, sizeof(stamp), "%Y-%m-%dT%H:%M:%SZ", &tm);
	fprintf(stderr, "%s %s %s: %s\n", stamp, log_program, names[level], text);
}
