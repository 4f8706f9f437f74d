/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The A/A job: one kernel and one list again and again, so that all differences are noise. Pure.
 */
#ifndef KG_DETECT_CALIBRATE_H
#define KG_DETECT_CALIBRATE_H

#include <stddef.h>

#include "common/err.h"
#include "common/str.h"
#include "common/workload.h"
#include "proto/messages.h"

#define CALIBRATE_BOOTS	      12 /* default: the halves of the splits have six */
#define CALIBRATE_BOOTS_LEAST 4
#define CALIBRATE_BOOTS_MOST  1000

struct calibrate_offer {
	const char *machine;
	const char *kernel; /* taken when the request names none; NULL: there is none */
	/* Available ones, taken when the request names none: with every choice of a parameter that has
	 * no default, and not those that need another one. */
	const struct kg_workload *const *workloads;
	size_t n_workloads;
};

/* Text of the job file. KG_EINVALID, KG_ENODATA (no kernel, no workload), with the reason. */
int calibrate_job_text(const Kgrid__V1__CalibrateRequest *rq, const struct calibrate_offer *offer,
		       struct kg_str *ret, struct kg_err *err);

#endif
