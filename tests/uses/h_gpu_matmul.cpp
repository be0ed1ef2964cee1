// (h) GPU matmul, f16 x f16 -> f32: shared tiles, swizzle, double buffering, vthread, and an mma instruction the user declares.
#include <ashlar/ashlar.h>
using namespace ashlar;

namespace {
Intrinsic mma_m16n8k16() {
  return intrinsic("mma_m16n8k16", [](Meaning& m) {
    Tensor A = m.read("A", f16, {16, 16}, Scope::fragment), B = m.read("B", f16, {16, 8}, Scope::fragment);
    Tensor C = m.accumulate("C", f32, {16, 8}, Scope::fragment);
    Axis k{"k", 16};
    m.means(C, [&](Var i, Var j) { return sum(f32(A(i, k)) * f32(B(k, j)), k).from(C(i, j)); });
    m.rounds_freely();
    // PTX ISA, "Matrix Fragments for mma.m16n8k16": which lane holds which element, in which of its registers
    m.holds(A, 32, [](Var i, Var j) { return held(i % 8 * 4 + j % 8 / 2, j % 2 + i / 8 * 2 + j / 8 * 4); });
    m.holds(B, 32, [](Var i, Var j) { return held(j * 4 + i % 8 / 2, i % 2 + i / 8 * 2); });
    m.holds(C, 32, [](Var i, Var j) { return held(i % 8 * 4 + j / 2, j % 2 + i / 8 * 2); });
    m.emit(Backend::ptx, "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {C}, {A}, {B}, {C};");
    m.needs("sm_80");
  });
}

class GpuMatmul : public Generator {
 public:
  Param<int> tile_m{"tile_m", 128}, tile_n{"tile_n", 128}, tile_k{"tile_k", 32}, stages{"stages", 2, {{2, 3, 4}}};
  Symbol M{"M", {.multiple_of = 16}}, N{"N", {.multiple_of = 8}}, K{"K", {.multiple_of = 16}};
  Input A{"A", f16, {M, K}, {Layout::dense, 16}},
      B{"B", f16, {K, N}, {Layout::dense, 16}};  // rows start where copies of 16 bytes may
  Output C{"C", f32, {M, N}};

  void algorithm() override {
    Axis k{"k", K};
    C = compute("C", {M, N}, [&](Var i, Var j) { return sum(f32(A(i, k)) * f32(B(k, j)), k); });
  }

  void schedule(Schedule& s) override {
    Stage acc = s.cache_write(C, Scope::fragment);
    auto [i, j] = s[C].spatial<2>();
    auto [bi, bj, ti, tj] = s[C].tile(i, j, tile_m, tile_n);
    auto [wi, wj, fi, fj] = s[C].tile(ti, tj, 64, 32);  // a warp's part
    auto [vi, wi2] = s[C].split(wi, Parts{2});          // two virtual warps each: latency hidden in one
    s[C].reorder(bi, bj, vi, wi2, wj, fi, fj);
    Loop warp = s[C].fuse(wi2, wj);  // side by side: b_shared has the columns of all of them
    s[C].bind(bi, gpu::block_y).bind(bj, gpu::block_x).vthread(vi).bind(warp, gpu::warp);
    acc.compute_at(warp);
    auto [ko, ki] = acc.split(acc.reduction(), tile_k);
    auto [ai, aj] = acc.spatial<2>();
    auto [mi, mj, ci, cj] = acc.tile(ai, aj, 16, 8, Tail::exact);
    auto [kk, kc] = acc.split(ki, 16, Tail::exact);
    acc.reorder(ko, kk, mi, mj, ci, cj, kc);

    Stage a_shared = s.cache_read(A, {acc}, Scope::shared), b_shared = s.cache_read(B, {acc}, Scope::shared);
    auto stage = [&](Stage t, int columns) {  // granules of 8 halves, permuted by row; must be a bijection on [0, columns)
      t.compute_at(ko).swizzle([&](Var r, Var c) { return at(r, c ^ (r % (columns / 8) * 8)); });
      auto [r, c] = t.spatial<2>();
      auto [co, vec] = t.split(c, 8, Tail::exact);
      t.vectorize(vec).bind(t.fuse(r, co), gpu::threads);  // the whole block copies, however many threads it has
    };
    stage(a_shared, tile_k), stage(b_shared, tile_n);
    Stage a_frag = s.cache_read(a_shared, {acc}, Scope::fragment), b_frag = s.cache_read(b_shared, {acc}, Scope::fragment);
    a_frag.compute_at(kk), b_frag.compute_at(kk);

    if (stages > 2)
      acc.pipeline(ko, {.stages = stages, .loads = {a_shared, b_shared}, .async_copy = true});
    else
      a_shared.double_buffer(), b_shared.double_buffer();
    acc.decompose_init(ko);
    if (auto refusal = s.attempt([&] { acc.tensorize(ci, mma_m16n8k16()); }))
      acc.unroll(cj);  // say so: a build option can make this an error
  }
};
ASHLAR_GENERATOR(GpuMatmul, "gpu_matmul");
}  // namespace
