/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "agent/settings_undo.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/file.h"
#include "common/str.h"

#define NOTES_MAX (1 << 20) /* some 10,000 CPUs */

/* Owned; NULL: there are none of this boot of the host. */
static char *read_notes(const struct settings_undo *u)
{
	size_t id_len = strlen(u->host_boot_id), len;
	char *text;

	if (kg_file_read(u->path, NOTES_MAX, &text, &len, NULL) < 0)
		return NULL;
	if (kg_str_starts(text, u->host_boot_id) && text[id_len] == '\n')
		return text;
	free(text);
	return NULL;
}

static int write_to(const char *file, int flags, const char *text)
{
	int fd = open(file, O_WRONLY | O_CLOEXEC | flags, 0600);
	int rc;

	if (fd < 0)
		return -errno;
	rc = kg_write_all(fd, text, strlen(text));
	close(fd);
	return rc;
}

int settings_undo_note(const struct settings_undo *u, const char *file, const char *value)
{
	char *notes = read_notes(u);
	struct kg_str s = {0};
	int rc;

	if (!notes)
		kg_str_addf(&s, "%s\n", u->host_boot_id);
	kg_str_addf(&s, "%s %s\n", file, value);
	rc = s.failed ? -ENOMEM : write_to(u->path, O_CREAT | (notes ? O_APPEND : O_TRUNC), s.text);
	kg_str_deinit(&s);
	free(notes);
	return rc;
}

/* "PATH VALUE", cut in place. */
static bool write_back(char *line)
{
	char *space = strchr(line, ' ');

	if (!space)
		return false;
	*space = '\0';
	return write_to(line, 0, space + 1) == 0;
}

unsigned settings_undo_all(const struct settings_undo *u)
{
	char *notes = read_notes(u);
	unsigned failed = 0;
	char *end, *line;

	while (notes && (end = strrchr(notes, '\n'))) {
		*end = '\0';
		line = strrchr(notes, '\n');
		if (!line)
			break; /* the id */
		failed += !write_back(line + 1);
	}
	free(notes);
	(void)unlink(u->path);
	return failed;
}
