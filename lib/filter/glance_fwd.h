/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef FILTER_GLANCE_FWD_H
#define FILTER_GLANCE_FWD_H

/*
 * The first glance at packets: which of them no rule matches, at either hook.
 *
 * Of plain packets (filter/plain_fwd.h), tagged or not, a sieve can look at the frame as it lies
 * there, without reading headers first. It looks only at what routing leaves as it is (addresses,
 * ports, protocol), for the rules of both hooks at once: so a packet that nothing matches is told
 * once, and marked for the output hook. All others are left to the rules.
 */
#include <stdint.h>

#include "filter/sieve_fwd.h"
#include "packet/vector.h"

/* Written by the control thread before it is published, and never again. */
struct filter_glance {
	struct filter_sieve sieve[2]; /* of IPv4 and of IPv6 frames */
};

/* Returns the mask of packets that no rule matches. Lcores. */
uint64_t filter_glance(const struct filter_glance *glance, struct rte_mbuf *const *packets,
		       unsigned count);

#endif
