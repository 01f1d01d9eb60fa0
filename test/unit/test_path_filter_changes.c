/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Rules that change under traffic, with the forwarding lcore on a thread of its own and what is
 * compiled on another. Two sets take turns. Each marks packets at input with a DSCP of its own,
 * denies at output what bears the other's, and denies ports that the other lets pass. So a packet
 * shows which set it met, and one that met both, or none, would be missed or seen where it may not
 * be.
 *
 * MR_FILTER_CHANGE_SECONDS says for how long; the usual run takes a second each.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <rte_cycles.h>
#include <rte_log.h>

#include "control/appliance.h"
#include "control/control.h"
#include "filter/filter.h"
#include "lcore/lcores.h"
#include "test_eal.h"
#include "wire.h"

enum { BURST = 16, IN_FLIGHT = 512, DSCP_A = 10, DSCP_B = 20, BOTH = 3500, EXCHANGES = 4 };

/* Ports that one set denies: A those of 1000 to 1999, B those of 2000 to 2999. */
static const uint16_t ports[] = {1500, 2500, BOTH};

static void write_rules(char *path, unsigned rules, unsigned own, unsigned other, unsigned denied)
{
	strcpy(path, "/tmp/millrace-rules-XXXXXX");
	FILE *file = fdopen(mkstemp(path), "w");

	assert_non_null(file);
	for (unsigned i = 0; i < rules - 3; i++)
		fprintf(file, "add %u deny tcp from 172.%u.%u.%u to 10.0.0.0/8 %u\n", 100 + i,
			16 + own % 8, i >> 8 & 255, i & 255, 1 + i % 60000);
	fprintf(file, "add 200000 deny udp from any to any %u-%u in\n", denied, denied + 999);
	fprintf(file, "add 200001 set-dscp %u udp from any to any in\n", own);
	fprintf(file, "add 200002 deny udp from any to any out dscp %u\n", other);
	fclose(file);
}

struct under_way {
	bool answered;
	int rc;
	char text[256];
};

static void on_answer(int rc, const struct mr_reply *reply, void *context)
{
	struct under_way *u = context;

	u->answered = true;
	u->rc = rc;
	snprintf(u->text, sizeof(u->text), "%s", reply->error.text);
}

static int submit(struct wire *w, struct under_way *u, const char *line)
{
	struct mr_reply reply;
	int rc = mr_control_submit(w->mr, line, strlen(line), &reply, on_answer, u);

	mr_reply_clear(&reply);
	return rc;
}

static void submit_load(struct wire *w, struct under_way *u, const char *path)
{
	char line[128];

	*u = (struct under_way){0};
	snprintf(line, sizeof(line), "filter load %s", path);
	assert_int_equal(submit(w, u, line), -EINPROGRESS);
}

/* Between its rounds the program's control thread waits for what its descriptors bring, so that
 * other threads may run where it does. */
static void wait_as_program(void)
{
	usleep(200);
}

static void wait_for_answer(struct wire *w, struct under_way *u)
{
	while (!u->answered) {
		mr_appliance_poll(w->mr, wire_now_ms());
		wait_as_program();
	}
	if (u->rc != 0)
		fail_msg("%s", u->text);
}

/* What came out: by DSCP that it bears and port that it is for. */
struct seen {
	uint64_t a[RTE_DIM(ports)], b[RTE_DIM(ports)], other;
};

static void receive(struct wire *w, struct seen *seen)
{
	struct rte_mbuf *m;

	while (rte_ring_sc_dequeue(w->tx[1], (void **)&m) == 0) {
		const uint8_t *ip = rte_pktmbuf_mtod_offset(m, const uint8_t *, 14);
		unsigned dscp = ip[1] >> 2, port = ip[22] * 256u + ip[23], kind = 0;

		while (kind < RTE_DIM(ports) && ports[kind] != port)
			kind++;
		if (ip[-2] != 0x08 || ip[-1] != 0x00) { /* announcements */
			rte_pktmbuf_free(m);
			continue;
		}
		if (kind == RTE_DIM(ports) || (dscp != DSCP_A && dscp != DSCP_B))
			seen->other++;
		else
			(dscp == DSCP_A ? seen->a : seen->b)[kind]++;
		w->received++;
		rte_pktmbuf_free(m);
	}
}

static uint64_t denied(const struct wire *w)
{
	uint64_t sum = 0;

	for (unsigned port = 0; port < WIRE_PORTS; port++)
		sum += mr_counter_read(
			&w->mr->lcores->lcore[0]->counters.drop[port][MR_DROP_filter_denied]);
	return sum;
}

/* Goes on until at most so many are on their way. */
static void wait_for_packets(struct wire *w, struct seen *seen, uint64_t denied_before,
			     unsigned left)
{
	uint64_t stop = wire_now_ms() + 10000;

	do {
		mr_appliance_poll(w->mr, wire_now_ms());
		receive(w, seen);
		if (wire_now_ms() < stop)
			continue;
		for (unsigned reason = 0; reason < MR_DROP_COUNT; reason++)
			if (w->mr->lcores->lcore[0]->counters.drop[0][reason] +
				    w->mr->lcores->lcore[0]->counters.drop[1][reason] !=
			    0)
				printf("dropped: %s\n", mr_drop_name(reason));
		fail_msg("%lu of %lu are lost", w->sent - w->received - (denied(w) - denied_before),
			 w->sent);
	} while (w->sent - w->received - (denied(w) - denied_before) > left);
}

static unsigned seconds(void)
{
	const char *wanted = getenv("MR_FILTER_CHANGE_SECONDS");

	return wanted != NULL ? (unsigned)strtoul(wanted, NULL, 10) : 1;
}

static void begin(struct wire *w)
{
	wire_command(w, "address add 10.0.0.1/24 port 0");
	wire_command(w, "address add 10.0.1.1/24 port 1");
	wire_command(w, "neighbour add 10.0.1.2 mac 02:00:00:00:09:01 port 1");
}

static void end(struct wire *w)
{
	wire_command(w, "filter flush");
	wire_command(w, "neighbour del 10.0.1.2");
	wire_command(w, "address del 10.0.0.1/24 port 0");
	wire_command(w, "address del 10.0.1.1/24 port 1");
}

/* Two sets take turns, period_ms apart, or as soon as they are compiled. */
static void exchange(struct wire *w, unsigned rules, unsigned period_ms)
{
	char path[2][32];
	struct frame frame[RTE_DIM(ports)];
	struct seen seen = {0};
	struct under_way load;
	uint64_t sent[RTE_DIM(ports)] = {0}, before, stop, next, exchanges = 0;

	begin(w);
	write_rules(path[0], rules, DSCP_A, DSCP_B, 1000);
	write_rules(path[1], rules, DSCP_B, DSCP_A, 2000);
	submit_load(w, &load, path[0]);
	wait_for_answer(w, &load);
	for (unsigned i = 0; i < RTE_DIM(ports); i++)
		frame[i] = IPV4(.to = "02:00:00:00:00:00", .from = "02:00:00:00:09:00",
				.src = "10.0.0.2", .dst = "10.0.1.2", .dport = ports[i]);
	before = denied(w);
	w->sent = w->received = 0;
	stop = wire_now_ms() + seconds() * 1000;
	next = wire_now_ms();
	for (uint64_t now = next; now < stop || exchanges < EXCHANGES || !load.answered;
	     now = wire_now_ms()) {
		if (load.answered && now >= next && (now < stop || exchanges < EXCHANGES)) {
			assert_int_equal(load.rc, 0);
			submit_load(w, &load, path[++exchanges % 2]);
			next += period_ms;
		}
		for (unsigned i = 0; i < BURST; i++) {
			wire_send(w, 0, &frame[w->sent % RTE_DIM(ports)]);
			sent[(w->sent - 1) % RTE_DIM(ports)]++;
		}
		wait_for_packets(w, &seen, before, IN_FLIGHT);
		wait_as_program();
	}
	wait_for_packets(w, &seen, before, 0);
	printf("%u rules: %lu exchanges, %lu packets\n", rules, exchanges, w->sent);
	/* Nothing is lost but what rules deny, and no packet met two sets. */
	assert_int_equal(w->received + denied(w) - before, w->sent);
	assert_int_equal(mr_lcores_balance(w->mr).dropped, denied(w));
	assert_int_equal(seen.other, 0);
	assert_int_equal(seen.a[0], 0);
	assert_int_equal(seen.b[1], 0);
	assert_int_equal(seen.a[2] + seen.b[2], sent[2]);
	/* Each had its turn. */
	assert_true(seen.a[1] > 0 && seen.b[0] > 0);
	for (unsigned i = 0; i < 2; i++)
		unlink(path[i]);
	end(w);
}

static void two_sets_exchanged_ten_times_a_second_never_mix(void **state)
{
	exchange(*state, 100, 100);
}

static void many_rules_reloaded_without_a_pause_never_mix(void **state)
{
	exchange(*state, 10000, 0);
}

/* While 100,000 rules are compiled the control thread does other things. */
static void the_control_thread_goes_on_while_rules_are_compiled(void **state)
{
	struct wire *w = *state;
	struct under_way load, other;
	uint64_t start, longest = 0, longest_poll = 0, all, rounds = 0;
	char path[32];

	write_rules(path, MR_FILTER_MAX_RULES, DSCP_A, DSCP_B, 1000);
	wire_command(w, "filter add 7 count ip from any to any");
	start = rte_rdtsc();
	submit_load(w, &load, path);
	while (!load.answered) {
		uint64_t round = rte_rdtsc();

		assert_int_equal(submit(w, &other, "filter show"), 0);
		/* Another change would rest upon rules that are about to go. */
		assert_int_equal(submit(w, &other, "filter add 8 deny ip from any to any"), -EBUSY);
		assert_int_equal(submit(w, &other, "filter load /dev/null"), -EBUSY);
		round = rte_rdtsc() - round;
		longest = RTE_MAX(longest, round);
		assert_int_equal(w->mr->filter->set->count, 1);
		uint64_t poll = rte_rdtsc();
		mr_appliance_poll(w->mr, wire_now_ms());
		poll = rte_rdtsc() - poll;
		longest_poll = RTE_MAX(longest_poll, poll);
		rounds++;
		wait_as_program();
	}
	all = rte_rdtsc() - start;
	assert_int_equal(load.rc, 0);
	assert_int_equal(w->mr->filter->set->count, MR_FILTER_MAX_RULES);
	printf("compiled in %lu ms; an answer took at most %lu us, a round %lu us\n",
	       all * 1000 / rte_get_tsc_hz(), longest * 1000000 / rte_get_tsc_hz(),
	       longest_poll * 1000000 / rte_get_tsc_hz());
	assert_true(rounds > 10);
	assert_true(longest < all / 10 && longest_poll < all / 4);
	unlink(path);
	wire_command(w, "filter flush");
}

static void nobody_need_wait_for_the_end(void **state)
{
	struct wire *w = *state;
	struct under_way load;
	char path[32];

	write_rules(path, 20000, DSCP_A, DSCP_B, 1000);
	submit_load(w, &load, path);
	mr_control_forget(w->mr->control, &load);
	mr_control_settle(w->mr);
	assert_false(load.answered);
	assert_int_equal(w->mr->filter->set->count, 20000);
	/* What is still under way when the program ends ends with it. */
	submit_load(w, &load, path);
	mr_control_forget(w->mr->control, &load);
}

static unsigned own_addresses(const struct wire *w)
{
	return w->mr->filter->set->addresses[MR_FILTER_ME]->count;
}

/* Rules that name the appliance's addresses are compiled anew when these change, aside as well. */
static void the_control_thread_goes_on_while_me_changes(void **state)
{
	struct wire *w = *state;
	struct under_way load, other;
	const struct mr_filter_program *program;
	unsigned before = own_addresses(w), polls = 0;
	char path[] = "/tmp/millrace-rules-XXXXXX";
	FILE *file = fdopen(mkstemp(path), "w");

	for (unsigned i = 0; i < 20000; i++)
		fprintf(file, "add %u deny tcp from 10.%u.%u.0/24 to me %u\n", i + 1, i % 250,
			i / 250, 1 + i % 1000);
	fclose(file);
	submit_load(w, &load, path);
	wait_for_answer(w, &load);
	unlink(path);

	program = w->mr->filter->program;
	assert_int_equal(submit(w, &other, "address add 198.51.100.1/24 port 0"), 0);
	assert_ptr_equal(w->mr->filter->program, program);
	assert_int_equal(submit(w, &other, "filter add 7 count ip from any to any"), -EBUSY);
	/* It comes too late for what is under way, and is followed all the same. */
	assert_int_equal(submit(w, &other, "address add 198.51.100.2/24 port 0"), 0);
	for (; w->mr->filter->is_changing; polls++) {
		assert_int_equal(submit(w, &other, "filter show limit 1"), 0);
		mr_appliance_poll(w->mr, wire_now_ms());
		wait_as_program();
	}
	assert_true(polls > 10);
	assert_int_equal(own_addresses(w), before + 2);
	assert_ptr_not_equal(w->mr->filter->program, program);
	assert_int_equal(submit(w, &other, "address del 198.51.100.1/24 port 0"), 0);
	assert_int_equal(submit(w, &other, "address del 198.51.100.2/24 port 0"), 0);
	mr_control_settle(w->mr);
	mr_control_settle(w->mr);
	assert_int_equal(own_addresses(w), before);
	wire_command(w, "filter flush");
}

static int create(void **state)
{
	return wire_create(state, 1024);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(two_sets_exchanged_ten_times_a_second_never_mix),
		cmocka_unit_test(many_rules_reloaded_without_a_pause_never_mix),
		cmocka_unit_test(the_control_thread_goes_on_while_rules_are_compiled),
		cmocka_unit_test(the_control_thread_goes_on_while_me_changes),
		cmocka_unit_test(nobody_need_wait_for_the_end),
	};

	test_eal_start("0@(0-1),1@(0-1)");
	rte_log_set_global_level(RTE_LOG_WARNING);
	return cmocka_run_group_tests(tests, create, wire_destroy);
}
