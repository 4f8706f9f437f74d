/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The bytes are a .deb. What is taken from it has safe paths. */
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "cli/pack/deb.h"
#include "common/file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct pack_spool spool = {.fd = memfd_create("spool", MFD_CLOEXEC)};
	struct pack_tree t = {.spool = &spool};
	int fd = memfd_create("deb", MFD_CLOEXEC);
	struct kg_err err;
	size_t i;

	if (fd < 0 || spool.fd < 0 || kg_write_all(fd, data, size) < 0)
		abort();
	if (pack_deb_read(fd, &t, &err) == 0 && pack_tree_finish(&t, &err) == 0)
		for (i = 0; i < t.n; i++)
			if (t.entries[i].path[0] == '/' || t.entries[i].link)
				abort();
	pack_tree_deinit(&t);
	close(spool.fd);
	close(fd);
	return 0;
}
