/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The program: options, EAL, the appliance, and the main lcore's loop. The loop never waits longer
 * than a millisecond, so that what lcores tell is heard soon; everything else (console, clients,
 * signals) is a file descriptor in its epoll set.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <time.h>
#include <unistd.h>

#include <rte_debug.h>
#include <rte_eal.h>
#include <rte_errno.h>
#include <rte_lcore.h>
#include <rte_pdump.h>
#include <sys/epoll.h>

#include "base/eal_args.h"
#include "base/log.h"
#include "control/appliance.h"
#include "control/console.h"
#include "control/control.h"
#include "control/ctl_server.h"
#include "control/loop.h"
#include "devices.h"
#include "instance.h"
#include "lcore/lcores.h"
#include "options.h"
#include "service.h"
#include "stats.h"
#include "telemetry/telemetry.h"

struct program {
	struct options options;
	struct mr *mr;
	struct mr_loop *loop;
	struct mr_ctl_server *server;
	struct mr_console *console;
	struct service service;
	int signals; /* signalfd */
	bool quit;
};

static uint64_t monotonic_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

static void quit(void *context)
{
	((struct program *)context)->quit = true;
}

static void on_signal(int fd, uint32_t events, void *context)
{
	struct signalfd_siginfo info;

	(void)events;
	if (read(fd, &info, sizeof(info)) == sizeof(info))
		mr_log_notice("signal %u: stopping", info.ssi_signo);
	quit(context);
}

/* Blocked here, before EAL makes threads, so that every thread inherits it. */
static int block_signals(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	signal(SIGPIPE, SIG_IGN);
	if (pthread_sigmask(SIG_BLOCK, &set, NULL) != 0)
		return -1;
	return signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC);
}

static int fail(const struct mr_error *error)
{
	mr_log_error("%s", error->text);
	return -1;
}

static int create_appliance(struct program *program)
{
	static unsigned lcores[MR_MAX_LCORES];
	struct mr_appliance_options *options = &program->options.appliance;
	unsigned wanted = program->options.nb_cores, count = 0, id;
	struct mr_error error = {0};

	if (devices_check(&error) != 0)
		return fail(&error);
	RTE_LCORE_FOREACH_WORKER (id) {
		if (count < MR_MAX_LCORES && (wanted == 0 || count < wanted))
			lcores[count++] = id;
	}
	if (count == 0) {
		mr_fail(&error, -EINVAL,
			"no lcore to forward with: give EAL at least two, one for control and the "
			"others for forwarding, for example -l 0,1");
		return fail(&error);
	}
	if (count < wanted)
		mr_log_warning("--nb-cores: %u wanted, %u there (EAL's -l decides)", wanted, count);
	options->lcores = lcores;
	options->lcore_count = count;
	program->mr = mr_appliance_create(options, &error);
	return program->mr != NULL ? 0 : fail(&error);
}

static void on_telemetry(int fd, uint32_t events, void *context)
{
	(void)fd;
	(void)events;
	mr_telemetry_poll(((struct program *)context)->mr);
}

static int open_telemetry(struct program *program, struct mr_error *error)
{
	int rc = mr_telemetry_create(program->mr, error);

	for (unsigned i = 0; rc == 0 && mr_appliance_queries[i] != NULL; i++)
		rc = mr_telemetry_register(program->mr, mr_appliance_queries[i], error);
	if (rc == 0)
		rc = mr_loop_add(program->loop, mr_telemetry_fd(program->mr), EPOLLIN, on_telemetry,
				 program);
	return rc;
}

/* Lets dpdk-dumpcap capture. The packet path pays for it only while a capture runs. */
static void open_capture(void)
{
	if (rte_pdump_init() < 0)
		mr_log_warning("packets cannot be captured: %s", rte_strerror(rte_errno));
}

static int open_interfaces(struct program *program)
{
	const struct options *options = &program->options;
	struct mr *mr = program->mr;
	struct mr_error error = {0};

	program->loop = mr_loop_new();
	if (program->loop == NULL) {
		mr_fail(&error, -errno, "no event loop: %s", strerror(errno));
		return fail(&error);
	}
	mr_control_on_quit(mr->control, quit, program);
	if (mr_loop_add(program->loop, program->signals, EPOLLIN, on_signal, program) != 0 ||
	    open_telemetry(program, &error) != 0 ||
	    mr_ctl_server_new(mr, program->loop, options->ctl_socket, &program->server, &error) !=
		    0)
		return fail(&error);
	if (options->config != NULL && mr_control_config_file(mr, options->config, &error) != 0)
		return fail(&error);
	if ((!options->interactive || options->auto_start) && mr_lcores_start(mr, &error) != 0)
		return fail(&error);
	if (options->interactive &&
	    mr_console_new(mr, program->loop, stdin, stdout, &program->console, &error) != 0)
		return fail(&error);
	return 0;
}

static void run(struct program *program)
{
	uint64_t next_stats = monotonic_ms() + program->options.stats_period * 1000ull;

	while (!program->quit) {
		uint64_t now_ms = monotonic_ms();
		unsigned count = mr_appliance_poll(program->mr, now_ms);

		if (program->options.stats_period != 0 && now_ms >= next_stats) {
			stats_print(program->mr, stdout);
			next_stats += program->options.stats_period * 1000ull;
		}
		service_poll(&program->service, program->mr, now_ms);
		if (mr_loop_poll(program->loop, count != 0 ? 0 : 1) < 0)
			break;
	}
}

static void close_program(struct program *program)
{
	mr_console_free(program->console);
	mr_ctl_server_free(program->server);
	if (program->mr != NULL)
		mr_telemetry_destroy(program->mr);
	mr_appliance_destroy(program->mr);
	mr_loop_free(program->loop);
	if (program->signals >= 0)
		close(program->signals);
}

/* The words before `--` are EAL's; finds its file prefix, which names what is this instance's. */
static const char *file_prefix(int argc, char **argv)
{
	static const char name[] = "--file-prefix";

	for (int i = 1; i < argc; i++) {
		if (strncmp(argv[i], name, sizeof(name) - 1) != 0)
			continue;
		if (argv[i][sizeof(name) - 1] == '=')
			return argv[i] + sizeof(name);
		if (argv[i][sizeof(name) - 1] == '\0' && i + 1 < argc)
			return argv[i + 1];
	}
	return NULL;
}

/* EAL keeps to itself how vfio's interrupts come. */
static bool legacy_interrupts(int argc, char **argv)
{
	for (int i = 1; i < argc; i++)
		if (strcmp(argv[i], "--vfio-intr=legacy") == 0 ||
		    (strcmp(argv[i], "--vfio-intr") == 0 && i + 1 < argc &&
		     strcmp(argv[i + 1], "legacy") == 0))
			return true;
	return false;
}

static void eal_failed(const char *prefix)
{
	int rc = rte_errno;
	pid_t owner = instance_owner();

	if (owner != 0)
		mr_log_error("--file-prefix %s: process %d uses it; end that or choose another",
			     prefix != NULL ? prefix : "rte", (int)owner);
	else if (rc != 0)
		mr_log_error("EAL did not start: %s", rte_strerror(rc));
	else
		mr_log_error("EAL did not start; its lines above say why");
}

int main(int argc, char **argv)
{
	struct program program = {.signals = -1};
	struct mr_eal_args args = mr_eal_args_split(argc, argv);
	const char *prefix = file_prefix(args.eal_count, argv);

	options_parse(&program.options, args.own_count, args.own, prefix);

	service_open(&program.service);
	program.options.appliance.port.legacy_interrupts = legacy_interrupts(args.eal_count, argv);
	program.signals = block_signals();
	rte_set_application_usage_hook(options_usage);
	if (rte_eal_init(args.eal_count, argv) < 0) {
		eal_failed(prefix);
		return EXIT_FAILURE;
	}
	open_capture();
	int rc = create_appliance(&program);
	if (rc == 0)
		rc = open_interfaces(&program);
	if (rc == 0) {
		service_ready(&program.service, program.mr, monotonic_ms());
		mr_log_notice("ready");
		run(&program);
		service_stopping();
	}
	close_program(&program);
	rte_pdump_uninit();
	struct instance_pages *pages = instance_pages_find();
	rte_eal_cleanup();
	instance_pages_remove(pages);
	return rc == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
