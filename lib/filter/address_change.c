/* SPDX-License-Identifier: BSD-3-Clause */
#include "filter/address_change.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int mr_filter_parse_prefix(const char *text, struct mr_prefix *prefix)
{
	memset(prefix, 0, sizeof(*prefix));
	if (mr_addr_parse(text, &prefix->addr) != 0)
		return mr_prefix_parse(text, prefix);
	prefix->length = prefix->addr.family == AF_INET ? 32 : 128;
	return 0;
}

static bool is_name(const char *name)
{
	static const char allowed[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
				      "0123456789_.-";
	size_t length = strlen(name);

	return length > 0 && length < MR_FILTER_NAME_SIZE && name[0] != '-' &&
	       strspn(name, allowed) == length;
}

static bool same_prefix(const struct mr_prefix *a, const struct mr_prefix *b)
{
	return a->length == b->length && mr_addr_equal(&a->addr, &b->addr);
}

/* Takes a prefix out of a list; false if it is not in it. */
static bool take_out(struct mr_prefix *list, uint32_t *count, const struct mr_prefix *prefix)
{
	struct mr_prefix wanted = mr_prefix_canonical(prefix);

	for (uint32_t i = 0; i < *count; i++) {
		if (!same_prefix(&list[i], &wanted))
			continue;
		list[i] = list[--*count];
		return true;
	}
	return false;
}

static int change(struct mr_prefix *list, uint32_t *total, const char *name,
		  enum mr_filter_change how, const struct mr_prefix *prefixes, uint32_t count,
		  struct mr_error *error)
{
	char text[MR_ADDR_TEXT_SIZE];

	for (uint32_t i = 0; i < count; i++) {
		if (how != MR_FILTER_DELETE)
			list[(*total)++] = prefixes[i];
		else if (!take_out(list, total, &prefixes[i]))
			return mr_fail(error, -ENOENT, "address set %s has no entry %s", name,
				       mr_prefix_format(&prefixes[i], text));
	}
	return 0;
}

int mr_filter_change_addresses(struct mr_filter_set *set, const char *name,
			       enum mr_filter_change how, const struct mr_prefix *prefixes,
			       uint32_t count, struct mr_error *error)
{
	const struct mr_filter_address_set *old = NULL;
	int index = mr_filter_set_find(set, name), rc;
	uint32_t total = 0;

	if (!is_name(name) || index == MR_FILTER_ME || strcmp(name, "any") == 0)
		return mr_fail(error, -EINVAL,
			       "an address set's name is 1 to 31 letters, digits, '_', '.' or '-', "
			       "but not me or any");
	if (index < 0 && how == MR_FILTER_DELETE)
		return mr_fail(error, -ENOENT, "there is no address set %s", name);
	if (index >= 0 && how != MR_FILTER_REPLACE)
		old = set->addresses[index];
	struct mr_prefix *list = calloc((old != NULL ? old->count : 0) + count + 1, sizeof(*list));
	if (list == NULL)
		return mr_fail(error, -ENOMEM, "no memory for address set %s", name);
	if (old != NULL && old->count != 0) {
		memcpy(list, old->prefix, old->count * sizeof(*list));
		total = old->count;
	}
	rc = change(list, &total, name, how, prefixes, count, error);
	if (rc == 0 && total > MR_FILTER_MAX_PREFIXES)
		rc = mr_fail(error, -ENOSPC, "an address set holds at most %u prefixes",
			     MR_FILTER_MAX_PREFIXES);
	if (rc == 0) {
		rc = mr_filter_set_put_addresses(set, name, list, total);
		if (rc == -ENOSPC)
			mr_fail(error, rc, "there are %u address sets already, the most allowed",
				MR_FILTER_MAX_SETS);
		else if (rc != 0)
			mr_fail(error, rc, "no memory for address set %s", name);
	}
	free(list);
	return rc;
}
