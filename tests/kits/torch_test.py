#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The kit for PyTorch, in the PyTorch of the interpreter that runs this: torch_test.py LIBRARY [unittest arguments], LIBRARY
being that of the package"""
import os
import re
import shutil
import subprocess
import sys
import unittest

import loading

parent, package = os.path.split(os.path.dirname(os.path.abspath(sys.argv[1])))
sys.path.insert(0, parent)
import torch  # noqa: E402
import torch._dynamo.testing  # noqa: E402

kit = __import__(package)
ops = torch.ops.ashlar_test
opcheck = torch.library.opcheck


def swish(x, beta):
    return x * torch.sigmoid(beta * x)


def row_norm(x, w):
    return (w * x * x).sum(1)


class Results(unittest.TestCase):
    shapes = [(1, 1), (3, 5), (16, 64), (7, 129), (0, 4), (4, 0)]

    def test_elementwise(self):
        for shape in self.shapes:
            x = torch.randn(shape)
            torch.testing.assert_close(ops.swish(x, 1.5), swish(x, 1.5), rtol=2e-6, atol=1e-7)
            torch.testing.assert_close(kit.swish64(x.double(), 0.5), swish(x.double(), 0.5), rtol=1e-14, atol=1e-15)

    def test_reduction(self):
        for shape in self.shapes[:4]:
            x, w = torch.randn(shape), torch.randn(shape[1])
            torch.testing.assert_close(ops.row_norm(x, w), row_norm(x, w), rtol=1e-5, atol=1e-5)

    def test_int8_product(self):
        for m, n, k in [(1, 1, 1), (5, 7, 33), (64, 96, 128), (0, 3, 4), (3, 2, 0)]:
            a = torch.randint(0, 256, (m, k), dtype=torch.uint8)
            b = torch.randint(-128, 128, (k, n), dtype=torch.int8)
            self.assertTrue(torch.equal(ops.matmul_i8(a, b), a.int() @ b.int()))

    def test_several_results(self):
        x = torch.randn(4, 9)
        low, high = kit.min_max(x)
        self.assertTrue(torch.equal(low, x.amin(1)) and torch.equal(high, x.amax(1)))

    def test_other_types(self):
        x = torch.tensor([1, -2, 0, 0.5, -3], dtype=torch.float16)
        for flip in (False, True):
            positive, half = kit.kinds(x, flip)
            self.assertTrue(torch.equal(positive, x < 0 if flip else x > 0) and torch.equal(half, (x / 2).bfloat16()))

    def test_extents(self):  # R is an argument, the other one is computed
        x = torch.arange(9, dtype=torch.int32)
        expected = x[[0, 4, 8]] + torch.arange(3, dtype=torch.int32)[:, None] - 5
        self.assertTrue(torch.equal(kit.windows(x, -5, 3), expected))
        self.assertEqual(ops.windows(x, -5, 0).shape, (0, 3))

    def test_given_outputs(self):
        x = torch.randn(6, 10)
        y = torch.full((6, 20), 7.0)
        self.assertEqual(kit.swish(x, 1.5, out=y[:, 3:13]).data_ptr(), y.data_ptr() + 12)
        self.assertTrue(torch.equal(y[:, 3:13], kit.swish(x, 1.5)))
        self.assertTrue((y[:, :3] == 7).all() and (y[:, 13:] == 7).all())
        low, high = torch.empty(6), torch.empty(6)
        kit.min_max(x, out=(low, high))
        self.assertTrue(torch.equal(low, x.amin(1)) and torch.equal(high, x.amax(1)))
        z = torch.empty(2, 3, dtype=torch.int32)
        kit.windows(torch.arange(9, dtype=torch.int32), 0, out=z)
        self.assertEqual(z.tolist(), [[0, 4, 8], [1, 5, 9]])

    def test_views(self):  # rows that are padded or repeated, an offset; and strides of any size where the kernel takes them
        whole = torch.randn(8, 50)
        for x in (whole[:, 7:31], whole[1::2], whole[:1].expand(5, 50), whole[3:3]):
            torch.testing.assert_close(kit.swish(x, 1.5), swish(x, 1.5), rtol=2e-6, atol=1e-7)
        bias = torch.randn(8)
        for x in (whole.t(), whole[:, ::6][:, :8], whole[:8, :1].expand(8, 8)):
            self.assertTrue(torch.equal(kit.strided(x, bias), x + bias))

    def test_threads(self):  # those of PyTorch
        x = torch.randn(512, 300)
        expected = kit.swish(x, 1.5)
        before = torch.get_num_threads()
        for threads in (1, 3):
            torch.set_num_threads(threads)
            self.assertTrue(torch.equal(kit.swish(x, 1.5), expected))
        torch.set_num_threads(before)


class Errors(unittest.TestCase):
    def fails(self, text, f, kind=RuntimeError):
        with self.assertRaises(kind) as raised:
            f()
        self.assertIn(text, str(raised.exception))

    def test_messages(self):
        x, w = torch.randn(3, 5), torch.randn(5)
        a, b = torch.zeros(7, 33, dtype=torch.uint8), torch.zeros(5, 9, dtype=torch.int8)
        i = torch.arange(9, dtype=torch.int32)
        for text, f in [
            ("swish: x is f64, expected f32", lambda: ops.swish(x.double(), 1.0)),
            ("swish: x has a type that no kernel takes", lambda: ops.swish(x.to(torch.complex64), 1.0)),
            ("swish: x has rank 1, expected rank 2", lambda: ops.swish(x[0], 1.0)),
            ("row_norm: w has rank 0, expected rank 1", lambda: ops.row_norm(x, w[0])),
            ("matmul_i8: B.shape[0] is 5, expected 33 (K, from A.shape[1])", lambda: ops.matmul_i8(a, b)),
            ("row_norm: N is 0, expected at least 1", lambda: ops.row_norm(x[:, :0], w[:0])),
            ("swish: x.strides[1] is 5, expected 1 (the innermost); pass x.contiguous()", lambda: ops.swish(x.t(), 1.0)),
            ("strided: bias begins 4 bytes past a multiple of 64 bytes", lambda: ops.strided(x, torch.randn(6)[1:])),
            ("windows: shift is 300, expected -128 to 127", lambda: ops.windows(i, 300, 2)),
            ("windows: R is -2, expected 0 to", lambda: ops.windows(i, 3, -2)),
            ("windows: no memory for y", lambda: ops.windows(i, 3, 2**50)),
            ("windows: y would have more elements than memory can hold", lambda: ops.windows(i, 3, 2**62)),
            ("swish: y overlaps x, expected memory of its own", lambda: kit.swish(x, 1.0, out=x)),
            ("swish: y.shape[0] is 4, expected 3 (M, from x.shape[0])", lambda: kit.swish(x, 1.0, out=torch.empty(4, 5))),
            ("swish: y is f64, expected f32", lambda: kit.swish(x, 1.0, out=torch.empty(3, 5).double())),
            ("swish: y has rank 1, expected rank 2", lambda: kit.swish(x, 1.0, out=torch.empty(5))),
            ("for argument 'x'", lambda: ops.swish("x", 1.0)),
            ("for argument 'R'", lambda: kit.windows(i, 3)),
            ("missing value for argument 'beta'", lambda: ops.swish(x)),
        ]:
            with self.subTest(text):
                self.fails(text, f)
        self.assertTrue(torch.equal(kit.min_max(x)[0], x.amin(1)))  # nothing is left behind

    def test_devices(self):
        x = torch.randn(3, 5)
        self.fails("SparseCPU", lambda: ops.swish(x.to_sparse(), 1.0), NotImplementedError)
        self.fails("row_norm: tensors on meta and cpu", lambda: ops.row_norm(x.to("meta"), x[0]))

    def test_fake_tensors(self):  # the same checks where there is no memory
        x = torch.empty(3, 5, device="meta")
        self.assertEqual(ops.swish(x, 1.0).shape, (3, 5))
        self.assertEqual(ops.windows(torch.empty(9, dtype=torch.int32, device="meta"), 1, 2).shape, (2, 3))
        self.fails("swish: x has rank 1", lambda: ops.swish(x[0], 1.0))
        self.fails("swish: x has type torch.float64, expected torch.float32", lambda: ops.swish(x.double(), 1.0))
        self.fails("row_norm: w.shape[0] is 4, expected 5 (N)", lambda: ops.row_norm(x, torch.empty(4, device="meta")))
        self.fails("windows: N must be at least 4", lambda: ops.windows(torch.empty(3, dtype=torch.int32, device="meta"), 1, 2))

    def test_memory(self):  # neither calls nor failures keep tensors
        x = torch.randn(64, 64)
        count = sys.getrefcount(x)
        for _ in range(200):
            ops.swish(x, 1.0)
            self.fails("strides", lambda: ops.swish(x.t(), 1.0))
        self.assertEqual(sys.getrefcount(x), count)


class Transforms(unittest.TestCase):
    def setUp(self):
        self.x = torch.randn(4, 6, requires_grad=True)
        self.w = torch.randn(6, requires_grad=True)

    def test_opcheck(self):
        x, w = self.x, self.w
        i = torch.arange(9, dtype=torch.int32)
        a, b = torch.randint(0, 256, (7, 33), dtype=torch.uint8), torch.randint(-128, 128, (33, 9), dtype=torch.int8)
        low, high = torch.empty(4), torch.empty(4)
        for operator, arguments, outputs in [
            (ops.swish, (x, 1.5), {"y": torch.empty(4, 6)}),
            (ops.row_norm, (x, w), {"y": torch.empty(4)}),
            (ops.matmul_i8, (a, b), {"C": torch.empty(7, 9, dtype=torch.int32)}),
            (ops.spread, (w, torch.ones(6, dtype=torch.int32), 3), {"y": torch.empty(3, 6)}),
            (ops.energy, (x,), {"y": torch.empty(())}),
            (ops.min_max, (x,), {"low": low, "high": high}),
            (ops.windows, (i, 3, 2), {"y": torch.empty(2, 3, dtype=torch.int32)}),
            (ops.strided, (x.detach().t(), torch.randn(4)), {"y": torch.empty(6, 4)}),
        ]:
            with self.subTest(operator):
                opcheck(operator.default, arguments)
                plain = [t.detach() if isinstance(t, torch.Tensor) else t for t in arguments][:2]
                opcheck(operator.out, tuple(plain), outputs)
        opcheck(ops.swish_backward.default, (x.detach(), 1.5, torch.randn(4, 6)))
        opcheck(ops.row_norm_backward.default, (x.detach(), w.detach(), torch.randn(4)))

    def test_derivatives(self):
        x, w = self.x.detach().double().requires_grad_(), self.w.detach().double().requires_grad_()
        self.assertTrue(torch.autograd.gradcheck(lambda t: kit.swish64(t, 0.7), (x,)))
        self.assertTrue(torch.autograd.gradcheck(kit.row_norm64, (x, w)))
        ours = torch.autograd.grad(ops.row_norm(self.x, self.w).pow(2).sum(), (self.x, self.w))
        theirs = torch.autograd.grad(row_norm(self.x, self.w).pow(2).sum(), (self.x, self.w))
        torch.testing.assert_close(ours, theirs, rtol=1e-5, atol=1e-5)
        def same(f, g, *inputs):
            a, b = (torch.autograd.grad(sum((k + 1) * t.pow(3).sum() for k, t in enumerate(h(*inputs))), inputs) for h in (f, g))
            torch.testing.assert_close(a, b, rtol=1e-4, atol=1e-4)

        same(kit.min_max, lambda t: (t.amin(1), t.amax(1)), self.x)  # of several results
        signs, factors = torch.tensor([1, -1, 2, 0, 3, 1], dtype=torch.int32), torch.arange(1.0, 5)
        same(lambda t: (ops.spread(t, signs, 4),), lambda t: (t * signs * factors[:, None],), self.w)
        same(lambda t: (ops.energy(t),), lambda t: (t.pow(2).sum(),), self.x)
        self.assertEqual(ops.energy(self.x).shape, ())
        y = ops.energy(self.x.detach()[:0])
        self.assertEqual(y.item(), 0)
        with self.assertRaisesRegex(RuntimeError, "ashlar_test::swish has a first derivative, and no second one"):
            first, = torch.autograd.grad(kit.swish(self.x, 1.5).sum(), self.x, create_graph=True)
            first.sum().backward()

    def test_vmap(self):
        v, w = torch.randn(4, 5, 6), self.w.detach()
        self.assertTrue(torch.equal(torch.vmap(lambda t: ops.swish(t, 1.5))(v), torch.stack([kit.swish(t, 1.5) for t in v])))
        by_second = torch.vmap(ops.row_norm, in_dims=(1, None))(v, w)
        self.assertTrue(torch.equal(by_second, torch.stack([kit.row_norm(v[:, k].contiguous(), w) for k in range(5)])))
        low, high = torch.vmap(ops.min_max)(v)
        self.assertTrue(torch.equal(low, v.amin(2)) and torch.equal(high, v.amax(2)))
        self.assertEqual(torch.vmap(ops.row_norm, in_dims=(0, None))(v[:0], w).shape, (0, 5))

    def test_export(self):
        class Module(torch.nn.Module):
            def forward(self, x, w):
                return ops.row_norm(ops.swish(x, 0.5), w) + 1

        m = torch.export.Dim("m")
        exported = torch.export.export(Module(), (self.x.detach(), self.w.detach()), dynamic_shapes=({0: m}, None))
        for rows in (2, 9):
            x = torch.randn(rows, 6)
            torch.testing.assert_close(exported.module()(x, self.w.detach()), Module()(x, self.w.detach()))

    def test_compile(self):
        def f(x, w):
            return ops.row_norm(ops.swish(x * 2, 1.5), w).sum() + 1

        for backend in ("aot_eager", "inductor") if shutil.which("c++") else ("aot_eager",):
            torch._dynamo.reset()
            counter = torch._dynamo.testing.CompileCounterWithBackend(backend)
            compiled = torch.compile(f, fullgraph=True, dynamic=True, backend=counter)
            for rows in (4, 7, 12):
                x, w = torch.randn(rows, 6, requires_grad=True), self.w
                ours = torch.autograd.grad(compiled(x, w), (x, w))
                torch.testing.assert_close(ours, torch.autograd.grad(f(x, w), (x, w)), rtol=1e-5, atol=1e-5)
            self.assertEqual(counter.frame_count, 1, "one graph for all sizes")

    def test_compiled_outputs(self):  # an operator that writes what it is given, in a graph
        def f(x):
            y = torch.empty_like(x)
            ops.swish.out(x, 1.5, y=y)
            return y + 1

        x = self.x.detach()
        self.assertTrue(torch.equal(torch.compile(f, fullgraph=True, backend="aot_eager")(x), f(x)))


class Loading(loading.Package):
    parent, name, twice = parent, package, "PyTorch refuses the operator ashlar_test::"

    def test_too_old(self):
        self.assertIn(f"ImportError: {package} needs PyTorch 2.9 or later, found 2.4.1",
                      self.run_python(f"import torch; torch.__version__ = '2.4.1'; import {package}"))

    def test_other_run(self):
        other = self.copy(self.edit("_swish.py", "swish(Tensor x, float beta)", "swish(Tensor x)"))
        self.assertIn("the module was made for swish(Tensor x) -> Tensor, and the library has swish(Tensor x, float beta) -> Tensor",
                      self.run_python(f"import {package}", other))
        other = self.copy(self.edit("_swish.py", 'require("swish"', 'require("swash"'))
        self.assertIn("its library has no operator swash", self.run_python(f"import {package}", other))

    def test_without_torch(self):
        library = os.path.join(parent, package, f"lib{package}.so")
        code = (f"import ctypes; f = ctypes.CDLL({library!r}).swish_torch_status; f.restype = ctypes.c_char_p; "
                "raise SystemExit(f(b'').decode())")
        self.assertIn("no PyTorch is loaded in this process (import torch comes first)", self.run_python(code))

    def test_symbols(self):
        """Nothing of PyTorch is asked of the linker, and what is looked up is in the headers of its stable ABI."""
        library = os.path.join(parent, package, f"lib{package}.so")
        asked = subprocess.run(["nm", "-D", "--undefined-only", library], capture_output=True, text=True, check=True).stdout
        for name in re.findall(r"\b[Uw] (\S+)", asked):
            self.assertNotRegex(name, r"torch|c10|^_Z")
        with open(library, "rb") as f:
            looked_up = set(re.findall(rb"\0((?:aoti_)?torch_[a-z0-9_]+)(?=\0)", f.read()))
        headers = ""
        for header in ("csrc/inductor/aoti_torch/c/shim.h", "csrc/stable/c/shim.h"):
            path = os.path.join(os.path.dirname(torch.__file__), "include/torch", header)
            if os.path.exists(path):
                with open(path) as f:
                    headers += f.read()
        later = {"torch_get_num_threads", "torch_parallel_for", "torch_get_const_data_ptr",
                 "aoti_torch_cuda_caching_allocator_raw_alloc", "aoti_torch_cuda_caching_allocator_raw_delete"}
        self.assertGreater(len(looked_up), 35)
        missing = {name for name in map(bytes.decode, looked_up) if not re.search(rf"\b{name}\(", headers)}
        self.assertLessEqual(missing, set() if re.match(r"2\.1[0-9]", torch.__version__) else later)


if __name__ == "__main__":
    print(f"PyTorch {torch.__version__}")
    unittest.main(argv=sys.argv[:1] + sys.argv[2:])
