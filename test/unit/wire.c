/* SPDX-License-Identifier: BSD-3-Clause */
#include "wire.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include <rte_eth_ring.h>
#include <rte_mempool.h>

#include "control/appliance.h"
#include "control/control.h"
#include "lcore/lcores.h"

uint64_t wire_now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

void wire_command(struct wire *w, const char *format, ...)
{
	struct mr_reply reply;
	char line[256];
	va_list args;

	va_start(args, format);
	int length = vsnprintf(line, sizeof(line), format, args);
	va_end(args);
	if (mr_control_execute(w->mr, line, (size_t)length, &reply) != 0)
		fail_msg("'%s' refused: %s", line, reply.error.text);
	mr_reply_clear(&reply);
}

void wire_send(struct wire *w, unsigned port, const struct frame *frame)
{
	struct rte_mbuf *m = rte_pktmbuf_alloc(w->pool);

	assert_non_null(m);
	memcpy(rte_pktmbuf_append(m, (uint16_t)frame->length), frame->bytes, frame->length);
	assert_int_equal(rte_ring_sp_enqueue(w->rx[port], m), 0);
	w->sent++;
}

int wire_create(void **state, uint32_t max)
{
	static const unsigned lcores[] = {1};
	static struct wire the_wire;
	struct mr_appliance_options options = {.lcores = lcores,
					       .lcore_count = 1,
					       .forward_mode = MR_MODE_NONE,
					       .max_stations = max,
					       .router.max_routes = max,
					       .port.total_num_mbufs = 8191};
	struct wire *w = *state = &the_wire;
	struct mr_error error = {0};
	char name[32];

	for (unsigned port = 0; port < WIRE_PORTS; port++) {
		snprintf(name, sizeof(name), "wire_rx%u", port);
		w->rx[port] =
			rte_ring_create(name, 1024, SOCKET_ID_ANY, RING_F_SP_ENQ | RING_F_SC_DEQ);
		snprintf(name, sizeof(name), "wire_tx%u", port);
		w->tx[port] =
			rte_ring_create(name, 4096, SOCKET_ID_ANY, RING_F_SP_ENQ | RING_F_SC_DEQ);
		snprintf(name, sizeof(name), "wire%u", port);
		if (rte_eth_from_rings(name, &w->rx[port], 1, &w->tx[port], 1, 0) != (int)port)
			return -1;
	}
	w->mr = mr_appliance_create(&options, &error);
	if (w->mr == NULL) {
		fprintf(stderr, "%s\n", error.text);
		return -1;
	}
	w->pool = mr_ports_host_pool(w->mr);
	for (unsigned port = 0; port < WIRE_PORTS; port++) {
		struct rte_ether_addr mac = {{2, 0, 0, 0, 0, (uint8_t)port}};

		if (mr_port_set_mac(w->mr, mr_port(w->mr, (uint16_t)port), &mac, &error) != 0)
			return -1;
	}
	return mr_lcores_start(w->mr, &error);
}

int wire_destroy(void **state)
{
	mr_appliance_destroy(((struct wire *)*state)->mr);
	return 0;
}
