#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What ptxas makes of a list of kernels: registers, shared memory, stores to global memory by their bits and the instructions of
the main loop, against goldens with a tolerance. No kernel spills more than its golden says.

  sass_test.py --ops ashlar-ops --uses uses_gen --products cuda_products_gen --ptxas ptxas --nvdisasm nvdisasm [--match WORD] [--bless]

tests/cuda/golden/sass.json has the figures. `--bless` writes them anew, those of the cases that have the WORD if one is given. Less than the golden is fine up to a tenth: more has to
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
MOST_AN_ELEMENT = {"f32": 8, "bf16": 8, "f16": 8, "i8": 8}  # instructions, of a sum of two tensors whose rows are aligned
BYTES = {"f32": 4, "bf16": 2, "f16": 2, "i8": 1}


def cases(arguments):
    """Name, tool, generator, its parameters, chip."""
    ops, uses, products = arguments.ops, arguments.uses, arguments.products
    for chip in ("sm_80", "sm_90a"):
        for type_ in ("bf16", "f16"):
            for n in ("dynamic", "1024", "1000"):
                extents = [f"{name}={n}" for name in "MNK"]
                yield f"matmul {type_} {n}", ops, "matmul", ["type=" + type_] + extents, chip
        for stages in (3, 5):
            yield f"ring of {stages}", products, "product", [f"stages={stages}", "M=1024", "N=1024", "K=1024"], chip
        yield "matmul i8 dynamic", ops, "matmul", ["type=i8", "transpose_b=true", "M=dynamic", "N=dynamic", "K=dynamic"], chip
        yield "matmul f32 dynamic", ops, "matmul", ["type=f32", "M=dynamic", "N=dynamic", "K=dynamic"], chip
        yield "uses h", uses, "gpu_matmul", [], chip
        for type_ in MOST_AN_ELEMENT:
            yield f"elements {type_}", ops, "add", ["type=" + type_], chip
            yield f"elements {type_}, one dimension", ops, "add", ["type=" + type_, "a=N"], chip
        yield "elements f32, gelu", ops, "gelu", ["type=f32"], chip
        for type_ in ("f32", "bf16"):
            yield f"rows {type_}, softmax", ops, "softmax", ["type=" + type_], chip
        yield "rows f32, layer_norm", ops, "layer_norm", ["type=f32"], chip
        for type_ in ("bf16", "f16"):
            yield f"attention {type_}", ops, "attention", ["type=" + type_], chip
        yield "attention bf16, causal", ops, "attention", ["type=bf16", "causal=last", "finite=true"], chip
        yield "attention bf16, causal, any v", ops, "attention", ["type=bf16", "causal=last"], chip
        yield "attention bf16, D = E = 128", ops, "attention", ["type=bf16", "D=128", "E=128"], chip
        for layout in ("nchw", "nhwc"):
            yield f"conv2d f32, {layout}", ops, "conv2d", ["type=f32", "padding=1", "layout=" + layout], chip
        for type_ in ("bf16", "f16"):
            narrow = ["type=" + type_, "padding=1", "layout=nhwc", "C=64", "O=64"]
            yield f"conv2d {type_}, nhwc, 64 channels", ops, "conv2d", narrow, chip
        yield "conv2d bf16, nhwc, strides", ops, "conv2d", ["type=bf16", "padding=1", "layout=nhwc", "C=64", "O=64", "stride=2"], chip
        yield "conv2d bf16, nhwc, groups", ops, "conv2d", ["type=bf16", "padding=1", "layout=nhwc", "C=64", "O=64", "groups=2"], chip
        yield "conv2d bf16, nchw, 64 channels", ops, "conv2d", ["type=bf16", "padding=1", "C=64", "O=64"], chip
        yield "conv1d bf16, nwc, 64 channels", ops, "conv1d", ["type=bf16", "padding=1", "layout=nwc", "C=64", "O=64"], chip
        yield "reduction f32", ops, "reduce_sum", ["type=f32", "shape=N", "axes=all"], chip


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
    paths = found.get("path") or {}, golden.get("path") or {}
    pairs += [("path, " + kind, paths[0].get(kind, 0), paths[1].get(kind, 0)) for kind in {**paths[0], **paths[1]}]
    for what, is_, was in pairs:
        if abs(is_ - was) > max(SLACK, TOLERANCE * was):
            wrong.append(f"{name}: {what}: {is_}, golden {was}")
    return wrong


def above_the_most(name, found):
    """Of the kernel that aligned calls take, which is the first of a program: accesses of 16 bytes, few instructions."""
    case = name.split(",")[0].split()
    kernel = name.rsplit(", ", 1)[1]
    if case[0] != "elements" or "gelu" in name or kernel.endswith("_2"):
        return []
    path = found["path"]
    if path is None or path["widest"] != 16:
        return [f"{name}: no accesses of 16 bytes"]
    each = path["all"] / (path["stored"] / BYTES[case[1]])
    most = MOST_AN_ELEMENT[case[1]]
    return [f"{name}: {each:.1f} instructions an element, more than {most}"] if each > most else []


def slower_inside(found):
    """Blocks that lie inside a ragged product take at most a twentieth more instructions than those of a product of whole tiles."""
    wrong = []
    for name, each in found.items():
        whole = found.get(name.replace(" 1000, ", " 1024, "))
        if " 1000, " not in name or name.endswith("_2") or whole is None:
            continue
        inside, most = each["loop"]["path"], whole["loop"]["path"] * 1.05
        if inside > most:
            wrong.append(f"{name}: {inside} instructions inside, more than {most:.0f}")
    return wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    for name in ("ops", "uses", "products", "ptxas", "nvdisasm"):
        parser.add_argument("--" + name, required=True)
    parser.add_argument("--match", default="")
    parser.add_argument("--bless", action="store_true")
    arguments = parser.parse_args()
    found = {}
    with tempfile.TemporaryDirectory() as folder:
        for case in cases(arguments):
            if arguments.match not in case[0]:
                continue
            found.update(figures(case, arguments, folder))
    for name, each in found.items():
        print(sass.shown(name, each))
    with open(GOLDEN, encoding="utf-8") as text:
        golden = json.load(text)
    others = {name: each for name, each in golden.items() if arguments.match not in name.split(", sm_")[0]}
    if arguments.bless or os.environ.get("ASHLAR_BLESS") == "1":
        with open(GOLDEN, "w", encoding="utf-8") as out:
            json.dump({**others, **found}, out, indent=1, sort_keys=True)
            out.write("\n")
        return
    golden = {name: each for name, each in golden.items() if name not in others}
    wrong = [line for name, each in found.items() for line in above_the_most(name, each)]
    wrong += slower_inside(found)
    wrong += [line for name, each in found.items() for line in differences(name, each, golden.get(name))]
    wrong += [f"{name}: a golden of no kernel (--bless)" for name in golden if name not in found]
    if wrong:
        sys.exit("\n".join(wrong))


if __name__ == "__main__":
    try:
        main()
    except (sass.Failed, OSError) as problem:
        sys.exit(str(problem))
