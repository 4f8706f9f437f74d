/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "agent/smbios.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "common/str.h"

#define TEXT_SIZE 128

struct entry {
	uint8_t type;
	const uint8_t *data; /* the formatted part, header included */
	size_t len;
	const uint8_t *strings;
	size_t strings_len; /* without the closing NUL */
};

static unsigned byte_at(const struct entry *e, size_t at)
{
	return at < e->len ? e->data[at] : 0;
}

static unsigned word_at(const struct entry *e, size_t at)
{
	return at + 2 <= e->len ? e->data[at] | (unsigned)e->data[at + 1] << 8 : 0;
}

static uint32_t dword_at(const struct entry *e, size_t at)
{
	return at + 4 <= e->len ? word_at(e, at) | (uint32_t)word_at(e, at + 2) << 16 : 0;
}

/* The next structure from *at on; false at the end, or where the table is broken. */
static bool next(const uint8_t *table, size_t len, size_t *at, struct entry *ret_e)
{
	size_t p = *at, end;

	if (len - p < 4 || table[p + 1] < 4 || table[p + 1] > len - p)
		return false;
	ret_e->type = table[p];
	ret_e->data = table + p;
	ret_e->len = table[p + 1];
	p += ret_e->len;
	ret_e->strings = table + p;
	for (end = p; end + 1 < len && (table[end] || table[end + 1]); end++)
		;
	if (end + 1 >= len)
		return false;
	ret_e->strings_len = end - p;
	*at = end + 2;
	return true;
}

/* String `number` of a structure, as text; "" when there is none. Returns buf. */
static const char *string_of(const struct entry *e, unsigned number, char *buf)
{
	const uint8_t *s = e->strings, *end = s + e->strings_len;
	size_t n = 0;

	buf[0] = '\0';
	if (number == 0)
		return buf;
	while (--number > 0) {
		while (s < end && *s)
			s++;
		if (s == end)
			return buf;
		s++;
	}
	for (; s < end && *s && n + 1 < TEXT_SIZE; s++)
		buf[n++] = *s < 0x20 || *s > 0x7e ? '?' : (char)*s;
	while (n > 0 && buf[n - 1] == ' ')
		n--;
	buf[n] = '\0';
	return buf + strspn(buf, " ");
}

static void add_string(struct fact_list *l, const char *name, const struct entry *e, size_t at)
{
	char buf[TEXT_SIZE];

	if (!fact_list_find(l, name)) /* the first board is the main board */
		fact_add(l, name, string_of(e, byte_at(e, at), buf));
}

static void identity_of(struct fact_list *l, const struct entry *e)
{
	switch (e->type) {
	case 0:
		add_string(l, "bios.vendor", e, 0x04);
		add_string(l, "bios.version", e, 0x05);
		add_string(l, "bios.date", e, 0x08);
		if (e->len > 0x15 && byte_at(e, 0x14) != 0xff)
			fact_addf(l, "bios.release", "%u.%u", byte_at(e, 0x14), byte_at(e, 0x15));
		break;
	case 1:
		add_string(l, "system.vendor", e, 0x04);
		add_string(l, "system.product", e, 0x05);
		add_string(l, "system.version", e, 0x06);
		break;
	case 2:
		add_string(l, "board.vendor", e, 0x04);
		add_string(l, "board.name", e, 0x05);
		add_string(l, "board.version", e, 0x06);
		break;
	case 3:
		if (e->len > 5 && !fact_list_find(l, "chassis.type"))
			fact_addf(l, "chassis.type", "%u", byte_at(e, 5) & 0x7f);
		break;
	default:
		break;
	}
}

static const char *memory_type(unsigned type)
{
	switch (type) {
	case 0x07:
		return "RAM";
	case 0x12:
		return "DDR";
	case 0x13:
		return "DDR2";
	case 0x18:
		return "DDR3";
	case 0x1a:
		return "DDR4";
	case 0x1b:
		return "LPDDR";
	case 0x1c:
		return "LPDDR2";
	case 0x1d:
		return "LPDDR3";
	case 0x1e:
		return "LPDDR4";
	case 0x20:
		return "HBM";
	case 0x21:
		return "HBM2";
	case 0x22:
		return "DDR5";
	case 0x23:
		return "LPDDR5";
	default:
		return NULL;
	}
}

struct dimms {
	struct kg_str map;
	uint64_t bytes;
	unsigned slots, unknown;
};

static uint64_t size_of(const struct entry *e, bool *ret_known)
{
	unsigned size = word_at(e, 0x0c);

	*ret_known = size != 0xffff && e->len >= 0x0e;
	if (size == 0x7fff)
		return (uint64_t)(dword_at(e, 0x1c) & 0x7fffffff) << 20;
	return (uint64_t)(size & 0x7fff) << (size & 0x8000 ? 10 : 20);
}

static void add_dimm(struct dimms *d, const struct entry *e)
{
	char locator[TEXT_SIZE], part[TEXT_SIZE];
	const char *type = memory_type(byte_at(e, 0x12)), *text;
	unsigned speed = word_at(e, 0x15), set = word_at(e, 0x20);
	uint32_t rate = speed == 0xffff ? dword_at(e, 0x54) : speed;
	uint32_t set_rate = set == 0xffff ? dword_at(e, 0x58) : set;
	bool known;
	uint64_t bytes = size_of(e, &known);

	d->slots++;
	if (!known) {
		d->unknown++;
		return;
	}
	if (bytes == 0)
		return; /* an empty slot */
	d->bytes += bytes;
	text = string_of(e, byte_at(e, 0x10), locator);
	kg_str_addf(&d->map, "%s%s: ", d->map.len ? "; " : "", text[0] ? text : "?");
	if (bytes % (1ULL << 30) == 0)
		kg_str_addf(&d->map, "%" PRIu64 " GiB", bytes >> 30);
	else if (bytes % (1ULL << 20) == 0)
		kg_str_addf(&d->map, "%" PRIu64 " MiB", bytes >> 20);
	else
		kg_str_addf(&d->map, "%" PRIu64 " KiB", bytes >> 10);
	if (type)
		kg_str_addf(&d->map, " %s", type);
	if (rate)
		kg_str_addf(&d->map, " %" PRIu32 " MT/s", rate);
	if (set_rate && set_rate != rate)
		kg_str_addf(&d->map, " at %" PRIu32, set_rate);
	text = string_of(e, byte_at(e, 0x1a), part);
	if (text[0])
		kg_str_addf(&d->map, " %s", text);
}

static void add_memory(struct fact_list *l, struct dimms *d, bool whole)
{
	const char *reason = !whole || d->unknown ? FACT_FAILED : FACT_ABSENT;

	if (whole && d->bytes && !d->unknown && !d->map.failed) {
		fact_add(l, "memory.dimms", kg_str_text(&d->map));
		fact_addf(l, "memory.installed", "%" PRIu64, d->bytes);
	} else {
		fact_unsupported(l, "memory.dimms", reason);
		fact_unsupported(l, "memory.installed", reason);
	}
	if (d->map.failed)
		l->failed = true;
	kg_str_deinit(&d->map);
}

void smbios_facts(const uint8_t *table, size_t len, struct fact_list *l)
{
	struct dimms d = {.map = {0}};
	unsigned sockets = 0;
	struct entry e = {0};
	size_t at = 0;
	bool end = false; /* only the structure that says so is the end */

	while (!end && next(table, len, &at, &e)) {
		identity_of(l, &e);
		if (e.type == 17)
			add_dimm(&d, &e);
		/* A central processor (3) in a populated socket (bit 6). */
		if (e.type == 4 && byte_at(&e, 5) == 3 && byte_at(&e, 0x18) & 0x40)
			sockets++;
		end = e.type == 127;
	}
	add_memory(l, &d, end);
	if (end && sockets)
		fact_addf(l, "cpu.firmware-sockets", "%u", sockets);
	else
		fact_unsupported(l, "cpu.firmware-sockets", end ? FACT_ABSENT : FACT_FAILED);
}

bool madt_cpus(const uint8_t *table, size_t len, unsigned *ret_cpus)
{
	size_t at = 44; /* header, address of the local APIC, flags */
	unsigned n = 0;
	size_t stated;

	if (len < 44 || memcmp(table, "APIC", 4) != 0)
		return false;
	stated = table[4] | (size_t)table[5] << 8 | (size_t)table[6] << 16 | (size_t)table[7] << 24;
	if (stated > len || stated < 44)
		return false;
	while (stated - at >= 2) {
		const uint8_t *p = table + at;

		if (p[1] < 2 || p[1] > stated - at)
			return false;
		if (p[0] == 0 && p[1] >= 8)
			n += p[4] & 1;
		else if (p[0] == 9 && p[1] >= 16)
			n += p[8] & 1;
		at += p[1];
	}
	*ret_cpus = n;
	return n > 0 && at == stated;
}
