// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// mov, with packing and unpacking; addresses of spaces.
#include "tests/ptx/executor/decode.h"
#include "tests/ptx/executor/device.h"
#include "tests/ptx/executor/partial.h"

namespace ashlar::ptx {
namespace {

u64 low_bits(int n) { return n >= 64 ? ~u64(0) : (u64(1) << n) - 1; }

void plain(Warp& w, const Instr& i, u32 mask) {
  const u64* a = w.src(i.ops[1]);
  u64* d = w.dst(i.ops[0]);
  const u64 keep = low_bits(bits_of(i.type));
  each(mask, [&](int l) { d[l] = a[l] & keep; });
}
void wide(Warp& w, const Instr& i, u32 mask) {  // of 128 bits, two slots
  const u64* a = w.src(i.ops[1]);
  u64* d = w.dst(i.ops[0]);
  each(mask, [&](int l) { d[l] = a[l], d[l + 32] = a[l + 32]; });
  Operand second = i.ops[0], from = i.ops[1];
  ++second.index, ++from.index;
  w.know(i.ops[0], mask, w.known_of(i.ops[1]));
  w.know(second, mask, w.known_of(from));
}

// The bits of a vector's elements, the first lowest. Elements of one register: where it is written is told for each.
void pack(Warp& w, const Instr& i, u32 mask) {
  const Operand& v = i.ops[1];
  const int part = bits_of(i.type) / static_cast<int>(v.parts.size());
  std::array<u64, 64> r = {};
  std::array<u64, 32> unknown = {};
  u32 known = ~0u;
  for (std::size_t n = 0; n < v.parts.size(); ++n) {
    const u64* a = w.src(v.parts[n]);
    known &= w.known_of(v.parts[n]);
    if ((mask & ~w.known_of(v.parts[n])) != 0 && bits_of(i.type) < 128)
      each(mask, [&](int l) {
        unknown[static_cast<std::size_t>(l)] |= (unknown_of(w, v.parts[n], l) & low_bits(part)) << (part * static_cast<int>(n));
      });
    const int at = part * static_cast<int>(n);
    each(mask, [&](int l) { r[static_cast<std::size_t>(l + (at >= 64 ? 32 : 0))] |= (a[l] & low_bits(part)) << (at & 63); });
  }
  u64* d = w.dst(i.ops[0]);
  each(mask, [&](int l) { d[l] = r[static_cast<std::size_t>(l)]; });
  if ((mask & ~known) == 0 || bits_of(i.type) == 128)
    w.know(i.ops[0], mask, known);
  else
    set_unknown(w, i.ops[0], mask, unknown);
  if (bits_of(i.type) == 128) {
    each(mask, [&](int l) { d[l + 32] = r[static_cast<std::size_t>(l + 32)]; });
    Operand second = i.ops[0];
    ++second.index;
    w.know(second, mask, known);
  }
}
void unpack(Warp& w, const Instr& i, u32 mask) {
  const Operand& v = i.ops[0];
  const int part = bits_of(i.type) / static_cast<int>(v.parts.size());
  const u64* from = w.src(i.ops[1]);
  const bool two = bits_of(i.type) == 128;
  std::array<u64, 64> a = {};
  each(mask, [&](int l) {
    a[static_cast<std::size_t>(l)] = from[l];
    if (two) a[static_cast<std::size_t>(l + 32)] = from[l + 32];
  });
  const u32 known = w.known_of(i.ops[1]);
  const bool precise = (mask & ~known) != 0 && !two;
  std::array<u64, 32> unknown = {};
  if (precise) each(mask, [&](int l) { unknown[static_cast<std::size_t>(l)] = unknown_of(w, i.ops[1], l); });
  for (std::size_t n = 0; n < v.parts.size(); ++n) {
    const int at = part * static_cast<int>(n);
    u64* d = w.dst(v.parts[n]);
    each(mask, [&](int l) { d[l] = (a[static_cast<std::size_t>(l + (at >= 64 ? 32 : 0))] >> (at & 63)) & low_bits(part); });
    if (precise) {
      std::array<u64, 32> piece = {};
      each(mask,
           [&](int l) { piece[static_cast<std::size_t>(l)] = unknown[static_cast<std::size_t>(l)] >> at & low_bits(part); });
      set_unknown(w, v.parts[n], mask, piece);
    } else {
      w.know(v.parts[n], mask, known);
    }
  }
}

void mov(Decode& d) {
  d.in.type = d.type();
  const T t = d.in.type;
  d.operands(2, 2);
  if (t == T::pred) {
    if (d.op(0).kind != Operand::kPred) d.fail("the result is a predicate");
    if (d.op(1).kind != Operand::kSpecial) d.predicate(1);
    d.results(1);
    d.in.run = [](Warp& w, const Instr& i, u32 mask) { w.set_pred(i.ops[0], mask, w.pred(i.ops[1])); };
    return;
  }
  if (bits_of(t) < 16) d.fail(std::string("is not known for .") + name_of(t));
  const auto part_type = [&](const Operand& v) {
    const int n = bits_of(t) / static_cast<int>(v.parts.size());
    if (n * static_cast<int>(v.parts.size()) != bits_of(t)) d.fail("the elements do not fill the register");
    return n == 8 ? T::b8 : n == 16 ? T::b16 : n == 32 ? T::b32 : T::b64;
  };
  if (d.op(1).kind == Operand::kVector) {
    d.result(0, t), d.vector(1, static_cast<int>(d.op(1).parts.size()), part_type(d.op(1)), false, false);
    d.in.run = pack;
  } else if (d.op(0).kind == Operand::kVector) {
    d.vector(0, static_cast<int>(d.op(0).parts.size()), part_type(d.op(0)), false, true), d.value(1, t);
    d.in.run = unpack;
  } else {
    if (d.op(1).kind == Operand::kFunction || d.op(1).kind == Operand::kLocal) {
      d.result(0, t);
    } else if (d.op(1).kind == Operand::kSpecial) {
      d.result(0, t);
    } else {
      d.result(0, t), d.value(1, t);
    }
    d.results(1);
    d.in.unknown = unknown::same;
    d.in.run = plain;
    if (bits_of(t) == 128) {
      if (d.op(1).kind != Operand::kReg) d.fail("a constant has at most 64 bits");
      d.in.propagate = false, d.in.run = wide;
    }
  }
}

void convert_address(Decode& d) {
  const bool to = d.take("to");
  d.in.space = d.space(Space::kGeneric);
  if (d.in.space == Space::kGeneric) d.fail("has no state space that is known");
  d.in.type = d.type_among({T::u64, T::u32});
  if (d.in.type == T::u32) d.fail("addresses have 64 bits here");
  d.operands(2, 2);
  d.result(0, T::u64);
  if (d.op(1).kind != Operand::kLocal) d.value(1, T::u64);
  d.in.mode = to;
  d.results(1);
  d.in.run = [](Warp& w, const Instr& i, u32 mask) {
    map1<u64>(w, i, mask, [&](u64 a) {
      const bool shared = i.space == Space::kShared || i.space == Space::kSharedCluster;
      if (i.mode != 0) return shared ? a & 0xffffffffu : i.space == Space::kLocal ? a & ~kLocalWindow : a;
      return shared ? a | kSharedWindow : i.space == Space::kLocal ? a | kLocalWindow : a;
    });
  };
}

void is_space(Decode& d) {
  d.in.space = d.space(Space::kGeneric);
  if (d.in.space == Space::kGeneric) d.fail("has no state space that is known");
  d.operands(2, 2);
  if (d.op(0).kind != Operand::kPred) d.fail("the result is a predicate");
  d.value(1, T::u64), d.results(1);
  d.in.run = [](Warp& w, const Instr& i, u32 mask) {
    const u64* a = w.src(i.ops[1]);
    u32 r = 0;
    each(mask, [&](int l) {
      const bool shared = (a[l] & kSharedWindow) != 0, local = (a[l] & kLocalWindow) != 0;
      bool yes = false;
      switch (i.space) {
        case Space::kShared: {
          const u64 rank = (a[l] >> 24) & 0xff;
          yes = shared && (rank == 0 || rank == w.block->rank + 1);
          break;
        }
        case Space::kSharedCluster:
          yes = shared;
          break;
        case Space::kLocal:
          yes = local;
          break;
        default: {
          const Allocation* m = shared || local ? nullptr : w.run->state.find(a[l]);
          const Space is = m == nullptr ? Space::kGlobal : m->space;
          yes = !shared && !local && is == i.space;
        }
      }
      r |= u32(yes) << l;
    });
    w.set_pred(i.ops[0], mask, r);
  };
}

void map_address(Decode& d) {  // mapa: the same place in another block of the cluster
  const bool shared = d.take("shared::cluster");
  d.in.type = d.type_among({T::u32, T::u64});
  d.in.mode = shared;
  d.operands(3, 3);
  d.result(0, d.in.type), d.value(1, d.in.type), d.value(2, T::u32), d.results(1);
  d.in.run = [](Warp& w, const Instr& i, u32 mask) {
    map2<u64>(w, i, mask, [&](u64 a, u64 b) {
      if (b >= w.run->current->blocks.size())
        w.fault(FaultKind::kInvalid, i, first_lane(mask),
                "block " + std::to_string(b) + " of a cluster of " + std::to_string(w.run->current->blocks.size()));
      return (a & (i.mode != 0 ? 0xffffffu : ~u64(0xff000000u))) | (b + 1) << 24;
    });
  };
}

void rank_of(Decode& d) {  // getctarank
  d.take("shared::cluster");
  d.in.type = d.type_among({T::u32, T::u64});
  d.operands(2, 2);
  d.result(0, T::u32), d.value(1, d.in.type), d.results(1);
  d.in.run = [](Warp& w, const Instr& i, u32 mask) {
    map1<u32>(w, i, mask, [&](u64 a) {
      const u32 rank = static_cast<u32>(a >> 24) & 0xff;
      return rank == 0 ? w.block->rank : rank - 1;
    });
  };
}

}  // namespace

void add_moves(Table& t) {
  t["mov"] = mov;
  t["cvta"] = convert_address;
  t["isspacep"] = is_space;
  t["mapa"] = map_address;
  t["getctarank"] = rank_of;
  t["pragma"] = [](Decode& d) { d.fail("is a directive"); };
  t["nanosleep"] = [](Decode& d) {
    d.type_among({T::u32});
    d.operands(1, 1);
    d.value(0, T::u32);
    d.in.run = [](Warp& w, const Instr&, u32) { w.yield = true; };
  };
}

}  // namespace ashlar::ptx
