#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A pack (bench/gpu/pack.py) in a bare root that has libc alone: its cases on the executor of PTX; on the stand-in driver, where a
kernel that hangs, one that loses the device and one that crashes cost only themselves; those of tiles on the executor of bytecode;
and for Vulkan outside of it. A pack above the limit is refused with its largest parts.

    pack_test.py BUILD EXECUTOR STANDIN TILES
"""
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

BUILD, EXECUTOR, STANDIN, TILES = map(pathlib.Path, sys.argv[1:])
PACK = pathlib.Path(__file__).resolve().parents[2] / "bench/gpu/pack.py"
CASES = ["transpose", "row_sums", "softmax", "library: relu", "a tile of attention", "warp_sums of i8", "library: matmul f16"]
OF_TILES = ["tile_matmul bf16", "tile_attention 64", "tile_attention 64 causal fast"]  # and those of the library
TARGETS = ["cuda-sm_90a", "cuda-sm_80"]


def libraries(file):
    """What a file needs, as paths; the loader too."""
    said = subprocess.run(["ldd", str(file)], check=True, capture_output=True, text=True).stdout
    return [pathlib.Path(p) for p in re.findall(r"(/\S+) \(0x", said)]


def bare_root(folder, pack):
    root = folder / "root"
    for file in [pack / "run", EXECUTOR, STANDIN, TILES]:  # the drivers stand for a vendor's, which bring what they need
        for library in libraries(file):
            to = root / str(library).lstrip("/")
            to.parent.mkdir(parents=True, exist_ok=True)
            if not to.exists():
                shutil.copy(library, to)
    (root / "drivers").mkdir()
    for file in (EXECUTOR, STANDIN, TILES):
        shutil.copy(file, root / "drivers")
    shutil.copytree(pack, root / "pack")
    return root


def started(root, out, *arguments, environment=None):
    os.makedirs(root / out, exist_ok=True)
    return subprocess.Popen(["/pack/run", "--out", f"/{out}", *arguments], env=environment or {}, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                            executable="/pack/run", cwd="/", preexec_fn=lambda: (os.chroot(root), os.chdir("/")), start_new_session=True)


def lines(root, out):
    with open(root / out / "lines.jsonl", encoding="utf-8") as f:
        return [found for found in map(json.loads, f) if "case" in found]


def on_executor(root, names):
    p = started(root, "passes", "--only", "cuda-sm_90a", "--only", "cuda-sm_80", environment={"ASHLAR_CUDA_LIBRARY": f"/drivers/{EXECUTOR.name}"})
    said = p.communicate(timeout=300)[0]
    found = lines(root, "passes")
    assert p.returncode == 0 and sorted((f["step"], f["case"]) for f in found) == sorted((t, n) for t in TARGETS for n in names), said
    assert all(f["result"] == "passed" and f["runs"] >= 1 for f in found), said
    assert {f["case"] for f in found if "within_bounds" in f} == {"a tile of attention", "library: matmul f16"}, said
    p = subprocess.run([str(root / "pack/bin/ceilings"), "--list"], check=True, capture_output=True, text=True)
    ceilings = p.stdout.splitlines()
    p = subprocess.run([str(root / "pack/bin/ceilings"), "--short", *ceilings], capture_output=True, text=True, env={"ASHLAR_CUDA_LIBRARY": str(EXECUTOR)})
    found = [f for f in map(json.loads, p.stdout.splitlines()) if "case" in f]
    assert p.returncode == 0 and [f["case"] for f in found] == ceilings and all(f["result"] == "passed" for f in found), p.stdout + p.stderr


def on_tiles(root, names):
    p = started(root, "tiles", "--only", "cuda-tile-sm_90", "--limit", "100", environment={"ASHLAR_CUDA_LIBRARY": f"/drivers/{TILES.name}"})
    said = p.communicate(timeout=600)[0]
    found = lines(root, "tiles")
    assert p.returncode == 0 and sorted(f["case"] for f in found) == sorted(names), said
    assert all(f["result"] == "passed" and f["runs"] >= 1 for f in found), said
    assert {f["case"] for f in found if "within_bounds" in f} == {n for n in names if n.startswith("tile_attention") or n == "library: matmul f16"}, said


def limited(folder):
    """Above the limit: the size, the limit, the files and the objects are named."""
    made = subprocess.run([sys.executable, str(PACK), str(BUILD), str(folder / "large"), "--jobs", "1", "--most", "0.01", "--case", "library: relu",
                           "--target", "cuda-sm_80"], capture_output=True, text=True)
    said = made.stderr
    assert made.returncode == 1 and re.search(r"large\.tar\.xz has 0\.\d\d MiB, expected at most 0\.01 MiB\. Its files, compressed one by one", said), said
    assert re.search(r"^ +\d+  bin/cases-cuda-sm_80$", said, re.MULTILINE) and re.search(r"^ +\d+  cuda-sm_80: library: relu$", said, re.MULTILINE), said


def peers_by_name():
    """What is not on this machine is named with the reason."""
    sys.path.insert(0, str(PACK.parent))
    beside_tiles = __import__("beside_tiles")
    found = beside_tiles.Peers(None)
    assert found.found.keys() | found.absent.keys() == {"cutile", "triton"} and not found.found.keys() & found.absent.keys(), found.absent
    assert all(found.absent.values()), found.absent


def on_standin(root, names):
    """It computes nothing, so all that runs differs."""
    environment = {"ASHLAR_CUDA_LIBRARY": f"/drivers/{STANDIN.name}", "STANDIN_HANGS": "transpose", "STANDIN_LOSES": "row_sums", "STANDIN_CRASHES": "softmax"}
    p = started(root, "fails", "--only", "cuda-sm_90a", "--limit", "3", "--jobs", "2", environment=environment)
    said = p.communicate(timeout=120)[0]
    found = {f["case"]: f for f in lines(root, "fails")}
    assert p.returncode == 1 and sorted(found) == sorted(names), said
    wrong = {"transpose": ("hung", "nothing was heard for 3 s, running ["), "row_sums": ("error", "CUDA_ERROR_ILLEGAL_ADDRESS"), "softmax": ("crashed", "Abort")}
    for name, f in found.items():
        result, text = wrong.get(name, ("differs", "argument"))
        assert f["result"] == result and text in f["text"], f

    # What was found is in the file while a case hangs, also where the supervisor itself is ended.
    p = started(root, "killed", "--only", "cuda-sm_90a", "--limit", "300", "--jobs", "2", environment=environment)
    until = time.monotonic() + 60
    file = root / "killed/lines.jsonl"
    while time.monotonic() < until and (not file.exists() or file.read_text().count('"case": ') < len(names) - 1):
        time.sleep(0.1)
    os.kill(p.pid, signal.SIGKILL)
    p.wait()
    found = lines(root, "killed")
    for child in pathlib.Path("/proc").glob("[0-9]*/cmdline"):  # the process that hangs has a group of its own
        try:
            if child.read_bytes() == b"/pack/bin/cases-cuda-sm_90a\0transpose\0" and os.path.realpath(child.parent / "root") == str(root.resolve()):
                os.kill(int(child.parent.name), signal.SIGKILL)
        except OSError:
            pass
    assert sorted(f["case"] for f in found) == sorted(n for n in names if n != "transpose"), found

    # The time for all is over: no case is lost, and none is at fault.
    p = started(root, "late", "--only", "cuda-sm_90a", "--seconds", "3", "--jobs", "1", "--match", "transpose", "--match", "row_sums", environment=environment)
    said = p.communicate(timeout=60)[0]
    results = {f["case"]: f["result"] for f in lines(root, "late")}
    assert results["transpose"] == "not finished" and set(results.values()) <= {"not finished", "not run", "error", "differs"}, said


def without_driver(root):
    p = started(root, "none", "--only", "cuda-sm_90a", environment={"ASHLAR_CUDA_LIBRARY": "none.so"})
    said = p.communicate(timeout=60)[0]
    assert p.returncode == 3 and "none.so cannot be opened: no NVIDIA driver is here" in said, said


def on_vulkan(pack, folder, names):
    out = folder / "vulkan"
    p = subprocess.run([str(pack / "run"), "--only", "vulkan", "--limit", "200", "--out", str(out)], capture_output=True, text=True,
                       env={"PATH": "/usr/bin:/bin"}, timeout=600)
    if p.returncode == 3:
        print(f"skipped: cases for Vulkan, {' '.join(p.stdout.split())[:200]}")
        return 0
    found = lines(folder, "vulkan")
    assert p.returncode == 0 and sorted(f["case"] for f in found) == sorted(names), p.stdout
    assert all(f["result"] in ("passed", "refused") for f in found) and sum(f["result"] == "passed" for f in found) >= 4, p.stdout
    return sum(f["result"] == "passed" for f in found)


def main():
    if os.geteuid() != 0:
        print("skipped: a bare root needs the rights of root (chroot)")
        return 77
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        pack = folder / "pack"
        limited(folder), peers_by_name()
        every = [*TARGETS, "cuda-tile-sm_90", "vulkan"]
        cases = [word for c in CASES + OF_TILES for word in ("--case", c)]
        made = subprocess.run([sys.executable, str(PACK), str(BUILD), str(pack), "--jobs", "2", *cases, *(w for t in every for w in ("--target", t))],
                              capture_output=True, text=True)
        assert made.returncode == 0, made.stdout + made.stderr
        unpacked = folder / "elsewhere"
        unpacked.mkdir()
        subprocess.run(["tar", "-C", str(unpacked), "-x", "-f", str(folder / "pack.tar.xz")], check=True)
        shutil.rmtree(pack)
        pack = unpacked / "pack"
        names = {t: subprocess.run([str(pack / f"bin/cases-{t}"), "--list"], check=True, capture_output=True, text=True).stdout.splitlines() for t in every}
        of_tiles = [*OF_TILES, *(n for n in CASES if n.startswith("library: "))]
        assert all(sorted(names[t]) == sorted(of_tiles if "tile" in t else CASES) for t in every), names
        root = bare_root(folder, pack)
        on_executor(root, names["cuda-sm_80"])
        on_tiles(root, names["cuda-tile-sm_90"])
        on_standin(root, names["cuda-sm_90a"])
        without_driver(root)
        vulkan = on_vulkan(pack, folder, names["vulkan"])
    print(f"{len(names['cuda-sm_80'])} cases for two chips in a bare root, {len(of_tiles)} of tiles, {vulkan} for Vulkan")
    return 0


if __name__ == "__main__":
    sys.exit(main())
