/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A packet socket's driver reports its link as up as long as the socket is open. The kernel tells
 * the truth on rtnetlink: once when asked, all of it after a lost message, changes in between. A
 * veth whose peer is down or gone loses IFF_RUNNING (RFC 2863's operational state).
 *
 * RTM_DELLINK has three meanings: an interface is gone, it went to another namespace, or (family
 * AF_BRIDGE) it left a kernel bridge.
 */
#include "port/carrier.h"

#include <errno.h>
#include <net/if.h>
#include <stdlib.h>
#include <string.h>

#include <libmnl/libmnl.h>
#include <linux/rtnetlink.h>

struct mr_carrier {
	struct mnl_socket *socket;
	struct {
		unsigned kernel_index; /* 0: not in use */
		bool up, deleted;
	} link[RTE_MAX_ETHPORTS];
};

/* Of one interface, or of all when kernel_index is 0. */
static int request(struct mr_carrier *carrier, unsigned kernel_index)
{
	char buffer[256];
	struct nlmsghdr *header = mnl_nlmsg_put_header(buffer);

	header->nlmsg_type = RTM_GETLINK;
	header->nlmsg_flags = NLM_F_REQUEST | (kernel_index == 0 ? NLM_F_DUMP : 0);
	struct ifinfomsg *info = mnl_nlmsg_put_extra_header(header, sizeof(*info));
	info->ifi_family = AF_UNSPEC;
	info->ifi_index = (int)kernel_index;
	return mnl_socket_sendto(carrier->socket, header, header->nlmsg_len) < 0 ? -errno : 0;
}

static int find_namespace(const struct nlattr *attribute, void *data)
{
	if (mnl_attr_get_type(attribute) == IFLA_NEW_NETNSID)
		*(bool *)data = true;
	return MNL_CB_OK;
}

static bool was_moved(const struct nlmsghdr *header)
{
	bool moved = false;

	mnl_attr_parse(header, sizeof(struct ifinfomsg), find_namespace, &moved);
	return moved;
}

static int take_message(const struct nlmsghdr *header, void *data)
{
	struct mr_carrier *carrier = data;
	const struct ifinfomsg *info = mnl_nlmsg_get_payload(header);
	bool is_there = header->nlmsg_type == RTM_NEWLINK;

	if ((!is_there && header->nlmsg_type != RTM_DELLINK) || info->ifi_family != AF_UNSPEC)
		return MNL_CB_OK;
	for (unsigned i = 0; i < RTE_DIM(carrier->link); i++) {
		if (carrier->link[i].kernel_index != (unsigned)info->ifi_index)
			continue;
		carrier->link[i].up =
			is_there && (info->ifi_flags & IFF_UP) && (info->ifi_flags & IFF_RUNNING);
		if (!is_there && !was_moved(header))
			carrier->link[i].deleted = true;
	}
	return MNL_CB_OK;
}

void mr_carrier_poll(struct mr_carrier *carrier)
{
	char buffer[32 * 1024];

	for (;;) {
		ssize_t length = mnl_socket_recvfrom(carrier->socket, buffer, sizeof(buffer));
		if (length > 0)
			mnl_cb_run(buffer, length, 0, 0, take_message, carrier);
		else if (length < 0 && errno == ENOBUFS)
			request(carrier, 0); /* messages were lost */
		else if (length == 0 || errno != EINTR)
			return;
	}
}

bool mr_carrier_up(const struct mr_carrier *carrier, unsigned kernel_index)
{
	for (unsigned i = 0; i < RTE_DIM(carrier->link); i++)
		if (kernel_index != 0 && carrier->link[i].kernel_index == kernel_index)
			return carrier->link[i].up;
	return false;
}

uint32_t mr_carrier_deleted(const struct mr_carrier *carrier)
{
	uint32_t mask = 0;

	for (unsigned i = 0; i < RTE_DIM(carrier->link); i++)
		if (carrier->link[i].deleted)
			mask |= RTE_BIT32(i);
	return mask;
}

static int subscribe(struct mr_carrier *carrier)
{
	carrier->socket = mnl_socket_open2(NETLINK_ROUTE, SOCK_NONBLOCK | SOCK_CLOEXEC);
	if (carrier->socket == NULL ||
	    mnl_socket_bind(carrier->socket, RTMGRP_LINK, MNL_SOCKET_AUTOPID) < 0)
		return -errno;
	return 0;
}

static int create(struct mr_ports *ports, struct mr_error *error)
{
	if (ports->carrier != NULL)
		return 0;
	ports->carrier = calloc(1, sizeof(*ports->carrier));
	if (ports->carrier == NULL)
		return mr_fail(error, -ENOMEM, "rtnetlink: out of memory");
	int ret = subscribe(ports->carrier);
	if (ret < 0) {
		mr_carrier_destroy(ports);
		return mr_fail(error, ret, "rtnetlink: cannot follow link states: %s",
			       strerror(-ret));
	}
	return 0;
}

int mr_carrier_follow(struct mr_ports *ports, const struct mr_port *port, struct mr_error *error)
{
	int ret;

	if (port->kernel_index == 0)
		return 0;
	ret = create(ports, error);
	if (ret < 0)
		return ret;
	ports->carrier->link[port->id].kernel_index = port->kernel_index;
	ret = request(ports->carrier, port->kernel_index);
	if (ret < 0) {
		mr_carrier_forget(ports, port);
		return mr_fail(error, ret, "%s: cannot follow its link state: %s", port->label,
			       strerror(-ret));
	}
	mr_carrier_poll(ports->carrier);
	return 0;
}

void mr_carrier_forget(struct mr_ports *ports, const struct mr_port *port)
{
	if (ports->carrier != NULL)
		memset(&ports->carrier->link[port->id], 0, sizeof(ports->carrier->link[0]));
}

void mr_carrier_destroy(struct mr_ports *ports)
{
	if (ports->carrier == NULL)
		return;
	if (ports->carrier->socket != NULL)
		mnl_socket_close(ports->carrier->socket);
	free(ports->carrier);
	ports->carrier = NULL;
}
