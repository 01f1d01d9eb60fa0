/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tables that change under traffic: a forwarding lcore on a thread of its own, while this thread
 * is sender, receiver and control thread in turn and adds and deletes 100,000 routes or stations,
 * or a port hundreds of times. Nothing may be lost, and each frame must take a way that was right
 * when it was sent or is right when it is received.
 */
#include <stdio.h>
#include <string.h>

#include <rte_eth_ring.h>

#include "control/appliance.h"
#include "lcore/lcores.h"
#include "test_eal.h"
#include "wire.h"

#define CHANGING 100000 /* prefixes or stations */
#define CHANGES_A_ROUND 64
#define BURST 16

static uint8_t there[CHANGING]; /* the entry is in the table */
static uint64_t flooded;

static int create(void **state)
{
	return wire_create(state, 2 * CHANGING);
}

/* What a frame says of itself, behind the UDP header: which entry it is for, whether that was in
 * the table when it was sent. */
struct mark {
	uint32_t magic, entry;
	uint8_t there;
} __attribute__((packed));

#define MAGIC 0x6d696c6c
#define MARK_AT (14 + 20 + 8)

static void send_frame(struct wire *w, struct frame *frame, uint32_t entry)
{
	struct mark mark = {.magic = MAGIC, .entry = entry, .there = there[entry]};

	memcpy(frame->bytes + MARK_AT, &mark, sizeof(mark));
	wire_send(w, 0, frame);
}

/* Takes what left; check says whether a port was right for it. */
static void receive(struct wire *w, void (*check)(struct wire *w, unsigned port, struct mark mark))
{
	struct rte_mbuf *m;
	struct mark mark;

	for (unsigned port = 0; port < WIRE_PORTS; port++) {
		while (rte_ring_sc_dequeue(w->tx[port], (void **)&m) == 0) {
			memcpy(&mark, rte_pktmbuf_mtod_offset(m, void *, MARK_AT), sizeof(mark));
			if (m->data_len > MARK_AT + sizeof(mark) && mark.magic == MAGIC)
				check(w, port, mark);
			rte_pktmbuf_free(m);
		}
	}
}

static void wait_for_all(struct wire *w,
			 void (*check)(struct wire *w, unsigned port, struct mark mark))
{
	uint64_t end = wire_now_ms() + 20000;

	while (w->received < w->sent && wire_now_ms() < end) {
		mr_appliance_poll(w->mr, wire_now_ms());
		receive(w, check);
	}
	assert_int_equal(w->received, w->sent);
}

static void balanced(struct wire *w)
{
	struct mr_balance b = mr_lcores_balance(w->mr);

	assert_int_equal(b.dropped, 0);
	assert_int_equal(b.received + b.originated + b.copied, b.transmitted + b.consumed + b.held);
}

/* Every entry is added, in one order, and deleted, in another, with traffic to any of them. */
static void churn(struct wire *w, void (*change)(struct wire *w, uint32_t entry, bool add),
		  struct frame (*frame)(uint32_t entry),
		  void (*check)(struct wire *w, unsigned port, struct mark mark))
{
	uint32_t random = 1;

	for (unsigned step = 0; step < 2 * CHANGING; step += CHANGES_A_ROUND) {
		for (unsigned i = step; i < step + CHANGES_A_ROUND && i < 2 * CHANGING; i++) {
			bool add = i < CHANGING;
			/* 7919 is prime to CHANGING, so each entry has its turn. */
			uint32_t entry = add ? i : (uint32_t)((uint64_t)i * 7919 % CHANGING);

			change(w, entry, add);
			there[entry] = add;
		}
		for (unsigned i = 0; i < BURST; i++) {
			random = random * 1664525 + 1013904223;
			/* Half of the frames are for what changes just now. */
			uint32_t entry =
				i % 2 == 0 ? (random >> 8) % CHANGING
					   : (step + (random >> 8) % CHANGES_A_ROUND) % CHANGING;
			struct frame f = frame(entry);

			send_frame(w, &f, entry);
		}
		mr_appliance_poll(w->mr, wire_now_ms());
		receive(w, check);
		while (w->sent - w->received > 512) /* never more than the rings hold */
			receive(w, check);
	}
	wait_for_all(w, check);
	for (unsigned entry = 0; entry < CHANGING; entry++)
		assert_int_equal(there[entry], 0);
}

static void change_route(struct wire *w, uint32_t entry, bool add)
{
	wire_command(w, "route %s 20.%u.%u.%u/25%s", add ? "add" : "del", entry >> 9,
		     entry >> 1 & 255, (entry & 1) * 128, add ? " via 10.0.2.2" : "");
}

static struct frame routed_frame(uint32_t entry)
{
	char to[32];

	snprintf(to, sizeof(to), "20.%u.%u.%u", entry >> 9, entry >> 1 & 255,
		 (entry & 1) * 128 + 5);
	return IPV4(.to = "02:00:00:00:00:00", .from = "02:00:00:00:09:00", .src = "10.0.0.2",
		    .dst = to, .payload = 40);
}

/* Port 2 is the way by the entry, port 1 the way by the covering route. */
static void check_route(struct wire *w, unsigned port, struct mark mark)
{
	bool by_entry = mark.there || there[mark.entry],
	     by_cover = !mark.there || !there[mark.entry];

	w->received++;
	assert_true((port == 2 && by_entry) || (port == 1 && by_cover));
}

static void routes_change_under_traffic(void **state)
{
	struct wire *w = *state;

	wire_command(w, "address add 10.0.0.1/24 port 0");
	wire_command(w, "address add 10.0.1.1/24 port 1");
	wire_command(w, "address add 10.0.2.1/24 port 2");
	wire_command(w, "neighbour add 10.0.1.2 mac 02:00:00:00:09:01 port 1");
	wire_command(w, "neighbour add 10.0.2.2 mac 02:00:00:00:09:02 port 2");
	wire_command(w, "route add 20.0.0.0/8 via 10.0.1.2");
	churn(w, change_route, routed_frame, check_route);
	balanced(w);
	wire_command(w, "route del 20.0.0.0/8");
	wire_command(w, "neighbour del 10.0.1.2");
	wire_command(w, "neighbour del 10.0.2.2");
	for (unsigned port = 0; port < WIRE_PORTS; port++)
		wire_command(w, "address del 10.0.%u.1/24 port %u", port, port);
}

static void change_station(struct wire *w, uint32_t entry, bool add)
{
	wire_command(w, "station %s br0 02:cc:00:%02x:%02x:%02x port 2", add ? "add" : "del",
		     entry >> 16, entry >> 8 & 255, entry & 255);
}

static struct frame bridged_frame(uint32_t entry)
{
	char to[32];

	snprintf(to, sizeof(to), "02:cc:00:%02x:%02x:%02x", entry >> 16, entry >> 8 & 255,
		 entry & 255);
	return IPV4(.to = to, .from = "02:00:00:00:09:00", .src = "10.0.0.2", .dst = "10.0.0.3",
		    .payload = 40);
}

/* The station is behind port 2; a frame that is flooded goes to port 1 as well. */
static void check_station(struct wire *w, unsigned port, struct mark mark)
{
	if (port == 2) {
		w->received++;
		return;
	}
	assert_int_equal(port, 1);
	assert_true(!mark.there || !there[mark.entry]);
	flooded++;
}

static void stations_change_under_traffic(void **state)
{
	struct wire *w = *state;

	wire_command(w, "bridge add br0");
	for (unsigned port = 0; port < WIRE_PORTS; port++)
		wire_command(w, "bridge member add br0 port %u", port);
	churn(w, change_station, bridged_frame, check_station);
	assert_true(flooded > 0);
	balanced(w);
	wire_command(w, "bridge del br0");
}

static struct frame plain_frame(void)
{
	return IPV4(.to = "02:cc:00:00:00:01", .from = "02:00:00:00:09:00", .src = "10.0.0.2",
		    .dst = "10.0.0.3", .payload = 40);
}

static void check_pair(struct wire *w, unsigned port, struct mark mark)
{
	(void)mark;
	assert_int_equal(port, 1);
	w->received++;
}

#define COMINGS 300

/* A fourth port comes, is bridged and goes, again and again, and its own traffic, which is not
 * marked, with it. */
static void ports_come_and_go_under_traffic(void **state)
{
	struct wire *w = *state;
	struct rte_ring *ring = rte_ring_create("come", 1024, SOCKET_ID_ANY, 0);
	struct rte_ring *sink = rte_ring_create("go", 1024, SOCKET_ID_ANY, 0);
	struct frame frame = plain_frame(), unmarked = plain_frame();
	unsigned buffers;
	uint64_t end;

	wire_command(w, "bridge add br0");
	wire_command(w, "bridge member add br0 port 0");
	wire_command(w, "bridge member add br0 port 1");
	wire_command(w, "station add br0 02:cc:00:00:00:01 port 1");
	for (unsigned round = 0; round < COMINGS; round++) {
		struct rte_mbuf *m;
		uint16_t id = (uint16_t)rte_eth_from_rings("come", &ring, 1, &sink, 1, 0);

		for (unsigned i = 0; i < BURST; i++)
			send_frame(w, &frame, 0);
		wire_command(w, "port add net_ring_come");
		wire_command(w, "bridge member add br0 port %u", id);
		for (unsigned i = 0; i < BURST; i++)
			send_frame(w, &frame, 0);
		for (unsigned i = 0; i < BURST; i++) {
			m = rte_pktmbuf_alloc(mr_port(w->mr, id)->pool);
			memcpy(rte_pktmbuf_append(m, (uint16_t)unmarked.length), unmarked.bytes,
			       unmarked.length);
			assert_int_equal(rte_ring_enqueue(ring, m), 0);
		}
		mr_appliance_poll(w->mr, wire_now_ms());
		wire_command(w, "port remove %u", id);
		assert_int_equal(rte_ring_count(ring), 0);
		/* Until the buffers of its pool are back, out of port 1's ring. */
		end = wire_now_ms() + 20000;
		while (mr_ports_retired_pools(w->mr, &buffers) != 0 && wire_now_ms() < end) {
			receive(w, check_pair);
			mr_appliance_poll(w->mr, wire_now_ms());
		}
		assert_int_equal(mr_ports_retired_pools(w->mr, &buffers), 0);
	}
	wait_for_all(w, check_pair);
	struct mr_balance b = mr_lcores_balance(w->mr);
	assert_int_equal(b.received + b.originated + b.copied,
			 b.transmitted + b.consumed + b.dropped + b.held);
	wire_command(w, "bridge del br0");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(routes_change_under_traffic),
		cmocka_unit_test(stations_change_under_traffic),
		cmocka_unit_test(ports_come_and_go_under_traffic),
	};

	test_eal_start("0@(0-1),1@(0-1)");
	return cmocka_run_group_tests(tests, create, wire_destroy);
}
