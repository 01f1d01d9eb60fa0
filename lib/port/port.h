/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MR_PORT_PORT_H
#define MR_PORT_PORT_H

#include <stdbool.h>
#include <stdint.h>

#include <rte_ethdev.h>
#include <rte_mbuf.h>

#include "base/cmd.h"
#include "base/error.h"
#include "base/mr.h"

/*
 * Ports: set-up of ethdevs by the profile of their driver, mbuf pools, MTU, MAC, link state. All of
 * it belongs to the control thread. What lcores need of a port is in its base interface (iface.h).
 */
#define MR_MAX_QUEUES 16

/* Packets that rings can hold: one between an lcore and the control thread, or (by default) from an
 * lcore to the owner of a tx queue; and one to a worker of a port that is spread over lcores. Pools
 * are sized as if all of them were full. */
#define MR_PACKET_RING_SIZE 1024
#define MR_SPREAD_RING_SIZE 512

/* What a person asked for on the command line; 0 means "as the driver's profile says". */
struct mr_port_options {
	uint64_t portmask;        /* 0: all ports */
	uint16_t rxq, txq;        /* queues a port */
	uint16_t rxd, txd;        /* descriptors a queue */
	uint16_t burst;           /* packets a receive call, 1..MR_VECTOR_SIZE */
	uint16_t mbuf_size;       /* data room of a buffer with headroom, bytes */
	uint32_t total_num_mbufs; /* buffers a pool */
	bool lcores_sleep;        /* lcores without packets sleep, see lcore/sleep_fwd.c */
	bool rx_interrupts;       /* let lcores block on rx interrupts, where the device has them */
	bool legacy_interrupts;   /* EAL was told --vfio-intr=legacy */
	uint32_t handover_size;   /* packets that a ring to the owner of a tx queue holds */
	const char *profiles_dir; /* where the profiles are; NULL: installed or source tree */
};

struct mr_port {
	uint16_t id;                           /* ethdev port id */
	char *devargs;                         /* as it was added by; NULL: there at the start */
	char name[RTE_ETH_NAME_MAX_LEN];       /* device name, "0000:00:04.0" or "net_af_packet0" */
	char label[RTE_ETH_NAME_MAX_LEN + 16]; /* "port 0 (net_af_packet0)", for messages */
	char driver[32];                       /* "net_e1000_em" */
	int socket;                            /* NUMA node of its buffers, never negative */
	uint16_t rxq, txq, rxd, txd, burst;
	uint16_t mtu, min_mtu, max_mtu;  /* bytes, without Ethernet header */
	uint16_t device_mtu;             /* what the device is told for good; 0: what mtu says */
	const char *max_mtu_reason;      /* what max_mtu comes from, as the end of a sentence */
	struct rte_ether_addr mac;       /* the device's, or one made up where it has none */
	struct rte_ether_addr first_mac; /* as it was before any command */
	uint16_t first_mtu;              /* likewise */
	uint64_t rx_offloads, tx_offloads;
	bool rss;               /* the device spreads packets over rx queues by their addresses */
	bool partial_checksums; /* see struct mr_iface */
	bool kernel_link;       /* link is the carrier of kernel interface kernel_index */
	unsigned kernel_index;  /* of the kernel interface that the device is bound to, or 0 */
	bool rx_interrupts;     /* of all its rx queues, and they are to be used */
	bool interrupts;        /* its device was configured with rx interrupts */
	bool configured;        /* its queues hold buffers of the pool */
	bool started, promiscuous, allmulticast;
	struct rte_eth_link link; /* as last polled */
	uint64_t link_changes;
	struct rte_mempool *pool;
	uint64_t *xstats_baseline; /* see xstats.c */
	unsigned xstats_count;
};

/* Sets up and starts all probed ports that options allow, their pools and base interfaces (mode
 * none). mr->rcu and mr->ifaces exist. What is adjusted is logged, one line each. On failure
 * returns a negative errno, error says which port and limit, and all is undone; ports that had got
 * as far as having queues are closed. */
int mr_ports_create(struct mr *mr, const struct mr_port_options *options, struct mr_error *error);
/* Stops and closes all ports, removes their base interfaces and frees the pools: no lcore forwards
 * any more, and no ring or table holds a packet. */
void mr_ports_destroy(struct mr *mr);

/* Has EAL probe a device, unless it was left out at the start, and sets up its port as those at the
 * start, with a pool of its own. devargs: a PCI address or a vdev with its arguments. The port's
 * queues are not placed yet. On failure returns a negative errno with a sentence, and nothing is
 * left: the device is not probed, there is no pool. */
int mr_port_add(struct mr *mr, const char *devargs, struct mr_port **port, struct mr_error *error);

/* Whether a port can be removed: it alone is on its device. Returns 0 or -EBUSY with error set. */
int mr_port_removable(const struct mr_port *port, struct mr_error *error);

/* Stops and closes a port, removes its interface and its device and frees port. Its pool, if it had
 * one of its own, is freed by a later mr_ports_poll, when all its buffers are back. No lcore polls
 * the port or sends on it any more. What the device refuses is logged. */
void mr_port_remove(struct mr *mr, struct mr_port *port);

/* The same for a port whose device is gone; the device is closed in the background, since drivers
 * may wait long for registers that are not there. */
void mr_port_abandon(struct mr *mr, struct mr_port *port);

/* How many such ports are still being closed. */
unsigned mr_ports_closing(const struct mr *mr);

/* Pools of removed ports that are still there, and how many of their buffers are elsewhere. */
unsigned mr_ports_retired_pools(const struct mr *mr, unsigned *buffers);

/* The mask of ports whose device is gone, until they are removed. */
uint32_t mr_ports_unplugged(struct mr *mr);

/* Notes what a port's MTU, MAC and filters are that a command has changed. */
struct mr_lines;
void mr_port_note_settings(const struct mr_port *port, struct mr_lines *lines);

/* How many lcores will forward, to be told before the ports are set up: queues and pools are sized
 * by it. */
void mr_ports_expect_lcores(struct mr *mr, unsigned lcores);

/* The port with that number (also as decimal digits and nothing else), NULL if there is none. */
struct mr_port *mr_port(struct mr *mr, uint16_t id);
struct mr_port *mr_port_by_text(struct mr *mr, const char *text);
#define MR_PORT_FOREACH(mr, port)                                                                  \
	for (uint16_t id_ = 0; id_ < RTE_MAX_ETHPORTS; id_++)                                      \
		if (((port) = mr_port((mr), id_)) != NULL)

int mr_port_start(struct mr *mr, struct mr_port *port, struct mr_error *error);
/* The caller has unpublished the port's queues and waited for a grace period. */
int mr_port_stop(struct mr *mr, struct mr_port *port, struct mr_error *error);
/* Sets MTU on the device and in the base interface; refused beyond max_mtu or the buffer room,
 * naming the limit. */
int mr_port_set_mtu(struct mr *mr, struct mr_port *port, uint32_t mtu, struct mr_error *error);
int mr_port_set_mac(struct mr *mr, struct mr_port *port, const struct rte_ether_addr *mac,
		    struct mr_error *error);
int mr_port_set_promiscuous(struct mr *mr, struct mr_port *port, bool on, struct mr_error *error);
int mr_port_set_allmulticast(struct mr *mr, struct mr_port *port, bool on, struct mr_error *error);

/* Polls link states (at most every 100 ms), logs changes and publishes them in the base
 * interfaces. Returns the mask of ports whose link changed since the last call, or whose MTU or MAC
 * was set. now_ms: monotonic milliseconds. */
uint32_t mr_ports_poll(struct mr *mr, uint64_t now_ms);

/* The pool from which the control thread takes buffers for packets of the appliance's own. */
struct rte_mempool *mr_ports_host_pool(struct mr *mr);

extern const struct mr_cmd mr_port_cmds[];
extern const struct mr_query mr_port_queries[];

#endif
