#!/usr/bin/env python3
"""Results of first_hour.py for people.

    tables.py lines.jsonl        the table of times, in Markdown
"""
import json
import sys


def rate(row, microseconds):
    """In the row's unit."""
    return row["work"] / microseconds * (1e-3 if row["unit"] == "GB/s" else 1e-6)


def times(rows):
    """A Markdown table of what agrees with PyTorch's results: our time, the rate, its fraction of the ceiling measured in the same process, and PyTorch's time by ours."""
    measured = {r["case"]: rate(r, r["torch_us"]) for r in rows if not r["ceiling"] and "torch_us" in r}
    lines = [f"| {name} | {value:.0f} {next(r['unit'] for r in rows if r['case'] == name)} |" for name, value in measured.items()]
    text = "| ceiling | measured |\n|---|---|\n" + "\n".join(lines) + "\n\n"
    text += "| kernel | Ashlar | rate | of the ceiling | PyTorch | PyTorch's time by ours |\n|---|---|---|---|---|---|\n"
    for r in rows:
        if not r["ceiling"] or "us" not in r or r["result"] != "passed":
            continue
        ours, most = rate(r, r["us"]), measured.get(r["ceiling"])
        of = f"{ours / most:.3f}" if most else ""
        text += (f"| {r['case']} | {r['us']:.1f} us | {ours:.{0 if r['unit'] == 'GB/s' else 1}f} {r['unit']} | {of} | "
                 f"{r['torch_us']:.1f} us | {r['torch_us'] / r['us']:.3f} |\n")
    return text


def summary(log, seconds):
    text = f"\n{seconds:.0f} s in all\n\n| step | results | runs on the device |\n|---|---|---|\n"
    for step, counts in log.counts.items():
        text += f"| {step} | {', '.join(f'{n} {what}' for what, n in sorted(counts.items()))} | {log.runs[step]} |\n"
    rows = [f for f in log.rows if "torch_us" in f]
    if rows:
        text += "\n" + times(rows)
    if log.bad:
        text += f"\n{len(log.bad)} are bad:\n"
        for step, found in log.bad[:40]:
            text += f"- {step}: {found['case']}: {found['result']}: {' '.join(found.get('text', '').split())[:140]}\n"
    return text


def main():
    with open(sys.argv[1], encoding="utf-8") as lines:
        found = [json.loads(line) for line in lines]
    print(times([f for f in found if f.get("step") == "times" and "torch_us" in f]))
    return 0


if __name__ == "__main__":
    sys.exit(main())
