#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The project of docs/kits.md, file by file as the page has it: built with the package, used from its build folder, and
installed by pip; the kits for arrays and for C++ beside it; and apps/row_int8 as a project of its own. page.py PAGE PREFIX
BUILD, in a Python with PyTorch and scikit-build-core."""
import os
import re
import shutil
import sys

from page_files import Page, build, run

page, prefix, work = Page(sys.argv[1]), *sys.argv[2:4]
project = page.project(os.path.join(work, "project"))
printed = re.search(r"use\.py` prints\n\n```\n(.*?)^```$", page.text, re.M | re.S)[1]


def uses(what, folder):
    found = run(sys.executable, "use.py", cwd=project, env={**os.environ, "PYTHONPATH": folder})
    if found != printed:
        sys.exit(f"{what}: expected, as {page.path} says,\n{printed}found\n{found}")


build(project, prefix, "all")
uses("the build folder", os.path.join(project, "build", "my_ops.ashlar", "python"))

# The kits for arrays and for C++, beside it: the page's calls, its lines of Python, and its function with a main().
others = page.project(os.path.join(work, "others"), page.fenced("cmake", "## NumPy and other arrays"),
                      "add_executable(app app.cpp)\ntarget_compile_features(app PRIVATE cxx_std_17)\n", page.fenced("cmake", "## C++"))
with open(os.path.join(others, "app.cpp"), "w", encoding="utf-8") as f:
    f.write("#include <vector>\n" + page.fenced("cpp", "## C++") +
            "int main() {\n  const std::vector<float> x(6, 1), w(3, 2);\n  std::vector<float> y(6);\n"
            "  normalize(x.data(), w, y.data(), 2);\n  return y[5] > 1.99f && y[5] < 2.01f ? 0 : 1;\n}\n")
for target in ("my_kernels", "app"):
    build(others, prefix, target, f"-DPython3_EXECUTABLE={sys.executable}")
code = ("import numpy as np\nx, w = np.ones((3, 8), np.float32), np.full(8, 2, np.float32)\nout = y = np.empty_like(x)\n" +
        page.fenced("python", "## NumPy and other arrays").replace("out=y", "out=out") +
        "\nassert np.allclose(y, 2) and np.allclose(out, 2)\n")
run(sys.executable, "-c", code, env={**os.environ, "PYTHONPATH": os.path.join(others, "build", "my_kernels.ashlar", "python")})
run(os.path.join(others, "build", "app"))

# apps/row_int8, as its page says.
example = os.path.join(os.path.dirname(page.path), "..", "apps", "row_int8")
shutil.rmtree(os.path.join(work, "row_int8"), ignore_errors=True)
shutil.copytree(example, os.path.join(work, "row_int8"))
build(os.path.join(work, "row_int8"), prefix, "all")
code = ("import torch\nx, w, cosine, sine = torch.randn(3, 32, 2, 64), torch.ones(32, 2, 64), torch.ones(3, 64), torch.zeros(3, 64)\n" +
        re.search(r"```python\n(.*?)^```$", open(os.path.join(example, "README.md"), encoding="utf-8").read(), re.M | re.S)[1] +
        "assert q.shape == x.shape and torch.allclose(q * scale[:, None, None, None], x * x.pow(2).mean((1, 2, 3), True).rsqrt(), atol=0.02)\n")
run(sys.executable, "-c", code, env={**os.environ, "PYTHONPATH": os.path.join(work, "row_int8", "build", "row_int8_kit.ashlar", "python")})

shutil.rmtree(os.path.join(project, "build"))
installed = os.path.join(work, "installed")
shutil.rmtree(installed, ignore_errors=True)
# --target: beside the environment's own packages, of which this leaves nothing
run(sys.executable, "-m", "pip", "install", "--quiet", "--no-build-isolation", "--no-deps", "--target", installed, project, "-C",
    f"cmake.define.CMAKE_PREFIX_PATH={prefix}")
uses("the wheel", installed)
tags = [line for root, _, files in os.walk(installed) for name in files if name == "WHEEL"
        for line in open(os.path.join(root, name)) if line.startswith("Tag:")]
if not any("py3-none-" in tag for tag in tags):
    sys.exit(f"expected a wheel for any Python 3, found {tags}")
print("as the page says")
