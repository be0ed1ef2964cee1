// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <ashlar/target/needs.h>

#include <algorithm>
#include <iterator>

#include <ashlar/runtime/cpu.h>

#include "target/table.h"

namespace ashlar {

namespace targets {

namespace {

struct Numbered {
  Architecture of;
  int number;
  std::string_view name;
};
#define ASHLAR_OF_X86(number, constant, name) {Architecture::x86_64, number, name},
#define ASHLAR_OF_AARCH64(number, constant, name) {Architecture::aarch64, number, name},
#define ASHLAR_OF_ARM(number, constant, name) {Architecture::arm, number, name},
#define ASHLAR_OF_RISCV(number, constant, name) {Architecture::riscv64, number, name},
constexpr Numbered numbered[] = {ASHLAR_X86_FEATURES(ASHLAR_OF_X86) ASHLAR_AARCH64_FEATURES(ASHLAR_OF_AARCH64)
                                     ASHLAR_ARM_FEATURES(ASHLAR_OF_ARM) ASHLAR_RISCV_FEATURES(ASHLAR_OF_RISCV)};
#undef ASHLAR_OF_X86
#undef ASHLAR_OF_AARCH64
#undef ASHLAR_OF_ARM
#undef ASHLAR_OF_RISCV

// Names under which a code generator knows no more of a processor than the table does. What it takes others to have is its own.
constexpr std::string_view plain_cpus[] = {"x86-64", "x86-64-v2", "x86-64-v3", "x86-64-v4", "generic", "generic-rv64"};

}  // namespace

int number_of(Architecture of, std::string_view feature) {
  for (const Numbered& n : numbered)
    if (n.of == of && n.name == feature) return n.number;
  return -1;
}

}  // namespace targets

TargetNeeds needs_of(const Target& t) {
  const bool by_linux = t.os() == "linux" || t.os() == "android", x86 = t.architecture() == Architecture::x86_64;
  TargetNeeds needs;
  const targets::Locked table;
  for (const std::string& name : t.enabled()) {
    const targets::Feature* f = table->feature(t.architecture(), name);
    if (f && f->flushes_subnormals) continue;
    const int number = targets::number_of(t.architecture(), name);
    if (number >= 0) needs.features |= std::uint64_t{1} << number;
    const bool tiles = x86 && name.compare(0, 4, "amx-") == 0;  // cpuid tells of them, a system must permit them
    if (number < 0 || (!by_linux && (!x86 || tiles))) needs.undetected.push_back(name);
  }
  if (std::find(std::begin(targets::plain_cpus), std::end(targets::plain_cpus), t.cpu()) == std::end(targets::plain_cpus))
    needs.undetected.push_back("all that LLVM's `" + std::string(t.cpu()) +
                               "` has (its `cpu`; `tune` would name its timing alone)");
  return needs;
}

}  // namespace ashlar
