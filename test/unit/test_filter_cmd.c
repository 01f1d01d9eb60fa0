/* SPDX-License-Identifier: BSD-3-Clause */
/* The filter's commands: what they change, what they refuse, and that a refusal changes nothing. */
#include "harness.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>
#include <jansson.h>

#include "control/control.h"
#include "filter/filter.h"
#include "filter/flow_fwd.h"
#include "filter/rule_text.h"
#include "filter/warnings.h"
#include "test_eal.h"

enum { FILE_COMMAND = 128 };

static char path[64];

static void write_file(const char *text)
{
	FILE *file;

	snprintf(path, sizeof(path), "/tmp/millrace-filter-%d", (int)getpid());
	file = fopen(path, "w");
	assert_non_null(file);
	assert_true(fputs(text, file) >= 0);
	fclose(file);
}

/* The commands that save to a file, which is empty, and load from it. */
static void use_file(char save[static FILE_COMMAND], char load[static FILE_COMMAND])
{
	write_file("");
	snprintf(save, FILE_COMMAND, "filter save %s", path);
	snprintf(load, FILE_COMMAND, "filter load %s", path);
}

static void expect_rules(struct harness *h, const char *const *rules)
{
	const struct mr_filter_set *set = h->rig.mr->filter->set;
	char text[MR_FILTER_TEXT_SIZE];
	unsigned count = 0;

	for (; rules[count] != NULL; count++) {
		assert_true(count < set->count);
		assert_string_equal(mr_filter_rule_print(set->rule[count], set, text, sizeof(text)),
				    rules[count]);
	}
	assert_int_equal(set->count, count);
}

#define EXPECT_RULES(h, ...) expect_rules(h, (const char *const[]){__VA_ARGS__, NULL})

/* Runs a line that is refused and has the sentence in its answer. */
static void expect_refusal(struct harness *h, const char *line, int code, const char *sentence)
{
	struct mr_reply reply;
	int rc = mr_control_execute(h->rig.mr, line, strlen(line), &reply);

	if (rc != code || strstr(reply.error.text, sentence) == NULL)
		fail_msg("'%s': %d, %s; expected %d, %s", line, rc, reply.error.text, code,
			 sentence);
	mr_reply_clear(&reply);
}

static void expect_warning(struct harness *h, const char *line, const char *sentence)
{
	char *answer = harness_show(h, line);

	if (sentence == NULL)
		assert_null(answer);
	else if (answer == NULL || strstr(answer, sentence) == NULL)
		fail_msg("'%s' answers %s", line, answer != NULL ? answer : "nothing");
	free(answer);
}

static void rules_come_and_go(void **state)
{
	struct harness *h = harness();

	(void)state;
	harness_command(h, "filter add 100 deny tcp from any to 10.0.0.0/8 80,443,8000-8100 in via "
			   "port 0 # http");
	harness_command(h, "filter add   50   allow   ip from me to any");
	harness_command(h, "filter add deny ip from any to any options");
	harness_command(h, "filter add 100 allow udp from any to any");
	EXPECT_RULES(h, "50 allow ip from me to any",
		     "100 deny tcp from any to 10.0.0.0/8 80,443,8000-8100 in via port 0",
		     "100 allow udp from any to any", "200 deny ip from any to any options");
	harness_command(h, "filter delete 100");
	EXPECT_RULES(h, "50 allow ip from me to any", "200 deny ip from any to any options");
	expect_refusal(h, "filter delete 100", -ENOENT, "no rule 100");
	expect_refusal(h, "filter add deny ip from any to any 80", -EINVAL,
		       "column 25: ports need");
	expect_refusal(h, "filter add", -EINVAL, "RULE");
	expect_refusal(h, "filter add 99999999 deny ip from any to any x", -EINVAL, "an option");
	EXPECT_RULES(h, "50 allow ip from me to any", "200 deny ip from any to any options");
	harness_command(h, "filter add 99999999 deny ip from any to any");
	expect_refusal(h, "filter add deny ip from any to any", -EINVAL, "no number is left");
	harness_command(h, "filter flush");
	EXPECT_RULES(h, NULL);
	harness_command(h, "filter flush");
}

static void rules_that_no_packet_meets_are_warned_about(void **state)
{
	struct harness *h = harness();

	(void)state;
	expect_warning(h, "filter add 100 deny tcp from 10.0.0.0/8 to any 80-90", NULL);
	expect_warning(h, "filter add 110 deny tcp from 10.0.0.0/8 to any 80-90",
		       "rule 110 is a duplicate of rule 100");
	expect_warning(h, "filter add 120 allow tcp from 10.0.0.0/8 to any 80-90",
		       "rule 120 contradicts rule 100");
	expect_warning(h, "filter add 130 allow tcp from 10.1.0.0/16,10.3.3.3 to any 81 in",
		       "rule 130 is shadowed by rule 100");
	expect_warning(h, "filter add 140 allow tcp from 10.1.0.0/16 to any 79-81", NULL);
	expect_warning(h, "filter add 150 allow tcp,udp from 10.1.0.0/16 to any 80", NULL);
	expect_warning(h, "filter add 160 allow tcp from any to any 80", NULL);
	expect_warning(h, "filter add 170 skipto 190 all from any to any", NULL);
	expect_warning(h, "filter add 180 deny all from any to any", NULL);
	expect_warning(h, "filter add 190 deny icmp from any to any", NULL);
	harness_command(h, "filter flush");
}

/* What is found when a whole set is read is what is found rule by rule. */
static void a_set_is_warned_about_like_its_rules(void **state)
{
	static const char *const rules[] = {
		"deny tcp from 10.0.0.0/8 to any",
		"allow tcp from 10.1.0.0/16 to 10.2.0.0/16 80",
		"deny tcp from 2001:db8::/32 to any",
		"deny tcp from 2001:db8:1::/48 to ::/0",
		"allow udp from any to any 53",
		"deny udp from 10.0.0.1 to set:s 53",
		"deny udp from set:s to me",
		"allow udp from set:s to me",
		"allow udp from set:s to me 80",
		"count udp from any to any",
		"deny udp from 192.0.2.1 to any",
		"deny udp from not 192.0.2.1 to any",
		"deny udp from not 192.0.2.0/24 to any",
		"deny all from any to any vlan 1-10",
		"deny ip from 10.0.0.1 to 10.0.0.2 vlan 3-5",
		"deny tcp from any to any tcpflags syn",
		"deny tcp from any to any setup",
		"deny all from any to any src-mac 02:00:00:00:00:00/40",
		"deny all from any to any src-mac 02:00:00:00:00:05",
	};
	struct mr_filter_set *set = mr_filter_set_new();
	json_t *one_by_one = json_array(), *at_once = json_array();
	struct mr_filter_fault fault;

	(void)state;
	assert_int_equal(mr_filter_set_put_addresses(set, "s", NULL, 0), 0);
	for (unsigned i = 0; i < sizeof(rules) / sizeof(rules[0]); i++) {
		struct mr_filter_rule *rule;

		assert_int_equal(mr_filter_rule_parse(rules[i], set, &rule, &fault), 0);
		assert_int_equal(mr_filter_rule_number(rule, 1 + i, &fault), 0);
		assert_int_equal(mr_filter_set_append(set, rule), 0);
		mr_filter_warn_rule(set, i, one_by_one);
	}
	mr_filter_warn_set(set, at_once);
	/* Those whose coverer has a set or a negation at an end are found one by one only. */
	assert_int_equal(json_array_size(one_by_one), 9);
	assert_int_equal(json_array_size(at_once), 7);
	for (size_t i = 0, j = 0; i < json_array_size(one_by_one); i++) {
		const char *wanted = json_string_value(json_array_get(one_by_one, i));

		if (strstr(wanted, "rule 9 ") == NULL && strstr(wanted, "rule 13 ") == NULL)
			assert_string_equal(json_string_value(json_array_get(at_once, j++)),
					    wanted);
	}
	json_decref(one_by_one);
	json_decref(at_once);
	mr_filter_set_free(set);
}

static void address_sets_change_by_command(void **state)
{
	struct harness *h = harness();

	(void)state;
	harness_command(h, "filter set servers add 192.0.2.1 192.0.2.64/26 2001:db8::/64");
	harness_command(h, "filter set servers add 192.0.2.70");
	char *shown = harness_show(h, "filter show set servers");
	assert_string_equal(shown, "[\"192.0.2.1/32\", \"192.0.2.64/26\", \"2001:db8::/64\"]");
	free(shown);
	expect_refusal(h, "filter set servers delete 192.0.2.1 192.0.2.2", -ENOENT, "no entry");
	harness_command(h, "filter set servers delete 192.0.2.1 2001:db8::/64");
	harness_command(h, "filter add 10 deny ip from set:servers to any");
	expect_refusal(h, "filter set servers remove", -EBUSY, "rule 10 names");
	expect_refusal(h, "filter set me add 10.0.0.1", -EINVAL, "not me");
	expect_refusal(h, "filter set me remove", -EPERM, "always there");
	expect_refusal(h, "filter set nobody delete 10.0.0.1", -ENOENT, "no address set");
	harness_command(h, "filter set servers replace 10.0.0.0/8");
	shown = harness_show(h, "filter show set servers");
	assert_string_equal(shown, "[\"10.0.0.0/8\"]");
	free(shown);
	harness_command(h, "filter flush");
	harness_command(h, "filter set servers remove");
	expect_refusal(h, "filter show set servers", -ENOENT, "no address set");
}

static void me_follows_the_appliance(void **state)
{
	struct harness *h = harness();
	const struct mr *mr = h->rig.mr;

	(void)state;
	assert_int_equal(mr->filter->set->addresses[MR_FILTER_ME]->count, 0);
	harness_command(h, "address add 10.0.3.1/24 port 3");
	assert_int_equal(mr->filter->set->addresses[MR_FILTER_ME]->count, 1);
	assert_int_equal(mr->filter->set->addresses[MR_FILTER_ME]->prefix[0].length, 32);
	harness_command(h, "address del 10.0.3.1/24 port 3");
	assert_int_equal(mr->filter->set->addresses[MR_FILTER_ME]->count, 0);
}

static void a_file_replaces_all_rules(void **state)
{
	struct harness *h = harness();
	char line[128];

	(void)state;
	harness_command(h, "filter add 10 count all from any to any");
	write_file("# the rules\n"
		   "default deny\n"
		   "\n"
		   "filter set servers replace 192.0.2.1\r\n"
		   "set servers add 192.0.2.2 # another\n"
		   "add 300 allow tcp from any to set:servers 80 in\n"
		   "  filter add 100 allow tcp from any to any established\n"
		   "add deny all from any to any\n");
	snprintf(line, sizeof(line), "filter test %s", path);
	harness_command(h, "%s", line);
	EXPECT_RULES(h, "10 count all from any to any");
	snprintf(line, sizeof(line), "filter load %s", path);
	harness_command(h, "%s", line);
	EXPECT_RULES(h, "100 allow tcp from any to any established",
		     "300 allow tcp from any to set:servers 80 in", "400 deny all from any to any");
	assert_int_equal(h->rig.mr->filter->set->default_action, MR_FILTER_DENY);

	/* What is saved loads as the same. */
	snprintf(line, sizeof(line), "filter save %s", path);
	harness_command(h, "%s", line);
	harness_command(h, "filter flush");
	harness_command(h, "filter set servers replace 1.2.3.4");
	harness_command(h, "filter default allow");
	snprintf(line, sizeof(line), "filter load %s", path);
	harness_command(h, "%s", line);
	EXPECT_RULES(h, "100 allow tcp from any to any established",
		     "300 allow tcp from any to set:servers 80 in", "400 deny all from any to any");
	assert_int_equal(h->rig.mr->filter->set->default_action, MR_FILTER_DENY);
	char *shown = harness_show(h, "filter show set servers");
	assert_string_equal(shown, "[\"192.0.2.1/32\", \"192.0.2.2/32\"]");
	free(shown);
	harness_command(h, "filter flush");
	harness_command(h, "filter default allow");
	harness_command(h, "filter set servers remove");
	unlink(path);
}

/* the line is named, and the old rules stay. */
static void a_file_with_a_fault_changes_nothing(void **state)
{
	static const struct {
		const char *text, *at;
	} faults[] = {
		{"add deny tcp from any to any 65536\n", ":1:30: "},
		{"\n\nadd 5 deny tcp from any to any -1\n", ":3:32: "},
		{"add deny tcp from any to any 80\nadd deny tcp from any to any 10-5", ":2:30: "},
		{"default deny\nfilter add 1 deny tcp from any to any ,\n", ":2:39: "},
		{"default deny\n add deny tcp from any to any 08\n", ":2:31: "},
		{"flush\n", ":1:1: expected add"},
		{"default\n", ":1:8: expected allow or deny"},
		{"default deny now\n", ":1:14: expected nothing"},
		{"set s 10.0.0.1\n", ":1:7: expected add or replace"},
		{"set s add 10.0.0\n", ":1:11: expected an address"},
		{"set me add 10.0.0.1\n", ":1:5: an address set's name"},
		{"add 100 skipto 50 all from any to any\n", ":1:4: rule 100 cannot skip"},
	};
	struct harness *h = harness();
	char line[128];

	(void)state;
	harness_command(h, "filter add 10 deny tcp from any to any 22");
	snprintf(line, sizeof(line), "filter load %s", path);
	for (unsigned i = 0; i < sizeof(faults) / sizeof(faults[0]); i++) {
		write_file(faults[i].text);
		expect_refusal(h, line, -EINVAL, faults[i].at);
		EXPECT_RULES(h, "10 deny tcp from any to any 22");
		assert_int_equal(h->rig.mr->filter->set->default_action, MR_FILTER_ALLOW);
	}
	unlink(path);
	expect_refusal(h, line, -ENOENT, "No such file");
	expect_refusal(h, "filter load /tmp", -EINVAL, "not a file of rules");
	harness_command(h, "filter flush");
}

static void counted(struct harness *h, unsigned rule, uint64_t packets)
{
	struct mr_filter *filter = h->rig.mr->filter;

	filter->fwd.hits[0][filter->set->rule[rule]->counter].packets += packets;
}

static uint64_t packets_of(struct harness *h, unsigned rule)
{
	const struct mr_filter *filter = h->rig.mr->filter;

	return mr_filter_hits(h->rig.mr, filter->set->rule[rule]->counter).packets;
}

static void counters_stay_with_rules_that_stay(void **state)
{
	struct harness *h = harness();
	char line[128];

	(void)state;
	harness_command(h, "filter add 10 deny tcp from any to any 22");
	harness_command(h, "filter add 20 count all from any to any");
	harness_command(h, "filter add 30 deny udp from any to any 53");
	counted(h, 0, 10);
	counted(h, 1, 20);
	counted(h, 2, 30);
	write_file("add 5 allow tcp from any to any established\n"
		   "add 10 drop 6 from any to any dst-port 22\n"
		   "add 20 count log all from any to any\n"
		   "add 31 deny udp from any to any 53\n");
	snprintf(line, sizeof(line), "filter load %s", path);
	harness_command(h, "%s", line);
	unlink(path);
	assert_int_equal(packets_of(h, 0), 0);
	assert_int_equal(packets_of(h, 1), 10);
	assert_int_equal(packets_of(h, 2), 0);
	assert_int_equal(packets_of(h, 3), 0);
	harness_command(h, "filter delete 5");
	assert_int_equal(packets_of(h, 0), 10);
	harness_command(h, "filter zero 20");
	assert_int_equal(packets_of(h, 0), 10);
	harness_command(h, "filter zero");
	assert_int_equal(packets_of(h, 0), 0);
	expect_refusal(h, "filter zero 7", -ENOENT, "no rule 7");

	/* A counter that served another rule starts at nothing. */
	for (unsigned i = 0; i < 8; i++) {
		harness_run(h);
		harness_command(h, "filter flush");
		harness_command(h, "filter add 10 deny tcp from any to any 22");
		assert_int_equal(packets_of(h, 0), 0);
		counted(h, 0, 5);
	}
	harness_command(h, "filter flush");
}

static void many_rules_load_and_reload(void **state)
{
	struct harness *h = harness();
	struct mr_filter *filter = h->rig.mr->filter;
	char line[128];
	FILE *file;

	(void)state;
	write_file("");
	file = fopen(path, "w");
	for (unsigned i = 0; i < 5000; i++)
		fprintf(file, "add %u deny tcp from 10.%u.%u.0/24 to any %u\n", 10 + i % 100,
			i / 250, i % 250, 1 + i % 7);
	fclose(file);
	snprintf(line, sizeof(line), "filter load %s", path);
	harness_command(h, "%s", line);
	assert_int_equal(filter->set->count, 5000);
	struct mr_filter_rule *first = filter->set->rule[0], *last = filter->set->rule[4999];
	counted(h, 4999, 7);
	for (unsigned i = 0; i < 3; i++)
		harness_command(h, "%s", line);
	assert_ptr_equal(filter->set->rule[0], first);
	assert_ptr_equal(filter->set->rule[4999], last);
	assert_int_equal(packets_of(h, 4999), 7);
	char *shown = harness_show(h, "filter show from 109 limit 1");
	assert_non_null(strstr(shown, "\"rules\": [{"));
	free(shown);
	expect_refusal(h, "filter show", -E2BIG, "5000 rules");
	unlink(path);
	harness_command(h, "filter flush");
}

static void a_bridge_that_is_gone_is_exempt_no_more(void **state)
{
	struct harness *h = harness();

	(void)state;
	expect_refusal(h, "filter bridge nowhere off", -ENOENT, "no bridge");
	harness_command(h, "bridge add br7");
	harness_command(h, "filter bridge br7 off");
	char *shown = harness_show(h, "filter show");
	assert_non_null(strstr(shown, "\"exempt_bridges\": [\"br7\"]"));
	free(shown);
	harness_command(h, "bridge del br7");
	harness_command(h, "bridge add br8");
	shown = harness_show(h, "filter show");
	assert_non_null(strstr(shown, "\"exempt_bridges\": []"));
	free(shown);
	harness_command(h, "bridge del br8");
}

static bool is_exempt(struct harness *h, const char *bridge)
{
	char *shown = harness_show(h, "filter show"), text[64];
	bool is = false;

	snprintf(text, sizeof(text), "\"exempt_bridges\": [\"%s\"]", bridge);
	is = strstr(shown, text) != NULL;
	free(shown);
	return is;
}

static void exempt_bridges_are_saved_and_loaded(void **state)
{
	struct harness *h = harness();
	char save[FILE_COMMAND], load[FILE_COMMAND];

	(void)state;
	use_file(save, load);
	harness_command(h, "bridge add br7");
	harness_command(h, "filter bridge br7 off");
	harness_command(h, "%s", save);
	harness_command(h, "filter bridge br7 on");
	assert_false(is_exempt(h, "br7"));
	harness_command(h, "%s", load);
	assert_true(is_exempt(h, "br7"));
	/* A file that says nothing of it leaves it alone. */
	write_file("add 1 count ip from any to any\n");
	harness_command(h, "%s", load);
	assert_true(is_exempt(h, "br7"));
	write_file("filter bridge br7 off\nbridge br7 on\n");
	harness_command(h, "%s", load);
	assert_false(is_exempt(h, "br7"));
	/* All or nothing. */
	write_file("bridge br7 off\nadd 2 deny ip from any to any\nbridge br9 off\n");
	expect_refusal(h, load, -ENOENT, ":3: there is no bridge br9");
	assert_false(is_exempt(h, "br7"));
	assert_int_equal(h->rig.mr->filter->set->count, 0);
	write_file("bridge br7 maybe\n");
	expect_refusal(h, load, -EINVAL, ":1:12: expected on or off");
	unlink(path);
	harness_command(h, "bridge del br7");
	harness_command(h, "filter flush");
}

static uint32_t timeout_of(const struct harness *h, enum flow_timeout timeout)
{
	return h->rig.mr->filter->fwd.flows->timeout[timeout];
}

static void timeouts_of_flows_are_saved_and_loaded(void **state)
{
	struct harness *h = harness();
	char save[FILE_COMMAND], load[FILE_COMMAND];

	(void)state;
	use_file(save, load);
	harness_command(h, "filter state timeout udp-opening 7");
	harness_command(h, "filter state timeout tcp-closed 3");
	harness_command(h, "%s", save);
	harness_command(h, "filter state timeout udp-opening 30");
	harness_command(h, "filter state timeout tcp-closed 10");
	harness_command(h, "%s", load);
	assert_int_equal(timeout_of(h, FLOW_UDP_OPENING), 7);
	assert_int_equal(timeout_of(h, FLOW_TCP_CLOSED), 3);
	assert_int_equal(timeout_of(h, FLOW_ICMP), 30);
	/* A file that says nothing of one leaves it alone; a file with a fault all of them. */
	write_file("filter state timeout tcp-closed 10\n");
	harness_command(h, "%s", load);
	assert_int_equal(timeout_of(h, FLOW_UDP_OPENING), 7);
	assert_int_equal(timeout_of(h, FLOW_TCP_CLOSED), 10);
	write_file("state timeout udp-opening 30\nadd 1 deny tcp from any to any 65536\n");
	expect_refusal(h, load, -EINVAL, ":2:");
	assert_int_equal(timeout_of(h, FLOW_UDP_OPENING), 7);
	write_file("state timeout udp 30\n");
	expect_refusal(h, load, -EINVAL, ":1:15: there is no such timeout");
	write_file("state timeout icmp 0\n");
	expect_refusal(h, load, -EINVAL, ":1:20: expected seconds, 1 to 604800");
	write_file("state timeout icmp 604801\n");
	expect_refusal(h, load, -EINVAL, ":1:20: expected seconds");
	write_file("state flush\n");
	expect_refusal(h, load, -EINVAL, ":1:7: expected timeout");
	/* To test a file changes nothing either. */
	write_file("state timeout udp-opening 30\n");
	memcpy(load + strlen("filter "), "test", strlen("test"));
	harness_command(h, "%s", load);
	assert_int_equal(timeout_of(h, FLOW_UDP_OPENING), 7);
	harness_command(h, "filter state timeout udp-opening 30");
	unlink(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rules_come_and_go),
		cmocka_unit_test(rules_that_no_packet_meets_are_warned_about),
		cmocka_unit_test(a_set_is_warned_about_like_its_rules),
		cmocka_unit_test(address_sets_change_by_command),
		cmocka_unit_test(me_follows_the_appliance),
		cmocka_unit_test(a_file_replaces_all_rules),
		cmocka_unit_test(a_file_with_a_fault_changes_nothing),
		cmocka_unit_test(counters_stay_with_rules_that_stay),
		cmocka_unit_test(many_rules_load_and_reload),
		cmocka_unit_test(a_bridge_that_is_gone_is_exempt_no_more),
		cmocka_unit_test(exempt_bridges_are_saved_and_loaded),
		cmocka_unit_test(timeouts_of_flows_are_saved_and_loaded),
	};

	test_eal_start("0");
	return cmocka_run_group_tests(tests, NULL, harness_destroy);
}
