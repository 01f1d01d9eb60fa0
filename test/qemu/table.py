#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""table.py RESULTS...: writes what runs of `pytest --results=RESULTS` noted into docs/drivers.md, between the markers."""
import json
import os
import sys

PAGE = os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..', 'docs', 'drivers.md')
START, END = '<!-- results: scripts/test qemu --table -->\n', '<!-- end of results -->\n'
DEVICES = ('e1000', 'e1000e', 'igb', 'virtio')
WORDS = {'passed': 'yes', 'failed': '**no**', 'skipped': 'not run', None: ''}


def rows(results):
    yield '| test | ' + ' | '.join(DEVICES) + ' |'
    yield '|---|' + '---|' * len(DEVICES)
    for test, outcome in sorted(results.items()):
        yield f'| {test} | ' + ' | '.join(WORDS[outcome.get(device, outcome.get('all'))] for device in DEVICES) + ' |'


def main():
    results = {}
    for path in sys.argv[1:]:
        with open(path, encoding='utf-8') as file:
            for test, outcome in json.load(file).items():
                results.setdefault(test, {}).update(outcome)
    with open(PAGE, encoding='utf-8') as file:
        before, _, rest = file.read().partition(START)
    with open(PAGE, 'w', encoding='utf-8') as file:
        file.write(before + START + '\n'.join(rows(results)) + '\n' + END + rest.partition(END)[2])


if __name__ == '__main__':
    main()
