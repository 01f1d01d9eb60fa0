# SPDX-License-Identifier: BSD-3-Clause
"""Ports that come and go while two others forward, and devices that disappear."""
import contextlib
import os
import subprocess
import threading
import time

import pytest

import media
from rig import Refused, af_packet, wait_for

BRIDGE = 'bridge add br0\nbridge member add br0 port 0\nbridge member add br0 port 1\n'
TIMES = 20


@pytest.fixture(name='lcores', params=[['-l', '0,1'], ['--lcores', '0@0,1@1,2@0,3@1']],
                ids=['one lcore', 'three lcores'])
def fixture_lcores(request):
    return request.param


def number_of_ports(millrace):
    return len(millrace.show('show port info all'))


def port(millrace, name):
    return next((row for row in millrace.show('show port info all') if row['name'] == name), None)


def wait_until_up(millrace, name):
    wait_for(lambda: port(millrace, name)['link'] == 'up', what=f'{name} has link')
    return port(millrace, name)['port']


def wait_until_closed(millrace):
    wait_for(lambda: millrace.query('/millrace/port/hotplug')['closing'] == 0, 20, 'it is closed')


@contextlib.contextmanager
def lossless(source, sink):
    """Frames from wire to wire all the while: none is lost and their order stays."""
    header = bytes.fromhex('0200000001bb0200000000aa88b5')
    stop, sent = threading.Event(), []

    def send():
        while not stop.is_set():
            for _ in range(8):
                sent.append(header + len(sent).to_bytes(4, 'big') + bytes(46))
                source.send(sent[-1])
            time.sleep(0.004)

    def is_ours(data):
        return data[:14] == header

    sink.drain()
    sink.recorded.clear()
    thread = threading.Thread(target=send)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()
    wait_for(lambda: len([f for f in sink.drain() if is_ours(f)]) >= len(sent), 5,
             'all frames arrive')
    assert [f for f in sink.recorded if is_ours(f)] == sent


def two_and_a_third(rig, *options, lcores=('-l', '0,1')):
    """Two bridged hosts, learned, with a third whose port is not the appliance's yet."""
    hosts = rig.hosts('10.0.1.1/24', '10.0.1.2/24', '10.0.1.3/24')
    millrace = rig.millrace(af_packet('p0', 'p1'), *options, config=BRIDGE
                            + 'station add br0 02:00:00:00:01:bb port 1\n', eal=lcores, cores=None)
    wires = [rig.wire(host) for host in hosts[:2]]
    wait_for(lambda: hosts[0].ping('10.0.1.2', 1))
    return millrace, hosts, wires


def test_another_port_again_and_again(rig, lcores):
    millrace, hosts, wires = two_and_a_third(rig, lcores=lcores)
    with lossless(*wires):
        for _ in range(TIMES):
            millrace.do('port add net_af_packet2,iface=p2', 'bridge member add br0 port 2')
            wait_until_up(millrace, 'net_af_packet2')
            assert hosts[2].ping('10.0.1.1', 1) == 1
            stats = millrace.show('show port stats 2')
            assert 1 <= stats['rx_packets'] < 20, 'counts from its own start'
            millrace.do('port remove 2')
            assert number_of_ports(millrace) == 2
    assert hosts[2].ping('10.0.1.1', 1, '-W', '1') == 0
    state = millrace.query('/millrace/port/hotplug')
    assert (state['added'], state['removed'], state['unplugged']) == (TIMES, TIMES, 0)
    wait_for(lambda: millrace.query('/millrace/port/hotplug')['pools_waiting'] == 0)


def test_routed_port_goes_and_comes(rig):
    hosts = [rig.host(n, f'10.0.{n + 1}.2/24', f'10.0.{n + 1}.1') for n in range(3)]
    config = 'port add net_af_packet2,iface=p2\n' + ''.join(
        f'address add 10.0.{n + 1}.1/24 port {n}\n' for n in range(3))
    millrace = rig.millrace(af_packet('p0', 'p1'), config=config)
    assert 'port add net_af_packet2,iface=p2' in millrace.do('show config devices')
    wait_until_up(millrace, 'net_af_packet2')
    assert hosts[0].ping('10.0.3.2', 3) == 3
    millrace.do('port remove 2')
    assert not [row for row in millrace.show('show route') if row['prefix'].startswith('10.0.3.')]
    assert hosts[0].ping('10.0.2.2', 3) == 3
    millrace.do('port add net_af_packet2,iface=p2', 'address add 10.0.3.1/24 port 2')
    wait_until_up(millrace, 'net_af_packet2')
    assert hosts[0].ping('10.0.3.2', 3) == 3
    # One that was there at the start is no different.
    millrace.do('port remove 0')
    assert millrace.do('show config devices').split('\n')[0] == 'port remove 0'
    assert millrace.do('port attach net_af_packet0,iface=p0').split()[1] == '0'
    millrace.do('address add 10.0.1.1/24 port 0')
    wait_until_up(millrace, 'net_af_packet0')
    assert hosts[0].ping('10.0.3.2', 3) == 3


def test_interface_deleted_under_traffic(rig, lcores):
    millrace, hosts, wires = two_and_a_third(rig, lcores=lcores)
    millrace.do('port add net_af_packet2,iface=p2', 'bridge member add br0 port 2',
                'station add br0 02:00:00:00:0c:cc port 2', 'port config mtu 2 1400')
    wait_until_up(millrace, 'net_af_packet2')
    flood = rig.popen(hosts[2], ['ping', '-n', '-q', '-f', '-l', '4', '10.0.1.1'],
                      stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    wait_for(lambda: millrace.show('show port stats 2')['rx_packets'] > 200)
    with lossless(*wires):
        rig.box.ip('link', 'del', 'p2')
        wait_for(lambda: number_of_ports(millrace) == 2, 2, 'the loss is noticed')
        time.sleep(0.5)
    flood.kill()
    flood.wait()
    assert millrace.log().count('its device is gone') == 1
    state = millrace.query('/millrace/port/hotplug')
    assert state['unplugged'] == 1 and state['kept'] == ['net_af_packet2']

    wait_until_closed(millrace)
    # A new interface of that name, and the port is what it was.
    rig.box.ip('link', 'add', 'p2', 'type', 'veth', 'peer', 'name', 'eth0', 'netns', hosts[2].name,
               'index', '1000')
    hosts[2].ip('link', 'set', 'eth0', 'address', '02:00:00:00:02:01', 'up')
    rig.box.ip('link', 'set', 'p2', 'up')
    hosts[2].offload(gso='off', tso='off', gro='off', **{'tx-udp-segmentation': 'off'})
    hosts[2].configure('10.0.1.3/24')
    with lossless(*wires):
        millrace.do('port add net_af_packet2,iface=p2')
        wait_until_up(millrace, 'net_af_packet2')
    assert port(millrace, 'net_af_packet2')['mtu'] == 1400
    assert [row['mac'] for row in millrace.show('show station port 2') if row['static']] \
        == ['02:00:00:00:0c:cc']
    wait_for(lambda: hosts[2].ping('10.0.1.2', 1))
    assert millrace.query('/millrace/port/hotplug')['kept'] == []


def test_tap_deleted(rig):
    millrace, hosts, wires = two_and_a_third(rig)
    for _ in range(3):
        with lossless(*wires):
            millrace.do('port add net_tap0,iface=tap0', 'bridge member add br0 port 2')
            rig.box.ip('link', 'set', 'tap0', 'address', '06:00:00:00:00:01')
            rig.box.ip('address', 'add', '10.0.1.9/24', 'dev', 'tap0')
            wait_until_up(millrace, 'net_tap0')
            wait_for(lambda: hosts[0].ping('10.0.1.9', 1))
            rig.box.ip('link', 'del', 'tap0')
            wait_for(lambda: number_of_ports(millrace) == 2, 2, 'the loss is noticed')
        wait_until_closed(millrace)
        millrace.do('port add net_tap0,iface=tap0')
        assert millrace.show('show bridge br0')[0]['ports'] == [0, 1, 2], 'a member again'
        millrace.do('port remove 2')


def test_tap_that_moves_is_still_there(rig):
    """To another namespace and back, or out of a kernel bridge: neither is the end of it."""
    millrace, hosts, _ = two_and_a_third(rig)
    millrace.do('port add net_tap0,iface=tap0', 'bridge member add br0 port 2')
    rig.box.ip('link', 'add', 'kbr', 'type', 'bridge')
    rig.box.ip('link', 'set', 'tap0', 'master', 'kbr')
    rig.box.ip('link', 'set', 'tap0', 'nomaster')
    guest = rig.namespace('guest')
    rig.box.ip('link', 'set', 'tap0', 'netns', guest.name)
    assert hosts[0].ping('10.0.1.2', 10) == 10
    guest.ip('link', 'set', 'tap0', 'netns', rig.box.name)
    rig.box.ip('link', 'set', 'tap0', 'address', '06:00:00:00:00:01', 'up')
    rig.box.ip('address', 'add', '10.0.1.9/24', 'dev', 'tap0')
    wait_until_up(millrace, 'net_tap0')
    wait_for(lambda: hosts[0].ping('10.0.1.9', 1))
    assert millrace.query('/millrace/port/hotplug')['unplugged'] == 0
    assert number_of_ports(millrace) == 3


def test_virtio_user_and_its_peer(rig):
    """A port to a vhost-user process comes and goes; when that process ends, its link is down."""
    hosts = rig.hosts('10.0.1.1/24', '10.0.1.2/24', '10.0.1.3/24')
    path = os.path.join(rig.directory, 'v2')
    peer, wait = media.carrier(rig, (f'net_vhost0,iface={path}', 2, hosts[2]))
    wait_for(lambda: os.path.exists(path), 30)
    millrace = rig.millrace(af_packet('p0', 'p1'), config=BRIDGE
                            + 'station add br0 02:00:00:00:01:bb port 1\n',
                            eal=['--single-file-segments'])
    wires = [rig.wire(host) for host in hosts[:2]]
    wait()
    wait_for(lambda: hosts[0].ping('10.0.1.2', 1))
    for _ in range(3):
        with lossless(*wires):
            millrace.do(f'port add net_virtio_user0,path={path}', 'bridge member add br0 port 2')
            wait_until_up(millrace, 'net_virtio_user0')
            wait_for(lambda: hosts[0].ping('10.0.1.3', 1))
            millrace.do('port remove 2')
    millrace.do(f'port add net_virtio_user0,path={path}', 'bridge member add br0 port 2')
    wait_until_up(millrace, 'net_virtio_user0')
    with lossless(*wires):
        peer.kill()
        peer.wait()
        wait_for(lambda: port(millrace, 'net_virtio_user0')['link'] == 'down')
        millrace.do('port remove 2')
        os.unlink(path)
        with pytest.raises(Refused, match='net_virtio_user0 does not start'):
            millrace.do(f'port add net_virtio_user0,path={path}')
    assert number_of_ports(millrace) == 2


def test_vhost_whose_peer_comes_and_goes(rig):
    hosts = rig.hosts('10.0.1.1/24', '10.0.1.2/24', '10.0.1.3/24')
    path = os.path.join(rig.directory, 'v2')
    millrace = rig.millrace(af_packet('p0', 'p1'), config=BRIDGE
                            + 'station add br0 02:00:00:00:01:bb port 1\n')
    wires = [rig.wire(host) for host in hosts[:2]]
    wait_for(lambda: hosts[0].ping('10.0.1.2', 1))
    millrace.do(f'port add net_vhost0,iface={path}', 'bridge member add br0 port 2')
    for _ in range(2):
        peer, wait = media.carrier(rig, (f'net_virtio_user0,path={path}', 2, hosts[2]))
        wait()
        wait_until_up(millrace, 'net_vhost0')
        wait_for(lambda: hosts[0].ping('10.0.1.3', 1))
        with lossless(*wires):
            peer.kill()
            peer.wait()
            wait_for(lambda: port(millrace, 'net_vhost0')['link'] == 'down')
    assert millrace.query('/millrace/port/hotplug')['unplugged'] == 0
    millrace.do('port remove 2')
    assert not os.path.exists(path)


@pytest.mark.parametrize('line, said', [
    ('port add nothing', "'nothing' is no device"),
    ('port add net_af_packet7,iface=none7', 'net_af_packet7 does not start'),
    ('port add net_af_packet0,iface=p0', 'net_af_packet0 is port 0 already'),
    ('port add 0000:7f:1f.7', 'there is no device 0000:7f:1f.7'),
    ('port add', 'DEVARGS'),
    ('port remove 2', 'there is no port 2'),
    ('port remove all', 'N takes a port number')])
def test_refused(rig, line, said):
    rig.hosts(None, None)
    millrace = rig.millrace(af_packet('p0', 'p1'))
    with pytest.raises(Refused, match=said):
        millrace.do(line)
    assert number_of_ports(millrace) == 2
    assert millrace.query('/millrace/port/hotplug')['added'] == 0


def test_driver_that_is_started_again(rig):
    """What was refused for want of its interface is added when that is there."""
    rig.hosts(None)
    millrace = rig.millrace(af_packet('p0'))
    with pytest.raises(Refused):
        millrace.do('port add net_af_packet1,iface=p1')
    rig.host(1)
    millrace.do('port add net_af_packet1,iface=p1')
    wait_until_up(millrace, 'net_af_packet1')
    assert not any(row['name'] == 'net_af_packet1' and row['port'] != 1
                   for row in millrace.show('show port info all'))
