/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "common/sha256.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <openssl/evp.h>

struct kg_sha256 {
	EVP_MD_CTX *ctx;
};

struct kg_sha256 *kg_sha256_new(void)
{
	struct kg_sha256 *h = calloc(1, sizeof(*h));

	if (!h)
		return NULL;
	h->ctx = EVP_MD_CTX_new();
	if (!h->ctx || EVP_DigestInit_ex(h->ctx, EVP_sha256(), NULL) != 1) {
		kg_sha256_free(h);
		return NULL;
	}
	return h;
}

void kg_sha256_free(struct kg_sha256 *h)
{
	if (!h)
		return;
	EVP_MD_CTX_free(h->ctx);
	free(h);
}

void kg_sha256_update(struct kg_sha256 *h, const void *bytes, size_t len)
{
	int rc = EVP_DigestUpdate(h->ctx, bytes, len);

	assert(rc == 1); /* cannot fail for a software digest that was initialised */
	(void)rc;
}

int kg_sha256_copy(struct kg_sha256 *to, const struct kg_sha256 *from)
{
	return EVP_MD_CTX_copy_ex(to->ctx, from->ctx) == 1 ? 0 : -ENOMEM;
}

static void to_hex(const unsigned char *bytes, size_t len, char *ret_hex)
{
	static const char digits[] = "0123456789abcdef";
	size_t i;

	for (i = 0; i < len; i++) {
		ret_hex[2 * i] = digits[bytes[i] >> 4];
		ret_hex[2 * i + 1] = digits[bytes[i] & 15];
	}
	ret_hex[2 * len] = '\0';
}

void kg_sha256_final(struct kg_sha256 *h, char ret_hex[KG_SHA256_HEX_SIZE])
{
	unsigned char bytes[EVP_MAX_MD_SIZE];
	unsigned int len = 0;
	int rc = EVP_DigestFinal_ex(h->ctx, bytes, &len);

	assert(rc == 1 && len == 32);
	(void)rc;
	to_hex(bytes, len, ret_hex);
}

int kg_sha256_bytes(const void *bytes, size_t len, char ret_hex[KG_SHA256_HEX_SIZE])
{
	struct kg_sha256 *h = kg_sha256_new();

	if (!h)
		return -ENOMEM;
	kg_sha256_update(h, bytes, len);
	kg_sha256_final(h, ret_hex);
	kg_sha256_free(h);
	return 0;
}

int kg_sha256_fd(int fd, char ret_hex[KG_SHA256_HEX_SIZE], struct kg_err *err)
{
	struct kg_sha256 *h = kg_sha256_new();
	char buf[65536];
	ssize_t n;

	if (!h)
		return kg_err_set(err, -ENOMEM, "out of memory");
	for (;;) {
		n = read(fd, buf, sizeof(buf));
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			break;
		kg_sha256_update(h, buf, (size_t)n);
	}
	if (n < 0) {
		int e = errno;

		kg_sha256_free(h);
		return kg_err_set(err, -e, "cannot read: %s", strerror(e));
	}
	kg_sha256_final(h, ret_hex);
	kg_sha256_free(h);
	return 0;
}

int kg_sha256_file(const char *path, char ret_hex[KG_SHA256_HEX_SIZE], struct kg_err *err)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	int rc;

	if (fd < 0)
		return kg_err_errno(err, "cannot open", path);
	rc = kg_sha256_fd(fd, ret_hex, err);
	close(fd);
	if (rc < 0)
		return kg_err_wrap(err, rc, "'%s'", path);
	return 0;
}

bool kg_sha256_hex_valid(const char *hex)
{
	return strlen(hex) == KG_SHA256_HEX_LEN &&
	       strspn(hex, "0123456789abcdef") == KG_SHA256_HEX_LEN;
}
