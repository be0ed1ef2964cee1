// Schedules with blocks and threads, lowered: launches, guards, barriers.
#include <ashlar/lang.h>
#include <ashlar/lang/build_program.h>
#include <ashlar/schedule/schedule.h>
#include <ashlar/schedule/step.h>

#include <cstdio>

#include "check.h"

using namespace ashlar;
using handmade::Sizes;

namespace {

ir::Kernel lowered(const Schedule& s) {
  schedule::finish(s.scheduled(), s.target());
  LowerOptions o;
  o.vector_bits = s.target().vector_bits();
  o.vector_registers = s.target().vector_registers();
  o.warp = s.target().device().warp;
  return lower(s.scheduled().program, o);
}

std::size_t count(const std::string& text, const std::string& what) {
  std::size_t n = 0;
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++n;
  return n;
}

}  // namespace

TEST_CASE("elementwise: one guard, no barrier") {
  lang::DefinitionScope scope;
  Symbol M{"M"}, N{"N"};
  Tensor x = lang::make_input("x", f32, {M, N}), b = lang::make_input("b", f32, {N}), y = lang::make_output("y", f32, {M, N});
  Tensor sum_ = compute("sum", {M, N}, [&](Var i, Var j) { return x(i, j) + b(j); });
  lang::bind(y, sum_);
  Schedule s{lang::build_program("add", {x, b, y}), Target::parse("vulkan")};
  auto [i, j] = s[sum_].spatial<2>();
  auto [jo, ji] = s[sum_].split(j, 64);
  s[sum_].bind(i, gpu::block_y).bind(jo, gpu::block_x).bind(ji, gpu::thread_x);
  const ir::Kernel k = lowered(s);


  CHECK(count(ir::text(k), "barrier of the block") == 0);
}

TEST_CASE("transposition through shared memory: one barrier") {
  lang::DefinitionScope scope;
  Symbol M{"M"}, N{"N"};
  Tensor x = lang::make_input("x", f32, {M, N}), y = lang::make_output("y", f32, {N, M});
  Tensor turned = compute("turned", {N, M}, [&](Var i, Var j) { return x(j, i); });
  lang::bind(y, turned);
  Schedule s{lang::build_program("transpose", {x, y}), Target::parse("vulkan")};
  auto [i, j] = s[turned].spatial<2>();
  auto [io, jo, ii, ji] = s[turned].tile(i, j, 32, 32);
  auto [iu, it] = s[turned].split(ii, 8);
  s[turned].reorder(io, jo, iu, it, ji).bind(io, gpu::block_y).bind(jo, gpu::block_x).bind(it, gpu::thread_y).bind(ji, gpu::thread_x);
  Stage tile = s.cache_read(x, {turned}, Scope::shared);
  tile.compute_at(jo);
  auto [r, c] = tile.spatial<2>();
  auto [ro, ri] = tile.split(r, 8);
  tile.bind(ri, gpu::thread_y).bind(c, gpu::thread_x);
  const ir::Kernel k = lowered(s);


  CHECK(count(ir::text(k), "barrier of the block") == 1);
}

TEST_CASE("product with shared tiles and register tiles: two barriers in the loop over k") {
  lang::DefinitionScope scope;
  Symbol M{"M", {.min = 1}}, N{"N", {.min = 1}}, K{"K", {.min = 1}};
  Tensor A = lang::make_input("A", f32, {M, K}), B = lang::make_input("B", f32, {K, N}), C = lang::make_output("C", f32, {M, N});
  Axis k{"k", K};
  Tensor product = compute("product", {M, N}, [&](Var i, Var j) { return sum(A(i, k) * B(k, j), k); });
  lang::bind(C, product);
  Schedule s{lang::build_program("product", {A, B, C}), Target::parse("vulkan")};
  Stage acc = s.cache_write(product, Scope::registers);
  Stage a = s.cache_read(A, {acc}, Scope::shared, 0), b = s.cache_read(B, {acc}, Scope::shared, 0);
  auto [i, j] = s[product].spatial<2>();
  auto [bi, bj, i1, j1] = s[product].tile(i, j, 32, 32);
  auto [ti, tj, ii, ji] = s[product].tile(i1, j1, 4, 4);
  s[product].reorder(bi, bj, ti, tj, ii, ji).unroll(ii).unroll(ji);
  s[product].bind(bi, gpu::block_y).bind(bj, gpu::block_x).bind(ti, gpu::thread_y).bind(tj, gpu::thread_x);
  acc.compute_at(tj);
  auto [ko, ki] = acc.split(acc.reduction(), 16);
  auto [ai, aj] = acc.spatial<2>();
  auto [aio, aii] = acc.split(ai, 4, Tail::pad);
  auto [ajo, aji] = acc.split(aj, 4, Tail::pad);
  acc.reorder(ko, ki, aio, ajo, aii, aji).unroll(aii).unroll(aji);
  for (Stage t : {a, b}) {
    t.compute_at(ko);
    auto [r, c] = t.spatial<2>();
    t.bind(t.fuse(r, c), gpu::threads);
  }
  const ir::Kernel kernel = lowered(s);


  CHECK(count(ir::text(kernel), "barrier of the block") == 2);
}
