// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// mma.sync: which lane and register holds which element follows one rule for all shapes. With g = lane / 4, t = lane % 4 and E
// elements in a register, register r of A has row g + 8 * (r % 2) and columns t * E + 4 * E * (r / 2) on (m8: row g, and r
// alone), register r of B rows t * E + 4 * E * r on of column g, and element e of C row g + 8 * (e / 2), column 2 * t + e % 2.
#include <cmath>
#include <limits>

#include "tests/ptx/executor/instructions/lanes.h"
#include "tests/ptx/executor/numbers.h"

namespace ashlar::ptx {
namespace {

struct Shape {
  int m, n, k;
};

// What Instr::extra holds: the shape; type: of A; from: of B; mode: of D and C: 0 f32, 1 f16, 2 s32, 3 f64; mode2: of b1 1
// .xor, 2 .and
Shape shape_of(const Instr& i) {
  return {static_cast<int>(i.extra & 0xff), static_cast<int>(i.extra >> 8 & 0xff), static_cast<int>(i.extra >> 16 & 0xffff)};
}

i32 whole(T t, u64 v) {
  switch (t) {
    case T::s8:
      return static_cast<i8>(v);
    case T::u8:
      return static_cast<u8>(v);
    case T::s4:
      return static_cast<i32>(v << 28) >> 28;
    default:
      return static_cast<i32>(v & 15);
  }
}

u64 element(const u64* reg, int lane, int n, int bits) {
  return bits == 64 ? reg[lane] : reg[lane] >> (n * bits) & ((u64(1) << bits) - 1);
}

struct Fragments {  // as matrices; of b1 32 elements a number
  std::vector<double> a, b, c;
  std::vector<u32> ia, ib;
  u32 row_known = 0, column_known = 0;
};

constexpr bool is_real_type(T t) {
  return t == T::f16 || t == T::bf16 || t == T::tf32 || t == T::e4m3 || t == T::e5m2 || t == T::f64;
}

void gather(Warp& w, const Instr& i, const Shape& s, Fragments& f) {
  const int bits = i.type == T::tf32 ? 32 : bits_of(i.type), reg = i.type == T::f64 ? 64 : 32, each_register = reg / bits;
  const bool reals = is_real_type(i.type);
  const bool single = i.type == T::b1;
  const int kk = single ? s.k / 32 : s.k;
  if (reals)
    f.a.assign(static_cast<std::size_t>(s.m * kk), 0), f.b.assign(static_cast<std::size_t>(kk * s.n), 0);
  else
    f.ia.assign(static_cast<std::size_t>(s.m * kk), 0), f.ib.assign(static_cast<std::size_t>(kk * s.n), 0);
  f.row_known = f.column_known = ~0u;
  for (int which = 0; which < 2; ++which) {
    const Operand& v = i.ops[which == 0 ? 1 : 2];
    const T t = which == 0 ? i.type : i.from;
    for (std::size_t r = 0; r < v.parts.size(); ++r) {
      const u64* from = w.src(v.parts[r]);
      const u32 known = w.known_of(v.parts[r]);
      for (int lane = 0; lane < 32; ++lane) {
        const int g = lane / 4, q = lane % 4, n = static_cast<int>(r);
        const int row = which == 0 ? g + (s.m == 16 ? 8 * (n % 2) : 0) : g;
        const int block = which == 0 && s.m == 16 ? n / 2 : n;
        if ((known >> lane & 1) == 0) (which == 0 ? f.row_known : f.column_known) &= ~(1u << row);
        const int per = single ? 1 : each_register;
        for (int e = 0; e < per; ++e) {
          const int k = q * per + 4 * per * block + e;
          const std::size_t at = static_cast<std::size_t>(which == 0 ? row * kk + k : row * kk + k);
          const u64 bits_here = single ? from[lane] : element(from, lane, e, bits);
          if (reals)
            (which == 0 ? f.a : f.b)[at] = factor_of(t, bits_here);
          else
            (which == 0 ? f.ia : f.ib)[at] = single ? static_cast<u32>(bits_here) : static_cast<u32>(whole(t, bits_here));
        }
      }
    }
  }
}

u64 accumulator(const Instr& i, const Operand& c, Warp& w, int lane, int e, bool& known) {
  const bool halves = i.mode == 1;
  const Operand& reg = c.parts[static_cast<std::size_t>(halves ? e / 2 : e)];
  known = (w.known_of(reg) >> lane & 1) != 0;
  const u64 v = w.src(reg, 1)[lane];
  return halves ? v >> (16 * (e % 2)) & 0xffff : v;
}

u64 product(const Instr& i, const Shape& s, const Fragments& f, int row, int column, u64 c) {
  const int kk = i.type == T::b1 ? s.k / 32 : s.k;
  const std::size_t a = static_cast<std::size_t>(row * kk), b = static_cast<std::size_t>(column * kk);
  if (i.mode == 2) {
    i64 sum = static_cast<i32>(c);
    for (int k = 0; k < kk; ++k) {
      const u32 x = f.ia[a + static_cast<std::size_t>(k)], y = f.ib[b + static_cast<std::size_t>(k)];
      sum +=
          i.type == T::b1 ? i64(std::popcount(i.mode2 == 1 ? x ^ y : x & y)) : i64(static_cast<i32>(x)) * static_cast<i32>(y);
    }
    if ((i.flags & 1) != 0)
      sum = std::min<i64>(std::max<i64>(sum, std::numeric_limits<i32>::min()), std::numeric_limits<i32>::max());
    return static_cast<u32>(sum);
  }
  double sum = i.mode == 0 ? f32_of(c) : i.mode == 1 ? f16_of(c) : f64_of(c);
  for (int k = 0; k < kk; ++k) {
    const double x = f.a[a + static_cast<std::size_t>(k)], y = f.b[b + static_cast<std::size_t>(k)];
    sum = i.mode == 3 ? std::fma(x, y, sum) : sum + x * y;
  }
  if (i.mode == 3) return bits_of_f64(sum);
  if (i.mode == 1) return round_to(sum, kF16, kNearest);
  const float r = static_cast<float>(sum);
  return std::isnan(r) ? 0x7fffffff : bits_of_f32(r);
}

void run(Warp& w, const Instr& i, u32 mask) {
  if (whole_warp(w, i, mask) == 0) return;
  const Shape s = shape_of(i);
  Fragments f;
  gather(w, i, s, f);
  const Operand &d = i.ops[0], &c = i.ops[3];
  const int elements = s.m * s.n / 32;
  const bool halves = i.mode == 1;
  std::array<std::array<u64, 32>, 8> out = {};
  std::array<u32, 8> known = {};
  known.fill(~0u);
  for (int lane = 0; lane < 32; ++lane)
    for (int e = 0; e < elements; ++e) {
      const int row = lane / 4 + 8 * (e / 2), column = 2 * (lane % 4) + e % 2;
      bool c_known = true;
      const u64 r = product(i, s, f, row, column, accumulator(i, c, w, lane, e, c_known));
      const std::size_t at = static_cast<std::size_t>(halves ? e / 2 : e);
      out[at][static_cast<std::size_t>(lane)] |= halves ? (r & 0xffff) << (16 * (e % 2)) : r;
      if (!c_known || (f.row_known >> row & 1) == 0 || (f.column_known >> column & 1) == 0) known[at] &= ~(1u << lane);
    }
  for (std::size_t r = 0; r < d.parts.size(); ++r) {
    u64* to = w.dst(d.parts[r]);
    each(mask, [&](int l) { to[l] = out[r][static_cast<std::size_t>(l)]; });
    w.know(d.parts[r], mask, known[r]);
  }
}

void shape(Decode& d) {
  static constexpr struct {
    const char* name;
    Shape s;
  } shapes[] = {{"m16n8k4", {16, 8, 4}},   {"m16n8k8", {16, 8, 8}},     {"m16n8k16", {16, 8, 16}},   {"m16n8k32", {16, 8, 32}},
                {"m16n8k64", {16, 8, 64}}, {"m16n8k128", {16, 8, 128}}, {"m16n8k256", {16, 8, 256}}, {"m8n8k4", {8, 8, 4}},
                {"m8n8k16", {8, 8, 16}},   {"m8n8k32", {8, 8, 32}},     {"m8n8k128", {8, 8, 128}}};
  for (const auto& row : shapes)
    if (d.take(row.name)) {
      d.in.extra = static_cast<u64>(row.s.m) | static_cast<u64>(row.s.n) << 8 | static_cast<u64>(row.s.k) << 16;
      return;
    }
  d.fail("has no shape that is known");
}

void decode(Decode& d) {
  if (!d.take("sync") || !d.take("aligned")) d.fail("expected .sync.aligned");
  if (d.take("sp") || d.take("sp::ordered_metadata")) d.fail("sparse matrices are not known");
  shape(d);
  if (!d.take("row") || !d.take("col")) d.fail("expected .row.col");
  d.take("kind::f8f6f4");
  if (d.take("satfinite")) d.in.flags |= 1;
  const T result = d.type();
  d.in.type = d.type(), d.in.from = d.type();
  const T sum = d.type();
  if (const int op = d.one_of({"xor", "and"}); op >= 0) {
    if (!d.take("popc")) d.fail("expected .popc");
    d.in.mode2 = static_cast<u8>(op + 1);
  }
  if (sum != result) d.fail("an accumulator of another type is not known");
  const Shape s = shape_of(d.in);
  const T a = d.in.type, b = d.in.from;
  const int bits = a == T::tf32 ? 32 : bits_of(a);
  const bool f8 = a == T::e4m3 || a == T::e5m2, i8s = a == T::s8 || a == T::u8, i4s = a == T::s4 || a == T::u4;
  const bool mixed =
      (f8 && (b == T::e4m3 || b == T::e5m2)) || (i8s && (b == T::s8 || b == T::u8)) || (i4s && (b == T::s4 || b == T::u4));
  if (a != b && !mixed) d.fail("A and B of these types are not known");
  bool known = false;
  if (a == T::f64)
    known = result == T::f64 && (s.m == 16 || s.k == 4) && s.k <= 16, d.in.mode = 3;
  else if (a == T::f16)
    known = (result == T::f32 || result == T::f16) && s.m == 16 && (s.k == 8 || s.k == 16), d.in.mode = result == T::f16;
  else if (a == T::bf16)
    known = result == T::f32 && s.m == 16 && (s.k == 8 || s.k == 16);
  else if (a == T::tf32)
    known = result == T::f32 && s.m == 16 && (s.k == 4 || s.k == 8);
  else if (f8)
    known = (result == T::f32 || result == T::f16) && s.m == 16 && (s.k == 16 || s.k == 32), d.in.mode = result == T::f16;
  else if (i8s)
    known = result == T::s32 && (s.m == 16 ? s.k == 16 || s.k == 32 : s.k == 16), d.in.mode = 2;
  else if (i4s)
    known = result == T::s32 && (s.m == 16 ? s.k == 32 || s.k == 64 : s.k == 32), d.in.mode = 2;
  else if (a == T::b1)
    known = result == T::s32 && d.in.mode2 != 0 && (s.m == 16 ? s.k >= 128 : s.k == 128), d.in.mode = 2;
  if (!known) d.fail("this shape is not known for these types");
  if (d.in.flags != 0 && d.in.mode != 2) d.fail(".satfinite is of integers");
  d.operands(4, 4);
  const int reg = a == T::f64 ? 64 : 32;
  const T in = a == T::f64 ? T::b64 : T::b32, acc = a == T::f64 ? T::b64 : T::b32;
  const int accumulators = s.m * s.n / 32 / (d.in.mode == 1 ? 2 : 1);
  d.vector(0, accumulators, acc, false, true), d.vector(1, s.m * s.k * bits / 32 / reg, in, false, false);
  d.vector(2, s.n * s.k * bits / 32 / reg, in, false, false), d.vector(3, accumulators, acc, false, false);
  d.in.run = run;
}

}  // namespace

void add_mma(Table& t) { t["mma"] = decode; }

}  // namespace ashlar::ptx
