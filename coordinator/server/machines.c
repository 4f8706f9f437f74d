/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What people do to machines: reserve, release, drain, maintenance, resume. Stored first, so that it
 * outlives the coordinator; then the scheduler follows. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/clock.h"
#include "coordinator/coordinator.h"

#define RESERVE_MAX_S (366 * UINT64_C(86400))

struct change {
	struct session *session; /* referenced */
	uint32_t id;
	char machine[64];
	char user[64];
	char why[400];
	enum sched_service service;
	bool set_service, set_reserved;
	uint64_t seconds; /* reserved for; 0: released */
};

/* "2 h 30 min", "45 s". */
static const char *duration(uint64_t seconds, char buf[48])
{
	uint64_t h = seconds / 3600, min = seconds / 60 % 60;

	if (h >= 48)
		(void)snprintf(buf, 48, "%" PRIu64 " d %" PRIu64 " h", h / 24, h % 24);
	else if (h)
		(void)snprintf(buf, 48, "%" PRIu64 " h %" PRIu64 " min", h, min);
	else if (min)
		(void)snprintf(buf, 48, "%" PRIu64 " min", min);
	else
		(void)snprintf(buf, 48, "%" PRIu64 " s", seconds);
	return buf;
}

static void say(const struct change *ch, const struct sched_machine *m)
{
	char time[48];
	char text[400];
	const char *busy = m && m->boot ? "; the boot in progress is finished first" : "";

	if (ch->set_reserved && ch->seconds)
		(void)snprintf(text, sizeof(text),
			       "machine '%s' is reserved by '%s' for %s: only jobs of '%s' begin "
			       "there%s",
			       ch->machine, ch->user, duration(ch->seconds, time), ch->user, busy);
	else if (ch->set_reserved)
		(void)snprintf(text, sizeof(text), "machine '%s' is no longer reserved",
			       ch->machine);
	else if (ch->service == SCHED_DRAIN)
		(void)snprintf(text, sizeof(text), "machine '%s' drains: no boot begins there%s",
			       ch->machine, busy);
	else if (ch->service == SCHED_MAINTENANCE)
		(void)snprintf(text, sizeof(text),
			       "machine '%s' is in maintenance: nothing runs there and its power "
			       "is not touched; slots of an interrupted boot are pending again",
			       ch->machine);
	else
		(void)snprintf(text, sizeof(text), "machine '%s' is in service again", ch->machine);
	session_done(ch->session, ch->id, text);
}

static void say_unchanged(const struct change *ch)
{
	static const char *const services[] = {"is in service", "drains already",
					       "is in maintenance already"};
	char text[200];

	(void)snprintf(text, sizeof(text), "machine '%s' %s: nothing changed", ch->machine,
		       ch->set_reserved ? "is not reserved" : services[ch->service]);
	session_done(ch->session, ch->id, text);
}

static void follow(struct coordinator *c, const struct change *ch)
{
	uint64_t now = kg_boottime_ns();
	const char *why = ch->why[0] ? ch->why : NULL;

	/* One that the store knows and the scheduler has not met yet. */
	if (!sched_machine_get(&c->sched, ch->machine))
		return;
	if (ch->set_reserved)
		(void)sched_machine_reserve(&c->sched, ch->machine, ch->seconds ? ch->user : NULL,
					    why, (int64_t)(now + ch->seconds * KG_NSEC_PER_SEC),
					    now);
	if (ch->set_service)
		(void)sched_machine_service(&c->sched, ch->machine, ch->service, why, now);
}

static void on_changed(void *arg, const struct store_result *r)
{
	struct change *ch = arg;
	struct coordinator *c = ch->session->server->c;

	if (r->rc < 0) {
		session_error(ch->session, ch->id, r->rc, r->text);
	} else if (r->existed) {
		say_unchanged(ch);
	} else if (!c->stopping) {
		follow(c, ch);
		say(ch, sched_machine_find(&c->sched, ch->machine));
	}
	session_unref(ch->session);
	free(ch);
}

static int read_change(const struct request *rq, struct change *ch, struct kg_err *err)
{
	const Kgrid__V1__MachineChange *in = REQUEST_BODY(rq, Kgrid__V1__MachineChange);
	const char *action = in->action ? in->action : "";
	const struct sched_machine *m;

	if (!in->machine || !in->machine[0])
		return kg_err_set(err, KG_EINVALID, "which machine?");
	(void)snprintf(ch->machine, sizeof(ch->machine), "%.63s", in->machine);
	(void)snprintf(ch->user, sizeof(ch->user), "%.63s", session_user(rq->session, in->user));
	(void)snprintf(ch->why, sizeof(ch->why), "%.399s", in->why ? in->why : "");
	ch->set_service = true;
	if (strcmp(action, "drain") == 0)
		ch->service = SCHED_DRAIN;
	else if (strcmp(action, "maintenance") == 0)
		ch->service = SCHED_MAINTENANCE;
	else if (strcmp(action, "resume") == 0)
		ch->service = SCHED_NORMAL;
	else if (strcmp(action, "reserve") == 0 || strcmp(action, "release") == 0) {
		ch->set_service = false;
		ch->set_reserved = true;
	} else
		return kg_err_set(err, KG_EINVALID,
				  "unknown action; expected reserve, release, drain, maintenance "
				  "or resume");
	if (strcmp(action, "reserve") != 0)
		return 0;
	if (in->seconds == 0 || in->seconds > RESERVE_MAX_S)
		return kg_err_set(err, KG_EINVALID,
				  "for how long? expected a second to a year, such as '2h'");
	if (!ch->user[0])
		return kg_err_set(err, KG_EINVALID, "for whom? the request names no user");
	ch->seconds = in->seconds;
	m = sched_machine_find(&rq->c->sched, ch->machine);
	if (m && m->reserved_by && strcmp(m->reserved_by, ch->user) != 0 &&
	    m->reserved_until_ns > (int64_t)kg_boottime_ns())
		return kg_err_set(err, KG_EREFUSED,
				  "machine '%s' is reserved by '%s' already%s%s; ask them, or "
				  "'kgrid machine release %s'",
				  ch->machine, m->reserved_by, m->reserved_why ? ": " : "",
				  m->reserved_why ? m->reserved_why : "", ch->machine);
	return 0;
}

void handle_machine_change(const struct request *rq)
{
	static const char *const services[] = {"normal", "drain", "maintenance"};
	struct change *ch = calloc(1, sizeof(*ch));
	int64_t now = kg_realtime_ns();
	struct kg_err err = {""};
	int rc = ch ? read_change(rq, ch, &err) : kg_err_set(&err, -ENOMEM, "out of memory");

	if (rc == 0) {
		ch->session = rq->session;
		ch->id = rq->id;
		session_ref(ch->session);
		rc = store_machine_service(
			rq->c->store,
			&(struct store_service){
				.machine = ch->machine,
				.service = ch->set_service ? services[ch->service] : NULL,
				.why = ch->set_service ? ch->why : NULL,
				.set_reserved = ch->set_reserved,
				.reserved_by = ch->seconds ? ch->user : NULL,
				.reserved_why = ch->seconds ? ch->why : NULL,
				.reserved_until_ns = now + (int64_t)(ch->seconds * KG_NSEC_PER_SEC),
				.now_ns = now,
				.user = ch->user,
			},
			(struct store_done){.fn = on_changed, .arg = ch});
		if (rc == 0)
			return;
		(void)kg_err_set(&err, rc, "%s", kg_strerror(rc));
		session_unref(ch->session);
	}
	session_error(rq->session, rq->id, rc, err.text);
	free(ch);
}
