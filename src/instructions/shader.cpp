// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <ashlar/instructions/shader.h>

#include <string>

#include <ashlar/ir/print.h>
#include <ashlar/ir/refusal.h>

// The instructions are those of SPV_KHR_integer_dot_product, and Fma of GLSL.std.450.
namespace ashlar::shader {

Intrinsic dot4(Type ta, Type tb, Type tc, Where where) {
  const auto is_byte = [](Type t) { return t == i8 || t == u8; };
  if (!is_byte(ta) || !is_byte(tb)) refuse("shader::dot4", "bytes, i8 or u8", ir::text(ta) + " and " + ir::text(tb), where);
  if (!(tc == i32 || tc == u32)) refuse("shader::dot4", "sums in i32 or u32", ir::text(tc), where);
  const std::string name = "dot4_" + ir::text(ta) + "_" + ir::text(tb) + "_" + ir::text(tc);
  return intrinsic(
      name.c_str(),
      [&](Meaning& m) {
        Tensor a = m.read("a", ta, {4}), b = m.read("b", tb, {4, 4}), c = m.accumulate("c", tc, {4});
        Axis k{"k", 4};
        m.means(c, [&](const Var& i) { return sum(tc(a(k)) * tc(b(i, k)), k).from(c(i)); });
        // OpSUDot has the factor with the sign first.
        const std::string factors = ta == u8 && tb == i8 ? "{b.value} {a.value}" : "{a.value} {b.value}";
        const char* instruction = ta == tb ? (ta == i8 ? "OpSDot " : "OpUDot ") : "OpSUDot ";
        m.emit(Backend::spirv, ("{c.result} = " + std::string(instruction) + factors + " {c.value}").c_str());
        m.needs("dot8", where);
      },
      where);
}

Intrinsic fma4(Rounding, Where where) {
  return intrinsic(
      "fma4_f16",
      [&](Meaning& m) {
        Tensor a = m.read("a", f16, {1}), b = m.read("b", f16, {1, 4}), c = m.accumulate("c", f16, {4});
        Axis k{"k", 1};
        m.means(c, [&](const Var& i) { return sum(a(k) * b(k, i), k).from(c(i)); });
        m.rounds_freely(where);
        m.emit(Backend::spirv, "{c.result} = Fma {a.value} {b.value} {c.value}");
        m.needs("float16", where);
      },
      where);
}

}  // namespace ashlar::shader
