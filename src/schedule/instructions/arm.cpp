#include <ashlar/schedule/instructions/arm.h>

#include <string>

// The texts name LLVM's intrinsics for the instructions; what they compute is in the Arm Architecture Reference Manual for
// A-profile, under the instruction's name.
namespace ashlar::arm {

namespace {

// %NAME: the 32 bits of a tile of so many elements in each of four lanes, as a vector of the type `to`.
std::string broadcast(const std::string& from, const std::string& to) {
  return "%word = bitcast " + from +
         " {a.value} to i32\n%one = insertelement <4 x i32> poison, i32 %word, i64 0\n"
         "%words = shufflevector <4 x i32> %one, <4 x i32> poison, <4 x i32> zeroinitializer\n%left = bitcast <4 x i32> %words "
         "to " +
         to + "\n";
}

Intrinsic dot(const char* name, const char* feature, Type ta, Type tb, Left left, Where where) {
  const bool rows = left == Left::rows;
  const Type tc = ta.is_unsigned() && tb.is_unsigned() ? u32 : i32;
  return intrinsic((std::string(name) + (rows ? "_rows" : "")).c_str(),
                   [&](Meaning& m) {
                     Tensor a = rows ? m.read("a", ta, {4, 4}) : m.read("a", ta, {4}), b = m.read("b", tb, {4, 4}),
                            c = m.accumulate("c", tc, {4});
                     Axis k{"k", 4};
                     m.means(c, [&](Var i) {
                       const Expr x = rows ? a(i, k) : a(k);
                       return sum(tc(x) * tc(b(i, k)), k).from(c(i));
                     });
                     const std::string text = (rows ? "" : broadcast("<4 x i8>", "<16 x i8>")) +
                                              std::string("{c.result} = call <4 x i32> ") + "@llvm.aarch64.neon." + name +
                                              ".v4i32.v16i8(<4 x i32> {c.value}, <16 x i8> " + (rows ? "{a.value}" : "%left") +
                                              ", <16 x i8> {b.value})";
                     m.emit(Backend::llvm, text.c_str());
                     m.needs(feature, where);
                   },
                   where);
}

Intrinsic matrix(const char* name, Type ta, Type tb, Where where) {
  const Type tc = ta.is_unsigned() && tb.is_unsigned() ? u32 : i32;
  return intrinsic(
      name,
      [&](Meaning& m) {
        Tensor a = m.read("a", ta, {2, 8}), b = m.read("b", tb, {2, 8}), c = m.accumulate("c", tc, {2, 2});
        Axis k{"k", 8};
        m.means(c, [&](Var i, Var j) { return sum(tc(a(i, k)) * tc(b(j, k)), k).from(c(i, j)); });
        m.emit(Backend::llvm, (std::string("{c.result} = call <4 x i32> @llvm.aarch64.neon.") + name +
                               ".v4i32.v16i8(<4 x i32> {c.value}, <16 x i8> {a.value}, <16 x i8> {b.value})")
                                  .c_str());
        m.needs("i8mm", where);
      },
      where);
}

// Pairs of bf16 by one instruction (`one`), or by two.
Intrinsic pairs(const char* name, bool one, Left left, Where where) {
  const bool rows = left == Left::rows;
  return intrinsic((std::string(name) + (rows ? "_rows" : "")).c_str(),
                   [&](Meaning& m) {
                     Tensor a = rows ? m.read("a", bf16, {4, 2}) : m.read("a", bf16, {2}), b = m.read("b", bf16, {4, 2}),
                            c = m.accumulate("c", f32, {4});
                     Axis k{"k", 2};
                     m.means(c, [&](Var i) {
                       const Expr x = rows ? a(i, k) : a(k);
                       return sum(f32(x) * f32(b(i, k)), k).from(c(i));
                     });
                     const std::string v = "<8 x bfloat>", call = "call <4 x float> @llvm.aarch64.neon.";
                     std::string text = rows ? "%left = bitcast <8 x i16> {a.value} to " + v + "\n" : broadcast("<2 x i16>", v);
                     text += "%right = bitcast <8 x i16> {b.value} to " + v + "\n";
                     const std::string factors = v + " %left, " + v + " %right)";
                     if (one)
                       text += "{c.result} = " + call + "bfdot.v4f32.v8bf16(<4 x float> {c.value}, " + factors;
                     else
                       text += "%lower = " + call + "bfmlalb(<4 x float> {c.value}, " + factors + "\n{c.result} = " + call +
                               "bfmlalt(<4 x float> %lower, " + factors;
                     m.emit(Backend::llvm, text.c_str());
                     m.needs("bf16", where);
                   },
                   where);
}

}  // namespace

Intrinsic sdot(Left left, Where where) { return dot("sdot", "dotprod", i8, i8, left, where); }
Intrinsic udot(Left left, Where where) { return dot("udot", "dotprod", u8, u8, left, where); }
Intrinsic usdot(Left left, Where where) { return dot("usdot", "i8mm", u8, i8, left, where); }
Intrinsic smmla(Where where) { return matrix("smmla", i8, i8, where); }
Intrinsic ummla(Where where) { return matrix("ummla", u8, u8, where); }
Intrinsic usmmla(Where where) { return matrix("usmmla", u8, i8, where); }

Intrinsic fmla_by_lane(Where where) {
  return intrinsic(
      "fmla_by_lane",
      [&](Meaning& m) {
        Tensor a = m.read("a", f32, {4, 1}), b = m.read("b", f32, {1, 4}), c = m.accumulate("c", f32, {4, 4});
        Axis k{"k", 1};
        m.means(c, [&](Var i, Var j) { return sum(a(i, k) * b(k, j), k).from(c(i, j)); });
        std::string text;
        for (int i = 0; i < 4; ++i) {
          const std::string n = std::to_string(i), v = "<4 x float>";
          std::string row, lanes;
          for (int j = 0; j < 4; ++j)
            row += (j ? ", i32 " : "i32 ") + std::to_string(4 * i + j), lanes += (j ? ", i32 " : "i32 ") + n;
          text += "%c" + n + " = shufflevector <16 x float> {c.value}, <16 x float> poison, <4 x i32> <" + row + ">\n%a" + n +
                  " = shufflevector <4 x float> {a.value}, <4 x float> poison, <4 x i32> <" + lanes + ">\n%r" + n + " = call " +
                  v + " @llvm.fma.v4f32(" + v + " %a" + n + ", " + v + " {b.value}, " + v + " %c" + n + ")\n";
        }
        const std::string eight = "<8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7>";
        std::string all;
        for (int n = 0; n < 16; ++n) all += (n ? ", i32 " : "i32 ") + std::to_string(n);
        text += "%upper = shufflevector <4 x float> %r0, <4 x float> %r1, " + eight +
                "\n%lower = shufflevector <4 x float> %r2, <4 x float> %r3, " + eight +
                "\n{c.result} = shufflevector <8 x float> %upper, <8 x float> %lower, <16 x i32> <" + all + ">";
        m.emit(Backend::llvm, text.c_str());
        m.needs("neon", where);
      },
      where);
}

Intrinsic bfmlal(Left left, Where where) { return pairs("bfmlal", false, left, where); }
Intrinsic bfdot(Rounding, Left left, Where where) { return pairs("bfdot", true, left, where); }

Intrinsic bfmmla(Rounding, Where where) {
  return intrinsic(
      "bfmmla",
      [&](Meaning& m) {
        Tensor a = m.read("a", bf16, {2, 4}), b = m.read("b", bf16, {2, 4}), c = m.accumulate("c", f32, {2, 2});
        Axis k{"k", 4};
        m.means(c, [&](Var i, Var j) { return sum(f32(a(i, k)) * f32(b(j, k)), k).from(c(i, j)); });
        m.emit(
            Backend::llvm,
            "%left = bitcast <8 x i16> {a.value} to <8 x bfloat>\n%right = bitcast <8 x i16> {b.value} to <8 x bfloat>\n"
            "{c.result} = call <4 x float> @llvm.aarch64.neon.bfmmla(<4 x float> {c.value}, <8 x bfloat> %left, <8 x bfloat> "
            "%right)");
        m.needs("bf16", where);
      },
      where);
}

}  // namespace ashlar::arm
