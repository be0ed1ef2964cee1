#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What -e torch, -e jax, -e onnxruntime and --backward refuse, with which words and which exit code; nothing is written then. refusals_test.py TOOL"""
import os
import subprocess
import sys
import tempfile

tool = sys.argv[1]
torch = ["-e", "torch,torch_python", "--namespace", "mine"]
jax = ["-e", "jax,jax_python=module.py", "--namespace", "mine"]
CASES = [
    ("half_scalar", torch, 1, "torch: expected scalars of f32, f64, integers and bool, which Python has numbers for, found a of type f16"),
    ("four_bits", torch, 1, "torch: expected tensors in their own layout, of types with at least a byte, found x of type i4"),
    ("packed", torch, 1, "torch: expected tensors in their own layout, of types with at least a byte, found x, packed by the caller"),
    ("no_input", torch, 1, "torch: expected a tensor that is read, whose device says where to compute, found no Input"),
    ("rounded", ["--backward", "rounded", *torch], 1, "backward: expected outputs of floating types, which have a derivative, found y of type i32"),
    ("no_input", ["--backward", "no_input", *torch], 1, "backward: expected outputs of floating types"),
    ("unused", ["--backward", "unused", *torch], 1, "gradient: expected tensors that the loss depends on"),
    ("rounded", ["-e", "torch"], 2, "-e torch: expected --namespace NAME, an identifier, found \"\""),
    ("rounded", ["-e", "torch", "--namespace", "a b"], 2, "expected --namespace NAME, an identifier, found \"a b\""),
    ("rounded", [*torch, "-t", "vulkan"], 1, "torch: expected processors with an operating system, and CUDA devices, found vulkan"),
    ("rounded", [*torch, "-t", "cortex-m4"], 1, "torch: expected processors with an operating system, and CUDA devices, found a bare processor"),
    ("half_scalar", jax, 1, "jax: expected scalars of f32, f64, integers and bool, which Python has numbers for, found a of type f16"),
    ("rounded", [*jax, "-t", "vulkan"], 1, "jax: expected processors with an operating system, found vulkan"),
    ("rounded", [*jax, "-t", "cuda-sm_80"], 1, "jax: expected processors with an operating system, found a CUDA device"),
    ("rounded", [*jax, "-t", "cortex-m4"], 1, "jax: expected processors with an operating system, found a bare processor"),
    ("double_scalar", ["-e", "onnxruntime"], 1, "onnxruntime: expected scalars of f32, integers and bool, which attributes of ONNX hold, found a of type f64"),
    ("rounded", ["-e", "onnxruntime", "-t", "cuda-sm_80"], 1, "onnxruntime: expected processors with an operating system, found a CUDA device"),
    ("rounded", ["-e", "jax_python"], 2, "-e jax_python: expected --namespace NAME, an identifier, found \"\""),
]
wrong = 0
for name, arguments, code, text in CASES:
    with tempfile.TemporaryDirectory() as folder:
        ran = subprocess.run([tool, "-g", name, "--quiet", "-o", folder, *arguments], capture_output=True, text=True)
        if ran.returncode != code or text not in ran.stderr or os.listdir(folder):
            print(f"{name} {arguments}: expected {code}, {text}\nfound {ran.returncode}, {ran.stderr}{os.listdir(folder)}")
            wrong += 1
print(f"{len(CASES) - wrong} of {len(CASES)} refused as they should")
sys.exit(wrong != 0)
