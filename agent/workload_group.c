/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "agent/workload_group.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "common/file.h"
#include "common/str.h"

static const char *const part_names[GROUP_PARTS] = {"workload", "helper"};

#define GONE_TRIES 1000 /* of 5 ms */

static void part_file(const struct workload_group *g, enum group_part part, const char *file,
		      char *ret, size_t size)
{
	(void)snprintf(ret, size, "%s/%s%s%s", g->base, part_names[part], file[0] ? "/" : "", file);
}

/* Where the unified hierarchy is mounted: the first cgroup2 line of /proc/self/mounts. */
static bool find_mount(char *ret, size_t size)
{
	char *text, *line, *rest = NULL;
	bool found = false;
	size_t len;

	if (kg_file_read("/proc/self/mounts", 1 << 20, &text, &len, NULL) < 0)
		return false;
	for (line = strtok_r(text, "\n", &rest); line && !found;
	     line = strtok_r(NULL, "\n", &rest)) {
		char *word = NULL;
		char *device = strtok_r(line, " ", &word);
		char *dir = device ? strtok_r(NULL, " ", &word) : NULL;
		char *type = dir ? strtok_r(NULL, " ", &word) : NULL;

		found = type && strcmp(type, "cgroup2") == 0 &&
			snprintf(ret, size, "%s", dir) < (int)size;
	}
	free(text);
	return found;
}

/* The agent's own cgroup: the line "0::PATH". */
static bool find_own(char *ret, size_t size)
{
	char *text, *line, *rest = NULL;
	bool found = false;
	size_t len;

	if (kg_file_read("/proc/self/cgroup", 65536, &text, &len, NULL) < 0)
		return false;
	for (line = strtok_r(text, "\n", &rest); line && !found; line = strtok_r(NULL, "\n", &rest))
		found = kg_str_starts(line, "0::/") &&
			snprintf(ret, size, "%s", line + 3) < (int)size;
	free(text);
	return found;
}

static bool make_dir(const char *path)
{
	return mkdir(path, 0755) == 0 || errno == EEXIST;
}

static bool setup_cgroup(struct workload_group *g, const char *name)
{
	char mount[512], own[512], path[GROUP_PATH_SIZE + 32];
	size_t len;
	int part;

	if (!find_mount(mount, sizeof(mount)) || !find_own(own, sizeof(own)))
		return false;
	len = strlen(own);
	if (len > 0 && own[len - 1] == '/')
		own[len - 1] = '\0';
	if (snprintf(g->base, sizeof(g->base), "%s%s/kgrid-%s", mount, own, name) >=
	    (int)sizeof(g->base))
		return false;
	if (!make_dir(g->base))
		return false;
	for (part = 0; part < GROUP_PARTS; part++) {
		part_file(g, (enum group_part)part, "", path, sizeof(path));
		if (!make_dir(path))
			return false;
		part_file(g, (enum group_part)part, "cgroup.procs", path, sizeof(path));
		if (access(path, W_OK) < 0)
			return false;
	}
	return true;
}

/* State, parent and session out of /proc/PID/stat; false when the process is gone. */
static bool read_stat(pid_t pid, char *ret_state, pid_t *ret_parent, pid_t *ret_session)
{
	char path[32], buf[512], *p;
	int parent, group, session;

	(void)snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	if (kg_file_read_line(path, buf, sizeof(buf), NULL) < 0)
		return false;
	p = strrchr(buf, ')'); /* the name may hold anything */
	if (!p || sscanf(p + 1, " %c %d %d %d", ret_state, &parent, &group, &session) != 4)
		return false;
	*ret_parent = parent;
	*ret_session = session;
	return true;
}

static bool has_marker(pid_t pid, const char *marker)
{
	char path[40], *text, *p;
	bool found = false;
	size_t len;

	(void)snprintf(path, sizeof(path), "/proc/%d/environ", (int)pid);
	if (kg_file_read(path, 1 << 20, &text, &len, NULL) < 0)
		return false;
	for (p = text; p < text + len && !found; p += strlen(p) + 1)
		found = strcmp(p, marker) == 0;
	free(text);
	return found;
}

enum scan_for { SCAN_PART, SCAN_MARKER };

static bool is_member(const struct workload_group *g, enum scan_for what, enum group_part part,
		      pid_t pid)
{
	pid_t parent, session;
	char state;

	if (pid == getpid() || !read_stat(pid, &state, &parent, &session) || state == 'Z' ||
	    state == 'X')
		return false;
	if (what == SCAN_MARKER)
		return has_marker(pid, g->marker);
	if (g->leader[part] && session == g->leader[part])
		return true;
	/* Orphans come to the agent. Whose they were can no longer be told: they count for the
	 * workload. */
	return part == GROUP_MAIN && g->leader[GROUP_MAIN] && parent == getpid() &&
	       !(g->leader[GROUP_HELPER] && session == g->leader[GROUP_HELPER]);
}

/* Counts members by a walk over /proc; kills them on the way with `kill_them`. */
static size_t scan(const struct workload_group *g, enum scan_for what, enum group_part part,
		   pid_t except, bool kill_them)
{
	DIR *proc = opendir("/proc");
	struct dirent *de;
	size_t n = 0;

	if (!proc)
		return 0;
	while ((de = readdir(proc))) {
		pid_t pid = (pid_t)strtol(de->d_name, NULL, 10);

		if (!isdigit((unsigned char)de->d_name[0]) || pid == except ||
		    !is_member(g, what, part, pid))
			continue;
		n++;
		if (kill_them)
			(void)kill(pid, SIGKILL);
	}
	closedir(proc);
	return n;
}

static size_t cgroup_members(const struct workload_group *g, enum group_part part, pid_t except,
			     bool kill_them)
{
	char path[GROUP_PATH_SIZE + 32], *text, *line, *rest = NULL;
	size_t len, n = 0;

	part_file(g, part, "cgroup.procs", path, sizeof(path));
	if (kg_file_read(path, 1 << 22, &text, &len, NULL) < 0)
		return 0;
	for (line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
		pid_t pid = (pid_t)strtol(line, NULL, 10);

		if (pid == except)
			continue;
		n++;
		if (kill_them)
			(void)kill(pid, SIGKILL);
	}
	free(text);
	return n;
}

size_t workload_group_count(const struct workload_group *g, enum group_part part, pid_t except)
{
	if (g->cgroup)
		return cgroup_members(g, part, except, false);
	return scan(g, SCAN_PART, part, except, false);
}

void workload_group_kill(const struct workload_group *g, enum group_part part)
{
	char path[GROUP_PATH_SIZE + 32];
	int fd;

	if (!g->cgroup) {
		(void)scan(g, SCAN_PART, part, 0, true);
		return;
	}
	part_file(g, part, "cgroup.kill", path, sizeof(path)); /* since 5.14 */
	fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0 || kg_write_all(fd, "1", 1) < 0)
		(void)cgroup_members(g, part, 0, true);
	if (fd >= 0)
		close(fd);
}

int workload_group_open(struct workload_group *g, enum group_part part, int *ret_fd,
			struct kg_err *err)
{
	char path[GROUP_PATH_SIZE + 32];
	int fd;

	*ret_fd = -1;
	if (!g->cgroup)
		return 0;
	part_file(g, part, "cgroup.procs", path, sizeof(path));
	fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		return kg_err_errno(err, "cannot open", path);
	*ret_fd = fd;
	return 0;
}

/* Kills until nobody is left. Only at start, before there is anything to disturb. */
static bool clear(const struct workload_group *g)
{
	const struct timespec pause = {.tv_nsec = 5000000};
	int i;

	for (i = 0; i < GONE_TRIES; i++) {
		size_t n = scan(g, SCAN_MARKER, GROUP_MAIN, 0, true);
		int part;

		for (part = 0; part < GROUP_PARTS && g->cgroup; part++) {
			size_t members = workload_group_count(g, (enum group_part)part, 0);

			if (members > 0)
				workload_group_kill(g, (enum group_part)part);
			n += members;
		}
		while (waitpid(-1, NULL, WNOHANG) > 0)
			;
		if (n == 0)
			return true;
		(void)nanosleep(&pause, NULL);
	}
	return false;
}

int workload_group_init(struct workload_group *g, const char *name, bool use_cgroup,
			struct kg_err *err)
{
	memset(g, 0, sizeof(*g));
	(void)snprintf(g->marker, sizeof(g->marker), "%s=%s", GROUP_MARKER, name);
	if (prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) < 0)
		return kg_err_errno(err, "cannot become", "subreaper");
	g->cgroup = use_cgroup && setup_cgroup(g, name);
	if (!clear(g))
		return kg_err_set(err, KG_EBUSY, "processes of an earlier run cannot be killed");
	return 0;
}

void workload_group_deinit(struct workload_group *g)
{
	char path[GROUP_PATH_SIZE + 32];
	int part;

	if (!g->cgroup)
		return;
	for (part = 0; part < GROUP_PARTS; part++) {
		part_file(g, (enum group_part)part, "", path, sizeof(path));
		(void)rmdir(path);
	}
	(void)rmdir(g->base);
}
