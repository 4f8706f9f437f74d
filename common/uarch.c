/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "common/uarch.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

struct range {
	unsigned family;
	unsigned first, last; /* models */
	const char *name;
	unsigned stepping_first, stepping_last; /* both 0: any */
};

static const struct range amd[] = {
	{0x17, 0x00, 0x2f, "Zen1/Zen+", 0, 0}, {0x17, 0x30, 0x4f, "Zen2", 0, 0},
	{0x17, 0x50, 0x5f, "Zen1/Zen+", 0, 0}, {0x17, 0x60, 0x7f, "Zen2", 0, 0},
	{0x17, 0x90, 0x91, "Zen2", 0, 0},      {0x17, 0xa0, 0xaf, "Zen2", 0, 0},
	{0x19, 0x00, 0x0f, "Zen3", 0, 0},      {0x19, 0x10, 0x1f, "Zen4", 0, 0},
	{0x19, 0x20, 0x5f, "Zen3", 0, 0},      {0x19, 0x60, 0xaf, "Zen4", 0, 0},
	{0x1a, 0x00, 0x2f, "Zen5", 0, 0},      {0x1a, 0x40, 0x4f, "Zen5", 0, 0},
	{0x1a, 0x50, 0x5f, "Zen6", 0, 0},      {0x1a, 0x60, 0x7f, "Zen5", 0, 0},
	{0x1a, 0x80, 0xaf, "Zen6", 0, 0},      {0x1a, 0xc0, 0xcf, "Zen6", 0, 0},
	{0x1a, 0xd0, 0xd7, "Zen5", 0, 0},      {0x1a, 0xd8, 0xef, "Zen6", 0, 0},
};

static const struct range hygon[] = {
	{0x18, 0x00, 0xff, "Dhyana", 0, 0},
};

static const struct range intel[] = {
	{6, 0x1e, 0x1f, "Nehalem", 0, 0},
	{6, 0x1a, 0x1a, "Nehalem-EP", 0, 0},
	{6, 0x2e, 0x2e, "Nehalem-EX", 0, 0},
	{6, 0x25, 0x25, "Westmere", 0, 0},
	{6, 0x2c, 0x2c, "Westmere-EP", 0, 0},
	{6, 0x2f, 0x2f, "Westmere-EX", 0, 0},
	{6, 0x2a, 0x2a, "Sandy Bridge", 0, 0},
	{6, 0x3a, 0x3a, "Ivy Bridge", 0, 0},
	{6, 0x3c, 0x3c, "Haswell", 0, 0},
	{6, 0x45, 0x46, "Haswell", 0, 0},
	{6, 0x3d, 0x3d, "Broadwell", 0, 0},
	{6, 0x47, 0x47, "Broadwell", 0, 0},
	{6, 0x2d, 0x2d, "Sandy Bridge-EP", 0, 0},
	{6, 0x3e, 0x3e, "Ivy Bridge-EP", 0, 0},
	{6, 0x3f, 0x3f, "Haswell-EP", 0, 0},
	{6, 0x4f, 0x4f, "Broadwell-EP", 0, 0},
	{6, 0x56, 0x56, "Broadwell-DE", 0, 0},
	{6, 0x55, 0x55, "Skylake-SP", 0x0, 0x4},
	{6, 0x55, 0x55, "Cascade Lake-SP", 0x5, 0x9},
	{6, 0x55, 0x55, "Cooper Lake", 0xa, 0xb},
	{6, 0x55, 0x55, "Cascade Lake-SP", 0xc, 0xf},
	{6, 0x6a, 0x6a, "Ice Lake-SP", 0, 0},
	{6, 0x6c, 0x6c, "Ice Lake-D", 0, 0},
	{6, 0x8f, 0x8f, "Sapphire Rapids", 0, 0},
	{6, 0xcf, 0xcf, "Emerald Rapids", 0, 0},
	{6, 0xad, 0xad, "Granite Rapids", 0, 0},
	{6, 0xae, 0xae, "Granite Rapids-D", 0, 0},
	{6, 0xaf, 0xaf, "Sierra Forest", 0, 0},
	{6, 0xb6, 0xb6, "Grand Ridge", 0, 0},
	{6, 0xdd, 0xdd, "Clearwater Forest", 0, 0},
	{19, 0x01, 0x01, "Diamond Rapids", 0, 0},
	{6, 0x4e, 0x4e, "Skylake client", 0, 0},
	{6, 0x5e, 0x5e, "Skylake client", 0, 0},
	/* These share models; only the whole family is certain. */
	{6, 0x8e, 0x8e, "Skylake client (Kaby, Coffee, Comet Lake)", 0, 0},
	{6, 0x9e, 0x9e, "Skylake client (Kaby, Coffee Lake)", 0, 0},
	{6, 0xa5, 0xa6, "Skylake client (Comet Lake)", 0, 0},
	{6, 0x7d, 0x7e, "Ice Lake", 0, 0},
	{6, 0xa7, 0xa7, "Rocket Lake", 0, 0},
	{6, 0x8c, 0x8d, "Tiger Lake", 0, 0},
	{6, 0x97, 0x97, "Alder Lake", 0, 0},
	{6, 0x9a, 0x9a, "Alder Lake", 0, 0},
	{6, 0xb7, 0xb7, "Raptor Lake", 0, 0},
	{6, 0xba, 0xba, "Raptor Lake", 0, 0},
	{6, 0xbf, 0xbf, "Raptor Lake", 0, 0},
	{6, 0xbe, 0xbe, "Alder Lake-N", 0, 0},
	{6, 0xaa, 0xaa, "Meteor Lake", 0, 0},
	{6, 0xac, 0xac, "Meteor Lake", 0, 0},
	{6, 0xb5, 0xb5, "Arrow Lake", 0, 0},
	{6, 0xc5, 0xc6, "Arrow Lake", 0, 0},
	{6, 0xbd, 0xbd, "Lunar Lake", 0, 0},
	{6, 0xcc, 0xcc, "Panther Lake", 0, 0},
	{6, 0xe5, 0xe5, "Panther Lake", 0, 0},
	{6, 0xd5, 0xd5, "Wildcat Lake", 0, 0},
	{18, 0x01, 0x01, "Nova Lake", 0, 0},
	{18, 0x03, 0x03, "Nova Lake", 0, 0},
	{6, 0x86, 0x86, "Tremont-D", 0, 0},
	{6, 0x7a, 0x7a, "Goldmont Plus", 0, 0},
	{6, 0x5c, 0x5c, "Goldmont", 0, 0},
	{6, 0x5f, 0x5f, "Goldmont", 0, 0},
};

static const char *find(const struct range *ranges, size_t n, unsigned family, unsigned model,
			unsigned stepping)
{
	size_t i;

	for (i = 0; i < n; i++) {
		const struct range *r = &ranges[i];
		bool any = r->stepping_first == 0 && r->stepping_last == 0;

		if (family == r->family && model >= r->first && model <= r->last &&
		    (any || (stepping >= r->stepping_first && stepping <= r->stepping_last)))
			return r->name;
	}
	return NULL;
}

#define FIND(ranges) find(ranges, sizeof(ranges) / sizeof((ranges)[0]), family, model, stepping)

const char *kg_uarch_name(const char *vendor, unsigned family, unsigned model, unsigned stepping,
			  char *buf, size_t size)
{
	const char *name = NULL;

	if (!vendor)
		vendor = "";
	if (strcmp(vendor, "AuthenticAMD") == 0)
		name = FIND(amd);
	else if (strcmp(vendor, "GenuineIntel") == 0)
		name = FIND(intel);
	else if (strcmp(vendor, "HygonGenuine") == 0)
		name = FIND(hygon);
	if (name)
		(void)snprintf(buf, size, "%s", name);
	else
		(void)snprintf(buf, size, "%u-%u-%u", family, model, stepping);
	return buf;
}

static size_t add_names(const struct range *ranges, size_t n, const char *ret_names[], size_t have,
			size_t max)
{
	size_t i, k;

	for (i = 0; i < n && have < max; i++) {
		for (k = 0; k < have && strcmp(ret_names[k], ranges[i].name) != 0; k++)
			;
		if (k == have)
			ret_names[have++] = ranges[i].name;
	}
	return have;
}

size_t kg_uarch_known(const char *ret_names[], size_t max)
{
	size_t n = add_names(amd, sizeof(amd) / sizeof(amd[0]), ret_names, 0, max);

	n = add_names(intel, sizeof(intel) / sizeof(intel[0]), ret_names, n, max);
	return add_names(hygon, sizeof(hygon) / sizeof(hygon[0]), ret_names, n, max);
}
