/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What was wanted meets what the device can do. The number that counts is the smallest of three:
 * the device's own limit, the profile's (where the device reports more than works) and
 * MR_MAX_QUEUES. A profile's wish is cut down in silence, a person's with one line, and what no
 * device of millrace's could do is refused before any of them is touched.
 */
#include "port/limits.h"

#include <errno.h>

#include <rte_dev.h>
#include <rte_devargs.h>
#include <rte_kvargs.h>

#include "base/log.h"
#include "packet/vector.h"

/* Over addresses only: fragments and whole packets of a flow go to the same queue. */
#define RSS_WANTED RTE_ETH_RSS_IP

int mr_port_options_check(const struct mr_port_options *options, struct mr_error *error)
{
	if (options->rxq > MR_MAX_QUEUES || options->txq > MR_MAX_QUEUES)
		return mr_fail(error, -EINVAL, "%s %u: at most %u queues a port",
			       options->rxq > MR_MAX_QUEUES ? "rxq" : "txq",
			       RTE_MAX(options->rxq, options->txq), MR_MAX_QUEUES);
	if (options->burst > MR_VECTOR_SIZE)
		return mr_fail(error, -EINVAL, "burst %u: at most %u packets", options->burst,
			       MR_VECTOR_SIZE);
	uint16_t least = RTE_PKTMBUF_HEADROOM + RTE_ETHER_MIN_MTU + MR_FRAME_OVERHEAD;
	if (options->mbuf_size != 0 && options->mbuf_size < least)
		return mr_fail(error, -EINVAL,
			       "mbuf-size %u: at least %u bytes (headroom %u, a frame of MTU %u)",
			       options->mbuf_size, least, RTE_PKTMBUF_HEADROOM, RTE_ETHER_MIN_MTU);
	return 0;
}

static uint16_t smallest(uint16_t a, uint16_t b, uint16_t c)
{
	uint16_t least = RTE_MIN(a, b);

	return RTE_MIN(least, c);
}

static uint16_t profile_queues(uint16_t wanted, uint16_t allowed, unsigned lcores)
{
	if (wanted == MR_QUEUES_ALL)
		return allowed;
	if (wanted == MR_QUEUES_LCORES)
		wanted = RTE_MAX(lcores, 1u);
	return RTE_MIN(wanted, allowed);
}

static uint16_t queues(const struct mr_port *port, const char *what, uint16_t asked,
		       uint16_t by_profile, uint16_t allowed, unsigned lcores)
{
	if (asked == 0)
		return profile_queues(by_profile, allowed, lcores);
	if (asked <= allowed)
		return asked;
	mr_log_warning("%s: %s %u wanted, at most %u allowed: using %u", port->label, what, asked,
		       allowed, allowed);
	return allowed;
}

static bool can_spread(const struct rte_eth_dev_info *info, const struct mr_profile *profile)
{
	return profile->spread || (info->flow_type_rss_offloads & RSS_WANTED) != 0;
}

static void limit_rx_queues(struct mr_port *port, const struct rte_eth_dev_info *info,
			    const struct mr_profile *profile, const struct mr_port_options *options,
			    unsigned lcores)
{
	uint16_t allowed = smallest(info->max_rx_queues, profile->max_rxq, MR_MAX_QUEUES);

	if (allowed > 1 && !can_spread(info, profile)) {
		if (options->rxq > 1)
			mr_log_warning("%s: rxq %u wanted, but the device has no RSS to spread "
				       "packets over queues: using 1",
				       port->label, options->rxq);
		port->rxq = 1;
		return;
	}
	port->rxq = queues(port, "rxq", options->rxq, profile->rxq, allowed, lcores);
	if (profile->rxq == MR_QUEUES_ALL && port->rxq < info->max_rx_queues)
		mr_log_warning("%s: rxq %u, but the other side sends to %u queues: what it puts "
			       "into the others is lost",
			       port->label, port->rxq, info->max_rx_queues);
}

static void limit_queues(struct mr_port *port, const struct rte_eth_dev_info *info,
			 const struct mr_profile *profile, const struct mr_port_options *options,
			 unsigned lcores)
{
	uint16_t allowed = smallest(info->max_tx_queues, profile->max_txq, MR_MAX_QUEUES);

	limit_rx_queues(port, info, profile, options, lcores);
	port->txq = queues(port, "txq", options->txq, profile->txq, allowed, lcores);
	if (profile->queue_pairs && port->rxq != port->txq) {
		if (options->txq != 0 && options->txq != port->rxq)
			mr_log_warning("%s: txq %u wanted, but queues come in pairs: using %u as "
				       "for rx",
				       port->label, options->txq, port->rxq);
		port->txq = port->rxq;
	}
	port->rss = port->rxq > 1 && (info->flow_type_rss_offloads & RSS_WANTED) != 0;
}

static uint16_t descriptors(const struct mr_port *port, const char *what, uint16_t asked,
			    uint16_t by_profile, const struct rte_eth_desc_lim *limit)
{
	uint32_t wanted = asked != 0 ? asked : by_profile;
	uint32_t count = wanted, max = limit->nb_max != 0 ? limit->nb_max : UINT16_MAX;
	uint32_t align = RTE_MAX(limit->nb_align, 1);

	max -= max % align;
	count = (count + align - 1) / align * align;
	count = RTE_MIN(count, max);
	count = RTE_MAX(count, (uint32_t)limit->nb_min);
	if (asked != 0 && count != wanted)
		mr_log_warning("%s: %s %u wanted, %u to %u in steps of %u allowed: using %u",
			       port->label, what, asked, limit->nb_min, max, align, count);
	return count;
}

/* The smallest of three limits, and which one it is. Drivers that report only a frame length mean
 * it with header and FCS. */
/* The largest MTU with which a driver puts a frame with two tags into one buffer. */
static uint32_t buffer_mtu(const struct mr_profile *profile, const struct mr_port_options *options)
{
	uint16_t mbuf_size = options->mbuf_size != 0 ? options->mbuf_size : MR_DEFAULT_MBUF_SIZE;
	uint32_t room = mbuf_size - RTE_PKTMBUF_HEADROOM;

	if (profile->buffer_powers)
		room = rte_align32prevpow2(room);
	room -= room % profile->buffer_unit;
	return room > profile->frame_overhead ? room - profile->frame_overhead : 0;
}

static void limit_mtu(struct mr_port *port, const struct rte_eth_dev_info *info,
		      const struct mr_profile *profile, const struct mr_port_options *options)
{
	uint32_t buffer = buffer_mtu(profile, options);
	uint32_t device = info->max_mtu != 0 ? info->max_mtu : UINT16_MAX;
	uint32_t overhead = RTE_ETHER_HDR_LEN + RTE_ETHER_CRC_LEN;

	if (info->max_rx_pktlen != 0) {
		if (device != UINT16_MAX && info->max_rx_pktlen > device)
			overhead = info->max_rx_pktlen - device;
		device = RTE_MIN(device, info->max_rx_pktlen - overhead);
	}
	if (profile->mtu_in_software) /* two tags are a part of what the device is told */
		port->device_mtu = RTE_MIN(device, buffer + 2 * RTE_VLAN_HLEN);
	port->min_mtu = RTE_MAX(info->min_mtu, RTE_ETHER_MIN_MTU);
	if (device <= buffer) {
		port->max_mtu = device;
		port->max_mtu_reason = "limit of the device";
	} else {
		port->max_mtu = buffer;
		port->max_mtu_reason = "a frame must fit into one buffer, see --mbuf-size";
	}
	port->mtu = RTE_MIN(port->max_mtu, RTE_ETHER_MTU);
}

/* net_pcap's capture files come from no kernel; of rx_iface= it does not tell the interface's index
 * as it does of iface=. */
static bool receives_from_kernel(const struct rte_eth_dev_info *info)
{
	const struct rte_devargs *devargs =
		info->device != NULL ? rte_dev_devargs(info->device) : NULL;
	struct rte_kvargs *arguments;
	bool named;

	if (info->if_index != 0 || devargs == NULL || devargs->args == NULL)
		return info->if_index != 0;
	arguments = rte_kvargs_parse(devargs->args, NULL);
	if (arguments == NULL)
		return false;
	named = rte_kvargs_count(arguments, "rx_iface") != 0 ||
		rte_kvargs_count(arguments, "rx_iface_in") != 0;
	rte_kvargs_free(arguments);
	return named;
}

int mr_port_limit(struct mr_port *port, const struct rte_eth_dev_info *info,
		  const struct mr_profile *profile, const struct mr_port_options *options,
		  unsigned lcores, struct mr_error *error)
{
	uint16_t mbuf_size = options->mbuf_size != 0 ? options->mbuf_size : MR_DEFAULT_MBUF_SIZE;

	if (info->max_rx_queues == 0 || info->max_tx_queues == 0)
		return mr_fail(error, -EINVAL,
			       "%s: the device has %u rx and %u tx queues, "
			       "1 of each is needed",
			       port->label, info->max_rx_queues, info->max_tx_queues);
	if (mbuf_size < info->min_rx_bufsize + RTE_PKTMBUF_HEADROOM)
		return mr_fail(error, -EINVAL, "%s: mbuf-size %u wanted, at least %u allowed",
			       port->label, mbuf_size, info->min_rx_bufsize + RTE_PKTMBUF_HEADROOM);

	limit_queues(port, info, profile, options, lcores);
	port->rxd = descriptors(port, "rxd", options->rxd, profile->rxd, &info->rx_desc_lim);
	port->txd = descriptors(port, "txd", options->txd, profile->txd, &info->tx_desc_lim);
	port->burst = options->burst != 0 ? options->burst : profile->burst;
	port->rx_offloads = profile->rx_offloads & info->rx_offload_capa;
	port->tx_offloads = profile->tx_offloads & info->tx_offload_capa;
	port->kernel_index = info->if_index;
	port->kernel_link = profile->kernel_link && info->if_index != 0;
	port->partial_checksums = profile->partial_checksums && receives_from_kernel(info);
	limit_mtu(port, info, profile, options);
	if (port->max_mtu < port->min_mtu)
		return mr_fail(error, -EINVAL,
			       "%s: MTU of at least %u needed, at most %u allowed: %s", port->label,
			       port->min_mtu, port->max_mtu, port->max_mtu_reason);
	return 0;
}
