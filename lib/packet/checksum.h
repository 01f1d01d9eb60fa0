/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MR_PACKET_CHECKSUM_H
#define MR_PACKET_CHECKSUM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <rte_ip.h>

/*
 * The Internet checksum (RFC 1071) as the control thread computes it: over whole headers and
 * messages, in one piece of memory, of any length and alignment. Values are as they stand in the
 * packet (network order), so that they are stored without a swap.
 */

/* What goes into a checksum field that holds 0 while this runs. */
static inline uint16_t mr_checksum(const void *data, size_t size)
{
	return (uint16_t)~rte_raw_cksum(data, size);
}

/* Whether data that contains its checksum field is intact. */
static inline bool mr_checksum_ok(const void *data, size_t size)
{
	return mr_checksum(data, size) == 0;
}

/* Bytes of an IPv4 header with its options; not checked. */
static inline uint16_t mr_ipv4_header_size(const struct rte_ipv4_hdr *ip)
{
	return (uint16_t)((ip->version_ihl & RTE_IPV4_HDR_IHL_MASK) * RTE_IPV4_IHL_MULTIPLIER);
}

/* Fills in the header checksum of a finished header. */
static inline void mr_ipv4_set_checksum(struct rte_ipv4_hdr *ip)
{
	ip->hdr_checksum = 0;
	ip->hdr_checksum = mr_checksum(ip, mr_ipv4_header_size(ip));
}

#endif
