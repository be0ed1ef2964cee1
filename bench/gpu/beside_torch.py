#!/usr/bin/env python3
"""Times of the kernels beside PyTorch's, in one process, on the same tensors and the same stream.

    beside_torch.py libashlar_gpu.so        prints a table for docs/performance.md

Exits with 3, and says why, where PyTorch or its device cannot be used.
"""
import ctypes
import statistics
import sys

RUNS = 20


def absent(why):
    print(f"\nNothing stands beside PyTorch: {why}.")
    sys.exit(3)


try:
    import torch
except ImportError:
    absent("it is not installed")
if not torch.cuda.is_available():
    absent("it sees no CUDA device")


class Tensor(ctypes.Structure):  # ashlar_tensor
    _fields_ = [("data", ctypes.c_void_p), ("device_type", ctypes.c_int32), ("device_id", ctypes.c_int32), ("ndim", ctypes.c_int32),
                ("type_code", ctypes.c_uint8), ("type_bits", ctypes.c_uint8), ("type_lanes", ctypes.c_uint16),
                ("shape", ctypes.POINTER(ctypes.c_int64)), ("strides", ctypes.POINTER(ctypes.c_int64)), ("byte_offset", ctypes.c_uint64)]


def described(t, keep):
    shape = (ctypes.c_int64 * t.dim())(*t.shape)
    keep.append(shape)
    code, bits = {torch.float32: (2, 32), torch.bfloat16: (4, 16)}[t.dtype]
    return Tensor(t.data_ptr(), 2, t.device.index or 0, t.dim(), code, bits, 1, shape, None, 0)


def microseconds(stream, f):
    times = []
    for n in range(-3, RUNS):
        begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        begin.record(stream)
        f()
        end.record(stream)
        end.synchronize()
        if n >= 0:
            times.append(1e3 * begin.elapsed_time(end))
    return statistics.median(times)


def main():
    library = ctypes.CDLL(sys.argv[1])
    library.ashlar_gpu_call.argtypes = [ctypes.c_char_p, ctypes.c_char_p, ctypes.POINTER(Tensor), ctypes.c_int, ctypes.c_void_p]
    library.ashlar_gpu_failure.restype = ctypes.c_char_p
    major, minor = torch.cuda.get_device_capability()
    target = {(9, 0): "cuda-sm_90a", (10, 0): "cuda-sm_100a"}.get((major, minor), "cuda-sm_80" if major >= 8 else None)
    if target is None:
        absent(f"the device has compute capability {major}.{minor}, expected 8.0 at least")
    torch.backends.cuda.matmul.allow_tf32 = False
    torch.manual_seed(1)
    stream = torch.cuda.Stream()

    def real(*shape, kind=torch.float32):
        return torch.randn(*shape, device="cuda", dtype=kind)

    x, bias = real(8192, 4096), real(4096)
    rows = [("add_bias", "add_bias of 8192 x 4096 f32", [x, bias], lambda: x + bias, 0),
            ("transpose", "transpose of 8192 x 4096 f32", [x], lambda: x.t().contiguous(), 0),
            ("softmax", "softmax of 8192 x 4096 f32", [x], lambda: torch.softmax(x, 1), 1e-5)]
    a, b = real(2048, 2048), real(2048, 2048)
    rows.append(("product", "product of f32, 2048", [a, b], lambda: a @ b, 1e-3))
    c, d = real(4096, 4096, kind=torch.bfloat16), real(4096, 4096, kind=torch.bfloat16)
    rows.append(("mma_product", "product of bf16 into f32, by a user's instruction, 4096", [c, d], lambda: c @ d, 2e-2))
    if target == "cuda-sm_90a":
        p, q = real(8192, 8192, kind=torch.bfloat16), real(8192, 8192, kind=torch.bfloat16)
        rows.append(("matmul", "product of bf16, by hand, 8192", [p, q], lambda: p @ q.t(), 2e-2))

    print(f"\nBeside PyTorch {torch.__version__}, in one process:\n")
    print("| kernel | Ashlar | PyTorch | PyTorch's time by ours |\n|---|---|---|---|")
    bad = 0
    with torch.cuda.stream(stream):
        for name, title, inputs, theirs, bound in rows:
            expected = theirs()
            result = torch.empty_like(expected, dtype=torch.float32 if name == "mma_product" else None)
            keep = []
            tensors = (Tensor * (len(inputs) + 1))(*[described(t, keep) for t in [*inputs, result]])

            def call():
                extra = ctypes.c_void_p(stream.cuda_stream)
                if library.ashlar_gpu_call(name.encode(), target.encode(), tensors, len(tensors), extra) != 0:
                    raise RuntimeError(library.ashlar_gpu_failure().decode())

            call()
            stream.synchronize()
            apart = ((result.float() - expected.float()).abs().max() / expected.float().abs().max()).item()
            if not apart <= bound:
                bad += 1
                print(f"{name} differs by {apart}", file=sys.stderr)
            ours, other = microseconds(stream, call), microseconds(stream, theirs)
            print(f"| {title} | {ours:.1f} us | {other:.1f} us | {other / ours:.2f} |")
    return 1 if bad else 0


sys.exit(main())
