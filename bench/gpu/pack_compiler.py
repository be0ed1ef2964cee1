#!/usr/bin/env python3
"""Makes an archive that compiles on a machine with a GPU and no package source: ./dev gpu --pack DIR --with-compiler. It runs random
programs and times any kernel; pack.py's needs neither Python nor a compiler.

    pack_compiler.py BUILD FILE.tar.xz

    ashlar_gpu/bin       ashlar_gpu, ashlar_fuzz: every kernel is compiled where it runs
    ashlar_gpu/lib       libashlar_gpu.so, which both share and PyTorch's process loads; the libraries that it needs, but libc's
    ashlar_gpu/*.py      first_hour.py and what it calls

LLVM's library has all targets, 150 MB of them. The archive's has the same name and the part that the programs call, with X86 and
NVPTX alone, made of LLVM's static libraries; other targets are not registered in it, and compiling for one says so. LLVM's own
library has a copy of isl for Polly, which the programs are linked to; here isl's library stands behind it.
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

import pack

ROOT = pathlib.Path(__file__).resolve().parents[2]
SCRIPTS = ["first_hour.py", "supervise.py", "tables.py"]
XZ = "--x86 --lzma2=preset=9e,dict=128MiB,lc=4,pb=0"  # machine code, all of it in one window
OF_LIBC = re.compile(r"(ld-linux-x86-64|libc|libm|libdl|librt|libpthread)\.so\.")
OTHER_TARGET = re.compile(r"LLVMInitialize(?!X86|NVPTX)\w+")


def output(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def undefined(files):
    """Names that the programs and libraries take from LLVM's library."""
    names = set()
    for f in files:
        for line in output("nm", "--dynamic", "--undefined-only", str(f)).splitlines():
            name = line.split()[-1]
            if "@LLVM" in name:
                names.add(name.split("@")[0])
    return sorted(names)


def small_llvm(files, to, version):
    taken = undefined(files)
    names = [n for n in taken if not n.startswith("isl_")]
    config = f"llvm-config-{version.split('.')[0]}"
    libraries = output(config, "--libdir").strip()
    others = [n for n in names if OTHER_TARGET.fullmatch(n)]
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        (folder / "others.c").write_text("".join(f"void {n}(void) {{}}\n" for n in others))
        (folder / "map").write_text(f"LLVM_{version} {{ global: " + " ".join(f"{n};" for n in names) + " local: *; };\n")
        (folder / "roots").write_text("\n".join(f"-Wl,-u,{n}" for n in names))
        archives = [str(p) for p in sorted(pathlib.Path(libraries).glob("libLLVM*.a"))]
        subprocess.run(["g++", "-shared", "-fPIC", "-s", "-o", str(to), f"-Wl,-soname,{to.name}", str(folder / "others.c"),
                        f"@{folder / 'roots'}", f"-Wl,--version-script,{folder / 'map'}", "-fuse-ld=gold", "-Wl,--gc-sections,--icf=safe", "-Wl,--disable-new-dtags,-rpath,$ORIGIN",
                        "-Wl,--no-undefined", "-Wl,--start-group", *archives, "-Wl,--end-group", "-l:libz.so.1", "-l:libzstd.so.1", "-lpthread", "-ldl", "-lm",
                        "-Wl,--no-as-needed", "-lisl"], check=True)
    defined = {line.split()[-1].split("@")[0] for line in output("nm", "--dynamic", "--defined-only", str(to)).splitlines()}
    missing = [n for n in names if n not in defined]
    if missing:
        raise SystemExit(f"{to.name}: the static libraries of LLVM do not define {', '.join(missing)}")


def needed(file, environment=None):
    found = {}
    for line in subprocess.run(["ldd", str(file)], check=True, capture_output=True, text=True, env=environment).stdout.splitlines():
        m = re.match(r"\s*(\S+) => (\S+)", line)
        if m and not OF_LIBC.match(m[1]):
            found[m[1]] = m[2]
    return found


def main():
    build, archive = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]).resolve()
    with tempfile.TemporaryDirectory() as folder:
        top = pathlib.Path(folder) / "ashlar_gpu"
        (top / "bin").mkdir(parents=True), (top / "lib").mkdir()
        programs = [build / "packed/ashlar_gpu", build / "packed/ashlar_fuzz", build / "lib/libashlar_gpu.so"]
        version = re.search(r"libLLVM\.so\.(\d+\.\d+)", " ".join(needed(programs[2])))[1]
        llvm = top / "lib" / f"libLLVM.so.{version}"
        small_llvm(programs, llvm, version)
        for p in programs:
            subprocess.run(["strip", "-o", str(top / ("lib" if p.suffix == ".so" else "bin") / p.name), str(p)], check=True)
        wanted = {}  # without what LLVM's own library needs beyond ours
        environment = {**os.environ, "LD_LIBRARY_PATH": str(top / "lib")}
        for f in [top / "bin/ashlar_gpu", top / "bin/ashlar_fuzz", top / "lib/libashlar_gpu.so", llvm]:
            wanted.update(needed(f, environment))
        for name, path in wanted.items():
            if not (top / "lib" / name).exists():
                shutil.copy(path, top / "lib" / name)
        for f in [*(top / "bin").iterdir(), *(top / "lib").iterdir()]:
            r = subprocess.run(["ldd", "-r", str(f)], capture_output=True, text=True, env={"PATH": os.environ["PATH"]})
            wrong = [line for line in (r.stdout + r.stderr).splitlines() if "undefined symbol" in line or "not found" in line]
            if wrong:
                raise SystemExit(f"{f.name} cannot be loaded: {wrong[0].strip()}")
        for s in SCRIPTS:
            shutil.copy(ROOT / "bench/gpu" / s, top / s)
        for s in pack.BESIDE:
            shutil.copy(ROOT / s, top)
        subprocess.run(["tar", "-C", folder, "-c", "-J", "-f", str(archive), "ashlar_gpu"], check=True, env={**os.environ, "XZ_OPT": XZ})
        unpacked = sum(f.stat().st_size for f in top.rglob("*") if f.is_file())
    print(f"{archive}: {archive.stat().st_size / 2**20:.1f} MiB, {unpacked / 2**20:.1f} MiB unpacked")
    return 0


if __name__ == "__main__":
    sys.exit(main())
