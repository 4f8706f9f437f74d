/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One cell once more: as the smallest job file, and as a shell script for somebody who has no grid.
 * Pure. What comes from agents and job files is quoted wherever it stands, also in comments, so that
 * no value can become YAML or shell of its own.
 */
#ifndef KG_REPORT_REPRODUCE_H
#define KG_REPORT_REPRODUCE_H

#include <stdbool.h>
#include <stdint.h>

#include "common/err.h"
#include "common/workload.h"

struct reproduce_input { /* all borrow; texts NULL: "" */
	uint64_t job;
	const char *job_name;
	uint32_t number; /* of the cell within the job, from 1 */
	const char *machine;
	const char *peer; /* machine of the server; "": no roles */
	const char *kernel_label, *kernel_release, *kernel_digest;
	const char *lsm_label, *lsm_request, *lsm_effective;
	const char *base_cmdline; /* of the machine, as last reported */
	const char *cmdline;	  /* the cell's: what comes after it, without kgrid.boot= */
	const char *settings;	  /* "governor=performance; sysctl.vm.swappiness=10" */
	const char *workload;
	const char *params; /* kg_params_text */
	uint32_t iterations;
	uint32_t blocks;		/* planned; 0: the file says the default */
	uint32_t blocks_done;		/* that passed, for the recipe's words */
	const char *argv;		/* JSON array of the newest attempt; NULL: never ran */
	const struct kg_workload *decl; /* of today; NULL: not known */
};

/* A job file that plans to this cell alone, with the same identity while the machine's base command
 * line and the workload are what they were. Owned text. KG_EINVALID: params, settings or argv are not
 * what this program writes; -ENOMEM. */
int reproduce_job_file(const struct reproduce_input *in, char **ret_text, struct kg_err *err);

/*
 * A POSIX shell script: `sh FILE boot` loads the kernel and enters it, `sh FILE run` checks what runs,
 * applies the settings and measures; for a workload on two machines `sh FILE serve` on the other one.
 * The argument vector is that of the newest attempt where it ran, else what the declaration makes of
 * the parameters. Errors as above.
 */
int reproduce_recipe(const struct reproduce_input *in, char **ret_text, struct kg_err *err);

#endif
