/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef GEN_SEARCH_H
#define GEN_SEARCH_H

#include <stdint.h>

/*
 * The binary search of RFC 2544 (sections 26.1 and 26.4): the highest load, a rate or the length of
 * a burst, at which a trial passes.
 */
enum search_verdict { SEARCH_PASSED, SEARCH_FAILED, SEARCH_ABORTED };

struct search {
	uint64_t max;        /* the load that is tried first */
	uint64_t resolution; /* at least 1: the search ends when the answer is known so closely */
	enum search_verdict (*trial)(uint64_t load, void *context);
	void *context;
};

struct search_result {
	uint64_t load; /* the highest that passed; 0: none did */
	unsigned trials;
	int aborted;
};

struct search_result search_run(const struct search *search);

#endif
