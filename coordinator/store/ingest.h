/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Inside of the store's writing side: one record on its way in. Writer thread only. */
#ifndef KG_COORDINATOR_STORE_INGEST_H
#define KG_COORDINATOR_STORE_INGEST_H

#include "coordinator/store/op.h"

#define INGEST_FAULT 1 /* the content is malformed: in->fault says how */

struct ingest_args {
	const char *machine;
	const Kgrid__V1__Record *r;
	int64_t received_ns;
};

struct boot_row {
	uint64_t job;
	uint64_t lease_epoch;
	uint64_t last_seq;
	bool ours; /* known, and of the session's machine */
	bool ended;
};

struct attempt_row {
	bool started;
	bool ended;
	bool verified; /* its boot is */
};

struct ingest {
	struct store *s;
	struct db *db;
	struct op *op;
	const struct ingest_args *a;
	const Kgrid__V1__Record *r;
	struct boot_row boot;
	size_t samples;
	struct kg_err fault;
};

/* Returns INGEST_FAULT. */
int ingest_fault(struct ingest *in, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* When the record came, by the coordinator's clock. */
int64_t ingest_ns(const struct ingest *in);
/* An event of the record's boot. */
int ingest_event(struct ingest *in, const char *kind, const char *text);
/* The record's attempt, which must be one of the record's boot: 0, INGEST_FAULT or a code. */
int ingest_attempt(struct ingest *in, struct attempt_row *ret);

/* Bodies: 0, INGEST_FAULT or a store code. */
int ingest_provenance(struct ingest *in, const Kgrid__V1__Provenance *b);
int ingest_document(struct ingest *in, const Kgrid__V1__Document *b);
/* A piece was wrong: what came before it goes too. */
int ingest_document_drop(struct ingest *in, const Kgrid__V1__Document *b);

#endif
