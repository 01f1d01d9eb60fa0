/* SPDX-License-Identifier: BSD-3-Clause */
/* The filter's language: what reads, how it is printed, what is refused and where. */
#include "filter_random.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "filter/rule_text.h"
#include "filter/slots.h"

static struct mr_filter_set *set_with_addresses(void)
{
	struct mr_filter_set *set = mr_filter_set_new();

	assert_non_null(set);
	assert_int_equal(mr_filter_set_put_addresses(set, "servers", NULL, 0), 0);
	assert_int_equal(mr_filter_set_put_addresses(set, "s0", NULL, 0), 0);
	assert_int_equal(mr_filter_set_put_addresses(set, "s1", NULL, 0), 0);
	return set;
}

static void rules_print_in_one_spelling(void **state)
{
	static const struct {
		const char *text, *canonical; /* NULL: the same */
	} good[] = {
		{"100 deny tcp from any to 10.0.0.0/8 80,443,8000-8100 in via port 0", NULL},
		{"allow all from any to any", NULL},
		{"65535 pass ip from any to any", "65535 allow ip from any to any"},
		{"drop log udp from any to any", "deny log udp from any to any"},
		{"allow  { tcp or udp }\tfrom { 10.0.0.1 or 10.0.0.2 } to any 53",
		 "allow tcp,udp from 10.0.0.1,10.0.0.2 to any 53"},
		{"allow tcp , udp from 10.0.0.1 , 10.0.0.2 to any 53 , 80",
		 "allow tcp,udp from 10.0.0.1,10.0.0.2 to any 53,80"},
		{"allow 6 from 10.1.2.3/8 to any", "allow tcp from 10.0.0.0/8 to any"},
		{"allow ip6 from 2001:DB8::/32 to any", "allow ip6 from 2001:db8::/32 to any"},
		{"allow ipv4 from me to not me", "allow ip4 from me to not me"},
		{"deny all from set:servers to any", "deny ip from set:servers to any"},
		{"deny tcp from any not 80,443 to any", NULL},
		{"deny tcp from any 80 to any dst-port 443", "deny tcp from any 80 to any 443"},
		/* both ends of what a port may be. */
		{"deny tcp from any to any 0,1,59999,60006,61999,62170,65529,65535",
		 "deny tcp from any to any 0-1,59999,60006,61999,62170,65529,65535"},
		{"deny tcp from any to any 60000-65535,5-5",
		 "deny tcp from any to any 5,60000-65535"},
		{"deny tcp from any to any 1-10,5-20,21", "deny tcp from any to any 1-21"},
		{"allow tcp from any to any established", NULL},
		{"allow tcp from any to any setup", NULL},
		{"allow tcp from any to any tcpflags !ack,syn", "allow tcp from any to any setup"},
		{"allow tcp from any to any not tcpflags fin,psh,urg", NULL},
		{"allow icmp from any to any icmptypes 0,3,8-11", NULL},
		{"allow icmp6 from any to any icmp6types 128-129", NULL},
		{"deny ip from any to any frag", NULL},
		{"deny tcp from any to any 80 not frag", NULL},
		{"deny ip from any to any options", NULL},
		{"deny ip from any to any not options iplen 0-40 ipttl 0-1 dscp 46",
		 "deny ip from any to any not options iplen 0-40 ipttl 0-1 dscp ef"},
		{"deny all from any to any vlan 10,20-30 ethertype arp",
		 "deny all from any to any vlan 10,20-30 ethertype 0x0806"},
		{"deny all from any to any mac any 02:00:00:00:00:01",
		 "deny all from any to any src-mac 02:00:00:00:00:01"},
		{"deny all from any to any mac 01:00:5e:11:22:33/24 any",
		 "deny all from any to any dst-mac 01:00:5e:00:00:00/24"},
		{"deny all from any to any not dst-mac ff:ff:ff:ff:ff:ff", NULL},
		{"deny all from any to any out recv port 0-1 xmit port 2 vrf 7", NULL},
		{"deny all from any to any not in", "deny all from any to any out"},
		{"deny tcp from any to any ip6", NULL},
		{"deny all from any to any ip4", "deny ip4 from any to any"},
		{"deny not ip from any to any", NULL},
		{"deny not ip6 from any to any", NULL},
		{"deny not tcp from any to any", NULL},
		{"deny all from any to any proto esp", "deny esp from any to any"},
		{"deny all from any to any iplen 40", "deny ip from any to any iplen 40"},
		{"reject udp from any to any", NULL},
		{"count all from any to any", NULL},
		{"100 skipto 200 tcp from any to any", NULL},
		{"set-dscp 46 ip from any to any", "set-dscp ef ip from any to any"},
		{"set-dscp 11 ip from any to any", NULL},
		{"police 10000000 burst 64000 all from any to any",
		 "police 10M burst 64K all from any to any"},
		{"police 8001 burst 1518 all from any to any", NULL},
		{"mirror port 3 all from any to any", NULL},
		{"check-state", NULL},
		{"allow tcp from any to any setup keep-state", NULL},
		{"allow tcp from any to any setup limit dst-port,src-addr 10",
		 "allow tcp from any to any setup limit src-addr,dst-port 10"},
	};
	struct mr_filter_set *set = set_with_addresses();
	char text[MR_FILTER_TEXT_SIZE];

	(void)state;
	for (unsigned i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		struct mr_filter_fault fault = {0};
		struct mr_filter_rule *rule = NULL;

		if (mr_filter_rule_parse(good[i].text, set, &rule, &fault) != 0)
			fail_msg("%s: column %u: %s", good[i].text, fault.column, fault.error.text);
		assert_string_equal(mr_filter_rule_print(rule, set, text, sizeof(text)),
				    good[i].canonical ? good[i].canonical : good[i].text);
		mr_filter_rule_unref(rule);
	}
	mr_filter_set_free(set);
}

static void what_cannot_be_honoured_is_refused_where_it_stands(void **state)
{
	static const struct {
		const char *text;
		unsigned column;
		const char *says;
	} bad[] = {
		{"", 1, "an action"},
		{"100", 4, "an action"},
		{"0 deny all from any to any", 1, "a rule's number"},
		{"100000000 deny all from any to any", 1, "a rule's number"},
		{"007 deny all from any to any", 1, "a rule's number"},
		{"-5 deny all from any to any", 1, "an action"},
		{"denny all from any to any", 1, "an action"},
		{"deny", 5, "a protocol"},
		{"deny tpc from any to any", 6, "a protocol"},
		{"deny 256 from any to any", 6, "a protocol"},
		{"deny tcp any to any", 10, "'from'"},
		{"deny tcp from any any", 19, "'to'"},
		{"deny tcp from any to", 21, "any, me"},
		{"deny tcp from 10.0.0.256 to any", 15, "an address"},
		{"deny tcp from 10.0.0.0/33 to any", 15, "an address"},
		{"deny tcp from not any to any", 19, "any alone"},
		{"deny tcp from any,10.0.0.1 to any", 18, "ports: 0 to 65535"},
		{"deny tcp from 10.0.0.1,any to any", 24, "any alone"},
		{"deny tcp from set:nobody to any", 15, "there is no address set 'nobody'"},
		{"deny tcp from { 10.0.0.1 10.0.0.2 } to any", 26, "'or' or '}'"},
		{"deny { tcp or ip } from any to any", 15, "a protocol"},
		{"deny ip,tcp from any to any", 8, "a family is given alone"},
		{"deny not all from any to any", 6, "matches nothing"},
		/* */
		{"deny tcp from any to any 65536", 26, "0 to 65535"},
		{"deny tcp from any to any -1", 26, "an option"},
		{"deny tcp from any to any 10-5", 26, "0 to 65535"},
		{"deny tcp from any to any 08", 26, "0 to 65535"},
		{"deny tcp from any to any 80,", 29, "the rule ends here"},
		{"deny tcp from any to any 80,,443", 29,
		 "0 to 65535, or a range like 8000-8100, not ','"},
		{"deny tcp from any to any ,80", 26, "ports"},
		{"deny tcp from any to any 80-", 26, "ports"},
		{"deny tcp from any to any 1-2-3", 26, "ports"},
		{"deny tcp from any to any http", 26, "an option"},
		/* What its packets do not have. */
		{"deny tcp from any to any 443 frag", 26, "frag means"},
		{"deny tcp from any to any frag 443", 31, "an option"},
		{"deny tcp from any to any frag dst-port 443", 31, "frag means"},
		{"deny icmp from any to any icmptypes 8 frag", 27, "frag means"},
		{"deny tcp from any to any frag established", 31, "frag means"},
		{"deny ip from any to any 80", 25, "ports need a protocol"},
		{"deny gre from any 80 to any", 19, "ports need a protocol"},
		{"deny esp from any to any not 80", 26, "ports need a protocol"},
		{"deny not tcp from any to any 80", 30, "ports need a protocol"},
		{"deny tcp,icmp from any to any 80", 31, "ports need a protocol"},
		{"deny ip from any to any tcpflags rst,urg", 25, "TCP flags need"},
		{"deny udp from any to any established", 26, "TCP flags need"},
		{"deny tcp,udp from any to any setup", 30, "TCP flags need"},
		{"deny tcp from any to any icmptypes 8", 26, "icmptypes need"},
		{"deny icmp6 from any to any icmptypes 8", 28, "icmptypes need"},
		{"deny icmp from any to any icmp6types 8", 27, "icmp6types need"},
		{"deny ip6 from 10.0.0.0/8 to any", 15, "IPv4 and IPv6"},
		{"deny tcp from 10.0.0.0/8 to 2001:db8::/32", 29, "IPv4 and IPv6"},
		{"deny icmp from 2001:db8::1 to any", 16, "IPv4 and IPv6"},
		{"deny icmp6 from any to any ip4", 28, "icmp is of IPv4"},
		{"deny ip4 from any to any ip6", 26, "of that family"},
		{"deny not ip from any to 10.0.0.1", 25, "not IP"},
		{"deny not ip from any to any frag", 29, "not IP"},
		{"deny ip from any to any ethertype 0x0806", 25, "such an ethertype"},
		{"deny all from any to any in xmit port 1", 29, "xmit needs 'out'"},
		{"deny all from any to any via port 1 recv port 2", 26, "either via"},
		{"deny all from any to any in out", 29, "said already, at column 26"},
		{"deny tcp from any to any 80 dst-port 81", 29, "said already"},
		{"deny tcp from any to any setup tcpflags syn", 32, "said already"},
		{"deny tcp from any to any tcpflags syn,!syn", 39, "syn is given twice"},
		{"deny all from any to any vlan 4095", 31, "VLAN ids"},
		{"deny all from any to any via 1", 30, "'port'"},
		{"deny all from any to any via port 32", 35, "port numbers"},
		{"deny all from any to any ethertype 2054", 36, "ethertypes"},
		{"deny all from any to any src-mac 02:00:00:00:00", 34, "a MAC address"},
		{"deny all from any to any src-mac 02:00:00:00:00:01/0", 34, "a MAC address"},
		{"deny all from any to any not mac any any", 26, "'not' goes with one MAC"},
		{"deny ip from any to any { frag or options }", 25, "rules of their own"},
		{"deny ip from any to any dscp 64", 30, "DSCPs"},
		{"200 skipto 200 all from any to any", 1, "forward only"},
		{"skipto all from any to any", 8, "the number of a later rule"},
		{"set-dscp ef all from any to any", 13, "have a DSCP"},
		{"police 10 burst 10000 all from any to any", 8, "a rate"},
		{"police 10M all from any to any", 12, "'burst'"},
		{"police 10M burst 10 all from any to any", 18, "a burst"},
		{"police 99999999999G burst 2K all from any to any", 8, "a rate"},
		{"mirror 3 all from any to any", 8, "'port'"},
		{"check-state all from any to any", 13, "nothing after"},
		{"deny tcp from any to any keep-state", 26, "only a rule that allows"},
		{"allow all from any to any keep-state", 27, "only IP packets"},
		{"allow ip from any to any frag keep-state", 31, "fragments have no state"},
		{"allow ip from any to any limit src-port 3", 26, "a limit by ports"},
		{"allow ip from any to any limit 3", 32, "what to count flows by"},
		{"allow tcp from any to any not keep-state", 27, "goes with a test"},
		{"deny all from any to any "
		 "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
		 26, "x...'"},
	};
	struct mr_filter_set *set = set_with_addresses();

	(void)state;
	for (unsigned i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct mr_filter_fault fault = {0};
		struct mr_filter_rule *rule = NULL;

		if (mr_filter_rule_parse(bad[i].text, set, &rule, &fault) != -EINVAL)
			fail_msg("'%s' is not refused", bad[i].text);
		if (fault.column != bad[i].column || strstr(fault.error.text, bad[i].says) == NULL)
			fail_msg("'%s': column %u: %s; expected column %u: %s", bad[i].text,
				 fault.column, fault.error.text, bad[i].column, bad[i].says);
	}
	mr_filter_set_free(set);
}

static void what_is_printed_reads_as_the_same_rule(void **state)
{
	struct mr_filter_set *set = set_with_addresses();
	char text[FILTER_RANDOM_TEXT], first[MR_FILTER_TEXT_SIZE], second[MR_FILTER_TEXT_SIZE];
	uint64_t seed = 20260701;
	unsigned refused = 0;

	(void)state;
	for (unsigned i = 0; i < 20000; i++) {
		struct mr_filter_rule *rule, *again;
		struct mr_filter_fault fault;

		filter_random_rule(&seed, 10, 100, text);
		if (mr_filter_rule_parse(text, set, &rule, &fault) != 0) {
			refused++;
			continue;
		}
		mr_filter_rule_print(rule, set, first, sizeof(first));
		if (mr_filter_rule_parse(first, set, &again, &fault) != 0)
			fail_msg("'%s' prints as '%s': column %u: %s", text, first, fault.column,
				 fault.error.text);
		assert_true(mr_filter_rule_same_tests(rule, again));
		assert_true(mr_filter_rule_same_effect(rule, again));
		assert_int_equal(mr_filter_rule_hash(rule), mr_filter_rule_hash(again));
		assert_string_equal(mr_filter_rule_print(again, set, second, sizeof(second)),
				    first);
		mr_filter_rule_unref(rule);
		mr_filter_rule_unref(again);
	}
	assert_in_range(refused, 1, 4000);
	mr_filter_set_free(set);
}

/* Each spelling differs from each other one in what it matches. */
static void different_tests_are_told_apart(void **state)
{
	static const char *const rules[] = {
		"allow ip from any to any",
		"allow all from any to any",
		"allow ip4 from any to any",
		"allow ip from 10.0.0.0/8 to any",
		"allow ip from not 10.0.0.0/8 to any",
		"allow ip from 10.0.0.0/9 to any",
		"allow ip from any to 10.0.0.0/8",
		"allow ip from me to any",
		"allow ip from set:s0 to any",
		"allow ip from set:s1 to any",
		"allow tcp from any to any",
		"allow not tcp from any to any",
		"allow tcp from any 80 to any",
		"allow tcp from any to any 80",
		"allow tcp from any to any not 80",
		"allow tcp from any to any 80-81",
		"allow tcp from any to any setup",
		"allow tcp from any to any not setup",
		"allow tcp from any to any tcpflags ack,!syn",
		"allow tcp from any to any established",
		"allow ip from any to any frag",
		"allow ip from any to any not frag",
		"allow ip from any to any options",
		"allow ip from any to any in",
		"allow ip from any to any out",
		"allow ip from any to any src-mac 02:00:00:00:00:01",
		"allow ip from any to any dst-mac 02:00:00:00:00:01",
		"allow ip from any to any dst-mac 02:00:00:00:00:00/40",
		"allow ip from any to any iplen 64",
		"allow ip from any to any ipttl 64",
	};
	enum { RULES = sizeof(rules) / sizeof(rules[0]) };
	struct mr_filter_set *set = set_with_addresses();
	struct mr_filter_rule *rule[RULES];
	struct mr_filter_fault fault;

	(void)state;
	for (unsigned i = 0; i < RULES; i++)
		assert_int_equal(mr_filter_rule_parse(rules[i], set, &rule[i], &fault), 0);
	for (unsigned i = 0; i < RULES; i++) {
		for (unsigned j = 0; j < RULES; j++) {
			assert_int_equal(mr_filter_rule_same_tests(rule[i], rule[j]), i == j);
			assert_int_equal(mr_filter_rule_hash(rule[i]) ==
						 mr_filter_rule_hash(rule[j]),
					 i == j);
		}
	}
	for (unsigned i = 0; i < RULES; i++)
		mr_filter_rule_unref(rule[i]);
	mr_filter_set_free(set);
}

static struct mr_filter_rule *parse(const struct mr_filter_set *set, const char *text)
{
	struct mr_filter_fault fault;
	struct mr_filter_rule *rule;

	assert_int_equal(mr_filter_rule_parse(text, set, &rule, &fault), 0);
	return rule;
}

static void sets_keep_rules_in_the_order_of_numbers(void **state)
{
	struct mr_filter_set *set = mr_filter_set_new(), *copy;
	uint32_t numbers[64];
	char text[64];

	(void)state;
	for (unsigned i = 0; i < 64; i++) {
		snprintf(text, sizeof(text), "%u allow ip from any to any iplen %u", 1 + i * 7 % 8,
			 i);
		assert_int_equal(mr_filter_set_insert(set, parse(set, text)), 0);
	}
	for (unsigned i = 1; i < set->count; i++) {
		const struct mr_filter_rule *a = set->rule[i - 1], *b = set->rule[i];

		assert_true(a->number < b->number ||
			    (a->number == b->number &&
			     a->test[0].range[0].first < b->test[0].range[0].first));
		numbers[i] = b->number;
	}
	copy = mr_filter_set_copy(set, 1);
	assert_int_equal(mr_filter_set_delete(copy, 3), 8);
	assert_int_equal(mr_filter_set_delete(copy, 3), 0);
	assert_int_equal(copy->count, 56);
	assert_int_equal(mr_filter_set_at(copy, 3), 16);
	assert_int_equal(copy->rule[16]->number, 4);
	assert_int_equal(mr_filter_set_at(copy, 9), 56);
	for (unsigned i = 1; i < 64; i++)
		assert_int_equal(set->rule[i]->number, numbers[i]);
	mr_filter_set_free(set);
	assert_int_equal(copy->rule[55]->references, 1);
	mr_filter_set_free(copy);
}

static void sorting_is_stable(void **state)
{
	struct mr_filter_set *set = mr_filter_set_new();
	char text[64];

	(void)state;
	for (unsigned i = 0; i < 200; i++) {
		snprintf(text, sizeof(text), "%u allow ip from any to any iplen %u",
			 1 + (199 - i) / 50, i);
		assert_int_equal(mr_filter_set_append(set, parse(set, text)), 0);
	}
	assert_int_equal(mr_filter_set_sort(set), 0);
	for (unsigned i = 0; i < 200; i++) {
		assert_int_equal(set->rule[i]->number, 1 + i / 50);
		assert_int_equal(set->rule[i]->test[0].range[0].first, 150 - i / 50 * 50 + i % 50);
	}
	mr_filter_set_free(set);
}

static void address_sets_hold_what_was_put(void **state)
{
	static const char *const texts[] = {"10.0.0.5/8", "10.1.0.0/16", "192.0.2.1/32",
					    "2001:db8::/32", "10.0.0.0/8"};
	struct mr_filter_set *set = mr_filter_set_new();
	struct mr_prefix prefix[5];

	(void)state;
	for (unsigned i = 0; i < 5; i++) {
		memset(&prefix[i], 0, sizeof(prefix[i]));
		assert_int_equal(mr_prefix_parse(texts[i], &prefix[i]), 0);
	}
	assert_int_equal(mr_filter_set_put_addresses(set, "a", prefix, 5), 0);
	int index = mr_filter_set_find(set, "a");
	assert_int_equal(index, 1);
	assert_int_equal(mr_filter_set_find(set, "b"), -ENOENT);
	assert_int_equal(set->addresses[index]->count, 3);
	assert_int_equal(set->addresses[index]->prefix[0].length, 8);
	assert_null(mr_filter_set_user(set, 1));
	assert_int_equal(mr_filter_set_insert(set, parse(set, "1 deny ip from any to set:a")), 0);
	assert_ptr_equal(mr_filter_set_user(set, 1), set->rule[0]);
	assert_int_equal(mr_filter_set_put_addresses(set, "a", prefix, 1), 0);
	assert_int_equal(set->addresses[index]->count, 1);
	mr_filter_set_delete(set, 1);
	mr_filter_set_drop_addresses(set, 1);
	assert_int_equal(mr_filter_set_find(set, "a"), -ENOENT);
	assert_int_equal(mr_filter_set_put_addresses(set, "b", NULL, 0), 0);
	assert_int_equal(mr_filter_set_find(set, "b"), 1);
	mr_filter_set_free(set);
}

static void a_counter_is_free_again_when_its_rule_is_gone(void **state)
{
	struct mr_filter_slots *slots = mr_filter_slots_create();
	struct mr_filter_set *set = mr_filter_set_new();
	struct mr_filter_rule *a = parse(set, "1 allow ip from any to any");
	struct mr_filter_rule *b = parse(set, "2 allow ip from any to any");

	(void)state;
	assert_int_equal(mr_filter_slots_take(slots, a), 0);
	assert_int_equal(mr_filter_slots_take(slots, b), 0);
	assert_int_not_equal(a->counter, b->counter);
	assert_int_not_equal(a->counter, MR_FILTER_DEFAULT_COUNTER);
	uint32_t counter = a->counter;
	mr_filter_rule_ref(a);
	mr_filter_rule_unref(a);
	assert_int_equal(slots->unused, 0);
	mr_filter_rule_unref(a);
	assert_int_equal(slots->unused, 1);
	a = parse(set, "1 allow ip from any to any");
	assert_int_equal(mr_filter_slots_take(slots, a), 0);
	assert_int_equal(a->counter, counter);
	mr_filter_rule_unref(a);
	mr_filter_rule_unref(b);
	mr_filter_set_free(set);
	free(slots);
}

static void sets_want_what_packets_can_reach(void **state)
{
	static const struct {
		const char *rules[3];
		uint32_t in, out;
	} cases[] = {
		{{NULL}, 0, 0},
		{{"allow all from any to any"}, 0, 0},
		{{"allow all from any to any", "deny tcp from any to any"}, 0, 0},
		{{"allow all from any to any in", "deny all from any to any vlan 1"},
		 0,
		 MR_FILTER_WANT_VLAN},
		{{"1 skipto 3 all from any to any", "2 allow all from any to any",
		  "3 deny all from any to any vlan 1"},
		 MR_FILTER_WANT_VLAN,
		 MR_FILTER_WANT_VLAN},
		{{"count all from any to any", "deny all from any to any vlan 1"},
		 MR_FILTER_WANT_VLAN,
		 MR_FILTER_WANT_VLAN},
		{{"deny ip from any to any"}, MR_FILTER_WANT_FAMILY, MR_FILTER_WANT_FAMILY},
		{{"deny tcp from any to any 80"},
		 MR_FILTER_WANT_FAMILY | MR_FILTER_WANT_PROTOCOL | MR_FILTER_WANT_DPORT,
		 MR_FILTER_WANT_FAMILY | MR_FILTER_WANT_PROTOCOL | MR_FILTER_WANT_DPORT},
		{{"deny all from any to any via port 1"}, MR_FILTER_WANT_IN, MR_FILTER_WANT_OUT},
		{{"deny all from any to any xmit port 1"}, 0, MR_FILTER_WANT_OUT},
		{{"deny all from any to any src-mac 02:00:00:00:00:01 ethertype arp"},
		 MR_FILTER_WANT_MACS | MR_FILTER_WANT_ETHERTYPE,
		 MR_FILTER_WANT_MACS | MR_FILTER_WANT_ETHERTYPE},
	};

	(void)state;
	for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct mr_filter_set *set = mr_filter_set_new();

		for (unsigned j = 0; j < 3 && cases[i].rules[j] != NULL; j++)
			assert_int_equal(mr_filter_set_append(set, parse(set, cases[i].rules[j])),
					 0);
		assert_int_equal(mr_filter_set_wants(set, false), cases[i].in);
		assert_int_equal(mr_filter_set_wants(set, true), cases[i].out);
		mr_filter_set_free(set);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rules_print_in_one_spelling),
		cmocka_unit_test(what_cannot_be_honoured_is_refused_where_it_stands),
		cmocka_unit_test(what_is_printed_reads_as_the_same_rule),
		cmocka_unit_test(different_tests_are_told_apart),
		cmocka_unit_test(sets_keep_rules_in_the_order_of_numbers),
		cmocka_unit_test(sorting_is_stable),
		cmocka_unit_test(address_sets_hold_what_was_put),
		cmocka_unit_test(a_counter_is_free_again_when_its_rule_is_gone),
		cmocka_unit_test(sets_want_what_packets_can_reach),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
