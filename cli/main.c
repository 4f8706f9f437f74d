/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The kgrid command: reads the command line, runs one verb, makes sure its output arrived. */
#include <errno.h>
#include <langinfo.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "cli/args.h"
#include "cli/cli.h"
#include "cli/client.h"
#include "cli/manual.h"

#define WIDTH_LEAST 40
#define WIDTH_MOST  10000

static unsigned terminal_width(int fd)
{
	struct winsize w;

	if (ioctl(fd, TIOCGWINSZ, &w) == 0 && w.ws_col > 0)
		return w.ws_col;
	return CLI_WIDTH_FALLBACK;
}

static void set_up(struct cli *cli, const struct cli_args *a)
{
	const char *no_color = getenv("NO_COLOR"), *term = getenv("TERM");
	const char *address = cli_args_text(a, "coordinator");
	uint64_t width;

	if (!address)
		address = getenv("KGRID_COORDINATOR");
	cli->address = address && address[0] ? address : CLIENT_SOCKET_DEFAULT;
	cli->json = cli_args_has(a, "json");
	cli->terminal = isatty(STDOUT_FILENO) == 1;
	cli->color = cli->terminal && !cli_args_has(a, "no-color") && !(no_color && no_color[0]) &&
		     !(term && strcmp(term, "dumb") == 0);
	/* only the character set: numbers look the same in every locale */
	cli->unicode = cli->terminal && setlocale(LC_CTYPE, "") &&
		       strcmp(nl_langinfo(CODESET), "UTF-8") == 0;
	width = cli_args_number(a, "width",
				cli->terminal ? terminal_width(STDOUT_FILENO) : CLI_WIDTH_FALLBACK);
	cli->width = width < WIDTH_LEAST  ? WIDTH_LEAST
		     : width > WIDTH_MOST ? WIDTH_MOST
					  : (unsigned)width;
}

static int usage(struct cli *cli, const char *text)
{
	cli_say(cli, "%s", text);
	return CLI_EXIT_USAGE;
}

static int run(struct cli *cli, const struct cli_args *a)
{
	struct kg_str s = {0};
	int rc = CLI_EXIT_OK;

	if (cli_args_has(a, "version")) {
		kg_str_add(&s, "kgrid " KGRID_VERSION "\n");
	} else if (cli_args_has(a, "help")) {
		if (a->command)
			manual_command(a->command, cli->width, &s);
		else if (a->prefix)
			manual_noun(a->prefix, cli->width, &s);
		else
			manual_overview(cli->width, &s);
	} else if (a->command) {
		return a->command->run(cli, a);
	} else {
		if (a->prefix)
			manual_noun(a->prefix, cli->width, &s);
		else
			manual_overview(cli->width, &s);
		(void)fputs(kg_str_text(&s), cli->err);
		kg_str_clear(&s);
		rc = CLI_EXIT_USAGE;
	}
	cli_print(cli, &s);
	kg_str_deinit(&s);
	return rc;
}

/* Hidden: used by the build, to make the man page and the completions. */
static int generate(struct cli *cli, const char *what)
{
	struct kg_str s = {0};
	struct kg_err err;

	if (manual_generate(what, &s, &err) < 0)
		return usage(cli, err.text);
	cli_print(cli, &s);
	kg_str_deinit(&s);
	return CLI_EXIT_OK;
}

/* A full disk or a closed pipe must not look like success. */
static int finish(struct cli *cli, int rc)
{
	bool failed = ferror(cli->out) != 0;

	errno = 0;
	if (fflush(cli->out) != 0 || fclose(cli->out) != 0)
		failed = true;
	if (!failed)
		return rc;
	cli_say(cli, "cannot write to standard output%s%s", errno ? ": " : "",
		errno ? strerror(errno) : "");
	return rc == CLI_EXIT_OK ? CLI_EXIT_LOCAL : rc;
}

int main(int argc, char **argv)
{
	struct cli cli = {.out = stdout, .err = stderr};
	struct cli_args args;
	struct kg_err err = {{0}};

	if (argc == 3 && strcmp(argv[1], "--generate") == 0)
		return finish(&cli, generate(&cli, argv[2]));
	if (cli_args_parse(argc, argv, &args, &err) < 0)
		return usage(&cli, err.text);
	set_up(&cli, &args);
	return finish(&cli, run(&cli, &args));
}
