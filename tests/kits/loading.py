# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""How a package of a kit loads, and how it does not: in processes of their own, which must end with an exception and no signal."""
import os
import shutil
import subprocess
import sys
import tempfile
import unittest


class Package(unittest.TestCase):
    """A package of operators, `name` in the folder `parent`, with the operator swish. `twice` is said where two define it."""
    parent = name = twice = None

    def run_python(self, code, folder=None):
        ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True,
                             env={**os.environ, "PYTHONPATH": folder or self.parent})
        self.assertGreaterEqual(ran.returncode, 0, ran.stderr)
        return ran.stderr

    def copy(self, change):
        folder = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, folder)
        shutil.copytree(os.path.join(self.parent, self.name), os.path.join(folder, self.name))
        change(os.path.join(folder, self.name))
        return folder

    def edit(self, module, old, new):
        def change(folder):
            path = os.path.join(folder, module)
            with open(path) as f:
                text = f.read()
            self.assertIn(old, text)
            with open(path, "w") as f:
                f.write(text.replace(old, new))
        return change

    def test_no_library(self):
        folder = self.copy(lambda f: os.remove(os.path.join(f, f"lib{self.name}.so")))
        self.assertIn("its library: was it built?", self.run_python(f"import {self.name}", folder))

    def test_other_machine(self):
        def another(folder):
            path = os.path.join(folder, f"lib{self.name}.so")
            with open(path, "r+b") as f:
                f.seek(18)  # e_machine
                f.write(b"\x16\x00")  # S/390
        self.assertIn("this system cannot load its library", self.run_python(f"import {self.name}", self.copy(another)))

    def test_twice(self):
        other = self.copy(lambda f: os.rename(f, os.path.join(os.path.dirname(f), "again")))
        said = self.run_python(f"import {self.name}, sys; sys.path.insert(0, {other!r}); import again")
        self.assertIn(self.twice, said)
