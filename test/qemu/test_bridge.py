# SPDX-License-Identifier: BSD-3-Clause
"""Frames between two ports of a bridge."""
import pytest

from ether import BROADCAST, MAXIMUM, MINIMUM, burst, frame, mac, tag

TAGS = {'none': b'', 'priority': tag(0xe000), 'VLAN 1': tag(1), 'VLAN 4094': tag(4094), 'DEI': tag(0x1064),
        '88a8': tag(7, 0x88a8), 'two': tag(7, 0x88a8) + tag(8), 'two of 8100': tag(7) + tag(8)}


def test_frames(rig):
    """bridge: single frames and bursts of all sizes, both ways at once"""
    rig.millrace()
    rig.wait_until_forwarding()
    for source, sink in ((0, 1), (1, 0)):
        for size in (MINIMUM, 61, 64, 65, 128, 512, 1513, MAXIMUM):
            rig.carry(source, sink, burst(source, sink, 1, size))
    for count in (2, 31, 32, 33, 63, 64, 65, 128, 1000):
        sizes = range(MINIMUM, MAXIMUM + 1)
        rig.carry_both_ways(burst(0, 1, count, sizes), burst(1, 0, count, sizes))


def test_tags(rig):
    """VLAN: tags of all kinds pass a bridge as they are"""
    rig.millrace()
    rig.wait_until_forwarding()
    for name, tags in TAGS.items():
        for size in (MINIMUM, 100, MAXIMUM + len(tags)):
            sent = burst(0, 1, 3, size, tags)
            rig.wires[0].send(*sent)
            assert rig.wires[1].expect(3) == sent, f'{name}, {size} octets'
    mixed = [frame(mac(1), mac(0), number.to_bytes(4, 'big'), 90, tags)
             for number, tags in enumerate(list(TAGS.values()) * 32)]
    rig.carry(0, 1, mixed)


@pytest.mark.thorough
def test_groups(rig):
    """multicast: groups and broadcast are flooded, reserved groups are not"""
    millrace = rig.millrace()
    rig.wait_until_forwarding()
    before = millrace.drops().get('bridge_reserved', 0)
    groups = [BROADCAST, '01:00:5e:00:00:01', '01:00:5e:7f:ff:fa', '33:33:00:00:00:01', '01:80:c2:00:00:20',
              '01:80:c2:00:00:21', '03:00:00:00:00:01']
    reserved = [f'01:80:c2:00:00:{last:02x}' for last in range(16)]
    for group in groups:
        rig.carry(0, 1, [frame(group, mac(0))])
    rig.wires[0].send(*[frame(group, mac(0)) for group in reserved])
    rig.carry(0, 1, [frame(BROADCAST, mac(0), b'after')])
    assert millrace.drops()['bridge_reserved'] - before == 16


@pytest.mark.thorough
def test_many_stations(rig):
    """bridge: 1,000 stations a side, learned and reached"""
    millrace = rig.millrace()
    rig.wait_until_forwarding()
    stations = [[f'02:00:0{port}:00:{n >> 8:02x}:{n & 255:02x}' for n in range(1000)] for port in (0, 1)]
    for port in (0, 1):
        rig.carry(port, 1 - port, [frame(BROADCAST, station) for station in stations[port]])
    shown = {row['mac']: row['port'] for row in millrace.show('show station limit 3000')}
    assert all(shown.get(station) == port for port in (0, 1) for station in stations[port])
    rig.carry_both_ways([frame(b, a) for a, b in zip(*stations)], [frame(a, b) for a, b in zip(*stations)])
