/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a locked instruction costs on this processor: cmpxchg with and without the lock prefix, on a
 * line that no other CPU touches, then while a second thread does the same to that line. Each
 * cmpxchg depends on the one before it, as in a lock that is taken and released.
 *
 * Output: one line a case, its name and the median of TSC cycles per instruction. The second thread
 * needs a CPU of its own; where there is none, its cases are left out. Rounds in which it did not
 * run do not count. Two CPUs that are threads of one core share its cache, so that there the second
 * one costs little.
 */
#include <pthread.h>
#include <sched.h>
#include <stdalign.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <rte_common.h>
#include <rte_cycles.h>

enum { ROUNDS = 201, REPEATS = 10000, STEP = 100 };

struct contended {
	alignas(RTE_CACHE_LINE_SIZE) uint64_t word;
	alignas(RTE_CACHE_LINE_SIZE) uint64_t steps; /* written by the second thread */
	alignas(RTE_CACHE_LINE_SIZE) bool stop;
	bool locked;
	int cpu;
};

static uint64_t exchange(uint64_t *word, uint64_t expected)
{
	__asm__ volatile("cmpxchgq %2, %1"
			 : "+a"(expected), "+m"(*word)
			 : "r"(expected + 1)
			 : "cc");
	return expected;
}

static uint64_t exchange_locked(uint64_t *word, uint64_t expected)
{
	__asm__ volatile("lock cmpxchgq %2, %1"
			 : "+a"(expected), "+m"(*word)
			 : "r"(expected + 1)
			 : "cc");
	return expected;
}

static void repeat(uint64_t *word, bool locked, unsigned times)
{
	uint64_t seen = 0;

	if (locked)
		for (unsigned i = 0; i < times; i++)
			seen = exchange_locked(word, seen);
	else
		for (unsigned i = 0; i < times; i++)
			seen = exchange(word, seen);
}

static void pin(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	pthread_setaffinity_np(pthread_self(), sizeof(set), &set);
}

static void *contend(void *data)
{
	struct contended *c = data;

	pin(c->cpu);
	while (!__atomic_load_n(&c->stop, __ATOMIC_RELAXED)) {
		repeat(&c->word, c->locked, STEP);
		__atomic_store_n(&c->steps, c->steps + 1, __ATOMIC_RELAXED);
	}
	return NULL;
}

static int by_value(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

static uint64_t round_cycles(uint64_t *word, bool locked)
{
	uint64_t begin = rte_rdtsc_precise();

	repeat(word, locked, REPEATS);
	return rte_rdtsc_precise() - begin;
}

static double median(uint64_t *cycles)
{
	qsort(cycles, ROUNDS, sizeof(cycles[0]), by_value);
	return (double)cycles[ROUNDS / 2] / REPEATS;
}

static double cycles_alone(bool locked)
{
	alignas(RTE_CACHE_LINE_SIZE) uint64_t word = 0;
	uint64_t cycles[ROUNDS];

	for (unsigned i = 0; i < ROUNDS; i++)
		cycles[i] = round_cycles(&word, locked);
	return median(cycles);
}

static double cycles_contended(bool locked, int cpu)
{
	struct contended c = {.locked = locked, .cpu = cpu};
	uint64_t cycles[ROUNDS];
	pthread_t thread;

	if (pthread_create(&thread, NULL, contend, &c) != 0) {
		fprintf(stderr, "bench_lock: no second thread\n");
		exit(1);
	}
	for (unsigned i = 0; i < ROUNDS;) {
		uint64_t before = __atomic_load_n(&c.steps, __ATOMIC_RELAXED);

		cycles[i] = round_cycles(&c.word, locked);
		i += __atomic_load_n(&c.steps, __ATOMIC_RELAXED) - before >= REPEATS / STEP / 4;
	}
	__atomic_store_n(&c.stop, true, __ATOMIC_RELAXED);
	pthread_join(thread, NULL);
	return median(cycles);
}

int main(void)
{
	int cpus[2], count = 0;
	cpu_set_t allowed;

	sched_getaffinity(0, sizeof(allowed), &allowed);
	for (int cpu = 0; cpu < CPU_SETSIZE && count < 2; cpu++)
		if (CPU_ISSET(cpu, &allowed))
			cpus[count++] = cpu;
	pin(cpus[0]);
	printf("plain_alone %.1f\n", cycles_alone(false));
	printf("locked_alone %.1f\n", cycles_alone(true));
	if (count == 2) {
		printf("plain_contended %.1f\n", cycles_contended(false, cpus[1]));
		printf("locked_contended %.1f\n", cycles_contended(true, cpus[1]));
	}
	return 0;
}
