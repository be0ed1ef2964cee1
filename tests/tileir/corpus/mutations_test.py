#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Exported files with bytes changed at random: none crashes the reader or keeps it busy.

  mutations_test.py TILEIR_MUTATE
"""
import os
import subprocess
import sys
import tempfile

import cases
import harness


def main():
    import kernels_elementwise  # noqa: F401  (they register themselves)
    import kernels_tiles  # noqa: F401
    with tempfile.TemporaryDirectory(prefix="tileir_mutations_") as folder:
        files = []

        class Exported(Exception):
            pass

        def keep(kernel, grid, arguments, least="13.1"):
            for version in {least, "13.4"}:
                path = os.path.join(folder, f"{len(files)}.bc")
                harness.export(kernel, arguments, path, version)
                files.append(path)
            raise Exported

        for _, function in cases.CASES[::4]:
            try:
                function(keep)
            except Exported:
                pass
        done = subprocess.run([sys.argv[1], "1", "300", *files], timeout=600)
        print(f"{len(files)} files")
        return done.returncode


if __name__ == "__main__":
    sys.exit(main())
