/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What consoles say: whole, byte by byte, and split anywhere. Formats are those of Linux 5.10 to 6.12. */
#include "tests/lib/cmocka_all.h"

#include <stdio.h>

#include "coordinator/console/classify.h"

#define MOST 64

struct seen {
	enum console_kind kinds[MOST];
	char lines[MOST][CONSOLE_LINE_BYTES];
	size_t n;
};

static void on_found(void *arg, enum console_kind kind, const char *line)
{
	struct seen *s = arg;

	assert_true(s->n < MOST);
	s->kinds[s->n] = kind;
	(void)snprintf(s->lines[s->n++], sizeof(s->lines[0]), "%s", line);
}

static void feed_in_pieces(struct console *c, const char *text, size_t len, unsigned seed)
{
	size_t at = 0;

	while (at < len) {
		size_t piece = seed == 0   ? len
			       : seed == 1 ? 1
					   : 1 + (seed = seed * 1103515245 + 12345) / 65536 % 40;

		if (piece > len - at)
			piece = len - at;
		console_feed(c, text + at, piece);
		at += piece;
	}
}

/* Feeds it in many ways, which all must see the same, and gives what was seen. */
static void look(const char *text, struct console *ret_c, struct seen *ret)
{
	static struct seen other;
	static struct console c;
	unsigned seed;

	memset(ret, 0, sizeof(*ret));
	console_init(ret_c, on_found, ret);
	feed_in_pieces(ret_c, text, strlen(text), 0);
	for (seed = 1; seed < 30; seed++) {
		char a[CONSOLE_LINES * CONSOLE_LINE_BYTES], b[CONSOLE_LINES * CONSOLE_LINE_BYTES];

		memset(&other, 0, sizeof(other));
		console_init(&c, on_found, &other);
		feed_in_pieces(&c, text, strlen(text), seed);
		assert_memory_equal(&other, ret, sizeof(other));
		assert_int_equal(console_tail(&c, a, sizeof(a)), console_tail(ret_c, b, sizeof(b)));
		assert_string_equal(a, b);
	}
}

static void expect(const char *text, const enum console_kind *kinds, size_t n)
{
	static struct console c;
	static struct seen s;
	size_t i;

	look(text, &c, &s);
	for (i = 0; i < s.n && i < n; i++)
		if (s.kinds[i] != kinds[i])
			fail_msg("finding %zu is '%s', not '%s': %s", i,
				 console_kind_name(s.kinds[i]), console_kind_name(kinds[i]),
				 s.lines[i]);
	assert_int_equal(s.n, n);
}

#define EXPECT(text, ...)                                              \
	do {                                                           \
		const enum console_kind kinds[] = {__VA_ARGS__};       \
		expect(text, kinds, sizeof(kinds) / sizeof(kinds[0])); \
	} while (0)

#define START "[    0.000000] Linux version 6.12.1 (gcc 12) #1 SMP\r\n"

static void test_each_kind_is_known_by_its_own_words(void **state)
{
	static const struct {
		const char *line;
		enum console_kind kind;
	} all[] = {
		{"[    2.1] Kernel panic - not syncing: VFS: Unable to mount root fs on "
		 "unknown-block(0,0)",
		 CONSOLE_PANIC},
		{"<0>[  12.345678][   T1] Kernel panic - not syncing: Attempted to kill init! "
		 "exitcode=0x00000100",
		 CONSOLE_PANIC},
		{"[    9.000001] Kernel panic - not syncing: softlockup: hung tasks",
		 CONSOLE_PANIC},
		{"[   60.1] watchdog: BUG: soft lockup - CPU#3 stuck for 26s! [netperf:812]",
		 CONSOLE_SOFT_LOCKUP},
		{"[   60.1] watchdog: Watchdog detected hard LOCKUP on cpu 2", CONSOLE_HARD_LOCKUP},
		{"[   60.1] NMI watchdog: Watchdog detected hard LOCKUP on cpu 2",
		 CONSOLE_HARD_LOCKUP},
		{"[   60.1] watchdog: CPU2: Watchdog detected hard LOCKUP on cpu 2",
		 CONSOLE_HARD_LOCKUP},
		{"[   81.2] rcu: INFO: rcu_preempt self-detected stall on CPU", CONSOLE_RCU_STALL},
		{"[   81.2] rcu: INFO: rcu_sched detected stalls on CPUs/tasks:",
		 CONSOLE_RCU_STALL},
		{"[   81.2] INFO: rcu_sched detected expedited stalls on CPUs/tasks: { 1-... }",
		 CONSOLE_RCU_STALL},
		{"[   81.2] rcu: rcu_preempt kthread starved for 5250 jiffies! g1 f0x0 "
		 "RCU_GP_WAIT_FQS(5)",
		 CONSOLE_RCU_STALL},
		{"[  242.0] INFO: task kworker/0:1:12 blocked for more than 120 seconds.",
		 CONSOLE_HUNG_TASK},
		{"[    3.3] BUG: kernel NULL pointer dereference, address: 0000000000000010",
		 CONSOLE_BUG},
		{"[    3.3] BUG: unable to handle page fault for address: ffffc90000000000",
		 CONSOLE_BUG},
		{"[    3.3] kernel BUG at mm/slub.c:448!", CONSOLE_BUG},
		{"[    3.3] Oops: 0002 [#1] PREEMPT SMP NOPTI", CONSOLE_OOPS},
		{"[    3.3] Oops: Oops: 0000 [#1] PREEMPT SMP PTI", CONSOLE_OOPS},
		{"[    3.3] general protection fault, probably for non-canonical address "
		 "0xdead0000: "
		 "0000 [#1] SMP",
		 CONSOLE_OOPS},
		{"[    3.3] invalid opcode: 0000 [#1] SMP", CONSOLE_OOPS},
		{"ALERT!  UUID=01234567 does not exist.  Dropping to a shell!",
		 CONSOLE_EMERGENCY_SHELL},
		{"You are in emergency mode. After logging in, type \"journalctl -xb\"",
		 CONSOLE_EMERGENCY_SHELL},
		{"*** Warning -- SELinux targeted policy relabel is required.", CONSOLE_RELABEL},
		{"SeaBIOS (version 1.16.2-debian-1.16.2-1)", CONSOLE_FIRMWARE},
		{"BdsDxe: loading Boot0001 \"debian\" from HD(1,GPT)", CONSOLE_FIRMWARE},
	};
	char text[400];
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		(void)snprintf(text, sizeof(text), START "%s\r\n", all[i].line);
		EXPECT(text, CONSOLE_KERNEL_START, all[i].kind);
	}
}

static void test_a_prompt_is_seen_although_its_line_does_not_end(void **state)
{
	(void)state;
	EXPECT("BusyBox v1.35.0 (Debian) built-in shell (ash)\n\n\x1b[6n(initramfs) ",
	       CONSOLE_EMERGENCY_SHELL);
	EXPECT("\x1b[?2004h(initramfs) ls\r\n", CONSOLE_EMERGENCY_SHELL);
}

static void test_words_that_are_only_quoted_are_nothing(void **state)
{
	(void)state;
	EXPECT(START
	       "[    0.000000] Command line: panic=10 softlockup_panic=1 kgrid.boot=1.ab\n"
	       "[    0.000000] Kernel command line: console=ttyS0 BUG: Kernel panic - not syncing\n"
	       "[    0.5] systemd[1]: Reached target Emergency Mode.\n"
	       "[    0.6] traps: netperf[77] general protection fault ip:401000 sp:7ff error:0\n"
	       "[    0.7] sysctl: hung_task_panic = 0, told of task x blocked for more than 1\n"
	       "[    0.8] audit: cmd=\"echo Oops: 0002\"\n"
	       "[    0.9] debug: BUG: not at the beginning\n",
	       CONSOLE_KERNEL_START);
}

static void test_a_workload_is_not_the_kernel_where_the_kernel_stamps_its_lines(void **state)
{
	(void)state;
	EXPECT(START "BUG: the benchmark says so\nKernel panic - not syncing: no\n",
	       CONSOLE_KERNEL_START);
	/* a kernel without printk.time */
	EXPECT("Linux version 6.12.1\nBUG: kernel NULL pointer dereference, address: 0\n",
	       CONSOLE_KERNEL_START, CONSOLE_BUG);
	/* The capture began in the middle. */
	EXPECT("Kernel panic - not syncing: Fatal exception\n", CONSOLE_PANIC);
}

static void test_a_panic_that_loops_is_one_with_the_lines_around_the_first(void **state)
{
	static char text[200000];
	static char tail[CONSOLE_LINES * CONSOLE_LINE_BYTES];
	static struct console c;
	static struct seen s;
	size_t at = 0;
	int i;

	(void)state;
	at += (size_t)snprintf(text, sizeof(text), START);
	for (i = 0; i < 100; i++)
		at += (size_t)snprintf(text + at, sizeof(text) - at, "[    1.%06d] before %d\n", i,
				       i);
	for (i = 0; i < 500; i++)
		at += (size_t)snprintf(text + at, sizeof(text) - at,
				       "[    2.%06d] Kernel panic - not syncing: loop %d\n"
				       "[    2.%06d] Call Trace:\n",
				       i, i, i);
	look(text, &c, &s);
	assert_int_equal(s.n, 2);
	assert_int_equal(s.kinds[1], CONSOLE_PANIC);
	assert_non_null(strstr(s.lines[1], "loop 0"));
	assert_int_equal(c.count[CONSOLE_PANIC], 500);
	(void)console_tail(&c, tail, sizeof(tail));
	assert_non_null(strstr(tail, "before 99\n"));
	assert_non_null(strstr(tail, "before 61\n"));
	assert_non_null(strstr(tail, "loop 0\n"));
	assert_null(strstr(tail, "loop 30\n"));
	/* The next kernel may panic again. */
	console_feed(&c, START, strlen(START));
	console_feed(&c, "[    1.0] Kernel panic - not syncing: again\n", 44);
	assert_int_equal(s.n, 4);
	assert_int_equal(s.kinds[3], CONSOLE_PANIC);
}

static void test_lines_are_cut_and_cleaned(void **state)
{
	static struct console c;
	static struct seen s;
	static char text[5000];
	char tail[8];

	(void)state;
	memset(text, 'x', sizeof(text) - 1);
	memcpy(text, "BUG: \x01\x80\x7f", 8);
	look(text, &c, &s);
	assert_int_equal(s.n, 0); /* it has not ended */
	console_feed(&c, "\n", 1);
	assert_int_equal(s.n, 1);
	assert_int_equal(strlen(s.lines[0]), CONSOLE_LINE_BYTES - 1);
	assert_memory_equal(s.lines[0], "BUG: ?xx", 8);
	assert_int_equal(console_tail(&c, tail, sizeof(tail)), 0); /* no whole line fits */
	assert_string_equal(tail, "");
}

static void test_what_is_fatal(void **state)
{
	(void)state;
	assert_true(console_kind_fatal(CONSOLE_PANIC));
	assert_true(console_kind_fatal(CONSOLE_EMERGENCY_SHELL));
	assert_false(
		console_kind_fatal(CONSOLE_OOPS)); /* panic_on_oops says otherwise by a panic */
	assert_false(console_kind_fatal(CONSOLE_RELABEL));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_each_kind_is_known_by_its_own_words),
		cmocka_unit_test(test_a_prompt_is_seen_although_its_line_does_not_end),
		cmocka_unit_test(test_words_that_are_only_quoted_are_nothing),
		cmocka_unit_test(
			test_a_workload_is_not_the_kernel_where_the_kernel_stamps_its_lines),
		cmocka_unit_test(test_a_panic_that_loops_is_one_with_the_lines_around_the_first),
		cmocka_unit_test(test_lines_are_cut_and_cleaned),
		cmocka_unit_test(test_what_is_fatal),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
