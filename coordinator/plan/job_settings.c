/* SPDX-License-Identifier: GPL-2.0-or-later */
/* `settings:`: what the agent applies and reads back after the boot. */
#include "coordinator/plan/job_internal.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define VALUE_MAX 200
#define DEPTH_MAX 6 /* of nested sysctl names */

static const char *const switches[] = {"on", "off", NULL};
static const char *const thp_modes[] = {"always", "madvise", "never", NULL};
static const char *const thp_defrag_modes[] = {"always",  "defer", "defer+madvise",
					       "madvise", "never", NULL};

static const struct {
	const char *name;
	const char *const *values; /* NULL: as the machine offers */
	const char *help;
} known[] = {
	{"governor", NULL, "cpufreq governor of every CPU, one that the machine offers"},
	{"epp", NULL, "energy performance preference of every CPU, one that the machine offers"},
	{"thp", thp_modes, "transparent huge pages: always, madvise or never"},
	{"thp-defrag", thp_defrag_modes,
	 "how huge pages are made: always, defer, defer+madvise, madvise or never"},
	{"smt", switches, "threads of a core: on or off"},
	{"turbo", switches, "clock above the nominal one: on or off"},
	{JOB_SYSCTL, NULL,
	 "sysctls by name, {vm.swappiness: [10, 60]}, {vm: {swappiness: 10}} or {vm/swappiness: "
	 "10}; each is called sysctl.NAME in predicates. What would take the machine out of "
	 "kgrid's hands "
	 "(kernel.panic, kernel.kexec_load_disabled, ...) is refused"},
};
#define N_KNOWN (sizeof(known) / sizeof(known[0]))

/* What would take the machine out of the grid's hands. */
static const struct {
	const char *prefix, *why;
} forbidden[] = {
	{"kernel.kexec_load_", "the machine could not be left by kexec any more"},
	{"kernel.panic", "what happens after a panic is kgrid's: a machine has to come back"},
	{"kernel.modules_disabled", "the next kernel's modules could not be loaded"},
	{"kernel.sysrq", "it may be the last way to restart a machine"},
	{"kernel.hostname", "the machine's name belongs to its owner"},
	{"kernel.domainname", "the machine's name belongs to its owner"},
	{"kernel.core_pattern", "it would run a program of its choice as root"},
	{"kernel.modprobe", "it would run a program of its choice as root"},
	{"kernel.hotplug", "it would run a program of its choice as root"},
	{"fs.binfmt_misc", "it would run a program of its choice as root"},
	{"kernel.poweroff_cmd", "it would run a program of its choice as root"},
	{"kernel.ctrl-alt-del", "a restart from the console is the lab's"},
	{"vm.panic_on_oom", "what happens after a panic is kgrid's: a machine has to come back"},
};

static int check_sysctl(const struct job_input *in, const struct kg_yaml_node *at, const char *name)
{
	size_t i;

	if (strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-") !=
		    strlen(name) ||
	    !strchr(name, '.') || strstr(name, "..") || name[0] == '.' ||
	    name[strlen(name) - 1] == '.' || strlen(name) > VALUE_MAX)
		return kg_yaml_error(in->doc, at, in->err,
				     "'settings.sysctl': '%.64s' is no name of a sysctl such as "
				     "vm.swappiness",
				     name);
	for (i = 0; i < sizeof(forbidden) / sizeof(forbidden[0]); i++)
		if (kg_str_starts(name, forbidden[i].prefix))
			return kg_yaml_error(in->doc, at, in->err,
					     "'settings.sysctl': '%.64s' cannot be a setting of a "
					     "job: %s",
					     name, forbidden[i].why);
	return 0;
}

static int check_value(const struct job_input *in, const struct kg_yaml_node *n, const char *name)
{
	const char *const *values = NULL;
	size_t i, count = 0;
	const char *p;

	if (n->kind != KG_YAML_SCALAR || job_is_null(n) || !n->text[0])
		return kg_yaml_error(in->doc, n, in->err,
				     "'settings': '%.64s': expected a value, or a list of values "
				     "to try",
				     name);
	for (p = n->text; *p; p++)
		if ((unsigned char)*p < 0x20 || *p == 0x7f || *p == ';')
			return kg_yaml_error(in->doc, n, in->err,
					     "'settings': '%.64s': no control characters and no "
					     "';' in a value",
					     name);
	if (strlen(n->text) > VALUE_MAX)
		return kg_yaml_error(in->doc, n, in->err,
				     "'settings': '%.64s': a value has at most %d bytes", name,
				     VALUE_MAX);
	for (i = 0; i < N_KNOWN; i++)
		if (strcmp(known[i].name, name) == 0)
			values = known[i].values;
	while (values && values[count]) {
		if (strcmp(values[count], n->text) == 0)
			return 0;
		count++;
	}
	if (!values)
		return 0;
	if (values == switches) /* 'no' is near to 'on' and means 'off' */
		return kg_yaml_error(in->doc, n, in->err,
				     "'settings': unknown value '%.64s'; known are on, off",
				     n->text);
	return job_unknown(in, n, "'settings': unknown value", values, count);
}

static int add_setting(const struct job_input *in, const struct kg_yaml_node *key, const char *name,
		       const struct kg_yaml_node *value)
{
	struct job_spec *j = in->job;
	bool list = value->kind == KG_YAML_SEQ;
	struct job_setting *s;
	char line[JOB_LINE_MAX];
	size_t i;
	int rc = 0;

	for (i = 0; i < j->n_settings; i++)
		if (strcmp(j->settings[i].name, name) == 0)
			return kg_yaml_error(in->doc, key, in->err,
					     "'settings': '%.64s' is there already, in %s", name,
					     job_line(&j->settings[i].at, line, sizeof(line)));
	if (j->n_settings == JOB_MAX_ITEMS)
		return kg_yaml_error(in->doc, key, in->err, "'settings': at most %d",
				     JOB_MAX_ITEMS);
	s = realloc(j->settings, (j->n_settings + 1) * sizeof(*s));
	if (!s)
		return job_no_memory(in->err);
	j->settings = s;
	s = &s[j->n_settings++];
	*s = (struct job_setting){.at = job_place_of(in, key), .name = strdup(name)};
	if (!s->name)
		return job_no_memory(in->err);
	if (value->kind == KG_YAML_MAP || (list && value->n == 0))
		return kg_yaml_error(in->doc, value, in->err,
				     "'settings': '%.64s': expected a value, or a list of values "
				     "to try",
				     name);
	for (i = 0; rc == 0 && i < (list ? value->n : 1); i++) {
		const struct kg_yaml_node *item = list ? value->items[i] : value;

		rc = check_value(in, item, name);
		if (rc == 0)
			rc = job_texts_add(in, &s->values, item);
	}
	return rc < 0 ? rc : job_check_unique(in, &s->values, name);
}

void job_sysctl_add(struct kg_str *name, const char *part)
{
	bool slashes = !strchr(part, '.');

	kg_str_add(name, name->len ? "." : "");
	for (; *part; part++)
		kg_str_addn(name, slashes && *part == '/' ? "." : part, 1);
}

static int read_sysctl(const struct job_input *in, const struct kg_yaml_node *key, const char *name,
		       const struct kg_yaml_node *value)
{
	struct kg_str full = {0};
	int rc;

	kg_str_add(&full, JOB_SYSCTL);
	job_sysctl_add(&full, name);
	rc = full.failed ? job_no_memory(in->err)
			 : check_sysctl(in, key, kg_str_text(&full) + strlen(JOB_SYSCTL "."));
	if (rc == 0)
		rc = add_setting(in, key, kg_str_text(&full), value);
	kg_str_deinit(&full);
	return rc;
}

/* {vm.swappiness: 10} or {vm: {swappiness: 10}}. */
static int read_sysctls(const struct job_input *in, const struct kg_yaml_node *map,
			const char *prefix, unsigned depth)
{
	size_t i;
	int rc = 0;

	if (map->kind != KG_YAML_MAP || map->n == 0 || depth > DEPTH_MAX)
		return kg_yaml_error(in->doc, map, in->err,
				     "'settings.sysctl': expected names with values, "
				     "{vm.swappiness: [10, 60]}");
	for (i = 0; i < map->n && rc == 0; i++) {
		struct kg_str name = {0};

		kg_str_add(&name, prefix);
		job_sysctl_add(&name, map->keys[i]->text);
		if (name.failed) {
			rc = job_no_memory(in->err);
		} else if (map->items[i]->kind == KG_YAML_MAP) {
			rc = read_sysctls(in, map->items[i], kg_str_text(&name), depth + 1);
		} else {
			rc = read_sysctl(in, map->keys[i], kg_str_text(&name), map->items[i]);
		}
		kg_str_deinit(&name);
	}
	return rc;
}

static int read_one(const struct job_input *in, const struct kg_yaml_node *key,
		    const struct kg_yaml_node *value)
{
	const char *names[N_KNOWN];
	size_t i;

	if (strcmp(key->text, JOB_SYSCTL) == 0)
		return read_sysctls(in, value, "", 0);
	if (kg_str_starts(key->text, JOB_SYSCTL "."))
		return read_sysctl(in, key, key->text + strlen(JOB_SYSCTL "."), value);
	for (i = 0; i < N_KNOWN; i++) {
		names[i] = known[i].name;
		if (strcmp(key->text, names[i]) == 0)
			return add_setting(in, key, key->text, value);
	}
	return job_unknown(in, key, "'settings': unknown setting", names, N_KNOWN);
}

int job_read_settings(const struct job_input *in, const struct kg_yaml_node *n)
{
	size_t i;
	int rc = 0;

	if (!n)
		return 0;
	if (n->kind != KG_YAML_MAP)
		return kg_yaml_error(in->doc, n, in->err,
				     "'settings': expected names with values, {governor: "
				     "[performance, schedutil], sysctl: {vm.swappiness: 10}}");
	for (i = 0; i < n->n && rc == 0; i++)
		rc = read_one(in, n->keys[i], n->items[i]);
	return rc;
}

void job_settings_manual(struct kg_str *out)
{
	size_t i;

	for (i = 0; i < N_KNOWN; i++)
		job_manual_item(out, known[i].name, known[i].help);
}
