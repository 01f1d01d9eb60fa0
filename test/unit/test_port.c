/* SPDX-License-Identifier: BSD-3-Clause */
/* Ports over net_ring and net_null devices: set-up, limits, pools, MTU, MAC, what stays behind. */
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include <rte_bus_vdev.h>
#include <rte_eth_ring.h>
#include <rte_mempool.h>
#include <rte_ring.h>

#include "base/rcu.h"
#include "packet/vector.h"
#include "port/iface.h"
#include "port/limits.h"
#include "port/pool.h"
#include "port/port.h"
#include "port/ports.h"
#include "test_eal.h"

#define RINGS 2

struct fixture {
	struct mr mr;
	struct rte_ring *ring[RINGS];
	uint16_t ring_port; /* of two rings */
};

static int set_up(void **state)
{
	static struct fixture fixture;
	struct fixture *f = &fixture;

	*f = (struct fixture){.mr.rcu = mr_rcu_create(1), .mr.ifaces = mr_ifaces_create()};
	for (unsigned i = 0; i < RINGS; i++) {
		char name[32];
		snprintf(name, sizeof(name), "test_port_%u", i);
		f->ring[i] = rte_ring_create(name, 64, 0, RING_F_SP_ENQ | RING_F_SC_DEQ);
		assert_non_null(f->ring[i]);
	}
	int port = rte_eth_from_rings("test_port", f->ring, RINGS, f->ring, RINGS, 0);
	assert_true(port >= 0);
	f->ring_port = port;
	*state = f;
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *f = *state;

	mr_ports_destroy(&f->mr);
	mr_ifaces_destroy(f->mr.ifaces);
	mr_rcu_destroy(f->mr.rcu);
	rte_vdev_uninit("net_ring_test_port");
	rte_vdev_uninit("net_null0");
	for (unsigned i = 0; i < RINGS; i++)
		rte_ring_free(f->ring[i]);
	return 0;
}

static void count_pool(struct rte_mempool *pool, void *arg)
{
	(void)pool;
	(*(unsigned *)arg)++;
}

static unsigned pools(void)
{
	unsigned count = 0;

	rte_mempool_walk(count_pool, &count);
	return count;
}

static const struct mr_port_options small = {.total_num_mbufs = 2048};

static void a_ring_becomes_a_started_port(void **state)
{
	struct fixture *f = *state;
	struct mr_error error = {0};

	assert_int_equal(mr_ports_create(&f->mr, &small, &error), 0);
	struct mr_port *port = mr_port(&f->mr, f->ring_port);
	assert_non_null(port);
	assert_string_equal(port->driver, "net_ring");
	assert_true(port->started && port->promiscuous);
	assert_int_equal(port->rxq, RINGS);
	assert_int_equal(port->txq, RINGS);
	assert_int_equal(port->mtu, 1500);
	assert_true(port->socket >= 0);
	assert_ptr_equal(mr_ports_host_pool(&f->mr), port->pool);
	assert_int_equal(port->pool->size, 2048);
	assert_true(port->pool->cache_size >= MR_VECTOR_SIZE);
	assert_null(mr_port(&f->mr, f->ring_port + 1));
	assert_null(mr_port(&f->mr, UINT16_MAX));

	const struct mr_iface *iface = mr_iface(&f->mr, f->ring_port);
	assert_non_null(iface);
	assert_int_equal(iface->port, f->ring_port);
	assert_int_equal(iface->mode, MR_MODE_NONE);
	assert_int_equal(iface->max_frame, 1514);
	assert_true(iface->link_up);
	assert_false(iface->partial_checksums);
}

static void a_device_without_mac_gets_a_stable_local_one(void **state)
{
	struct fixture *f = *state;
	struct mr_error error = {0};

	assert_int_equal(mr_ports_create(&f->mr, &small, &error), 0);
	struct mr_port *port = mr_port(&f->mr, f->ring_port);
	assert_true(rte_is_valid_assigned_ether_addr(&port->mac));
	assert_true(rte_is_local_admin_ether_addr(&port->mac));
	assert_int_equal(mr_iface(&f->mr, f->ring_port)->mac, mr_mac_to_u48(&port->mac));

	struct rte_ether_addr first = port->mac;
	assert_int_equal(tear_down(state), 0);
	assert_int_equal(set_up(state), 0);
	f = *state;
	assert_int_equal(mr_ports_create(&f->mr, &small, &error), 0);
	port = mr_port(&f->mr, f->ring_port);
	assert_memory_equal(&port->mac, &first, sizeof(first));
}

static void nothing_stays_behind(void **state)
{
	struct fixture *f = *state;
	struct mr_error error = {0};

	for (unsigned round = 0; round < 2; round++) {
		assert_int_equal(pools(), 0);
		assert_int_equal(mr_ports_create(&f->mr, &small, &error), 0);
		assert_int_equal(pools(), 1);
		mr_ports_destroy(&f->mr);
		assert_int_equal(pools(), 0);
		assert_int_equal(rte_eth_dev_count_avail(), 0);
		assert_int_equal(tear_down(state), 0);
		assert_int_equal(set_up(state), 0);
		f = *state;
	}
}

static void too_little_memory_is_one_line_and_undone(void **state)
{
	struct fixture *f = *state;
	struct mr_error error = {0};
	struct mr_port_options huge = {.total_num_mbufs = 1000000};

	assert_int_equal(mr_ports_create(&f->mr, &huge, &error), -ENOMEM);
	assert_non_null(strstr(error.text, "1000000 packet buffers of 2176 bytes"));
	assert_non_null(strstr(error.text, "-m"));
	assert_null(strchr(error.text, '\n'));
	assert_int_equal(pools(), 0);
	assert_null(f->mr.ports);
	error.text[0] = '\0';
	assert_int_equal(mr_ports_create(&f->mr, &small, &error), 0);
}

static void impossible_options_are_refused(void **state)
{
	struct fixture *f = *state;
	static const struct {
		struct mr_port_options options;
		const char *says;
	} cases[] = {
		{{.rxq = 17}, "rxq 17: at most 16"},
		{{.txq = 17}, "txq 17: at most 16"},
		{{.burst = 65}, "burst 65: at most 64"},
		{{.mbuf_size = 200}, "mbuf-size 200: at least"},
		{{.total_num_mbufs = 100}, "total-num-mbufs 100: at least"},
		{{.portmask = 1ull << 40}, "there is no port 40"},
		{{.profiles_dir = "/nonexistent"}, "/nonexistent/default.cfg"},
	};

	for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct mr_error error = {0};
		assert_true(mr_ports_create(&f->mr, &cases[i].options, &error) < 0);
		if (strstr(error.text, cases[i].says) == NULL)
			fail_msg("'%s' does not say '%s'", error.text, cases[i].says);
		assert_int_equal(pools(), 0);
	}
}

static void more_queues_than_the_device_has_are_clamped(void **state)
{
	struct fixture *f = *state;
	struct mr_error error = {0};
	struct mr_port_options options = {.total_num_mbufs = 2048, .rxq = 5, .txq = 3};

	assert_int_equal(mr_ports_create(&f->mr, &options, &error), 0);
	assert_int_equal(mr_port(&f->mr, f->ring_port)->rxq, RINGS);
	assert_int_equal(mr_port(&f->mr, f->ring_port)->txq, RINGS);
}

static void portmask_leaves_ports_out(void **state)
{
	struct fixture *f = *state;
	struct mr_error error = {0};
	struct mr_port_options options = {.total_num_mbufs = 2048};

	assert_int_equal(rte_vdev_init("net_null0", ""), 0);
	options.portmask = 1ull << f->ring_port;
	assert_int_equal(mr_ports_create(&f->mr, &options, &error), 0);
	struct mr_port *port;
	unsigned count = 0;
	MR_PORT_FOREACH (&f->mr, port) {
		count++;
	}
	assert_int_equal(count, 1);
	uint16_t null_port;
	assert_int_equal(rte_eth_dev_get_port_by_name("net_null0", &null_port), 0);
	assert_null(mr_iface(&f->mr, null_port));
}

static void mtu_is_limited_by_the_buffer_and_named(void **state)
{
	struct fixture *f = *state;
	struct mr_error error = {0};

	assert_int_equal(mr_ports_create(&f->mr, &small, &error), 0);
	struct mr_port *port = mr_port(&f->mr, f->ring_port);
	assert_int_equal(port->max_mtu, 2048 - MR_FRAME_OVERHEAD);

	assert_int_equal(mr_port_set_mtu(&f->mr, port, port->max_mtu, &error), 0);
	assert_int_equal(mr_iface(&f->mr, f->ring_port)->mtu, port->max_mtu);
	assert_int_equal(mr_iface(&f->mr, f->ring_port)->max_frame, port->max_mtu + 14);

	assert_int_equal(mr_port_set_mtu(&f->mr, port, port->max_mtu + 1, &error), -EINVAL);
	assert_non_null(strstr(error.text, "MTU 2023 wanted, at most 2022 allowed"));
	assert_non_null(strstr(error.text, "--mbuf-size"));
	assert_int_equal(port->mtu, port->max_mtu);

	error.text[0] = '\0';
	assert_int_equal(mr_port_set_mtu(&f->mr, port, 67, &error), -EINVAL);
	assert_non_null(strstr(error.text, "at least 68"));
	assert_int_equal(mr_port_set_mtu(&f->mr, port, 68, &error), 0);
}

static void larger_buffers_allow_larger_frames(void **state)
{
	struct fixture *f = *state;
	struct mr_error error = {0};
	struct mr_port_options options = {.total_num_mbufs = 1024, .mbuf_size = 9344};

	assert_int_equal(mr_ports_create(&f->mr, &options, &error), 0);
	struct mr_port *port = mr_port(&f->mr, f->ring_port);
	assert_int_equal(rte_pktmbuf_data_room_size(port->pool), 9344);
	assert_int_equal(mr_port_set_mtu(&f->mr, port, 9000, &error), 0);
	assert_int_equal(mr_port_set_mtu(&f->mr, port, 9300, &error), -EINVAL);
}

static void mac_lives_in_the_port_where_the_device_takes_none(void **state)
{
	struct fixture *f = *state;
	struct mr_error error = {0};
	struct rte_ether_addr mac = {{2, 0, 0, 0, 0, 9}}, group = {{3, 0, 0, 0, 0, 9}};

	assert_int_equal(mr_ports_create(&f->mr, &small, &error), 0);
	struct mr_port *port = mr_port(&f->mr, f->ring_port);
	assert_int_equal(mr_port_set_mac(&f->mr, port, &group, &error), -EINVAL);
	assert_int_equal(mr_port_set_mac(&f->mr, port, &mac, &error), 0);
	assert_int_equal(mr_iface(&f->mr, f->ring_port)->mac, mr_mac_to_u48(&mac));
}

static void a_stopped_port_has_no_link(void **state)
{
	struct fixture *f = *state;
	struct mr_error error = {0};

	assert_int_equal(mr_ports_create(&f->mr, &small, &error), 0);
	struct mr_port *port = mr_port(&f->mr, f->ring_port);
	assert_int_equal(mr_port_stop(&f->mr, port, &error), 0);
	assert_int_equal(mr_port_stop(&f->mr, port, &error), -EALREADY);
	assert_int_equal(mr_ports_poll(&f->mr, 99), 0);
	assert_int_equal(mr_ports_poll(&f->mr, 100), 1u << f->ring_port);
	assert_false(mr_iface(&f->mr, f->ring_port)->link_up);
	assert_int_equal(mr_port_start(&f->mr, port, &error), 0);
	assert_int_equal(mr_ports_poll(&f->mr, 150), 0);
	assert_int_equal(mr_ports_poll(&f->mr, 200), 1u << f->ring_port);
	assert_true(mr_iface(&f->mr, f->ring_port)->link_up);
	assert_int_equal(mr_ports_poll(&f->mr, 300), 0);
}

static pthread_t stopped_by; /* the thread that last stopped a device */

/* In the place of ethdev's. */
int rte_eth_dev_stop(uint16_t port)
{
	int (*stop)(uint16_t) = dlsym(RTLD_NEXT, "rte_eth_dev_stop");

	stopped_by = pthread_self();
	return stop(port);
}

static void devices_with_rx_interrupts_stop_on_the_interrupt_thread(void **state)
{
	struct mr_port_options options = small;
	struct fixture *f = *state;
	struct mr_error error = {0};
	char name[16];

	options.rx_interrupts = true;
	assert_int_equal(mr_ports_create(&f->mr, &options, &error), 0);
	struct mr_port *port = mr_port(&f->mr, f->ring_port);
	assert_int_equal(mr_port_stop(&f->mr, port, &error), 0);
	assert_int_equal(pthread_getname_np(stopped_by, name, sizeof(name)), 0);
	assert_string_equal(name, "eal-intr-thread");
	assert_int_equal(mr_port_start(&f->mr, port, &error), 0);
	stopped_by = pthread_self();
	mr_ports_destroy(&f->mr);
	assert_false(pthread_equal(stopped_by, pthread_self()));
}

static bool pcap_finishes_checksums(const char *arguments)
{
	struct mr_profile profile;
	struct mr_port_options options = {0};
	struct mr_port port = {.label = "port 0 (pcap)"};
	struct mr_error error = {0};
	struct rte_eth_dev_info info;
	uint16_t id;

	assert_int_equal(mr_profile_load(NULL, "net_pcap", &profile, &error), 0);
	assert_int_equal(rte_vdev_init("net_pcap_test", arguments), 0);
	assert_int_equal(rte_eth_dev_get_port_by_name("net_pcap_test", &id), 0);
	assert_int_equal(rte_eth_dev_info_get(id, &info), 0);
	assert_int_equal(mr_port_limit(&port, &info, &profile, &options, 1, &error), 0);
	assert_int_equal(rte_vdev_uninit("net_pcap_test"), 0);
	return port.partial_checksums;
}

static void only_frames_of_a_kernel_have_partial_checksums(void **state)
{
	static const uint8_t empty_capture[24] = {0xd4, 0xc3, 0xb2, 0xa1,     2,
						  0,    4,    0,    [17] = 1, [20] = 1};
	char path[] = "/tmp/test_port_XXXXXX", arguments[64];
	int fd = mkstemp(path);

	(void)state;
	assert_int_equal(write(fd, empty_capture, sizeof(empty_capture)), sizeof(empty_capture));
	close(fd);
	snprintf(arguments, sizeof(arguments), "rx_pcap=%s", path);
	assert_false(pcap_finishes_checksums(arguments));
	unlink(path);
	if (geteuid() != 0)
		skip(); /* kernel interfaces are root's */
	assert_true(pcap_finishes_checksums("iface=lo"));
	assert_true(pcap_finishes_checksums("rx_iface=lo,tx_iface=lo"));
	assert_true(pcap_finishes_checksums("rx_iface_in=lo,tx_iface=lo"));
}

/* What the limits are made of has tests of its own, on made-up devices. */

static struct mr_port limited(const struct rte_eth_dev_info *info, const struct mr_profile *profile,
			      const struct mr_port_options *options, unsigned lcores)
{
	struct mr_port port = {.label = "port 0 (made up)"};
	struct mr_error error = {0};

	assert_int_equal(mr_port_limit(&port, info, profile, options, lcores, &error), 0);
	return port;
}

static const struct rte_eth_dev_info em = {
	.max_rx_queues = 2,
	.max_tx_queues = 2,
	.min_rx_bufsize = 256,
	.max_rx_pktlen = 16128,
	.max_mtu = 16128 - 22,
	.rx_desc_lim = {.nb_min = 32, .nb_max = 4096, .nb_align = 8},
	.tx_desc_lim = {.nb_min = 32, .nb_max = 4096, .nb_align = 8},
};

static struct mr_profile profile_of(const char *driver)
{
	struct mr_profile profile;
	struct mr_error error = {0};

	if (mr_profile_load(NULL, driver, &profile, &error) != 0)
		fail_msg("%s", error.text);
	return profile;
}

static void em_is_capped_at_the_queues_that_work(void **state)
{
	(void)state;
	struct mr_profile profile = profile_of("net_e1000_em");

	for (uint16_t q = 0; q <= 3; q++) {
		struct mr_port_options options = {.rxq = q, .txq = q};
		struct mr_port port = limited(&em, &profile, &options, 4);
		assert_int_equal(port.rxq, 1);
		assert_int_equal(port.txq, 1);
		assert_int_equal(port.rxd, 1024);
	}
}

static void descriptors_are_brought_into_what_the_device_takes(void **state)
{
	(void)state;
	struct mr_profile profile = profile_of("net_e1000_em");
	static const struct {
		uint16_t asked, got;
	} cases[] = {{0, 1024},    {1, 32},      {33, 40},     {1023, 1024},
		     {4096, 4096}, {4097, 4096}, {65535, 4096}};

	for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct mr_port_options options = {.rxd = cases[i].asked, .txd = cases[i].asked};
		struct mr_port port = limited(&em, &profile, &options, 1);
		assert_int_equal(port.rxd, cases[i].got);
		assert_int_equal(port.txd, cases[i].got);
	}
}

static void several_rx_queues_need_something_that_spreads(void **state)
{
	(void)state;
	struct mr_profile profile = profile_of("none such");
	struct mr_port_options asked = {.rxq = 4}, unasked = {0};
	struct rte_eth_dev_info info = {.max_rx_queues = 8, .max_tx_queues = 8};

	assert_int_equal(limited(&info, &profile, &asked, 2).rxq, 1);
	info.flow_type_rss_offloads = RTE_ETH_RSS_IP;
	assert_int_equal(limited(&info, &profile, &asked, 2).rxq, 4);
	assert_true(limited(&info, &profile, &asked, 2).rss);
	assert_int_equal(limited(&info, &profile, &unasked, 2).rxq, 2);
	assert_int_equal(limited(&info, &profile, &unasked, 99).rxq, 8);
	assert_false(limited(&info, &profile, &unasked, 1).rss);
	info.flow_type_rss_offloads = 0;
	profile.spread = true;
	assert_int_equal(limited(&info, &profile, &asked, 2).rxq, 4);
	assert_false(limited(&info, &profile, &asked, 2).rss);
}

static void queue_pairs_stay_pairs(void **state)
{
	(void)state;
	struct mr_profile profile = profile_of("net_virtio");
	struct mr_port_options options = {.rxq = 2, .txq = 4};
	struct rte_eth_dev_info info = {.max_rx_queues = 8, .max_tx_queues = 8};

	assert_int_equal(limited(&info, &profile, &options, 1).rxq, 2);
	assert_int_equal(limited(&info, &profile, &options, 1).txq, 2);
}

static void only_offered_offloads_are_used(void **state)
{
	(void)state;
	struct mr_profile profile = profile_of("net_e1000_igb");
	struct mr_port_options options = {0};
	struct rte_eth_dev_info info = {.max_rx_queues = 1,
					.max_tx_queues = 1,
					.rx_offload_capa = RTE_ETH_RX_OFFLOAD_IPV4_CKSUM |
							   RTE_ETH_RX_OFFLOAD_VLAN_STRIP,
					.tx_offload_capa = UINT64_MAX};

	assert_int_equal(limited(&info, &profile, &options, 1).rx_offloads,
			 RTE_ETH_RX_OFFLOAD_IPV4_CKSUM);
	assert_int_equal(limited(&info, &profile, &options, 1).tx_offloads, 0);
}

static void the_smallest_mtu_limit_counts(void **state)
{
	(void)state;
	struct mr_profile profile = profile_of("net_e1000_em");
	struct mr_port_options options = {0}, jumbo = {.mbuf_size = 16384 + RTE_PKTMBUF_HEADROOM};
	struct rte_eth_dev_info tap = {.max_rx_queues = 1,
				       .max_tx_queues = 1,
				       .max_rx_pktlen = 1522,
				       .max_mtu = UINT16_MAX};

	assert_int_equal(limited(&em, &profile, &jumbo, 1).max_mtu, 16106);
	profile = profile_of("default");
	assert_int_equal(limited(&em, &profile, &options, 1).max_mtu, 2022);
	assert_int_equal(limited(&tap, &profile, &jumbo, 1).max_mtu, 1504);
	assert_int_equal(limited(&tap, &profile, &jumbo, 1).mtu, 1500);
}

/* The driver of em and igb adds 22 bytes to the MTU, which then has to fit into the buffer. */
static void the_device_is_told_what_a_buffer_holds(void **state)
{
	(void)state;
	struct mr_profile profile = profile_of("net_e1000_em");
	struct mr_port_options options = {0}, jumbo = {.mbuf_size = 9728};
	struct rte_eth_dev_info ich8 = em;
	struct mr_port port = limited(&em, &profile, &options, 1);

	assert_int_equal(port.device_mtu, 2048 - 22);
	assert_int_equal(port.max_mtu, port.device_mtu - 8); /* two tags */
	assert_int_equal(port.mtu, 1500);
	/* 9600 bytes, of which em uses 8192 and igb 9216. */
	assert_int_equal(limited(&em, &profile, &jumbo, 1).device_mtu, 8192 - 22);
	profile = profile_of("net_e1000_igb");
	assert_int_equal(limited(&em, &profile, &jumbo, 1).device_mtu, 9216 - 22);
	/* ICH8 takes no larger frames than usual. */
	ich8.max_rx_pktlen = 1522;
	ich8.max_mtu = 1500;
	port = limited(&ich8, &profile, &options, 1);
	assert_int_equal(port.device_mtu, 1500);
	assert_int_equal(port.max_mtu, 1500);
}

static void a_buffer_smaller_than_the_device_needs_is_refused(void **state)
{
	(void)state;
	struct mr_profile profile = profile_of("net_e1000_em");
	struct mr_port_options options = {.mbuf_size = 300};
	struct mr_port port = {.label = "port 0 (made up)"};
	struct mr_error error = {0};

	assert_int_equal(mr_port_limit(&port, &em, &profile, &options, 1, &error), -EINVAL);
	assert_string_equal(error.text,
			    "port 0 (made up): mbuf-size 300 wanted, at least 384 allowed");
}

static void a_pool_holds_what_rings_and_caches_can_hide(void **state)
{
	(void)state;
	struct mr_port a = {.rxq = 1, .txq = 1, .rxd = 1024, .txd = 512};
	struct mr_port b = {.rxq = 2, .txq = 2, .rxd = 256, .txd = 256, .socket = 1};
	struct mr_ports ports = {.lcores = 2, .port = {&a, &b}};
	uint32_t always = 4096 + 2 * 3 * 1024 + 2 * 64 * 2 + 3 * 768;

	assert_int_equal(mr_pool_size(&ports, 0), always + 1024 + 512 + 1024 + 512);
	ports.options.handover_size = 100;
	assert_int_equal(mr_pool_size(&ports, 0), always + 1024 + 512 + 100 + 512);
	assert_int_equal(mr_pool_size(&ports, 1), always + 2 * 256 + 2 * 256);
	assert_int_equal(mr_pool_cache_size(100000, 2), 512);
	assert_int_equal(mr_pool_cache_size(1200, 2), 100);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define WITH_RING(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)
		WITH_RING(a_ring_becomes_a_started_port),
		WITH_RING(a_device_without_mac_gets_a_stable_local_one),
		WITH_RING(nothing_stays_behind),
		WITH_RING(too_little_memory_is_one_line_and_undone),
		WITH_RING(impossible_options_are_refused),
		WITH_RING(more_queues_than_the_device_has_are_clamped),
		WITH_RING(portmask_leaves_ports_out),
		WITH_RING(mtu_is_limited_by_the_buffer_and_named),
		WITH_RING(larger_buffers_allow_larger_frames),
		WITH_RING(mac_lives_in_the_port_where_the_device_takes_none),
		WITH_RING(a_stopped_port_has_no_link),
		WITH_RING(devices_with_rx_interrupts_stop_on_the_interrupt_thread),
		cmocka_unit_test(only_frames_of_a_kernel_have_partial_checksums),
		cmocka_unit_test(em_is_capped_at_the_queues_that_work),
		cmocka_unit_test(descriptors_are_brought_into_what_the_device_takes),
		cmocka_unit_test(several_rx_queues_need_something_that_spreads),
		cmocka_unit_test(queue_pairs_stay_pairs),
		cmocka_unit_test(only_offered_offloads_are_used),
		cmocka_unit_test(the_smallest_mtu_limit_counts),
		cmocka_unit_test(the_device_is_told_what_a_buffer_holds),
		cmocka_unit_test(a_buffer_smaller_than_the_device_needs_is_refused),
		cmocka_unit_test(a_pool_holds_what_rings_and_caches_can_hide),
	};
	test_eal_start("0");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
