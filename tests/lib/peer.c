/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tests/lib/cmocka_all.h"

#include "tests/lib/peer.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "proto/frame.h"
#include "proto/hello.h"

#define PEER_WAIT_MS 30000

#define TEXT(s) ((char *)(uintptr_t)(s))

struct peer {
	int fd;
	struct kg_frame_decoder decoder;
	uint8_t buf[65536];
	const uint8_t *at;
	size_t left;
	uint32_t next_id;
};

static int connect_unix(const char *path)
{
	struct sockaddr_un sa = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	(void)snprintf(sa.sun_path, sizeof(sa.sun_path), "%s", path);
	if (fd < 0 || connect(fd, (struct sockaddr *)&sa, sizeof(sa)) < 0)
		fail_msg("cannot connect to '%s': %s", path, strerror(errno));
	return fd;
}

static int connect_tcp(const char *address)
{
	struct sockaddr_in sa = {.sin_family = AF_INET};
	const char *colon = strrchr(address, ':');
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	assert_non_null(colon);
	sa.sin_port = htons((uint16_t)strtoul(colon + 1, NULL, 10));
	sa.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	if (fd < 0 || connect(fd, (struct sockaddr *)&sa, sizeof(sa)) < 0)
		fail_msg("cannot connect to '%s': %s", address, strerror(errno));
	return fd;
}

struct peer *peer_connect(const char *address)
{
	struct peer *p = calloc(1, sizeof(*p));

	assert_non_null(p);
	p->fd = address[0] == '/' ? connect_unix(address) : connect_tcp(address);
	kg_frame_decoder_init(&p->decoder, KG_FRAME_MAX);
	return p;
}

void peer_close(struct peer *p)
{
	if (!p)
		return;
	kg_frame_decoder_deinit(&p->decoder);
	(void)close(p->fd);
	free(p);
}

void peer_send_raw(struct peer *p, const void *bytes, size_t len)
{
	const char *at = bytes;

	while (len > 0) {
		ssize_t n = send(p->fd, at, len, MSG_NOSIGNAL);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return; /* closed by the other end: the reader finds out */
		at += n;
		len -= (size_t)n;
	}
}

void peer_send(struct peer *p, uint16_t type, uint32_t id, const ProtobufCMessage *body)
{
	struct kg_err err = {""};
	uint8_t *bytes;
	size_t len;

	if (kg_msg_encode(type, id, body, &bytes, &len, &err) < 0)
		fail_msg("%s", err.text);
	peer_send_raw(p, bytes, len);
	free(bytes);
}

/* 1: readable, 0: limit passed */
static int wait_readable(struct peer *p, int ms)
{
	struct pollfd pfd = {.fd = p->fd, .events = POLLIN};

	return poll(&pfd, 1, ms);
}

struct kg_msg *peer_next(struct peer *p)
{
	struct kg_err err = {""};
	struct kg_frame frame;
	struct kg_msg *m;
	ssize_t n;
	int rc;

	for (;;) {
		rc = kg_frame_decoder_feed(&p->decoder, &p->at, &p->left, &frame, &err);
		if (rc < 0)
			fail_msg("the coordinator sent what is no frame: %s", err.text);
		if (rc == 1)
			break;
		if (wait_readable(p, PEER_WAIT_MS) == 0)
			fail_msg("nothing from the coordinator for %d s", PEER_WAIT_MS / 1000);
		n = recv(p->fd, p->buf, sizeof(p->buf), 0);
		if (n <= 0)
			return NULL;
		p->at = p->buf;
		p->left = (size_t)n;
	}
	if (kg_msg_decode(frame.type, frame.payload, frame.len_bytes, &m, &err) < 0)
		fail_msg("the coordinator sent what cannot be decoded: %s", err.text);
	return m;
}

bool peer_quiet(struct peer *p, int ms)
{
	return p->left == 0 && wait_readable(p, ms) == 0;
}

struct kg_msg *peer_expect(struct peer *p, uint16_t type)
{
	for (;;) {
		struct kg_msg *m = peer_next(p);

		if (!m)
			fail_msg("connection closed while waiting for %s", kg_msg_find(type)->name);
		if (kg_msg_type(m) == type)
			return m;
		if (kg_msg_type(m) == KG_MSG_ERROR)
			print_message("error on the way: %s\n",
				      PEER_BODY(m, Kgrid__V1__Error)->text);
		kg_msg_free(m);
	}
}

static void say_hello(struct peer *p, Kgrid__V1__Role role, const char *machine,
		      const char *state_id)
{
	Kgrid__V1__Hello h = KGRID__V1__HELLO__INIT;

	h.has_role = h.has_version_min = h.has_version_max = 1;
	h.role = role;
	h.version_min = KG_PROTO_MINOR_OLDEST;
	h.version_max = KG_PROTO_MINOR;
	h.software = (char *)(uintptr_t) "test";
	h.machine = (char *)(uintptr_t)machine;
	h.state_id = (char *)(uintptr_t)state_id;
	h.instance = (char *)(uintptr_t) "00000000000000000000000000000001";
	peer_send(p, KG_MSG_HELLO, 0, &h.base);
}

void peer_hello_client(struct peer *p)
{
	say_hello(p, KGRID__V1__ROLE__ROLE_CLIENT, NULL, NULL);
	kg_msg_free(peer_expect(p, KG_MSG_HELLO));
}

void peer_say_hello_agent(struct peer *p, const char *machine, const char *state_id)
{
	say_hello(p, KGRID__V1__ROLE__ROLE_AGENT, machine, state_id);
}

void peer_hello_agent(struct peer *p, const char *machine, const char *state_id)
{
	peer_say_hello_agent(p, machine, state_id);
	kg_msg_free(peer_expect(p, KG_MSG_HELLO));
}

static const char fake_workload[] = "name: fake\n"
				    "description: prints a number\n"
				    "parameters:\n"
				    "  size: {type: int, min: 1, max: 100, default: 1}\n"
				    "requires: [echo]\n"
				    "command: [echo, \"value {size}\"]\n"
				    "duration: \"1\"\n"
				    "timeout: 10s\n"
				    "metrics:\n"
				    "  - name: rate\n"
				    "    unit: 1/s\n"
				    "    direction: higher\n"
				    "    read: {line: \"value {value}\"}\n";

#define MOST_WORKLOADS 4

void peer_agent_facts(struct peer *p, const struct peer_machine *m)
{
	Kgrid__V1__WorkloadOffer offers[MOST_WORKLOADS], *list[MOST_WORKLOADS];
	Kgrid__V1__MachineFacts f = KGRID__V1__MACHINE_FACTS__INIT;
	Kgrid__V1__Param thp = KGRID__V1__PARAM__INIT;
	Kgrid__V1__Param *settings[] = {&thp};

	for (const struct peer_workload *w = m->workloads; w->name; w++) {
		Kgrid__V1__WorkloadOffer *o = &offers[f.n_workloads];

		assert_true(f.n_workloads < MOST_WORKLOADS);
		kgrid__v1__workload_offer__init(o);
		o->name = TEXT(w->name);
		o->declaration = TEXT(w->declaration);
		o->digest = TEXT("d1");
		o->has_available = o->available = 1;
		list[f.n_workloads++] = o;
	}
	f.workloads = list;
	thp.name = TEXT("thp");
	thp.value = TEXT(m->thp);
	f.settings = settings;
	f.n_settings = m->thp != NULL;
	f.has_settings_known = f.settings_known = m->settings_known;
	f.cpu_vendor = TEXT(m->vendor ? m->vendor : "GenuineIntel");
	f.cpu_name = TEXT("Test CPU");
	f.clock = TEXT("real");
	f.initrd_policy = TEXT("overlay");
	f.has_cpus = 1;
	f.cpus = 2;
	f.address = TEXT(m->address);
	peer_send(p, KG_MSG_FACTS, 0, &f.base);
}

void peer_agent_state(struct peer *p, uint64_t boot, uint64_t lease_epoch, const char *stage)
{
	Kgrid__V1__AgentState s = KGRID__V1__AGENT_STATE__INIT;

	s.has_boot = s.has_lease_epoch = 1;
	s.boot = boot;
	s.lease_epoch = lease_epoch;
	s.stage = TEXT(stage);
	peer_send(p, KG_MSG_AGENT_STATE, 0, &s.base);
}

void peer_agent_ready(struct peer *p, uint64_t boot, uint64_t lease_epoch)
{
	static const struct peer_workload workloads[] = {{"fake", fake_workload}, {NULL, NULL}};

	peer_agent_facts(p, &(struct peer_machine){.workloads = workloads});
	peer_agent_state(p, boot, lease_epoch, "");
}

struct kg_msg *peer_call(struct peer *p, uint16_t type, const ProtobufCMessage *body, uint16_t want)
{
	struct kg_msg *m;

	peer_send(p, type, ++p->next_id, body);
	m = peer_next(p);
	if (!m)
		fail_msg("connection closed instead of an answer");
	if (kg_msg_type(m) == KG_MSG_ERROR)
		fail_msg("refused: %s", PEER_BODY(m, Kgrid__V1__Error)->text);
	assert_int_equal(kg_msg_type(m), want);
	return m;
}

int peer_call_error(struct peer *p, uint16_t type, const ProtobufCMessage *body, char *ret_text,
		    size_t size)
{
	struct kg_msg *m;
	int code;

	peer_send(p, type, ++p->next_id, body);
	m = peer_expect(p, KG_MSG_ERROR);
	code = PEER_BODY(m, Kgrid__V1__Error)->code;
	(void)snprintf(ret_text, size, "%s", PEER_BODY(m, Kgrid__V1__Error)->text);
	kg_msg_free(m);
	return code;
}
