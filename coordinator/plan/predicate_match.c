/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a predicate says of a machine or a cell, and which part of it says no. */
#include "coordinator/plan/predicate_internal.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/cmdline.h"
#include "common/str.h"
#include "common/uarch.h"

/* ---- evaluation ---- */

bool predicate_number(const char *text, double *ret)
{
	uint64_t bytes;
	char *end;

	if (text[0] == '0' && (text[1] == 'x' || text[1] == 'X')) {
		*ret = (double)strtoull(text, &end, 16);
		return text[2] && *end == '\0';
	}
	if (kg_parse_double(text, ret) == 0)
		return true;
	if (kg_parse_bytes(text, &bytes) < 0)
		return false;
	*ret = (double)bytes;
	return true;
}

/* What a name stands for, for one machine or cell. */
struct fact {
	const char *const *texts; /* list of n, or one text in `single` */
	size_t n;
	const char *single[2];
	double number;
	bool is_number;
	bool is_uarch;
	char buf[64];
	const char *words; /* one of its words is equal, too */
	const char *unit;  /* of `number`; NULL: none */
};

const char *predicate_vendor_word(const char *cpu_vendor)
{
	static const struct {
		const char *cpuid, *word;
	} words[] = {{"GenuineIntel", "intel"},
		     {"AuthenticAMD", "amd"},
		     {"HygonGenuine", "hygon"},
		     {"CentaurHauls", "centaur"},
		     {"  Shanghai  ", "zhaoxin"}};
	size_t i;

	for (i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (strcmp(words[i].cpuid, cpu_vendor) == 0)
			return words[i].word;
	return cpu_vendor;
}

static void set_text(struct fact *f, const char *text)
{
	f->single[0] = text;
	f->texts = f->single;
	f->n = text && text[0] ? 1 : 0;
}

/* A number of 0 is not known. */
static void set_number(struct fact *f, double number, bool known)
{
	f->number = number;
	f->is_number = known;
}

static void machine_fact(const struct predicate_machine *m, enum subject s, struct fact *f)
{
	switch (s) {
	case SUBJ_NAME:
		return set_text(f, m->name);
	case SUBJ_VENDOR:
		return set_text(f, m->cpu_vendor ? predicate_vendor_word(m->cpu_vendor) : NULL);
	case SUBJ_FAMILY:
		return set_number(f, m->cpu_family, m->cpu_family > 0);
	case SUBJ_MODEL: /* 0 is a model and a stepping of known families */
		return set_number(f, m->cpu_model, m->cpu_family > 0);
	case SUBJ_STEPPING:
		return set_number(f, m->cpu_stepping, m->cpu_family > 0);
	case SUBJ_UARCH:
		if (m->cpu_vendor && m->cpu_family)
			set_text(f, kg_uarch_name(m->cpu_vendor, m->cpu_family, m->cpu_model,
						  m->cpu_stepping, f->buf, sizeof(f->buf)));
		f->is_uarch = true;
		return;
	case SUBJ_CPUS:
		return set_number(f, m->cpus, m->cpus > 0);
	case SUBJ_SOCKETS:
		return set_number(f, m->sockets, m->sockets > 0);
	case SUBJ_NUMA_NODES:
		return set_number(f, m->numa_nodes, m->numa_nodes > 0);
	case SUBJ_MEMORY:
		return set_number(f, (double)m->memory_bytes, m->memory_bytes > 0);
	case SUBJ_MICROCODE:
		set_text(f, m->microcode);
		if (m->microcode)
			f->is_number = predicate_number(m->microcode, &f->number);
		return;
	case SUBJ_CLOCK:
		return set_text(f, m->clock);
	case SUBJ_TAGS:
		f->texts = m->tags;
		f->n = m->n_tags;
		return;
	default:
		return;
	}
}

static bool has_units(const struct predicate *p)
{
	size_t i;

	for (i = 0; i < p->n_values; i++)
		if (p->values[i].has_unit)
			return true;
	return false;
}

static const char *unit_of(const struct kg_workload *decl, const char *param)
{
	size_t i;

	for (i = 0; decl && i < decl->n_params; i++)
		if (strcmp(decl->params[i].name, param) == 0)
			return decl->params[i].unit;
	return NULL;
}

static void cell_fact(const struct predicate_cell *c, const struct predicate *p, struct fact *f)
{
	const struct kg_params *params;
	const char *text;

	switch (p->subject) {
	case SUBJ_KERNEL:
		set_text(f, c->kernel_label ? c->kernel_label : c->kernel_release);
		if (c->kernel_label && c->kernel_release) {
			f->single[1] = c->kernel_release;
			f->n = 2;
		}
		return;
	case SUBJ_LSM:
		return set_text(f, c->lsm);
	case SUBJ_CMDLINE:
		set_text(f, c->cmdline_label);
		if (c->cmdline_words) {
			f->single[f->n++] = c->cmdline_words;
			f->texts = f->single;
			f->words = c->cmdline_words;
		}
		return;
	case SUBJ_WORKLOAD:
		return set_text(f, c->workload);
	case SUBJ_SET:
		return set_text(f, c->set);
	case SUBJ_ROLE:
		return set_text(f, c->peer && c->peer[0] ? "client" : NULL);
	case SUBJ_PEER:
		return set_text(f, c->peer);
	case SUBJ_PARAM:
	case SUBJ_SETTING:
		params = p->subject == SUBJ_PARAM ? c->params : c->settings;
		text = params ? kg_params_get(params, p->param) : NULL;
		set_text(f, text);
		if (text)
			f->is_number = predicate_number(text, &f->number);
		if (p->subject == SUBJ_PARAM && has_units(p))
			f->unit = unit_of(c->decl, p->param);
		return;
	default:
		return machine_fact(c->machine, p->subject, f);
	}
}

size_t predicate_fold(const char *text, char *buf, size_t size)
{
	size_t n = 0;

	for (; *text && *text != '/' && *text != '(' && n + 1 < size; text++)
		if (isalnum((unsigned char)*text))
			buf[n++] = (char)tolower((unsigned char)*text);
	buf[n] = '\0';
	return n;
}

/* `n` folded characters of one of the names. */
static bool is_folded(const char *name, const char *word, size_t n)
{
	static const char *const suffixes[] = {"", "sp", "ep", "ex", "d", "de", "client"};
	char folded[64];
	size_t i;

	predicate_fold(name, folded, sizeof(folded));
	if (strncmp(folded, word, n) != 0)
		return false;
	for (i = 0; i < sizeof(suffixes) / sizeof(suffixes[0]); i++)
		if (strcmp(folded + n, suffixes[i]) == 0)
			return true;
	return false;
}

bool predicate_uarch_is(const char *name, const char *word)
{
	char folded[64];
	size_t n = predicate_fold(word, folded, sizeof(folded));

	while (n > 0 && name) {
		if (is_folded(name, folded, n))
			return true;
		name = strchr(name, '/');
		name = name ? name + 1 : NULL;
	}
	return false;
}

/* A value's number in the unit of what it is compared with; false: it has none there. */
static bool value_number(const struct fact *f, const struct value *v, double *ret)
{
	if (v->has_unit && kg_workload_in_unit(f->unit, v->text, ret))
		return true;
	*ret = v->number;
	return v->is_number;
}

static bool equals(const struct fact *f, const struct value *v)
{
	double number;
	size_t i;

	if (f->is_uarch)
		return f->n == 1 && predicate_uarch_is(f->texts[0], v->text);
	if (f->words && kg_cmdline_line_has(f->words, v->text))
		return true;
	if (f->is_number && value_number(f, v, &number))
		return !(f->number < number) && !(f->number > number);
	for (i = 0; i < f->n; i++)
		if (strcmp(f->texts[i], v->text) == 0)
			return true;
	return false;
}

static bool compare(const struct predicate *p, const struct fact *f)
{
	double number = 0;
	bool known = f->is_number && value_number(f, &p->values[0], &number);
	bool any = false;
	size_t i;

	/* an empty list is known, everything else that is empty is absent */
	if (f->n == 0 && !f->is_number && p->subject != SUBJ_TAGS && p->subject != SUBJ_CMDLINE)
		return false;
	switch (p->op) {
	case OP_LT:
		return known && f->number < number;
	case OP_LE:
		return known && f->number <= number;
	case OP_GT:
		return known && f->number > number;
	case OP_GE:
		return known && f->number >= number;
	default:
		break;
	}
	for (i = 0; i < p->n_values && !any; i++)
		any = equals(f, &p->values[i]);
	return p->op == OP_NE || p->op == OP_NOT_IN ? !any : any;
}

bool predicate_matches_cell(const struct predicate *p, const struct predicate_cell *c)
{
	struct fact f = {0};

	switch (p->op) {
	case OP_OR:
		return predicate_matches_cell(p->left, c) || predicate_matches_cell(p->right, c);
	case OP_AND:
		return predicate_matches_cell(p->left, c) && predicate_matches_cell(p->right, c);
	case OP_NOT:
		return !predicate_matches_cell(p->left, c);
	default:
		cell_fact(c, p, &f);
		return compare(p, &f);
	}
}

bool predicate_matches_machine(const struct predicate *p, const struct predicate_machine *m)
{
	struct predicate_cell c = {.machine = m};

	return predicate_matches_cell(p, &c);
}

/* ---- why not ---- */

/* "(it is 7.75GiB)": exact in the unit that the predicate takes, or in bytes. */
static void say_bytes(uint64_t bytes, struct kg_str *out)
{
	if (bytes >= 1ULL << 30 && bytes % (1ULL << 20) == 0)
		kg_str_addf(out, " (it is %.15gGiB)", (double)bytes / (double)(1ULL << 30));
	else if (bytes >= 1ULL << 30)
		kg_str_addf(out, " (it is %llu bytes, %.2fGiB)", (unsigned long long)bytes,
			    (double)bytes / (double)(1ULL << 30));
	else
		kg_str_addf(out, " (it is %llu bytes)", (unsigned long long)bytes);
}

static void say(const struct predicate *root, const struct predicate *p,
		const struct predicate_machine *m, bool negated, struct kg_str *out)
{
	struct predicate_cell c = {.machine = m};
	struct fact f = {0};

	cell_fact(&c, p, &f);
	kg_str_addf(out, "%s%s%.*s", out->len ? "; " : "", negated ? "not " : "",
		    (int)(p->end - p->start), root->text + p->start);
	if (p->subject == SUBJ_TAGS) {
		kg_str_add(out, " (tags:");
		for (size_t i = 0; i < f.n; i++)
			kg_str_addf(out, " %s", f.texts[i]);
		kg_str_add(out, f.n ? ")" : " none)");
	} else if (p->subject == SUBJ_MEMORY && f.is_number) {
		say_bytes(m->memory_bytes, out);
	} else if (f.n > 0) {
		kg_str_addf(out, " (it is %s)", f.texts[0]);
	} else if (f.is_number) {
		kg_str_addf(out, " (it is %.15g)", f.number);
	} else {
		kg_str_add(out, " (it is not known)");
	}
}

/* The comparisons that make the whole false; `negated`: those that make it true. */
static void explain(const struct predicate *root, const struct predicate *p,
		    const struct predicate_machine *m, bool negated, struct kg_str *out)
{
	if (predicate_matches_machine(p, m) != negated)
		return;
	switch (p->op) {
	case OP_AND:
	case OP_OR:
		explain(root, p->left, m, negated, out);
		explain(root, p->right, m, negated, out);
		return;
	case OP_NOT:
		explain(root, p->left, m, !negated, out);
		return;
	default:
		say(root, p, m, negated, out);
	}
}

void predicate_explain(const struct predicate *p, const struct predicate_machine *m,
		       struct kg_str *out)
{
	explain(p, p, m, false, out);
}
