# SPDX-License-Identifier: BSD-3-Clause
"""A guest under QEMU, without KVM: its NICs, its console, its monitor."""
import base64
import json
import os
import shutil
import socket
import subprocess
import tempfile
import time

import image
from wire import Wire

QEMU = 'qemu-system-x86_64'
BOOT_SECONDS = 90  # 5 on a quiet machine
COMMAND_LINE = ('console=ttyS0 quiet panic=-1 tsc=reliable no_timer_check mitigations=off nokaslr '
                'cryptomgr.notests audit=0 hugepages=160 hugetlb_free_vmemmap=off')
# Nehalem: what DPDK is compiled for, which qemu64 lacks. no_timer_check: one boot in 35 panics without.
MACHINE = ['-nodefaults', '-no-user-config', '-nographic', '-no-reboot', '-accel', 'tcg,thread=multi',
           '-cpu', 'Nehalem', '-smp', '2', '-m', '832']
# What QEMU calls a device, and its options. Those behind a root port can be unplugged.
MODELS = {
    'e1000': ('e1000', False),
    'e1000e': ('e1000e', True),
    'igb': ('igb', True),
    'virtio': ('virtio-net-pci,disable-legacy=on', True),
}
FIRST_SLOT = 4


class Failed(Exception):
    """A command in the guest that ended with another status than 0, and what it printed."""


class Lines:
    """Lines over a UNIX socket that QEMU listens on."""

    def __init__(self, path):
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.socket.connect(path)
        self.rest = b''

    def write(self, text):
        self.socket.sendall(text.encode() + b'\n')

    def read(self, seconds):
        """The next line; TimeoutError or ConnectionError if there is none."""
        deadline = time.monotonic() + seconds
        while b'\n' not in self.rest:
            self.socket.settimeout(max(deadline - time.monotonic(), 0.001))
            data = self.socket.recv(65536)
            if not data:
                raise ConnectionError('QEMU ended')
            self.rest += data
        line, _, self.rest = self.rest.partition(b'\n')
        return line.decode(errors='replace').strip()

    def close(self):
        self.socket.close()


class Monitor:
    """QEMU's machine protocol (QMP)."""

    def __init__(self, path):
        self.lines = Lines(path)
        self.events = []
        self.lines.read(10)
        self.do('qmp_capabilities')

    def do(self, command, **arguments):
        """Runs a command: do('set_link', name='n0', up=False). Events are kept in `events`."""
        self.lines.write(json.dumps({'execute': command, 'arguments': arguments}))
        while True:
            answer = json.loads(self.lines.read(20))
            if 'event' in answer:
                self.events.append(answer)
            elif 'error' in answer:
                raise RuntimeError(f'{command}: {answer["error"]["desc"]}')
            else:
                return answer['return']

    def wait_for_event(self, name, seconds=20):
        deadline = time.monotonic() + seconds
        while not any(event['event'] == name for event in self.events):
            self.events.append(json.loads(self.lines.read(deadline - time.monotonic())))
        return next(event for event in self.events if event['event'] == name)


class Nic:
    """A NIC of the guest: `model` as in MODELS, `mac`, its PCI `address` in the guest, the `wire` to it,
    and `id`, as QEMU calls its netdev (its device is called `id`-device)."""

    def __init__(self, guest, number, model):
        self.guest = guest
        self.number = number
        self.model = model
        self.id = f'n{number}'
        self.mac = f'52:54:00:00:00:{number + 1:02x}'
        self.wire = Wire(guest.directory, self.id)
        self.address = None

    def set_link(self, up):
        self.guest.monitor.do('set_link', name=self.id, up=up)

    def device(self, bus=None):
        """QEMU's argument for the device."""
        name, pcie = MODELS[self.model]
        place = f'bus={bus}' if bus else f'addr={FIRST_SLOT + self.number:#x}'
        iommu = ',iommu_platform=on' if self.model == 'virtio' and self.guest.iommu else ''
        return f'{name},id={self.id}-device,netdev={self.id},mac={self.mac},romfile=,{place}{iommu}'

    def arguments(self):
        port = f'rp{self.number}'
        root_port = ['-device', f'pcie-root-port,id={port},chassis={self.number + 1},addr={FIRST_SLOT + self.number:#x}']
        pcie = MODELS[self.model][1]
        return ['-netdev', self.wire.netdev(), *(root_port if pcie else []),
                '-device', self.device(bus=port if pcie else None)]


class Guest:
    """A running guest. `models`: its NICs, in the order of MODELS' names, for example ['igb', 'igb'];
    `binding`: the kernel module that hands them to user space (vfio-pci behind an IOMMU;
    uio_pci_generic without one; none)."""

    def __init__(self, models, binding='vfio-pci'):
        self.models = tuple(models)
        self.binding = binding
        self.iommu = binding != 'uio_pci_generic'
        self.directory = tempfile.mkdtemp(prefix='millrace-qemu-')
        self.process = self.console = self.monitor = None
        self.requests = 0
        self.nics = [Nic(self, number, model) for number, model in enumerate(models)]

    def boot(self):
        """Boots; a second time if the first did not come up."""
        try:
            return self._boot()
        except (OSError, RuntimeError) as error:
            print(f'the guest did not boot ({error}), once more\n{self.boot_log()}')
            self._end()
            return self._boot()

    def _boot(self):
        paths = {name: os.path.join(self.directory, name) for name in ('console', 'qmp', 'boot.log', 'qemu.log')}
        iommu = ['-device', 'intel-iommu,intremap=on,caching-mode=on'] if self.iommu else []
        command = [QEMU, *MACHINE, '-machine', 'q35' + (',kernel-irqchip=split' if self.iommu else ''), *iommu,
                   '-kernel', image.kernel(), '-initrd', image.initramfs(), '-append',
                   f'{COMMAND_LINE} bind={self.binding}' + (' intel_iommu=on' if self.iommu else ''),
                   '-serial', f'file:{paths["boot.log"]}',
                   '-chardev', f'socket,id=console,path={paths["console"]},server=on,wait=off',
                   '-serial', 'chardev:console', '-qmp', f'unix:{paths["qmp"]},server=on,wait=off', '-S',
                   *(argument for nic in self.nics for argument in nic.arguments())]
        with open(paths['qemu.log'], 'ab') as log:
            self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        self.console = self._connect(Lines, paths['console'])
        self.monitor = self._connect(Monitor, paths['qmp'])
        self.monitor.do('cont')
        self._greeting(time.monotonic() + BOOT_SECONDS)
        self.find_nics()
        return self

    def _connect(self, kind, path):
        deadline = time.monotonic() + 20
        while True:
            try:
                return kind(path)
            except OSError:
                if self.process.poll() is not None:
                    with open(os.path.join(self.directory, 'qemu.log'), encoding='utf-8') as log:
                        raise RuntimeError(f'QEMU ended: {log.read()}') from None
                if time.monotonic() > deadline:
                    raise
                time.sleep(0.02)

    def _greeting(self, deadline):
        while True:
            if 'Kernel panic' in self.boot_log():
                raise RuntimeError('kernel panic')
            try:
                if self.console.read(0.5) == '0 0':
                    return
            except TimeoutError:
                if time.monotonic() > deadline:
                    raise

    def boot_log(self):
        try:
            with open(os.path.join(self.directory, 'boot.log'), encoding='utf-8', errors='replace') as log:
                return log.read()
        except FileNotFoundError:
            return ''

    def find_nics(self):
        """Learns the PCI addresses from the guest."""
        for nic in self.nics:
            slot = f'0000:00:{FIRST_SLOT + nic.number:02x}.0'
            behind = self.run(f'cd /sys/bus/pci/devices; ls -d {slot}/0000:* 2>/dev/null || echo {slot}')
            nic.address = behind.strip().rpartition('/')[2]

    def run(self, command, seconds=30, check=True):
        """Runs shell commands in the guest and returns what they printed. Raises Failed if the
        last one did (check=False: returns status and output instead)."""
        self.requests += 1
        encoded = base64.b64encode(command.encode()).decode()
        assert len(encoded) < 4000, 'longer than the line buffer of a terminal'
        self.console.write(f'{self.requests} {encoded}')
        number, status, output = (self.console.read(seconds) + ' ').split(' ', 2)
        assert int(number) == self.requests, 'the answer of another command'
        text = base64.b64decode(output).decode(errors='replace')
        if not check:
            return int(status), text
        if status != '0':
            raise Failed(f'{command}: status {status}: {text}')
        return text

    def write(self, path, text):
        """Makes a file in the guest."""
        self.run(f'>{path}')
        for start in range(0, len(text), 2000):
            encoded = base64.b64encode(text[start:start + 2000].encode()).decode()
            self.run(f'echo {encoded} | base64 -d >>{path}')

    def is_running(self):
        return self.process is not None and self.process.poll() is None

    def _end(self):
        if self.is_running():
            self.process.kill()
        if self.process is not None:
            self.process.wait()
        for lines in (self.console, self.monitor and self.monitor.lines):
            if lines:
                lines.close()
        self.console = self.monitor = self.process = None
        for nic in self.nics:
            if os.path.exists(nic.wire.guest_path):
                os.unlink(nic.wire.guest_path)

    def close(self):
        self._end()
        for nic in self.nics:
            nic.wire.close()
        shutil.rmtree(self.directory, ignore_errors=True)
