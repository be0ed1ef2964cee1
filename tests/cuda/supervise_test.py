#!/usr/bin/env python3
"""The supervisor on the stand-in driver: a kernel that hangs, one that loses the device and one that crashes cost only themselves;
and what counts as found by compute-sanitizer.

    supervise_test.py ASHLAR_GPU STANDIN
"""
import os
import pathlib
import sys
import tempfile

sys.dont_write_bytecode = True  # beside the sources
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "bench" / "gpu"))
import first_hour
import supervise

program, standin = sys.argv[1:]
os.environ.update(ASHLAR_CUDA_LIBRARY=standin, STANDIN_HANGS="transpose", STANDIN_LOSES="product", STANDIN_CRASHES="softmax")
cases = ["add_bias", "transpose", "row_sums", "product", "sum", "softmax", "argmax"]
found = {}


def report(line):
    assert line["case"] not in found, line
    found[line["case"]] = line


for together in (1, 7):
    found.clear()
    counts = supervise.supervise(lambda some: [program, "--check", *some], cases, jobs=2, limit=4, together=together, report=report)
    assert list(sorted(found)) == sorted(cases), found
    for name, result, text in (("transpose", "hung", "nothing was heard for 4 s running ["), ("product", "error", "CUDA_ERROR_ILLEGAL_ADDRESS"),
                               ("softmax", "crashed", "SIGABRT")):
        assert found[name]["result"] == result and text in found[name]["text"], found[name]
    for name in ("add_bias", "row_sums", "sum", "argmax"):  # the stand-in computes nothing
        assert found[name]["result"] == "differs", found[name]
    assert sum(counts.values()) == len(cases)

found.clear()
supervise.supervise(lambda some: [program, "--check", *some], ["transpose", "sum", "argmax"], limit=60, seconds=3, together=1, report=report)
assert [found[c]["result"] for c in ("transpose", "sum", "argmax")] == ["not finished", "not run", "not run"], found

os.environ["ASHLAR_CUDA_LIBRARY"] = "none.so"
try:
    supervise.supervise(lambda some: [program, "--check", *some], cases, report=report)
    raise AssertionError("there is no device")
except supervise.NoDevice as why:
    assert "none.so cannot be opened: no NVIDIA driver is here" in str(why), why
with tempfile.TemporaryDirectory() as folder:
    log = pathlib.Path(folder) / "log"
    for text, result in (("========= ERROR SUMMARY: 0 errors", "passed"), ("========= ERROR SUMMARY: 2 errors", "error"),
                         ("========= RACECHECK SUMMARY: 0 hazards displayed (0 errors, 0 warnings)", "passed"),
                         ("========= RACECHECK SUMMARY: 1 hazard displayed (1 error, 0 warnings)", "error"), ("=========", "error")):
        log.write_text(text)
        assert first_hour.judged({"case": "sum", "result": "passed"}, log)["result"] == result, text
        assert first_hour.judged({"case": "sum", "result": "hung"}, log)["result"] == "hung"
print("every case is told of, whatever the others do")
