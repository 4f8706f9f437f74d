/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/pack/kernel_pack.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/pack/deb.h"
#include "cli/pack/folder.h"
#include "cli/pack/modinfo.h"
#include "cli/pack/tree.h"
#include "coordinator/artifact/image.h"
#include "coordinator/artifact/kernel.h"

#define FILE_MODE 0644u
#define INDEX_MAX (16u << 20) /* bytes of modules.order and modules.builtin */

struct kernel_pack {
	struct pack_spool spool;
	struct pack_tree tree;
	struct artifact_manifest manifest;
	struct kg_str text;
	struct kg_str warnings;
	char digest[KG_SHA256_HEX_SIZE];
	const char *name; /* of the source, for errors; borrowed while opening */
	bool package;	  /* the source is one */
};

void kernel_pack_free(struct kernel_pack *p)
{
	if (!p)
		return;
	pack_tree_deinit(&p->tree);
	pack_spool_deinit(&p->spool);
	artifact_manifest_deinit(&p->manifest);
	kg_str_deinit(&p->text);
	kg_str_deinit(&p->warnings);
	free(p);
}

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && slash[1] ? slash + 1 : path;
}

/* ---- sources ---- */

static bool is_image(int fd)
{
	char magic[4];

	return pread(fd, magic, sizeof(magic), 0x202) == (ssize_t)sizeof(magic) &&
	       memcmp(magic, "HdrS", sizeof(magic)) == 0;
}

static int read_open_source(struct kernel_pack *p, int fd, struct kg_err *err)
{
	struct stat st;

	if (fstat(fd, &st) < 0)
		return kg_err_set(err, -errno, "cannot be read: %s", strerror(errno));
	if (S_ISDIR(st.st_mode))
		return pack_folder_read(fd, &p->tree, err);
	if (!S_ISREG(st.st_mode))
		return kg_err_set(err, KG_EINVALID, "is neither a package nor a folder");
	if (is_image(fd))
		return pack_file_read(fd, p->name, "vmlinuz", &p->tree, err);
	p->package = true;
	return pack_deb_read(fd, &p->tree, err);
}

/* Puts the name of a source in front: "'x.deb' is truncated", "'x.deb': out of memory". */
static int name_error(struct kg_err *err, int rc, const char *name)
{
	char text[KG_ERR_TEXT_MAX];

	if (!err)
		return rc;
	if ((rc != KG_EINVALID && rc != KG_ELIMIT && rc != KG_EVERSION) || err->text[0] == '\'')
		return kg_err_wrap(err, rc, "'%.100s'", name);
	memcpy(text, err->text, sizeof(text));
	return kg_err_set(err, rc, "'%.100s' %s", name, text);
}

static int read_source(struct kernel_pack *p, const char *path, struct kg_err *err)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	int rc;

	if (fd < 0)
		return kg_err_errno(err, "cannot open", path);
	p->name = base_name(path);
	rc = read_open_source(p, fd, err);
	close(fd);
	return rc < 0 ? name_error(err, rc, p->name) : 0;
}

/* One of the single files, or the modules' folder (`as` is NULL). */
static int read_single(struct kernel_pack *p, const char *path, const char *as, struct kg_err *err)
{
	int fd, rc;

	if (!path)
		return 0;
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | (as ? 0 : O_DIRECTORY));
	if (fd < 0)
		return kg_err_errno(err, "cannot open", path);
	rc = as ? pack_file_read(fd, path, as, &p->tree, err)
		: pack_folder_read_modules(fd, &p->tree, err);
	close(fd);
	return rc < 0 ? name_error(err, rc, base_name(path)) : 0;
}

static int read_sources(struct kernel_pack *p, const struct kernel_pack_source *source,
			struct kg_err *err)
{
	size_t i;
	int rc = 0;

	p->name = source->vmlinuz ? base_name(source->vmlinuz) : "";
	for (i = 0; i < source->n_paths && rc == 0; i++)
		rc = read_source(p, source->paths[i], err);
	if (rc == 0)
		rc = read_single(p, source->vmlinuz, "vmlinuz", err);
	if (rc == 0)
		rc = read_single(p, source->config, "config", err);
	if (rc == 0)
		rc = read_single(p, source->system_map, "System.map", err);
	if (rc == 0)
		rc = read_single(p, source->modules, NULL, err);
	return rc;
}

/* ---- making sense of what was found ---- */

static int check_one_release(const struct kernel_pack *p, struct kg_err *err)
{
	const struct pack_tree *t = &p->tree;
	struct kg_str list = {0};
	size_t i;
	int rc;

	if (t->n_releases < 2)
		return 0;
	for (i = 0; i < t->n_releases; i++)
		kg_str_addf(&list, "%s'%s'", i ? ", " : "", t->releases[i]);
	rc = kg_err_set(err, KG_EAMBIGUOUS, "'%.100s' holds files of %s releases: %s", p->name,
			t->n_releases == PACK_RELEASES_MAX ? "many" : "several",
			kg_str_text(&list));
	kg_str_deinit(&list);
	return rc;
}

static int no_image(const struct kernel_pack *p, struct kg_err *err)
{
	if (p->tree.only_release)
		return kg_err_set(err, KG_ENOTFOUND, "'%.100s' holds no kernel image of '%s'",
				  p->name, p->tree.only_release);
	if (p->package)
		return kg_err_set(err, KG_EINVALID,
				  "'%.100s' holds no kernel image (boot/vmlinuz-*); is it a "
				  "linux-image package?",
				  p->name);
	return kg_err_set(err, KG_EINVALID,
			  "'%.100s' holds no kernel image (boot/vmlinuz-*, lib/modules/*/vmlinuz, "
			  "or vmlinuz beside config)",
			  p->name);
}

/* The image says which release this is; paths have to agree. */
static int read_release(struct kernel_pack *p, struct kg_err *err)
{
	const struct pack_entry *e = pack_tree_find(&p->tree, "vmlinuz");
	struct artifact_image image;
	char *bytes;
	int rc;

	if (!e)
		return no_image(p, err);
	rc = pack_tree_content(&p->tree, e, ARTIFACT_IMAGE_MAX, &bytes, err);
	if (rc < 0)
		return rc;
	rc = artifact_image_header(bytes, (size_t)e->size_bytes, &image, err);
	free(bytes);
	if (rc < 0)
		return kg_err_wrap(err, rc, "'%.100s': '%s'", p->name, e->source);
	if (p->tree.n_releases > 0 && strcmp(p->tree.releases[0], image.release) != 0)
		return kg_err_set(err, KG_EINVALID,
				  "'%.100s': '%s' is of release '%s', but lies among files of '%s'",
				  p->name, e->source, image.release, p->tree.releases[0]);
	memcpy(p->manifest.release, image.release, sizeof(image.release));
	return 0;
}

static bool has_modules(const struct pack_tree *t)
{
	size_t i;

	for (i = 0; i < t->n; i++)
		if (artifact_path_is_module(t->entries[i].path))
			return true;
	return false;
}

static int check_config(struct kernel_pack *p, struct kg_err *err)
{
	const struct pack_entry *e = pack_tree_find(&p->tree, "config");
	bool is_config, wants_modules;
	char value[8];
	char *text;
	int rc;

	if (!e)
		return kg_err_set(err, KG_EINVALID,
				  "'%.100s' holds no configuration (boot/config-%s)", p->name,
				  p->manifest.release);
	rc = pack_tree_content(&p->tree, e, ARTIFACT_CONFIG_MAX, &text, err);
	if (rc < 0)
		return rc;
	is_config = artifact_config_value(text, "CONFIG_X86_64", value, sizeof(value));
	wants_modules = artifact_config_value(text, "CONFIG_MODULES", value, sizeof(value));
	free(text);
	if (!is_config)
		return kg_err_set(err, KG_EINVALID,
				  "'%.100s': '%s' is not the configuration of an x86-64 kernel",
				  p->name, e->source);
	if (wants_modules && !has_modules(&p->tree))
		return kg_err_set(err, KG_EINVALID, "'%.100s' holds no modules (lib/modules/%s)",
				  p->name, p->manifest.release);
	return 0;
}

/* ---- modules.dep ---- */

struct depend_work {
	struct pack_module *modules;
	size_t n;
	char *order, *builtin;
};

static void depend_work_deinit(struct depend_work *w)
{
	size_t i;

	for (i = 0; i < w->n; i++)
		free((char *)w->modules[i].depends);
	free(w->modules);
	free(w->order);
	free(w->builtin);
}

/* Text of an index file, "" when there is none. Owned. */
static int read_index(const struct pack_tree *t, const char *path, char **ret_text,
		      struct kg_err *err)
{
	const struct pack_entry *e = pack_tree_find(t, path);

	if (e)
		return pack_tree_content(t, e, INDEX_MAX, ret_text, err);
	*ret_text = strdup("");
	return *ret_text ? 0 : kg_err_set(err, -ENOMEM, "out of memory");
}

/* A module of another release would not load, and the machine would come up without its disk. */
static int read_module(const struct pack_tree *t, const struct pack_entry *e, const char *release,
		       struct pack_module *ret_module, struct kg_err *err)
{
	char *bytes, *depends;
	char built_for[ARTIFACT_RELEASE_MAX + 1];
	int rc;

	rc = pack_tree_content(t, e, PACK_MODULE_MAX, &bytes, err);
	if (rc < 0)
		return rc;
	rc = pack_module_info(bytes, (size_t)e->size_bytes, &depends, built_for, sizeof(built_for),
			      err);
	free(bytes);
	if (rc < 0)
		return kg_err_wrap(err, rc, "'%s'", e->source);
	if (built_for[0] && strcmp(built_for, release) != 0) {
		free(depends);
		return kg_err_set(err, KG_EINVALID,
				  "'%s' is a module of release '%s', and the image is of '%s'",
				  e->source, built_for, release);
	}
	ret_module->path = e->path + strlen("modules/");
	ret_module->depends = depends;
	return 0;
}

static int read_modules(const struct pack_tree *t, const char *release, struct depend_work *w,
			struct kg_err *err)
{
	size_t i;
	int rc;

	w->modules = calloc(t->n + 1, sizeof(*w->modules));
	if (!w->modules)
		return kg_err_set(err, -ENOMEM, "out of memory");
	for (i = 0; i < t->n; i++) {
		if (!artifact_path_is_module(t->entries[i].path))
			continue;
		rc = read_module(t, &t->entries[i], release, &w->modules[w->n], err);
		if (rc < 0)
			return rc;
		w->n++;
	}
	rc = read_index(t, "modules/modules.order", &w->order, err);
	return rc < 0 ? rc : read_index(t, "modules/modules.builtin", &w->builtin, err);
}

struct text_cursor {
	const char *text;
	size_t left;
};

static int text_read(void *ctx, void *buf, size_t max, size_t *ret_len, struct kg_err *err)
{
	struct text_cursor *c = ctx;
	size_t n = c->left < max ? c->left : max;

	(void)err;
	memcpy(buf, c->text, n);
	c->text += n;
	c->left -= n;
	*ret_len = n;
	return 0;
}

/* modules.dep is made always: packages have none (depmod writes it when they are installed), and what
 * an installed kernel has depends on its depmod. */
static int add_modules_dep(struct kernel_pack *p, struct kg_err *err)
{
	static const struct pack_place place = {
		.source = "modules.dep", .path = "modules/modules.dep", .release = ""};
	struct depend_work w = {0};
	struct kg_str out = {0};
	int rc;

	if (!has_modules(&p->tree))
		return 0;
	rc = read_modules(&p->tree, p->manifest.release, &w, err);
	if (rc == 0) {
		const struct pack_depend_input in = {
			.modules = w.modules, .n = w.n, .order = w.order, .builtin = w.builtin};

		rc = pack_depend(&in, &out, &p->warnings, err);
	}
	depend_work_deinit(&w);
	if (rc == 0) {
		struct text_cursor c = {.text = kg_str_text(&out), .left = out.len};
		const struct pack_content content = {.read = text_read, .ctx = &c};

		rc = pack_tree_add(&p->tree, &place, &content, err);
	}
	kg_str_deinit(&out);
	return rc < 0 ? rc : pack_tree_finish(&p->tree, err);
}

/* ---- the manifest ---- */

static int make_manifest(struct kernel_pack *p, struct kg_err *err)
{
	size_t i;
	int rc = 0;

	for (i = 0; i < p->tree.n && rc == 0; i++) {
		const struct pack_entry *e = &p->tree.entries[i];
		struct artifact_file f = {
			.size_bytes = e->size_bytes, .mode = FILE_MODE, .path = e->path};

		memcpy(f.digest, e->digest, sizeof(f.digest));
		rc = artifact_manifest_add(&p->manifest, &f, err);
	}
	if (rc == 0)
		rc = artifact_manifest_write(&p->manifest, &p->text, err);
	if (rc < 0)
		return kg_err_wrap(err, rc, "'%.100s'", p->name);
	if (p->text.len > ARTIFACT_MANIFEST_SEND_MAX)
		return kg_err_set(err, KG_ELIMIT,
				  "'%.100s' has %zu files; their list of %zu bytes is larger than "
				  "the %u bytes that can be sent",
				  p->name, p->manifest.n, p->text.len, ARTIFACT_MANIFEST_SEND_MAX);
	rc = artifact_manifest_digest(p->text.text, p->text.len, p->digest);
	return rc < 0 ? kg_err_set(err, rc, "out of memory") : 0;
}

static int pack(struct kernel_pack *p, const struct kernel_pack_source *source, struct kg_err *err)
{
	int rc;

	p->tree.spool = &p->spool;
	p->tree.only_release = source->release;
	rc = read_sources(p, source, err);
	if (rc == 0)
		rc = check_one_release(p, err);
	if (rc == 0 && (rc = pack_tree_finish(&p->tree, err)) < 0)
		(void)kg_err_wrap(err, rc, "'%.100s'", p->name);
	if (rc == 0)
		rc = read_release(p, err);
	if (rc == 0)
		rc = check_config(p, err);
	if (rc == 0 && (rc = add_modules_dep(p, err)) < 0)
		(void)kg_err_wrap(err, rc, "'%.100s'", p->name);
	if (rc == 0)
		rc = make_manifest(p, err);
	return rc;
}

int kernel_pack_open(const struct kernel_pack_source *source, struct kernel_pack **ret_pack,
		     struct kg_err *err)
{
	struct kernel_pack *p;
	int rc;

	if (source->n_paths == 0 && !source->vmlinuz)
		return kg_err_set(err, KG_EINVALID, "no kernel given");
	p = calloc(1, sizeof(*p));
	if (!p)
		return kg_err_set(err, -ENOMEM, "out of memory");
	p->spool.fd = -1;
	rc = pack_spool_init(&p->spool, err);
	if (rc == 0)
		rc = pack(p, source, err);
	if (rc < 0) {
		kernel_pack_free(p);
		return rc;
	}
	p->name = "";
	*ret_pack = p;
	return 0;
}

const char *kernel_pack_text(const struct kernel_pack *p, size_t *ret_len)
{
	*ret_len = p->text.len;
	return p->text.text;
}

const char *kernel_pack_digest(const struct kernel_pack *p)
{
	return p->digest;
}

const struct artifact_manifest *kernel_pack_manifest(const struct kernel_pack *p)
{
	return &p->manifest;
}

const char *kernel_pack_warnings(const struct kernel_pack *p)
{
	return kg_str_text(&p->warnings);
}

int kernel_pack_read(const struct kernel_pack *p, const char *digest, uint64_t offset, void *buf,
		     size_t max, size_t *ret_len, struct kg_err *err)
{
	const struct pack_entry *e = NULL;
	uint64_t left;
	size_t i;
	int rc;

	for (i = 0; i < p->tree.n && !e; i++)
		if (strcmp(p->tree.entries[i].digest, digest) == 0)
			e = &p->tree.entries[i];
	if (!e)
		return kg_err_set(err, KG_ENOTFOUND, "no file with digest '%.12s' was packed",
				  digest);
	if (offset > e->size_bytes)
		return kg_err_set(err, KG_EINVALID, "'%s' ends before byte %llu", e->source,
				  (unsigned long long)offset);
	left = e->size_bytes - offset;
	if (left < max)
		max = (size_t)left;
	rc = pack_spool_read(&p->spool, e->offset + offset, buf, max, err);
	if (rc < 0)
		return rc;
	*ret_len = max;
	return 0;
}
