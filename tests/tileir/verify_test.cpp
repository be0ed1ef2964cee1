// The verifier of the tile form: each rule, by a kernel that breaks it alone.
#include <doctest/doctest.h>

#include <functional>

#include <ashlar/ir/refusal.h>

#include "tests/tileir/kernels.h"

using namespace tiles;
namespace tile = ir::tile;

namespace {

std::string broken(const tile::Kernel& k) {
  try {
    tile::verify(k);
  } catch (const InternalError& e) { return e.what(); }
  return "";
}
bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

// A kernel of one tensor to read, one to write, and what `body` adds.
std::string built(const std::function<void(Builder&, Id x, Id y)>& body) {
  Builder b("k");
  const Id x = b.tensor("x", f32, {b.constant_extent(64)}, {b.constant_extent(1)}, 16, false);
  const Id y = b.tensor("y", f32, {b.constant_extent(64)}, {b.constant_extent(1)}, 16, true);
  body(b, x, y);
  return broken(std::move(b).kernel());
}
ir::Value one() { return ir::float_value(f32, 1); }

}  // namespace

TEST_CASE("well-formed kernels pass") {
  for (const tile::Kernel& k : {scaled(), below_the_largest(), largest_and_sums(), product(16, 32, 64)}) CHECK(broken(k) == "");
}

TEST_CASE("a kernel that breaks a rule is told which, and where") {
  using F = std::function<void(Builder&, Id, Id)>;
  struct Row {
    const char* rule;
    F body;
  };
  const Row rows[] = {
      {"extents are powers of two; found: a constant that gives f32 48", [](Builder& b, Id, Id) { b.constant(one(), {48}); }},
      {"a tile has at most 2^24 elements", [](Builder& b, Id, Id) { b.constant(one(), {1 << 13, 1 << 12}); }},
      {"an element is a bool, a float, or an integer of 8 bits or more", [](Builder& b, Id, Id) { b.integer(i4, 1, {8}); }},
      {"operands have the extents of the result",
       [](Builder& b, Id, Id) {
         const Id v = b.constant(one(), {8}), w = b.constant(one(), {4});
         b.apply(Op::add, {v, w});
       }},
      {"operands agree in type",
       [](Builder& b, Id, Id) {
         const Id v = b.constant(one(), {8}), w = b.integer(i32, 1, {8});
         b.apply(Op::add, {v, w});
       }},
      {"the tile form has the operator on operands of this type; found: exp",
       [](Builder& b, Id, Id) { b.apply(Op::exp, {b.constant(one(), {8})}); }},
      {"the tile form has the operator on operands of this type; found: add",
       [](Builder& b, Id, Id) {
         const Id v = b.constant(ir::float_value(bf16, 1), {8});
         b.apply(Op::add, {v, v});
       }},
      {"an operator has its number of operands", [](Builder& b, Id, Id) { b.apply(Op::add, {b.constant(one(), {8})}); }},
      {"a bitcast keeps the width", [](Builder& b, Id, Id) { b.cast(i64, b.constant(one(), {8}), Op::bitcast); }},
      {"nothing is converted to a float of 8 bits", [](Builder& b, Id, Id) { b.cast(e4m3, b.constant(one(), {8})); }},
      {"a broadcast repeats dimensions of extent 1", [](Builder& b, Id, Id) { b.broadcast(b.constant(one(), {2}), {8}); }},
      {"a reshape keeps the elements", [](Builder& b, Id, Id) { b.reshape(b.constant(one(), {8}), {2, 8}); }},
      {"a permutation names each dimension once", [](Builder& b, Id, Id) { b.permute(b.constant(one(), {8, 8}), {1, 1}); }},
      {"an mma adds m x k times k x n to m x n",
       [](Builder& b, Id, Id) {
         const Id v = b.constant(ir::float_value(bf16, 1), {8, 16}), s = b.constant(one(), {8, 8});
         b.mma(v, v, s);
       }},
      {"an mma multiplies f16",
       [](Builder& b, Id, Id) {
         const Id v = b.integer(i32, 1, {8, 8});
         b.mma(v, v, v);
       }},
      {"the numbers of a tile are scalars of type i32",
       [](Builder& b, Id x, Id) { b.load(b.view(x, {8}), {b.integer(i64, 0)}); }},
      {"a tile has a number for each dimension", [](Builder& b, Id x, Id) { b.load(b.view(x, {8}), {}); }},
      {"a view has an extent for each dimension of its tensor", [](Builder& b, Id x, Id) { b.view(x, {8, 8}); }},
      {"a store takes a tile of its view",
       [](Builder& b, Id, Id y) {
         const Id at = b.integer(i32, 0), v = b.constant(one(), {4});
         b.store(b.view(y, {8}), {at}, v);
       }},
      {"a tensor that is stored to is declared as written",
       [](Builder& b, Id x, Id) {
         const Id at = b.integer(i32, 0), v = b.constant(one(), {8});
         b.store(b.view(x, {8}), {at}, v);
       }},
      {"a tensor is read or written, not both",
       [](Builder& b, Id, Id y) {
         const Id at = b.integer(i32, 0), v = b.view(y, {8});
         b.store(v, {at}, b.load(v, {at}));
       }},
      {"offsets are i64, with a mask of the same extents",
       [](Builder& b, Id x, Id) {
         const Id at = b.iota(i32, 8), mask = b.integer(bool_, 1, {8}), v = b.constant(one(), {8});
         b.gather(x, at, mask, v);
       }},
      {"a value is defined before it is used, in a body around its use",
       [](Builder& b, Id, Id) {
         const Id zero = b.integer(i32, 0), step = b.integer(i32, 1), start = b.constant(one(), {8});
         Id inside = 0;
         b.loop(zero, step, step, {start}, [&](Builder& in, Id, const std::vector<Id>& c) {
           inside = in.apply(Op::neg, {c[0]});
           return c;
         });
         b.apply(Op::neg, {inside});
       }},
      {"a carried tile keeps its type",
       [](Builder& b, Id, Id) {
         const Id zero = b.integer(i32, 0), step = b.integer(i32, 1), start = b.constant(one(), {8});
         b.loop(zero, step, step, {start},
                [&](Builder& in, Id, const std::vector<Id>&) { return std::vector<Id>{in.constant(one(), {4})}; });
       }},
      {"a loop's bounds and step are scalars of type i32",
       [](Builder& b, Id, Id) {
         const Id zero = b.integer(i64, 0), step = b.integer(i64, 1);
         b.loop(zero, step, step, {}, [](Builder&, Id, const std::vector<Id>& c) { return c; });
       }},
      {"a region yields scalars of its components' types",
       [](Builder& b, Id, Id) {
         b.reduce({b.constant(one(), {8})}, 0, {one()}, [](Builder& in, const std::vector<Id>&, const std::vector<Id>&) {
           return std::vector<Id>{in.constant(one(), {8})};
         });
       }},
      {"a region holds constants and operators",
       [](Builder& b, Id, Id) {
         b.reduce({b.constant(one(), {8})}, 0, {one()}, [](Builder& in, const std::vector<Id>& a, const std::vector<Id>&) {
           in.block(0);
           return a;
         });
       }},
      {"an identity has the type of its component",
       [](Builder& b, Id, Id) {
         b.reduce({b.constant(one(), {8})}, 0, {ir::int_value(i32, 0)},
                  [](Builder&, const std::vector<Id>& a, const std::vector<Id>&) { return a; });
       }},
      {"elements in memory are numbers of 8 bits or more",
       [](Builder& b, Id, Id) { b.tensor("z", bool_, {b.constant_extent(8)}, {b.constant_extent(1)}, 1, false); }},
      {"an extent or stride is a parameter of type i32, or positive",
       [](Builder& b, Id, Id) { b.tensor("z", f32, {b.constant_extent(0)}, {b.constant_extent(1)}, 1, false); }},
      {"a block has three numbers of type i32", [](Builder& b, Id, Id) { b.block(3); }},
  };
  for (const Row& row : rows) {
    const std::string found = built(row.body);
    INFO(found);
    CHECK_MESSAGE(has(found, row.rule), row.rule);
  }
}

TEST_CASE("hints") {
  using ir::HintKind;
  ir::tile::Kernel k = product(16, 16, 16);
  k.hints = {{HintKind::worker_warps, 8, ""}, {HintKind::occupancy, 2, "sm_90"}, {HintKind::occupancy, 1, "sm_100"}};
  CHECK(broken(k) == "");
  k.hints[0].value = 3;
  CHECK(has(broken(k), "a hint has a value that its chip takes; found: the launch"));
  k.hints = {{HintKind::cluster, 2, "sm_80"}};
  CHECK(has(broken(k), "a hint has a value that its chip takes; found: the launch"));
  k.hints = {{HintKind::occupancy, 2, "sm_90"}, {HintKind::occupancy, 3, "sm_90"}};
  CHECK(has(broken(k), "a chip has one hint of a kind; found: the launch"));
  k.hints = {{HintKind::latency, 2, ""}};
  CHECK(has(broken(k), "a hint about a launch is occupancy, cluster or worker_warps; found: the launch"));
  k = scaled();
  for (ir::tile::Stmt& s : k.body)
    if (auto* gather = std::get_if<ir::tile::Gather>(&s.node)) gather->hints = {{HintKind::tma, 0, ""}};
  CHECK(has(broken(k), "a hint about an access is its latency or, of a tile of a view, tma; found: a gather"));
}

TEST_CASE("views of every second element") {
  ir::tile::Kernel k = every_second();
  CHECK(broken(k) == "");
  k.views.front().every = {{2, 1}};
  CHECK(has(broken(k), "a view has a step for each dimension, or none; found: view"));
  k = every_second();
  for (ir::tile::View& v : k.views)
    if (!v.every.empty()) v.every[0].first = 2;
  CHECK(has(broken(k), "a step of a view is from 1 to 2^20, and the first element lies before the second; found: view"));
}

TEST_CASE("atomic updates, numbers of tf32, constants") {
  ir::tile::Kernel k = counted();
  CHECK(broken(k) == "");
  for (ir::tile::Stmt& s : k.body)
    if (auto* update = std::get_if<ir::tile::Atomic>(&s.node)) update->op = Op::mul;
  CHECK(has(broken(k), "memory combines integers of 32 and 64 bits, and adds f32 and f64; found: an atomic update"));
  k = counted();
  k.tensors.back().written = false;
  CHECK(has(broken(k), "a tensor that is stored to is declared as written; found: an atomic update"));
  k = counted();
  k.constants.front().data = std::make_shared<std::vector<std::byte>>(3);
  CHECK(has(broken(k), "a constant has an element for each place; found: tensor table"));
  k = product_of_tf32();
  CHECK(broken(k) == "");
  k = product(16, 16, 16);
  for (ir::tile::Stmt& s : k.body)
    if (auto* loop = std::get_if<ir::tile::For>(&s.node))
      for (ir::tile::Stmt& inside : loop->body)
        if (auto* mma = std::get_if<ir::tile::Mma>(&inside.node)) mma->tf32 = true;
  CHECK(has(broken(k), "factors that are numbers of tf32 are held as f32; found: an mma"));
}
