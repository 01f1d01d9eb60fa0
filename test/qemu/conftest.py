# SPDX-License-Identifier: BSD-3-Clause
"""Tests of the appliance with real poll-mode drivers, on NICs that QEMU emulates.

How to write one: take the fixture `rig`. It is given once for each kind of NIC (rig.device: e1000,
e1000e, igb, virtio), two of which (rig.nics) sit in a guest that has booted already, with the other
end of each cable in the test's hand (rig.wires):

    def test_a_frame_is_bridged(rig):
        \"\"\"bridge: a frame\"\"\"
        millrace = rig.millrace('--forward-mode=bridge')
        rig.wait_until_forwarding()
        rig.wires[0].send(frame)
        assert rig.wires[1].expect(1) == [frame]

The first line of the docstring names the test's row in docs/drivers.md. `@pytest.mark.devices('igb')`
limits it to some devices; `rig.guest.run('...')` runs a shell command in the guest;
`rig.nics[0].set_link(False)` pulls a cable; rig.guest.monitor is QEMU's. When the test passed, the
appliance must have lost no packet untold, hold no buffer back and end cleanly; when it failed, the
guest is thrown away. A guest of another shape: the fixture `boot`, boot(['igb'] * 4). Emulated NICs
are slow to wake (e1000 keeps the first frames back for a second): wait for conditions, never for time.
A test marked `thorough` runs with `scripts/test qemu`, not in `scripts/test`."""
import collections
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time

import pytest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(os.path.dirname(HERE), 'functional')]

from guest import MODELS, QEMU, Guest  # pylint: disable=wrong-import-position
from qemu_rig import Rig  # pylint: disable=wrong-import-position

RESULTS = pytest.StashKey()
STARTED = pytest.StashKey()
BUDGET = 300  # seconds after which the short run starts no other test


def pytest_addoption(parser):
    parser.addoption('--thorough', action='store_true', help='also the tests that take long')
    parser.addoption('--results', help='a file for the results by device, as JSON; those of earlier runs stay in it')


def pytest_configure(config):
    config.addinivalue_line('markers', 'devices(*names): the kinds of NIC that a test is for')
    config.addinivalue_line('markers', 'thorough: not a part of the short run')
    config.stash[RESULTS] = {}


def pytest_sessionstart(session):
    session.stash[STARTED] = time.monotonic()
    signal.signal(signal.SIGTERM, signal.default_int_handler)


def qemu_models():
    """The NICs that the QEMU of this machine has; none without one."""
    if not shutil.which(QEMU):
        return {}
    known = subprocess.run([QEMU, '-device', 'help'], capture_output=True, text=True, timeout=30, check=True).stdout
    return {name for name, (device, _) in MODELS.items() if f'name "{device.partition(",")[0]}"' in known}


def pytest_generate_tests(metafunc):
    if 'device' in metafunc.fixturenames:
        marker = metafunc.definition.get_closest_marker('devices')
        metafunc.parametrize('device', marker.args if marker else list(MODELS), scope='session')


def pytest_collection_modifyitems(config, items):
    there = qemu_models()
    for item in items:
        device = getattr(item, 'callspec', None) and item.callspec.params.get('device')
        if not there:
            item.add_marker(pytest.mark.skip(reason=f'{QEMU} is not installed: run ./scripts/setup'))
        elif device and device not in there:
            item.add_marker(pytest.mark.skip(reason=f'this QEMU has no {device}: it needs version 8 or later'))
    if not config.getoption('--thorough'):
        kept = [item for item in items if not item.get_closest_marker('thorough')]
        config.hook.pytest_deselected(items=[item for item in items if item not in kept])
        items[:] = in_turns(kept)


def in_turns(items):
    """The first test of each file, then the second of each: what the budget cuts off is of all of them."""
    place = collections.Counter()
    keys = {}
    for item in items:
        keys[item] = place[item.path]
        place[item.path] += 1
    return sorted(items, key=keys.get)


def pytest_runtest_setup(item):
    if not item.config.getoption('--thorough') and time.monotonic() - item.session.stash[STARTED] > BUDGET:
        pytest.skip(f'the short run is over after {BUDGET} s: scripts/test qemu runs all')


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item):
    report = (yield).get_result()
    setattr(item, f'report_{report.when}', report)
    row = (item.function.__doc__ or item.name).splitlines()[0].rstrip('.')
    results = item.config.stash[RESULTS].setdefault(row, {})
    for column in columns(item):
        if (report.when == 'call' or report.outcome != 'passed') and results.get(column) != 'failed':
            results[column] = report.outcome
    note_results(item.config)


def columns(item):
    """The kinds of NIC that a test is about: those it was made for, those it names, or all."""
    params = item.callspec.params if hasattr(item, 'callspec') else {}
    marker = item.get_closest_marker('devices')
    device = params.get('device') or params.get('model')
    return [device] if device else marker.args if marker else ['all']


def note_results(config):
    """After each test, so that a run that is cut off leaves what it found. A test that was skipped
    takes no earlier result away."""
    path = config.getoption('--results')
    if not path:
        return
    merged = {}
    if os.path.exists(path):
        with open(path, encoding='utf-8') as file:
            merged = json.load(file)
    for row, outcomes in config.stash[RESULTS].items():
        there = merged.setdefault(row, {})
        there.update({column: outcome for column, outcome in outcomes.items()
                      if outcome != 'skipped' or column not in there})
    with open(f'{path}.new', 'w', encoding='utf-8') as file:
        json.dump(merged, file, indent=1)
    os.rename(f'{path}.new', path)


@pytest.fixture(scope='session', name='guests')
def fixture_guests():
    """Running guests by their shape; those whose test failed are taken out."""
    running = {}
    yield running
    for guest in running.values():
        guest.close()


@pytest.fixture(name='boot')
def fixture_boot(request, guests):
    """A function that gives a running guest with these NICs, one that is there already or a new one."""
    used = []

    def boot(models, binding='vfio-pci'):
        shape = (tuple(models), binding)
        if shape not in guests:
            guests[shape] = Guest(models, binding)
            try:
                guests[shape].boot()
            except BaseException:
                guests.pop(shape).close()
                raise
        used.append(shape)
        return guests[shape]

    yield boot
    if not getattr(request.node, 'report_call', None) or not request.node.report_call.passed:
        for shape in used:
            if shape in guests:
                guests.pop(shape).close()


@pytest.fixture(name='models')
def fixture_models():
    """The NICs of the usual guest: two of each kind."""
    there = qemu_models()
    return [model for model in MODELS if model in there for _ in range(2)]


@pytest.fixture(name='rig')
def fixture_rig(request, device, boot, models):
    made = Rig(boot(models), device)
    yield made
    made.end(request)
