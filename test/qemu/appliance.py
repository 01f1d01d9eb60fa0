# SPDX-License-Identifier: BSD-3-Clause
"""millrace in a guest."""
import json
import time

from guest import Failed


class Refused(Exception):
    """A command that the appliance refused; its text is what it said."""


def wait_for(condition, seconds=10, what=None):
    """Returns the first true value of condition(); fails after so many seconds."""
    deadline = time.monotonic() + seconds
    while True:
        value = condition()
        if value:
            return value
        assert time.monotonic() < deadline, f'not within {seconds} s: {what or condition}'
        time.sleep(0.02)


class Millrace:
    """The appliance in a guest, with these NICs as ports 0, 1, ... (so they must be in the order of
    their PCI addresses, as guest.nics is). `options` follow `--`; `config` is a text of commands."""

    def __init__(self, guest, nics, *options, eal=('-l', '0,1'), config=''):
        self.guest = guest
        self.nics = list(nics)
        allowed = [word for nic in self.nics for word in ('-a', nic.address)]
        self.command = ' '.join(['millrace', *eal, *allowed, '--', '--profiles=/drivers-cfg', '--config=/tmp/config',
                                 *options])
        self.config = config

    def start(self, seconds=60):
        """Starts it and waits until it says that it is ready."""
        self.guest.write('/tmp/config', self.config)
        # One request that waits: each costs the guest processes, which would take the CPU from what it waits for.
        # The shell empties the log before it forks: the child may come to its redirection after the first grep,
        # which would then find that an earlier appliance was ready.
        status, _ = self.guest.run(
            f': >/tmp/log; {self.command} >/tmp/log 2>&1 & echo $! >/tmp/pid; until grep -q "^millrace: ready" /tmp/log; do '
            '[ -e /proc/$!/exe ] || exit 1; sleep 0.05; done', seconds, check=False)
        assert status == 0, f'millrace ended:\n{self.log()}'
        return self

    def is_running(self):
        """Whether its process is there; a dead one may be a zombie for a while."""
        state = self.guest.run('grep -s ^State: /proc/$(cat /tmp/pid)/status', check=False)[1]
        return bool(state) and 'zombie' not in state

    def log(self):
        return self.guest.run('cat /tmp/log')

    def do(self, *lines):
        """Runs commands; returns what the last one printed. Raises Refused."""
        output = ''
        for line in lines:
            output = self._client(line)
        return output

    def show(self, line):
        """What a show command answers, as data."""
        return json.loads(self._client(f'-j {line}'))

    def _client(self, words):
        try:
            return self.guest.run(f'millracectl {words}')
        except Failed as error:
            raise Refused(str(error)) from None

    def port(self, number):
        return self.show(f'show port info {number}')

    def stats(self, number):
        return self.show(f'show port stats {number}')

    def drops(self):
        """The drop reasons that counted anything: reason to packets."""
        return {row['reason']: row['packets'] for row in self.show('show drops')}

    def wait_for_links(self, seconds=10):
        """e1000 and its relatives say that their link is down for a while after the start."""
        wait_for(lambda: all(row['link'] == 'up' for row in self.show('show port info all')), seconds, 'links are up')

    def signal(self, name):
        self.guest.run(f'kill -{name} $(cat /tmp/pid)')

    def finish(self, seconds=20):
        """What holds at the end of every test: it runs, lost no packet untold, ends cleanly."""
        assert self.is_running(), f'millrace ended:\n{self.log()}'
        self.check_conservation()
        self.check_buffers()
        left = self.guest.run('pid=$(cat /tmp/pid); kill -TERM $pid; while [ -e /proc/$pid/exe ]; do sleep 0.05; done; '
                              'ls /run/millrace 2>/dev/null; true', seconds)
        assert not left, f'left behind: {left}'

    def check_buffers(self):
        """Stops all ports; then every buffer must be back in the pool, but those in virtio's rx rings."""
        ports = self.show('show port info all')
        for row in ports:
            if row['state'] == 'started':
                self.do(f'port stop {row["port"]}')
        kept = 256 * sum(row['driver'] == 'net_virtio' for row in ports)

        def missing():
            port = self.port(ports[0]['port'])
            return port['pool_buffers'] - port['pool_free'] - kept - self.show('show conservation')['held']

        wait_for(lambda: missing() == 0, 10, 'all buffers are back')

    def kill(self):
        """For a test that failed."""
        self.guest.run('kill -9 $(cat /tmp/pid); rm -rf /run/millrace/* /dev/hugepages/*', check=False)

    def conservation(self):
        """Law 3: every packet ended once. Returns both sides."""
        c = self.show('show conservation')
        return (c['received'] + c['originated'] + c['copied'],
                c['transmitted'] + c['consumed'] + c['dropped'] + c['held'])

    def check_conservation(self):
        def balanced():
            left, right = self.conservation()
            return left == right

        wait_for(balanced, 5, f'conserved: {self.show("show conservation")}')
