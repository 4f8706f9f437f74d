/* SPDX-License-Identifier: GPL-2.0-or-later */
/* kgrid lsm: which LSMs a kernel will start, and which one has started. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/args.h"
#include "cli/cli.h"
#include "cli/client.h"
#include "cli/json.h"
#include "cli/lsm_text.h"
#include "common/file.h"
#include "coordinator/artifact/inflate.h"
#include "coordinator/plan/kconfig.h"
#include "coordinator/plan/lsm_dmesg.h"

#define CONFIG_BYTES_MAX (16U << 20)
#define LOG_BYTES_MAX	 (256U << 20)

/* ---- files ---- */

static bool packed(const char *text, size_t len)
{
	static const struct {
		const char *magic;
		size_t len;
	} rows[] = {{"\x1f\x8b", 2},
		    {"\xfd"
		     "7zXZ",
		     5},
		    {"\x28\xb5\x2f\xfd", 4},
		    {"BZh", 3}};
	size_t i;

	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (len >= rows[i].len && memcmp(text, rows[i].magic, rows[i].len) == 0)
			return true;
	return false;
}

/* A whole file, unpacked when it is compressed, with a zero byte behind it. */
static int read_file(const char *path, size_t max, char **ret_text, size_t *ret_len,
		     struct kg_err *err)
{
	char *text = NULL;
	void *bytes = NULL;
	size_t len = 0;
	int rc = kg_file_read(strcmp(path, "-") == 0 ? "/dev/stdin" : path, max, &text, &len, err);

	if (rc < 0)
		return rc;
	if (!packed(text, len)) {
		*ret_text = text;
		*ret_len = len;
		return 0;
	}
	rc = artifact_inflate_all(text, len, max, &bytes, ret_len, err);
	free(text);
	if (rc < 0)
		return kg_err_wrap(err, rc, "'%s'", path);
	*ret_text = cli_grow(bytes, *ret_len + 1, 1);
	(*ret_text)[*ret_len] = '\0';
	return 0;
}

/* ---- kgrid lsm resolve ---- */

static void print_list(struct cli *cli, const Kgrid__V1__LsmResolveReply *r)
{
	struct kg_str s = {0}, title = {0};

	if (cli->json) {
		cli_print_json(cli, &r->base);
		return;
	}
	kg_str_addf(&title, "kernel: %s", cli_text(r->release));
	lsm_render(r, kg_str_text(&title), cli->width, cli->color, &s);
	cli_print(cli, &s);
	kg_str_deinit(&title);
	kg_str_deinit(&s);
}

static int resolve_stored(struct cli *cli, const struct cli_args *args)
{
	Kgrid__V1__LsmResolveRequest q = KGRID__V1__LSM_RESOLVE_REQUEST__INIT;
	const char *cmdline = cli_args_text(args, "cmdline");
	struct kg_msg *m;
	int rc = CLI_EXIT_OK;

	q.kernel = (char *)(uintptr_t)cli_args_text(args, "kernel");
	q.cmdline = (char *)(uintptr_t)(cmdline ? cmdline : "");
	q.profile = (char *)(uintptr_t)cli_args_text(args, "profile");
	if (!kg_utf8_valid(q.cmdline, strlen(q.cmdline))) {
		cli_say(cli, "the text of '--cmdline' is not in UTF-8");
		return CLI_EXIT_USAGE;
	}
	m = cli_ask(cli, KG_MSG_LSM_RESOLVE, &q.base, KG_MSG_LSM_RESOLVE_REPLY, CLIENT_ANSWER_MS,
		    &rc);
	if (!m)
		return rc;
	print_list(cli, (const Kgrid__V1__LsmResolveReply *)kg_msg_body(m));
	kg_msg_free(m);
	return rc;
}

/* "6.12" of "6.12.117+deb12", for a look at both. */
static size_t series_len(const char *release)
{
	size_t major = strcspn(release, ".");

	return release[major] ? major + 1 + strspn(release + major + 1, "0123456789") : major;
}

static int read_config(const char *path, const char *release, struct kconfig_facts *ret,
		       char heading[128], struct kg_err *err)
{
	struct kg_err why = {{0}};
	const char *begin;
	char *text;
	size_t len;
	int rc = read_file(path, CONFIG_BYTES_MAX, &text, &len, err);

	if (rc < 0)
		return rc;
	begin = text + (strncmp(text, "\xef\xbb\xbf", 3) == 0 ? 3 : 0);
	heading[0] = '\0';
	rc = kconfig_read(begin, NULL, ret, &why);
	if (rc == 0) {
		(void)snprintf(heading, 128, "%s", ret->lsm.release);
		rc = kconfig_read(begin, release ? release : heading, ret, &why);
	}
	free(text);
	return rc < 0 ? kg_err_set(err, rc, "cannot use '%s': %s", path, why.text) : 0;
}

/* A config that belongs to another kernel is no error: people try what would be. */
static void say_other(struct cli *cli, const char *heading, const char *release)
{
	size_t len = series_len(heading);

	if (heading[0] && release &&
	    (len != series_len(release) || strncmp(heading, release, len) != 0))
		cli_say(cli, "the config is one of %s, not of %s", heading, release);
}

static int resolve_own(struct cli *cli, const struct cli_args *args)
{
	const char *release = cli_args_text(args, "release");
	const char *path = cli_args_text(args, "config");
	const char *profile = cli_args_text(args, "profile");
	const char *cmdline = cli_args_text(args, "cmdline");
	Kgrid__V1__LsmResolveReply reply;
	struct kconfig_facts facts;
	struct kg_err err = {{0}};
	struct lsm_list list;
	char heading[128];
	int rc = read_config(path, release, &facts, heading, &err);

	if (rc == 0 && !facts.lsm.release[0])
		rc = kg_err_set(&err, KG_EINVALID,
				"'%s' does not say which version it is of: give --release", path);
	if (rc == 0) {
		say_other(cli, heading, release);
		if (profile)
			(void)lsm_parse_profile(profile, &facts.lsm.profile);
		rc = lsm_resolve(&facts.lsm, cmdline ? cmdline : "", &list, &err);
	}
	if (rc < 0) {
		cli_say(cli, "%s", err.text);
		return CLI_EXIT_USAGE;
	}
	lsm_reply_of(facts.lsm.release, &list, &reply);
	print_list(cli, &reply);
	lsm_reply_release(&reply);
	lsm_list_deinit(&list);
	return CLI_EXIT_OK;
}

int cmd_lsm_resolve(struct cli *cli, const struct cli_args *args)
{
	bool own = cli_args_has(args, "release") || cli_args_has(args, "config");
	const char *cmdline = cli_args_text(args, "cmdline");

	if (cmdline && strlen(cmdline) > LSM_CMDLINE_MAX) {
		cli_say(cli, "the command line has %zu characters: no kernel reads more than %d",
			strlen(cmdline), LSM_CMDLINE_MAX);
		return CLI_EXIT_USAGE;
	}
	if (cli_args_has(args, "kernel") && own) {
		cli_say(cli, "--kernel names a stored kernel, whose release and config are known: "
			     "give either that, or --release and --config");
		return CLI_EXIT_USAGE;
	}
	if (own && !cli_args_has(args, "config")) {
		cli_say(cli,
			"--release needs --config FILE: what is built in and CONFIG_LSM are in "
			"the kernel's config");
		return CLI_EXIT_USAGE;
	}
	if (!own && !cli_args_has(args, "kernel")) {
		cli_say(cli,
			"'lsm resolve' needs --kernel KERNEL, or --release RELEASE and --config "
			"FILE");
		return CLI_EXIT_USAGE;
	}
	return own ? resolve_own(cli, args) : resolve_stored(cli, args);
}

/* ---- kgrid lsm parse ---- */

static void print_log_json(struct cli *cli, const Kgrid__V1__LsmResolveReply *r,
			   const struct lsm_log *log)
{
	struct kg_str s = {0};
	json_t *root = json_of_message(&r->base);
	char *text;

	json_object_set_new(root, "cmdline",
			    log->cmdline ? json_of_text(log->cmdline) : json_null());
	json_object_set_new(root, "boots", json_integer(log->boots));
	json_object_set_new(root, "complete", json_boolean(log->complete));
	text = json_dumps(root, JSON_INDENT(2));
	if (!text) /* the command may abort when memory ends */
		abort();
	kg_str_addf(&s, "%s\n", text);
	cli_print(cli, &s);
	kg_str_deinit(&s);
	free(text);
	json_decref(root);
}

static void print_log(struct cli *cli, const struct lsm_log *log)
{
	Kgrid__V1__LsmResolveReply reply;
	struct kg_str s = {0}, title = {0};

	lsm_reply_of(log->release, &log->list, &reply);
	if (cli->json) {
		print_log_json(cli, &reply, log);
	} else {
		kg_str_addf(&title, "kernel: %s%s", log->release ? log->release : "not known",
			    log->complete ? "" : " (the list may not be complete)");
		lsm_render(&reply, kg_str_text(&title), cli->width, cli->color, &s);
		cli_print(cli, &s);
	}
	kg_str_deinit(&title);
	kg_str_deinit(&s);
	lsm_reply_release(&reply);
}

int cmd_lsm_parse(struct cli *cli, const struct cli_args *args)
{
	const char *path = args->n_operands ? cli_args_operand(args, 0) : "-";
	struct kg_err err = {{0}};
	struct lsm_log log;
	char *text;
	size_t len;
	int rc;

	if (args->n_operands == 0 && isatty(STDIN_FILENO)) {
		cli_say(cli, "which log? give a FILE, or 'dmesg | kgrid lsm parse'");
		return CLI_EXIT_USAGE;
	}
	if (read_file(path, LOG_BYTES_MAX, &text, &len, &err) < 0) {
		cli_say(cli, "%s", err.text);
		return CLI_EXIT_USAGE;
	}
	rc = lsm_dmesg_parse(text, len, &log, &err);
	free(text);
	if (rc < 0) {
		cli_say(cli, "%s", err.text);
		return rc == KG_ENODATA ? CLI_EXIT_NODATA : CLI_EXIT_LOCAL;
	}
	print_log(cli, &log);
	lsm_log_deinit(&log);
	return CLI_EXIT_OK;
}
