/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DPDK calls back on a thread of its own for each client, and everything that rooms know belongs to
 * the control thread. So a callback posts a request, wakes the control thread and waits. A request
 * is the waiter's: it lives on its stack and is in the queue, or being answered, only while the
 * waiter waits; one that waits too long takes its request out of the queue, under the lock. While
 * a request is being answered (microseconds) its waiter stays, whatever the time.
 *
 * DPDK gives its callbacks no context and never forgets a command, so the one thing global here is
 * who answers, if anybody does.
 */
#include "telemetry/telemetry.h"

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/queue.h>
#include <time.h>
#include <unistd.h>

#include "telemetry/tel_convert.h"

#define MAX_TABLES 16
#define MAX_MESSAGE 16384 /* of DPDK's socket */
#define MAX_PATH 56       /* DPDK's limit of a command's length, with NUL */

enum request_state { WAITING, BEING_ANSWERED, ANSWERED };

struct request {
	TAILQ_ENTRY(request) entry;
	const struct mr_query *query;
	const char *params;
	enum request_state state;
	int result;
	struct mr_reply reply;
};

struct mr_telemetry {
	struct mr *mr;
	int wake_fd;
	const struct mr_query *table[MAX_TABLES];
	unsigned tables;
	bool closing;
	unsigned waiters;
	TAILQ_HEAD(request_queue, request) requests;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of all below and of requests */
static pthread_cond_t changed;                           /* a request, or closing */
static pthread_once_t once = PTHREAD_ONCE_INIT;
static struct mr_telemetry *answerer;

/* Paths that DPDK knows already, from this or an earlier appliance. */
static const struct mr_query *known[MAX_TABLES];

static void init_changed(void)
{
	pthread_condattr_t attributes;

	pthread_condattr_init(&attributes);
	pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
	pthread_cond_init(&changed, &attributes);
	pthread_condattr_destroy(&attributes);
}

static const struct mr_query *find_query(const struct mr_telemetry *telemetry, const char *path)
{
	for (unsigned i = 0; i < telemetry->tables; i++)
		for (const struct mr_query *query = telemetry->table[i]; query->path != NULL;
		     query++)
			if (strcmp(query->path, path) == 0)
				return query;
	return NULL;
}

static struct timespec deadline_from_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	t.tv_sec += MR_TELEMETRY_TIMEOUT_MS / 1000;
	return t;
}

/* Waits, with the lock, until the request is answered or has left the queue. */
static void wait_for_answer(struct mr_telemetry *telemetry, struct request *request)
{
	struct timespec deadline = deadline_from_now();
	uint64_t one = 1;
	bool late = false;

	TAILQ_INSERT_TAIL(&telemetry->requests, request, entry);
	telemetry->waiters++;
	if (write(telemetry->wake_fd, &one, sizeof(one)) < 0)
		late = true;
	while (request->state != ANSWERED) {
		if (request->state == WAITING && (late || telemetry->closing)) {
			TAILQ_REMOVE(&telemetry->requests, request, entry);
			request->result = mr_refuse(&request->reply, -ETIMEDOUT,
						    "the control thread did not answer in time");
			break;
		}
		if (request->state == WAITING)
			late = pthread_cond_timedwait(&changed, &lock, &deadline) == ETIMEDOUT;
		else
			pthread_cond_wait(&changed, &lock);
	}
	telemetry->waiters--;
	pthread_cond_broadcast(&changed);
}

/* Runs on a thread of DPDK's. */
static int on_command(const char *path, const char *params_or_null, struct rte_tel_data *data)
{
	char params[1024];
	struct request request = {.params = params};
	json_t *answer, *fitted;
	size_t offset;
	int ret;

	strncpy(params, params_or_null != NULL ? params_or_null : "", sizeof(params) - 1);
	params[sizeof(params) - 1] = '\0';
	offset = mr_tel_cut_offset(params);

	pthread_mutex_lock(&lock);
	if (answerer != NULL && !answerer->closing)
		request.query = find_query(answerer, path);
	if (request.query != NULL)
		wait_for_answer(answerer, &request);
	pthread_mutex_unlock(&lock);
	if (request.query == NULL)
		return -ENOENT;

	answer = request.result == 0 ? json_incref(request.reply.data)
				     : json_pack("{s:s}", "error", request.reply.error.text);
	fitted = mr_tel_fit(answer, offset, MAX_MESSAGE - MAX_PATH - 8);
	ret = fitted != NULL ? mr_tel_fill(data, fitted) : -ENOMEM;
	json_decref(fitted);
	json_decref(answer);
	json_decref(request.reply.data);
	return ret;
}

static struct request *next_request(struct mr_telemetry *telemetry)
{
	struct request *request;

	pthread_mutex_lock(&lock);
	request = TAILQ_FIRST(&telemetry->requests);
	if (request != NULL) {
		TAILQ_REMOVE(&telemetry->requests, request, entry);
		request->state = BEING_ANSWERED;
	}
	pthread_mutex_unlock(&lock);
	return request;
}

unsigned mr_telemetry_poll(struct mr *mr)
{
	struct mr_telemetry *telemetry = mr->telemetry;
	struct request *request;
	unsigned answered = 0;
	uint64_t wakes;

	if (read(telemetry->wake_fd, &wakes, sizeof(wakes)) < 0)
		return 0;
	while ((request = next_request(telemetry)) != NULL) {
		int result = request->query->run(mr, request->params, &request->reply);

		if (result == 0 && request->reply.data == NULL)
			result = mr_reply(&request->reply, json_object());
		pthread_mutex_lock(&lock);
		request->result = result;
		request->state = ANSWERED;
		pthread_cond_broadcast(&changed);
		pthread_mutex_unlock(&lock);
		answered++;
	}
	return answered;
}

int mr_telemetry_fd(const struct mr *mr)
{
	return mr->telemetry->wake_fd;
}

int mr_telemetry_create(struct mr *mr, struct mr_error *error)
{
	struct mr_telemetry *telemetry = calloc(1, sizeof(*telemetry));
	bool taken;

	if (telemetry == NULL)
		return mr_fail(error, -ENOMEM, "no memory for telemetry");
	telemetry->mr = mr;
	TAILQ_INIT(&telemetry->requests);
	telemetry->wake_fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	if (telemetry->wake_fd < 0) {
		free(telemetry);
		return mr_fail(error, -errno, "no eventfd for telemetry: %s", strerror(errno));
	}
	pthread_once(&once, init_changed);
	pthread_mutex_lock(&lock);
	taken = answerer != NULL;
	if (!taken)
		answerer = telemetry;
	pthread_mutex_unlock(&lock);
	if (taken) {
		close(telemetry->wake_fd);
		free(telemetry);
		return mr_fail(error, -EBUSY, "another appliance of this process has telemetry");
	}
	mr->telemetry = telemetry;
	return 0;
}

void mr_telemetry_destroy(struct mr *mr)
{
	struct mr_telemetry *telemetry = mr->telemetry;

	if (telemetry == NULL)
		return;
	pthread_mutex_lock(&lock);
	telemetry->closing = true;
	pthread_cond_broadcast(&changed);
	while (telemetry->waiters > 0)
		pthread_cond_wait(&changed, &lock);
	answerer = NULL;
	pthread_mutex_unlock(&lock);
	close(telemetry->wake_fd);
	free(telemetry);
	mr->telemetry = NULL;
}

static int make_known(const struct mr_query *queries, struct mr_error *error)
{
	unsigned i = 0;

	while (i < MAX_TABLES && known[i] != NULL && known[i] != queries)
		i++;
	if (i == MAX_TABLES)
		return mr_fail(error, -ENOSPC, "more than %d tables of queries", MAX_TABLES);
	if (known[i] == queries)
		return 0;
	for (const struct mr_query *query = queries; query->path != NULL; query++) {
		int ret = rte_telemetry_register_cmd(query->path, on_command, query->help);

		if (ret != 0)
			return mr_fail(error, ret, "telemetry does not take %s: %s", query->path,
				       strerror(-ret));
	}
	known[i] = queries;
	return 0;
}

int mr_telemetry_register(struct mr *mr, const struct mr_query *queries, struct mr_error *error)
{
	struct mr_telemetry *telemetry = mr->telemetry;
	int ret = make_known(queries, error);

	if (ret != 0)
		return ret;
	pthread_mutex_lock(&lock);
	if (telemetry->tables < MAX_TABLES)
		telemetry->table[telemetry->tables++] = queries;
	else
		ret = mr_fail(error, -ENOSPC, "more than %d tables of queries", MAX_TABLES);
	pthread_mutex_unlock(&lock);
	return ret;
}
