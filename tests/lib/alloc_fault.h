/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Fails the n-th allocation that our own code makes. A test that uses it links alloc_fault.c with
 * the options of KGRID_ALLOC_FAULT_OPTIONS (tests/lib/alloc_fault.cmake).
 *
 *     for (n = 1; alloc_fault_arm(n), rc = thing_new(...), alloc_fault_disarm(); n++)
 *             assert_int_equal(rc, -ENOMEM);
 */
#ifndef KG_TESTS_ALLOC_FAULT_H
#define KG_TESTS_ALLOC_FAULT_H

#include <stdbool.h>

/* From now on the n-th allocation (from 1) returns NULL, once. */
void alloc_fault_arm(unsigned n);
/* Whether it came to that; allocations succeed again. */
bool alloc_fault_disarm(void);

#endif
