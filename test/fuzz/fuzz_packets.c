/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Frames through the whole packet path, of an appliance that bridges between ports 0, 1 and 4
 * (on which nothing comes in) and routes between 2 and 3. An input is a list of operations, so that
 * what matters besides a frame's bytes (its port, what came in the same burst, time, links) is
 * mutated like them:
 *
 *   bits 0-1 of the first byte: FRAME, RUN, TIME or LINK; bits 2-3: the port
 *   FRAME  bits 4-7: FRAME_* below; a byte: how many bytes are given; with FRAME_FILLED 16 more
 *          bits: how long the frame is; the bytes
 *   RUN    the frames so far were a burst
 *   TIME   a byte: 0-63 times 1, 10, 100 or 1000 ms
 *   LINK   bit 4: up
 *
 * No mutation finds a right checksum, so a bit asks for them. Nothing is known of what comes out
 * but what must be so for any input; whatever else is left to test/unit.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <netinet/in.h>

#include <rte_ether.h>
#include <rte_ip.h>
#include <rte_mempool.h>

#include "control/control.h"
#include "fuzz.h"
#include "fuzz_eal.h"
#include "lcore/lcores.h"
#include "packet/checksum.h"
#include "port/iface.h"
#include "ring_rig.h"

enum { FRAME, RUN, TIME, LINK };
enum {
	FRAME_FOR_PORT = 1 << 4, /* to the port's own MAC */
	FRAME_CHECKSUM = 1 << 5, /* with right checksums of IPv4 and ICMP */
	FRAME_IN_CHAIN = 1 << 6, /* in two buffers */
	FRAME_FILLED = 1 << 7    /* longer than the bytes that are given */
};

#define PORTS 5
#define FIRST_ROUTED 2
#define SILENT 4          /* a bridge member, so that floods have two ways */
#define MAX_BURST 256     /* frames on all ports between two runs */
#define MAX_FRAMES 2048   /* an input */
#define MAX_TIME_MS 60000 /* an input, so that one takes milliseconds */
#define MAX_LINKS 16      /* changes an input */

/* Longer than every timer that holds a packet: reassembly (30 s), neighbours (3 s), one after the
 * other. */
#define SETTLE_MS 45000

static const char *const configuration[] = {
	"bridge add br0",
	"bridge member add br0 port 0",
	"bridge member add br0 port 1",
	"bridge member add br0 port 4",
	"station add br0 02:00:00:00:01:99 port 1",
	"address add 10.0.2.1/24 port 2",
	"address add 10.0.3.1/24 port 3",
	"address add 192.0.2.1/31 port 3",
	"neighbour add 10.0.2.2 mac 02:00:00:00:02:02 port 2",
	"neighbour add 10.0.3.2 mac 02:00:00:00:03:02 port 3",
	"neighbour add 10.0.3.3 mac 02:00:00:00:03:03 port 3",
	"route add 10.1.0.0/16 via 10.0.3.2 10.0.3.3",
	"route add 10.2.0.0/16 via 10.0.3.2 10.0.3.66 10.0.2.77",
	"route add 10.3.0.0/16 blackhole",
	"route add 10.4.0.0/16 via 10.0.2.2",
	"route add 198.51.100.0/24 via 10.0.3.2",
	"route add 10.5.0.0/16 via 10.0.2.77",
	"port config mtu 1 600",
	"port config mtu 3 300",
};

struct fuzz {
	struct ring_rig rig;
	char *configuration;
	unsigned free_buffers;
	struct mr_balance before;
	/* Of this input. */
	uint64_t sent, taken;
	unsigned waiting; /* not run yet */
	unsigned links, time_ms;
	bool up[PORTS];
	uint64_t bridged[FIRST_ROUTED][MAX_FRAMES]; /* hashes of frames that came in */
	unsigned bridged_count[FIRST_ROUTED];
};

static struct fuzz the_fuzz;

static void command(struct fuzz *f, const char *line)
{
	struct mr_reply reply;

	if (mr_control_execute(f->rig.mr, line, strlen(line), &reply) != 0)
		fuzz_fail("'%s' refused: %s", line, reply.error.text);
	mr_reply_clear(&reply);
}

static char *show(struct fuzz *f)
{
	struct mr_error error = {0};
	char *text = ring_rig_configuration(&f->rig, &error);

	if (text == NULL)
		fuzz_fail("%s", error.text);
	return text;
}

static uint64_t hash(const uint8_t *bytes, unsigned length)
{
	uint64_t hash = 0xcbf29ce484222325;

	for (unsigned i = 0; i < length; i++)
		hash = (hash ^ bytes[i]) * 0x100000001b3;
	return hash;
}

static void check_ipv4(const struct mr_iface *iface, const uint8_t *frame, unsigned length)
{
	const struct rte_ipv4_hdr *ip = (const void *)(frame + RTE_ETHER_HDR_LEN);
	unsigned available = length - RTE_ETHER_HDR_LEN;

	if (available < sizeof(*ip) || ip->version != 4 || ip->ihl < 5 ||
	    rte_be_to_cpu_16(ip->total_length) > available || mr_ipv4_header_size(ip) > available)
		fuzz_fail("an impossible IPv4 header left port %u", iface->index);
	if (rte_be_to_cpu_16(ip->total_length) > iface->mtu)
		fuzz_fail("a packet beyond the MTU left port %u", iface->index);
	if (!mr_checksum_ok(ip, mr_ipv4_header_size(ip)))
		fuzz_fail("a wrong header checksum left port %u", iface->index);
	if (ip->time_to_live == 0)
		fuzz_fail("TTL 0 left port %u", iface->index);
}

static void check_routed(const struct mr_iface *iface, const uint8_t *frame, unsigned length)
{
	const struct rte_ether_hdr *ether = (const void *)frame;

	if (mr_mac_to_u48(&ether->src_addr) != iface->mac)
		fuzz_fail("a frame with another MAC than its own left port %u", iface->index);
	if (rte_is_zero_ether_addr(&ether->dst_addr))
		fuzz_fail("a frame to nobody left port %u", iface->index);
	if (ether->ether_type == RTE_BE16(RTE_ETHER_TYPE_IPV4))
		check_ipv4(iface, frame, length);
	else if (ether->ether_type != RTE_BE16(RTE_ETHER_TYPE_ARP))
		fuzz_fail("ethertype %04x left port %u", rte_be_to_cpu_16(ether->ether_type),
			  iface->index);
}

static bool came_in(const struct fuzz *f, unsigned port, uint64_t wanted)
{
	for (unsigned i = 0; i < f->bridged_count[port]; i++)
		if (f->bridged[port][i] == wanted)
			return true;
	return false;
}

/* Bridged frames are those that came in on another port, byte for byte. */
static void check_bridged(const struct fuzz *f, unsigned port, const uint8_t *frame,
			  unsigned length)
{
	uint64_t wanted = hash(frame, length);

	for (unsigned from = 0; from < FIRST_ROUTED; from++)
		if (from != port && came_in(f, from, wanted))
			return;
	fuzz_fail("a frame that did not come in left port %u", port);
}

static void check_frame(const struct fuzz *f, unsigned port, const struct rte_mbuf *m)
{
	const struct mr_iface *iface = mr_iface(f->rig.mr, (uint16_t)port);
	const uint8_t *frame = rte_pktmbuf_mtod(m, const uint8_t *);
	unsigned most = iface->max_frame;

	if (m->nb_segs != 1 || m->pkt_len != m->data_len || m->data_len < RTE_ETHER_HDR_LEN)
		fuzz_fail("a buffer that is no frame left port %u", port);
	for (unsigned tag = 0; tag < 2 && m->pkt_len > most; tag++)
		if (memcmp(frame + 12 + 4 * tag, "\x81\x00", 2) == 0 ||
		    memcmp(frame + 12 + 4 * tag, "\x88\xa8", 2) == 0)
			most += 4;
	if (m->pkt_len > most)
		fuzz_fail("%u bytes left port %u, whose MTU is %u", m->pkt_len, port, iface->mtu);
	if (!f->up[port])
		fuzz_fail("a frame left port %u, which has no link", port);
	if (port < FIRST_ROUTED || port == SILENT)
		check_bridged(f, port, frame, m->pkt_len);
	else
		check_routed(iface, frame, m->pkt_len);
}

static void check_law(const struct fuzz *f)
{
	struct mr_balance b = mr_lcores_balance(f->rig.mr);

	if (b.received - f->before.received != f->sent)
		fuzz_fail("%" PRIu64 " packets sent, %" PRIu64 " received", f->sent,
			  b.received - f->before.received);
	if (b.transmitted - f->before.transmitted != f->taken)
		fuzz_fail("%" PRIu64 " packets counted as transmitted, %" PRIu64 " left",
			  b.transmitted - f->before.transmitted, f->taken);
	if (b.received + b.originated + b.copied != b.transmitted + b.consumed + b.dropped + b.held)
		fuzz_fail("%" PRIu64 " received + %" PRIu64 " originated + %" PRIu64
			  " copied are not %" PRIu64 " transmitted + %" PRIu64
			  " consumed + %" PRIu64 " dropped + %" PRIu64 " held",
			  b.received, b.originated, b.copied, b.transmitted, b.consumed, b.dropped,
			  b.held);
}

static void settle(struct fuzz *f)
{
	struct rte_mbuf *m;

	ring_rig_run(&f->rig);
	for (unsigned port = 0; port < PORTS; port++) {
		while ((m = ring_rig_take(&f->rig, port)) != NULL) {
			check_frame(f, port, m);
			rte_pktmbuf_free(m);
			f->taken++;
		}
	}
	check_law(f);
	f->waiting = 0;
}

static void pass_time(struct fuzz *f, unsigned ms)
{
	settle(f);
	while (ms > 0) {
		unsigned step = RTE_MIN(ms, 1000u);

		ring_rig_advance(&f->rig, step, step);
		ms -= step;
		settle(f);
	}
}

static void set_link(struct fuzz *f, unsigned port, bool up)
{
	settle(f);
	if (f->up[port] == up)
		return;
	if (up) /* announces itself at once */
		f->up[port] = true;
	ring_rig_link(&f->rig, port, up);
	settle(f);
	f->up[port] = up;
}

/* Fills in what a frame lacks to be believed, as far as it is long enough. */
static void fix_checksums(uint8_t *frame, unsigned length)
{
	struct rte_ipv4_hdr *ip = (void *)(frame + RTE_ETHER_HDR_LEN);
	unsigned available = length - RTE_ETHER_HDR_LEN, header, total;

	if (length < RTE_ETHER_HDR_LEN + sizeof(*ip))
		return;
	header = mr_ipv4_header_size(ip);
	total = rte_be_to_cpu_16(ip->total_length);
	if (header < sizeof(*ip) || header > available)
		return;
	mr_ipv4_set_checksum(ip);
	if (total > available || total < header + 4 || ip->next_proto_id != IPPROTO_ICMP)
		return;
	memset((uint8_t *)ip + header + 2, 0, 2);
	uint16_t sum = mr_checksum((uint8_t *)ip + header, total - header);
	memcpy((uint8_t *)ip + header + 2, &sum, 2);
}

static struct rte_mbuf *in_chain(struct fuzz *f, const uint8_t *frame, unsigned length)
{
	struct rte_mbuf *m = ring_rig_buffer(&f->rig, frame, length / 2);
	struct rte_mbuf *tail = ring_rig_buffer(&f->rig, frame + length / 2, length - length / 2);

	if (m == NULL || tail == NULL || rte_pktmbuf_chain(m, tail) != 0)
		fuzz_fail("no buffers for a frame");
	return m;
}

static void send_frame(struct fuzz *f, unsigned port, unsigned flags, uint8_t *frame,
		       unsigned length)
{
	static const uint8_t mac[5] = {2, 0, 0, 0, 0};
	struct rte_mbuf *m;

	if (f->sent == MAX_FRAMES)
		return;
	if (f->waiting == MAX_BURST)
		settle(f);
	if ((flags & FRAME_FOR_PORT) != 0 && length >= RTE_ETHER_ADDR_LEN) {
		memcpy(frame, mac, sizeof(mac));
		frame[5] = (uint8_t)port;
	}
	if ((flags & FRAME_CHECKSUM) != 0)
		fix_checksums(frame, length);
	if (port < FIRST_ROUTED)
		f->bridged[port][f->bridged_count[port]++] = hash(frame, length);
	m = (flags & FRAME_IN_CHAIN) != 0 ? in_chain(f, frame, length)
					  : ring_rig_buffer(&f->rig, frame, length);
	if (m == NULL || !ring_rig_put(&f->rig, port, m))
		fuzz_fail("no buffer for a frame");
	f->sent++;
	f->waiting++;
}

/* Takes a FRAME operation from the input. */
static void read_frame(struct fuzz *f, struct fuzz_input *input, unsigned operation)
{
	enum { MOST = 1900 }; /* fits a buffer */
	uint8_t frame[MOST];
	unsigned given = fuzz_byte(input), length = given;

	if ((operation & FRAME_FILLED) != 0)
		length = fuzz_byte(input) * 256u;
	if ((operation & FRAME_FILLED) != 0)
		length += fuzz_byte(input);
	length = RTE_MAX(length, given);
	length = RTE_MIN(length, (unsigned)MOST);
	memset(frame, 0xaa, sizeof(frame));
	fuzz_bytes(input, frame, given);
	send_frame(f, operation >> 2 & 3, operation, frame, length);
}

static void operate(struct fuzz *f, struct fuzz_input *input)
{
	static const unsigned unit[] = {1, 10, 100, 1000};
	unsigned operation = fuzz_byte(input), port = operation >> 2 & 3, ms;

	switch (operation & 3) {
	case FRAME:
		read_frame(f, input, operation);
		break;
	case RUN:
		settle(f);
		break;
	case TIME:
		ms = fuzz_byte(input);
		ms = (ms & 63) * unit[ms >> 6];
		f->time_ms += ms;
		if (f->time_ms <= MAX_TIME_MS)
			pass_time(f, ms);
		break;
	case LINK:
		if (f->links++ < MAX_LINKS)
			set_link(f, port, (operation >> 4 & 1) != 0);
		break;
	}
}

/* What lcores and ARP learned is forgotten when links go down. */
static void forget_learned(struct fuzz *f)
{
	for (unsigned port = 0; port < PORTS; port++)
		rte_eth_dev_set_link_down((uint16_t)port);
	pass_time(f, 200);
	for (unsigned port = 0; port < PORTS; port++)
		rte_eth_dev_set_link_up((uint16_t)port);
	pass_time(f, 3000); /* the announcements */
}

/* Links come up, timers run out. */
static void calm_down(struct fuzz *f)
{
	for (unsigned port = 0; port < PORTS; port++)
		set_link(f, port, true);
	for (unsigned ms = 0; ms < SETTLE_MS && mr_lcores_balance(f->rig.mr).held != 0; ms += 1000)
		pass_time(f, 1000);
	if (mr_lcores_balance(f->rig.mr).held != 0)
		fuzz_fail("packets are held for ever");
	forget_learned(f);
}

static void begin(struct fuzz *f)
{
	f->before = mr_lcores_balance(f->rig.mr);
	f->sent = f->taken = 0;
	f->waiting = f->links = f->time_ms = 0;
	memset(f->bridged_count, 0, sizeof(f->bridged_count));
}

static void end(struct fuzz *f)
{
	unsigned free_buffers = ring_rig_free_buffers(&f->rig);
	char *now = show(f);

	if (free_buffers != f->free_buffers)
		fuzz_fail("%u buffers are free, not %u", free_buffers, f->free_buffers);
	if (strcmp(now, f->configuration) != 0)
		fuzz_fail("was:\n%sis:\n%s", f->configuration, now);
	free(now);
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	struct fuzz *f = &the_fuzz;
	struct mr_error error = {0};

	(void)argc;
	(void)argv;
	fuzz_eal_start();
	if (ring_rig_create(&f->rig, PORTS, &error) != 0)
		fuzz_fail("%s", error.text);
	for (unsigned i = 0; i < RTE_DIM(configuration); i++)
		command(f, configuration[i]);
	for (unsigned port = 0; port < PORTS; port++)
		f->up[port] = true;
	begin(f);
	calm_down(f);
	f->free_buffers = ring_rig_free_buffers(&f->rig);
	f->configuration = show(f);
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz *f = &the_fuzz;
	struct fuzz_input input = {data, size};

	begin(f);
	while (input.left > 0)
		operate(f, &input);
	settle(f);
	calm_down(f);
	end(f);
	return 0;
}
