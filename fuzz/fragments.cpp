#include "fragments.h"

#include <ashlar/ashlar.h>

#include "tests/support/mma_operators.h"

namespace fuzz {
namespace {

using namespace ashlar;
using namespace mma_operators;

// One of each, since a description is kept for as long as the process lives.
const Intrinsic& by(Type half, int which) {
  static const Intrinsic all[] = {mma_m16n8k16(f16), load_a(f16), load_b(f16), mma_m16n8k16(bf16), load_a(bf16), load_b(bf16)};
  return all[which + (half == f16 ? 0 : 3)];
}

void write(Source& source, Schedule& s, const Made::TiledProduct& p) {
  const int warp_m = 16 * source.between(1, 2), warp_n = 8 * source.between(1, 2);
  const int tile_m = warp_m * source.between(1, 2), tile_n = warp_n * source.between(1, 2), tile_k = 16 * source.between(1, 2);
  const bool shared = source.pick(3) > 0, permuted = source.one_in(2), matrices = source.one_in(2);
  const int stages = source.between(1, 3);
  const bool more = !(p.product.id() == p.result.id());
  const Stage acc = more ? s[p.product].store_in(Scope::fragment) : s.cache_write(p.product, Scope::fragment);
  auto [i, j] = s[p.result].spatial<2>();
  auto [bi, bj, ti, tj] = s[p.result].tile(i, j, tile_m, tile_n);
  auto [wi, wj, fi, fj] = s[p.result].tile(ti, tj, warp_m, warp_n);
  s[p.result].reorder(bi, bj, wi, wj, fi, fj);
  if (source.one_in(3) && tile_m > warp_m) {
    s[p.result].vthread(wi);
    s[p.result].bind(bi, gpu::block_y).bind(bj, gpu::block_x).bind(wj, gpu::warp);
  } else {
    wj = s[p.result].fuse(wi, wj);
    s[p.result].bind(bi, gpu::block_y).bind(bj, gpu::block_x).bind(wj, gpu::warp);
  }
  acc.compute_at(wj);
  auto [ko, ki] = acc.split(acc.reduction(), tile_k);
  auto [ai, aj] = acc.spatial<2>();
  auto [mi, mj, ci, cj] = acc.tile(ai, aj, 16, 8, Tail::exact);
  auto [kk, kc] = acc.split(ki, 16, Tail::exact);
  acc.reorder(ko, kk, mi, mj, ci, cj, kc);
  std::optional<Stage> a_shared, b_shared;
  if (shared) {
    a_shared = s.cache_read(p.a, {acc}, Scope::shared), b_shared = s.cache_read(p.b, {acc}, Scope::shared);
    const auto fill = [&, at = ko](const Stage& t, int columns) {  // granules of 8 halves
      t.compute_at(at);
      if (permuted && columns % 32 == 0) t.swizzle([&](Var r, Var c) { return ashlar::at(r, c ^ (r / 2 % 4 * 8)); });
      auto [r, c] = t.spatial<2>();
      auto [co, vec] = t.split(c, 8, Tail::exact);
      t.vectorize(vec).bind(t.fuse(r, co), gpu::threads);
    };
    fill(*a_shared, tile_k), fill(*b_shared, tile_n);
  }
  const Stage a = a_shared ? s.cache_read(*a_shared, {acc}, Scope::fragment) : s.cache_read(p.a, {acc}, Scope::fragment);
  const Stage b = b_shared ? s.cache_read(*b_shared, {acc}, Scope::fragment) : s.cache_read(p.b, {acc}, Scope::fragment);
  a.compute_at(kk), b.compute_at(kk);
  if (shared && matrices) {
    const auto load = [](const Stage& t, int columns, const Intrinsic& f) {
      auto [r, c] = t.spatial<2>();
      auto [ro, co, ri, within] = t.tile(r, c, 16, columns, Tail::exact);
      t.tensorize(ri, f);
      (void)ro, (void)co, (void)within;
    };
    load(a, 16, by(p.half, 1)), load(b, 8, by(p.half, 2));
  }
  if (shared && stages > 2)
    acc.pipeline(ko, {.stages = stages, .loads = {*a_shared, *b_shared}, .async_copy = true});
  else if (shared && stages == 2)
    a_shared->double_buffer(), b_shared->double_buffer();
  acc.decompose_init(ko).tensorize(ci, by(p.half, 0));
}

}  // namespace

std::vector<schedule::Step> fragment_steps(Source& source, const Made& made, const Target& target) {
  if (!made.product || !target.has("sm_80") || !(made.product->half == f16 || made.product->half == bf16)) return {};
  Schedule s(made.built, target);
  try {
    write(source, s, *made.product);
  } catch (const RefusalError&) {}
  return s.scheduled().trace;
}

}  // namespace fuzz
