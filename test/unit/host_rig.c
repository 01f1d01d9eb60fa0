/* SPDX-License-Identifier: BSD-3-Clause */
#include "host_rig.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <rte_ether.h>

#include "base/rcu.h"
#include "lcore/lcores.h"
#include "packet/checksum.h"
#include "port/port.h"
#include "route/neighbour.h"
#include "route/router.h"

struct rig rig;

/* --- the rooms around --- */

static struct mr_adjacency adjacency[16];

static void set_adjacency(unsigned index, enum mr_adjacency_kind kind, uint16_t iface, uint32_t mac)
{
	struct mr_adjacency *a = &adjacency[index];

	*a = (struct mr_adjacency){
		.kind = kind, .iface = iface, .mtu = rig.mtu[iface], .next_hop = index};
	if (kind == MR_ADJ_FORWARD) {
		uint8_t header[14] = {0x02, 0xaa, mac >> 24, mac >> 16, mac >> 8, mac,  0x02,
				      0,    0,    0,         0,         iface,    0x08, 0};

		memcpy(a->header, header, sizeof(header));
	}
}

static void make_adjacencies(void)
{
	set_adjacency(0, MR_ADJ_NO_ROUTE, 0, 0);
	set_adjacency(1, MR_ADJ_LOCAL, 0, 0);
	set_adjacency(2, MR_ADJ_BROADCAST, 0, 0);
	set_adjacency(3, MR_ADJ_CONNECTED, 0, 0);
	set_adjacency(4, MR_ADJ_CONNECTED, 1, 0);
	set_adjacency(5, MR_ADJ_MULTICAST, 0, 0);
	set_adjacency(6, MR_ADJ_FORWARD, 0, RIG_IP(10, 0, 0, 2));
	set_adjacency(7, MR_ADJ_FORWARD, 0, RIG_IP(10, 0, 0, 3));
	set_adjacency(8, MR_ADJ_FORWARD, 1, RIG_IP(10, 0, 1, 9));
	set_adjacency(RIG_NEXT_HOP_9, MR_ADJ_FORWARD, 1, RIG_IP(10, 0, 1, 2));
	set_adjacency(10, MR_ADJ_RESOLVE, 1, 0);
	set_adjacency(11, MR_ADJ_UNREACHABLE, 1, 0);
	set_adjacency(12, MR_ADJ_FORWARD, 2, RIG_IP(10, 9, 9, 9));
}

static unsigned lookup(uint32_t ip)
{
	static const struct {
		uint32_t prefix;
		uint8_t length, adjacency;
	} table[] = {
		{RIG_IP(10, 0, 0, 1), 32, 1},    {RIG_IP(10, 0, 1, 1), 32, 1},
		{RIG_IP(10, 0, 0, 0), 32, 2},    {RIG_IP(10, 0, 0, 255), 32, 2},
		{RIG_IP(10, 0, 1, 0), 32, 2},    {RIG_IP(10, 0, 1, 255), 32, 2},
		{RIG_IP(10, 0, 0, 2), 32, 6},    {RIG_IP(10, 0, 0, 3), 32, 7},
		{RIG_IP(10, 0, 1, 9), 32, 8},    {RIG_IP(10, 0, 1, 2), 32, 9},
		{RIG_IP(10, 0, 0, 0), 24, 3},    {RIG_IP(10, 0, 1, 0), 24, 4},
		{RIG_IP(203, 0, 113, 0), 24, 9}, {RIG_IP(198, 51, 100, 0), 24, 10},
		{RIG_IP(192, 0, 2, 0), 24, 11},  {RIG_IP(100, 64, 0, 0), 24, 12},
		{RIG_IP(224, 0, 0, 0), 4, 5},
	};

	for (unsigned i = 0; i < RTE_DIM(table); i++)
		if ((ip ^ table[i].prefix) >> (32 - table[i].length) == 0)
			return table[i].adjacency;
	return 0;
}

const struct mr_adjacency *mr_router_lookup(struct mr *mr, const struct mr_addr *destination,
					    uint32_t flow_hash)
{
	(void)mr;
	(void)flow_hash;
	return &adjacency[lookup(mr_addr_ipv4(destination))];
}

const struct mr_adjacency *mr_router_adjacency(struct mr *mr, uint32_t next_hop)
{
	(void)mr;
	return &adjacency[next_hop < RTE_DIM(adjacency) ? next_hop : 0];
}

bool mr_router_is_local(struct mr *mr, const struct mr_addr *addr, uint16_t *iface)
{
	uint32_t ip = mr_addr_ipv4(addr);

	(void)mr;
	if (iface != NULL)
		*iface = ip >> 8 & 0xff;
	return ip == RIG_IP(10, 0, 0, 1) || ip == RIG_IP(10, 0, 1, 1);
}

int mr_router_source(struct mr *mr, uint16_t iface, const struct mr_addr *peer,
		     struct mr_addr *source)
{
	(void)mr;
	(void)peer;
	*source = mr_addr_from_ipv4(RIG_IP(10, 0, iface, 1));
	return iface < 2 ? 0 : -ENOENT;
}

int mr_router_address(struct mr *mr, uint16_t iface, unsigned number, struct mr_prefix *address)
{
	(void)mr;
	address->addr = mr_addr_from_ipv4(RIG_IP(10, 0, iface, 1));
	address->length = 24;
	return iface < 2 && number == 0 ? 0 : -ENOENT;
}

int mr_router_connected(struct mr *mr, uint16_t iface, const struct mr_addr *addr,
			struct mr_prefix *prefix)
{
	return mr_router_address(mr, iface, 0, prefix) == 0 && mr_prefix_contains(prefix, addr)
		       ? 0
		       : -ENOENT;
}

static mr_too_big_fn *too_big;

void mr_neighbour_set_handlers(struct mr *mr, mr_solicit_fn *solicit,
			       mr_unreachable_fn *unreachable, mr_too_big_fn *too_big_fn)
{
	(void)mr;
	rig.solicit = solicit;
	rig.unreachable = unreachable;
	too_big = too_big_fn;
}

void mr_neighbour_seen(struct mr *mr, uint16_t iface, const struct mr_addr *addr,
		       const struct rte_ether_addr *mac, bool may_create)
{
	(void)mr;
	rig.seen[rig.seen_count++ % RTE_DIM(rig.seen)] =
		(struct rig_seen){iface, mr_addr_ipv4(addr), *mac, may_create};
}

void mr_neighbour_hold(struct mr *mr, struct rte_mbuf *packet)
{
	(void)mr;
	assert_true(rig.held_count < RIG_MAX);
	rig.held[rig.held_count++] = packet;
}

struct rte_mempool *mr_ports_host_pool(struct mr *mr)
{
	(void)mr;
	return rig.pool;
}

void mr_inject(struct mr *mr, uint16_t iface, struct rte_mbuf *frame)
{
	(void)mr;
	assert_true(rig.sent_count < RIG_MAX);
	*mr_punt_of(frame) = (struct mr_punt){.iface = iface};
	rig.sent[rig.sent_count++] = frame;
}

void mr_control_drop(struct mr *mr, uint16_t port, enum mr_drop_reason reason, struct rte_mbuf *m)
{
	assert_true(port <= MR_PORT_NONE && reason < MR_DROP_COUNT);
	mr_count(&mr->lcores->control->drop[port][reason], 1);
	rte_pktmbuf_free(m);
}

void mr_lcores_add_held(struct mr *mr, uint64_t (*held)(struct mr *mr))
{
	(void)mr;
	assert_ptr_equal(held, mr_host_held);
}

/* --- the rig --- */

static void publish_ifaces(void)
{
	for (uint16_t i = 0; i < 3; i++) {
		struct mr_iface iface = {
			.mac = 0x02 | (uint64_t)i << 40,
			.index = i,
			.port = i,
			.mtu = 1500,
			.max_frame = 1514,
			.mode = MR_MODE_ROUTE,
			.link_up = true,
		};

		assert_int_equal(mr_iface_publish(&rig.mr, &iface), 0);
	}
}

int rig_setup(void **state)
{
	struct rte_mempool *pool = rig.pool;

	(void)state;
	memset(&rig, 0, sizeof(rig));
	rig.pool = pool != NULL ? pool
				: rte_pktmbuf_pool_create("host", 8191, 0, 0,
							  RTE_MBUF_DEFAULT_BUF_SIZE, 0);
	assert_non_null(rig.pool);
	rig.mtu[0] = rig.mtu[1] = rig.mtu[2] = 1500;
	make_adjacencies();
	rig.mr.rcu = mr_rcu_create(1);
	rig.mr.ifaces = mr_ifaces_create();
	rig.mr.lcores = calloc(1, sizeof(*rig.mr.lcores));
	assert_non_null(rig.mr.lcores);
	rig.mr.lcores->control = calloc(1, sizeof(*rig.mr.lcores->control));
	assert_non_null(rig.mr.lcores->control);
	publish_ifaces();
	assert_int_equal(mr_host_create(&rig.mr, NULL), 0);
	assert_ptr_equal(too_big, mr_host_input);
	return 0;
}

static uint64_t forgotten;

static uint64_t dropped(void)
{
	uint64_t sum = 0;

	for (unsigned i = 0; i < MR_DROP_COUNT; i++)
		sum += rig_drops((enum mr_drop_reason)i);
	return sum;
}

void rig_check(void)
{
	const struct mr_counters *c = rig.mr.lcores->control;
	uint64_t held = rig.held_count + rig.sent_count + mr_host_held(&rig.mr);

	assert_int_equal(rig.received + c->originated + c->copied,
			 c->consumed + dropped() + forgotten + held);
	assert_int_equal(rte_mempool_in_use_count(rig.pool), held);
}

void rig_forget(void)
{
	forgotten += rig.sent_count + rig.held_count;
	rte_pktmbuf_free_bulk(rig.sent, rig.sent_count);
	rte_pktmbuf_free_bulk(rig.held, rig.held_count);
	rig.sent_count = rig.held_count = rig.seen_count = 0;
}

int rig_teardown(void **state)
{
	(void)state;
	rig_check();
	rig_forget();
	mr_host_destroy(&rig.mr);
	assert_int_equal(rte_mempool_in_use_count(rig.pool), 0);
	forgotten = 0;
	free(rig.mr.lcores->control);
	free(rig.mr.lcores);
	mr_ifaces_destroy(rig.mr.ifaces);
	mr_rcu_destroy(rig.mr.rcu);
	return 0;
}

/* A frame's bytes are in memory of exactly their size, so that ASan sees each step beyond it. */
struct exact_buffer {
	struct rte_mbuf_ext_shared_info shared;
	void *data;
};

static void free_exact_buffer(void *data, void *opaque)
{
	struct exact_buffer *buffer = opaque;

	(void)data;
	free(buffer->data);
	free(buffer);
}

void rig_input(const void *frame, unsigned size, uint16_t iface, uint16_t kind, uint32_t next_hop)
{
	struct rte_mbuf *m = rte_pktmbuf_alloc(rig.pool);
	struct exact_buffer *buffer = malloc(sizeof(*buffer));

	assert_non_null(m);
	assert_non_null(buffer);
	buffer->data = malloc(size);
	memcpy(buffer->data, frame, size);
	buffer->shared.free_cb = free_exact_buffer;
	buffer->shared.fcb_opaque = buffer;
	rte_mbuf_ext_refcnt_set(&buffer->shared, 1);
	rte_pktmbuf_attach_extbuf(m, buffer->data, RTE_BAD_IOVA, (uint16_t)size, &buffer->shared);
	m->data_len = (uint16_t)size;
	m->pkt_len = size;
	*mr_punt_of(m) = (struct mr_punt){.iface = iface, .kind = kind, .next_hop = next_hop};
	rig.received++;
	mr_host_input(&rig.mr, m);
}

void rig_advance(uint64_t ms)
{
	rig.now_ms += ms;
	mr_host_poll(&rig.mr, rig.now_ms);
}

void rig_set_mtu(uint16_t iface, uint16_t mtu)
{
	rig.mtu[iface] = mtu;
	make_adjacencies();
}

uint64_t rig_drops(enum mr_drop_reason reason)
{
	uint64_t sum = 0;

	for (unsigned port = 0; port <= MR_PORT_NONE; port++)
		sum += rig.mr.lcores->control->drop[port][reason];
	return sum;
}

uint64_t rig_consumed(void)
{
	return rig.mr.lcores->control->consumed;
}

const uint8_t *rig_sent_frame(unsigned number)
{
	assert_true(number < rig.sent_count);
	assert_int_equal(rig.sent[number]->nb_segs, 1);
	assert_true(rte_pktmbuf_data_len(rig.sent[number]) >= 60);
	return rte_pktmbuf_mtod(rig.sent[number], const uint8_t *);
}

uint16_t rig_sent_iface(unsigned number)
{
	return mr_punt_of(rig.sent[number])->iface;
}

const struct rte_ipv4_hdr *rig_sent_ip(unsigned number)
{
	const uint8_t *frame = rig_sent_frame(number);
	const struct rte_ipv4_hdr *ip = (const struct rte_ipv4_hdr *)(frame + 14);
	unsigned total = rte_be_to_cpu_16(ip->total_length);
	unsigned size = rte_pktmbuf_data_len(rig.sent[number]);

	assert_int_equal(frame[12] << 8 | frame[13], RTE_ETHER_TYPE_IPV4);
	assert_int_equal(ip->version_ihl >> 4, 4);
	assert_int_equal(size, RTE_MAX(14 + total, 60u));
	for (unsigned i = 14 + total; i < size; i++)
		assert_int_equal(frame[i], 0);
	assert_true(mr_checksum_ok(ip, mr_ipv4_header_size(ip)));
	return ip;
}

unsigned rig_make(uint8_t *frame, const struct rig_packet *p)
{
	static const uint8_t to[6] = {2, 0, 0, 0, 0, 0}, from[6] = {2, 0xaa, 10, 0, 0, 2};
	struct rte_ipv4_hdr *ip = (struct rte_ipv4_hdr *)(frame + 14);
	unsigned header = sizeof(*ip) + p->options_size;

	memcpy(frame, p->frame_to != NULL ? p->frame_to : to, 6);
	memcpy(frame + 6, from, 6);
	frame[12] = 0x08;
	frame[13] = 0x00;
	*ip = (struct rte_ipv4_hdr){
		.version_ihl = (uint8_t)(0x40 | header / 4),
		.type_of_service = p->tos,
		.total_length = rte_cpu_to_be_16((uint16_t)(header + p->size)),
		.packet_id = rte_cpu_to_be_16(p->id),
		.fragment_offset = rte_cpu_to_be_16(p->offset),
		.time_to_live = p->ttl,
		.next_proto_id = p->protocol,
		.src_addr = rte_cpu_to_be_32(p->from),
		.dst_addr = rte_cpu_to_be_32(p->to),
	};
	memcpy(ip + 1, p->options, p->options_size);
	if (p->size > 0)
		memcpy((uint8_t *)ip + header, p->payload, p->size);
	mr_ipv4_set_checksum(ip);
	return 14 + header + p->size;
}

unsigned rig_make_icmp(uint8_t *message, uint8_t type, uint8_t code, unsigned size)
{
	uint16_t checksum;

	memset(message, 0, 8);
	message[0] = type;
	message[1] = code;
	message[4] = 0x12;
	message[5] = 0x34;
	message[7] = 7;
	for (unsigned i = 0; i < size; i++)
		message[8 + i] = (uint8_t)(i * 7 + i / 256);
	checksum = mr_checksum(message, 8 + size);
	memcpy(message + 2, &checksum, sizeof(checksum));
	return 8 + size;
}
