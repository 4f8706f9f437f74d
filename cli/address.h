/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Where the coordinator is: unix:PATH, a PATH with a slash, HOST:PORT or [HOST]:PORT. */
#ifndef KG_CLI_ADDRESS_H
#define KG_CLI_ADDRESS_H

#include <stdbool.h>

#include "common/err.h"

struct address {
	bool local; /* Unix socket: host is its path */
	char host[256];
	char port[8];
};

/* Pure. KG_EINVALID with a text that says what an address looks like. */
int address_parse(const char *text, struct address *ret_address, struct kg_err *err);

/* Parses and connects; the socket is owned (close). Bad address: KG_EINVALID, else an errno. */
int address_connect(const char *text, int timeout_ms, int *ret_fd, struct kg_err *err);

#endif
