/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <locale.h>
#include <malloc.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>

#include <uv.h>

#include "agent/config.h"
#include "agent/driver.h"
#include "agent/load_modules.h"
#include "common/log.h"

#define EXIT_USAGE 2

static const char help[] =
	"usage: kgrid-agent --config FILE     run as the service, in the foreground\n"
	"       kgrid-agent check-config FILE say whether a configuration is right\n"
	"       kgrid-agent load-modules      load the modules listed in kgrid.order\n"
	"\n"
	"options:\n"
	"  --config FILE   configuration (default /etc/kgrid/agent.yaml)\n"
	"  --debug         log more\n"
	"  --version       print the version\n"
	"  --help          print this\n";

static int usage(const char *text, const char *word)
{
	fprintf(stderr, "kgrid-agent: %s '%s'\n%s", text, word, help);
	return EXIT_USAGE;
}

static int check_config(const char *path)
{
	struct agent_config c;
	struct kg_err err;

	if (agent_config_load(path, &c, &err) < 0) {
		fprintf(stderr, "kgrid-agent: %s\n", err.text);
		return EXIT_USAGE;
	}
	agent_config_deinit(&c);
	printf("%s: good\n", path);
	return 0;
}

static int run(const char *path)
{
	struct agent_config c;
	struct driver *d;
	struct kg_err err;
	uv_loop_t loop;
	int rc;

	if (agent_config_load(path, &c, &err) < 0) {
		kg_log_err("%s", err.text);
		return EXIT_USAGE;
	}
	rc = uv_loop_init(&loop);
	if (rc < 0) {
		kg_log_err("cannot start: %s", uv_strerror(rc));
		agent_config_deinit(&c);
		return 1;
	}
	rc = driver_start(&loop, &c, &d, &err);
	if (rc < 0) {
		kg_log_err("cannot start: %s", err.text);
	} else {
		kg_log_info("version " KGRID_VERSION ", machine '%s', coordinator %s", c.machine,
			    c.coordinator);
		(void)uv_run(&loop, UV_RUN_DEFAULT);
		driver_free(d);
	}
	(void)uv_loop_close(&loop);
	agent_config_deinit(&c);
	return rc < 0 ? 1 : 0;
}

int main(int argc, char **argv)
{
	const char *config = "/etc/kgrid/agent.yaml";
	enum kg_log_level level = KG_LOG_INFO;
	int i;

	/* One arena: a thread of its own would keep memory of its own. One worker is plenty. */
	(void)mallopt(M_ARENA_MAX, 1);
	(void)mallopt(M_MMAP_THRESHOLD, 64 * 1024);
	(void)setenv("UV_THREADPOOL_SIZE", "1", 1);
	(void)signal(SIGPIPE, SIG_IGN);
	for (i = 1; i < argc; i++) {
		if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0) {
			fputs(help, stdout);
			return 0;
		}
		if (strcmp(argv[i], "--version") == 0) {
			puts("kgrid-agent " KGRID_VERSION);
			return 0;
		}
		if (strcmp(argv[i], "--debug") == 0) {
			level = KG_LOG_DEBUG;
		} else if (strcmp(argv[i], "--config") == 0) {
			if (++i == argc)
				return usage("a file must follow", "--config");
			config = argv[i];
		} else if (strcmp(argv[i], "check-config") == 0) {
			if (i + 2 != argc)
				return usage("one file must follow", "check-config");
			return check_config(argv[i + 1]);
		} else if (strcmp(argv[i], "load-modules") == 0) {
			if (i + 2 < argc)
				return usage("at most a folder may follow", "load-modules");
			kg_log_init("kgrid-agent", level);
			return load_modules(i + 1 < argc ? argv[i + 1] : NULL);
		} else {
			return usage("unknown word", argv[i]);
		}
	}
	kg_log_init("kgrid-agent", level);
	return run(config);
}
