/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Runs a fuzz target once over files and the files of directories. */
#include <dirent.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>

#include "common/file.h"
#include "tests/fuzz/fuzz.h"

static int run_file(const char *path)
{
	struct kg_err err;
	uint8_t *exact;
	char *text;
	size_t len;

	if (kg_file_read(path, 16 * 1024 * 1024, &text, &len, &err) < 0) {
		(void)fprintf(stderr, "%s\n", err.text);
		return -1;
	}
	exact = malloc(len ? len : 1); /* no NUL behind it: a sanitizer sees a read too far */
	must(exact);
	memcpy(exact, text, len);
	free(text);
	(void)LLVMFuzzerTestOneInput(exact, len);
	free(exact);
	return 1;
}

/* How many files were run; negative: an error was printed. */
static int run_path(const char *path)
{
	struct dirent *entry;
	struct stat st;
	char file[4096];
	int n = 0, rc;
	DIR *dir;

	if (stat(path, &st) == 0 && !S_ISDIR(st.st_mode))
		return run_file(path);
	dir = opendir(path);
	if (!dir) {
		perror(path);
		return -1;
	}
	while ((entry = readdir(dir)) != NULL) {
		if (entry->d_name[0] == '.')
			continue;
		must(snprintf(file, sizeof(file), "%s/%s", path, entry->d_name) <
		     (int)sizeof(file));
		rc = run_file(file);
		n = rc < 0 || n < 0 ? -1 : n + 1;
	}
	closedir(dir);
	return n;
}

int main(int argc, char **argv)
{
	int i, n, total = 0;

	for (i = 1; i < argc; i++) {
		n = run_path(argv[i]);
		if (n < 0)
			return 1;
		total += n;
	}
	if (total == 0) {
		(void)fprintf(stderr, "no input: an empty corpus tests nothing\n");
		return 1;
	}
	printf("%d inputs\n", total);
	return 0;
}
