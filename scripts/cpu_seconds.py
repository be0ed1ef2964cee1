#!/usr/bin/env python3
"""Processor seconds (user and system) of building and of tests, by command, largest first: figures for "a newcomer waits less".

  cpu_seconds.py tests BUILD [CTEST ARGUMENTS]   each test of the folder by itself, with what it starts, as ctest runs it
  cpu_seconds.py build BUILD [TARGETS]           each command of a build; BUILD is a folder that does not exist yet
  cpu_seconds.py show FILE...                    tables of what these two wrote: BUILD/cpu_tests.txt, BUILD/cpu_build.txt

`build` configures without a compiler's cache, unless --ccache DIR names one (an empty one gives what `./dev test` takes in a clean
clone: builds within tests find there what the build has made). Other work on the machine adds to seconds, by a tenth or more.
"""
import argparse
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

TIME = '/usr/bin/time'  # Debian's package `time`
KINDS = {'COMPILE': 'compile', 'LINK': 'link', 'CUSTOM': 'run'}


def seconds_of(command, **options):
    """Processor seconds of a command with all that it waited for, and its exit code."""
    process = subprocess.Popen(command, **options)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    return usage.ru_utime + usage.ru_stime, process.returncode


def tests(build, arguments):
    listed = subprocess.run(['ctest', '--test-dir', build, '--show-only=json-v1', *arguments], capture_output=True, text=True, check=True)
    names = [test['name'] for test in json.loads(listed.stdout)['tests']]
    failed = []
    with open(pathlib.Path(build) / 'cpu_tests.txt', 'w') as out:
        for number, name in enumerate(names):
            # -FA: a fixture's tests are in the list themselves
            seconds, code = seconds_of(['ctest', '--test-dir', build, '-FA', '.*', '-R', f'^{re.escape(name)}$'], stdout=subprocess.DEVNULL)
            print(f'{seconds:9.2f} test {name}', file=out, flush=True)
            print(f'[{number + 1}/{len(names)}] {seconds:.2f} {name}{"" if code == 0 else " FAILED"}', flush=True)
            if code != 0:
                failed.append(name)
    if failed:
        sys.exit(f'cpu_seconds.py: failed: {" ".join(failed)}')


def subject(kind, words):
    """What a command makes, in few words."""
    if '-o' in words:
        return words[words.index('-o') + 1]
    return ' '.join(words[-4:] if kind == 'link' else words[:6])


def build(build, targets, ccache, jobs):
    if os.path.exists(build):
        sys.exit(f'cpu_seconds.py: {build} exists; a cold build needs a new folder')
    if not os.path.exists(TIME):
        sys.exit(f'cpu_seconds.py: no {TIME}; Debian has it in the package time')
    os.makedirs(build)
    log = os.path.abspath(pathlib.Path(build) / 'cpu_commands.txt')
    include = pathlib.Path(build) / 'launch.cmake'
    include.write_text(''.join(f'set_property(GLOBAL PROPERTY RULE_LAUNCH_{rule} "{TIME} -a -o {log} -f \\"{kind} %U %S %C\\"")\n'
                               for rule, kind in KINDS.items()))
    environment = dict(os.environ)
    launcher = []
    if ccache:
        environment['CCACHE_DIR'] = os.path.abspath(ccache)
        launcher = ['-DCMAKE_C_COMPILER_LAUNCHER=ccache', '-DCMAKE_CXX_COMPILER_LAUNCHER=ccache']
    else:
        environment['CCACHE_DISABLE'] = '1'
    steps = [('configure', ['cmake', '-G', 'Ninja', '-S', '.', '-B', build, f'-DCMAKE_PROJECT_TOP_LEVEL_INCLUDES={include.absolute()}', *launcher]),
             (' '.join(targets) or 'all', ['ninja', '-C', build, f'-j{jobs}', *targets])]
    lines = []
    for name, command in steps:
        seconds, code = seconds_of(command, env=environment)
        if code != 0:
            sys.exit(f'cpu_seconds.py: failed: {" ".join(command)}')
        lines.append(f'{seconds:9.2f} total {name}\n')
    with open(log) as commands:
        for line in commands:
            if line.startswith('Command '):  # "exited with non-zero status"
                continue
            kind, user, system, *words = line.split()
            lines.append(f'{float(user) + float(system):9.2f} {kind} {subject(kind, words)}\n')
    (pathlib.Path(build) / 'cpu_build.txt').write_text(''.join(lines))


def show(files, most):
    for file in files:
        rows = []
        with open(file) as lines:
            for line in lines:
                seconds, kind, name = line.rstrip('\n').split(None, 2)
                rows.append((float(seconds), kind, name))
        print(file)
        for kind in dict.fromkeys(kind for _, kind, _ in rows):
            of_kind = [seconds for seconds, other, _ in rows if other == kind]
            if kind != 'total':
                print(f'  {sum(of_kind):9.1f} s in {len(of_kind)} of {kind}')
        for seconds, kind, name in sorted(rows, reverse=True)[:most]:
            print(f'  {seconds:9.2f} {kind:8} {name}')


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest='command', required=True)
    for name in ('tests', 'build'):
        command = commands.add_parser(name)
        command.add_argument('build')
        command.add_argument('--most', type=int, default=60, help='how many lines of the table')
        if name == 'build':
            command.add_argument('--ccache', metavar='DIR')
            command.add_argument('--jobs', type=int, default=os.cpu_count())
            command.add_argument('targets', nargs='*')
        else:
            command.add_argument('arguments', nargs=argparse.REMAINDER, help='for ctest, as -R cuda')
    command = commands.add_parser('show')
    command.add_argument('files', nargs='+')
    command.add_argument('--most', type=int, default=60)
    arguments = parser.parse_args()
    if arguments.command == 'tests':
        tests(arguments.build, arguments.arguments)
        show([pathlib.Path(arguments.build) / 'cpu_tests.txt'], arguments.most)
    elif arguments.command == 'build':
        build(arguments.build, arguments.targets, arguments.ccache, arguments.jobs)
        show([pathlib.Path(arguments.build) / 'cpu_build.txt'], arguments.most)
    else:
        show(arguments.files, arguments.most)


if __name__ == '__main__':
    main()
