/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tests/lib/cmocka_all.h"

#include "tests/lib/synthetic_kernel.h"

#include <elf.h>
#include <stdio.h>

#include <archive.h>
#include <archive_entry.h>

#include "common/sha256.h"
#include "common/str.h"

#define IMAGE_SIZE 0x2000

/* ELF64 with one PT_NOTE segment that holds the build id. */
static size_t make_elf(unsigned char *out, const char *salt)
{
	Elf64_Ehdr *eh = (Elf64_Ehdr *)(void *)out;
	Elf64_Phdr *ph = (Elf64_Phdr *)(void *)(out + sizeof(*eh));
	unsigned char *note = out + sizeof(*eh) + sizeof(*ph);
	Elf64_Nhdr nh = {.n_namesz = 4, .n_descsz = 20, .n_type = NT_GNU_BUILD_ID};
	char hex[KG_SHA256_HEX_SIZE];

	memcpy(eh->e_ident, ELFMAG, SELFMAG);
	eh->e_ident[EI_CLASS] = ELFCLASS64;
	eh->e_ident[EI_DATA] = ELFDATA2LSB;
	eh->e_ident[EI_VERSION] = EV_CURRENT;
	eh->e_type = ET_EXEC;
	eh->e_machine = EM_X86_64;
	eh->e_version = EV_CURRENT;
	eh->e_phoff = sizeof(*eh);
	eh->e_ehsize = sizeof(*eh);
	eh->e_phentsize = sizeof(*ph);
	eh->e_phnum = 1;
	ph->p_type = PT_NOTE;
	ph->p_offset = sizeof(*eh) + sizeof(*ph);
	ph->p_filesz = ph->p_memsz = sizeof(nh) + 4 + 20;
	ph->p_align = 4;
	assert_int_equal(kg_sha256_bytes(salt, strlen(salt), hex), 0);
	memcpy(note, &nh, sizeof(nh));
	memcpy(note + sizeof(nh), "GNU", 4);
	memcpy(note + sizeof(nh) + 4, hex, 20);
	return sizeof(*eh) + sizeof(*ph) + sizeof(nh) + 4 + 20;
}

static size_t gzip(const void *in, size_t len, void *out, size_t size)
{
	struct archive *a = archive_write_new();
	struct archive_entry *e = archive_entry_new();
	size_t used = 0;

	(void)archive_write_set_format_raw(a);
	(void)archive_write_add_filter_gzip(a);
	assert_int_equal(archive_write_set_options(a, "gzip:!timestamp"), ARCHIVE_OK);
	(void)archive_write_set_bytes_in_last_block(a, 1);
	assert_int_equal(archive_write_open_memory(a, out, size, &used), ARCHIVE_OK);
	archive_entry_set_filetype(e, AE_IFREG);
	archive_entry_set_pathname(e, "payload");
	assert_int_equal(archive_write_header(a, e), ARCHIVE_OK);
	assert_int_equal(archive_write_data(a, in, len), (ssize_t)len);
	(void)archive_write_close(a);
	(void)archive_write_free(a);
	archive_entry_free(e);
	return used;
}

static void put32(unsigned char *at, uint32_t v)
{
	at[0] = (unsigned char)v;
	at[1] = (unsigned char)(v >> 8);
	at[2] = (unsigned char)(v >> 16);
	at[3] = (unsigned char)(v >> 24);
}

static void make_image(unsigned char image[IMAGE_SIZE], const char *release, const char *salt)
{
	unsigned char elf[512] = {0};
	size_t elf_len = make_elf(elf, salt), len;

	memset(image, 0, IMAGE_SIZE);
	image[0x1f1] = 1; /* one setup sector behind the boot sector: protected mode at 0x400 */
	image[0x1fe] = 0x55;
	image[0x1ff] = 0xaa;
	memcpy(image + 0x202, "HdrS", 4);
	image[0x206] = 0x0f; /* protocol 2.15 */
	image[0x207] = 0x02;
	image[0x20e] = 0x00; /* version string at 0x100 + 0x200 */
	image[0x20f] = 0x01;
	(void)snprintf((char *)image + 0x300, 0x100, "%s (test@test) #1 SMP %s", release, salt);
	len = gzip(elf, elf_len, image + 0x500, IMAGE_SIZE - 0x500);
	put32(image + 0x248, 0x100); /* payload offset, from 0x400 */
	put32(image + 0x24c, (uint32_t)len);
}

static void put_blob(struct peer *p, const char *digest, const void *bytes, size_t len)
{
	Kgrid__V1__BlobPut b = KGRID__V1__BLOB_PUT__INIT;
	struct kg_msg *m;

	b.digest = (char *)(uintptr_t)digest;
	b.has_offset = b.has_total_bytes = b.has_data = 1;
	b.total_bytes = len;
	b.data.data = (uint8_t *)(uintptr_t)bytes;
	b.data.len = len;
	m = peer_call(p, KG_MSG_BLOB_PUT, &b.base, KG_MSG_BLOB_PUT_REPLY);
	assert_true(PEER_BODY(m, Kgrid__V1__BlobPutReply)->complete);
	kg_msg_free(m);
}

static const char config[] =
	"#\n# Automatically generated file; DO NOT EDIT.\n# Linux/x86 Kernel Configuration\n#\n"
	"CONFIG_64BIT=y\nCONFIG_X86_64=y\nCONFIG_SECURITY=y\nCONFIG_SECURITYFS=y\n"
	"CONFIG_KEXEC=y\nCONFIG_KEXEC_FILE=y\nCONFIG_SECURITY_APPARMOR=y\n"
	"CONFIG_SECURITY_TOMOYO=y\nCONFIG_SECURITY_YAMA=y\nCONFIG_BPF_LSM=y\n"
	"CONFIG_LSM=\"yama,apparmor,tomoyo,bpf\"\n";

static void write_file(const char *dir, const char *name, const void *bytes, size_t len,
		       size_t padding)
{
	char path[256];
	FILE *f;

	(void)snprintf(path, sizeof(path), "%s/%s", dir, name);
	f = fopen(path, "w");
	assert_non_null(f);
	assert_int_equal(fwrite(bytes, 1, len, f), len);
	while (padding-- > 0)
		assert_true(fputc((int)(padding % 251), f) >= 0);
	assert_int_equal(fclose(f), 0);
}

void synthetic_kernel_write(const char *dir, const char *release, const char *salt, size_t padding)
{
	unsigned char image[IMAGE_SIZE];

	make_image(image, release, salt);
	write_file(dir, "vmlinuz", image, sizeof(image), padding);
	write_file(dir, "config", config, sizeof(config) - 1, 0);
}

void synthetic_kernel_add(struct peer *client, const char *label, const char *release,
			  const char *salt, char ret_digest[65])
{
	Kgrid__V1__KernelOffer offer = KGRID__V1__KERNEL_OFFER__INIT;
	Kgrid__V1__KernelCommit commit = KGRID__V1__KERNEL_COMMIT__INIT;
	char image_digest[KG_SHA256_HEX_SIZE], config_digest[KG_SHA256_HEX_SIZE];
	unsigned char image[IMAGE_SIZE];
	struct kg_str manifest = {0}, text = {0};
	struct kg_msg *m;

	make_image(image, release, salt);
	kg_str_addf(&text, "%s# salt %s\n", config, salt);
	assert_int_equal(kg_sha256_bytes(image, sizeof(image), image_digest), 0);
	assert_int_equal(kg_sha256_bytes(text.text, text.len, config_digest), 0);
	kg_str_addf(&manifest, "kgrid-kernel 1\nrelease %s\n", release);
	kg_str_addf(&manifest, "file %s %zu 644 config\n", config_digest, text.len);
	kg_str_addf(&manifest, "file %s %d 644 vmlinuz\n", image_digest, IMAGE_SIZE);
	offer.manifest = manifest.text;
	offer.label = (char *)(uintptr_t)label;
	kg_msg_free(peer_call(client, KG_MSG_KERNEL_OFFER, &offer.base, KG_MSG_KERNEL_OFFER_REPLY));
	put_blob(client, image_digest, image, sizeof(image));
	put_blob(client, config_digest, text.text, text.len);
	commit.manifest = manifest.text;
	commit.label = (char *)(uintptr_t)label;
	m = peer_call(client, KG_MSG_KERNEL_COMMIT, &commit.base, KG_MSG_KERNEL_REPLY);
	(void)snprintf(ret_digest, 65, "%s", PEER_BODY(m, Kgrid__V1__KernelReply)->kernel->digest);
	kg_msg_free(m);
	kg_str_deinit(&text);
	kg_str_deinit(&manifest);
}
