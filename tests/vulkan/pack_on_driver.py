#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The cases for Vulkan of a pack (bench/gpu/pack.py) on a driver that was unpacked beside this system, which has fewer features than
the tests of Vulkan ask for: each case passes, or the runtime refuses it and names what the device lacks.

    pack_on_driver.py BUILD FOLDER MANIFEST LEAST     at least so many cases pass
"""
import collections
import json
import os
import pathlib
import subprocess
import sys
import tempfile

BUILD, FOLDER, MANIFEST, LEAST = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]), sys.argv[3], int(sys.argv[4])
PACK = pathlib.Path(__file__).resolve().parents[2] / "bench/gpu/pack.py"


def main():
    manifest = FOLDER / MANIFEST
    if not (FOLDER / ".unpacked").exists() or not manifest.exists():
        print(f"skipped: cases for Vulkan, there is no {manifest} (./dev test --all unpacks it)")
        return 77
    with tempfile.TemporaryDirectory() as name:
        pack, out = pathlib.Path(name) / "pack", pathlib.Path(name) / "out"
        subprocess.run([sys.executable, str(PACK), str(BUILD), str(pack), "--jobs", "2", "--target", "vulkan"], check=True)
        driver = {"VK_DRIVER_FILES": str(manifest), "VK_ICD_FILENAMES": str(manifest)}
        subprocess.run([str(pack / "run"), "--only", "vulkan", "--out", str(out), "--seconds", "3000", "--limit", "300"], env={**os.environ, **driver})
        found = [f for f in map(json.loads, (out / "lines.jsonl").read_text().splitlines()) if "case" in f]
    counts = collections.Counter(f["result"] for f in found)
    print(f"{MANIFEST}: {dict(counts)}")
    wrong = [f for f in found if f["result"] not in ("passed", "refused") or (f["result"] == "refused" and not f.get("text"))]
    for f in wrong:
        print(f"{f['case']}: {f['result']}: {f.get('text', '')}")
    return 1 if wrong or counts["passed"] < LEAST else 0


if __name__ == "__main__":
    sys.exit(main())
