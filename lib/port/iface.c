/* SPDX-License-Identifier: BSD-3-Clause */
#include "port/iface.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <rte_malloc.h>

#include "base/rcu.h"

struct mr_ifaces *mr_ifaces_create(void)
{
	return rte_zmalloc("mr_ifaces", sizeof(struct mr_ifaces), RTE_CACHE_LINE_SIZE);
}

void mr_ifaces_destroy(struct mr_ifaces *ifaces)
{
	if (ifaces == NULL)
		return;
	for (unsigned i = 0; i < MR_MAX_IFACES; i++)
		rte_free((void *)(uintptr_t)ifaces->iface[i]);
	rte_free(ifaces);
}

static void replace(struct mr *mr, uint16_t index, struct mr_iface *iface)
{
	const struct mr_iface *old = mr->ifaces->iface[index];

	__atomic_store_n(&mr->ifaces->iface[index], iface, __ATOMIC_RELEASE);
	if (old != NULL)
		mr_rcu_defer(mr->rcu, rte_free, (void *)(uintptr_t)old);
}

int mr_iface_publish(struct mr *mr, const struct mr_iface *iface)
{
	struct mr_iface *copy = rte_malloc("mr_iface", sizeof(*copy), RTE_CACHE_LINE_SIZE);

	if (copy == NULL)
		return -ENOMEM;
	*copy = *iface;
	replace(mr, iface->index, copy);
	return 0;
}

void mr_iface_remove(struct mr *mr, uint16_t index)
{
	replace(mr, index, NULL);
}

uint64_t mr_mac_to_u48(const struct rte_ether_addr *mac)
{
	uint64_t u48 = 0;

	memcpy(&u48, mac->addr_bytes, RTE_ETHER_ADDR_LEN);
	return u48;
}

struct rte_ether_addr mr_iface_mac(const struct mr_iface *iface)
{
	struct rte_ether_addr mac;

	memcpy(mac.addr_bytes, &iface->mac, RTE_ETHER_ADDR_LEN);
	return mac;
}
