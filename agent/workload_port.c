/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "agent/workload_port.h"

#include <arpa/inet.h>
#include <errno.h>
#include <ifaddrs.h>
#include <inttypes.h>
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

/* An address as the kernel prints it in its tables: words of four bytes each, as they lie in memory. */
static bool read_words(const char *hex, uint32_t words[4], size_t *ret_n)
{
	size_t n = strlen(hex) / 8, i;

	if (strlen(hex) % 8 || (n != 1 && n != 4))
		return false;
	for (i = 0; i < n; i++)
		if (sscanf(hex + 8 * i, "%8" SCNx32, &words[i]) != 1)
			return false;
	*ret_n = n;
	return true;
}

/* Whether who listens on the address `hex` hears what is sent to `host`. */
static bool hears(const char *hex, const char *host)
{
	uint32_t words[4] = {0}, wanted[4] = {0};
	struct in_addr v4;
	size_t n;

	if (!read_words(hex, words, &n))
		return false;
	if (words[0] == 0 && words[1] == 0 && words[2] == 0 && words[3] == 0)
		return true;
	if (inet_pton(AF_INET, host, &v4) == 1) {
		if (n == 1)
			return words[0] == v4.s_addr;
		wanted[2] = htonl(0xffff); /* an IPv4 address in a socket of IPv6 */
		wanted[3] = v4.s_addr;
	} else if (n == 1 || inet_pton(AF_INET6, host, wanted) != 1) {
		return false;
	}
	return memcmp(words, wanted, sizeof(words)) == 0;
}

bool workload_port_in_table(const char *table, const char *host, uint16_t port)
{
	const char *line = strchr(table, '\n'); /* the first line is a heading */

	while (line && *++line) {
		unsigned local_port, state;
		char address[33];

		if (sscanf(line, " %*d: %32[0-9A-Fa-f]:%x %*[0-9A-Fa-f]:%*x %x", address,
			   &local_port, &state) == 3 &&
		    local_port == port && state == TCP_LISTEN_STATE && hears(address, host))
			return true;
		line = strchr(line, '\n');
	}
	return false;
}

static bool in_file(const char *path, const char *host, uint16_t port)
{
	char *text;
	size_t len;
	bool found;

	if (kg_file_read(path, 1 << 24, &text, &len, NULL) < 0)
		return false;
	found = workload_port_in_table(text, host, port);
	free(text);
	return found;
}

bool workload_port_listens(const char *host, uint16_t port)
{
	return in_file("/proc/net/tcp", host, port) || in_file("/proc/net/tcp6", host, port);
}

static bool is_address(const struct sockaddr *a, const char *host)
{
	unsigned char wanted[16];

	if (!a)
		return false;
	if (a->sa_family == AF_INET)
		return inet_pton(AF_INET, host, wanted) == 1 &&
		       memcmp(&((const struct sockaddr_in *)(const void *)a)->sin_addr, wanted,
			      sizeof(struct in_addr)) == 0;
	return a->sa_family == AF_INET6 && inet_pton(AF_INET6, host, wanted) == 1 &&
	       memcmp(&((const struct sockaddr_in6 *)(const void *)a)->sin6_addr, wanted,
		      sizeof(struct in6_addr)) == 0;
}

bool workload_port_is_ours(const char *host)
{
	struct ifaddrs *list, *i;
	bool found = false;

	if (getifaddrs(&list) < 0)
		return false;
	for (i = list; i && !found; i = i->ifa_next)
		found = is_address(i->ifa_addr, host);
	freeifaddrs(list);
	return found;
}
