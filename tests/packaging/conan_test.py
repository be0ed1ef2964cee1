#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""conan_test.py SOURCES BUILD WORK: `conan create` with the recipe, which packs a build folder that is there: the exported sources
are configured, the package is installed into Conan's own cache, and its test builds and runs a program. Runs in a Python with conan."""
import os
import shutil
import subprocess
import sys

sources, build, work = sys.argv[1:4]
conan = os.path.join(os.path.dirname(sys.executable), "conan")
if not os.path.exists(conan):
    print(f"skipped: package_conan, there is no conan beside {sys.executable}")
    sys.exit(77)
shutil.rmtree(work, ignore_errors=True)
os.makedirs(work)
environment = {**os.environ, "CONAN_HOME": os.path.join(work, "home")}


def create(folder, *more):
    return subprocess.run([conan, "create", os.path.join(sources, "packaging", "conan"), "-s", "compiler.cppstd=20",
                           "-c", f"user.ashlar:build_folder={folder}", "-c", f"tools.cmake.cmake_layout:test_folder={work}/test", *more],
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=environment)


subprocess.run([conan, "profile", "detect"], check=True, capture_output=True, env=environment)
created = create(build)
if created.returncode != 0 or "C = relu(A B + bias)" not in created.stdout:
    sys.exit(f"conan create: code {created.returncode}\n{created.stdout}")
for what, said in ((create(work), f"user.ashlar:build_folder is {work}, expected a build folder of Ashlar"),
                   (create(build, "-s", "os=Windows"), "Ashlar builds on Linux"),
                   (create(build, "-s", "compiler.cppstd=17"), "17")):
    if what.returncode == 0 or said not in what.stdout:
        sys.exit(f"expected a refusal with: {said}\n{what.stdout}")
left = subprocess.run(["git", "-C", sources, "status", "--porcelain", "packaging"], capture_output=True, text=True).stdout
if "CMakeUserPresets" in left:
    sys.exit(f"conan wrote beside the sources:\n{left}")
print("created, tested, and refused what it should")
