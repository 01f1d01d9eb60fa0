/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef FILTER_FLOW_PACKET_FWD_H
#define FILTER_FLOW_PACKET_FWD_H

/*
 * What of a packet tells which flow it belongs to. Its headers have been read for the rules already
 * (filter/key_fwd.h), so lengths hold; only what an ICMP error quotes is read with suspicion.
 *
 * Packets of protocols with ports have a flow, except later fragments; of ICMP those of echo only;
 * of all other protocols all. ICMP errors have none of their own, but may be about one.
 */
#include <rte_tcp.h>

#include "filter/flow_table_fwd.h"
#include "filter/key_fwd.h"
#include "packet/load_fwd.h"

enum flow_kind {
	FLOW_NO_KIND,  /* belongs to no flow and makes none */
	FLOW_OF_KEY,   /* key is its flow's, in its direction */
	FLOW_ERROR_OF, /* an ICMP error: key is of the packet that it quotes, segment.seq too */
	FLOW_BROKEN,   /* a segment whose header, with its options, is not there as a whole */
};

struct flow_packet {
	enum flow_kind kind;
	bool is_tcp; /* segment is set */
	struct flow_key key;
	struct tcp_segment segment;
};

/* How many bytes a TCP header says that it measures. */
static inline unsigned flow_segment_header(const uint8_t *tcp)
{
	return (tcp[12] >> 4) * 4u;
}

/* Reads a segment without its options. left: bytes of the packet from its header on, at least a
 * header's without options. false: the header does not fit. */
static inline bool flow_segment_read(const uint8_t *tcp, unsigned left, struct tcp_segment *segment)
{
	unsigned header = flow_segment_header(tcp);
	uint8_t flags = tcp[13];

	if (header < sizeof(struct rte_tcp_hdr) || header > left)
		return false;
	*segment = (struct tcp_segment){
		.seq = mr_number32(tcp + 4),
		.ack = mr_number32(tcp + 8),
		.length = left - header + ((flags & RTE_TCP_SYN_FLAG) != 0) +
			  ((flags & RTE_TCP_FIN_FLAG) != 0),
		.window = mr_number16(tcp + 14),
		.flags = flags,
		.scale = -1,
	};
	return true;
}

/* Reads a packet. frame, length: of the frame; key: as it was read for rules that keep state.
 * domain, epoch: see struct flow_key. */
void flow_packet_read(const uint8_t *frame, unsigned length, const struct mr_filter_key *key,
		      uint16_t domain, uint32_t epoch, struct flow_packet *packet);

#endif
