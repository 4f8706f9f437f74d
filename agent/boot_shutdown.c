/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "agent/boot_shutdown.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdint.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/reboot.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/fault.h"
#include "common/log.h"

bool boot_shutdown_by_systemd(const struct agent_config *c)
{
	struct stat st;

	if (c->shutdown.method != AGENT_SHUTDOWN_AUTO)
		return c->shutdown.method == AGENT_SHUTDOWN_SYSTEMCTL;
	return lstat("/run/systemd/system", &st) == 0 && S_ISDIR(st.st_mode); /* sd_booted(3) */
}

/* Its end within the limit, or it is killed. */
static int reap(pid_t pid, uint64_t limit_ns, int *ret_status)
{
	uint64_t deadline = kg_monotonic_ns() + limit_ns;
	int rc = 0;
	pid_t got;

	while ((got = waitpid(pid, ret_status, rc < 0 ? 0 : WNOHANG)) != pid) {
		if (got < 0 && errno != EINTR)
			return -errno;
		if (rc < 0)
			continue;
		if (kg_monotonic_ns() >= deadline) {
			rc = -ETIME;
			(void)kill(pid, SIGKILL);
		} else {
			(void)poll(NULL, 0, 5);
		}
	}
	return rc;
}

int boot_systemctl(const char *verb, bool force, uint64_t limit_ns, struct kg_err *err)
{
	char *const argv[] = {(char *)"systemctl", (char *)"--no-block", (char *)(uintptr_t)verb,
			      force ? (char *)"--force" : NULL, NULL};
	/* A plain reboot is meant as one, even with a kernel loaded or a new root prepared. */
	static char *const env[] = {(char *)"PATH=/usr/sbin:/usr/bin:/sbin:/bin",
				    (char *)"SYSTEMCTL_SKIP_AUTO_KEXEC=1",
				    (char *)"SYSTEMCTL_SKIP_AUTO_SOFT_REBOOT=1", NULL};
	int status, rc;
	pid_t pid;

	sync();
	KG_FAULT(KEXEC_HOP);
	rc = posix_spawnp(&pid, "systemctl", NULL, NULL, argv, env);
	if (rc != 0)
		return kg_err_set(err, -rc, "cannot run 'systemctl': %s", strerror(rc));
	rc = reap(pid, limit_ns, &status);
	if (rc == -ETIME)
		return kg_err_set(err, rc, "'systemctl %s' did not end and was killed", verb);
	if (rc < 0)
		return kg_err_set(err, rc, "cannot wait for 'systemctl'");
	if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
		return kg_err_set(err, -EIO, "'systemctl %s' failed with %d", verb,
				  WIFEXITED(status) ? WEXITSTATUS(status) : -1);
	return 0;
}

static int unmount_all(const struct agent_config *c, struct kg_err *err)
{
	size_t i;

	if (chdir("/") < 0)
		return kg_err_errno(err, "cannot change to", "/");
	sync();
	for (i = 0; i < c->shutdown.unmount.n; i++) {
		const char *path = c->shutdown.unmount.items[i];

		if (umount2(path, UMOUNT_NOFOLLOW) == 0 || errno == EINVAL || errno == ENOENT)
			continue;
		kg_log_warn("cannot unmount '%s': %s; trying read-only", path, strerror(errno));
		if (mount(NULL, path, NULL, MS_REMOUNT | MS_RDONLY, NULL) < 0)
			return kg_err_errno(err, "cannot unmount", path);
	}
	sync();
	return 0;
}

int boot_shutdown_direct(const struct agent_config *c, struct kg_err *err)
{
	int rc = unmount_all(c, err);

	if (rc < 0)
		return rc;
	KG_FAULT(KEXEC_HOP);
	(void)reboot(RB_KEXEC);
	return kg_err_errno(err, "cannot start", "the loaded kernel");
}

int boot_reboot_direct(const struct agent_config *c, struct kg_err *err)
{
	int rc = unmount_all(c, err);

	if (rc < 0)
		return rc;
	(void)reboot(RB_AUTOBOOT);
	return kg_err_errno(err, "cannot restart", "the machine");
}
