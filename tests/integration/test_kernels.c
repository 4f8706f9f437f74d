/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tests/lib/cmocka_all.h"

#include <stdio.h>

#include "common/err.h"
#include "common/sha256.h"
#include "tests/lib/grid.h"
#include "tests/lib/peer.h"
#include "tests/lib/synthetic_kernel.h"

struct world {
	struct grid g;
	struct peer *client;
};

static int setup(void **state)
{
	struct world *w = calloc(1, sizeof(*w));

	grid_init(&w->g);
	grid_start(&w->g, NULL);
	w->client = peer_connect(w->g.socket);
	peer_hello_client(w->client);
	*state = w;
	return 0;
}

static int teardown(void **state)
{
	struct world *w = *state;

	peer_close(w->client);
	assert_int_equal(grid_stop(&w->g), 0);
	grid_deinit(&w->g);
	free(w);
	return 0;
}

static void test_kernel_is_read_from_its_own_image_and_config(void **state)
{
	struct world *w = *state;
	Kgrid__V1__KernelRequest rq = KGRID__V1__KERNEL_REQUEST__INIT;
	const Kgrid__V1__KernelInfo *k;
	char digest[65];
	struct kg_msg *m;

	synthetic_kernel_add(w->client, "one", "6.12.1-test", "x", digest);
	rq.selector = (char *)(uintptr_t) "one";
	m = peer_call(w->client, KG_MSG_KERNEL, &rq.base, KG_MSG_KERNEL_REPLY);
	k = PEER_BODY(m, Kgrid__V1__KernelReply)->kernel;
	assert_string_equal(k->release, "6.12.1-test");
	assert_string_equal(k->config_lsm, "yama,apparmor,tomoyo,bpf");
	assert_int_equal(strlen(k->build_id), 40);
	assert_string_equal(k->builtin_lsm, "capability,tomoyo,apparmor,yama,bpf");
	assert_string_equal(k->digest, digest);
	kg_msg_free(m);
}

static void test_same_release_other_config_is_another_kernel_and_ambiguous(void **state)
{
	struct world *w = *state;
	Kgrid__V1__KernelRequest rq = KGRID__V1__KERNEL_REQUEST__INIT;
	char a[65], b[65], text[512];

	synthetic_kernel_add(w->client, "a", "6.12.1-test", "x", a);
	synthetic_kernel_add(w->client, "b", "6.12.1-test", "y", b);
	assert_string_not_equal(a, b);
	rq.selector = (char *)(uintptr_t) "6.12.1-test";
	assert_int_equal(peer_call_error(w->client, KG_MSG_KERNEL, &rq.base, text, sizeof(text)),
			 KG_EAMBIGUOUS);
	assert_contains(text, "a");
	a[8] = b[8] = '\0';
	assert_contains(text, a);
	assert_contains(text, b);
}

static void test_commit_with_a_missing_blob_is_refused(void **state)
{
	struct world *w = *state;
	Kgrid__V1__KernelCommit c = KGRID__V1__KERNEL_COMMIT__INIT;
	char text[512], manifest[512], digest[KG_SHA256_HEX_SIZE];

	assert_int_equal(kg_sha256_bytes("nothing", 7, digest), 0);
	(void)snprintf(
		manifest, sizeof(manifest),
		"kgrid-kernel 1\nrelease 6.1\nfile %s 10 644 config\nfile %s 10 644 vmlinuz\n",
		digest, digest);
	c.manifest = manifest;
	assert_int_equal(peer_call_error(w->client, KG_MSG_KERNEL_COMMIT, &c.base, text,
					 sizeof(text)),
			 KG_ENOTFOUND);
	assert_int_equal(grid_count(&w->g, "SELECT count(*) FROM kernel"), 0);
}

static void test_blob_that_is_not_what_it_says_is_refused(void **state)
{
	struct world *w = *state;
	Kgrid__V1__BlobPut b = KGRID__V1__BLOB_PUT__INIT;
	char text[512], digest[KG_SHA256_HEX_SIZE];

	assert_int_equal(kg_sha256_bytes("abc", 3, digest), 0);
	b.digest = digest;
	b.has_offset = b.has_total_bytes = b.has_data = 1;
	b.total_bytes = 3;
	b.data.data = (uint8_t *)(uintptr_t) "abd";
	b.data.len = 3;
	assert_int_equal(peer_call_error(w->client, KG_MSG_BLOB_PUT, &b.base, text, sizeof(text)),
			 KG_ECORRUPT);
}

static void test_agent_fetches_manifest_and_blobs_in_chunks(void **state)
{
	struct world *w = *state;
	Kgrid__V1__BlobRequest rq = KGRID__V1__BLOB_REQUEST__INIT;
	const Kgrid__V1__BlobChunk *chunk;
	struct peer *a = peer_connect(w->g.tcp);
	char digest[65], seen[KG_SHA256_HEX_SIZE];
	char whole[4096];
	size_t len = 0;
	struct kg_msg *m;

	synthetic_kernel_add(w->client, "one", "6.12.1-test", "x", digest);
	peer_hello_agent(a, "m", "s");
	rq.digest = digest;
	rq.has_offset = rq.has_max_bytes = 1;
	rq.max_bytes = 50;
	do {
		rq.offset = len;
		m = peer_call(a, KG_MSG_BLOB_REQUEST, &rq.base, KG_MSG_BLOB_CHUNK);
		chunk = PEER_BODY(m, Kgrid__V1__BlobChunk);
		assert_int_equal(chunk->offset, len);
		assert_true(chunk->data.len > 0 && len + chunk->data.len <= sizeof(whole));
		memcpy(whole + len, chunk->data.data, chunk->data.len);
		len += chunk->data.len;
		rq.offset = chunk->total_bytes;
		kg_msg_free(m);
	} while (len < rq.offset);
	assert_int_equal(kg_sha256_bytes(whole, len, seen), 0);
	assert_string_equal(seen, digest);
	peer_close(a);
}

static void test_label_can_be_taken_once(void **state)
{
	struct world *w = *state;
	Kgrid__V1__KernelsRequest rq = KGRID__V1__KERNELS_REQUEST__INIT;
	char digest[65];
	struct kg_msg *m;

	synthetic_kernel_add(w->client, "same", "6.12.1-test", "x", digest);
	synthetic_kernel_add(w->client, "same", "6.12.1-test", "x", digest); /* the same again */
	m = peer_call(w->client, KG_MSG_KERNELS, &rq.base, KG_MSG_KERNELS_REPLY);
	assert_int_equal(PEER_BODY(m, Kgrid__V1__KernelsReply)->n_kernels, 1);
	kg_msg_free(m);
}

static void test_kernel_is_known_after_a_restart(void **state)
{
	struct world *w = *state;
	Kgrid__V1__KernelRequest rq = KGRID__V1__KERNEL_REQUEST__INIT;
	char digest[65];
	struct kg_msg *m;

	synthetic_kernel_add(w->client, "one", "6.12.1-test", "x", digest);
	peer_close(w->client);
	grid_kill(&w->g);
	grid_start(&w->g, NULL);
	w->client = peer_connect(w->g.socket);
	peer_hello_client(w->client);
	rq.selector = digest;
	m = peer_call(w->client, KG_MSG_KERNEL, &rq.base, KG_MSG_KERNEL_REPLY);
	kg_msg_free(m);
}

static void test_removed_kernel_is_gone(void **state)
{
	struct world *w = *state;
	Kgrid__V1__KernelRemove rm = KGRID__V1__KERNEL_REMOVE__INIT;
	Kgrid__V1__KernelRequest rq = KGRID__V1__KERNEL_REQUEST__INIT;
	char digest[65], text[512];

	synthetic_kernel_add(w->client, "one", "6.12.1-test", "x", digest);
	rm.selector = (char *)(uintptr_t) "one";
	kg_msg_free(peer_call(w->client, KG_MSG_KERNEL_REMOVE, &rm.base, KG_MSG_DONE));
	rq.selector = digest;
	assert_int_equal(peer_call_error(w->client, KG_MSG_KERNEL, &rq.base, text, sizeof(text)),
			 KG_ENOTFOUND);
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(test_kernel_is_read_from_its_own_image_and_config),
		T(test_same_release_other_config_is_another_kernel_and_ambiguous),
		T(test_commit_with_a_missing_blob_is_refused),
		T(test_blob_that_is_not_what_it_says_is_refused),
		T(test_agent_fetches_manifest_and_blobs_in_chunks),
		T(test_label_can_be_taken_once),
		T(test_kernel_is_known_after_a_restart),
		T(test_removed_kernel_is_gone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
