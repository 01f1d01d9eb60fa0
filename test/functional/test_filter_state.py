# SPDX-License-Identifier: BSD-3-Clause
"""Stateful rules between kernel hosts: what the inside began passes both ways, nothing else comes in."""
import errno
import socket

import pytest

from rig import af_packet, wait_for
from traffic import tcp_both_ways, udp_both_ways

RULES = ['default deny', 'add 100 check-state',
         'add 200 allow tcp from 10.0.0.0/24 to any setup keep-state',
         'add 300 allow udp from 10.0.0.0/24 to any keep-state',
         'add 400 allow icmp from 10.0.0.0/24 to any icmptypes 8 keep-state']
# One lcore for both directions, and one for each.
LCORES = {'one': (['--lcores', '0@0,1@1'], []),
          'two': (['--lcores', '0@0,1@0,2@1'], ['port queue 0 0 lcore 1', 'port queue 1 0 lcore 2'])}


@pytest.fixture(params=LCORES)
def firewall(rig, request):
    """An appliance with these rules, and the hosts inside and outside."""
    eal, placement = LCORES[request.param]
    config = ['address add 10.0.0.1/24 port 0', 'address add 10.0.1.1/24 port 1', *placement]
    hosts = rig.hosts(('10.0.0.2/24', '10.0.0.1'), ('10.0.1.2/24', '10.0.1.1'))
    millrace = rig.millrace(af_packet('p0', 'p1'), config='\n'.join(config), eal=eal, cores=None)
    assert wait_for(lambda: hosts[1].ping('10.0.0.2', 1), what='the first ping')
    millrace.do(*(f'filter {rule}' for rule in RULES))
    return millrace, *hosts


def begins(host, other, kind):
    """A socket of a host that wants to send to another one's, which is there."""
    with other.inside():
        far = socket.socket(socket.AF_INET, kind)
    far.bind((other.address, 0))
    if kind == socket.SOCK_STREAM:
        far.listen()
    with host.inside():
        near = socket.socket(socket.AF_INET, kind)
    near.settimeout(1)
    far.settimeout(1)
    return near, far


def test_what_the_inside_begins_is_answered(firewall):
    millrace, inside, outside = firewall
    assert inside.ping('10.0.1.2', 5) == 5
    tcp_both_ways(inside, outside, 8 << 20)
    udp_both_ways(inside, outside)
    assert millrace.drops().get('filter_bad_state', 0) == 0


def test_the_outside_begins_nothing(firewall):
    millrace, inside, outside = firewall
    denied = millrace.drops().get('filter_denied', 0)
    near, far = begins(outside, inside, socket.SOCK_STREAM)
    with near, far, pytest.raises(TimeoutError):
        near.connect(far.getsockname())
    near, far = begins(outside, inside, socket.SOCK_DGRAM)
    with near, far, pytest.raises(TimeoutError):
        near.sendto(b'data', far.getsockname())
        far.recv(100)
    assert outside.ping('10.0.0.2', 1) == 0
    assert millrace.drops()['filter_denied'] >= denied + 3


def test_an_error_about_a_flow_reaches_its_sender(firewall):
    _, inside, _ = firewall
    with inside.inside(), socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as near:
        near.settimeout(5)
        near.connect(('10.0.1.2', 9))  # nobody listens
        near.send(b'data')
        with pytest.raises(OSError) as refused:
            near.recv(100)
    assert refused.value.errno == errno.ECONNREFUSED


def test_flows_are_shown_and_flushed(firewall):
    millrace, inside, outside = firewall
    assert inside.ping('10.0.1.2', 1) == 1
    assert '10.0.1.2' in str(millrace.show('filter state show'))
    millrace.do('filter state flush')
    assert '10.0.1.2' not in str(millrace.show('filter state show'))
    tcp_both_ways(inside, outside, 1 << 20)
