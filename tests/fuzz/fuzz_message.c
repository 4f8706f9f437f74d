/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Decoding: two bytes of type, big-endian, then the payload. What decodes must encode, and that
 * must decode again to the same. */
#include <errno.h>
#include <string.h>

#include "proto/codec.h"
#include "proto/frame.h"
#include "proto/messages.h"
#include "tests/fuzz/fuzz.h"

static void check_again(uint16_t type, const uint8_t *bytes, size_t len)
{
	struct kg_err err;
	struct kg_msg *m;
	uint8_t *again;
	size_t again_len;
	int rc = kg_msg_decode(type, bytes + KG_FRAME_HEADER_SIZE, len - KG_FRAME_HEADER_SIZE, &m,
			       &err);

	if (rc == KG_ELIMIT) /* a number may take more bytes in the form that we write */
		return;
	must(rc == 0);
	must(kg_msg_encode(type, 1, kg_msg_body(m), &again, &again_len, &err) == 0);
	must(again_len == len && memcmp(again, bytes, len) == 0);
	free(again);
	kg_msg_free(m);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct kg_err err = {{0}};
	struct kg_msg *m = NULL;
	uint8_t *bytes;
	uint16_t type;
	size_t len;
	int rc;

	if (size < 2)
		return 0;
	type = (uint16_t)(data[0] << 8 | data[1]);
	rc = kg_msg_decode(type, data + 2, size - 2, &m, &err);
	if (rc < 0) {
		must(rc == KG_EPROTO || rc == KG_ELIMIT || rc == -ENOMEM);
		must(!m && err.text[0]);
		return 0;
	}
	must(kg_msg_memory(m) <= KG_MSG_BUDGET(size - 2) + 256);
	must(kg_msg_body(m)->descriptor == kg_msg_find(type)->descriptor);
	rc = kg_msg_encode(type, 1, kg_msg_body(m), &bytes, &len, &err);
	must(rc == 0 || rc == KG_ELIMIT);
	if (rc == 0) {
		check_again(type, bytes, len);
		free(bytes);
	}
	kg_msg_free(m);
	return 0;
}
