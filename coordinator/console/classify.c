/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "coordinator/console/classify.h"

#include <ctype.h>
#include <string.h>

static const char *const names[CONSOLE_KIND_COUNT] = {
	[CONSOLE_KERNEL_START] = "kernel start",
	[CONSOLE_FIRMWARE] = "firmware banner",
	[CONSOLE_PANIC] = "panic",
	[CONSOLE_OOPS] = "oops",
	[CONSOLE_BUG] = "bug",
	[CONSOLE_SOFT_LOCKUP] = "soft lockup",
	[CONSOLE_HARD_LOCKUP] = "hard lockup",
	[CONSOLE_RCU_STALL] = "RCU stall",
	[CONSOLE_HUNG_TASK] = "hung task",
	[CONSOLE_EMERGENCY_SHELL] = "emergency shell",
	[CONSOLE_RELABEL] = "SELinux relabel",
};

const char *console_kind_name(enum console_kind k)
{
	return (unsigned)k < CONSOLE_KIND_COUNT ? names[k] : "?";
}

bool console_kind_fatal(enum console_kind k)
{
	return k == CONSOLE_PANIC || k == CONSOLE_EMERGENCY_SHELL;
}

/* A message that begins with `begin` and has `has` behind it (NULL: nothing more is asked). The first
 * that fits counts: what is more special stands before what is more general. */
struct pattern {
	enum console_kind kind;
	bool of_kernel; /* said by printk: has a stamp where the kernel's lines have one */
	const char *begin;
	const char *has;
};

static const struct pattern patterns[] = {
	{CONSOLE_KERNEL_START, false, "Linux version ", NULL},
	{CONSOLE_PANIC, true, "Kernel panic - not syncing", NULL},
	{CONSOLE_SOFT_LOCKUP, true, "watchdog: BUG: soft lockup", NULL},
	{CONSOLE_SOFT_LOCKUP, true, "BUG: soft lockup", NULL},
	{CONSOLE_HARD_LOCKUP, true, "watchdog: ", "atchdog detected hard LOCKUP"},
	{CONSOLE_HARD_LOCKUP, true, "NMI watchdog: ", "atchdog detected hard LOCKUP"},
	{CONSOLE_HARD_LOCKUP, true, "Watchdog detected hard LOCKUP", NULL},
	{CONSOLE_RCU_STALL, true, "rcu: INFO: ", " stall"},
	{CONSOLE_RCU_STALL, true, "INFO: rcu_", " stall"},
	{CONSOLE_RCU_STALL, true, "rcu: ", " kthread starved for "},
	{CONSOLE_HUNG_TASK, true, "INFO: task ", " blocked for more than "},
	{CONSOLE_BUG, true, "kernel BUG at ", NULL},
	{CONSOLE_BUG, true, "BUG: ", NULL},
	{CONSOLE_OOPS, true, "Oops: ", NULL},
	{CONSOLE_OOPS, true, "general protection fault", NULL},
	{CONSOLE_OOPS, true, "invalid opcode: ", NULL},
	{CONSOLE_OOPS, true, "divide error: ", NULL},
	{CONSOLE_OOPS, true, "stack segment: ", NULL},
	{CONSOLE_OOPS, true, "double fault: ", NULL},
	{CONSOLE_OOPS, true, "Unable to handle kernel ", NULL},
	{CONSOLE_OOPS, true, "Internal error: ", NULL},
	{CONSOLE_EMERGENCY_SHELL, false, "ALERT!", "Dropping to a shell"},
	{CONSOLE_EMERGENCY_SHELL, false, "Entering emergency mode", NULL},
	{CONSOLE_EMERGENCY_SHELL, false, "You are in emergency mode", NULL},
	{CONSOLE_EMERGENCY_SHELL, false, "Give root password for maintenance", NULL},
	{CONSOLE_RELABEL, false, "*** Warning -- SELinux", NULL},
	{CONSOLE_RELABEL, false, "Relabeling /", NULL},
	{CONSOLE_FIRMWARE, false, "SeaBIOS (version ", NULL},
	{CONSOLE_FIRMWARE, false, "iPXE (", NULL},
	{CONSOLE_FIRMWARE, false, "iPXE initialising devices", NULL},
	{CONSOLE_FIRMWARE, false, "BdsDxe: ", NULL},
	{CONSOLE_FIRMWARE, false, "American Megatrends", NULL},
	{CONSOLE_FIRMWARE, false, "GNU GRUB ", NULL},
	{CONSOLE_FIRMWARE, false, "Welcome to GRUB!", NULL},
};

static const char prompt[] = "(initramfs)"; /* of initramfs-tools; no newline follows */

/* "[   12.345678]": with the digits around a dot. */
static const char *skip_stamp(const char *s)
{
	const char *p = s;

	if (*p++ != '[')
		return s;
	while (*p == ' ')
		p++;
	if (!isdigit((unsigned char)*p))
		return s;
	while (isdigit((unsigned char)*p))
		p++;
	if (*p != '.' || !isdigit((unsigned char)p[1]))
		return s;
	for (p++; isdigit((unsigned char)*p); p++)
		;
	return *p == ']' ? p + 1 : s;
}

/* "[    T1]", "[  C0]": the task or CPU that said it. */
static const char *skip_caller(const char *s)
{
	const char *p = s;

	if (*p++ != '[')
		return s;
	while (*p == ' ')
		p++;
	if (*p != 'T' && *p != 'C')
		return s;
	if (!isdigit((unsigned char)*++p))
		return s;
	while (isdigit((unsigned char)*p))
		p++;
	return *p == ']' ? p + 1 : s;
}

static const char *skip_level(const char *s)
{
	const char *p = s;

	if (*p++ != '<')
		return s;
	while (isdigit((unsigned char)*p))
		p++;
	return *p == '>' && p > s + 1 ? p + 1 : s;
}

static const char *skip_blanks(const char *s)
{
	return s + strspn(s, " \t");
}

static const char *message_of(const char *line, bool *ret_stamped)
{
	const char *s = skip_blanks(skip_level(skip_blanks(line)));
	const char *behind = skip_stamp(s);

	*ret_stamped = behind != s;
	return skip_blanks(skip_caller(skip_blanks(behind)));
}

static const struct pattern *match(const char *message)
{
	size_t i;

	for (i = 0; i < sizeof(patterns) / sizeof(patterns[0]); i++) {
		const struct pattern *p = &patterns[i];
		size_t len = strlen(p->begin);

		if (strncmp(message, p->begin, len) == 0 &&
		    (!p->has || strstr(message + len, p->has)))
			return p;
	}
	return NULL;
}

static void found(struct console *c, enum console_kind kind)
{
	bool again = kind == CONSOLE_PANIC && c->panicked;

	c->count[kind]++;
	if (kind == CONSOLE_PANIC && !again) {
		c->panicked = true;
		c->frozen_in = CONSOLE_LINES_AFTER + 1; /* and its own line */
	}
	if (!again && c->found)
		c->found(c->arg, kind, c->line);
}

static void keep(struct console *c)
{
	size_t at;

	if (c->frozen_in == 0)
		return;
	if (c->frozen_in != SIZE_MAX)
		c->frozen_in--;
	at = (c->first + c->n) % CONSOLE_LINES;
	if (c->n < CONSOLE_LINES)
		c->n++;
	else
		c->first = (c->first + 1) % CONSOLE_LINES;
	memcpy(c->lines[at], c->line, c->len + 1);
}

static void kernel_started(struct console *c, bool stamped)
{
	c->stamped = stamped;
	c->panicked = false;
	c->frozen_in = SIZE_MAX;
}

static void end_line(struct console *c)
{
	const struct pattern *p;
	bool stamped;

	c->line[c->len] = '\0';
	if (c->len > 0 && !c->told) {
		p = match(message_of(c->line, &stamped));
		if (p && p->kind == CONSOLE_KERNEL_START)
			kernel_started(c, stamped);
		else if (stamped)
			c->stamped = true;
		if (p && (!p->of_kernel || stamped || !c->stamped))
			found(c, p->kind);
	}
	if (c->len > 0)
		keep(c);
	c->len = 0;
	c->told = false;
}

static void take(struct console *c, char ch)
{
	if (c->len + 1 >= sizeof(c->line))
		return; /* cut; what counts stands at the beginning */
	c->line[c->len++] = ch;
	if (c->len == sizeof(prompt) - 1 && memcmp(c->line, prompt, c->len) == 0) {
		c->line[c->len] = '\0';
		c->told = true;
		found(c, CONSOLE_EMERGENCY_SHELL);
	}
}

enum { PLAIN, ESCAPE, SEQUENCE };

/* Whether the byte was part of an escape sequence: ESC x, or ESC [ ... letter. */
static bool escaped(struct console *c, unsigned char ch)
{
	if (c->escape == PLAIN && ch != 0x1b)
		return false;
	if (ch == '\n' || ch == '\r') { /* no sequence goes over a line's end */
		c->escape = PLAIN;
		return false;
	}
	if (ch == 0x1b)
		c->escape = ESCAPE;
	else if (c->escape == ESCAPE)
		c->escape = ch == '[' ? SEQUENCE : PLAIN;
	else if (ch >= 0x40 && ch <= 0x7e)
		c->escape = PLAIN;
	return true;
}

void console_init(struct console *c, console_found_fn fn, void *arg)
{
	memset(c, 0, sizeof(*c));
	c->found = fn;
	c->arg = arg;
	c->frozen_in = SIZE_MAX;
}

void console_feed(struct console *c, const void *bytes, size_t len)
{
	const unsigned char *p = bytes;
	size_t i;

	for (i = 0; i < len; i++) {
		if (escaped(c, p[i]))
			continue;
		if (p[i] == '\n' || p[i] == '\r')
			end_line(c);
		else if (p[i] == '\t')
			take(c, ' ');
		else if (p[i] >= 0x20 && p[i] != 0x7f)
			take(c, p[i] < 0x7f ? (char)p[i] : '?');
	}
}

size_t console_tail(const struct console *c, char *buf, size_t size)
{
	size_t from = c->n, total = 0, at = 0;

	while (from > 0) {
		size_t len = strlen(c->lines[(c->first + from - 1) % CONSOLE_LINES]) + 1;

		if (total + len >= size)
			break;
		total += len;
		from--;
	}
	for (; from < c->n; from++) {
		const char *line = c->lines[(c->first + from) % CONSOLE_LINES];
		size_t len = strlen(line);

		memcpy(buf + at, line, len);
		buf[at + len] = '\n';
		at += len + 1;
	}
	buf[at] = '\0';
	return at;
}
