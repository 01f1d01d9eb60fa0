/* SPDX-License-Identifier: BSD-3-Clause */
/* Commands and queries about ports: what they show, set and refuse. Ports are two rings. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include <rte_bus_vdev.h>
#include <rte_eth_ring.h>
#include <rte_ring.h>

#include "base/rcu.h"
#include "control/control.h"
#include "lcore/lcores.h"
#include "lcore/port_run_cmd.h"
#include "port/iface.h"
#include "port/port.h"
#include "test_eal.h"

#define PORTS 2

static struct mr mr;
static struct rte_ring *ring[PORTS];
static struct mr_reply reply; /* of the last command or query */

static int run(const char *line)
{
	mr_reply_clear(&reply);
	return mr_control_execute(&mr, line, strlen(line), &reply);
}

static int query(const struct mr_query *queries, const char *path, const char *params)
{
	mr_reply_clear(&reply);
	for (; queries->path != NULL; queries++)
		if (strcmp(queries->path, path) == 0)
			return queries->run(&mr, params, &reply);
	return -ENOENT;
}

static void refused(const char *line, int code, const char *says)
{
	assert_int_equal(run(line), code);
	if (strstr(reply.error.text, says) == NULL)
		fail_msg("%s: '%s' does not say '%s'", line, reply.error.text, says);
}

static json_int_t number(const json_t *object, const char *key)
{
	if (!json_is_integer(json_object_get(object, key)))
		fail_msg("no number '%s'", key);
	return json_integer_value(json_object_get(object, key));
}

static const char *word(const json_t *object, const char *key)
{
	if (!json_is_string(json_object_get(object, key)))
		fail_msg("no string '%s'", key);
	return json_string_value(json_object_get(object, key));
}

static int start(void **state)
{
	static const unsigned ids[] = {1};
	static const struct mr_port_options options = {.total_num_mbufs = 2048};
	struct mr_error error = {0};

	(void)state;
	test_eal_start("0");
	mr.rcu = mr_rcu_create(1);
	mr.ifaces = mr_ifaces_create();
	for (unsigned i = 0; i < PORTS; i++) {
		char name[32];
		snprintf(name, sizeof(name), "cmd_%u", i);
		ring[i] = rte_ring_create(name, 64, 0, RING_F_SP_ENQ | RING_F_SC_DEQ);
		assert_int_equal(rte_eth_from_rings(name, &ring[i], 1, &ring[i], 1, 0), i);
	}
	assert_int_equal(mr_control_new(&mr), 0);
	assert_int_equal(mr_control_register(mr.control, mr_port_cmds), 0);
	assert_int_equal(mr_control_register(mr.control, mr_port_run_cmds), 0);
	assert_int_equal(mr_lcores_create(&mr, ids, 1, &error), 0);
	mr_ports_expect_lcores(&mr, 1);
	assert_int_equal(mr_ports_create(&mr, &options, &error), 0);
	mr_lcores_adopt(&mr);
	assert_int_equal(mr_lcores_place(&mr, &error), 0);
	return 0;
}

static int end(void **state)
{
	(void)state;
	mr_reply_clear(&reply);
	mr_lcores_stop(&mr);
	mr_lcores_destroy(&mr);
	mr_ports_destroy(&mr);
	mr_control_free(&mr);
	mr_ifaces_destroy(mr.ifaces);
	mr_rcu_destroy(mr.rcu);
	return 0;
}

static void info_is_a_table_of_all_or_all_of_one(void **state)
{
	(void)state;
	assert_int_equal(run("show port info all"), 0);
	assert_int_equal(json_array_size(reply.data), PORTS);
	assert_string_equal(word(json_array_get(reply.data, 1), "name"), "net_ring_cmd_1");

	assert_int_equal(run("show port info 1"), 0);
	assert_int_equal(number(reply.data, "port"), 1);
	assert_string_equal(word(reply.data, "driver"), "net_ring");
	assert_string_equal(word(reply.data, "state"), "started");
	assert_string_equal(word(reply.data, "link"), "up");
	assert_int_equal(number(reply.data, "mtu"), 1500);
	assert_int_equal(number(reply.data, "rxq"), 1);
	assert_int_equal(number(reply.data, "buffer_size"), 2176);
	assert_int_equal(number(reply.data, "pool_buffers"), 2048);

	assert_int_equal(query(mr_port_queries, "/millrace/port/info", "1"), 0);
	assert_int_equal(number(reply.data, "port"), 1);
}

static void ports_that_do_not_exist_are_refused(void **state)
{
	(void)state;
	static const char *const lines[] = {"show port info 2",
					    "show port stats 31",
					    "show port xstats 32",
					    "clear port stats 2",
					    "clear port xstats 65535",
					    "set promisc 2 on",
					    "set allmulti 2 on",
					    "port config mtu 2 1500",
					    "port config 2 mtu 1500",
					    "port start 2",
					    "mac_addr set 2 02:00:00:00:00:02",
					    "port stop 2"};

	for (unsigned i = 0; i < sizeof(lines) / sizeof(lines[0]); i++)
		refused(lines[i], -ENODEV, "there is no port");
	static const char *const params[] = {"", "2", "-1", "01", "0x0", "0,1", "65536", "all"};
	for (unsigned i = 0; i < sizeof(params) / sizeof(params[0]); i++) {
		assert_int_equal(query(mr_port_queries, "/millrace/port/info", params[i]), -ENODEV);
		assert_int_equal(query(mr_port_run_queries, "/millrace/port/stats", params[i]),
				 -ENODEV);
	}
}

static void mtu_is_set_in_both_forms_and_limited(void **state)
{
	(void)state;
	assert_int_equal(run("port config mtu 0 1400"), 0);
	assert_int_equal(mr_iface(&mr, 0)->mtu, 1400);
	assert_int_equal(run("port config 0 mtu 1500"), 0);
	assert_int_equal(mr_iface(&mr, 0)->mtu, 1500);
	refused("port config mtu 0 9000", -EINVAL, "at most 2022 allowed");
	refused("port config mtu 0 67036", -EINVAL, "MTU 67036 wanted"); /* 1500 in 16 bits */
	refused("port config mtu 0 0", -EINVAL, "at least 68");
	assert_int_equal(mr_iface(&mr, 0)->mtu, 1500);
}

static void what_was_set_is_told_with_the_next_poll(void **state)
{
	(void)state;
	mr_ports_poll(&mr, 1000);
	assert_int_equal(mr_ports_poll(&mr, 1001), 0);
	assert_int_equal(run("mac_addr set 1 02:00:00:00:00:77"), 0);
	assert_int_equal(mr_iface(&mr, 1)->mac, 0x770000000002);
	assert_int_equal(mr_ports_poll(&mr, 1002), 1u << 1);
	assert_int_equal(mr_ports_poll(&mr, 1003), 0);
	refused("mac_addr set 1 01:00:00:00:00:77", -EINVAL, "group address");
	assert_int_equal(mr_ports_poll(&mr, 1004), 0);
}

static void promiscuous_mode_is_switched(void **state)
{
	(void)state;
	assert_int_equal(run("set promisc all off"), 0);
	assert_false(mr_port(&mr, 0)->promiscuous || mr_port(&mr, 1)->promiscuous);
	assert_int_equal(run("set promisc 1 on"), 0);
	assert_true(!mr_port(&mr, 0)->promiscuous && mr_port(&mr, 1)->promiscuous);
	assert_int_equal(run("set promisc all on"), 0);
	assert_int_equal(run("set allmulti all on"), 0);
	assert_true(mr_port(&mr, 0)->allmulticast);
	assert_int_equal(run("set allmulti all off"), 0);
}

static void stats_count_from_the_last_clear(void **state)
{
	(void)state;
	struct mr_counters *counters = &mr.lcores->lcore[0]->counters;

	counters->rx[0][0] = (struct mr_traffic){7, 700};
	counters->tx[0][0] = (struct mr_traffic){3, 300};
	counters->drop[0][MR_DROP_runt] = 4;
	assert_int_equal(run("show port stats 0"), 0);
	assert_int_equal(number(reply.data, "rx_packets"), 7);
	assert_int_equal(number(reply.data, "rx_bytes"), 700);
	assert_int_equal(number(reply.data, "tx_packets"), 3);
	assert_int_equal(number(reply.data, "drops"), 4);
	assert_int_equal(number(json_object_get(reply.data, "dropped"), "runt"), 4);
	assert_int_equal(
		number(json_array_get(json_object_get(reply.data, "rx_queues"), 0), "packets"), 7);

	assert_int_equal(run("clear port stats all"), 0);
	assert_int_equal(counters->rx[0][0].packets, 7);
	counters->rx[0][0].packets = 9;
	assert_int_equal(query(mr_port_run_queries, "/millrace/port/stats", "0"), 0);
	assert_int_equal(number(reply.data, "rx_packets"), 2);
	assert_int_equal(number(reply.data, "rx_bytes"), 0);
	assert_int_equal(number(reply.data, "drops"), 0);
	assert_int_equal(run("show port stats all"), 0);
	assert_int_equal(json_array_size(reply.data), PORTS);
	memset(counters, 0, sizeof(*counters));
	assert_int_equal(run("clear port stats 0"), 0);
}

static void xstats_count_from_the_last_clear(void **state)
{
	(void)state;
	struct rte_mbuf *m = rte_pktmbuf_alloc(mr_ports_host_pool(&mr));

	rte_pktmbuf_append(m, 60);
	assert_int_equal(run("clear port xstats all"), 0);
	assert_int_equal(rte_eth_tx_burst(0, 0, &m, 1), 1);
	assert_int_equal(run("show port xstats 0"), 0);
	assert_int_equal(number(reply.data, "tx_good_packets"), 1);
	assert_int_equal(run("clear port xstats 0"), 0);
	assert_int_equal(run("show port xstats 0"), 0);
	assert_int_equal(number(reply.data, "tx_good_packets"), 0);
	assert_int_equal(rte_eth_rx_burst(0, 0, &m, 1), 1);
	rte_pktmbuf_free(m);
}

static void a_port_is_stopped_and_started_again(void **state)
{
	(void)state;
	assert_int_equal(run("port stop 0"), 0);
	assert_false(mr_port(&mr, 0)->started);
	assert_false(mr.lcores->lcore[0]->plan->tx[0].usable);
	assert_int_equal(mr.lcores->lcore[0]->plan->rx_count, 1);
	refused("port stop 0", -EALREADY, "is stopped already");
	assert_int_equal(run("show port info 0"), 0);
	assert_string_equal(word(reply.data, "state"), "stopped");

	assert_int_equal(run("port start 0"), 0);
	assert_true(mr.lcores->lcore[0]->plan->tx[0].usable);
	assert_int_equal(mr.lcores->lcore[0]->plan->rx_count, 2);
	refused("port start 0", -EALREADY, "is started already");
}

static void config_and_list(void **state)
{
	(void)state;
	assert_int_equal(run("show config rxtx"), 0);
	assert_int_equal(json_array_size(reply.data), PORTS);
	assert_string_equal(word(json_array_get(reply.data, 0), "rx_offloads"), "none");
	assert_int_equal(number(json_array_get(reply.data, 0), "burst"), 64);
	assert_int_equal(query(mr_port_queries, "/millrace/port/list", ""), 0);
	assert_int_equal(json_array_size(reply.data), PORTS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(info_is_a_table_of_all_or_all_of_one),
		cmocka_unit_test(ports_that_do_not_exist_are_refused),
		cmocka_unit_test(mtu_is_set_in_both_forms_and_limited),
		cmocka_unit_test(what_was_set_is_told_with_the_next_poll),
		cmocka_unit_test(promiscuous_mode_is_switched),
		cmocka_unit_test(stats_count_from_the_last_clear),
		cmocka_unit_test(xstats_count_from_the_last_clear),
		cmocka_unit_test(a_port_is_stopped_and_started_again),
		cmocka_unit_test(config_and_list),
	};
	return cmocka_run_group_tests(tests, start, end);
}
