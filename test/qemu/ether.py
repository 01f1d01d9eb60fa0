# SPDX-License-Identifier: BSD-3-Clause
"""Frames that tests send: small ones by hand, the rest by scapy."""
MINIMUM = 60  # octets of a frame without its FCS
EXPERIMENT = b'\x88\xb5'  # IEEE 802 local experimental EtherType


def mac(port, host):
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
