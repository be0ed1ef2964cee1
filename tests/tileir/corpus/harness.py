# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Kernels of cuTile Python through the executor: exported to bytecode, run by tileir_run, compared."""
import os
import subprocess
import tempfile
from dataclasses import dataclass, field

import numpy as np

import cuda.tile as ct
from cuda.tile.compilation import ArrayConstraint, CallingConvention, KernelSignature, ScalarConstraint, export_kernel

from formats import E4M3, E5M2, bf16_bits, bf16_values, nearest_bits

NUMPY_TYPES = {np.dtype(name): getattr(ct, name) for name in (
    "float16", "float32", "float64", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")}
NUMPY_TYPES[np.dtype(np.bool_)] = ct.bool_
SMALL = {"e4m3": (ct.float8_e4m3fn, E4M3), "e5m2": (ct.float8_e5m2, E5M2)}


@dataclass
class Array:
    """Bytes as NumPy holds them and what cuTile calls them. `out`: nobody wrote them."""
    bits: np.ndarray
    dtype: object
    out: bool = False

    def values(self):
        if self.dtype == ct.bfloat16:
            return bf16_values(self.bits)
        for dtype, table in SMALL.values():
            if self.dtype == dtype:
                return table[self.bits]
        return self.bits


def array(x, kind=None):
    x = np.asarray(x)
    if kind == "bf16":
        return Array(bf16_bits(x), ct.bfloat16)
    if kind in SMALL:
        return Array(nearest_bits(SMALL[kind][1], x), SMALL[kind][0])
    return Array(x, NUMPY_TYPES[x.dtype])


def result(shape, kind):
    if kind == "bf16":
        return Array(np.zeros(shape, np.uint16), ct.bfloat16, out=True)
    if kind in SMALL:
        return Array(np.zeros(shape, np.uint8), SMALL[kind][0], out=True)
    x = np.zeros(shape, kind)
    return Array(x, NUMPY_TYPES[x.dtype], out=True)


@dataclass(frozen=True)
class Constant:
    value: object


def constraint(a):
    if isinstance(a, Constant):
        return a.value
    if isinstance(a, Array):
        return ArrayConstraint(a.dtype, a.bits.ndim, index_dtype=ct.int32, stride_lower_bound_incl=0, alias_groups=[],
                               may_alias_internally=False, base_addr_divisible_by=16)
    return ScalarConstraint(NUMPY_TYPES[np.asarray(a).dtype])


def allow_development_version():
    """Lets export() write 13.5, which cuTile Python 1.7 has code for and refuses; whether it can."""
    import cuda.tile._compile as compiler
    from cuda.tile._bytecode.version import BytecodeVersion
    if not hasattr(BytecodeVersion, "V_13_5") or not hasattr(compiler, "parse_bytecode_version"):
        return False
    parse = compiler.parse_bytecode_version
    compiler.parse_bytecode_version = lambda text: BytecodeVersion.V_13_5 if text == "13.5" else parse(text)
    return True


def export(kernel, arguments, path, version):
    signature = KernelSignature([constraint(a) for a in arguments], CallingConvention.cutile_python_v1(), symbol="kernel")
    architecture = "sm_100" if version in ("13.1", "13.2") else None
    export_kernel(kernel, [signature], path, gpu_code=architecture, output_format="tileir_bytecode", bytecode_version=version)


@dataclass
class Runner:
    tool: str
    options: list = field(default_factory=list)  # of tileir_run, where a caller of execute() wants some
    coverage: dict = field(default_factory=dict)
    folder: str = field(default_factory=lambda: tempfile.mkdtemp(prefix="tileir_corpus_"))

    def run(self, kernel, grid, arguments, version="13.4", options=()):
        """The code, what was printed, and what was reported. Arrays get what the kernel wrote; `written` of them what it did."""
        bytecode = os.path.join(self.folder, "kernel.bc")
        export(kernel, arguments, bytecode, version)
        return self.run_bytecode(bytecode, grid, arguments, options)

    def run_bytecode(self, bytecode, grid, arguments, options=()):
        words, files = [], []
        for n, a in enumerate(arguments):
            if isinstance(a, Constant):
                continue
            if not isinstance(a, Array):
                x = np.asarray(a)
                bits = {1: "i8", 2: "i16", 4: "i32", 8: "i64"}[x.dtype.itemsize]
                words += ["--arg", f"{bits}:{int(x.view(f'i{x.dtype.itemsize}'))}"]
                continue
            path = os.path.join(self.folder, f"argument{n}")
            if a.out:
                words += ["--arg", f"out:{path}:{a.bits.nbytes}"]
            else:
                a.bits.tofile(path)
                words += ["--arg", f"inout:{path}"]
            files.append((a, path))
            for number in a.bits.shape + tuple(s // a.bits.itemsize for s in a.bits.strides):
                words += ["--arg", f"i32:{number}"]
        code, printed, report = self.execute(bytecode, grid, list(options) + words)
        for a, path in files:
            if code == 0:
                a.bits = np.fromfile(path, a.bits.dtype).reshape(a.bits.shape)
                if a.out:
                    a.written = np.fromfile(path + ".written", np.uint8).reshape(a.bits.shape + (a.bits.itemsize,)).all(-1)
        return code, printed, report

    def execute(self, bytecode, grid, words):
        counts = os.path.join(self.folder, "coverage")
        if os.path.exists(counts):
            os.remove(counts)
        command = [self.tool, bytecode, "--kernel", "kernel", "--grid", ",".join(map(str, grid)), "--coverage", counts, *words]
        done = subprocess.run(command, capture_output=True, text=True, timeout=600)
        if done.returncode not in (0, 1):
            raise RuntimeError(done.stderr.strip() or f"tileir_run ended with {done.returncode}")
        for line in open(counts):
            name, count = line.split()
            self.coverage[name] = self.coverage.get(name, 0) + int(count)
        return done.returncode, done.stdout, done.stderr.strip()
