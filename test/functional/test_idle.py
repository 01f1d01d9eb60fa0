# SPDX-License-Identifier: BSD-3-Clause
"""Lcores without work sleep; what arrives then is neither lost nor late."""
import os
import re
import socket
import subprocess
import time

import pytest

from frames import SO_RCVBUFFORCE
from media import carrier
from rig import wait_for

BRIDGE = 'bridge add br0\nbridge member add br0 port 0\nbridge member add br0 port 1\n'
DEEP_AF_PACKET = [f'net_af_packet{n},iface=p{n},framecnt=4096' for n in range(2)]
BURST = 512


def cpu_seconds(millrace, lcore):
    """What the thread of an lcore has used so far, in user and kernel."""
    tasks = f'/proc/{millrace.process.pid}/task'
    for task in os.listdir(tasks):
        with open(f'{tasks}/{task}/stat', encoding='ascii') as stat:
            name, fields = stat.read().split('(')[1].split(')')
        if name in (f'rte-worker-{lcore}', f'lcore-worker-{lcore}'):
            user, system = fields.split()[11:13]
            return (int(user) + int(system)) / os.sysconf('SC_CLK_TCK')
    raise AssertionError(f'no thread of lcore {lcore}')


def cpu_share(millrace, lcore, seconds=3):
    before, start = cpu_seconds(millrace, lcore), time.monotonic()
    time.sleep(seconds)
    return (cpu_seconds(millrace, lcore) - before) / (time.monotonic() - start)


def counters(millrace, lcore=1):
    return millrace.query(f'/millrace/lcore/stats,{lcore}')


def wait_asleep(millrace, lcore=1):
    """Until the lcore sleeps as long as it will."""
    sleeps = counters(millrace, lcore)['sleeps']
    wait_for(lambda: counters(millrace, lcore)['sleeps'] > sleeps + 20, what='the lcore sleeps')


def send_burst(host, payload=b'\0' * 18):
    """Sends BURST numbered datagrams as fast as one call can, to a neighbour that is known."""
    with host.inside():
        sender = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    with sender:
        sender.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1 << 22)
        sender.connect(('10.0.1.2', 9))
        for number in range(BURST):
            sender.send(number.to_bytes(4, 'big') + payload)


def received(host):
    """A socket in which all of a burst has room."""
    with host.inside():
        made = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    made.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, 1 << 23)
    made.bind(('10.0.1.2', 9))
    made.settimeout(5)
    return made


def check_bursts(rig, millrace, hosts, rounds=5):
    wait_for(lambda: hosts[0].ping('10.0.1.2', 1))
    with received(hosts[1]) as receiver:
        for _ in range(rounds):
            wait_asleep(millrace)
            send_burst(hosts[0])
            numbers = [int.from_bytes(receiver.recv(64)[:4], 'big') for _ in range(BURST)]
            assert numbers == list(range(BURST))
    assert counters(millrace)['sleeps'] > 0


@pytest.mark.parametrize('idle', ['adaptive', 'interrupt'])
def test_idle_costs_little(rig, idle):
    hosts = rig.hosts('10.0.1.1/24', '10.0.1.2/24')
    millrace = rig.millrace(DEEP_AF_PACKET, f'--idle={idle}', config=BRIDGE)
    wait_for(lambda: hosts[0].ping('10.0.1.2', 1))
    share = cpu_share(millrace, 1)
    asleep = counters(millrace)['asleep_percent']
    print(f'--idle={idle}: {share:.1%} of a core, asleep {asleep}% of the time')
    assert share < 0.15
    assert asleep > 50
    assert ('rx interrupts' in millrace.log()) == (idle == 'interrupt')


def test_busy_never_sleeps(rig):
    rig.hosts(None, None)
    millrace = rig.millrace(DEEP_AF_PACKET, '--idle=busy', config=BRIDGE)
    polls = counters(millrace)['polls']
    wait_for(lambda: counters(millrace)['polls'] > polls + 100000)
    assert counters(millrace)['sleeps'] == 0


def test_burst_after_idling_on_af_packet(rig):
    hosts = rig.hosts('10.0.1.1/24', '10.0.1.2/24')
    millrace = rig.millrace(DEEP_AF_PACKET, config=BRIDGE)
    check_bursts(rig, millrace, hosts)


def on_virtio_user(rig, hosts, *options, eal=(), **named):
    """The hosts behind deep virtio-user rings."""
    paths = [os.path.join(rig.directory, f'v{n}') for n in range(2)]
    _, wait = carrier(rig, *[(f'net_vhost{n},iface={path}', n, hosts[n])
                             for n, path in enumerate(paths)])
    wait_for(lambda: all(os.path.exists(path) for path in paths), 30, 'the vhost sockets')
    millrace = rig.millrace([f'net_virtio_user{n},path={path},queue_size=1024'
                             for n, path in enumerate(paths)],
                            *options, config=BRIDGE, eal=['--single-file-segments', *eal], **named)
    wait()
    return millrace


@pytest.mark.parametrize('idle', ['adaptive', 'interrupt'])
def test_burst_after_idling_on_virtio_user(rig, idle):
    hosts = rig.hosts('10.0.1.1/24', '10.0.1.2/24')
    millrace = on_virtio_user(rig, hosts, f'--idle={idle}')
    check_bursts(rig, millrace, hosts)
    if idle == 'interrupt':
        assert 'rx interrupts' not in millrace.log()
        sleeps = counters(millrace)['sleeps']
        share = cpu_share(millrace, 1, 1)
        print(f'waiting for interrupts: {share:.1%} of a core')
        assert counters(millrace)['sleeps'] - sleeps < 200, 'it blocks, and does not wake by the clock'


def ping_times(host, address, count):
    with host.inside():
        done = subprocess.run(['ping', '-n', '-c', str(count), '-i', '0.02', address],
                              capture_output=True, text=True, check=False)
    return [float(time) for time in re.findall(r'time=([0-9.]+) ms', done.stdout)]


def test_answers_come_soon(rig):
    hosts = rig.hosts('10.0.1.1/24', '10.0.1.2/24')
    millrace = rig.millrace(DEEP_AF_PACKET, config=BRIDGE)
    wait_for(lambda: hosts[0].ping('10.0.1.2', 1))
    times = ping_times(hosts[0], '10.0.1.2', 40)
    print(f'ping through sleeping lcores: median {sorted(times)[20]:.3f} ms')
    assert len(times) == 40
    assert sorted(times)[20] < 5
    assert counters(millrace)['sleeps'] > 0


def test_hand_over_wakes_the_owner(rig):
    """Two lcores, one queue a port, whose flows both lcores share: what crosses must wake the other."""
    hosts = rig.hosts('10.0.1.1/24', '10.0.1.2/24')
    spread = '\nport spread 0 lcores 1,2\nport spread 1 lcores 1,2\n'
    millrace = rig.millrace(DEEP_AF_PACKET, config=BRIDGE + spread, cores=None,
                            eal=['--lcores', '0@0,1@0,2@1'])
    wait_for(lambda: hosts[0].ping('10.0.1.2', 1))
    assert hosts[0].ping('10.0.1.2', 20) == 20
    assert sum(counters(millrace, n)['handed_over'] for n in (1, 2)) > 0
    assert sum(counters(millrace, n)['wakeups'] for n in (1, 2)) > 0


def test_changes_while_asleep(rig):
    hosts = rig.hosts('10.0.1.1/24', '10.0.1.2/24')
    millrace = rig.millrace(DEEP_AF_PACKET, config=BRIDGE)
    for _ in range(5):
        wait_asleep(millrace)
        millrace.do('port stop 1', 'port start 1', 'stop', 'start')
    wait_for(lambda: hosts[0].ping('10.0.1.2', 1))


def test_changes_while_interrupts_are_armed(rig):
    """Queues leave lcores that block on their interrupts, and ports stop under them."""
    hosts = rig.hosts('10.0.1.1/24', '10.0.1.2/24')
    millrace = on_virtio_user(rig, hosts, '--idle=interrupt', eal=['--lcores', '0@0,1@0,2@1'], cores=None)
    wait_for(lambda: hosts[0].ping('10.0.1.2', 1))
    for step in (['port stop 1', 'port start 1'], ['port queue 0 0 lcore 2', 'port queue 1 0 lcore 2'],
                 ['stop', 'port stop 0', 'port start 0', 'start'], ['port queue 1 0 lcore 1'],
                 ['port queue 0 0 auto', 'port queue 1 0 auto', 'port stop 0', 'port stop 1', 'port start 0',
                  'port start 1']):
        wait_asleep(millrace)
        millrace.do(*step)
        wait_for(lambda: hosts[0].ping('10.0.1.2', 1, '-W', '0.3'), what=f'traffic after {step}')
