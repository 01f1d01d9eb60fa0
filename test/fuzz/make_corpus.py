#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Writes the seed corpora of the fuzz targets, test/fuzz/corpus/NAME/. The files are checked in;
run this after changing what is below."""
import glob
import os
import struct

HERE = os.path.dirname(os.path.abspath(__file__))
CORPUS = os.path.join(HERE, 'corpus')
ROOT = os.path.dirname(os.path.dirname(HERE))

# Operations of fuzz_packets.c.
FRAME, RUN, TIME, LINK = range(4)
FOR_PORT, CHECKSUM, IN_CHAIN, FILLED = 0x10, 0x20, 0x40, 0x80


def seed(target, name, data):
    os.makedirs(os.path.join(CORPUS, target), exist_ok=True)
    with open(os.path.join(CORPUS, target, name), 'wb') as file:
        file.write(data)


def mac(text):
    return bytes.fromhex(text.replace(':', ''))


def ipv4(text):
    return bytes(int(part) for part in text.split('.'))


def frame(port, data, flags=0, length=None):
    out = bytes([FRAME | port << 2 | flags | (FILLED if length else 0), len(data)])
    return out + (struct.pack('>H', length) if length else b'') + data


def run():
    return bytes([RUN])


def time(ms):
    for unit, step in enumerate((1, 10, 100, 1000)):
        if ms < 64 * step:
            return bytes([TIME, unit << 6 | ms // step])
    raise ValueError(ms)


def link(port, up):
    return bytes([LINK | port << 2 | up << 4])


def ether(to, source, kind, payload=b''):
    return mac(to) + mac(source) + struct.pack('>H', kind) + payload


def arp(operation, sender_mac, sender, target, to='ff:ff:ff:ff:ff:ff', target_mac='00:00:00:00:00:00'):
    return ether(to, sender_mac, 0x0806, struct.pack('>HHBBH', 1, 0x0800, 6, 4, operation) +
                 mac(sender_mac) + ipv4(sender) + mac(target_mac) + ipv4(target))


def packet(source, destination, payload=b'', ttl=64, protocol=17, fragment=0, total=None, options=b'',
           ident=1, from_mac='02:00:00:00:02:02'):
    size = 20 + len(options) + len(payload)
    header = struct.pack('>BBHHHBBH', 0x45 + len(options) // 4, 0, total or size, ident, fragment, ttl,
                         protocol, 0) + ipv4(source) + ipv4(destination) + options
    return ether('00:00:00:00:00:00', from_mac, 0x0800, header + payload)


def routed(port, *args, length=None, flags=0, **kwargs):
    """A packet to the router with right checksums."""
    return frame(port, packet(*args, **kwargs), FOR_PORT | CHECKSUM | flags, length)


ECHO = struct.pack('>BBHHH', 8, 0, 0, 7, 1) + b'abcdefgh'
UDP = struct.pack('>HHHH', 1000, 2000, 16, 0) + b'12345678'
A, B, C = '02:00:00:00:01:0a', '02:00:00:00:01:0b', '02:00:00:00:01:0c'
ALL = 'ff:ff:ff:ff:ff:ff'


def packets():
    def put(name, *operations):
        seed('packets', name, b''.join(operations))

    body = bytes(range(46))
    put('bridge_learn', frame(0, ether(B, A, 0x0800, body)), run(), frame(1, ether(A, B, 0x0800, body)),
        run(), frame(0, ether(B, A, 0x86dd, body)))
    put('bridge_burst', *[frame(i % 2, ether(B, f'02:00:00:00:01:{i:02x}', 0x88b5, body)) for i in range(33)])
    put('bridge_move', frame(0, ether(ALL, A, 0x0806, body)), run(), frame(1, ether(ALL, A, 0x0806, body)),
        run(), frame(0, ether(A, B, 0x0806, body)))
    put('bridge_odd', frame(0, ether(B, '01:00:5e:00:00:01', 0x0800, body)),
        frame(0, ether('01:80:c2:00:00:0e', A, 0x88cc, body)), frame(0, ether(A, A, 0x0800, body)),
        frame(0, ether('02:00:00:00:01:99', '02:00:00:00:01:99', 0x0800, body)), frame(0, b'\x02' * 13),
        frame(0, b''), frame(1, ether(A, C, 0x0800, body), IN_CHAIN))
    put('bridge_tagged', frame(0, ether(B, A, 0x8100, struct.pack('>HH', 10, 0x0800) + body)),
        frame(0, ether(B, A, 0x88a8, struct.pack('>HHHH', 10, 0x8100, 20, 0x0800) + body), length=622),
        frame(0, ether(B, A, 0x8100, struct.pack('>HH', 10, 0x0800)), length=618),
        frame(0, ether(B, A, 0x0800), length=615), frame(1, ether(A, B, 0x0800), length=1514))
    put('bridge_link', frame(0, ether(ALL, A, 0x0800, body)), link(1, 0), frame(0, ether(B, A, 0x0800, body)),
        link(1, 1), frame(1, ether(A, B, 0x0800, body)), time(63000))
    put('route_static', routed(2, '10.0.2.2', '10.0.3.2', UDP), routed(3, '10.0.3.2', '10.0.2.2', UDP))
    put('route_ecmp', *[routed(2, f'10.0.2.{i}', '10.1.2.3', UDP) for i in range(2, 34)])
    put('route_mixed', routed(2, '10.0.2.2', '10.1.2.3', UDP), routed(2, '10.0.2.2', '10.2.2.3', UDP),
        routed(2, '10.0.2.2', '10.3.2.3', UDP), routed(2, '10.0.2.2', '10.9.2.3', UDP),
        routed(2, '10.0.2.2', '224.0.0.9', UDP), routed(2, '10.0.2.2', '127.0.0.1', UDP),
        routed(2, '10.0.2.2', '10.0.3.255', UDP), routed(2, '127.0.0.1', '10.0.3.2', UDP),
        routed(2, '10.0.2.2', '10.5.0.1', UDP), routed(2, '10.0.2.2', '192.0.2.0', UDP))
    put('route_ttl', *[routed(2, '10.0.2.2', '10.0.3.2', UDP, ttl=ttl) for ttl in (0, 1, 2, 255)])
    put('route_carry', *[frame(2, ether('00:00:00:00:00:00', A, 0x0800, bytes.fromhex(header) + bytes(26)), FOR_PORT)
                         for header in ('4500002e8eec00004011ff80c000020ac6336414',
                                        '4500002e8f6d00004011feffc000020ac6336414')])
    put('route_resolve', routed(2, '10.0.2.2', '10.0.3.9', UDP), run(),
        frame(3, arp(2, '02:00:00:00:03:09', '10.0.3.9', '10.0.3.1', '02:00:00:00:00:03',
                     '02:00:00:00:00:03')), run(), routed(2, '10.0.2.2', '10.0.3.9', UDP))
    put('route_unresolved', *[routed(2, '10.0.2.2', '10.0.3.10', UDP, ident=i) for i in range(20)],
        time(1000), time(1000), time(1000), routed(2, '10.0.2.2', '10.0.3.10', UDP), time(6000),
        routed(2, '10.0.2.2', '10.0.3.10', UDP))
    put('route_mtu', routed(2, '10.0.2.2', '10.0.3.2', UDP, total=1500, length=1514),
        routed(2, '10.0.2.2', '10.0.3.2', UDP, total=1500, fragment=0x4000, length=1514),
        routed(2, '10.0.2.2', '10.0.3.2', UDP, total=301, length=315),
        routed(2, '10.0.2.2', '10.0.3.2', UDP, total=300, length=314),
        routed(2, '10.0.2.2', '10.0.3.9', UDP, total=900, fragment=0x2003, length=914),
        routed(2, '10.0.2.2', '10.0.3.2', UDP, total=1000, length=1014,
               options=bytes([0x83, 3, 4, 1, 0x94, 4, 0, 0])))
    put('route_options', *[routed(2, '10.0.2.2', '10.0.3.2', UDP, options=options) for options in (
        bytes([1, 1, 1, 0]), bytes([7, 7, 4, 0, 0, 0, 0, 0]), bytes([131, 7, 4, 10, 0, 3, 2, 0]),
        bytes([7, 0, 0, 0]), bytes([7, 40, 0, 0]), bytes([148, 4, 0, 0]))])
    put('route_header', frame(2, packet('10.0.2.2', '10.0.3.2', UDP), FOR_PORT),
        routed(2, '10.0.2.2', '10.0.3.2', UDP, total=200), routed(2, '10.0.2.2', '10.0.3.2', UDP, total=19),
        routed(2, '10.0.2.2', '10.0.3.2', UDP, length=200), routed(2, '10.0.2.2', '10.0.3.2', b''),
        frame(2, packet('10.0.2.2', '10.0.3.2', UDP), CHECKSUM),
        frame(2, ether('00:00:00:00:00:00', A, 0x86dd, body), FOR_PORT),
        frame(2, ether('00:00:00:00:00:00', A, 0x0800), FOR_PORT))
    put('route_link', link(3, 0), routed(2, '10.0.2.2', '10.0.3.2', UDP), routed(2, '10.0.2.2', '10.1.3.2', UDP),
        link(3, 1), routed(2, '10.0.2.2', '10.1.3.2', UDP))
    put('host_echo', routed(2, '10.0.2.2', '10.0.2.1', ECHO, protocol=1),
        routed(2, '10.0.2.2', '10.0.3.1', ECHO, protocol=1),
        routed(3, '10.0.3.2', '192.0.2.1', ECHO, protocol=1, total=300, length=314),
        routed(2, '10.1.3.2', '10.0.2.1', ECHO, protocol=1, total=1500, length=1514),
        routed(2, '10.0.2.2', '10.0.2.1', ECHO[:5], protocol=1))
    put('host_unwanted', routed(2, '10.0.2.2', '10.0.2.1', UDP), routed(2, '10.0.2.2', '10.0.2.1', UDP, protocol=6),
        routed(2, '10.0.2.2', '10.0.2.1', bytes([3, 1, 0, 0, 0, 0, 0, 0]) + body, protocol=1),
        routed(2, '10.0.2.2', '10.0.2.1', UDP, protocol=89))
    put('host_fragments', routed(2, '10.0.2.2', '10.0.2.1', ECHO, protocol=1, fragment=0x2000),
        routed(2, '10.0.2.2', '10.0.2.1', bytes(8), protocol=1, fragment=2))
    put('host_fragments_swapped', routed(2, '10.0.2.2', '10.0.2.1', bytes(20), protocol=1, fragment=4),
        routed(2, '10.0.2.2', '10.0.2.1', bytes(16), protocol=1, fragment=0x2002),
        routed(2, '10.0.2.2', '10.0.2.1', ECHO, protocol=1, fragment=0x2000))
    put('host_fragments_bad', routed(2, '10.0.2.2', '10.0.2.1', b'', fragment=0x2000),
        routed(2, '10.0.2.2', '10.0.2.1', bytes(9), fragment=0x2000),
        routed(2, '10.0.2.2', '10.0.2.1', bytes(100), fragment=8191),
        routed(2, '10.0.2.2', '10.0.2.1', bytes(16), fragment=0x2004),
        routed(2, '10.0.2.2', '10.0.2.1', bytes(8), fragment=2),
        routed(2, '10.0.2.2', '10.0.2.1', bytes(16), fragment=0x2004),
        routed(2, '10.0.2.2', '10.0.2.1', bytes(16), fragment=0x2003), time(31000))
    put('host_fragments_late', routed(2, '10.0.2.2', '10.0.2.1', ECHO, protocol=1, fragment=0x2000), time(31000),
        routed(2, '10.0.2.2', '10.0.2.1', bytes(8), protocol=1, fragment=2))
    put('arp', frame(2, arp(1, '02:00:00:00:02:05', '10.0.2.5', '10.0.2.1')),
        frame(2, arp(1, '02:00:00:00:02:05', '10.0.2.5', '10.0.2.7')), frame(2, arp(1, A, '10.0.3.5', '10.0.2.1')),
        frame(2, arp(1, A, '10.0.2.1', '10.0.2.1')), frame(2, arp(1, A, '10.0.2.2', '10.0.2.2')),
        frame(2, arp(1, A, '0.0.0.0', '10.0.2.1')), frame(2, arp(3, A, '10.0.2.5', '10.0.2.1')),
        frame(2, arp(2, '01:00:00:00:00:05', '10.0.2.5', '10.0.2.1')), frame(2, arp(1, A, '10.0.2.5', '10.0.2.1')[:41]))
    put('neighbour_ages', frame(2, arp(1, '02:00:00:00:02:05', '10.0.2.5', '10.0.2.1')), time(40000),
        time(20000), routed(3, '10.0.3.2', '10.0.2.5', UDP))


COMMANDS = {
    'bridge': 'bridge add br0\nbridge add br1 ageing 10\nbridge member add br0 port 0\n'
              'bridge member add br0 port 1\nbridge member add br1 port 1\n'
              'station add br0 02:00:00:00:01:01 port 1\nshow bridge\nshow bridge br0\nshow station br0\n'
              'show station port 1 mac 02:00:00:00:01:01 limit 1\nbridge set br0 ageing 0\n'
              'station flush br0 port 0\nstation del br0 02:00:00:00:01:01 port 1\n'
              'bridge member del br0 port 0\nbridge del br0\nbridge del br0\n',
    'route': 'address add 10.0.0.1/24 port 0\naddress add 10.0.1.1/24 port 1\naddress add 10.0.0.1/24 port 1\n'
             'route add 10.1.0.0/16 via 10.0.0.2 10.0.1.2\nroute add 10.2.0.0/16 blackhole\n'
             'route add 0.0.0.0/0 via 10.0.0.2\nroute add 10.1.0.0/16 via 10.9.9.9\nshow route\n'
             'show route 10.1.0.0/16\nshow route lookup 10.1.2.3\nshow route summary\nroute del 10.1.0.0/16\n'
             'route del 10.1.0.0/16\naddress del 10.0.0.1/24 port 0\nshow address port 0\n',
    'route_bridge': 'bridge add b\nbridge member add b port 0\naddress add 10.0.0.1/24 port 0\n'
                    'bridge del b\naddress add 10.0.0.1/24 port 0\nbridge add b\nbridge member add b port 0\n',
    'overlap': 'address add 10.0.0.1/8 port 0\naddress add 10.1.0.1/16 port 1\naddress add 10.1.1.1/32 port 2\n'
               'route add 10.1.1.0/24 via 10.1.0.2\nroute add 10.1.1.5/32 via 10.0.0.2\n'
               'neighbour add 10.1.1.5 mac 02:00:00:00:00:55 port 1\naddress del 10.1.0.1/16 port 1\n',
    'neighbour': 'address add 10.0.0.1/24 port 0\nneighbour add 10.0.0.2 mac 02:00:00:00:00:99 port 0\n'
                 'neighbour add 10.0.9.2 mac 02:00:00:00:00:99 port 0\n'
                 'neighbour add 10.0.0.3 mac 01:00:00:00:00:99 port 0\nroute add 10.1.0.0/16 via 10.0.0.2\n'
                 'show neighbour\nshow neighbour port 0\nneighbour del 10.0.0.2\nneighbour del 10.0.0.2 port 0\n'
                 'address del 10.0.0.1/24 port 0\n',
    'port': 'port stop 0\nport start 0\nport config mtu 1 600\nport config 1 mtu 1500\n'
            'mac_addr set 2 02:00:00:00:00:77\nset promisc all on\nset promisc 0 off\nset allmulti 3 on\n'
            'show port info all\nshow port info 0\nshow port stats all\nshow port xstats 1\n'
            'clear port stats all\nclear port xstats all\nport config mtu 1 9000\nport stop 9\n',
    'port_routed': 'address add 10.0.0.1/24 port 0\nroute add 10.1.0.0/16 via 10.0.0.2\nport stop 0\n'
                   'neighbour add 10.0.0.2 mac 02:00:00:00:00:99 port 0\nmac_addr set 0 02:00:00:00:00:99\n'
                   'port config mtu 0 68\nport start 0\nshow route\n',
    'show': 'show config fwd\nshow config cores\nshow config rxtx\nshow lcore list\nshow lcore stats\n'
            'show lcore stats 1\nshow drops\nhelp\nhelp show port\nhelp nothing\nstop\nstart\nquit\n',
    'refused': 'bridge add\nbridge add -x\nbridge add br0 ageing\nroute add 10.0.0.0/33 blackhole\n'
               'route add 10.0.0/8 blackhole\nshow route lookup 256.0.0.1\nport config mtu 99999 1\n'
               'port config mtu 0 08\nstation add b 02:00:00:00:00 port 0\nsh\n# comment\n   \t\n'
               'show route # comment\nset promisc 0 maybe\n',
    'paths': 'address add 10.0.0.1/24 port 0\nroute add 10.1.0.0/16 via ' +
             ' '.join(f'10.0.0.{i}' for i in range(2, 70)) + '\nroute add 10.1.0.0/16 via 10.0.0.2 10.0.0.2\n'
             'route add 10.1.0.0/16 via 10.0.0.1\nroute add 10.1.0.0/16 via 10.0.0.255\n' +
             'route add 10.1.0.0/16 via ' + ' '.join(f'10.0.0.{i}' for i in range(2, 10)) + '\n',
}

# The first byte: 0, a rule; 1, what is wanted and a frame.
ALL_WANTED = b'\1\xff\xff\x0f\0'
FILTER = {
    'ports': b'\x00100 deny tcp from any to 10.0.0.0/8 80,443,8000-8100 in via port 0',
    'braces': b'\0allow { tcp or udp } from { 10.0.0.1 or set:s0 } to not me not 53 keep-state',
    'options': b'\0count ip from 2001:db8::/32 to any frag not options iplen 20-40 ipttl 1 dscp ef vlan 10 vrf 1',
    'macs': b'\0deny log all from any to any ethertype arp,0x88cc not dst-mac 01:00:5e:00:00:00/25 out xmit port 1-3',
    'flags': b'\0deny tcp from any to any not tcpflags syn,!ack,fin established',
    'police': b'\x005 police 10M burst 64K icmp6 from any to any icmp6types 128-129',
    'skipto': b'\x0010 skipto 20 all from any to any',
    'ipv4': ALL_WANTED + ether('02:00:00:00:00:01', '02:00:00:00:00:02', 0x0800, bytes.fromhex(
        '4600002c00004000400600000a0000010a00000201010101' '1234001600000000000000005002000000000000')),
    'ipv6': ALL_WANTED + ether('02:00:00:00:00:01', '02:00:00:00:00:02', 0x8100, bytes.fromhex(
        '000a86dd' '6000000000343340' + '20010db8000000000000000000000001' * 2 +
        '0004000000000001000000010102030405060708090a0b0c' '2c00010400000000' '0600000100000001'
        '123400160000000000000000')),
}

PROFILES = {
    'empty': b'',
    'all': b'[port]\nrxq = all\ntxq = lcores\nmax_rxq = 4\nmax_txq = 16\nrxd = 512\ntxd = 32768\nburst = 64\n'
           b'rx_offloads = rss_hash\ntx_offloads = ipv4_cksum udp_cksum\nspread = yes\nqueue_pairs = no\n'
           b'partial_checksums = yes\nkernel_link = no\n',
    'sections': b'[port]\nrxq = 1\n[port]\nrxq = 2\n[other]\n',
    'refused': b'rxq = 1\n[port\nrxq\n= 3\nrxq = 0\nrxq = 99999\nburst = -1 # comment\n',
    'twice': b'[port]\nrxq = 1\nrxq = 2\n',
    'long': b'[port]\n' + b'k' * 80 + b' = 1\nrxq = ' + b'1' * 300 + b'\n[' + b's' * 100 + b']\n',
    'nul': b'[port]\nrxq = 1\0\n\0txq = 2\n',
}


def main():
    for old in glob.glob(os.path.join(CORPUS, '*', '*')):
        os.remove(old)
    packets()
    for name, text in COMMANDS.items():
        seed('commands', name, text.encode())
    seed('commands', 'long', b'help ' + b'x' * 5000 + b'\n' + b'a ' * 2000 + b'\nhelp \0\x80\n')
    for name, data in FILTER.items():
        seed('filter', name, data)
    for name, data in PROFILES.items():
        seed('profile', name, data)
    for path in glob.glob(os.path.join(ROOT, 'drivers-cfg', 'net_*.cfg')):
        with open(path, 'rb') as file:
            seed('profile', os.path.basename(path), file.read())


if __name__ == '__main__':
    main()
