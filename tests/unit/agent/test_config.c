/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "agent/config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "common/file.h"

static int load(const char *text, struct agent_config *c, struct kg_err *err)
{
	char path[] = "/tmp/kgrid-config-XXXXXX";
	int fd = mkstemp(path), rc;

	assert_true(fd >= 0);
	assert_int_equal(kg_write_all(fd, text, strlen(text)), 0);
	close(fd);
	rc = agent_config_load(path, c, err);
	(void)unlink(path);
	return rc;
}

static void expect_error(const char *text, const char *want)
{
	struct agent_config c;
	struct kg_err err;

	assert_true(load(text, &c, &err) < 0);
	if (!strstr(err.text, want))
		fail_msg("expected '%s' in '%s'", want, err.text);
}

static void test_shipped_example_is_right(void **state)
{
	struct agent_config c;
	struct kg_err err = {""};

	(void)state;
	if (agent_config_load(KGRID_AGENT_YAML, &c, &err) < 0)
		fail_msg("%s", err.text);
	assert_string_equal(c.machine, "testbox-1");
	assert_int_equal(c.initrd.policy, AGENT_INITRD_OVERLAY);
	agent_config_deinit(&c);
}

static void test_whole_file_of_the_lab(void **state)
{
	static const char text[] = "coordinator: 10.0.2.2:7440\n"
				   "machine: lab-intel\n"
				   "state-dir: /state/agent\n"
				   "workload-dir: /usr/share/kgrid/workloads\n"
				   "tags: [lab, icount]\n"
				   "clock: instruction\n"
				   "env-check: record\n"
				   "cmdline: console=ttyS0 panic=5\n"
				   "initrd:\n"
				   "  policy: overlay\n"
				   "  base: /state/base.cpio\n"
				   "  modules: [virtio_pci, virtio_net]\n"
				   "  cache: 256MiB\n"
				   "shutdown:\n"
				   "  method: direct\n"
				   "  unmount: [/state]\n";
	struct agent_config c;
	struct kg_err err;

	(void)state;
	assert_int_equal(load(text, &c, &err), 0);
	assert_int_equal(c.clock, AGENT_CLOCK_INSTRUCTION);
	assert_int_equal(c.env_check, AGENT_ENV_RECORD);
	assert_int_equal(c.tags.n, 2);
	assert_int_equal(c.initrd.cache_bytes, 256 << 20);
	assert_int_equal(c.shutdown.method, AGENT_SHUTDOWN_DIRECT);
	assert_string_equal(c.shutdown.unmount.items[0], "/state");
	assert_int_equal(c.spool_bytes, 64 << 20);
	agent_config_deinit(&c);
}

static void test_presets_hold_where_nothing_is_said(void **state)
{
	struct agent_config c;
	struct kg_err err;

	(void)state;
	assert_int_equal(load("coordinator: a:1\nmachine: m\ninitrd: {policy: none}\n", &c, &err),
			 0);
	assert_string_equal(c.state_dir, "/var/lib/kgrid-agent");
	assert_int_equal(c.clock, AGENT_CLOCK_REAL);
	assert_int_equal(c.env_check, AGENT_ENV_STRICT);
	assert_int_equal(c.shutdown.method, AGENT_SHUTDOWN_AUTO);
	assert_true(c.shutdown.reboot);
	assert_null(c.address);
	assert_int_equal(c.initrd.cache_bytes, 256 << 20);
	agent_config_deinit(&c);
}

static void test_mistakes_are_told_with_their_place(void **state)
{
	(void)state;
	expect_error("coordinator: a:1\nmachin: m\n", ":2:1: unknown key 'machin'; did you mean");
	expect_error("coordinator: a:1\n", "machine");
	expect_error("coordinator: nowhere\nmachine: m\ninitrd: {policy: none}\n",
		     ":1:14: expected");
	expect_error("coordinator: a:1\nmachine: m\n", "needs 'base'");
	expect_error("coordinator: a:1\nmachine: ../m\n", ":2:10:");
	expect_error("coordinator: a:1\nmachine: m\nclock: sundial\n", "instruction");
	expect_error("coordinator: a:1\nmachine: m\nspool: 3\n", "spool");
	expect_error("", "");
}

static void test_the_address_for_peers_names_one_machine(void **state)
{
	static const char *const right[] = {"192.0.2.7", "127.0.0.1", "2001:db8::7"};
	static const char *const wrong[] = {
		"0.0.0.0",     "'::'",	       "224.0.0.1", "'ff02::1'", "255.255.255.255",
		"192.0.2.7:5", "192.0.2.0/24", "box-1",	    "192.0.2",	 "''",
	};
	struct agent_config c;
	struct kg_err err;
	char text[160];
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(right) / sizeof(right[0]); i++) {
		(void)snprintf(text, sizeof(text),
			       "coordinator: a:1\nmachine: m\ninitrd: {policy: none}\n"
			       "address: '%s'\nshutdown: {reboot: no}\n",
			       right[i]);
		assert_int_equal(load(text, &c, &err), 0);
		assert_string_equal(c.address, right[i]);
		assert_false(c.shutdown.reboot);
		agent_config_deinit(&c);
	}
	for (i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		(void)snprintf(
			text, sizeof(text),
			"coordinator: a:1\nmachine: m\ninitrd: {policy: none}\naddress: %s\n",
			wrong[i]);
		expect_error(text, ":4:10: 'address'");
	}
}

static void test_addresses(void **state)
{
	static const char *const wrong[] = {"",		  "host",   "host:", ":1",  "host:0",
					    "host:65536", "host:x", "unix:", "[]:1"};
	struct kg_err err;
	char host[64];
	uint16_t port;
	bool is_unix;
	size_t i;

	(void)state;
	assert_int_equal(agent_address_parse("10.0.2.2:7440", host, 64, &port, &is_unix, &err), 0);
	assert_string_equal(host, "10.0.2.2");
	assert_int_equal(port, 7440);
	assert_false(is_unix);
	assert_int_equal(agent_address_parse("[::1]:5", host, 64, &port, &is_unix, &err), 0);
	assert_string_equal(host, "::1");
	assert_int_equal(agent_address_parse("unix:/run/x", host, 64, &port, &is_unix, &err), 0);
	assert_true(is_unix);
	assert_string_equal(host, "/run/x");
	for (i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		assert_true(agent_address_parse(wrong[i], host, 64, &port, &is_unix, &err) < 0);
}

static void test_faults_exist_only_in_test_builds(void **state)
{
	struct agent_config c = {0};

	(void)state;
#ifdef KGRID_FAULTS
	char *items[] = {(char *)"drop-lsm-word", (char *)"boot-other-kernel:abc"};

	assert_null(agent_fault(&c, "quiet", "drop-lsm-word"));
	assert_string_equal(agent_fault(&c, "kgrid.fault=drop-lsm-word", "drop-lsm-word"), "");
	assert_string_equal(
		agent_fault(&c, "a kgrid.fault=boot-other-kernel:12", "boot-other-kernel"), "12");
	assert_null(agent_fault(&c, "kgrid.fault=drop-lsm-words", "drop-lsm-word"));
	c.faults = (struct kg_texts){items, 2};
	assert_string_equal(agent_fault(&c, "", "drop-lsm-word"), "");
	assert_string_equal(agent_fault(&c, "", "boot-other-kernel"), "abc");
#else
	assert_null(agent_fault(&c, "kgrid.fault=drop-lsm-word", "drop-lsm-word"));
	expect_error("coordinator: a:1\nmachine: m\nfaults: [drop-lsm-word]\n",
		     "unknown key 'faults'");
#endif
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_shipped_example_is_right),
		cmocka_unit_test(test_whole_file_of_the_lab),
		cmocka_unit_test(test_presets_hold_where_nothing_is_said),
		cmocka_unit_test(test_mistakes_are_told_with_their_place),
		cmocka_unit_test(test_the_address_for_peers_names_one_machine),
		cmocka_unit_test(test_addresses),
		cmocka_unit_test(test_faults_exist_only_in_test_builds),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
