/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The database file: whose it is, which version it has, and how it gets to ours. Migrations are the
 * numbered files of schema/, embedded at build. Each runs in one transaction together with the
 * version number, with foreign keys off and checked before the commit.
 */
#ifndef KG_COORDINATOR_STORE_MIGRATE_H
#define KG_COORDINATOR_STORE_MIGRATE_H

#include <stddef.h>

#include "common/err.h"

struct db;

#define STORE_APPLICATION_ID 0x6b677264 /* "kgrd" */

struct store_migration {
	int version; /* after it */
	const char *name;
	const char *sql;
};

extern const struct store_migration store_migrations[]; /* generated */
extern const size_t store_n_migrations;

/* Checks and migrates an open database; `path` names its file, for the backup PATH.v<N>.backup that
 * is made before a database that holds something is changed. KG_EVERSION, KG_EINVALID or a store
 * code. A failed migration leaves the database as it was. */
int store_migrate(struct db *db, const char *path, const struct store_migration *m, size_t n,
		  struct kg_err *err);

#endif
