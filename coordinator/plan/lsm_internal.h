/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Between the files of the LSM model only. */
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

/* The name that was probably meant, or NULL. */
const char *lsm_suggest(const char *name);

#endif
