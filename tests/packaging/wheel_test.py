#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""wheel_test.py SOURCES BUILD WORK: the wheel of a build folder, and what docs/packages.md does with it, from an empty environment
to an operator that runs. Prints how long the user waits, which is limited. Runs in a Python with scikit-build-core."""
import os
import re
import shutil
import subprocess
import sys
import time
import zipfile

sources, build, work = sys.argv[1:4]
sys.path.insert(0, os.path.join(sources, "tests", "kits"))
from page_files import Page, run  # noqa: E402

limit = 180  # seconds
page = Page(os.path.join(sources, "docs", "packages.md"))
os.environ["PATH"] = os.pathsep.join([*os.environ["PATH"].split(os.pathsep), os.path.dirname(sys.executable)])
shutil.rmtree(work, ignore_errors=True)
os.makedirs(work)
reachable = subprocess.run([sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--dest", os.path.join(work, "reached"), "scikit-build-core"],
                           capture_output=True, text=True)
if reachable.returncode != 0:
    print("skipped: package_wheel, pip reaches no packages:", reachable.stderr.strip().splitlines()[-1])
    sys.exit(77)

# Without a build folder it says what it needs.
refused = subprocess.run(["cmake", "-S", f"{sources}/packaging/wheel", "-B", f"{work}/refused", f"-DASHLAR_BUILD={work}"], capture_output=True, text=True)
if refused.returncode == 0 or "expected a build folder of Ashlar" not in " ".join(refused.stderr.split()):
    sys.exit(f"packaging/wheel accepts ASHLAR_BUILD={work}:\n{refused.stderr}")

run("cmake", "--build", build, "--target", "ashlar_package", "ashlar_bundled_ops")
dist = os.path.join(work, "dist")
run(sys.executable, "-m", "pip", "wheel", "--quiet", "--no-build-isolation", "--no-deps", "--wheel-dir", dist, sources, "-C",
    f"build-dir={work}/packed", "-C", "cmake.source-dir=packaging/wheel", "-C", f"cmake.define.ASHLAR_BUILD={build}")
(wheel,) = (os.path.join(dist, name) for name in os.listdir(dist))
with zipfile.ZipFile(wheel) as packed:
    names = packed.namelist()
for name in ("include/ashlar/ashlar.h", "lib/cmake/Ashlar/AshlarConfig.cmake", "lib/libashlar_runtime.a", "lib/ashlar/libashlar_llvm.so", "bin/ashlar-ops"):
    if f"ashlar_lang/{name}" not in names:
        sys.exit(f"{wheel} has no ashlar_lang/{name}")

# The project of the page and its commands, as the page has them.
project = page.project(os.path.join(work, "project"), names=("smooth.cpp", "CMakeLists.txt", "pyproject.toml", "use.py"))
commands = page.fenced("sh", "With the wheel in the folder DIST").replace("DIST", dist)
printed = re.search(r"prints `(.*?)`\. You need", page.text)[1]
clean = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "CMAKE_PREFIX_PATH", "VIRTUAL_ENV")}
clean["PIP_NO_CACHE_DIR"] = "1"  # a first installation
start = time.monotonic()
found = run("sh", "-e", "-c", commands, cwd=project, env=clean)
seconds = time.monotonic() - start
if found.strip().splitlines()[-1] != printed:
    sys.exit(f"expected, as {page.path} says,\n{printed}\nfound\n{found}")

# Beside it: the package by its path, and its program.
python = os.path.join(project, "env", "bin", "python")
kept = run(python, "-m", "pip", "list", env=clean)
if re.search(r"^ashlar\b", kept, re.M):
    sys.exit(f"the module should not need Ashlar, and it was installed along:\n{kept}")
run(python, "-m", "pip", "install", "--quiet", "--no-index", wheel, env=clean)
prefix = run(python, "-m", "ashlar_lang", env=clean).strip()
if not os.path.exists(os.path.join(prefix, "lib", "cmake", "Ashlar", "AshlarConfig.cmake")):
    sys.exit(f"python -m ashlar_lang printed {prefix}")
listed = run(os.path.join(project, "env", "bin", "ashlar-ops"), "--list", env=clean)
if "matmul" not in listed:
    sys.exit(f"ashlar-ops --list printed {listed}")
loaded = run("ldd", os.path.join(prefix, "bin", "ashlar-ops"), env=clean)
if not re.search(rf"libashlar_llvm\.so => {re.escape(prefix)}", loaded) or "libLLVM" in loaded:
    sys.exit(f"ashlar-ops should load the wheel's own LLVM:\n{loaded}")
if seconds > limit:
    sys.exit(f"the user waits {seconds:.0f} seconds, expected at most {limit}")
print(f"as the page says; the user waits {seconds:.0f} seconds, and the wheel has {os.path.getsize(wheel) / 1e6:.0f} MB")
