#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A row operator of a language model (row_gen.cpp: RMS norm, rotary embedding, bytes) as an operator of the kit, beside eager
PyTorch and torch.compile on the same tensors, one thread, in turns. rows.py PACKAGE_PARENT, in a Python with PyTorch: the folder that holds
kits_torch, which the tests build (build/tests/kits/kits_torch.ashlar/python).

Each line: milliseconds a call, the median of the rounds; and how many times as fast as torch.compile (Inductor) the kit is, the
median of the quotients within a round. Processor time of the thread, which other processes on the machine disturb less."""
import statistics
import sys
import time

sys.path.insert(0, sys.argv[1])
import torch  # noqa: E402
import kits_torch as kit  # noqa: E402

HALF, COLUMNS, EPS = 64, 4096, 1e-6


def rows(x, w, cosine, sine):
    y = x * torch.rsqrt(x.pow(2).mean((1, 2, 3), keepdim=True) + EPS) * w
    a, b = y[:, :, 0], y[:, :, 1]
    c, s = cosine[:, None], sine[:, None]
    turned = torch.stack((a * c - b * s, b * c + a * s), 2)
    scale = turned.abs().amax((1, 2, 3)).clamp(min=1e-30) / 127
    return (turned * (1 / scale)[:, None, None, None]).round().clamp(-128, 127).to(torch.int8), scale


def seconds(f, calls):
    start = time.thread_time()
    for _ in range(calls):
        f()
    return (time.thread_time() - start) / calls


def main():
    torch.set_num_threads(1)
    compiled = torch.compile(rows, fullgraph=True, dynamic=False)
    print(f"PyTorch {torch.__version__}; milliseconds a call\n{'rows':>6} {'eager':>8} {'compiled':>9} {'kit':>8} {'times as fast':>14}")
    with torch.no_grad():
        for m in (64, 4096):
            heads = COLUMNS // (2 * HALF)
            x, w = torch.randn(m, heads, 2, HALF), torch.randn(heads, 2, HALF)
            angle = torch.arange(m)[:, None] * 10000.0 ** (-torch.arange(HALF) / HALF)
            cosine, sine = angle.cos(), angle.sin()
            run = [lambda: rows(x, w, cosine, sine), lambda: compiled(x, w, cosine, sine),
                   lambda: kit.row_int8(x, w, cosine, sine, EPS)]
            (expected, by), (q, scale) = run[0](), run[2]()
            torch.testing.assert_close(scale, by, rtol=1e-5, atol=0)
            worst = (q.int() - expected.int()).abs()
            assert worst.max() <= 1 and (worst != 0).float().mean() < 1e-3, "bytes differ by more than the rounding of ties"
            run[1]()
            calls = max(2, 4000 // m)
            rounds = [[seconds(f, calls if k else max(1, calls // 8)) for k, f in enumerate(run)] for _ in range(15)]
            times = [statistics.median(r[k] for r in rounds) * 1e3 for k in range(3)]
            faster = statistics.median(r[1] / r[2] for r in rounds)
            print(f"{m:6} {times[0]:8.3f} {times[1]:9.3f} {times[2]:8.3f} {faster:14.2f}")


if __name__ == "__main__":
    main()
