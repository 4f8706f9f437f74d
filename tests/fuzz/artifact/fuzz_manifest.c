/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Rule: what is parsed is written back as the same text. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "coordinator/artifact/manifest.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct artifact_manifest m;
	struct kg_str out = {0};
	struct kg_err err;

	if (artifact_manifest_parse((const char *)data, size, &m, &err) < 0)
		return 0;
	if (artifact_manifest_write(&m, &out, &err) < 0 || out.len != size ||
	    memcmp(out.text, data, size) != 0)
		abort();
	kg_str_deinit(&out);
	artifact_manifest_deinit(&m);
	return 0;
}
