# SPDX-License-Identifier: BSD-3-Clause
"""The other end of a guest's NIC: a pair of datagram sockets, where one datagram is one frame."""
import collections
import os
import socket
import threading
import time


class Wire:
    """Sends frames to a NIC and records those that it sends. A thread reads all the time, so the
    guest's transmitter is never held up by a test that sends."""

    def __init__(self, directory, name):
        self.name = name
        self.host_path = os.path.join(directory, f'{name}.h')
        self.guest_path = os.path.join(directory, f'{name}.g')
        self.receiver = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.receiver.bind(self.host_path)
        self.sender = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.sender.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1 << 20)
        self.sender.settimeout(10)
        self.arrived = threading.Condition()
        self.frames = collections.deque()  # not yet taken
        self.reader = threading.Thread(target=self._read, daemon=True)
        self.reader.start()

    def netdev(self):
        """QEMU's argument for the guest's end."""
        return (f'dgram,id={self.name},local.type=unix,local.path={self.guest_path},'
                f'remote.type=unix,remote.path={self.host_path}')

    def _read(self):
        while True:
            frame = self.receiver.recv(65536)
            if not frame:  # the end, see close
                return
            with self.arrived:
                self.frames.append(frame)
                self.arrived.notify_all()

    def send(self, *frames):
        """Waits while the NIC has no room: the devices push back and lose nothing, but virtio."""
        for frame in frames:
            self.sender.sendto(bytes(frame), self.guest_path)

    def take(self):
        """The frames that arrived and were not yet taken."""
        with self.arrived:
            taken = list(self.frames)
            self.frames.clear()
        return taken

    def expect(self, count, seconds=10, wanted=lambda frame: True):
        """Takes frames until so many wanted ones came, or the time is over; returns the wanted."""
        deadline, found = time.monotonic() + seconds, []
        with self.arrived:
            while len(found) < count:
                while self.frames and len(found) < count:
                    frame = self.frames.popleft()
                    if wanted(frame):
                        found.append(frame)
                left = deadline - time.monotonic()
                if len(found) == count or left <= 0:
                    break
                self.arrived.wait(left)
        return found

    def close(self):
        self.sender.sendto(b'', self.host_path)
        self.reader.join(5)
        self.receiver.close()
        self.sender.close()
