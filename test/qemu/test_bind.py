# SPDX-License-Identifier: BSD-3-Clause
"""scripts/bind on a real kernel, in a guest where busybox is all there is. Of the emulated NICs the guest's
kernel has a driver for virtio only; the others come without one, as from a kernel that lacks it."""
import json

import pytest

from appliance import wait_for
from ether import burst
from guest import Failed
from qemu_rig import Rig


class Ports:
    """The network ports of a guest, in the hands of its kernel."""

    def __init__(self, guest):
        self.guest = guest
        guest.run('modprobe virtio_pci; modprobe virtio_net; modprobe 8021q')
        self.bind('--restore', *(nic.address for nic in self.virtio()))
        wait_for(lambda: all(self.row(nic)['interface'] for nic in self.virtio()))

    def virtio(self):
        return [nic for nic in self.guest.nics if nic.model == 'virtio']

    def bind(self, *words):
        return self.guest.run(' '.join(['millrace-bind', *words]))

    def refused(self, *words):
        before = self.rows()
        with pytest.raises(Failed) as reason:
            self.bind(*words)
        assert self.rows() == before
        return str(reason.value)

    def rows(self):
        return {row['pci']: row for row in json.loads(self.bind('-j'))}

    def row(self, nic):
        return self.rows()[nic.address]

    def driver(self, nic):
        return self.row(nic)['driver']

    def sends(self, nic):
        """Whether the guest's kernel sends through a NIC."""
        name = self.row(nic)['interface']
        self.guest.run(f'ip link set {name} up; ip addr add 192.0.2.1/24 dev {name}; ping -c 1 -W 1 192.0.2.2; '
                       f'ip addr flush dev {name}; ip link set {name} down', check=False)
        return any(seen[12:14] == b'\x08\x06' for seen in nic.wire.take())


def carries(guest, nics):
    """Frames pass through a millrace on these NICs, which ends in order; what it says while it has them."""
    rig = Rig(guest, nics[0].model, nics)
    millrace = rig.millrace('--forward-mode=bridge')
    rig.wait_until_forwarding()
    rig.carry(0, 1, burst(0, 1, 20))
    yield millrace
    rig.finish()


@pytest.mark.devices('e1000e', 'virtio')
def test_vfio(boot):
    """scripts/bind: to vfio-pci and back, frames pass meanwhile"""
    guest = boot(['e1000e', 'e1000e', 'virtio', 'virtio'], 'none')
    ports = Ports(guest)
    intel, virtio = guest.nics[:2], guest.nics[2:]
    assert {ports.driver(nic) for nic in intel} == {None}
    assert all(ports.row(nic)['mac'] == nic.mac for nic in virtio)

    ports.bind(*(nic.address for nic in intel), ports.row(virtio[0])['interface'], virtio[1].address[5:])
    assert {ports.driver(nic) for nic in guest.nics} == {'vfio-pci'}
    for nics in (intel, virtio):
        for _ in carries(guest, nics):
            assert 'in use by millrace' in ports.refused('--restore', nics[0].address)
    before = ports.rows()
    assert ports.bind(*(nic.address for nic in guest.nics)).count('already') == 4
    assert ports.rows() == before

    ports.bind('--restore')
    wait_for(lambda: all(ports.row(nic)['interface'] for nic in virtio))
    assert {ports.driver(nic) for nic in virtio} == {'virtio-pci'}
    assert all(ports.sends(nic) for nic in virtio)


@pytest.mark.devices('e1000', 'virtio')
def test_uio_without_an_iommu(boot):
    """scripts/bind: to uio_pci_generic and back in a guest without an IOMMU, frames pass meanwhile"""
    guest = boot(['e1000', 'e1000', 'virtio', 'virtio'], 'uio_pci_generic')
    ports = Ports(guest)
    virtio = guest.nics[2:]
    assert all(ports.sends(nic) for nic in virtio)
    assert 'no IOMMU' in ports.refused('--driver=vfio-pci', virtio[0].address)
    assert 'can write anywhere in memory' in ports.bind(*(nic.address for nic in virtio))
    assert {ports.driver(nic) for nic in virtio} == {'uio_pci_generic'}
    for nics in (guest.nics[:2], virtio):
        for _ in carries(guest, nics):
            assert 'in use by millrace' in ports.refused('--restore', nics[1].address)
    ports.bind('--restore')
    assert {ports.driver(nic) for nic in virtio} == {'virtio-pci'}


@pytest.mark.thorough
@pytest.mark.devices('virtio')
def test_the_port_that_the_guest_is_reached_by(boot):
    """scripts/bind: refuses a port with a default route or an SSH session, also through a VLAN

    busybox's ip says what routes there are."""
    guest = boot(['e1000e', 'e1000e', 'virtio', 'virtio'], 'none')
    ports = Ports(guest)
    nic = ports.virtio()[0]
    name = ports.row(nic)['interface']
    guest.run(f'ip link set {name} up; ip link add link {name} name wan type vlan id 5; ip link set wan up; '
              'ip addr add 192.0.2.1/24 dev wan')
    def reason():
        """Why the port is refused, if it is; one run, since the guest is slow."""
        return ports.guest.run(f'millrace-bind --dry-run {name}', check=False)[1]

    try:
        assert 'an SSH session' not in reason()
        for family, route in (('', 'default via 192.0.2.254 dev wan'), ('-6', 'default via fe80::1 dev wan')):
            guest.run(f'ip {family} route add {route}')
            assert 'a default route through wan' in reason()
            guest.run(f'ip {family} route del {route}')
        # A connection to port 22 in the guest itself, as a shell under sudo would see it.
        guest.run('sleep 100 | nc -l -p 22 >/tmp/server 2>&1 & sleep 100 | '
                  '(until nc 192.0.2.1 22 2>/dev/null; do sleep 0.2; done) >/tmp/client 2>&1 &')
        wait_for(lambda: 'an SSH session through wan' in reason(), 30)
    finally:
        guest.run('killall sleep nc; ip link del wan', check=False)
    ports.bind(name)
    assert ports.driver(nic) == 'vfio-pci'
    ports.bind('--restore')
