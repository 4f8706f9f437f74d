/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Fails the first, second, ... allocation of parsing and planning: each time -ENOMEM comes back,
 * and everything is released (the asan build sees leaks). */
#include "fixture.h"

#include <errno.h>

static long countdown = -1; /* -1: never fail */

static bool fails(void)
{
	return countdown >= 0 && countdown-- == 0;
}

void *__real_malloc(size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_malloc(size_t size)
{
	return fails() ? NULL : __real_malloc(size);
}

void *__real_calloc(size_t n, size_t size);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_calloc(size_t n, size_t size)
{
	return fails() ? NULL : __real_calloc(n, size);
}

void *__real_realloc(void *p, size_t size);
void *__wrap_realloc(void *p, size_t size);
void *__wrap_realloc(void *p, size_t size)
{
	return fails() ? NULL : __real_realloc(p, size);
}

char *__real_strdup(const char *s);
char *__wrap_strdup(const char *s);
char *__wrap_strdup(const char *s)
{
	return fails() ? NULL : __real_strdup(s);
}

static const char job[] = "name: j\n"
			  "machines: \"vendor in (intel, amd) and not lab not in tags\"\n"
			  "kernels: [6.1.0-52-cloud-amd64, newer]\n"
			  "lsm:\n"
			  "  a: yama,apparmor,selinux,smack,integrity\n"
			  "  b: {base: a, without: [yama], with: [bpf]}\n"
			  "  c: [yama, apparmor]\n"
			  "cmdline: quiet security=none\n"
			  "workloads:\n"
			  "  - netperf: {test: UDP_RR, size: [64, 064]}\n"
			  "  - hackbench\n"
			  "exclude: [\"lsm == b and vendor == amd\"]\n"
			  "monitors: [vmstat]\n"
			  "repeat: {boots: 2..3, until: \"ci95 <= 1%\"}\n"
			  "budget: {wall: 5m}\n";

/* Runs until no allocation is left that could fail. A lost estimate (common/workload.h) is the one
 * thing for which a plan without it is right. */
static long sweep(struct grid *g, const char *text)
{
	bool reached = true;
	long n, succeeded = 0;

	for (n = 0; reached; n++) {
		int rc;

		countdown = n;
		rc = grid_plan(g, text);
		reached = countdown < 0;
		countdown = -1;
		if (!reached)
			assert_int_equal(rc, 0);
		else if (rc == 0)
			succeeded++;
		else
			assert_int_equal(rc, -ENOMEM);
		assert_int_equal(rc < 0, g->err.text[0] != '\0');
	}
	assert_true(succeeded < 8);
	return n;
}

static void test_each_failed_allocation_is_reported_and_leaks_nothing(void **state)
{
	struct grid g;
	char text[sizeof(job)];
	char *security;

	(void)state;
	memcpy(text, job, sizeof(job));
	security = strstr(text, " security=none");
	memset(security, ' ', strlen(" security=none"));
	grid_init(&g);
	g.offers[0][0].available = false;
	assert_true(sweep(&g, text) > 300);
	grid_deinit(&g);
}

static void test_each_failed_allocation_of_an_error_is_survived(void **state)
{
	static const char *const bad[] = {
		"name: j\nkernels: [nower]\nworkloads: [hackbench]\n",
		"name: j\nkernels: [newer]\nworkloads: [hackbnch]\n",
		"name: j\nkernels: [newer]\nworkloads: [netperf: {test: UDP_RR, sise: 4}]\n",
		"name: j\nkernels: [newer]\nmachines: [lab-mad]\nworkloads: [hackbench]\n",
		"name: j\nkernels: [newer]\nmachines: cpus > 99\nworkloads: [hackbench]\n",
		"name: j\nkernels: [newer]\nmachines: vndor == amd\nworkloads: [hackbench]\n",
		"name: j\nkernels: [newer]\nlsm: {a: yama, b: {base: x}}\nworkloads: [hackbench]\n",
		job,
	};
	struct grid g;
	size_t i;
	long n;

	(void)state;
	grid_init(&g);
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		int want = grid_plan(&g, bad[i]);
		int rc = -ENOMEM;

		assert_true(want < 0);
		for (n = 0; rc != want || n < 5; n++) {
			countdown = n;
			rc = grid_plan(&g, bad[i]);
			countdown = -1;
			assert_true(rc == -ENOMEM || rc == want);
			if (n > 5000)
				fail();
		}
	}
	grid_deinit(&g);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_each_failed_allocation_is_reported_and_leaks_nothing),
		cmocka_unit_test(test_each_failed_allocation_of_an_error_is_survived),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
