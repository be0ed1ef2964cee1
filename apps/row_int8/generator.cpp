// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A row operator of a language model: RMS norm, rotary embedding, and bytes with a scale for each row. Heads are halves side by
// side: x[row, head, half, element].
#include <ashlar/ashlar.h>
using namespace ashlar;

namespace {

class RowInt8 : public Generator {
 public:
  Param<int> half{"half", 64, {{16, 32, 64, 128}}, "elements of half a head"};
  Param<bool> by_hand{"by_hand", true};
  Symbol M{"M"}, H{"H", {.min = 1}};
  Input x{"x", f32, {M, H, 2, *half}}, w{"w", f32, {H, 2, *half}}, cosine{"cosine", f32, {M, *half}},
      sine{"sine", f32, {M, *half}};
  Scalar eps{"eps", f32};
  Output q{"q", i8, {M, H, 2, *half}}, scale{"scale", f32, {M}};
  Tensor total, inverse, turned, peak, factor;

  void algorithm() override {
    Axis h{"h", H}, p{"p", 2}, d{"d", *half}, h2{"h2", H}, p2{"p2", 2}, d2{"d2", *half};
    total = compute("total", {M}, [&](Var i) { return sum(x(i, h, p, d) * x(i, h, p, d), {h, p, d}); });
    inverse = compute("inverse", {M}, [&](Var i) { return rsqrt(total(i) / f32(H * (2 * *half)) + eps); });
    const auto normed = [&](const Expr& i, const Expr& head, int part, const Expr& e) {
      return x(i, head, part, e) * inverse(i) * w(head, part, e);
    };
    turned = compute("turned", {M, H, 2, *half}, [&](Var i, Var head, Var part, Var e) {
      const Expr a = normed(i, head, 0, e), b = normed(i, head, 1, e);
      return select(part == 0, a * cosine(i, e) - b * sine(i, e), b * cosine(i, e) + a * sine(i, e));
    });
    peak = compute("peak", {M}, [&](Var i) { return maximum(abs(turned(i, h2, p2, d2)), {h2, p2, d2}); });
    scale = compute("scale", {M}, [&](Var i) { return max(peak(i), 1e-30f) / 127; });
    factor = compute("factor", {M}, [&](Var i) { return 1 / scale(i); });
    q = compute("q", {M, H, 2, *half},
                [&](Var i, Var head, Var part, Var e) { return saturate(i8, turned(i, head, part, e) * factor(i)); });
  }

  void schedule(Schedule& s) override {
    if (!by_hand) {
      Generator::schedule(s);
      return;
    }
    const int lanes = s.target().lanes(f32);
    auto [i, head, part, e] = s[q].spatial<4>();
    s[q].parallel(i).vectorize(e, lanes);
    s[q].unroll(part);
    s[factor].compute_at(i).store_in(Scope::stack);
    s[scale].compute_at(i);
    reduce(s, peak, i, lanes);
    auto [ti, th, tp, te] = s[turned].spatial<4>();
    auto [chunk, lane] = s[turned].split(te, lanes);
    s[turned].compute_at(i).reorder(chunk, tp).unroll(tp).vectorize(lane);  // both halves of a head, from the same registers
    s[inverse].compute_at(i).store_in(Scope::stack);
    reduce(s, total, i, lanes);
    (void)head, (void)ti, (void)th;
  }

 private:
  // At each row, with partial results in the lanes of registers.
  static void reduce(Schedule& s, const Tensor& t, const Loop& row, int lanes) {
    Stage stage = s[t];
    stage.compute_at(row).store_in(Scope::stack);
    auto [chunk, lane] = stage.split(stage.reduction<3>()[2], lanes);
    Stage sums = stage.rfactor(chunk);
    Stage partial = sums.rfactor(sums.reduction<3>()[2]);
    sums.store_in(Scope::stack), partial.store_in(Scope::stack);
    auto [r, c, l] = partial.spatial<3>();
    auto [ph, pp] = partial.reduction<2>();
    partial.reorder(ph, pp, c, l).unroll(c).vectorize(l);
    (void)lane, (void)r;
  }
};
ASHLAR_GENERATOR(RowInt8, "row_int8");

}  // namespace
