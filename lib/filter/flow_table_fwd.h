/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef FILTER_FLOW_TABLE_FWD_H
#define FILTER_FLOW_TABLE_FWD_H

/*
 * The flows that an lcore has met, by direction: an entry stands for one direction of a flow and
 * lies in the table of the lcore that handles the packets of that direction. That lcore alone
 * writes it; the others read it, to learn of the opposite direction. So there are no locks, and the
 * packets of a flow find in their own lcore's table what they need.
 *
 * An entry is at a fixed place among sixteen of its bucket, and in one of two buckets; a line of
 * sixteen tags, which are bits of the key's hash, tells where to look. The hash is salted, so that
 * nobody can choose which flows collide.
 *
 * Who the flow is (key, id, serial and so on) is written between two stores of `version`, which is
 * odd meanwhile: a reader that sees the same even version before and after has read one flow. What
 * changes as packets come (seen, link, tcp) is written word by word.
 */
#include <assert.h>
#include <stdalign.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "filter/tcp_state_fwd.h"

/* What all packets of one direction have in common. Addresses and ports are in network byte order,
 * IPv4 addresses in the first four bytes, the others 0. */
struct flow_key {
	uint8_t src[16], dst[16];
	uint16_t sport, dport; /* ICMP echo: the identifier on the side of the one that asks */
	uint32_t epoch;        /* of flow_config: flows of others are no more */
	uint16_t domain;       /* 0: routed; else a bridge, its index and one */
	uint16_t vlan;         /* VID of the outermost tag, on a bridge */
	uint8_t protocol;
	uint8_t ipv6; /* 1 or 0 */
	uint8_t echo; /* enum flow_echo */
	uint8_t zero;
};

enum flow_echo { FLOW_NO_ECHO, FLOW_ECHO_REQUEST, FLOW_ECHO_REPLY };

#define FLOW_KEY_WORDS 6 /* of eight bytes */

static_assert(sizeof(struct flow_key) == FLOW_KEY_WORDS * 8, "no padding: it is read as words");

/* Where the other direction is; FLOW_SETTLED beside it. 0: not known. */
enum {
	FLOW_SLOT_MASK = 0xffffff,
	FLOW_LCORE_SHIFT = 24, /* 7 bits: the lcore's index, and one */
	FLOW_LCORE_MASK = 0x7f,
};
#define FLOW_SETTLED (UINT32_C(1) << 31) /* no flood takes the entry's place */
#define FLOW_LINK_MASK (~FLOW_SETTLED)

/* Written by the lcore that the table belongs to, with atomic stores; read by all. */
struct flow_entry {
	/* All that most packets need. */
	alignas(64) uint64_t key[FLOW_KEY_WORDS];
	uint32_t version; /* odd: being written */
	uint32_t link;
	uint32_t fresh; /* the lcore's own: period in which all of it was looked at; 0: none */
	uint32_t rule;  /* the lcore's own: the rule's index in the program of that time */
	/* The second line. */
	uint64_t tcp[3];  /* struct tcp_half */
	uint64_t serial;  /* of the rule that made the flow */
	uint32_t seen;    /* seconds, of the last packet */
	uint32_t id;      /* of the flow: the same in both of its directions */
	uint32_t created; /* seconds, the flow's */
	uint32_t limit;   /* the lcore's own: place of what counts it, and one; 0: nothing does */
	uint32_t program; /* the lcore's own: number of the program that rule is of */
	uint32_t turn;    /* the lcore's own: when it last looked for the opposite, seconds */
	uint32_t zero[2];
};

static_assert(sizeof(struct flow_entry) == 128, "two lines");
static_assert(offsetof(struct flow_entry, tcp) == 64, "identity first");
static_assert(sizeof(struct tcp_half) == 3 * sizeof(uint64_t), "tcp[] holds a half");

#define FLOW_BUCKET 16
#define FLOW_CHOICES (2 * FLOW_BUCKET)

/* Of a tag, which else are bits of a hash. */
enum {
	FLOW_TAG_USED = 1 << 0,
	FLOW_TAG_SETTLED = 1 << 1, /* the entry's link says so, too */
};

struct flow_tags {
	alignas(64) uint32_t tag[FLOW_BUCKET]; /* 0: free */
};

/* What an lcore counted of its flows; written by it alone. Directions, not flows. */
struct flow_counters {
	uint64_t entries, settled;            /* there are now */
	uint64_t created, replies;            /* by a rule; for the opposite of a known one */
	uint64_t expired, evicted;            /* ended by time; by a newer one */
	uint64_t refused_full, refused_limit; /* flows that were not made */
	uint64_t refused_state;               /* packets out of their connection's windows */
	uint64_t errors;                      /* ICMP errors about known flows */
};

struct flow_limits;

struct flow_table {
	/* Written by the control thread before the table is published. */
	alignas(64) struct flow_tags *tags;
	struct flow_entry *entry;
	uint32_t mask;  /* buckets less one */
	uint32_t owner; /* the lcore's index */
	uint64_t salt;
	struct flow_limits *limits;
	/* Written by the lcore. A period ends when the second does, or the program's time; within
	 * one, nothing changes that decides whether a flow is alive and whose rule it follows. */
	alignas(64) uint32_t period, now, program;
	uint32_t recent; /* the first that began a second ago, with this program */
	uint32_t next_id;
	uint32_t swept; /* slots of this round */
	uint32_t round; /* seconds, of the last round that was ended */
	uint32_t hand;  /* of a clock: where to look next for who makes room */
	struct flow_counters counters;
};

/* What is known of a direction of a flow, as it was at one moment. */
struct flow_view {
	uint32_t seen, link, id, created;
	uint64_t serial;
	struct tcp_half tcp;
	uint32_t lcore, slot; /* where it was found */
};

#define FLOW_NOWHERE UINT32_MAX

static inline uint32_t flow_table_slots(const struct flow_table *table)
{
	return (table->mask + 1) * FLOW_BUCKET;
}

uint64_t flow_hash(const struct flow_table *table, const struct flow_key *key);

/* The key of the opposite direction. */
struct flow_key flow_reverse(const struct flow_key *key);

/* The slot of a key in the lcore's own table, or FLOW_NOWHERE. */
uint32_t flow_find(const struct flow_table *table, const struct flow_key *key, uint64_t hash);

/* Reads the entry at a slot of any table; false unless it is of that key. */
bool flow_view_at(const struct flow_table *table, uint32_t slot, const struct flow_key *key,
		  struct flow_view *view);

/* Looks a key up in any table. */
bool flow_view_find(const struct flow_table *table, const struct flow_key *key,
		    struct flow_view *view);

/* Reads whatever is at a slot, its key too; false: nothing. Any thread. */
bool flow_view_any(const struct flow_table *table, uint32_t slot, struct flow_key *key,
		   struct flow_view *view);

/* The rest is the owner's. The half of an entry, and its new value. */
struct tcp_half flow_tcp(const struct flow_entry *entry);
void flow_set_tcp(struct flow_entry *entry, const struct tcp_half *half);

/* Writes who the flow at a free slot is, from view (seen, link, id, created, serial, tcp). */
void flow_put(struct flow_table *table, uint32_t slot, const struct flow_key *key, uint64_t hash,
	      const struct flow_view *view);

/* Frees a slot. What counts it towards a limit is the caller's to take back before. */
void flow_remove(struct flow_table *table, uint32_t slot);

/* A free slot that a key may have, or FLOW_NOWHERE. */
uint32_t flow_free_slot(const struct flow_table *table, uint64_t hash);

/* The key of the entry at a slot of the own table. */
struct flow_key flow_key_at(const struct flow_table *table, uint32_t slot);

/* Sets link, with FLOW_SETTLED or without. */
void flow_set_link(struct flow_table *table, uint32_t slot, uint32_t link);

#endif
