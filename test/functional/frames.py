# SPDX-License-Identifier: BSD-3-Clause
"""Exact frames: raw sockets that send and record them, and what makes a checksum right."""
import socket
import struct
import time

ETH_P_ALL = 3
SOL_PACKET, PACKET_IGNORE_OUTGOING, PACKET_AUXDATA = 263, 23, 8
SO_RCVBUFFORCE = 33
MINIMUM = 60  # octets of a frame without its FCS


def ones_sum(data):
    """The ones' complement sum of RFC 1071: 0xffff over data that holds its right checksum."""
    data = bytes(data) + b'\0' * (len(data) % 2)
    total = sum(struct.unpack(f'>{len(data) // 2}H', data))
    while total >> 16:
        total = (total & 0xffff) + (total >> 16)
    return total


def checksum_errors(frame):
    """What is wrong with the checksums of an untagged IPv4 frame, as a list of words."""
    if frame[12:14] != b'\x08\x00':
        return []
    header = (frame[14] & 15) * 4
    length = int.from_bytes(frame[16:18], 'big')
    if 14 + length > len(frame):
        return [f'IPv4 length {length} in a frame of {len(frame)}']
    packet = frame[14:14 + length]
    errors = [] if ones_sum(packet[:header]) == 0xffff else ['IPv4 header']
    if int.from_bytes(packet[6:8], 'big') & 0x3fff:  # a fragment
        return errors
    protocol, payload = packet[9], packet[header:]
    pseudo = packet[12:20] + bytes([0, protocol]) + len(payload).to_bytes(2, 'big')
    if protocol == 1 and ones_sum(payload) != 0xffff:
        errors.append('ICMP')
    if protocol == 6 and ones_sum(pseudo + payload) != 0xffff:
        errors.append('TCP')
    if protocol == 17 and payload[6:8] != b'\0\0' and ones_sum(pseudo + payload) != 0xffff:
        errors.append('UDP')
    return errors


class Wire:
    """Sends and records frames on a namespace's interface, which the kernel host shares."""

    def __init__(self, namespace, interface='eth0'):
        with namespace.inside():
            self.socket = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(ETH_P_ALL))
        self.socket.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, 64 << 20)
        self.socket.setsockopt(SOL_PACKET, PACKET_IGNORE_OUTGOING, 1)
        # The kernel takes a VLAN tag out of the frame and hands it over beside it.
        self.socket.setsockopt(SOL_PACKET, PACKET_AUXDATA, 1)
        self.socket.bind((interface, ETH_P_ALL))
        self.recorded = []

    def close(self):
        self.socket.close()

    def send(self, *frames):
        for frame in frames:
            self.socket.send(bytes(frame))

    def _receive(self, timeout):
        self.socket.settimeout(timeout)
        data, ancillary, _, _ = self.socket.recvmsg(65536, 256)
        for level, kind, value in ancillary:
            if (level, kind) == (SOL_PACKET, PACKET_AUXDATA):
                status, _, _, _, _, tci, tpid = struct.unpack('IIIHHHH', value[:20])
                if status & 0x10:  # TP_STATUS_VLAN_VALID
                    tpid = tpid if status & 0x40 else 0x8100
                    data = data[:12] + struct.pack('>HH', tpid, tci) + data[12:]
        self.recorded.append(data)
        return data

    def receive_until(self, wanted, seconds=5):
        """Records frames up to the first that is wanted (bytes, or a function of the frame) and
        returns those before it; None if it does not come in time."""
        matches = wanted if callable(wanted) else lambda frame: frame == bytes(wanted)
        deadline, before = time.monotonic() + seconds, []
        while (left := deadline - time.monotonic()) > 0:
            try:
                frame = self._receive(left)
            except TimeoutError:
                break
            if matches(frame):
                return before
            before.append(frame)
        return None

    def drain(self):
        """Records what has arrived by now; returns all that was ever recorded."""
        try:
            while True:
                self._receive(0.000001)
        except (TimeoutError, BlockingIOError):
            return self.recorded
