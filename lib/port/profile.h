/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MR_PORT_PROFILE_H
#define MR_PORT_PROFILE_H

#include <stdbool.h>
#include <stdint.h>

#include <rte_ether.h>

#include "base/error.h"

/* How many queues a profile wants: a number, or one of these words. */
#define MR_QUEUES_LCORES UINT16_MAX    /* "lcores": one for each forwarding lcore */
#define MR_QUEUES_ALL (UINT16_MAX - 1) /* "all": as many as the device has */

/* Ethernet header, two VLAN tags and FCS: what a frame's buffer holds beyond the MTU. */
#define MR_FRAME_OVERHEAD (RTE_ETHER_HDR_LEN + 2 * 4 + RTE_ETHER_CRC_LEN)

/* What millrace knows about a driver and its devices cannot tell; from drivers-cfg/DRIVER.cfg. */
struct mr_profile {
	uint16_t rxq, txq;         /* queues a port, or MR_QUEUES_* */
	uint16_t max_rxq, max_txq; /* of what the device offers, this many work */
	uint16_t rxd, txd;         /* descriptors a queue */
	uint16_t burst;            /* packets a receive call */
	uint64_t rx_offloads;      /* used where the device offers them */
	uint64_t tx_offloads;
	bool spread;             /* something outside spreads packets over rx queues, RSS or not */
	bool queue_pairs;        /* as many rx as tx queues, always */
	bool partial_checksums;  /* see struct mr_iface; only when bound to a kernel interface */
	bool mtu_in_software;    /* the device receives all that a buffer holds, whatever the MTU */
	bool buffer_powers;      /* of a buffer the device uses a power of two */
	uint16_t buffer_unit;    /* of a buffer the device uses a multiple of so many bytes */
	uint16_t frame_overhead; /* bytes of a buffer that a packet may not have, by the driver's
				    count */
	bool legacy_interrupts;  /* rx interrupts come by the device's legacy interrupt alone */
	bool kernel_link;        /* the driver's link state means nothing: ask the kernel */
};

/* Reads the profile of a driver: default.cfg, then what DRIVER.cfg says otherwise, if there is
 * one. dir: where profiles are; NULL: those that go with the program (installed beside it, else the
 * source tree's). Returns 0 or a negative errno with error naming file, key and what is allowed. */
int mr_profile_load(const char *dir, const char *driver, struct mr_profile *profile,
		    struct mr_error *error);

#endif
