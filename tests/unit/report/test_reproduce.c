/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A cell once more: what the script runs is exactly what the agent ran, whatever the values are. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/str.h"
#include "coordinator/report/reproduce_internal.h"
#include "tests/lib/alloc_fault.h"
#include "tests/lib/cmocka_all.h"

#define OUTPUT_MAX 65536

static const char netperf[] =
	"name: netperf\n"
	"description: network\n"
	"parameters:\n"
	"  test: {type: choice, choices: [TCP_STREAM, UDP_RR], required: true}\n"
	"  size: {type: int, min: 1, max: 65507, default: 64}\n"
	"  note: {type: text, default: none}\n"
	"helper: [netserver, -D, -L, \"{host}\", -p, \"{port}\"]\n"
	"command: [netperf, -H, \"{host}\", -p, \"{port}\", -t, \"{test}\", -m, \"{size}\", -N, "
	"\"at={host}:{size}\"]\n"
	"environment: {KNOB: \"it's $(id)\"}\n"
	"warm-up: {runs: 2}\n"
	"timeout: 60s\n"
	"metrics:\n"
	"  - {name: throughput, unit: Mbit/s, direction: higher, when: {test: [TCP_STREAM]}, read: "
	"{keyval: THROUGHPUT}}\n"
	"  - {name: transactions, unit: 1/s, direction: higher, when: {test: [UDP_RR]}, read: "
	"{regex: \"rate ([0-9]+)\"}}\n";

static struct kg_workload *declaration(const char *text)
{
	struct kg_workload *w = NULL;
	struct kg_err err = {""};

	if (kg_workload_parse("w.yaml", text, strlen(text), &w, &err) < 0)
		fail_msg("%s", err.text);
	return w;
}

static struct reproduce_input usual(const struct kg_workload *decl)
{
	return (struct reproduce_input){
		.job = 12,
		.job_name = "lsm-cost",
		.number = 3,
		.machine = "lab-intel",
		.kernel_label = "6.12",
		.kernel_release = "6.12.117+deb12-cloud-amd64",
		.kernel_digest = "61bbbbbbbb",
		.lsm_label = "nt",
		.lsm_request = "landlock,yama",
		.lsm_effective = "lockdown,capability,landlock,yama",
		.base_cmdline = "console=ttyS0",
		.cmdline = "mitigations=off lsm=landlock,yama panic=10",
		.settings = "governor=performance; sysctl.vm.swappiness=10; thp=never; turbo=off",
		.workload = "netperf",
		.params = "note=none size=64 test=UDP_RR",
		.iterations = 2,
		.blocks = 5,
		.blocks_done = 4,
		.decl = decl,
	};
}

static char *recipe(const struct reproduce_input *in)
{
	struct kg_err err = {""};
	char *text = NULL;

	if (reproduce_recipe(in, &text, &err) < 0)
		fail_msg("%s", err.text);
	return text;
}

static char *job_file(const struct reproduce_input *in)
{
	struct kg_err err = {""};
	char *text = NULL;

	if (reproduce_job_file(in, &text, &err) < 0)
		fail_msg("%s", err.text);
	return text;
}

#define assert_has(text, part)                                           \
	do {                                                             \
		if (!strstr((text), (part)))                             \
			fail_msg("'%s' is not in '%s'", (part), (text)); \
	} while (0)

/* ---- running it ---- */

/* Runs COMMAND FILE; its output, of `ret_len` bytes, and its status. */
static char *run(const char *command, const char *script, size_t *ret_len, int *ret_status)
{
	char name[] = "/tmp/kgrid-recipe-XXXXXX", line[256];
	char *out = calloc(1, OUTPUT_MAX);
	int fd = mkstemp(name);
	FILE *p;

	assert_non_null(out);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, script, strlen(script)), strlen(script));
	close(fd);
	(void)snprintf(line, sizeof(line), "%s %s 2>&1", command, name);
	p = popen(line, "r");
	assert_non_null(p);
	*ret_len = fread(out, 1, OUTPUT_MAX - 1, p);
	*ret_status = pclose(p);
	unlink(name);
	return out;
}

static bool there_is(const char *program)
{
	char line[128];

	(void)snprintf(line, sizeof(line), "command -v %s >/dev/null 2>&1", program);
	return system(line) == 0;
}

static void must_pass(const char *command, const char *script)
{
	size_t n;
	int status;
	char *out = run(command, script, &n, &status);

	if (status != 0)
		fail_msg("%s: %s\n%s", command, out, script);
	free(out);
}

/* Syntax of every shell that may be sh, and shellcheck where there is one. */
static void check_shell(const char *script)
{
	must_pass("sh -n", script);
	if (there_is("bash"))
		must_pass("bash -n", script);
	if (there_is("shellcheck"))
		must_pass("shellcheck -s sh", script);
}

/* The script with its last part replaced by one call. */
static char *calling(const char *script, const char *what)
{
	const char *end = strstr(script, "\ncase \"${1:-}\" in");
	struct kg_str s = {0};

	assert_non_null(end);
	kg_str_addn(&s, script, (size_t)(end - script));
	kg_str_addf(&s, "\n%s\n", what);
	return kg_str_take(&s);
}

/* ---- what the script says ---- */

static void test_the_recipe_has_kernel_checks_settings_workload_and_metric(void **state)
{
	struct kg_workload *w = declaration(netperf);
	struct reproduce_input in = usual(w);
	char *text = recipe(&in);

	(void)state;
	check_shell(text);
	assert_has(text, "release=6.12.117+deb12-cloud-amd64\n");
	assert_has(text, "kexec -l \"/boot/vmlinuz-$release\"");
	assert_has(text, "base='console=ttyS0'\n");
	assert_has(text, "words='mitigations=off lsm=landlock,yama panic=10'\n");
	assert_has(text, "lsm=lockdown,capability,landlock,yama\n");
	assert_has(text, "uname -r");
	assert_has(text, "/sys/kernel/security/lsm");
	assert_has(text, "/proc/cmdline");
	assert_has(text, "printf '%s\\n' performance >\"$file\"");
	assert_has(text, "sysctl -w -- 'vm.swappiness=10'");
	assert_has(text, "printf '%s\\n' never >/sys/kernel/mm/transparent_hugepage/enabled");
	assert_has(text, "echo 1 >/sys/devices/system/cpu/intel_pstate/no_turbo");
	assert_has(text, "echo 0 >/sys/devices/system/cpu/cpufreq/boost");
	assert_has(text, "host=127.0.0.1\n");
	assert_has(text, "port=12865\n");
	assert_has(text, "netserver -D -L \"$host\" -p \"$port\"");
	assert_has(text, "-t UDP_RR -m 64 -N 'at='\"$host\":64");
	assert_has(text, "while [ \"$i\" -lt 2 ]"); /* warm-up */
	assert_has(text, "while [ \"$i\" -le 2 ]"); /* iterations */
	assert_has(text, "transactions (1/s, higher is better)");
	assert_null(strstr(text, "throughput"));
	assert_null(strstr(text, "serve)"));
	assert_has(text, "kgrid made 4 boots of it");
	free(text);
	kg_workload_free(w);
}

static void test_port_and_host_are_those_of_the_attempt_that_ran(void **state)
{
	struct kg_workload *w = declaration(netperf);
	struct reproduce_input in = usual(w);
	char *text;

	(void)state;
	in.peer = "lab-amd";
	in.argv = "[\"netperf\",\"-H\",\"10.0.0.7\",\"-p\",\"40123\",\"-t\",\"UDP_RR\",\"-m\","
		  "\"64\",\"-N\",\"at=10.0.0.7:64\"]";
	text = recipe(&in);
	check_shell(text);
	assert_has(text, "host=10.0.0.7\n");
	assert_has(text, "port=40123\n");
	assert_has(text, "serve)");
	assert_has(text, "sh THIS serve   on machine lab-amd");
	assert_null(strstr(text, "server &"));
	free(text);

	/* another declaration today: what ran is what counts */
	in.argv = "[\"netperf\",\"-x\",\"it's\"]";
	text = recipe(&in);
	check_shell(text);
	assert_has(text, "the declaration of the workload is another today");
	assert_has(text, "netperf -x 'it'\\''s'");
	free(text);
	kg_workload_free(w);
}

static void test_without_declaration_and_attempt_the_script_says_what_is_missing(void **state)
{
	struct reproduce_input in = usual(NULL);
	char *text = recipe(&in), *call;
	size_t n;
	int status;
	char *out;

	(void)state;
	check_shell(text);
	call = calling(text, "once");
	out = run("sh", call, &n, &status);
	assert_int_not_equal(status, 0);
	assert_has(out, "it never ran");
	free(out);
	free(call);
	free(text);
	in.argv = "[\"printf\",\"%s\",\"ran\"]";
	text = recipe(&in);
	check_shell(text);
	call = calling(text, "once");
	out = run("sh", call, &n, &status);
	assert_int_equal(status, 0);
	assert_string_equal(out, "ran");
	free(out);
	free(call);
	free(text);
}

static void test_without_an_argument_the_script_does_nothing_but_tell_its_use(void **state)
{
	struct reproduce_input in = usual(NULL);
	char *text = recipe(&in);
	size_t n;
	int status;
	char *out = run("sh", text, &n, &status);

	(void)state;
	assert_int_not_equal(status, 0);
	assert_string_equal(out, "usage: sh THIS boot|run\n");
	free(out);
	free(text);
}

static void test_another_kernel_is_told_before_anything_is_measured(void **state)
{
	struct reproduce_input in = usual(NULL);
	char *text, *call, *out;
	size_t n;
	int status;

	(void)state;
	in.kernel_release = "0.0.1-none";
	in.argv = "[\"echo\",\"measured\"]";
	text = recipe(&in);
	call = calling(text, "run");
	out = run("sh", call, &n, &status);
	assert_int_not_equal(status, 0);
	assert_has(out, "not 0.0.1-none");
	assert_null(strstr(out, "measured"));
	free(out);
	free(call);
	free(text);
}

/* ---- nothing gets out of its quotes ---- */

static const char *const nasty[] = {
	"'",
	"''",
	"\"",
	"$(echo injected)",
	"`echo injected`",
	"; echo injected;",
	"a\necho injected\n",
	"a\r\necho injected",
	"'; echo injected; '",
	"'\n echo injected\n'",
	"\\",
	"\\'; echo injected",
	"${HOME}",
	"$HOME",
	"!!",
	"*",
	"~",
	"-n",
	"#",
	"a b\tc",
	"&",
	"|| echo injected",
	"<(echo injected)",
	"\xc2\x85; echo injected",
	"\xe2\x80\xa8x",
	"\xef\xbb\xbfx",
	"\xff\xfe",
	"\001port\001",
	"}\necho injected\n{",
	"x: y",
	"- x",
	"[a, b]",
	"{a: b}",
	"&a *a",
	"!tag",
	"3..10",
	"null",
	"\x7f\x1b[2J",
	"\xf0\x9f\x90\xa7",
};
#define N_NASTY (sizeof(nasty) / sizeof(nasty[0]))

static char *json_of(const char *const *argv, size_t n)
{
	struct kg_str s = {0};

	kg_str_add(&s, "[");
	for (size_t i = 0; i < n; i++) {
		kg_str_add(&s, i ? ", " : "");
		kg_str_add_json(&s, argv[i]);
	}
	kg_str_add(&s, "]");
	return kg_str_take(&s);
}

static void test_what_runs_is_the_argument_vector_byte_for_byte(void **state)
{
	const char *argv[N_NASTY + 3] = {"printf", "%s\\0", ""};
	struct reproduce_input in = usual(NULL);
	char *json, *text, *call, *out, *at;
	size_t len, n = 3;
	int status;

	(void)state;
	for (size_t i = 0; i < N_NASTY; i++) {
		/* JSON has no bytes that are not UTF-8; two marks are the script's own */
		if (kg_utf8_valid(nasty[i], strlen(nasty[i])))
			argv[n++] = nasty[i];
	}
	json = json_of(argv, n);
	in.argv = json;
	text = recipe(&in);
	check_shell(text);
	call = calling(text, "once");
	out = run("sh", call, &len, &status);
	assert_int_equal(status, 0);
	at = out;
	for (size_t i = 2; i < n; i++) {
		assert_string_equal(at, argv[i]);
		at += strlen(at) + 1;
	}
	assert_int_equal(at - out, len);
	free(out);
	free(call);
	free(text);
	free(json);
}

static void fill(struct reproduce_input *in, const char *value)
{
	in->job_name = in->machine = in->peer = in->kernel_label = in->kernel_release = value;
	in->kernel_digest = in->lsm_label = in->lsm_request = in->lsm_effective = value;
	in->base_cmdline = in->cmdline = in->workload = value;
}

static void test_no_value_becomes_shell_or_yaml(void **state)
{
	struct kg_err err = {""};

	(void)state;
	for (size_t i = 0; i < N_NASTY; i++) {
		struct reproduce_input in = usual(NULL);
		struct kg_str settings = {0};
		struct kg_yaml_doc *doc;
		char *text, *call, *out;
		size_t len;
		int status;

		kg_str_addf(&settings, "sysctl.kernel.x=%s; odd=%s; governor=%s; thp=%s; turbo=%s",
			    nasty[i], nasty[i], nasty[i], nasty[i], nasty[i]);
		fill(&in, nasty[i]);
		in.settings = kg_str_text(&settings);
		in.params = "note=\"a \\\"b\\\" $(echo injected) \\\\\" size=1";
		text = recipe(&in);
		/* an argument that is no UTF-8 at all is no text that shellcheck reads */
		must_pass("sh -n", text);
		if (kg_utf8_valid(nasty[i], strlen(nasty[i])))
			check_shell(text);
		call = calling(text, "printf '%s\\0' \"$release\" \"$base\" \"$words\" \"$lsm\"");
		out = run("sh", call, &len, &status);
		assert_int_equal(status, 0);
		assert_int_equal(len, 4 * (strlen(nasty[i]) + 1));
		for (int k = 0; k < 4; k++)
			assert_string_equal(out + (size_t)k * (strlen(nasty[i]) + 1), nasty[i]);
		free(out);
		free(call);
		free(text);

		text = job_file(&in);
		if (kg_yaml_parse("job.yaml", text, strlen(text), &doc, &err) < 0)
			fail_msg("%s in\n%s", err.text, text);
		if (kg_utf8_valid(nasty[i], strlen(nasty[i]))) {
			const struct kg_yaml_node *root = doc->root;

			assert_string_equal(kg_yaml_get(root, "machines")->items[0]->text,
					    nasty[i]);
			assert_string_equal(kg_yaml_get(root, "kernels")->items[0]->text, nasty[i]);
			assert_string_equal(kg_yaml_get(root, "lsm")->keys[0]->text, nasty[i]);
			assert_string_equal(kg_yaml_get(root, "lsm")->items[0]->text, nasty[i]);
			assert_string_equal(
				kg_yaml_get(kg_yaml_get(root, "settings"), "governor")->text,
				nasty[i]);
		}
		assert_string_equal(kg_yaml_get(doc->root, "name")->text, "again-12-3");
		kg_yaml_free(doc);
		free(text);
		kg_str_deinit(&settings);
	}
}

/* ---- what the store keeps, taken apart ---- */

static void test_parameters_come_back_as_they_were(void **state)
{
	for (size_t i = 0; i < N_NASTY; i++) {
		struct kg_param_value items[] = {
			{(char *)(uintptr_t) "a", (char *)(uintptr_t)nasty[i]},
			{(char *)(uintptr_t) "b", (char *)(uintptr_t) "b=c d=e"},
			{(char *)(uintptr_t) "c", (char *)(uintptr_t) ""},
		};
		struct kg_params in = {items, 3}, out;
		char *text = kg_params_text(&in);

		assert_int_equal(reproduce_params(text, &out, NULL), 0);
		assert_int_equal(out.n, 3);
		for (int k = 0; k < 3; k++) {
			assert_string_equal(out.items[k].name, items[k].name);
			assert_string_equal(out.items[k].value, items[k].value);
		}
		kg_params_deinit(&out);
		free(text);
	}
	(void)state;
}

static void test_texts_that_are_not_ours_are_refused(void **state)
{
	static const char *const params[] = {"a", "=1", "a=\"x", "a=\"x\\", "a=1  b=2", "a=\"x\"y"};
	static const char *const settings[] = {"governor", "=x", "a=1;b", " a=1", "a b=1"};
	static const char *const argvs[] = {
		"",	    "x",     "[",	  "[\"a\"",    "[\"a\",]",	"[\"a\" \"b\"]",
		"[1]",	    "{}",    "[\"a\"] x", "[\"\\x\"]", "[\"\\u12\"]",	"[\"\\ud800\"]",
		"[\"\n\"]", "[\"a]", "[,]",	  "[\"\\",     "[\"\\udc00\"]", "[\"\\u0000\"]"};
	struct kg_params p;
	struct kg_texts t;
	struct kg_err err;

	(void)state;
	for (size_t i = 0; i < sizeof(params) / sizeof(params[0]); i++)
		assert_int_equal(reproduce_params(params[i], &p, &err), KG_EINVALID);
	for (size_t i = 0; i < sizeof(settings) / sizeof(settings[0]); i++) {
		int rc = reproduce_settings(settings[i], &p, &err);

		if (strcmp(settings[i], "a=1;b") == 0) { /* a value with a semicolon */
			assert_int_equal(rc, 0);
			assert_string_equal(p.items[0].value, "1;b");
			kg_params_deinit(&p);
			continue;
		}
		assert_int_equal(rc, KG_EINVALID);
	}
	for (size_t i = 0; i < sizeof(argvs) / sizeof(argvs[0]); i++) {
		if (reproduce_argv(argvs[i], &t, &err) != KG_EINVALID)
			fail_msg("taken: %s", argvs[i]);
	}
	assert_int_equal(reproduce_argv(" [ ] ", &t, &err), 0);
	assert_int_equal(t.n, 0);
	kg_texts_deinit(&t);
	assert_int_equal(reproduce_argv("[\"\\u00e9\\ud83d\\udc27\\/\\b\",\"\"]", &t, &err), 0);
	assert_int_equal(t.n, 2);
	assert_string_equal(t.items[0], "\xc3\xa9\xf0\x9f\x90\xa7/\b");
	assert_string_equal(t.items[1], "");
	kg_texts_deinit(&t);
	assert_int_equal(reproduce_params("", &p, &err), 0);
	assert_int_equal(p.n, 0);
	kg_params_deinit(&p);
	assert_int_equal(reproduce_settings("sysctl.kernel.core_pattern=|/bin/x; y; thp=never", &p,
					    &err),
			 0);
	assert_int_equal(p.n, 2);
	assert_string_equal(p.items[0].value, "|/bin/x; y");
	kg_params_deinit(&p);
}

static void test_without_memory_there_is_no_text(void **state)
{
	struct kg_workload *w = declaration(netperf);
	struct reproduce_input in = usual(w);

	(void)state;
	in.argv = "[\"netperf\",\"-H\",\"10.0.0.7\",\"-p\",\"40123\",\"-t\",\"UDP_RR\",\"-m\","
		  "\"64\",\"-N\",\"at=10.0.0.7:64\"]";
	for (int which = 0; which < 2; which++) {
		bool more = true;

		for (unsigned n = 1; more; n++) {
			struct kg_err err = {""};
			char *text = NULL;
			int rc;

			alloc_fault_arm(n);
			rc = which ? reproduce_recipe(&in, &text, &err)
				   : reproduce_job_file(&in, &text, &err);
			more = alloc_fault_disarm();
			if (rc != (more ? -ENOMEM : 0))
				fail_msg("allocation %u: %d %s", n, rc, err.text);
			free(text);
		}
	}
	kg_workload_free(w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_the_recipe_has_kernel_checks_settings_workload_and_metric),
		cmocka_unit_test(test_port_and_host_are_those_of_the_attempt_that_ran),
		cmocka_unit_test(
			test_without_declaration_and_attempt_the_script_says_what_is_missing),
		cmocka_unit_test(test_without_an_argument_the_script_does_nothing_but_tell_its_use),
		cmocka_unit_test(test_another_kernel_is_told_before_anything_is_measured),
		cmocka_unit_test(test_what_runs_is_the_argument_vector_byte_for_byte),
		cmocka_unit_test(test_no_value_becomes_shell_or_yaml),
		cmocka_unit_test(test_parameters_come_back_as_they_were),
		cmocka_unit_test(test_texts_that_are_not_ours_are_refused),
		cmocka_unit_test(test_without_memory_there_is_no_text),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
