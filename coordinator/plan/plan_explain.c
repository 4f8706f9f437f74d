/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "coordinator/plan/plan_internal.h"
int plan_explain_cell(const struct plan_input *in, const struct plan *p, uint64_t number,
		      struct kg_texts *ret_lines, struct kg_err *err)
{
	(void)in;
	(void)p;
	(void)number;
	(void)ret_lines;
	return kg_err_set(err, KG_ENOTFOUND, "not yet");
}
