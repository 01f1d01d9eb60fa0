/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A capture file as templates. Every frame goes out in turn. UDP frames with room for it carry a
 * tag in the last octets of their payload, and get a right checksum again; others go out as they
 * are and are only counted. A stream is a flow: frames with the same tags and types, addresses and
 * ports, in the order of their first frame.
 */
#include <errno.h>
#include <pcap/pcap.h>
#include <stdlib.h>
#include <string.h>

#include <rte_common.h>
#include <rte_ip.h>

#include "stream.h"

#define MAX_FRAMES TAG_MAX_STREAMS

/* What makes a flow, and the frame that it is from. */
struct flow_key {
	uint8_t bytes[80];
	uint32_t frame;
};

static int grow(struct stream_set *set)
{
	unsigned room = set->template_count;

	if (room != 0 && (room & (room - 1)) != 0)
		return 0;
	room = room != 0 ? 2 * room : 1;
	struct frame_template *grown = realloc(set->template, room * sizeof(*grown));
	if (grown == NULL)
		return -ENOMEM;
	set->template = grown;
	return 0;
}

static int add_frame(struct stream_set *set, const struct pcap_pkthdr *header, const u_char *data,
		     const char *path, struct mr_error *error)
{
	unsigned number = set->template_count + 1;

	if (header->caplen < header->len)
		return mr_fail(error, -EINVAL, "%s: frame %u was cut when it was captured", path,
			       number);
	if (header->len < RTE_ETHER_HDR_LEN || header->len > STREAM_MAX_LENGTH)
		return mr_fail(error, -EINVAL, "%s: frame %u has %u octets; allowed are %u to %u",
			       path, number, header->len, RTE_ETHER_HDR_LEN, STREAM_MAX_LENGTH);
	if (number > MAX_FRAMES)
		return mr_fail(error, -EINVAL, "%s: more than %u frames", path, MAX_FRAMES);
	if (grow(set) != 0)
		return mr_fail(error, -ENOMEM, "%s: no memory for its frames", path);

	struct frame_template *template = &set->template[set->template_count++];
	memset(template, 0, sizeof(*template));
	memcpy(template->bytes, data, header->len);
	template->length = (uint16_t)RTE_MAX(header->len, (uint32_t)RTE_ETHER_MIN_LEN - STREAM_FCS);
	frame_template_finish(template, false);
	return 0;
}

static void make_key(struct flow_key *key, const struct frame_template *template, uint32_t frame)
{
	size_t addresses = template->ipv6 ? 32 : 8;
	size_t at = template->l3_at + (template->ipv6 ? offsetof(struct rte_ipv6_hdr, src_addr)
						      : offsetof(struct rte_ipv4_hdr, src_addr));
	/* Up to four VLAN tags count; the MACs do not. */
	size_t types = RTE_MIN(template->l3_at - 2 * RTE_ETHER_ADDR_LEN, 18);

	memset(key, 0, sizeof(*key));
	key->frame = frame;
	memcpy(key->bytes, template->bytes + 2 * RTE_ETHER_ADDR_LEN, types);
	memcpy(key->bytes + 20, template->bytes + at, addresses);
	memcpy(key->bytes + 52, template->bytes + template->udp_at, 4);
}

static int compare_keys(const void *a, const void *b)
{
	const struct flow_key *left = a, *right = b;
	int order = memcmp(left->bytes, right->bytes, sizeof(left->bytes));

	return order != 0 ? order : (int)left->frame - (int)right->frame;
}

/* Sorting brings the frames of a flow together, the first one in front. */
static int number_flows(struct stream_set *set)
{
	struct flow_key *keys = calloc(set->template_count, sizeof(*keys));
	uint32_t count = 0, first = 0;

	if (keys == NULL)
		return -ENOMEM;
	for (unsigned i = 0; i < set->template_count; i++)
		if (set->template[i].tag_at != 0)
			make_key(&keys[count++], &set->template[i], i);
	qsort(keys, count, sizeof(*keys), compare_keys);
	for (uint32_t i = 0; i < count; i++) {
		if (memcmp(keys[i].bytes, keys[first].bytes, sizeof(keys[i].bytes)) != 0)
			first = i;
		set->template[keys[i].frame].stream = (uint16_t)keys[first].frame;
	}
	free(keys);

	/* First frames become consecutive numbers; others follow theirs, which is before them. */
	set->streams = 0;
	for (unsigned i = 0; i < set->template_count; i++) {
		struct frame_template *template = &set->template[i];
		if (template->tag_at == 0)
			continue;
		template->stream = template->stream == i ? (uint16_t)set->streams++
							 : set->template[template->stream].stream;
	}
	set->streams = RTE_MAX(set->streams, 1u);
	return 0;
}

static int read_frames(struct stream_set *set, pcap_t *file, const char *path,
		       struct mr_error *error)
{
	struct pcap_pkthdr *header;
	const u_char *data;
	int more = 0, rc = 0;

	if (pcap_datalink(file) != DLT_EN10MB)
		return mr_fail(error, -EINVAL, "%s: not of an Ethernet link", path);
	while (rc == 0 && (more = pcap_next_ex(file, &header, &data)) == 1)
		rc = add_frame(set, header, data, path, error);
	if (rc != 0)
		return rc;
	if (more == PCAP_ERROR)
		return mr_fail(error, -EINVAL, "%s: %s", path, pcap_geterr(file));
	if (set->template_count == 0)
		return mr_fail(error, -EINVAL, "%s: has no frames", path);
	set->order_count = set->template_count;
	set->order = calloc(set->order_count, sizeof(*set->order));
	if (set->order == NULL || number_flows(set) != 0)
		return mr_fail(error, -ENOMEM, "%s: no memory for its frames", path);
	for (unsigned i = 0; i < set->order_count; i++)
		set->order[i] = i;
	return 0;
}

int stream_set_read_pcap(struct stream_set *set, const char *path, struct mr_error *error)
{
	char reason[PCAP_ERRBUF_SIZE];
	pcap_t *file = pcap_open_offline(path, reason);

	if (file == NULL)
		return mr_fail(error, -EINVAL, "%s", reason);
	int rc = read_frames(set, file, path, error);
	pcap_close(file);
	return rc;
}
