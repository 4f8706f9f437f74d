/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdlib.h>
#include <string.h>

#include "cli/args.h"
#include "cli/cli.h"
#include "cli/commands.h"
#include "cli/manual.h"
#include "tests/lib/cmocka_all.h"

static char *generated(const char *what)
{
	struct kg_str s = {0};
	struct kg_err err;

	assert_int_equal(manual_generate(what, &s, &err), 0);
	return kg_str_take(&s);
}

static void no_full_stop(const char *text)
{
	assert_true(text[0] != '\0');
	assert_true(text[strlen(text) - 1] != '.');
}

static void test_every_command_is_whole(void **state)
{
	const struct cli_command *c;
	const struct cli_operand *o;

	(void)state;
	for (c = cli_commands; c->path; c++) {
		assert_non_null(c->run);
		no_full_stop(c->summary);
		assert_true(c->description[strlen(c->description) - 1] == '.');
		for (o = c->operands; o && o->name; o++)
			no_full_stop(o->help);
	}
}

static void test_commands_of_a_noun_stand_together(void **state)
{
	const struct cli_command *c, *d;

	(void)state;
	for (c = cli_commands; c->path; c++) {
		size_t len = strcspn(c->path, " ");
		bool left = false;

		for (d = c + 1; c->path[len] && d->path; d++) {
			bool same = strncmp(c->path, d->path, len + 1) == 0;

			assert_false(same && left);
			left = left || !same;
			assert_string_not_equal(c->path, d->path);
		}
	}
}

static void check_options(const struct cli_option *list, bool global)
{
	const struct cli_option *o, *other;

	for (o = list; o && o->name; o++) {
		no_full_stop(o->help);
		assert_int_equal(o->kind == CLI_FLAG, o->meta == NULL);
		assert_int_equal(o->kind == CLI_CHOICE, o->choices != NULL);
		for (other = o + 1; other->name; other++) {
			assert_string_not_equal(o->name, other->name);
			assert_true(!o->letter || o->letter != other->letter);
		}
		for (other = cli_global_options; !global && other->name; other++) {
			assert_string_not_equal(o->name, other->name);
			assert_true(!o->letter || o->letter != other->letter);
		}
	}
}

static void test_options_have_a_name_each(void **state)
{
	const struct cli_command *c;

	(void)state;
	check_options(cli_global_options, true);
	for (c = cli_commands; c->path; c++)
		check_options(c->options, false);
}

static void test_every_command_has_help_that_names_its_options(void **state)
{
	const struct cli_command *c;
	const struct cli_option *o;
	char word[64];

	(void)state;
	for (c = cli_commands; c->path; c++) {
		struct kg_str s = {0};

		manual_command(c, 80, &s);
		assert_contains(kg_str_text(&s), "usage: kgrid ");
		assert_contains(kg_str_text(&s), c->summary);
		for (o = c->options; o && o->name; o++) {
			(void)snprintf(word, sizeof(word), "--%s", o->name);
			assert_contains(kg_str_text(&s), word);
		}
		kg_str_deinit(&s);
	}
}

static void test_help_fits_into_80_columns(void **state)
{
	const struct cli_command *c;
	struct kg_str s = {0};
	const char *p;

	(void)state;
	manual_overview(80, &s);
	for (c = cli_commands; c->path; c++)
		if (!c->examples) /* which are not broken */
			manual_command(c, 80, &s);
	for (p = kg_str_text(&s); *p; p += p[strcspn(p, "\n")] == '\n' ? strcspn(p, "\n") + 1 : 0)
		assert_true(strcspn(p, "\n") <= 80);
	kg_str_deinit(&s);
}

/* Text of the man page with its escapes undone. */
static char *plain(const char *roff)
{
	char *text = malloc(strlen(roff) + 1), *out = text;

	assert_non_null(text);
	while (*roff) {
		if (roff[0] == '\\' && roff[1] == '-') {
			*out++ = '-';
			roff += 2;
		} else if (roff[0] == '\\' && roff[1] == 'f') {
			roff += 3;
		} else {
			*out++ = *roff++;
		}
	}
	*out = '\0';
	return text;
}

/* Whoever copies a command out of the manual copies one line. */
static void test_examples_are_one_line_in_the_manual(void **state)
{
	char *roff = generated("man");
	char *text = plain(roff);

	(void)state;
	assert_contains(text, "\nkgrid calibrate lab-amd --workload \\(aqnetperf: {test: "
			      "UDP_RR}\\(aq --every 7d\n.EE\n");
	free(text);
	free(roff);
}

static void mentions_options(const char *text, const struct cli_option *o)
{
	char word[64];

	for (; o && o->name; o++) {
		(void)snprintf(word, sizeof(word), "--%s", o->name);
		assert_contains(text, word);
		if (o->letter) {
			(void)snprintf(word, sizeof(word), "-%c, --%s", o->letter, o->name);
			assert_contains(text, word);
		}
	}
}

static void test_man_page_mentions_every_command_option_and_key(void **state)
{
	char *roff = generated("man"), *text = plain(roff);
	const struct cli_command *c;
	unsigned i;
	char word[64];

	(void)state;
	mentions_options(text, cli_global_options);
	for (c = cli_commands; c->path; c++) {
		(void)snprintf(word, sizeof(word), ".SS %s\n", c->path);
		assert_contains(text, word);
		mentions_options(text, c->options);
		for (i = 0; c->json && i < c->json->n_fields; i++)
			assert_contains(text, c->json->fields[i].name);
	}
	assert_contains(text, "KGRID_COORDINATOR");
	assert_contains(text, "delta_lo_pct (number)");
	free(text);
	free(roff);
}

static void test_completions_have_every_command_and_option(void **state)
{
	static const char *const shells[] = {"bash", "zsh"};
	size_t i;

	(void)state;
	for (i = 0; i < 2; i++) {
		char *text = generated(shells[i]);
		const struct cli_command *c;
		const struct cli_option *o;
		char word[64];

		for (c = cli_commands; c->path; c++) {
			(void)snprintf(word, sizeof(word), "\"%s\") ", c->path);
			assert_contains(text, word);
			for (o = c->options; o && o->name; o++) {
				(void)snprintf(word, sizeof(word), " --%s", o->name);
				assert_contains(text, word);
			}
		}
		free(text);
	}
}

static void test_unknown_text_to_generate_is_refused(void **state)
{
	struct kg_str s = {0};
	struct kg_err err;

	(void)state;
	assert_int_equal(manual_generate("html", &s, &err), KG_EINVALID);
	assert_contains(err.text, "html");
	kg_str_deinit(&s);
}

/* Splits a line as a shell would, with quotes, up to what is no longer the command's. */
static int split(char *line, char **ret_argv, int most)
{
	char *p = line, *to = line;
	int n = 0;

	while (n < most) {
		char quote = '\0';

		while (*p == ' ')
			p++;
		if (!*p || strchr("|<>", *p))
			break;
		ret_argv[n++] = to;
		for (; *p && (quote || *p != ' '); p++) {
			if (quote ? *p == quote : *p == '\'' || *p == '"')
				quote = quote ? '\0' : *p;
			else
				*to++ = *p;
		}
		p += *p == ' ';
		*to++ = '\0';
	}
	return n;
}

static void test_examples_are_command_lines_of_their_command(void **state)
{
	const struct cli_command *c;
	const struct cli_example *e;

	(void)state;
	for (c = cli_commands; c->path; c++) {
		for (e = c->examples; e && e->line; e++) {
			char line[512], *argv[32];
			struct cli_args args;
			struct kg_err err = {{0}};
			int argc;

			assert_true(strlen(e->line) < sizeof(line));
			(void)strcpy(line, e->line);
			argc = split(line, argv, 32);
			assert_true(argc > 1);
			assert_string_equal(argv[0], "kgrid");
			if (cli_args_parse(argc, argv, &args, &err) < 0)
				fail_msg("%s: %s", e->line, err.text);
			assert_non_null(args.command);
			if (args.command == c)
				continue;
			/* a neighbour may be shown on the way */
			assert_true(e > c->examples || strcmp(c->path, "standing list") == 0);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_command_is_whole),
		cmocka_unit_test(test_commands_of_a_noun_stand_together),
		cmocka_unit_test(test_options_have_a_name_each),
		cmocka_unit_test(test_every_command_has_help_that_names_its_options),
		cmocka_unit_test(test_help_fits_into_80_columns),
		cmocka_unit_test(test_man_page_mentions_every_command_option_and_key),
		cmocka_unit_test(test_completions_have_every_command_and_option),
		cmocka_unit_test(test_examples_are_one_line_in_the_manual),
		cmocka_unit_test(test_unknown_text_to_generate_is_refused),
		cmocka_unit_test(test_examples_are_command_lines_of_their_command),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
