/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Happy path: fetch -> image -> load -> hop, and after it verify. Failure modes: each step's
 * failure is an event with an outcome; a fence takes a loaded kernel out again. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "agent/boot_initrd.h"
#include "agent/boot_load.h"
#include "agent/boot_shutdown.h"
#include "agent/boot_verify.h"
#include "agent/driver_internal.h"
#include "agent/kmsg.h"
#include "common/clock.h"
#include "common/log.h"
#include "common/outcome.h"
#include "common/sha256.h"
#include "common/str.h"

/* What trying again may cure is infra; what it cannot is a harness error. */
static const char *outcome_of(int code)
{
	switch (code) {
	case KG_EINVALID:
	case KG_ENOTFOUND:
	case KG_EVERSION:
	case KG_ELIMIT:
	case -EPERM:
	case -EACCES:
	case -EKEYREJECTED:
	case -ENOKEY:
	case -ENOPKG:
	case -EBADMSG:
	case -ELIBBAD:
	case -ENODATA:
	case -ENOEXEC:
	case -EINVAL:
	case -ENOSYS:
		return "harness-error";
	default:
		return "infra";
	}
}

/* ---- fetch ---- */

static void on_request(void *data, const char *digest, uint64_t offset, uint32_t max_bytes)
{
	struct driver *d = data;
	Kgrid__V1__BlobRequest r = KGRID__V1__BLOB_REQUEST__INIT;

	r.digest = (char *)(uintptr_t)digest;
	r.has_offset = r.has_max_bytes = 1;
	r.offset = offset;
	r.max_bytes = max_bytes;
	if (++d->fetch_id == 0)
		d->fetch_id = 1;
	connect_send(d->connect, KG_MSG_BLOB_REQUEST, d->fetch_id, &r.base);
}

static void on_fetched(void *data, int code, const char *reason)
{
	struct driver *d = data;

	driver_done(d, AGENT_EV_FETCHED, code < 0 ? outcome_of(code) : NULL, reason);
}

static const char *kernel_digest(const struct driver *d)
{
	const char *other = agent_fault(d->config, d->order->cmdline ? d->order->cmdline : "",
					"boot-other-kernel");

	return other && kg_sha256_hex_valid(other) ? other : d->order->kernel_digest;
}

void driver_begin_fetch(struct driver *d)
{
	static const struct boot_fetch_ops ops = {.request = on_request, .done = on_fetched};
	bool overlay = d->config->initrd.policy == AGENT_INITRD_OVERLAY;

	boot_fetch_free(d->fetch);
	d->fetch = boot_fetch_new(d->cache_dir, kernel_digest(d),
				  overlay ? &d->config->initrd.modules : NULL, &ops, d);
	if (!d->fetch)
		driver_done(d, AGENT_EV_FETCHED, "infra", "out of memory");
	else
		boot_fetch_resume(d->fetch);
}

/* ---- load, on a worker thread: no touching of the driver but for what is read only ---- */

static int check_kernel(const char *path, const char *digest, struct kg_err *err)
{
	char seen[KG_SHA256_HEX_SIZE];
	int rc = kg_sha256_file(path, seen, err);

	if (rc < 0)
		return rc;
	if (strcmp(seen, digest) == 0)
		return 0;
	cache_drop(path);
	return kg_err_set(err, KG_ECORRUPT, "the cached kernel image is damaged");
}

static int load_kernel(struct driver_load *l)
{
	const struct agent_config *c = l->d->config;
	const struct boot_file *image = boot_manifest_find(l->artifact.manifest, "vmlinuz");
	char kernel[CACHE_PATH_SIZE], initrd[CACHE_PATH_SIZE];
	bool overlay = c->initrd.policy == AGENT_INITRD_OVERLAY;
	struct digests *digests;
	time_t started = time(NULL);
	int rc = 0;

	cache_blob_path(l->d->cache_dir, image->digest, false, kernel);
	rc = check_kernel(kernel, image->digest, &l->err);
	if (rc == 0 && overlay) {
		digests = digests_open(l->d->digests_path);
		if (!digests)
			return kg_err_set(&l->err, -ENOMEM, "out of memory");
		rc = boot_initrd_make(l->d->cache_dir, l->kernel_digest, c->initrd.base,
				      &l->artifact, digests, initrd, &l->err);
		digests_close(digests);
	}
	if (rc == 0)
		rc = boot_load(kernel, overlay ? initrd : NULL, l->cmdline, &l->method, &l->err);
	if (rc == 0) /* a full cache is no reason not to boot */
		(void)cache_trim(l->d->cache_dir, c->initrd.cache_bytes, started - 60, NULL);
	return rc;
}

static void on_load_work(uv_work_t *w)
{
	struct driver_load *l = w->data;

	l->code = load_kernel(l);
}

static void on_load_done(uv_work_t *w, int status)
{
	struct driver_load *l = w->data;
	struct driver *d = l->d;

	l->busy = false;
	if (status < 0)
		return;
	if (l->cancelled) {
		boot_unload();
		return;
	}
	if (l->code < 0) {
		struct agent_event ev = {.kind = AGENT_EV_LOADED};

		ev.u.done.outcome = outcome_of(l->code);
		ev.u.done.reason = l->err.text;
		ev.u.done.stuck = d->config->shutdown.reboot && boot_load_stuck(l->code);
		driver_event(d, &ev);
		return;
	}
	(void)snprintf(d->state.boot_method, sizeof(d->state.boot_method), "%s", l->method);
	driver_done(d, AGENT_EV_LOADED, NULL, l->method);
}

/* The machine's words and the order's, as they must be found again after the boot. */
static int requested_line(const struct driver *d, char *buf, size_t size)
{
	const char *base = d->config->cmdline ? d->config->cmdline : "";
	const char *words = d->order->cmdline ? d->order->cmdline : "";
	int n = snprintf(buf, size, "%s%s%s", base, base[0] && words[0] ? " " : "", words);

	return n < (int)size ? 0 : KG_ELIMIT;
}

/* The line that is loaded. The fault point loses its lsm= words, as a faulty loader would. */
static int make_line(const struct driver *d, char *buf, size_t size)
{
	char requested[KG_CMDLINE_MAX + 1];
	struct kg_cmdline c;
	struct kg_str s = {0};
	bool drop = agent_fault(d->config, d->order->cmdline ? d->order->cmdline : "",
				"drop-lsm-word") != NULL;
	size_t i;
	int n;

	if (requested_line(d, requested, sizeof(requested)) < 0)
		return KG_ELIMIT;
	if (kg_cmdline_parse(requested, &c) < 0)
		return -ENOMEM;
	for (i = 0; i < c.n; i++)
		if (!drop || !kg_str_starts(c.words[i], "lsm="))
			kg_str_addf(&s, "%s ", c.words[i]);
	kg_cmdline_deinit(&c);
	n = s.failed ? -1
		     : snprintf(buf, size, "%skgrid.boot=%llu.%s", kg_str_text(&s),
				(unsigned long long)d->order->boot, d->order->nonce);
	kg_str_deinit(&s);
	if (n < 0)
		return -ENOMEM;
	return n <= KG_CMDLINE_MAX && n < (int)size ? 0 : KG_ELIMIT;
}

void driver_begin_load(struct driver *d)
{
	struct driver_load *l = &d->load;
	int rc;

	if (l->busy) { /* of a boot that was fenced a moment ago */
		driver_done(d, AGENT_EV_LOADED, "infra", "an earlier load is not over");
		return;
	}
	rc = make_line(d, l->cmdline, sizeof(l->cmdline));
	if (rc < 0) {
		driver_done(d, AGENT_EV_LOADED, outcome_of(rc),
			    rc == KG_ELIMIT ? "the command line is too long" : "out of memory");
		return;
	}
	l->d = d;
	l->work.data = l;
	l->cancelled = false;
	boot_fetch_artifact(d->fetch, &l->artifact);
	(void)snprintf(l->kernel_digest, sizeof(l->kernel_digest), "%s", kernel_digest(d));
	rc = uv_queue_work(d->loop, &l->work, on_load_work, on_load_done);
	if (rc < 0)
		driver_done(d, AGENT_EV_LOADED, "infra", uv_strerror(rc));
	else
		l->busy = true;
}

void driver_cancel(struct driver *d)
{
	(void)uv_timer_stop(&d->wait);
	if (d->load.busy) {
		d->load.cancelled = true; /* its artifact stays until it is done */
		return;
	}
	boot_unload();
	boot_fetch_free(d->fetch);
	d->fetch = NULL;
}

/* ---- hop, and the plain reboot ---- */

/* Nothing may be open below what is unmounted. */
static void close_files(struct driver *d)
{
	connect_farewell(d->connect);
	boot_fetch_free(d->fetch);
	d->fetch = NULL;
	spool_free(d->spool);
	d->spool = NULL;
	close(d->lock_fd);
	d->lock_fd = -1;
}

static void still_here(struct driver *d, const char *why)
{
	struct kg_err err;

	if (driver_lock(d, &err) < 0)
		driver_die(d, "%s", err.text);
	if (d->agent.boot && spool_open(d->spool_dir, d->agent.boot, d->config->spool_bytes, false,
					&d->spool, &err) < 0)
		driver_die(d, "%s", err.text);
	driver_done(d, AGENT_EV_HOP_FAILED, "infra", why);
}

/* The next kernel must not take them for those of the firmware. */
static void undo_settings(const struct driver *d)
{
	unsigned failed = settings_undo_all(&d->undo);

	if (failed > 0)
		kg_log_warn("%u settings of an earlier boot could not be undone", failed);
}

static void on_down_late(uv_timer_t *t)
{
	struct driver *d = t->data;

	kg_log_err("the machine was told to go down and is still up");
	driver_done(d, AGENT_EV_STILL_UP, "infra",
		    "the machine was told to go down, also by force, and is still up");
}

/* The units have this long to stop: two that wait for each other 90 s each. Forced, there are none
 * to wait for. Both are less than the coordinator gives the whole boot. */
#define DOWN_MS	       180000
#define DOWN_FORCED_MS 60000
#define SYSTEMCTL_NS   (30 * KG_NSEC_PER_SEC)

static void by_systemctl(struct driver *d, const char *verb, bool force)
{
	struct kg_err err;
	int rc = boot_systemctl(verb, force, SYSTEMCTL_NS, &err);

	if (rc < 0)
		kg_log_err("%s", err.text);
	if (rc < 0 && rc != -ETIME) {
		driver_done(d, AGENT_EV_HOP_FAILED, "infra", err.text);
		return;
	}
	/* Where an idle clock races, only the coordinator knows how long this takes. */
	if (d->config->clock == AGENT_CLOCK_REAL)
		(void)uv_timer_start(&d->down, on_down_late, force ? DOWN_FORCED_MS : DOWN_MS, 0);
}

void driver_force(struct driver *d)
{
	bool kexec = d->agent.stage == AGENT_BOOT;

	by_systemctl(d, kexec ? "kexec" : "reboot", true);
}

void driver_hop(struct driver *d)
{
	const struct agent_config *c = d->config;
	struct kg_err err;

	undo_settings(d);
	if (boot_shutdown_by_systemd(c)) {
		by_systemctl(d, "kexec", false);
		return;
	}
	kg_log_notice("leaving for boot %llu", (unsigned long long)d->order->boot);
	close_files(d);
	(void)boot_shutdown_direct(c, &err);
	kg_log_err("%s", err.text);
	still_here(d, "the machine could not be shut down for kexec");
}

void driver_reboot(struct driver *d)
{
	const struct agent_config *c = d->config;
	struct kg_err err;

	kg_log_notice("rebooting into the default kernel: kexec cannot leave this one");
	if (boot_shutdown_by_systemd(c)) {
		by_systemctl(d, "reboot", false);
		return;
	}
	close_files(d);
	(void)boot_reboot_direct(c, &err);
	kg_log_err("%s", err.text);
	still_here(d, "the machine could not be rebooted");
}

/* ---- verify ---- */

bool driver_nonce_seen(const struct driver *d)
{
	char nonce[KG_NONCE_HEX_LEN + 1];
	struct kg_cmdline line;
	unsigned long long boot;
	bool seen = false;

	if (!d->order || !d->provenance.cmdline ||
	    kg_cmdline_parse(d->provenance.cmdline, &line) < 0)
		return false;
	if (kg_cmdline_nonce(&line, &boot, nonce))
		seen = boot == d->order->boot && strcmp(nonce, d->order->nonce) == 0;
	kg_cmdline_deinit(&line);
	return seen;
}

#define BOOT_LOG_BYTES 32768

/* The record is made from d->boot_log once this event is carried out, and frees it. */
static void record_boot_log(struct driver *d)
{
	struct agent_event ev = {.kind = AGENT_EV_BOOT_LOG};
	Kgrid__V1__LogChunk *c = &d->boot_chunk;
	size_t dropped;

	if (!driver_nonce_seen(d))
		return; /* of some other boot */
	kg_str_clear(&d->boot_log);
	dropped = kmsg_read(BOOT_LOG_BYTES, &d->boot_log);
	if (d->boot_log.failed || d->boot_log.len == 0)
		return;
	kgrid__v1__log_chunk__init(c);
	c->stream = (char *)(uintptr_t) "dmesg";
	c->has_data = 1;
	c->data.data = (uint8_t *)d->boot_log.text;
	c->data.len = d->boot_log.len;
	c->has_dropped_bytes = dropped > 0;
	c->dropped_bytes = dropped;
	ev.u.record.kind = AGENT_REC_LOG;
	ev.u.record.body = c;
	driver_event(d, &ev);
}

void driver_verify(struct driver *d)
{
	const struct provenance *p = &d->provenance;
	const Kgrid__V1__BootOrder *o = d->order;
	char requested[KG_CMDLINE_MAX + 1] = "";
	struct boot_expected expected = {.boot = o->boot,
					 .nonce = o->nonce,
					 .release = o->expect_release,
					 .build_id = o->expect_build_id,
					 .lsm = o->expect_lsm,
					 .cmdline = requested};
	struct boot_seen seen = {.cmdline = p->cmdline,
				 .release = p->release,
				 .build_id = p->build_id,
				 .lsm = p->lsm};
	struct kg_err why;
	enum kg_outcome outcome;

	record_boot_log(d);
	(void)requested_line(d, requested, sizeof(requested));
	outcome = boot_verify(&expected, &seen, &why);
	if (outcome == KG_OUTCOME_PASS)
		driver_done(d, AGENT_EV_VERIFIED, NULL, NULL);
	else
		driver_done(d, AGENT_EV_VERIFIED, kg_outcome_name(outcome), why.text);
}
