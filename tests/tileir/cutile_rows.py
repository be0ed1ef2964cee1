#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Kernels on rows in cuTile Python (the wheel `cuda-tile`), compiled for a chip without a device, beside schedules::tile_rows:

  cutile_rows.py softmax 4 1024 sm_90 softmax.cubin     rows and columns of a tile; also layer_norm

f32; rows are as long as a tile, one after the other in memory, at multiples of 16 bytes.
"""
import sys

import cuda.tile as ct
from cuda.tile.compilation import ArrayConstraint, CallingConvention, KernelSignature, export_kernel


@ct.kernel
def softmax(X, Y, rows: ct.Constant[int], columns: ct.Constant[int]):
    i = ct.bid(0)
    x = ct.load(X, index=(i, 0), shape=(rows, columns))
    e = ct.exp(x - ct.max(x, axis=1, keepdims=True))
    ct.store(Y, index=(i, 0), tile=e / ct.sum(e, axis=1, keepdims=True))


@ct.kernel
def layer_norm(X, W, B, Y, rows: ct.Constant[int], columns: ct.Constant[int]):
    i = ct.bid(0)
    x = ct.load(X, index=(i, 0), shape=(rows, columns))
    centered = x - ct.sum(x, axis=1, keepdims=True) / columns
    variance = ct.sum(centered * centered, axis=1, keepdims=True) / columns
    w = ct.load(W, index=(0,), shape=(columns,)).reshape((1, columns))
    b = ct.load(B, index=(0,), shape=(columns,)).reshape((1, columns))
    ct.store(Y, index=(i, 0), tile=centered * ct.rsqrt(variance + 1e-5) * w + b)


def main():
    what, rows, columns, chip, path = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4], sys.argv[5]
    def array(rank):
        return ArrayConstraint(ct.float32, rank, index_dtype=ct.int32, stride_lower_bound_incl=0, alias_groups=[],
                               may_alias_internally=False, stride_constant=[None, 1][-rank:], stride_divisible_by=[16, 1][-rank:],
                               shape_divisible_by=[1, columns][-rank:], base_addr_divisible_by=16)
    arrays = [array(2), array(2)] if what == "softmax" else [array(2), array(1), array(1), array(2)]
    signature = KernelSignature(arrays + [rows, columns], CallingConvention.cutile_python_v1(), symbol=what)
    kernel = {"softmax": softmax, "layer_norm": layer_norm}[what]
    export_kernel(kernel, [signature], path, gpu_code=chip, output_format="cubin")


main()
