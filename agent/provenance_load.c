/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What goes on beside us: load, heat, people, package managers. Cheap: it is asked around every
 * attempt. */
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utmpx.h>

#include "agent/provenance_facts.h"
#include "common/str.h"

#define UTMP_MAX (1U << 20)

/* Names as in /proc/PID/comm, which ends after 15 bytes. */
static const char *const managers[] = {
	"apt",	"apt-get", "aptitude", "dpkg",	 "unattended-upgr", "dnf",
	"dnf5", "yum",	   "rpm",      "zypper", "zypp-rpm",	    "packagekitd"};

static const char *const stamped[] = {
	"/var/lib/dpkg/status",
	"/var/lib/apt/lists",
	"/var/cache/apt/pkgcache.bin",
	"/var/lib/rpm/rpmdb.sqlite",
	"/var/lib/rpm/Packages",
	"/var/lib/rpm/Packages.db",
	"/usr/lib/sysimage/rpm/rpmdb.sqlite",
	"/usr/lib/sysimage/rpm/Packages.db",
};

static const char *const locks[] = {"/var/lib/dpkg/lock-frontend", "/var/lib/dpkg/lock"};

/* ---- load ---- */

/* The "some" line, or for a file without one the first. */
static void add_pressure(const char *root, struct fact_list *l, const char *what)
{
	char name[32], path[64];

	(void)snprintf(name, sizeof(name), "pressure.%s", what);
	(void)snprintf(path, sizeof(path), "/proc/pressure/%s", what);
	fact_file(l, root, name, path);
}

static void add_temperature(struct fact_list *l, const char *root, const char *kind,
			    const char *path, unsigned *seen)
{
	char *text, name[96];
	int64_t milli;
	size_t len;
	int rc = fact_read(root, path, 64, &text, &len);

	if (rc == -ENOMEM)
		l->failed = true;
	if (rc < 0)
		return;
	text[strcspn(text, "\n")] = '\0';
	(void)snprintf(name, sizeof(name), "temperature.%u.%.48s", *seen, kind);
	if (kg_parse_i64(text, &milli) == 0 && milli > -100000 && milli < 200000) {
		fact_addf(l, name, "%.1f C", (double)milli / 1000);
		++*seen;
	}
	free(text);
}

static char *kind_of(struct fact_list *l, const char *root, const char *path)
{
	char *text, *p;
	size_t len;
	int rc = fact_read(root, path, 256, &text, &len);

	if (rc == -ENOMEM)
		l->failed = true;
	if (rc < 0)
		return NULL;
	text[strcspn(text, "\n")] = '\0';
	for (p = text; *p; p++)
		if (!isalnum((unsigned char)*p) && *p != '_' && *p != '-')
			*p = '_';
	return text;
}

/* Thermal zones, and the sensors within the CPUs. Other sensors may take milliseconds each. */
static void add_temperatures(const char *root, struct fact_list *l)
{
	static const char *const cpus[] = {"coretemp", "k10temp", "zenpower"};
	unsigned seen = 0;
	size_t n, i, j;
	char **names = fact_names(l, root, "/sys/class/thermal", "thermal_zone", &n);
	char path[160], *kind;

	for (i = 0; i < n; i++) {
		(void)snprintf(path, sizeof(path), "/sys/class/thermal/%.32s/type", names[i]);
		kind = kind_of(l, root, path);
		(void)snprintf(path, sizeof(path), "/sys/class/thermal/%.32s/temp", names[i]);
		if (kind)
			add_temperature(l, root, kind, path, &seen);
		free(kind);
	}
	fact_names_free(names, n);
	names = fact_names(l, root, "/sys/class/hwmon", "hwmon", &n);
	for (i = 0; i < n; i++) {
		(void)snprintf(path, sizeof(path), "/sys/class/hwmon/%.32s/name", names[i]);
		kind = kind_of(l, root, path);
		for (j = 0; kind && j < 3; j++)
			if (strcmp(kind, cpus[j]) == 0) {
				(void)snprintf(path, sizeof(path),
					       "/sys/class/hwmon/%.32s/temp1_input", names[i]);
				add_temperature(l, root, kind, path, &seen);
			}
		free(kind);
	}
	fact_names_free(names, n);
	if (!seen)
		fact_unsupported(l, "temperature.cpu", FACT_ABSENT);
}

void provenance_load(const char *root, struct fact_list *l)
{
	fact_file(l, root, "load", "/proc/loadavg");
	fact_file(l, root, "uptime", "/proc/uptime");
	fact_file(l, root, "kernel.tainted", "/proc/sys/kernel/tainted");
	add_pressure(root, l, "cpu");
	add_pressure(root, l, "memory");
	add_pressure(root, l, "io");
	add_pressure(root, l, "irq");
	add_temperatures(root, l);
}

/* ---- sessions ---- */

/* The text of a fixed field that need not end in NUL, with what would end a word replaced. */
static void field(struct kg_str *out, const char *text, size_t size)
{
	char buf[64];
	size_t n = 0;

	for (; n < size && n + 1 < sizeof(buf) && text[n]; n++)
		buf[n] = isgraph((unsigned char)text[n]) ? text[n] : '_';
	buf[n] = '\0';
	kg_str_add(out, buf);
}

static bool add_utmp(const char *root, struct fact_list *l, struct kg_str *all)
{
	struct utmpx u;
	char *text;
	size_t len, at;
	int rc = fact_read(root, "/run/utmp", UTMP_MAX, &text, &len);

	if (rc == -ENOMEM)
		l->failed = true;
	if (rc < 0)
		return false;
	for (at = 0; len - at >= sizeof(u); at += sizeof(u)) {
		memcpy(&u, text + at, sizeof(u));
		if (u.ut_type != USER_PROCESS || !u.ut_user[0])
			continue;
		kg_str_add(all, all->len ? " " : "");
		field(all, u.ut_user, sizeof(u.ut_user));
		kg_str_add(all, "@");
		field(all, u.ut_line, sizeof(u.ut_line));
		kg_str_addf(all, "#%d", (int)u.ut_pid);
	}
	free(text);
	return true;
}

/* Value of KEY= in a file of lines, cut out in place; NULL when there is none. */
static char *key_of(char *text, const char *key)
{
	size_t len = strlen(key);
	char *line;

	for (line = text; line; line = strchr(line, '\n')) {
		line += *line == '\n';
		if (strncmp(line, key, len) == 0)
			return line + len;
	}
	return NULL;
}

static bool add_logind(const char *root, struct fact_list *l, struct kg_str *all)
{
	static const char dir[] = "/run/systemd/sessions";
	size_t n, i, len;
	char **names = fact_names(l, root, dir, "", &n);

	for (i = 0; i < n; i++) {
		char path[160], *text, *class, *user;
		int rc;

		(void)snprintf(path, sizeof(path), "%s/%.64s", dir, names[i]);
		rc = fact_read(root, path, 65536, &text, &len); /* refuses the .ref pipes */
		if (rc == -ENOMEM)
			l->failed = true;
		if (rc < 0)
			continue;
		class = key_of(text, "CLASS=");
		user = key_of(text, "USER=");
		/* A manager's, a greeter's or a background session is nobody who works here. */
		if (class && (strncmp(class, "user\n", 5) == 0 || strcmp(class, "user") == 0 ||
			      kg_str_starts(class, "user-early\n"))) {
			kg_str_addf(all, "%ssession-%.32s#", all->len ? " " : "", names[i]);
			if (user)
				field(all, user, strcspn(user, "\n"));
		}
		free(text);
	}
	fact_names_free(names, n);
	return fact_exists(root, dir);
}

static void add_sessions(const char *root, struct fact_list *l)
{
	struct kg_str all = {0};
	bool known = add_utmp(root, l, &all);

	known = add_logind(root, l, &all) || known;
	if (all.failed)
		l->failed = true;
	else if (all.len > FACT_VALUE_MAX) /* more than any list of ours is for */
		fact_unsupported(l, "sessions", FACT_FAILED);
	else if (known)
		fact_add(l, "sessions", all.len ? all.text : "none");
	else
		fact_unsupported(l, "sessions", FACT_ABSENT);
	kg_str_deinit(&all);
}

/* ---- package managers ---- */

static bool is_manager(const char *root, struct fact_list *l, const char *pid, const char *comm)
{
	char path[64], *text;
	size_t len, i;
	bool found = false;
	int rc;

	for (i = 0; i < sizeof(managers) / sizeof(managers[0]) && !found; i++)
		found = strcmp(comm, managers[i]) == 0;
	if (!found || strcmp(comm, "unattended-upgr") != 0)
		return found;
	/* Its helper that waits for the shutdown is always there, and does nothing. */
	(void)snprintf(path, sizeof(path), "/proc/%.16s/cmdline", pid);
	rc = fact_read(root, path, 65536, &text, &len);
	if (rc == -ENOMEM)
		l->failed = true;
	if (rc < 0)
		return true;
	found = memmem(text, len, "unattended-upgrade-shutdown", 27) == NULL;
	free(text);
	return found;
}

static void add_lock(struct fact_list *l, const char *root, struct kg_str *all, const char *path)
{
	struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
	char full[512];
	int fd;

	(void)l;
	if (snprintf(full, sizeof(full), "%s%s", root, path) >= (int)sizeof(full))
		return;
	fd = open(full, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW);
	if (fd < 0)
		return;
	if (fcntl(fd, F_GETLK, &lock) == 0 && lock.l_type != F_UNLCK)
		kg_str_addf(all, "%s%s[%d]", all->len ? " " : "", strrchr(path, '/') + 1,
			    (int)lock.l_pid);
	close(fd);
}

static void add_managers(const char *root, struct fact_list *l)
{
	struct kg_str all = {0};
	size_t n, i, len;
	char **names = fact_names(l, root, "/proc", "", &n);
	bool any = false;

	for (i = 0; i < n; i++) {
		char path[64], *comm;
		int rc;

		if (!isdigit((unsigned char)names[i][0]))
			continue;
		(void)snprintf(path, sizeof(path), "/proc/%.16s/comm", names[i]);
		rc = fact_read(root, path, 256, &comm, &len);
		if (rc == -ENOMEM)
			l->failed = true;
		if (rc < 0)
			continue; /* it ended */
		any = true;
		comm[strcspn(comm, "\n")] = '\0';
		if (is_manager(root, l, names[i], comm))
			kg_str_addf(&all, "%s%s[%.16s]", all.len ? " " : "", comm, names[i]);
		free(comm);
	}
	fact_names_free(names, n);
	for (i = 0; i < sizeof(locks) / sizeof(locks[0]); i++)
		add_lock(l, root, &all, locks[i]);
	if (all.failed)
		l->failed = true;
	else if (any || all.len)
		fact_add(l, "package-manager", all.len ? all.text : "none");
	else
		fact_unsupported(l, "package-manager", FACT_ABSENT);
	kg_str_deinit(&all);
}

static void add_stamp(struct kg_str *all, const char *root, const char *path)
{
	char full[4200];
	struct stat st;

	if (snprintf(full, sizeof(full), "%s%s", root, path) >= (int)sizeof(full) ||
	    stat(full, &st) < 0)
		return;
	kg_str_addf(all, "%s%s %" PRId64 ".%09ld %" PRId64 " %" PRIu64, all->len ? "; " : "", path,
		    (int64_t)st.st_mtim.tv_sec, st.st_mtim.tv_nsec, (int64_t)st.st_size,
		    (uint64_t)st.st_ino);
}

void provenance_others(const char *root, struct fact_list *l)
{
	struct kg_str all = {0};
	size_t i;

	add_sessions(root, l);
	add_managers(root, l);
	for (i = 0; i < sizeof(stamped) / sizeof(stamped[0]); i++)
		add_stamp(&all, root, stamped[i]);
	if (all.failed)
		l->failed = true;
	else if (all.len)
		fact_add(l, "packages.stamp", all.text);
	else
		fact_unsupported(l, "packages.stamp", FACT_ABSENT);
	kg_str_deinit(&all);
}

void provenance_programs_stamp(const char *const *programs, struct fact_list *l)
{
	struct kg_str all = {0};

	for (; programs && *programs; programs++)
		add_stamp(&all, "", *programs);
	if (all.failed)
		l->failed = true;
	else if (all.len)
		fact_add(l, "workloads.stamp", all.text);
	else
		fact_unsupported(l, "workloads.stamp", FACT_ABSENT);
	kg_str_deinit(&all);
}

int provenance_moment(const char *root, const char *const *programs, struct fact_list *ret_l)
{
	struct fact_list l = {0};

	provenance_load(root, &l);
	provenance_throttle(root, &l);
	provenance_frequency(root, &l);
	provenance_cpu_microcode(root, &l);
	provenance_cpu_present(root, &l);
	fact_file(&l, root, "cpu.online", "/sys/devices/system/cpu/online");
	fact_file(&l, root, "smt.active", "/sys/devices/system/cpu/smt/active");
	fact_file(&l, root, "clocksource.current",
		  "/sys/devices/system/clocksource/clocksource0/current_clocksource");
	provenance_others(root, &l);
	provenance_programs_stamp(programs, &l);
	if (l.failed) {
		fact_list_deinit(&l);
		return -ENOMEM;
	}
	fact_list_sort(&l);
	*ret_l = l;
	return 0;
}
