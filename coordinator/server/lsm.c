/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which LSMs a stored kernel will start: the planner's own prediction, for one command line. Answered
 * on the loop thread, since it takes microseconds. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "coordinator/coordinator.h"

static char *borrow(const char *s)
{
	return (char *)(uintptr_t)s;
}

/* The kernel that the selector means, with what its config says. */
static int find_kernel(const struct request *rq, struct lsm_kernel *ret, struct kg_err *err)
{
	const Kgrid__V1__LsmResolveRequest *q = REQUEST_BODY(rq, Kgrid__V1__LsmResolveRequest);
	struct inv_snapshot snap;
	const struct plan_kernel *k;
	size_t index = 0;
	int rc = inventory_snapshot(&rq->c->inventory, &snap);

	if (rc < 0)
		return kg_err_set(err, rc, "cannot look at the kernels: %s", kg_strerror(rc));
	rc = plan_find_kernel(snap.plan_kernels, snap.n_kernels, q->kernel ? q->kernel : "", &index,
			      err);
	k = rc == 0 ? &snap.plan_kernels[index] : NULL;
	if (k && !k->config)
		rc = kg_err_set(err, KG_ENODATA,
				"kernel '%s' was stored without a config, so that its lsm list "
				"cannot be predicted",
				k->label ? k->label : k->release);
	if (rc == 0) {
		*ret = k->config->lsm;
		(void)snprintf(ret->release, sizeof(ret->release), "%s", k->release);
	}
	inv_snapshot_deinit(&snap);
	return rc;
}

static int resolve(const struct request *rq, struct lsm_kernel *k, struct lsm_list *ret,
		   struct kg_err *err)
{
	const Kgrid__V1__LsmResolveRequest *q = REQUEST_BODY(rq, Kgrid__V1__LsmResolveRequest);
	int rc = find_kernel(rq, k, err);

	if (rc == 0 && q->cmdline && strlen(q->cmdline) > LSM_CMDLINE_MAX)
		rc = kg_err_set(err, KG_EINVALID,
				"the command line has %zu characters: no kernel reads more than %d",
				strlen(q->cmdline), LSM_CMDLINE_MAX);
	if (rc == 0 && q->profile && !lsm_parse_profile(q->profile, &k->profile))
		rc = kg_err_set(err, KG_EINVALID,
				"there is no profile '%.40s', only upstream and ubuntu",
				q->profile);
	return rc < 0 ? rc : lsm_resolve(k, q->cmdline ? q->cmdline : "", ret, err);
}

static void fill_entry(Kgrid__V1__LsmEntry *out, const struct lsm_entry *e)
{
	kgrid__v1__lsm_entry__init(out);
	out->name = e->name;
	out->has_in = out->has_requested = 1;
	out->in = e->in;
	out->requested = e->requested;
	out->reason = borrow(lsm_reason_name(e->reason));
	out->why = borrow(e->why);
}

static void send_list(const struct request *rq, const struct lsm_kernel *k,
		      const struct lsm_list *l)
{
	Kgrid__V1__LsmResolveReply r = KGRID__V1__LSM_RESOLVE_REPLY__INIT;
	Kgrid__V1__LsmEntry *entries = calloc(l->n + 1, sizeof(*entries));
	Kgrid__V1__LsmEntry **pointers = calloc(l->n + 1, sizeof(*pointers));
	char **effective = calloc(l->n + 1, sizeof(*effective));
	size_t i;

	for (i = 0; i < l->n && entries && pointers && effective; i++) {
		fill_entry(&entries[i], &l->entries[i]);
		pointers[i] = &entries[i];
		if (l->entries[i].in)
			effective[r.n_effective++] = l->entries[i].name;
	}
	r.release = borrow(k->release);
	r.effective = effective;
	r.entries = pointers;
	r.n_entries = l->n;
	r.warnings = l->warnings.items;
	r.n_warnings = l->warnings.n;
	if (entries && pointers && effective)
		session_send(rq->session, KG_MSG_LSM_RESOLVE_REPLY, rq->id, &r.base);
	else
		session_error(rq->session, rq->id, -ENOMEM, "out of memory");
	free(entries);
	free(pointers);
	free(effective);
}

void handle_lsm_resolve(const struct request *rq)
{
	struct lsm_kernel k;
	struct lsm_list list;
	struct kg_err err = {{0}};
	int rc = resolve(rq, &k, &list, &err);

	if (rc < 0) {
		session_error(rq->session, rq->id, rc, err.text);
		return;
	}
	send_list(rq, &k, &list);
	lsm_list_deinit(&list);
}
