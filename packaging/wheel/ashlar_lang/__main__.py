# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""python -m ashlar_lang prints the prefix of the CMake package."""
from . import prefix

print(prefix())
