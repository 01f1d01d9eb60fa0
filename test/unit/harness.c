/* SPDX-License-Identifier: BSD-3-Clause */
#include "harness.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "control/appliance.h"
#include "control/control.h"
#include "lcore/lcores.h"

static struct harness the_harness;

struct harness *harness(void)
{
	struct harness *h = &the_harness;
	struct mr_error error = {0};

	if (h->rig.mr == NULL && ring_rig_create(&h->rig, HARNESS_PORTS, &error) != 0)
		fail_msg("%s", error.text);
	return h;
}

int harness_destroy(void **state)
{
	(void)state;
	free(the_harness.configuration); /* of a case that failed */
	mr_appliance_destroy(the_harness.rig.mr);
	the_harness = (struct harness){0};
	return 0;
}

static uint64_t drops(struct harness *h, enum mr_drop_reason reason)
{
	uint64_t sum = 0;

	for (unsigned port = 0; port <= RTE_MAX_ETHPORTS; port++)
		sum += h->rig.mr->lcores->lcore[0]->counters.drop[port][reason] +
		       h->rig.mr->lcores->control->drop[port][reason];
	return sum;
}

static uint64_t consumed(struct harness *h)
{
	return h->rig.mr->lcores->lcore[0]->counters.consumed +
	       h->rig.mr->lcores->control->consumed;
}

char *harness_show(struct harness *h, const char *line)
{
	struct mr_reply reply;

	if (mr_control_execute(h->rig.mr, line, strlen(line), &reply) != 0)
		fail_msg("%s: %s", line, reply.error.text);
	char *text = json_dumps(reply.data, JSON_SORT_KEYS | JSON_ENCODE_ANY);
	mr_reply_clear(&reply);
	return text;
}

static char *configuration(struct harness *h)
{
	struct mr_error error = {0};
	char *text = ring_rig_configuration(&h->rig, &error);

	if (text == NULL)
		fail_msg("%s", error.text);
	return text;
}

void harness_begin(struct harness *h)
{
	harness_run(h);
	harness_expect_nothing(h);
	h->free_buffers = ring_rig_free_buffers(&h->rig);
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
	assert_int_equal(ring_rig_free_buffers(&h->rig), h->free_buffers);

	balance = mr_lcores_balance(h->rig.mr);
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
	if (mr_control_execute(h->rig.mr, line, (size_t)length, &reply) != 0)
		fail_msg("'%s' refused: %s", line, reply.error.text);
	mr_reply_clear(&reply);
}

void harness_refused(struct harness *h, int code, const char *line)
{
	char *before = configuration(h), *after;
	struct mr_reply reply;
	int rc = mr_control_execute(h->rig.mr, line, strlen(line), &reply);

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
	struct rte_mbuf *m = ring_rig_buffer(&h->rig, bytes, length);

	assert_non_null(m);
	return m;
}

void harness_burst(struct harness *h, unsigned port, const struct frame *frames, unsigned count)
{
	for (unsigned i = 0; i < count; i++)
		harness_send(h, port, &frames[i]);
}

void harness_send(struct harness *h, unsigned port, const struct frame *frame)
{
	assert_true(ring_rig_put(&h->rig, port, to_mbuf(h, frame->bytes, frame->length)));
}

void harness_send_chained(struct harness *h, unsigned port, const struct frame *frame)
{
	unsigned half = frame->length / 2;
	struct rte_mbuf *m = to_mbuf(h, frame->bytes, half);
	struct rte_mbuf *tail = to_mbuf(h, frame->bytes + half, frame->length - half);

	assert_int_equal(rte_pktmbuf_chain(m, tail), 0);
	assert_true(ring_rig_put(&h->rig, port, m));
}

void harness_run(struct harness *h)
{
	ring_rig_run(&h->rig);
}

void harness_advance(struct harness *h, uint64_t ms)
{
	ring_rig_advance(&h->rig, ms, 100);
}

void harness_link(struct harness *h, unsigned port, bool up)
{
	ring_rig_link(&h->rig, port, up);
}

bool harness_take(struct harness *h, unsigned port, struct frame *frame)
{
	struct rte_mbuf *m = ring_rig_take(&h->rig, port);

	if (m == NULL)
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

uint64_t harness_take_drops(struct harness *h, enum mr_drop_reason reason)
{
	uint64_t before = h->drops[reason];

	h->drops[reason] = drops(h, reason);
	return h->drops[reason] - before;
}

void harness_dropped(struct harness *h, enum mr_drop_reason reason, uint64_t count)
{
	uint64_t dropped = harness_take_drops(h, reason);

	if (dropped != count)
		fail_msg("%lu packets dropped as %s, not %lu", dropped, mr_drop_name(reason),
			 count);
}

void harness_consumed(struct harness *h, uint64_t count)
{
	uint64_t now = consumed(h);

	if (now - h->consumed != count)
		fail_msg("%lu packets consumed, not %lu", now - h->consumed, count);
	h->consumed = now;
}
