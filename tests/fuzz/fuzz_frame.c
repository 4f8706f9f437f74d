/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Framing: the first byte says in which pieces the rest arrives; the frames must not depend on it.
 */
#include <string.h>

#include "common/sha256.h"
#include "proto/frame.h"
#include "tests/fuzz/fuzz.h"

#define MAX_BYTES (64 * 1024)

/* What came out of a stream. */
struct result {
	unsigned frames;
	int code;
	char digest[KG_SHA256_HEX_SIZE]; /* of all headers and payloads */
};

static void take_frame(struct kg_sha256 *h, const struct kg_frame *f)
{
	must(f->len_bytes <= MAX_BYTES);
	kg_sha256_update(h, &f->type, sizeof(f->type));
	kg_sha256_update(h, &f->id, sizeof(f->id));
	kg_sha256_update(h, &f->len_bytes, sizeof(f->len_bytes));
	kg_sha256_update(h, f->payload, f->len_bytes);
}

static struct result run(const uint8_t *data, size_t size, size_t piece)
{
	struct kg_sha256 *h = kg_sha256_new();
	struct kg_frame_decoder d;
	struct result r = {.frames = 0};
	struct kg_frame f;
	struct kg_err err;
	size_t given = 0;

	must(h);
	kg_frame_decoder_init(&d, MAX_BYTES);
	while (given < size && r.code >= 0) {
		size_t len = piece < size - given ? piece : size - given;
		const uint8_t *bytes = data + given;

		given += len;
		while ((r.code = kg_frame_decoder_feed(&d, &bytes, &len, &f, &err)) == 1) {
			r.frames++;
			take_frame(h, &f);
		}
		must(r.code < 0 || len == 0);
		must(d.payload_cap <= 2 * size + 1024); /* never what was only declared */
	}
	if (r.code < 0) {
		const uint8_t *bytes = data;
		size_t len = size;

		must(kg_frame_decoder_feed(&d, &bytes, &len, &f, &err) == r.code);
	}
	kg_frame_decoder_deinit(&d);
	kg_sha256_final(h, r.digest);
	kg_sha256_free(h);
	return r;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct result whole, pieces;

	if (size == 0)
		return 0;
	whole = run(data + 1, size - 1, size);
	pieces = run(data + 1, size - 1, 1 + data[0]);
	must(whole.frames == pieces.frames);
	must(whole.code == pieces.code);
	must(strcmp(whole.digest, pieces.digest) == 0);
	return 0;
}
