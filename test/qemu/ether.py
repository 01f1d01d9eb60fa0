# SPDX-License-Identifier: BSD-3-Clause
"""Frames that tests send."""
import random

MINIMUM = 60  # octets of a frame without its FCS
MAXIMUM = 1514
EXPERIMENT = b'\x88\xb5'  # IEEE 802 local experimental EtherType
BROADCAST = 'ff:ff:ff:ff:ff:ff'


def mac(port, host=1):
    """The MAC of a station behind a port."""
    return f'02:00:00:00:{port:02x}:{host:02x}'


def octets(address):
    return bytes.fromhex(address.replace(':', ''))


def frame(destination, source, payload=b'', size=MINIMUM, tags=b''):
    """A frame of that size that no protocol claims; `tags` stand between addresses and type."""
    head = octets(destination) + octets(source) + tags + EXPERIMENT + payload
    assert len(head) <= size
    return head + bytes(size - len(head))


def tag(vlan, tpid=0x8100):
    return tpid.to_bytes(2, 'big') + vlan.to_bytes(2, 'big')


def burst(source, sink, count, size=MINIMUM, tags=b''):
    """Frames from a station behind one port to one behind the other, each different. Sizes may be a
    number or several to choose from."""
    sizes = [size] if isinstance(size, int) else size
    return [frame(mac(sink), mac(source), number.to_bytes(4, 'big'), random.choice(sizes), tags)
            for number in range(count)]
