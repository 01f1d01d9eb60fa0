/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MR_HOST_FRAGMENT_H
#define MR_HOST_FRAGMENT_H

#include <stdint.h>

#include <rte_ip.h>
#include <rte_mbuf.h>

/*
 * Cuts an IPv4 packet (header and payload in one piece of memory) into fragments of at most mtu
 * bytes (RFC 791 3.2), each in a buffer of its own that starts with 14 bytes of room for an
 * Ethernet header and is padded to the least Ethernet frame; one that fits becomes one. A fragment
 * may itself be cut. Checksums are filled in, DF is not looked at. Returns how many were made, or
 * 0 if there were not enough buffers, more than max would be needed, or mtu has no room for data.
 */
unsigned mr_ipv4_fragment(const struct rte_ipv4_hdr *ip, uint16_t mtu, struct rte_mempool *pool,
			  struct rte_mbuf **fragments, unsigned max);

#endif
