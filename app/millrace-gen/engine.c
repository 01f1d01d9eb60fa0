/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Who does what: each port has a sending and a receiving task, and each task is polled by one
 * lcore. Four workers have one each, two or three divide sending and receiving between two of
 * them, one does all; without workers the main lcore does, and looks at the clock in between. The
 * main lcore ends a run: what the tasks count is complete when it sees that nothing arrives any
 * more.
 */
#include "engine.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <rte_cycles.h>
#include <rte_ethdev.h>
#include <rte_launch.h>
#include <rte_lcore.h>
#include <rte_malloc.h>

#include "base/log.h"
#include "port/port.h"
#include "receive.h"
#include "transmit.h"

#define MAX_WORKERS 4
#define REPLY_RING 256
#define START_DELAY_MS 2 /* for lcores to get going before the first frame is due */
#define QUIET_MS 50      /* when all frames have come, one more that is too many would have, too */
#define PATIENCE_MS 1000 /* for a device that takes nothing */
#define INLINE_POLLS 64  /* turns of the main lcore's own tasks between looks at the clock */
#define ANNOUNCE_MAX 4096

struct worker {
	unsigned lcore;
	unsigned tx_count, rx_count;
	struct transmit *tx[ENGINE_PORTS];
	struct receive *rx[ENGINE_PORTS];
	const bool *stop;
} __rte_cache_aligned;

struct engine {
	struct mr *mr;
	unsigned ports;
	struct mr_port *port[ENGINE_PORTS];
	struct arp_station *station;
	struct transmit *tx[ENGINE_PORTS];
	struct receive *rx[ENGINE_PORTS];
	struct worker worker[MAX_WORKERS];
	unsigned workers;
	bool inline_worker; /* worker[0] is the main lcore itself */
	uint16_t mark;
	bool stop __rte_cache_aligned;
};

static volatile sig_atomic_t interrupted;

void engine_interrupt(void)
{
	interrupted = 1;
}

bool engine_interrupted(void)
{
	return interrupted != 0;
}

unsigned engine_ports(const struct engine *engine)
{
	return engine->ports;
}

const struct mr_port *engine_port(const struct engine *engine, unsigned index)
{
	return engine->port[index];
}

static uint64_t cycles_of_ms(uint64_t ms)
{
	return rte_get_tsc_hz() / 1000 * ms;
}

static int create_tasks(struct engine *engine, unsigned index, unsigned burst)
{
	struct mr_port *port = engine->port[index];
	struct transmit *tx = rte_zmalloc("transmit", sizeof(*tx), RTE_CACHE_LINE_SIZE);
	struct receive *rx = rte_zmalloc("receive", sizeof(*rx), RTE_CACHE_LINE_SIZE);
	char name[RTE_RING_NAMESIZE];

	engine->tx[index] = tx;
	engine->rx[index] = rx;
	if (tx == NULL || rx == NULL)
		return -ENOMEM;
	snprintf(name, sizeof(name), "gen_replies_%u", index);
	tx->replies =
		rte_ring_create(name, REPLY_RING, port->socket, RING_F_SP_ENQ | RING_F_SC_DEQ);
	if (tx->replies == NULL)
		return -ENOMEM;
	tx->port = rx->port = port->id;
	tx->burst = burst;
	tx->pool = port->pool;
	rx->replies = tx->replies;
	rx->station = &engine->station[index];
	return 0;
}

static void assign_tasks(struct engine *engine)
{
	unsigned wanted = engine->workers >= 2 * engine->ports ? 2 * engine->ports
			  : engine->workers >= 2               ? 2
							       : 1;

	engine->workers = wanted;
	for (unsigned i = 0; i < engine->ports; i++) {
		struct worker *tx = &engine->worker[wanted > 2 ? 2 * i : 0];
		struct worker *rx = &engine->worker[wanted > 2 ? 2 * i + 1 : wanted - 1];
		tx->tx[tx->tx_count++] = engine->tx[i];
		rx->rx[rx->rx_count++] = engine->rx[i];
	}
}

static void find_workers(struct engine *engine)
{
	unsigned lcore;

	RTE_LCORE_FOREACH_WORKER (lcore) {
		if (engine->workers < MAX_WORKERS)
			engine->worker[engine->workers++].lcore = lcore;
	}
	if (engine->workers == 0) {
		engine->inline_worker = true;
		engine->worker[engine->workers++].lcore = rte_lcore_id();
	}
	for (unsigned i = 0; i < engine->workers; i++)
		engine->worker[i].stop = &engine->stop;
	assign_tasks(engine);
}

int engine_create(struct mr *mr, unsigned burst, struct arp_station *stations,
		  struct engine **created, struct mr_error *error)
{
	struct engine *engine = rte_zmalloc("engine", sizeof(*engine), RTE_CACHE_LINE_SIZE);
	struct mr_port *port;
	int rc = 0;

	*created = engine;
	if (engine == NULL)
		return mr_fail(error, -ENOMEM, "no memory for the generator");
	engine->mr = mr;
	engine->station = stations;
	engine->mark = (uint16_t)(rte_rdtsc() >> 8);
	MR_PORT_FOREACH (mr, port) {
		if (engine->ports == ENGINE_PORTS)
			return mr_fail(error, -EINVAL,
				       "there are more than two ports; --portmask selects one or "
				       "two of them");
		engine->port[engine->ports++] = port;
	}
	if (engine->ports == 0)
		return mr_fail(error, -ENODEV, "there is no port: give EAL -a or --vdev");
	for (unsigned i = 0; i < engine->ports && rc == 0; i++)
		rc = create_tasks(engine, i, burst);
	if (rc != 0)
		return mr_fail(error, rc, "no memory for the generator");
	find_workers(engine);
	return 0;
}

void engine_destroy(struct engine *engine)
{
	if (engine == NULL)
		return;
	for (unsigned i = 0; i < engine->ports; i++) {
		if (engine->tx[i] != NULL)
			rte_ring_free(engine->tx[i]->replies);
		rte_free(engine->tx[i]);
		rte_free(engine->rx[i]);
	}
	rte_free(engine);
}

static bool links_up(struct engine *engine)
{
	for (unsigned i = 0; i < engine->ports; i++)
		if (engine->port[i]->link.link_status != RTE_ETH_LINK_UP)
			return false;
	return true;
}

int engine_wait_for_links(struct engine *engine, unsigned seconds, struct mr_error *error)
{
	uint64_t hz = rte_get_tsc_hz(), end = rte_rdtsc() + seconds * hz;

	while (true) {
		mr_ports_poll(engine->mr, rte_rdtsc() / (hz / 1000));
		if (links_up(engine))
			return 0;
		if (interrupted || rte_rdtsc() >= end)
			break;
		usleep(10000);
	}
	for (unsigned i = 0; i < engine->ports; i++)
		if (engine->port[i]->link.link_status != RTE_ETH_LINK_UP)
			mr_fail(error, -ENETDOWN, "%s: no link within %u s", engine->port[i]->label,
				seconds);
	return -ENETDOWN;
}

static void send_request(struct engine *engine, unsigned index, uint32_t from,
			 const struct mr_addr *target)
{
	struct rte_mbuf *mbuf = rte_pktmbuf_alloc(engine->port[index]->pool);

	if (mbuf == NULL)
		return;
	mbuf->data_len = mbuf->pkt_len = ARP_FRAME_LENGTH;
	arp_request(&engine->station[index], from, target, rte_pktmbuf_mtod(mbuf, uint8_t *));
	if (rte_eth_tx_burst(engine->port[index]->id, 0, &mbuf, 1) == 0)
		rte_pktmbuf_free(mbuf);
}

/* Between runs the queues are the main lcore's. */
static void serve(struct engine *engine, uint64_t ms)
{
	uint64_t end = rte_rdtsc() + cycles_of_ms(ms);

	do {
		for (unsigned i = 0; i < engine->ports; i++) {
			receive_poll(engine->rx[i]);
			transmit_poll(engine->tx[i]);
		}
	} while (rte_rdtsc() < end);
}

static void deactivate(struct engine *engine)
{
	for (unsigned i = 0; i < engine->ports; i++) {
		engine->tx[i]->active = false;
		engine->rx[i]->streams = 0;
	}
}

static bool unresolved(const struct engine *engine, unsigned index)
{
	const struct arp_station *station = &engine->station[index];

	return station->gateway.family != 0 && !station->resolved;
}

int engine_resolve_gateways(struct engine *engine, unsigned seconds, struct mr_error *error)
{
	uint64_t end = rte_rdtsc() + seconds * rte_get_tsc_hz();
	char text[MR_ADDR_TEXT_SIZE];
	bool wait = true;

	deactivate(engine);
	while (wait && !interrupted && rte_rdtsc() < end) {
		wait = false;
		for (unsigned i = 0; i < engine->ports; i++) {
			if (!unresolved(engine, i))
				continue;
			send_request(engine, i, 0, &engine->station[i].gateway);
			wait = true;
		}
		if (wait)
			serve(engine, 100);
	}
	for (unsigned i = 0; i < engine->ports; i++)
		if (unresolved(engine, i))
			return mr_fail(error, -EHOSTUNREACH, "%s: gateway %s does not answer",
				       engine->port[i]->label,
				       mr_addr_format(&engine->station[i].gateway, text));
	return 0;
}

void engine_announce(struct engine *engine)
{
	deactivate(engine);
	for (unsigned i = 0; i < engine->ports; i++) {
		const struct arp_station *station = &engine->station[i];
		if (station->addr.first.family != AF_INET)
			continue;
		for (uint32_t n = 0; n < RTE_MIN(station->addr.count, (uint32_t)ANNOUNCE_MAX);
		     n++) {
			struct mr_addr own =
				mr_addr_from_ipv4(mr_addr_ipv4(&station->addr.first) + n);
			send_request(engine, i, n, &own);
			if (n % 32 == 31)
				serve(engine, 1);
		}
	}
	serve(engine, 10);
}

static int worker_poll(struct worker *worker)
{
	for (unsigned i = 0; i < worker->tx_count; i++)
		transmit_poll(worker->tx[i]);
	for (unsigned i = 0; i < worker->rx_count; i++)
		receive_poll(worker->rx[i]);
	return 0;
}

static int worker_main(void *argument)
{
	struct worker *worker = argument;

	while (!__atomic_load_n(worker->stop, __ATOMIC_ACQUIRE))
		worker_poll(worker);
	return 0;
}

static unsigned receiver_of(const struct engine *engine, unsigned direction)
{
	return engine->ports == 1 ? 0 : 1 - direction;
}

static int prepare_direction(struct engine *engine, unsigned direction, const struct run *run)
{
	const struct stream_set *set = run->set[direction];
	struct transmit *tx = engine->tx[direction];
	struct receive *rx = engine->rx[receiver_of(engine, direction)];

	if (set == NULL)
		return 0;
	rx->streams = set->streams;
	rx->reverse = set->reverse;
	rx->sequence = malloc(set->streams * sizeof(*rx->sequence));
	if (rx->sequence == NULL || stream_cursor_create(set, &tx->cursor) != 0)
		return -ENOMEM;
	memset(rx->sequence, 0, set->streams * sizeof(*rx->sequence));
	tx->active = true;
	tx->done = false;
	tx->cease = false;
	tx->count = run->count;
	tx->patience = cycles_of_ms(PATIENCE_MS);
	return 0;
}

static int prepare(struct engine *engine, const struct run *run)
{
	int rc = 0;

	deactivate(engine);
	engine->mark++;
	for (unsigned i = 0; i < engine->ports; i++) {
		struct transmit *tx = engine->tx[i];
		struct receive *rx = engine->rx[i];
		serve(engine, 0); /* what came in meanwhile */
		tx->made = tx->sent = tx->tagged = tx->octets = 0;
		tx->first_time = tx->last_time = 0;
		rx->tagged = rx->octets = rx->bad_checksums = rx->strayed = rx->other = 0;
		rx->first_time = rx->last_time = 0;
		rx->verify = run->verify;
		tx->mark = rx->mark = engine->mark;
		histogram_reset(&rx->latency);
	}
	for (unsigned i = 0; i < engine->ports && rc == 0; i++)
		rc = prepare_direction(engine, i, run);
	return rc;
}

static void set_clocks(struct engine *engine, const struct run *run)
{
	uint64_t hz = rte_get_tsc_hz(), start = rte_rdtsc() + cycles_of_ms(START_DELAY_MS);

	for (unsigned i = 0; i < engine->ports; i++) {
		struct transmit *tx = engine->tx[i];
		pace_start(&tx->pace, start, run->rate, hz);
		tx->deadline = run->seconds > 0 ? start + (uint64_t)(run->seconds * (double)hz) : 0;
	}
}

/* How the main lcore sees that a run is over. */
struct watch {
	uint64_t quiet, settle; /* cycles */
	uint64_t sent_since;    /* when all senders were seen to be done; 0: they are not */
};

static bool is_over(const struct engine *engine, struct watch *watch)
{
	uint64_t now = rte_rdtsc(), missing = 0, last = 0;

	for (unsigned i = 0; i < engine->ports; i++) {
		struct transmit *tx = engine->tx[i];
		const struct receive *rx = engine->rx[receiver_of(engine, i)];
		if (!tx->active)
			continue;
		/* What has been sent still counts: it is waited for. */
		if (interrupted)
			__atomic_store_n(&tx->cease, true, __ATOMIC_RELAXED);
		if (!__atomic_load_n(&tx->done, __ATOMIC_ACQUIRE))
			return false;
		uint64_t sent = __atomic_load_n(&tx->tagged, __ATOMIC_RELAXED);
		uint64_t received = __atomic_load_n(&rx->tagged, __ATOMIC_RELAXED);
		missing += received < sent ? sent - received : 0;
		last = RTE_MAX(last, __atomic_load_n(&rx->last_time, __ATOMIC_RELAXED));
	}
	if (watch->sent_since == 0)
		watch->sent_since = now;
	if (now - watch->sent_since >= watch->settle)
		return true;
	return missing == 0 && now - watch->sent_since >= watch->quiet &&
	       (int64_t)(now - last) >= (int64_t)watch->quiet;
}

static void run_lcores(struct engine *engine, const struct run *run)
{
	struct watch watch = {.quiet = cycles_of_ms(QUIET_MS),
			      .settle = cycles_of_ms(run->settle_ms)};

	engine->stop = false;
	set_clocks(engine, run);
	if (engine->inline_worker) {
		do {
			for (unsigned i = 0; i < INLINE_POLLS; i++)
				worker_poll(&engine->worker[0]);
		} while (!is_over(engine, &watch));
		return;
	}
	for (unsigned i = 0; i < engine->workers; i++)
		rte_eal_remote_launch(worker_main, &engine->worker[i], engine->worker[i].lcore);
	while (!is_over(engine, &watch))
		usleep(1000);
	__atomic_store_n(&engine->stop, true, __ATOMIC_RELEASE);
	rte_eal_mp_wait_lcore();
}

static void collect(const struct engine *engine, unsigned direction, struct flow_result *result)
{
	const struct transmit *tx = engine->tx[direction];
	const struct receive *rx = engine->rx[receiver_of(engine, direction)];
	double hz = (double)rte_get_tsc_hz();

	memset(result, 0, sizeof(*result));
	histogram_reset(&result->latency);
	if (!tx->active)
		return;
	result->sent = tx->sent;
	result->octets_sent = tx->octets;
	result->tagged = tx->tagged;
	result->send_seconds = (double)(tx->last_time - tx->first_time) / hz;
	result->receive_seconds = (double)(rx->last_time - rx->first_time) / hz;
	result->octets_received = rx->octets;
	result->bad_checksums = rx->bad_checksums;
	/* Strays of this direction came back to the port that sent them. */
	result->strayed = engine->ports == 1 ? 0 : engine->rx[direction]->strayed;
	result->other = rx->other;
	for (uint32_t i = 0; i < rx->streams; i++) {
		const struct sequence *sequence = &rx->sequence[i];
		result->received += sequence->received;
		result->duplicates += sequence->duplicates;
		result->reordered += sequence->reordered;
		result->late += sequence->late;
		result->distance = RTE_MAX(result->distance, sequence->distance);
	}
	result->lost = result->tagged > result->received ? result->tagged - result->received : 0;
	histogram_merge(&result->latency, &rx->latency);
}

static void clean_up(struct engine *engine)
{
	for (unsigned i = 0; i < engine->ports; i++) {
		transmit_stop(engine->tx[i]);
		stream_cursor_destroy(&engine->tx[i]->cursor);
		free(engine->rx[i]->sequence);
		engine->rx[i]->sequence = NULL;
	}
	deactivate(engine);
}

int engine_run(struct engine *engine, const struct run *run, struct run_result *result,
	       struct mr_error *error)
{
	int rc = prepare(engine, run);

	if (rc == 0) {
		run_lcores(engine, run);
		for (unsigned i = 0; i < ENGINE_PORTS; i++)
			if (i < engine->ports)
				collect(engine, i, &result->flow[i]);
			else
				memset(&result->flow[i], 0, sizeof(result->flow[i]));
		result->interrupted = interrupted;
	} else {
		mr_fail(error, rc, "no memory for %u streams",
			run->set[0] != NULL ? run->set[0]->streams : run->set[1]->streams);
	}
	clean_up(engine);
	return rc;
}
