# SPDX-License-Identifier: BSD-3-Clause
"""What forwarding lcores execute per packet, counted by callgrind.

A forwarder runs under valgrind, is warmed up and stopped; then callgrind's counts are zeroed, it
forwards for a while and is stopped again, and its own count of packets over that while divides what
callgrind counted in all threads but the main one. Both counts cover the same packets exactly, since
nothing is forwarded at either end. Several lcores take turns after each burst (turns.c); what that
costs is taken off. Callgrind models a processor: the figures depend on neither the
machine's speed nor its load.
"""
import collections
import glob
import json
import os
import re
import shutil
import subprocess
import tempfile
import time

import traffic
from forwarders import MBUFS, Invalid

VALGRIND = ['valgrind', '--tool=callgrind', '--separate-threads=yes', '--fair-sched=yes',
            '--branch-sim=yes', '--cache-sim=yes', '--collect-bus=yes']
# What callgrind calls them, summed.
EVENTS = {'instructions': ('Ir',), 'branches': ('Bc', 'Bi'), 'mispredictions': ('Bcm', 'Bim'),
          'data_accesses': ('Dr', 'Dw'), 'icache_misses': ('I1mr',), 'dcache_misses': ('D1mr', 'D1mw'),
          'locked': ('Ge',)}
NAME = re.compile(r'c?(ob|fn)=\((\d+)\)(?: (.*))?$')
TURNS = ('(turns.so)', 'sched_yield')
COST = re.compile(r'[-+*\d]\S* ')


def group(costs):
    """Costs by event of callgrind's, as those that EVENTS names."""
    return {name: sum(costs[event] for event in events) for name, events in EVENTS.items()}


class Dump:
    """The files of one dump, a thread each. Names are written once for all of them, so the first
    thread's file, which counts for nothing else, is read as well."""

    def __init__(self, pattern):
        self.names = {'ob': {}, 'fn': {}}
        self.total = collections.Counter()
        self.functions = collections.defaultdict(collections.Counter)
        for number, path in enumerate(sorted(glob.glob(pattern))):
            with open(path, encoding='utf-8', errors='replace') as file:
                self.read(file, number > 0)

    def costs(self, words):
        return dict(zip(self.events, map(int, words)))

    def read(self, lines, count):
        where, called = {}, False
        for line in lines:
            if match := NAME.match(line):
                kind, number, name = match.groups()
                if name:
                    self.names[kind][number] = name
                if not line.startswith('c'):
                    where[kind] = number
            elif line.startswith('calls='):
                called = True
            elif line.startswith('events:'):
                self.events = line.split()[1:]
            elif line.startswith('summary:') and count:
                self.total.update(self.costs(line.split()[1:]))
            elif COST.match(line):
                if count and not called:  # after calls= comes what the function called cost
                    self.functions[self.name(where)].update(self.costs(line.split()[1:]))
                called = False

    def name(self, where):
        """A function's, or its library's where that has no symbols."""
        function = self.names['fn'].get(where['fn'], '?').split("'")[0]
        library = os.path.basename(self.names['ob'].get(where['ob'], '?'))
        return f'({library})' if function.startswith(('0x', '?')) or library == 'turns.so' else function


class Forwarder:
    """A program that forwards between net_pcap ports under callgrind; use as a context.
    directory: what traffic.make wrote. lcores: how many forward."""

    def __init__(self, directory, lcores):
        self.traffic, self.lcores = directory, lcores
        self.directory = tempfile.mkdtemp(prefix='millrace-profile-')

    def eal(self):
        vdevs = [f'--vdev=net_pcap{n},rx_pcap={self.traffic}/p{n}.pcap,infinite_rx=1'
                 for n in range(traffic.ports(self.traffic))]
        cpus = sorted(os.sched_getaffinity(0))
        lcores = [f'{n}@{cpus[n % len(cpus)]}' for n in range(self.lcores + 1)]
        return ['--lcores', ','.join(lcores), '--no-huge', '-m', '300', '--no-telemetry', '--no-shconf',
                '--no-pci', '--file-prefix', os.path.basename(self.directory), *vdevs, '--']

    def preload(self):
        return ''

    def __enter__(self):
        environment = {**os.environ, 'LD_PRELOAD': self.preload()}
        # stdbuf: lines of output are to be seen as they are printed.
        command = ['stdbuf', '-oL', *VALGRIND, f'--callgrind-out-file={self.directory}/out', *self.command()]
        with open(f'{self.directory}/log', 'w', encoding='ascii') as log:
            self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=log, stderr=log,
                                            env=environment)
        try:
            self.await_log(self.READY)
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()
        self.process.stdin.close()
        shutil.rmtree(self.directory)

    def log(self):
        with open(f'{self.directory}/log', encoding='utf-8', errors='replace') as file:
            return file.read()

    def await_log(self, text, count=1):
        deadline = time.monotonic() + 120
        while (log := self.log()).count(text) < count:
            if time.monotonic() > deadline or self.process.poll() is not None:
                raise Invalid(f'no "{text}" in what {self.command()[0]} said:\n{log[-2000:]}')
            time.sleep(0.05)

    def control(self, action):
        subprocess.run(['callgrind_control', action, str(self.process.pid)], check=True, timeout=60,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def count(self, warm_up, seconds):
        """Per packet: events as EVENTS names them, the same by function; and how many packets."""
        self.forward(warm_up)
        self.control('-z')
        packets = self.forward(seconds)
        self.control('-d')
        dump = Dump(f'{self.directory}/out.1-*')
        if not dump.total:
            raise Invalid(f'callgrind counted nothing in {self.command()[0]}')
        for name in TURNS:
            dump.total.subtract(dump.functions.pop(name, {}))
        functions = {name: group(costs) for name, costs in dump.functions.items()}
        return {'packets': packets,
                'total': {name: value / packets for name, value in group(dump.total).items()},
                'functions': {name: {event: value / packets for event, value in costs.items()}
                              for name, costs in functions.items()}}


class Testpmd(Forwarder):
    READY = 'testpmd> '

    def __init__(self, mode, directory):
        self.mode, self.stops = mode, 0
        super().__init__(directory, 1)

    def command(self):
        return ['dpdk-testpmd', *self.eal(), '-i', f'--forward-mode={self.mode}', '--nb-cores=1',
                '--burst=64', f'--total-num-mbufs={MBUFS}']

    def tell(self, text):
        self.process.stdin.write(text.encode() + b'\n')
        self.process.stdin.flush()

    def forward(self, seconds):
        """Returns how many packets were sent."""
        self.tell('start')
        time.sleep(seconds)
        self.tell('stop')
        self.stops += 1
        self.await_log('Done.', self.stops)
        return int(re.findall(r'Accumulated.*\n.*\n\s*TX-packets: (\d+)', self.log())[-1])


class Millrace(Forwarder):
    READY = 'millrace: ready'

    def __init__(self, build, mode, directory, lcores, rules=None):
        """rules: a file for the packet filter."""
        self.build, self.mode, self.rules = build, mode, rules
        super().__init__(directory, lcores)

    def command(self):
        return [f'{self.build}/app/millrace/millrace', *self.eal(), f'--forward-mode={self.mode}',
                f'--config={self.traffic}/config', f'--ctl-socket={self.directory}/ctl', '--idle=busy',
                f'--total-num-mbufs={MBUFS}']

    def preload(self):
        return f'{self.build}/test/perf/turns.so' if self.lcores > 1 else ''

    def ctl(self, *words):
        client = f'{self.build}/app/millracectl/millracectl'
        done = subprocess.run([client, '-j', '-s', f'{self.directory}/ctl', *words], timeout=60,
                              capture_output=True, check=False)
        if done.returncode != 0:
            raise Invalid(f'millrace: {" ".join(words)}: {done.stderr.decode()}')
        return json.loads(done.stdout)

    def __enter__(self):
        super().__enter__()
        self.ctl('stop')
        if self.rules:
            self.ctl('filter', 'load', self.rules)
        return self

    def counters(self):
        rows = [self.ctl('show', 'lcore', 'stats', str(1 + n)) for n in range(self.lcores)]
        return {name: sum(row[name] for row in rows) for name in ('rx_packets', 'tx_packets', 'handed_over')}

    def forward(self, seconds):
        """Returns how many packets were received."""
        before = self.counters()
        self.ctl('start')
        time.sleep(seconds)
        self.ctl('stop')
        received, sent, self.handed_over = (now - before[name] for name, now in self.counters().items())
        self.check(received, sent)
        return received

    def check(self, received, sent):
        """Stopping drops what lay in rings, and warming up floods; more is no forwarding."""
        if received == 0 or abs(received - sent) > 8192 + received / 1000:
            raise Invalid(f'millrace: {received} packets received, {sent} sent')
        if self.lcores > 1 and self.handed_over < received * 0.95:
            raise Invalid(f'millrace: of {received} packets {self.handed_over} went by the other lcore')
