#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The kit for JAX, in the JAX of the interpreter that runs this: jax_test.py LIBRARY [unittest arguments], LIBRARY being that of
the package"""
import os
import subprocess
import sys
import unittest

import loading

parent, package = os.path.split(os.path.dirname(os.path.abspath(sys.argv[1])))
sys.path.insert(0, parent)
os.environ["JAX_PLATFORMS"] = "cpu"
import jax  # noqa: E402
import jax.numpy as jnp  # noqa: E402
import numpy as np  # noqa: E402
from jax.test_util import check_grads  # noqa: E402

kit = __import__(package)
random = np.random.default_rng(1)


def normal(*shape):
    return random.standard_normal(shape, dtype=np.float32)


def swish(x, beta):
    return x * jax.nn.sigmoid(beta * x)


def row_norm(x, w):
    return (w * x * x).sum(-1)


def close(a, b, rtol=1e-5, atol=1e-5):
    jax.tree.map(lambda s, t: np.testing.assert_allclose(s, t, rtol=rtol, atol=atol), a, b)


class Doubles(unittest.TestCase):
    def setUp(self):
        jax.config.update("jax_enable_x64", True)
        self.addCleanup(jax.config.update, "jax_enable_x64", False)

    def test_results(self):
        x, w = random.standard_normal((5, 7)), random.standard_normal(7)
        close(kit.swish64(x, 0.5), swish(x, 0.5), 1e-14, 1e-15)
        close(jax.jit(kit.row_norm64)(x, w), row_norm(x, w), 1e-14, 1e-14)
        self.assertEqual(kit.swish64(jnp.asarray(x), 0.5).dtype, np.float64)

    def test_derivatives(self):
        x, w = random.standard_normal((4, 6)), random.standard_normal(6)
        check_grads(lambda t: kit.swish64(t, 0.7), (x,), order=1, modes=["rev"])
        check_grads(kit.row_norm64, (x, w), order=1, modes=["rev"])


class Results(unittest.TestCase):
    shapes = [(1, 1), (3, 5), (16, 64), (7, 129), (0, 4), (4, 0)]

    def test_elementwise(self):
        for shape in self.shapes:
            x = normal(*shape)
            for f in (kit.swish, jax.jit(kit.swish)):
                close(f(x, 1.5), swish(x, 1.5), 2e-6, 1e-6)

    def test_reduction(self):
        for shape in self.shapes[:5]:
            x, w = normal(*shape), normal(shape[1])
            for f in (kit.row_norm, jax.jit(kit.row_norm)):
                close(f(x, w), row_norm(x, w), 1e-5, 1e-4)

    def test_int8_product(self):
        for m, n, k in [(1, 1, 1), (5, 7, 33), (64, 96, 128), (0, 3, 4), (3, 2, 0)]:
            a = random.integers(0, 256, (m, k), dtype=np.uint8)
            b = random.integers(-128, 128, (k, n), dtype=np.int8)
            theirs = jnp.matmul(jnp.asarray(a, jnp.int32), jnp.asarray(b, jnp.int32))
            for f in (kit.matmul_i8, jax.jit(kit.matmul_i8)):
                ours = f(a, b)
                self.assertEqual(ours.dtype, np.int32)
                np.testing.assert_array_equal(ours, theirs)

    def test_several_results(self):
        x = normal(4, 9)
        close(kit.min_max(x), (x.min(1), x.max(1)), 0, 0)

    def test_numbers(self):  # that are known and that are computed; extents
        x = np.arange(9, dtype=np.int32)
        expected = x[[0, 4, 8]] + np.arange(3, dtype=np.int32)[:, None] - 5
        np.testing.assert_array_equal(kit.windows(x, -5, 3), expected)
        compiled = jax.jit(kit.windows, static_argnums=2)
        for shift in (-5, np.int8(-5), jnp.int32(-5), jnp.int8(-5)):
            np.testing.assert_array_equal(compiled(x, shift, 3), expected)
        self.assertEqual(kit.windows(x, -5, 0).shape, (0, 3))
        y = normal(2, 3)
        for beta in (2, 2.0, np.float64(2), jnp.float16(2), jnp.bfloat16(2)):
            close(jax.jit(kit.swish)(y, beta), swish(y, 2.0), 2e-6, 1e-6)

    def test_other_types(self):
        x = np.array([1, -2, 0, 0.5, -3], np.float16)
        for f in (kit.kinds, jax.jit(kit.kinds)):
            for flip in (True, np.bool_(False), jnp.asarray(True)):
                positive, half = f(x, flip)
                self.assertEqual((positive.dtype, half.dtype), (np.bool_, jnp.bfloat16))
                np.testing.assert_array_equal(positive, x < 0 if flip else x > 0)
                np.testing.assert_array_equal(half.astype(np.float32), x.astype(np.float32) / 2)
        close(jax.vmap(kit.kinds)(np.stack([x, -x]), np.array([True, False]))[0], np.stack([x < 0, x < 0]), 0, 0)
        with self.assertRaisesRegex(TypeError, r"kinds: flip is an array \[\] of int32, expected True or False"):
            kit.kinds(x, jnp.int32(1))

    def test_one_program_for_all_numbers(self):
        count = []

        @jax.jit
        def f(x, beta):
            count.append(1)
            return kit.swish(x, beta)

        for beta in (0.5, 1.5, 2.5):
            x = normal(3, 4)
            close(f(x, beta), swish(x, beta), 2e-6, 1e-6)
        self.assertEqual(len(count), 1)

    def test_other_layouts(self):  # XLA makes dense what is transposed or sliced
        x, w = jnp.asarray(normal(6, 8)), normal(6)
        close(jax.jit(lambda t: kit.row_norm(t.T, w))(x), row_norm(x.T, w))
        close(kit.swish(x[::2, 1:5], 1.0), swish(x[::2, 1:5], 1.0), 2e-6, 1e-6)
        bias = normal(6)
        np.testing.assert_array_equal(kit.strided(x.T, bias), x.T + bias)

    def test_threads(self):  # those of XLA: a kernel starts none
        code = (f"import sys, os; sys.path.insert(0, {parent!r}); import jax, numpy as np, {package} as kit\n"
                "x = np.linspace(-3, 3, 1 << 20, dtype=np.float32).reshape(1024, 1024)\n"
                "theirs = jax.jit(lambda t: (t @ t.T, t / (1 + jax.numpy.exp(-t))))(x)[1]\n"
                "count = lambda: len(os.listdir('/proc/self/task'))\n"
                "jax.block_until_ready(kit.energy(x[:1]))\nbefore = count()\n"
                "for _ in range(20): ours = jax.block_until_ready(kit.swish(x, 1.0))\n"
                "assert np.allclose(ours, theirs, 1e-5, 1e-6)\nassert count() <= before, (before, count())")
        subprocess.run([sys.executable, "-c", code], check=True, env={**os.environ, "JAX_PLATFORMS": "cpu"})

    def test_many_calls(self):  # from several threads, and several operators of one program at once
        xs = [normal(256, 300) for _ in range(6)]
        f = jax.jit(lambda *t: [kit.row_norm(kit.swish(x, 1.0), x[0]) for x in t])
        for ours, x in zip(f(*xs), xs):
            close(ours, row_norm(swish(x, 1.0), x[0]), 1e-4, 1e-3)
        from concurrent.futures import ThreadPoolExecutor
        x, w = normal(64, 512), normal(512)
        expected = np.asarray(kit.row_norm(x, w))
        with ThreadPoolExecutor(4) as pool:
            for y in pool.map(lambda _: kit.row_norm(x, w), range(64)):
                np.testing.assert_array_equal(y, expected)


class Transforms(unittest.TestCase):
    def test_vmap(self):
        x, w = normal(5, 4, 6), normal(6)
        one_by_one = np.stack([kit.row_norm(t, w) for t in x])
        for f in (jax.vmap(kit.row_norm, (0, None)), jax.jit(jax.vmap(kit.row_norm, (0, None)))):
            np.testing.assert_array_equal(f(x, w), one_by_one)
        np.testing.assert_array_equal(jax.vmap(kit.row_norm, (1, None), 1)(x, w), np.stack([kit.row_norm(x[:, k], w) for k in range(4)], 1))
        ws = normal(3, 6)  # two batches, each of one operand
        both = jax.vmap(jax.vmap(kit.row_norm, (None, 0)), (0, None))(x, ws)
        np.testing.assert_array_equal(both, np.stack([np.stack([kit.row_norm(t, v) for v in ws]) for t in x]))
        betas = normal(5)
        np.testing.assert_array_equal(jax.vmap(kit.swish)(x, betas), np.stack([kit.swish(t, b) for t, b in zip(x, betas)]))
        np.testing.assert_array_equal(jax.vmap(kit.swish, (None, 0))(x[0], betas), np.stack([kit.swish(x[0], b) for b in betas]))
        close(jax.vmap(kit.min_max)(x), (x.min(2), x.max(2)), 0, 0)
        self.assertEqual(jax.vmap(kit.row_norm, (0, None))(x[:0], w).shape, (0, 4))
        i, shifts = np.arange(9, dtype=np.int32), np.arange(4, dtype=np.int32)
        self.assertEqual(jax.vmap(lambda s: kit.windows(i, s, 2))(shifts).shape, (4, 2, 3))

    def test_vmap_aligned(self):  # elements of the batch lie where the kernel asks for an address that they have not
        x, bias = normal(5, 3, 7), normal(5, 7)
        np.testing.assert_array_equal(jax.vmap(kit.strided)(x, bias), x + bias[:, None])

    def test_grad(self):
        x, w = normal(4, 6), normal(6)
        signs, factors = np.array([1, -1, 2, 0, 3, 1], np.int32), np.arange(1.0, 5, dtype=np.float32)

        def same(f, g, *inputs):
            def loss(h):
                return lambda *t: sum((k + 1) * (y ** 3).sum() for k, y in enumerate(jax.tree.leaves(h(*t))))
            places = tuple(range(len(inputs)))
            close(jax.grad(loss(f), places)(*inputs), jax.grad(loss(g), places)(*inputs), 1e-4, 1e-4)
            close(jax.jit(jax.grad(loss(f), places))(*inputs), jax.grad(loss(g), places)(*inputs), 1e-4, 1e-4)

        same(lambda t: kit.swish(t, 1.5), lambda t: swish(t, 1.5), x)
        same(kit.row_norm, row_norm, x, w)
        same(kit.min_max, lambda t: (t.min(1), t.max(1)), x)
        same(lambda t: kit.min_max(t)[1], lambda t: t.max(1), x)  # nothing comes back through the other one
        same(lambda t: kit.spread(t, signs, 4), lambda t: t * signs * factors[:, None], w)
        same(kit.energy, lambda t: (t ** 2).sum(), x)
        self.assertEqual(kit.energy(x[:0]), 0)

    def test_grad_and_vmap(self):  # of each example
        x, w = normal(5, 4, 6), normal(6)
        ours = jax.jit(jax.vmap(jax.grad(lambda t, v: kit.row_norm(t, v).sum(), (0, 1)), (0, None)))(x, w)
        close(ours, jax.vmap(jax.grad(lambda t, v: row_norm(t, v).sum(), (0, 1)), (0, None))(x, w))
        close(jax.grad(lambda t: jax.vmap(kit.energy)(t).sum())(x), 2 * x)

    def test_control_flow(self):
        x = normal(3, 4)
        ours = jax.lax.scan(lambda t, b: (kit.swish(t, b), kit.energy(t)), x, jnp.arange(3.0))
        close(ours, jax.lax.scan(lambda t, b: (swish(t, b), (t ** 2).sum()), x, jnp.arange(3.0)))
        close(jax.lax.map(lambda b: kit.swish(x, b), jnp.arange(3.0)), jnp.stack([swish(x, b) for b in range(3)]), 1e-5, 1e-6)

    def test_no_derivative(self):
        x, w = normal(3, 4), normal(4)
        for kind, text, f in [
            (TypeError, "swish: there is no derivative with respect to beta, a scalar", lambda: jax.grad(lambda b: kit.swish(x, b).sum())(1.0)),
            (ValueError, "ashlar_test.energy", lambda: jax.grad(jax.grad(lambda b: kit.energy(b * x)))(1.0)),
            (ValueError, "ashlar_test.strided", lambda: jax.grad(lambda t: kit.strided(t, w).sum())(x)),
            (TypeError, "forward-mode", lambda: jax.jvp(kit.energy, (x,), (x,))),
        ]:
            with self.subTest(text):
                with self.assertRaisesRegex(kind, text):
                    f()
        same = jax.grad(lambda b: kit.swish(b * x, jax.lax.stop_gradient(b)).sum())(1.0)
        close(same, jax.grad(lambda b: swish(b * x, jax.lax.stop_gradient(b)).sum())(1.0))

    @unittest.skipUnless(hasattr(jax, "export") or subprocess.run([sys.executable, "-c", "import absl"], capture_output=True).returncode == 0,
                         "jax.export needs absl here")
    def test_export(self):  # one program for all sizes
        import jax.export
        check = [jax.export.DisabledSafetyCheck.custom_call(f"ashlar_test.{f}") for f in ("row_norm", "swish", "windows")]

        def exported(f, *shapes, **more):
            return jax.export.export(jax.jit(f), disabled_checks=check)(*shapes, **more)

        m, n, k = jax.export.symbolic_shape("m, n, k")
        f = exported(lambda x, w: kit.row_norm(kit.swish(x, 0.5), w) + 1, jax.ShapeDtypeStruct((m, n), np.float32),
                     jax.ShapeDtypeStruct((n,), np.float32))
        for shape in ((2, 6), (9, 3)):
            x, w = normal(*shape), normal(shape[1])
            close(f.call(x, w), row_norm(swish(x, 0.5), w) + 1)
        self.assertEqual(str(f.out_avals[0].shape), "(m,)")
        g = exported(lambda x: kit.windows(x, 1, 2), jax.ShapeDtypeStruct((m,), np.int32))
        self.assertEqual(str(g.out_avals[0].shape), "(2, floordiv(m, 4) + 1)")
        i = np.arange(9, dtype=np.int32)
        np.testing.assert_array_equal(g.call(i), kit.windows(i, 1, 2))
        with self.assertRaisesRegex(Exception, "windows: N is 3, expected at least 4"):
            jax.block_until_ready(g.call(i[:3]))
        # two extents that the program does not know to be the same: the kernel checks them
        h = exported(kit.row_norm, jax.ShapeDtypeStruct((m, n), np.float32), jax.ShapeDtypeStruct((k,), np.float32))
        close(h.call(np.ones((2, 3), np.float32), np.ones(3, np.float32)), np.full(2, 3, np.float32))
        with self.assertRaisesRegex(Exception, r"row_norm: w.shape\[0\] is 4, expected 3 \(N, from x.shape\[1\]\)"):
            jax.block_until_ready(h.call(normal(2, 3), normal(4)))


class Errors(unittest.TestCase):
    def test_messages(self):
        x, w = normal(3, 5), normal(5)
        a, b = np.zeros((7, 33), np.uint8), np.zeros((5, 9), np.int8)
        i = np.arange(9, dtype=np.int32)
        for kind, text, f in [
            (TypeError, "swish: x has type float64, expected float32", lambda: kit.swish(x.astype(np.float64), 1.0)),
            (TypeError, "swish: x has type complex64, expected float32", lambda: kit.swish(jnp.asarray(x, np.complex64), 1.0)),
            (TypeError, "swish: x is not an array but str", lambda: kit.swish("x", 1.0)),
            (TypeError, "swish: beta is str, expected a number", lambda: kit.swish(x, "b")),
            (TypeError, "swish: beta is an array [5] of float32, expected a number", lambda: kit.swish(x, w)),
            (TypeError, "windows: shift is float, expected a whole number", lambda: kit.windows(i, 1.5, 2)),
            (TypeError, "windows: shift is an array [] of float32, expected a whole number", lambda: kit.windows(i, jnp.float32(1), 2)),
            (TypeError, "windows: R is float, expected a whole number that is known when JAX compiles", lambda: kit.windows(i, 1, 2.5)),
            (TypeError, "windows: R is", lambda: jax.jit(kit.windows)(i, 1, 2)),
            (TypeError, "missing 1 required positional argument: 'beta'", lambda: kit.swish(x)),
            (TypeError, "swish64: x has type float32, expected float64", lambda: kit.swish64(x, 1.0)),
            (ValueError, "swish: x has rank 1, expected rank 2", lambda: kit.swish(x[0], 1.0)),
            (ValueError, "row_norm: w has rank 0, expected rank 1", lambda: kit.row_norm(x, w[0])),
            (ValueError, "matmul_i8: B.shape[0] is 5, expected 33 (K)", lambda: kit.matmul_i8(a, b)),
            (ValueError, "row_norm: N must be at least 1", lambda: kit.row_norm(x[:, :0], w[:0])),
            (ValueError, "windows: N must be at least 4", lambda: kit.windows(i[:3], 1, 2)),
            (ValueError, "windows: shift is 300, expected -128 to 127", lambda: kit.windows(i, 300, 2)),
            (ValueError, "windows: R is -2, expected at least 0", lambda: kit.windows(i, 3, -2)),
            (RuntimeError, "windows: shift is 300, expected -128 to 127",
             lambda: jax.block_until_ready(jax.jit(lambda s: kit.windows(i, s, 2))(np.int32(300)))),
            (RuntimeError, "windows: shift is -129, expected -128 to 127",
             lambda: jax.block_until_ready(jax.vmap(lambda s: kit.windows(i, s, 2))(np.array([1, -129], np.int32)))),
        ]:
            for g in (f, jax.jit(f)) if kind is not RuntimeError else (f,):  # while JAX compiles, too
                with self.subTest(text):
                    with self.assertRaises(kind) as raised:
                        g()
                    self.assertIn(text, str(raised.exception))
        close(kit.min_max(x)[0], x.min(1), 0, 0)  # and the process goes on

    def test_wrong_call(self):  # by the name of its target, with what no function of the kit passes
        x = normal(3, 4)
        call = jax.ffi.ffi_call("ashlar_test.swish", jax.ShapeDtypeStruct((3, 4), np.float32))
        for text, operands in [("swish: beta is missing", (x,)),
                               ("swish: expected 2 operands and 1 results, found 3 and 1", (x, np.float32(1), x)),
                               ("swish: x has rank 1, expected rank 2", (x[0], np.float32(1))),
                               ("swish: x is i32, expected f32", (x.astype(np.int32), np.float32(1))),
                               ("swish: beta has rank 1, expected rank 0", (x, x[0])),
                               ("swish: beta is a number of another kind", (x, np.int32(1)))]:
            with self.subTest(text):
                with self.assertRaises(Exception) as raised:
                    jax.block_until_ready(call(*operands))
                self.assertIn(text, str(raised.exception))


class Loading(loading.Package):
    parent, name, twice = parent, package, "another library of this process has defined the operator ashlar_test."

    def test_too_old(self):
        self.assertIn(f"ImportError: {package} needs JAX 0.5 or later, found 0.4.30",
                      self.run_python(f"import jax; jax.__version__ = '0.4.30'; import {package}"))

    def test_other_run(self):
        other = self.copy(self.edit("_swish.py", "swish(x: f32[M, N], beta: f32)", "swish(x: f32[M, N])"))
        self.assertIn("the module was made for swish(x: f32[M, N]) -> y: f32[M, N], and the library has swish(x: f32[M, N], beta: f32) -> y",
                      self.run_python(f"import {package}", other))
        other = self.copy(self.edit("_swish.py", 'register("swish"', 'register("swash"'))
        self.assertIn("its library has no operator swash", self.run_python(f"import {package}", other))

    def test_symbols(self):  # nothing of XLA is asked of the linker
        library = os.path.join(parent, package, f"lib{package}.so")
        asked = subprocess.run(["nm", "-D", "--undefined-only", library], capture_output=True, text=True, check=True).stdout
        self.assertNotRegex(asked, r"XLA|_Z")


if __name__ == "__main__":
    print(f"JAX {jax.__version__}")
    unittest.main(argv=sys.argv[:1] + sys.argv[2:])
