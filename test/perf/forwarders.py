# SPDX-License-Identifier: BSD-3-Clause
"""millrace and dpdk-testpmd as the benchmark runs them, and how their rates are read.

Both are asked for the same counters of the same devices, over DPDK's telemetry. Rates are packets per
second of CPU time that the forwarding lcore's thread got, so that what else runs on its CPU takes less
from the figure (caches apart); on a quiet machine that is wall time.
"""
import glob
import json
import os
import shutil
import socket
import subprocess
import tempfile
import time

import traffic

FILTER_FLOWS = 262144  # of rules with state: the traffic's are of one direction each
MBUFS = 32768  # for both: 2 x 4096 stay with the devices, which send them again and again


class Invalid(Exception):
    """A run that says nothing: it did not start, or did not forward all that it received."""


class Connection:
    """A client of DPDK's telemetry socket."""

    def __init__(self, prefix):
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.socket.settimeout(10)
        try:
            self.socket.connect(f'/var/run/dpdk/{prefix}/dpdk_telemetry.v2')
            self.longest = json.loads(self.socket.recv(1024))['max_output_len']
        except BaseException:
            self.socket.close()
            raise

    def query(self, command):
        self.socket.send(command.encode())
        return json.loads(self.socket.recv(self.longest))[command.split(',')[0]]

    def close(self):
        self.socket.close()


class Forwarder:
    """A process with net_pcap ports that forwards on one lcore; use as a context.
    directory: what traffic.make wrote."""

    def __init__(self, name, directory, cpus, burst):
        self.name, self.traffic, self.cpus, self.burst = name, directory, cpus, burst
        self.ports = self.senders = range(traffic.ports(directory))
        self.prefix = f'bench-{name}-{os.getpid()}'
        self.directory = tempfile.mkdtemp(prefix=self.prefix)
        self.process = self.connection = None

    def command(self):
        raise NotImplementedError

    def lcores(self):
        return f'0@{self.cpus[0]},1@{self.cpus[1]}'

    def vdevs(self):
        return [f'--vdev=net_pcap{n},rx_pcap={self.traffic}/p{n}.pcap,infinite_rx=1' for n in self.ports]

    def eal(self):
        return ['--lcores', self.lcores(), '--no-pci', '--file-prefix', self.prefix, *self.vdevs(), '--']

    def __enter__(self):
        self.started = time.monotonic()
        with open(f'{self.directory}/log', 'w', encoding='ascii') as log:
            self.process = subprocess.Popen(self.command(), stdin=subprocess.PIPE, stdout=log, stderr=log)
        try:
            self.await_traffic()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        if self.connection is not None:
            self.connection.close()
        self.process.terminate()
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.process.stdin.close()
        for path in (self.directory, f'/var/run/dpdk/{self.prefix}'):
            shutil.rmtree(path, ignore_errors=True)
        for path in glob.glob(f'/dev/hugepages/{self.prefix}map_*'):
            os.unlink(path)

    def log(self):
        with open(f'{self.directory}/log', encoding='utf-8', errors='replace') as file:
            return file.read()

    def connect(self):
        try:
            self.connection = Connection(self.prefix)
        except OSError:
            return False
        return True

    def query(self, command):
        return self.connection.query(command)

    def await_traffic(self):
        """Returns when all ports that are to send do."""
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline:
            if self.process.poll() is not None:
                break
            if self.connection is None and not self.connect():
                time.sleep(0.02)
                continue
            if self.ready() and all(self.query(f'/ethdev/stats,{n}')['opackets'] for n in self.senders):
                self.thread = self.forwarding_thread(1)
                return
            time.sleep(0.02)
        raise Invalid(f'{self.name} did not forward:\n{self.log()[-2000:]}')

    def ready(self):
        return len(self.query('/ethdev/list') or []) == len(self.ports)

    def forwarding_thread(self, lcore):
        for task in os.listdir(f'/proc/{self.process.pid}/task'):
            with open(f'/proc/{self.process.pid}/task/{task}/comm', encoding='ascii') as file:
                if file.read().strip() in (f'lcore-worker-{lcore}', f'rte-worker-{lcore}'):
                    return task
        raise Invalid(f'{self.name} has no thread lcore-worker-{lcore}')

    def cpu_seconds(self):
        with open(f'/proc/{self.process.pid}/task/{self.thread}/schedstat', encoding='ascii') as file:
            return int(file.read().split()[0]) / 1e9

    def sample(self):
        stats = [self.query(f'/ethdev/stats,{n}') for n in self.ports]
        return {'wall': time.monotonic(), 'cpu': self.cpu_seconds(),
                'rx': sum(s['ipackets'] for s in stats), 'tx': sum(s['opackets'] for s in stats)}

    def check(self, first, last):
        """Raises Invalid unless what was received was sent."""
        received, sent = last['rx'] - first['rx'], last['tx'] - first['tx']
        if received == 0 or abs(received - sent) > received / 1000:
            raise Invalid(f'{self.name}: {received} received, {sent} sent')

    def measure(self, seconds):
        """Rates of a while, as a dictionary: pps (CPU time), pps_wall, share (of the CPU)."""
        first = self.sample()
        time.sleep(seconds)
        last = self.sample()
        self.check(first, last)
        sent, wall, cpu = (last[key] - first[key] for key in ('tx', 'wall', 'cpu'))
        return {'pps': sent / cpu, 'pps_wall': sent / wall, 'share': cpu / wall}


class Testpmd(Forwarder):
    def __init__(self, mode, directory, cpus, burst):
        self.mode = mode
        super().__init__('testpmd', directory, cpus, burst)

    def command(self):
        burst = [f'--burst={self.burst}'] if self.burst else []
        return ['dpdk-testpmd', *self.eal(), f'--forward-mode={self.mode}', '--nb-cores=1', '--auto-start',
                f'--total-num-mbufs={MBUFS}', *burst]


class Millrace(Forwarder):
    # What stands still while all that is received is forwarded, and nothing else happens.
    STILL = ('dropped', 'punted', 'consumed', 'originated', 'copied', 'learn_full',
             'stations_moved')

    def __init__(self, program, mode, directory, cpus, burst, mbufs=MBUFS, filter_flows=FILTER_FLOWS):
        self.program, self.mode, self.config, self.mbufs = program, mode, f'{directory}/config', mbufs
        self.filter_flows = filter_flows
        super().__init__('millrace', directory, cpus, burst)

    def command(self):
        burst = [f'--burst={self.burst}'] if self.burst else []
        return [self.program, *self.eal(), f'--forward-mode={self.mode}', f'--config={self.config}',
                f'--ctl-socket={self.directory}/ctl', f'--total-num-mbufs={self.mbufs}', f'--filter-flows={self.filter_flows}', *burst]

    def ready(self):
        if 'ready' not in self.log():
            return False
        self.start_seconds = time.monotonic() - self.started
        return True

    def sample(self):
        still = self.query('/millrace/lcore/stats,1')
        still = {name: still[name] for name in self.STILL}
        if self.mode == 'bridge':
            bridge = self.query('/millrace/bridge/list')[0]
            stats = self.query(f'/millrace/bridge/stats,{bridge}')
            still.update(flooded=stats['flooded'], stations=stats['stations'])
        return {**super().sample(), 'still': still}

    def check(self, first, last):
        super().check(first, last)
        was, still = first['still'], last['still']
        moved = {name: still[name] - was[name] for name in still if still[name] != was[name]}
        if moved:
            raise Invalid(f'millrace: {moved} while it forwarded')
        if self.mode == 'bridge' and still['stations'] != 2 * traffic.STATIONS:
            raise Invalid(f'millrace: {still["stations"]} stations instead of {2 * traffic.STATIONS}')
