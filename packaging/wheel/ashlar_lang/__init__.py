# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Ashlar as a package of Python: where its CMake package is, and its program ashlar-ops.

scikit-build-core finds the package by itself. Other builds: cmake -DCMAKE_PREFIX_PATH=$(python -m ashlar_lang)
"""
import os
import sys

__all__ = ["prefix", "run_ashlar_ops"]


def prefix():
    """The folder that CMake calls the prefix: find_package(Ashlar) with CMAKE_PREFIX_PATH of it."""
    return os.path.dirname(os.path.abspath(__file__))


def run_ashlar_ops():
    program = os.path.join(prefix(), "bin", "ashlar-ops")
    os.execv(program, [program, *sys.argv[1:]])
