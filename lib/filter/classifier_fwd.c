/* SPDX-License-Identifier: BSD-3-Clause */
#include "filter/classifier_fwd.h"

static uint32_t first_match(const struct mr_classifier *c, const struct mr_filter_key *key,
			    uint32_t start)
{
	for (uint32_t i = 0; i < c->matches; i++)
		if (c->all.match[i].rule >= start && filter_match(&c->all, &c->all.match[i], key))
			return c->all.match[i].rule;
	return c->count;
}

void mr_classify(const struct mr_classifier *c, struct mr_verdict_cache *cache,
		 const struct mr_filter_key *key, const uint32_t *start, unsigned count,
		 uint32_t *rule)
{
	(void)cache;
	for (unsigned i = 0; i < count; i++)
		rule[i] = first_match(c, &key[i], start == NULL ? 0 : start[i]);
}
