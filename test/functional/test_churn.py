# SPDX-License-Identifier: BSD-3-Clause
"""Tables that change and are listed while packets follow them."""
import threading
import time

from scapy.layers.inet import IP, UDP
from scapy.layers.l2 import Ether

from rig import af_packet, wait_for

SECONDS = 10
ROUTES = 1000
CONFIG = '''
address add 10.0.0.1/24 port 0
address add 10.0.1.1/24 port 1
neighbour add 10.0.1.50 mac 02:00:00:00:01:50 port 1
neighbour add 10.0.1.51 mac 02:00:00:00:01:51 port 1
route add 10.64.0.0/10 via 10.0.1.50
'''


def prefix(number):
    return f'10.{64 + number // 256}.{number % 256}.0/24'


class Loops:
    """Functions that are called again and again, each on a thread of its own, until the end."""

    def __init__(self, *functions):
        self.ending = threading.Event()
        self.rounds = {function.__name__: 0 for function in functions}
        self.errors = []
        self.threads = [threading.Thread(target=self._run, args=(function,)) for function in functions]

    def _run(self, function):
        while not self.ending.is_set():
            try:
                function()
            except Exception as error:  # pylint: disable=broad-except
                self.errors.append(error)
                return
            self.rounds[function.__name__] += 1

    def __enter__(self):
        for thread in self.threads:
            thread.start()
        return self

    def __exit__(self, *_):
        self.ending.set()
        for thread in self.threads:
            thread.join()


def run_file(millrace, lines):
    done = millrace.client('-f', '-', text='\n'.join(lines) + '\n')
    assert done.returncode == 0, done.stderr


def test_routes_under_traffic(rig):
    """1000 routes come and go, all of them are listed, and each packet goes to the next hop before
    the change or to the one after."""
    hosts = rig.hosts(('10.0.0.2/24', '10.0.0.1'), ('10.0.1.2/24', '10.0.1.1'))
    millrace = rig.millrace(af_packet('p0', 'p1'), config=CONFIG)
    wait_for(lambda: hosts[0].ping('10.0.1.2', 1) == 1)
    router = hosts[0].ip('neigh', 'show', '10.0.0.1').split()[4]
    before = millrace.query('/millrace/route/summary')
    adds = [f'route add {prefix(n)} via 10.0.1.51' for n in range(ROUTES)]
    dels = [f'route del {prefix(n)}' for n in range(ROUTES)]

    def change():
        run_file(millrace, adds)
        run_file(millrace, dels)

    def dump():
        assert len(millrace.show('show route')) >= 1
        at = ''
        while at is not None:
            page = millrace.query(f'/millrace/route/list{at}')
            at = f",{page['next']}" if page['next'] else None

    wires = [rig.wire(host) for host in hosts]
    base = bytes(Ether(src=hosts[0].mac(), dst=router) / IP(src='10.0.0.2', dst='10.64.0.1') /
                 UDP(sport=1, dport=2, chksum=0) / bytes(18))
    ways, sent = {}, 0
    with Loops(change, dump) as loops:
        deadline = time.monotonic() + SECONDS
        while time.monotonic() < deadline:
            burst = [packet_to(base, sent + n) for n in range(32)]
            sent += len(burst)
            wires[0].send(*burst)
            # The kernel of host 1 answers nothing to other MACs than its own.
            arrived = wires[1].receive_until(lambda frame, end=burst[-1][-8:]: frame[-8:] == end)
            assert arrived is not None, f'lost: {millrace.drops()}'
            assert len([f for f in arrived if f[12:14] == b'\x08\x00']) == 31
            for frame in arrived:
                ways[frame[:6].hex()] = ways.get(frame[:6].hex(), 0) + 1
            wires[1].recorded.clear()
    assert not loops.errors, loops.errors
    assert min(loops.rounds.values()) >= 2, loops.rounds
    assert {'020000000150', '020000000151'} <= set(ways)
    assert set(ways) <= {'020000000150', '020000000151', 'ffffffffffff', '020000000101'}, ways
    after = millrace.query('/millrace/route/summary')
    assert {name: after[name] for name in ('static', 'next_hops', 'neighbours')} == \
        {name: before[name] for name in ('static', 'next_hops', 'neighbours')}
    wait_for(lambda: millrace.query('/millrace/rcu')['pending'] == 0, what='all is freed')


def packet_to(base, number):
    """The packet with the number'th destination, its number at the end and a right checksum."""
    packet = bytearray(base)
    host = number % ROUTES
    packet[30:34] = bytes([10, 64 + host // 256, host % 256, 1])
    packet[24:26] = b'\0\0'
    total = sum(int.from_bytes(packet[n:n + 2], 'big') for n in range(14, 34, 2))
    while total >> 16:
        total = (total & 0xffff) + (total >> 16)
    packet[24:26] = (total ^ 0xffff).to_bytes(2, 'big')
    packet[-8:] = number.to_bytes(8, 'big')
    return bytes(packet)


def test_stations_under_traffic(rig):
    """Stations come and go, and are flushed and listed; no frame between two hosts is lost."""
    hosts = rig.hosts('10.0.1.1/24', '10.0.1.2/24', None)
    millrace = rig.millrace(af_packet('p0', 'p1', 'p2'))
    wait_for(lambda: hosts[0].ping('10.0.1.2', 1) == 1)
    macs = [f'02:00:00:01:{n // 256:02x}:{n % 256:02x}' for n in range(500)]

    def change():
        run_file(millrace, [f'station add default {mac} port {n % 3}' for n, mac in enumerate(macs)])
        run_file(millrace, ['station flush default'])
        run_file(millrace, [f'station del default {mac}' for mac in macs])

    def dump():
        millrace.show('show station')

    with Loops(change, dump) as loops:
        assert hosts[0].ping('10.0.1.2', 200, '-i', '0.01') == 200
    assert not loops.errors, loops.errors
    assert min(loops.rounds.values()) >= 1, loops.rounds
    assert not set(macs) & {row['mac'] for row in millrace.show('show station')}
