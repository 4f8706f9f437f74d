/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "agent/state.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/file.h"
#include "common/sha256.h"
#include "common/str.h"

#define VERSION_LINE "kgrid-agent-state 1"
#define MAX_BYTES    (8U * 1024 * 1024)

void agent_state_deinit(struct agent_state *s)
{
	free(s->order);
	memset(s, 0, sizeof(*s));
}

static void add_hex(struct kg_str *out, const uint8_t *bytes, size_t len)
{
	static const char digits[] = "0123456789abcdef";
	size_t i;

	for (i = 0; i < len; i++) {
		char pair[2] = {digits[bytes[i] >> 4], digits[bytes[i] & 15]};

		kg_str_addn(out, pair, 2);
	}
}

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static int read_hex(const char *text, uint8_t **ret_bytes, size_t *ret_len)
{
	size_t len = strlen(text), i;
	uint8_t *bytes;

	if (len == 0 || len % 2)
		return KG_ECORRUPT;
	bytes = malloc(len / 2);
	if (!bytes)
		return -ENOMEM;
	for (i = 0; i < len / 2; i++) {
		int hi = hex_digit(text[2 * i]), lo = hex_digit(text[2 * i + 1]);

		if (hi < 0 || lo < 0) {
			free(bytes);
			return KG_ECORRUPT;
		}
		bytes[i] = (uint8_t)(hi << 4 | lo);
	}
	*ret_bytes = bytes;
	*ret_len = len / 2;
	return 0;
}

static int set_u64(const char *value, uint64_t max, uint64_t *ret)
{
	uint64_t v;

	if (kg_parse_u64(value, &v) < 0 || v > max)
		return KG_ECORRUPT;
	*ret = v;
	return 0;
}

static int set_text(const char *value, char *buf, size_t size)
{
	return snprintf(buf, size, "%s", value) < (int)size ? 0 : KG_ECORRUPT;
}

static int set_u32(const char *value, uint32_t *ret)
{
	uint64_t v;
	int rc = set_u64(value, UINT32_MAX, &v);

	if (rc == 0)
		*ret = (uint32_t)v;
	return rc;
}

static int read_pair(struct agent_state *s, const char *key, const char *value)
{
	struct agent_saved *v = &s->saved;

	if (strcmp(key, "stage") == 0) {
		v->stage = agent_stage_parse(value);
		return v->stage == AGENT_IDLE ? KG_ECORRUPT : 0;
	}
	if (strcmp(key, "boot") == 0)
		return set_u64(value, UINT64_MAX, &v->boot);
	if (strcmp(key, "lease-epoch") == 0)
		return set_u64(value, UINT64_MAX, &v->lease_epoch);
	if (strcmp(key, "runs") == 0)
		return set_u32(value, &v->n_runs);
	if (strcmp(key, "hops") == 0)
		return set_u32(value, &v->hops);
	if (strcmp(key, "fenced") == 0) {
		v->fenced = strcmp(value, "yes") == 0;
		return 0;
	}
	if (strcmp(key, "left") == 0) {
		v->left = strcmp(value, "yes") == 0;
		return 0;
	}
	if (strcmp(key, "host-boot-id") == 0)
		return set_text(value, v->host_boot_id, sizeof(v->host_boot_id));
	if (strcmp(key, "previous-host-boot-id") == 0)
		return set_text(value, s->previous_host_boot_id, sizeof(s->previous_host_boot_id));
	if (strcmp(key, "boot-method") == 0)
		return set_text(value, s->boot_method, sizeof(s->boot_method));
	if (strcmp(key, "minor") == 0)
		return set_u32(value, &s->minor);
	if (strcmp(key, "order") == 0 && !s->order)
		return read_hex(value, &s->order, &s->order_len);
	return KG_ECORRUPT;
}

/* Cuts the digest line off `text` and compares it. */
static int check_digest(char *text, size_t len)
{
	char digest[KG_SHA256_HEX_SIZE];
	char *last;

	if (len < 2 || text[len - 1] != '\n' || strlen(text) != len)
		return KG_ECORRUPT;
	text[len - 1] = '\0';
	last = strrchr(text, '\n');
	if (!last || !kg_str_starts(last + 1, "sha256 "))
		return KG_ECORRUPT;
	if (kg_sha256_bytes(text, (size_t)(last + 1 - text), digest) < 0 ||
	    strcmp(last + 1 + strlen("sha256 "), digest) != 0)
		return KG_ECORRUPT;
	last[1] = '\0';
	return 0;
}

static int parse(struct agent_state *s, char *text, size_t len)
{
	char *line, *rest = NULL;
	int rc = check_digest(text, len);

	if (rc < 0)
		return rc;
	line = strtok_r(text, "\n", &rest);
	if (!line || strcmp(line, VERSION_LINE) != 0)
		return KG_EVERSION;
	while ((line = strtok_r(NULL, "\n", &rest))) {
		char *space = strchr(line, ' ');

		if (!space)
			return KG_ECORRUPT;
		*space = '\0';
		rc = read_pair(s, line, space + 1);
		if (rc < 0)
			return rc;
	}
	return (s->saved.boot != 0) == (s->order != NULL) ? 0 : KG_ECORRUPT;
}

int agent_state_load(const char *path, struct agent_state *ret_s, struct kg_err *err)
{
	struct agent_state s = {0};
	char *text;
	size_t len;
	int rc = kg_file_read(path, MAX_BYTES, &text, &len, err);

	if (rc < 0)
		return rc;
	rc = parse(&s, text, len);
	free(text);
	if (rc < 0) {
		agent_state_deinit(&s);
		return kg_err_set(err, rc, "cannot use state file '%s': %s", path, kg_strerror(rc));
	}
	*ret_s = s;
	return 0;
}

int agent_state_save(const char *path, const struct agent_state *s, struct kg_err *err)
{
	const struct agent_saved *v = &s->saved;
	char digest[KG_SHA256_HEX_SIZE];
	struct kg_str out = {0};
	int rc;

	kg_str_add(&out, VERSION_LINE "\n");
	kg_str_addf(&out, "host-boot-id %s\nhops %" PRIu32 "\n", v->host_boot_id, v->hops);
	if (s->previous_host_boot_id[0])
		kg_str_addf(&out, "previous-host-boot-id %s\n", s->previous_host_boot_id);
	if (s->boot_method[0])
		kg_str_addf(&out, "boot-method %s\n", s->boot_method);
	if (v->boot) {
		kg_str_addf(&out, "boot %" PRIu64 "\nlease-epoch %" PRIu64 "\nstage %s\n", v->boot,
			    v->lease_epoch, agent_stage_name(v->stage));
		if (v->left)
			kg_str_add(&out, "left yes\n");
		if (s->minor)
			kg_str_addf(&out, "minor %" PRIu32 "\n", s->minor);
		kg_str_addf(&out, "runs %" PRIu32 "\nfenced %s\norder ", v->n_runs,
			    v->fenced ? "yes" : "no");
		add_hex(&out, s->order, s->order_len);
		kg_str_add(&out, "\n");
	}
	if (out.failed || kg_sha256_bytes(out.text, out.len, digest) < 0) {
		kg_str_deinit(&out);
		return kg_err_set(err, -ENOMEM, "out of memory");
	}
	kg_str_addf(&out, "sha256 %s\n", digest);
	if (out.failed)
		rc = kg_err_set(err, -ENOMEM, "out of memory");
	else
		rc = kg_file_replace(path, out.text, out.len, 0600, err);
	kg_str_deinit(&out);
	return rc;
}
