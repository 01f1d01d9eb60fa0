/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The program: options, EAL, ports, measurement, report. Ports are set up as millrace sets up its
 * own, by the profiles of their drivers, with one queue each way.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_eal.h>
#include <rte_errno.h>
#include <rte_lcore.h>

#include "base/eal_args.h"
#include "base/log.h"
#include "base/rcu.h"
#include "options.h"
#include "port/iface.h"
#include "port/port.h"
#include "session.h"
#include "trials.h"

static void on_signal(int number)
{
	(void)number;
	engine_interrupt();
}

static void catch_signals(void)
{
	struct sigaction action = {.sa_handler = on_signal};

	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
}

static int open_ports(struct mr *mr, const struct options *options, struct mr_error *error)
{
	mr->rcu = mr_rcu_create(1);
	mr->ifaces = mr_ifaces_create();
	if (mr->rcu == NULL || mr->ifaces == NULL)
		return mr_fail(error, -ENOMEM, "no memory for ports");
	mr_ports_expect_lcores(mr, rte_lcore_count());
	return mr_ports_create(mr, &options->port, error);
}

static void close_ports(struct mr *mr)
{
	mr_ports_destroy(mr);
	if (mr->ifaces != NULL)
		mr_ifaces_destroy(mr->ifaces);
	if (mr->rcu != NULL)
		mr_rcu_destroy(mr->rcu);
}

static int measure(struct mr *mr, const struct options *options, struct mr_error *error)
{
	static struct session session; /* holds histograms: too large for a stack */
	struct report report = {0};
	int rc = session_open(&session, options, mr, error);

	if (rc == 0)
		rc = trials_run(&session, &report, error);
	if (rc == 0 && report.count != 0) {
		report_print(&report, stdout);
		fflush(stdout);
		rc = report_save(&report, options->csv, options->json, error);
	}
	report_free(&report);
	session_close(&session);
	return rc;
}

int main(int argc, char **argv)
{
	struct options options;
	struct mr_error error = {0};
	struct mr mr = {0};
	struct mr_eal_args args = mr_eal_args_split(argc, argv);

	options_parse(&options, args.own_count, args.own);
	rte_set_application_usage_hook(options_usage);
	if (rte_eal_init(args.eal_count, argv) < 0) {
		mr_log_error("EAL did not start: %s", rte_strerror(rte_errno));
		return EXIT_FAILURE;
	}
	catch_signals();
	int rc = open_ports(&mr, &options, &error);
	if (rc == 0)
		rc = measure(&mr, &options, &error);
	if (rc != 0)
		mr_log_error("%s", error.text[0] != '\0' ? error.text : strerror(-rc));
	close_ports(&mr);
	rte_eal_cleanup();
	return rc == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
