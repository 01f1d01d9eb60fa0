# SPDX-License-Identifier: BSD-3-Clause
"""Clients of the control and telemetry sockets, well behaved or not."""
import contextlib
import json
import os
import socket
import struct
import subprocess

import pytest

from rig import MILLRACECTL, af_packet, wait_for

BRIDGE = 'bridge add br0\nbridge member add br0 port 0\nbridge member add br0 port 1\n'


@pytest.fixture
def busy(rig):
    """An appliance that bridges two hosts of which one sends all the time."""
    hosts = rig.hosts('10.0.1.1/24', '10.0.1.2/24')
    millrace = rig.millrace(af_packet('p0', 'p1'), config=BRIDGE)
    wait_for(lambda: hosts[0].ping('10.0.1.2', 1))
    sender = rig.popen(hosts[0], ['ping', '-n', '-q', '-f', '10.0.1.2'], stdout=subprocess.PIPE,
                       stderr=subprocess.DEVNULL, text=True)
    millrace.sender = sender
    return millrace


def connect(path, kind=socket.SOCK_STREAM):
    client = socket.socket(socket.AF_UNIX, kind)
    client.settimeout(5)

    def connected():
        try:
            client.connect(path)
        except BlockingIOError:  # the backlog is full for the moment
            return False
        return True

    wait_for(connected, what=f'{path} takes connections')
    return client


def footprint(millrace):
    """Open files and resident KiB of the process."""
    with open(f'/proc/{millrace.process.pid}/status', encoding='ascii') as status:
        resident = next(int(line.split()[1]) for line in status if line.startswith('VmRSS'))
    return len(os.listdir(f'/proc/{millrace.process.pid}/fd')), resident


def no_harm(millrace, abuse, times):
    """Does abuse(n) so many times: the process lives, answers, and has what it had before."""
    for n in range(20):
        abuse(n)
    files, resident = footprint(millrace)
    drops = millrace.drops()
    for n in range(times):
        abuse(n)
    assert millrace.client('show', 'bridge').returncode == 0
    assert millrace.is_running()
    wait_for(lambda: footprint(millrace)[0] <= files, what='files are closed')
    assert footprint(millrace)[1] < resident + 4096, 'memory grew'
    millrace.sender.send_signal(2)
    sent, received = [int(word) for word in millrace.sender.communicate(timeout=10)[0].split()
                      if word.isdigit()][:2]
    assert sent - received <= 16, 'packets were lost'  # the last may have been under way
    assert millrace.drops() == drops


def leave_mid_reply(path, request, n):
    client = connect(path)
    if n % 3 == 1:
        client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack('ii', 1, 0))
    client.send(request[:len(request) // 2] if n % 3 == 2 else request)
    client.close()


def test_clients_that_leave(busy):
    no_harm(busy, lambda n: leave_mid_reply(busy.ctl_socket, b'json help\n' * 20, n), 1000)


def test_telemetry_readers_that_leave(busy):
    def abuse(n):
        client = connect(busy.telemetry.path, socket.SOCK_SEQPACKET)
        if n % 3:
            client.recv(1024)
        with contextlib.suppress(BrokenPipeError):  # DPDK turns an eleventh client away
            client.send(b'/millrace/drops' if n % 2 else b'/millr')
        client.close()

    no_harm(busy, abuse, 1000)


def test_clients_that_never_read(busy):
    clients = [connect(busy.ctl_socket) for _ in range(8)]
    for client in clients:
        client.setblocking(False)
        try:
            while True:
                client.send(b'text help\n' * 100)
        except BlockingIOError:
            pass
    assert busy.client('show', 'bridge').returncode == 0, 'others are served'
    for client in clients:
        client.close()
    wait_for(lambda: busy.client('show', 'bridge').returncode == 0)


def test_half_lines_wait_for_their_end(busy):
    with connect(busy.ctl_socket) as client:
        client.send(b'json show bri')
        assert busy.client('show', 'bridge').returncode == 0
        client.send(b'dge\n')
        status, _, body = client.recv(65536).partition(b'\n')
        assert status.split()[0] == b'0'
        assert 'br0' in [row['name'] for row in json.loads(body)]


ODD_LINES = [
    b'text \0show bridge\n', b'text show\0bridge\n', b'text ' + b'a' * 10000 + b'\n',
    b'text bridge add ' + b'b' * 3000 + b'\n', b'\n', b'text \n', b'nonsense\n', b'\xff\xfe\n',
    b'text ' + b'show ' * 700 + b'\n', b'json route add 10.0.0.0/8 via' + b' 10.0.0.1' * 300 + b'\n']


def test_odd_lines_do_no_harm(busy):
    before = busy.show('show bridge')
    for line in ODD_LINES:
        with connect(busy.ctl_socket) as client:
            client.sendall(line)
            with contextlib.suppress(TimeoutError, ConnectionError):
                client.recv(65536)
        assert busy.show('show bridge') == before, line


def test_exit_status(rig, busy):
    def status(*words, **options):
        return busy.client(*words, **options).returncode

    assert status('show', 'bridge') == 0
    assert status('bridge', 'add', 'br0') == 1
    assert status('no', 'such', 'command') == 1
    assert status() == 2
    nobody = subprocess.run([MILLRACECTL, '-s', os.path.join(rig.directory, 'nobody'), 'help'],
                            capture_output=True, text=True, check=False)
    assert nobody.returncode == 2 and 'nobody' in nobody.stderr


def test_commands_from_a_file_and_standard_input(busy):
    done = busy.client('-f', '-', text='# bridges\nbridge add br1\n\nbridge add br2 ageing 10\n')
    assert done.returncode == 0, done.stderr
    assert {'br0', 'br1', 'br2'} <= {row['name'] for row in busy.show('show bridge')}
    done = busy.client('-f', '-', text='bridge del br1\nbridge del br1\nbridge del br2\n')
    assert done.returncode == 1
    assert ':2' in done.stderr and 'br1' in done.stderr
    path = os.path.join(busy.directory, 'commands')
    with open(path, 'w', encoding='ascii') as file:
        file.write('bridge add br3\n')
    assert busy.client('-f', path).returncode == 0


def test_every_show_command_on_a_fresh_start(rig):
    rig.hosts(None, None)
    millrace = rig.millrace(af_packet('p0', 'p1'))
    shows = [row['command'] for row in millrace.show('help') if row['command'].startswith('show')]
    assert len(shows) >= 8
    for syntax in shows:
        words = []
        for word in syntax.split():
            if word.startswith('['):
                break
            words.append({'N': '0', 'L': '1', 'NAME': 'br0'}.get(word, word.split('|')[0]))
        for json_output in (False, True):
            done = millrace.client(*words, json_output=json_output)
            assert done.returncode in (0, 1), f'{words}: {done.stderr}'
            assert done.returncode == 0 or done.stderr.strip(), f'{words}: refused without a word'


MISSING = [
    'bridge del nobody', 'bridge member del br0 port 1', 'station del br0 02:00:00:00:00:01',
    'route del 10.0.0.0/8', 'neighbour del 10.0.0.9 port 0', 'address del 10.0.0.1/24 port 0',
    'show port info 32', 'show port info 65535', 'show port info 65536', 'port start 31', 'port stop 99',
    'show bridge nobody', 'set promisc 32 on']


def test_missing_objects(rig):
    rig.hosts(None, None)
    millrace = rig.millrace(af_packet('p0', 'p1'),
                            config='bridge add br0\nbridge member add br0 port 0')
    for line in MISSING * 2:
        done = millrace.client(*line.split())
        assert done.returncode == 1, line
        assert done.stderr.strip(), line
    assert millrace.is_running()
