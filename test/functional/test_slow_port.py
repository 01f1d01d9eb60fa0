# SPDX-License-Identifier: BSD-3-Clause
"""A port that does not drain costs only its own packets, for as long as it lasts. Ports are 0 to 3: what comes
from 0 is for 2, whose vhost-user reader is stopped by a signal; what goes from 1 to 3 must all arrive, and the
buffers that port 2 keeps are bounded. MILLRACE_SLOW_SECONDS=N holds it for so long."""
import os
import signal
import socket
import time

import pytest

from frames import SO_RCVBUFFORCE
from media import carrier
from rig import af_packet, wait_for

SECONDS = float(os.environ.get('MILLRACE_SLOW_SECONDS', 60))
BRIDGE = 'bridge add br0\n' + ''.join(f'bridge member add br0 port {n}\n' for n in range(4))
WINDOW = 32  # datagrams between the good hosts that are on their way at a time
SLOW, FLOOD = 2, 128
TX_RING = 256  # descriptors of the slow port
VECTOR = 64


def start(rig, hosts, *options, **named):
    """The appliance, and the process that reads what leaves its port 2."""
    path = os.path.join(rig.directory, 'slow')
    reader, wait = carrier(rig, (f'net_vhost0,iface={path}', SLOW, hosts[SLOW]))
    wait_for(lambda: os.path.exists(path), 30, 'the vhost socket')
    vdevs = af_packet('p0', 'p1')
    vdevs += [f'net_virtio_user0,path={path},queue_size={TX_RING}', 'net_af_packet3,iface=p3']
    millrace = rig.millrace(vdevs, *options, config=BRIDGE, eal=['--single-file-segments', *named.pop('eal', ())],
                            **named)
    wait()
    return millrace, reader


class GoodPair:
    """Numbered datagrams from one host to another, each of which must arrive, in order."""

    def __init__(self, sender, receiver):
        self.count = 0
        with receiver.inside():
            self.far = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.far.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, 1 << 22)
        self.far.bind((receiver.address, 9))
        self.far.settimeout(5)
        with sender.inside():
            self.near = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.near.connect((receiver.address, 9))

    def exchange(self):
        numbers = range(self.count, self.count + WINDOW)
        for number in numbers:
            self.near.send(number.to_bytes(64, 'big'))
        for number in numbers:
            assert int.from_bytes(self.far.recv(128), 'big') == number
        self.count += WINDOW

    def close(self):
        self.near.close()
        self.far.close()


def dropped(millrace, port):
    return millrace.query(f'/millrace/port/stats,{port}')['dropped']


def pool_free(millrace):
    return millrace.query('/millrace/port/info,0')['pool_free']


def hold(rig, millrace, reader, hosts, seconds, may_hold):
    """Floods the port whose reader stands still; returns what was dropped there."""
    for number, host in enumerate(hosts):
        other = hosts[number ^ 2]
        wait_for(lambda a=host, b=other: a.ping(b.address, 1) == 1)
    wire = rig.wire(hosts[0])
    flood = [bytes.fromhex(f'{hosts[SLOW].mac()}{hosts[0].mac()}'.replace(':', '')) + b'\x88\xb5' + bytes(46)] * FLOOD
    pair = GoodPair(hosts[1], hosts[3])
    base = pool_free(millrace)
    reader.send_signal(signal.SIGSTOP)
    try:
        least, end, rounds = base, time.monotonic() + seconds, 0
        while time.monotonic() < end:
            wire.send(*flood)
            pair.exchange()
            rounds += 1
            if rounds % 64 == 0:
                least = min(least, pool_free(millrace))
        lost = dropped(millrace, SLOW)
        held = base - pool_free(millrace)
        least = min(least, base - held)
        print(f'{pair.count} datagrams beside {rounds * FLOOD} frames for the slow port; dropped {lost}; '
              f'buffers: {base} free before, {least} at least, {held} held at the end')
    finally:
        reader.send_signal(signal.SIGCONT)
        pair.close()
    for port in (0, 1, 3):
        assert not dropped(millrace, port)
    # Both pairs' packets that are on their way when somebody looks are there too.
    assert base - least <= may_hold + WINDOW + FLOOD
    # A virtio ring keeps sent buffers until it needs their descriptors.
    wait_for(lambda: pool_free(millrace) >= base - TX_RING, what='the pool is back to base')
    assert hosts[0].ping(hosts[SLOW].address, 1) == 1
    millrace.check_conservation()
    return lost


@pytest.fixture
def hosts(rig):
    return rig.hosts(*(f'10.0.1.{n}/24' for n in range(1, 5)))


def test_its_packets_alone_are_dropped(rig, hosts):
    millrace, reader = start(rig, hosts)
    lost = hold(rig, millrace, reader, hosts, SECONDS, TX_RING + VECTOR)
    assert set(lost) == {'tx_full'}
    assert lost['tx_full'] > FLOOD


def test_another_lcore_owns_it(rig, hosts):
    """Both lcores share a CPU and never sleep, so the sender fills the ring before the owner's turn comes."""
    millrace, reader = start(rig, hosts, '--handover-size=64', '--idle=busy', eal=['--lcores', '0@0,1@1,2@1'],
                             cores=None)
    cores = {row['lcore']: row for row in millrace.show('show config cores')['lcores']}
    assert '0/0' in cores[1]['rx_queues'] and f'{SLOW}/0' in cores[2]['tx_queues']
    lost = hold(rig, millrace, reader, hosts, SECONDS / 10, TX_RING + 64 + 2 * VECTOR)
    assert set(lost) == {'tx_full', 'tx_handover_full'}
    assert millrace.query('/millrace/lcore/stats,1')['handed_over'] > 0
