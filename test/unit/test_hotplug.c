/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Ports that come and go, through the whole packet path: what a removed port leaves behind is
 * nothing, what an added one finds is nothing, and the others do not notice. The harness's four
 * ports stay; devices hot0 to hot3 over rings of the test's own come and go.
 */
/* For rte_dev_event_callback_process: what EAL calls when a device is pulled out. */
#define ALLOW_EXPERIMENTAL_API
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <rte_bus_vdev.h>
#include <rte_dev.h>
#include <rte_eth_ring.h>
#include <rte_malloc.h>
#include <rte_mempool.h>

#include "control/forward_mode.h"
#include "control/hotplug.h"
#include "lcore/lcores.h"
#include "lcore/port_totals.h"
#include "port/ports.h"
#include "routed.h"
#include "test_eal.h"

#define DEVICES 4
#define HOT(device) (HARNESS_PORTS + (device)) /* its place in the harness */
#define LOCAL_TYPE 0x88b5

static const char *const station[DEVICES] = {"02:cc:00:00:00:00", "02:cc:00:00:00:01",
					     "02:cc:00:00:00:02", "02:cc:00:00:00:03"};
#define A "02:aa:00:00:00:01" /* a station behind port 0 */

static void make_rings(struct harness *h, unsigned device)
{
	char name[RTE_RING_NAMESIZE];

	if (h->rig.rx[HOT(device)] != NULL)
		return;
	snprintf(name, sizeof(name), "hot_rx%u", device);
	h->rig.rx[HOT(device)] = rte_ring_create(name, 1024, SOCKET_ID_ANY, 0);
	snprintf(name, sizeof(name), "hot_tx%u", device);
	h->rig.tx[HOT(device)] = rte_ring_create(name, 1024, SOCKET_ID_ANY, 0);
	assert_non_null(h->rig.tx[HOT(device)]);
}

/* Has EAL know the device; as what --portmask leaves out, it is no port of the appliance yet. */
static void probe(struct harness *h, unsigned device)
{
	char name[16];

	make_rings(h, device);
	snprintf(name, sizeof(name), "hot%u", device);
	assert_true(rte_eth_from_rings(name, &h->rig.rx[HOT(device)], 1, &h->rig.tx[HOT(device)], 1,
				       0) >= 0);
}

static uint16_t id_of(unsigned device)
{
	char name[32];
	uint16_t id;

	snprintf(name, sizeof(name), "net_ring_hot%u", device);
	return rte_eth_dev_get_port_by_name(name, &id) == 0 ? id : UINT16_MAX;
}

static struct mr_port *add(struct harness *h, unsigned device)
{
	probe(h, device);
	harness_command(h, "port add net_ring_hot%u", device);
	harness_run(h); /* sees its link */
	return mr_port(h->rig.mr, id_of(device));
}

static void remove_port(struct harness *h, unsigned device)
{
	uint16_t id = id_of(device);

	harness_command(h, "port remove %u", id);
	assert_int_equal(id_of(device), UINT16_MAX);
	assert_null(mr_port(h->rig.mr, id));
	assert_null(mr_iface(h->rig.mr, id));
}

static unsigned pools_waiting(struct harness *h, unsigned *buffers)
{
	harness_advance(h, 200);
	return mr_ports_retired_pools(h->rig.mr, buffers);
}

/* No pool of a removed port is left, so none of its buffers is missing. */
static void no_pool_waits(struct harness *h)
{
	unsigned buffers;

	assert_int_equal(pools_waiting(h, &buffers), 0);
	harness_run(h);
	for (unsigned i = 0; i < h->rig.mr->ports->pools_made; i++) {
		char name[RTE_MEMPOOL_NAMESIZE];
		struct mr_port *port;
		bool used = false;

		snprintf(name, sizeof(name), "mr_added_%u", i);
		MR_PORT_FOREACH (h->rig.mr, port) {
			used |= strcmp(port->pool->name, name) == 0;
		}
		assert_int_equal(rte_mempool_lookup(name) != NULL, used);
	}
}

static void finish(struct harness *h)
{
	no_pool_waits(h);
	harness_end(h);
}

/* A frame that arrives on a device, in a buffer of its own pool, as of a device that fills them. */
static void send_own(struct harness *h, unsigned device, const struct frame *frame)
{
	struct rte_mbuf *m = rte_pktmbuf_alloc(mr_port(h->rig.mr, id_of(device))->pool);

	assert_non_null(m);
	memcpy(rte_pktmbuf_append(m, (uint16_t)frame->length), frame->bytes, frame->length);
	assert_true(ring_rig_put(&h->rig, HOT(device), m));
}

static struct frame between(const char *to, const char *from)
{
	return frame_raw(to, from, LOCAL_TYPE, 60);
}

static struct mr_traffic rx_of(struct harness *h, uint16_t port)
{
	struct mr_port_totals totals;

	mr_port_totals_read(h->rig.mr, port, &totals);
	return mr_traffic_sum(totals.rx, MR_MAX_QUEUES);
}

static void an_added_port_forwards_and_a_removed_one_is_forgotten(void **state)
{
	(void)state;
	struct harness *h = harness();
	struct frame hello = between(BROADCAST, station[0]), to_it = between(station[0], A);

	harness_begin(h);
	harness_command(h, "bridge add br0");
	harness_command(h, "bridge member add br0 port 0");
	harness_command(h, "bridge member add br0 port 1");
	struct mr_port *port = add(h, 0);
	uint16_t id = port->id;
	assert_true(port->started);
	harness_command(h, "bridge member add br0 port %u", id);

	send_own(h, 0, &hello);
	harness_run(h);
	harness_expect(h, 0, &hello);
	harness_expect(h, 1, &hello);
	harness_send(h, 0, &to_it);
	harness_run(h);
	harness_expect(h, HOT(0), &to_it);
	harness_expect_nothing(h);
	assert_int_equal(rx_of(h, id).packets, 1);

	remove_port(h, 0);
	harness_send(h, 0, &to_it);
	harness_run(h);
	harness_expect(h, 1, &to_it); /* flooded: nobody knows the station any more */
	harness_expect_nothing(h);

	/* The next one with that number knows nothing of it. */
	assert_int_equal(add(h, 1)->id, id);
	assert_int_equal(rx_of(h, id).packets, 0);
	assert_int_equal(mr_iface(h->rig.mr, id)->mode, MR_MODE_NONE);
	harness_send(h, 0, &to_it);
	harness_run(h);
	harness_expect(h, 1, &to_it);
	assert_int_equal(rte_ring_count(h->rig.tx[HOT(1)]), 0);
	remove_port(h, 1);
	harness_command(h, "bridge del br0");
	finish(h);
}

static void a_pool_waits_for_buffers_that_are_elsewhere(void **state)
{
	(void)state;
	struct harness *h = harness();
	struct frame frame = between(BROADCAST, station[0]), got;
	unsigned buffers;

	harness_begin(h);
	harness_command(h, "bridge add br0");
	harness_command(h, "bridge member add br0 port 1");
	harness_command(h, "bridge member add br0 port %u", add(h, 0)->id);
	for (unsigned i = 0; i < 3; i++)
		send_own(h, 0, &frame);
	harness_run(h); /* they wait in port 1's ring */
	remove_port(h, 0);
	assert_int_equal(pools_waiting(h, &buffers), 1);
	assert_int_equal(buffers, 3);
	while (harness_take(h, 1, &got))
		;
	no_pool_waits(h);
	harness_command(h, "bridge del br0");
	finish(h);
}

/* What a device has received when its port is removed was never the appliance's; its buffers are
 * freed. What is on its way to it finds it gone. */
static void what_waits_on_a_removed_port_ends_there(void **state)
{
	(void)state;
	struct harness *h = harness();
	struct frame frame = between(station[0], A), late = between(BROADCAST, station[0]);

	harness_begin(h);
	harness_command(h, "bridge add br0");
	harness_command(h, "bridge member add br0 port 0");
	uint16_t id = add(h, 0)->id;
	harness_command(h, "bridge member add br0 port %u", id);
	harness_command(h, "station add br0 %s port %u", station[0], id);
	harness_send(h, 0, &frame);
	send_own(h, 0, &late);
	remove_port(h, 0);
	assert_int_equal(rte_ring_count(h->rig.rx[HOT(0)]), 0);
	harness_run(h);
	harness_dropped(h, MR_DROP_bridge_no_member, 1);
	assert_int_equal(rte_ring_count(h->rig.tx[HOT(0)]), 0);
	harness_command(h, "bridge del br0");
	finish(h);
}

static void what_is_routed_over_a_removed_port_is_withdrawn(void **state)
{
	(void)state;
	struct harness *h = routed();
	unsigned free_buffers;
	char *routes, *now;

	routes = harness_show(h, "show route");
	uint16_t id = add(h, 0)->id;
	free_buffers = ring_rig_free_buffers(&h->rig);
	harness_command(h, "address add 10.1.0.1/24 port %u", id);
	harness_command(h, "neighbour add 10.1.0.2 mac 02:bb:00:00:09:02 port %u", id);
	harness_command(h, "route add 20.0.0.0/8 via 10.1.0.2");
	harness_command(h, "route add 21.0.0.0/8 via 10.1.0.3 10.0.1.2");
	harness_command(h, "route add 22.0.0.0/8 via 10.1.0.4 10.1.0.5");
	harness_command(h, "route add 10.1.0.128/25 via 10.1.0.2");
	harness_command(h, "port config mtu %u 1400", id);
	struct frame out = FROM_0(.dst = "20.1.1.1");
	routed_send(h, 0, &out);
	struct mr_port *port = mr_port(h->rig.mr, id);
	char own[MR_MAC_TEXT_SIZE];
	struct frame expected =
		frame_routed(&out, "02:bb:00:00:09:02", mr_mac_format(&port->mac, own));
	struct frame got;

	for (bool found = false; !found;) { /* behind the announcements */
		assert_true(harness_take(h, HOT(0), &got));
		found = got.length == expected.length &&
			memcmp(got.bytes, expected.bytes, got.length) == 0;
	}
	/* Waits for a neighbour behind the port. */
	struct frame waiting = FROM_0(.dst = "10.1.0.9");
	routed_send(h, 0, &waiting);
	while (harness_take(h, HOT(0), &got))
		;
	remove_port(h, 0);
	harness_run(h);
	routed_told(h, &waiting, 3, 1, 0);
	harness_dropped(h, MR_DROP_neighbour_unreachable, 1);
	routed_send(h, 0, &out);
	routed_told(h, &out, 3, 0, 0);
	harness_dropped(h, MR_DROP_no_route, 1);

	/* The gateways that are elsewhere stay. */
	struct frame other = FROM_0(.dst = "21.1.1.1");
	routed_send(h, 0, &other);
	struct frame sent = TO_GATEWAY(1, &other);
	harness_expect(h, 1, &sent);
	harness_command(h, "route del 21.0.0.0/8");
	now = harness_show(h, "show route");
	assert_string_equal(now, routes);
	free(now);
	free(routes);

	/* The next one with that number has none of it. */
	assert_int_equal(add(h, 1)->id, id);
	assert_int_equal(mr_port(h->rig.mr, id)->mtu, 1500);
	harness_command(h, "address add 10.1.0.1/24 port %u", id);
	char *neighbours = harness_show(h, "show neighbour port 4");
	assert_string_equal(neighbours, "[]");
	free(neighbours);
	harness_advance(h, 2100);
	while (harness_take(h, HOT(1), &got))
		;
	remove_port(h, 1);
	assert_int_equal(ring_rig_free_buffers(&h->rig), free_buffers);
	no_pool_waits(h);
	routed_end(h);
}

static void fragments_that_came_in_on_a_removed_port_are_given_up(void **state)
{
	(void)state;
	struct harness *h = routed_addresses();
	uint16_t id = add(h, 0)->id;
	struct frame got;

	harness_command(h, "address add 10.1.0.1/24 port %u", id);
	harness_command(h, "mac_addr set %u 02:00:00:00:00:09", id);
	struct frame first = IPV4(.to = "02:00:00:00:00:09", .from = station[0], .src = "10.1.0.7",
				  .dst = "10.1.0.1", .payload = 64, .fragment = 0x2000);
	harness_send(h, HOT(0), &first);
	harness_run(h);
	assert_int_equal(mr_lcores_balance(h->rig.mr).held, 1);
	remove_port(h, 0);
	harness_dropped(h, MR_DROP_unconfigured, 1);
	while (harness_take(h, HOT(0), &got))
		;
	no_pool_waits(h);
	routed_addresses_end(h);
}

static void refused_adds_leave_nothing(void **state)
{
	(void)state;
	struct harness *h = harness();
	uint16_t before = rte_eth_dev_count_total();

	harness_begin(h);
	harness_refused(h, -EINVAL, "port add bogus");
	harness_refused(h, -EINVAL, "port add bogus0,x=1");
	harness_refused(h, -EEXIST, "port add net_ring_rig0");
	harness_refused(h, -EEXIST, "port attach net_ring_rig3,x=1");
	harness_refused(h, -ENODEV, "port remove 31");
	harness_refused(h, -ENODEV, "port detach 65535");
	assert_int_equal(rte_eth_dev_count_total(), before);

	/* No memory for its pool. */
	size_t size = 128 << 20;
	void *taken[64];
	unsigned count = 0;
	while (size > 1 << 16 && count < RTE_DIM(taken)) {
		taken[count] = rte_malloc(NULL, size, 0);
		if (taken[count] == NULL)
			size /= 2;
		else
			count++;
	}
	probe(h, 0);
	harness_refused(h, -ENOMEM, "port add net_ring_hot0");
	assert_int_equal(rte_eth_dev_count_total(), before);
	assert_int_equal(id_of(0), UINT16_MAX);
	while (count > 0)
		rte_free(taken[--count]);

	/* The numbers are used up. */
	char name[32];
	for (unsigned i = before; i < RTE_MAX_ETHPORTS; i++) {
		snprintf(name, sizeof(name), "net_null%u", i);
		assert_int_equal(rte_vdev_init(name, NULL), 0);
	}
	harness_refused(h, -ENOSPC, "port add net_null99");
	for (unsigned i = before; i < RTE_MAX_ETHPORTS; i++) {
		snprintf(name, sizeof(name), "net_null%u", i);
		assert_int_equal(rte_vdev_uninit(name), 0);
	}
	remove_port(h, add(h, 0) != NULL ? 0 : DEVICES);
	finish(h);
}

static void pull_out(struct harness *h, unsigned device)
{
	char name[32];

	snprintf(name, sizeof(name), "net_ring_hot%u", device);
	rte_dev_event_callback_process(name, RTE_DEV_EVENT_REMOVE);
	harness_run(h);
	for (unsigned i = 0; mr_ports_closing(h->rig.mr) != 0 && i < 100000; i++) {
		usleep(100); /* a thread closes it */
		harness_run(h);
	}
	assert_int_equal(id_of(device), UINT16_MAX);
}

static void a_device_that_was_pulled_out_gets_its_configuration_back(void **state)
{
	(void)state;
	struct harness *h = harness();
	char *with, *now, *kept;

	harness_begin(h);
	harness_command(h, "bridge add br0");
	harness_command(h, "bridge member add br0 port 0");
	uint16_t bridged = add(h, 0)->id, routed_id = add(h, 1)->id;
	harness_command(h, "bridge member add br0 port %u", bridged);
	harness_command(h, "station add br0 %s port %u", station[0], bridged);
	harness_command(h, "port config mtu %u 1300", bridged);
	harness_command(h, "mac_addr set %u 02:00:00:00:0a:01", bridged);
	harness_command(h, "port queue %u 0 lcore 1", bridged);
	harness_command(h, "address add 10.2.0.1/24 port %u", routed_id);
	harness_command(h, "address add 10.2.1.1/24 port %u", routed_id);
	harness_command(h, "neighbour add 10.2.0.9 mac %s port %u", station[1], routed_id);
	harness_command(h, "route add 30.0.0.0/8 via 10.2.0.9 10.2.1.7");
	with = harness_show(h, "show config cores");
	char *configured = ring_rig_configuration(&h->rig, NULL);

	pull_out(h, 0);
	pull_out(h, 1);
	kept = harness_show(h, "show port hotplug");
	assert_non_null(strstr(kept, "net_ring_hot0"));
	assert_non_null(strstr(kept, "net_ring_hot1"));
	free(kept);
	now = ring_rig_configuration(&h->rig, NULL);
	assert_null(strstr(now, "10.2.0"));
	assert_null(strstr(now, station[0]));
	free(now);

	/* They come back the other way round, and have each other's numbers. */
	assert_int_equal(add(h, 1)->id, bridged);
	assert_int_equal(add(h, 0)->id, routed_id);
	assert_int_equal(mr_port(h->rig.mr, routed_id)->mtu, 1300);
	assert_int_equal(h->rig.mr->lcores->pinned[routed_id][0], 0);
	now = harness_show(h, "show address");
	assert_non_null(strstr(now, "10.2.0.1/24"));
	free(now);
	pull_out(h, 0);
	pull_out(h, 1);
	assert_int_equal(add(h, 0)->id, bridged);
	assert_int_equal(add(h, 1)->id, routed_id);
	now = ring_rig_configuration(&h->rig, NULL);
	assert_string_equal(now, configured);
	free(now);
	free(configured);
	now = harness_show(h, "show config cores");
	assert_string_equal(now, with);
	free(now);
	free(with);

	/* What a command removes is not kept. */
	remove_port(h, 0);
	remove_port(h, 1);
	assert_int_equal(add(h, 0)->mtu, 1500);
	remove_port(h, 0);
	harness_command(h, "bridge del br0");
	struct frame got;
	harness_advance(h, 2100);
	while (harness_take(h, HOT(1), &got))
		;
	finish(h);
}

/* Lines for a configuration file that make the same ports. */
static void show_config_devices_says_what_was_added(void **state)
{
	(void)state;
	struct harness *h = harness();
	char *text;

	harness_begin(h);
	add(h, 0);
	add(h, 1);
	text = harness_show(h, "show config devices");
	assert_string_equal(text, "\"port add net_ring_hot0\\nport add net_ring_hot1\"");
	free(text);
	remove_port(h, 0);
	remove_port(h, 1);
	text = harness_show(h, "show config devices");
	assert_string_equal(text, "\"\"");
	free(text);
	finish(h);
}

static void io_pairs_stay_pairs(void **state)
{
	(void)state;
	struct harness *h = harness();
	struct frame frame = between(station[1], station[0]);

	harness_begin(h);
	assert_int_equal(mr_forward_mode_set(h->rig.mr, MR_MODE_IO, NULL), 0);
	add(h, 0);
	add(h, 1);
	harness_send(h, HOT(0), &frame);
	harness_run(h);
	harness_expect(h, HOT(1), &frame);

	remove_port(h, 1);
	harness_send(h, HOT(0), &frame);
	harness_send(h, 2, &frame);
	harness_run(h);
	harness_expect(h, 3, &frame); /* the other pairs go on */
	harness_expect_nothing(h);
	harness_dropped(h, MR_DROP_no_tx_path, 1);

	add(h, 2);
	harness_send(h, HOT(2), &frame);
	harness_run(h);
	harness_expect(h, HOT(0), &frame);
	harness_send(h, HOT(0), &frame);
	harness_run(h);
	harness_expect(h, HOT(2), &frame);
	remove_port(h, 0);
	remove_port(h, 2);
	h->rig.mr->forward_mode = MR_MODE_NONE;
	for (uint16_t port = 0; port < HARNESS_PORTS; port++) {
		struct mr_iface iface = *mr_iface(h->rig.mr, port);

		iface.mode = MR_MODE_NONE;
		assert_int_equal(mr_iface_publish(h->rig.mr, &iface), 0);
	}
	finish(h);
}

static void a_thousand_times_under_traffic(void **state)
{
	(void)state;
	struct harness *h = harness();
	struct frame there = between(station[3], A), burst[16];

	harness_begin(h);
	harness_command(h, "bridge add br0");
	for (unsigned port = 0; port < 2; port++)
		harness_command(h, "bridge member add br0 port %u", port);
	harness_command(h, "station add br0 %s port 1", station[3]);
	for (unsigned i = 0; i < 16; i++)
		burst[i] = there;
	for (unsigned round = 0; round < 1000; round++) {
		harness_burst(h, 0, burst, 16);
		probe(h, 0);
		harness_command(h, "port add net_ring_hot0");
		harness_command(h, "bridge member add br0 port %u", id_of(0));
		harness_burst(h, 0, burst, 16);
		if (round % 2 != 0)
			harness_run(h);
		harness_command(h, "port remove %u", id_of(0));
		harness_run(h);
		for (unsigned i = 0; i < 32; i++)
			harness_expect(h, 1, &there);
		harness_expect_nothing(h);
		harness_advance(h, 100);
	}
	harness_command(h, "bridge del br0");
	finish(h);
}

/* What the appliance should know. */
struct model {
	bool there[DEVICES], member[DEVICES], known[DEVICES]; /* known: its station */
	uint64_t received[DEVICES];
};

static void model_forget(struct model *m, unsigned device)
{
	m->member[device] = m->known[device] = false;
	m->received[device] = 0;
}

static void model_send_from(struct harness *h, struct model *m, unsigned device)
{
	struct frame hello = between(A, station[device]);

	if (!m->there[device])
		return;
	send_own(h, device, &hello);
	harness_run(h);
	m->received[device]++;
	if (m->member[device]) {
		harness_expect(h, 0, &hello); /* A is static behind port 0 */
		m->known[device] = true;
	} else {
		harness_dropped(h, MR_DROP_unconfigured, 1);
	}
}

static void model_send_to(struct harness *h, const struct model *m, unsigned device)
{
	struct frame frame = between(station[device], A);
	unsigned members = 0;

	harness_send(h, 0, &frame);
	harness_run(h);
	for (unsigned d = 0; d < DEVICES; d++) {
		bool wanted = m->member[d] && (!m->known[device] || d == device);

		members += m->member[d];
		if (wanted)
			harness_expect(h, HOT(d), &frame);
		if (h->rig.tx[HOT(d)] != NULL)
			assert_int_equal(rte_ring_count(h->rig.tx[HOT(d)]), 0);
	}
	if (members == 0)
		harness_dropped(h, MR_DROP_bridge_no_member, 1);
}

static void model_step(struct harness *h, struct model *m, unsigned device, unsigned operation)
{
	switch (operation) {
	case 0:
	case 1:
		if (m->there[device])
			break;
		add(h, device);
		m->there[device] = true;
		break;
	case 2:
		if (!m->there[device])
			break;
		remove_port(h, device);
		m->there[device] = false;
		model_forget(m, device);
		break;
	case 3:
	case 4:
		if (!m->there[device] || m->member[device])
			break;
		harness_command(h, "bridge member add br0 port %u", id_of(device));
		m->member[device] = true;
		break;
	case 5:
		if (!m->member[device])
			break;
		harness_command(h, "bridge member del br0 port %u", id_of(device));
		m->member[device] = m->known[device] = false;
		break;
	case 6:
	case 7:
		model_send_from(h, m, device);
		break;
	default:
		model_send_to(h, m, device);
	}
}

static void random_operations_agree_with_a_model(void **state)
{
	(void)state;
	struct harness *h = harness();
	struct model m = {0};

	harness_begin(h);
	harness_command(h, "bridge add br0 ageing 0");
	harness_command(h, "bridge member add br0 port 0");
	harness_command(h, "station add br0 %s port 0", A);
	srandom(1);
	for (unsigned step = 0; step < 3000; step++) {
		model_step(h, &m, (unsigned)random() % DEVICES, (unsigned)random() % 10);
		harness_advance(h, 100);
		for (unsigned d = 0; d < DEVICES; d++) {
			assert_int_equal(id_of(d) != UINT16_MAX, m.there[d]);
			if (m.there[d])
				assert_int_equal(rx_of(h, id_of(d)).packets, m.received[d]);
		}
	}
	for (unsigned d = 0; d < DEVICES; d++)
		if (m.there[d])
			remove_port(h, d);
	harness_command(h, "bridge del br0");
	finish(h);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_added_port_forwards_and_a_removed_one_is_forgotten),
		cmocka_unit_test(a_pool_waits_for_buffers_that_are_elsewhere),
		cmocka_unit_test(what_waits_on_a_removed_port_ends_there),
		cmocka_unit_test(what_is_routed_over_a_removed_port_is_withdrawn),
		cmocka_unit_test(fragments_that_came_in_on_a_removed_port_are_given_up),
		cmocka_unit_test(refused_adds_leave_nothing),
		cmocka_unit_test(a_device_that_was_pulled_out_gets_its_configuration_back),
		cmocka_unit_test(show_config_devices_says_what_was_added),
		cmocka_unit_test(io_pairs_stay_pairs),
		cmocka_unit_test(a_thousand_times_under_traffic),
		cmocka_unit_test(random_operations_agree_with_a_model),
	};

	test_eal_start("0");
	return cmocka_run_group_tests(tests, NULL, harness_destroy);
}
