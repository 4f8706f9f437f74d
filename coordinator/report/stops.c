/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "coordinator/report/stops.h"

#include "coordinator/report/parts.h"

void report_stop_text(const struct report_stop *x, struct kg_str *s)
{
	if (x->machine)
		kg_str_add(s, x->machine);
	else
		kg_str_addf(s, "%u machine%s", x->machines, plural(x->machines));
	if (!x->outcome) {
		kg_str_addf(s, ": made all %u block%s: the stop rule '%s' did not end it sooner",
			    x->most, plural(x->most), x->reason);
		return;
	}
	if (x->most == 0)
		kg_str_add(s, ": stopped before the first block");
	else if (x->least == x->most)
		kg_str_addf(s, ": stopped after %u block%s", x->most, plural(x->most));
	else
		kg_str_addf(s, ": stopped after %u to %u blocks", x->least, x->most);
	kg_str_addf(s, ", %llu slot%s %s %s", (unsigned long long)x->slots, plural(x->slots),
		    x->slots == 1 ? "is" : "are", x->outcome);
	if (x->reason && x->reason[0])
		kg_str_addf(s, ": %s", x->reason);
}
