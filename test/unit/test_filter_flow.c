/* SPDX-License-Identifier: BSD-3-Clause */
/* Flows over two lcores' tables, without packets around them, under a clock of the test's. */
#include <netinet/in.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <rte_tcp.h>

#include "filter/flow_fwd.h"
#include "filter/flow_state.h"
#include "filter/flow_table.h"
#include "filter/rule.h"
#include "test_eal.h"

enum { LCORES = 2, SYN = RTE_TCP_SYN_FLAG, ACK = RTE_TCP_ACK_FLAG, FIN = RTE_TCP_FIN_FLAG };

struct rig {
	struct filter_flows *flows;
	struct flow_rule rule[3]; /* the last with a limit of 10 by source address */
	struct flow_rules rules;
	uint32_t now;
};

static struct rig begin(uint32_t size)
{
	struct rig rig = {.flows = filter_flows_create(), .now = 1000};

	assert_non_null(rig.flows);
	rig.flows->count = LCORES;
	for (unsigned i = 0; i < LCORES; i++) {
		rig.flows->table[i] = flow_table_create(size, i, SOCKET_ID_ANY);
		assert_non_null(rig.flows->table[i]);
	}
	for (uint32_t i = 0; i < 3; i++)
		rig.rule[i] = (struct flow_rule){.limit = {.serial = 10 + i}, .index = i};
	rig.rule[2].limit.by = MR_FILTER_BY_SRC;
	rig.rule[2].limit.limit = 10;
	return rig;
}

static void end(struct rig *rig)
{
	filter_flows_free(rig->flows);
}

static struct flow_context at(struct rig *rig, unsigned lcore)
{
	rig->rules = (struct flow_rules){.program = 1, .count = 3, .rule = rig->rule};
	return (struct flow_context){.flows = rig->flows,
				     .own = rig->flows->table[lcore],
				     .rules = &rig->rules,
				     .now = rig->now};
}

/* From client to server, or the other way. */
static struct flow_packet packet(const struct rig *rig, uint8_t protocol, uint32_t client,
				 uint16_t port, bool back)
{
	struct flow_packet packet = {
		.kind = FLOW_OF_KEY,
		.key = {.sport = port,
			.dport = 53,
			.protocol = protocol,
			.epoch = rig->flows->epoch},
	};

	memcpy(packet.key.src, &client, sizeof(client));
	packet.key.dst[0] = 7;
	if (back)
		packet.key = flow_reverse(&packet.key);
	return packet;
}

static struct flow_packet segment(const struct rig *rig, uint32_t client, bool back, uint8_t flags,
				  uint32_t seq, uint32_t ack)
{
	struct flow_packet p = packet(rig, IPPROTO_TCP, client, 1000, back);

	p.is_tcp = true;
	p.segment = (struct tcp_segment){
		.seq = seq,
		.ack = ack,
		.length = ((flags & SYN) != 0) + ((flags & FIN) != 0),
		.window = 1000,
		.flags = flags,
		.scale = -1,
	};
	return p;
}

static enum flow_answer meet(struct rig *rig, unsigned lcore, const struct flow_packet *p)
{
	struct flow_context context = at(rig, lcore);
	uint32_t rule;

	return filter_flow_meet(&context, p, flow_hash(context.own, &p->key), &rule);
}

static enum flow_answer make(struct rig *rig, unsigned lcore, const struct flow_packet *p,
			     unsigned rule)
{
	struct flow_context context = at(rig, lcore);

	return filter_flow_make(&context, p, flow_hash(context.own, &p->key), &rig->rule[rule]);
}

static void sweep_lcore(struct rig *rig, unsigned lcore)
{
	struct flow_context context = at(rig, lcore);

	do
		filter_flow_sweep(&context, false);
	while (context.own->round != rig->now);
}

static void sweep(struct rig *rig)
{
	for (unsigned i = 0; i < LCORES; i++)
		sweep_lcore(rig, i);
}

static uint64_t entries(const struct rig *rig)
{
	return filter_flows_entries(rig->flows);
}

static void the_answer_is_known_on_any_lcore(void **state)
{
	(void)state;
	for (unsigned lcores = 0; lcores < 4; lcores++) {
		struct rig rig = begin(64);
		struct flow_packet there = packet(&rig, IPPROTO_UDP, 1, 1000, false);
		struct flow_packet back = packet(&rig, IPPROTO_UDP, 1, 1000, true);
		struct flow_packet other = packet(&rig, IPPROTO_UDP, 1, 1001, true);

		assert_int_equal(meet(&rig, lcores & 1, &there), FLOW_UNKNOWN);
		assert_int_equal(meet(&rig, lcores >> 1, &back), FLOW_UNKNOWN);
		assert_int_equal(make(&rig, lcores & 1, &there, 0), FLOW_MADE);
		assert_int_equal(meet(&rig, lcores >> 1, &back), FLOW_KNOWN);
		assert_int_equal(meet(&rig, lcores & 1, &there), FLOW_KNOWN);
		assert_int_equal(meet(&rig, lcores >> 1, &other), FLOW_UNKNOWN);
		assert_int_equal(entries(&rig), 2);
		rig.now += 299;
		sweep(&rig);
		assert_int_equal(entries(&rig), 2);
		rig.now += 1;
		sweep(&rig);
		assert_int_equal(entries(&rig), 0);
		end(&rig);
	}
}

static void open_connection(struct rig *rig, unsigned there, unsigned back, uint32_t client)
{
	struct flow_packet p = segment(rig, client, false, SYN, 100, 0);

	assert_int_equal(meet(rig, there, &p), FLOW_UNKNOWN);
	assert_int_equal(make(rig, there, &p, 0), FLOW_MADE);
	p = segment(rig, client, true, SYN | ACK, 500, 101);
	assert_int_equal(meet(rig, back, &p), FLOW_KNOWN);
	p = segment(rig, client, false, ACK, 101, 501);
	assert_int_equal(meet(rig, there, &p), FLOW_KNOWN);
}

static void talk(struct rig *rig, unsigned there, unsigned back, uint32_t client, uint32_t n)
{
	struct flow_packet p = segment(rig, client, false, ACK, 101 + 100 * n, 501 + 100 * n);

	p.segment.length = 100;
	assert_int_equal(meet(rig, there, &p), FLOW_KNOWN);
	p = segment(rig, client, true, ACK, 501 + 100 * n, 201 + 100 * n);
	p.segment.length = 100;
	assert_int_equal(meet(rig, back, &p), FLOW_KNOWN);
}

static void a_connection_moves_between_lcores(void **state)
{
	(void)state;
	struct rig rig = begin(64);
	struct flow_packet blind = segment(&rig, 1, false, ACK, 100000, 501);

	open_connection(&rig, 0, 1, 1);
	for (uint32_t n = 0; n < 300; n++) {
		talk(&rig, n / 7 & 1, n / 3 & 1, 1, n);
		rig.now += n % 5 == 0;
	}
	assert_int_equal(meet(&rig, 0, &blind), FLOW_BAD_STATE);
	assert_int_equal(meet(&rig, 1, &blind), FLOW_BAD_STATE);
	end(&rig);
}

static void a_connection_begins_anew(void **state)
{
	(void)state;
	for (unsigned lcores = 0; lcores < 4; lcores++) {
		struct rig rig = begin(64);
		unsigned there = lcores & 1, back = lcores >> 1;
		struct flow_packet p;

		for (unsigned round = 0; round < 3; round++) {
			open_connection(&rig, there, back, 1);
			p = segment(&rig, 1, false, FIN | ACK, 101, 501);
			assert_int_equal(meet(&rig, there, &p), FLOW_KNOWN);
			p = segment(&rig, 1, true, FIN | ACK, 501, 102);
			assert_int_equal(meet(&rig, back, &p), FLOW_KNOWN);
			p = segment(&rig, 1, false, ACK, 102, 502);
			assert_int_equal(meet(&rig, there, &p), FLOW_KNOWN);
			p = segment(&rig, 1, false, SYN, 90000, 0);
			assert_int_equal(meet(&rig, there, &p), FLOW_UNKNOWN);
		}
		end(&rig);
	}
}

/* What was reset ends with its ten seconds, whichever of its directions is swept first. */
static void what_is_left_of_a_reset_connection_ends_with_it(void **state)
{
	(void)state;
	for (unsigned swept = 0; swept < LCORES; swept++) {
		struct rig rig = begin(64);
		struct flow_packet reset = segment(&rig, 1, true, RTE_TCP_RST_FLAG, 501, 0);
		struct flow_packet there = segment(&rig, 1, false, ACK, 101, 501);
		struct flow_packet back = segment(&rig, 1, true, ACK, 501, 101);

		open_connection(&rig, 0, 1, 1);
		talk(&rig, 0, 1, 1, 0); /* both have met the other's */
		reset.segment.seq = 601;
		assert_int_equal(meet(&rig, 1, &reset), FLOW_KNOWN);
		rig.now += 10;
		sweep_lcore(&rig, swept);
		assert_int_equal(entries(&rig), 1);
		assert_int_equal(meet(&rig, swept ^ 1, swept == 0 ? &back : &there), FLOW_UNKNOWN);
		end(&rig);
	}
}

static void two_that_are_made_at_once_become_one(void **state)
{
	(void)state;
	struct rig rig = begin(64);
	struct flow_packet there = packet(&rig, IPPROTO_UDP, 1, 1000, false);
	struct flow_packet back = packet(&rig, IPPROTO_UDP, 1, 1000, true);
	const struct filter_flows *flows = rig.flows;
	struct flow_view a, b;

	assert_int_equal(make(&rig, 0, &there, 0), FLOW_MADE);
	assert_int_equal(make(&rig, 1, &back, 1), FLOW_MADE);
	rig.now++;
	assert_int_equal(meet(&rig, 1, &back), FLOW_KNOWN);
	assert_int_equal(meet(&rig, 0, &there), FLOW_KNOWN);
	assert_true(flow_view_find(flows->table[0], &there.key, &a));
	assert_true(flow_view_find(flows->table[1], &back.key, &b));
	assert_int_equal(a.id, b.id);
	assert_true((a.link & FLOW_SETTLED) && (b.link & FLOW_SETTLED));
	end(&rig);
}

static void a_limit_holds_over_all_lcores(void **state)
{
	(void)state;
	struct rig rig = begin(64);

	for (uint32_t client = 1; client < 4; client++)
		for (uint16_t n = 0; n < 30; n++) {
			struct flow_packet p = packet(&rig, IPPROTO_UDP, client, n, false);

			assert_int_equal(make(&rig, n & 1, &p, 2),
					 n < 10 ? FLOW_MADE : FLOW_OVER_LIMIT);
		}
	assert_int_equal(entries(&rig), 30);
	rig.now += 30;
	sweep(&rig);
	assert_int_equal(entries(&rig), 0);
	for (uint16_t n = 0; n < 12; n++) {
		struct flow_packet p = packet(&rig, IPPROTO_UDP, 1, n, false);

		assert_int_equal(make(&rig, 0, &p, 2), n < 10 ? FLOW_MADE : FLOW_OVER_LIMIT);
	}
	end(&rig);
}

static void a_flood_ends_no_established_flow(void **state)
{
	(void)state;
	struct rig rig = begin(4096);
	uint64_t made = 0;

	for (uint32_t client = 1; client <= 1000; client++)
		open_connection(&rig, 0, client & 1, client);
	for (uint32_t n = 0; n < 1000000; n++) {
		struct flow_packet p = segment(&rig, 0x80000000 + n, false, SYN, n, 0);

		rig.now += n % 100000 == 0;
		if (meet(&rig, 0, &p) == FLOW_UNKNOWN)
			made += make(&rig, 0, &p, 0) == FLOW_MADE;
	}
	assert_int_equal(made, 1000000);
	assert_in_range(rig.flows->table[0]->counters.evicted, 900000, 1000000);
	for (uint32_t client = 1; client <= 1000; client++)
		talk(&rig, 0, client & 1, client, 0);
	open_connection(&rig, 0, 1, 5000);
	end(&rig);
}

static void what_is_established_makes_no_room(void **state)
{
	(void)state;
	struct rig rig = begin(64);
	enum flow_answer answer;
	uint32_t opened = 0;
	struct flow_packet p;

	/* Until a bucket has no place for the next one. */
	for (;; opened++) {
		p = segment(&rig, opened, false, SYN, 100, 0);
		if (make(&rig, 0, &p, 0) != FLOW_MADE)
			break;
		p = segment(&rig, opened, true, SYN | ACK, 500, 101);
		answer = meet(&rig, 1, &p);
		if (answer != FLOW_KNOWN) {
			assert_int_equal(answer, FLOW_NO_PLACE);
			break;
		}
		p = segment(&rig, opened, false, ACK, 101, 501);
		assert_int_equal(meet(&rig, 0, &p), FLOW_KNOWN);
	}
	assert_in_range(opened, 64, 128);
	for (uint32_t client = 0; client < opened; client++)
		talk(&rig, 0, 1, client, 0);
	end(&rig);
}

static void a_rule_that_is_no_more_ends_its_flows(void **state)
{
	(void)state;
	struct rig rig = begin(64);
	struct flow_packet p = packet(&rig, IPPROTO_UDP, 1, 1000, false);
	struct flow_context context;
	uint32_t rule;

	assert_int_equal(make(&rig, 0, &p, 1), FLOW_MADE);
	context = at(&rig, 0);
	rig.rule[1].limit.serial = 11; /* the same, at another place */
	rig.rule[1].index = 77;
	rig.rules.program++;
	assert_int_equal(filter_flow_meet(&context, &p, flow_hash(context.own, &p.key), &rule),
			 FLOW_KNOWN);
	assert_int_equal(rule, 77);
	rig.rules.program++;
	rig.rules.count = 1;
	assert_int_equal(filter_flow_meet(&context, &p, flow_hash(context.own, &p.key), &rule),
			 FLOW_UNKNOWN);
	assert_int_equal(entries(&rig), 0);
	end(&rig);
}

/* ---- against a model ---- */

enum { MODEL_FLOWS = 40, MODEL_STEPS = 200000 };

struct model_flow {
	bool known, answered;
	uint32_t seen;
};

static bool is_alive(const struct model_flow *flow, uint32_t now)
{
	return flow->known && now - flow->seen < (flow->answered ? 300u : 30u);
}

static uint32_t next_random(uint64_t *seed)
{
	*seed = *seed * UINT64_C(6364136223846793005) + 1442695040888963407;
	return (uint32_t)(*seed >> 33);
}

static void it_agrees_with_a_model(void **state)
{
	(void)state;
	struct rig rig = begin(256);
	struct model_flow model[MODEL_FLOWS] = {0};
	uint64_t seed = 4711, known = 0;

	for (unsigned step = 0; step < MODEL_STEPS; step++) {
		uint32_t random = next_random(&seed), n = random % MODEL_FLOWS;
		struct model_flow *flow = &model[n];
		bool back = random >> 8 & 1, alive;
		/* A flow's directions are on the same lcore or on two. */
		unsigned lcore = back ? n / 2 & 1 : n & 1;
		struct flow_packet p = packet(&rig, IPPROTO_UDP, n, 1000, back);

		if (random >> 9 & 1)
			rig.now += (random >> 10) % 3;
		if (random % 499 == 0)
			rig.now += 100 + random % 300;
		if ((random >> 12) % 4 == 0)
			sweep(&rig);
		alive = is_alive(flow, rig.now);
		known += alive;
		if (meet(&rig, lcore, &p) != (alive ? FLOW_KNOWN : FLOW_UNKNOWN))
			fail_msg("step %u: flow %u should be %s", step, n,
				 alive ? "known" : "unknown");
		if (!alive) {
			*flow = (struct model_flow){.known = !back};
			if (!back)
				assert_int_equal(make(&rig, lcore, &p, 0), FLOW_MADE);
		}
		flow->answered |= back && flow->known;
		flow->seen = rig.now;
	}
	assert_in_range(known, MODEL_STEPS / 10, MODEL_STEPS - MODEL_STEPS / 10);
	rig.now += 300;
	sweep(&rig);
	assert_int_equal(entries(&rig), 0);
	for (unsigned i = 0; i < LCORES; i++) {
		const struct flow_table *table = rig.flows->table[i];

		assert_int_equal(table->counters.settled, 0);
		assert_int_equal(table->counters.created + table->counters.replies,
				 table->counters.expired + table->counters.evicted);
	}
	end(&rig);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_answer_is_known_on_any_lcore),
		cmocka_unit_test(a_connection_moves_between_lcores),
		cmocka_unit_test(a_connection_begins_anew),
		cmocka_unit_test(what_is_left_of_a_reset_connection_ends_with_it),
		cmocka_unit_test(two_that_are_made_at_once_become_one),
		cmocka_unit_test(a_limit_holds_over_all_lcores),
		cmocka_unit_test(a_flood_ends_no_established_flow),
		cmocka_unit_test(what_is_established_makes_no_room),
		cmocka_unit_test(a_rule_that_is_no_more_ends_its_flows),
		cmocka_unit_test(it_agrees_with_a_model),
	};

	test_eal_start("0");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
