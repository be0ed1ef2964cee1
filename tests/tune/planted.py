#!/usr/bin/env python3
"""A generator whose candidates misbehave: runs the real one, and puts another function into the object where `fault` is chosen.

  planted.py runs as the generator, with PLANTED_GENERATOR, PLANTED_CC and PLANTED_INCLUDE in the environment
"""
import json
import os
import subprocess
import sys
import time

FAULTS = {
    1: "for (volatile int k = 0;; ++k) {}",                                          # hangs
    2: "*(volatile int*)8 = 1; return 0;",                                           # crashes
    3: "return 0;",                                                                  # computes nothing
    4: "for (;;) { char* p = malloc(1 << 20); if (!p) return -9; memset(p, 1, 1 << 20); }",  # takes all memory
    5: "exit(0);",                                                                   # ends the process
    6: "(*(int**)a)[0] = 7; return 0;",                                              # writes an input
}

# The entry hands the runtime a descriptor with another function to run.
PROGRAM = """#include <ashlar/runtime/desc.h>
#include <stdlib.h>
#include <string.h>
extern const ashlar_abi1_desc ashlar_candidate_abi1_desc __attribute__((visibility("hidden")));
static int fault(const void* a, const ashlar_context* c) { (void)a; (void)c; %s }
int ashlar_candidate(void) {
  static ashlar_abi1_desc d;
  d = ashlar_candidate_abi1_desc;
  d.run = fault;
  return ashlar_abi1_call(&d, NULL, NULL);
}
"""


def main():
    arguments = sys.argv[1:]
    result = subprocess.run([os.environ["PLANTED_GENERATOR"], *arguments])
    if result.returncode:
        return result.returncode
    files = dict(a.split("=", 1) for a in arguments if a.startswith(("object=", "choices=")))
    if "object" not in files or "choices" not in files:
        return 0
    with open(files["choices"]) as f:
        fault = next((c["value"] for c in json.load(f)["choices"] if c["name"] == "fault"), 0)
    if fault == 7:  # the generator itself hangs
        time.sleep(600)
    if fault not in FAULTS:
        return 0
    folder = os.path.dirname(files["object"])
    source, made, right = (os.path.join(folder, n) for n in ("fault.c", "fault.o", "right.o"))
    with open(source, "w") as f:
        f.write(PROGRAM % FAULTS[fault])
    subprocess.run([os.environ["PLANTED_CC"], "-I", os.environ["PLANTED_INCLUDE"], "-fPIC", "-c", source, "-o", made], check=True)
    subprocess.run(["objcopy", "--redefine-sym=ashlar_candidate=right", files["object"], right], check=True)
    subprocess.run(["ld", "-r", "-o", files["object"], right, made], check=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
