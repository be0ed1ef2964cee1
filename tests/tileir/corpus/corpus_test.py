#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs kernels of cuTile Python through the executor and compares them with NumPy.

  corpus_test.py --tool TILEIR_RUN [--only NAME] [--versions 13.1,13.4]

Every kernel runs in every version of the bytecode that has what it uses, in the newest with its blocks in another order too.
Kernels with a fault must be reported. At the end: which operations there are, which are executed, which ran.
"""
import argparse
import subprocess
import sys

import cases
from harness import Runner, allow_development_version


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--tool", required=True)
    parser.add_argument("--only", default="")
    parser.add_argument("--versions", default="13.1,13.2,13.3,13.4,13.5")
    options = parser.parse_args()
    import kernels_elementwise  # noqa: F401  (they register themselves)
    import kernels_tiles  # noqa: F401
    import kernels_faults  # noqa: F401

    runner = Runner(options.tool)
    versions = options.versions.split(",")
    if "13.5" in versions and not allow_development_version():
        print("skipped: version 13.5, which this wheel cannot write")
        versions.remove("13.5")
    failures = runs = 0
    for name, function in cases.CASES:
        if options.only not in name:
            continue
        errors = []
        for version in versions:
            for order in ("0", "12345") if version == versions[-1] else ("0",):
                def run(kernel, grid, arguments, least="13.1", version=version, order=order):
                    at = max(version, least, key=lambda v: int(v.split(".")[1]))
                    code, printed, report = runner.run(kernel, grid, arguments, at, ("--order", order))
                    if code != 0:
                        raise AssertionError(report)
                    return printed
                try:
                    errors.append(function(run))
                    runs += 1
                except Exception as e:  # noqa: BLE001  a case says what went wrong; others still run
                    failures += 1
                    print(f"FAILED {name} ({version}, order {order}): {type(e).__name__}: {e}")
        if errors:
            print(f"{name}: largest error {max(errors):.3g}")

    def run_fault(kernel, grid, arguments, version="13.4", options=()):
        return runner.run(kernel, grid, arguments, version, options)
    for name, needed, function in cases.FAULTS:
        if options.only not in name:
            continue
        code, _, report = function(run_fault)
        if code != 1 or not all(n in report for n in needed):
            failures += 1
            print(f"FAILED fault {name}: code {code}, {report!r}, expected {needed}")
        else:
            print(f"fault {name}: {report}")
    print_coverage(options.tool, runner.coverage)
    print(f"{len(cases.CASES)} kernels in {len(versions)} versions, {runs} runs, {len(cases.FAULTS)} faults, {failures} failures")
    return 1 if failures else 0


def print_coverage(tool, reached):
    lines = subprocess.run([tool, "--operations"], capture_output=True, text=True, check=True).stdout.splitlines()
    known = [line.split() for line in lines]
    executed = [k for k in known if k[3] == "executed"]
    ran = [k for k in executed if k[1] in reached]
    print(f"operations: {len(known)} known, {len(executed)} executed, {len(ran)} reached")
    print("known, not executed: " + ", ".join(k[1] for k in known if k[3] != "executed"))
    print("executed, not reached: " + ", ".join(k[1] for k in executed if k[1] not in reached))


if __name__ == "__main__":
    sys.exit(main())
