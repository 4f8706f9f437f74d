/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tests/lib/cmocka_all.h"

#include "cli/pack/kernel_pack.h"

#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include <archive_entry.h>

#include "coordinator/artifact/image.h"
#include "tests/unit/pack/deb.h"

#define REL	"6.1.0-57-test"
#define MODULES "lib/modules/" REL "/"

struct fixture {
	char *dir;
	struct sample_bytes image, a, b;
	struct kg_err err;
};

static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));
	struct sample_bytes plain;

	assert_non_null(f);
	f->dir = sample_folder();
	f->image = sample_kernel(REL, SAMPLE_ZSTD, 0x42);
	f->a = sample_module("a", "b");
	plain = sample_module("b", "");
	f->b = sample_compress(SAMPLE_XZ, plain.bytes, plain.len);
	free(plain.bytes);
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	free(f->image.bytes);
	free(f->a.bytes);
	free(f->b.bytes);
	sample_remove(f->dir);
	free(f);
	return 0;
}

#define N_GOOD 6

/* The members of a good package; the caller may add behind them. */
static void good(const struct fixture *f, struct member m[N_GOOD + 4])
{
	memset(m, 0, (N_GOOD + 4) * sizeof(*m));
	m[0] = (struct member){
		.path = "boot/vmlinuz-" REL, .bytes = f->image.bytes, .len = f->image.len};
	m[1] = (struct member){
		.path = "boot/config-" REL, .bytes = SAMPLE_CONFIG, .len = strlen(SAMPLE_CONFIG)};
	m[2] = (struct member){.path = MODULES "kernel/a.ko", .bytes = f->a.bytes, .len = f->a.len};
	m[3] = (struct member){
		.path = MODULES "kernel/b.ko.xz", .bytes = f->b.bytes, .len = f->b.len};
	m[4] = (struct member){
		.path = MODULES "modules.order", .bytes = "kernel/b.ko\nkernel/a.ko\n", .len = 24};
	m[5] = (struct member){.path = "usr/share/doc/changelog", .bytes = "doc", .len = 3};
}

static int open_path(struct fixture *f, const char *name, struct kernel_pack **p)
{
	char path[300];
	const char *paths[] = {path};
	struct kernel_pack_source s = {.paths = paths, .n_paths = 1};

	(void)snprintf(path, sizeof(path), "%s/%s", f->dir, name);
	f->err.text[0] = '\0';
	return kernel_pack_open(&s, p, &f->err);
}

/* Packs a package of these members. Frees nothing of the members. */
static int open_members(struct fixture *f, const struct member *m, struct kernel_pack **p)
{
	struct sample_bytes deb = deb_make(m);

	sample_write(f->dir, "x.deb", deb.bytes, deb.len);
	free(deb.bytes);
	return open_path(f, "x.deb", p);
}

static void refused(struct fixture *f, const struct member *m, int code, const char *why)
{
	struct kernel_pack *p;

	assert_int_equal(open_members(f, m, &p), code);
	assert_contains(f->err.text, why);
	assert_contains(f->err.text, "'x.deb'");
}

/* Adds one member to a good package, which is then refused. */
static void refused_with(struct fixture *f, struct member extra, int code, const char *why)
{
	struct member m[N_GOOD + 4];

	good(f, m);
	m[N_GOOD] = extra;
	refused(f, m, code, why);
}

/* Content of a manifest path, NUL-terminated. Owned. */
static char *content(const struct kernel_pack *p, const char *path)
{
	const struct artifact_file *file = artifact_manifest_find(kernel_pack_manifest(p), path);
	struct kg_err err;
	size_t len = 0;
	char *text;

	assert_non_null(file);
	text = calloc(1, (size_t)file->size_bytes + 1);
	assert_non_null(text);
	assert_int_equal(kernel_pack_read(p, file->digest, 0, text, (size_t)file->size_bytes, &len,
					  &err),
			 0);
	assert_int_equal(len, file->size_bytes);
	return text;
}

/* ---- packages ---- */

static void test_package_becomes_a_manifest(void **state)
{
	struct fixture *f = *state;
	struct member m[N_GOOD + 4];
	struct artifact_manifest parsed;
	const struct artifact_manifest *got;
	char digest[KG_SHA256_HEX_SIZE];
	struct kernel_pack *p;
	const char *text;
	size_t len;
	char *dep;

	good(f, m);
	assert_int_equal(open_members(f, m, &p), 0);
	got = kernel_pack_manifest(p);
	assert_string_equal(got->release, REL);
	assert_int_equal(got->n, 6);
	assert_string_equal(kernel_pack_warnings(p), "");
	text = kernel_pack_text(p, &len);
	assert_int_equal(artifact_manifest_parse(text, len, &parsed, &f->err), 0);
	artifact_manifest_deinit(&parsed);
	assert_int_equal(artifact_manifest_digest(text, len, digest), 0);
	assert_string_equal(digest, kernel_pack_digest(p));
	dep = content(p, "modules/modules.dep");
	assert_string_equal(dep, "kernel/b.ko.xz:\nkernel/a.ko: kernel/b.ko.xz\n");
	free(dep);
	dep = content(p, "config");
	assert_string_equal(dep, SAMPLE_CONFIG);
	free(dep);
	kernel_pack_free(p);
}

static void test_content_is_read_in_chunks(void **state)
{
	struct fixture *f = *state;
	const struct artifact_file *file;
	struct member m[N_GOOD + 4];
	struct kernel_pack *p;
	uint8_t buf[1000];
	uint64_t at = 0;
	size_t len;

	good(f, m);
	assert_int_equal(open_members(f, m, &p), 0);
	file = artifact_manifest_find(kernel_pack_manifest(p), "vmlinuz");
	do {
		assert_int_equal(
			kernel_pack_read(p, file->digest, at, buf, sizeof(buf), &len, &f->err), 0);
		assert_memory_equal(buf, f->image.bytes + at, len);
		at += len;
	} while (len > 0);
	assert_int_equal(at, f->image.len);
	assert_true(kernel_pack_read(p, file->digest, at + 1, buf, 1, &len, &f->err) < 0);
	assert_int_equal(kernel_pack_read(p, "none", 0, buf, 1, &len, &f->err), KG_ENOTFOUND);
	kernel_pack_free(p);
}

static void pack_digest(struct fixture *f, const struct member *m, char ret[KG_SHA256_HEX_SIZE])
{
	struct kernel_pack *p;

	assert_int_equal(open_members(f, m, &p), 0);
	memcpy(ret, kernel_pack_digest(p), KG_SHA256_HEX_SIZE);
	kernel_pack_free(p);
}

static void test_every_compression_of_a_package_gives_the_same_kernel(void **state)
{
	static const struct {
		enum sample_filter filter;
		const char *name;
	} kinds[] = {{SAMPLE_XZ, "data.tar.xz"},
		     {SAMPLE_ZSTD, "data.tar.zst/"},
		     {SAMPLE_GZIP, "data.tar.gz"},
		     {SAMPLE_BZIP2, "data.tar.bz2"},
		     {SAMPLE_PLAIN, "data.tar"}};
	struct fixture *f = *state;
	char want[KG_SHA256_HEX_SIZE];
	struct member m[N_GOOD + 4];
	struct kernel_pack *p;
	size_t i;

	good(f, m);
	pack_digest(f, m, want);
	for (i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		struct sample_bytes tar = deb_tar(m, kinds[i].filter);
		struct sample_bytes deb = deb_around(&tar, kinds[i].name);

		sample_write(f->dir, "x.deb", deb.bytes, deb.len);
		assert_int_equal(open_path(f, "x.deb", &p), 0);
		assert_string_equal(kernel_pack_digest(p), want);
		kernel_pack_free(p);
		free(tar.bytes);
		free(deb.bytes);
	}
}

static void test_place_of_files_does_not_change_the_kernel(void **state)
{
	struct fixture *f = *state;
	char want[KG_SHA256_HEX_SIZE], got[KG_SHA256_HEX_SIZE];
	struct member m[N_GOOD + 4];

	good(f, m);
	pack_digest(f, m, want);
	m[0].path = "usr/" MODULES "vmlinuz"; /* all below a merged /usr */
	m[1].path = "usr/" MODULES "config";
	m[2].path = "usr/" MODULES "kernel/a.ko";
	m[3].path = "usr/" MODULES "kernel/b.ko.xz";
	m[4].path = "usr/" MODULES "modules.order";
	pack_digest(f, m, got);
	assert_string_equal(got, want);
}

static void test_another_config_of_the_same_release_is_another_kernel(void **state)
{
	static const char config[] = SAMPLE_CONFIG "CONFIG_SECURITY_TOMOYO=y\n";
	struct fixture *f = *state;
	char one[KG_SHA256_HEX_SIZE], two[KG_SHA256_HEX_SIZE];
	struct member m[N_GOOD + 4];

	good(f, m);
	pack_digest(f, m, one);
	m[1].bytes = config;
	m[1].len = strlen(config);
	pack_digest(f, m, two);
	assert_string_not_equal(one, two);
}

static void test_package_without_image_says_so(void **state)
{
	struct fixture *f = *state;
	struct member m[N_GOOD + 4];

	good(f, m);
	refused(f, m + 5, KG_EINVALID,
		"'x.deb' holds no kernel image (boot/vmlinuz-*); is it a linux-image package?");
	refused(f, m + 1, KG_EINVALID, "holds no kernel image");
}

static void test_package_without_config_or_modules_says_so(void **state)
{
	struct fixture *f = *state;
	struct member m[N_GOOD + 4];

	good(f, m);
	m[1].path = "boot/other";
	refused(f, m, KG_EINVALID, "holds no configuration (boot/config-" REL ")");
	good(f, m);
	memset(m + 2, 0, sizeof(m[0]));
	refused(f, m, KG_EINVALID, "holds no modules (lib/modules/" REL ")");
}

static void test_truncated_package_says_so(void **state)
{
	struct fixture *f = *state;
	struct member m[N_GOOD + 4];
	struct sample_bytes deb;
	struct kernel_pack *p;
	size_t len;

	good(f, m);
	deb = deb_make(m);
	for (len = 1; len < deb.len; len += len < 250 ? 1 : 997) {
		sample_write(f->dir, "x.deb", deb.bytes, len);
		assert_int_equal(open_path(f, "x.deb", &p), KG_EINVALID);
		assert_contains(f->err.text, "'x.deb' is truncated");
	}
	sample_write(f->dir, "x.deb", deb.bytes, deb.len - 1);
	assert_int_equal(open_path(f, "x.deb", &p), KG_EINVALID);
	assert_contains(f->err.text, "'x.deb' is truncated");
	free(deb.bytes);
}

static void test_damaged_package_is_refused(void **state)
{
	struct fixture *f = *state;
	struct member m[N_GOOD + 4];
	struct sample_bytes tar, deb;
	struct kernel_pack *p;

	good(f, m);
	tar = deb_tar(m, SAMPLE_XZ);
	tar.bytes[tar.len / 2] ^= 0xff;
	deb = deb_around(&tar, "data.tar.xz");
	sample_write(f->dir, "x.deb", deb.bytes, deb.len);
	assert_int_equal(open_path(f, "x.deb", &p), KG_EINVALID);
	assert_contains(f->err.text, "'x.deb' is damaged");
	free(deb.bytes);
	tar.len /= 2; /* complete around a half */
	deb = deb_around(&tar, "data.tar.xz");
	sample_write(f->dir, "x.deb", deb.bytes, deb.len);
	assert_int_equal(open_path(f, "x.deb", &p), KG_EINVALID);
	assert_contains(f->err.text, "'x.deb' is damaged");
	free(deb.bytes);
	free(tar.bytes);
}

static void test_other_file_is_no_package(void **state)
{
	struct fixture *f = *state;
	struct kernel_pack *p;

	sample_write(f->dir, "x.deb", "PK\003\004 something else", 20);
	assert_int_equal(open_path(f, "x.deb", &p), KG_EINVALID);
	assert_string_equal(f->err.text, "'x.deb' is not a Debian package");
	sample_write(f->dir, "x.deb", "", 0);
	assert_int_equal(open_path(f, "x.deb", &p), KG_EINVALID);
	assert_string_equal(f->err.text, "'x.deb' is empty");
	sample_write(f->dir, "x.deb",
		     "!<arch>\nlibx.o          0           0     0     100644  4         `\nabcd",
		     72);
	assert_int_equal(open_path(f, "x.deb", &p), KG_EINVALID);
	assert_contains(f->err.text, "is an ar archive, but not a Debian package");
	assert_true(open_path(f, "none.deb", &p) < 0);
	assert_contains(f->err.text, "No such file");
}

static void test_unsafe_path_is_refused(void **state)
{
	struct fixture *f = *state;

	refused_with(f, (struct member){.path = "../etc/passwd", .bytes = "x", .len = 1},
		     KG_EINVALID, "unsafe path: a path has a '..' component");
	refused_with(f, (struct member){.path = "/etc/passwd", .bytes = "x", .len = 1, .raw = 1},
		     KG_EINVALID, "unsafe path: a path is absolute");
	refused_with(
		f,
		(struct member){.path = MODULES "kernel/../../../../x.ko", .bytes = "x", .len = 1},
		KG_EINVALID, "'..' component");
	refused_with(f,
		     (struct member){
			     .path = MODULES "kernel/a b.ko", .bytes = f->a.bytes, .len = f->a.len},
		     KG_EINVALID, "character that is not allowed");
}

static void test_device_is_refused(void **state)
{
	struct fixture *f = *state;
	static const unsigned types[] = {AE_IFCHR, AE_IFBLK, AE_IFIFO};
	size_t i;

	for (i = 0; i < 3; i++)
		refused_with(f, (struct member){.path = "dev/x", .file_type = types[i]},
			     KG_EINVALID, "device, pipe or socket");
}

static void test_link_that_leaves_is_refused(void **state)
{
	struct fixture *f = *state;
	static const char *const targets[] = {"/etc/passwd", "../../../../../etc/passwd",
					      "kernel/../../../../../../x"};
	size_t i;

	for (i = 0; i < 3; i++) {
		refused_with(f, (struct member){.path = MODULES "x.ko", .link = targets[i]},
			     KG_EINVALID, "holds a link that leaves it: '" MODULES "x.ko'");
		refused_with(f, (struct member){.path = MODULES "extra", .link = targets[i]},
			     KG_EINVALID, "holds a link that leaves it");
	}
	refused_with(f, (struct member){.path = MODULES "x.ko", .hard = "../etc/shadow"},
		     KG_EINVALID, "holds a link that leaves it");
	refused_with(f, (struct member){.path = MODULES "x.ko", .link = "kernel/none.ko"},
		     KG_EINVALID, "which is not there");
	refused_with(f, (struct member){.path = MODULES "x.ko", .link = "x.ko"}, KG_EINVALID,
		     "which is not there");
}

static void test_link_to_where_it_was_built_is_skipped(void **state)
{
	struct fixture *f = *state;
	char want[KG_SHA256_HEX_SIZE], got[KG_SHA256_HEX_SIZE];
	struct member m[N_GOOD + 4];

	good(f, m);
	pack_digest(f, m, want);
	m[N_GOOD] = (struct member){.path = MODULES "build", .link = "/usr/src/linux-headers"};
	m[N_GOOD + 1] = (struct member){.path = MODULES "source", .link = "/usr/src/linux"};
	m[N_GOOD + 2] =
		(struct member){.path = "usr/share/doc/copyright", .link = "/usr/share/GPL-2"};
	pack_digest(f, m, got);
	assert_string_equal(got, want);
}

static void test_link_inside_has_the_content_of_its_target(void **state)
{
	struct fixture *f = *state;
	struct member m[N_GOOD + 4];
	const struct artifact_manifest *got;
	struct kernel_pack *p;

	good(f, m);
	m[0].path = "usr/" MODULES "vmlinuz";
	m[N_GOOD] =
		(struct member){.path = "boot/vmlinuz-" REL, .link = "../usr/" MODULES "vmlinuz"};
	m[N_GOOD + 1] =
		(struct member){.path = MODULES "kernel/c.ko", .hard = "./" MODULES "kernel/a.ko"};
	m[N_GOOD + 2] = (struct member){.path = MODULES "kernel/d.ko", .link = "c.ko"};
	assert_int_equal(open_members(f, m, &p), 0);
	got = kernel_pack_manifest(p);
	assert_string_equal(artifact_manifest_find(got, "modules/kernel/d.ko")->digest,
			    artifact_manifest_find(got, "modules/kernel/a.ko")->digest);
	assert_int_equal(artifact_manifest_find(got, "vmlinuz")->size_bytes, f->image.len);
	kernel_pack_free(p);
}

static void test_several_releases_are_named(void **state)
{
	struct fixture *f = *state;

	refused_with(f,
		     (struct member){.path = "boot/vmlinuz-6.12.1-other",
				     .bytes = f->image.bytes,
				     .len = f->image.len},
		     KG_EAMBIGUOUS, "'" REL "', '6.12.1-other'");
	refused_with(f,
		     (struct member){.path = "lib/modules/6.12.1-other/kernel/a.ko",
				     .bytes = f->a.bytes,
				     .len = f->a.len},
		     KG_EAMBIGUOUS, "'" REL "', '6.12.1-other'");
}

static void test_image_of_another_release_than_its_place_is_refused(void **state)
{
	struct fixture *f = *state;
	struct sample_bytes other = sample_kernel("6.1.0-99-test", SAMPLE_GZIP, 1);
	struct member m[N_GOOD + 4];

	good(f, m);
	m[0].bytes = other.bytes;
	m[0].len = other.len;
	refused(f, m, KG_EINVALID, "is of release '6.1.0-99-test', but lies among files of");
	free(other.bytes);
}

static void test_two_versions_of_a_file_are_refused(void **state)
{
	struct fixture *f = *state;
	struct member m[N_GOOD + 4];

	good(f, m);
	m[N_GOOD] = (struct member){
		.path = "usr/" MODULES "kernel/a.ko", .bytes = f->b.bytes, .len = f->b.len};
	refused(f, m, KG_EINVALID, "are the same file of the kernel and differ");
	m[N_GOOD].bytes = f->a.bytes;
	m[N_GOOD].len = f->a.len;
	pack_digest(f, m, (char[KG_SHA256_HEX_SIZE]){0});
}

static void test_image_or_module_that_is_none_is_refused(void **state)
{
	struct fixture *f = *state;
	struct member m[N_GOOD + 4];

	good(f, m);
	m[0].bytes = "junk";
	m[0].len = 4;
	refused(f, m, KG_EINVALID, "'x.deb': 'boot/vmlinuz-" REL "': not an x86 kernel image");
	good(f, m);
	m[2].bytes = "junk";
	m[2].len = 4;
	refused(f, m, KG_EINVALID, "'" MODULES "kernel/a.ko'");
	good(f, m);
	m[1].bytes = "junk";
	m[1].len = 4;
	refused(f, m, KG_EINVALID, "not the configuration of an x86-64 kernel");
}

static void test_zip_bomb_is_refused_before_it_is_unpacked(void **state)
{
	struct fixture *f = *state;

	refused_with(f, (struct member){.path = "usr/share/zeros", .size = 70u << 20}, KG_ELIMIT,
		     "unpacks to more than 200 times its size");
	refused_with(f, (struct member){.path = MODULES "zeros.ko", .size = 70u << 20}, KG_ELIMIT,
		     "unpacks to more than 200 times its size");
}

/* ---- folders and single files ---- */

/* The good package below `root`, unpacked; `modules` is where lib/modules/REL goes. */
static void unpack(const struct fixture *f, const char *image, const char *config,
		   const char *modules)
{
	char path[300];

	sample_write(f->dir, image, f->image.bytes, f->image.len);
	sample_write(f->dir, config, SAMPLE_CONFIG, strlen(SAMPLE_CONFIG));
	(void)snprintf(path, sizeof(path), "%s/kernel/a.ko", modules);
	sample_write(f->dir, path, f->a.bytes, f->a.len);
	(void)snprintf(path, sizeof(path), "%s/kernel/b.ko.xz", modules);
	sample_write(f->dir, path, f->b.bytes, f->b.len);
	(void)snprintf(path, sizeof(path), "%s/modules.order", modules);
	sample_write(f->dir, path, "kernel/b.ko\nkernel/a.ko\n", 24);
	(void)snprintf(path, sizeof(path), "%s/modules.dep", modules); /* as depmod leaves them */
	sample_write(f->dir, path, "stale", 5);
	(void)snprintf(path, sizeof(path), "%s/modules.dep.bin", modules);
	sample_write(f->dir, path, "stale", 5);
	(void)snprintf(path, sizeof(path), "%s/%s/build", f->dir, modules);
	assert_int_equal(symlink("/usr/src/linux", path), 0);
}

static void test_every_layout_of_a_folder_gives_the_same_kernel(void **state)
{
	struct fixture *f = *state;
	char want[KG_SHA256_HEX_SIZE];
	struct member m[N_GOOD + 4];
	static const char *const roots[] = {"root", "merged", "usr", "plain", "installed"};
	struct kernel_pack *p;
	char path[300];
	size_t i;

	good(f, m);
	pack_digest(f, m, want);
	unpack(f, "root/boot/vmlinuz-" REL, "root/boot/config-" REL, "root/lib/modules/" REL);
	unpack(f, "merged/boot/vmlinuz-" REL, "merged/boot/config-" REL,
	       "merged/usr/lib/modules/" REL);
	(void)snprintf(path, sizeof(path), "%s/merged/lib", f->dir);
	assert_int_equal(symlink("usr/lib", path), 0);
	unpack(f, "usr/usr/lib/modules/" REL "/vmlinuz", "usr/usr/lib/modules/" REL "/config",
	       "usr/usr/lib/modules/" REL);
	unpack(f, "plain/vmlinuz", "plain/config", "plain/modules");
	unpack(f, "installed/vmlinuz", "installed/config", "installed");
	for (i = 0; i < 5; i++) {
		if (open_path(f, roots[i], &p) < 0)
			fail_msg("%s: %s", roots[i], f->err.text);
		assert_string_equal(kernel_pack_digest(p), want);
		kernel_pack_free(p);
	}
}

static void test_single_files_are_a_kernel(void **state)
{
	struct fixture *f = *state;
	char vmlinuz[300], config[300], modules[300], want[KG_SHA256_HEX_SIZE];
	struct kernel_pack_source s = {.vmlinuz = vmlinuz, .config = config, .modules = modules};
	struct member m[N_GOOD + 4];
	struct kernel_pack *p;

	good(f, m);
	pack_digest(f, m, want);
	unpack(f, "bzImage", ".config", "mods/lib/modules/" REL);
	(void)snprintf(vmlinuz, sizeof(vmlinuz), "%s/bzImage", f->dir);
	(void)snprintf(config, sizeof(config), "%s/.config", f->dir);
	(void)snprintf(modules, sizeof(modules), "%s/mods", f->dir);
	assert_int_equal(kernel_pack_open(&s, &p, &f->err), 0);
	assert_string_equal(kernel_pack_digest(p), want);
	kernel_pack_free(p);
	(void)snprintf(modules, sizeof(modules), "%s/mods/lib/modules/" REL, f->dir);
	assert_int_equal(kernel_pack_open(&s, &p, &f->err), 0);
	assert_string_equal(kernel_pack_digest(p), want);
	kernel_pack_free(p);
	s.modules = NULL;
	assert_int_equal(kernel_pack_open(&s, &p, &f->err), KG_EINVALID);
	assert_contains(f->err.text, "holds no modules");
}

static void test_kernel_may_be_split_over_packages(void **state)
{
	struct fixture *f = *state;
	char one[300], two[300], want[KG_SHA256_HEX_SIZE];
	const char *paths[] = {one, two};
	struct kernel_pack_source s = {.paths = paths, .n_paths = 2};
	struct member m[N_GOOD + 4];
	struct sample_bytes deb;
	struct kernel_pack *p;

	good(f, m);
	pack_digest(f, m, want);
	deb = deb_make(m + 1);
	sample_write(f->dir, "modules.deb", deb.bytes, deb.len);
	free(deb.bytes);
	memset(m + 1, 0, sizeof(m[0]));
	deb = deb_make(m);
	sample_write(f->dir, "image.deb", deb.bytes, deb.len);
	free(deb.bytes);
	(void)snprintf(one, sizeof(one), "%s/image.deb", f->dir);
	(void)snprintf(two, sizeof(two), "%s/modules.deb", f->dir);
	assert_int_equal(kernel_pack_open(&s, &p, &f->err), 0);
	assert_string_equal(kernel_pack_digest(p), want);
	kernel_pack_free(p);
}

static void test_release_is_chosen_among_several(void **state)
{
	struct fixture *f = *state;
	struct sample_bytes other = sample_kernel("6.12.1-other", SAMPLE_GZIP, 1);
	char path[300], want[KG_SHA256_HEX_SIZE];
	const char *paths[] = {path};
	struct kernel_pack_source s = {.paths = paths, .n_paths = 1};
	struct member m[N_GOOD + 4];
	struct kernel_pack *p;

	good(f, m);
	pack_digest(f, m, want);
	unpack(f, "root/boot/vmlinuz-" REL, "root/boot/config-" REL, "root/lib/modules/" REL);
	sample_write(f->dir, "root/boot/vmlinuz-6.12.1-other", other.bytes, other.len);
	sample_write(f->dir, "root/boot/config-6.12.1-other", "x", 1);
	(void)snprintf(path, sizeof(path), "%s/root", f->dir);
	assert_int_equal(kernel_pack_open(&s, &p, &f->err), KG_EAMBIGUOUS);
	assert_contains(f->err.text, "6.12.1-other");
	s.release = REL;
	assert_int_equal(kernel_pack_open(&s, &p, &f->err), 0);
	assert_string_equal(kernel_pack_digest(p), want);
	kernel_pack_free(p);
	s.release = "6.13";
	assert_int_equal(kernel_pack_open(&s, &p, &f->err), KG_ENOTFOUND);
	assert_contains(f->err.text, "holds no kernel image of '6.13'");
	free(other.bytes);
}

static void test_unsafe_folder_is_refused(void **state)
{
	struct fixture *f = *state;
	struct kernel_pack *p;
	char path[300];

	unpack(f, "root/boot/vmlinuz-" REL, "root/boot/config-" REL, "root/lib/modules/" REL);
	(void)snprintf(path, sizeof(path), "%s/root/" MODULES "x.ko", f->dir);
	assert_int_equal(symlink("/etc/passwd", path), 0);
	assert_int_equal(open_path(f, "root", &p), KG_EINVALID);
	assert_contains(f->err.text, "'root' holds a link that leaves it");
	assert_int_equal(unlink(path), 0);
	assert_int_equal(symlink("kernel/a.ko", path), 0); /* inside: content of the target */
	assert_int_equal(open_path(f, "root", &p), 0);
	assert_string_equal(
		artifact_manifest_find(kernel_pack_manifest(p), "modules/x.ko")->digest,
		artifact_manifest_find(kernel_pack_manifest(p), "modules/kernel/a.ko")->digest);
	kernel_pack_free(p);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(mkfifo(path, 0600), 0);
	assert_int_equal(open_path(f, "root", &p), KG_EINVALID);
	assert_contains(f->err.text, "device, pipe or socket");
}

static void test_folder_without_kernel_says_so(void **state)
{
	struct fixture *f = *state;
	struct kernel_pack *p;

	sample_write(f->dir, "root/README", "x", 1);
	assert_int_equal(open_path(f, "root", &p), KG_EINVALID);
	assert_contains(f->err.text, "'root' holds no kernel image");
}

static void test_missing_dependency_is_a_warning(void **state)
{
	struct fixture *f = *state;
	struct sample_bytes c = sample_module("c", "gone");
	struct member m[N_GOOD + 4];
	struct kernel_pack *p;

	good(f, m);
	m[N_GOOD] = (struct member){.path = MODULES "kernel/c.ko", .bytes = c.bytes, .len = c.len};
	assert_int_equal(open_members(f, m, &p), 0);
	assert_string_equal(kernel_pack_warnings(p),
			    "module 'c' needs 'gone', which is not there\n");
	kernel_pack_free(p);
	free(c.bytes);
}

static void test_module_built_for_another_release_is_refused(void **state)
{
	struct fixture *f = *state;
	struct sample_bytes c = sample_module_for("5.15.0-other", "c", "");
	struct member m[N_GOOD + 4];
	struct kernel_pack *p;

	good(f, m);
	m[N_GOOD] = (struct member){.path = MODULES "kernel/c.ko", .bytes = c.bytes, .len = c.len};
	assert_int_equal(open_members(f, m, &p), KG_EINVALID);
	assert_contains(f->err.text,
			"is a module of release '5.15.0-other', and the image is of '" REL);
	free(c.bytes);
}

/* KGRID_TEST_DEB names a real linux-image package. */
static void test_real_package_is_packed(void **state)
{
	const char *path = getenv("KGRID_TEST_DEB");
	struct kernel_pack_source s = {.paths = &path, .n_paths = 1};
	const struct artifact_manifest *m;
	struct fixture *f = *state;
	struct artifact_image image;
	struct kernel_pack *p;
	char *bytes, *dep;

	if (!path || !path[0])
		skip();
	if (kernel_pack_open(&s, &p, &f->err) < 0)
		fail_msg("%s", f->err.text);
	m = kernel_pack_manifest(p);
	bytes = content(p, "vmlinuz");
	assert_int_equal(artifact_image_inspect(
				 bytes, (size_t)artifact_manifest_find(m, "vmlinuz")->size_bytes,
				 &image, &f->err),
			 0);
	assert_string_equal(image.release, m->release);
	assert_int_equal(strlen(image.build_id), 40);
	free(bytes);
	dep = content(p, "modules/modules.dep");
	assert_contains(dep, "/virtio_net.ko");
	free(dep);
	assert_string_equal(kernel_pack_warnings(p), "");
	kernel_pack_free(p);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_package_becomes_a_manifest),
		TEST(test_content_is_read_in_chunks),
		TEST(test_every_compression_of_a_package_gives_the_same_kernel),
		TEST(test_place_of_files_does_not_change_the_kernel),
		TEST(test_another_config_of_the_same_release_is_another_kernel),
		TEST(test_package_without_image_says_so),
		TEST(test_package_without_config_or_modules_says_so),
		TEST(test_truncated_package_says_so),
		TEST(test_damaged_package_is_refused),
		TEST(test_other_file_is_no_package),
		TEST(test_unsafe_path_is_refused),
		TEST(test_device_is_refused),
		TEST(test_link_that_leaves_is_refused),
		TEST(test_link_to_where_it_was_built_is_skipped),
		TEST(test_link_inside_has_the_content_of_its_target),
		TEST(test_several_releases_are_named),
		TEST(test_image_of_another_release_than_its_place_is_refused),
		TEST(test_two_versions_of_a_file_are_refused),
		TEST(test_image_or_module_that_is_none_is_refused),
		TEST(test_zip_bomb_is_refused_before_it_is_unpacked),
		TEST(test_every_layout_of_a_folder_gives_the_same_kernel),
		TEST(test_single_files_are_a_kernel),
		TEST(test_kernel_may_be_split_over_packages),
		TEST(test_release_is_chosen_among_several),
		TEST(test_unsafe_folder_is_refused),
		TEST(test_folder_without_kernel_says_so),
		TEST(test_missing_dependency_is_a_warning),
		TEST(test_module_built_for_another_release_is_refused),
		TEST(test_real_package_is_packed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
