/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How systemctl is asked, with a stand-in: PATH has nothing but that. */
#include "tests/lib/cmocka_all.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/boot_shutdown.h"
#include "agent/driver_internal.h"
#include "common/clock.h"
#include "common/file.h"

static char dir[] = "/tmp/kgrid-shutdown-XXXXXX";
static char stub[64], said[64];

static void stub_does(const char *what)
{
	char text[256];
	struct kg_err err;
	int n = snprintf(text, sizeof(text), "#!/bin/sh\necho \"$*\" >%s\n%s\n", said, what);

	(void)unlink(said);
	assert_int_equal(kg_file_replace(stub, text, (size_t)n, 0700, &err), 0);
	assert_int_equal(setenv("PATH", dir, 1), 0);
}

static void assert_said(const char *words)
{
	char line[128];

	assert_int_equal(kg_file_read_line(said, line, sizeof(line), NULL), 0);
	assert_string_equal(line, words);
}

static void test_each_method_is_asked_for_by_name(void **state)
{
	struct kg_err err;

	(void)state;
	stub_does("exit 0");
	assert_int_equal(boot_systemctl("kexec", false, KG_NSEC_PER_SEC * 20, &err), 0);
	assert_said("--no-block kexec");
	assert_int_equal(boot_systemctl("reboot", true, KG_NSEC_PER_SEC * 20, &err), 0);
	assert_said("--no-block reboot --force");
	stub_does("exit 3");
	assert_int_equal(boot_systemctl("kexec", false, KG_NSEC_PER_SEC * 20, &err), -EIO);
	assert_non_null(strstr(err.text, "failed with 3"));
}

static void test_one_that_has_no_answer_is_not_waited_for(void **state)
{
	struct kg_err err;

	(void)state;
	stub_does("while :; do :; done");
	assert_int_equal(boot_systemctl("kexec", false, KG_NSEC_PER_SEC / 5, &err), -ETIME);
	assert_non_null(strstr(err.text, "was killed"));
}

static void test_a_shutdown_that_has_begun_has_a_deadline(void **state)
{
	static struct agent_config config;
	struct driver *d = calloc(1, sizeof(*d));
	uv_loop_t loop;

	(void)state;
	assert_non_null(d);
	assert_int_equal(uv_loop_init(&loop), 0);
	d->loop = &loop;
	d->config = &config;
	config.clock = AGENT_CLOCK_REAL;
	config.shutdown.method = AGENT_SHUTDOWN_SYSTEMCTL;
	assert_int_equal(uv_timer_init(&loop, &d->down), 0);
	d->down.data = d;
	agent_init(&d->agent);
	d->agent.forced = d->agent.shutting_down = true;
	stub_does("exit 1");
	driver_force(d);
	assert_said("--no-block reboot --force");
	assert_false(uv_is_active((uv_handle_t *)&d->down));
	stub_does("exit 0");
	driver_reboot(d);
	assert_said("--no-block reboot");
	assert_true(uv_is_active((uv_handle_t *)&d->down));
	assert_in_range(uv_timer_get_due_in(&d->down), 100000, 300000);
	d->agent.stage = AGENT_BOOT;
	driver_force(d);
	assert_said("--no-block kexec --force");
	assert_in_range(uv_timer_get_due_in(&d->down), 10000, 100000);
	uv_close((uv_handle_t *)&d->down, NULL);
	(void)uv_run(&loop, UV_RUN_DEFAULT);
	assert_int_equal(uv_loop_close(&loop), 0);
	free(d);
}

static int setup(void **state)
{
	(void)state;
	if (!mkdtemp(dir))
		return -1;
	(void)snprintf(stub, sizeof(stub), "%s/systemctl", dir);
	(void)snprintf(said, sizeof(said), "%s/said", dir);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	(void)unlink(stub);
	(void)unlink(said);
	return rmdir(dir);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_each_method_is_asked_for_by_name),
		cmocka_unit_test(test_one_that_has_no_answer_is_not_waited_for),
		cmocka_unit_test(test_a_shutdown_that_has_begun_has_a_deadline),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
