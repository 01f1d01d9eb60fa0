# SPDX-License-Identifier: BSD-3-Clause
"""scripts/bind over a made-up sysfs tree; what leans on other programs also with busybox's."""
import json
import os
import re
import shutil

import pytest

from pci_tree import BIND, Device, Machine

A, B, C = '0000:03:00.0', '0000:04:00.0', '0000:05:00.1'


in_both_shells = pytest.mark.parametrize('shell', ['dash', 'busybox sh'], indirect=True)


@pytest.fixture(name='shell')
def fixture_shell(request):
    shell = getattr(request, 'param', 'dash').split()
    if not shutil.which(shell[0]):
        pytest.skip(f'{shell[0]} is not installed')
    return shell


@pytest.fixture(name='machine')
def fixture_machine(tmp_path, shell):
    """Two ports behind an IOMMU, one that is not, and a disk."""
    machine = Machine(tmp_path, [
        Device(A, interface='enp3s0', group=7, numa=1), Device(B, interface='enp4s0', group=8, numa=0),
        Device(C, 'e1000', 'eth9'), Device('0000:06:00.0', 'ahci', number_class='0x010601')])
    machine.shell = shell
    yield machine
    machine.close()


def done(machine, *words, **environment):
    """Runs bind, which must succeed; returns what it printed."""
    result = machine.run(*words, shell=machine.shell, **environment)
    assert result.returncode == 0, result.stderr
    return result.stdout + result.stderr


def refused(machine, *words, status=1, **environment):
    """Runs bind, which must refuse and leave all as it was; returns the reason."""
    before = machine.snapshot()
    result = machine.run(*words, shell=machine.shell, **environment)
    assert result.returncode == status, result.stdout + result.stderr
    assert machine.snapshot() == before
    return result.stderr


@in_both_shells
def test_list(machine):
    machine.address('enp3s0', 'inet', '192.0.2.1/24')
    machine.address('enp3s0', 'inet6', '2001:db8::1/64')
    machine.route('default via 192.0.2.254 dev enp3s0 proto static')
    lines = done(machine).splitlines()
    assert len(lines) == 4, 'the disk is none'
    columns = [match.start() for match in re.finditer(r'\S+', lines[0])]
    for line in lines[1:]:
        assert all(line[at - 1] == ' ' and line[at] != ' ' for at in columns[1:]), 'the table lines up'
    assert json.loads(done(machine, '-j')) == [
        {'pci': A, 'driver': 'igb', 'interface': 'enp3s0', 'link': 'up', 'numa': 1, 'mac': '52:54:00:00:00:01',
         'addresses': ['192.0.2.1/24', '2001:db8::1/64'], 'device': '8086:10c9', 'note': 'a default route'},
        {'pci': B, 'driver': 'igb', 'interface': 'enp4s0', 'link': 'up', 'numa': 0, 'mac': '52:54:00:00:00:01',
         'addresses': [], 'device': '8086:10c9', 'note': None},
        {'pci': C, 'driver': 'e1000', 'interface': 'eth9', 'link': 'up', 'numa': None, 'mac': '52:54:00:00:00:01',
         'addresses': [], 'device': '8086:10c9', 'note': None}]


def test_list_of_nothing(tmp_path):
    machine = Machine(tmp_path, [])
    try:
        assert 'no network ports' in machine.run().stdout
        assert json.loads(machine.run('-j').stdout) == []
    finally:
        machine.close()


@in_both_shells
def test_a_port_goes_to_user_space_and_back(machine):
    assert 'enp3s0' in done(machine, 'enp3s0')
    assert machine.driver_of(A) == 'vfio-pci'
    assert machine.log() == ['modprobe vfio_iommu_type1', 'modprobe vfio-pci']
    row = json.loads(done(machine, '--json'))[0]
    assert (row['driver'], row['interface'], row['note']) == ('vfio-pci', None, 'was igb, enp3s0')
    assert 'enp3s0 is the kernel\'s again' in done(machine, '--restore', 'enp3s0').replace(f'{A} (enp3s0)', 'enp3s0')
    assert machine.driver_of(A) == 'igb'
    assert machine.read(f'sys/bus/pci/devices/{A}/driver_override') == '\n'
    assert os.listdir(machine.path('var/lib/millrace/bind')) == []


def test_twice_is_like_once(machine):
    done(machine, A, B)
    before = machine.snapshot()
    for name in ('enp3s0', '03:00.0', A):
        assert 'already' in done(machine, name)
    assert machine.snapshot() == before
    done(machine, '--restore')
    before = machine.snapshot()
    assert 'no port was taken' in done(machine, '--restore')
    assert 'the kernel\'s already' in done(machine, '--restore', '03:00.0')
    assert machine.snapshot() == before


def test_restore_gives_back_all(machine):
    done(machine, A, '04:00.0', 'eth9')
    assert [machine.driver_of(port) for port in (A, B, C)] == ['vfio-pci', 'vfio-pci', 'uio_pci_generic']
    done(machine, '-r')
    assert [machine.driver_of(port) for port in (A, B, C)] == ['igb', 'igb', 'e1000']


def test_restore_of_what_another_tool_bound(machine):
    done(machine, A)
    shutil.rmtree(machine.path('var'))
    done(machine, '--restore', A)
    assert machine.driver_of(A) == 'igb'
    assert f'modprobe pci:{A}' in machine.log()


def test_restore_loads_the_driver(machine):
    done(machine, A, B)
    shutil.move(machine.path('sys/bus/pci/drivers/igb'), machine.path('modules/igb'))
    done(machine, '--restore')
    assert machine.log()[-1] == 'modprobe igb'
    assert machine.driver_of(A) == machine.driver_of(B) == 'igb'


def test_a_port_that_is_gone_is_forgotten(machine):
    done(machine, '-p', A)
    machine.remove(A)
    assert 'forgotten' in done(machine, '--restore')
    assert not [name for _, _, names in os.walk(machine.path('etc')) for name in names if A in name]


def test_from_one_user_driver_to_another(machine):
    done(machine, A)
    assert 'IOMMU' in done(machine, '--driver=uio_pci_generic', A)
    assert machine.driver_of(A) == 'uio_pci_generic'
    done(machine, '--restore', A)
    assert machine.driver_of(A) == 'igb', 'the kernel\'s driver is what is remembered'


def test_without_iommu_there_is_a_warning(machine):
    assert 'can write anywhere in memory' in done(machine, C)
    assert machine.driver_of(C) == 'uio_pci_generic'
    done(machine, '-r')
    assert 'intel_iommu=on' in refused(machine, '-d', 'vfio-pci', C)


def test_dry_run_prints_and_does_nothing(machine):
    before = machine.snapshot()
    printed = done(machine, '--dry-run', '--permanent', 'enp3s0')
    assert machine.snapshot() == before
    device = machine.path('sys/bus/pci/devices', A)
    assert printed.splitlines()[:5] == [
        f'{machine.path("bin")}/modprobe -q vfio_iommu_type1', f'{machine.path("bin")}/modprobe vfio-pci', f"echo 'vfio-pci' >{device}/driver_override",
        f"echo '{A}' >{device}/driver/unbind", f"echo '{A}' >{machine.path('sys/bus/pci/drivers_probe')}"]
    assert 'ExecStart=' in printed
    done(machine, '-p', 'enp3s0')
    before = machine.snapshot()
    assert 'rm -f' in done(machine, '-n', '-r')
    assert machine.snapshot() == before


@pytest.mark.parametrize('route', [
    'default via 192.0.2.254 dev enp3s0 proto static',
    'default via fe80::1 dev enp3s0 proto ra metric 100 pref medium',
    'default dev enp3s0 table 100 scope link',
    'default proto static metric 1 \\\tnexthop via 10.0.0.1 dev eth9 weight 1 \\\tnexthop via 10.0.1.1 dev enp3s0 weight 1'])
def test_the_port_of_a_default_route_stays(machine, route):
    machine.route(route)
    for words in (['enp3s0'], ['03:00.0'], [B, A], ['--dry-run', A]):
        reason = refused(machine, *words)
        assert 'default route' in reason and '--force' in reason
    done(machine, B)
    done(machine, '--force', A)
    assert machine.driver_of(A) == 'vfio-pci'


def test_other_routes_do_not_matter(machine):
    machine.route('192.0.2.0/24 dev enp3s0 proto kernel scope link src 192.0.2.1')
    machine.route('unreachable default dev lo metric 4294967295')
    done(machine, A)


@in_both_shells
def test_below_bridge_bond_and_vlan(machine):
    machine.master('bond0', 'enp3s0', 'enp4s0')
    machine.master('bond0.5', 'bond0')
    machine.master('br0', 'bond0.5')
    machine.route('default via 192.0.2.254 dev br0')
    for name in ('enp3s0', 'enp4s0'):
        assert 'a default route through br0' in refused(machine, name)
    assert 'below it there are bond0.5, bond0, enp3s0, enp4s0' in refused(machine, 'br0')
    done(machine, 'eth9')


def tcp(local, inode=0, state='01'):
    return f'   0: {local} 0A00020A:D431 {state} 00000000:00000000 00:00000000 00000000     0        0 {inode} 1\n'


@in_both_shells
def test_the_port_of_an_ssh_session_stays(machine):
    machine.address('enp3s0', 'inet', '192.0.2.1/24')
    machine.address('enp4s0', 'inet6', '2001:db8::1/64')
    machine.write('proc/net/if_inet6', '20010db8000000000000000000000001 03 40 00 80   enp4s0\n')
    assert 'SSH session' in refused(machine, A, SSH_CONNECTION='198.51.100.1 4000 192.0.2.1 2222')
    assert 'SSH session' in refused(machine, B, SSH_CONNECTION='2001:db8::9 4000 2001:db8::1 22')
    done(machine, '-n', A, SSH_CONNECTION='198.51.100.1 4000 198.51.100.2 22')

    machine.write('proc/net/tcp', tcp('010200C0:0016'))
    assert 'SSH session' in refused(machine, A), 'sudo drops SSH_CONNECTION'
    machine.write('proc/net/tcp', tcp('010200C0:0016', state='0A') + tcp('010200C0:1F90'))
    done(machine, '-n', A)
    machine.write('proc/net/tcp6', tcp('0000000000000000FFFF0000010200C0:0016'))
    assert 'SSH session' in refused(machine, A)
    machine.write('proc/net/tcp6', tcp('B80D0120000000000000000001000000:0016'))
    assert 'SSH session' in refused(machine, B)
    done(machine, '-n', A)
    done(machine, '--force', B)


@in_both_shells
def test_an_ssh_server_on_another_port(machine):
    machine.address('enp3s0', 'inet', '192.0.2.1/24')
    machine.write('proc/net/tcp', tcp('010200C0:1F90', inode=4711))
    machine.write('proc/55/comm', 'nginx\n')
    os.makedirs(machine.path('proc/55/fd'))
    os.symlink('socket:[4711]', machine.path('proc/55/fd/3'))
    done(machine, '-n', A)
    machine.write('proc/55/comm', 'sshd\n')
    assert 'SSH session' in refused(machine, A)


def test_without_ip_nothing_is_taken(machine):
    os.unlink(machine.path('bin/ip'))
    assert 'iproute2' in refused(machine, A)
    done(machine, '--force', A)


@in_both_shells
def test_a_port_in_use_stays(machine):
    done(machine, A, C)
    os.makedirs(machine.path(f'sys/bus/pci/devices/{C}/uio/uio0'))
    machine.write('proc/77/comm', 'millrace\n')
    os.makedirs(machine.path('proc/77/fd'))
    os.symlink('/dev/vfio/7', machine.path('proc/77/fd/5'))
    assert 'in use by millrace (77)' in refused(machine, '--restore', A)
    assert 'in use by millrace (77)' in refused(machine, '--driver=uio_pci_generic', A)
    os.symlink('/dev/uio0', machine.path('proc/77/fd/6'))
    assert 'in use by millrace (77)' in refused(machine, '--restore')
    shutil.rmtree(machine.path('proc/77'))
    done(machine, '--restore')


def test_the_rest_of_an_iommu_group(tmp_path, shell):
    machine = Machine(tmp_path, [
        Device('0000:02:00.0', 'pcieport', number_class='0x060400', group=9), Device(A, interface='enp3s0', group=9),
        Device(B, interface='enp4s0', group=9), Device('0000:06:00.0', 'ahci', number_class='0x010601', group=9)])
    machine.shell = shell
    try:
        warnings = [line for line in done(machine, A).splitlines() if 'warning' in line]
        assert len(warnings) == 2, warnings
        assert B in warnings[0] and 'enp4s0' in warnings[0] and 'ahci' in warnings[1]
        warnings = [line for line in done(machine, A, B).splitlines() if 'warning' in line]
        assert len(warnings) == 2 and all('ahci' in line for line in warnings)
    finally:
        machine.close()


def test_a_device_that_the_kernel_refuses(tmp_path, shell):
    machine = Machine(tmp_path, [Device(A, interface='enp3s0', group=7, broken=['vfio-pci'])])
    machine.shell = shell
    try:
        result = machine.run(A, shell=shell)
        assert result.returncode == 1 and 'dmesg' in result.stderr
        assert machine.driver_of(A) == 'igb', 'it is as it was'
        assert machine.read(f'sys/bus/pci/devices/{A}/driver_override') == '\n'
    finally:
        machine.close()


def test_a_kernel_without_the_driver(tmp_path, shell):
    machine = Machine(tmp_path, [Device(A, interface='enp3s0', group=7)], modules=[])
    machine.shell = shell
    try:
        result = machine.run(A, shell=shell)
        assert result.returncode == 1 and 'no driver vfio-pci' in result.stderr
        assert machine.driver_of(A) == 'igb'
    finally:
        machine.close()


def test_devices_that_stay_with_the_kernel(tmp_path, shell):
    machine = Machine(tmp_path, [Device(A, 'mlx5_core', 'enp3s0', group=7)])
    machine.shell = shell
    try:
        assert f'give millrace -a {A} as it is' in refused(machine, A)
    finally:
        machine.close()


@in_both_shells
def test_permanent_by_a_unit(machine):
    done(machine, '--permanent', 'enp3s0', C)
    for port, driver in ((A, 'vfio-pci'), (C, 'uio_pci_generic')):
        unit = f'millrace-bind-{port}.service'
        assert f'ExecStart={BIND} --driver={driver} {port}' in machine.read(f'etc/systemd/system/{unit}').splitlines()
        wanted = machine.path('etc/systemd/system/multi-user.target.wants', unit)
        assert os.path.samefile(wanted, machine.path('etc/systemd/system', unit))
    before = machine.snapshot()
    done(machine, '--permanent', A)
    assert machine.snapshot() == before
    done(machine, '--restore', A)
    assert os.listdir(machine.path('etc/systemd/system/multi-user.target.wants')) == [f'millrace-bind-{C}.service']
    done(machine, '--restore')
    assert os.listdir(machine.path('etc/systemd/system')) == ['multi-user.target.wants']


def test_permanent_later(machine):
    done(machine, A)
    done(machine, '--permanent', A)
    assert os.path.exists(machine.path(f'etc/systemd/system/millrace-bind-{A}.service'))
    assert machine.driver_of(A) == 'vfio-pci'


def test_permanent_by_driverctl(machine):
    machine.program('driverctl', '''echo "driverctl $*" >>$root/log
        mkdir -p $root/etc/driverctl.d
        case $* in
        "set-override "*) echo $3 >$root/etc/driverctl.d/pci-$2 ;;
        *) rm $root/etc/driverctl.d/pci-$3 ;;
        esac''')
    done(machine, '--permanent', A)
    done(machine, '--permanent', A)
    done(machine, '--restore', A)
    assert machine.log() == ['modprobe vfio_iommu_type1', 'modprobe vfio-pci', f'driverctl set-override {A} vfio-pci',
                             f'driverctl --noprobe unset-override {A}']
    assert not os.path.exists(machine.path('etc/systemd'))


@pytest.mark.parametrize('words, reason', [
    (['eth7'], f"there is no port 'eth7'; there are: {A} (enp3s0), {B} (enp4s0), {C} (eth9)"),
    (['../devices'], "there is no port"),
    (['0000:06:00.0'], 'is no network port'),
    ([A, 'lo9'], "there is no port 'lo9'"),
    (['-r', '0000:99:00.0'], "there is no port '0000:99:00.0'")])
def test_what_is_no_port(machine, words, reason):
    assert reason in refused(machine, *words)


@pytest.mark.parametrize('words, reason', [
    (['--driver=igb', A], 'allowed are vfio-pci and uio_pci_generic'), (['-d'], 'needs a driver'),
    (['--frobnicate'], "unknown option '--frobnicate'"), (['--force'], 'a port is missing'),
    (['--json', A], '--json is for the list'), (['--restore', '-p', A], '--restore goes with neither'),
    ([''], 'is no port'), (['a b'], 'is no port')])
def test_wrong_usage(machine, words, reason):
    assert reason in refused(machine, *words, status=2)


def test_help(machine):
    assert '--permanent' in done(machine, '--help')
