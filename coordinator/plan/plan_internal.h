/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Between the files that make a plan only.
 *
 *   plan_select   which machines and kernels                plan_roles    clients and their servers
 *   plan_values   parameters of workloads and their values  plan_sets     parameter sets
 *   plan_lines    command lines and predicted lists         plan_groups   boots of a block
 *   plan_pairwise covering arrays                           plan_cells    cells and identities
 *   plan_order    permutations                              plan_boots    boots and slots
 *   plan_estimate hours, what can be detected               plan_explain  where a cell came from
 *
 * Two memories: builder.memory is the plan's and stays, builder.scratch goes with the builder.
 */
#ifndef KG_PLAN_PLAN_INTERNAL_H
#define KG_PLAN_PLAN_INTERNAL_H

#include "common/arena.h"
#include "coordinator/plan/plan.h"
#include "coordinator/plan/warn.h"

#define PLAN_BUCKETS 1024

/* ---- small tables ---- */

/* Open addressing over numbers of things that the caller holds; 0 is empty, so that things are
 * stored as index + 1. */
struct plan_table {
	uint32_t *at; /* in the scratch memory */
	size_t mask;
};

/* Texts without two alike, numbered from 0. */
struct plan_interned {
	struct plan_table table;
	const char **texts; /* owned */
	uint32_t n, size;
};

/* ---- workloads and parameters ---- */

struct plan_value {	  /* in the plan's memory */
	const char *text; /* normalised */
	const char *word; /* "size=64", as it stands in a cell's parameters */
	uint32_t word_len;
};

struct plan_param { /* a parameter that the job gives, one axis */
	const struct job_param *param;
	const struct job_set *set;	      /* it comes from this set; NULL */
	const struct job_default *default_of; /* it comes from `defaults:` or `matrix:`; NULL */
	const struct kg_param_decl *decl;
	uint64_t n;
	struct plan_value *values;
	size_t item; /* its place among the items of the alternative */
};

struct plan_alt { /* a workload with one of its sets, or without */
	const struct job_set *set;
	struct plan_param *params;
	size_t n_params;
	uint64_t count;		  /* of combinations; sticks at PLAN_HUGE */
	const char **names;	  /* of all parameters that have a value, in order */
	struct plan_value *items; /* their values; those of `params` are the first ones */
	size_t n_items;
	bool duration_varies;
	uint64_t duration_ns;
};

struct plan_entry { /* one workload of the job as one declaration reads it */
	const struct job_workload *workload;
	const struct kg_workload *decl;
	struct plan_alt *alts;
	size_t n_alts;
	uint64_t count;
	bool filled;			 /* values, not only their number */
	struct plan_entry *next, *chain; /* of all; of its bucket */
};

struct plan_set { /* one combination of an alternative */
	const struct plan_entry *entry;
	const uint32_t *digits; /* one per parameter of the alternative */
	const char *text;	/* of all parameters, in the plan's memory */
	uint64_t run_ns;	/* as declared */
	uint32_t alt, order, timeout_s;
	uint32_t
		first; /* the first set with the same workload and text: itself unless written twice */
	uint32_t next; /* index + 1 of the next one like it */
};

struct plan_sets {
	const struct plan_entry **entries; /* what it was made of */
	const uint64_t *offsets;	   /* number of the first set of each entry */
	size_t n_entries;
	struct plan_set *items;
	size_t n;
	struct plan_sets *next;
};

/* ---- machines ---- */

struct plan_peer {			    /* a machine's workloads with one server, or without */
	const struct plan_machine *machine; /* NULL: no roles, or no server was found */
	bool role;
	const char *infeasible; /* all of its cells; NULL: none */
	size_t *workloads;	/* of the job */
	size_t n_workloads;
	const char **
		reasons; /* per entry of `workloads`: why it cannot run with this server; NULL: it can */
	const char **digests;	/* likewise, of the client's declaration */
	struct plan_sets *sets; /* NULL with `pairwise:` until it is made */
	uint32_t line_class;
};

struct plan_column { /* a machine of the job, or one that is only a server */
	const struct plan_machine *machine;
	const char *name; /* in the plan's memory */
	bool server_only;
	uint32_t line_class;
	const struct plan_entry **entries; /* per workload of the job; NULL: none of its own */
	struct plan_peer *peers;
	size_t n_peers, size_peers;
	const struct plan_entry *canary; /* NULL: none */
	struct plan_set canary_set;
	const char *canary_digest;
	size_t first_group, n_groups;
	const char **settings_reasons; /* per combination of settings: why not here; "": it can */
	size_t n_settings_reasons;
	uint64_t server_s;	       /* as a server */
	uint64_t server_least_s;       /* of these before the first look of the stop rule */
	double hop_s;		       /* by its history; 0: not known */
	uint64_t hop_boots, pace_runs; /* what the estimate rests on */
	bool declared_runs;	       /* some run has no history */
};

struct plan_selected { /* a kernel of the job */
	const struct plan_kernel *kernel;
	const struct job_text *wanted; /* what names it in the job */
	const char *digest, *shown;    /* label or release; in the plan's memory */
	struct lsm_kernel lsm;	       /* with the name that warnings use */
	const char *infeasible;	       /* NULL: none */
};

/* ---- boots ---- */

struct plan_line {	     /* of a class of machines x kernel x variant x list */
	const char *cmdline; /* NULL: not made yet */
	size_t len;
	uint32_t effective; /* in builder.effective */
};

struct plan_settings { /* one combination of values */
	const uint32_t *digits;
	const char *text;	 /* in the plan's memory */
	struct kg_params params; /* sorted; borrows from the job, items in the scratch memory */
	bool stops_kexec;	 /* kernel.kexec_load_disabled=1 */
};

struct plan_combo { /* what is asked for; several may be one group */
	uint32_t kernel, lsm, variant, settings, peer;
	uint32_t group;		  /* of the plan */
	uint32_t next;		  /* index + 1 of the group's next one */
	size_t first_set, n_sets; /* with `pairwise:`, in builder.chosen */
};

struct plan_group { /* one boot a block */
	uint32_t column, kernel, lsm, variant, settings, peer;
	const char *cmdline, *effective, *shown_variant, *infeasible; /* in the plan's memory */
	bool leave;
	bool canary;
	size_t first_cell, n_cells; /* side by side, the canary first */
	uint32_t feasible;
	uint64_t run_ns; /* of all feasible cells but the canary */
	uint32_t first_combo, last_combo;
};

struct plan_builder {
	const struct plan_input *in;
	const struct job_spec *job;
	const struct job_variant *variants; /* of the command line, at least one */
	size_t n_variants;
	struct kg_err *err;
	struct plan *p;
	struct kg_arena *memory;
	struct kg_arena scratch;
	struct plan_column *columns;   /* selected, by name or in the file's order; then servers */
	size_t n_columns, n_own;       /* all; those of the job, which come first */
	uint32_t *column_at;	       /* per known machine: index + 1 of its column */
	struct plan_selected *kernels; /* in the file's order */
	size_t n_kernels;
	struct plan_entry *entries;
	struct plan_entry *entry_at[PLAN_BUCKETS];
	struct plan_sets *set_at[PLAN_BUCKETS];
	struct plan_interned bases;		   /* command lines of machines: classes */
	const struct plan_machine **line_machines; /* one of each class */
	struct plan_line *lines;		   /* [class][kernel][variant][lsm] */
	struct plan_interned effective;
	uint32_t *same_lsm, *same_variant; /* first one that asks for the same */
	struct plan_settings *settings;	   /* combinations that are used */
	size_t n_settings, size_settings;
	struct plan_interned settings_keys; /* with `pairwise:` */
	uint32_t **same_value;		    /* per setting and value: the first one that is equal */
	struct plan_combo *combos;	    /* of the machine at hand; owned */
	size_t n_combos, size_combos;
	uint32_t *chosen; /* sets of the combinations, with `pairwise:`; owned */
	size_t n_chosen, size_chosen;
	struct plan_group *groups; /* owned */
	size_t n_groups, size_groups;
	struct plan_table group_table;
	const char **lsm_labels; /* in the plan's memory */
	const char **lsm_requests, **workload_names;
	const char *canary_name; /* that the job gives; NULL */
	size_t size_merges, size_cells;
	struct kg_param_value *values; /* room for the parameters of any declaration */
	size_t size_values;
	bool *exclude_used;
	struct plan_interned warned;
	struct plan_table paces;
	bool *pace_used;
};

#define PLAN_MAX_DETECTABLE 10000		/* entries without a history that are listed */
#define PLAN_HUGE	    (UINT64_C(1) << 62) /* products stick here */

/* The steps, in order; each 0 or an error with its text set. */
int plan_select(struct plan_builder *b);
int plan_find_roles(struct plan_builder *b);
int plan_read_entries(struct plan_builder *b); /* counts, nothing is expanded */
int plan_check_size(struct plan_builder *b);
/* Says how many slots that many cells would be. */
int plan_refuse_size(struct plan_builder *b, uint64_t cells, uint64_t max);
/* Whether a predicate of the job may look at an axis: it must name it for that. */
bool plan_asks_about(const struct job_spec *j, const char *name);
int plan_prepare_lines(struct plan_builder *b);
int plan_choose_canaries(struct plan_builder *b);
int plan_make_cells(struct plan_builder *b); /* groups and cells of all machines */
int plan_make_boots(struct plan_builder *b);
int plan_list_axes(struct plan_builder *b);
int plan_estimate_machines(struct plan_builder *b);
int plan_list_detectable(struct plan_builder *b);

/* A builder up to and with plan_read_entries; plan_builder_deinit also after an error. */
int plan_builder_init(struct plan_builder *b, const struct plan_input *in, struct kg_err *err);
void plan_builder_deinit(struct plan_builder *b);

/* ---- plan_select ---- */

/* A known machine by name; KG_ENOTFOUND under the job's key `key`. */
int plan_find_machine(struct plan_builder *b, const char *key, const struct job_text *name,
		      const struct plan_machine **ret_machine);
/* Its column, added behind the others where it has none. */
int plan_column_of(struct plan_builder *b, const struct plan_machine *m,
		   struct plan_column **ret_column);

/* ---- plan_values, plan_sets ---- */

/* The entry of a workload for a declaration, made once; values are not expanded yet. */
int plan_entry_of(struct plan_builder *b, const struct job_workload *w,
		  const struct kg_workload *decl, const struct plan_entry **ret_entry);
int plan_entry_fill(struct plan_builder *b, const struct plan_entry *e);
/* NULL: not declared. */
const struct kg_param_decl *plan_find_param(const struct kg_workload *w, const char *param);
/* What a parameter's numbers count, for people; NULL: not declared. */
const char *plan_unit(const struct kg_param_decl *d);
/* All sets of some entries, shared between machines that read them alike. */
int plan_sets_of(struct plan_builder *b, const struct plan_entry **entries, size_t n,
		 const uint64_t *offsets, struct plan_sets **ret_sets);
int plan_set_fill(struct plan_builder *b, const struct plan_entry *e, uint32_t alt,
		  const uint32_t *digits, struct plan_set *s);
/* Marks sets that are the same one written twice. */
int plan_sets_same(struct plan_builder *b, struct plan_sets *sets);
/* Parameters of a combination (NULL: the first one), in builder.values: until the next call. */
struct kg_params plan_set_params(struct plan_builder *b, const struct plan_alt *a,
				 const uint32_t *digits);

/* ---- plan_lines ---- */

int plan_line_of(struct plan_builder *b, uint32_t line_class, uint32_t kernel, uint32_t variant,
		 uint32_t lsm, const struct plan_line **ret_line);
/* The job's part of a line, owned; NULL: out of memory. */
char *plan_variant_line(const struct plan_builder *b, const char *base, uint32_t variant,
			const char *request);
/* Number of a combination of settings. */
int plan_settings_of(struct plan_builder *b, const uint32_t *digits, uint32_t *ret_index);
/* Settings and variant as people tell boots apart. */
int plan_shown_variant(struct plan_builder *b, uint32_t variant, uint32_t settings,
		       const char **ret_text);
bool plan_settings_possible(const struct plan_machine *m, const struct plan_settings *s);
/* Why a machine cannot have these settings; *ret NULL: it can. */
int plan_settings_reason(struct plan_builder *b, struct plan_column *c,
			 const struct plan_machine *m, uint32_t settings, const char **ret);

/* ---- plan_groups, plan_pairwise ---- */

/* Sets builder.combos (and chosen) for one machine. */
int plan_full_combos(struct plan_builder *b, struct plan_column *c);
int plan_pairwise_combos(struct plan_builder *b, struct plan_column *c);
int plan_add_combo(struct plan_builder *b, const struct plan_combo *x);
int plan_make_groups(struct plan_builder *b, struct plan_column *c);
/* Whether the boot of a combination can be made: what plan_make_groups finds, without a reason. */
int plan_boot_possible(struct plan_builder *b, const struct plan_column *c,
		       const struct plan_combo *x, bool *ret);
/* Cells of the whole product of a machine. */
uint64_t plan_full_of(const struct plan_builder *b, const struct plan_column *c);
uint64_t plan_settings_count(const struct job_spec *j);

struct plan_ask { /* what a predicate is asked about */
	const struct plan_column *column;
	const struct plan_peer *peer;
	uint32_t kernel, lsm, variant, settings;
	const struct plan_entry *entry;
	uint32_t alt;
	const uint32_t *digits;
};
/* Whether `exclude:` or `only:` leaves the cell out; notes which excludes have matched. */
bool plan_excluded(struct plan_builder *b, const struct plan_ask *q);

/* ---- plan_order ---- */

struct plan_visits { /* the boots of one machine; all borrow */
	const char *machine;
	uint64_t seed;
	enum job_order order;
	size_t n, n_normal; /* groups; those that kexec can leave are the first ones */
	uint32_t first_block, n_blocks;
	uint32_t last_visit;
	/* `ends`: first or last of its block, where the canary runs */
	void (*boot)(void *arg, size_t group, const struct plan_slot *at, bool ends);
	void *arg;
	size_t *scratch; /* n entries */
};
/* Calls `boot` for each visit, with block, visit and position set. */
void plan_visit(const struct plan_visits *v);

/* ---- plan_estimate ---- */

/* Time of one run on a machine: by its history, else `declared_ns`. */
uint64_t plan_run_ns(struct plan_builder *b, struct plan_column *c, const char *workload,
		     const char *params, uint64_t declared_ns);
/* Seconds of a hop, of both machines for a pair. */
double plan_hop_s(struct plan_builder *b, struct plan_column *c, const struct plan_peer *peer);
int plan_index_history(struct plan_builder *b);

/* ---- helpers ---- */

int plan_no_memory(struct kg_err *err); /* sets the text, returns -ENOMEM */
/* Formatted text in the plan's memory; NULL: out of memory. */
const char *plan_text(struct plan_builder *b, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
const char *plan_keep(struct plan_builder *b, const char *text);   /* copy in the plan's memory */
void *plan_scratch(struct plan_builder *b, size_t n, size_t size); /* zeroed; NULL: out of memory */
/* Warning of the plan, unless it is there already; 0 or an error with its text set. */
int plan_add_warning(struct plan_builder *b, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
const struct plan_offer *plan_find_offer(const struct plan_machine *m, const char *name);
/* How many blocks: at most, and before the stop rule may end it. */
uint32_t plan_blocks(const struct plan_input *in);
uint32_t plan_blocks_min(const struct plan_input *in);
uint64_t plan_times(uint64_t a, uint64_t b); /* sticks at PLAN_HUGE */
uint64_t plan_plus(uint64_t a, uint64_t b);

uint64_t plan_hash_text(uint64_t h, const char *text); /* FNV-1a, goes on from h; 0: begins */
uint64_t plan_hash_number(uint64_t h, uint64_t x);
/* Room for n things at no more than half load. 0 or -ENOMEM. */
int plan_table_init(struct plan_builder *b, struct plan_table *t, size_t n);
int plan_intern(struct plan_builder *b, struct plan_interned *x, const char *text,
		uint32_t *ret_index);
/* Grows an owned array to hold `n`; 0 or -ENOMEM. */
int plan_grow(void **items, size_t *size, size_t n, size_t item_bytes);

#endif
