# SPDX-License-Identifier: BSD-3-Clause
"""Several forwarding lcores, and ports that have one queue each. Of four ports lcore 1 polls 0 and 2 and sends on 1
and 3, since most of what leaves there comes from it; so what goes between 0 and 2 changes hands."""
from rig import af_packet, wait_for
from traffic import converse

# Two forwarding lcores share a CPU, so that two CPUs are enough.
EAL = ['--lcores', '0@0,1@1,2@1']
BRIDGE4 = 'bridge add br0\n' + ''.join(f'bridge member add br0 port {n}\n' for n in range(4))
BRIDGE = 'bridge add br0\nbridge member add br0 port 0\nbridge member add br0 port 1\n'


def handed_over(millrace):
    return {lcore: millrace.query(f'/millrace/lcore/stats,{lcore}')['handed_over'] for lcore in (1, 2)}


def test_queues_are_spread(rig):
    rig.hosts(None, None, None, None)
    millrace = rig.millrace(af_packet('p0', 'p1', 'p2', 'p3'), eal=EAL, cores=None)
    cores = millrace.show('show config cores')
    queues = [row['rx_queues'] for row in cores['lcores']]
    assert sorted(len(row) for row in queues) == [2, 2]
    assert sorted(sum(queues, [])) == ['0/0', '1/0', '2/0', '3/0']
    assert [row['served'] for row in cores['ports']] == ['direct'] * 4


def test_two_ports_need_no_hand_over(rig):
    hosts = rig.hosts('10.0.1.1/24', '10.0.1.2/24')
    millrace = rig.millrace(af_packet('p0', 'p1'), eal=EAL, cores=None, config=BRIDGE)
    wait_for(lambda: hosts[0].ping('10.0.1.2', 1) == 1)
    converse(rig, *hosts, octets=200000)
    assert set(handed_over(millrace).values()) == {0}


def test_a_port_is_spread_and_moved_under_traffic(rig):
    hosts = rig.hosts('10.0.1.1/24', '10.0.1.2/24')
    millrace = rig.millrace(af_packet('p0', 'p1'), eal=EAL, cores=None,
                            config=BRIDGE + 'port spread 0 lcores 1,2\n')
    wait_for(lambda: hosts[0].ping('10.0.1.2', 1) == 1)
    assert millrace.show('show config cores')['ports'][0]['spread_over'] == [1, 2]
    for step in ('port queue 0 0 lcore 2', 'port spread 1 lcores 2,1', 'port spread 0 off', 'port queue 0 0 auto'):
        converse(rig, *hosts, octets=200000)
        millrace.do(step)
    assert not {'spread_full', 'tx_handover_full', 'no_tx_path'} & set(millrace.drops())


def test_bridged_packets_change_hands(rig):
    hosts = rig.hosts(*(f'10.0.1.{n}/24' for n in (1, 2, 3, 4)))
    millrace = rig.millrace(af_packet('p0', 'p1', 'p2', 'p3'), eal=EAL, cores=None, config=BRIDGE4)
    for host, peer, address in ((0, 2, '10.0.1.3'), (1, 3, '10.0.1.4')):
        wait_for(lambda: hosts[host].ping(address, 1) == 1)
        converse(rig, hosts[host], hosts[peer], octets=200000)
    assert all(count > 100 for count in handed_over(millrace).values()), 'both lcores'
    assert 'tx_handover_full' not in millrace.drops()


def test_routed_packets_change_hands(rig):
    hosts = rig.hosts(*((f'10.0.{n}.2/24', f'10.0.{n}.1') for n in range(4)))
    millrace = rig.millrace(af_packet('p0', 'p1', 'p2', 'p3'), eal=EAL, cores=None,
                            config='\n'.join(f'address add 10.0.{n}.1/24 port {n}' for n in range(4)))
    for host, peer in ((0, 2), (1, 3)):
        wait_for(lambda: hosts[host].ping(f'10.0.{peer}.2', 1) == 1)
        converse(rig, hosts[host], hosts[peer], octets=200000)
    assert all(count > 100 for count in handed_over(millrace).values()), 'both lcores'


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
    assert [row['lcore'] for row in millrace.show('show config cores')['lcores']] == [1]


def test_ports_stop_and_start_between_lcores(rig):
    """Packets that are on their way to a port that stops are counted like all others."""
    hosts = rig.hosts('10.0.1.1/24', '10.0.1.2/24')
    millrace = rig.millrace(af_packet('p0', 'p1'), eal=EAL, cores=None, config=BRIDGE)
    wait_for(lambda: hosts[0].ping('10.0.1.2', 1) == 1)
    rig.popen(hosts[0], ['ping', '-n', '-q', '-f', '-l', '16', '10.0.1.2'])
    for port in (0, 1, 0, 1):
        millrace.do(f'port stop {port}', f'port start {port}', 'stop', 'start')
    wait_for(lambda: hosts[0].ping('10.0.1.2', 1) == 1)
