/* SPDX-License-Identifier: BSD-3-Clause */
#include "filter_linear.h"

#include <string.h>

#include <rte_byteorder.h>

static bool is_ip(const struct mr_filter_key *key)
{
	return (key->flags & (MR_FILTER_IPV4 | MR_FILTER_IPV6)) != 0;
}

static bool has(const struct mr_filter_key *key, uint16_t flags)
{
	return (key->flags & flags) == flags;
}

/* Whether the packet has the field, and its value. */
static bool field_of(const struct mr_filter_key *key, uint8_t field, bool out, uint32_t *value)
{
	switch (field) {
	case MR_FILTER_PROTOCOL:
		*value = key->protocol;
		return is_ip(key);
	case MR_FILTER_SPORT:
		*value = rte_be_to_cpu_16(key->sport);
		return has(key, MR_FILTER_PORTS);
	case MR_FILTER_DPORT:
		*value = rte_be_to_cpu_16(key->dport);
		return has(key, MR_FILTER_PORTS);
	case MR_FILTER_ICMP_TYPE:
		*value = key->icmp.type;
		return has(key, MR_FILTER_ICMP | MR_FILTER_IPV4);
	case MR_FILTER_ICMP6_TYPE:
		*value = key->icmp.type;
		return has(key, MR_FILTER_ICMP | MR_FILTER_IPV6);
	case MR_FILTER_LENGTH:
		*value = rte_be_to_cpu_16(key->length);
		return is_ip(key);
	case MR_FILTER_TTL:
		*value = key->ttl;
		return is_ip(key);
	case MR_FILTER_DSCP:
		*value = key->dscp;
		return is_ip(key);
	case MR_FILTER_VLAN:
		*value = rte_be_to_cpu_16(key->vlan);
		return true;
	case MR_FILTER_ETHERTYPE:
		*value = rte_be_to_cpu_16(key->ethertype);
		return true;
	case MR_FILTER_RECV:
		*value = rte_be_to_cpu_16(key->iface_in);
		return true;
	case MR_FILTER_XMIT:
		*value = rte_be_to_cpu_16(key->iface_out);
		return out;
	case MR_FILTER_VIA:
		*value = rte_be_to_cpu_16(out ? key->iface_out : key->iface_in);
		return true;
	default:
		*value = rte_be_to_cpu_16(key->vrf);
		return true;
	}
}

static bool test_holds(const struct mr_filter_test *test, const struct mr_filter_key *key, bool out)
{
	bool inside = false;
	uint32_t value;

	if (!field_of(key, test->field, out, &value))
		return false;
	for (unsigned i = 0; i < test->count; i++)
		if (value >= test->range[i].first && value <= test->range[i].last)
			inside = true;
	return inside != test->negated;
}

static bool in_set(const struct mr_filter_address_set *set, const struct mr_addr *addr)
{
	for (uint32_t i = 0; i < set->count; i++)
		if (mr_prefix_contains(&set->prefix[i], addr))
			return true;
	return false;
}

static bool address_holds(const struct mr_filter_set *set, const struct mr_filter_addresses *test,
			  const struct mr_filter_key *key, const uint8_t *bytes)
{
	struct mr_addr addr = {.family = has(key, MR_FILTER_IPV4) ? AF_INET : AF_INET6};
	bool inside = false;

	if (test->count == 0)
		return true;
	if (!is_ip(key))
		return false;
	memcpy(addr.bytes, bytes, 16);
	for (unsigned i = 0; i < test->count; i++) {
		const struct mr_filter_address *one = &test->alternative[i];

		if (one->is_set ? in_set(set->addresses[one->set], &addr)
				: mr_prefix_contains(&one->prefix, &addr))
			inside = true;
	}
	return inside != test->negated;
}

static bool wish_holds(uint8_t wish, bool possible, bool is)
{
	return wish == MR_FILTER_ANY || (possible && is == (wish == MR_FILTER_YES));
}

static bool mac_holds(const struct mr_filter_mac *mac, const uint8_t *bytes)
{
	bool agrees = true;

	if (mac->bits == 0)
		return true;
	for (unsigned bit = 0; bit < mac->bits; bit++)
		if ((bytes[bit / 8] ^ mac->mac.addr_bytes[bit / 8]) >> (7 - bit % 8) & 1)
			agrees = false;
	return agrees != mac->negated;
}

static bool tcp_holds(const struct mr_filter_tcp *tcp, const struct mr_filter_key *key)
{
	bool agrees = (key->tcp_flags & tcp->set) == tcp->set && (key->tcp_flags & tcp->clear) == 0;

	if ((tcp->set | tcp->clear) == 0)
		return true;
	return has(key, MR_FILTER_TCP) && agrees != tcp->negated;
}

bool filter_linear_matches(const struct mr_filter_set *set, const struct mr_filter_rule *rule,
			   const struct mr_filter_key *key, bool out)
{
	uint8_t family = has(key, MR_FILTER_IPV4)   ? MR_FILTER_FAMILY_V4
			 : has(key, MR_FILTER_IPV6) ? MR_FILTER_FAMILY_V6
						    : MR_FILTER_FAMILY_OTHER;

	for (unsigned i = 0; i < rule->tests; i++)
		if (!test_holds(&rule->test[i], key, out))
			return false;
	return (rule->families == MR_FILTER_FAMILY_ALL || (rule->families & family)) &&
	       wish_holds(rule->direction, true, !out) &&
	       wish_holds(rule->fragment, is_ip(key), has(key, MR_FILTER_LATER)) &&
	       wish_holds(rule->options, is_ip(key), has(key, MR_FILTER_OPTIONS)) &&
	       wish_holds(rule->established, has(key, MR_FILTER_TCP),
			  (key->tcp_flags & 0x14) != 0) &&
	       tcp_holds(&rule->tcp, key) && mac_holds(&rule->src_mac, key->src_mac) &&
	       mac_holds(&rule->dst_mac, key->dst_mac) &&
	       address_holds(set, &rule->src, key, key->src) &&
	       address_holds(set, &rule->dst, key, key->dst);
}

uint32_t filter_linear_first(const struct mr_filter_set *set, const struct mr_filter_key *key,
			     bool out, uint32_t start)
{
	for (uint32_t i = start; i < set->count; i++)
		if (filter_linear_matches(set, set->rule[i], key, out))
			return i;
	return set->count;
}
