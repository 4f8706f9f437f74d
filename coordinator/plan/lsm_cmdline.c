/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a command line says about LSMs, word by word as the kernel reads it: lib/cmdline.c
 * next_arg(), kernel/params.c parse_args(), lib/kstrtox.c, and the __setup handlers of
 * security/security.c (lsm_init.c), security/apparmor/lsm.c and security/selinux/hooks.c.
 */
#include "coordinator/plan/lsm_internal.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "common/cmdline.h"
#include "common/str.h"

#define LINE_MAX_X86 2047 /* COMMAND_LINE_SIZE less its NUL */

enum heard { NOT_UNDERSTOOD, SAYS_OFF, SAYS_ON };

/* One word as next_arg() leaves it, which takes away one quote in front of the word, one in front of
 * the value, and at the end at most as many. Cuts `word`; the value is NULL when it has none. */
static char *split_word(char *word, char **ret_name)
{
	bool quoted = word[0] == '"';
	size_t len, equals = 0;
	char *value = NULL;
	size_t i;

	if (quoted)
		word++;
	len = strlen(word);
	for (i = 1; i < len && !equals; i++)
		if (word[i] == '=')
			equals = i;
	if (equals) {
		word[equals] = '\0';
		value = word + equals + 1;
		if (value[0] == '"') {
			value++;
			if (word[len - 1] == '"')
				word[len - 1] = '\0';
		}
	}
	if (quoted && len > 0 && word[len - 1] == '"')
		word[len - 1] = '\0';
	*ret_name = word;
	return value;
}

static int replace(char **slot, const char *value)
{
	char *copy = strdup(value);

	if (!copy)
		return -ENOMEM;
	free(*slot);
	*slot = copy;
	return 0;
}

/* kstrtoul(value, 0, ...): decimal, 0x hexadecimal or 0 octal, one '+' in front, one newline
 * behind. What is no such number, or too large, changes nothing. */
static enum heard read_number(const char *value)
{
	const char *digits = value + (value[0] == '+');
	char *end;
	unsigned long n;

	/* newer C libraries read 0b1, the kernel does not */
	if (!isdigit((unsigned char)digits[0]) ||
	    (digits[0] == '0' && tolower((unsigned char)digits[1]) == 'b'))
		return NOT_UNDERSTOOD;
	errno = 0;
	n = strtoul(digits, &end, 0);
	if (errno == ERANGE || (end[0] && strcmp(end, "\n") != 0))
		return NOT_UNDERSTOOD;
	return n ? SAYS_ON : SAYS_OFF;
}

/* kstrtobool: the first letter decides, of on and off the second. true and false are known since
 * 5.19, enabled and disabled since 6.15. */
static enum heard read_bool(const char *value, unsigned version)
{
	char first = (char)tolower((unsigned char)value[0]);
	char second = first ? (char)tolower((unsigned char)value[1]) : '\0';

	if (first == 'y' || first == '1' || (first == 't' && version >= LSM_VERSION(5, 19)) ||
	    (first == 'e' && version >= LSM_VERSION(6, 15)) || (first == 'o' && second == 'n'))
		return SAYS_ON;
	if (first == 'n' || first == '0' || (first == 'f' && version >= LSM_VERSION(5, 19)) ||
	    (first == 'd' && version >= LSM_VERSION(6, 15)) || (first == 'o' && second == 'f'))
		return SAYS_OFF;
	return NOT_UNDERSTOOD;
}

/* A switch of an LSM: the last one that is understood counts. */
static int turn(struct lsm_resolver *r, enum lsm_id id, const char *name, const char *value,
		enum heard heard)
{
	if (!lsm_exists(r, id))
		return 0;
	if (heard == NOT_UNDERSTOOD)
		return lsm_warn(r,
				"%s=%.64s has no effect: the kernel does not understand the "
				"value, write %s=0 or %s=1",
				name, value, name, name);
	r->off[id] = heard == SAYS_OFF;
	(void)snprintf(r->off_by[id], sizeof(r->off_by[id]), "%s=%.32s", name, value);
	return 0;
}

static int turn_selinux(struct lsm_resolver *r, const char *value)
{
	enum heard heard = read_number(value);

	if (r->k->selinux_bootparam)
		return turn(r, LSM_SELINUX, "selinux", value, heard);
	if (heard == SAYS_ON || !lsm_exists(r, LSM_SELINUX))
		return 0;
	return lsm_warn(r,
			"selinux=%.64s has no effect: %s is built without "
			"CONFIG_SECURITY_SELINUX_BOOTPARAM",
			value, r->shown);
}

static int read_value(struct lsm_resolver *r, const char *name, const char *value)
{
	if (strcmp(name, "lsm") == 0) {
		r->n_lsm++;
		return replace(&r->lsm, value);
	}
	if (strcmp(name, "security") == 0) {
		r->n_security++;
		return replace(&r->security, value);
	}
	if (strcmp(name, "apparmor") == 0)
		return turn(r, LSM_APPARMOR, name, value, read_number(value));
	if (strcmp(name, "apparmor.enabled") == 0)
		return turn(r, LSM_APPARMOR, name, value, read_bool(value, r->version));
	if (strcmp(name, "selinux") == 0)
		return turn_selinux(r, value);
	return 0;
}

/* Names are matched with their case. */
static int check_case(struct lsm_resolver *r, const char *name)
{
	static const char *const names[] = {"lsm", "security", "apparmor", "selinux"};
	size_t i;

	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strcasecmp(name, names[i]) == 0 && strcmp(name, names[i]) != 0)
			return lsm_warn(r,
					"%s= is not a parameter of the kernel, %s= is; it has no "
					"effect",
					name, names[i]);
	return 0;
}

/* "lsm=a, b": the second name is a word of its own. */
static int check_split_list(struct lsm_resolver *r, const char *word)
{
	char name[32];
	size_t len = strcspn(word, ",");

	if (len >= sizeof(name))
		return 0;
	memcpy(name, word, len);
	name[len] = '\0';
	if (lsm_parse_name(name) == LSM_COUNT)
		return 0;
	return lsm_warn(
		r, "the list of lsm= ends at the space before '%.64s', which is not part of it",
		word);
}

static int read_bare(struct lsm_resolver *r, const char *name, bool after_list)
{
	/* a plain bool parameter up to 5.0, one that needs a value from then on */
	if (strcmp(name, "apparmor.enabled") == 0 && !lsm_ordered(r))
		r->off[LSM_APPARMOR] = false;
	if (strcmp(name, "bootconfig") == 0)
		return lsm_warn(r, "bootconfig: what the initrd adds to the command line is not "
				   "known here");
	return after_list ? check_split_list(r, name) : 0;
}

static int read_words(struct lsm_resolver *r, struct kg_cmdline *c)
{
	bool after_list = false;
	size_t i;
	int rc = 0;

	for (i = 0; i < c->n && rc == 0; i++) {
		char *name;
		char *value = split_word(c->words[i], &name);

		if (!value && strcmp(name, "--") == 0)
			break; /* the rest is for init */
		if (!value) {
			rc = read_bare(r, name, after_list);
			continue;
		}
		after_list = strcmp(name, "lsm") == 0;
		rc = read_value(r, name, value);
		if (rc == 0)
			rc = check_case(r, name);
	}
	return rc;
}

/* CONFIG_CMDLINE and the boot loader's line, as arch/x86/kernel/setup.c joins them; other
 * architectures have other ways (drivers/of/fdt.c). */
static void join(struct kg_str *line, const struct lsm_kernel *k, const char *cmdline)
{
	bool given = cmdline[strspn(cmdline, " \t\r\n")] != '\0';

	if (k->config_cmdline_override || (k->config_cmdline_fallback && !given)) {
		kg_str_add(line, k->config_cmdline);
		return;
	}
	if (k->config_cmdline_fallback || !k->config_cmdline[0]) {
		kg_str_add(line, cmdline);
		return;
	}
	kg_str_add(line, k->config_cmdline_after ? cmdline : k->config_cmdline);
	kg_str_add(line, " ");
	kg_str_add(line, k->config_cmdline_after ? k->config_cmdline : cmdline);
}

/* The CONFIG_*_BOOTPARAM_VALUE went away in 5.1. */
static void read_defaults(struct lsm_resolver *r)
{
	if (lsm_ordered(r))
		return;
	r->off[LSM_SELINUX] = r->k->selinux_bootparam && r->k->selinux_off;
	r->off[LSM_APPARMOR] = r->k->apparmor_off;
	(void)snprintf(r->off_by[LSM_SELINUX], sizeof(r->off_by[0]),
		       "CONFIG_SECURITY_SELINUX_BOOTPARAM_VALUE=0");
	(void)snprintf(r->off_by[LSM_APPARMOR], sizeof(r->off_by[0]),
		       "CONFIG_SECURITY_APPARMOR_BOOTPARAM_VALUE=0");
}

int lsm_read_cmdline(struct lsm_resolver *r, const char *cmdline)
{
	struct kg_str line = {0};
	struct kg_cmdline c;
	int rc;

	join(&line, r->k, cmdline);
	rc = line.failed ? -ENOMEM : 0;
	if (rc == 0 && line.len > LINE_MAX_X86)
		rc = lsm_warn(r,
			      "the command line has %zu characters, an x86 kernel reads %d of them",
			      line.len, LINE_MAX_X86);
	if (rc == 0)
		rc = kg_cmdline_parse(kg_str_text(&line), &c);
	kg_str_deinit(&line);
	if (rc < 0)
		return rc;
	read_defaults(r);
	rc = read_words(r, &c);
	kg_cmdline_deinit(&c);
	return rc;
}
