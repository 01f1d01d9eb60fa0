/* SPDX-License-Identifier: BSD-3-Clause */
/* What the cache says of a flow is what was put there last, whatever collides. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <rte_ip.h>
#include <rte_mbuf.h>
#include <rte_tcp.h>

#include "filter/plain_cache.h"
#include "lcore/lcore.h"
#include "port/iface.h"

#include "test_eal.h"

enum { BURST = 64, FLOWS = 30, IFACES = 2, ROUNDS = 3000 };

static struct rte_mempool *pool;
static struct rte_mbuf *packets[BURST];

static int setup(void **state)
{
	(void)state;
	pool = rte_pktmbuf_pool_create("flows", 127, 0, 0, RTE_MBUF_DEFAULT_BUF_SIZE,
				       SOCKET_ID_ANY);
	return pool == NULL ? -1 : rte_pktmbuf_alloc_bulk(pool, packets, BURST);
}

static int teardown(void **state)
{
	(void)state;
	rte_pktmbuf_free_bulk(packets, BURST);
	rte_mempool_free(pool);
	return 0;
}

/* A plain packet of a flow; tcp_flags 0: UDP. */
static void fill(struct rte_mbuf *m, unsigned flow, uint8_t tcp_flags, uint16_t port)
{
	uint8_t *frame = rte_pktmbuf_mtod(m, uint8_t *);
	struct rte_ether_hdr *ether = (struct rte_ether_hdr *)frame;
	struct rte_ipv4_hdr *ip = (struct rte_ipv4_hdr *)(ether + 1);
	struct rte_tcp_hdr *tcp = (struct rte_tcp_hdr *)(ip + 1);

	memset(frame, 0, 64);
	ether->ether_type = RTE_BE16(RTE_ETHER_TYPE_IPV4);
	ip->version_ihl = RTE_IPV4_VHL_DEF;
	ip->total_length = RTE_BE16(40);
	ip->next_proto_id = tcp_flags == 0 ? 17 : 6;
	ip->src_addr = rte_cpu_to_be_32(0x0a000000 + flow / 7);
	ip->dst_addr = rte_cpu_to_be_32(0x0a010000 + flow % 7);
	tcp->src_port = rte_cpu_to_be_16((uint16_t)(flow / 3));
	tcp->dst_port = rte_cpu_to_be_16((uint16_t)(flow % 3));
	tcp->tcp_flags = tcp_flags;
	m->data_len = 60;
	m->pkt_len = 60;
	m->port = port;
	*mr_hook_word(m) = 0;
}

static uint64_t get(struct plain_cache *cache, uint64_t generation, uint8_t flags_mask,
		    unsigned count, struct plain_lookup *lookup)
{
	plain_cache_get(cache, generation, flags_mask, packets, UINT64_MAX >> (64 - count), lookup);
	return lookup->known;
}

/* Random flows, more than there is room for. The rule of a flow is a number of its own in each
 * generation, so that whatever is another's shows. */
static void what_is_known_is_what_was_put(void **state)
{
	struct plain_cache *cache = plain_cache_create(PLAIN_CACHE_MIN, SOCKET_ID_ANY);
	unsigned known = 0, recalled = 0;
	uint64_t generation = 1;

	(void)state;
	assert_non_null(cache);
	srandom(1);
	for (unsigned round = 0; round < ROUNDS; round++) {
		unsigned count = 1 + (unsigned)random() % BURST, flow[BURST];
		uint16_t out = random() % 8 == 0;
		struct plain_lookup lookup;

		generation += random() % 50 == 0;
		memset(&cache->worth, 0, sizeof(cache->worth));
		for (unsigned i = 0; i < count; i++) {
			flow[i] = (unsigned)random() % FLOWS;
			fill(packets[i], flow[i], 0, 0);
		}
		get(cache, generation, 0, count, &lookup);
		assert_int_equal(lookup.known & lookup.missed, 0);
		assert_int_equal(lookup.known | lookup.missed, UINT64_MAX >> (64 - count));
		for (unsigned i = 0; i < count; i++) {
			uint32_t rule = (uint32_t)(generation * FLOWS + flow[i]);

			if (lookup.known >> i & 1)
				assert_int_equal(lookup.rule[i], rule);
			else
				plain_cache_put(cache, &lookup, packets[i], i, rule);
			known += lookup.known >> i & 1;
		}
		/* At output, where some of them have lost their places meanwhile. */
		plain_cache_recall(cache, packets, UINT64_MAX >> (64 - count), out, &lookup);
		for (unsigned i = 0; i < count; i++) {
			uint32_t rule = (uint32_t)((generation * FLOWS + flow[i]) * IFACES + out);

			if (lookup.known >> i & 1)
				assert_int_equal(lookup.rule[i], rule);
			else if (lookup.missed >> i & 1)
				plain_cache_put_output(cache, packets[i], out, rule);
			recalled += lookup.known >> i & 1;
		}
	}
	assert_true(known > ROUNDS);
	assert_true(recalled > ROUNDS);
	plain_cache_free(cache);
}

static void flows_are_told_apart_by_all_that_rules_may_look_at(void **state)
{
	struct plain_cache *cache = plain_cache_create(64, SOCKET_ID_ANY);
	struct plain_lookup lookup;

	(void)state;
	fill(packets[0], 1, RTE_TCP_SYN_FLAG, 0);
	assert_int_equal(get(cache, 1, 0xff, 1, &lookup), 0);
	plain_cache_put(cache, &lookup, packets[0], 0, 5);
	fill(packets[1], 1, RTE_TCP_ACK_FLAG, 0);                    /* other flags */
	fill(packets[2], 1, RTE_TCP_SYN_FLAG, 1);                    /* another port */
	fill(packets[3], 1, 0, 0);                                   /* another protocol */
	fill(packets[4], 2, RTE_TCP_SYN_FLAG, 0);                    /* another flow */
	fill(packets[5], 1, RTE_TCP_SYN_FLAG | RTE_TCP_PSH_FLAG, 0); /* one flag more */
	assert_int_equal(get(cache, 1, 0xff, 6, &lookup), 1);
	assert_int_equal(lookup.rule[0], 5);
	/* Where rules do not look at flags, neither does the cache. */
	assert_int_equal(get(cache, 2, 0, 1, &lookup), 0);
	plain_cache_put(cache, &lookup, packets[0], 0, 6);
	assert_int_equal(get(cache, 2, 0, 6, &lookup), 0x23);
	plain_cache_free(cache);
}

static void what_is_not_plain_is_neither_known_nor_missed(void **state)
{
	struct plain_cache *cache = plain_cache_create(64, SOCKET_ID_ANY);
	struct plain_lookup lookup;
	uint8_t *frame;

	(void)state;
	for (unsigned i = 0; i < 6; i++)
		fill(packets[i], 1, 0, 0);
	get(cache, 1, 0, 1, &lookup);
	plain_cache_put(cache, &lookup, packets[0], 0, 5);
	frame = rte_pktmbuf_mtod(packets[1], uint8_t *);
	frame[14] = 0x46; /* options */
	frame = rte_pktmbuf_mtod(packets[2], uint8_t *);
	frame[20] = 0x20; /* the first fragment */
	frame = rte_pktmbuf_mtod(packets[3], uint8_t *);
	frame[21] = 1; /* a later one */
	frame = rte_pktmbuf_mtod(packets[4], uint8_t *);
	frame[12] = 0x81;          /* tagged */
	packets[5]->data_len = 53; /* cut short */
	assert_int_equal(get(cache, 1, 0, 6, &lookup), 1);
	assert_int_equal(lookup.missed, 0);
	plain_cache_free(cache);
}

static void words_of_other_rules_mean_nothing(void **state)
{
	struct plain_cache *cache = plain_cache_create(64, SOCKET_ID_ANY);
	struct plain_lookup lookup;

	(void)state;
	fill(packets[0], 1, 0, 0);
	get(cache, 1, 0, 1, &lookup);
	plain_cache_put(cache, &lookup, packets[0], 0, 5);
	plain_cache_put_output(cache, packets[0], 2, 7);
	plain_cache_recall(cache, packets, 1, 2, &lookup);
	assert_int_equal(lookup.known, 1);
	assert_int_equal(lookup.rule[0], 7);
	plain_cache_recall(cache, packets, 1, 1, &lookup);
	assert_int_equal(lookup.known, 0);
	assert_int_equal(lookup.missed, 1);
	fill(packets[1], 2, 0, 0);
	plain_cache_get(cache, 2, 0, packets, 2, &lookup);
	plain_cache_recall(cache, packets, 3, 2, &lookup);
	assert_int_equal(lookup.known | lookup.missed, 0);
	plain_cache_free(cache);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_known_is_what_was_put),
		cmocka_unit_test(flows_are_told_apart_by_all_that_rules_may_look_at),
		cmocka_unit_test(what_is_not_plain_is_neither_known_nor_missed),
		cmocka_unit_test(words_of_other_rules_mean_nothing),
	};

	test_eal_start("0");
	return cmocka_run_group_tests(tests, setup, teardown);
}
