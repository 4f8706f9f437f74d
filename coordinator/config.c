/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdlib.h>
#include <string.h>

#include "common/clock.h"
#include "coordinator/coordinator.h"

#define SECONDS(stage) offsetof(struct coordinator_config, stage_ns[stage])

static const struct kg_field limit_fields[] = {
	{.key = "dispatch",
	 .type = KG_FIELD_DURATION,
	 .offset = SECONDS(SCHED_DISPATCH),
	 .min = 1,
	 .max = 86400,
	 .preset = "60s",
	 .help = "From the order to the agent's first sign of having it"},
	{.key = "fetch",
	 .type = KG_FIELD_DURATION,
	 .offset = SECONDS(SCHED_FETCH),
	 .min = 1,
	 .max = 86400,
	 .preset = "15m",
	 .help = "Fetching the kernel's files"},
	{.key = "load",
	 .type = KG_FIELD_DURATION,
	 .offset = SECONDS(SCHED_LOAD),
	 .min = 1,
	 .max = 86400,
	 .preset = "3m",
	 .help = "Building the initrd and loading the kernel"},
	{.key = "boot",
	 .type = KG_FIELD_DURATION,
	 .offset = SECONDS(SCHED_BOOT),
	 .min = 1,
	 .max = 86400,
	 .preset = "10m",
	 .help = "From leaving the old kernel to the agent's return under the new one"},
	{.key = "verify",
	 .type = KG_FIELD_DURATION,
	 .offset = SECONDS(SCHED_VERIFY),
	 .min = 1,
	 .max = 86400,
	 .preset = "2m",
	 .help = "Proving what booted"},
	{.key = "warm-up",
	 .type = KG_FIELD_DURATION,
	 .offset = SECONDS(SCHED_WARMUP),
	 .min = 1,
	 .max = 86400,
	 .preset = "5m",
	 .help = "Allowance over the warm-up's own timeout"},
	{.key = "run",
	 .type = KG_FIELD_DURATION,
	 .offset = SECONDS(SCHED_RUN),
	 .min = 1,
	 .max = 86400,
	 .preset = "5m",
	 .help = "Allowance over the run's own timeout"},
	{.key = "collect",
	 .type = KG_FIELD_DURATION,
	 .offset = SECONDS(SCHED_COLLECT),
	 .min = 1,
	 .max = 86400,
	 .preset = "5m",
	 .help = "Collecting logs and evidence"},
	{.key = "upload",
	 .type = KG_FIELD_DURATION,
	 .offset = SECONDS(SCHED_UPLOAD),
	 .min = 1,
	 .max = 86400,
	 .preset = "10m",
	 .help = "Delivering what is spooled"},
	{.key = "leave",
	 .type = KG_FIELD_DURATION,
	 .offset = SECONDS(SCHED_LEAVE),
	 .min = 1,
	 .max = 86400,
	 .preset = "10m",
	 .help = "A plain reboot out of a kernel that kexec cannot leave"},
	{.key = "settings",
	 .type = KG_FIELD_DURATION,
	 .offset = SECONDS(SCHED_SETTINGS),
	 .min = 1,
	 .max = 86400,
	 .preset = "60s",
	 .help = "Applying a job's settings and reading them back"},
	{.key = "pair",
	 .type = KG_FIELD_DURATION,
	 .offset = SECONDS(SCHED_PAIR),
	 .min = 1,
	 .max = 86400,
	 .preset = "30m",
	 .help = "Client of a pair: waiting until its server has booted and listens"},
	{.key = "serve",
	 .type = KG_FIELD_DURATION,
	 .offset = SECONDS(SCHED_SERVE),
	 .min = 1,
	 .max = 86400,
	 .preset = "30m",
	 .help = "Server of a pair: allowance over the client's run"},
	{.key = NULL},
};

static const struct kg_field fields[] = {
	{.key = "listen",
	 .type = KG_FIELD_TEXTS,
	 .offset = offsetof(struct coordinator_config, listen),
	 .help = "Addresses to listen on, ADDRESS:PORT. Default 127.0.0.1:7440"},
	{.key = "socket",
	 .type = KG_FIELD_TEXT,
	 .offset = offsetof(struct coordinator_config, socket),
	 .help = "Unix socket for the kgrid command. Default DATA_DIR/run/kgrid.sock"},
	{.key = "insecure-plaintext",
	 .type = KG_FIELD_BOOL,
	 .offset = offsetof(struct coordinator_config, insecure_plaintext),
	 .preset = "false",
	 .help = "Listen on addresses other than loopback although nothing is encrypted"},
	{.key = "power-cycle",
	 .type = KG_FIELD_TEXTS,
	 .offset = offsetof(struct coordinator_config, power_cycle),
	 .help = "Command, as a list of words, that cuts and restores the power of {machine}"},
	{.key = "sendmail",
	 .type = KG_FIELD_TEXTS,
	 .offset = offsetof(struct coordinator_config, sendmail),
	 .help = "Command, as a list of words, that sends the mail on its standard input to the "
		 "address that is added. Default [/usr/sbin/sendmail, -i]"},
	{.key = "notify-commands",
	 .type = KG_FIELD_TEXTS,
	 .offset = offsetof(struct coordinator_config, notify_commands),
	 .help = "Commands that job files may name under notify: 'NAME PROGRAM ARGUMENT...', one "
		 "text each, split at blanks; the notice comes on standard input"},
	{.key = "silence",
	 .type = KG_FIELD_DURATION,
	 .offset = offsetof(struct coordinator_config, silence_ns),
	 .min = 5,
	 .max = 86400,
	 .preset = "3m",
	 .help = "An agent's connection that says nothing for so long is dropped"},
	{.key = "limits",
	 .type = KG_FIELD_MAP,
	 .offset = 0,
	 .sub = limit_fields,
	 .help = "Deadline of each stage of a boot"},
	{.key = "max-slots",
	 .type = KG_FIELD_INT,
	 .offset = offsetof(struct coordinator_config, max_slots),
	 .min = 1,
	 .max = 10000000,
	 .preset = "1000000",
	 .help = "A job with more slots is refused, before memory is spent on it"},
	{.key = "shares",
	 .type = KG_FIELD_TEXTS,
	 .offset = offsetof(struct coordinator_config, shares),
	 .help = "Shares of submitters in machine time, 'NAME NUMBER' each; who is not named has "
		 "1"},
	{.key = "queue-timeout",
	 .type = KG_FIELD_DURATION,
	 .offset = offsetof(struct coordinator_config, queue_timeout_ns),
	 .min = 60,
	 .max = 3.2e7,
	 .preset = "7d",
	 .help = "Slots of a machine where no boot of their job has begun for so long get the "
		 "outcome "
		 "queue-timeout; a job's own 'queue-timeout' wins"},
	{.key = "instruction-factor",
	 .type = KG_FIELD_INT,
	 .offset = offsetof(struct coordinator_config, instruction_factor),
	 .min = 1,
	 .max = 100,
	 .preset = "4",
	 .help = "Limits of machines on an instruction clock are longer by this factor"},
	{.key = NULL},
};

void coordinator_config_deinit(struct coordinator_config *c)
{
	char *data_dir = c->data_dir;

	kg_yaml_release(fields, c);
	free(data_dir);
	memset(c, 0, sizeof(*c));
}

void coordinator_config_manual(struct kg_str *out)
{
	kg_yaml_manual(fields, "", out);
}

int coordinator_config_read(const char *path, struct coordinator_config *ret_c, struct kg_err *err)
{
	static const char empty[] = "{}";
	struct coordinator_config c = {0};
	struct kg_yaml_doc *doc;
	int rc = path ? kg_yaml_parse_file(path, &doc, err)
		      : kg_yaml_parse("defaults", empty, sizeof(empty) - 1, &doc, err);

	if (rc < 0)
		return rc;
	if (doc->root->kind != KG_YAML_MAP)
		rc = kg_yaml_error(doc, doc->root, err, "expected 'key: value' lines");
	else
		rc = kg_yaml_read(doc, doc->root, fields, &c, err);
	kg_yaml_free(doc);
	if (rc == 0)
		*ret_c = c;
	return rc;
}
