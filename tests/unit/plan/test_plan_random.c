/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What holds for every job, over random ones. KGRID_TEST_SEED=N starts elsewhere. */
#include "fixture.h"

#define CASES 150

struct random {
	struct grid g;
	struct hand h;
	struct kg_workload *getpid;
	struct plan_offer offers[2][3];
	struct kg_param_value settings[2];
	uint64_t state, seed;
};

static const char getpid_text[] =
	"name: getpid\ndescription: x\ncommand: [getpid]\nduration: 2s\ntimeout: 10s\nmetrics:\n"
	"  - {name: calls, unit: 1/s, direction: higher, read: {keyval: C}}\n";

static uint64_t next(struct random *r)
{
	r->state ^= r->state << 13;
	r->state ^= r->state >> 7;
	r->state ^= r->state << 17;
	return r->state;
}

/* From 0 to n - 1. */
static size_t pick(struct random *r, size_t n)
{
	return (size_t)((next(r) >> 11) % n);
}

static bool chance(struct random *r, unsigned percent)
{
	return pick(r, 100) < percent;
}

/* Some of the texts, in their order, at least one: "a|c". */
static const char *some(struct random *r, const char *const *all, size_t n, bool twice)
{
	static char buf[2][512];
	static int which;
	char *text = buf[which ^= 1];
	size_t i, count = 0;

	text[0] = '\0';
	while (count == 0)
		for (i = 0; i < n; i++) {
			if (!chance(r, 50))
				continue;
			strcat(text, count++ ? "|" : "");
			strcat(text, all[i]);
			if (twice && chance(r, 10)) {
				strcat(text, "|");
				strcat(text, all[i]);
			}
		}
	return text;
}

/* ---- the job ---- */

static void random_text(struct random *r, struct kg_str *s, bool distinct)
{
	static const char *const lists[] = {"yama",   "bpf",	    "yama,bpf",	 "landlock,yama",
					    "tomoyo", "yama,smack", "yama,yama", ""};
	size_t n_lists = distinct ? 5 : 8, i, n = 0;

	kg_str_add(s, "name: r\nkernels: ");
	kg_str_add(s, chance(r, 70) ? "[6.1.0-52-cloud-amd64, newer]\n" : "[newer]\n");
	if (chance(r, 40))
		kg_str_add(s, "machines: [lab-amd]\n");
	kg_str_add(s, "lsm:\n");
	while (n == 0)
		for (i = 0; i < n_lists; i++)
			if (chance(r, 40))
				kg_str_addf(s, "  l%zu: \"%s\"\n", n++, lists[i]);
	kg_str_addf(s, "workloads:\n  - netperf: {test: %s, size: [%s]%s}\n",
		    chance(r, 50) ? "UDP_RR" : "[TCP_STREAM, UDP_RR]",
		    distinct ? "\"1..4\"" : "\"1..4\", 4, \"64..256*2\"",
		    chance(r, 30) ? ", seconds: [1, 2]" : "");
	if (chance(r, 50))
		kg_str_add(s, "  - hackbench: {groups: [1, 2]}\n");
	if (!distinct && chance(r, 20))
		kg_str_add(s, "  - netperf: {test: UDP_RR, size: 3}\n");
	kg_str_addf(s, "repeat: {boots: %zu}\n", 1 + pick(r, 4));
	if (chance(r, 20))
		kg_str_add(s, "order: grouped\n");
}

static void random_sets(struct random *r, struct hand *h)
{
	struct job_workload *w = &h->job.workloads[h->job.n_workloads - 1];
	size_t i;

	if (strcmp(w->name, "hackbench") != 0)
		return;
	w->n_sets = 2;
	w->sets = hand_alloc(h, 2 * sizeof(*w->sets));
	for (i = 0; i < 2; i++) {
		w->sets[i].name = hand_text(h, i ? "full" : "quick");
		w->sets[i].n_params = 1;
		w->sets[i].params = hand_alloc(h, sizeof(*w->sets[i].params));
		w->sets[i].params[0] = hand_param(h, "mode", i ? "thread" : "process");
	}
	(void)r;
}

static void random_predicates(struct random *r, struct hand *h)
{
	static const char *const texts[] = {"lsm == l0",
					    "size > 2",
					    "vendor == amd and size == 3",
					    "workload == netperf and kernel == newer",
					    "test == UDP_RR and lsm == l0 and size in (1, 2)",
					    "not (size >= 1)"};
	static const char *const lsms[] = {"l0"};
	static const char *const workloads[] = {"hackbench", "netperf"};
	static const char *const params[] = {"groups", "mode", "seconds", "size", "test"};
	const struct predicate_scope scope = {.axes = true,
					      .lsms = lsms,
					      .n_lsms = 1,
					      .workloads = workloads,
					      .n_workloads = 2,
					      .params = params,
					      .n_params = 5};

	if (chance(r, 40))
		h->job.excludes = hand_predicates(h, texts[pick(r, 6)], &scope, &h->job.n_excludes);
	if (chance(r, 20))
		h->job.onlys = hand_predicates(h, texts[pick(r, 5)], &scope, &h->job.n_onlys);
}

/* `distinct`: nothing is written twice and no two lists are the same. */
static void random_job(struct random *r, bool distinct)
{
	static const char *const governors[] = {"performance", "schedutil", "powersave"};
	static const char *const bits[] = {"0", "1"};
	static const char *const words[] = {"mitigations=auto", "mitigations=off", "quiet"};
	struct kg_str s = {0};

	random_text(r, &s, distinct);
	hand_init(&r->h, &r->g, kg_str_text(&s));
	kg_str_deinit(&s);
	if (chance(r, 40))
		hand_variants(&r->h, some(r, words, 3, !distinct));
	if (chance(r, 40))
		hand_setting(&r->h, "governor", some(r, governors, 3, !distinct));
	if (chance(r, 30))
		hand_setting(&r->h, "sysctl.kernel.kexec_load_disabled",
			     some(r, bits, 2, !distinct));
	if (chance(r, 30))
		random_sets(r, &r->h);
	random_predicates(r, &r->h);
	if (chance(r, 25))
		hand_role(&r->h, 0, NULL, chance(r, 50) ? "lab-intel" : NULL);
	r->h.job.canary_mode = chance(r, 50) ? JOB_CANARY_AUTO : JOB_CANARY_NONE;
	r->g.configs[0].lockdown_forced = chance(r, 30);
	r->g.offers[1][1].available = chance(r, 80);
	r->g.in.seed = next(r);
	memcpy(r->offers[1], r->g.offers[1], sizeof(r->g.offers[1]));
}

/* False: the job leaves nothing to run, which is refused. */
static bool planned(struct random *r)
{
	int rc = grid_plan_hand(&r->g, &r->h);

	if (rc == KG_EINVALID && strstr(r->g.err.text, "nothing is left to run"))
		return false;
	if (rc < 0)
		fail_msg("seed %llu: %s", (unsigned long long)r->seed, r->g.err.text);
	return true;
}

#define CHECK(r, condition)                                                                   \
	do {                                                                                  \
		if (!(condition))                                                             \
			fail_msg("seed %llu: %s", (unsigned long long)(r)->seed, #condition); \
	} while (0)

static void begin(struct random *r, size_t i, bool distinct)
{
	const char *from = getenv("KGRID_TEST_SEED");

	r->seed = (from ? strtoull(from, NULL, 10) : 1) + i;
	r->state = r->seed * UINT64_C(0x9e3779b97f4a7c15) + 1;
	(void)next(r);
	random_job(r, distinct);
}

/* ---- cells ---- */

static int by_text(const void *a, const void *b)
{
	const char *const *x = a, *const *y = b;

	return strcmp(*x, *y);
}

static void test_identities_are_unique_and_the_accounting_balances(void **state)
{
	struct random *r = *state;
	size_t i, k;

	for (i = 0; i < CASES; i++) {
		const struct plan *p;
		const char **ids;

		begin(r, i, false);
		r->h.job.pairwise = chance(r, 30);
		if (!planned(r))
			continue;
		p = r->g.plan;
		CHECK(r, p->full == p->n_cells - p->canaries + p->excluded + p->duplicates +
					    p->merged + p->pairwise_left);
		CHECK(r, r->h.job.pairwise || p->pairwise_left == 0);
		CHECK(r, r->h.job.n_excludes || r->h.job.n_onlys || p->excluded == 0);
		ids = calloc(p->n_cells, sizeof(*ids));
		assert_non_null(ids);
		for (k = 0; k < p->n_cells; k++)
			ids[k] = p->cells[k].identity;
		qsort(ids, p->n_cells, sizeof(*ids), by_text);
		for (k = 1; k < p->n_cells; k++)
			CHECK(r, strcmp(ids[k - 1], ids[k]) != 0);
		free(ids);
	}
}

static bool same_plan(const struct plan *x, const struct plan *y)
{
	size_t i;

	if (x->n_cells != y->n_cells || x->n_slots != y->n_slots || x->n_boots != y->n_boots ||
	    x->warnings.n != y->warnings.n)
		return false;
	for (i = 0; i < x->n_cells; i++)
		if (strcmp(x->cells[i].identity, y->cells[i].identity) != 0)
			return false;
	for (i = 0; i < x->n_slots; i++)
		if (x->slots[i].cell != y->slots[i].cell ||
		    x->slots[i].block != y->slots[i].block ||
		    x->slots[i].visit != y->slots[i].visit ||
		    x->slots[i].position != y->slots[i].position)
			return false;
	for (i = 0; i < x->warnings.n; i++)
		if (strcmp(x->warnings.items[i], y->warnings.items[i]) != 0)
			return false;
	return true;
}

static void test_same_input_gives_the_same_plan(void **state)
{
	struct random *r = *state;
	size_t i;

	for (i = 0; i < CASES; i++) {
		struct plan *first;

		begin(r, i, false);
		r->h.job.pairwise = chance(r, 30);
		if (!planned(r))
			continue;
		first = r->g.plan;
		r->g.plan = NULL;
		CHECK(r, planned(r));
		CHECK(r, same_plan(first, r->g.plan));
		plan_free(first);
	}
}

static void test_cells_of_a_narrower_job_keep_their_identity(void **state)
{
	struct random *r = *state;
	size_t i, k, m;

	for (i = 0; i < CASES; i++) {
		struct plan *wide;
		struct hand *h = &r->h;

		begin(r, i, true);
		h->job.n_onlys = h->job.n_excludes = 0;
		CHECK(r, planned(r));
		wide = r->g.plan;
		r->g.plan = NULL;
		/* less of it, the last of each axis */
		h->job.lsms += h->job.n_lsms - 1;
		h->job.n_lsms = 1;
		h->job.boots = h->job.boots_max = 1;
		CHECK(r, planned(r));
		for (k = 0; k < r->g.plan->n_cells; k++) {
			for (m = 0; m < wide->n_cells; m++)
				if (strcmp(wide->cells[m].identity, r->g.plan->cells[k].identity) ==
				    0)
					break;
			CHECK(r, m < wide->n_cells);
		}
		plan_free(wide);
	}
}

/* ---- boots ---- */

static void check_machine(struct random *r, const struct plan *p, size_t first, size_t n)
{
	const struct plan_boot *boots = &p->boots[first];
	size_t per_block = n / p->blocks, i, k;
	uint32_t block;

	CHECK(r, n % p->blocks == 0);
	for (i = 0; i < n; i++)
		CHECK(r, boots[i].visit == i + 1);
	for (block = 1; block <= p->blocks; block++) {
		bool *seen = calloc(per_block + 1, sizeof(*seen));

		assert_non_null(seen);
		for (i = 0; i < n; i++) {
			bool ends = boots[i].position == 1 || boots[i].position == per_block;

			if (boots[i].block != block)
				continue;
			CHECK(r, boots[i].position >= 1 && boots[i].position <= per_block);
			CHECK(r, !seen[boots[i].position]);
			seen[boots[i].position] = true;
			CHECK(r, !boots[i].canary || ends);
			CHECK(r, !ends || boots[i].canary == (p->canaries > 0));
			/* what kexec cannot leave comes last; nothing is visited twice */
			for (k = 0; k < n; k++) {
				const struct plan_boot *x = &boots[i], *y = &boots[k];

				if (y->block != block || y == x)
					continue;
				CHECK(r, !(x->leave_by_reboot && !y->leave_by_reboot &&
					   y->position > x->position));
				CHECK(r, strcmp(x->kernel, y->kernel) != 0 ||
						 strcmp(x->lsm_effective, y->lsm_effective) != 0 ||
						 strcmp(x->cmdline, y->cmdline) != 0 ||
						 strcmp(x->settings, y->settings) != 0 ||
						 strcmp(x->peer, y->peer) != 0);
			}
		}
		free(seen);
	}
}

static void test_every_block_visits_each_boot_once(void **state)
{
	struct random *r = *state;
	size_t i, k, m;

	for (i = 0; i < CASES; i++) {
		const struct plan *p;
		uint64_t in_boots = 0, infeasible = 0, of_machines = 0, without = 0;

		begin(r, i, false);
		r->h.job.pairwise = chance(r, 30);
		if (!planned(r))
			continue;
		p = r->g.plan;
		for (k = 0; k < p->n_boots; k += m) {
			for (m = 0; k + m < p->n_boots &&
				    strcmp(p->boots[k + m].machine, p->boots[k].machine) == 0;
			     m++)
				in_boots += p->boots[k + m].slots;
			check_machine(r, p, k, m);
		}
		for (k = 0; k < p->n_infeasible; k++)
			infeasible += p->infeasible[k].slots;
		for (k = 0; k < p->n_machines; k++)
			of_machines += p->machines[k].slots;
		for (k = 0; k < p->n_slots; k++)
			without += p->slots[k].visit == 0;
		CHECK(r, in_boots + infeasible == p->n_slots);
		CHECK(r, without == infeasible);
		CHECK(r, of_machines == p->n_slots);
	}
}

static void test_order_depends_on_seed_machine_and_block_alone(void **state)
{
	struct random *r = *state;
	size_t i, k;

	for (i = 0; i < CASES; i++) {
		struct plan *longer;
		size_t n;

		begin(r, i, false);
		r->h.job.order = JOB_INTERLEAVED;
		r->h.job.boots = r->h.job.boots_max = 5;
		if (!planned(r))
			continue;
		longer = r->g.plan;
		r->g.plan = NULL;
		/* fewer blocks, other machines in between, another priority */
		r->h.job.boots = r->h.job.boots_max = 2;
		r->h.job.priority = 3;
		CHECK(r, planned(r));
		for (k = n = 0; k < longer->n_boots; k++) {
			const struct plan_boot *x = &longer->boots[k];
			const struct plan_boot *y = &r->g.plan->boots[n];

			if (x->block > 2)
				continue;
			n++;
			CHECK(r, strcmp(x->machine, y->machine) == 0);
			CHECK(r, strcmp(x->cmdline, y->cmdline) == 0);
			CHECK(r, strcmp(x->kernel, y->kernel) == 0 && x->visit == y->visit);
		}
		CHECK(r, n == r->g.plan->n_boots);
		plan_free(longer);
	}
}

/* ---- extension ---- */

static struct plan_known_cell *known(const struct plan *p)
{
	struct plan_known_cell *all = calloc(p->n_cells, sizeof(*all));
	size_t i;

	assert_non_null(all);
	for (i = 0; i < p->n_cells; i++) {
		const struct plan_cell *c = &p->cells[i];

		all[i] = (struct plan_known_cell){c->machine,	     c->kernel,
						  c->lsm_effective,  c->cmdline,
						  c->settings,	     c->peer,
						  c->canary,	     c->infeasible != NULL,
						  c->leave_by_reboot};
	}
	return all;
}

/* The last visit of each machine in some slots, where there is one. */
static void advance(const struct plan *p, const struct plan_slot *slots, size_t n, uint32_t *last)
{
	size_t i, k;

	for (i = 0; i < p->n_cells; i++)
		for (k = 0; k < n; k++)
			if (strcmp(p->cells[slots[k].cell].machine, p->cells[i].machine) == 0 &&
			    slots[k].visit > last[i])
				last[i] = slots[k].visit;
}

static bool has_slot(const struct plan_slot *slots, size_t n, const struct plan_slot *x)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (slots[i].cell == x->cell && slots[i].block == x->block &&
		    slots[i].visit == x->visit && slots[i].position == x->position)
			return true;
	return false;
}

static void extend(struct random *r, const struct plan *p, uint32_t first, uint32_t n,
		   const uint32_t *last, struct plan_slot **ret, size_t *ret_n)
{
	struct plan_known_cell *cells = known(p);
	const struct plan_extend_input in = {
		.cells = cells,
		.n_cells = p->n_cells,
		.seed = p->seed,
		.order = p->order,
		.first_block = first,
		.n_blocks = n,
		.last_visit = last,
	};
	struct kg_err err = {{0}};
	int rc = plan_extend(&in, ret, ret_n, &err);

	free(cells);
	if (rc < 0)
		fail_msg("seed %llu: %s", (unsigned long long)r->seed, err.text);
}

static void check_extension(struct random *r, const struct plan *p, const struct plan *longer)
{
	uint32_t *last = calloc(p->n_cells, sizeof(*last));
	struct plan_slot *one, *two, *both;
	size_t n_one, n_two, n_both, i, added = 0;

	assert_non_null(last);
	advance(p, p->slots, p->n_slots, last);
	extend(r, p, p->blocks + 1, 3, last, &both, &n_both);
	extend(r, p, p->blocks + 1, 1, last, &one, &n_one);
	advance(p, one, n_one, last);
	extend(r, p, p->blocks + 2, 2, last, &two, &n_two);
	CHECK(r, n_one + n_two == n_both);
	for (i = 0; i < n_both; i++)
		CHECK(r, has_slot(one, n_one, &both[i]) || has_slot(two, n_two, &both[i]));
	for (i = 0; i < longer->n_slots; i++) {
		if (longer->slots[i].block <= p->blocks)
			continue;
		added++;
		CHECK(r, p->order == JOB_GROUPED || has_slot(both, n_both, &longer->slots[i]));
	}
	CHECK(r, p->order == JOB_GROUPED || added == n_both);
	free(one);
	free(two);
	free(both);
	free(last);
}

static void test_extending_twice_is_extending_once_is_planning_more(void **state)
{
	struct random *r = *state;
	size_t i;

	for (i = 0; i < CASES / 3; i++) {
		struct plan *p;

		begin(r, i, false);
		r->h.job.pairwise = chance(r, 30);
		if (!planned(r))
			continue;
		p = r->g.plan;
		r->g.plan = NULL;
		r->h.job.boots = r->h.job.boots_max = p->blocks + 3;
		CHECK(r, planned(r));
		check_extension(r, p, r->g.plan);
		plan_free(p);
	}
}

/* ---- all pairs ---- */

#define MAX_PARTS  24
#define PARTS_TEXT 4096

/* What a cell is made of, axis by axis: kernel, list, words, settings and parameters. */
static size_t parts_of(const struct plan_cell *c, char text[PARTS_TEXT], const char **parts)
{
	char *p;
	size_t n = 0;

	(void)snprintf(text, PARTS_TEXT, "K%s\nL%s\nC%.*s\nS%s\n%s", c->kernel, c->lsm_label,
		       (int)strcspn(c->cmdline, "="), c->cmdline, c->settings, c->params);
	for (p = text; *p && n < MAX_PARTS; n++) {
		size_t len = strcspn(p, "\n; ");

		parts[n] = p;
		p += len;
		while (*p == '\n' || *p == ';' || *p == ' ')
			*p++ = '\0';
	}
	return n;
}

static bool has_part(const char **parts, size_t n, const char *part)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (strcmp(parts[i], part) == 0)
			return true;
	return false;
}

/* Whether some cell of the plan has both. */
static bool has_pair(const struct plan *p, const struct plan_cell *like, const char *x,
		     const char *y)
{
	char text[PARTS_TEXT];
	const char *parts[MAX_PARTS];
	size_t i;

	for (i = 0; i < p->n_cells; i++) {
		const struct plan_cell *c = &p->cells[i];
		size_t n;

		if (c->canary || strcmp(c->machine, like->machine) != 0 ||
		    strcmp(c->workload, like->workload) != 0 || strcmp(c->peer, like->peer) != 0)
			continue;
		if (c->infeasible && !like->infeasible)
			continue; /* what can run is not left to a cell that cannot */
		n = parts_of(c, text, parts);
		if (has_part(parts, n, x) && has_part(parts, n, y))
			return true;
	}
	return false;
}

static void test_every_pair_that_is_allowed_is_covered(void **state)
{
	struct random *r = *state;
	size_t i, k, x, y, fewer = 0;

	for (i = 0; i < CASES / 3; i++) {
		struct plan *full;
		const char *parts[MAX_PARTS];
		char text[PARTS_TEXT];

		begin(r, i, true);
		if (!planned(r))
			continue;
		full = r->g.plan;
		r->g.plan = NULL;
		r->h.job.pairwise = true;
		CHECK(r, planned(r));
		CHECK(r, r->g.plan->full == full->full && r->g.plan->excluded == full->excluded);
		CHECK(r, r->g.plan->n_cells <= full->n_cells);
		fewer += r->g.plan->n_cells < full->n_cells;
		for (k = 0; k < full->n_cells; k++) {
			size_t n = parts_of(&full->cells[k], text, parts);

			for (x = 0; x < n && !full->cells[k].canary; x++)
				for (y = x + 1; y < n; y++)
					if (!has_pair(r->g.plan, &full->cells[k], parts[x],
						      parts[y]))
						fail_msg("seed %llu: no cell has %s and %s",
							 (unsigned long long)r->seed, parts[x],
							 parts[y]);
		}
		plan_free(full);
	}
	assert_true(fewer > 10);
}

/* The machine offers no powersave: the pairs of the others come together without it. */
static void test_pairs_that_can_run_are_in_cells_that_can(void **state)
{
	struct random *r = *state;
	const struct plan *p;
	size_t i, feasible = 0, infeasible = 0;
	bool seen[2][2][2] = {{{false}}};

	hand_init(&r->h, &r->g,
		  "name: r\nkernels: [6.1.0-52-cloud-amd64, newer]\nmachines: lab-amd\n"
		  "lsm: {l0: yama, l1: bpf}\nworkloads: [netperf: {test: UDP_RR, size: [1, 2]}]\n");
	hand_setting(&r->h, "governor", "powersave|performance");
	r->h.job.pairwise = true;
	r->h.job.canary_mode = JOB_CANARY_NONE;
	assert_planned_hand(&r->g, &r->h);
	p = r->g.plan;
	assert_balanced(p);
	for (i = 0; i < p->n_cells; i++) {
		const struct plan_cell *c = &p->cells[i];
		bool newer = strcmp(c->kernel, DIGEST_612) == 0, l1 = c->lsm_order == 1;
		bool two = strstr(c->params, "size=2") != NULL;

		if (c->infeasible) {
			assert_non_null(strstr(c->settings, "powersave"));
			infeasible++;
			continue;
		}
		feasible++;
		seen[0][newer][l1] = seen[1][newer][two] = true;
	}
	for (i = 0; i < 8; i++)
		assert_true(seen[i / 4][i / 2 % 2][i % 2]);
	assert_int_equal(feasible, 4);
	assert_int_equal(infeasible, 2); /* powersave with each other value */
}

static void test_all_pairs_are_far_fewer_than_the_product(void **state)
{
	struct random *r = *state;
	struct hand *h = &r->h;
	const struct plan *p;

	hand_init(
		h, &r->g,
		"name: r\nkernels: [6.1.0-52-cloud-amd64, newer]\nmachines: lab-amd\n"
		"lsm: {l0: yama, l1: bpf, l2: landlock, l3: tomoyo}\n"
		"workloads: [netperf: {test: [TCP_STREAM, UDP_RR], size: 1..10, seconds: 1..5}]\n");
	hand_variants(h, "a|b|c");
	hand_setting(h, "sysctl.x", "1|2|3");
	hand_setting(h, "sysctl.y", "1|2|3");
	hand_setting(h, "sysctl.z", "1|2|3");
	h->job.pairwise = true;
	h->job.canary_mode = JOB_CANARY_NONE;
	assert_planned_hand(&r->g, h);
	p = r->g.plan;
	assert_balanced(p);
	assert_int_equal(p->full, 2 * 4 * 2 * 10 * 5 * 3 * 27);
	/* 50 is the least, of size and seconds */
	assert_in_range(p->n_cells, 50, 60);
}

/* The product has 10^15 cells: nothing of that size is made. */
static void test_all_pairs_of_a_huge_product(void **state)
{
	struct random *r = *state;
	struct hand *h = &r->h;
	char name[32];
	int i;

	hand_init(h, &r->g,
		  "name: r\nkernels: [newer]\nmachines: lab-amd\n"
		  "lsm: {l0: yama}\nworkloads: [netperf: {test: UDP_RR, size: 1..10}]\n");
	for (i = 0; i < 14; i++) {
		(void)snprintf(name, sizeof(name), "sysctl.x%d", i);
		hand_setting(h, name, "0|1|2|3|4|5|6|7|8|9");
	}
	h->job.pairwise = true;
	h->job.canary_mode = JOB_CANARY_NONE;
	assert_planned_hand(&r->g, h);
	assert_true(r->g.plan->full == UINT64_C(1000000000000000));
	assert_in_range(r->g.plan->n_cells, 100, 260);
	assert_balanced(r->g.plan);
}

static int setup(void **state)
{
	static struct random r;
	size_t i;

	memset(&r, 0, sizeof(r));
	grid_init(&r.g);
	if (kg_workload_parse("getpid.yaml", getpid_text, strlen(getpid_text), &r.getpid,
			      &r.g.err) < 0)
		fail_msg("%s", r.g.err.text);
	r.getpid->canary = true;
	r.g.netperf->pair = true;
	r.settings[0] =
		(struct kg_param_value){(char *)"governor", (char *)"performance schedutil"};
	for (i = 0; i < 2; i++) {
		memcpy(r.offers[i], r.g.offers[i], sizeof(r.g.offers[i]));
		r.offers[i][2] = (struct plan_offer){"getpid", "cc33", true, NULL, r.getpid};
		r.g.machines[i].offers = r.offers[i];
		r.g.machines[i].n_offers = 3;
		r.g.machines[i].address = i ? "10.0.0.1" : "10.0.0.2";
		r.g.machines[i].settings = r.settings;
		r.g.machines[i].n_settings = 1;
		r.g.machines[i].settings_known = true;
	}
	*state = &r;
	return 0;
}

static int teardown(void **state)
{
	struct random *r = *state;

	grid_deinit(&r->g);
	hand_deinit(&r->h);
	kg_workload_free(r->getpid);
	return 0;
}

#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(test_identities_are_unique_and_the_accounting_balances),
		T(test_same_input_gives_the_same_plan),
		T(test_cells_of_a_narrower_job_keep_their_identity),
		T(test_every_block_visits_each_boot_once),
		T(test_order_depends_on_seed_machine_and_block_alone),
		T(test_extending_twice_is_extending_once_is_planning_more),
		T(test_every_pair_that_is_allowed_is_covered),
		T(test_pairs_that_can_run_are_in_cells_that_can),
		T(test_all_pairs_are_far_fewer_than_the_product),
		T(test_all_pairs_of_a_huge_product),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
