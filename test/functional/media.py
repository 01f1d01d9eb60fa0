# SPDX-License-Identifier: BSD-3-Clause
"""What joins kernel hosts to the appliance: af_packet, tap, vhost or virtio-user ports.

Wherever the tests' hosts sit behind, they have eth0 in a namespace of their own and its veth peer
p<number> in the box. Only af_packet takes that peer as it is; tap gets a kernel bridge between its
device and the peer; behind vhost and virtio-user a dpdk-testpmd is the other end, which carries
frames between it and the peer.
"""
import os
import subprocess

from rig import af_packet, wait_for

MEDIA = ('af_packet', 'tap', 'vhost', 'virtio_user')


def appliance(rig, medium, hosts, *options, **named):
    """Starts an appliance whose ports 0, 1, ... lead to the hosts."""
    return {'af_packet': _af_packet, 'tap': _tap, 'vhost': _vhost,
            'virtio_user': _virtio_user}[medium](rig, hosts, *options, **named)


def _af_packet(rig, hosts, *options, **named):
    return rig.millrace(af_packet(*[f'p{n}' for n in range(len(hosts))]), *options, **named)


def _tap(rig, hosts, *options, **named):
    made = rig.millrace([f'net_tap{n},iface=tap{n}' for n in range(len(hosts))], *options, **named)
    for n in range(len(hosts)):
        rig.box.ip('link', 'add', f'br{n}', 'type', 'bridge', 'stp_state', '0', 'forward_delay', '0',
                   'mcast_snooping', '0')
        # A kernel bridge keeps frames to the MACs of its own ports, and a tap device has the MAC
        # of the appliance's port.
        rig.box.ip('link', 'set', f'tap{n}', 'address', f'06:00:00:00:0{n}:01')
        for port in (f'tap{n}', f'p{n}'):
            rig.box.ip('link', 'set', port, 'master', f'br{n}')
        rig.box.ip('link', 'set', f'br{n}', 'up')
    return made


def carrier(rig, *ends):
    """Starts a dpdk-testpmd that carries frames between a vdev and the box's end of a host's link,
    for each end (vdev, number of the host's link, host). Returns the process and a function that
    waits until it is ready."""
    prefix = rig.unique()
    log_path = os.path.join(rig.directory, f'{prefix}.log')
    # Main lcore and worker are placed the other way round than the appliance's.
    command = ['stdbuf', '-oL', 'dpdk-testpmd', '--lcores', '0@1,1@0', '--no-pci',
               '--file-prefix', prefix, '--single-file-segments']
    for vdev, number, host in ends:
        command += ['--vdev', vdev, '--vdev', f'net_af_packet{number},iface=p{number},framecnt=4096']
        host.offload(tx='off')  # testpmd passes partial checksums on as they are
    command += ['--', '--auto-start', '--forward-mode=io', '--total-num-mbufs=16384']
    rig.logs.append(log_path)
    with open(log_path, 'w', encoding='utf-8') as log:
        # It reads its standard input, and ends when that ends.
        process = rig.popen(rig.box, command, stdin=subprocess.PIPE, stdout=log, stderr=log)

    def log_text():
        with open(log_path, encoding='utf-8', errors='replace') as log:
            return log.read()

    def is_ready():
        assert process.poll() is None, f'dpdk-testpmd ended:\n{log_text()}'
        return 'Press enter to exit' in log_text()

    return process, lambda: wait_for(is_ready, 30, 'dpdk-testpmd is ready')


def _vhost(rig, hosts, *options, **named):
    sockets = [os.path.join(rig.directory, f'v{n}') for n in range(len(hosts))]
    made = rig.millrace([f'net_vhost{n},iface={path}' for n, path in enumerate(sockets)], *options,
                        **named)
    _, wait = carrier(rig, *[(f'net_virtio_user{n},path={path}', n, hosts[n])
                             for n, path in enumerate(sockets)])
    wait()
    return made


def _virtio_user(rig, hosts, *options, **named):
    sockets = [os.path.join(rig.directory, f'v{n}') for n in range(len(hosts))]
    _, wait = carrier(rig, *[(f'net_vhost{n},iface={path}', n, hosts[n])
                             for n, path in enumerate(sockets)])
    wait_for(lambda: all(os.path.exists(path) for path in sockets), 30, 'vhost sockets')
    made = rig.millrace([f'net_virtio_user{n},path={path}' for n, path in enumerate(sockets)],
                        *options, eal=['--single-file-segments'], **named)
    wait()
    return made
