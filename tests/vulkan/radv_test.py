#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What Mesa's RADV makes of a list of kernels for an AMD chip that is not here: registers, shared memory and the instructions of
the main loop, against goldens with a tolerance. No kernel spills more than its golden says. `explain`'s own estimate of
registers and shared memory is printed beside them.

  radv_test.py --ops ashlar-ops --halves vulkan_halves_gen --compiled vulkan_compiled [--bless]

tests/vulkan/golden/radv.json has the figures. `--bless` writes them anew. Less than the golden is fine up to a tenth: more has to be
blessed, so that the goldens stay what there is. MOST has limits that --bless does not change. Returns 77 where there is no such driver.
"""
import argparse
import json
import os
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "..", "scripts"))
import radv  # noqa: E402

GOLDEN = os.path.join(HERE, "golden", "radv.json")
TOLERANCE = 0.1
SLACK = 4  # instructions, of small counts
CHIP, DRIVER = "navi21", "Mesa 22.3.6"
MOST = {  # instructions of the main loop for 512 multiply-adds
    "matmul f32 1024, matmul": 580,
    "matmul f16 1024, float16, matmul": 620,
    "matmul f16 1024, sums in f16 by fma4, fused_halves": 340,
    "matmul i8 1024, dot8, matmul": 220,
}


def cases(arguments):
    """Name, target, tool, generator, its parameters."""
    for name, target, generator, parameters in of_library():
        yield name, target, arguments.ops, generator, parameters
    yield "matmul f16 1024, sums in f16", "vulkan+float16", arguments.halves, "halves", []
    yield "matmul f16 1024, sums in f16 by fma4", "vulkan+float16", arguments.halves, "fused_halves", []


def of_library():
    for n in ("1024", "1000", "dynamic"):
        extents = [f"{name}={n}" for name in "MNK"]
        for type_ in ("f32", "f16", "i8"):
            yield f"matmul {type_} {n}", "vulkan", "matmul", ["type=" + type_] + extents
        yield f"matmul f16 {n}, float16", "vulkan+float16", "matmul", ["type=f16"] + extents
        yield f"matmul i8 {n}, dot8", "vulkan+dot8", "matmul", ["type=i8"] + extents
        yield f"matmul i8 {n}, dot8, transposed", "vulkan+dot8", "matmul", ["type=i8", "transpose_b=true"] + extents
    yield "matmul f32 1024, 128 threads", "vulkan-128", "matmul", ["M=1024", "N=1024", "K=1024"]
    for name in ("softmax", "transpose", "add"):
        yield name, "vulkan", name, []
    yield "softmax, subgroups", "vulkan+subgroup64", "softmax", []


def figures(case, arguments, folder):
    name, target, tool, generator, parameters = case
    spirv, explained = os.path.join(folder, "kernel.spv"), os.path.join(folder, "explain.txt")
    command = [tool, "--quiet", "-g", generator, "-e", f"spirv={spirv},explain={explained}", "target=" + target]
    done = subprocess.run(command + parameters, capture_output=True, text=True)
    if done.returncode != 0:
        raise radv.Failed(" ".join(command + parameters) + ":\n" + done.stdout + done.stderr)
    told = radv.compiled(spirv, arguments.compiled, CHIP)
    by = radv.driver(told)
    if by != DRIVER:
        raise radv.Absent(f"the figures are those of {DRIVER}, and this is {by}")
    kernels = radv.measured(told)
    with open(explained, encoding="utf-8") as text:
        estimates = estimated(text.read())
    if len(estimates) != len(kernels):
        raise radv.Failed(f"{name}: explain tells of {len(estimates)} launches, the driver of {len(kernels)}")
    return {f"{name}, {kernel}": (found, estimate) for (kernel, found), estimate in zip(kernels.items(), estimates)}


def estimated(text):
    """What explain says of each launch: registers of Scope::registers, bytes of shared memory."""
    found = []
    for part in re.split(r"^launch ", text, flags=re.M)[1:]:
        numbers = [re.search(rf"^  {what}\s+(\d+) of", part, flags=re.M) for what in ("registers", "shared memory")]
        found.append([int(n.group(1)) if n else 0 for n in numbers])
    return found


def differences(name, found, golden):
    if golden is None:
        return [f"{name}: no golden (--bless)"]
    wrong = []
    for what in ("spills", "scratch"):
        if found[what] > golden[what]:
            wrong.append(f"{name}: {found[what]} of {what}, golden {golden[what]}")
    pairs = [(key, found[key], golden[key]) for key in ("registers", "shared")]
    loops = found["loop"] or {}, golden["loop"] or {}
    pairs += [("main loop, " + kind, loops[0].get(kind, 0), loops[1].get(kind, 0)) for kind in {**loops[0], **loops[1]}]
    for what, is_, was in pairs:
        if abs(is_ - was) > max(SLACK, TOLERANCE * was):
            wrong.append(f"{name}: {what}: {is_}, golden {was}")
    return wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--ops", required=True)
    parser.add_argument("--halves", required=True)
    parser.add_argument("--compiled", required=True)
    parser.add_argument("--bless", action="store_true")
    arguments = parser.parse_args()
    found = {}
    with tempfile.TemporaryDirectory() as folder:
        for case in cases(arguments):
            found.update(figures(case, arguments, folder))
    for name, (each, estimate) in found.items():
        print(radv.shown(name, each) + f" [explain: {estimate[0]} registers, {estimate[1]} bytes shared]")
    measured = {name: each for name, (each, _) in found.items()}
    if arguments.bless or os.environ.get("ASHLAR_BLESS") == "1":
        with open(GOLDEN, "w", encoding="utf-8") as out:
            json.dump(measured, out, indent=1, sort_keys=True)
            out.write("\n")
        return
    with open(GOLDEN, encoding="utf-8") as text:
        golden = json.load(text)
    wrong = [line for name, each in measured.items() for line in differences(name, each, golden.get(name))]
    for name, most in MOST.items():
        loop = measured[name]["loop"]
        if loop["all"] * 512 > most * loop["multiplies"]:
            wrong.append(f"{name}: {loop['all']} instructions for {loop['multiplies']} multiply-adds, most {most} for 512")
    wrong += [f"{name}: a golden of no kernel (--bless)" for name in golden if name not in measured]
    if wrong:
        sys.exit("\n".join(wrong))


if __name__ == "__main__":
    try:
        main()
    except radv.Absent as why:
        print("skipped: what RADV makes of kernels:", why)
        sys.exit(77)
    except (radv.Failed, OSError) as problem:
        sys.exit(str(problem))
