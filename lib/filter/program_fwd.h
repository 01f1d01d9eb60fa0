/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MR_FILTER_PROGRAM_FWD_H
#define MR_FILTER_PROGRAM_FWD_H

#include <stdbool.h>
#include <stdint.h>

#include "filter/classifier_fwd.h"
#include "filter/filter_fwd.h"
#include "filter/flow_fwd.h"
#include "filter/glance_fwd.h"
#include "lcore/lcore.h"

/* What a matching rule does. */
struct mr_filter_effect {
	uint8_t action; /* enum mr_filter_action */
	uint8_t dscp;
	bool log;
	uint16_t iface;   /* to mirror to */
	uint32_t number;  /* of the rule */
	uint32_t counter; /* of its hits */
	uint32_t
		next; /* index of the rule at which packets go on, after a rule that is not final */
	struct mr_filter_police *police;
	const struct flow_rule *keep; /* of a rule that keeps state; else NULL */
	uint32_t state[2]; /* the first rule with state from here on, at input and at output: where
			      packets meet flows. UINT32_MAX: there is none */
};

/* A set of rules as lcores have it: immutable, both hooks in one, so that one store puts all of it
 * in force. What the rules index is in their order; after the last comes the default. */
struct mr_filter_program {
	struct mr_hooks hooks;               /* first, since lcores know the program by it */
	struct mr_classifier *classifier[2]; /* at input, at output */
	/* Whether the first rule that a packet meets is the same for all packets of a flow, at
	 * both hooks, and which of TCP's flags it then depends on. */
	bool by_flow;
	uint8_t tcp_flags;
	/* NULL: it would tell nothing. Where no rule keeps state and packets that no rule matches
	 * pass, it is about all rules. Else (glance_flows) about those before the first with state,
	 * where packets meet flows then. */
	struct filter_glance *glance;
	bool glance_flows;
	/* Rules that keep state: by serial number; none: no packet is asked for its flow. At a hook
	 * whose first rule has state, packets meet flows before any other rule. */
	struct flow_rules flows;
	struct flow_rule *flow_rule; /* the list of these, as it is written */
	bool state_first[2];
	const struct mr_filter_fwd *fwd;
	uint32_t count; /* rules */
	struct mr_filter_effect effect[];
};

/* Whether packets, or some of them, that their flow let pass at input would meet no rule at output
 * either before they meet their flow. */
static inline bool filter_tells_flows(const struct mr_filter_program *program)
{
	return (program->state_first[0] && program->state_first[1]) ||
	       (program->glance != NULL && program->glance_flows);
}

/* The hooks of a program. */
void mr_filter_input(const struct mr_hooks *hooks, struct mr_lcore *lcore, struct mr_vector *vector,
		     const struct mr_iface *iface);
unsigned mr_filter_output(const struct mr_hooks *hooks, struct mr_lcore *lcore,
			  const struct mr_iface *iface, struct rte_mbuf **packets, unsigned count,
			  uint64_t *bytes);

#endif
