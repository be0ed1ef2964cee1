# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""cuda.tile.launch for tensors of PyTorch on the host, by the executor: for libraries of kernels that bring their own launches.

install(runner) puts it there, lets a search for a schedule take the first, and makes PyTorch tell of a device (of capability 9.0,
with 8 multiprocessors) that is the host. Call it before the library is imported.
"""
import contextlib
import types
from collections import Counter

import numpy as np
import torch

import cuda.tile as ct
import cuda.tile.tune
from cuda.tile.compilation import (ArrayConstraint, CallingConvention, ConstantConstraint, KernelSignature, ListConstraint,
                                   ScalarConstraint, TupleConstraint, export_kernel)

TYPES = {getattr(torch, name): getattr(ct, name) for name in (
    "float16", "bfloat16", "float32", "float64", "int8", "uint8", "int16", "int32", "int64", "float8_e4m3fn", "float8_e5m2")}
TYPES[torch.bool] = ct.bool_


def bytes_of(storage):
    return torch.tensor([], dtype=torch.uint8).set_(storage)


class Launch:
    """The arguments of one launch as constraints of the signature and as words of tileir_run."""

    def __init__(self, folder):
        self.folder, self.words, self.storages, self.uses = folder, [], {}, Counter()

    def add(self, word):
        self.words += ["--arg", word]

    def count(self, value):
        for t in value if isinstance(value, (list, tuple)) else [value]:
            if isinstance(t, torch.Tensor):
                self.uses[t.untyped_storage().data_ptr()] += 1

    def groups(self, *tensors):  # a group that stands alone is refused
        keys = {t.untyped_storage().data_ptr() for t in tensors}
        return [str(k) for k in keys if self.uses[k] > len(tensors)]

    def argument(self, value, node):
        if isinstance(value, torch.Tensor):
            return self.tensor(value)
        if isinstance(value, tuple):
            items = node.items if hasattr(node, "items") else [getattr(node, "each", node)] * len(value)
            return TupleConstraint([self.argument(v, n) for v, n in zip(value, items)])
        if isinstance(value, list):
            words = [w for t in value for w in (self.place(t), *t.shape, *t.stride())]
            self.add("words:" + ",".join(map(str, words)))
            self.add(f"i32:{len(value)}")
            element = self.array(value[0], self.groups(*value), [None] * value[0].ndim, 1)
            return ListConstraint(element, alias_groups=[], elements_may_alias=False)
        if getattr(node, "constant", False) or not isinstance(value, (bool, int, float)):
            return ConstantConstraint(value)
        if isinstance(value, bool):
            self.add(f"i1:{int(value)}")
            return ScalarConstraint(ct.bool_)
        if isinstance(value, int):
            wide = not -(1 << 31) <= value < 1 << 31
            self.add(f"{'i64' if wide else 'i32'}:{value}")
            return ScalarConstraint(ct.int64 if wide else ct.int32)
        self.add(f"f32:{value!r}")
        return ScalarConstraint(ct.float32)

    def place(self, t):
        storage = t.untyped_storage()
        key = storage.data_ptr()
        if key not in self.storages:
            path = f"{self.folder}/storage{len(self.storages)}"
            bytes_of(storage).numpy().tofile(path)
            self.storages[key] = (len(self.storages), path, storage)
            self.words += ["--buffer", f"inout:{path}"]
        return f"buffer:{self.storages[key][0]}+{t.storage_offset() * t.element_size()}"

    def tensor(self, t):
        self.add(self.place(t))
        for n in tuple(t.shape) + t.stride():
            self.add(f"i32:{n}")
        aligned = t.storage_offset() * t.element_size() % 16 == 0
        return self.array(t, self.groups(t), [1 if s == 1 else None for s in t.stride()], 16 if aligned else 1)

    @staticmethod
    def array(t, groups, strides, divisible):
        return ArrayConstraint(TYPES[t.dtype], t.ndim, index_dtype=ct.int32, stride_lower_bound_incl=0, alias_groups=groups,
                               may_alias_internally=False, stride_constant=strides, base_addr_divisible_by=divisible)

    def save(self):
        for _, path, storage in self.storages.values():
            bytes_of(storage).copy_(torch.from_numpy(np.fromfile(path, np.uint8)))


class Fault(RuntimeError):
    pass


def install(runner):
    launched = []

    def launch(stream, grid, kernel, arguments, **_):
        one = Launch(runner.folder)
        nodes = kernel._annotated_function.parameter_annotations
        for a in arguments:
            one.count(a)
        constraints = [one.argument(a, n) for a, n in zip(arguments, nodes)]
        path = f"{runner.folder}/sample.bc"
        signature = KernelSignature(constraints, CallingConvention.cutile_python_v1(), symbol="kernel")
        export_kernel(kernel, [signature], path, gpu_code="sm_90", output_format="tileir_bytecode", bytecode_version="13.4")
        launched.append(kernel._annotated_function.pyfunc.__name__)
        code, printed, report = runner.execute(path, tuple(grid), runner.options + one.words)
        if code != 0:
            raise Fault(report)
        one.save()
        return printed

    def first(search_space, *_, **__):
        best = types.SimpleNamespace(config=next(iter(search_space)), mean_us=1.0)
        return types.SimpleNamespace(best=best, successes=[best], failures=[])

    ct.launch = launch
    cuda.tile.tune.exhaustive_search = first
    properties = types.SimpleNamespace(multi_processor_count=8, major=9, minor=0, total_memory=1 << 34, L2_cache_size=1 << 22,
                                       name="host", shared_memory_per_block_optin=1 << 17)
    torch.cuda.current_stream = lambda *_: types.SimpleNamespace(cuda_stream=0)
    torch.cuda.get_device_capability = lambda *_: (9, 0)
    torch.cuda.get_device_properties = lambda *_: properties
    torch.cuda.current_device = lambda: 0
    torch.cuda.synchronize = lambda *_: None
    torch.cuda.device = lambda *_: contextlib.nullcontext()
    torch.cuda.device_count = lambda: 1
    return launched
