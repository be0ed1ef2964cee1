#pragma once
// What a machine has an instruction for: expressions over vectors, and the mnemonic that each target's code has for it. One
// table for the tests that read assembly and those that run the code, here or in an emulator.
#include <string>
#include <vector>

#include <ashlar/lang.h>
#include <ashlar/lang/build_program.h>
#include <ashlar/schedule/schedule.h>

namespace instructions {

using namespace ashlar;

struct Inputs {  // element i of four tensors, and the tensors
  Expr a, b, c, d;
  const Tensor &A, &B;
  Expr i;
  const Tensor &bytes, &T;  // tables: an argument of 16 u8; 32 constants of the row's type
};

struct Wanted {
  const char* target;
  const char* mnemonic;      // a regular expression: "pand|vpand"
  const char* operand = "";  // that it has
};

struct Row {
  const char* name;
  Type type, other;  // of a and b; of c and d
  Expr (*value)(const Inputs&);
  std::vector<Wanted> wanted;
  int lanes = 0;   // 0: as many as a register has of `type`; -n: n and more, as many as the machine's vectors have (Scalable)
  int stride = 1;  // A and B have as many times more elements
  int elements = 64;
};

// The first `n` of more constants, which repeat the table's.
inline Tensor few(const Tensor& table, int n) {
  std::vector<int> all;
  for (int k = 0; k < n; ++k) all.push_back((k * 37 + 11) % 101 - (table.type().is_unsigned() ? 0 : 50));
  return constant("few", table.type(), {n}, all);
}

// Amounts of a shift of 32 bits, from `least` on: eight, or as many more as repeat those, of which a loop reads others each
// time.
inline Tensor amounts(const Tensor& like, int least, int n = 8) {
  std::vector<int> all{least, 31, 7 + least, 1 + least, 16, 28 + least, 5 + least, 30};
  for (int k = 8; k < n; ++k) all.push_back(all[static_cast<std::size_t>(k - 8)]);
  return constant("amounts", like.type(), {n}, all);
}

#define OF(expression)                                                 \
  [](const Inputs& in) -> Expr {                                       \
    [[maybe_unused]] const auto& [a, b, c, d, A, B, i, bytes, T] = in; \
    return expression;                                                 \
  }

inline std::vector<Row> rows() {
  constexpr const char *sse = "x86-64", *v2 = "x86-64-v2", *v3 = "x86-64-v3", *v4 = "x86-64-v4", *vbmi = "x86-64-v4+avx512vbmi",
                       *arm = "aarch64", *sve = "aarch64+sve", *m4 = "cortex-m4", *m55 = "cortex-m55";
  return {
      // saturating sums and differences
      {"add_sat i8", i8, i8, OF(add_sat(a, b)), {{sse, "paddsb"}, {v3, "vpaddsb"}, {v4, "vpaddsb"}, {arm, "sqadd"}}},
      {"add_sat u8", u8, u8, OF(add_sat(a, b)), {{sse, "paddusb"}, {v3, "vpaddusb"}, {v4, "vpaddusb"}, {arm, "uqadd"}}},
      {"add_sat i16", i16, i16, OF(add_sat(a, b)), {{sse, "paddsw"}, {v3, "vpaddsw"}, {v4, "vpaddsw"}, {arm, "sqadd"}}},
      {"add_sat u16", u16, u16, OF(add_sat(a, b)), {{sse, "paddusw"}, {v3, "vpaddusw"}, {v4, "vpaddusw"}, {arm, "uqadd"}}},
      {"sub_sat i8", i8, i8, OF(sub_sat(a, b)), {{sse, "psubsb"}, {v3, "vpsubsb"}, {v4, "vpsubsb"}, {arm, "sqsub"}}},
      {"sub_sat u8", u8, u8, OF(sub_sat(a, b)), {{sse, "psubusb"}, {v3, "vpsubusb"}, {v4, "vpsubusb"}, {arm, "uqsub"}}},
      {"sub_sat i16", i16, i16, OF(sub_sat(a, b)), {{sse, "psubsw"}, {v3, "vpsubsw"}, {v4, "vpsubsw"}, {arm, "sqsub"}}},
      {"sub_sat u16", u16, u16, OF(sub_sat(a, b)), {{sse, "psubusw"}, {v3, "vpsubusw"}, {v4, "vpsubusw"}, {arm, "uqsub"}}},
      {"add_sat i32", i32, i32, OF(add_sat(a, b)), {{arm, "sqadd"}}},
      {"add_sat u32", u32, u32, OF(add_sat(a, b)), {{arm, "uqadd"}}},
      {"sub_sat i32", i32, i32, OF(sub_sat(a, b)), {{arm, "sqsub"}}},
      {"sub_sat u32", u32, u32, OF(sub_sat(a, b)), {{arm, "uqsub"}}},
      // means
      {"rounding_halving_add u8",
       u8,
       u8,
       OF(rounding_halving_add(a, b)),
       {{sse, "pavgb"}, {v3, "vpavgb"}, {v4, "vpavgb"}, {arm, "urhadd"}}},
      {"rounding_halving_add u16",
       u16,
       u16,
       OF(rounding_halving_add(a, b)),
       {{sse, "pavgw"}, {v3, "vpavgw"}, {v4, "vpavgw"}, {arm, "urhadd"}}},
      {"rounding_halving_add u32", u32, u32, OF(rounding_halving_add(a, b)), {{arm, "urhadd"}}},
      {"rounding_halving_add i8", i8, i8, OF(rounding_halving_add(a, b)), {{arm, "srhadd"}}},
      {"rounding_halving_add i16", i16, i16, OF(rounding_halving_add(a, b)), {{arm, "srhadd"}}},
      {"rounding_halving_add i32", i32, i32, OF(rounding_halving_add(a, b)), {{arm, "srhadd"}}},
      {"halving_add u8", u8, u8, OF(halving_add(a, b)), {{arm, "uhadd"}}},
      {"halving_add u16", u16, u16, OF(halving_add(a, b)), {{arm, "uhadd"}}},
      {"halving_add i8", i8, i8, OF(halving_add(a, b)), {{arm, "shadd"}}},
      {"halving_add i16", i16, i16, OF(halving_add(a, b)), {{arm, "shadd"}}},
      {"halving_add i32", i32, i32, OF(halving_add(a, b)), {{arm, "shadd"}}},
      {"halving_sub u8", u8, u8, OF(halving_sub(a, b)), {{arm, "uhsub"}}},
      {"halving_sub i16", i16, i16, OF(halving_sub(a, b)), {{arm, "shsub"}}},
      {"halving_sub i32", i32, i32, OF(halving_sub(a, b)), {{arm, "shsub"}}},
      // distances
      {"abs_diff u8", u8, u8, OF(abs_diff(a, b)), {{sse, "pminub|psubusb"}, {v3, "vpminub|vpsubusb"}, {arm, "uabd"}}},
      {"abs_diff u16", u16, u16, OF(abs_diff(a, b)), {{sse, "psubusw"}, {v3, "vpminuw|vpsubusw"}, {arm, "uabd"}}},
      {"abs_diff u32", u32, u32, OF(abs_diff(a, b)), {{v3, "vpminud"}, {arm, "uabd"}}},
      {"abs_diff i8", i8, i8, OF(abs_diff(a, b)), {{v3, "vpminsb"}, {arm, "sabd"}}},
      {"abs_diff i16", i16, i16, OF(abs_diff(a, b)), {{sse, "pminsw"}, {v3, "vpminsw"}, {arm, "sabd"}}},
      {"abs_diff i32", i32, i32, OF(abs_diff(a, b)), {{v3, "vpminsd"}, {arm, "sabd"}}},
      // upper halves of products
      {"mul_high i16", i16, i16, OF(mul_high(a, b)), {{sse, "pmulhw"}, {v3, "vpmulhw"}, {v4, "vpmulhw"}, {arm, "smull2"}}},
      {"mul_high u16", u16, u16, OF(mul_high(a, b)), {{sse, "pmulhuw"}, {v3, "vpmulhuw"}, {v4, "vpmulhuw"}, {arm, "umull2"}}},
      {"mul_high i32", i32, i32, OF(mul_high(a, b)), {{v3, "vpmuldq"}, {arm, "smull2"}}},
      {"mul_high u32", u32, u32, OF(mul_high(a, b)), {{sse, "pmuludq"}, {v3, "vpmuludq"}, {arm, "umull2"}}},
      {"mul_high_rounding i16",
       i16,
       i16,
       OF(mul_high_rounding(a, b)),
       {{v2, "pmulhrsw"}, {v3, "vpmulhrsw"}, {v4, "vpmulhrsw"}, {arm, "sqrdmulh"}}},
      {"mul_high_rounding i32", i32, i32, OF(mul_high_rounding(a, b)), {{arm, "sqrdmulh"}, {m55, "vqrdmulh.s32"}}},
      {"mul_high_rounding i8 of twice the lanes", i8, i8, OF(mul_high_rounding(a, b)), {{m55, "vqrdmulh.s8"}}, 32},
      {"mul_high_rounding of a table", i32, i32, OF(mul_high_rounding(a, T(i % 32))), {{m4, "smlal"}}, 1},
      // shifts
      {"rounding_shr i32 by 5", i32, i32, OF(rounding_shr(a, i32(5))), {{arm, "srshr"}}},
      {"rounding_shr i16 by 3", i16, i16, OF(rounding_shr(a, i16(3))), {{arm, "srshr"}}},
      {"rounding_shr u8 by 4", u8, u8, OF(rounding_shr(a, u8(4))), {{arm, "urshr"}}},
      {"rounding_shl i32", i32, i32, OF(rounding_shl(a, b)), {{arm, "srshl"}}},
      {"rounding_shr i32", i32, i32, OF(rounding_shr(a, b)), {{arm, "srshl"}, {m55, "vrshl.s32"}}},
      {"rounding_shr u16", u16, u16, OF(rounding_shr(a, b)), {{m55, "vrshl.u16"}}},
      {"rounding_shr by a table",
       i32,
       i32,
       OF(rounding_shr(a, amounts(T, 0)(i % 8))),
       {{m4, "asrs?(\\.w)?"}, {m55, "vrshl.s32"}}},
      {"rounding_shr by a table without 0",
       i32,
       i32,
       OF(rounding_shr(a, amounts(T, 1)(i % 8))),
       {{m4, "asrs?(\\.w)?"}, {v3, "vpsravd"}}},
      {"rounding_shr by a long table without 0",
       i32,
       i32,
       OF(rounding_shr(a, amounts(T, 1, 64)(i))),
       {{m4, "asrs?(\\.w)?"}, {v3, "sarxl"}},
       1},
      {"rounding_shr by a long table with amounts past the width",
       i32,
       i32,
       OF(rounding_shr(a, amounts(T, 6, 64)(i))),
       {{m4, "asrs?(\\.w)?"}, {v3, "sarxl"}, {v3, "cmov[a-z]+"}},
       1},
      {"rounding_shr u32 by a table",
       u32,
       u32,
       OF(rounding_shr(a, amounts(T, 0)(i % 8))),
       {{m4, "lsrs?(\\.w)?"}, {v3, "vpsrlvd"}}},
      {"shr by a table", i32, i32, OF(a >> amounts(T, 0)(i % 8)), {{m4, "asrs?(\\.w)?"}, {v3, "vpsravd"}}},
      {"shl by a table", i32, i32, OF(a << amounts(T, 0)(i % 8)), {{m4, "lsls?(\\.w)?"}, {v3, "vpsllvd"}}},
      {"shr by a table with amounts past the width",
       i32,
       i32,
       OF(a >> amounts(T, 4)(i % 8)),
       {{m4, "asrs?(\\.w)?"}, {v3, "vpsravd"}}},
      {"shift left i32", i32, i32, OF(a << (b & 31)), {{v3, "vpsllvd"}, {v4, "vpsllvd"}, {arm, "ushl|sshl"}}},
      {"shift right i32", i32, i32, OF(a >> (b & 31)), {{v3, "vpsravd"}, {v4, "vpsravd"}, {arm, "sshl"}}},
      {"shift right u32", u32, u32, OF(a >> (b & 31u)), {{v3, "vpsrlvd"}, {arm, "ushl"}}},
      {"shift right i16 by 4", i16, i16, OF(a >> 4), {{sse, "psraw"}, {v3, "vpsraw"}, {arm, "sshr"}}},
      {"shift left i64 by 7", i64, i64, OF(a << 7), {{sse, "psllq"}, {v3, "vpsllq"}, {arm, "shl"}}},
      // minima, maxima
      {"min u8", u8, u8, OF(min(a, b)), {{sse, "pminub"}, {v3, "vpminub"}, {v4, "vpminub"}, {arm, "umin"}}},
      {"max u8", u8, u8, OF(max(a, b)), {{sse, "pmaxub"}, {v3, "vpmaxub"}, {arm, "umax"}}},
      {"min i8", i8, i8, OF(min(a, b)), {{v2, "pminsb"}, {v3, "vpminsb"}, {arm, "smin"}}},
      {"min i16", i16, i16, OF(min(a, b)), {{sse, "pminsw"}, {v3, "vpminsw"}, {arm, "smin"}}},
      {"max u16", u16, u16, OF(max(a, b)), {{v2, "pmaxuw"}, {v3, "vpmaxuw"}, {arm, "umax"}}},
      {"max i32", i32, i32, OF(max(a, b)), {{v2, "pmaxsd"}, {v3, "vpmaxsd"}, {arm, "smax"}}},
      {"min u32", u32, u32, OF(min(a, b)), {{v2, "pminud"}, {v3, "vpminud"}, {arm, "umin"}}},
      {"max i64", i64, i64, OF(max(a, b)), {{v4, "vpmaxsq"}}},
      // of floats both ways round, and no signs asked
      {"max f32", f32, f32, OF(max(a, b)), {{sse, "orps"}, {v3, "vorps"}, {v4, "vrangeps"}}},
      {"min f64", f64, f64, OF(min(a, b)), {{sse, "cmpunordpd"}, {v3, "vorpd"}, {v4, "vrangepd"}}},
      {"min u64", u64, u64, OF(min(a, b)), {{v4, "vpminuq"}}},
      {"two comparisons counted", i32, i32, OF(a + (i32(b < c) + i32(b <= d))), {{v3, "vpsubd"}, {v4, "vpsubd"}}},
      // absolute values, signs
      {"abs i8", i8, i8, OF(abs(a)), {{v2, "pabsb"}, {v3, "vpabsb"}, {arm, "abs"}}},
      {"abs i16", i16, i16, OF(abs(a)), {{v2, "pabsw"}, {v3, "vpabsw"}, {arm, "abs"}}},
      {"abs i32", i32, i32, OF(abs(a)), {{v2, "pabsd"}, {v3, "vpabsd"}, {arm, "abs"}}},
      {"abs f32", f32, f32, OF(abs(a)), {{sse, "andps"}, {v3, "vandps"}, {arm, "fabs"}}},
      {"minus f64", f64, f64, OF(-a), {{sse, "xorps|xorpd"}, {v3, "vxorps|vxorpd"}, {arm, "fneg"}}},
      // products
      {"product i16", i16, i16, OF(a * b), {{sse, "pmullw"}, {v3, "vpmullw"}, {arm, "mul"}}},
      {"product i32", i32, i32, OF(a * b), {{v2, "pmulld"}, {v3, "vpmulld"}, {arm, "mul"}}},
      {"product i64", i64, i64, OF(a * b), {{v4, "vpmullq"}}},
      {"product and sum i32", i32, i32, OF(a * b + c), {{v3, "vpmulld"}, {arm, "mla"}}},
      {"product and difference i16", i16, i16, OF(c - a * b), {{arm, "mls"}}},
      {"product f32", f32, f32, OF(a * b), {{sse, "mulps"}, {v3, "vmulps"}, {arm, "fmul"}}},
      {"quotient f32", f32, f32, OF(a / b), {{sse, "divps"}, {v3, "vdivps"}, {arm, "fdiv"}}},
      {"fma f32",
       f32,
       f32,
       OF(fma(a, b, c)),
       {{v3, "vfmadd213ps|vfmadd231ps|vfmadd132ps"}, {v4, "vfmadd213ps|vfmadd231ps|vfmadd132ps"}, {arm, "fmla"}}},
      {"fma f64", f64, f64, OF(fma(a, b, c)), {{v3, "vfmadd213pd|vfmadd231pd|vfmadd132pd"}, {arm, "fmla"}}},
      {"fma f32, negated product",
       f32,
       f32,
       OF(fma(-a, b, c)),
       {{v3, "vfnmadd213ps|vfnmadd231ps|vfnmadd132ps"}, {arm, "fmls"}}},
      {"fma f16", f16, f16, OF(fma(a, b, c)), {{"aarch64+fullfp16", "fmla"}}},
      // widening
      {"widening_mul i8", i8, i8, OF(widening_mul(a, b)), {{arm, "smull"}}},
      {"widening_mul u8", u8, u8, OF(widening_mul(a, b)), {{arm, "umull"}}},
      {"widening_mul i16", i16, i16, OF(widening_mul(a, b)), {{sse, "pmulhw"}, {arm, "smull"}}},
      {"widening_mul u16", u16, u16, OF(widening_mul(a, b)), {{sse, "pmulhuw"}, {arm, "umull"}}},
      {"widening_mul i32", i32, i32, OF(widening_mul(a, b)), {{v2, "pmuldq"}, {v3, "vpmuldq"}, {arm, "smull"}}},
      {"widening_mul u32", u32, u32, OF(widening_mul(a, b)), {{sse, "pmuludq"}, {v3, "vpmuludq"}, {arm, "umull"}}},
      {"widening_add u8", u8, u8, OF(widening_add(a, b)), {{arm, "uaddl"}}},
      {"widening_add i16", i16, i16, OF(widening_add(a, b)), {{arm, "saddl"}}},
      {"widening_sub u8", u8, u8, OF(widening_sub(a, b)), {{arm, "usubl"}}},
      {"widening_sub i16", i16, i16, OF(widening_sub(a, b)), {{arm, "ssubl"}}},
      {"widened sum u16 + u8", u16, u8, OF(a + u16(c)), {{v3, "vpmovzxbw"}, {arm, "uaddw"}}, 8},
      {"product added to a wider sum", i32, i16, OF(a + widening_mul(c, d)), {{arm, "smlal"}}, 4},
      {"distance added to a wider sum", u16, u8, OF(a + u16(abs_diff(c, d))), {{arm, "uabal"}}, 8},
      // conversions
      {"u8 to u16", u8, u8, OF(u16(a)), {{v2, "pmovzxbw"}, {v3, "vpmovzxbw"}, {arm, "ushll"}}},
      {"i8 to i16", i8, i8, OF(i16(a)), {{v2, "pmovsxbw"}, {v3, "vpmovsxbw"}, {arm, "sshll"}}},
      {"i16 to i32", i16, i16, OF(i32(a)), {{v2, "pmovsxwd"}, {v3, "vpmovsxwd"}, {arm, "sshll"}}},
      {"u16 to u32", u16, u16, OF(u32(a)), {{v2, "pmovzxwd"}, {v3, "vpmovzxwd"}, {arm, "ushll"}}},
      {"i32 to i64", i32, i32, OF(i64(a)), {{v2, "pmovsxdq"}, {v3, "vpmovsxdq"}, {arm, "sshll"}}},
      {"i32 to i16", i32, i32, OF(i16(a)), {{v4, "vpmovdw"}, {arm, "xtn|uzp1"}}},
      {"i32 to f32", i32, i32, OF(f32(a)), {{sse, "cvtdq2ps"}, {v3, "vcvtdq2ps"}, {v4, "vcvtdq2ps"}, {arm, "scvtf"}}},
      {"u32 to f32", u32, u32, OF(f32(a)), {{v4, "vcvtudq2ps"}, {arm, "ucvtf"}}},
      {"i64 to f64", i64, i64, OF(f64(a)), {{v4, "vcvtqq2pd"}, {arm, "scvtf"}}},
      {"f32 to f64", f32, f32, OF(f64(a)), {{sse, "cvtps2pd"}, {v3, "vcvtps2pd"}, {arm, "fcvtl"}}},
      {"f64 to f32", f64, f64, OF(f32(a)), {{sse, "cvtpd2ps"}, {v3, "vcvtpd2psy?"}, {arm, "fcvtn"}}},
      {"f16 to f32", f16, f16, OF(f32(a)), {{v3, "vcvtph2ps"}, {v4, "vcvtph2ps"}, {arm, "fcvtl"}}},
      {"f32 to f16", f32, f32, OF(f16(a)), {{v3, "vcvtps2ph"}, {v4, "vcvtps2ph"}, {arm, "fcvtn"}}},
      {"a rounded number's sign",
       f64,
       f32,
       OF(copysign(f16(c), f16(a))),
       {{v3, "vcvtps2ph"}, {v4, "vcvtps2ph"}}},  // (fuzz seed 945003003)
      {"a constant with that sign",
       f64,
       f32,
       OF(copysign(f16(-3), f16(a))),
       {{v3, "vcvtps2ph"}, {v4, "vcvtps2ph"}}},  // (seed 945007833)
      {"bf16 to f32", bf16, bf16, OF(f32(a)), {{v3, "vpslld"}, {arm, "shll|ushll"}}},
      {"f32 to bf16", f32, f32, OF(bf16(a)), {{"aarch64+bf16", "bfcvtn"}}},
      {"f64 to bf16", f64, f64, OF(bf16(a)), {{"aarch64+bf16", "fcvtn"}, {"aarch64+bf16", "bfcvtn"}}, 4},
      {"f64 to f16", f64, f64, OF(f16(a)), {{v3, "vcvtpd2psy?"}, {v3, "vcvtps2ph"}}, 4},
      {"f32 to i32", f32, f32, OF(i32(a)), {{sse, "cvttps2dq"}, {v3, "vcvttps2dq"}, {arm, "fcvtzs"}}},
      {"saturate i8 of i16",
       i16,
       i16,
       OF(saturate(i8, a)),
       {{sse, "packsswb"}, {v3, "vpacksswb"}, {v4, "vpmovswb|vpacksswb"}, {arm, "sqxtn"}}},
      {"saturate u8 of i16", i16, i16, OF(saturate(u8, a)), {{sse, "packuswb"}, {v3, "vpackuswb"}, {arm, "sqxtun"}}},
      {"saturate i16 of i32",
       i32,
       i32,
       OF(saturate(i16, a)),
       {{sse, "packssdw"}, {v3, "vpackssdw"}, {v4, "vpmovsdw|vpackssdw"}, {arm, "sqxtn"}}},
      {"saturate u16 of i32", i32, i32, OF(saturate(u16, a)), {{v2, "packusdw"}, {v3, "vpackusdw"}, {arm, "sqxtun"}}},
      {"saturate u8 of u16", u16, u16, OF(saturate(u8, a)), {{arm, "uqxtn"}}},
      {"saturate i32 of f32", f32, f32, OF(saturate(i32, a)), {{sse, "cvtps2dq|cvttps2dq"}, {arm, "fcvtns|fcvtzs"}}},
      // roots, rounding
      {"sqrt f32", f32, f32, OF(sqrt(abs(a))), {{sse, "sqrtps"}, {v3, "vsqrtps"}, {v4, "vsqrtps"}, {arm, "fsqrt"}}},
      {"sqrt f64", f64, f64, OF(sqrt(abs(a))), {{sse, "sqrtpd"}, {v3, "vsqrtpd"}, {arm, "fsqrt"}}},
      {"floor f32", f32, f32, OF(floor(a)), {{v2, "roundps"}, {v3, "vroundps"}, {v4, "vrndscaleps"}, {arm, "frintm"}}},
      {"ceil f32", f32, f32, OF(ceil(a)), {{v2, "roundps"}, {v3, "vroundps"}, {arm, "frintp"}}},
      {"trunc f32", f32, f32, OF(trunc(a)), {{v2, "roundps"}, {v3, "vroundps"}, {arm, "frintz"}}},
      {"round f32", f32, f32, OF(round(a)), {{v2, "roundps"}, {v3, "vroundps"}, {arm, "frintn"}}},
      {"round f64", f64, f64, OF(round(a)), {{v2, "roundpd"}, {v3, "vroundpd"}, {v4, "vrndscalepd"}, {arm, "frintn"}}},
      // choices and bits
      {"select f32",
       f32,
       f32,
       OF(select(a < b, c, d)),
       {{v2, "blendvps"}, {v3, "vblendvps"}, {v4, "vcmpltps"}, {arm, "fcmgt"}}},
      {"select i32", i32, i32, OF(select(a > b, c, d)), {{sse, "pcmpgtd"}, {v3, "vpcmpgtd"}, {v4, "vpcmpgtd"}, {arm, "cmgt"}}},
      {"bit_and i32", i32, i32, OF(a & b), {{sse, "andps|pand"}, {v3, "vandps|vpand"}, {arm, "and"}}},
      {"clear bits i32", i32, i32, OF(a & ~b), {{sse, "andnps|pandn"}, {v3, "vandnps|vpandn"}, {arm, "bic"}}},
      {"three inputs in one table", i32, i32, OF((a & b) ^ c), {{v4, "vpternlogd|vpternlogq"}}},
      {"popcount u8",
       u8,
       u8,
       OF(popcount(a)),
       {{v2, "pshufb"}, {v3, "vpshufb"}, {"x86-64-v4+avx512bitalg", "vpopcntb"}, {arm, "cnt"}}},
      {"clz u32", u32, u32, OF(clz(a)), {{v4, "vplzcntd"}, {arm, "clz"}}},
      // memory
      {"every second f32",
       f32,
       f32,
       OF(A(2 * i) + A(2 * i + 1)),
       {{sse, "shufps"}, {v3, "vshufps|vunpcklps|vpermps|vhaddps"}, {arm, "uzp1|ld2"}},
       0,
       2},
      {"every second u8", u8, u8, OF(rounding_halving_add(A(2 * i), A(2 * i + 1))), {{arm, "uzp1|ld2|tbl"}}, 0, 2},
      {"backwards", f32, f32, OF(A(63 - i)), {{sse, "shufps"}, {v3, "vpermps|vpermpd|vshufps"}, {arm, "rev64"}}},
      {"every third u8",
       u8,
       u8,
       OF(rounding_halving_add(rounding_halving_add(A(3 * i), A(3 * i + 1)), A(3 * i + 2))),
       {{v2, "pshufb"}, {v3, "vpshufb"}, {arm, "ld3"}},
       0,
       3},
      {"every third f32",
       f32,
       f32,
       OF(A(3 * i) + A(3 * i + 1) * A(3 * i + 2)),
       {{v3, "vblendps|vpermps|vshufps"}, {arm, "ld3"}},
       0,
       3},
      {"every fourth f32",
       f32,
       f32,
       OF((A(4 * i) + A(4 * i + 1)) * (A(4 * i + 2) - A(4 * i + 3))),
       {{sse, "shufps|unpcklps"}, {v4, "vpermt2ps|vpermi2ps"}, {arm, "ld4"}},
       0,
       4},
      {"every fourth u8",
       u8,
       u8,
       OF(max(max(A(4 * i), A(4 * i + 1)), max(A(4 * i + 2), A(4 * i + 3)))),
       {{v3, "vpshufb|vpackuswb"}, {arm, "ld4"}},
       0,
       4},
      {"every second i16 and the next", i16, i16, OF(A(2 * i) - A(2 * i + 1)), {{arm, "ld2"}}, 0, 2},
      // tails
      {"a tail of f32", f32, f32, OF(a + b), {{v3, "vmaskmovps"}, {v4, "vmovups", "{%k"}}, 0, 1, 63},
      {"a tail of f64", f64, f64, OF(a * b), {{v3, "vmaskmovpd"}, {v4, "vmovupd", "{%k"}}, 0, 1, 63},
      {"a tail of i32", i32, i32, OF(a + b), {{v3, "vpmaskmovd|vmaskmovps"}, {v4, "vmovdqu32|vmovups", "{%k"}}, 0, 1, 63},
      {"a tail of i64", i64, i64, OF(a + b), {{v3, "vpmaskmovq|vmaskmovpd"}, {v4, "vmovdqu64|vmovupd", "{%k"}}, 0, 1, 63},
      {"a tail of u8", u8, u8, OF(max(a, b)), {{v4, "vmovdqu8", "{%k"}}, 0, 1, 63},
      {"a tail of i16", i16, i16, OF(max(a, b)), {{v4, "vmovdqu16", "{%k"}}, 0, 1, 63},
      {"scalable lanes f32", f32, f32, OF(a + b), {{sve, "whilelo"}, {sve, "ld1w"}, {sve, "st1w"}}, -4, 1, 63},
      {"scalable lanes u8", u8, u8, OF(max(a, b)), {{sve, "whilelo"}, {sve, "ld1b"}, {sve, "st1b"}}, -16, 1, 63},
      {"scalable lanes i16", i16, i16, OF(a * b), {{sve, "whilelo"}, {sve, "ld1h"}, {sve, "st1h"}}, -8, 1, 63},
      {"scalable lanes f64", f64, f64, OF(a - b), {{sve, "whilelo"}, {sve, "ld1d"}, {sve, "st1d"}}, -2, 1, 63},
      // tables
      {"16 bytes of an argument",
       u8,
       u8,
       OF(bytes(in_range(c & u8(15), 0, 16))),
       {{v2, "pshufb"}, {v3, "vpshufb"}, {v4, "vpshufb"}, {arm, "tbl"}}},
      {"16 bytes",
       u8,
       u8,
       OF(few(T, 16)(in_range(c & u8(15), 0, 16))),
       {{v2, "pshufb"}, {v3, "vpshufb"}, {v4, "vpshufb"}, {arm, "tbl"}}},
      {"32 bytes",
       u8,
       u8,
       OF(T(in_range(c & u8(31), 0, 32))),
       {{v2, "pshufb"}, {v3, "vpblendvb"}, {v4, "vpshufb"}, {vbmi, "vpermb"}, {arm, "tbl"}}},
      {"40 bytes",
       i8,
       u8,
       OF(few(T, 40)(in_range(c & u8(31), 0, 32))),
       {{v2, "pshufb"}, {v3, "vpblendvb"}, {v4, "vpshufb"}, {vbmi, "vpermb|vpermi2b|vpermt2b"}, {arm, "tbl"}}},
      {"200 bytes",
       i8,
       u8,
       OF(few(T, 200)(in_range(c % u8(200), 0, 200))),
       {{v3, "vpshufb"}, {v4, "vpshufb"}, {vbmi, "vpermi2b|vpermt2b"}, {arm, "tbl"}}},
      {"256 bytes", u8, u8, OF(few(T, 256)(c)), {{v3, "vpshufb"}, {v4, "vpshufb"}, {vbmi, "vpermi2b|vpermt2b"}, {arm, "tbl"}}},
      {"100 of i16", i16, u8, OF(few(T, 100)(in_range(c & u8(63), 0, 64))), {{v4, "vpermi2w|vpermt2w"}, {arm, "tbl"}}},
      {"24 of f32",
       f32,
       u8,
       OF(few(T, 24)(in_range(c & u8(15), 0, 16))),
       {{v3, "vpermps|vpermd"}, {v4, "vpermi2ps|vpermt2ps|vpermi2d|vpermt2d"}, {arm, "tbl"}}},
      {"64 of i32", i32, u8, OF(few(T, 64)(in_range(c & u8(63), 0, 64))), {{v4, "vpermi2d|vpermt2d"}, {arm, "tbl"}}},
      {"100 bytes",
       i8,
       u8,
       OF(few(T, 100)(in_range(c & u8(63), 0, 64))),
       {{v2, "pshufb"}, {v3, "vpshufb"}, {v4, "vpshufb"}, {vbmi, "vpermi2b|vpermt2b"}, {arm, "tbl"}}},
      {"bytes where a condition holds",
       u8,
       u8,
       OF(select(c < 32, T(in_range(c, 0, 32)), a)),
       {{v2, "pshufb"}, {v3, "vpshufb"}, {v4, "vpshufb"}, {vbmi, "vpermb"}, {arm, "tbl"}}},
      {"8 of i16", i16, u8, OF(few(T, 8)(in_range(c & u8(7), 0, 8))), {{v2, "pshufb"}, {v4, "vpermw"}, {arm, "tbl"}}},
      {"32 of i16", i16, u16, OF(T(in_range(c & u16(31), 0, 32))), {{v4, "vpermw"}, {arm, "tbl"}}},
      {"60 of i16", i16, u16, OF(few(T, 60)(in_range(c & u16(31), 0, 32))), {{v4, "vpermi2w|vpermt2w"}}},
      {"4 of f32",
       f32,
       u8,
       OF(few(T, 4)(in_range(c & u8(3), 0, 4))),
       {{v2, "pshufb"}, {v3, "vpermps|vpermd"}, {v4, "vpermps|vpermd"}, {arm, "tbl"}}},
      {"8 of i32",
       i32,
       u32,
       OF(few(T, 8)(in_range(c & u32(7), 0, 8))),
       {{v3, "vpermps|vpermd"}, {v4, "vpermps|vpermd"}, {arm, "tbl"}}},
      {"16 of f32",
       f32,
       u8,
       OF(few(T, 16)(in_range(c & u8(15), 0, 16))),
       {{v3, "vpermps|vpermd"}, {v4, "vpermps|vpermd"}, {arm, "tbl"}}},
      {"32 of f32", f32, u32, OF(T(in_range(c & u32(31), 0, 32))), {{v4, "vpermi2ps|vpermt2ps|vpermi2d|vpermt2d"}}},
      {"gathered f32", f32, i32, OF(A(in_range(c & 127, 0, 128))), {{v4, "vgatherdps|vgatherqps"}}, 0, 2},
  };
}

#undef OF

}  // namespace instructions
