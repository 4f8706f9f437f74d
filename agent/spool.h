/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The spool: what the agent said about one boot and nobody has acknowledged yet, on disk.
 *
 * One file per boot. A header of 32 bytes, then entries, little-endian:
 *
 *   header   "KGSPOOL1", u64 boot, u64 acked seq, u32 CRC-32 of the bytes before, u32 0
 *   entry    u32 length of data, u32 mark, u64 seq, u32 CRC-32 of length, mark, seq and data,
 *            then data
 *
 * An entry is there once spool_append returned: fdatasync is part of it. After a power cut the
 * first entry that is cut short or does not match its CRC ends the file. The acked number in the
 * header is a hint written without sync: too low a value means that records are sent twice, which
 * the coordinator recognises. The last entry is kept even when acknowledged, because its mark
 * says how far the boot came.
 */
#ifndef KG_AGENT_SPOOL_H
#define KG_AGENT_SPOOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/err.h"

#define SPOOL_RESERVE_BYTES 65536 /* of the limit, for the records that end a boot */

struct spool; /* opaque */

struct spool_entry {
	uint64_t seq;
	uint32_t mark;
	uint32_t len_bytes;
	uint64_t offset; /* of the data in the file */
};

/* Opens or makes the spool of a boot in `dir`. With `fresh`, what was there is thrown away.
 * KG_ECORRUPT when the header belongs to another boot or is damaged. */
int spool_open(const char *dir, uint64_t boot, uint64_t limit_bytes, bool fresh,
	       struct spool **ret_s, struct kg_err *err);
void spool_free(struct spool *s);
/* Removes the file of a boot; missing is fine. */
int spool_remove(const char *dir, uint64_t boot, struct kg_err *err);
/* Removes what an agent that died has left of other boots, and half-made files of this one; boot 0:
 * of all. */
void spool_remove_others(const char *dir, uint64_t boot);

/* seq must be one more than the last. KG_ELIMIT when there is no room; the reserve is used only
 * with `last_words`. */
int spool_append(struct spool *s, uint64_t seq, uint32_t mark, const void *bytes, size_t len,
		 bool last_words, struct kg_err *err);
bool spool_has_room(const struct spool *s, size_t len);

uint64_t spool_boot(const struct spool *s);
bool spool_empty(const struct spool *s); /* no entry at all */
uint64_t spool_last_seq(const struct spool *s);
uint32_t spool_last_mark(const struct spool *s);
uint64_t spool_acked(const struct spool *s);
uint64_t spool_size(const struct spool *s);

/* Everything up to seq is committed. Gives space back when it is worth it. Lower than before is
 * ignored. */
int spool_ack(struct spool *s, uint64_t seq, struct kg_err *err);

/* The first entry with a number over `after_seq`; 0 and ret_found false when there is none. */
int spool_next(struct spool *s, uint64_t after_seq, bool *ret_found, struct spool_entry *ret_e,
	       struct kg_err *err);
/* Reads the data of an entry into buf (len_bytes). */
int spool_read(struct spool *s, const struct spool_entry *e, void *buf, struct kg_err *err);

uint32_t spool_crc32(uint32_t crc, const void *bytes, size_t len); /* start with 0; IEEE 802.3 */

#endif
