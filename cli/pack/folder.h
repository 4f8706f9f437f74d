/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reads kernels from folders and single files. */
#ifndef KG_CLI_PACK_FOLDER_H
#define KG_CLI_PACK_FOLDER_H

#include "cli/pack/tree.h"

/* Takes what belongs to a kernel from a folder, in one of the layouts of kernel_pack.h. Errors do
 * not name the folder. */
int pack_folder_read(int fd, struct pack_tree *t, struct kg_err *err);
/* Modules of a folder that is a lib/modules/REL, or a root that holds one. */
int pack_folder_read_modules(int fd, struct pack_tree *t, struct kg_err *err);
/* One file as vmlinuz, config or System.map (`path`); `name` is shown in errors. */
int pack_file_read(int fd, const char *name, const char *path, struct pack_tree *t,
		   struct kg_err *err);

#endif
