#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Kernels in Triton (the wheel `triton`), compiled for a chip without a device, beside the same of Ashlar's families for tiles:

  triton_kernels.py product sm_90 product.cubin 128 256 64        a tile of sums, terms of a step; 8 warps
  triton_kernels.py softmax sm_90 softmax.cubin 4 1024            rows and columns of a tile; also layer_norm
  triton_kernels.py attention sm_90 attention.cubin 64 64 128     queries and keys of a tile, length of a value; also causal

Products and attention are in bf16 with sums in f32, and load through descriptors, which are TMA from sm_90 on. Rows are f32. Strides
are multiples of 16 elements, addresses of 16 bytes.
"""
import os
import sys

os.environ.setdefault("TRITON_DEFAULT_FP_FUSION", "1")  # products and sums become fma, as its users have it

import triton
import triton.language as tl
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource


@triton.jit
def product(a, b, c, M, N, K, stride_a, stride_b, stride_c, TM: tl.constexpr, TN: tl.constexpr, TK: tl.constexpr):
    i, j = tl.program_id(0) * TM, tl.program_id(1) * TN
    left = tl.make_tensor_descriptor(a, [M, K], [stride_a, 1], [TM, TK])
    right = tl.make_tensor_descriptor(b, [K, N], [stride_b, 1], [TK, TN])
    result = tl.make_tensor_descriptor(c, [M, N], [stride_c, 1], [TM, TN])
    sums = tl.zeros((TM, TN), tl.float32)
    for k in range(0, K, TK):
        sums = tl.dot(left.load([i, k]), right.load([k, j]), sums)
    result.store([i, j], sums.to(tl.bfloat16))


@triton.jit
def rows_of(x, R, TR: tl.constexpr, C: tl.constexpr):
    row = tl.program_id(0) * TR + tl.arange(0, TR)[:, None]
    return row * C + tl.arange(0, C)[None, :], row < R


@triton.jit
def softmax(x, y, R, TR: tl.constexpr, C: tl.constexpr):
    at, inside = rows_of(x, R, TR, C)
    row = tl.load(x + at, mask=inside, other=0)
    e = tl.exp(row - tl.max(row, 1)[:, None])
    tl.store(y + at, e / tl.sum(e, 1)[:, None], mask=inside)


@triton.jit
def layer_norm(x, weight, bias, y, R, TR: tl.constexpr, C: tl.constexpr):
    at, inside = rows_of(x, R, TR, C)
    column = tl.arange(0, C)
    row = tl.load(x + at, mask=inside, other=0)
    centered = row - tl.sum(row, 1)[:, None] / C
    variance = tl.sum(centered * centered, 1)[:, None] / C
    scaled = centered * tl.rsqrt(variance + 1e-5)
    tl.store(y + at, scaled * tl.load(weight + column)[None, :] + tl.load(bias + column)[None, :], mask=inside)


@triton.jit
def attention(q, k, v, y, heads, M, N, scale, batch_q, head_q, row_q, batch_k, head_k, row_k, TM: tl.constexpr, TN: tl.constexpr,
              D: tl.constexpr, CAUSAL: tl.constexpr):
    i, b, h = tl.program_id(0) * TM, tl.program_id(1) // heads, tl.program_id(1) % heads
    of_q, of_k = b * batch_q + h * head_q, b * batch_k + h * head_k
    queries = tl.make_tensor_descriptor(q + of_q, [M, D], [row_q, 1], [TM, D])
    keys = tl.make_tensor_descriptor(k + of_k, [N, D], [row_k, 1], [TN, D])
    values = tl.make_tensor_descriptor(v + of_k, [N, D], [row_k, 1], [TN, D])
    result = tl.make_tensor_descriptor(y + of_q, [M, D], [row_q, 1], [TM, D])
    own = queries.load([i, 0])
    top = tl.full((TM,), float("-inf"), tl.float32)
    total = tl.zeros((TM,), tl.float32)
    sums = tl.zeros((TM, D), tl.float32)
    row = i + tl.arange(0, TM)[:, None]
    end = tl.minimum(N, i + TM) if CAUSAL else N
    for j in range(0, end, TN):
        scores = tl.dot(own, keys.load([j, 0]).T)
        if CAUSAL:
            scores = tl.where(row >= j + tl.arange(0, TN)[None, :], scores, float("-inf"))
        now = tl.maximum(top, tl.max(scores, 1) * scale)
        p = tl.exp2(scores * scale - now[:, None])
        by = tl.exp2(top - now)
        total = total * by + tl.sum(p, 1)
        sums = tl.dot(p.to(tl.bfloat16), values.load([j, 0]), sums * by[:, None])
        top = now
    result.store([i, 0], (sums / total[:, None]).to(tl.bfloat16))


def compiled(kernel, types, constants, chip, warps):
    """types: of the arguments that are no constants; pointers and strides are multiples of 16."""
    names = kernel.arg_names
    signature = {n: types.get(n, "constexpr") for n in names}
    attributes = {(i,): [["tt.divisibility", 16]] for i, n in enumerate(names)
                  if types.get(n, "").startswith("*") or n.split("_")[0] in ("stride", "batch", "head", "row", "M", "N", "K")}
    source = ASTSource(kernel, signature, {n: constants[n] for n in names if n not in types}, attributes)
    return triton.compile(source, target=GPUTarget("cuda", int(chip.removeprefix("sm_")), 32), options={"num_warps": warps}).asm["cubin"]


def cubin_of(what, chip, n):
    number = dict.fromkeys(("M", "N", "K", "R", "heads", "stride_a", "stride_b", "stride_c", "batch_q", "head_q", "row_q", "batch_k",
                            "head_k", "row_k"), "i32")
    half, single = dict.fromkeys("abcqkvy", "*bf16"), dict.fromkeys(("x", "y", "weight", "bias"), "*fp32")
    if what == "product":
        return compiled(product, half | number, {"TM": n[0], "TN": n[1], "TK": n[2]}, chip, 8)
    if what in ("softmax", "layer_norm"):
        return compiled({"softmax": softmax, "layer_norm": layer_norm}[what], single | number, {"TR": n[0], "C": n[1]}, chip, 4)
    if what in ("attention", "causal"):
        return compiled(attention, half | number | {"scale": "fp32"}, {"TM": n[0], "TN": n[1], "D": n[2], "CAUSAL": what == "causal"}, chip, 4)
    sys.exit("triton_kernels.py: expected product, softmax, layer_norm, attention or causal, found " + what)


def main():
    if len(sys.argv) < 6:
        sys.exit(__doc__)
    with open(sys.argv[3], "wb") as out:
        out.write(cubin_of(sys.argv[1], sys.argv[2], [int(n) for n in sys.argv[4:]]))


if __name__ == "__main__":
    main()
