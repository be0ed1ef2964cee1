#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What docs/kits.md shows of JAX, built with the package: page_jax.py PAGE PREFIX BUILD, in a Python with JAX."""
import os
import sys

from page_files import Page, build, run

page, prefix, work = Page(sys.argv[1]), *sys.argv[2:4]
project = page.project(os.path.join(work, "jax"), page.fenced("cmake", "## JAX"))
build(project, prefix, "my_jax", f"-DASHLAR_JAX_PYTHON={sys.executable}")
found = run(sys.executable, "-c", page.fenced("python", "## JAX"),
            env={**os.environ, "JAX_PLATFORMS": "cpu", "PYTHONPATH": os.path.join(project, "build", "my_jax.ashlar", "python")})
printed = page.fenced("", "prints\n\n```\nTrue\nTrue\n(4, 16, 512)")
if found != printed:
    sys.exit(f"expected, as {page.path} says,\n{printed}found\n{found}")
print("as the page says")
