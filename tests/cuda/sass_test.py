#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What ptxas makes of a list of kernels: registers, shared memory, stores to global memory by their bits and the instructions of
the main loop, against goldens with a tolerance. No kernel spills more than its golden says.

  sass_test.py --ops ashlar-ops --uses uses_gen --ptxas ptxas --nvdisasm nvdisasm [--bless]

tests/cuda/golden/sass.json has the figures. `--bless` writes them anew. Less than the golden is fine up to a tenth: more has to
be blessed, so that the goldens stay what there is.
"""
import argparse
import json
import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "..", "scripts"))
import sass  # noqa: E402

GOLDEN = os.path.join(HERE, "golden", "sass.json")
TOLERANCE = 0.1
SLACK = 4  # instructions, of small counts


def cases(arguments):
    """Name, tool, generator, its parameters, chip."""
    ops, uses = arguments.ops, arguments.uses
    for chip in ("sm_80", "sm_90a"):
        for type_ in ("bf16", "f16"):
            for n in ("dynamic", "1024", "1000"):
                extents = [f"{name}={n}" for name in "MNK"]
                yield f"matmul {type_} {n}", ops, "matmul", ["type=" + type_] + extents, chip
        yield "matmul i8 dynamic", ops, "matmul", ["type=i8", "transpose_b=true", "M=dynamic", "N=dynamic", "K=dynamic"], chip
        yield "matmul f32 dynamic", ops, "matmul", ["type=f32", "M=dynamic", "N=dynamic", "K=dynamic"], chip
        yield "uses h", uses, "gpu_matmul", [], chip


def figures(case, arguments, folder):
    name, tool, generator, parameters, chip = case
    ptx = os.path.join(folder, "kernel.ptx")
    command = [tool, "-g", generator, "-e", "ptx=" + ptx, "target=cuda-" + chip] + parameters
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        raise sass.Failed(" ".join(command) + ":\n" + done.stdout + done.stderr)
    kernels = sass.measured(ptx, chip, arguments.ptxas, arguments.nvdisasm)
    return {f"{name}, {chip}, {kernel}": found for kernel, found in kernels.items()}


def differences(name, found, golden):
    if golden is None:
        return [f"{name}: no golden (--bless)"]
    wrong = []
    if found["spills"] > golden["spills"] or found["stack"] > golden["stack"]:
        wrong.append(f"{name}: {found['spills']} bytes of spills, {found['stack']} of stack")
    pairs = [(key, found[key], golden[key]) for key in ("registers", "shared")]
    bits = {**found["stores"], **golden["stores"]}
    pairs += [(f"stores of {n} bits", found["stores"].get(n, 0), golden["stores"].get(n, 0)) for n in bits]
    loops = found["loop"] or {}, golden["loop"] or {}
    pairs += [("main loop, " + kind, loops[0].get(kind, 0), loops[1].get(kind, 0)) for kind in {**loops[0], **loops[1]}]
    for what, is_, was in pairs:
        if abs(is_ - was) > max(SLACK, TOLERANCE * was):
            wrong.append(f"{name}: {what}: {is_}, golden {was}")
    return wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    for name in ("ops", "uses", "ptxas", "nvdisasm"):
        parser.add_argument("--" + name, required=True)
    parser.add_argument("--bless", action="store_true")
    arguments = parser.parse_args()
    found = {}
    with tempfile.TemporaryDirectory() as folder:
        for case in cases(arguments):
            found.update(figures(case, arguments, folder))
    for name, each in found.items():
        print(sass.shown(name, each))
    if arguments.bless or os.environ.get("ASHLAR_BLESS") == "1":
        with open(GOLDEN, "w", encoding="utf-8") as out:
            json.dump(found, out, indent=1, sort_keys=True)
            out.write("\n")
        return
    with open(GOLDEN, encoding="utf-8") as text:
        golden = json.load(text)
    wrong = [line for name, each in found.items() for line in differences(name, each, golden.get(name))]
    wrong += [f"{name}: a golden of no kernel (--bless)" for name in golden if name not in found]
    if wrong:
        sys.exit("\n".join(wrong))


if __name__ == "__main__":
    try:
        main()
    except (sass.Failed, OSError) as problem:
        sys.exit(str(problem))
