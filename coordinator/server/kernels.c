/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Kernels: offer a manifest, put the missing blobs, commit.
 * What the coordinator believes of a kernel it reads from the blobs itself, on a worker thread;
 * the manifest is kept as a blob, too, so that agents fetch it like everything else.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/clock.h"
#include "common/log.h"
#include "coordinator/coordinator.h"

/* ---- adding ---- */

static int check_label(const char *label, struct kg_err *err)
{
	if (label && label[0] && !kg_name_valid(label))
		return kg_err_set(err, KG_EINVALID,
				  "'%s' is no label: 1 to 63 of A-Z a-z 0-9 . _ + -, not beginning "
				  "with a dot or a dash",
				  label);
	return 0;
}

static void offer_reply(const struct request *rq, const char *digest,
			const struct artifact_file **missing, size_t n)
{
	Kgrid__V1__KernelOfferReply r = KGRID__V1__KERNEL_OFFER_REPLY__INIT;
	char **digests = calloc(n + 1, sizeof(char *));
	size_t i;

	if (!digests) {
		session_error(rq->session, rq->id, -ENOMEM, "out of memory");
		return;
	}
	for (i = 0; i < n; i++)
		digests[i] = (char *)(uintptr_t)missing[i]->digest;
	r.digest = (char *)(uintptr_t)digest;
	r.missing = digests;
	r.n_missing = n;
	session_send(rq->session, KG_MSG_KERNEL_OFFER_REPLY, rq->id, &r.base);
	free(digests);
}

void handle_kernel_offer(const struct request *rq)
{
	const Kgrid__V1__KernelOffer *o = REQUEST_BODY(rq, Kgrid__V1__KernelOffer);
	const char *text = o->manifest ? o->manifest : "";
	const struct artifact_file **missing = NULL;
	struct artifact_manifest m = {0};
	char digest[KG_SHA256_HEX_SIZE];
	struct kg_err err = {""};
	size_t n = 0;
	int rc = check_label(o->label, &err);

	if (rc == 0)
		rc = artifact_manifest_parse(text, strlen(text), &m, &err);
	if (rc < 0) {
		session_error(rq->session, rq->id, rc, err.text);
		return;
	}
	rc = artifact_manifest_digest(text, strlen(text), digest);
	if (rc == 0)
		rc = artifact_blobs_missing(rq->c->blobs, &m, &missing, &n, &err);
	if (rc < 0)
		session_error(rq->session, rq->id, rc, err.text[0] ? err.text : kg_strerror(rc));
	else
		offer_reply(rq, digest, missing, n);
	free(missing);
	artifact_manifest_deinit(&m);
}

void handle_blob_put(const struct request *rq)
{
	const Kgrid__V1__BlobPut *b = REQUEST_BODY(rq, Kgrid__V1__BlobPut);
	Kgrid__V1__BlobPutReply r = KGRID__V1__BLOB_PUT_REPLY__INIT;
	struct artifact_progress progress;
	struct artifact_chunk chunk = {
		.digest = b->digest ? b->digest : "",
		.offset = b->offset,
		.total_bytes = b->total_bytes,
		.data = b->data.data,
		.len = b->data.len,
	};
	struct kg_err err = {""};
	int rc = artifact_blobs_put(rq->c->blobs, &chunk, &progress, &err);

	if (rc < 0) {
		session_error(rq->session, rq->id, rc, err.text);
		return;
	}
	r.digest = b->digest;
	r.has_next_offset = r.has_complete = 1;
	r.next_offset = progress.next_offset;
	r.complete = progress.complete;
	session_send(rq->session, KG_MSG_BLOB_PUT_REPLY, rq->id, &r.base);
}

struct commit {
	struct work w;
	struct artifact_kernel kernel;
	struct inv_kernel *inv;
	char builtin[LSM_BUILTIN_TEXT_MAX];
	bool opened;
};

/* Manifest as a blob under its own digest: that is the kernel's identity. */
static int put_manifest(struct coordinator *c, const char *text, struct kg_err *err)
{
	char digest[KG_SHA256_HEX_SIZE];
	struct artifact_progress progress;
	int rc = artifact_manifest_digest(text, strlen(text), digest);

	if (rc < 0)
		return kg_err_set(err, rc, "cannot digest the manifest");
	if (!artifact_blobs_has(c->blobs, digest)) {
		rc = artifact_blobs_put(c->blobs,
					&(struct artifact_chunk){.digest = digest,
								 .total_bytes = strlen(text),
								 .data = text,
								 .len = strlen(text)},
					&progress, err);
		if (rc == 0 && !progress.complete) /* a part of an earlier try is there */
			rc = kg_err_set(err, -EIO, "cannot keep the manifest");
	}
	return rc == 0 ? artifact_blobs_settle(c->blobs, err) : rc;
}

static void commit_run(struct work *w)
{
	struct commit *cm = (struct commit *)w;
	const Kgrid__V1__KernelCommit *rq = WORK_BODY(w, Kgrid__V1__KernelCommit);
	const char *text = rq->manifest ? rq->manifest : "";

	w->rc = put_manifest(w->c, text, &w->err);
	if (w->rc == 0)
		w->rc = artifact_kernel_open(w->c->blobs, text, strlen(text), &cm->kernel, &w->err);
	if (w->rc < 0)
		return;
	cm->opened = true;
	w->rc = inv_kernel_make(&cm->kernel, rq->label, &cm->inv, &w->err);
	if (w->rc == 0)
		lsm_builtin_text(&cm->inv->config.lsm, cm->builtin, sizeof(cm->builtin));
}

struct committed_kernel {
	struct session *session; /* referenced */
	uint32_t id;
	struct inv_kernel *inv;
	Kgrid__V1__KernelInfo info; /* texts owned by the fields below */
	char *builtin, *config_lsm, *version, *config_digest;
};

static void committed_free(struct committed_kernel *ck)
{
	session_unref(ck->session);
	inv_kernel_unref(ck->inv);
	free(ck->builtin);
	free(ck->config_lsm);
	free(ck->version);
	free(ck->config_digest);
	free(ck);
}

static void on_kernel_stored(void *arg, const struct store_result *r)
{
	struct committed_kernel *ck = arg;
	struct coordinator *c = ck->session->server->c;
	Kgrid__V1__KernelReply reply = KGRID__V1__KERNEL_REPLY__INIT;

	if (r->rc < 0) {
		session_error(ck->session, ck->id, r->rc, r->text);
		committed_free(ck);
		return;
	}
	reply.kernel = &ck->info;
	reply.has_existed = 1;
	reply.existed = r->existed;
	session_send(ck->session, KG_MSG_KERNEL_REPLY, ck->id, &reply.base);
	if (!c->stopping) {
		kg_log_info("kernel %s (%s) %s", ck->inv->release, ck->inv->digest,
			    r->existed ? "was there already" : "added");
		standing_dirty(&c->standing);
		if (inventory_put_kernel(&c->inventory, ck->inv) < 0)
			kg_log_err("out of memory: the kernel can be used after a restart");
		ck->inv = NULL;
	}
	committed_free(ck);
}

static struct committed_kernel *committed_new(struct commit *cm)
{
	const struct artifact_kernel *k = &cm->kernel;
	struct committed_kernel *ck = calloc(1, sizeof(*ck));

	if (!ck)
		return NULL;
	ck->session = cm->w.session;
	session_ref(ck->session);
	ck->id = cm->w.id;
	ck->inv = cm->inv;
	cm->inv = NULL;
	ck->builtin = strdup(cm->builtin);
	ck->config_lsm = strdup(ck->inv->config.lsm.config_lsm);
	ck->version = strdup(k->image.version);
	ck->config_digest = strdup(k->config_digest);
	kgrid__v1__kernel_info__init(&ck->info);
	ck->info.digest = ck->inv->digest;
	ck->info.label = ck->inv->label;
	ck->info.release = ck->inv->release;
	ck->info.build_id = ck->inv->build_id;
	ck->info.config_digest = ck->config_digest;
	ck->info.config_lsm = ck->config_lsm;
	ck->info.version = ck->version;
	ck->info.builtin_lsm = ck->builtin;
	ck->info.has_size_bytes = ck->info.has_files = ck->info.has_added_ns = 1;
	ck->info.size_bytes = k->size_bytes;
	ck->info.files = (uint32_t)k->files;
	ck->info.added_ns = kg_realtime_ns();
	if (!ck->builtin || !ck->config_lsm || !ck->version || !ck->config_digest) {
		committed_free(ck);
		return NULL;
	}
	return ck;
}

static void store_kernel(struct commit *cm)
{
	const Kgrid__V1__KernelCommit *rq = WORK_BODY(&cm->w, Kgrid__V1__KernelCommit);
	struct committed_kernel *ck = committed_new(cm);
	int rc = -ENOMEM;

	if (ck)
		rc = store_kernel_insert(cm->w.c->store,
					 &(struct store_kernel){
						 .digest = ck->info.digest,
						 .label = ck->info.label,
						 .release = ck->info.release,
						 .version = ck->info.version,
						 .build_id = ck->info.build_id,
						 .config_digest = ck->info.config_digest,
						 .config_lsm = ck->info.config_lsm,
						 .builtin_lsm = ck->info.builtin_lsm,
						 .manifest = rq->manifest,
						 .files = ck->info.files,
						 .size_bytes = ck->info.size_bytes,
						 .added_ns = ck->info.added_ns,
					 },
					 (struct store_done){.fn = on_kernel_stored, .arg = ck});
	if (rc < 0) {
		session_error(cm->w.session, cm->w.id, rc, kg_strerror(rc));
		if (ck)
			committed_free(ck);
	}
}

static void commit_finish(struct work *w)
{
	struct commit *cm = (struct commit *)w;

	if (w->rc < 0)
		session_error(w->session, w->id, w->rc, w->err.text);
	else if (!w->c->stopping)
		store_kernel(cm);
	inv_kernel_unref(cm->inv);
	if (cm->opened)
		artifact_kernel_deinit(&cm->kernel);
}

void handle_kernel_commit(const struct request *rq)
{
	const Kgrid__V1__KernelCommit *in = REQUEST_BODY(rq, Kgrid__V1__KernelCommit);
	const char *text = in->manifest ? in->manifest : "";
	struct artifact_manifest m = {0};
	struct kg_err err = {""};
	struct commit *cm;
	int rc = check_label(in->label, &err);

	if (rc == 0)
		rc = artifact_manifest_parse(text, strlen(text), &m, &err);
	if (rc < 0) {
		session_error(rq->session, rq->id, rc, err.text);
		return;
	}
	artifact_manifest_deinit(&m);
	cm = calloc(1, sizeof(*cm));
	if (cm) {
		cm->w.run = commit_run;
		cm->w.finish = commit_finish;
	}
	work_start(rq, cm ? &cm->w : NULL);
}

/* ---- removing ---- */

struct removal {
	struct session *session; /* referenced */
	uint32_t id;
	char digest[KG_SHA256_HEX_SIZE];
};

#define BLOB_MIN_AGE_S 3600 /* an upload whose kernel is not committed yet */

/* Blobs that no kernel needs go, on a worker thread. What a kernel that is added meanwhile needs is
 * too young to be removed. */
struct sweep {
	struct work w;
	struct kg_str digests; /* that are needed; n of KG_SHA256_HEX_SIZE bytes each */
	size_t n;
	size_t removed;
	uint64_t removed_bytes;
};

static void sweep_keep(struct sweep *s, const char *digest)
{
	kg_str_addn(&s->digests, digest, KG_SHA256_HEX_SIZE);
	s->n++;
}

static int sweep_kernel(struct sweep *s, const char *kernel)
{
	struct artifact_manifest m = {0};
	char *text;
	size_t i;
	int rc = query_kernel_manifest(s->w.c->query, kernel, &text, &s->w.err);

	if (rc < 0)
		return rc;
	sweep_keep(s, kernel);
	rc = artifact_manifest_parse(text, strlen(text), &m, &s->w.err);
	free(text);
	for (i = 0; rc == 0 && i < m.n; i++)
		sweep_keep(s, m.files[i].digest);
	artifact_manifest_deinit(&m);
	return rc;
}

static int compare_digests(const void *a, const void *b)
{
	return strcmp(a, b);
}

static bool sweep_is_kept(const char *digest, void *ctx)
{
	const struct sweep *s = ctx;

	return s->n > 0 &&
	       bsearch(digest, s->digests.text, s->n, KG_SHA256_HEX_SIZE, compare_digests);
}

static void sweep_run(struct work *w)
{
	struct sweep *s = (struct sweep *)w;
	struct artifact_removal r = {.keep = sweep_is_kept, .ctx = s, .min_age_s = BLOB_MIN_AGE_S};
	struct store_kernels *kernels = NULL;
	size_t i;

	w->rc = query_kernel_list(w->c->query, &kernels, &w->err);
	for (i = 0; w->rc == 0 && i < kernels->n; i++)
		w->rc = sweep_kernel(s, kernels->items[i].digest);
	store_kernels_free(kernels);
	if (w->rc == 0 && s->digests.failed)
		w->rc = kg_err_set(&w->err, -ENOMEM, "out of memory");
	if (w->rc < 0)
		return;
	if (s->n > 0)
		qsort(s->digests.text, s->n, KG_SHA256_HEX_SIZE, compare_digests);
	w->rc = artifact_blobs_remove_unreferenced(w->c->blobs, &r, &s->removed, &s->removed_bytes,
						   &w->err);
}

static void sweep_finish(struct work *w)
{
	struct sweep *s = (struct sweep *)w;

	if (w->rc < 0)
		kg_log_warn("cannot remove unused blobs: %s", w->err.text);
	else
		kg_log_info("removed %zu unused blobs, %llu bytes", s->removed,
			    (unsigned long long)s->removed_bytes);
	kg_str_deinit(&s->digests);
}

static void on_removed(void *arg, const struct store_result *r)
{
	struct removal *rm = arg;
	struct coordinator *c = rm->session->server->c;
	struct sweep *sweep;

	if (r->rc < 0) {
		session_error(rm->session, rm->id, r->rc, r->text);
	} else {
		inventory_remove_kernel(&c->inventory, rm->digest);
		session_done(rm->session, rm->id, "kernel removed");
		sweep = calloc(1, sizeof(*sweep));
		if (sweep && !c->stopping) {
			sweep->w.run = sweep_run;
			sweep->w.finish = sweep_finish;
			work_start_internal(c, &sweep->w);
		} else {
			free(sweep);
		}
	}
	session_unref(rm->session);
	free(rm);
}

struct find {
	struct work w;
	char digest[KG_SHA256_HEX_SIZE];
};

static void find_run(struct work *w)
{
	const char *selector = WORK_BODY(w, Kgrid__V1__KernelRemove)->selector;

	w->rc = query_kernel_find(w->c->query, selector ? selector : "", ((struct find *)w)->digest,
				  &w->err);
}

static void find_finish(struct work *w)
{
	struct find *f = (struct find *)w;
	struct removal *rm;
	int rc = w->rc;

	if (rc < 0 || w->c->stopping) {
		session_error(w->session, w->id, rc, w->err.text);
		return;
	}
	rm = calloc(1, sizeof(*rm));
	if (!rm) {
		session_error(w->session, w->id, -ENOMEM, "out of memory");
		return;
	}
	rm->session = w->session;
	session_ref(rm->session);
	rm->id = w->id;
	memcpy(rm->digest, f->digest, sizeof(rm->digest));
	rc = store_kernel_remove(w->c->store, rm->digest, kg_realtime_ns(),
				 (struct store_done){.fn = on_removed, .arg = rm});
	if (rc < 0) {
		session_error(w->session, w->id, rc, kg_strerror(rc));
		session_unref(rm->session);
		free(rm);
	}
}

void handle_kernel_remove(const struct request *rq)
{
	struct find *f = calloc(1, sizeof(*f));

	if (f) {
		f->w.run = find_run;
		f->w.finish = find_finish;
	}
	work_start(rq, f ? &f->w : NULL);
}
