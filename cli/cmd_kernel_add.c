/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * kgrid kernel add: pack, offer the manifest, send the blobs that the coordinator lacks, commit.
 * Happy path: each chunk's answer says where the next begins, so an upload that broke off goes on
 * where it was. Failure modes: the pack is refused (exit 2); the coordinator refuses, or never
 * gets forward (exit 4); it goes away (exit 3), after which the same command resumes.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/args.h"
#include "cli/cli.h"
#include "cli/client.h"
#include "cli/format.h"
#include "cli/kernel_text.h"
#include "cli/pack/kernel_pack.h"
#include "common/clock.h"

#define CHUNK_BYTES (256u * 1024)
#define STALLS_MAX  3 /* answers that want the same offset again */

struct upload {
	struct cli *cli;
	struct client *client;
	const struct kernel_pack *pack;
	uint64_t total_bytes;
	uint64_t done_bytes;
	size_t files, files_done;
	uint64_t shown_ns;
	bool terminal; /* standard error is one */
	uint8_t *buf;  /* owned, CHUNK_BYTES */
};

static void show_progress(struct upload *u, bool last)
{
	uint64_t now = kg_monotonic_ns();
	char done[FORMAT_SIZE], total[FORMAT_SIZE];

	if (!last && (!u->terminal || now - u->shown_ns < 100 * KG_NSEC_PER_MSEC))
		return;
	u->shown_ns = now;
	(void)fprintf(u->cli->err, "%skgrid: sent %zu of %zu files, %s of %s%s",
		      u->terminal ? "\r\033[K" : "", u->files_done, u->files,
		      format_bytes(u->done_bytes, done), format_bytes(u->total_bytes, total),
		      last || !u->terminal ? "\n" : "");
	(void)fflush(u->cli->err);
}

/* Sends one blob, from wherever the coordinator wants it. */
static int put_blob(struct upload *u, const struct artifact_file *f, struct kg_err *err)
{
	uint64_t offset = 0, start_bytes = u->done_bytes;
	unsigned stalls = 0;

	for (;;) {
		Kgrid__V1__BlobPut q = KGRID__V1__BLOB_PUT__INIT;
		const Kgrid__V1__BlobPutReply *r;
		struct kg_msg *m;
		bool complete;
		size_t len = 0;
		uint64_t next;
		int rc = kernel_pack_read(u->pack, f->digest, offset, u->buf, CHUNK_BYTES, &len,
					  err);

		if (rc < 0)
			return rc;
		q.digest = (char *)(uintptr_t)f->digest;
		q.has_offset = q.has_total_bytes = q.has_data = 1;
		q.offset = offset;
		q.total_bytes = f->size_bytes;
		q.data.data = u->buf;
		q.data.len = len;
		rc = client_call(u->client, KG_MSG_BLOB_PUT, &q.base, KG_MSG_BLOB_PUT_REPLY,
				 CLIENT_LONG_MS, &m, err);
		if (rc < 0)
			return rc;
		r = (const Kgrid__V1__BlobPutReply *)kg_msg_body(m);
		complete = r->complete;
		next = r->next_offset;
		kg_msg_free(m);
		if (complete)
			break;
		stalls = next > offset ? 0 : stalls + 1;
		if (next > f->size_bytes || stalls > STALLS_MAX)
			return kg_err_set(err, KG_EPROTO, "the upload of '%s' gets nowhere",
					  f->path);
		offset = next;
		u->done_bytes = start_bytes + offset;
		show_progress(u, false);
	}
	u->done_bytes = start_bytes + f->size_bytes;
	return 0;
}

static int put_missing(struct upload *u, const Kgrid__V1__KernelOfferReply *r, struct kg_err *err)
{
	const struct artifact_manifest *manifest = kernel_pack_manifest(u->pack);
	const struct artifact_file **files = cli_alloc(r->n_missing, sizeof(*files));
	size_t i;
	int rc = 0;

	for (i = 0; i < r->n_missing && rc == 0; i++) {
		files[i] = artifact_manifest_find_digest(manifest, r->missing[i]);
		if (!files[i])
			rc = kg_err_set(err, KG_EPROTO,
					"the coordinator asks for what is not in the kernel");
		else
			u->total_bytes += files[i]->size_bytes;
	}
	u->files = r->n_missing;
	for (i = 0; i < r->n_missing && rc == 0; i++) {
		rc = put_blob(u, files[i], err);
		u->files_done += rc == 0;
		show_progress(u, false);
	}
	if (r->n_missing > 0)
		show_progress(u, true);
	free(files);
	return rc;
}

static int offer(struct upload *u, char *manifest, char *label, struct kg_err *err)
{
	Kgrid__V1__KernelOffer q = KGRID__V1__KERNEL_OFFER__INIT;
	struct kg_msg *m;
	int rc;

	q.manifest = manifest;
	q.label = label;
	rc = client_call(u->client, KG_MSG_KERNEL_OFFER, &q.base, KG_MSG_KERNEL_OFFER_REPLY,
			 CLIENT_LONG_MS, &m, err);
	if (rc < 0)
		return rc;
	rc = put_missing(u, (const Kgrid__V1__KernelOfferReply *)kg_msg_body(m), err);
	kg_msg_free(m);
	return rc;
}

static int commit(struct upload *u, char *manifest, char *label, struct kg_err *err)
{
	Kgrid__V1__KernelCommit q = KGRID__V1__KERNEL_COMMIT__INIT;
	const Kgrid__V1__KernelReply *r;
	struct kg_msg *m;
	int rc;

	q.manifest = manifest;
	q.label = label;
	rc = client_call(u->client, KG_MSG_KERNEL_COMMIT, &q.base, KG_MSG_KERNEL_REPLY,
			 CLIENT_LONG_MS, &m, err);
	if (rc < 0)
		return rc;
	r = (const Kgrid__V1__KernelReply *)kg_msg_body(m);
	if (r->existed)
		cli_say(u->cli, "this kernel was stored already");
	if (u->cli->json)
		cli_print_json(u->cli, &r->base);
	else if (r->kernel)
		kernel_print(u->cli, r->kernel);
	kg_msg_free(m);
	return 0;
}

/* What to pack. CLI_EXIT_OK or CLI_EXIT_USAGE. */
static int find_source(struct cli *cli, const struct cli_args *args,
		       struct kernel_pack_source *ret_source)
{
	struct kernel_pack_source s = {
		.paths = args->n_operands ? args->operands : NULL,
		.n_paths = args->n_operands,
		.vmlinuz = cli_args_text(args, "image"),
		.config = cli_args_text(args, "config"),
		.modules = cli_args_text(args, "modules"),
		.system_map = cli_args_text(args, "system-map"),
		.release = cli_args_text(args, "release"),
	};
	bool files = s.vmlinuz || s.config || s.modules || s.system_map;
	const char *label = cli_args_text(args, "label");

	if (label && !kg_name_valid(label)) {
		cli_say(cli, "not a label: '%s' (letters, digits and ._+-, at most 63)", label);
		return CLI_EXIT_USAGE;
	}
	if (files && s.n_paths > 0) {
		cli_say(cli, "'%s' and --image, --modules, --config: give one or the other",
			s.paths[0]);
		return CLI_EXIT_USAGE;
	}
	if (!files && s.n_paths == 0) {
		cli_say(cli, "'kernel add' needs SOURCE (a .deb or a folder), or --image, "
			     "--modules and --config");
		return CLI_EXIT_USAGE;
	}
	if (files && (!s.vmlinuz || !s.config || !s.modules)) {
		cli_say(cli, "--image, --modules and --config belong together");
		return CLI_EXIT_USAGE;
	}
	*ret_source = s;
	return CLI_EXIT_OK;
}

static int upload(struct cli *cli, const struct kernel_pack *pack, const char *label_text)
{
	struct upload u = {.cli = cli, .pack = pack, .terminal = isatty(STDERR_FILENO) == 1};
	char *label = label_text ? cli_strdup(label_text) : NULL;
	struct kg_err err = {{0}};
	char *manifest;
	size_t len;
	int rc = 0;

	manifest = cli_strdup(kernel_pack_text(pack, &len));
	if (len > ARTIFACT_MANIFEST_SEND_MAX) {
		cli_say(cli, "the kernel has too many files: its manifest takes %zu bytes, of %u",
			len, ARTIFACT_MANIFEST_SEND_MAX);
		rc = CLI_EXIT_USAGE;
		goto free_texts;
	}
	u.client = cli_connect(cli, &rc);
	if (!u.client)
		goto free_texts;
	u.buf = cli_alloc(CHUNK_BYTES, 1);
	rc = offer(&u, manifest, label, &err);
	if (rc == 0)
		rc = commit(&u, manifest, label, &err);
	if (rc < 0) {
		rc = cli_fail(cli, u.client, rc, &err);
		if (rc == CLI_EXIT_UNREACHABLE)
			cli_say(cli, "the same command again goes on where this one stopped");
	}
	client_close(u.client);
	free(u.buf);
free_texts:
	free(manifest);
	free(label);
	return rc;
}

int cmd_kernel_add(struct cli *cli, const struct cli_args *args)
{
	struct kernel_pack_source source;
	struct kernel_pack *pack;
	struct kg_err err = {{0}};
	const char *warnings;
	int rc = find_source(cli, args, &source);

	if (rc != CLI_EXIT_OK)
		return rc;
	cli_say(cli, "packing '%s'", source.n_paths ? source.paths[0] : source.vmlinuz);
	if (kernel_pack_open(&source, &pack, &err) < 0) {
		cli_say(cli, "%s", err.text);
		return CLI_EXIT_USAGE;
	}
	for (warnings = kernel_pack_warnings(pack); *warnings;) {
		size_t n = strcspn(warnings, "\n");

		cli_say(cli, "warning: %.*s", (int)n, warnings);
		warnings += n;
		warnings += *warnings == '\n';
	}
	rc = upload(cli, pack, cli_args_text(args, "label"));
	kernel_pack_free(pack);
	return rc;
}
