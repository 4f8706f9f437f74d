/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fault_vfs.h"

#include <sqlite3.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>

struct fault_file {
	sqlite3_file base;
	sqlite3_file *real; /* behind this struct */
};

static sqlite3_vfs *real_vfs;
static sqlite3_vfs shim;
static sqlite3_io_methods methods;
static atomic_int armed_kind = -1;
static atomic_long calls, first_bad, last_bad, failed;

static sqlite3_file *real(sqlite3_file *f)
{
	return ((struct fault_file *)(void *)f)->real;
}

static bool bad(enum fault_kind kind)
{
	int armed = atomic_load(&armed_kind);
	long n;

	if (armed != (int)kind)
		return false;
	n = atomic_fetch_add(&calls, 1) + 1;
	if (n < atomic_load(&first_bad) || n > atomic_load(&last_bad))
		return false;
	atomic_fetch_add(&failed, 1);
	return true;
}

static int f_close(sqlite3_file *f)
{
	return real(f)->pMethods->xClose(real(f));
}

static int f_read(sqlite3_file *f, void *buf, int n, sqlite3_int64 at)
{
	return real(f)->pMethods->xRead(real(f), buf, n, at);
}

static int f_write(sqlite3_file *f, const void *buf, int n, sqlite3_int64 at)
{
	if (bad(FAULT_FULL))
		return SQLITE_FULL;
	if (bad(FAULT_WRITE)) {
		(void)real(f)->pMethods->xWrite(real(f), buf, n / 2, at);
		return SQLITE_IOERR_WRITE;
	}
	return real(f)->pMethods->xWrite(real(f), buf, n, at);
}

static int f_truncate(sqlite3_file *f, sqlite3_int64 size)
{
	if (bad(FAULT_WRITE))
		return SQLITE_IOERR_TRUNCATE;
	return real(f)->pMethods->xTruncate(real(f), size);
}

static int f_sync(sqlite3_file *f, int flags)
{
	if (bad(FAULT_SYNC))
		return SQLITE_IOERR_FSYNC;
	return real(f)->pMethods->xSync(real(f), flags);
}

static int f_size(sqlite3_file *f, sqlite3_int64 *size)
{
	return real(f)->pMethods->xFileSize(real(f), size);
}

static int f_lock(sqlite3_file *f, int level)
{
	return real(f)->pMethods->xLock(real(f), level);
}

static int f_unlock(sqlite3_file *f, int level)
{
	return real(f)->pMethods->xUnlock(real(f), level);
}

static int f_reserved(sqlite3_file *f, int *out)
{
	return real(f)->pMethods->xCheckReservedLock(real(f), out);
}

static int f_control(sqlite3_file *f, int op, void *arg)
{
	return real(f)->pMethods->xFileControl(real(f), op, arg);
}

static int f_sector(sqlite3_file *f)
{
	return real(f)->pMethods->xSectorSize(real(f));
}

static int f_device(sqlite3_file *f)
{
	return real(f)->pMethods->xDeviceCharacteristics(real(f));
}

static int f_shm_map(sqlite3_file *f, int page, int size, int extend, void volatile **out)
{
	return real(f)->pMethods->xShmMap(real(f), page, size, extend, out);
}

static int f_shm_lock(sqlite3_file *f, int offset, int n, int flags)
{
	return real(f)->pMethods->xShmLock(real(f), offset, n, flags);
}

static void f_shm_barrier(sqlite3_file *f)
{
	real(f)->pMethods->xShmBarrier(real(f));
}

static int f_shm_unmap(sqlite3_file *f, int remove)
{
	return real(f)->pMethods->xShmUnmap(real(f), remove);
}

static int v_open(sqlite3_vfs *vfs, sqlite3_filename name, sqlite3_file *f, int flags, int *out)
{
	struct fault_file *file = (struct fault_file *)(void *)f;
	int rc;

	(void)vfs;
	file->real = (sqlite3_file *)(void *)(file + 1);
	rc = real_vfs->xOpen(real_vfs, name, file->real, flags, out);
	f->pMethods = file->real->pMethods ? &methods : NULL;
	return rc;
}

void fault_vfs_install(void)
{
	real_vfs = sqlite3_vfs_find(NULL);
	shim = *real_vfs; /* the other methods ignore which vfs they get */
	shim.zName = "kgrid-faults";
	shim.pNext = NULL;
	shim.szOsFile = (int)sizeof(struct fault_file) + real_vfs->szOsFile;
	shim.xOpen = v_open;
	methods = (sqlite3_io_methods){
		.iVersion = 2,
		.xClose = f_close,
		.xRead = f_read,
		.xWrite = f_write,
		.xTruncate = f_truncate,
		.xSync = f_sync,
		.xFileSize = f_size,
		.xLock = f_lock,
		.xUnlock = f_unlock,
		.xCheckReservedLock = f_reserved,
		.xFileControl = f_control,
		.xSectorSize = f_sector,
		.xDeviceCharacteristics = f_device,
		.xShmMap = f_shm_map,
		.xShmLock = f_shm_lock,
		.xShmBarrier = f_shm_barrier,
		.xShmUnmap = f_shm_unmap,
	};
	(void)sqlite3_vfs_register(&shim, 1);
}

void fault_vfs_arm(enum fault_kind kind, long nth, long times)
{
	atomic_store(&calls, 0);
	atomic_store(&failed, 0);
	atomic_store(&first_bad, nth);
	atomic_store(&last_bad, nth + times - 1);
	atomic_store(&armed_kind, (int)kind);
}

long fault_vfs_disarm(void)
{
	atomic_store(&armed_kind, -1);
	return atomic_load(&failed);
}
