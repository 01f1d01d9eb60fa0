/* SPDX-License-Identifier: BSD-3-Clause */
/* Commands and queries about neighbours. */
#include <errno.h>
#include <stdlib.h>

#include "route/neighbour_state.h"

#define NEIGHBOURS_A_PAGE 50 /* of 16 KB telemetry */

static int by_port_and_address(const void *a, const void *b)
{
	const struct neighbour *x = *(const struct neighbour *const *)a;
	const struct neighbour *y = *(const struct neighbour *const *)b;

	if (x->iface != y->iface)
		return x->iface < y->iface ? -1 : 1;
	return x->ipv4 < y->ipv4 ? -1 : x->ipv4 > y->ipv4;
}

static json_t *neighbour_json(struct mr *mr, const struct neighbour *n)
{
	char text[MR_ADDR_TEXT_SIZE], mac[MR_MAC_TEXT_SIZE] = "";

	if (neighbour_resolved(n))
		mr_mac_format(&n->mac, mac);
	return json_pack("{s:s, s:i, s:s, s:s, s:b, s:i}", "address", ipv4_text(n->ipv4, text),
			 "port", n->iface, "mac", mac, "state", neighbour_state_name(n->state),
			 "gateway", neighbour_is_gateway(mr, n), "held", n->held_count);
}

/* Neighbours of an interface or of all (MR_IFACE_NONE) by port and address, from offset on.
 * *total gets their number. */
static json_t *neighbours_json(struct mr *mr, uint16_t iface, unsigned offset, unsigned limit,
			       unsigned *total)
{
	const struct neighbours *neighbours = mr->router->neighbours;
	const struct neighbour **sorted = calloc(neighbours->count + 1, sizeof(*sorted));
	const struct neighbour *n;
	json_t *array = json_array();
	unsigned count = 0;

	if (sorted == NULL || array == NULL) {
		free(sorted);
		json_decref(array);
		return NULL;
	}
	TAILQ_FOREACH (n, &neighbours->all, all)
		if (iface == MR_IFACE_NONE || n->iface == iface)
			sorted[count++] = n;
	qsort(sorted, count, sizeof(*sorted), by_port_and_address);
	for (unsigned i = offset; i < count && i - offset < limit; i++)
		json_array_append_new(array, neighbour_json(mr, sorted[i]));
	free(sorted);
	*total = count;
	return array;
}

/* The port that a command names; without one that whose subnet has the address. */
static int port_arg(struct mr *mr, const struct mr_args *args, const struct mr_arg *addr,
		    uint16_t *iface, struct mr_reply *reply)
{
	uint64_t n = mr_arg_number(args, "N", 0);
	const struct router_address *a;

	if (mr_arg_has(args, "port")) {
		if (n >= RTE_MAX_ETHPORTS || mr_iface(mr, (uint16_t)n) == NULL)
			return mr_refuse(reply, -ENODEV, "there is no port %lu", (unsigned long)n);
		*iface = (uint16_t)n;
		return 0;
	}
	a = address_covering(mr, mr_addr_ipv4(&addr->addr), 32);
	if (a == NULL)
		return mr_refuse(reply, -ENOENT,
				 "there is no neighbour %s: no port's subnet has it", addr->text);
	*iface = a->iface;
	return 0;
}

static int add(struct mr *mr, const struct mr_args *args, struct mr_reply *reply)
{
	const struct mr_arg *addr = mr_arg(args, "A.B.C.D", 0);
	uint16_t iface = MR_IFACE_NONE;
	int rc = port_arg(mr, args, addr, &iface, reply);

	if (rc != 0)
		return rc;
	return neighbour_add_static(mr, iface, mr_addr_ipv4(&addr->addr),
				    &mr_arg(args, "MAC", 0)->mac, &reply->error);
}

static int del(struct mr *mr, const struct mr_args *args, struct mr_reply *reply)
{
	const struct mr_arg *addr = mr_arg(args, "A.B.C.D", 0);
	uint16_t iface = MR_IFACE_NONE;
	int rc = port_arg(mr, args, addr, &iface, reply);

	if (rc != 0)
		return rc;
	return neighbour_del(mr, iface, mr_addr_ipv4(&addr->addr), &reply->error);
}

static int show(struct mr *mr, const struct mr_args *args, struct mr_reply *reply)
{
	uint16_t iface = MR_IFACE_NONE;
	unsigned total;

	if (mr_arg_has(args, "port") && port_arg(mr, args, NULL, &iface, reply) != 0)
		return -ENODEV;
	return mr_reply(reply, neighbours_json(mr, iface, 0, UINT32_MAX, &total));
}

const struct mr_cmd mr_neighbour_cmds[] = {
	{"neighbour add A.B.C.D mac MAC port N",
	 "Gives a host on a port's subnet a MAC that ARP does not change.", add},
	{"neighbour del A.B.C.D [port N]", "Forgets a neighbour, be it static or learned.", del},
	{"show neighbour [port N]", "Shows the neighbours of all ports or of one.", show},
	{NULL}};

/* params: how many to pass over; the reply's "next" starts the next page. */
static int query_list(struct mr *mr, const char *params, struct mr_reply *reply)
{
	char *end;
	unsigned long offset = strtoul(params, &end, 10);
	unsigned total;
	json_t *array;

	if (*end != '\0' || params[0] == '-' || offset > NEIGHBOURS_MAX)
		return mr_refuse(reply, -EINVAL, "%.64s is not an offset of 0 to %u", params,
				 NEIGHBOURS_MAX);
	array = neighbours_json(mr, MR_IFACE_NONE, (unsigned)offset, NEIGHBOURS_A_PAGE, &total);
	if (array == NULL)
		return mr_reply(reply, NULL);
	offset += json_array_size(array);
	return mr_reply(reply, json_pack("{s:o, s:i, s:i}", "neighbours", array, "total",
					 (int)total, "next", offset < total ? (int)offset : 0));
}

const struct mr_query mr_neighbour_queries[] = {
	{"/millrace/neighbour/list",
	 "Neighbours, 50 at a time. Parameter: offset, the last reply's next (0: no more).",
	 query_list},
	{NULL}};
