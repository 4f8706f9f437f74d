/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "common/fault.h"

/* Without fault points this file is empty, which ISO C does not allow. */
typedef int kg_fault_unused;

#ifdef KGRID_FAULTS
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *const names[KG_FAULT_COUNT] = {
#define KG_FAULT_TEXT(name, text) [KG_FAULT_##name] = (text),
	KG_FAULT_POINTS(KG_FAULT_TEXT)
#undef KG_FAULT_TEXT
};

static pthread_once_t once = PTHREAD_ONCE_INIT;
static int wanted = -1;
static atomic_ulong left;

const char *kg_fault_name(enum kg_fault_point p)
{
	return names[p];
}

/* A name that is none would make a test that shows nothing. */
static void read_wish(void)
{
	const char *wish = getenv("KGRID_FAULT");
	size_t len = wish ? strcspn(wish, ":") : 0;
	char *end = (char *)(uintptr_t) "";
	unsigned long n = 1;
	int i;

	if (!wish || !*wish)
		return;
	for (i = 0; i < KG_FAULT_COUNT && wanted < 0; i++)
		if (strlen(names[i]) == len && strncmp(names[i], wish, len) == 0)
			wanted = i;
	if (wish[len] == ':')
		n = strtoul(wish + len + 1, &end, 10);
	if (wanted < 0 || n == 0 || *end) {
		(void)fprintf(stderr,
			      "KGRID_FAULT='%s': expected NAME or NAME:N, N from 1, with "
			      "one of",
			      wish);
		for (i = 0; i < KG_FAULT_COUNT; i++)
			(void)fprintf(stderr, " %s", names[i]);
		(void)fprintf(stderr, "\n");
		_exit(2);
	}
	atomic_store(&left, n);
}

void kg_fault(enum kg_fault_point p)
{
	(void)pthread_once(&once, read_wish);
	if ((int)p == wanted && atomic_fetch_sub(&left, 1) == 1)
		(void)kill(getpid(), SIGKILL);
}
#endif
