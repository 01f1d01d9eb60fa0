# SPDX-License-Identifier: BSD-3-Clause
"""millrace on two forwarding lcores beside millrace on one.

Two lcores need both CPUs of a small machine, so the main lcore floats over them. Devices offer more than
lcores can take, and one that stands still for 25 us (another program has its CPU) is offered more than
its rings hold. So time is cut into short windows, and those count in which all forwarding threads had
their CPUs (where there is none, the one that comes nearest). What full rings drop is not sent, so it does not count.
"""
import time

import forwarders
import traffic

WINDOW = 0.05  # seconds
WHOLE = 0.9    # of a window, that each thread must have had of its CPU
# scenario: forward mode, traffic
SCENARIOS = {'smp-ports': ('route', 'route16'), 'smp-cross': ('route', 'route16-cross'),
             'smp-spread': ('io', 'io')}
COUNTERS = ('rx_packets', 'tx_packets', 'handed_over')


class Smp(forwarders.Millrace):
    def __init__(self, program, scenario, directory, cpus, burst, lcores):
        self.scenario, self.count = scenario, lcores
        self.threads = {}
        if scenario == 'smp-spread':
            program = program.replace('app/millrace/millrace', 'test/perf/millrace_work')
        super().__init__(program, SCENARIOS[scenario][0], directory, cpus, burst)
        if scenario == 'smp-spread':
            self.senders = [1]
        self.write_config()

    def write_config(self):
        with open(f'{self.traffic}/config', encoding='ascii') as file:
            lines = [line for line in file if self.count > 1 or not line.startswith('port queue')]
        if self.scenario == 'smp-spread' and self.count > 1:
            lines.append('port spread 0 lcores 1,2\n')
        self.config = f'{self.directory}/config'
        with open(self.config, 'w', encoding='ascii') as file:
            file.writelines(lines)

    def lcores(self):
        cpus = reversed(self.cpus)
        forwarding = [f'{n}@{cpu}' for n, cpu in zip(range(1, 1 + self.count), cpus)]
        return ','.join([f'0@({self.cpus[0]},{self.cpus[1]})', *forwarding])

    def vdevs(self):
        """Spread: one port receives, the other one only sends."""
        vdevs = super().vdevs()
        return [vdevs[0], '--vdev=net_null1,no-rx=1'] if self.scenario == 'smp-spread' else vdevs

    def sample(self):
        lcores = range(1, 1 + self.count)
        stats = [self.query(f'/millrace/lcore/stats,{n}') for n in lcores]
        return {'wall': time.monotonic(), **{n: self.cpu_seconds(n) for n in lcores},
                **{name: sum(row[name] for row in stats) for name in COUNTERS}}

    def cpu_seconds(self, lcore=1):
        if lcore not in self.threads:
            self.threads[lcore] = self.forwarding_thread(lcore)
        self.thread = self.threads[lcore]
        return super().cpu_seconds()

    def wholeness(self, window):
        return min(window[n] for n in range(1, 1 + self.count)) / window['wall']

    def is_whole(self, window):
        return self.wholeness(window) >= WHOLE

    def windows(self, seconds):
        """What each window moved, by key of a sample: until those that count are seconds long
        together, or all are four times that."""
        windows = []
        last = self.sample()
        while sum(map(self.is_whole, windows)) * WINDOW < seconds and len(windows) * WINDOW < 4 * seconds:
            first = last
            time.sleep(WINDOW)
            last = self.sample()
            windows.append({key: last[key] - first[key] for key in first})
        return windows

    def measure(self, seconds):
        """pps: in windows that count; pps_wall: in all; share: of windows that count."""
        windows = self.windows(seconds)
        whole = list(filter(self.is_whole, windows)) or [max(windows, key=self.wholeness)]
        total = {key: sum(w[key] for w in whole) for key in whole[0]}
        self.check(total)
        return {'pps': total['tx_packets'] / total['wall'],
                'pps_wall': sum(w['tx_packets'] for w in windows) / sum(w['wall'] for w in windows),
                'share': len(whole) / len(windows), 'lost': 1 - total['tx_packets'] / total['rx_packets']}

    def check(self, moved):
        """Raises Invalid if lcores did not share the work as the scenario says."""
        handed_over = moved['handed_over'] / max(1, moved['tx_packets'])
        if moved['tx_packets'] == 0:
            raise forwarders.Invalid(f'{self.scenario}: nothing was sent')
        if self.scenario == 'smp-cross' and self.count == 2 and handed_over < 0.95:
            raise forwarders.Invalid(f'{self.scenario}: {handed_over:.0%} of packets crossed')


def make(scenario, directory):
    traffic.make(SCENARIOS[scenario][1], directory)
