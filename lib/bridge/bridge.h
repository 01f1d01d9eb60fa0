/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MR_BRIDGE_BRIDGE_H
#define MR_BRIDGE_BRIDGE_H

#include "base/cmd.h"
#include "base/error.h"
#include "base/lines.h"
#include "base/mr.h"
#include "bridge/bridge_fwd.h"

/*
 * Bridges as the control thread sees them: their members, ageing times and stations. Membership is
 * in the member's interface (mode and bridge); what lcores flood to is derived from it. All
 * functions are the control thread's.
 */
#define MR_BRIDGE_NAME_SIZE 32
#define MR_BRIDGE_AGEING_DEFAULT 300 /* seconds; 802.1Q Table 8-6 */
#define MR_BRIDGE_AGEING_MAX 1000000 /* seconds; 802.1Q Table 8-6 */

struct mr_bridge {
	char name[MR_BRIDGE_NAME_SIZE]; /* empty: no such bridge */
	uint16_t id;
	uint32_t ageing; /* seconds, 0: stations never age */
};

struct mr_bridges {
	struct mr_bridge_fwd fwd;
	struct mr_bridge bridge[MR_MAX_BRIDGES] __rte_cache_aligned; /* the control thread's own */
	uint32_t now; /* seconds, as the lcores see it */
	uint64_t aged_ms;
	uint64_t table_full; /* stations not learned because the table was full */
};

/* Makes mr->bridges with room for max_stations (0: the default). */
int mr_bridges_create(struct mr *mr, uint32_t max_stations, struct mr_error *error);
void mr_bridges_destroy(struct mr *mr);

/* The bridge of that name, NULL if there is none. */
struct mr_bridge *mr_bridge_find(struct mr *mr, const char *name);

/* Makes and deletes bridges. Deleting one frees its members and forgets its stations. */
int mr_bridge_add(struct mr *mr, const char *name, uint32_t ageing, struct mr_error *error);
void mr_bridge_del(struct mr *mr, struct mr_bridge *bridge);

/* Makes an interface a member, or frees it. implicit: see struct mr_iface. */
int mr_bridge_member_add(struct mr *mr, struct mr_bridge *bridge, uint16_t iface, bool implicit,
			 struct mr_error *error);
int mr_bridge_member_del(struct mr *mr, struct mr_bridge *bridge, uint16_t iface,
			 struct mr_error *error);

/* Brings what lcores flood to in line with the interfaces' modes, and forgets the stations behind
 * interfaces that are members no more. To be called after any change of modes. */
void mr_bridges_refresh(struct mr *mr);

/* Learns what an lcore saw and did not know. */
void mr_bridge_learn(struct mr *mr, const struct mr_learned *learned, unsigned count);

/* Forgets what was learned behind an interface (802.1Q 8.8.3 e: when its link is lost). */
void mr_bridge_flush_iface(struct mr *mr, uint16_t iface);

/* Takes an interface that goes away out of its bridge, with all its stations; what a person had
 * configured is noted in lines (which may be NULL). */
void mr_bridge_withdraw(struct mr *mr, uint16_t iface, struct mr_lines *lines);

/* Ageing, a part of the table at a time. */
void mr_bridges_poll(struct mr *mr, uint64_t now_ms);

extern const struct mr_cmd mr_bridge_cmds[];
extern const struct mr_query mr_bridge_queries[];

#endif
