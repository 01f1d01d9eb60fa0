/* SPDX-License-Identifier: BSD-3-Clause */
#include "route_fixture.h"

#include <errno.h>

#include <rte_ip.h>
#include <rte_malloc.h>
#include <rte_random.h>

#include "test_eal.h"

static struct rte_mempool *pool;

/* What the router asked of room host since the last look. */
static unsigned broadcasts, unicasts, unreachable, too_big;

static void on_solicit(struct mr *mr, uint16_t iface, const struct mr_addr *addr,
		       const struct rte_ether_addr *mac)
{
	assert_true(mr_iface(mr, iface)->link_up);
	assert_int_equal(addr->family, AF_INET);
	if (mac == NULL)
		broadcasts++;
	else
		unicasts++;
}

static void on_unreachable(struct mr *mr, uint16_t iface, struct rte_mbuf *packet)
{
	unreachable++;
	mr_control_drop(mr, iface, MR_DROP_neighbour_unreachable, packet);
}

static void on_too_big(struct mr *mr, struct rte_mbuf *packet)
{
	assert_int_equal(mr_punt_of(packet)->kind, MR_PUNT_TOO_BIG);
	assert_int_equal(mr_router_adjacency(mr, mr_punt_of(packet)->next_hop)->kind,
			 MR_ADJ_FORWARD);
	too_big++;
	mr_control_drop(mr, mr_punt_of(packet)->iface, MR_DROP_fragmentation_needed, packet);
}

static int start(void **state)
{
	struct mr *mr = router_start();

	broadcasts = unicasts = unreachable = too_big = 0;
	mr_neighbour_set_handlers(mr, on_solicit, on_unreachable, on_too_big);
	mr_neighbour_poll(mr, 1000);
	done(mr, "address add 10.0.0.1/24 port 0");
	done(mr, "address add 10.0.1.1/24 port 1");
	*state = mr;
	return 0;
}

/* Takes what was sent; NULL when nothing was. */
static struct rte_mbuf *sent(struct mr *mr)
{
	void *m;

	return rte_ring_sc_dequeue(mr->lcores->lcore[0]->inject, &m) == 0 ? m : NULL;
}

static int stop(void **state)
{
	struct mr *mr = *state;
	struct rte_mbuf *m;

	while ((m = sent(mr)) != NULL)
		rte_pktmbuf_free(m);
	router_stop(mr);
	assert_int_equal(rte_mempool_in_use_count(pool), 0);
	return 0;
}

/* A packet as an lcore punts it: from port 3, TTL 64, number in the IP id, with a trailer. */
static struct rte_mbuf *packet_to(const char *destination, uint16_t total_length, uint16_t number)
{
	struct rte_mbuf *m = rte_pktmbuf_alloc(pool);
	struct rte_ipv4_hdr *header;
	uint8_t *frame;

	assert_non_null(m);
	frame = (uint8_t *)rte_pktmbuf_append(m, 14 + total_length + 18);
	memset(frame, 0xaa, 14u + total_length + 18u);
	header = (struct rte_ipv4_hdr *)(frame + 14);
	*header = (struct rte_ipv4_hdr){.version_ihl = 0x45,
					.total_length = rte_cpu_to_be_16(total_length),
					.packet_id = rte_cpu_to_be_16(number),
					.time_to_live = 64,
					.next_proto_id = 17,
					.src_addr = rte_cpu_to_be_32(ip("10.3.0.9")),
					.dst_addr = rte_cpu_to_be_32(ip(destination))};
	header->hdr_checksum = rte_ipv4_cksum(header);
	*mr_punt_of(m) = (struct mr_punt){.iface = 3, .kind = MR_PUNT_RESOLVE};
	return m;
}

static struct rte_ipv4_hdr *header_of(struct rte_mbuf *m)
{
	return rte_pktmbuf_mtod_offset(m, struct rte_ipv4_hdr *, 14);
}

/* Polls once a second until ms have passed, as the control thread does more often. */
static void pass(struct mr *mr, uint64_t *now, uint64_t ms)
{
	for (uint64_t end = *now + ms; *now < end;) {
		*now += 500;
		mr_neighbour_poll(mr, *now);
	}
}

static const char *state_of(struct mr *mr, const char *address)
{
	static char text[32];
	json_t *all = show(mr, "show neighbour");

	snprintf(text, sizeof(text), "none");
	for (unsigned i = 0; i < json_array_size(all); i++) {
		json_t *n = json_array_get(all, i);

		if (strcmp(json_string_value(json_object_get(n, "address")), address) == 0)
			snprintf(text, sizeof(text), "%s",
				 json_string_value(json_object_get(n, "state")));
	}
	json_decref(all);
	return text;
}

static uint64_t dropped(struct mr *mr, enum mr_drop_reason reason)
{
	uint64_t sum = 0;

	for (unsigned port = 0; port <= MR_PORT_NONE; port++)
		sum += mr->lcores->control->drop[port][reason];
	return sum;
}

static void held_packets_leave_routed_and_in_order(void **state)
{
	struct mr *mr = *state;
	static const uint8_t expected[14] = {2, 0, 0, 0, 0, 0x11, 2, 0, 0, 0, 0, 1, 8, 0};

	for (uint16_t i = 0; i < 3; i++)
		mr_neighbour_hold(mr, packet_to("10.0.0.2", 28, i));
	assert_int_equal(broadcasts, 1);
	assert_int_equal(mr_neighbour_held(mr), 3);
	assert_string_equal(state_of(mr, "10.0.0.2"), "incomplete");
	assert_null(sent(mr));
	seen(mr, 0, "10.0.0.2", "02:00:00:00:00:11", false);
	for (uint16_t i = 0; i < 3; i++) {
		struct rte_mbuf *m = sent(mr);

		assert_non_null(m);
		assert_int_equal(mr_punt_of(m)->iface, 0);
		/* Padded with zeros to the minimum, the trailer is gone. */
		assert_int_equal(m->pkt_len, 60);
		for (unsigned at = 14 + 28; at < 60; at++)
			assert_int_equal(rte_pktmbuf_mtod(m, uint8_t *)[at], 0);
		assert_memory_equal(rte_pktmbuf_mtod(m, void *), expected, 14);
		assert_int_equal(rte_be_to_cpu_16(header_of(m)->packet_id), i);
		assert_int_equal(header_of(m)->time_to_live, 63);
		assert_int_equal(rte_raw_cksum(header_of(m), 20), 0xffff);
		rte_pktmbuf_free(m);
	}
	assert_int_equal(mr_neighbour_held(mr), 0);
	assert_int_equal(kind(mr, "10.0.0.2"), MR_ADJ_FORWARD);
	assert_memory_equal(lookup(mr, "10.0.0.2")->header, expected, 14);
	mr_neighbour_hold(mr, packet_to("10.0.0.2", 28, 3)); /* was punted just before */
	struct rte_mbuf *late = sent(mr);
	assert_non_null(late);
	rte_pktmbuf_free(late);
}

static void own_packets_keep_their_header(void **state)
{
	struct mr *mr = *state;
	struct rte_mbuf *m = packet_to("10.0.0.2", 28, 0);

	mr_punt_of(m)->kind = MR_PUNT_ORIGINATED;
	mr_neighbour_hold(mr, m);
	seen(mr, 0, "10.0.0.2", "02:00:00:00:00:11", false);
	assert_ptr_equal(sent(mr), m);
	assert_int_equal(header_of(m)->time_to_live, 64);
	assert_int_equal(*rte_pktmbuf_mtod(m, uint8_t *), 2);
	rte_pktmbuf_free(m);
}

static void too_big_ones_go_to_the_host(void **state)
{
	struct mr *mr = *state;

	change_iface(mr, 0, true, 600);
	mr_neighbour_hold(mr, packet_to("10.0.0.2", 601, 0));
	mr_neighbour_hold(mr, packet_to("10.0.0.2", 600, 1));
	seen(mr, 0, "10.0.0.2", "02:00:00:00:00:11", false);
	assert_int_equal(too_big, 1);
	struct rte_mbuf *m = sent(mr);
	assert_int_equal(rte_be_to_cpu_16(header_of(m)->packet_id), 1);
	rte_pktmbuf_free(m);
}

static void queues_are_bounded_and_the_oldest_gives_way(void **state)
{
	struct mr *mr = *state;
	struct rte_mbuf *m;
	char text[32];

	for (uint16_t i = 0; i < 20; i++)
		mr_neighbour_hold(mr, packet_to("10.0.0.2", 28, i));
	assert_int_equal(mr_neighbour_held(mr), 16);
	assert_int_equal(dropped(mr, MR_DROP_neighbour_queue_full), 4);
	seen(mr, 0, "10.0.0.2", "02:00:00:00:00:11", false);
	m = sent(mr);
	assert_int_equal(rte_be_to_cpu_16(header_of(m)->packet_id), 4);
	rte_pktmbuf_free(m);
	/* All together: a hundred neighbours with 16 packets each. */
	for (unsigned i = 0; i < 1600; i++) {
		snprintf(text, sizeof(text), "10.0.1.%u", 2 + i / 16);
		mr_neighbour_hold(mr, packet_to(text, 28, 0));
	}
	assert_int_equal(mr_neighbour_held(mr), 1024);
	assert_int_equal(dropped(mr, MR_DROP_neighbour_queue_full), 4 + 1600 - 1024);
}

static void a_silent_host_fails_and_is_asked_for_again(void **state)
{
	struct mr *mr = *state;
	uint64_t now = 1000;

	mr_neighbour_hold(mr, packet_to("10.0.0.2", 28, 0));
	pass(mr, &now, 2500);
	assert_int_equal(broadcasts, 3);
	assert_int_equal(unreachable, 0);
	pass(mr, &now, 500);
	assert_int_equal(broadcasts, 3);
	assert_int_equal(unreachable, 1);
	assert_string_equal(state_of(mr, "10.0.0.2"), "failed");
	mr_neighbour_hold(mr, packet_to("10.0.0.2", 28, 0));
	assert_int_equal(unreachable, 2);
	assert_int_equal(broadcasts, 3);
	pass(mr, &now, 5000);
	assert_string_equal(state_of(mr, "10.0.0.2"), "none");
	mr_neighbour_hold(mr, packet_to("10.0.0.2", 28, 0));
	assert_int_equal(broadcasts, 4);
	assert_int_equal(mr_neighbour_held(mr), 1);
}

static void a_known_host_is_verified_and_forgotten_when_silent(void **state)
{
	struct mr *mr = *state;
	uint64_t now = 1000;

	seen(mr, 0, "10.0.0.2", "02:00:00:00:00:11", true);
	pass(mr, &now, 29000);
	assert_int_equal(unicasts, 0);
	while (unicasts == 0 && now < 100000)
		pass(mr, &now, 500);
	assert_true(now <= 92000);
	assert_int_equal(kind(mr, "10.0.0.2"), MR_ADJ_FORWARD);
	assert_string_equal(state_of(mr, "10.0.0.2"), "probe");
	seen(mr, 0, "10.0.0.2", "02:00:00:00:00:12", false); /* answers, with another MAC */
	assert_int_equal(lookup(mr, "10.0.0.2")->header[5], 0x12);
	assert_string_equal(state_of(mr, "10.0.0.2"), "reachable");
	pass(mr, &now, 95000);
	assert_int_equal(unicasts, 4);
	assert_int_equal(broadcasts, 0);
	assert_string_equal(state_of(mr, "10.0.0.2"), "none");
	assert_int_equal(kind(mr, "10.0.0.2"), MR_ADJ_CONNECTED);
}

static void a_dead_gateway_takes_no_configuration_along(void **state)
{
	struct mr *mr = *state;
	uint64_t now = 1000;

	done(mr, "route add 203.0.113.0/24 via 10.0.1.2");
	assert_int_equal(kind(mr, "203.0.113.5"), MR_ADJ_RESOLVE);
	mr_neighbour_hold(mr, packet_to("203.0.113.5", 28, 0));
	seen(mr, 1, "10.0.1.2", "02:00:00:00:01:11", false);
	assert_int_equal(kind(mr, "203.0.113.5"), MR_ADJ_FORWARD);
	rte_pktmbuf_free(sent(mr));
	pass(mr, &now, 100000);
	assert_int_equal(kind(mr, "203.0.113.5"), MR_ADJ_UNREACHABLE);
	assert_string_equal(lookup_field(mr, "203.0.113.5", "via"), "10.0.1.2");
	assert_int_equal(kind(mr, "10.0.1.1"), MR_ADJ_LOCAL);
	broadcasts = 0;
	pass(mr, &now, 10000);
	assert_int_equal(broadcasts, 2); /* nobody but us would find it alive again */
	seen(mr, 1, "10.0.1.2", "02:00:00:00:01:11", false);
	assert_int_equal(kind(mr, "203.0.113.5"), MR_ADJ_FORWARD);
	done(mr, "route del 203.0.113.0/24");
	assert_int_equal(kind(mr, "10.0.1.2"), MR_ADJ_FORWARD); /* still a host */
}

static void what_cannot_be_there_is_not_learned(void **state)
{
	struct mr *mr = *state;

	seen(mr, 0, "10.0.1.9", "02:00:00:00:00:11", true); /* port 1's subnet */
	seen(mr, 0, "10.0.0.1", "02:00:00:00:00:11", true); /* our own */
	seen(mr, 0, "10.0.0.255", "02:00:00:00:00:11", true);
	seen(mr, 0, "10.0.0.2", "01:00:5e:00:00:11", true);
	seen(mr, 0, "10.0.0.2", "00:00:00:00:00:00", true);
	seen(mr, 0, "10.0.0.2", "02:00:00:00:00:11", false);
	json_t *all = show(mr, "show neighbour");
	assert_int_equal(json_array_size(all), 0);
	json_decref(all);
}

static void static_neighbours_stay_as_they_are(void **state)
{
	struct mr *mr = *state;
	uint64_t now = 1000;

	refused(mr, "neighbour add 10.0.0.2 mac 01:00:5e:00:00:01 port 0", "group address");
	refused(mr, "neighbour add 10.0.0.2 mac 00:00:00:00:00:00 port 0", "neither zero");
	refused(mr, "neighbour add 10.0.0.2 mac 02:00:00:00:00:11 port 1", "no subnet of port 1");
	refused(mr, "neighbour add 10.0.0.1 mac 02:00:00:00:00:11 port 0", "appliance itself");
	refused(mr, "neighbour add 10.0.0.0 mac 02:00:00:00:00:11 port 0", "broadcast address");
	done(mr, "neighbour add 10.0.0.2 mac 02:00:00:00:00:11 port 0");
	refused(mr, "neighbour add 10.0.0.2 mac 02:00:00:00:00:12 port 0", "exists already");
	refused(mr, "address del 10.0.0.1/24 port 0", "static neighbour 10.0.0.2");
	refused(mr, "address add 10.0.0.2/24 port 0", "static neighbour 10.0.0.2");
	seen(mr, 0, "10.0.0.2", "02:00:00:00:00:12", true);
	assert_int_equal(lookup(mr, "10.0.0.2")->header[5], 0x11);
	json_t *summary = show(mr, "show route summary");
	assert_int_equal(json_integer_value(json_object_get(summary, "neighbour_conflicts")), 1);
	json_decref(summary);
	pass(mr, &now, 200000);
	assert_int_equal(kind(mr, "10.0.0.2"), MR_ADJ_FORWARD);
	change_iface(mr, 0, false, 1500);
	assert_int_equal(kind(mr, "10.0.0.2"), MR_ADJ_NO_ROUTE);
	mr_neighbour_hold(mr, packet_to("10.0.0.2", 28, 0));
	assert_int_equal(mr_neighbour_held(mr), 0);
	change_iface(mr, 0, true, 1500);
	assert_int_equal(kind(mr, "10.0.0.2"), MR_ADJ_FORWARD);
	done(mr, "neighbour del 10.0.0.2");
	refused(mr, "neighbour del 10.0.0.2", "no neighbour 10.0.0.2");
	assert_int_equal(kind(mr, "10.0.0.2"), MR_ADJ_CONNECTED);
}

static void link_loss_forgets_what_was_learned(void **state)
{
	struct mr *mr = *state;

	seen(mr, 0, "10.0.0.2", "02:00:00:00:00:11", true);
	mr_neighbour_hold(mr, packet_to("10.0.0.3", 28, 0));
	done(mr, "route add 10.9.0.0/16 via 10.0.0.4");
	change_iface(mr, 0, false, 1500);
	assert_int_equal(unreachable, 1);
	assert_int_equal(mr_neighbour_held(mr), 0);
	assert_string_equal(state_of(mr, "10.0.0.2"), "none");
	assert_string_equal(state_of(mr, "10.0.0.4"), "unknown");
	assert_int_equal(kind(mr, "10.9.0.1"), MR_ADJ_NO_ROUTE);
	change_iface(mr, 0, true, 1500);
	assert_int_equal(kind(mr, "10.9.0.1"), MR_ADJ_RESOLVE);
}

/* A route inside the subnet is more specific than the subnet, and must not lose to a host that
 * was merely heard. */
static void a_static_route_overrules_neighbours_inside_it(void **state)
{
	struct mr *mr = *state;

	seen(mr, 0, "10.0.0.130", "02:00:00:00:00:11", true);
	seen(mr, 0, "10.0.0.2", "02:00:00:00:00:12", true);
	done(mr, "route add 10.0.0.128/25 via 10.0.0.2");
	assert_int_equal(lookup(mr, "10.0.0.130")->header[5], 0x12);
	done(mr, "route add 10.0.0.2/32 via 10.0.0.2");
	refused(mr, "route add 10.0.0.2/32 blackhole", "exists already");
	done(mr, "route add 10.0.0.130/32 blackhole");
	assert_int_equal(kind(mr, "10.0.0.130"), MR_ADJ_BLACKHOLE);
	done(mr, "route del 10.0.0.128/25");
	assert_int_equal(kind(mr, "10.0.0.130"), MR_ADJ_BLACKHOLE);
	done(mr, "route del 10.0.0.130/32");
	assert_int_equal(lookup(mr, "10.0.0.130")->header[5], 0x11);
	refused(mr, "route del 10.0.0.130/32", "is a neighbour");
	done(mr, "route del 10.0.0.2/32");
	assert_int_equal(lookup(mr, "10.0.0.2")->header[5], 0x12);
}

static void a_scan_takes_no_more_than_its_share(void **state)
{
	struct mr *mr = *state;
	uint64_t now = 1000;
	char text[32];

	done(mr, "address add 11.0.0.1/8 port 2");
	done(mr, "route add 10.9.0.0/16 via 10.0.0.4");
	mr_neighbour_hold(mr, packet_to("10.9.0.1", 28, 7));
	for (unsigned i = 0; i < 5000; i++) {
		snprintf(text, sizeof(text), "11.%u.%u.9", 1 + i / 250, i % 250);
		mr_neighbour_hold(mr, packet_to(text, 28, 0));
	}
	assert_true(broadcasts <= 513);
	assert_true(mr_neighbour_held(mr) <= 1024);
	assert_string_equal(state_of(mr, "10.0.0.4"), "incomplete");
	pass(mr, &now, 1000);
	broadcasts = 0;
	mr_neighbour_hold(mr, packet_to("10.0.0.5", 28, 0)); /* takes an old one's place */
	assert_int_equal(broadcasts, 1);
	seen(mr, 0, "10.0.0.4", "02:00:00:00:00:14", false);
	struct rte_mbuf *m = sent(mr);
	assert_int_equal(rte_be_to_cpu_16(header_of(m)->packet_id), 7);
	rte_pktmbuf_free(m);
}

/*
 * Random operations against a model that knows only the rules: the longest static prefix wins over
 * the connected subnet, a host that was heard stands for itself only in the subnet, and without
 * link there is neither the subnet nor a route via its hosts.
 */
#define MODEL_HOSTS 8
#define MODEL_ROUTES 12

struct model {
	bool link;
	uint8_t mac[MODEL_HOSTS];  /* of 10.0.1.(16 + i * 16), 0: unknown */
	uint8_t via[MODEL_ROUTES]; /* 0: no such route; 1 + host index; 255: black hole */
};

static const struct {
	const char *text;
	uint8_t length;
} model_routes[MODEL_ROUTES] = {
	{"10.0.1.0", 26},   {"10.0.1.64", 26}, {"10.0.1.128", 25}, {"10.0.1.32", 27},
	{"10.0.1.16", 32},  {"10.0.1.48", 32}, {"10.0.1.64", 30},  {"10.0.0.0", 16},
	{"10.0.1.128", 32}, {"10.0.1.96", 28}, {"20.0.0.0", 8},    {"0.0.0.0", 0},
};

static uint32_t host_ip(unsigned i)
{
	return ip("10.0.1.16") + 16 * i;
}

static void model_check(struct mr *mr, const struct model *model)
{
	for (unsigned i = 0; i < MODEL_HOSTS + 2; i++) {
		uint32_t destination = i < MODEL_HOSTS    ? host_ip(i)
				       : i == MODEL_HOSTS ? ip("20.1.2.3")
							  : ip("10.0.1.67");
		struct mr_addr addr = mr_addr_from_ipv4(destination);
		const struct mr_adjacency *found = mr_router_lookup(mr, &addr, 0);
		bool inside = model->link && (destination & 0xffffff00) == ip("10.0.1.0");
		int length = inside ? 24 : -1, best = -1, host = -1;

		for (unsigned r = 0; r < MODEL_ROUTES; r++) {
			uint32_t mask = model_routes[r].length == 0
						? 0
						: UINT32_MAX << (32 - model_routes[r].length);

			if (model->via[r] != 0 && (model->link || model->via[r] == 255) &&
			    model_routes[r].length > length &&
			    (destination & mask) == ip(model_routes[r].text)) {
				best = (int)r;
				length = model_routes[r].length;
			}
		}
		if (best >= 0 && model->via[best] == 255) {
			assert_int_equal(found->kind, MR_ADJ_BLACKHOLE);
			continue;
		}
		if (best < 0 && !inside) {
			assert_int_equal(found->kind, MR_ADJ_NO_ROUTE);
			continue;
		}
		host = best >= 0 ? model->via[best] - 1 : i < MODEL_HOSTS ? (int)i : -1;
		if (host >= 0 && model->mac[host] != 0) {
			assert_int_equal(found->kind, MR_ADJ_FORWARD);
			assert_int_equal(found->header[5], model->mac[host]);
		} else if (best < 0) {
			assert_int_equal(found->kind, MR_ADJ_CONNECTED);
		} else {
			assert_int_equal(found->kind, MR_ADJ_RESOLVE);
		}
	}
}

static void random_changes_agree_with_a_model(void **state)
{
	struct mr *mr = *state;
	struct model model = {.link = true};
	char *before = dump(mr), *after;

	for (unsigned step = 0; step < 20000; step++) {
		unsigned h = (unsigned)rte_rand_max(MODEL_HOSTS);
		unsigned r = (unsigned)rte_rand_max(MODEL_ROUTES);
		struct mr_addr host = mr_addr_from_ipv4(host_ip(h));
		struct mr_prefix prefix = {.addr = addr_of(model_routes[r].text),
					   .length = model_routes[r].length};
		struct rte_ether_addr mac = {{2, 0, 0, 0, 1, (uint8_t)(1 + rte_rand_max(254))}};
		int rc;

		switch (rte_rand_max(6)) {
		case 0:
			if (!model.link)
				break;
			mr_neighbour_seen(mr, 1, &host, &mac, true);
			model.mac[h] = mac.addr_bytes[5];
			break;
		case 1:
			rc = mr_route_add(mr, &prefix, &host, 1, NULL);
			assert_int_equal(rc, model.via[r] != 0 ? -EEXIST : 0);
			if (rc == 0)
				model.via[r] = (uint8_t)(1 + h);
			break;
		case 2:
			rc = mr_route_add(mr, &prefix, NULL, 0, NULL);
			assert_int_equal(rc, model.via[r] != 0 ? -EEXIST : 0);
			if (rc == 0)
				model.via[r] = 255;
			break;
		case 3:
		case 4:
			rc = mr_route_del(mr, &prefix, NULL);
			/* A host's own /32 is no static route. */
			if (model.via[r] != 0)
				assert_int_equal(rc, 0);
			else
				assert_int_not_equal(rc, 0);
			model.via[r] = 0;
			break;
		default:
			if (rte_rand_max(8) != 0)
				break;
			model.link = !model.link;
			change_iface(mr, 1, model.link, 1500);
			if (!model.link)
				memset(model.mac, 0, sizeof(model.mac));
		}
		mr_rcu_poll(mr->rcu);
		model_check(mr, &model);
	}
	for (unsigned r = 0; r < MODEL_ROUTES; r++) {
		struct mr_prefix prefix = {.addr = addr_of(model_routes[r].text),
					   .length = model_routes[r].length};

		if (model.via[r] != 0)
			assert_int_equal(mr_route_del(mr, &prefix, NULL), 0);
	}
	change_iface(mr, 1, false, 1500);
	change_iface(mr, 1, true, 1500);
	mr_rcu_synchronize(mr->rcu);
	after = dump(mr);
	assert_string_equal(before, after);
	free(before);
	free(after);
}

static void many_routes_share_their_next_hops(void **state)
{
	struct mr *mr = *state;
	struct mr_addr gateways[2] = {addr_of("10.0.0.2"), addr_of("10.0.1.2")};
	struct mr_prefix prefix = {.length = 24};
	char *before = dump(mr), *after;
	json_t *summary;

	for (uint32_t i = 0; i < 100000; i++) {
		prefix.addr = mr_addr_from_ipv4(ip("20.0.0.0") + (i << 8));
		assert_int_equal(mr_route_add(mr, &prefix, gateways, 1 + i % 2, NULL), 0);
	}
	summary = show(mr, "show route summary");
	assert_int_equal(json_integer_value(json_object_get(summary, "static")), 100000);
	/* 4 fixed, 2 for each interface, 2 gateways, 1 pair of them */
	assert_int_equal(json_integer_value(json_object_get(summary, "next_hops")), 11);
	json_decref(summary);
	for (uint32_t i = 0; i < 100000; i++) {
		prefix.addr = mr_addr_from_ipv4(ip("20.0.0.0") + (i << 8));
		assert_int_equal(mr_route_del(mr, &prefix, NULL), 0);
	}
	mr_rcu_synchronize(mr->rcu);
	after = dump(mr);
	assert_string_equal(before, after);
	free(before);
	free(after);
}

static size_t heap_in_use(void)
{
	struct rte_malloc_socket_stats stats;

	assert_int_equal(rte_malloc_get_socket_stats(0, &stats), 0);
	return stats.heap_allocsz_bytes;
}

static void a_router_leaves_no_memory_behind(void **state)
{
	size_t before = heap_in_use();
	void *mr;

	(void)state;
	start(&mr);
	done(mr, "route add 10.9.0.0/16 via 10.0.0.2 10.0.1.2");
	done(mr, "neighbour add 10.0.0.9 mac 02:00:00:00:00:11 port 0");
	mr_neighbour_hold(mr, packet_to("10.0.0.3", 28, 0));
	seen(mr, 0, "10.0.0.2", "02:00:00:00:00:12", false);
	stop(&mr);
	assert_int_equal(heap_in_use(), before);
}

#define CASE(f) cmocka_unit_test_setup_teardown(f, start, stop)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(held_packets_leave_routed_and_in_order),
		CASE(own_packets_keep_their_header),
		CASE(too_big_ones_go_to_the_host),
		CASE(queues_are_bounded_and_the_oldest_gives_way),
		CASE(a_silent_host_fails_and_is_asked_for_again),
		CASE(a_known_host_is_verified_and_forgotten_when_silent),
		CASE(a_dead_gateway_takes_no_configuration_along),
		CASE(what_cannot_be_there_is_not_learned),
		CASE(static_neighbours_stay_as_they_are),
		CASE(link_loss_forgets_what_was_learned),
		CASE(a_static_route_overrules_neighbours_inside_it),
		CASE(a_scan_takes_no_more_than_its_share),
		CASE(random_changes_agree_with_a_model),
		CASE(many_routes_share_their_next_hops),
		cmocka_unit_test(a_router_leaves_no_memory_behind),
	};

	test_eal_start("0");
	pool = rte_pktmbuf_pool_create("packets", 4095, 0, 0, RTE_MBUF_DEFAULT_BUF_SIZE, 0);
	return pool == NULL ? 1 : cmocka_run_group_tests(tests, NULL, NULL);
}
