# SPDX-License-Identifier: BSD-3-Clause
"""Several queues a port: igb has 16 with RSS, e1000 and e1000e report two of which one works."""
import random

import pytest
from scapy.layers.inet import TCP, UDP

from ether import mac, octets
from hosts import ADDRESSES, Hosts, padded

# Two forwarding lcores share a CPU; they run to completion, so it makes no difference.
TWO_LCORES = ('--lcores', '0@0,1@1,2@1')


def flows(hosts, source, count, packets):
    """Packets of many flows, mixed; a flow is one pair of addresses, numbered by its TCP sequence."""
    network = f'10.0.{1 - source}'
    made = []
    for number in range(packets):
        for flow in range(count):
            frame = hosts.packet(source, TCP(sport=1000 + flow, dport=80, seq=number), dst=f'{network}.{flow + 10}')
            made.append((random.random() * 8 + number * 4, flow, number, padded(frame)))
    # Each flow keeps its order.
    order = {}
    for _, flow, number, frame in sorted(made):
        order.setdefault(flow, []).append((number, frame))
    positions = [flow for _, flow, _, _ in sorted(made)]
    for frames in order.values():
        frames.sort()
    return [order[flow].pop(0)[1] for flow in positions]


@pytest.mark.devices('igb')
def test_rss(rig):
    """queues: two with RSS, both used, a flow stays in one and in order"""
    millrace = rig.millrace(config=ADDRESSES, eal=TWO_LCORES)
    assert millrace.port(0)['rxq'] == 2 and millrace.port(0)['rss']
    hosts = Hosts(rig)
    hosts.meet_all()
    for host in range(10, 42):
        hosts.meet(1, host)
    rig.settle()
    before = [queue['packets'] for queue in millrace.stats(0)['rx_queues']]
    sent = flows(hosts, 0, 32, 16)
    arrived = []
    for first in range(0, len(sent), 64):
        rig.wires[0].send(*sent[first:first + 64])
        arrived += rig.wires[1].expect(64)
    assert len(arrived) == len(sent)
    for flow in range(32):
        numbers = [int.from_bytes(frame[38:42], 'big') for frame in arrived if frame[33] == flow + 10]
        assert numbers == list(range(16)), f'flow {flow}: {numbers}'
    used = [queue['packets'] - old for queue, old in zip(millrace.stats(0)['rx_queues'], before)]
    assert sum(used) == len(sent) and min(used) > len(sent) // 8, used
    assert all(count % 16 == 0 for count in used), f'a flow was in both queues: {used}'
    lcores = millrace.show('show lcore stats')
    assert all(row['rx_packets'] >= min(used) for row in lcores), lcores


@pytest.mark.thorough
@pytest.mark.devices('igb')
def test_fragments_stay_with_their_flow(rig):
    """queues: fragments go to the queue of their flow"""
    millrace = rig.millrace(config=ADDRESSES, eal=TWO_LCORES)
    hosts = Hosts(rig)
    hosts.meet_all()
    for sport in (1, 2, 3):
        before = [queue['packets'] for queue in millrace.stats(0)['rx_queues']]
        whole = [hosts.packet(0, UDP(sport=sport, dport=9)), hosts.packet(0, UDP(sport=sport, dport=9), flags='MF'),
                 hosts.packet(0, UDP(sport=sport, dport=9), frag=1)]
        rig.carry(0, 1, [padded(frame) for frame in whole], [padded(hosts.forwarded(0, frame)) for frame in whole])
        rig.settle()
        used = [queue['packets'] - old for queue, old in zip(millrace.stats(0)['rx_queues'], before)]
        assert sorted(used) == [0, 3], used


@pytest.mark.devices('e1000', 'e1000e', 'virtio')
def test_one_queue(rig):
    """queues: one, also with two lcores and when more are asked for"""
    millrace = rig.millrace('--rxq=2', '--txq=2', eal=TWO_LCORES)
    assert (millrace.port(0)['rxq'], millrace.port(0)['txq']) == (1, 1)
    assert 'rxq 2 wanted, at most 1 allowed: using 1' in millrace.log()
    rig.wait_until_forwarding()
    rig.carry_both_ways(*[[octets(mac(1 - port)) + octets(mac(port)) + bytes([0x88, 0xb5]) + n.to_bytes(46, 'big')
                           for n in range(600)] for port in (0, 1)])


@pytest.mark.devices('igb')
def test_sent_buffers_come_back(rig):
    """tx_done_cleanup: sent buffers come back when asked for (no other driver here can)"""
    millrace = rig.millrace()
    rig.wait_until_forwarding()
    free = millrace.port(0)['pool_free']
    rig.carry(0, 1, [octets(mac(1)) + octets(mac(0)) + bytes([0x88, 0xb5]) + n.to_bytes(46, 'big') for n in range(3000)])
    assert free - millrace.port(0)['pool_free'] <= millrace.port(1)['txd']
