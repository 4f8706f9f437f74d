/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Between the files of the LSM model only.
 *
 *   lsm          the decision              lsm_cmdline  what the command line says
 *   lsm_account  why each is in or out     lsm_names    names, flags, texts that people write
 *   lsm_text     reasons in words
 */
#ifndef KG_PLAN_LSM_INTERNAL_H
#define KG_PLAN_LSM_INTERNAL_H

#include "coordinator/plan/lsm.h"

#define LSM_VERSION(major, minor) ((major)*1000U + (minor))

enum { LSM_LEGACY_MAJOR = 1, LSM_EXCLUSIVE = 2 };

struct lsm_traits {
	const char *name;
	unsigned flags;
	unsigned since; /* LSM_VERSION in which it appeared as an LSM; 0: before 5.0 */
};

/* Flags are the same in all versions looked at, 5.2 to 7.3; tomoyo is not exclusive since 5.1. */
extern const struct lsm_traits lsm_traits[LSM_COUNT];

bool lsm_exclusive(enum lsm_profile profile, enum lsm_id id);
/* The name that was probably meant, or NULL. */
const char *lsm_suggest(const char *name);
/* Major and minor number of a release; false when it does not begin with them. */
bool lsm_parse_version(const char *release, unsigned *ret_version);

struct lsm_resolver {
	const struct lsm_kernel *k;
	const char *shown; /* the kernel in texts */
	unsigned version;
	const char *config_lsm; /* CONFIG_LSM, or default_lsm */
	char default_lsm[128];	/* the default of CONFIG_LSM in that version */
	/* what the command line says */
	char *lsm;	/* value of the last lsm=; NULL: absent. Owned, as the next */
	char *security; /* value of the last security= */
	unsigned n_lsm, n_security;
	bool off[LSM_COUNT];	    /* apparmor=0, selinux=0 */
	char off_by[LSM_COUNT][64]; /* the word, or the option, that did it */
	/* the decision */
	enum lsm_id order[LSM_COUNT];
	enum lsm_reason why[LSM_COUNT]; /* of each in order[] */
	size_t n_order;
	bool listed[LSM_COUNT];
	bool active[LSM_COUNT];
	bool legacy_off[LSM_COUNT]; /* security= names another one */
	enum lsm_id winner;	    /* the exclusive one that came first; LSM_COUNT: none */
	enum lsm_id beaten_by[LSM_COUNT];
	struct lsm_list *out;
};

/* Up to 5.0 lsm= and CONFIG_LSM do not exist. */
static inline bool lsm_ordered(const struct lsm_resolver *r)
{
	return r->version >= LSM_VERSION(5, 1);
}

/* Whether the kernel has it as an LSM. */
bool lsm_exists(const struct lsm_resolver *r, enum lsm_id id);
/* Fills the part "what the command line says". 0 or -ENOMEM, also the next. */
int lsm_read_cmdline(struct lsm_resolver *r, const char *cmdline);
/* Fills r->out from the decision. */
int lsm_account(struct lsm_resolver *r);
int lsm_warn(struct lsm_resolver *r, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Why one is in; `ordered`: of 5.1 or later; `behind_early`: others stand in front of it. */
const char *lsm_in_text(enum lsm_reason reason, bool ordered, bool behind_early);
/* Why one is out. `by`: lsm_version_text, the switch, the value of security=, the exclusive one that
 * came first; of a reason that is not among these the whole text. */
void lsm_out_text(enum lsm_reason reason, const char *by, char *buf, size_t size);
/* Since when it is none, or until when: "before 5.4". */
void lsm_version_text(enum lsm_id id, unsigned version, char *buf, size_t size);

/* Adds an entry to a list; NULL when memory ends. */
struct lsm_entry *lsm_list_add(struct lsm_list *l, const char *name, enum lsm_reason reason);
struct lsm_entry *lsm_list_find(struct lsm_list *l, const char *name);
/* "a,b" out of the entries that are in, into l->effective. 0 or -ENOMEM. */
int lsm_list_join(struct lsm_list *l);

#endif
