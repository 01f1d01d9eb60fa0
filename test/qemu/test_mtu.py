# SPDX-License-Identifier: BSD-3-Clause
"""The largest frames. An MTU leaves out the Ethernet header and VLAN tags; it bounds what leaves a
port, in software, and so every frame that is too long is counted."""
import pytest

from ether import MAXIMUM, burst, tag

ONE, TWO = tag(7), tag(7, 0x88a8) + tag(8)
JUMBO = 9000
# Bytes of a buffer in which a frame of that MTU finds room: the em driver uses powers of two.
BUFFER = 16384 + 128


def too_long(rig, millrace, frames):
    """Sends frames that must not pass, and one that must; returns how many were dropped as too long."""
    def count():
        return sum(packets for reason, packets in millrace.drops().items() if reason in ('mtu_exceeded', 'segmented'))

    before = count()
    rig.wires[0].send(*frames)
    rig.carry(0, 1, burst(0, 1, 1))
    return count() - before


def test_edges(rig):
    """MTU: 1514 bytes pass (1518, 1522 with tags), one more is dropped and counted"""
    millrace = rig.millrace()
    rig.wait_until_forwarding()
    for tags in (b'', ONE, TWO):
        size = MAXIMUM + len(tags)
        rig.carry(0, 1, burst(0, 1, 100, (size - 1, size), tags))
        assert too_long(rig, millrace, burst(0, 1, 5, size + 1, tags)) == 5, f'{len(tags) // 4} tags'
    assert too_long(rig, millrace, burst(0, 1, 5, 2000)) == 5


@pytest.mark.thorough
def test_smaller(rig):
    """MTU: a smaller and a larger one, set while packets flow"""
    millrace = rig.millrace()
    rig.wait_until_forwarding()
    largest = millrace.port(1)['max_mtu']
    for mtu in (68, 576, 1499, 1501, largest, 1500):
        millrace.do(f'port config mtu 0 {mtu}', f'port config mtu 1 {mtu}')
        size = max(mtu + 14, 60)
        rig.wait_until_forwarding()
        rig.carry(0, 1, burst(0, 1, 20, size))
        rig.carry(0, 1, burst(0, 1, 20, size + 8, TWO))
        assert too_long(rig, millrace, burst(0, 1, 3, size + 1)) == 3, f'MTU {mtu}'


@pytest.mark.thorough
def test_longer_than_a_buffer(rig):
    """MTU: a frame longer than a buffer is dropped whole"""
    millrace = rig.millrace()
    rig.wait_until_forwarding()
    rig.wires[0].send(*burst(0, 1, 20, range(4000, 6000)))
    rig.carry(0, 1, burst(0, 1, 200, (60, MAXIMUM)))
    dropped = millrace.drops()
    assert set(dropped) <= {'segmented'} and dropped.get('segmented', 0) <= 20, dropped


def test_jumbo(rig):
    """MTU: jumbo frames of 9014 bytes pass, 9015 are dropped and counted"""
    millrace = rig.millrace(f'--mbuf-size={BUFFER}', '--total-num-mbufs=8192')
    millrace.do(f'port config mtu 0 {JUMBO}', f'port config mtu 1 {JUMBO}')
    rig.wait_until_forwarding()
    rig.carry_both_ways(burst(0, 1, 100, (60, JUMBO, JUMBO + 13, JUMBO + 14)), burst(1, 0, 100, (60, JUMBO + 14)))
    rig.carry(0, 1, burst(0, 1, 20, JUMBO + 18, ONE))
    assert too_long(rig, millrace, burst(0, 1, 5, JUMBO + 15)) == 5
