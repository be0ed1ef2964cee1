#!/usr/bin/env python3
"""The examples of a page compile: every block marked cpp, in the order of the page, as one unit after `using namespace ashlar`.

  scripts/check_doc_examples.py --compiler g++ --include include docs/language.md
"""
import argparse
import re
import subprocess
import sys

FLAGS = ["-std=c++20", "-fsyntax-only", "-Wall", "-Wextra", "-Wpedantic", "-Wshadow", "-Wconversion", "-Werror", "-fno-exceptions", "-fno-rtti"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--compiler", default="g++")
    parser.add_argument("--include", required=True)
    parser.add_argument("--header", default="ashlar/lang.h", help="what the examples include")
    parser.add_argument("page")
    args = parser.parse_args()
    unit = f"#include <{args.header}>\nusing namespace ashlar;\n"
    count = 0
    with open(args.page, encoding="utf-8") as f:
        text = f.read()
    for block in re.finditer(r"^```cpp\n(.*?)^```$", text, re.M | re.S):
        line = text.count("\n", 0, block.start(1)) + 1
        unit += f'#line {line} "{args.page}"\n{block[1]}'
        count += 1
    if not count:
        sys.exit(f"{args.page}: expected examples, found none")
    run = subprocess.run([args.compiler, *FLAGS, "-I" + args.include, "-x", "c++", "-"], input=unit, text=True, check=False)
    print(f"{args.page}: {count} examples")
    return run.returncode


if __name__ == "__main__":
    sys.exit(main())
