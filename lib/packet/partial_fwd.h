/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MR_PACKET_PARTIAL_FWD_H
#define MR_PACKET_PARTIAL_FWD_H

#include "packet/vector.h"

/* Completes the TCP and UDP checksums (IPv4 and IPv6, under up to two VLAN tags) that a sender's
 * kernel left for its device to finish. Returns the mask of packets that are shorter than the
 * length in their IP header, which the caller drops. */
uint64_t mr_partial_finish(struct mr_vector *vector);

#endif
