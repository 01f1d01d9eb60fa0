/* SPDX-License-Identifier: BSD-3-Clause */
#include "range.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include <rte_byteorder.h>

#include "base/number.h"

/* Splits FIRST[-LAST]; last is first when there is none. */
static int split(const char *text, char first[64], char last[64])
{
	const char *dash = strchr(text, '-');
	size_t length = dash != NULL ? (size_t)(dash - text) : strlen(text);

	if (length >= 64 || (dash != NULL && strlen(dash + 1) >= 64))
		return -EINVAL;
	snprintf(first, 64, "%.*s", (int)length, text);
	snprintf(last, 64, "%s", dash != NULL ? dash + 1 : first);
	return 0;
}

static int set_count(uint64_t first, uint64_t last, uint32_t *count)
{
	if (last < first || last - first >= RANGE_MAX)
		return -EINVAL;
	*count = (uint32_t)(last - first + 1);
	return 0;
}

uint64_t mac_to_number(const struct rte_ether_addr *mac)
{
	uint64_t number = 0;

	for (unsigned i = 0; i < RTE_ETHER_ADDR_LEN; i++)
		number = number << 8 | mac->addr_bytes[i];
	return number;
}

void mac_from_number(uint64_t number, void *mac)
{
	uint64_t octets = rte_cpu_to_be_64(number << 16);

	memcpy(mac, &octets, RTE_ETHER_ADDR_LEN);
}

uint64_t addr_low(const struct mr_addr *addr)
{
	uint64_t low;

	if (addr->family == AF_INET)
		return mr_addr_ipv4(addr);
	memcpy(&low, addr->bytes + 8, sizeof(low));
	return rte_be_to_cpu_64(low);
}

int mac_range_parse(const char *text, struct mac_range *range)
{
	struct rte_ether_addr macs[2];
	char first[64], last[64];

	if (split(text, first, last) != 0 || mr_mac_parse(first, &macs[0]) != 0 ||
	    mr_mac_parse(last, &macs[1]) != 0)
		return -EINVAL;
	range->first = mac_to_number(&macs[0]);
	if (range->first == 0)
		return -EINVAL;
	return set_count(range->first, mac_to_number(&macs[1]), &range->count);
}

int addr_range_parse(const char *text, struct addr_range *range)
{
	char first[64], last[64];
	struct mr_addr end;

	if (split(text, first, last) != 0 || mr_addr_parse(first, &range->first) != 0 ||
	    mr_addr_parse(last, &end) != 0 || range->first.family != end.family)
		return -EINVAL;
	if (end.family == AF_INET6 && memcmp(range->first.bytes, end.bytes, 8) != 0)
		return -EINVAL;
	return set_count(addr_low(&range->first), addr_low(&end), &range->count);
}

int port_range_parse(const char *text, struct port_range *range)
{
	uint64_t from, to;
	char first[64], last[64];

	if (split(text, first, last) != 0 || mr_number_parse(first, UINT16_MAX, &from) != 0 ||
	    mr_number_parse(last, UINT16_MAX, &to) != 0)
		return -EINVAL;
	range->first = (uint16_t)from;
	return set_count(from, to, &range->count);
}

int32_t addr_range_find(const struct addr_range *range, const struct mr_addr *addr)
{
	if (addr->family != range->first.family ||
	    (addr->family == AF_INET6 && memcmp(addr->bytes, range->first.bytes, 8) != 0))
		return -1;
	uint64_t at = addr_low(addr) - addr_low(&range->first);
	return at < range->count ? (int32_t)at : -1;
}
