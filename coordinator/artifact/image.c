/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "coordinator/artifact/image.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "coordinator/artifact/inflate.h"

/* Setup header, Documentation/arch/x86/boot.rst */
#define SETUP_SECTS    0x1f1
#define BOOT_FLAG      0x1fe
#define MAGIC	       0x202
#define PROTOCOL       0x206
#define KERNEL_VERSION 0x20e
#define PAYLOAD_OFFSET 0x248
#define PAYLOAD_LENGTH 0x24c
#define HEADER_END     0x250
#define SECTOR	       512u

#define NOTES_MAX (256u << 10) /* the notes of a kernel are a few KiB */
#define PHDRS_MAX 64u

struct image {
	const uint8_t *bytes;
	size_t len;
};

/* Little endian at a checked offset; 0 beyond the end. */
static uint32_t get(const struct image *im, size_t off, unsigned size)
{
	uint32_t v = 0;
	unsigned i;

	if (off > im->len || im->len - off < size)
		return 0;
	for (i = 0; i < size; i++)
		v |= (uint32_t)im->bytes[off + i] << (8 * i);
	return v;
}

static int not_kernel(struct kg_err *err, const char *why)
{
	return kg_err_set(err, KG_EINVALID, "not an x86 kernel image: %s", why);
}

/* ---- header ---- */

static int read_version(const struct image *im, struct artifact_image *ret, struct kg_err *err)
{
	size_t off = get(im, KERNEL_VERSION, 2);
	const char *text;
	size_t len, word;

	if (off == 0 || off + SECTOR >= im->len)
		return not_kernel(err, "it has no version string");
	off += SECTOR;
	text = (const char *)im->bytes + off;
	len = strnlen(text, im->len - off);
	if (len == im->len - off || len > ARTIFACT_VERSION_MAX || !kg_utf8_valid(text, len))
		return not_kernel(err, "its version string is malformed");
	memcpy(ret->version, text, len);
	ret->version[len] = '\0';
	word = strcspn(ret->version, " ");
	if (word > ARTIFACT_RELEASE_MAX)
		return not_kernel(err, "its release is malformed");
	memcpy(ret->release, text, word);
	ret->release[word] = '\0';
	if (!artifact_release_valid(ret->release))
		return not_kernel(err, "its release is malformed");
	return 0;
}

int artifact_image_header(const void *bytes, size_t len, struct artifact_image *ret_image,
			  struct kg_err *err)
{
	const struct image im = {.bytes = bytes, .len = len};
	struct artifact_image image;
	int rc;

	memset(&image, 0, sizeof(image));
	if (len > ARTIFACT_IMAGE_MAX)
		return kg_err_set(err, KG_ELIMIT, "the kernel image is larger than %u bytes",
				  ARTIFACT_IMAGE_MAX);
	if (len < HEADER_END)
		return not_kernel(err, "too short");
	if (get(&im, BOOT_FLAG, 2) != 0xaa55 || memcmp(im.bytes + MAGIC, "HdrS", 4) != 0)
		return not_kernel(err, "no boot header (HdrS)");
	image.protocol = get(&im, PROTOCOL, 2);
	if (image.protocol < 0x200)
		return not_kernel(err, "its boot protocol is older than 2.00");
	rc = read_version(&im, &image, err);
	if (rc < 0)
		return rc;
	*ret_image = image;
	return 0;
}

/* ---- build id ---- */

/* Notes: namesz, descsz, type, name and desc each padded to 4 bytes (elf(5)). True when found. */
static bool find_build_id(const struct image *notes, char ret_hex[ARTIFACT_BUILD_ID_MAX + 1])
{
	static const char digits[] = "0123456789abcdef";
	size_t off = 0, i;

	while (notes->len - off >= 12) {
		uint64_t name_size = get(notes, off, 4), desc_size = get(notes, off + 4, 4);
		uint32_t type = get(notes, off + 8, 4);
		uint64_t name = off + 12;
		uint64_t desc = name + ((name_size + 3) & ~3ull);
		uint64_t next = desc + ((desc_size + 3) & ~3ull);

		if (desc + desc_size > notes->len)
			return false;
		if (type == NT_GNU_BUILD_ID && name_size == 4 &&
		    memcmp(notes->bytes + name, "GNU", 4) == 0 && desc_size > 0 &&
		    desc_size * 2 <= ARTIFACT_BUILD_ID_MAX) {
			for (i = 0; i < desc_size; i++) {
				uint8_t b = notes->bytes[desc + i];

				ret_hex[2 * i] = digits[b >> 4];
				ret_hex[2 * i + 1] = digits[b & 15];
			}
			ret_hex[2 * desc_size] = '\0';
			return true;
		}
		if (next > notes->len)
			return false;
		off = (size_t)next;
	}
	return false;
}

/* Reads a PT_NOTE segment, which lies behind what was read so far, and looks into it. */
static int look_into_segment(struct artifact_inflate *in, uint64_t off, uint64_t size,
			     struct artifact_image *image, struct kg_err *err)
{
	struct image notes;
	uint8_t *buf;
	size_t n = 0;
	int rc;

	if (size > NOTES_MAX)
		return 0;
	buf = malloc((size_t)size + 1);
	if (!buf)
		return kg_err_set(err, -ENOMEM, "out of memory");
	rc = artifact_inflate_seek(in, off, err);
	if (rc == 0)
		rc = artifact_inflate_read(in, buf, (size_t)size, &n, err);
	if (rc == 0 && n < size)
		rc = kg_err_set(err, KG_EINVALID, "the unpacked kernel ends too early");
	if (rc == 0) {
		notes.bytes = buf;
		notes.len = n;
		(void)find_build_id(&notes, image->build_id);
	}
	free(buf);
	return rc;
}

static int check_elf(const Elf64_Ehdr *e, size_t n, struct kg_err *err)
{
	if (n < sizeof(*e) || memcmp(e->e_ident, ELFMAG, SELFMAG) != 0)
		return kg_err_set(err, KG_EINVALID, "the unpacked kernel is not an ELF file");
	if (e->e_ident[EI_CLASS] != ELFCLASS64 || e->e_ident[EI_DATA] != ELFDATA2LSB ||
	    e->e_machine != EM_X86_64)
		return kg_err_set(err, KG_EINVALID, "the kernel is not for x86-64");
	if (e->e_phoff < sizeof(*e) || e->e_phentsize != sizeof(Elf64_Phdr) ||
	    e->e_phnum > PHDRS_MAX)
		return kg_err_set(err, KG_EINVALID, "the kernel's program headers are malformed");
	return 0;
}

static int read_build_id(struct artifact_inflate *in, struct artifact_image *image,
			 struct kg_err *err)
{
	Elf64_Phdr phdrs[PHDRS_MAX];
	Elf64_Ehdr e;
	size_t n = 0, i;
	int rc;

	memset(&e, 0, sizeof(e));
	rc = artifact_inflate_read(in, &e, sizeof(e), &n, err);
	if (rc == 0)
		rc = check_elf(&e, n, err);
	if (rc == 0)
		rc = artifact_inflate_seek(in, e.e_phoff, err);
	if (rc == 0)
		rc = artifact_inflate_read(in, phdrs, e.e_phnum * sizeof(phdrs[0]), &n, err);
	if (rc < 0)
		return rc;
	if (n < e.e_phnum * sizeof(phdrs[0]))
		return kg_err_set(err, KG_EINVALID, "the unpacked kernel ends too early");
	for (i = 0; i < e.e_phnum; i++) {
		if (phdrs[i].p_type != PT_NOTE)
			continue;
		if (phdrs[i].p_offset < e.e_phoff + n)
			return kg_err_set(err, KG_EINVALID,
					  "the kernel's notes overlap its headers");
		/* There is one in an x86 kernel (vmlinux.lds.S). */
		return look_into_segment(in, phdrs[i].p_offset, phdrs[i].p_filesz, image, err);
	}
	return 0;
}

/* The compressed kernel inside the image. The build appends the unpacked size (4 bytes) to every
 * method but gzip, whose stream ends with it; unpackers take those bytes for a next stream. */
static int payload(const struct image *im, unsigned protocol, struct image *ret, struct kg_err *err)
{
	uint64_t setup_sects = get(im, SETUP_SECTS, 1);
	uint64_t off = ((setup_sects ? setup_sects : 4) + 1) * SECTOR;
	uint64_t len;

	if (protocol < 0x208)
		return not_kernel(err, "its boot protocol is older than 2.08");
	off += get(im, PAYLOAD_OFFSET, 4);
	len = get(im, PAYLOAD_LENGTH, 4);
	if (len < 16 || off > im->len || len > im->len - off)
		return kg_err_set(err, KG_EINVALID,
				  "the kernel image is truncated: its payload ends at byte %llu of "
				  "%zu",
				  (unsigned long long)(off + len), im->len);
	ret->bytes = im->bytes + off;
	ret->len = (size_t)len;
	if (!(ret->bytes[0] == 0x1f && ret->bytes[1] == 0x8b))
		ret->len -= 4;
	return 0;
}

int artifact_image_inspect(const void *bytes, size_t len, struct artifact_image *ret_image,
			   struct kg_err *err)
{
	const struct image im = {.bytes = bytes, .len = len};
	struct artifact_inflate *in;
	struct artifact_image image;
	struct image packed = {0};
	int rc;

	rc = artifact_image_header(bytes, len, &image, err);
	if (rc == 0)
		rc = payload(&im, image.protocol, &packed, err);
	if (rc < 0)
		return rc;
	rc = artifact_inflate_open(packed.bytes, packed.len, ARTIFACT_PAYLOAD_MAX, &in, err);
	if (rc == 0) {
		rc = read_build_id(in, &image, err);
		artifact_inflate_free(in);
	}
	if (rc < 0)
		return kg_err_wrap(err, rc, "cannot read the kernel inside the image");
	*ret_image = image;
	return 0;
}

static int read_whole(int fd, size_t len, uint8_t *buf)
{
	size_t done = 0;

	while (done < len) {
		ssize_t n = pread(fd, buf + done, len - done, (off_t)done);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if (n == 0)
			return -EIO;
		done += (size_t)n;
	}
	return 0;
}

int artifact_image_inspect_file(const char *path, struct artifact_image *ret_image,
				struct kg_err *err)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	uint8_t *bytes = NULL;
	struct stat st;
	int rc;

	if (fd < 0)
		return kg_err_errno(err, "cannot open", path);
	if (fstat(fd, &st) < 0)
		rc = kg_err_errno(err, "cannot read", path);
	else if (!S_ISREG(st.st_mode))
		rc = kg_err_set(err, KG_EINVALID, "'%s' is not a file", path);
	else if (st.st_size > (off_t)ARTIFACT_IMAGE_MAX)
		rc = kg_err_set(err, KG_ELIMIT, "'%s' is larger than %u bytes", path,
				ARTIFACT_IMAGE_MAX);
	else if (!(bytes = malloc((size_t)st.st_size + 1)))
		rc = kg_err_set(err, -ENOMEM, "out of memory");
	else if ((rc = read_whole(fd, (size_t)st.st_size, bytes)) < 0)
		rc = kg_err_set(err, rc, "cannot read '%s': %s", path, kg_strerror(rc));
	else
		rc = artifact_image_inspect(bytes, (size_t)st.st_size, ret_image, err);
	free(bytes);
	close(fd);
	return rc;
}
