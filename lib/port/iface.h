/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MR_PORT_IFACE_H
#define MR_PORT_IFACE_H

#include <stdbool.h>
#include <stdint.h>

#include <rte_common.h>
#include <rte_ether.h>

#include "base/mr.h"

/*
 * Interfaces: what bridges, addresses and routes attach to, a 16-bit index. The first
 * RTE_MAX_ETHPORTS indices are the ports' base interfaces, with the port's number.
 *
 * A published interface never changes: the control thread copies it, changes the copy and publishes
 * that with one release store; the old one is freed after a grace period. So a forwarding lcore
 * that has loaded the pointer sees one consistent state for the whole vector.
 */
#define MR_MAX_IFACES 1024
#define MR_IFACE_NONE UINT16_MAX

enum mr_iface_mode {
	MR_MODE_NONE,   /* no role: what arrives is dropped as `unconfigured` */
	MR_MODE_IO,     /* what arrives leaves on io_peer, unseen */
	MR_MODE_BRIDGE, /* member of a bridge */
	MR_MODE_ROUTE,  /* has addresses */
	MR_MODES
};

struct mr_iface {
	uint64_t mac; /* as the low 48 bits of a little-endian load from a frame */
	uint16_t index;
	uint16_t port;      /* ethdev port id */
	uint16_t mtu;       /* of the network layer, bytes */
	uint16_t max_frame; /* untagged, without FCS: mtu + 14; each VLAN tag adds 4 */
	uint16_t bridge;    /* its bridge's index, in MR_MODE_BRIDGE */
	uint16_t io_peer;   /* interface, in MR_MODE_IO */
	uint8_t mode;       /* enum mr_iface_mode */
	bool implicit;      /* the mode comes from --forward-mode: configuration may take it away */
	bool link_up;
	bool partial_checksums; /* the device may hand over TCP/UDP checksums that the sender's
				   kernel left partial, and frames cut at the ring's frame size */
} __rte_cache_aligned;

struct mr_ifaces {
	const struct mr_iface *iface[MR_MAX_IFACES]; /* NULL: does not exist; written by control */
};

/* The published interface; control thread (lcores load it with mr_iface_fwd). */
static inline const struct mr_iface *mr_iface(const struct mr *mr, uint16_t index)
{
	return index < MR_MAX_IFACES ? mr->ifaces->iface[index] : NULL;
}

static inline const struct mr_iface *mr_iface_fwd(const struct mr_ifaces *ifaces, uint16_t index)
{
	return __atomic_load_n(&ifaces->iface[index], __ATOMIC_ACQUIRE);
}

struct mr_ifaces *mr_ifaces_create(void);
void mr_ifaces_destroy(struct mr_ifaces *ifaces);

/* Publishes a copy of iface in the place of what has its index; the old one is freed after a
 * grace period. Returns 0 or -ENOMEM (nothing changed). Control thread. */
int mr_iface_publish(struct mr *mr, const struct mr_iface *iface);

/* Unpublishes an interface. Control thread. */
void mr_iface_remove(struct mr *mr, uint16_t index);

/* The MAC of an interface in its usual form, and back. */
struct rte_ether_addr mr_iface_mac(const struct mr_iface *iface);
uint64_t mr_mac_to_u48(const struct rte_ether_addr *mac);

#endif
