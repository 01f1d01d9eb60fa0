/* SPDX-License-Identifier: BSD-3-Clause */
#include "control/late.h"

#include <pthread.h>
#include <stdlib.h>
#include <sys/resource.h>

#define NICENESS 10 /* beside the control thread, which wakes a thousand times a second */

struct mr_late {
	pthread_t thread;
	struct mr_job *job;
	bool done;
};

static void *run(void *context)
{
	struct mr_late *late = context;

	/* On Linux it is the thread that gets nicer; if it may not, it works all the same. */
	setpriority(PRIO_PROCESS, 0, NICENESS);
	late->job->work(late->job);
	__atomic_store_n(&late->done, true, __ATOMIC_RELEASE);
	return NULL;
}

struct mr_late *mr_late_start(struct mr_job *job)
{
	struct mr_late *late = calloc(1, sizeof(*late));

	if (late == NULL)
		return NULL;
	late->job = job;
	if (pthread_create(&late->thread, NULL, run, late) != 0) {
		free(late);
		return NULL;
	}
	return late;
}

bool mr_late_is_done(const struct mr_late *late)
{
	return __atomic_load_n(&late->done, __ATOMIC_ACQUIRE);
}

struct mr_job *mr_late_end(struct mr_late *late)
{
	struct mr_job *job = late->job;

	pthread_join(late->thread, NULL);
	free(late);
	return job;
}
