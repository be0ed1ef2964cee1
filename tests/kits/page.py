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
