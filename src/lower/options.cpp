// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What lowering asks of a target.
#include <ashlar/lower/lower.h>
#include <ashlar/target/target.h>

namespace ashlar {
namespace {

// Where no instruction has it, LLVM makes a branch for each lane of it.
int masked_bits(const Target& target) {
  constexpr int none = 128;
  if (target.is_gpu()) return 8;
  switch (target.architecture()) {
    case Architecture::x86_64:
      return target.has("avx512bw") ? 8 : target.has("avx2") || target.has("avx512f") ? 32 : none;
    case Architecture::aarch64:
      return target.has("sve") ? 8 : none;
    case Architecture::riscv64:
      return target.has("v") ? 8 : none;
    case Architecture::arm:
    case Architecture::thumb:
    case Architecture::wasm32:
      return none;
  }
  return 8;
}

}  // namespace

LowerOptions options_for(const Target& target) {
  LowerOptions o;
  if (target.is_gpu()) {
    o.launches = true;
    o.warp = target.device().warp;
    o.thread_registers = target.device().max_registers;
    o.registers = target.device().registers;
    o.async_copies = o.matrix_loads = target.device().kind == Device::Kind::cuda;
  }
  o.vector_bits = target.vector_bits();
  o.vector_registers = target.vector_registers();
  o.masked_bits = masked_bits(target);
  o.cache_line = target.cache_line();
  return o;
}

}  // namespace ashlar
