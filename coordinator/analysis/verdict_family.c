/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "coordinator/analysis/dist.h"
#include "coordinator/analysis/rank.h"
#include "coordinator/analysis/verdict_impl.h"

#define POWER		 0.8
#define Z_LEVEL		 1.96		   /* of 95 % */
#define Z_POWER		 0.8416		   /* of POWER */
#define RANK_EFFICIENCY	 0.954929658551372 /* 3 / pi, of ranks against t with normal noise */
#define MORE_BOOTS_MAX	 1000		   /* above, a number would say nothing */
#define BOOTS_MAX_NEEDED 64		   /* a side; alpha below 2 / C(128, 64) is not sensible */

void verdict_reason(struct verdict *v, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(v->reason, sizeof(v->reason), fmt, ap);
	va_end(ap);
}

/* Boots a side below which the test cannot reach alpha. */
static size_t boots_needed(const struct verdict_policy *p)
{
	size_t n = 1;

	while (n < BOOTS_MAX_NEEDED && stats_mwu_min_p(n, n) > p->alpha)
		n++;
	return p->gate && n < VERDICT_GATE_BOOTS ? VERDICT_GATE_BOOTS : n;
}

static size_t fewer(const struct verdict *v)
{
	return v->boots[0] < v->boots[1] ? v->boots[0] : v->boots[1];
}

static bool matters(const struct verdict *v, const struct verdict_policy *p)
{
	/* Over a median of 0 every change is beyond any percentage. */
	return v->has_effect ? fabs(v->effect_pct) >= p->min_effect_pct : v->sign != 0;
}

/* The interval is beyond the band of what shifts without a cause (verdict.h). */
static bool near_end_is_clear(const struct verdict *v, const struct verdict_policy *p)
{
	double band = VERDICT_NEAR_SHARE * p->min_effect_pct, near;

	if (!v->has_effect)
		return true;
	near = v->effect_pct > 0 ? v->lo_pct : -v->hi_pct;
	return v->has_interval && near > 0 && near >= band;
}

static bool is_change(const struct verdict *v, const struct verdict_policy *p)
{
	return v->p <= p->alpha && v->q <= p->q_max && matters(v, p) && near_end_is_clear(v, p);
}

static bool is_same(const struct verdict *v, const struct verdict_policy *p)
{
	return v->has_effect && v->has_interval && v->lo_pct >= -p->min_effect_pct &&
	       v->hi_pct <= p->min_effect_pct;
}

static bool is_unstable(const struct verdict *v, const struct verdict_policy *p)
{
	return v->boots_differ && v->p > p->alpha && v->p_iterations <= p->alpha &&
	       (!v->has_effect || fabs(v->effect_iterations_pct) >= p->min_effect_pct);
}

static enum verdict_word change_word(const struct verdict *v)
{
	if (v->direction == VERDICT_NO_DIRECTION)
		return VERDICT_DIFFERENT;
	return v->sign > 0 ? VERDICT_IMPROVEMENT : VERDICT_REGRESSION;
}

/* Boots a side so that an end of the interval, 1.96 sd sqrt(2 / n) away, keeps out of `room` per cent
 * with POWER. */
static double boots_for_room(double room_pct, double noise_pct)
{
	double z = (Z_LEVEL + Z_POWER) * noise_pct / room_pct;

	return 2 * z * z / RANK_EFFICIENCY;
}

/* Values a side with which a t test finds a difference of `effect_sd` with POWER: the normal's number
 * and Guenther's correction (1981, Am. Stat. 35, 243-244). Within a value of stats_power_n() from 5
 * on, and quick enough for the 10^5 pairs of a large report. */
static double boots_for_test(double effect_sd, double alpha)
{
	double z_alpha = stats_norm_quantile(1 - alpha / 2), z = (z_alpha + Z_POWER) / effect_sd;

	return 2 * z * z + z_alpha * z_alpha / 4;
}

/* Boots a side so that a change of the size seen is found with POWER, or that one too small to
 * matter is known to be so. 0: not known. */
static double boots_to_decide(const struct verdict *v, const struct verdict_policy *p)
{
	double effect = fabs(v->effect_pct);

	if (!v->has_effect || !v->has_noise || v->noise_pct <= 0)
		return 0;
	if (effect < p->min_effect_pct)
		return boots_for_room(p->min_effect_pct - effect, v->noise_pct);
	return fmax(boots_for_test(effect / v->noise_pct, p->alpha) / RANK_EFFICIENCY,
		    boots_for_room(effect - VERDICT_NEAR_SHARE * p->min_effect_pct, v->noise_pct));
}

static void fill_more_boots(struct verdict *v, const struct verdict_policy *p)
{
	size_t have = fewer(v), least = boots_needed(p);
	double want = fmax(boots_to_decide(v, p), (double)least);

	if (want <= (double)have)
		want = (double)have + 1;
	want = ceil(want - (double)have);
	v->more_boots = want <= MORE_BOOTS_MAX ? (uint32_t)want : 0;
}

static void say_few(struct verdict *v, const struct verdict_policy *p)
{
	double floor = stats_mwu_min_p(v->boots[0], v->boots[1]);
	const char *needs = p->gate ? "a gate needs" : "a change can be told from";
	size_t need = boots_needed(p);

	if (floor > p->alpha)
		verdict_reason(v, "few boots: %zu and %zu cannot give p below %.2g, %s %zu a side",
			       v->boots[0], v->boots[1], floor, needs, need);
	else
		verdict_reason(v, "few boots: %zu and %zu, %s %zu a side", v->boots[0], v->boots[1],
			       needs, need);
}

static void say_unknown(struct verdict *v, const struct verdict_policy *p, size_t family)
{
	size_t need = boots_needed(p), have = fewer(v);
	const char *why;

	v->word = VERDICT_UNKNOWN;
	fill_more_boots(v, p);
	if (have < need) {
		say_few(v, p);
		return;
	}
	if (v->p <= p->alpha && v->q > p->q_max && matters(v, p)) {
		verdict_reason(v, "p %.2g alone, q %.2g among %zu comparisons", v->p, v->q, family);
		return;
	}
	why = !matters(v, p)	 ? "the change is small, the interval reaches further"
	      : v->p <= p->alpha ? "the interval does not exclude too small a change"
				 : "the change is within what boots differ by";
	if (v->more_boots)
		verdict_reason(v, "%s: about %u more boots a side would decide", why,
			       v->more_boots);
	else
		verdict_reason(v, "%s", why);
}

static void decide(struct verdict *v, const struct verdict_policy *p, size_t family)
{
	bool few = fewer(v) < boots_needed(p);

	v->more_boots = 0;
	v->reason[0] = '\0';
	if (!few && is_change(v, p)) {
		v->word = change_word(v);
		if (!v->has_effect)
			verdict_reason(v, "no percentage: the median of the baseline is 0");
	} else if (is_same(v, p) && !(few && p->gate)) {
		v->word = VERDICT_SAME;
	} else if (!few && is_unstable(v, p)) {
		v->word = VERDICT_UNSTABLE;
		verdict_reason(v, "between-boot variance: p %.2g over iterations, %.2g over boots",
			       v->p_iterations, v->p);
	} else {
		say_unknown(v, p, family);
	}
}

static bool takes_part(const struct verdict *v)
{
	return v->word != VERDICT_INCOMPARABLE && v->has_p;
}

int verdict_family(struct verdict *verdicts, const struct verdict_policy *policies, size_t n)
{
	double *p;
	size_t k = 0;
	int rc;

	if (n == 0)
		return 0;
	p = calloc(n, sizeof(*p));
	if (!p)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		if (takes_part(&verdicts[i]))
			p[k++] = verdicts[i].p;
	}
	rc = k ? stats_adjust(policies[0].gate ? STATS_ADJUST_HOLM : policies[0].correction, p, k,
			      p)
	       : 0;
	for (size_t i = 0, at = 0; rc == 0 && i < n; i++) {
		struct verdict_policy policy = policies[i];

		if (!takes_part(&verdicts[i]))
			continue;
		policy.gate = policies[0].gate;
		verdicts[i].q = p[at++];
		decide(&verdicts[i], &policy, k);
	}
	free(p);
	return rc;
}

#define MOVED_PAIRS 4	/* fewer say nothing about a machine */
#define MOVED_SHARE 0.5 /* of the pairs: more than this */
#define MOVED_KNOWN \
	0.8 /* and of those that moved or are known not to: what is proven to stand still,
			  * such as a control, speaks against the environment */
#define MOVED_SIGN 0.75 /* of those that moved, one way */

bool verdict_everything_moved(const struct verdict *verdicts, size_t n)
{
	size_t pairs = 0, moved = 0, same = 0, up = 0, down = 0;

	for (size_t i = 0; i < n; i++) {
		const struct verdict *v = &verdicts[i];

		if (!takes_part(v))
			continue;
		pairs++;
		same += v->word == VERDICT_SAME;
		if (v->word != VERDICT_REGRESSION && v->word != VERDICT_IMPROVEMENT &&
		    v->word != VERDICT_DIFFERENT)
			continue;
		moved++;
		up += v->sign > 0;
		down += v->sign < 0;
	}
	return pairs >= MOVED_PAIRS && (double)moved > MOVED_SHARE * (double)pairs &&
	       (double)moved >= MOVED_KNOWN * (double)(moved + same) &&
	       (double)(up > down ? up : down) >= MOVED_SIGN * (double)moved;
}
