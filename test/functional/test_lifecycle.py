# SPDX-License-Identifier: BSD-3-Clause
"""Starting and ending: wrong options, two at once, a death under load, too little memory."""
import contextlib
import glob
import os
import signal
import socket
import stat
import subprocess
import sys
import time

import pytest

from rig import MILLRACE, MILLRACECTL, ROOT, af_packet, wait_for

BRIDGE = 'bridge add br0\nbridge member add br0 port 0\nbridge member add br0 port 1\n'


def attempt(millrace, seconds=30):
    """Runs an appliance that is expected to end by itself: its status and what it printed."""
    with millrace.rig.box.inside():
        done = subprocess.run(millrace.command, stdin=subprocess.DEVNULL, capture_output=True,
                              text=True, timeout=seconds, check=False)
    return done.returncode, done.stdout + done.stderr


@contextlib.contextmanager
def managed(millrace, **env):
    """Starts an appliance as a service manager does, over an abstract socket, which it gives."""
    with millrace.rig.box.inside():
        manager = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    with manager:
        manager.settimeout(30)
        manager.bind('\0' + millrace.prefix)
        millrace.process = millrace.rig.box.popen(
            millrace.command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            env={**os.environ, 'NOTIFY_SOCKET': '@' + millrace.prefix, **env})
        yield manager


def said(output):
    """What millrace itself said, without EAL's lines."""
    return [line for line in output.splitlines() if line.startswith('millrace: ')]


def flood(rig, host):
    """Frames from a host as fast as it can, until the rig ends it."""
    return rig.popen(host, ['ping', '-n', '-q', '-f', '-l', '16', '10.0.1.2'],
                     stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


@pytest.mark.parametrize('option, allowed', [
    ('--rxq=0', '1'), ('--rxq=99999', '16'), ('--rxd=x', '32768'), ('--burst=65', '64'),
    ('--portmask=0', '1'), ('--forward-mode=mac', 'bridge'), ('--no-such-option', '--no-such-option'),
    ('--config', 'config'), ('--mbuf-size=1', '1152')])
def test_wrong_options_end_before_any_port(rig, option, allowed):
    rig.hosts(None)
    millrace = rig.millrace(af_packet('p0'), option, start=False)
    status, output = attempt(millrace)
    assert status == 1
    assert option.split('=')[0] in output and allowed in output, output
    assert 'EAL:' not in output, 'EAL was started'
    assert not os.path.exists(f'/var/run/dpdk/{millrace.prefix}')


def test_config_file_that_is_refused_names_file_and_line(rig):
    rig.hosts(None)
    millrace = rig.millrace(af_packet('p0'), config='# a comment\nbridge add br0\nbridge add br0\n',
                            start=False)
    status, output = attempt(millrace)
    assert status == 1
    assert any('config:3:' in line and 'br0' in line for line in said(output)), output
    assert not os.path.exists(millrace.ctl_socket)


def test_config_file_that_is_not_there(rig):
    rig.hosts(None)
    status, output = attempt(rig.millrace(af_packet('p0'), '--config=/no/such/file', start=False))
    assert status == 1
    assert '/no/such/file' in output


def test_help(rig):
    for program in (MILLRACE, MILLRACECTL):
        done = subprocess.run([program, *(['--'] if program == MILLRACE else []), '--help'],
                              capture_output=True, text=True, timeout=30, check=False)
        assert done.returncode == 0
        assert '--ctl-socket' in done.stdout + done.stderr
    rig.finish()


@pytest.mark.parametrize('how', (signal.SIGTERM, signal.SIGINT))
def test_ends_cleanly_on_signals(rig, how):
    hosts = rig.hosts('10.0.1.1/24', '10.0.1.2/24')
    millrace = rig.millrace(af_packet('p0', 'p1'), config=BRIDGE)
    flood(rig, hosts[0])
    wait_for(lambda: hosts[0].ping('10.0.1.2', 1))
    assert stat.S_IMODE(os.stat(millrace.ctl_socket).st_mode) == 0o600
    assert millrace.stop(how) == 0
    assert not os.path.exists(millrace.ctl_socket)
    assert not glob.glob(f'/dev/hugepages/{millrace.prefix}map_*'), 'hugepages were left behind'


def test_quit_ends_it(rig):
    rig.hosts(None)
    millrace = rig.millrace(af_packet('p0'))
    millrace.client('quit')
    assert millrace.process.wait(20) == 0


def test_starts_again_after_sigkill_under_load(rig):
    hosts = rig.hosts('10.0.1.1/24', '10.0.1.2/24')
    millrace = rig.millrace(af_packet('p0', 'p1'), config=BRIDGE)
    flood(rig, hosts[0])
    wait_for(lambda: millrace.query('/millrace/conservation')['received'] > 1000)
    millrace.stop(signal.SIGKILL)
    millrace.start()
    wait_for(lambda: hosts[0].ping('10.0.1.2', 1), what='packets flow again')


def test_two_instances(rig):
    hosts = rig.hosts('10.0.1.1/24', '10.0.1.2/24', '10.0.1.1/24', '10.0.1.2/24')
    rig.millrace(af_packet('p0', 'p1'), config=BRIDGE)
    rig.millrace(af_packet('p2', 'p3'), config=BRIDGE)
    for pair in (hosts[:2], hosts[2:]):
        assert wait_for(lambda pair=pair: pair[0].ping('10.0.1.2', 1))


def test_same_prefix_is_refused_in_one_line(rig):
    hosts = rig.hosts('10.0.1.1/24', '10.0.1.2/24', None)
    first = rig.millrace(af_packet('p0', 'p1'), config=BRIDGE)
    status, output = attempt(rig.millrace(af_packet('p2'), prefix=first.prefix, start=False))
    assert status == 1
    assert len(said(output)) == 1 and first.prefix in said(output)[0], output
    assert wait_for(lambda: hosts[0].ping('10.0.1.2', 1)), 'the first one goes on'


def test_devices_that_cannot_be_had_are_refused(rig):
    """Each names the device and what can be done; no device asked for is no error."""
    rig.hosts(None)
    for words, wanted in (
            (('-a', '0000:ff:1f.7'), '-a 0000:ff:1f.7: there is no such PCI device'),
            (('-a', 'ff:1f.7'), '-a ff:1f.7: there is no such PCI device'),
            (('--vdev', 'net_af_packet7,iface=nosuch'), '--vdev net_af_packet7: has not become a port')):
        millrace = rig.millrace(af_packet('p0'), start=False)
        millrace.command[1:1] = words
        millrace.command.remove('--no-pci')
        millrace.command[1:1] = [] if '-a' in words else ['--no-pci']
        status, output = attempt(millrace)
        assert status == 1 and wanted in '\n'.join(said(output)), output
    assert rig.millrace([]).show('show port info all') == []


def test_same_control_socket_is_refused(rig):
    rig.hosts(None, None)
    first = rig.millrace(af_packet('p0'))
    second = rig.millrace(af_packet('p1'), f'--ctl-socket={first.ctl_socket}', start=False)
    status, output = attempt(second)
    assert status == 1
    assert first.ctl_socket in ''.join(said(output)), output
    assert first.client('show', 'bridge').returncode == 0, 'the first one still answers'


def test_too_few_hugepages(rig):
    """One line with the number that is needed and the command that reserves them."""
    rig.hosts(None)
    millrace = rig.millrace(af_packet('p0'), '--total-num-mbufs=16000000', start=False)
    status, output = attempt(millrace, seconds=60)
    assert status == 1
    lines = [line for line in said(output) if 'hugepages' in line]
    assert len(lines) == 1 and 'nr_hugepages' in lines[0], output
    assert not glob.glob(f'/dev/hugepages/{millrace.prefix}map_*'), 'hugepages were left behind'
    rig.millrace(af_packet('p0'), prefix=millrace.prefix)


def test_without_hugepages(rig):
    hosts = rig.hosts('10.0.1.1/24', '10.0.1.2/24')
    rig.millrace(af_packet('p0', 'p1'), config=BRIDGE, eal=['--no-huge', '-m', '256'])
    assert wait_for(lambda: hosts[0].ping('10.0.1.2', 1))


def test_link_state_is_followed(rig):
    hosts = rig.hosts(None, None)
    millrace = rig.millrace(af_packet('p0', 'p1'))
    hosts[0].ip('link', 'set', 'eth0', 'down')
    wait_for(lambda: 'down' in millrace.log(), what='the log tells of the link')
    wait_for(lambda: not next(row for row in millrace.show('show port info all')
                              if row['port'] == 0)['link'] == 'up')
    hosts[0].ip('link', 'set', 'eth0', 'up')
    wait_for(lambda: next(row for row in millrace.show('show port info all')
                          if row['port'] == 0)['link'] == 'up')


def test_stopped_forwarding(rig):
    hosts = rig.hosts('10.0.1.1/24', '10.0.1.2/24')
    millrace = rig.millrace(af_packet('p0', 'p1'), config=BRIDGE)
    wait_for(lambda: hosts[0].ping('10.0.1.2', 1))
    millrace.do('stop')
    assert hosts[0].ping('10.0.1.2', 1, '-W', '1') == 0
    millrace.do('start')
    wait_for(lambda: hosts[0].ping('10.0.1.2', 1))


def test_port_stop_and_start(rig):
    hosts = rig.hosts('10.0.1.1/24', '10.0.1.2/24')
    millrace = rig.millrace(af_packet('p0', 'p1'), config=BRIDGE)
    wait_for(lambda: hosts[0].ping('10.0.1.2', 1))
    flood(rig, hosts[0])
    for _ in range(5):
        millrace.do('port stop 1', 'port start 1')
    wait_for(lambda: hosts[0].ping('10.0.1.2', 1))


def test_service_manager_is_told(rig):
    """READY=1 when it serves and forwards, STOPPING=1 when it ends; on an abstract socket too."""
    hosts = rig.hosts('10.0.1.1/24', '10.0.1.2/24')
    millrace = rig.millrace(af_packet('p0', 'p1'), config=BRIDGE, start=False)
    with managed(millrace) as manager:
        ready, _, status = manager.recv(4096).partition(b'\n')
        assert ready == b'READY=1'
        assert status.startswith(b'STATUS=forwarding with 1 lcore, ')
        assert millrace.show('show config fwd')['forwarding'] == 'running'
        assert wait_for(lambda: hosts[0].ping('10.0.1.2', 1))
        assert millrace.stop() == 0
        assert b'STOPPING=1' in iter(lambda: manager.recv(4096), b''), 'status may come before'


def test_service_manager_hears_that_it_lives(rig):
    """A sign of life in every half of WATCHDOG_USEC, and what it does when that has changed."""
    rig.hosts(None, None)
    millrace = rig.millrace(af_packet('p0', 'p1'), start=False)
    with managed(millrace, WATCHDOG_USEC='600000') as manager:
        assert b'READY=1' in manager.recv(4096)
        times = []
        while len(times) < 4:
            if manager.recv(4096) == b'WATCHDOG=1':
                times.append(time.monotonic())
        assert times[-1] - times[0] > 0.5, 'no more often than needed'
        millrace.do('stop')
        assert b'STATUS=forwarding is stopped, 2 of 2 ports up' in iter(lambda: manager.recv(4096), b'')
        millrace.do('start')


def test_signs_of_life_are_not_given_for_another_process(rig):
    rig.hosts(None)
    millrace = rig.millrace(af_packet('p0'), start=False)
    with managed(millrace, WATCHDOG_USEC='20000', WATCHDOG_PID='1') as manager:
        assert b'READY=1' in manager.recv(4096)
        assert millrace.stop() == 0
        assert b'WATCHDOG=1' not in iter(lambda: manager.recv(4096), b'STOPPING=1')


def test_statistics_every_second(rig):
    rig.hosts(None, None)
    start = time.monotonic()
    millrace = rig.millrace(af_packet('p0', 'p1'), '--stats-period=1')
    wait_for(lambda: millrace.log().count('rx_pps') >= 2 * 3, what='lcores and ports, three times')
    assert time.monotonic() - start > 2.5
    assert 'net_af_packet1' in millrace.log()


def test_default_control_socket_has_the_prefix(rig):
    rig.hosts(None)
    millrace = rig.millrace(af_packet('p0'), start=False)
    millrace.command.remove(f'--ctl-socket={millrace.ctl_socket}')
    millrace.ctl_socket = f'/run/millrace/{millrace.prefix}.sock'
    millrace.start()
    assert millrace.client('show', 'bridge').returncode == 0
    assert millrace.stop() == 0
    assert not os.path.exists(millrace.ctl_socket)


ENDLESS = '''
import sys
sys.path.insert(0, {directory!r})
from rig import Rig, af_packet

def test_endless():
    rig = Rig()
    try:
        rig.hosts(None)
        rig.millrace(af_packet('p0'))
        open({mark!r}, 'w').write(rig.name)
        while True:
            pass
    finally:
        rig.close()
'''


def test_a_test_run_that_is_ended_leaves_nothing(rig):
    """pytest takes down its appliances and namespaces when it gets SIGTERM."""
    directory = os.path.join(ROOT, 'test/functional')
    test, mark = os.path.join(rig.directory, 'test_endless.py'), os.path.join(rig.directory, 'mark')
    with open(test, 'w', encoding='ascii') as file:
        file.write(ENDLESS.format(directory=directory, mark=mark))
    run = subprocess.Popen([sys.executable, '-m', 'pytest', '-q', '-p', 'no:cacheprovider', '-p', 'conftest',
                            test], env={**os.environ, 'PYTHONPATH': directory}, cwd=rig.directory,
                           stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        name = wait_for(lambda: os.path.exists(mark) and open(mark, encoding='ascii').read(), 30)
        assert glob.glob(f'/run/netns/{name}*')
        run.send_signal(signal.SIGTERM)
        run.wait(30)
    finally:
        run.kill()
    assert not glob.glob(f'/run/netns/{name}*')
    assert not glob.glob(f'/var/run/dpdk/{name}*')
    assert not glob.glob(f'/dev/hugepages/{name}*')
