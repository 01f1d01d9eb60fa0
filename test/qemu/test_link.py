# SPDX-License-Identifier: BSD-3-Clause
"""Pulled cables. A flap loses what was on the wire and nothing else."""
import statistics
import threading
import time

import pytest
from scapy.layers.inet import UDP

from appliance import wait_for
from ether import burst, frame, mac
from hosts import ADDRESSES, Hosts, address


@pytest.fixture(name='flaps')
def fixture_flaps(request):
    return 20 if request.config.getoption('--thorough') else 4


def link(millrace, port, state):
    wait_for(lambda: millrace.port(port)['link'] == state, 10, f'port {port} is {state}')


def traffic_is_back(rig, source, sink, number):
    """Sends frames every 10 ms until one arrives; returns when."""
    probe = frame(mac(sink), mac(source), b'flap' + number.to_bytes(4, 'big'))

    def arrives():
        rig.wires[source].send(probe)
        return rig.wires[sink].expect(1, 0.01, lambda seen: seen == probe)

    wait_for(arrives, 20, 'traffic is back')
    return time.monotonic()


def test_flaps(rig, flaps):
    """link: 20 flaps without traffic, each seen; traffic within 1 s of link up; stations flushed; no buffer lost"""
    millrace = rig.millrace()
    rig.wait_until_forwarding()
    before = millrace.port(0)['link_changes']
    seconds = []
    for number in range(flaps):
        rig.carry(0, 1, burst(0, 1, 1))
        assert [row['port'] for row in millrace.show(f'show station mac {mac(0)}')] == [0]
        rig.nics[0].set_link(False)
        link(millrace, 0, 'down')
        assert millrace.show(f'show station mac {mac(0)}') == []
        rig.nics[0].set_link(True)
        start = time.monotonic()
        seconds.append(traffic_is_back(rig, 0, 1, number) - start)
        link(millrace, 0, 'up')
        rig.settle()
    print(f'traffic after link up, s: {sorted(round(value, 2) for value in seconds)}')
    assert millrace.port(0)['link_changes'] == before + 2 * flaps
    # The device takes half a second to bring its link up. A busy machine may be late now and then.
    assert statistics.median(seconds) < 1, seconds


@pytest.mark.thorough
def test_flaps_under_traffic(rig, flaps):
    """link: 20 flaps with traffic both ways; nothing untold, no buffer lost"""
    millrace = rig.millrace()
    rig.wait_until_forwarding()
    stop = threading.Event()

    def send(source, sink):
        while not stop.is_set():
            rig.wires[source].send(*burst(source, sink, 16, (60, 200, 1514)))
            rig.wires[sink].take()
            time.sleep(0.005)

    senders = [threading.Thread(target=send, args=ends) for ends in ((0, 1), (1, 0))]
    for sender in senders:
        sender.start()
    try:
        for number in range(flaps):
            port = number % 2
            rig.nics[port].set_link(False)
            link(millrace, port, 'down')
            rig.nics[port].set_link(True)
            link(millrace, port, 'up')
    finally:
        stop.set()
        for sender in senders:
            sender.join()
    rig.wait_until_forwarding()
    assert set(millrace.drops()) <= {'link_down', 'bridge_no_member', 'tx_full', 'no_tx_path'}, millrace.drops()
    rig.carry_both_ways(burst(0, 1, 500), burst(1, 0, 500))


def test_routes(rig):
    """link: a gateway behind a port without link is left out, and used again after"""
    millrace = rig.millrace(config=ADDRESSES)
    hosts = Hosts(rig)
    hosts.meet_all()
    hosts.meet(0, 3)
    millrace.do(f'route add 192.0.2.0/24 via {address(1)} {address(0, 3)}')
    sent = [hosts.packet(0, UDP(sport=n + 1, dport=9), dst='192.0.2.7') for n in range(64)]

    def by_port_1():
        """How many of the packets leave by port 1; the others leave by port 0."""
        rig.settle()
        rig.wires[0].send(*[bytes(packet).ljust(60, b'\0') for packet in sent])
        arrived = [0, 0]

        def all_arrived():
            for port, wire in enumerate(rig.wires):
                arrived[port] += sum(frame[30:34] == bytes((192, 0, 2, 7)) for frame in wire.take())
            return sum(arrived) == len(sent)

        wait_for(all_arrived, 10, f'all packets leave: {arrived}')
        return arrived[1]

    assert 0 < by_port_1() < len(sent)
    for _ in range(3):
        rig.nics[1].set_link(False)
        link(millrace, 1, 'down')
        assert not any(row['mac'] for row in millrace.show('show neighbour port 1'))
        assert by_port_1() == 0
        rig.nics[1].set_link(True)
        link(millrace, 1, 'up')
        hosts.meet(1)
        wait_for(by_port_1, 10, 'the gateway is used again')
