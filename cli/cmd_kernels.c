/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <inttypes.h>
#include <string.h>

#include "cli/args.h"
#include "cli/cli.h"
#include "cli/client.h"
#include "cli/format.h"
#include "cli/json.h"
#include "cli/kernel_text.h"
#include "cli/table.h"

static void print_kernels(struct cli *cli, const Kgrid__V1__KernelsReply *r)
{
	static const char *const titles[] = {"LABEL",	 "RELEASE", "DIGEST",
					     "BUILD ID", "CONFIG",  "CONFIG_LSM"};
	struct table *t = table_new("llllll");
	struct kg_str s = {0};
	size_t i;

	for (i = 0; i < sizeof(titles) / sizeof(titles[0]); i++)
		table_title(t, titles[i]);
	for (i = 0; i < r->n_kernels; i++) {
		const Kgrid__V1__KernelInfo *k = r->kernels[i];

		table_cell(t, k->label && k->label[0] ? k->label : "-");
		table_cell(t, k->release);
		table_cellf(t, "%.12s", cli_text(k->digest));
		table_cellf(t, "%.8s", cli_text(k->build_id));
		table_cellf(t, "%.8s", cli_text(k->config_digest));
		table_cell(t, k->config_lsm);
	}
	table_render(t, 0, cli->width, cli->color, &s);
	cli_print(cli, &s);
	table_free(t);
	kg_str_deinit(&s);
}

int cmd_kernels(struct cli *cli, const struct cli_args *args)
{
	Kgrid__V1__KernelsRequest q = KGRID__V1__KERNELS_REQUEST__INIT;
	const Kgrid__V1__KernelsReply *r;
	struct kg_str s = {0};
	struct kg_msg *m;
	int rc = 0;

	m = cli_ask(cli, KG_MSG_KERNELS, &q.base, KG_MSG_KERNELS_REPLY, CLIENT_ANSWER_MS, &rc);
	if (!m)
		return rc;
	r = (const Kgrid__V1__KernelsReply *)kg_msg_body(m);
	if (cli->json) {
		cli_print_json(cli, &r->base);
	} else if (cli_args_has(args, "csv")) {
		csv_messages(&s, &kgrid__v1__kernel_info__descriptor, r->n_kernels,
			     (ProtobufCMessage *const *)r->kernels);
		cli_print(cli, &s);
	} else if (r->n_kernels > 0) {
		print_kernels(cli, r);
	}
	if (r->n_kernels == 0) {
		cli_say(cli, "no kernels: none was added yet ('kgrid kernel add SOURCE')");
		rc = CLI_EXIT_NODATA;
	}
	kg_str_deinit(&s);
	kg_msg_free(m);
	return rc;
}

void kernel_print(struct cli *cli, const Kgrid__V1__KernelInfo *k)
{
	struct table *t = table_new("ll");
	struct kg_str s = {0};
	char text[FORMAT_SIZE];
	size_t i;

	table_pair(t, "release", cli_text(k->release));
	table_pair(t, "label", k->label && k->label[0] ? k->label : "-");
	table_pair(t, "version", cli_text(k->version));
	table_pair(t, "digest", cli_text(k->digest));
	table_pair(t, "build id", cli_text(k->build_id));
	table_pair(t, "config digest", cli_text(k->config_digest));
	table_pair(t, "CONFIG_LSM", cli_text(k->config_lsm));
	table_pair(t, "built in", cli_text(k->builtin_lsm));
	table_cell(t, "size");
	table_cellf(t, "%s in %" PRIu32 " files", format_bytes(k->size_bytes, text), k->files);
	table_pair(t, "added", format_time(k->added_ns, text));
	for (i = 0; i < k->n_used_by; i++)
		table_pair(t, i ? "" : "used by", k->used_by[i]);
	table_render(t, 0, cli->width, cli->color, &s);
	cli_print(cli, &s);
	table_free(t);
	kg_str_deinit(&s);
}

int cmd_kernel_show(struct cli *cli, const struct cli_args *args)
{
	Kgrid__V1__KernelRequest q = KGRID__V1__KERNEL_REQUEST__INIT;
	const Kgrid__V1__KernelReply *r;
	struct kg_msg *m;
	int rc = 0;

	q.selector = (char *)(uintptr_t)cli_args_operand(args, 0);
	m = cli_ask(cli, KG_MSG_KERNEL, &q.base, KG_MSG_KERNEL_REPLY, CLIENT_ANSWER_MS, &rc);
	if (!m)
		return rc;
	r = (const Kgrid__V1__KernelReply *)kg_msg_body(m);
	if (cli->json)
		cli_print_json(cli, &r->base);
	else if (r->kernel)
		kernel_print(cli, r->kernel);
	kg_msg_free(m);
	return rc;
}
