/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The packet filter's classifier beside rte_acl with its best SIMD method, in one process and on
 * the same keys: bursts of 32, alternating round by round. What reads the keys of packets is common
 * to both and not measured.
 *
 * Rules deny TCP or UDP from a /24 to a host and port. "far" packets have addresses that no rule
 * has; "near" ones have the source, the destination but one, and the port of a rule each, but match
 * none; "in" ones match. They come from 64 or 65,536 flows in random order, or each from a new
 * flow.
 *
 * Arguments are EAL's, of which --force-max-simd-bitwidth=512 lets rte_acl use AVX-512; and behind
 * -- how many rules, if not 1, 30, 1000 and 100000. Figures are medians of TSC cycles a packet.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_acl.h>
#include <rte_cycles.h>
#include <rte_eal.h>
#include <rte_ip.h>

#include "filter/classifier.h"
#include "filter/rule_text.h"

enum { BURST = 32, ROUNDS = 7, BURSTS = 8192, FLOWS = 65536 };

enum { ACL_FIELDS = 5 };

RTE_ACL_RULE_DEF(acl_rule, ACL_FIELDS);

struct flow {
	uint32_t src, dst;
	uint16_t sport, dport;
	uint8_t protocol;
};

struct bench {
	struct flow *rule;
	uint32_t rules;
	struct rte_acl_ctx *acl;
	struct mr_classifier *classifier;
	struct mr_verdict_cache *cache;
	struct mr_filter_key *flow; /* FLOWS */
	uint32_t flows;             /* 0: each packet is of a new one */
	enum { FAR, NEAR, IN, WHERES } where;
	uint64_t sum; /* keeps results from being optimised away */
};

static uint64_t random_number(void)
{
	static uint64_t state = 88172645463325252;

	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state * 0x2545f4914f6cdd1d >> 16;
}

static void fail(const char *what)
{
	fprintf(stderr, "bench_filter: %s failed\n", what);
	exit(1);
}

/* ---- rules ---- */

static void make_rules(struct bench *b, uint32_t rules)
{
	b->rules = rules;
	b->rule = calloc(rules, sizeof(*b->rule));
	for (uint32_t i = 0; i < rules; i++)
		b->rule[i] = (struct flow){
			.src = RTE_IPV4(10, 0, 0, 0) | (random_number() & 0xffff00),
			.dst = RTE_IPV4(172, 16, 0, 0) | (random_number() & 0xfffff),
			.dport = (uint16_t)(random_number() % 1024 + 1),
			.protocol = random_number() & 1 ? 6 : 17,
		};
}

static struct mr_filter_set *make_set(const struct bench *b)
{
	struct mr_filter_set *set = mr_filter_set_new();

	for (uint32_t i = 0; i < b->rules; i++) {
		const struct flow *r = &b->rule[i];
		struct mr_filter_fault fault;
		struct mr_filter_rule *rule;
		char text[128];

		snprintf(text, sizeof(text), "deny %s from %u.%u.%u.0/24 to %u.%u.%u.%u %u",
			 r->protocol == 6 ? "tcp" : "udp", r->src >> 24, r->src >> 16 & 255,
			 r->src >> 8 & 255, r->dst >> 24, r->dst >> 16 & 255, r->dst >> 8 & 255,
			 r->dst & 255, r->dport);
		if (mr_filter_rule_parse(text, set, &rule, &fault) != 0 ||
		    mr_filter_rule_number(rule, i + 1, &fault) != 0 ||
		    mr_filter_set_append(set, rule) != 0)
			fail(text);
	}
	return set;
}

#define FIELD(type_, size_, index_, input_, member)                                                \
	{                                                                                          \
		.type = RTE_ACL_FIELD_TYPE_##type_, .size = size_, .field_index = index_,          \
		.input_index = input_, .offset = offsetof(struct mr_filter_key, member)            \
	}

static struct rte_acl_ctx *make_acl(const struct bench *b)
{
	struct rte_acl_param param = {.name = "bench",
				      .socket_id = SOCKET_ID_ANY,
				      .rule_size = RTE_ACL_RULE_SZ(ACL_FIELDS),
				      .max_rule_num = b->rules};
	struct rte_acl_config config = {
		.num_categories = 1,
		.num_fields = ACL_FIELDS,
		.defs = {FIELD(BITMASK, 1, 0, 0, protocol), FIELD(MASK, 4, 1, 1, src),
			 FIELD(MASK, 4, 2, 2, dst), FIELD(RANGE, 2, 3, 3, sport),
			 FIELD(RANGE, 2, 4, 3, dport)},
	};
	struct rte_acl_ctx *acl = rte_acl_create(&param);

	if (acl == NULL)
		fail("rte_acl_create");
	for (uint32_t i = 0; i < b->rules; i++) {
		const struct flow *r = &b->rule[i];
		struct acl_rule rule = {
			.data = {.category_mask = 1,
				 .priority = (int32_t)(b->rules - i),
				 .userdata = i + 1},
			.field = {{.value.u8 = r->protocol, .mask_range.u8 = 0xff},
				  {.value.u32 = r->src, .mask_range.u32 = 24},
				  {.value.u32 = r->dst, .mask_range.u32 = 32},
				  {.value.u16 = 0, .mask_range.u16 = 0xffff},
				  {.value.u16 = r->dport, .mask_range.u16 = r->dport}},
		};

		if (rte_acl_add_rules(acl, (struct rte_acl_rule *)&rule, 1) != 0)
			fail("rte_acl_add_rules");
	}
	if (rte_acl_build(acl, &config) != 0)
		fail("rte_acl_build");
	return acl;
}

/* ---- packets ---- */

static void make_key(const struct bench *b, struct mr_filter_key *key)
{
	const struct flow *r = &b->rule[random_number() % b->rules];
	uint32_t src = RTE_IPV4(198, 18, 0, 0) | (random_number() & 0xffff);
	uint32_t dst = RTE_IPV4(198, 19, 0, 0) | (random_number() & 0xffff);
	uint16_t dport = (uint16_t)random_number();

	uint8_t protocol = random_number() & 1 ? 6 : 17;

	if (b->where == IN) {
		src = r->src | (random_number() & 0xff);
		dst = r->dst;
		dport = r->dport;
		protocol = r->protocol;
	} else if (b->where == NEAR) {
		src = r->src | (random_number() & 0xff);
		dst = b->rule[random_number() % b->rules].dst ^ 1;
		dport = b->rule[random_number() % b->rules].dport;
	}
	memset(key, 0, sizeof(*key));
	src = rte_cpu_to_be_32(src);
	dst = rte_cpu_to_be_32(dst);
	memcpy(key->src, &src, sizeof(src));
	memcpy(key->dst, &dst, sizeof(dst));
	key->dport = rte_cpu_to_be_16(dport);
	key->protocol = protocol;
	key->flags = MR_FILTER_IPV4 | MR_FILTER_PORTS;
}

static void make_burst(const struct bench *b, struct mr_filter_key *key)
{
	for (unsigned i = 0; i < BURST; i++) {
		if (b->flows == 0)
			make_key(b, &key[i]);
		else
			key[i] = b->flow[random_number() % b->flows];
	}
}

/* ---- measuring ---- */

typedef void (*method)(struct bench *b, const struct mr_filter_key *key, uint32_t *rule);

static void by_acl(struct bench *b, const struct mr_filter_key *key, uint32_t *rule)
{
	const uint8_t *data[BURST];

	for (unsigned i = 0; i < BURST; i++)
		data[i] = (const uint8_t *)&key[i];
	rte_acl_classify(b->acl, data, rule, BURST, 1);
}

static void by_classifier(struct bench *b, const struct mr_filter_key *key, uint32_t *rule)
{
	mr_classify(b->classifier, NULL, key, NULL, BURST, rule);
}

static void by_cache(struct bench *b, const struct mr_filter_key *key, uint32_t *rule)
{
	mr_classify(b->classifier, b->cache, key, NULL, BURST, rule);
}

static double cycles(struct bench *b, method run)
{
	struct mr_filter_key key[BURST] __rte_cache_aligned;
	uint32_t rule[BURST];
	uint64_t spent = 0;

	for (unsigned n = 0; n < BURSTS / ROUNDS; n++) {
		uint64_t begin;

		make_burst(b, key);
		begin = rte_rdtsc();
		run(b, key, rule);
		spent += rte_rdtsc() - begin;
		b->sum += rule[n % BURST];
	}
	return (double)spent / (BURSTS / ROUNDS * BURST);
}

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static double median(double *values)
{
	qsort(values, ROUNDS, sizeof(*values), compare);
	return values[ROUNDS / 2];
}

static void choose_algorithm(struct bench *b)
{
	static const enum rte_acl_classify_alg algorithms[] = {
		RTE_ACL_CLASSIFY_AVX512X32, RTE_ACL_CLASSIFY_AVX512X16, RTE_ACL_CLASSIFY_AVX2,
		RTE_ACL_CLASSIFY_SSE};
	enum rte_acl_classify_alg best = RTE_ACL_CLASSIFY_DEFAULT;
	double least = 0;

	b->flows = 64;
	for (unsigned i = 0; i < RTE_DIM(algorithms); i++) {
		double spent;

		if (rte_acl_set_ctx_classify(b->acl, algorithms[i]) != 0)
			continue;
		cycles(b, by_acl);
		spent = cycles(b, by_acl);
		if (best == RTE_ACL_CLASSIFY_DEFAULT || spent < least) {
			best = algorithms[i];
			least = spent;
		}
	}
	rte_acl_set_ctx_classify(b->acl, best);
	printf("# rte_acl method %d\n", best);
}

static void measure(struct bench *b, unsigned where, uint32_t flows, const char *name)
{
	static const char *const where_names[WHERES] = {"far", "near", "in"};
	static const method methods[] = {by_acl, by_classifier, by_cache};
	double spent[RTE_DIM(methods)][ROUNDS];

	b->where = where;
	b->flows = flows;
	for (uint32_t i = 0; i < FLOWS; i++)
		make_key(b, &b->flow[i]);
	for (unsigned i = 0; i < RTE_DIM(methods); i++)
		cycles(b, methods[i]);
	for (unsigned round = 0; round < ROUNDS; round++)
		for (unsigned i = 0; i < RTE_DIM(methods); i++)
			spent[i][round] = cycles(b, methods[i]);
	printf("%7u %5s %6s %8.1f %10.1f %8.1f\n", b->rules, where_names[where], name,
	       median(spent[0]), median(spent[1]), median(spent[2]));
}

static void bench_rules(uint32_t rules)
{
	struct bench b = {0};
	struct mr_filter_set *set;
	uint64_t begin;
	double built, compiled;

	make_rules(&b, rules);
	set = make_set(&b);
	begin = rte_rdtsc();
	b.classifier = mr_classifier_compile(set, false, SOCKET_ID_ANY, NULL);
	compiled = (double)(rte_rdtsc() - begin) / (double)rte_get_tsc_hz();
	begin = rte_rdtsc();
	b.acl = make_acl(&b);
	built = (double)(rte_rdtsc() - begin) / (double)rte_get_tsc_hz();
	b.cache = mr_verdict_cache_create(MR_VERDICT_CACHE_DEFAULT, SOCKET_ID_ANY);
	b.flow = calloc(FLOWS, sizeof(*b.flow));
	if (b.classifier == NULL || b.cache == NULL || b.flow == NULL)
		fail("compiling");
	printf("# %u rules: rte_acl built in %.3f s, the classifier in %.3f s; it looks at %u "
	       "words\n",
	       rules, built, compiled, b.classifier->sieve.words);
	for (uint32_t i = 0; i < FLOWS; i++)
		make_key(&b, &b.flow[i]);
	choose_algorithm(&b);
	for (unsigned where = 0; where < WHERES; where++) {
		measure(&b, where, 64, "64");
		measure(&b, where, FLOWS, "65536");
		measure(&b, where, 0, "new");
	}
	rte_acl_free(b.acl);
	mr_classifier_free(b.classifier);
	mr_verdict_cache_free(b.cache);
	mr_filter_set_free(set);
	free(b.flow);
	free(b.rule);
}

int main(int argc, char **argv)
{
	static const uint32_t rules[] = {1, 30, 1000, 100000};
	int used = rte_eal_init(argc, argv);

	if (used < 0)
		fail("EAL");
	printf("  rules where  flows  rte_acl classifier +cache\n");
	for (unsigned i = 0; i < RTE_DIM(rules) && used + 1 >= argc; i++)
		bench_rules(rules[i]);
	for (int i = used + 1; i < argc; i++)
		bench_rules((uint32_t)strtoul(argv[i], NULL, 10));
	rte_eal_cleanup();
	return 0;
}
