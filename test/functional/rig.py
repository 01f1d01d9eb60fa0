# SPDX-License-Identifier: BSD-3-Clause
"""The appliance under test between kernel hosts, all of it gone when the test ends."""
import glob
import itertools
import json
import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time

from frames import Wire
from netns import Host, Namespace
from telemetry import Telemetry

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BUILD = os.environ.get('MILLRACE_BUILD', os.path.join(ROOT, 'build'))
MILLRACE = os.path.join(BUILD, 'app/millrace/millrace')
MILLRACECTL = os.path.join(BUILD, 'app/millracectl/millracectl')

_numbers = itertools.count()


def wait_for(condition, seconds=10, what=None):
    """Returns the first true value of condition(); fails after so many seconds."""
    deadline = time.monotonic() + seconds
    while True:
        value = condition()
        if value:
            return value
        assert time.monotonic() < deadline, f'not within {seconds} s: {what or condition}'
        time.sleep(0.02)


class Refused(Exception):
    """A command that the appliance refused; its text is what it said."""


class Millrace:
    """One running appliance. Started by Rig.millrace, ended by the rig."""

    def __init__(self, rig, vdevs, options, eal, config, prefix, cores):
        self.rig = rig
        self.prefix = prefix or rig.unique()
        self.directory = tempfile.mkdtemp(prefix=f'{self.prefix}-', dir=rig.directory)
        self.ctl_socket = os.path.join(self.directory, 'ctl')
        self.log_path = os.path.join(self.directory, 'log')
        self.telemetry = Telemetry(self.prefix)
        self.command = [MILLRACE, *(['-l', cores] if cores else []), '--no-pci', '--file-prefix', self.prefix]
        for vdev in vdevs:
            self.command += ['--vdev', vdev]
        self.command += [*eal, '--', f'--ctl-socket={self.ctl_socket}', *options]
        if config is not None:
            path = os.path.join(self.directory, 'config')
            with open(path, 'w', encoding='utf-8') as file:
                file.write(config)
            self.command.append(f'--config={path}')
        self.process = None

    def start(self):
        for _ in range(4):
            try:
                return self.start_once()
            except AssertionError:
                # The driver makes the number of its fanout group out of process id and interface
                # index, and two processes may get the same one: another process id helps.
                if 'PACKET_FANOUT' not in self.log() or self.process.poll() is None:
                    raise
                os.truncate(self.log_path, 0)
        return self.start_once()

    def start_once(self):
        notify = os.path.join(self.directory, 'notify')
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as ready, \
                open(self.log_path, 'ab') as log:
            if os.path.exists(notify):
                os.unlink(notify)
            ready.bind(notify)
            ready.settimeout(0.1)
            self.process = self.rig.box.popen(
                self.command, stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                env={**os.environ, 'NOTIFY_SOCKET': notify})

            def is_ready():
                assert self.process.poll() is None, \
                    f'millrace ended with {self.process.returncode}:\n{self.log()}'
                try:
                    return b'READY=1' in ready.recv(4096)
                except TimeoutError:
                    return False

            wait_for(is_ready, 30, 'millrace is ready')
        os.unlink(notify)
        return self

    def log(self):
        with open(self.log_path, encoding='utf-8', errors='replace') as log:
            return log.read()

    def client(self, *words, text=None, json_output=False):
        """Runs millracectl; returns the finished process."""
        return subprocess.run(
            [MILLRACECTL, '-s', self.ctl_socket, *(['-j'] if json_output else []), *words],
            input=text, capture_output=True, text=True, timeout=30, check=False)

    def do(self, *lines):
        """Runs commands; returns what the last one printed. Raises Refused."""
        output = ''
        for line in lines:
            done = self.client(*line.split())
            if done.returncode:
                raise Refused(f'{line}: {done.stderr.strip()} (status {done.returncode})')
            output = done.stdout
        return output

    def show(self, line):
        """What a show command answers, as data."""
        done = self.client(*line.split(), json_output=True)
        if done.returncode:
            raise Refused(f'{line}: {done.stderr.strip()} (status {done.returncode})')
        return json.loads(done.stdout)

    def query(self, path):
        return self.telemetry.query(path)

    def drops(self):
        """The drop reasons that counted anything: reason to packets."""
        return {name: reason['total'] for name, reason in self.query('/millrace/drops').items()
                if reason['total']}

    def conservation(self):
        """Law 3: every packet ended once. Returns both sides."""
        c = self.query('/millrace/conservation')
        return (c['received'] + c['originated'] + c['copied'],
                c['transmitted'] + c['consumed'] + c['dropped'] + c['held'])

    def check_conservation(self):
        def balanced():
            left, right = self.conservation()
            return left == right

        try:
            wait_for(balanced, 5)
        except AssertionError as error:
            raise AssertionError(f'not conserved: {self.query("/millrace/conservation")}') from error

    def is_running(self):
        return self.process is not None and self.process.poll() is None

    def stop(self, how=signal.SIGTERM, seconds=20):
        """Ends the appliance by a signal; returns its exit status."""
        self.process.send_signal(how)
        return self.process.wait(seconds)

    def finish(self):
        """What holds at the end of every test: it runs, lost no packet untold, ends cleanly."""
        if not self.is_running():
            return
        self.check_conservation()
        status = self.stop()
        assert status == 0, f'millrace ended with {status} on SIGTERM:\n{self.log()}'
        assert not os.path.exists(self.ctl_socket), 'the control socket was left behind'

    def kill(self):
        if self.is_running():
            self.process.kill()
            self.process.wait()


class Rig:
    """Namespaces, appliances and helpers of one test. `box` is the namespace that appliances run
    in, with the outer ends of the hosts' links: p0, p1, ..."""

    def __init__(self):
        self.name = f'mr{os.getpid()}-{next(_numbers)}'
        self.directory = tempfile.mkdtemp(prefix=f'{self.name}-')
        self._numbers = itertools.count()
        self._closing = []  # functions, run last to first
        self.appliances = []
        self.processes = []
        self.logs = []  # files to show when a test fails
        self.prefixes = set()
        self.box = None
        try:
            self.box = self.namespace('box')
        except Exception:
            self.close()
            raise

    def unique(self):
        name = f'{self.name}-{next(self._numbers)}'
        self.prefixes.add(name)
        return name

    def namespace(self, name):
        namespace = Namespace(f'{self.name}-{name}')
        self._closing.append(namespace.remove)
        return namespace

    def host(self, number, address=None, gateway=None, port=None):
        """A kernel host, number 0.., whose link ends in the box as p<number>."""
        host = Host(f'{self.name}-h{number}', self.box, port or f'p{number}',
                    f'02:00:00:00:0{number}:01')
        self._closing.append(host.remove)
        return host.configure(address, gateway) if address else host

    def hosts(self, *addresses):
        """Hosts on p0, p1, ...: each (address, gateway), or an address, or None."""
        return [self.host(number, *(address if isinstance(address, tuple) else (address,)))
                for number, address in enumerate(addresses)]

    def at_the_end(self, function):
        """Has a function called when the appliances have ended."""
        self._closing.append(function)

    def wire(self, namespace, interface='eth0'):
        wire = Wire(namespace, interface)
        self._closing.append(wire.close)
        return wire

    def popen(self, namespace, command, **options):
        process = namespace.popen(command, **options)
        self.processes.append(process)
        return process

    def millrace(self, vdevs, *options, eal=(), config=None, prefix=None, cores='0,1', start=True):
        appliance = Millrace(self, vdevs, options, eal, config, prefix, cores)
        self.appliances.append(appliance)
        return appliance.start() if start else appliance

    def finish(self):
        for appliance in self.appliances:
            appliance.finish()

    def close(self):
        for appliance in self.appliances:
            appliance.kill()
            if os.path.exists(appliance.log_path):
                print(f'--- {" ".join(appliance.command)}\n{appliance.log()}')
        for process in self.processes:
            if process.poll() is None:
                process.kill()
                process.wait()
        for path in self.logs:
            with open(path, encoding='utf-8', errors='replace') as log:
                print(f'--- {path}\n{log.read()[-8000:]}')
        for function in reversed(self._closing):
            try:
                function()
            except RuntimeError as error:
                print(error)
        for prefix in self.prefixes:
            shutil.rmtree(f'/var/run/dpdk/{prefix}', ignore_errors=True)
            for page in glob.glob(f'/dev/hugepages/{glob.escape(prefix)}map_*'):
                os.unlink(page)
        shutil.rmtree(self.directory, ignore_errors=True)


def af_packet(*ports):
    """vdev arguments for these ports of the box."""
    return [f'net_af_packet{number},iface={port}' for number, port in enumerate(ports)]
