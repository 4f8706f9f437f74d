/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/pack/modinfo.h"

#include <elf.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "coordinator/artifact/inflate.h"

struct elf {
	const uint8_t *bytes;
	size_t len;
};

/* Copies a part of the file; false when it is not all inside. */
static bool get(const struct elf *e, uint64_t off, void *buf, size_t len)
{
	if (off > e->len || e->len - off < len)
		return false;
	memcpy(buf, e->bytes + off, len);
	return true;
}

static bool section(const struct elf *e, const Elf64_Ehdr *h, unsigned i, Elf64_Shdr *ret)
{
	uint64_t at = (uint64_t)i * sizeof(*ret);

	return i < h->e_shnum && h->e_shoff <= e->len && get(e, h->e_shoff + at, ret, sizeof(*ret));
}

/* Whether the name at `off` of the string table is `name`. */
static bool named(const struct elf *e, const Elf64_Shdr *strings, uint32_t off, const char *name)
{
	size_t len = strlen(name) + 1;

	return strings->sh_offset <= e->len && off < strings->sh_size &&
	       strings->sh_size - off >= len && e->len - strings->sh_offset >= off &&
	       e->len - strings->sh_offset - off >= len &&
	       memcmp(e->bytes + strings->sh_offset + off, name, len) == 0;
}

static bool find_section(const struct elf *e, const char *name, struct elf *ret)
{
	Elf64_Shdr strings, s;
	Elf64_Ehdr h;
	unsigned i;

	if (!get(e, 0, &h, sizeof(h)) || memcmp(h.e_ident, ELFMAG, SELFMAG) != 0 ||
	    h.e_ident[EI_CLASS] != ELFCLASS64 || h.e_ident[EI_DATA] != ELFDATA2LSB ||
	    h.e_shentsize != sizeof(Elf64_Shdr) || !section(e, &h, h.e_shstrndx, &strings))
		return false;
	for (i = 0; section(e, &h, i, &s); i++) {
		if (s.sh_type == SHT_NOBITS || !named(e, &strings, s.sh_name, name))
			continue;
		if (s.sh_offset > e->len || s.sh_size > e->len - s.sh_offset)
			return false;
		ret->bytes = e->bytes + s.sh_offset;
		ret->len = (size_t)s.sh_size;
		return true;
	}
	return false;
}

/* The section is a row of NUL-terminated "key=value". */
static int read_info(const struct elf *e, char **ret_depends, char *ret_release, size_t size,
		     struct kg_err *err)
{
	static const char depends_key[] = "depends=", vermagic_key[] = "vermagic=";
	struct elf info = {0};
	const char *value = "", *vermagic = "";
	size_t at = 0;

	if (!find_section(e, ".modinfo", &info))
		return kg_err_set(err, KG_EINVALID, "not a kernel module");
	while (at < info.len) {
		const char *entry = (const char *)info.bytes + at;
		size_t len = strnlen(entry, info.len - at);

		if (len == info.len - at)
			return kg_err_set(err, KG_EINVALID, "its .modinfo section is malformed");
		if (strncmp(entry, depends_key, sizeof(depends_key) - 1) == 0)
			value = entry + sizeof(depends_key) - 1;
		else if (strncmp(entry, vermagic_key, sizeof(vermagic_key) - 1) == 0)
			vermagic = entry + sizeof(vermagic_key) - 1;
		at += len + 1;
	}
	if (ret_release)
		(void)snprintf(ret_release, size, "%.*s", (int)strcspn(vermagic, " "), vermagic);
	*ret_depends = strdup(value);
	return *ret_depends ? 0 : kg_err_set(err, -ENOMEM, "out of memory");
}

int pack_module_info(const void *bytes, size_t len, char **ret_depends, char *ret_release,
		     size_t size, struct kg_err *err)
{
	struct elf e = {.bytes = bytes, .len = len};
	void *unpacked = NULL;
	int rc;

	if (len < SELFMAG || memcmp(bytes, ELFMAG, SELFMAG) != 0) {
		rc = artifact_inflate_all(bytes, len, PACK_MODULE_MAX, &unpacked, &e.len, err);
		if (rc < 0)
			return rc;
		e.bytes = unpacked;
	}
	rc = read_info(&e, ret_depends, ret_release, size, err);
	free(unpacked);
	return rc;
}
