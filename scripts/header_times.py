#!/usr/bin/env python3
"""How long the compiler takes for a file that includes one of our umbrella headers and nothing else, beside one that includes
<functional>, <map>, <string> and <vector>: CPU seconds, medians of interleaved runs.

  scripts/header_times.py [--compiler g++] [--runs 5]
"""
import argparse
import os
import resource
import statistics
import subprocess

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
FOLDERS = ["include", "ops/include", "schedules/include"]
BASE = ["functional", "map", "string", "vector"]
FILES = {"the standard headers": BASE, "ashlar/lang.h": ["ashlar/lang.h"], "ashlar/ashlar.h": ["ashlar/ashlar.h"],
         "ashlar/ops/matmul.h": ["ashlar/ops/matmul.h"], "ashlar/ops.h": ["ashlar/ops.h"],
         "ashlar/schedules.h": ["ashlar/schedules.h"]}


def seconds(compiler, headers):
    text = "".join(f"#include <{h}>\n" for h in headers)
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([compiler, "-std=c++20", "-fsyntax-only", *("-I" + os.path.join(ROOT, f) for f in FOLDERS), "-x", "c++", "-"],
                   input=text, text=True, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--compiler", default="g++")
    parser.add_argument("--runs", type=int, default=5)
    arguments = parser.parse_args()
    times = {name: [] for name in FILES}
    for _ in range(arguments.runs):
        for name, headers in FILES.items():
            times[name].append(seconds(arguments.compiler, headers))
    base = statistics.median(times["the standard headers"])
    for name, runs in times.items():
        median = statistics.median(runs)
        print(f"{name:24} {median:6.2f} s  {median / base:5.2f} of the standard headers")


if __name__ == "__main__":
    main()
