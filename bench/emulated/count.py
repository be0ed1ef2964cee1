#!/usr/bin/env python3
"""Instructions executed per multiply-add of matrix products on processors that run in an emulator.

usage: count.py --generator MATMUL_GENERATOR [--size N] [--json FILE] [--filter TEXT] [--ours [--at-most NAME=COUNT]...]

Each row is a product n x n x n, row-major: Ashlar's object for the target, gcc -O3 on plain loops, and a library's kernel, where
the library is installed (Eigen in f32, gemmlowp in int8), compiled for the same processor. Every program first checks its product
against plain sums of doubles, on random matrices. The count is that of one call, packing included: the difference between runs of
one and of two calls, by a plugin of qemu's (count.c). An emulator counts; it does not time. With --ours no library is measured,
and --at-most "matmul aarch64=0.45" fails where more than that is executed: counts are the same in every run. The exit code is 77 where a row was skipped.
"""
import argparse
import json
import math
import os
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))

# name, target of the generator, compiler, its options, emulator and its options
A64 = ("aarch64-linux-gnu", ["qemu-aarch64"])
A32 = ("arm-linux-gnueabihf", ["qemu-arm"])
ROWS = [
    ("f32", "matmul", "aarch64", A64, ["-march=armv8-a"]),
    ("f32", "matmul", "armv7+vfp4+flush", A32, ["-march=armv7-a", "-mfpu=neon-vfpv4"]),
    ("s8", "matmul_s8s8", "aarch64", A64, ["-march=armv8-a"]),
    ("s8", "matmul_s8s8", "aarch64+dotprod", A64, ["-march=armv8.2-a+dotprod"]),
    ("s8", "matmul_s8s8", "aarch64+i8mm", A64, ["-march=armv8.2-a+dotprod+i8mm"]),
]
PEERS = {"f32": [("gcc -O3", "peer_loops.c"), ("Eigen", "peer_eigen.cpp")], "s8": [("gcc -O3", "peer_loops.c"), ("gemmlowp", "peer_gemmlowp.cpp")]}
HEADERS = {"Eigen": ("-I/usr/include/eigen3", "Eigen/Core"), "gemmlowp": ("-I/usr/include/gemmlowp", "public/gemmlowp.h")}


def run(*command):
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"count.py: {' '.join(command)}\n{done.stdout}{done.stderr}")
    return done


def instructions(emulator, plugin, program, repeats):
    return int(run(*emulator, "-plugin", plugin, program, str(repeats)).stderr.split()[-1])


def missing(tools):
    return [t for t in tools if not shutil.which(t)]


def measure(row, options, folder, plugin):
    kind, generator, target, (triple, emulator), machine = row
    lacks = missing([triple + "-gcc", *emulator] + ([] if options.ours else [triple + "-g++"]))
    if lacks:
        return {"skipped": "not found: " + ", ".join(lacks)}
    common = ["-O3", *machine, "-static", "-D" + kind.upper(), f"-DSIZE={options.size}", "-I" + HERE]
    out = os.path.join(folder, generator + "_" + target)
    run(options.generator, "-g", generator, "-f", "matmul", "-o", out, "-e", "object,header,assembly", "target=" + target)
    main, ours = os.path.join(out, "main.o"), os.path.join(out, "ours")
    run(triple + "-gcc", *common, "-std=c11", "-c", "-o", main, os.path.join(HERE, "main.c"))
    run(triple + "-gcc", *common, "-std=c11", "-Wl,--gc-sections", "-I" + out, "-o", ours, os.path.join(HERE, "ours.c"), main, os.path.join(out, "matmul.o"), "-lm")
    programs = {"ashlar": ours}
    for name, source in [] if options.ours else PEERS[kind]:
        compiler, extra = triple + "-gcc", ["-std=c11"]
        if source.endswith(".cpp"):
            compiler, extra = triple + "-g++", ["-std=c++17", "-DNDEBUG", "-w", HEADERS[name][0]]
            if not os.path.exists(os.path.join(HEADERS[name][0][2:], HEADERS[name][1])):
                print(f"skipped: {name} on {target}, its headers are not installed")
                continue
        part, program = os.path.join(out, "peer.o"), os.path.join(out, name.split()[0])
        run(compiler, *common, *extra, "-c", "-o", part, os.path.join(HERE, source))
        run(triple + "-g++", *common, "-o", program, part, main, "-lm", "-lpthread")
        programs[name] = program
    counts = {name: instructions(emulator, plugin, program, 2) - instructions(emulator, plugin, program, 1) for name, program in programs.items()}
    return {name: count / options.size**3 for name, count in counts.items()}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--generator", required=True)
    parser.add_argument("--size", type=int, default=256)
    parser.add_argument("--filter", default="")
    parser.add_argument("--json")
    parser.add_argument("--ours", action="store_true")
    parser.add_argument("--at-most", action="append", default=[], metavar="NAME=COUNT")
    options = parser.parse_args()
    most = dict((text.rsplit("=", 1)[0], float(text.rsplit("=", 1)[1])) for text in options.at_most)
    unknown = set(most) - {f"{row[1]} {row[2]}" for row in ROWS}
    if unknown:
        parser.error(f"--at-most: no row {sorted(unknown)[0]}")
    if options.size < 1:
        parser.error("--size: expected 1 or more")
    results, too_many = [], []
    with tempfile.TemporaryDirectory() as folder:
        plugin = os.path.join(folder, "count.so")
        run("cc", "-std=c11", "-O2", "-Wall", "-Wextra", "-shared", "-fPIC", "-o", plugin, os.path.join(HERE, "count.c"))
        for row in ROWS:
            name = f"{row[1]} {row[2]}"
            if options.filter not in name:
                continue
            found = measure(row, options, folder, plugin)
            results.append({"kernel": row[1], "target": row[2], "size": options.size, **found})
            if "skipped" in found:
                print(f"skipped: {name}, {found['skipped']}")
                continue
            print(f"{name:32}" + "  ".join(f"{peer} {count:.4f}" for peer, count in found.items()), flush=True)
            if found["ashlar"] > most.get(name, math.inf):
                too_many.append(f"{name}: {found['ashlar']:.4f} instructions a multiply-add, expected at most {most[name]}")
    if options.json:
        with open(options.json, "w", encoding="utf-8") as file:
            json.dump(results, file, indent=2)
    if too_many:
        sys.exit("\n".join(too_many))
    if options.ours and any("skipped" in r for r in results):
        sys.exit(77)


if __name__ == "__main__":
    main()
