# SPDX-License-Identifier: BSD-3-Clause
"""The learning bridge between kernel hosts."""
import pytest
from scapy.layers.inet import IP, UDP
from scapy.layers.inet6 import IPv6
from scapy.layers.l2 import Dot1Q, Ether

import media
from rig import Refused, af_packet, wait_for
from traffic import converse

BROADCAST = 'ff:ff:ff:ff:ff:ff'
MAC = [f'02:00:00:00:0{number}:aa' for number in range(4)]  # of stations that tests make up
MARKER = bytes(Ether(dst=BROADCAST, src='02:00:00:00:0f:0f', type=0x88b5) / (b'marker' * 10))


def bridge(*ports, name='br0'):
    return [f'bridge add {name}', *[f'bridge member add {name} port {port}' for port in ports]]


def frame(source, destination, text=b'', size=60, **fields):
    made = bytes(Ether(src=source, dst=destination, **{'type': 0x88b5, **fields}) / text)
    return made + bytes(max(0, size - len(made)))


def stations(millrace):
    """Learned and static stations: MAC to what is shown of it."""
    return {row['mac']: row for row in millrace.show('show station')}


@pytest.fixture
def three(rig):
    """A bridge of ports 0 to 2 between hosts without addresses: the appliance and a wire each."""
    hosts = rig.hosts(None, None, None)
    millrace = rig.millrace(af_packet('p0', 'p1', 'p2'), config='\n'.join(bridge(0, 1, 2)))
    return millrace, [rig.wire(host) for host in hosts]


def nothing_before(wires, sender, *receivers):
    """A marker from one wire reaches the others, and nothing came before it."""
    wires[sender].send(MARKER)
    for receiver in receivers:
        assert wires[receiver].receive_until(MARKER) == [], f'port {receiver}'


@pytest.mark.parametrize('medium', media.MEDIA)
def test_hosts_talk(rig, medium):
    hosts = rig.hosts('10.0.1.1/24', '10.0.1.2/24')
    millrace = media.appliance(rig, medium, hosts, config='\n'.join(bridge(0, 1)))
    wait_for(lambda: hosts[0].ping('10.0.1.2', 1) == 1, what='the first ping')
    converse(rig, *hosts)
    assert {hosts[0].mac(), hosts[1].mac()} <= set(stations(millrace))


def test_learning_from_unicast_alone(three):
    """A station is known by the source of any frame: only the first frame to it is flooded."""
    millrace, wires = three
    first = frame(MAC[0], MAC[1], b'first')
    wires[0].send(first)
    for port in (1, 2):
        assert wires[port].receive_until(first) == []
    wait_for(lambda: MAC[0] in stations(millrace))
    answers = [frame(MAC[1], MAC[0], b'answer %d' % n) for n in range(10)]
    wires[1].send(*answers)
    assert wires[0].receive_until(answers[-1]) == answers[:-1]
    nothing_before(wires, 1, 2)


def test_bursts_keep_their_order_and_bytes(three):
    """Bursts of 1 to 65 frames of mixed sizes and kinds cross unchanged and in order."""
    _, wires = three
    kinds = [
        lambda data: Ether() / data,
        lambda data: Ether() / Dot1Q(vlan=10, prio=5) / data,
        lambda data: Ether() / IP(dst='192.0.2.1', ttl=1) / UDP() / data,
        lambda data: Ether() / IPv6(dst='2001:db8::1', hlim=1) / UDP() / data,
    ]
    for count in range(1, 66):
        burst = []
        for n in range(count):
            made = kinds[n % 4](bytes([count, n]) * (9 + (count * 7 + n * 31) % 700))
            made.src, made.dst = MAC[0], MAC[1] if n % 3 else BROADCAST
            burst.append(bytes(made))
        wires[0].send(*burst)
        for port in (1, 2):
            assert wires[port].receive_until(burst[-1]) == burst[:-1], f'burst of {count}, port {port}'


def test_frame_to_its_own_port_ends_there(three):
    millrace, wires = three
    wires[0].send(frame(MAC[0], BROADCAST), frame(MAC[1], BROADCAST))
    wait_for(lambda: {MAC[0], MAC[1]} <= set(stations(millrace)))
    for port in (1, 2):
        wires[port].receive_until(frame(MAC[1], BROADCAST))
    wires[0].send(frame(MAC[0], MAC[1]))
    nothing_before(wires, 0, 1, 2)
    assert millrace.drops() == {'bridge_same_port': 1}


def test_reserved_group_addresses_end_at_the_bridge(three):
    """IEEE 802.1Q 8.6.3: 01:80:c2:00:00:00 to 0f are never forwarded, tagged or not."""
    millrace, wires = three
    reserved = [f'01:80:c2:00:00:{n:02x}' for n in range(16)]
    wires[0].send(*[frame(MAC[0], address) for address in reserved],
                  *[bytes(Ether(src=MAC[0], dst=address) / Dot1Q(vlan=10) / bytes(46))
                    for address in reserved])
    nothing_before(wires, 0, 1, 2)
    assert millrace.drops() == {'bridge_reserved': 32}
    others = [frame(MAC[0], f'01:80:c2:00:00:{n:02x}') for n in (0x10, 0x20, 0x21)]
    wires[0].send(*others)
    for port in (1, 2):
        assert wires[port].receive_until(others[-1]) == others[:-1]


def test_group_source_is_dropped(three):
    millrace, wires = three
    wires[0].send(frame('03:00:00:00:00:01', MAC[1]), frame('00:00:00:00:00:00', MAC[1]))
    nothing_before(wires, 0, 1, 2)
    assert millrace.drops() == {'bridge_bad_source': 2}


def test_station_that_moves_is_followed_at_once(three):
    millrace, wires = three
    wires[1].send(frame(MAC[1], BROADCAST))
    wait_for(lambda: stations(millrace).get(MAC[1], {}).get('port') == 1)
    wires[2].send(frame(MAC[1], BROADCAST, b'moved'))
    assert wires[0].receive_until(frame(MAC[1], BROADCAST, b'moved')) is not None
    wires[1].drain()
    to_it = frame(MAC[0], MAC[1])
    wires[0].send(to_it)
    assert wires[2].receive_until(to_it) is not None
    wires[0].send(MARKER)
    assert to_it not in wires[1].receive_until(MARKER)


def test_flush_keeps_static_stations(three):
    millrace, wires = three
    millrace.do(f'station add br0 {MAC[1]} port 1')
    wires[2].send(frame(MAC[2], BROADCAST))
    wait_for(lambda: MAC[2] in stations(millrace))
    wires[1].receive_until(frame(MAC[2], BROADCAST))
    millrace.do('station flush br0')
    assert set(stations(millrace)) == {MAC[1]}
    to_static = frame(MAC[0], MAC[1])
    wires[0].send(to_static)
    assert wires[1].receive_until(to_static) == []
    nothing_before(wires, 0, 2)


def test_static_station_stays_where_it_is(three):
    millrace, wires = three
    millrace.do(f'station add br0 {MAC[1]} port 1')
    wires[2].send(frame(MAC[1], BROADCAST))
    assert wires[0].receive_until(frame(MAC[1], BROADCAST)) is not None
    assert stations(millrace)[MAC[1]]['port'] == 1


def test_ageing(rig):
    hosts = rig.hosts(None, None)
    millrace = rig.millrace(af_packet('p0', 'p1'),
                            config='bridge add br0 ageing 1\n' + '\n'.join(bridge(0, 1)[1:]))
    wires = [rig.wire(host) for host in hosts]
    millrace.do(f'station add br0 {MAC[1]} port 1')
    wires[0].send(frame(MAC[0], BROADCAST))
    wait_for(lambda: MAC[0] in stations(millrace))
    wait_for(lambda: MAC[0] not in stations(millrace))
    assert MAC[1] in stations(millrace), 'a static station does not age'


def test_link_loss_flushes_the_port(rig):
    hosts = rig.hosts(None, None, None)
    millrace = rig.millrace(af_packet('p0', 'p1', 'p2'), config='\n'.join(bridge(0, 1, 2)))
    wires = [rig.wire(host) for host in hosts]
    wires[1].send(frame(MAC[1], BROADCAST))
    wait_for(lambda: stations(millrace).get(MAC[1], {}).get('port') == 1)
    wires[2].receive_until(frame(MAC[1], BROADCAST))
    hosts[1].ip('link', 'set', 'eth0', 'down')
    wait_for(lambda: MAC[1] not in stations(millrace), what='the flush')
    to_it = frame(MAC[0], MAC[1])
    wires[0].send(to_it)
    assert wires[2].receive_until(to_it) == []
    hosts[1].ip('link', 'set', 'eth0', 'up')
    again = rig.wire(hosts[1])

    def back():
        wires[0].send(MARKER)
        return again.receive_until(MARKER, 0.2) is not None

    wait_for(back, what='the link is used again')


def test_bridges_are_islands(rig):
    hosts = rig.hosts('10.0.1.1/24', '10.0.1.2/24', '10.0.1.1/24', '10.0.1.2/24')
    rig.millrace(af_packet('p0', 'p1', 'p2', 'p3'),
                 config='\n'.join(bridge(0, 1, name='left') + bridge(2, 3, name='right')))
    wires = [rig.wire(host) for host in hosts]
    assert hosts[0].ping('10.0.1.2') == 3
    for port in (2, 3):
        assert wires[port].drain() == []
    assert hosts[3].ping('10.0.1.1') == 3


def test_refused_commands_change_nothing(three):
    millrace, _ = three
    before = millrace.show('show bridge')
    for line in ('bridge add br0', 'bridge add -x', 'bridge del br9', 'bridge member add br9 port 0',
                 'bridge member add br0 port 0', 'bridge member add br0 port 9',
                 'bridge member add br0 port 99999', 'bridge member del br9 port 0',
                 'station add br0 ff:ff:ff:ff:ff:ff port 0', f'station add br0 {MAC[0]} port 9',
                 f'station del br0 {MAC[0]}', 'bridge add br1 ageing x'):
        with pytest.raises(Refused):
            millrace.do(line)
    assert millrace.show('show bridge') == before
