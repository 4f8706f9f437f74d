/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "agent/config.h"

#include <arpa/inet.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/cmdline.h"
#include "common/str.h"

static const char *const clocks[] = {"real", "instruction", NULL};
static const char *const policies[] = {"overlay", "none", NULL};
static const char *const env_checks[] = {"strict", "record", NULL};
static const char *const methods[] = {"auto", "systemctl", "direct", NULL};

#define MEMBER(m)   offsetof(struct agent_config, m)
#define INITRD(m)   (MEMBER(initrd.m) - MEMBER(initrd))
#define SHUTDOWN(m) (MEMBER(shutdown.m) - MEMBER(shutdown))

static const struct kg_field initrd_fields[] = {
	{.key = "policy",
	 .type = KG_FIELD_CHOICE,
	 .offset = INITRD(policy),
	 .choices = policies,
	 .preset = "overlay",
	 .help = "What a kernel boots with: the image 'base' with the kernel's modules appended, "
		 "or nothing."},
	{.key = "base",
	 .type = KG_FIELD_TEXT,
	 .offset = INITRD(base),
	 .help = "The image that the machine runs from, a cpio archive."},
	{.key = "modules",
	 .type = KG_FIELD_TEXTS,
	 .offset = INITRD(modules),
	 .help = "Modules without which the machine finds neither its disk nor its network; what "
		 "they depend on comes along."},
	{.key = "cache",
	 .type = KG_FIELD_BYTES,
	 .offset = INITRD(cache_bytes),
	 .min = 1 << 20,
	 .max = 1e15,
	 .preset = "256MiB",
	 .help = "Size limit of the kept kernels and initial images; the least recently used go "
		 "first."},
	{0},
};

static const struct kg_field shutdown_fields[] = {
	{.key = "method",
	 .type = KG_FIELD_CHOICE,
	 .offset = SHUTDOWN(method),
	 .choices = methods,
	 .preset = "auto",
	 .help = "How the running system is left: 'systemctl kexec', or directly by reboot(2); "
		 "auto "
		 "takes systemctl where systemd is the first process."},
	{.key = "unmount",
	 .type = KG_FIELD_TEXTS,
	 .offset = SHUTDOWN(unmount),
	 .help = "File systems that the direct method unmounts before it jumps."},
	{.key = "reboot",
	 .type = KG_FIELD_BOOL,
	 .offset = SHUTDOWN(reboot),
	 .preset = "true",
	 .help = "Whether the machine may be rebooted into its default kernel where kexec cannot "
		 "leave the running one, as under lockdown; else such a boot is a harness-error."},
	{0},
};

static const struct kg_field fields[] = {
	{.key = "coordinator",
	 .type = KG_FIELD_TEXT,
	 .offset = MEMBER(coordinator),
	 .required = true,
	 .help = "Address of the coordinator, HOST:PORT or unix:PATH."},
	{.key = "machine",
	 .type = KG_FIELD_NAME,
	 .offset = MEMBER(machine),
	 .required = true,
	 .help = "Name of this machine, unique in the grid."},
	{.key = "state-dir",
	 .type = KG_FIELD_TEXT,
	 .offset = MEMBER(state_dir),
	 .preset = "/var/lib/kgrid-agent",
	 .help = "Where state, spool and cache live; must survive a kexec and a power cycle."},
	{.key = "workload-dir",
	 .type = KG_FIELD_TEXT,
	 .offset = MEMBER(workload_dir),
	 .preset = "/usr/share/kgrid/workloads",
	 .help = "Declarations of the workloads that may run here."},
	{.key = "tags",
	 .type = KG_FIELD_TEXTS,
	 .offset = MEMBER(tags),
	 .help = "Free words that a job's machine predicate can ask for."},
	{.key = "clock",
	 .type = KG_FIELD_CHOICE,
	 .offset = MEMBER(clock),
	 .choices = clocks,
	 .preset = "real",
	 .help = "What this machine's clock counts; 'instruction' is said wherever its numbers are "
		 "shown."},
	{.key = "address",
	 .type = KG_FIELD_TEXT,
	 .offset = MEMBER(address),
	 .help = "IP address at which the other machines of the grid reach this one, for workloads "
		 "whose client and server are two machines; without it this one takes no part in "
		 "them."},
	{.key = "cmdline",
	 .type = KG_FIELD_TEXT,
	 .offset = MEMBER(cmdline),
	 .help = "The machine's part of every kernel command line (console, root)."},
	{.key = "spool",
	 .type = KG_FIELD_BYTES,
	 .offset = MEMBER(spool_bytes),
	 .min = 1 << 20,
	 .max = 1e12,
	 .preset = "64MiB",
	 .help = "Size limit of results that wait for the coordinator; a run that would exceed it "
		 "is stopped."},
	{.key = "env-check",
	 .type = KG_FIELD_CHOICE,
	 .offset = MEMBER(env_check),
	 .choices = env_checks,
	 .preset = "strict",
	 .help = "What a run is worth whose machine was disturbed (throttled, packages changed, a "
		 "login): strict makes it invalid-env, record only says so in the log."},
	{.key = "initrd",
	 .type = KG_FIELD_MAP,
	 .offset = MEMBER(initrd),
	 .sub = initrd_fields,
	 .help = "The initial image that a kernel boots with."},
	{.key = "shutdown",
	 .type = KG_FIELD_MAP,
	 .offset = MEMBER(shutdown),
	 .sub = shutdown_fields,
	 .help = "How the running system is left for the next kernel."},
#ifdef KGRID_FAULTS
	{.key = "faults",
	 .type = KG_FIELD_TEXTS,
	 .offset = MEMBER(faults),
	 .help = "Named faults to make, for tests: drop-lsm-word, boot-other-kernel:DIGEST."},
#endif
	{0},
};

bool agent_ip_valid(const char *text)
{
	struct in6_addr a;

	return inet_pton(AF_INET, text, &a) == 1 || inet_pton(AF_INET6, text, &a) == 1;
}

/* Not "all addresses", and none of a group: a peer has to reach this one machine by it. */
static bool names_one_machine(const char *text)
{
	struct in6_addr v6;
	struct in_addr v4;

	if (inet_pton(AF_INET, text, &v4) == 1)
		return v4.s_addr != htonl(INADDR_ANY) && v4.s_addr != htonl(INADDR_BROADCAST) &&
		       !IN_MULTICAST(ntohl(v4.s_addr));
	return inet_pton(AF_INET6, text, &v6) == 1 && !IN6_IS_ADDR_UNSPECIFIED(&v6) &&
	       !IN6_IS_ADDR_MULTICAST(&v6);
}

static int check(const struct kg_yaml_doc *doc, const struct agent_config *c, struct kg_err *err)
{
	const struct kg_yaml_node *initrd = kg_yaml_get(doc->root, "initrd");
	char host[256];
	uint16_t port;
	bool is_unix;
	int rc = agent_address_parse(c->coordinator, host, sizeof(host), &port, &is_unix, err);

	if (rc < 0) {
		struct kg_err why = *err;

		return kg_yaml_error(doc, kg_yaml_get(doc->root, "coordinator"), err, "%s",
				     why.text);
	}
	if (c->address && !names_one_machine(c->address))
		return kg_yaml_error(
			doc, kg_yaml_get(doc->root, "address"), err,
			"'address': expected an IP address such as 192.0.2.7, not '%s'",
			c->address);
	if (c->initrd.policy == AGENT_INITRD_OVERLAY && !c->initrd.base)
		return kg_yaml_error(doc, initrd ? initrd : doc->root, err,
				     "initrd policy 'overlay' needs 'base'");
	return 0;
}

int agent_config_load(const char *path, struct agent_config *ret_c, struct kg_err *err)
{
	struct agent_config c = {0};
	struct kg_yaml_doc *doc;
	int rc = kg_yaml_parse_file(path, &doc, err);

	if (rc < 0)
		return rc;
	rc = kg_yaml_read(doc, doc->root, fields, &c, err);
	if (rc == 0) {
		rc = check(doc, &c, err);
		if (rc < 0)
			agent_config_deinit(&c);
	}
	kg_yaml_free(doc);
	if (rc == 0)
		*ret_c = c;
	return rc;
}

void agent_config_deinit(struct agent_config *c)
{
	kg_yaml_release(fields, c);
}

int agent_address_parse(const char *text, char *ret_host, size_t size, uint16_t *ret_port,
			bool *ret_unix, struct kg_err *err)
{
	const char *colon = strrchr(text, ':');
	const char *host = text;
	size_t len;
	uint64_t port;

	if (kg_str_starts(text, "unix:")) {
		if (!text[5] || strlen(text + 5) >= size)
			return kg_err_set(err, KG_EINVALID, "bad socket path in '%s'", text);
		(void)snprintf(ret_host, size, "%s", text + 5);
		*ret_port = 0;
		*ret_unix = true;
		return 0;
	}
	if (!colon || kg_parse_u64(colon + 1, &port) < 0 || port == 0 || port > UINT16_MAX)
		return kg_err_set(err, KG_EINVALID, "expected HOST:PORT or unix:PATH, not '%s'",
				  text);
	len = (size_t)(colon - text);
	if (len >= 2 && host[0] == '[' && host[len - 1] == ']') {
		host++;
		len -= 2;
	}
	if (len == 0 || len >= size)
		return kg_err_set(err, KG_EINVALID, "bad host name in '%s'", text);
	memcpy(ret_host, host, len);
	ret_host[len] = '\0';
	*ret_port = (uint16_t)port;
	*ret_unix = false;
	return 0;
}

#ifdef KGRID_FAULTS
static const char *match(const char *word, const char *name)
{
	size_t len = strlen(name);

	if (strncmp(word, name, len) != 0)
		return NULL;
	if (word[len] == ':')
		return word + len + 1;
	return word[len] == '\0' ? "" : NULL;
}

const char *agent_fault(const struct agent_config *c, const char *line, const char *name)
{
	static char value[160]; /* test builds only */
	struct kg_cmdline words;
	const char *found = NULL;
	size_t i;

	for (i = 0; i < c->faults.n && !found; i++)
		found = match(c->faults.items[i], name);
	if (found || kg_cmdline_parse(line, &words) < 0)
		return found;
	if (kg_cmdline_value(&words, "kgrid.fault", value, sizeof(value)))
		found = match(value, name);
	kg_cmdline_deinit(&words);
	return found;
}
#else
const char *agent_fault(const struct agent_config *c, const char *line, const char *name)
{
	(void)c;
	(void)line;
	(void)name;
	return NULL;
}
#endif
