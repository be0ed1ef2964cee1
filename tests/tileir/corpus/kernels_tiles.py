# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Kernels of tiles: reductions, scans, norms, products, attention, views."""
import numpy as np

import cuda.tile as ct
from cases import case, close, exact
from formats import E2M1, nearest_bits
from harness import Constant, array, result

ConstInt = ct.Constant[int]
RNG = np.random.default_rng(11)
ZERO = ct.PaddingMode.ZERO


def normal(*shape):
    return RNG.standard_normal(shape).astype(np.float32)


@ct.kernel
def softmax(x, y, rows: ConstInt, cols: ConstInt):
    t = ct.load(x, index=(ct.bid(0), 0), shape=(rows, cols), padding_mode=ct.PaddingMode.NEG_INF)
    e = ct.exp(t - ct.max(t, axis=1, keepdims=True))
    ct.store(y, index=(ct.bid(0), 0), tile=e / ct.sum(e, axis=1, keepdims=True))


@case("softmax of rows, padded by -infinity")
def _(run):
    x = normal(13, 50)
    y = result(x.shape, np.float32)
    run(softmax, (4,), [array(x), y, Constant(4), Constant(64)])
    e = np.exp(x.astype(np.float64) - x.max(1, keepdims=True))
    return close(y, e / e.sum(1, keepdims=True), 1e-6)


@ct.kernel
def layer_norm(x, w, b, y, mean, n: ConstInt):
    i = ct.bid(0)
    total = ct.zeros((1, n), dtype=ct.float32)
    for j in range(ct.num_tiles(x, axis=1, shape=(1, n))):
        total += ct.astype(ct.load(x, index=(i, j), shape=(1, n), padding_mode=ZERO), ct.float32)
    m = ct.sum(total, axis=1, keepdims=True) / x.shape[1]
    square = ct.zeros((1, n), dtype=ct.float32)
    for j in range(ct.num_tiles(x, axis=1, shape=(1, n))):
        at = j * n + ct.arange(n, dtype=ct.int32)
        t = ct.astype(ct.load(x, index=(i, j), shape=(1, n), padding_mode=ZERO), ct.float32)
        d = ct.where(ct.reshape(at < x.shape[1], (1, n)), t - m, 0.0)
        square += d * d
    scale = ct.rsqrt(ct.sum(square, axis=1, keepdims=True) / x.shape[1] + 1e-5)
    ct.store(mean, index=(i,), tile=ct.reshape(m, (1,)))
    for j in range(ct.num_tiles(x, axis=1, shape=(1, n))):
        t = ct.astype(ct.load(x, index=(i, j), shape=(1, n), padding_mode=ZERO), ct.float32)
        tw = ct.load(w, index=(j,), shape=(n,), padding_mode=ZERO)
        tb = ct.load(b, index=(j,), shape=(n,), padding_mode=ZERO)
        ct.store(y, index=(i, j), tile=ct.astype((t - m) * scale * tw + tb, y.dtype))


@case("layer norm of f16 in pieces")
def _(run):
    x, w, b = normal(6, 200).astype(np.float16), normal(200), normal(200)
    y, mean = result(x.shape, np.float16), result(6, np.float32)
    run(layer_norm, (6,), [array(x), array(w), array(b), y, mean, Constant(64)])
    a = x.astype(np.float64)
    d = a - a.mean(1, keepdims=True)
    want = d / np.sqrt((d * d).mean(1, keepdims=True) + 1e-5) * w + b
    return max(close(y, want, 2e-3), close(mean, a.mean(1), 1e-6))


@ct.kernel
def reductions(x, sums, most, least, places, products, rows: ConstInt, cols: ConstInt):
    t = ct.load(x, index=(0, 0), shape=(rows, cols))
    ct.store(sums, index=(0,), tile=ct.sum(t, axis=0))
    ct.store(most, index=(0,), tile=ct.max(t, axis=1))
    ct.store(least, index=(0,), tile=ct.min(t, axis=1))
    ct.store(places, index=(0, 0), tile=ct.reshape(ct.argmax(t, axis=1), (1, rows)))
    ct.store(places, index=(1, 0), tile=ct.reshape(ct.argmin(t, axis=1), (1, rows)))
    ct.store(products, index=(0,), tile=ct.prod(t * 0.5, axis=1))


@case("sums, extremes and their places, products")
def _(run):
    x = normal(16, 8)
    o = [result(8, np.float32), result(16, np.float32), result(16, np.float32), result((2, 16), np.int32), result(16, np.float32)]
    run(reductions, (1,), [array(x), *o, Constant(16), Constant(8)])
    return max(close(o[0], x.sum(0), 2e-6), exact(o[1], x.max(1)), exact(o[2], x.min(1)), exact(o[3], [x.argmax(1), x.argmin(1)]),
               close(o[4], (x * np.float32(0.5)).prod(1), 1e-6))


@ct.kernel
def own_reduction(x, y, out, n: ConstInt):
    def combine(m0, s0, m1, s1):
        m = max(m0, m1)
        return m, s0 * ct.exp(m0 - m) + s1 * ct.exp(m1 - m)

    t = ct.load(x, index=(ct.bid(0), 0), shape=(1, n))
    m, s = ct.reduce((t, ct.ones((1, n), dtype=ct.float32)), 1, combine, (-1e30, 0.0))
    ct.store(y, index=(ct.bid(0),), tile=m)
    ct.store(out, index=(ct.bid(0),), tile=m + ct.log(s))


@case("a reduction of pairs of its own: logarithms of sums")
def _(run):
    x = normal(5, 64)
    y, out = result(5, np.float32), result(5, np.float32)
    run(own_reduction, (5,), [array(x), y, out, Constant(64)])
    return max(exact(y, x.max(1)), close(out, np.log(np.exp(x.astype(np.float64)).sum(1)), 1e-6))


@ct.kernel
def scans(x, sums, back, products, own, rows: ConstInt, cols: ConstInt):
    t = ct.load(x, index=(0, 0), shape=(rows, cols))
    ct.store(sums, index=(0, 0), tile=ct.cumsum(t, axis=1))
    ct.store(back, index=(0, 0), tile=ct.cumsum(t, axis=0, reverse=True))
    ct.store(products, index=(0, 0), tile=ct.cumprod(t, axis=1))
    ct.store(own, index=(0, 0), tile=ct.scan(t, 1, lambda a, b: max(a, b), -(1 << 31)))


@case("scans of integers")
def _(run):
    x = RNG.integers(-5, 6, (8, 32), np.int32)
    o = [result(x.shape, np.int32) for _ in range(4)]
    run(scans, (1,), [array(x), *o, Constant(8), Constant(32)])
    return max(exact(o[0], x.cumsum(1)), exact(o[1], x[::-1].cumsum(0)[::-1]), exact(o[2], x.cumprod(1, dtype=np.int32)),
               exact(o[3], np.maximum.accumulate(x, 1)))


@ct.kernel
def float_scan(x, y, n: ConstInt):
    ct.store(y, index=(ct.bid(0), 0), tile=ct.cumsum(ct.load(x, index=(ct.bid(0), 0), shape=(2, n)), axis=1))


@case("a scan of f32")
def _(run):
    x = normal(8, 128)
    y = result(x.shape, np.float32)
    run(float_scan, (4,), [array(x), y, Constant(128)])
    return close(y, x.astype(np.float64).cumsum(1), 5e-6)


@ct.kernel
def product_of_floats(a, b, c, tm: ConstInt, tn: ConstInt, tk: ConstInt):
    i, j = ct.bid(0), ct.bid(1)
    acc = ct.zeros((tm, tn), dtype=ct.float32)
    for k in range(ct.num_tiles(a, axis=1, shape=(tm, tk))):
        x = ct.load(a, index=(i, k), shape=(tm, tk), padding_mode=ZERO)
        y = ct.load(b, index=(k, j), shape=(tk, tn), padding_mode=ZERO)
        acc = ct.mma(x, y, acc)
    ct.store(c, index=(i, j), tile=ct.astype(acc, c.dtype))


def product_case(run, kind, bound, out=np.float32):
    held = np.float32 if isinstance(kind, str) else kind
    a, b = array(normal(50, 70).astype(held), kind), array(normal(70, 40).astype(held), kind)
    c = result((50, 40), out)
    run(product_of_floats, (4, 3), [a, b, c, Constant(16), Constant(16), Constant(32)])
    return close(c, a.values().astype(np.float64) @ b.values().astype(np.float64), bound)


@case("product of f16")
def _(run):
    return product_case(run, np.float16, 1e-6)


@case("product of f16, rounded at its end")
def _(run):
    return product_case(run, np.float16, 1e-3, np.float16)


@case("product of bf16")
def _(run):
    return product_case(run, "bf16", 1e-6)


@case("product of f32")
def _(run):
    return product_case(run, np.float32, 1e-6)


@case("product of e4m3")
def _(run):
    return product_case(run, "e4m3", 1e-6)


@case("product of e5m2")
def _(run):
    return product_case(run, "e5m2", 1e-6)


@ct.kernel
def product_f64(a, b, c, tm: ConstInt, tn: ConstInt, tk: ConstInt):
    x = ct.load(a, index=(ct.bid(0), 0), shape=(tm, tk), padding_mode=ZERO)
    y = ct.load(b, index=(0, ct.bid(1)), shape=(tk, tn), padding_mode=ZERO)
    ct.store(c, index=(ct.bid(0), ct.bid(1)), tile=x @ y)


@case("product of f64")
def _(run):
    a, b = RNG.standard_normal((20, 30)), RNG.standard_normal((30, 10))
    c = result((20, 10), np.float64)
    run(product_f64, (2, 1), [array(a), array(b), c, Constant(16), Constant(16), Constant(32)])
    return close(c, a @ b, 1e-14)


@ct.kernel
def product_in_f16(a, b, c, n: ConstInt):
    x, y = ct.load(a, index=(0, 0), shape=(n, n)), ct.load(b, index=(0, 0), shape=(n, n))
    ct.store(c, index=(0, 0), tile=ct.mma(x, y, ct.ones((n, n), dtype=ct.float16)))


@case("product of f16 added in f16")
def _(run):
    a, b = array(normal(32, 32).astype(np.float16)), array(normal(32, 32).astype(np.float16))
    c = result((32, 32), np.float16)
    run(product_in_f16, (1,), [a, b, c, Constant(32)])
    return close(c, a.bits.astype(np.float64) @ b.bits.astype(np.float64) + 1, 1e-3)


@ct.kernel
def product_tf32(a, b, c, n: ConstInt):
    x = ct.astype(ct.load(a, index=(0, 0), shape=(n, n)), ct.tfloat32)
    y = ct.astype(ct.load(b, index=(0, 0), shape=(n, n)), ct.tfloat32)
    ct.store(c, index=(0, 0), tile=ct.mma(x, y, ct.zeros((n, n), dtype=ct.float32)))


def tf32(x):
    u = x.view(np.uint32).astype(np.uint64)
    return ((u + 0xFFF + ((u >> 13) & 1) >> 13) << 13).astype(np.uint32).view(np.float32)


@case("product of tf32")
def _(run):
    a, b = normal(32, 32), normal(32, 32)
    c = result((32, 32), np.float32)
    run(product_tf32, (1,), [array(a), array(b), c, Constant(32)])
    return close(c, tf32(a).astype(np.float64) @ tf32(b).astype(np.float64), 1e-6)


@ct.kernel
def product_i8(a, b, c, tm: ConstInt, tn: ConstInt, tk: ConstInt):
    acc = ct.zeros((tm, tn), dtype=ct.int32)
    for k in range(ct.num_tiles(a, axis=1, shape=(tm, tk))):
        x = ct.load(a, index=(ct.bid(0), k), shape=(tm, tk), padding_mode=ZERO)
        y = ct.load(b, index=(k, ct.bid(1)), shape=(tk, tn), padding_mode=ZERO)
        acc = ct.mma(x, y, acc)
    ct.store(c, index=(ct.bid(0), ct.bid(1)), tile=acc)


@case("product of i8")
def _(run):
    a, b = RNG.integers(-128, 128, (40, 100), np.int8), RNG.integers(-128, 128, (100, 24), np.int8)
    c = result((40, 24), np.int32)
    run(product_i8, (3, 2), [array(a), array(b), c, Constant(16), Constant(16), Constant(32)])
    return exact(c, a.astype(np.int32) @ b.astype(np.int32))


@case("product of u8")
def _(run):
    a, b = RNG.integers(0, 256, (16, 64), np.uint8), RNG.integers(0, 256, (64, 16), np.uint8)
    c = result((16, 16), np.int32)
    run(product_i8, (1, 1), [array(a), array(b), c, Constant(16), Constant(16), Constant(64)])
    return exact(c, a.astype(np.int32) @ b.astype(np.int32))


@ct.kernel
def batched(a, b, c, tm: ConstInt, tn: ConstInt, tk: ConstInt):
    z, i, j = ct.bid(2), ct.bid(0), ct.bid(1)
    acc = ct.zeros((1, tm, tn), dtype=ct.float32)
    for k in range(ct.num_tiles(a, axis=2, shape=(1, tm, tk))):
        x = ct.load(a, index=(z, i, k), shape=(1, tm, tk), padding_mode=ZERO)
        y = ct.load(b, index=(z, j, k), shape=(1, tn, tk), padding_mode=ZERO)
        acc = ct.mma(x, ct.permute(y, (0, 2, 1)), acc)
    ct.store(c, index=(z, i, j), tile=ct.astype(acc, c.dtype))


@case("batched product with a transposed factor")
def _(run):
    a, b = array(normal(3, 30, 40), "bf16"), array(normal(3, 20, 40), "bf16")
    c = result((3, 30, 20), "bf16")
    run(batched, (2, 2, 3), [a, b, c, Constant(16), Constant(16), Constant(16)])
    return close(c, np.einsum("zik,zjk->zij", a.values().astype(np.float64), b.values().astype(np.float64)), 5e-3)


@ct.kernel
def persistent(a, b, c, tm: ConstInt, tn: ConstInt, tk: ConstInt):
    across = ct.cdiv(c.shape[1], tn)
    for t in range(ct.bid(0), ct.cdiv(c.shape[0], tm) * across, ct.num_blocks(0)):
        i, j = t // across, t % across
        acc = ct.zeros((tm, tn), dtype=ct.float32)
        for k in range(ct.num_tiles(a, axis=1, shape=(tm, tk))):
            x = ct.load(a, index=(i, k), shape=(tm, tk), padding_mode=ZERO)
            y = ct.load(b, index=(k, j), shape=(tk, tn), order=(1, 0), padding_mode=ZERO)
            acc = ct.mma(x, y, acc)
        ct.store(c, index=(i, j), tile=ct.maximum(acc, 0.0))


@case("persistent product, the second factor by order, with relu")
def _(run):
    a, b = array(normal(50, 40).astype(np.float16)), array(normal(30, 40).astype(np.float16))
    c = result((50, 30), np.float32)
    run(persistent, (5,), [a, b, c, Constant(16), Constant(16), Constant(16)])
    return close(c, np.maximum(a.bits.astype(np.float64) @ b.bits.T.astype(np.float64), 0), 1e-6)


@ct.kernel
def split_k(a, b, c, t: ConstInt, tk: ConstInt):
    k = ct.bid(2)
    x = ct.load(a, index=(ct.bid(0), k), shape=(t, tk), padding_mode=ZERO)
    y = ct.load(b, index=(k, ct.bid(1)), shape=(tk, t), padding_mode=ZERO)
    p = ct.mma(x, y, ct.zeros((t, t), dtype=ct.float32))
    rows = ct.bid(0) * t + ct.arange(t, dtype=ct.int32)
    cols = ct.bid(1) * t + ct.arange(t, dtype=ct.int32)
    ct.atomic_add(c, (rows[:, None], cols[None, :]), p)


@case("split k with atomics")
def _(run):
    a, b = array(normal(20, 64).astype(np.float16)), array(normal(64, 20).astype(np.float16))
    c = array(np.zeros((20, 20), np.float32))
    run(split_k, (2, 2, 4), [a, b, c, Constant(16), Constant(16)])
    return close(c, a.bits.astype(np.float64) @ b.bits.astype(np.float64), 2e-6)


@ct.kernel
def transposes(x, y, z, w, a: ConstInt, b: ConstInt):
    t = ct.load(x, index=(ct.bid(0), ct.bid(1)), shape=(a, b))
    ct.store(y, index=(ct.bid(1), ct.bid(0)), tile=ct.transpose(t))
    ct.store(z, index=(ct.bid(1), ct.bid(0)), tile=ct.transpose(t) + 1, order="C")
    ct.store(w, index=(ct.bid(0), ct.bid(1)), tile=t, order=(1, 0))


@case("transposes of tiles and by views")
def _(run):
    x = RNG.integers(0, 1000, (20, 50), np.int32)
    y, z, w = (result((50, 20), np.int32) for _ in range(3))
    run(transposes, (3, 4), [array(x), y, z, w, Constant(8), Constant(16)])
    return max(exact(y, x.T), exact(z, x.T + 1), exact(w, x.T))


@ct.kernel
def moves(x, out, n: ConstInt):
    t = ct.load(x, index=(0, 0), shape=(n, n))
    upper = ct.extract(t, (0, 0), (n // 2, n))
    lower = ct.extract(t, (1, 0), (n // 2, n))
    swapped = ct.cat((lower, upper), 0)
    cube = ct.permute(ct.reshape(swapped, (n, 2, n // 2)), (1, 0, 2))
    halves = ct.reshape(ct.permute(cube, (1, 0, 2)), (n, n))
    twice = ct.broadcast_to(ct.extract(t, (0, 1), (1, n // 2)), (2, n // 2))
    ct.store(out, index=(0, 0), tile=halves + ct.reshape(twice, (1, n)))


@case("slices, joins, shapes")
def _(run):
    x = RNG.integers(0, 1000, (8, 8), np.int64)
    out = result((8, 8), np.int64)
    run(moves, (1,), [array(x), out, Constant(8)])
    return exact(out, np.concatenate([x[4:], x[:4]]) + np.tile(x[0, 4:], 2))


@ct.kernel
def inserted(x, part, out, n: ConstInt):
    t = ct.load(x, index=(0, 0), shape=(n, n))
    p = ct.load(part, index=(0, 0), shape=(2, n))
    ct.store(out, index=(0, 0), tile=ct.insert(t, (ct.bid(0) + 1, 0), p))


@case("slices put in")
def _(run):
    x, part = normal(8, 8), normal(2, 8)
    out = result((8, 8), np.float32)
    run(inserted, (1,), [array(x), array(part), out, Constant(8)], least="13.4")
    want = x.copy()
    want[2:4] = part
    return exact(out, want)


@ct.kernel
def embedding(table, ids, out, rows: ConstInt, cols: ConstInt):
    i = ct.bid(0)
    at = ct.load(ids, index=(i,), shape=(rows,), padding_mode=ZERO)
    t = ct.load_advanced_indexing(table, (at, ct.Slice(ct.bid(1) * cols, cols)), padding_mode=ZERO)
    ct.store(out, index=(i, ct.bid(1)), tile=t * 2)


@case("rows gathered by a view")
def _(run):
    table, ids = normal(40, 24), RNG.integers(0, 40, 21, np.int32)
    out = result((21, 24), np.float32)
    run(embedding, (6, 2), [array(table), array(ids), out, Constant(4), Constant(16)], least="13.3")
    return exact(out, table[ids] * 2)


@ct.kernel
def scattered(x, ids, out, rows: ConstInt, cols: ConstInt):
    at = ct.load(ids, index=(ct.bid(0),), shape=(rows,))
    ct.store_advanced_indexing(out, (at, ct.Slice(0, cols)), ct.load(x, index=(ct.bid(0), 0), shape=(rows, cols)))


@case("rows scattered by a view")
def _(run):
    x, ids = normal(16, 8), RNG.permutation(16).astype(np.int32)
    out = result((16, 8), np.float32)
    run(scattered, (4,), [array(x), array(ids), out, Constant(4), Constant(8)], least="13.3")
    want = np.empty_like(x)
    want[ids] = x
    return exact(out, want)


@ct.kernel
def windows(x, out, n: ConstInt, step: ConstInt):
    view = x.tiled_view((n,), padding_mode=ZERO, traversal_steps=(step,))
    i = ct.bid(0)
    ct.store(out, index=(i,), tile=ct.reshape(ct.sum(view.load((i,))), (1,)) + view.num_tiles(0))


@case("windows that overlap")
def _(run):
    x = RNG.integers(0, 100, 30, np.int32)
    out = result(10, np.int32)
    run(windows, (10,), [array(x), out, Constant(8), Constant(3)], least="13.3")
    padded = np.concatenate([x, np.zeros(8, np.int32)])
    return exact(out, [padded[3 * i:3 * i + 8].sum() + 10 for i in range(10)])


@ct.kernel
def attention(q, k, v, o, scale, tm: ConstInt, tn: ConstInt, d: ConstInt, causal: ct.Constant[bool]):
    i, h = ct.bid(0), ct.bid(1)
    tq = ct.reshape(ct.load(q, index=(h, i, 0), shape=(1, tm, d), padding_mode=ZERO), (tm, d))
    rows = i * tm + ct.arange(tm, dtype=ct.int32)[:, None]
    most = ct.full((tm, 1), -1e30, dtype=ct.float32)
    total = ct.zeros((tm, 1), dtype=ct.float32)
    acc = ct.zeros((tm, d), dtype=ct.float32)
    n = k.shape[1]
    end = ct.cdiv(n, tn)
    if causal:
        end = min(end, ct.cdiv((i + 1) * tm, tn))
    for j in range(end):
        tk = ct.reshape(ct.load(k, index=(h, j, 0), shape=(1, tn, d), padding_mode=ZERO), (tn, d))
        s = ct.mma(tq, ct.transpose(tk), ct.zeros((tm, tn), dtype=ct.float32)) * scale
        cols = j * tn + ct.arange(tn, dtype=ct.int32)[None, :]
        mask = cols < n
        if causal:
            mask = mask & (cols <= rows)
        s = ct.where(mask, s, -1e30)
        now = max(most, ct.max(s, axis=1, keepdims=True))
        p = ct.exp(s - now)
        shrink = ct.exp(most - now)
        total = total * shrink + ct.sum(p, axis=1, keepdims=True)
        tv = ct.reshape(ct.load(v, index=(h, j, 0), shape=(1, tn, d), padding_mode=ZERO), (tn, d))
        acc = ct.mma(ct.astype(p, v.dtype), tv, acc * shrink)
        most = now
    ct.store(o, index=(h, i, 0), tile=ct.reshape(ct.astype(acc / total, o.dtype), (1, tm, d)))


def attention_case(run, causal):
    q, k, v = (array(normal(2, 40, 16).astype(np.float16)) for _ in range(3))
    o = result((2, 40, 16), np.float16)
    run(attention, (3, 2), [q, k, v, o, np.float32(0.25), Constant(16), Constant(16), Constant(16), Constant(causal)])
    s = np.einsum("hid,hjd->hij", q.bits.astype(np.float64), k.bits.astype(np.float64)) * 0.25
    if causal:
        s = np.where(np.arange(40)[None, :] <= np.arange(40)[:, None], s, -np.inf)
    p = np.exp(s - s.max(-1, keepdims=True))
    return close(o, np.einsum("hij,hjd->hid", p / p.sum(-1, keepdims=True), v.bits.astype(np.float64)), 2e-3)


@case("attention")
def _(run):
    return attention_case(run, False)


@case("attention, causal")
def _(run):
    return attention_case(run, True)


@ct.kernel
def scaled_product(a, a_scale, b, b_scale, c, n: ConstInt, k: ConstInt, s: ConstInt):
    x, y = ct.load(a, index=(0, 0), shape=(n, k)), ct.load(b, index=(0, 0), shape=(k, n))
    p = ct.bitcast(ct.load(a_scale, index=(0, 0), shape=(n, s)), ct.float8_e8m0fnu)
    q = ct.bitcast(ct.load(b_scale, index=(0, 0), shape=(s, n)), ct.float8_e8m0fnu)
    ct.store(c, index=(0, 0), tile=ct.mma_scaled(x, p, y, q, ct.zeros((n, n), dtype=ct.float32)))


@case("product with block scales")
def _(run):
    a, b = array(normal(16, 64), "e4m3"), array(normal(64, 16), "e4m3")
    p, q = RNG.integers(120, 134, (16, 2)).astype(np.uint8), RNG.integers(120, 134, (2, 16)).astype(np.uint8)
    c = result((16, 16), np.float32)
    run(scaled_product, (1,), [a, array(p), b, array(q), c, Constant(16), Constant(64), Constant(2)], least="13.3")
    x = a.values() * 2.0 ** (np.repeat(p, 32, 1).astype(int) - 127)
    y = b.values() * 2.0 ** (np.repeat(q, 32, 0).astype(int) - 127)
    return close(c, x @ y, 1e-5)


@ct.kernel
def nibbles(packed, out, n: ConstInt):
    t = ct.unpack_from_bytes(ct.load(packed, index=(0,), shape=(n,)), ct.float4_e2m1fn)
    ct.store(out, index=(0,), tile=ct.astype(t, ct.float32))


@case("f4e2m1 unpacked from bytes")
def _(run):
    x = RNG.uniform(-7, 7, 32)
    bits = nearest_bits(E2M1, np.clip(x, -6, 6))
    out = result(32, np.float32)
    run(nibbles, (1,), [array((bits[0::2] | bits[1::2] << 4).astype(np.uint8)), out, Constant(16)], least="13.3")
    return exact(out, E2M1[bits])


@ct.kernel
def fft(x_re, x_im, w_re, w_im, y_re, y_im, a: ConstInt, b: ConstInt):
    i = ct.bid(0)
    re = ct.reshape(ct.load(x_re, index=(i, 0), shape=(1, a * b)), (a, b))
    im = ct.reshape(ct.load(x_im, index=(i, 0), shape=(1, a * b)), (a, b))
    wr, wi = ct.load(w_re, index=(0, 0), shape=(a, a)), ct.load(w_im, index=(0, 0), shape=(a, a))
    zero = ct.zeros((a, b), dtype=ct.float32)
    r = ct.mma(wr, re, zero) - ct.mma(wi, im, zero)
    m = ct.mma(wr, im, zero) + ct.mma(wi, re, zero)
    k = ct.arange(a, dtype=ct.int32)[:, None] * ct.arange(b, dtype=ct.int32)[None, :]
    angle = ct.astype(k, ct.float32) * (-6.283185307179586 / (a * b))
    c, s = ct.cos(angle), ct.sin(angle)
    r, m = r * c - m * s, r * s + m * c
    vr, vi = ct.extract(wr, (0, 0), (b, b)), ct.extract(wi, (0, 0), (b, b))
    flat_r = ct.mma(r, vr, zero) - ct.mma(m, vi, zero)
    flat_m = ct.mma(r, vi, zero) + ct.mma(m, vr, zero)
    ct.store(y_re, index=(i, 0), tile=ct.reshape(ct.transpose(flat_r), (1, a * b)))
    ct.store(y_im, index=(i, 0), tile=ct.reshape(ct.transpose(flat_m), (1, a * b)))


@case("a Fourier transform of 64 by products")
def _(run):
    x = normal(3, 64) + 1j * normal(3, 64)
    w = np.exp(-2j * np.pi * np.outer(np.arange(8), np.arange(8)) / 8)
    f = [array(np.ascontiguousarray(v).astype(np.float32)) for v in (x.real, x.imag, w.real, w.imag)]
    y = [result((3, 64), np.float32) for _ in range(2)]
    run(fft, (3,), [*f, *y, Constant(8), Constant(8)])
    want = np.fft.fft(x)
    return max(close(y[0], want.real, 1e-5), close(y[1], want.imag, 1e-5))
