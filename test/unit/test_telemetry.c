/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Queries over DPDK's real socket: the test is the client and the control thread in turns, DPDK's
 * threads are between them.
 */
#include <errno.h>
#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cmocka.h>

#include <rte_eal.h>

#include "telemetry/tel_convert.h"
#include "telemetry/telemetry.h"

static struct mr mr;
static json_t *sample; /* what /millrace/test/sample answers */

static int echo(struct mr *unused, const char *params, struct mr_reply *reply)
{
	(void)unused;
	return mr_reply(reply, json_pack("{s:s}", "params", params));
}

static int refuse(struct mr *unused, const char *params, struct mr_reply *reply)
{
	(void)unused;
	return mr_refuse(reply, -ENOENT, "there is no \"%s\"", params);
}

static int give_sample(struct mr *unused, const char *params, struct mr_reply *reply)
{
	(void)unused;
	(void)params;
	return mr_reply(reply, json_incref(sample));
}

static const struct mr_query queries[] = {
	{"/millrace/test/echo", "Its parameters.", echo},
	{"/millrace/test/refuse", "Never.", refuse},
	{"/millrace/test/sample", "Some data.", give_sample},
	{0},
};

static int start_eal(void **state)
{
	static char prefix[64];
	static char *argv[] = {"test",     "-l", "0",  "--no-huge", "--no-shconf",
			       "--no-pci", "-m", "64", prefix,      "--log-level=4"};
	(void)state;

	snprintf(prefix, sizeof(prefix), "--file-prefix=millrace_unit_%d", (int)getpid());
	return rte_eal_init(sizeof(argv) / sizeof(argv[0]), argv) < 0;
}

static int end_eal(void **state)
{
	char dir[256];
	(void)state;

	snprintf(dir, sizeof(dir), "%s", rte_eal_get_runtime_dir());
	rte_eal_cleanup();
	rmdir(dir);
	return 0;
}

static int make_telemetry(void **state)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	struct timeval limit = {.tv_sec = 20};
	int client = socket(AF_UNIX, SOCK_SEQPACKET, 0);
	char hello[1024];

	assert_int_equal(mr_telemetry_create(&mr, NULL), 0);
	assert_int_equal(mr_telemetry_register(&mr, queries, NULL), 0);
	snprintf(address.sun_path, sizeof(address.sun_path), "%s/dpdk_telemetry.v2",
		 rte_eal_get_runtime_dir());
	assert_int_equal(connect(client, (struct sockaddr *)&address, sizeof(address)), 0);
	assert_int_equal(setsockopt(client, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit)), 0);
	assert_true(recv(client, hello, sizeof(hello), 0) > 0);
	*state = (void *)(intptr_t)client;
	return 0;
}

static int free_telemetry(void **state)
{
	mr_telemetry_destroy(&mr);
	close((int)(intptr_t)*state);
	return 0;
}

static void ask(int client, const char *command)
{
	assert_int_equal(send(client, command, strlen(command), 0), strlen(command));
}

static void await_request(void)
{
	struct pollfd wake = {.fd = mr_telemetry_fd(&mr), .events = POLLIN};

	assert_int_equal(poll(&wake, 1, 20000), 1);
}

static json_t *read_answer(int client)
{
	static char text[16384 + 1];
	ssize_t n = recv(client, text, sizeof(text), 0);
	json_t *message, *answer;

	assert_true(n > 0);
	message = json_loadb(text, (size_t)n, 0, NULL);
	if (message == NULL)
		fail_msg("not JSON: %.*s", (int)n, text);
	answer = json_incref(json_object_iter_value(json_object_iter(message)));
	json_decref(message);
	return answer;
}

static json_t *query(int client, const char *command)
{
	ask(client, command);
	await_request();
	assert_int_equal(mr_telemetry_poll(&mr), 1);
	return read_answer(client);
}

static void check_text(int client, const char *command, const char *key, const char *expected)
{
	json_t *answer = query(client, command);

	assert_string_equal(json_string_value(json_object_get(answer, key)), expected);
	json_decref(answer);
}

static void parameters_arrive_and_refusals_are_told(void **state)
{
	int client = (int)(intptr_t)*state;

	check_text(client, "/millrace/test/echo", "params", "");
	check_text(client, "/millrace/test/echo,br0", "params", "br0");
	check_text(client, "/millrace/test/echo,br0,100", "params", "br0,100");
	check_text(client, "/millrace/test/refuse,br9", "error", "there is no \"br9\"");
}

static void every_form_arrives_as_it_was_fitted(void **state)
{
	static const char *const samples[] = {
		"{\"a\": 1, \"b\": \"x\", \"c\": [1, 2], \"d\": {\"e\": {\"f\": [\"g\"]}}}",
		"[{\"a\": [1]}, {\"a\": [2], \"b\": {\"c\": -3}}]",
		"[\"x\", 1, true]",
		"[-5, 6]",
		"[18446744073709, 0]",
		"[[1, 2], [3]]",
		"{\"rows\": [{\"a\": 1}, {\"b\": \"\\\"quoted\\\" and \\\\\"}]}",
		"{}",
		"[]",
		"\"lone\"",
	};

	for (size_t i = 0; i < sizeof(samples) / sizeof(samples[0]); i++) {
		json_t *answer, *fitted;

		sample = json_loads(samples[i], JSON_DECODE_ANY, NULL);
		assert_non_null(sample);
		fitted = mr_tel_fit(sample, MR_TEL_PAGE_WHOLE, 16000);
		answer = query((int)(intptr_t)*state, "/millrace/test/sample");
		if (!json_equal(answer, fitted))
			fail_msg("%s arrived as %s", samples[i],
				 json_dumps(answer, JSON_ENCODE_ANY));
		json_decref(answer);
		json_decref(fitted);
		json_decref(sample);
	}
}

static void large_answers_arrive_whole_over_their_pages(void **state)
{
	json_int_t next = 0;
	size_t entries = 0;

	sample = json_object();
	for (int i = 0; i < 700; i++) {
		char key[24];

		snprintf(key, sizeof(key), "key_%d", i);
		json_object_set_new(sample, key,
				    json_pack("{s:i, s:s}", "value", i, "text",
					      "with \"quotes\" and more text"));
	}
	do {
		char command[64];
		json_t *page, *value;
		const char *key;

		snprintf(command, sizeof(command), "/millrace/test/sample,offset=%d", (int)next);
		page = query((int)(intptr_t)*state, command);
		json_object_foreach (json_object_get(page, "entries"), key, value) {
			assert_true(json_equal(value, json_object_get(sample, key)));
			entries++;
		}
		next = json_integer_value(json_object_get(page, "next"));
		json_decref(page);
	} while (next != 0);
	assert_int_equal(entries, 700);
	json_decref(sample);
}

static void an_answerer_that_goes_away_refuses_who_waits(void **state)
{
	int client = (int)(intptr_t)*state;
	json_t *answer;

	ask(client, "/millrace/test/echo");
	await_request();
	mr_telemetry_destroy(&mr);
	answer = read_answer(client);
	assert_non_null(json_object_get(answer, "error"));
	json_decref(answer);

	/* Nobody there: null, as DPDK answers. */
	ask(client, "/millrace/test/echo");
	answer = read_answer(client);
	assert_true(json_is_null(answer));
	json_decref(answer);
}

static void a_control_thread_that_is_late_finds_nothing(void **state)
{
	int client = (int)(intptr_t)*state;
	json_t *answer;

	ask(client, "/millrace/test/echo");
	answer = read_answer(client);
	assert_non_null(json_object_get(answer, "error"));
	json_decref(answer);
	await_request();
	assert_int_equal(mr_telemetry_poll(&mr), 0);
	check_text(client, "/millrace/test/echo,again", "params", "again");
}

static void only_one_appliance_answers(void **state)
{
	struct mr other = {0};
	(void)state;

	assert_int_equal(mr_telemetry_create(&other, NULL), -EBUSY);
	assert_null(other.telemetry);
}

#define WITH_TELEMETRY(test) cmocka_unit_test_setup_teardown(test, make_telemetry, free_telemetry)

int main(void)
{
	const struct CMUnitTest tests[] = {
		WITH_TELEMETRY(parameters_arrive_and_refusals_are_told),
		WITH_TELEMETRY(every_form_arrives_as_it_was_fitted),
		WITH_TELEMETRY(large_answers_arrive_whole_over_their_pages),
		WITH_TELEMETRY(an_answerer_that_goes_away_refuses_who_waits),
		WITH_TELEMETRY(a_control_thread_that_is_late_finds_nothing),
		WITH_TELEMETRY(only_one_appliance_answers),
	};
	return cmocka_run_group_tests(tests, start_eal, end_eal);
}
