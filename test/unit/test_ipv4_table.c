/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <rte_common.h>
#include <rte_malloc.h>

#include "base/rcu.h"
#include "route/ipv4_table.h"
#include "route/ipv4_table_fwd.h"
#include "test_eal.h"

#define MAX_ROUTES 200000
#define HALVES 16u
#define IPV4(a, b, c, d) ((uint32_t)(a) << 24 | (b) << 16 | (c) << 8 | (d))

struct fixture {
	struct mr_rcu *rcu;
	struct mr_ipv4_table *table;
};

/* What the table should say, in the plainest form: a list that is searched from end to end. */
struct model {
	unsigned count;
	struct mr_ipv4_route routes[1024];
};

static uint64_t random_state = 1;

static uint32_t random_number(void)
{
	random_state = random_state * 6364136223846793005 + 1442695040888963407;
	return random_state >> 33 ^ random_state >> 17;
}

static uint32_t host_mask(unsigned length)
{
	return length == 32 ? 0 : UINT32_MAX >> length;
}

static struct mr_ipv4_route *model_find(struct model *model, uint32_t prefix, unsigned length)
{
	for (unsigned i = 0; i < model->count; i++)
		if (model->routes[i].prefix == prefix && model->routes[i].length == length)
			return &model->routes[i];
	return NULL;
}

static struct mr_ipv4_route model_lookup(const struct model *model, uint32_t address)
{
	struct mr_ipv4_route best = {.next_hop = 0};

	for (unsigned i = 0; i < model->count; i++) {
		const struct mr_ipv4_route *route = &model->routes[i];

		if ((address & ~host_mask(route->length)) == route->prefix && !route->withdrawn &&
		    (best.next_hop == 0 || route->length > best.length))
			best = *route;
	}
	return best;
}

static uint32_t lookup_one(const struct fixture *f, uint32_t address)
{
	uint32_t next_hop;

	mr_ipv4_table_lookup_bulk(f->table, &address, 1, &next_hop);
	assert_int_equal(mr_ipv4_table_lookup(f->table, address, NULL), next_hop);
	return next_hop;
}

static void assert_table_says_what_model_says(const struct fixture *f, const struct model *model,
					      const uint32_t *addresses, unsigned n)
{
	uint32_t next_hops[MR_IPV4_TABLE_MAX_BULK];

	mr_ipv4_table_lookup_bulk(f->table, addresses, n, next_hops);
	for (unsigned i = 0; i < n; i++) {
		struct mr_ipv4_route expected = model_lookup(model, addresses[i]), match = {0};

		assert_int_equal(next_hops[i], expected.next_hop);
		assert_int_equal(mr_ipv4_table_lookup(f->table, addresses[i], &match),
				 expected.next_hop);
		assert_int_equal(match.prefix, expected.prefix);
		assert_int_equal(match.length, expected.length);
		assert_int_equal(match.next_hop, expected.next_hop);
	}
}

/* The edges of a prefix, inside and outside, and random addresses near it. */
static unsigned addresses_around(uint32_t prefix, unsigned length, uint32_t *addresses, unsigned n)
{
	uint32_t last = prefix | host_mask(length);
	unsigned count = 0;

	addresses[count++] = prefix;
	addresses[count++] = last;
	addresses[count++] = prefix - 1;
	addresses[count++] = last + 1;
	while (count < n)
		addresses[count++] = prefix ^ (random_number() >> random_number() % 32);
	return n;
}

/* Prefixes of all lengths that share their first bits with few others, so that they nest. */
static struct mr_ipv4_route random_route(void)
{
	static const uint32_t anchors[] = {IPV4(10, 1, 15, 255), IPV4(10, 1, 16, 0), 0, UINT32_MAX};
	struct mr_ipv4_route route;

	route.length = random_number() % 33;
	if (route.length < 10 && random_number() % 16 != 0)
		route.length += 22; /* those cost milliseconds each */
	route.prefix = anchors[random_number() % RTE_DIM(anchors)];
	for (unsigned i = random_number() % 3; i > 0; i--)
		route.prefix ^= 1u << random_number() % 32;
	route.prefix &= ~host_mask(route.length);
	route.next_hop = 1 + random_number() % 50;
	if (random_number() % 16 == 0)
		route.next_hop = MR_IPV4_TABLE_MAX_NEXT_HOP - random_number() % 4;
	return route;
}

/* Withdraws or restores a route that may be there, and may be so already. */
static void withdraw_both(const struct fixture *f, struct model *model, struct mr_ipv4_route route)
{
	struct mr_ipv4_route *known = model_find(model, route.prefix, route.length), got;
	bool withdrawn = random_number() % 2;
	int rc;

	if (known == NULL && model->count > 0 && random_number() % 4 != 0)
		known = &model->routes[random_number() % model->count];
	if (known != NULL)
		route = *known;
	rc = withdrawn ? mr_ipv4_table_withdraw(f->table, route.prefix, route.length)
		       : mr_ipv4_table_restore(f->table, route.prefix, route.length);
	assert_int_equal(rc, known == NULL ? -ENOENT : 0);
	assert_int_equal(mr_ipv4_table_get(f->table, route.prefix, route.length, &got),
			 known != NULL);
	if (known != NULL) {
		known->withdrawn = withdrawn;
		assert_int_equal(got.withdrawn, withdrawn);
	}
}

static void change_both(const struct fixture *f, struct model *model, struct mr_ipv4_route route,
			unsigned adding)
{
	struct mr_ipv4_route *known = model_find(model, route.prefix, route.length);
	unsigned way = random_number() % 100;
	int rc;

	if (way < adding) {
		rc = mr_ipv4_table_add(f->table, route.prefix, route.length, route.next_hop);
		assert_int_equal(rc, known != NULL ? -EEXIST : 0);
		if (known == NULL)
			model->routes[model->count++] = route;
	} else if (way < adding + 10) {
		rc = mr_ipv4_table_replace(f->table, route.prefix, route.length, route.next_hop);
		assert_int_equal(rc, 0);
		if (known == NULL)
			model->routes[model->count++] = route;
		else
			known->next_hop = route.next_hop;
	} else {
		if (known == NULL && model->count > 0 && random_number() % 4 != 0)
			known = &model->routes[random_number() % model->count];
		if (known != NULL)
			route = *known;
		rc = mr_ipv4_table_del(f->table, route.prefix, route.length);
		assert_int_equal(rc, known == NULL ? -ENOENT : 0);
		if (known != NULL)
			*known = model->routes[--model->count];
	}
	assert_int_equal(mr_ipv4_table_count(f->table), model->count);
	known = model_find(model, route.prefix, route.length);
	assert_int_equal(mr_ipv4_table_find(f->table, route.prefix, route.length),
			 known != NULL ? known->next_hop : 0);
}

static size_t memory_in_use(const struct fixture *f)
{
	struct mr_ipv4_table_memory memory;

	while (mr_rcu_poll(f->rcu) > 0)
		;
	mr_ipv4_table_memory(f->table, &memory);
	return memory.shared_used + memory.control_used;
}

static size_t memory_reserved(const struct fixture *f)
{
	struct mr_ipv4_table_memory memory;

	mr_ipv4_table_memory(f->table, &memory);
	return memory.shared_reserved;
}

static void table_agrees_with_a_list_after_every_change(void **state)
{
	struct fixture *f = *state;
	static struct model model;
	uint32_t addresses[MR_IPV4_TABLE_MAX_BULK];
	size_t base = memory_in_use(f);

	memset(&model, 0, sizeof(model));
	for (unsigned i = 0; i < 16000; i++) {
		struct mr_ipv4_route route = random_route();
		unsigned n;

		/* Full for a while, then nearly empty. */
		if (random_number() % 4 == 0)
			withdraw_both(f, &model, route);
		else
			change_both(f, &model, route, i / 2000 % 2 == 0 ? 60 : 20);
		mr_rcu_poll(f->rcu);
		n = addresses_around(route.prefix, route.length, addresses,
				     4 + random_number() % 20);
		assert_table_says_what_model_says(f, &model, addresses, n);
	}
	for (unsigned i = 0; i < model.count; i++) {
		unsigned n = addresses_around(model.routes[i].prefix, model.routes[i].length,
					      addresses, MR_IPV4_TABLE_MAX_BULK);

		assert_table_says_what_model_says(f, &model, addresses, n);
	}
	while (model.count > 0)
		change_both(f, &model, model.routes[0], 0);
	assert_int_equal(memory_in_use(f), base);
}

static void all_lengths_of_one_address_nest(void **state)
{
	struct fixture *f = *state;
	static struct model model;
	uint32_t addresses[66], address = IPV4(172, 21, 90, 165);

	memset(&model, 0, sizeof(model));
	for (unsigned length = 0; length <= 32; length++) {
		addresses[2 * length] = address & ~host_mask(length);
		addresses[2 * length + 1] = address | host_mask(length);
	}
	/* 7 and 33 have no common divisor: each length comes once, in a mixed order. */
	for (unsigned i = 0; i < 33; i++) {
		unsigned length = i * 7 % 33;
		struct mr_ipv4_route route = {address & ~host_mask(length), length, length + 1};

		model.routes[model.count++] = route;
		assert_int_equal(mr_ipv4_table_add(f->table, route.prefix, length, length + 1), 0);
		assert_table_says_what_model_says(f, &model, addresses, 64);
		assert_table_says_what_model_says(f, &model, addresses + 64, 2);
	}
	for (unsigned i = 0; i < 33; i++) {
		unsigned length = i * 10 % 33;
		struct mr_ipv4_route *route =
			model_find(&model, address & ~host_mask(length), length);

		*route = model.routes[--model.count];
		assert_int_equal(mr_ipv4_table_del(f->table, address & ~host_mask(length), length),
				 0);
		assert_table_says_what_model_says(f, &model, addresses, 64);
		assert_table_says_what_model_says(f, &model, addresses + 64, 2);
	}
}

static void deleting_restores_the_covering_route(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(mr_ipv4_table_add(f->table, IPV4(10, 10, 0, 0), 16, 1), 0);
	assert_int_equal(mr_ipv4_table_add(f->table, IPV4(10, 10, 128, 0), 24, 2), 0);
	assert_int_equal(lookup_one(f, IPV4(10, 10, 128, 1)), 2);
	assert_int_equal(mr_ipv4_table_del(f->table, IPV4(10, 10, 128, 0), 24), 0);
	assert_int_equal(lookup_one(f, IPV4(10, 10, 128, 1)), 1);
	assert_int_equal(mr_ipv4_table_del(f->table, IPV4(10, 10, 0, 0), 16), 0);
	assert_int_equal(lookup_one(f, IPV4(10, 10, 128, 1)), 0);

	/* The same where the default route is what covers. */
	assert_int_equal(mr_ipv4_table_add(f->table, IPV4(10, 10, 128, 1), 32, 2), 0);
	assert_int_equal(mr_ipv4_table_add(f->table, 0, 0, 3), 0);
	assert_int_equal(lookup_one(f, IPV4(10, 10, 128, 1)), 2);
	assert_int_equal(lookup_one(f, IPV4(10, 10, 128, 2)), 3);
	assert_int_equal(mr_ipv4_table_del(f->table, IPV4(10, 10, 128, 1), 32), 0);
	assert_int_equal(lookup_one(f, IPV4(10, 10, 128, 1)), 3);
	assert_int_equal(mr_ipv4_table_replace(f->table, 0, 0, 4), 0);
	assert_int_equal(lookup_one(f, IPV4(10, 10, 128, 1)), 4);
	assert_int_equal(mr_ipv4_table_del(f->table, 0, 0), 0);
	assert_int_equal(lookup_one(f, IPV4(10, 10, 128, 1)), 0);
}

static void what_cannot_be_is_refused_and_changes_nothing(void **state)
{
	struct fixture *f = *state;
	struct mr_ipv4_table *t = f->table, *small;
	uint32_t net = IPV4(20, 0, 1, 0);

	assert_int_equal(mr_ipv4_table_add(t, net | 1, 24, 1), -EINVAL);
	assert_int_equal(mr_ipv4_table_add(t, net, 33, 1), -EINVAL);
	assert_int_equal(mr_ipv4_table_add(t, net, 255, 1), -EINVAL);
	assert_int_equal(mr_ipv4_table_add(t, 1, 0, 1), -EINVAL);
	assert_int_equal(mr_ipv4_table_add(t, net, 24, 0), -EINVAL);
	assert_int_equal(mr_ipv4_table_add(t, net, 24, MR_IPV4_TABLE_MAX_NEXT_HOP + 1), -EINVAL);
	assert_int_equal(mr_ipv4_table_replace(t, net | 1, 24, 1), -EINVAL);
	assert_int_equal(mr_ipv4_table_replace(t, net, 24, 0), -EINVAL);
	assert_int_equal(mr_ipv4_table_del(t, net | 1, 24), -EINVAL);
	assert_int_equal(mr_ipv4_table_del(t, net, 33), -EINVAL);
	assert_int_equal(mr_ipv4_table_del(t, net, 24), -ENOENT);
	assert_int_equal(mr_ipv4_table_del(t, 0, 0), -ENOENT);
	assert_int_equal(mr_ipv4_table_count(t), 0);
	assert_int_equal(lookup_one(f, net), 0);

	assert_null(mr_ipv4_table_create(f->rcu, SOCKET_ID_ANY, 0));
	assert_null(mr_ipv4_table_create(f->rcu, SOCKET_ID_ANY, MR_IPV4_TABLE_MAX_ROUTES + 1));
	small = mr_ipv4_table_create(f->rcu, SOCKET_ID_ANY, 2);
	assert_non_null(small);
	assert_int_equal(mr_ipv4_table_add(small, net, 24, 1), 0);
	assert_int_equal(mr_ipv4_table_add(small, 0, 0, 1), 0);
	assert_int_equal(mr_ipv4_table_add(small, net, 25, 1), -ENOSPC);
	assert_int_equal(mr_ipv4_table_replace(small, net, 25, 1), -ENOSPC);
	assert_int_equal(mr_ipv4_table_add(small, net, 24, 1), -EEXIST);
	assert_int_equal(mr_ipv4_table_replace(small, net, 24, 2), 0);
	assert_int_equal(mr_ipv4_table_count(small), 2);
	mr_ipv4_table_destroy(small);
}

struct page {
	unsigned count;
	struct mr_ipv4_route routes[7];
};

static bool add_to_page(const struct mr_ipv4_route *route, void *arg)
{
	struct page *page = arg;

	page->routes[page->count++] = *route;
	return page->count < RTE_DIM(page->routes);
}

static int compare_routes(const void *a, const void *b)
{
	const struct mr_ipv4_route *x = a, *y = b;

	if (x->prefix != y->prefix)
		return x->prefix < y->prefix ? -1 : 1;
	return x->length - y->length;
}

static void pages_show_every_route_once_in_order(void **state)
{
	struct fixture *f = *state;
	static struct model model;
	struct page page;

	for (unsigned round = 0; round < 50; round++) {
		const struct mr_ipv4_route *after = NULL;
		struct mr_ipv4_route last;
		unsigned seen = 0;

		model.count = 0;
		for (unsigned i = 0; i < round * 4; i++)
			change_both(f, &model, random_route(), 90);
		qsort(model.routes, model.count, sizeof(model.routes[0]), compare_routes);
		do {
			page.count = 0;
			mr_ipv4_table_iterate(f->table, after, add_to_page, &page);
			for (unsigned i = 0; i < page.count; i++, seen++) {
				assert_true(seen < model.count);
				assert_int_equal(
					compare_routes(&page.routes[i], &model.routes[seen]), 0);
				assert_int_equal(page.routes[i].next_hop,
						 model.routes[seen].next_hop);
				/* The place to go on from must not be needed any more. */
				assert_int_equal(mr_ipv4_table_del(f->table, page.routes[i].prefix,
								   page.routes[i].length),
						 0);
				last = page.routes[i];
				after = &last;
			}
		} while (page.count > 0);
		assert_int_equal(seen, model.count);
		assert_int_equal(mr_ipv4_table_count(f->table), 0);
	}
}

static struct mr_ipv4_route numbered_route(uint32_t i)
{
	struct mr_ipv4_route route = {.length = 17 + i % 16, .next_hop = 1 + i};

	/* A bijection of 32-bit numbers, cut: few prefixes come twice. */
	route.prefix = i * UINT32_C(2654435761) & ~host_mask(route.length);
	return route;
}

static void memory_returns_when_all_routes_go(void **state)
{
	struct fixture *f = *state;
	size_t used = memory_in_use(f), reserved = memory_reserved(f);
	const uint32_t count = 100000;

	uint32_t added = 0;

	for (uint32_t i = 0; i < count; i++) {
		struct mr_ipv4_route r = numbered_route(i);
		int rc = mr_ipv4_table_add(f->table, r.prefix, r.length, r.next_hop);

		assert_true(rc == 0 || rc == -EEXIST);
		added += rc == 0;
	}
	assert_true(added > count / 2);
	assert_int_equal(mr_ipv4_table_count(f->table), added);
	for (uint32_t i = 0; i < count; i++)
		lookup_one(f, numbered_route(i).prefix);
	assert_true(memory_in_use(f) > used && memory_reserved(f) > reserved);
	for (uint32_t i = 0; i < count; i++) {
		struct mr_ipv4_route r = numbered_route(i);
		int rc = mr_ipv4_table_del(f->table, r.prefix, r.length);

		assert_true(rc == 0 || rc == -ENOENT);
		mr_rcu_poll(f->rcu);
	}
	assert_int_equal(mr_ipv4_table_count(f->table), 0);
	assert_int_equal(memory_in_use(f), used);
	assert_int_equal(memory_reserved(f), reserved);
}

struct block {
	struct block *next;
};

static void running_out_of_memory_changes_nothing(void **state)
{
	struct fixture *f = *state;
	struct block *blocks = NULL;
	struct mr_ipv4_route r;
	uint32_t i = 0;
	int rc;

	/* Halves with one next hop: joined into a leaf, they would need memory to part again. */
	for (uint32_t k = 0; k < HALVES; k++) {
		uint32_t whole = IPV4(10, 0, 0, 0) + (k << 8);

		assert_int_equal(mr_ipv4_table_add(f->table, whole, 25, 9), 0);
		assert_int_equal(mr_ipv4_table_add(f->table, whole | 128, 25, 9), 0);
	}

	for (size_t size = 1 << 20; size >= 1 << 12; size /= 2) {
		struct block *block;

		while ((block = rte_malloc(NULL, size, 0)) != NULL) {
			block->next = blocks;
			blocks = block;
		}
	}
	do {
		r = numbered_route(i++);
		rc = mr_ipv4_table_add(f->table, r.prefix, r.length, r.next_hop);
		assert_true(rc == 0 || rc == -EEXIST || rc == -ENOMEM);
	} while (rc != -ENOMEM);
	assert_int_equal(mr_ipv4_table_count(f->table), i - 1 + 2 * HALVES);
	assert_int_equal(mr_ipv4_table_find(f->table, r.prefix, r.length), 0);
	assert_int_equal(lookup_one(f, r.prefix), 0);
	assert_int_equal(mr_ipv4_table_replace(f->table, r.prefix, r.length, 1), -ENOMEM);
	assert_int_equal(lookup_one(f, r.prefix), 0);
	assert_null(mr_ipv4_table_create(f->rcu, SOCKET_ID_ANY, 10));
	/* What is there can still be changed and deleted. */
	for (uint32_t k = 0; k < HALVES; k++) {
		uint32_t whole = IPV4(10, 0, 0, 0) + (k << 8);

		assert_int_equal(mr_ipv4_table_del(f->table, whole, 25), 0);
		assert_int_equal(lookup_one(f, whole), 0);
		assert_int_equal(lookup_one(f, whole | 128), 9);
	}
	for (uint32_t k = 0; k < i - 1; k++) {
		struct mr_ipv4_route known = numbered_route(k);

		assert_int_equal(lookup_one(f, known.prefix), known.next_hop);
		assert_int_equal(mr_ipv4_table_replace(f->table, known.prefix, known.length, 7), 0);
		assert_int_equal(lookup_one(f, known.prefix), 7);
		assert_int_equal(mr_ipv4_table_del(f->table, known.prefix, known.length), 0);
	}
	while (blocks != NULL) {
		struct block *block = blocks;

		blocks = block->next;
		rte_free(block);
	}
	assert_int_equal(mr_ipv4_table_add(f->table, r.prefix, r.length, r.next_hop), 0);
	assert_int_equal(lookup_one(f, r.prefix), r.next_hop);
}

static int set_up(void **state)
{
	static struct fixture f;

	f.rcu = mr_rcu_create(4);
	f.table = f.rcu != NULL ? mr_ipv4_table_create(f.rcu, SOCKET_ID_ANY, MAX_ROUTES) : NULL;
	*state = &f;
	return f.table != NULL ? 0 : -1;
}

static int tear_down(void **state)
{
	struct fixture *f = *state;

	mr_ipv4_table_destroy(f->table);
	mr_rcu_destroy(f->rcu);
	return 0;
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(table_agrees_with_a_list_after_every_change),
		TEST(all_lengths_of_one_address_nest),
		TEST(deleting_restores_the_covering_route),
		TEST(what_cannot_be_is_refused_and_changes_nothing),
		TEST(pages_show_every_route_once_in_order),
		TEST(memory_returns_when_all_routes_go),
		TEST(running_out_of_memory_changes_nothing),
	};

	test_eal_start("0");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
