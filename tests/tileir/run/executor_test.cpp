// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Programs by hand: what the corpus does not reach, and that every kind of fault is found and said.
#include <doctest/doctest.h>

#include <limits>

#include "tests/tileir/run/assembler.h"

namespace ashlar::tileir_test {
namespace {

using namespace tileir;
using A = Assembler;

const Bytes kReturn = A::op({92, 0, 0});

// A module whose types are known by name; parameters: a pointer to f32 (0), one to i32 (1), an i32 (2).
struct Program {
  Assembler a{4};
  std::uint64_t f32 = a.type({kF32}), i32 = a.type({kI32}), i1 = a.type({kI1}), i64 = a.type({kI64}), token = a.type({kToken});
  std::uint64_t f = a.tile(f32), i = a.tile(i32), b = a.tile(i1), l = a.tile(i64), pf = a.tile(a.pointer(f32)),
                pi = a.tile(a.pointer(i32));
  std::uint64_t f4 = a.tile(f32, {4}), i4 = a.tile(i32, {4}), b4 = a.tile(i1, {4}), pf1 = a.tile(a.pointer(f32), {1}),
                pf4 = a.tile(a.pointer(f32), {4});

  Bytes constant(std::int32_t v) {
    Bytes d;
    little(d, static_cast<std::uint32_t>(v), 4);
    return A::op({16, i, a.constant(d)});
  }
  Bytes constants(const std::vector<std::int32_t>& v) {
    Bytes d;
    for (const std::int32_t e : v) little(d, static_cast<std::uint32_t>(e), 4);
    return A::op({16, i4, a.constant(d)});
  }
  Module with(std::vector<Bytes> ops) {
    ops.push_back(kReturn);
    a.function("kernel", {pf, pi, i}, ops);
    return Module::read(a.file());
  }
};

struct Machine {
  Device device;
  std::vector<float> x = std::vector<float>(16);
  std::vector<std::int32_t> y = std::vector<std::int32_t>(16);
  Machine() {
    device.adopt(x.data(), 64);
    device.adopt(y.data(), 64);
  }
  Report run(const Module& m, std::int32_t n = 0, std::uint32_t blocks = 1) {
    return device.run(m, "kernel", {blocks, 1, 1}, {argument(x.data()), argument(y.data()), argument(n)});
  }
  std::string fault(const Module& m, FaultKind kind, std::int32_t n = 0, std::uint32_t blocks = 1) {
    try {
      run(m, n, blocks);
    } catch (const Fault& f) {
      CHECK_MESSAGE(f.kind == kind, f.what());
      return f.what();
    }
    FAIL("no fault");
    return "";
  }
};

bool holds(const std::string& text, const std::string& part) {
  const bool found = text.find(part) != std::string::npos;
  if (!found) MESSAGE(text);
  return found;
}

TEST_CASE("an access outside of memory, and one that is misaligned") {
  Program p;  // 3 = offset x, n; 4, 5 = load 3
  const Module m = p.with({A::op({81, p.pf, 0, 2}), A::op({61, p.f, p.token, 0, 0, 3})});
  Machine machine;
  CHECK_NOTHROW(machine.run(m, 15));
  CHECK(holds(machine.fault(m, FaultKind::kOutOfBounds, 16), "out of bounds: load_ptr_tko (offset"));
  CHECK(holds(machine.fault(m, FaultKind::kOutOfBounds, 16), "offset 64 of an allocation of 64 bytes"));
  CHECK(holds(machine.fault(m, FaultKind::kOutOfBounds, -1), "in no allocation"));

  Program q;  // ptr_to_int, + 2, int_to_ptr, ptr_to_ptr
  const Module n = q.with({A::op({86, q.l, 0}), A::op({37, q.l, 1, 2}), A::op({3, q.l, 0, 3, 4}), A::op({51, q.pi, 5}),
                           A::op({87, q.pf, 6}), A::op({61, q.f, q.token, 0, 0, 7})});
  CHECK_NOTHROW(machine.run(n, 4));
  CHECK(holds(machine.fault(n, FaultKind::kMisaligned, 2), "which is no multiple of them, offset 2 of"));
  machine.device.checks().alignment = false;
  CHECK_NOTHROW(machine.run(n, 2));
}

TEST_CASE("assumptions are checked") {
  Program p;
  const Module m = p.with({A::op({6, p.i, 8, 16, 0, 2})});  // div_by<16>
  Machine machine;
  CHECK_NOTHROW(machine.run(m, 32));
  CHECK(holds(machine.fault(m, FaultKind::kAssumption, 24), "assume (offset"));
  CHECK(holds(machine.fault(m, FaultKind::kAssumption, 24), "div_by<16> is not so: it is 24"));
  machine.device.checks().assumptions = false;
  CHECK_NOTHROW(machine.run(m, 24));

  Program q;
  const Module bounded = q.with({A::op({6, q.i, 12, 3, 1, 20, 2})});  // bounded<-1, 10>
  Machine other;
  CHECK_NOTHROW(other.run(bounded, -1));
  CHECK_NOTHROW(other.run(bounded, 10));
  CHECK(holds(other.fault(bounded, FaultKind::kAssumption, 11), "bounded<-1, 10> is not so: it is 11"));

  Program r;  // every 2 along 0: 8 9 16 n
  const auto every = [&](std::int32_t last) {
    Program s;
    return s.with({s.constants({8, 9, 16, last}), A::op({6, s.i4, 8, 8, 3, 4, 0, 3})});
  };
  CHECK_NOTHROW(other.run(every(17)));
  CHECK(holds(other.fault(every(18), FaultKind::kAssumption), "element [3] is 18"));
  const auto same = [&](std::int32_t last) {
    Program s;
    Bytes groups;
    put(groups, 1);
    little(groups, 2, 8);
    Bytes value;
    put(value, 3);
    return s.with({s.constants({5, 5, 7, last}), A::op({6, s.i4, 9}, groups + value)});
  };
  CHECK_NOTHROW(other.run(same(7)));
  CHECK(holds(other.fault(same(8), FaultKind::kAssumption), "same_elements<[2]> is not so: element [3] is 8"));
}

TEST_CASE("what nobody wrote may be computed with, and not stored") {
  Program p;  // 3, 4 = load x; 5 = addf 3, 3; store x, 5
  const Module m =
      p.with({A::op({61, p.f, p.token, 0, 0, 0}), A::op({2, p.f, 0, 0, 3, 3}), A::op({101, p.token, 8, 0, 0, 5, 4})});
  Device d;
  const std::uint64_t x = d.alloc(64);
  std::int32_t y = 0;
  d.adopt(&y, 4);
  const auto run = [&] { d.run(m, "kernel", {1, 1, 1}, {argument(x), argument(&y), argument(0)}); };
  try {
    run();
    FAIL("it ran");
  } catch (const Fault& f) {
    CHECK(holds(f.what(), "undefined: store_ptr_tko (offset"));
    CHECK(holds(f.what(), "a result in memory depends on memory that nobody wrote, by load_ptr_tko (offset"));
  }
  CHECK(!d.written(x, 4));
  const float one = 1;
  d.write(x, &one, 4);
  CHECK_NOTHROW(run());
  CHECK(d.written(x, 4));
}

TEST_CASE("division by zero, overflow, a masked element: undefined where it matters") {
  const auto divided = [](bool stored) {  // y[0] = 7 / n
    Program p;
    std::vector<Bytes> ops = {p.constant(7), A::op({21, p.i, 1, 1, 3, 2})};
    if (stored) ops.push_back(A::op({101, p.token, 0, 0, 1, 4}));
    return p.with(ops);
  };
  Machine machine;
  CHECK_NOTHROW(machine.run(divided(false), 0));
  CHECK(holds(machine.fault(divided(true), FaultKind::kUndefined, 0), "a division by zero"));
  CHECK_NOTHROW(machine.run(divided(true), 2));
  CHECK(machine.y[0] == 3);

  Program p;  // y[0] = n + n, no_signed_wrap
  const Module sum = p.with({A::op({3, p.i, 1, 2, 2}), A::op({101, p.token, 0, 0, 1, 3})});
  CHECK_NOTHROW(machine.run(sum, 1 << 29));
  CHECK(holds(machine.fault(sum, FaultKind::kUndefined, 1 << 30), "an overflow in spite of its attribute"));

  Program q;  // load x under (n == 0), store it
  const Module masked = q.with({q.constant(0), A::op({15, q.b, 0, 1, 2, 3}), A::op({61, q.f, q.token, 4, 0, 0, 4}),
                                A::op({101, q.token, 8, 0, 0, 5, 6})});
  CHECK_NOTHROW(machine.run(masked, 0));
  CHECK(holds(machine.fault(masked, FaultKind::kUndefined, 1), "a masked element without padding"));

  Program r;  // if (7 / n == 3) {}
  const Module branch = r.with({r.constant(7), A::op({21, r.i, 1, 1, 3, 2}), A::op({15, r.b, 0, 1, 4, 3}),
                                A::op({50, 0, 5, 2, 1, 0, 1, 109, 0, 0, 1, 0, 1, 109, 0, 0})});
  CHECK(holds(machine.fault(branch, FaultKind::kUndefined, 0), "a branch depends on"));
}

// Tiles of 4 of x[0:6] through a view: load tile n, store it there plus itself.
Module through_view(int padding, bool inbounds) {
  Program p;
  const auto tensor = p.a.tensor_view(p.f32, {6}, {1}), view = p.a.partition_view({4}, tensor, {0}, padding);
  Bytes flags;
  put(flags, 1);
  flags.push_back(inbounds);
  Bytes load, store;
  put(load, {4, 1, 2}), put(store, {7, 4, 1, 2, 6});
  return p.with({A::op({67, 1, tensor, 0, 0, 0}), A::op({66, view, 3}), A::op({62, 2, p.f4, p.token, 0, 0}, flags + load),
                 A::op({2, p.f4, 0, 0, 5, 5}), A::op({102, 1, p.token, 4, 0}, flags + store)});
}

TEST_CASE("views: padding, tails, inbounds") {
  Machine machine;
  machine.x.assign(16, 3);
  machine.run(through_view(-1, false), 1);
  CHECK(machine.x[5] == 6);
  CHECK(machine.x[6] == 3);
  CHECK_NOTHROW(machine.run(through_view(-1, true), 0));
  CHECK(holds(machine.fault(through_view(-1, true), FaultKind::kAssumption, 1),
              "position 6 of dimension 0, which has 6, in spite of inbounds"));

  const auto summed = [](int padding) {  // x[8] = the sum of tile 1
    Program p;
    const auto tensor = p.a.tensor_view(p.f32, {6}, {1}), view = p.a.partition_view({4}, tensor, {0}, padding);
    return p.with({A::op({67, 1, tensor, 0, 0, 0}), A::op({66, view, 3}), A::op({62, 2, p.f4, p.token, 0, 0, 1, 0, 4, 1, 2}),
                   A::op({88, 1, p.f, 0, 1, 2, p.f32, 0, 1, 5, 1, 1, 2, p.f, p.f, 2, 2, p.f, 0, 0, 7, 8, 109, 0, 1, 9}),
                   p.constant(8), A::op({81, p.pf, 0, 8}), A::op({101, p.token, 0, 0, 9, 7})});
  };
  Machine other;
  other.x.assign(16, 3);
  other.run(summed(0), 1);
  CHECK(other.x[8] == 6);
  CHECK(holds(other.fault(summed(-1), FaultKind::kUndefined, 1), "an element outside of a view without padding"));
  CHECK_NOTHROW(other.run(summed(-1), 0));
}

TEST_CASE("races of blocks") {
  const auto stored = [](bool by_block) {  // x[block or 0] = 1
    Program p;
    std::vector<Bytes> ops = {A::op({48, p.i, p.i, p.i}), p.constant(0), A::op({81, p.pf, 0, by_block ? 3u : 6u}),
                              A::op({16, p.f, p.a.constant({0, 0, 128, 63})}), A::op({101, p.token, 0, 0, 7, 8})};
    return p.with(ops);
  };
  Machine machine;
  CHECK_NOTHROW(machine.run(stored(true), 0, 4));
  CHECK(holds(machine.fault(stored(false), FaultKind::kBlockRace, 0, 4),
              "writes what store_ptr_tko of block 0 (counted along x, y, z) writes, and nothing orders the two blocks"));
  CHECK_NOTHROW(machine.run(stored(false), 0, 1));

  Program p;  // x[block] = x[block + 1]
  const Module shifted =
      p.with({A::op({48, p.i, p.i, p.i}), p.constant(1), A::op({3, p.i, 0, 3, 6}), A::op({81, p.pf, 0, 7}),
              A::op({61, p.f, p.token, 0, 0, 8}), A::op({81, p.pf, 0, 3}), A::op({101, p.token, 8, 0, 11, 9, 10})});
  CHECK(holds(machine.fault(shifted, FaultKind::kBlockRace, 0, 2), "writes what load_ptr_tko of block 0"));
  machine.device.checks().block_races = false;
  CHECK_NOTHROW(machine.run(shifted, 0, 2));

  Machine third;
  const auto counted = [](std::uint64_t scope) {  // atomic add 1 to y[0]
    Program q;
    return q.with({q.constant(1), A::op({8, q.i, q.token, 0, 1, scope, 3, 1, 3})});
  };
  CHECK_NOTHROW(third.run(counted(1), 0, 5));
  CHECK(third.y[0] == 5);
  CHECK(holds(third.fault(counted(0), FaultKind::kBlockRace, 0, 2), "atomic_rmw_tko"));
}

// Block 0 writes x[0] and then the flag y[0]; block 1 reads the flag and then x[0]. Tokens order both pairs, or not.
Module message(std::uint64_t store_order, std::uint64_t load_order, bool store_token = true, bool load_token = true) {
  Program p;
  const Bytes flag =
      store_token ? A::op({101, p.token, 9, store_order, 1, 1, 10, 9}) : A::op({101, p.token, 1, store_order, 1, 1, 10});
  const Bytes writes = A::op({16, p.f, p.a.constant({0, 0, 128, 63})}) + A::op({101, p.token, 0, 0, 0, 8}) + p.constant(1) +
                       flag + A::op({109, 0, 0});
  const Bytes data = load_token ? A::op({61, p.f, p.token, 16, 0, 0, 9}) : A::op({61, p.f, p.token, 0, 0, 0});
  const Bytes reads = A::op({61, p.i, p.token, 1, load_order, 1, 1}) + data + A::op({109, 0, 0});
  return p.with({A::op({48, p.i, p.i, p.i}), p.constant(0), A::op({15, p.b, 0, 1, 3, 6}),
                 A::op({50, 0, 7, 2, 1, 0, 5}) + writes + A::op({1, 0, 3}) + reads});
}

TEST_CASE("release and acquire order blocks, where tokens tie data to them") {
  Machine machine;
  CHECK_NOTHROW(machine.run(message(3, 2), 0, 2));
  const std::string race = "reads what store_ptr_tko of block 0";
  CHECK(holds(machine.fault(message(1, 1), FaultKind::kBlockRace, 0, 2), race));
  CHECK(holds(machine.fault(message(3, 1), FaultKind::kBlockRace, 0, 2), race));
  CHECK(holds(machine.fault(message(1, 2), FaultKind::kBlockRace, 0, 2), race));
  CHECK(holds(machine.fault(message(3, 2, false), FaultKind::kBlockRace, 0, 2), race));
  CHECK(holds(machine.fault(message(3, 2, true, false), FaultKind::kBlockRace, 0, 2), race));
}

TEST_CASE("tokens order what one block does") {
  const auto twice = [](bool ordered, bool joined) {  // store x, load x
    Program p;
    std::vector<Bytes> ops = {A::op({16, p.f, p.a.constant({0, 0, 0, 0})}), A::op({101, p.token, 0, 0, 0, 3})};
    if (joined) ops.push_back(A::op({68, p.token})), ops.push_back(A::op({60, 1, p.token, 2, 4, 5}));
    ops.push_back(ordered ? A::op({61, p.f, p.token, 16, 0, 0, joined ? 6u : 4u}) : A::op({61, p.f, p.token, 0, 0, 0}));
    return p.with(ops);
  };
  Machine machine;
  CHECK_NOTHROW(machine.run(twice(true, false)));
  CHECK_NOTHROW(machine.run(twice(true, true)));
  CHECK(holds(machine.fault(twice(false, false), FaultKind::kTokenRace),
              "reads what store_ptr_tko writes, and no token orders the two"));
  machine.device.checks().token_races = false;
  CHECK_NOTHROW(machine.run(twice(false, false)));

  const auto scattered = [](std::int32_t other) {  // y[{0, 1, 1, 2}] = {5, 6, other, 7}
    Program p;
    const auto p1 = p.a.tile(p.a.pointer(p.i32), {1}), p4 = p.a.tile(p.a.pointer(p.i32), {4});
    return p.with({A::op({91, p1, 1}), A::op({11, p4, 3}), p.constants({0, 1, 1, 2}), A::op({81, p4, 4, 5}),
                   p.constants({5, 6, other, 7}), A::op({101, p.token, 0, 0, 6, 7})});
  };
  Machine other;
  CHECK_NOTHROW(other.run(scattered(6)));
  CHECK(other.y[2] == 7);
  CHECK(
      holds(other.fault(scattered(9), FaultKind::kTokenRace), "two elements of one store write different values to one place"));
}

TEST_CASE("reductions whose region branches, lane by lane") {
  Program
      p;  // y[0] = the sum of those of {1, -2, 3, -4} that are above 0; y[1] = y[0] by the region of a scan, its last element
  const auto region = [&](std::uint64_t first) {  // (element, sum): if (element > 0) yield element + sum else yield sum
    Bytes b = A::op({1, 2, p.i, p.i, 4}) + p.constant(0) + A::op({15, p.b, 4, 1, first, first + 2}) +
              A::op({50, 1, p.i, first + 3, 2});
    b = b + A::op({1, 0, 2}) + A::op({3, p.i, 0, first, first + 1}) + A::op({109, 0, 1, first + 4});
    return b + A::op({1, 0, 1}) + A::op({109, 0, 1, first + 1}) + A::op({109, 0, 1, first + 4});
  };
  const auto i1 = p.a.tile(p.i32, {1});
  const Module m = p.with({p.constants({1, -2, 3, -4}), A::op({88, 1, p.i, 0, 1, 1, p.i32, 0, 1, 3, 1}) + region(4),
                           A::op({101, p.token, 0, 0, 1, 4}), A::op({94, 1, p.i4, 0, 0, 1, 1, p.i32, 0, 1, 3, 1}) + region(6),
                           p.constant(3), A::op({38, 1, i1, 2, 6, 7}), A::op({91, p.i, 8}), p.constant(1),
                           A::op({81, p.pi, 1, 10}), A::op({101, p.token, 0, 0, 11, 9})});
  Machine machine;
  machine.run(m);
  CHECK(machine.y[0] == 4);
  CHECK(machine.y[1] == 4);
}

TEST_CASE("globals, memory of a block, constants that are not written") {
  const auto module = [](bool constant) {  // g[0] += n; y[0] = g[0]
    Program p;
    p.a.global("g", p.i4, {1, 0, 0, 0}, constant);
    return p.with({A::op({44, p.pi, p.a.string("g")}), A::op({61, p.i, p.token, 0, 0, 3}), A::op({3, p.i, 0, 4, 2}),
                   A::op({101, p.token, 8, 0, 3, 6, 5}), A::op({101, p.token, 0, 0, 1, 6})});
  };
  Machine machine;
  const Module m = module(false);
  machine.run(m, 5), machine.run(m, 5);
  CHECK(machine.y[0] == 11);
  CHECK(holds(machine.fault(module(true), FaultKind::kReadOnly, 5), "a store to a constant"));

  Program p;  // a = alloca 4; a[0] = n; fence; y[0] = a[0]
  const Module own = p.with({A::op({113, p.pi, 0, 4, 16}), A::op({101, p.token, 0, 0, 3, 2}), A::op({122, p.token, 4}),
                             A::op({61, p.i, p.token, 16, 0, 3, 5}), A::op({120, p.token, 1, 7}), A::op({119, p.token, 1, 8}),
                             A::op({101, p.token, 0, 0, 1, 6})});
  machine.run(own, 77);
  CHECK(machine.y[0] == 77);
}

TEST_CASE("high bits of products, shapes of tensors") {
  Program p;
  const auto tensor = p.a.tensor_view(p.f32, {std::numeric_limits<std::int64_t>::min(), 3}, {4, 1});
  const Module m =
      p.with({A::op({77, p.i, 2, 2}), A::op({101, p.token, 0, 0, 1, 3}), A::op({67, 1, tensor, 0, 1, 2, 0}),
              A::op({47, 2, p.i, p.i, 5}), p.constant(1), A::op({81, p.pi, 1, 8}), A::op({101, p.token, 0, 0, 9, 6})});
  Machine machine;
  machine.run(m, 1 << 20);
  CHECK(machine.y[0] == 1 << 8);
  CHECK(machine.y[1] == 1 << 20);
  CHECK(holds(machine.fault(m, FaultKind::kInvalid, -1), "a tensor with the extent -1"));
}

TEST_CASE("assertions, slices that are none, loops without an end, operations that are not executed") {
  Machine machine;
  Program p;
  const Module asserted = p.with({p.constant(3), A::op({15, p.b, 2, 1, 2, 3}), A::op({5, p.a.string("n is too large"), 4})});
  CHECK_NOTHROW(machine.run(asserted, 2));
  CHECK(holds(machine.fault(asserted, FaultKind::kAssert, 3), "an assertion: assert (offset"));
  CHECK(holds(machine.fault(asserted, FaultKind::kAssert, 3), "n is too large"));

  Program q;
  const auto i2 = q.a.tile(q.i32, {2});
  const Module slice = q.with({q.constants({1, 2, 3, 4}), A::op({38, 1, i2, 2, 3, 2})});
  CHECK_NOTHROW(machine.run(slice, 1));
  CHECK(holds(machine.fault(slice, FaultKind::kInvalid, 2), "there is no slice 2 of 2 along dimension 0"));

  Program r;
  const Module forever = r.with({A::op({65, 0, 0, 1, 1, 0, 1, 17, 0, 0})});
  machine.device.checks().most_operations = 1000;
  CHECK(holds(machine.fault(forever, FaultKind::kTooLong), "more than 1000 operations"));
  machine.device.checks().most_operations = 0;

  Program s;
  const Module counted = s.with({s.constant(0), s.constant(10),
                                 A::op({41, 1, s.i, 0, 4, 3, 4, 2, 3, 1, 1, 2, s.i, s.i, 2, 3, s.i, 0, 6, 5, 17, 0, 1, 7}),
                                 A::op({101, s.token, 0, 0, 1, 5})});
  machine.run(counted, 3);  // 0 + 3 + 6 + 9
  CHECK(machine.y[0] == 18);
  CHECK(holds(machine.fault(counted, FaultKind::kInvalid, 0), "a step of 0"));

  Assembler a(5);
  const auto f = a.type({kF32}), tensor = a.tensor_view(f, {4}, {1}), view = a.partition_view({4}, tensor, {0}),
             token = a.type({kToken});
  const auto f4 = a.tile(f, {4}), i = a.tile(a.type({kI32})), pointer = a.tile(a.pointer(f));
  a.function("kernel", {pointer},
             {A::op({67, 1, tensor, 0, 0, 0}), A::op({66, view, 1}), A::op({16, f4, a.constant({0, 0, 0, 0})}),
              A::op({16, i, a.constant({0, 0, 0, 0})}), A::op({125, 1, token, 0, 0, 0, 2, 3, 1, 4}), kReturn});
  const Module multi = Module::read(a.file());
  Device d;
  try {
    d.run(multi, "kernel", {1, 1, 1}, {argument(std::uint64_t{0})});
    FAIL("it ran");
  } catch (const Error& e) { CHECK(holds(e.what(), "operation multimem_store_view_tko is known and not executed (offset")); }
}

}  // namespace
}  // namespace ashlar::tileir_test
