/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MR_FILTER_RULE_H
#define MR_FILTER_RULE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/addr.h"
#include "base/error.h"

/*
 * Rules and sets of them, as the control thread holds them; docs/filter.md tells what they mean.
 *
 * A packet meets the rules in the order of their numbers, rules of one number in the order in which
 * they were added. A rule matches when all of its tests hold. A test of something that the packet
 * does not have (see filter/key_fwd.h) fails, negated or not. The first matching rule with a final
 * action (allow, deny, reject) decides; the others that match on the way act in their order: count
 * does nothing else, skipto goes on at the first rule whose number is not less, set-dscp, police
 * and mirror act and go on (police drops what exceeds its rate, which is final). Rules see the
 * packet as it came to the hook: a DSCP that was set is not seen by later rules.
 *
 * Rules and address sets never change once they are in a set; sets share them, counting references.
 * So a rule that is the same before and after a reload is one object, with one counter. Sets belong
 * to the control thread, until it lends one that is being made to another (change.c); references
 * are counted atomically, since both may share what is in them.
 */
#define MR_FILTER_MAX_RULES 100000
#define MR_FILTER_MAX_NUMBER 99999999 /* of a rule; the least is 1 */
#define MR_FILTER_MAX_SETS 1024       /* of addresses, `me` among them */
#define MR_FILTER_NAME_SIZE 32

enum mr_filter_action {
	MR_FILTER_ALLOW,
	MR_FILTER_DENY,
	MR_FILTER_REJECT,      /* TCP: RST; else ICMP administratively prohibited */
	MR_FILTER_COUNT,       /* not final from here on */
	MR_FILTER_SKIPTO,      /* to argument.number, which is above the rule's own */
	MR_FILTER_SET_DSCP,    /* argument.dscp */
	MR_FILTER_POLICE,      /* argument.police */
	MR_FILTER_MIRROR,      /* a copy leaves on interface argument.iface */
	MR_FILTER_CHECK_STATE, /* decides what belongs to a known flow */
	MR_FILTER_ACTIONS
};

/* Fields with a number for a value. A rule tests each at most once. */
enum mr_filter_field {
	MR_FILTER_PROTOCOL,   /* needs MR_FILTER_IPV4 or _IPV6 */
	MR_FILTER_SPORT,      /* needs MR_FILTER_PORTS */
	MR_FILTER_DPORT,      /* needs MR_FILTER_PORTS */
	MR_FILTER_ICMP_TYPE,  /* needs MR_FILTER_ICMP and _IPV4 */
	MR_FILTER_ICMP6_TYPE, /* needs MR_FILTER_ICMP and _IPV6 */
	MR_FILTER_LENGTH,     /* needs IP: bytes of the IP packet */
	MR_FILTER_TTL,        /* needs IP: TTL or hop limit */
	MR_FILTER_DSCP,       /* needs IP */
	MR_FILTER_VLAN,       /* every frame; 0: untagged or priority-tagged */
	MR_FILTER_ETHERTYPE,  /* every frame; after up to two VLAN tags */
	MR_FILTER_RECV,       /* interface of arrival; every frame */
	MR_FILTER_XMIT,       /* interface of output; frames at the output hook */
	MR_FILTER_VIA,        /* of arrival at the input hook, of output at the output hook */
	MR_FILTER_VRF,        /* every frame */
	MR_FILTER_FIELDS
};

/* Inclusive, in host byte order. */
struct mr_filter_range {
	uint32_t first, last;
};

/* The value lies in one of the ranges; negated: in none of them. */
struct mr_filter_test {
	uint8_t field; /* enum mr_filter_field */
	bool negated;
	uint16_t count; /* of ranges, at least 1: sorted, neither overlapping nor adjacent */
	const struct mr_filter_range *range;
};

/* One of the alternatives of an address test: a prefix, or the name of an address set. */
struct mr_filter_address {
	bool is_set;
	uint16_t set;            /* index in mr_filter_set.addresses; 0 is `me` */
	struct mr_prefix prefix; /* canonical */
};

/* The address lies in one of the alternatives; negated: in none (an address of another family lies
 * in none). count 0: no test. Frames that are not IP have no addresses and fail the test. */
struct mr_filter_addresses {
	bool negated;
	uint16_t count;
	const struct mr_filter_address *alternative;
};

/* A test that is there or not. */
enum mr_filter_wish { MR_FILTER_ANY, MR_FILTER_YES, MR_FILTER_NO };

/* The first `bits` bits agree with mac; bits 0: no test. */
struct mr_filter_mac {
	uint8_t bits;
	bool negated;
	struct rte_ether_addr mac; /* the others are 0 */
};

/* TCP's flags: all of `set` are set and none of `clear` is; negated: not so. Both 0: no test. Needs
 * MR_FILTER_TCP. */
struct mr_filter_tcp {
	uint8_t set, clear;
	bool negated;
};

/* Families, a mask: a rule matches frames of these only. */
enum {
	MR_FILTER_FAMILY_OTHER = 1 << 0, /* neither IPv4 nor IPv6 */
	MR_FILTER_FAMILY_V4 = 1 << 1,
	MR_FILTER_FAMILY_V6 = 1 << 2,
	MR_FILTER_FAMILY_IP = MR_FILTER_FAMILY_V4 | MR_FILTER_FAMILY_V6,
	MR_FILTER_FAMILY_ALL = MR_FILTER_FAMILY_IP | MR_FILTER_FAMILY_OTHER,
};

/* What a limit counts flows by, a mask; 0: no limit. */
enum {
	MR_FILTER_BY_SRC = 1 << 0,
	MR_FILTER_BY_DST = 1 << 1,
	MR_FILTER_BY_SPORT = 1 << 2,
	MR_FILTER_BY_DPORT = 1 << 3,
};

struct mr_filter_slots;

struct mr_filter_rule {
	uint32_t references;
	uint32_t counter; /* index of its counters; two rules that are alive never share one */
	struct mr_filter_slots *slots; /* that counter is from; NULL: it has none */
	uint32_t number;
	uint8_t action; /* enum mr_filter_action */
	uint8_t families;
	bool log;
	bool keep_state;  /* the flow of what matches is let through, in both directions */
	uint8_t limit_by; /* implies keep_state */
	uint32_t limit;   /* flows that are alike in limit_by */
	uint64_t serial;  /* of a rule that keeps state, never reused; 0: not in force yet */
	union {
		uint32_t number; /* skipto */
		uint8_t dscp;
		uint16_t iface; /* mirror */
		struct {
			uint64_t rate;  /* bits a second, of frames without FCS */
			uint32_t burst; /* bytes */
		} police;
	} argument;
	/* The tests. */
	uint8_t direction;   /* enum mr_filter_wish: YES at input, NO at output */
	uint8_t fragment;    /* of MR_FILTER_LATER; needs IP */
	uint8_t options;     /* of MR_FILTER_OPTIONS; needs IP */
	uint8_t established; /* RST or ACK is set; needs MR_FILTER_TCP */
	struct mr_filter_tcp tcp;
	struct mr_filter_mac src_mac, dst_mac;
	struct mr_filter_addresses src, dst;
	uint8_t tests;
	const struct mr_filter_test *test; /* by field, ascending */
};

/* A named set of addresses. */
struct mr_filter_address_set {
	uint32_t references;
	char name[MR_FILTER_NAME_SIZE];
	uint32_t count;                 /* may be 0: nothing is in it */
	const struct mr_prefix *prefix; /* canonical, sorted, none within another */
};

struct mr_filter_set {
	uint32_t count, room;         /* rules, and what the array holds */
	struct mr_filter_rule **rule; /* in the order in which packets meet them */
	uint8_t default_action;       /* MR_FILTER_ALLOW or MR_FILTER_DENY */
	uint16_t address_sets;        /* entries of addresses, holes (NULL) among them */
	struct mr_filter_address_set **addresses; /* 0: `me`, the appliance's own */
};

#define MR_FILTER_DEFAULT_COUNTER 0 /* of what no rule decides; no rule has it */
#define MR_FILTER_COUNTERS (2 * MR_FILTER_MAX_RULES + 1) /* old and new rules of a reload */

struct mr_filter_rule *mr_filter_rule_ref(struct mr_filter_rule *rule);

/* The last reference frees the rule and gives its counter back. */
void mr_filter_rule_unref(struct mr_filter_rule *rule);

/* Whether two rules match the same packets because they have the same tests, whether they also do
 * the same (action, log, state), and a hash of the tests. Numbers and counters do not matter. */
bool mr_filter_rule_same_tests(const struct mr_filter_rule *a, const struct mr_filter_rule *b);
bool mr_filter_rule_same_effect(const struct mr_filter_rule *a, const struct mr_filter_rule *b);
uint64_t mr_filter_rule_hash(const struct mr_filter_rule *rule);

/* The test of a field, NULL if the rule has none. */
const struct mr_filter_test *mr_filter_rule_test(const struct mr_filter_rule *rule,
						 enum mr_filter_field field);

/* What the rules of a set look at (MR_FILTER_WANT_*), and what one rule does. A rule that cannot
 * match at the hook (out: the output's) wants nothing there. */
uint32_t mr_filter_set_wants(const struct mr_filter_set *set, bool out);
uint32_t mr_filter_rule_wants(const struct mr_filter_rule *rule, bool out);

/* Whether the rule's direction, recv, xmit and via leave it a chance at the hook. */
bool mr_filter_rule_is_for(const struct mr_filter_rule *rule, bool out);

/* Whether a rule ends a packet's way through the rules. */
static inline bool mr_filter_action_is_final(enum mr_filter_action action)
{
	return action <= MR_FILTER_REJECT;
}

#endif
