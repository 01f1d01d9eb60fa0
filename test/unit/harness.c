/* SPDX-License-Identifier: BSD-3-Clause */
#include "harness.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_eth_ring.h>
#include <rte_mempool.h>

#include "base/rcu.h"
#include "control/appliance.h"
#include "control/control.h"

#define RING_SIZE 1024

static struct harness the_harness;

static struct rte_ring *make_ring(const char *kind, unsigned port)
{
	char name[RTE_RING_NAMESIZE];

	snprintf(name, sizeof(name), "harness_%s%u", kind, port);
	struct rte_ring *ring = rte_ring_create(name, RING_SIZE, SOCKET_ID_ANY, 0);
	assert_non_null(ring);
	return ring;
}

static void name_port(struct harness *h, unsigned port)
{
	struct rte_ether_addr mac = {.addr_bytes = {2, 0, 0, 0, 0, (uint8_t)port}};
	struct mr_error error = {0};

	if (mr_port_set_mac(h->mr, mr_port(h->mr, (uint16_t)port), &mac, &error) != 0)
		fail_msg("%s", error.text);
}

struct harness *harness(void)
{
	struct harness *h = &the_harness;
	static const unsigned lcores[] = {1};
	struct mr_appliance_options options = {
		.lcores = lcores,
		.lcore_count = 1,
		.forward_mode = MR_MODE_NONE,
		.max_stations = 1024,
		.router.max_routes = 4096,
		.port.total_num_mbufs = 4095,
		.port.mbuf_size = 2048 + 128,
	};
	struct mr_error error = {0};

	if (h->mr != NULL)
		return h;
	for (unsigned port = 0; port < HARNESS_PORTS; port++) {
		char name[16];

		snprintf(name, sizeof(name), "harness%u", port);
		h->rx[port] = make_ring("rx", port);
		h->tx[port] = make_ring("tx", port);
		assert_int_equal(rte_eth_from_rings(name, &h->rx[port], 1, &h->tx[port], 1, 0),
				 port);
	}
	h->mr = mr_appliance_create(&options, &error);
	if (h->mr == NULL)
		fail_msg("%s", error.text);
	for (unsigned port = 0; port < HARNESS_PORTS; port++)
		name_port(h, port);
	mr_lcores_adopt(h->mr);
	h->now_ms = 1000000;
	harness_advance(h, 1000);
	return h;
}

static struct rte_mempool *pool(struct harness *h)
{
	return mr_ports_host_pool(h->mr);
}

/* Buffers that wait in the caches of this thread are as free as the others. */
static unsigned free_buffers(struct harness *h)
{
	return rte_mempool_avail_count(pool(h));
}

static uint64_t drops(struct harness *h, enum mr_drop_reason reason)
{
	uint64_t sum = 0;

	for (unsigned port = 0; port <= RTE_MAX_ETHPORTS; port++)
		sum += h->mr->lcores->lcore[0]->counters.drop[port][reason] +
		       h->mr->lcores->control->drop[port][reason];
	return sum;
}

static uint64_t consumed(struct harness *h)
{
	return h->mr->lcores->lcore[0]->counters.consumed + h->mr->lcores->control->consumed;
}

char *harness_show(struct harness *h, const char *line)
{
	struct mr_reply reply;

	if (mr_control_execute(h->mr, line, strlen(line), &reply) != 0)
		fail_msg("%s: %s", line, reply.error.text);
	char *text = json_dumps(reply.data, JSON_SORT_KEYS | JSON_ENCODE_ANY);
	mr_reply_clear(&reply);
	return text;
}

static char *configuration(struct harness *h)
{
	static const char *const commands[] = {"show bridge", "show station", "show address",
					       "show route", "show neighbour"};
	char *all = calloc(1, 1), *grown;

	for (unsigned i = 0; i < sizeof(commands) / sizeof(commands[0]); i++) {
		char *part = harness_show(h, commands[i]);

		assert_true(asprintf(&grown, "%s%s: %s\n", all, commands[i], part) >= 0);
		free(all);
		free(part);
		all = grown;
	}
	return all;
}

void harness_begin(struct harness *h)
{
	harness_run(h);
	harness_expect_nothing(h);
	h->free_buffers = free_buffers(h);
	for (unsigned reason = 0; reason < MR_DROP_COUNT; reason++)
		h->drops[reason] = drops(h, reason);
	h->consumed = consumed(h);
	h->configuration = configuration(h);
}

void harness_end(struct harness *h)
{
	struct mr_balance balance;
	char *now;

	harness_run(h);
	harness_expect_nothing(h);
	for (unsigned reason = 0; reason < MR_DROP_COUNT; reason++)
		harness_dropped(h, reason, 0);
	harness_consumed(h, 0);
	assert_int_equal(free_buffers(h), h->free_buffers);

	balance = mr_lcores_balance(h->mr);
	assert_int_equal(balance.held, 0);
	assert_int_equal(balance.received + balance.originated + balance.copied,
			 balance.transmitted + balance.consumed + balance.dropped + balance.held);

	now = configuration(h);
	assert_string_equal(now, h->configuration);
	free(now);
	free(h->configuration);
	h->configuration = NULL;
}

void harness_command(struct harness *h, const char *format, ...)
{
	char line[4096];
	struct mr_reply reply;
	va_list args;

	va_start(args, format);
	int length = vsnprintf(line, sizeof(line), format, args);
	va_end(args);
	if (mr_control_execute(h->mr, line, (size_t)length, &reply) != 0)
		fail_msg("'%s' refused: %s", line, reply.error.text);
	mr_reply_clear(&reply);
}

void harness_refused(struct harness *h, int code, const char *line)
{
	char *before = configuration(h), *after;
	struct mr_reply reply;
	int rc = mr_control_execute(h->mr, line, strlen(line), &reply);

	if (rc != code)
		fail_msg("'%s' gave %d (%s), not %d", line, rc, reply.error.text, code);
	assert_true(reply.error.text[0] != '\0');
	mr_reply_clear(&reply);
	after = configuration(h);
	assert_string_equal(after, before);
	free(before);
	free(after);
}

static struct rte_mbuf *to_mbuf(struct harness *h, const uint8_t *bytes, unsigned length)
{
	struct rte_mbuf *m = rte_pktmbuf_alloc(pool(h));

	assert_non_null(m);
	/* What was in the buffer before must not matter. */
	memset(m->buf_addr, 0x5c, m->buf_len);
	char *data = rte_pktmbuf_append(m, (uint16_t)length);
	assert_non_null(data);
	memcpy(data, bytes, length);
	return m;
}

void harness_burst(struct harness *h, unsigned port, const struct frame *frames, unsigned count)
{
	for (unsigned i = 0; i < count; i++)
		harness_send(h, port, &frames[i]);
}

void harness_send(struct harness *h, unsigned port, const struct frame *frame)
{
	struct rte_mbuf *m = to_mbuf(h, frame->bytes, frame->length);

	m->port = RTE_MBUF_PORT_INVALID; /* ring ports do not write it */
	assert_int_equal(rte_ring_enqueue(h->rx[port], m), 0);
}

void harness_send_chained(struct harness *h, unsigned port, const struct frame *frame)
{
	unsigned half = frame->length / 2;
	struct rte_mbuf *m = to_mbuf(h, frame->bytes, half);
	struct rte_mbuf *tail = to_mbuf(h, frame->bytes + half, frame->length - half);

	assert_int_equal(rte_pktmbuf_chain(m, tail), 0);
	assert_int_equal(rte_ring_enqueue(h->rx[port], m), 0);
}

void harness_run(struct harness *h)
{
	unsigned quiet = 0;

	/* Two quiet rounds: one starts the grace periods of what was deferred, the next ends them.
	 */
	while (quiet < 3) {
		unsigned count = mr_appliance_poll(h->mr, h->now_ms);

		h->tsc += 1000;
		count += mr_lcore_iteration(h->mr->lcores->lcore[0], h->tsc);
		quiet = count == 0 ? quiet + 1 : 0;
	}
}

void harness_advance(struct harness *h, uint64_t ms)
{
	while (ms > 0) {
		uint64_t step = ms > 100 ? 100 : ms;

		h->now_ms += step;
		ms -= step;
		harness_run(h);
	}
}

void harness_link(struct harness *h, unsigned port, bool up)
{
	struct rte_eth_dev_info info;
	(void)info;
	if (up)
		rte_eth_dev_set_link_up((uint16_t)port);
	else
		rte_eth_dev_set_link_down((uint16_t)port);
	harness_advance(h, 200);
}

bool harness_take(struct harness *h, unsigned port, struct frame *frame)
{
	struct rte_mbuf *m;

	if (rte_ring_dequeue(h->tx[port], (void **)&m) != 0)
		return false;
	assert_int_equal(m->nb_segs, 1);
	assert_int_equal(m->pkt_len, m->data_len);
	assert_true(m->data_len <= sizeof(frame->bytes));
	frame->length = m->data_len;
	memcpy(frame->bytes, rte_pktmbuf_mtod(m, void *), m->data_len);
	rte_pktmbuf_free(m);
	return true;
}

static void print_frame(const char *what, const struct frame *frame)
{
	fprintf(stderr, "%s (%u bytes):", what, frame->length);
	for (unsigned i = 0; i < frame->length; i++)
		fprintf(stderr, "%s%02x", i % 16 == 0 ? "\n  " : " ", frame->bytes[i]);
	fprintf(stderr, "\n");
}

void harness_expect(struct harness *h, unsigned port, const struct frame *frame)
{
	struct frame got;

	if (!harness_take(h, port, &got)) {
		print_frame("expected", frame);
		fail_msg("no frame on port %u", port);
	}
	if (got.length != frame->length || memcmp(got.bytes, frame->bytes, got.length) != 0) {
		print_frame("expected", frame);
		print_frame("got", &got);
		fail_msg("another frame on port %u", port);
	}
}

void harness_expect_nothing(struct harness *h)
{
	struct frame frame;

	for (unsigned port = 0; port < HARNESS_PORTS; port++) {
		if (harness_take(h, port, &frame)) {
			print_frame("not expected", &frame);
			fail_msg("a frame on port %u", port);
		}
	}
}

void harness_dropped(struct harness *h, enum mr_drop_reason reason, uint64_t count)
{
	uint64_t now = drops(h, reason);

	if (now - h->drops[reason] != count)
		fail_msg("%lu packets dropped as %s, not %lu", now - h->drops[reason],
			 mr_drop_name(reason), count);
	h->drops[reason] = now;
}

void harness_consumed(struct harness *h, uint64_t count)
{
	uint64_t now = consumed(h);

	if (now - h->consumed != count)
		fail_msg("%lu packets consumed, not %lu", now - h->consumed, count);
	h->consumed = now;
}
