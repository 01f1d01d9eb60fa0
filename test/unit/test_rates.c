/* SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <rte_cycles.h>
#include <rte_malloc.h>

#include "lcore/lcores.h"
#include "lcore/rates.h"
#include "test_eal.h"

static struct mr_lcores lcores;
static struct mr mr = {.lcores = &lcores};

static int make_two_lcores(void **state)
{
	(void)state;
	lcores = (struct mr_lcores){.count = 2, .rates = mr_rates_create()};
	assert_non_null(lcores.rates);
	for (unsigned i = 0; i < 2; i++) {
		lcores.lcore[i] =
			rte_zmalloc("lcore", sizeof(struct mr_lcore), RTE_CACHE_LINE_SIZE);
		assert_non_null(lcores.lcore[i]);
	}
	return 0;
}

static int free_lcores(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 2; i++)
		rte_free(lcores.lcore[i]);
	mr_rates_destroy(lcores.rates);
	return 0;
}

static struct mr_counters *counters(unsigned lcore)
{
	return &lcores.lcore[lcore]->counters;
}

static void count(struct mr_traffic *traffic, uint64_t packets)
{
	traffic->packets += packets;
	traffic->bytes += packets * 60;
}

static void the_first_second_has_no_rate(void **state)
{
	(void)state;
	count(&counters(0)->rx[0][0], 1000000);
	mr_rates_poll(&mr, 5000);
	assert_int_equal(mr_rate_of_lcore(&mr, 0).rx_pps, 0);
	/* What was there before the first snapshot is in no rate. */
	mr_rates_poll(&mr, 6000);
	assert_int_equal(mr_rate_of_lcore(&mr, 0).rx_pps, 0);
}

static void rates_are_of_the_last_second_by_lcore_and_port(void **state)
{
	(void)state;
	mr_rates_poll(&mr, 0);
	count(&counters(0)->rx[0][0], 300);
	count(&counters(0)->rx[0][3], 100);
	count(&counters(0)->tx[1][0], 400);
	count(&counters(1)->rx[1][0], 50);
	mr_rates_poll(&mr, 999);
	assert_int_equal(mr_rate_of_lcore(&mr, 0).rx_pps, 0);
	mr_rates_poll(&mr, 1000);
	assert_int_equal(mr_rate_of_lcore(&mr, 0).rx_pps, 400);
	assert_int_equal(mr_rate_of_lcore(&mr, 0).tx_pps, 400);
	assert_int_equal(mr_rate_of_lcore(&mr, 0).rx_bps, 400 * 60 * 8);
	assert_int_equal(mr_rate_of_lcore(&mr, 1).rx_pps, 50);
	assert_int_equal(mr_rate_of_port(&mr, 0).rx_pps, 400);
	assert_int_equal(mr_rate_of_port(&mr, 1).rx_pps, 50);
	assert_int_equal(mr_rate_of_port(&mr, 1).tx_pps, 400);
	mr_rates_poll(&mr, 2000);
	assert_int_equal(mr_rate_of_lcore(&mr, 0).rx_pps, 0);
}

static void a_late_poll_divides_by_the_time_that_passed(void **state)
{
	(void)state;
	mr_rates_poll(&mr, 0);
	count(&counters(0)->rx[0][0], 1000);
	counters(0)->busy_cycles += rte_get_tsc_hz();
	mr_rates_poll(&mr, 4000);
	assert_int_equal(mr_rate_of_lcore(&mr, 0).rx_pps, 250);
	assert_int_equal(mr_rate_of_lcore(&mr, 0).busy_percent, 25);
	assert_int_equal(mr_rate_of_lcore(&mr, 0).cycles_per_packet, rte_get_tsc_hz() / 1000);
}

static void rates_stay_exact_at_any_size_of_counter(void **state)
{
	(void)state;
	counters(0)->rx[0][0] = (struct mr_traffic){UINT64_MAX - 10, UINT64_MAX - 600};
	mr_rates_poll(&mr, 0);
	count(&counters(0)->rx[0][0], 200000000);
	mr_rates_poll(&mr, 1000);
	assert_int_equal(mr_rate_of_lcore(&mr, 0).rx_pps, 200000000);
	assert_int_equal(mr_rate_of_lcore(&mr, 0).rx_bps, UINT64_C(200000000) * 480);
}

static void idle_and_overfull_seconds_stay_in_range(void **state)
{
	(void)state;
	mr_rates_poll(&mr, 0);
	mr_rates_poll(&mr, 1000);
	assert_int_equal(mr_rate_of_lcore(&mr, 0).cycles_per_packet, 0);
	assert_int_equal(mr_rate_of_lcore(&mr, 0).busy_percent, 0);
	counters(0)->busy_cycles += 2 * rte_get_tsc_hz();
	mr_rates_poll(&mr, 2000);
	assert_int_equal(mr_rate_of_lcore(&mr, 0).busy_percent, 100);
}

#define WITH_LCORES(test) cmocka_unit_test_setup_teardown(test, make_two_lcores, free_lcores)

int main(void)
{
	const struct CMUnitTest tests[] = {
		WITH_LCORES(the_first_second_has_no_rate),
		WITH_LCORES(rates_are_of_the_last_second_by_lcore_and_port),
		WITH_LCORES(a_late_poll_divides_by_the_time_that_passed),
		WITH_LCORES(rates_stay_exact_at_any_size_of_counter),
		WITH_LCORES(idle_and_overfull_seconds_stay_in_range),
	};
	test_eal_start("0");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
