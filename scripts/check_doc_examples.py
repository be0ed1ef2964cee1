#!/usr/bin/env python3
"""The examples of pages compile: every block marked cpp, in the order of the page, as one unit after `using namespace ashlar`.

  scripts/check_doc_examples.py --compiler g++ --include include docs/language.md

With --within a block that is no function, class or template stands in a function (FRAGMENT), or in a generator (MEMBERS) where
it overrides. With --program the page's blocks marked c are a program, which is written to a file, with --prints its block after "It prints".
"""
import argparse
import os
import re
import subprocess
import sys

FLAGS = ["-std=c++20", "-fsyntax-only", "-Wall", "-Wextra", "-Wpedantic", "-Wshadow", "-Wconversion", "-Werror", "-fno-exceptions", "-fno-rtti"]


def program_of(args):
    (page,) = args.page
    with open(page, encoding="utf-8") as f:
        text = f.read()
    blocks = list(re.finditer(r"^```c\n(.*?)^```$", text, re.M | re.S))
    printed = re.search(r"^It prints\n\n```\n(.*?)^```$", text, re.M | re.S)
    if not blocks or not printed:
        sys.exit(f"{page}: expected blocks of C, and one of what they print")
    if args.program:
        with open(args.program, "w", encoding="utf-8") as f:
            f.write("\n".join(b[1] for b in blocks))
        return 0
    run = subprocess.run([args.prints], capture_output=True, text=True, check=False)
    if run.returncode != 0 or run.stdout != printed[1]:
        sys.exit(f"{page}: expected\n{printed[1]}found, with code {run.returncode},\n{run.stdout}")
    print(f"{page}: {len(blocks)} blocks, as printed")
    return 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--compiler", default="g++")
    parser.add_argument("--include", action="append", help="a folder of headers")
    parser.add_argument("--header", action="append", help="what the examples include: ashlar/lang.h, or these")
    parser.add_argument("--within", help="a header with `#define FRAGMENT(NAME) …` and `MEMBERS(NAME)`, the beginning of what a block is in")
    parser.add_argument("--program", help="a file to write the blocks marked c to")
    parser.add_argument("--prints", help="an executable, whose output must be the block after \"It prints\"")
    parser.add_argument("page", nargs="+")
    args = parser.parse_args()
    if args.program or args.prints:
        return program_of(args)
    if not args.include:
        parser.error("--include is missing")
    unit = "".join(f"#include <{h}>\n" for h in args.header or ["ashlar/lang.h"]) + "using namespace ashlar;\n"
    if args.within:
        unit += f'#include "{os.path.abspath(args.within)}"\n'
    count = 0
    for page in args.page:
        with open(page, encoding="utf-8") as f:
            text = f.read()
        before = count
        for block in re.finditer(r"^```cpp\n(.*?)^```$", text, re.M | re.S):
            line = text.count("\n", 0, block.start(1)) + 1
            code = block[1]
            if args.within and not re.search(r"^(inline|class|struct|template) ", code, re.M):
                code = re.sub(r"^ *(\.\.\.|#include .*)$", "", code, flags=re.M)  # what is left out; headers are given
                macro, end = ("MEMBERS", "};") if re.search(r"\) override \{", code) else ("FRAGMENT", "} }")
                code = f"{macro}(fragment_{count}) {{\n#line {line} \"{page}\"\n{code}{end}\n"
            unit += f'#line {line} "{page}"\n{code}'
            count += 1
        if count == before:
            sys.exit(f"{page}: expected examples, found none")
    flags = FLAGS + (["-Wno-shadow", "-Wno-unused"] if args.within else [])  # names that a fragment gives to what is there already
    run = subprocess.run([args.compiler, *flags, *("-I" + folder for folder in args.include), "-x", "c++", "-"], input=unit, text=True, check=False)
    print(f"{' '.join(args.page)}: {count} examples")
    return run.returncode


if __name__ == "__main__":
    sys.exit(main())
