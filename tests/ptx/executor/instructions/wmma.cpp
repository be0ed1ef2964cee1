// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// wmma.load, wmma.mma, wmma.store. The document leaves open which lane and register holds which element of a fragment; here it
// is this: slot s of lane l, of the registers' elements in order, has element 32 * s + l of the matrix by rows, and slots
// beyond the last element begin again with the first. So what a program does to each element of a fragment it does to all
// copies of one.
#include <cmath>
#include <cstring>
#include <limits>

#include "tests/ptx/executor/instructions/lanes.h"
#include "tests/ptx/executor/numbers.h"

namespace ashlar::ptx {
namespace {

// Instr::extra: m, n, k. mode of load and store: the matrix, a, b, c or d; of mma: the layouts are of no effect, as fragments
// have none.
struct Sizes {
  int m, n, k;
};
Sizes sizes_of(const Instr& i) {
  return {static_cast<int>(i.extra & 0xff), static_cast<int>(i.extra >> 8 & 0xff), static_cast<int>(i.extra >> 16 & 0xff)};
}

constexpr u8 kA = 0, kB = 1, kC = 2;
struct Extent {
  int rows, columns;
};
Extent extent_of(const Sizes& s, u8 matrix) {
  return matrix == kA ? Extent{s.m, s.k} : matrix == kB ? Extent{s.k, s.n} : Extent{s.m, s.n};
}

int per_register(T t) { return t == T::f64 || t == T::f32 || t == T::tf32 || t == T::s32 ? 1 : 32 / bits_of(t); }
int element_bits(T t) { return t == T::tf32 ? 32 : bits_of(t); }

struct Elements {
  std::vector<u64> values;
  std::vector<bool> known;
};

Elements gather(Warp& w, const Operand& v, T t, const Extent& x) {
  const int count = x.rows * x.columns, per = per_register(t), bits = element_bits(t);
  Elements e{std::vector<u64>(static_cast<std::size_t>(count)), std::vector<bool>(static_cast<std::size_t>(count))};
  for (int s = count / 32 - 1; s >= 0; --s) {
    const Operand& reg = v.parts[static_cast<std::size_t>(s / per)];
    const u64* from = w.src(reg);
    const u32 known = w.known_of(reg);
    for (int l = 0; l < 32; ++l) {
      const std::size_t at = static_cast<std::size_t>(32 * s + l);
      e.values[at] = bits == 64 ? from[l] : from[l] >> (s % per * bits) & ((u64(1) << bits) - 1);
      e.known[at] = (known >> l & 1) != 0;
    }
  }
  return e;
}

void scatter(Warp& w, const Operand& v, T t, const Elements& e) {
  const int per = per_register(t), bits = element_bits(t), count = static_cast<int>(e.values.size());
  for (std::size_t r = 0; r < v.parts.size(); ++r) {
    u64* to = w.dst(v.parts[r]);
    u32 known = ~0u;
    for (int l = 0; l < 32; ++l) {
      to[l] = 0;
      for (int n = 0; n < per; ++n) {
        const std::size_t at = static_cast<std::size_t>((32 * (static_cast<int>(r) * per + n) + l) % count);
        to[l] |= e.values[at] << (n * bits);
        if (!e.known[at]) known &= ~(1u << l);
      }
    }
    w.know(v.parts[r], ~0u, known);
  }
}

// Operands of load: fragment, address, stride or none; of store: address, fragment, stride or none. mode2: by columns.
u64 start_of(Warp& w, const Instr& i, u32 mask, const Operand& address, u64& stride, const Extent& x) {
  if (address.parts[0].kind == Operand::kReg) w.need_known(i, address.parts[0], mask, "the address of the matrix");
  const u64 start = address_of(w, i, address, 0);
  stride = static_cast<u64>(i.mode2 != 0 ? x.rows : x.columns);
  if (i.ops.size() == 3) {
    w.need_known(i, i.ops[2], mask, "the stride");
    stride = static_cast<u32>(w.src(i.ops[2], 1)[0]);
  }
  for (int l = 1; l < 32; ++l)
    if (address_of(w, i, address, l) != start || (i.ops.size() == 3 && static_cast<u32>(w.src(i.ops[2], 1)[l]) != stride))
      w.fault(FaultKind::kInvalid, i, l, "the address or the stride differs between lanes");
  const u32 bytes = static_cast<u32>(element_bits(i.type) / 8);
  if (stride * bytes % 16 != 0 && stride * bytes % 8 != 0)
    w.fault(FaultKind::kMisaligned, i, 0, "the stride is no multiple of 8 bytes");
  return start;
}

template <class F>
void each_place(Warp& w, const Instr& i, u64 start, u64 stride, const Extent& x, bool store, F f) {  // f(element, lane, place)
  const u32 bytes = static_cast<u32>(element_bits(i.type) / 8);
  for (int row = 0; row < x.rows; ++row)
    for (int column = 0; column < x.columns; ++column) {
      const int at = row * x.columns + column, lane = at % 32;
      const u64 n = i.mode2 != 0 ? static_cast<u64>(column) * stride + static_cast<u64>(row)
                                 : static_cast<u64>(row) * stride + static_cast<u64>(column);
      f(static_cast<std::size_t>(at), lane, locate(w, i, lane, i.space, start + n * bytes, bytes, store, bytes), bytes);
    }
}

void load(Warp& w, const Instr& i, u32 mask) {
  if (whole_warp(w, i, mask) == 0) return;
  const Extent x = extent_of(sizes_of(i), i.mode);
  u64 stride = 0;
  const u64 start = start_of(w, i, mask, i.ops[1], stride, x);
  const std::size_t count = static_cast<std::size_t>(x.rows * x.columns);
  Elements e{std::vector<u64>(count), std::vector<bool>(count)};
  each_place(w, i, start, stride, x, false, [&](std::size_t at, int lane, const Place& p, u32 bytes) {
    accessed(w, i, lane, p, bytes, false, false, nullptr);
    std::memcpy(&e.values[at], p.data, bytes);
    bool known = true;
    for (u32 b = 0; b < bytes; ++b) known = known && (p.written == nullptr || p.written[b] != 0);
    e.known[at] = known;
  });
  scatter(w, i.ops[0], i.type, e);
}

void store(Warp& w, const Instr& i, u32 mask) {
  if (whole_warp(w, i, mask) == 0) return;
  const Extent x = extent_of(sizes_of(i), kC);
  u64 stride = 0;
  const u64 start = start_of(w, i, mask, i.ops[0], stride, x);
  const Elements e = gather(w, i.ops[1], i.type, x);
  each_place(w, i, start, stride, x, true, [&](std::size_t at, int lane, const Place& p, u32 bytes) {
    accessed(w, i, lane, p, bytes, true, false, reinterpret_cast<const u8*>(&e.values[at]));
    std::memcpy(p.data, &e.values[at], bytes);
    if (p.written != nullptr) std::memset(p.written, e.known[at] ? 1 : 0, bytes);
  });
}

double real(T t, u64 v) { return t == T::f32 ? static_cast<double>(f32_of(v)) : factor_of(t, v); }

// type, from: of A and B; mode: the type of D; mode2: that of C
void multiply(Warp& w, const Instr& i, u32 mask) {
  if (whole_warp(w, i, mask) == 0) return;
  const Sizes s = sizes_of(i);
  const T result = static_cast<T>(i.mode), sum_type = static_cast<T>(i.mode2);
  const Elements a = gather(w, i.ops[1], i.type, extent_of(s, kA)), b = gather(w, i.ops[2], i.type, extent_of(s, kB)),
                 c = gather(w, i.ops[3], sum_type, extent_of(s, kC));
  Elements d = c;
  for (int row = 0; row < s.m; ++row)
    for (int column = 0; column < s.n; ++column) {
      const std::size_t at = static_cast<std::size_t>(row * s.n + column);
      bool known = c.known[at];
      double sum = result == T::s32 ? 0 : real(sum_type, c.values[at]);
      i64 whole = static_cast<i32>(c.values[at]);
      for (int k = 0; k < s.k; ++k) {
        const std::size_t p = static_cast<std::size_t>(row * s.k + k), q = static_cast<std::size_t>(k * s.n + column);
        known = known && a.known[p] && b.known[q];
        const u64 x = a.values[p], y = b.values[q];
        if (result == T::s32)
          whole += i.type == T::s8 ? static_cast<i8>(x) * static_cast<i8>(y) : static_cast<u8>(x) * static_cast<u8>(y);
        else
          sum = result == T::f64 ? std::fma(real(i.type, x), real(i.type, y), sum) : sum + real(i.type, x) * real(i.type, y);
      }
      if ((i.flags & 1) != 0 && result == T::s32)
        whole = std::min<i64>(std::max<i64>(whole, std::numeric_limits<i32>::min()), std::numeric_limits<i32>::max());
      d.known[at] = known;
      d.values[at] = result == T::s32   ? static_cast<u32>(whole)
                     : result == T::f64 ? bits_of_f64(sum)
                     : result == T::f16 ? round_to(sum, kF16, kNearest)
                     : std::isnan(sum)  ? 0x7fffffff
                                        : bits_of_f32(static_cast<float>(sum));
    }
  scatter(w, i.ops[0], result, d);
}

// ---- decoding

int registers_of(T t, const Sizes& s, u8 matrix) {
  const Extent x = extent_of(s, matrix);
  const int once = x.rows * x.columns / 32 / per_register(t);
  return t == T::f16 && matrix != kC ? 8 : once;  // A and B of f16 have room for more than their elements
}

T register_type(T t) { return t == T::f64 ? T::b64 : T::b32; }

void sizes(Decode& d) {
  static constexpr struct {
    const char* name;
    int m, n, k;
  } shapes[] = {{"m16n16k16", 16, 16, 16},
                {"m8n32k16", 8, 32, 16},
                {"m32n8k16", 32, 8, 16},
                {"m16n16k8", 16, 16, 8},
                {"m8n8k4", 8, 8, 4}};
  for (const auto& row : shapes)
    if (d.take(row.name)) {
      d.in.extra = static_cast<u64>(row.m) | static_cast<u64>(row.n) << 8 | static_cast<u64>(row.k) << 16;
      return;
    }
  d.fail("has no shape that is known");
}

// A and B of these types have these shapes.
void check(Decode& d, T t) {
  const Sizes s = sizes_of(d.in);
  const bool known = t == T::f64 ? s.k == 4 : t == T::tf32 ? s.k == 8 : s.k == 16;
  if (!known) d.fail("this shape is not known for these types");
}

void decode_access(Decode& d, bool is_store) {
  static constexpr std::string_view names[] = {"a", "b", "c"};
  d.in.mode = kC;
  if (is_store) {
    if (!d.take("d")) d.fail("expected .d");
  } else {
    d.in.mode = static_cast<u8>(d.must("matrix (.a, .b, .c)", {names[0], names[1], names[2]}));
  }
  if (!d.take("sync") || !d.take("aligned")) d.fail("expected .sync.aligned");
  d.in.mode2 = static_cast<u8>(d.must("layout (.row, .col)", {"row", "col"}));
  sizes(d);
  d.in.space = d.space(Space::kGeneric);
  if (d.in.mode == kC) {
    d.in.type = d.type_among({T::f16, T::f32, T::s32, T::f64});
  } else {
    d.in.type = d.type_among({T::f16, T::bf16, T::tf32, T::s8, T::u8, T::f64});
    check(d, d.in.type);
  }
  d.operands(2, 3);
  d.address(is_store ? 0 : 1);
  d.vector(is_store ? 1 : 0, registers_of(d.in.type, sizes_of(d.in), d.in.mode), register_type(d.in.type), false, !is_store);
  if (d.in.ops.size() == 3) d.value(2, T::b32);
  d.in.run = is_store ? store : load;
}

void decode_product(Decode& d) {
  if (!d.take("sync") || !d.take("aligned")) d.fail("expected .sync.aligned");
  for (int n = 0; n < 2; ++n) d.must("layout (.row, .col)", {"row", "col"});
  sizes(d);
  d.rounding();
  if (d.take("satfinite")) d.in.flags |= 1;
  const T result = d.type(), second = d.type();
  const T third = d.type_or(T::none);
  T a = third == T::none ? T::f16 : second, sum = second;
  if (third != T::none) {
    if (d.type() != result || third != a) d.fail("operands of these types are not known");
    sum = result;
  }
  const bool reals = a == T::f16 || a == T::bf16 || a == T::tf32;
  const bool known =
      a == T::f64 ? result == T::f64
      : reals     ? (result == T::f32 || (a == T::f16 && result == T::f16)) && (sum == T::f32 || (a == T::f16 && sum == T::f16))
                  : (a == T::s8 || a == T::u8) && result == T::s32;
  if (!known || ((d.in.flags & 1) != 0 && result != T::s32)) d.fail("operands of these types are not known");
  d.in.type = d.in.from = a;
  check(d, a);
  d.in.mode = static_cast<u8>(result), d.in.mode2 = static_cast<u8>(sum);
  const Sizes s = sizes_of(d.in);
  d.operands(4, 4);
  d.vector(0, registers_of(result, s, kC), register_type(result), false, true);
  d.vector(1, registers_of(a, s, kA), register_type(a), false, false),
      d.vector(2, registers_of(a, s, kB), register_type(a), false, false);
  d.vector(3, registers_of(sum, s, kC), register_type(sum), false, false);
  d.in.run = multiply;
}

}  // namespace

void add_wmma(Table& t) {
  t["wmma"] = [](Decode& d) {
    switch (d.must("operation (.load, .mma, .store)", {"load", "mma", "store"})) {
      case 0:
        return decode_access(d, false);
      case 1:
        return decode_product(d);
      default:
        return decode_access(d, true);
    }
  };
}

}  // namespace ashlar::ptx
