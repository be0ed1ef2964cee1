#!/usr/bin/env python3
"""Instructions of one call of programs of this folder, scheduled by default for x86-64-v3, beside those in counts.json.

usage: count.py --programs ASHLAR_PROGRAMS [--bless [--add "AREA NAME"]...] [--table FILE]

Fails where a program executes more than 1.03 times what the table says, and names those that execute fewer than 0.97 times. --bless
writes the table anew; --add gives it more programs. --table compares with another table, such as that of an older commit; programs
that are gone since are named. The count is valgrind's, or, without valgrind, the processor's own in user mode; the exit code is 77
where neither is there. Time is not measured, so that the machine may be busy.
"""
import argparse
import glob
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

TABLE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "counts.json")
TOLERANCE = 0.03
CALL = "ashlar_programs_one_call"


def names_and_counts(text):
    rows = [line.split("\t") for line in text.splitlines() if "\t" in line]
    return [(name, int(count)) for name, count in rows]


def by_valgrind(command, folder):
    environment = {**os.environ, "ASHLAR_CACHE": os.path.join(folder, "cache")}
    os.makedirs(environment["ASHLAR_CACHE"])
    subprocess.run(command + ["calls"], env=environment, check=True, capture_output=True)  # generates code, which is kept
    out = os.path.join(folder, "out")
    valgrind = ["valgrind", "--tool=callgrind", "--callgrind-out-file=" + out, "--collect-atstart=no", "--toggle-collect=" + CALL,
                "--dump-after=" + CALL]
    done = subprocess.run(valgrind + command + ["calls"], env=environment, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"count.py: {done.stdout}{done.stderr}")
    counts = []
    for k in range(1, len(glob.glob(out + ".*")) + 1):  # a file for each call, in their order
        with open(f"{out}.{k}", encoding="utf-8") as f:
            counts.append(int(re.search(r"^summary: (\d+)$", f.read(), re.MULTILINE).group(1)))
    names = [name for name, _ in names_and_counts(done.stdout)]
    counts = [c for c in counts if c > 0]
    if len(names) != len(counts):
        sys.exit(f"count.py: expected a count for each of {len(names)} programs, found {len(counts)}")
    return dict(zip(names, counts))


def by_perf(command):
    done = subprocess.run(command + ["perf"], capture_output=True, text=True)
    if done.returncode:
        print(f"skipped: valgrind is not installed, and {done.stderr.strip()}")
        sys.exit(77)
    return dict(names_and_counts(done.stdout))


def main():
    arguments = argparse.ArgumentParser(usage=__doc__)
    arguments.add_argument("--programs", required=True)
    arguments.add_argument("--bless", action="store_true")
    arguments.add_argument("--add", action="append", default=[])
    arguments.add_argument("--table", default=TABLE)
    options = arguments.parse_args()
    with open(options.table, encoding="utf-8") as f:
        table = json.load(f)
    wanted = sorted({*table, *options.add})
    command = [options.programs, "--filter", "^(" + "|".join(map(re.escape, wanted)) + ")$", "--count"]
    with tempfile.TemporaryDirectory() as folder:
        found = by_valgrind(command, folder) if shutil.which("valgrind") else by_perf(command)
    absent = [name for name in wanted if name not in found]
    if absent and options.table != TABLE:
        print("not counted, because there are no such programs: " + ", ".join(absent))
        wanted = [name for name in wanted if name in found]
    elif absent:
        sys.exit("count.py: no such programs: " + ", ".join(absent))
    worse = 0
    for name in wanted:
        ratio = found[name] / table[name] if name in table else 1
        note = ""
        if ratio > 1 + TOLERANCE and not options.bless:
            note, worse = "  MORE", worse + 1
        elif ratio < 1 - TOLERANCE:
            note = "  fewer: count.py --bless"
        print(f"{name:<40}{found[name]:>14}{ratio:>8.3f} of the table{note}")
    if options.bless:
        with open(options.table, "w", encoding="utf-8") as f:
            f.write(json.dumps({name: found[name] for name in wanted}, indent=2) + "\n")
    return 1 if worse else 0


if __name__ == "__main__":
    sys.exit(main())
