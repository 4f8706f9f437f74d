/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Happy path and failure modes: workload_run.h. Everything funnels into step(), which looks at
 * what is there (children, pipes, members) and goes on as far as it can. */
#include "agent/workload_run.h"

#include <errno.h>
#include <inttypes.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "agent/workload_output.h"
#include "agent/workload_port.h"
#include "agent/workload_spawn.h"
#include "common/clock.h"
#include "common/str.h"

#define POLL_MS		  10
#define GRACE_NS	  (500 * KG_NSEC_PER_MSEC) /* for processes that are just ending */
#define KILL_NS		  (10 * KG_NSEC_PER_SEC)   /* until killed ones are gone */
#define HELPER_NS	  (20 * KG_NSEC_PER_SEC)   /* until the helper listens */
#define HELPER_TRIES	  3			   /* its port may be taken meanwhile */
#define HELPER_OUTPUT_CAP 16384

enum phase { PHASE_HELPER, PHASE_SERVE, PHASE_ITERATION, PHASE_SETTLE, PHASE_END, PHASE_CLOSING };

struct workload_run {
	uv_loop_t *loop;
	const struct workload_run_ops *ops;
	void *data;
	struct kg_workload *w;
	struct kg_params params;
	struct workload_group *group;
	char *path;
	uint32_t iterations;
	uint64_t timeout_ns;
	enum workload_role role;
	char host[64];

	enum phase phase;
	uv_timer_t limit; /* of the iteration or of the run */
	uv_timer_t poll;
	uv_signal_t child;
	unsigned handles; /* not yet closed: the three above */
	bool stepping, again;

	pid_t main_pid, helper_pid; /* 0: none, or reaped */
	int main_status;
	unsigned helper_tries;
	uint16_t port;
	char port_text[8];
	struct workload_output out, err, helper_out;

	bool warmup;
	uint32_t iteration; /* in progress, from 1 */
	uint32_t next_index;
	uint32_t samples; /* not counting warm-up */
	uint64_t started_ns, iteration_ns, deadline_ns;
	bool limit_is_run; /* the next limit is that of the whole run */
	uint64_t phase_deadline_ns;
	bool killed;
	uint64_t log_left[2]; /* of the cap, stdout and stderr */
	uint64_t log_dropped[2];

	char outcome[24]; /* "": none yet */
	char reason[AGENT_REASON_SIZE];
	struct agent_run_end end;
};

static void step(struct workload_run *r);

__attribute__((format(printf, 3, 4))) static void
set_result(struct workload_run *r, const char *outcome, const char *fmt, ...)
{
	va_list ap;

	if (r->outcome[0])
		return; /* the first one is the cause */
	(void)snprintf(r->outcome, sizeof(r->outcome), "%s", outcome);
	va_start(ap, fmt);
	(void)vsnprintf(r->reason, sizeof(r->reason), fmt, ap);
	va_end(ap);
}

static bool failed(const struct workload_run *r)
{
	return r->outcome[0] != '\0';
}

static void enter(struct workload_run *r, enum phase p, uint64_t limit_ns)
{
	r->phase = p;
	r->phase_deadline_ns = kg_monotonic_ns() + limit_ns;
}

/* ---- callbacks ---- */

static void on_poll(uv_timer_t *t)
{
	step(t->data);
}

static void on_output(struct workload_output *o)
{
	struct workload_run *r = o->data;

	if (o->dropped && (o == &r->out || o == &r->err)) {
		set_result(r, "fail", "flooded its output: more than %d bytes on %s",
			   RUN_OUTPUT_CAP, o == &r->out ? "stdout" : "stderr");
	}
	step(r);
}

static void on_limit(uv_timer_t *t)
{
	struct workload_run *r = t->data;

	if (r->phase == PHASE_SERVE)
		set_result(r, "infra", "nobody said within %llu s that the client's run is over",
			   (unsigned long long)r->timeout_ns / KG_NSEC_PER_SEC);
	else if (r->limit_is_run)
		set_result(r, "run-timeout", "the run took longer than %llu s",
			   (unsigned long long)r->timeout_ns / KG_NSEC_PER_SEC);
	else
		set_result(r, "run-timeout", "%s %" PRIu32 " took longer than %llu s",
			   r->warmup ? "warm-up" : "iteration", r->iteration,
			   (unsigned long long)(r->deadline_ns - r->iteration_ns) /
				   KG_NSEC_PER_SEC);
	step(r);
}

static void on_child(uv_signal_t *s, int number)
{
	struct workload_run *r = s->data;
	int status;
	pid_t pid;

	(void)number;
	while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
		if (pid == r->main_pid) {
			r->main_pid = 0;
			r->main_status = status;
		} else if (pid == r->helper_pid) {
			r->helper_pid = 0;
		}
	}
	step(r);
}

/* ---- helper ---- */

/* What fills {port} and {host}; a workload without a helper may name neither. */
static size_t fill_extra(struct workload_run *r, char *port, struct kg_param_value extra[2])
{
	extra[0] = (struct kg_param_value){(char *)"port", port};
	extra[1] = (struct kg_param_value){(char *)"host", r->host};
	return r->w->helper.n ? 2 : 0;
}

static int start_helper(struct workload_run *r)
{
	struct kg_param_value extra[2];
	struct workload_spawn s = {.environment = &r->w->environment,
				   .path = r->path,
				   .group = r->group,
				   .part = GROUP_HELPER};
	struct kg_texts argv = {0};
	struct kg_err err;
	int fd = -1, rc;

	rc = workload_port_free(r->host, &r->port);
	if (rc == -EADDRNOTAVAIL) {
		set_result(r, "harness-error", "this machine does not have the address %s",
			   r->host);
		return rc;
	}
	if (rc < 0) {
		set_result(r, "harness-error", "no free port on %s: %s", r->host, strerror(-rc));
		return rc;
	}
	(void)snprintf(r->port_text, sizeof(r->port_text), "%u", r->port);
	rc = kg_workload_helper_argv(r->w, &r->params, extra, fill_extra(r, r->port_text, extra),
				     &argv, &err);
	if (rc == 0) {
		workload_output_reset(&r->helper_out);
		rc = workload_output_start(&r->helper_out, r->loop, &fd);
		kg_err_set(&err, 0, "cannot make a pipe");
	}
	if (rc == 0) {
		s.argv = &argv;
		s.out = s.err = fd;
		rc = workload_spawn(&s, &r->helper_pid, &err);
		close(fd);
	}
	kg_texts_deinit(&argv);
	if (rc < 0)
		set_result(r, "harness-error", "helper: %s", err.text);
	r->helper_tries++;
	enter(r, PHASE_HELPER, HELPER_NS);
	return rc;
}

static bool uses_port(const struct workload_run *r)
{
	size_t i;

	for (i = 0; i < r->w->helper.n; i++)
		if (strstr(r->w->helper.items[i], "{port}"))
			return true;
	return false;
}

/* Whether the iterations may begin. */
static bool helper_ready(struct workload_run *r)
{
	if (!r->w->helper.n || r->role == WORKLOAD_CLIENT)
		return true;
	if (!r->helper_pid) {
		if (r->helper_out.active)
			return false; /* its last words are still on their way */
		if (r->helper_tries < HELPER_TRIES)
			(void)start_helper(r);
		else
			set_result(r, "fail", "helper '%s' ends at once: %.100s",
				   r->w->helper.items[0], workload_output_text(&r->helper_out));
		return false;
	}
	if (!uses_port(r) || workload_port_listens(r->host, r->port))
		return true;
	if (kg_monotonic_ns() >= r->phase_deadline_ns)
		set_result(r, "fail", "helper '%s' does not listen on %s port %u",
			   r->w->helper.items[0], r->host, r->port);
	return false;
}

/* ---- iterations ---- */

static void set_limit(struct workload_run *r)
{
	uint64_t now = kg_monotonic_ns();
	uint64_t end;

	r->iteration_ns = now;
	r->deadline_ns = now + kg_workload_duration_ns(r->w, &r->params) + r->w->timeout_ns;
	end = r->deadline_ns;
	r->limit_is_run = r->timeout_ns && r->started_ns + r->timeout_ns < end;
	if (r->limit_is_run)
		end = r->started_ns + r->timeout_ns;
	end = end > now ? end - now : 0;
	(void)uv_timer_start(&r->limit, on_limit, end / KG_NSEC_PER_MSEC + 1, 0);
}

static int build_argv(struct workload_run *r, struct kg_texts *ret_argv, struct kg_err *err)
{
	struct kg_param_value extra[2];

	return kg_workload_argv(r->w, &r->params, extra, fill_extra(r, r->port_text, extra),
				ret_argv, err);
}

static void start_iteration(struct workload_run *r)
{
	struct workload_spawn s = {.environment = &r->w->environment,
				   .path = r->path,
				   .group = r->group,
				   .part = GROUP_MAIN,
				   .out = -1,
				   .err = -1};
	struct kg_texts argv = {0};
	struct kg_err err = {.text = "cannot make a pipe"};
	int rc;

	uv_update_time(r->loop);
	r->killed = false;
	enter(r, PHASE_ITERATION, 0);
	rc = workload_output_start(&r->out, r->loop, &s.out);
	if (rc == 0)
		rc = workload_output_start(&r->err, r->loop, &s.err);
	if (rc == 0)
		rc = build_argv(r, &argv, &err);
	if (rc == 0) {
		s.argv = &argv;
		set_limit(r);
		rc = workload_spawn(&s, &r->main_pid, &err);
	}
	if (s.out >= 0)
		close(s.out);
	if (s.err >= 0)
		close(s.err);
	kg_texts_deinit(&argv);
	if (rc < 0)
		set_result(r, "harness-error", "%s", err.text);
}

static bool more_warmup(const struct workload_run *r)
{
	if (r->iteration < r->w->warmup_runs)
		return true;
	return r->w->warmup_ns &&
	       (r->iteration == 0 || kg_monotonic_ns() - r->started_ns < r->w->warmup_ns);
}

/* The next iteration, or the end. */
static void advance(struct workload_run *r)
{
	if (r->warmup && !more_warmup(r)) {
		r->warmup = false;
		r->iteration = 0;
	}
	if (!r->warmup && r->iteration >= r->iterations) {
		set_result(r, "pass", "%s", "");
		return;
	}
	r->iteration++;
	if (r->iteration == 1)
		r->ops->stage(r->data, r->warmup ? "warm-up" : "run");
	start_iteration(r);
}

static int read_metric(struct workload_run *r, uint32_t m, struct run_sample **ret_s, size_t *ret_n,
		       struct kg_err *err)
{
	const struct kg_metric_decl *decl = &r->w->metrics[m];
	const char *text = workload_output_text(decl->from_stderr ? &r->err : &r->out);
	struct run_sample *s;
	double *values = NULL;
	uint64_t now = kg_monotonic_ns();
	size_t n = 0, i;
	int rc = kg_metric_read(decl, text, &values, &n, err);

	if (rc < 0)
		return rc;
	s = realloc(*ret_s, (*ret_n + n) * sizeof(*s));
	if (!s) {
		free(values);
		return kg_err_set(err, -ENOMEM, "out of memory");
	}
	for (i = 0; i < n; i++)
		s[*ret_n + i] =
			(struct run_sample){r->next_index++, m, r->iteration, now, values[i]};
	*ret_s = s;
	*ret_n += n;
	free(values);
	return 0;
}

/* The first metric that applies is the primary one: without it there is no result. Others may be
 * missing, which the log says. */
static void read_samples(struct workload_run *r)
{
	struct run_sample *s = NULL;
	struct kg_err err;
	size_t n = 0;
	bool primary = true;
	uint32_t m;

	for (m = 0; m < r->w->n_metrics; m++) {
		if (!kg_metric_applies(&r->w->metrics[m], &r->params))
			continue;
		if (read_metric(r, m, &s, &n, &err) < 0) {
			if (primary) {
				set_result(r, "fail", "no primary value: %s", err.text);
				break;
			}
			r->ops->log(r->data, "agent", err.text, strlen(err.text), 0);
		}
		primary = false;
	}
	if (primary && !failed(r))
		set_result(r, "harness-error", "no metric is declared for these parameters");
	if (!failed(r) && n > 0) {
		r->ops->samples(r->data, s, n, r->warmup);
		if (!r->warmup)
			r->samples += (uint32_t)n;
	}
	free(s);
}

static void pass_log(struct workload_run *r, int which, struct workload_output *o)
{
	uint64_t len = o->len < r->log_left[which] ? o->len : r->log_left[which];
	uint64_t dropped = o->len - len + o->dropped;

	if (len || dropped)
		r->ops->log(r->data, which ? "stderr" : "stdout", workload_output_text(o),
			    (size_t)len, dropped);
	r->log_left[which] -= len;
}

static void judge_exit(struct workload_run *r)
{
	int st = r->main_status;

	if (WIFSIGNALED(st)) {
		r->end.has_term_signal = true;
		r->end.term_signal = WTERMSIG(st);
		set_result(r, "fail", "killed by signal %d (%s)", WTERMSIG(st),
			   strsignal(WTERMSIG(st)));
	} else {
		r->end.has_exit_status = true;
		r->end.exit_status = WEXITSTATUS(st);
		if (WEXITSTATUS(st) != 0)
			set_result(r, "fail", "exit status %d", WEXITSTATUS(st));
	}
}

static void finish_iteration(struct workload_run *r)
{
	(void)uv_timer_stop(&r->limit);
	if (!failed(r))
		read_samples(r);
	pass_log(r, 0, &r->out);
	pass_log(r, 1, &r->err);
	workload_output_reset(&r->out);
	workload_output_reset(&r->err);
	(void)malloc_trim(0);
	if (!failed(r))
		advance(r);
}

/* ---- ends ---- */

static void on_handle_closed(uv_handle_t *h)
{
	struct workload_run *r = h->data;

	if (--r->handles > 0)
		return;
	r->end.outcome = r->outcome;
	r->end.reason = r->reason[0] ? r->reason : NULL;
	r->end.samples = r->samples;
	r->end.run_ns = kg_monotonic_ns() - r->started_ns;
	r->ops->ended(r->data, &r->end);
	workload_output_reset(&r->helper_out);
	workload_output_reset(&r->out);
	workload_output_reset(&r->err);
	kg_params_deinit(&r->params);
	kg_workload_free(r->w);
	free(r->path);
	free(r);
}

static void close_all(struct workload_run *r)
{
	r->phase = PHASE_CLOSING;
	if (strcmp(r->outcome, "pass") != 0 && r->helper_out.len)
		r->ops->log(r->data, "agent", workload_output_text(&r->helper_out),
			    r->helper_out.len, r->helper_out.dropped);
	r->group->leader[GROUP_MAIN] = 0;
	r->group->leader[GROUP_HELPER] = 0;
	uv_close((uv_handle_t *)&r->limit, on_handle_closed);
	uv_close((uv_handle_t *)&r->poll, on_handle_closed);
	uv_close((uv_handle_t *)&r->child, on_handle_closed);
}

/* Whether a part has neither processes nor open pipes; kills it once its time is over. */
static bool quiet(struct workload_run *r, enum group_part part)
{
	bool pipes = part == GROUP_MAIN ? r->out.active || r->err.active : r->helper_out.active;
	pid_t pid = part == GROUP_MAIN ? r->main_pid : r->helper_pid;
	size_t members = workload_group_count(r->group, part, 0);

	if (!pid && !members && !pipes)
		return true;
	if (kg_monotonic_ns() < r->phase_deadline_ns)
		return false;
	if (r->killed) {
		set_result(r, "harness-error", "%zu processes cannot be killed", members);
	} else if (part == GROUP_MAIN && members > 0) {
		set_result(r, "fail", "left processes behind: %zu still ran after its end",
			   members);
	}
	/* Who holds the pipe open without being a member cannot be waited for. */
	workload_output_close(part == GROUP_MAIN ? &r->out : &r->helper_out);
	if (part == GROUP_MAIN)
		workload_output_close(&r->err);
	if (r->killed)
		return !pipes;
	workload_group_kill(r->group, part);
	r->killed = true;
	r->phase_deadline_ns = kg_monotonic_ns() + KILL_NS;
	return false;
}

static void kill_part(struct workload_run *r, enum group_part part)
{
	workload_group_kill(r->group, part);
	r->killed = true;
	r->phase_deadline_ns = kg_monotonic_ns() + KILL_NS;
}

static void begin_end(struct workload_run *r)
{
	(void)uv_timer_stop(&r->limit);
	enter(r, PHASE_END, 0);
	kill_part(r, GROUP_HELPER);
}

static void begin_serving(struct workload_run *r)
{
	enter(r, PHASE_SERVE, 0);
	if (r->timeout_ns)
		(void)uv_timer_start(&r->limit, on_limit, r->timeout_ns / KG_NSEC_PER_MSEC + 1, 0);
	r->ops->stage(r->data, "serve");
	r->ops->serving(r->data, r->port);
}

/* One move, if one is possible. */
static bool step_once(struct workload_run *r)
{
	switch (r->phase) {
	case PHASE_HELPER:
		if (failed(r)) {
			begin_end(r);
			return true;
		}
		if (!helper_ready(r))
			return r->phase == PHASE_HELPER && failed(r);
		if (r->role == WORKLOAD_SERVER)
			begin_serving(r);
		else
			advance(r);
		return true;
	case PHASE_SERVE:
		if (!failed(r) && !r->helper_pid)
			set_result(r, "infra", "helper '%s' ended while its client ran",
				   r->w->helper.items[0]);
		if (failed(r))
			begin_end(r);
		return failed(r);
	case PHASE_ITERATION:
		if (!failed(r) && r->role == WORKLOAD_BOTH && r->w->helper.n && !r->helper_pid)
			set_result(r, "fail", "helper '%s' ended during the run",
				   r->w->helper.items[0]);
		if (failed(r) && r->main_pid) {
			kill_part(r, GROUP_MAIN);
			r->phase = PHASE_SETTLE;
			return true;
		}
		if (r->main_pid)
			return false;
		enter(r, PHASE_SETTLE, GRACE_NS);
		if (!failed(r))
			judge_exit(r);
		return true;
	case PHASE_SETTLE:
		if (!r->killed && failed(r) && workload_group_count(r->group, GROUP_MAIN, 0) > 0)
			kill_part(r, GROUP_MAIN);
		if (!quiet(r, GROUP_MAIN))
			return false;
		finish_iteration(r);
		if (failed(r))
			begin_end(r);
		return true;
	case PHASE_END:
		if (!quiet(r, GROUP_HELPER))
			return false;
		close_all(r);
		return false;
	case PHASE_CLOSING:
		return false;
	}
	return false;
}

/* Callbacks below may come back here: then the outer call goes round once more. */
static void step(struct workload_run *r)
{
	bool wait;

	if (r->phase == PHASE_CLOSING)
		return;
	if (r->stepping) {
		r->again = true;
		return;
	}
	r->stepping = true;
	do {
		r->again = false;
		while (step_once(r))
			;
	} while (r->again && r->phase != PHASE_CLOSING);
	r->stepping = false;
	if (r->phase == PHASE_CLOSING)
		return;
	/* Only ends and beginnings are polled; nothing wakes the agent during an iteration. */
	wait = r->phase != PHASE_ITERATION && r->phase != PHASE_SERVE;
	if (!wait)
		(void)uv_timer_stop(&r->poll);
	else if (!uv_is_active((uv_handle_t *)&r->poll))
		(void)uv_timer_start(&r->poll, on_poll, POLL_MS, POLL_MS);
}

static void init_handles(struct workload_run *r)
{
	(void)uv_timer_init(r->loop, &r->limit);
	(void)uv_timer_init(r->loop, &r->poll);
	(void)uv_signal_init(r->loop, &r->child);
	r->limit.data = r->poll.data = r->child.data = r;
	r->handles = 3;
	workload_output_init(&r->out, RUN_OUTPUT_CAP, on_output, r);
	workload_output_init(&r->err, RUN_OUTPUT_CAP, on_output, r);
	workload_output_init(&r->helper_out, HELPER_OUTPUT_CAP, on_output, r);
}

static void say_started(struct workload_run *r)
{
	struct kg_param_value extra[2];
	size_t n = fill_extra(r, (char *)(uintptr_t) "{port}", extra);
	struct kg_texts argv = {0};
	struct kg_err err;
	int rc = r->role == WORKLOAD_SERVER
			 ? kg_workload_helper_argv(r->w, &r->params, extra, n, &argv, &err)
			 : kg_workload_argv(r->w, &r->params, extra, n, &argv, &err);

	if (rc == 0)
		r->ops->started(r->data, &argv);
	else
		set_result(r, "harness-error", "%s", err.text);
	kg_texts_deinit(&argv);
}

/* First tick: the owner has its pointer by now, and callbacks may come. */
static void on_begin(uv_timer_t *t)
{
	struct workload_run *r = t->data;

	r->warmup = r->w->warmup_runs > 0 || r->w->warmup_ns > 0;
	say_started(r); /* the owner may end the run at once: there is nothing to step yet */
	r->started_ns = kg_monotonic_ns();
	enter(r, PHASE_HELPER, HELPER_NS);
	if (r->w->helper.n && r->role != WORKLOAD_CLIENT && !failed(r))
		(void)start_helper(r);
	step(r);
}

int workload_run_start(uv_loop_t *loop, const struct workload_run_spec *spec,
		       const struct workload_run_ops *ops, void *data, struct workload_run **ret_r,
		       struct kg_err *err)
{
	struct workload_run *r = calloc(1, sizeof(*r));
	char *path = strdup(spec->path);

	if (!r || !path) {
		struct kg_params params = spec->params;

		free(r);
		free(path);
		kg_params_deinit(&params);
		kg_workload_free(spec->workload);
		return kg_err_set(err, -ENOMEM, "out of memory");
	}
	r->loop = loop;
	r->ops = ops;
	r->data = data;
	r->w = spec->workload;
	r->params = spec->params;
	r->group = spec->group;
	r->path = path;
	r->iterations = spec->iterations;
	r->timeout_ns = spec->timeout_ns;
	r->role = spec->role;
	(void)snprintf(r->host, sizeof(r->host), "%s", spec->host ? spec->host : "127.0.0.1");
	if (r->role == WORKLOAD_CLIENT) {
		r->port = spec->port;
		(void)snprintf(r->port_text, sizeof(r->port_text), "%u", r->port);
	}
	r->log_left[0] = r->log_left[1] = RUN_OUTPUT_CAP;
	r->phase = PHASE_HELPER;
	init_handles(r);
	(void)uv_signal_start(&r->child, on_child, SIGCHLD);
	(void)uv_timer_start(&r->poll, on_begin, 0, 0);
	*ret_r = r;
	return 0;
}

void workload_run_describe(const struct workload_run *r, const struct kg_workload **ret_w,
			   const struct kg_params **ret_params)
{
	*ret_w = r->w;
	*ret_params = &r->params;
}

void workload_run_finish(struct workload_run *r)
{
	if (r->role == WORKLOAD_SERVER && r->phase == PHASE_SERVE)
		workload_run_kill(r, "pass", "");
}

void workload_run_kill(struct workload_run *r, const char *outcome, const char *reason)
{
	set_result(r, outcome, "%s", reason);
	if (r->started_ns)
		step(r);
}
