"""The picture of docs/measurements: every race of the runs that it is given as a dot, one lane a run, one row a kind of kernel."""
import math
import re

# A race belongs to the first row whose pattern its kernel's name has.
ROWS = [("matrix product, f32", "^matmul$"),
        ("product and 3x3 convolution, u8 x i8", "_u8s8$"),
        ("product and 3x3 convolution, bf16", "^(matmul|conv3x3)_bf16$"),
        ("stored as bf16 or f16, in f32", "_stored_"),
        ("convolution, f32", r"^conv\dx\d_f32$"),
        ("attention", "^attention"),
        ("softmax, layer norm, gelu", "^(softmax|layer_norm|gelu)$"),
        ("sum, running sum, transpose", "^(sum|scan|transpose)$"),
        ("depthwise convolution", "^depthwise$"),
        ("box blur, unsharp mask", "^(box_blur|unsharp)$")]
COLORS = [("#c2571a", "#f0965a"), ("#8a6d00", "#e0bd4a"), ("#1f6fb2", "#6fb4ee"), ("#2f8557", "#6ecb98")]  # on light, on dark
MARKS = [0.6, 0.7, 0.8, 0.9, 1.0, 1.2, 1.4, 1.6, 1.8]
LEFT, RIGHT, TOP, LANE, GAP, WIDTH = 268, 826, 126, 8, 9, 850


def place(ratio):
    low, high = math.log(MARKS[0]), math.log(MARKS[-1])
    return LEFT + (RIGHT - LEFT) * (math.log(ratio) - low) / (high - low)


def label(name, run):
    processor = {"amd-zen4": "Zen 4", "intel-sapphirerapids": "Sapphire Rapids"}[re.match("[a-z]+-[a-z0-9]+", name)[0]]
    return f"{processor}, {'AVX2 at most' if run['isa'] == 'avx2' else 'AVX-512'}"


def svg(runs):
    """`runs`: (name of the file, run, its races as measured_tables.outcomes has them), on one thread."""
    height = TOP + len(ROWS) * (LANE * len(runs) + GAP) + 20
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{height}" viewBox="0 0 {WIDTH} {height}" '
           'font-family="system-ui, sans-serif" font-size="13" role="img">',
           "<title>Ashlar beside the fastest of OpenBLAS, oneDNN, Eigen and Halide, one thread</title>", "<style>"]
    for dark in (0, 1):
        ink, faint, paper = (("#1f2328", "#d5d9de", "#ffffff"), ("#e6edf3", "#3a424c", "#0d1117"))[dark]
        rules = f".ink{{fill:{ink}}} .one{{stroke:{ink}}} .faint{{stroke:{faint}}} .paper{{fill:{paper};stroke:{faint}}}"
        rules += "".join(f" .run{n}{{fill:{COLORS[n][dark]}}}" for n in range(len(runs)))
        out.append(f"@media (prefers-color-scheme: dark) {{ {rules} }}" if dark else rules)
    out += ["</style>", f'<rect class="paper" x="0.5" y="0.5" width="{WIDTH - 1}" height="{height - 1}" rx="6"/>',
            '<text class="ink" x="16" y="26" font-size="15" font-weight="600">How many times as fast as the fastest peer, one thread</text>',
            '<text class="ink" x="16" y="45">A dot is a kernel at one size; right of 1, Ashlar is faster. '
            "Peers: OpenBLAS, oneDNN, Eigen, Halide.</text>"]
    for n, (name, run, races) in enumerate(runs):
        ratios = [peer["median_ns"] / ours["median_ns"] for (_, _, threads), (ours, peer) in races.items() if threads == 1]
        mean = math.exp(sum(map(math.log, ratios)) / len(ratios))
        x, y = 22 + 420 * (n % 2), 66 + 19 * (n // 2)
        out.append(f'<circle class="run{n}" cx="{x}" cy="{y}" r="4.5"/><text class="ink" x="{x + 11}" y="{y + 4.5}">{label(name, run)}: '
                   f"geometric mean {mean:.2f} of {len(ratios)}</text>")
    for mark in MARKS:
        x = place(mark)
        out.append(f'<line class="{"one" if mark == 1 else "faint"}" x1="{x:.1f}" x2="{x:.1f}" y1="{TOP - 6}" y2="{height - 12}"/>'
                   f'<text class="ink" x="{x:.1f}" y="{TOP - 11}" text-anchor="middle" font-size="12">{mark:g}</text>')
    shown = 0
    for row, (kind, pattern) in enumerate(ROWS):
        top = TOP + row * (LANE * len(runs) + GAP)
        out.append(f'<text class="ink" x="{LEFT - 14}" y="{top + (LANE * len(runs) + GAP) / 2 + 1:.1f}" text-anchor="end">{kind}</text>')
        for n, (_, _, races) in enumerate(runs):
            for (kernel, shape, threads), (ours, peer) in races.items():
                if threads != 1 or not re.search(pattern, kernel):
                    continue
                ratio = peer["median_ns"] / ours["median_ns"]
                out.append(f'<circle class="run{n}" cx="{place(ratio):.1f}" cy="{top + LANE * (n + 0.5) + GAP / 2:.1f}" r="3.7" fill-opacity="0.8">'
                           f"<title>{kernel} {shape}: {ratio:.2f} of {peer['impl']}</title></circle>")
                shown += 1
    expected = sum(key[2] == 1 for _, _, races in runs for key in races)
    if shown != expected:
        raise SystemExit(f"measured_plot.py: {expected} races, of which its rows show {shown}")
    return "\n".join(out + ["</svg>", ""])
