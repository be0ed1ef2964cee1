// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <ashlar/instructions/x86.h>

#include <string>

#include <ashlar/ir/print.h>
#include <ashlar/ir/refusal.h>

// The texts name LLVM's intrinsics for the instructions; what they compute is in Intel's Software Developer's Manual, volume 2,
// under the instruction's name.
namespace ashlar::x86 {

namespace {

std::string num(int n) { return std::to_string(n); }

void known_lanes(const char* name, int lanes, bool vex, Where where) {
  if (lanes == 4 || lanes == 8 || (lanes == 16 && !vex)) return;
  refuse(name, vex ? "4 or 8 lanes" : "4, 8 or 16 lanes", num(lanes), where);
}

// %NAME_all: the 32 bits of {NAME.value}, a vector of `from`, in each of `lanes` lanes, as a vector of the type `to`.
std::string broadcast(const std::string& value, const std::string& from, const std::string& to, int lanes) {
  const std::string l = num(lanes);
  return "%word = bitcast " + from + " " + value +
         " to i32\n"
         "%one = insertelement <" +
         l + " x i32> poison, i32 %word, i64 0\n%words = shufflevector <" + l + " x i32> %one, <" + l + " x i32> poison, <" +
         l + " x i32> zeroinitializer\n%all = bitcast <" + l + " x i32> %words to " + to + "\n";
}

std::string prefix(int lanes) { return lanes == 16 ? "_mm512_" : lanes == 8 ? "_mm256_" : "_mm_"; }
std::string bits(int lanes) { return num(lanes * 32); }

// In C: {c} = f({c}, a, b) on vectors of integers.
std::string in_c(const std::string& function, int lanes, const std::string& a, const std::string& b) {
  const std::string vector = "__m" + bits(lanes) + "i", load = prefix(lanes) + "loadu_si" + bits(lanes);
  const auto loaded = [&](const std::string& p) { return load + "((const " + vector + " *)(const void *)" + p + ")"; };
  const auto operand = [&](const std::string& p) { return p == "word" ? prefix(lanes) + "set1_epi32(word)" : loaded(p); };
  return "#include <immintrin.h>\n" + prefix(lanes) + "storeu_si" + bits(lanes) + "((" + vector + " *)(void *){c.ptr}, " +
         prefix(lanes) + function + "(" + loaded("{c.ptr}") + ", " + operand(a) + ", " + operand(b) + "));\n";
}
const char* const word_in_c = "#include <string.h>\nint word;\nmemcpy(&word, {a.ptr}, 4);\n";

void needs(Meaning& m, int lanes, Encoding e, const char* evex, Where where) {
  if (e == Encoding::vex) return m.needs("avxvnni", where);
  m.needs(evex, where);
  if (lanes < 16) m.needs("avx512vl", where);
}

enum class First { u8, s8, vectors };

// The instructions of VNNI are functions of words up to LLVM 20, and of bytes and pairs later. Later releases read the older
// form too.
std::string as_words(const char* name, const std::string& value, const std::string& type, const std::string& words) {
  return std::string("%") + name + " = bitcast " + type + " " + value + " to " + words + "\n";
}

// vpdpbusd's own operands: the accumulator, the unsigned bytes, the signed ones.
Intrinsic dpbusd(const char* name, int lanes, Encoding e, First first, Where where) {
  known_lanes(name, lanes, e == Encoding::vex, where);
  const std::string l = num(lanes), bytes = "<" + num(4 * lanes) + " x i8>", words = "<" + l + " x i32>";
  const bool vectors = first == First::vectors, vex = e == Encoding::vex;
  const std::string function = vex ? "dpbusd_avx_epi32" : "dpbusd_epi32";
  return intrinsic(
      (std::string(name) + "_" + l + (vex ? "_vex" : "")).c_str(),
      [&](Meaning& m) {
        const Type ta = first == First::s8 ? i8 : u8, tb = first == First::s8 ? u8 : i8;
        Tensor c = m.accumulate("c", i32, {lanes});
        Axis k{"k", 4};
        std::string text, in_c_text;
        if (vectors) {
          Tensor a = m.read("a", ta, {lanes, 4}), b = m.read("b", tb, {lanes, 4});
          m.means(c, [&](Var i) { return sum(i32(a(i, k)) * i32(b(i, k)), k).from(c(i)); });
          in_c_text = in_c(function, lanes, "{a.ptr}", "{b.ptr}");
        } else {
          Tensor a = m.read("a", ta, {4}), b = m.read("b", tb, {lanes, 4});
          m.means(c, [&](Var i) { return sum(i32(a(k)) * i32(b(i, k)), k).from(c(i)); });
          text = broadcast("{a.value}", "<4 x i8>", bytes, lanes);
          in_c_text = first == First::u8 ? in_c(function, lanes, "word", "{b.ptr}") : in_c(function, lanes, "{b.ptr}", "word");
          in_c_text = word_in_c + in_c_text;
        }
        const std::string a = vectors ? "{a.value}" : "%all", b = "{b.value}";
        const bool swapped = first == First::s8;
        text += as_words("first", swapped ? b : a, bytes, words) + as_words("second", swapped ? a : b, bytes, words);
        text += "{c.result} = call " + words + " @llvm.x86.avx512.vpdpbusd." + bits(lanes) + "(" + words + " {c.value}, " +
                words + " %first, " + words + " %second)";
        m.emit(Backend::llvm, text.c_str());
        m.emit(Backend::c, in_c_text.c_str());
        needs(m, lanes, e, "avx512vnni", where);
      },
      where);
}

}  // namespace

Intrinsic vpdpbusd(int lanes, Encoding e, Where where) { return dpbusd("vpdpbusd", lanes, e, First::u8, where); }
Intrinsic vpdpbusd_signed_broadcast(int lanes, Encoding e, Where where) {
  return dpbusd("vpdpbusd_signed_broadcast", lanes, e, First::s8, where);
}
Intrinsic vpdpbusd_vectors(int lanes, Encoding e, Where where) {
  return dpbusd("vpdpbusd_vectors", lanes, e, First::vectors, where);
}

Intrinsic vpdpwssd(int lanes, Encoding e, Where where) {
  const bool vex = e == Encoding::vex;
  known_lanes("vpdpwssd", lanes, vex, where);
  const std::string l = num(lanes), pairs = "<" + num(2 * lanes) + " x i16>", words = "<" + l + " x i32>";
  return intrinsic(
      ("vpdpwssd_" + l + (vex ? "_vex" : "")).c_str(),
      [&](Meaning& m) {
        Tensor a = m.read("a", i16, {2}), b = m.read("b", i16, {lanes, 2}), c = m.accumulate("c", i32, {lanes});
        Axis k{"k", 2};
        m.means(c, [&](Var i) { return sum(i32(a(k)) * i32(b(i, k)), k).from(c(i)); });
        const std::string text = broadcast("{a.value}", "<2 x i16>", pairs, lanes) + as_words("first", "%all", pairs, words) +
                                 as_words("second", "{b.value}", pairs, words) + "{c.result} = call " + words +
                                 " @llvm.x86.avx512.vpdpwssd." + bits(lanes) + "(" + words + " {c.value}, " + words +
                                 " %first, " + words + " %second)";
        m.emit(Backend::llvm, text.c_str());
        m.emit(Backend::c, (word_in_c + in_c(vex ? "dpwssd_avx_epi32" : "dpwssd_epi32", lanes, "word", "{b.ptr}")).c_str());
        needs(m, lanes, e, "avx512vnni", where);
      },
      where);
}

Intrinsic vpmaddwd(int lanes, Type tb, Where where) {
  known_lanes("vpmaddwd", lanes, false, where);
  if (tb != i16 && tb != i8) refuse("vpmaddwd", "i16 or i8", ir::text(tb), where);
  const std::string l = num(lanes), pairs = "<" + num(2 * lanes) + " x i16>", words = "<" + l + " x i32>";
  return intrinsic(
      ((tb == i8 ? "vpmaddwd_i8_" : "vpmaddwd_") + l).c_str(),
      [&](Meaning& m) {
        Tensor a = m.read("a", i16, {2}), b = m.read("b", tb, {lanes, 2}), c = m.accumulate("c", i32, {lanes});
        Axis k{"k", 2};
        m.means(c, [&](Var i) { return sum(i32(a(k)) * i32(b(i, k)), k).from(c(i)); });
        std::string text = broadcast("{a.value}", "<2 x i16>", pairs, lanes), b_text = "{b.value}";
        if (tb == i8) {
          text += "%wide = sext <" + num(2 * lanes) + " x i8> {b.value} to " + pairs + "\n";
          b_text = "%wide";
        }
        const char* function = lanes == 16 ? "avx512.pmaddw.d.512" : lanes == 8 ? "avx2.pmadd.wd" : "sse2.pmadd.wd";
        text += "%products = call " + words + " @llvm.x86." + function + "(" + pairs + " %all, " + pairs + " " + b_text +
                ")\n{c.result} = add " + words + " {c.value}, %products";
        m.emit(Backend::llvm, text.c_str());
        const std::string pre = prefix(lanes), all = bits(lanes);
        const auto loaded = [&](const char* at, const std::string& p, const std::string& n, const std::string& v) {
          return p + "loadu_si" + n + "((const __m" + v + "i *)(const void *)" + at + ")";
        };
        std::string b_in_c = loaded("{b.ptr}", pre, all, all);
        if (tb == i8) {
          const std::string half = lanes == 4 ? loaded("{b.ptr}", "_mm_", "64", "128")
                                              : loaded("{b.ptr}", prefix(lanes / 2), bits(lanes / 2), bits(lanes / 2));
          b_in_c = pre + "cvtepi8_epi16(" + half + ")";
        }
        m.emit(Backend::c, ("#include <immintrin.h>\n" + std::string(word_in_c) + pre + "storeu_si" + all + "((__m" + all +
                            "i *)(void *){c.ptr}, " + pre + "add_epi32(" + loaded("{c.ptr}", pre, all, all) + ", " + pre +
                            "madd_epi16(" + pre + "set1_epi32(word), " + b_in_c + ")));\n")
                               .c_str());
        m.needs(lanes == 16 ? "avx512bw" : lanes == 8 ? "avx2" : "avx", where);
      },
      where);
}

Intrinsic vpmaddubsw(Pairs, int lanes, Where where) {
  known_lanes("vpmaddubsw", lanes, false, where);
  const std::string l = num(lanes), bytes = "<" + num(4 * lanes) + " x i8>", pairs = "<" + num(2 * lanes) + " x i16>",
                    words = "<" + l + " x i32>";
  return intrinsic(("vpmaddubsw_" + l).c_str(),
                   [&](Meaning& m) {
                     Tensor a = m.read("a", u8, {4}), b = m.read("b", i8, {lanes, 4}), c = m.accumulate("c", i32, {lanes});
                     Axis k{"k", 4};
                     m.means(c, [&](Var i) { return sum(i32(a(k)) * i32(b(i, k)), k).from(c(i)); });
                     const std::string first = lanes == 16  ? "avx512.pmaddubs.w.512"
                                               : lanes == 8 ? "avx2.pmadd.ub.sw"
                                                            : "ssse3.pmadd.ub.sw.128",
                                       then = lanes == 16  ? "avx512.pmaddw.d.512"
                                              : lanes == 8 ? "avx2.pmadd.wd"
                                                           : "sse2.pmadd.wd";
                     std::string ones;
                     for (int n = 0; n < 2 * lanes; ++n) ones += n ? ", i16 1" : "i16 1";
                     const std::string text = broadcast("{a.value}", "<4 x i8>", bytes, lanes) + "%pairs = call " + pairs +
                                              " @llvm.x86." + first + "(" + bytes + " %all, " + bytes +
                                              " {b.value})\n%products = call " + words + " @llvm.x86." + then + "(" + pairs +
                                              " %pairs, " + pairs + " <" + ones + ">)\n{c.result} = add " + words +
                                              " {c.value}, %products";
                     m.emit(Backend::llvm, text.c_str());
                     const std::string pre = prefix(lanes), all = bits(lanes), v = "__m" + all + "i";
                     const auto loaded = [&](const char* at) {
                       return pre + "loadu_si" + all + "((const " + v + " *)(const void *)" + at + ")";
                     };
                     m.emit(Backend::c, ("#include <immintrin.h>\n" + std::string(word_in_c) + pre + "storeu_si" + all + "((" +
                                         v + " *)(void *){c.ptr}, " + pre + "add_epi32(" + loaded("{c.ptr}") + ", " + pre +
                                         "madd_epi16(" + pre + "maddubs_epi16(" + pre + "set1_epi32(word), " +
                                         loaded("{b.ptr}") + "), " + pre + "set1_epi16(1))));\n")
                                            .c_str());
                     m.needs(lanes == 16 ? "avx512bw" : lanes == 8 ? "avx2" : "avx", where);
                   },
                   where);
}

Intrinsic vpmaddwd_bytes(Type a, Type b, int lanes, Where where) {
  known_lanes("vpmaddwd_bytes", lanes, false, where);
  for (const Type t : {a, b})
    if (t != u8 && t != i8) refuse("vpmaddwd_bytes", "u8 or i8", ir::text(t), where);
  const std::string l = num(lanes), pairs = "<" + num(2 * lanes) + " x i16>", words = "<" + l + " x i32>";
  const std::string call = lanes == 16 ? "avx512.pmaddw.d.512" : lanes == 8 ? "avx2.pmadd.wd" : "sse2.pmadd.wd";
  // Of 16 bits the lower byte, and the upper one, as numbers.
  const auto widened = [&](const std::string& x, Type t) {
    const std::string by = ", splat (i16 8)\n";
    if (t == u8)
      return x + "_even = and " + pairs + " " + x + ", splat (i16 255)\n" + x + "_odd = lshr " + pairs + " " + x + by;
    return x + "_up = shl " + pairs + " " + x + by + x + "_even = ashr " + pairs + " " + x + "_up" + by + x + "_odd = ashr " +
           pairs + " " + x + by;
  };
  const auto multiplied = [&](const std::string& part) {
    return "%" + part + " = call " + words + " @llvm.x86." + call + "(" + pairs + " %all_" + part + ", " + pairs + " %rows_" +
           part + ")\n";
  };
  const std::string pre = prefix(lanes), of_vector = "_si" + bits(lanes), v = "__m" + bits(lanes) + "i",
                    load = pre + "loadu" + of_vector + "((const " + v + " *)(const void *)";
  const auto in_c_of = [&](const std::string& x, Type t) {
    const std::string odd = pre + (t == u8 ? "srli" : "srai") + "_epi16(" + x + ", 8)";
    const std::string even =
        t == u8 ? pre + "and" + (lanes == 16 ? "_si512" : of_vector) + "(" + x + ", " + pre + "set1_epi16(255))"
                : pre + "srai_epi16(" + pre + "slli_epi16(" + x + ", 8), 8)";
    return std::pair(even, odd);
  };
  const auto [a_even, a_odd] = in_c_of("all", a);
  const auto [b_even, b_odd] = in_c_of("rows", b);
  const auto add = [&](const std::string& x, const std::string& y) { return pre + "add_epi32(" + x + ", " + y + ")"; };
  const auto madd = [&](const std::string& x, const std::string& y) { return pre + "madd_epi16(" + x + ", " + y + ")"; };
  return intrinsic(("vpmaddwd_bytes_" + ir::text(a) + "_" + ir::text(b) + "_" + l).c_str(),
                   [&](Meaning& m) {
                     Tensor ta = m.read("a", a, {4}), tb = m.read("b", b, {lanes, 4}), c = m.accumulate("c", i32, {lanes});
                     Axis k{"k", 4};
                     m.means(c, [&](Var i) { return sum(i32(ta(k)) * i32(tb(i, k)), k).from(c(i)); });
                     const std::string text = broadcast("{a.value}", "<4 x i8>", pairs, lanes) + "%rows = bitcast <" +
                                              num(4 * lanes) + " x i8> {b.value} to " + pairs + "\n" + widened("%all", a) +
                                              widened("%rows", b) + multiplied("even") + multiplied("odd") + "%both = add " +
                                              words + " %even, %odd\n{c.result} = add " + words + " {c.value}, %both";
                     m.emit(Backend::llvm, text.c_str());
                     m.emit(Backend::c, ("#include <immintrin.h>\n" + std::string(word_in_c) + v + " all = " + pre +
                                         "set1_epi32(word), rows = " + load + "{b.ptr});\n" + pre + "storeu" + of_vector +
                                         "((" + v + " *)(void *){c.ptr}, " +
                                         add(load + "{c.ptr})", add(madd(a_even, b_even), madd(a_odd, b_odd))) + ");\n")
                                            .c_str());
                     if (lanes == 16) m.needs("avx512bw", where);
                     if (lanes == 8) m.needs("avx2", where);
                   },
                   where);
}

Intrinsic vdpbf16ps(Subnormals, int lanes, Where where) {
  known_lanes("vdpbf16ps", lanes, false, where);
  const std::string l = num(lanes), halves = "<" + num(2 * lanes) + " x i16>", pairs = "<" + num(2 * lanes) + " x bfloat>",
                    floats = "<" + l + " x float>";
  std::string exchanged;
  for (int k = 0; k < 2 * lanes; ++k) exchanged += (k ? ", i32 " : "i32 ") + num(k ^ 1);
  return intrinsic(
      ("vdpbf16ps_" + l).c_str(),
      [&](Meaning& m) {
        Tensor a = m.read("a", bf16, {2}), b = m.read("b", bf16, {lanes, 2}), c = m.accumulate("c", f32, {lanes});
        Axis k{"k", 2};
        m.means(c, [&](Var i) { return sum(f32(a(k)) * f32(b(i, k)), k).from(c(i)); });
        std::string text = "%pair = shufflevector <2 x i16> {a.value}, <2 x i16> poison, <2 x i32> <i32 1, i32 0>\n" +
                           broadcast("%pair", "<2 x i16>", pairs, lanes) + "%rows = shufflevector " + halves + " {b.value}, " +
                           halves + " poison, <" + num(2 * lanes) + " x i32> <" + exchanged + ">\n%upper = bitcast " + halves +
                           " %rows to " + pairs + "\n{c.result} = call " + floats + " @llvm.x86.avx512bf16.dpbf16ps." +
                           bits(lanes) + "(" + floats + " {c.value}, " + pairs + " %all, " + pairs + " %upper)";
        m.emit(Backend::llvm, text.c_str());
        const std::string pre = prefix(lanes), v = "__m" + bits(lanes), load = pre + "loadu_si" + bits(lanes);
        m.emit(Backend::c, ("#include <immintrin.h>\n#include <string.h>\nint word;\nmemcpy(&word, {a.ptr}, 4);\n" + pre +
                            "storeu_ps({c.ptr}, " + pre + "dpbf16_ps(" + pre + "loadu_ps({c.ptr}), (" + v + "bh)" + pre +
                            "rol_epi32(" + pre + "set1_epi32(word), 16), (" + v + "bh)" + pre + "rol_epi32(" + load +
                            "((const " + v + "i *)(const void *){b.ptr}), 16)));")
                               .c_str());
        needs(m, lanes, Encoding::evex, "avx512bf16", where);
      },
      where);
}

}  // namespace ashlar::x86
