# SPDX-License-Identifier: BSD-3-Clause
"""docs/telemetry.md and what the telemetry socket answers name the same paths and fields."""
import os
import re

import pytest

from rig import ROOT

# Answers whose keys are data and whose fields are one level down.
BY_KEY = {'/millrace/drops', '/millrace/drops,1', '/millrace/address/list'}


def documented():
    """From each path of the document to the fields of the table that follows, None without one."""
    fields, path = {}, None
    with open(os.path.join(ROOT, 'docs/telemetry.md'), encoding='utf-8') as file:
        for line in file:
            if match := re.match(r'`(/millrace/[^`]*)`', line):
                path = match[1]
                fields[path] = None
            elif line.startswith('## '):
                path = None
            elif path and line.startswith('| ') and not line.startswith('| field'):
                names = line.split('|')[1].split(',')
                fields[path] = (fields[path] or []) + [name.strip() for name in names]
    return fields


QUERIES = {
    '/millrace/lcore/stats,ID': '/millrace/lcore/stats,1',
    '/millrace/drops': '/millrace/drops',
    '/millrace/drops,ID': '/millrace/drops,1',
    '/millrace/conservation': '/millrace/conservation',
    '/millrace/rcu': '/millrace/rcu',
    '/millrace/port/info,N': '/millrace/port/info,0',
    '/millrace/port/stats,N': '/millrace/port/stats,0',
    '/millrace/bridge/stats,NAME': '/millrace/bridge/stats,br0',
    '/millrace/bridge/stations,NAME[,NEXT]': '/millrace/bridge/stations,br0',
    '/millrace/route/list[,PREFIX]': '/millrace/route/list',
    '/millrace/route/lookup,A.B.C.D': '/millrace/route/lookup,10.0.2.7',
    '/millrace/route/summary': '/millrace/route/summary',
    '/millrace/neighbour/list[,OFFSET]': '/millrace/neighbour/list',
    '/millrace/host/stats': '/millrace/host/stats',
}


@pytest.fixture(name='appliance')
def fixture_appliance(rig):
    appliance = rig.millrace(vdevs=[f'net_null{n},no-rx=1' for n in range(3)],
                             eal=['--no-huge', '-m', '256'])
    appliance.do('bridge add br0', 'bridge member add br0 port 0', 'bridge member add br0 port 1',
                 'address add 10.0.2.1/24 port 2')
    return appliance


def test_fields_are_those_of_the_document(appliance):
    document = documented()
    for path, command in QUERIES.items():
        answer = appliance.query(command)
        rows = answer.values() if command in BY_KEY else [answer]
        assert rows, path
        for row in rows:
            assert sorted(row) == sorted(document[path]), path


def test_paths_are_those_of_the_document(appliance):
    paths = {re.split(r'[,\[]', path)[0] for path in documented()}
    assert paths == {path for path in appliance.query('/') if path.startswith('/millrace/')}


def test_pages_together_are_the_whole(appliance):
    whole, parts, offset = appliance.query('/millrace/drops'), {}, 0
    while True:
        page = appliance.query(f'/millrace/drops,offset={offset}')
        assert page['total'] == len(whole)
        parts.update(page['entries'])
        offset = page['next']
        if not offset:
            break
    assert list(parts) == list(whole)


def test_a_refusal_is_a_sentence(appliance):
    assert '99' in appliance.query('/millrace/lcore/stats,99')['error']
    assert '99' in appliance.query('/millrace/port/stats,99')['error']
