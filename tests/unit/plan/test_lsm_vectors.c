/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Every vector of tests/data/lsm_vectors.json is a test of its own, named by its id. */
#include "coordinator/plan/lsm.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <jansson.h>

static const char *text_of(json_t *v, const char *key)
{
	const char *text = json_string_value(json_object_get(v, key));

	return text ? text : "";
}

static void add_names(struct lsm_kernel *k, json_t *names)
{
	json_t *name;
	size_t i;

	json_array_foreach(names, i, name)
	{
		enum lsm_id id = lsm_parse_name(json_string_value(name));

		assert_int_not_equal(id, LSM_COUNT);
		k->builtin |= LSM_BIT(id);
	}
}

static void test_vector(void **state)
{
	json_t *v = *state;
	struct lsm_kernel k = {0};
	struct lsm_list list;
	struct kg_err err = {{0}};

	(void)snprintf(k.release, sizeof(k.release), "%s", text_of(v, "kernel"));
	(void)snprintf(k.config_lsm, sizeof(k.config_lsm), "%s", text_of(v, "config_lsm"));
	(void)snprintf(k.default_security, sizeof(k.default_security), "%s",
		       text_of(v, "default_security"));
	add_names(&k, json_object_get(v, "builtin"));
	add_names(&k, json_object_get(v, "early"));
	k.lockdown_early = json_array_size(json_object_get(v, "early")) > 0;
	k.selinux_bootparam = json_is_true(json_object_get(v, "selinux_bootparam"));
	if (strstr(k.release, "(Ubuntu)"))
		k.profile = LSM_PROFILE_UBUNTU;

	assert_int_equal(lsm_resolve(&k, text_of(v, "cmdline"), &list, &err), 0);
	assert_string_equal(list.effective, text_of(v, "expect"));
	lsm_list_deinit(&list);
}

int main(void)
{
	json_t *root = json_load_file(KGRID_TEST_DATA "/lsm_vectors.json", 0, NULL);
	json_t *vectors = json_object_get(root, "vectors");
	size_t n = json_array_size(vectors);
	struct CMUnitTest *tests = calloc(n + 1, sizeof(*tests));
	char(*names)[32] = calloc(n + 1, sizeof(*names));
	size_t i;
	int rc;

	if (n < 200 || !tests || !names) {
		(void)fprintf(stderr, "cannot read the vectors\n");
		return 1;
	}
	for (i = 0; i < n; i++) {
		json_t *v = json_array_get(vectors, i);

		(void)snprintf(names[i], sizeof(names[i]), "test_%s", text_of(v, "id"));
		tests[i].name = names[i];
		tests[i].test_func = test_vector;
		tests[i].initial_state = v;
	}
	rc = _cmocka_run_group_tests("lsm_vectors", tests, n, NULL, NULL);
	free(tests);
	free(names);
	json_decref(root);
	return rc;
}
