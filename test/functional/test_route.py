# SPDX-License-Identifier: BSD-3-Clause
"""The IPv4 router between kernel hosts."""
import random
import time

import pytest
from scapy.layers.inet import ICMP, IP, UDP
from scapy.layers.l2 import ARP, Ether

import media
from frames import ones_sum
from rig import Refused, Rig, af_packet, wait_for
from traffic import converse

ADDRESSES = ['address add 10.0.0.1/24 port 0', 'address add 10.0.1.1/24 port 1']
HOSTS = [('10.0.0.2/24', '10.0.0.1'), ('10.0.1.2/24', '10.0.1.1')]
BROADCAST = 'ff:ff:ff:ff:ff:ff'


class Router:
    """An appliance that routes between host 0 (10.0.0.2) and host 1 (10.0.1.2), and their wires."""

    def __init__(self, rig):
        self.hosts = rig.hosts(*HOSTS)
        self.millrace = rig.millrace(af_packet('p0', 'p1'), config='\n'.join(ADDRESSES))
        assert wait_for(lambda: self.hosts[0].ping('10.0.1.2', 1), what='the first ping')
        self.wires = [rig.wire(host) for host in self.hosts]
        self.macs = [host.mac() for host in self.hosts]
        self.router = [host.ip('neigh', 'show', f'10.0.{n}.1').split()[4]
                       for n, host in enumerate(self.hosts)]

    def packet(self, *layers, src='10.0.0.2', dst='10.0.1.2', ttl=64, ether=None, **fields):
        """A frame of host 0 to the router."""
        packet = Ether(src=self.macs[0], dst=self.router[0], **(ether or {}))
        packet /= IP(src=src, dst=dst, ttl=ttl, **fields)
        for layer in layers or (UDP(sport=1000, dport=2000) / b'data',):
            packet /= layer
        return bytes(packet)

    def marked(self):
        """Sends a last packet that is forwarded; returns the IPv4 frames that host 1 got before it."""
        mark = random.randbytes(16)
        self.wires[0].send(self.packet(UDP(sport=9, dport=9) / mark))
        before = self.wires[1].receive_until(lambda frame: mark in frame)
        assert before is not None, 'the marker did not arrive'
        return [frame for frame in before if frame[12:14] == b'\x08\x00']

    def icmp(self, kind, code, seconds=2):
        """The next ICMP error of that kind and code that host 0 gets, as scapy sees it."""
        def wanted(frame):
            packet = Ether(frame)
            return ICMP in packet and (packet[ICMP].type, packet[ICMP].code) == (kind, code)

        assert self.wires[0].receive_until(wanted, seconds) is not None, f'no ICMP {kind}/{code}'
        return Ether(self.wires[0].recorded[-1])

    def no_icmp(self):
        """When a later echo request is answered, no ICMP error of the router's came to host 0."""
        self.wires[0].send(self.packet(ICMP(id=7, seq=77), dst='10.0.0.1'))
        before = self.wires[0].receive_until(
            lambda frame: ICMP in Ether(frame) and Ether(frame)[ICMP].id == 7)
        assert before is not None, 'the router does not answer'
        errors = [Ether(frame) for frame in before if ICMP in Ether(frame)]
        assert [error.summary() for error in errors if error[IP].src == '10.0.0.1'] == []

    def no_icmp_beyond(self, limit):
        """At least one and at most so many unreachables came to host 0."""
        errors = len([f for f in self.wires[0].drain() if f[23:24] == b'\x01' and f[34:35] == b'\x03'])
        assert 0 < errors <= limit

    def forwarded(self, frame):
        """The frame as host 1 gets it."""
        self.wires[0].send(frame)
        before = self.marked()
        assert len(before) == 1, [f.hex() for f in before]
        return before[0]

    def dropped(self, frame, reason, icmp=None):
        drops = self.millrace.drops().get(reason, 0)
        self.wires[0].send(frame)
        if icmp:
            self.icmp(*icmp)
        assert [f.hex() for f in self.marked()] == []
        assert self.millrace.drops().get(reason, 0) == drops + 1, self.millrace.drops()


@pytest.fixture
def router(rig):
    return Router(rig)


@pytest.fixture(scope='module')
def shared_router():
    rig = Rig()
    try:
        yield Router(rig)
        rig.finish()
    finally:
        rig.close()


@pytest.fixture
def steady(shared_router):
    """A router that tests share which only send packets."""
    yield shared_router
    shared_router.millrace.check_conservation()


@pytest.mark.parametrize('medium', media.MEDIA)
def test_hosts_talk(rig, medium):
    hosts = rig.hosts(*HOSTS)
    media.appliance(rig, medium, hosts, config='\n'.join(ADDRESSES))
    wait_for(lambda: hosts[0].ping('10.0.1.2', 1) == 1, what='the first ping')
    converse(rig, *hosts)
    assert hosts[0].ping('10.0.0.1') == hosts[0].ping('10.0.1.1') == 3, 'the router answers too'


def test_first_packet_waits_for_the_neighbour(rig):
    hosts = rig.hosts(*HOSTS)
    rig.millrace(af_packet('p0', 'p1'), config='\n'.join(ADDRESSES))
    assert hosts[0].ping('10.0.1.2', 1) == 1


def test_bridge_and_router_at_once(rig):
    hosts = rig.hosts('10.0.9.1/24', '10.0.9.2/24', ('10.0.0.2/24', '10.0.0.1'),
                      ('10.0.1.2/24', '10.0.1.1'))
    rig.millrace(af_packet('p0', 'p1', 'p2', 'p3'), config='''
        # two bridged, two routed
        bridge add br0
        bridge member add br0 port 0
        bridge member add br0 port 1
        address add 10.0.0.1/24 port 2
        address add 10.0.1.1/24 port 3
    ''')
    converse(rig, *hosts[:2], octets=100000)
    converse(rig, *hosts[2:], octets=100000)


def test_header_rewrite(steady):
    """TTL and checksum change, the MACs are the router's and the host's, nothing else differs."""
    sent = steady.packet(UDP(sport=1000, dport=2000) / bytes(range(200)))
    got = steady.forwarded(sent)
    assert got[:12].hex() == (steady.macs[1] + steady.router[1]).replace(':', '')
    assert got[22] == sent[22] - 1
    assert got[14:22] == sent[14:22] and got[23:24] == sent[23:24] and got[26:] == sent[26:]
    assert ones_sum(got[14:34]) == 0xffff


@pytest.mark.parametrize('header, checksum', [
    ('4500002e8eec00004011ff80c000020ac6336414', 0x0081),
    ('4500002e8f6d00004011feffc000020ac6336414', 0x0000)])
def test_checksum_carry(router, header, checksum):
    """RFC 1624: the end-around carry of the incremental update."""
    router.millrace.do('route add 198.51.100.0/24 via 10.0.1.2')
    sent = bytes(Ether(src=router.macs[0], dst=router.router[0], type=0x800))
    sent += bytes.fromhex(header) + bytes(26)
    got = router.forwarded(sent)
    assert got[22] == 0x3f
    assert int.from_bytes(got[24:26], 'big') == checksum


@pytest.mark.parametrize('ttl', (0, 1))
def test_ttl_ends(steady, ttl):
    steady.dropped(steady.packet(ttl=ttl), 'ttl_exceeded', icmp=(11, 0))


@pytest.mark.parametrize('ttl', (2, 255))
def test_ttl_goes_on(steady, ttl):
    assert steady.forwarded(steady.packet(ttl=ttl))[22] == ttl - 1


def test_trailer_is_no_part_of_the_packet(steady):
    """RFC 894: what follows the IP packet in its frame is padding and does not leave."""
    sent = steady.packet(UDP(sport=1, dport=2))
    got = steady.forwarded(sent + b'\xaa' * 18)
    assert b'\xaa' not in got[42:]
    assert len(got) >= 42


@pytest.mark.parametrize('mac', (BROADCAST, '01:00:5e:00:00:05'))
@pytest.mark.parametrize('ttl', (64, 1))
def test_link_layer_broadcast_is_not_routed(steady, mac, ttl):
    """RFC 1812 5.3.4, 4.3.2.7: dropped without a word."""
    frame = bytearray(steady.packet(dst='10.0.1.9', ttl=ttl))
    frame[:6] = bytes.fromhex(mac.replace(':', ''))
    steady.dropped(bytes(frame), 'link_multicast')
    steady.no_icmp()


def test_frame_for_another_host_is_not_routed(steady):
    frame = bytearray(steady.packet())
    frame[:6] = bytes.fromhex('020000000099')
    steady.dropped(bytes(frame), 'other_host')


@pytest.mark.parametrize('change, reason', [
    ({'version': 5}, 'ip_version'), ({'ihl': 4}, 'ip_header'), ({'len': 19}, 'ip_header'),
    ({'len': 1400}, 'truncated'), ({'chksum': 0x1234}, 'ip_checksum'),
    ({'src': '127.0.0.1'}, 'ip_source'), ({'src': '224.0.0.1'}, 'ip_source'),
    ({'src': '255.255.255.255'}, 'ip_source'), ({'dst': '127.0.0.1'}, 'ip_destination'),
    ({'dst': '224.0.0.9'}, 'ip_multicast'), ({'dst': '240.0.0.1'}, 'ip_destination'),
    ({'dst': '10.0.1.255'}, 'directed_broadcast')], ids=str)
def test_header_checks(steady, change, reason):
    """RFC 1812 5.2.2: silently dropped."""
    steady.dropped(steady.packet(**change), reason)
    steady.no_icmp()


def test_no_route(steady):
    steady.dropped(steady.packet(dst='203.0.113.1'), 'no_route', icmp=(3, 0))


def test_blackhole_is_silent(router):
    router.millrace.do('route add 203.0.113.0/24 blackhole')
    router.dropped(router.packet(dst='203.0.113.1'), 'blackhole')
    router.no_icmp()


@pytest.mark.parametrize('fields', [
    {'frag': 10}, {'src': '0.0.0.0'}, {'src': '10.0.0.255'}], ids=str)
def test_no_icmp_error_about(steady, fields):
    """RFC 1812 4.3.2.7."""
    steady.wires[0].send(steady.packet(dst='203.0.113.1', **fields))
    steady.no_icmp()


def test_no_icmp_error_about_an_icmp_error(steady):
    inner = IP(src='203.0.113.1', dst='10.0.0.2') / UDP() / b'x'
    steady.wires[0].send(steady.packet(ICMP(type=3, code=1) / inner, dst='203.0.113.1', ttl=1))
    steady.no_icmp()
    steady.wires[0].send(steady.packet(ICMP(), dst='10.0.1.2', ttl=1))
    steady.icmp(11, 0)


def test_icmp_errors_are_limited(router):
    """100 at once and 200 a second on each port."""
    start = time.monotonic()

    def dropped():
        router.wires[0].send(*[router.packet(dst='203.0.113.1') for _ in range(200)])
        return router.millrace.drops().get('no_route', 0) >= 1000

    wait_for(dropped, 20)
    router.no_icmp_beyond(100 + 200 * (time.monotonic() - start))


def test_longest_prefix_and_what_it_covers(router, rig):
    """Deleting a route brings the covering one back; without any, the net is unreachable."""
    router.millrace.do('route add 10.10.0.0/16 via 10.0.1.2', 'route add 10.10.128.0/24 blackhole')
    packet = router.packet(dst='10.10.128.1')
    router.dropped(packet, 'blackhole')
    router.millrace.do('route del 10.10.128.0/24')
    router.forwarded(packet)
    router.millrace.do('route del 10.10.0.0/16')
    router.dropped(packet, 'no_route', icmp=(3, 0))


def test_too_big_for_the_way_out(router):
    router.millrace.do('port config mtu 1 600')
    packet = router.packet(UDP(sport=1, dport=2) / bytes(1000), flags='DF')
    router.wires[0].send(packet)
    answer = router.icmp(3, 4)
    assert answer[ICMP].nexthopmtu == 600


def test_fragments_for_the_way_out(router):
    router.millrace.do('port config mtu 1 600')
    data = random.randbytes(1400)
    router.wires[0].send(router.packet(UDP(sport=1, dport=2) / data, id=99))
    # They are made aside from the packet path: a later packet may overtake them.
    wait_for(lambda: len([f for f in router.wires[1].drain() if f[18:20] == b'\0\x63']) >= 3)
    pieces = [Ether(f)[IP] for f in router.wires[1].recorded if f[18:20] == b'\0\x63']
    assert len(pieces) == 3 and all(len(piece) <= 600 for piece in pieces)
    whole = bytearray(1408)
    for piece in pieces:
        payload = bytes(piece.payload)[:piece.len - 20]
        whole[piece.frag * 8:piece.frag * 8 + len(payload)] = payload
        assert piece.ttl == 63 and piece.id == 99
    assert whole[8:] == data


def test_arp_is_not_poisoned(steady):
    """Senders that cannot be there are not learned."""
    def arp(**fields):
        return bytes(Ether(src=fields.pop('ether_src', steady.macs[0]), dst=BROADCAST) /
                     ARP(**{'op': 1, 'hwsrc': steady.macs[0], 'pdst': '10.0.0.1', **fields})).ljust(60, b'\0')

    before = {row['address']: row['mac'] for row in steady.millrace.show('show neighbour')}
    steady.wires[0].send(
        arp(psrc='10.0.1.9'), arp(psrc='10.0.1.2'), arp(psrc='10.0.0.1'),
        arp(psrc='10.0.0.7', hwsrc='01:00:5e:00:00:01'), arp(psrc='10.0.0.8', hwsrc=BROADCAST),
        arp(psrc='10.0.0.9', hwsrc='02:00:00:00:00:99'))
    steady.no_icmp()
    assert {row['address']: row['mac'] for row in steady.millrace.show('show neighbour')} == before


def test_neighbour_that_dies_and_comes_back(router):
    router.millrace.do('route add 203.0.113.0/24 via 10.0.1.3')
    router.wires[0].send(router.packet(dst='203.0.113.1'))
    router.icmp(3, 1, seconds=15)
    assert any(row['prefix'] == '203.0.113.0/24' for row in router.millrace.show('show route'))
    router.hosts[1].ip('address', 'add', '10.0.1.3/24', 'dev', 'eth0')
    router.hosts[1].ip('address', 'add', '203.0.113.1/32', 'dev', 'lo')
    wait_for(lambda: router.hosts[0].ping('203.0.113.1', 1) == 1, 20)


def test_static_neighbour(router):
    router.millrace.do('neighbour add 10.0.1.77 mac 02:00:00:00:01:77 port 1')
    got = router.forwarded(router.packet(dst='10.0.1.77'))
    assert got[:6].hex() == '020000000177'


def test_several_next_hops_keep_a_flow_together(router):
    for n in (50, 51):
        router.millrace.do(f'neighbour add 10.0.1.{n} mac 02:00:00:00:01:{n} port 1')
    router.millrace.do('route add 198.51.100.0/24 via 10.0.1.50 10.0.1.51')
    flows = [UDP(sport=sport, dport=53) / b'flow' for sport in range(1000, 1064)]
    for _ in range(2):
        router.wires[0].send(*[router.packet(flow, dst='198.51.100.1') for flow in flows])
    ways = {}
    for frame in router.marked():
        ways.setdefault(frame[34:36], []).append(frame[5])
    assert all(len(set(way)) == 1 and len(way) == 2 for way in ways.values())
    assert {way[0] for way in ways.values()} == {0x50, 0x51}


def test_bursts_of_mixed_packets(steady):
    """Bursts of 1 to 65 packets that part ways: each ends as it should, in order."""
    for count in range(1, 66):
        good, burst = [], []
        for n in range(count):
            data = b'%d/%d' % (count, n)
            kind = n % 4
            packet = steady.packet(UDP(sport=5, dport=6) / data, ttl=64 if kind != 1 else 2,
                                   dst='10.0.1.2' if kind != 2 else '240.0.0.1')
            if kind == 3:
                packet = packet[:24] + b'\0\0' + packet[26:]
            burst.append(packet)
            if kind < 2:
                good.append(data)
        steady.wires[0].send(*burst)
        assert [f[42:42 + len(d)] for f, d in zip(steady.marked(), good, strict=True)] == good


REFUSED = [
    'address add 10.0.0.1/24 port 0', 'address add 10.0.9.1/24 port 9', 'address add 10.0.9.1/33 port 0',
    'address add 10.0.9/24 port 0', 'address del 10.9.9.9/24 port 0', 'route add 20.0.1.0/33 via 10.0.1.2',
    'route add 20.0.1/24 via 10.0.1.2', 'route del 20.0.0.0/8', 'route add 20.0.0.0/8 via',
    'route add ::ffff:1.2.3.4/96 via 10.0.1.2', 'neighbour add 10.0.1.3 mac ff:ff:ff:ff:ff:ff port 1',
    'neighbour del 10.0.1.99 port 1', 'neighbour add 10.0.1.3 mac 02:00:00:00:00 port 1']


def test_refused_commands_change_nothing(rig):
    rig.hosts(*HOSTS)
    millrace = rig.millrace(af_packet('p0', 'p1'), config='\n'.join(ADDRESSES))
    before = [millrace.show(f'show {what}') for what in ('address', 'route', 'neighbour')]
    for line in REFUSED:
        with pytest.raises(Refused):
            millrace.do(line)
        after = [millrace.show(f'show {what}') for what in ('address', 'route', 'neighbour')]
        assert after == before, line


def test_prefix_is_canonical(rig):
    rig.hosts(*HOSTS)
    millrace = rig.millrace(af_packet('p0', 'p1'), config='\n'.join(ADDRESSES))

    def prefixes():
        return {row['prefix'] for row in millrace.show('show route')}

    for text in ('20.0.1.1/24', '20.0.1.0/24'):
        millrace.do('route add 20.0.1.1/24 via 10.0.1.2')
        assert '20.0.1.0/24' in prefixes()
        millrace.do(f'route del {text}')
        assert '20.0.1.0/24' not in prefixes()
    millrace.do('route add 0.0.0.0/0 via 10.0.1.2')
    assert '0.0.0.0/0' in prefixes()
