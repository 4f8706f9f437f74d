/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a serial console tells of its machine, as it comes. PURE, and of fixed size: bytes go in,
 * however they are split, findings come out.
 *
 * A finding is a line whose message (behind "<4>", "[   12.345678] " and "[    T1] ") begins as the
 * kernel, its initial image or the firmware begin it: kernel/panic.c, kernel/watchdog.c,
 * kernel/rcu/tree_stall.h, kernel/hung_task.c, lib/bug.c, arch/x86/kernel/{dumpstack,traps}.c,
 * arch/x86/mm/fault.c. Words inside of a line, such as a quoted command line, are none. A kernel that
 * stamps its first line stamps all of them, so that a line without a stamp is not the kernel's then:
 * a workload that prints "BUG: ..." does not end its boot.
 *
 * A panic that loops is one finding: after it, until the next kernel starts, further ones only count,
 * and the lines that are kept stay those around the first.
 */
#ifndef KG_CONSOLE_CLASSIFY_H
#define KG_CONSOLE_CLASSIFY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum console_kind {
	CONSOLE_KERNEL_START, /* "Linux version ..." */
	CONSOLE_FIRMWARE,     /* the machine went through its firmware: no kexec */
	CONSOLE_PANIC,	      /* fatal: "Kernel panic - not syncing..." */
	CONSOLE_OOPS,
	CONSOLE_BUG,
	CONSOLE_SOFT_LOCKUP,
	CONSOLE_HARD_LOCKUP,
	CONSOLE_RCU_STALL,
	CONSOLE_HUNG_TASK,
	CONSOLE_EMERGENCY_SHELL, /* fatal: initial image or system wait for a person */
	CONSOLE_RELABEL,	 /* SELinux labels the file systems, and reboots by itself */
	CONSOLE_KIND_COUNT,
};
const char *console_kind_name(enum console_kind k); /* "panic", "soft lockup" */
/* Whether the stage in which it comes cannot go on. */
bool console_kind_fatal(enum console_kind k);

#define CONSOLE_LINE_BYTES   240 /* longer lines are cut; the last byte is NUL */
#define CONSOLE_LINES_BEFORE 40	 /* kept: up to so many lines before a panic ... */
#define CONSOLE_LINES_AFTER  20	 /* ... and behind it */
#define CONSOLE_LINES	     (CONSOLE_LINES_BEFORE + CONSOLE_LINES_AFTER)

/* `line` is printable ASCII without escape sequences; valid during the call. */
typedef void (*console_found_fn)(void *arg, enum console_kind kind, const char *line);

struct console {
	console_found_fn found;
	void *arg;
	uint64_t count[CONSOLE_KIND_COUNT]; /* since the start; a looping panic counts each time */
	/* its own: */
	char lines[CONSOLE_LINES][CONSOLE_LINE_BYTES];
	size_t first, n;  /* ring of `lines` */
	size_t frozen_in; /* lines to be kept yet after a panic; SIZE_MAX: no panic */
	char line[CONSOLE_LINE_BYTES];
	size_t len;
	bool told;	/* the line was reported before its end: a prompt has none */
	bool stamped;	/* this kernel stamps its lines */
	bool panicked;	/* since the last start of a kernel */
	uint8_t escape; /* state within an escape sequence */
};

void console_init(struct console *c, console_found_fn found, void *arg);
void console_feed(struct console *c, const void *bytes, size_t len);
/* The lines that are kept, oldest first, each ending in a newline; those around the first panic while
 * its kernel has no successor. Returns the length without the NUL; what does not fit is left out from
 * the front, by whole lines. `size` > 0. */
size_t console_tail(const struct console *c, char *buf, size_t size);

#endif
