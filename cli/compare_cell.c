/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/compare_cell.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/format.h"
#include "cli/width.h"

#define NUMBER_SIZE 64
#define WORD_SIZE   48

size_t footnotes_add(struct footnotes *f, const char *text)
{
	size_t i;

	for (i = 0; i < f->n; i++)
		if (strcmp(f->texts[i], text) == 0)
			return i + 1;
	f->texts = cli_grow(f->texts, f->n + 1, sizeof(*f->texts));
	f->texts[f->n++] = cli_strdup(text);
	return f->n;
}

void footnotes_print(const struct footnotes *f, size_t width, struct kg_str *out)
{
	size_t i;

	for (i = 0; i < f->n; i++) {
		struct kg_str s = {0};

		kg_str_addf(&s, "(%zu) ", i + 1);
		text_clean(&s, f->texts[i], strlen(f->texts[i]), false);
		kg_str_add(out, "  ");
		text_wrap(out, kg_str_text(&s), 2, 6, width);
		kg_str_deinit(&s);
	}
}

void footnotes_deinit(struct footnotes *f)
{
	size_t i;

	for (i = 0; i < f->n; i++)
		free(f->texts[i]);
	free(f->texts);
	memset(f, 0, sizeof(*f));
}

bool cell_has_value(const Kgrid__V1__CompareCell *c)
{
	return c && c->has_value && isfinite(c->value);
}

bool cell_has_interval(const Kgrid__V1__CompareCell *c)
{
	return c && c->has_delta_lo_pct && c->has_delta_hi_pct && isfinite(c->delta_lo_pct) &&
	       isfinite(c->delta_hi_pct);
}

bool cell_has_delta(const Kgrid__V1__CompareCell *c)
{
	return c && c->has_delta_pct && isfinite(c->delta_pct);
}

bool cell_has_verdict(const Kgrid__V1__CompareCell *c)
{
	return c && c->verdict && c->verdict[0];
}

bool cell_is_compared(const Kgrid__V1__CompareCell *c)
{
	if (!c || kg_streq(c->verdict, "incomparable"))
		return false;
	if (cell_has_delta(c))
		return true;
	/* a change from 0 has a verdict, but no percentage */
	return cell_has_verdict(c) && cell_has_value(c) && c->baseline_boots > 0;
}

bool cell_needs_reason(const Kgrid__V1__CompareCell *c)
{
	return cell_has_verdict(c) &&
	       (kg_streq(c->verdict, "unknown") || kg_streq(c->verdict, "unstable") ||
		kg_streq(c->verdict, "incomparable") || (c->reason && c->reason[0]));
}

enum table_style cell_style(const Kgrid__V1__CompareCell *c)
{
	if (!cell_has_value(c))
		return TABLE_DIM;
	if (kg_streq(c->verdict, "regression"))
		return TABLE_BAD;
	return kg_streq(c->verdict, "improvement") ? TABLE_GOOD : TABLE_PLAIN;
}

int percent_text(char *buf, size_t size, bool sign, double v)
{
	int n = snprintf(buf, size, sign ? "%+.2f" : "%.2f", v);

	if (strcmp(buf, "-0.00") == 0 || strcmp(buf, "+0.00") == 0) { /* rounds to nothing */
		memmove(buf, buf + 1, strlen(buf));
		n--;
	}
	return n;
}

int probability_text(char *buf, size_t size, double v)
{
	return snprintf(buf, size, "%.2g", v);
}

void interval_text(bool has, double lo, double hi, struct kg_str *out)
{
	char a[NUMBER_SIZE], b[NUMBER_SIZE];

	if (!has || !isfinite(lo) || !isfinite(hi))
		return;
	(void)percent_text(a, sizeof(a), false, lo);
	(void)percent_text(b, sizeof(b), false, hi);
	kg_str_addf(out, " [%s, %s]", a, b);
}

/* What stands in the note of a cell: the coordinator's reason, and how many boots would decide. */
static void reason_text(const Kgrid__V1__CompareCell *c, struct kg_str *out)
{
	kg_str_add(out, cli_text(c->reason));
	if (c->more_boots > 0 && !strstr(cli_text(c->reason), "more boots"))
		kg_str_addf(out, "%sabout %" PRIu32 " more boots a side would decide",
			    out->len ? "; " : "", c->more_boots);
	if (out->len == 0)
		kg_str_add(out, "the coordinator gave no reason");
}

/* "unknown (2)" */
static const char *word_text(const Kgrid__V1__CompareCell *c, struct footnotes *notes,
			     char buf[WORD_SIZE])
{
	struct kg_str s = {0}, word = {0};
	size_t n = 0;

	if (cell_needs_reason(c)) {
		reason_text(c, &s);
		n = footnotes_add(notes, kg_str_text(&s));
		kg_str_deinit(&s);
	}
	text_clean(&word, cli_text(c->verdict), strlen(cli_text(c->verdict)), false);
	if (n)
		(void)snprintf(buf, WORD_SIZE, "%.24s (%zu)", kg_str_text(&word), n);
	else
		(void)snprintf(buf, WORD_SIZE, "%.24s", kg_str_text(&word));
	kg_str_deinit(&word);
	return buf;
}

static int max_int(int a, int b)
{
	return a > b ? a : b;
}

void cell_measure(const Kgrid__V1__CompareCell *c, int decimals, struct cell_widths *w)
{
	char buf[512];

	if (cell_has_verdict(c)) /* two digits of a note */
		w->word =
			max_int(w->word, (int)strlen(c->verdict) + (cell_needs_reason(c) ? 5 : 0));
	if (!cell_has_value(c))
		return;
	w->value = max_int(w->value, snprintf(buf, sizeof(buf), "%.*f", decimals, c->value));
	if (c->has_p && isfinite(c->p))
		w->p = max_int(w->p, probability_text(buf, sizeof(buf), c->p));
	if (c->has_q && isfinite(c->q))
		w->q = max_int(w->q, probability_text(buf, sizeof(buf), c->q));
	if (!cell_has_delta(c))
		return;
	w->any_delta = true;
	w->delta = max_int(w->delta, percent_text(buf, sizeof(buf), true, c->delta_pct));
	if (!cell_has_interval(c))
		return;
	w->lo = max_int(w->lo, percent_text(buf, sizeof(buf), false, c->delta_lo_pct));
	w->hi = max_int(w->hi, percent_text(buf, sizeof(buf), false, c->delta_hi_pct));
}

/* Why a cell has no value. */
static void no_value(const Kgrid__V1__CompareCell *c, struct footnotes *notes, struct kg_str *out)
{
	char word[WORD_SIZE];

	if (!c || (c->has_present && !c->present)) {
		kg_str_add(out, "-");
		return;
	}
	format_outcomes(c->n_excluded, c->excluded, out);
	if (c->pending)
		kg_str_addf(out, "%s%" PRIu32 " pending", out->len ? " + " : "", c->pending);
	if (out->len == 0)
		kg_str_add(out, "no value");
	if (kg_streq(c->verdict, "incomparable"))
		kg_str_addf(out, ", %s", word_text(c, notes, word));
}

/* Boots and iterations, where they are not what most cells have. */
static void counts_text(const Kgrid__V1__CompareCell *c, const struct cell_usual *usual,
			struct kg_str *out)
{
	bool own = c->boots < usual->boots, base = false;

	if (c->has_baseline_boots)
		base = c->baseline_boots < usual->boots;
	if (!own && !base && c->has_iterations)
		own = c->iterations < usual->iterations ||
		      (c->has_baseline_iterations && c->baseline_iterations < usual->iterations);
	if (!own && !base)
		return;
	if (c->has_baseline_boots)
		kg_str_addf(out, "n=%" PRIu32 "+%" PRIu32, c->baseline_boots, c->boots);
	else
		kg_str_addf(out, "n=%" PRIu32, c->boots);
	if (c->has_iterations && c->has_baseline_iterations)
		kg_str_addf(out, " (%" PRIu32 "+%" PRIu32 ")", c->baseline_iterations,
			    c->iterations);
	else if (c->has_iterations)
		kg_str_addf(out, " (%" PRIu32 ")", c->iterations);
}

void cell_first_line(const Kgrid__V1__CompareCell *c, int decimals, const struct cell_widths *w,
		     const struct cell_usual *usual, bool verdict, struct footnotes *notes,
		     struct kg_str *out)
{
	char a[512], b[512], word[WORD_SIZE];
	struct kg_str counts = {0};

	if (!cell_has_value(c)) {
		no_value(c, notes, out);
		return;
	}
	kg_str_addf(out, "%*.*f", w->value, decimals, c->value);
	if (cell_has_delta(c)) {
		(void)percent_text(a, sizeof(a), true, c->delta_pct);
		kg_str_addf(out, "  %*s %%", w->delta, a);
	} else if (w->any_delta) {
		kg_str_addf(out, "%*s", w->delta + 4, "");
	}
	if (cell_has_interval(c)) {
		(void)percent_text(a, sizeof(a), false, c->delta_lo_pct);
		(void)percent_text(b, sizeof(b), false, c->delta_hi_pct);
		kg_str_addf(out, " [%*s, %*s]", w->lo, a, w->hi, b);
	} else if (w->lo) {
		kg_str_addf(out, "%*s", w->lo + w->hi + 5, "");
	}
	if (verdict && w->word)
		kg_str_addf(out, "  %-*s", w->word,
			    cell_has_verdict(c) ? word_text(c, notes, word) : "");
	if (!verdict)
		return;
	counts_text(c, usual, &counts);
	if (counts.len)
		kg_str_addf(out, "  %s", kg_str_text(&counts));
	kg_str_deinit(&counts);
}

static void probability(const char *name, bool has, double v, int width, struct kg_str *out)
{
	char buf[NUMBER_SIZE];

	if (width == 0)
		return;
	if (has && isfinite(v)) {
		(void)probability_text(buf, sizeof(buf), v);
		kg_str_addf(out, "  %s=%-*s", name, width, buf);
	} else {
		kg_str_addf(out, "%*s", width + 4, "");
	}
}

/* The cell is right-aligned: what only some cells have stands in front. */
void cell_second_line(const Kgrid__V1__CompareCell *c, int decimals, const struct cell_widths *w,
		      const struct cell_usual *usual, struct footnotes *notes, struct kg_str *out)
{
	char word[WORD_SIZE];

	if (!cell_has_value(c))
		return;
	counts_text(c, usual, out);
	if (c->multimodal)
		kg_str_addf(out, "%smultimodal", out->len ? "  " : "");
	if (cell_has_verdict(c)) {
		kg_str_addf(out, "%s%-*s", out->len ? "  " : "", w->word,
			    word_text(c, notes, word));
		probability("p", c->has_p, c->p, w->p, out);
		probability("q", c->has_q, c->q, w->q, out);
	} else if (!cell_has_delta(c) && c->has_value_lo && c->has_value_hi &&
		   isfinite(c->value_lo) && isfinite(c->value_hi)) {
		kg_str_addf(out, "%s[%.*f, %.*f]", out->len ? "  " : "", decimals, c->value_lo,
			    decimals, c->value_hi);
	}
}
