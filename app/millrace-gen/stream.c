/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A frame is a copy of its template with a few fields written into it. Checksums are not computed
 * over the frame: the template keeps the sum of all that is the same in every frame, and what
 * varies is added to it (RFC 1071: sums of parts add up, and a part at an odd place counts with its
 * octets swapped). So a frame of 1518 octets costs hardly more than one of 64.
 */
#include "stream.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include <netinet/in.h>
#include <rte_common.h>
#include <rte_ether.h>
#include <rte_ip.h>
#include <rte_udp.h>

#include "headers.h"
#include "packet/checksum.h"

#define TTL 64

/* Sum of 16-bit words as they stand in memory, not folded. */
static uint32_t sum_of(const void *data, size_t size)
{
	return rte_raw_cksum(data, size);
}

static uint16_t fold(uint64_t sum)
{
	while (sum >> 16 != 0)
		sum = (sum & 0xffff) + (sum >> 16);
	return (uint16_t)sum;
}

unsigned stream_min_size(bool ipv6, bool vlan)
{
	unsigned size = RTE_ETHER_HDR_LEN + (vlan ? RTE_VLAN_HLEN : 0) +
			(ipv6 ? sizeof(struct rte_ipv6_hdr) : sizeof(struct rte_ipv4_hdr)) +
			sizeof(struct rte_udp_hdr) + TAG_SIZE + STREAM_FCS;

	return RTE_MAX(size, (unsigned)STREAM_MIN_SIZE);
}

static size_t write_ethernet(uint8_t *bytes, uint16_t vlan, uint16_t type)
{
	struct rte_ether_hdr *ether = (struct rte_ether_hdr *)bytes;

	if (vlan == 0) {
		ether->ether_type = rte_cpu_to_be_16(type);
		return sizeof(*ether);
	}
	struct rte_vlan_hdr *tag = (struct rte_vlan_hdr *)(ether + 1);
	ether->ether_type = rte_cpu_to_be_16(RTE_ETHER_TYPE_VLAN);
	tag->vlan_tci = rte_cpu_to_be_16(vlan);
	tag->eth_proto = rte_cpu_to_be_16(type);
	return sizeof(*ether) + sizeof(*tag);
}

static size_t write_ip(uint8_t *at, const struct stream_config *config, uint16_t length)
{
	if (config->src.first.family == AF_INET) {
		struct rte_ipv4_hdr *ip = (struct rte_ipv4_hdr *)at;
		*ip = (struct rte_ipv4_hdr){.version_ihl = RTE_IPV4_VHL_DEF,
					    .total_length = rte_cpu_to_be_16(length),
					    .time_to_live = TTL,
					    .next_proto_id = IPPROTO_UDP};
		return sizeof(*ip);
	}
	struct rte_ipv6_hdr *ip = (struct rte_ipv6_hdr *)at;
	*ip = (struct rte_ipv6_hdr){.vtc_flow = rte_cpu_to_be_32(6u << 28),
				    .payload_len = rte_cpu_to_be_16(length - sizeof(*ip)),
				    .proto = IPPROTO_UDP,
				    .hop_limits = TTL};
	memcpy(ip->src_addr, config->src.first.bytes, sizeof(ip->src_addr));
	memcpy(ip->dst_addr, config->dst.first.bytes, sizeof(ip->dst_addr));
	/* What varies is written later; until then it is no part of the sum. */
	memset(ip->src_addr + 8, 0, 8);
	memset(ip->dst_addr + 8, 0, 8);
	return sizeof(*ip);
}

static void build_template(struct frame_template *template, const struct stream_config *config,
			   uint16_t size)
{
	bool ipv6 = config->src.first.family == AF_INET6;
	uint8_t *bytes = template->bytes;

	template->length = size - STREAM_FCS;
	size_t at = write_ethernet(bytes, config->vlan,
				   ipv6 ? RTE_ETHER_TYPE_IPV6 : RTE_ETHER_TYPE_IPV4);
	at += write_ip(bytes + at, config, (uint16_t)(template->length - at));
	struct rte_udp_hdr *udp = (struct rte_udp_hdr *)(bytes + at);
	udp->dgram_len = rte_cpu_to_be_16((uint16_t)(template->length - at));
	for (size_t i = at + sizeof(*udp); i + TAG_SIZE < template->length; i++)
		bytes[i] = (uint8_t)i;
	frame_template_finish(template, true);
}

void frame_template_finish(struct frame_template *template, bool varies)
{
	struct frame_headers headers;

	template->tag_at = 0;
	if (headers_find(template->bytes, template->length, &headers) != 0 || headers.tag_at == 0)
		return;
	template->l3_at = headers.l3_at;
	template->udp_at = headers.udp_at;
	template->tag_at = headers.tag_at;
	template->ipv6 = headers.ipv6;

	uint8_t *bytes = template->bytes, *l3 = bytes + headers.l3_at;
	struct rte_udp_hdr *udp = (struct rte_udp_hdr *)(bytes + headers.udp_at);
	struct rte_ipv4_hdr *ipv4 = (struct rte_ipv4_hdr *)l3;

	memset(bytes + headers.tag_at, 0, TAG_SIZE);
	udp->dgram_cksum = 0;
	template->udp_sum =
		sum_of(udp, rte_be_to_cpu_16(udp->dgram_len)) + headers_pseudo_sum(bytes, &headers);
	if (!headers.ipv6 && varies) /* the sum of what is fixed, until a frame completes it */
		ipv4->hdr_checksum = fold(sum_of(ipv4, sizeof(*ipv4)));
}

/* Lets templates take turns by their weights, each spread as evenly as can be: the one that is
 * furthest behind its share goes next. */
static int order_sizes(struct stream_set *set, const struct size_mix *sizes)
{
	int32_t behind[STREAM_MAX_SIZES] = {0};
	unsigned total = 0;

	for (unsigned i = 0; i < sizes->count; i++)
		total += sizes->part[i].weight;
	set->order = calloc(total, sizeof(*set->order));
	if (set->order == NULL)
		return -ENOMEM;
	set->order_count = total;
	for (unsigned k = 0; k < total; k++) {
		unsigned next = 0;
		for (unsigned i = 0; i < sizes->count; i++) {
			behind[i] += sizes->part[i].weight;
			if (behind[i] > behind[next])
				next = i;
		}
		behind[next] -= (int32_t)total;
		set->order[k] = next;
	}
	return 0;
}

static uint32_t largest_count(const struct stream_config *config)
{
	uint32_t counts[] = {config->src_mac.count, config->dst_mac.count,  config->src.count,
			     config->dst.count,     config->src_port.count, config->dst_port.count};
	uint32_t largest = 1;

	for (unsigned i = 0; i < RTE_DIM(counts); i++)
		largest = RTE_MAX(largest, counts[i]);
	return RTE_MIN(largest, TAG_MAX_STREAMS);
}

static int build(struct stream_set *set, const struct stream_config *config, struct mr_error *error)
{
	bool ipv6 = config->src.first.family == AF_INET6;
	unsigned least = stream_min_size(ipv6, config->vlan != 0);

	set->varies = true;
	set->src_mac = config->src_mac;
	set->dst_mac = config->dst_mac;
	set->src = config->src;
	set->dst = config->dst;
	set->src_port = config->src_port;
	set->dst_port = config->dst_port;
	set->streams = config->streams != 0 ? config->streams : largest_count(config);
	set->template_count = config->sizes.count;
	set->template = calloc(set->template_count, sizeof(*set->template));
	if (set->template == NULL || order_sizes(set, &config->sizes) != 0)
		return mr_fail(error, -ENOMEM, "no memory for frames");
	for (unsigned i = 0; i < set->template_count; i++) {
		unsigned size = config->sizes.part[i].size;
		if (size < least || size > STREAM_MAX_SIZE)
			return mr_fail(error, -EINVAL,
				       "size %u: IPv%c frames%s that carry a tag have %u to %u "
				       "octets (with FCS)",
				       size, ipv6 ? '6' : '4', config->vlan ? " with a VLAN" : "",
				       least, STREAM_MAX_SIZE);
		build_template(&set->template[i], config, (uint16_t)size);
	}
	return 0;
}

static void average(struct stream_set *set)
{
	uint64_t octets = 0;

	for (unsigned k = 0; k < set->order_count; k++)
		octets += set->template[set->order[k]].length + STREAM_FCS;
	set->milli_octets = octets * 1000 / set->order_count;
}

int stream_set_create(const struct stream_config *config, struct stream_set **set,
		      struct mr_error *error)
{
	*set = calloc(1, sizeof(**set));
	if (*set == NULL)
		return mr_fail(error, -ENOMEM, "no memory for frames");
	(*set)->reverse = config->reverse;
	int rc = config->pcap != NULL ? stream_set_read_pcap(*set, config->pcap, error)
				      : build(*set, config, error);
	if (rc != 0) {
		stream_set_destroy(*set);
		*set = NULL;
		return rc;
	}
	average(*set);
	return 0;
}

void stream_set_destroy(struct stream_set *set)
{
	if (set == NULL)
		return;
	free(set->template);
	free(set->order);
	free(set);
}

int stream_cursor_create(const struct stream_set *set, struct stream_cursor *cursor)
{
	*cursor = (struct stream_cursor){.set = set};
	cursor->sequence = calloc(set->streams, sizeof(*cursor->sequence));
	return cursor->sequence != NULL ? 0 : -ENOMEM;
}

void stream_cursor_destroy(struct stream_cursor *cursor)
{
	free(cursor->sequence);
	cursor->sequence = NULL;
}

static void step(uint32_t *at, uint32_t count)
{
	*at = *at + 1 < count ? *at + 1 : 0;
}

/* Writes the low part of an address: its sum is what it adds to a checksum. */
static uint32_t write_low(uint8_t *at, const struct addr_range *range, uint32_t index)
{
	uint64_t low = addr_low(&range->first) + index;

	if (range->first.family == AF_INET) {
		uint32_t ipv4 = rte_cpu_to_be_32((uint32_t)low);
		memcpy(at, &ipv4, sizeof(ipv4));
		return sum_of(at, sizeof(ipv4));
	}
	low = rte_cpu_to_be_64(low);
	memcpy(at, &low, sizeof(low));
	return sum_of(at, sizeof(low));
}

/* Writes this frame's values of the ranges; returns what they add to the UDP checksum. */
static uint32_t vary(struct stream_cursor *cursor, const struct frame_template *template,
		     uint8_t *frame)
{
	const struct stream_set *set = cursor->set;
	struct rte_udp_hdr *udp = (struct rte_udp_hdr *)(frame + template->udp_at);
	uint8_t *l3 = frame + template->l3_at;
	uint32_t sum;

	mac_from_number(set->dst_mac.first + cursor->dst_mac_at, frame);
	mac_from_number(set->src_mac.first + cursor->src_mac_at, frame + RTE_ETHER_ADDR_LEN);
	if (template->ipv6) {
		struct rte_ipv6_hdr *ip = (struct rte_ipv6_hdr *)l3;
		sum = write_low(ip->src_addr + 8, &set->src, cursor->src_at);
		sum += write_low(ip->dst_addr + 8, &set->dst, cursor->dst_at);
	} else {
		struct rte_ipv4_hdr *ip = (struct rte_ipv4_hdr *)l3;
		sum = write_low((uint8_t *)&ip->src_addr, &set->src, cursor->src_at);
		sum += write_low((uint8_t *)&ip->dst_addr, &set->dst, cursor->dst_at);
		ip->hdr_checksum = (uint16_t)~fold((uint64_t)ip->hdr_checksum + sum);
	}
	udp->src_port = rte_cpu_to_be_16((uint16_t)(set->src_port.first + cursor->src_port_at));
	udp->dst_port = rte_cpu_to_be_16((uint16_t)(set->dst_port.first + cursor->dst_port_at));

	step(&cursor->src_mac_at, set->src_mac.count);
	step(&cursor->dst_mac_at, set->dst_mac.count);
	step(&cursor->src_at, set->src.count);
	step(&cursor->dst_at, set->dst.count);
	step(&cursor->src_port_at, set->src_port.count);
	step(&cursor->dst_port_at, set->dst_port.count);
	return sum + udp->src_port + udp->dst_port;
}

uint16_t stream_write(struct stream_cursor *cursor, uint16_t mark, uint64_t time, uint8_t *frame,
		      bool *tagged)
{
	const struct stream_set *set = cursor->set;
	const struct frame_template *template = &set->template[set->order[cursor->order_at]];

	step(&cursor->order_at, set->order_count);
	memcpy(frame, template->bytes, template->length);
	*tagged = template->tag_at != 0;
	if (!*tagged)
		return template->length;

	uint16_t stream = set->varies ? (uint16_t)cursor->stream_at : template->stream;
	struct tag tag = {.mark = mark,
			  .stream = stream | (set->reverse ? TAG_REVERSE : 0),
			  .sequence = cursor->sequence[stream]++,
			  .time = time};
	uint64_t sum = template->udp_sum;
	if (set->varies) {
		sum += vary(cursor, template, frame);
		step(&cursor->stream_at, set->streams);
	}
	tag_write(&tag, frame + template->tag_at);
	uint16_t tag_sum = fold(sum_of(frame + template->tag_at, TAG_SIZE));
	sum += (template->tag_at - template->udp_at) % 2 ? rte_bswap16(tag_sum) : tag_sum;

	struct rte_udp_hdr *udp = (struct rte_udp_hdr *)(frame + template->udp_at);
	uint16_t checksum = (uint16_t)~fold(sum);
	udp->dgram_cksum = checksum != 0 ? checksum : 0xffff; /* RFC 768: 0 says there is none */
	return template->length;
}
