/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Named points at which a test build dies: KGRID_FAULT=NAME, or NAME:N for the Nth time that the
 * process comes there, is a SIGKILL to itself, so that nothing is flushed, closed or said. Each stands
 * where something has just become durable or visible, or is about to. Other builds have none of it.
 */
#ifndef KG_COMMON_FAULT_H
#define KG_COMMON_FAULT_H

/* X(name, text) */
#define KG_FAULT_POINTS(X)                                                                         \
	X(FILE_WRITTEN, "file-written")	  /* kg_file_replace: before its fsync */                  \
	X(FILE_SYNCED, "file-synced")	  /* ... before the rename */                              \
	X(FILE_RENAMED, "file-renamed")	  /* ... before the fsync of the directory */              \
	X(DIR_SYNCED, "dir-synced")	  /* kg_fsync_dir_of: after it */                          \
	X(SPOOL_HEAD, "spool-head")	  /* an entry's head is written, its bytes are not */      \
	X(SPOOL_WRITTEN, "spool-written") /* before the fdatasync that promises it */              \
	X(SPOOL_SYNCED, "spool-synced")	  /* after it, before the record is sent */                \
	X(SPOOL_COPIED, "spool-copied") /* what is acknowledged was cut off, before the rename */  \
	X(LINK_SEND, "link-send")	/* before a frame is handed to the network */              \
	X(STORE_BEGUN, "store-begun")	/* a batch's operations ran, before the commit */          \
	X(STORE_COMMITTED, "store-committed") /* after it, before anybody hears of it */           \
	X(MIGRATE, "migrate")		      /* a migration ran, before its commit */             \
	X(BLOB_SYNC, "blob-sync")	      /* before the fsync of an artifact or its folder */  \
	X(FETCH_SYNCED, "fetch-synced")	      /* agent: an artifact is whole, before the rename */ \
	X(RUN_SPAWN, "run-spawn")	      /* agent: before a workload's process is made */     \
	X(RUN_SPAWNED, "run-spawned")	      /* ... after it */                                   \
	X(POWER_SPAWN, "power-spawn")	      /* coordinator: before a power command is started */ \
	X(NOTICE_SPAWN, "notice-spawn") /* coordinator: before a notice's program is started */    \
	X(KEXEC_LOAD, "kexec-load")	/* agent: before a kernel is loaded */                     \
	X(KEXEC_LOADED, "kexec-loaded") /* ... after it */                                         \
	X(KEXEC_HOP, "kexec-hop")	/* agent: before the machine goes down for it */

enum kg_fault_point {
#define KG_FAULT_ENUM(name, text) KG_FAULT_##name,
	KG_FAULT_POINTS(KG_FAULT_ENUM)
#undef KG_FAULT_ENUM
		KG_FAULT_COUNT,
};

#ifdef KGRID_FAULTS
void kg_fault(enum kg_fault_point p);
const char *kg_fault_name(enum kg_fault_point p);
#define KG_FAULT(name) kg_fault(KG_FAULT_##name)
#else
#define KG_FAULT(name) ((void)0)
#endif

#endif
