/* SPDX-License-Identifier: BSD-3-Clause */
#include "route_fixture.h"

#include "test_eal.h"

static int start(void **state)
{
	*state = router_start();
	return 0;
}

static int stop(void **state)
{
	router_stop(*state);
	return 0;
}

static void an_empty_router_shows_nothing_and_routes_nothing(void **state)
{
	struct mr *mr = *state;
	static const char *const lines[] = {"show address", "show route", "show neighbour"};

	for (unsigned i = 0; i < RTE_DIM(lines); i++) {
		json_t *data = show(mr, lines[i]);

		assert_int_equal(json_array_size(data), 0);
		json_decref(data);
	}
	assert_int_equal(kind(mr, "10.0.0.1"), MR_ADJ_NO_ROUTE);
	assert_int_equal(kind(mr, "0.1.2.3"), MR_ADJ_MARTIAN);
	assert_int_equal(kind(mr, "127.0.0.1"), MR_ADJ_MARTIAN);
	assert_int_equal(kind(mr, "224.0.0.9"), MR_ADJ_MULTICAST);
	assert_int_equal(kind(mr, "255.255.255.255"), MR_ADJ_MARTIAN);
	refused(mr, "address del 10.0.0.1/24 port 0", "port 0 has no address 10.0.0.1/24");
	refused(mr, "route del 10.0.0.0/8", "there is no route 10.0.0.0/8");
	refused(mr, "neighbour del 10.0.0.1", "there is no neighbour 10.0.0.1");
	refused(mr, "neighbour del 10.0.0.1 port 0", "there is no neighbour 10.0.0.1 on port 0");
	refused(mr, "show address port 31", "there is no port 31");
	refused(mr, "show neighbour port 65535", "there is no port 65535");
}

static void an_address_makes_its_routes_and_takes_them_away(void **state)
{
	struct mr *mr = *state;
	char *before = dump(mr), *after;

	done(mr, "address add 10.0.0.1/24 port 0");
	assert_int_equal(mr_iface(mr, 0)->mode, MR_MODE_ROUTE);
	assert_int_equal(kind(mr, "10.0.0.1"), MR_ADJ_LOCAL);
	assert_int_equal(kind(mr, "10.0.0.0"), MR_ADJ_BROADCAST);
	assert_int_equal(kind(mr, "10.0.0.255"), MR_ADJ_BROADCAST);
	assert_int_equal(kind(mr, "10.0.0.2"), MR_ADJ_CONNECTED);
	assert_int_equal(lookup(mr, "10.0.0.2")->mtu, 1500);
	assert_int_equal(kind(mr, "10.0.1.0"), MR_ADJ_NO_ROUTE);
	done(mr, "address add 10.1.0.0/31 port 1");
	assert_int_equal(kind(mr, "10.1.0.0"), MR_ADJ_LOCAL);
	assert_int_equal(kind(mr, "10.1.0.1"), MR_ADJ_CONNECTED);
	done(mr, "address add 10.2.0.1/32 port 1");
	assert_int_equal(kind(mr, "10.2.0.1"), MR_ADJ_LOCAL);
	change_iface(mr, 0, true, 1400);
	assert_int_equal(lookup(mr, "10.0.0.2")->mtu, 1400);
	done(mr, "address del 10.1.0.0/31 port 1");
	assert_int_equal(mr_iface(mr, 1)->mode, MR_MODE_ROUTE);
	done(mr, "address del 10.2.0.1/32 port 1");
	done(mr, "address del 10.0.0.1/24 port 0");
	assert_int_equal(mr_iface(mr, 0)->mode, MR_MODE_NONE);
	mr_rcu_synchronize(mr->rcu);
	after = dump(mr);
	assert_string_equal(before, after);
	free(before);
	free(after);
}

/* Addresses of one interface share routes, and each route is what the remaining ones want. */
static void addresses_of_one_interface_share_their_subnets(void **state)
{
	struct mr *mr = *state;

	done(mr, "address add 10.0.0.1/24 port 0");
	done(mr, "address add 10.0.0.2/24 port 0");
	done(mr, "address add 10.0.0.130/25 port 0");
	assert_int_equal(kind(mr, "10.0.0.128"), MR_ADJ_BROADCAST);
	done(mr, "address del 10.0.0.1/24 port 0");
	assert_int_equal(kind(mr, "10.0.0.1"), MR_ADJ_CONNECTED);
	assert_int_equal(kind(mr, "10.0.0.0"), MR_ADJ_BROADCAST);
	done(mr, "address del 10.0.0.2/24 port 0");
	assert_int_equal(kind(mr, "10.0.0.0"), MR_ADJ_NO_ROUTE);
	assert_int_equal(kind(mr, "10.0.0.255"), MR_ADJ_BROADCAST);
	done(mr, "address add 10.0.0.255/23 port 0"); /* a host there, a broadcast of the /25 */
	assert_int_equal(kind(mr, "10.0.0.255"), MR_ADJ_LOCAL);
	done(mr, "address del 10.0.0.255/23 port 0");
	assert_int_equal(kind(mr, "10.0.0.255"), MR_ADJ_BROADCAST);
}

static void wrong_addresses_are_refused(void **state)
{
	struct mr *mr = *state;

	done(mr, "address add 10.0.0.1/24 port 0");
	refused(mr, "address add 10.1.0.0/24 port 1",
		"10.1.0.0/24 is the network address of its subnet: hosts have 10.1.0.1 to "
		"10.1.0.254");
	refused(mr, "address add 10.1.0.255/24 port 1", "is the broadcast address");
	refused(mr, "address add 224.0.0.1/24 port 1", "multicast");
	refused(mr, "address add 0.0.0.1/8 port 1", "reserved");
	refused(mr, "address add 127.0.0.1/8 port 1", "reserved");
	refused(mr, "address add 240.0.0.1/24 port 1", "reserved");
	refused(mr, "address add 10.0.0.1/4 port 1", "lengths of 8 to 32");
	refused(mr, "address add 10.0.0.1/24 port 0", "port 0 has the address 10.0.0.1/24 already");
	refused(mr, "address add 10.0.0.1/32 port 1", "port 0 has the address 10.0.0.1/24 already");
	refused(mr, "address add 10.0.0.9/16 port 1",
		"overlaps that of port 0's address 10.0.0.1/24");
	refused(mr, "address add 10.0.0.9/30 port 1", "overlaps");
	refused(mr, "address add 10.1.0.1/24 port 9", "there is no port 9");
	refused(mr, "address add 10.1.0.1/33 port 1", "10.1.0.1/33");
	refused(mr, "address del 10.0.0.1/25 port 0", "but 10.0.0.1/24");
	refused(mr, "address del 10.0.0.1/24 port 1", "port 1 has no address");
	set_iface(mr, 2, MR_MODE_BRIDGE, true, 1500);
	refused(mr, "address add 10.2.0.1/24 port 2", "port 2 is a member of a bridge");
}

static void an_address_takes_a_port_from_its_default_mode(void **state)
{
	struct mr *mr = *state;
	struct mr_iface iface = *mr_iface(mr, 2);

	iface.mode = MR_MODE_BRIDGE;
	iface.implicit = true;
	assert_int_equal(mr_iface_publish(mr, &iface), 0);
	done(mr, "address add 10.2.0.1/24 port 2");
	assert_int_equal(mr_iface(mr, 2)->mode, MR_MODE_ROUTE);
	assert_false(mr_iface(mr, 2)->implicit);
	done(mr, "address del 10.2.0.1/24 port 2");
	assert_int_equal(mr_iface(mr, 2)->mode, MR_MODE_NONE);
}

static void deleting_a_route_restores_the_covering_one(void **state)
{
	struct mr *mr = *state;

	done(mr, "address add 10.0.0.1/24 port 0");
	done(mr, "address add 10.0.1.1/24 port 1");
	done(mr, "route add 10.10.0.0/16 via 10.0.0.2");
	done(mr, "route add 10.10.128.0/24 via 10.0.1.2");
	assert_string_equal(lookup_field(mr, "10.10.128.1", "via"), "10.0.1.2");
	assert_int_equal(lookup(mr, "10.10.128.1")->iface, 1);
	done(mr, "route del 10.10.128.0/24");
	assert_string_equal(lookup_field(mr, "10.10.128.1", "via"), "10.0.0.2");
	assert_int_equal(lookup(mr, "10.10.128.1")->iface, 0);
	done(mr, "route del 10.10.0.0/16");
	assert_int_equal(kind(mr, "10.10.128.1"), MR_ADJ_NO_ROUTE);
	refused(mr, "route del 10.10.0.0/16", "there is no route 10.10.0.0/16");
}

static void prefixes_are_stored_canonical(void **state)
{
	struct mr *mr = *state;

	done(mr, "route add 20.0.1.1/24 blackhole");
	assert_int_equal(kind(mr, "20.0.1.200"), MR_ADJ_BLACKHOLE);
	assert_string_equal(lookup_field(mr, "20.0.1.9", "prefix"), "20.0.1.0/24");
	refused(mr, "route add 20.0.1.7/24 blackhole", "20.0.1.0/24 exists already");
	done(mr, "route del 20.0.1.0/24");
	done(mr, "route add 20.0.1.0/24 blackhole");
	done(mr, "route del 20.0.1.1/24");
	done(mr, "route add 1.2.3.4/0 blackhole");
	assert_int_equal(kind(mr, "20.0.1.200"), MR_ADJ_BLACKHOLE);
	done(mr, "route del 0.0.0.0/0");
	assert_int_equal(kind(mr, "20.0.1.200"), MR_ADJ_NO_ROUTE);
	refused(mr, "route add 20.0.1.0/33 blackhole", "20.0.1.0/33");
	refused(mr, "route add 20.0.1/24 blackhole", "20.0.1/24");
}

static void wrong_routes_are_refused(void **state)
{
	struct mr *mr = *state;

	done(mr, "address add 10.0.0.1/24 port 0");
	done(mr, "route add 10.9.0.0/16 via 10.0.0.2 10.0.0.3");
	refused(mr, "route add 10.9.0.0/16 blackhole", "exists already");
	refused(mr, "route add 10.8.0.0/16 via 10.0.0.1", "an address of this appliance");
	refused(mr, "route add 10.8.0.0/16 via 10.0.1.9", "10.0.1.9 is on no port's subnet");
	refused(mr, "route add 10.8.0.0/16 via 10.0.0.2 10.9.0.1",
		"10.9.0.1 is on no port's subnet");
	refused(mr, "route add 10.8.0.0/16 via 10.0.0.255", "network or broadcast address");
	refused(mr, "route add 10.8.0.0/16 via 10.0.0.2 10.0.0.2", "10.0.0.2 is given twice");
	refused(mr,
		"route add 10.8.0.0/16 via 10.0.0.2 10.0.0.3 10.0.0.4 10.0.0.5 10.0.0.6 10.0.0.7 "
		"10.0.0.8 10.0.0.9 10.0.0.10 10.0.0.11 10.0.0.12 10.0.0.13 10.0.0.14 10.0.0.15 "
		"10.0.0.16 10.0.0.17 10.0.0.18",
		"17 gateways are too many: a route takes 1 to 16");
	refused(mr, "route add 127.1.0.0/16 blackhole", "127.0.0.0/8");
	refused(mr, "route add 239.0.0.0/8 blackhole", "multicast");
	refused(mr, "route add 240.0.0.0/4 blackhole", "240.0.0.0/4");
	refused(mr, "route del 224.0.0.0/4", "nothing is ever routed");
	refused(mr, "route add 10.0.0.0/24 blackhole", "from the address 10.0.0.1/24 of port 0");
	refused(mr, "route add 10.0.0.1/32 via 10.0.0.2", "from the address 10.0.0.1/24");
	refused(mr, "route del 10.0.0.0/24", "from the address 10.0.0.1/24 of port 0");
	refused(mr, "route del 10.0.0.255/32", "from the address 10.0.0.1/24 of port 0");
	refused(mr, "address del 10.0.0.1/24 port 0", "the route 10.9.0.0/16 via 10.0.0.");
	refused(mr, "address add 10.0.0.3/24 port 0", "delete the route 10.9.0.0/16 first");
	done(mr, "route add 10.7.0.0/24 blackhole");
	refused(mr, "address add 10.7.0.1/24 port 1", "needs the route 10.7.0.0/24");
	done(mr, "address add 10.0.0.9/24 port 0"); /* another that keeps the gateways connected */
	done(mr, "address del 10.0.0.1/24 port 0");
}

static void multipath_leaves_out_what_cannot_be_used(void **state)
{
	struct mr *mr = *state;
	struct mr_addr destination = addr_of("10.9.0.1");

	done(mr, "address add 10.0.0.1/24 port 0");
	done(mr, "address add 10.0.1.1/24 port 1");
	done(mr, "route add 10.9.0.0/16 via 10.0.0.2 10.0.1.2");
	done(mr, "route add 10.8.0.0/16 via 10.0.1.2 10.0.0.2"); /* shares the next hop */
	seen(mr, 0, "10.0.0.2", "02:00:00:00:00:11", false);
	seen(mr, 1, "10.0.1.2", "02:00:00:00:01:11", false);
	assert_int_not_equal(mr_router_lookup(mr, &destination, 0)->iface,
			     mr_router_lookup(mr, &destination, UINT32_MAX)->iface);
	assert_int_equal(mr_router_lookup(mr, &destination, 0)->kind, MR_ADJ_FORWARD);
	change_iface(mr, 0, false, 1500);
	assert_int_equal(mr_router_lookup(mr, &destination, 0)->iface, 1);
	assert_int_equal(mr_router_lookup(mr, &destination, UINT32_MAX)->iface, 1);
	change_iface(mr, 1, false, 1500);
	assert_int_equal(mr_router_lookup(mr, &destination, 0)->kind, MR_ADJ_NO_ROUTE);
	change_iface(mr, 0, true, 1500);
	assert_int_equal(mr_router_lookup(mr, &destination, UINT32_MAX)->iface, 0);
	assert_int_equal(mr_router_lookup(mr, &destination, 0)->kind, MR_ADJ_RESOLVE);
	change_iface(mr, 1, true, 1500);
	assert_int_not_equal(mr_router_lookup(mr, &destination, 0)->iface,
			     mr_router_lookup(mr, &destination, UINT32_MAX)->iface);
	done(mr, "route del 10.9.0.0/16");
	assert_int_equal(kind(mr, "10.8.0.1"), MR_ADJ_RESOLVE);
	done(mr, "route del 10.8.0.0/16");
	done(mr, "address del 10.0.1.1/24 port 1");
}

/* More routes than one step of the walk visits; what is added meanwhile is right from the start. */
static void a_full_table_follows_a_link_in_steps(void **state)
{
	struct mr *mr = *state;
	const unsigned count = 5000;
	char line[64], last[32];

	done(mr, "address add 10.0.0.1/24 port 0");
	for (unsigned i = 0; i < count; i++) {
		snprintf(line, sizeof(line), "route add 20.%u.%u.0/24 via 10.0.0.2", i / 250,
			 i % 250);
		done(mr, line);
	}
	snprintf(last, sizeof(last), "20.%u.%u.1", (count - 1) / 250, (count - 1) % 250);
	change_iface(mr, 0, false, 1500);
	assert_int_equal(kind(mr, "20.0.0.1"), MR_ADJ_NO_ROUTE);
	assert_int_equal(kind(mr, last), MR_ADJ_UNREACHABLE);
	done(mr, "route add 30.0.0.0/8 via 10.0.0.2");
	assert_int_equal(kind(mr, "30.0.0.1"), MR_ADJ_NO_ROUTE);
	while (mr_router_poll(mr) != 0)
		;
	assert_int_equal(kind(mr, last), MR_ADJ_NO_ROUTE);
	/* A link that is back before the walk was over. */
	change_iface(mr, 0, true, 1500);
	change_iface(mr, 0, false, 1500);
	change_iface(mr, 0, true, 1500);
	while (mr_router_poll(mr) != 0)
		;
	assert_int_equal(kind(mr, "20.0.0.1"), MR_ADJ_RESOLVE);
	assert_int_equal(kind(mr, last), MR_ADJ_RESOLVE);
	for (unsigned i = 0; i < count; i++) {
		snprintf(line, sizeof(line), "route del 20.%u.%u.0/24", i / 250, i % 250);
		done(mr, line);
	}
	done(mr, "route del 30.0.0.0/8");
	done(mr, "address del 10.0.0.1/24 port 0");
}

/* Configuration may name ports before their link is up. */
static void what_is_configured_without_link_waits_for_it(void **state)
{
	struct mr *mr = *state;

	change_iface(mr, 0, false, 1500);
	done(mr, "address add 10.0.0.1/24 port 0");
	done(mr, "route add 10.9.0.0/16 via 10.0.0.2");
	assert_int_equal(kind(mr, "10.0.0.7"), MR_ADJ_NO_ROUTE);
	assert_int_equal(kind(mr, "10.9.0.1"), MR_ADJ_NO_ROUTE);
	assert_int_equal(kind(mr, "10.0.0.1"), MR_ADJ_LOCAL);
	refused(mr, "route add 10.9.0.0/16 blackhole", "exists already");
	change_iface(mr, 0, true, 1500);
	assert_int_equal(kind(mr, "10.0.0.7"), MR_ADJ_CONNECTED);
	assert_int_equal(kind(mr, "10.9.0.1"), MR_ADJ_RESOLVE);
	change_iface(mr, 0, false, 1500);
	done(mr, "route del 10.9.0.0/16");
	done(mr, "address del 10.0.0.1/24 port 0");
	change_iface(mr, 0, true, 1500);
	assert_int_equal(kind(mr, "10.0.0.7"), MR_ADJ_NO_ROUTE);
}

/* An index that an lcore may still hold means nothing else before it has let go. */
static void a_next_hop_is_given_out_again_after_a_grace_period(void **state)
{
	struct mr *mr = *state;
	uint32_t first;

	done(mr, "address add 10.0.0.1/24 port 0");
	done(mr, "route add 10.9.0.0/16 via 10.0.0.2");
	mr_rcu_synchronize(mr->rcu);
	first = lookup(mr, "10.9.0.1")->next_hop;
	rte_rcu_qsbr_thread_online(mr->rcu->qsbr, 0);
	done(mr, "route del 10.9.0.0/16");
	for (unsigned i = 0; i < 3; i++)
		mr_rcu_poll(mr->rcu);
	assert_int_equal(mr_router_adjacency(mr, first)->kind, MR_ADJ_RESOLVE);
	done(mr, "route add 10.9.0.0/16 via 10.0.0.3");
	assert_int_not_equal(lookup(mr, "10.9.0.1")->next_hop, first);
	rte_rcu_qsbr_quiescent(mr->rcu->qsbr, 0);
	mr_rcu_poll(mr->rcu);
	assert_int_equal(mr_router_adjacency(mr, first)->kind, MR_ADJ_NO_ROUTE);
	rte_rcu_qsbr_thread_offline(mr->rcu->qsbr, 0);
	done(mr, "route add 10.8.0.0/16 via 10.0.0.2");
	assert_int_equal(lookup(mr, "10.8.0.1")->next_hop, first);
}

static void routes_are_listed_in_pages(void **state)
{
	struct mr *mr = *state;
	char params[64] = "", line[64];
	unsigned listed = 0, pages = 0;

	for (unsigned i = 0; i < 120; i++) {
		snprintf(line, sizeof(line), "route add 20.0.%u.0/%u blackhole", i / 2, 24 + i % 2);
		done(mr, line);
	}
	do {
		struct mr_reply reply = {0};
		json_t *routes;

		assert_int_equal(mr_route_queries[0].run(mr, params, &reply), 0);
		routes = json_object_get(reply.data, "routes");
		for (unsigned i = 0; i < json_array_size(routes); i++, listed++) {
			snprintf(line, sizeof(line), "20.0.%u.0/%u", listed / 2, 24 + listed % 2);
			assert_string_equal(json_string_value(json_object_get(
						    json_array_get(routes, i), "prefix")),
					    line);
		}
		snprintf(params, sizeof(params), "%s",
			 json_string_value(json_object_get(reply.data, "next")));
		json_decref(reply.data);
		pages++;
	} while (params[0] != '\0' && pages < 10);
	assert_int_equal(listed, 120);
	assert_int_equal(pages, 3);
	json_t *inside = show(mr, "show route 20.0.7.0/24");
	assert_int_equal(json_array_size(inside), 2);
	json_decref(inside);
	inside = show(mr, "show route 20.0.59.0/25");
	assert_int_equal(json_array_size(inside), 1);
	json_decref(inside);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(an_empty_router_shows_nothing_and_routes_nothing,
						start, stop),
		cmocka_unit_test_setup_teardown(an_address_makes_its_routes_and_takes_them_away,
						start, stop),
		cmocka_unit_test_setup_teardown(addresses_of_one_interface_share_their_subnets,
						start, stop),
		cmocka_unit_test_setup_teardown(wrong_addresses_are_refused, start, stop),
		cmocka_unit_test_setup_teardown(an_address_takes_a_port_from_its_default_mode,
						start, stop),
		cmocka_unit_test_setup_teardown(deleting_a_route_restores_the_covering_one, start,
						stop),
		cmocka_unit_test_setup_teardown(prefixes_are_stored_canonical, start, stop),
		cmocka_unit_test_setup_teardown(wrong_routes_are_refused, start, stop),
		cmocka_unit_test_setup_teardown(multipath_leaves_out_what_cannot_be_used, start,
						stop),
		cmocka_unit_test_setup_teardown(a_full_table_follows_a_link_in_steps, start, stop),
		cmocka_unit_test_setup_teardown(what_is_configured_without_link_waits_for_it, start,
						stop),
		cmocka_unit_test_setup_teardown(a_next_hop_is_given_out_again_after_a_grace_period,
						start, stop),
		cmocka_unit_test_setup_teardown(routes_are_listed_in_pages, start, stop),
	};
	test_eal_start("0");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
