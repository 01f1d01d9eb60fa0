/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The filter's log, a line a packet:
 *
 *   filter: rule 100 deny: tcp 10.0.0.1:1234 > 10.0.1.2:22 syn, in port 0, 60 bytes
 *
 * Lines are limited in rate, all together; what was left out is said when lines are written again.
 */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <rte_byteorder.h>

#include "base/log.h"
#include "filter/filter.h"
#include "filter/key_fwd.h"
#include "filter/log_fwd.h"
#include "filter/names.h"
#include "filter/slow.h"
#include "host/context.h"
#include "packet/punt.h"

static const struct mr_token_rate line_rate = {.per_second = 10, .burst = 50};

struct line {
	char text[256];
	size_t length;
};

static void say(struct line *line, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void say(struct line *line, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	int length = vsnprintf(line->text + line->length, sizeof(line->text) - line->length, format,
			       args);
	va_end(args);
	line->length += (size_t)length;
	if (line->length >= sizeof(line->text))
		line->length = sizeof(line->text) - 1;
}

static void say_end(struct line *line, const struct mr_filter_key *key, const uint8_t *address,
		    uint16_t port)
{
	struct mr_addr addr = {.family = key->flags & MR_FILTER_IPV6 ? AF_INET6 : AF_INET};
	char text[MR_ADDR_TEXT_SIZE];

	memcpy(addr.bytes, address, sizeof(addr.bytes));
	mr_addr_format(&addr, text);
	if ((key->flags & MR_FILTER_PORTS) == 0)
		say(line, "%s", text);
	else
		say(line, addr.family == AF_INET6 ? "[%s]:%u" : "%s:%u", text,
		    rte_be_to_cpu_16(port));
}

static void say_tcp_flags(struct line *line, uint8_t flags)
{
	const char *before = " ";

	for (const struct mr_filter_name *flag = mr_filter_tcp_flags; flag->name != NULL; flag++) {
		if ((flags & flag->value) == 0)
			continue;
		say(line, "%s%s", before, flag->name);
		before = ",";
	}
}

static void say_ip(struct line *line, const struct mr_filter_key *key)
{
	const struct mr_filter_name *protocol =
		mr_filter_name_of(mr_filter_protocols, key->protocol);

	if (protocol != NULL)
		say(line, "%s ", protocol->name);
	else
		say(line, "protocol %u ", key->protocol);
	say_end(line, key, key->src, key->sport);
	say(line, " > ");
	say_end(line, key, key->dst, key->dport);
	if (key->flags & MR_FILTER_TCP)
		say_tcp_flags(line, key->tcp_flags);
	if (key->flags & MR_FILTER_ICMP)
		say(line, " type %u code %u", key->icmp.type, key->icmp.code);
	if (key->flags & MR_FILTER_LATER)
		say(line, " fragment");
}

static void say_other(struct line *line, const struct mr_filter_key *key)
{
	struct rte_ether_addr src, dst;
	char from[MR_MAC_TEXT_SIZE], to[MR_MAC_TEXT_SIZE];

	memcpy(&src, key->src_mac, sizeof(src));
	memcpy(&dst, key->dst_mac, sizeof(dst));
	say(line, "ethertype 0x%04x %s > %s", rte_be_to_cpu_16(key->ethertype),
	    mr_mac_format(&src, from), mr_mac_format(&dst, to));
}

/* The headers of a copy that may be cut short behind them. A frame whose length its IP header
 * exceeds for that alone would not be read: so the copy is read as if the rest were there, which is
 * never looked at. */
static void say_packet(struct line *line, const struct rte_mbuf *packet)
{
	static const struct mr_filter_place place = {0};
	uint8_t frame[2048] = {0};
	struct mr_filter_key key;
	unsigned size = RTE_MIN((unsigned)packet->data_len, (unsigned)sizeof(frame));
	unsigned length = RTE_MIN(packet->pkt_len, (uint32_t)sizeof(frame));
	enum mr_filter_reading reading;

	memcpy(frame, rte_pktmbuf_mtod(packet, const void *), size);
	reading = mr_filter_key_read(frame, length, MR_FILTER_WANT_ALL, &place, &key);
	if (reading == MR_FILTER_READ && (key.flags & (MR_FILTER_IPV4 | MR_FILTER_IPV6)) != 0)
		say_ip(line, &key);
	else
		say_other(line, &key);
	if (key.vlan != 0)
		say(line, ", vlan %u", rte_be_to_cpu_16(key.vlan));
}

static void write_line(struct mr *mr, const struct rte_mbuf *packet, uint16_t iface, uint32_t word)
{
	struct mr_filter_slow *slow = mr->filter->slow;
	struct line line = {.length = 0};

	say(&line, "rule %" PRIu32 " %s: ", word & ((1u << 27) - 1),
	    mr_filter_name_of(mr_filter_actions, word >> 27 & 15)->name);
	say_packet(&line, packet);
	say(&line, ", %s port %u, %u bytes", word >> 31 ? "out" : "in", iface, packet->pkt_len);
	if (slow->log_suppressed != slow->suppressed_told) {
		mr_log_notice("filter: %" PRIu64 " packets not logged, to keep the rate",
			      slow->log_suppressed - slow->suppressed_told);
		slow->suppressed_told = slow->log_suppressed;
	}
	mr_log_notice("filter: %s", line.text);
}

void mr_filter_log_packet(struct mr *mr, const struct rte_mbuf *packet, uint16_t iface,
			  uint32_t word)
{
	struct mr_filter_slow *slow = mr->filter->slow;

	if (packet->data_len < RTE_ETHER_HDR_LEN)
		return;
	if (!mr_token_take(&slow->lines, &line_rate, slow->now_ms)) {
		slow->log_suppressed++;
		return;
	}
	slow->logged++;
	write_line(mr, packet, iface, word);
}

void mr_filter_punted(struct mr *mr, struct rte_mbuf *packet)
{
	const struct mr_punt punt = *mr_punt_of(packet);
	int verdict = MR_DROP_filter_rejected;

	if (punt.kind == MR_PUNT_LOG) {
		mr_filter_log_packet(mr, packet, punt.iface, punt.next_hop);
		verdict = MR_HOST_CONSUMED;
	} else {
		mr_filter_answer(mr, packet);
	}
	mr_host_end(mr, punt.iface, verdict, packet);
}
