#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The product of tests/tileir/programs.h in cuTile Python (the wheel `cuda-tile`), compiled for a chip without a device:

  cutile_product.py 128 256 64 16 8 sm_90 product.cubin

for tiles of 128 x 256 in steps of 64, extents that are multiples of 16, by 8 warps. Rows and addresses are multiples of 16 bytes, as
TileOptions::aligned has them.
"""
import sys

import cuda.tile as ct
from cuda.tile.compilation import ArrayConstraint, CallingConvention, KernelSignature, export_kernel


def product(A, B, C, tm: ct.Constant[int], tn: ct.Constant[int], tk: ct.Constant[int]):
    i, j = ct.bid(0), ct.bid(1)
    sums = ct.full((tm, tn), 0, dtype=ct.float32)
    for k in range(ct.num_tiles(A, axis=1, shape=(tm, tk))):
        a = ct.load(A, index=(i, k), shape=(tm, tk), padding_mode=ct.PaddingMode.ZERO)
        b = ct.load(B, index=(k, j), shape=(tk, tn), padding_mode=ct.PaddingMode.ZERO)
        sums = ct.mma(a, b, sums)
    ct.store(C, index=(i, j), tile=sums.astype(ct.bfloat16))


def kernel(warps):
    return ct.kernel(product, num_worker_warps=warps)


def main():
    tm, tn, tk, unit = (int(n) for n in sys.argv[1:5])
    chip, path = sys.argv[6:8]
    rows = ArrayConstraint(ct.bfloat16, 2, index_dtype=ct.int32, stride_lower_bound_incl=0, alias_groups=[],
                           may_alias_internally=False, stride_constant=[None, 1], stride_divisible_by=[8, 1],
                           shape_divisible_by=unit, base_addr_divisible_by=16)
    signature = KernelSignature([rows, rows, rows, tm, tn, tk], CallingConvention.cutile_python_v1(), symbol="product")
    export_kernel(kernel(int(sys.argv[5])), [signature], path, gpu_code=chip, output_format="cubin")


if __name__ == "__main__":
    main()
