/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MR_HOST_REASSEMBLY_H
#define MR_HOST_REASSEMBLY_H

#include <stdint.h>

#include <rte_mbuf.h>

#include "base/mr.h"

/* Reassembly of IPv4 datagrams for the appliance itself (RFC 791 3.2, RFC 1122 3.3.2). Control
 * thread. */
#define MR_REASSEMBLY_DATAGRAMS 64           /* at the same time */
#define MR_REASSEMBLY_FRAGMENTS 512          /* held for all of them */
#define MR_REASSEMBLY_DATAGRAM_FRAGMENTS 128 /* of one; 576-byte fragments of 65,535 bytes: 119 */
#define MR_REASSEMBLY_TIMEOUT_MS 30000       /* since the first fragment came */

struct mr_datagram;
struct mr_reassembly;

struct mr_reassembly *mr_reassembly_create(void);
/* Drops what is held as `stopped` and frees. */
void mr_reassembly_destroy(struct mr *mr, struct mr_reassembly *reassembly);

/* Takes a fragment, whose addresses are known to be good. Returns MR_HOST_TAKEN, or the reason for
 * which the caller is to drop it. The fragment that completes a datagram has it handled, and all
 * of its fragments end as it does. */
int mr_reassembly_input(struct mr *mr, const struct mr_datagram *fragment, struct rte_mbuf *packet);

/* Gives up datagrams whose time is over. */
void mr_reassembly_poll(struct mr *mr);

/* Gives up datagrams of which a fragment came in on an interface that goes away. */
void mr_reassembly_withdraw(struct mr *mr, struct mr_reassembly *reassembly, uint16_t iface);

/* Fragments held. */
unsigned mr_reassembly_held(const struct mr_reassembly *reassembly);

#endif
