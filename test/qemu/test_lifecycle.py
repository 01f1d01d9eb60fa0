# SPDX-License-Identifier: BSD-3-Clause
"""Ends, starts, guests of other shapes, and sleep."""
import pytest

from appliance import wait_for
from ether import BROADCAST, burst, frame, mac
from qemu_rig import Rig, is_no_probe


def test_kill(rig):
    """SIGKILL under traffic, and a restart that forwards as before"""
    first = rig.millrace()
    rig.wait_until_forwarding()
    rig.wires[0].send(*burst(0, 1, 100))
    first.signal('KILL')
    wait_for(lambda: not first.is_running(), 10, 'it is gone')
    rig.appliances.remove(first)
    rig.millrace()
    rig.wait_until_forwarding()
    rig.carry_both_ways(burst(0, 1, 300), burst(1, 0, 300))


@pytest.mark.thorough
def test_interrupts(rig):
    """rx interrupts (--idle=interrupt): an lcore sleeps and a frame wakes it"""
    em = rig.device in ('e1000', 'e1000e')
    if em:  # without its option it says what is missing, and forwards
        millrace = rig.millrace('--idle=interrupt')
        assert 'has rx interrupts only with EAL\'s --vfio-intr=legacy' in millrace.log()
        rig.wait_until_forwarding()
        rig.finish()
    eal = ('-l', '0,1', *(('--vfio-intr=legacy',) if em else ()))
    millrace = rig.millrace('--idle=interrupt', eal=eal)
    rig.wait_until_forwarding()

    def wakeups():
        return millrace.show('show lcore stats 1')['wakeups']

    before = wakeups()
    for _ in range(20):
        rig.carry(0, 1, burst(0, 1, 1))
        rig.settle()
    assert wakeups() - before >= 10
    rig.carry_both_ways(burst(0, 1, 500), burst(1, 0, 500))
    assert 'no rx interrupts' not in millrace.log()


def test_mixed(rig_of_all):
    """all of them in one appliance, bridged with each other"""
    rig = rig_of_all
    millrace = rig.millrace(eal=('--lcores', '0@0,1@1,2@1'))
    drivers = {row['driver'] for row in millrace.show('show port info all')}
    assert drivers >= {'net_e1000_em', 'net_virtio'}
    ports = range(len(rig.nics))
    for source in ports:
        sink = (source + 1) % len(ports)
        rig.wait_until_forwarding((source, sink), (sink, source))
    for source in ports:  # so that all are known
        rig.wires[source].send(frame(BROADCAST, mac(source)))
    wait_for(lambda: len(millrace.show('show station')) == 2 * len(ports), 10, 'all stations are known')
    rig.settle()
    for source in ports:
        for sink in ports:
            if source != sink:
                rig.carry(source, sink, burst(source, sink, 20, (60, 1514)))
    flooded = [seen for wire in rig.wires for seen in wire.take() if is_no_probe(seen)]
    assert not flooded, 'a known station was flooded'


@pytest.fixture(name='rig_of_all')
def fixture_rig_of_all(request, boot, models):
    """One NIC of each kind, all of them ports of the appliance."""
    guest = boot(models)
    made = Rig(guest, None, guest.nics[::2])
    yield made
    made.end(request)


@pytest.mark.thorough
def test_without_iommu(boot, models, device):
    """uio_pci_generic, in a guest without an IOMMU"""
    rig = Rig(boot(models, binding='uio_pci_generic'), device)
    rig.millrace()
    rig.wait_until_forwarding()
    rig.carry_both_ways(burst(0, 1, 300, (60, 1514)), burst(1, 0, 300, (60, 1514)))
    rig.finish()
