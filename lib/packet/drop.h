/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MR_PACKET_DROP_H
#define MR_PACKET_DROP_H

/*
 * Why a packet may end without being forwarded: a name for counters and a help text for people.
 * Each dropped packet is counted under exactly one reason, on the port that dropped it (the
 * arrival port before a decision is made, the output port after).
 */
#define MR_DROP_REASONS(R)                                                                         \
	R(runt, "frame shorter than an Ethernet header")                                           \
	R(segmented, "frame in more than one buffer (larger than --mbuf-size holds)")              \
	R(unconfigured, "arrival port has no role: no bridge, no address, no peer")                \
	R(truncated, "frame shorter than the length in its IP header")                             \
	R(link_down, "output port has no link")                                                    \
	R(mtu_exceeded, "frame larger than the output port's MTU allows")                          \
	R(tx_full, "transmit queue of the output port was full")                                   \
	R(tx_handover_full, "ring to the lcore that owns the transmit queue was full")             \
	R(spread_full, "ring to the lcore that the packet's flow belongs to was full")             \
	R(no_tx_path, "output port is stopped or was removed")                                     \
	R(bridge_bad_source, "source MAC is a group address or zero")                              \
	R(bridge_reserved, "destination is a reserved group address (01:80:c2:00:00:0X)")          \
	R(bridge_same_port, "destination station is behind the arrival port")                      \
	R(bridge_no_member, "to be flooded, but the bridge has no other member with link")         \
	R(other_host, "frame for another MAC on a routed port")                                    \
	R(ethertype, "protocol that is neither IPv4 nor ARP on a routed port")                     \
	R(link_multicast, "IP unicast packet in a link-layer broadcast or multicast frame")        \
	R(ip_version, "IP version is not 4 in an IPv4 frame")                                      \
	R(ip_header, "IPv4 header length or total length is impossible")                           \
	R(ip_checksum, "IPv4 header checksum is wrong")                                            \
	R(ip_source, "IPv4 source address is not valid on a wire (0/8, 127/8, 224/3)")             \
	R(ip_destination, "IPv4 destination address is never routed (0/8, 127/8, 240/4)")          \
	R(ip_multicast, "IPv4 multicast, which is not routed")                                     \
	R(ip_source_route, "IPv4 source route option")                                             \
	R(ip_options, "IPv4 options are malformed")                                                \
	R(ttl_exceeded, "TTL would reach 0 (ICMP time exceeded is sent when allowed)")             \
	R(no_route, "no route to the destination (ICMP unreachable is sent when allowed)")         \
	R(blackhole, "route is a black hole (no ICMP)")                                            \
	R(directed_broadcast, "broadcast or network address of a connected subnet")                \
	R(fragmentation_needed, "larger than the next hop's MTU with DF set (ICMP is sent)")       \
	R(fragmentation_failed, "larger than the next hop's MTU and could not be fragmented")      \
	R(neighbour_queue_full, "too many packets wait for the neighbour's MAC")                   \
	R(neighbour_unreachable, "neighbour does not answer ARP (ICMP is sent when allowed)")      \
	R(punt_full, "ring to the control thread was full")                                        \
	R(inject_full, "ring from the control thread was full")                                    \
	R(no_mbuf, "no buffer for a packet of the appliance's own or from another lcore")          \
	R(arp_invalid, "ARP packet is malformed or for another protocol")                          \
	R(arp_spoofed, "ARP sender cannot be on that subnet, or its MAC is not the frame's")       \
	R(arp_conflict, "ARP sender claims an address of the appliance")                           \
	R(arp_ignored, "ARP for another host's address")                                           \
	R(icmp_invalid, "ICMP message to the appliance is malformed")                              \
	R(host_unwanted, "packet to the appliance that nothing there answers")                     \
	R(fragment_invalid, "fragment to the appliance with impossible offset or length")          \
	R(fragment_overlap, "fragment to the appliance that overlaps another one")                 \
	R(reassembly_timeout, "fragments to the appliance that never became complete")             \
	R(reassembly_full, "too many datagrams are being reassembled")                             \
	R(filter_denied, "a rule of the filter, or its default action, denied it")                 \
	R(filter_rejected,                                                                         \
	  "a rule of the filter rejected it (ICMP or TCP RST is sent when allowed)")               \
	R(filter_policed, "it exceeded the rate of a rule of the filter")                          \
	R(filter_bad_state,                                                                        \
	  "TCP segment outside of the windows of its connection, or such as begins none")          \
	R(filter_state_full, "no room for another flow (see --filter-flows)")                      \
	R(filter_state_limit, "a rule of the filter allows no more flows")                         \
	R(filter_bad_header,                                                                       \
	  "the filter looks at IP headers, and these are impossible or cut short")                 \
	R(filter_tiny_fragment, "TCP header cut up among fragments (RFC 1858, RFC 3128)")          \
	R(filter_long_chain,                                                                       \
	  "more than 8 IPv6 extension headers, and the filter looks at IP headers")                \
	R(stopped, "forwarding was stopped")

#define MR_DROP_ENUM(name, help) MR_DROP_##name,
enum mr_drop_reason { MR_DROP_REASONS(MR_DROP_ENUM) MR_DROP_COUNT };
#undef MR_DROP_ENUM

const char *mr_drop_name(enum mr_drop_reason reason);
const char *mr_drop_help(enum mr_drop_reason reason);

#endif
