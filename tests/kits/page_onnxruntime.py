#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What docs/kits.md shows of ONNX Runtime, built with the package: page_onnxruntime.py PAGE PREFIX BUILD HEADERS, in a Python with
ONNX Runtime and onnx. HEADERS is the folder of onnxruntime_c_api.h."""
import os
import re
import sys

from page_files import Page, build, run

page, prefix, work, headers = Page(sys.argv[1]), *sys.argv[2:5]
project = page.project(os.path.join(work, "onnxruntime"), page.fenced("cmake", "## ONNX Runtime"))
build(project, prefix, "my_onnx_ops", f"-DASHLAR_ONNXRUNTIME_INCLUDE_DIR={headers}")
found = run(sys.executable, "-c", page.fenced("python", "## ONNX Runtime"), cwd=project)
printed = page.fenced("", "prints\n\n```\n['rows', 'columns']")
said = re.search(r"the message of the check, `(.*?)`", page.text)[1]
if not found.startswith(printed) or said not in found:
    sys.exit(f"expected, as {page.path} says,\n{printed}{said}\nfound\n{found}")
print("as the page says")
