/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The first byte says how the rest is looked at: 0 as an image, 1 as the unpacked kernel inside one
 * (compression would keep the fuzzer out), 2 as a kernel module.
 */
#include <stdlib.h>
#include <string.h>

#include <archive.h>
#include <archive_entry.h>

#include "cli/pack/modinfo.h"
#include "coordinator/artifact/image.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static size_t gzip(const void *bytes, size_t len, void *out, size_t size)
{
	struct archive_entry *e = archive_entry_new();
	struct archive *a = archive_write_new();
	size_t used = 0;

	if (!e || !a || archive_write_set_format_raw(a) != ARCHIVE_OK ||
	    archive_write_add_filter_gzip(a) != ARCHIVE_OK ||
	    archive_write_set_filter_option(a, "gzip", "compression-level", "1") != ARCHIVE_OK ||
	    archive_write_open_memory(a, out, size, &used) != ARCHIVE_OK)
		abort();
	archive_entry_set_filetype(e, AE_IFREG);
	if (archive_write_header(a, e) != ARCHIVE_OK || archive_write_data(a, bytes, len) < 0)
		abort();
	(void)archive_write_free(a);
	archive_entry_free(e);
	return used;
}

/* A well-formed image around these bytes. */
static void inspect_inside(const uint8_t *data, size_t size)
{
	size_t room = size + size / 2 + 65536, len;
	uint8_t *image = calloc(1, room + 0x500);
	struct artifact_image ret;
	struct kg_err err;

	if (!image)
		return;
	len = gzip(data, size, image + 0x500, room);
	image[0x1f1] = 1;
	memcpy(image + 0x1fe, "\x55\xaa", 2);
	memcpy(image + 0x202, "HdrS\x0f\x02", 6);
	image[0x20f] = 1;
	memcpy(image + 0x300, "6.1.0", 6);
	image[0x249] = 1; /* payload at 0x400 + 0x100 */
	image[0x24c] = (uint8_t)len;
	image[0x24d] = (uint8_t)(len >> 8);
	image[0x24e] = (uint8_t)(len >> 16);
	(void)artifact_image_inspect(image, 0x500 + len, &ret, &err);
	free(image);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct artifact_image image;
	struct kg_err err;
	char *depends;

	if (size < 1 || size > 1 << 20)
		return 0;
	switch (data[0]) {
	case 0:
		(void)artifact_image_inspect(data + 1, size - 1, &image, &err);
		break;
	case 1:
		inspect_inside(data + 1, size - 1);
		break;
	case 2:
		if (pack_module_info(data + 1, size - 1, &depends, NULL, 0, &err) == 0)
			free(depends);
		break;
	default:
		break;
	}
	return 0;
}
