#!/usr/bin/env python3
"""Every operator of ops/include/ashlar/ops has a generator of its name in ashlar-ops, and every generator there is an operator.

  scripts/check_ops.py ASHLAR_OPS [HEADERS]    prints every offense, exit code 1 if there is one; HEADERS: ops/include/ashlar/ops
"""
import pathlib
import re
import subprocess
import sys

# Functions that are no operators.
NO_OPERATOR = {
    "accumulator": "of types",
    "packed_keys": "of attention: which keys a query sees",
    "paged": "of attention: where the keys lie",
    "philox4x32": "of expressions; random_blocks are made of it",
}
# Generators for one case of an operator.
CASES = {
    "gelu_tail": "gelu",  # other forms of it; names of their own so that an epilogue can name them
    "gelu_tanh": "gelu",
}
FUNCTION = re.compile(r"^(?:inline )?[\w:]+(?:<[^>]*>)? (\w+)\(")
ROW = re.compile(r"^ASHLAR_OPS_\w+\((\w+)")
LISTED = re.compile(r"^  (\w+) +\S")


def operators(folder):
    """The functions outside of `namespace detail`, with the header of each."""
    found = {}
    for header in sorted(pathlib.Path(folder).glob("*.h")):
        detail = False
        for line in header.read_text(encoding="utf-8").splitlines():
            if line.startswith("namespace detail {"):
                detail = True
            elif line.startswith("}  // namespace detail"):
                detail = False
            m = FUNCTION.match(line) or ROW.match(line)
            if m and not detail:
                found[m.group(1)] = header.name
    return found


def main():
    text = subprocess.run([sys.argv[1], "--list"], capture_output=True, text=True, check=True).stdout
    listed = {m.group(1) for m in map(LISTED.match, text.splitlines()) if m}
    ops = operators(sys.argv[2] if len(sys.argv) > 2 else "ops/include/ashlar/ops")
    offenses = [f"{header}: {name} has no generator in ashlar-ops" for name, header in ops.items()
                if name not in listed and name not in NO_OPERATOR]
    offenses += [f"ashlar-ops: {name} is no operator" for name in sorted(listed)
                 if CASES.get(name, name) not in ops or name in NO_OPERATOR]
    offenses += [f"{name}: no such function any more" for name in NO_OPERATOR if name not in ops]
    for offense in offenses:
        print(offense, file=sys.stderr)
    print(f"operators: {len(ops)} functions, {len(listed)} generators, {len(offenses)} offenses")
    return 1 if offenses or not ops or not listed else 0


if __name__ == "__main__":
    sys.exit(main())
