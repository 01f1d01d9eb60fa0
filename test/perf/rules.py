# SPDX-License-Identifier: BSD-3-Clause
"""Sets of rules for the benchmark, and the change from one to the other while millrace forwards.

Rules deny TCP or UDP from a /24 that no packet is from to a host and port behind the router: destinations
like the packets', and nothing that any of them matches. Both hooks look at them.
"""
import os
import random
import subprocess

# scenario: rules, None: one that allows all
SCENARIOS = {'filter-all': None, 'filter-30': 30, 'filter-1000': 1000, 'filter-100000': 100000}


def rule(rng, number):
    source = f'198.19.{rng.randrange(256)}.0/24'
    destination = f'{rng.choice((20, 21))}.{rng.randrange(8)}.{rng.randrange(256)}.{rng.randrange(256)}'
    return f'add {number} deny {rng.choice(("tcp", "udp"))} from {source} to {destination} {rng.randrange(1, 1024)}'


def make(scenario, directory):
    """Writes what `filter load` reads; returns its path."""
    rng = random.Random(scenario)
    count = SCENARIOS[scenario]
    lines = ['add 1 allow all from any to any'] if count is None else [rule(rng, n + 1) for n in range(count)]
    path = f'{directory}/rules'
    with open(path, 'w', encoding='ascii') as file:
        file.write('\n'.join(lines) + '\n')
    return path


def control(millrace, *words):
    program = os.path.join(os.path.dirname(millrace.program), '../millracectl/millracectl')
    subprocess.run([program, '-s', f'{millrace.directory}/ctl', *words], check=True, timeout=60,
                   stdout=subprocess.DEVNULL)
