// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <ashlar/instructions/arm.h>

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

std::string indices(int first, int step) {
  std::string text = "<4 x i32> <";
  for (int j = 0; j < 4; ++j) text += (j ? ", i32 " : "i32 ") + std::to_string(first + step * j);
  return text + ">";
}

// A tile c[4, 4] row by row: `update(n)` defines %rN from %cN and, where `from` says what the tile a is, %leftN: four times its
// lane n of 32 bits.
template <class Update>
std::string row_by_row(const std::string& from, const std::string& element, Update&& update) {
  const std::string row = "<4 x " + element + ">", tile = "<16 x " + element + ">";
  std::string text = from.empty() ? "" : "%lanes = bitcast " + from + " {a.value} to <4 x i32>\n";
  for (int i = 0; i < 4; ++i) {
    const std::string n = std::to_string(i);
    text += "%c" + n + " = shufflevector " + tile + " {c.value}, " + tile + " poison, " + indices(4 * i, 1) + "\n";
    if (!from.empty()) text += "%left" + n + " = shufflevector <4 x i32> %lanes, <4 x i32> poison, " + indices(i, 0) + "\n";
    text += update(n);
  }
  std::string all;
  for (int n = 0; n < 16; ++n) all += (n ? ", i32 " : "i32 ") + std::to_string(n);
  const std::string eight = "<8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7>",
                    half = "<8 x " + element + ">";
  return text + "%upper = shufflevector " + row + " %r0, " + row + " %r1, " + eight + "\n%lower = shufflevector " + row +
         " %r2, " + row + " %r3, " + eight + "\n{c.result} = shufflevector " + half + " %upper, " + half +
         " %lower, <16 x i32> <" + all + ">";
}

Intrinsic dot_by_lane(const char* name, const char* feature, Type ta, Type tb, Where where) {
  const Type tc = ta.is_unsigned() && tb.is_unsigned() ? u32 : i32;
  return intrinsic((std::string(name) + "_lanes").c_str(),
                   [&](Meaning& m) {
                     Tensor a = m.read("a", ta, {4, 4}), b = m.read("b", tb, {4, 4}), c = m.accumulate("c", tc, {4, 4});
                     Axis k{"k", 4};
                     m.means(c, [&](const Var& i, const Var& j) { return sum(tc(a(i, k)) * tc(b(j, k)), k).from(c(i, j)); });
                     // The lane belongs to the second factor, except for usdot, which also exists with exchanged factors.
                     const bool signs_differ = ta != tb;
                     const std::string text = row_by_row("<16 x i8>", "i32", [&](const std::string& n) {
                       const std::string left = "%bytes" + n;
                       return left + " = bitcast <4 x i32> %left" + n + " to <16 x i8>\n%r" + n +
                              " = call <4 x i32> @llvm.aarch64.neon." + name + ".v4i32.v16i8(<4 x i32> %c" + n +
                              ", <16 x i8> " +
                              (signs_differ ? left + ", <16 x i8> {b.value})\n" : "{b.value}, <16 x i8> " + left + ")\n");
                     });
                     m.emit(Backend::llvm, text.c_str());
                     m.needs(feature, where);
                   },
                   where);
}

Intrinsic dot(const char* name, const char* feature, Type ta, Type tb, Left left, Where where) {
  if (left == Left::lanes) return dot_by_lane(name, feature, ta, tb, where);
  const bool rows = left == Left::rows;
  const Type tc = ta.is_unsigned() && tb.is_unsigned() ? u32 : i32;
  return intrinsic((std::string(name) + (rows ? "_rows" : "")).c_str(),
                   [&](Meaning& m) {
                     Tensor a = rows ? m.read("a", ta, {4, 4}) : m.read("a", ta, {4}), b = m.read("b", tb, {4, 4}),
                            c = m.accumulate("c", tc, {4});
                     Axis k{"k", 4};
                     m.means(c, [&](const Var& i) {
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
        m.means(c, [&](const Var& i, const Var& j) { return sum(tc(a(i, k)) * tc(b(j, k)), k).from(c(i, j)); });
        m.emit(Backend::llvm, (std::string("{c.result} = call <4 x i32> @llvm.aarch64.neon.") + name +
                               ".v4i32.v16i8(<4 x i32> {c.value}, <16 x i8> {a.value}, <16 x i8> {b.value})")
                                  .c_str());
        m.needs("i8mm", where);
      },
      where);
}

// Pairs of bf16 by one instruction (`one`), or by two.
Intrinsic pairs(const char* name, bool one, Left left, Where where) {
  const std::string v = "<8 x bfloat>", call = " = call <4 x float> @llvm.aarch64.neon.";
  const auto update = [&](const std::string& to, const std::string& from, const std::string& factor) {
    const std::string factors = v + " %right, " + v + " " + factor + ")";  // of the second one a lane may be taken
    if (one) return to + call + "bfdot.v4f32.v8bf16(<4 x float> " + from + ", " + factors;
    return factor + "lower" + call + "bfmlalb(<4 x float> " + from + ", " + factors + "\n" + to + call +
           "bfmlalt(<4 x float> " + factor + "lower, " + factors;
  };
  const char* suffix = left == Left::rows ? "_rows" : left == Left::lanes ? "_lanes" : "";
  return intrinsic(
      (name + std::string(suffix)).c_str(),
      [&](Meaning& m) {
        const bool lanes = left == Left::lanes;
        Tensor a = left == Left::broadcast ? m.read("a", bf16, {2}) : m.read("a", bf16, {4, 2}), b = m.read("b", bf16, {4, 2}),
               c = lanes ? m.accumulate("c", f32, {4, 4}) : m.accumulate("c", f32, {4});
        Axis k{"k", 2};
        if (lanes)
          m.means(c, [&](const Var& i, const Var& j) { return sum(f32(a(i, k)) * f32(b(j, k)), k).from(c(i, j)); });
        else
          m.means(c, [&](const Var& i) {
            const Expr x = left == Left::rows ? a(i, k) : a(k);
            return sum(f32(x) * f32(b(i, k)), k).from(c(i));
          });
        if (one) m.rounds_freely(where);
        std::string text = "%right = bitcast <8 x i16> {b.value} to " + v + "\n";
        if (lanes) {
          text += row_by_row("<8 x i16>", "float", [&](const std::string& n) {
            return "%pair" + n + " = bitcast <4 x i32> %left" + n + " to " + v + "\n" +
                   update("%r" + n, "%c" + n, "%pair" + n) + "\n";
          });
        } else {
          text += left == Left::rows ? "%left = bitcast <8 x i16> {a.value} to " + v + "\n" : broadcast("<2 x i16>", v);
          text += update("{c.result}", "{c.value}", "%left");
        }
        m.emit(Backend::llvm, text.c_str());
        m.needs("bf16", where);
      },
      where);
}

// c[i, j] += a[i] b[j] for four rows and columns, as text for LLVM and, if there is one, for C.
Intrinsic by_lane(const char* name, Type type, Type wide, const std::string& text, const char* c_text, Where where) {
  return intrinsic(
      name,
      [&](Meaning& m) {
        Tensor a = m.read("a", type, {4, 1}), b = m.read("b", type, {1, 4}), c = m.accumulate("c", wide, {4, 4});
        Axis k{"k", 1};
        m.means(c, [&](const Var& i, const Var& j) { return sum(wide(a(i, k)) * wide(b(k, j)), k).from(c(i, j)); });
        m.emit(Backend::llvm, text.c_str());
        if (c_text != nullptr) m.emit(Backend::c, c_text);
        m.needs("neon", where);
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
  const std::string text = row_by_row("<4 x float>", "float", [](const std::string& n) {
    return "%floats" + n + " = bitcast <4 x i32> %left" + n + " to <4 x float>\n%r" + n +
           " = call <4 x float> @llvm.fma.v4f32(<4 x float> %floats" + n + ", <4 x float> {b.value}, <4 x float> %c" + n +
           ")\n";
  });
  return by_lane("fmla_by_lane", f32, f32, text,
                 "#include <math.h>\n"
                 "for (int i = 0; i < 4; ++i)\n"
                 "for (int j = 0; j < 4; ++j)\n"
                 "  {c.ptr}[i * {c.stride0} + j * {c.stride1}] = fmaf({a.ptr}[i * {a.stride0}], {b.ptr}[j * {b.stride1}], "
                 "{c.ptr}[i * {c.stride0} + j * {c.stride1}]);",
                 where);
}

Intrinsic smlal_by_lane(Where where) {
  const std::string halves = "<4 x i16>";
  const std::string text = "%wide = sext <4 x i8> {a.value} to " + halves + "\n%right = sext <4 x i8> {b.value} to " + halves +
                           "\n" + row_by_row("", "i32", [&](const std::string& n) {
                             return "%left" + n + " = shufflevector " + halves + " %wide, " + halves + " poison, " +
                                    indices(std::stoi(n), 0) + "\n%product" + n +
                                    " = call <4 x i32> @llvm.aarch64.neon.smull.v4i32(" + halves + " %right, " + halves +
                                    " %left" + n + ")\n%r" + n + " = add <4 x i32> %c" + n + ", %product" + n + "\n";
                           });
  return by_lane("smlal_by_lane", i8, i32, text, nullptr, where);
}

Intrinsic bfmlal(Left left, Where where) { return pairs("bfmlal", false, left, where); }
Intrinsic bfdot(Rounding, Left left, Where where) { return pairs("bfdot", true, left, where); }

Intrinsic bfmmla(Rounding, Where where) {
  return intrinsic(
      "bfmmla",
      [&](Meaning& m) {
        Tensor a = m.read("a", bf16, {2, 4}), b = m.read("b", bf16, {2, 4}), c = m.accumulate("c", f32, {2, 2});
        Axis k{"k", 4};
        m.means(c, [&](const Var& i, const Var& j) { return sum(f32(a(i, k)) * f32(b(j, k)), k).from(c(i, j)); });
        m.rounds_freely(where);
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
