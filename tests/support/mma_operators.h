#pragma once
// The product of two matrices by a warp's matrix instruction that the test describes itself, for f16 and bf16: tiles in shared
// memory, permuted so that no two rows of a fragment meet in a bank, fragments, and a pipeline of two or three stages.
//
//   mma_operators::Product op{Target::parse("cuda-sm_80"), {.stages = 3}};
#include <ashlar/ashlar.h>
#include <ashlar/lang/build_program.h>

namespace mma_operators {

using namespace ashlar;

inline Intrinsic mma_m16n8k16(Type half) {
  return intrinsic(half == f16 ? "mma_f16" : "mma_bf16", [&](Meaning& m) {
    Tensor A = m.read("A", half, {16, 16}, Scope::fragment), B = m.read("B", half, {16, 8}, Scope::fragment);
    Tensor C = m.accumulate("C", f32, {16, 8}, Scope::fragment);
    Axis k{"k", 16};
    m.means(C, [&](Var i, Var j) { return sum(f32(A(i, k)) * f32(B(k, j)), k).from(C(i, j)); });
    m.rounds_freely();
    // PTX ISA, "Matrix Fragments for mma.m16n8k16 with floating point type"
    m.holds(A, 32, [](Var i, Var j) { return held(i % 8 * 4 + j % 8 / 2, j % 2 + i / 8 * 2 + j / 8 * 4); });
    m.holds(B, 32, [](Var i, Var j) { return held(j * 4 + i % 8 / 2, i % 2 + i / 8 * 2); });
    m.holds(C, 32, [](Var i, Var j) { return held(i % 8 * 4 + j / 2, j % 2 + i / 8 * 2); });
    m.emit(Backend::ptx, half == f16 ? "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {C}, {A}, {B}, {C};"
                                     : "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {C}, {A}, {B}, {C};");
    m.needs("sm_80");
  });
}

// Tiles of 16-bit elements from rows in shared memory into the fragments of the product above.
// PTX ISA, "Warp-level matrix load instruction: ldmatrix": lane 8 m + r gives the address of row r of matrix m.
inline Intrinsic load_a(Type half) {
  return intrinsic(half == f16 ? "load_a_f16" : "load_a_bf16", [&](Meaning& m) {
    Tensor rows = m.read("rows", half, {16, 16}, Scope::shared), to = m.write("to", half, {16, 16}, Scope::fragment);
    m.means(to, [&](Var i, Var j) { return rows(i, j); });
    m.address(rows, 32, [](Var i, Var j) { return held(i + j / 8 * 16, j % 8); });
    m.holds(to, 32, [](Var i, Var j) { return held(i % 8 * 4 + j % 8 / 2, j % 2 + i / 8 * 2 + j / 8 * 4); });
    m.emit(Backend::ptx, "ldmatrix.sync.aligned.m8n8.x4.shared.b16 {to}, [{rows.ptr}];");
    m.needs("sm_80");
  });
}
inline Intrinsic load_b(Type half) {
  return intrinsic(half == f16 ? "load_b_f16" : "load_b_bf16", [&](Meaning& m) {
    Tensor rows = m.read("rows", half, {16, 8}, Scope::shared), to = m.write("to", half, {16, 8}, Scope::fragment);
    m.means(to, [&](Var i, Var j) { return rows(i, j); });
    m.address(rows, 32, [](Var i, Var j) { return held(i, j); });
    m.holds(to, 32, [](Var i, Var j) { return held(j * 4 + i % 8 / 2, i % 2 + i / 8 * 2); });
    m.emit(Backend::ptx, "ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {to}, [{rows.ptr}];");
    m.needs("sm_80");
  });
}

struct Options {
  Type half = f16;
  int stages = 2, tile_m = 64, tile_n = 64, tile_k = 32, warp_m = 32, warp_n = 32;
  bool virtual_threads = true, relu = false, matrices = false, whole = false;  // matrices: fragments by ldmatrix
};

struct Product {
  lang::DefinitionScope scope;
  Symbol M, N, K;
  Tensor A, B, C;
  Axis k;
  Tensor product, result;
  lang::Built built;
  Schedule s;
  Loop innermost;  // of the product
  explicit Product(const Target& target, const Options& o = {})
      : M("M", {.multiple_of = o.whole ? o.tile_m : 16}),
        N("N", {.multiple_of = o.whole ? o.tile_n : 8}),
        K("K", {.multiple_of = o.whole ? o.tile_k : 16}),
        A(lang::make_input("A", o.half, {M, K}, {.order = lang::ArgumentLayout::Order::dense, .align = 16})),
        B(lang::make_input("B", o.half, {K, N}, {.order = lang::ArgumentLayout::Order::dense, .align = 16})),
        C(lang::make_output("C", f32, {M, N})),
        k("k", K),
        product(compute("product", {M, N}, [&](Var i, Var j) { return sum(f32(A(i, k)) * f32(B(k, j)), k); })),
        result(o.relu ? compute("result", {M, N}, [&](Var i, Var j) { return max(product(i, j) * 2.0f, 0.0f); }) : product),
        built((lang::bind(C, result), lang::build_program("mma_product", {A, B, C}))),
        s(built, target) {
    Stage acc = o.relu ? s[product].store_in(Scope::fragment) : s.cache_write(product, Scope::fragment);
    auto [i, j] = s[result].spatial<2>();
    auto [bi, bj, ti, tj] = s[result].tile(i, j, o.tile_m, o.tile_n);
    auto [wi, wj, fi, fj] = s[result].tile(ti, tj, o.warp_m, o.warp_n);
    auto [vi, wi2] = s[result].split(wi, Parts{o.virtual_threads ? 2 : 1});
    s[result].reorder(bi, bj, vi, wi2, wj, fi, fj);
    Loop warp = s[result].fuse(wi2, wj);
    s[result].bind(bi, gpu::block_y).bind(bj, gpu::block_x).bind(warp, gpu::warp);
    if (o.virtual_threads) s[result].vthread(vi);
    acc.compute_at(warp);
    auto [ko, ki] = acc.split(acc.reduction(), o.tile_k);
    auto [ai, aj] = acc.spatial<2>();
    auto [mi, mj, ci, cj] = acc.tile(ai, aj, 16, 8, Tail::exact);
    auto [kk, kc] = acc.split(ki, 16, Tail::exact);
    acc.reorder(ko, kk, mi, mj, ci, cj, kc);
    innermost = ci;
    Stage a_shared = s.cache_read(A, {acc}, Scope::shared), b_shared = s.cache_read(B, {acc}, Scope::shared);
    auto stage = [&, at = ko](Stage t, int columns) {  // granules of 8 halves, permuted by row
      t.compute_at(at);
      if (columns == 32)
        t.swizzle([&](Var r, Var c) { return ashlar::at(r, c ^ (r / 2 % 4 * 8)); });
      else
        t.swizzle([&](Var r, Var c) { return ashlar::at(r, c ^ (r % 8 * 8)); });
      auto [r, c] = t.spatial<2>();
      auto [co, vec] = t.split(c, 8, Tail::exact);
      t.vectorize(vec).bind(t.fuse(r, co), gpu::threads);
    };
    stage(a_shared, o.tile_k), stage(b_shared, o.tile_n);
    Stage a_frag = s.cache_read(a_shared, {acc}, Scope::fragment), b_frag = s.cache_read(b_shared, {acc}, Scope::fragment);
    a_frag.compute_at(kk), b_frag.compute_at(kk);
    if (o.matrices) {
      const auto load = [](Stage t, int columns, const Intrinsic& by) {
        auto [r, c] = t.spatial<2>();
        auto [ro, co, ri, ci2] = t.tile(r, c, 16, columns, Tail::exact);
        t.tensorize(ri, by);
        (void)ro, (void)co, (void)ci2;
      };
      load(a_frag, 16, load_a(o.half)), load(b_frag, 8, load_b(o.half));
    }
    if (o.stages > 2)
      acc.pipeline(ko, {.stages = o.stages, .loads = {a_shared, b_shared}, .async_copy = true});
    else if (o.stages == 2)
      a_shared.double_buffer(), b_shared.double_buffer();
    acc.decompose_init(ko).tensorize(ci, mma_m16n8k16(o.half));
  }
};

// Whole tiles of 128 x 128, each warp with 64 x 64 of it, fragments by ldmatrix.
inline Options whole_tiles(Type half) {
  return {.half = half,
          .stages = 3,
          .tile_m = 128,
          .tile_n = 128,
          .warp_m = 64,
          .warp_n = 64,
          .virtual_threads = false,
          .matrices = true,
          .whole = true};
}

}  // namespace mma_operators
