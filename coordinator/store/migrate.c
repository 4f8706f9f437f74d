/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "coordinator/store/migrate.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "common/fault.h"
#include "common/file.h"
#include "coordinator/store/db.h"

static int read_identity(struct db *db, const char *path, int64_t *ret_version, bool *ret_empty,
			 struct kg_err *err)
{
	int64_t tables = 0, app = 0, version = 0;
	int rc;

	rc = db_int(db, err, "SELECT count(*) FROM sqlite_schema", &tables, NIL);
	if (rc >= 0)
		rc = db_int(db, err, "PRAGMA application_id", &app, NIL);
	if (rc >= 0)
		rc = db_int(db, err, "PRAGMA user_version", &version, NIL);
	if (rc == KG_EINVALID)
		return kg_err_set(err, rc, "'%s' is not a kgrid database", path);
	if (rc < 0)
		return rc;
	*ret_empty = tables == 0 && app == 0 && version == 0;
	if (!*ret_empty && app != STORE_APPLICATION_ID)
		return kg_err_set(err, KG_EINVALID,
				  "'%s' is a database of another program, not of kgrid", path);
	*ret_version = version;
	return 0;
}

/* Whole or not there: made under another name, then renamed. */
static int backup(struct db *db, const char *path, int64_t version, struct kg_err *err)
{
	char *name = NULL, *part = NULL;
	int rc;

	if (asprintf(&name, "%s.v%lld.backup", path, (long long)version) < 0)
		return -ENOMEM;
	if (asprintf(&part, "%s.part", name) < 0) {
		free(name);
		return -ENOMEM;
	}
	(void)unlink(part);
	rc = db_exec(db, err, "VACUUM INTO ?", T(part));
	if (rc == 0 && rename(part, name) < 0)
		rc = kg_err_errno(err, "cannot rename", part);
	if (rc == 0)
		rc = kg_fsync_dir_of(name, err);
	if (rc < 0) {
		(void)unlink(part);
		rc = kg_err_wrap(err, rc, "cannot make the backup '%s'", name);
	}
	free(part);
	free(name);
	return rc;
}

static int check_references(struct db *db, struct kg_err *err)
{
	sqlite3_stmt *st;
	int rc = db_select(db, err, "PRAGMA foreign_key_check", &st, NIL);

	if (rc < 0)
		return rc;
	rc = db_step(db, st, err);
	if (rc > 0)
		rc = kg_err_set(err, KG_ECORRUPT, "a row of '%s' refers to nothing in '%s'",
				db_col_text_or(st, 0, "?"), db_col_text_or(st, 2, "?"));
	db_reset(st);
	return rc;
}

static int apply(struct db *db, const struct store_migration *m, struct kg_err *err)
{
	char ids[128];
	int rc = db_script(db, err, "BEGIN EXCLUSIVE");

	if (rc < 0)
		return rc;
	(void)snprintf(ids, sizeof(ids), "PRAGMA application_id = %d; PRAGMA user_version = %d",
		       STORE_APPLICATION_ID, m->version);
	rc = db_script(db, err, m->sql);
	if (rc == 0)
		rc = check_references(db, err);
	if (rc == 0)
		rc = db_script(db, err, ids);
	KG_FAULT(MIGRATE);
	if (rc == 0)
		rc = db_script(db, err, "COMMIT");
	if (rc < 0 && !sqlite3_get_autocommit(db->h))
		(void)db_script(db, NULL, "ROLLBACK");
	return rc < 0 ? kg_err_wrap(err, rc, "migration '%s'", m->name) : 0;
}

int store_migrate(struct db *db, const char *path, const struct store_migration *m, size_t n,
		  struct kg_err *err)
{
	int64_t version = 0;
	bool empty = false;
	int newest = n ? m[n - 1].version : 0;
	int rc = read_identity(db, path, &version, &empty, err);

	if (rc < 0)
		return rc;
	if (version > newest)
		return kg_err_set(err, KG_EVERSION,
				  "database is version %lld, this kgrid knows up to %d; a newer "
				  "kgrid made it, use that one",
				  (long long)version, newest);
	if (version == newest)
		return 0;
	rc = db_script(db, err, "PRAGMA foreign_keys = OFF");
	if (rc == 0 && !empty)
		rc = backup(db, path, version, err);
	for (size_t i = 0; rc == 0 && i < n; i++) {
		if (m[i].version > version)
			rc = apply(db, &m[i], err);
	}
	return rc;
}
