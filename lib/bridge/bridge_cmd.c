/* SPDX-License-Identifier: BSD-3-Clause */
/* The bridges' commands and what telemetry tells of them. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "bridge/bridge.h"
#include "bridge/mac_table.h"
#include "lcore/lcores.h"

#define SHOW_STATIONS_MAX 10000 /* unless a limit is given */
#define STATIONS_A_PAGE 100     /* of telemetry */

static struct mr_bridge *bridge_of(struct mr *mr, const struct mr_args *args,
				   struct mr_reply *reply)
{
	const char *name = mr_arg(args, "NAME", 0)->text;
	struct mr_bridge *bridge = mr_bridge_find(mr, name);

	if (bridge == NULL)
		mr_refuse(reply, -ENOENT, "there is no bridge %s", name);
	return bridge;
}

/* A port number as an interface; numbers that no interface has become MR_IFACE_NONE. */
static uint16_t iface_of(const struct mr_args *args)
{
	uint64_t number = mr_arg_number(args, "N", MR_IFACE_NONE);

	return number < RTE_MAX_ETHPORTS ? (uint16_t)number : MR_IFACE_NONE;
}

static int add_bridge(struct mr *mr, const struct mr_args *args, struct mr_reply *reply)
{
	uint64_t ageing = mr_arg_number(args, "SECONDS", MR_BRIDGE_AGEING_DEFAULT);

	return mr_bridge_add(mr, mr_arg(args, "NAME", 0)->text,
			     ageing > UINT32_MAX ? UINT32_MAX : (uint32_t)ageing, &reply->error);
}

static int del_bridge(struct mr *mr, const struct mr_args *args, struct mr_reply *reply)
{
	struct mr_bridge *bridge = bridge_of(mr, args, reply);

	if (bridge == NULL)
		return -ENOENT;
	mr_bridge_del(mr, bridge);
	return 0;
}

static int set_ageing(struct mr *mr, const struct mr_args *args, struct mr_reply *reply)
{
	struct mr_bridge *bridge = bridge_of(mr, args, reply);
	uint64_t ageing = mr_arg_number(args, "SECONDS", 0);

	if (bridge == NULL)
		return -ENOENT;
	if (ageing > MR_BRIDGE_AGEING_MAX)
		return mr_refuse(reply, -ERANGE,
				 "ageing %s is not allowed: 0 (never) to %u seconds",
				 mr_arg(args, "SECONDS", 0)->text, MR_BRIDGE_AGEING_MAX);
	bridge->ageing = (uint32_t)ageing;
	return 0;
}

static int add_member(struct mr *mr, const struct mr_args *args, struct mr_reply *reply)
{
	struct mr_bridge *bridge = bridge_of(mr, args, reply);

	if (bridge == NULL)
		return -ENOENT;
	if (mr_iface(mr, iface_of(args)) == NULL)
		return mr_refuse(reply, -ENODEV, "there is no port %s", mr_arg(args, "N", 0)->text);
	return mr_bridge_member_add(mr, bridge, iface_of(args), false, &reply->error);
}

static int del_member(struct mr *mr, const struct mr_args *args, struct mr_reply *reply)
{
	struct mr_bridge *bridge = bridge_of(mr, args, reply);

	if (bridge == NULL)
		return -ENOENT;
	if (mr_iface(mr, iface_of(args)) == NULL)
		return mr_refuse(reply, -ENODEV, "there is no port %s", mr_arg(args, "N", 0)->text);
	return mr_bridge_member_del(mr, bridge, iface_of(args), &reply->error);
}

/* Whether the port that a command names is a member of bridge. */
static int check_member(struct mr *mr, const struct mr_args *args, const struct mr_bridge *bridge,
			struct mr_reply *reply)
{
	const struct mr_iface *iface = mr_iface(mr, iface_of(args));

	if (iface == NULL)
		return mr_refuse(reply, -ENODEV, "there is no port %s", mr_arg(args, "N", 0)->text);
	if (iface->mode != MR_MODE_BRIDGE || iface->bridge != bridge->id)
		return mr_refuse(reply, -ENOENT, "port %u is no member of bridge %s", iface->index,
				 bridge->name);
	return 0;
}

static int add_station(struct mr *mr, const struct mr_args *args, struct mr_reply *reply)
{
	struct mr_bridge *bridge = bridge_of(mr, args, reply);
	const struct mr_arg *mac = mr_arg(args, "MAC", 0);

	if (bridge == NULL)
		return -ENOENT;
	int rc = check_member(mr, args, bridge, reply);
	if (rc != 0)
		return rc;
	if (!rte_is_unicast_ether_addr(&mac->mac) || rte_is_zero_ether_addr(&mac->mac))
		return mr_refuse(reply, -EINVAL, "%s is no station's MAC: group or zero",
				 mac->text);
	rc = mac_table_add(mr->bridges->fwd.stations, mac_key_of(bridge->id, &mac->mac),
			   iface_of(args), mr->bridges->now, true);
	if (rc == -ENOSPC)
		return mr_refuse(reply, rc, "the station table is full (see --max-stations)");
	return rc != 0 ? mr_refuse(reply, rc, "%s: %s", mac->text, strerror(-rc)) : 0;
}

static int del_station(struct mr *mr, const struct mr_args *args, struct mr_reply *reply)
{
	struct mr_bridge *bridge = bridge_of(mr, args, reply);
	const struct mr_arg *mac = mr_arg(args, "MAC", 0);
	uint64_t word, key;

	if (bridge == NULL)
		return -ENOENT;
	key = mac_key_of(bridge->id, &mac->mac);
	if (mac_table_find(mr->bridges->fwd.stations, key, &word) != 0 ||
	    (mr_arg_count(args, "N") != 0 && station_port(word) != iface_of(args)))
		return mr_refuse(reply, -ENOENT, "bridge %s has no station %s%s%s", bridge->name,
				 mac->text, mr_arg_count(args, "N") ? " at port " : "",
				 mr_arg_count(args, "N") ? mr_arg(args, "N", 0)->text : "");
	return mac_table_del(mr->bridges->fwd.stations, key);
}

static int flush_stations(struct mr *mr, const struct mr_args *args, struct mr_reply *reply)
{
	struct mr_bridge *bridge = bridge_of(mr, args, reply);
	int port = MAC_TABLE_ANY;

	if (bridge == NULL)
		return -ENOENT;
	if (mr_arg_count(args, "N") != 0) {
		int rc = check_member(mr, args, bridge, reply);

		if (rc != 0)
			return rc;
		port = iface_of(args);
	}
	mac_table_flush(mr->bridges->fwd.stations, bridge->id, port, false);
	return 0;
}

static json_t *bridge_json(struct mr *mr, const struct mr_bridge *bridge)
{
	const struct mr_bridge_members *members = mr->bridges->fwd.members[bridge->id];
	json_t *ports = json_array();

	for (unsigned i = 0; members != NULL && i < members->count; i++)
		json_array_append_new(ports, json_integer(members->iface[i]));
	return json_pack("{s:s, s:o, s:I, s:I}", "name", bridge->name, "ports", ports, "ageing",
			 (json_int_t)bridge->ageing, "stations",
			 (json_int_t)mac_table_count(mr->bridges->fwd.stations, bridge->id));
}

static int show_bridges(struct mr *mr, const struct mr_args *args, struct mr_reply *reply)
{
	const struct mr_bridge *only = NULL;
	json_t *list = json_array();

	if (mr_arg_count(args, "NAME") != 0 && (only = bridge_of(mr, args, reply)) == NULL) {
		json_decref(list);
		return -ENOENT;
	}
	for (unsigned id = 0; id < MR_MAX_BRIDGES; id++) {
		const struct mr_bridge *bridge = &mr->bridges->bridge[id];

		if (bridge->name[0] != '\0' && (only == NULL || only == bridge))
			json_array_append_new(list, bridge_json(mr, bridge));
	}
	return mr_reply(reply, list);
}

/* Stations are collected until there are as many as wanted. */
struct collection {
	struct mr *mr;
	json_t *list;
	uint64_t left;
};

static bool collect(void *arg, uint64_t key, uint64_t word)
{
	struct collection *collection = arg;
	struct mr_bridges *bridges = collection->mr->bridges;
	struct rte_ether_addr mac = mac_key_addr(key);
	char text[MR_MAC_TEXT_SIZE];

	if (collection->left == 0)
		return false;
	collection->left--;
	json_array_append_new(
		collection->list,
		json_pack("{s:s, s:s, s:i, s:b, s:I}", "bridge",
			  bridges->bridge[mac_key_bridge(key)].name, "mac",
			  mr_mac_format(&mac, text), "port", station_port(word), "static",
			  station_is_static(word), "age",
			  station_is_static(word)
				  ? (json_int_t)0
				  : (json_int_t)(uint32_t)(bridges->now - station_seen(word))));
	return true;
}

static int show_stations(struct mr *mr, const struct mr_args *args, struct mr_reply *reply)
{
	bool limited = mr_arg_count(args, "COUNT") != 0;
	struct collection collection = {.mr = mr,
					.left = mr_arg_number(args, "COUNT", SHOW_STATIONS_MAX)};
	const struct mr_arg *mac = mr_arg(args, "MAC", 0);
	int bridge_id = MAC_TABLE_ANY, port = MAC_TABLE_ANY;
	uint32_t position = 0;

	if (mr_arg_count(args, "NAME") != 0) {
		const struct mr_bridge *bridge = bridge_of(mr, args, reply);

		if (bridge == NULL)
			return -ENOENT;
		bridge_id = bridge->id;
	}
	if (mr_arg_count(args, "N") != 0) {
		if (mr_iface(mr, iface_of(args)) == NULL)
			return mr_refuse(reply, -ENODEV, "there is no port %s",
					 mr_arg(args, "N", 0)->text);
		port = iface_of(args);
	}
	collection.list = json_array();
	if (mac == NULL) {
		mac_table_iterate(mr->bridges->fwd.stations, bridge_id, port, &position, collect,
				  &collection);
	}
	for (uint16_t id = 0; mac != NULL && id < MR_MAX_BRIDGES; id++) {
		uint64_t word, key = mac_key_of(id, &mac->mac);

		if ((bridge_id == MAC_TABLE_ANY || bridge_id == id) &&
		    mac_table_find(mr->bridges->fwd.stations, key, &word) == 0 &&
		    (port == MAC_TABLE_ANY || port == station_port(word)))
			collect(&collection, key, word);
	}
	if (!limited && mac == NULL && position != UINT32_MAX) {
		json_decref(collection.list);
		return mr_refuse(reply, -E2BIG,
				 "more than %u stations: name a bridge, a port or a MAC, or give a "
				 "limit",
				 SHOW_STATIONS_MAX);
	}
	return mr_reply(reply, collection.list);
}

const struct mr_cmd mr_bridge_cmds[] = {
	{"bridge add NAME [ageing SECONDS]",
	 "Makes a bridge; stations age after 300 seconds unless given, 0: never.", add_bridge},
	{"bridge del NAME", "Deletes a bridge; its members are free again.", del_bridge},
	{"bridge set NAME ageing SECONDS",
	 "Sets after how many seconds of silence stations are forgotten.", set_ageing},
	{"bridge member add NAME port N", "Makes a port a member of a bridge.", add_member},
	{"bridge member del NAME port N",
	 "Takes a port out of a bridge; its stations are forgotten.", del_member},
	{"station add NAME MAC port N",
	 "Adds a static station to a bridge; it neither ages nor moves.", add_station},
	{"station del NAME MAC [port N]", "Deletes a station of a bridge.", del_station},
	{"station flush NAME [port N]",
	 "Forgets the learned stations of a bridge; static ones stay.", flush_stations},
	{"show bridge [NAME]", "Shows bridges, their ports and how many stations they know.",
	 show_bridges},
	{"show station [NAME] [port N] [mac MAC] [limit COUNT]",
	 "Shows stations, of a bridge, behind a port or of one MAC; age in seconds.",
	 show_stations},
	{0},
};

static int list_bridges(struct mr *mr, const char *params, struct mr_reply *reply)
{
	json_t *names = json_array();

	(void)params;
	for (unsigned id = 0; id < MR_MAX_BRIDGES; id++)
		if (mr->bridges->bridge[id].name[0] != '\0')
			json_array_append_new(names, json_string(mr->bridges->bridge[id].name));
	return mr_reply(reply, names);
}

/* Sums a per-port counter of all lcores over a bridge's members. */
static json_t *sum_members(struct mr *mr, const struct mr_bridge *bridge,
			   uint64_t (*value)(const struct mr_counters *, uint16_t port))
{
	const struct mr_bridge_members *members = mr->bridges->fwd.members[bridge->id];
	uint64_t sum = 0;

	for (unsigned i = 0; members != NULL && i < members->count; i++)
		for (unsigned l = 0; l < mr->lcores->count; l++)
			sum += value(&mr->lcores->lcore[l]->counters, members->iface[i]);
	return json_integer((json_int_t)sum);
}

static uint64_t rx_packets(const struct mr_counters *counters, uint16_t port)
{
	uint64_t sum = 0;

	for (unsigned queue = 0; queue < MR_MAX_QUEUES; queue++)
		sum += mr_counter_read(&counters->rx[port][queue].packets);
	return sum;
}

static uint64_t tx_packets(const struct mr_counters *counters, uint16_t port)
{
	uint64_t sum = 0;

	for (unsigned queue = 0; queue < MR_MAX_QUEUES; queue++)
		sum += mr_counter_read(&counters->tx[port][queue].packets);
	return sum;
}

static uint64_t flooded(const struct mr_counters *counters, uint16_t port)
{
	return mr_counter_read(&counters->flooded[port]);
}

static int bridge_stats(struct mr *mr, const char *params, struct mr_reply *reply)
{
	const struct mr_bridge *bridge = mr_bridge_find(mr, params);
	struct mac_table_stats stats;

	if (bridge == NULL)
		return mr_refuse(reply, -ENOENT, "there is no bridge %s", params);
	json_t *data = bridge_json(mr, bridge);
	mac_table_stats(mr->bridges->fwd.stations, &stats);
	json_object_set_new(data, "rx_packets", sum_members(mr, bridge, rx_packets));
	json_object_set_new(data, "tx_packets", sum_members(mr, bridge, tx_packets));
	json_object_set_new(data, "flooded", sum_members(mr, bridge, flooded));
	json_object_set_new(data, "table_capacity", json_integer(stats.capacity));
	json_object_set_new(data, "table_stations", json_integer(stats.stations));
	json_object_set_new(data, "table_full", json_integer((json_int_t)mr->bridges->table_full));
	return mr_reply(reply, data);
}

/* params: NAME[,START], where START is the `next` of the page before. */
static int bridge_stations(struct mr *mr, const char *params, struct mr_reply *reply)
{
	struct collection collection = {.mr = mr, .left = STATIONS_A_PAGE};
	char name[MR_BRIDGE_NAME_SIZE] = "";
	const char *comma = strchrnul(params, ',');
	uint32_t position = 0;

	if ((size_t)(comma - params) < sizeof(name))
		memcpy(name, params, (size_t)(comma - params));
	const struct mr_bridge *bridge = mr_bridge_find(mr, name);
	if (bridge == NULL)
		return mr_refuse(reply, -ENOENT, "there is no bridge %s", name);
	if (*comma == ',')
		position = (uint32_t)strtoul(comma + 1, NULL, 10);
	collection.list = json_array();
	mac_table_iterate(mr->bridges->fwd.stations, bridge->id, MAC_TABLE_ANY, &position, collect,
			  &collection);
	return mr_reply(
		reply,
		json_pack("{s:I, s:I, s:o}", "total",
			  (json_int_t)mac_table_count(mr->bridges->fwd.stations, bridge->id),
			  "next", position == UINT32_MAX ? (json_int_t)0 : (json_int_t)position,
			  "stations", collection.list));
}

const struct mr_query mr_bridge_queries[] = {
	{"/millrace/bridge/list", "Names of the bridges.", list_bridges},
	{"/millrace/bridge/stats", "A bridge's ports, traffic and stations. Parameter: NAME.",
	 bridge_stats},
	{"/millrace/bridge/stations", "A bridge's stations, 100 a page. Parameters: NAME[,NEXT].",
	 bridge_stations},
	{0},
};
