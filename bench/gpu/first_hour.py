#!/usr/bin/env python3
"""What is known of a device after a few minutes on it: everything is run once, and nothing that hangs or dies costs the rest.

    first_hour.py --out FOLDER [--root FOLDER] [--seconds S] [--seed N] [--jobs N] [--only STEP]... [--match TEXT]...

--only is cases, times, library, random or sanitizer; the last two take the seconds that are left. --match takes the cases, times and operators whose names contain a text.

The plan, with the seconds that a step has at most, for --seconds 330:

      10  versions of the driver, the toolkit and PyTorch; the device
      60  every program of the tests, the families of schedules, all operators on all types, against the interpreter
      90  times beside PyTorch (cuBLAS, cuDNN), and the ceilings of this device in the same process
      60  every operator of the library as it is scheduled by default, against the interpreter
     100  random programs under random launches and under the default schedule, for CUDA and for Vulkan on the vendor's driver,
          against the interpreter; beside that, compute-sanitizer's memcheck, racecheck, synccheck and initcheck on a few cases

It runs from an archive of pack_compiler.py, which needs neither LLVM nor packages, or with --root from a build. FOLDER gets lines.jsonl with every result, and
summary.txt, which is printed too. Exit code 1 if anything differs, fails, hangs or crashes; 3 if no device can be used.
"""
import argparse
import collections
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import threading
import time

import supervise
import tables

HERE = pathlib.Path(__file__).resolve().parent
SANITIZED = ["add_bias", "transpose", "pipelined_product", "softmax_tree", "sum_tree", "conv3x3", "online_attention", "ring_of_warps",
             "recurrence_of_rows", "scans_in_blocks", "counts_in_shared_memory", "persistent product", "whole tiles by a user's instruction",
             "product by a user's instruction, bf16, ldmatrix, 3", "a tile of attention", "by family: product", "by family: softmax",
             "library: matmul", "library: attention"]
# Seeds of random launches that a device once got wrong: they run first, one a process.
FOUND = ["22461"]  # a minimum of 16 bits that is compared with its bound
STEPS = ["cases", "times", "library", "random", "sanitizer"]
TOOLS = ["memcheck", "racecheck", "synccheck", "initcheck"]


class Log:
    """Writes every result as a line of a file, with its step. Keeps failures and times in memory."""

    def __init__(self, folder):
        self.file = open(folder / "lines.jsonl", "w", encoding="utf-8")
        self.lock = threading.Lock()
        self.counts = collections.defaultdict(collections.Counter)
        self.runs = collections.Counter()
        self.bad, self.rows, self.notes = [], [], []

    def write(self, step, found, keep=True):
        """With keep=False, of cases without an end, those that passed are counted and not written, and those left are neither."""
        with self.lock:
            if not keep and found["result"] in ("not run", "not finished"):
                return
            self.counts[step][found["result"]] += 1
            self.runs[step] += int(found.get("runs", 0))
            if keep or found["result"] != "passed":
                self.file.write(json.dumps({"step": step, **found}) + "\n")
                self.file.flush()
            if step == "times":
                self.rows.append(found)
            if found["result"] in supervise.BAD:
                self.bad.append((step, found))

    def note(self, text):
        with self.lock:
            self.notes.append(text)
            self.file.write(json.dumps({"note": text}) + "\n")
            self.file.flush()
        print(text, flush=True)


def judged(found, log):
    """The result of a case under compute-sanitizer, by the summary at the end of its log."""
    if found["result"] not in ("passed", "close", "differs", "refused"):
        return found
    text = log.read_text(errors="replace") if log.exists() else ""
    summary = re.search(r"(?:ERROR|RACECHECK) SUMMARY: (\d+)", text)
    if summary and summary[1] == "0":
        return found
    if not summary:
        text = "the tool wrote no summary\n" + text
    return {**found, "result": "error", "text": (found.get("text", "") + "\n" + text)[:3000]}


class Plan:
    def __init__(self, options):
        self.out = pathlib.Path(options.out)
        self.out.mkdir(parents=True, exist_ok=True)
        self.started, self.seconds, self.seed, self.jobs = time.monotonic(), options.seconds, options.seed, options.jobs
        self.only, self.match, self.chosen = options.only or STEPS, options.match, bool(options.only)
        self.log = Log(self.out)
        root = pathlib.Path(options.root).resolve()
        self.program, self.fuzz, self.library = (str(root / p) for p in ("bin/ashlar_gpu", "bin/ashlar_fuzz", "lib/libashlar_gpu.so"))
        # The driver assembles PTX, as it does for users without nvJitLink; what it keeps on disk would spare the next run.
        self.plain = {**os.environ, "ASHLAR_NVJITLINK": "", "CUDA_CACHE_DISABLE": "1"}

    def left(self, share):
        """The seconds of a step: its share of all, or what is left."""
        return max(1.0, min(share * self.seconds / 330, self.seconds - (time.monotonic() - self.started)))

    def asked(self, *command, seconds=30):
        try:
            r = subprocess.run(command, capture_output=True, text=True, timeout=seconds, env=self.plain)
            return r.returncode, (r.stdout + r.stderr).strip()
        except (OSError, subprocess.TimeoutExpired) as e:
            return None, str(e)

    def named(self, names):
        return [n for n in names if not self.match or any(text in n for text in self.match)]

    def step(self, name, command, cases, env=None, keep=True, **limits):
        begun = time.monotonic()
        launch = lambda some: ["env", *(f"{k}={v}" for k, v in (env or {}).items()), *command(some)]
        try:
            supervise.supervise(launch, cases, report=lambda found: self.log.write(name, found, keep), **limits)
        except supervise.NoDevice as why:
            self.log.note(f"{name}: {why}")
        self.log.note(f"{name}: {time.monotonic() - begun:.0f} s, {dict(self.log.counts[name])}, {self.log.runs[name]} runs")

    ours = {"ASHLAR_NVJITLINK": "", "CUDA_CACHE_DISABLE": "1"}

    def check(self, name, cases, share):
        self.step(name, lambda some: [self.program, "--check", *some], cases, env=self.ours, jobs=self.jobs, limit=25,
                  seconds=self.left(share), together=6)

    def times(self, listing):
        said, why = listing.communicate(timeout=60)
        if listing.returncode != 0:
            return self.log.note(f"nothing is timed beside PyTorch: {(said + why)[-300:]}")
        titles = self.named(said.splitlines())
        self.step("times", lambda some: [sys.executable, "-u", str(HERE / "beside_torch.py"), self.library, *some], titles, jobs=1,
                  limit=30, seconds=self.left(90), together=len(titles))

    def random(self, name, target, extra, jobs, seconds):
        command = lambda some: [self.fuzz, "--lines", "--device", "--target", target, "--seed", some[0], "--count", str(len(some)),
                                "--case-seconds", "20", *extra]
        if not extra and target != "vulkan":
            self.step(name, command, FOUND, env=self.ours, jobs=1, limit=25, seconds=seconds, together=1)
        seeds = [str(self.seed + n) for n in range(100000)]
        self.step(name, command, seeds, env=self.ours, keep=False, jobs=jobs, limit=25, seconds=seconds, together=50)

    def sanitizer(self, tool, seconds):
        if not shutil.which("compute-sanitizer"):
            return self.log.note("compute-sanitizer is not installed")
        logs = self.out / "sanitizer"
        logs.mkdir(exist_ok=True)
        number = {case: n for n, case in enumerate(SANITIZED)}
        file = lambda case: logs / f"{tool}.{number[case]}"
        begun = time.monotonic()
        ran = collections.Counter()
        results = []
        command = lambda some: ["env", *(f"{k}={v}" for k, v in self.ours.items()), "compute-sanitizer", "--tool", tool, "--log-file",
                                str(file(some[0])), self.program, "--check", *some]
        supervise.supervise(command, SANITIZED, jobs=1, limit=45, seconds=seconds, together=1, report=results.append)
        for found in results:  # the tool says what it found when the process ends, behind the case's line
            found = judged(found, file(found["case"]))
            ran[found["result"]] += 1
            self.log.write(f"sanitizer, {tool}", found)
        self.log.note(f"sanitizer, {tool}: {time.monotonic() - begun:.0f} s, {dict(ran)}")

    def together(self):
        seconds = self.left(330 if self.chosen else 100)
        few = max(1, (self.jobs - 4) // 5)
        work = [threading.Thread(target=self.sanitizer, args=(tool, seconds)) for tool in TOOLS if "sanitizer" in self.only]
        work += [threading.Thread(target=self.random, args=(name, target, extra, few, seconds)) for name, target, extra in
                 (("random launches, sm_90a", "cuda-sm_90a", []), ("random launches, sm_80", "cuda-sm_80", []),
                  ("random programs by default", "cuda-sm_90a", ["--by-default"]), ("random launches, Vulkan", "vulkan", []),
                  ("random programs by default, Vulkan", "vulkan", ["--by-default"])) if "random" in self.only]
        for w in work:
            w.start()
        for w in work:
            w.join()

    def finish(self):
        text = tables.summary(self.log, time.monotonic() - self.started)
        (self.out / "summary.txt").write_text(text, encoding="utf-8")
        logs = self.out / "sanitizer"
        if logs.exists():  # one file for all of them
            with open(self.out / "sanitizer.txt", "w", encoding="utf-8") as all_logs:
                for f in sorted(logs.iterdir()):
                    tool, n = f.name.split(".")[:2]
                    all_logs.write(f"==== {tool}: {SANITIZED[int(n)]}\n{f.read_text(errors='replace')[:20000]}\n")
            shutil.rmtree(logs)
        print(text, flush=True)
        return 1 if self.log.bad else 0

    def run(self):
        for command in (["nvidia-smi", "-L"], ["nvidia-smi", "--query-gpu=driver_version,clocks.max.sm,clocks.max.mem,power.limit", "--format=csv,noheader"],
                        ["nvcc", "--version"], ["uname", "-sr"]):
            self.log.note(f"{command[0]}: {self.asked(*command)[1][-200:]}")
        code, said = self.asked(self.program, "--probe")
        self.log.note(f"probe: {said}")
        if code != 0:
            return 3 if code == 3 else 1
        target = said.rsplit(", ", 1)[-1]
        cases = self.asked(self.program, "--list", target)[1].splitlines()
        listing = subprocess.Popen([sys.executable, str(HERE / "beside_torch.py"), self.library, "--list"], text=True,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE)  # PyTorch is read from disk meanwhile
        for step in self.only:
            if step == "cases":
                self.check("cases", self.named(c for c in cases if not c.startswith("library: ")), 60)
            elif step == "times":
                self.times(listing)
            elif step == "library":
                self.check("library", self.named(c for c in cases if c.startswith("library: ")), 60)
        self.together()
        return self.finish()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--out", required=True)
    parser.add_argument("--root", default=HERE)
    parser.add_argument("--seconds", type=float, default=330)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", action="append", choices=STEPS)
    parser.add_argument("--match", action="append", default=[])
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    return Plan(parser.parse_args()).run()


if __name__ == "__main__":
    sys.exit(main())
