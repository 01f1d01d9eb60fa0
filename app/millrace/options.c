/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Options are parsed before EAL starts, so that a wrong one leaves every device as it was. A table
 * holds their names, their ranges and their help: what --help prints is what the parser checks.
 */
#include "options.h"

#include <ctype.h>
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "control/ctl_protocol.h"

enum option_id {
	OPTION_INTERACTIVE,
	OPTION_AUTO_START,
	OPTION_PORTMASK,
	OPTION_NB_CORES,
	OPTION_RXQ,
	OPTION_TXQ,
	OPTION_RXD,
	OPTION_TXD,
	OPTION_BURST,
	OPTION_TOTAL_NUM_MBUFS,
	OPTION_MBUF_SIZE,
	OPTION_HANDOVER_SIZE,
	OPTION_STATS_PERIOD,
	OPTION_FORWARD_MODE,
	OPTION_IDLE,
	OPTION_MAX_STATIONS,
	OPTION_FILTER_FLOWS,
	OPTION_MAX_ROUTES,
	OPTION_CONFIG,
	OPTION_CTL_SOCKET,
	OPTION_PROFILES,
	OPTION_HELP,
	OPTION_VERSION,
	OPTION_COUNT
};

struct option_row {
	const char *name, *value; /* value: how it is called in the help, NULL for a flag */
	uint64_t min, max;        /* of a number; max 0: not a number */
	const char *help;
};

static const struct option_row rows[OPTION_COUNT] = {
	[OPTION_INTERACTIVE] = {"interactive", NULL, 0, 0,
				"Run with a prompt (also -i); forwarding waits for `start`"},
	[OPTION_AUTO_START] = {"auto-start", NULL, 0, 0, "Start forwarding at once, also with -i"},
	[OPTION_PORTMASK] = {"portmask", "MASK", 1, UINT32_MAX,
			     "Ports to use, a hexadecimal mask; all by default"},
	[OPTION_NB_CORES] = {"nb-cores", "N", 1, 64,
			     "Forwarding lcores to use; all but the main one by default"},
	[OPTION_RXQ] = {"rxq", "N", 1, 16,
			"Receive queues a port; by default what its driver's profile says"},
	[OPTION_TXQ] = {"txq", "N", 1, 16,
			"Transmit queues a port; by default what the profile says"},
	[OPTION_RXD] = {"rxd", "N", 1, 32768,
			"Descriptors a receive queue; by default what the profile says"},
	[OPTION_TXD] = {"txd", "N", 1, 32768,
			"Descriptors a transmit queue; by default what the profile says"},
	[OPTION_BURST] =
		{"burst", "N", 1, 64,
		 "Packets that a receive call takes at most; by default what the profile says"},
	[OPTION_TOTAL_NUM_MBUFS] = {"total-num-mbufs", "N", 1024, 16777216,
				    "Buffers in the pool of each NUMA node; computed by default"},
	[OPTION_MBUF_SIZE] = {"mbuf-size", "BYTES", 1152, 65535,
			      "Size of a buffer, with 128 bytes of headroom; 2176 by default"},
	[OPTION_HANDOVER_SIZE] =
		{"handover-size", "N", 64, 65536,
		 "Packets that may wait at a port for each lcore that does not own "
		 "a transmit queue; 1024 by default"},
	[OPTION_STATS_PERIOD] = {"stats-period", "SECONDS", 1, 86400,
				 "Print statistics every so many seconds; never by default"},
	[OPTION_FORWARD_MODE] = {"forward-mode", "bridge|route|io", 0, 0,
				 "What ports do that no command names; bridge by default"},
	[OPTION_IDLE] =
		{"idle", "busy|adaptive|interrupt", 0, 0,
		 "What lcores do without packets: poll, sleep up to 0.4 ms, or sleep until\n"
		 "                                     an rx interrupt; adaptive by default"},
	[OPTION_MAX_STATIONS] = {"max-stations", "N", 1, 4194304,
				 "Room for stations of all bridges; 65536 by default"},
	[OPTION_FILTER_FLOWS] = {"filter-flows", "N", 64, 4194304,
				 "Room for flows of each lcore, once rules keep state; 65536 by\n"
				 "                                     default"},
	[OPTION_MAX_ROUTES] = {"max-routes", "N", 16, 16777216,
			       "Room for IPv4 routes; 1048576 by default"},
	[OPTION_CONFIG] = {"config", "FILE", 0, 0,
			   "Run the commands in FILE, one a line, at start; none by default"},
	[OPTION_CTL_SOCKET] = {"ctl-socket", "PATH", 0, 0,
			       "Socket for millracectl; " MR_CTL_SOCKET " by default, or\n"
			       "                                     /run/millrace/PREFIX.sock "
			       "with EAL's --file-prefix=PREFIX"},
	[OPTION_PROFILES] = {"profiles", "DIR", 0, 0,
			     "Where the driver profiles are, instead of the installed ones"},
	[OPTION_HELP] = {"help", NULL, 0, 0, "Print this and exit"},
	[OPTION_VERSION] = {"version", NULL, 0, 0, "Print the version and exit"},
};

static const char *const forward_modes[] = {
	[MR_MODE_IO] = "io", [MR_MODE_BRIDGE] = "bridge", [MR_MODE_ROUTE] = "route"};

static const char *const idle_modes[] = {[MR_IDLE_BUSY] = "busy",
					 [MR_IDLE_ADAPTIVE] = "adaptive",
					 [MR_IDLE_INTERRUPT] = "interrupt"};

void options_usage(const char *program)
{
	printf("Usage: %s [EAL options] -- [options]\n\n"
	       "millrace bridges and routes between DPDK ports. The main lcore controls, the "
	       "others "
	       "forward.\n\nOptions after `--`:\n",
	       program);
	for (unsigned i = 0; i < OPTION_COUNT; i++) {
		char left[48];

		snprintf(left, sizeof(left), "--%s%s%s", rows[i].name, rows[i].value ? "=" : "",
			 rows[i].value ? rows[i].value : "");
		printf("  %-34s %s", left, rows[i].help);
		if (i == OPTION_PORTMASK)
			printf(" (0x1 to 0xffffffff)");
		else if (rows[i].max != 0)
			printf(" (%" PRIu64 " to %" PRIu64 ")", rows[i].min, rows[i].max);
		printf("\n");
	}
	printf("\nExample: %s -l 0,1 -a 0000:02:00.0 -a 0000:03:00.0 -- "
	       "--config=/etc/millrace/millrace.conf\n\n",
	       program);
}

static void refuse(const struct option_row *row, const char *value)
{
	fprintf(stderr, "millrace: --%s: '%s' is not allowed; ", row->name, value);
	if (row == &rows[OPTION_PORTMASK])
		fprintf(stderr, "allowed is a hexadecimal mask, 0x1 to 0xffffffff\n");
	else if (row->max != 0)
		fprintf(stderr, "allowed are %" PRIu64 " to %" PRIu64 "\n", row->min, row->max);
	else
		fprintf(stderr, "allowed: %s\n", row->value);
	exit(EXIT_FAILURE);
}

/* Digits only: strtoull would take signs, blanks and octal. */
static uint64_t number(const struct option_row *row, const char *text)
{
	bool hex = row == &rows[OPTION_PORTMASK];
	const char *digits = hex && (strncmp(text, "0x", 2) == 0) ? text + 2 : text;
	char *end;

	if (!(hex ? isxdigit((unsigned char)digits[0]) : isdigit((unsigned char)digits[0])))
		refuse(row, text);
	errno = 0;
	uint64_t value = strtoull(digits, &end, hex ? 16 : 10);
	if (errno != 0 || *end != '\0' || value < row->min || value > row->max)
		refuse(row, text);
	return value;
}

static enum mr_iface_mode forward_mode(const char *text)
{
	for (unsigned mode = 0; mode < RTE_DIM(forward_modes); mode++)
		if (forward_modes[mode] != NULL && strcmp(text, forward_modes[mode]) == 0)
			return (enum mr_iface_mode)mode;
	refuse(&rows[OPTION_FORWARD_MODE], text);
	return MR_MODE_NONE;
}

static enum mr_idle idle_mode(const char *text)
{
	for (unsigned mode = 0; mode < RTE_DIM(idle_modes); mode++)
		if (strcmp(text, idle_modes[mode]) == 0)
			return (enum mr_idle)mode;
	refuse(&rows[OPTION_IDLE], text);
	return MR_IDLE_ADAPTIVE;
}

static const char *path(const struct option_row *row, const char *text, size_t size)
{
	if (text[0] == '\0')
		refuse(row, text);
	if (strlen(text) >= size) {
		fprintf(stderr,
			"millrace: --%s: the path is too long; allowed are %zu characters\n",
			row->name, size - 1);
		exit(EXIT_FAILURE);
	}
	return text;
}

static void apply(struct options *options, enum option_id id, const char *value)
{
	struct mr_port_options *port = &options->appliance.port;
	const struct option_row *row = &rows[id];
	uint64_t n = row->max != 0 ? number(row, value) : 0;

	switch (id) {
	case OPTION_INTERACTIVE:
		options->interactive = true;
		break;
	case OPTION_AUTO_START:
		options->auto_start = true;
		break;
	case OPTION_PORTMASK:
		port->portmask = n;
		break;
	case OPTION_NB_CORES:
		options->nb_cores = (unsigned)n;
		break;
	case OPTION_RXQ:
		port->rxq = (uint16_t)n;
		break;
	case OPTION_TXQ:
		port->txq = (uint16_t)n;
		break;
	case OPTION_RXD:
		port->rxd = (uint16_t)n;
		break;
	case OPTION_TXD:
		port->txd = (uint16_t)n;
		break;
	case OPTION_BURST:
		port->burst = (uint16_t)n;
		break;
	case OPTION_TOTAL_NUM_MBUFS:
		port->total_num_mbufs = (uint32_t)n;
		break;
	case OPTION_MBUF_SIZE:
		port->mbuf_size = (uint16_t)n;
		break;
	case OPTION_HANDOVER_SIZE:
		port->handover_size = (uint32_t)n;
		break;
	case OPTION_STATS_PERIOD:
		options->stats_period = (unsigned)n;
		break;
	case OPTION_FORWARD_MODE:
		options->appliance.forward_mode = forward_mode(value);
		break;
	case OPTION_IDLE:
		options->appliance.idle = idle_mode(value);
		break;
	case OPTION_MAX_STATIONS:
		options->appliance.max_stations = (uint32_t)n;
		break;
	case OPTION_FILTER_FLOWS:
		options->appliance.filter_flows = (uint32_t)n;
		break;
	case OPTION_MAX_ROUTES:
		options->appliance.router.max_routes = (uint32_t)n;
		break;
	case OPTION_CONFIG:
		options->config = path(row, value, 4096);
		break;
	case OPTION_CTL_SOCKET:
		snprintf(options->ctl_socket, sizeof(options->ctl_socket), "%s",
			 path(row, value, sizeof(options->ctl_socket)));
		break;
	case OPTION_PROFILES:
		port->profiles_dir = path(row, value, 4096);
		break;
	case OPTION_HELP:
		options_usage("millrace");
		exit(EXIT_SUCCESS);
	case OPTION_VERSION:
		printf("millrace %s\n", MR_VERSION);
		exit(EXIT_SUCCESS);
	case OPTION_COUNT:
		break;
	}
}

/* The names, so that one table serves getopt too. Abbreviations are refused: a script that uses
 * one would break when an option with the same start comes. */
static void check_unabbreviated(const char *word, enum option_id id)
{
	const char *name = word + 2;
	size_t length = strcspn(name, "=");

	if (strncmp(word, "--", 2) == 0 && length != strlen(rows[id].name)) {
		fprintf(stderr, "millrace: unknown option '--%.*s'; did you mean --%s?\n",
			(int)length, name, rows[id].name);
		exit(EXIT_FAILURE);
	}
}

/* Instances with file prefixes of their own have sockets of their own. */
static void default_ctl_socket(struct options *options, const char *file_prefix)
{
	if (file_prefix == NULL)
		snprintf(options->ctl_socket, sizeof(options->ctl_socket), "%s", MR_CTL_SOCKET);
	else
		snprintf(options->ctl_socket, sizeof(options->ctl_socket), "/run/millrace/%s.sock",
			 file_prefix);
}

void options_parse(struct options *options, int argc, char **argv, const char *file_prefix)
{
	struct option long_options[OPTION_COUNT + 1] = {0};
	int id;

	for (unsigned i = 0; i < OPTION_COUNT; i++)
		long_options[i] = (struct option){rows[i].name,
						  rows[i].value ? required_argument : no_argument,
						  NULL, (int)i + 256};

	*options = (struct options){.appliance.forward_mode = MR_MODE_BRIDGE};
	default_ctl_socket(options, file_prefix);
	optind = 1;
	opterr = 0;
	while (true) {
		int at = optind;

		id = getopt_long(argc, argv, ":i", long_options, NULL);
		if (id == -1)
			break;
		if (id == 'i') {
			options->interactive = true;
		} else if (id == ':') {
			fprintf(stderr, "millrace: option '%s' needs a value\n", argv[at]);
			exit(EXIT_FAILURE);
		} else if (id == '?') {
			fprintf(stderr,
				"millrace: unknown option '%s', or a value for an option that "
				"takes "
				"none; see --help\n",
				argv[at]);
			exit(EXIT_FAILURE);
		} else {
			check_unabbreviated(argv[at], (enum option_id)(id - 256));
			apply(options, (enum option_id)(id - 256), optarg);
		}
	}
	if (optind < argc) {
		fprintf(stderr,
			"millrace: unexpected word '%s'; options start with --, see --help\n",
			argv[optind]);
		exit(EXIT_FAILURE);
	}
}
