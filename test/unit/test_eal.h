/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MR_TEST_EAL_H
#define MR_TEST_EAL_H

/*
 * Starts an EAL for a test program, once: without hugepages, PCI or shared files, with a file
 * prefix of this process's own, so that programs and checkouts do not collide. Ends the program
 * when that fails. lcores is EAL's -l ("0" for none but main) or its --lcores when it has an '@'.
 */
void test_eal_start(const char *lcores);

#endif
