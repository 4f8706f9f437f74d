/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "agent/settings.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/file.h"
#include "common/str.h"

#define PATH_SIZE 512
#define TEXT_SIZE 1024
#define CPU_DIR	  "/sys/devices/system/cpu"
#define THP_DIR	  "/sys/kernel/mm/transparent_hugepage"

/* How what a file shows is compared with what was asked for. */
enum shown { SHOWN_PLAIN, SHOWN_CHOSEN /* "always [madvise] never" */ };

/* ---- files ---- */

static void join(char *buf, const char *root, const char *path)
{
	(void)snprintf(buf, PATH_SIZE, "%s%s", root, path);
}

/* The whole text with blanks made single; false: not there. */
static bool read_text(const char *path, char *buf, size_t size)
{
	ssize_t n;
	size_t in, out = 0;
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return false;
	n = read(fd, buf, size - 1);
	close(fd);
	if (n < 0)
		return false;
	buf[n] = '\0';
	for (in = 0; in < (size_t)n; in++) {
		bool blank = isspace((unsigned char)buf[in]);

		if (blank && (out == 0 || buf[out - 1] == ' '))
			continue;
		buf[out++] = blank ? ' ' : buf[in];
	}
	while (out > 0 && buf[out - 1] == ' ')
		out--;
	buf[out] = '\0';
	return true;
}

static int write_text(const char *path, const char *value)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	ssize_t n;
	int rc = 0;

	if (fd < 0)
		return -errno;
	n = write(fd, value, strlen(value));
	if (n < 0)
		rc = -errno;
	close(fd);
	return rc;
}

static void squeeze(const char *text, char *buf, size_t size)
{
	size_t out = 0;

	for (; *text && out + 1 < size; text++) {
		bool blank = isspace((unsigned char)*text);

		if (blank && (out == 0 || buf[out - 1] == ' '))
			continue;
		buf[out++] = blank ? ' ' : *text;
	}
	while (out > 0 && buf[out - 1] == ' ')
		out--;
	buf[out] = '\0';
}

/* "always [madvise] never" -> "madvise". */
static void choose(char *text)
{
	char *open = strchr(text, '[');
	char *close = open ? strchr(open, ']') : NULL;

	if (!close)
		return;
	*close = '\0';
	memmove(text, open + 1, strlen(open + 1) + 1);
}

/* ---- one file ---- */

static int apply_file(const char *path, enum shown shown, const char *name, const char *value,
		      struct kg_err *err)
{
	char found[TEXT_SIZE], wanted[TEXT_SIZE];
	int rc;

	squeeze(value, wanted, sizeof(wanted));
	if (access(path, F_OK) < 0)
		return kg_err_set(err, KG_ENODATA,
				  "setting '%s': this machine does not have it: %s", name,
				  strerror(errno));
	rc = write_text(path, value);
	if (rc < 0)
		return kg_err_set(err, rc, "setting '%s': the kernel refuses '%s': %s", name,
				  wanted, strerror(-rc));
	if (!read_text(path, found, sizeof(found)))
		return kg_err_set(err, -EIO, "setting '%s': cannot be read back", name);
	if (shown == SHOWN_CHOSEN)
		choose(found);
	if (strcmp(found, wanted) != 0)
		return kg_err_set(err, KG_ESTATE, "setting '%s': wanted '%s', found '%s'", name,
				  wanted, found);
	return 0;
}

/* ---- every CPU ---- */

static bool is_cpu(const char *name)
{
	return strncmp(name, "cpu", 3) == 0 && name[3] &&
	       strspn(name + 3, "0123456789") == strlen(name + 3);
}

static int apply_cpus(const char *root, const char *file, const char *name, const char *value,
		      struct kg_err *err)
{
	char path[PATH_SIZE];
	struct dirent *e;
	DIR *dir;
	size_t n = 0;
	int rc = 0;

	join(path, root, CPU_DIR);
	dir = opendir(path);
	while (dir && rc == 0 && (e = readdir(dir))) {
		char one[PATH_SIZE];

		if (!is_cpu(e->d_name))
			continue;
		if (snprintf(one, sizeof(one), "%s%s/%s/cpufreq/%s", root, CPU_DIR, e->d_name,
			     file) >= (int)sizeof(one) ||
		    access(one, F_OK) < 0)
			continue; /* off line */
		n++;
		rc = apply_file(one, SHOWN_PLAIN, name, value, err);
		if (rc < 0)
			kg_err_wrap(err, rc, "%.16s", e->d_name);
	}
	if (dir)
		closedir(dir);
	if (rc == 0 && n == 0)
		rc = kg_err_set(
			err, KG_ENODATA,
			"setting '%s': this machine does not have it: no CPU has cpufreq/%s", name,
			file);
	return rc;
}

/* ---- switches ---- */

/* Where turbo is switched, and whether the file says the opposite. */
static const struct {
	const char *path;
	bool inverse;
} turbo_files[] = {
	{CPU_DIR "/intel_pstate/no_turbo", true},
	{CPU_DIR "/cpufreq/boost", false},
};

static int find_turbo(const char *root, char path[PATH_SIZE])
{
	size_t i;

	for (i = 0; i < sizeof(turbo_files) / sizeof(turbo_files[0]); i++) {
		join(path, root, turbo_files[i].path);
		if (access(path, F_OK) == 0)
			return (int)i;
	}
	return -1;
}

static int apply_turbo(const char *root, const char *value, struct kg_err *err)
{
	char path[PATH_SIZE];
	int i = find_turbo(root, path);
	bool on = strcmp(value, "on") == 0;

	if (!on && strcmp(value, "off") != 0)
		return kg_err_set(err, KG_EINVALID, "setting 'turbo': expected on or off, not '%s'",
				  value);
	if (i < 0)
		return kg_err_set(err, KG_ENODATA,
				  "setting 'turbo': this machine does not have it");
	return apply_file(path, SHOWN_PLAIN, "turbo", on != turbo_files[i].inverse ? "1" : "0",
			  err);
}

/* ---- sysctl ---- */

static int apply_sysctl(const char *root, const char *name, const char *value, struct kg_err *err)
{
	char path[PATH_SIZE];
	char *p;
	int n;

	if (!name[0] || name[0] == '.' || strstr(name, "..") ||
	    strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-") !=
		    strlen(name))
		return kg_err_set(err, KG_EINVALID, "setting 'sysctl.%.100s': no name of a sysctl",
				  name);
	n = snprintf(path, sizeof(path), "%s/proc/sys/%s", root, name);
	if (n < 0 || (size_t)n >= sizeof(path))
		return kg_err_set(err, KG_EINVALID, "setting 'sysctl.%.100s': too long", name);
	for (p = path + strlen(root) + strlen("/proc/sys/"); *p; p++)
		if (*p == '.')
			*p = '/';
	return apply_file(path, SHOWN_PLAIN, name, value, err);
}

int settings_apply(const char *root, const char *name, const char *value, struct kg_err *err)
{
	char path[PATH_SIZE];

	if (strchr(value, '\n'))
		return kg_err_set(err, KG_EINVALID, "setting '%.100s': more than one line", name);
	if (kg_str_starts(name, "sysctl."))
		return apply_sysctl(root, name + strlen("sysctl."), value, err);
	if (strcmp(name, "governor") == 0)
		return apply_cpus(root, "scaling_governor", name, value, err);
	if (strcmp(name, "epp") == 0)
		return apply_cpus(root, "energy_performance_preference", name, value, err);
	if (strcmp(name, "turbo") == 0)
		return apply_turbo(root, value, err);
	if (strcmp(name, "smt") == 0) {
		join(path, root, CPU_DIR "/smt/control");
		return apply_file(path, SHOWN_PLAIN, name, value, err);
	}
	if (strcmp(name, "thp") == 0 || strcmp(name, "thp-defrag") == 0) {
		join(path, root, strcmp(name, "thp") == 0 ? THP_DIR "/enabled" : THP_DIR "/defrag");
		return apply_file(path, SHOWN_CHOSEN, name, value, err);
	}
	return kg_err_set(err, KG_EINVALID, "setting '%.100s' is not known to this agent", name);
}

/* ---- what is offered ---- */

static int add(struct kg_params *p, const char *name, const char *value)
{
	struct kg_param_value *items = realloc(p->items, (p->n + 1) * sizeof(*items));

	if (!items)
		return -ENOMEM;
	p->items = items;
	items[p->n].name = strdup(name);
	items[p->n].value = strdup(value);
	p->n++;
	return items[p->n - 1].name && items[p->n - 1].value ? 0 : -ENOMEM;
}

static int offer_list(const char *root, const char *file, const char *name, struct kg_params *p)
{
	char path[PATH_SIZE], text[TEXT_SIZE];
	char *c;

	join(path, root, file);
	if (!read_text(path, text, sizeof(text)) || !text[0])
		return 0;
	for (c = text; *c; c++)
		if (*c == '[' || *c == ']')
			*c = ' ';
	squeeze(text, path, sizeof(path));
	return add(p, name, path);
}

int settings_offer(const char *root, struct kg_params *ret_offer)
{
	struct kg_params p = {0};
	char path[PATH_SIZE], text[TEXT_SIZE];
	int rc = offer_list(root, CPU_DIR "/cpu0/cpufreq/scaling_available_governors", "governor",
			    &p);

	if (rc == 0)
		rc = offer_list(root,
				CPU_DIR "/cpu0/cpufreq/energy_performance_available_preferences",
				"epp", &p);
	if (rc == 0)
		rc = offer_list(root, THP_DIR "/enabled", "thp", &p);
	if (rc == 0)
		rc = offer_list(root, THP_DIR "/defrag", "thp-defrag", &p);
	join(path, root, CPU_DIR "/smt/control");
	if (rc == 0 && read_text(path, text, sizeof(text)) &&
	    (strcmp(text, "on") == 0 || strcmp(text, "off") == 0)) /* not: notsupported, forceoff */
		rc = add(&p, "smt", "on off");
	if (rc == 0 && find_turbo(root, path) >= 0)
		rc = add(&p, "turbo", "on off");
	if (rc < 0) {
		kg_params_deinit(&p);
		return rc;
	}
	*ret_offer = p;
	return 0;
}
