/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/addr.h"

static void addresses_read_back_as_ip_prints_them(void **state)
{
	(void)state;
	static const char *const same[] = {"10.0.0.1", "0.0.0.0", "255.255.255.255",
					   "::",       "fe80::1", "2001:db8::a:b"};
	struct mr_addr addr;
	char text[MR_ADDR_TEXT_SIZE];

	for (unsigned i = 0; i < sizeof(same) / sizeof(same[0]); i++) {
		assert_int_equal(mr_addr_parse(same[i], &addr), 0);
		assert_string_equal(mr_addr_format(&addr, text), same[i]);
	}
}

static void malformed_addresses_are_refused(void **state)
{
	(void)state;
	static const char *const bad[] = {
		"",          "10.0.0",    "10.0.0.256", "10.0.0.01",  "10.0.0.1 ",
		"10.0.0.1x", "1.2.3.4.5", ":::",        "fe80::1%p0", "-1.0.0.0"};
	struct mr_addr addr;

	for (unsigned i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_int_equal(mr_addr_parse(bad[i], &addr), -EINVAL);
}

static void prefixes_are_checked_and_made_canonical(void **state)
{
	(void)state;
	static const char *const bad[] = {"20.0.1.0/33", "20.0.1/24",   "10.0.0.0/",  "10.0.0.0",
					  "10.0.0.0/-1", "10.0.0.0/08", "fe80::/129", "/24",
					  "10.0.0.0/+4", "10.0.0.0/1 "};
	static const struct {
		const char *text, *canonical;
	} good[] = {{"20.0.1.1/24", "20.0.1.0/24"}, {"255.255.255.255/0", "0.0.0.0/0"},
		    {"10.0.0.1/32", "10.0.0.1/32"}, {"10.0.0.129/25", "10.0.0.128/25"},
		    {"fe80::1/10", "fe80::/10"},    {"::ffff:1.2.3.4/96", "::ffff:0.0.0.0/96"}};
	struct mr_prefix prefix;
	char text[MR_ADDR_TEXT_SIZE];

	for (unsigned i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_int_equal(mr_prefix_parse(bad[i], &prefix), -EINVAL);
	for (unsigned i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		assert_int_equal(mr_prefix_parse(good[i].text, &prefix), 0);
		prefix = mr_prefix_canonical(&prefix);
		assert_string_equal(mr_prefix_format(&prefix, text), good[i].canonical);
	}
}

static void macs_have_one_form(void **state)
{
	(void)state;
	static const char *const bad[] = {"",
					  "02:00:00:00:00",
					  "02:00:00:00:00:0g",
					  "2:0:0:0:0:1",
					  "02-00-00-00-00-01",
					  "02:00:00:00:00:01:02"};
	struct rte_ether_addr mac;
	char text[MR_MAC_TEXT_SIZE];

	for (unsigned i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_int_equal(mr_mac_parse(bad[i], &mac), -EINVAL);
	assert_int_equal(mr_mac_parse("02:AB:00:00:00:ff", &mac), 0);
	assert_string_equal(mr_mac_format(&mac, text), "02:ab:00:00:00:ff");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(addresses_read_back_as_ip_prints_them),
		cmocka_unit_test(malformed_addresses_are_refused),
		cmocka_unit_test(prefixes_are_checked_and_made_canonical),
		cmocka_unit_test(macs_have_one_form),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
