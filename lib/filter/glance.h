/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef FILTER_GLANCE_H
#define FILTER_GLANCE_H

#include "filter/glance_fwd.h"
#include "filter/set.h"

/* Compiles the first glance for the rules of a set into *glance, which becomes NULL when it would
 * leave no packet out, since some rule matches whatever is in a plain packet. About a megabyte on
 * the socket; while it is compiled, some 700 bytes a rule elsewhere. Any thread. Returns 0, -ENOMEM
 * or -EFBIG. */
int filter_glance_compile(const struct mr_filter_set *set, int socket,
			  struct filter_glance **glance);

void filter_glance_free(struct filter_glance *glance);

#endif
