/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The commands that show results against a coordinator that answers as the test says: what is asked,
 * what is printed, exit codes. */
#include <stdio.h>
#include <unistd.h>

#include <jansson.h>

#include "cli/args.h"
#include "cli/cli.h"
#include "tests/lib/cmocka_all.h"
#include "tests/lib/fake_coordinator.h"
#include "tests/unit/cli/reply.h"

static char *out, *err_text; /* of the last command, owned */
static size_t out_len, err_len;
static struct reply x;

/* What the fake answers with, and what it was asked. */
struct answer {
	uint16_t type;
	const ProtobufCMessage *body;
	bool stream;
	uint16_t asked;
	char *request; /* its bytes, printable; owned */
};

static char *s(const char *text)
{
	return (char *)(uintptr_t)text;
}

/* Keeps a request as one line of text that tests can look into. */
static void keep_request(struct answer *a, uint16_t type, const ProtobufCMessage *body)
{
	uint8_t *bytes = malloc(protobuf_c_message_get_packed_size(body) + 1);
	size_t len, i;

	assert_non_null(bytes);
	len = protobuf_c_message_pack(body, bytes);
	for (i = 0; i < len; i++) /* texts in it stay readable */
		if (bytes[i] < 0x20 || bytes[i] > 0x7e)
			bytes[i] = ' ';
	bytes[len] = '\0';
	free(a->request);
	a->request = (char *)bytes;
	a->asked = type;
}

static int respond(struct fake *f, uint16_t type, uint32_t id, const ProtobufCMessage *body,
		   void *ctx)
{
	struct answer *a = ctx;

	keep_request(a, type, body);
	if (a->body)
		fake_send(f, a->type, id, a->body);
	if (a->stream)
		fake_end(f, id);
	return 0;
}

/* Runs one command line; '|' stands for a blank inside a word. */
static int run_with(struct answer *a, const char *line)
{
	struct fake *f = fake_start(respond, a);
	struct cli cli = {.address = fake_address(f), .width = 100};
	char copy[512], *argv[40], *save = NULL, *word, *p;
	struct cli_args args;
	struct kg_err err = {{0}};
	int argc = 0, rc;

	free(out);
	free(err_text);
	(void)snprintf(copy, sizeof(copy), "kgrid %s", line);
	for (word = strtok_r(copy, " ", &save); word && argc < 39;
	     word = strtok_r(NULL, " ", &save))
		argv[argc++] = word;
	for (p = copy; p < copy + sizeof(copy); p++)
		*p = (char)(*p == '|' ? ' ' : *p);
	argv[argc] = NULL;
	assert_int_equal(cli_args_parse(argc, argv, &args, &err), 0);
	cli.out = open_memstream(&out, &out_len);
	cli.err = open_memstream(&err_text, &err_len);
	cli.json = cli_args_has(&args, "json");
	rc = args.command->run(&cli, &args);
	(void)fclose(cli.out);
	(void)fclose(cli.err);
	fake_stop(f);
	return rc;
}

static struct answer compare_answer(void)
{
	return (struct answer){.type = KG_MSG_COMPARE_REPLY, .body = &x.reply.base};
}

static void test_compare_exits_by_what_it_found(void **state)
{
	struct answer a = compare_answer();
	size_t row;

	(void)state;
	reply_make(&x);
	assert_int_equal(run_with(&a, "compare"), CLI_EXIT_OK);
	assert_contains(out, "verdicts 2 = 2 same\n");
	reply_verdict(&x, 1, "unknown", -3, 3);
	assert_int_equal(run_with(&a, "compare"), CLI_EXIT_OK);
	reply_verdict(&x, 0, "regression", -3, 8);
	assert_int_equal(run_with(&a, "compare"), CLI_EXIT_NO);
	assert_int_equal(run_with(&a, "compare --csv"), CLI_EXIT_NO);
	assert_string_equal(err_text, "slots 20 = 20 pass\n");
	assert_int_equal(run_with(&a, "compare --json"), CLI_EXIT_NO);
	for (row = 0; row < REPLY_ROWS; row++) {
		reply_verdict(&x, row, "incomparable", 0, 8);
		x.cells[row][1].has_delta_pct = 0;
	}
	assert_int_equal(run_with(&a, "compare"), CLI_EXIT_NODATA);
	assert_contains(err_text, "all is incomparable");
	x.table.n_columns = 1;
	assert_int_equal(run_with(&a, "compare --json"), CLI_EXIT_NODATA);
	assert_contains(err_text, "one kernel with one list");
	free(a.request);
}

static void test_compare_styles_are_asked_with_values(void **state)
{
	struct answer a = compare_answer();

	(void)state;
	reply_make(&x);
	assert_int_equal(run_with(&a, "compare --style mmtests"), CLI_EXIT_OK);
	assert_contains(out, "\nslots 20 = 20 pass\n");
	assert_int_equal(run_with(&a, "compare --style csv"), CLI_EXIT_OK);
	assert_contains(out, "machine,cpu_name,");
	assert_int_equal(run_with(&a, "compare --style json"), CLI_EXIT_OK);
	assert_int_equal(strncmp(out, "{\n  \"job\": {", 12), 0);
	assert_int_equal(run_with(&a, "compare --style csv --csv"), CLI_EXIT_OK);
	assert_int_equal(run_with(&a, "compare --style lkp --csv"), CLI_EXIT_USAGE);
	assert_contains(err_text, "do not go together");
	assert_int_equal(run_with(&a, "compare --json --csv"), CLI_EXIT_USAGE);
	assert_int_equal(run_with(&a, "compare --table 3"), CLI_EXIT_USAGE);
	free(a.request);
}

static void test_compare_sends_its_selection(void **state)
{
	struct answer a = compare_answer();

	(void)state;
	reply_make(&x);
	(void)run_with(&a, "compare --machine lab-amd --param size=64 --baseline 6.12/prev");
	assert_int_equal(a.asked, KG_MSG_COMPARE);
	assert_contains(a.request, "lab-amd");
	assert_contains(a.request, "size=64");
	assert_contains(a.request, "6.12/prev");
	free(a.request);
}

static void test_gate_says_yes_no_or_that_it_does_not_know(void **state)
{
	struct answer a = compare_answer();

	(void)state;
	reply_make(&x);
	assert_int_equal(run_with(&a, "gate 7"), CLI_EXIT_USAGE);
	assert_contains(err_text, "--against");
	assert_int_equal(run_with(&a, "gate 7 --against */prev"), CLI_EXIT_OK);
	assert_contains(a.request, "*/prev");
	assert_contains(out, "comparisons 2 = 2 passed");
	reply_verdict(&x, 0, "regression", -3, 8);
	assert_int_equal(run_with(&a, "gate 7 --against */prev"), CLI_EXIT_NO);
	reply_verdict(&x, 0, "unknown", -3, 5);
	reply_verdict(&x, 1, "unknown", -3, 5);
	assert_int_equal(run_with(&a, "gate 7 --against */prev"), CLI_EXIT_NODATA);
	assert_contains(err_text, "lacks 6");
	assert_int_equal(run_with(&a, "gate 7 --against x --json --junit -"), CLI_EXIT_USAGE);
	free(a.request);
}

static void test_gate_writes_junit_where_it_is_told(void **state)
{
	struct answer a = compare_answer();
	char path[] = "/tmp/kgrid-junit-XXXXXX", line[128], bytes[128] = "";
	int fd = mkstemp(path);

	(void)state;
	assert_true(fd >= 0);
	reply_make(&x);
	assert_int_equal(run_with(&a, "gate --against x --junit -"), CLI_EXIT_OK);
	assert_int_equal(strncmp(out, "<?xml ", 6), 0);
	assert_contains(err_text, "comparisons 2");
	(void)snprintf(line, sizeof(line), "gate --against x --junit %s", path);
	assert_int_equal(run_with(&a, line), CLI_EXIT_OK);
	assert_true(read(fd, bytes, sizeof(bytes) - 1) > 0);
	assert_int_equal(strncmp(bytes, "<?xml ", 6), 0);
	assert_int_equal(run_with(&a, "gate --against x --junit /nonexistent/x.xml"),
			 CLI_EXIT_LOCAL);
	assert_contains(err_text, "/nonexistent/x.xml");
	reply_verdict(&x, 0, "regression", -3, 8); /* a no stays a no */
	assert_int_equal(run_with(&a, "gate --against x --junit /nonexistent/x.xml"), CLI_EXIT_NO);
	close(fd);
	(void)unlink(path);
	free(a.request);
}

static void test_regressions_are_0_when_none_is_open(void **state)
{
	Kgrid__V1__Regression item = KGRID__V1__REGRESSION__INIT, *list[] = {&item};
	Kgrid__V1__RegressionsReply r = KGRID__V1__REGRESSIONS_REPLY__INIT;
	struct answer a = {.type = KG_MSG_REGRESSIONS_REPLY, .body = &r.base};
	char note[] = "no block was compared yet", *notes[] = {note};

	(void)state;
	assert_int_equal(run_with(&a, "regressions --machine lab-amd --since 2d"), CLI_EXIT_OK);
	assert_string_equal(out, "");
	assert_contains(err_text, "no regressions: none that is not fixed was found since then on "
				  "'lab-amd'\n");
	assert_int_equal(run_with(&a, "regressions 3"), CLI_EXIT_REFUSED);
	assert_contains(err_text, "no regression 3");
	r.n_notes = 1;
	r.notes = notes;
	assert_int_equal(run_with(&a, "regressions --state open"), CLI_EXIT_OK);
	assert_string_equal(err_text, "kgrid: no block was compared yet\n");
	r.n_notes = 0;
	r.n_regressions = 1;
	r.regressions = list;
	item.has_id = 1;
	item.id = 3;
	item.axis = s("lsm");
	item.from = s("prev");
	item.to = s("full");
	item.state = s("open");
	item.stage = s("confirmed");
	assert_int_equal(run_with(&a, "regressions"), CLI_EXIT_NO);
	assert_contains(out, " 3  lsm prev -> full  open   confirmed ");
	assert_int_equal(run_with(&a, "regressions 3"), CLI_EXIT_NO);
	assert_contains(out, "boundary      lsm prev -> full\n");
	assert_int_equal(run_with(&a, "regressions --csv"), CLI_EXIT_NO);
	assert_contains(out, "id,axis,from,to,state,");
	item.state = s("acknowledged");
	assert_int_equal(run_with(&a, "regressions"), CLI_EXIT_OK);
	assert_int_equal(run_with(&a, "regressions x"), CLI_EXIT_USAGE);
	assert_int_equal(run_with(&a, "regressions --all --state open"), CLI_EXIT_USAGE);
	assert_int_equal(run_with(&a, "regressions --since never"), CLI_EXIT_USAGE);
	free(a.request);
}

static void test_regression_actions_carry_text_and_user(void **state)
{
	Kgrid__V1__Done done = KGRID__V1__DONE__INIT;
	struct answer a = {.type = KG_MSG_DONE, .body = &done.base};

	(void)state;
	assert_int_equal(setenv("USER", "ada", 1), 0);
	assert_int_equal(run_with(&a, "regression comment 3 it is the new hook"), CLI_EXIT_OK);
	assert_int_equal(a.asked, KG_MSG_REGRESSION_ACTION);
	assert_contains(a.request, "comment");
	assert_contains(a.request, "it is the new hook");
	assert_contains(a.request, "ada");
	assert_string_equal(out, "regression 3: comment added\n");
	assert_int_equal(run_with(&a, "regression ack 3"), CLI_EXIT_OK);
	assert_string_equal(out, "regression 3: acknowledged\n");
	done.text = s("job 14 tests it again");
	assert_int_equal(run_with(&a, "regression retest 3"), CLI_EXIT_OK);
	assert_string_equal(out, "job 14 tests it again\n");
	assert_int_equal(run_with(&a, "regression close x"), CLI_EXIT_USAGE);
	assert_int_equal(unsetenv("USER"), 0);
	assert_int_equal(run_with(&a, "regression reopen 3"), CLI_EXIT_OK);
	free(a.request);
}

static void test_history_is_over_all_jobs_unless_one_is_named(void **state)
{
	Kgrid__V1__HistoryReply r = KGRID__V1__HISTORY_REPLY__INIT;
	struct answer a = {.type = KG_MSG_HISTORY_REPLY, .body = &r.base};
	char note[] = "2 kernels have no version", *notes[] = {note};

	(void)state;
	r.n_notes = 1;
	r.notes = notes;
	assert_int_equal(run_with(&a, "history rate --lsm full --order date"), CLI_EXIT_NODATA);
	assert_contains(err_text, "no history: no valid result fits the selection");
	assert_contains(out, "note: 2 kernels have no version\n");
	assert_contains(a.request, "rate");
	assert_contains(a.request, "date");
	assert_int_equal(run_with(&a, "history rate --metric other"), CLI_EXIT_USAGE);
	assert_int_equal(run_with(&a, "history --csv"), CLI_EXIT_NODATA);
	assert_contains(out, "machine,workload,params,lsm,metric,");
	assert_contains(err_text, note);
	free(a.request);
}

static void test_calibrate_prints_the_plan_and_how_to_stop(void **state)
{
	Kgrid__V1__SubmitReply r = KGRID__V1__SUBMIT_REPLY__INIT;
	Kgrid__V1__Plan plan = KGRID__V1__PLAN__INIT;
	struct answer a = {.type = KG_MSG_SUBMIT_REPLY, .body = &r.base};

	(void)state;
	r.plan = &plan;
	plan.has_cells = plan.has_slots = 1;
	plan.cells = 1;
	plan.slots = 12;
	r.has_job = 1;
	r.job = 9;
	assert_int_equal(run_with(&a, "calibrate lab-amd --every 7d --workload "
				      "netperf:|{test:|UDP_RR}"),
			 CLI_EXIT_OK);
	assert_contains(a.request, "netperf: {test: UDP_RR}");
	assert_contains(out, "plan: 1 cell, 12 slots");
	assert_contains(out, "job 9\nrepeated every 7 d until 'kgrid calibrate lab-amd --stop'\n");
	r.has_job = 0;
	assert_int_equal(run_with(&a, "calibrate lab-amd --dry-run"), CLI_EXIT_OK);
	assert_contains(out, "dry run: nothing was submitted\n");
	r.plan = NULL;
	assert_int_equal(run_with(&a, "calibrate lab-amd --stop"), CLI_EXIT_OK);
	assert_string_equal(out, "no more repeated A/A runs of lab-amd\n");
	assert_int_equal(run_with(&a, "calibrate lab-amd --stop --boots 3"), CLI_EXIT_USAGE);
	assert_int_equal(run_with(&a, "calibrate lab-amd --every often"), CLI_EXIT_USAGE);
	assert_int_equal(run_with(&a, "calibrate lab-amd --every 10ms"), CLI_EXIT_USAGE);
	assert_int_equal(run_with(&a, "calibrate lab-amd --dry-run --wait"), CLI_EXIT_USAGE);
	free(a.request);
}

static void test_noise_without_profiles_says_how_to_get_one(void **state)
{
	Kgrid__V1__NoiseReply r = KGRID__V1__NOISE_REPLY__INIT;
	struct answer a = {.type = KG_MSG_NOISE_REPLY, .body = &r.base};

	(void)state;
	assert_int_equal(run_with(&a, "noise lab-amd"), CLI_EXIT_NODATA);
	assert_contains(err_text, "kgrid calibrate lab-amd");
	assert_int_equal(run_with(&a, "noise --csv"), CLI_EXIT_NODATA);
	assert_contains(out, "machine,workload,params,metric,");
	free(a.request);
}

static void test_diff_is_0_when_equal_and_1_when_not(void **state)
{
	Kgrid__V1__DiffItem item = KGRID__V1__DIFF_ITEM__INIT, *items[] = {&item};
	Kgrid__V1__DiffReply r = KGRID__V1__DIFF_REPLY__INIT;
	struct answer a = {.type = KG_MSG_DIFF_REPLY, .body = &r.base};

	(void)state;
	assert_int_equal(run_with(&a, "diff boot:1 boot:2"), CLI_EXIT_OK);
	assert_contains(a.request, "boot:1");
	assert_contains(out, "no difference\n");
	item.section = s("cpu");
	item.name = s("microcode");
	r.n_items = 1;
	r.items = items;
	assert_int_equal(run_with(&a, "diff 1 2"), CLI_EXIT_NO);
	assert_int_equal(run_with(&a, "diff 1 2 --json"), CLI_EXIT_NO);
	assert_int_equal(run_with(&a, "diff 1 2 --csv"), CLI_EXIT_NO);
	assert_contains(out, "\ncpu,microcode,");
	free(a.request);
}

static void test_epochs_say_why_there_are_none(void **state)
{
	Kgrid__V1__EpochsReply r = KGRID__V1__EPOCHS_REPLY__INIT;
	struct answer a = {.type = KG_MSG_EPOCHS_REPLY, .body = &r.base};

	(void)state;
	assert_int_equal(run_with(&a, "epochs lab-amd"), CLI_EXIT_NODATA);
	assert_contains(err_text, "no epochs: no boot with recorded facts on 'lab-amd' yet");
	free(a.request);
}

static void test_provenance_prints_facts_or_one_document(void **state)
{
	static uint8_t config[] = "CONFIG_HZ=250";
	Kgrid__V1__ProvenanceReply r = KGRID__V1__PROVENANCE_REPLY__INIT;
	struct answer a = {.type = KG_MSG_PROVENANCE_REPLY, .body = &r.base};
	json_t *j;

	(void)state;
	assert_int_equal(run_with(&a, "provenance 12"), CLI_EXIT_NODATA);
	assert_contains(err_text, "no facts were recorded of boot 12");
	assert_int_equal(run_with(&a, "provenance boot:12"), CLI_EXIT_NODATA);
	assert_int_equal(run_with(&a, "provenance x"), CLI_EXIT_USAGE);
	r.has_text = 1;
	r.text.data = config;
	r.text.len = sizeof(config) - 1;
	a.stream = true;
	assert_int_equal(run_with(&a, "provenance 12 --document config"), CLI_EXIT_OK);
	assert_string_equal(out, "CONFIG_HZ=250\n");
	assert_contains(a.request, "config");
	assert_int_equal(run_with(&a, "provenance 12 --document config --json"), CLI_EXIT_OK);
	j = json_loads(out, 0, NULL);
	assert_non_null(j);
	assert_string_equal(json_string_value(json_object_get(j, "text")), "CONFIG_HZ=250");
	json_decref(j);
	a.body = NULL;
	assert_int_equal(run_with(&a, "provenance 12 --document config"), CLI_EXIT_NODATA);
	assert_contains(err_text, "boot 12 has no document 'config'");
	free(a.request);
}

static int free_texts(void **state)
{
	(void)state;
	free(out);
	free(err_text);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_compare_exits_by_what_it_found),
		cmocka_unit_test(test_compare_styles_are_asked_with_values),
		cmocka_unit_test(test_compare_sends_its_selection),
		cmocka_unit_test(test_gate_says_yes_no_or_that_it_does_not_know),
		cmocka_unit_test(test_gate_writes_junit_where_it_is_told),
		cmocka_unit_test(test_regressions_are_0_when_none_is_open),
		cmocka_unit_test(test_regression_actions_carry_text_and_user),
		cmocka_unit_test(test_history_is_over_all_jobs_unless_one_is_named),
		cmocka_unit_test(test_calibrate_prints_the_plan_and_how_to_stop),
		cmocka_unit_test(test_noise_without_profiles_says_how_to_get_one),
		cmocka_unit_test(test_diff_is_0_when_equal_and_1_when_not),
		cmocka_unit_test(test_epochs_say_why_there_are_none),
		cmocka_unit_test(test_provenance_prints_facts_or_one_document),
	};

	return cmocka_run_group_tests(tests, NULL, free_texts);
}
