/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MILLRACE_INSTANCE_H
#define MILLRACE_INSTANCE_H

#include <sys/types.h>

/* What an EAL instance, named by its file prefix, has in the file system. */

/* The process that is the primary of the instance whose start has just failed, or 0. */
pid_t instance_owner(void);

/* To be called before rte_eal_cleanup: remembers the files of this process's hugepages. NULL in
 * a secondary process, which has none of its own. */
struct instance_pages *instance_pages_find(void);

/* To be called after rte_eal_cleanup: removes them, and frees the list. */
void instance_pages_remove(struct instance_pages *pages);

#endif
