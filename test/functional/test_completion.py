# SPDX-License-Identifier: BSD-3-Clause
"""Completion of millracectl in shells: what the Tab key would offer, asked of a running millrace."""
import os
import shutil
import subprocess

import pytest

from rig import MILLRACECTL, ROOT, Rig, wait_for

COMPLETION = os.path.join(ROOT, 'scripts', 'completion')


@pytest.fixture(name='appliance', scope='module')
def fixture_appliance():
    rig = Rig()
    try:
        yield rig.millrace(['net_null0,no-rx=1'], eal=['--no-huge', '-m', '256'])
    finally:
        rig.close()


def in_bash(appliance, typed):
    """What follows `millracectl -s SOCKET ` and these characters."""
    line = f'{MILLRACECTL} -s {appliance.ctl_socket} {typed}'
    done = subprocess.run(
        ['bash', '--norc', '-c', f'. {COMPLETION}/millracectl.bash; COMP_LINE=$1; COMP_POINT=${{#1}}; _millracectl; '
         'printf "%s\\n" "${COMPREPLY[@]}"', 'bash', line],
        capture_output=True, text=True, timeout=20, check=True)
    assert not done.stderr
    return [word for word in done.stdout.splitlines() if word]


@pytest.mark.parametrize('typed, offered', [
    ('sh', ['show']),
    ('show por', ['port']),
    ('show port ', ['info', 'xstats', 'stats', 'hotplug']),
    ('-j show port st', ['stats']),
    ('show port stats ', ['all']),
    ('bridge add ', []),
    ('station add br0 02:00:00:00:00:0', []),
    ('nonsense ', []),
    ('--js', ['--json']),
    ('show port -', [])])
def test_bash(appliance, typed, offered):
    assert in_bash(appliance, typed) == offered


def test_bash_offers_every_first_word(appliance):
    first = {row['command'].split()[0] for row in appliance.show('help')}
    assert set(in_bash(appliance, '')) == first


def test_bash_offers_files(appliance):
    assert in_bash(appliance, f'-f {ROOT}/READ') == [f'{ROOT}/README.md']


def test_bash_without_a_server(appliance, tmp_path):
    appliance_socket, appliance.ctl_socket = appliance.ctl_socket, str(tmp_path / 'nobody')
    try:
        assert in_bash(appliance, 'sh') == []
    finally:
        appliance.ctl_socket = appliance_socket


@pytest.mark.skipif(not shutil.which('zsh'), reason='zsh is not installed')
def test_zsh(appliance, tmp_path):
    """A zsh of its own on a pseudo-terminal, into which a line and a Tab are typed."""
    os.symlink(MILLRACECTL, tmp_path / 'millracectl')
    script = f'''
        zmodload zsh/zpty
        zpty shell zsh -f -i
        zpty -w shell 'PS1=; path=({tmp_path} $path); fpath=({COMPLETION} $fpath)'
        zpty -w shell 'autoload -Uz compinit; compinit -u -d {tmp_path}/dump; echo rea""dy'
        zpty -r shell output '*ready*'
        zpty -w -n shell $'millracectl -s {appliance.ctl_socket} sho\\tpor\\tsta\\tal\\t'
        zpty -w shell ' >{tmp_path}/answer; echo do""ne'
        zpty -r shell output '*done*'
        zpty -d shell'''
    subprocess.run(['zsh', '-f', '-c', script], timeout=60, check=True, capture_output=True)
    answer = tmp_path / 'answer'
    wait_for(lambda: answer.exists() and 'net_null0' in answer.read_text())
