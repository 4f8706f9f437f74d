/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "agent/workload_port.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/file.h"

#define TCP_LISTEN_STATE 0x0a /* include/net/tcp_states.h */

int workload_port_free(const char *host, uint16_t *ret_port)
{
	struct sockaddr_storage a = {0};
	struct sockaddr_in *v4 = (struct sockaddr_in *)&a;
	struct sockaddr_in6 *v6 = (struct sockaddr_in6 *)&a;
	bool is_v4 = inet_pton(AF_INET, host, &v4->sin_addr) == 1;
	socklen_t len = is_v4 ? sizeof(*v4) : sizeof(*v6);
	int rc = 0;
	int fd;

	if (!is_v4 && inet_pton(AF_INET6, host, &v6->sin6_addr) != 1)
		return -EINVAL;
	a.ss_family = is_v4 ? AF_INET : AF_INET6;
	fd = socket(a.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -errno;
	if (bind(fd, (struct sockaddr *)&a, len) < 0 ||
	    getsockname(fd, (struct sockaddr *)&a, &len) < 0)
		rc = -errno;
	else
		*ret_port = ntohs(is_v4 ? v4->sin_port : v6->sin6_port);
	close(fd);
	return rc;
}

bool workload_port_in_table(const char *table, uint16_t port)
{
	const char *line = strchr(table, '\n'); /* the first line is a heading */

	while (line && *++line) {
		unsigned local_port, state;

		if (sscanf(line, " %*d: %*[0-9A-Fa-f]:%x %*[0-9A-Fa-f]:%*x %x", &local_port,
			   &state) == 2 &&
		    local_port == port && state == TCP_LISTEN_STATE)
			return true;
		line = strchr(line, '\n');
	}
	return false;
}

static bool in_file(const char *path, uint16_t port)
{
	char *text;
	size_t len;
	bool found;

	if (kg_file_read(path, 1 << 24, &text, &len, NULL) < 0)
		return false;
	found = workload_port_in_table(text, port);
	free(text);
	return found;
}

bool workload_port_listens(uint16_t port)
{
	return in_file("/proc/net/tcp", port) || in_file("/proc/net/tcp6", port);
}
