/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Happy path: one request, a stream of updates, its end. Failure modes: the coordinator restarts
 * (the connection is made again, the job goes on); it stays away (exit 3); Ctrl-C (the job goes
 * on, which is said).
 */
#include "cli/cmd_watch.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <string.h>
#include <time.h>

#include "cli/args.h"
#include "cli/client.h"
#include "cli/watch_view.h"
#include "common/clock.h"

#define SILENCE_MS	  60000 /* no update for so long: the coordinator is asked for a sign */
#define RECONNECT_SECONDS 60

static volatile sig_atomic_t interrupted;

static void on_signal(int number)
{
	(void)number;
	interrupted = 1;
}

struct watch {
	struct cli *cli;
	struct watch_view *view; /* owned */
	enum watch_form form;
	size_t status_lines; /* drawn and still on the terminal */
	bool ended;
};

/* Takes the status off the terminal again. */
static void erase_status(struct watch *w, struct kg_str *out)
{
	if (w->status_lines > 0)
		kg_str_addf(out, "\033[%zuA\r\033[J", w->status_lines);
	w->status_lines = 0;
}

static void show(struct watch *w, const Kgrid__V1__WatchUpdate *u)
{
	struct cli *cli = w->cli;
	struct kg_str lines = {0}, out = {0};

	watch_view_update(w->view, u, &lines);
	if (w->form == WATCH_JSON_LINES) {
		cli_print_json_line(cli, &u->base);
	} else if (w->form == WATCH_TEXT) {
		erase_status(w, &out);
		kg_str_add(&out, kg_str_text(&lines));
		if (cli->terminal)
			w->status_lines = watch_view_status(w->view, cli->width, cli->color,
							    cli->unicode, &out);
		cli_print(cli, &out);
	}
	(void)fflush(cli->out);
	kg_str_deinit(&lines);
	kg_str_deinit(&out);
}

/* One connection's worth: 0 at the job's end, else a code. */
static int follow(struct watch *w, struct client *c, uint64_t job, struct kg_err *err)
{
	Kgrid__V1__WatchRequest q = KGRID__V1__WATCH_REQUEST__INIT;
	uint32_t id = 0;
	int rc;

	q.has_job = 1;
	q.job = job;
	rc = client_send(c, KG_MSG_WATCH, &q.base, &id, err);
	while (rc >= 0) {
		struct kg_msg *m = NULL;

		rc = client_next(c, id, SILENCE_MS, &m, err);
		if (rc == -ETIMEDOUT)
			rc = client_ping(c, err);
		if (rc == 0 && !m) {
			w->ended = true;
			return 0;
		}
		if (rc > 0 && m && kg_msg_type(m) == KG_MSG_WATCH_UPDATE)
			show(w, (const Kgrid__V1__WatchUpdate *)kg_msg_body(m));
		kg_msg_free(m);
		if (interrupted || ferror(w->cli->out))
			return -EINTR;
	}
	return rc;
}

static void wait_a_second(void)
{
	struct timespec second = {.tv_sec = 1};

	(void)nanosleep(&second, NULL); /* a signal ends it early, which is wanted */
}

/* Connects again, for a while. */
static struct client *reconnect(struct watch *w, uint64_t until_ns)
{
	struct client *c = NULL;
	struct kg_err err;

	while (!interrupted && kg_monotonic_ns() < until_ns) {
		wait_a_second();
		if (client_open(w->cli->address, &c, &err) == 0) {
			cli_say(w->cli, "connected again");
			return c;
		}
	}
	return NULL;
}

static int say_interrupted(struct cli *cli, uint64_t job)
{
	if (job)
		cli_say(cli,
			"the job goes on: 'kgrid watch %" PRIu64 "' follows it again, 'kgrid job "
			"cancel %" PRIu64 "' ends it",
			job, job);
	else
		cli_say(cli, "the job goes on");
	return CLI_EXIT_INTERRUPTED;
}

static int verdict(struct watch *w)
{
	struct watch_counts n = watch_view_counts(w->view);
	struct kg_str s = {0};

	if (w->form == WATCH_TEXT) {
		erase_status(w, &s);
		kg_str_addf(&s, "job %" PRIu64 ": %s\n", watch_view_job(w->view),
			    watch_view_state(w->view));
		watch_view_accounting(w->view, &s);
		kg_str_add(&s, "\n");
		cli_print(w->cli, &s);
	}
	kg_str_deinit(&s);
	if (n.feasible == 0) {
		cli_say(w->cli,
			"no slot of this job was run ('kgrid job show %" PRIu64 "' says why)",
			watch_view_job(w->view));
		return CLI_EXIT_NODATA;
	}
	return n.passed == n.feasible ? CLI_EXIT_OK : CLI_EXIT_NO;
}

static int run(struct watch *w, struct client *c, uint64_t job)
{
	struct kg_err err = {{0}};
	int rc = CLI_EXIT_UNREACHABLE;

	while (c) {
		int code = follow(w, c, job, &err);

		if (watch_view_job(w->view))
			job = watch_view_job(w->view);
		if (code == 0 || interrupted || ferror(w->cli->out)) {
			rc = interrupted ? say_interrupted(w->cli, job)
			     : w->ended	 ? verdict(w)
					 : CLI_EXIT_LOCAL;
			break;
		}
		w->status_lines = 0; /* what follows on the terminal is kept */
		rc = cli_fail(w->cli, c, code, &err);
		if (client_answered(c))
			break;
		client_close(c);
		c = reconnect(w, kg_monotonic_ns() + RECONNECT_SECONDS * KG_NSEC_PER_SEC);
		if (!c && interrupted)
			rc = say_interrupted(w->cli, job);
		else if (!c)
			cli_say(w->cli, "giving up; the job goes on where the coordinator is");
	}
	client_close(c);
	return rc;
}

int watch_job(struct cli *cli, uint64_t job, enum watch_form form)
{
	struct sigaction action = {.sa_handler = on_signal}, before;
	struct watch w = {.cli = cli, .form = form};
	struct client *c;
	int rc = 0;

	c = cli_connect(cli, &rc);
	if (!c)
		return rc;
	(void)sigaction(SIGINT, &action, &before);
	w.view = watch_view_new();
	rc = run(&w, c, job);
	watch_view_free(w.view);
	(void)sigaction(SIGINT, &before, NULL);
	return rc;
}

int cmd_watch(struct cli *cli, const struct cli_args *args)
{
	return watch_job(cli, cli_args_job(args), cli->json ? WATCH_JSON_LINES : WATCH_TEXT);
}
