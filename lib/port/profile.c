/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Driver profiles. A device's limits are asked of the device; a profile holds what it does not
 * tell: how many of its queues work, what its descriptors are worth, which offloads are real. All
 * keys are in one section, [port], and a driver's file says only what differs from default.cfg. A
 * key that nothing reads is an error, since a misspelt limit is no limit.
 */
#include "port/profile.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <rte_cfgfile.h>
#include <rte_common.h>
#include <rte_ethdev.h>

#include "base/number.h"
#include "packet/vector.h"
#include "port/port.h"
#include "port/profile_dirs.h"

/* Offloads that the packet path can live with. VLAN tags stay in the frame, a packet is one
 * segment, and sent buffers may be shared, so most others are ruled out for good. */
#define ALLOWED_RX_OFFLOADS (RTE_ETH_RX_OFFLOAD_CHECKSUM | RTE_ETH_RX_OFFLOAD_RSS_HASH)
#define ALLOWED_TX_OFFLOADS                                                                        \
	(RTE_ETH_TX_OFFLOAD_IPV4_CKSUM | RTE_ETH_TX_OFFLOAD_UDP_CKSUM |                            \
	 RTE_ETH_TX_OFFLOAD_TCP_CKSUM)

enum key_type { KEY_NUMBER, KEY_QUEUES, KEY_YES_NO, KEY_RX_OFFLOADS, KEY_TX_OFFLOADS };

static const struct key {
	const char *name;
	enum key_type type;
	size_t offset;
	uint16_t min, max;
} keys[] = {
	{"rxq", KEY_QUEUES, offsetof(struct mr_profile, rxq), 1, MR_MAX_QUEUES},
	{"txq", KEY_QUEUES, offsetof(struct mr_profile, txq), 1, MR_MAX_QUEUES},
	{"max_rxq", KEY_NUMBER, offsetof(struct mr_profile, max_rxq), 1, MR_MAX_QUEUES},
	{"max_txq", KEY_NUMBER, offsetof(struct mr_profile, max_txq), 1, MR_MAX_QUEUES},
	{"rxd", KEY_NUMBER, offsetof(struct mr_profile, rxd), 1, 32768},
	{"txd", KEY_NUMBER, offsetof(struct mr_profile, txd), 1, 32768},
	{"burst", KEY_NUMBER, offsetof(struct mr_profile, burst), 1, MR_VECTOR_SIZE},
	{"rx_offloads", KEY_RX_OFFLOADS, offsetof(struct mr_profile, rx_offloads), 0, 0},
	{"tx_offloads", KEY_TX_OFFLOADS, offsetof(struct mr_profile, tx_offloads), 0, 0},
	{"spread", KEY_YES_NO, offsetof(struct mr_profile, spread), 0, 0},
	{"queue_pairs", KEY_YES_NO, offsetof(struct mr_profile, queue_pairs), 0, 0},
	{"partial_checksums", KEY_YES_NO, offsetof(struct mr_profile, partial_checksums), 0, 0},
	{"mtu_in_software", KEY_YES_NO, offsetof(struct mr_profile, mtu_in_software), 0, 0},
	{"buffer_powers", KEY_YES_NO, offsetof(struct mr_profile, buffer_powers), 0, 0},
	{"buffer_unit", KEY_NUMBER, offsetof(struct mr_profile, buffer_unit), 1, 1024},
	{"frame_overhead", KEY_NUMBER, offsetof(struct mr_profile, frame_overhead),
	 MR_FRAME_OVERHEAD, 64},
	{"legacy_interrupts", KEY_YES_NO, offsetof(struct mr_profile, legacy_interrupts), 0, 0},
	{"kernel_link", KEY_YES_NO, offsetof(struct mr_profile, kernel_link), 0, 0},
};

static const struct key *find_key(const char *name)
{
	for (unsigned i = 0; i < RTE_DIM(keys); i++)
		if (strcmp(keys[i].name, name) == 0)
			return &keys[i];
	return NULL;
}

static int parse_number(const char *text, const struct key *key, uint16_t *value)
{
	uint64_t number;

	if (mr_number_parse(text, key->max, &number) < 0 || number < key->min)
		return -EINVAL;
	*value = number;
	return 0;
}

static int set_number(const char *text, const struct key *key, uint16_t *value, const char *where,
		      struct mr_error *error)
{
	bool words = key->type == KEY_QUEUES;

	if (words && strcmp(text, "lcores") == 0)
		*value = MR_QUEUES_LCORES;
	else if (words && strcmp(text, "all") == 0)
		*value = MR_QUEUES_ALL;
	else if (parse_number(text, key, value) < 0)
		return mr_fail(error, -EINVAL, "%s: '%s' is not %u to %u%s", where, text, key->min,
			       key->max, words ? ", 'lcores' or 'all'" : "");
	return 0;
}

static int set_yes_no(const char *text, bool *value, const char *where, struct mr_error *error)
{
	*value = strcmp(text, "yes") == 0;
	if (!*value && strcmp(text, "no") != 0)
		return mr_fail(error, -EINVAL, "%s: '%s' is not 'yes' or 'no'", where, text);
	return 0;
}

static uint64_t offload_bit(const char *word, bool rx)
{
	for (unsigned i = 0; i < 64; i++) {
		const char *name = rx ? rte_eth_dev_rx_offload_name(RTE_BIT64(i))
				      : rte_eth_dev_tx_offload_name(RTE_BIT64(i));
		/* "UNKNOWN" is DPDK's name of bits without one. */
		if (strcasecmp(name, word) == 0 && strcmp(name, "UNKNOWN") != 0)
			return RTE_BIT64(i);
	}
	return 0;
}

/* A list of DPDK's names, in either case, with blanks between; empty for none. */
static int set_offloads(const char *text, bool rx, uint64_t *value, const char *where,
			struct mr_error *error)
{
	uint64_t allowed = rx ? ALLOWED_RX_OFFLOADS : ALLOWED_TX_OFFLOADS;
	char words[CFG_VALUE_LEN], *rest;

	snprintf(words, sizeof(words), "%s", text);
	*value = 0;
	for (char *word = strtok_r(words, " \t", &rest); word != NULL;
	     word = strtok_r(NULL, " \t", &rest)) {
		uint64_t bit = offload_bit(word, rx);
		if (bit == 0)
			return mr_fail(error, -EINVAL, "%s: DPDK has no offload '%s'", where, word);
		if (!(bit & allowed))
			return mr_fail(error, -EINVAL, "%s: millrace makes no use of '%s'", where,
				       word);
		*value |= bit;
	}
	return 0;
}

static int set_key(const struct key *key, const char *text, struct mr_profile *profile,
		   const char *where, struct mr_error *error)
{
	void *field = (char *)profile + key->offset;

	switch (key->type) {
	case KEY_NUMBER:
	case KEY_QUEUES:
		return set_number(text, key, field, where, error);
	case KEY_YES_NO:
		return set_yes_no(text, field, where, error);
	case KEY_RX_OFFLOADS:
	case KEY_TX_OFFLOADS:
		return set_offloads(text, key->type == KEY_RX_OFFLOADS, field, where, error);
	}
	return -EINVAL;
}

static int apply_section(struct rte_cfgfile *file, const char *path, struct mr_profile *profile,
			 struct mr_error *error)
{
	int count = rte_cfgfile_section_num_entries(file, "port");
	if (count <= 0)
		return mr_fail(error, -EINVAL, "%s: has no section [port] with keys in it", path);

	struct rte_cfgfile_entry *entry = calloc(count, sizeof(*entry));
	if (entry == NULL)
		return mr_fail(error, -ENOMEM, "%s: out of memory", path);
	rte_cfgfile_section_entries(file, "port", entry, count);

	uint32_t seen = 0;
	int ret = 0;
	for (int i = 0; i < count && ret == 0; i++) {
		const struct key *key = find_key(entry[i].name);
		char where[192];

		snprintf(where, sizeof(where), "%s: [port] %s", path, entry[i].name);
		if (key == NULL)
			ret = mr_fail(error, -EINVAL, "%s: unknown key", where);
		else if (seen & RTE_BIT32(key - keys))
			ret = mr_fail(error, -EINVAL, "%s: given twice", where);
		else
			ret = set_key(key, entry[i].value, profile, where, error);
		if (ret == 0)
			seen |= RTE_BIT32(key - keys);
	}
	free(entry);
	return ret;
}

/* The only section is [port]; rte_cfgfile keeps a second one of that name apart. */
static int check_sections(struct rte_cfgfile *file, const char *path, struct mr_error *error)
{
	char name[2][CFG_NAME_LEN];
	char *names[2] = {name[0], name[1]};
	int count = rte_cfgfile_num_sections(file, NULL, 0);

	if (count > 2)
		count = 2;
	rte_cfgfile_sections(file, names, count);
	for (int i = 0; i < count; i++)
		if (strcmp(name[i], "port") != 0)
			return mr_fail(error, -EINVAL, "%s: unknown section [%s], only [port]",
				       path, name[i]);
	if (count == 2)
		return mr_fail(error, -EINVAL, "%s: section [port] is there twice", path);
	return 0;
}

/* rte_cfgfile skips lines without '=' in silence. */
static int check_lines(const char *path, struct mr_error *error)
{
	char line[CFG_NAME_LEN + CFG_VALUE_LEN + 4];
	FILE *file = fopen(path, "r");
	int ret = 0;

	if (file == NULL)
		return mr_fail(error, -errno, "%s: %s", path, strerror(errno));
	for (unsigned number = 1; ret == 0 && fgets(line, sizeof(line), file) != NULL; number++) {
		line[strcspn(line, "#\n")] = '\0';
		const char *first = line + strspn(line, " \t\r");
		if (*first != '\0' && *first != '[' && strchr(first, '=') == NULL)
			ret = mr_fail(error, -EINVAL, "%s: line %u: '%s' is not 'key = value'",
				      path, number, first);
	}
	fclose(file);
	return ret;
}

static int apply_file(const char *path, struct mr_profile *profile, struct mr_error *error)
{
	static const struct rte_cfgfile_parameters comments = {.comment_character = '#'};
	int ret = check_lines(path, error);

	if (ret < 0)
		return ret;
	struct rte_cfgfile *file =
		rte_cfgfile_load_with_params(path, CFG_FLAG_EMPTY_VALUES, &comments);
	if (file == NULL)
		return mr_fail(error, -EINVAL, "%s: is not made of 'key = value' lines in [port]",
			       path);
	ret = check_sections(file, path, error);
	if (ret == 0)
		ret = apply_section(file, path, profile, error);
	rte_cfgfile_close(file);
	return ret;
}

/* Profiles go with the program: those installed beside it, wherever that is, or those of the source
 * tree that it was built in. An older millrace that is installed too does not matter. */
static const char *profiles_dir(char *beside, size_t size)
{
	ssize_t length = readlink("/proc/self/exe", beside, size - 1);

	if (length > 0) {
		beside[length] = '\0';
		char *name = strrchr(beside, '/') + 1;
		snprintf(name, size - (size_t)(name - beside), "%s", MR_PROFILES_BESIDE);
		if (access(beside, R_OK | X_OK) == 0)
			return beside;
	}
	return access(MR_PROFILES_SOURCE, R_OK | X_OK) == 0 ? MR_PROFILES_SOURCE
							    : MR_PROFILES_INSTALLED;
}

int mr_profile_load(const char *dir, const char *driver, struct mr_profile *profile,
		    struct mr_error *error)
{
	char path[1024], beside[1024];

	if (dir == NULL)
		dir = profiles_dir(beside, sizeof(beside));
	*profile = (struct mr_profile){.rxq = 1,
				       .txq = 1,
				       .max_rxq = MR_MAX_QUEUES,
				       .max_txq = MR_MAX_QUEUES,
				       .rxd = 1024,
				       .txd = 1024,
				       .burst = MR_VECTOR_SIZE,
				       .buffer_unit = 1,
				       .frame_overhead = MR_FRAME_OVERHEAD};
	if (snprintf(path, sizeof(path), "%s/default.cfg", dir) >= (int)sizeof(path))
		return mr_fail(error, -ENAMETOOLONG, "profiles directory %s: name too long", dir);
	if (access(path, R_OK) != 0)
		return mr_fail(error, -errno, "%s: %s", path, strerror(errno));
	int ret = apply_file(path, profile, error);
	if (ret < 0)
		return ret;

	if (snprintf(path, sizeof(path), "%s/%s.cfg", dir, driver) >= (int)sizeof(path))
		return mr_fail(error, -ENAMETOOLONG, "profiles directory %s: name too long", dir);
	return access(path, R_OK) == 0 ? apply_file(path, profile, error) : 0;
}
