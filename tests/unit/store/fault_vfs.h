/* SPDX-License-Identifier: GPL-2.0-or-later */
/* SQLite's default VFS with a disk that fails: the n-th write, sync or truncation from now on, and
 * as many after it as wanted. */
#ifndef KG_TESTS_STORE_FAULT_VFS_H
#define KG_TESTS_STORE_FAULT_VFS_H

enum fault_kind {
	FAULT_FULL,  /* write: no space left */
	FAULT_WRITE, /* write: I/O error, half of it is written */
	FAULT_SYNC,  /* fsync: I/O error */
};

void fault_vfs_install(void); /* becomes the default; once */
/* 1: the next call of the kind. Sets the count of calls to 0. */
void fault_vfs_arm(enum fault_kind kind, long nth, long times);
/* Off; returns how many calls were failed. */
long fault_vfs_disarm(void);

#endif
