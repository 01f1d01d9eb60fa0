/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Random rule sets and random packets through the whole packet path, on a bridge and through the
 * router: what leaves, byte for byte and in its order, what rules counted and what was dropped is
 * what the model says (filter_model.h), which evaluates rules one by one.
 *
 * MR_FILTER_MODEL_SETS says how many sets meet 10,000 packets each; the usual run takes a few.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_byteorder.h>
#include <rte_log.h>

#include "filter/filter.h"
#include "filter/publish.h"
#include "lcore/lcores.h"

#include "filter_model.h"
#include "filter_random.h"
#include "routed.h"
#include "test_eal.h"

enum { PACKETS = 10000, BURST = 65, USUAL_SETS = 100, RULES = 60, MIRROR_PORT = 3, LEFT = 9 };

struct trial {
	struct harness *h;
	const struct mr_filter_set *set;
	bool routed;
	struct mr_filter_hits *hits; /* by index of the rule; set->count: the default action */
	uint64_t drop[MR_DROP_COUNT];
	uint64_t copies;
	unsigned leaving;
	struct frame expected[BURST];
	unsigned leave[BURST]; /* by port; LEFT: it was there */
};

static unsigned ip_offset(const uint8_t *frame)
{
	unsigned at = 12;

	for (unsigned tags = 0; tags < 2; tags++)
		if ((frame[at] == 0x81 && frame[at + 1] == 0) ||
		    (frame[at] == 0x88 && frame[at + 1] == 0xa8))
			at += 4;
	return at + 2;
}

static void fix_checksum(struct frame *frame, unsigned ip)
{
	unsigned header = (frame->bytes[ip] & 15) * 4u;
	uint16_t sum;

	if (header < 20 || ip + header > frame->length)
		return;
	memset(frame->bytes + ip + 10, 0, 2);
	sum = reference_checksum(frame->bytes + ip, header);
	frame->bytes[ip + 10] = (uint8_t)(sum >> 8);
	frame->bytes[ip + 11] = (uint8_t)sum;
}

static void set_dscp(struct frame *frame, unsigned dscp, bool ip4)
{
	unsigned ip = ip_offset(frame->bytes);
	uint8_t *at = frame->bytes + ip;

	if (ip4) {
		at[1] = (uint8_t)(dscp << 2 | (at[1] & 3));
		fix_checksum(frame, ip);
		return;
	}
	at[0] = (uint8_t)((at[0] & 0xf0) | dscp >> 2);
	at[1] = (uint8_t)((at[1] & 0x3f) | (dscp & 3) << 6);
}

static void hit(struct trial *t, uint32_t rule, const struct frame *frame)
{
	t->hits[rule].packets++;
	t->hits[rule].bytes += frame->length;
}

/* What happens to a packet at a hook; returns whether it goes on, as it then is. */
static bool meet(struct trial *t, struct frame *frame, const struct mr_filter_place *place)
{
	struct model_verdict verdict;
	struct model_packet packet;
	bool decided = false;

	model_read(frame->bytes, frame->length, &packet);
	model_filter(t->set, frame->bytes, frame->length, place, &verdict);
	if (verdict.end == MODEL_UNREADABLE) {
		t->drop[mr_filter_reading_drop(verdict.reading)]++;
		return false;
	}
	for (unsigned i = 0; i < verdict.matched; i++) {
		const struct mr_filter_rule *rule = t->set->rule[verdict.rule[i]];

		hit(t, verdict.rule[i], frame);
		t->copies += rule->action == MR_FILTER_MIRROR;
		if (rule->action == MR_FILTER_SET_DSCP)
			set_dscp(frame, rule->argument.dscp, packet.ip4);
		decided = mr_filter_action_is_final(rule->action);
	}
	if (!decided)
		hit(t, t->set->count, frame);
	t->drop[MR_DROP_filter_denied] += verdict.end == MODEL_DENY;
	t->drop[MR_DROP_filter_rejected] += verdict.end == MODEL_REJECT;
	return verdict.end == MODEL_ALLOW;
}

static void set_mac(uint8_t *at, uint8_t last)
{
	const uint8_t mac[6] = {2, 0, 0, 0, 1, last};

	memcpy(at, mac, sizeof(mac));
}

/* Each port of the bridge has a station of its own, and one that nobody knows is behind both. */
static struct frame bridged_frame(uint64_t *seed, unsigned port)
{
	struct frame frame;

	frame.length = filter_random_frame(seed, frame.bytes);
	set_mac(frame.bytes + 6, (uint8_t)(1 + port));
	if ((frame.bytes[0] & 1) == 0)
		set_mac(frame.bytes, filter_random(seed, 2) != 0 ? 3 : (uint8_t)(2 - port));
	if (frame.bytes[ip_offset(frame.bytes) - 2] == 8)
		fix_checksum(&frame, ip_offset(frame.bytes));
	return frame;
}

/* Untagged, to the router, without IPv4 options, which have a way of their own. A sound IPv4 packet
 * has TTL left, so that the router has nothing to say about it. */
static struct frame routed_frame(uint64_t *seed, bool *forwarded)
{
	static const uint8_t router[6] = {2, 0, 0, 0, 0, 0};
	struct model_packet packet;
	struct frame frame;

	do {
		frame.length = filter_random_frame(seed, frame.bytes);
		model_read(frame.bytes, frame.length, &packet);
	} while (ip_offset(frame.bytes) != 14 || (packet.ip4 && packet.options));
	memcpy(frame.bytes, router, sizeof(router));
	set_mac(frame.bytes + 6, (uint8_t)(1 + filter_random(seed, 3)));
	if (packet.ip4 && frame.length >= 34) {
		if (frame.bytes[22] < 2)
			frame.bytes[22] = 2;
		fix_checksum(&frame, 14);
	}
	/* What deceives only a filter is sound for the router. */
	*forwarded = packet.ip4 && packet.length != 0;
	return frame;
}

/* Sends a packet in, and finds out what is expected of it. */
static void offer(struct trial *t, uint64_t *seed)
{
	unsigned from = t->routed ? 0 : filter_random(seed, 2), to = 1 - from;
	bool forwarded = true;
	struct frame frame = t->routed ? routed_frame(seed, &forwarded) : bridged_frame(seed, from);
	struct mr_filter_place in = {.iface_in = (uint16_t)from, .iface_out = UINT16_MAX};
	struct mr_filter_place out = {
		.iface_in = (uint16_t)from, .iface_out = (uint16_t)to, .out = 1};
	bool asked = !t->routed || (frame.bytes[12] == 0x08 && frame.bytes[13] == 0x00) ||
		     (frame.bytes[12] == 0x86 && frame.bytes[13] == 0xdd);

	harness_send(t->h, from, &frame);
	if ((asked && !meet(t, &frame, &in)) || !forwarded)
		return;
	if (t->routed)
		frame = TO_GATEWAY(1, &frame);
	if (!meet(t, &frame, &out))
		return;
	t->expected[t->leaving] = frame;
	t->leave[t->leaving++] = to;
}

/* Packets to one MAC leave in the order in which they came; a bridge floods others in between. */
static void takes_one(struct trial *t, unsigned port)
{
	struct frame *expected = NULL, got;

	assert_true(harness_take(t->h, port, &got));
	for (unsigned i = 0; i < t->leaving && expected == NULL; i++)
		if (t->leave[i] == port && memcmp(t->expected[i].bytes, got.bytes, 6) == 0) {
			t->leave[i] = LEFT;
			expected = &t->expected[i];
		}
	assert_non_null(expected);
	assert_int_equal(got.length, expected->length);
	assert_memory_equal(got.bytes, expected->bytes, got.length);
}

static void takes_what_is_expected(struct trial *t)
{
	unsigned count[2] = {0};
	struct frame got;

	for (unsigned i = 0; i < t->leaving; i++)
		count[t->leave[i]]++;
	for (unsigned port = 0; port < 2; port++)
		while (count[port]-- > 0)
			takes_one(t, port);
	while (harness_take(t->h, MIRROR_PORT, &got))
		t->copies--;
	harness_expect_nothing(t->h);
	t->leaving = 0;
}

static uint64_t dropped(const struct trial *t, enum mr_drop_reason reason)
{
	const struct mr_lcores *lcores = t->h->rig.mr->lcores;
	uint64_t sum = 0;

	for (unsigned port = 0; port <= RTE_MAX_ETHPORTS; port++)
		sum += lcores->lcore[0]->counters.drop[port][reason] +
		       lcores->control->drop[port][reason];
	return sum;
}

static void counts_are(const struct trial *t, const struct mr_filter_hits *expected,
		       uint32_t counter, uint32_t rule)
{
	struct mr_filter_hits hits = mr_filter_hits(t->h->rig.mr, counter);

	if (hits.packets != expected->packets || hits.bytes != expected->bytes)
		fail_msg("rule %u counted %lu packets, %lu bytes, not %lu, %lu", rule, hits.packets,
			 hits.bytes, expected->packets, expected->bytes);
}

static void one_set(struct harness *h, uint64_t *seed, bool routed)
{
	static const enum mr_drop_reason reasons[] = {
		MR_DROP_filter_denied, MR_DROP_filter_rejected, MR_DROP_filter_bad_header,
		MR_DROP_filter_tiny_fragment, MR_DROP_filter_long_chain};
	struct trial *t = calloc(1, sizeof(*t));
	struct mr_filter_set *set = filter_random_set(seed, 1 + filter_random(seed, RULES));
	uint64_t begin[RTE_DIM(reasons)];
	struct mr_filter_program *program;
	struct mr_error error = {0};

	*t = (struct trial){.h = h, .set = set, .routed = routed};
	t->hits = calloc(set->count + 1, sizeof(*t->hits));
	if (mr_filter_compile(h->rig.mr->filter, set, SOCKET_ID_ANY, &program, &error) != 0 ||
	    mr_filter_commit(h->rig.mr, set, program, &error) != 0)
		fail_msg("%s", error.text);
	mr_filter_zero(h->rig.mr, MR_FILTER_DEFAULT_COUNTER);
	for (unsigned i = 0; i < RTE_DIM(reasons); i++)
		begin[i] = dropped(t, reasons[i]);
	for (unsigned sent = 0; sent < PACKETS;) {
		unsigned burst = 1 + filter_random(seed, BURST);

		for (unsigned i = 0; i < burst; i++, sent++)
			offer(t, seed);
		harness_run(h);
		takes_what_is_expected(t);
	}
	for (uint32_t i = 0; i < set->count; i++)
		counts_are(t, &t->hits[i], set->rule[i]->counter, set->rule[i]->number);
	counts_are(t, &t->hits[set->count], MR_FILTER_DEFAULT_COUNTER, 0);
	for (unsigned i = 0; i < RTE_DIM(reasons); i++)
		if (dropped(t, reasons[i]) - begin[i] != t->drop[reasons[i]])
			fail_msg("%lu dropped as %s, not %lu", dropped(t, reasons[i]) - begin[i],
				 mr_drop_name(reasons[i]), t->drop[reasons[i]]);
	assert_int_equal(t->copies, 0);
	free(t->hits);
	free(t);
}

/* The senders of rejected packets are told no more: their share of answers is used up, and the
 * clock stands still. */
static void silence(struct harness *h, const struct frame *udp, const struct frame *tcp,
		    unsigned port)
{
	struct frame answer;

	harness_command(h, "filter add 1 reject ip from any to any in");
	for (unsigned i = 0; i < 2000; i++) {
		harness_send(h, port, i % 2 != 0 ? udp : tcp);
		harness_run(h);
		while (harness_take(h, port, &answer))
			;
	}
	harness_expect_nothing(h);
	harness_command(h, "filter flush");
}

static unsigned sets_wanted(void)
{
	const char *wanted = getenv("MR_FILTER_MODEL_SETS");

	return wanted != NULL ? (unsigned)strtoul(wanted, NULL, 10) : USUAL_SETS;
}

/* Everything that was received has ended, and no buffer is lost. */
static void end(struct harness *h, unsigned buffers)
{
	struct mr_balance balance = mr_lcores_balance(h->rig.mr);

	assert_int_equal(balance.held, 0);
	assert_int_equal(balance.received + balance.originated + balance.copied,
			 balance.transmitted + balance.consumed + balance.dropped);
	harness_command(h, "filter flush");
	harness_command(h, "filter default allow");
	harness_run(h);
	assert_int_equal(ring_rig_free_buffers(&h->rig), buffers);
}

static void a_bridge_does_what_rules_say_one_by_one(void **state)
{
	(void)state;
	struct harness *h = harness();
	struct frame udp = IPV4(.to = "02:00:00:00:01:03", .from = "02:00:00:00:01:01",
				.src = "192.0.2.1", .dst = "192.0.2.2");
	struct frame tcp =
		IPV4(.to = "02:00:00:00:01:03", .from = "02:00:00:00:01:01", .src = "192.0.2.1",
		     .dst = "192.0.2.2", .protocol = 6, .payload = 20);
	unsigned buffers = ring_rig_free_buffers(&h->rig);
	uint64_t seed = 11;

	harness_command(h, "bridge add br0");
	harness_command(h, "bridge member add br0 port 0");
	harness_command(h, "bridge member add br0 port 1");
	silence(h, &udp, &tcp, 0);
	udp.bytes[11] = tcp.bytes[11] = 2;
	silence(h, &udp, &tcp, 1);
	for (unsigned i = 0; i < sets_wanted() / 2; i++)
		one_set(h, &seed, false);
	end(h, buffers);
	harness_command(h, "bridge del br0");
}

static void the_router_does_what_rules_say_one_by_one(void **state)
{
	(void)state;
	struct harness *h = routed();
	struct frame udp = FROM_0(.dst = "10.0.1.9");
	struct frame tcp = FROM_0(.dst = "10.0.1.9", .protocol = 6, .payload = 20);
	unsigned buffers = ring_rig_free_buffers(&h->rig);
	uint64_t seed = 12;

	tcp.bytes[14 + 20 + 13] = 2; /* SYN: a reset would not be answered */
	harness_command(h, "route add 0.0.0.0/0 via 10.0.1.2");
	silence(h, &udp, &tcp, 0);
	for (unsigned i = 0; i < (sets_wanted() + 1) / 2; i++)
		one_set(h, &seed, true);
	end(h, buffers);
	free(h->configuration);
	h->configuration = NULL;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_bridge_does_what_rules_say_one_by_one),
		cmocka_unit_test(the_router_does_what_rules_say_one_by_one),
	};

	test_eal_start("0");
	rte_log_set_global_level(RTE_LOG_CRIT);
	return cmocka_run_group_tests(tests, NULL, harness_destroy);
}
