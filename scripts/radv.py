#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What Mesa's RADV makes of a module of SPIR-V, without a device: registers, spills, shared memory, and the instructions of the
main loop of each kernel by kind.

  scripts/radv.py matmul.spv --compiled build/bin/vulkan_compiled [--chip navi21] [--icd radeon_icd.x86_64.json]

The main loop is the shortest of those with the most multiplications: a loop is what lies between a label and the last branch
back to it. A packed multiplication (v_pk_fma_f16) counts as the two that it is, a dot product (v_dot4) as four; products of
integers count where there are no others, since addresses have them too.
"""
import argparse
import glob
import json
import os
import re
import subprocess
import sys

KINDS = [  # in the order of the columns; the first that matches, and multiply-adds of one instruction
    ("dot4", r"v_dot4c?_", 4),
    ("dot2", r"v_dot2c?_", 2),
    ("pk_fma", r"v_pk_fma_f16", 2),
    ("pk_math", r"v_pk_", 0),
    ("fma_mix", r"v_fma_mix", 1),
    ("fma", r"v_(fma|fmac|mad|mac)(_legacy)?_(f16|f32|f64)|v_fma[ma]k_", 1),
    ("mad_int", r"v_mad_[iu](16|24|32|32_[iu]24|32_[iu]16|64_[iu]32)", 1),
    ("mul_int", r"v_mul_(lo|hi)_|v_mul_[iu]32_[iu]24", 1),
    ("ds_read", r"ds_read|ds_load", 0),
    ("ds_write", r"ds_write|ds_store", 0),
    ("lane", r"ds_bpermute|ds_permute|ds_swizzle|v_permlane|v_readlane|v_readfirstlane|v_writelane|.*_dpp\b", 0),
    ("load", r"(global|flat|buffer|scratch)_load|s_load|s_buffer_load", 0),
    ("store", r"(global|flat|buffer|scratch)_store|(global|flat|buffer)_atomic", 0),
    ("convert", r"v_cvt_", 0),
    ("address", r"v_(add|sub|lshl|ashr|lshr|mul|and|or|xor|addc|subrev|lshlrev|ashrrev|lshrrev|bfe|bfi|add3|xad|perm|alignb)", 0),
    ("compare", r"v_(cmp|cmpx|cndmask|min|max)", 0),
    ("move", r"v_(mov|accvgpr|swap)", 0),
    ("wait", r"s_(waitcnt|barrier|clause|nop|delay_alu|inst_prefetch|sleep)", 0),
    ("control", r"s_(cbranch|branch|endpgm|setpc|swappc)", 0),
    ("scalar", r"s_", 0),
]
NAMES = [name for name, _, _ in KINDS] + ["other"]
STATISTICS = {"VGPRs": "registers", "SGPRs": "scalars", "LDS size": "shared", "Scratch size": "scratch",
              "Instructions": "instructions"}


class Failed(Exception):
    pass


class Absent(Exception):
    """There is no such driver; a test is skipped."""


def kind_of(word):
    for name, pattern, multiplies in KINDS:
        if re.match(pattern, word):
            return name, multiplies
    return "other", 0


def main_loop(lines):
    """The instructions of the main loop by kind, or None where the kernel has no loop."""
    body, labels = [], {}
    for line in lines:
        label = re.match(r"(BB\d+):", line)
        if label:
            labels[label.group(1)] = len(body)
            continue
        code = re.match(r"\s+([a-z]\w+)(.*)", line)
        if code:
            body.append((code.group(1), code.group(2)))
    ends = {}  # by its first instruction, the last branch back to it
    for at, (word, rest) in enumerate(body):
        to = re.search(r"\b(BB\d+)\b", rest) if re.match(r"s_c?branch", word) else None
        if to and labels.get(to.group(1), at + 1) <= at:
            ends[labels[to.group(1)]] = at
    loops = [counted(body[first:last + 1]) for first, last in ends.items()]
    return max(loops, key=lambda c: (c["multiplies"], -c["all"])) if loops else None


def counted(body):
    counts = dict.fromkeys(NAMES, 0)
    of_data, of_integers = 0, 0
    for word, operands in body:
        if "_dpp" not in word and re.search(r"\b(quad_perm|row_\w+):", operands):
            word += "_dpp"
        kind, multiplies = kind_of(word)
        counts[kind] += 1
        if kind in ("mad_int", "mul_int"):
            of_integers += multiplies
        else:
            of_data += multiplies
    counts["all"] = sum(counts[name] for name in NAMES)
    counts["multiplies"] = of_data or of_integers
    return counts


def manifest(icd):
    """The path of a driver's manifest: as given, or where the loader looks."""
    if os.path.exists(icd):
        return icd
    for folder in ("/usr/share/vulkan/icd.d", "/etc/vulkan/icd.d", "/usr/local/share/vulkan/icd.d"):
        found = sorted(glob.glob(os.path.join(folder, icd)))
        if found:
            return found[0]
    raise Absent("there is no " + icd + " (package mesa-vulkan-drivers)")


def compiled(spirv, program, chip="navi21", icd="radeon_icd.*.json"):
    """What the driver tells, as text."""
    environment = dict(os.environ, RADV_FORCE_FAMILY=chip, MESA_SHADER_CACHE_DISABLE="true")
    environment["VK_DRIVER_FILES"] = environment["VK_ICD_FILENAMES"] = manifest(icd)
    done = subprocess.run([program, spirv], capture_output=True, text=True, env=environment)
    if done.returncode == 77:
        raise Absent(done.stderr.strip())
    if done.returncode != 0:
        raise Failed(f"{program} {spirv}: code {done.returncode}\n{done.stderr}")
    return done.stdout


def driver(text):
    """The driver that has told: "Mesa 22.3.6"."""
    return text.splitlines()[0].rsplit(", ", 1)[1]


def measured(text):
    """By kernel: registers, spills and shared memory, the main loop."""
    result, name, code = {}, None, None
    for line in text.splitlines():
        if line.startswith("entry "):
            name = line[6:]
            result[name] = {"spills": 0}
        elif line.startswith("statistic "):
            key, value = line[10:].rsplit(" ", 1)
            if key in STATISTICS:
                result[name][STATISTICS[key]] = int(value)
            elif key.startswith("Spilled"):
                result[name]["spills"] += int(value)
        elif line == "code":
            code = []
        elif line == "end":
            result[name]["loop"] = main_loop(code)
            code = None
        elif code is not None:
            code.append(line)
    wrong = [n for n, figures in result.items() if not set(STATISTICS.values()) | {"loop"} <= set(figures)]
    if wrong or not result:
        raise Failed("the driver does not tell all of " + (", ".join(wrong) or "any kernel") + ":\n" + text[:1000])
    return result


def shown(name, figures):
    line = (f"{name}: {figures['registers']} registers, {figures['spills']} spilled, {figures['scratch']} bytes of scratch, "
            f"{figures['shared']} bytes shared, {figures['instructions']} instructions")
    loop = figures["loop"]
    if loop is None:
        return line + ", no loop"
    line += f"; main loop {loop['all']} for {loop['multiplies']} multiply-adds"
    if loop["multiplies"]:
        line += f" ({loop['all'] * 512 / loop['multiplies']:.0f} per 512)"
    return line + ": " + ", ".join(f"{loop[k]} {k}" for k in NAMES if loop[k])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("spirv", nargs="+")
    parser.add_argument("--compiled", required=True, help="the program vulkan_compiled")
    parser.add_argument("--chip", default="navi21", help="as RADV_FORCE_FAMILY takes it")
    parser.add_argument("--icd", default="radeon_icd.*.json")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--code", action="store_true", help="print the machine code, too")
    arguments = parser.parse_args()
    try:
        for spirv in arguments.spirv:
            text = compiled(spirv, arguments.compiled, arguments.chip, arguments.icd)
            if arguments.code:
                print(text)
            figures = measured(text)
            if arguments.json:
                print(json.dumps(figures))
            else:
                for name, each in figures.items():
                    print(shown(name, each))
    except (Failed, Absent, OSError) as wrong:
        sys.exit(str(wrong))


if __name__ == "__main__":
    main()
