/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "agent/state.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "common/file.h"

struct fixture {
	char dir[64];
	char path[96];
};

static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	assert_non_null(f);
	(void)snprintf(f->dir, sizeof(f->dir), "/tmp/kgrid-state-XXXXXX");
	assert_non_null(mkdtemp(f->dir));
	(void)snprintf(f->path, sizeof(f->path), "%s/state", f->dir);
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(kg_remove_tree(f->dir, NULL), 0);
	free(f);
	return 0;
}

static void fill(struct agent_state *s)
{
	memset(s, 0, sizeof(*s));
	s->saved.stage = AGENT_BOOT;
	s->saved.boot = 17;
	s->saved.lease_epoch = 4;
	s->saved.n_runs = 3;
	s->saved.hops = 9;
	s->saved.fenced = true;
	s->saved.left = true;
	s->minor = 2;
	(void)snprintf(s->saved.host_boot_id, sizeof(s->saved.host_boot_id), "aaaa-bbbb");
	(void)snprintf(s->previous_host_boot_id, sizeof(s->previous_host_boot_id), "cccc");
	(void)snprintf(s->boot_method, sizeof(s->boot_method), "kexec-file-load");
	s->order = malloc(3);
	assert_non_null(s->order);
	memcpy(s->order, "\x00\xff\x0a", 3);
	s->order_len = 3;
}

static void test_everything_comes_back(void **state)
{
	struct fixture *f = *state;
	struct agent_state s, got;
	struct kg_err err;

	fill(&s);
	assert_int_equal(agent_state_save(f->path, &s, &err), 0);
	assert_int_equal(agent_state_load(f->path, &got, &err), 0);
	assert_int_equal(got.saved.stage, AGENT_BOOT);
	assert_int_equal(got.saved.boot, 17);
	assert_int_equal(got.saved.lease_epoch, 4);
	assert_int_equal(got.saved.n_runs, 3);
	assert_int_equal(got.saved.hops, 9);
	assert_true(got.saved.fenced);
	assert_true(got.saved.left);
	assert_int_equal(got.minor, 2);
	assert_string_equal(got.saved.host_boot_id, "aaaa-bbbb");
	assert_string_equal(got.previous_host_boot_id, "cccc");
	assert_string_equal(got.boot_method, "kexec-file-load");
	assert_int_equal(got.order_len, 3);
	assert_memory_equal(got.order, "\x00\xff\x0a", 3);
	agent_state_deinit(&s);
	agent_state_deinit(&got);
}

static void test_idle_state_keeps_hops(void **state)
{
	struct agent_state s = {.saved = {.hops = 5, .host_boot_id = "x"}}, got;
	struct fixture *f = *state;
	struct kg_err err;

	assert_int_equal(agent_state_save(f->path, &s, &err), 0);
	assert_int_equal(agent_state_load(f->path, &got, &err), 0);
	assert_int_equal(got.saved.boot, 0);
	assert_int_equal(got.saved.hops, 5);
	assert_null(got.order);
	agent_state_deinit(&got);
}

/* As agent 0.2.0 left it; it knows neither that a machine may be left nor roles. */
static void test_file_of_release_0_2_is_read(void **state)
{
	static const char text[] =
		"kgrid-agent-state 1\nhost-boot-id 11111111-0000-0000-0000-000000000000\nhops 2\n"
		"previous-host-boot-id 22222222-0000-0000-0000-000000000000\n"
		"boot-method kexec-file-load\nboot 17\nlease-epoch 4\nstage run\nminor 2\nruns 3\n"
		"fenced no\norder 0a0b0c\n"
		"sha256 63000c8f5b4f472e64a0e898486508aaffa704463ab1cbfcb42ec959d888ca94\n";
	struct fixture *f = *state;
	struct agent_state got;
	struct kg_err err = {""};

	assert_int_equal(kg_file_replace(f->path, text, sizeof(text) - 1, 0600, &err), 0);
	if (agent_state_load(f->path, &got, &err) < 0)
		fail_msg("%s", err.text);
	assert_int_equal(got.saved.stage, AGENT_RUN);
	assert_int_equal(got.saved.boot, 17);
	assert_int_equal(got.saved.n_runs, 3);
	assert_int_equal(got.minor, 2);
	assert_false(got.saved.left);
	assert_false(got.saved.fenced);
	assert_int_equal(got.order_len, 3);
	/* and back: it takes what this one writes, unless a machine was left meanwhile */
	assert_int_equal(agent_state_save(f->path, &got, &err), 0);
	agent_state_deinit(&got);
	{
		char *again;
		size_t len;

		assert_int_equal(kg_file_read(f->path, 1 << 16, &again, &len, &err), 0);
		assert_string_equal(again, text);
		free(again);
	}
}

static void test_no_file_is_enoent(void **state)
{
	struct fixture *f = *state;
	struct agent_state got;
	struct kg_err err;

	assert_int_equal(agent_state_load(f->path, &got, &err), -ENOENT);
}

static void test_every_cut_and_every_changed_byte_is_noticed(void **state)
{
	struct fixture *f = *state;
	struct agent_state s, got;
	struct kg_err err;
	size_t len, i;
	char *text;

	fill(&s);
	assert_int_equal(agent_state_save(f->path, &s, &err), 0);
	agent_state_deinit(&s);
	assert_int_equal(kg_file_read(f->path, 1 << 20, &text, &len, &err), 0);
	for (i = 0; i < len; i++) {
		assert_int_equal(kg_file_replace(f->path, text, i, 0600, &err), 0);
		assert_true(agent_state_load(f->path, &got, &err) <= KG_EPROTO);
		text[i] ^= 1;
		assert_int_equal(kg_file_replace(f->path, text, len, 0600, &err), 0);
		assert_true(agent_state_load(f->path, &got, &err) <= KG_EPROTO);
		text[i] ^= 1;
	}
	free(text);
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(test_everything_comes_back),
		T(test_idle_state_keeps_hops),
		T(test_file_of_release_0_2_is_read),
		T(test_no_file_is_enoent),
		T(test_every_cut_and_every_changed_byte_is_noticed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
