/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/junit.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/compare_cell.h"
#include "cli/format.h"

#define REPLACEMENT "\xef\xbf\xbd"

/* Bytes of the valid UTF-8 character at `p`, 0 for none. */
static size_t character_len(const char *p)
{
	size_t n;

	for (n = 1; n <= 4 && p[n - 1]; n++)
		if (kg_utf8_valid(p, n))
			return n;
	return 0;
}

static void xml_ascii(struct kg_str *out, char c)
{
	switch (c) {
	case '<':
		kg_str_add(out, "&lt;");
		break;
	case '>':
		kg_str_add(out, "&gt;");
		break;
	case '&':
		kg_str_add(out, "&amp;");
		break;
	case '"':
		kg_str_add(out, "&quot;");
		break;
	case '\'':
		kg_str_add(out, "&apos;");
		break;
	case '\t':
	case '\n':
	case '\r':
		kg_str_addf(out, "&#%d;", c);
		break;
	default:
		if ((unsigned char)c < 0x20)
			kg_str_add(out, REPLACEMENT);
		else
			kg_str_addn(out, &c, 1);
	}
}

void xml_text(struct kg_str *out, const char *text)
{
	while (*text) {
		size_t n = character_len(text);

		if (n == 1)
			xml_ascii(out, *text);
		else if (n == 0 || memcmp(text, "\xef\xbf\xbe", n) == 0 ||
			 memcmp(text, "\xef\xbf\xbf", n) == 0)
			kg_str_add(out, REPLACEMENT);
		else
			kg_str_addn(out, text, n);
		text += n ? n : 1;
	}
}

static void attribute(struct kg_str *out, const char *name, const char *value)
{
	kg_str_addf(out, " %s=\"", name);
	xml_text(out, cli_text(value));
	kg_str_add(out, "\"");
}

/* "size=64 throughput 6.12/full against 6.12/prev" */
static void case_name(const struct gate_pair *p, struct kg_str *out)
{
	if (p->row->params && p->row->params[0])
		kg_str_addf(out, "%s ", p->row->params);
	kg_str_addf(out, "%s ", cli_text(p->table->metric));
	format_column(p->column->kernel, p->column->lsm, out);
	kg_str_add(out, " against ");
	format_column(p->baseline->kernel, p->baseline->lsm, out);
}

/* What a reader of the report wants to see of the numbers. */
static void detail(const struct gate_pair *p, struct kg_str *out)
{
	const Kgrid__V1__CompareCell *c = p->cell;
	struct kg_str s = {0};
	int decimals = format_decimals(c->value);

	kg_str_addf(&s, "%s", p->reason);
	if (cell_has_value(c)) {
		kg_str_addf(&s, "\n%.*f %s", decimals, c->value, cli_text(p->table->unit));
		if (c->has_value_lo && c->has_value_hi && isfinite(c->value_lo) &&
		    isfinite(c->value_hi))
			kg_str_addf(&s, " [%.*f, %.*f]", decimals, c->value_lo, decimals,
				    c->value_hi);
	}
	xml_text(out, kg_str_text(&s));
	kg_str_deinit(&s);
}

static void test_case(const struct gate_pair *p, struct kg_str *out)
{
	static const char *const elements[GATE_RESULTS] = {
		[GATE_FAILED] = "failure", [GATE_SKIPPED] = "skipped", [GATE_ERROR] = "error"};
	const char *element = elements[p->result];
	struct kg_str name = {0}, class = {0};

	case_name(p, &name);
	kg_str_addf(&class, "%s.%s", cli_text(p->table->machine), cli_text(p->table->workload));
	kg_str_add(out, "    <testcase");
	attribute(out, "classname", kg_str_text(&class));
	attribute(out, "name", kg_str_text(&name));
	kg_str_deinit(&class);
	kg_str_deinit(&name);
	if (!element) {
		kg_str_add(out, ">\n      <system-out>");
		kg_str_addf(out, "%s: ", cli_text(p->cell->verdict));
		detail(p, out);
		kg_str_add(out, "</system-out>\n    </testcase>\n");
		return;
	}
	kg_str_addf(out, ">\n      <%s", element);
	if (p->result != GATE_SKIPPED)
		attribute(out, "type",
			  p->cell->verdict && p->cell->verdict[0] ? p->cell->verdict : "no data");
	attribute(out, "message", p->reason);
	if (p->result == GATE_FAILED) {
		kg_str_add(out, ">");
		detail(p, out);
		kg_str_addf(out, "</%s>\n    </testcase>\n", element);
	} else {
		kg_str_add(out, "/>\n    </testcase>\n");
	}
}

static void counts(const size_t n[GATE_RESULTS], struct kg_str *out)
{
	kg_str_addf(out, " tests=\"%zu\" failures=\"%zu\" errors=\"%zu\" skipped=\"%zu\"",
		    n[GATE_PASSED] + n[GATE_FAILED] + n[GATE_SKIPPED] + n[GATE_ERROR],
		    n[GATE_FAILED], n[GATE_ERROR], n[GATE_SKIPPED]);
}

static void property(struct kg_str *out, const char *name, const char *value)
{
	if (!value || !value[0])
		return;
	kg_str_add(out, "      <property");
	attribute(out, "name", name);
	attribute(out, "value", value);
	kg_str_add(out, "/>\n");
}

static bool on_machine(const struct gate_pair *a, const struct gate_pair *b)
{
	return kg_streq(cli_text(a->table->machine), cli_text(b->table->machine));
}

static void suite(const struct gate *g, size_t first, struct kg_str *out)
{
	const struct gate_pair *f = &g->pairs[first];
	size_t n[GATE_RESULTS] = {0}, i;

	for (i = first; i < g->n; i++)
		if (on_machine(f, &g->pairs[i]))
			n[g->pairs[i].result]++;
	kg_str_add(out, "  <testsuite");
	attribute(out, "name", f->table->machine);
	counts(n, out);
	kg_str_add(out, ">\n    <properties>\n");
	property(out, "cpu", f->table->cpu_name);
	property(out, "vendor", f->table->cpu_vendor);
	property(out, "microarchitecture", f->table->microarchitecture);
	property(out, "clock", f->table->clock);
	kg_str_add(out, "    </properties>\n");
	for (i = first; i < g->n; i++)
		if (on_machine(f, &g->pairs[i]))
			test_case(&g->pairs[i], out);
	kg_str_add(out, "  </testsuite>\n");
}

void junit_text(const struct gate *g, const Kgrid__V1__CompareReply *r, struct kg_str *out)
{
	struct kg_str name = {0};
	size_t i, k;

	kg_str_add(&name, "kgrid gate");
	if (r->job)
		kg_str_addf(&name, ", job %" PRIu64, r->job->id);
	kg_str_add(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites");
	attribute(out, "name", kg_str_text(&name));
	counts(g->counts, out);
	kg_str_add(out, ">\n");
	for (i = 0; i < g->n; i++) {
		for (k = 0; k < i; k++)
			if (on_machine(&g->pairs[k], &g->pairs[i]))
				break;
		if (k == i)
			suite(g, i, out);
	}
	kg_str_add(out, "</testsuites>\n");
	kg_str_deinit(&name);
}
