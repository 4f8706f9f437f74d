/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * job + machines + kernels + seed -> cells, slots, boots and their order. The same input gives the
 * same plan, always. Pure.
 *
 *   cell  = machine x kernel x lsm request x command line x workload x parameters
 *   slot  = cell x block
 *   boot  = machine x block x kernel x effective list: all its slots run in it
 *
 * Requests that resolve to the same list on a kernel are one boot and one cell: the first label's;
 * plan.merges and a warning say so.
 *
 * Order. interleaved: each block of a machine visits every boot once, in a random permutation
 * (Fisher-Yates; xoshiro256** seeded through splitmix64, both by Blackman and Vigna, public domain,
 * prng.di.unimi.it) that depends on the seed, the machine's name and the block alone, so that
 * another machine in the job changes nothing for this one. grouped: all blocks of the first boot,
 * then all of the second, in the file's order. Within a boot the runs keep the file's order.
 */
#ifndef KG_PLAN_PLAN_H
#define KG_PLAN_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/err.h"
#include "common/sha256.h"
#include "common/workload.h"
#include "coordinator/plan/job.h"
#include "coordinator/plan/kconfig.h"
#include "coordinator/plan/predicate.h"

#define PLAN_MAX_SLOTS 200000
#define PLAN_HOP_S     90 /* seconds from one kernel to the next, where nothing better is known */
#define PLAN_PANIC     "panic=10"
/* Longest " kgrid.boot=ID.NONCE" that is added when the boot is ordered: 20 digits of an id. */
#define PLAN_BOOT_WORD_MAX (sizeof(" kgrid.boot=18446744073709551615.") - 1 + 32)

struct plan_offer { /* one workload that a machine has declared; all borrow */
	const char *name;
	const char *digest;
	bool available;
	const char *missing;		/* why not, when not available */
	const struct kg_workload *decl; /* NULL: the declaration could not be read */
};

struct plan_machine {			/* all borrow */
	struct predicate_machine facts; /* facts.name is the machine's name */
	const struct plan_offer *offers;
	size_t n_offers;
	const char *base_cmdline;  /* NULL: "" */
	const char *initrd_policy; /* "overlay", "none"; NULL: not known */
};

struct plan_kernel { /* all borrow */
	const char *digest;
	const char *label; /* NULL: none */
	const char *release;
	const char *build_id; /* NULL: not known */
	const struct kconfig_facts
		*config; /* NULL: the artifact has none; its cells are infeasible */
	bool has_modules;
};

struct plan_input {
	const struct job_spec *job;
	const struct plan_machine *machines; /* all that are known */
	size_t n_machines;
	const struct plan_kernel *kernels; /* all that are stored */
	size_t n_kernels;
	uint64_t seed;
	uint32_t boots; /* replaces the job's repeat.boots when not 0 */
};

struct plan_cell {
	char identity[KG_SHA256_HEX_SIZE];
	const char *machine;	  /* text fields borrow from the plan unless said otherwise */
	const char *kernel;	  /* digest */
	const char *kernel_label; /* label, or the release when it has none */
	const char *lsm_label;
	const char *lsm_request;   /* "a,b,c"; "default": no lsm= word */
	const char *lsm_effective; /* predicted */
	const char *cmdline;	   /* whole line after the machine base, without kgrid.boot= */
	const char *workload;
	const char *workload_digest; /* "" when the machine does not have the workload */
	const char *params;	     /* "seconds=1 size=64 test=UDP_RR" */
	uint32_t iterations;
	uint32_t timeout_s;    /* for the whole run, warm-up included */
	uint32_t kernel_order; /* from 0, position in the job file */
	uint32_t lsm_order;
	uint32_t workload_order; /* numbers the parameter sets of all workloads through */
	const char *infeasible;	 /* NULL: can run; else the reason */
	uint64_t run_ns;	 /* estimate of one run, warm-up included */
	size_t group;		 /* boots of the same group share machine, kernel, list */
};

struct plan_slot {
	size_t cell;	   /* index */
	uint32_t block;	   /* from 1 */
	uint32_t visit;	   /* order of boots on the machine within the job, from 1; 0: infeasible */
	uint32_t position; /* order of runs within the boot, from 1; 0: infeasible */
};

struct plan_boot {
	const char *machine;
	uint32_t block;
	uint32_t position; /* within the block, from 1 */
	uint32_t visit;
	const char *kernel; /* digest */
	const char *kernel_label;
	const char *lsm_label;
	const char *lsm_request;
	const char *lsm_effective;
	const char *cmdline;
	uint32_t slots;
	uint64_t seconds; /* estimate: hop and runs */
};

struct plan_machine_sum {
	const char *machine;
	uint32_t boots;
	uint64_t slots;	  /* infeasible ones included */
	uint64_t seconds; /* estimate */
};

struct plan_infeasible {
	const char *cell; /* "lab-intel 6.12 full netperf size=64 ..." */
	const char *reason;
	uint64_t slots;
};

struct plan_merge { /* `lsm` gives the same list as `into` on this kernel */
	const char *machine;
	const char *kernel; /* digest */
	const char *lsm;
	const char *into;
	const char *effective;
};

struct plan {
	struct plan_cell *cells; /* owned arrays, ordered by machine, kernel, lsm, workload */
	size_t n_cells;
	struct plan_slot *slots; /* ordered by machine, visit, position; infeasible ones first */
	size_t n_slots;
	struct plan_boot *boots; /* ordered by machine, visit */
	size_t n_boots;
	struct plan_machine_sum *machines;
	size_t n_machines;
	struct plan_infeasible *infeasible;
	size_t n_infeasible;
	struct plan_merge *merges;
	size_t n_merges;
	struct kg_texts warnings; /* no two alike */
	uint64_t excluded;	  /* cells that `exclude:` left out */
	uint32_t blocks;
	enum job_order order;
	uint64_t seed;
	void *memory; /* owned: the texts */
};

/* Makes the plan. The plan borrows nothing from the input: `in` may be released. Errors carry the
 * job file's place: KG_EINVALID (also: predicate without a match, unknown workload, parameter
 * refused), KG_ENOTFOUND and KG_EAMBIGUOUS for kernels and machines, KG_ELIMIT over PLAN_MAX_SLOTS,
 * -ENOMEM. `ret_plan` is owned, plan_free. */
int plan_make(const struct plan_input *in, struct plan **ret_plan, struct kg_err *err);
void plan_free(struct plan *p);

/* Finds one kernel by exact label, exact release, or at least 8 hex digits of the digest.
 * KG_EAMBIGUOUS names all that fit (label, digest, CONFIG_LSM), KG_ENOTFOUND suggests. */
int plan_find_kernel(const struct plan_kernel *kernels, size_t n, const char *selector,
		     size_t *ret_index, struct kg_err *err);

/* The part of a kernel's command line that the job decides: its words, lsm= unless the request is
 * JOB_LSM_DEFAULT, and panic=10 unless `base` or the job has a panic= word. Owned text, NULL: out of
 * memory. The whole line is base + " " + this + " kgrid.boot=ID.NONCE". */
char *plan_boot_cmdline(const char *base, const char *job_cmdline, const char *lsm_request);

#endif
