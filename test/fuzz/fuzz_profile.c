/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Driver profiles: an input is a driver's file. It is either refused with a sentence, or all that
 * comes of it is within the limits that set-up relies on.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <rte_log.h>

#include "fuzz.h"
#include "packet/vector.h"
#include "port/port.h"
#include "port/profile.h"

static char directory[] = "/dev/shm/fuzz_profile_XXXXXX";
static char path[64];

static void write_file(const char *name, const void *data, size_t size)
{
	snprintf(path, sizeof(path), "%s/%s.cfg", directory, name);
	FILE *file = fopen(path, "w");

	if (file == NULL || fwrite(data, 1, size, file) != size || fclose(file) != 0)
		fuzz_fail("%s cannot be written", path);
}

static void remove_files(void)
{
	static const char *const names[] = {"default", "fuzz"};

	for (unsigned i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		snprintf(path, sizeof(path), "%s/%s.cfg", directory, names[i]);
		unlink(path);
	}
	rmdir(directory);
}

static void check_queues(uint16_t queues)
{
	if (queues != MR_QUEUES_ALL && queues != MR_QUEUES_LCORES &&
	    (queues == 0 || queues > MR_MAX_QUEUES))
		fuzz_fail("%u queues", queues);
}

static void check(const struct mr_profile *profile)
{
	check_queues(profile->rxq);
	check_queues(profile->txq);
	if (profile->max_rxq == 0 || profile->max_rxq > MR_MAX_QUEUES || profile->max_txq == 0 ||
	    profile->max_txq > MR_MAX_QUEUES)
		fuzz_fail("at most %u and %u queues", profile->max_rxq, profile->max_txq);
	if (profile->rxd == 0 || profile->txd == 0)
		fuzz_fail("%u and %u descriptors", profile->rxd, profile->txd);
	if (profile->burst == 0 || profile->burst > MR_VECTOR_SIZE)
		fuzz_fail("bursts of %u", profile->burst);
	if ((profile->tx_offloads & RTE_ETH_TX_OFFLOAD_MBUF_FAST_FREE) != 0)
		fuzz_fail("an offload that frees buffers that are shared");
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	static const char least[] = "[port]\nrxq = 1\n";

	(void)argc;
	(void)argv;
	rte_log_set_global_level(RTE_LOG_EMERG);
	if (mkdtemp(directory) == NULL)
		fuzz_fail("%s cannot be made", directory);
	atexit(remove_files);
	write_file("default", least, sizeof(least) - 1);
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct mr_profile profile;
	struct mr_error error = {0};

	write_file("fuzz", data, size);
	if (mr_profile_load(directory, "fuzz", &profile, &error) == 0)
		check(&profile);
	else if (error.text[0] == '\0')
		fuzz_fail("refused without a sentence");
	return 0;
}
