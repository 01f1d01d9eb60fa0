/* SPDX-License-Identifier: BSD-3-Clause */
#include "filter_random.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "filter/rule_text.h"

#define PICK(seed, table) ((table)[filter_random(seed, sizeof(table) / sizeof((table)[0]))])

uint32_t filter_random(uint64_t *seed, uint32_t below)
{
	*seed = *seed * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)((*seed >> 33) % below);
}

static bool one_in(uint64_t *seed, uint32_t times)
{
	return filter_random(seed, times) == 0;
}

/* ---- rules ---- */

struct writer {
	uint64_t *seed;
	char *text;
	size_t length;
};

static void add(struct writer *w, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void add(struct writer *w, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	w->length += (size_t)vsnprintf(w->text + w->length, FILTER_RANDOM_TEXT - w->length, format,
				       args);
	va_end(args);
}

static void add_not(struct writer *w)
{
	if (one_in(w->seed, 5))
		add(w, " not");
}

enum family { BOTH, V4, V6, OTHER };

static void add_addresses(struct writer *w, enum family family)
{
	static const char *const v4[] = {"10.0.0.0/8", "10.1.0.0/16", "10.1.1.0/24",
					 "10.1.1.1",   "10.1.1.2",    "192.0.2.0/25",
					 "0.0.0.0/0",  "10.1.0.0/31"};
	static const char *const v6[] = {"2001:db8::/32",     "2001:db8:1::/48", "2001:db8:1:1::1",
					 "2001:db8:1:1::2",   "fe80::/10",       "::/0",
					 "2001:db8:1:1::/127"};
	static const char *const any[] = {"me", "set:s0", "set:s1"};
	unsigned count = 1 + filter_random(w->seed, 3);

	if (family == OTHER || one_in(w->seed, 2)) {
		add(w, " any");
		return;
	}
	add_not(w);
	for (unsigned i = 0; i < count; i++) {
		bool four = family == V4 || (family == BOTH && one_in(w->seed, 2));

		add(w, "%s%s", i == 0 ? " " : ",",
		    one_in(w->seed, 4) ? PICK(w->seed, any)
		    : four             ? PICK(w->seed, v4)
				       : PICK(w->seed, v6));
	}
}

/* Values that packets have, others, and ranges. */
static void add_values(struct writer *w, const uint32_t *values, unsigned count, uint32_t max,
		       const char *format)
{
	unsigned items = 1 + filter_random(w->seed, 3);

	for (unsigned i = 0; i < items; i++) {
		uint32_t first = one_in(w->seed, 8) ? filter_random(w->seed, max + 1)
						    : values[filter_random(w->seed, count)];
		uint32_t last = values[filter_random(w->seed, count)];

		add(w, i == 0 ? " " : ",");
		add(w, format, first);
		if (last > first && one_in(w->seed, 3)) {
			add(w, "-");
			add(w, format, last);
		}
	}
}

static const uint32_t ports[] = {0, 22, 53, 80, 443, 1024, 8000, 8080, 65535};
static const uint32_t icmp_types[] = {0, 3, 8, 11, 128, 129, 135};
static const uint32_t lengths[] = {20, 28, 40, 48, 60, 100, 200};
static const uint32_t ttls[] = {0, 1, 2, 64, 255};
static const uint32_t dscps[] = {0, 10, 46, 63};
static const uint32_t vlans[] = {0, 1, 10, 20, 4094};
static const uint32_t ethertypes[] = {0x0800, 0x0806, 0x86dd, 0x88cc, 0x8100, 0xffff};
static const uint32_t port_numbers[] = {0, 1, 2, 3};
static const char *const tcp_flags[] = {
	"syn", "ack", "syn,!ack", "rst", "!fin,psh", "fin,urg", "!syn,!rst,!fin", "ece", "!cwr"};
static const char *const macs[] = {"02:00:00:00:01:01",    "02:00:00:00:01:02",
				   "02:00:00:00:01:00/40", "01:00:5e:00:00:00/25",
				   "ff:ff:ff:ff:ff:ff",    "01:00:00:00:00:00/8"};

static void add_ports(struct writer *w)
{
	if (one_in(w->seed, 2))
		return;
	add_not(w);
	add_values(w, ports, 9, 65535, "%u");
}

static void add_option(struct writer *w, const char *name, const uint32_t *values, unsigned count,
		       uint32_t max, const char *format)
{
	if (!one_in(w->seed, 8))
		return;
	add_not(w);
	add(w, " %s", name);
	add_values(w, values, count, max, format);
}

static void add_transport(struct writer *w, unsigned kind)
{
	if (kind == 6 && one_in(w->seed, 3)) {
		add_not(w);
		add(w, " established");
	}
	if (kind == 6 && one_in(w->seed, 3)) {
		add_not(w);
		add(w, one_in(w->seed, 3) ? " setup" : " tcpflags %s", PICK(w->seed, tcp_flags));
	}
	if (kind == 1 && one_in(w->seed, 2)) {
		add_not(w);
		add(w, " icmptypes");
		add_values(w, icmp_types, 7, 255, "%u");
	}
	if (kind == 58 && one_in(w->seed, 2)) {
		add_not(w);
		add(w, " icmp6types");
		add_values(w, icmp_types, 7, 255, "%u");
	}
}

static void add_options(struct writer *w, unsigned kind, bool other)
{
	bool in = one_in(w->seed, 4), out = !in && one_in(w->seed, 4), via = one_in(w->seed, 6);

	add(w, in ? " in" : out ? " out" : "");
	if (via) {
		add_not(w);
		add(w, " via port");
		add_values(w, port_numbers, 4, 31, "%u");
	}
	if (!via)
		add_option(w, "recv port", port_numbers, 4, 31, "%u");
	if (!via && !in)
		add_option(w, "xmit port", port_numbers, 4, 31, "%u");
	add_option(w, "vlan", vlans, 5, 4094, "%u");
	add_option(w, "vrf", port_numbers, 4, 65535, "%u");
	if (kind == 0)
		add_option(w, "ethertype", ethertypes, 6, 65535, "0x%04x");
	for (unsigned i = 0; i < 2; i++) {
		if (!one_in(w->seed, 8))
			continue;
		add_not(w);
		add(w, " %s %s", i == 0 ? "dst-mac" : "src-mac", PICK(w->seed, macs));
	}
	if (other)
		return;
	add_transport(w, kind);
	add_option(w, "iplen", lengths, 7, 65535, "%u");
	add_option(w, "ipttl", ttls, 5, 255, "%u");
	add_option(w, "dscp", dscps, 4, 63, "%u");
	if (one_in(w->seed, 8)) {
		add_not(w);
		add(w, " options");
	}
	if (kind == 0 && one_in(w->seed, 4))
		add(w, " frag");
	else if (one_in(w->seed, 8))
		add(w, " not frag");
}

static void add_action(struct writer *w, uint32_t number, uint32_t skipto_max, bool ip)
{
	static const char *const final[] = {"allow", "deny", "deny", "reject"};
	static const char *const others[] = {"count", "mirror port 3"};

	if (skipto_max > number && one_in(w->seed, 6))
		add(w, "skipto %u", number + 1 + filter_random(w->seed, skipto_max - number));
	else if (ip && one_in(w->seed, 12))
		add(w, "set-dscp ef");
	else
		add(w, "%s", one_in(w->seed, 5) ? PICK(w->seed, others) : PICK(w->seed, final));
	if (one_in(w->seed, 6))
		add(w, " log");
}

void filter_random_rule(uint64_t *seed, uint32_t number, uint32_t skipto_max, char *text)
{
	static const struct {
		const char *text;
		unsigned kind;
		enum family family;
		bool ports;
	} heads[] = {{"tcp", 6, BOTH, true},       {"udp", 17, BOTH, true},
		     {"tcp,udp", 0, BOTH, true},   {"icmp", 1, V4, false},
		     {"icmp6", 58, V6, false},     {"ip", 0, BOTH, false},
		     {"all", 0, OTHER, false},     {"ip4", 0, V4, false},
		     {"ip6", 0, V6, false},        {"sctp", 0, BOTH, true},
		     {"gre", 0, BOTH, false},      {"not tcp", 0, BOTH, false},
		     {"not ip4", 0, OTHER, false}, {"not ip", 0, OTHER, false},
		     {"50-60", 0, BOTH, false}};
	struct writer w = {.seed = seed, .text = text};
	unsigned head = one_in(seed, 3) ? filter_random(seed, 2)
					: filter_random(seed, sizeof(heads) / sizeof(heads[0]));
	enum family family = heads[head].family;

	if (family == BOTH && !one_in(seed, 3))
		family = one_in(seed, 2) ? V4 : V6;
	add_action(&w, number, skipto_max, heads[head].family != OTHER);
	add(&w, " %s from", heads[head].text);
	add_addresses(&w, family);
	if (heads[head].ports)
		add_ports(&w);
	add(&w, " to");
	add_addresses(&w, family);
	if (heads[head].ports)
		add_ports(&w);
	add_options(&w, heads[head].ports && heads[head].kind == 0 ? 99 : heads[head].kind,
		    family == OTHER);
}

static void add_address_sets(struct mr_filter_set *set)
{
	static const char *const contents[3][4] = {
		{"me", "10.1.1.1", "2001:db8:1:1::1", NULL},
		{"s0", "10.1.0.0/16", "2001:db8:1::/48", "192.0.2.7"},
		{"s1", "10.1.1.2", "10.1.1.0/30", NULL},
	};

	for (unsigned i = 0; i < 3; i++) {
		struct mr_prefix prefix[3] = {0};
		unsigned count = 0;

		for (unsigned j = 1; j < 4 && contents[i][j] != NULL; j++, count++)
			if (mr_addr_parse(contents[i][j], &prefix[count].addr) == 0)
				prefix[count].length =
					prefix[count].addr.family == AF_INET ? 32 : 128;
			else if (mr_prefix_parse(contents[i][j], &prefix[count]) != 0)
				abort();
		if (mr_filter_set_put_addresses(set, contents[i][0], prefix, count) != 0)
			abort();
	}
}

struct mr_filter_set *filter_random_set(uint64_t *seed, unsigned count)
{
	struct mr_filter_set *set = mr_filter_set_new();
	char text[FILTER_RANDOM_TEXT];

	add_address_sets(set);
	set->default_action = one_in(seed, 2) ? MR_FILTER_ALLOW : MR_FILTER_DENY;
	while (set->count < count) {
		uint32_t number = (set->count + 1) * 10;
		struct mr_filter_rule *rule;
		struct mr_filter_fault fault;

		filter_random_rule(seed, number, count * 10 + 5, text);
		if (mr_filter_rule_parse(text, set, &rule, &fault) != 0)
			continue;
		rule->counter = set->count + 1;
		if (mr_filter_rule_number(rule, number, &fault) != 0 ||
		    mr_filter_set_append(set, rule) != 0)
			abort();
	}
	return set;
}

/* ---- packets ---- */

static void put16(uint8_t *at, uint32_t value)
{
	at[0] = (uint8_t)(value >> 8);
	at[1] = (uint8_t)value;
}

static unsigned put_transport(uint64_t *seed, uint8_t *at, unsigned protocol)
{
	static const uint8_t flags[] = {0x02, 0x10, 0x12, 0x04, 0x18, 0x11, 0x29, 0x00, 0xff, 0xc2};
	unsigned length = 8;

	for (unsigned i = 0; i < 64; i++)
		at[i] = (uint8_t)filter_random(seed, 256);
	switch (protocol) {
	case 6:
		at[12] = 0x50;
		at[13] = PICK(seed, flags);
		length = 20;
		break;
	case 132:
	case 33:
		length = 12;
		break;
	case 1:
	case 58:
		at[0] = (uint8_t)PICK(seed, icmp_types);
		return length + filter_random(seed, 2) * 20;
	default:
		break;
	}
	put16(at, PICK(seed, ports));
	put16(at + 2, PICK(seed, ports));
	if (protocol == 17)
		put16(at + 4, 8);
	/* One in so many ends too early. */
	if (one_in(seed, 40))
		return filter_random(seed, length);
	return length + (one_in(seed, 2) ? 0 : filter_random(seed, 40));
}

static const uint8_t protocols[] = {6, 6, 6, 17, 17, 17, 1, 58, 132, 136, 33, 47, 50, 51, 59, 60};

static unsigned put_ipv4(uint64_t *seed, uint8_t *ip)
{
	static const uint8_t hosts[][4] = {{10, 1, 1, 1},    {10, 1, 1, 2}, {10, 1, 1, 3},
					   {10, 1, 0, 1},    {10, 2, 0, 1}, {192, 0, 2, 7},
					   {192, 0, 2, 200}, {8, 8, 8, 8}};
	unsigned protocol = PICK(seed, protocols);
	unsigned header = one_in(seed, 6) ? 20 + 4 * filter_random(seed, 11) : 20;
	unsigned payload, total, fragment = 0;

	memset(ip, 0, header);
	payload = put_transport(seed, ip + header, protocol);
	total = header + payload;
	if (one_in(seed, 5)) {
		static const unsigned fragments[] = {0x2000, 0x2001, 1,      2,     3,
						     185,    0x2003, 0x1fff, 0x4000};
		fragment = PICK(seed, fragments);
	}
	ip[0] = (uint8_t)(0x40 | header / 4);
	ip[1] = (uint8_t)(PICK(seed, dscps) << 2 | filter_random(seed, 4));
	put16(ip + 2, total);
	put16(ip + 6, fragment);
	ip[8] = (uint8_t)PICK(seed, ttls);
	ip[9] = (uint8_t)protocol;
	memcpy(ip + 12, PICK(seed, hosts), 4);
	memcpy(ip + 16, PICK(seed, hosts), 4);
	if (one_in(seed, 40)) {
		static const uint8_t firsts[] = {0x44, 0x40, 0x55, 0x4f, 0x65};
		ip[0] = PICK(seed, firsts);
	}
	if (one_in(seed, 40))
		put16(ip + 2, filter_random(seed, 200));
	return total;
}

/* One extension header; returns its length. next: where the chain's next-header byte is. */
static unsigned put_extension(uint64_t *seed, uint8_t *at, uint8_t **next)
{
	static const uint8_t types[] = {0, 43, 60, 51, 44, 44};
	uint8_t type = PICK(seed, types);
	unsigned units = filter_random(seed, 3), length = (units + 1) * 8;

	**next = type;
	*next = at;
	memset(at, 0, 40);
	if (type == 51) {
		at[1] = (uint8_t)(1 + units);
		return (units + 3) * 4;
	}
	if (type == 44) {
		static const unsigned offsets[] = {0, 1, 1, 8, 16, 24, 0xfff8, 9};
		put16(at + 2, PICK(seed, offsets));
		return 8;
	}
	at[1] = (uint8_t)units;
	return length;
}

static unsigned put_ipv6(uint64_t *seed, uint8_t *ip)
{
	static const uint8_t hosts[][16] = {{0x20, 0x01, 0x0d, 0xb8, 0, 1, 0, 1, [15] = 1},
					    {0x20, 0x01, 0x0d, 0xb8, 0, 1, 0, 1, [15] = 2},
					    {0x20, 0x01, 0x0d, 0xb8, 0, 2, [15] = 1},
					    {0xfe, 0x80, [15] = 1},
					    {0x20, 0x01, 0x0d, 0xb9, [15] = 1}};
	unsigned protocol = PICK(seed, protocols), offset = 40, count = 0;
	uint8_t *next = ip + 6;
	uint32_t word = 6u << 28 | PICK(seed, dscps) << 22 | filter_random(seed, 1 << 22);

	memset(ip, 0, 40);
	put16(ip, word >> 16);
	put16(ip + 2, word);
	ip[7] = (uint8_t)PICK(seed, ttls);
	memcpy(ip + 8, PICK(seed, hosts), 16);
	memcpy(ip + 24, PICK(seed, hosts), 16);
	if (one_in(seed, 3))
		count = one_in(seed, 20) ? 7 + filter_random(seed, 3) : 1 + filter_random(seed, 3);
	for (unsigned i = 0; i < count; i++)
		offset += put_extension(seed, ip + offset, &next);
	*next = (uint8_t)protocol;
	offset += put_transport(seed, ip + offset, protocol);
	put16(ip + 4, offset - 40);
	if (one_in(seed, 40))
		put16(ip + 4, filter_random(seed, 100));
	if (one_in(seed, 80))
		ip[0] ^= 0x20;
	return offset;
}

static unsigned put_tag(uint64_t *seed, uint8_t *at)
{
	static const uint32_t types[] = {0x8100, 0x8100, 0x88a8};

	put16(at, PICK(seed, types));
	put16(at + 2, PICK(seed, vlans) | filter_random(seed, 8) << 13);
	return 4;
}

unsigned filter_random_frame(uint64_t *seed, uint8_t *frame)
{
	static const uint8_t addresses[][6] = {
		{2, 0, 0, 0, 1, 1},       {2, 0, 0, 0, 0, 2},
		{2, 0, 0, 0, 1, 3},       {1, 0, 0x5e, 0, 0, 1},
		{1, 0, 0x5e, 0x80, 0, 1}, {0xff, 0xff, 0xff, 0xff, 0xff, 0xff}};
	unsigned at = 12, length, kind = filter_random(seed, 16), tags = 0;

	memset(frame, 0, FILTER_FRAME_SIZE);
	memcpy(frame, PICK(seed, addresses), 6);
	memcpy(frame + 6, PICK(seed, addresses), 6);
	if (one_in(seed, 4))
		tags = 1 + filter_random(seed, one_in(seed, 4) ? 3 : 1);
	for (unsigned i = 0; i < tags; i++)
		at += put_tag(seed, frame + at);
	if (kind < 8) {
		put16(frame + at, 0x0800);
		length = at + 2 + put_ipv4(seed, frame + at + 2);
	} else if (kind < 15) {
		put16(frame + at, 0x86dd);
		length = at + 2 + put_ipv6(seed, frame + at + 2);
	} else {
		put16(frame + at, PICK(seed, ethertypes));
		length = at + 2 + filter_random(seed, 60);
	}
	if (one_in(seed, 3) && length < 60)
		length = 60;
	if (one_in(seed, 30))
		length = 14 + filter_random(seed, length - 13);
	return length;
}

struct mr_filter_place filter_random_place(uint64_t *seed)
{
	struct mr_filter_place place = {
		.iface_in = (uint16_t)filter_random(seed, 4),
		.iface_out = UINT16_MAX,
		.vrf = (uint16_t)filter_random(seed, 4),
		.out = (uint16_t)filter_random(seed, 2),
	};

	if (place.out)
		place.iface_out = (uint16_t)filter_random(seed, 4);
	return place;
}
