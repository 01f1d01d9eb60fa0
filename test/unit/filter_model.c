/* SPDX-License-Identifier: BSD-3-Clause */
#include "filter_model.h"

#include <stdlib.h>
#include <string.h>

/* ---- reading ---- */

static unsigned number(const uint8_t *at)
{
	return at[0] * 256u + at[1];
}

static bool ports_of(unsigned protocol)
{
	return protocol == 6 || protocol == 17 || protocol == 33 || protocol == 132 ||
	       protocol == 136;
}

/* The transport header of a whole packet or first fragment: `left` bytes at `at`. */
static void read_transport(struct model_packet *p, const uint8_t *at, unsigned left)
{
	unsigned least = p->protocol == 6              ? 20
			 : p->protocol == 17           ? 8
			 : p->protocol == 136          ? 8
			 : p->protocol == 132          ? 12
			 : p->protocol == 33           ? 12
			 : p->protocol == 1 && p->ip4  ? 8
			 : p->protocol == 58 && p->ip6 ? 4
						       : 0;

	if (left < least) {
		p->state = p->first ? MODEL_TINY_FRAGMENT : MODEL_BAD_HEADER;
		return;
	}
	if (ports_of(p->protocol)) {
		p->has_ports = true;
		p->sport = number(at);
		p->dport = number(at + 2);
	}
	if (p->protocol == 6) {
		p->has_tcp = true;
		p->tcp_flags = at[13];
	}
	if ((p->protocol == 1 && p->ip4) || (p->protocol == 58 && p->ip6)) {
		p->has_icmp = true;
		p->icmp_type = at[0];
		p->icmp_code = at[1];
	}
}

static void read_ip4(struct model_packet *p, const uint8_t *at, unsigned left)
{
	p->ip4 = true;
	if (left < 20 || at[0] >> 4 != 4) {
		p->state = MODEL_BAD_HEADER;
		return;
	}
	unsigned header = (at[0] & 15) * 4u, total = number(at + 2);
	if (header < 20 || total < header || total > left) {
		p->state = MODEL_BAD_HEADER;
		return;
	}
	unsigned offset = (number(at + 6) & 0x1fff) * 8;
	p->first = offset == 0 && (at[6] & 0x20) != 0;
	p->later = offset != 0;
	p->options = header > 20;
	p->length = total;
	p->ttl = at[8];
	p->dscp = at[1] / 4;
	p->protocol = at[9];
	memcpy(p->src, at + 12, 4);
	memcpy(p->dst, at + 16, 4);
	if (p->later && p->protocol == 6 && offset < 20)
		p->state = MODEL_TINY_FRAGMENT;
	if (!p->later)
		read_transport(p, at + header, total - header);
}

static void read_ip6(struct model_packet *p, const uint8_t *at, unsigned left)
{
	p->ip6 = true;
	if (left < 40 || at[0] >> 4 != 6 || number(at + 4) > left - 40) {
		p->state = MODEL_BAD_HEADER;
		return;
	}
	const uint8_t *next = at + 40, *end = next + number(at + 4);
	unsigned headers = 0, fragments = 0;
	p->length = number(at + 4) + 40 > 65535 ? 65535 : number(at + 4) + 40;
	p->ttl = at[7];
	p->dscp = (number(at) >> 6) & 63;
	p->protocol = at[6];
	memcpy(p->src, at + 8, 16);
	memcpy(p->dst, at + 24, 16);
	while (p->protocol == 0 || p->protocol == 43 || p->protocol == 60 || p->protocol == 44 ||
	       p->protocol == 51) {
		unsigned size;

		if (++headers > 8) {
			p->state = MODEL_LONG_CHAIN;
			return;
		}
		if (end - next < 8) {
			p->state = p->first ? MODEL_TINY_FRAGMENT : MODEL_BAD_HEADER;
			return;
		}
		size = p->protocol == 44   ? 8
		       : p->protocol == 51 ? 4 * (next[1] + 2u)
					   : 8 * (next[1] + 1u);
		if (p->protocol == 44 && ++fragments > 1) {
			p->state = MODEL_BAD_HEADER;
			return;
		}
		if (p->protocol == 44) {
			unsigned offset = number(next + 2) & 0xfff8;

			p->later = offset != 0;
			p->first = offset == 0 && (next[3] & 1);
			if (p->later && next[0] == 6 && offset < 20) {
				p->state = MODEL_TINY_FRAGMENT;
				return;
			}
		}
		p->options =
			p->options || p->protocol == 0 || p->protocol == 43 || p->protocol == 60;
		if ((unsigned)(end - next) < size) {
			p->state = p->first ? MODEL_TINY_FRAGMENT : MODEL_BAD_HEADER;
			return;
		}
		p->protocol = next[0];
		next += size;
		if (p->later)
			return;
	}
	read_transport(p, next, (unsigned)(end - next));
}

void model_read(const uint8_t *frame, unsigned length, struct model_packet *packet)
{
	unsigned at = 12, tags = 0;

	memset(packet, 0, sizeof(*packet));
	memcpy(packet->dst_mac, frame, 6);
	memcpy(packet->src_mac, frame + 6, 6);
	while (tags < 2 && (number(frame + at) == 0x8100 || number(frame + at) == 0x88a8) &&
	       at + 6 <= length) {
		if (tags++ == 0)
			packet->vlan = number(frame + at + 2) & 0xfff;
		at += 4;
	}
	packet->ethertype = (uint16_t)number(frame + at);
	if (packet->ethertype == 0x0800)
		read_ip4(packet, frame + at + 2, length - at - 2);
	if (packet->ethertype == 0x86dd)
		read_ip6(packet, frame + at + 2, length - at - 2);
}

/* ---- rules ---- */

static bool starts_with(const uint8_t *bytes, const uint8_t *prefix, unsigned bits)
{
	for (unsigned i = 0; i < bits; i++)
		if (((bytes[i / 8] ^ prefix[i / 8]) >> (7 - i % 8)) & 1)
			return false;
	return true;
}

static bool in_prefix(const struct model_packet *p, const uint8_t *address,
		      const struct mr_prefix *prefix)
{
	return p->ip4 == (prefix->addr.family == AF_INET) &&
	       starts_with(address, prefix->addr.bytes, prefix->length);
}

static bool is_alternative(const struct mr_filter_set *set, const struct model_packet *p,
			   const uint8_t *address, const struct mr_filter_address *alternative)
{
	const struct mr_filter_address_set *named;

	if (!alternative->is_set)
		return in_prefix(p, address, &alternative->prefix);
	named = set->addresses[alternative->set];
	for (unsigned i = 0; i < named->count; i++)
		if (in_prefix(p, address, &named->prefix[i]))
			return true;
	return false;
}

static bool address_holds(const struct mr_filter_set *set, const struct model_packet *p,
			  const uint8_t *address, const struct mr_filter_addresses *wanted)
{
	bool found = false;

	if (wanted->count == 0)
		return true;
	if (!p->ip4 && !p->ip6)
		return false;
	for (unsigned i = 0; i < wanted->count; i++)
		found = found || is_alternative(set, p, address, &wanted->alternative[i]);
	return found != wanted->negated;
}

/* The value of a field, false if the packet has none. */
static bool field_value(const struct model_packet *p, const struct mr_filter_place *place,
			unsigned field, unsigned *value)
{
	bool ip = p->ip4 || p->ip6;

	switch (field) {
	case MR_FILTER_PROTOCOL:
		*value = p->protocol;
		return ip;
	case MR_FILTER_SPORT:
		*value = p->sport;
		return p->has_ports;
	case MR_FILTER_DPORT:
		*value = p->dport;
		return p->has_ports;
	case MR_FILTER_ICMP_TYPE:
		*value = p->icmp_type;
		return p->has_icmp && p->ip4;
	case MR_FILTER_ICMP6_TYPE:
		*value = p->icmp_type;
		return p->has_icmp && p->ip6;
	case MR_FILTER_LENGTH:
		*value = p->length;
		return ip;
	case MR_FILTER_TTL:
		*value = p->ttl;
		return ip;
	case MR_FILTER_DSCP:
		*value = p->dscp;
		return ip;
	case MR_FILTER_VLAN:
		*value = p->vlan;
		return true;
	case MR_FILTER_ETHERTYPE:
		*value = p->ethertype;
		return true;
	case MR_FILTER_RECV:
		*value = place->iface_in;
		return true;
	case MR_FILTER_XMIT:
		*value = place->iface_out;
		return place->out;
	case MR_FILTER_VIA:
		*value = place->out ? place->iface_out : place->iface_in;
		return true;
	case MR_FILTER_VRF:
		*value = place->vrf;
		return true;
	default:
		abort();
	}
}

static bool test_holds(const struct model_packet *p, const struct mr_filter_place *place,
		       const struct mr_filter_test *test)
{
	unsigned value;
	bool found = false;

	if (!field_value(p, place, test->field, &value))
		return false;
	for (unsigned i = 0; i < test->count; i++)
		found = found || (value >= test->range[i].first && value <= test->range[i].last);
	return found != test->negated;
}

/* A yes or no about what only some packets can be asked. */
static bool wish_holds(uint8_t wish, bool can_be_asked, bool is_so)
{
	return wish == MR_FILTER_ANY || (can_be_asked && is_so == (wish == MR_FILTER_YES));
}

static bool mac_holds(const struct mr_filter_mac *wanted, const uint8_t *mac)
{
	return wanted->bits == 0 ||
	       starts_with(mac, wanted->mac.addr_bytes, wanted->bits) != wanted->negated;
}

static bool tcp_holds(const struct model_packet *p, const struct mr_filter_tcp *tcp)
{
	bool holds = (p->tcp_flags & tcp->set) == tcp->set && (p->tcp_flags & tcp->clear) == 0;

	return (tcp->set == 0 && tcp->clear == 0) || (p->has_tcp && holds != tcp->negated);
}

static bool rule_matches(const struct mr_filter_set *set, const struct mr_filter_rule *rule,
			 const struct model_packet *p, const struct mr_filter_place *place)
{
	unsigned family = p->ip4   ? MR_FILTER_FAMILY_V4
			  : p->ip6 ? MR_FILTER_FAMILY_V6
				   : MR_FILTER_FAMILY_OTHER;
	bool ip = p->ip4 || p->ip6;

	if (rule->action == MR_FILTER_CHECK_STATE || (rule->families & family) == 0)
		return false;
	for (unsigned i = 0; i < rule->tests; i++)
		if (!test_holds(p, place, &rule->test[i]))
			return false;
	return address_holds(set, p, p->src, &rule->src) &&
	       address_holds(set, p, p->dst, &rule->dst) &&
	       wish_holds(rule->direction, true, !place->out) &&
	       wish_holds(rule->fragment, ip, p->later) &&
	       wish_holds(rule->options, ip, p->options) &&
	       wish_holds(rule->established, p->has_tcp, (p->tcp_flags & 0x14) != 0) &&
	       tcp_holds(p, &rule->tcp) && mac_holds(&rule->src_mac, p->src_mac) &&
	       mac_holds(&rule->dst_mac, p->dst_mac);
}

uint32_t model_first(const struct mr_filter_set *set, const struct model_packet *packet,
		     const struct mr_filter_place *place, uint32_t start)
{
	while (start < set->count && !rule_matches(set, set->rule[start], packet, place))
		start++;
	return start;
}

void model_filter(const struct mr_filter_set *set, const uint8_t *frame, unsigned length,
		  const struct mr_filter_place *place, struct model_verdict *verdict)
{
	static const enum mr_filter_reading readings[] = {
		[MODEL_SOUND] = MR_FILTER_READ,
		[MODEL_BAD_HEADER] = MR_FILTER_BAD_HEADER,
		[MODEL_TINY_FRAGMENT] = MR_FILTER_TINY_FRAGMENT,
		[MODEL_LONG_CHAIN] = MR_FILTER_LONG_CHAIN,
	};
	uint32_t least = 0; /* the number that a skipto went to */
	struct model_packet packet;

	memset(verdict, 0, sizeof(*verdict));
	model_read(frame, length, &packet);
	if (packet.state != MODEL_SOUND &&
	    (mr_filter_set_wants(set, place->out) & MR_FILTER_WANT_IP) != 0) {
		verdict->end = MODEL_UNREADABLE;
		verdict->reading = readings[packet.state];
		return;
	}
	verdict->end = set->default_action == MR_FILTER_ALLOW ? MODEL_ALLOW : MODEL_DENY;
	for (uint32_t i = 0; i < set->count; i++) {
		const struct mr_filter_rule *rule = set->rule[i];

		if (rule->number < least || !rule_matches(set, rule, &packet, place))
			continue;
		if (verdict->matched < MODEL_MATCHES)
			verdict->rule[verdict->matched++] = i;
		switch (rule->action) {
		case MR_FILTER_ALLOW:
			verdict->end = MODEL_ALLOW;
			return;
		case MR_FILTER_DENY:
			verdict->end = MODEL_DENY;
			return;
		case MR_FILTER_REJECT:
			verdict->end = MODEL_REJECT;
			return;
		case MR_FILTER_SKIPTO:
			least = rule->argument.number;
			break;
		default:
			break;
		}
	}
}
