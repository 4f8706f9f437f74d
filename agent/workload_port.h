/* SPDX-License-Identifier: GPL-2.0-or-later */
/* TCP ports of helpers. */
#ifndef KG_AGENT_WORKLOAD_PORT_H
#define KG_AGENT_WORKLOAD_PORT_H

#include <stdbool.h>
#include <stdint.h>

/* A port that nobody uses on that IP address of this machine right now; 0 or a negative errno. */
int workload_port_free(const char *host, uint16_t *ret_port);
/* Whether somebody listens on that address and port, or on all addresses, as /proc/net says: asking by
 * a connection would be work for the helper. */
bool workload_port_listens(const char *host, uint16_t port);
/* The same in a text like /proc/net/tcp or tcp6. PURE. */
bool workload_port_in_table(const char *table, const char *host, uint16_t port);
/* Whether an interface of this machine has that IP address. */
bool workload_port_is_ours(const char *host);

#endif
