"""Compiles the bench's memory-bound kernels with Halide, ahead of time, into one shared library that the bench loads.

    python3 -m venv build/halide && build/halide/bin/pip install halide
    build/halide/bin/python bench/halide/make_peers.py build/halide/peers.so
    build/halide/bin/python bench/halide/make_peers.py build/halide/peers-avx2.so avx2     # without AVX-512
    ASHLAR_BENCH_HALIDE=build/halide/peers.so build/bin/ashlar_bench --filter 'softmax|layer_norm|gelu|sum|transpose|depthwise|box_blur|unsharp'

`./dev bench` does all of that.

Each pipeline has a schedule by hand, in the way of Halide's own examples: rows or strips in parallel, whole vectors, producers at
the row, the window or the tile that reads them. Extents are promised to be multiples of a vector where the bench's are, so that
no vector needs a tail. peers.cpp wraps the pipelines as functions of plain pointers.
"""

import pathlib
import subprocess
import sys
import tempfile
from importlib.metadata import version

import halide as hl

TARGET = hl.get_host_target().with_feature(hl.TargetFeature.NoAsserts)
if sys.argv[2:] == ["avx2"]:
    TARGET = hl.Target("x86-64-linux-avx-avx2-f16c-fma-sse41-no_asserts")
LANES = TARGET.natural_vector_size(hl.Float(32))
x, y, c, u, v, w = (hl.Var(n) for n in "xycuvw")


def multiple_of(extent, n):
    return extent // n * n


def input_of(name, type_, dims, lanes=LANES):
    p = hl.ImageParam(type_, dims, name)
    p.dim(0).set_extent(multiple_of(p.dim(0).extent(), lanes))
    return p


def lanes_of(reduction, r, registers=4):
    """Partial results in lanes: rfactor of the inner part of a reduction variable; the part has a dimension more, `u`."""
    ro, ri = hl.RVar("ro"), hl.RVar("ri")
    update = reduction.update()
    update.split(r.x, ro, ri, LANES * registers)
    part = update.rfactor(ri, u)
    part.vectorize(u)
    part.update().reorder(u, ro).vectorize(u)
    reduction.update().atomic().vectorize(ri)
    return part


def softmax():
    m = input_of("x", hl.Float(32), 2, LANES * 4)
    n = multiple_of(m.dim(0).extent(), LANES * 4)
    r = hl.RDom([(0, n)])
    top, total, powers, inverse, out = (hl.Func(f) for f in ("top", "total", "powers", "inverse", "out"))
    top[y] = hl.f32(-3.4e38)
    top[y] = hl.max(top[y], m[r.x, y])
    powers[x, y] = hl.exp(m[x, y] - top[y])
    total[y] = hl.f32(0)
    total[y] += powers[r.x, y]
    inverse[y] = hl.f32(1) / total[y]
    out[x, y] = powers[x, y] * inverse[y]
    out.output_buffer().dim(0).set_extent(n)
    yi = hl.Var("yi")
    out.split(y, y, yi, 16).parallel(y)
    tops, totals = lanes_of(top, r), lanes_of(total, r)
    for f in (top, tops, total, totals, inverse):
        f.compute_at(out, yi)
    powers.compute_at(out, yi).vectorize(x, LANES)
    out.vectorize(x, LANES)
    return out, [m]


def layer_norm():
    m = input_of("x", hl.Float(32), 2, LANES * 4)
    scale, shift = input_of("scale", hl.Float(32), 1), input_of("shift", hl.Float(32), 1)
    n = multiple_of(m.dim(0).extent(), LANES * 4)
    r, q = hl.RDom([(0, n)]), hl.RDom([(0, n)])
    total, mean, squares, inverse, out = (hl.Func(f) for f in ("total", "mean", "squares", "inverse", "out"))
    total[y] = hl.f32(0)
    total[y] += m[r.x, y]
    mean[y] = total[y] / hl.f32(n)
    squares[y] = hl.f32(0)
    squares[y] += (m[q.x, y] - mean[y]) * (m[q.x, y] - mean[y])
    inverse[y] = hl.f32(1) / hl.sqrt(squares[y] / hl.f32(n) + hl.f32(1e-5))
    out[x, y] = (m[x, y] - mean[y]) * inverse[y] * scale[x] + shift[x]
    out.output_buffer().dim(0).set_extent(n)
    yi = hl.Var("yi")
    out.split(y, y, yi, 16).parallel(y)
    totals, parts = lanes_of(total, r), lanes_of(squares, q)
    for f in (total, totals, mean, squares, parts, inverse):
        f.compute_at(out, yi)
    out.vectorize(x, LANES)
    return out, [m, scale, shift]


def gelu():
    m = input_of("x", hl.Float(32), 1, LANES * 4)
    out = hl.Func("out")
    out[x] = m[x] * hl.f32(0.5) * (hl.f32(1) + hl.erf(m[x] * hl.f32(0.70710678)))
    out.vectorize(x, LANES).parallel(x, 4096)
    return out, [m]


def sum_all():
    part = 1 << 16
    m = input_of("x", hl.Float(32), 1, part)
    r = hl.RDom([(0, m.dim(0).extent() // part * part)])
    out = hl.Func("out")
    out[()] = hl.f32(0)
    out[()] += m[r.x]
    ro, ri, rr, lane = hl.RVar("ro"), hl.RVar("ri"), hl.RVar("rr"), hl.RVar("lane")
    parts = out.update().split(r.x, ro, ri, part).rfactor(ro, v)
    inside = parts.update().split(ri, rr, lane, LANES * 8).rfactor(lane, u)
    inside.compute_at(parts, v).vectorize(u)
    inside.update().reorder(u, rr).vectorize(u)
    parts.compute_root().parallel(v)
    parts.update().parallel(v).atomic().vectorize(lane)
    return out, [m]


def transpose():
    m = input_of("x", hl.Float(32), 2, 16)
    m.dim(1).set_extent(multiple_of(m.dim(1).extent(), 16))
    tile, turned, out = hl.Func("tile"), hl.Func("turned"), hl.Func("out")
    tile[x, y] = m[x, y]
    turned[x, y] = tile[y, x]
    out[x, y] = turned[x, y]
    xi, yi = hl.Var("xi"), hl.Var("yi")
    n = 8
    out.tile(x, y, xi, yi, n, n).vectorize(xi).unroll(yi)
    tile.compute_at(out, x).vectorize(x).unroll(y)
    turned.compute_at(out, x).vectorize(x).unroll(y)
    out.parallel(y, 4)
    for d in range(2):
        out.output_buffer().dim(d).set_extent(multiple_of(out.output_buffer().dim(d).extent(), 16))
    return out, [m]


def depthwise():
    m, taps = input_of("x", hl.Float(32), 3), input_of("w", hl.Float(32), 3)
    around, acc, out = hl.BoundaryConditions.constant_exterior(m, hl.f32(0), [(hl.Expr(), hl.Expr()), (0, m.dim(1).extent()), (0, m.dim(2).extent())]), hl.Func("acc"), hl.Func("out")
    r = hl.RDom([(0, 3), (0, 3)])
    acc[c, x, y] = hl.f32(0)
    acc[c, x, y] += around[c, x + r.x - 1, y + r.y - 1] * taps[c, r.x, r.y]
    out[c, x, y] = acc[c, x, y]
    out.output_buffer().dim(0).set_extent(m.dim(0).extent())
    out.output_buffer().dim(1).set_extent(multiple_of(m.dim(1).extent(), 8))
    xi, ci = hl.Var("xi"), hl.Var("ci")
    out.split(c, c, ci, LANES).split(x, x, xi, 8).reorder(ci, xi, c, x, y)
    out.vectorize(ci).unroll(xi).parallel(y)
    acc.compute_at(out, c).vectorize(c, LANES).unroll(x)
    acc.update().reorder(c, x, r.x, r.y).vectorize(c, LANES).unroll(x).unroll(r.x).unroll(r.y)
    return out, [m, taps]


def box_blur():
    lanes = TARGET.natural_vector_size(hl.UInt(16))
    m = hl.ImageParam(hl.UInt(16), 2, "x")
    across, out = hl.Func("across"), hl.Func("out")
    across[x, y] = (m[x, y] + m[x + 1, y] + m[x + 2, y]) / hl.u16(3)
    out[x, y] = (across[x, y] + across[x, y + 1] + across[x, y + 2]) / hl.u16(3)
    xi, yi = hl.Var("xi"), hl.Var("yi")
    out.output_buffer().dim(0).set_extent(multiple_of(out.output_buffer().dim(0).extent(), lanes))
    out.tile(x, y, xi, yi, lanes, 8).vectorize(xi).unroll(yi).parallel(y)
    across.compute_at(out, x).vectorize(x).unroll(y)  # a ring of rows takes 1.7 times as long
    return out, [m]


def unsharp():
    m = input_of("x", hl.Float(32), 3)
    weights = [hl.f32(k) for k in gaussian()]
    around = hl.BoundaryConditions.repeat_edge(m)
    gray, down, across, ratio, out = (hl.Func(f) for f in ("gray", "down", "across", "ratio", "out"))
    gray[x, y] = around[x, y, 0] * hl.f32(0.299) + around[x, y, 1] * hl.f32(0.587) + around[x, y, 2] * hl.f32(0.114)

    def seven(f, at):
        total = f(*at(0)) * weights[0]
        for d in range(1, 4):
            total = total + (f(*at(-d)) + f(*at(d))) * weights[d]
        return total

    down[x, y] = seven(lambda a, b: gray[a, b], lambda d: (x, y + d))
    across[x, y] = seven(lambda a, b: down[a, b], lambda d: (x + d, y))
    ratio[x, y] = (2 * gray[x, y] - across[x, y]) / hl.max(gray[x, y], hl.f32(1.0 / 65536))
    out[x, y, c] = ratio[x, y] * m[x, y, c]
    yi = hl.Var("yi")
    for d, extent in enumerate((m.dim(0).extent(), m.dim(1).extent())):
        out.output_buffer().dim(d).set_extent(extent)
    out.split(y, y, yi, 64).reorder(x, c, yi, y).parallel(y).vectorize(x, LANES)
    ratio.compute_at(out, yi).vectorize(x, LANES)
    down.compute_at(out, yi).vectorize(x, LANES)
    gray.store_at(out, y).compute_at(out, yi).vectorize(x, LANES)
    return out, [m]


def gaussian():  # as apps/unsharp/filter.h
    import math

    taps = [math.exp(-d * d / 4.5) for d in range(4)]
    total = taps[0] + 2 * sum(taps[1:])
    return [t / total for t in taps]


def main():
    if len(sys.argv) not in (2, 3) or sys.argv[2:] not in ([], ["avx2"]):
        sys.exit(__doc__)
    library = pathlib.Path(sys.argv[1]).resolve()
    package = pathlib.Path(hl.__file__).parent
    header = next(package.rglob("HalideRuntime.h"))
    with tempfile.TemporaryDirectory() as folder:
        objects = []
        for make in (softmax, layer_norm, gelu, sum_all, transpose, depthwise, box_blur, unsharp):
            out, arguments = make()
            objects.append(f"{folder}/{make.__name__}.o")
            out.compile_to({hl.OutputFileType.object: objects[-1]}, arguments, "halide_" + make.__name__, TARGET)
        wrapper = pathlib.Path(__file__).with_name("peers.cpp")
        subprocess.run(["g++", "-std=c++20", "-O2", "-fPIC", "-shared", f'-DABOUT="Halide {version("halide")}, {TARGET}"', "-I", header.parent, wrapper, *objects, "-o", library,
                        "-lpthread", "-ldl", "-lm"], check=True)


main()
