/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Everything at once, by a seed: machines that boot, fail, fall silent, lose their state and come
 * back; people who submit, change and ask; a coordinator that is stopped and killed in between.
 * Then everybody behaves, and everything has to come to an end: each request is answered, each slot
 * has one outcome, what passed has its samples. KGRID_CHAOS_SEED=N makes the choices of a run again
 * (what the processes make of them is a matter of their timing), KGRID_CHAOS_STEPS=N more of them,
 * KGRID_CHAOS_ERRORS=1 prints each refusal.
 */
#include "tests/lib/cmocka_all.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/file.h"
#include "tests/lib/chaos_client.h"
#include "tests/lib/chaos_machine.h"
#include "tests/lib/grid.h"
#include "tests/lib/synthetic_kernel.h"

#define MACHINES 4
#define CLIENTS	 4
#define STOP_NS	 (30 * KG_NSEC_PER_SEC)
#define STUCK_NS (60 * KG_NSEC_PER_SEC) /* much longer than any limit below */

struct world {
	struct grid g;
	struct chaos_rng rng;
	struct chaos_machine machines[MACHINES];
	struct chaos_client clients[CLIENTS];
	const char *args[4];
	char config[128];
	size_t restarts;
};

static const char settings[] =
	"silence: 5s\npower-cycle: [\"true\", \"{machine}\"]\nlimits:\n"
	"  {dispatch: 1, fetch: 1, load: 1, boot: 1, verify: 1, warm-up: 1, run: 1, collect: 1,\n"
	"   upload: 1, leave: 1, settings: 1, pair: 2, serve: 2}\n";

static uint64_t number_from(const char *name, uint64_t other)
{
	const char *text = getenv(name);

	return text && *text ? strtoull(text, NULL, 10) : other;
}

static void start(struct world *w)
{
	grid_start(&w->g, w->args);
	for (size_t i = 0; i < CLIENTS; i++)
		w->clients[i].socket = w->g.socket;
	for (size_t i = 0; i < MACHINES; i++)
		w->machines[i].address = w->g.tcp;
}

static void add_kernels(struct world *w)
{
	struct peer *p = peer_connect(w->g.socket);
	char digest[65];

	peer_hello_client(p);
	synthetic_kernel_add(p, "k1", "6.1.1-test", "x", digest);
	synthetic_kernel_add(p, "k2", "6.12.1-test", "y", digest);
	peer_close(p);
}

static void show_log(const struct world *w)
{
	char *text = grid_log(&w->g);

	(void)fputs(text, stderr);
	free(text);
}

/* Whatever ends it, its log has no report of a sanitizer. */
static void check_log(const struct world *w)
{
	char *text = grid_log(&w->g);
	bool bad = strstr(text, "Sanitizer") || strstr(text, "runtime error");

	free(text);
	if (bad) {
		show_log(w);
		fail_msg("the coordinator is at fault");
	}
}

static void leave_all(struct world *w)
{
	for (size_t i = 0; i < CLIENTS; i++)
		chaos_client_leave(&w->clients[i]);
	for (size_t i = 0; i < MACHINES; i++)
		chaos_machine_leave(&w->machines[i]);
}

static void stop(struct world *w)
{
	uint64_t from = kg_monotonic_ns();
	int status = grid_stop(&w->g);

	if (status != 0) {
		show_log(w);
		fail_msg("the coordinator ended with %d", status);
	}
	if (kg_monotonic_ns() - from > STOP_NS)
		fail_msg("the coordinator took long to end");
}

/* A socket that listens. */
static int listen_somewhere(char *address, size_t size)
{
	struct sockaddr_in in = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t len = sizeof(in);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	assert_true(fd >= 0);
	assert_int_equal(bind(fd, (struct sockaddr *)&in, sizeof(in)), 0);
	assert_int_equal(listen(fd, 1), 0);
	assert_int_equal(getsockname(fd, (struct sockaddr *)&in, &len), 0);
	(void)snprintf(address, size, "127.0.0.1:%u", ntohs(in.sin_port));
	return fd;
}

/* It takes up everything, then cannot listen, and gives up. */
static void start_in_vain(struct world *w)
{
	char address[32];
	const char *const args[] = {"--listen", address, NULL};
	int fd = listen_somewhere(address, sizeof(address));

	assert_int_equal(grid_run_failing(&w->g, args), 1);
	(void)close(fd);
}

static void restart(struct world *w)
{
	w->restarts++;
	if (chaos_one_in(&w->rng, 2))
		grid_kill(&w->g);
	else
		stop(w);
	leave_all(w);
	if (chaos_one_in(&w->rng, 4))
		start_in_vain(w);
	check_log(w);
	start(w);
}

static void step(struct world *w, bool calm)
{
	for (size_t i = 0; i < MACHINES; i++)
		chaos_machine_step(&w->machines[i], &w->rng, calm);
	for (size_t i = 0; i < CLIENTS; i++)
		chaos_client_step(&w->clients[i], &w->rng, calm);
	(void)nanosleep(&(struct timespec){.tv_nsec = 2000000}, NULL);
	if (grid_died(&w->g)) {
		show_log(w);
		fail_msg("the coordinator died");
	}
}

static void go_on(struct world *w)
{
	for (size_t i = 0; i < MACHINES; i++)
		chaos_machine_serve_again(w->machines[i].name, w->g.socket);
	for (long n = grid_count(&w->g, "SELECT max(id) FROM job"); n > 0; n--)
		chaos_job_resume(w->g.socket, (uint64_t)n);
}

static bool is_at_an_end(const struct world *w)
{
	return grid_count(&w->g, "SELECT count(*) FROM job WHERE state IN ('queued', 'running')") ==
		       0 &&
	       grid_count(&w->g, "SELECT count(*) FROM boot WHERE outcome IS NULL") == 0;
}

/* Grows as long as something ends. */
static long progress(const struct world *w)
{
	return grid_count(&w->g, "SELECT (SELECT count(outcome) FROM slot) + "
				 "(SELECT count(outcome) FROM boot)");
}

static void show_what_does_not_end(const struct world *w)
{
	char text[2048];

	grid_sql(&w->g,
		 "SELECT group_concat(id || ' ' || state || ' paused ' || paused, '; ') "
		 "FROM job WHERE state IN ('queued', 'running')",
		 text, sizeof(text));
	chaos_why(w->g.socket,
		  (uint64_t)grid_count(
			  &w->g, "SELECT min(id) FROM job WHERE state IN ('queued', 'running')"));
	show_log(w);
	fail_msg("some jobs do not end: %s", text);
}

/* However long it takes, as long as it goes on. */
static void come_to_an_end(struct world *w)
{
	uint64_t since = kg_monotonic_ns();
	long done = progress(w);

	while (!is_at_an_end(w)) {
		for (int i = 0; i < 100; i++)
			step(w, true);
		if (progress(w) != done) {
			done = progress(w);
			since = kg_monotonic_ns();
		}
		if (kg_monotonic_ns() - since > STUCK_NS)
			show_what_does_not_end(w);
	}
}

static void expect_none(const struct world *w, const char *sql)
{
	char text[512];

	grid_sql(&w->g, sql, text, sizeof(text));
	if (strcmp(text, "0") != 0) {
		show_log(w);
		fail_msg("'%s' gives %s", sql, text);
	}
}

static void balance(const struct world *w)
{
	expect_none(w, "SELECT count(*) FROM slot WHERE outcome IS NULL");
	expect_none(w, "SELECT count(*) FROM slot WHERE tries > 3");
	expect_none(w, "SELECT count(*) FROM slot s JOIN cell c ON c.id = s.cell WHERE "
		       "s.outcome = 'pass' AND c.iterations != (SELECT count(*) FROM sample m "
		       "WHERE m.attempt = s.attempt)");
	expect_none(w, "SELECT count(*) FROM slot s LEFT JOIN attempt a ON a.id = s.attempt WHERE "
		       "s.outcome = 'pass' AND (a.outcome IS NULL OR a.outcome != 'pass')");
	expect_none(w, "SELECT count(*) FROM attempt a JOIN boot b ON b.id = a.boot WHERE "
		       "a.outcome IS NULL AND b.outcome IS NOT NULL");
	expect_none(w, "SELECT count(*) FROM pragma_integrity_check WHERE integrity_check != 'ok'");
	expect_none(w, "SELECT count(*) FROM pragma_foreign_key_check");
}

static void test_whatever_happens_everything_ends_and_balances(void **state)
{
	struct world *w = *state;
	uint64_t steps = number_from("KGRID_CHAOS_STEPS", 400);

	for (uint64_t i = 0; i < steps; i++) {
		step(w, false);
		if (chaos_one_in(&w->rng, 100))
			restart(w);
	}
	leave_all(w);
	restart(w);
	go_on(w);
	come_to_an_end(w);
	balance(w);
	leave_all(w);
	stop(w);
	check_log(w);
	print_message("%zu restarts, %ld jobs, %ld boots, %ld slots\n", w->restarts,
		      grid_count(&w->g, "SELECT count(*) FROM job"),
		      grid_count(&w->g, "SELECT count(*) FROM boot"),
		      grid_count(&w->g, "SELECT count(*) FROM slot"));
}

static int setup(void **state)
{
	static const char *const names[MACHINES] = {"m1", "m2", "m3", "m4"};
	struct world *w = calloc(1, sizeof(*w));
	uint64_t seed = number_from("KGRID_CHAOS_SEED", (uint64_t)kg_realtime_ns() % 1000000);

	print_message("KGRID_CHAOS_SEED=%llu\n", (unsigned long long)seed);
	w->rng.state = seed * 0x9e3779b97f4a7c15u + 1;
	grid_init(&w->g);
	(void)snprintf(w->config, sizeof(w->config), "%s/coordinator.yaml", w->g.dir);
	assert_int_equal(kg_file_replace(w->config, settings, sizeof(settings) - 1, 0644, NULL), 0);
	w->args[0] = "--config";
	w->args[1] = w->config;
	for (size_t i = 0; i < MACHINES; i++)
		chaos_machine_init(&w->machines[i], names[i],
				   i % 2 ? "AuthenticAMD" : "GenuineIntel");
	start(w);
	add_kernels(w);
	*state = w;
	return 0;
}

static int teardown(void **state)
{
	struct world *w = *state;

	leave_all(w);
	for (size_t i = 0; i < MACHINES; i++)
		player_forget(&w->machines[i].p);
	grid_deinit(&w->g);
	free(w);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_whatever_happens_everything_ends_and_balances,
						setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
