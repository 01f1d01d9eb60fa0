# SPDX-License-Identifier: BSD-3-Clause
"""What devices do and do not: MTU, tags of two kinds, an output that takes nothing."""
import os
import signal

import pytest

import media
from rig import Refused, af_packet, wait_for
from scapy.layers.l2 import Ether

BRIDGE = 'bridge add br0\nbridge member add br0 port 0\nbridge member add br0 port 1\n'
BROADCAST = 'ff:ff:ff:ff:ff:ff'


def port(millrace, number):
    return next(row for row in millrace.show('show port info all') if row['port'] == number)


def test_mtu_that_the_device_cannot_do(rig):
    rig.hosts(None, None)
    millrace = rig.millrace(af_packet('p0', 'p1'), config=BRIDGE)
    before = port(millrace, 0)['mtu']
    with pytest.raises(Refused, match=r'port 0.*9000.*\d+'):
        millrace.do('port config mtu 0 9000')
    assert port(millrace, 0)['mtu'] == before


def test_larger_than_the_mtu_is_dropped_not_shortened(rig):
    hosts = rig.hosts(None, None)
    millrace = rig.millrace(af_packet('p0', 'p1'), config=BRIDGE)
    wires = [rig.wire(host) for host in hosts]
    millrace.do('port config mtu 1 1000')
    header = bytes(Ether(src='02:00:00:00:00:aa', dst=BROADCAST, type=0x88b5))
    fits, too_big, last = [header + bytes([n]) * size for n, size in enumerate((1000, 1001, 46))]
    wires[0].send(fits, too_big, last)
    assert wires[1].receive_until(last) == [fits]
    assert millrace.drops() == {'mtu_exceeded': 1}


@pytest.mark.parametrize('tags', ('88a800078100000a', '88a8000781000008', '8100000781000007',
                                  '88a8000081000007', '88a80007', '8100e00a'))
def test_tags_cross_a_bridge_unchanged(rig, tags):
    hosts = rig.hosts(None, None)
    media.appliance(rig, 'tap', hosts, config=BRIDGE)
    wires = [rig.wire(host) for host in hosts]
    frame = bytes.fromhex('ffffffffffff0200000000aa' + tags + '88b5') + b'tagged' * 10

    def crosses():
        wires[0].send(frame)
        return wires[1].receive_until(frame, 0.2) is not None

    wait_for(crosses)


def test_output_that_takes_nothing_starves_no_other(rig):
    """A virtio port whose other end sleeps drops under a name; the rest goes on, and so does the
    port when its other end wakes up."""
    hosts = rig.hosts('10.0.1.1/24', '10.0.1.2/24', '10.0.1.3/24')
    path = os.path.join(rig.directory, 'v2')
    reader, wait = media.carrier(rig, (f'net_vhost0,iface={path}', 2, hosts[2]))
    wait_for(lambda: os.path.exists(path), 30)
    millrace = rig.millrace([*af_packet('p0', 'p1'), f'net_virtio_user0,path={path}'],
                            config=BRIDGE + 'bridge member add br0 port 2\n',
                            eal=['--single-file-segments'])
    wait()
    for host in hosts[1:]:
        wait_for(lambda host=host: hosts[0].ping(host.address, 1))
    wire, asleep = rig.wire(hosts[0]), bytes.fromhex(hosts[2].mac().replace(':', ''))
    reader.send_signal(signal.SIGSTOP)
    frame = asleep + bytes.fromhex('0200000000aa88b5') + bytes(500)

    def full():
        wire.send(*[frame] * 100)
        return millrace.drops().get('tx_full', 0) > 1000

    wait_for(full, 20)
    assert hosts[0].ping('10.0.1.2', 100) == 100
    assert millrace.show('show port info 0')['pool_free'] > 0
    reader.send_signal(signal.SIGCONT)
    wait_for(lambda: hosts[0].ping('10.0.1.3', 1), what='the port is used again')
