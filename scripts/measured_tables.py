#!/usr/bin/env python3
"""docs/measurements/README.md and docs/pictures/measured.svg are made of the files in docs/measurements, which `ashlar_bench --json` wrote.

  scripts/measured_tables.py            writes the page and the picture
  scripts/measured_tables.py --check    says whether they are what the files say; 1 if not

The table of docs/tiles.md is made of docs/measurements/tiles/peers.json, which tests/tileir/peers.py wrote.

A file of the bench is one run, PROCESSOR-ISA-THREADS.json. A race is the fastest of ours beside the fastest peer, by their medians, as the bench has it.
"""
import json
import math
import pathlib
import re
import sys

sys.dont_write_bytecode = True
import measured_plot

DOCS = pathlib.Path(__file__).resolve().parent.parent / "docs"
FOLDER = DOCS / "measurements"


def outcomes(records):
    """(kernel, shape, threads) -> [ours, peer], in the order in which they ran."""
    races = {}
    for r in records:
        if r["role"] == "other":
            continue
        race = races.setdefault((r["kernel"], r["shape"], r["threads"]), [None, None])
        side = 0 if r["role"] == "ours" else 1
        if race[side] is None or r["median_ns"] < race[side]["median_ns"]:
            race[side] = r
    return {key: race for key, race in races.items() if all(race)}


def size(n):
    return f"{n >> 20} MiB" if n >= 1 << 20 else f"{n >> 10} KiB"


def section(name, run):
    peaks = [f"{r['shape']} {r['rate']:.0f} {r['unit']}" for r in run["records"] if r["kernel"] == "peak" and r["threads"] == 1]
    isa = {"native": "all instructions", "avx2": "AVX2 at most, ours and the peers'"}[run["isa"]]
    yield f"## {name}: {run['processor']}, {isa}"
    yield ""
    yield (f"{run['vendor']} family {run['family']}, model {run['model']}, {run['processors']} processors; caches "
           + " + ".join(map(size, run["caches"])) + f"; kernels for `{run['target']}`. Peaks on one thread: " + ", ".join(peaks) + ".")
    yield ""
    yield "Peers: " + "; ".join(v for v in run["peers"].values() if v != "none") + "."
    races = outcomes(run["records"])
    # A run on two threads measures one as well, beside peers whose pools may help there: the run on one thread says what that takes.
    for threads in {run["threads"]} & {key[2] for key in races}:
        ratios = []
        yield ""
        yield f"| {threads} thread{'s' if threads > 1 else ''} | ours, us | best peer, us | | peer / ours | of the peak |"
        yield "|---|---|---|---|---|---|"
        for (kernel, shape, n), (ours, peer) in races.items():
            if n != threads:
                continue
            ratio = peer["median_ns"] / ours["median_ns"]
            ratios.append(ratio)
            form = ours["impl"].removeprefix("ashlar").removeprefix(",")
            yield (f"| {kernel} {shape}{' (' + form.strip() + ')' if form else ''} | {ours['median_ns'] / 1e3:.1f} | {peer['median_ns'] / 1e3:.1f} "
                   f"| {peer['impl']} | {ratio:.2f} | {ours['fraction_of_peak']:.2f} |")
        mean = math.exp(sum(map(math.log, ratios)) / len(ratios))
        yield ""
        yield f"Geometric mean of {len(ratios)} races: {mean:.2f}; least {min(ratios):.2f}; below 0.85: {sum(r < 0.85 for r in ratios)}."
    yield ""


def runs():
    return [(path.stem, json.loads(path.read_text())) for path in sorted(FOLDER.glob("*.json"))]


def page():
    lines = ["# Measurements", "",
             "Made by `scripts/measured_tables.py` of the files beside it, one for each run of the bench ([performance.md](../performance.md)); do not edit. Medians; above 1: ours is faster.",
             ""]
    for name, run in runs():
        lines += section(name, run)
    return "\n".join(lines)


def picture():
    """The runs on one thread. On several the peers' pools lose some races by ten times, which says nothing of a kernel."""
    return measured_plot.svg([(name, run, outcomes(run["records"])) for name, run in runs() if run["threads"] == 1])


def beside_peers(found):
    """A table of kernels for tiles, by each system with the same tiles; the figures of tests/tileir/peers.py."""
    def cell(kernel, text):
        return " / ".join(text(kernel["by"][side]) if side in kernel["by"] else "-" for side in ("Ashlar", "cuTile", "Triton"))
    versions = found["versions"]
    yield ("By tileiras " + versions["tileiras"] + "".join(f", {side} {versions[side]}" for side in ("cuTile", "Triton") if side in versions)
           + "; Ashlar / cuTile / Triton:")
    yield ""
    yield "| kernel | chip | tile | instructions | tensor-core instructions | registers | local accesses |"
    yield "|---|---|---|---|---|---|---|"
    for k in found["kernels"]:
        yield (f"| {k['kernel']} | {k['chip']} | {k['tile']} | {cell(k, lambda by: str(by.get('step', by['all'])))} "
               f"| {cell(k, lambda by: str(by.get('mma', 0)))} | {cell(k, lambda by: str(by['registers']))} "
               f"| {cell(k, lambda by: str(by.get('local_in_loops', by['local'])))} |")


def tiles_page():
    """docs/tiles.md with its table made anew."""
    text = (DOCS / "tiles.md").read_text()
    table = "\n".join(beside_peers(json.loads((FOLDER / "tiles" / "peers.json").read_text())))
    made, places = re.subn(r"(<!-- by scripts/measured_tables\.py -->\n).*?(\n<!-- end -->)", lambda m: m[1] + table + m[2], text, flags=re.S)
    if places != 1:
        sys.exit("docs/tiles.md: expected one place for the table of scripts/measured_tables.py, found " + str(places))
    return made


def main():
    if sys.argv[1:] not in ([], ["--check"]):
        sys.exit(__doc__)
    stale = []
    for target, text in ((FOLDER / "README.md", page()), (DOCS / "pictures" / "measured.svg", picture()),
                         (DOCS / "tiles.md", tiles_page())):
        if not sys.argv[1:]:
            target.write_text(text)
        elif not target.exists() or target.read_text() != text:
            stale.append(str(target.relative_to(DOCS.parent)))
    if stale:
        sys.exit(f"{', '.join(stale)}: not what the measurements say: scripts/measured_tables.py writes it anew")


if __name__ == "__main__":
    main()
