// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// wgmma: each of the four warps of a warpgroup makes 16 of the 64 rows. Matrices are read from shared memory when the first of
// the four waits for the group, for all four, whose products are one operation; so one thread may tell others that the memory
// is free. A warp's sums are made when it waits itself, and until then its accumulators count as unwritten.
#include <algorithm>
#include <cmath>
#include <cstring>

#include "tests/ptx/executor/instructions/bulk.h"
#include "tests/ptx/executor/instructions/lanes.h"
#include "tests/ptx/executor/numbers.h"

namespace ashlar::ptx {

struct WgmmaProduct {
  const Instr* instr;
  u64 a, b;  // descriptors
  bool adds;
  bool fetched = false;
  std::vector<double> a_values, b_values;
  std::vector<bool> a_known, b_known;  // by row, by column
};
struct Wgmma {
  bool fenced = false;
  std::vector<std::vector<WgmmaProduct>> groups;  // that this warp has not waited for
  std::map<u32, u32> reads;                       // when which warp, by rank, read matrices for this one
  u64 committed = 0;                              // groups ever
  std::vector<WgmmaProduct> open;
  std::map<u32, std::pair<int, u32>> flying;  // accumulators by slot: in how many products, and where they are written
};

namespace {

// Of Instr: type and from: of A and B; mode: of D 0 f32, 1 f16, 2 s32; count: A in registers; extra: n, k; flags: signs and
// transpositions
enum : u32 { kNegateA = 1, kNegateB = 2, kTransA = 4, kTransB = 8 };

int n_of(const Instr& i) { return static_cast<int>(i.extra & 0xffff); }
int k_of(const Instr& i) { return static_cast<int>(i.extra >> 16); }

// The address of an element by a descriptor: start, leading and stride offsets in units of 16 bytes, swizzle in the uppermost
// bits.
u32 element_at(u64 descriptor, int mn, int k, int bytes, bool transposed) {
  const u32 start = static_cast<u32>(descriptor & 0x3fff) << 4, leading = static_cast<u32>(descriptor >> 16 & 0x3fff) << 4,
            stride = static_cast<u32>(descriptor >> 32 & 0x3fff) << 4;
  static constexpr u32 widths[] = {16, 128, 64, 32};
  const u32 mode = static_cast<u32>(descriptor >> 62), width = widths[mode];
  const u32 m = static_cast<u32>(mn), kk = static_cast<u32>(k), e = static_cast<u32>(bytes);
  u32 at = 0;
  if (!transposed) {
    const u32 across = kk * e;
    at = mode == 0 ? start + m / 8 * stride + m % 8 * 16 + across / 16 * leading + across % 16
                   : start + m / 8 * stride + m % 8 * width + across;
  } else {
    const u32 across = m * e;
    at = mode == 0 ? start + across / 16 * stride + across % 16 + kk % 8 * 16 + kk / 8 * leading
                   : start + across / width * leading + across % width + kk % 8 * width + kk / 8 * stride;
  }
  return mode == 0 ? at : at ^ ((at >> 7 & (width / 16 - 1)) << 4);
}

double value(T t, u64 v) {
  if (t == T::s8) return static_cast<i8>(v);
  if (t == T::u8) return static_cast<u8>(v);
  return factor_of(t, v);
}

// A matrix of shared memory as numbers, row after row; what nobody wrote makes its row unknown.
void fetch(Warp& w, const Instr& i, u64 descriptor, int first, int rows, T t, bool transposed, std::vector<double>& to,
           std::vector<bool>& known) {
  const int bytes = t == T::tf32 ? 4 : bytes_of(t), k = k_of(i);
  for (int r = 0; r < rows; ++r)
    for (int c = 0; c < k; ++c) {
      const u32 at = element_at(descriptor, first + r, c, bytes, transposed);
      const Place p = locate(w, i, 0, Space::kShared, at, static_cast<u32>(bytes), false, 1);
      if (at % 16 == 0) {
        accessed(w, i, 0, p, 16, false, false, nullptr);
        async_reads(w, i, 0, p, 16);
      }
      u64 v = 0;
      std::memcpy(&v, p.data, static_cast<std::size_t>(bytes));
      to[static_cast<std::size_t>(r * k + c)] = value(t, v);
      for (int b = 0; b < bytes; ++b)
        if (p.written[b] == 0) known[static_cast<std::size_t>(r)] = false;
    }
}

// A where it is in registers is read by its own warp.
void fetch_product(Warp& by, u32 warp_number, WgmmaProduct& p) {
  if (p.fetched) return;
  p.fetched = true;
  const Instr& i = *p.instr;
  const int n = n_of(i), k = k_of(i);
  p.a_values.resize(static_cast<std::size_t>(16 * k)), p.b_values.resize(static_cast<std::size_t>(n * k));
  p.a_known.assign(16, true), p.b_known.assign(static_cast<std::size_t>(n), true);
  if (i.count == 0)
    fetch(by, i, p.a, static_cast<int>(warp_number % 4) * 16, 16, i.type, (i.flags & kTransA) != 0, p.a_values, p.a_known);
  fetch(by, i, p.b, 0, n, i.from, (i.flags & kTransB) != 0, p.b_values, p.b_known);
}

void registers_of_a(Warp& w, WgmmaProduct& p) {
  const Instr& i = *p.instr;
  const int k = k_of(i), bits = i.type == T::tf32 ? 32 : bits_of(i.type), per = 32 / bits;
  for (std::size_t r = 0; r < 4; ++r) {
    const Operand& o = i.ops[1].parts[r];
    const u64* v = w.src(o);
    for (int l = 0; l < 32; ++l) {
      const int row = l / 4 + 8 * (static_cast<int>(r) % 2);
      if ((w.known_of(o) >> l & 1) == 0) p.a_known[static_cast<std::size_t>(row)] = false;
      for (int e = 0; e < per; ++e)
        p.a_values[static_cast<std::size_t>(row * k + l % 4 * per + e + static_cast<int>(r) / 2 * 4 * per)] =
            value(i.type, bits == 32 ? v[l] : v[l] >> (e * bits) & ((u64(1) << bits) - 1));
    }
  }
}

void compute(Warp& w, Wgmma& g, WgmmaProduct& p) {
  const Instr& i = *p.instr;
  const int n = n_of(i), k = k_of(i);
  fetch_product(w, w.number, p);
  if (i.count != 0) registers_of_a(w, p);
  const std::vector<double>&a = p.a_values, &b = p.b_values;
  const std::vector<bool>&a_known = p.a_known, &b_known = p.b_known;
  const double sign = ((i.flags & kNegateA) != 0) != ((i.flags & kNegateB) != 0) ? -1 : 1;
  const bool halves = i.mode == 1;
  for (int e = 0; e < n / 2; ++e) {
    const Operand& o = i.ops[0].parts[static_cast<std::size_t>(halves ? e / 2 : e)];
    auto& [count, known] = g.flying.at(w.frame->slots + o.index);
    u64* d = w.dst(o);
    for (int l = 0; l < 32; ++l) {
      const int row = l / 4 + 8 * (e / 2 % 2), column = 8 * (e / 4) + 2 * (l % 4) + e % 2, shift = halves ? 16 * (e % 2) : 0;
      const u64 old = d[l] >> shift & (halves ? 0xffff : 0xffffffff);
      double sum = !p.adds ? 0 : i.mode == 0 ? f32_of(old) : halves ? f16_of(old) : static_cast<i32>(old);
      for (int c = 0; c < k; ++c)
        sum += sign * a[static_cast<std::size_t>(row * k + c)] * b[static_cast<std::size_t>(column * k + c)];
      const float f = static_cast<float>(sum);
      const u64 result = i.mode == 0 ? (std::isnan(f) ? 0x7fffffff : bits_of_f32(f))
                         : halves    ? round_to(sum, kF16, kNearest)
                                     : static_cast<u32>(static_cast<i64>(sum));
      d[l] = halves ? (d[l] & ~(u64(0xffff) << shift)) | result << shift : result;
      const bool sure = a_known[static_cast<std::size_t>(row)] && b_known[static_cast<std::size_t>(column)] &&
                        (!p.adds || (known >> l & 1) != 0);
      known = sure ? known | 1u << l : known & ~(1u << l);
    }
    if (!halves || e % 2 == 1)
      if (--count == 0) {
        w.know(o, ~0u, known);
        g.flying.erase(w.frame->slots + o.index);
      }
  }
}

Wgmma& state(Warp& w) {
  if (!w.wgmma) w.wgmma = std::make_shared<Wgmma>();
  return *w.wgmma;
}

void issue(Warp& w, const Instr& i, u32 mask) {
  if (whole_warp(w, i, mask) == 0) return;
  Wgmma& g = state(w);
  if (!g.fenced) w.fault(FaultKind::kAsyncGroup, i, 0, "no wgmma.fence stands before the first wgmma");
  const std::size_t scale = 3;
  if (i.count == 0) w.need_known(i, i.ops[1], mask, "the descriptor of A");
  w.need_known(i, i.ops[2], mask, "the descriptor of B"), w.need_known(i, i.ops[scale], mask, "whether it adds");
  WgmmaProduct p;
  p.instr = &i, p.a = i.count != 0 ? 0 : w.src(i.ops[1])[0], p.b = w.src(i.ops[2], 1)[0],
  p.adds = (w.pred(i.ops[scale]) & 1) != 0;
  for (const Operand& o : i.ops[0].parts) {
    auto [at, fresh] = g.flying.try_emplace(w.frame->slots + o.index, 0, w.k[o.index]);
    ++at->second.first;
    w.know(o, ~0u, 0);
  }
  g.open.push_back(std::move(p));
}

void decode_product(Decode& d) {
  if (!d.take("sync") || !d.take("aligned")) d.fail("expected .sync.aligned");
  if (d.take("sp")) d.fail("sparse matrices are not known");
  int n = 0, k = 0;
  for (n = 256; n >= 8; n -= 8) {
    bool found = false;
    for (const int kk : {8, 16, 32})
      if (d.take("m64n" + std::to_string(n) + "k" + std::to_string(kk))) k = kk, found = true;
    if (found) break;
  }
  if (k == 0) d.fail("has no shape that is known");
  if (d.take("satfinite")) d.fail("the modifier .satfinite is not known");
  const T result = d.type_among({T::f32, T::f16, T::s32});
  d.in.type = d.type_among({T::f16, T::bf16, T::tf32, T::e4m3, T::e5m2, T::s8, T::u8}),
  d.in.from = d.type_among({T::f16, T::bf16, T::tf32, T::e4m3, T::e5m2, T::s8, T::u8});
  const int bits = d.in.type == T::tf32 ? 32 : bits_of(d.in.type);
  if (k * bits != 256) d.fail("the shape does not fit the types");
  d.in.mode = result == T::f16 ? 1 : result == T::s32 ? 2 : 0;
  d.in.extra = static_cast<u64>(n) | static_cast<u64>(k) << 16;
  d.operands(4, 8);
  d.vector(0, n / 2 / (d.in.mode == 1 ? 2 : 1), T::b32, false, true);
  d.in.count = d.op(1).kind == Operand::kVector;
  if (d.in.count != 0)
    d.vector(1, 4, T::b32, false, false);
  else
    d.value(1, T::b64);
  d.value(2, T::b64), d.predicate(3);
  const auto flag = [&](std::size_t at, u32 bit, bool sign) {
    if (at >= d.in.ops.size()) return;
    const i64 v = static_cast<i64>(d.number(at, "a sign or a transposition"));
    if (sign ? v != 1 && v != -1 : v != 0 && v != 1) d.fail("a sign is 1 or -1, a transposition 0 or 1");
    if (v == (sign ? -1 : 1)) d.in.flags |= bit;
  };
  flag(4, kNegateA, true), flag(5, kNegateB, true);
  if (d.in.count == 0) flag(6, kTransA, false);
  flag(d.in.count == 0 ? 7 : 6, kTransB, false);
  d.in.run = issue;
}

void finish_products(Warp& w, const Instr& i, u32 mask) {
  if (whole_warp(w, i, mask) == 0) return;
  Wgmma& g = state(w);
  if (g.groups.size() <= i.extra) return;
  const u64 until = g.committed - i.extra;  // groups of the warpgroup that are complete then
  for (const auto& other : w.block->warps) {
    if (other->number / 4 != w.number / 4) continue;
    if (state(*other).committed < until) {  // it has not come so far
      w.stalled = mask, w.yield = true;
      return;
    }
  }
  for (const auto& other : w.block->warps) {
    if (other->number / 4 != w.number / 4) continue;
    Wgmma& o = state(*other);
    const u64 done = o.committed - o.groups.size();
    for (u64 n = done; n < until; ++n)
      for (WgmmaProduct& p : o.groups[n - done]) {
        if (!p.fetched) o.reads[w.rank] = w.run->time;
        fetch_product(w, other->number, p);
      }
    for (const auto& [rank, time] : o.reads) w.clock[rank] = std::max(w.clock[rank], time);
  }
  while (g.groups.size() > i.extra) {
    for (WgmmaProduct& p : g.groups.front()) compute(w, g, p);
    g.groups.erase(g.groups.begin());
  }
}

}  // namespace

void add_wgmma(Table& t) {
  t["wgmma"] = [](Decode& d) {
    if (d.take("mma_async")) return decode_product(d);
    const int what = d.must("operation", {"fence", "commit_group", "wait_group"});
    if (!d.take("sync") || !d.take("aligned")) d.fail("expected .sync.aligned");
    d.operands(what == 2 ? 1 : 0, what == 2 ? 1 : 0);
    if (what == 0) {
      d.in.run = [](Warp& w, const Instr& i, u32 mask) {
        if (whole_warp(w, i, mask) != 0) state(w).fenced = true;
      };
    } else if (what == 1) {
      d.in.run = [](Warp& w, const Instr& i, u32 mask) {
        if (whole_warp(w, i, mask) == 0) return;
        Wgmma& g = state(w);
        ++g.committed, ++w.run->current->progress;
        g.groups.push_back(std::move(g.open));
        g.open.clear();
      };
    } else {
      d.in.extra = d.number(0, "how many groups may stay"), d.in.run = finish_products;
    }
  };
}

}  // namespace ashlar::ptx
