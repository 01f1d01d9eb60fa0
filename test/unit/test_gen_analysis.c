/* SPDX-License-Identifier: BSD-3-Clause */
/* What the generator makes of frames that arrive, compared with models that remember everything. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <rte_common.h>
#include <rte_mbuf.h>

#include "histogram.h"
#include "receive.h"
#include "sequence.h"
#include "stream.h"

static uint64_t random_state = 88172645463325252ull;

static uint64_t random_below(uint64_t bound)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return random_state % bound;
}

static void receive_all(struct sequence *stream, const uint32_t *numbers, unsigned count)
{
	*stream = (struct sequence){0};
	for (unsigned i = 0; i < count; i++)
		sequence_receive(stream, numbers[i]);
}

static void a_late_frame_is_reordered_and_those_before_it_are_not(void **state)
{
	/* RFC 4737 section 3.4: only 2 arrives below the number that is expected. */
	static const uint32_t numbers[] = {0, 1, 3, 4, 2, 5};
	struct sequence stream;

	(void)state;
	receive_all(&stream, numbers, RTE_DIM(numbers));
	assert_int_equal(stream.received, 6);
	assert_int_equal(stream.reordered, 1);
	assert_int_equal(stream.distance, 3);
	assert_int_equal(stream.duplicates, 0);
}

static void a_second_copy_is_a_duplicate_and_not_reordered(void **state)
{
	static const uint32_t numbers[] = {0, 1, 1, 0, 4, 2, 2, 4};
	struct sequence stream;

	(void)state;
	receive_all(&stream, numbers, RTE_DIM(numbers));
	assert_int_equal(stream.received, 4);
	assert_int_equal(stream.duplicates, 4);
	assert_int_equal(stream.reordered, 1);
}

static void the_window_ends_where_it_says(void **state)
{
	static const uint32_t numbers[] = {0, SEQUENCE_WINDOW, 1, 1, 0};
	struct sequence stream;

	(void)state;
	receive_all(&stream, numbers, RTE_DIM(numbers));
	/* 1 is the oldest number that is remembered; whether 0 came already is not known any more.
	 */
	assert_int_equal(stream.duplicates, 1);
	assert_int_equal(stream.received, 4);
	assert_int_equal(stream.reordered, 2);
	assert_int_equal(stream.late, 1);
}

static void numbers_go_on_after_32_bits(void **state)
{
	struct sequence stream = {.next = UINT32_MAX};

	(void)state;
	sequence_receive(&stream, UINT32_MAX);
	sequence_receive(&stream, 1);
	sequence_receive(&stream, 0);
	sequence_receive(&stream, UINT32_MAX);
	assert_int_equal(stream.next, UINT32_MAX + 3ull);
	assert_int_equal(stream.received, 3);
	assert_int_equal(stream.reordered, 1);
	assert_int_equal(stream.duplicates, 1);
}

/* Remembers every number. */
struct sequence_model {
	bool seen[1 << 17];
	uint64_t next, received, reordered, late, duplicates;
};

static void model_receive(struct sequence_model *model, uint32_t number)
{
	bool late = number + (uint64_t)SEQUENCE_WINDOW < model->next;

	if (model->seen[number] && !late) {
		model->duplicates++;
		return;
	}
	model->received++;
	model->reordered += number < model->next;
	model->late += late;
	model->seen[number] = true;
	model->next = RTE_MAX(model->next, number + 1ull);
}

static void sequences_are_as_the_model_has_them(void **state)
{
	static struct sequence_model model;
	struct sequence stream = {0};

	(void)state;
	for (unsigned i = 0; i < 200000 && model.next < RTE_DIM(model.seen) - 4096; i++) {
		uint64_t jump = random_below(1000) == 0 ? random_below(3000) : random_below(3);
		uint64_t back = random_below(10) == 0 ? random_below(1400) : 0;
		uint64_t number = model.next + jump > back ? model.next + jump - back : 0;
		model_receive(&model, (uint32_t)number);
		sequence_receive(&stream, (uint32_t)number);
		assert_int_equal(stream.next, model.next);
		assert_int_equal(stream.received, model.received);
		assert_int_equal(stream.reordered, model.reordered);
		assert_int_equal(stream.duplicates, model.duplicates);
		assert_int_equal(stream.late, model.late);
	}
	assert_true(model.late > 100 && model.duplicates > 100 && model.reordered > 1000);
}

static int compare(const void *a, const void *b)
{
	uint64_t left = *(const uint64_t *)a, right = *(const uint64_t *)b;

	return left < right ? -1 : left > right;
}

static void quantiles_are_those_of_the_sorted_values(void **state)
{
	static const unsigned wanted[] = {1, 10, 250, 500, 900, 990, 999, 1000};
	static struct histogram histogram;
	static uint64_t values[9973];
	uint64_t sum = 0;

	(void)state;
	histogram_reset(&histogram);
	for (unsigned i = 0; i < RTE_DIM(values); i++) {
		values[i] = random_below(1ull << random_below(39)) + 1;
		sum += values[i];
		histogram_add(&histogram, values[i]);
	}
	qsort(values, RTE_DIM(values), sizeof(values[0]), compare);
	for (unsigned i = 0; i < RTE_DIM(wanted); i++) {
		uint64_t rank = (RTE_DIM(values) * wanted[i] + 999) / 1000;
		uint64_t exact = values[rank - 1];
		uint64_t found = histogram_quantile(&histogram, wanted[i]);
		if (found < exact || found > exact + exact / 128)
			fail_msg("%u: %lu instead of %lu", wanted[i], found, exact);
	}
	assert_int_equal(histogram.min, values[0]);
	assert_int_equal(histogram.max, values[RTE_DIM(values) - 1]);
	assert_true(histogram_mean(&histogram) == (double)sum / RTE_DIM(values));
}

static void histograms_hold_any_value_and_merge(void **state)
{
	static struct histogram low, high;

	(void)state;
	histogram_reset(&low);
	histogram_reset(&high);
	assert_int_equal(histogram_quantile(&low, 500), 0);
	histogram_add(&low, 0);
	histogram_add(&high, UINT64_MAX);
	histogram_merge(&low, &high);
	assert_int_equal(low.count, 2);
	assert_int_equal(low.min, 0);
	assert_int_equal(low.max, UINT64_MAX);
	assert_int_equal(histogram_quantile(&low, 500), 0);
	assert_int_equal(histogram_quantile(&low, 990), UINT64_MAX);
}

/* Frames of a direction that go through a device which loses, copies and delays them. */
#define FRAMES 20000
#define MARK 0x1234
#define STREAMS 7

struct sent_frame {
	uint16_t length;
	uint8_t bytes[STREAM_MAX_LENGTH];
};

struct fixture {
	struct receive receive;
	struct arp_station station;
	struct sent_frame frame[FRAMES];
};

static struct fixture fixture;

static struct stream_set *make_set(bool reverse)
{
	struct stream_config config = {.sizes = {1, {{64, 1}}},
				       .src_mac = {0x020000000001, 1},
				       .dst_mac = {0x020000000002, 1},
				       .reverse = reverse,
				       .streams = STREAMS};
	struct mr_error error = {0};
	struct stream_set *set;

	assert_int_equal(addr_range_parse("198.18.0.2", &config.src), 0);
	assert_int_equal(addr_range_parse("198.19.0.2-198.19.0.8", &config.dst), 0);
	assert_int_equal(port_range_parse("1000", &config.src_port), 0);
	assert_int_equal(port_range_parse("9", &config.dst_port), 0);
	if (stream_set_create(&config, &set, &error) != 0)
		fail_msg("%s", error.text);
	return set;
}

static void write_frames(bool reverse, uint16_t mark)
{
	struct stream_set *set = make_set(reverse);
	struct stream_cursor cursor;
	bool tagged;

	assert_int_equal(stream_cursor_create(set, &cursor), 0);
	for (unsigned i = 0; i < FRAMES; i++)
		fixture.frame[i].length =
			stream_write(&cursor, mark, 1000 + i, fixture.frame[i].bytes, &tagged);
	stream_cursor_destroy(&cursor);
	stream_set_destroy(set);
}

static int start_receiving(void **state)
{
	static struct sequence sequence[STREAMS];

	(void)state;
	memset(&fixture, 0, sizeof(fixture));
	memset(sequence, 0, sizeof(sequence));
	fixture.receive = (struct receive){.station = &fixture.station,
					   .mark = MARK,
					   .streams = STREAMS,
					   .sequence = sequence,
					   .verify = true};
	histogram_reset(&fixture.receive.latency);
	write_frames(false, MARK);
	return 0;
}

static void arrive(struct sent_frame *frame, uint64_t now)
{
	struct rte_mbuf mbuf = {.buf_addr = frame->bytes,
				.data_len = frame->length,
				.pkt_len = frame->length,
				.nb_segs = 1};

	assert_false(receive_frame(&fixture.receive, &mbuf, now));
}

static struct sequence total(void)
{
	struct sequence sum = {0};

	for (unsigned i = 0; i < STREAMS; i++) {
		sum.received += fixture.receive.sequence[i].received;
		sum.reordered += fixture.receive.sequence[i].reordered;
		sum.duplicates += fixture.receive.sequence[i].duplicates;
	}
	return sum;
}

static void faults_are_found_to_the_frame(void **state)
{
	unsigned lost = 0, copied = 0, delayed = 0, held = FRAMES;

	(void)state;
	for (unsigned i = 0; i < FRAMES; i++) {
		/* The one that is held goes after the next of its stream. */
		if (held < FRAMES && i == held + STREAMS) {
			arrive(&fixture.frame[i], 2000 + i);
			arrive(&fixture.frame[held], 2000 + held);
			held = FRAMES;
			delayed++;
			continue;
		}
		uint64_t fate = random_below(50);
		if (fate == 0) {
			lost++;
			continue;
		}
		if (fate == 1 && held == FRAMES && i + STREAMS < FRAMES) {
			held = i;
			continue;
		}
		arrive(&fixture.frame[i], 2000 + i);
		if (fate == 2) {
			arrive(&fixture.frame[i], 9000 + i);
			copied++;
		}
	}
	struct sequence sum = total();
	assert_int_equal(sum.received, FRAMES - lost);
	assert_int_equal(sum.duplicates, copied);
	assert_int_equal(sum.reordered, delayed);
	assert_int_equal(fixture.receive.tagged, FRAMES - lost + copied);
	assert_true(lost > 200 && copied > 200 && delayed > 100);
	/* Every frame took 1000 cycles; copies do not count. */
	assert_int_equal(fixture.receive.latency.min, 1000);
	assert_int_equal(fixture.receive.latency.max, 1000);
	assert_int_equal(fixture.receive.latency.count, FRAMES - lost);
}

static void a_changed_frame_is_no_frame(void **state)
{
	(void)state;
	arrive(&fixture.frame[0], 5000);
	for (unsigned at = 22; at < fixture.frame[1].length; at++) {
		/* TTL, addresses, ports, payload and tag: the checksums cover all of it. */
		fixture.frame[1].bytes[at] ^= 0x10;
		arrive(&fixture.frame[1], 5000);
		fixture.frame[1].bytes[at] ^= 0x10;
	}
	assert_int_equal(total().received, 1);
	assert_true(fixture.receive.bad_checksums > 30);
	arrive(&fixture.frame[1], 5000);
	assert_int_equal(total().received, 2);
}

static void frames_of_others_do_not_count(void **state)
{
	(void)state;
	write_frames(false, MARK - 1);
	arrive(&fixture.frame[0], 5000);
	assert_int_equal(fixture.receive.other, 1);
	write_frames(true, MARK);
	arrive(&fixture.frame[0], 5000);
	assert_int_equal(fixture.receive.strayed, 1);
	memset(fixture.frame[0].bytes + 12, 0xff, 2);
	arrive(&fixture.frame[0], 5000);
	assert_int_equal(fixture.receive.other, 2);
	assert_int_equal(fixture.receive.tagged, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_late_frame_is_reordered_and_those_before_it_are_not),
		cmocka_unit_test(a_second_copy_is_a_duplicate_and_not_reordered),
		cmocka_unit_test(the_window_ends_where_it_says),
		cmocka_unit_test(numbers_go_on_after_32_bits),
		cmocka_unit_test(sequences_are_as_the_model_has_them),
		cmocka_unit_test(quantiles_are_those_of_the_sorted_values),
		cmocka_unit_test(histograms_hold_any_value_and_merge),
		cmocka_unit_test_setup(faults_are_found_to_the_frame, start_receiving),
		cmocka_unit_test_setup(a_changed_frame_is_no_frame, start_receiving),
		cmocka_unit_test_setup(frames_of_others_do_not_count, start_receiving),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
