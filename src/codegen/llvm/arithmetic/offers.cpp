// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/llvm/arithmetic/offers.h"

#include <algorithm>

namespace ashlar::codegen {

using ir::Op;

bool fills_neon(const Target& target, Type t) {
  const int bits = t.lanes * t.bits;
  return target.architecture() == Architecture::aarch64 && !t.scalable && t.lanes > 1 && (bits == 64 || bits % 128 == 0);
}

bool fills_helium(const Target& target, Type t) {
  return target.has("mve") && !t.scalable && t.bits <= 32 && t.lanes * t.bits % 128 == 0;
}

bool has_rounded_product(const Target& target, Type t) {
  if (!(t.element() == i16)) return false;
  return (t.lanes == 8 && target.has("sse4.1")) || (t.lanes == 16 && target.has("avx2")) ||
         (t.lanes == 32 && target.has("avx512bw"));
}

namespace {

bool is_arm(const Target& t) { return t.architecture() == Architecture::arm || t.architecture() == Architecture::thumb; }
bool of_no_bools(Type t, Type) { return !t.is_bool(); }
bool of_floats(Type t, Type) { return t.is_float(); }

// cvt.rn.bf16. In a kernel with wgmma it stays integer arithmetic: ptxas 13.0 moves conversions of the sums in front of the
// wait for them, and then lets one product at a time run (C7514).
bool converts_brains(const Target& device, const ir::Kernel& kernel) {
  const auto is_wgmma = [](const auto& f) { return f.second.device == ir::DeviceOp::wgmma; };
  return device.has("sm_80") && std::none_of(kernel.intrinsics.begin(), kernel.intrinsics.end(), is_wgmma);
}

// What the machine rounds, fuses and converts by instructions; a device all of it.
void offer_floats(std::vector<Offer>& all, const Target& target, bool device, const ir::Kernel& kernel) {
  for (const Op op : {Op::isnan, Op::isinf, Op::copysign}) all.push_back({op});
  // LLVM has no code for a minimum of f64 on 32-bit ARM, and takes NEON's for one f32, which flushes subnormals: not where they
  // must be kept.
  const bool keeps = is_arm(target) && !target.flushes_subnormals(), no_f64 = is_arm(target);
  for (const Op op : {Op::min, Op::max})
    all.push_back(
        {op, [=](Type t, Type) { return !t.is_bool() && (device || !t.is_float() || !(keeps || (no_f64 && t.bits == 64))); }});
  if (device || target.offers("round"))
    for (const Op op : {Op::floor, Op::ceil, Op::round, Op::trunc}) all.push_back({op, of_floats});
  const bool fuses = device || target.offers("fma");
  all.push_back({Op::fma, [=](Type t, Type) { return t.is_float() && (t.bits == 64 || fuses); }});  // f64: Emitter::fused
  const bool halves = device || target.offers("half");
  // BFCVTN; what x86-64 has for it (vcvtneps2bf16) takes subnormals for zero.
  const bool brains =
      device ? converts_brains(target, kernel) : target.architecture() == Architecture::aarch64 && target.has("bf16");
  all.push_back({Op::cast, [=](Type from, Type to) {
                   from = from.element(), to = to.element();
                   if (halves && ((from == f16 && to == f32) || (from == f32 && to == f16))) return true;
                   return brains && from == f32 && to == bf16;
                 }});
}

}  // namespace

Offers offers_of(const Target& target, bool device, const ir::Kernel& kernel) {
  std::vector<Offer> all = {{Op::add_sat}, {Op::sub_sat}, {Op::lt}, {Op::le}, {Op::gt}, {Op::ge}};
  for (const Op op : {Op::mul, Op::bit_and, Op::bit_or, Op::bit_xor, Op::bit_not}) all.push_back({op, of_no_bools});
  for (const Op op : {Op::abs, Op::popcount, Op::clz, Op::ctz}) all.push_back({op});
  offer_floats(all, target, device, kernel);
  // WebAssembly has no product of 128 bits, and LLVM would call a function for it.
  if (device || target.architecture() != Architecture::wasm32)
    all.push_back({Op::mul_high, [](Type t, Type) { return t.bits == 64; }});
  if (device) return {all};
  all.push_back({Op::rounding_shr, [&target](Type t, Type) { return fills_neon(target, t) || fills_helium(target, t); }});
  all.push_back({Op::halving_sub, [&target](Type t, Type) { return t.bits < 64 && fills_neon(target, t); }});
  all.push_back({Op::mul_high_rounding, [&target](Type t, Type) {
                   if (!t.is_signed()) return false;
                   const bool neon = (t.bits == 16 || t.bits == 32) && fills_neon(target, t);
                   return neon || fills_helium(target, t) || has_rounded_product(target, t);
                 }});
  return {all};
}

}  // namespace ashlar::codegen
