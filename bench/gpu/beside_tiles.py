# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The rows of tiles in cuTile Python and in Triton, for beside_torch.py: kernels of tests/tileir, which in a pack lie beside this file.

    found = Peers(torch)          found.absent: {"cutile": "No module named 'cuda'"}: what is not on this machine, and why
    found.calls("triton", "product", tensors, stream)     functions, one for each size of tiles: the fastest one counts
"""
import importlib
import math
import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
PRODUCTS = [(128, 256, 64, 8), (128, 128, 64, 4)]  # rows, columns, terms, warps
ATTENTION = [(64, 64, 4), (128, 64, 8)]  # queries, keys, warps


def up(a, b):
    return -(-a // b)


class Triton:
    def __init__(self, torch):
        import triton
        self.kernels = importlib.import_module("triton_kernels")
        triton.set_allocator(lambda size, _alignment, _stream: torch.empty(size, device="cuda", dtype=torch.int8))  # for descriptors

    def product(self, a, b, c, _stream):
        (m, k), n = a.shape, b.shape[1]
        for tm, tn, tk, warps in PRODUCTS:
            yield lambda tm=tm, tn=tn, tk=tk, warps=warps: self.kernels.product[(up(m, tm), up(n, tn))](
                a, b, c, m, n, k, a.stride(0), b.stride(0), c.stride(0), tm, tn, tk, num_warps=warps)

    def attention(self, q, k, v, y, _stream, causal=False):
        heads, m, d = q.shape[1:]
        for tm, tn, warps in ATTENTION:
            yield lambda tm=tm, tn=tn, warps=warps: self.kernels.attention[(up(m, tm), q.shape[0] * heads)](
                q, k, v, y, heads, m, k.shape[2], math.log2(math.e) / math.sqrt(d), *q.stride()[:3], *k.stride()[:3], tm, tn, d, causal,
                num_warps=warps)


class CuTile:
    def __init__(self, _torch):
        import cuda.tile
        self.launch = cuda.tile.launch
        self.products = importlib.import_module("cutile_product")
        self.kernels = importlib.import_module("cutile_attention")

    def product(self, a, b, c, stream):
        for tm, tn, tk, warps in PRODUCTS:
            kernel = self.products.kernel(warps)
            yield lambda tm=tm, tn=tn, tk=tk, kernel=kernel: self.launch(
                stream, (up(a.shape[0], tm), up(b.shape[1], tn), 1), kernel, (a, b, c, tm, tn, tk))

    def attention(self, q, k, v, y, stream, causal=False):
        heads, m, d = q.shape[1:]
        for tm, tn, _warps in ATTENTION:
            yield lambda tm=tm, tn=tn: self.launch(
                stream, (up(m, tm), q.shape[0] * heads, 1), self.kernels.attention,
                (q, k, v, y, heads, math.log2(math.e) / math.sqrt(d), tm, tn, d, causal))


class Peers:
    def __init__(self, torch):
        self.found, self.absent = {}, {}
        sys.path += [str(HERE), str(HERE.parent.parent / "tests/tileir")]
        for name, peer in (("cutile", CuTile), ("triton", Triton)):
            try:
                self.found[name] = peer(torch)
            except Exception as e:  # a package that is there and does not fit this machine says so when it is read
                self.absent[name] = f"{type(e).__name__}: {e}"[:300]

    def calls(self, name, what, tensors, stream):
        family, *words = what.split()
        return getattr(self.found[name], family)(*tensors, stream, **({"causal": True} if "causal" in words else {}))
