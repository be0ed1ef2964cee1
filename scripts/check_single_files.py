#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Says which files compile in a unit (cmake/Unity.cmake) and not by themselves, for want of a header that another file includes.

  check_single_files.py SOURCE BUILD     BUILD has units; the commands for single files are those of BUILD/single, made here
"""
import concurrent.futures
import json
import os
import pathlib
import re
import shlex
import subprocess
import sys


def in_units(build):
    """The files that some unit includes."""
    found = set()
    for unit in (build / 'unity').glob('*/*.cpp'):
        found.update(re.findall(r'^#include "(/.*\.cpp)"$', unit.read_text(), re.M))
    return found


def checked(command, folder):
    words = [w for w in shlex.split(command) if not w.endswith('ccache')]
    words[words.index('-o') + 1] = '/dev/null'
    return subprocess.run([*words, '-fsyntax-only'], cwd=folder, capture_output=True, text=True)


def main():
    source, build = (pathlib.Path(os.path.abspath(a)) for a in sys.argv[1:3])
    single = build / 'single'
    files = in_units(build)
    if not files:
        print('skipped: no file is compiled in a unit')
        return 77
    made = subprocess.run(['cmake', '-G', 'Ninja', '-S', source, '-B', single, '-DASHLAR_UNITY=OFF'], capture_output=True, text=True)
    if made.returncode:
        sys.exit(made.stderr)
    # files that the build writes are those of BUILD
    commands = json.loads((single / 'compile_commands.json').read_text().replace(str(single), str(build)))
    jobs = {e['file']: e['command'] for e in commands if e['file'] in files}
    absent = files - set(jobs)
    if absent:
        sys.exit(f'no command for {", ".join(sorted(absent))}')
    bad = 0
    with concurrent.futures.ThreadPoolExecutor(int(os.environ.get('ASHLAR_JOBS', os.cpu_count()))) as pool:
        for count, (name, result) in enumerate(zip(jobs, pool.map(lambda c: checked(c, build), jobs.values())), 1):
            if result.returncode:
                bad += 1
                print(f'{name} does not compile by itself:\n{result.stderr}')
            if count % 50 == 0:
                print(f'{count} of {len(jobs)} files', flush=True)
    print(f'{len(jobs)} files, {bad} do not compile by themselves')
    return 1 if bad else 0


if __name__ == '__main__':
    sys.exit(main())
