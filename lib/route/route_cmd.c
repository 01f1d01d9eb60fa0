/* SPDX-License-Identifier: BSD-3-Clause */
/* Commands and queries about addresses and routes. */
#include <errno.h>
#include <string.h>

#include "route/router_state.h"

#define ROUTES_A_PAGE 50 /* of 16 KB telemetry */

/* The interface that a command's port number names. */
static int port_arg(struct mr *mr, const struct mr_args *args, uint16_t *iface,
		    struct mr_reply *reply)
{
	uint64_t n = mr_arg_number(args, "N", 0);

	if (n >= RTE_MAX_ETHPORTS || mr_iface(mr, (uint16_t)n) == NULL)
		return mr_refuse(reply, -ENODEV, "there is no port %lu", (unsigned long)n);
	*iface = (uint16_t)n;
	return 0;
}

static int address_add(struct mr *mr, const struct mr_args *args, struct mr_reply *reply)
{
	uint16_t iface = MR_IFACE_NONE;

	if (port_arg(mr, args, &iface, reply) != 0)
		return -ENODEV;
	return mr_address_add(mr, &mr_arg(args, "A.B.C.D/L", 0)->prefix, iface, &reply->error);
}

static int address_del(struct mr *mr, const struct mr_args *args, struct mr_reply *reply)
{
	uint16_t iface = MR_IFACE_NONE;

	if (port_arg(mr, args, &iface, reply) != 0)
		return -ENODEV;
	return mr_address_del(mr, &mr_arg(args, "A.B.C.D/L", 0)->prefix, iface, &reply->error);
}

static int show_address(struct mr *mr, const struct mr_args *args, struct mr_reply *reply)
{
	uint16_t iface = MR_IFACE_NONE;

	if (mr_arg_has(args, "port") && port_arg(mr, args, &iface, reply) != 0)
		return -ENODEV;
	return mr_reply(reply, addresses_json(mr, iface));
}

static int route_add_via(struct mr *mr, const struct mr_args *args, struct mr_reply *reply)
{
	struct mr_addr gateways[MR_MAX_ARGS];
	unsigned count = mr_arg_count(args, "A.B.C.D");

	for (unsigned i = 0; i < count; i++)
		gateways[i] = mr_arg(args, "A.B.C.D", i)->addr;
	return mr_route_add(mr, &mr_arg(args, "A.B.C.D/L", 0)->prefix, gateways, count,
			    &reply->error);
}

static int route_add_blackhole(struct mr *mr, const struct mr_args *args, struct mr_reply *reply)
{
	return mr_route_add(mr, &mr_arg(args, "A.B.C.D/L", 0)->prefix, NULL, 0, &reply->error);
}

static int route_del(struct mr *mr, const struct mr_args *args, struct mr_reply *reply)
{
	return mr_route_del(mr, &mr_arg(args, "A.B.C.D/L", 0)->prefix, &reply->error);
}

static struct mr_ipv4_route route_of(const struct mr_prefix *prefix)
{
	struct mr_prefix canonical = mr_prefix_canonical(prefix);

	return (struct mr_ipv4_route){.prefix = mr_addr_ipv4(&canonical.addr),
				      .length = canonical.length};
}

static int show_route(struct mr *mr, const struct mr_args *args, struct mr_reply *reply)
{
	const struct mr_arg *prefix = mr_arg(args, "A.B.C.D/L", 0);
	struct mr_ipv4_route inside, next;

	if (prefix != NULL)
		inside = route_of(&prefix->prefix);
	return mr_reply(reply,
			routes_json(mr, prefix != NULL ? &inside : NULL, NULL, UINT32_MAX, &next));
}

static int show_route_lookup(struct mr *mr, const struct mr_args *args, struct mr_reply *reply)
{
	return mr_reply(reply,
			route_lookup_json(mr, mr_addr_ipv4(&mr_arg(args, "A.B.C.D", 0)->addr)));
}

static int show_route_summary(struct mr *mr, const struct mr_args *args, struct mr_reply *reply)
{
	(void)args;
	return mr_reply(reply, route_summary_json(mr));
}

const struct mr_cmd mr_route_cmds[] = {
	{"address add A.B.C.D/L port N",
	 "Gives a port an address on a subnet of length L; the port becomes routed.", address_add},
	{"address del A.B.C.D/L port N",
	 "Takes an address from a port; without its last one the port is no longer routed.",
	 address_del},
	{"route add A.B.C.D/L via A.B.C.D [A.B.C.D ...]",
	 "Routes a prefix to one gateway, or to up to 16 by flow.", route_add_via},
	{"route add A.B.C.D/L blackhole", "Drops what goes to a prefix, without ICMP.",
	 route_add_blackhole},
	{"route del A.B.C.D/L", "Deletes a static route.", route_del},
	{"show address [port N]", "Shows the addresses of all ports or of one.", show_address},
	{"show route [A.B.C.D/L]", "Shows all routes, or those inside a prefix.", show_route},
	{"show route lookup A.B.C.D", "Shows where a destination is routed to.", show_route_lookup},
	{"show route summary", "Shows how many routes, next hops and neighbours there are.",
	 show_route_summary},
	{NULL}};

/* params: the prefix to start at; the reply's "next" starts the next page. */
static int query_list(struct mr *mr, const char *params, struct mr_reply *reply)
{
	struct mr_prefix prefix;
	struct mr_ipv4_route start = {0}, next;
	char text[MR_ADDR_TEXT_SIZE] = "";
	json_t *routes;

	if (params[0] != '\0') {
		if (mr_prefix_parse(params, &prefix) != 0 || prefix.addr.family != AF_INET)
			return mr_refuse(reply, -EINVAL,
					 "%.64s is not the prefix to start at, as in 10.0.0.0/8",
					 params);
		start = route_of(&prefix);
	}
	routes = routes_json(mr, NULL, &start, ROUTES_A_PAGE, &next);
	if (next.length != UINT8_MAX)
		ipv4_prefix_text(next.prefix, next.length, text);
	return mr_reply(reply, json_pack("{s:o, s:s}", "routes", routes, "next", text));
}

static int query_lookup(struct mr *mr, const char *params, struct mr_reply *reply)
{
	struct mr_addr addr;

	if (mr_addr_parse(params, &addr) != 0 || addr.family != AF_INET)
		return mr_refuse(reply, -EINVAL, "%.64s is not an IPv4 address, as in 10.0.0.1",
				 params);
	return mr_reply(reply, route_lookup_json(mr, mr_addr_ipv4(&addr)));
}

static int query_summary(struct mr *mr, const char *params, struct mr_reply *reply)
{
	(void)params;
	return mr_reply(reply, route_summary_json(mr));
}

static int query_addresses(struct mr *mr, const char *params, struct mr_reply *reply)
{
	(void)params;
	return mr_reply(reply, addresses_json(mr, MR_IFACE_NONE));
}

const struct mr_query mr_route_queries[] = {
	{"/millrace/route/list",
	 "Routes, 50 at a time. Parameter: prefix to start at, the last reply's next.", query_list},
	{"/millrace/route/lookup", "Where a destination is routed to. Parameter: IPv4 address.",
	 query_lookup},
	{"/millrace/route/summary", "Numbers of routes, next hops and neighbours.", query_summary},
	{"/millrace/address/list", "Addresses of all ports.", query_addresses},
	{NULL}};
