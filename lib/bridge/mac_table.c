/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The MAC table's one writer. Two decisions carry it:
 *
 * A station's record never moves while it is published, so lcores may keep and write it until
 * their next quiescent state. So there is no rehashing: the table has its final size from the
 * start, and a full bucket grows a chain of extra buckets from a reserve. The reserve is eight
 * times what random addresses need; a chain that is full refuses the station, which random
 * addresses reach with a probability of 1e-20 a bucket.
 *
 * A slot is published by writing its word, then its key; unpublished by clearing the key; and free
 * only after a grace period. Slots wait in their bucket: `waiting` for the grace period that runs,
 * `unpublished` for the next one, which starts when that ends. Buckets with such slots form a list,
 * so a flush of any size needs no memory. An extra bucket that is empty is unlinked, and waits once
 * more before it returns to the reserve.
 */
#include "bridge/mac_table.h"

#include <errno.h>
#include <sys/random.h>

#include <rte_common.h>
#include <rte_malloc.h>

#define ALL_SLOTS ((1u << MAC_BUCKET_SLOTS) - 1)
#define NONE UINT32_MAX

/* What the control thread knows of a bucket. Slots are masks. */
struct bucket_note {
	uint32_t next;           /* in the list of waiting buckets, or in the reserve */
	uint32_t first;          /* of an extra bucket: the one whose chain it is in */
	uint8_t busy;            /* not free: published, unpublished or waiting */
	uint8_t unpublished : 4; /* since the running grace period began */
	uint8_t waiting : 4;     /* for the end of the running grace period */
	bool linked;             /* an extra bucket that is in a chain */
};

struct mac_table_owner {
	struct mac_table table; /* what lcores see */
	struct mr_rcu *rcu;
	struct bucket_note *notes;
	uint32_t capacity, count, in_extra;
	uint32_t first_extra; /* index of the first extra bucket */
	uint32_t buckets;
	uint32_t reserve, in_reserve; /* list of extra buckets that are free, its length */
	uint32_t waiting;             /* list of buckets with slots that are not free yet */
	uint32_t age_position;
	bool grace_runs, destroyed;
	size_t memory;
	uint32_t bridge_count[MAC_TABLE_BRIDGE_MAX + 1];
};

static struct mac_table_owner *owner_of(const struct mac_table *table)
{
	return (struct mac_table_owner *)(uintptr_t)table;
}

static void free_table(void *arg)
{
	struct mac_table_owner *owner = arg;

	rte_free(owner->table.buckets);
	rte_free(owner->table.chain);
	rte_free(owner->notes);
	rte_free(owner);
}

static void *reserve_memory(struct mac_table_owner *owner, size_t size, int socket)
{
	owner->memory += size;
	return rte_zmalloc_socket("mac_table", size, RTE_CACHE_LINE_SIZE, socket);
}

int mac_table_create(struct mac_table **table, struct mr_rcu *rcu, uint32_t capacity, int socket,
		     struct mr_error *error)
{
	struct mac_table_owner *owner;

	if (capacity == 0 || capacity > MAC_TABLE_CAPACITY_MAX)
		return mr_fail(error, -ERANGE, "MAC table capacity %u: must be 1 to %u", capacity,
			       MAC_TABLE_CAPACITY_MAX);
	owner = rte_zmalloc_socket("mac_table", sizeof(*owner), RTE_CACHE_LINE_SIZE, socket);
	if (owner == NULL)
		return mr_fail(error, -ENOMEM, "no memory for a MAC table");
	owner->memory = sizeof(*owner);
	owner->rcu = rcu;
	owner->capacity = capacity;
	owner->first_extra = rte_align32pow2(capacity);
	owner->buckets = owner->first_extra + capacity / 8 + 16;
	owner->table.buckets =
		reserve_memory(owner, owner->buckets * sizeof(struct mac_bucket), socket);
	owner->table.chain = reserve_memory(owner, owner->buckets * sizeof(uint32_t), socket);
	owner->notes = reserve_memory(owner, owner->buckets * sizeof(struct bucket_note), socket);
	if (owner->table.buckets == NULL || owner->table.chain == NULL || owner->notes == NULL) {
		int code = mr_fail(error, -ENOMEM,
				   "no memory for a MAC table of %u stations: it takes %zu MB",
				   capacity, owner->memory >> 20);
		free_table(owner);
		return code;
	}
	owner->table.offset_mask = (owner->first_extra - 1) * sizeof(struct mac_bucket);
	if (getrandom(&owner->table.multiplier, sizeof(owner->table.multiplier), 0) < 0) {
		int code = mr_fail(error, -errno, "no random number for a MAC table");
		free_table(owner);
		return code;
	}
	owner->table.multiplier |= 1;
	owner->waiting = owner->reserve = NONE;
	for (uint32_t i = owner->buckets; i-- > owner->first_extra;) {
		owner->notes[i].next = owner->reserve;
		owner->reserve = i;
	}
	owner->in_reserve = owner->buckets - owner->first_extra;
	*table = &owner->table;
	return 0;
}

void mac_table_destroy(struct mac_table *table)
{
	if (table == NULL)
		return;
	owner_of(table)->destroyed = true;
	mr_rcu_defer(owner_of(table)->rcu, free_table, owner_of(table));
}

/* Takes an empty extra bucket out of its chain. Its own link stays: lcores may be on it. */
static void unlink_extra(struct mac_table_owner *owner, uint32_t index)
{
	uint32_t before = owner->notes[index].first;

	while (owner->table.chain[before] != index)
		before = owner->table.chain[before];
	__atomic_store_n(&owner->table.chain[before], owner->table.chain[index], __ATOMIC_RELEASE);
	owner->notes[index].linked = false;
}

/* The running grace period is over for all slots that waited for it; the next one begins. */
static void grace_is_over(void *arg)
{
	struct mac_table_owner *owner = arg;
	uint32_t index = owner->waiting;

	owner->waiting = NONE;
	owner->grace_runs = false;
	if (owner->destroyed)
		return;
	while (index != NONE) {
		struct bucket_note *note = &owner->notes[index];
		uint32_t next = note->next;
		note->busy &= ~note->waiting;
		note->waiting = note->unpublished;
		note->unpublished = 0;
		if (note->busy == 0 && index >= owner->first_extra) {
			if (note->linked) {
				unlink_extra(owner, index);
				note->busy = note->waiting = ALL_SLOTS;
			} else {
				note->next = owner->reserve;
				owner->reserve = index;
				owner->in_reserve++;
			}
		}
		if (note->waiting != 0) {
			note->next = owner->waiting;
			owner->waiting = index;
		}
		index = next;
	}
	if (owner->waiting != NONE) {
		owner->grace_runs = true;
		mr_rcu_defer(owner->rcu, grace_is_over, owner);
	}
}

static void unpublish(struct mac_table_owner *owner, uint32_t index, unsigned slot)
{
	struct mac_bucket *bucket = &owner->table.buckets[index];
	struct bucket_note *note = &owner->notes[index];

	owner->count--;
	owner->in_extra -= index >= owner->first_extra;
	owner->bridge_count[mac_key_bridge(bucket->keys[slot])]--;
	__atomic_store_n(&bucket->keys[slot], 0, __ATOMIC_RELEASE);
	if (note->waiting == 0 && note->unpublished == 0) {
		note->next = owner->waiting;
		owner->waiting = index;
	}
	if (owner->grace_runs) {
		note->unpublished |= 1u << slot;
		return;
	}
	note->waiting |= 1u << slot;
	owner->grace_runs = true;
	mr_rcu_defer(owner->rcu, grace_is_over, owner);
}

static void unpublish_station(struct mac_table_owner *owner, const struct station *station)
{
	size_t offset = (size_t)((const char *)station - (const char *)owner->table.buckets);
	uint32_t index = (uint32_t)(offset / sizeof(struct mac_bucket));

	unpublish(owner, index, (unsigned)(station - owner->table.buckets[index].stations));
}

/* Finds a bucket with a free slot for key, the nearest of its chain, or makes the chain longer. */
static uint32_t bucket_with_room(struct mac_table_owner *owner, uint64_t key)
{
	uint32_t *chain = owner->table.chain;
	uint32_t first = (uint32_t)(mac_table_bucket(&owner->table, key) - owner->table.buckets);
	uint32_t last = first, extra, length = 0;

	while (owner->notes[last].busy == ALL_SLOTS && chain[last] != 0) {
		last = chain[last];
		length++;
	}
	if (owner->notes[last].busy != ALL_SLOTS)
		return last;
	if (length == MAC_TABLE_CHAIN || owner->reserve == NONE)
		return NONE;
	extra = owner->reserve;
	owner->reserve = owner->notes[extra].next;
	owner->in_reserve--;
	owner->notes[extra].first = first;
	owner->notes[extra].linked = true;
	chain[extra] = 0;
	__atomic_store_n(&chain[last], extra, __ATOMIC_RELEASE);
	return extra;
}

static int publish(struct mac_table_owner *owner, uint64_t key, uint64_t word)
{
	uint32_t index = bucket_with_room(owner, key);
	struct bucket_note *note;
	struct mac_bucket *bucket;
	unsigned slot;

	if (index == NONE)
		return -ENOSPC;
	note = &owner->notes[index];
	bucket = &owner->table.buckets[index];
	slot = (unsigned)__builtin_ctz(~note->busy);
	note->busy |= 1u << slot;
	__atomic_store_n(&bucket->stations[slot].word, word, __ATOMIC_RELAXED);
	__atomic_store_n(&bucket->keys[slot], key, __ATOMIC_RELEASE);
	owner->count++;
	owner->in_extra += index >= owner->first_extra;
	owner->bridge_count[mac_key_bridge(key)]++;
	return 0;
}

int mac_table_add(struct mac_table *table, uint64_t key, uint16_t port, uint32_t now,
		  bool is_static)
{
	struct mac_table_owner *owner = owner_of(table);
	uint64_t word = station_word(port, now, is_static);
	struct station *station;
	bool was_static;
	int code;

	if ((key & 0xffff) == 0 || key >> 16 == 0 || mac_key_is_group(key))
		return -EINVAL;
	station = mac_table_lookup(table, key);
	if (station == NULL)
		return owner->count < owner->capacity ? publish(owner, key, word) : -ENOSPC;
	was_static = station_is_static(station_load(station));
	if (was_static && !is_static)
		return -EEXIST;
	if (was_static || !is_static) {
		__atomic_store_n(&station->word, word, __ATOMIC_RELAXED);
		return 0;
	}
	/* An lcore that read the dynamic word may be about to write it: it would undo a static one
	 * in the same place. So the static station takes another; for a moment lookups find either.
	 */
	code = publish(owner, key, word);
	if (code == 0)
		unpublish_station(owner, station);
	return code;
}

int mac_table_del(struct mac_table *table, uint64_t key)
{
	struct station *station = mac_table_lookup(table, key);

	if (station == NULL)
		return -ENOENT;
	unpublish_station(owner_of(table), station);
	return 0;
}

int mac_table_find(const struct mac_table *table, uint64_t key, uint64_t *word)
{
	const struct station *station = mac_table_lookup(table, key);

	if (station == NULL)
		return -ENOENT;
	*word = station_load(station);
	return 0;
}

uint32_t mac_table_count(const struct mac_table *table, int bridge)
{
	const struct mac_table_owner *owner = owner_of(table);

	if (bridge == MAC_TABLE_ANY)
		return owner->count;
	return bridge >= 0 && bridge <= MAC_TABLE_BRIDGE_MAX ? owner->bridge_count[bridge] : 0;
}

void mac_table_iterate(const struct mac_table *table, int bridge, int port, uint32_t *position,
		       bool (*visit)(void *arg, uint64_t key, uint64_t word), void *arg)
{
	const struct mac_table_owner *owner = owner_of(table);
	uint32_t end = owner->buckets * MAC_BUCKET_SLOTS;

	for (; *position < end; ++*position) {
		uint32_t index = *position / MAC_BUCKET_SLOTS, slot = *position % MAC_BUCKET_SLOTS;
		const struct mac_bucket *bucket = &table->buckets[index];
		uint64_t key, word;
		if (owner->notes[index].busy == 0) {
			*position |= MAC_BUCKET_SLOTS - 1;
			continue;
		}
		key = bucket->keys[slot];
		if (key == 0 || (bridge != MAC_TABLE_ANY && mac_key_bridge(key) != bridge))
			continue;
		word = station_load(&bucket->stations[slot]);
		if (port != MAC_TABLE_ANY && station_port(word) != port)
			continue;
		if (!visit(arg, key, word))
			return;
	}
	*position = UINT32_MAX;
}

uint32_t mac_table_flush(struct mac_table *table, int bridge, int port, bool with_static)
{
	struct mac_table_owner *owner = owner_of(table);
	uint32_t before = owner->count;

	for (uint32_t index = 0; index < owner->buckets; index++) {
		struct mac_bucket *bucket = &table->buckets[index];
		if (owner->notes[index].busy == 0)
			continue;
		for (unsigned slot = 0; slot < MAC_BUCKET_SLOTS; slot++) {
			uint64_t key = bucket->keys[slot];
			uint64_t word = station_load(&bucket->stations[slot]);
			if (key != 0 &&
			    (bridge == MAC_TABLE_ANY || mac_key_bridge(key) == bridge) &&
			    (port == MAC_TABLE_ANY || station_port(word) == port) &&
			    (with_static || !station_is_static(word)))
				unpublish(owner, index, slot);
		}
	}
	return before - owner->count;
}

static bool is_aged(uint64_t word, uint32_t ageing, uint32_t now)
{
	uint32_t age = now - station_seen(word);

	/* An lcore's clock may be a second ahead: such an age is not huge but negative. */
	return !station_is_static(word) && ageing != 0 && (int32_t)age > 0 && age > ageing;
}

uint32_t mac_table_age(struct mac_table *table, uint32_t (*ageing)(void *arg, uint16_t bridge),
		       void *arg, uint32_t now, uint32_t max_buckets)
{
	struct mac_table_owner *owner = owner_of(table);
	uint32_t before = owner->count;

	for (uint32_t n = RTE_MIN(max_buckets, owner->buckets); n > 0; n--) {
		uint32_t index = owner->age_position;
		struct mac_bucket *bucket = &table->buckets[index];
		owner->age_position = index + 1 < owner->buckets ? index + 1 : 0;
		if (owner->notes[index].busy == 0)
			continue;
		for (unsigned slot = 0; slot < MAC_BUCKET_SLOTS; slot++) {
			uint64_t key = bucket->keys[slot];
			if (key != 0 && is_aged(station_load(&bucket->stations[slot]),
						ageing(arg, mac_key_bridge(key)), now))
				unpublish(owner, index, slot);
		}
	}
	return before - owner->count;
}

size_t mac_table_memory(const struct mac_table *table)
{
	return owner_of(table)->memory;
}

void mac_table_stats(const struct mac_table *table, struct mac_table_stats *stats)
{
	const struct mac_table_owner *owner = owner_of(table);

	*stats = (struct mac_table_stats){
		.capacity = owner->capacity,
		.stations = owner->count,
		.in_extra = owner->in_extra,
		.buckets = owner->buckets,
		.extra_buckets = owner->buckets - owner->first_extra - owner->in_reserve,
		.memory = owner->memory,
	};
}

uint64_t mac_key_of(uint16_t bridge, const struct rte_ether_addr *mac)
{
	uint8_t bytes[sizeof(uint64_t)] = {0};

	memcpy(bytes, mac, sizeof(*mac));
	return mac_key(bridge, bytes);
}

struct rte_ether_addr mac_key_addr(uint64_t key)
{
	uint64_t bytes = rte_cpu_to_le_64(key >> 16);
	struct rte_ether_addr mac;

	memcpy(&mac, &bytes, sizeof(mac));
	return mac;
}
