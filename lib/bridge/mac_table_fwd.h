/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MR_BRIDGE_MAC_TABLE_FWD_H
#define MR_BRIDGE_MAC_TABLE_FWD_H

/*
 * The MAC table as forwarding lcores read it: keys, station words and lookups. What changes the
 * table is in mac_table.h and belongs to the control thread.
 *
 * A key is a MAC address and the bridge that it was seen on, so one table serves all bridges. It
 * selects a bucket of one cache line that holds four keys and four station words; a hit there is
 * the whole lookup. Stations that find their bucket full live in extra buckets chained to it, at
 * most MAC_TABLE_CHAIN of them. There are at least as many buckets as the table may hold stations:
 * at full capacity 0.4% of the stations live in extra buckets, and 1.5% once all were replaced at
 * random (test/perf/bench_mac_table measures it, at 1,024 to 1,000,000 stations). Only those, and
 * addresses that are not in the table, cost a lookup more than one line.
 *
 * What a lookup returns stays valid until the lcore's next quiescent state.
 */
#include <assert.h>
#include <stdalign.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <rte_atomic.h>
#include <rte_branch_prediction.h>
#include <rte_byteorder.h>
#include <rte_prefetch.h>

#ifdef __SSE4_2__
#include <nmmintrin.h>
#endif

#define MAC_TABLE_BULK_MAX 64      /* keys of one mac_table_lookup_bulk */
#define MAC_TABLE_BRIDGE_MAX 65534 /* bridge ids are 0..MAC_TABLE_BRIDGE_MAX */
#define MAC_TABLE_CHAIN 4          /* extra buckets of a bucket, at most */
#define MAC_BUCKET_SLOTS 4

/*
 * A station: one aligned word, so that it is always read and written whole.
 *   bits 0-31  when it was last seen, in seconds of the appliance's clock
 *   bits 32-47 the interface behind which it is
 *   bit 63     static: never changed by forwarding lcores, never aged
 * Written by the control thread and, while it is not static, by any forwarding lcore.
 */
struct station {
	uint64_t word;
};

/* Keys are written by the control thread alone; 0 is a free slot. */
struct mac_bucket {
	alignas(64) uint64_t keys[MAC_BUCKET_SLOTS];
	struct station stations[MAC_BUCKET_SLOTS];
};
static_assert(sizeof(struct mac_bucket) == 64, "a bucket is a cache line");

/* Constant after creation, but for what the pointers lead to. */
struct mac_table {
	alignas(64) struct mac_bucket *buckets; /* those that keys select, then the extra ones */
	uint64_t multiplier;                    /* secret, odd */
	uint64_t offset_mask;                   /* of a bucket's byte offset from buckets */
	uint32_t *chain; /* bucket index to the index of the next of its chain, 0: none.
			  * Written by the control thread. */
};
static_assert(sizeof(struct mac_table) == 64, "what lookups read of a table is a cache line");

#define STATION_PORT_SHIFT 32
#define STATION_STATIC (UINT64_C(1) << 63)

static inline uint64_t station_word(uint16_t port, uint32_t seen, bool is_static)
{
	return (is_static ? STATION_STATIC : 0) | (uint64_t)port << STATION_PORT_SHIFT | seen;
}

static inline uint16_t station_port(uint64_t word)
{
	return (uint16_t)(word >> STATION_PORT_SHIFT);
}

static inline uint32_t station_seen(uint64_t word)
{
	return (uint32_t)word;
}

static inline bool station_is_static(uint64_t word)
{
	return (word & STATION_STATIC) != 0;
}

static inline uint64_t station_load(const struct station *station)
{
	return __atomic_load_n(&station->word, __ATOMIC_RELAXED);
}

/*
 * Notes that a frame from station arrived on port in second now. Writes only when the station
 * moved or a second has passed, never a static station. Returns whether it moved.
 *
 * The control thread may age the station or delete it at this very moment: then the word is
 * written to a record that is no longer found, the next frame floods and the station is learned
 * anew. Two lcores that see it on two ports write one after the other; the later one stays.
 */
static inline bool station_refresh(struct station *station, uint16_t port, uint32_t now)
{
	uint64_t word = station_load(station);
	uint64_t fresh = station_word(port, now, false);

	if (likely(word == fresh) || station_is_static(word))
		return false;
	__atomic_store_n(&station->word, fresh, __ATOMIC_RELAXED);
	return station_port(word) != port;
}

/*
 * The key of the MAC address that starts at mac, on bridge (0..MAC_TABLE_BRIDGE_MAX): the address
 * in its 48 high bits, the bridge plus one in the low ones, so that no key is 0. Reads eight bytes:
 * mac must lie within a frame's Ethernet header or before two more bytes. For a lone address use
 * mac_key_of.
 */
static inline uint64_t mac_key(uint16_t bridge, const uint8_t *mac)
{
	uint64_t bytes;

	memcpy(&bytes, mac, sizeof(bytes));
	return (rte_le_to_cpu_64(bytes) << 16) + bridge + 1;
}

/* The key that the address 00:00:00:00:00:00 would have. */
static inline uint64_t mac_key_of_zero(uint16_t bridge)
{
	return (uint64_t)bridge + 1;
}

static inline uint16_t mac_key_bridge(uint64_t key)
{
	return (uint16_t)(key - 1);
}

/* Group addresses are no stations: they are never in the table. */
static inline bool mac_key_is_group(uint64_t key)
{
	return (key & (UINT64_C(1) << 16)) != 0;
}

/*
 * The bucket of a key: its product with a secret multiplier, so that nobody outside can aim at a
 * bucket, then a CRC of the product. Neither would do alone: addresses that collide under one seed
 * of a CRC collide under all, and a product leaves consecutive addresses evenly spaced, which an
 * unlucky multiplier turns into heaps. Together they spread every pattern as random addresses.
 */
static inline struct mac_bucket *mac_table_bucket(const struct mac_table *table, uint64_t key)
{
	unsigned __int128 product = (unsigned __int128)key * table->multiplier;
	uint64_t high = (uint64_t)(product >> 64), low = (uint64_t)product;
#ifdef __SSE4_2__
	uint64_t mixed = _mm_crc32_u64(high, low); /* 32 bits of high count */
#else
	unsigned __int128 again = (unsigned __int128)(high ^ low) * table->multiplier;
	uint64_t mixed = (uint64_t)(again >> 64) ^ (uint64_t)again;
#endif

	return (struct mac_bucket *)((char *)table->buckets + (mixed & table->offset_mask));
}

/*
 * The slots of bucket that hold key, as a mask. The vector loads are not atomic as a whole and need
 * not be: each key is one aligned word of them. The thread sanitizer sees the portable form.
 */
static inline uint64_t mac_bucket_match(const struct mac_bucket *bucket, uint64_t key)
{
#if defined(__SSE4_2__) && !defined(__SANITIZE_THREAD__)
	const __m128i *keys = (const __m128i *)bucket->keys;
	__m128i wanted = _mm_set1_epi64x((long long)key);
	__m128i low = _mm_cmpeq_epi64(_mm_load_si128(keys), wanted);
	__m128i high = _mm_cmpeq_epi64(_mm_load_si128(keys + 1), wanted);

	return (uint32_t)_mm_movemask_ps(_mm_castsi128_ps(_mm_packs_epi32(low, high)));
#else
	uint64_t match = 0;

	for (unsigned i = 0; i < MAC_BUCKET_SLOTS; i++)
		match |= (uint64_t)(__atomic_load_n(&bucket->keys[i], __ATOMIC_ACQUIRE) == key)
			 << i;
	return match;
#endif
}

/* The rest of a lookup that found nothing in the bucket that key selects: the extra buckets. */
__attribute__((noinline, cold, unused)) static struct station *
mac_table_lookup_extra(const struct mac_table *table, const struct mac_bucket *first,
		       const uint64_t *key)
{
	size_t index = (size_t)(first - table->buckets);

	while ((index = __atomic_load_n(&table->chain[index], __ATOMIC_ACQUIRE)) != 0) {
		struct mac_bucket *bucket = &table->buckets[index];
		uint64_t match = mac_bucket_match(bucket, *key);
		if (match != 0)
			return bucket->stations + (unsigned)__builtin_ctzl(match);
	}
	return NULL;
}

/* The key is taken by its address, so that it is loaded right into the vector of the comparison. */
static inline struct station *mac_table_lookup_in(const struct mac_table *table,
						  struct mac_bucket *bucket, const uint64_t *key)
{
	uint64_t match = mac_bucket_match(bucket, *key);

	if (unlikely(match == 0))
		return mac_table_lookup_extra(table, bucket, key);
	return bucket->stations + (unsigned)__builtin_ctzl(match);
}

/* The station of key or NULL. */
static inline struct station *mac_table_lookup(const struct mac_table *table, uint64_t key)
{
	struct station *station = mac_table_lookup_in(table, mac_table_bucket(table, key), &key);

	rte_smp_rmb(); /* keys before words; no instruction on x86 */
	return station;
}

/* The stations of n keys (up to MAC_TABLE_BULK_MAX), NULL for those that are not in the table. */
static inline void mac_table_lookup_bulk(const struct mac_table *table, const uint64_t *keys,
					 unsigned n, struct station **stations)
{
	struct mac_bucket *buckets[MAC_TABLE_BULK_MAX];

#pragma GCC unroll 4
	for (unsigned i = 0; i < n; i++) {
		buckets[i] = mac_table_bucket(table, keys[i]);
		rte_prefetch0(buckets[i]);
	}
	rte_compiler_barrier(); /* keys are read anew in each call */
#pragma GCC unroll 4
	for (unsigned i = 0; i < n; i++)
		stations[i] = mac_table_lookup_in(table, buckets[i], &keys[i]);
	rte_smp_rmb(); /* keys before words; no instruction on x86 */
}

#endif
