/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the programs of workloads say of themselves, remembered over boots: some take a second. */
#include <stdlib.h>
#include <string.h>

#include "agent/command.h"
#include "agent/workload_registry.h"
#include "common/clock.h"
#include "common/file.h"
#include "common/str.h"

#define NOTES_MAX   (256 * 1024)
#define OUTPUT_MAX  65536
#define VERSION_MAX 200
#define TIMEOUT_NS  (10 * KG_NSEC_PER_SEC)

/* The first line that is not empty, owned; NULL when there is none that can be shown. */
static char *first_line(const char *text)
{
	size_t len;

	text += strspn(text, " \t\r\n");
	len = strcspn(text, "\r\n");
	while (len > 0 && (text[len - 1] == ' ' || text[len - 1] == '\t'))
		len--;
	if (len == 0 || len > VERSION_MAX || !kg_utf8_valid(text, len))
		return NULL;
	return strndup(text, len);
}

static char *ask(const struct workload_entry *e, const char *path)
{
	const struct kg_texts *c = &e->version_command;
	const char **argv = calloc(c->n + 1, sizeof(*argv));
	char *program = workload_find_program(c->items[0], path), *text, *line = NULL;
	size_t len, i;

	if (argv && program) {
		argv[0] = program;
		for (i = 1; i < c->n; i++)
			argv[i] = c->items[i];
		if (command_output(argv, OUTPUT_MAX, TIMEOUT_NS, &text, &len) == 0) {
			line = first_line(text);
			free(text);
		}
	}
	free(program);
	free(argv);
	return line;
}

/* "DIGEST version" lines. */
static char *noted(const char *notes, const char *digest)
{
	const char *line;

	for (line = notes; line && *line; line = strchr(line, '\n')) {
		line += *line == '\n';
		if (strncmp(line, digest, KG_SHA256_HEX_LEN) == 0 && line[KG_SHA256_HEX_LEN] == ' ')
			return first_line(line + KG_SHA256_HEX_LEN + 1);
	}
	return NULL;
}

void workload_versions_read(struct workload_registry *r, const char *path, const char *notes)
{
	struct kg_str out = {0};
	char *old = NULL;
	bool changed = false;
	size_t len, i;

	if (kg_file_read(notes, NOTES_MAX, &old, &len, NULL) < 0)
		old = NULL;
	for (i = 0; i < r->n; i++) {
		struct workload_entry *e = &r->items[i];

		if (e->missing || !e->digest[0] || !e->version_command.n)
			continue;
		e->version = old ? noted(old, e->digest) : NULL;
		if (!e->version) {
			e->version = ask(e, path);
			changed = changed || e->version;
		}
		if (e->version)
			kg_str_addf(&out, "%s %s\n", e->digest, e->version);
	}
	if (changed && !out.failed) /* lost notes cost one more question */
		(void)kg_file_replace(notes, out.text, out.len, 0600, NULL);
	kg_str_deinit(&out);
	free(old);
}
