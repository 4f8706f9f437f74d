/* SPDX-License-Identifier: GPL-2.0-or-later */
/* cmocka wants these before itself. */
#ifndef KG_TESTS_CMOCKA_ALL_H
#define KG_TESTS_CMOCKA_ALL_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define assert_contains(text, part)                                             \
	do {                                                                    \
		if (!strstr((text), (part)))                                    \
			fail_msg("'%s' does not contain '%s'", (text), (part)); \
	} while (0)

#endif
