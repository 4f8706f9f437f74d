/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Firmware, board, memory modules, hypervisor. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#if defined(__x86_64__) || defined(__i386__)
#include <cpuid.h>
#endif

#include "agent/provenance_facts.h"
#include "agent/smbios.h"

#define TABLE_MAX (4U * 1024 * 1024)
#define ID	  "/sys/class/dmi/id"
#define EFIVARS	  "/sys/firmware/efi/efivars"

static const char *const ids[][2] = {
	{"bios.vendor", ID "/bios_vendor"},
	{"bios.version", ID "/bios_version"},
	{"bios.date", ID "/bios_date"},
	{"bios.release", ID "/bios_release"},
	{"system.vendor", ID "/sys_vendor"},
	{"system.product", ID "/product_name"},
	{"system.version", ID "/product_version"},
	{"board.vendor", ID "/board_vendor"},
	{"board.name", ID "/board_name"},
	{"board.version", ID "/board_version"},
	{"chassis.type", ID "/chassis_type"},
};

static const char *const memory_facts[] = {"memory.dimms", "memory.installed",
					   "cpu.firmware-sockets"};

static int read_table(struct fact_list *l, const char *root, const char *path, char **ret_text,
		      size_t *ret_len)
{
	int rc = fact_read(root, path, TABLE_MAX, ret_text, ret_len);

	if (rc == -ENOMEM)
		l->failed = true;
	return rc;
}

/* What the folder has: which of these files there are depends on the kernel's age, so one that is
 * missing says nothing. */
static void add_ids(const char *root, struct fact_list *l)
{
	size_t i;

	for (i = 0; i < sizeof(ids) / sizeof(ids[0]); i++)
		if (fact_exists(root, ids[i][1]))
			fact_file(l, root, ids[i][0], ids[i][1]);
}

/* The table is the same whatever kernel passes it on, so it comes before the kernel's reading of it. */
static void add_dmi(const char *root, struct fact_list *l)
{
	char *table;
	size_t len, i;
	int rc = read_table(l, root, "/sys/firmware/dmi/tables/DMI", &table, &len);

	if (rc == 0) {
		smbios_facts((const uint8_t *)table, len, l);
		free(table);
		for (i = 0; i < sizeof(ids) / sizeof(ids[0]); i++)
			if (!fact_list_find(l, ids[i][0]))
				fact_unsupported(l, ids[i][0], FACT_ABSENT);
		return;
	}
	add_ids(root, l);
	if (rc == -ENOENT) /* this kernel has no such file, which says nothing of the machine */
		return;
	for (i = 0; i < sizeof(memory_facts) / sizeof(memory_facts[0]); i++)
		fact_unsupported(l, memory_facts[i], fact_reason(rc));
}

static void add_madt(const char *root, struct fact_list *l)
{
	unsigned cpus;
	char *table;
	size_t len;
	int rc = read_table(l, root, "/sys/firmware/acpi/tables/APIC", &table, &len);

	if (rc == -ENOENT)
		return;
	if (rc < 0) {
		fact_unsupported(l, "cpu.firmware-count", fact_reason(rc));
		return;
	}
	if (madt_cpus((const uint8_t *)table, len, &cpus))
		fact_addf(l, "cpu.firmware-count", "%u", cpus);
	else
		fact_unsupported(l, "cpu.firmware-count", FACT_FAILED);
	free(table);
}

static void add_secure_boot(const char *root, struct fact_list *l)
{
	static const char path[] = EFIVARS "/SecureBoot-8be4df61-93ca-11d2-aa0d-00e098032b8c";
	char *text;
	size_t len;
	int rc = read_table(l, root, path, &text, &len);

	if (rc < 0) {
		fact_unsupported(l, "firmware.secure-boot", fact_reason(rc));
		return;
	}
	if (len == 5) /* four bytes of attributes, then 0 or 1 */
		fact_add(l, "firmware.secure-boot", text[4] ? "on" : "off");
	else
		fact_unsupported(l, "firmware.secure-boot", FACT_FAILED);
	free(text);
}

/* CPUID tells what a kernel without support for its hypervisor does not. */
static void add_hypervisor(const char *root, struct fact_list *l)
{
#if defined(__x86_64__) || defined(__i386__)
	static const char *const names[][2] = {
		{"KVMKVMKVM", "kvm"},	    {"TCGTCGTCGTCG", "tcg"}, {"Microsoft Hv", "hyper-v"},
		{"VMwareVMware", "vmware"}, {"XenVMMXenVMM", "xen"}, {"bhyve bhyve ", "bhyve"},
		{"Linux KVM Hv", "kvm"},    {"QNXQVMBSQG", "qnx"},   {"VBoxVBoxVBox", "virtualbox"},
	};
	const char *virtual = fact_list_value(l, "virtualised");
	unsigned a, id[4] = {0};
	size_t i;

	if (!root[0] && virtual && strcmp(virtual, "yes") == 0) {
		__cpuid(0x40000000, a, id[0], id[1], id[2]);
		for (i = 0; i < sizeof(names) / sizeof(names[0]); i++)
			if (strcmp((const char *)id, names[i][0]) == 0)
				fact_add(l, "hypervisor", names[i][1]);
		if (!fact_list_find(l, "hypervisor"))
			fact_add(l, "hypervisor", id[0] ? (const char *)id : "unnamed");
		return;
	}
#else
	(void)root;
#endif
	fact_unsupported(l, "hypervisor", FACT_ABSENT);
}

void provenance_firmware(const char *root, struct fact_list *l)
{
	add_dmi(root, l);
	add_madt(root, l);
	fact_add(l, "firmware.mode", fact_exists(root, "/sys/firmware/efi") ? "efi" : "bios");
	add_secure_boot(root, l);
	fact_file(l, root, "hypervisor.type", "/sys/hypervisor/type");
	add_hypervisor(root, l);
}
