/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <math.h>

#include "cli/json.h"
#include "proto/messages.h"
#include "tests/lib/cmocka_all.h"

static char *text_of(const ProtobufCMessage *m)
{
	json_t *j = json_of_message(m);
	char *s = json_dumps(j, JSON_COMPACT);

	json_decref(j);
	assert_non_null(s);
	return s;
}

static void test_absent_is_null_and_empty_lists_are_there(void **state)
{
	Kgrid__V1__JobReply r = KGRID__V1__JOB_REPLY__INIT;
	char *s = text_of(&r.base);

	(void)state;
	assert_string_equal(
		s, "{\"job\":null,\"text\":null,\"slots\":[],\"warnings\":[],\"files\":[]}");
	free(s);
}

static void test_every_kind_of_field_is_converted(void **state)
{
	Kgrid__V1__OutcomeCount c = KGRID__V1__OUTCOME_COUNT__INIT, *counts[1] = {&c};
	Kgrid__V1__CompareCell m = KGRID__V1__COMPARE_CELL__INIT;
	char *s;

	(void)state;
	c.outcome = (char[]){"fail"};
	c.has_count = 1;
	c.count = 2;
	m.has_boots = m.has_value = m.has_delta_pct = m.has_present = 1;
	m.boots = 5;
	m.value = 1.5;
	m.delta_pct = NAN;
	m.present = 1;
	m.n_excluded = 1;
	m.excluded = counts;
	s = text_of(&m.base);
	assert_contains(s, "\"boots\":5,\"value\":1.5,\"delta_pct\":null,\"delta_lo_pct\":null");
	assert_contains(s, "\"excluded\":[{\"outcome\":\"fail\",\"count\":2}]");
	assert_contains(s, "\"present\":true,\"pending\":null");
	free(s);
}

static void test_number_over_int64_is_a_string(void **state)
{
	Kgrid__V1__Plan p = KGRID__V1__PLAN__INIT;
	char *s;

	(void)state;
	p.has_seed = p.has_slots = 1;
	p.seed = UINT64_MAX;
	p.slots = INT64_MAX;
	s = text_of(&p.base);
	assert_contains(s, "\"seed\":\"18446744073709551615\"");
	assert_contains(s, "\"slots\":9223372036854775807");
	free(s);
}

static void test_bytes_become_text_whatever_they_are(void **state)
{
	Kgrid__V1__LogsReply r = KGRID__V1__LOGS_REPLY__INIT;
	char *s;

	(void)state;
	r.has_data = 1;
	r.data.data = (uint8_t *)(char[]){"a\xff\xc3\xa9\n\xe6\x9d"};
	r.data.len = 7;
	s = text_of(&r.base);
	assert_contains(s, "\"data\":\"a\xef\xbf\xbd\xc3\xa9\\n\xef\xbf\xbd\xef\xbf\xbd\"");
	free(s);
}

static void test_csv_quotes_what_it_must(void **state)
{
	struct kg_str s = {0};

	(void)state;
	csv_text(&s, "plain text");
	kg_str_add(&s, "|");
	csv_text(&s, "a,\"b\"\n");
	assert_string_equal(kg_str_text(&s), "plain text|\"a,\"\"b\"\"\n\"");
	kg_str_deinit(&s);
}

static void test_csv_doubles_read_back_exactly(void **state)
{
	static const double values[] = {0, 0.1, 1.0 / 3, 4521.1, 1e300, -2.5e-17};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
		struct kg_str s = {0};

		csv_double(&s, values[i]);
		assert_true(strtod(kg_str_text(&s), NULL) == values[i]);
		kg_str_deinit(&s);
	}
	{
		struct kg_str s = {0};

		csv_double(&s, 0.1);
		csv_double(&s, NAN);
		assert_string_equal(kg_str_text(&s), "0.1");
		kg_str_deinit(&s);
	}
}

static void test_csv_rows_match_their_names(void **state)
{
	Kgrid__V1__JobSummary j = KGRID__V1__JOB_SUMMARY__INIT;
	Kgrid__V1__JobSummary *rows[1] = {&j};
	Kgrid__V1__Accounting a = KGRID__V1__ACCOUNTING__INIT;
	struct kg_str s = {0};

	(void)state;
	j.has_id = 1;
	j.id = 7;
	j.name = (char[]){"a,b"};
	csv_messages(&s, &kgrid__v1__job_summary__descriptor, 1, (ProtobufCMessage *const *)rows);
	a.has_slots = 1;
	a.slots = 3;
	j.accounting = &a;
	csv_row(&s, &j.base);
	assert_string_equal(kg_str_text(&s),
			    "id,name,state,priority,submitted_ns,ended_ns,accounting_slots,"
			    "accounting_pending,why,user,paused,after,standing,stops\n"
			    "7,\"a,b\",,,,,,,,,,,,\n"
			    "7,\"a,b\",,,,,3,,,,,,,\n");
	kg_str_deinit(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_absent_is_null_and_empty_lists_are_there),
		cmocka_unit_test(test_every_kind_of_field_is_converted),
		cmocka_unit_test(test_number_over_int64_is_a_string),
		cmocka_unit_test(test_bytes_become_text_whatever_they_are),
		cmocka_unit_test(test_csv_quotes_what_it_must),
		cmocka_unit_test(test_csv_doubles_read_back_exactly),
		cmocka_unit_test(test_csv_rows_match_their_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
