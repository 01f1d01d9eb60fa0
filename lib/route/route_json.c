/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Addresses and routes as data, for commands and telemetry alike. All objects of a list have the
 * same keys, so that they make a table.
 */
#include "route/neighbour_state.h"
#include "route/router_state.h"

#include <stdio.h>
#include <string.h>

static const char *type_name(enum route_type type)
{
	static const char *const names[ROUTE_TYPES] = {
		[ROUTE_CONNECTED] = "connected", [ROUTE_LOCAL] = "local",
		[ROUTE_BROADCAST] = "broadcast", [ROUTE_STATIC] = "static",
		[ROUTE_NEIGHBOUR] = "neighbour", [ROUTE_INTERNAL] = "internal",
	};

	return names[type];
}

/* What happens to packets now. */
static const char *action_name(enum mr_adjacency_kind kind)
{
	static const char *const names[MR_ADJ_KINDS] = {
		[MR_ADJ_NO_ROUTE] = "no_route",   [MR_ADJ_FORWARD] = "forward",
		[MR_ADJ_MULTIPATH] = "multipath", [MR_ADJ_RESOLVE] = "resolve",
		[MR_ADJ_CONNECTED] = "resolve",   [MR_ADJ_UNREACHABLE] = "unreachable",
		[MR_ADJ_LOCAL] = "local",         [MR_ADJ_BLACKHOLE] = "blackhole",
		[MR_ADJ_BROADCAST] = "drop",      [MR_ADJ_MULTICAST] = "drop",
		[MR_ADJ_MARTIAN] = "drop",
	};

	return names[kind];
}

/* Texts of a list's parts, parted by blanks. */
struct list_text {
	char text[MR_MAX_PATHS * MR_ADDR_TEXT_SIZE];
	size_t used;
};

static void list_add(struct list_text *list, const char *part)
{
	int n = snprintf(list->text + list->used, sizeof(list->text) - list->used, "%s%s",
			 list->used == 0 ? "" : " ", part);

	list->used += (size_t)n;
}

static void list_add_gateway(struct list_text *via, struct list_text *ports,
			     const struct neighbour *n, bool with_address)
{
	char text[MR_ADDR_TEXT_SIZE];

	if (with_address)
		list_add(via, ipv4_text(n->ipv4, text));
	snprintf(text, sizeof(text), "%u", n->iface);
	list_add(ports, text);
}

json_t *route_json(struct mr *mr, const struct mr_ipv4_route *route)
{
	const struct mr_adjacency *adjacency = mr_router_adjacency(mr, route->next_hop);
	enum route_type type = route_type(mr, route);
	struct list_text via = {0}, ports = {0};
	const struct neighbour *gateways[MR_MAX_PATHS];
	unsigned count = 0;
	char text[MR_ADDR_TEXT_SIZE];

	switch (next_hop_owner(mr->router->hops, route->next_hop)) {
	case NEXT_HOP_NEIGHBOUR:
		gateways[count++] = next_hop_object(mr->router->hops, route->next_hop);
		break;
	case NEXT_HOP_MULTIPATH:
		count = multipath_gateways(mr, route->next_hop, gateways);
		break;
	case NEXT_HOP_IFACE:
		snprintf(text, sizeof(text), "%u", adjacency->iface);
		list_add(&ports, text);
		break;
	case NEXT_HOP_FIXED:
		break;
	}
	for (unsigned i = 0; i < count; i++)
		list_add_gateway(&via, &ports, gateways[i], type == ROUTE_STATIC);
	return json_pack("{s:s, s:s, s:s, s:s, s:s}", "prefix",
			 ipv4_prefix_text(route->prefix, route->length, text), "type",
			 type_name(type), "action",
			 route->withdrawn ? "linkdown" : action_name(adjacency->kind), "via",
			 via.text, "ports", ports.text);
}

struct page {
	struct mr *mr;
	const struct mr_ipv4_route *inside;
	unsigned limit;
	json_t *array;
	struct mr_ipv4_route *next;
};

static bool page_add(const struct mr_ipv4_route *route, void *arg)
{
	struct page *page = arg;
	const struct mr_ipv4_route *inside = page->inside;

	if (inside != NULL && !ipv4_covers(inside->prefix, inside->length, route->prefix))
		return route->prefix < inside->prefix; /* ends behind it */
	if ((inside != NULL && route->length < inside->length) ||
	    route_type(page->mr, route) == ROUTE_INTERNAL)
		return true;
	if (json_array_size(page->array) == page->limit) {
		*page->next = *route;
		return false;
	}
	return json_array_append_new(page->array, route_json(page->mr, route)) == 0;
}

json_t *routes_json(struct mr *mr, const struct mr_ipv4_route *inside,
		    const struct mr_ipv4_route *start, unsigned limit, struct mr_ipv4_route *next)
{
	struct page page = {
		.mr = mr, .inside = inside, .limit = limit, .array = json_array(), .next = next};
	const struct mr_ipv4_route *first = start != NULL ? start : inside;
	struct mr_ipv4_route after = {0};

	next->length = UINT8_MAX;
	/* Iteration starts behind a route: the last that can stand before the first wanted one. */
	if (first != NULL && (first->length > 0 || first->prefix > 0)) {
		after = *first;
		if (after.length > 0) {
			after.length--;
		} else {
			after.prefix--;
			after.length = 32;
		}
		mr_ipv4_table_iterate(mr->router->table, &after, page_add, &page);
	} else {
		mr_ipv4_table_iterate(mr->router->table, NULL, page_add, &page);
	}
	return page.array;
}

json_t *route_lookup_json(struct mr *mr, uint32_t destination)
{
	struct mr_ipv4_route match = {0};
	json_t *data;
	char text[MR_ADDR_TEXT_SIZE];

	if (mr_ipv4_table_lookup(mr->router->table, destination, &match) == MR_NEXT_HOP_NONE)
		return json_pack("{s:s, s:s, s:s, s:s, s:s, s:s}", "destination",
				 ipv4_text(destination, text), "prefix", "none", "type", "none",
				 "action", action_name(MR_ADJ_NO_ROUTE), "via", "", "ports", "");
	data = json_pack("{s:s}", "destination", ipv4_text(destination, text));
	if (data != NULL && json_object_update_new(data, route_json(mr, &match)) != 0) {
		json_decref(data);
		data = NULL;
	}
	return data;
}

struct sums {
	struct mr *mr;
	unsigned count[ROUTE_TYPES];
};

static bool count_type(const struct mr_ipv4_route *route, void *arg)
{
	struct sums *sums = arg;

	sums->count[route_type(sums->mr, route)]++;
	return true;
}

json_t *route_summary_json(struct mr *mr)
{
	struct mr_router *router = mr->router;
	struct mr_ipv4_table_memory memory;
	struct sums sums = {.mr = mr};
	json_t *data = json_object();

	mr_ipv4_table_iterate(router->table, NULL, count_type, &sums);
	mr_ipv4_table_memory(router->table, &memory);
	for (unsigned type = 0; type < ROUTE_TYPES; type++)
		json_object_set_new(data, type_name(type), json_integer(sums.count[type]));
	json_object_set_new(data, "static_max", json_integer(router->max_static_routes));
	json_object_set_new(data, "addresses", json_integer(router->address_count));
	json_object_set_new(data, "next_hops", json_integer(next_hops_used(router->hops)));
	json_object_set_new(data, "next_hops_max", json_integer(MR_MAX_NEXT_HOPS - 1));
	json_object_set_new(data, "neighbours", json_integer(router->neighbours->count));
	json_object_set_new(data, "neighbours_max", json_integer(NEIGHBOURS_MAX));
	json_object_set_new(data, "neighbour_conflicts",
			    json_integer((json_int_t)router->neighbours->conflicts));
	json_object_set_new(data, "packets_held", json_integer((json_int_t)mr_neighbour_held(mr)));
	json_object_set_new(data, "table_bytes", json_integer((json_int_t)memory.shared_used));
	json_object_set_new(data, "table_bytes_reserved",
			    json_integer((json_int_t)memory.shared_reserved));
	return data;
}

json_t *addresses_json(struct mr *mr, uint16_t iface)
{
	const struct mr_router *router = mr->router;
	json_t *array = json_array();
	char text[MR_ADDR_TEXT_SIZE];

	for (unsigned i = 0; i < router->address_count; i++) {
		const struct router_address *a = &router->address[i];

		if (iface == MR_IFACE_NONE || a->iface == iface)
			json_array_append_new(array,
					      json_pack("{s:s, s:i}", "address",
							ipv4_prefix_text(a->ipv4, a->length, text),
							"port", a->iface));
	}
	return array;
}
