# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Elementwise kernels, masks, conversions, control flow, pointers, atomics."""
import numpy as np

import cuda.tile as ct
from harness import Constant, array, result
from cases import case, close, exact

ConstInt = ct.Constant[int]
RNG = np.random.default_rng(7)


@ct.kernel
def scale_add(x, y, z, a, n: ConstInt):
    i = ct.bid(0)
    tx = ct.load(x, index=(i,), shape=(n,))
    ty = ct.load(y, index=(i,), shape=(n,))
    ct.store(z, index=(i,), tile=tx * a + ty)


@case("scale and add, f32, a tail")
def _(run):
    x, y = array(RNG.standard_normal(1000, np.float32)), array(RNG.standard_normal(1000, np.float32))
    z = result(1000, np.float32)
    run(scale_add, (8,), [x, y, z, np.float32(1.5), Constant(128)])
    return close(z, x.bits * np.float32(1.5) + y.bits, 1e-6)


@ct.kernel
def whole_numbers(x, y, out, n: ConstInt):
    i = ct.bid(0)
    a = ct.load(x, index=(i,), shape=(n,), padding_mode=ct.PaddingMode.ZERO)
    b = ct.load(y, index=(i,), shape=(n,), padding_mode=ct.PaddingMode.ZERO)
    nonzero = ct.where(b == 0, 1, b)
    ct.store(out, index=(0, i), tile=ct.reshape(a + b, (1, n)))
    ct.store(out, index=(1, i), tile=ct.reshape(a * b - a, (1, n)))
    ct.store(out, index=(2, i), tile=ct.reshape(a // nonzero, (1, n)))
    ct.store(out, index=(3, i), tile=ct.reshape(a % nonzero, (1, n)))
    ct.store(out, index=(4, i), tile=ct.reshape((a & b) | (a ^ 12345), (1, n)))
    ct.store(out, index=(5, i), tile=ct.reshape((a << 3) + (b >> 2), (1, n)))
    ct.store(out, index=(6, i), tile=ct.reshape(ct.minimum(a, b) - ct.maximum(abs(a), -b), (1, n)))
    ct.store(out, index=(7, i), tile=ct.reshape(ct.cdiv(a, ct.where(b == 0, 3, abs(b))), (1, n)))


@case("integers of 32 bits")
def _(run):
    x = RNG.integers(-(1 << 30), 1 << 30, 300, np.int32)
    y = RNG.integers(-999, 999, 300, np.int32)
    a, b, out = array(x), array(y), result((8, 300), np.int32)
    run(whole_numbers, (5,), [a, b, out, Constant(64)])
    d = np.where(y == 0, 1, y)
    p = np.where(y == 0, 3, np.abs(y))
    want = [x + y, x * y - x, x // d, x % d, (x & y) | (x ^ 12345), (x << 3) + (y >> 2),
            np.minimum(x, y) - np.maximum(np.abs(x), -y), -(-x // p)]
    return exact(out, np.stack(want).astype(np.int32))


@ct.kernel
def unsigned(x, y, out, n: ConstInt):
    a = ct.load(x, index=(0,), shape=(n,))
    b = ct.load(y, index=(0,), shape=(n,))
    ct.store(out, index=(0, 0), tile=ct.reshape(ct.cdiv(a, b), (1, n)))  # tileiras refuses what `//` becomes
    ct.store(out, index=(1, 0), tile=ct.reshape(a % b, (1, n)))
    ct.store(out, index=(2, 0), tile=ct.reshape(ct.maximum(a, b) >> 5, (1, n)))
    ct.store(out, index=(3, 0), tile=ct.reshape(ct.where(a < b, a, ~b), (1, n)))


@case("integers without a sign")
def _(run):
    x, y = RNG.integers(0, 1 << 32, 64, np.uint32), RNG.integers(1, 1 << 32, 64, np.uint32)
    out = result((4, 64), np.uint32)
    run(unsigned, (1,), [array(x), array(y), out, Constant(64)])
    return exact(out, np.stack([-(-x.astype(np.int64) // y), x % y, np.maximum(x, y) >> 5, np.where(x < y, x, ~y)]))


@ct.kernel
def functions(x, out, n: ConstInt):
    i = ct.bid(0)
    a = ct.load(x, index=(i,), shape=(n,))
    p = abs(a) + 0.25
    ct.store(out, index=(0, i), tile=ct.reshape(ct.exp(a), (1, n)))
    ct.store(out, index=(1, i), tile=ct.reshape(ct.exp2(a), (1, n)))
    ct.store(out, index=(2, i), tile=ct.reshape(ct.log(p), (1, n)))
    ct.store(out, index=(3, i), tile=ct.reshape(ct.log2(p), (1, n)))
    ct.store(out, index=(4, i), tile=ct.reshape(ct.sqrt(p), (1, n)))
    ct.store(out, index=(5, i), tile=ct.reshape(ct.rsqrt(p), (1, n)))
    ct.store(out, index=(6, i), tile=ct.reshape(ct.sin(a) + ct.cos(a), (1, n)))
    ct.store(out, index=(7, i), tile=ct.reshape(ct.tan(a), (1, n)))
    ct.store(out, index=(8, i), tile=ct.reshape(ct.sinh(a) - ct.cosh(a), (1, n)))
    ct.store(out, index=(9, i), tile=ct.reshape(ct.tanh(a), (1, n)))
    ct.store(out, index=(10, i), tile=ct.reshape(ct.floor(a) + ct.ceil(-a), (1, n)))
    ct.store(out, index=(11, i), tile=ct.reshape(p ** a, (1, n)))
    ct.store(out, index=(12, i), tile=ct.reshape(ct.atan2(a, p), (1, n)))
    ct.store(out, index=(13, i), tile=ct.reshape(a % 0.75, (1, n)))
    ct.store(out, index=(14, i), tile=ct.reshape(-a / p, (1, n)))
    ct.store(out, index=(15, i), tile=ct.reshape(p ** 3, (1, n)))


def functions_case(run, kind, bound):
    x = array(RNG.uniform(-1.4, 1.4, 256).astype(kind))
    out = result((16, 256), kind)
    run(functions, (2,), [x, out, Constant(128)], least="13.2")
    a = x.bits.astype(np.float64)
    p = np.abs(a) + 0.25
    want = [np.exp(a), np.exp2(a), np.log(p), np.log2(p), np.sqrt(p), 1 / np.sqrt(p), np.sin(a) + np.cos(a), np.tan(a),
            np.sinh(a) - np.cosh(a), np.tanh(a), np.floor(a) + np.ceil(-a), p ** a, np.arctan2(a, p), a % 0.75, -a / p, p ** 3]
    return close(out, np.stack(want), bound)


@case("functions, f32")
def _(run):
    return functions_case(run, np.float32, 2e-6)


@case("functions, f64")
def _(run):
    return functions_case(run, np.float64, 1e-14)


@case("functions, f16")
def _(run):
    return functions_case(run, np.float16, 8e-3)


@ct.kernel
def masked(x, limit, out, n: ConstInt):
    i = ct.bid(0)
    at = i * n + ct.arange(n, dtype=ct.int32)
    v = ct.gather(x, at, mask=at < limit, padding_value=-1.0)
    ct.scatter(out, at, ct.where((v > 0) & (v < 0.5), v * 2, v), mask=(at % 3) != 1)


@case("masks of gather and scatter")
def _(run):
    x = RNG.standard_normal(200).astype(np.float32)
    out = result(200, np.float32)
    run(masked, (4,), [array(x), np.int32(150), out, Constant(64)])
    at = np.arange(200)
    v = np.where(at < 150, x, -1)
    return close(out, np.where((v > 0) & (v < 0.5), v * 2, v), 0, where=at % 3 != 1)


@ct.kernel
def conversions(x, i, f16, i8, u16, back, flags, n: ConstInt):
    a = ct.load(x, index=(0,), shape=(n,))
    b = ct.load(i, index=(0,), shape=(n,))
    ct.store(f16, index=(0,), tile=ct.astype(a, ct.float16))
    ct.store(i8, index=(0,), tile=ct.astype(b, ct.int8))
    ct.store(u16, index=(0,), tile=ct.astype(ct.astype(a, ct.int32), ct.uint16))
    ct.store(back, index=(0,), tile=ct.astype(b, ct.float32) + ct.bitcast(ct.bitcast(a, ct.int32), ct.float32))
    ct.store(flags, index=(0,), tile=(a > 0) & (b != 3))


@case("conversions")
def _(run):
    x = RNG.uniform(-30000, 30000, 64).astype(np.float32)
    i = RNG.integers(-(1 << 31), (1 << 31) - 1, 64, np.int32)
    o = [result(64, k) for k in (np.float16, np.int8, np.uint16, np.float32, np.bool_)]
    run(conversions, (1,), [array(x), array(i), *o, Constant(64)])
    want = [x.astype(np.float16), i.astype(np.int8), x.astype(np.int32).astype(np.uint16), i.astype(np.float32) + x, (x > 0) & (i != 3)]
    return max(exact(a, w) for a, w in zip(o, want))


@ct.kernel
def eighths(x, e4, e5, bf, sums, n: ConstInt):
    a = ct.load(x, index=(0,), shape=(n,))
    ct.store(e4, index=(0,), tile=ct.astype(a, ct.float8_e4m3fn))
    ct.store(e5, index=(0,), tile=ct.astype(a, ct.float8_e5m2))
    ct.store(bf, index=(0,), tile=ct.astype(a, ct.bfloat16))
    back = ct.astype(ct.astype(a, ct.float8_e4m3fn), ct.float32) + ct.astype(ct.astype(a, ct.bfloat16), ct.float32)
    ct.store(sums, index=(0,), tile=back)


@case("fp8 and bf16")
def _(run):
    x = (RNG.standard_normal(256) * 8).astype(np.float32)
    x[:4] = [1000, -1e6, np.inf, -449]  # become the largest numbers of 8 bits
    o = [result(256, k) for k in ("e4m3", "e5m2", "bf16", np.float32)]
    run(eighths, (1,), [array(x), *o, Constant(256)])
    want = [array(np.clip(x, -448, 448), "e4m3"), array(np.clip(x, -57344, 57344), "e5m2"), array(x, "bf16")]
    back = (want[0].values() + want[2].values()).astype(np.float32)
    return max([exact(a, b.bits) for a, b in zip(o, want)] + [exact(o[3], back)])


@ct.kernel
def histogram(x, counts, best, n: ConstInt, bins: ConstInt):
    i = ct.bid(0)
    v = ct.load(x, index=(i,), shape=(n,), padding_mode=ct.PaddingMode.ZERO)
    at = i * n + ct.arange(n, dtype=ct.int32)
    inside = at < x.shape[0]
    ct.atomic_add(counts, ct.where(inside, v % bins, bins), 1)
    ct.atomic_max(best, 0, ct.max(v))
    ct.atomic_min(best, 1, ct.min(ct.where(inside, v, 1 << 30)))
    ct.atomic_or(best, 2, ct.reduce(v, 0, lambda a, b: a | b, 0))


@case("a histogram by atomics")
def _(run):
    x = RNG.integers(0, 100000, 1000, np.int32)
    counts, best = array(np.zeros(16, np.int32)), array(np.array([-1, 1 << 30, 0], np.int32))
    run(histogram, (16,), [array(x), counts, best, Constant(64), Constant(16)])
    return max(exact(counts, np.bincount(x % 16, minlength=16)), exact(best, [x.max(), x.min(), np.bitwise_or.reduce(x)]))


@ct.kernel
def float_atomics(x, total, swap, n: ConstInt):
    i = ct.bid(0)
    v = ct.load(x, index=(i,), shape=(n,))
    ct.atomic_add(total, ct.arange(n, dtype=ct.int32) % 4, v)
    old = ct.atomic_cas(swap, i, i, i + 10)  # half of them find their number
    ct.atomic_xchg(swap, 8 + i, old)


@case("atomics of floats, compare and swap")
def _(run):
    x = RNG.integers(-100, 100, 256).astype(np.float32)
    there = np.arange(16, dtype=np.int32)
    there[1:8:2] = 99
    total, swap = array(np.zeros(4, np.float32)), array(there.copy())
    run(float_atomics, (8,), [array(x), total, swap, Constant(32)])
    return max(exact(total, x.reshape(-1, 4).sum(0)), exact(swap, [10, 99, 12, 99, 14, 99, 16, 99, *there[:8]]))


@ct.kernel
def tile_atomics(x, sums, rows: ConstInt, cols: ConstInt):
    t = ct.load(x, index=(ct.bid(0), 0), shape=(rows, cols))
    view = sums.tiled_view((rows, cols))
    view.atomic_store_add((0, 0), t)


@case("atomics of tiles")
def _(run):
    x = RNG.integers(-9, 9, (32, 12)).astype(np.int32)
    sums = array(np.zeros((8, 12), np.int32))
    run(tile_atomics, (4,), [array(x), sums, Constant(8), Constant(16)], least="13.3")
    return exact(sums, x.reshape(4, 8, 12).sum(0))


@ct.kernel
def tile_bits(x, most, least, both, any_, odd, n: ConstInt):
    t = ct.load(x, index=(ct.bid(0),), shape=(n,))
    most.tiled_view((n,)).atomic_store_max((0,), t)
    least.tiled_view((n,)).atomic_store_min((0,), t)
    both.tiled_view((n,)).atomic_store_and((0,), t)
    any_.tiled_view((n,)).atomic_store_or((0,), t)
    odd.tiled_view((n,)).atomic_store_xor((0,), t)


@case("atomics of tiles, other operations")
def _(run):
    x = RNG.integers(-99, 99, (4, 16), np.int32)
    o = [array(np.full(16, v, np.int32)) for v in (-1000, 1000, -1, 0, 0)]
    run(tile_bits, (4,), [array(x.reshape(-1)), *o, Constant(16)], least="13.3")
    want = [x.max(0), x.min(0), np.bitwise_and.reduce(x, 0), np.bitwise_or.reduce(x, 0), np.bitwise_xor.reduce(x, 0)]
    return max(exact(a, w) for a, w in zip(o, want))


@ct.kernel
def locked(lock, x, n: ConstInt):
    while ct.atomic_cas(lock, 0, 0, 1, memory_order=ct.MemoryOrder.ACQUIRE, memory_scope=ct.MemoryScope.DEVICE) != 0:
        pass
    t = ct.load(x, index=(0,), shape=(n,))
    ct.store(x, index=(0,), tile=t + ct.bid(0) + 1)
    ct.atomic_xchg(lock, 0, 0, memory_order=ct.MemoryOrder.RELEASE, memory_scope=ct.MemoryScope.DEVICE)


@case("blocks that take a lock")
def _(run):
    lock, x = array(np.zeros(1, np.int32)), array(np.zeros(16, np.int32))
    run(locked, (4,), [lock, x, Constant(16)])
    return max(exact(lock, [0]), exact(x, [10] * 16))


@ct.kernel
def raw_memory(x, out, n: ConstInt):
    ct.grid_dependency_control_wait()
    at = ct.arange(n, dtype=ct.int32)
    memory, results = x.get_raw_memory(), out.get_raw_memory()
    t = memory.load_offset(n - 1 - at, mask=at < n - 2, padding_value=7)
    results.store_offset(at, t)
    ct.grid_dependency_control_launch_dependents()


@case("memory by offsets, between dependent grids")
def _(run):
    x = RNG.integers(0, 99, 16, np.int32)
    out = result(16, np.int32)
    run(raw_memory, (1,), [array(x), out, Constant(16)], least="13.4")
    return exact(out, [*x[:1:-1], 7, 7])


@ct.kernel
def collatz(x, steps, n: ConstInt):
    for k in range(ct.bid(0) * n, min((ct.bid(0) + 1) * n, x.shape[0])):
        v = ct.gather(x, k)
        count = 0
        while v != 1:
            if v % 2 == 0:
                v = v // 2
            else:
                v = 3 * v + 1
            count = count + 1
            if count >= 40:
                break
        ct.scatter(steps, k, count)


@case("loops and branches of scalars")
def _(run):
    x = RNG.integers(1, 60, 21, np.int32)
    steps = result(21, np.int32)
    run(collatz, (3,), [array(x), steps, Constant(8)])

    def count(v):
        n = 0
        while v != 1 and n < 40:
            v, n = (v // 2 if v % 2 == 0 else 3 * v + 1), n + 1
        return n

    return exact(steps, [count(int(v)) for v in x])


@ct.kernel
def early(x, out, n: ConstInt):
    i = ct.bid(0)
    if i % 2 == 1:
        return
    t = ct.load(x, index=(i,), shape=(n,))
    if ct.sum(t) > 0:
        t = -t
    else:
        t = t + 1
    ct.assert_(t == t, "a NaN")
    ct.print("block", i)
    ct.store(out, index=(i,), tile=t)


@case("early returns, assertions, print")
def _(run):
    x = RNG.standard_normal((8, 16)).astype(np.float32)
    out = result((8, 16), np.float32)
    printed = run(early, (8,), [array(x.reshape(-1)), flat := result(128, np.float32), Constant(16)])
    assert sorted(printed.split()) == sorted("block 0 block 2 block 4 block 6".split()), printed
    want = np.where(x.sum(1, keepdims=True) > 0, -x, x + 1)
    return close(flat, want.reshape(-1), 0, where=np.repeat(np.arange(8) % 2 == 0, 16))


@ct.kernel
def bytes_of(x, as_bytes, again, n: ConstInt):
    t = ct.load(x, index=(0,), shape=(n,))
    b = ct.pack_to_bytes(t)
    ct.store(as_bytes, index=(0,), tile=b)
    ct.store(again, index=(0,), tile=ct.unpack_from_bytes(b, ct.int16))


@case("bytes packed and unpacked")
def _(run):
    x = RNG.standard_normal(16).astype(np.float32)
    as_bytes, again = result(64, np.uint8), result(32, np.int16)
    run(bytes_of, (1,), [array(x), as_bytes, again, Constant(16)], least="13.3")
    return max(exact(as_bytes, x.view(np.uint8)), exact(again, x.view(np.int16)))


@ct.kernel
def rounding(x, y, tiny, out, n: ConstInt):
    a = ct.load(x, index=(0,), shape=(n,))
    b = ct.load(y, index=(0,), shape=(n,))
    ct.store(out, index=(0, 0), tile=ct.reshape(ct.add(a, b, rounding_mode=ct.RoundingMode.RZ), (1, n)))
    ct.store(out, index=(1, 0), tile=ct.reshape(ct.mul(a, b, rounding_mode=ct.RoundingMode.RP), (1, n)))
    ct.store(out, index=(2, 0), tile=ct.reshape(ct.truediv(a, b, rounding_mode=ct.RoundingMode.RM), (1, n)))
    ct.store(out, index=(3, 0), tile=ct.reshape(ct.mul(ct.load(tiny, index=(0,), shape=(n,)), b, flush_to_zero=True), (1, n)))


def directed(exact_value, up):
    """f64 (exact enough for these operands) to f32 downward or upward."""
    near = exact_value.astype(np.float32)
    low = np.where(near.astype(np.float64) > exact_value, np.nextafter(near, np.float32(-np.inf)), near)
    high = np.where(near.astype(np.float64) < exact_value, np.nextafter(near, np.float32(np.inf)), near)
    return high if up else low


@case("rounding modes")
def _(run):
    x = RNG.standard_normal(64).astype(np.float32)
    y = (RNG.standard_normal(64) * 3 + 0.01).astype(np.float32)
    tiny = x * np.float32(1e-38)
    out = result((4, 64), np.float32)
    run(rounding, (1,), [array(x), array(y), array(tiny), out, Constant(64)])
    a, b = x.astype(np.float64), y.astype(np.float64)
    s, p = a + b, a * b
    flush = lambda v: np.where(np.abs(v) < 2.0 ** -126, np.copysign(0, v), v).astype(np.float32)
    toward_zero = np.where(s > 0, directed(s, False), directed(s, True))
    want = [toward_zero, directed(p, True), directed(a / b, False), flush(flush(tiny) * y)]
    return exact(out, np.stack(want).astype(np.float32))
