#!/usr/bin/env python3
"""Reads a kernel's innermost loop off its assembly: the loop that holds the multiply-adds of a register tile.

  inner_loop.py matmul.s --fma 26 --loads 15 --register zmm      13 x 2 accumulators, 13 elements of A and 2 registers of B
  inner_loop.py int8.s --instruction vpdpbusd --fma 26 --loads 15 --register zmm
  inner_loop.py attention.s --fma 26 --loads 15 --register zmm --tiles 2      two such loops, and any others

Checked: exactly that many of the instruction (vfmadd231ps) on registers of that width in one loop, with so many loads and no other
arithmetic, every accumulator in a register of its own; no store (a spill is one), no load from the stack but the stride of an
address or the end of the loop, no mask. Without --tiles
no other loop may hold the instruction more than four times; with it other counts, and loops with masks, are of no concern.
"""
import argparse
import re
import sys

BRANCH = re.compile(r"\s+j[a-z]+\s+(\S+)")
LABEL = re.compile(r"^(\S+):")


def loops(lines):
    """Innermost loops: from a label to the next branch back to it, with no label or branch between; each with whether its function
    keeps a frame in %rbp, which otherwise is a register like others."""
    labels, framed = {}, False
    for number, line in enumerate(lines):
        if re.match(r"[^\s.#]\S*:", line):
            framed = False
        framed = framed or re.search(r"movq\s+%rsp, %rbp", line) is not None
        label, branch = LABEL.match(line), BRANCH.match(line)
        if label:
            labels = {label.group(1): number}
        elif branch:
            if branch.group(1) in labels:
                yield lines[labels[branch.group(1)] + 1:number + 1], framed
            labels = {}


def reads_memory(line):
    name, _, operands = line.strip().partition("\t")
    return "(" in operands and not operands.endswith(")") and not name.startswith("lea")


def steps_from_frame(line, frame):
    """add, sub or cmp with a stride or a bound in the frame: it replaces the same instruction with a register."""
    name, _, operands = line.strip().partition("\t")
    return name.startswith(("add", "sub", "cmp")) and re.search(frame, operands) is not None


def complaints(loop, instruction, count, loads, register, frame):
    fma = [line for line in loop if re.search(rf"\b{instruction}\b", line)]
    accumulators = [line.split(",")[-1].strip() for line in fma]
    if len(fma) != count:
        yield f"{len(fma)} {instruction}, expected {count}"
    found = sum(reads_memory(line) and not steps_from_frame(line, frame) for line in loop)
    if found != loads:
        yield f"{found} loads, expected {loads}"
    if len(set(accumulators)) != len(accumulators):
        yield "two of them add to one register"
    if not all(a.startswith("%" + register) for a in accumulators):
        yield f"accumulators are not all in {register} registers: {accumulators}"
    for line in loop:
        name, _, operands = line.strip().partition("\t")
        if "{%k" in line:
            yield f"a mask: {line.strip()}"
        if re.search(frame, operands) and name.startswith(("v", "mov")):
            yield f"a spill: {line.strip()}"
        if re.match(r"v?mov|vextract|vmovntps", name) and operands.endswith(")"):
            yield f"a store: {line.strip()}"
        if not re.match(rf"{instruction}|vmovaps|vmovups|vmovdq[au]|vbroadcastss|vpbroadcastd|inc|dec|add|sub|cmp|j|lea|prefetch", name):
            yield f"an instruction that the tile does not need: {line.strip()}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("assembly")
    parser.add_argument("--fma", type=int, required=True)
    parser.add_argument("--loads", type=int, required=True)
    parser.add_argument("--register", required=True)
    parser.add_argument("--tiles", type=int)
    parser.add_argument("--instruction", default="vfmadd231ps")
    options = parser.parse_args()
    with open(options.assembly, encoding="utf-8") as f:
        lines = [re.sub(r"\s*#.*|\{e?vex\}\s*", "", line.rstrip()) for line in f]
    lines = [line for line in lines if line.strip() and not re.match(r"\s+\.", line)]
    tiles = [(loop, framed) for loop, framed in loops(lines) if sum(options.instruction in line for line in loop) > 4]
    if options.tiles is not None:
        tiles = [(loop, framed) for loop, framed in tiles
                 if sum(options.instruction in line for line in loop) == options.fma and not any("{%k" in line or "vmaskmov" in line for line in loop)]
    if len(tiles) != (options.tiles or 1):
        print(f"{options.assembly}: {len(tiles)} loops hold a tile of {options.instruction}, expected {options.tiles or 1}",
              file=sys.stderr)
        return 1
    failed = False
    for loop, framed in tiles:
        stack = r"\(%r[sb]p" if framed else r"\(%rsp"
        for complaint in complaints(loop, options.instruction, options.fma, options.loads, options.register, stack):
            failed = True
            print(f"{options.assembly}: {complaint}", file=sys.stderr)
        print(f"{len(loop)} instructions, {options.fma} of them {options.instruction} on {options.register}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
