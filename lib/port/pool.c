/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One pool a NUMA node. Its size is the sum of everything that can hold a buffer, as if all of it
 * were full for ever: some drivers (em, virtio) give sent buffers back only when they are sent
 * more, so an idle tx ring stays full, and a port whose peer stopped must not starve the others.
 */
#include "port/pool.h"

#include <errno.h>
#include <stdio.h>

#include <rte_errno.h>
#include <rte_lcore.h>
#include <rte_mbuf.h>

#include "base/log.h"
#include "packet/vector.h"
#include "port/hugepages.h"
#include "port/limits.h"

#define MAX_CACHE RTE_MEMPOOL_CACHE_MAX_SIZE
#define PUNT_RINGS 3        /* an lcore: punt, punt_error, inject */
#define HELD_PACKETS 4096   /* by neighbours that are being resolved, and by reassembly */
#define MEMPOOL_OVERHEAD 64 /* bytes an object: header, alignment */

uint32_t mr_pool_size(const struct mr_ports *ports, int socket)
{
	unsigned lcores = RTE_MAX(ports->lcores, 1u);
	unsigned handover_size =
		ports->handover_size != 0 ? ports->handover_size : MR_PACKET_RING_SIZE;
	uint32_t buffers = HELD_PACKETS;

	for (unsigned id = 0; id < RTE_MAX_ETHPORTS; id++) {
		const struct mr_port *port = ports->port[id];
		if (port == NULL || port->socket != socket)
			continue;
		buffers += (uint32_t)port->rxq * port->rxd + (uint32_t)port->txq * port->txd;
		/* An lcore without a tx queue of its own hands over to one that has. */
		buffers += (lcores - RTE_MIN(lcores, port->txq)) * handover_size;
		/* A port with one rx queue may be spread over all lcores. */
		if (port->rxq == 1)
			buffers += (lcores - 1) * MR_SPREAD_RING_SIZE;
	}
	buffers += lcores * PUNT_RINGS * MR_PACKET_RING_SIZE;
	/* A vector in work and one that waits to be sent on each port. */
	buffers += lcores * MR_VECTOR_SIZE * 2;
	/* A cache is flushed at one and a half of its size. The control thread has one, too. */
	buffers += (lcores + 1) * (MAX_CACHE + MAX_CACHE / 2);
	return buffers;
}

unsigned mr_pool_cache_size(uint32_t buffers, unsigned lcores)
{
	/* No more than a quarter of a small pool may hide in caches. */
	uint32_t cache = buffers / 4 / (RTE_MAX(lcores, 1u) + 1);

	return RTE_MIN(cache, (uint32_t)MAX_CACHE);
}

static uint32_t rx_descriptors(const struct mr_ports *ports, int socket)
{
	uint32_t count = 0;

	for (unsigned id = 0; id < RTE_MAX_ETHPORTS; id++)
		if (ports->port[id] != NULL && ports->port[id]->socket == socket)
			count += (uint32_t)ports->port[id]->rxq * ports->port[id]->rxd;
	return count;
}

static int create(struct mr_ports *ports, int socket, const struct mr_port_options *options,
		  struct mr_error *error)
{
	uint16_t room = options->mbuf_size != 0 ? options->mbuf_size : MR_DEFAULT_MBUF_SIZE;
	uint32_t needed = mr_pool_size(ports, socket);
	uint32_t buffers = options->total_num_mbufs != 0 ? options->total_num_mbufs : needed;
	unsigned cache = mr_pool_cache_size(buffers, ports->lcores);
	char name[RTE_MEMPOOL_NAMESIZE], what[64];

	if (cache < MR_VECTOR_SIZE)
		return mr_fail(error, -EINVAL, "total-num-mbufs %u: at least %u for %u lcores",
			       buffers, 4 * MR_VECTOR_SIZE * (RTE_MAX(ports->lcores, 1u) + 1),
			       RTE_MAX(ports->lcores, 1u));
	if (buffers < rx_descriptors(ports, socket))
		mr_log_warning("total-num-mbufs %u: rx descriptors alone may take %u, all queues "
			       "and rings %u",
			       buffers, rx_descriptors(ports, socket), needed);

	snprintf(name, sizeof(name), "mr_pool_%d", socket);
	ports->pool[socket] = rte_pktmbuf_pool_create(name, buffers, cache, 0, room, socket);
	if (ports->pool[socket] != NULL)
		return 0;
	snprintf(what, sizeof(what), "%u packet buffers of %u bytes", buffers, room);
	if (rte_errno != ENOMEM && rte_errno != ENOBUFS)
		return mr_fail(error, -rte_errno, "%s: %s", what, rte_strerror(rte_errno));
	return mr_hugepages_refuse(
		error, what,
		(uint64_t)buffers * (sizeof(struct rte_mbuf) + room + MEMPOOL_OVERHEAD), socket);
}

int mr_pools_create(struct mr_ports *ports, const struct mr_port_options *options,
		    struct mr_error *error)
{
	int ret = 0;

	for (unsigned id = 0; id < RTE_MAX_ETHPORTS && ret == 0; id++) {
		struct mr_port *port = ports->port[id];
		if (port == NULL)
			continue;
		if (ports->pool[port->socket] == NULL)
			ret = create(ports, port->socket, options, error);
		port->pool = ports->pool[port->socket];
		if (ports->host_pool == NULL)
			ports->host_pool = port->pool;
	}
	if (ret == 0 && ports->host_pool == NULL) {
		ret = create(ports, rte_socket_id(), options, error);
		ports->host_pool = ports->pool[rte_socket_id()];
	}
	if (ret < 0)
		mr_pools_destroy(ports);
	return ret;
}

void mr_pools_destroy(struct mr_ports *ports)
{
	for (unsigned socket = 0; socket < RTE_MAX_NUMA_NODES; socket++) {
		rte_mempool_free(ports->pool[socket]);
		ports->pool[socket] = NULL;
	}
	ports->host_pool = NULL;
}
