#!/usr/bin/env python3
"""Whole runs of ashlar-tune.

  search_test.py TUNE GENERATOR CC INCLUDE FOLDER
"""
import json
import os
import shutil
import signal
import subprocess
import sys
import time

TUNE, GENERATOR, CC, INCLUDE, FOLDER = sys.argv[1:6]
HERE = os.path.dirname(os.path.abspath(__file__))
SUMS = [GENERATOR, "-g", "sums", "-t", "x86-64-v3", "--size", "M=64", "--size", "N=256"]


def run(*arguments, code=0, env=None):
    result = subprocess.run([TUNE, *arguments], capture_output=True, text=True, cwd=FOLDER, env={**os.environ, **(env or {})}, timeout=300)
    if result.returncode != code:
        sys.exit(f"{' '.join(arguments)}: exit code {result.returncode}, expected {code}\n{result.stdout}{result.stderr}")
    return result


def expect(condition, what, *shown):
    if not condition:
        sys.exit(f"expected {what}" + "".join(f"\n{s}" for s in shown))


def says(text, *arguments):
    result = run(*arguments, code=1)
    expect(text in result.stderr, repr(text), result.stderr)


def records(database):
    return [json.loads(line) for line in run("export", "-d", database, "--all").stdout.splitlines()]


def exhaustive():
    """Every candidate once: three blocks of rows, by the terms one by one, in 8 or 4 lanes, or in parallel, which is refused."""
    result = run("search", *SUMS, "--searcher", "exhaustive", "-d", "all.db", "-o", "best.jsonl")
    expect("there are no other candidates" in result.stdout, "an end", result.stdout)
    tried = records("all.db")
    seen = sorted((r["status"], r["parameters"].get("rows"), r["choices"].get("terms"), r["choices"].get("lanes")) for r in tried)
    expected = sorted([("measured", n, "0", None) for n in "124"] + [("measured", n, "1", w) for n in "124" for w in "84"] +
                      [("refused", n, "2", None) for n in "124"], key=str)
    expect(sorted(seen, key=str) == expected, f"the candidates {expected}", sorted(seen, key=str))
    expect(all("times" not in r["parameters"] for r in tried), "a parameter that changes what is computed to stay")
    refused = next(r for r in tried if r["status"] == "refused")
    expect("parallel: expected" in refused["why"], "the prover's reason", refused)
    best = [json.loads(line) for line in open(os.path.join(FOLDER, "best.jsonl"))]
    expect(len(best) == 1 and best[0]["choices"]["terms"] == "1" and best[0]["ratio"] < 0.7, "a faster candidate in lanes", best)
    # It goes on from what the database has: nothing is measured again but the usual and the best candidate.
    again = run("search", *SUMS, "--searcher", "exhaustive", "-d", "all.db")
    expect(len(records("all.db")) == len(tried), "no new candidates", again.stdout)


def used():
    """A build takes what was found: by the algorithm and the target, or says why not."""
    def generator(*more):
        result = subprocess.run([GENERATOR, "-g", "sums", *more, "-e", "choices=-"], capture_output=True, text=True, cwd=FOLDER)
        return result, {c["name"]: c["value"] for c in json.loads(result.stdout)["choices"]} if result.stdout else {}

    found = json.load(open(os.path.join(FOLDER, "best.jsonl")))
    wanted = {name: int(value) for name, value in found["choices"].items()}
    usual = {"terms": 0}
    result, choices = generator("-t", "x86-64-v3", "--tuned", "best.jsonl")
    expect(choices == wanted and "note: sums for x86-64-v3: tuned for M=64, N=256" in result.stderr, wanted, choices, result.stderr)
    expect(json.loads(result.stdout)["parameters"][0]["value"] == found["parameters"]["rows"], "its parameters", result.stdout)
    result, choices = generator("-t", "x86-64-v3", "--tuned", "best.jsonl", "rows=4", "--choose", "terms=0")
    expect(choices == usual and json.loads(result.stdout)["parameters"][0]["value"] == "4", "what the command line says", result.stdout)
    for more in (["-t", "x86-64"], ["-t", "x86-64-v3", "times=3"]):  # another target, another algorithm
        result, choices = generator(*more, "--tuned", "best.jsonl")
        expect(choices == usual and "best.jsonl has no schedule for it, so the usual one was taken" in result.stderr, usual, result.stderr)
    for change, said in [({"terms": "2"}, "has a schedule that is refused, so the usual one was taken: tuned_gen.cpp:"),
                         ({"terms": "1", "lanes": "3"}, "decides what the schedule no longer chooses (lanes=3)")]:
        with open(os.path.join(FOLDER, "stale.jsonl"), "w") as f:
            f.write(json.dumps({**found, "choices": change}) + "\n")
        result, choices = generator("-t", "x86-64-v3", "--tuned", "stale.jsonl")
        expect(result.returncode == 0 and said in result.stderr, said, result.stderr)
    # The nearest of several sizes.
    with open(os.path.join(FOLDER, "sizes.jsonl"), "w") as f:
        for n, lanes in ((256, "8"), (4096, "4")):
            f.write(json.dumps({**found, "sizes": {"M": 64, "N": n}, "choices": {"terms": "1", "lanes": lanes}}) + "\n")
    for sizes, lanes in (([], 4), (["--size", "N=300"], 8), (["--size", "N=3000"], 4)):
        _, choices = generator("-t", "x86-64-v3", "--tuned", "sizes.jsonl", *sizes)
        expect(choices["lanes"] == lanes, lanes, sizes, choices)
    for text, said in (("", "the file is empty"), ("{}\n", "wrong.jsonl:1: expected a record of ashlar-tune")):
        with open(os.path.join(FOLDER, "wrong.jsonl"), "w") as f:
            f.write(text)
        result, _ = generator("-t", "x86-64-v3", "--tuned", "wrong.jsonl")
        expect(result.returncode == 2 and said in result.stderr, said, result.stderr)


def searchers():
    for searcher in ("random", "annealing", "evolution"):
        result = run("search", *SUMS, "--searcher", searcher, "--trials", "6", "--seed", "3", "-d", f"{searcher}.db")
        tried = records(f"{searcher}.db")
        expect(len([r for r in tried if r["status"] == "measured"]) == 7, "6 candidates and the usual one", result.stdout, tried)
        best = json.loads(run("export", "-d", f"{searcher}.db").stdout)
        expect(best["choices"]["terms"] == "1", "lanes to be the best", best)
    # A space of fewer candidates than trials, some of which are refused: the search ends.
    result = run("search", *SUMS, "-d", "small.db")
    expect("9 measured, 3 refused, 0 failed; there are no other candidates" in result.stdout, "an end", result.stdout)


def planted():
    """What goes wrong costs one candidate, and is said with its reason."""
    env = {"PLANTED_GENERATOR": GENERATOR, "PLANTED_CC": CC, "PLANTED_INCLUDE": INCLUDE}
    wrapper = os.path.join(HERE, "planted.py")
    result = run("search", wrapper, "-g", "faults", "-t", "x86-64-v3", "--size", "N=1000", "--searcher", "exhaustive", "-d", "faults.db",
                 "--limit", "2", "--megabytes", "256", "--build-limit", "6", env=env)
    tried = {(r["choices"].get("fault"), r["choices"].get("block")): r for r in records("faults.db")}
    for block in ("16", "8", "64"):
        expect(tried[("0", block)]["status"] == "measured", "good candidates to be measured", tried)
    for fault, status, why in [("1", "timed out", "did not end within 2"), ("2", "crashed", "Segmentation fault in the first call"),
                               ("3", "wrong", "y[0] is"), ("4", "failed", "memory"), ("5", "crashed", "exited with code 0"),
                               ("6", "crashed", "Segmentation fault in the first call"), ("7", "failed", "did not end within 6")]:
        found = [r for (f, _), r in tried.items() if f == fault]
        expect(found, f"candidates with fault {fault}", result.stderr)
        for r in found:
            expect(r["status"] == status and (why in r["why"] or fault == "4"), f"fault {fault}: {status}, {why}", r)
    expect("y[0] is" in result.stderr, "what was wrong", result.stderr)


def killed():
    """kill -9: what was tried is there, and the next run goes on."""
    tuner = subprocess.Popen([TUNE, "search", *SUMS, "--searcher", "random", "--trials", "1000", "-d", "killed.db"], cwd=FOLDER,
                             stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    path = os.path.join(FOLDER, "killed.db")
    begin = time.time()
    while time.time() - begin < 60 and not (os.path.exists(path) and len(records("killed.db")) >= 3):
        time.sleep(0.2)
    tuner.send_signal(signal.SIGKILL)
    tuner.wait()
    before = len(records("killed.db"))
    expect(before >= 3, "records before the end")
    run("search", *SUMS, "--searcher", "exhaustive", "-d", "killed.db")
    expect(len(records("killed.db")) == 12, "all candidates afterwards", records("killed.db"))


def interrupted():
    """Ctrl-C: it ends after the candidate that it is at, and says what is the best."""
    tuner = subprocess.Popen([TUNE, "search", *SUMS, "--searcher", "random", "--trials", "1000", "-d", "interrupted.db"], cwd=FOLDER,
                             stdout=subprocess.PIPE, text=True)
    path = os.path.join(FOLDER, "interrupted.db")
    begin = time.time()
    while time.time() - begin < 60 and not os.path.exists(path):
        time.sleep(0.1)
    tuner.send_signal(signal.SIGINT)
    out, _ = tuner.communicate(timeout=120)
    expect(tuner.returncode == 0 and "best" in out, "the best so far", tuner.returncode, out)


def refusals():
    says("expected a size of every Symbol", "search", GENERATOR, "-g", "sums", "--size", "M=4")
    says("--size K=4: there is no Symbol of this name", "search", *SUMS, "--size", "K=4")
    says("--size N=12: expected 0 to", "search", GENERATOR, "-g", "sums", "--size", "M=4", "--size", "N=12")
    says("--range z: there is no argument of this name", "search", *SUMS, "--range", "z=0:1")
    says("--range x=1:0: expected LOW:HIGH in this order", "search", *SUMS, "--range", "x=1:0")
    says("there is nothing to tune", "search", GENERATOR, "-g", "fixed", "--size", "N=4")
    says("--parameters times: expected parameters that change the schedule alone: rows", "search", *SUMS, "--parameters", "times")
    says("unknown generator \"sum\"", "search", GENERATOR, "-g", "sum")
    says("--searcher luck: expected one of random", "search", *SUMS, "--searcher", "luck")
    says("no_such_generator", "search", "./no_such_generator")
    expect(not os.path.exists(os.path.join(FOLDER, "tuned.db")), "no database of runs that did not begin")
    with open(os.path.join(FOLDER, "other.jsonl"), "w") as f:
        f.write("{}\n")
    says("other.jsonl:1: expected a record of ashlar-tune", "import", "-d", "new.db", "other.jsonl")
    expect(not os.path.exists(os.path.join(FOLDER, "new.db")), "nothing of a damaged import")


def exchanged():
    run("import", "-d", "merged.db", "best.jsonl")
    expect(run("export", "-d", "merged.db").stdout == open(os.path.join(FOLDER, "best.jsonl")).read(), "the same lines")


def main():
    if not shutil.which("objcopy") or not shutil.which("ld"):
        print("objcopy or ld is missing")
        sys.exit(77)
    shutil.rmtree(FOLDER, ignore_errors=True)
    os.makedirs(FOLDER)
    for part in (refusals, exhaustive, exchanged, used, searchers, killed, interrupted, planted):
        begin = time.time()
        part()
        print(f"{part.__name__}: {time.time() - begin:.1f} s")


main()
