#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Law 1 of the packet path, checked in machine code.

What compilers make of a source is what lcores execute, so this disassembles every object that a
build directory compiled from a *_fwd.c file. Each file is also compiled again with -O2 and -O3,
because inlining differs between them. Breaches, named by object, function and instruction:

  lock      a lock prefix, xchg with a memory operand (locked by itself), mfence
  syscall   syscall, sysenter, int
  division  integer, SSE, AVX or x87
  symbol    an undefined symbol that neither another such object defines nor allowed_symbols.txt
            lists with a reason

sleep_fwd.c, where an lcore goes to sleep, is free of the first two.
"""
import argparse
import json
import os
import re
import shlex
import subprocess
import sys
import tempfile
from dataclasses import dataclass

SLEEPS = 'sleep_fwd.c'
KINDS = [
    ('lock', re.compile(r'\block\b|\bxchg\w*\s.*\(|\bxchg\w*\s.*%[c-g]s:|^mfence')),
    ('syscall', re.compile(r'^(syscall|sysenter|int\s+\$)')),
    ('division', re.compile(r'^(i?div[bwlq]?|v?div[sp][sdh]|f(i?)div(r?)(p?)[sl]?)\b')),
]
FUNCTION = re.compile(r'^[0-9a-f]+ <(.+)>:$')
INSTRUCTION = re.compile(r'^\s+[0-9a-f]+:\s+(\S.*)$')
SOURCE_LINE = re.compile(r'^(\S.*):(\d+)( \(discriminator \d+\))?$')


@dataclass
class Object:
    path: str
    source: str
    label: str  # how it is named in messages


def run(*command, cwd=None):
    return subprocess.run(command, check=True, capture_output=True, text=True, cwd=cwd).stdout


def allowed_symbols(path):
    """Lines "symbol  # reason"; "file_fwd.c:symbol  # reason" allows it to one file."""
    allowed = set()
    with open(path, encoding='utf-8') as lines:
        for number, line in enumerate(lines, 1):
            symbol, _, reason = (part.strip() for part in line.partition('#'))
            if symbol and not reason:
                sys.exit(f'{path}:{number}: {symbol} is allowed without a reason')
            if symbol:
                allowed.add(symbol)
    return allowed


def compiler_command(entry):
    """The command of compile_commands.json without output, dependency files, sanitizers and -O."""
    command, words = [], iter(shlex.split(entry['command']))
    for word in words:
        if word in ('-o', '-MF', '-MQ', '-MT'):
            next(words)
        elif not re.match(r'-(MD|MMD|O\w*|fsanitize.*|fno-sanitize.*|Werror|fprofile.*|--coverage)$', word):
            command.append(word)
    return command


def objects_of(build, scratch):
    """The built object of each *_fwd.c and its twins at -O2 and -O3."""
    with open(os.path.join(build, 'compile_commands.json'), encoding='utf-8') as commands:
        entries = json.load(commands)
    found = []
    for entry in entries:
        if not entry['file'].endswith('_fwd.c'):
            continue
        source = os.path.basename(entry['file'])
        optimised = re.search(r'\s-O[23]\s', entry['command'])
        if optimised and '-fsanitize' not in entry['command'] and 'output' in entry:
            path = os.path.join(entry['directory'], entry['output'])
            if not os.path.exists(path):
                sys.exit(f'{path}: not built yet')
            found.append(Object(path, source, entry['output']))
        for level in ('-O2', '-O3'):
            path = os.path.join(scratch, f'{len(found)}.o')
            run(*compiler_command(entry), level, '-o', path, cwd=entry['directory'])
            found.append(Object(path, source, f'{source} {level}'))
    return found


def instruction_breaches(obj):
    function, where = '?', ''
    for line in run('objdump', '-d', '-l', '--no-show-raw-insn', obj.path).splitlines():
        if match := FUNCTION.match(line):
            function, where = match[1], ''
        elif match := SOURCE_LINE.match(line):
            where = f' ({os.path.basename(match[1])}:{match[2]})'
        elif match := INSTRUCTION.match(line):
            text = re.sub(r'\s+', ' ', match[1].strip())
            for kind, pattern in KINDS:
                if pattern.search(text) and not (obj.source == SLEEPS and kind != 'division'):
                    yield f'{obj.label}: {function}: {kind}: {text}{where}'


def symbols(obj, which):
    return {line.split()[-1] for line in run('nm', which, obj.path).splitlines() if line.strip()}


def symbol_breaches(obj, known):
    for symbol in sorted(symbols(obj, '-u') - known):
        if f'{obj.source}:{symbol}' not in known:
            users = ', '.join(sorted(users_of(obj, symbol))) or 'data'
            yield f'{obj.label}: {users}: symbol: {symbol} is not in allowed_symbols.txt'


def users_of(obj, symbol):
    function = '?'
    for line in run('objdump', '-d', '-r', '--no-show-raw-insn', obj.path).splitlines():
        if match := FUNCTION.match(line):
            function = match[1]
        elif re.search(rf'R_\w+\s+{re.escape(symbol)}([+-]|$|@)', line):
            yield function


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('build', help='a meson build directory, compiled')
    parser.add_argument('--allowed', help='the list of allowed symbols',
                        default=os.path.join(os.path.dirname(__file__), 'allowed_symbols.txt'))
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        try:
            found = objects_of(args.build, scratch)
        except subprocess.CalledProcessError as error:
            sys.exit(f'{shlex.join(error.cmd)}\n{error.stderr}')
        if not found:
            sys.exit(f'{args.build}: no objects of *_fwd.c files: nothing was checked')
        known = allowed_symbols(args.allowed).union(*(symbols(o, '--defined-only') for o in found))
        breaches = [breach for obj in found
                    for breach in (*instruction_breaches(obj), *symbol_breaches(obj, known))]
    for breach in breaches:
        print(breach)
    print(f'{len(found)} objects of {len({o.source for o in found})} files, {len(breaches)} breaches')
    return 1 if breaches else 0


if __name__ == '__main__':
    sys.exit(main())
