/* SPDX-License-Identifier: BSD-3-Clause */
/* What the filter reads of packets, against tables and against the model's reading. */
#include "filter/plain_key_fwd.h"
#include "filter_model.h"
#include "filter_random.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "port/iface.h"

static const struct mr_filter_place input = {.iface_in = 1, .iface_out = MR_IFACE_NONE};

/* ---- packets, in pieces ---- */

struct packet {
	unsigned length;
	uint8_t bytes[512];
};

static void put(struct packet *p, const void *bytes, unsigned length)
{
	memcpy(p->bytes + p->length, bytes, length);
	p->length += length;
}

#define PUT(p, ...) put(p, (const uint8_t[]){__VA_ARGS__}, sizeof((const uint8_t[]){__VA_ARGS__}))

static void put_ethernet(struct packet *p, uint16_t type)
{
	PUT(p, 2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2, (uint8_t)(type >> 8), (uint8_t)type);
}

/* An IPv4 header; payload: bytes that follow in the packet. */
static void put_ipv4(struct packet *p, uint8_t protocol, uint16_t fragment, unsigned payload)
{
	PUT(p, 0x45, 0xb8, 0, (uint8_t)(20 + payload), 0, 0, (uint8_t)(fragment >> 8),
	    (uint8_t)fragment, 64, protocol, 0, 0, 10, 0, 0, 1, 10, 0, 1, 2);
}

static void put_ipv6(struct packet *p, uint8_t next, unsigned payload)
{
	PUT(p, 0x6b, 0x80, 0, 0, 0, (uint8_t)payload, next, 63, 0x20, 1, 0xd, 0xb8, 0, 0, 0, 0, 0,
	    0, 0, 0, 0, 0, 0, 1, 0x20, 1, 0xd, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2);
}

/* The first `length` bytes of a TCP header from port 4660 to 22 with SYN. */
static void put_tcp(struct packet *p, unsigned length)
{
	static const uint8_t tcp[20] = {0x12, 0x34, 0, 22, [12] = 0x50, [13] = 0x02};

	put(p, tcp, length);
}

static enum mr_filter_reading read_key(const struct packet *p, struct mr_filter_key *key)
{
	return mr_filter_key_read(p->bytes, p->length, MR_FILTER_WANT_ALL, &input, key);
}

static void expect_tcp_22(const struct packet *p, unsigned flags)
{
	struct mr_filter_key key;

	assert_int_equal(read_key(p, &key), MR_FILTER_READ);
	assert_int_equal(key.protocol, 6);
	assert_int_equal(key.flags & (MR_FILTER_PORTS | MR_FILTER_TCP | MR_FILTER_LATER |
				      MR_FILTER_FIRST | MR_FILTER_OPTIONS),
			 MR_FILTER_PORTS | MR_FILTER_TCP | flags);
	assert_int_equal(key.sport, RTE_BE16(0x1234));
	assert_int_equal(key.dport, RTE_BE16(22));
	assert_int_equal(key.tcp_flags, 2);
}

static void an_ipv4_packet_is_read_whole(void **state)
{
	struct packet p = {0};
	struct mr_filter_key key;

	(void)state;
	put_ethernet(&p, 0x0800);
	put_ipv4(&p, 6, 0x4000, 20);
	put_tcp(&p, 20);
	expect_tcp_22(&p, 0);
	read_key(&p, &key);
	assert_int_equal(key.flags, MR_FILTER_IPV4 | MR_FILTER_PORTS | MR_FILTER_TCP);
	assert_memory_equal(key.src, ((uint8_t[16]){10, 0, 0, 1}), 16);
	assert_memory_equal(key.dst, ((uint8_t[16]){10, 0, 1, 2}), 16);
	assert_int_equal(key.length, RTE_BE16(40));
	assert_int_equal(key.ttl, 64);
	assert_int_equal(key.dscp, 46);
	assert_int_equal(key.vlan, 0);
	assert_int_equal(key.ethertype, RTE_BE16(0x0800));
	assert_memory_equal(key.dst_mac, ((uint8_t[6]){2, 0, 0, 0, 0, 1}), 6);
	assert_memory_equal(key.src_mac, ((uint8_t[6]){2, 0, 0, 0, 0, 2}), 6);
	assert_int_equal(key.iface_in, RTE_BE16(1));
	assert_int_equal(key.iface_out, MR_IFACE_NONE);
}

/* the header that rules look at is where the chain leads, and what hides it is dropped. */
static void ipv6_chains_are_followed(void **state)
{
	struct packet p;

	(void)state;
	p = (struct packet){0};
	put_ethernet(&p, 0x86dd);
	put_ipv6(&p, 0, 8 + 20); /* hop-by-hop options */
	PUT(&p, 6, 0, 1, 4, 0, 0, 0, 0);
	put_tcp(&p, 20);
	expect_tcp_22(&p, MR_FILTER_OPTIONS);

	p = (struct packet){0};
	put_ethernet(&p, 0x86dd);
	put_ipv6(&p, 51, 24 + 8 + 20); /* an AH of 24 bytes, counted in 4 */
	PUT(&p, 0, 4, 0, 0, 0, 0, 0, 1, 0, 0, 0, 1, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12);
	PUT(&p, 6, 0, 1, 4, 0, 0, 0, 0);
	put_tcp(&p, 20);
	expect_tcp_22(&p, MR_FILTER_OPTIONS);

	p = (struct packet){0};
	put_ethernet(&p, 0x86dd);
	put_ipv6(&p, 44, 8 + 20); /* an atomic fragment */
	PUT(&p, 6, 0, 0, 0, 0, 0, 0, 1);
	put_tcp(&p, 20);
	expect_tcp_22(&p, 0);

	p = (struct packet){0};
	put_ethernet(&p, 0x86dd);
	put_ipv6(&p, 44, 8 + 24); /* a first fragment */
	PUT(&p, 6, 0, 0, 1, 0, 0, 0, 1);
	put_tcp(&p, 20);
	PUT(&p, 1, 2, 3, 4);
	expect_tcp_22(&p, MR_FILTER_FIRST);

	p = (struct packet){0};
	put_ethernet(&p, 0x86dd);
	put_ipv6(&p, 43, 24 + 16 + 20); /* routing, destination options */
	PUT(&p, 60, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);
	PUT(&p, 6, 1, 1, 12, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);
	put_tcp(&p, 20);
	expect_tcp_22(&p, MR_FILTER_OPTIONS);
}

static void chains_that_lead_nowhere_are_told(void **state)
{
	struct mr_filter_key key;
	struct packet p;

	(void)state;
	for (unsigned headers = 1; headers <= 12; headers++) {
		p = (struct packet){0};
		put_ethernet(&p, 0x86dd);
		put_ipv6(&p, 60, headers * 8 + 20);
		for (unsigned i = 1; i <= headers; i++)
			PUT(&p, i == headers ? 6 : 60, 0, 1, 4, 0, 0, 0, 0);
		put_tcp(&p, 20);
		if (headers <= MR_FILTER_MAX_EXTENSIONS)
			expect_tcp_22(&p, MR_FILTER_OPTIONS);
		else
			assert_int_equal(read_key(&p, &key), MR_FILTER_LONG_CHAIN);
	}
	/* A header that is longer than the packet, and one that is cut off. */
	p = (struct packet){0};
	put_ethernet(&p, 0x86dd);
	put_ipv6(&p, 60, 8);
	PUT(&p, 6, 1, 1, 4, 0, 0, 0, 0);
	assert_int_equal(read_key(&p, &key), MR_FILTER_BAD_HEADER);
	p.bytes[14 + 5] = 7;
	p.bytes[14 + 40 + 1] = 0;
	assert_int_equal(read_key(&p, &key), MR_FILTER_BAD_HEADER);
	/* Two fragment headers. */
	p = (struct packet){0};
	put_ethernet(&p, 0x86dd);
	put_ipv6(&p, 44, 16 + 20);
	PUT(&p, 44, 0, 0, 0, 0, 0, 0, 1);
	PUT(&p, 6, 0, 0, 0, 0, 0, 0, 1);
	put_tcp(&p, 20);
	assert_int_equal(read_key(&p, &key), MR_FILTER_BAD_HEADER);
}

static void later_fragments_have_no_ports(void **state)
{
	struct mr_filter_key key;
	struct packet p = {0};

	(void)state;
	put_ethernet(&p, 0x0800);
	put_ipv4(&p, 6, 3, 20);
	put_tcp(&p, 20);
	assert_int_equal(read_key(&p, &key), MR_FILTER_READ);
	assert_int_equal(key.flags, MR_FILTER_IPV4 | MR_FILTER_LATER);
	assert_int_equal(key.protocol, 6);
	assert_int_equal(key.sport | key.dport | key.tcp_flags, 0);
	assert_int_equal(key.src[0], 10);

	p = (struct packet){0};
	put_ethernet(&p, 0x86dd);
	put_ipv6(&p, 44, 8 + 20);
	PUT(&p, 6, 0, 0, 24, 0, 0, 0, 1);
	put_tcp(&p, 20);
	assert_int_equal(read_key(&p, &key), MR_FILTER_READ);
	assert_int_equal(key.flags, MR_FILTER_IPV6 | MR_FILTER_LATER);
	assert_int_equal(key.protocol, 6);
	assert_int_equal(key.sport | key.dport | key.tcp_flags, 0);
}

/* RFC 1858 and RFC 3128, for both families. */
static void fragments_that_cut_up_a_header_are_told(void **state)
{
	struct mr_filter_key key;
	struct packet p;

	(void)state;
	for (unsigned length = 8; length <= 24; length += 8) {
		p = (struct packet){0};
		put_ethernet(&p, 0x0800);
		put_ipv4(&p, 6, 0x2000, length);
		put_tcp(&p, length < 20 ? length : 20);
		PUT(&p, 0, 0, 0, 0);
		assert_int_equal(read_key(&p, &key),
				 length < 20 ? MR_FILTER_TINY_FRAGMENT : MR_FILTER_READ);
		p = (struct packet){0};
		put_ethernet(&p, 0x86dd);
		put_ipv6(&p, 44, 8 + length);
		PUT(&p, 6, 0, 0, 1, 0, 0, 0, 1);
		put_tcp(&p, length < 20 ? length : 20);
		PUT(&p, 0, 0, 0, 0);
		assert_int_equal(read_key(&p, &key),
				 length < 20 ? MR_FILTER_TINY_FRAGMENT : MR_FILTER_READ);
	}
	for (uint8_t offset = 1; offset <= 3; offset++) {
		static const uint8_t protocols[] = {6, 17};

		for (unsigned i = 0; i < 2; i++) {
			bool bad = protocols[i] == 6 && offset < 3;

			p = (struct packet){0};
			put_ethernet(&p, 0x0800);
			put_ipv4(&p, protocols[i], offset, 20);
			put_tcp(&p, 20);
			assert_int_equal(read_key(&p, &key),
					 bad ? MR_FILTER_TINY_FRAGMENT : MR_FILTER_READ);
			p = (struct packet){0};
			put_ethernet(&p, 0x86dd);
			put_ipv6(&p, 44, 8 + 20);
			PUT(&p, protocols[i], 0, 0, (uint8_t)(offset << 3), 0, 0, 0, 1);
			put_tcp(&p, 20);
			assert_int_equal(read_key(&p, &key),
					 bad ? MR_FILTER_TINY_FRAGMENT : MR_FILTER_READ);
		}
	}
	/* A first fragment whose chain of headers goes on in the next one (RFC 7112). */
	p = (struct packet){0};
	put_ethernet(&p, 0x86dd);
	put_ipv6(&p, 44, 16);
	PUT(&p, 60, 0, 0, 1, 0, 0, 0, 1);
	PUT(&p, 6, 1, 1, 12, 0, 0, 0, 0);
	assert_int_equal(read_key(&p, &key), MR_FILTER_TINY_FRAGMENT);
}

static void the_least_legal_packets_are_read(void **state)
{
	static const struct {
		uint8_t protocol, length;
		bool ports, icmp;
	} least[] = {{6, 20, true, false},   {17, 8, true, false},  {136, 8, true, false},
		     {132, 12, true, false}, {33, 12, true, false}, {1, 8, false, true},
		     {47, 0, false, false},  {59, 0, false, false}, {50, 0, false, false}};
	struct mr_filter_key key;

	(void)state;
	for (unsigned i = 0; i < sizeof(least) / sizeof(least[0]); i++) {
		struct packet p = {0};

		put_ethernet(&p, 0x0800);
		put_ipv4(&p, least[i].protocol, 0, least[i].length);
		p.length += least[i].length;
		assert_int_equal(read_key(&p, &key), MR_FILTER_READ);
		assert_int_equal(key.protocol, least[i].protocol);
		assert_int_equal((key.flags & MR_FILTER_PORTS) != 0, least[i].ports);
		assert_int_equal((key.flags & MR_FILTER_ICMP) != 0, least[i].icmp);
		assert_int_equal((key.flags & MR_FILTER_TCP) != 0, least[i].protocol == 6);
		if (least[i].length == 0)
			continue;
		p.bytes[14 + 3]--; /* the packet is one byte shorter, the frame is not */
		assert_int_equal(read_key(&p, &key), MR_FILTER_BAD_HEADER);
	}
	/* A payload of none, with padding behind it that is no header. */
	struct packet p = {0};
	put_ethernet(&p, 0x86dd);
	put_ipv6(&p, 59, 0);
	p.length += 6;
	assert_int_equal(read_key(&p, &key), MR_FILTER_READ);
	assert_int_equal(key.protocol, 59);
	assert_int_equal(key.length, RTE_BE16(40));
	p.bytes[14 + 6] = 17;
	assert_int_equal(read_key(&p, &key), MR_FILTER_BAD_HEADER);
	/* ICMP of one family in the other has no type. */
	p = (struct packet){0};
	put_ethernet(&p, 0x0800);
	put_ipv4(&p, 58, 0, 8);
	p.length += 8;
	assert_int_equal(read_key(&p, &key), MR_FILTER_READ);
	assert_int_equal(key.flags, MR_FILTER_IPV4);
}

static void impossible_ipv4_headers_are_told(void **state)
{
	static const struct {
		uint8_t at, value;
	} wrong[] = {{0, 0x44}, {0, 0x40}, {0, 0x55}, {0, 0x65},
		     {3, 19},   {3, 41},   {2, 1},    {0, 0x4b}};
	struct mr_filter_key key;

	(void)state;
	for (unsigned i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		struct packet p = {0};

		put_ethernet(&p, 0x0800);
		put_ipv4(&p, 6, 0, 20);
		put_tcp(&p, 20);
		assert_int_equal(read_key(&p, &key), MR_FILTER_READ);
		p.bytes[14 + wrong[i].at] = wrong[i].value;
		assert_int_equal(read_key(&p, &key), MR_FILTER_BAD_HEADER);
		/* Who does not look at IP headers is not bothered. */
		assert_int_equal(mr_filter_key_read(p.bytes, p.length,
						    MR_FILTER_WANT_ALL & ~MR_FILTER_WANT_IP, &input,
						    &key),
				 MR_FILTER_READ);
	}
}

/* The short cut for plain packets gives the same key, whatever is wanted. */
static void plain_packets_have_the_same_key_either_way(void **state)
{
	uint64_t seed = 3;
	unsigned plain = 0;

	(void)state;
	for (unsigned i = 0; i < 100000; i++) {
		uint8_t frame[FILTER_FRAME_SIZE] = {0};
		unsigned length = filter_random_frame(&seed, frame);
		uint32_t wanted = i % 4 == 0 ? MR_FILTER_WANT_ALL
					     : filter_random(&seed, MR_FILTER_WANT_ALL + 1);
		struct mr_filter_place place = filter_random_place(&seed);
		struct mr_filter_key key, other;
		struct filter_plain_keys keys;

		if (length < FILTER_PLAIN_MIN || !filter_is_plain_ipv4(frame, length))
			continue;
		plain++;
		filter_plain_keys_init(&keys, wanted, &place);
		filter_plain_key(&keys, frame, place.iface_in, &key);
		assert_int_equal(mr_filter_key_read(frame, length, wanted, &place, &other),
				 MR_FILTER_READ);
		assert_memory_equal(&key, &other, sizeof(key));
	}
	assert_true(plain > 5000);
}

static void tags_are_looked_through(void **state)
{
	static const uint16_t tpids[] = {0x8100, 0x88a8};
	struct mr_filter_key key;

	(void)state;
	for (unsigned tags = 0; tags < 4; tags++) {
		struct packet p = {0};

		put_ethernet(&p, tags != 0 ? tpids[tags % 2] : 0x0800);
		for (unsigned i = 1; i <= tags; i++) {
			uint16_t type = i == tags ? 0x0800 : tpids[i % 2];

			PUT(&p, 0xa0, (uint8_t)(i * 10), (uint8_t)(type >> 8), (uint8_t)type);
		}
		put_ipv4(&p, 6, 0, 20);
		put_tcp(&p, 20);
		if (tags < 3)
			expect_tcp_22(&p, 0);
		assert_int_equal(read_key(&p, &key), MR_FILTER_READ);
		assert_int_equal(key.vlan, RTE_BE16(tags != 0 ? 10 : 0));
		/* Behind three tags there is another protocol: the third tag's. */
		assert_int_equal(key.ethertype == RTE_BE16(0x0800), tags < 3);
		assert_int_equal((key.flags & MR_FILTER_IPV4) != 0, tags < 3);
	}
}

/* ---- against the model ---- */

static void same_reading(const struct model_packet *model, const struct mr_filter_key *key)
{
	unsigned flags =
		(model->ip4 ? MR_FILTER_IPV4 : 0) | (model->ip6 ? MR_FILTER_IPV6 : 0) |
		(model->has_ports ? MR_FILTER_PORTS : 0) | (model->has_icmp ? MR_FILTER_ICMP : 0) |
		(model->has_tcp ? MR_FILTER_TCP : 0) | (model->later ? MR_FILTER_LATER : 0) |
		(model->first ? MR_FILTER_FIRST : 0) | (model->options ? MR_FILTER_OPTIONS : 0);

	assert_int_equal(key->flags & ~MR_FILTER_OUT, flags);
	assert_memory_equal(key->src, model->src, 16);
	assert_memory_equal(key->dst, model->dst, 16);
	assert_int_equal(key->protocol, model->protocol);
	assert_int_equal(rte_be_to_cpu_16(key->length), model->length);
	assert_int_equal(key->ttl, model->ttl);
	assert_int_equal(key->dscp, model->dscp);
	assert_int_equal(rte_be_to_cpu_16(key->vlan), model->vlan);
	assert_int_equal(rte_be_to_cpu_16(key->ethertype), model->ethertype);
	assert_int_equal(key->tcp_flags, model->tcp_flags);
	assert_int_equal(rte_be_to_cpu_16(key->dport), model->dport);
	if (model->has_icmp) {
		assert_int_equal(key->icmp.type, model->icmp_type);
		assert_int_equal(key->icmp.code, model->icmp_code);
	} else {
		assert_int_equal(rte_be_to_cpu_16(key->sport), model->sport);
	}
	assert_memory_equal(key->src_mac, model->src_mac, 6);
	assert_memory_equal(key->dst_mac, model->dst_mac, 6);
}

/* Bytes of a key that a wanted thing has to do with. */
static void mask_key(struct mr_filter_key *key, uint32_t wanted)
{
	static const struct {
		uint32_t want;
		size_t offset, size;
	} fields[] = {
#define FIELD(want, name)                                                                          \
	{want, offsetof(struct mr_filter_key, name), sizeof(((struct mr_filter_key *)0)->name)}
		FIELD(MR_FILTER_WANT_IN, iface_in),
		FIELD(MR_FILTER_WANT_OUT, iface_out),
		FIELD(MR_FILTER_WANT_VRF, vrf),
		FIELD(MR_FILTER_WANT_MACS, src_mac),
		FIELD(MR_FILTER_WANT_MACS, dst_mac),
		FIELD(MR_FILTER_WANT_VLAN, vlan),
		FIELD(MR_FILTER_WANT_ETHERTYPE, ethertype),
		FIELD(MR_FILTER_WANT_SRC, src),
		FIELD(MR_FILTER_WANT_DST, dst),
		FIELD(MR_FILTER_WANT_PROTOCOL, protocol),
		FIELD(MR_FILTER_WANT_DPORT, dport),
		FIELD(MR_FILTER_WANT_TCP, tcp_flags),
		FIELD(MR_FILTER_WANT_LENGTH, length),
		FIELD(MR_FILTER_WANT_TTL, ttl),
		FIELD(MR_FILTER_WANT_DSCP, dscp),
#undef FIELD
	};
	static const struct {
		uint32_t wants;
		uint16_t flags;
	} flags[] = {
		{MR_FILTER_WANT_DIRECTION, MR_FILTER_OUT},
		{MR_FILTER_WANT_FAMILY, MR_FILTER_IPV4 | MR_FILTER_IPV6},
		{MR_FILTER_WANT_SPORT | MR_FILTER_WANT_DPORT, MR_FILTER_PORTS},
		{MR_FILTER_WANT_ICMP, MR_FILTER_ICMP},
		{MR_FILTER_WANT_TCP, MR_FILTER_TCP},
		{MR_FILTER_WANT_FRAGMENT, MR_FILTER_LATER | MR_FILTER_FIRST},
		{MR_FILTER_WANT_OPTIONS, MR_FILTER_OPTIONS},
	};

	if ((wanted & (key->flags & MR_FILTER_ICMP ? MR_FILTER_WANT_ICMP : MR_FILTER_WANT_SPORT)) ==
	    0)
		key->sport = 0;
	for (unsigned i = 0; i < sizeof(fields) / sizeof(fields[0]); i++)
		if ((wanted & fields[i].want) == 0)
			memset((char *)key + fields[i].offset, 0, fields[i].size);
	for (unsigned i = 0; i < sizeof(flags) / sizeof(flags[0]); i++)
		if ((wanted & flags[i].wants) == 0)
			key->flags &= (uint16_t)~flags[i].flags;
}

/* For random frames and each set of wants: as the model reads it, what is not wanted zero, and not
 * a byte beyond the frame looked at. */
static void random_frames_are_read_as_the_model_reads_them(void **state)
{
	static const enum mr_filter_reading readings[] = {
		[MODEL_SOUND] = MR_FILTER_READ,
		[MODEL_BAD_HEADER] = MR_FILTER_BAD_HEADER,
		[MODEL_TINY_FRAGMENT] = MR_FILTER_TINY_FRAGMENT,
		[MODEL_LONG_CHAIN] = MR_FILTER_LONG_CHAIN,
	};
	unsigned seen[4] = {0};
	uint64_t seed = 42;

	(void)state;
	for (unsigned i = 0; i < 100000; i++) {
		uint8_t buffer[FILTER_FRAME_SIZE];
		unsigned length = filter_random_frame(&seed, buffer);
		struct mr_filter_place place = filter_random_place(&seed);
		uint32_t wanted = filter_random(&seed, MR_FILTER_WANT_ALL + 1);
		struct model_packet model;
		struct mr_filter_key key, part;

		model_read(buffer, length, &model);
		memset(&key, 0xa5, sizeof(key));
		memset(&part, 0xa5, sizeof(part));
		memset(buffer + length, 0xff, sizeof(buffer) - length);
		assert_int_equal(
			mr_filter_key_read(buffer, length, MR_FILTER_WANT_ALL, &place, &key),
			readings[model.state]);
		seen[model.state]++;
		if (model.state != MODEL_SOUND)
			continue;
		same_reading(&model, &key);
		assert_int_equal((key.flags & MR_FILTER_OUT) != 0, place.out);
		assert_int_equal(rte_be_to_cpu_16(key.iface_in), place.iface_in);
		assert_int_equal(rte_be_to_cpu_16(key.iface_out), place.iface_out);
		assert_int_equal(rte_be_to_cpu_16(key.vrf), place.vrf);
		assert_int_equal(mr_filter_key_read(buffer, length, wanted, &place, &part),
				 MR_FILTER_READ);
		mask_key(&key, wanted);
		assert_memory_equal(&part, &key, sizeof(key));
	}
	for (unsigned i = 0; i < 4; i++)
		assert_true(seen[i] > 20);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_ipv4_packet_is_read_whole),
		cmocka_unit_test(ipv6_chains_are_followed),
		cmocka_unit_test(chains_that_lead_nowhere_are_told),
		cmocka_unit_test(later_fragments_have_no_ports),
		cmocka_unit_test(fragments_that_cut_up_a_header_are_told),
		cmocka_unit_test(the_least_legal_packets_are_read),
		cmocka_unit_test(impossible_ipv4_headers_are_told),
		cmocka_unit_test(plain_packets_have_the_same_key_either_way),
		cmocka_unit_test(tags_are_looked_through),
		cmocka_unit_test(random_frames_are_read_as_the_model_reads_them),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
