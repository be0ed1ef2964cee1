// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <ashlar/instructions/amx.h>

#include <string>

// The texts name LLVM's intrinsics, whose first operands are rows, bytes of a row of c and bytes of a row of a; what the
// instructions compute is in Intel's Software Developer's Manual, volume 2.
namespace ashlar::amx {

namespace {

Intrinsic product(const char* name, const char* feature, Type tc, Type ta, Type tb, int step, Where where) {
  return intrinsic(
      name,
      [&](Meaning& m) {
        Tensor a = m.read("a", ta, {16, 16, step}), b = m.read("b", tb, {16, 16, step}), c = m.accumulate("c", tc, {16, 16});
        Axis q{"q", 16}, k{"k", step};
        m.means(c, [&](Var i, Var j) { return sum(tc(a(i, q, k)) * tc(b(q, j, k)), {q, k}).from(c(i, j)); });
        if (tc.is_float()) m.rounds_freely(where);
        std::string text;
        const auto load = [&](const std::string& tile, int bytes) {
          text += "%" + tile + ".bytes = mul i64 {" + tile + ".stride0}, " + std::to_string(bytes) + "\n%" + tile +
                  ".tile = call x86_amx @llvm.x86.tileloadd64.internal(i16 16, i16 64, ptr {" + tile + ".ptr}, i64 %" + tile +
                  ".bytes)\n";
        };
        load("a", 4 / step), load("b", 4 / step), load("c", 4);
        text += std::string("%sum = call x86_amx @llvm.x86.") + name +
                ".internal(i16 16, i16 64, i16 64, x86_amx %c.tile, x86_amx %a.tile, x86_amx %b.tile)\n"
                "call void @llvm.x86.tilestored64.internal(i16 16, i16 64, ptr {c.ptr}, i64 %c.bytes, x86_amx %sum)";
        m.emit(Backend::llvm, text.c_str());
        m.needs(feature, where);
      },
      where);
}

}  // namespace

Intrinsic tdpbusd(Where where) { return product("tdpbusd", "amx-int8", i32, u8, i8, 4, where); }
Intrinsic tdpbssd(Where where) { return product("tdpbssd", "amx-int8", i32, i8, i8, 4, where); }
Intrinsic tdpbsud(Where where) { return product("tdpbsud", "amx-int8", i32, i8, u8, 4, where); }
Intrinsic tdpbuud(Where where) { return product("tdpbuud", "amx-int8", i32, u8, u8, 4, where); }
Intrinsic tdpbf16ps(Rounding, Where where) { return product("tdpbf16ps", "amx-bf16", f32, bf16, bf16, 2, where); }

}  // namespace ashlar::amx
