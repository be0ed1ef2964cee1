"""Compiles the bench's calls of oneDNN for a newer version than the one that the bench is linked with, into a shared library that
the bench loads beside it.

    python3 -m venv build/onednn
    build/onednn/bin/python bench/onednn/make_peer.py build/onednn/peers.so
    ASHLAR_BENCH_ONEDNN=build/onednn/peers.so build/bin/ashlar_bench --filter 'matmul|conv'

`./dev bench` does all of that.

The library is the one inside the wheel of paddlepaddle: the newest in any wheel that runs on the caller's threads (OpenMP), so
that its CPU time is the thread's. The wheels of `onednn` itself since 2024 hand their work to SYCL, whose threads the bench does
not time. The headers are those of `onednn-devel-cpu-gomp`, an older version 3, which later ones keep to.
"""

import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile

LIBRARY, HEADERS = "paddlepaddle", "onednn-devel-cpu-gomp"
SOURCES = ["onednn.cpp", "onednn_attention.cpp", "onednn_convolution.cpp", "onednn_memory.cpp", "onednn_narrow.cpp"]


def wheel(package, folder):
    subprocess.run([sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--dest", folder, package], check=True)
    return zipfile.ZipFile(next(pathlib.Path(folder).glob(package.replace("-", "_") + "-*.whl")))


def extract(archive, name, to):
    with archive.open(name) as source, open(to, "wb") as target:
        shutil.copyfileobj(source, target)


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    library = pathlib.Path(sys.argv[1]).resolve()
    bench = pathlib.Path(__file__).resolve().parent.parent
    with tempfile.TemporaryDirectory() as folder:
        headers = pathlib.Path(folder) / "include"
        archive = wheel(HEADERS, folder)
        for name in archive.namelist():
            if "/include/" in name and name.endswith((".h", ".hpp")):
                path = headers / name.split("/include/")[1]
                path.parent.mkdir(parents=True, exist_ok=True)
                extract(archive, name, path)
        config = headers / "oneapi/dnnl/dnnl_config.h"  # of a build with what is experimental, which the other one has not
        config.write_text(re.sub(r"#define DNNL_EXPERIMENTAL\w*", "", config.read_text()))
        archive = wheel(LIBRARY, folder)
        onednn = library.parent / "libdnnl.so.3"
        extract(archive, next(n for n in archive.namelist() if n.endswith("/libdnnl.so.3")), onednn)
        subprocess.run(["g++", "-std=c++20", "-O2", "-fPIC", "-shared", "-fvisibility=hidden", "-isystem", headers, "-I",
                        bench.parent, *(bench / "peers" / s for s in SOURCES), onednn, "-Wl,-rpath,$ORIGIN", "-fopenmp", "-o", library],
                       check=True)


main()
