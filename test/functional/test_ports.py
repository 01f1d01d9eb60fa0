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
    free = millrace.show('show port info 2')['pool_free']
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
    info = millrace.show('show port info 2')
    # A virtio port gives sent buffers back when it sends more.
    wait_for(lambda: millrace.show('show port info 2')['pool_free'] >= free - info['txd'],
             what='the buffers are back')


def test_output_without_link_costs_no_other(rig):
    hosts = rig.hosts('10.0.1.1/24', '10.0.1.2/24', None)
    millrace = rig.millrace(af_packet('p0', 'p1', 'p2'),
                            config=BRIDGE + 'bridge member add br0 port 2\n'
                            'station add br0 02:00:00:00:00:cc port 2\n')
    wire = rig.wire(hosts[0])
    hosts[2].ip('link', 'set', 'eth0', 'down')
    wait_for(lambda: port(millrace, 2)['link'] == 'down')
    wire.send(*[bytes.fromhex('0200000000cc0200000000aa88b5') + bytes(46)] * 200)
    assert hosts[0].ping('10.0.1.2', 100) == 100
    wait_for(lambda: millrace.drops().get('link_down') == 200)
    dropped = {n: millrace.show(f'show port stats {n}')['dropped'] for n in (0, 1, 2)}
    assert dropped == {0: {}, 1: {}, 2: {'link_down': 200}}, 'on the port that dropped them'


@pytest.mark.parametrize('medium', ('af_packet', 'tap'))
def test_larger_than_the_buffers(rig, medium):
    """Frames whose sender has a larger MTU arrive whole or are counted, never shortened."""
    hosts = rig.hosts(None, None)
    for number, host in enumerate(hosts):
        host.ip('link', 'set', 'eth0', 'mtu', '9216')
        rig.box.ip('link', 'set', f'p{number}', 'mtu', '9216')
    millrace = media.appliance(rig, medium, hosts, config=BRIDGE)
    if medium == 'tap':
        for interface in ('br0', 'br1', 'tap0', 'tap1'):
            rig.box.ip('link', 'set', interface, 'mtu', '9216')
    for number in (0, 1):
        try:
            millrace.do(f'port config mtu {number} 9000')
        except Refused as refused:
            assert f'port {number}' in str(refused) and '9000' in str(refused)
            allowed = millrace.show(f'show port info {number}')['max_mtu']
            assert str(allowed) in str(refused), 'names what is allowed'
    wires = [rig.wire(host) for host in hosts]
    header = bytes(Ether(src='02:00:00:00:00:aa', dst=BROADCAST, type=0x88b5))
    last = header + b'last' * 20
    wait_for(lambda: (wires[0].send(last), wires[1].receive_until(last, 0.2) is not None)[1])
    wires[1].drain()
    dropped = sum(millrace.drops().values())
    sent = [header + bytes([n]) * (size - 14) for n, size in enumerate((1000, 2002, 2003, 2048, 4000,
                                                                      9000))]
    wires[0].send(*sent, last + b'!')
    arrived = wires[1].receive_until(last + b'!')
    assert arrived is not None and set(arrived) - {last} <= set(sent)
    assert sent[0] in arrived
    missing = len(sent) - len(set(arrived) - {last})
    device = millrace.show('show port stats 0')
    lost = sum(millrace.drops().values()) - dropped + device['rx_errors'] + device['rx_missed']
    assert lost >= missing, (millrace.drops(), device)


def test_mtu_of_one_port_only(rig):
    """The output port's MTU counts, and the drop is that port's."""
    hosts = rig.hosts(None, None, None)
    millrace = rig.millrace(af_packet('p0', 'p1', 'p2'), config=BRIDGE + 'bridge member add br0 port 2\n')
    millrace.do('port config mtu 1 600')
    wires = [rig.wire(host) for host in hosts]
    header = bytes(Ether(src='02:00:00:00:00:aa', dst=BROADCAST, type=0x88b5))
    large, last = header + bytes(1000), header + bytes(46)
    wires[0].send(large, last)
    assert wires[1].receive_until(last) == []
    assert wires[2].receive_until(last) == [large]
    assert millrace.show('show port stats 1')['dropped'] == {'mtu_exceeded': 1}
