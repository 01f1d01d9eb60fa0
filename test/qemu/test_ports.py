# SPDX-License-Identifier: BSD-3-Clause
"""Ports that stop, start and change their MAC; and what they count."""
import re

from scapy.layers.inet import UDP

from appliance import wait_for
from ether import MAXIMUM, burst
from hosts import ADDRESSES, Hosts, padded


def test_stop_and_start(rig):
    """port stop, port start: five times, with and without frames waiting"""
    millrace = rig.millrace()
    rig.wait_until_forwarding()
    for number in range(5):
        if number % 2:
            rig.wires[0].send(*burst(0, 1, 100))
        millrace.do(f'port stop {number % 2}')
        wait_for(lambda: millrace.port(number % 2)['link'] == 'down', 10, 'the link is down')  # pylint: disable=W0640
        millrace.do(f'port start {number % 2}')
        wait_for(lambda: millrace.port(number % 2)['link'] == 'up', 10, 'the link is up')  # pylint: disable=W0640
        rig.wait_until_forwarding()
        rig.carry_both_ways(burst(0, 1, 200, (60, MAXIMUM)), burst(1, 0, 200, (60, MAXIMUM)))


def test_mac(rig):
    """MAC: changed, it is the one that is routed for, and the old one is filtered again"""
    millrace = rig.millrace(config=ADDRESSES)
    millrace.do('set promisc all off')
    hosts = Hosts(rig)
    hosts.meet_all()
    old = [hosts.packet(0, UDP(sport=n + 1, dport=9)) for n in range(10)]
    for made in ('02:11:22:33:44:55', '06:00:00:00:00:01', rig.nics[0].mac):
        millrace.do(f'mac_addr set 0 {made}')
        assert hosts.meet(0) == made == millrace.port(0)['mac']
        new = [frame.copy() for frame in old]
        for frame in new:
            frame.dst = made
        rig.wait_for_arrival(0, 1, new[0])
        received = millrace.stats(0)['rx_packets']
        mixed = [*new, *(old if made != rig.nics[0].mac else [])]
        rig.carry_some(0, 1, [padded(frame) for frame in mixed], [padded(hosts.forwarded(0, frame)) for frame in new])
        rig.settle()
        assert millrace.stats(0)['rx_packets'] - received == 10


def test_counters(rig):
    """statistics: packets and bytes are those that were sent, the device's and the lcores' alike"""
    millrace = rig.millrace()
    rig.wait_until_forwarding()
    millrace.do('clear port stats all', 'clear port xstats all')
    sent = [burst(0, 1, 700, range(60, MAXIMUM + 1)), burst(1, 0, 300, (60, 61, 1000))]
    rig.carry_both_ways(*sent)
    rig.settle()
    octets = [sum(map(len, frames)) for frames in sent]
    for port in (0, 1):
        stats = millrace.stats(port)
        assert (stats['rx_packets'], stats['rx_bytes']) == (len(sent[port]), octets[port])
        assert (stats['tx_packets'], stats['tx_bytes']) == (len(sent[1 - port]), octets[1 - port])
        assert [stats[name] for name in ('drops', 'rx_missed', 'rx_errors', 'rx_no_buffer', 'tx_errors')] == [0] * 5
        assert sum(queue['packets'] for queue in stats['rx_queues']) == stats['rx_packets']
        assert sum(queue['packets'] for queue in stats['tx_queues']) == stats['tx_packets']
        xstats = millrace.show(f'show port xstats {port}')
        assert (xstats['rx_good_packets'], xstats['tx_good_packets']) == (len(sent[port]), len(sent[1 - port]))
    lcore, = millrace.show('show lcore stats')
    assert lcore['rx_packets'] >= 1000 and lcore['dropped'] == 0


def test_profile(rig):
    """profile: the device takes all that it says, and no word of it is adjusted"""
    millrace = rig.millrace()
    port, config = millrace.port(0), millrace.show('show config rxtx')[0]
    profile = dict(re.findall(r'^(\w+) *= *(.*)$', rig.guest.run(f'cat /drivers-cfg/{port["driver"]}.cfg'), re.M))
    lcores = {'lcores': '1'}
    for key in ('rxd', 'txd', 'burst'):
        assert str(config[key]) == profile[key]
    for key in ('rxq', 'txq'):
        assert str(config[key]) == lcores.get(profile[key], profile[key])
    for key in ('rx_offloads', 'tx_offloads'):
        assert config[key] == (profile[key] or 'none')
    assert not re.findall(r'^millrace: .*(?:wanted|adjusted|allowed).*$', millrace.log(), re.M)
