/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tests/lib/command.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/lib/cmocka_all.h"

#define WORDS_MAX 32
#define LIMIT_MS  30000

struct capture {
	int fd;
	char *text; /* owned */
	size_t len;
};

/* Appends what comes; false at the end. */
static bool take(struct capture *c)
{
	char buf[4096];
	ssize_t n = read(c->fd, buf, sizeof(buf));

	if (n <= 0)
		return false; /* also EIO: the terminal's other end is closed */
	c->text = realloc(c->text, c->len + (size_t)n + 1);
	assert_non_null(c->text);
	memcpy(c->text + c->len, buf, (size_t)n);
	c->len += (size_t)n;
	c->text[c->len] = '\0';
	return true;
}

static void run_child(const struct command *c, const char *line)
{
	char copy[1024], *argv[WORDS_MAX + 1], *save = NULL, *word;
	size_t n = 0, i;

	if (c->ignore_sigpipe)
		(void)signal(SIGPIPE, SIG_IGN);
	(void)unsetenv("KGRID_COORDINATOR");
	(void)unsetenv("NO_COLOR");
	if (c->address)
		(void)setenv("KGRID_COORDINATOR", c->address, 1);
	for (i = 0; c->env[i]; i++)
		(void)putenv((char *)(uintptr_t)c->env[i]);
	(void)snprintf(copy, sizeof(copy), "%s %s", KGRID_COMMAND, line);
	for (word = strtok_r(copy, " ", &save); word && n < WORDS_MAX;
	     word = strtok_r(NULL, " ", &save))
		argv[n++] = word;
	argv[n] = NULL;
	(void)execv(KGRID_COMMAND, argv);
	_exit(127);
}

static pid_t start_on_terminal(const struct command *c, const char *line, int *ret_fd)
{
	struct winsize size = {.ws_row = 25, .ws_col = 100};
	pid_t pid = forkpty(ret_fd, NULL, NULL, &size);

	if (pid == 0)
		run_child(c, line);
	return pid;
}

static pid_t start_on_pipes(const struct command *c, const char *line, int *ret_out, int *ret_err)
{
	int out[2], err[2];
	pid_t pid;

	assert_int_equal(pipe(out), 0);
	assert_int_equal(pipe(err), 0);
	pid = fork();
	if (pid == 0) {
		(void)dup2(c->out_fd ? c->out_fd : out[1], STDOUT_FILENO);
		(void)dup2(err[1], STDERR_FILENO);
		close(out[0]);
		close(out[1]);
		close(err[0]);
		close(err[1]);
		run_child(c, line);
	}
	close(out[1]);
	close(err[1]);
	*ret_out = out[0];
	*ret_err = err[0];
	return pid;
}

/* Reads both until they end, sending the signal on the way. */
static void collect(const struct command *c, pid_t pid, struct capture *out, struct capture *err)
{
	struct pollfd p[2] = {{.fd = out->fd, .events = POLLIN}, {.fd = err->fd, .events = POLLIN}};
	bool sent = false;

	while (p[0].fd >= 0 || p[1].fd >= 0) {
		int n = poll(p, 2, LIMIT_MS);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0) {
			(void)kill(pid, SIGKILL);
			fail_msg("the command does not end");
		}
		if (p[0].revents && !take(out))
			p[0].fd = -1;
		if (p[1].revents && !take(err))
			p[1].fd = -1;
		if (c->wait_for && !sent && out->text && strstr(out->text, c->wait_for)) {
			sent = true;
			if (c->then)
				c->then(c->ctx);
			else
				(void)kill(pid, c->signal);
		}
	}
}

void command_run(const struct command *c, const char *line, struct command_result *ret_result)
{
	struct capture out = {.fd = -1}, err = {.fd = -1};
	int status;
	pid_t pid;

	out.text = calloc(1, 1);
	err.text = calloc(1, 1);
	pid = c->terminal ? start_on_terminal(c, line, &out.fd)
			  : start_on_pipes(c, line, &out.fd, &err.fd);
	assert_true(pid > 0);
	collect(c, pid, &out, &err);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	close(out.fd);
	if (err.fd >= 0)
		close(err.fd);
	ret_result->status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
	ret_result->out = out.text;
	ret_result->err = err.text;
}

void command_result_deinit(struct command_result *r)
{
	free(r->out);
	free(r->err);
}
