/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/addr.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

int mr_addr_parse(const char *text, struct mr_addr *addr)
{
	*addr = (struct mr_addr){0};
	/* inet_pton refuses leading zeros, short forms and trailing characters. */
	if (inet_pton(AF_INET, text, addr->bytes) == 1)
		addr->family = AF_INET;
	else if (inet_pton(AF_INET6, text, addr->bytes) == 1)
		addr->family = AF_INET6;
	else
		return -EINVAL;
	return 0;
}

static int parse_length(const char *text, unsigned max)
{
	unsigned value = 0;
	size_t digits = strlen(text);

	if (digits == 0 || digits > 3 || (digits > 1 && text[0] == '0'))
		return -EINVAL;
	for (const char *c = text; *c != '\0'; c++) {
		if (!isdigit((unsigned char)*c))
			return -EINVAL;
		value = value * 10 + (unsigned)(*c - '0');
	}
	return value <= max ? (int)value : -EINVAL;
}

int mr_prefix_parse(const char *text, struct mr_prefix *prefix)
{
	char addr[MR_ADDR_TEXT_SIZE];
	const char *slash = strchr(text, '/');

	if (slash == NULL || (size_t)(slash - text) >= sizeof(addr))
		return -EINVAL;
	memcpy(addr, text, (size_t)(slash - text));
	addr[slash - text] = '\0';
	if (mr_addr_parse(addr, &prefix->addr) != 0)
		return -EINVAL;
	int length = parse_length(slash + 1, prefix->addr.family == AF_INET ? 32 : 128);
	if (length < 0)
		return -EINVAL;
	prefix->length = (uint8_t)length;
	return 0;
}

int mr_mac_parse(const char *text, struct rte_ether_addr *mac)
{
	if (strlen(text) != MR_MAC_TEXT_SIZE - 1)
		return -EINVAL;
	for (unsigned i = 0; i < RTE_ETHER_ADDR_LEN; i++) {
		unsigned value;
		const char *part = text + 3 * i;
		if (!isxdigit((unsigned char)part[0]) || !isxdigit((unsigned char)part[1]) ||
		    (i < 5 && part[2] != ':') || sscanf(part, "%2x", &value) != 1)
			return -EINVAL;
		mac->addr_bytes[i] = (uint8_t)value;
	}
	return 0;
}

const char *mr_addr_format(const struct mr_addr *addr, char *text)
{
	if (inet_ntop(addr->family, addr->bytes, text, MR_ADDR_TEXT_SIZE) == NULL)
		strcpy(text, "none");
	return text;
}

const char *mr_prefix_format(const struct mr_prefix *prefix, char *text)
{
	mr_addr_format(&prefix->addr, text);
	size_t used = strlen(text);
	snprintf(text + used, MR_ADDR_TEXT_SIZE - used, "/%u", prefix->length);
	return text;
}

const char *mr_mac_format(const struct rte_ether_addr *mac, char *text)
{
	const uint8_t *b = mac->addr_bytes;

	snprintf(text, MR_MAC_TEXT_SIZE, "%02x:%02x:%02x:%02x:%02x:%02x", b[0], b[1], b[2], b[3],
		 b[4], b[5]);
	return text;
}

struct mr_prefix mr_prefix_canonical(const struct mr_prefix *prefix)
{
	struct mr_prefix canonical = *prefix;

	for (unsigned bit = prefix->length; bit < 8 * sizeof(prefix->addr.bytes); bit++)
		canonical.addr.bytes[bit / 8] &= (uint8_t) ~(0x80u >> bit % 8);
	return canonical;
}

bool mr_addr_equal(const struct mr_addr *a, const struct mr_addr *b)
{
	return a->family == b->family && memcmp(a->bytes, b->bytes, sizeof(a->bytes)) == 0;
}

bool mr_prefix_contains(const struct mr_prefix *prefix, const struct mr_addr *addr)
{
	struct mr_prefix of_addr = {.addr = *addr, .length = prefix->length};
	struct mr_prefix a = mr_prefix_canonical(&of_addr), b = mr_prefix_canonical(prefix);

	return mr_addr_equal(&a.addr, &b.addr);
}

struct mr_addr mr_addr_from_ipv4(uint32_t ipv4)
{
	struct mr_addr addr = {.family = AF_INET};

	ipv4 = htonl(ipv4);
	memcpy(addr.bytes, &ipv4, sizeof(ipv4));
	return addr;
}

uint32_t mr_addr_ipv4(const struct mr_addr *addr)
{
	uint32_t ipv4;

	memcpy(&ipv4, addr->bytes, sizeof(ipv4));
	return ntohl(ipv4);
}
