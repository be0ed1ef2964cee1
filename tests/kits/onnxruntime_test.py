#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The kit for ONNX Runtime, in the one of the interpreter that runs this: onnxruntime_test.py LIBRARY [unittest arguments]. One
that is too old for the kit must say so, and nothing else is tested then."""
import os
import subprocess
import sys
import unittest
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper

library = os.path.abspath(sys.argv[1])
release = tuple(map(int, onnxruntime.__version__.split(".")[:2]))
F32, F64, I32, U8, I8 = TensorProto.FLOAT, TensorProto.DOUBLE, TensorProto.INT32, TensorProto.UINT8, TensorProto.INT8
random = np.random.default_rng(1)


def node(operator, inputs, outputs, **attributes):
    return helper.make_node(operator, inputs, outputs, domain="ashlar_test", **attributes)


def model(nodes, inputs, outputs):
    """A model whose inputs are {name: (type, shape)}, in which an extent is a number, a name or None; the shape None: unknown."""
    def values(of):
        return [helper.make_tensor_value_info(name, *info) for name, info in of.items()]
    graph = helper.make_graph(nodes, "graph", values(inputs), values(outputs))
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17), helper.make_opsetid("ashlar_test", 1)])
    made.ir_version = 8
    return made.SerializeToString()


def session(*what, threads=0):
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    options.intra_op_num_threads = threads
    options.register_custom_ops_library(library)
    return onnxruntime.InferenceSession(model(*what), options, providers=["CPUExecutionProvider"])


def normal(*shape):
    return random.standard_normal(shape, dtype=np.float32)


SWISH = ([node("swish", ["x"], ["y"], beta=1.5)], {"x": (F32, ["M", "N"])}, {"y": (F32, None)})
ROW_NORM = ([node("row_norm", ["x", "w"], ["y"])], {"x": (F32, ["M", "N"]), "w": (F32, ["N"])}, {"y": (F32, None)})


def swish(x, beta):
    return x / (1 + np.exp(-beta * x))


@unittest.skipUnless(release < (1, 17), f"ONNX Runtime {onnxruntime.__version__} has all that the kit needs")
class TooOld(unittest.TestCase):
    def test_message(self):
        with self.assertRaisesRegex(Exception, rf"kits_onnxruntime needs ONNX Runtime 1\.17 or later, found {onnxruntime.__version__}"):
            onnxruntime.SessionOptions().register_custom_ops_library(library)


@unittest.skipIf(release < (1, 17), f"ONNX Runtime {onnxruntime.__version__} is too old")
class Results(unittest.TestCase):
    shapes = [(1, 1), (3, 5), (16, 64), (7, 129), (0, 4), (4, 0)]

    def test_elementwise(self):
        s = session(*SWISH)
        for shape in self.shapes:  # one session for all sizes
            x = normal(*shape)
            y, = s.run(None, {"x": x})
            np.testing.assert_allclose(y, swish(x, 1.5), rtol=2e-6, atol=1e-6)
            self.assertEqual(y.dtype, np.float32)

    def test_reduction(self):
        s = session(*ROW_NORM)
        for shape in self.shapes[:5]:
            x, w = normal(*shape), normal(shape[1])
            np.testing.assert_allclose(s.run(None, {"x": x, "w": w})[0], (w * x * x).sum(1), rtol=1e-5, atol=1e-4)
        s = session([node("row_norm64", ["x", "w"], ["y"])], {"x": (F64, [3, 5]), "w": (F64, [5])}, {"y": (F64, [3])})
        x, w = random.standard_normal((3, 5)), random.standard_normal(5)
        np.testing.assert_allclose(s.run(None, {"x": x, "w": w})[0], (w * x * x).sum(1), rtol=1e-14, atol=1e-14)

    def test_int8_product(self):  # bits of ONNX Runtime's own
        s = session([node("matmul_i8", ["A", "B"], ["C"]), helper.make_node("MatMulInteger", ["A", "B"], ["D"])],
                    {"A": (U8, ["M", "K"]), "B": (I8, ["K", "N"])}, {"C": (I32, ["M", "N"]), "D": (I32, ["M", "N"])})
        for m, n, k in [(1, 1, 1), (5, 7, 33), (64, 96, 128), (0, 3, 4)]:
            a = random.integers(0, 256, (m, k), dtype=np.uint8)
            b = random.integers(-128, 128, (k, n), dtype=np.int8)
            ours, theirs = s.run(None, {"A": a, "B": b})
            np.testing.assert_array_equal(ours, theirs)
            np.testing.assert_array_equal(ours, a.astype(np.int32) @ b.astype(np.int32))

    def test_several_results(self):
        s = session([node("min_max", ["x"], ["low", "high"])], {"x": (F32, [4, 9])}, {"low": (F32, [4]), "high": (F32, [4])})
        x = normal(4, 9)
        np.testing.assert_array_equal(s.run(["high", "low"], {"x": x}), (x.max(1), x.min(1)))

    def test_attributes(self):  # numbers, and an extent that no input tells
        s = session([node("windows", ["x"], ["y"], shift=-5, R=3)], {"x": (I32, ["n"])}, {"y": (I32, None)})
        x = np.arange(9, dtype=np.int32)
        np.testing.assert_array_equal(s.run(None, {"x": x})[0], x[::4] + np.arange(3, dtype=np.int32)[:, None] - 5)

    def test_other_types(self):
        x = np.array([1, -2, 0, 0.5, -3], np.float16)
        for flip in (0, 1):
            s = session([node("kinds", ["x"], ["positive", "half"], flip=flip), helper.make_node("Cast", ["half"], ["z"], to=F32)],
                        {"x": (TensorProto.FLOAT16, [5])}, {"positive": (TensorProto.BOOL, [5]), "z": (F32, [5])})
            positive, z = s.run(None, {"x": x})
            np.testing.assert_array_equal(positive, x < 0 if flip else x > 0)
            np.testing.assert_array_equal(z, x.astype(np.float32) / 2)

    def test_constants(self):  # ONNX Runtime computes what depends on no input when it loads the model
        x, w = normal(3, 5), normal(5)
        graph = helper.make_graph(ROW_NORM[0], "graph", [], [helper.make_tensor_value_info("y", F32, [3])],
                                  initializer=[onnx.numpy_helper.from_array(x, "x"), onnx.numpy_helper.from_array(w, "w")])
        options = onnxruntime.SessionOptions()
        options.register_custom_ops_library(library)
        made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17), helper.make_opsetid("ashlar_test", 1)])
        made.ir_version = 8
        y, = onnxruntime.InferenceSession(made.SerializeToString(), options).run(None, {})
        np.testing.assert_allclose(y, (w * x * x).sum(1), rtol=1e-5, atol=1e-4)

    def test_in_a_model(self):  # between operators of ONNX
        s = session([helper.make_node("Mul", ["x", "x"], ["xx"]), node("swish", ["xx"], ["s"], beta=0.5),
                     node("row_norm", ["s", "w"], ["r"]), helper.make_node("Relu", ["r"], ["y"])],
                    {"x": (F32, ["M", "N"]), "w": (F32, ["N"])}, {"y": (F32, None)})
        x, w = normal(6, 10), normal(10)
        t = swish(x * x, 0.5)
        np.testing.assert_allclose(s.run(None, {"x": x, "w": w})[0], np.maximum((w * t * t).sum(1), 0), rtol=1e-4, atol=1e-4)

    def test_shapes(self):  # that ONNX Runtime infers
        def inferred(nodes, inputs, name="y", type_=F32):
            return session(nodes, inputs, {name: (type_, None)}).get_outputs()[0].shape

        swish_, windows = [node("swish", ["x"], ["y"], beta=1.5)], [node("windows", ["x"], ["y"], shift=1, R=3)]
        self.assertEqual(inferred(swish_, {"x": (F32, ["rows", 64])}), ["rows", 64])
        self.assertEqual(inferred(swish_, {"x": (F32, [2, 3])}), [2, 3])
        self.assertEqual(inferred(ROW_NORM[0], {"x": (F32, ["rows", "columns"]), "w": (F32, ["columns"])}), ["rows"])
        self.assertEqual(inferred([node("matmul_i8", ["A", "B"], ["C"])], {"A": (U8, ["m", 8]), "B": (I8, [8, "n"])}, "C", I32), ["m", "n"])
        self.assertEqual(inferred(windows, {"x": (I32, [9])}, type_=I32), [3, 3])
        rows, columns = inferred(windows, {"x": (I32, ["n"])}, type_=I32)  # n / 4 + 1 has no name
        self.assertEqual(rows, 3)
        self.assertRegex(columns, "^ashlar_unknown_")
        rows, columns = inferred(swish_, {"x": (F32, [None, None])})
        self.assertNotEqual(rows, columns)
        nodes = [node("windows", ["x"], ["y"], shift=1, R=2)]  # beside what a model declares
        self.assertEqual(session(nodes, {"x": (I32, ["n"])}, {"y": (I32, [2, 7])}).get_outputs()[0].shape, [2, 7])

    def test_unknown_shape(self):  # of an input: each call is checked
        s = session([node("swish", ["x"], ["y"], beta=1.5)], {"x": (F32, None)}, {"y": (F32, None)})
        x = normal(3, 5)
        np.testing.assert_allclose(s.run(None, {"x": x})[0], swish(x, 1.5), rtol=2e-6, atol=1e-6)
        with self.assertRaisesRegex(Exception, "swish: x has rank 1, expected rank 2"):
            s.run(None, {"x": x[0]})

    def test_alignment(self):  # an input that begins anywhere
        s = session([node("strided", ["x", "bias"], ["y"])], {"x": (F32, ["M", "N"]), "bias": (F32, ["N"])}, {"y": (F32, None)})
        x = normal(3, 7)
        for begin in range(4):
            bias = normal(20)[begin:begin + 7]
            np.testing.assert_array_equal(s.run(None, {"x": x, "bias": bias})[0], x + bias)

    def test_threads(self):  # those of the session; several calls at once
        x = normal(512, 300)
        expected = session(*SWISH, threads=1).run(None, {"x": x})[0]
        s = session(*SWISH, threads=3)
        with ThreadPoolExecutor(4) as pool:
            for y, in pool.map(lambda _: s.run(None, {"x": x}), range(32)):
                np.testing.assert_array_equal(y, expected)


@unittest.skipIf(release < (1, 17), f"ONNX Runtime {onnxruntime.__version__} is too old")
class Errors(unittest.TestCase):
    def fails(self, text, f):
        with self.subTest(text):
            with self.assertRaises(Exception) as raised:
                f()
            self.assertIn(text, str(raised.exception))

    def test_models(self):  # refused when they are loaded
        x, i = {"x": (F32, ["M", "N"])}, {"x": (I32, ["N"])}
        y, iy = {"y": (F32, None)}, {"y": (I32, None)}
        for text, what in [
            ("swish: beta is missing, an attribute of type FLOAT", ([node("swish", ["x"], ["y"])], x, y)),
            ("swish: beta is missing, an attribute of type FLOAT", ([node("swish", ["x"], ["y"], beta=2)], x, y)),
            ("windows: shift is missing, an attribute of type INT", ([node("windows", ["x"], ["y"], R=2)], i, iy)),
            ("windows: R is missing, an attribute of type INT", ([node("windows", ["x"], ["y"], shift=2)], i, iy)),
            ("windows: shift is 300, expected -128 to 127", ([node("windows", ["x"], ["y"], shift=300, R=2)], i, iy)),
            ("kinds: flip is 2, expected 0 to 1", ([node("kinds", ["x"], ["a", "b"], flip=2)], {"x": (TensorProto.FLOAT16, [2])},
                                                   {"a": (TensorProto.BOOL, [2])})),
            ("windows: R is -1, expected 0 to", ([node("windows", ["x"], ["y"], shift=3, R=-1)], i, iy)),
            ("(swish)", ([node("swish", ["x"], ["y"], beta=1.5)], {"x": (F64, [2, 3])}, y)),  # ONNX Runtime's own word for types
            ("swash", ([node("swash", ["x"], ["y"])], x, y)),
        ]:
            self.fails(text, lambda: session(*what))

    def test_ranks(self):  # ONNX Runtime passes over what shape inference refuses
        what = [node("swish", ["x"], ["y"], beta=1.5)], {"x": (F32, [1, 2, 3])}, {"y": (F32, None)}
        self.fails("swish: x has rank 3, expected rank 2", lambda: session(*what).run(None, {"x": normal(1, 2, 3)}))

    def test_calls(self):
        x, w = normal(3, 5), normal(5)
        norm = session([node("row_norm", ["x", "w"], ["y"])], {"x": (F32, ["M", "N"]), "w": (F32, ["K"])}, {"y": (F32, None)})
        windows = session([node("windows", ["x"], ["y"], shift=1, R=2**50)], {"x": (I32, ["n"])}, {"y": (I32, None)})
        i = np.arange(9, dtype=np.int32)
        self.fails("row_norm: w.shape[0] is 3, expected 5 (N, from x.shape[1])", lambda: norm.run(None, {"x": x, "w": w[:3]}))
        self.fails("row_norm: N is 0, expected at least 1", lambda: norm.run(None, {"x": x[:, :0], "w": w[:0]}))
        self.fails("windows: N is 3, expected at least 4", lambda: session(
            [node("windows", ["x"], ["y"], shift=1, R=2)], {"x": (I32, ["n"])}, {"y": (I32, None)}).run(None, {"x": i[:3]}))
        self.fails("", lambda: windows.run(None, {"x": i}))  # no memory
        np.testing.assert_allclose(norm.run(None, {"x": x, "w": w})[0], (w * x * x).sum(1), rtol=1e-5, atol=1e-4)  # the process goes on


@unittest.skipIf(release < (1, 17), f"ONNX Runtime {onnxruntime.__version__} is too old")
class Loading(unittest.TestCase):
    def test_many_sessions(self):
        x = normal(2, 3)
        sessions = [session(*SWISH) for _ in range(20)]
        expected = swish(x, 1.5)
        for k, s in enumerate(sessions):
            np.testing.assert_allclose(s.run(None, {"x": x})[0], expected, rtol=2e-6, atol=1e-6)
            sessions[k] = None

    def test_symbols(self):  # nothing of ONNX Runtime is asked of the linker
        asked = subprocess.run(["nm", "-D", "--undefined-only", library], capture_output=True, text=True, check=True).stdout
        self.assertNotRegex(asked, r"Ort|_Z")
        given = subprocess.run(["nm", "-D", "--defined-only", library], capture_output=True, text=True, check=True).stdout
        self.assertIn("RegisterCustomOps", given)


if __name__ == "__main__":
    print(f"ONNX Runtime {onnxruntime.__version__}, onnx {onnx.__version__}")
    unittest.main(argv=sys.argv[:1] + sys.argv[2:])
