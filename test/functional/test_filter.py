# SPDX-License-Identifier: BSD-3-Clause
"""Rules that take long to compile, while the appliance and its clients go on."""
import contextlib
import os
import socket
import subprocess
import time

import pytest
from rig import MILLRACECTL, wait_for

RULES = 100000


@pytest.fixture(name='appliance')
def fixture_appliance(rig):
    return rig.millrace([])


@pytest.fixture(name='rules')
def fixture_rules(appliance):
    path = os.path.join(appliance.directory, 'rules')
    with open(path, 'w', encoding='utf-8') as file:
        for i in range(RULES):
            file.write(f'add {i + 1} deny tcp from 172.{16 + i % 16}.{i >> 8 & 255}.{i & 255} '
                       f'to 10.{i % 200}.0.0/16 {1 + i % 60000}\n')
    return path


def load(appliance, path):
    return subprocess.Popen([MILLRACECTL, '-s', appliance.ctl_socket, 'filter', 'load', path],
                            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


def number_of_rules(appliance):
    return int(appliance.query('/millrace/filter/rules')['total'])


def is_changing(appliance):
    done = appliance.client('filter', 'delete', '99999999')
    return 'being compiled' in done.stderr


def test_clients_are_answered_while_rules_compile(appliance, rules):
    start = time.monotonic()
    loading = load(appliance, rules)
    wait_for(lambda: is_changing(appliance))
    longest = answered = 0
    while loading.poll() is None:
        asked = time.monotonic()
        appliance.show('show port info all')
        longest = max(longest, time.monotonic() - asked)
        answered += 1
    whole = time.monotonic() - start
    assert loading.returncode == 0, loading.stdout.read()
    assert number_of_rules(appliance) == RULES
    assert answered >= 10 and longest < whole / 4, (answered, longest, whole)


def test_a_client_that_leaves_does_not_stop_the_load(appliance, rules):
    with socket.socket(socket.AF_UNIX) as client:
        client.connect(appliance.ctl_socket)
        client.sendall(f'text filter load {rules}\n'.encode())
        wait_for(lambda: is_changing(appliance))
    wait_for(lambda: number_of_rules(appliance) == RULES, 60)


def test_requests_behind_a_load_wait_for_it(appliance, rules):
    with socket.socket(socket.AF_UNIX) as client:
        client.settimeout(60)
        client.connect(appliance.ctl_socket)
        client.sendall(f'text filter load {rules}\njson filter show limit 1\n'.encode())
        answers = b''
        while answers.count(b'\n') < 2 or b'rules' not in answers:
            more = client.recv(65536)
            assert more
            answers += more
    assert answers.startswith(b'0 ')
    assert number_of_rules(appliance) == RULES


def test_it_can_be_ended_while_rules_compile(appliance, rules):
    loading = load(appliance, rules)
    wait_for(lambda: is_changing(appliance))
    assert appliance.stop(seconds=60) == 0
    with contextlib.suppress(subprocess.TimeoutExpired):
        loading.wait(10)
    assert loading.returncode != 0
