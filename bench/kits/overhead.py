#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What a call of an operator of the kit costs beside an empty one with the same schema that allocates the same outputs:
no_grad, 16 elements, one thread. overhead.py PACKAGE_PARENT, in a Python with PyTorch: the folder that holds kits_torch, which
the tests build (build/tests/kits/kits_torch.ashlar/python).

The two are called in turns; a line gives the median over the rounds of each, and of the difference within a round."""
import os
import statistics
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, sys.argv[1])
import torch  # noqa: E402
import kits_torch  # noqa: E402

CALLS, ROUNDS = 4000, 25
LIMIT = 1.5  # microseconds


def build(folder):
    root = os.path.dirname(torch.__file__)
    library = os.path.join(folder, "empty.so")
    subprocess.run(["c++", "-std=c++20", "-O2", "-shared", "-fPIC", "-I" + os.path.join(root, "include"),
                    f"-D_GLIBCXX_USE_CXX11_ABI={int(torch._C._GLIBCXX_USE_CXX11_ABI)}",
                    os.path.join(os.path.dirname(os.path.abspath(__file__)), "empty.cpp"), "-o", library,
                    "-L" + os.path.join(root, "lib"), "-ltorch_cpu", "-lc10"], check=True)
    return library


def seconds(operator, arguments):
    start = time.thread_time()
    for _ in range(CALLS):
        operator(*arguments)
    return (time.thread_time() - start) / CALLS * 1e6


def main():
    torch.set_num_threads(1)
    with tempfile.TemporaryDirectory() as folder:
        torch.ops.load_library(build(folder))
    x = torch.randn(4, 4)
    a, b = torch.ones(4, 4, dtype=torch.uint8), torch.ones(4, 4, dtype=torch.int8)
    worst = 0.0
    print(f"PyTorch {torch.__version__}; microseconds a call")
    print(f"{'operator':<10} {'kit':>7} {'empty':>7} {'difference':>11}")
    with torch.no_grad():
        for name, arguments in (("swish", (x, 1.5)), ("row_norm", (x, x[0])), ("matmul_i8", (a, b))):
            kit, empty = getattr(kits_torch, name), getattr(torch.ops.ashlar_empty, name).default
            rounds = [(seconds(kit, arguments), seconds(empty, arguments)) for _ in range(ROUNDS)]
            kits, empties = zip(*rounds)
            difference = statistics.median(k - e for k, e in rounds)
            worst = max(worst, difference)
            print(f"{name:<10} {statistics.median(kits):7.2f} {statistics.median(empties):7.2f} {difference:11.2f}")
    return 0 if worst <= LIMIT else 1


if __name__ == "__main__":
    sys.exit(main())
