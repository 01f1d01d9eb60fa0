/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Random rules with state against a model that takes the packets of a burst through a hook one
 * after the other: the same packets meet the same end and the same rules, alone and in bursts.
 * MR_FILTER_STATE_SETS says how many sets of rules.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "filter/filter.h"
#include "filter/rule.h"
#include "filter_model.h"
#include "filter_random.h"
#include "routed.h"
#include "test_eal.h"

enum { PACKETS = 400, FLOWS = 5, MOST_RULES = 9, UDP = 17, GRE = 47 };

/* A packet of a flow: the last one is GRE's, the others are UDP's between two ports each. */
struct packet {
	unsigned flow, side; /* side: it comes from behind that port */
	bool is_long;
};

/* What the model knows of a flow. */
struct flow {
	bool known, answered;
	unsigned side; /* that made it */
	uint32_t rule; /* that made it */
	uint64_t seen; /* seconds */
};

struct model {
	const struct mr_filter_set *set;
	struct flow flow[FLOWS];
	uint64_t now, hits[MOST_RULES + 1];
};

static uint64_t seed;

static uint32_t draw(uint32_t below)
{
	return filter_random(&seed, below);
}

/* ---- the model ---- */

static bool is_datagram(unsigned flow)
{
	return flow < FLOWS - 1;
}

static bool is_alive(const struct model *model, unsigned n)
{
	const struct flow *flow = &model->flow[n];
	uint64_t timeout =
		is_datagram(n) ? (flow->answered ? 300 : 30) : (flow->answered ? 600 : 60);

	return flow->known && model->now - flow->seen < timeout;
}

static bool has_state(const struct mr_filter_rule *rule)
{
	return rule->keep_state || rule->action == MR_FILTER_CHECK_STATE;
}

/* The first rule with state of a hook among those from `from` to `to`, both included; or count. */
static uint32_t first_with_state(const struct mr_filter_set *set, uint32_t from, uint32_t to,
				 bool out)
{
	for (uint32_t i = from; i <= to && i < set->count; i++)
		if (has_state(set->rule[i]) && mr_filter_rule_is_for(set->rule[i], out))
			return i;
	return set->count;
}

/* Whether a packet passes a hook. *of_flow: its flow let it pass at input; becomes so. */
static bool passes_hook(struct model *model, const struct packet *p,
			const struct model_packet *read, const struct mr_filter_place *place,
			bool *of_flow)
{
	const struct mr_filter_set *set = model->set;
	struct flow *flow = &model->flow[p->flow];
	bool asked = false;
	uint32_t start = 0;

	for (;;) {
		uint32_t i = model_first(set, read, place, start);
		const struct mr_filter_rule *rule;

		if (!asked && first_with_state(set, start, i, place->out) < set->count) {
			asked = true;
			if (*of_flow || is_alive(model, p->flow)) {
				*of_flow = true;
				flow->seen = model->now;
				flow->answered |= p->side != flow->side;
				model->hits[flow->rule]++;
				return true;
			}
		}
		model->hits[i]++;
		if (i == set->count)
			return set->default_action == MR_FILTER_ALLOW;
		rule = set->rule[i];
		if (rule->keep_state) {
			*flow = (struct flow){
				.known = true, .side = p->side, .rule = i, .seen = model->now};
			*of_flow = true;
		}
		if (rule->action == MR_FILTER_ALLOW)
			return true;
		if (rule->action == MR_FILTER_DENY)
			return false;
		start = rule->action == MR_FILTER_SKIPTO
				? mr_filter_set_at(set, rule->argument.number)
				: i + 1;
	}
}

/* Takes a burst through a hook: those that passed before (mask), in their order. of_flow: mask of
 * those that their flow let pass. Returns the mask of those that pass. */
static uint64_t pass_burst(struct model *model, const struct packet *packets,
			   const struct frame *frames, uint64_t mask, bool out, uint64_t *of_flow)
{
	uint64_t passed = 0;

	for (; mask != 0; mask &= mask - 1) {
		unsigned i = (unsigned)__builtin_ctzll(mask), side = packets[i].side;
		struct mr_filter_place place = {.iface_in = (uint16_t)side,
						.out = out,
						.iface_out =
							(uint16_t)(out ? side ^ 1 : MR_IFACE_NONE)};
		bool is_of_flow = *of_flow >> i & 1;
		struct model_packet read;

		model_read(frames[i].bytes, frames[i].length, &read);
		passed |= (uint64_t)passes_hook(model, &packets[i], &read, &place, &is_of_flow)
			  << i;
		*of_flow |= (uint64_t)is_of_flow << i;
	}
	return passed;
}

/* ---- what is random ---- */

/*
 * Adds a rule; returns whether it has state. Rules that are not final come before those with state,
 * and match all packets of a direction of a flow or none: docs/filter.md says what else may happen
 * in the burst that makes a flow.
 */
static bool add_random_rule(struct harness *h, unsigned number, bool behind_state)
{
	static const char *const protocols[] = {"udp", "47", "ip"};
	static const char *const ends[] = {"any", "any", "10.0.0.9", "10.0.1.9"};
	static const char *const options[] = {"",         "", "", " in", " out", " recv port 0",
					      " iplen 60"};
	static const char *const actions[] = {"allow", "allow", "deny", "count", "skipto"};
	const char *protocol = protocols[draw(3)], *action = actions[draw(behind_state ? 3 : 5)];
	char ports[16] = "", target[16] = "";
	bool final = strcmp(action, "allow") == 0 || strcmp(action, "deny") == 0;
	bool keep = strcmp(action, "allow") == 0 && draw(3) != 0;

	if (draw(5) == 0) {
		harness_command(h, "filter add %u check-state", number);
		return true;
	}
	if (strcmp(protocol, "udp") == 0 && draw(2) == 0)
		snprintf(ports, sizeof(ports), " %u", 1000 + draw(2));
	if (strcmp(action, "skipto") == 0)
		snprintf(target, sizeof(target), " %u", number + 1 + draw(MOST_RULES));
	harness_command(h, "filter add %u %s%s %s from %s to %s%s%s%s", number, action, target,
			protocol, ends[draw(4)], ends[draw(4)], ports, options[draw(final ? 7 : 6)],
			keep ? " keep-state" : "");
	return keep;
}

static struct frame frame_of(const struct packet *p, unsigned id)
{
	static const char *const host[] = {HOST(0), HOST(1)};
	static const char *const router[] = {ROUTER(0), ROUTER(1)};
	static const char *const address[] = {"10.0.0.9", "10.0.1.9"};
	unsigned port[2] = {1000 + p->flow % 2, 1000 + p->flow / 2};

	return IPV4(.from = host[p->side], .to = router[p->side], .src = address[p->side],
		    .dst = address[p->side ^ 1], .sport = port[p->side], .dport = port[p->side ^ 1],
		    .protocol = is_datagram(p->flow) ? UDP : GRE, .payload = p->is_long ? 40 : 20,
		    .id = id);
}

/* ---- trials ---- */

/* Sends a burst from one side; each packet passes or not as the model says. */
static void send_burst(struct harness *h, struct model *model, unsigned count)
{
	static struct frame frames[64];
	struct packet packets[64];
	uint64_t expected = UINT64_MAX >> (64 - count), passed = 0, of_flow = 0;
	unsigned side = draw(2);
	struct frame frame;

	for (unsigned i = 0; i < count; i++) {
		packets[i] =
			(struct packet){.flow = draw(FLOWS), .side = side, .is_long = draw(3) == 0};
		frames[i] = frame_of(&packets[i], i);
	}
	for (unsigned out = 0; out < 2; out++)
		expected = pass_burst(model, packets, frames, expected, out == 1, &of_flow);
	harness_burst(h, side, frames, count);
	harness_run(h);
	while (harness_take(h, side ^ 1, &frame)) {
		unsigned id = frame.bytes[18] * 256u + frame.bytes[19];

		assert_in_range(id, 0, count - 1);
		passed |= UINT64_C(1) << id;
	}
	if (passed != expected)
		fail_msg("of %u packets %lx pass, not %lx", count, passed, expected);
	harness_dropped(h, MR_DROP_filter_denied, count - (unsigned)__builtin_popcountll(passed));
}

static void check_hits(const struct harness *h, const struct model *model)
{
	const struct mr_filter_set *set = model->set;

	for (uint32_t i = 0; i < set->count; i++) {
		uint64_t packets = mr_filter_hits(h->rig.mr, set->rule[i]->counter).packets;

		if (packets != model->hits[i])
			fail_msg("rule %u counted %lu packets, not %lu", set->rule[i]->number,
				 packets, model->hits[i]);
	}
}

static void try_rules(struct harness *h, unsigned trial, unsigned most)
{
	bool behind_state = false;
	unsigned rules;

	seed = 88172645463325252u + trial;
	rules = 2 + draw(MOST_RULES - 2);
	for (unsigned i = 1; i <= rules; i++)
		behind_state |= add_random_rule(h, i, behind_state);
	harness_command(h, "filter default %s", draw(2) == 0 ? "allow" : "deny");
	struct model model = {.set = h->rig.mr->filter->set};

	for (unsigned sent = 0; sent < PACKETS;) {
		unsigned count = 1 + draw(most);

		send_burst(h, &model, count);
		sent += count;
		if (draw(6) == 0) {
			unsigned seconds = draw(4) == 0 ? draw(700) : draw(40);

			ring_rig_advance(&h->rig, UINT64_C(1000) * seconds, 1000);
			model.now += seconds;
		}
	}
	check_hits(h, &model);
	harness_command(h, "filter flush");
	harness_command(h, "filter default allow");
	harness_command(h, "filter state flush");
}

static void one_by_one(void **state)
{
	(void)state;
	struct harness *h = routed();

	for (unsigned trial = 0; trial < 20; trial++)
		try_rules(h, trial, 1);
	routed_end(h);
}

static unsigned sets(void)
{
	const char *wanted = getenv("MR_FILTER_STATE_SETS");

	return wanted != NULL ? (unsigned)strtoul(wanted, NULL, 10) : 60;
}

static void in_bursts(void **state)
{
	(void)state;
	struct harness *h = routed();

	for (unsigned trial = 0; trial < sets(); trial++)
		try_rules(h, trial, trial % 2 == 0 ? 64 : 6);
	routed_end(h);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_by_one),
		cmocka_unit_test(in_bursts),
	};

	test_eal_start("0");
	return cmocka_run_group_tests(tests, NULL, harness_destroy);
}
