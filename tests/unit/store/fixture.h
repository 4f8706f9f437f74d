/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A store in a temporary directory, operations that wait for their answer, a small plan, records. */
#ifndef KG_TESTS_STORE_FIXTURE_H
#define KG_TESTS_STORE_FIXTURE_H

#include "tests/lib/cmocka_all.h"

#include "coordinator/store/query.h"
#include "coordinator/store/store.h"

#define MACHINE	 "m1"
#define KERNEL_A "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
#define KERNEL_B "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"
#define EPOCH	 7

struct fixture {
	char dir[64];
	char path[128];
	struct store *s;
	struct query *q;
};

/* The answer of an operation, kept. */
struct answer {
	int n; /* times it came */
	struct store_result r;
	char text[KG_ERR_TEXT_MAX];
};

void fixture_init(struct fixture *f);
void fixture_open(struct fixture *f);  /* store with its thread, and readers */
void fixture_close(struct fixture *f); /* only the two */
void fixture_deinit(struct fixture *f);

/* The file through sqlite3 itself: text of one value, "" for NULL or no row. */
const char *fixture_sql(struct fixture *f, const char *sql);
long long fixture_int(struct fixture *f, const char *sql);

struct store_done answer_done(struct answer *a);
/* Waits until `a` has come. */
void answer_wait(struct fixture *f, struct answer *a);
/* op(s, ..., done) that must be queued; then waits. Gives the code. */
#define RUN(f, a, call)                                                                    \
	(memset((a), 0, sizeof(*(a))), assert_int_equal((call), 0), answer_wait((f), (a)), \
	 (a)->r.rc)

/* Two kernels, machine m1, a job of 2 kernels x 1 lsm x 1 workload x 2 sizes in `blocks` blocks. */
void fixture_kernels(struct fixture *f);
uint64_t fixture_job(struct fixture *f, unsigned blocks, struct answer *ret);
/* Boot `id` with attempts numbered from id * 100, one per slot. */
int fixture_boot(struct fixture *f, uint64_t id, uint64_t job, const uint64_t *slots, size_t n);

/* The same on any machine, with any kernel and list, started at any time. */
struct fixture_where {
	const char *machine, *kernel, *lsm_effective, *cmdline; /* NULL: as fixture_boot has them */
	uint32_t block;
	int64_t started_ns;
	const char *role, *peer, *settings;
	uint64_t pair;
};
int fixture_boot_at(struct fixture *f, uint64_t id, uint64_t job, const struct fixture_where *w,
		    const uint64_t *slots, size_t n);
/* Ends it as passed, every slot by its attempt (id * 100 + i); further slots stay. */
void fixture_boot_pass(struct fixture *f, uint64_t id, const uint64_t *slots, size_t n);

/* Ingests and waits. */
int ingest(struct fixture *f, struct answer *a, Kgrid__V1__Record *r);
int ingest_from(struct fixture *f, struct answer *a, const char *machine, Kgrid__V1__Record *r);
/* Committed without a fault. */
void must_ingest(struct fixture *f, const char *machine, Kgrid__V1__Record r);
/* Records: a header that the caller may change, and bodies in static storage. */
Kgrid__V1__Record record(uint64_t boot, uint64_t seq, uint64_t attempt);
Kgrid__V1__Record record_evidence(uint64_t boot, uint64_t seq, int verified);
Kgrid__V1__Record record_started(uint64_t boot, uint64_t seq, uint64_t attempt);
/* n samples with value base + i; metric 0 is of direction higher, unit op/s. */
Kgrid__V1__Record record_samples(uint64_t boot, uint64_t seq, uint64_t attempt, uint32_t first,
				 uint32_t n, double base);
Kgrid__V1__Record record_ended(uint64_t boot, uint64_t seq, uint64_t attempt, const char *outcome,
			       uint32_t samples);

/* "name", "value" (NULL: unsupported) and so on, ended by a NULL name; at most 64 facts. */
Kgrid__V1__Record record_provenance(uint64_t boot, uint64_t seq, uint64_t attempt,
				    const char *phase, const char *const *facts);
/* A whole document in one piece, compressed, of at most 200 kB as such. */
Kgrid__V1__Record record_document(uint64_t boot, uint64_t seq, const char *name, const char *text);

/* slots = sum of outcomes + pending */
void check_accounting(struct fixture *f, uint64_t job, uint64_t slots);

#endif
