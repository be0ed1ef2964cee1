#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Completion of a line by a shell, and the man page: shells_test.py bash|zsh|fish|man PROGRAM TOOL, PROGRAM being the shell or groff."""
import os
import subprocess
import sys
import tempfile

what, program, tool = sys.argv[1:4]
name = os.path.basename(tool)
path = os.path.dirname(os.path.abspath(tool)) + os.pathsep + os.environ["PATH"]
wrong = 0


def run(*command, **more):
    return subprocess.run(command, capture_output=True, text=True, check=True, env={**os.environ, "PATH": path, "HOME": "/nowhere"}, **more)


def check(holds, text):
    global wrong
    if not holds:
        wrong += 1
        print(f"wrong: {text}")


# A line up to the cursor, and what the shell offers behind it; None: files.
LINES = [
    ("-g matmu", ["matmul"]),
    ("-g matmul -e object,he", ["object,header"]),
    ("-g matmul -t x86-64-v3,zen", ["x86-64-v3,zen3", "x86-64-v3,zen4", "x86-64-v3,zen5"]),
    ("-g matmul --list-", ["--list-targets"]),
    ("-g matmul target=neoverse-v", ["target=neoverse-v2"]),
    ("-g matmul epi", ["epilogue="]),
    ("--completion ", ["bash", "zsh", "fish"]),
    ("-g matmul -o ", None),
]


def bash(line):
    script = f"source <({name} --completion bash)\nCOMP_LINE={name + ' ' + line!r} COMP_POINT={len(name) + 1 + len(line)}\n" \
             f"{function('bash')} 2>/dev/null; printf '%s\\n' \"${{COMPREPLY[@]}}\""
    return run(program, "--norc", "-c", script).stdout.split()


def zsh(line):
    words = [name] + line.split() + ([""] if line.endswith(" ") else [])
    quoted = " ".join(f"'{w}'" for w in words)
    script = ("compdef() { : }\n_files() { : }\n"
              "compadd() { while [[ $1 != -- ]]; do [[ $1 == -S ]] && shift; shift; done; shift; (( $# )) && print -l -- $@; return 0 }\n"
              f"source <({name} --completion zsh)\nwords=({quoted}); CURRENT=$#words\n{function('zsh')}")
    return run(program, "-f", "-c", script).stdout.split()


def fish(line):
    script = f"{name} --completion fish | source; complete -C '{name} {line}'"
    found = run(program, "--no-config", "-c", script).stdout.split("\n")
    return [f.split("\t")[0] for f in found if f and not os.path.exists(f.split("\t")[0].rstrip("/"))]


def function(shell):
    text = run(tool, "--completion", shell).stdout
    return next(word[:-2] for word in text.split() if word.endswith("()"))


if what == "man":
    page = run(tool, "--man").stdout
    said = run(program, "-man", "-Tutf8", "-P-cbou", "-ww", input=page)
    check(said.stderr == "", f"groff warns: {said.stderr}")
    for part in ("NAME", "SYNOPSIS", "OPTIONS", "--list-targets", "matmul", "OUTPUT KINDS", "EXAMPLES", "EXIT STATUS"):
        check(part in said.stdout.replace("‐", "-").replace("−", "-"), f"the page has no {part}")
else:
    shell = {"bash": bash, "zsh": zsh, "fish": fish}[what]
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        for line, expected in LINES:
            found = shell(line)
            if what == "bash" and expected and "=" in expected[0] and "=" in line:  # only what is behind the =
                expected = [e.split("=", 1)[1] for e in expected]
            check(sorted(found) == sorted(expected or []), f"{what}: {line!r} gives {found}, expected {expected}")
    check(subprocess.run([tool, "--completion", "tcsh"], capture_output=True, text=True).returncode == 2, "tcsh is known")
print(f"{wrong} wrong")
sys.exit(wrong != 0)
