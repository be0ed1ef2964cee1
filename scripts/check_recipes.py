#!/usr/bin/env python3
"""The recipes of docs/adding.md compile: its blocks marked cpp, each in a copy of the file that the page says it goes to.

  scripts/check_recipes.py --compiler g++ SOURCES
  scripts/check_recipes.py --write FOLDER SOURCES      the copies alone, which tests/docs builds a primitive from

Below are the page's blocks in their order, each with its file and the line that it goes behind (none: it is the file), and what
the page says in passing, with the text itself.
"""
import argparse
import os
import re
import subprocess
import sys
import tempfile

BLOCKS = [
    ("ops/src/activation.cpp", "namespace ashlar::ops {"),
    ("tests/ops/elementwise_test.cpp", "{ops::relu, [](double x)"),
    ("generators/elementwise.cpp", 'ROW(relu, "'),
    ("include/ashlar/ir/expr.h", "  // two operands"),
    ("src/ir/operation.cpp", "    // two operands"),
    ("include/ashlar/lang/math.h", "inline Expr ctz(Operand a)"),
    ("src/instructions/x86.cpp", "const char* const word_in_c"),
    ("tests/instructions/x86_test.cpp", "x86::vpdpwssd(8, Encoding::vex)"),
    ("src/schedule/primitives/loops/sink.cpp", ""),
    ("include/ashlar/schedule/schedule.h", "Stage reverse(Loop"),
    ("tests/docs/loops.cpp", "const auto add = "),
]
PASSING = [
    ("ops/include/ashlar/ops/activation.h", "namespace ashlar::ops {", "Tensor squared_relu(const Tensor& x, Where where = Where::current());"),
    ("include/ashlar/instructions/x86.h", "namespace ashlar::x86 {", "Intrinsic vpmaddwd_vectors(int lanes, Where = Where::current());"),
]
# Files whose names in unnamed namespaces do not meet are one unit.
UNITS = [
    ["ops/src/activation.cpp", "src/instructions/x86.cpp", "src/schedule/primitives/loops/sink.cpp", "tests/docs/loops.cpp",
     "tests/instructions/x86_test.cpp", "generators/elementwise.cpp"],
    ["tests/ops/elementwise_test.cpp"],
    ["src/ir/operation.cpp"],
]
FLAGS = ["-std=c++20", "-fsyntax-only", "-Wall", "-Wextra", "-Wshadow", "-Wconversion", "-Wno-sign-conversion", "-Werror"]


def write(edits, sources, copies):
    for path, behind, text in edits:
        copy = os.path.join(copies, path)
        os.makedirs(os.path.dirname(copy), exist_ok=True)
        if behind:
            with open(os.path.join(sources, path), encoding="utf-8") as f:
                lines = f.read().splitlines(keepends=True)
            places = [k for k, line in enumerate(lines) if behind in line]
            if not places:
                sys.exit(f"scripts/check_recipes.py: {path} has no line with {behind}")
            lines.insert(places[0] + 1, text + f'#line {places[0] + 2} "{path}"\n')
            text = "".join(lines)
        with open(copy, "w", encoding="utf-8") as f:
            f.write(text)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--compiler", default="g++")
    parser.add_argument("--page", help="in the place of docs/adding.md")
    parser.add_argument("--write", metavar="FOLDER", help="writes the copies there and compiles nothing")
    parser.add_argument("sources")
    args = parser.parse_args()
    name = args.page or os.path.join(args.sources, "docs/adding.md")
    with open(name, encoding="utf-8") as f:
        page = f.read()
    found = list(re.finditer(r"^```cpp\n(.*?)^```$", page, re.M | re.S))
    if len(found) != len(BLOCKS):
        sys.exit(f"{name}: expected {len(BLOCKS)} blocks of C++, found {len(found)}: scripts/check_recipes.py says where each goes")
    edits = []
    for (path, behind), block in zip(BLOCKS, found):
        line = page.count("\n", 0, block.start(1)) + 1
        edits.append((path, behind, f'#line {line} "{name}"\n{block[1]}'))
    edits += [(path, behind, text + "\n") for path, behind, text in PASSING]
    if args.write:
        write(edits, args.sources, args.write)
        return 0
    with tempfile.TemporaryDirectory() as copies:
        write(edits, args.sources, copies)
        include = [f"-I{os.path.join(root, sub)}" for sub in ("include", "ops/include", "schedules/include", "src", "")
                   for root in (copies, args.sources)]
        include.append("-I" + os.path.join(args.sources, "tests/docs"))  # headers beside a file that was copied
        wrong = False
        for unit in UNITS:
            text = "".join(f'#include "{os.path.join(copies, path)}"\n' for path in unit)
            run = subprocess.run([args.compiler, *FLAGS, *include, "-x", "c++", "-"], input=text, text=True, check=False)
            wrong = wrong or run.returncode != 0
    print(f"{name}: {len(found)} blocks")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
