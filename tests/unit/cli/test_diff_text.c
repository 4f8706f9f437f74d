/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdio.h>

#include "cli/diff_text.h"
#include "tests/lib/cmocka_all.h"

#define ITEMS_MOST 40

static struct {
	Kgrid__V1__DiffReply reply;
	Kgrid__V1__DiffItem items[ITEMS_MOST], *list[ITEMS_MOST];
	char names[ITEMS_MOST][32];
} x;

static char *s(const char *text)
{
	return (char *)(uintptr_t)text;
}

static void make(void)
{
	size_t i;

	memset(&x, 0, sizeof(x));
	x.reply = (Kgrid__V1__DiffReply)KGRID__V1__DIFF_REPLY__INIT;
	for (i = 0; i < ITEMS_MOST; i++) {
		x.items[i] = (Kgrid__V1__DiffItem)KGRID__V1__DIFF_ITEM__INIT;
		x.list[i] = &x.items[i];
	}
	x.reply.a = s("boot 12: 6.12 full on lab-amd");
	x.reply.b = s("boot 31: 6.13 full on lab-amd");
	x.reply.items = x.list;
	x.reply.has_same = 1;
	x.reply.same = 81;
}

static void add(const char *section, const char *name, const char *kind, const char *a,
		const char *b, const char *settable, uint32_t weight)
{
	Kgrid__V1__DiffItem *d = &x.items[x.reply.n_items++];

	d->section = s(section);
	d->name = s(name);
	d->kind = s(kind);
	d->a = s(a);
	d->b = s(b);
	d->settable = s(settable);
	d->weight = weight;
}

static char *text_of(bool all)
{
	struct diff_look look = {.width = 100, .all = all};
	struct kg_str out = {0};

	diff_text(&x.reply, &look, &out);
	return kg_str_take(&out);
}

static void test_sections_by_weight_each_once(void **state)
{
	char note[] = "no config of B is stored", *notes[] = {note}, *text;

	(void)state;
	make();
	add("config", "CONFIG_PREEMPT", "added", NULL, "y", "kernel", 40);
	add("cpu", "microcode", "changed", "0x1", "0x2", "environment", 90);
	add("config", "CONFIG_HZ", "changed", "250", "1000", "kernel", 80);
	add("cmdline", "mitigations", "removed", "off", NULL, "boot", 85);
	add("cpu", "boost", "changed", "1", NULL, "environment", 30);
	x.items[4].b_unsupported = 1;
	x.reply.n_notes = 1;
	x.reply.notes = notes;
	text = text_of(false);
	assert_string_equal(text,
			    "A: boot 12: 6.12 full on lab-amd\n"
			    "B: boot 31: 6.13 full on lab-amd\n"
			    "cpu: 2\n"
			    "  NAME       CHANGE   SET BACK BY  A -> B\n"
			    "  microcode  changed  environment  0x1 -> 0x2\n"
			    "  boost      changed  environment  1 -> unsupported\n"
			    "cmdline: 1\n"
			    "  NAME         CHANGE   SET BACK BY  A -> B\n"
			    "  mitigations  removed  boot         off -> (absent)\n"
			    "config: 2\n"
			    "  NAME            CHANGE   SET BACK BY  A -> B\n"
			    "  CONFIG_HZ       changed  kernel       250 -> 1000\n"
			    "  CONFIG_PREEMPT  added    kernel       (absent) -> y\n"
			    "note: no config of B is stored\n"
			    "5 differences, most likely to matter first; 81 facts are equal\n");
	free(text);
}

static void test_digests_are_shown_by_their_beginning(void **state)
{
	char *text;

	(void)state;
	make();
	add("cpu", "CPU flags in use", "changed",
	    "4236b7f162c169b047c83a0e7250b08c3e9efbe8e66a894713dce62d9f47f624",
	    "23f6f740baaf9e97fb9e1176045eb1d56abc968bfefbe1b7f8ca0b280e3cee0f", "boot", 60);
	add("kernel", "build id", "changed", "01d2640d3a13145ee314eb05b155f141b7b7058b", NULL,
	    "kernel", 50);
	text = text_of(false);
	assert_contains(text, " 4236b7f162c1... -> 23f6f740baaf...\n");
	assert_contains(text, " 01d2640d3a13145ee314eb05b155f141b7b7058b -> (absent)\n");
	free(text);
}

static void test_long_sections_are_cut_with_a_count_unless_all_are_asked_for(void **state)
{
	char *text;
	size_t i;

	(void)state;
	make();
	for (i = 0; i < 25; i++) {
		(void)snprintf(x.names[i], sizeof(x.names[i]), "CONFIG_%02zu", i);
		add("config", x.names[i], "added", NULL, "y", "kernel", 10);
	}
	text = text_of(false);
	assert_contains(text, "config: 25\n");
	assert_contains(text, "CONFIG_19 ");
	assert_null(strstr(text, "CONFIG_20"));
	assert_contains(text, "\n  ... and 5 more; --all lists them\n");
	free(text);
	text = text_of(true);
	assert_contains(text, "CONFIG_24 ");
	assert_null(strstr(text, "--all"));
	free(text);
}

static void test_equal_things_say_so(void **state)
{
	char *text;

	(void)state;
	make();
	text = text_of(false);
	assert_contains(text, "\nno difference; 81 facts are equal\n");
	free(text);
}

static void test_values_cannot_steer_the_terminal(void **state)
{
	char *text;

	(void)state;
	make();
	x.reply.a = s("boot\033[2J");
	add("cm\033dline", "a\033b", "changed", "\033[31m", "", "boot", 1);
	text = text_of(false);
	assert_null(strchr(text, '\033'));
	assert_contains(text, "-> (empty)");
	free(text);
}

static void test_epochs_say_what_made_them(void **state)
{
	Kgrid__V1__Epoch e[2] = {KGRID__V1__EPOCH__INIT, KGRID__V1__EPOCH__INIT};
	Kgrid__V1__Epoch *list[2] = {&e[0], &e[1]};
	struct diff_look look = {.width = 100};
	struct kg_str out = {0};

	(void)state;
	make();
	add("cpu", "microcode", "changed", "0x1", "0x2", "environment", 90);
	e[0].machine = e[1].machine = s("lab-amd");
	e[0].number = 1;
	e[1].number = 2;
	e[0].boots = 40;
	e[1].boots = 1;
	e[1].n_changes = 1;
	e[1].changes = x.list;
	epochs_text(2, list, &look, &out);
	assert_string_equal(kg_str_text(&out), "lab-amd epoch 1: since -, 40 boots, the first\n"
					       "lab-amd epoch 2: since -, 1 boot, 1 change\n"
					       "  cpu: 1\n"
					       "    NAME       CHANGE   SET BACK BY  A -> B\n"
					       "    microcode  changed  environment  0x1 -> 0x2\n");
	kg_str_deinit(&out);
}

static void test_epochs_name_facts_by_their_labels(void **state)
{
	char raw[] = "cpu.microcode", many[] = "vulnerability.spectre_v2", odd[] = "no.such.fact";
	char section[] = "cpu", kind[] = "changed", from[] = "1", to[] = "2", name[] = "lab-amd";
	Kgrid__V1__DiffItem items[3], *changes[3];
	Kgrid__V1__Epoch e = KGRID__V1__EPOCH__INIT, *list[] = {&e};
	char *names[] = {raw, many, odd};
	struct diff_look look = {.width = 100};
	struct kg_str out = {0};
	size_t i;

	(void)state;
	for (i = 0; i < 3; i++) {
		items[i] = (Kgrid__V1__DiffItem)KGRID__V1__DIFF_ITEM__INIT;
		items[i].section = section;
		items[i].kind = kind;
		items[i].name = names[i];
		items[i].a = from;
		items[i].b = to;
		changes[i] = &items[i];
	}
	e.machine = name;
	e.number = 2;
	e.changes = changes;
	e.n_changes = 3;
	epochs_text(1, list, &look, &out);
	assert_contains(kg_str_text(&out), "    microcode ");
	assert_contains(kg_str_text(&out), "    mitigation spectre_v2 ");
	assert_contains(kg_str_text(&out), "    no.such.fact ");
	assert_null(strstr(kg_str_text(&out), "cpu.microcode"));
	kg_str_clear(&out);
	diff_items_text(1, changes, 0, &look, &out); /* 'kgrid diff' names what it means itself */
	assert_contains(kg_str_text(&out), "cpu.microcode");
	kg_str_deinit(&out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sections_by_weight_each_once),
		cmocka_unit_test(test_digests_are_shown_by_their_beginning),
		cmocka_unit_test(test_long_sections_are_cut_with_a_count_unless_all_are_asked_for),
		cmocka_unit_test(test_equal_things_say_so),
		cmocka_unit_test(test_values_cannot_steer_the_terminal),
		cmocka_unit_test(test_epochs_say_what_made_them),
		cmocka_unit_test(test_epochs_name_facts_by_their_labels),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
