#!/usr/bin/env python3
"""What tracked files must not hold: a path of somebody's machine, a file over the budget of 600 lines, a note of unfinished work; and
no folder holds more than 40 sources, no function more than 120 lines, of a primitive 80, and what ships says its license in the
first line.

  scripts/check_tree.py      prints every offense, exit code 1 if there is one
"""
import collections
import os
import re
import subprocess
import sys

MACHINE_PATH = re.compile(r"(?<![\w.])/(?:home|work|root|Users)/[A-Za-z0-9_.-]")
UNFINISHED = re.compile(r"\b(?:TO" r"DO|FIX" r"ME|XX" r"X)\b")
CODE = (".h", ".c", ".cpp", ".py", ".cmake", ".txt", ".md", ".in", "dev", "run")
MOST_LINES = 600
MOST_SOURCES = 40
FUNCTIONS = [("src/schedule/primitives/", 80), ("src/", 120), ("ops/", 120), ("schedules/", 120)]  # most lines, by the first that fits
CLASS = re.compile(r" *(?:template <.*> )?(?:class|struct|union)\b(?!.*[;)]$)")
SHIPPED = ("include/", "src/", "ops/", "schedules/", "generators/", "cmake/")
LICENSE = "SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception"


def long_functions(name, lines, most):
    """Functions as clang-format writes them: from a line to the next brace that is alone in the same column. In the first column
    that is a function of a namespace; two spaces in, a member, if the last line in the first column began a class; and so on."""
    starts = []  # for each depth, the last line there
    for number, line in enumerate(lines, 1):
        head = re.match(r"((?:  )*)([A-Za-z_~\[]|\}$)", line)
        if not head or len(head[1]) // 2 > len(starts):
            continue
        depth = len(head[1]) // 2
        if head[2] != "}":
            starts[depth:] = [number]
        elif depth < len(starts):
            start = starts[depth]
            of_class = all(CLASS.match(lines[outer - 1]) for outer in starts[:depth])
            if of_class and number - start + 1 > most:
                yield f"{name}:{start}: a function of {number - start + 1} lines, expected at most {most}: {lines[start - 1].strip()}"


def main():
    names = subprocess.run(["git", "ls-files", "-z"], capture_output=True, text=True, check=True).stdout.split("\0")
    offenses = []
    sources = collections.Counter(os.path.dirname(name) for name in names if name.endswith((".h", ".c", ".cpp")))
    for folder, count in sorted(sources.items()):
        if count > MOST_SOURCES:
            offenses.append(f"{folder}: {count} sources, expected at most {MOST_SOURCES}: it holds two rooms")
    for name in filter(None, names):
        if not name.endswith(CODE):
            continue
        with open(name, encoding="utf-8") as f:
            lines = f.read().splitlines()
        most = next((most for folder, most in FUNCTIONS if name.startswith(folder) and name.endswith((".cpp", ".h"))), None)
        if most:
            offenses += long_functions(name, lines, most)
        if name.startswith(SHIPPED):
            if not lines or LICENSE not in lines[0]:
                offenses.append(f"{name}:1: expected {LICENSE}")
        if len(lines) > MOST_LINES and name.endswith((".h", ".c", ".cpp")):
            offenses.append(f"{name}: {len(lines)} lines, expected at most {MOST_LINES}: it holds two ideas")
        for number, line in enumerate(lines, 1):
            if MACHINE_PATH.search(line):
                offenses.append(f"{name}:{number}: a path of one machine: {line.strip()}")
            if UNFINISHED.search(line):
                offenses.append(f"{name}:{number}: unfinished: {line.strip()}")
    for offense in offenses:
        print(offense, file=sys.stderr)
    print(f"tree: {len(names) - 1} files, {len(offenses)} offenses")
    return 1 if offenses else 0


if __name__ == "__main__":
    sys.exit(main())
