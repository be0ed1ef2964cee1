// C = max(A B + bias, 0) for any target: one algorithm, a schedule for processors and one for devices. No sum is reassociated,
// so the results are the same bits everywhere.
#include <ashlar/ashlar.h>

namespace {

using namespace ashlar;

class Dense : public Generator {
 public:
  Symbol M{"M", {.min = 1}}, N{"N", {.min = 1}}, K{"K", {.min = 1}};
  Input A{"A", f32, {M, K}}, B{"B", f32, {K, N}}, bias{"bias", f32, {N}};
  Output C{"C", f32, {M, N}};
  Tensor product;

  void algorithm() override {
    Axis k{"k", K};
    product = compute("product", {M, N}, [&](Var i, Var j) { return sum(A(i, k) * B(k, j), k); });
    C = compute("C", {M, N}, [&](Var i, Var j) { return max(product(i, j) + bias(j), 0); });
  }

  void schedule(Schedule& s) override { s.target().is_gpu() ? for_device(s) : for_processor(s); }

 private:
  // Four rows by two vectors in registers.
  void for_processor(Schedule& s) {
    const int lanes = s.target().lanes(f32);
    auto [i, j] = s[C].spatial<2>();
    auto [io, jo, ii, ji] = s[C].tile(i, j, 4, 2 * lanes);
    s[C].parallel(io).vectorize(ji, lanes);
    Stage acc = s[product];
    acc.compute_at(jo);
    auto [ai, aj] = acc.spatial<2>();
    acc.reorder(acc.reduction(), ai, aj).vectorize(aj, lanes);
  }

  // Blocks of 32 x 32 elements, 4 x 4 a thread, both operands in shared memory 16 deep.
  void for_device(Schedule& s) {
    Stage acc = s[product];
    Stage a = s.cache_read(A, {acc}, Scope::shared, 0), b = s.cache_read(B, {acc}, Scope::shared, 0);
    auto [i, j] = s[C].spatial<2>();
    auto [bi, bj, i1, j1] = s[C].tile(i, j, 32, 32);
    auto [ti, tj, ii, ji] = s[C].tile(i1, j1, 4, 4);
    s[C].reorder(bi, bj, ti, tj, ii, ji).unroll(ii).unroll(ji);
    s[C].bind(bi, gpu::block_y).bind(bj, gpu::block_x).bind(ti, gpu::thread_y).bind(tj, gpu::thread_x);
    acc.compute_at(tj).store_in(Scope::registers);
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
  }
};

ASHLAR_GENERATOR(Dense, "dense");

}  // namespace
