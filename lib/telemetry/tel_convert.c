/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DPDK 22.11 carries less than JSON: unsigned 64-bit and signed 32-bit numbers, strings of 127
 * bytes, dictionaries of 256 entries whose keys are letters, digits, '_' and '/', and arrays of 512
 * plain values, but none of dictionaries. What exceeds a message of 16 KB is left out without a
 * word. So the answer is first brought into that form, as JSON, whose size is known; filling cannot
 * fail for its form then.
 *
 *   true, false                         1, 0
 *   null                                ""
 *   real, integer below 32 bits         a string of it
 *   array of mixed plain values         an array of strings
 *   array with arrays or objects in it  a dictionary with the positions as keys
 *   other characters in keys            '_'
 */
#include "telemetry/tel_convert.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_STRING (RTE_TEL_MAX_STRING_LEN - 1)
#define PAGE_BYTES 128 /* of a page's fields beside its entries */

static json_t *shape(const json_t *value, bool top);

static bool is_container(const json_t *value)
{
	return json_is_object(value) || json_is_array(value);
}

static json_t *shape_plain(const json_t *value)
{
	char text[32];

	switch (json_typeof(value)) {
	case JSON_TRUE:
		return json_integer(1);
	case JSON_FALSE:
		return json_integer(0);
	case JSON_NULL:
		return json_string("");
	case JSON_REAL:
		snprintf(text, sizeof(text), "%g", json_real_value(value));
		return json_string(text);
	case JSON_INTEGER:
		if (json_integer_value(value) >= INT_MIN)
			return json_integer(json_integer_value(value));
		snprintf(text, sizeof(text), "%lld", (long long)json_integer_value(value));
		return json_string(text);
	default:
		return json_stringn_nocheck(json_string_value(value),
					    strnlen(json_string_value(value), MAX_STRING));
	}
}

/* Any plain value as a string: what an array of mixed kinds is made of. */
static json_t *shape_text(const json_t *value)
{
	json_t *plain = shape_plain(value);
	char text[32];

	if (!json_is_integer(plain))
		return plain;
	snprintf(text, sizeof(text), "%lld", (long long)json_integer_value(plain));
	json_decref(plain);
	return json_string(text);
}

static void shape_key(char *shaped, const char *key)
{
	size_t i;

	for (i = 0; key[i] != '\0' && i < MAX_STRING; i++)
		shaped[i] = isalnum((unsigned char)key[i]) || key[i] == '_' || key[i] == '/'
				    ? key[i]
				    : '_';
	shaped[i] = '\0';
}

static json_t *shape_object(const json_t *object, bool top)
{
	json_t *shaped = json_object();
	char key[RTE_TEL_MAX_STRING_LEN];
	const char *name;
	json_t *value;

	json_object_foreach ((json_t *)(uintptr_t)object, name, value) {
		/* At the top, pages follow; further inside what is too much is left out. */
		if (!top && json_object_size(shaped) == RTE_TEL_MAX_DICT_ENTRIES)
			break;
		shape_key(key, name);
		json_object_set_new_nocheck(shaped, key, shape(value, false));
	}
	return shaped;
}

/* How an array can be carried. */
enum array_kind { UNSIGNED, SIGNED, TEXTS, POSITIONS };

static enum array_kind kind_of(const json_t *array)
{
	bool containers = false, texts = false, negative = false, large = false;
	size_t i;
	json_t *value;

	json_array_foreach (array, i, value) {
		containers |= is_container(value);
		texts |= !is_container(value) && !json_is_integer(value) && !json_is_boolean(value);
		negative |= json_is_integer(value) && json_integer_value(value) < 0;
		large |= json_is_integer(value) && (json_integer_value(value) > INT_MAX ||
						    json_integer_value(value) < INT_MIN);
	}
	if (containers)
		return POSITIONS;
	if (texts || (negative && large))
		return TEXTS;
	return negative ? SIGNED : UNSIGNED;
}

static json_t *shape_array(const json_t *array, bool top)
{
	enum array_kind kind = kind_of(array);
	json_t *shaped = kind == POSITIONS ? json_object() : json_array();
	char key[24];
	size_t i;
	json_t *value;

	json_array_foreach (array, i, value) {
		if (kind == POSITIONS) {
			if (!top && i == RTE_TEL_MAX_DICT_ENTRIES)
				break;
			snprintf(key, sizeof(key), "%zu", i);
			json_object_set_new(shaped, key, shape(value, false));
			continue;
		}
		if (!top && i == RTE_TEL_MAX_ARRAY_ENTRIES)
			break;
		json_array_append_new(shaped,
				      kind == TEXTS ? shape_text(value) : shape(value, false));
	}
	return shaped;
}

static json_t *shape(const json_t *value, bool top)
{
	if (json_is_object(value))
		return shape_object(value, top);
	if (json_is_array(value))
		return shape_array(value, top);
	return shape_plain(value);
}

static size_t json_size(const json_t *value)
{
	return json_dumpb(value, NULL, 0, JSON_COMPACT | JSON_ENCODE_ANY);
}

static size_t entry_count(const json_t *container)
{
	return json_is_object(container) ? json_object_size(container) : json_array_size(container);
}

static bool fits(const json_t *shaped, size_t max_bytes)
{
	size_t max_entries =
		json_is_object(shaped) ? RTE_TEL_MAX_DICT_ENTRIES : RTE_TEL_MAX_ARRAY_ENTRIES;

	if (!is_container(shaped))
		return true;
	return entry_count(shaped) <= max_entries && json_size(shaped) <= max_bytes;
}

/* Collects a page's entries until one does not fit. */
struct page {
	json_t *entries;
	size_t offset, seen; /* entries of the answer so far */
	size_t bytes_left;
	bool full;
};

static void page_add(struct page *page, const char *key, json_t *value, size_t max_entries)
{
	size_t bytes = json_size(value) + strlen(key) + 4; /* quotes, colon, comma */
	json_t *entry = json_incref(value);

	if (page->full || page->seen++ < page->offset) {
		json_decref(entry);
		return;
	}
	if (bytes > page->bytes_left && entry_count(page->entries) == 0) {
		/* Would never fit: say so instead, so that the next page can go on. */
		json_decref(entry);
		entry = json_string("too large");
		bytes = json_size(entry) + strlen(key) + 4;
	}
	if (bytes > page->bytes_left || entry_count(page->entries) == max_entries) {
		json_decref(entry);
		page->full = true;
		page->seen--;
		return;
	}
	page->bytes_left -= bytes;
	if (json_is_object(page->entries))
		json_object_set_new_nocheck(page->entries, key, entry);
	else
		json_array_append_new(page->entries, entry);
}

static json_t *make_page(json_t *shaped, size_t offset, size_t max_bytes)
{
	bool keyed = json_is_object(shaped);
	struct page page = {.entries = keyed ? json_object() : json_array(),
			    .offset = offset,
			    .bytes_left = max_bytes - PAGE_BYTES};
	const char *key;
	size_t i;
	json_t *value;

	if (keyed) {
		json_object_foreach (shaped, key, value)
			page_add(&page, key, value, RTE_TEL_MAX_DICT_ENTRIES);
	} else {
		json_array_foreach (shaped, i, value)
			page_add(&page, "", value, RTE_TEL_MAX_ARRAY_ENTRIES);
	}
	return json_pack("{s:I, s:I, s:I, s:o}", "total", (json_int_t)entry_count(shaped), "offset",
			 (json_int_t)offset, "next", page.full ? (json_int_t)page.seen : 0,
			 "entries", page.entries);
}

json_t *mr_tel_fit(const json_t *answer, size_t offset, size_t max_bytes)
{
	/* A lone string may be longer than one in a container. */
	json_t *shaped = json_is_string(answer)
				 ? json_stringn_nocheck(json_string_value(answer),
							strnlen(json_string_value(answer),
								RTE_TEL_MAX_SINGLE_STRING_LEN - 1))
				 : shape(answer, true);
	json_t *page;

	if (shaped == NULL || !is_container(shaped) ||
	    (offset == MR_TEL_PAGE_WHOLE && fits(shaped, max_bytes)))
		return shaped;
	page = make_page(shaped, offset == MR_TEL_PAGE_WHOLE ? 0 : offset, max_bytes);
	json_decref(shaped);
	return page;
}

static int fill_array(struct rte_tel_data *data, const json_t *array);
static int fill_object(struct rte_tel_data *data, const json_t *object);

static struct rte_tel_data *new_container(const json_t *value)
{
	struct rte_tel_data *data = rte_tel_data_alloc();

	if (data == NULL)
		return NULL;
	if (json_is_object(value))
		fill_object(data, value);
	else
		fill_array(data, value);
	return data;
}

static int add_entry(struct rte_tel_data *data, const char *key, const json_t *value)
{
	struct rte_tel_data *container;

	if (json_is_string(value))
		return rte_tel_data_add_dict_string(data, key, json_string_value(value));
	if (json_is_integer(value) && json_integer_value(value) < 0)
		return rte_tel_data_add_dict_int(data, key, (int)json_integer_value(value));
	if (json_is_integer(value))
		return mr_tel_dict_add_uint(data, key, (uint64_t)json_integer_value(value));
	container = new_container(value);
	return container != NULL ? rte_tel_data_add_dict_container(data, key, container, 0)
				 : -ENOMEM;
}

static int fill_object(struct rte_tel_data *data, const json_t *object)
{
	const char *key;
	json_t *value;
	int ret = rte_tel_data_start_dict(data);

	json_object_foreach ((json_t *)(uintptr_t)object, key, value) {
		if (ret < 0)
			break;
		ret = add_entry(data, key, value);
	}
	return ret < 0 ? ret : 0;
}

static int add_element(struct rte_tel_data *data, enum array_kind kind, const json_t *value)
{
	switch (kind) {
	case UNSIGNED:
		return mr_tel_array_add_uint(data, (uint64_t)json_integer_value(value));
	case SIGNED:
		return rte_tel_data_add_array_int(data, (int)json_integer_value(value));
	default:
		return rte_tel_data_add_array_string(data, json_string_value(value));
	}
}

static int fill_array(struct rte_tel_data *data, const json_t *array)
{
	static const enum rte_tel_value_type types[] = {[UNSIGNED] = MR_TEL_UINT_VAL,
							[SIGNED] = RTE_TEL_INT_VAL,
							[TEXTS] = RTE_TEL_STRING_VAL};
	enum array_kind kind = kind_of(array);
	size_t i;
	json_t *value;
	int ret = rte_tel_data_start_array(data, types[kind]);

	json_array_foreach (array, i, value) {
		if (ret < 0)
			break;
		ret = add_element(data, kind, value);
	}
	return ret < 0 ? ret : 0;
}

int mr_tel_fill(struct rte_tel_data *data, const json_t *fitted)
{
	char text[24];

	if (json_is_object(fitted))
		return fill_object(data, fitted);
	if (json_is_array(fitted))
		return fill_array(data, fitted);
	if (json_is_string(fitted))
		return rte_tel_data_string(data, json_string_value(fitted));
	snprintf(text, sizeof(text), "%lld", (long long)json_integer_value(fitted));
	return rte_tel_data_string(data, text);
}

size_t mr_tel_cut_offset(char *params)
{
	static const char word[] = "offset=";
	char *comma = strrchr(params, ',');
	char *last = comma != NULL ? comma + 1 : params;
	char *end;
	unsigned long offset;

	if (strncmp(last, word, strlen(word)) != 0 || !isdigit((unsigned char)last[strlen(word)]))
		return MR_TEL_PAGE_WHOLE;
	offset = strtoul(last + strlen(word), &end, 10);
	if (*end != '\0' || offset >= MR_TEL_PAGE_WHOLE)
		return MR_TEL_PAGE_WHOLE;
	*(comma != NULL ? comma : params) = '\0';
	return offset;
}
