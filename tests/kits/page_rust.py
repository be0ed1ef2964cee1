#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What docs/kits.md shows of Rust, built with the package: page_rust.py PAGE PREFIX BUILD CARGO."""
import os
import re
import sys

from page_files import Page, build, run

page, prefix, work, cargo = Page(sys.argv[1]), *sys.argv[2:5]
project = page.project(os.path.join(work, "rust"), page.fenced("cmake", "## Rust"))
build(project, prefix, "my_crate")
dependency = re.search(r"`(my_crate = .*?)` under", page.text)[1]
with open(os.path.join(project, "Cargo.toml"), "w", encoding="utf-8") as f:
    f.write(f'[package]\nname = "app"\nversion = "0.1.0"\nedition = "2021"\n\n[dependencies]\n{dependency}\n')
os.makedirs(os.path.join(project, "src"))
with open(os.path.join(project, "src", "main.rs"), "w", encoding="utf-8") as f:
    f.write(page.fenced("rust", "## Rust"))
found = run(cargo, "run", "--offline", "--quiet", cwd=project)
printed = page.fenced("", "prints\n\n```\n1.000")
if found != printed:
    sys.exit(f"expected, as {page.path} says,\n{printed}found\n{found}")
print("as the page says")
