/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The filter's two readers of what others wrote. An input's first byte says which: even, a rule's
 * text, which is refused with a sentence and a column within it or prints as what reads as the same
 * rule; odd, what is wanted (4 bytes) and a frame, whose key holds what is wanted and no more, and
 * is read without a look behind the frame's end.
 */
#include <stdlib.h>
#include <string.h>

#include "filter/key_fwd.h"
#include "filter/rule_text.h"
#include "filter/set.h"
#include "fuzz.h"

static struct mr_filter_set *set;

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	(void)argc;
	(void)argv;
	set = mr_filter_set_new();
	if (set == NULL || mr_filter_set_put_addresses(set, "s0", NULL, 0) != 0)
		fuzz_fail("no memory");
	return 0;
}

static void read_rule(const char *line)
{
	char text[MR_FILTER_TEXT_SIZE], again[MR_FILTER_TEXT_SIZE];
	struct mr_filter_fault fault = {0};
	struct mr_filter_rule *rule, *copy;

	if (mr_filter_rule_parse(line, set, &rule, &fault) != 0) {
		if (fault.error.text[0] == '\0' || fault.column == 0 ||
		    fault.column > strlen(line) + 1)
			fuzz_fail("'%s': refused at %u: %s", line, fault.column, fault.error.text);
		return;
	}
	mr_filter_rule_print(rule, set, text, sizeof(text));
	if (mr_filter_rule_parse(text, set, &copy, &fault) != 0)
		fuzz_fail("'%s': prints as '%s': %s", line, text, fault.error.text);
	if (!mr_filter_rule_same_tests(rule, copy) || !mr_filter_rule_same_effect(rule, copy) ||
	    rule->number != copy->number)
		fuzz_fail("'%s': prints as another rule, '%s'", line, text);
	if (strcmp(mr_filter_rule_print(copy, set, again, sizeof(again)), text) != 0)
		fuzz_fail("'%s': prints as '%s', then as '%s'", line, text, again);
	mr_filter_rule_unref(rule);
	mr_filter_rule_unref(copy);
}

/* The frame is at the end of memory of its own, so that a sanitizer sees a look behind it. */
static void read_key(const uint8_t *data, size_t size, uint32_t wanted)
{
	static const struct mr_filter_place place = {.iface_in = 1, .iface_out = 2, .out = 1};
	struct mr_filter_key key, all;
	uint8_t *frame = malloc(size);
	enum mr_filter_reading reading;

	memcpy(frame, data, size);
	memset(&key, 0xa5, sizeof(key));
	reading = mr_filter_key_read(frame, (unsigned)size, wanted, &place, &key);
	if ((wanted & MR_FILTER_WANT_IP) == 0 && reading != MR_FILTER_READ)
		fuzz_fail("an IP header was read that nobody wants");
	if (mr_filter_key_read(frame, (unsigned)size, MR_FILTER_WANT_ALL, &place, &all) !=
		    reading &&
	    (wanted & MR_FILTER_WANT_IP) != 0)
		fuzz_fail("what is wanted of an IP header changes whether it can be read");
	if ((key.flags & MR_FILTER_LATER) != 0 &&
	    (key.flags & (MR_FILTER_PORTS | MR_FILTER_TCP | MR_FILTER_ICMP)) != 0)
		fuzz_fail("a later fragment with a transport header");
	for (unsigned i = 0; i < sizeof(key.zero); i++)
		if (key.zero[i] != 0)
			fuzz_fail("a byte of the key was not written");
	free(frame);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_input input = {data, size};
	uint32_t wanted;
	char line[4097];

	if ((fuzz_byte(&input) & 1) != 0) {
		fuzz_bytes(&input, (uint8_t *)&wanted, sizeof(wanted));
		if (input.left >= 14)
			read_key(input.at, input.left, wanted & MR_FILTER_WANT_ALL);
		return 0;
	}
	size_t length = input.left < sizeof(line) - 1 ? input.left : sizeof(line) - 1;
	memcpy(line, input.at, length);
	line[length] = '\0';
	read_rule(line);
	return 0;
}
