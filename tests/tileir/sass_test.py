#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What tileiras makes of programs that are scheduled for tiles: the instructions of each generation of tensor cores.

  sass_test.py --write tileir_write [--cutile PYTHON] [--show]

tileiras is ASHLAR_TILEIRAS or on the PATH, nvdisasm ASHLAR_NVDISASM or on the PATH; without them it skips itself. With a Python
that has cuTile (the wheel `cuda-tile` and what it needs), or one that ASHLAR_CUTILE names, the product is also compiled by that, for the same
tiles, and the instructions of a step are compared, in the loops of all roles of warps: at most 1.05 of its. A step of attention is a
tile of keys: at most 1.1 of its if exponentials are approximated by MUFU.EX2 in both; of causal attention, the mean of the loop
without a mask and of that at the diagonal. There is no bound for ours with the bits of the language's exp (`exact`). A step of a
product whose rows end anywhere is at most 1.1 of one whose rows end at lines.
"""
import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "..", "scripts"))
import sass  # noqa: E402

CHIPS = ["sm_80", "sm_90", "sm_100"]
TILES, WARPS = (128, 256, 64), 8
PRODUCTS = {"product": 16, "product_ragged": 1}  # and what divides their extents; a file for all chips, and one for each
WANTED = {  # of a product
    "sm_80": [r"HMMA\.16816", r"LDGSTS"],
    "sm_90": [r"HGMMA", r"UTMALDG", r"UTMASTG"],
    "sm_100": [r"UTCHMMA", r"UTMALDG", r"UTMASTG"],
}
OF_A_PRODUCT = {"sm_80": 128, "sm_90": 4, "sm_100": 4}  # instructions of tensor cores for TILES, in a warp's code
ELSEWHERE = "sm_90"  # where other programs are assembled
MOST, MOST_OF_ATTENTION, MOST_OF_RAGGED = 1.05, 1.1, 1.1


def attention_tile(chip, length):
    """Queries and keys of a tile, as schedules::tile_attention has them."""
    return (64, 64) if chip != "sm_80" else (64, 32) if length <= 64 else (32, 64)


def skip(why):
    print("skipped: tileir_sass, " + why)
    sys.exit(77)


def figures(cubin, nvdisasm):
    """Of the only kernel: the main loop by kind, and how often each instruction occurs."""
    kernels = sass.kernels_of(sass.run([nvdisasm, "-c", cubin]))
    if len(kernels) != 1:
        raise sass.Failed("expected one kernel in " + cubin + ", found " + ", ".join(kernels))
    body, labels = next(iter(kernels.values()))
    words = {}
    for _, instruction in body:
        word = re.sub(r"^@!?U?P\w+\s+", "", instruction).split()[0]
        words[word] = words.get(word, 0) + 1
    return {"loop": sass.main_loop(body, labels), "roles": sass.role_loops(body, labels), "words": words, "all": len(body),
            **sass.resources(cubin)}


def count(found, pattern):
    return sum(n for word, n in found["words"].items() if re.match(pattern, word))


def line(name, chip, found):
    loop = found["loop"]
    inside = f"; main loop {loop['all']}, {loop['mma']} mma, {loop['local']} local" if loop else ""
    return f"{name:<22} {chip:<7} {found['all']} instructions, {count(found, 'LDL|STL')} local{inside}"


def of_a_tile(chip, length):
    """The instructions of tensor cores, in a warp's code, that one tile of keys needs."""
    queries, keys = attention_tile(chip, length)
    if chip == "sm_80":
        return 2 * (queries // 16) * (keys // 8) * (length // 16) // 4  # HMMA.16816 of each of 4 warps
    return length // 16 + keys // 16  # of 64 rows and 16 terms, all columns


def rest_loops(found, one):
    """Loops over a part of a step: of a product whose last terms are apart."""
    loops = found["roles"]
    return [loop for loop in loops if 0 < loop["mma"] < one] if any(loop["mma"] >= one for loop in loops) else []


def a_step(found, one):
    """The instructions of a step in the loops of all roles; a step is `one` instruction of tensor cores or several."""
    rest = rest_loops(found, one)
    loops = [loop for loop in found["roles"] if loop not in rest]
    return sum(loop["all"] for loop in loops) / max(1, round(sum(loop["mma"] for loop in loops) / one))


def attention(name, chip, own, a, folder, wrong, nvdisasm):
    """Both products by tensor cores, no score in local memory; the instructions of a step beside cuTile's."""
    kind, length = name.split("_")[0], int(name.split("_")[1])
    if not sum(loop["mma"] for loop in own["roles"]):
        wrong.append(f"{name} has no loop with tensor cores")
        return
    inside = sum(loop["local"] for loop in own["roles"])
    if inside and kind != "causal":
        wrong.append(f"{name} has {inside} accesses to local memory in its loops")
    if not a.cutile or kind not in ("attention", "causal", "exact"):
        return
    cubin = os.path.join(folder, "other.cubin")
    sass.run([a.cutile, os.path.join(HERE, "cutile_attention.py")] + [str(n) for n in (*attention_tile(chip, length), length)] +
             ["causal" if kind == "causal" else "all", chip, cubin])
    other = figures(cubin, nvdisasm)
    mine, its = (a_step(found, of_a_tile(chip, length)) for found in (own, other))
    if a.show:
        print(line("  cuTile", chip, other))
        print(f"  a tile of keys: {mine:.0f}, cuTile {its:.0f}, ratio {mine / its:.2f}; {loops(own)} beside {loops(other)}")
    if kind in ("attention", "causal") and mine > MOST_OF_ATTENTION * its:
        wrong.append(f"{name}: {mine:.0f} instructions for a tile of keys, cuTile {its:.0f}")


def loops(found):
    return " + ".join(f"{loop['all']} [{loop['mma']} mma, {loop['exp']} exp]" for loop in found["roles"])


def environment():
    return {k: v for k, v in os.environ.items() if k not in ("CUDA_HOME", "CUDA_PATH")}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--write", required=True)
    parser.add_argument("--cutile", default=os.environ.get("ASHLAR_CUTILE"))
    parser.add_argument("--show", action="store_true")
    a = parser.parse_args()
    tileiras = os.environ.get("ASHLAR_TILEIRAS") or shutil.which("tileiras")
    nvdisasm = os.environ.get("ASHLAR_NVDISASM") or shutil.which("nvdisasm")
    if not tileiras:
        skip("there is no tileiras")
    if not nvdisasm:
        skip("there is no nvdisasm")
    wrong, whole = [], {}
    with tempfile.TemporaryDirectory() as folder:
        sass.run([a.write, folder])
        for name in sorted(os.listdir(folder)):
            stem, cubin = name.removesuffix(".tileirbc"), os.path.join(folder, "kernel.cubin")
            last = "sm_" + stem.rsplit("_sm_", 1)[1] if "_sm_" in stem else None
            kind = stem.removesuffix("_" + last) if last else stem
            for chip in [last] if last else CHIPS if kind in PRODUCTS else [ELSEWHERE]:
                done = subprocess.run([tileiras, "--gpu-name=" + chip, "-o", cubin, os.path.join(folder, name)], env=environment(),
                                      capture_output=True, text=True)
                if done.returncode != 0:
                    wrong.append(f"{stem} for {chip}: tileiras returned {done.returncode}: {done.stdout}{done.stderr}")
                    continue
                own = figures(cubin, nvdisasm)
                if a.show:
                    print(line(stem, chip, own))
                if last and kind not in PRODUCTS:
                    attention(stem, chip, own, a, folder, wrong, nvdisasm)
                if kind not in PRODUCTS:
                    continue
                step = a_step(own, OF_A_PRODUCT[chip])
                if PRODUCTS[kind] > 1:
                    whole[chip] = step
                elif step > MOST_OF_RAGGED * whole[chip]:
                    wrong.append(f"{stem}: {step:.0f} instructions for a step of the loop, {whole[chip]:.0f} where rows end at lines")
                # rows of any length are stored element by element
                wanted = WANTED[chip] if PRODUCTS[kind] > 1 else WANTED[chip][:2]
                wrong += [f"{stem} for {chip} has no {w}" for w in wanted if not count(own, w)]
                if count(own, "LDL|STL"):
                    wrong.append(f"{stem} for {chip} has {count(own, 'LDL|STL')} accesses to local memory")
                if not a.cutile:
                    continue
                sass.run([a.cutile, os.path.join(HERE, "cutile_product.py")] + [str(n) for n in (*TILES, PRODUCTS[kind], WARPS)] + [chip, cubin])
                other = figures(cubin, nvdisasm)
                if a.show:
                    print(line("  cuTile", chip, other))
                mine, its = (a_step(found, OF_A_PRODUCT[chip]) for found in (own, other))
                if a.show:
                    print(f"  a step: {mine:.0f}, cuTile {its:.0f}; {loops(own)} beside {loops(other)}")
                if mine > MOST * its:
                    wrong.append(f"{stem} for {chip}: {mine:.0f} instructions for a step of the loop, cuTile {its:.0f}")
    if not a.cutile:
        print("not compared with cuTile: no Python that has it was named")
    for w in wrong:
        print(w, file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
