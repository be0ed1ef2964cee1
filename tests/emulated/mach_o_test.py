#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Objects and archives for macOS and iOS, as LLVM's linker for Apple's systems takes them: mach_o_test.py --ops ashlar-ops --llvm BIN
--work DIR [--compiler TARGET=CC ...] [--emulator TARGET=PROGRAM ...].

For each target, two operators are linked into one dynamic library, with a small substitute for the runtime. The test checks that the
linker reports neither errors nor warnings, that the library exports the entries and needs no other library, that the disassembler
knows every instruction, and that the line tables verify. If there is a compiler for the same processor under Linux, the test lays the
library out in memory and runs its kernels."""
import argparse
import os
import re
import shutil
import struct
import subprocess
import sys

parser = argparse.ArgumentParser()
parser.add_argument("--ops", required=True)
parser.add_argument("--llvm", required=True)
parser.add_argument("--work", required=True)
parser.add_argument("--compiler", action="append", default=[])
parser.add_argument("--emulator", action="append", default=[])
options = parser.parse_args()
options.ops, options.work = os.path.abspath(options.ops), os.path.abspath(options.work)
compilers = dict(word.split("=", 1) for word in options.compiler)
emulators = dict(word.split("=", 1) for word in options.emulator)
BASE = 0x500000000  # where libraries are put in memory
TARGETS = {  # Ashlar's name: LLVM's, the linker's architecture and platform, who runs it
    "x86-64-macos": ("x86_64-apple-macosx11", "x86_64", "macos", "x86-64"),
    "x86-64-v4-macos": ("x86_64-apple-macosx11", "x86_64", "macos", None),
    "aarch64-macos": ("arm64-apple-macosx11", "arm64", "macos", "aarch64"),
    "aarch64+dotprod+i8mm-macos": ("arm64-apple-macosx11", "arm64", "macos", None),
    "aarch64-ios": ("arm64-apple-ios14", "arm64", "ios", None),
}
# What kernels may call. The three functions of memory are real; the entries of the runtime do nothing.
STUBS = """
define i32 @ashlar_abi1_call(ptr %d, ptr %a, ptr %c) { ret i32 -11 }
define i32 @ashlar_abi1_prepare(ptr %d, ptr %a, ptr %c) { ret i32 -11 }
define ptr @memset(ptr %to, i32 %value, i64 %n) nobuiltin noinline optnone {
  %byte = trunc i32 %value to i8
  br label %test
test:
  %i = phi i64 [0, %0], [%next, %body]
  %more = icmp ult i64 %i, %n
  br i1 %more, label %body, label %done
body:
  %at = getelementptr i8, ptr %to, i64 %i
  store volatile i8 %byte, ptr %at
  %next = add i64 %i, 1
  br label %test
done:
  ret ptr %to
}
define ptr @memmove(ptr %to, ptr %from, i64 %n) noinline optnone {
  %down = icmp ult ptr %from, %to
  br label %test
test:
  %i = phi i64 [0, %0], [%next, %body]
  %more = icmp ult i64 %i, %n
  br i1 %more, label %body, label %done
body:
  %next = add i64 %i, 1
  %last = sub i64 %n, %next
  %k = select i1 %down, i64 %last, i64 %i
  %source = getelementptr i8, ptr %from, i64 %k
  %target = getelementptr i8, ptr %to, i64 %k
  %byte = load volatile i8, ptr %source
  store volatile i8 %byte, ptr %target
  br label %test
done:
  ret ptr %to
}
define ptr @memcpy(ptr %to, ptr %from, i64 %n) noinline optnone {
  %r = call ptr @memmove(ptr %to, ptr %from, i64 %n)
  ret ptr %r
}
"""


def run(*command, where=None):
    ran = subprocess.run(command, capture_output=True, text=True, cwd=where)
    if ran.returncode != 0:
        sys.exit(f"{' '.join(command)}: code {ran.returncode}\n{ran.stdout}{ran.stderr}")
    return ran.stdout + ran.stderr


def tool(name):
    return os.path.join(options.llvm, name)


def image(library):
    """The bytes of a library, linked for the address 0, as its segments lie in memory from BASE on."""
    with open(library, "rb") as f:
        data = f.read()
    magic, _, _, kind, count = struct.unpack_from("<IIIII", data)
    if magic != 0xFEEDFACF or kind != 6:
        sys.exit(f"{library} is no dynamic library of 64 bits")
    flat, at = bytearray(), 32
    for _ in range(count):
        command, size = struct.unpack_from("<II", data, at)
        if command == 0x19:  # a segment
            address, bytes_, offset, held = struct.unpack_from("<QQQQ", data, at + 24)
            flat.extend(bytes(max(0, address + bytes_ - len(flat))))
            flat[address:address + held] = data[offset:offset + held]
        at += size
    pointers = re.findall(r"^__\w+ +__\w+ +0x([0-9A-F]+) +pointer$", run(tool("llvm-objdump"), "--macho", "--rebase", library), re.M)
    if not pointers:
        sys.exit(f"{library}: llvm-objdump lists no pointer that moves with the library")
    for where in (int(word, 16) for word in pointers):
        struct.pack_into("<Q", flat, where, struct.unpack_from("<Q", flat, where)[0] + BASE)
    return bytes(flat)


shutil.rmtree(options.work, ignore_errors=True)
ran_on = []
for target, (triple, architecture, platform, runs_as) in TARGETS.items():
    work = os.path.join(options.work, target)
    os.makedirs(work)
    for function, words in (("soft", ["-g", "softmax"]), ("product", ["-g", "matmul", "type=i8"])):
        run(options.ops, *words, "-f", function, "-t", target, "--line-tables", "--quiet", "-e", "static_library,object,header", where=work)
        verified = run(tool("llvm-dwarfdump"), "--verify", f"{function}.o", where=work)
        if "No errors." not in verified:
            sys.exit(f"{target}: the line tables of {function}:\n{verified}")
    with open(os.path.join(work, "runtime.ll"), "w", encoding="utf-8") as f:
        f.write(STUBS)
    run(tool("llc"), "-filetype=obj", f"-mtriple={triple}", "runtime.ll", "-o", "runtime.o", where=work)
    archives = sorted(name for name in os.listdir(work) if name.endswith(".a"))
    if len(archives) != 2:
        sys.exit(f"{target}: expected two archives, found {archives}")
    said = run(tool("ld64.lld"), "-arch", architecture, "-platform_version", platform, "14.0", "14.0", "-dylib", "-fatal_warnings", "-no_fixup_chains",
               "-o", "kernels.dylib", "-all_load", *archives, "runtime.o", where=work)
    if said:
        sys.exit(f"{target}: the linker said\n{said}")
    symbols = {}
    for line in run(tool("llvm-nm"), "-g", "kernels.dylib", where=work).splitlines():
        words = line.split()
        if words[-2] == "U":
            sys.exit(f"{target}: {words[-1]} is left undefined")
        symbols[words[-1]] = int(words[0], 16)
    for function in ("soft", "product"):
        for entry in ("", "_with", "_run", "_workspace_bytes"):
            if f"_{function}{entry}" not in symbols:
                sys.exit(f"{target}: no _{function}{entry} among {sorted(symbols)}")
    code = run(tool("llvm-objdump"), "-d", "--mattr=+all" if architecture == "arm64" else "--mattr=", "kernels.dylib", where=work)
    unknown = re.findall(r"^.*(?:<unknown>|\(bad\)).*$", code, re.M)
    instructions = len(re.findall(r"^ *[0-9a-f]+: ", code, re.M))
    if unknown or instructions < 500:
        sys.exit(f"{target}: {instructions} instructions, and unknown ones: {unknown[:5]}")
    if runs_as in compilers:
        with open(os.path.join(work, "image"), "wb") as f:
            f.write(image(os.path.join(work, "kernels.dylib")))
        loader = os.path.join(os.path.dirname(os.path.abspath(__file__)), "mach_o_loader.c")
        run(compilers[runs_as], "-std=c11", "-O1", "-static", "-Wall", "-Werror", "-I.", loader, "-o", "loader", "-lm", where=work)
        addresses = [hex(BASE + symbols[name])[2:] for name in ("_soft_run", "_soft_workspace_bytes", "_product_run", "_product_workspace_bytes")]
        emulator = [emulators[runs_as]] if runs_as in emulators else []
        found = run(*emulator, "./loader", "image", hex(BASE)[2:], *addresses, where=work)
        if found != "softmax 0, product 0\n":
            sys.exit(f"{target}: {found}")
        ran_on.append(target)
print(f"{len(TARGETS)} targets link; kernels of {', '.join(ran_on) or 'none'} run")
