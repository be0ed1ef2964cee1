// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/llvm/arithmetic/offers.h"

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

Offers offers_of(const Target& target, bool device) {
  Offers all = {{Op::add_sat}, {Op::sub_sat}};
  const bool wasm = !device && target.architecture() == Architecture::wasm32;
  if (!wasm) {  // which has no product of 128 bits: LLVM would call a function for it
    all.push_back({Op::mul_high, [](Type t, Type) { return t.bits == 64; }});
  }
  if (device) return all;
  const auto wide = [&target](Type t, Type) { return fills_neon(target, t) || fills_helium(target, t); };
  all.push_back({Op::rounding_shr, wide});
  all.push_back({Op::halving_sub, [&target](Type t, Type) { return t.bits < 64 && fills_neon(target, t); }});
  all.push_back({Op::mul_high_rounding, [&target](Type t, Type) {
                   if (!t.is_signed()) return false;
                   const bool neon = (t.bits == 16 || t.bits == 32) && fills_neon(target, t);
                   return neon || fills_helium(target, t) || has_rounded_product(target, t);
                 }});
  return all;
}

}  // namespace ashlar::codegen
