/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What ended a job on a machine: its stop rule, its budget, a queue timeout, or the most blocks that a
 * stop rule allows. Pure. */
#ifndef KG_COORDINATOR_REPORT_STOPS_H
#define KG_COORDINATOR_REPORT_STOPS_H

#include <stdint.h>

#include "common/str.h"

struct report_stop {	     /* texts borrow */
	const char *machine; /* NULL: everywhere */
	const char *outcome; /* "skipped", "queue-timeout"; NULL: all blocks were made */
	const char *reason;  /* "": none; without an outcome the stop rule */
	uint64_t slots;
	uint32_t machines;    /* that had slots left */
	uint32_t least, most; /* blocks that they had made of the job */
};

/* Adds "lab-intel: stopped after 7 blocks, 12 slots are skipped: REASON", or
 * "3 machines: stopped after 2 to 5 blocks, ...", or
 * "lab-amd: made all 12 blocks: the stop rule 'ci95 <= 1 %' did not end it sooner". */
void report_stop_text(const struct report_stop *x, struct kg_str *s);

#endif
