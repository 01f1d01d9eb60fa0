/* SPDX-License-Identifier: BSD-3-Clause */
#include "ring_rig.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_eth_ring.h>
#include <rte_mempool.h>

#include "control/appliance.h"
#include "control/control.h"
#include "lcore/lcores.h"

static struct rte_ring *make_ring(const char *kind, unsigned port)
{
	char name[RTE_RING_NAMESIZE];

	snprintf(name, sizeof(name), "rig_%s%u", kind, port);
	return rte_ring_create(name, RING_RIG_RING_SIZE, SOCKET_ID_ANY, 0);
}

static int make_ports(struct ring_rig *rig, struct mr_error *error)
{
	for (unsigned port = 0; port < rig->ports; port++) {
		char name[16];

		snprintf(name, sizeof(name), "rig%u", port);
		rig->rx[port] = make_ring("rx", port);
		rig->tx[port] = make_ring("tx", port);
		if (rig->rx[port] == NULL || rig->tx[port] == NULL ||
		    rte_eth_from_rings(name, &rig->rx[port], 1, &rig->tx[port], 1, 0) != (int)port)
			return mr_fail(error, -ENODEV, "no ring port %u", port);
	}
	return 0;
}

static int name_port(struct ring_rig *rig, unsigned port, struct mr_error *error)
{
	struct rte_ether_addr mac = {.addr_bytes = {2, 0, 0, 0, 0, (uint8_t)port}};

	return mr_port_set_mac(rig->mr, mr_port(rig->mr, (uint16_t)port), &mac, error);
}

int ring_rig_create(struct ring_rig *rig, unsigned ports, struct mr_error *error)
{
	static const unsigned lcores[] = {1};
	struct mr_appliance_options options = {
		.lcores = lcores,
		.lcore_count = 1,
		.forward_mode = MR_MODE_NONE,
		.max_stations = 1024,
		.filter_flows = 1024,
		.router.max_routes = 4096,
		.port.total_num_mbufs = 4095,
		.port.mbuf_size = 2048 + 128,
	};
	rig->ports = ports;
	int rc = make_ports(rig, error);
	if (rc != 0)
		return rc;
	rig->mr = mr_appliance_create(&options, error);
	if (rig->mr == NULL)
		return -EINVAL;
	for (unsigned port = 0; rc == 0 && port < rig->ports; port++)
		rc = name_port(rig, port, error);
	mr_lcores_adopt(rig->mr);
	rig->now_ms = 1000000;
	ring_rig_advance(rig, 1000, 100);
	return rc;
}

static struct rte_mempool *pool(struct ring_rig *rig)
{
	return mr_ports_host_pool(rig->mr);
}

struct rte_mbuf *ring_rig_buffer(struct ring_rig *rig, const void *bytes, unsigned length)
{
	struct rte_mbuf *m = rte_pktmbuf_alloc(pool(rig));

	if (m == NULL)
		return NULL;
	/* What was in the buffer before must not matter. */
	memset(m->buf_addr, 0x5c, m->buf_len);
	m->port = RTE_MBUF_PORT_INVALID; /* ring ports do not write it */
	char *data = length <= UINT16_MAX ? rte_pktmbuf_append(m, (uint16_t)length) : NULL;
	if (data == NULL) {
		rte_pktmbuf_free(m);
		return NULL;
	}
	memcpy(data, bytes, length);
	return m;
}

bool ring_rig_put(struct ring_rig *rig, unsigned port, struct rte_mbuf *packet)
{
	return rte_ring_enqueue(rig->rx[port], packet) == 0;
}

struct rte_mbuf *ring_rig_take(struct ring_rig *rig, unsigned port)
{
	struct rte_mbuf *m;

	return rte_ring_dequeue(rig->tx[port], (void **)&m) == 0 ? m : NULL;
}

void ring_rig_run(struct ring_rig *rig)
{
	unsigned quiet = 0;

	/* Two quiet rounds: one starts the grace periods of what was deferred, the next ends them.
	 */
	while (quiet < 3) {
		unsigned count = mr_appliance_poll(rig->mr, rig->now_ms);

		rig->tsc += 1000;
		count += mr_lcore_iteration(rig->mr->lcores->lcore[0], rig->tsc);
		quiet = count == 0 ? quiet + 1 : 0;
	}
}

void ring_rig_advance(struct ring_rig *rig, uint64_t ms, uint64_t step_ms)
{
	while (ms > 0) {
		uint64_t step = ms > step_ms ? step_ms : ms;

		rig->now_ms += step;
		ms -= step;
		ring_rig_run(rig);
	}
}

void ring_rig_link(struct ring_rig *rig, unsigned port, bool up)
{
	if (up)
		rte_eth_dev_set_link_up((uint16_t)port);
	else
		rte_eth_dev_set_link_down((uint16_t)port);
	ring_rig_advance(rig, 200, 100);
}

unsigned ring_rig_free_buffers(struct ring_rig *rig)
{
	return rte_mempool_avail_count(pool(rig));
}

char *ring_rig_show(struct ring_rig *rig, const char *const *commands, unsigned count,
		    struct mr_error *error)
{
	char *all = NULL;
	size_t size;
	FILE *out = open_memstream(&all, &size);
	int rc = 0;

	if (out == NULL) {
		mr_fail(error, -ENOMEM, "no memory");
		return NULL;
	}
	for (unsigned i = 0; rc == 0 && i < count; i++) {
		struct mr_reply reply;

		rc = mr_control_execute(rig->mr, commands[i], strlen(commands[i]), &reply);
		if (rc != 0)
			mr_fail(error, rc, "'%s' refused: %s", commands[i], reply.error.text);
		fprintf(out, "%s: ", commands[i]);
		json_dumpf(reply.data, out, JSON_SORT_KEYS | JSON_ENCODE_ANY);
		fputc('\n', out);
		mr_reply_clear(&reply);
	}
	fclose(out);
	if (rc != 0) {
		free(all);
		return NULL;
	}
	return all;
}

char *ring_rig_configuration(struct ring_rig *rig, struct mr_error *error)
{
	static const char *const commands[] = {"show bridge", "show station", "show address",
					       "show route", "show neighbour"};

	return ring_rig_show(rig, commands, RTE_DIM(commands), error);
}
