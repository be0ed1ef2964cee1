#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Attention in cuTile Python (the wheel `cuda-tile`), compiled for a chip without a device, beside schedules::tile_attention:

  cutile_attention.py 64 64 64 causal sm_90 attention.cubin

for tiles of 64 queries and 64 keys, 64 numbers in each, causal or all. One pass over the keys with a running maximum,
approximate exponentials to the base 2 whose scale is part of an fma, both products in bf16 with sums in f32. Causal: tiles that no
query of the block sees are not computed. Lengths are multiples of 64, rows and addresses of 16 bytes.
"""
import math
import sys

import cuda.tile as ct
from cuda.tile.compilation import ArrayConstraint, CallingConvention, KernelSignature, ScalarConstraint, export_kernel


@ct.kernel
def attention(Q, K, V, Y, heads: int, scale: float, tm: ct.Constant[int], tn: ct.Constant[int], d: ct.Constant[int],
              causal: ct.Constant[bool]):
    i, head = ct.bid(0), ct.bid(1)
    b, h = head // heads, head % heads
    q = ct.load(Q, index=(b, h, i, 0), shape=(1, 1, tm, d)).reshape((tm, d))
    top = ct.full((tm, 1), -math.inf, dtype=ct.float32)
    total = ct.full((tm, 1), 0.0, dtype=ct.float32)
    sums = ct.full((tm, d), 0.0, dtype=ct.float32)
    rows = i * tm + ct.arange(tm, dtype=ct.int32)[:, None]
    keys = ct.arange(tn, dtype=ct.int32)[None, :]
    tiles = ct.num_tiles(K, axis=2, shape=(1, 1, tn, d))
    if causal:
        tiles = min(tiles, ct.cdiv((i + 1) * tm, tn))
    for j in range(tiles):
        k = ct.load(K, index=(b, h, 0, j), shape=(1, 1, d, tn), order=(0, 1, 3, 2)).reshape((d, tn))
        scores = ct.mma(q, k, ct.full((tm, tn), 0.0, dtype=ct.float32))
        if causal:
            scores = ct.where(rows >= j * tn + keys, scores, -math.inf)
        now = ct.maximum(top, ct.max(scores, axis=1, keepdims=True) * scale)
        p = ct.exp2(scores * scale - now, flush_to_zero=True)
        by = ct.exp2(top - now, flush_to_zero=True)
        total = total * by + ct.sum(p, axis=1, keepdims=True)
        v = ct.load(V, index=(b, h, j, 0), shape=(1, 1, tn, d)).reshape((tn, d))
        sums = ct.mma(p.astype(ct.bfloat16), v, sums * by)
        top = now
    y = ct.where(total == 0.0, 0.0, sums / total)
    ct.store(Y, index=(b, h, i, 0), tile=y.astype(ct.bfloat16).reshape((1, 1, tm, d)))


def main():
    tm, tn, d = (int(n) for n in sys.argv[1:4])
    causal, chip, path = sys.argv[4] == "causal", sys.argv[5], sys.argv[6]
    array = ArrayConstraint(ct.bfloat16, 4, index_dtype=ct.int32, stride_lower_bound_incl=0, alias_groups=[],
                            may_alias_internally=False, stride_constant=[None, None, None, 1], stride_divisible_by=[8, 8, 8, 1],
                            shape_divisible_by=[1, 1, 64, 64], base_addr_divisible_by=16)
    signature = KernelSignature([array, array, array, array, ScalarConstraint(ct.int32), ScalarConstraint(ct.float32), tm, tn, d, causal],
                                CallingConvention.cutile_python_v1(), symbol="attention")
    export_kernel(attention, [signature], path, gpu_code=chip, output_format="cubin")


if __name__ == "__main__":
    main()
