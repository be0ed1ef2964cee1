#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The operator of this folder beside eager PyTorch and torch.compile (Inductor), on the same tensors in one process.

    measure.py [--check] [--rounds N] PACKAGE_PARENT

PACKAGE_PARENT is the folder that holds the package row_int8_kit (build/apps/row_int8/row_int8_kit.ashlar/python). First the
results are compared. Then each line gives milliseconds a call on one thread, the medians of the rounds, and how many times as
fast as the others the operator is, the medians of the quotients within a round. Times are processor times of the thread, which
other processes on the machine disturb less. The exit status is 1 if a quotient is below its goal. --check only compares."""
import argparse
import statistics
import sys
import time

import torch

HALF, COLUMNS, EPS = 64, 4096, 1e-6
GOALS = {64: 1.3, 4096: 1.0}  # times as fast as torch.compile, by the number of rows; than eager: above 1


def rows(x, w, cosine, sine):
    """x[row, head, half, element]: RMS norm of the rows, rotary embedding of the heads, bytes with a scale for each row."""
    y = torch.nn.functional.rms_norm(x, w.shape, w, EPS)
    a, b = y[:, :, 0], y[:, :, 1]
    c, s = cosine[:, None], sine[:, None]
    turned = torch.stack((a * c - b * s, b * c + a * s), 2)
    scale = turned.abs().amax((1, 2, 3)).clamp(min=1e-30) / 127
    return (turned * (1 / scale)[:, None, None, None]).round().clamp(-128, 127).to(torch.int8), scale


def arguments(m):
    heads = COLUMNS // (2 * HALF)
    angle = torch.arange(m)[:, None] * 10000.0 ** (-torch.arange(HALF) / HALF)
    return torch.randn(m, heads, 2, HALF), torch.randn(heads, 2, HALF), angle.cos(), angle.sin()


def compare(found, expected, what):
    """The scales differ by rounding errors of the sums; and so do bytes, by 1, where a number is almost between two of them."""
    (q, scale), (bytes_, by) = found, expected
    torch.testing.assert_close(scale, by, rtol=1e-5, atol=0)
    difference = (q.int() - bytes_.int()).abs()
    if difference.max() > 1 or (difference != 0).float().mean() > 1e-3:
        sys.exit(f"{what}: bytes differ by more than the rounding of ties")


def seconds(f, calls):
    start = time.thread_time()
    for _ in range(calls):
        f()
    return (time.thread_time() - start) / calls


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("package_parent", help="the folder that holds the package row_int8_kit")
    parser.add_argument("--check", action="store_true", help="compare the results, without times")
    parser.add_argument("--rounds", type=int, default=15, help="measurements of which the median counts (15)")
    options = parser.parse_args()
    sys.path.insert(0, options.package_parent)
    from row_int8_kit import row_int8

    torch.manual_seed(0)
    torch.set_num_threads(1)
    compiled = torch.compile(rows, fullgraph=True, dynamic=False)
    within = torch.compile(lambda x, w, c, s: row_int8(x * 2, w, c, s, EPS), fullgraph=True)  # the operator in a compiled function
    missed = False
    with torch.no_grad():
        for m in (1, 64) if options.check else (64, 4096):
            x = arguments(m)
            run = [lambda: rows(*x), lambda: compiled(*x), lambda: row_int8(*x, EPS)]
            compare(run[2](), run[0](), f"{m} rows, eager")
            compare(run[2](), run[1](), f"{m} rows, compiled")
            if options.check:
                compare(within(*x), rows(x[0] * 2, *x[1:]), f"{m} rows, within a compiled function")
                continue
            if m == 64:
                print(f"PyTorch {torch.__version__}; milliseconds a call, and how many times as fast the operator is")
                print(f"{'rows':>6} {'eager':>8} {'compiled':>9} {'operator':>9} {'than eager':>11} {'than compiled':>14}")
            calls = max(2, 4000 // m)
            rounds = [[seconds(f, calls if k else max(1, calls // 8)) for k, f in enumerate(run)] for _ in range(options.rounds)]
            eager, inductor, ours = (statistics.median(r[k] for r in rounds) * 1e3 for k in range(3))
            than = [statistics.median(r[k] / r[2] for r in rounds) for k in range(2)]
            print(f"{m:6} {eager:8.3f} {inductor:9.3f} {ours:9.3f} {than[0]:11.2f} {than[1]:14.2f}", flush=True)
            if than[0] < 1 or than[1] < GOALS[m]:
                missed = True
                print(f"{m} rows: expected at least {GOALS[m]} times as fast as torch.compile, and as fast as eager PyTorch")
    if options.check:
        print("the results agree")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
