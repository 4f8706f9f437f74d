/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "agent/boot_load.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/cmdline.h"
#include "common/fault.h"
#include "common/file.h"

/* include/uapi/linux/kexec.h */
#define KEXEC_FILE_UNLOAD	0x1UL
#define KEXEC_FILE_NO_INITRAMFS 0x4UL

static long file_load(int kernel, int initrd, const char *cmdline, unsigned long flags)
{
#ifdef SYS_kexec_file_load
	return syscall(SYS_kexec_file_load, kernel, initrd, cmdline ? strlen(cmdline) + 1 : 0,
		       cmdline, flags);
#else
	(void)kernel;
	(void)initrd;
	(void)cmdline;
	(void)flags;
	errno = ENOSYS;
	return -1;
#endif
}

const char *boot_load_reason(int code)
{
	switch (-code) {
	case EPERM:
		return "the running kernel refuses it: lockdown, kernel.kexec_load_disabled, or no "
		       "privilege";
	case EACCES:
		return "the running kernel refuses it: a security module forbids this image";
	case EKEYREJECTED:
	case ENOKEY:
	case ENOPKG:
	case EBADMSG:
	case ELIBBAD:
	case ENODATA:
		return "the running kernel refuses it: the image's signature is not trusted";
	case ENOEXEC:
		return "not a kernel image that the running kernel can start";
	case EINVAL:
		return "refused as invalid: command line too long, or an image of another "
		       "architecture";
	case EBUSY:
		return "another load is in progress";
	case ENOMEM:
	case EADDRNOTAVAIL:
		return "not enough memory for kernel and initial image";
	case ENOSYS:
		return "the running kernel has no kexec_file_load";
	default:
		return strerror(-code);
	}
}

static int check_loaded(struct kg_err *err)
{
	char value[16];
	int rc = kg_file_read_line("/sys/kernel/kexec_loaded", value, sizeof(value), err);

	if (rc < 0)
		return rc;
	if (strcmp(value, "1") != 0)
		return kg_err_set(err, -EIO, "the load was accepted, but kexec_loaded is '%s'",
				  value);
	return 0;
}

/* kexec-tools, for kernels without kexec_file_load. */
static int load_by_tool(const char *kernel, const char *initrd, const char *cmdline,
			struct kg_err *err)
{
	static char *const env[] = {"PATH=/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL=C", NULL};
	char line[KG_CMDLINE_MAX + 32], ramdisk[4200];
	char *argv[6];
	size_t n = 0;
	int status, rc;
	pid_t pid;

	(void)snprintf(line, sizeof(line), "--command-line=%s", cmdline);
	argv[n++] = (char *)"kexec";
	argv[n++] = (char *)"-l";
	argv[n++] = line;
	if (initrd) {
		(void)snprintf(ramdisk, sizeof(ramdisk), "--initrd=%s", initrd);
		argv[n++] = ramdisk;
	}
	argv[n++] = (char *)kernel;
	argv[n] = NULL;
	rc = posix_spawnp(&pid, "kexec", NULL, NULL, argv, env);
	if (rc != 0) /* -ENOSYS: it is the kernel that lacks something */
		return kg_err_set(err, -ENOSYS,
				  "the running kernel has no kexec_file_load and 'kexec' cannot be "
				  "run: %s",
				  strerror(rc));
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return kg_err_set(err, -errno, "cannot wait for 'kexec'");
	if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
		return kg_err_set(err, -ENOSYS,
				  "the running kernel has no kexec_file_load and 'kexec -l' failed "
				  "with %d",
				  WIFEXITED(status) ? WEXITSTATUS(status) : -1);
	return 0;
}

int boot_load(const char *kernel, const char *initrd, const char *cmdline, const char **ret_method,
	      struct kg_err *err)
{
	int kfd, ifd = -1, rc = 0;
	const char *method = "kexec-file-load";

	if (strlen(cmdline) > KG_CMDLINE_MAX)
		return kg_err_set(err, KG_ELIMIT, "command line of %zu characters, at most %d",
				  strlen(cmdline), KG_CMDLINE_MAX);
	KG_FAULT(KEXEC_LOAD);
	kfd = open(kernel, O_RDONLY | O_CLOEXEC);
	if (kfd < 0)
		return kg_err_errno(err, "cannot open", kernel);
	if (initrd) {
		ifd = open(initrd, O_RDONLY | O_CLOEXEC);
		if (ifd < 0)
			rc = kg_err_errno(err, "cannot open", initrd);
	}
	if (rc == 0 && file_load(kfd, ifd, cmdline, initrd ? 0 : KEXEC_FILE_NO_INITRAMFS) < 0)
		rc = -errno;
	close(kfd);
	if (ifd >= 0)
		close(ifd);
	if (rc == -ENOSYS) {
		method = "kexec-load";
		rc = load_by_tool(kernel, initrd, cmdline, err);
		if (rc < 0)
			return rc;
	} else if (rc < 0) {
		return kg_err_set(err, rc, "cannot load the kernel: %s", boot_load_reason(rc));
	}
	rc = check_loaded(err);
	KG_FAULT(KEXEC_LOADED);
	if (rc == 0)
		*ret_method = method;
	return rc;
}

void boot_unload(void)
{
	(void)file_load(-1, -1, NULL, KEXEC_FILE_UNLOAD);
}

bool boot_load_stuck(int code)
{
	switch (-code) {
	case EPERM: /* lockdown, kexec_load_disabled */
	case EACCES:
	case EKEYREJECTED: /* the signature, to a kernel that insists on one */
	case ENOKEY:
	case ENOPKG:
	case EBADMSG:
	case ELIBBAD:
	case ENODATA:
	case ENOSYS:
		return true;
	default:
		return false;
	}
}

const char *boot_stuck(const char *root)
{
	char path[256], value[16];

	(void)snprintf(path, sizeof(path), "%s/proc/sys/kernel/kexec_load_disabled", root);
	if (kg_file_read_line(path, value, sizeof(value), NULL) == 0 && strcmp(value, "1") == 0)
		return "kernel.kexec_load_disabled is 1";
	(void)snprintf(path, sizeof(path), "%s/sys/kernel/kexec_loaded", root);
	if (access(path, F_OK) < 0)
		return "the running kernel has no kexec";
	return NULL;
}
