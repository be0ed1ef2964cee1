#!/usr/bin/env python3
"""Makes what a machine with a GPU needs that has no package source, no compiler and no Python: ./dev gpu --pack DIR.

    pack.py BUILD DIR [--jobs N] [--match TEXT]... [--case NAME]... [--target TARGET]...

    DIR/run                    runs all of it: DIR/run --out FOLDER
    DIR/bin/cases-TARGET       the cases of one target: host code and the runtime, cubins (none of sm_80) and PTX or SPIR-V with line tables,
                               inputs as seeds, the interpreter's results as hashes or with bounds (ahead/case_file.h)
    DIR/bin/ceilings           what the device reaches
    DIR/lib/libashlar_gpu.so   kernels for beside_torch.py, compiled ahead too
    DIR.tar.xz                 DIR as an archive, of at most 20 MiB (--most)

Cases of tiles are bytecode, which the driver compiles. The kernels of tiles in libashlar_gpu.so have cubins too where tileiras is
found. An archive above the limit is an error that names its largest parts.

--match takes the cases whose names contain a text, --case those with a name. With either, or with --target, there is no library.
"""
import argparse
import lzma
import os
import pathlib
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import unittest.mock

import beside_torch

ROOT = pathlib.Path(__file__).resolve().parents[2]
TARGETS = ["cuda-sm_90a", "cuda-sm_80", "cuda-tile-sm_90", "vulkan"]
MOST = 20 << 20
OF_LIBC = re.compile(r"(ld-linux-x86-64|libc|libm|libdl|libpthread)\.so\.\d+")
XZ = "--x86 --lzma2=preset=9e,dict=400MiB,lc=4,pb=0"  # one window: the texts for two chips are nearly the same
LIBRARIES = ["bench/gpu/ahead/libashlar_gpu_ahead.a", "bench/gpu/ahead/libashlar_gpu_values.a", "bench/gpu/libashlar_gpu_device.a",
             "src/runtime/libashlar_runtime.a"]
BESIDE = ["bench/gpu/beside_torch.py", "bench/gpu/beside_tiles.py",
          *(f"tests/tileir/{name}.py" for name in ("cutile_product", "cutile_attention", "triton_kernels"))]
EM_CUDA = 190  # of ELF
LIBRARY = "bench/gpu/ahead/libashlar_gpu_ahead_library.a"
STATIC = ["-s", "-static-libstdc++", "-static-libgcc", "-Wl,--gc-sections", "-ldl", "-lpthread"]


def output(*command, environment=None):
    return subprocess.run(command, check=True, capture_output=True, text=True, env=environment).stdout


def environment_of(target, tiles):
    """No cubins of sm_80: later chips take its PTX, and they were 1.6 of 21.3 MiB of the archive. `tiles`: cubins of tiles."""
    without = {"ASHLAR_TILEIRAS": ""} if "tile" in target and not tiles else {"ASHLAR_NVJITLINK": ""} if target == "cuda-sm_80" else {}
    return {**os.environ, **without}


def together(commands, environment=None):
    """Runs them at the same time; fails with what the first that failed said."""
    running = [subprocess.Popen(c, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=environment) for c in commands]
    for p in running:
        said = p.communicate()[0]
        if p.returncode != 0:
            raise SystemExit(f"{' '.join(p.args[:4])}: exit code {p.returncode}: {said[-2000:]}")


def compile_cases(build, target, folder, jobs, chosen):
    """NUMBER.o and NUMBER.case in the folder, of the cases of a target."""
    program = str(build / "bin/ashlar_gpu")
    all_names = output(program, "--list", target).splitlines()
    names = [n for n in all_names if chosen(n)]
    if not names:
        raise SystemExit(f"no case of {target} has such a name")
    # No cubins of tiles: they would be made for minutes, and the driver has the same compiler.
    together([[program, "--ahead", str(folder), target, f"{n}/{jobs}", *(names if len(names) < len(all_names) else [])] for n in range(jobs)],
             environment_of(target, tiles=False))


def without_ptx(file):
    """Zeroes the copy of the PTX's text in the machine code of an object, which does not compress, and the table of its lines: a
    debugger shows them. The lines of the source are in .debug_line, and the object holds the text itself anyway."""
    data, at = bytearray(file.read_bytes()), 0
    while (at := data.find(b"\x7fELF", at + 1)) > 0:
        machine, = struct.unpack_from("<H", data, at + 18)
        table, = struct.unpack_from("<Q", data, at + 40)
        count, names = struct.unpack_from("<HH", data, at + 60)
        if machine != EM_CUDA:
            continue
        sections = [struct.unpack_from("<IIQQQQ", data, at + table + 64 * n) for n in range(count)]
        for name, _, _, _, offset, size in sections:
            if data.startswith((b".nv_debug_ptx_txt", b".nv_debug_line_sass"), at + sections[names][4] + name):
                data[at + offset:at + offset + size] = bytes(size)
    file.write_bytes(data)


def in_order(folder, suffix):
    return sorted(folder.glob(f"[0-9]*{suffix}"), key=lambda p: int(p.stem))


def sizes_of(folder, target):
    """(name, bytes) of the objects."""
    return [(f"{target}: {p.with_suffix('.case').read_text().partition(chr(10))[0].removeprefix('case ')}", p.stat().st_size) for p in in_order(folder, ".o")]


def program_of(build, target, folder, to):
    """Links the objects with a table of their functions and the text of their cases."""
    text = "".join(p.read_text() for p in in_order(folder, ".case"))
    (folder / "cases").write_text(text)
    symbols = re.findall(r"^symbol (\w+)$", text, re.MULTILINE)
    declared = "".join(f"extern const ashlar_abi1_desc {s}_abi1_desc;\n" for s in symbols)
    rows = "".join(f'  {{"{s}", &{s}_abi1_desc}},\n' for s in symbols)
    (folder / "table.c").write_text(
        f'#include "bench/gpu/ahead/table.h"\n{declared}const char ahead_target[] = "{target}";\n'
        f"const int ahead_device_type = {2 if target.startswith('cuda') else 7}, ahead_function_count = {len(symbols)};\n"
        f"const ahead_function ahead_functions[] = {{\n{rows}  {{0, 0}}}};\n")
    (folder / "text.s").write_text(f'.section .rodata\n.globl ahead_cases, ahead_cases_end\nahead_cases:\n.incbin "{folder / "cases"}"\nahead_cases_end:\n.byte 0\n'
                                   '.section .note.GNU-stack,"",@progbits\n')
    for source in ("table.c", "text.s"):
        subprocess.run(["gcc", f"-I{ROOT}", f"-I{ROOT / 'include'}", "-c", str(folder / source), "-o", str(folder / (source + ".o"))], check=True)
    for p in in_order(folder, ".o"):
        without_ptx(p)
    (folder / "objects").write_text("\n".join(str(p) for p in in_order(folder, ".o")))
    subprocess.run(["g++", "-o", str(to), str(folder / "table.c.o"), str(folder / "text.s.o"), f"@{folder / 'objects'}",
                    *(str(build / name) for name in LIBRARIES), *STATIC], check=True)
    return text


def kernels_of_beside_torch():
    """Their names by target; the persistent one is for as many blocks as a device has multiprocessors."""
    names = sorted({row.kernel for row in beside_torch.rows(unittest.mock.MagicMock()) if row.kernel and row.kernel != "matmul"})
    tiles, threads = [n for n in names if n.startswith("tile_")], [n for n in names if not n.startswith("tile_")]
    return {"cuda-sm_90a": threads + [f"matmul {n}" for n in (132, 114)], "cuda-sm_80": threads,  # an H100 or H200, an H100 of PCIe
            "cuda-tile-sm_90": tiles, "cuda-tile-sm_80": tiles}


def library(build, folder, to):
    rows, declared, objects = "", "", []
    for target, names in kernels_of_beside_torch().items():
        (folder / target).mkdir(parents=True)
        symbols = output(str(build / "bin/ashlar_gpu"), "--ahead-kernels", str(folder / target), target, *names,
                         environment=environment_of(target, tiles=True)).split()
        for n, (name, symbol) in enumerate(zip(names, symbols, strict=True)):
            declared += f"extern const ashlar_abi1_desc {symbol}_abi1_desc;\n"
            rows += f'  {{"{name}", "{target}", &{symbol}_abi1_desc}},\n'
            objects.append(str(folder / target / f"{n}.o"))
            without_ptx(folder / target / f"{n}.o")
    (folder / "table.c").write_text(f'#include "bench/gpu/ahead/table.h"\n{declared}const ahead_kernel ahead_kernels[] = {{\n{rows}  {{0, 0, 0}}}};\n')
    (folder / "map").write_text("{ global: ashlar_gpu_*; local: *; };\n")
    subprocess.run(["gcc", "-fPIC", f"-I{ROOT}", f"-I{ROOT / 'include'}", "-c", str(folder / "table.c"), "-o", str(folder / "table.o")], check=True)
    subprocess.run(["g++", "-shared", "-o", str(to), str(folder / "table.o"), *objects, "-Wl,--whole-archive", str(build / LIBRARY),
                    "-Wl,--no-whole-archive", *(str(build / name) for name in LIBRARIES[2:]), f"-Wl,--version-script={folder / 'map'}",
                    "-Wl,-z,defs", *STATIC], check=True)
    print(f"{to.name}: {len(objects)} kernels", flush=True)


def needed(file):
    return re.findall(r"\(NEEDED\).*\[(.*)\]", output("readelf", "-d", str(file)))


def check(folder):
    """What is not libc's is in the files. Returns the version of libc that they need."""
    newest = (0, 0)
    for f in [folder / "run", *(folder / "bin").iterdir(), *(folder / "lib").iterdir()]:
        others = [n for n in needed(f) if not OF_LIBC.fullmatch(n)]
        if others:
            raise SystemExit(f"{f.name} needs {', '.join(others)}, expected the libraries of libc alone")
        for found in re.findall(r"GLIBC_(\d+)\.(\d+)", output("readelf", "-V", str(f))):
            newest = max(newest, (int(found[0]), int(found[1])))
    return f"{newest[0]}.{newest[1]}"


def compressed(data):
    return len(lzma.compress(data, filters=[{"id": lzma.FILTER_X86}, {"id": lzma.FILTER_LZMA2, "preset": 6, "lc": 4, "pb": 0}]))


def too_large(archive, size, most, top, parts):
    """What the archive has: its files, compressed one by one, and the largest objects. parts: (name, bytes) of all objects."""
    files = sorted(((compressed(f.read_bytes()), f) for f in top.rglob("*") if f.is_file()), reverse=True)
    lines = [f"{archive} has {size / 2**20:.2f} MiB, expected at most {most:g} MiB. Its files, compressed one by one, in KiB:"]
    lines += [f"  {n / 2**10:8.0f}  {f.relative_to(top)}" for n, f in files[:5]]
    lines += ["The largest objects, in KiB before they are compressed:"]
    lines += [f"  {n / 2**10:8.0f}  {name}" for name, n in sorted(parts, key=lambda p: -p[1])[:20]]
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--most", type=float, default=MOST / 2**20, help="of the archive, in MiB")
    parser.add_argument("--match", action="append", default=[])
    parser.add_argument("--case", action="append", default=[])
    parser.add_argument("--target", action="append", choices=TARGETS, default=[])
    o = parser.parse_args()
    chosen = lambda name: not (o.match or o.case) or name in o.case or any(m in name for m in o.match)
    build, top = o.build.resolve(), o.folder.resolve()
    if top.exists() and any(top.iterdir()) and not (top / "bin").exists():
        raise SystemExit(f"{top} is there and is no pack: give another name")
    shutil.rmtree(top, ignore_errors=True)
    (top / "bin").mkdir(parents=True), (top / "lib").mkdir()
    parts = []
    with tempfile.TemporaryDirectory(dir=build, prefix="pack") as name:
        work = pathlib.Path(name)
        for target in o.target or TARGETS:
            (work / target).mkdir()
            compile_cases(build, target, work / target, o.jobs, chosen)
            text = program_of(build, target, work / target, top / "bin" / f"cases-{target}")
            parts += sizes_of(work / target, target)
            count = lambda pattern: len(re.findall(pattern, text, re.MULTILINE))
            print(f"{target}: {count('^case ')} cases, {count('^refused ')} of them refused, {count('^tensor .* hash ')} hashes, "
                  f"{count('^tensor .* (?:near|sums) ')} bounds, {count('^tensor .* stored ')} inputs without a seed", flush=True)
        if not (o.match or o.case or o.target):
            (work / "library").mkdir()
            library(build, work / "library", top / "lib/libashlar_gpu.so")
            for script in BESIDE:
                shutil.copy(ROOT / script, top)
    for name, to in (("run", top), ("ceilings", top / "bin")):
        subprocess.run(["strip", "-o", str(to / name), str(build / "packed" / name)], check=True)
    libc = check(top)
    archive = top.with_name(top.name + ".tar.xz")
    subprocess.run(["tar", "-C", str(top.parent), "-c", "-J", "-f", str(archive), top.name], check=True, env={**os.environ, "XZ_OPT": XZ})
    size, unpacked = archive.stat().st_size, sum(f.stat().st_size for f in top.rglob("*") if f.is_file())
    print(f"{archive}: {size / 2**20:.1f} MiB, {unpacked / 2**20:.1f} MiB unpacked; needs libc {libc}")
    if size > o.most * 2**20:
        raise SystemExit(too_large(archive, size, o.most, top, parts))
    return 0


if __name__ == "__main__":
    sys.exit(main())
