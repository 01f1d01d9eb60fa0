# SPDX-License-Identifier: BSD-3-Clause
"""Two NICs of a kind in a guest, and the appliances that a test starts there."""
from concurrent.futures import ThreadPoolExecutor

from appliance import Millrace, wait_for
from ether import frame, mac

PROBE = b'probe'


def is_no_probe(frame_):
    """Probes may come late: e1000 keeps what it receives back for a while after a start."""
    return frame_[14:14 + len(PROBE)] != PROBE


def is_carried(frame_):
    """Neither a probe nor the appliance's own ARP: it announces its addresses again two seconds after a link came up."""
    return is_no_probe(frame_) and frame_[12:14] != b'\x08\x06'


# Frames on their way at once. Intel's devices push back; a virtio device drops what finds no room
# in its ring, which holds 256.
IN_FLIGHT = 128


class Rig:
    def __init__(self, guest, device, nics=None):
        """Of the guest's NICs those of that kind, or the given ones."""
        self.guest = guest
        self.device = device
        self.nics = nics or [nic for nic in guest.nics if nic.model == device]
        self.wires = [nic.wire for nic in self.nics]
        self.appliances = []
        for nic in guest.nics:
            nic.set_link(True)
            nic.wire.take()

    def millrace(self, *options, nics=None, start=True, **named):
        """Starts the appliance with the rig's NICs as its ports."""
        made = Millrace(self.guest, nics or self.nics, *options, **named)
        self.appliances.append(made)
        if start:
            made.start()
            made.wait_for_links()
        return made

    def wait_until_forwarding(self, *directions, seconds=20):
        """Sends frames from wire to wire until they arrive, for each direction (from, to) of a
        bridge; then empties all wires. NICs take a while after a start."""
        for number, (source, sink) in enumerate(directions or ((0, 1), (1, 0))):
            probe = frame('ff:ff:ff:ff:ff:ff', mac(source, 0xfe), PROBE + bytes([number]))

            def arrives(source=source, sink=sink, probe=probe):
                self.wires[source].send(probe)
                return self.wires[sink].expect(1, 0.2, lambda seen: seen == probe)

            wait_for(arrives, seconds, f'a frame from wire {source} to {sink}')
        self.settle()

    def carry(self, source, sink, frames, expected=None, seconds=20):
        """Sends frames into one wire; all of them (as `expected`), and nothing else, must leave by the
        other, in order."""
        expected = frames if expected is None else expected
        for first in range(0, len(frames), IN_FLIGHT):
            self.carry_some(source, sink, frames[first:first + IN_FLIGHT], expected[first:first + IN_FLIGHT], seconds)

    def carry_some(self, source, sink, frames, expected, seconds=20):
        """Sends at most IN_FLIGHT frames into one wire; those expected leave by the other, in order."""
        self.wires[source].send(*frames)
        arrived = self.wires[sink].expect(len(expected), seconds, is_carried)
        assert len(arrived) == len(expected), f'{len(arrived)} of {len(expected)} frames arrived'
        differ = [(seen.hex(), wanted.hex()) for seen, wanted in zip(arrived, expected) if seen != wanted]
        assert not differ, f'{len(differ)} frames arrived changed, or in another order: {differ[0]}'

    def carry_both_ways(self, there, back, expected=None):
        """Both at the same time, between wires 0 and 1; expected: a pair of what arrives."""
        expected = expected or (there, back)
        with ThreadPoolExecutor(2) as pool:
            for job in (pool.submit(self.carry, 0, 1, there, expected[0]),
                        pool.submit(self.carry, 1, 0, back, expected[1])):
                job.result()

    def wait_for_arrival(self, source, sink, packet, seconds=20):
        """Sends a packet until it (or whatever becomes of it) leaves by another wire, which then is quiet."""
        def arrives():
            self.wires[source].send(bytes(packet).ljust(60, b'\0'))
            return self.wires[sink].expect(1, 0.2)

        wait_for(arrives, seconds, f'a packet from wire {source} to {sink}')
        self.settle()

    def settle(self):
        """Until nothing is on its way any more: empties the wires."""
        appliance = self.appliances[-1]
        before = None

        def quiet():
            nonlocal before
            last, before = before, appliance.conservation()
            return last == before and before[0] == before[1]

        wait_for(quiet, 10, 'nothing is on its way')
        for wire in self.wires:
            wire.take()

    def finish(self):
        """Ends all appliances, see Millrace.finish."""
        while self.appliances:
            self.appliances[0].finish()
            del self.appliances[0]

    def end(self, request):
        """For a fixture, when its test has ended."""
        if getattr(request.node, 'report_call', None) and request.node.report_call.passed:
            self.finish()
        else:
            self.show()

    def show(self):
        """For a test that failed."""
        for appliance in self.appliances:
            try:
                print(f'--- {appliance.command}\n{appliance.config}\n{appliance.log()}')
                for line in ('show port info all', 'show port stats all', 'show drops', 'show conservation',
                             'show port xstats all'):
                    print(f'--- {line}\n{appliance.do(line)}')
            except Exception as error:  # pylint: disable=broad-except
                print(error)
        print(f'--- guest\n{self.guest.boot_log()[-4000:]}')
