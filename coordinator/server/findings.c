/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What people do about regressions, and summaries that they bring from elsewhere. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/clock.h"
#include "coordinator/coordinator.h"

#define IMPORT_MAX_BYTES 1000000 /* a request is one frame */
#define COMMENT_MAX	 4000

/* One store operation that answers a request with Done. */
struct answer {
	struct session *session; /* referenced */
	uint32_t id;
	uint64_t retest; /* regression to try again when it is stored; 0: none */
	bool import;
	char text[160];
};

static void on_stored(void *arg, const struct store_result *r)
{
	struct answer *a = arg;
	struct coordinator *c = a->session->server->c;

	if (r->rc == 0 && a->retest && !c->stopping &&
	    detector_retest(&c->detector, a->retest) < 0) {
		session_error(a->session, a->id, -ENOMEM, "out of memory");
	} else if (r->rc < 0) {
		session_error(a->session, a->id, r->rc, r->text);
	} else {
		if (a->import)
			(void)snprintf(a->text, sizeof(a->text), "import %llu%s",
				       (unsigned long long)r->id, r->existed ? " (was there)" : "");
		session_done(a->session, a->id, a->text);
	}
	session_unref(a->session);
	free(a);
}

static struct answer *answer_new(const struct request *rq)
{
	struct answer *a = calloc(1, sizeof(*a));

	if (!a) {
		session_error(rq->session, rq->id, -ENOMEM, "out of memory");
		return NULL;
	}
	a->session = rq->session;
	a->id = rq->id;
	session_ref(a->session);
	return a;
}

static void answer_failed(struct answer *a, int rc)
{
	session_error(a->session, a->id, rc, kg_strerror(rc));
	session_unref(a->session);
	free(a);
}

/* ---- actions ---- */

struct action {
	const char *name;
	const char *state; /* NULL: unchanged */
	bool needs_text;
	const char *said; /* in the answer; in the event too, where no state is set */
};

static const struct action actions[] = {
	{"ack", "acknowledged", false, "acknowledged"}, {"close", "fixed", false, "closed: fixed"},
	{"reopen", "open", false, "opened again"},	{"comment", NULL, true, ""},
	{"retest", NULL, false, "to be tried again"},
};

static const struct action *find_action(const char *name)
{
	for (size_t i = 0; name && i < sizeof(actions) / sizeof(actions[0]); i++)
		if (strcmp(actions[i].name, name) == 0)
			return &actions[i];
	return NULL;
}

static void act(const struct request *rq, const Kgrid__V1__RegressionAction *in,
		const struct action *action)
{
	const char *given = in->text && in->text[0] ? in->text : NULL;
	bool retest = strcmp(action->name, "retest") == 0;
	struct answer *a = answer_new(rq);
	struct kg_str text = {0};
	int rc = -ENOMEM;

	if (!a)
		return;
	if (action->state) /* the store says the state itself, before the text */
		kg_str_add(&text, given ? given : "");
	else
		kg_str_addf(&text, "%s%s%s", action->said, action->said[0] && given ? ": " : "",
			    given ? given : "");
	(void)snprintf(a->text, sizeof(a->text), "regression %llu: %s", (unsigned long long)in->id,
		       action->needs_text ? "comment kept" : action->said);
	if (strcmp(action->name, "retest") == 0)
		a->retest = in->id;
	if (!text.failed)
		rc = store_regression_act(rq->c->store,
					  &(struct store_regression_action){
						  .regression = in->id,
						  .state = action->state,
						  .retest = retest,
						  .user = in->user && in->user[0] ? in->user : NULL,
						  .text = kg_str_text(&text),
						  .now_ns = kg_realtime_ns(),
					  },
					  (struct store_done){.fn = on_stored, .arg = a});
	if (rc < 0)
		answer_failed(a, rc);
	kg_str_deinit(&text);
}

void handle_regression_action(const struct request *rq)
{
	const Kgrid__V1__RegressionAction *in = REQUEST_BODY(rq, Kgrid__V1__RegressionAction);
	const struct action *action = find_action(in->action);

	if (!in->id)
		session_error(rq->session, rq->id, KG_EINVALID, "which regression?");
	else if (!action)
		session_error(rq->session, rq->id, KG_EINVALID,
			      "action: expected ack, close, reopen, comment or retest");
	else if (action->needs_text && !(in->text && in->text[0]))
		session_error(rq->session, rq->id, KG_EINVALID, "a comment needs a text");
	else if (in->text && strlen(in->text) > COMMENT_MAX)
		session_error(rq->session, rq->id, KG_ELIMIT, "the text is longer than 4000 bytes");
	else
		act(rq, in, action);
}

/* ---- imports ---- */

void handle_import(const struct request *rq)
{
	const Kgrid__V1__ImportRequest *in = REQUEST_BODY(rq, Kgrid__V1__ImportRequest);
	struct answer *a;
	int rc;

	if (!in->name || !kg_name_valid(in->name)) {
		session_error(rq->session, rq->id, KG_EINVALID,
			      "name: expected 1 to 63 letters, digits and '._+-'");
		return;
	}
	if (!in->text || !in->text[0] || strlen(in->text) > IMPORT_MAX_BYTES) {
		session_error(rq->session, rq->id, KG_EINVALID,
			      "text: expected a CSV of at most 1,000,000 bytes");
		return;
	}
	a = answer_new(rq);
	if (!a)
		return;
	a->import = true;
	rc = store_import_add(rq->c->store, in->name, in->text, kg_realtime_ns(),
			      (struct store_done){.fn = on_stored, .arg = a});
	if (rc < 0)
		answer_failed(a, rc);
}
