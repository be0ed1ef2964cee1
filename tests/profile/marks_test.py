#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The runtime's marks (USDT): the notes of a program that links it, and in gdb what they say while the program runs.
marks_test.py READELF GDB PROGRAM; GDB may be empty."""
import re
import subprocess
import sys
import tempfile

readelf, gdb, program = sys.argv[1:]
EXPECTED = {"enter": 4, "leave": 4, "error": 3, "parallel_begin": 2, "parallel_end": 1}  # values of each


def output(*command):
    return subprocess.run(command, capture_output=True, text=True, check=True, timeout=300).stdout


notes = output(readelf, "-n", program)
found = {}
for name, values in re.findall(r"Provider: ashlar\s+Name: (\w+)\s+.*?Arguments:([^\n]*)", notes, re.S):
    found[name] = len(values.split())
if found != EXPECTED:
    sys.exit(f"expected the marks {EXPECTED}, found {found}")
if not gdb:
    print("the notes are there; there is no gdb to read the marks' values")
    sys.exit(0)

# The first call, stage by stage: until its end, what is entered and left.
SCRIPT = r"""set confirm off
set pagination off
break -probe-stap ashlar:enter
commands
silent
printf "enter %s %s %s %d\n", $_probe_arg0, $_probe_arg1, $_probe_arg2, $_probe_arg3
continue
end
break -probe-stap ashlar:leave
commands
silent
printf "leave %s %s %ld %ld\n", $_probe_arg0, $_probe_arg1, $_probe_arg2, $_probe_arg3
continue
end
run 1
"""
with tempfile.NamedTemporaryFile("w", suffix=".gdb") as script:
    script.write(SCRIPT)
    script.flush()
    said = output(gdb, "-nx", "-batch", "-x", script.name, program)
entered = re.findall(r"^enter (\w+) (\w+) ([\w./]*:\d+|) (\d)$", said, re.M)
left = re.findall(r"^leave (\w+) (\w+) (\d+) (\d+)$", said, re.M)
if not entered or sorted((k, n) for k, n, _, _ in entered) != sorted((k, n) for k, n, _, _ in left):
    sys.exit(f"expected each stage that is entered to be left, found\n{said}")
if ("stages", "stages", "0") not in [(k, n, kind) for k, n, _, kind in entered]:
    sys.exit(f"expected a call of stages, found\n{said}")
if not any(n == "mean" and line.endswith("profile_gen.cpp:17") for _, n, line, _ in entered):
    sys.exit(f"expected the stage mean at profile_gen.cpp:17, found\n{said}")
if not any(n == "mean" and int(read) >= 4 * 100 * 1000 for _, n, read, _ in left):
    sys.exit(f"expected mean to read its input, found\n{said}")
print(f"{len(entered)} marks were entered and left")
