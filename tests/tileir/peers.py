#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The same kernels by Ashlar's tiles, by cuTile Python and by Triton, with the same tiles, as machine code; no device is needed.

  peers.py --write tileir_write --cutile PYTHON --triton PYTHON             prints a table
  peers.py ... --json docs/measurements/tiles/peers.json                    writes the figures; scripts/measured_tables.py makes a page's table
  peers.py ... --check docs/measurements/tiles/peers.json                   1 where versions are the same and figures are not

tileiras is ASHLAR_TILEIRAS or on the PATH, nvdisasm ASHLAR_NVDISASM or on the PATH; without them it skips itself. PYTHON has the wheel
`cuda-tile` (or ASHLAR_CUTILE names it), or `triton` (ASHLAR_TRITON). Without one, that side is skipped by name.

A step is a tile of k of a product, or a tile of keys. Its instructions are those of the loops of all roles of warps. A kernel on rows
has no loop, and is counted whole.
"""
import argparse
import concurrent.futures
import json
import os
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.dont_write_bytecode = True
sys.path[:0] = [HERE, os.path.join(HERE, "..", "..", "scripts")]
import sass  # noqa: E402
import sass_test  # noqa: E402
import measured_tables  # noqa: E402

ROW = (4, 1024)
SIDES = ["Ashlar", "cuTile", "Triton"]


def cases():
    """(kernel, chip, tile, the file that tileir_write writes, arguments for cuTile, for Triton, tensor-core instructions of a step)"""
    for chip in sass_test.CHIPS:
        m, n, k = sass_test.TILES
        yield "product", chip, f"{m} x {n} x {k}", "product", ["cutile_product.py", m, n, k, 16, sass_test.WARPS, chip], \
            ["product", chip, m, n, k], sass_test.OF_A_PRODUCT[chip]
        yield "product, rows of any length", chip, f"{m} x {n} x {k}", "product_ragged_" + chip, \
            ["cutile_product.py", m, n, k, 1, sass_test.WARPS, chip], None, sass_test.OF_A_PRODUCT[chip]
        for kind in ("attention", "causal"):
            for d in (64, 128):
                queries, keys = sass_test.attention_tile(chip, d)
                yield f"{kind}, D = {d}", chip, f"{queries} x {keys}", f"{kind}_{d}_{chip}", \
                    ["cutile_attention.py", queries, keys, d, "causal" if kind == "causal" else "all", chip], \
                    [kind, chip, queries, keys, d], sass_test.of_a_tile(chip, d)
        for kind in ("softmax", "layer_norm"):
            yield kind, chip, f"{ROW[0]} x {ROW[1]}", "row_" + kind, ["cutile_rows.py", kind, *ROW, chip], [kind, chip, *ROW], None


def of_kernel(cubin, nvdisasm, step):
    found = sass_test.figures(cubin, nvdisasm)
    result = {"all": found["all"], "registers": found["registers"], "stack": found["stack"], "local": sass_test.count(found, "LDL|STL")}
    if step:
        loops = found["roles"]
        result |= {"step": round(sass_test.a_step(found, step)), "mma": step, "local_in_loops": sum(loop["local"] for loop in loops),
                   "loops": [{"all": loop["all"], "mma": loop["mma"]} for loop in loops]}
        if not any(loop["mma"] for loop in loops):
            raise sass.Failed(cubin + " has no loop with tensor cores")
    return result


def versions(a, tileiras):
    said = sass.run([tileiras, "--version"]).split("release ")[-1].split(",")[0].split()[0]
    found = {"tileiras": said}
    for side, python, wheel in (("cuTile", a.cutile, "cuda-tile"), ("Triton", a.triton, "triton")):
        if python:
            found[side] = sass.run([python, "-c", f"import importlib.metadata as m; print(m.version({wheel!r}))"]).strip()
    return found


def measured(a, tileiras, nvdisasm):
    commands = []
    with tempfile.TemporaryDirectory() as folder:
        sass.run([a.write, folder])
        for number, (_, chip, _, stem, cutile, triton, step) in enumerate(cases()):
            def add(side, command, place):
                cubin = os.path.join(folder, f"{number}_{side}.cubin")
                command[place:place] = [cubin]
                commands.append((number, side, [str(c) for c in command], cubin, step))
            add("Ashlar", [tileiras, "--gpu-name=" + chip, "-o", os.path.join(folder, stem + ".tileirbc")], 3)
            if a.cutile:
                add("cuTile", [a.cutile, os.path.join(HERE, cutile[0]), *cutile[1:]], len(cutile) + 1)
            if a.triton and triton:
                add("Triton", [a.triton, os.path.join(HERE, "triton_kernels.py"), *triton], 4)

        def run(each):
            number, side, command, cubin, step = each
            done = subprocess.run(command, env=sass_test.environment(), capture_output=True, text=True)
            if done.returncode != 0:
                raise sass.Failed(" ".join(command) + ":\n" + done.stdout + done.stderr)
            return number, side, of_kernel(cubin, nvdisasm, step)

        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            found = list(pool.map(run, commands))
    kernels = [{"kernel": kernel, "chip": chip, "tile": tile, "by": {}} for kernel, chip, tile, *_ in cases()]
    for number, side, figures in found:
        kernels[number]["by"][side] = figures
    return {"versions": versions(a, tileiras), "kernels": kernels}


def differences(stored, found):
    if stored["versions"] != found["versions"]:
        print("not compared: stored are the figures of", stored["versions"], "- found are", found["versions"])
        return []
    return [f"{s['kernel']}, {s['chip']}, {side}: stored {s['by'].get(side)}, found {f['by'].get(side)}"
            for s, f in zip(stored["kernels"], found["kernels"], strict=True) for side in SIDES if s["by"].get(side) != f["by"].get(side)]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--write", required=True)
    parser.add_argument("--cutile", default=os.environ.get("ASHLAR_CUTILE"))
    parser.add_argument("--triton", default=os.environ.get("ASHLAR_TRITON"))
    parser.add_argument("--json")
    parser.add_argument("--check")
    a = parser.parse_args()
    tileiras = os.environ.get("ASHLAR_TILEIRAS") or shutil.which("tileiras")
    nvdisasm = os.environ.get("ASHLAR_NVDISASM") or shutil.which("nvdisasm")
    for name, path in (("tileiras", tileiras), ("nvdisasm", nvdisasm)):
        if not path:
            print("skipped: tileir_peers, there is no " + name)
            return 77
    for side, python in (("cuTile", a.cutile), ("Triton", a.triton)):
        if not python:
            print(f"skipped: {side}, no Python that has it was named")
    try:
        found = measured(a, tileiras, nvdisasm)
    except (sass.Failed, OSError) as wrong:
        sys.exit(str(wrong))
    print("\n".join(measured_tables.beside_peers(found)))
    if a.json:
        with open(a.json, "w") as out:
            out.write(json.dumps(found, indent=1) + "\n")
    if a.check:
        with open(a.check) as stored:
            wrong = differences(json.load(stored), found)
        for w in wrong:
            print(w, file=sys.stderr)
        return 1 if wrong else 0
    return 0


if __name__ == "__main__":
    sys.exit(main())
