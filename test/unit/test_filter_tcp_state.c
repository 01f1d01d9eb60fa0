/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * TCP connections, segment by segment. A case is a string of segments, each "FROM FLAGS
 * SEQ[+LENGTH] [ack ACK] [win WINDOW] [scale N] = VERDICT"; FROM is c or s, numbers are relative to
 * each end's initial sequence number, which lie right below the point where numbers wrap.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <rte_tcp.h>

#include "filter/tcp_state_fwd.h"

struct connection {
	struct tcp_half half[2]; /* client's, server's */
};

static const uint32_t first[2] = {0xfffffff0, 0xffffff00};

static uint8_t flags_of(const char *text)
{
	static const char letters[] = "FSRPA";
	uint8_t flags = 0;

	for (; *text != '\0'; text++)
		flags |= (uint8_t)(1 << (strchr(letters, *text) - letters));
	return flags;
}

static const struct tcp_half *seen(const struct tcp_half *half)
{
	return half->flags != 0 ? half : NULL;
}

static enum tcp_verdict meet(struct connection *c, const char *text)
{
	char from, flags[8];
	unsigned seq, length = 0, value;
	struct tcp_segment segment = {.window = 1000, .scale = -1};
	const char *at;
	unsigned end;

	assert_int_equal(sscanf(text, "%c %7s %u", &from, flags, &seq), 3);
	end = from == 's';
	if ((at = strchr(text, '+')) != NULL)
		length = (unsigned)strtoul(at + 1, NULL, 10);
	if ((at = strstr(text, "ack ")) != NULL)
		segment.ack = first[!end] + (uint32_t)strtol(at + 4, NULL, 10);
	if ((at = strstr(text, "win ")) != NULL)
		segment.window = (uint16_t)strtoul(at + 4, NULL, 10);
	if ((at = strstr(text, "scale ")) != NULL && sscanf(at + 6, "%u", &value) == 1)
		segment.scale = (int8_t)value;
	segment.flags = flags_of(flags);
	segment.seq = first[end] + seq;
	segment.length = length + ((segment.flags & RTE_TCP_SYN_FLAG) != 0) +
			 ((segment.flags & RTE_TCP_FIN_FLAG) != 0);
	return tcp_meet(&c->half[end], seen(&c->half[!end]), &segment);
}

/* Each segment is met twice, as the two hooks do: the second time makes no difference. */
static void run(const char *const *lines, unsigned count, enum tcp_phase phase)
{
	struct connection c = {0};

	for (unsigned i = 0; i < count; i++) {
		const char *wanted = strstr(lines[i], "= ");
		struct connection before = c, after;
		enum tcp_verdict verdict = meet(&c, lines[i]), again;
		enum tcp_verdict expected = strcmp(wanted, "= pass") == 0     ? TCP_PASSES
					    : strcmp(wanted, "= refuse") == 0 ? TCP_REFUSED
									      : TCP_ANEW;

		if (verdict != expected)
			fail_msg("%s: answered %d", lines[i], verdict);
		if (verdict != TCP_PASSES) {
			assert_memory_equal(&before, &c, sizeof(c));
			continue;
		}
		after = c;
		again = meet(&c, lines[i]);
		if (again != TCP_PASSES || memcmp(&after, &c, sizeof(c)) != 0)
			fail_msg("%s: not the same again (%d)", lines[i], again);
	}
	assert_int_equal(tcp_phase(&c.half[0], seen(&c.half[1])), phase);
	assert_int_equal(tcp_phase(&c.half[1], seen(&c.half[0])), phase);
}

#define RUN(phase, ...)                                                                            \
	do {                                                                                       \
		static const char *const lines[] = {__VA_ARGS__};                                  \
		run(lines, sizeof(lines) / sizeof(lines[0]), phase);                               \
	} while (0)

#define HANDSHAKE "c S 0 = pass", "s SA 0 ack 1 = pass", "c A 1 ack 1 = pass"

static void a_handshake_opens(void **state)
{
	(void)state;
	RUN(TCP_OPENING, "c S 0 = pass");
	RUN(TCP_OPENING, "c S 0 = pass", "s SA 0 ack 1 = pass");
	RUN(TCP_ESTABLISHED, HANDSHAKE);
	RUN(TCP_ESTABLISHED, HANDSHAKE, "c PA 1+100 ack 1 = pass", "s A 1 ack 101 = pass",
	    "s PA 1+900 ack 101 = pass", "c A 101 ack 901 = pass");
	RUN(TCP_OPENING, "c S 0 = pass", "s SA 0 ack 2 = refuse", "s SA 0 ack 0 = refuse",
	    "c A 1 ack 1 = refuse", "s A 1 ack 1 = refuse");
	RUN(TCP_OPENING, "c SF 0 = refuse", "c S 0 = pass");
	RUN(TCP_ESTABLISHED, "c S 0 = pass", "s S 0 = pass", "c SA 0 ack 1 = pass",
	    "s SA 0 ack 1 = pass");
}

static void what_is_blind_is_refused(void **state)
{
	(void)state;
	RUN(TCP_ESTABLISHED, HANDSHAKE, "c S 5000 = refuse", "s S 5000 = refuse", "c S 1 = refuse",
	    "s SA 77 ack 1 = refuse");
	RUN(TCP_ESTABLISHED, HANDSHAKE, "c R 100000 = refuse", "c R 2000 = refuse",
	    "s R 100000 = refuse", "c RA 4000000000 ack 1 = refuse");
	RUN(TCP_ESTABLISHED, HANDSHAKE, "c A 5000+10 ack 1 = refuse", "c A 1+1001 ack 1 = refuse",
	    "c A 1 ack 2 = refuse", "c A 1 ack -70000 = refuse", "c PA 4000000000+1 ack 1 = refuse",
	    "c P 1+10 = refuse", "c FA 5000 ack 1 = refuse");
	RUN(TCP_ESTABLISHED, HANDSHAKE, "c A 1+1000 ack 1 = pass", "c A 1+1000 ack 1 = pass");
}

static void a_reset_must_be_exact(void **state)
{
	(void)state;
	RUN(TCP_ESTABLISHED, HANDSHAKE, "c R 500 = pass");
	RUN(TCP_CLOSED, HANDSHAKE, "c R 1 = pass", "s A 1 ack 1 = pass");
	RUN(TCP_CLOSED, HANDSHAKE, "c A 1+100 ack 1 = pass", "c R 1 = pass");
	RUN(TCP_CLOSED, HANDSHAKE, "s RA 1 ack 1 = pass");
	RUN(TCP_CLOSED, "c S 0 = pass", "s RA 0 ack 1 = pass");
	RUN(TCP_OPENING, "c S 0 = pass", "s RA 0 ack 5 = refuse", "s R 0 = refuse");
}

static void windows_scale_if_both_ends_say_so(void **state)
{
	(void)state;
	RUN(TCP_ESTABLISHED, "c S 0 scale 7 = pass", "s SA 0 ack 1 scale 2 = pass",
	    "c A 1 ack 1 win 1000 = pass", "s A 1+128000 ack 1 = pass",
	    "s A 1+128001 ack 1 = refuse", "s A 128001 ack 1 win 250 = pass",
	    "c A 1+1000 ack 1 = pass", "c A 1001+1 ack 1 = pass", "c A 1001+3001 ack 1 = refuse");
	RUN(TCP_ESTABLISHED, "c S 0 scale 7 = pass", "s SA 0 ack 1 = pass",
	    "c A 1 ack 1 win 1000 = pass", "s A 1+1001 ack 1 = refuse", "s A 1+1000 ack 1 = pass");
	/* More than 14 is 14 (RFC 7323 2.3). */
	RUN(TCP_ESTABLISHED, "c S 0 scale 99 = pass", "s SA 0 ack 1 scale 0 = pass",
	    "c A 1 ack 1 win 1 = pass", "s A 1+16384 ack 1 = pass", "s A 1+16385 ack 1 = refuse");
}

static void a_connection_closes(void **state)
{
	(void)state;
	RUN(TCP_CLOSING, HANDSHAKE, "c FA 1 ack 1 = pass");
	RUN(TCP_CLOSING, HANDSHAKE, "c FA 1 ack 1 = pass", "s A 1 ack 2 = pass",
	    "s PA 1+100 ack 2 = pass", "c A 2 ack 101 = pass");
	RUN(TCP_CLOSED, HANDSHAKE, "c FA 1 ack 1 = pass", "s FA 1 ack 2 = pass",
	    "c A 2 ack 2 = pass", "s FA 1 ack 2 = pass");
	RUN(TCP_CLOSED, HANDSHAKE, "c FA 1 ack 1 = pass", "s FA 1 ack 2 = pass",
	    "c A 2 ack 2 = pass", "c S 9000 = anew");
	RUN(TCP_CLOSED, HANDSHAKE, "c R 1 = pass", "c S 9000 = anew");
}

static void it_may_be_met_in_its_middle(void **state)
{
	(void)state;
	RUN(TCP_ESTABLISHED, "c A 1000+100 ack 500 win 10 = pass", "s A 500+100 ack 1100 = pass",
	    "c A 1100 ack 600 = pass", "s A 600+100000 ack 1100 = pass");
	RUN(TCP_OPENING, "c A 1000+100 ack 500 = pass", "s A 500 ack 1101 = refuse",
	    "s A 500 ack -100000000 = refuse");
}

static void errors_quote_what_was_sent(void **state)
{
	(void)state;
	struct connection c = {0};
	static const char *const lines[] = {HANDSHAKE, "c A 1+500 ack 1 = pass"};

	for (unsigned i = 0; i < 4; i++)
		assert_int_equal(meet(&c, lines[i]), TCP_PASSES);
	assert_true(tcp_has_sent(&c.half[0], &c.half[1], first[0] + 1));
	assert_true(tcp_has_sent(&c.half[0], &c.half[1], first[0] + 501));
	assert_false(tcp_has_sent(&c.half[0], &c.half[1], first[0] + 502));
	assert_false(tcp_has_sent(&c.half[0], &c.half[1], first[0] - 70000));
	assert_false(tcp_has_sent(&(struct tcp_half){0}, &c.half[1], 0));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_handshake_opens),
		cmocka_unit_test(what_is_blind_is_refused),
		cmocka_unit_test(a_reset_must_be_exact),
		cmocka_unit_test(windows_scale_if_both_ends_say_so),
		cmocka_unit_test(a_connection_closes),
		cmocka_unit_test(it_may_be_met_in_its_middle),
		cmocka_unit_test(errors_quote_what_was_sent),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
