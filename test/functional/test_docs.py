# SPDX-License-Identifier: BSD-3-Clause
"""What the program offers and what docs/ describes are the same (telemetry: test_telemetry.py)."""
import os
import re
import subprocess

import pytest

from rig import MILLRACE, ROOT


def read(name):
    with open(os.path.join(ROOT, name), encoding='utf-8') as file:
        return file.read()


@pytest.fixture(name='appliance')
def fixture_appliance(rig):
    return rig.millrace(['net_null0,no-rx=1'], eal=['--no-huge', '-m', '256'])


def test_commands(appliance):
    offered = [row['command'] for row in appliance.show('help')]
    described = re.findall(r'^### `(.*)`$', read('docs/commands.md'), re.M)
    assert sorted(described) == sorted(offered)


def test_launch_options():
    usage = subprocess.run([MILLRACE, '--', '--help'], capture_output=True, text=True, timeout=30,
                           check=True).stdout
    offered = re.findall(r'^  (--[a-z-]+(?:=\S+)?) ', usage, re.M)
    described = re.findall(r'^\* `(--[a-z-]+(?:=\S+)?)`', read('docs/commands.md'), re.M)
    assert len(offered) > 15
    assert sorted(described) == sorted(offered)


def test_drop_reasons(appliance):
    offered = {name: row['help'] for name, row in appliance.query('/millrace/drops').items()}
    described = re.findall(r'^\| `(\w+)` \| (.*?) \| .+ \|$', read('docs/drops.md'), re.M)
    assert dict(described) == offered
    assert len(described) == len(offered), 'a reason is described twice'


@pytest.mark.parametrize('name', ['README.md', *sorted(
    os.path.join('docs', file) for file in os.listdir(os.path.join(ROOT, 'docs')))])
def test_links_lead_somewhere(name):
    """Files and sections that a document refers to exist."""
    for target in re.findall(r'\]\(([^)\s]+)\)', read(name)):
        if '://' in target:
            continue
        file, _, section = target.partition('#')
        path = os.path.normpath(os.path.join(os.path.dirname(name), file)) if file else name
        assert os.path.exists(os.path.join(ROOT, path)), target
        if section:
            titles = re.findall(r'^#+ (.*)$', read(path), re.M)
            anchors = [re.sub(r'[^\w -]', '', title.lower()).replace(' ', '-') for title in titles]
            assert section in anchors, target
