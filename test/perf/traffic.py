# SPDX-License-Identifier: BSD-3-Clause
"""What the benchmark's forwarders receive: one capture file a port, and millrace's configuration.

Ports are sides 0 and 1, each of which sends to the other; or, in scenarios that end in -cross, 0 to 3:
0 and 1 send to each other, so do 2 and 3, and the first two are polled by lcore 1, the others by
lcore 2, which by its ports' number is the likelier sender to the first two and so owns their transmit
queues: all that both lcores send goes by the other one.

All of it follows from a seed, so that two runs see the same packets. Frames measure 60 bytes (64 with
the FCS, which files do not hold) and are UDP with ports that differ from flow to flow.
"""
import glob
import ipaddress
import random
import struct

FLOWS = 4096
STATIONS = 1024
GATEWAYS = 8
PORT_MACS = [bytes.fromhex(f'02706361700{n}') for n in range(4)]  # net_pcap's own

# Of 100 routes in the Internet's table so many have this length (CIDR reports, rounded).
LENGTHS = {24: 60, 23: 10, 22: 11, 21: 5, 20: 5, 19: 3, 18: 2, 17: 1, 16: 2,
           15: 0.4, 14: 0.3, 13: 0.2, 12: 0.1}


def checksum(data):
    total = sum(struct.unpack(f'!{len(data) // 2}H', data))
    total = (total & 0xffff) + (total >> 16)
    return ~(total + (total >> 16)) & 0xffff


def udp_frame(destination_mac, source_mac, source, destination, rng):
    """A frame between two IPv4 addresses (numbers); its ports are random."""
    ports = struct.pack('!HH', rng.randrange(1024, 65536), rng.randrange(1024, 65536))
    addresses = struct.pack('!II', source, destination)
    udp_length = 8 + 18
    pseudo = addresses + struct.pack('!HH', 17, udp_length)
    udp_checksum = checksum(pseudo + ports + struct.pack('!HH', udp_length, 0)) or 0xffff
    udp = ports + struct.pack('!HH', udp_length, udp_checksum)
    start, end = struct.pack('!BBHHHBB', 0x45, 0, 20 + udp_length, 0, 0x4000, 64, 17), addresses
    header = start + struct.pack('!H', checksum(start + end)) + end
    return destination_mac + source_mac + b'\x08\x00' + header + udp + bytes(18)


def write_capture(path, frames):
    with open(path, 'wb') as file:
        file.write(struct.pack('=IHHIIII', 0xa1b2c3d4, 2, 4, 0, 0, 65535, 1))
        for frame in frames:
            file.write(struct.pack('=IIII', 0, 0, len(frame), len(frame)) + frame)


def station_mac(side, number):
    return bytes((0x02, 0, 0, side, number >> 8, number & 255))


def bridge_frames(side, rng):
    """Each station of this side sends to stations of the one that it sends to."""
    for flow in range(FLOWS):
        to = station_mac(side ^ 1, rng.randrange(STATIONS))
        yield udp_frame(to, station_mac(side, flow % STATIONS), 0xc6120000 + rng.randrange(1 << 16),
                        0xc6130000 + rng.randrange(1 << 16), rng)


def routed_frames(side, prefixes, rng, flows):
    """Destinations inside prefixes (address, length) that the other port leads to."""
    for flow in range(flows):
        prefix, length = rng.choice(prefixes)
        destination = prefix | rng.getrandbits(32 - length)
        yield udp_frame(PORT_MACS[side], station_mac(side, flow % STATIONS),
                        0xc6120000 + rng.randrange(1 << 16), destination, rng)


def few_prefixes(side):
    """8 of length 16 behind each port."""
    return [(20 + side << 24 | n << 16, 16) for n in range(8)]


def internet_prefixes(side, count, rng):
    """Prefixes of one half of the unicast addresses, in lengths as the Internet has them, nested at random."""
    low, high = ((11 << 24, 112 << 24), (128 << 24, 198 << 24))[side]
    lengths, weights = list(LENGTHS), list(LENGTHS.values())
    prefixes = set()
    while len(prefixes) < count:
        length = rng.choices(lengths, weights)[0]
        prefixes.add((rng.randrange(low, high) >> 32 - length << 32 - length, length))
    return sorted(prefixes, key=lambda prefix: rng.random())


def route_config(prefixes):
    """Commands: an address a port, static neighbours behind it, and the prefixes of each side over them."""
    lines = []
    for side in range(len(prefixes)):
        lines.append(f'address add 10.0.{side}.1/24 port {side}')
        for n in range(GATEWAYS):
            lines.append(f'neighbour add 10.0.{side}.{2 + n} mac 02:00:00:01:0{side}:0{n} port {side}')
        for n, (prefix, length) in enumerate(prefixes[side]):
            gateway = f'10.0.{side}.{2 + n % GATEWAYS}'
            lines.append(f'route add {ipaddress.IPv4Address(prefix)}/{length} via {gateway}')
    return lines


def ports(directory):
    """How many ports make wrote files for."""
    return len(glob.glob(f'{directory}/p*.pcap'))


def repeated(frames, count):
    """As many, from the first again when they are fewer."""
    frames = list(frames)
    return [frames[n % len(frames)] for n in range(count)]


def make(scenario, directory, flows=FLOWS):
    """Writes p0.pcap, p1.pcap, ... and config of a scenario into a directory. flows: a port, in route16;
    fewer than usual are sent in as many frames as usual."""
    rng = random.Random(scenario)
    kind = scenario.removesuffix('-cross')
    sides = range(2 if kind == scenario else 4)
    config = [] if kind == scenario else [f'port queue {side} 0 lcore {1 + side // 2}' for side in sides]
    if kind in ('bridge', 'io'):
        frames = [bridge_frames(side, rng) for side in sides]
    else:
        if kind == 'route100k':
            prefixes = [internet_prefixes(side, 50000, rng) for side in sides]
        else:
            prefixes = [few_prefixes(side) for side in sides]
        config += route_config(prefixes)
        frames = [repeated(routed_frames(side, prefixes[side ^ 1], rng, flows), max(flows, FLOWS))
                  for side in sides]
    for side in sides:
        write_capture(f'{directory}/p{side}.pcap', frames[side])
    with open(f'{directory}/config', 'w', encoding='ascii') as file:
        file.write('\n'.join(config) + '\n')
