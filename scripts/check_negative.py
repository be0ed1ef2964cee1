#!/usr/bin/env python3
"""A mistake must be reported once, in a sentence that says what to write instead; and what it says must compile.

  scripts/check_negative.py --compiler g++ --include include tests/negative/n02_if.cpp

The file says what is expected of the compiler in a comment, `// error: SENTENCE` or `// warning: SENTENCE` (a part of the one
message), and may name a header it needs, `// needs: PATH`. Compiled as it stands it must give exactly that one diagnostic;
compiled with -DFIXED, with every warning on and as an error, none. Exit code 77: the header it needs is not there.
"""
import argparse
import os
import re
import subprocess
import sys

STRICT = ["-Wall", "-Wextra", "-Wpedantic", "-Wshadow", "-Wconversion", "-Werror", "-fno-exceptions", "-fno-rtti"]
DIAGNOSTIC = re.compile(r"^\S+?:\d+:\d+: (?:fatal )?(error|warning): (.*)$", re.M)


def diagnostics(compiler, include, flags, path):
    """Every error and warning as (kind, message), in the compiler's order."""
    command = [compiler, "-std=c++20", "-fsyntax-only", *("-I" + folder for folder in include), *flags, path]
    run = subprocess.run(command, capture_output=True, text=True, env={**os.environ, "LC_ALL": "C"}, check=False)
    found = DIAGNOSTIC.findall(run.stderr)
    if run.returncode and not found:
        sys.exit(f"{path}: the compiler failed without a diagnostic:\n{run.stderr}")
    return found


def listed(found):
    return "".join(f"\n  {kind}: {message}" for kind, message in found) or " none"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--compiler", default="g++")
    parser.add_argument("--include", action="append", required=True)
    parser.add_argument("file")
    args = parser.parse_args()
    with open(args.file, encoding="utf-8") as f:
        text = f.read()
    needed = re.search(r"^// needs: (.*)$", text, re.M)
    if needed and not any(os.path.exists(os.path.join(folder, needed[1])) for folder in args.include):
        print(f"skipped: {needed[1]} is not there")
        return 77
    expected = re.search(r"^// (error|warning): (.*)$", text, re.M)
    if not expected:
        sys.exit(f"{args.file}: expected a comment `// error: SENTENCE` or `// warning: SENTENCE`")
    kind, sentence = expected.groups()
    found = diagnostics(args.compiler, args.include, [], args.file)
    failed = False
    if len(found) != 1 or found[0][0] != kind or sentence not in found[0][1]:
        print(f"{args.file}: expected one {kind} with `{sentence}`, found{listed(found)}")
        failed = True
    left = diagnostics(args.compiler, args.include, ["-DFIXED", *STRICT], args.file)
    if left:
        print(f"{args.file}: with -DFIXED expected no diagnostic, found{listed(left)}")
        failed = True
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
