# SPDX-License-Identifier: BSD-3-Clause
"""Kernel hosts: network namespaces, their veth links and sockets inside them."""
import contextlib
import ctypes
import os
import subprocess
import time

CLONE_NEWNET = 0x40000000
_libc = ctypes.CDLL(None, use_errno=True)


def _setns(fd):
    if _libc.setns(fd, CLONE_NEWNET):
        raise OSError(ctypes.get_errno(), 'setns')


def run(*command):
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f'{" ".join(command)}: {done.stderr.strip() or done.stdout.strip()}')
    return done.stdout


class Namespace:
    """A network namespace without IPv6, so that its kernel says nothing of its own accord."""

    def __init__(self, name):
        self.name = name
        run('ip', 'netns', 'add', name)
        self.ip('link', 'set', 'lo', 'up')
        self.sysctl('net/ipv6/conf/all/disable_ipv6', 1)
        self.sysctl('net/ipv6/conf/default/disable_ipv6', 1)

    def remove(self):
        run('ip', 'netns', 'del', self.name)

    @contextlib.contextmanager
    def inside(self):
        """Sockets and processes that are made within belong to this namespace."""
        own = os.open('/proc/thread-self/ns/net', os.O_RDONLY)
        other = os.open(f'/run/netns/{self.name}', os.O_RDONLY)
        try:
            _setns(other)
            try:
                yield
            finally:
                _setns(own)
        finally:
            os.close(own)
            os.close(other)

    def run(self, *command):
        with self.inside():
            return run(*command)

    def popen(self, command, **options):
        with self.inside():
            return subprocess.Popen(command, **options)

    def ip(self, *words):
        return run('ip', '-n', self.name, *words)

    def sysctl(self, name, value):
        with self.inside(), open(f'/proc/sys/{name}', 'w', encoding='ascii') as file:
            file.write(str(value))

    def wait_until_up(self, interface, seconds=5):
        deadline = time.monotonic() + seconds
        while self.ip('-br', 'link', 'show', 'dev', interface).split()[1] != 'UP':
            assert time.monotonic() < deadline, f'{interface} in {self.name} does not come up'
            time.sleep(0.01)

    def mac(self, interface='eth0'):
        return self.ip('-br', 'link', 'show', 'dev', interface).split()[2]


class Host(Namespace):
    """A namespace with one interface, eth0, whose veth peer `port` is in the namespace `box`."""

    def __init__(self, name, box, port, mac):
        super().__init__(name)
        # The kernel is slow (a second) to follow the link of a veth whose peer has its own index.
        box.ip('link', 'add', port, 'type', 'veth', 'peer', 'name', 'eth0', 'netns', name,
               'index', '1000')
        self.ip('link', 'set', 'eth0', 'address', mac, 'up')
        box.ip('link', 'set', port, 'up')
        # af_packet cuts frames of the kernel's segmentation offloads without a word.
        self.offload(gso='off', tso='off', gro='off', **{'tx-udp-segmentation': 'off'})
        self.address = None
        # Until then frames are thrown away on either side.
        self.wait_until_up('eth0')
        box.wait_until_up(port)

    def offload(self, **features):
        self.run('ethtool', '-K', 'eth0', *[word for pair in features.items() for word in pair])

    def configure(self, address, gateway=None):
        """Gives eth0 an address (A.B.C.D/L) and a default route."""
        self.ip('address', 'add', address, 'dev', 'eth0')
        if gateway:
            self.ip('route', 'add', 'default', 'via', gateway)
        self.address = address.split('/')[0]
        return self

    def ping(self, address, count=3, *options):
        """How many of count echo requests were answered."""
        with self.inside():
            done = subprocess.run(['ping', '-n', '-q', '-c', str(count), '-i', '0.05', '-W', '5',
                                   *options, address], capture_output=True, text=True, check=False)
        words = done.stdout.replace(',', ' ').split()
        return int(words[words.index('received') - 1]) if 'received' in words else 0
