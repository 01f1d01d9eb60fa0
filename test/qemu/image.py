# SPDX-License-Identifier: BSD-3-Clause
"""What the guest boots: Debian's kernel for virtual machines, unpacked, and an initramfs of busybox,
millrace, its libraries, the poll-mode drivers and some kernel modules. Both are kept in
build/qemu; the initramfs is made anew when anything that goes into it has changed."""
import glob
import hashlib
import os
import re
import shutil
import subprocess
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
BUILD = os.environ.get('MILLRACE_BUILD', os.path.join(ROOT, 'build'))
CACHE = os.path.join(BUILD, 'qemu')
KERNEL = os.path.join(CACHE, 'kernel')

# Where programs are in the guest, and on the host.
PROGRAMS = {
    'bin/busybox': '/bin/busybox',
    'bin/millrace': os.path.join(BUILD, 'app/millrace/millrace'),
    'bin/millracectl': os.path.join(BUILD, 'app/millracectl/millracectl'),
}
SCRIPTS = {'bin/millrace-bind': os.path.join(ROOT, 'scripts', 'bind')}
POLL_MODE_DRIVERS = ('bus_pci', 'bus_vdev', 'mempool_ring', 'net_af_packet', 'net_e1000', 'net_null', 'net_ring',
                     'net_virtio')
MODULES = ('vfio-pci', 'vfio_iommu_type1', 'uio_pci_generic', 'virtio_pci', 'virtio_net', 'veth', '8021q')
DIRECTORIES = ('dev', 'proc', 'sys', 'tmp', 'run', 'var/run')


def fetch_kernel():
    """Unpacks the kernel package unless that was done before; needs Debian's mirror then."""
    subprocess.run([os.path.join(HERE, 'fetch-kernel'), KERNEL], check=True, timeout=300)


def kernel():
    """The path of the guest's kernel, fetched if need be."""
    fetch_kernel()
    return glob.glob(f'{KERNEL}/boot/vmlinuz-*')[0]


def libraries(program):
    """Where ldd finds what a program needs, its loader included."""
    output = subprocess.run(['ldd', program], capture_output=True, text=True, timeout=30, check=False).stdout
    return re.findall(r'(/\S+) \(0x', output)


def drivers():
    """The files of the poll-mode drivers. DPDK loads those with a full version at the end only."""
    for name in POLL_MODE_DRIVERS:
        yield next(path for path in glob.glob(f'/usr/lib/*/dpdk/pmds-*/librte_{name}.so.*')
                   if re.search(r'\.so\.\d+\.\d+$', path))


def modules():
    """The modules and what they need, as paths below the kernel's directory of modules."""
    base = glob.glob(f'{KERNEL}/lib/modules/*')[0]
    needs, by_name = {}, {}
    with open(f'{base}/modules.dep', encoding='ascii') as file:
        for line in file:
            path, _, others = line.partition(':')
            needs[path] = others.split()
            by_name[os.path.basename(path).partition('.')[0].replace('-', '_')] = path
    paths = [by_name[name.replace('-', '_')] for name in MODULES if name.replace('-', '_') in by_name]
    return base, sorted({path for top in paths for path in (top, *needs[top])})


def contents():
    """All files of the guest: path there to path here."""
    files = {'init': os.path.join(HERE, 'init'), **PROGRAMS}
    loaded = [path for path in files.values() if not path.endswith('init')] + list(drivers())
    for path in drivers():
        files[path[1:]] = path
    # libgcc_s is loaded when a thread is cancelled, and ldd does not tell.
    for path in {library for program in loaded for library in libraries(program)} | set(glob.glob('/lib/*/libgcc_s.so.1')):
        files[path[1:]] = path
    files.update(SCRIPTS)
    for path in glob.glob(os.path.join(ROOT, 'drivers-cfg', '*.cfg')):
        files[f'drivers-cfg/{os.path.basename(path)}'] = path
    base, paths = modules()
    for path in [*paths, 'modules.dep', 'modules.alias']:
        files[f'lib/modules/{os.path.basename(base)}/{path}'] = os.path.join(base, path)
    return files


def digest(files):
    """Of all that is in the initramfs, and of how it is made."""
    total = hashlib.sha256(open(__file__, 'rb').read())
    for name, path in sorted(files.items()):
        with open(path, 'rb') as file:
            total.update(f'{name}\0'.encode() + hashlib.sha256(file.read()).digest())
    return total.hexdigest()[:16]


def archive(files, output):
    """Writes the files as an initramfs. It belongs to root whoever makes it."""
    with tempfile.TemporaryDirectory(dir=CACHE) as tree:
        for directory in DIRECTORIES:
            os.makedirs(os.path.join(tree, directory))
        copied = {}  # file here: its first name there
        for name, path in files.items():
            there = os.path.join(tree, name)
            os.makedirs(os.path.dirname(there), exist_ok=True)
            first = copied.setdefault(os.path.realpath(path), name)
            if first != name:  # a driver that is also a library must be one file, or it is loaded twice
                os.symlink(f'/{first}', there)
                continue
            shutil.copy(path, there)
            os.chmod(there, 0o755)
        names = subprocess.run(['find', '.'], cwd=tree, capture_output=True, timeout=60, check=True).stdout
        with open(f'{output}.new', 'wb') as file:
            subprocess.run(['cpio', '--quiet', '-o', '-H', 'newc', '-R', '0:0'], cwd=tree, input=names, stdout=file,
                           timeout=60, check=True)
    os.rename(f'{output}.new', output)


def initramfs():
    """The path of the guest's initramfs, made if need be."""
    fetch_kernel()
    files = contents()
    path = os.path.join(CACHE, f'initramfs-{digest(files)}.cpio')
    if not os.path.exists(path):
        for old in glob.glob(os.path.join(CACHE, 'initramfs-*')):
            os.unlink(old)
        archive(files, path)
    return path
