/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tests/lib/cmocka_all.h"

#include "tests/unit/artifact/sample.h"

#include <elf.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include <archive.h>
#include <archive_entry.h>

#include "common/file.h"

static struct sample_bytes sample_new(size_t len)
{
	struct sample_bytes s = {.bytes = calloc(1, len), .len = len};

	assert_non_null(s.bytes);
	return s;
}

static void add_filter(struct archive *a, enum sample_filter filter)
{
	static int (*const filters[])(struct archive *) = {
		[SAMPLE_GZIP] = archive_write_add_filter_gzip,
		[SAMPLE_XZ] = archive_write_add_filter_xz,
		[SAMPLE_ZSTD] = archive_write_add_filter_zstd,
		[SAMPLE_LZ4] = archive_write_add_filter_lz4,
		[SAMPLE_BZIP2] = archive_write_add_filter_bzip2,
		[SAMPLE_PLAIN] = archive_write_add_filter_none,
	};

	assert_int_equal(filters[filter](a), ARCHIVE_OK);
}

struct sample_bytes sample_compress(enum sample_filter filter, const void *bytes, size_t len)
{
	struct sample_bytes s = sample_new(len + len / 2 + 65536);
	struct archive_entry *e = archive_entry_new();
	struct archive *a = archive_write_new();
	size_t used = 0;

	assert_int_equal(archive_write_set_format_raw(a), ARCHIVE_OK);
	add_filter(a, filter);
	assert_int_equal(archive_write_set_bytes_in_last_block(a, 1), ARCHIVE_OK);
	assert_int_equal(archive_write_open_memory(a, s.bytes, s.len, &used), ARCHIVE_OK);
	archive_entry_set_filetype(e, AE_IFREG);
	assert_int_equal(archive_write_header(a, e), ARCHIVE_OK);
	assert_int_equal(archive_write_data(a, bytes, len), (ssize_t)len);
	assert_int_equal(archive_write_close(a), ARCHIVE_OK);
	(void)archive_write_free(a);
	archive_entry_free(e);
	s.len = used;
	return s;
}

/* ---- images ---- */

static size_t add_note(uint8_t *at, const char *name, uint32_t type, const void *desc, size_t len)
{
	Elf64_Nhdr n = {
		.n_namesz = (uint32_t)strlen(name) + 1, .n_descsz = (uint32_t)len, .n_type = type};
	size_t name_len = (n.n_namesz + 3u) & ~3u;

	memcpy(at, &n, sizeof(n));
	memcpy(at + sizeof(n), name, n.n_namesz);
	memcpy(at + sizeof(n) + name_len, desc, len);
	return sizeof(n) + name_len + ((len + 3) & ~(size_t)3);
}

struct sample_bytes sample_vmlinux(uint8_t id)
{
	/* Far behind the headers, as in a real kernel. */
	const size_t at = 200000;
	struct sample_bytes s = sample_new(at + 4096);
	Elf64_Ehdr h = {.e_type = ET_EXEC,
			.e_machine = EM_X86_64,
			.e_phoff = sizeof(h),
			.e_phentsize = sizeof(Elf64_Phdr),
			.e_phnum = 2};
	Elf64_Phdr p[2] = {{.p_type = PT_LOAD, .p_offset = 4096, .p_filesz = at},
			   {.p_type = PT_NOTE, .p_offset = at}};
	uint8_t build_id[20];
	size_t len;

	memset(build_id, id, sizeof(build_id));
	len = add_note(s.bytes + at, "Xen", 3, "xen-3.0", 7);
	len += add_note(s.bytes + at + len, "GNU", NT_GNU_BUILD_ID, build_id, sizeof(build_id));
	p[1].p_filesz = len;
	memcpy(h.e_ident, ELFMAG, SELFMAG);
	h.e_ident[EI_CLASS] = ELFCLASS64;
	h.e_ident[EI_DATA] = ELFDATA2LSB;
	memcpy(s.bytes, &h, sizeof(h));
	memcpy(s.bytes + sizeof(h), p, sizeof(p));
	return s;
}

static void put32(uint8_t *at, size_t v)
{
	unsigned i;

	for (i = 0; i < 4; i++)
		at[i] = (uint8_t)(v >> (8 * i));
}

struct sample_bytes sample_image(const char *release, enum sample_filter filter,
				 const struct sample_bytes *payload)
{
	struct sample_bytes packed = sample_compress(filter, payload->bytes, payload->len);
	size_t trailer = filter == SAMPLE_GZIP ? 0 : 4;
	struct sample_bytes s = sample_new(0x700 + packed.len + trailer + 512);

	s.bytes[0x1f1] = 2; /* setup sectors: protected mode code at 0x600 */
	s.bytes[0x1fe] = 0x55;
	s.bytes[0x1ff] = 0xaa;
	memcpy(s.bytes + 0x202, "HdrS", 4);
	s.bytes[0x206] = 0x0f;
	s.bytes[0x207] = 0x02;
	s.bytes[0x20e] = 0x80; /* version string at 0x280 */
	(void)snprintf((char *)s.bytes + 0x280, 0x180, "%s (builder@host) #1 SMP", release);
	put32(s.bytes + 0x248, 0x100);
	put32(s.bytes + 0x24c, packed.len + trailer);
	memcpy(s.bytes + 0x700, packed.bytes, packed.len);
	if (trailer)
		put32(s.bytes + 0x700 + packed.len, payload->len);
	free(packed.bytes);
	return s;
}

struct sample_bytes sample_kernel(const char *release, enum sample_filter filter, uint8_t id)
{
	struct sample_bytes vmlinux = sample_vmlinux(id);
	struct sample_bytes s = sample_image(release, filter, &vmlinux);

	free(vmlinux.bytes);
	return s;
}

/* ---- modules ---- */

struct sample_bytes sample_module(const char *name, const char *depends)
{
	return sample_module_for("", name, depends);
}

struct sample_bytes sample_module_for(const char *release, const char *name, const char *depends)
{
	static const char strings[] = "\0.modinfo\0.shstrtab";
	struct sample_bytes s = sample_new(4096);
	Elf64_Ehdr h = {.e_type = ET_REL,
			.e_machine = EM_X86_64,
			.e_shoff = 1024,
			.e_shentsize = sizeof(Elf64_Shdr),
			.e_shnum = 3,
			.e_shstrndx = 2};
	Elf64_Shdr sh[3] = {{0},
			    {.sh_name = 1, .sh_type = SHT_PROGBITS, .sh_offset = 2048},
			    {.sh_name = 10, .sh_type = SHT_STRTAB, .sh_offset = 512}};
	int len = snprintf((char *)s.bytes + 2048, 2048, "license=GPL%cdepends=%s%cname=%s%c%s%s%s",
			   0, depends, 0, name, 0, release[0] ? "vermagic=" : "", release,
			   release[0] ? " SMP preempt mod_unload modversions " : "");

	assert_true(len > 0 && len < 2048);
	sh[1].sh_size = (size_t)len + 1;
	sh[2].sh_size = sizeof(strings);
	memcpy(h.e_ident, ELFMAG, SELFMAG);
	h.e_ident[EI_CLASS] = ELFCLASS64;
	h.e_ident[EI_DATA] = ELFDATA2LSB;
	memcpy(s.bytes, &h, sizeof(h));
	memcpy(s.bytes + 512, strings, sizeof(strings));
	memcpy(s.bytes + 1024, sh, sizeof(sh));
	return s;
}

/* ---- folders ---- */

char *sample_folder(void)
{
	const char *tmp = getenv("TMPDIR");
	char *path = malloc(PATH_MAX);

	assert_non_null(path);
	(void)snprintf(path, PATH_MAX, "%s/kgrid-test-XXXXXX", tmp && tmp[0] ? tmp : "/tmp");
	assert_non_null(mkdtemp(path));
	return path;
}

void sample_remove(char *folder)
{
	struct kg_err err = {""};

	assert_int_equal(kg_remove_tree(folder, &err), 0);
	free(folder);
}

void sample_write(const char *folder, const char *path, const void *bytes, size_t len)
{
	char full[PATH_MAX];
	struct kg_err err = {""};
	char *slash;
	int fd;

	assert_true(snprintf(full, sizeof(full), "%s/%s", folder, path) < (int)sizeof(full));
	slash = strrchr(full, '/');
	*slash = '\0';
	assert_int_equal(kg_mkdir_p(full, 0755, &err), 0);
	*slash = '/';
	fd = open(full, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	assert_true(fd >= 0);
	assert_int_equal(kg_write_all(fd, bytes, len), 0);
	close(fd);
}
