/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Start: directories, store (lock, migration), inventory from stored kernels and machines,
 * scheduler from the snapshot, writer thread, listeners. Stop: the other way round, so that nothing
 * comes in any more while what is queued is still written.
 */
#include "coordinator/coordinator.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/clock.h"
#include "common/file.h"
#include "common/log.h"
#include "coordinator/fleet/notify.h"
#include "coordinator/fleet/power.h"

static void on_wake(uv_async_t *a)
{
	struct coordinator *c = a->data;

	if (c->stopping)
		return;
	(void)store_poll(c->store);
	server_flush_acks(&c->server);
}

static void wake(void *arg)
{
	struct coordinator *c = arg;

	(void)uv_async_send(&c->wake);
}

static void on_tick(uv_timer_t *t)
{
	struct coordinator *c = t->data;
	uint64_t now = kg_boottime_ns();

	server_tick(&c->server, now);
	driver_tick(&c->driver, now);
	detector_tick(&c->detector);
	standing_tick(&c->standing);
}

static void on_signal(uv_signal_t *s, int number)
{
	struct coordinator *c = s->data;

	kg_log_notice("ending on signal %d", number);
	coordinator_stop(c);
}

static int open_dirs(struct coordinator *c, struct kg_err *err)
{
	char path[512];
	int rc;

	rc = kg_mkdir_p(c->cfg.data_dir, 0700, err);
	if (rc < 0)
		return rc;
	(void)snprintf(path, sizeof(path), "%s/run", c->cfg.data_dir);
	rc = kg_mkdir_p(path, 0750, err);
	if (rc < 0)
		return rc;
	(void)snprintf(path, sizeof(path), "%s/blobs", c->cfg.data_dir);
	return artifact_blobs_open(path, &c->blobs, err);
}

/* A kernel's config as it was packed; the read side of the blobs may be used by any thread. */
static int read_text(void *arg, const char *digest, char **ret_text, size_t *ret_len,
		     struct kg_err *err)
{
	struct coordinator *c = arg;
	char path[512];
	uint64_t size;
	int rc = artifact_blobs_path(c->blobs, digest, path, sizeof(path), &size, err);

	return rc < 0 ? rc : kg_file_read(path, ARTIFACT_CONFIG_MAX, ret_text, ret_len, err);
}

static int open_store(struct coordinator *c, struct kg_err *err)
{
	char path[512];
	struct store_config sc = {
		.path = path, .host_boot_id = c->host_boot_id, .wake = wake, .arg = c};
	int rc;

	(void)snprintf(path, sizeof(path), "%s/kgrid.db", c->cfg.data_dir);
	rc = store_open(&sc, &c->store, err);
	if (rc < 0)
		return rc;
	rc = query_open(path, 0, &c->query, err);
	if (rc == 0)
		query_set_texts(c->query, &(struct query_texts){.read = read_text, .arg = c});
	return rc;
}

/* A kernel that can no longer be read is left out, with a line that says so; its jobs wait. */
static int load_kernels(struct coordinator *c, struct kg_err *err)
{
	struct store_kernels *list;
	int rc = query_kernel_list(c->query, &list, err);
	size_t i;

	if (rc < 0)
		return rc;
	for (i = 0; i < list->n; i++) {
		const struct store_kernel *k = &list->items[i];
		struct artifact_kernel ak;
		struct inv_kernel *inv = NULL;
		struct kg_err why = {""};
		char *manifest;

		if (query_kernel_manifest(c->query, k->digest, &manifest, &why) < 0)
			goto unreadable;
		rc = artifact_kernel_reopen(c->blobs, manifest, strlen(manifest), k->build_id, &ak,
					    &why);
		free(manifest);
		if (rc < 0)
			goto unreadable;
		rc = inv_kernel_make(&ak, k->label, &inv, &why);
		artifact_kernel_deinit(&ak);
		if (rc < 0)
			goto unreadable;
		(void)query_kernel_document(c->query, k->digest, "kallsyms", &inv->has_symbols,
					    &why);
		(void)inventory_put_kernel(&c->inventory, inv);
		continue;
	unreadable:
		kg_log_err("kernel %s (%s) cannot be used: %s", k->release, k->digest, why.text);
	}
	store_kernels_free(list);
	return 0;
}

#define USAGE_DAYS 7 /* of boots that still count, with a half-life of a day */

/* "alice 2": the share of a submitter. */
static int read_share(const char *text, char *name, size_t size, double *ret_share,
		      struct kg_err *err)
{
	const char *blank = strchr(text, ' ');
	double share;

	if (!blank || blank == text || (size_t)(blank - text) >= size ||
	    kg_parse_double(blank + 1 + strspn(blank + 1, " "), &share) < 0 || !(share > 0) ||
	    share > 1e6)
		return kg_err_set(
			err, KG_EINVALID,
			"shares: expected 'NAME NUMBER' with a number over 0, not '%.80s'", text);
	(void)snprintf(name, size, "%.*s", (int)(blank - text), text);
	*ret_share = share;
	return 0;
}

static int set_policy(struct coordinator *c, struct kg_err *err)
{
	struct sched_policy policy = sched_policy_default;
	size_t n = c->cfg.shares.n;
	struct sched_share *shares = calloc(n + 1, sizeof(*shares));
	char(*names)[64] = calloc(n + 1, sizeof(*names));
	size_t i;
	int rc = shares && names ? 0 : kg_err_set(err, -ENOMEM, "out of memory");

	for (i = 0; rc == 0 && i < n; i++) {
		rc = read_share(c->cfg.shares.items[i], names[i], sizeof(names[i]),
				&shares[i].share, err);
		shares[i].user = names[i];
	}
	policy.shares = shares;
	policy.n_shares = n;
	if (rc == 0 && sched_set_policy(&c->sched, &policy) < 0)
		rc = kg_err_set(err, -ENOMEM, "out of memory");
	free(shares);
	free(names);
	return rc;
}

/* What submitters have used lately, so that a restart gives nobody a new day. */
static int load_usage(struct coordinator *c, struct kg_err *err)
{
	const int64_t day = 86400 * (int64_t)KG_NSEC_PER_SEC;
	int64_t now = kg_realtime_ns();
	struct store_usages *u;
	int rc = query_usage(c->query, now - USAGE_DAYS * day, now,
			     (int64_t)(sched_policy_default.half_life_h * 3600e9), &u, err);
	size_t i;

	if (rc < 0)
		return rc;
	for (i = 0; rc == 0 && i < u->n; i++)
		if (sched_usage_add(&c->sched, u->items[i].user, u->items[i].used_ns,
				    kg_boottime_ns()) < 0)
			rc = kg_err_set(err, -ENOMEM, "out of memory");
	store_usages_free(u);
	return rc;
}

static int load_state(struct coordinator *c, struct kg_err *err)
{
	struct store_snapshot *snap;
	size_t i;
	int rc = query_snapshot(c->query, &snap, err);

	if (rc < 0)
		return rc;
	sched_init(&c->sched, &sched_limits_default, snap->ids.boot, snap->ids.attempt);
	if (snap->ids.lease_epoch > c->sched.next_boot)
		c->sched.next_boot = snap->ids.lease_epoch; /* epochs are boot numbers */
	for (i = 0; i < SCHED_STAGE_COUNT; i++)
		c->sched.limits.stage_s[i] = (uint32_t)(c->cfg.stage_ns[i] / KG_NSEC_PER_SEC);
	c->sched.limits.instruction_factor = (uint32_t)c->cfg.instruction_factor;
	driver_init(&c->driver, c);
	detector_init(&c->detector, c);
	standing_init(&c->standing, c);
	for (i = 0; i < snap->n_machines; i++)
		if (snap->machines[i].facts)
			(void)inventory_put_machine(&c->inventory, snap->machines[i].name,
						    snap->machines[i].facts, NULL);
	rc = set_policy(c, err);
	if (rc == 0)
		rc = load_usage(c, err);
	if (rc == 0)
		rc = driver_restore(&c->driver, snap, err);
	store_snapshot_free(snap);
	return rc;
}

static int open_handles(struct coordinator *c, struct kg_err *err)
{
	int rc = uv_loop_init(&c->loop);

	if (rc < 0)
		return kg_err_set(err, rc, "cannot start the event loop: %s", uv_strerror(rc));
	c->loop.data = c;
	c->wake.data = c->tick.data = c->sigint.data = c->sigterm.data = c;
	rc = uv_async_init(&c->loop, &c->wake, on_wake);
	if (rc < 0) {
		(void)uv_loop_close(&c->loop);
		return kg_err_set(err, rc, "cannot start the event loop: %s", uv_strerror(rc));
	}
	(void)uv_timer_init(&c->loop, &c->tick);
	(void)uv_signal_init(&c->loop, &c->sigint);
	(void)uv_signal_init(&c->loop, &c->sigterm);
	(void)uv_timer_init(&c->loop, &c->server.watch_timer);
	c->open_handles = 5;
	return 0;
}

static void on_handle_closed(uv_handle_t *h)
{
	struct coordinator *c = h->loop->data;

	c->open_handles--;
}

static void close_handles(struct coordinator *c)
{
	uv_handle_t *handles[] = {(uv_handle_t *)&c->wake, (uv_handle_t *)&c->tick,
				  (uv_handle_t *)&c->sigint, (uv_handle_t *)&c->sigterm,
				  (uv_handle_t *)&c->server.watch_timer};
	size_t i;

	for (i = 0; i < sizeof(handles) / sizeof(handles[0]); i++)
		if (!uv_is_closing(handles[i]))
			uv_close(handles[i], on_handle_closed);
}

int coordinator_start(struct coordinator *c, struct kg_err *err)
{
	int rc = kg_file_read_line("/proc/sys/kernel/random/boot_id", c->host_boot_id,
				   sizeof(c->host_boot_id), err);

	if (rc == 0)
		rc = open_handles(c, err);
	if (rc < 0)
		return rc;
	rc = open_dirs(c, err);
	if (rc == 0)
		rc = open_store(c, err);
	if (rc == 0)
		rc = load_kernels(c, err);
	if (rc == 0)
		rc = load_state(c, err);
	if (rc == 0)
		rc = store_start(c->store, err);
	/* Before anybody can know that we run, and want us to end. */
	(void)uv_signal_start(&c->sigint, on_signal, SIGINT);
	(void)uv_signal_start(&c->sigterm, on_signal, SIGTERM);
	if (rc == 0)
		rc = server_start(&c->server, c, err);
	if (rc < 0) {
		coordinator_stop(c);
		(void)coordinator_run(c);
		coordinator_deinit(c);
		return rc;
	}
	(void)uv_timer_start(&c->tick, on_tick, 1000, 1000);
	return 0;
}

void coordinator_stop(struct coordinator *c)
{
	if (c->stopping)
		return;
	c->stopping = true;
	(void)uv_timer_stop(&c->tick);
	server_stop(&c->server, "the coordinator is ending");
	power_stop(&c->driver);
	notify_stop(c);
	/* Writes what is queued and delivers every callback, while sessions still can hear it. */
	store_close(c->store);
	c->store = NULL;
	close_handles(c);
}

int coordinator_run(struct coordinator *c)
{
	(void)uv_run(&c->loop, UV_RUN_DEFAULT);
	return uv_loop_close(&c->loop);
}

void coordinator_deinit(struct coordinator *c)
{
	query_close(c->query);
	artifact_blobs_free(c->blobs);
	detector_deinit(&c->detector);
	standing_deinit(&c->standing);
	driver_deinit(&c->driver);
	sched_deinit(&c->sched);
	inventory_deinit(&c->inventory);
	server_deinit(&c->server);
	coordinator_config_deinit(&c->cfg);
}
