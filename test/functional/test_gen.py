# SPDX-License-Identifier: BSD-3-Clause
"""The traffic generator: what it counts is what happened, frame by frame."""
import csv
import json
import os
import signal
import subprocess
import threading

import pytest
from scapy.layers.inet import IP, UDP
from scapy.layers.l2 import ARP, Ether
from scapy.utils import rdpcap, wrpcap

from frames import checksum_errors
from rig import BUILD, af_packet, wait_for

GENERATOR = os.path.join(BUILD, 'app/millrace-gen/millrace-gen')
NO_HUGE = ['--no-huge', '-m', '256']
NO_LOSS = {'lost': 0, 'duplicates': 0, 'reordered': 0, 'bad_checksums': 0, 'strayed': 0, 'other': 0}


class Generator:
    """A generator in the rig's box."""

    def __init__(self, rig, vdevs, eal=(), cores='0'):
        self.rig = rig
        self.prefix = rig.unique()
        self.json = os.path.join(rig.directory, f'{self.prefix}.json')
        self.log = os.path.join(rig.directory, f'{self.prefix}.log')
        rig.logs.append(self.log)
        self.eal = ['-l', cores, '--no-pci', '--no-telemetry', '--file-prefix', self.prefix, *eal]
        for vdev in vdevs:
            self.eal += ['--vdev', vdev]

    def start(self, *options):
        with open(self.log, 'ab') as log:
            return self.rig.popen(
                self.rig.box, [GENERATOR, *self.eal, '--', f'--json={self.json}', *options],
                stdin=subprocess.DEVNULL, stdout=log, stderr=log)

    def results(self, process):
        """Rows of the report, when the process has ended."""
        assert process.wait(90) == 0, self.text()
        with open(self.json, encoding='utf-8') as file:
            return json.load(file)['rows']

    def run(self, *options):
        return self.results(self.start(*options))

    def refused(self, *options):
        """What it says when it does not do what was asked."""
        process = self.start(*options)
        assert process.wait(60) == 1, self.text()
        return self.text()

    def text(self):
        with open(self.log, encoding='utf-8', errors='replace') as log:
            return log.read()


def memifs(rig, role):
    return [f'net_memif{n},role={role},id={n},socket={rig.directory}/memif{n},socket-abstract=no'
            for n in range(2)]


def against_millrace(rig, config, *options):
    """Runs a generator against an appliance. Over vhost, since memif's driver takes the memory away
    from under an appliance that still polls it when the generator ends."""
    sockets = [os.path.join(rig.directory, f'v{n}') for n in range(2)]
    millrace = rig.millrace([f'net_vhost{n},iface={path}' for n, path in enumerate(sockets)],
                            config='\n'.join(config))
    rows = Generator(rig, [f'net_virtio_user{n},path={path},queue_size=1024'
                           for n, path in enumerate(sockets)], ['--single-file-segments']).run(*options)
    return millrace, rows


def middle(rig, vdevs, eal=NO_HUGE):
    """A plain dpdk-testpmd that carries frames between two devices."""
    log_path = os.path.join(rig.directory, 'testpmd.log')
    prefix = rig.unique()
    command = ['stdbuf', '-oL', 'dpdk-testpmd', '--lcores', '0@0,1@1', '--no-pci', '--file-prefix',
               prefix, *eal]
    for vdev in vdevs:
        command += ['--vdev', vdev]
    command += ['--', '--auto-start', '--forward-mode=io', '--total-num-mbufs=16384']
    rig.logs.append(log_path)
    with open(log_path, 'w', encoding='utf-8') as log:
        process = rig.popen(rig.box, command, stdin=subprocess.PIPE, stdout=log, stderr=log)

    def is_ready():
        assert process.poll() is None, 'dpdk-testpmd ended'
        with open(log_path, encoding='utf-8', errors='replace') as log:
            return 'Press enter to exit' in log.read()

    wait_for(is_ready, 30, 'dpdk-testpmd is ready')


def expect(row, sent, **fields):
    wanted = {'sent': sent, 'received': sent - fields.get('lost', 0), **NO_LOSS, **fields}
    assert {name: row[name] for name in wanted} == wanted


@pytest.mark.parametrize('options', [
    [], ['--size=imix', '--dst-ip=198.19.0.2-198.19.0.101', '--src-port=1-1000'],
    ['--vlan=100', '--size=64'], ['--src-ip=2001:2::1-2001:2::9', '--dst-ip=2001:2:1::1', '--size=80,1518']],
    ids=['plain', 'mix', 'vlan', 'ipv6'])
def test_a_plain_wire_loses_nothing(rig, options):
    middle(rig, memifs(rig, 'server'))
    rows = Generator(rig, memifs(rig, 'client'), NO_HUGE).run(
        '--ways=two', '--count=5000', '--rate=5000', '--verify', *options)
    assert len(rows) == 2
    for row in rows:
        expect(row, 5000)
        assert 0 < row['latency_min_us'] <= row['latency_p50_us'] <= row['latency_p99_us'] \
            <= row['latency_p999_us'] <= row['latency_max_us']


def test_over_vhost(rig):
    """Also that several lcores share the work."""
    sockets = [os.path.join(rig.directory, f'v{n}') for n in range(2)]
    huge = ['--single-file-segments']
    middle(rig, [f'net_vhost{n},iface={path}' for n, path in enumerate(sockets)], huge)
    generator = Generator(rig, [f'net_virtio_user{n},path={path},queue_size=1024'
                                for n, path in enumerate(sockets)], huge)
    generator.eal[0:2] = ['--lcores', '0@0,1@1,2@0']
    rows = generator.run('--ways=two', '--count=2000', '--rate=1000')
    for row in rows:
        expect(row, 2000)


class Relay(threading.Thread):
    """Carries UDP frames from one wire to another, with faults, while it is entered."""

    def __init__(self, source, sink):
        super().__init__()
        self.source, self.sink = source, sink
        self.ending = threading.Event()
        self.lost = self.copied = self.delayed = 0
        self.late = None

    def carry(self, number, frame):
        if self.late is not None and number % 100 == 53:  # three places behind
            self.sink.send(frame, self.late)
            self.late = None
            self.delayed += 1
        elif number % 100 == 50:
            self.late = frame
        elif number % 37 == 0:
            self.lost += 1
        elif number % 41 == 1:
            self.sink.send(frame, frame)
            self.copied += 1
        else:
            self.sink.send(frame)

    def run(self):
        number = 0
        while not self.ending.is_set():
            if self.source.receive_until(lambda frame: frame[23:24] == b'\x11', 0.1) is not None:
                self.carry(number, self.source.recorded[-1])
                number += 1

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *_):
        self.ending.set()
        self.join()


def test_injected_faults_are_found_to_the_frame(rig):
    hosts = rig.hosts(None, None)
    with Relay(rig.wire(hosts[0]), rig.wire(hosts[1])) as relay:
        row, = Generator(rig, af_packet('p0', 'p1'), NO_HUGE).run(
            '--count=3000', '--rate=2000', '--warm-up=0', '--settle=5000')
    assert relay.lost > 50 and relay.copied > 50 and relay.delayed > 20
    expect(row, 3000, lost=relay.lost, duplicates=relay.copied, reordered=relay.delayed)


def test_bridge(rig):
    millrace, rows = against_millrace(
        rig, ['bridge add br0', 'bridge member add br0 port 0', 'bridge member add br0 port 1'],
        '--ways=two', '--count=3000', '--rate=3000', '--verify', '--src-mac='
        '02:00:00:00:00:01-02:00:00:00:00:20,02:00:00:00:01:01-02:00:00:00:01:20')
    for row in rows:
        expect(row, 3000)
    # The first announcements may come before the appliance sees the other link.
    assert set(millrace.drops()) <= {'bridge_no_member'}
    millrace.check_conservation()


def test_router(rig):
    """The generator finds its gateways and answers for all of its addresses."""
    millrace, rows = against_millrace(
        rig, ['address add 10.0.0.1/24 port 0', 'address add 10.0.1.1/24 port 1'],
        '--ways=two', '--count=3000', '--rate=3000', '--src-ip=10.0.0.2-10.0.0.20', '--verify',
        '--dst-ip=10.0.1.2-10.0.1.20', '--gateway=10.0.0.1,10.0.1.1', '--size=imix')
    for row in rows:
        # What else comes is the router's.
        expect(row, 3000, other=row['other'])
    millrace.check_conservation()


def test_a_gateway_that_is_not_there(rig):
    middle(rig, memifs(rig, 'server'))
    assert 'gateway 10.0.0.1 does not answer' in Generator(rig, memifs(rig, 'client'), NO_HUGE).refused(
        '--gateway=10.0.0.1', '--src-ip=10.0.0.2', '--dst-ip=10.0.0.3', '--wait-link=1')


def test_no_link(rig):
    assert 'no link within 1 s' in Generator(rig, memifs(rig, 'server'), NO_HUGE).refused('--wait-link=1')


def test_arp_answers(rig):
    host, = rig.hosts(None)
    wire = rig.wire(host)
    generator = Generator(rig, af_packet('p0'), NO_HUGE)
    process = generator.start('--rate=100', '--seconds=60', '--src-ip=10.0.0.2-10.0.0.9', '--warm-up=0',
                              '--settle=1', '--src-mac=02:00:00:00:00:02-02:00:00:00:00:09')
    assert wire.receive_until(lambda frame: frame[23:24] == b'\x11', 30) is not None
    request = bytes(Ether(src='06:00:00:00:00:01', dst='ff:ff:ff:ff:ff:ff') / ARP(
        hwsrc='06:00:00:00:00:01', psrc='10.0.0.1', pdst='10.0.0.7')).ljust(60, b'\0')
    wire.send(request)
    assert wire.receive_until(lambda frame: frame[12:14] == b'\x08\x06', 10) is not None
    answer = Ether(wire.recorded[-1])[ARP]
    assert (answer.op, answer.psrc, answer.hwsrc) == (2, '10.0.0.7', '02:00:00:00:00:07')
    process.send_signal(signal.SIGINT)
    row, = generator.results(process)  # what there is when it is interrupted
    assert row['sent'] == row['lost'] > 0


def test_frames_on_a_wire(rig):
    """As others see them: into a capture file, and from it again."""
    path, again = os.path.join(rig.directory, 'sent.pcap'), os.path.join(rig.directory, 'again.pcap')
    row, = Generator(rig, [f'net_pcap0,tx_pcap={path}'], NO_HUGE).run(
        '--count=300', '--rate=10k', '--size=64,200', '--src-ip=10.0.0.1-10.0.0.3', '--warm-up=0',
        '--settle=10')
    assert (row['sent'], row['lost']) == (300, 300)
    frames = rdpcap(path)
    assert [len(frame) for frame in frames] == [60, 196] * 150
    assert not [frame for frame in frames if checksum_errors(bytes(frame))]
    assert {frame[IP].src for frame in frames} == {'10.0.0.1', '10.0.0.2', '10.0.0.3'}
    assert {(frame[IP].dst, frame[UDP].sport, frame[UDP].dport) for frame in frames} == {
        ('198.19.0.2', 49184, 9)}

    wrpcap(path, [*frames[:5], Ether(dst='02:00:00:00:00:05') / ARP()])
    row, = Generator(rig, [f'net_pcap0,tx_pcap={again}'], NO_HUGE).run(
        f'--pcap={path}', '--count=12', '--warm-up=0', '--settle=10')
    assert (row['sent'], row['lost']) == (12, 10)  # ARP is sent, and not expected
    assert not [frame for frame in rdpcap(again) if checksum_errors(bytes(frame))]
    assert [frame[Ether].type for frame in rdpcap(again)] == ([0x800] * 5 + [0x806]) * 2


def test_trial_of_throughput(rig):
    """In one process over a ring: what comes back is everything, so the whole rate passes."""
    table = os.path.join(rig.directory, 'table.csv')
    rows = Generator(rig, ['net_ring0'], NO_HUGE).run(
        '--trial=rfc2544', '--rate=2000', '--seconds=1', '--size=64,1518', '--resolution=10',
        f'--csv={table}', '--link-speed=1000')
    assert [row['size'] for row in rows] == [64, 1518]
    for row in rows:
        # A machine that is busy otherwise may not keep the rate; the row says so then.
        assert row['throughput_pps'] == 2000 or row['limited_by_generator'] == 1
    if rows[1]['throughput_pps'] == 2000:
        assert rows[1]['link_percent'] == pytest.approx(2000 * 1538 * 8 / 1e9 * 100, rel=1e-3)
    with open(table, encoding='utf-8') as file:
        assert [int(row['size']) for row in csv.DictReader(file)] == [64, 1518]


def test_trial_of_bursts(rig):
    row, = Generator(rig, ['net_ring0'], NO_HUGE).run(
        '--trial=back-to-back', '--rate=1000', '--seconds=1', '--size=64', '--repeat=2')
    assert row['frames'] == 1000 or row['limited_by_generator'] == 1


def test_trial_of_latency(rig):
    middle(rig, memifs(rig, 'server'))
    rows = Generator(rig, memifs(rig, 'client'), NO_HUGE).run(
        '--trial=latency', '--rate=500', '--seconds=1', '--size=64,512', '--ways=both', '--repeat=2')
    assert [(row['size'], row['ways'], row['direction']) for row in rows] == [
        (64, 1, '0 -> 1'), (512, 1, '0 -> 1'), (64, 2, '0 -> 1'), (64, 2, '1 -> 0'),
        (512, 2, '0 -> 1'), (512, 2, '1 -> 0')]
    for row in rows:
        assert row['lost'] == 0 and 0 < row['latency_avg_us'] <= row['latency_max_us']


@pytest.mark.parametrize('option, reason', [
    ('--size=63', "--size: '63' is not allowed"),
    ('--size=64:0', "--size: '64:0' is not allowed"),
    ('--rate=0', "--rate: '0' is not allowed"),
    ('--rate=101%', "--rate: '101%' is not allowed"),
    ('--seconds=0', "--seconds: '0' is not allowed; allowed are 1 to 1000000"),
    ('--src-ip=::1', 'are of one family'),
    ('--second=1', "unknown option '--second'; did you mean --seconds?"),
    ('--gateway=10.0.0.1,', "--gateway: '10.0.0.1,' is not allowed"),
    ('stray', "unexpected word 'stray'"),
])
def test_wrong_options(option, reason):
    done = subprocess.run([GENERATOR, '--', option], capture_output=True, text=True, timeout=10,
                          check=False)
    assert done.returncode == 1 and reason in done.stderr
