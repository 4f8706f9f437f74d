/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "agent/command.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "agent/workload_registry.h"
#include "common/clock.h"
#include "common/err.h"
#include "common/str.h"

static int start(const char *const *argv, int out, pid_t *ret_pid)
{
	static char *const environment[] = {(char *)"PATH=" WORKLOAD_PATH, (char *)"LC_ALL=C",
					    (char *)"TZ=UTC", NULL};
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attr;
	sigset_t none, all;
	int rc = posix_spawn_file_actions_init(&actions);

	if (rc)
		return -rc;
	rc = posix_spawnattr_init(&attr);
	if (rc) {
		(void)posix_spawn_file_actions_destroy(&actions);
		return -rc;
	}
	(void)sigemptyset(&none);
	(void)sigfillset(&all);
	(void)posix_spawnattr_setsigmask(&attr, &none);
	(void)posix_spawnattr_setsigdefault(&attr, &all);
	(void)posix_spawnattr_setpgroup(&attr, 0);
	(void)posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK |
						      POSIX_SPAWN_SETSIGDEF);
	rc = posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
	if (!rc)
		rc = posix_spawn_file_actions_adddup2(&actions, out, 1);
	if (!rc)
		rc = posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0);
	if (!rc)
		rc = posix_spawn(ret_pid, argv[0], &actions, &attr, (char *const *)(uintptr_t)argv,
				 environment);
	(void)posix_spawnattr_destroy(&attr);
	(void)posix_spawn_file_actions_destroy(&actions);
	return -rc;
}

static int collect(int fd, size_t max, uint64_t deadline_ns, struct kg_str *out)
{
	char buf[4096];
	ssize_t n;

	for (;;) {
		uint64_t now = kg_monotonic_ns();
		struct pollfd p = {.fd = fd, .events = POLLIN};

		if (now >= deadline_ns)
			return -ETIME;
		if (poll(&p, 1, (int)((deadline_ns - now) / KG_NSEC_PER_MSEC) + 1) <= 0)
			continue;
		n = read(fd, buf, sizeof(buf));
		if (n == 0)
			return out->failed ? -ENOMEM : 0;
		if (n < 0) {
			if (errno != EINTR)
				return -errno;
			continue;
		}
		if (out->len + (size_t)n > max)
			return KG_ELIMIT;
		kg_str_addn(out, buf, (size_t)n);
	}
}

/* Its end, within the deadline; killed after that, or at once when it failed already. */
static int reap(pid_t pid, int rc, uint64_t deadline_ns)
{
	int status = 0;
	pid_t got;

	while (rc == 0 && (got = waitpid(pid, &status, WNOHANG)) == 0) {
		if (kg_monotonic_ns() >= deadline_ns)
			rc = -ETIME;
		else
			(void)poll(NULL, 0, 5); /* closed its output and lives on */
	}
	(void)kill(-pid, SIGKILL);
	if (rc < 0) {
		while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
			;
		return rc;
	}
	return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? 0 : KG_ENODATA;
}

int command_output(const char *const *argv, size_t max, uint64_t timeout_ns, char **ret_text,
		   size_t *ret_len)
{
	uint64_t deadline = kg_monotonic_ns() + timeout_ns;
	struct kg_str out = {0};
	int fds[2], rc;
	pid_t pid;

	if (pipe2(fds, O_CLOEXEC) < 0)
		return -errno;
	rc = start(argv, fds[1], &pid);
	close(fds[1]);
	if (rc == 0)
		rc = reap(pid, collect(fds[0], max, deadline, &out), deadline);
	close(fds[0]);
	*ret_len = out.len;
	if (rc == 0) {
		*ret_text = kg_str_take(&out);
		rc = *ret_text ? 0 : -ENOMEM;
	} else {
		kg_str_deinit(&out);
	}
	return rc;
}
