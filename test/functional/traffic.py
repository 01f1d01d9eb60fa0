# SPDX-License-Identifier: BSD-3-Clause
"""Conversations of kernel hosts."""
import os
import socket
from concurrent.futures import ThreadPoolExecutor

from frames import checksum_errors


def _socket(host, kind):
    with host.inside():
        made = socket.socket(socket.AF_INET, kind)
    made.settimeout(20)
    return made


def tcp_both_ways(a, b, octets=1 << 20):
    """A connection from a to b over which each sends so many octets, at the same time."""
    with _socket(b, socket.SOCK_STREAM) as listener, _socket(a, socket.SOCK_STREAM) as near:
        listener.bind((b.address, 0))
        listener.listen()
        near.connect(listener.getsockname())
        far, _ = listener.accept()
        with far, ThreadPoolExecutor() as pool:
            data = {near: os.urandom(octets), far: os.urandom(octets)}
            sending = [pool.submit(end.sendall, data[end]) for end in (near, far)]
            for end, other in ((far, near), (near, far)):
                received = bytearray()
                while len(received) < octets:
                    chunk = end.recv(1 << 16)
                    assert chunk, 'the connection was closed early'
                    received += chunk
                assert received == data[other], 'TCP data arrived changed'
            for job in sending:
                job.result()


def udp_both_ways(a, b, sizes=(0, 1, 17, 18, 19, 512, 1471, 1472)):
    """Datagrams of these sizes from a to b, each answered with what it held."""
    with _socket(a, socket.SOCK_DGRAM) as near, _socket(b, socket.SOCK_DGRAM) as far:
        near.bind((a.address, 0))
        far.bind((b.address, 0))
        for size in sizes:
            data = os.urandom(size)
            near.sendto(data, far.getsockname())
            received, sender = far.recvfrom(65536)
            assert received == data, f'UDP data of {size} octets arrived changed'
            far.sendto(received, sender)
            assert near.recv(65536) == data, f'UDP data of {size} octets came back changed'


def assert_checksums(wire, protocols=(1, 6, 17)):
    """Every frame that the wire recorded has right checksums, and there are some of each kind."""
    frames = [frame for frame in wire.drain() if frame[12:14] == b'\x08\x00']
    wrong = [(frame[:60].hex(), errors) for frame in frames if (errors := checksum_errors(frame))]
    assert not wrong, f'{len(wrong)} of {len(frames)} frames: {wrong[:3]}'
    for protocol in protocols:
        assert any(frame[23] == protocol for frame in frames), f'no frame of protocol {protocol}'


def converse(rig, a, b, octets=1 << 20):
    """Ping, TCP and UDP both ways between two hosts; every checksum that arrives is right."""
    wires = [rig.wire(a), rig.wire(b)]
    assert a.ping(b.address, 5) == 5
    assert b.ping(a.address, 5) == 5
    tcp_both_ways(a, b, octets)
    udp_both_ways(a, b)
    for wire in wires:
        assert_checksums(wire)
