/* SPDX-License-Identifier: GPL-2.0-or-later */
/* kgrid-coordinator(8) and kgrid-job(5), from the tables that parse. */
#include "coordinator/manual.h"

#include <string.h>

#include "coordinator/coordinator.h"
#include "coordinator/plan/job.h"

static void coordinator_page(struct kg_str *out)
{
	kg_str_addf(out, ".TH KGRID-COORDINATOR 8 \"2026-11-30\" \"kgrid %s\" \"kgrid\"\n",
		    KGRID_VERSION);
	kg_str_add(out,
		   ".SH NAME\n"
		   "kgrid-coordinator \\- keeps jobs and results of a kernel performance lab\n"
		   ".SH SYNOPSIS\n"
		   ".B kgrid-coordinator\n"
		   "\\-\\-data-dir DIR [\\-\\-config FILE] [\\-\\-listen ADDRESS:PORT]... "
		   "[\\-\\-socket PATH]\n"
		   "[\\-\\-insecure-plaintext] [\\-\\-debug]\n"
		   ".SH DESCRIPTION\n"
		   "One process per lab. It stores jobs, samples and provenance in DIR/kgrid.db "
		   "(SQLite),\n"
		   "kernels in DIR/blobs, gives each machine one boot at a time, and answers\n"
		   ".BR kgrid (1).\n"
		   "Connections are not encrypted yet, so it listens on loopback and on its Unix "
		   "socket\n"
		   "only; any other address is refused unless \\-\\-insecure-plaintext is given.\n"
		   ".SH SETTINGS\n"
		   "A YAML file. An unknown key is an error that names its place.\n");
	coordinator_config_manual(out);
	kg_str_add(
		out,
		".SH FILES\n"
		".TP\nDIR/run/kgrid.sock\nUnix socket of the kgrid command, unless \\-\\-socket is "
		"given.\n"
		".TP\nDIR/run/tcp\nThe TCP address it listens on, one line.\n"
		".TP\nDIR/kgrid.db.lock\nHeld while a coordinator runs; a second one is refused.\n"
		".SH EXIT STATUS\n"
		"0 ended by SIGTERM or SIGINT, 1 could not start or failed, 2 usage or settings.\n"
		".SH SEE ALSO\n"
		".BR kgrid (1),\n.BR kgrid-job (5)\n");
}

static void job_page(struct kg_str *out)
{
	kg_str_addf(out, ".TH KGRID-JOB 5 \"2026-11-30\" \"kgrid %s\" \"kgrid\"\n", KGRID_VERSION);
	job_manual(out);
}

int coordinator_manual(const char *page, struct kg_str *out)
{
	if (strcmp(page, "kgrid-coordinator.8") == 0)
		coordinator_page(out);
	else if (strcmp(page, "kgrid-job.5") == 0)
		job_page(out);
	else
		return KG_ENOTFOUND;
	return 0;
}
