/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "agent/workload_spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "agent/workload_registry.h"
#include "common/fault.h"
#include "common/file.h"
#include "common/str.h"

struct child {
	const char *program;
	char **argv;
	char **env;
	int group; /* cgroup.procs, or -1 */
	int null;
	int out, err;
	int report; /* errno goes here when exec fails */
};

/* Only async-signal-safe calls from here to exec. */
__attribute__((noreturn)) static void run_child(const struct child *c)
{
	sigset_t none;
	int e, sig, fd;

	(void)prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
	if (setsid() < 0 || (c->group >= 0 && write(c->group, "0", 1) != 1))
		goto failed;
	fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
	if (fd >= 0) {
		/* The agent may be protected; a workload is not. */
		if (write(fd, "0", 1) != 1)
			errno = 0;
		close(fd);
	}
	if (dup2(c->null, 0) < 0 || dup2(c->out, 1) < 0 || dup2(c->err, 2) < 0 || chdir("/") < 0)
		goto failed;
	for (sig = 1; sig < NSIG; sig++)
		if (sig != SIGKILL && sig != SIGSTOP)
			(void)signal(sig, SIG_DFL);
	sigemptyset(&none);
	(void)sigprocmask(SIG_SETMASK, &none, NULL);
	(void)execve(c->program, c->argv, c->env);
failed:
	e = errno;
	if (write(c->report, &e, sizeof(e)) != sizeof(e))
		_exit(126);
	_exit(127);
}

static char **make_environment(const struct workload_spawn *s, char *ret_path[1])
{
	static char *const fixed[] = {(char *)"LC_ALL=C", (char *)"TZ=UTC", (char *)"HOME=/"};
	size_t n = s->environment ? s->environment->n : 0, at = 0, i;
	struct kg_str path = {0};
	char **env = calloc(n + 6, sizeof(*env));

	kg_str_addf(&path, "PATH=%s", s->path);
	ret_path[0] = kg_str_take(&path);
	if (!env || !ret_path[0]) {
		free(env);
		free(ret_path[0]);
		return NULL;
	}
	env[at++] = ret_path[0];
	env[at++] = s->group->marker;
	for (i = 0; i < 3; i++)
		env[at++] = fixed[i];
	for (i = 0; i < n; i++)
		env[at++] = s->environment->items[i];
	return env;
}

/* Waits for exec: the pipe closes then, or carries the errno. Takes as long as exec does. */
static int wait_for_exec(int report, pid_t pid)
{
	int e = 0;
	ssize_t n;

	do
		n = read(report, &e, sizeof(e));
	while (n < 0 && errno == EINTR);
	if (n != sizeof(e))
		return 0;
	(void)waitpid(pid, NULL, 0);
	return e ? -e : -EIO;
}

static int fork_child(struct child *c, pid_t *ret_pid)
{
	int report[2], rc;
	sigset_t all, old;
	pid_t pid;

	if (pipe2(report, O_CLOEXEC) < 0)
		return -errno;
	c->report = report[1];
	/* No handler of the agent may run in the child. */
	sigfillset(&all);
	(void)sigprocmask(SIG_SETMASK, &all, &old);
	KG_FAULT(RUN_SPAWN);
	pid = fork();
	if (pid == 0)
		run_child(c);
	KG_FAULT(RUN_SPAWNED);
	rc = pid < 0 ? -errno : 0;
	(void)sigprocmask(SIG_SETMASK, &old, NULL);
	close(report[1]);
	if (rc == 0)
		rc = wait_for_exec(report[0], pid);
	close(report[0]);
	if (rc == 0)
		*ret_pid = pid;
	return rc;
}

int workload_spawn(const struct workload_spawn *s, pid_t *ret_pid, struct kg_err *err)
{
	struct child c = {.argv = s->argv->items, .out = s->out, .err = s->err, .group = -1};
	char *program = workload_find_program(s->argv->items[0], s->path);
	char *path_variable = NULL;
	int rc;

	if (!program)
		return kg_err_set(err, KG_ENOTFOUND, "program '%s' is not installed",
				  s->argv->items[0]);
	c.program = program;
	c.null = open("/dev/null", O_RDONLY | O_CLOEXEC);
	c.env = make_environment(s, &path_variable);
	if (c.null < 0 || !c.env) {
		rc = kg_err_set(err, -ENOMEM, "cannot prepare '%s'", program);
		goto out;
	}
	rc = workload_group_open(s->group, s->part, &c.group, err);
	if (rc < 0)
		goto out;
	rc = fork_child(&c, ret_pid);
	if (rc < 0)
		kg_err_set(err, rc, "cannot run '%s': %s", program, kg_strerror(rc));
	else
		s->group->leader[s->part] = *ret_pid;
	if (c.group >= 0)
		close(c.group);
out:
	if (c.null >= 0)
		close(c.null);
	free(c.env);
	free(path_variable);
	free(program);
	return rc;
}
