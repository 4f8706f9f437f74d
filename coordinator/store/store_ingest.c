/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Records: exactly once, in order, and whole or as a fault. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/str.h"
#include "coordinator/store/ingest.h"

int ingest_fault(struct ingest *in, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	kg_err_vset(&in->fault, 0, fmt, ap);
	va_end(ap);
	return INGEST_FAULT;
}

/* One clock for everything that is ordered in time: the coordinator's. A machine that has just been
 * reset may believe any date; how long things took is in run_ns and in the samples' own clock. */
int64_t ingest_ns(const struct ingest *in)
{
	return in->a->received_ns;
}

static int read_boot(struct ingest *in)
{
	static const char sql[] = "SELECT job, lease_epoch, last_seq, outcome IS NOT NULL,"
				  " machine = ?2 FROM boot WHERE id = ?1";
	sqlite3_stmt *st;
	int rc = db_select(in->db, &in->op->err, sql, &st, I(in->r->boot), T(in->a->machine));

	if (rc < 0)
		return rc;
	rc = db_step(in->db, st, &in->op->err);
	if (rc > 0) {
		in->boot.job = (uint64_t)sqlite3_column_int64(st, 0);
		in->boot.lease_epoch = (uint64_t)sqlite3_column_int64(st, 1);
		in->boot.last_seq = (uint64_t)sqlite3_column_int64(st, 2);
		in->boot.ended = sqlite3_column_int(st, 3) != 0;
		in->boot.ours = sqlite3_column_int(st, 4) != 0;
	}
	db_reset(st);
	return rc < 0 ? rc : 0;
}

int ingest_event(struct ingest *in, const char *kind, const char *text)
{
	struct store_event e = {.time_ns = ingest_ns(in),
				.machine = in->a->machine,
				.job = in->boot.job,
				.boot = in->r->boot,
				.kind = kind,
				.text = text};

	return event_insert(in->db, &in->op->err, &e);
}

/* ---- bodies: 0, INGEST_FAULT, or a store code ---- */

/* The record's attempt, which must be one of the record's boot. */
int ingest_attempt(struct ingest *in, struct attempt_row *ret)
{
	static const char sql[] =
		"SELECT attempt.boot = ?2, attempt.started_ns IS NOT NULL,"
		" attempt.outcome IS NOT NULL, coalesce(provenance.verified, 0)"
		" FROM attempt LEFT JOIN provenance ON provenance.boot = attempt.boot"
		" WHERE attempt.id = ?1";
	sqlite3_stmt *st;
	bool ours = false;
	int rc;

	if (!in->r->attempt)
		return ingest_fault(in, "it names no attempt");
	rc = db_select(in->db, &in->op->err, sql, &st, I(in->r->attempt), I(in->r->boot));
	if (rc < 0)
		return rc;
	rc = db_step(in->db, st, &in->op->err);
	if (rc > 0) {
		ours = sqlite3_column_int(st, 0) != 0;
		ret->started = sqlite3_column_int(st, 1) != 0;
		ret->ended = sqlite3_column_int(st, 2) != 0;
		ret->verified = sqlite3_column_int(st, 3) != 0;
	}
	db_reset(st);
	if (rc < 0)
		return rc;
	if (!ours)
		return ingest_fault(in, "attempt %llu is not one of this boot",
				    (unsigned long long)in->r->attempt);
	return 0;
}

static int body_stage(struct ingest *in, const Kgrid__V1__StageEntered *b)
{
	static const char *const stages[] = {"dispatch", "leave",    "fetch", "load",  "boot",
					     "verify",	 "settings", "pair",  "serve", "warm-up",
					     "run",	 "collect",  "upload"};
	struct kg_str text = {0};
	bool known = false;
	int rc;

	for (size_t i = 0; i < sizeof(stages) / sizeof(stages[0]); i++)
		known = known || kg_streq(b->stage, stages[i]);
	if (!known)
		return ingest_fault(in, "unknown stage '%.60s'", b->stage ? b->stage : "");
	kg_str_addf(&text, "%s%s%s", b->stage, b->detail && b->detail[0] ? ": " : "",
		    b->detail ? b->detail : "");
	rc = db_exec(in->db, &in->op->err, "UPDATE boot SET stage = ?2 WHERE id = ?1",
		     I(in->r->boot), T(b->stage));
	if (rc == 0)
		rc = ingest_event(in, "stage", kg_str_text(&text));
	kg_str_deinit(&text);
	return rc;
}

static int check_outcome(struct ingest *in, const char *name, enum kg_outcome *ret)
{
	*ret = name ? kg_outcome_parse(name) : KG_OUTCOME_NONE;
	if (*ret == KG_OUTCOME_NONE || kg_outcome_owner(*ret) == KG_OWNER_PLAN)
		return ingest_fault(in, "'%.60s' is not an outcome that an agent gives",
				    name ? name : "");
	return 0;
}

static int insert_evidence(struct ingest *in, const Kgrid__V1__BootEvidence *b, const char *facts)
{
	static const char sql[] =
		"INSERT OR IGNORE INTO provenance (boot, verified, nonce, cmdline, release,"
		" version, build_id, lsm, host_boot_id, previous_host_boot_id, cpu_vendor,"
		" cpu_name, microcode, hops, boot_method, tainted, facts)"
		" VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)";

	return db_exec(in->db, &in->op->err, sql, I(in->r->boot), I(b->verified ? 1 : 0),
		       T(b->nonce), T(b->cmdline), T(b->release), T(b->version), T(b->build_id),
		       T(b->lsm), T(b->host_boot_id), T(b->previous_host_boot_id), T(b->cpu_vendor),
		       T(b->cpu_name), T(b->microcode), b->has_hops ? I(b->hops) : NIL,
		       T(b->boot_method), b->has_tainted ? I(b->tainted) : NIL, T(facts));
}

static int body_evidence(struct ingest *in, const Kgrid__V1__BootEvidence *b)
{
	struct kg_str text = {0};
	enum kg_outcome outcome;
	int rc = 0;

	if (!b->verified)
		rc = check_outcome(in, b->outcome, &outcome);
	if (rc != 0)
		return rc;
	kg_str_add(&text, "{");
	for (size_t i = 0; i < b->n_facts; i++) {
		kg_str_add(&text, i ? "," : "");
		kg_str_add_json(&text, b->facts[i]->name ? b->facts[i]->name : "");
		kg_str_add(&text, ":");
		kg_str_add_json(&text, b->facts[i]->value ? b->facts[i]->value : "");
	}
	kg_str_add(&text, "}");
	rc = text.failed ? kg_err_set(&in->op->err, -ENOMEM, "out of memory")
			 : insert_evidence(in, b, text.text);
	kg_str_clear(&text);
	if (rc == 0 && !b->verified) {
		kg_str_addf(&text, "%s%s%s", b->outcome, b->reason ? ": " : "",
			    b->reason ? b->reason : "");
		rc = ingest_event(in, "evidence", kg_str_text(&text));
	}
	kg_str_deinit(&text);
	return rc;
}

static int add_metric(struct ingest *in, const Kgrid__V1__MetricInfo *m)
{
	int64_t id = 0;
	int rc;

	if (!m->has_id || !m->name || !m->name[0])
		return ingest_fault(in, "a metric has no number or no name");
	if (!kg_streq(m->direction, "higher") && !kg_streq(m->direction, "lower") &&
	    !kg_streq(m->direction, "none"))
		return ingest_fault(in, "metric '%.60s' has no direction", m->name);
	if (m->has_min_effect_pct && !(m->min_effect_pct > 0 && m->min_effect_pct <= 100))
		return ingest_fault(
			in, "metric '%.60s' has no smallest effect above 0 and up to 100 %%",
			m->name);
	rc = db_exec(in->db, &in->op->err,
		     "INSERT OR IGNORE INTO metric (name, unit, direction) VALUES (?, ?, ?)",
		     T(m->name), T(m->unit ? m->unit : ""), T(m->direction));
	if (rc == 0)
		rc = db_int(in->db, &in->op->err,
			    "SELECT id FROM metric WHERE name = ? AND unit = ? AND direction = ?",
			    &id, T(m->name), T(m->unit ? m->unit : ""), T(m->direction));
	if (rc < 0)
		return rc;
	rc = db_exec(in->db, &in->op->err,
		     "INSERT OR IGNORE INTO attempt_metric (attempt, local_id, metric,"
		     " min_effect_pct) VALUES (?, ?, ?, ?)",
		     I(in->r->attempt), I(m->id), I(id),
		     m->has_min_effect_pct ? D(m->min_effect_pct) : NIL);
	if (rc == 0 && db_changes(in->db) == 0)
		return ingest_fault(in, "metric number %u is given twice", m->id);
	return rc;
}

static int body_attempt_started(struct ingest *in, const Kgrid__V1__AttemptStarted *b)
{
	struct attempt_row at = {0};
	struct kg_str argv = {0};
	int rc = ingest_attempt(in, &at);

	if (rc != 0)
		return rc;
	if (!at.verified)
		return ingest_fault(in, "the boot is not verified");
	if (at.started || at.ended)
		return ingest_fault(in, "the attempt has %s already",
				    at.ended ? "ended" : "started");
	kg_str_add(&argv, "[");
	for (size_t i = 0; i < b->n_argv; i++) {
		kg_str_add(&argv, i ? "," : "");
		kg_str_add_json(&argv, b->argv[i]);
	}
	kg_str_add(&argv, "]");
	rc = argv.failed ? kg_err_set(&in->op->err, -ENOMEM, "out of memory")
			 : db_exec(in->db, &in->op->err,
				   "UPDATE attempt SET argv = ?2, started_ns = ?3 WHERE id = ?1",
				   I(in->r->attempt), T(argv.text), I(ingest_ns(in)));
	kg_str_deinit(&argv);
	for (size_t i = 0; rc == 0 && i < b->n_metrics; i++)
		rc = add_metric(in, b->metrics[i]);
	return rc;
}

/* Stored id of an attempt's metric number; the last answer is kept, as batches repeat it. */
static int find_metric(struct ingest *in, uint32_t local, uint32_t *last_local, int64_t *last_id)
{
	int64_t id = 0;
	int rc;

	if (*last_id && *last_local == local)
		return 0;
	rc = db_int(in->db, &in->op->err,
		    "SELECT metric FROM attempt_metric WHERE attempt = ? AND local_id = ?", &id,
		    I(in->r->attempt), I(local));
	if (rc < 0)
		return rc;
	if (!id)
		return ingest_fault(in, "metric number %u was not declared", local);
	*last_local = local;
	*last_id = id;
	return 0;
}

static int insert_samples(struct ingest *in, const Kgrid__V1__SampleBatch *b)
{
	static const char sql[] =
		"INSERT INTO sample (attempt, idx, metric, iteration, warmup, monotonic_ns, value)"
		" VALUES (?, ?, ?, ?, ?, ?, ?)";
	sqlite3_stmt *st;
	uint32_t local = 0;
	int64_t metric = 0, time_ns = 0;
	int rc = db_prepare(in->db, &in->op->err, sql, &st);

	for (size_t i = 0; rc == 0 && i < b->n_value; i++) {
		if (!isfinite(b->value[i]))
			rc = ingest_fault(in, "value %zu is not a number", i);
		else if (__builtin_add_overflow(time_ns, b->time_delta_ns[i], &time_ns) ||
			 time_ns < 0)
			rc = ingest_fault(in, "time %zu is out of range", i);
		else
			rc = find_metric(in, b->metric[i], &local, &metric);
		if (rc != 0)
			break;
		(void)sqlite3_bind_int64(st, 1, (int64_t)in->r->attempt);
		(void)sqlite3_bind_int64(st, 2, b->index[i]);
		(void)sqlite3_bind_int64(st, 3, metric);
		(void)sqlite3_bind_int64(st, 4, b->iteration[i]);
		(void)sqlite3_bind_int64(st, 5, b->warmup ? 1 : 0);
		(void)sqlite3_bind_int64(st, 6, time_ns);
		(void)sqlite3_bind_double(st, 7, b->value[i]);
		rc = db_step(in->db, st, &in->op->err);
		(void)sqlite3_reset(st);
		if (rc == KG_EINVALID)
			rc = ingest_fault(in, "sample number %u is there already", b->index[i]);
	}
	return rc;
}

static int body_samples(struct ingest *in, const Kgrid__V1__SampleBatch *b)
{
	struct attempt_row at = {0};
	int rc;

	if (b->n_index != b->n_value || b->n_metric != b->n_value || b->n_iteration != b->n_value ||
	    b->n_time_delta_ns != b->n_value)
		return ingest_fault(in, "columns of unequal length");
	rc = ingest_attempt(in, &at);
	if (rc != 0)
		return rc;
	if (!at.verified)
		return ingest_fault(in, "samples of a boot that is not verified");
	if (!at.started || at.ended)
		return ingest_fault(in, "samples %s the attempt's %s",
				    at.ended ? "after" : "before", at.ended ? "end" : "start");
	rc = insert_samples(in, b);
	if (rc != 0)
		return rc;
	in->samples = b->n_value;
	if (b->warmup)
		return 0;
	return db_exec(in->db, &in->op->err,
		       "UPDATE attempt SET samples = samples + ?2 WHERE id = ?1", I(in->r->attempt),
		       I(b->n_value));
}

static int body_log(struct ingest *in, const Kgrid__V1__LogChunk *b)
{
	static const char sql[] = "INSERT INTO log (boot, attempt, stream, data, dropped_bytes)"
				  " VALUES (?, ?, ?, ?, ?)";
	struct attempt_row at;
	int rc = 0;

	if (!b->stream || !kg_name_valid(b->stream))
		return ingest_fault(in, "a log without the name of a stream");
	if (in->r->attempt)
		rc = ingest_attempt(in, &at);
	if (rc != 0)
		return rc;
	return db_exec(in->db, &in->op->err, sql, I(in->r->boot), I0(in->r->attempt), T(b->stream),
		       B(b->data.data, b->has_data ? b->data.len : 0), I(b->dropped_bytes));
}

/* A run that passed must have all of its samples here. */
static int check_sample_count(struct ingest *in, const Kgrid__V1__AttemptEnded *b,
			      enum kg_outcome *outcome, struct kg_err *reason)
{
	static const char sql[] = "SELECT count(*), coalesce(sum(warmup), 0) FROM sample"
				  " WHERE attempt = ?";
	int64_t all = 0, warmup = 0;
	sqlite3_stmt *st;
	int rc;

	if (*outcome != KG_OUTCOME_PASS || !b->has_samples)
		return 0;
	rc = db_select(in->db, &in->op->err, sql, &st, I(in->r->attempt));
	if (rc < 0)
		return rc;
	rc = db_step(in->db, st, &in->op->err);
	if (rc > 0) {
		all = sqlite3_column_int64(st, 0);
		warmup = sqlite3_column_int64(st, 1);
	}
	db_reset(st);
	if (rc < 0)
		return rc;
	if ((int64_t)b->samples != all && (int64_t)b->samples != all - warmup) {
		*outcome = KG_OUTCOME_HARNESS_ERROR;
		kg_err_set(reason, 0, "the agent recorded %u samples, %lld are stored", b->samples,
			   (long long)(all - warmup));
	}
	return 0;
}

static int body_attempt_ended(struct ingest *in, const Kgrid__V1__AttemptEnded *b)
{
	static const char sql[] =
		"UPDATE attempt SET outcome = ?2, reason = ?3, exit_status = ?4, term_signal = ?5,"
		" run_ns = ?6, ended_ns = ?7 WHERE id = ?1";
	struct attempt_row at = {0};
	struct kg_err reason = {""};
	enum kg_outcome outcome;
	int rc = check_outcome(in, b->outcome, &outcome);

	if (rc == 0)
		rc = ingest_attempt(in, &at);
	if (rc != 0)
		return rc;
	if (at.ended)
		return ingest_fault(in, "the attempt has ended already");
	if (outcome == KG_OUTCOME_PASS && !at.started)
		return ingest_fault(in, "a pass without a start");
	rc = check_sample_count(in, b, &outcome, &reason);
	if (rc < 0)
		return rc;
	in->op->result.attempt_outcome = outcome;
	return db_exec(in->db, &in->op->err, sql, I(in->r->attempt), T(kg_outcome_name(outcome)),
		       T(reason.text[0] ? reason.text : b->reason),
		       b->has_exit_status ? I(b->exit_status) : NIL,
		       b->has_term_signal ? I(b->term_signal) : NIL,
		       b->has_run_ns ? I(b->run_ns) : NIL, I(ingest_ns(in)));
}

static int body_boot_ended(struct ingest *in, const Kgrid__V1__BootEnded *b)
{
	struct kg_str text = {0};
	enum kg_outcome outcome;
	int rc = check_outcome(in, b->outcome, &outcome);

	if (rc != 0)
		return rc;
	rc = db_exec(in->db, &in->op->err,
		     "UPDATE boot SET agent_outcome = ?2, agent_reason = ?3"
		     " WHERE id = ?1 AND agent_outcome IS NULL",
		     I(in->r->boot), T(b->outcome), T(b->reason));
	if (rc < 0)
		return rc;
	if (db_changes(in->db) == 0)
		return ingest_fault(in, "the boot has ended already");
	kg_str_addf(&text, "%s%s%s", b->outcome, b->reason && b->reason[0] ? ": " : "",
		    b->reason ? b->reason : "");
	rc = ingest_event(in, "boot-ended", kg_str_text(&text));
	kg_str_deinit(&text);
	return rc;
}

static int store_body(struct ingest *in)
{
	const Kgrid__V1__Record *r = in->r;

	switch (r->body_case) {
	case KGRID__V1__RECORD__BODY_STAGE:
		return body_stage(in, r->stage);
	case KGRID__V1__RECORD__BODY_EVIDENCE:
		return body_evidence(in, r->evidence);
	case KGRID__V1__RECORD__BODY_ATTEMPT_STARTED:
		return body_attempt_started(in, r->attempt_started);
	case KGRID__V1__RECORD__BODY_SAMPLES:
		return body_samples(in, r->samples);
	case KGRID__V1__RECORD__BODY_LOG:
		return body_log(in, r->log);
	case KGRID__V1__RECORD__BODY_ATTEMPT_ENDED:
		return body_attempt_ended(in, r->attempt_ended);
	case KGRID__V1__RECORD__BODY_BOOT_ENDED:
		return body_boot_ended(in, r->boot_ended);
	case KGRID__V1__RECORD__BODY_PROVENANCE:
		return ingest_provenance(in, r->provenance);
	case KGRID__V1__RECORD__BODY_DOCUMENT:
		return ingest_document(in, r->document);
	default:
		return ingest_fault(in, "it says nothing that this coordinator knows");
	}
}

/* ---- the record ---- */

static int keep_late(struct ingest *in)
{
	static const char sql[] =
		"INSERT OR IGNORE INTO late_record (boot, lease_epoch, seq, received_ns, record)"
		" VALUES (?, ?, ?, ?, ?)";
	size_t len = kgrid__v1__record__get_packed_size(in->r);
	uint8_t *bytes = malloc(len + 1);
	int rc;

	if (!bytes)
		return kg_err_set(&in->op->err, -ENOMEM, "out of memory");
	len = kgrid__v1__record__pack(in->r, bytes);
	rc = db_exec(in->db, &in->op->err, sql, I(in->r->boot), I(in->r->lease_epoch),
		     I(in->r->seq), I(in->a->received_ns), B(bytes, len));
	free(bytes);
	return rc;
}

/* Where the record stands in its boot's stream. */
static enum store_ingest judge(const struct ingest *in, bool *ret_keep)
{
	const struct boot_row *b = &in->boot;

	*ret_keep = b->ours;
	if (!b->ours || in->r->lease_epoch != b->lease_epoch)
		return STORE_INGEST_FENCED;
	if (in->r->seq <= b->last_seq)
		return STORE_INGEST_DUPLICATE;
	if (b->ended) /* before the gap: what is evidence does not move last_seq */
		return STORE_INGEST_FENCED;
	return in->r->seq > b->last_seq + 1 ? STORE_INGEST_GAP : STORE_INGEST_COMMITTED;
}

static int commit_record(struct ingest *in)
{
	struct store_result *res = &in->op->result;
	int rc = store_body(in);

	if (rc == INGEST_FAULT) {
		struct kg_err text = in->fault;

		kg_err_wrap(&text, 0, "record %llu is malformed", (unsigned long long)in->r->seq);
		in->samples = 0;
		res->attempt_outcome = KG_OUTCOME_NONE;
		res->fault = true;
		rc = op_rollback(in->s, &in->op->err);
		if (rc == 0 && in->r->body_case == KGRID__V1__RECORD__BODY_DOCUMENT)
			rc = ingest_document_drop(in, in->r->document);
		if (rc == 0)
			rc = ingest_event(in, "fault", text.text);
		if (rc == 0)
			in->op->err = in->fault; /* for the log */
	}
	if (rc == 0)
		rc = db_exec(in->db, &in->op->err, "UPDATE boot SET last_seq = ?2 WHERE id = ?1",
			     I(in->r->boot), I(in->r->seq));
	if (rc < 0)
		return rc;
	res->last_seq = in->r->seq;
	store_count_samples(in->s, in->samples);
	return 0;
}

static int run_ingest(struct store *s, struct op *op)
{
	const struct ingest_args *a = op->args;
	struct ingest in = {.s = s, .db = store_db(s), .op = op, .a = a, .r = a->r};
	bool keep = false;
	int rc = read_boot(&in);

	if (rc < 0)
		return rc;
	op->result.ingest = judge(&in, &keep);
	op->result.last_seq = in.boot.ours ? in.boot.last_seq : 0;
	if (op->result.ingest == STORE_INGEST_COMMITTED)
		return commit_record(&in);
	if (op->result.ingest == STORE_INGEST_FENCED && keep)
		return keep_late(&in);
	return 0;
}

int store_ingest(struct store *s, const char *machine, const Kgrid__V1__Record *r,
		 int64_t received_ns, struct store_done done)
{
	struct ingest_args a = {machine, r, received_ns};
	struct op *op = op_new(run_ingest, &a, sizeof(a), done);
	struct ingest_args *copy = op ? op->args : NULL;

	if (copy) {
		op->bulk = true;
		if (r->body_case == KGRID__V1__RECORD__BODY_SAMPLES)
			op->weight += r->samples->n_value;
		copy->machine = arena_text(&op->arena, machine);
		copy->r = arena_message(&op->arena, &r->base);
	}
	return op_queue(s, op);
}
