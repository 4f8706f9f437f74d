/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The script. Names of its functions and variables are fixed; every value is quoted. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "coordinator/plan/job.h"
#include "coordinator/report/reproduce_internal.h"

#define DEFAULT_PORT "12865"
#define DEFAULT_HOST "127.0.0.1"
/* Stand for the port and the host while templates are filled in. */
#define PORT_MARK "\001port\001"
#define HOST_MARK "\001host\001"
#define NS_PER_S  1000000000ULL

struct recipe {
	const struct reproduce_input *in;
	struct kg_str s;
	struct kg_params params;
	struct kg_params settings;
	struct kg_texts argv;	 /* as it ran; n 0: never */
	struct kg_texts command; /* of the declaration, with marks; n 0: none */
	struct kg_texts helper;	 /* with marks */
	char *port, *host;	 /* owned */
	bool known;		 /* the declaration makes what ran */
};

static void recipe_deinit(struct recipe *r)
{
	kg_str_deinit(&r->s);
	kg_params_deinit(&r->params);
	kg_params_deinit(&r->settings);
	kg_texts_deinit(&r->argv);
	kg_texts_deinit(&r->command);
	kg_texts_deinit(&r->helper);
	free(r->port);
	free(r->host);
}

static bool is_pair(const struct recipe *r)
{
	return reproduce_text(r->in->peer)[0] != '\0';
}

/* ---- port and host out of what ran ---- */

/* `mark` begins with one, `seen` with what stands in its place: keeps that. -ENOMEM */
static int keep_place(const char *mark, const char *seen, char **port, char **host, bool *ret_same)
{
	const char *rest = mark + strlen(PORT_MARK); /* both marks are as long */
	char **into = kg_str_starts(mark, PORT_MARK) ? port : host;
	size_t tail = strlen(rest), n = strlen(seen);

	/* a second mark in one argument: not told apart */
	if (strchr(rest, '\001') || n <= tail || strcmp(seen + n - tail, rest) != 0)
		return 0;
	free(*into);
	*into = strndup(seen, n - tail);
	*ret_same = *into != NULL;
	return *into ? 0 : -ENOMEM;
}

/* Whether a filled-in argument comes of the one with marks. */
static int match_argument(const char *mark, const char *seen, char **port, char **host,
			  bool *ret_same)
{
	*ret_same = false;
	for (; *mark && *mark != '\001'; mark++, seen++) {
		if (*mark != *seen)
			return 0;
	}
	if (*mark)
		return keep_place(mark, seen, port, host, ret_same);
	*ret_same = *seen == '\0';
	return 0;
}

static int match_argv(struct recipe *r)
{
	bool same = r->argv.n == r->command.n && r->argv.n > 0;
	char *port = NULL, *host = NULL;
	int rc = 0;

	for (size_t i = 0; rc == 0 && same && i < r->argv.n; i++)
		rc = match_argument(r->command.items[i], r->argv.items[i], &port, &host, &same);
	r->known = rc == 0 && same;
	if (r->known && port) {
		free(r->port);
		r->port = port;
		port = NULL;
	}
	if (r->known && host) {
		free(r->host);
		r->host = host;
		host = NULL;
	}
	free(port);
	free(host);
	return rc;
}

/* ---- reading the input ---- */

static int read_templates(struct recipe *r, struct kg_err *err)
{
	struct kg_param_value extra[] = {{(char *)(uintptr_t) "port", (char *)(uintptr_t)PORT_MARK},
					 {(char *)(uintptr_t) "host",
					  (char *)(uintptr_t)HOST_MARK}};
	const struct kg_workload *d = r->in->decl;
	struct kg_err ignored = {""};
	int rc;

	if (!d)
		return 0;
	/* Parameters that the declaration of today no longer has make no command. */
	rc = kg_workload_argv(d, &r->params, extra, 2, &r->command, &ignored);
	if (rc == 0 && d->helper.n)
		rc = kg_workload_helper_argv(d, &r->params, extra, 2, &r->helper, &ignored);
	if (rc == 0)
		rc = match_argv(r);
	return rc == -ENOMEM ? kg_err_set(err, rc, "out of memory") : 0;
}

static int read_input(struct recipe *r, struct kg_err *err)
{
	const struct reproduce_input *in = r->in;
	int rc = reproduce_params(reproduce_text(in->params), &r->params, err);

	if (rc == 0)
		rc = reproduce_settings(reproduce_text(in->settings), &r->settings, err);
	if (rc == 0 && in->argv && in->argv[0])
		rc = reproduce_argv(in->argv, &r->argv, err);
	r->port = strdup(DEFAULT_PORT);
	r->host = strdup(is_pair(r) ? in->peer : DEFAULT_HOST);
	if (rc == 0 && (!r->port || !r->host))
		rc = kg_err_set(err, -ENOMEM, "out of memory");
	return rc == 0 ? read_templates(r, err) : rc;
}

/* ---- words ---- */

/* One argument; marks become the script's variables. */
static void add_word(struct kg_str *s, const char *text)
{
	const char *mark;

	while ((mark = strchr(text, '\001'))) {
		bool port = kg_str_starts(mark, PORT_MARK);
		char *before = strndup(text, (size_t)(mark - text));

		if (!port && !kg_str_starts(mark, HOST_MARK)) {
			free(before);
			break;
		}
		if (!before)
			s->failed = true;
		else if (before[0])
			reproduce_shell(s, before);
		free(before);
		kg_str_add(s, port ? "\"$port\"" : "\"$host\"");
		text = mark + strlen(PORT_MARK);
		if (!*text)
			return;
	}
	reproduce_shell(s, text);
}

/* `marks`: of a template; else they are only what stands there. */
static void add_words(struct kg_str *s, const struct kg_texts *t, bool marks)
{
	for (size_t i = 0; i < t->n; i++) {
		kg_str_add(s, " ");
		if (marks)
			add_word(s, t->items[i]);
		else
			reproduce_shell(s, t->items[i]);
	}
}

static void add_assignment(struct kg_str *s, const char *name, const char *value)
{
	kg_str_addf(s, "%s=", name);
	if (value[0])
		reproduce_shell(s, value);
	else
		kg_str_add(s, "''");
	kg_str_add(s, "\n");
}

static void add_comment(struct kg_str *s, const char *before, const char *text, const char *after)
{
	kg_str_add(s, before);
	reproduce_comment(s, reproduce_text(text));
	kg_str_add(s, after);
}

/* ---- the script ---- */

static void add_cell_line(struct recipe *r)
{
	const struct reproduce_input *in = r->in;
	struct kg_str *s = &r->s;

	kg_str_addf(s, "# cell %" PRIu64 "/%" PRIu32 " without kgrid: ", in->job, in->number);
	add_comment(s, "", in->workload, " ");
	add_comment(s, "", in->params, "\n");
	add_comment(s, "# on machine ", in->machine, "");
	add_comment(s, ", kernel ", in->kernel_label, "");
	add_comment(s, " (", in->kernel_release, "; kgrid digest ");
	add_comment(s, "", in->kernel_digest, ")");
	add_comment(s, ", lsm ", in->lsm_label, " (");
	add_comment(s, "", reproduce_text(in->lsm_request)[0] ? in->lsm_request : "the empty list",
		    ")\n");
}

static void add_use(struct recipe *r)
{
	struct kg_str *s = &r->s;

	kg_str_add(s,
		   "#\n# As root:\n"
		   "#   sh THIS boot    loads the kernel and enters it; or choose it in the boot\n"
		   "#                   loader, with the same command line\n");
	if (is_pair(r)) {
		add_comment(s, "#   sh THIS serve   on machine ", r->in->peer,
			    ", booted in the same way: the server\n");
		kg_str_add(s,
			   "#   sh THIS run     then here: checks, settings, and the iterations\n");
	} else {
		kg_str_add(s, "#   sh THIS run     after the boot: checks, settings, and the "
			      "iterations\n");
	}
	kg_str_addf(s,
		    "#\n# What counts is the median over boots of each boot's median: kgrid made "
		    "%" PRIu32 " boot%s of it.\n# Iterations of one boot are one observation.\n",
		    r->in->blocks_done, r->in->blocks_done == 1 ? "" : "s");
}

static void add_boot(struct recipe *r)
{
	struct kg_str *s = &r->s;

	kg_str_add(s,
		   "\n# shellcheck disable=SC1003,SC2016 # values stand as they are\nset -eu\n\n");
	add_assignment(s, "release", reproduce_text(r->in->kernel_release));
	kg_str_add(s,
		   "# the machine's part of the command line; one that boots from its disk needs\n"
		   "# root= in it\n");
	if (is_pair(r))
		add_comment(s, "# on machine ", r->in->peer, ": that machine's own\n");
	add_assignment(s, "base", reproduce_text(r->in->base_cmdline));
	add_assignment(s, "words", reproduce_text(r->in->cmdline));
	kg_str_add(s, "# what /sys/kernel/security/lsm must say then\n");
	add_assignment(s, "lsm", reproduce_text(r->in->lsm_effective));
	kg_str_add(s, "\n"
		      "fail() {\n"
		      "\tprintf '%s\\n' \"$1\" >&2\n"
		      "\texit 1\n"
		      "}\n"
		      "\n"
		      "boot() {\n"
		      "\tset -- --command-line=\"${base:+$base }$words\"\n"
		      "\tfor initrd in \"/boot/initrd.img-$release\" "
		      "\"/boot/initramfs-$release.img\" \"/boot/initrd-$release\"; do\n"
		      "\t\tif [ -e \"$initrd\" ]; then\n"
		      "\t\t\tset -- \"$@\" --initrd=\"$initrd\"\n"
		      "\t\t\tbreak\n"
		      "\t\tfi\n"
		      "\tdone\n"
		      "\tkexec -l \"/boot/vmlinuz-$release\" \"$@\"\n"
		      "\tsystemctl kexec || kexec -e\n"
		      "}\n");
}

/* Boot loaders put words of their own around these. */
static void add_line_check(struct kg_str *s, const char *variable)
{
	kg_str_addf(s,
		    "\tcase \" $seen \" in\n"
		    "\t*\" $%s \"*) ;;\n"
		    "\t*) fail \"/proc/cmdline is $seen, without $%s\" ;;\n"
		    "\tesac\n",
		    variable, variable);
}

static void add_check(struct recipe *r)
{
	kg_str_add(&r->s,
		   "\n"
		   "check() {\n"
		   "\tseen=$(uname -r)\n"
		   "\t[ \"$seen\" = \"$release\" ] || fail \"kernel $seen runs, not $release\"\n"
		   "\t[ -e /sys/kernel/security/lsm ] ||\n"
		   "\t\tmount -t securityfs securityfs /sys/kernel/security\n"
		   "\tseen=$(cat /sys/kernel/security/lsm)\n"
		   "\t[ \"$seen\" = \"$lsm\" ] || fail \"lsm list is $seen, not $lsm\"\n"
		   "\tseen=$(cat /proc/cmdline)\n");
	if (reproduce_text(r->in->cmdline)[0])
		add_line_check(&r->s, "words");
	if (reproduce_text(r->in->base_cmdline)[0])
		add_line_check(&r->s, "base");
	kg_str_add(&r->s, "}\n");
}

/* ---- settings ---- */

struct knob {
	const char *name;
	const char *files; /* a pattern of the shell, without blanks */
	bool each;	   /* several */
};

static const struct knob knobs[] = {
	{"governor", "/sys/devices/system/cpu/cpu[0-9]*/cpufreq/scaling_governor", true},
	{"epp", "/sys/devices/system/cpu/cpu[0-9]*/cpufreq/energy_performance_preference", true},
	{"thp", "/sys/kernel/mm/transparent_hugepage/enabled", false},
	{"thp-defrag", "/sys/kernel/mm/transparent_hugepage/defrag", false},
	{"smt", "/sys/devices/system/cpu/smt/control", false},
};

/* intel_pstate's file says the opposite of the others'. */
static void add_turbo(struct kg_str *s, const char *value)
{
	bool on = strcmp(value, "on") == 0;

	kg_str_addf(s,
		    "\tif [ -e /sys/devices/system/cpu/intel_pstate/no_turbo ]; then\n"
		    "\t\techo %d >/sys/devices/system/cpu/intel_pstate/no_turbo\n"
		    "\telse\n"
		    "\t\techo %d >/sys/devices/system/cpu/cpufreq/boost\n"
		    "\tfi\n",
		    !on, on);
}

static void add_knob(struct kg_str *s, const struct knob *k, const char *value)
{
	if (k->each)
		kg_str_addf(s, "\tfor file in %s; do\n\t", k->files);
	kg_str_add(s, "\tprintf '%s\\n' ");
	reproduce_shell(s, value);
	if (k->each)
		kg_str_add(s, " >\"$file\"\n\tdone\n");
	else
		kg_str_addf(s, " >%s\n", k->files);
}

static void add_sysctl(struct kg_str *s, const struct kg_param_value *v)
{
	struct kg_str pair = {0};

	kg_str_addf(&pair, "%s=%s", v->name + strlen("sysctl."), v->value);
	kg_str_add(s, "\tsysctl -w -- ");
	reproduce_shell(s, kg_str_text(&pair));
	kg_str_add(s, "\n");
	s->failed |= pair.failed;
	kg_str_deinit(&pair);
}

static void add_setting(struct kg_str *s, const struct kg_param_value *v)
{
	for (size_t i = 0; i < sizeof(knobs) / sizeof(knobs[0]); i++) {
		if (strcmp(v->name, knobs[i].name) == 0) {
			add_knob(s, &knobs[i], v->value);
			return;
		}
	}
	if (kg_str_starts(v->name, "sysctl.")) {
		add_sysctl(s, v);
	} else if (strcmp(v->name, "turbo") == 0) {
		add_turbo(s, v->value);
	} else {
		add_comment(s, "\t# by hand: ", v->name, "");
		add_comment(s, " = ", v->value, "\n");
	}
}

static void add_settings(struct recipe *r)
{
	kg_str_add(&r->s, "\nsettings() {\n\t: # the machine's own ones stay\n");
	for (size_t i = 0; i < r->settings.n; i++)
		add_setting(&r->s, &r->settings.items[i]);
	kg_str_add(&r->s, "}\n");
}

/* ---- the workload ---- */

static void add_environment(struct recipe *r)
{
	const struct kg_workload *d = r->in->decl;

	/* As the agent runs it. The search path is the reader's. */
	kg_str_add(&r->s, "env -i PATH=\"$PATH\" LC_ALL=C TZ=UTC HOME=/");
	if (d)
		add_words(&r->s, &d->environment, false);
}

static bool has_mark(const struct kg_texts *t, const char *mark)
{
	for (size_t i = 0; i < t->n; i++) {
		if (strstr(t->items[i], mark))
			return true;
	}
	return false;
}

/* What the script runs as one iteration; NULL: not known. */
static const struct kg_texts *the_command(const struct recipe *r)
{
	if (r->known || (r->argv.n == 0 && r->command.n))
		return &r->command;
	return r->argv.n ? &r->argv : NULL;
}

static void add_places(struct recipe *r)
{
	static const struct kg_texts none = {0};
	/* as it ran has no marks */
	const struct kg_texts *c = the_command(r) == &r->command ? &r->command : &none;

	if (has_mark(&r->helper, HOST_MARK) || has_mark(c, HOST_MARK)) {
		kg_str_add(&r->s, "\n# where the server listens");
		if (is_pair(r))
			add_comment(&r->s, ": an address of machine ", r->in->peer, "");
		kg_str_add(&r->s, "\n");
		add_assignment(&r->s, "host", r->host);
	}
	if (has_mark(&r->helper, PORT_MARK) || has_mark(c, PORT_MARK)) {
		kg_str_add(&r->s, "\n# the server's port\n");
		add_assignment(&r->s, "port", r->port);
	}
}

/* once: one iteration. */
static void add_once(struct recipe *r)
{
	struct kg_str *s = &r->s;

	kg_str_add(s, "\nonce() {\n");
	if (r->argv.n && r->command.n && !r->known)
		kg_str_add(s,
			   "\t# what ran then; the declaration of the workload is another today\n");
	if (the_command(r)) {
		kg_str_add(s, "\t(cd / && ");
		add_environment(r);
		add_words(s, the_command(r), the_command(r) == &r->command);
		kg_str_add(s, " </dev/null)\n");
	} else {
		kg_str_add(s, "\techo 'it never ran, and its declaration is not known: what the "
			      "workload runs has to be put here' >&2\n"
			      "\treturn 1\n");
	}
	kg_str_add(s, "}\n");
}

static void add_helper(struct recipe *r)
{
	struct kg_str *s = &r->s;

	if (r->helper.n == 0)
		return;
	kg_str_add(s, "\nserver() {\n\tcd / && exec ");
	add_environment(r);
	add_words(s, &r->helper, true);
	kg_str_add(s, " </dev/null\n}\n");
}

static void add_warm_up(struct recipe *r)
{
	const struct kg_workload *d = r->in->decl;
	struct kg_str *s = &r->s;

	if (d && d->warmup_runs)
		kg_str_addf(s,
			    "\ti=0\n"
			    "\twhile [ \"$i\" -lt %" PRIu32 " ]; do # warm-up, not counted\n"
			    "\t\tonce >/dev/null\n"
			    "\t\ti=$((i + 1))\n"
			    "\tdone\n",
			    d->warmup_runs);
	else if (d && d->warmup_ns)
		kg_str_addf(s,
			    "\tend=$(($(date +%%s) + %" PRIu64 "))\n"
			    "\twhile [ \"$(date +%%s)\" -lt \"$end\" ]; do # warm-up, not counted\n"
			    "\t\tonce >/dev/null\n"
			    "\tdone\n",
			    (uint64_t)((d->warmup_ns + NS_PER_S - 1) / NS_PER_S));
}

static void add_metric(struct recipe *r, const struct kg_metric_decl *m)
{
	static const char *const better[] = {"", ", higher is better", ", lower is better"};
	static const char *const where[] = {"after KEY=, where KEY is ",
					    "in place of {value} in the line ",
					    "in the group of the expression "};

	add_comment(&r->s, "\t# ", m->name, " (");
	add_comment(&r->s, "", m->unit, better[m->direction]);
	kg_str_addf(&r->s, "): the number %s", where[m->read_kind]);
	add_comment(&r->s, "", m->pattern, m->from_stderr ? ", on stderr\n" : "\n");
}

static void add_metrics(struct recipe *r)
{
	const struct kg_workload *d = r->in->decl;
	size_t n = 0;

	for (size_t i = 0; d && i < d->n_metrics; i++) {
		if (!kg_metric_applies(&d->metrics[i], &r->params))
			continue;
		if (n++ == 0)
			kg_str_add(&r->s, "\t# what to read in the output of an iteration:\n");
		add_metric(r, &d->metrics[i]);
	}
}

static void add_run(struct recipe *r)
{
	struct kg_str *s = &r->s;
	uint32_t n = r->in->iterations ? r->in->iterations : JOB_ITERATIONS;

	kg_str_add(s, "\nrun() {\n\tcheck\n\tsettings\n");
	if (r->helper.n && !is_pair(r))
		kg_str_add(s, "\tserver &\n"
			      "\thelper=$!\n"
			      "\ttrap 'kill \"$helper\" 2>/dev/null' EXIT\n"
			      "\ttrap 'exit 130' INT TERM # not every shell goes by EXIT then\n"
			      "\tsleep 1 # until it listens\n");
	add_warm_up(r);
	add_metrics(r);
	kg_str_addf(s,
		    "\ti=1\n"
		    "\twhile [ \"$i\" -le %" PRIu32 " ]; do\n"
		    "\t\techo \"iteration $i of %" PRIu32 "\"\n"
		    "\t\tonce\n"
		    "\t\ti=$((i + 1))\n"
		    "\tdone\n"
		    "}\n",
		    n, n);
}

static void add_end(struct recipe *r)
{
	bool serve = is_pair(r) && r->helper.n;

	kg_str_addf(&r->s,
		    "\ncase \"${1:-}\" in\n"
		    "boot) boot ;;\n"
		    "run) run ;;\n"
		    "%s"
		    "*) fail 'usage: sh THIS boot|run%s' ;;\n"
		    "esac\n",
		    serve ? "serve)\n\tcheck\n\tsettings\n\tserver\n\t;;\n" : "",
		    serve ? "|serve" : "");
}

int reproduce_recipe(const struct reproduce_input *in, char **ret_text, struct kg_err *err)
{
	struct recipe r = {.in = in};
	int rc = read_input(&r, err);

	if (rc == 0) {
		kg_str_add(&r.s, "#!/bin/sh\n");
		add_cell_line(&r);
		add_use(&r);
		add_boot(&r);
		add_check(&r);
		add_settings(&r);
		add_places(&r);
		add_helper(&r);
		add_once(&r);
		add_run(&r);
		add_end(&r);
		*ret_text = kg_str_take(&r.s);
		rc = *ret_text ? 0 : kg_err_set(err, -ENOMEM, "out of memory");
	}
	recipe_deinit(&r);
	return rc;
}
