#!/usr/bin/env python3
"""Faults planted in the text that the back end writes: each must be found, by a result that differs or by what the executor reports.

  planted_test.py ASHLAR_GPU DRIVER

Every case runs once as it is, and passes. A fault is the number of a line among those that match, what matches, and what stands there
instead; one that matches nothing fails the test.
"""
import concurrent.futures
import json
import os
import subprocess
import sys

PRODUCT = "product by a user's instruction, f16, ldmatrix, 3"
RING = "persistent product"
FAULTS = [
    # tensor cores: lanes and registers of fragments
    (PRODUCT, 1, r"(mma\.sync\S+ \{[^}]*\}, \{)(%r\d+), (%r\d+)", "$1$3, $2", "rows of A's fragment swapped"),
    (PRODUCT, 3, r"(mma\.sync\S+ \{[^}]*\}, \{[^}]*\}, \{)(%r\d+), (%r\d+)", "$1$3, $2", "halves of B's fragment swapped"),
    (PRODUCT, 2, r"ldmatrix\.sync\.aligned\.m8n8\.x2\.trans", "ldmatrix.sync.aligned.m8n8.x2", "a transposition left out"),
    (PRODUCT, 1, r"(ldmatrix\.sync\.aligned\.m8n8\.x4\S+ \{)(%r\d+), (%r\d+)", "$1$3, $2", "matrices of ldmatrix swapped"),
    (PRODUCT, 5, r"mma\.sync.*;", ";", "a product left out"),
    # copies and their waits
    (PRODUCT, 1, r"cp\.async\.wait_group 1", "cp.async.wait_group 3", "a wait that waits for too few"),
    (PRODUCT, 1, r"cp\.async\.wait_group \d;", ";", "a missing wait"),
    (PRODUCT, 1, r"\tbar\.sync\s+0;", "\t;", "a missing barrier of a ring"),
    (PRODUCT, 3, r"cp\.async\.commit_group;", ";", "a missing commit"),
    (PRODUCT, 2, r"(cp\.async\S+ \[)(\w+|%r\d+)(\+\d+)?\]", "$1$2+16]", "a destination 16 bytes too far"),
    (PRODUCT, 2, r"(cp\.async\S+ \[[^\]]+\], \[%rd\d+)\]", "$1+8]", "a source that is misaligned"),
    ("pipelined_product", 1, r"cp\.async\.wait_group \d;", ";", "a missing wait of a pipeline"),
    ("pipelined_product", 1, r"bar\.warp\.sync.*;", ";", "a missing barrier of a warp"),
    ("pipelined_product", 1, r"(cp\.async\S+ \[[^\]]+\], \[%rd\d+)\]", "$1+4]", "a source one element too far"),
    # barriers and shared memory
    ("softmax", 1, r"bar\.sync\s+0;", ";", "a missing barrier before a sum"),
    ("softmax", 1, r"(st\.shared\.b32\s+\[%r\w+)\]", "$1+4]", "a store to the next thread's place"),
    ("sum", 1, r"bar\.sync\s+0;", ";", "a missing barrier of a tree"),
    ("sum", 1, r"add\.rn\.f32", "sub.rn.f32", "a sum that subtracts"),
    ("transposition by hand, swizzled", 1, r"bar\.sync\s+0;", ";", "a missing barrier of a transposition"),
    ("transposition by hand, swizzled", 1, r"xor\.b32", "or.b32", "a swizzle that differs between write and read"),
    ("counts_in_shared_memory", 1, r"atom\.shared\.add\.u32(\s+)\S+, (\[[^\]]*\]), (\S+);", "st.shared.u32$1$2, $3;", "an update that is not atomic"),
    ("counts_in_shared_memory", 2, r"bar\.sync\s+0;", ";", "a missing barrier behind atomic operations"),
    # warps
    ("warp_sums of f32", 1, r"(shfl\.sync\.bfly\.b32\s+\S+ \S+ )\d+", "$013", "a butterfly by another distance"),
    ("warp_sums of f32", 1, r"shfl\.sync\.up", "shfl.sync.down", "a shift the wrong way"),
    ("warp_sums of f32", 2, r"(shfl\.sync.*), -1;", "$1, 65535;", "a mask without half of the lanes"),
    # predicates, operands, addresses
    ("argmax", 1, r"setp\.gt\.f32", "setp.lt.f32", "a comparison turned around"),
    ("elementwise", 1, r"@%p1 bra", "@!%p1 bra", "a predicate turned around"),
    ("elementwise", 1, r"mul\.rn\.f32", "add.rn.f32", "another operation"),
    ("elementwise", 1, r"(mul\.wide\.s32\s+\S+ \S+) 4;", "$1 8;", "a stride twice as large"),
    ("transpose", 1, r"%ctaid\.x", "%ctaid.y", "another dimension of the grid"),
    # the ring of tensor maps and wgmma
    (RING, 2, r"cp\.async\.bulk\.tensor\.2d\.shared.*;", ";", "a missing copy of a box"),
    (RING, 1, r"(cp\.async\.bulk\.tensor\.2d\.shared.*\{)(%r\d+), (%r\d+)", "$1$3, $2", "coordinates swapped"),
    (RING, 1, r"mbarrier\.try_wait\.parity.*bra again; \}", "}", "a missing wait for an mbarrier of the ring"),
    (RING, 2, r"mbarrier\.try_wait\.parity\S+ done, (\S+), %r\d+;.*\}", "mov.pred done, 1; }", "a wait for data left out"),
    (RING, 1, r"wgmma\.wait_group\.sync\.aligned 1", "wgmma.wait_group.sync.aligned 2", "memory given back too early"),
    (RING, 1, r"wgmma\.wait_group\.sync\.aligned 0", "wgmma.wait_group.sync.aligned 1", "sums read too early"),
    (RING, 1, r"4611686293305360384", "4611686293305360385", "a descriptor that begins 16 bytes too far"),
    (RING, 2, r"4611686293305360384", "9223372311732748288", "another swizzle in a descriptor"),
    (RING, 1, r"fence\.proxy\.async;", ";", "a missing fence before a bulk store"),
    (RING, 1, r"cp\.async\.bulk\.wait_group\.read 1;", ";", "a missing wait before a store's memory is written again"),
]


def run(gpu, driver, case, plant):
    environment = dict(os.environ, ASHLAR_CUDA_LIBRARY=driver, ASHLAR_NVJITLINK="")
    environment.pop("PTX_EXECUTOR_PLANT", None)
    if plant:
        environment["PTX_EXECUTOR_PLANT"] = plant
    done = subprocess.run([gpu, "--check", case], env=environment, capture_output=True, text=True, check=False)
    results = [json.loads(line) for line in done.stdout.splitlines() if line.startswith('{"case"')]
    return results[0] if results else {"result": f"ended with {done.returncode}"}, done.stderr


def main():
    gpu, driver = sys.argv[1], sys.argv[2]
    wrong = []
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        cases = sorted({fault[0] for fault in FAULTS})
        for case, (result, text) in zip(cases, pool.map(lambda c: run(gpu, driver, c, None), cases)):
            if result["result"] != "passed":
                wrong.append(f"{case}: {result}\n{text}")
        found = pool.map(lambda f: run(gpu, driver, f[0], f"{f[1]}/{f[2]}/{f[3]}"), FAULTS)
        for (case, _, pattern, _, what), (result, text) in zip(FAULTS, found):
            reports = [line for line in text.splitlines() if line.startswith("cu")]
            how = reports[0].split(" in ")[0] if reports else result["result"]
            print(f"{case}: {what}: {how}")
            if "planted: " not in text:
                wrong.append(f"{case}: {what}: nothing matches {pattern}")
            elif result["result"] == "passed":
                wrong.append(f"{case}: {what}: not found\n{text}")
    for line in wrong:
        print(line, file=sys.stderr)
    print(f"{len(FAULTS)} planted faults, {len(wrong)} complaints")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
