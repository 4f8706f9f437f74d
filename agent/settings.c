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

/* How a file shows a value, and how it is written. */
enum shown {
	SHOWN_PLAIN,
	SHOWN_CHOSEN,  /* "always [madvise] never" */
	SHOWN_NUMBERS, /* 0x10 is written, 16 is read */
	SHOWN_SWITCH,  /* on is 1 */
	SHOWN_INVERSE, /* on is 0 */
};

/* One setting as it was asked for. */
struct want {
	const char *name;
	const char *value;
	const char *when;		  /* it is only compared, then; NULL: it is written */
	const struct settings_undo *undo; /* NULL: what is overwritten is not noted */
	struct kg_err *err;
};

/* ---- texts ---- */

/* Blanks at the ends go, runs of them become one. */
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

/* As the kernel reads a number: 0x and 0 in front have a meaning. */
static bool number_of(const char *word, size_t len, long long *ret)
{
	char buf[32], *end;

	if (len == 0 || len >= sizeof(buf))
		return false;
	memcpy(buf, word, len);
	buf[len] = '\0';
	errno = 0;
	*ret = strtoll(buf, &end, 0);
	return errno == 0 && *end == '\0';
}

static bool same_numbers(const char *a, const char *b)
{
	while (*a || *b) {
		size_t na = strcspn(a, " "), nb = strcspn(b, " ");
		long long va, vb;

		if ((na != nb || memcmp(a, b, na) != 0) &&
		    !(number_of(a, na, &va) && number_of(b, nb, &vb) && va == vb))
			return false;
		a += na + (a[na] == ' ');
		b += nb + (b[nb] == ' ');
	}
	return true;
}

/* ---- files ---- */

/* The whole text, squeezed. */
static bool read_text(const char *path, char *buf, size_t size)
{
	char raw[TEXT_SIZE];
	ssize_t n;
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return false;
	n = read(fd, raw, sizeof(raw) - 1);
	close(fd);
	if (n < 0)
		return false;
	raw[n] = '\0';
	squeeze(raw, buf, size);
	return true;
}

static int write_text(const char *path, const char *value)
{
	const char *text = value[0] ? value : "\n"; /* of no bytes the kernel would hear nothing */
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	int rc = 0;

	if (fd < 0)
		return -errno;
	if (write(fd, text, strlen(text)) < 0)
		rc = -errno;
	close(fd);
	return rc;
}

static const char *written(const struct want *w, enum shown shown)
{
	if (shown != SHOWN_SWITCH && shown != SHOWN_INVERSE)
		return w->value;
	return (strcmp(w->value, "on") == 0) == (shown == SHOWN_SWITCH) ? "1" : "0";
}

/* What a file shows, in the words of a job. */
static void reword(char *found, size_t size, enum shown shown)
{
	bool one = strcmp(found, "1") == 0;

	if (shown == SHOWN_CHOSEN)
		choose(found);
	if ((shown == SHOWN_SWITCH || shown == SHOWN_INVERSE) && (one || strcmp(found, "0") == 0))
		(void)snprintf(found, size, "%s", one == (shown == SHOWN_SWITCH) ? "on" : "off");
}

static int missing(const struct want *w, const char *why)
{
	return kg_err_set(w->err, KG_ENODATA, "setting '%.100s': this machine does not have it%s%s",
			  w->name, why ? ": " : "", why ? why : "");
}

/* Before it is overwritten; what is as it should be is left alone later, too. */
static int note(const struct want *w, const char *path, enum shown shown)
{
	char found[TEXT_SIZE];
	int rc;

	if (!w->undo || !read_text(path, found, sizeof(found)) ||
	    strcmp(found, written(w, shown)) == 0)
		return 0;
	rc = settings_undo_note(w->undo, path, found);
	return rc < 0 ? kg_err_set(w->err, rc, "setting '%.100s': '%.60s' cannot be noted: %s",
				   w->name, found, kg_strerror(rc))
		      : 0;
}

static int visit_file(const struct want *w, const char *path, enum shown shown)
{
	char found[TEXT_SIZE], wanted[TEXT_SIZE];
	int rc = 0;

	squeeze(w->value, wanted, sizeof(wanted));
	if (access(path, F_OK) < 0)
		return missing(w, strerror(errno));
	if (!w->when) {
		rc = note(w, path, shown);
		if (rc < 0)
			return rc;
		rc = write_text(path, written(w, shown));
	}
	if (rc < 0)
		return kg_err_set(w->err, rc, "setting '%.100s': the kernel refuses '%.60s': %s",
				  w->name, wanted, strerror(-rc));
	if (!read_text(path, found, sizeof(found)))
		return kg_err_set(
			w->err, -EIO,
			"setting '%.100s': wanted '%.60s', and it cannot be read back: %s", w->name,
			wanted, strerror(errno));
	reword(found, sizeof(found), shown);
	if (strcmp(found, wanted) == 0 || (shown == SHOWN_NUMBERS && same_numbers(found, wanted)))
		return 0;
	return kg_err_set(w->err, KG_ESTATE, "setting '%.100s': wanted '%.60s', found '%.60s'%s",
			  w->name, wanted, found, w->when ? w->when : "");
}

static int visit_below(const struct want *w, const char *root, const char *file, enum shown shown)
{
	char path[PATH_SIZE];

	(void)snprintf(path, sizeof(path), "%s%s", root, file);
	return visit_file(w, path, shown);
}

/* ---- every CPU ---- */

static bool is_cpu(const char *name)
{
	return strncmp(name, "cpu", 3) == 0 && name[3] &&
	       strspn(name + 3, "0123456789") == strlen(name + 3);
}

static bool is_off_line(const char *root, const char *cpu)
{
	char path[PATH_SIZE], text[TEXT_SIZE];

	(void)snprintf(path, sizeof(path), "%s%s/%.32s/online", root, CPU_DIR, cpu);
	return read_text(path, text, sizeof(text)) && strcmp(text, "0") == 0;
}

static int no_cpu_has(const struct want *w, const char *file)
{
	char why[96];

	(void)snprintf(why, sizeof(why), "no CPU has cpufreq/%s", file);
	return missing(w, why);
}

static int visit_cpus(const struct want *w, const char *root, const char *file)
{
	char path[PATH_SIZE], without[32] = "";
	struct dirent *e;
	size_t n = 0;
	int rc = 0;
	DIR *dir;

	(void)snprintf(path, sizeof(path), "%s%s", root, CPU_DIR);
	dir = opendir(path);
	if (!dir && errno != ENOENT)
		return kg_err_errno(w->err, "cannot read", path);
	while (dir && rc == 0 && (e = readdir(dir))) {
		if (!is_cpu(e->d_name) || is_off_line(root, e->d_name))
			continue;
		(void)snprintf(path, sizeof(path), "%s%s/%.32s/cpufreq/%s", root, CPU_DIR,
			       e->d_name, file);
		if (access(path, F_OK) < 0) {
			(void)snprintf(without, sizeof(without), "%.31s", e->d_name);
			continue;
		}
		n++;
		rc = visit_file(w, path, SHOWN_PLAIN);
		if (rc < 0)
			kg_err_wrap(w->err, rc, "%.31s", e->d_name);
	}
	if (dir)
		closedir(dir);
	if (rc == 0 && n == 0)
		return no_cpu_has(w, file);
	if (rc == 0 && without[0])
		return kg_err_set(w->err, KG_ENODATA,
				  "setting '%.100s': '%s' is on line and has no cpufreq/%s",
				  w->name, without, file);
	return rc;
}

/* ---- switches ---- */

static const struct {
	const char *path;
	enum shown shown;
} turbo_files[] = {
	{CPU_DIR "/intel_pstate/no_turbo", SHOWN_INVERSE},
	{CPU_DIR "/cpufreq/boost", SHOWN_SWITCH},
};

/* Where turbo is switched; -1: nowhere. A driver that is not in charge has the file and does not
 * let it be read. */
static int find_turbo(const char *root)
{
	char path[PATH_SIZE], text[TEXT_SIZE];
	int i;

	for (i = 0; i < (int)(sizeof(turbo_files) / sizeof(turbo_files[0])); i++) {
		(void)snprintf(path, sizeof(path), "%s%s", root, turbo_files[i].path);
		if (read_text(path, text, sizeof(text)))
			return i;
	}
	return -1;
}

static bool is_switch(const struct want *w)
{
	return strcmp(w->value, "on") == 0 || strcmp(w->value, "off") == 0;
}

static int visit_switch(const struct want *w, const char *root)
{
	int i;

	if (!is_switch(w))
		return kg_err_set(w->err, KG_EINVALID,
				  "setting '%s': expected on or off, not '%.60s'", w->name,
				  w->value);
	if (strcmp(w->name, "smt") == 0)
		return visit_below(w, root, CPU_DIR "/smt/control", SHOWN_PLAIN);
	i = find_turbo(root);
	if (i < 0)
		return missing(w, NULL);
	return visit_below(w, root, turbo_files[i].path, turbo_files[i].shown);
}

/* ---- sysctl ---- */

static bool parts_are_names(const char *path)
{
	while (*path) {
		size_t len = strcspn(path, "/");

		if (len == 0 || path[0] == '.')
			return false;
		path += len;
		if (*path == '/' && !*++path)
			return false;
	}
	return true;
}

/* "net.ipv4.conf.eth0/1.forwarding" -> "net/ipv4/conf/eth0.1/forwarding". */
static bool sysctl_path(const char *name, char *buf, size_t size)
{
	static const char allowed[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				      "0123456789_.-/";
	size_t len = strlen(name);
	bool swap = name[strcspn(name, "./")] == '.';
	char *p;

	if (len == 0 || len >= size || strspn(name, allowed) != len)
		return false;
	memcpy(buf, name, len + 1);
	for (p = buf; swap && *p; p++)
		*p = *p == '.' ? '/' : *p == '/' ? '.' : *p;
	return parts_are_names(buf);
}

static int visit_sysctl(const struct want *w, const char *root)
{
	char name[PATH_SIZE / 2], file[PATH_SIZE];

	if (!sysctl_path(w->name + strlen("sysctl."), name, sizeof(name)))
		return kg_err_set(w->err, KG_EINVALID,
				  "setting '%.100s': no name of a sysctl such as vm.swappiness",
				  w->name);
	(void)snprintf(file, sizeof(file), "/proc/sys/%s", name);
	return visit_below(w, root, file, SHOWN_NUMBERS);
}

/* ---- one, and all ---- */

/* What a processor keeps over a kexec. Which CPUs are on line it does not. */
static bool is_kept(const char *name)
{
	return strcmp(name, "governor") == 0 || strcmp(name, "epp") == 0 ||
	       strcmp(name, "turbo") == 0;
}

static int visit(const char *root, const struct want *w)
{
	if (strpbrk(w->value, "\r\n") || strlen(w->value) >= TEXT_SIZE)
		return kg_err_set(w->err, KG_EINVALID,
				  "setting '%.100s': expected one line of at most %d bytes",
				  w->name, TEXT_SIZE - 1);
	if (kg_str_starts(w->name, "sysctl."))
		return visit_sysctl(w, root);
	if (strcmp(w->name, "governor") == 0)
		return visit_cpus(w, root, "scaling_governor");
	if (strcmp(w->name, "epp") == 0)
		return visit_cpus(w, root, "energy_performance_preference");
	if (strcmp(w->name, "smt") == 0 || strcmp(w->name, "turbo") == 0)
		return visit_switch(w, root);
	if (strcmp(w->name, "thp") == 0)
		return visit_below(w, root, THP_DIR "/enabled", SHOWN_CHOSEN);
	if (strcmp(w->name, "thp-defrag") == 0)
		return visit_below(w, root, THP_DIR "/defrag", SHOWN_CHOSEN);
	return kg_err_set(w->err, KG_EINVALID, "setting '%.100s' is not known to this agent",
			  w->name);
}

int settings_apply(const char *root, const char *name, const char *value, struct kg_err *err)
{
	return visit(root, &(struct want){.name = name, .value = value, .err = err});
}

int settings_check_all(const char *root, const struct kg_param_value *settings, size_t n,
		       const char *when, struct kg_err *err)
{
	struct want w = {.when = when, .err = err};
	size_t i;
	int rc = 0;

	for (i = 0; i < n && rc == 0; i++) {
		w.name = settings[i].name;
		w.value = settings[i].value;
		rc = visit(root, &w);
	}
	return rc;
}

int settings_apply_all(const char *root, const struct kg_param_value *settings, size_t n,
		       const struct settings_undo *undo, struct kg_err *err)
{
	static const char *const first[] = {"smt", "governor"};
	const size_t n_first = sizeof(first) / sizeof(first[0]);
	size_t rank, i;
	int rc = 0;

	for (rank = 0; rank <= n_first; rank++)
		for (i = 0; i < n && rc == 0; i++) {
			const struct want w = {.name = settings[i].name,
					       .value = settings[i].value,
					       .undo = is_kept(settings[i].name) ? undo : NULL,
					       .err = err};
			size_t own = 0;

			while (own < n_first && strcmp(w.name, first[own]) != 0)
				own++;
			if (own == rank)
				rc = visit(root, &w);
		}
	if (rc < 0)
		return rc;
	return settings_check_all(root, settings, n, " once the other settings were made", err);
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
	char path[PATH_SIZE], text[TEXT_SIZE], list[TEXT_SIZE];
	char *c;

	(void)snprintf(path, sizeof(path), "%s%s", root, file);
	if (!read_text(path, text, sizeof(text)))
		return 0;
	for (c = text; *c; c++)
		if (*c == '[' || *c == ']')
			*c = ' ';
	squeeze(text, list, sizeof(list));
	return list[0] ? add(p, name, list) : 0;
}

static int offer_smt(const char *root, struct kg_params *p)
{
	char path[PATH_SIZE], text[TEXT_SIZE];

	(void)snprintf(path, sizeof(path), "%s%s", root, CPU_DIR "/smt/control");
	if (!read_text(path, text, sizeof(text)) ||
	    (strcmp(text, "on") != 0 && strcmp(text, "off") != 0))
		return 0; /* notsupported, forceoff, ...: nothing that could be switched */
	return add(p, "smt", "on off");
}

int settings_offer(const char *root, struct kg_params *ret_offer)
{
	static const struct {
		const char *name, *file;
	} lists[] = {
		{"governor", CPU_DIR "/cpu0/cpufreq/scaling_available_governors"},
		{"epp", CPU_DIR "/cpu0/cpufreq/energy_performance_available_preferences"},
		{"thp", THP_DIR "/enabled"},
		{"thp-defrag", THP_DIR "/defrag"},
	};
	struct kg_params p = {0};
	size_t i;
	int rc = 0;

	for (i = 0; i < sizeof(lists) / sizeof(lists[0]) && rc == 0; i++)
		rc = offer_list(root, lists[i].file, lists[i].name, &p);
	if (rc == 0)
		rc = offer_smt(root, &p);
	if (rc == 0 && find_turbo(root) >= 0)
		rc = add(&p, "turbo", "on off");
	if (rc < 0) {
		kg_params_deinit(&p);
		return rc;
	}
	*ret_offer = p;
	return 0;
}
