# SPDX-License-Identifier: BSD-3-Clause
"""dpdk-dumpcap sees what a port receives and sends, and forwarding goes on after it."""
import subprocess

from scapy.layers.l2 import Ether
from scapy.utils import RawPcapNgReader

from rig import af_packet, wait_for

FRAMES = 8


def frame(number):
    made = bytes(Ether(src='02:00:00:00:00:aa', dst='ff:ff:ff:ff:ff:ff', type=0x88b5))
    return made + bytes([number % 256]) * 50


def test_frames_of_a_port_are_captured(rig):
    hosts = rig.hosts(None, None)
    wires = [rig.wire(host) for host in hosts]
    millrace = rig.millrace(af_packet('p0', 'p1'))
    for port in (0, 1):
        path = f'{millrace.directory}/port{port}.pcapng'
        capture = rig.popen(rig.box, ['dpdk-dumpcap', f'--file-prefix={millrace.prefix}', '-i', str(port),
                                      '-c', str(FRAMES), '-w', path],
                            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        sent = []

        def captured(capture=capture, sent=sent):
            sent.append(frame(len(sent)))
            wires[0].send(sent[-1])
            return capture.poll() is not None

        wait_for(captured, 30, 'the capture ends by itself')
        assert capture.returncode == 0
        seen = [data for data, _ in RawPcapNgReader(path) if data[12:14] == b'\x88\xb5']
        assert len(seen) >= FRAMES // 2 and set(seen) <= set(sent)
        wires[1].receive_until(sent[-1])
    after = frame(255)
    wires[0].send(after)
    wires[1].receive_until(after)
