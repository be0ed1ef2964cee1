#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The project of docs/kits.md, file by file as the page has it: built with the package, used from its build folder, and
installed by pip. page.py PAGE PREFIX BUILD, in a Python with PyTorch and scikit-build-core."""
import os
import re
import shutil
import subprocess
import sys

page, prefix, build = sys.argv[1:4]
with open(page, encoding="utf-8") as f:
    text = f.read()
shutil.rmtree(build, ignore_errors=True)
project = os.path.join(build, "project")
os.makedirs(project)
for name in ("rms_norm.cpp", "CMakeLists.txt", "use.py", "pyproject.toml"):
    at = text.index(f"`{name}`")
    with open(os.path.join(project, name), "w", encoding="utf-8") as f:
        f.write(re.search(r"^```\w+\n(.*?)^```$", text[at:], re.M | re.S)[1])
printed = re.search(r"use\.py` prints\n\n```\n(.*?)^```$", text, re.M | re.S)[1]


def run(*command, **more):
    ran = subprocess.run(command, capture_output=True, text=True, **more)
    if ran.returncode != 0:
        sys.exit(f"{' '.join(command)}: code {ran.returncode}\n{ran.stdout}{ran.stderr}")
    return ran.stdout


def uses(what, folder):
    found = run(sys.executable, "use.py", cwd=project, env={**os.environ, "PYTHONPATH": folder})
    if found != printed:
        sys.exit(f"{what}: expected, as {page} says,\n{printed}found\n{found}")


run("cmake", "-S", ".", "-B", "build", f"-DCMAKE_PREFIX_PATH={prefix}", cwd=project)
run("cmake", "--build", "build", cwd=project)
uses("the build folder", os.path.join(project, "build", "my_ops.ashlar", "python"))


def fenced(language, after):  # the first block in that language behind these words
    return re.search(rf"^```{language}\n(.*?)^```$", text[text.index(after):], re.M | re.S)[1]


# The kit for arrays, beside it: the page's call, and its lines of Python.
arrays = os.path.join(build, "arrays")
shutil.copytree(project, arrays, ignore=shutil.ignore_patterns("build"))
with open(os.path.join(arrays, "CMakeLists.txt"), "a", encoding="utf-8") as f:
    f.write(fenced("cmake", "## NumPy and other arrays"))
run("cmake", "-S", ".", "-B", "build", f"-DCMAKE_PREFIX_PATH={prefix}", f"-DPython3_EXECUTABLE={sys.executable}", cwd=arrays)
run("cmake", "--build", "build", "--target", "my_kernels", cwd=arrays)
code = ("import numpy as np\nx, w = np.ones((3, 8), np.float32), np.full(8, 2, np.float32)\nout = y = np.empty_like(x)\n" +
        fenced("python", "## NumPy and other arrays").replace("out=y", "out=out") + "\nassert np.allclose(y, 2) and np.allclose(out, 2)\n")
run(sys.executable, "-c", code, env={**os.environ, "PYTHONPATH": os.path.join(arrays, "build", "my_kernels.ashlar", "python")})
# The function of C++ that the page shows, with a main().
with open(os.path.join(arrays, "CMakeLists.txt"), "a", encoding="utf-8") as f:
    f.write("add_executable(app app.cpp)\ntarget_compile_features(app PRIVATE cxx_std_17)\n" + fenced("cmake", "## C++"))
with open(os.path.join(arrays, "app.cpp"), "w", encoding="utf-8") as f:
    f.write("#include <vector>\n" + fenced("cpp", "## C++") +
            "int main() {\n  const std::vector<float> x(6, 1), w(3, 2);\n  std::vector<float> y(6);\n"
            "  normalize(x.data(), w, y.data(), 2);\n  return y[5] > 1.99f && y[5] < 2.01f ? 0 : 1;\n}\n")
run("cmake", "build", cwd=arrays)
run("cmake", "--build", "build", "--target", "app", cwd=arrays)
run(os.path.join(arrays, "build", "app"))
shutil.rmtree(os.path.join(project, "build"))
installed = os.path.join(build, "installed")
# --target: beside the environment's own packages, of which this leaves nothing
run(sys.executable, "-m", "pip", "install", "--quiet", "--no-build-isolation", "--no-deps", "--target", installed, project, "-C",
    f"cmake.define.CMAKE_PREFIX_PATH={prefix}")
uses("the wheel", installed)
tags = [line for root, _, files in os.walk(installed) for name in files if name == "WHEEL"
        for line in open(os.path.join(root, name)) if line.startswith("Tag:")]
if not any("py3-none-" in tag for tag in tags):
    sys.exit(f"expected a wheel for any Python 3, found {tags}")
print("as the page says")
