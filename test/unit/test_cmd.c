/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/number.h"
#include "control/cmd_syntax.h"
#include "control/control.h"

/*
 * A table in the forms that scripts rely on. Each command answers with what it was given: its
 * syntax and every word with the placeholder that took it.
 */
static int ran; /* commands */

static int echo(const char *syntax, const struct mr_args *args, struct mr_reply *reply)
{
	json_t *words = json_array();

	ran++;
	for (unsigned i = 0; i < args->count; i++) {
		char text[128];
		snprintf(text, sizeof(text), "%s=%s", args->arg[i].placeholder, args->arg[i].text);
		json_array_append_new(words, json_string(text));
	}
	return mr_reply(reply, json_pack("{s:s, s:o}", "syntax", syntax, "words", words));
}

#define SYNTAXES(X)                                                                                \
	X(bridge_add, "bridge add NAME [ageing SECONDS] [stations COUNT]")                         \
	X(bridge_del, "bridge del NAME")                                                           \
	X(member_add, "bridge member add NAME port N")                                             \
	X(station_add, "station add NAME MAC port N")                                              \
	X(address_add, "address add PREFIX port N")                                                \
	X(neighbour_add, "neighbour add A.B.C.D mac MAC port N")                                   \
	X(neighbour_6, "neighbour test ADDRESS")                                                   \
	X(route_add, "route add A.B.C.D/L via A.B.C.D [A.B.C.D ...]")                              \
	X(route_black, "route add A.B.C.D/L blackhole")                                            \
	X(show_bridge, "show bridge [NAME]")                                                       \
	X(show_bridge_stats, "show bridge stats")                                                  \
	X(show_port_info, "show port info all|N")                                                  \
	X(show_port_stats, "show port stats all|N")                                                \
	X(show_port_xstats, "show port xstats all|N")                                              \
	X(show_config, "show config fwd|cores|rxtx")                                               \
	X(show_station, "show station [bridge NAME [port N]] [mac MAC]")                           \
	X(set_promisc, "set promisc all|N on|off")                                                 \
	X(set_share, "set share PERCENT queue Q lcore L size BYTES")                               \
	X(filter_add, "filter add [from PREFIX ...] [to PREFIX ...] accept|deny")                  \
	X(say_text, "say TEXT [TEXT ...]")

#define DEFINE(name, syntax)                                                                       \
	static int run_##name(struct mr *mr, const struct mr_args *args, struct mr_reply *reply)   \
	{                                                                                          \
		(void)mr;                                                                          \
		return echo(syntax, args, reply);                                                  \
	}
SYNTAXES(DEFINE)

static int run_refuse(struct mr *mr, const struct mr_args *args, struct mr_reply *reply)
{
	(void)mr;
	mr_reply(reply, json_string("half an answer"));
	if (mr_arg_has(args, "sentence"))
		return mr_refuse(reply, -EEXIST, "it exists already");
	return -EBUSY;
}

#define ENTRY(name, syntax) {syntax, "Does " #name ".", run_##name},
static const struct mr_cmd commands[] = {
	SYNTAXES(ENTRY){"refuse [sentence]", "Is refused.", run_refuse},
	{NULL},
};

static struct mr mr;

static int set_up(void **state)
{
	(void)state;
	ran = 0;
	return mr_control_new(&mr) != 0 || mr_control_register(mr.control, commands) != 0;
}

static int tear_down(void **state)
{
	(void)state;
	mr_control_free(&mr);
	return 0;
}

static void expect_words(const char *line, const char *words)
{
	struct mr_reply reply;
	char text[1024] = "";
	size_t i;
	json_t *word;

	if (mr_control_execute(&mr, line, strlen(line), &reply) != 0)
		fail_msg("'%s' is refused: %s", line, reply.error.text);
	json_array_foreach (json_object_get(reply.data, "words"), i, word) {
		size_t used = strlen(text);
		snprintf(text + used, sizeof(text) - used, "%s%s", i > 0 ? " " : "",
			 json_string_value(word));
	}
	assert_string_equal(text, words);
	mr_reply_clear(&reply);
}

static void expect_syntax(const char *line, const char *syntax)
{
	struct mr_reply reply;

	assert_int_equal(mr_control_execute(&mr, line, strlen(line), &reply), 0);
	assert_string_equal(json_string_value(json_object_get(reply.data, "syntax")), syntax);
	mr_reply_clear(&reply);
}

static void expect_refusal(const char *line, const char *sentence)
{
	struct mr_reply reply;
	int before = ran;

	assert_int_equal(mr_control_execute(&mr, line, strlen(line), &reply), -EINVAL);
	assert_string_equal(reply.error.text, sentence);
	assert_null(reply.data);
	assert_int_equal(ran, before);
	mr_reply_clear(&reply);
}

static void lines_are_read_as_their_syntax_says(void **state)
{
	(void)state;
	expect_words("bridge add br0", "bridge=bridge add=add NAME=br0");
	expect_words("  bridge\tadd  br0  # a comment", "bridge=bridge add=add NAME=br0");
	expect_words("bridge member add br0 port 0",
		     "bridge=bridge member=member add=add NAME=br0 port=port N=0");
	expect_words("station add br0 02:00:00:00:00:01 port 65535",
		     "station=station add=add NAME=br0 MAC=02:00:00:00:00:01 port=port N=65535");
	expect_words("neighbour test fe80::1", "neighbour=neighbour test=test ADDRESS=fe80::1");
	expect_words("neighbour test 10.0.0.1", "neighbour=neighbour test=test ADDRESS=10.0.0.1");
	expect_words("address add 2001:db8::1/64 port 1",
		     "address=address add=add PREFIX=2001:db8::1/64 port=port N=1");
	expect_words("set share 100 queue 0 lcore 3 size 4294967295",
		     "set=set share=share PERCENT=100 queue=queue Q=0 lcore=lcore L=3 size=size "
		     "BYTES=4294967295");
	expect_words("set promisc all on", "set=set promisc=promisc all=all on=on");
	expect_words("set promisc 2 off", "set=set promisc=promisc N=2 off=off");
}

static void options_come_in_any_order_each_once(void **state)
{
	(void)state;
	expect_words("bridge add br0 stations 7 ageing 5",
		     "bridge=bridge add=add NAME=br0 stations=stations COUNT=7 ageing=ageing "
		     "SECONDS=5");
	expect_words("bridge add br0 ageing 5 stations 7",
		     "bridge=bridge add=add NAME=br0 ageing=ageing SECONDS=5 stations=stations "
		     "COUNT=7");
	expect_refusal("bridge add br0 ageing 5 ageing 6",
		       "bridge add: expected stations or nothing more, not 'ageing'");
	expect_words("show station mac 02:00:00:00:00:01 bridge br0 port 1",
		     "show=show station=station mac=mac MAC=02:00:00:00:00:01 bridge=bridge "
		     "NAME=br0 port=port N=1");
	expect_refusal("show station port 1",
		       "show station: expected bridge, mac or nothing more, not 'port'");
}

static void repetition_takes_any_number(void **state)
{
	(void)state;
	expect_words("route add 10.0.0.0/8 via 10.0.1.2",
		     "route=route add=add A.B.C.D/L=10.0.0.0/8 via=via A.B.C.D=10.0.1.2");
	expect_words("route add 10.0.0.0/8 via 10.0.1.2 10.0.1.3 10.0.1.4",
		     "route=route add=add A.B.C.D/L=10.0.0.0/8 via=via A.B.C.D=10.0.1.2 "
		     "A.B.C.D=10.0.1.3 A.B.C.D=10.0.1.4");
	expect_words("route add 10.0.0.0/8 blackhole",
		     "route=route add=add A.B.C.D/L=10.0.0.0/8 blackhole=blackhole");
	expect_words("filter add to ::/0 from 10.0.0.0/8 from 11.0.0.0/8 to 12.0.0.0/8 deny",
		     "filter=filter add=add to=to PREFIX=::/0 from=from PREFIX=10.0.0.0/8 "
		     "from=from PREFIX=11.0.0.0/8 to=to PREFIX=12.0.0.0/8 deny=deny");
}

static void literals_are_meant_before_names(void **state)
{
	(void)state;
	expect_syntax("show bridge stats", "show bridge stats");
	expect_syntax("show bridge statz", "show bridge [NAME]");
	expect_syntax("show bridge", "show bridge [NAME]");
}

static void handlers_see_typed_values(void **state)
{
	(void)state;
	struct mr_syntax *syntax;
	struct mr_words words;
	struct mr_args args;
	struct mr_expected expected = {0};
	struct mr_error error = {0};
	const char *text = "x NAME N MAC A.B.C.D A.B.C.D/L PREFIX on|off [A.B.C.D ...]";
	const char *line = "x on 7 02:00:00:00:00:0a 10.0.0.1 10.0.0.9/8 fe80::/10 off 10.0.0.2";

	assert_int_equal(mr_syntax_compile(text, &syntax, &error), 0);
	assert_int_equal(mr_words_split(&words, line, strlen(line), &error), 0);
	assert_true(mr_syntax_match(syntax, &words, &args, &expected));
	assert_string_equal(mr_arg(&args, "NAME", 0)->text, "on");
	assert_true(mr_arg_has(&args, "off"));
	assert_false(mr_arg_has(&args, "on")); /* that is the name */
	assert_int_equal(mr_arg_number(&args, "N", 9), 7);
	assert_int_equal(mr_arg_number(&args, "SECONDS", 9), 9);
	assert_int_equal(mr_arg_number(&args, "NAME", 9), 9);
	assert_int_equal(mr_arg(&args, "MAC", 0)->mac.addr_bytes[5], 0x0a);
	assert_int_equal(mr_arg_count(&args, "A.B.C.D"), 2);
	assert_int_equal(mr_addr_ipv4(&mr_arg(&args, "A.B.C.D", 1)->addr), 0x0a000002);
	assert_int_equal(mr_arg(&args, "A.B.C.D/L", 0)->prefix.length, 8);
	assert_int_equal(mr_arg(&args, "PREFIX", 0)->prefix.addr.family, AF_INET6);
	assert_null(mr_arg(&args, "A.B.C.D", 2));
	mr_syntax_free(syntax);
}

static void refusals_name_the_word_and_what_is_allowed(void **state)
{
	(void)state;
	static const char *const cases[][2] = {
		{"brigde add br0", "unknown command 'brigde'; did you mean 'bridge'?"},
		{"frobnicate", "unknown command 'frobnicate'; try 'help'"},
		{"bridge add br0 ageing x",
		 "bridge add: SECONDS takes a decimal number (0 to 4294967295), not 'x'"},
		{"bridge add br0 ageing 4294967296",
		 "bridge add: SECONDS takes a decimal number (0 to 4294967295), not '4294967296'"},
		{"bridge add br0 ageing 18446744073709551617",
		 "bridge add: SECONDS takes a decimal number (0 to 4294967295), not "
		 "'18446744073709551617'"},
		{"bridge add br0 ageing", "'bridge add br0 ageing' needs SECONDS, a decimal "
					  "number (0 to 4294967295)"},
		{"bridge add br0 ageing -1",
		 "bridge add: SECONDS takes a decimal number (0 to 4294967295), not '-1'"},
		{"bridge add br0 ageing 007",
		 "bridge add: SECONDS takes a decimal number (0 to 4294967295), not '007'"},
		{"bridge add -x", "bridge add: NAME takes 1 to 31 letters, digits, '_', '.' or "
				  "'-' with no '-' in front, not '-x'"},
		{"bridge add 01234567890123456789012345678901",
		 "bridge add: NAME takes 1 to 31 letters, digits, '_', '.' or '-' with no '-' in "
		 "front, not '01234567890123456789012345678901'"},
		{"bridge member add br0 port 65536",
		 "bridge member add: N takes a port number (0 to 65535), not '65536'"},
		{"show port", "'show port' needs one of: info, stats, xstats"},
		{"show port stat", "show port: expected info, stats or xstats, not 'stat'; did you "
				   "mean 'stats'?"},
		{"show port info", "'show port info' needs one of: all, N"},
		{"show port info 65536",
		 "show port info: N takes a port number (0 to 65535), not '65536'"},
		{"show port info al", "show port info: expected all or N, not 'al'; did you mean "
				      "'all'?"},
		{"show port info all all", "show port info all: expected nothing more, not 'all'"},
		{"set promisc all maybe", "set promisc all: expected on or off, not 'maybe'"},
		{"set share 101 queue 0 lcore 0 size 0",
		 "set share: PERCENT takes a decimal number (0 to 100), not '101'"},
		{"neighbour add fe80::1 mac 02:00:00:00:00:01 port 0",
		 "neighbour add: A.B.C.D takes an IPv4 address like 192.0.2.1, not 'fe80::1'"},
		{"neighbour add 10.0.0.1 mac 2:0:0:0:0:1 port 0",
		 "neighbour add: MAC takes a MAC address like 02:00:00:00:00:01, not "
		 "'2:0:0:0:0:1'"},
		{"route add 20.0.1.0/33 blackhole",
		 "route add: A.B.C.D/L takes an IPv4 prefix like 192.0.2.0/24, not "
		 "'20.0.1.0/33'"},
		{"route add ::/0 blackhole",
		 "route add: A.B.C.D/L takes an IPv4 prefix like 192.0.2.0/24, not '::/0'"},
		{"route add 10.0.0.0/8 vai 10.0.0.1",
		 "route add: expected via or blackhole, not 'vai'; did you mean 'via'?"},
		{"route add 10.0.0.0/8 via 10.0.0.1 10.0.0",
		 "route add: A.B.C.D takes an IPv4 address like 192.0.2.1, not '10.0.0'"},
		{"filter add from 10.0.0.0/8",
		 "'filter add from 10.0.0.0/8' needs one of: from, to, accept, deny"},
		{"bridge add averylongwordthatnobodywouldtypebutprogramsmightdoso",
		 "bridge add: NAME takes 1 to 31 letters, digits, '_', '.' or '-' with no '-' in "
		 "front, not 'averylongwordthatnobodywouldtypebutprogr...'"},
	};

	for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		expect_refusal(cases[i][0], cases[i][1]);
}

static void handlers_refuse_with_a_sentence(void **state)
{
	(void)state;
	struct mr_reply reply;

	assert_int_equal(mr_control_execute(&mr, "refuse sentence", 15, &reply), -EEXIST);
	assert_string_equal(reply.error.text, "it exists already");
	assert_null(reply.data);
	assert_int_equal(mr_control_execute(&mr, "refuse", 6, &reply), -EBUSY);
	assert_string_equal(reply.error.text, "refuse [sentence]: Device or resource busy");
	assert_null(reply.data);
}

static int execute(const char *line, size_t length, struct mr_error *error)
{
	struct mr_reply reply;
	int rc = mr_control_execute(&mr, line, length, &reply);

	*error = reply.error;
	mr_reply_clear(&reply);
	return rc;
}

static void lines_have_limits(void **state)
{
	(void)state;
	static char line[10240 + 16] = "say ";
	struct mr_error error;

	assert_int_equal(execute("", 0, &error), 0);
	assert_int_equal(execute(" \t ", 3, &error), 0);
	assert_int_equal(execute("# bridge add \xc3\xa9", 15, &error), 0);
	assert_int_equal(ran, 0);
	assert_int_equal(execute("say a\0b", 7, &error), -EILSEQ);
	assert_string_equal(error.text, "byte 0x00 at column 6: a command is printable ASCII");
	assert_int_equal(execute("say # \0", 7, &error), -EILSEQ);
	assert_int_equal(execute("say a\r", 6, &error), -EILSEQ);
	assert_int_equal(execute("say \x7f", 5, &error), -EILSEQ);
	assert_int_equal(execute("say \xc3\xa9", 6, &error), -EILSEQ);
	assert_int_equal(ran, 0);

	memset(line + 4, 'x', sizeof(line) - 4);
	assert_int_equal(execute(line, 10244, &error), -EMSGSIZE);
	assert_string_equal(error.text, "a line of 10244 bytes is too long, 4096 are allowed");
	assert_int_equal(execute(line, 4097, &error), -EMSGSIZE);
	for (unsigned i = 4; i < 4096; i += 2)
		line[i] = ' ';
	assert_int_equal(execute(line, 4096, &error), -E2BIG);
	assert_string_equal(error.text, "more than 64 words in a line");
	assert_int_equal(execute(line, 4 + 2 * 63, &error), 0);
	assert_int_equal(execute(line, 4 + 2 * 64, &error), -E2BIG);
}

static void numbers_are_plain_decimal(void **state)
{
	(void)state;
	static const char *const bad[] = {"", "-1", "+1", " 1", "1 ", "00", "01", "0x1", "1e3"};
	uint64_t value = 5;

	for (unsigned i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_int_equal(mr_number_parse(bad[i], UINT64_MAX, &value), -EINVAL);
	assert_int_equal(mr_number_parse("18446744073709551616", UINT64_MAX, &value), -ERANGE);
	assert_int_equal(mr_number_parse("99999999999999999999", UINT64_MAX, &value), -ERANGE);
	assert_int_equal(mr_number_parse("184467440737095516160", UINT64_MAX, &value), -ERANGE);
	assert_int_equal(mr_number_parse("11", 10, &value), -ERANGE);
	assert_int_equal(value, 5);
	assert_int_equal(mr_number_parse("18446744073709551615", UINT64_MAX, &value), 0);
	assert_true(value == UINT64_MAX);
	assert_int_equal(mr_number_parse("0", 0, &value), 0);
	assert_int_equal(value, 0);
}

static void faulty_syntaxes_are_refused(void **state)
{
	(void)state;
	static const char *const bad[] = {
		"",     "bridge [",   "bridge ]",        "bridge []",          "bridge [NAME",
		"NAME", "bridge FOO", "bridge a||b",     "bridge ...",         "bridge [... NAME]",
		"x !",  "[bridge]",   "bridge [[NAME]]", "bridge [NAME ... x]"};
	struct mr_error error = {0};
	struct mr_syntax *syntax;

	for (unsigned i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		assert_int_equal(mr_syntax_compile(bad[i], &syntax, &error), -EINVAL);
		error.text[0] = '\0';
	}
	/* All of a table or nothing. */
	static const struct mr_cmd half_bad[] = {
		{"fine", "", run_say_text}, {"not [fine", "", run_say_text}, {NULL}};
	static const struct mr_cmd twice[] = {{"bridge del NAME", "", run_say_text}, {NULL}};
	assert_int_equal(mr_control_register(mr.control, half_bad), -EINVAL);
	expect_refusal("fine", "unknown command 'fine'; try 'help'");
	assert_int_equal(mr_control_register(mr.control, twice), -EEXIST);
}

static void a_syntax_of_many_readings_ends(void **state)
{
	(void)state;
	struct mr_syntax *syntax;
	struct mr_words words;
	struct mr_args args;
	struct mr_expected expected = {0};
	struct mr_error error = {0};
	char line[200] = "x";

	for (unsigned i = 0; i < 60; i++)
		strcat(line, " a");
	assert_int_equal(mr_syntax_compile("x [TEXT [TEXT] ...] end", &syntax, &error), 0);
	assert_int_equal(mr_words_split(&words, line, strlen(line), &error), 0);
	assert_false(mr_syntax_match(syntax, &words, &args, &expected));
	mr_syntax_free(syntax);
}

static void help_lists_what_starts_with_the_words(void **state)
{
	(void)state;
	struct mr_reply reply;

	assert_int_equal(mr_control_execute(&mr, "help show port", 14, &reply), 0);
	assert_int_equal(json_array_size(reply.data), 3);
	assert_string_equal(
		json_string_value(json_object_get(json_array_get(reply.data, 1), "command")),
		"show port stats all|N");
	mr_reply_clear(&reply);
	assert_int_equal(mr_control_execute(&mr, "help show config cores", 22, &reply), 0);
	assert_int_equal(json_array_size(reply.data), 1);
	mr_reply_clear(&reply);
	assert_int_equal(mr_control_execute(&mr, "help nothing", 12, &reply), -ENOENT);
	assert_string_equal(reply.error.text, "no command starts with 'nothing'; 'help' shows all");
	mr_reply_clear(&reply);
	assert_int_equal(mr_control_execute(&mr, "help", 4, &reply), 0);
	assert_int_equal(json_array_size(reply.data),
			 2 + sizeof(commands) / sizeof(commands[0]) - 1);
	mr_reply_clear(&reply);
}

static void count_quits(void *context)
{
	++*(int *)context;
}

static void quit_calls_its_hook(void **state)
{
	(void)state;
	struct mr_error error;
	int quits = 0;

	assert_int_equal(execute("quit", 4, &error), -EOPNOTSUPP);
	mr_control_on_quit(mr.control, count_quits, &quits);
	assert_int_equal(execute("quit", 4, &error), 0);
	assert_int_equal(quits, 1);
}

static void config_files_stop_at_the_first_refusal(void **state)
{
	(void)state;
	char path[] = "/tmp/millrace-test-cmd-XXXXXX", wanted[256];
	int fd = mkstemp(path);
	struct mr_error error = {0};
	static const char good[] = "# ports\n\n  say one # two\nbridge add br0",
			  bad[] = "\nsay x\nbridge ad br1\nsay y\n";

	assert_true(fd >= 0);
	assert_int_equal(write(fd, good, strlen(good)), strlen(good));
	assert_int_equal(mr_control_config_file(&mr, path, &error), 0);
	assert_int_equal(ran, 2);
	assert_int_equal(write(fd, bad, strlen(bad)), strlen(bad));
	assert_int_equal(mr_control_config_file(&mr, path, &error), -EINVAL);
	snprintf(wanted, sizeof(wanted),
		 "%s:6: bridge: expected add, del or member, not 'ad'; did you mean 'add'?", path);
	assert_string_equal(error.text, wanted);
	assert_int_equal(ran, 5);
	unlink(path);
	close(fd);

	error.text[0] = '\0';
	assert_int_equal(mr_control_config_file(&mr, path, &error), -ENOENT);
	error.text[0] = '\0';
	assert_int_equal(mr_control_config_file(&mr, "/tmp", &error), -EISDIR);
	assert_string_equal(error.text, "/tmp: is a directory, not a file of commands");
}

/* Random lines, most of them out of words that are nearly right. */
static void random_lines_do_no_harm(void **state)
{
	(void)state;
	static const char *const words[] = {"bridge",  "add",
					    "del",     "member",
					    "port",    "show",
					    "station", "all",
					    "on",      "filter",
					    "from",    "10.0.0.1",
					    "::/0",    "0",
					    "65536",   "ageing",
					    "say",     "10.0.0.0/8",
					    "to",      "accept",
					    "[",       "|",
					    "help",    "via",
					    "route",   "02:00:00:00:00:01",
					    "br0",     "#",
					    "stats",   "mac"};
	unsigned seed = 20260101, refused = 0, accepted = 0;

	for (unsigned round = 0; round < 30000; round++) {
		char line[600];
		size_t length = 0;
		unsigned count = (unsigned)rand_r(&seed) % 12;
		for (unsigned i = 0; i < count; i++) {
			const char *word =
				words[(unsigned)rand_r(&seed) % (sizeof(words) / sizeof(words[0]))];
			length += (size_t)sprintf(line + length, "%s ", word);
		}
		if (round % 4 == 0) {
			for (unsigned i = 0; i < 1 + length / 16; i++)
				line[(unsigned)rand_r(&seed) % (length + 1)] = (char)rand_r(&seed);
		}
		struct mr_error error;
		int rc = execute(line, length, &error);
		assert_true(rc <= 0);
		assert_true((rc < 0) == (error.text[0] != '\0'));
		refused += rc < 0;
		accepted += rc == 0;
	}
	assert_true(refused > 1000 && accepted > 100);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(lines_are_read_as_their_syntax_says, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(options_come_in_any_order_each_once, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(repetition_takes_any_number, set_up, tear_down),
		cmocka_unit_test_setup_teardown(literals_are_meant_before_names, set_up, tear_down),
		cmocka_unit_test(handlers_see_typed_values),
		cmocka_unit_test_setup_teardown(refusals_name_the_word_and_what_is_allowed, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(handlers_refuse_with_a_sentence, set_up, tear_down),
		cmocka_unit_test_setup_teardown(lines_have_limits, set_up, tear_down),
		cmocka_unit_test(numbers_are_plain_decimal),
		cmocka_unit_test_setup_teardown(faulty_syntaxes_are_refused, set_up, tear_down),
		cmocka_unit_test(a_syntax_of_many_readings_ends),
		cmocka_unit_test_setup_teardown(help_lists_what_starts_with_the_words, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(quit_calls_its_hook, set_up, tear_down),
		cmocka_unit_test_setup_teardown(config_files_stop_at_the_first_refusal, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(random_lines_do_no_harm, set_up, tear_down),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
