/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MR_TEST_FUZZ_EAL_H
#define MR_TEST_FUZZ_EAL_H

/* Starts an EAL of one lcore (see test_eal.h), in whose memory the leak detector looks for
 * pointers: rte_malloc's memory is not the heap that it knows. */
void fuzz_eal_start(void);

#endif
