/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Loads that other lcores make are acquire loads, and the stores they read release stores, which
 * cost nothing on this machine: each is a plain one, and stays in its order. So the two looks at
 * an entry's version enclose what was read between them.
 */
#include "filter/flow_find_fwd.h"

#include <string.h>

#include "lcore/counters.h"

uint64_t flow_hash(const struct flow_table *table, const struct flow_key *key)
{
	struct flow_words words;

	memcpy(&words, key, sizeof(words));
	return flow_hash_words(table, &words);
}

struct flow_key flow_reverse(const struct flow_key *key)
{
	struct flow_key reverse = *key;

	memcpy(reverse.src, key->dst, sizeof(reverse.src));
	memcpy(reverse.dst, key->src, sizeof(reverse.dst));
	reverse.sport = key->dport;
	reverse.dport = key->sport;
	if (key->echo != FLOW_NO_ECHO)
		reverse.echo = FLOW_ECHO_REQUEST + FLOW_ECHO_REPLY - key->echo;
	return reverse;
}

/* ---- the own table ---- */

uint32_t flow_find(const struct flow_table *table, const struct flow_key *key, uint64_t hash)
{
	struct flow_words words;

	memcpy(&words, key, sizeof(words));
	return flow_find_words(table, &words, hash);
}

uint32_t flow_free_slot(const struct flow_table *table, uint64_t hash)
{
	for (unsigned choice = 0; choice < 2; choice++) {
		uint32_t bucket = flow_bucket(table, hash, choice);
		unsigned found = flow_free_places(&table->tags[bucket]);

		if (found != 0)
			return bucket * FLOW_BUCKET + (uint32_t)__builtin_ctz(found);
	}
	return FLOW_NOWHERE;
}

/* ---- any table ---- */

static bool view_of(const struct flow_entry *entry, uint64_t key[FLOW_KEY_WORDS],
		    struct flow_view *view)
{
	uint32_t version = __atomic_load_n(&entry->version, __ATOMIC_ACQUIRE);
	uint64_t tcp[3];

	for (unsigned i = 0; i < FLOW_KEY_WORDS; i++)
		key[i] = __atomic_load_n(&entry->key[i], __ATOMIC_ACQUIRE);
	view->seen = __atomic_load_n(&entry->seen, __ATOMIC_ACQUIRE);
	view->link = __atomic_load_n(&entry->link, __ATOMIC_ACQUIRE);
	view->id = __atomic_load_n(&entry->id, __ATOMIC_ACQUIRE);
	view->created = __atomic_load_n(&entry->created, __ATOMIC_ACQUIRE);
	view->serial = __atomic_load_n(&entry->serial, __ATOMIC_ACQUIRE);
	for (unsigned i = 0; i < 3; i++)
		tcp[i] = __atomic_load_n(&entry->tcp[i], __ATOMIC_ACQUIRE);
	memcpy(&view->tcp, tcp, sizeof(tcp));
	return (version & 1) == 0 && __atomic_load_n(&entry->version, __ATOMIC_RELAXED) == version;
}

bool flow_view_at(const struct flow_table *table, uint32_t slot, const struct flow_key *key,
		  struct flow_view *view)
{
	uint64_t found[FLOW_KEY_WORDS];

	if (!view_of(&table->entry[slot], found, view) || memcmp(found, key, sizeof(found)) != 0)
		return false;
	view->lcore = table->owner;
	view->slot = slot;
	return true;
}

bool flow_view_any(const struct flow_table *table, uint32_t slot, struct flow_key *key,
		   struct flow_view *view)
{
	const struct flow_tags *tags = &table->tags[slot / FLOW_BUCKET];
	uint64_t found[FLOW_KEY_WORDS];

	if (__atomic_load_n(&tags->tag[slot % FLOW_BUCKET], __ATOMIC_ACQUIRE) == 0 ||
	    !view_of(&table->entry[slot], found, view))
		return false;
	memcpy(key, found, sizeof(found));
	view->lcore = table->owner;
	view->slot = slot;
	return true;
}

/* A copy of a bucket's tags, which may be another lcore's. */
static struct flow_tags copy_tags(const struct flow_table *table, uint32_t bucket)
{
	const uint64_t *from = (const uint64_t *)table->tags[bucket].tag;
	struct flow_tags copy;

	for (unsigned i = 0; i < FLOW_BUCKET / 2; i += 2) {
		__m128i four =
			_mm_set_epi64x((int64_t)__atomic_load_n(&from[i + 1], __ATOMIC_ACQUIRE),
				       (int64_t)__atomic_load_n(&from[i], __ATOMIC_ACQUIRE));

		_mm_store_si128((__m128i *)&copy.tag[2 * i], four);
	}
	return copy;
}

bool flow_view_find(const struct flow_table *table, const struct flow_key *key,
		    struct flow_view *view)
{
	uint64_t hash = flow_hash(table, key);

	for (unsigned choice = 0; choice < 2; choice++) {
		uint32_t bucket = flow_bucket(table, hash, choice);
		const struct flow_tags tags = copy_tags(table, bucket);

		for (unsigned found = flow_places(&tags, flow_tag(hash)); found != 0;
		     found &= found - 1)
			if (flow_view_at(table,
					 bucket * FLOW_BUCKET + (uint32_t)__builtin_ctz(found), key,
					 view))
				return true;
	}
	return false;
}

/* ---- what the owner writes ---- */

struct tcp_half flow_tcp(const struct flow_entry *entry)
{
	struct tcp_half half;
	uint64_t word[3];

	for (unsigned i = 0; i < 3; i++)
		word[i] = __atomic_load_n(&entry->tcp[i], __ATOMIC_RELAXED);
	memcpy(&half, word, sizeof(half));
	return half;
}

void flow_set_tcp(struct flow_entry *entry, const struct tcp_half *half)
{
	uint64_t word[3];

	memcpy(word, half, sizeof(word));
	for (unsigned i = 0; i < 3; i++)
		__atomic_store_n(&entry->tcp[i], word[i], __ATOMIC_RELEASE);
}

struct flow_key flow_key_at(const struct flow_table *table, uint32_t slot)
{
	uint64_t word[FLOW_KEY_WORDS];
	struct flow_key key;

	for (unsigned i = 0; i < FLOW_KEY_WORDS; i++)
		word[i] = __atomic_load_n(&table->entry[slot].key[i], __ATOMIC_RELAXED);
	memcpy(&key, word, sizeof(key));
	return key;
}

static uint32_t tag_at(const struct flow_table *table, uint32_t slot)
{
	return table->tags[slot / FLOW_BUCKET].tag[slot % FLOW_BUCKET];
}

static void set_tag(struct flow_table *table, uint32_t slot, uint32_t tag)
{
	__atomic_store_n(&table->tags[slot / FLOW_BUCKET].tag[slot % FLOW_BUCKET], tag,
			 __ATOMIC_RELEASE);
}

void flow_put(struct flow_table *table, uint32_t slot, const struct flow_key *key, uint64_t hash,
	      const struct flow_view *view)
{
	struct flow_entry *entry = &table->entry[slot];
	uint32_t version = entry->version;
	uint64_t word[FLOW_KEY_WORDS];

	memcpy(word, key, sizeof(word));
	__atomic_store_n(&entry->version, version + 1, __ATOMIC_RELAXED);
	for (unsigned i = 0; i < FLOW_KEY_WORDS; i++)
		__atomic_store_n(&entry->key[i], word[i], __ATOMIC_RELEASE);
	__atomic_store_n(&entry->seen, view->seen, __ATOMIC_RELEASE);
	__atomic_store_n(&entry->link, view->link & ~FLOW_SETTLED, __ATOMIC_RELEASE);
	__atomic_store_n(&entry->id, view->id, __ATOMIC_RELEASE);
	__atomic_store_n(&entry->created, view->created, __ATOMIC_RELEASE);
	__atomic_store_n(&entry->serial, view->serial, __ATOMIC_RELEASE);
	flow_set_tcp(entry, &view->tcp);
	entry->limit = 0;
	entry->program = 0;
	entry->fresh = 0;
	entry->turn = view->seen;
	__atomic_store_n(&entry->version, version + 2, __ATOMIC_RELEASE);
	set_tag(table, slot, flow_tag(hash));
	mr_count(&table->counters.entries, 1);
	flow_set_link(table, slot, view->link);
}

void flow_set_link(struct flow_table *table, uint32_t slot, uint32_t link)
{
	struct flow_entry *entry = &table->entry[slot];
	uint32_t before = entry->link;

	if (link == before)
		return;
	__atomic_store_n(&entry->link, link, __ATOMIC_RELEASE);
	if (((link ^ before) & FLOW_SETTLED) == 0)
		return;
	set_tag(table, slot, tag_at(table, slot) ^ FLOW_TAG_SETTLED);
	mr_count(&table->counters.settled, (uint64_t)(link >> 31) - (uint64_t)(before >> 31));
}

void flow_remove(struct flow_table *table, uint32_t slot)
{
	struct flow_entry *entry = &table->entry[slot];

	flow_set_link(table, slot, 0);
	set_tag(table, slot, 0);
	/* Who still looks here by a link must not find it either. */
	__atomic_store_n(&entry->version, entry->version + 1, __ATOMIC_RELAXED);
	for (unsigned i = 0; i < FLOW_KEY_WORDS; i++)
		__atomic_store_n(&entry->key[i], 0, __ATOMIC_RELEASE);
	__atomic_store_n(&entry->version, entry->version + 1, __ATOMIC_RELEASE);
	mr_count(&table->counters.entries, (uint64_t)-1);
}
