/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * job + machines + kernels + seed -> cells, slots, boots and their order. The same input gives the
 * same plan, always. Pure.
 *
 *   cell  = machine x kernel x lsm request x command line x settings x workload x parameters
 *           (x role and peer)
 *   slot  = cell x block
 *   boot  = machine x block x kernel x effective list x command line x settings x peer: all its
 *           slots run in it
 *
 * Requests that resolve to the same list on a kernel are one boot and one cell: the first label's;
 * plan.merges and a warning say so.
 *
 * Identity. Cells are the same cell in another job when these are: machine, kernel's digest, lsm
 * request, command line, workload with its digest, normalised parameters; and, where there are any,
 * settings, role and peer, and that it is a canary. Not labels, repeats, monitors, order. A cell
 * without settings, roles and canary has the identity that 0.2.0 gave it.
 *
 * Accounting. Each cell of the whole product, written out, is one of: left out by exclude or only; a
 * cell; a duplicate of one (the same identity, by a value or a workload written twice); merged into
 * one (the same list by another request); with `pairwise:` not needed for a pair. So
 * full = n_cells - canaries + excluded + duplicates + merged + pairwise_left, always.
 *
 * Roles. Machines that are named as client or server are taken wherever they are, and a named client
 * is one of the job's; predicates, and a role without either, choose among the job's machines. A
 * cell with roles belongs to the client's machine and names its peer. Its boots are made on
 * both machines at the same time, with the same kernel, list, command line and settings; the visit is
 * the client's, the server has none of its own. They share no boot with cells without roles.
 *
 * Canary. A workload that must not depend on the kernel (declared so, or named by the job) runs
 * first in the first and in the last boot of a block, so that drift within a block shows. Its cells
 * are one per group and have slots only where the group is first or last. In a boot of a pair it
 * runs on the client alone.
 *
 * Last in their block, in random order of their own, come groups that kexec cannot leave: the kernel
 * lacks it, or is locked down (plan_leave). The machine is rebooted out of them.
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

#define PLAN_MAX_SLOTS 1000000 /* unless configured */
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
	const char *address;	   /* where peers reach it; NULL: not known */
	/* What can be set there, "governor" -> "performance schedutil"; sysctl always can. */
	const struct kg_param_value *settings;
	size_t n_settings;
	bool settings_known; /* false: an old agent; cells with settings are infeasible */
};

struct plan_kernel { /* all borrow */
	const char *digest;
	const char *label; /* NULL: none */
	const char *release;
	const char *build_id; /* NULL: not known */
	const struct kconfig_facts
		*config; /* NULL: the artifact has none; its cells are infeasible */
	bool has_modules;
	int64_t added_ns; /* for JOB_KERNEL_NEWEST and PREVIOUS */
};

/* What earlier jobs took and how they spread, of this machine. All borrow. */
struct plan_pace {
	const char *machine, *workload, *params;
	double iteration_s; /* median over attempts that passed: run time / iterations */
	uint32_t attempts;
};
struct plan_hop {
	const char *machine;
	double seconds; /* median of a boot's time less its runs' */
	uint32_t boots;
};
struct plan_spread {
	const char *machine, *workload, *params, *metric;
	double between_cov_pct; /* of boot medians, pooled over configurations of the newest epoch */
	uint32_t boots;
};
struct plan_history {
	const struct plan_pace *paces;
	size_t n_paces;
	const struct plan_hop *hops;
	size_t n_hops;
	const struct plan_spread *spreads;
	size_t n_spreads;
};

struct plan_input {
	const struct job_spec *job;
	const struct plan_machine *machines; /* all that are known */
	size_t n_machines;
	const struct plan_kernel *kernels; /* all that are stored */
	size_t n_kernels;
	uint64_t seed;
	uint32_t boots;		     /* replaces the job's repeat.boots when not 0 */
	struct plan_history history; /* all zero: none */
	uint64_t max_slots;	     /* 0: PLAN_MAX_SLOTS */
	const char *added_kernel;    /* digest for JOB_KERNEL_ADDED; NULL: none */
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
	/* What distinguishes cells beyond kernel and list, for people: labels of the command line's
	 * variant and of settings with several values, "mitigations=off governor=schedutil"; "" */
	const char *variant;
	const char *settings; /* "governor=performance; sysctl.vm.swappiness=10", by name; "" */
	const char *peer;     /* machine of the server; "": no roles, or no server was found */
	bool canary;
	bool leave_by_reboot;
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
	const char *variant, *settings, *peer;
	bool canary; /* it runs in this one */
	bool leave_by_reboot;
	uint32_t slots;
	uint64_t seconds; /* estimate: hop and runs */
};

struct plan_machine_sum {
	const char *machine;
	uint32_t boots;
	uint64_t slots;		/* infeasible ones included */
	uint64_t seconds;	/* estimate; as a server, too */
	uint64_t seconds_least; /* of the blocks before the first look of the stop rule */
	const char *estimate;	/* "history of 40 boots and 120 runs", "declared defaults", both */
};

struct plan_axis { /* for people, in the order of the expansion */
	const char *name;
	const char *unit; /* of its numbers, NULL: none is declared */
	const char *const *values;
	size_t n;
};

struct plan_detectable { /* smallest change that `blocks` boots a side find: 80 % power, alpha 0.01 */
	const char *machine, *workload, *params, *metric;
	double pct; /* NAN: not known, `note` says why */
	double between_cov_pct;
	uint32_t boots;
	const char *note; /* "" */
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
	struct plan_axis *axes;
	size_t n_axes;
	struct plan_detectable *detectable;
	size_t n_detectable;
	struct kg_texts warnings; /* no two alike */
	/* full = cells + excluded + duplicates + merged + pairwise_left; the canary's cells apart */
	uint64_t full;
	uint64_t excluded;	/* cells that `exclude:` and `only:` left out */
	uint64_t duplicates;	/* the same identity written twice */
	uint64_t merged;	/* the same effective list as another request */
	uint64_t pairwise_left; /* not needed for a pair */
	uint64_t canaries;	/* cells of the canary, part of n_cells */
	uint32_t blocks;	/* at most; with a stop rule some may be skipped */
	uint32_t blocks_min;	/* equal without a stop rule */
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

/* Where a cell came from, line by line: the file's places of its machine, kernel, list (and what it
 * was derived from), command line, settings, workload and each parameter (given, set, default), its
 * requests with the same list, predicates that it passed, and its boots. `number` from 1;
 * KG_ENOTFOUND names the largest. `p` was made from `in`. */
int plan_explain_cell(const struct plan_input *in, const struct plan *p, uint64_t number,
		      struct kg_texts *ret_lines, struct kg_err *err);

/* Why a kernel with this effective list and line cannot be left by kexec, static text; NULL: it can.
 * A kernel without CONFIG_KEXEC and CONFIG_KEXEC_FILE; one that takes signed images only
 * (CONFIG_KEXEC_SIG_FORCE); lockdown in the list and lockdown=integrity or confidentiality on the
 * line or in CONFIG_CMDLINE, or forced by the config; loadpin in the list and enforcing. That an image
 * is signed by somebody whom that kernel trusts is never known here. A setting that forbids kexec
 * (sysctl kernel.kexec_load_disabled) is the plan's matter. */
const char *plan_leave(const struct kconfig_facts *config, const char *effective,
		       const char *cmdline);

/* More blocks of cells that are stored: `kgrid job extend`. Blocks come in the order that plan_make
 * would have given them. All borrow. */
struct plan_known_cell {
	const char *machine, *kernel, *lsm_effective, *cmdline, *settings, *peer;
	bool canary, infeasible, leave_by_reboot;
};
struct plan_extend_input {
	const struct plan_known_cell *cells; /* in the order of plan.cells */
	size_t n_cells;
	uint64_t seed;
	enum job_order order;
	uint32_t first_block, n_blocks;
	uint64_t max_slots; /* 0: PLAN_MAX_SLOTS */
	/* Last visit number in use, by machine of the first cell that has it: as many as cells; only the
	 * entry of a machine's first cell is read. */
	const uint32_t *last_visit;
};
/* Owned array (free). KG_ELIMIT over PLAN_MAX_SLOTS; -ENOMEM. */
int plan_extend(const struct plan_extend_input *in, struct plan_slot **ret_slots, size_t *ret_n,
		struct kg_err *err);

/* Finds one kernel by exact label, exact release, or at least 8 hex digits of the digest.
 * KG_EAMBIGUOUS names all that fit (label, digest, CONFIG_LSM), KG_ENOTFOUND suggests. */
int plan_find_kernel(const struct plan_kernel *kernels, size_t n, const char *selector,
		     size_t *ret_index, struct kg_err *err);

/* The part of a kernel's command line that the job decides: its words, lsm= unless the request is
 * JOB_LSM_DEFAULT, and panic=10 unless `base` or the job has a panic= word. Owned text, NULL: out of
 * memory. The whole line is base + " " + this + " kgrid.boot=ID.NONCE". */
char *plan_boot_cmdline(const char *base, const char *job_cmdline, const char *lsm_request);

#endif
