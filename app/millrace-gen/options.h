/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef GEN_OPTIONS_H
#define GEN_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "engine.h"
#include "port/port.h"
#include "range.h"
#include "stream.h"

enum trial { TRIAL_NONE, TRIAL_RFC2544, TRIAL_BACK_TO_BACK, TRIAL_LATENCY };
enum ways { WAYS_ONE = 1, WAYS_TWO = 2, WAYS_BOTH = 3 }; /* both: one run after the other */

struct rate_option {
	bool given;
	bool of_link; /* value is thousandths of a per cent of the link, else frames in 1000 s */
	uint64_t value;
};

/* What follows `--` on the command line. */
struct options {
	struct mr_port_options port;
	struct size_mix
		sizes; /* of a timed run, each in its turn; of a trial, one after the other */
	bool sizes_given;
	struct addr_range src_ip, dst_ip;
	struct port_range src_port, dst_port;
	struct mac_range src_mac[ENGINE_PORTS]; /* of each port; count 0: the port's own */
	struct mac_range dst_mac[ENGINE_PORTS]; /* that each port sends to; count 0: not given */
	struct mr_addr gateway[ENGINE_PORTS];   /* of each port; family 0: none */
	const char *pcap[ENGINE_PORTS];         /* capture file that each port sends, or NULL */
	uint16_t vlan;
	uint32_t streams;

	struct rate_option rate;
	uint32_t link_speed; /* Mb/s; 0: what the first port reports */
	uint64_t count;      /* frames a direction; 0: as long as seconds */
	uint32_t seconds;
	uint32_t burst;
	enum ways ways;
	uint32_t settle_ms, warm_up, wait_link;
	bool verify;

	enum trial trial;
	uint32_t resolution; /* thousandths of a per cent of the highest load */
	uint32_t repeat;

	const char *csv, *json; /* files, "-" for stdout, or NULL */
};

#define OPTION_WARM_UP_AUTO UINT32_MAX

/* Parses argv (argv[0] is the program's name) before EAL starts. A wrong option is reported on
 * stderr with what is allowed; then, and after --help or --version, the program ends. */
void options_parse(struct options *options, int argc, char **argv);

/* Prints the options; EAL calls it for --help before `--`. */
void options_usage(const char *program);

#endif
