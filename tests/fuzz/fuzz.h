/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef KG_TESTS_FUZZ_H
#define KG_TESTS_FUZZ_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* As assert, in every build, and with an abort that the fuzzer sees. */
#define must(condition)                                                                       \
	do {                                                                                  \
		if (!(condition)) {                                                           \
			(void)fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition); \
			abort();                                                              \
		}                                                                             \
	} while (0)

#endif
