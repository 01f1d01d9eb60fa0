# SPDX-License-Identifier: BSD-3-Clause
"""The manual pages: they say all that the programs' --help says, and are well-formed."""
import os
import re
import shutil
import subprocess

import pytest

from rig import BUILD, MILLRACE, MILLRACECTL, ROOT

PROGRAMS = {'millrace': [MILLRACE, '--'], 'millracectl': [MILLRACECTL],
            'millrace-gen': [os.path.join(BUILD, 'app/millrace-gen/millrace-gen'), '--']}


@pytest.fixture(name='page', params=sorted(PROGRAMS), scope='module')
def fixture_page(request, tmp_path_factory):
    """A page's name, and where it is."""
    path = tmp_path_factory.mktemp('man') / f'{request.param}.8'
    subprocess.run([os.path.join(ROOT, 'scripts', 'man-page'), request.param, '1.2.3', os.path.join(ROOT, 'docs'), path],
                   check=True, timeout=30)
    return request.param, path


def plain(path):
    """The page's text without its markup."""
    text = path.read_text(encoding='utf-8')
    return re.sub(r'\\f[BRI]|\\&', '', text).replace('\\-', '-').replace('\\e', '\\')


def test_each_option_is_there(page):
    name, path = page
    usage = subprocess.run([*PROGRAMS[name], '--help'], capture_output=True, text=True, timeout=30, check=True).stdout
    options = re.findall(r'^  (?:-\w, )?(--[\w-]+)', usage, re.M)
    assert len(options) >= 6
    tags = [line for line in plain(path).splitlines() if line.startswith('-')]
    for option in options:
        assert any(re.search(rf'{option}(?![\w-])', tag) for tag in tags), option


def test_each_command_is_there(page):
    name, path = page
    if name != 'millracectl':
        pytest.skip('it has none')
    with open(os.path.join(ROOT, 'docs', 'commands.md'), encoding='utf-8') as file:
        commands = re.findall(r'^### `(.*)`$', file.read(), re.M)  # test_docs.py: these are all
    text = plain(path)
    assert len(commands) > 30
    for command in commands:
        assert f'.SS {command}\n' in text, command


def test_nothing_of_markdown_is_left(page):
    text = plain(page[1])
    assert not re.search(r'\]\(|^##|^\|.*\|$', text, re.M)
    assert all(section in text for section in ('.SH NAME', '.SH SYNOPSIS', '.SH OPTIONS', '.SH SEE ALSO'))


def test_it_is_well_formed(page):
    checked = False
    if shutil.which('mandoc'):
        lint = subprocess.run(['mandoc', '-Tlint', '-W', 'warning', page[1]], capture_output=True, text=True, timeout=30,
                              check=False).stdout
        # A date would make two builds of one source differ.
        assert not [line for line in lint.splitlines() if 'missing date' not in line]
        checked = True
    if shutil.which('groff'):
        done = subprocess.run(['groff', '-man', '-ww', '-Tutf8', '-z', page[1]], capture_output=True, text=True, timeout=30,
                              check=False)
        assert (done.returncode, done.stderr) == (0, '')
        checked = True
    if not checked:
        pytest.skip('there is neither mandoc nor groff')
