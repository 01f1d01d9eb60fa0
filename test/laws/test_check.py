#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Feeds check_fwd_objects.py one breach of each kind and expects it to be named."""
import json
import os
import subprocess
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))


DPDK = '\n'.join(f'#include <rte_{header}.h>' for header in ('ethdev', 'mbuf', 'ring', 'rcu_qsbr')) + """
unsigned mr_sample(struct rte_ring *ring, struct rte_mempool *pool, struct rte_rcu_qsbr *rcu)
{
	struct rte_mbuf *m[32];
	unsigned n = rte_eth_rx_burst(0, 0, m, 32);

	n = rte_eth_tx_burst(0, 0, m, n);
	rte_ring_%s_enqueue_burst(ring, (void **)m, n, NULL);
	n = rte_ring_%s_dequeue_burst(ring, (void **)m, 32, NULL);
	if (rte_pktmbuf_alloc_bulk(pool, m, n) == 0)
		rte_pktmbuf_free_bulk(m, n);
	rte_rcu_qsbr_quiescent(rcu, 0);
	return n;
}
"""


def check(sources, flags=''):
    """Compiles sources (file name to text) as a build directory and runs the check on it."""
    with tempfile.TemporaryDirectory() as build:
        entries = []
        for name, text in sources.items():
            with open(os.path.join(build, name), 'w', encoding='utf-8') as file:
                file.write(text)
            command = f'cc -g -O3 {flags} -o {name}.o -c {name}'
            subprocess.run(command.split(), cwd=build, check=True)
            entries.append({'directory': build, 'command': command, 'file': name,
                            'output': f'{name}.o'})
        with open(os.path.join(build, 'compile_commands.json'), 'w', encoding='utf-8') as file:
            json.dump(entries, file)
        return subprocess.run([sys.executable, os.path.join(HERE, 'check_fwd_objects.py'), build],
                              capture_output=True, text=True, check=False)


class CheckTest(unittest.TestCase):
    def breach(self, text, *expected, name='sample_fwd.c', flags=''):
        """Expects, of the object as built and at each level, lines that hold all words of a list."""
        result = check({name: text}, flags)
        self.assertEqual(result.returncode, 1, result.stdout + result.stderr)
        for level in (f'{name}.o', f'{name} -O2', f'{name} -O3'):
            lines = [line for line in result.stdout.splitlines() if line.startswith(level + ':')]
            for words in expected:
                self.assertTrue(any(all(word in line for word in words) for line in lines),
                                f'{level}: {words} not in\n{result.stdout}')

    def clean(self, sources, flags=''):
        result = check(sources, flags)
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)

    def test_atomic_add(self):
        self.breach('int count(int *n) { return __atomic_fetch_add(n, 1, __ATOMIC_RELAXED); }',
                    ['count: lock: lock xadd', 'sample_fwd.c:1'])

    def test_full_fence(self):
        self.breach('void fence(void) { __atomic_thread_fence(__ATOMIC_SEQ_CST); }', ['fence: lock: '])

    def test_exchange(self):
        self.breach('int swap(int *p, int v) { return __atomic_exchange_n(p, v, __ATOMIC_RELAXED); }',
                    ['swap: lock: xchg', '(%rdi)'])

    def test_exchange_of_registers_is_no_lock(self):
        self.clean({'sample_fwd.c': 'long f(long a) { asm("xchg %%rax, %0; xchg %%rax, %0"'
                                    ' : "+r"(a) :: "rax"); return a; }'})

    def test_division(self):
        kinds = ('unsigned', 'int', 'long', 'unsigned long', 'float', 'double', 'long double')
        self.breach('\n'.join(f'{kind} ratio{n}({kind} a, {kind} b) {{ return a / b; }}'
                              for n, kind in enumerate(kinds)),
                    *[[f'ratio{n}: division:'] for n in range(len(kinds))])

    def test_division_by_a_constant_is_none(self):
        self.clean({'sample_fwd.c': 'unsigned f(unsigned a) { return a / 10 + a % 8; }'})

    def test_system_call(self):
        self.breach('long call(long n) { asm volatile("syscall" : "+a"(n) :: "rcx", "r11"); return n; }',
                    ['call: syscall: syscall'])

    def test_interrupt(self):
        self.breach('void call(void) { asm volatile("int $0x80"); }', ['call: syscall: int $0x80'])

    def test_allocation(self):
        self.breach('#include <stdlib.h>\nvoid *get(int n) { return malloc(n); }',
                    ['get: symbol: malloc'])

    def test_locked_in_a_callee(self):
        self.breach('void mr_table_update(int);\nvoid use(int n) { mr_table_update(n); }',
                    ['use: symbol: mr_table_update'])

    def test_calls_of_dpdk(self):
        flags = subprocess.run(['pkg-config', '--cflags', 'libdpdk'], check=True,
                               capture_output=True, text=True).stdout.strip()
        self.clean({'sample_fwd.c': DPDK % ('sp', 'sc')}, flags)
        self.breach(DPDK % ('mp', 'sc'), ['mr_sample: lock: lock cmpxchg'], flags=flags)

    def test_symbols_of_other_packet_path_objects(self):
        self.clean({'a_fwd.c': 'int mr_b(int);\nint mr_a(int n) { return mr_b(n) + 1; }',
                    'b_fwd.c': 'int mr_b(int n) { return n + 1; }'})

    def test_other_files_are_not_checked(self):
        self.clean({'a_fwd.c': 'int mr_a(int n) { return n; }',
                    'table.c': 'int mr_t(int a, int b) { return a / b; }'})

    def test_going_to_sleep_may_lock_but_not_divide(self):
        text = 'int a(int *p, int v) { return __atomic_exchange_n(p, v, __ATOMIC_RELAXED); }'
        self.clean({'sleep_fwd.c': text})
        self.breach('int ratio(int a, int b) { return a / b; }', ['ratio: division:'],
                    name='sleep_fwd.c')

    def test_nothing_to_check_is_a_failure(self):
        result = check({'table.c': 'int mr_t(int a) { return a; }'})
        self.assertEqual(result.returncode, 1)
        self.assertIn('nothing was checked', result.stderr)


if __name__ == '__main__':
    unittest.main()
