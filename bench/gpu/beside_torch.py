#!/usr/bin/env python3
"""Times of the kernels beside PyTorch's (cuBLAS's, cuDNN's), in one process, on the same random tensors and the same stream.

    beside_torch.py libashlar_gpu.so --list        the names of the rows
    beside_torch.py libashlar_gpu.so [ROW ...]     a line of JSON each, for supervise.py and tables.py

Rows of tiles stand beside the same kernels in cuTile Python and in Triton too (beside_tiles.py), where those are installed: the
fastest of their sizes of tiles. "absent" of a line names those that are not.

Medians of 20 runs between events of the device (of 3 where one takes longer than 50 ms), after one that is compared with
PyTorch's result and two more. The rows that begin with "ceiling" are PyTorch's alone: what this device reaches.

Exits with 3, and says why, where PyTorch or its device cannot be used; with 4 where a kernel took the context along.
"""
import ctypes
import dataclasses
import json
import statistics
import sys
import time
import typing

import beside_tiles


def absent(why):
    print(f"Nothing stands beside PyTorch: {why}.")
    sys.exit(3)


@dataclasses.dataclass
class Row:
    title: str
    kernel: str  # as kernels.h names it; "" for a ceiling
    make: typing.Callable  # () -> (inputs, PyTorch's function, result)
    work: float  # bytes or operations
    unit: str  # "GB/s" or "TFLOP/s"
    ceiling: str = ""
    bound: float = 1e-5  # relative to the largest value
    peer: str = ""  # what beside_tiles.py calls it


def rows(torch):
    f32, bf16 = torch.float32, torch.bfloat16
    copy, half, single = "ceiling: copy of 4 GiB", "ceiling: product of bf16, 8192", "ceiling: product of f32, 4096"
    size = {f32: 4, bf16: 2}
    name = {f32: "f32", bf16: "bf16"}
    functional = torch.nn.functional

    def real(*shape, kind=f32):
        return torch.randn(*shape, device="cuda", dtype=torch.float32).to(kind)

    def product(m, n, k, kind=f32, result=None, turned=False):
        def make():
            a, b = real(m, k, kind=kind), real(*((n, k) if turned else (k, n)), kind=kind)
            return [a, b], (lambda: a @ (b.t() if turned else b)), torch.empty(m, n, device="cuda", dtype=result or kind)
        return make

    def of(inputs, f, result=None):
        def make():
            made = inputs()
            return made, (lambda: f(*made)), result() if result else None
        return make

    def copied():
        a = real(1 << 29, kind=f32)
        b = torch.empty_like(a)
        return [a], (lambda: b.copy_(a)), None

    all = [Row(copy, "", copied, 2 * 4 * 2**29, "GB/s"),
           Row(half, "", product(8192, 8192, 8192, bf16), 2 * 8192**3, "TFLOP/s"),
           Row(single, "", product(4096, 4096, 4096), 2 * 4096**3, "TFLOP/s")]
    for n in (1024, 1000, 4096):
        for kind, ceiling, bound in ((f32, single, 1e-4), (bf16, half, 2e-2)):
            all.append(Row(f"gpu_matmul {name[kind]}, {n}", f"gpu_matmul {name[kind]}", product(n, n, n, kind), 2 * n**3, "TFLOP/s", ceiling, bound))
            all.append(Row(f"ashlar-ops matmul {name[kind]}, {n}", f"ashlar-ops matmul type={name[kind]}", product(n, n, n, kind), 2 * n**3, "TFLOP/s", ceiling, bound))
    all += [Row("product of bf16 into f32, by a user's instruction, 4096", "mma_product", product(4096, 4096, 4096, bf16, f32), 2 * 4096**3, "TFLOP/s", half, 2e-2),
            Row("product of bf16, by hand (wgmma, TMA), 4096", "matmul", product(4096, 4096, 4096, bf16, turned=True), 2 * 4096**3, "TFLOP/s", half, 2e-2),
            Row("product of bf16, by hand (wgmma, TMA), 8192", "matmul", product(8192, 8192, 8192, bf16, turned=True), 2 * 8192**3, "TFLOP/s", half, 2e-2)]
    n = 1 << 26
    for kind in (f32, bf16):
        b, t = size[kind], name[kind]
        bound = 1e-5 if kind == f32 else 1e-2
        all += [Row(f"ashlar-ops add {t}, 2^26", f"ashlar-ops add type={t} a=N b=N", of(lambda kind=kind: [real(n, kind=kind), real(n, kind=kind)], torch.add), 3 * b * n, "GB/s", copy, bound),
                Row(f"ashlar-ops add {t}, 8192 x 8192", f"ashlar-ops add type={t}", of(lambda kind=kind: [real(8192, 8192, kind=kind), real(8192, 8192, kind=kind)], torch.add), 3 * b * n, "GB/s", copy, bound),
                Row(f"ashlar-ops gelu {t}, 8192 x 8192", f"ashlar-ops gelu type={t} shape=M,N", of(lambda kind=kind: [real(8192, 8192, kind=kind)], functional.gelu), 2 * b * n, "GB/s", copy, bound),
                Row(f"ashlar-ops softmax {t}, 4096 x 4096", f"ashlar-ops softmax type={t}", of(lambda kind=kind: [real(4096, 4096, kind=kind)], lambda x: torch.softmax(x, 1)), 2 * b * 2**24, "GB/s", copy, bound),
                Row(f"ashlar-ops layer_norm {t}, 4096 x 4096", f"ashlar-ops layer_norm type={t}",
                    of(lambda kind=kind: [real(4096, 4096, kind=kind), real(4096, kind=kind), real(4096, kind=kind)], lambda x, w, v: functional.layer_norm(x, (4096,), w, v)), 2 * b * 2**24, "GB/s", copy, 4 * bound),
                Row(f"ashlar-ops reduce_sum {t}, rows of 8192 x 8192", f"ashlar-ops reduce_sum type={t} axes=1", of(lambda kind=kind: [real(8192, 8192, kind=kind)], lambda x: x.sum(1)), b * n, "GB/s", copy, 10 * bound),
                Row(f"ashlar-ops transpose {t}, 8192 x 8192", f"ashlar-ops transpose type={t}", of(lambda kind=kind: [real(8192, 8192, kind=kind)], lambda x: x.t().contiguous()), 2 * b * n, "GB/s", copy, 0)]
    all += [Row("ashlar-ops reduce_sum f32, all of 2^26", "ashlar-ops reduce_sum shape=N axes=all", of(lambda: [torch.rand(n, device="cuda")], lambda x: x.sum()), 4 * n, "GB/s", copy, 1e-4),
            Row("add_bias f32, 8192 x 4096", "add_bias", of(lambda: [real(8192, 4096), real(4096)], torch.add), 2 * 4 * 2**25, "GB/s", copy),
            Row("transpose f32, 8192 x 4096", "transpose", of(lambda: [real(8192, 4096)], lambda x: x.t().contiguous()), 2 * 4 * 2**25, "GB/s", copy, 0),
            Row("softmax f32, 8192 x 4096", "softmax", of(lambda: [real(8192, 4096)], lambda x: torch.softmax(x, 1)), 2 * 4 * 2**25, "GB/s", copy),
            Row("product of f32, 2048", "product", product(2048, 2048, 2048), 2 * 2048**3, "TFLOP/s", single, 1e-4)]
    for kind in (f32, bf16):
        t, heads, length = name[kind], 16, 2048
        three = lambda kind=kind: [real(1, heads, length, 64, kind=kind) for _ in range(3)]
        for online in ("", "_online"):
            all.append(Row(f"ashlar-ops attention{online} {t}, 16 heads of 2048 x 2048 x 64", f"ashlar-ops attention{online} type={t}",
                           of(three, functional.scaled_dot_product_attention), 4 * heads * length**2 * 64, "TFLOP/s", single if kind == f32 else half, 1e-3 if kind == f32 else 3e-2))
    all.append(Row("ashlar-ops conv2d f32, 8 x 64 x 56 x 56, 3 x 3 to 64", "ashlar-ops conv2d bias=false padding=1",
                   of(lambda: [real(8, 64, 56, 56), real(64, 64, 3, 3)], lambda x, w: functional.conv2d(x, w, padding=1)), 2 * 8 * 64 * 64 * 9 * 56 * 56, "TFLOP/s", single, 1e-4))
    return all + tiles(real, product, of, functional.scaled_dot_product_attention, half, bf16)


def tiles(real, product, of, attention, ceiling, bf16):
    all = [Row(f"tile_matmul bf16, {n}", "tile_matmul bf16", product(n, n, n, bf16), 2 * n**3, "TFLOP/s", ceiling, 2e-2, "product")
           for n in (1000, 1024, 4096, 8192)]
    heads, length = 16, 4096
    for d in (64, 128):
        for causal in (False, True):
            work, three = 4 * heads * length**2 * d // (2 if causal else 1), lambda d=d: [real(1, heads, length, d, kind=bf16) for _ in range(3)]
            theirs = lambda q, k, v, causal=causal: attention(q, k, v, is_causal=causal)
            words = " causal" if causal else ""
            for fast in ("", " fast"):
                all.append(Row(f"tile_attention bf16{words}{fast}, {heads} heads of {length} x {length} x {d}", f"tile_attention {d}{words}{fast}",
                               of(three, theirs), work, "TFLOP/s", ceiling, 3e-2, "attention" + words if fast else ""))
    return all


class Tensor(ctypes.Structure):  # ashlar_tensor
    _fields_ = [("data", ctypes.c_void_p), ("device_type", ctypes.c_int32), ("device_id", ctypes.c_int32), ("ndim", ctypes.c_int32),
                ("type_code", ctypes.c_uint8), ("type_bits", ctypes.c_uint8), ("type_lanes", ctypes.c_uint16),
                ("shape", ctypes.POINTER(ctypes.c_int64)), ("strides", ctypes.POINTER(ctypes.c_int64)), ("byte_offset", ctypes.c_uint64)]


class Library:
    def __init__(self, path, target):
        self.library = ctypes.CDLL(path)
        self.library.ashlar_gpu_call.argtypes = [ctypes.c_char_p, ctypes.c_char_p, ctypes.POINTER(Tensor), ctypes.c_int, ctypes.c_void_p]
        self.library.ashlar_gpu_prepare.argtypes = [ctypes.c_char_p, ctypes.c_char_p]
        self.library.ashlar_gpu_failure.restype = ctypes.c_char_p
        self.target = target

    def require(self, code):
        if code != 0:
            raise RuntimeError(self.library.ashlar_gpu_failure().decode())

    def target_of(self, kernel):
        """Tiles for Hopper are those of sm_90; every other chip takes the bytecode of sm_80."""
        tile = "cuda-tile-sm_90" if self.target == "cuda-sm_90a" else "cuda-tile-sm_80"
        return (tile if kernel.startswith("tile_") else self.target).encode()

    def prepare(self, kernel):
        self.require(self.library.ashlar_gpu_prepare(kernel.encode(), self.target_of(kernel)))

    def function(self, torch, kernel, tensors, stream):
        keep = []

        def described(t):
            if not t.is_contiguous():  # no strides: the library takes the rows behind each other
                raise ValueError(f"a tensor of strides {tuple(t.stride())}, expected a contiguous one of shape {tuple(t.shape)}")
            shape = (ctypes.c_int64 * max(1, t.dim()))(*t.shape)
            keep.append(shape)
            code, bits = {torch.float32: (2, 32), torch.bfloat16: (4, 16)}[t.dtype]
            return Tensor(t.data_ptr(), 2, t.device.index or 0, t.dim(), code, bits, 1, shape, None, 0)

        list_ = (Tensor * len(tensors))(*map(described, tensors))
        keep.append(tensors)

        def call(kept=keep):
            self.require(self.library.ashlar_gpu_call(kernel.encode(), self.target_of(kernel), list_, len(list_), ctypes.c_void_p(stream.cuda_stream)))
        return call


def microseconds(torch, stream, f):
    times, runs, n = [], 20, -2
    while n < runs:
        begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        begin.record(stream)
        f()
        end.record(stream)
        end.synchronize()
        took = 1e3 * begin.elapsed_time(end)
        if took > 5e4:
            runs = 3
        if n >= 0:
            times.append(took)
        n += 1
    return statistics.median(times)


def distance(found, expected):
    return ((found.float() - expected.float()).abs().max() / expected.float().abs().max()).item()


def beside(torch, peers, stream, row, inputs, expected):
    """Times of the peers' kernels: of the fastest size of tiles whose result is right."""
    found = {}
    for name in peers.found:
        result, best, wrong = torch.empty_like(expected, memory_format=torch.contiguous_format), None, ""
        try:
            for call in peers.calls(name, row.peer, [*inputs, result], stream):
                result.fill_(float("nan"))
                call()
                stream.synchronize()
                if not distance(result, expected) <= row.bound:
                    wrong = f"differs by {distance(result, expected):.3g} of the largest value"
                    continue
                took = microseconds(torch, stream, call)
                best = took if best is None else min(best, took)
        except Exception as e:  # of theirs: our row stands
            wrong = f"{type(e).__name__}: {e}"[:300]
        if best is not None:
            found[f"{name}_us"] = round(best, 2)
        if wrong:
            found[f"{name}_text"] = wrong
    return found | ({"absent": peers.absent} if peers.absent else {})


def measure(torch, library, peers, stream, row):
    inputs, theirs, result = row.make()
    found = {"case": row.title, "result": "passed", "unit": row.unit, "work": row.work, "ceiling": row.ceiling}
    if row.kernel:
        started = time.monotonic()
        library.prepare(row.kernel)
        found["prepare_s"] = round(time.monotonic() - started, 3)
        expected = theirs()
        result = torch.empty_like(expected, memory_format=torch.contiguous_format) if result is None else result
        result.fill_(float("nan"))
        call = library.function(torch, row.kernel, [*inputs, result], stream)
        started = time.monotonic()
        call()
        stream.synchronize()
        found["first_call_s"] = round(time.monotonic() - started, 3)
        apart = distance(result, expected)
        found["apart"] = apart
        if not apart <= row.bound:
            found["result"], found["text"] = "differs", f"by {apart:.3g} of the largest value, expected {row.bound:g} at most"
        found["us"] = round(microseconds(torch, stream, call), 2)
    found["torch_us"] = round(microseconds(torch, stream, theirs), 2)
    if row.peer:
        found |= beside(torch, peers, stream, row, inputs, expected)
    return found


def main():
    arguments = sys.argv[1:]
    try:
        import torch
    except ImportError:
        absent("it is not installed")
    if "--list" in arguments:
        print("\n".join(row.title for row in rows(torch)))
        return 0
    if not torch.cuda.is_available():
        absent("it sees no CUDA device")
    major, minor = torch.cuda.get_device_capability()
    target = {(9, 0): "cuda-sm_90a", (10, 0): "cuda-sm_100a"}.get((major, minor), "cuda-sm_80" if major >= 8 else None)
    if target is None:
        absent(f"the device has compute capability {major}.{minor}, expected 8.0 at least")
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = False
    torch.manual_seed(1)
    library, stream, bad, peers = Library(arguments[0], target), torch.cuda.Stream(), False, beside_tiles.Peers(torch)
    for row in rows(torch):
        if arguments[1:] and row.title not in arguments[1:]:
            continue
        print(json.dumps({"begin": row.title}), flush=True)
        try:
            with torch.cuda.stream(stream):
                found = measure(torch, library, peers, stream, row)
        except Exception as e:  # of a driver or of our library: the other rows go on
            found = {"case": row.title, "result": "error", "text": str(e)[:600]}
        print(json.dumps(found), flush=True)
        bad = bad or found["result"] != "passed"
        try:
            torch.cuda.synchronize()
            torch.cuda.empty_cache()
        except Exception:
            return 4
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
