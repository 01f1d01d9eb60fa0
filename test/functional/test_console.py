# SPDX-License-Identifier: BSD-3-Clause
"""The prompt of millrace -i, on a terminal and off one."""
import os
import pty
import re
import select
import subprocess
import termios
import time

import pytest

from rig import af_packet

PROMPT = 'millrace> '


class Terminal:
    """A person at the prompt."""

    def __init__(self, millrace):
        self.fd, slave = pty.openpty()
        self.before = termios.tcgetattr(slave)
        self.slave = slave
        self.screen = ''
        millrace.process = millrace.rig.box.popen(
            millrace.command, stdin=slave, stdout=slave, stderr=slave,
            env={**os.environ, 'TERM': 'xterm'}, start_new_session=True)
        self.until(PROMPT, 30)

    def hang_up(self):
        os.close(self.slave)
        os.close(self.fd)
        self.fd = self.slave = None

    def close(self):
        if self.fd is not None:
            self.hang_up()

    def until(self, pattern, seconds=5):
        """What was printed since the last call, up to what matches the pattern."""
        deadline = time.monotonic() + seconds
        while not (match := re.search(pattern, self.screen)):
            ready, _, _ = select.select([self.fd], [], [], max(0, deadline - time.monotonic()))
            assert ready, f'no {pattern!r} in {self.screen!r}'
            self.screen += os.read(self.fd, 65536).decode(errors='replace')
        text, self.screen = self.screen[:match.end()], self.screen[match.end():]
        return text

    def type(self, text):
        os.write(self.fd, text.encode())

    def enter(self, text=''):
        """Types a line; returns what is printed up to the next prompt."""
        self.type(text + '\n')
        self.until('\n')
        return self.until(PROMPT)


@pytest.fixture(name='millrace')
def fixture_millrace(rig):
    rig.hosts(None, None)
    return rig.millrace(af_packet('p0', 'p1'), '-i', start=False)


@pytest.fixture(name='terminal')
def fixture_terminal(rig, millrace):
    terminal = Terminal(millrace)
    rig.at_the_end(terminal.close)
    return terminal


def test_forwarding_waits_for_start(terminal):
    assert 'forwarding: stopped' in terminal.enter('show config fwd')
    terminal.enter('start')
    assert 'forwarding: running' in terminal.enter('show config fwd')
    assert 'running already' in terminal.enter('start')
    terminal.enter('stop')
    assert 'forwarding: stopped' in terminal.enter('show config fwd')


def test_tab_completes(terminal):
    assert 'forwarding: ' in terminal.enter('sh\tconf\tfw\t')
    terminal.type('bridge add \t')
    terminal.until('NAME.*\n')  # says what a value looks like
    terminal.until(PROMPT)
    assert 'ageing' not in terminal.enter('tabbed')
    assert 'tabbed' in terminal.enter('show bridge tabbed')


def test_history(terminal):
    terminal.enter('bridge add first')
    assert 'exists already' in terminal.enter('\x1b[A')
    terminal.enter('bridge add second')
    assert 'bridge first exists already' in terminal.enter('\x1b[A\x1b[A')
    assert 'bridge second exists already' in terminal.enter('bridge add s\x12')


def test_editing(terminal):
    """To the start of the line, a wrong word out, a right one in, the end of the word out."""
    assert 'forwarding: ' in terminal.enter('wrong config fwdx\x7f\x01\x0b\x19\x01\x1bdshow')


def test_a_wrong_line_is_explained(terminal):
    assert 'bridge' in terminal.enter('bridge nothing')
    assert 'forwarding: ' in terminal.enter('show config fwd')


@pytest.mark.parametrize('how', ('quit\n', '\x04'), ids=('quit', 'end'))
def test_quit_leaves_the_terminal_as_it_was(terminal, millrace, how):
    terminal.type(how)
    assert millrace.process.wait(20) == 0
    assert termios.tcgetattr(terminal.slave) == terminal.before
    assert not os.path.exists(millrace.ctl_socket)


def test_terminal_that_goes_away_ends_it(terminal, millrace):
    terminal.hang_up()
    assert millrace.process.wait(20) == 0


def test_lines_from_a_pipe(millrace):
    """No prompt, no echo; a last line without its end counts; the end of input is quit."""
    with millrace.rig.box.inside():
        done = subprocess.run(millrace.command, input='bridge add br7\nnonsense\nshow bridge br7',
                              capture_output=True, text=True, timeout=30, check=False)
    assert done.returncode == 0, done.stderr
    assert PROMPT not in done.stdout
    assert 'nonsense' in done.stdout and 'br7' in done.stdout
