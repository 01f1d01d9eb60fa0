/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef GEN_STREAM_H
#define GEN_STREAM_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "range.h"
#include "tag.h"

/*
 * The frames that one port sends: templates, and what changes from frame to frame. Sizes of frames
 * are with FCS where they are wanted or shown, and without where they are built.
 */
#define STREAM_FCS 4
#define STREAM_MIN_SIZE 64
#define STREAM_MAX_SIZE 1522 /* with FCS and a VLAN tag */
#define STREAM_MAX_LENGTH (STREAM_MAX_SIZE - STREAM_FCS)
#define STREAM_MAX_SIZES 16

/* Sizes and how many frames of each go in a round. */
struct size_mix {
	unsigned count;
	struct {
		uint16_t size;   /* with FCS */
		uint16_t weight; /* 1..64 */
	} part[STREAM_MAX_SIZES];
};

struct stream_config {
	struct size_mix sizes;
	struct mac_range src_mac, dst_mac;
	struct addr_range src, dst; /* of one family */
	struct port_range src_port, dst_port;
	uint16_t vlan;    /* 0: untagged */
	bool reverse;     /* from the second port to the first */
	uint32_t streams; /* 1..TAG_MAX_STREAMS; 0: the largest count of a range */
	const char *pcap; /* a file whose frames are the templates, instead of all but reverse */
};

struct frame_template {
	uint16_t length;                /* without FCS */
	uint16_t l3_at, udp_at, tag_at; /* places in the frame; tag_at 0: goes out as it is */
	bool ipv6;
	uint16_t stream;  /* with varies off */
	uint32_t udp_sum; /* unfolded sum of all that the UDP checksum covers and that is fixed */
	uint8_t bytes[STREAM_MAX_LENGTH];
};

/* Frame number k of the set is of template order[k % order_count]; with varies, it is of stream
 * k % streams and takes the k-th value (from the start again after the last) of every range. */
struct stream_set {
	bool varies;
	bool reverse;
	struct mac_range src_mac, dst_mac;
	struct addr_range src, dst;
	struct port_range src_port, dst_port;
	uint32_t streams;
	uint64_t milli_octets; /* of a frame with FCS, on average */
	unsigned template_count, order_count;
	struct frame_template *template;
	uint32_t *order;
};

/* Where the sending lcore is in a set. */
struct stream_cursor {
	const struct stream_set *set;
	uint32_t order_at, stream_at;
	uint32_t src_mac_at, dst_mac_at, src_at, dst_at, src_port_at, dst_port_at;
	uint32_t *sequence; /* of the next frame, a stream */
};

/* Octets with FCS that a frame with these headers and a tag has at least. */
unsigned stream_min_size(bool ipv6, bool vlan);

/* Adds up what config says. Returns 0, or a negative errno and a sentence in error. */
int stream_set_create(const struct stream_config *config, struct stream_set **set,
		      struct mr_error *error);
void stream_set_destroy(struct stream_set *set);

/* Used by stream_set_create: reads the frames of a capture file into set (pcap_template.c). */
int stream_set_read_pcap(struct stream_set *set, const char *path, struct mr_error *error);
/* Finds the headers of a frame whose bytes and length are set, and takes the sum of what is fixed.
 * Without room for a tag, or without UDP, tag_at stays 0. */
void frame_template_finish(struct frame_template *template, bool varies);

/* Returns 0 or -ENOMEM. */
int stream_cursor_create(const struct stream_set *set, struct stream_cursor *cursor);
void stream_cursor_destroy(struct stream_cursor *cursor);

/* Writes the next frame (room for STREAM_MAX_LENGTH octets), with checksums, and steps on. Returns
 * its length; *tagged says whether it carries a tag. time: TSC. */
uint16_t stream_write(struct stream_cursor *cursor, uint16_t mark, uint64_t time, uint8_t *frame,
		      bool *tagged);

#endif
