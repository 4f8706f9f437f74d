/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/log.h"
#include "coordinator/coordinator.h"
#include "coordinator/manual.h"

enum exit_code { EXIT_OK = 0, EXIT_FAILED = 1, EXIT_USAGE = 2 };

static const char usage[] =
	"usage: kgrid-coordinator --data-dir DIR [options]\n"
	"\n"
	"Keeps jobs and results of a lab, gives boots to agents, answers the kgrid command.\n"
	"\n"
	"  --data-dir DIR          database, kernels and sockets; made when missing\n"
	"  --config FILE           settings; see kgrid-coordinator(8)\n"
	"  --listen ADDRESS:PORT   instead of 127.0.0.1:7440; may be repeated; port 0: any,\n"
	"                          written to DIR/run/tcp\n"
	"  --socket PATH           Unix socket, instead of DIR/run/kgrid.sock\n"
	"  --insecure-plaintext    allow addresses that are not loopback, unencrypted\n"
	"  --debug                 log more\n"
	"  --version, --help\n"
	"\n"
	"exit status: 0 ended by a signal, 1 failed, 2 usage\n";

struct options {
	const char *data_dir, *config, *socket;
	const char *listen[SERVER_MAX_LISTENERS];
	size_t n_listen;
	bool insecure, debug;
};

static int print_manual(const char *page)
{
	struct kg_str s = {0};
	int rc = coordinator_manual(page, &s);

	if (rc == 0 && !s.failed)
		fputs(kg_str_text(&s), stdout);
	else
		fprintf(stderr, "kgrid-coordinator: no page '%s'\n", page);
	kg_str_deinit(&s);
	return rc == 0 ? EXIT_OK : EXIT_USAGE;
}

/* Returns -1 to go on, else the exit code. */
static int parse(int argc, char **argv, struct options *o)
{
	static const struct option longs[] = {
		{"data-dir", required_argument, NULL, 'd'},
		{"config", required_argument, NULL, 'c'},
		{"listen", required_argument, NULL, 'l'},
		{"socket", required_argument, NULL, 's'},
		{"insecure-plaintext", no_argument, NULL, 'i'},
		{"manual", required_argument, NULL, 'm'}, /* for the build */
		{"debug", no_argument, NULL, 'D'},
		{"version", no_argument, NULL, 'V'},
		{"help", no_argument, NULL, 'h'},
		{NULL, 0, NULL, 0},
	};
	int ch;

	while ((ch = getopt_long(argc, argv, "", longs, NULL)) != -1) {
		switch (ch) {
		case 'd':
			o->data_dir = optarg;
			break;
		case 'c':
			o->config = optarg;
			break;
		case 'l':
			if (o->n_listen == SERVER_MAX_LISTENERS - 1) {
				fprintf(stderr, "kgrid-coordinator: too many --listen\n");
				return EXIT_USAGE;
			}
			o->listen[o->n_listen++] = optarg;
			break;
		case 's':
			o->socket = optarg;
			break;
		case 'i':
			o->insecure = true;
			break;
		case 'D':
			o->debug = true;
			break;
		case 'm':
			return print_manual(optarg);
		case 'V':
			printf("kgrid-coordinator %s\n", KGRID_VERSION);
			return EXIT_OK;
		case 'h':
			fputs(usage, stdout);
			return EXIT_OK;
		default:
			fputs(usage, stderr);
			return EXIT_USAGE;
		}
	}
	if (optind < argc) {
		fprintf(stderr, "kgrid-coordinator: unexpected argument '%s'\n", argv[optind]);
		return EXIT_USAGE;
	}
	if (!o->data_dir) {
		fprintf(stderr, "kgrid-coordinator: --data-dir is missing\n");
		return EXIT_USAGE;
	}
	return -1;
}

static int set_texts(struct kg_texts *t, const char *const *items, size_t n)
{
	size_t i;

	kg_texts_deinit(t);
	t->items = calloc(n + 1, sizeof(char *));
	for (i = 0; t->items && i < n; i++) {
		t->items[i] = strdup(items[i]);
		if (!t->items[i])
			return -1;
		t->n++;
	}
	return t->items ? 0 : -1;
}

/* Options over the file, the file over the defaults. */
static int apply(struct coordinator_config *cfg, const struct options *o)
{
	static const char *const preset[] = {"127.0.0.1:7440"};
	char path[512];

	cfg->data_dir = strdup(o->data_dir);
	if (o->n_listen > 0 && set_texts(&cfg->listen, o->listen, o->n_listen) < 0)
		return -1;
	if (cfg->listen.n == 0 && set_texts(&cfg->listen, preset, 1) < 0)
		return -1;
	cfg->insecure_plaintext |= o->insecure;
	(void)snprintf(path, sizeof(path), "%s/run/kgrid.sock", o->data_dir);
	if (o->socket || !cfg->socket) {
		free(cfg->socket);
		cfg->socket = strdup(o->socket ? o->socket : path);
	}
	return cfg->data_dir && cfg->socket ? 0 : -1;
}

int main(int argc, char **argv)
{
	static struct coordinator c; /* zero; larger than a stack frame should be */
	struct options o = {0};
	struct kg_err err = {""};
	int rc = parse(argc, argv, &o);

	if (rc >= 0)
		return rc;
	kg_log_init("kgrid-coordinator", o.debug ? KG_LOG_DEBUG : KG_LOG_INFO);
	(void)signal(SIGPIPE, SIG_IGN);
	if (coordinator_config_read(o.config, &c.cfg, &err) < 0) {
		kg_log_err("%s", err.text);
		return EXIT_USAGE;
	}
	if (apply(&c.cfg, &o) < 0) {
		kg_log_err("out of memory");
		return EXIT_FAILED;
	}
	kg_log_info("version %s, data in %s", KGRID_VERSION, c.cfg.data_dir);
	if (coordinator_start(&c, &err) < 0) {
		kg_log_err("cannot start: %s", err.text);
		return EXIT_FAILED;
	}
	rc = coordinator_run(&c);
	if (rc < 0)
		kg_log_err("ended with open handles: %s", uv_strerror(rc));
	coordinator_deinit(&c);
	return rc < 0 ? EXIT_FAILED : EXIT_OK;
}
