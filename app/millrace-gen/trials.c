/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The measurements of RFC 2544, section 26: throughput (26.1), latency (26.2) and back-to-back
 * frames (26.4), for each frame size, one way and two ways. A rate that the generator itself cannot
 * keep does not pass, and the result says that it was limited: it is then no limit of the device.
 */
#include "trials.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include <rte_common.h>

#include "base/log.h"
#include "search.h"

/* One search: what its trials need and leave. */
struct probe {
	struct session *session;
	uint64_t size;
	uint64_t rate;            /* back-to-back: of the burst */
	bool limited;             /* a rate failed only because it could not be sent */
	struct report_row passed; /* latency of the last trial that passed */
	struct mr_error *error;
	int rc;
};

static int no_memory(struct mr_error *error)
{
	return mr_fail(error, -ENOMEM, "no memory for results");
}

static uint64_t frames_of(uint64_t rate, uint32_t seconds)
{
	uint64_t frames = (uint64_t)((unsigned __int128)rate * seconds / 1000);

	return RTE_MAX(frames, 1ull);
}

static void merged_latency(const struct session *session, struct report_row *row)
{
	static struct histogram merged; /* too large for the stack of a small thread */

	merged = session->result.flow[0].latency;
	if (session->ways == 2)
		histogram_merge(&merged, &session->result.flow[1].latency);
	session_report_latency(&merged, row);
}

static enum search_verdict judge(struct probe *probe, uint64_t rate, uint64_t count, double seconds)
{
	struct session *session = probe->session;

	probe->rc = session_run(session, rate, count, seconds, probe->error);
	if (probe->rc != 0 || session->result.interrupted)
		return SEARCH_ABORTED;
	uint64_t lost = session_lost(session);
	bool kept_pace = session_kept_pace(session, rate, count);
	mr_log_notice("%" PRIu64 " octets, %u way%s, %.1f pps, %" PRIu64 " frames: %" PRIu64
		      " lost%s",
		      probe->size, session->ways, session->ways == 2 ? "s" : "",
		      (double)rate / 1000, count, lost, kept_pace ? "" : ", rate not kept");
	if (lost == 0 && !kept_pace)
		probe->limited = true;
	if (lost != 0 || !kept_pace)
		return SEARCH_FAILED;
	merged_latency(session, &probe->passed);
	return SEARCH_PASSED;
}

static enum search_verdict try_rate(uint64_t rate, void *context)
{
	struct probe *probe = context;
	uint32_t seconds = probe->session->options->seconds;

	return judge(probe, rate, frames_of(rate, seconds), seconds);
}

static enum search_verdict try_burst(uint64_t count, void *context)
{
	struct probe *probe = context;

	return judge(probe, probe->rate, count, 0);
}

static uint64_t resolution(const struct session *session, uint64_t max)
{
	uint64_t part = (uint64_t)((unsigned __int128)max * session->options->resolution / 100000);

	return RTE_MAX(part, 1ull);
}

static int throughput(struct session *session, uint64_t size, struct report *report,
		      struct mr_error *error)
{
	struct probe probe = {.session = session, .size = size, .error = error};
	uint64_t max = session_rate(session);
	struct search search = {.max = max,
				.resolution = resolution(session, max),
				.trial = try_rate,
				.context = &probe};
	struct search_result result = search_run(&search);

	if (probe.rc != 0 || result.aborted)
		return probe.rc;
	struct report_row *row = report_add(report);
	if (row == NULL)
		return no_memory(error);
	*row = probe.passed;
	row->size = size;
	row->ways = session->ways;
	row->trials = result.trials;
	row->limited = probe.limited;
	row->rate = (double)result.load / 1000 * session->ways;
	row->link_percent = (double)result.load * 100 / (double)session_link_rate(session);
	row->tx_mbps = row->rate * (double)(size + 20) * 8 / 1e6;
	return 0;
}

static int back_to_back(struct session *session, uint64_t size, struct report *report,
			struct mr_error *error)
{
	struct probe probe = {.session = session, .size = size, .error = error};
	uint64_t max, repeat = session->options->repeat;
	struct report_row sum = {.size = size, .ways = session->ways};

	probe.rate = session_rate(session);
	max = frames_of(probe.rate, session->options->seconds);
	struct search search = {.max = max,
				.resolution = resolution(session, max),
				.trial = try_burst,
				.context = &probe};
	for (uint64_t i = 0; i < repeat; i++) {
		struct search_result result = search_run(&search);
		double frames = (double)result.load;

		if (probe.rc != 0 || result.aborted)
			return probe.rc;
		sum.frames += frames / (double)repeat;
		sum.fewest = i == 0 ? frames : RTE_MIN(sum.fewest, frames);
		sum.most = RTE_MAX(sum.most, frames);
		sum.trials += result.trials;
	}
	sum.limited = probe.limited;
	sum.milliseconds = sum.frames * 1e6 / (double)probe.rate;
	struct report_row *row = report_add(report);
	if (row == NULL)
		return no_memory(error);
	*row = sum;
	return 0;
}

static int report_flows(const struct session *session, uint64_t size, struct report *report,
			struct mr_error *error)
{
	for (unsigned i = 0; i < session->ways; i++)
		if (session_report_flow(session, i, size, report) != 0)
			return no_memory(error);
	return 0;
}

static void average_of(struct report_row *row, unsigned repeat)
{
	row->avg /= repeat;
	row->p50 /= repeat;
	row->p99 /= repeat;
	row->p999 /= repeat;
	row->lost_percent /= repeat;
	row->tx_pps /= repeat;
	row->rx_pps /= repeat;
	row->tx_mbps /= repeat;
	row->rx_mbps /= repeat;
}

/* Counts add up, rates and latencies become averages, but extremes stay what they are. */
static void add_up(struct report_row *row, const struct report_row *one)
{
	row->sent += one->sent;
	row->received += one->received;
	row->lost += one->lost;
	row->duplicates += one->duplicates;
	row->reordered += one->reordered;
	row->late += one->late;
	row->bad_checksums += one->bad_checksums;
	row->strayed += one->strayed;
	row->other += one->other;
	row->distance = RTE_MAX(row->distance, one->distance);
	row->lost_percent += one->lost_percent;
	row->tx_pps += one->tx_pps;
	row->rx_pps += one->rx_pps;
	row->tx_mbps += one->tx_mbps;
	row->rx_mbps += one->rx_mbps;
	row->avg += one->avg;
	row->p50 += one->p50;
	row->p99 += one->p99;
	row->p999 += one->p999;
	row->min = RTE_MIN(row->min, one->min);
	row->max = RTE_MAX(row->max, one->max);
}

static int latency(struct session *session, uint64_t size, struct report *report,
		   struct mr_error *error)
{
	uint64_t rate = session_rate(session);
	uint32_t seconds = session->options->seconds, repeat = session->options->repeat;
	unsigned first = report->count;

	for (uint32_t i = 0; i < repeat; i++) {
		int rc = session_run(session, rate, frames_of(rate, seconds), seconds, error);
		if (rc == 0 && !session->result.interrupted)
			rc = report_flows(session, size, report, error);
		if (rc != 0 || session->result.interrupted) {
			report->count = first;
			return rc;
		}
		if (i == 0)
			continue;
		report->count = first + session->ways;
		for (unsigned w = 0; w < session->ways; w++)
			add_up(&report->rows[first + w], &report->rows[first + session->ways + w]);
	}
	for (unsigned w = 0; w < session->ways; w++)
		average_of(&report->rows[first + w], repeat);
	return 0;
}

static int trial(struct session *session, struct report *report, unsigned ways,
		 struct mr_error *error)
{
	static int (*const kinds[])(struct session *, uint64_t, struct report *,
				    struct mr_error *) = {[TRIAL_RFC2544] = throughput,
							  [TRIAL_BACK_TO_BACK] = back_to_back,
							  [TRIAL_LATENCY] = latency};
	const struct options *options = session->options;
	int rc = 0;

	for (unsigned i = 0; i < options->sizes.count && rc == 0 && !engine_interrupted(); i++) {
		struct size_mix one = {.count = 1};
		one.part[0].size = options->sizes.part[i].size;
		one.part[0].weight = 1;
		rc = session_load(session, &one, ways, error);
		if (rc == 0)
			rc = session_warm_up(session, error);
		if (rc == 0)
			rc = kinds[options->trial](session, one.part[0].size, report, error);
	}
	return rc;
}

static int timed_run(struct session *session, struct report *report, struct mr_error *error)
{
	const struct options *options = session->options;
	uint64_t size = options->sizes.count == 1 ? options->sizes.part[0].size : 0;
	int rc = session_load(session, &options->sizes, options->ways, error);

	if (rc == 0)
		rc = session_warm_up(session, error);
	if (rc != 0)
		return rc;
	uint64_t rate = session_rate(session);
	uint64_t count = options->count != 0 ? options->count : frames_of(rate, options->seconds);
	rc = session_run(session, rate, count, options->seconds, error);
	return rc != 0 ? rc : report_flows(session, options->pcap[0] ? 0 : size, report, error);
}

int trials_run(struct session *session, struct report *report, struct mr_error *error)
{
	static const enum report_kind kinds[] = {[TRIAL_NONE] = REPORT_RUN,
						 [TRIAL_RFC2544] = REPORT_THROUGHPUT,
						 [TRIAL_BACK_TO_BACK] = REPORT_BACK_TO_BACK,
						 [TRIAL_LATENCY] = REPORT_LATENCY};
	const struct options *options = session->options;
	int rc = 0;

	report->kind = kinds[options->trial];
	if (options->trial == TRIAL_NONE)
		return timed_run(session, report, error);
	for (unsigned ways = WAYS_ONE; ways <= WAYS_TWO && rc == 0; ways++)
		if (options->ways & ways)
			rc = trial(session, report, ways, error);
	return rc;
}
