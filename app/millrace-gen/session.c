/* SPDX-License-Identifier: BSD-3-Clause */
#include "session.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <rte_common.h>
#include <rte_cycles.h>

#include "base/log.h"
#include "pace.h"

#define DEFAULT_LINK_SPEED 10000 /* Mb/s, of devices that do not know */
#define WARM_UP_TRIES 3
#define WARM_UP_MAX 65536 /* frames, unless told */
#define WARM_UP_RATE (10000 * 1000ull)
/* What a run may take longer than its time: 1%, and a time slice lost to the kernel. */
#define SLACK 1.01
#define SLACK_SECONDS 0.02

static void set_station(struct session *session, unsigned index)
{
	const struct options *options = session->options;
	struct arp_station *station = &session->station[index];
	unsigned port = RTE_MIN(index, engine_ports(session->engine) - 1);

	station->mac = options->src_mac[index];
	if (station->mac.count == 0)
		station->mac = (struct mac_range){
			mac_to_number(&engine_port(session->engine, port)->mac), 1};
	station->addr = index == 0 ? options->src_ip : options->dst_ip;
	station->vlan = options->vlan;
	station->gateway = options->gateway[index];
}

static int check_ports(const struct session *session, struct mr_error *error)
{
	const struct options *options = session->options;

	if (engine_ports(session->engine) == 2)
		return 0;
	if (options->ways != WAYS_ONE)
		return mr_fail(error, -EINVAL, "--ways: with one port there is only one");
	if (options->gateway[1].family != 0)
		return mr_fail(error, -EINVAL, "--gateway: there is no second port");
	return 0;
}

static void find_link_speed(struct session *session)
{
	const struct rte_eth_link *link = &engine_port(session->engine, 0)->link;

	session->link_speed = session->options->link_speed;
	if (session->link_speed != 0)
		return;
	session->link_speed = link->link_speed;
	if (link->link_speed == RTE_ETH_SPEED_NUM_NONE ||
	    link->link_speed == RTE_ETH_SPEED_NUM_UNKNOWN)
		session->link_speed = DEFAULT_LINK_SPEED;
}

int session_open(struct session *session, const struct options *options, struct mr *mr,
		 struct mr_error *error)
{
	*session = (struct session){.options = options};
	int rc = engine_create(mr, options->burst, session->station, &session->engine, error);

	if (rc == 0)
		rc = check_ports(session, error);
	if (rc != 0)
		return rc;
	unsigned ports = engine_ports(session->engine);
	for (unsigned i = 0; i < ENGINE_PORTS; i++)
		set_station(session, i);
	for (unsigned i = 0; i < ports; i++)
		snprintf(session->direction[i], sizeof(session->direction[i]), "%u -> %u",
			 engine_port(session->engine, i)->id,
			 engine_port(session->engine, ports == 1 ? 0 : 1 - i)->id);
	rc = engine_wait_for_links(session->engine, options->wait_link, error);
	if (rc == 0)
		rc = engine_resolve_gateways(session->engine, options->wait_link, error);
	find_link_speed(session);
	return rc;
}

static void unload(struct session *session)
{
	for (unsigned i = 0; i < ENGINE_PORTS; i++) {
		stream_set_destroy(session->set[i]);
		session->set[i] = NULL;
	}
}

void session_close(struct session *session)
{
	unload(session);
	engine_destroy(session->engine);
}

static struct mac_range next_mac(const struct session *session, unsigned direction)
{
	const struct arp_station *station = &session->station[direction];

	if (session->options->dst_mac[direction].count != 0)
		return session->options->dst_mac[direction];
	if (station->resolved)
		return (struct mac_range){station->gateway_mac, 1};
	return session->station[1 - direction].mac;
}

int session_load(struct session *session, const struct size_mix *sizes, unsigned ways,
		 struct mr_error *error)
{
	const struct options *options = session->options;
	int rc = 0;

	unload(session);
	session->ways = ways;
	for (unsigned i = 0; i < ways && rc == 0; i++) {
		struct stream_config config = {
			.sizes = *sizes,
			.src_mac = session->station[i].mac,
			.dst_mac = next_mac(session, i),
			.src = i == 0 ? options->src_ip : options->dst_ip,
			.dst = i == 0 ? options->dst_ip : options->src_ip,
			.src_port = i == 0 ? options->src_port : options->dst_port,
			.dst_port = i == 0 ? options->dst_port : options->src_port,
			.vlan = options->vlan,
			.reverse = i == 1,
			.streams = options->streams,
			.pcap = options->pcap[i],
		};
		rc = stream_set_create(&config, &session->set[i], error);
	}
	return rc;
}

static uint64_t warm_up_frames(const struct session *session)
{
	const struct stream_set *set = session->set[0];
	uint64_t frames = 1;

	if (session->options->warm_up != OPTION_WARM_UP_AUTO)
		return session->options->warm_up;
	if (!set->varies)
		return RTE_MIN(set->template_count, (unsigned)WARM_UP_MAX);
	frames = RTE_MAX(frames, set->src_mac.count);
	frames = RTE_MAX(frames, set->dst_mac.count);
	frames = RTE_MAX(frames, set->src.count);
	frames = RTE_MAX(frames, set->dst.count);
	frames = RTE_MAX(frames, set->src_port.count);
	frames = RTE_MAX(frames, set->dst_port.count);
	return RTE_MIN(frames, (uint64_t)WARM_UP_MAX);
}

int session_warm_up(struct session *session, struct mr_error *error)
{
	uint64_t frames = warm_up_frames(session);
	uint64_t rate = RTE_MIN(session_rate(session), WARM_UP_RATE);

	if (frames == 0)
		return 0;
	engine_announce(session->engine);
	for (unsigned i = 0; i < WARM_UP_TRIES && !engine_interrupted(); i++) {
		/* At a rate of less than 100 a second it would take longer than it should. */
		int rc = session_run(session, RTE_MAX(rate, 100000ull), frames, 0, error);
		if (rc != 0)
			return rc;
		if (session_lost(session) == 0)
			return 0;
	}
	mr_log_notice("warm-up: of %" PRIu64 " frames each way, %" PRIu64 " were lost", frames,
		      session_lost(session));
	return 0;
}

int session_run(struct session *session, uint64_t rate, uint64_t count, double seconds,
		struct mr_error *error)
{
	struct run run = {
		.set = {session->set[0], session->set[1]},
		.rate = rate,
		.count = count,
		.seconds = seconds > 0 ? seconds * SLACK + SLACK_SECONDS : 0,
		.settle_ms = session->options->settle_ms,
		.verify = session->options->verify,
	};

	return engine_run(session->engine, &run, &session->result, error);
}

uint64_t session_link_rate(const struct session *session)
{
	return pace_rate_of_link(session->link_speed, 100000, session->set[0]->milli_octets);
}

uint64_t session_rate(const struct session *session)
{
	const struct rate_option *rate = &session->options->rate;
	uint64_t value = rate->value;

	if (rate->of_link)
		value = pace_rate_of_link(session->link_speed, rate->value,
					  session->set[0]->milli_octets);
	value = RTE_MAX(value, 1ull);
	return RTE_MIN(value, PACE_MAX_RATE);
}

bool session_kept_pace(const struct session *session, uint64_t rate, uint64_t count)
{
	double wanted = (double)(count - 1) * 1000 / (double)rate;

	for (unsigned i = 0; i < session->ways; i++) {
		const struct flow_result *flow = &session->result.flow[i];
		if (flow->sent != count || flow->send_seconds > wanted * SLACK + SLACK_SECONDS)
			return false;
	}
	return true;
}

uint64_t session_lost(const struct session *session)
{
	return session->result.flow[0].lost + session->result.flow[1].lost;
}

void session_report_latency(const struct histogram *latency, struct report_row *row)
{
	double us = (double)rte_get_tsc_hz() / 1e6;

	if (latency->count == 0)
		return;
	row->min = (double)latency->min / us;
	row->avg = histogram_mean(latency) / us;
	row->p50 = (double)histogram_quantile(latency, 500) / us;
	row->p99 = (double)histogram_quantile(latency, 990) / us;
	row->p999 = (double)histogram_quantile(latency, 999) / us;
	row->max = (double)latency->max / us;
}

static double per_second(uint64_t frames, double seconds)
{
	return seconds > 0 ? (double)(frames - 1) / seconds : 0;
}

static double wire_mbps(double pps, uint64_t octets, uint64_t frames)
{
	return frames != 0 ? pps * ((double)octets / (double)frames + 20) * 8 / 1e6 : 0;
}

int session_report_flow(const struct session *session, unsigned direction, uint64_t size,
			struct report *report)
{
	const struct flow_result *flow = &session->result.flow[direction];
	struct report_row *row = report_add(report);
	uint64_t arrived = flow->received + flow->duplicates;

	if (row == NULL)
		return -ENOMEM;
	row->direction = session->direction[direction];
	row->ways = session->ways;
	row->size = size;
	row->sent = flow->sent;
	row->received = flow->received;
	row->lost = flow->lost;
	row->lost_percent = flow->tagged != 0 ? (double)flow->lost * 100 / (double)flow->tagged : 0;
	row->duplicates = flow->duplicates;
	row->reordered = flow->reordered;
	row->distance = flow->distance;
	row->late = flow->late;
	row->bad_checksums = flow->bad_checksums;
	row->strayed = flow->strayed;
	row->other = flow->other;
	row->tx_pps = per_second(flow->sent, flow->send_seconds);
	row->rx_pps = per_second(arrived, flow->receive_seconds);
	row->tx_mbps = wire_mbps(row->tx_pps, flow->octets_sent, flow->sent);
	row->rx_mbps = wire_mbps(row->rx_pps, flow->octets_received, arrived);
	session_report_latency(&flow->latency, row);
	return 0;
}
