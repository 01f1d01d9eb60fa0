# SPDX-License-Identifier: BSD-3-Clause
"""docs/telemetry.md and what the telemetry socket answers name the same paths and fields."""
import os
import re
import threading
import time

import pytest

from rig import ROOT, af_packet, wait_for
from telemetry import Telemetry

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
    '/millrace/port/hotplug': '/millrace/port/hotplug',
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


PARAMETERS = ('', '0', '-1', '65536', '4294967296', 'br0', 'nobody', ',,,', '0,0',
              'offset=0', 'offset=-1', 'offset=99999999999', 'x' * 100,
              '%s%n', '10.0.0.0/33')


def test_any_parameter_has_an_answer(appliance):
    paths = [path for path in appliance.query('/') if path.startswith('/millrace/')]
    for path in paths:
        for parameter in PARAMETERS:
            answer = appliance.query(f'{path},{parameter}')
            assert answer is None or isinstance(answer, (dict, list, str, int)), (path, parameter)
    assert appliance.is_running()


def test_stations_in_pages(appliance):
    appliance.do(*[f'station add br0 02:00:00:00:01:{n:02x} port 0' for n in range(250)])
    found, at = [], '0'
    for _ in range(4):
        page = appliance.query(f'/millrace/bridge/stations,br0,{at}')
        assert page['total'] == 250 and len(page['stations']) <= 100
        found += [row['mac'] for row in page['stations'].values()]
        at = page['next']
        if not at:
            break
    assert sorted(found) == [f'02:00:00:00:01:{n:02x}' for n in range(250)]


def test_routes_in_pages(appliance):
    appliance.client('-f', '-', text=''.join(f'route add 198.18.{n}.0/24 blackhole\n' for n in range(120)))
    found, at = [], ''
    for _ in range(10):
        page = appliance.query(f'/millrace/route/list{at}')
        found += [row['prefix'] for row in page['routes'].values()]
        at = f",{page['next']}"
        if not page['next']:
            break
    assert len(found) == len(set(found))
    assert {f'198.18.{n}.0/24' for n in range(120)} <= set(found)


def test_reader_at_100_hertz(rig):
    """A client that reads everything all the time is answered in time and costs no packet."""
    hosts = rig.hosts('10.0.1.1/24', '10.0.1.2/24')
    millrace = rig.millrace(af_packet('p0', 'p1'))
    wait_for(lambda: hosts[0].ping('10.0.1.2', 1) == 1)
    paths = ['/millrace/lcore/stats,1', '/millrace/port/stats,0', '/millrace/drops', '/millrace/conservation',
             '/millrace/bridge/stations,default', '/millrace/rcu']
    stop, answers, failures = threading.Event(), [], []

    def read():
        telemetry, at = Telemetry(millrace.prefix), time.monotonic()
        while not stop.wait(max(0, at - time.monotonic())):
            at += 0.01
            answer = telemetry.query(paths[len(answers) % len(paths)])
            answers.append(answer)
            if not answer or 'error' in answer:
                failures.append(answer)

    reader = threading.Thread(target=read)
    reader.start()
    try:
        assert hosts[0].ping('10.0.1.2', 300, '-i', '0.01') == 300
    finally:
        stop.set()
        reader.join()
    assert not failures
    assert len(answers) > 100
