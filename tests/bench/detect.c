/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How well changes are told, on real runs and on simulated ones: false positives, power, coverage,
 * change points, beside the figures of other rules. Figures, no test: the exit code is 0 unless the
 * bench could not run. Draws differ from run to run; the seed is printed.
 */
#include <getopt.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/random.h>

#include "tests/bench/detect_changes.h"
#include "tests/bench/detect_coverage.h"
#include "tests/bench/detect_pairs.h"
#include "tests/bench/detect_table.h"

#define TEXTS 8

const char *detect_text(const char *format, ...)
{
	static char texts[TEXTS][160];
	static unsigned at;
	char *text = texts[at++ % TEXTS];
	va_list ap;

	va_start(ap, format);
	vsnprintf(text, sizeof(texts[0]), format, ap);
	va_end(ap);
	return text;
}

void detect_row(FILE *out, const char *what, const char *reference, const char *value,
		const char *goal, enum detect_reached reached)
{
	static const char *const words[] = {"", "yes", "no"};

	fprintf(out, "%-64s | %-20s | %-24s | %-25s | %s\n", what, reference, value, goal,
		words[reached]);
	fflush(out);
}

static int usage(void)
{
	fprintf(stderr, "usage: bench_detect [--thirdparty DIR] [--seed N] [--quick]\n");
	return 2;
}

static int run(const char *dir, uint64_t seed, bool quick)
{
	int rc;

	printf("seed %" PRIu64 "\n", seed);
	fprintf(stdout, "%-64s | %-20s | %-24s | %-25s | %s\n", "what", "reference", "kgrid",
		"goal", "reached");
	rc = detect_pairs(dir, seed, quick, stdout);
	if (rc == 0)
		rc = detect_coverage(seed, quick, stdout);
	if (rc == 0)
		rc = detect_changes(dir, seed, stdout);
	return rc;
}

int main(int argc, char **argv)
{
	static const struct option options[] = {
		{"thirdparty", required_argument, NULL, 't'},
		{"seed", required_argument, NULL, 's'},
		{"quick", no_argument, NULL, 'q'},
		{0},
	};
	const char *dir = KGRID_THIRDPARTY;
	uint64_t seed;
	bool quick = false;
	char *end;
	int c, rc;

	if (getrandom(&seed, sizeof(seed), 0) != (ssize_t)sizeof(seed))
		return 1;
	while ((c = getopt_long(argc, argv, "", options, NULL)) != -1) {
		if (c == 't') {
			dir = optarg;
		} else if (c == 's') {
			seed = strtoull(optarg, &end, 10);
			if (*optarg == '\0' || *end != '\0')
				return usage();
		} else if (c == 'q') {
			quick = true;
		} else {
			return usage();
		}
	}
	if (optind != argc)
		return usage();
	rc = run(dir, seed, quick);
	if (rc < 0)
		fprintf(stderr, "bench_detect: error %d\n", rc);
	return rc < 0 ? 1 : 0;
}
