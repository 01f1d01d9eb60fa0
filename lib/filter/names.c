/* SPDX-License-Identifier: BSD-3-Clause */
#include "filter/names.h"

#include <netinet/in.h>
#include <stddef.h>
#include <string.h>

#include <rte_ether.h>
#include <rte_tcp.h>

#include "filter/rule.h"

const struct mr_filter_name mr_filter_actions[] = {
	{"allow", MR_FILTER_ALLOW},
	{"accept", MR_FILTER_ALLOW},
	{"pass", MR_FILTER_ALLOW},
	{"permit", MR_FILTER_ALLOW},
	{"deny", MR_FILTER_DENY},
	{"drop", MR_FILTER_DENY},
	{"reject", MR_FILTER_REJECT},
	{"count", MR_FILTER_COUNT},
	{"skipto", MR_FILTER_SKIPTO},
	{"set-dscp", MR_FILTER_SET_DSCP},
	{"police", MR_FILTER_POLICE},
	{"mirror", MR_FILTER_MIRROR},
	{"check-state", MR_FILTER_CHECK_STATE},
	{NULL, 0},
};

const struct mr_filter_name mr_filter_families[] = {
	{"all", MR_FILTER_FAMILY_ALL},
	{"ip", MR_FILTER_FAMILY_IP},
	{"ip4", MR_FILTER_FAMILY_V4},
	{"ipv4", MR_FILTER_FAMILY_V4},
	{"ip6", MR_FILTER_FAMILY_V6},
	{"ipv6", MR_FILTER_FAMILY_V6},
	{NULL, 0},
};

const struct mr_filter_name mr_filter_protocols[] = {
	{"icmp", IPPROTO_ICMP},
	{"igmp", IPPROTO_IGMP},
	{"ipip", IPPROTO_IPIP},
	{"tcp", IPPROTO_TCP},
	{"udp", IPPROTO_UDP},
	{"dccp", IPPROTO_DCCP},
	{"gre", IPPROTO_GRE},
	{"esp", IPPROTO_ESP},
	{"ah", IPPROTO_AH},
	{"icmp6", IPPROTO_ICMPV6},
	{"ipv6-icmp", IPPROTO_ICMPV6},
	{"ospf", 89},
	{"pim", IPPROTO_PIM},
	{"vrrp", 112},
	{"l2tp", 115},
	{"sctp", IPPROTO_SCTP},
	{"udplite", IPPROTO_UDPLITE},
	{NULL, 0},
};

const struct mr_filter_name mr_filter_tcp_flags[] = {
	{"fin", RTE_TCP_FIN_FLAG}, {"syn", RTE_TCP_SYN_FLAG}, {"rst", RTE_TCP_RST_FLAG},
	{"psh", RTE_TCP_PSH_FLAG}, {"ack", RTE_TCP_ACK_FLAG}, {"urg", RTE_TCP_URG_FLAG},
	{"ece", RTE_TCP_ECE_FLAG}, {"cwr", RTE_TCP_CWR_FLAG}, {NULL, 0},
};

const struct mr_filter_name mr_filter_dscps[] = {
	{"be", 0},    {"cs1", 8},   {"cs2", 16},  {"cs3", 24},  {"cs4", 32},  {"cs5", 40},
	{"cs6", 48},  {"cs7", 56},  {"af11", 10}, {"af12", 12}, {"af13", 14}, {"af21", 18},
	{"af22", 20}, {"af23", 22}, {"af31", 26}, {"af32", 28}, {"af33", 30}, {"af41", 34},
	{"af42", 36}, {"af43", 38}, {"va", 44},   {"ef", 46},   {"cs0", 0},   {NULL, 0},
};

const struct mr_filter_name mr_filter_ethertypes[] = {
	{"ip4", RTE_ETHER_TYPE_IPV4},
	{"ipv4", RTE_ETHER_TYPE_IPV4},
	{"arp", RTE_ETHER_TYPE_ARP},
	{"ip6", RTE_ETHER_TYPE_IPV6},
	{"ipv6", RTE_ETHER_TYPE_IPV6},
	{"lldp", RTE_ETHER_TYPE_LLDP},
	{NULL, 0},
};

const struct mr_filter_name mr_filter_limits[] = {
	{"src-addr", MR_FILTER_BY_SRC},
	{"src-port", MR_FILTER_BY_SPORT},
	{"dst-addr", MR_FILTER_BY_DST},
	{"dst-port", MR_FILTER_BY_DPORT},
	{NULL, 0},
};

const struct mr_filter_name *mr_filter_name_find(const struct mr_filter_name *table,
						 const char *name)
{
	for (; table->name != NULL; table++)
		if (strcmp(table->name, name) == 0)
			return table;
	return NULL;
}

const struct mr_filter_name *mr_filter_name_of(const struct mr_filter_name *table, uint32_t value)
{
	for (; table->name != NULL; table++)
		if (table->value == value)
			return table;
	return NULL;
}
