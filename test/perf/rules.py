# SPDX-License-Identifier: BSD-3-Clause
"""Sets of rules for the benchmark, and the change from one to the other while millrace forwards.

Rules deny TCP or UDP from a /24 that no packet is from to a host and port behind the router: destinations
like the packets', and nothing that any of them matches. Both hooks look at them. Where packets are to
match, the last rule allows UDP.
"""
import os
import random
import subprocess

import forwarders

# scenario: how many rules, and the last one, if packets are to match it
SCENARIOS = {'filter-all': (1, 'allow all from any to any'),
             **{f'filter-{count}': (count, None) for count in (30, 1000, 100000)},
             **{f'filter-state{suffix}': (count, 'allow udp from any to any keep-state')
                for suffix, count in (('', 2), ('-30', 30), ('-1000', 1000), ('-flood', 2))},
             **{f'filter-last-{count}': (count, 'allow udp from any to any') for count in (30, 1000, 100000)}}


def rule(rng, number):
    source = f'198.19.{rng.randrange(256)}.0/24'
    destination = f'{rng.choice((20, 21))}.{rng.randrange(8)}.{rng.randrange(256)}.{rng.randrange(256)}'
    return f'add {number} deny {rng.choice(("tcp", "udp"))} from {source} to {destination} {rng.randrange(1, 1024)}'


def make(scenario, directory):
    """Writes what `filter load` reads; returns its path."""
    rng = random.Random(scenario)
    count, last = SCENARIOS[scenario]
    lines = [rule(rng, n + 1) for n in range(count)]
    if scenario.startswith('filter-state'):
        lines[-2] = f'add {count - 1} check-state'
    if last:
        lines[-1] = f'add {count} {last}'
    path = f'{directory}/rules'
    with open(path, 'w', encoding='ascii') as file:
        file.write('\n'.join(lines) + '\n')
    return path


def flows(scenario):
    """How many flows an lcore has room for."""
    return 64 if scenario == 'filter-state-flood' else forwarders.FILTER_FLOWS


def control(millrace, *words):
    program = os.path.join(os.path.dirname(millrace.program), '../millracectl/millracectl')
    subprocess.run([program, '-s', f'{millrace.directory}/ctl', *words], check=True, timeout=60,
                   stdout=subprocess.DEVNULL)
