/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tests/lib/agent_double.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "agent/digests.h"
#include "agent/state.h"
#include "agent/workload_registry.h"
#include "common/file.h"
#include "common/str.h"
#include "proto/hello.h"

#define LIMIT_MS 30000

static void listen_on(struct double_ *d)
{
	struct sockaddr_in a = {.sin_family = AF_INET};
	socklen_t len = sizeof(a);

	a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	d->listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	assert_true(d->listener >= 0);
	assert_int_equal(bind(d->listener, (struct sockaddr *)&a, sizeof(a)), 0);
	assert_int_equal(listen(d->listener, 8), 0);
	assert_int_equal(getsockname(d->listener, (struct sockaddr *)&a, &len), 0);
	d->port = ntohs(a.sin_port);
}

void double_init(struct double_ *d)
{
	char text[512];

	memset(d, 0, sizeof(*d));
	d->fd = -1;
	(void)snprintf(d->dir, sizeof(d->dir), "/tmp/kgrid-agent-XXXXXX");
	assert_non_null(mkdtemp(d->dir));
	(void)snprintf(d->workloads, sizeof(d->workloads), "%s/workloads", d->dir);
	(void)snprintf(d->state, sizeof(d->state), "%s/state", d->dir);
	(void)snprintf(d->config, sizeof(d->config), "%s/agent.yaml", d->dir);
	assert_int_equal(mkdir(d->workloads, 0755), 0);
	assert_int_equal(mkdir(d->state, 0755), 0);
	listen_on(d);
	/* What others do on this host is no business of a test. The machine's name keeps apart what
	 * runs of this test on this host. */
	(void)snprintf(text, sizeof(text),
		       "coordinator: 127.0.0.1:%u\nmachine: test-%d\nstate-dir: %s\n"
		       "workload-dir: %s\nclock: real\ninitrd: {policy: none}\n"
		       "shutdown: {method: direct, reboot: no}\nenv-check: record\n"
		       "address: 127.0.0.1\n",
		       d->port, (int)getpid(), d->state, d->workloads);
	assert_int_equal(kg_file_replace(d->config, text, strlen(text), 0644, NULL), 0);
}

void double_workload_more(struct double_ *d, const char *name, const char *command,
			  const char *more)
{
	char path[160], text[2048];

	(void)snprintf(path, sizeof(path), "%s/%s.yaml", d->workloads, name);
	(void)snprintf(text, sizeof(text),
		       "name: %s\nparameters: {}\nrequires: [sh]\ncommand: [sh, -c, '%s']\n"
		       "duration: \"1\"\ntimeout: 60s\n%s"
		       "metrics:\n  - {name: v, unit: s, direction: lower, read: {keyval: V}}\n",
		       name, command, more);
	assert_int_equal(kg_file_replace(path, text, strlen(text), 0644, NULL), 0);
}

void double_workload(struct double_ *d, const char *name, const char *command)
{
	double_workload_more(d, name, command, "");
}

void double_without(struct double_ *d, const char *key)
{
	char *text, *at, *end;
	size_t len;

	assert_int_equal(kg_file_read(d->config, 1 << 16, &text, &len, NULL), 0);
	at = strstr(text, key);
	assert_non_null(at);
	end = strchr(at, '\n');
	assert_non_null(end);
	memmove(at, end + 1, strlen(end + 1) + 1);
	assert_int_equal(kg_file_replace(d->config, text, strlen(text), 0644, NULL), 0);
	free(text);
}

void double_add_config(const struct double_ *d, const char *lines)
{
	FILE *f = fopen(d->config, "a");

	assert_non_null(f);
	fputs(lines, f);
	assert_int_equal(fclose(f), 0);
}

static void save_order(struct double_ *d, const Kgrid__V1__BootOrder *o)
{
	struct agent_state s = {.saved = {.stage = AGENT_RUN, .boot = 7, .lease_epoch = 3},
				.minor = KG_PROTO_MINOR};
	struct kg_err err = {""};
	char path[128];

	s.saved.n_runs = (uint32_t)o->n_runs;
	s.order_len = kgrid__v1__boot_order__get_packed_size(o);
	s.order = malloc(s.order_len);
	assert_non_null(s.order);
	(void)kgrid__v1__boot_order__pack(o, s.order);
	assert_int_equal(kg_file_read_line("/proc/sys/kernel/random/boot_id", s.saved.host_boot_id,
					   sizeof(s.saved.host_boot_id), &err),
			 0);
	(void)snprintf(path, sizeof(path), "%s/state", d->state);
	assert_int_equal(agent_state_save(path, &s, &err), 0);
	agent_state_deinit(&s);
}

void double_prepare_order(struct double_ *d, const struct double_order *order)
{
	Kgrid__V1__BootOrder o = KGRID__V1__BOOT_ORDER__INIT;
	size_t repeat = order->repeat ? order->repeat : 1, kinds = 0, n, i;
	Kgrid__V1__RunOrder *items = calloc(8 * repeat, sizeof(*items));
	Kgrid__V1__RunOrder **list = calloc(8 * repeat, sizeof(*list));
	Kgrid__V1__Setting settings[4], *all[4];

	assert_true(items && list);
	while (kinds < 8 && order->runs[kinds].workload)
		kinds++;
	for (n = 0; n < kinds * repeat; n++) {
		const struct double_run *run = &order->runs[n % kinds];

		kgrid__v1__run_order__init(&items[n]);
		items[n].has_attempt = items[n].has_slot = items[n].has_iterations = 1;
		items[n].attempt = 100 + n;
		items[n].slot = 200 + n;
		items[n].iterations = order->iterations;
		items[n].workload = (char *)(uintptr_t)run->workload;
		items[n].role = (char *)(uintptr_t)run->role;
		list[n] = &items[n];
	}
	for (i = 0; i < 4 && order->settings[2 * i]; i++) {
		kgrid__v1__setting__init(&settings[i]);
		settings[i].name = (char *)(uintptr_t)order->settings[2 * i];
		settings[i].value = (char *)(uintptr_t)order->settings[2 * i + 1];
		all[i] = &settings[i];
	}
	o.has_boot = o.has_lease_epoch = 1;
	o.boot = 7;
	o.lease_epoch = 3;
	o.nonce = (char *)(uintptr_t) "0123456789abcdef0123456789abcdef";
	o.kernel_digest = (char *)(uintptr_t) "00";
	o.runs = list;
	o.n_runs = n;
	o.settings = all;
	o.n_settings = i;
	save_order(d, &o);
	free(items);
	free(list);
}

void double_prepare_run(struct double_ *d, const char *const *runs, uint32_t iterations)
{
	struct double_order o = {.iterations = iterations};
	size_t n;

	for (n = 0; runs[n]; n++)
		o.runs[n].workload = runs[n];
	double_prepare_order(d, &o);
}

/* An agent that may reboot would do it to the host that runs this test, once kexec is refused. */
static void refuse_what_reboots(const struct double_ *d)
{
	char *text;
	size_t len;

	assert_int_equal(kg_file_read(d->config, 1 << 16, &text, &len, NULL), 0);
	if (!strstr(text, "\nshutdown: {method: direct, reboot: no}\n"))
		fail_msg("the agent of a test must not be allowed to reboot");
	free(text);
}

bool double_can_own_names(void)
{
	static const char hostname[] = "/proc/sys/kernel/hostname";
	pid_t pid = fork();
	int status;

	assert_true(pid >= 0);
	if (pid == 0)
		_exit(unshare(CLONE_NEWUTS) < 0 || open(hostname, O_WRONLY) < 0 ? errno : 0);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	if (WEXITSTATUS(status) != 0)
		print_message("no host name of its own that can be set (CAP_SYS_ADMIN, %s): %s\n",
			      hostname, strerror(WEXITSTATUS(status)));
	return WEXITSTATUS(status) == 0;
}

void double_start_agent(struct double_ *d)
{
	char *argv[] = {(char *)KGRID_AGENT, (char *)"--config", d->config, NULL};
	char log[128];
	int fd;

	refuse_what_reboots(d);
	(void)snprintf(log, sizeof(log), "%s/log", d->dir);
	d->agent = fork();
	assert_true(d->agent >= 0);
	if (d->agent > 0)
		return;
	fd = open(log, O_WRONLY | O_CREAT | O_APPEND, 0644);
	if (fd >= 0)
		(void)dup2(fd, 2);
	if (!d->own_names || unshare(CLONE_NEWUTS) == 0)
		(void)execv(argv[0], argv);
	_exit(127);
}

void double_kill_agent(struct double_ *d, int sig)
{
	int status;

	if (d->agent <= 0)
		return;
	(void)kill(d->agent, sig);
	assert_int_equal(waitpid(d->agent, &status, 0), d->agent);
	d->agent = 0;
}

void double_drop(struct double_ *d)
{
	if (d->fd >= 0)
		close(d->fd);
	d->fd = -1;
	kg_frame_decoder_deinit(&d->decoder);
	d->left = 0;
}

void double_deinit(struct double_ *d)
{
	double_kill_agent(d, SIGTERM);
	double_drop(d);
	close(d->listener);
	assert_int_equal(kg_remove_tree(d->dir, NULL), 0);
}

static void show_log(const struct double_ *d)
{
	char path[128], *text;
	size_t len;

	(void)snprintf(path, sizeof(path), "%s/log", d->dir);
	if (kg_file_read(path, 1 << 20, &text, &len, NULL) == 0) {
		fprintf(stderr, "%s", text);
		free(text);
	}
}

static void wait_for(struct double_ *d, int fd)
{
	struct pollfd p = {.fd = fd, .events = POLLIN};

	if (poll(&p, 1, LIMIT_MS) == 1)
		return;
	show_log(d);
	fail_msg("the agent says nothing");
}

void double_accept_raw(struct double_ *d)
{
	double_drop(d);
	wait_for(d, d->listener);
	d->fd = accept(d->listener, NULL, NULL);
	assert_true(d->fd >= 0);
	kg_frame_decoder_init(&d->decoder, KG_FRAME_MAX);
}

void double_send(struct double_ *d, uint16_t type, uint32_t id, const ProtobufCMessage *body)
{
	struct kg_err err;
	uint8_t *bytes;
	size_t len;

	assert_int_equal(kg_msg_encode(type, id, body, &bytes, &len, &err), 0);
	(void)kg_write_all(d->fd, bytes, len);
	free(bytes);
}

struct kg_msg *double_next(struct double_ *d)
{
	struct kg_frame f;
	struct kg_err err = {""};
	struct kg_msg *m;
	ssize_t n;
	int rc;

	for (;;) {
		rc = kg_frame_decoder_feed(&d->decoder, &d->next, &d->left, &f, &err);
		if (rc < 0)
			fail_msg("%s", err.text);
		if (rc == 1)
			break;
		wait_for(d, d->fd);
		n = read(d->fd, d->buf, sizeof(d->buf));
		if (n <= 0)
			return NULL;
		d->next = d->buf;
		d->left = (size_t)n;
	}
	if (kg_msg_decode(f.type, f.payload, f.len_bytes, &m, &err) < 0)
		fail_msg("%s", err.text);
	return m;
}

struct kg_msg *double_expect(struct double_ *d, uint16_t type)
{
	Kgrid__V1__Pong pong = KGRID__V1__PONG__INIT;

	for (;;) {
		struct kg_msg *m = double_next(d);

		if (!m) {
			show_log(d);
			fail_msg("the agent closed the connection");
		}
		if (kg_msg_type(m) == type)
			return m;
		if (kg_msg_type(m) == KG_MSG_PING)
			double_send(d, KG_MSG_PONG, 0, &pong.base);
		kg_msg_free(m);
	}
}

void double_accept(struct double_ *d)
{
	Kgrid__V1__Hello h = KGRID__V1__HELLO__INIT;
	struct kg_msg *m;

	double_accept_raw(d);
	m = double_next(d);
	assert_non_null(m);
	assert_int_equal(kg_msg_type(m), KG_MSG_HELLO);
	assert_int_equal(BODY(m, Kgrid__V1__Hello)->role, KGRID__V1__ROLE__ROLE_AGENT);
	kg_msg_free(m);
	h.has_role = h.has_version_min = h.has_version_max = 1;
	h.role = KGRID__V1__ROLE__ROLE_COORDINATOR;
	h.version_min = KG_PROTO_MINOR_OLDEST;
	h.version_max = KG_PROTO_MINOR;
	double_send(d, KG_MSG_HELLO, 0, &h.base);
}

struct kg_msg *double_expect_state(struct double_ *d)
{
	struct kg_msg *m = double_next(d);

	assert_non_null(m);
	assert_int_equal(kg_msg_type(m), KG_MSG_FACTS);
	kg_msg_free(m);
	m = double_next(d);
	assert_non_null(m);
	assert_int_equal(kg_msg_type(m), KG_MSG_AGENT_STATE);
	return m;
}

struct kg_msg *double_record(struct double_ *d)
{
	for (;;) {
		struct kg_msg *m = double_expect(d, KG_MSG_RECORD);
		const Kgrid__V1__Record *r = RECORD(m);

		assert_int_equal(r->boot, 7);
		assert_int_equal(r->lease_epoch, 3);
		if (r->seq > d->last_seq) {
			assert_int_equal(r->seq, d->last_seq + 1);
			d->last_seq = r->seq;
			return m;
		}
		kg_msg_free(m);
	}
}

void double_ack(struct double_ *d, uint64_t seq)
{
	Kgrid__V1__RecordAck a = KGRID__V1__RECORD_ACK__INIT;

	a.has_boot = a.has_lease_epoch = a.has_seq = 1;
	a.boot = 7;
	a.lease_epoch = 3;
	a.seq = seq;
	double_send(d, KG_MSG_RECORD_ACK, 0, &a.base);
}

struct kg_msg *double_finish(struct double_ *d)
{
	for (;;) {
		struct kg_msg *m = double_record(d);

		double_ack(d, d->last_seq);
		if (RECORD(m)->body_case == KGRID__V1__RECORD__BODY_BOOT_ENDED)
			return m;
		kg_msg_free(m);
	}
}

uint64_t double_proc_number(const struct double_ *d, const char *file, const char *key)
{
	char path[64], *text, *at;
	uint64_t v;
	size_t len;

	(void)snprintf(path, sizeof(path), "/proc/%d/%s", (int)d->agent, file);
	assert_int_equal(kg_file_read(path, 1 << 20, &text, &len, NULL), 0);
	at = strstr(text, key);
	assert_non_null(at);
	v = strtoull(at + strlen(key), NULL, 10);
	free(text);
	return v;
}

double double_cpu_seconds(const struct double_ *d)
{
	unsigned long user = 0, system = 0;
	char path[64], buf[1024], *at;

	(void)snprintf(path, sizeof(path), "/proc/%d/stat", (int)d->agent);
	assert_int_equal(kg_file_read_line(path, buf, sizeof(buf), NULL), 0);
	at = strrchr(buf, ')');
	assert_non_null(at);
	assert_int_equal(sscanf(at + 1, " %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu",
				&user, &system),
			 2);
	return (double)(user + system) / (double)sysconf(_SC_CLK_TCK);
}
