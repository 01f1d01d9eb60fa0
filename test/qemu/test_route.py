# SPDX-License-Identifier: BSD-3-Clause
"""IPv4 between two ports. No checksum is left to a device, or believed from one: those that arrive
wrong and those that leave are the same on every device."""
import pytest
from scapy.layers.inet import ICMP, IP, UDP
from scapy.layers.l2 import Ether
from scapy.packet import Raw

from ether import mac
from hosts import ADDRESSES, Hosts, address, assert_right_sums, padded, payloads

ROUTED = {'config': ADDRESSES}


def is_ip(frame):
    return frame[12:14] == b'\x08\x00'


def test_routing(rig):
    """route: bursts of UDP, TCP and ICMP, both ways at once, every byte and checksum right"""
    rig.millrace(**ROUTED)
    hosts = Hosts(rig)
    assert hosts.meet_all() == [nic.mac for nic in rig.nics]
    sent = [[hosts.packet(source, payload) for payload in payloads(256)] for source in (0, 1)]
    there, back = ([padded(frame) for frame in frames] for frames in sent)
    expected = [[padded(hosts.forwarded(source, frame)) for frame in frames] for source, frames in enumerate(sent)]
    for frames in expected:
        assert_right_sums(frames)
    rig.carry(0, 1, there[:1], expected[0][:1])
    rig.carry(1, 0, back[:1], expected[1][:1])
    rig.carry_both_ways(there, back, expected)


@pytest.mark.thorough
def test_wrong_sums(rig):
    """checksums: a wrong IP checksum is dropped and counted, a wrong UDP checksum travels on unchanged"""
    millrace = rig.millrace(**ROUTED)
    hosts = Hosts(rig)
    hosts.meet_all()
    bad = [bytes(hosts.packet(0, UDP(dport=n + 1) / Raw(bytes(40)), chksum=0x1234 + n)) for n in range(40)]
    wrong_udp = [hosts.packet(0, UDP(dport=9, chksum=0x1234 + n) / Raw(bytes(40))) for n in range(40)]
    # In one burst, as a device might mark a whole one.
    mixed = [bytes(frame) for pair in zip(bad, wrong_udp) for frame in pair]
    rig.carry_some(0, 1, mixed, [hosts.forwarded(0, frame) for frame in wrong_udp])
    assert millrace.drops()['ip_checksum'] == 40


@pytest.mark.thorough
def test_own_packets(rig):
    """checksums: what the appliance makes itself (echo replies, ICMP errors, fragments) is right"""
    millrace = rig.millrace(**ROUTED)
    hosts = Hosts(rig)
    hosts.meet_all()
    for size in (0, 1, 56, 1400):
        ping = hosts.packet(0, ICMP(id=7, seq=size) / Raw(bytes(range(size % 256))), dst=address(0, 1))
        rig.wires[0].send(padded(ping))
        reply, = rig.wires[0].expect(1, wanted=is_ip)
        assert Ether(reply)[ICMP].type == 0 and Ether(reply)[ICMP].seq == size
        assert_right_sums([reply])
    rig.wires[0].send(padded(hosts.packet(0, UDP(dport=9), ttl=1)))
    error, = rig.wires[0].expect(1, wanted=is_ip)
    assert (Ether(error)[ICMP].type, Ether(error)[ICMP].code) == (11, 0)
    assert_right_sums([error])
    millrace.do('port config mtu 1 600')
    rig.wait_for_arrival(0, 1, hosts.packet(0, UDP(sport=9, dport=9)))
    rig.wires[0].send(bytes(hosts.packet(0, UDP(dport=9) / Raw(bytes(1400)))))
    pieces = rig.wires[1].expect(3, wanted=is_ip)
    assert [Ether(piece)[IP].frag for piece in pieces] == [0, 72, 144]
    assert_right_sums(pieces)
    rig.wires[0].send(bytes(hosts.packet(0, UDP(dport=9) / Raw(bytes(1400)), flags='DF')))
    error, = rig.wires[0].expect(1, wanted=is_ip)
    assert (Ether(error)[ICMP].type, Ether(error)[ICMP].code, Ether(error)[ICMP].nexthopmtu) == (3, 4, 600)
    assert_right_sums([error])


@pytest.mark.thorough
def test_promiscuous_mode(rig):
    """promiscuous mode: off, frames to other MACs do not arrive; on, they do"""
    millrace = rig.millrace(**ROUTED)
    hosts = Hosts(rig)
    hosts.meet_all()
    own = [hosts.packet(0, UDP(sport=n + 1, dport=9)) for n in range(20)]
    others = [bytes(frame) for frame in own]
    others = [bytes.fromhex(mac(9, 9).replace(':', '')) + frame[6:] for frame in others]
    for mode, expected in (('off', 0), ('on', 20), ('off', 0)):
        millrace.do(f'set promisc 0 {mode}')
        rig.wait_for_arrival(0, 1, own[0])
        before, received = millrace.drops().get('other_host', 0), millrace.stats(0)['rx_packets']
        mixed = [padded(frame) for pair in zip(others, own) for frame in pair]
        rig.carry_some(0, 1, mixed, [padded(hosts.forwarded(0, frame)) for frame in own])
        assert millrace.drops().get('other_host', 0) - before == expected, f'promiscuous mode {mode}'
        assert millrace.stats(0)['rx_packets'] - received == 20 + expected


@pytest.mark.thorough
def test_multicast_filter(rig):
    """multicast: without promiscuous mode groups arrive only with allmulti"""
    millrace = rig.millrace(**ROUTED)
    hosts = Hosts(rig)
    hosts.meet_all()
    own = hosts.packet(0, UDP(sport=1, dport=9))
    groups = [padded(Ether(dst=f'01:00:5e:01:02:{n:02x}', src=mac(0, 2)) /
                     IP(src=address(0), dst=f'224.1.2.{n}') / UDP(dport=9)) for n in range(1, 21)]
    for mode, expected in (('off', 0), ('on', 20), ('off', 0)):
        millrace.do('set promisc 0 off', f'set allmulti 0 {mode}')
        rig.wait_for_arrival(0, 1, own)
        before = millrace.stats(0)['rx_packets']
        rig.carry_some(0, 1, [*groups, padded(own)], [padded(hosts.forwarded(0, own))])
        assert millrace.stats(0)['rx_packets'] - before == 1 + expected, f'allmulti {mode}'
    # The broadcast of ARP always comes.
    assert hosts.meet(0) == rig.nics[0].mac
