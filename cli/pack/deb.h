/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reads a Debian package (deb(5)): an ar archive with debian-binary, control.tar and data.tar. */
#ifndef KG_CLI_PACK_DEB_H
#define KG_CLI_PACK_DEB_H

#include <stdint.h>

#include "cli/pack/tree.h"

/* An unpacked package may be this many times its size, once it is over PACK_BOMB_MIN bytes. Kernel
 * packages are 2 to 8 times. */
#define PACK_RATIO_MAX	 200u
#define PACK_BOMB_MIN	 (64u << 20)
#define PACK_MEMBERS_MAX 200000u

/* Takes what belongs to a kernel from the package open at `fd`. Errors do not name the package.
 * KG_EINVALID: not a package, truncated, damaged, or it holds something unsafe. */
int pack_deb_read(int fd, struct pack_tree *t, struct kg_err *err);

#endif
