# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""docs/kits.md as files: its project, its other pieces of code, and the commands that build them."""
import os
import re
import shutil
import subprocess
import sys


def run(*command, **more):
    ran = subprocess.run(command, capture_output=True, text=True, **more)
    if ran.returncode != 0:
        sys.exit(f"{' '.join(command)}: code {ran.returncode}\n{ran.stdout}{ran.stderr}")
    return ran.stdout


class Page:
    def __init__(self, path):
        self.path = path
        with open(path, encoding="utf-8") as f:
            self.text = f.read()

    def fenced(self, language, after):
        """The first block in that language behind these words."""
        return re.search(rf"^```{language}\n(.*?)^```$", self.text[self.text.index(after):], re.M | re.S)[1]

    def project(self, folder, *pieces, names=("rms_norm.cpp", "CMakeLists.txt", "use.py", "pyproject.toml")):
        """The files of the first project; `pieces` are added to its CMakeLists.txt."""
        shutil.rmtree(folder, ignore_errors=True)
        os.makedirs(folder)
        for name in names:
            with open(os.path.join(folder, name), "w", encoding="utf-8") as f:
                f.write(self.fenced(r"\w+", f"`{name}`") + ("".join(pieces) if name == "CMakeLists.txt" else ""))
        return folder


def build(folder, prefix, target, *options):
    run("cmake", "-S", ".", "-B", "build", f"-DCMAKE_PREFIX_PATH={prefix}", *options, cwd=folder)
    run("cmake", "--build", "build", "--target", target, cwd=folder)
