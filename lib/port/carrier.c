/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A packet socket's driver reports its link as up as long as the socket is open. The kernel tells
 * the truth on rtnetlink: one dump at the start and after a lost message, changes in between. A
 * veth whose peer is down or gone loses IFF_RUNNING (RFC 2863's operational state).
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
		bool up;
	} link[RTE_MAX_ETHPORTS];
};

static bool needed(const struct mr_ports *ports)
{
	for (unsigned id = 0; id < RTE_MAX_ETHPORTS; id++)
		if (ports->port[id] != NULL && ports->port[id]->kernel_link)
			return true;
	return false;
}

static int request_all(struct mr_carrier *carrier)
{
	char buffer[256];
	struct nlmsghdr *header = mnl_nlmsg_put_header(buffer);

	header->nlmsg_type = RTM_GETLINK;
	header->nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP;
	struct ifinfomsg *info = mnl_nlmsg_put_extra_header(header, sizeof(*info));
	info->ifi_family = AF_UNSPEC;
	return mnl_socket_sendto(carrier->socket, header, header->nlmsg_len) < 0 ? -errno : 0;
}

static int take_message(const struct nlmsghdr *header, void *data)
{
	struct mr_carrier *carrier = data;
	const struct ifinfomsg *info = mnl_nlmsg_get_payload(header);

	if (header->nlmsg_type != RTM_NEWLINK && header->nlmsg_type != RTM_DELLINK)
		return MNL_CB_OK;
	for (unsigned i = 0; i < RTE_DIM(carrier->link); i++)
		if (carrier->link[i].kernel_index == (unsigned)info->ifi_index)
			carrier->link[i].up = header->nlmsg_type == RTM_NEWLINK &&
					      (info->ifi_flags & IFF_UP) &&
					      (info->ifi_flags & IFF_RUNNING);
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
			request_all(carrier); /* messages were lost */
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

static int subscribe(struct mr_carrier *carrier)
{
	carrier->socket = mnl_socket_open2(NETLINK_ROUTE, SOCK_NONBLOCK | SOCK_CLOEXEC);
	if (carrier->socket == NULL ||
	    mnl_socket_bind(carrier->socket, RTMGRP_LINK, MNL_SOCKET_AUTOPID) < 0)
		return -errno;
	return request_all(carrier);
}

int mr_carrier_create(struct mr_ports *ports, struct mr_error *error)
{
	if (!needed(ports))
		return 0;
	ports->carrier = calloc(1, sizeof(*ports->carrier));
	if (ports->carrier == NULL)
		return mr_fail(error, -ENOMEM, "rtnetlink: out of memory");
	for (unsigned id = 0; id < RTE_MAX_ETHPORTS; id++)
		if (ports->port[id] != NULL && ports->port[id]->kernel_link)
			ports->carrier->link[id].kernel_index = ports->port[id]->kernel_index;
	int ret = subscribe(ports->carrier);
	if (ret < 0)
		return mr_fail(error, ret, "rtnetlink: cannot follow link states: %s",
			       strerror(-ret));
	mr_carrier_poll(ports->carrier);
	return 0;
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
