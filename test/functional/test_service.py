# SPDX-License-Identifier: BSD-3-Clause
"""What is installed, and millrace under the restrictions of its systemd unit. There need not be a systemd:
the unit's settings are read and done by other means."""
import os
import re
import shlex
import shutil
import subprocess

import pytest

from rig import BUILD, ROOT, af_packet, wait_for

SETTINGS = ('etc/millrace/millrace.conf', 'etc/default/millrace')


def install(directory):
    subprocess.run(['meson', 'install', '-C', BUILD, '--no-rebuild', '--quiet'], check=True, timeout=60,
                   stdout=subprocess.DEVNULL, env={**os.environ, 'DESTDIR': str(directory)})


@pytest.fixture(name='installed', scope='module')
def fixture_installed(tmp_path_factory):
    """Where all is installed below: as a package would be made."""
    directory = tmp_path_factory.mktemp('dest')
    install(directory)
    return str(directory)


def find(top, name):
    """A file below a directory; the program, where a file of settings or completion is named like it."""
    found = [os.path.join(where, name) for where, _, names in os.walk(top) if name in names]
    return next((path for path in found if os.access(path, os.X_OK)), found[0])


def unit(installed):
    """The unit's [Service] section: what each name was set to, in order."""
    settings = {}
    with open(find(installed, 'millrace.service'), encoding='ascii') as file:
        for name, value in re.findall(r'^(\w+)=(.*)$', file.read(), re.M):
            settings.setdefault(name, []).append(value)
    return settings


def test_everything_is_there(installed):
    names = {name for _, _, files in os.walk(installed) for name in files}
    assert {'millrace', 'millracectl', 'millrace-gen', 'millrace-bind', 'default.cfg', 'net_e1000_em.cfg',
            'millrace.service', '_millracectl', 'millrace.conf', 'millrace.8', 'millracectl.8', 'millrace-gen.8'} <= names
    for program in ('millrace', 'millracectl', 'millrace-gen', 'millrace-bind'):
        assert os.access(find(installed, program), os.X_OK)
    for path in SETTINGS:
        assert os.path.exists(os.path.join(installed, path))


def test_settings_are_kept(tmp_path):
    install(tmp_path)
    for path in SETTINGS:
        (tmp_path / path).write_text('mine\n')
    install(tmp_path)
    for path in SETTINGS:
        assert (tmp_path / path).read_text() == 'mine\n'


def test_scripts_install_and_uninstall(tmp_path):
    script = os.path.join(ROOT, 'scripts', 'install')
    if BUILD != os.path.join(ROOT, 'build'):
        pytest.skip('it installs from build/')
    for _ in range(2):
        subprocess.run([script, '--destdir', tmp_path], check=True, timeout=300, capture_output=True)
    assert find(tmp_path, 'millrace-gen')
    for _ in range(2):
        subprocess.run([script, '--destdir', tmp_path, '--uninstall'], check=True, timeout=60, capture_output=True)
    left = [os.path.relpath(os.path.join(where, name), tmp_path) for where, _, names in os.walk(tmp_path)
            for name in names]
    assert sorted(left) == sorted(SETTINGS)
    assert subprocess.run([script, '--prefix', 'here'], timeout=60, check=False, capture_output=True).returncode == 2
    assert subprocess.run([script, '--help'], timeout=60, check=True, capture_output=True).stdout


def test_profiles_beside_the_program_are_used(rig, tmp_path):
    install(tmp_path)
    rig.hosts(None)
    millrace = rig.millrace(af_packet('p0'), start=False)
    millrace.command[0] = find(tmp_path, 'millrace')
    millrace.start()
    assert millrace.stop() == 0
    with open(find(tmp_path, 'net_af_packet.cfg'), 'a', encoding='ascii') as file:
        file.write('nonsense = 1\n')
    with pytest.raises(AssertionError):
        millrace.start()
    assert f'{tmp_path}' in millrace.log() and 'nonsense' in millrace.log()


def test_examples_are_accepted(rig, installed):
    """The example configuration with its comment signs taken away, as far as ports allow."""
    rig.hosts(None, None, None, None)
    with open(os.path.join(installed, SETTINGS[0]), encoding='ascii') as file:
        text = file.read()
    config = re.sub(r'^#(?=\w)', '', text, flags=re.M)
    assert len(re.findall(r'^\w', config, re.M)) == 6
    millrace = rig.millrace(af_packet('p0', 'p1', 'p2', 'p3'), '--max-routes=1000', config=config)
    assert 'lan' in [row['name'] for row in millrace.show('show bridge')]
    assert len(millrace.show('show address')) == 2
    assert rig.millrace(['net_null0,no-rx=1'], config=text, eal=['--no-huge', '-m', '256']).is_running()


def test_the_unit_is_valid(installed, tmp_path):
    if not shutil.which('systemd-analyze'):
        pytest.skip('there is no systemd-analyze')
    with open(find(installed, 'millrace.service'), encoding='ascii') as file:
        text = file.read()
    text = re.sub(r'^ExecStart=\S+', f'ExecStart={find(installed, "millrace")}', text, flags=re.M)
    path = tmp_path / 'millrace.service'
    path.write_text(re.sub(r'^Documentation=.*\n', '', text, flags=re.M))
    done = subprocess.run(['systemd-analyze', 'verify', '--man=no', path], capture_output=True, text=True, timeout=60,
                          check=False)
    assert (done.returncode, done.stderr) == (0, '')
    done = subprocess.run(['systemd-analyze', 'security', '--offline=true', '--threshold=30', path], timeout=60,
                          capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


def test_hugepages_are_raised_and_never_lowered(installed, tmp_path):
    line = next(value for value in unit(installed)['ExecStartPre'])
    pages = tmp_path / 'pages'
    for before, wanted, after in (('0', '512', '512'), ('1024', '512', '1024'), ('512', '512', '512')):
        pages.write_text(before + '\n')
        command = line.removeprefix('+').replace('${HUGEPAGES}', wanted).replace('$$', '$')
        command = re.sub(r'/sys/kernel/mm/\S+(?=;)', str(pages), command)
        subprocess.run(shlex.split(command), check=True, timeout=20)
        assert pages.read_text() == after + '\n'


def restricted(settings, command):
    """The command with the unit's capabilities, and with a file system of which it can change as much as
    under ProtectSystem=strict."""
    bounding = ','.join('+' + name.lower().removeprefix('cap_') for name in settings['CapabilityBoundingSet'][0].split())
    assert settings['ProtectSystem'] == ['strict'] and settings['NoNewPrivileges'] == ['yes']
    writable = ['/dev', '/proc', '/tmp', *(f'/run/{name}' for name in settings['RuntimeDirectory'][0].split())]
    script = f'''set -e
        for place in {' '.join(writable)}; do
            mkdir -p $place
            mountpoint -q $place || mount --bind $place $place
        done
        mount -o remount,bind,ro /
        ! mountpoint -q /run || mount -o remount,bind,ro /run
        ! touch /run/millrace-test 2>/dev/null
        exec setpriv --bounding-set=-all,{bounding} --inh-caps=-all --no-new-privs "$@"'''
    return ['unshare', '-m', 'sh', '-c', script, 'sh', *command]


def test_it_runs_restricted(rig, installed):
    """Kernel hosts reach each other through a millrace that may do no more than the unit allows."""
    hosts = rig.hosts(('10.0.1.2/24', '10.0.1.1'), ('10.0.2.2/24', '10.0.2.1'))
    millrace = rig.millrace(af_packet('p0', 'p1'), start=False,
                            config='address add 10.0.1.1/24 port 0\naddress add 10.0.2.1/24 port 1')
    default = f'/run/millrace/{millrace.prefix}.sock'
    millrace.command = restricted(unit(installed), [
        word for word in millrace.command if not word.startswith('--ctl-socket')])
    millrace.ctl_socket = default
    millrace.start()
    wait_for(lambda: hosts[0].ping('10.0.2.2', 1))
    with open(f'/proc/{millrace.process.pid}/status', encoding='ascii') as file:
        status = dict(line.split(':\t', 1) for line in file.read().splitlines() if ':\t' in line)
    assert status['CapEff'] == status['CapBnd'] != '000001ffffffffff'
    assert millrace.query('/millrace/conservation')
    assert millrace.stop() == 0
    assert not os.path.exists(default)
    assert not [line for line in millrace.log().splitlines() if 'denied' in line or 'not permitted' in line]


@pytest.mark.skipif(not shutil.which('strace') or not shutil.which('systemd-analyze'), reason='needs strace and systemd')
def test_its_system_calls_are_those_of_the_filter(rig, installed, tmp_path):
    names = set()
    pending = [unit(installed)['SystemCallFilter'][0]]
    while pending:
        text = subprocess.run(['systemd-analyze', 'syscall-filter', pending.pop()], timeout=20, capture_output=True,
                              text=True, check=True).stdout
        words = re.findall(r'^ {4}(@?[\w-]+)$', text, re.M)
        pending += [word for word in words if word.startswith('@')]
        names.update(words)
    assert 'openat' in names and 'reboot' not in names
    hosts = rig.hosts('10.0.1.1/24', '10.0.1.2/24')
    millrace = rig.millrace(af_packet('p0', 'p1'), '--max-routes=1000', start=False)
    millrace.command = ['strace', '-f', '-qq', '-o', str(tmp_path / 'calls'), '--signal=none', *millrace.command]
    millrace.start()
    wait_for(lambda: hosts[0].ping('10.0.1.2', 1))
    assert millrace.client('quit').returncode == 0
    assert millrace.process.wait(30) == 0
    lines = (tmp_path / 'calls').read_text().splitlines()
    called = {match[1] for match in (re.match(r'\d+ +(\w+)\(', line) for line in lines) if match}
    assert 'mmap' in called
    # iopl is for the registers of old virtio devices; EAL goes on without.
    assert called <= names | {'iopl'}, called - names
    assert not [line for line in lines if 'PROT_WRITE|PROT_EXEC' in line], 'MemoryDenyWriteExecute'
