/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The coordinator ends while programs of its run, and waits for none: a power-cycle command goes on
 * alone, a notice is ended and stays pending. */
#include "tests/lib/cmocka_all.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/file.h"
#include "coordinator/coordinator.h"
#include "coordinator/fleet/notify.h"
#include "coordinator/fleet/power.h"

static void never(uv_timer_t *t)
{
	(void)t;
	fail_msg("the program was waited for");
}

static pid_t pid_in(const char *path)
{
	char line[32];
	int i;

	for (i = 0; i < 2000; i++) {
		if (kg_file_read_line(path, line, sizeof(line), NULL) == 0 && line[0])
			return (pid_t)atoi(line);
		(void)poll(NULL, 0, 5);
	}
	fail_msg("the command was not started");
	return -1;
}

static void test_the_end_does_not_wait_for_a_command(void **state)
{
	char path[] = "/tmp/kgrid-power-XXXXXX", script[96];
	char *words[] = {(char *)"sh", (char *)"-c", script};
	struct coordinator *c = calloc(1, sizeof(*c));
	int fd = mkstemp(path);
	uv_timer_t late;
	pid_t pid;

	(void)state;
	assert_non_null(c);
	assert_true(fd >= 0);
	close(fd);
	(void)snprintf(script, sizeof(script), "echo $$ >%s; exec sleep 50", path);
	c->cfg.power_cycle = (struct kg_texts){.items = words, .n = 3};
	assert_int_equal(uv_loop_init(&c->loop), 0);
	driver_init(&c->driver, c);
	power_cycle(&c->driver, "m", 1, 2);
	pid = pid_in(path);
	assert_int_equal(uv_timer_init(&c->loop, &late), 0);
	assert_int_equal(uv_timer_start(&late, never, 20000, 0), 0);
	uv_unref((uv_handle_t *)&late);
	c->stopping = true;
	power_stop(&c->driver);
	(void)uv_run(&c->loop, UV_RUN_DEFAULT);
	assert_null(c->driver.power);
	assert_int_equal(kill(pid, 0), 0); /* it goes on */
	assert_int_equal(kill(pid, SIGKILL), 0);
	(void)waitpid(pid, NULL, 0);
	uv_close((uv_handle_t *)&late, NULL);
	(void)uv_run(&c->loop, UV_RUN_DEFAULT);
	assert_int_equal(uv_loop_close(&c->loop), 0);
	driver_deinit(&c->driver);
	(void)unlink(path);
	free(c);
}

static void test_the_end_does_not_wait_for_a_notice(void **state)
{
	static char *commands[] = {(char *)"slow /bin/sleep 50"};
	struct store_notice item = {.id = 1, .target = "command:slow", .text = "it is slower"};
	struct coordinator *c = calloc(1, sizeof(*c));
	uv_timer_t late;

	(void)state;
	assert_non_null(c);
	c->cfg.notify_commands = (struct kg_texts){.items = commands, .n = 1};
	assert_int_equal(uv_loop_init(&c->loop), 0);
	assert_int_equal(uv_timer_init(&c->loop, &late), 0);
	assert_int_equal(uv_timer_start(&late, never, 20000, 0), 0);
	uv_unref((uv_handle_t *)&late);
	notify_resume(c, &(struct store_notices){.items = &item, .n = 1});
	assert_non_null(c->notices);
	c->stopping = true;
	notify_stop(c);
	(void)uv_run(&c->loop, UV_RUN_DEFAULT);
	assert_null(c->notices);
	uv_close((uv_handle_t *)&late, NULL);
	(void)uv_run(&c->loop, UV_RUN_DEFAULT);
	assert_int_equal(uv_loop_close(&c->loop), 0);
	free(c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_the_end_does_not_wait_for_a_command),
		cmocka_unit_test(test_the_end_does_not_wait_for_a_notice),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
