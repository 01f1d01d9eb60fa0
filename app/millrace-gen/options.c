/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Options are parsed before EAL starts, so that a wrong one leaves every device as it was. A table
 * holds their names, where they go, their ranges and their help: what --help prints is what the
 * parser checks.
 */
#include "options.h"

#include <getopt.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_common.h>

#include "base/number.h"
#include "values.h"

struct option_row {
	const char *name, *value; /* value: as the help calls it; NULL: a flag */
	int (*parse)(struct options *, const char *text); /* of a value that is no plain number */
	size_t offset, size; /* else where it goes: a flag (bool), a number, or text (max 0) */
	uint64_t min, max;
	const char *help;
};

#define FIELD(field)                                                                               \
	.offset = offsetof(struct options, field), .size = sizeof(((struct options *)0)->field)
#define NUMBER(field, low, high) FIELD(field), .min = (low), .max = (high)
#define NEW_LINE "\n                                     "

enum { ROW_HELP, ROW_VERSION };

static const struct option_row rows[] = {
	[ROW_HELP] = {"help", .help = "Print this and exit"},
	[ROW_VERSION] = {"version", .help = "Print the version and exit"},
	{"size", "SIZES", value_size,
	 .help = "Octets of a frame with FCS, 64 to 1522: N[,N...], or N:WEIGHT,... for a" NEW_LINE
		 "mix, or imix (64:7,570:4,1518:1); 64 by default"},
	{"rate", "RATE", value_rate,
	 .help = "Frames a second each way: N, Nk, NM, or N% of the link; 1000 by default," NEW_LINE
		 "in trials 100%"},
	{"link-speed", "MBPS", NUMBER(link_speed, 1, 1000000),
	 .help = "What N% is of; by default what the first port reports"},
	{"seconds", "N", NUMBER(seconds, 1, 1000000),
	 .help = "How long to send; 10 by default, or as long as --count takes"},
	{"count", "N", NUMBER(count, 1, 1000000000000), .help = "Frames to send each way"},
	{"ways", "one|two|both", value_ways,
	 .help = "Send from the first port, or from both; both: one, then two; one by default"},
	{"src-ip", "A[-B]", value_src_ip,
	 .help = "Addresses of the first port, IPv4 or IPv6; 198.18.0.2 by default"},
	{"dst-ip", "A[-B]", value_dst_ip,
	 .help = "Addresses of the second port; 198.19.0.2 by default"},
	{"src-port", "N[-M]", value_src_port,
	 .help = "UDP ports of the first port; 49184 by default"},
	{"dst-port", "N[-M]", value_dst_port, .help = "UDP ports of the second port; 9 by default"},
	{"src-mac", "A[-B][,C[-D]]", value_src_mac,
	 .help = "MACs of the first and of the second port; the devices' own by default"},
	{"dst-mac", "A[-B][,C[-D]]", value_dst_mac,
	 .help = "MACs that the first and the second port send to; the other port's by" NEW_LINE
		 "default, or the gateway's"},
	{"gateway", "A[,B]", value_gateway,
	 .help = "IPv4 router of the first and of the second port, found by ARP"},
	{"vlan", "ID", NUMBER(vlan, 1, 4094), .help = "Send with this VLAN tag"},
	{"streams", "N", NUMBER(streams, 1, TAG_MAX_STREAMS),
	 .help = "Streams each way: order is checked within one; by default as many as the" NEW_LINE
		 "largest range has values"},
	{"pcap", "FILE[,FILE]", value_pcap, .help = "Send the frames of capture files instead"},
	{"burst", "N", NUMBER(burst, 1, 64),
	 .help = "Frames a send call takes at most; 32 by default"},
	{"verify", .help = "Check the checksums of all frames that arrive", FIELD(verify)},
	{"settle", "MS", NUMBER(settle_ms, 1, 600000),
	 .help = "How long frames may be on their way when all are sent; 2000 by default"},
	{"warm-up", "FRAMES", NUMBER(warm_up, 0, 1000000),
	 .help = "Frames that go ahead uncounted, until they come through or three times;" NEW_LINE
		 "by default one for each value of the largest range"},
	{"wait-link", "SECONDS", NUMBER(wait_link, 0, 3600),
	 .help = "How long to wait for links and gateways; 10 by default"},
	{"trial", "TRIAL", value_trial,
	 .help = "RFC 2544: rfc2544 (throughput), back-to-back or latency, for each of "
		 "--size;" NEW_LINE "64,128,256,512,1024,1280,1518 by default"},
	{"resolution", "PERCENT", value_resolution,
	 .help = "How closely a search looks, of --rate; 0.5 by default"},
	{"repeat", "N", NUMBER(repeat, 1, 1000),
	 .help = "Measurements of back-to-back and latency that make an average; 1 by default"},
	{"csv", "FILE", FIELD(csv), .help = "Write the results there as CSV, too; - is stdout"},
	{"json", "FILE", FIELD(json), .help = "Write the results there as JSON, too; - is stdout"},
	{"portmask", "MASK", value_portmask,
	 .help = "Ports to use, a hexadecimal mask of one or two; all by default"},
	{"rxd", "N", NUMBER(port.rxd, 1, 32768), .help = "Descriptors a receive queue"},
	{"txd", "N", NUMBER(port.txd, 1, 32768), .help = "Descriptors a transmit queue"},
	{"profiles", "DIR", FIELD(port.profiles_dir),
	 .help = "Where the driver profiles are, instead of the installed ones"},
};

void options_usage(const char *program)
{
	printf("Usage: %s [EAL options] -- [options]\n\n"
	       "millrace-gen sends traffic through what is between its one or two ports, and tells "
	       "what\nbecame of it: loss, duplicates, reordering, latency.\n\nOptions after "
	       "`--`:\n",
	       program);
	for (unsigned i = 0; i < RTE_DIM(rows); i++) {
		char left[48];

		snprintf(left, sizeof(left), "--%s%s%s", rows[i].name, rows[i].value ? "=" : "",
			 rows[i].value ? rows[i].value : "");
		printf("  %-34s %s", left, rows[i].help);
		if (rows[i].max != 0)
			printf(" (%" PRIu64 " to %" PRIu64 ")", rows[i].min, rows[i].max);
		printf("\n");
	}
	printf("\nExample: %s -l 0,1 -a 0000:02:00.0 -a 0000:03:00.0 -- --rate=50%% "
	       "--seconds=60\n\n",
	       program);
}

__attribute__((noreturn)) static void refuse(const struct option_row *row, const char *value)
{
	fprintf(stderr, "millrace-gen: --%s: '%s' is not allowed; ", row->name, value);
	if (row->max != 0)
		fprintf(stderr, "allowed are %" PRIu64 " to %" PRIu64 "\n", row->min, row->max);
	else
		fprintf(stderr, "allowed: %s (see --help)\n", row->value);
	exit(EXIT_FAILURE);
}

static void store_number(void *field, size_t size, uint64_t value)
{
	if (size == sizeof(uint16_t))
		*(uint16_t *)field = (uint16_t)value;
	else if (size == sizeof(uint32_t))
		*(uint32_t *)field = (uint32_t)value;
	else
		*(uint64_t *)field = value;
}

static void apply(struct options *options, const struct option_row *row, const char *text)
{
	void *field = (uint8_t *)options + row->offset;
	uint64_t value;

	if (row == &rows[ROW_HELP]) {
		options_usage("millrace-gen");
		exit(EXIT_SUCCESS);
	} else if (row == &rows[ROW_VERSION]) {
		printf("millrace-gen %s\n", MR_VERSION);
		exit(EXIT_SUCCESS);
	} else if (row->value == NULL) {
		*(bool *)field = true;
	} else if (row->parse != NULL) {
		if (row->parse(options, text) != 0)
			refuse(row, text);
	} else if (row->max != 0) {
		if (mr_number_parse(text, row->max, &value) != 0 || value < row->min)
			refuse(row, text);
		store_number(field, row->size, value);
	} else {
		if (text[0] == '\0')
			refuse(row, text);
		*(const char **)field = text;
	}
}

__attribute__((noreturn)) static void refuse_options(const char *why)
{
	fprintf(stderr, "millrace-gen: %s\n", why);
	exit(EXIT_FAILURE);
}

/* What options say together. */
static void check(struct options *options)
{
	if (options->src_ip.first.family != options->dst_ip.first.family)
		refuse_options("--src-ip and --dst-ip are of one family: IPv4 or IPv6");
	if (options->src_ip.first.family == AF_INET6 && options->gateway[0].family != 0)
		refuse_options("--gateway is for IPv4; give IPv6 --dst-mac");
	for (unsigned i = 0; i < ENGINE_PORTS; i++)
		if (options->gateway[i].family != 0 && options->dst_mac[i].count != 0)
			refuse_options("--gateway and --dst-mac: one of them for each port");
	if (options->pcap[0] != NULL && (options->sizes_given || options->streams != 0))
		refuse_options("--pcap: its frames have sizes and streams of their own");
	if (options->trial == TRIAL_NONE && options->ways == WAYS_BOTH)
		refuse_options("--ways=both is for trials");
	if (options->trial != TRIAL_NONE && options->count != 0)
		refuse_options("--count is not for trials: give --seconds");
	if (options->trial != TRIAL_NONE && options->pcap[0] != NULL)
		refuse_options("--trial and --pcap: trials make frames of their sizes");
}

static void set_defaults(struct options *options)
{
	*options = (struct options){
		.burst = 32,
		.ways = WAYS_ONE,
		.settle_ms = 2000,
		.warm_up = OPTION_WARM_UP_AUTO,
		.wait_link = 10,
		.resolution = 500,
		.repeat = 1,
		.port = {.rxq = 1, .txq = 1},
	};
	addr_range_parse("198.18.0.2", &options->src_ip);
	addr_range_parse("198.19.0.2", &options->dst_ip);
	port_range_parse("49184", &options->src_port);
	port_range_parse("9", &options->dst_port);
}

static void fill_in(struct options *options)
{
	bool ipv6 = options->src_ip.first.family == AF_INET6;
	unsigned least = stream_min_size(ipv6, options->vlan != 0);

	if (!options->sizes_given) {
		value_size(options,
			   options->trial != TRIAL_NONE ? "64,128,256,512,1024,1280,1518" : "64");
		options->sizes.part[0].size = (uint16_t)least;
	}
	if (!options->rate.given)
		value_rate(options, options->trial != TRIAL_NONE ? "100%" : "1000");
	if (options->seconds == 0 && options->count == 0)
		options->seconds = 10;
}

/* Abbreviations are refused: a script that uses one would break when an option with the same start
 * comes. */
static void check_unabbreviated(const char *word, const struct option_row *row)
{
	size_t length = strcspn(word + 2, "=");

	if (length != strlen(row->name)) {
		fprintf(stderr, "millrace-gen: unknown option '--%.*s'; did you mean --%s?\n",
			(int)length, word + 2, row->name);
		exit(EXIT_FAILURE);
	}
}

void options_parse(struct options *options, int argc, char **argv)
{
	struct option long_options[RTE_DIM(rows) + 1] = {0};

	for (unsigned i = 0; i < RTE_DIM(rows); i++)
		long_options[i] = (struct option){rows[i].name,
						  rows[i].value ? required_argument : no_argument,
						  NULL, (int)i + 256};
	set_defaults(options);
	optind = 1;
	opterr = 0;
	while (true) {
		int at = optind, id = getopt_long(argc, argv, ":", long_options, NULL);

		if (id == -1)
			break;
		if (id == ':') {
			fprintf(stderr, "millrace-gen: option '%s' needs a value\n", argv[at]);
			exit(EXIT_FAILURE);
		}
		if (id == '?') {
			fprintf(stderr,
				"millrace-gen: unknown option '%s', or a value for an option that "
				"takes none; see --help\n",
				argv[at]);
			exit(EXIT_FAILURE);
		}
		check_unabbreviated(argv[at], &rows[id - 256]);
		apply(options, &rows[id - 256], optarg);
	}
	if (optind < argc) {
		fprintf(stderr,
			"millrace-gen: unexpected word '%s'; options start with --, see --help\n",
			argv[optind]);
		exit(EXIT_FAILURE);
	}
	check(options);
	fill_in(options);
}
