/* SPDX-License-Identifier: BSD-3-Clause */
/* Flows of IPv6 packets whose transport header lies behind extension headers; on a bridge. */
#include <string.h>

#include "stateful.h"
#include "test_eal.h"

enum {
	IP6 = 14,
	HEADER6 = 40,
	HOPOPTS = 0,
	TCP6 = 6,
	UDP6 = 17,
	ROUTING = 43,
	FRAGMENT = 44,
	AH = 51,
	ICMP6 = 58,
	DSTOPTS = 60,
	MOST_EXTENSIONS = 9,
};

/* A packet from the host behind port `side` to that behind the other: extension headers, of eight
 * bytes each (AH: 24), and what is behind them. */
struct packet {
	unsigned side;
	unsigned count;
	uint8_t extension[MOST_EXTENSIONS];
	unsigned fragment; /* offset in bytes, and 1: more follow */
	uint8_t protocol;
	unsigned size;
	uint8_t bytes[100];
};

static void put16(uint8_t *at, unsigned value)
{
	at[0] = (uint8_t)(value >> 8);
	at[1] = (uint8_t)value;
}

static struct frame frame_of(const struct packet *p)
{
	struct frame frame = frame_raw(p->side == 0 ? HOST(1) : HOST(0),
				       p->side == 0 ? HOST(0) : HOST(1), 0x86dd, IP6);
	uint8_t *ip = frame.bytes + IP6, *next = ip + 6, *at = ip + HEADER6;

	memset(ip, 0, HEADER6);
	ip[0] = 0x60;
	ip[7] = 64;
	ip[8] = ip[24] = 0x20;
	ip[23] = (uint8_t)(1 + p->side);
	ip[39] = (uint8_t)(2 - p->side);
	for (unsigned i = 0; i < p->count; i++) {
		unsigned size = p->extension[i] == AH ? 24 : 8;

		*next = p->extension[i];
		next = at;
		memset(at, 0, size);
		if (p->extension[i] == AH)
			at[1] = 4;
		else if (p->extension[i] == FRAGMENT)
			put16(at + 2, p->fragment);
		else if (p->extension[i] != ROUTING)
			at[2] = 1, at[3] = 4; /* padding */
		at += size;
	}
	*next = p->protocol;
	memcpy(at, p->bytes, p->size);
	frame.length = (unsigned)(at + p->size - frame.bytes);
	put16(ip + 4, frame.length - IP6 - HEADER6);
	return frame;
}

static struct packet udp6(unsigned side)
{
	struct packet p = {.side = side, .protocol = UDP6, .size = 24};

	put16(p.bytes, side == 0 ? 1000 : 53);
	put16(p.bytes + 2, side == 0 ? 53 : 1000);
	put16(p.bytes + 4, 24);
	return p;
}

static struct packet tcp6(unsigned side, uint8_t flags, uint32_t seq, uint32_t ack, unsigned data)
{
	struct packet p = {.side = side, .protocol = TCP6, .size = 20 + data};

	put16(p.bytes, side == 0 ? 1000 : 80);
	put16(p.bytes + 2, side == 0 ? 80 : 1000);
	put16(p.bytes + 4, seq >> 16);
	put16(p.bytes + 6, seq);
	put16(p.bytes + 8, ack >> 16);
	put16(p.bytes + 10, ack);
	p.bytes[12] = 5 << 4;
	p.bytes[13] = flags;
	put16(p.bytes + 14, 1000);
	return p;
}

static struct packet icmp6(unsigned side, uint8_t type, unsigned id)
{
	struct packet p = {.side = side, .protocol = ICMP6, .size = 24};

	p.bytes[0] = type;
	put16(p.bytes + 4, id);
	return p;
}

/* With extension headers in front. */
static struct packet behind(struct packet p, const uint8_t *extension, unsigned count)
{
	p.count = count;
	memcpy(p.extension, extension, count);
	return p;
}

static struct packet fragment(struct packet p, unsigned field)
{
	static const uint8_t header[] = {FRAGMENT};

	p.fragment = field;
	return behind(p, header, 1);
}

static struct harness *begin(void)
{
	struct harness *h = stateful_bridges(1);

	harness_command(h, "filter add 100 check-state");
	harness_command(h, "filter add 200 allow ip6 from any to any recv port 0 keep-state");
	return h;
}

static void send(struct harness *h, struct packet p, bool pass)
{
	struct frame frame = frame_of(&p);

	harness_send(h, p.side, &frame);
	harness_run(h);
	if (pass)
		harness_expect(h, p.side ^ 1, &frame);
	harness_expect_nothing(h);
}

static void passes(struct harness *h, struct packet p)
{
	send(h, p, true);
}

static void is_dropped(struct harness *h, struct packet p, enum mr_drop_reason reason)
{
	send(h, p, false);
	harness_dropped(h, reason, 1);
}

static void is_denied(struct harness *h, struct packet p)
{
	is_dropped(h, p, MR_DROP_filter_denied);
}

static const struct {
	unsigned count;
	uint8_t extension[MOST_EXTENSIONS];
} chains[] = {
	{0, {0}},
	{1, {HOPOPTS}},
	{1, {DSTOPTS}},
	{1, {AH}},
	{1, {FRAGMENT}}, /* an atomic one */
	{3, {HOPOPTS, DSTOPTS, ROUTING}},
	{8, {HOPOPTS, DSTOPTS, ROUTING, FRAGMENT, AH, DSTOPTS, DSTOPTS, DSTOPTS}},
};

enum { CHAINS = sizeof(chains) / sizeof(chains[0]) };

static struct packet chained(struct packet p, unsigned chain)
{
	return behind(p, chains[chain].extension, chains[chain].count);
}

/* It is the same flow with other headers, or none, in between. */
static void extension_headers_are_no_part_of_a_flow(void **state)
{
	(void)state;
	for (unsigned first = 0; first < CHAINS; first++) {
		struct harness *h = begin();

		for (unsigned i = 0; i < CHAINS; i++) {
			is_denied(h, chained(udp6(1), i));
			is_denied(h, chained(tcp6(1, SYN | ACK, 700, 101, 0), i));
			is_denied(h, chained(icmp6(1, 129, 7), i));
		}
		passes(h, chained(udp6(0), first));
		passes(h, chained(tcp6(0, SYN, 100, 0, 0), first));
		passes(h, chained(icmp6(0, 128, 7), first));
		for (unsigned i = 0; i < CHAINS; i++) {
			passes(h, chained(udp6(1), i));
			passes(h, chained(tcp6(1, SYN | ACK, 700, 101, 0), i));
			passes(h, chained(icmp6(1, 129, 7), i));
			is_denied(h, chained(icmp6(1, 128, 7), i));
		}
		for (unsigned i = 0; i < CHAINS; i++) {
			passes(h, chained(tcp6(0, ACK, 101 + 10 * i, 701, 10), i));
			passes(h, chained(tcp6(1, ACK, 701, 111 + 10 * i, 0), i));
			is_dropped(h, chained(tcp6(1, ACK, 701, 112 + 10 * i, 0), i),
				   MR_DROP_filter_bad_state);
		}
		stateful_bridges_end(h, 1);
	}
}

static void a_chain_is_not_longer_than_it_may_be(void **state)
{
	(void)state;
	static const uint8_t nine[] = {DSTOPTS, DSTOPTS, DSTOPTS, DSTOPTS, DSTOPTS,
				       DSTOPTS, DSTOPTS, DSTOPTS, DSTOPTS};
	struct harness *h = begin();

	passes(h, udp6(0));
	is_dropped(h, behind(udp6(1), nine, 9), MR_DROP_filter_long_chain);
	passes(h, behind(udp6(1), nine, 8));
	stateful_bridges_end(h, 1);
}

/* An error from behind port 1 about a packet, quoting so many bytes of it. */
static struct packet error_about(uint8_t type, const struct packet *about, unsigned quoted)
{
	struct packet p = {.side = 1, .protocol = ICMP6, .size = 8 + quoted};
	struct frame frame = frame_of(about);

	p.bytes[0] = type;
	memcpy(p.bytes + 8, frame.bytes + IP6, quoted);
	return p;
}

static void errors_quote_chains(void **state)
{
	(void)state;
	struct harness *h = begin();

	passes(h, udp6(0));
	passes(h, tcp6(0, SYN, 100, 0, 0));
	for (unsigned i = 0; i + 1 < CHAINS; i++) {
		struct packet udp = chained(udp6(0), i), tcp = chained(tcp6(0, SYN, 100, 0, 0), i);
		struct packet back = chained(udp6(1), i);
		unsigned headers = HEADER6;

		for (unsigned n = 0; n < udp.count; n++)
			headers += udp.extension[n] == AH ? 24 : 8;
		for (uint8_t type = 1; type <= 4; type++) {
			passes(h, error_about(type, &udp, headers + 8));
			passes(h, error_about(type, &tcp, headers + 8));
			is_denied(h, error_about(type, &udp, headers + 7));
			is_denied(h, error_about(type, &udp, headers));
			is_denied(h, error_about(type, &udp, HEADER6));
			is_denied(h, error_about(type, &back, headers + 8));
		}
	}
	stateful_bridges_end(h, 1);
}

static void fragments(void **state)
{
	(void)state;
	struct harness *h = begin();
	struct packet cut = tcp6(0, SYN, 100, 0, 4), error;

	cut.bytes[12] = 8 << 4;
	is_dropped(h, fragment(cut, 1), MR_DROP_filter_bad_header);
	is_denied(h, fragment(udp6(1), 1));
	passes(h, fragment(udp6(0), 1));
	passes(h, fragment(udp6(1), 1));
	/* Later ones, and the same with more behind them. */
	is_denied(h, fragment(udp6(1), 24));
	is_denied(h, fragment(udp6(1), 24 | 1));
	error = fragment(udp6(0), 24);
	is_denied(h, error_about(3, &error, HEADER6 + 16));
	error = fragment(udp6(0), 1);
	passes(h, error_about(3, &error, HEADER6 + 16));

	passes(h, tcp6(0, SYN, 100, 0, 0));
	passes(h, tcp6(1, SYN | ACK, 700, 101, 0));
	passes(h, tcp6(0, ACK, 101, 701, 0));
	passes(h, fragment(tcp6(0, ACK, 101, 701, 60), 1));
	passes(h, fragment((struct packet){.protocol = TCP6, .size = 40}, 80));
	passes(h, tcp6(1, ACK, 701, 201, 0));
	is_dropped(h, tcp6(1, ACK, 701, 1202, 0), MR_DROP_filter_bad_state);
	passes(h, tcp6(0, ACK, 201, 701, 10));
	passes(h, tcp6(1, ACK, 701, 211, 0));
	stateful_bridges_end(h, 1);
}

/* Nobody is found without neighbour discovery: it has to be allowed, as ARP has on a bridge. */
static void neighbour_discovery_is_allowed_by_a_rule(void **state)
{
	(void)state;
	struct harness *h = begin();

	for (uint8_t type = 133; type <= 137; type++) {
		passes(h, icmp6(0, type, 0));
		is_denied(h, icmp6(1, type, 0));
	}
	harness_command(h, "filter add 50 allow icmp6 from any to any icmp6types 133-136");
	for (uint8_t type = 133; type <= 136; type++)
		passes(h, icmp6(1, type, 0));
	is_denied(h, icmp6(1, 137, 0));
	assert_int_equal(stateful_flows(h), 0);
	stateful_bridges_end(h, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(extension_headers_are_no_part_of_a_flow),
		cmocka_unit_test(a_chain_is_not_longer_than_it_may_be),
		cmocka_unit_test(errors_quote_chains),
		cmocka_unit_test(fragments),
		cmocka_unit_test(neighbour_discovery_is_allowed_by_a_rule),
	};

	test_eal_start("0");
	return cmocka_run_group_tests(tests, NULL, harness_destroy);
}
