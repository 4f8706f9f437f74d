/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Happy path: the notice is stored, the program is started with the text on its standard input,
 * exits 0, the notice is sent.
 * Failure modes: no such command is configured, the program cannot be started, exits otherwise, or
 * takes longer than a minute (killed): the notice has failed, with the reason, in the store and in the
 * log. The coordinator ends while it runs: it is killed, stays pending and is sent by the next run.
 */
#include "coordinator/fleet/notify.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/clock.h"
#include "common/fault.h"
#include "common/log.h"
#include "common/str.h"
#include "coordinator/coordinator.h"

#define TIMEOUT_MS 60000

struct notice {
	struct coordinator *c;
	struct notice *next; /* of those whose program runs */
	uint64_t id;
	char *target;	      /* owned */
	char *text;	      /* owned; what the program reads */
	struct kg_texts argv; /* owned; ends in NULL */
	uv_process_t process;
	uv_pipe_t input;
	uv_timer_t timer;
	uv_write_t write;
	unsigned handles; /* open ones; freed with the last */
};

static void notice_free(struct notice *n)
{
	free(n->target);
	free(n->text);
	kg_texts_deinit(&n->argv);
	free(n);
}

static void on_closed(uv_handle_t *h)
{
	struct notice *n = h->data, **at = &n->c->notices;

	if (--n->handles > 0)
		return;
	while (*at != n)
		at = &(*at)->next;
	*at = n->next;
	notice_free(n);
}

static void ended(struct notice *n, bool sent, const char *reason)
{
	if (sent)
		kg_log_info("told %s", n->target);
	else
		kg_log_err("cannot tell %s: %s", n->target, reason);
	if (!n->c->stopping)
		(void)store_notice_end(n->c->store, n->id, sent, sent ? NULL : reason,
				       kg_realtime_ns(), (struct store_done){0});
}

static void close_all(struct notice *n)
{
	uv_handle_t *handles[] = {(uv_handle_t *)&n->process, (uv_handle_t *)&n->input,
				  (uv_handle_t *)&n->timer};

	for (size_t i = 0; i < 3; i++)
		if (!uv_is_closing(handles[i]))
			uv_close(handles[i], on_closed);
}

static void on_exit_cb(uv_process_t *process, int64_t status, int signal)
{
	struct notice *n = process->data;
	char reason[64] = "";

	if (signal)
		(void)snprintf(reason, sizeof(reason), "ended by signal %d", signal);
	else if (status)
		(void)snprintf(reason, sizeof(reason), "exit status %lld", (long long)status);
	ended(n, !signal && !status, reason);
	close_all(n);
}

static void on_timeout(uv_timer_t *t)
{
	struct notice *n = t->data;

	(void)uv_process_kill(&n->process, SIGKILL);
}

static void on_written(uv_write_t *w, int status)
{
	struct notice *n = w->data;

	(void)status; /* whoever does not read says by its exit status how that went */
	if (!uv_is_closing((uv_handle_t *)&n->input))
		uv_close((uv_handle_t *)&n->input, on_closed);
}

static int push(struct kg_texts *t, const char *text, size_t len)
{
	char **grown = realloc(t->items, (t->n + 2) * sizeof(*grown));

	if (!grown)
		return -ENOMEM;
	t->items = grown;
	grown[t->n] = strndup(text, len);
	grown[t->n + 1] = NULL;
	return grown[t->n] && ++t->n ? 0 : -ENOMEM;
}

/* Words of a configured command, split at blanks; no shell. */
static int push_words(struct kg_texts *t, const char *words)
{
	int rc = 0;

	while (rc == 0 && *words) {
		size_t len = strcspn(words, " \t");

		if (len > 0)
			rc = push(t, words, len);
		words += len;
		words += strspn(words, " \t");
	}
	return rc;
}

static int find_command(struct notice *n, const char *name)
{
	const struct kg_texts *all = &n->c->cfg.notify_commands;
	size_t len = strlen(name);

	for (size_t i = 0; i < all->n; i++) {
		const char *line = all->items[i];

		if (strncmp(line, name, len) == 0 && (line[len] == ' ' || line[len] == '\t'))
			return push_words(&n->argv, line + len);
	}
	return KG_ENOTFOUND;
}

static int make_mail(struct notice *n, const char *address)
{
	static const char program[] = "/usr/sbin/sendmail";
	const struct kg_texts *words = &n->c->cfg.sendmail;
	size_t subject = strcspn(n->text, "\n");
	struct kg_str s = {0};
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < words->n; i++)
		rc = push(&n->argv, words->items[i], strlen(words->items[i]));
	if (words->n == 0)
		rc = push(&n->argv, program, strlen(program)) | push(&n->argv, "-i", 2);
	if (rc == 0)
		rc = push(&n->argv, address, strlen(address));
	kg_str_addf(&s,
		    "To: %s\nSubject: %.*s\nMIME-Version: 1.0\n"
		    "Content-Type: text/plain; charset=utf-8\nAuto-Submitted: auto-generated\n\n",
		    address, (int)subject, n->text);
	kg_str_add(&s, n->text);
	free(n->text);
	n->text = kg_str_take(&s);
	return rc == 0 && !n->text ? -ENOMEM : rc;
}

static int make_command(struct notice *n)
{
	int rc = KG_EINVALID;

	if (kg_str_starts(n->target, "mail:"))
		rc = make_mail(n, n->target + strlen("mail:"));
	else if (kg_str_starts(n->target, "command:"))
		rc = find_command(n, n->target + strlen("command:"));
	return rc == 0 && n->argv.n == 0 ? KG_ENOTFOUND : rc;
}

static int spawn(struct notice *n)
{
	uv_stdio_container_t stdio[3] = {
		{.flags = UV_CREATE_PIPE | UV_READABLE_PIPE,
		 .data.stream = (uv_stream_t *)&n->input},
		{.flags = UV_INHERIT_FD, .data.fd = 2},
		{.flags = UV_INHERIT_FD, .data.fd = 2},
	};
	uv_process_options_t o = {.file = n->argv.items[0],
				  .args = n->argv.items,
				  .exit_cb = on_exit_cb,
				  .stdio = stdio,
				  .stdio_count = 3};
	uv_buf_t buf = uv_buf_init(n->text, (unsigned)strlen(n->text));
	int rc;

	n->process.data = n->input.data = n->timer.data = n->write.data = n;
	n->handles = 3;
	n->next = n->c->notices;
	n->c->notices = n;
	(void)uv_timer_init(&n->c->loop, &n->timer);
	(void)uv_pipe_init(&n->c->loop, &n->input, 0);
	KG_FAULT(NOTICE_SPAWN);
	rc = uv_spawn(&n->c->loop, &n->process, &o);
	if (rc < 0)
		return rc;
	(void)uv_timer_start(&n->timer, on_timeout, TIMEOUT_MS, 0);
	if (uv_write(&n->write, (uv_stream_t *)&n->input, &buf, 1, on_written) < 0)
		uv_close((uv_handle_t *)&n->input, on_closed);
	return 0;
}

/* Takes `n`. */
static void run(struct notice *n)
{
	int rc = make_command(n);
	char reason[160];

	if (rc < 0) {
		ended(n, false,
		      rc == KG_ENOTFOUND ? "no such command is configured" : kg_strerror(rc));
		notice_free(n);
		return;
	}
	rc = spawn(n);
	if (rc < 0) {
		(void)snprintf(reason, sizeof(reason), "cannot start '%.80s': %s", n->argv.items[0],
			       uv_strerror(rc));
		ended(n, false, reason);
		close_all(n);
	}
}

static struct notice *notice_new(struct coordinator *c, uint64_t id, const char *target,
				 const char *text)
{
	struct notice *n = calloc(1, sizeof(*n));

	if (!n)
		return NULL;
	n->c = c;
	n->id = id;
	n->target = strdup(target);
	n->text = strdup(text);
	if (n->target && n->text)
		return n;
	notice_free(n);
	return NULL;
}

static void on_stored(void *arg, const struct store_result *r)
{
	struct notice *n = arg;

	if (r->rc < 0 || n->c->stopping) {
		if (r->rc < 0)
			kg_log_err("cannot store that %s is to be told: %s", n->target, r->text);
		notice_free(n);
		return;
	}
	n->id = r->id;
	run(n);
}

void notify_send(struct coordinator *c, uint64_t regression, const char *target, const char *text)
{
	struct notice *n = notice_new(c, 0, target, text);

	if (!n) {
		kg_log_err("out of memory: %s is not told", target);
		return;
	}
	if (store_notice_add(c->store, regression, target, text, kg_realtime_ns(),
			     (struct store_done){.fn = on_stored, .arg = n}) < 0) {
		kg_log_err("the store's queue is full: %s is not told", target);
		notice_free(n);
	}
}

void notify_resume(struct coordinator *c, const struct store_notices *pending)
{
	for (size_t i = 0; pending && i < pending->n; i++) {
		const struct store_notice *p = &pending->items[i];
		struct notice *n = notice_new(c, p->id, p->target, p->text);

		if (n)
			run(n);
	}
}

void notify_stop(struct coordinator *c)
{
	struct notice *n;

	for (n = c->notices; n; n = n->next)
		if (uv_is_active((uv_handle_t *)&n->process))
			(void)uv_process_kill(&n->process, SIGKILL); /* its exit closes the rest */
}
