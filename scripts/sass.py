#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What ptxas makes of PTX: registers, spills, shared memory, stores to global memory by their bits, and the instructions of the
main loop of each kernel by kind.

  scripts/sass.py matmul.ptx --arch sm_80 --ptxas ptxas --nvdisasm nvdisasm

The main loop is the shortest of those with the most multiplications (HMMA, IMMA, HGMMA; where there are none, FFMA). A loop is
what lies between a branch backwards and its target: with cold parts that stand there, without parts that ptxas put elsewhere.
Of a kernel without a loop: the instructions from the begin to the first end behind a store, which ptxas makes the path of whole
tiles, with the bytes that they load and store and the widest access.
What a block inside executes of it is counted too (`path`): of the ways from the loop's begin to its end that multiply most, and
then copy most, the shortest. Loops inside are passed once, which only loops at the rim are.
nvdisasm is a part of the CUDA toolkit, and of the `triton` package for Python.
"""
import argparse
import json
import os
import re
import struct
import subprocess
import sys
import tempfile

KINDS = [  # in the order of the columns; the first that matches
    ("mma", r"(HMMA|IMMA|HGMMA|IGMMA|QGMMA|QMMA|DMMA|UTC[HQI]MMA)\b"),
    ("ffma", r"(FFMA|HFMA2|DFMA)\b"),
    ("ldsm", r"LDSM\b"),
    ("ldgsts", r"LDGSTS\b"),
    ("lds", r"LDS\b"),
    ("sts", r"(STS|STSM)\b"),
    ("ldg", r"(LDG|LD)\b"),
    ("stg", r"(STG|ST)\b"),
    ("local", r"(LDL|STL)\b"),
    ("sync", r"(BAR|DEPBAR|LDGDEPBAR|WARPSYNC|BSSY|BSYNC|NOP|MEMBAR)\b"),
    ("control", r"(BRA|EXIT|CALL|RET|BREAK|BRX|JMP|YIELD)\b"),
    ("predicate", r"(ISETP|UISETP|PLOP3|UPLOP3|FSETP|R2P|P2R)\b"),
    ("integer", r"(IADD3|IADD|IMAD|LEA|LOP3|SHF|SHL|SHR|IMNMX|VIMNMX|SEL|MOV|PRMT|UIADD3|UIMAD|ULEA|ULOP3|USHF|USEL|UMOV|"
                r"S2R|S2UR|R2UR|IABS|POPC|FLO|UFLO|CS2R|ULDC|SGXT|BMSK|UPRMT|UPOPC|I2F|F2I|MUFU|I2FP|F2FP)\b"),
]
NAMES = [name for name, _ in KINDS] + ["other"]


class Failed(Exception):
    pass


def run(command):
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        raise Failed(" ".join(command) + ":\n" + done.stdout + done.stderr)
    return done.stdout + done.stderr


def kind_of(instruction):
    word = re.sub(r"^@!?U?P\w+\s+", "", instruction)
    for name, pattern in KINDS:
        if re.match(pattern, word):
            return name
    return "other"


def kernels_of(text):
    """By kernel: [(address, instruction)] and {label: address}."""
    found, body, labels, waiting = {}, None, None, []
    for line in text.splitlines():
        section = re.match(r"\s*\.section\s+\.text\.([^,\s]+)", line)
        if section:
            body, labels, waiting = [], {}, []
            found[section.group(1)] = (body, labels)
            continue
        if re.match(r"\s*\.section\b", line):
            body = None
        if body is None:
            continue
        label = re.match(r"(\.L_\w+):", line)
        if label:
            waiting.append(label.group(1))
            continue
        code = re.match(r"\s*/\*([0-9a-f]{4,})\*/\s+(.*?)\s*;", line)
        if code:
            address = int(code.group(1), 16)
            for name in waiting:
                labels[name] = address
            waiting = []
            body.append((address, code.group(2)))
    return found


def path_of(body, labels):
    """The instructions on the way through a loop's body that a block inside takes."""
    places = {address: place for place, (address, _) in enumerate(body)}
    best = [None] * (len(body) + 1)  # by place: what is done from there to the end, and how long it is
    best[len(body)] = (0, 0, 0)
    for place in range(len(body) - 1, -1, -1):
        instruction = body[place][1]
        kind = kind_of(instruction)
        follow = []
        jump = re.search(r"\bBRA\b.*`\((\.L_\w+)\)", instruction)
        to = places.get(labels.get(jump.group(1))) if jump else None
        if to is not None and to > place:
            follow.append(best[to])
        elif jump and place == len(body) - 1:
            follow.append(best[-1])
        always = re.match(r"(BRA|EXIT|RET)\b", instruction) and not re.match(r"BRA\.DIV", instruction)
        if not always:
            follow.append(best[place + 1])
        follow = [f for f in follow if f is not None]
        if follow:
            mma, copies, length = max(follow)
            best[place] = (mma + (kind in ("mma", "ffma")), copies + (kind in ("ldgsts", "sts", "ldg")), length - 1)
    return {"all": -best[0][2], "mma": best[0][0], "copies": best[0][1]} if best[0] else None


def main_loop(body, labels):
    """The instructions of the main loop by kind, or None where the kernel has no loop."""
    spans = []
    for address, instruction in body:
        jump = re.search(r"\bBRA\b.*`\((\.L_\w+)\)", instruction)
        to = labels.get(jump.group(1)) if jump else None
        if to is not None and to < address:
            spans.append((to, address))
    def counted(span):
        counts = dict.fromkeys(NAMES, 0)
        for address, instruction in body:
            if span[0] <= address <= span[1]:
                counts[kind_of(instruction)] += 1
        counts["all"] = sum(counts.values())
        return counts, span
    loops = [counted(s) for s in spans]
    if not loops:
        return None
    counts, span = max(loops, key=lambda c: (c[0]["mma"], c[0]["ffma"], -c[0]["all"]))
    path = path_of([(address, i) for address, i in body if span[0] <= address <= span[1]], labels)
    counts["path"] = path["all"] if path else counts["all"]
    return counts


def role_loops(body, labels):
    """The loops of a kernel whose warps have roles, each with its own loop: a list like what main_loop gives, with `exp`, how many
    powers of two. Branches back from parts behind the kernel's end are no loops: that is where a warp waits for a barrier again. A
    loop of at most 8 instructions only waits."""
    spans = []
    for address, instruction in body:
        jump = re.search(r"\bBRA\b.*`\((\.L_\w+)\)", instruction)
        to = labels.get(jump.group(1)) if jump else None
        if to is None or to >= address:
            continue
        inside = [i for at, i in body if to <= at <= address]
        if len(inside) > 8 and not any(re.match(r"(EXIT|RET)\b", i) for i in inside):
            spans.append((to, address, inside))
    found = []
    for to, address, inside in spans:
        if any((a, b) != (to, address) and a <= to and address <= b for a, b, _ in spans):
            continue
        counts = dict.fromkeys(NAMES, 0)
        for instruction in inside:
            counts[kind_of(instruction)] += 1
        counts["all"], counts["exp"] = len(inside), sum("MUFU.EX2" in i for i in inside)
        found.append(counts)
    return found


def resources(cubin):
    """Registers of a thread and bytes of its stack, of the only kernel: from the cubin's .nv.info."""
    with open(cubin, "rb") as file:
        data = file.read()
    table, = struct.unpack_from("<Q", data, 40)
    size, count, names = struct.unpack_from("<HHH", data, 58)
    headers = [struct.unpack_from("<IIQQQQ", data, table + n * size) for n in range(count)]
    found = {}
    for header in headers:
        name = headers[names][4] + header[0]
        if data[name:data.index(b"\0", name)] != b".nv.info":
            continue
        place, end = header[4], header[4] + header[5]
        while place < end:  # a format, an attribute, and with format 4 the bytes that follow: a symbol's number and a value
            form, attribute, follow = struct.unpack_from("<BBH", data, place)
            if form == 4 and attribute in (0x2f, 0x11):
                key, value = "registers" if attribute == 0x2f else "stack", struct.unpack_from("<II", data, place + 4)[1]
                found[key] = max(found.get(key, 0), value)
            place += 4 + (follow if form == 4 else 0)
    if len(found) != 2:
        raise Failed(cubin + " does not say how many registers and how much stack its kernel has")
    return found


def stores(body):
    """Stores to global memory, by how many bits each writes: {"16": 4, "32": 64}."""
    found = {}
    for _, instruction in body:
        word = re.sub(r"^@!?U?P\w+\s+", "", instruction)
        if re.match(r"(STG|ST)\b", word):
            size = re.match(r"STG?[.\w]*?\.[US]?(8|16|64|128)\b", word)
            bits = size.group(1) if size else "32"
            found[bits] = found.get(bits, 0) + 1
    return found


def bytes_of(instruction):
    """Of an access to global memory."""
    word = re.sub(r"^@!?U?P\w+\s+", "", instruction).split()[0]
    width = re.search(r"\.(128|64|U16|S16|U8|S8)\b", word)
    return {"128": 16, "64": 8, "U16": 2, "S16": 2, "U8": 1, "S8": 1}[width.group(1)] if width else 4


def straight_path(body):
    """What runs up to the first end behind a store: instructions, bytes, the widest access. None where nothing is stored so."""
    path = {"all": 0, "loaded": 0, "stored": 0, "widest": 0}
    for _, instruction in body:
        path["all"] += 1
        kind = kind_of(instruction)
        if kind in ("ldg", "stg"):
            path["loaded" if kind == "ldg" else "stored"] += bytes_of(instruction)
            path["widest"] = max(path["widest"], bytes_of(instruction))
        if instruction.startswith("EXIT") and path["stored"]:
            return path
    return None


def measured(ptx, arch, ptxas, nvdisasm):
    """By kernel: registers, spills (bytes), stack and shared memory (bytes), stores by their bits, the main loop."""
    with tempfile.TemporaryDirectory() as folder:
        cubin = os.path.join(folder, "kernels.cubin")
        log = run([ptxas, "-arch=" + arch, "-v", "-o", cubin, ptx])
        sass = run([nvdisasm, "-c", cubin])
    result, name = {}, None
    for line in log.splitlines():
        entry = re.search(r"Compiling entry function '(\S+)'", line)
        if entry:
            name = entry.group(1)
            result[name] = {"registers": 0, "spills": 0, "stack": 0, "shared": 0, "stores": {}, "loop": None}
        frame = re.search(r"(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads", line)
        if frame and name:
            result[name].update(stack=int(frame.group(1)), spills=int(frame.group(2)) + int(frame.group(3)))
        used = re.search(r"Used (\d+) registers", line)
        if used and name:
            result[name]["registers"] = int(used.group(1))
            smem = re.search(r"(\d+) bytes smem", line)
            result[name]["shared"] = int(smem.group(1)) if smem else 0
    kernels = kernels_of(sass)
    for name, figures in result.items():
        if name not in kernels:
            raise Failed("nvdisasm shows no kernel " + name)
        figures["loop"] = main_loop(*kernels[name])
        if figures["loop"] is None:
            figures["path"] = straight_path(kernels[name][0])
        figures["stores"] = stores(kernels[name][0])
    if not result:
        raise Failed("ptxas tells of no kernel in " + ptx + ":\n" + log)
    return result


def shown(name, figures):
    line = f"{name}: {figures['registers']} registers, {figures['spills']} bytes of spills, {figures['shared']} bytes shared"
    line += "".join(f", {count} stores of {bits} bits" for bits, count in sorted(figures["stores"].items(), key=lambda s: int(s[0])))
    loop = figures["loop"]
    if loop is None:
        path = figures["path"]
        return line + ", no loop" + ("" if path is None else f"; {path['all']} instructions for {path['loaded']} bytes loaded and "
                                     f"{path['stored']} stored, {path['widest']} at once at most")
    line += f"; main loop {loop['all']}"
    if loop["path"] < loop["all"]:
        line += f" ({loop['path']} inside)"
    return line + ": " + ", ".join(f"{loop[k]} {k}" for k in NAMES if loop[k])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("ptx", nargs="+")
    parser.add_argument("--arch", required=True)
    parser.add_argument("--ptxas", default="ptxas")
    parser.add_argument("--nvdisasm", default="nvdisasm")
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    try:
        for ptx in arguments.ptx:
            figures = measured(ptx, arguments.arch, arguments.ptxas, arguments.nvdisasm)
            if arguments.json:
                print(json.dumps(figures))
            else:
                for name, each in figures.items():
                    print(shown(name, each))
    except (Failed, OSError) as wrong:
        sys.exit(str(wrong))


if __name__ == "__main__":
    main()
