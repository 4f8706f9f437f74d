/* SPDX-License-Identifier: GPL-2.0-or-later */
/* SHA-256 (FIPS 180-4) by OpenSSL, as lower-case hex: the identity of everything that is stored
 * by content. */
#ifndef KG_COMMON_SHA256_H
#define KG_COMMON_SHA256_H

#include <stdbool.h>
#include <stddef.h>

#include "common/err.h"

#define KG_SHA256_HEX_LEN  64
#define KG_SHA256_HEX_SIZE 65 /* with the NUL */

struct kg_sha256; /* opaque, one running digest */

struct kg_sha256 *kg_sha256_new(void); /* owned, kg_sha256_free; NULL: out of memory */
void kg_sha256_free(struct kg_sha256 *h);
void kg_sha256_update(struct kg_sha256 *h, const void *bytes, size_t len);
/* `to` goes on where `from` is, whatever it was before, also ended: many texts with the same
 * beginning cost only what differs. 0 or -ENOMEM. */
int kg_sha256_copy(struct kg_sha256 *to, const struct kg_sha256 *from);
/* Ends the digest; only kg_sha256_copy into it or kg_sha256_free may follow. */
void kg_sha256_final(struct kg_sha256 *h, char ret_hex[KG_SHA256_HEX_SIZE]);

int kg_sha256_bytes(const void *bytes, size_t len, char ret_hex[KG_SHA256_HEX_SIZE]);
int kg_sha256_fd(int fd, char ret_hex[KG_SHA256_HEX_SIZE], struct kg_err *err); /* to the end */
int kg_sha256_file(const char *path, char ret_hex[KG_SHA256_HEX_SIZE], struct kg_err *err);
bool kg_sha256_hex_valid(const char *hex); /* exactly 64 of [0-9a-f] */

#endif
