/* SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "telemetry/tel_convert.h"

#define ROOM 16000

/* Fits JSON given as text and compares with what it should become. */
static void check(const char *answer, const char *expected)
{
	json_t *in = json_loads(answer, JSON_DECODE_ANY, NULL);
	json_t *out, *want = json_loads(expected, JSON_DECODE_ANY, NULL);

	assert_non_null(in);
	assert_non_null(want);
	out = mr_tel_fit(in, MR_TEL_PAGE_WHOLE, ROOM);
	if (!json_equal(out, want))
		fail_msg("%s became %s, not %s", answer, json_dumps(out, JSON_ENCODE_ANY),
			 expected);
	json_decref(in);
	json_decref(out);
	json_decref(want);
}

static void what_telemetry_carries_stays(void **state)
{
	(void)state;
	check("{\"a\": 1, \"b\": \"x\", \"c\": [1, 2], \"d\": {\"e\": {\"f\": 3}}}",
	      "{\"a\": 1, \"b\": \"x\", \"c\": [1, 2], \"d\": {\"e\": {\"f\": 3}}}");
	check("[9223372036854775807, 0]", "[9223372036854775807, 0]");
	check("[-1, 2]", "[-1, 2]");
	check("[]", "[]");
	check("\"text\"", "\"text\"");
}

static void other_values_become_what_it_carries(void **state)
{
	(void)state;
	check("{\"a\": true, \"b\": false, \"c\": null, \"d\": 1.5}",
	      "{\"a\": 1, \"b\": 0, \"c\": \"\", \"d\": \"1.5\"}");
	check("{\"a\": -2147483648, \"b\": -2147483649}",
	      "{\"a\": -2147483648, \"b\": \"-2147483649\"}");
	check("[1, \"x\", true]", "[\"1\", \"x\", \"1\"]");
	check("[-1, 4294967296]", "[\"-1\", \"4294967296\"]");
}

static void arrays_of_containers_become_dictionaries_by_position(void **state)
{
	(void)state;
	check("{\"a\": [{\"b\": 1}, {\"b\": 2}]}",
	      "{\"a\": {\"0\": {\"b\": 1}, \"1\": {\"b\": 2}}}");
	check("[{\"a\": 1}, {\"a\": 2}]", "{\"0\": {\"a\": 1}, \"1\": {\"a\": 2}}");
	check("[1, {\"b\": 2}]", "{\"0\": 1, \"1\": {\"b\": 2}}");
}

static void keys_keep_to_the_allowed_characters(void **state)
{
	(void)state;
	check("{\"10.0.0.0/8\": 1, \"02:00-x\": 2, \"\\u00e9\": 3}",
	      "{\"10_0_0_0/8\": 1, \"02_00_x\": 2, \"__\": 3}");
}

static void long_strings_end_at_the_limit(void **state)
{
	char text[300], answer[320], expected[320];
	(void)state;

	memset(text, 'x', sizeof(text));
	snprintf(answer, sizeof(answer), "{\"a\": \"%.200s\"}", text);
	snprintf(expected, sizeof(expected), "{\"a\": \"%.127s\"}", text);
	check(answer, expected);
	snprintf(answer, sizeof(answer), "\"%.200s\"", text);
	check(answer, answer);
}

static json_t *rows(size_t count)
{
	json_t *array = json_array();

	for (size_t i = 0; i < count; i++)
		json_array_append_new(
			array, json_pack("{s:i, s:s}", "n", (int)i, "text",
					 "fills some more of the message, so that bytes run out"));
	return array;
}

/* Walks all pages and checks that each entry comes once, at its place. Returns the pages. */
static unsigned walk(const json_t *answer, size_t total,
		     const json_t *(*at)(const json_t *entries, size_t index))
{
	json_int_t next = 0;
	unsigned pages = 0;
	size_t index = 0;

	do {
		json_t *page = mr_tel_fit(answer, (size_t)next, ROOM);
		const json_t *entries = json_object_get(page, "entries");
		size_t count = json_is_object(entries) ? json_object_size(entries)
						       : json_array_size(entries);

		assert_int_equal(json_integer_value(json_object_get(page, "total")), total);
		assert_int_equal(json_integer_value(json_object_get(page, "offset")), next);
		assert_in_range(json_dumpb(page, NULL, 0, JSON_COMPACT), 1, ROOM);
		assert_in_range(count, 1, json_is_object(entries) ? 256 : 512);
		for (size_t i = 0; i < count; i++, index++)
			assert_int_equal(json_integer_value(at(entries, index)), index);
		next = json_integer_value(json_object_get(page, "next"));
		if (next != 0)
			assert_int_equal(next, index);
		pages++;
		json_decref(page);
	} while (next != 0);
	assert_int_equal(index, total);
	return pages;
}

static const json_t *row_at(const json_t *entries, size_t index)
{
	char key[24];

	snprintf(key, sizeof(key), "%zu", index);
	return json_object_get(json_object_get(entries, key), "n");
}

static const json_t *number_at(const json_t *entries, size_t index)
{
	return json_array_get(entries, index % 512);
}

static void what_is_too_large_comes_in_pages(void **state)
{
	json_t *answer = rows(2000), *first;
	(void)state;

	first = mr_tel_fit(answer, MR_TEL_PAGE_WHOLE, ROOM);
	assert_int_equal(json_integer_value(json_object_get(first, "total")), 2000);
	json_decref(first);
	/* Bytes are the limit here. */
	assert_in_range(walk(answer, 2000, row_at), 2000 / 256 + 2, 20);
	json_decref(answer);

	answer = json_array();
	for (int i = 0; i < 1200; i++)
		json_array_append_new(answer, json_integer(i));
	/* The array's limit is. */
	assert_int_equal(walk(answer, 1200, number_at), 3);
	json_decref(answer);
}

static void what_fits_is_paged_only_when_asked(void **state)
{
	json_t *answer = rows(3), *whole = mr_tel_fit(answer, MR_TEL_PAGE_WHOLE, ROOM);
	json_t *past = mr_tel_fit(answer, 3, ROOM);
	(void)state;

	assert_int_equal(json_object_size(whole), 3);
	assert_null(json_object_get(whole, "total"));
	assert_int_equal(walk(answer, 3, row_at), 1);
	/* Beyond the end: no entries, and no next page. */
	assert_int_equal(json_object_size(json_object_get(past, "entries")), 0);
	assert_int_equal(json_integer_value(json_object_get(past, "next")), 0);
	json_decref(past);
	json_decref(whole);
	json_decref(answer);
}

static void an_entry_that_fits_no_page_does_not_stop_the_walk(void **state)
{
	json_t *answer = json_object(), *huge = json_array(), *page;
	(void)state;

	for (int i = 0; i < 512; i++)
		json_array_append_new(huge, json_string("more text than a message has room for"));
	json_object_set_new(answer, "huge", huge);
	json_object_set_new(answer, "last", json_integer(7));
	page = mr_tel_fit(answer, MR_TEL_PAGE_WHOLE, ROOM);
	assert_string_equal(
		json_string_value(json_object_get(json_object_get(page, "entries"), "huge")),
		"too large");
	assert_int_equal(
		json_integer_value(json_object_get(json_object_get(page, "entries"), "last")), 7);
	json_decref(page);
	json_decref(answer);
}

static void the_offset_is_cut_from_the_parameters(void **state)
{
	static const struct {
		const char *params, *rest;
		size_t offset;
	} cases[] = {
		{"", "", MR_TEL_PAGE_WHOLE},
		{"br0", "br0", MR_TEL_PAGE_WHOLE},
		{"offset=7", "", 7},
		{"br0,offset=256", "br0", 256},
		{"br0,2,offset=0", "br0,2", 0},
		{"br0,offset=", "br0,offset=", MR_TEL_PAGE_WHOLE},
		{"br0,offset=-1", "br0,offset=-1", MR_TEL_PAGE_WHOLE},
		{"br0,offset=1x", "br0,offset=1x", MR_TEL_PAGE_WHOLE},
		{"offset=1,br0", "offset=1,br0", MR_TEL_PAGE_WHOLE},
		{"offset=99999999999999999999999", "offset=99999999999999999999999",
		 MR_TEL_PAGE_WHOLE},
	};
	(void)state;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char params[64];

		strcpy(params, cases[i].params);
		assert_int_equal(mr_tel_cut_offset(params), cases[i].offset);
		assert_string_equal(params, cases[i].rest);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_telemetry_carries_stays),
		cmocka_unit_test(other_values_become_what_it_carries),
		cmocka_unit_test(arrays_of_containers_become_dictionaries_by_position),
		cmocka_unit_test(keys_keep_to_the_allowed_characters),
		cmocka_unit_test(long_strings_end_at_the_limit),
		cmocka_unit_test(what_is_too_large_comes_in_pages),
		cmocka_unit_test(what_fits_is_paged_only_when_asked),
		cmocka_unit_test(an_entry_that_fits_no_page_does_not_stop_the_walk),
		cmocka_unit_test(the_offset_is_cut_from_the_parameters),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
