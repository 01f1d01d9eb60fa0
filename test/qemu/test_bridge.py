# SPDX-License-Identifier: BSD-3-Clause
"""Frames between two ports of a bridge."""
from ether import frame, mac

BROADCAST = 'ff:ff:ff:ff:ff:ff'


def burst(source, sink, count, size=60):
    """Frames from a station behind one port to one behind the other, each of them different."""
    return [frame(mac(sink, 1), mac(source, 1), number.to_bytes(4, 'big'), size) for number in range(count)]


def test_one_frame_each_way(rig):
    """bridge: single frames, both ways"""
    rig.millrace()
    rig.wait_until_forwarding()
    for source, sink in ((0, 1), (1, 0)):
        sent = burst(source, sink, 1)
        rig.wires[source].send(*sent)
        assert rig.wires[sink].expect(1) == sent
    assert not rig.wires[0].take() and not rig.wires[1].take()
