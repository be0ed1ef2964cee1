# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Kernels with a fault: the executor must say what and where."""
import numpy as np

import cuda.tile as ct
from cases import fault
from harness import Constant, array, result

ConstInt = ct.Constant[int]
HERE = "kernels_faults.py:"


def ones(*shape):
    return np.ones(shape, np.float32)


@ct.kernel
def unchecked(x, out, n: ConstInt):
    at = ct.bid(0) * n + ct.arange(n, dtype=ct.int32)
    ct.scatter(out, at, ct.gather(x, at, check_bounds=False))


@fault("a gather outside of its array", "out of bounds: load_ptr_tko", HERE, "in block 1,0,0 of kernel")
def _(run):
    return run(unchecked, (2,), [array(ones(24)), result(32, np.float32), Constant(16)])


@ct.kernel
def total(x, out, n: ConstInt):
    ct.store(out, index=(ct.bid(0),), tile=ct.reshape(ct.sum(ct.load(x, index=(ct.bid(0),), shape=(n,))), (1,)))


@fault("a sum of a tail that is not padded", "undefined: store_view_tko", HERE,
       "an element outside of a view without padding, by load_view_tko")
def _(run):
    return run(total, (2,), [array(ones(24)), result(2, np.float32), Constant(16)])


@fault("a sum of what nobody wrote", "undefined: store_view_tko", "memory that nobody wrote, by load_view_tko")
def _(run):
    return run(total, (1,), [result(16, np.float32), result(1, np.float32), Constant(16)])


@ct.kernel
def inside(x, out, n: ConstInt):
    ct.store(out, index=(ct.bid(0),), tile=ct.load(x, index=(ct.bid(0),), shape=(n,), check_bounds=False))


@fault("a tail in spite of a promise", "a broken assumption: load_view_tko",
       "position 24 of dimension 0, which has 24, in spite of inbounds")
def _(run):
    return run(inside, (2,), [array(ones(24)), result(24, np.float32), Constant(16)])


@ct.kernel
def promised(x, n_promised, out, n: ConstInt):
    k = ct.assume_divisible_by(n_promised, 8)
    ct.store(out, index=(0,), tile=ct.load(x, index=(0,), shape=(n,)) * k)


@fault("a number that is not divisible as promised", "a broken assumption: assume", "div_by<8> is not so: it is 12")
def _(run):
    return run(promised, (1,), [array(ones(16)), np.int32(12), result(16, np.float32), Constant(16)])


@ct.kernel
def one_place(out, n: ConstInt):
    ct.store(out, index=(0,), tile=ct.full((n,), ct.bid(0), dtype=ct.float32))


@fault("blocks that write one place", "a race of blocks: store_view_tko", "of block 0", HERE)
def _(run):
    return run(one_place, (3,), [result(16, np.float32), Constant(16)])


@ct.kernel
def neighbors(x, n: ConstInt):
    i = ct.bid(0)
    t = ct.load(x, index=(i + 1,), shape=(n,))
    ct.store(x, index=(i,), tile=t + 1)


@fault("a block that reads what another writes", "a race of blocks: store_view_tko", "writes what load_view_tko")
def _(run):
    return run(neighbors, (2,), [array(ones(48)), Constant(16)])


@ct.kernel
def plain_counter(counter):
    ct.scatter(counter, 0, ct.gather(counter, 0) + 1)


@fault("a counter without atomics", "a race of blocks: load_ptr_tko", "reads what store_ptr_tko")
def _(run):
    return run(plain_counter, (2,), [array(np.zeros(1, np.int32))])


@ct.kernel
def asserted(x, n: ConstInt):
    t = ct.load(x, index=(ct.bid(0),), shape=(n,))
    ct.assert_(t < 3, "a number is too large")


@fault("an assertion", "an assertion: assert", "a number is too large, element [5]")
def _(run):
    x = ones(16)
    x[13] = 4
    return run(asserted, (2,), [array(x), Constant(8)])


@ct.kernel
def forever(x):
    while ct.gather(x, 0) == 0:
        ct.scatter(x, 1, 7)


@fault("a loop without an end", "too long")
def _(run):
    return run(forever, (1,), [array(np.zeros(2, np.int32))], options=("--most", "10000"))


@ct.kernel
def scattered(ids, out, n: ConstInt):
    ct.scatter(out, ct.load(ids, index=(0,), shape=(n,)), ct.arange(n, dtype=ct.int32))


@fault("two elements of one store to one place", "a race within a block: store_ptr_tko", "write different values to one place")
def _(run):
    return run(scattered, (1,), [array(np.array([0, 1, 2, 1], np.int32)), result(4, np.int32), Constant(4)])


@ct.kernel
def released_early(turn, x, n: ConstInt):
    before = ct.atomic_add(turn, 0, 1, memory_order=ct.MemoryOrder.ACQ_REL, memory_scope=ct.MemoryScope.DEVICE)
    ct.store(x, index=(0,), tile=ct.load(x, index=(0,), shape=(n,)) + before)


@fault("a release that comes before what it should release", "a race of blocks: load_view_tko", "reads what store_view_tko")
def _(run):
    return run(released_early, (2,), [array(np.zeros(1, np.int32)), array(np.zeros(16, np.int32)), Constant(16)])
