/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/args.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "common/str.h"

#define NAMES_MAX 64

/* Whether the words of `path` begin with the given ones. */
static bool path_begins(const char *path, const char *const *words, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++) {
		size_t len = strlen(words[i]);

		if (strncmp(path, words[i], len) != 0 || (path[len] != ' ' && path[len] != '\0'))
			return false;
		path += len;
		path += *path == ' ';
	}
	return true;
}

static bool path_is(const char *path, const char *const *words, size_t n)
{
	size_t len = 0, i;

	for (i = 0; i < n; i++)
		len += strlen(words[i]) + (i ? 1 : 0);
	return path_begins(path, words, n) && strlen(path) == len;
}

static int unknown_command(const char *const *words, size_t n, struct kg_err *err)
{
	const char *names[NAMES_MAX];
	const char *best, *what = words[n - 1];
	const struct cli_command *c;
	char word[NAMES_MAX][24];
	size_t count = 0;

	for (c = cli_commands; c->path && count < NAMES_MAX; c++) {
		const char *part = c->path;

		if (!path_begins(c->path, words, n - 1))
			continue;
		if (n > 1)
			part += strlen(words[0]) + 1;
		(void)snprintf(word[count], sizeof(word[0]), "%.*s", (int)strcspn(part, " "), part);
		names[count] = word[count];
		count++;
	}
	best = kg_suggest(what, names, count);
	if (best)
		return kg_err_set(err, KG_EINVALID, "no command '%s%s%s'; did you mean '%s'?",
				  n > 1 ? words[0] : "", n > 1 ? " " : "", what, best);
	return kg_err_set(err, KG_EINVALID, "no command '%s%s%s'; 'kgrid %s%s--help' lists them",
			  n > 1 ? words[0] : "", n > 1 ? " " : "", what, n > 1 ? words[0] : "",
			  n > 1 ? " " : "");
}

static int unknown_option(const struct cli_command *c, const char *name, struct kg_err *err)
{
	const char *names[NAMES_MAX];
	const struct cli_option *lists[2] = {cli_global_options, c ? c->options : NULL};
	char letters[2] = {name[0], '\0'};
	const char *best;
	size_t n = 0, i;

	for (i = 0; i < 2; i++) {
		const struct cli_option *o;

		for (o = lists[i]; o && o->name && n < NAMES_MAX; o++)
			names[n++] = o->name;
	}
	best = name[1] ? kg_suggest(name, names, n) : NULL;
	return kg_err_set(err, KG_EINVALID, "%s%s%s no option '%s%s'%s%s%s", c ? "'" : "",
			  c ? c->path : "kgrid", c ? "' has" : " has", name[1] ? "--" : "-",
			  name[1] ? name : letters, best ? "; did you mean '--" : "",
			  best ? best : "", best ? "'?" : "");
}

static const struct cli_option *find_in(const struct cli_option *list, const char *name,
					char letter)
{
	for (; list && list->name; list++)
		if (name ? strcmp(list->name, name) == 0 : list->letter == letter)
			return list;
	return NULL;
}

static const struct cli_option *find_option(const struct cli_command *c, const char *name,
					    char letter)
{
	const struct cli_option *o = find_in(cli_global_options, name, letter);

	return o || !c ? o : find_in(c->options, name, letter);
}

static int wrong_choice(const struct cli_option *o, const char *value, size_t n, struct kg_err *err)
{
	const char *best = kg_suggest(value, o->choices, n);
	struct kg_str all = {0};
	int rc;

	for (size_t i = 0; i < n && !best; i++)
		kg_str_addf(&all, "%s%s", i ? ", " : "", o->choices[i]);
	rc = best ? kg_err_set(err, KG_EINVALID, "'--%s' cannot be '%s'; did you mean '%s'?",
			       o->name, value, best)
		  : kg_err_set(err, KG_EINVALID, "'--%s' cannot be '%s'; it is one of %s", o->name,
			       value, kg_str_text(&all));
	kg_str_deinit(&all);
	return rc;
}

static int check_value(const struct cli_option *o, const char *value, struct kg_err *err)
{
	size_t n = 0;
	uint64_t v;

	if (o->kind == CLI_NUMBER && (kg_parse_u64(value, &v) < 0 || v == 0))
		return kg_err_set(err, KG_EINVALID, "'--%s' needs a whole number from 1, not '%s'",
				  o->name, value);
	if (o->kind != CLI_CHOICE) {
		if (!value[0] && o->kind != CLI_LINE)
			return kg_err_set(err, KG_EINVALID, "'--%s' needs a value", o->name);
		return 0;
	}
	for (n = 0; o->choices[n]; n++)
		if (strcmp(o->choices[n], value) == 0)
			return 0;
	return wrong_choice(o, value, n, err);
}

struct scan {
	int argc;
	char *const *argv;
	int i;
	bool ended; /* after "--" */
};

static int add_given(struct cli_args *a, const struct cli_option *o, const char *value,
		     struct kg_err *err)
{
	int rc = value ? check_value(o, value, err) : 0;

	if (rc < 0)
		return rc;
	if (a->n_given == CLI_OPTIONS_MAX)
		return kg_err_set(err, KG_EINVALID, "too many options");
	a->given[a->n_given++] = (struct cli_given){o, value};
	return 0;
}

/* "kgrid standing" alone is "kgrid standing list", where a noun has that verb. */
static void take_default_verb(struct cli_args *a)
{
	const char *words[2] = {a->prefix, "list"};
	const struct cli_command *c;

	if (a->command || !a->prefix)
		return;
	for (c = cli_commands; c->path; c++)
		if (path_is(c->path, words, 2))
			a->command = c;
	if (a->command)
		a->prefix = NULL;
}

/* Takes the option at s->i and its value. */
static int take_option(struct scan *s, struct cli_args *a, struct kg_err *err)
{
	const char *word = s->argv[s->i++];
	const struct cli_option *o;
	const char *value = NULL;
	char name[64];

	if (word[1] == '-') {
		size_t len = strcspn(word + 2, "=");

		(void)snprintf(name, sizeof(name), "%.*s", (int)(len < 63 ? len : 63), word + 2);
		if (!find_option(a->command, name, 0))
			take_default_verb(a);
		o = find_option(a->command, name, 0);
		value = word[2 + len] == '=' ? word + 3 + len : NULL;
		if (o && o->kind == CLI_FLAG && value)
			return kg_err_set(err, KG_EINVALID, "'--%s' takes no value", name);
	} else {
		(void)snprintf(name, sizeof(name), "%c", word[1]);
		if (!find_option(a->command, NULL, word[1]))
			take_default_verb(a);
		o = find_option(a->command, NULL, word[1]);
		value = word[2] ? word + 2 : NULL;
		if (o && o->kind == CLI_FLAG && value)
			return kg_err_set(err, KG_EINVALID, "'-%s' takes no value, not '%s'", name,
					  word);
	}
	if (!o)
		return unknown_option(a->command, name, err);
	if (o->kind != CLI_FLAG && !value) {
		if (s->i >= s->argc)
			return kg_err_set(err, KG_EINVALID, "'--%s' needs a value (%s)", o->name,
					  o->meta);
		value = s->argv[s->i++];
	}
	return add_given(a, o, value, err);
}

/* Puts a word to the command's name or its operands. */
static int take_word(struct cli_args *a, const char **words, size_t *n_words, const char *word,
		     struct kg_err *err)
{
	const struct cli_command *c;
	bool begins = false;

	if (a->command) {
		if (a->n_operands == CLI_OPERANDS_MAX)
			return kg_err_set(err, KG_EINVALID, "too many words after '%s'",
					  a->command->path);
		a->operands[a->n_operands++] = word;
		return 0;
	}
	words[(*n_words)++] = word;
	for (c = cli_commands; c->path; c++) {
		if (path_is(c->path, words, *n_words))
			a->command = c;
		begins = begins || path_begins(c->path, words, *n_words);
	}
	if (!a->command && begins)
		a->prefix = word;
	else if (!a->command)
		return unknown_command(words, *n_words, err);
	else
		a->prefix = NULL;
	return 0;
}

/* "12/3" */
static int parse_cell(const char *text, uint64_t *ret_job, uint64_t *ret_cell)
{
	const char *slash = strchr(text, '/');
	char job[32];

	if (!slash || slash - text >= (ptrdiff_t)sizeof(job))
		return KG_EINVALID;
	(void)snprintf(job, sizeof(job), "%.*s", (int)(slash - text), text);
	if (kg_parse_u64(job, ret_job) < 0 || *ret_job == 0 ||
	    kg_parse_u64(slash + 1, ret_cell) < 0 || *ret_cell == 0 || *ret_cell > UINT32_MAX)
		return KG_EINVALID;
	return 0;
}

static int check_operand(const struct cli_operand *o, const char *text, struct kg_err *err)
{
	uint64_t v, cell;

	switch (o->kind) {
	case CLI_JOB:
		if (kg_parse_u64(text, &v) < 0 || v == 0)
			return kg_err_set(err, KG_EINVALID, "not the number of a job: '%s'", text);
		return 0;
	case CLI_STANDING:
		if (kg_parse_u64(text, &v) < 0 || v == 0)
			return kg_err_set(err, KG_EINVALID,
					  "not the number of a standing job: '%s'", text);
		return 0;
	case CLI_CELL:
		if (parse_cell(text, &v, &cell) < 0)
			return kg_err_set(err, KG_EINVALID,
					  "not a cell: '%s'; it is JOB/CELL, such as 7/12", text);
		return 0;
	case CLI_SUBJECT:
		if (kg_str_starts(text, "job:") || kg_str_starts(text, "cell:") ||
		    kg_str_starts(text, "machine:"))
			return 0; /* said which; the coordinator looks at the rest */
		if (!text[0] || (strchr(text, '/') && parse_cell(text, &v, &cell) < 0))
			return kg_err_set(err, KG_EINVALID,
					  "not a job, a cell or a machine: '%s'; try 7, 7/12 or "
					  "the name of a machine",
					  text);
		return 0;
	default:
		return 0;
	}
}

static int check_operands(const struct cli_args *a, struct kg_err *err)
{
	const struct cli_operand *o = a->command->operands;
	size_t i = 0;
	int rc;

	for (; o && o->name; o++) {
		if (i >= a->n_operands && o->required)
			return kg_err_set(err, KG_EINVALID, "'%s' needs %s: %s", a->command->path,
					  o->name, o->help);
		for (; i < a->n_operands; i++) {
			rc = check_operand(o, a->operands[i], err);
			if (rc < 0)
				return rc;
			if (!o->repeated) {
				i++;
				break;
			}
		}
	}
	if (i < a->n_operands)
		return kg_err_set(err, KG_EINVALID, "'%s' does not take '%s'", a->command->path,
				  a->operands[i]);
	return 0;
}

static bool is_option(const struct scan *s)
{
	const char *word = s->argv[s->i];

	return !s->ended && word[0] == '-' && word[1];
}

int cli_args_parse(int argc, char *const *argv, struct cli_args *ret_args, struct kg_err *err)
{
	struct scan s = {argc, argv, 1, false};
	struct cli_args a = {0};
	const char *words[2];
	size_t n_words = 0;
	int rc;

	while (s.i < argc) {
		if (a.command && a.command->pass_through) {
			/* --help right after the name is ours, all else belongs to the program */
			if (strcmp(argv[s.i], "--help") == 0 || strcmp(argv[s.i], "-h") == 0)
				rc = take_option(&s, &a, err);
			else
				rc = 0;
			if (rc < 0)
				return rc;
			a.rest = argv + s.i;
			a.n_rest = (size_t)(argc - s.i);
			break;
		}
		if (!s.ended && strcmp(argv[s.i], "--") == 0) {
			s.ended = true;
			s.i++;
			continue;
		}
		rc = is_option(&s) ? take_option(&s, &a, err)
				   : take_word(&a, words, &n_words, argv[s.i++], err);
		if (rc < 0)
			return rc;
	}
	if (!cli_args_has(&a, "help") && !cli_args_has(&a, "version"))
		take_default_verb(&a);
	if (a.command && !a.command->pass_through && !cli_args_has(&a, "help") &&
	    !cli_args_has(&a, "version")) {
		rc = check_operands(&a, err);
		if (rc < 0)
			return rc;
	}
	*ret_args = a;
	return 0;
}

static const struct cli_given *find_given(const struct cli_args *a, const char *name)
{
	size_t i;

	assert(find_option(a->command, name, 0));
	for (i = a->n_given; i > 0; i--)
		if (strcmp(a->given[i - 1].option->name, name) == 0)
			return &a->given[i - 1];
	return NULL;
}

bool cli_args_has(const struct cli_args *a, const char *name)
{
	return find_given(a, name) != NULL;
}

const char *cli_args_text(const struct cli_args *a, const char *name)
{
	const struct cli_given *g = find_given(a, name);

	return g ? g->value : NULL;
}

const char *cli_args_each(const struct cli_args *a, const char *name, size_t i)
{
	size_t k;

	assert(find_option(a->command, name, 0));
	for (k = 0; k < a->n_given; k++)
		if (strcmp(a->given[k].option->name, name) == 0 && i-- == 0)
			return a->given[k].value;
	return NULL;
}

uint64_t cli_args_number(const struct cli_args *a, const char *name, uint64_t preset)
{
	const char *text = cli_args_text(a, name);
	uint64_t v = preset;

	if (text)
		(void)kg_parse_u64(text, &v);
	return v;
}

const char *cli_args_operand(const struct cli_args *a, size_t i)
{
	return i < a->n_operands ? a->operands[i] : NULL;
}

uint64_t cli_args_job(const struct cli_args *a)
{
	uint64_t v = 0;

	if (a->n_operands > 0)
		(void)kg_parse_u64(a->operands[0], &v);
	return v;
}

void cli_args_cell(const struct cli_args *a, uint64_t *ret_job, uint32_t *ret_cell)
{
	uint64_t job = 0, cell = 0;

	if (a->n_operands > 0)
		(void)parse_cell(a->operands[0], &job, &cell);
	*ret_job = job;
	*ret_cell = (uint32_t)cell;
}
