/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One pool a NUMA node. Its size is the sum of everything that can hold a buffer, as if all of it
 * were full for ever: some drivers (em, virtio) give sent buffers back only when they are sent
 * more, so an idle tx ring stays full, and a port whose peer stopped must not starve the others.
 *
 * A pool cannot grow, so a port that is added later brings one of its own, and takes it away again.
 */
#include "port/pool.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include <rte_errno.h>
#include <rte_lcore.h>
#include <rte_mbuf.h>

#include "base/log.h"
#include "base/rcu.h"
#include "packet/vector.h"
#include "port/hugepages.h"
#include "port/limits.h"

#define MAX_CACHE RTE_MEMPOOL_CACHE_MAX_SIZE
#define PUNT_RINGS 3        /* an lcore: punt, punt_error, inject */
#define HELD_PACKETS 4096   /* by neighbours that are being resolved, and by reassembly */
#define MEMPOOL_OVERHEAD 64 /* bytes an object: header, alignment */

struct mr_retired_pool {
	struct mr_retired_pool *next;
	struct rte_mempool *pool;
};

/* For what one port alone can hold. */
static uint32_t port_buffers(const struct mr_ports *ports, const struct mr_port *port)
{
	unsigned lcores = RTE_MAX(ports->lcores, 1u);
	unsigned handover_size = ports->options.handover_size != 0 ? ports->options.handover_size
								   : MR_PACKET_RING_SIZE;
	uint32_t buffers = (uint32_t)port->rxq * port->rxd + (uint32_t)port->txq * port->txd;

	/* An lcore without a tx queue of its own hands over to one that has. */
	buffers += (lcores - RTE_MIN(lcores, port->txq)) * handover_size;
	/* A port with one rx queue may be spread over all lcores. */
	if (port->rxq == 1)
		buffers += (lcores - 1) * MR_SPREAD_RING_SIZE;
	return buffers;
}

/* For what can hold packets of any port. */
static uint32_t shared_buffers(const struct mr_ports *ports)
{
	unsigned lcores = RTE_MAX(ports->lcores, 1u);
	uint32_t buffers = HELD_PACKETS;

	buffers += lcores * PUNT_RINGS * MR_PACKET_RING_SIZE;
	/* A vector in work and one that waits to be sent on each port. */
	buffers += lcores * MR_VECTOR_SIZE * 2;
	/* A cache is flushed at one and a half of its size. The control thread has one, too. */
	buffers += (lcores + 1) * (MAX_CACHE + MAX_CACHE / 2);
	return buffers;
}

uint32_t mr_pool_size(const struct mr_ports *ports, int socket)
{
	uint32_t buffers = shared_buffers(ports);

	for (unsigned id = 0; id < RTE_MAX_ETHPORTS; id++)
		if (ports->port[id] != NULL && ports->port[id]->socket == socket)
			buffers += port_buffers(ports, ports->port[id]);
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

/* needed: by all queues and rings, rx: by the rx queues among them. */
static struct rte_mempool *create(struct mr_ports *ports, const char *name, uint32_t needed,
				  uint32_t rx, int socket, struct mr_error *error)
{
	const struct mr_port_options *options = &ports->options;
	uint16_t room = options->mbuf_size != 0 ? options->mbuf_size : MR_DEFAULT_MBUF_SIZE;
	uint32_t buffers = options->total_num_mbufs != 0 ? options->total_num_mbufs : needed;
	unsigned cache = mr_pool_cache_size(buffers, ports->lcores);
	struct rte_mempool *pool;
	char what[64];

	if (cache < MR_VECTOR_SIZE) {
		mr_fail(error, -EINVAL, "total-num-mbufs %u: at least %u for %u lcores", buffers,
			4 * MR_VECTOR_SIZE * (RTE_MAX(ports->lcores, 1u) + 1),
			RTE_MAX(ports->lcores, 1u));
		rte_errno = EINVAL;
		return NULL;
	}
	if (buffers < rx)
		mr_log_warning("total-num-mbufs %u: rx descriptors alone may take %u, all queues "
			       "and rings %u",
			       buffers, rx, needed);

	pool = rte_pktmbuf_pool_create(name, buffers, cache, 0, room, socket);
	if (pool != NULL)
		return pool;
	snprintf(what, sizeof(what), "%u packet buffers of %u bytes", buffers, room);
	if (rte_errno != ENOMEM && rte_errno != ENOBUFS)
		mr_fail(error, -rte_errno, "%s: %s", what, rte_strerror(rte_errno));
	else
		rte_errno = -mr_hugepages_refuse(
			error, what,
			(uint64_t)buffers * (sizeof(struct rte_mbuf) + room + MEMPOOL_OVERHEAD),
			socket);
	return NULL;
}

static int create_shared(struct mr_ports *ports, int socket, struct mr_error *error)
{
	char name[RTE_MEMPOOL_NAMESIZE];

	snprintf(name, sizeof(name), "mr_pool_%d", socket);
	ports->pool[socket] = create(ports, name, mr_pool_size(ports, socket),
				     rx_descriptors(ports, socket), socket, error);
	return ports->pool[socket] != NULL ? 0 : -rte_errno;
}

int mr_pool_create_own(struct mr_ports *ports, struct mr_port *port, struct mr_error *error)
{
	char name[RTE_MEMPOOL_NAMESIZE];

	snprintf(name, sizeof(name), "mr_added_%u", ports->pools_made);
	port->pool = create(ports, name, shared_buffers(ports) + port_buffers(ports, port),
			    (uint32_t)port->rxq * port->rxd, port->socket, error);
	if (port->pool == NULL)
		return -rte_errno;
	ports->pools_made++;
	return 0;
}

int mr_pools_create(struct mr_ports *ports, struct mr_error *error)
{
	int ret = 0;

	for (unsigned id = 0; id < RTE_MAX_ETHPORTS && ret == 0; id++) {
		struct mr_port *port = ports->port[id];
		if (port == NULL)
			continue;
		if (ports->pool[port->socket] == NULL)
			ret = create_shared(ports, port->socket, error);
		port->pool = ports->pool[port->socket];
		if (ports->host_pool == NULL)
			ports->host_pool = port->pool;
	}
	if (ret == 0 && ports->host_pool == NULL) {
		ret = create_shared(ports, rte_socket_id(), error);
		ports->host_pool = ports->pool[rte_socket_id()];
	}
	if (ret < 0)
		mr_pools_destroy(ports);
	return ret;
}

void mr_pool_retire(struct mr_ports *ports, struct rte_mempool *pool)
{
	struct mr_retired_pool *retired = malloc(sizeof(*retired));

	if (retired == NULL) {
		mr_log_error("no memory to wait for the buffers of %s: it stays", pool->name);
		return;
	}
	*retired = (struct mr_retired_pool){.next = ports->retired, .pool = pool};
	ports->retired = retired;
}

static void free_pool(void *pool)
{
	rte_mempool_free(pool);
}

/* When all buffers are back, the lcore that gave the last one may still be at it: so a grace period
 * follows. */
void mr_pools_poll(struct mr *mr)
{
	struct mr_retired_pool **at = &mr->ports->retired;

	while (*at != NULL) {
		struct mr_retired_pool *retired = *at;

		if (!rte_mempool_full(retired->pool)) {
			at = &retired->next;
			continue;
		}
		*at = retired->next;
		mr_rcu_defer(mr->rcu, free_pool, retired->pool);
		free(retired);
	}
}

unsigned mr_ports_retired_pools(const struct mr *mr, unsigned *buffers)
{
	unsigned pools = 0;

	*buffers = 0;
	for (struct mr_retired_pool *r = mr->ports->retired; r != NULL; r = r->next) {
		*buffers += rte_mempool_in_use_count(r->pool);
		pools++;
	}
	return pools;
}

void mr_pools_destroy(struct mr_ports *ports)
{
	while (ports->retired != NULL) {
		struct mr_retired_pool *retired = ports->retired;

		ports->retired = retired->next;
		rte_mempool_free(retired->pool);
		free(retired);
	}
	for (unsigned socket = 0; socket < RTE_MAX_NUMA_NODES; socket++) {
		rte_mempool_free(ports->pool[socket]);
		ports->pool[socket] = NULL;
	}
	ports->host_pool = NULL;
}
