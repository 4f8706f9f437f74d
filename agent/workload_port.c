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

int workload_port_free(uint16_t *ret_port)
{
	struct sockaddr_in a = {.sin_family = AF_INET};
	socklen_t len = sizeof(a);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	int rc = 0;

	if (fd < 0)
		return -errno;
	a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	if (bind(fd, (struct sockaddr *)&a, sizeof(a)) < 0 ||
	    getsockname(fd, (struct sockaddr *)&a, &len) < 0)
		rc = -errno;
	else
		*ret_port = ntohs(a.sin_port);
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
