# SPDX-License-Identifier: BSD-3-Clause
"""NICs that come and go while two others forward."""
import threading
import time

import pytest

from appliance import wait_for
from ether import frame, mac
from qemu_rig import Rig

HOTPLUG = ('e1000e', 'igb', 'virtio')  # those behind a root port


class Pair:
    """Frames between the first two ports all the while, none of which may be lost."""

    def __init__(self, wires):
        self.source, self.sink = wires
        self.stop = threading.Event()
        self.sent = []
        self.thread = threading.Thread(target=self._send)

    def _send(self):
        while not self.stop.is_set():
            self.sent.append(frame(mac(1, 1), mac(0, 1), b'pair' + len(self.sent).to_bytes(4, 'big')))
            self.source.send(self.sent[-1])
            time.sleep(0.01)

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, kind, *_):
        self.stop.set()
        self.thread.join()
        if kind is None:
            arrived = self.sink.expect(len(self.sent), 20, lambda data: data[14:18] == b'pair')
            assert arrived == self.sent, f'{len(arrived)} of {len(self.sent)} arrived in their order'


class Third:
    """A NIC that is not the appliance's from the start, bridged with two that are."""

    def __init__(self, rig, pair):
        self.guest = rig.guest
        self.nic = rig.nics[0]
        self.pair = pair
        self.millrace = rig.millrace(
            nics=pair, config='bridge add br0\nbridge member add br0 port 0\nbridge member add br0 port 1\n'
            f'station add br0 {mac(1, 1)} port 1\n')

    def is_there(self):
        return len(self.millrace.show('show port info all')) == 3

    def wait_for_frames(self):
        """Both ways between the NIC and the first port."""
        for source, sink in ((self.nic.wire, self.pair[0].wire), (self.pair[0].wire, self.nic.wire)):
            probe = frame('ff:ff:ff:ff:ff:ff', mac(2, 1), b'third')

            def arrives(source=source, sink=sink, probe=probe):
                source.send(probe)
                return sink.expect(1, 0.2, lambda seen: seen == probe)

            wait_for(arrives, 20, 'a frame of the third port')

    def unplug(self):
        monitor = self.guest.monitor
        monitor.events.clear()
        monitor.do('device_del', id=f'{self.nic.id}-device')
        while (event := monitor.wait_for_event('DEVICE_DELETED', 30))['data'].get('device') != f'{self.nic.id}-device':
            monitor.events.remove(event)  # of a part of it

    def plug(self):
        """Puts the device back, and binds it as it was."""
        driver, *options = self.nic.device(bus=f'rp{self.nic.number}').split(',')
        arguments = dict(option.split('=', 1) for option in options)
        for key in ('iommu_platform', 'disable-legacy'):
            if key in arguments:
                arguments[key] = 'on' if key == 'disable-legacy' else True
        self.guest.monitor.do('device_add', driver=driver, **arguments)
        place = f'/sys/bus/pci/devices/{self.nic.address}'
        wait_for(lambda: self.guest.run(f'test -e {place}', check=False)[0] == 0, 20, 'the guest sees the device')
        self.guest.run(f'echo {self.guest.binding} >{place}/driver_override; '
                       f'basename {place} >/sys/bus/pci/drivers_probe; test -e {place}/driver')


@pytest.fixture(name='third')
def fixture_third(rig):
    pair = [nic for nic in rig.guest.nics if nic.model != rig.device][:2]
    for nic in pair:
        nic.wire.take()
    return Third(rig, pair)


def test_added_and_removed(third):
    """hot add and remove, while others forward"""
    millrace, address = third.millrace, third.nic.address
    with Pair([nic.wire for nic in third.pair]):
        for _ in range(3):
            millrace.do(f'port add {address}', 'bridge member add br0 port 2')
            third.wait_for_frames()
            assert millrace.stats(2)['rx_packets'] < 100, 'counts from its own start'
            millrace.do('port remove 2')
            assert not third.is_there()
    state = millrace.show('show port hotplug')
    assert (state['added'], state['removed'], state['unplugged']) == (3, 3, 0)


def pull_out_and_put_back(third):
    millrace = third.millrace
    millrace.do(f'port add {third.nic.address}', 'bridge member add br0 port 2',
                f'station add br0 {mac(2, 9)} port 2')
    third.wait_for_frames()
    with Pair([nic.wire for nic in third.pair]):
        third.unplug()
        wait_for(lambda: not third.is_there(), 10, 'the port is removed')
    assert millrace.log().count('its device is gone') == 1
    assert millrace.show('show port hotplug')['unplugged'] == 1
    wait_for(lambda: millrace.show('show port hotplug')['closing'] == 0, 120, 'the port is closed')
    with Pair([nic.wire for nic in third.pair]):
        third.plug()
        millrace.do(f'port add {third.nic.address}')
        third.wait_for_frames()
    assert [row['mac'] for row in millrace.show('show station port 2') if row['static']] == [mac(2, 9)]
    millrace.do('port remove 2')


@pytest.mark.devices(*HOTPLUG)
def test_pulled_out_and_put_back(third):
    """pulled out (device_del) and put back, while others forward"""
    pull_out_and_put_back(third)


@pytest.mark.thorough
@pytest.mark.parametrize('model', ('e1000e', 'igb'))
def test_pulled_out_of_uio(boot, model):
    """pulled out under uio_pci_generic and put back, while others forward

    The kernel asks nobody there: registers are gone from one access to the next."""
    rig = Rig(boot(['e1000', 'e1000', model], binding='uio_pci_generic'), model)
    try:
        pull_out_and_put_back(Third(rig, rig.guest.nics[:2]))
        rig.finish()
    except BaseException:
        rig.show()
        raise
