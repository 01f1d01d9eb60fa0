/* SPDX-License-Identifier: BSD-3-Clause */
#include "filter/publish.h"

#include "base/rcu.h"
#include "filter/filter.h"

static void free_set(void *set)
{
	mr_filter_set_free(set);
}

int mr_filter_publish(struct mr *mr, struct mr_filter_set *set, struct mr_error *error)
{
	(void)error;
	mr_rcu_defer(mr->rcu, free_set, mr->filter->set);
	mr->filter->set = set;
	return 0;
}

int mr_filter_check(struct mr *mr, const struct mr_filter_set *set, struct mr_error *error)
{
	(void)mr;
	(void)set;
	(void)error;
	return 0;
}
