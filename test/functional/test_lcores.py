# SPDX-License-Identifier: BSD-3-Clause
"""Several forwarding lcores: ports have one queue each, so packets change hands."""
from rig import af_packet, wait_for
from traffic import converse

# Two forwarding lcores share a CPU, so that two CPUs are enough.
EAL = ['--lcores', '0@0,1@1,2@1']
BRIDGE = 'bridge add br0\nbridge member add br0 port 0\nbridge member add br0 port 1\n'


def handed_over(millrace):
    return {lcore: millrace.query(f'/millrace/lcore/stats,{lcore}')['handed_over'] for lcore in (1, 2)}


def test_queues_are_spread(rig):
    rig.hosts(None, None, None, None)
    millrace = rig.millrace(af_packet('p0', 'p1', 'p2', 'p3'), eal=EAL, cores=None)
    rows = millrace.show('show config cores')
    queues = [row['rx_queues'] for row in rows]
    assert sorted(len(row) for row in queues) == [2, 2]
    assert sorted(sum(queues, [])) == ['0/0', '1/0', '2/0', '3/0']


def test_bridged_packets_change_hands(rig):
    hosts = rig.hosts('10.0.1.1/24', '10.0.1.2/24')
    millrace = rig.millrace(af_packet('p0', 'p1'), eal=EAL, cores=None, config=BRIDGE)
    wait_for(lambda: hosts[0].ping('10.0.1.2', 1) == 1)
    converse(rig, *hosts, octets=200000)
    assert all(count > 100 for count in handed_over(millrace).values()), 'both ways'
    assert 'tx_handover_full' not in millrace.drops()


def test_routed_packets_change_hands(rig):
    hosts = rig.hosts(('10.0.0.2/24', '10.0.0.1'), ('10.0.1.2/24', '10.0.1.1'))
    millrace = rig.millrace(af_packet('p0', 'p1'), eal=EAL, cores=None,
                            config='address add 10.0.0.1/24 port 0\naddress add 10.0.1.1/24 port 1')
    wait_for(lambda: hosts[0].ping('10.0.1.2', 1) == 1)
    converse(rig, *hosts, octets=200000)
    assert all(count > 100 for count in handed_over(millrace).values()), 'both ways'


def test_order_is_kept(rig):
    """Frames of one flow arrive in the order in which they were sent, other lcore or not."""
    hosts = rig.hosts(None, None)
    rig.millrace(af_packet('p0', 'p1'), eal=EAL, cores=None, config=BRIDGE)
    wires = [rig.wire(host) for host in hosts]
    for first in range(0, 3200, 64):
        burst = [bytes.fromhex('0200000000bb0200000000aa88b5') + n.to_bytes(46, 'big')
                 for n in range(first, first + 64)]
        wires[0].send(*burst)
        assert wires[1].receive_until(burst[-1]) == burst[:-1]


def test_fewer_lcores_than_eal_has(rig):
    rig.hosts(None, None)
    millrace = rig.millrace(af_packet('p0', 'p1'), '--nb-cores=1', eal=EAL, cores=None)
    assert [row['lcore'] for row in millrace.show('show config cores')] == [1]


def test_ports_stop_and_start_between_lcores(rig):
    """Packets that are on their way to a port that stops are counted like all others."""
    hosts = rig.hosts('10.0.1.1/24', '10.0.1.2/24')
    millrace = rig.millrace(af_packet('p0', 'p1'), eal=EAL, cores=None, config=BRIDGE)
    wait_for(lambda: hosts[0].ping('10.0.1.2', 1) == 1)
    rig.popen(hosts[0], ['ping', '-n', '-q', '-f', '-l', '16', '10.0.1.2'])
    for port in (0, 1, 0, 1):
        millrace.do(f'port stop {port}', f'port start {port}', 'stop', 'start')
    wait_for(lambda: hosts[0].ping('10.0.1.2', 1) == 1)
