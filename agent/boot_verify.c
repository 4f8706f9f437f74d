/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "agent/boot_verify.h"

#include <inttypes.h>
#include <stdbool.h>
#include <string.h>
#include <strings.h>

#include "common/cmdline.h"

static bool given(const char *text)
{
	return text && text[0];
}

static bool nonce_right(const struct boot_expected *e, const struct kg_cmdline *line,
			struct kg_err *why)
{
	char nonce[KG_NONCE_HEX_LEN + 1];
	unsigned long long boot;

	if (!kg_cmdline_nonce(line, &boot, nonce)) {
		kg_err_set(why, 0,
			   "no kgrid.boot= on the command line: another boot than asked for");
		return false;
	}
	if (boot != e->boot || strcmp(nonce, e->nonce) != 0) {
		kg_err_set(why, 0,
			   "kgrid.boot= is of boot %llu with another nonce than boot %" PRIu64 "'s",
			   boot, e->boot);
		return false;
	}
	return true;
}

static bool kernel_right(const struct boot_expected *e, const struct boot_seen *s,
			 struct kg_err *why)
{
	if (given(e->release) && strcmp(e->release, s->release ? s->release : "") != 0) {
		kg_err_set(why, 0, "release is '%s', asked for '%s'", s->release ? s->release : "",
			   e->release);
		return false;
	}
	/* A kernel without notes proves nothing either way; the release was compared. */
	if (given(e->build_id) && given(s->build_id) && strcasecmp(e->build_id, s->build_id) != 0) {
		kg_err_set(why, 0, "build id is %s, asked for %s", s->build_id, e->build_id);
		return false;
	}
	return true;
}

static bool lsm_right(const struct boot_expected *e, const struct boot_seen *s, struct kg_err *why)
{
	if (!e->lsm)
		return true;
	if (!s->lsm) {
		kg_err_set(why, 0, "the effective lsm list cannot be read, expected '%s'", e->lsm);
		return false;
	}
	if (strcmp(e->lsm, s->lsm) != 0) {
		kg_err_set(why, 0, "effective lsm list is '%s', expected '%s'", s->lsm, e->lsm);
		return false;
	}
	return true;
}

static enum kg_outcome judge(const struct boot_expected *e, const struct boot_seen *s,
			     const struct kg_cmdline *line, const struct kg_cmdline *wanted,
			     struct kg_err *why)
{
	if (!nonce_right(e, line, why))
		return KG_OUTCOME_BOOT_FALLBACK;
	if (!kernel_right(e, s, why))
		return KG_OUTCOME_WRONG_KERNEL;
	if (!lsm_right(e, s, why))
		return KG_OUTCOME_WRONG_LSM;
	if (kg_cmdline_covers(line, wanted, why) < 0)
		return KG_OUTCOME_WRONG_CMDLINE;
	return KG_OUTCOME_PASS;
}

enum kg_outcome boot_verify(const struct boot_expected *expected, const struct boot_seen *seen,
			    struct kg_err *why)
{
	struct kg_cmdline line = {0}, wanted = {0};
	enum kg_outcome o = KG_OUTCOME_HARNESS_ERROR;

	why->text[0] = '\0';
	if (kg_cmdline_parse(seen->cmdline ? seen->cmdline : "", &line) == 0 &&
	    kg_cmdline_parse(expected->cmdline ? expected->cmdline : "", &wanted) == 0)
		o = judge(expected, seen, &line, &wanted, why);
	else
		kg_err_set(why, 0, "out of memory");
	kg_cmdline_deinit(&line);
	kg_cmdline_deinit(&wanted);
	return o;
}
