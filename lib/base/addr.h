/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MR_BASE_ADDR_H
#define MR_BASE_ADDR_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

#include <rte_ether.h>

/* An IP address off the packet path: a family (AF_INET or AF_INET6) and its bytes in network
 * order; an IPv4 address uses the first four. */
struct mr_addr {
	uint8_t family;
	uint8_t bytes[16];
};

struct mr_prefix {
	struct mr_addr addr;
	uint8_t length; /* bits */
};

#define MR_ADDR_TEXT_SIZE 48 /* holds any mr_addr or mr_prefix as text */
#define MR_MAC_TEXT_SIZE 18

/* Parsers take exactly the text (no blanks, no trailing characters) and return 0 or -EINVAL.
 * IPv4 is strict dotted decimal: four parts, no leading zeros. mr_prefix_parse accepts host bits
 * and keeps them: mr_prefix_canonical clears them. */
int mr_addr_parse(const char *text, struct mr_addr *addr);
int mr_prefix_parse(const char *text, struct mr_prefix *prefix);
int mr_mac_parse(const char *text, struct rte_ether_addr *mac);

/* Formatters write what `ip` prints into text (of the sizes above) and return it. */
const char *mr_addr_format(const struct mr_addr *addr, char *text);
const char *mr_prefix_format(const struct mr_prefix *prefix, char *text);
const char *mr_mac_format(const struct rte_ether_addr *mac, char *text);

struct mr_prefix mr_prefix_canonical(const struct mr_prefix *prefix);
bool mr_addr_equal(const struct mr_addr *a, const struct mr_addr *b);
bool mr_prefix_contains(const struct mr_prefix *prefix, const struct mr_addr *addr);

/* IPv4 in host byte order, as tables and arithmetic use it. */
struct mr_addr mr_addr_from_ipv4(uint32_t ipv4);
uint32_t mr_addr_ipv4(const struct mr_addr *addr);

#endif
