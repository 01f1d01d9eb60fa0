# SPDX-License-Identifier: BSD-3-Clause
"""A configuration file with each kind of command, and the commands that undo it."""
import pytest

from rig import Refused, af_packet

CONFIG = '''
# bridges
bridge add br0
bridge add slow ageing 600   # seconds
bridge member add br0 port 0
bridge member add slow port 1
station add br0 02:00:00:00:00:aa port 0

# routers
\taddress add 10.0.2.1/24 port 2
address add 10.0.3.1/24 port 3
neighbour add 10.0.2.9 mac 02:00:00:00:02:09 port 2
route add 10.1.0.0/16 via 10.0.2.9
route add 10.2.0.0/16 via 10.0.2.9 10.0.3.9
route add 10.3.0.0/16 blackhole
route add 0.0.0.0/0 via 10.0.3.9
'''
SHOWS = ('show bridge', 'show station', 'show address', 'show neighbour', 'show route')


@pytest.fixture(name='millrace')
def fixture_millrace(rig):
    rig.hosts(None, None, None, None)
    return lambda config: rig.millrace(af_packet('p0', 'p1', 'p2', 'p3'), config=config)


def shown(millrace):
    return {line: millrace.show(line) for line in SHOWS}


def test_every_kind_of_command(millrace):
    made = millrace(CONFIG)
    bridges = {row['name']: row for row in made.show('show bridge')}
    assert bridges['br0']['ports'] == [0] and bridges['slow']['ports'] == [1]
    assert (bridges['br0']['ageing'], bridges['slow']['ageing']) == (300, 600)
    assert [(row['mac'], row['port']) for row in made.show('show station')] == [('02:00:00:00:00:aa', 0)]
    assert {row['address'] for row in made.show('show address')} == {'10.0.2.1/24', '10.0.3.1/24'}
    assert any(row['mac'] == '02:00:00:00:02:09' for row in made.show('show neighbour'))
    routes = {row['prefix']: row for row in made.show('show route')}
    assert routes['10.1.0.0/16']['via'].split() == ['10.0.2.9']
    assert routes['10.2.0.0/16']['via'].split() == ['10.0.2.9', '10.0.3.9']
    assert routes['10.3.0.0/16']['action'] == 'blackhole'
    assert routes['0.0.0.0/0']['via'].split() == ['10.0.3.9']
    assert {'10.0.2.0/24', '10.0.3.0/24'} <= set(routes), 'connected'


def test_del_undoes_each_add(millrace):
    made = millrace('')
    before = shown(made)
    lines = [line.split('#')[0].strip() for line in CONFIG.splitlines()]
    adds = [line for line in lines if line]
    made.do(*adds)
    assert shown(made) != before
    for line in reversed(adds):
        words = line.replace(' add ', ' del ', 1).split()
        if words[0] == 'route':
            words = words[:3]
        elif words[0] == 'neighbour':
            words = words[:3] + words[5:]
        elif words[0] == 'bridge' and words[1] == 'del':
            words = words[:3]
        made.do(' '.join(words))
        with pytest.raises(Refused):
            made.do(' '.join(words))
    assert shown(made) == before
