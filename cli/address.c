/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/address.h"

#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "common/str.h"

static int bad(struct kg_err *err, const char *text)
{
	return kg_err_set(err, KG_EINVALID,
			  "not an address: '%s' (unix:PATH, a PATH with a slash, or HOST:PORT)",
			  text);
}

static int parse_local(const char *path, struct address *ret_address, struct kg_err *err)
{
	struct address a = {.local = true};

	if (!path[0])
		return bad(err, path);
	if (strlen(path) >= sizeof(((struct sockaddr_un *)0)->sun_path))
		return kg_err_set(err, KG_EINVALID, "path of a socket is too long: '%s'", path);
	(void)snprintf(a.host, sizeof(a.host), "%s", path);
	*ret_address = a;
	return 0;
}

int address_parse(const char *text, struct address *ret_address, struct kg_err *err)
{
	struct address a = {0};
	const char *host = text, *colon, *end;
	uint64_t port;

	if (kg_str_starts(text, "unix:"))
		return parse_local(text + 5, ret_address, err);
	if (strchr(text, '/'))
		return parse_local(text, ret_address, err);
	colon = strrchr(text, ':');
	if (!colon)
		return bad(err, text);
	end = colon;
	if (*host == '[') {
		if (end[-1] != ']' || end - host < 3)
			return bad(err, text);
		host++;
		end--;
	} else if (memchr(host, ':', (size_t)(end - host))) {
		return bad(err, text); /* an IPv6 address needs its brackets */
	}
	if (host == end || (size_t)(end - host) >= sizeof(a.host) ||
	    kg_parse_u64(colon + 1, &port) < 0 || port == 0 || port > 65535)
		return bad(err, text);
	memcpy(a.host, host, (size_t)(end - host));
	(void)snprintf(a.port, sizeof(a.port), "%u", (unsigned)port);
	*ret_address = a;
	return 0;
}

static int connect_to(const struct sockaddr *sa, socklen_t len, int timeout_ms, int *ret_fd)
{
	struct pollfd p = {.events = POLLOUT};
	int error = 0, one = 1, rc;
	socklen_t error_len = sizeof(error);
	int fd = socket(sa->sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	if (fd < 0)
		return -errno;
	if (connect(fd, sa, len) == 0)
		goto connected;
	rc = -errno;
	if (rc != -EINPROGRESS)
		goto close_fd;
	p.fd = fd;
	do
		rc = poll(&p, 1, timeout_ms);
	while (rc < 0 && errno == EINTR);
	if (rc == 0) {
		rc = -ETIMEDOUT;
		goto close_fd;
	}
	if (getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &error_len) < 0)
		error = errno;
	rc = -error;
	if (rc < 0)
		goto close_fd;
connected:
	if (sa->sa_family != AF_UNIX) {
		(void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
		(void)setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &one, sizeof(one));
	}
	*ret_fd = fd;
	return 0;
close_fd:
	close(fd);
	return rc;
}

static int connect_local(const struct address *a, int timeout_ms, int *ret_fd)
{
	struct sockaddr_un sa = {.sun_family = AF_UNIX};

	memcpy(sa.sun_path, a->host, strnlen(a->host, sizeof(sa.sun_path) - 1));
	return connect_to((const struct sockaddr *)&sa, sizeof(sa), timeout_ms, ret_fd);
}

static int connect_tcp(const struct address *a, int timeout_ms, int *ret_fd, struct kg_err *err)
{
	struct addrinfo hints = {.ai_socktype = SOCK_STREAM}, *list, *i;
	int rc = getaddrinfo(a->host, a->port, &hints, &list);

	if (rc != 0)
		return kg_err_set(err, -EHOSTUNREACH, "cannot find host '%s': %s", a->host,
				  gai_strerror(rc));
	rc = -EHOSTUNREACH;
	for (i = list; i; i = i->ai_next) {
		rc = connect_to(i->ai_addr, i->ai_addrlen, timeout_ms, ret_fd);
		if (rc == 0)
			break;
	}
	freeaddrinfo(list);
	return rc < 0 ? kg_err_set(err, rc, "%s", strerror(-rc)) : 0;
}

int address_connect(const char *text, int timeout_ms, int *ret_fd, struct kg_err *err)
{
	struct address a = {0};
	int rc = address_parse(text, &a, err);

	if (rc < 0)
		return rc;
	if (!a.local)
		return connect_tcp(&a, timeout_ms, ret_fd, err);
	rc = connect_local(&a, timeout_ms, ret_fd);
	return rc < 0 ? kg_err_set(err, rc, "%s", strerror(-rc)) : 0;
}
