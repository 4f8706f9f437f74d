/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Standing jobs, machines out of service, and questions about one job, cell or machine. */
#include "plans.h"

#include <stdio.h>
#include <string.h>

static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	fixture_init(f);
	fixture_open(f);
	fixture_kernels(f);
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	fixture_deinit(*state);
	free(*state);
	return 0;
}

/* ---- standing jobs ---- */

static const struct store_file two_files[] = {{"a.yaml", "x: 1\n"}, {"b.yaml", "y: 2\n"}};

static struct store_standing nightly(void)
{
	return (struct store_standing){.name = "nightly-lsm",
				       .user = "alice",
				       .text = "when: nightly\n",
				       .file_name = "n.yaml",
				       .files = two_files,
				       .n_files = 2,
				       .when = "nightly",
				       .minute = 120,
				       .next_ns = 5000};
}

static int add(struct fixture *f, const struct store_standing *x, struct answer *a)
{
	return RUN(f, a, store_standing_add(f->s, x, 77, answer_done(a)));
}

static struct store_standings *standings(struct fixture *f)
{
	struct store_standings *s = NULL;
	struct kg_err err = {""};

	if (query_standing(f->q, &s, &err) < 0)
		fail_msg("%s", err.text);
	return s;
}

static void test_a_standing_job_comes_back(void **state)
{
	struct fixture *f = *state;
	struct store_standing x = nightly();
	struct store_standings *s;
	struct answer a;

	assert_int_equal(add(f, &x, &a), 0);
	assert_int_equal(a.r.id, 1);
	assert_false(a.r.existed);
	fixture_close(f);
	fixture_open(f);
	s = standings(f);
	assert_int_equal(s->n, 1);
	assert_string_equal(s->items[0].name, "nightly-lsm");
	assert_string_equal(s->items[0].user, "alice");
	assert_string_equal(s->items[0].when, "nightly");
	assert_int_equal(s->items[0].minute, 120);
	assert_int_equal(s->items[0].next_ns, 5000);
	assert_int_equal(s->items[0].added_ns, 77);
	assert_int_equal(s->items[0].last_job, 0);
	assert_null(s->items[0].last_error);
	assert_int_equal(s->items[0].n_files, 2);
	assert_string_equal(s->items[0].files[1].text, "y: 2\n");
	store_standings_free(s);
}

static void test_the_same_again_exists_and_any_difference_is_another(void **state)
{
	static const struct store_file other[] = {{"a.yaml", "x: 1\n"}, {"b.yaml", "y: 3\n"}};
	struct fixture *f = *state;
	struct store_standing x = nightly();
	struct answer a;

	assert_int_equal(add(f, &x, &a), 0);
	assert_int_equal(add(f, &x, &a), 0);
	assert_true(a.r.existed);
	assert_int_equal(a.r.id, 1);
	x.files = other;
	assert_int_equal(add(f, &x, &a), 0);
	assert_int_equal(a.r.id, 2);
	x.n_files = 1;
	assert_int_equal(add(f, &x, &a), 0);
	assert_int_equal(a.r.id, 3);
	x.n_files = 0;
	assert_int_equal(add(f, &x, &a), 0);
	assert_int_equal(a.r.id, 4);
	x.user = "bob";
	assert_int_equal(add(f, &x, &a), 0);
	assert_int_equal(a.r.id, 5);
	x.text = "when: nightly # \n";
	assert_int_equal(add(f, &x, &a), 0);
	assert_int_equal(a.r.id, 6);
	assert_int_equal(add(f, &x, &a), 0);
	assert_int_equal(a.r.id, 6); /* found though others are alike */
	assert_int_equal(fixture_int(f, "SELECT count(*) FROM standing"), 6);
}

static void test_what_is_never_due_is_refused(void **state)
{
	struct fixture *f = *state;
	struct store_standing x = nightly();
	struct answer a;

	x.when = "weekly";
	assert_int_equal(add(f, &x, &a), KG_EINVALID);
	assert_string_equal(a.text, "a standing job is due 'kernel added' or 'nightly', not "
				    "'weekly'");
	x.when = NULL;
	assert_int_equal(add(f, &x, &a), KG_EINVALID);
	x.when = "kernel added";
	assert_int_equal(add(f, &x, &a), 0);
}

static void test_removing_takes_the_files_and_leaves_the_jobs(void **state)
{
	struct fixture *f = *state;
	struct store_standing x = nightly();
	struct answer a;

	assert_int_equal(add(f, &x, &a), 0);
	fixture_job(f, 1, &a);
	assert_int_equal(RUN(f, &a, store_standing_ran(f->s, 1, 1, NULL, 9000, answer_done(&a))),
			 0);
	assert_int_equal(RUN(f, &a, store_standing_remove(f->s, 1, 80, answer_done(&a))), 0);
	assert_int_equal(fixture_int(f, "SELECT count(*) FROM standing_file"), 0);
	assert_int_equal(fixture_int(f, "SELECT count(*) FROM job"), 1);
	assert_string_equal(fixture_sql(f, "SELECT text FROM event WHERE kind = 'standing'"),
			    "1 'nightly-lsm': removed");
	assert_int_equal(RUN(f, &a, store_standing_remove(f->s, 1, 81, answer_done(&a))),
			 KG_ENOTFOUND);
	assert_int_equal(add(f, &x, &a), 0);
	assert_int_equal(a.r.id, 2); /* numbers are not given twice: jobs name them */
}

static void test_what_it_made_or_why_not_is_kept(void **state)
{
	struct fixture *f = *state;
	struct store_standing x = nightly();
	struct store_standings *s;
	struct answer a;

	assert_int_equal(add(f, &x, &a), 0);
	fixture_job(f, 1, &a);
	assert_int_equal(RUN(f, &a, store_standing_ran(f->s, 1, 1, NULL, 9000, answer_done(&a))),
			 0);
	assert_int_equal(
		RUN(f, &a,
		    store_standing_ran(f->s, 1, 0, "no machine fits", 9500, answer_done(&a))),
		0);
	s = standings(f);
	assert_int_equal(s->items[0].last_job, 1);
	assert_string_equal(s->items[0].last_error, "no machine fits");
	assert_int_equal(s->items[0].next_ns, 9500);
	store_standings_free(s);
	assert_int_equal(RUN(f, &a, store_standing_ran(f->s, 1, 44, NULL, 1, answer_done(&a))),
			 KG_EINVALID);
	assert_int_equal(RUN(f, &a, store_standing_ran(f->s, 2, 1, NULL, 1, answer_done(&a))),
			 KG_ENOTFOUND);
	assert_int_equal(RUN(f, &a, store_standing_ran(f->s, 1, 1, NULL, 0, answer_done(&a))), 0);
	s = standings(f);
	assert_null(s->items[0].last_error);
	store_standings_free(s);
}

/* ---- service ---- */

static int service(struct fixture *f, struct store_service x, struct answer *a)
{
	if (!x.machine)
		x.machine = MACHINE;
	x.now_ns = 60;
	return RUN(f, a, store_machine_service(f->s, &x, answer_done(a)));
}

static const char *last_event(struct fixture *f)
{
	return fixture_sql(f, "SELECT text FROM event WHERE kind = 'machine'"
			      " ORDER BY id DESC LIMIT 1");
}

static void test_service_and_reservation_are_kept_apart_and_shown(void **state)
{
	struct fixture *f = *state;
	struct store_snapshot *s = NULL;
	Kgrid__V1__MachineReply *m = NULL;
	struct kg_err err = {""};
	struct answer a;

	assert_int_equal(service(f,
				 (struct store_service){
					 .service = "drain", .why = "new DIMM", .user = "bob"},
				 &a),
			 0);
	assert_string_equal(last_event(f), "drain: new DIMM (bob)");
	assert_int_equal(service(f,
				 (struct store_service){.set_reserved = true,
							.reserved_by = "alice",
							.reserved_why = "bisect",
							.reserved_until_ns = 3600 * SECOND},
				 &a),
			 0);
	assert_string_equal(last_event(f), "reserved for alice until 1970-01-01 01:00 UTC: bisect");
	assert_int_equal(query_snapshot(f->q, &s, &err), 0);
	assert_string_equal(s->machines[0].service, "drain");
	assert_string_equal(s->machines[0].service_why, "new DIMM");
	assert_string_equal(s->machines[0].reserved_by, "alice");
	assert_string_equal(s->machines[0].reserved_why, "bisect");
	assert_true(s->machines[0].reserved_until_ns == 3600 * SECOND);
	store_snapshot_free(s);
	assert_int_equal(query_machine(f->q, MACHINE, &m, &err), 0);
	assert_string_equal(m->machine->service, "drain");
	assert_string_equal(m->machine->service_why, "new DIMM");
	assert_string_equal(m->machine->reserved_by, "alice");
	assert_true(m->machine->reserved_until_ns == 3600 * SECOND);
	kgrid__v1__machine_reply__free_unpacked(m, NULL);
	assert_int_equal(service(f, (struct store_service){.service = "normal", .why = "x"}, &a),
			 0);
	assert_int_equal(service(f, (struct store_service){.set_reserved = true}, &a), 0);
	assert_string_equal(last_event(f), "no longer reserved");
	assert_int_equal(query_snapshot(f->q, &s, &err), 0);
	assert_string_equal(s->machines[0].service, "normal");
	assert_null(s->machines[0].service_why);
	assert_null(s->machines[0].reserved_by);
	assert_int_equal(s->machines[0].reserved_until_ns, 0);
	store_snapshot_free(s);
}

/* Asked again, nothing changes and nothing is told of it. */
static void test_what_is_so_already_is_no_event(void **state)
{
	static const char events[] = "SELECT count(*) FROM event WHERE kind = 'machine'";
	static const struct store_service drained = {.service = "drain", .why = "new DIMM"};
	struct fixture *f = *state;
	struct answer a;

	assert_int_equal(service(f, (struct store_service){.service = "normal"}, &a), 0);
	assert_true(a.r.existed);
	assert_int_equal(service(f, (struct store_service){.set_reserved = true}, &a), 0);
	assert_true(a.r.existed);
	assert_int_equal(fixture_int(f, events), 0);
	assert_int_equal(service(f, drained, &a), 0);
	assert_false(a.r.existed);
	assert_int_equal(service(f, drained, &a), 0);
	assert_true(a.r.existed);
	/* the reason that was given stays */
	assert_int_equal(service(f, (struct store_service){.service = "drain"}, &a), 0);
	assert_true(a.r.existed);
	assert_string_equal(fixture_sql(f, "SELECT service_why FROM machine"), "new DIMM");
	assert_int_equal(fixture_int(f, events), 1);
	assert_int_equal(
		service(f, (struct store_service){.service = "drain", .why = "new board"}, &a), 0);
	assert_false(a.r.existed);
	assert_string_equal(last_event(f), "drain: new board");
	/* over at 50, and it is 60 */
	assert_int_equal(service(f,
				 (struct store_service){.set_reserved = true,
							.reserved_by = "alice",
							.reserved_until_ns = 50},
				 &a),
			 0);
	assert_int_equal(service(f, (struct store_service){.set_reserved = true}, &a), 0);
	assert_true(a.r.existed);
	assert_int_equal(fixture_int(f, events), 3);
}

static void test_what_a_machine_reports_leaves_its_service(void **state)
{
	struct fixture *f = *state;
	struct store_machine m = {.name = MACHINE, .last_seen_ns = 99};
	struct answer a;

	assert_int_equal(service(f, (struct store_service){.service = "maintenance"}, &a), 0);
	assert_int_equal(RUN(f, &a, store_machine_upsert(f->s, &m, answer_done(&a))), 0);
	assert_string_equal(fixture_sql(f, "SELECT service FROM machine"), "maintenance");
}

static void test_unknown_machines_and_words_are_refused(void **state)
{
	struct fixture *f = *state;
	struct answer a;

	assert_int_equal(service(f, (struct store_service){.machine = "m9", .service = "drain"},
				 &a),
			 KG_ENOTFOUND);
	assert_int_equal(service(f, (struct store_service){.service = "broken"}, &a), KG_EINVALID);
	assert_string_equal(a.text, "unknown service 'broken': normal, drain or maintenance");
	assert_int_equal(service(f, (struct store_service){.why = "nothing"}, &a), 0);
	assert_int_equal(fixture_int(f, "SELECT count(*) FROM event"), 0);
}

static void test_a_machine_shows_what_it_is(void **state)
{
	struct fixture *f = *state;
	Kgrid__V1__MachineFacts facts = KGRID__V1__MACHINE_FACTS__INIT;
	struct store_machine m = {.name = MACHINE, .facts = &facts, .last_seen_ns = 99};
	Kgrid__V1__MachinesReply *r = NULL;
	struct kg_err err = {""};
	struct answer a;

	facts.cpu_vendor = (char *)(uintptr_t) "AuthenticAMD";
	facts.has_cpu_family = facts.has_cpu_model = facts.has_cpu_stepping = 1;
	facts.cpu_family = 25;
	facts.cpu_model = 1;
	facts.cpu_stepping = 1;
	facts.has_sockets = facts.has_numa_nodes = 1;
	facts.sockets = 2;
	facts.numa_nodes = 8;
	facts.address = (char *)(uintptr_t) "10.0.0.7";
	assert_int_equal(RUN(f, &a, store_machine_upsert(f->s, &m, answer_done(&a))), 0);
	assert_int_equal(query_machines(f->q, &r, &err), 0);
	assert_string_equal(r->machines[0]->microarchitecture, "Zen3");
	assert_int_equal(r->machines[0]->sockets, 2);
	assert_int_equal(r->machines[0]->numa_nodes, 8);
	assert_string_equal(r->machines[0]->address, "10.0.0.7");
	assert_string_equal(r->machines[0]->service, "normal");
	assert_null(r->machines[0]->reserved_by);
	assert_false(r->machines[0]->has_reserved_until_ns);
	kgrid__v1__machines_reply__free_unpacked(r, NULL);
}

/* ---- a job by its name ---- */

static uint64_t named_job(struct fixture *f, const char *name)
{
	struct plan_job p;
	struct answer a;

	plan_init(&p, name);
	(void)plan_cell(&p, false);
	plan_slots(&p, 1);
	return plan_insert(f, &p, &a);
}

static int find(struct fixture *f, const char *selector, uint64_t *ret, struct kg_err *err)
{
	return query_job_find(f->q, selector, ret, err);
}

static void test_a_name_finds_the_newest_job_that_is_not_over(void **state)
{
	struct fixture *f = *state;
	struct kg_err err = {""};
	uint64_t job = 0;

	(void)named_job(f, "base");
	(void)named_job(f, "base");
	(void)named_job(f, "base");
	(void)named_job(f, "2");
	(void)fixture_sql(f, "UPDATE job SET state = 'done' WHERE id = 3");
	assert_int_equal(find(f, "base", &job, &err), 0);
	assert_int_equal(job, 2);
	assert_int_equal(find(f, "2", &job, &err), 0);
	assert_int_equal(job, 4); /* a name before a number */
	assert_int_equal(find(f, "3", &job, &err), 0);
	assert_int_equal(job, 3); /* by number it may be over */
	(void)fixture_sql(f, "UPDATE job SET state = 'cancelled'");
	assert_int_equal(find(f, "base", &job, &err), KG_ENOTFOUND);
	assert_string_equal(err.text, "no job 'base' that is not over; job 3 is cancelled");
	assert_int_equal(find(f, "Base", &job, &err), KG_ENOTFOUND);
	assert_int_equal(find(f, "99", &job, &err), KG_ENOTFOUND);
	assert_int_equal(find(f, "0", &job, &err), KG_ENOTFOUND);
	assert_int_equal(find(f, "", &job, &err), KG_ENOTFOUND);
	assert_int_equal(find(f, "18446744073709551615", &job, &err), KG_ENOTFOUND);
	assert_int_equal(find(f, NULL, &job, &err), KG_ENOTFOUND);
	assert_int_equal(job, 3);
}

/* ---- a cell ---- */

static void test_a_cell_comes_with_what_reproducing_needs(void **state)
{
	static const struct store_file files[] = {{"base.yaml", "x: 1\n"}};
	struct fixture *f = *state;
	Kgrid__V1__MachineFacts facts = KGRID__V1__MACHINE_FACTS__INIT;
	struct store_machine m = {.name = MACHINE, .facts = &facts, .last_seen_ns = 99};
	struct store_cell_detail *d = NULL;
	struct kg_err err = {""};
	struct plan_job p;
	struct answer a;

	facts.base_cmdline = (char *)(uintptr_t) "console=ttyS0";
	assert_int_equal(RUN(f, &a, store_machine_upsert(f->s, &m, answer_done(&a))), 0);
	(void)named_job(f, "first");
	plan_init(&p, "cells");
	(void)plan_cell(&p, false);
	plan_cell(&p, true)->settings = "thp=never";
	p.job.files = files;
	p.job.n_files = 1;
	plan_slots(&p, 2);
	(void)plan_insert(f, &p, &a);
	plan_boot(f, 1, 2, &(struct fixture_where){.kernel = KERNEL_B, .started_ns = 1},
		  (uint64_t[]){3}, (double[]){100}, 1);
	assert_int_equal(query_cell(f->q, 0, 2, &d, &err), 0);
	assert_int_equal(d->job, 2);
	assert_string_equal(d->job_name, "cells");
	assert_string_equal(d->cell.kernel_label, "new");
	assert_string_equal(d->cell.settings, "thp=never");
	assert_string_equal(d->kernel_release, "6.12.0");
	assert_string_equal(d->config_lsm, "apparmor");
	assert_string_equal(d->base_cmdline, "console=ttyS0");
	assert_string_equal(d->argv, "[\"netperf\",\"-l\"]");
	assert_int_equal(d->n_files, 1);
	assert_int_equal(d->n_slots, 2);
	assert_int_equal(d->slots[0].outcome, KG_OUTCOME_PASS);
	assert_int_equal(d->slots[1].outcome, KG_OUTCOME_NONE);
	assert_int_equal(d->slot_ids[0], 3);
	assert_int_equal(d->slot_ids[1], 5);
	store_cell_detail_free(d);
	assert_int_equal(query_cell(f->q, 2, 1, &d, &err), 0);
	assert_null(d->argv);
	store_cell_detail_free(d);
	assert_int_equal(query_cell(f->q, 2, 3, &d, &err), KG_ENOTFOUND);
	assert_string_equal(err.text, "job 2 has no cell 3, it has 1 to 2");
	assert_int_equal(query_cell(f->q, 2, 0, &d, &err), KG_ENOTFOUND);
	assert_int_equal(query_cell(f->q, 7, 1, &d, &err), KG_ENOTFOUND);
	store_cell_detail_free(NULL);
}

/* ---- why ---- */

static const char *joined(struct kg_texts *t)
{
	static char text[4096];
	size_t n = 0;

	text[0] = '\0';
	for (size_t i = 0; i < t->n; i++)
		n += (size_t)snprintf(text + n, sizeof(text) - n, "%s\n", t->items[i]);
	kg_texts_deinit(t);
	return text;
}

/* Cell 1 of one job fails once and is tried again, cell 2 is infeasible. */
static void run_badly(struct fixture *f)
{
	struct store_settle st = {
		.slot = 1, .outcome = KG_OUTCOME_NONE, .reason = "power lost", .count_try = true};
	struct store_boot_end e = {.boot = 1,
				   .outcome = KG_OUTCOME_INFRA,
				   .reason = "power lost",
				   .settles = &st,
				   .n_settles = 1,
				   .now_ns = SECOND};
	struct plan_job p;
	struct answer a;

	plan_init(&p, "bad");
	plan_cell(&p, false)->variant = "mitigations=off";
	(void)plan_cell(&p, true);
	plan_slots(&p, 1);
	p.slots[1].outcome = KG_OUTCOME_INFEASIBLE;
	p.slots[1].reason = "netperf is not installed";
	(void)plan_insert(f, &p, &a);
	assert_int_equal(fixture_boot(f, 1, 1, (uint64_t[]){1}, 1), 0);
	assert_int_equal(RUN(f, &a, store_boot_end(f->s, &e, answer_done(&a))), 0);
	plan_boot(f, 2, 1, &(struct fixture_where){.started_ns = 1}, (uint64_t[]){1},
		  (double[]){100}, 1);
}

static void test_why_a_job_says_outcomes_retries_and_events(void **state)
{
	struct fixture *f = *state;
	struct kg_texts t = {0};
	struct kg_err err = {""};
	const char *text;

	run_badly(f);
	assert_int_equal(query_why_job(f->q, 1, 0, &t, &err), 0);
	text = joined(&t);
	assert_non_null(strstr(text, MACHINE ": 1 slot infeasible: netperf is not installed\n"));
	assert_non_null(
		strstr(text, "cell 1 (old/nt+mitigations=off netperf seconds=1 size=64 on " MACHINE
			     "), block 1: infra: power lost (boot 1), pass (boot 2)\n"));
	assert_non_null(strstr(text, "1970-01-01 00:00:01 " MACHINE ": settle old/nt+"));
	assert_null(strstr(text, " pass\n"));
	assert_int_equal(query_why_job(f->q, 1, 2, &t, &err), 0);
	assert_string_equal(joined(&t), "block 1: infeasible: netperf is not installed\n");
	assert_int_equal(query_why_job(f->q, 1, 3, &t, &err), KG_ENOTFOUND);
	assert_int_equal(query_why_job(f->q, 9, 0, &t, &err), KG_ENOTFOUND);
}

static void test_why_is_one_screen_whatever_happened(void **state)
{
	struct fixture *f = *state;
	struct kg_texts t = {0};
	struct kg_err err = {""};
	struct store_event e = {.job = 1, .machine = MACHINE, .kind = "test", .text = "x"};
	struct plan_job p;
	struct answer a;

	plan_init(&p, "much");
	for (int i = 0; i < 20; i++)
		(void)plan_cell(&p, false);
	plan_slots(&p, 2);
	(void)plan_insert(f, &p, &a);
	for (uint64_t boot = 1; boot <= 60; boot++) {
		struct store_boot_end end = {.boot = boot, .outcome = KG_OUTCOME_PANIC};
		char reason[32];

		(void)snprintf(reason, sizeof(reason), "oops %u", (unsigned)boot);
		end.reason = reason;
		assert_int_equal(fixture_boot(f, boot, 1, (uint64_t[]){boot % 20 + 1}, 1), 0);
		assert_int_equal(RUN(f, &a, store_boot_end(f->s, &end, answer_done(&a))), 0);
		assert_int_equal(RUN(f, &a, store_event_add(f->s, &e, answer_done(&a))), 0);
	}
	(void)fixture_sql(f, "UPDATE slot SET outcome = 'panic', reason = 'oops ' || id");
	(void)fixture_sql(f, "UPDATE job SET stops = '[{\"machine\":\"a\"},{\"machine\":\"b\"},"
			     "{\"machine\":\"c\"}]'");
	assert_int_equal(query_why_job(f->q, 1, 0, &t, &err), 0);
	assert_int_equal(t.n, 20);
	assert_non_null(strstr(joined(&t), "... and 34 more outcomes\n"));
	assert_int_equal(query_why_job(f->q, 1, 1, &t, &err), 0);
	assert_in_range(t.n, 1, 20);
	kg_texts_deinit(&t);
	assert_int_equal(query_why_machine(f->q, MACHINE, &t, &err), 0);
	assert_int_equal(t.n, 20);
	assert_non_null(strstr(joined(&t), "1 of the newest 50 boots: panic: oops 11, last 11\n"));
	assert_int_equal(query_why_machine(f->q, "m9", &t, &err), KG_ENOTFOUND);
	assert_non_null(strstr(err.text, MACHINE));
}

static void test_why_of_a_quiet_machine_is_empty(void **state)
{
	struct fixture *f = *state;
	struct kg_texts t = {0};
	struct kg_err err = {""};

	assert_int_equal(query_why_machine(f->q, MACHINE, &t, &err), 0);
	assert_int_equal(t.n, 0);
	kg_texts_deinit(&t);
}

#define T_(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T_(test_a_standing_job_comes_back),
		T_(test_the_same_again_exists_and_any_difference_is_another),
		T_(test_what_is_never_due_is_refused),
		T_(test_removing_takes_the_files_and_leaves_the_jobs),
		T_(test_what_it_made_or_why_not_is_kept),
		T_(test_service_and_reservation_are_kept_apart_and_shown),
		T_(test_what_is_so_already_is_no_event),
		T_(test_what_a_machine_reports_leaves_its_service),
		T_(test_unknown_machines_and_words_are_refused),
		T_(test_a_machine_shows_what_it_is),
		T_(test_a_name_finds_the_newest_job_that_is_not_over),
		T_(test_a_cell_comes_with_what_reproducing_needs),
		T_(test_why_a_job_says_outcomes_retries_and_events),
		T_(test_why_is_one_screen_whatever_happened),
		T_(test_why_of_a_quiet_machine_is_empty),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
