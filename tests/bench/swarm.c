/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Many agents at one coordinator: the real program as a child, and N agents that one loop plays over
 * TCP. Each says HELLO, FACTS and AGENT_STATE, then sends heartbeats (Ping). Tells how long it took
 * until all were taken, the coordinator's memory for each, whether that stays flat, and how long a
 * Ping takes to its Pong. A connection that the coordinator closes ends it with status 1.
 */
#include <errno.h>
#include <getopt.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/file.h"
#include "proto/hello.h"
#include "proto/link.h"
#include "proto/messages.h"

#define TICK_MS	    10
#define CONNECTING  256 /* at once: below the length of the listening queue */
#define START_NS    (30 * KG_NSEC_PER_SEC)
#define CONNECT_NS  (300 * KG_NSEC_PER_SEC)
#define AGENTS_MAX  10000
#define SPARE_FILES 64
#define SETTLE_S    1
#define TEXT(s)	    ((char *)(uintptr_t)(s))

struct agent {
	struct kg_link link;
	uv_connect_t connect;
	struct swarm *swarm;
	uint32_t number;
	bool ready, waits; /* taken; a Ping has no Pong yet */
	uint64_t sent_ns;
};

struct swarm {
	uint32_t n, heartbeat_s, seconds;
	const char *parent;
	char dir[256];
	pid_t pid;
	struct sockaddr_in to;
	uv_loop_t loop;
	uv_timer_t timer;
	struct agent *agents;
	uint32_t begun, ready;
	bool ending;
	uint64_t begin_ns, ready_ns;
	double due; /* heartbeats, with fractions */
	uint32_t next;
	uint64_t *trips; /* owned */
	size_t n_trips, size_trips;
	uint64_t unanswered; /* heartbeats that came due before the last was answered */
	long idle_kib, ready_kib;
};

static struct swarm sw = {.n = 2000, .heartbeat_s = 5, .seconds = 30, .parent = "."};

static void clean(void)
{
	if (sw.pid > 0) {
		(void)kill(sw.pid, SIGKILL);
		(void)waitpid(sw.pid, NULL, 0);
	}
	if (sw.dir[0])
		(void)kg_remove_tree(sw.dir, NULL);
}

__attribute__((format(printf, 1, 2), noreturn)) static void die(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	(void)fputs("swarm: ", stderr);
	(void)vfprintf(stderr, fmt, ap);
	(void)fputc('\n', stderr);
	va_end(ap);
	clean();
	exit(1);
}

/* ---- the coordinator ---- */

static void start_coordinator(struct swarm *s)
{
	uint64_t end = kg_monotonic_ns() + START_NS;
	char data[300], path[320], address[64], *colon;

	(void)snprintf(data, sizeof(data), "%s/data", s->dir);
	(void)snprintf(path, sizeof(path), "%s/run/tcp", data);
	s->pid = fork();
	if (s->pid < 0)
		die("cannot start a process: %s", strerror(errno));
	if (s->pid == 0) {
		char log[320];

		(void)snprintf(log, sizeof(log), "%s/log", s->dir);
		if (!freopen(log, "w", stderr))
			_exit(126);
		(void)execl(KGRID_COORDINATOR, KGRID_COORDINATOR, "--data-dir", data, "--listen",
			    "127.0.0.1:0", (char *)NULL);
		_exit(127);
	}
	while (kg_file_read_line(path, address, sizeof(address), NULL) < 0) {
		if (waitpid(s->pid, NULL, WNOHANG) == s->pid) {
			s->pid = 0;
			die("the coordinator did not start");
		}
		if (kg_monotonic_ns() > end)
			die("the coordinator does not listen");
		(void)usleep(10000);
	}
	colon = strrchr(address, ':');
	if (!colon || uv_ip4_addr("127.0.0.1", atoi(colon + 1), &s->to) < 0)
		die("the coordinator listens on '%s'", address);
}

static long resident_kib(const struct swarm *s)
{
	char path[64], line[256];
	long kib = -1;
	FILE *f;

	(void)snprintf(path, sizeof(path), "/proc/%ld/status", (long)s->pid);
	f = fopen(path, "re");
	while (f && kib < 0 && fgets(line, sizeof(line), f))
		if (strncmp(line, "VmRSS:", 6) == 0)
			kib = strtol(line + 6, NULL, 10);
	if (f)
		(void)fclose(f);
	if (kib < 0)
		die("the coordinator has ended");
	return kib;
}

static void stop_coordinator(struct swarm *s)
{
	int status = 0;

	(void)kill(s->pid, SIGTERM);
	(void)waitpid(s->pid, &status, 0);
	s->pid = 0;
	if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
		die("the coordinator ended with status %d", status);
}

/* ---- an agent ---- */

static void say(struct agent *a, uint16_t type, uint32_t id, const ProtobufCMessage *body)
{
	int rc = kg_link_send(&a->link, type, id, body);

	if (rc < 0)
		die("agent %u cannot send: %s", a->number, kg_strerror(rc));
}

static void ping(struct agent *a)
{
	Kgrid__V1__Ping p = KGRID__V1__PING__INIT;

	a->waits = true;
	a->sent_ns = kg_monotonic_ns();
	say(a, KG_MSG_PING, 1, &p.base);
}

static void say_hello(struct agent *a)
{
	Kgrid__V1__Hello h = KGRID__V1__HELLO__INIT;
	char name[32], state[32], instance[40];

	(void)snprintf(name, sizeof(name), "agent-%u", a->number);
	(void)snprintf(state, sizeof(state), "state-%u", a->number);
	(void)snprintf(instance, sizeof(instance), "%032u", a->number);
	h.has_role = h.has_version_min = h.has_version_max = 1;
	h.role = KGRID__V1__ROLE__ROLE_AGENT;
	h.version_min = KG_PROTO_MINOR_OLDEST;
	h.version_max = KG_PROTO_MINOR;
	h.software = TEXT("swarm");
	h.machine = name;
	h.state_id = state;
	h.instance = instance;
	say(a, KG_MSG_HELLO, 0, &h.base);
}

static const char workload[] = "name: fake\n"
			       "description: prints a number\n"
			       "command: [echo, \"value 1\"]\n"
			       "duration: \"1\"\n"
			       "timeout: 10s\n"
			       "metrics:\n"
			       "  - name: rate\n"
			       "    unit: 1/s\n"
			       "    direction: higher\n"
			       "    read: {line: \"value {value}\"}\n";

static void say_facts(struct agent *a)
{
	Kgrid__V1__WorkloadOffer offer = KGRID__V1__WORKLOAD_OFFER__INIT, *offers[] = {&offer};
	Kgrid__V1__MachineFacts f = KGRID__V1__MACHINE_FACTS__INIT;
	Kgrid__V1__AgentState s = KGRID__V1__AGENT_STATE__INIT;

	f.cpu_vendor = TEXT("GenuineIntel");
	f.cpu_name = TEXT("Played CPU");
	f.clock = TEXT("real");
	f.initrd_policy = TEXT("overlay");
	f.has_cpus = 1;
	f.cpus = 2;
	offer.name = TEXT("fake");
	offer.declaration = TEXT(workload);
	offer.digest = TEXT("d1");
	offer.has_available = offer.available = 1;
	f.workloads = offers;
	f.n_workloads = 1;
	say(a, KG_MSG_FACTS, 0, &f.base);
	s.has_boot = s.has_lease_epoch = 1;
	s.stage = TEXT("");
	say(a, KG_MSG_AGENT_STATE, 0, &s.base);
}

static void keep_trip(struct swarm *s, uint64_t ns)
{
	if (s->n_trips == s->size_trips) {
		s->size_trips = s->size_trips ? 2 * s->size_trips : 4096;
		s->trips = realloc(s->trips, s->size_trips * sizeof(*s->trips));
		if (!s->trips)
			die("out of memory");
	}
	s->trips[s->n_trips++] = ns;
}

static void on_pong(struct agent *a)
{
	struct swarm *s = a->swarm;

	a->waits = false;
	if (!a->ready) { /* what it said before was handled */
		a->ready = true;
		if (++s->ready == s->n)
			s->ready_ns = kg_monotonic_ns();
	} else {
		keep_trip(s, kg_monotonic_ns() - a->sent_ns);
	}
}

static void on_message(struct kg_link *l, const struct kg_msg *m, uint32_t id)
{
	struct agent *a = l->data;

	(void)id;
	switch (kg_msg_type(m)) {
	case KG_MSG_HELLO:
		kg_link_authenticated(l);
		say_facts(a);
		ping(a);
		break;
	case KG_MSG_PONG:
		on_pong(a);
		break;
	case KG_MSG_ERROR:
		die("agent %u: %s", a->number,
		    ((const Kgrid__V1__Error *)(const void *)kg_msg_body(m))->text);
	default:
		break;
	}
}

static void on_closed(struct kg_link *l, int code, const char *reason)
{
	struct agent *a = l->data;

	(void)code;
	if (!a->swarm->ending)
		die("agent %u lost its connection: %s", a->number, reason);
}

static void on_connect(uv_connect_t *rq, int status)
{
	static const struct kg_link_ops ops = {.on_message = on_message, .on_closed = on_closed};
	struct kg_link_limits limits = {0};
	struct agent *a = rq->data;
	struct kg_err err = {""};

	if (status < 0)
		die("agent %u cannot connect: %s", a->number, uv_strerror(status));
	(void)uv_tcp_nodelay(&a->link.u.tcp, 1);
	a->link.data = a;
	if (kg_link_start(&a->link, &ops, &limits, &err) < 0)
		die("agent %u: %s", a->number, err.text);
	say_hello(a);
}

/* ---- all of them ---- */

static void begin_some(struct swarm *s)
{
	while (s->begun < s->n && s->begun - s->ready < CONNECTING) {
		struct agent *a = &s->agents[s->begun];
		int rc = uv_tcp_init(&s->loop, &a->link.u.tcp);

		a->swarm = s;
		a->number = s->begun++;
		a->connect.data = a;
		if (rc == 0)
			rc = uv_tcp_connect(&a->connect, &a->link.u.tcp,
					    (const struct sockaddr *)&s->to, on_connect);
		if (rc < 0)
			die("agent %u cannot connect: %s", a->number, uv_strerror(rc));
	}
}

/* In turn, spread over the interval. One that waits for its Pong counts on from its first Ping. */
static void heartbeats(struct swarm *s)
{
	s->due += (double)s->n * TICK_MS / 1000.0 / s->heartbeat_s;
	for (; s->due >= 1; s->due--) {
		struct agent *a = &s->agents[s->next];

		s->next = (s->next + 1) % s->n;
		if (a->waits)
			s->unanswered++;
		else
			ping(a);
	}
}

static void end_all(struct swarm *s)
{
	s->ending = true;
	for (uint32_t i = 0; i < s->n; i++)
		kg_link_drop(&s->agents[i].link, UV_EOF, "end");
	uv_close((uv_handle_t *)&s->timer, NULL);
}

static int order(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

static void tell(struct swarm *s)
{
	long kib = resident_kib(s);

	printf("agents     %u, all taken after %.2f s\n", s->n,
	       (double)(s->ready_ns - s->begin_ns) / 1e9);
	printf("memory     %ld KiB without agents, %ld KiB with: %.1f KiB for each\n", s->idle_kib,
	       s->ready_kib, (double)(s->ready_kib - s->idle_kib) / s->n);
	printf("           %ld KiB after %u s more (%+ld)\n", kib, s->seconds, kib - s->ready_kib);
	if (s->n_trips == 0)
		die("no heartbeat was answered");
	qsort(s->trips, s->n_trips, sizeof(*s->trips), order);
	printf("Ping-Pong  p50 %.3f ms, p99 %.3f ms, most %.3f ms of %zu; %llu left out\n",
	       (double)s->trips[s->n_trips / 2] / 1e6,
	       (double)s->trips[s->n_trips * 99 / 100] / 1e6,
	       (double)s->trips[s->n_trips - 1] / 1e6, s->n_trips,
	       (unsigned long long)s->unanswered);
}

static void on_tick(uv_timer_t *t)
{
	struct swarm *s = t->data;
	uint64_t now = kg_monotonic_ns();

	if (s->ready < s->n) {
		if (now - s->begin_ns > CONNECT_NS)
			die("only %u of %u agents were taken", s->ready, s->n);
		begin_some(s);
		return;
	}
	heartbeats(s);
	if (!s->ready_kib && now - s->ready_ns > SETTLE_S * KG_NSEC_PER_SEC)
		s->ready_kib = resident_kib(s);
	if (now - s->ready_ns > (SETTLE_S + s->seconds) * KG_NSEC_PER_SEC) {
		tell(s);
		end_all(s);
	}
}

static void raise_files(uint32_t n)
{
	struct rlimit r;

	if (getrlimit(RLIMIT_NOFILE, &r) < 0)
		die("cannot read the limit of open files");
	if (r.rlim_cur >= n + SPARE_FILES)
		return;
	r.rlim_cur = n + SPARE_FILES;
	if (r.rlim_max < r.rlim_cur)
		r.rlim_max = r.rlim_cur;
	if (setrlimit(RLIMIT_NOFILE, &r) < 0)
		die("%u agents need as many open files: %s", n, strerror(errno));
}

static uint32_t number(const char *text, uint32_t max)
{
	char *end;
	unsigned long n = strtoul(text, &end, 10);

	if (*end || n == 0 || n > max)
		die("'%s' is not a number from 1 to %u", text, max);
	return (uint32_t)n;
}

static void run(struct swarm *s)
{
	raise_files(s->n);
	(void)signal(SIGPIPE, SIG_IGN);
	s->agents = calloc(s->n, sizeof(*s->agents));
	(void)snprintf(s->dir, sizeof(s->dir), "%s/swarm-XXXXXX", s->parent);
	if (!s->agents || !mkdtemp(s->dir)) {
		s->dir[0] = '\0';
		die("cannot make a directory in '%s'", s->parent);
	}
	start_coordinator(s);
	(void)sleep(SETTLE_S);
	s->idle_kib = resident_kib(s);
	if (uv_loop_init(&s->loop) < 0 || uv_timer_init(&s->loop, &s->timer) < 0)
		die("cannot make a loop");
	s->timer.data = s;
	s->begin_ns = kg_monotonic_ns();
	(void)uv_timer_start(&s->timer, on_tick, 0, TICK_MS);
	(void)uv_run(&s->loop, UV_RUN_DEFAULT);
	if (uv_loop_close(&s->loop) < 0)
		die("a handle is left open");
	stop_coordinator(s);
	clean();
	free(s->agents);
	free(s->trips);
}

int main(int argc, char **argv)
{
	static const struct option options[] = {{"agents", required_argument, NULL, 'a'},
						{"heartbeat", required_argument, NULL, 'b'},
						{"seconds", required_argument, NULL, 's'},
						{"dir", required_argument, NULL, 'd'},
						{"help", no_argument, NULL, 'h'},
						{NULL, 0, NULL, 0}};
	int c;

	while ((c = getopt_long(argc, argv, "", options, NULL)) != -1) {
		switch (c) {
		case 'a':
			sw.n = number(optarg, AGENTS_MAX);
			break;
		case 'b':
			sw.heartbeat_s = number(optarg, 3600);
			break;
		case 's':
			sw.seconds = number(optarg, 86400);
			break;
		case 'd':
			sw.parent = optarg;
			break;
		case 'h':
			puts("usage: swarm [--agents N] [--heartbeat SECONDS] [--seconds N] [--dir "
			     "DIR]");
			return 0;
		default:
			return 2;
		}
	}
	run(&sw);
	return 0;
}
