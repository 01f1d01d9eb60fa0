/* SPDX-License-Identifier: BSD-3-Clause */
/* The generator's clockwork: when frames are due, and the search for the highest load. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <rte_common.h>

#include "pace.h"
#include "search.h"

#define HZ 2399997123ull        /* no round number */
#define START (UINT64_MAX - HZ) /* the counter wraps within a second */

static const uint64_t rates[] = {1, 999, 1000, 333333, 14880952381, 148809523810, 999999999999};

static void frames_are_due_without_drift(void **state)
{
	(void)state;
	for (unsigned i = 0; i < RTE_DIM(rates); i++) {
		struct pace pace;

		pace_start(&pace, START, rates[i], HZ);
		assert_int_equal(pace_due(&pace, START - 1), 0);
		assert_int_equal(pace_due(&pace, START), 1);
		for (uint64_t seconds = 1; seconds <= 1000000; seconds *= 10) {
			uint64_t due = pace_due(&pace, START + seconds * HZ);
			uint64_t exact =
				1 + (uint64_t)((unsigned __int128)seconds * rates[i] / 1000);
			/* After eleven days: one frame in 10^11 for each 2^-64 cut off. */
			if (due > exact || exact - due > 1 + exact / 10000000000ull)
				fail_msg("rate %lu, %lu s: %lu instead of %lu", rates[i], seconds,
					 due, exact);
		}
	}
}

/* A sender that looks every step cycles, for so many cycles; returns the frames sent in all. */
static uint64_t send(struct pace *pace, uint64_t step, uint64_t from, uint64_t cycles,
		     uint64_t sent, unsigned burst)
{
	for (uint64_t now = 0; now <= cycles; now += step)
		sent += pace_allow(pace, START + from + now, sent, burst);
	return sent;
}

static void a_sender_that_looks_now_and_then_keeps_the_rate(void **state)
{
	struct pace pace;

	(void)state;
	/* 1 Mpps, looked at every 10 us: ten frames at once. */
	pace_start(&pace, START, 1000000000, HZ);
	uint64_t sent = send(&pace, HZ / 100000, 0, HZ, 0, 32);
	assert_in_range(sent, 999980, 1000001);
	/* Slower than looks: one at a time. */
	pace_start(&pace, START, 1000000, HZ);
	assert_in_range(send(&pace, HZ / 100000, 0, HZ, 0, 32), 1000, 1001);
}

static void what_is_late_is_caught_up_at_twice_the_rate(void **state)
{
	struct pace pace;

	(void)state;
	pace_start(&pace, START, 100000000, HZ); /* 100 kpps */
	/* Interrupted for half a second, 50,000 frames are late. */
	uint64_t after = send(&pace, HZ / 1000000, HZ / 2, HZ / 10, 0, 32);
	assert_in_range(after, 19000, 20100);
	after = send(&pace, HZ / 1000000, HZ / 2 + HZ / 10, HZ / 2, after, 32);
	assert_in_range(after, 109900, 110001);
}

static void a_rate_of_the_link_counts_preamble_and_gap(void **state)
{
	(void)state;
	/* The well-known figures of 1 Gb/s Ethernet. */
	assert_int_equal(pace_rate_of_link(1000, 100000, 64000) / 1000, 1488095);
	assert_int_equal(pace_rate_of_link(1000, 100000, 1518000) / 1000, 81274);
	assert_int_equal(pace_rate_of_link(10000, 50000, 64000) / 1000, 7440476);
	/* Simple mix: (7 * 64 + 4 * 570 + 1518) / 12 octets. */
	assert_int_equal(pace_rate_of_link(1000, 100000, 353833) / 1000, 334373);
}

/* A device that takes so much, and a generator that can send so much. */
struct device {
	uint64_t capacity;
	unsigned trials, abort_at;
};

static enum search_verdict trial(uint64_t load, void *context)
{
	struct device *device = context;

	device->trials++;
	if (device->trials == device->abort_at)
		return SEARCH_ABORTED;
	return load <= device->capacity ? SEARCH_PASSED : SEARCH_FAILED;
}

static struct search_result find(struct device *device, uint64_t max, uint64_t resolution)
{
	struct search search = {max, resolution, trial, device};

	return search_run(&search);
}

static void the_search_finds_what_the_device_takes(void **state)
{
	(void)state;
	for (uint64_t capacity = 1; capacity <= 1000; capacity++) {
		struct device device = {.capacity = capacity};
		struct search_result result = find(&device, 1000, 1);
		assert_int_equal(result.load, capacity);
		assert_int_equal(result.trials, device.trials);
		assert_in_range(result.trials, 1, 11);
		device.trials = 0;
		result = find(&device, 1000, 5);
		assert_in_range(result.load, capacity > 4 ? capacity - 4 : 0, capacity);
	}
}

static void a_device_that_takes_all_is_tried_once(void **state)
{
	struct device device = {.capacity = 1000};

	(void)state;
	assert_int_equal(find(&device, 1000, 1).trials, 1);
}

static void a_device_that_takes_nothing_gives_0(void **state)
{
	struct device device = {.capacity = 0};

	(void)state;
	assert_int_equal(find(&device, 1000000, 1).load, 0);
	assert_int_equal(find(&device, 1, 1).load, 0);
}

static void a_search_can_be_aborted(void **state)
{
	struct device device = {.capacity = 500, .abort_at = 3};
	struct search_result result = find(&device, 1000, 1);

	(void)state;
	assert_true(result.aborted);
	assert_int_equal(device.trials, 3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(frames_are_due_without_drift),
		cmocka_unit_test(a_sender_that_looks_now_and_then_keeps_the_rate),
		cmocka_unit_test(what_is_late_is_caught_up_at_twice_the_rate),
		cmocka_unit_test(a_rate_of_the_link_counts_preamble_and_gap),
		cmocka_unit_test(the_search_finds_what_the_device_takes),
		cmocka_unit_test(a_device_that_takes_all_is_tried_once),
		cmocka_unit_test(a_device_that_takes_nothing_gives_0),
		cmocka_unit_test(a_search_can_be_aborted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
