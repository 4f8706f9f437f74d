/* SPDX-License-Identifier: GPL-2.0-or-later */
/* kgrid lab: becomes the lab's program, with what it cannot know by itself added to 'up'. */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/args.h"
#include "cli/cli.h"
#include "cli/client.h"

/* Words for execv(), which wants them writable. */
static char option_json[] = "--json";
static char option_coordinator_port[] = "--coordinator-port";
static char option_agent[] = "--agent";
static char option_workload_dir[] = "--workload-dir";

/* Folder of the running program; false when it cannot be told. */
static bool program_folder(char *buf, size_t size)
{
	ssize_t n = readlink("/proc/self/exe", buf, size - 1);
	char *slash;

	if (n <= 0)
		return false;
	buf[n] = '\0';
	slash = strrchr(buf, '/');
	if (!slash)
		return false;
	*slash = '\0';
	return true;
}

/* First of the paths that is there; relative ones are below `folder`. */
static bool find_first(const char *folder, const char *const *candidates, int mode,
		       char ret_path[PATH_MAX])
{
	char path[2 * PATH_MAX];

	for (; *candidates; candidates++) {
		if (**candidates == '/')
			(void)snprintf(path, sizeof(path), "%s", *candidates);
		else
			(void)snprintf(path, sizeof(path), "%s/%s", folder, *candidates);
		if (access(path, mode) == 0 && realpath(path, ret_path))
			return true;
	}
	return false;
}

/* Same, where a program in its build tree looks into the sources that it was built from first, and
 * an installed one never does. */
static bool find(const char *source, const char *const *candidates, int mode,
		 char ret_path[PATH_MAX])
{
	const char *const sources[] = {source, NULL};
	static const char build[] = KGRID_BUILD_DIR "/";
	char folder[PATH_MAX];

	if (!program_folder(folder, sizeof(folder)))
		return false;
	if (source && strncmp(folder, build, sizeof(build) - 1) == 0 &&
	    find_first(folder, sources, mode, ret_path))
		return true;
	return find_first(folder, candidates, mode, ret_path);
}

static bool find_script(char ret_path[PATH_MAX])
{
	static const char *const candidates[] = {"../libexec/kgrid/lab/lab", KGRID_LAB_INSTALLED,
						 NULL};
	const char *chosen = getenv("KGRID_LAB_SCRIPT");

	if (chosen && chosen[0]) {
		(void)snprintf(ret_path, PATH_MAX, "%s", chosen);
		return true;
	}
	return find(KGRID_SOURCE_DIR "/deploy/lab/lab", candidates, X_OK, ret_path);
}

static bool find_agent(char ret_path[PATH_MAX])
{
	static const char *const candidates[] = {"../agent/kgrid-agent", "kgrid-agent",
						 "../sbin/kgrid-agent",
						 "../libexec/kgrid/kgrid-agent", NULL};

	return find(NULL, candidates, X_OK, ret_path);
}

static bool find_workloads(char ret_path[PATH_MAX])
{
	static const char *const candidates[] = {"../share/kgrid/workloads", NULL};

	return find(KGRID_SOURCE_DIR "/deploy/workloads", candidates, R_OK | X_OK, ret_path);
}

static bool given(const struct cli_args *args, const char *option)
{
	size_t i;

	for (i = 0; i < args->n_rest; i++)
		if (strcmp(args->rest[i], option) == 0)
			return true;
	return false;
}

/* The first word that is no option: up, down, ... */
static const char *verb_of(const struct cli_args *args)
{
	size_t i;

	for (i = 0; i < args->n_rest; i++)
		if (args->rest[i][0] != '-')
			return args->rest[i];
	return "";
}

/* Port of the coordinator's loopback listener, from "127.0.0.1:7440" and alike. */
static int ask_port(struct cli *cli, char *ret_port, size_t size)
{
	Kgrid__V1__InfoRequest q = KGRID__V1__INFO_REQUEST__INIT;
	const Kgrid__V1__InfoReply *r;
	struct kg_msg *m;
	int rc = 0;
	size_t i;

	m = cli_ask(cli, KG_MSG_INFO, &q.base, KG_MSG_INFO_REPLY, CLIENT_ANSWER_MS, &rc);
	if (!m)
		return rc;
	r = (const Kgrid__V1__InfoReply *)kg_msg_body(m);
	rc = CLI_EXIT_REFUSED;
	for (i = 0; i < r->n_listen && rc != CLI_EXIT_OK; i++) {
		const char *listen = r->listen[i], *colon = strrchr(listen, ':');

		if (!colon ||
		    (!kg_str_starts(listen, "127.") && !kg_str_starts(listen, "0.0.0.0:") &&
		     !kg_str_starts(listen, "localhost:")))
			continue;
		(void)snprintf(ret_port, size, "%s", colon + 1);
		rc = CLI_EXIT_OK;
	}
	if (rc != CLI_EXIT_OK)
		cli_say(cli, "the coordinator does not listen on the loopback interface; start it "
			     "with --listen 127.0.0.1:7440");
	kg_msg_free(m);
	return rc;
}

static int run(struct cli *cli, const char *script, char **argv)
{
	(void)fflush(NULL);
	(void)execv(script, argv);
	cli_say(cli, "cannot start the lab's program '%s': %s", script, strerror(errno));
	return CLI_EXIT_LOCAL;
}

int cmd_lab(struct cli *cli, const struct cli_args *args)
{
	char script[PATH_MAX], agent[PATH_MAX], workloads[PATH_MAX], port[16];
	char **argv = cli_alloc(args->n_rest + 8, sizeof(*argv));
	size_t n = 0, i;
	int rc = CLI_EXIT_OK;

	if (!find_script(script)) {
		cli_say(cli, "the lab's program is not installed; set KGRID_LAB_SCRIPT to "
			     "deploy/lab/lab of the sources");
		rc = CLI_EXIT_LOCAL;
		goto free_argv;
	}
	argv[n++] = script;
	for (i = 0; i < args->n_rest; i++)
		argv[n++] = args->rest[i];
	if (cli->json && !given(args, option_json))
		argv[n++] = option_json;
	if (strcmp(verb_of(args), "up") == 0 && !given(args, "--help") && !given(args, "-h")) {
		if (!given(args, option_coordinator_port)) {
			rc = ask_port(cli, port, sizeof(port));
			if (rc != CLI_EXIT_OK)
				goto free_argv;
			argv[n++] = option_coordinator_port;
			argv[n++] = port;
		}
		if (!given(args, option_agent) && find_agent(agent)) {
			argv[n++] = option_agent;
			argv[n++] = agent;
		}
		if (!given(args, option_workload_dir) && find_workloads(workloads)) {
			argv[n++] = option_workload_dir;
			argv[n++] = workloads;
		}
	}
	rc = run(cli, script, argv);
free_argv:
	free(argv);
	return rc;
}
