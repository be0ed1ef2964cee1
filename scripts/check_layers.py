#!/usr/bin/env python3
"""The layers face one way: a file includes its own layer and those below it, nothing above.

Read from the #include lines of include/, src/, ops/, schedules/, tune/, apps/ and generators/. Also checked: that a header of a layer's
own (in src, not in include) is included by no other layer; which layers may see which library (LLVM only in codegen/llvm, isl only
in analysis); that what users include stays light: no heavy header of the standard library in it, and no more lines after
preprocessing than its budget; that no installed header includes one that is not (of those in cmake/internal_headers.txt, or of src); and that no two files
define one type.

  scripts/check_layers.py [--compiler g++] [ROOT]      prints every offense, exit code 1 if there is one
"""
import argparse
import os
import re
import subprocess
import sys

LAYERS = ["runtime", "ir", "tune", "lang", "analysis", "target", "instructions", "interp", "schedule", "ops", "schedules", "lower",
          "report", "codegen", "generator", "apps", "generators"]
RANK = {name: i for i, name in enumerate(LAYERS)}
# Headers directly in include/ashlar/ gather a layer for users.
UMBRELLAS = {"ashlar.h": "generator", "lang.h": "lang", "expr.h": "lang", "schedule.h": "schedule", "generator.h": "generator",
             "ops.h": "ops", "schedules.h": "schedules", "runtime.h": "runtime"}
LIBRARIES = [  # (what is included, the folders that may, in words)
    (re.compile(r"^(llvm|llvm-c|lld|clang)/"), ("src/codegen/llvm/", "tests/"), "LLVM"),
    (re.compile(r"^isl/"), ("src/analysis/", "tests/analysis/"), "isl"),
    (re.compile(r"^nlohmann/"), ("src/schedule/", "src/target/", "src/generator/", "tune/", "bench/", "tests/"), "the JSON library"),
    (re.compile(r"^sqlite3\.h$"), ("tune/", "tests/tune/"), "SQLite"),
    (re.compile(r"^CLI/"), ("src/generator/", "tune/", "apps/", "bench/", "tests/"), "the command line library"),
    (re.compile(r"^fmt/"), ("src/generator/", "tune/", "apps/", "bench/", "tests/"), "the formatting library"),
]
HEAVY = {"algorithm", "cmath", "functional", "iostream", "map", "memory", "ranges"}
# Lines after preprocessing that are not empty, at most, with libstdc++ 12; some 25,000 of them are its own.
BUDGETS = {"ashlar/lang.h": 28_500, "ashlar/ashlar.h": 28_500, "ashlar/ops.h": 36_000, "ashlar/schedules.h": 36_000}
OPERATOR_BUDGET = 30_000  # of one header of ops
INCLUDE_FOLDERS = ["include", "ops/include", "schedules/include"]
# The definition of a type, but of none inside of another one, A::B, and of no specialization, A<int>.
TYPE = re.compile(r"(?:struct|class|union|enum class) (\w+)(?: final)?(?: ?:(?!:)[^;{]*)? ?\{")
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]', re.M)


def files(root):
    for top in ("include", "src", "ops", "schedules", "tune", "apps", "generators"):
        for folder, dirs, names in os.walk(os.path.join(root, top)):
            dirs.sort()
            for name in sorted(names):
                if name.endswith((".h", ".c", ".cpp", ".inc", ".def")):
                    yield os.path.relpath(os.path.join(folder, name), root).replace(os.sep, "/")


def layer_of(path):
    """The layer of a file of the tree, or None."""
    parts = path.split("/")
    if parts[0] in ("ops", "schedules") and parts[1] == "include":
        parts = parts[1:]
    if parts[:2] == ["include", "ashlar"]:
        return layer_of_include("/".join(parts[1:]))
    return parts[1] if parts[0] == "src" and parts[1] in RANK else parts[0] if parts[0] in RANK else None


def layer_of_include(name):
    """The layer that an include names: "ashlar/ir/type.h", "ir/print.h"; None for other libraries."""
    parts = name.split("/")
    if parts[0] == "ashlar":
        parts = parts[1:]
        if len(parts) == 1:
            return UMBRELLAS.get(parts[0], "unknown")
        return parts[0] if parts[0] in RANK else "unknown"
    return parts[0] if len(parts) > 1 and parts[0] in RANK else None


def is_private(name):
    """Of a layer's own: "lower/passes.h", not <ashlar/lower/lower.h>."""
    return not name.startswith("ashlar/")


def check_includes(root, say):
    count = 0
    for path in files(root):
        layer = layer_of(path)
        if layer is None or layer == "unknown":
            say(f"{path}: expected a file of a known layer ({', '.join(LAYERS)})")
            continue
        with open(os.path.join(root, path), encoding="utf-8") as f:
            text = f.read()
        for match in INCLUDE.finditer(text):
            count += 1
            name, line = match[2], text.count("\n", 0, match.start()) + 1
            target = layer_of_include(name)
            if target == "unknown":
                say(f"{path}:{line}: {name}: expected a header of a known layer")
            elif target is not None and RANK[target] > RANK[layer]:
                say(f"{path}:{line}: {layer} includes {name}, of the layer {target} above it")
            elif target is not None and target != layer and is_private(name):
                say(f"{path}:{line}: {layer} includes {name}, a header of {target}'s own")
            for pattern, places, words in LIBRARIES:
                if pattern.match(name) and not path.startswith(places):
                    say(f"{path}:{line}: includes {words} ({name}), expected only in {', '.join(places)}")
    return count


def check_light(root, compiler, say):
    """What users include, against its budget: a text that says how large each is."""
    budgets = dict(BUDGETS)
    folder = os.path.join(root, "ops/include/ashlar/ops")
    if os.path.isdir(folder):
        budgets.update((f"ashlar/ops/{name}", OPERATOR_BUDGET) for name in sorted(os.listdir(folder)))
    sizes, everything = {}, set()
    for header, budget in budgets.items():
        if not any(os.path.exists(os.path.join(root, folder, header)) for folder in INCLUDE_FOLDERS):
            continue
        command = [compiler, "-std=c++20", "-E", *("-I" + folder for folder in INCLUDE_FOLDERS), "-x", "c++", "-"]
        run = subprocess.run(command, cwd=root, input=f"#include <{header}>\n", capture_output=True, text=True, check=False)
        if run.returncode != 0:
            say(f"{header}: {compiler} could not preprocess it:\n{run.stderr}")
            continue
        lines = own = 0
        ours, place = set(), ""
        for line in run.stdout.splitlines():
            marker = re.match(r'# \d+ "([^"]+)"', line)
            if marker:
                place = marker[1]
                if place.startswith(tuple(INCLUDE_FOLDERS)):
                    ours.add(place)
            elif line.strip():
                lines += 1
                own += place in ours
        sizes[header] = (lines, own, len(ours))
        everything |= ours
        if lines > budget:
            say(f"{header}: {lines} lines after preprocessing, expected at most {budget}")
    for path in sorted(everything):
        with open(os.path.join(root, path), encoding="utf-8") as f:
            for match in INCLUDE.finditer(f.read()):
                if match[2] in HEAVY:
                    say(f"{path}: includes <{match[2]}>, which is too heavy for what users include")
    return sizes


def check_installed(root, say):
    """What is installed includes nothing that is not: headers of include, without those of the list."""
    listed = os.path.join(root, "cmake/internal_headers.txt")
    internal = []
    if os.path.exists(listed):
        with open(listed, encoding="utf-8") as f:
            internal = [line.strip() for line in f if line.strip() and not line.startswith("#")]
    if not internal and os.path.exists(os.path.join(root, "include/ashlar/ashlar.h")):
        say("cmake/internal_headers.txt: expected the headers of include/ashlar that are not installed, found none")
    for name in internal:
        if not os.path.exists(os.path.join(root, "include/ashlar", name.removesuffix("/*"))):
            say(f"cmake/internal_headers.txt: include/ashlar/{name}: no such header")
    is_internal = re.compile("ashlar/(" + "|".join(re.escape(name).replace(r"\*", ".*") for name in internal) + ")").fullmatch
    for path in files(root):
        header = path.split("include/", 1)[1] if path.startswith(tuple(f + "/" for f in INCLUDE_FOLDERS)) else ""
        if not header or is_internal(header):
            continue
        with open(os.path.join(root, path), encoding="utf-8") as f:
            for match in INCLUDE.finditer(f.read()):
                if match[1] == '"' and is_private(match[2]):
                    say(f"{path}: is installed, and includes {match[2]}, a header of src")
                elif is_internal(match[2]):
                    say(f"{path}: is installed, and includes {match[2]}, which is not (cmake/internal_headers.txt)")


def check_names(root, say):
    """One name in one namespace is one type. Of two the linker keeps one, and builds without optimization then run its members
    on objects of the other."""
    defined = {}
    for path in files(root):
        if not path.endswith((".h", ".cpp")):
            continue
        inside = []  # the namespaces around the line, outermost first; "" has no name, and its types are the file's own
        with open(os.path.join(root, path), encoding="utf-8") as text:
            for line in text:
                if opened := re.match(r"namespace ([\w:]*) ?\{", line):
                    inside.append(opened[1])
                elif re.match(r"\}  // namespace", line) and inside:
                    inside.pop()
                elif inside and "" not in inside and (name := TYPE.match(line)):
                    defined.setdefault("::".join([*inside, name[1]]), []).append(path)
    for name, where in sorted(defined.items()):
        if len(where) > 1:
            say(f"{where[0]} and {where[1]} both define {name}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("root", nargs="?", default=os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
    parser.add_argument("--compiler", default="g++")
    arguments = parser.parse_args()
    offenses = []
    count = check_includes(arguments.root, offenses.append)
    if count == 0:
        offenses.append(f"{arguments.root}: no #include line found")
    check_names(arguments.root, offenses.append)
    sizes = check_light(arguments.root, arguments.compiler, offenses.append)
    check_installed(arguments.root, offenses.append)
    for offense in offenses:
        print(offense, file=sys.stderr)
    for header in BUDGETS:
        if header in sizes:
            lines, own, headers = sizes[header]
            print(f"{header}: {lines} lines after preprocessing, of which {own} of {headers} headers here")
    operators = [header for header in sizes if header not in BUDGETS]
    if operators:
        largest = max(operators, key=lambda header: sizes[header][0])
        print(f"of one operator's header at most {sizes[largest][0]} lines, in {largest}")
    print(f"layers: {count} includes read, {len(offenses)} offenses")
    return 1 if offenses else 0


if __name__ == "__main__":
    sys.exit(main())
