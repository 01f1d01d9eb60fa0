/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reassembly for the few datagrams that are addressed to the appliance. A fragment is judged by
 * itself and against the fragments that are there before it is kept; a datagram in which two
 * overlap is given up as a whole, since whoever sends one wants different readers to see different
 * things (RFC 1858, RFC 5722). Memory is bounded: the datagram that has waited longest makes room,
 * so that whoever fills the table has to go on sending to keep others out.
 *
 * DPDK's rte_ip_frag is not used: in 22.11 it keeps at most 8 fragments of a datagram (an echo of
 * 65,507 bytes has 45 at an MTU of 1500), notices overlaps only when sums do not come out, frees
 * expired datagrams only when another one happens to meet them (the call that does it by time is
 * experimental), and does not say why it gave up a fragment, so that drops could not be counted
 * by their reason.
 */
#include "host/reassembly.h"

#include <stdlib.h>
#include <string.h>

#include "host/context.h"
#include "host/icmp.h"
#include "packet/checksum.h"
#include "packet/punt.h"

struct piece {
	struct piece *next; /* by offset; or in the free list */
	struct rte_mbuf *packet;
	const uint8_t *data;
	uint16_t offset, size; /* bytes of payload */
};

struct partial {
	uint32_t source, destination; /* the key of RFC 791 3.2, in network order */
	uint16_t id;
	uint8_t protocol;
	uint64_t deadline_ms;
	struct piece *first;
	unsigned count;    /* pieces; 0: unused */
	uint32_t received; /* bytes of payload */
	uint32_t end;      /* of the furthest piece */
	bool has_last;     /* the furthest piece is the last one */
};

struct mr_reassembly {
	struct piece *free;
	unsigned held;
	struct partial partial[MR_REASSEMBLY_DATAGRAMS];
	struct piece piece[MR_REASSEMBLY_FRAGMENTS];
};

struct mr_reassembly *mr_reassembly_create(void)
{
	struct mr_reassembly *r = calloc(1, sizeof(*r));

	if (r == NULL)
		return NULL;
	for (unsigned i = 0; i < MR_REASSEMBLY_FRAGMENTS; i++) {
		r->piece[i].next = r->free;
		r->free = &r->piece[i];
	}
	return r;
}

/* Ends all pieces of a datagram. */
static void end_partial(struct mr *mr, struct mr_reassembly *r, struct partial *partial,
			int verdict)
{
	struct piece *piece = partial->first;

	while (piece != NULL) {
		struct piece *next = piece->next;

		mr_host_end(mr, mr_punt_of(piece->packet)->iface, verdict, piece->packet);
		piece->next = r->free;
		r->free = piece;
		r->held--;
		piece = next;
	}
	*partial = (struct partial){.count = 0};
}

void mr_reassembly_destroy(struct mr *mr, struct mr_reassembly *r)
{
	if (r == NULL)
		return;
	for (unsigned i = 0; i < MR_REASSEMBLY_DATAGRAMS; i++)
		end_partial(mr, r, &r->partial[i], MR_DROP_stopped);
	free(r);
}

unsigned mr_reassembly_held(const struct mr_reassembly *r)
{
	return r->held;
}

static struct partial *find(struct mr_reassembly *r, const struct rte_ipv4_hdr *ip)
{
	for (unsigned i = 0; i < MR_REASSEMBLY_DATAGRAMS; i++) {
		struct partial *p = &r->partial[i];

		if (p->count > 0 && p->source == ip->src_addr && p->destination == ip->dst_addr &&
		    p->id == ip->packet_id && p->protocol == ip->next_proto_id)
			return p;
	}
	return NULL;
}

/* The datagram that has waited longest, or, if unused is allowed, one that is not in use. */
static struct partial *oldest(struct mr_reassembly *r, bool unused)
{
	struct partial *found = NULL;

	for (unsigned i = 0; i < MR_REASSEMBLY_DATAGRAMS; i++) {
		struct partial *p = &r->partial[i];

		if (p->count == 0) {
			if (unused)
				return p;
			continue;
		}
		if (found == NULL || p->deadline_ms < found->deadline_ms)
			found = p;
	}
	return found;
}

static struct partial *begin(struct mr *mr, struct mr_reassembly *r, const struct rte_ipv4_hdr *ip)
{
	struct partial *partial = oldest(r, true);

	end_partial(mr, r, partial, MR_DROP_reassembly_full);
	partial->source = ip->src_addr;
	partial->destination = ip->dst_addr;
	partial->id = ip->packet_id;
	partial->protocol = ip->next_proto_id;
	partial->deadline_ms = mr->host->now_ms + MR_REASSEMBLY_TIMEOUT_MS;
	return partial;
}

/* Where in the list a piece belongs; or why it does not. Sets *give_up when the whole datagram is
 * to be given up. */
static int find_place(struct partial *partial, const struct piece *new, bool is_last,
		      struct piece ***place, bool *give_up)
{
	uint32_t end = (uint32_t) new->offset + new->size;
	struct piece **at = &partial->first;

	*give_up = false;
	while (*at != NULL && (*at)->offset + (*at)->size <= new->offset)
		at = &(*at)->next;
	*place = at;
	if (*at != NULL && (*at)->offset == new->offset && (*at)->size == new->size &&
	    memcmp((*at)->data, new->data, new->size) == 0)
		return MR_DROP_fragment_overlap; /* the network delivered it twice */
	if (*at != NULL && (*at)->offset < end) {
		*give_up = true;
		return MR_DROP_fragment_overlap;
	}
	/* Beyond the end that is known, or an end before what is known. */
	if ((partial->has_last && end > partial->end) || (is_last && end < partial->end))
		return MR_DROP_fragment_invalid;
	return MR_HOST_CONSUMED;
}

/* Checks of RFC 791 3.2 that need no other fragment. */
static bool is_plausible(const struct mr_datagram *fragment, uint32_t offset, bool is_last)
{
	if (fragment->payload_size == 0)
		return false;
	if (!is_last && fragment->payload_size % RTE_IPV4_HDR_OFFSET_UNITS != 0)
		return false;
	return offset + fragment->header_size + fragment->payload_size <= MR_IPV4_MAX_SIZE;
}

static void complete(struct mr *mr, struct mr_reassembly *r, struct partial *partial)
{
	struct mr_host *host = mr->host;
	const struct piece *first = partial->first;
	struct rte_ipv4_hdr *ip = (struct rte_ipv4_hdr *)host->reassembled;
	const struct rte_ipv4_hdr *original = rte_pktmbuf_mtod_offset(
		first->packet, const struct rte_ipv4_hdr *, RTE_ETHER_HDR_LEN);
	uint16_t header_size = mr_ipv4_header_size(original);
	struct mr_datagram datagram = {
		.ip = ip,
		.payload = host->reassembled + header_size,
		.header_size = header_size,
		.payload_size = (uint16_t)partial->end,
		.iface = mr_punt_of(first->packet)->iface,
	};
	int verdict = MR_DROP_fragment_invalid;

	/* The first fragment's header may be longer than that of the one that was checked. */
	if (header_size + partial->end <= MR_IPV4_MAX_SIZE) {
		memcpy(ip, original, header_size);
		ip->total_length = rte_cpu_to_be_16((uint16_t)(header_size + partial->end));
		ip->fragment_offset = 0;
		mr_ipv4_set_checksum(ip);
		for (const struct piece *p = first; p != NULL; p = p->next)
			memcpy(host->reassembled + header_size + p->offset, p->data, p->size);
		host->stats.datagrams_reassembled++;
		verdict = mr_host_local(mr, &datagram);
	}
	end_partial(mr, r, partial, verdict);
}

int mr_reassembly_input(struct mr *mr, const struct mr_datagram *fragment, struct rte_mbuf *packet)
{
	struct mr_reassembly *r = mr->host->reassembly;
	uint16_t field = rte_be_to_cpu_16(fragment->ip->fragment_offset);
	uint32_t offset = (uint32_t)(field & RTE_IPV4_HDR_OFFSET_MASK) * RTE_IPV4_HDR_OFFSET_UNITS;
	bool is_last = !(field & RTE_IPV4_HDR_MF_FLAG), give_up;
	struct partial *partial;
	struct piece **place, *piece;
	int verdict;

	mr->host->stats.fragments_received++;
	if (!is_plausible(fragment, offset, is_last))
		return MR_DROP_fragment_invalid;
	partial = find(r, fragment->ip);
	if (partial != NULL && partial->count >= MR_REASSEMBLY_DATAGRAM_FRAGMENTS)
		return MR_DROP_reassembly_full;
	if (r->free == NULL) {
		struct partial *victim = oldest(r, false);

		end_partial(mr, r, victim, MR_DROP_reassembly_full);
		if (victim == partial)
			partial = NULL;
	}
	if (partial == NULL)
		partial = begin(mr, r, fragment->ip);

	piece = r->free;
	piece->packet = packet;
	piece->data = fragment->payload;
	piece->offset = (uint16_t)offset;
	piece->size = fragment->payload_size;
	verdict = find_place(partial, piece, is_last, &place, &give_up);
	if (give_up)
		end_partial(mr, r, partial, verdict);
	if (verdict != MR_HOST_CONSUMED)
		return verdict;

	r->free = piece->next;
	r->held++;
	piece->next = *place;
	*place = piece;
	partial->count++;
	partial->received += piece->size;
	partial->end = RTE_MAX(partial->end, offset + piece->size);
	partial->has_last |= is_last;
	if (partial->has_last && partial->received == partial->end)
		complete(mr, r, partial);
	return MR_HOST_TAKEN;
}

/* The source is told, if the first fragment is there to be quoted (RFC 1122 3.3.2). */
static void time_out(struct mr *mr, struct mr_reassembly *r, struct partial *partial)
{
	struct piece *first = partial->first;
	struct mr_datagram quoted;

	if (first->offset == 0) {
		uint16_t iface = mr_punt_of(first->packet)->iface;

		if (mr_datagram_of(first->packet, iface, &quoted) == MR_HOST_CONSUMED)
			mr_icmp_error(mr, &quoted, MR_ICMP_TIME_EXCEEDED, MR_ICMP_REASSEMBLY, 0);
	}
	end_partial(mr, r, partial, MR_DROP_reassembly_timeout);
}

void mr_reassembly_withdraw(struct mr *mr, struct mr_reassembly *r, uint16_t iface)
{
	for (unsigned i = 0; i < MR_REASSEMBLY_DATAGRAMS; i++) {
		const struct piece *piece = r->partial[i].first;

		while (piece != NULL && mr_punt_of(piece->packet)->iface != iface)
			piece = piece->next;
		if (piece != NULL)
			end_partial(mr, r, &r->partial[i], MR_DROP_unconfigured);
	}
}

void mr_reassembly_poll(struct mr *mr)
{
	struct mr_reassembly *r = mr->host->reassembly;

	for (unsigned i = 0; r->held > 0 && i < MR_REASSEMBLY_DATAGRAMS; i++)
		if (r->partial[i].count > 0 && mr->host->now_ms >= r->partial[i].deadline_ms)
			time_out(mr, r, &r->partial[i]);
}
