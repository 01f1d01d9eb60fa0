# SPDX-License-Identifier: BSD-3-Clause
"""A made-up machine in a directory, for scripts/bind: a sysfs tree with network devices, and as much
of a kernel as binds drivers to them. The files that a driver is bound and unbound by are pipes, from
which a thread reads what was written and then changes the tree."""
import os
import select
import shutil
import subprocess
import threading

from rig import ROOT

BIND = os.path.join(ROOT, 'scripts', 'bind')
USER_SPACE = ('vfio-pci', 'uio_pci_generic')


class Device:
    """A PCI function. driver: the kernel's own for it; interface: what that makes of it."""

    def __init__(self, address, driver='igb', interface=None, group=None, number_class='0x020000', numa=-1,
                 broken=()):
        self.address, self.driver, self.interface = address, driver, interface
        self.group, self.number_class, self.numa = group, number_class, numa
        self.broken = broken  # the drivers that fail to take it


class Machine:
    def __init__(self, directory, devices, modules=USER_SPACE):
        self.root = str(directory)
        self.devices = {device.address: device for device in devices}
        self.pipes = {}  # descriptor: what to call with the line that was written
        self.routes, self.addresses = [], []
        for path in ('sys/bus/pci/devices', 'sys/bus/pci/drivers', 'sys/class/net', 'proc/net', 'modules', 'bin'):
            os.makedirs(self.path(path))
        for module in modules:
            self.make_driver('modules', module)
        for driver in {device.driver for device in devices if device.driver}:
            self.make_driver('sys/bus/pci/drivers', driver)
        for device in devices:
            self.make_device(device)
        self.make_pipe('sys/bus/pci/drivers_probe', self.probe)
        self.make_programs()
        self.stop_read, self.stop_write = os.pipe()
        self.thread = threading.Thread(target=self.kernel)
        self.thread.start()

    def path(self, *parts):
        return os.path.join(self.root, *parts)

    def write(self, path, text):
        os.makedirs(os.path.dirname(self.path(path)), exist_ok=True)
        with open(self.path(path), 'w', encoding='ascii') as file:
            file.write(text)

    def read(self, path):
        with open(self.path(path), encoding='ascii') as file:
            return file.read()

    def make_pipe(self, path, action):
        os.mkfifo(self.path(path))
        self.pipes[os.open(self.path(path), os.O_RDWR)] = action

    def make_driver(self, where, name):
        os.makedirs(self.path(where, name))
        self.make_pipe(f'{where}/{name}/unbind', self.unbind)
        self.make_pipe(f'{where}/{name}/bind', lambda address: self.bind(address, name))

    def make_device(self, device):
        at = f'sys/devices/pci0000:00/{device.address}'
        for name, text in (('class', device.number_class), ('vendor', '0x8086'), ('device', '0x10c9'),
                           ('numa_node', str(device.numa)), ('modalias', f'pci:{device.address}'),
                           ('driver_override', '')):
            self.write(f'{at}/{name}', text + '\n')
        os.symlink(self.path(at), self.path('sys/bus/pci/devices', device.address))
        if device.group is not None:
            group = self.path('sys/kernel/iommu_groups', str(device.group))
            os.makedirs(f'{group}/devices', exist_ok=True)
            os.symlink(self.path(at), f'{group}/devices/{device.address}')
            os.symlink(group, self.path(at, 'iommu_group'))
        if device.driver:
            self.bind(device.address, device.driver)

    def make_programs(self):
        """modprobe, ip and readers of what they should say; driverctl is there when a test adds it."""
        self.program('modprobe', '''for name; do :; done
            echo "modprobe $name" >>$root/log
            case $name in pci:*) exit 0 ;; vfio_iommu_type1) mkdir -p $root/sys/module/$name; exit ;; esac
            [ ! -e $root/modules/$name ] || mv $root/modules/$name $root/sys/bus/pci/drivers/
            [ -e $root/sys/bus/pci/drivers/$name ]''')
        self.program('ip', '''case $* in
            "-o route show table all") cat $root/routes ;;
            "-o addr") cat $root/addresses ;;
            "-o addr show dev "*) grep ": $5 " $root/addresses ;;
            esac''')
        self.write('routes', '')
        self.write('addresses', '')
        for name in ('tcp', 'tcp6', 'if_inet6'):
            self.write(f'proc/net/{name}', '')

    def program(self, name, text):
        self.write(f'bin/{name}', f'#!/bin/sh\nroot={self.root}\n{text}\n')
        os.chmod(self.path('bin', name), 0o755)

    # What the kernel does.

    def kernel(self):
        while True:
            ready, _, _ = select.select([self.stop_read, *self.pipes], [], [])
            for pipe in ready:
                if pipe == self.stop_read:
                    return
                for line in os.read(pipe, 4096).decode().splitlines():
                    self.pipes[pipe](line)

    def driver_of(self, address):
        link = self.path('sys/bus/pci/devices', address, 'driver')
        return os.path.basename(os.readlink(link)) if os.path.islink(link) else None

    def bind(self, address, driver):
        device, at = self.devices[address], self.path('sys/bus/pci/devices', address)
        if driver == 'vfio-pci' and device.group is None or driver in device.broken:
            return
        os.symlink(self.path('sys/bus/pci/drivers', driver), f'{at}/driver')
        if driver == device.driver and device.interface:
            self.write(f'sys/devices/pci0000:00/{address}/net/{device.interface}/address', '52:54:00:00:00:01\n')
            self.write(f'sys/devices/pci0000:00/{address}/net/{device.interface}/carrier', '1\n')
            os.symlink('../..', self.path(f'sys/devices/pci0000:00/{address}/net/{device.interface}/device'))
            os.symlink(f'{at}/net/{device.interface}', self.path('sys/class/net', device.interface))

    def unbind(self, address):
        device, at = self.devices[address], self.path('sys/bus/pci/devices', address)
        if os.path.isdir(f'{at}/net'):
            os.unlink(self.path('sys/class/net', device.interface))
            shutil.rmtree(f'{at}/net')
        os.unlink(f'{at}/driver')

    def probe(self, address):
        driver = self.read(f'sys/bus/pci/devices/{address}/driver_override').strip() or self.devices[address].driver
        if self.driver_of(address) is None and driver and os.path.isdir(self.path('sys/bus/pci/drivers', driver)):
            self.bind(address, driver)

    # What a test does.

    def master(self, name, *below):
        """An interface that others are below: a bridge, a bond, a VLAN."""
        os.makedirs(self.path('sys/class/net', name))
        for other in below:
            os.symlink(f'../{other}', self.path('sys/class/net', name, f'lower_{other}'))

    def route(self, line):
        self.write('routes', self.read('routes') + line + '\n')

    def address(self, interface, family, address):
        self.write('addresses', self.read('addresses') + f'2: {interface}    {family} {address} scope global\n')

    def remove(self, address):
        """Takes a device out of the machine."""
        os.unlink(self.path('sys/bus/pci/devices', address))

    def run(self, *words, shell=('dash',), **environment):
        return subprocess.run(
            [*shell, BIND, *words], capture_output=True, text=True, timeout=30, check=False,
            env={'PATH': '/usr/bin:/bin', 'MILLRACE_BIND_ROOT': self.root, **environment})

    def log(self):
        return self.read('log').splitlines() if os.path.exists(self.path('log')) else []

    def snapshot(self):
        """Every file and link of the tree."""
        tree = {}
        for top, names, files in os.walk(self.root):
            for name in names + files:
                path = os.path.join(top, name)
                if os.path.islink(path):
                    tree[path] = os.readlink(path)
                elif os.path.isfile(path):
                    with open(path, 'rb') as file:
                        tree[path] = file.read()
        return tree

    def close(self):
        os.write(self.stop_write, b'.')
        self.thread.join()
        for descriptor in (self.stop_read, self.stop_write, *self.pipes):
            os.close(descriptor)
