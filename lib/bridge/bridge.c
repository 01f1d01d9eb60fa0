/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The control side of the bridges. An interface's mode and bridge say whose member it is; the lists
 * that lcores flood to are made from that, so there is one truth. A list, once published, is never
 * changed but replaced.
 */
#include "bridge/bridge.h"

#include <errno.h>
#include <string.h>

#include <rte_malloc.h>

#include "base/log.h"
#include "base/rcu.h"
#include "bridge/mac_table.h"
#include "lcore/lcores.h"

/* The whole table is walked once a round. Rounds are short against any sensible ageing time. */
#define AGEING_STEP_MS 100
#define AGEING_STEPS_A_ROUND 50

int mr_bridges_create(struct mr *mr, uint32_t max_stations, struct mr_error *error)
{
	struct mr_bridges *bridges =
		rte_zmalloc("mr_bridges", sizeof(*bridges), RTE_CACHE_LINE_SIZE);

	if (bridges == NULL)
		return mr_fail(error, -ENOMEM, "no memory for bridges");
	int rc = mac_table_create(&bridges->fwd.stations, mr->rcu,
				  max_stations ? max_stations : MAC_TABLE_CAPACITY_DEFAULT,
				  SOCKET_ID_ANY, error);
	if (rc != 0) {
		rte_free(bridges);
		return mr_fail(error, rc, "no memory for a table of %u stations", max_stations);
	}
	for (uint16_t id = 0; id < MR_MAX_BRIDGES; id++)
		bridges->bridge[id].id = id;
	mr->bridges = bridges;
	mr->lcores->forwarding.bridge = &bridges->fwd;
	mr->lcores->forwarding.stage[MR_MODE_BRIDGE] = mr_bridge_input;
	return 0;
}

void mr_bridges_destroy(struct mr *mr)
{
	if (mr->bridges == NULL)
		return;
	for (unsigned id = 0; id < MR_MAX_BRIDGES; id++)
		rte_free((void *)(uintptr_t)mr->bridges->fwd.members[id]);
	mac_table_destroy(mr->bridges->fwd.stations);
	rte_free(mr->bridges);
	mr->bridges = NULL;
}

struct mr_bridge *mr_bridge_find(struct mr *mr, const char *name)
{
	for (unsigned id = 0; id < MR_MAX_BRIDGES; id++)
		if (strcmp(mr->bridges->bridge[id].name, name) == 0 && name[0] != '\0')
			return &mr->bridges->bridge[id];
	return NULL;
}

int mr_bridge_add(struct mr *mr, const char *name, uint32_t ageing, struct mr_error *error)
{
	if (mr_bridge_find(mr, name) != NULL)
		return mr_fail(error, -EEXIST, "bridge %s exists already", name);
	if (ageing > MR_BRIDGE_AGEING_MAX)
		return mr_fail(error, -ERANGE, "ageing %u is not allowed: 0 (never) to %u seconds",
			       ageing, MR_BRIDGE_AGEING_MAX);
	for (uint16_t id = 0; id < MR_MAX_BRIDGES; id++) {
		struct mr_bridge *bridge = &mr->bridges->bridge[id];

		if (bridge->name[0] != '\0')
			continue;
		*bridge = (struct mr_bridge){.id = id, .ageing = ageing};
		strncpy(bridge->name, name, sizeof(bridge->name) - 1);
		return 0;
	}
	return mr_fail(error, -ENOSPC, "there are %u bridges already, the most allowed",
		       MR_MAX_BRIDGES);
}

/* Gives an interface another mode; everything else stays. */
static int set_mode(struct mr *mr, const struct mr_iface *iface, enum mr_iface_mode mode,
		    uint16_t bridge, bool implicit)
{
	struct mr_iface changed = *iface;

	changed.mode = mode;
	changed.bridge = bridge;
	changed.implicit = implicit;
	return mr_iface_publish(mr, &changed);
}

static bool is_member(const struct mr_iface *iface, const struct mr_bridge *bridge)
{
	return iface != NULL && iface->mode == MR_MODE_BRIDGE && iface->bridge == bridge->id;
}

void mr_bridge_del(struct mr *mr, struct mr_bridge *bridge)
{
	for (uint16_t index = 0; index < RTE_MAX_ETHPORTS; index++) {
		const struct mr_iface *iface = mr_iface(mr, index);

		if (is_member(iface, bridge) && set_mode(mr, iface, MR_MODE_NONE, 0, false) != 0)
			mr_iface_remove(mr, index); /* no memory: rather silent than wrong */
	}
	mac_table_flush(mr->bridges->fwd.stations, bridge->id, MAC_TABLE_ANY, true);
	bridge->name[0] = '\0';
	mr_bridges_refresh(mr);
}

int mr_bridge_member_add(struct mr *mr, struct mr_bridge *bridge, uint16_t index, bool implicit,
			 struct mr_error *error)
{
	const struct mr_iface *iface = mr_iface(mr, index);

	if (iface == NULL)
		return mr_fail(error, -ENODEV, "there is no port %u", index);
	if (iface->mode == MR_MODE_ROUTE && !iface->implicit)
		return mr_fail(error, -EBUSY, "port %u has an address: delete that first", index);
	if (iface->mode == MR_MODE_BRIDGE && !iface->implicit)
		return mr_fail(error, iface->bridge == bridge->id ? -EEXIST : -EBUSY,
			       "port %u is a member of bridge %s already", index,
			       mr->bridges->bridge[iface->bridge].name);
	if (set_mode(mr, iface, MR_MODE_BRIDGE, bridge->id, implicit) != 0)
		return mr_fail(error, -ENOMEM, "no memory to make port %u a member of bridge %s",
			       index, bridge->name);
	mr_bridges_refresh(mr);
	return 0;
}

int mr_bridge_member_del(struct mr *mr, struct mr_bridge *bridge, uint16_t index,
			 struct mr_error *error)
{
	const struct mr_iface *iface = mr_iface(mr, index);

	if (!is_member(iface, bridge))
		return mr_fail(error, -ENOENT, "port %u is no member of bridge %s", index,
			       bridge->name);
	if (set_mode(mr, iface, MR_MODE_NONE, 0, false) != 0)
		return mr_fail(error, -ENOMEM, "no memory to take port %u out of bridge %s", index,
			       bridge->name);
	mr_bridges_refresh(mr);
	return 0;
}

static bool same_members(const struct mr_bridge_members *a, const struct mr_bridge_members *b)
{
	return a != NULL && a->count == b->count &&
	       memcmp(a->iface, b->iface, a->count * sizeof(a->iface[0])) == 0;
}

static void refresh_members(struct mr *mr, const struct mr_bridge *bridge)
{
	const struct mr_bridge_members **slot = &mr->bridges->fwd.members[bridge->id], *old = *slot;
	struct mr_bridge_members now = {0}, *fresh;

	for (uint16_t index = 0; bridge->name[0] != '\0' && index < RTE_MAX_ETHPORTS; index++)
		if (is_member(mr_iface(mr, index), bridge))
			now.iface[now.count++] = index;
	if (same_members(old, &now) || (old == NULL && now.count == 0))
		return;
	fresh = rte_malloc("mr_members", sizeof(*fresh), RTE_CACHE_LINE_SIZE);
	if (fresh != NULL)
		*fresh = now;
	else
		mr_log_error("bridge %s floods nowhere: no memory", bridge->name);
	__atomic_store_n(slot, fresh, __ATOMIC_RELEASE);
	if (old != NULL)
		mr_rcu_defer(mr->rcu, rte_free, (void *)(uintptr_t)old);
	for (unsigned i = 0; old != NULL && i < old->count; i++)
		if (!is_member(mr_iface(mr, old->iface[i]), bridge))
			mac_table_flush(mr->bridges->fwd.stations, bridge->id, old->iface[i], true);
}

void mr_bridges_refresh(struct mr *mr)
{
	for (unsigned id = 0; id < MR_MAX_BRIDGES; id++)
		refresh_members(mr, &mr->bridges->bridge[id]);
}

void mr_bridge_learn(struct mr *mr, const struct mr_learned *learned, unsigned count)
{
	struct mr_bridges *bridges = mr->bridges;

	for (unsigned i = 0; i < count; i++) {
		const struct mr_bridge *bridge = &bridges->bridge[mac_key_bridge(learned[i].key)];
		const struct mr_iface *iface = mr_iface(mr, (uint16_t)learned[i].iface);

		/* By now the interface may have left the bridge or lost its link. */
		if (!is_member(iface, bridge) || !iface->link_up)
			continue;
		if (mac_table_add(bridges->fwd.stations, learned[i].key, iface->index, bridges->now,
				  false) == -ENOSPC)
			bridges->table_full++;
	}
}

void mr_bridge_flush_iface(struct mr *mr, uint16_t iface)
{
	mac_table_flush(mr->bridges->fwd.stations, MAC_TABLE_ANY, iface, false);
}

struct notes {
	const struct mr_bridge *bridge;
	struct mr_lines *lines;
};

static bool note_static(void *arg, uint64_t key, uint64_t word)
{
	const struct notes *notes = arg;
	struct rte_ether_addr mac = mac_key_addr(key);
	char text[MR_MAC_TEXT_SIZE];

	if (station_is_static(word))
		mr_lines_add(notes->lines, "station add %s %s port @", notes->bridge->name,
			     mr_mac_format(&mac, text));
	return true;
}

void mr_bridge_withdraw(struct mr *mr, uint16_t index, struct mr_lines *lines)
{
	const struct mr_iface *iface = mr_iface(mr, index);
	struct notes notes = {.lines = lines};
	uint32_t position = 0;

	if (iface == NULL || iface->mode != MR_MODE_BRIDGE)
		return;
	notes.bridge = &mr->bridges->bridge[iface->bridge];
	if (!iface->implicit)
		mr_lines_add(lines, "bridge member add %s port @", notes.bridge->name);
	mac_table_iterate(mr->bridges->fwd.stations, iface->bridge, index, &position, note_static,
			  &notes);
	if (set_mode(mr, iface, MR_MODE_NONE, 0, false) != 0)
		mr_iface_remove(mr, index); /* which is about to go */
	mr_bridges_refresh(mr);
}

static uint32_t ageing_of(void *arg, uint16_t bridge)
{
	const struct mr_bridges *bridges = arg;

	return bridges->bridge[bridge].ageing;
}

void mr_bridges_poll(struct mr *mr, uint64_t now_ms)
{
	struct mr_bridges *bridges = mr->bridges;
	struct mac_table_stats stats;

	bridges->now = (uint32_t)(now_ms / 1000);
	if (now_ms < bridges->aged_ms + AGEING_STEP_MS)
		return;
	bridges->aged_ms = now_ms;
	mac_table_stats(bridges->fwd.stations, &stats);
	mac_table_age(bridges->fwd.stations, ageing_of, bridges, bridges->now,
		      stats.buckets / AGEING_STEPS_A_ROUND + 1);
}
