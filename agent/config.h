/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The agent's configuration file. */
#ifndef KG_AGENT_CONFIG_H
#define KG_AGENT_CONFIG_H

#include <stdbool.h>
#include <stdint.h>

#include "common/err.h"
#include "common/yaml.h"

enum agent_clock { AGENT_CLOCK_REAL, AGENT_CLOCK_INSTRUCTION };
enum agent_initrd { AGENT_INITRD_OVERLAY, AGENT_INITRD_NONE };
enum agent_env_check { AGENT_ENV_STRICT, AGENT_ENV_RECORD };
enum agent_shutdown { AGENT_SHUTDOWN_AUTO, AGENT_SHUTDOWN_SYSTEMCTL, AGENT_SHUTDOWN_DIRECT };

struct agent_config {
	char *coordinator; /* HOST:PORT or unix:PATH */
	char *machine;
	char *state_dir;
	char *workload_dir;
	struct kg_texts tags;
	int clock;     /* enum agent_clock */
	char *address; /* where other machines reach it; NULL: not told */
	char *cmdline; /* the machine's part of every command line; may be NULL */
	uint64_t spool_bytes;
	int env_check; /* enum agent_env_check */
	struct {
		int policy; /* enum agent_initrd */
		char *base; /* NULL only with policy none */
		struct kg_texts modules;
		uint64_t cache_bytes;
	} initrd;
	struct {
		int method; /* enum agent_shutdown */
		struct kg_texts unmount;
		bool reboot; /* plainly, where kexec cannot leave a kernel */
	} shutdown;
	struct kg_texts faults; /* test builds only: NAME or NAME:ARGUMENT */
};

int agent_config_load(const char *path, struct agent_config *ret_c, struct kg_err *err);
void agent_config_deinit(struct agent_config *c);

/* Splits "HOST:PORT", "[V6]:PORT" or "unix:PATH". For unix, *ret_port is 0 and host the path. */
/* A numeric IPv4 or IPv6 address. PURE. */
bool agent_ip_valid(const char *text);
int agent_address_parse(const char *text, char *ret_host, size_t size, uint16_t *ret_port,
			bool *ret_unix, struct kg_err *err);

/* The argument of a fault point that is switched on ("" without one), NULL when it is not.
 * Always NULL in builds without fault points. `line` is the ordered command line, where
 * kgrid.fault=NAME[:ARGUMENT] switches one on for a single boot. Borrows. */
const char *agent_fault(const struct agent_config *c, const char *line, const char *name);

#endif
