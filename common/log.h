/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Log lines to stderr, one per event, with a <N> priority for journald when it listens. Only
 * code that decides what happens next logs; pure and common code never does. */
#ifndef KG_COMMON_LOG_H
#define KG_COMMON_LOG_H

#include <stdbool.h>

enum kg_log_level {
	KG_LOG_ERR = 3,
	KG_LOG_WARN = 4,
	KG_LOG_NOTICE = 5,
	KG_LOG_INFO = 6,
	KG_LOG_DEBUG = 7,
};

/* Call once at start. `program` borrows for ever. With $JOURNAL_STREAM set, lines carry <N>. */
void kg_log_init(const char *program, enum kg_log_level max);
void kg_log(enum kg_log_level level, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

#define kg_log_err(...)	   kg_log(KG_LOG_ERR, __VA_ARGS__)
#define kg_log_warn(...)   kg_log(KG_LOG_WARN, __VA_ARGS__)
#define kg_log_notice(...) kg_log(KG_LOG_NOTICE, __VA_ARGS__)
#define kg_log_info(...)   kg_log(KG_LOG_INFO, __VA_ARGS__)
#define kg_log_debug(...)  kg_log(KG_LOG_DEBUG, __VA_ARGS__)

#endif
