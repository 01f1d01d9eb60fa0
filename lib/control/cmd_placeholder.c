/* SPDX-License-Identifier: BSD-3-Clause */
#include "control/cmd_placeholder.h"

#include <string.h>

#include "base/number.h"

static const struct mr_placeholder placeholders[] = {
	{"NAME", "1 to 31 letters, digits, '_', '.' or '-' with no '-' in front", MR_ARG_WORD},
	{"TEXT", "a word", MR_ARG_WORD},
	{"DEVARGS", "a device like 0000:03:00.0 or net_tap0,iface=tap0", MR_ARG_WORD},
	{"FILE", "the name of a file, without blanks", MR_ARG_WORD},
	{"RULE", "a rule of the filter", MR_ARG_WORD, .rest = true},
	{"N", "a port number (0 to 65535)", MR_ARG_NUMBER, .max = UINT16_MAX},
	{"Q", "a queue number (0 to 65535)", MR_ARG_NUMBER, .max = UINT16_MAX},
	{"L", "an lcore number (0 to 65535)", MR_ARG_NUMBER, .max = UINT16_MAX},
	{"LCORES", "lcore numbers with commas between them, like 1,2", MR_ARG_WORD},
	{"SECONDS", "a decimal number (0 to 4294967295)", MR_ARG_NUMBER, .max = UINT32_MAX},
	{"COUNT", "a decimal number (0 to 4294967295)", MR_ARG_NUMBER, .max = UINT32_MAX},
	{"BYTES", "a decimal number (0 to 4294967295)", MR_ARG_NUMBER, .max = UINT32_MAX},
	{"NUMBER", "a rule's number (0 to 4294967295)", MR_ARG_NUMBER, .max = UINT32_MAX},
	{"PERCENT", "a decimal number (0 to 100)", MR_ARG_NUMBER, .max = 100},
	{"MAC", "a MAC address like 02:00:00:00:00:01", MR_ARG_MAC},
	{"A.B.C.D", "an IPv4 address like 192.0.2.1", MR_ARG_ADDR, .family = AF_INET},
	{"ADDRESS", "an IPv4 or IPv6 address", MR_ARG_ADDR, .family = AF_UNSPEC},
	{"A.B.C.D/L", "an IPv4 prefix like 192.0.2.0/24", MR_ARG_PREFIX, .family = AF_INET},
	{"PREFIX", "an IPv4 or IPv6 prefix", MR_ARG_PREFIX, .family = AF_UNSPEC},
};

const struct mr_placeholder *mr_placeholder_find(const char *name)
{
	for (unsigned i = 0; i < sizeof(placeholders) / sizeof(placeholders[0]); i++) {
		if (strcmp(placeholders[i].name, name) == 0)
			return &placeholders[i];
	}
	return NULL;
}

static bool is_name(const char *word)
{
	static const char allowed[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
				      "0123456789_.-";
	size_t length = strlen(word);

	return length > 0 && length < MR_NAME_SIZE && word[0] != '-' &&
	       strspn(word, allowed) == length;
}

static bool is_number_list(const char *word)
{
	const char *digits = word;

	while (true) {
		size_t length = strspn(digits, "0123456789");

		if (length == 0 || (digits[length] != ',' && digits[length] != '\0'))
			return false;
		if (digits[length] == '\0')
			return true;
		digits += length + 1;
	}
}

static bool is_word(const char *placeholder, const char *word)
{
	if (strcmp(placeholder, "NAME") == 0)
		return is_name(word);
	return strcmp(placeholder, "LCORES") != 0 || is_number_list(word);
}

static bool is_family(const struct mr_placeholder *placeholder, uint8_t family)
{
	return placeholder->family == AF_UNSPEC || placeholder->family == family;
}

bool mr_placeholder_parse(const struct mr_placeholder *placeholder, const char *word,
			  struct mr_arg *arg)
{
	arg->text = word;
	arg->type = placeholder->type;
	switch (placeholder->type) {
	case MR_ARG_WORD:
		return is_word(placeholder->name, word);
	case MR_ARG_NUMBER:
		return mr_number_parse(word, placeholder->max, &arg->number) == 0;
	case MR_ARG_MAC:
		return mr_mac_parse(word, &arg->mac) == 0;
	case MR_ARG_ADDR:
		return mr_addr_parse(word, &arg->addr) == 0 &&
		       is_family(placeholder, arg->addr.family);
	case MR_ARG_PREFIX:
		return mr_prefix_parse(word, &arg->prefix) == 0 &&
		       is_family(placeholder, arg->prefix.addr.family);
	}
	return false;
}
