/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A console's bytes, split where the first byte says: the same findings as in one piece. */
#include <string.h>

#include "coordinator/console/classify.h"
#include "tests/fuzz/fuzz.h"

struct sum {
	uint64_t hash, n;
};

static void on_found(void *arg, enum console_kind kind, const char *line)
{
	struct sum *s = arg;

	must(strlen(line) < CONSOLE_LINE_BYTES);
	must(strcmp(console_kind_name(kind), "?") != 0);
	s->n++;
	s->hash = s->hash * 31 + (uint64_t)kind;
	for (; *line; line++) {
		must(*line >= 0x20 && *line < 0x7f);
		s->hash = s->hash * 31 + (uint64_t)*line;
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static char a[CONSOLE_LINES * CONSOLE_LINE_BYTES], b[CONSOLE_LINES * CONSOLE_LINE_BYTES];
	static struct console whole, split;
	struct sum x = {0}, y = {0};
	size_t piece = size ? 1 + data[0] % 61 : 1, at;

	console_init(&whole, on_found, &x);
	console_init(&split, on_found, &y);
	console_feed(&whole, data, size);
	for (at = 0; at < size; at += piece)
		console_feed(&split, data + at, piece < size - at ? piece : size - at);
	must(x.n == y.n && x.hash == y.hash);
	must(console_tail(&whole, a, sizeof(a)) == console_tail(&split, b, sizeof(b)));
	must(strcmp(a, b) == 0);
	must(console_tail(&whole, a, 1 + size % 300) <= size % 300);
	return 0;
}
