/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Happy path: the command template is run with the machine's name, exits 0, the machine comes back
 * in its default kernel.
 * Failure modes: no command configured, it cannot be started, exits otherwise, or takes longer than
 * a minute (killed). Each is an event of the machine; the kernel is not blamed for it. The coordinator
 * ends while it runs: it goes on alone, for half of it could leave the machine without power.
 */
#include "coordinator/fleet/power.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/clock.h"
#include "common/fault.h"
#include "common/log.h"
#include "coordinator/coordinator.h"

#define POWER_TIMEOUT_MS 60000

struct power_run {
	uv_process_t process;
	uv_timer_t timer;
	struct driver *d;
	struct power_run *next; /* of the driver's */
	unsigned handles;	/* open ones; freed with the last */
	char machine[64];
	uint64_t job, boot;
	char **argv;
};

static void run_free(struct power_run *p)
{
	size_t i;

	for (i = 0; p->argv && p->argv[i]; i++)
		free(p->argv[i]);
	free(p->argv);
	free(p);
}

static void on_closed(uv_handle_t *h)
{
	struct power_run *p = h->data, **at = &p->d->power;

	if (--p->handles > 0)
		return;
	while (*at != p)
		at = &(*at)->next;
	*at = p->next;
	run_free(p);
}

static void report(struct power_run *p, const char *text)
{
	kg_log_notice("power of '%s': %s", p->machine, text);
	if (!p->d->c->stopping)
		driver_event(p->d, p->machine, p->job, p->boot, "power", text);
}

static void on_exit_cb(uv_process_t *process, int64_t status, int signal)
{
	struct power_run *p = process->data;
	char text[96];

	if (signal)
		(void)snprintf(text, sizeof(text), "power-cycle command ended by signal %d",
			       signal);
	else if (status)
		(void)snprintf(text, sizeof(text), "power-cycle command failed with status %d",
			       (int)status);
	else
		(void)snprintf(text, sizeof(text), "power was cycled");
	report(p, text);
	uv_close((uv_handle_t *)&p->process, on_closed);
	uv_close((uv_handle_t *)&p->timer, on_closed);
}

static void on_timeout(uv_timer_t *timer)
{
	struct power_run *p = timer->data;

	(void)uv_process_kill(&p->process, SIGKILL);
}

static char *replace_machine(const char *word, const char *machine)
{
	const char *at = strstr(word, "{machine}");
	struct kg_str s = {0};

	if (!at)
		return strdup(word);
	kg_str_addn(&s, word, (size_t)(at - word));
	kg_str_add(&s, machine);
	kg_str_add(&s, at + strlen("{machine}"));
	return kg_str_take(&s);
}

static int fill_argv(struct power_run *p, const struct kg_texts *command)
{
	size_t i;

	p->argv = calloc(command->n + 1, sizeof(char *));
	if (!p->argv)
		return -1;
	for (i = 0; i < command->n; i++) {
		p->argv[i] = replace_machine(command->items[i], p->machine);
		if (!p->argv[i])
			return -1;
	}
	return 0;
}

void power_cycle(struct driver *d, const char *machine, uint64_t job, uint64_t boot)
{
	struct power_run *p;
	uv_process_options_t o = {0};
	uv_stdio_container_t stdio[3] = {{.flags = UV_IGNORE},
					 {.flags = UV_INHERIT_FD, .data.fd = 2},
					 {.flags = UV_INHERIT_FD, .data.fd = 2}};
	int rc;

	if (d->c->cfg.power_cycle.n == 0) {
		driver_event(d, machine, job, boot, "power",
			     "no power-cycle command is configured; the machine has to come back "
			     "by itself");
		return;
	}
	p = calloc(1, sizeof(*p));
	if (!p) {
		kg_log_err("out of memory: the power of '%s' is not cycled", machine);
		return;
	}
	p->d = d;
	p->job = job;
	p->boot = boot;
	(void)snprintf(p->machine, sizeof(p->machine), "%s", machine);
	if (fill_argv(p, &d->c->cfg.power_cycle) < 0) {
		kg_log_err("out of memory: the power of '%s' is not cycled", machine);
		run_free(p);
		return;
	}
	p->process.data = p->timer.data = p;
	o.file = p->argv[0];
	o.args = p->argv;
	o.exit_cb = on_exit_cb;
	o.stdio = stdio;
	o.stdio_count = 3;
	p->next = d->power;
	d->power = p;
	p->handles = 2;
	(void)uv_timer_init(&d->c->loop, &p->timer);
	KG_FAULT(POWER_SPAWN);
	rc = uv_spawn(&d->c->loop, &p->process, &o);
	if (rc < 0) {
		char text[128];

		(void)snprintf(text, sizeof(text), "cannot start the power-cycle command '%s': %s",
			       p->argv[0], uv_strerror(rc));
		report(p, text);
		uv_close((uv_handle_t *)&p->process, on_closed);
		uv_close((uv_handle_t *)&p->timer, on_closed);
		return;
	}
	(void)uv_timer_start(&p->timer, on_timeout, POWER_TIMEOUT_MS, 0);
}

void power_stop(struct driver *d)
{
	struct power_run *p;

	for (p = d->power; p; p = p->next) {
		if (uv_is_closing((uv_handle_t *)&p->process))
			continue;
		report(p, "the coordinator ends; its power-cycle command goes on alone");
		uv_close((uv_handle_t *)&p->process, on_closed);
		uv_close((uv_handle_t *)&p->timer, on_closed);
	}
}
