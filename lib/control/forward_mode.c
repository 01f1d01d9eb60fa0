/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * --forward-mode: an interface whose mode was given by it is marked implicit, so that commands may
 * take it without having to free it first; when they let it go it comes back here.
 *
 * io joins neighbours in pairs, 0 with 1, 2 with 3, as testpmd does; an odd last port sends back
 * what it receives. A pair of which a port was removed waits for the next port that is added; until
 * then what the other receives is dropped.
 */
#include "control/forward_mode.h"

#include <errno.h>

#include "base/log.h"
#include "bridge/bridge.h"

static int make_default_bridge(struct mr *mr, struct mr_error *error)
{
	if (mr_bridge_find(mr, MR_DEFAULT_BRIDGE) != NULL)
		return 0;
	return mr_bridge_add(mr, MR_DEFAULT_BRIDGE, MR_BRIDGE_AGEING_DEFAULT, error);
}

int mr_forward_mode_set(struct mr *mr, enum mr_iface_mode mode, struct mr_error *error)
{
	int rc = mode == MR_MODE_BRIDGE ? make_default_bridge(mr, error) : 0;

	if (rc != 0)
		return rc;
	mr->forward_mode = mode;
	mr_forward_mode_apply(mr);
	return 0;
}

/* Whether an interface is in mode io by default and has no other that sends to it. */
static bool is_alone(struct mr *mr, const struct mr_iface *iface)
{
	const struct mr_iface *peer;

	if (iface == NULL || iface->mode != MR_MODE_IO || !iface->implicit)
		return false;
	peer = mr_iface(mr, iface->io_peer);
	return peer == NULL || peer == iface || peer->mode != MR_MODE_IO ||
	       peer->io_peer != iface->index;
}

/* Joins an interface to the first that is alone, or else to itself. */
static int join(struct mr *mr, const struct mr_iface *iface)
{
	struct mr_iface changed = *iface;
	int rc;

	changed.mode = MR_MODE_IO;
	changed.implicit = true;
	changed.io_peer = iface->index;
	for (uint16_t index = 0; index < RTE_MAX_ETHPORTS; index++) {
		const struct mr_iface *other = mr_iface(mr, index);
		struct mr_iface peer;

		if (index == iface->index || !is_alone(mr, other))
			continue;
		peer = *other;
		peer.io_peer = iface->index;
		rc = mr_iface_publish(mr, &peer);
		if (rc != 0)
			return rc;
		changed.io_peer = index;
		break;
	}
	return mr_iface_publish(mr, &changed);
}

static void give_default(struct mr *mr, const struct mr_iface *iface, enum mr_iface_mode mode)
{
	struct mr_iface changed = *iface;
	struct mr_error error = {0};
	int rc;

	if (mode == MR_MODE_BRIDGE) {
		struct mr_bridge *bridge = mr_bridge_find(mr, MR_DEFAULT_BRIDGE);

		if (bridge == NULL) /* a person deleted it: ports stay without a role */
			return;
		rc = mr_bridge_member_add(mr, bridge, iface->index, true, &error);
	} else if (mode == MR_MODE_IO) {
		rc = join(mr, iface);
	} else {
		changed.mode = mode;
		changed.implicit = true;
		rc = mr_iface_publish(mr, &changed);
	}
	if (rc != 0)
		mr_log_error("port %u stays without a role: %s", iface->index, error.text);
}

void mr_forward_mode_apply(struct mr *mr)
{
	enum mr_iface_mode mode = (enum mr_iface_mode)mr->forward_mode;

	for (uint16_t index = 0; mode != MR_MODE_NONE && index < RTE_MAX_ETHPORTS; index++) {
		const struct mr_iface *iface = mr_iface(mr, index);

		if (iface != NULL && iface->mode == MR_MODE_NONE)
			give_default(mr, iface, mode);
	}
	mr_bridges_refresh(mr);
}
