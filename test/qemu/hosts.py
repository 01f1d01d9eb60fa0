# SPDX-License-Identifier: BSD-3-Clause
"""Hosts behind routed ports: 10.0.N.2 behind port N, whose address is 10.0.N.1/24."""
import random

from scapy.layers.inet import ICMP, IP, TCP, UDP
from scapy.layers.l2 import ARP, Ether
from scapy.packet import Raw

from appliance import wait_for
from ether import BROADCAST, mac
from frames import checksum_errors

ADDRESSES = '\n'.join(f'address add 10.0.{n}.1/24 port {n}' for n in range(2))


def address(port, host=2):
    return f'10.0.{port}.{host}'


class Hosts:
    """The hosts on the wires of a rig whose appliance routes."""

    def __init__(self, rig):
        self.rig = rig

    def meet(self, port, host=2, seconds=20):
        """A host asks for its gateway until it is answered; both know the other's MAC then. Returns the
        gateway's."""
        request = Ether(dst=BROADCAST, src=mac(port, host)) / ARP(
            op=1, hwsrc=mac(port, host), psrc=address(port, host), pdst=address(port, 1))
        request = bytes(request).ljust(60, b'\0')

        def answer():
            self.rig.wires[port].send(request)
            replies = self.rig.wires[port].expect(1, 0.2, lambda frame: frame[12:14] == b'\x08\x06' and
                                                  frame[20:22] == b'\0\x02')
            return replies and replies[0][22:28].hex(':')

        return wait_for(answer, seconds, f'an ARP reply on port {port}')

    def meet_all(self):
        gateways = [self.meet(port) for port in (0, 1)]
        self.rig.settle()
        return gateways

    def packet(self, source, payload, ttl=64, **ip):
        """A frame from the host behind a port to the one behind the other."""
        sink = 1 - source
        return Ether(dst=self.rig.nics[source].mac, src=mac(source, 2)) / IP(
            src=address(source), **{'dst': address(sink), 'ttl': ttl, **ip}) / payload

    def forwarded(self, source, frame, nic=None):
        """What a frame is when it has been routed: other MACs, a lower TTL, right sums."""
        sink = 1 - source
        made = Ether(bytes(frame))
        made.dst, made.src = mac(sink, 2), (nic or self.rig.nics[sink]).mac
        made[IP].ttl -= 1
        del made[IP].chksum
        return bytes(made)


def padded(frame):
    return bytes(frame).ljust(60, b'\0')


def payloads(count):
    """UDP, TCP and ICMP of all sizes, one after the other."""
    for number in range(count):
        data = Raw(random.randbytes(random.choice((0, 1, 17, 18, 19, 100, 1000, 1400))))
        yield (UDP(sport=number + 1, dport=9) / data, TCP(sport=number + 1, dport=9, seq=number) / data,
               ICMP(id=number & 0xffff) / data, UDP(sport=number + 1, dport=9, chksum=0) / data)[number % 4]


def assert_right_sums(frames):
    wrong = [(frame[:60].hex(), errors) for frame in frames if (errors := checksum_errors(frame))]
    assert not wrong, f'{len(wrong)} of {len(frames)}: {wrong[:3]}'
