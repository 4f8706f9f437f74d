/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A folder that stands for a machine: files of /proc and /sys as a test wants them. */
#ifndef KG_TESTS_FAKE_ROOT_H
#define KG_TESTS_FAKE_ROOT_H

#include <stddef.h>
#include <stdint.h>

struct fake_root {
	char dir[64];
};

void fake_root_init(struct fake_root *r);
void fake_root_deinit(struct fake_root *r);
void fake_put(const struct fake_root *r, const char *path, const char *text);
void fake_put_bytes(const struct fake_root *r, const char *path, const void *bytes, size_t len);
void fake_remove(const struct fake_root *r, const char *path);

/* Whole machines. */
void fake_intel(const struct fake_root *r); /* two Xeons, SMT off by the command line, Debian */
void fake_amd(const struct fake_root *r); /* one EPYC, no thermal_throttle, no turbostat columns */

/* One SMBIOS structure at `out`: the formatted part (header included) and its strings. Returns the
 * bytes written. */
size_t fake_smbios(uint8_t *out, const uint8_t *data, size_t len, const char *const *strings);
/* A table with BIOS, system, board, two processors and three memory slots; returns its length, at
 * most 1,024. */
size_t fake_smbios_table(uint8_t *out);
/* A MADT of `enabled` and `disabled` CPUs; returns its length, at most 1,024. */
size_t fake_madt(uint8_t *out, unsigned enabled, unsigned disabled);

#endif
