/* SPDX-License-Identifier: BSD-3-Clause */
/* Driver profiles: those shipped, and what is wrong with others. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include <rte_ethdev.h>

#include "port/port.h"
#include "port/profile.h"

struct fixture {
	char dir[32], file[64], base[64];
};

static void write_file(const char *path, const char *text)
{
	FILE *file = fopen(path, "w");

	assert_non_null(file);
	assert_true(fputs(text, file) >= 0);
	assert_int_equal(fclose(file), 0);
}

static int set_up(void **state)
{
	static struct fixture fixture;
	struct fixture *f = &fixture;

	strcpy(f->dir, "/tmp/mr_profiles_XXXXXX");
	assert_non_null(mkdtemp(f->dir));
	snprintf(f->base, sizeof(f->base), "%s/default.cfg", f->dir);
	snprintf(f->file, sizeof(f->file), "%s/net_test.cfg", f->dir);
	write_file(f->base, "[port]\nrxq = 1\nrxd = 64\n");
	*state = f;
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *f = *state;

	unlink(f->file);
	unlink(f->base);
	return rmdir(f->dir);
}

static void shipped_profiles_are_good(void **state)
{
	(void)state;
	static const char *const drivers[] = {
		"net_e1000_em",  "net_e1000_igb", "net_virtio",    "net_virtio_user", "net_vhost",
		"net_af_packet", "net_tap",       "net_memif",     "net_pcap",        "net_ring",
		"net_igc",       "net_ixgbe",     "net_i40e",      "net_ice",         "mlx5_pci",
		"net_null",      "default",       "no such driver"};
	struct mr_profile profile;

	for (unsigned i = 0; i < sizeof(drivers) / sizeof(drivers[0]); i++) {
		struct mr_error error = {0};
		if (mr_profile_load(NULL, drivers[i], &profile, &error) != 0)
			fail_msg("%s", error.text);
		assert_true(profile.rxd >= 64 && profile.txd >= 64);
	}
}

static void intel_profiles_know_their_devices(void **state)
{
	(void)state;
	struct mr_profile em, igb;
	struct mr_error error = {0};

	assert_int_equal(mr_profile_load(NULL, "net_e1000_em", &em, &error), 0);
	assert_int_equal(mr_profile_load(NULL, "net_e1000_igb", &igb, &error), 0);
	assert_int_equal(em.max_rxq, 1);
	assert_int_equal(em.max_txq, 1);
	assert_true(em.rxd >= 1024 && em.txd >= 1024 && igb.rxd >= 1024 && igb.txd >= 1024);
	assert_int_equal(em.rx_offloads, 0);
	assert_int_equal(igb.rx_offloads, RTE_ETH_RX_OFFLOAD_CHECKSUM);
	assert_int_equal(igb.rxq, MR_QUEUES_LCORES);
}

static void only_packet_sockets_have_a_kernel_link(void **state)
{
	(void)state;
	struct mr_profile profile;
	struct mr_error error = {0};

	assert_int_equal(mr_profile_load(NULL, "net_af_packet", &profile, &error), 0);
	assert_true(profile.kernel_link && profile.partial_checksums && profile.queue_pairs);
	assert_int_equal(mr_profile_load(NULL, "net_tap", &profile, &error), 0);
	assert_false(profile.kernel_link || profile.partial_checksums);
}

static void a_driver_overrides_the_default(void **state)
{
	struct fixture *f = *state;
	struct mr_profile profile;
	struct mr_error error = {0};

	write_file(f->file, "# comment\n[port]\nrxd = 128 # another\ntxq = all\nspread=yes\n"
			    "rx_offloads = IPV4_CKSUM tcp_cksum\n");
	assert_int_equal(mr_profile_load(f->dir, "net_test", &profile, &error), 0);
	assert_int_equal(profile.rxq, 1);
	assert_int_equal(profile.rxd, 128);
	assert_int_equal(profile.txq, MR_QUEUES_ALL);
	assert_true(profile.spread);
	assert_false(profile.queue_pairs);
	assert_int_equal(profile.rx_offloads,
			 RTE_ETH_RX_OFFLOAD_IPV4_CKSUM | RTE_ETH_RX_OFFLOAD_TCP_CKSUM);
}

static void what_is_wrong_is_named(void **state)
{
	struct fixture *f = *state;
	static const struct {
		const char *text, *says;
	} cases[] = {
		{"[port]\nrxx = 1\n", "[port] rxx: unknown key"},
		{"[port]\nrxq = 0\n", "[port] rxq: '0' is not 1 to 16, 'lcores' or 'all'"},
		{"[port]\nrxq = 17\n", "[port] rxq: '17' is not"},
		{"[port]\nrxq = 1x\n", "[port] rxq: '1x' is not"},
		{"[port]\nrxq = -1\n", "[port] rxq: '-1' is not"},
		{"[port]\nrxd = all\n", "[port] rxd: 'all' is not 1 to 32768"},
		{"[port]\nrxd =\n", "[port] rxd: '' is not"},
		{"[port]\nburst = 65\n", "[port] burst: '65' is not 1 to 64"},
		{"[port]\nspread = maybe\n", "[port] spread: 'maybe' is not 'yes' or 'no'"},
		{"[port]\nrxd = 64\nrxd = 128\n", "[port] rxd: given twice"},
		{"[port]\nrx_offloads = warp\n", "DPDK has no offload 'warp'"},
		{"[port]\nrx_offloads = unknown\n", "DPDK has no offload 'unknown'"},
		{"[port]\nrx_offloads = vlan_strip\n", "makes no use of 'vlan_strip'"},
		{"[port]\ntx_offloads = mbuf_fast_free\n", "makes no use of 'mbuf_fast_free'"},
		{"[queues]\nrxq = 1\n", "unknown section [queues]"},
		{"[port]\nrxq = 1\n[port]\nrxq = 1\n", "[port] is there twice"},
		{"[port]\nrxq = 1\nrxd 128\n", "line 3: 'rxd 128' is not 'key = value'"},
		{"[port]\nrxq\n", "line 2"},
		{"[port\nrxq = 1\n", "'key = value'"},
		{"rxq = 1\n", "'key = value'"},
		{"", "no section [port]"},
	};

	for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct mr_profile profile;
		struct mr_error error = {0};

		write_file(f->file, cases[i].text);
		int ret = mr_profile_load(f->dir, "net_test", &profile, &error);
		if (ret != -EINVAL)
			fail_msg("'%s' was taken", cases[i].text);
		if (strstr(error.text, cases[i].says) == NULL)
			fail_msg("%u: '%s' does not say '%s'", i, error.text, cases[i].says);
		if (strncmp(error.text, f->file, strlen(f->file)) != 0)
			fail_msg("'%s' does not name the file", error.text);
	}
}

static void a_directory_without_profiles_is_refused(void **state)
{
	(void)state;
	struct mr_profile profile;
	struct mr_error error = {0};

	assert_int_equal(mr_profile_load("/nonexistent", "net_tap", &profile, &error), -ENOENT);
	assert_non_null(strstr(error.text, "/nonexistent/default.cfg"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(shipped_profiles_are_good),
		cmocka_unit_test(intel_profiles_know_their_devices),
		cmocka_unit_test(only_packet_sockets_have_a_kernel_link),
		cmocka_unit_test_setup_teardown(a_driver_overrides_the_default, set_up, tear_down),
		cmocka_unit_test_setup_teardown(what_is_wrong_is_named, set_up, tear_down),
		cmocka_unit_test(a_directory_without_profiles_is_refused),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
