#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The kit for Python's arrays: python_test.py LIBRARY [unittest arguments], LIBRARY being that of the package. Where there is
no NumPy, what needs it is skipped; with PyTorch its tensors are arrays too, through DLPack."""
import array
import ast
import os
import subprocess
import sys
import threading
import unittest

parent = os.path.dirname(os.path.dirname(os.path.abspath(sys.argv[1])))
sys.path.insert(0, parent)
import kits_python as kit  # noqa: E402

try:
    import numpy as np
except ImportError:
    np = None
try:
    import torch
except ImportError:
    torch = None


def floats(rows, columns=None, code="f"):
    """A memoryview of rows, or of rows x columns, of numbers 0, 1, 2, ..."""
    whole = array.array(code, range(rows * (columns or 1)))
    return memoryview(whole) if columns is None else memoryview(whole).cast("B").cast(code, (rows, columns))


class Buffers(unittest.TestCase):  # no package is needed for these
    def test_given_result(self):
        x, w, y = floats(3, 4), floats(4), floats(3)
        self.assertIs(kit.row_norm(x, w, out=y), y)
        self.assertEqual(y.tolist(), [sum(j * (4 * i + j) ** 2 for j in range(4)) for i in range(3)])

    def test_by_name(self):
        y = floats(3)
        kit.row_norm(w=floats(4), x=floats(3, 4), out=y)
        self.assertEqual(y[0], 36)

    def test_strides(self):
        x, y = floats(4, 6), floats(2, 6)
        kit.strided(x[::2], floats(6) if aligned(floats(6)) else aligned_floats(6), out=y)
        self.assertEqual(y.tolist(), [[2.0 * j for j in range(6)], [12 + 2.0 * j for j in range(6)]])

    def test_errors(self):
        x, w, y = floats(3, 4), floats(4), floats(3)
        i, two = floats(9, code="i"), floats(2, 3, "i")
        for kind, text, f in [
            (TypeError, "row_norm: x is f64, expected f32", lambda: kit.row_norm(floats(3, 4, "d"), w, out=y)),
            (TypeError, "row_norm: x is not an array", lambda: kit.row_norm(1, w, out=y)),
            (TypeError, "row_norm: x has elements of a type that no kernel takes", lambda: kit.row_norm(memoryview(b"abcd").cast("c"), w, out=y)),
            (TypeError, "row_norm: w is missing", lambda: kit.row_norm(x, out=y)),
            (TypeError, "row_norm: expected at most 2 arguments, found 3", lambda: kit.row_norm(x, w, y)),
            (TypeError, "row_norm: there is no argument 'z'", lambda: kit.row_norm(x, w, z=y)),
            (TypeError, "row_norm: 'x' is given twice", lambda: kit.row_norm(x, w, x=x)),
            (TypeError, "min_max: expected a tuple of 2 arrays for out", lambda: kit.min_max(x, out=y)),
            (TypeError, "swish: beta is not a number", lambda: kit.swish(x, "a", out=floats(3, 4))),
            (TypeError, "windows: shift is not a whole number", lambda: kit.windows(i, 1.5, out=two)),
            (ValueError, "windows: shift is 300, expected -128 to 127", lambda: kit.windows(i, 300, out=two)),
            (ValueError, "windows: shift is outside of 64 bits", lambda: kit.windows(i, 2**70, out=two)),
            (ValueError, "row_norm: x has rank 1, expected rank 2", lambda: kit.row_norm(w, w, out=y)),
            (ValueError, "row_norm: w.shape[0] is 3, expected 4 (N, from x.shape[1])", lambda: kit.row_norm(x, y, out=y)),
            (ValueError, "row_norm: y is read-only, and a result", lambda: kit.row_norm(x, w, out=y.toreadonly())),
            (ValueError, "swish: y overlaps x", lambda: kit.swish(x, 1.0, out=x)),
            (ValueError, "windows: N is 3, expected at least 4", lambda: kit.windows(i[:3], 1, out=two)),
        ]:
            with self.subTest(text):
                with self.assertRaises(kind) as raised:
                    f()
                self.assertIn(text, str(raised.exception))
        self.assertEqual(y.tolist(), [0, 1, 2])  # nothing was written

    def test_nothing_is_kept(self):
        x, w, y = floats(3, 4), floats(4), floats(3)
        before = [sys.getrefcount(a) for a in (x, w, y)]
        for _ in range(100):
            kit.row_norm(x, w, out=y)
            with self.assertRaises(ValueError):
                kit.row_norm(w, w, out=y)
        self.assertEqual([sys.getrefcount(a) for a in (x, w, y)], before)
        x.release()  # no buffer is held

    def test_threads(self):  # several call at once; the interpreter goes on meanwhile
        results = [floats(64) for _ in range(4)]
        x, w = floats(64, 512), floats(512)
        workers = [threading.Thread(target=kit.row_norm, args=(x, w), kwargs={"out": y}) for y in results]
        for t in workers:
            t.start()
        for t in workers:
            t.join()
        self.assertTrue(all(y.tolist() == results[0].tolist() for y in results))

    def test_documentation(self):
        self.assertIn("x: an array [M, N] of f32", kit.row_norm.__doc__)
        self.assertEqual(kit.row_norm.__text_signature__, "(x, w, *, out=None)")
        with open(os.path.join(parent, "kits_python", "__init__.pyi")) as f:
            stubs = {n.name: n for n in ast.parse(f.read()).body if isinstance(n, ast.FunctionDef)}
        self.assertEqual(sorted(stubs), sorted(kit.__all__))
        self.assertEqual([a.arg for a in stubs["windows"].args.args], ["x", "shift", "R"])

    def test_symbols(self):  # of the limited API alone
        library = os.path.join(parent, "kits_python", "_kits_python.abi3.so")
        asked = subprocess.run(["nm", "-D", "--undefined-only", library], capture_output=True, text=True, check=True).stdout
        names = {line.split()[-1] for line in asked.splitlines() if "Py" in line}
        self.assertIn("PyObject_GetBuffer", names)
        self.assertFalse({n for n in names if n.startswith("_Py")} - {"_Py_NoneStruct", "_Py_Dealloc", "_PyObject_CallMethod_SizeT"})


def aligned(m):
    import ctypes
    return ctypes.addressof(ctypes.c_char.from_buffer(m.cast("B"))) % 64 == 0


def aligned_floats(n):
    import ctypes
    room = memoryview(bytearray(4 * n + 64))
    begin = -ctypes.addressof(ctypes.c_char.from_buffer(room)) % 64
    y = room[begin:begin + 4 * n].cast("f")
    for j in range(n):
        y[j] = j
    return y


@unittest.skipUnless(np, "there is no NumPy")
class Arrays(unittest.TestCase):
    def setUp(self):
        self.random = np.random.default_rng(1)

    def test_operators(self):
        for m, n in [(1, 1), (3, 5), (16, 64), (7, 129), (0, 4)]:
            x, w = self.random.standard_normal((m, n), dtype=np.float32), self.random.standard_normal(n, dtype=np.float32)
            y = kit.swish(x, 1.5)
            self.assertEqual((type(y), y.dtype, y.shape), (np.ndarray, np.float32, (m, n)))
            np.testing.assert_allclose(y, x / (1 + np.exp(-1.5 * x)), rtol=2e-6, atol=1e-7)
            np.testing.assert_allclose(kit.row_norm(x, w), (w * x * x).sum(1), rtol=1e-5, atol=1e-5)
            a, b = self.random.integers(0, 256, (m, n), dtype=np.uint8), self.random.integers(-128, 128, (n, 9), dtype=np.int8)
            np.testing.assert_array_equal(kit.matmul_i8(a, b), a.astype(np.int32) @ b.astype(np.int32))

    def test_views(self):
        whole = self.random.standard_normal((8, 48), dtype=np.float32)
        for x in (whole[:, 5:21], whole[::-2][::-1], np.broadcast_to(whole[:1], (5, 48))):
            np.testing.assert_allclose(kit.swish(x, 1.5), x / (1 + np.exp(-1.5 * x)), rtol=2e-6, atol=1e-7)
        bias = np.frombuffer(aligned_floats(8), np.float32)
        for x in (whole.T, whole[:, ::6], whole[:, ::-6], np.broadcast_to(whole[:, :1], (8, 8))):
            np.testing.assert_array_equal(kit.strided(x, bias), x + bias)
        with self.assertRaisesRegex(ValueError, r"swish: x.strides\[1\] is 48, expected 1"):
            kit.swish(whole.T, 1.5)
        packed = np.zeros(4, dtype=np.dtype([("a", "u1"), ("b", "<f4")], align=False))
        with self.assertRaisesRegex(ValueError, "row_norm: w has strides that are not multiples of its element size"):
            kit.row_norm(whole[:, :4], packed["b"])

    def test_results(self):
        x = self.random.standard_normal((4, 9), dtype=np.float32)
        low, high = kit.min_max(x)
        np.testing.assert_array_equal((low, high), (x.min(1), x.max(1)))
        i = np.arange(9, dtype=np.int32)
        np.testing.assert_array_equal(kit.windows(i, -5, R=3), i[::4] + np.arange(3, dtype=np.int32)[:, None] - 5)
        with self.assertRaisesRegex(TypeError, "windows: R is missing"):
            kit.windows(i, -5)
        with self.assertRaisesRegex(ValueError, "windows: R is -1, expected 0 to"):
            kit.windows(i, -5, -1)
        with self.assertRaisesRegex(MemoryError, "windows: y would have more elements than memory can hold"):
            kit.windows(i, -5, 2**61)

    @unittest.skipUnless(torch, "there is no PyTorch")
    def test_dlpack(self):
        x, w = torch.randn(5, 33), torch.randn(33)
        np.testing.assert_allclose(kit.row_norm(x, w), (w * x * x).sum(1).numpy(), rtol=1e-5, atol=1e-5)
        y = torch.empty(5)
        self.assertIs(kit.row_norm(x[:, :20], w[:20], out=y), y)
        torch.testing.assert_close(y, (w * x * x)[:, :20].sum(1), rtol=1e-5, atol=1e-5)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[2:])
