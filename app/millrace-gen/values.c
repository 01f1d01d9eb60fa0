/* SPDX-License-Identifier: BSD-3-Clause */
#include "values.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include <rte_common.h>

#include "base/number.h"
#include "pace.h"

#define LIST_TEXT 256

/* Splits a list at its commas, in place. Returns how many parts there are, -EINVAL for more than
 * max or an empty one. */
static int split(char *text, char **parts, int max)
{
	int count = 0;

	while (true) {
		char *comma = strchr(text, ',');
		if (count == max || text[0] == ',' || text[0] == '\0')
			return -EINVAL;
		parts[count++] = text;
		if (comma == NULL)
			return count;
		*comma = '\0';
		text = comma + 1;
	}
}

static int list(const char *text, char copy[LIST_TEXT], char **parts, int max)
{
	if (strlen(text) >= LIST_TEXT)
		return -EINVAL;
	snprintf(copy, LIST_TEXT, "%s", text);
	return split(copy, parts, max);
}

/* SIZE or SIZE:WEIGHT. */
static int size_part(char *text, struct size_mix *mix)
{
	char *colon = strchr(text, ':');
	uint64_t size, weight = 1;

	if (colon != NULL) {
		*colon = '\0';
		if (mr_number_parse(colon + 1, 64, &weight) != 0 || weight == 0)
			return -EINVAL;
	}
	if (mr_number_parse(text, STREAM_MAX_SIZE, &size) != 0 || size < STREAM_MIN_SIZE)
		return -EINVAL;
	mix->part[mix->count].size = (uint16_t)size;
	mix->part[mix->count++].weight = (uint16_t)weight;
	return 0;
}

int value_size(struct options *options, const char *text)
{
	/* The simple mix: IP packets of 40, 552 and 1500 octets; what does not fit is padded. */
	const char *wanted = strcmp(text, "imix") == 0 ? "64:7,570:4,1518:1" : text;
	char copy[LIST_TEXT], *parts[STREAM_MAX_SIZES];
	int count = list(wanted, copy, parts, STREAM_MAX_SIZES), rc = count < 0 ? count : 0;

	options->sizes = (struct size_mix){0};
	options->sizes_given = true;
	for (int i = 0; i < count && rc == 0; i++)
		rc = size_part(parts[i], &options->sizes);
	return rc;
}

/* A decimal number with up to three places after the point, in thousandths; *end is what follows.
 */
static int thousandths(const char *text, uint64_t *value, const char **end)
{
	uint64_t number = 0;
	int places = -1; /* after the point; -1: before it */

	if (!isdigit((unsigned char)text[0]))
		return -EINVAL;
	for (; isdigit((unsigned char)*text) || (*text == '.' && places < 0); text++) {
		if (*text == '.') {
			places = 0;
			if (!isdigit((unsigned char)text[1]))
				return -EINVAL;
			continue;
		}
		if (places == 3 || number > PACE_MAX_RATE)
			return -EINVAL;
		number = number * 10 + (uint64_t)(*text - '0');
		places += places >= 0;
	}
	for (int i = RTE_MAX(places, 0); i < 3; i++)
		number *= 10;
	*value = number;
	*end = text;
	return 0;
}

int value_rate(struct options *options, const char *text)
{
	struct rate_option *rate = &options->rate;
	uint64_t value, factor = 1, max = PACE_MAX_RATE;

	if (thousandths(text, &value, &text) != 0)
		return -EINVAL;
	rate->of_link = strcmp(text, "%") == 0;
	if (rate->of_link)
		max = 100000;
	else if (strcmp(text, "k") == 0)
		factor = 1000;
	else if (strcmp(text, "M") == 0)
		factor = 1000000;
	else if (text[0] != '\0')
		return -EINVAL;
	if (value == 0 || value > max / factor)
		return -EINVAL;
	rate->given = true;
	rate->value = value * factor;
	return 0;
}

int value_resolution(struct options *options, const char *text)
{
	uint64_t value;

	if (thousandths(text, &value, &text) != 0 || text[0] != '\0' || value == 0 || value > 10000)
		return -EINVAL;
	options->resolution = (uint32_t)value;
	return 0;
}

int value_src_ip(struct options *options, const char *text)
{
	return addr_range_parse(text, &options->src_ip);
}

int value_dst_ip(struct options *options, const char *text)
{
	return addr_range_parse(text, &options->dst_ip);
}

int value_src_port(struct options *options, const char *text)
{
	return port_range_parse(text, &options->src_port);
}

int value_dst_port(struct options *options, const char *text)
{
	return port_range_parse(text, &options->dst_port);
}

static int macs(const char *text, struct mac_range ranges[ENGINE_PORTS])
{
	char copy[LIST_TEXT], *parts[ENGINE_PORTS];
	int count = list(text, copy, parts, ENGINE_PORTS), rc = count < 0 ? count : 0;

	for (int i = 0; i < count && rc == 0; i++)
		rc = mac_range_parse(parts[i], &ranges[i]);
	return rc;
}

int value_src_mac(struct options *options, const char *text)
{
	return macs(text, options->src_mac);
}

int value_dst_mac(struct options *options, const char *text)
{
	return macs(text, options->dst_mac);
}

int value_gateway(struct options *options, const char *text)
{
	char copy[LIST_TEXT], *parts[ENGINE_PORTS];
	int count = list(text, copy, parts, ENGINE_PORTS), rc = count < 0 ? count : 0;

	for (int i = 0; i < count && rc == 0; i++) {
		rc = mr_addr_parse(parts[i], &options->gateway[i]);
		if (rc == 0 && options->gateway[i].family != AF_INET)
			rc = -EINVAL;
	}
	return rc;
}

/* The names stay where the command line has them, or in a copy that lives as long as it. */
int value_pcap(struct options *options, const char *text)
{
	char *parts[ENGINE_PORTS], *copy = strdup(text);
	int count = copy != NULL ? split(copy, parts, ENGINE_PORTS) : -ENOMEM;

	if (count < 0) {
		free(copy);
		return -EINVAL;
	}
	options->pcap[0] = parts[0];
	options->pcap[1] = count == 2 ? parts[1] : parts[0];
	return 0;
}

static int word(const char *text, const char *const *words, unsigned count, unsigned *index)
{
	for (unsigned i = 0; i < count; i++)
		if (words[i] != NULL && strcmp(text, words[i]) == 0) {
			*index = i;
			return 0;
		}
	return -EINVAL;
}

int value_ways(struct options *options, const char *text)
{
	static const char *const words[] = {
		[WAYS_ONE] = "one", [WAYS_TWO] = "two", [WAYS_BOTH] = "both"};
	unsigned index = WAYS_ONE;
	int rc = word(text, words, RTE_DIM(words), &index);

	options->ways = (enum ways)index;
	return rc;
}

int value_trial(struct options *options, const char *text)
{
	static const char *const words[] = {[TRIAL_RFC2544] = "rfc2544",
					    [TRIAL_BACK_TO_BACK] = "back-to-back",
					    [TRIAL_LATENCY] = "latency"};
	unsigned index = TRIAL_NONE;
	int rc = word(text, words, RTE_DIM(words), &index);

	options->trial = (enum trial)index;
	return rc;
}

int value_portmask(struct options *options, const char *text)
{
	const char *digits = strncmp(text, "0x", 2) == 0 ? text + 2 : text;
	char *end;

	if (!isxdigit((unsigned char)digits[0]) || strlen(digits) > 8)
		return -EINVAL;
	options->port.portmask = strtoull(digits, &end, 16);
	return *end == '\0' && options->port.portmask != 0 ? 0 : -EINVAL;
}
